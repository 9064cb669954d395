"""Equalities, contact pairs and keyframes of a compiled MuJoCo model. See mjcf.py for the rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.scene.elements import Loop, Mimic, RobotDescription
from sesshoku.scene.mjcf_actuators import read_tendon_equality
from sesshoku.scene.mjcf_bodies import ModelNames, usual
from sesshoku.scene.spec import Unsupported
from sesshoku.spatial.rotation import multiply

CONNECT, WELD, JOINT_EQUALITY, TENDON_EQUALITY = range(4)  # mjtEq
SITE = 6  # mjOBJ_SITE


def label(kind: str, name: str, info: str = "") -> str:
    """How to speak of an element: by its name, or by its line."""
    return f"{kind} {name!r}" if name else f"{kind} ({info})" if info else kind


# ---- equalities ------------------------------------------------------------------------------------------------------


def read_equalities(model: Any, names: ModelNames, description: RobotDescription, unsupported: Unsupported) -> None:
    """connect -> ball loop, weld -> weld loop, joint and tendon -> mimic (linear ones, over two joints)."""
    import mujoco

    for i in range(model.neq):
        name, kind = f"equality {names.equality[i]!r}", int(model.eq_type[i])
        if not model.eq_active0[i]:
            unsupported.add(f"{name}: not active")
            continue
        if kind in (CONNECT, WELD):
            description.loops += _read_loop(model, names, i, name, unsupported)
        elif kind == JOINT_EQUALITY:
            description.mimics += _read_mimic(model, names, i, name, unsupported)
        elif kind == TENDON_EQUALITY:
            description.mimics += read_tendon_equality(model, names, i, name, unsupported)
        else:
            unsupported.add(f"{name} of kind {mujoco.mjtEq(kind).name.removeprefix('mjEQ_').lower()}")
            continue
        for attribute in ("solref", "solimp"):
            if not np.array_equal(getattr(model, f"eq_{attribute}")[i], getattr(usual().default.equality, attribute)):
                unsupported.add(f"{attribute} of {name}")


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
        unsupported.add(f"torquescale of {name}")
    if a == 0:  # a loop starts at a body, the world comes second
        a, b, point_a, point_b, relative = b, a, point_b, point_a, _conjugate(relative)
    if a == 0:
        unsupported.add(f"{name}: it binds the world to itself")
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
        unsupported.add(f"{name}: it holds joint {names.joint[one]!r} at a constant")
        return []
    if data[2:5].any():
        unsupported.add(f"{name}: polycoef beyond the linear term")
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
    description.forced_pairs.append((names.body[a], names.body[b]))
    others = [k for k in range(model.ngeom) if int(model.geom_bodyid[k]) in (a, b) and k not in geoms
              and (model.geom_contype[k] or model.geom_conaffinity[k])]
    if others:
        unsupported.add(f"{name}: all geometries of the two bodies may touch")
    unsupported.add(f"friction and contact parameters of {name}")


def read_keyframes(model: Any, names: ModelNames, unsupported: Unsupported) -> dict[str, dict[str, Any]]:
    """keyframe name -> joint name -> position."""
    import mujoco

    poses: dict[str, dict[str, Any]] = {}
    for n in range(model.nkey):
        name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_KEY, n) or f"key{n}"
        qpos = model.key_qpos[n]
        sizes = {0: 7, 1: 4}  # free, ball; hinge and slide have one number
        poses[name] = {}
        for j in range(model.njnt):
            at, size = int(model.jnt_qposadr[j]), sizes.get(int(model.jnt_type[j]), 1)
            poses[name][names.joint[j]] = float(qpos[at]) if size == 1 else qpos[at : at + size].copy()
        if model.key_qvel[n].any():
            unsupported.add(f"velocities of keyframe {name!r}")
        held = [float(qpos[model.jnt_qposadr[j]]) if 0 <= j < model.njnt else 0.0 for j in model.actuator_trnid[:, 0]]
        if model.key_ctrl[n].any() and not np.allclose(model.key_ctrl[n], held):
            unsupported.add(f"controls of keyframe {name!r}")
    return poses
