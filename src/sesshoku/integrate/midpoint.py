"""Moreau's midpoint rule: positions move by the mean of the old and the new velocity, forces and contacts are those of
the middle of the step.

    q_M = q (+) dt/2 v,    v+ = v + dt H(q_M)^-1 (forces at q_M and v_M) + impulses,    q+ = q_M (+) dt/2 v+
(E20)-(E24) of docs/methods/exact.md, with the velocity of the middle predicted, v_M = v + dt/2 a(q_M, v). Second order
in smooth motion, and exact for constant forces, sliding friction among them.

A lone free body that turns by more than FAST within a step is not turned to a middle that means nothing: it stays as it
stands, spins by `rotor`, and ends where that leaves it, or, where contact changed its spin, along the new one.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.efforts import settle_efforts
from sesshoku.dynamics.factor import solve
from sesshoku.dynamics.rnea import bias_at_velocities, external_wrenches, link_velocities
from sesshoku.integrate.fast_joints import FAST as FAST_JOINT
from sesshoku.integrate.fast_joints import (
    FAST_TREES,
    carry_motion,
    find_fast,
    note_motion,
    place_fast,
    rest_bias,
)
from sesshoku.integrate.position import move, move_kinematic
from sesshoku.model.arrays import FREE, KINEMATIC
from sesshoku.spatial.algebra import cross

FAST = 0.2  # rad per step: at 0.4 the predicted torque of a tumbling body brings up to 0.2 % of its energy in a step


@jit
def turns_fast(model, data, t, dt):
    """Whether tree t is a lone free body that turns by more than FAST in a step."""
    i = model.tree_link[t]
    if model.tree_link[t + 1] != i + 1 or model.link_joint[i] != FREE:
        return False
    k = model.link_dof[i] + 3
    x, y, z = data.v[k], data.v[k + 1], data.v[k + 2]
    return not (x * x + y * y + z * z) * dt * dt < FAST * FAST


@jit
def to_middle(model, data, dt):
    """(E20): new_q = q_M; scripted links go half their way."""
    q, middle = data.q, data.new_q
    for n in range(model.coordinate_count):
        middle[n] = q[n]
    move(model, middle, data.v, 0.5 * dt)
    for t in range(model.tree_count):
        if turns_fast(model, data, t, dt):
            at = model.link_coordinate[model.tree_link[t]]
            for n in range(at + 3, at + 7):
                middle[n] = q[n]
    move_kinematic(model, data, 0.5 * dt)


@jit
def carry_to_middle(model, data, dt):
    """v of the marked trees from the start's pose to that of the middle, new_q; `start_v` keeps what it was."""
    for k in range(model.dof_count):
        data.start_v[k] = data.v[k]
    place_fast(model, data, data.q)
    note_motion(model, data, data.v, 0.5 * dt)
    place_fast(model, data, data.new_q)
    carry_motion(model, data, data.v)


@jit
def speeds_up(model, data, dt):
    """Mark the trees that turn fast if nothing touches, by `predict_middle`; True if they are more than before.

    v is then again that of the start.
    """
    before, new_v = data.counters[FAST_TREES], data.new_v
    for k in range(model.dof_count):
        new_v[k] = data.v[k] + dt * data.free_acceleration[k]
    if find_fast(model, data, new_v, dt, FAST_JOINT, True) == before:
        return False
    for k in range(model.dof_count if before > 0 else 0):
        data.v[k] = data.start_v[k]
    return True


@jit
def lead_scripts(model, data, sign):
    """Scripted links: from the mean velocity, by which they move, to that of the step's end, which is to be compared
    with the new velocity (sign 1), and back (-1)."""
    for t in range(model.tree_count):
        i = model.tree_link[t]
        if model.link_joint[i] == KINEMATIC:
            for a in range(6):
                data.kinematic_velocity[i, a] += sign * data.kinematic_lead[i, a]


@jit
def script_lead(model, data, link, p):
    """What `kinematic_lead` of its scripted root adds to the velocity of a link at the world point p; world axes."""
    t = model.link_tree[link]
    i = model.tree_link[t]
    if model.link_joint[i] != KINEMATIC:
        return 0.0, 0.0, 0.0
    o, w = data.tree_origin[t], data.kinematic_lead[i]
    x, y, z = cross(w[3], w[4], w[5], p[0] - o[0], p[1] - o[1], p[2] - o[2])
    return w[0] + x, w[1] + y, w[2] + z


@jit
def predict_middle(model, data, dt):
    """(E21): stage_v, velocity of the middle, by the forces there and the bias of v. Needs `link_velocities` of v."""
    v, middle = data.v, data.stage_v
    free_acceleration(model, data)
    settle_efforts(model, data)
    for k in range(model.dof_count):
        middle[k] = v[k] + 0.5 * dt * data.free_acceleration[k]
    for t in range(model.tree_count):
        if turns_fast(model, data, t, dt):  # `rotor` takes the gyroscopic torque of v out again
            first = model.link_dof[model.tree_link[t]] + 3
            for k in range(first, first + 3):
                middle[k] = v[k]


@jit
def middle_velocity(model, data, dt):
    """(E22): new_v = v + dt H^-1 (joint force - bias at the predicted middle velocity), which the links have then."""
    link_velocities(model, data, data.stage_v)
    if model.drag_count > 0:
        external_wrenches(model, data)  # with the drag of that velocity
    free_acceleration(model, data)
    for k in range(model.dof_count):
        data.new_v[k] = data.v[k] + dt * data.free_acceleration[k]


@jit
def free_acceleration(model, data):
    """Joint accelerations (V) without contacts at the links' velocities."""
    a, bias, force = data.free_acceleration, data.bias_force, data.joint_force
    bias_at_velocities(model, data, bias)
    if data.counters[FAST_TREES] > 0:
        rest_bias(model, data, bias)
    for k in range(model.dof_count):
        a[k] = force[k] - bias[k]
    solve(model, data.factor, data.factor_dinv, a)


@jit
def from_middle(model, data, shift, dt):
    """(E24): q, v at the end of the step; shift (V): a further displacement, or zero."""
    way, v, new_v = data.stage_v, data.v, data.new_v
    for k in range(model.dof_count):
        way[k] = 0.5 * dt * new_v[k] + shift[k]
    for t in range(model.tree_count):
        if turns_fast(model, data, t, dt):
            first = model.link_dof[model.tree_link[t]] + 3
            for k in range(first, first + 3):
                way[k] = dt * new_v[k]
    move(model, data.new_q, way, 1.0)
    for n in range(model.coordinate_count):
        data.q[n] = data.new_q[n]
    for k in range(model.dof_count):
        v[k] = new_v[k]
    move_kinematic(model, data, 0.5 * dt)
