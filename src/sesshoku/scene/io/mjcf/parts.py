"""Equalities, contact pairs and keyframes of a compiled MuJoCo model. See read.py for the rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.scene.elements import Loop, Material, Mimic, RobotDescription
from sesshoku.scene.io.mjcf.bodies import ModelNames, usual
from sesshoku.scene.io.mjcf.tendons import read_tendon_equality
from sesshoku.scene.io.spec import Unsupported
from sesshoku.scene.io.unsupported import Grade
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
            unsupported.add(f"{name}: not active", Grade.LOOKS)
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
    for attributes, grade in ((("solref", "solreffriction", "solimp", "margin", "gap"), Grade.SLIGHT),
                              (("adhesion",), Grade.MOTION)):
        for attribute in attributes:
            if not np.array_equal(getattr(model, f"pair_{attribute}")[i], getattr(usual().default.pair, attribute)):
                unsupported.add(f"{attribute} of {name}", grade)
