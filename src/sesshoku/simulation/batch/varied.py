"""The arrays of a model in which worlds differ, and all that the compiler of scenes derives from them.

`scene.compiler` derives these arrays for one scene; here they are for many worlds at once. A world's arrays are, but
for rounding, what `compile_scene` makes of `varied_scene`.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from sesshoku.model.arrays import PRISMATIC, REVOLUTE, Model
from sesshoku.scene.compiler import CompiledScene, link_poses
from sesshoku.scene.compiler.inertias import LEAST, LIGHT
from sesshoku.scene.elements import Material
from sesshoku.scene.elements.fluid import drag_numbers
from sesshoku.scene.elements.sensors import ForceSensor
from sesshoku.scene.scene import Scene
from sesshoku.simulation.batch.vary import Drawn
from sesshoku.simulation.sensors.memory import bodies_below, link_parts
from sesshoku.spatial.rotation import axis_angle, multiply

Said = dict[str, list[Drawn]]


def model_arrays(compiled: CompiledScene, said: Said, worlds: int) -> dict[str, np.ndarray]:
    """name -> (worlds, ...), of every array of the model in which worlds differ."""
    model, found = compiled.model, dict[str, np.ndarray]()
    if "gravity" in said:
        found["gravity"] = np.array(said["gravity"][0].numbers[:, 0])
    if "friction" in said:
        found |= _friction(compiled, said["friction"], worlds)
    if "gain" in said:
        factor = _factors(said["gain"], compiled.actuator_names, worlds)
        found |= {"actuator_kp": model.actuator_kp * factor, "actuator_kd": model.actuator_kd * factor,
                  "actuator_gain": model.actuator_gain * factor[:, :, None],
                  "actuator_bias": model.actuator_bias * np.stack([np.ones_like(factor), factor, factor], axis=2)}
    if {"mass", "inertia", "armature"} & set(said):
        found |= _inertia(compiled, said, worlds)
    return found


def _factors(drawn: list[Drawn], names: list[str], worlds: int) -> np.ndarray:
    """(worlds, names) factors, 1 where nothing is said."""
    factor, place = np.ones((worlds, len(names))), {name: n for n, name in enumerate(names)}
    for one in drawn:
        factor[:, [place[name] for name in one.elements]] = one.numbers[:, :, 0]
    return factor


# ---- friction ------------------------------------------------------------------------------------------------------


def _friction(compiled: CompiledScene, drawn: list[Drawn], worlds: int) -> dict[str, np.ndarray]:
    """Materials of shapes; said of all, also those of pairs that have their own."""
    model = compiled.model
    shapes = np.repeat(model.shape_material[None], worlds, axis=0)
    pairs = np.repeat(model.pair_material[None], worlds, axis=0)
    for one in drawn:
        chosen = np.isin(model.shape_frame, [compiled.frame_index[name] for name in one.elements])
        shapes[:, chosen, :2] = new_friction(model.shape_material[chosen, :2], one)
        if len(chosen) and chosen.all():
            own = model.pair_material[:, 0] > 0.0  # 0: frictionless on purpose; below: as the materials combine
            pairs[:, own, :2] = new_friction(model.pair_material[own, :2], one)
    return {"shape_material": shapes, "pair_material": pairs}


def new_friction(now: np.ndarray, drawn: Drawn) -> np.ndarray:
    """(worlds, n, 2) static and kinetic coefficients: kinetic keeps its share of static."""
    share = np.divide(now[:, 1], now[:, 0], out=np.ones(len(now)), where=now[:, 0] > 0.0)
    number = drawn.numbers[:, 0]  # (worlds, 1): one draw for all
    static = number * now[:, 0] if drawn.relative else np.repeat(number, len(now), axis=1)
    return np.stack([static, np.minimum(static * share, static)], axis=2)


# ---- what moves ----------------------------------------------------------------------------------------------------


def _inertia(compiled: CompiledScene, said: Said, worlds: int) -> dict[str, np.ndarray]:
    """Masses, inertias, armature, and the compiler's scales of what moves with joints, tendons and actuators."""
    model = compiled.model
    mass = _factors(said.get("mass", []), compiled.link_names, worlds)
    turn = _factors(said.get("inertia", []), compiled.link_names, worlds)
    rotor = _factors(said.get("armature", []), compiled.joint_names, worlds)[:, model.dof_link]
    found: dict[str, np.ndarray] = {}
    if "mass" in said:
        lift = np.repeat(model.link_lift[None], worlds, axis=0)
        lift[:, :, 0] *= mass
        found |= {"link_mass": model.link_mass * mass, "link_lift": lift}
    if "mass" in said or "inertia" in said:
        own = _own_inertia(compiled)  # the rest is masses beside their common centre
        found["link_inertia"] = mass[:, :, None] * (model.link_inertia - own + turn[:, :, None] * own)
        found |= _drag(compiled, mass, turn)
    if "armature" in said:
        found["dof_armature"] = model.dof_armature * rotor
    return found | _scales(compiled, found, worlds)


def _drag(compiled: CompiledScene, mass: np.ndarray, turn: np.ndarray) -> dict[str, np.ndarray]:
    """Drag of a surrounding fluid on bodies, which goes by their masses and moments; nothing without a fluid."""
    model, worlds = compiled.model, len(mass)
    if model.drag_count == 0:
        return {}
    link = model.drag_link
    inertia = np.repeat(model.drag_inertia[None], worlds, axis=0)
    inertia[:, :, :3] *= mass[:, link, None]
    inertia[:, :, 3:] *= (mass * turn)[:, link, None]
    found = [drag_numbers(compiled.scene.medium, float(row[0]), row[3:]) for row in inertia.reshape(-1, 6)]
    linear, square = (np.array(column).reshape(inertia.shape) for column in zip(*found, strict=True))
    return {"drag_inertia": inertia, "drag_linear": linear, "drag_square": square}


def _own_inertia(compiled: CompiledScene) -> np.ndarray:
    """(L, 6) sum of the inertias of the bodies of each link, each about its own centre of mass, link axes."""
    own = _own_matrices(compiled, list(compiled.scene.bodies))[:-1]
    own[compiled.model.link_mass == 0.0] = 0.0  # scripted: it counts nowhere
    return own[:, [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]


def _own_matrices(compiled: CompiledScene, bodies: list[str]) -> np.ndarray:
    """(L + 1, 3, 3) the same of some bodies, as matrices; last: of those fixed to the world."""
    model, own = compiled.model, np.zeros((compiled.model.link_count + 1, 3, 3))
    for name in bodies:
        f, inertial = compiled.frame_index[name], compiled.scene.bodies[name].inertial
        if inertial is not None:
            R = model.frame_rotation[f]
            own[int(model.frame_link[f])] += R @ np.asarray(inertial.matrix) @ R.T
    return own


def sensed_parts(compiled: CompiledScene, said: Said, worlds: int, armature: bool) -> dict[str, np.ndarray]:
    """name -> (worlds, P, ...): what hangs on force sensors (`Mounts`), as each world has it.

    armature: it turns with the joint's link (methods with coordinates of their own).
    """
    mass = _factors(said.get("mass", []), compiled.link_names, worlds)
    turn = _factors(said.get("inertia", []), compiled.link_names, worlds)
    rotor = _factors(said.get("armature", []), compiled.joint_names, worlds)
    masses, inertias = [np.zeros((worlds, 0))], [np.zeros((worlds, 0, 3, 3))]
    for sensor in compiled.scene.sensors.values():
        if not isinstance(sensor, ForceSensor):
            continue
        below = bodies_below(compiled, sensor.body)
        own, turning = _own_matrices(compiled, below), link_parts(compiled, below, armature)
        for part, turns in zip(link_parts(compiled, below, False), turning, strict=True):
            m, g, a = (1.0, 1.0, 1.0) if part.link < 0 else (
                factor[:, part.link, None, None] for factor in (mass, turn, rotor))
            beside, of_rotor = part.inertia - own[part.link], turns.inertia - part.inertia
            inertia = m * (beside + g * own[part.link]) + a * of_rotor
            masses.append(np.broadcast_to(np.reshape(m, (-1, 1)) * part.mass, (worlds, 1)))
            inertias.append(np.broadcast_to(inertia, (worlds, 3, 3))[:, None])
    return {"part_mass": np.concatenate(masses, axis=1), "part_inertia": np.concatenate(inertias, axis=1)}


def _scales(compiled: CompiledScene, found: dict[str, np.ndarray], worlds: int) -> dict[str, np.ndarray]:
    """What `scene.compiler.inertias` finds, of all worlds."""
    model = compiled.model

    def of_worlds(name: str) -> np.ndarray:
        return np.broadcast_to(found.get(name, getattr(model, name)[None]), (worlds, *getattr(model, name).shape))

    mass, inertia, armature = (of_worlds(name) for name in ("link_mass", "link_inertia", "dof_armature"))
    dofs = np.maximum(_carried(compiled, mass, inertia) + armature, LEAST)
    return {"dof_inertia": dofs, "tree_light": _light(model, mass, armature),
            "tendon_inertia": _along(model.tendon_drive, model.tendon_dof, model.tendon_arm, dofs),
            "actuator_inertia": _along(model.actuator_drive, model.drive_dof, model.drive_arm, dofs)}


def _carried(compiled: CompiledScene, masses: np.ndarray, inertias: np.ndarray) -> np.ndarray:
    """(worlds, V) inertia about the axis (mass along it) of all that a joint carries at the start; others infinite."""
    model, worlds = compiled.model, len(masses)
    poses = link_poses({name: getattr(model, name) for name in model.fields}, compiled.q, compiled.kinematic_pose)
    mass, moment = masses.copy(), np.zeros((worlds, model.link_count, 3))
    second = np.zeros((worlds, model.link_count, 3, 3))  # about the world's origin
    found = np.full((worlds, model.dof_count), np.inf)
    for i, (p, R) in enumerate(poses):
        c = p + R @ model.link_center[i]
        moment[:, i] = mass[:, i, None] * c
        own = inertias[:, i][:, [0, 3, 4, 3, 1, 5, 4, 5, 2]].reshape(worlds, 3, 3)
        second[:, i] = R @ own @ R.T + mass[:, i, None, None] * (c @ c * np.eye(3) - np.outer(c, c))
    for i in range(model.link_count - 1, -1, -1):
        parent, k, kind = int(model.link_parent[i]), int(model.link_dof[i]), int(model.link_joint[i])
        p, axis = poses[i][0], poses[i][1][:, 2]
        if kind == PRISMATIC:
            found[:, k] = mass[:, i]
        elif kind == REVOLUTE:  # about the axis through p
            m, aside = moment[:, i], p - (p @ axis) * axis
            found[:, k] = (np.einsum("a,wab,b->w", axis, second[:, i], axis) - 2.0 * m @ aside
                           + mass[:, i] * (aside @ aside))
        if parent >= 0:
            mass[:, parent] += mass[:, i]
            moment[:, parent] += moment[:, i]
            second[:, parent] += second[:, i]
    return found


def _light(model: Model, mass: np.ndarray, armature: np.ndarray) -> np.ndarray:
    """(worlds, T) 1 where a link without armature has less than LIGHT of the mass that hangs on it."""
    below, light = np.zeros_like(mass), np.zeros((len(mass), model.tree_count), dtype=np.int64)
    for i in range(model.link_count - 1, -1, -1):
        parent, k = int(model.link_parent[i]), int(model.link_dof[i])
        still = armature[:, k:k + int(model.link_dof_count[i])].any(axis=1)
        light[(mass[:, i] < LIGHT * below[:, i]) & ~still, int(model.link_tree[i])] = 1
        if parent >= 0:
            below[:, parent] += below[:, i] + mass[:, i]
    return light


def _along(start: np.ndarray, dofs: np.ndarray, arms: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """(worlds, n) 1 / sum of arm^2 / inertia over the driven dofs of each."""
    shares = arms * arms / inertia[:, dofs]
    totals = np.stack([shares[:, a:b].sum(axis=1) for a, b in pairwise(start)], axis=1) if len(start) > 1 \
        else np.zeros((len(inertia), 0))
    return np.divide(1.0, totals, out=np.full(totals.shape, np.inf), where=totals > 0.0)


# ---- starts --------------------------------------------------------------------------------------------------------


def start_state(compiled: CompiledScene, said: Said, worlds: int) -> tuple[np.ndarray, np.ndarray]:
    """(worlds, Q) coordinates and (worlds, V) velocities to start from."""
    model = compiled.model
    q, v = (np.repeat(values[None], worlds, axis=0) for values in (compiled.q, compiled.v))
    for name, values in (("q", q), ("v", v)):
        for one in said.get(name, []):
            values[:] = one.numbers[:, 0]
    link = {name: n for n, name in enumerate(compiled.joint_names)} | {name: n for n, name
                                                                       in enumerate(compiled.link_names)}
    for name in ("joint_position", "joint_velocity", "position", "rotation", "velocity", "angular_velocity"):
        for one in said.get(name, []):
            for n, element in enumerate(one.elements):
                i, change = link[element], one.numbers[:, n]
                at, k = int(model.link_coordinate[i]), int(model.link_dof[i])
                if name == "joint_position":
                    q[:, at] = np.clip(q[:, at] + change[:, 0], model.dof_lower[k], model.dof_upper[k])
                elif name == "joint_velocity":
                    v[:, k] += change[:, 0]
                elif name == "position":
                    q[:, at:at + 3] += change
                elif name == "rotation":
                    q[:, at + 3:at + 7] = [_turned(turn, now) for turn, now in
                                           zip(change, q[:, at + 3:at + 7], strict=True)]
                else:
                    first = k if name == "velocity" else k + 3
                    v[:, first:first + 3] += change
    return q, v


def _turned(turn: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
    """A rotation turned further about an axis of the world: turn (3) is axis times angle."""
    angle = float(np.linalg.norm(turn))
    if angle == 0.0:
        return quaternion
    result = multiply(axis_angle(turn / angle, angle), quaternion)
    return result / np.linalg.norm(result)


# ---- a world's scene -----------------------------------------------------------------------------------------------


def varied_scene(compiled: CompiledScene, said: Said, world: int) -> Scene:
    """The scene of one world: what is said of it in the words of scenes."""
    scene = copy.copy(compiled.scene)
    scene.bodies, scene.actuators = copy.copy(scene.bodies), copy.copy(scene.actuators)
    link_of = {name: int(compiled.model.frame_link[f]) for name, f in compiled.frame_index.items()}
    if "gravity" in said:
        scene.gravity = said["gravity"][0].numbers[world, 0]
    one: Said = {name: [Drawn(d.elements, d.numbers[world:world + 1], d.relative) for d in drawn]
                 for name, drawn in said.items()}
    mass = _factors(one.get("mass", []), compiled.link_names, 1)[0]
    turn = mass * _factors(one.get("inertia", []), compiled.link_names, 1)[0]
    rotor = _factors(one.get("armature", []), compiled.joint_names, 1)[0]
    for name, body in scene.bodies.items():
        link, changed = link_of[name], copy.copy(body)
        if link >= 0 and body.inertial is not None:
            changed.inertial = replace(body.inertial, mass=body.inertial.mass * mass[link],
                                       matrix=np.asarray(body.inertial.matrix) * turn[link])
        if link >= 0 and compiled.link_names[link] == name:
            changed.joint = copy.copy(body.joint)
            changed.joint.armature = body.joint.armature * rotor[link]
        scene.bodies[name] = changed
    for name, factor in zip(compiled.actuator_names, _factors(one.get("gain", []), compiled.actuator_names, 1)[0],
                            strict=True):
        scene.actuators[name] = _with_gain(scene.actuators[name], float(factor))
    for drawn in one.get("friction", []):
        _rub(scene, compiled, drawn)
    return scene


def _with_gain(actuator: Any, factor: float) -> Any:
    changed = copy.copy(actuator)
    changed.kp, changed.kd = actuator.kp * factor, actuator.kd * factor
    changed.gain = tuple(np.asarray(actuator.gain) * factor)
    changed.bias = tuple(np.asarray(actuator.bias) * (1.0, factor, factor))
    return changed


def _rub(scene: Scene, compiled: CompiledScene, drawn: Drawn) -> None:
    """Friction of the surfaces of some bodies; said of all, also of pairs with their own."""

    def rubbed(material: Material) -> Material:
        now = np.array([[material.static_friction, material.kinetic_friction or 0.0]])
        static, kinetic = new_friction(now, drawn)[0, 0].tolist()
        changed = copy.copy(material)
        object.__setattr__(changed, "static_friction", static)
        object.__setattr__(changed, "kinetic_friction", kinetic)
        return changed

    chosen = set(drawn.elements)
    for name in chosen:
        body = scene.bodies[name]
        body.geometries = [copy.copy(geometry) for geometry in body.geometries]
        for geometry in body.geometries:
            geometry.material = rubbed(geometry.material or scene.material)
    if chosen >= {compiled.frame_names[f] for f in compiled.model.shape_frame.tolist()}:
        scene.pair_friction = {pair: rubbed(m) if m.static_friction > 0.0 else m
                               for pair, m in scene.pair_friction.items()}
        scene.geometry_pairs = {pair: m if m is None or m.static_friction == 0.0 else rubbed(m)
                                for pair, m in scene.geometry_pairs.items()}

