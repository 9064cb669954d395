"""Actuators and fixed tendons of a compiled MuJoCo model.

MuJoCo: an actuator's force is clip(gain * u + bias), gain = g0 + g1 l + g2 l', bias = b0 + b1 l + b2 l', u its control
or its activation, l = gear * q the length of its transmission; it acts on the joint or tendon times gear. Where that is
the law of a motor, or, with gear 1, of a position or velocity servo, it becomes one; else a general actuator, whose law
it is. `target` (of velocity servos `target_velocity`) is MuJoCo's ctrl in all of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sesshoku.scene.elements import Mimic
from sesshoku.scene.elements.actuators import Actuator, Tendon
from sesshoku.scene.io.mjcf.bodies import HINGE, SLIDE, ModelNames, usual
from sesshoku.scene.io.spec import Unsupported
from sesshoku.spatial.rotation import unit

JOINT, JOINT_IN_PARENT, SLIDER_CRANK, TENDON, SITE, BODY = range(6)  # mjtTrn
FIXED_GAIN, AFFINE_GAIN = 0, 1  # mjtGain
NO_BIAS, AFFINE_BIAS = 0, 1  # mjtBias
DYNAMICS = {0: "none", 1: "integrator", 2: "filter", 3: "filterexact"}  # mjtDyn
WRAP_JOINT = 1  # mjWRAP_JOINT
LEAST_TIME = 1e-9  # s; MuJoCo takes a filter without time constant for one that follows at once


def read_actuators(model: Any, names: ModelNames, there: set[str], unsupported: Unsupported) -> list[Actuator]:
    """Every actuator with an affine law on a joint of one axis, a fixed tendon or a site; others are listed.

    there: names of the bodies that were read.
    """
    actuators = []
    for i in range(model.nactuator):
        label = f"actuator {names.actuator[i]!r}"
        drives = _drives(model, names, i, there)
        reason = drives if isinstance(drives, str) else _refused(model, i)
        if reason is None and not isinstance(drives, str):
            values = _law(model, i, drives.pop("gear"))
            if "body" in drives and _moves(values):
                reason = "a servo at a site"
            else:
                actuators.append(Actuator(names.actuator[i], **drives, **values))
                if model.actuator_actearly[i]:
                    unsupported.add(f"actearly of {label}")
        if reason is not None:
            unsupported.add(f"{label}: {reason}")
    return actuators


def _drives(model: Any, names: ModelNames, i: int, there: set[str]) -> dict[str, Any] | str:
    """What an actuator drives, and its gear; or why it has no counterpart here."""
    target, second = (int(n) for n in model.actuator_trnid[i])
    kind, gear = int(model.actuator_trntype[i]), model.actuator_gear[i]
    if kind in (JOINT, JOINT_IN_PARENT):
        if int(model.jnt_type[target]) not in (HINGE, SLIDE):
            return "it drives a ball or free joint"
        return {"joint": names.joint[target], "gear": float(gear[0])}
    if kind == TENDON:
        if not is_fixed(model, target):
            return "it pulls a spatial tendon"
        return {"tendon": tendon_names(model)[target], "gear": float(gear[0])}
    if kind != SITE:
        return {SLIDER_CRANK: "a slider-crank", BODY: "adhesion of a body"}.get(kind, "what it drives is not known")
    body = int(model.site_bodyid[target])
    place = {"body": names.body[body], "position": model.site_pos[target].copy(), "wrench": gear.copy(), "gear": 1.0,
             "rotation": unit(model.site_quat[target])}
    if body == 0:
        return "it pushes the world"
    if second < 0:
        return place
    base = int(model.site_bodyid[second])
    if base and base not in _above(model, body):
        return "its refsite is on a body that does not carry its site"
    if names.body[base] not in there:
        return "its refsite is on the world, and nothing else is: add a geom to the worldbody"
    return place | {"base": names.body[base], "rotation": unit(model.site_quat[second])}


def _above(model: Any, body: int) -> set[int]:
    """The bodies that carry a body, itself included."""
    found = {body}
    while body:
        body = int(model.body_parentid[body])
        found.add(body)
    return found


def _refused(model: Any, i: int) -> str | None:
    """Why the law of an actuator has no counterpart here, or None."""
    import mujoco

    gain, bias, dynamics = (int(getattr(model, f"actuator_{key}type")[i]) for key in ("gain", "bias", "dyn"))
    if gain not in (FIXED_GAIN, AFFINE_GAIN) or bias not in (NO_BIAS, AFFINE_BIAS):
        return "its gain or bias is not affine"
    if dynamics not in DYNAMICS or (dynamics and int(model.actuator_actnum[i]) != 1):
        return f"activation dynamics {mujoco.mjtDyn(dynamics).name.removeprefix('mjDYN_').lower()}"
    if int(model.actuator_ctrlnum[i]) != 1:
        return "it takes several controls"
    if model.actuator_armature[i] or model.actuator_damping[i] or model.actuator_dampingpoly[i].any():
        return "it has armature or damping of its own"
    if model.actuator_delay[i] or model.actuator_plugin[i] >= 0:
        return "it has a delay or a plugin"
    return None


def _law(model: Any, i: int, gear: float) -> dict[str, Any]:
    """Kind, gains and ranges."""
    gain = model.actuator_gainprm[i, :3].copy()
    if int(model.actuator_gaintype[i]) == FIXED_GAIN:
        gain[1:] = 0.0
    bias = model.actuator_biasprm[i, :3].copy() if int(model.actuator_biastype[i]) == AFFINE_BIAS else np.zeros(3)
    commands = _range(model.actuator_ctrllimited[i], model.actuator_ctrlrange[i])
    forces = _range(model.actuator_forcelimited[i], model.actuator_forcerange[i])
    dynamics = int(model.actuator_dyntype[i])
    if dynamics == 0 and not gain[1:].any():
        g, (b0, b1, b2) = float(gain[0]), (float(b) for b in bias)
        if not bias.any() and g != 0.0:
            # the command is MuJoCo's ctrl: the gain goes into the gear, and the limits of force are divided by it
            bounds = None if forces is None else sorted(bound / g for bound in forces)
            return {"kind": "torque", "gear": gear * g, "command_range": commands} | _effort(bounds)
        servo = {"gear": 1.0, "feed_forward": b0, "command_range": commands} | _effort(forces)
        if gear == 1.0 and g > 0.0 and b1 == -g and b2 <= 0.0:
            return {"kind": "position", "kp": g, "kd": -b2 + 0.0} | servo
        if gear == 1.0 and g > 0.0 and b1 == 0.0 and b2 == -g:
            return {"kind": "velocity", "kd": g} | servo
    active = _range(model.actuator_actlimited[i], model.actuator_actrange[i])
    return {"kind": "general", "gain": gain, "bias": bias, "gear": gear, "command_range": commands,
            "dynamics": DYNAMICS[dynamics], "time_constant": max(float(model.actuator_dynprm[i, 0]), LEAST_TIME),
            "activation_range": active} | _effort(forces)


def _range(limited: Any, bounds: np.ndarray) -> tuple[float, float] | None:
    return (float(bounds[0]), float(bounds[1])) if limited else None


def _effort(bounds: Any) -> dict[str, Any]:
    """A range of forces: as an effort where it is symmetric."""
    if bounds is None:
        return {}
    low, high = bounds
    return {"effort": high} if low == -high else {"force_range": (low, high)}


def _moves(law: dict[str, Any]) -> bool:
    """Whether a law depends on length or speed."""
    return law["kind"] in ("position", "velocity") or (
        law["kind"] == "general" and bool(law["gain"][1:].any() or law["bias"][1:].any()))


# ---- tendons ---------------------------------------------------------------------------------------------------------


def is_fixed(model: Any, t: int) -> bool:
    """Whether tendon t is a sum over joints, not a path through space."""
    first, count = int(model.tendon_adr[t]), int(model.tendon_num[t])
    return bool((model.wrap_type[first:first + count] == WRAP_JOINT).all())


def tendon_names(model: Any) -> list[str]:
    """Names by index; unnamed ones get names of our own."""
    import mujoco

    given = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_TENDON, t) for t in range(model.ntendon)]
    return [name or f"tendon{t}" for t, name in enumerate(given)]


def read_tendons(model: Any, names: ModelNames, unsupported: Unsupported) -> list[Tendon]:
    """Fixed tendons with springs and dampers; spatial ones are listed."""
    tendons = []
    for t, name in enumerate(tendon_names(model)):
        label = f"tendon {name!r}"
        if not is_fixed(model, t):
            unsupported.add(f"{label}: spatial")
            continue
        joints: dict[str, float] = {}
        for n in range(int(model.tendon_adr[t]), int(model.tendon_adr[t] + model.tendon_num[t])):
            joint = names.joint[int(model.wrap_objid[n])]
            joints[joint] = joints.get(joint, 0.0) + float(model.wrap_prm[n])
        low, high = (float(length) for length in model.tendon_lengthspring[t])
        lower, upper = _range(model.tendon_limited[t], model.tendon_range[t]) or (-np.inf, np.inf)
        tendon = Tendon(name, joints, float(model.tendon_stiffness[t]), low if low == high else (low, high),
                        float(model.tendon_damping[t]), lower, upper, float(model.tendon_frictionloss[t]))
        if tendon.has_rows and _branches(model, t) > 2:
            unsupported.add(f"range and frictionloss of {label}: its joints lie on more than two branches")
            tendon = replace(tendon, lower=-np.inf, upper=np.inf, friction=0.0)
        tendons.append(tendon)
        _list_tendon(model, t, label, unsupported)
    return tendons


def _branches(model: Any, t: int) -> int:
    """On how many ways to the root the joints of a fixed tendon lie."""
    joints = [int(model.wrap_objid[n]) for n in range(int(model.tendon_adr[t]),
                                                      int(model.tendon_adr[t] + model.tendon_num[t]))]
    bodies = {int(model.jnt_bodyid[j]) for j in joints}
    carrying = set().union(*(_above(model, body) - {body} for body in bodies))
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
        for n in range(int(model.tendon_adr[t]), int(model.tendon_adr[t] + model.tendon_num[t])):
            joint = names.joint[int(model.wrap_objid[n])]
            arms[joint] = arms.get(joint, 0.0) + factor * float(model.wrap_prm[n])
    arms = {joint: arm for joint, arm in arms.items() if arm != 0.0}
    if len(arms) != 2:
        unsupported.add(f"{label}: it joins {len(arms)} joints, not two")
        return []
    (joint, arm), (source, other) = arms.items()
    return [Mimic(joint, source, -other / arm, constant / arm)]
