"""Tendons of a compiled MuJoCo model: sums over joints, and paths through sites, pulleys, spheres and cylinders."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from sesshoku.scene.elements import Mimic
from sesshoku.scene.elements.actuators import Tendon
from sesshoku.scene.elements.tendon_paths import PathPoint
from sesshoku.scene.io.mjcf.bodies import ModelNames, usual
from sesshoku.scene.io.spec import Unsupported
from sesshoku.spatial.rotation import unit

WRAP_JOINT, WRAP_PULLEY, WRAP_SITE, WRAP_SPHERE, WRAP_CYLINDER = range(1, 6)  # mjtWrap


def above(model: Any, body: int) -> set[int]:
    """The bodies that carry a body, itself included."""
    found = {body}
    while body:
        body = int(model.body_parentid[body])
        found.add(body)
    return found


def limits(limited: Any, bounds: np.ndarray) -> tuple[float, float] | None:
    """A range, if it counts."""
    return (float(bounds[0]), float(bounds[1])) if limited else None


def _items(model: Any, t: int) -> range:
    """Places of tendon t in the model's list of what tendons run over."""
    return range(int(model.tendon_adr[t]), int(model.tendon_adr[t] + model.tendon_num[t]))


def is_fixed(model: Any, t: int) -> bool:
    """Whether tendon t is a sum over joints, not a path through space."""
    return all(int(model.wrap_type[n]) == WRAP_JOINT for n in _items(model, t))


def tendon_names(model: Any) -> list[str]:
    """Names by index; unnamed ones get names of our own."""
    import mujoco

    given = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_TENDON, t) for t in range(model.ntendon)]
    return [name or f"tendon{t}" for t, name in enumerate(given)]


def read_tendons(model: Any, names: ModelNames, unsupported: Unsupported) -> list[Tendon]:
    """All tendons, with springs, dampers, limits and dry friction."""
    tendons = []
    for t, name in enumerate(tendon_names(model)):
        label = f"tendon {name!r}"
        low, high = (float(length) for length in model.tendon_lengthspring[t])
        lower, upper = limits(model.tendon_limited[t], model.tendon_range[t]) or (-np.inf, np.inf)
        over = {"joints": _arms(model, names, t)} if is_fixed(model, t) else {"path": _path(model, names, t)}
        tendon = Tendon(name, stiffness=float(model.tendon_stiffness[t]), rest=low if low == high else (low, high),
                        viscous=float(model.tendon_damping[t]), lower=lower, upper=upper,
                        friction=float(model.tendon_frictionloss[t]), **over)
        if tendon.has_rows and _branches(model, t) > 2:
            unsupported.add(f"range and frictionloss of {label}: its joints lie on more than two branches")
            tendon = replace(tendon, lower=-np.inf, upper=np.inf, friction=0.0)
        tendons.append(tendon)
        _list_tendon(model, t, label, unsupported)
    return tendons


def _arms(model: Any, names: ModelNames, t: int) -> dict[str, float]:
    """joint -> coefficient of a fixed tendon."""
    joints: dict[str, float] = {}
    for n in _items(model, t):
        joint = names.joint[int(model.wrap_objid[n])]
        joints[joint] = joints.get(joint, 0.0) + float(model.wrap_prm[n])
    return joints


def _path(model: Any, names: ModelNames, t: int) -> list[PathPoint]:
    """The places a spatial tendon runs through; those of the world are in no body."""
    path = []

    def owner(body: int) -> str | None:
        return names.body[body] if body else None

    for n in _items(model, t):
        kind, i, number = int(model.wrap_type[n]), int(model.wrap_objid[n]), float(model.wrap_prm[n])
        if kind == WRAP_PULLEY:
            path.append(PathPoint("pulley", divisor=number))
        elif kind == WRAP_SITE:
            path.append(PathPoint("site", owner(int(model.site_bodyid[i])), model.site_pos[i].copy()))
        else:
            point = PathPoint("sphere" if kind == WRAP_SPHERE else "cylinder", owner(int(model.geom_bodyid[i])),
                              model.geom_pos[i].copy(), unit(model.geom_quat[i]), float(model.geom_size[i, 0]))
            side = round(number)
            if side >= 0:
                point = replace(point, side=model.site_pos[side].copy(), side_body=owner(int(model.site_bodyid[side])))
            path.append(point)
    return path


def _branches(model: Any, t: int) -> int:
    """On how many ways to the root the joints lie that a tendon moves with."""
    bodies: set[int] = set()
    if is_fixed(model, t):
        bodies = {int(model.jnt_bodyid[int(model.wrap_objid[n])]) for n in _items(model, t)}
    else:
        items = [(int(model.wrap_type[n]), int(model.wrap_objid[n])) for n in _items(model, t)]
        carried = [above(model, int((model.site_bodyid if kind == WRAP_SITE else model.geom_bodyid)[i]))
                   if kind != WRAP_PULLEY else None for kind, i in items]
        for one, other in pairwise(carried):
            if one is not None and other is not None:
                bodies |= {body for body in one ^ other if model.body_dofnum[body] > 0}
    carrying = set().union(*(above(model, body) - {body} for body in bodies))
    return len(bodies - carrying)


def _list_tendon(model: Any, t: int, label: str, unsupported: Unsupported) -> None:
    normal = usual().default.tendon
    tests = {
        "armature": model.tendon_armature[t] != 0.0, "actuatorfrcrange": bool(model.tendon_actfrclimited[t]),
        "margin": bool(model.tendon_limited[t]) and model.tendon_margin[t] != 0.0,
        "nonlinear stiffness": model.tendon_stiffnesspoly[t].any(),
        "nonlinear damping": model.tendon_dampingpoly[t].any(),
        "springyield": model.tendon_springyield[t] != 0.0,
        "solreflimit": bool(model.tendon_limited[t]) and not np.array_equal(model.tendon_solref_lim[t],
                                                                            normal.solref_limit),
        "solimplimit": bool(model.tendon_limited[t]) and not np.array_equal(model.tendon_solimp_lim[t],
                                                                            normal.solimp_limit),
    }
    for attribute, used in tests.items():
        if used:
            unsupported.add(f"{attribute} of {label}")


def read_tendon_equality(model: Any, names: ModelNames, i: int, label: str, unsupported: Unsupported) -> list[Mimic]:
    """A linear equality of fixed tendons over two joints in all, as one joint that follows the other.

    MuJoCo: L1 - L1_0 = c0 + c1 (L2 - L2_0) with lengths L_0 in the pose of the file; without a second tendon L2 = L2_0.
    """
    tendons = [int(t) for t in (model.eq_obj1id[i], model.eq_obj2id[i]) if t >= 0]
    data, factors = model.eq_data[i], [1.0, -float(model.eq_data[i, 1])]
    if data[2:5].any():
        unsupported.add(f"{label}: polycoef beyond the linear term")
        return []
    if not all(is_fixed(model, t) for t in tendons):
        unsupported.add(f"{label}: spatial tendons")
        return []
    arms: dict[str, float] = {}
    constant = float(data[0])
    for t, factor in zip(tendons, factors):
        constant += factor * float(model.tendon_length0[t])
        for joint, arm in _arms(model, names, t).items():
            arms[joint] = arms.get(joint, 0.0) + factor * arm
    arms = {joint: arm for joint, arm in arms.items() if arm != 0.0}
    if len(arms) != 2:
        unsupported.add(f"{label}: it joins {len(arms)} joints, not two")
        return []
    (joint, arm), (source, other) = arms.items()
    return [Mimic(joint, source, -other / arm, constant / arm)]
