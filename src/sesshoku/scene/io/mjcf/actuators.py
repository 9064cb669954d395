"""Actuators of a compiled MuJoCo model.

MuJoCo: an actuator's force is clip(gain * u + bias), gain = g0 + g1 l + g2 l', bias = b0 + b1 l + b2 l', u its control
or its activation, l = gear * q the length of its transmission; it acts on the joint or tendon times gear. Where that is
the law of a motor, or, with gear 1, of a position or velocity servo, it becomes one; else a general actuator, whose law
it is. `target` (of velocity servos `target_velocity`) is MuJoCo's ctrl in all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.scene.elements.actuators import Actuator
from sesshoku.scene.io.mjcf.bodies import HINGE, SLIDE, ModelNames
from sesshoku.scene.io.mjcf.tendons import above, limits, tendon_names
from sesshoku.scene.io.spec import Unsupported
from sesshoku.spatial.rotation import unit

JOINT, JOINT_IN_PARENT, SLIDER_CRANK, TENDON, SITE, BODY = range(6)  # mjtTrn
FIXED_GAIN, AFFINE_GAIN = 0, 1  # mjtGain
NO_BIAS, AFFINE_BIAS = 0, 1  # mjtBias
DYNAMICS = {0: "none", 1: "integrator", 2: "filter", 3: "filterexact"}  # mjtDyn
LEAST_TIME = 1e-9  # s; MuJoCo takes a filter without time constant for one that follows at once


def read_actuators(model: Any, names: ModelNames, there: set[str], unsupported: Unsupported) -> list[Actuator]:
    """Every actuator with an affine law on a joint of one axis, a tendon or a site; others are listed.

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
    if base and base not in above(model, body):
        return "its refsite is on a body that does not carry its site"
    if names.body[base] not in there:
        return "its refsite is on the world, and nothing else is: add a geom to the worldbody"
    return place | {"base": names.body[base], "rotation": unit(model.site_quat[second])}


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
    commands = limits(model.actuator_ctrllimited[i], model.actuator_ctrlrange[i])
    forces = limits(model.actuator_forcelimited[i], model.actuator_forcerange[i])
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
    active = limits(model.actuator_actlimited[i], model.actuator_actrange[i])
    return {"kind": "general", "gain": gain, "bias": bias, "gear": gear, "command_range": commands,
            "dynamics": DYNAMICS[dynamics], "time_constant": max(float(model.actuator_dynprm[i, 0]), LEAST_TIME),
            "activation_range": active} | _effort(forces)


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
