"""Explicit four-stage Runge-Kutta schemes of the contact-free motion.

The state (q, v) follows q' = rate(q) v, v' = forward dynamics; quaternions are integrated as four numbers and
normalised at the end, which keeps the scheme's order. A scheme is its Butcher tableau: `rk4.TABLEAU`, `rkg.TABLEAU`.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.aba import forward_dynamics
from sesshoku.dynamics.actuation import joint_forces
from sesshoku.dynamics.kinematics import coordinate_rate, kinematics
from sesshoku.integrate.position import move_kinematic, normalize


@jit
def runge_kutta(model, data, tableau, dt, q_out, v_out):
    """(q, v) of `data` -> (q_out, v_out), dt later. tableau (5, 5): a row per stage, then weights; column 0 the times.

    Scripted links end moved by dt.
    """
    q, v, stage_q, stage_v, rate_q, rate_v = data.q, data.v, data.stage_q, data.stage_v, data.rate_q, data.rate_v
    time = 0.0
    for s in range(4):
        time = start_stage(model, data, tableau, s, time, dt)
        if model.has_lifted or model.spatial_count > 0:
            kinematics(model, data, stage_q)
        joint_forces(model, data, stage_q, stage_v, 0.0, 1.0)
        for k in range(model.dof_count):
            data.joint_force[k] += data.constraint_force[k]
        coordinate_rate(model, stage_q, stage_v, rate_q[s])
        forward_dynamics(model, data, stage_q, stage_v, data.joint_force, rate_v[s])
    move_kinematic(model, data, (1.0 - time) * dt)
    combine(q, rate_q, tableau, 4, dt, stage_q)
    combine(v, rate_v, tableau, 4, dt, stage_v)
    for n in range(len(q)):
        q_out[n] = stage_q[n]
    for n in range(len(v)):
        v_out[n] = stage_v[n]
    normalize(model, q_out)


@jit
def start_stage(model, data, tableau, s, time, dt):
    """Positions and velocities of stage s, scripts moved on from the stage before, at `time`; its own time (in dt)."""
    combine(data.q, data.rate_q, tableau, s, dt, data.stage_q)
    combine(data.v, data.rate_v, tableau, s, dt, data.stage_v)
    move_kinematic(model, data, (tableau[s, 0] - time) * dt)
    return tableau[s, 0]


@jit
def combine(start, rate, tableau, s, dt, out):
    """out = start + dt * sum of the rates weighted by row s of the tableau."""
    for n in range(len(start)):
        x = start[n]
        for j in range(min(s, 4)):
            x += dt * tableau[s, 1 + j] * rate[j, n]
        out[n] = x
