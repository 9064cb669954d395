"""Actuators, equalities and contact pairs of a compiled MuJoCo model. See mjcf.py for the rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.scene.elements import Actuator, Loop, Material, Mimic, RobotDescription
from sesshoku.scene.mjcf_bodies import HINGE, SLIDE, ModelNames, usual
from sesshoku.scene.spec import Unsupported
from sesshoku.scene.unsupported import Grade
from sesshoku.spatial.rotation import multiply

JOINT_TARGETS = (0, 1)  # mjTRN_JOINT, mjTRN_JOINTINPARENT
FIXED_GAIN, NO_BIAS, AFFINE_BIAS, NO_DYNAMICS = 0, 0, 1, 0
CONNECT, WELD, JOINT_EQUALITY = 0, 1, 2  # mjtEq
SITE = 6  # mjOBJ_SITE


def label(kind: str, name: str, info: str = "") -> str:
    """How to speak of an element: by its name, or by its line."""
    return f"{kind} {name!r}" if name else f"{kind} ({info})" if info else kind


# ---- actuators -------------------------------------------------------------------------------------------------------


def read_actuators(model: Any, names: ModelNames, unsupported: Unsupported) -> list[Actuator]:
    """Motors, position and velocity servos on hinge and slide joints; every other actuator is listed.

    MuJoCo: torque = gear * clip(gain * ctrl + b0 + b1 * gear * q + b2 * gear * v). With b1 = -gain it is a position
    servo whose target in joint units is ctrl / gear, with kp = gain * gear and kd = -b2 * gear in front of the clip.
    """
    actuators = []
    for i in range(model.nactuator):
        name = f"actuator {names.actuator[i]!r}"
        reason = _refused(model, i)
        if reason:
            unsupported.add(f"{name}: {reason}")
            continue
        gear, gain = float(model.actuator_gear[i, 0]), float(model.actuator_gainprm[i, 0])
        bias = model.actuator_biasprm[i, :3] if model.actuator_biastype[i] == AFFINE_BIAS else np.zeros(3)
        effort = _largest(model.actuator_forcelimited[i], model.actuator_forcerange[i], f"forcerange of {name}",
                          unsupported)
        joint = names.joint[int(model.actuator_trnid[i, 0])]
        servo: dict[str, Any] = {"feed_forward": float(np.sign(gear) * bias[0]), "effort": effort,
                                 "gear": abs(gear), "kd": float(-bias[2]) * abs(gear)}
        if bias[1] != 0.0:
            actuators.append(Actuator(names.actuator[i], joint, "position", kp=gain * abs(gear), **servo))
            _list_control_range(model, i, gear, name, unsupported)
        elif bias[2] != 0.0:
            actuators.append(Actuator(names.actuator[i], joint, "velocity", **servo))
            if model.actuator_ctrllimited[i]:
                unsupported.add(f"ctrlrange of {name}")
        else:
            command = _largest(model.actuator_ctrllimited[i], model.actuator_ctrlrange[i], f"ctrlrange of {name}",
                               unsupported)
            # our command is MuJoCo's ctrl: the gain goes into the gear, and the limits of force are divided by it
            actuators.append(Actuator(names.actuator[i], joint, "torque", effort=min(command, effort / abs(gain)),
                                      gear=gear * gain))
    return actuators


def _refused(model: Any, i: int) -> str | None:
    """Why an actuator has no counterpart here, or None."""
    if int(model.actuator_trntype[i]) not in JOINT_TARGETS:
        return "it does not drive a joint"
    if int(model.jnt_type[int(model.actuator_trnid[i, 0])]) not in (HINGE, SLIDE):
        return "it drives a ball or free joint"
    if int(model.actuator_dyntype[i]) != NO_DYNAMICS or int(model.actuator_ctrlnum[i]) != 1:
        return "it has activation dynamics"
    if int(model.actuator_gaintype[i]) != FIXED_GAIN or int(model.actuator_biastype[i]) not in (NO_BIAS, AFFINE_BIAS):
        return "its gain or bias is not affine"
    gain, (offset, stiffness, damping) = float(model.actuator_gainprm[i, 0]), model.actuator_biasprm[i, :3]
    if int(model.actuator_biastype[i]) == NO_BIAS:
        offset = stiffness = damping = 0.0
    if gain == 0.0 or model.actuator_gear[i, 0] == 0.0:
        return "its gain or gear is zero"
    if stiffness and (stiffness != -gain or damping > 0.0 or gain < 0.0):
        return "its affine bias is not that of a position servo"
    if not stiffness and damping and (damping != -gain or gain < 0.0):
        return "its affine bias is not that of a velocity servo"
    if not stiffness and not damping and offset:
        return "a motor with a constant bias"
    if model.actuator_armature[i] or model.actuator_damping[i] or model.actuator_dampingpoly[i].any():
        return "it has armature or damping of its own"
    if model.actuator_delay[i] or model.actuator_plugin[i] >= 0:
        return "it has a delay or a plugin"
    return None


def _largest(limited: Any, bounds: np.ndarray, what: str, unsupported: Unsupported) -> float:
    """The bound of a symmetric range; infinity where there is none."""
    if not limited:
        return float("inf")
    if bounds[0] != -bounds[1]:
        unsupported.add(f"{what} is not symmetric, the larger bound is used")
    return float(np.abs(bounds).max())


def _list_control_range(model: Any, i: int, gear: float, name: str, unsupported: Unsupported) -> None:
    """The range of targets is lost; that is worth a word unless the joint's own limits say as much."""
    if not model.actuator_ctrllimited[i]:
        return
    j = int(model.actuator_trnid[i, 0])
    low, high = sorted(model.actuator_ctrlrange[i] / gear)
    if not (model.jnt_limited[j] and low <= model.jnt_range[j, 0] and high >= model.jnt_range[j, 1]):
        unsupported.add(f"ctrlrange of {name}")


# ---- equalities ------------------------------------------------------------------------------------------------------


def read_equalities(model: Any, names: ModelNames, description: RobotDescription, unsupported: Unsupported) -> None:
    """connect -> ball loop, weld -> weld loop, joint -> mimic (linear ones)."""
    import mujoco

    for i in range(model.neq):
        name, kind = f"equality {names.equality[i]!r}", int(model.eq_type[i])
        if not model.eq_active0[i]:
            unsupported.add(f"{name}: not active", Grade.LOOKS)
            continue
        if kind in (CONNECT, WELD):
            description.loops += _read_loop(model, names, i, name, unsupported)
        elif kind == JOINT_EQUALITY:
            description.mimics += _read_mimic(model, names, i, name, unsupported)
        else:
            unsupported.add(f"{name} of kind {mujoco.mjtEq(kind).name.removeprefix('mjEQ_').lower()}")
            continue
        for attribute in ("solref", "solimp"):
            if not np.array_equal(getattr(model, f"eq_{attribute}")[i], getattr(usual().default.equality, attribute)):
                unsupported.add(f"{attribute} of {name}", Grade.SLIGHT)


def _read_loop(model: Any, names: ModelNames, i: int, name: str, unsupported: Unsupported) -> list[Loop]:
    data = model.eq_data[i]
    objects = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
    weld = int(model.eq_type[i]) == WELD
    if int(model.eq_objtype[i]) == SITE:  # the two site frames coincide
        a, b = (int(model.site_bodyid[k]) for k in objects)
        point_a, point_b = (model.site_pos[k].copy() for k in objects)
        turn_a, turn_b = (model.site_quat[k] for k in objects)
        relative = multiply(turn_a, _conjugate(turn_b))  # R_a_b
    elif weld:  # data: anchor in body 2, the same point in body 1, R_1_2, torque scale
        a, b = objects
        point_a, point_b, relative = data[3:6].copy(), data[0:3].copy(), data[6:10]
    else:
        a, b = objects
        point_a, point_b, relative = data[0:3].copy(), data[3:6].copy(), np.array([1.0, 0, 0, 0])
    if weld and data[10] != 1.0:
        unsupported.add(f"torquescale of {name}", Grade.SLIGHT)
    if a == 0:  # a loop starts at a body, the world comes second
        a, b, point_a, point_b, relative = b, a, point_b, point_a, _conjugate(relative)
    if a == 0:
        unsupported.add(f"{name}: it binds the world to itself", Grade.LOOKS)
        return []
    length = float(np.linalg.norm(relative))
    turn = _conjugate(relative / length) if length > 0.0 else relative  # R_b_a: the axes of body a seen from body b
    return [Loop(names.equality[i], "weld" if weld else "ball", names.body[a], names.body[b] if b else None, point_a,
                 position_b=point_b, rotation_b=turn if weld else None)]


def _conjugate(quaternion: np.ndarray) -> np.ndarray:
    w, x, y, z = quaternion
    return np.array([w, -x, -y, -z])


def _read_mimic(model: Any, names: ModelNames, i: int, name: str, unsupported: Unsupported) -> list[Mimic]:
    """MuJoCo: q1 - ref1 = c0 + c1 (q2 - ref2) + ...; our positions are MuJoCo's, so the refs go into the offset."""
    one, two, data = int(model.eq_obj1id[i]), int(model.eq_obj2id[i]), model.eq_data[i]
    if two < 0:
        unsupported.add(f"{name}: it holds joint {names.joint[one]!r} at a constant",
                        remedy="give the joint equal limits")
        return []
    if data[2:5].any():
        unsupported.add(f"{name}: polycoef beyond the linear term", remedy="close the linkage by a loop")
        return []
    ref_one, ref_two = (float(model.qpos0[model.jnt_qposadr[j]]) for j in (one, two))
    offset, ratio = float(data[0]), float(data[1])
    return [Mimic(names.joint[one], names.joint[two], ratio, offset + ref_one - ratio * ref_two)]


# ---- contact pairs ---------------------------------------------------------------------------------------------------


def read_pairs(model: Any, names: ModelNames, description: RobotDescription, unsupported: Unsupported) -> None:
    """<exclude> and <pair>; and the true parents of bodies at the end of a chain of joints: MuJoCo keeps them apart."""
    there = {body.name for body in description.bodies}
    excluded = [(int(s) >> 16, int(s) & 0xFFFF) for s in model.exclude_signature]
    for i in range(1, model.nbody):
        if int(model.body_jntnum[i]) > 1 and int(model.body_parentid[i]) > 0:
            excluded.append((int(model.body_parentid[i]), i))
    for a, b in excluded:
        if names.body[a] in there and names.body[b] in there:  # the world is not there when nothing is attached to it
            description.excluded_pairs.append((names.body[a], names.body[b]))
    for i in range(model.npair):
        _read_pair(model, names, i, there, description, unsupported)


def _read_pair(model: Any, names: ModelNames, i: int, there: set[str], description: RobotDescription,
               unsupported: Unsupported) -> None:
    geoms = int(model.pair_geom1[i]), int(model.pair_geom2[i])
    a, b = (int(model.geom_bodyid[k]) for k in geoms)
    name = label("contact pair", names.pair[i]) if names.pair[i] else (
        f"contact pair of {names.geom_label(model, geoms[0])} and {names.geom_label(model, geoms[1])}")
    if a == b or any(k not in names.geometry for k in geoms):
        unsupported.add(f"{name}: {'both are of one body' if a == b else 'a shape of the two is not read'}")
        return
    sliding, across, torsional, rolling, aslant = (float(value) for value in model.pair_friction[i])
    if (condim := int(model.pair_dim[i])) >= 3 and sliding != across or condim >= 6 and rolling != aslant:
        unsupported.add(f"{name}: friction that differs by direction, the larger is used")
    material = Material(max(sliding, across), torsional_friction=torsional, rolling_friction=max(rolling, aslant),
                        combine="maximum", condim=condim)  # type: ignore[arg-type]
    first, second = sorted((names.body[body], names.geometry[k]) for body, k in zip((a, b), geoms, strict=True))
    description.geometry_pairs[first, second] = material
    for attribute in ("solref", "solimp", "margin", "gap"):
        if not np.array_equal(getattr(model, f"pair_{attribute}")[i], getattr(usual().default.pair, attribute)):
            unsupported.add(f"{attribute} of {name}", Grade.SLIGHT)
