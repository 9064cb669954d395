"""Implicit forces of joints as inertia: servos, joint dampers, armature, and the joints' own springs if implicit.

A force that sees the end of the step is its value at present velocities less S times the acceleration along it,
S = dt^2 k + dt c. Those terms couple a link to its parent (methods/springs/solve/inertia.py), so all that pushes the
bodies afterwards, the constraint forces of contacts above all, is resisted by the servos within the same step.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.actuation import drive_of
from sesshoku.methods.springs.bodies import joint_frame, link_origin, world_inertia
from sesshoku.methods.springs.solve.inertia import answer, clear_reply
from sesshoku.model.arrays import FREE, KINEMATIC, PLANAR, REVOLUTE, SPHERICAL
from sesshoku.spatial.algebra import cross


@jit
def start_coupling(model, data, bodies, joints, springs, implicit_joints):
    """Groups of this step, and the bodies' own inertia in their blocks."""
    needed = springs.iwork
    for b in range(springs.body_count):
        springs.group[b], springs.above[b], needed[b] = -1, -1, 0
    if not implicit_joints:
        return
    for k in range(model.dof_count):
        if joints.own_slope[k] > 0.0:
            needed[bodies.top[model.dof_link[k]]] = 1
    for a in range(model.actuator_count):
        if joints.slope[a] > 0.0:
            dofs, _ = drive_of(model, data, a)
            for n in range(len(dofs)):
                needed[bodies.top[model.dof_link[dofs[n]]]] = 1
    for i in range(model.link_count):
        if model.link_joint[i] != FREE and model.link_joint[i] != KINEMATIC:
            needed[bodies.top[i]] = 1
    for t in range(len(springs.tie_body)):
        for side in range(2):
            needed[bodies.top[springs.tie_body[t, side]]] = 1
    for i in range(model.link_count):
        if bodies.mass[i] == 0.0 or not needed[bodies.top[i]]:
            continue
        springs.group[i], springs.above[i] = bodies.top[i], bodies.above[i]
        springs.group_end[bodies.top[i]] = i + 1
        A, C, I = bodies.block[i], bodies.cross[i], bodies.inertia[i]
        if model.link_joint[i] == REVOLUTE:  # the armature of its joint turns against the parent (`drive_coupled`)
            I = bodies.ten[4:]
            world_inertia(bodies.rotation[i], bodies.own_plain[i], I)
        for a in range(6):
            for b in range(6):
                A[a, b] = C[a, b] = 0.0
            A[a, a] = bodies.mass[i] if a < 3 else I[a - 3]
        A[3, 4] = A[4, 3] = I[3]
        A[3, 5] = A[5, 3] = I[4]
        A[4, 5] = A[5, 4] = I[5]


@jit
def add_spring(bodies, i, p, s, x, y, z):
    """s times the square of the velocity of link i against its parent p at a world point, in all directions."""
    r = bodies.frame
    for a in range(3):
        at = x if a == 0 else (y if a == 1 else z)
        r[0, a], r[1, a] = at - bodies.position[i, a], at - bodies.position[p, a]
    add_point(bodies.block[i], r[0], r[0], s)
    if bodies.mass[p] > 0.0:
        add_point(bodies.block[p], r[1], r[1], s)
        add_point(bodies.cross[i], r[0], r[1], -s)


@jit
def add_point(A, r, q, s):
    """A += s J_r^T J_q with J = (E, -r*)."""
    dot = r[0] * q[0] + r[1] * q[1] + r[2] * q[2]
    for a in range(3):
        A[a, a] += s
        A[3 + a, 3 + a] += s * dot
        for b in range(3):
            A[3 + a, 3 + b] -= s * q[a] * r[b]
    A[0, 4] += s * q[2]
    A[0, 5] -= s * q[1]
    A[1, 3] -= s * q[2]
    A[1, 5] += s * q[0]
    A[2, 3] += s * q[1]
    A[2, 4] -= s * q[0]
    A[4, 0] += s * r[2]
    A[5, 0] -= s * r[1]
    A[3, 1] -= s * r[2]
    A[5, 1] += s * r[0]
    A[3, 2] += s * r[1]
    A[4, 2] -= s * r[0]


@jit
def add_spring_along(bodies, i, p, s, n, at):
    """The same along the direction n alone."""
    x, y, z = at
    J = bodies.row
    for side in range(2):
        b, sign = (i, 1.0) if side == 0 else (p, -1.0)
        o = bodies.position[b]
        J[side, 0], J[side, 1], J[side, 2] = sign * n[0], sign * n[1], sign * n[2]
        J[side, 3], J[side, 4], J[side, 5] = cross(x - o[0], y - o[1], z - o[2], J[side, 0], J[side, 1], J[side, 2])
    add_row(bodies.block, bodies.cross, bodies, i, p, s)


@jit
def add_row(block, cross_block, bodies, i, p, s):
    """s times the square of the speed along `bodies.row`."""
    J, both = bodies.row, bodies.mass[p] > 0.0
    for a in range(6):
        for b in range(6):
            block[i, a, b] += s * J[0, a] * J[0, b]
            if both:
                block[p, a, b] += s * J[1, a] * J[1, b]
                cross_block[i, a, b] += s * J[0, a] * J[1, b]


@jit
def couple_drives(model, bodies, joints, springs):
    """Blocks with the servos and joint dampers that are not at their effort."""
    for i in range(model.link_count):
        if springs.group[i] >= 0:
            for a in range(6):
                for b in range(6):
                    springs.block[i, a, b], springs.cross[i, a, b] = bodies.block[i, a, b], bodies.cross[i, a, b]
    for k in range(model.dof_count):
        if joints.total_slope[k] > 0.0:
            i = model.dof_link[k]
            p = dof_row(model, bodies, i, k - model.link_dof[i])
            add_row(springs.block, springs.cross, bodies, i, p, joints.total_slope[k])


@jit
def dof_axis(model, bodies, i, n):
    """Axis of dof n of link i's joint in the world, and whether it turns; the parent body."""
    kind, J = model.link_joint[i], bodies.frame
    if kind == FREE:
        for a in range(3):
            bodies.relative[0, a] = 1.0 if a == n % 3 else 0.0
        return n >= 3, model.link_count
    p = joint_frame(model, bodies, i, J)
    if kind == SPHERICAL:
        for a in range(3):
            bodies.relative[0, a] = bodies.rotation[i, a, n]
        return True, p
    row = n if kind == PLANAR else 2
    for a in range(3):
        bodies.relative[0, a] = J[row, a]
    return kind == REVOLUTE or (kind == PLANAR and n == 2), p


@jit
def dof_row(model, bodies, i, n):
    """Speed of dof n of link i as a row of its bodies' velocities, into bodies.row (2, 6); returns the parent body."""
    turns, p = dof_axis(model, bodies, i, n)
    J, ax, ay, az = bodies.row, bodies.relative[0, 0], bodies.relative[0, 1], bodies.relative[0, 2]
    ox, oy, oz = link_origin(bodies, i)
    for side in range(2):
        x, sign = bodies.position[i if side == 0 else p], 1.0 if side == 0 else -1.0
        bx, by, bz = sign * ax, sign * ay, sign * az
        if turns:
            J[side, 0] = J[side, 1] = J[side, 2] = 0.0
            J[side, 3], J[side, 4], J[side, 5] = bx, by, bz
        else:
            J[side, 0], J[side, 1], J[side, 2] = bx, by, bz
            J[side, 3], J[side, 4], J[side, 5] = cross(ox - x[0], oy - x[1], oz - x[2], bx, by, bz)
    return p


@jit
def dof_speed(model, bodies, i, n, u, is_reply):
    """Speed of dof n of link i by the bodies' velocities u (B, 6); is_reply: in u, bodies that no force moves rest."""
    p = dof_row(model, bodies, i, n)
    speed = 0.0
    for side in range(2):
        b = i if side == 0 else p
        if bodies.mass[b] > 0.0 or not is_reply:
            for a in range(6):
                speed += bodies.row[side, a] * u[b, a]
    return speed


@jit
def touch_dof(model, work, i, n, count, out):
    """Zero `out` around a dof's two bodies and list those that forces move; returns how many are listed now."""
    bodies, springs = work.bodies, work.springs
    _, p = dof_axis(model, bodies, i, n)
    for side in range(2):
        b = i if side == 0 else p
        if bodies.mass[b] > 0.0:
            springs.touched[count] = b
            count += 1
            clear_reply(springs, b, out)
    return count


@jit
def load_dof(model, bodies, i, n, scale, out):
    """A force `scale` along a dof, onto out (B, 6)."""
    p = dof_row(model, bodies, i, n)
    for side in range(2):
        b = i if side == 0 else p
        if bodies.mass[b] > 0.0:
            for a in range(6):
                out[b, a] += scale * bodies.row[side, a]


@jit
def dof_reply(model, work, i, n, out):
    """What a unit force along a dof moves; the number of bodies in `springs.touched`."""
    bodies, springs = work.bodies, work.springs
    count = touch_dof(model, work, i, n, 0, out)
    load_dof(model, bodies, i, n, 1.0, out)
    answer(springs, springs.touched, count, out)
    return count
