"""Servos, joint springs and dampers too stiff for a Runge-Kutta step, whose stages hold them explicitly.

A damper d on an inertia I decays as exp(-d t / I); the fourth-order stages follow it up to dt d / I = 2.785 and grow
without bound beyond. Servos of robots' files are often far beyond (408 for an arm's wrist at 2 ms). Such a step is made
by semi-implicit Euler, as one in which joints turn too far is, and a warning says so when the simulation is made. The
inertia is all that a joint carries: less would make it stiffer still, so that no step is called stiff which is not.
"""

from __future__ import annotations

import numpy as np

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.actuation import drive_inertia, joint_forces
from sesshoku.methods.lcp.options import Options
from sesshoku.methods.lcp.work import Work
from sesshoku.model.arrays import GENERAL, POSITION, TORQUE
from sesshoku.scene.compiler import CompiledScene

LIMIT = 2.785  # of dt d / I on the negative real axis, and on the safe side for dt^2 k / I
TOO_STIFF = 1  # place in `counters`: whether this step is beyond it


@jit
def stage_step(model, data, dt):
    """How far springs and servos look ahead in a Runge-Kutta step: 0, explicit, or dt where they are too stiff for
    that; counters say which."""
    joint_forces(model, data, data.q, data.v, dt, 1.0)
    stiff = False
    for k in range(model.dof_count):
        stiff = stiff or data.implicit_diagonal[k] > LIMIT * model.dof_inertia[k]
    for a in range(model.actuator_count):
        stiff = stiff or data.actuator_slope[a] > LIMIT * drive_inertia(model, data, a)
    data.counters[TOO_STIFF] = 1 if stiff else 0
    return dt if stiff else 0.0


def cautions(compiled: CompiledScene, options: Options, work: Work, dt: float) -> list[str]:
    """What to warn of when a simulation is made: joints that are too stiff for Runge-Kutta at this step."""
    if options.integrator != "rk4":
        return []
    model = compiled.model
    damping, stiffness = model.dof_viscous * model.dof_implicit, model.dof_stiffness * model.dof_implicit
    for a in range(model.actuator_count):
        k, gear, kind = int(model.actuator_dof[a]), float(model.actuator_gear[a]), model.actuator_kind[a]
        if k < 0 or kind == TORQUE or not model.actuator_implicit[a]:
            continue
        if kind == GENERAL:
            kp, kd = -gear * gear * model.actuator_bias[a, 1], -gear * gear * model.actuator_bias[a, 2]
        else:
            kp, kd = gear * model.actuator_kp[a] if kind == POSITION else 0.0, gear * model.actuator_kd[a]
        damping[k], stiffness[k] = damping[k] + max(kd, 0.0), stiffness[k] + max(kp, 0.0)
    ratio = (dt * damping + dt * dt * stiffness) / model.dof_inertia
    stiff = np.flatnonzero(ratio > LIMIT)
    if len(stiff) == 0:
        return []
    worst = int(stiff[np.argmax(ratio[stiff])])
    d, k, inertia = damping[worst], stiffness[worst], model.dof_inertia[worst]
    most = (-d + np.sqrt(d * d + 4.0 * k * LIMIT * inertia)) / (2.0 * k) if k > 0.0 else LIMIT * inertia / d
    more = f" (and {len(stiff) - 1} more)" if len(stiff) > 1 else ""
    return [f"servo, spring or damper of joint {compiled.joint_names[int(model.dof_link[worst])]!r}{more} is too stiff "
            f"for Runge-Kutta, whose stages hold it explicitly: its steps are semi-implicit Euler's; lower dt to "
            f'{most:.2g} s, or choose integrator="semi-implicit" (lcp:recommended)']
