"""Lone free bodies under the midpoint rule: spins and turns that keep their energy to rounding.

Turning about its own spin leaves a body's kinetic energy as it is, so both halves of a step do (q to the middle along
the old spin, on along the new one), and all that matters is how the spin changes in between, with the inertia of the
middle. Gyroscopic torque at the mean spin m = (w0 + w1)/2 does no work, torque t does the work dt t . m:
    I (w1 - w0) = dt t - dt m x I m        (E30)
An impact at its own instant displaces a body also by a turn; its spin goes along with that turn.
"""

from __future__ import annotations

from sesshoku.collision.contacts import CONTACTS
from sesshoku.compiled.jit import jit
from sesshoku.integrate.midpoint import turns_fast
from sesshoku.integrate.position import store_unit, turn_world
from sesshoku.integrate.rotor import midpoint_spin, rotor
from sesshoku.model.arrays import FREE
from sesshoku.spatial.algebra import cross, quaternion_matrix, quaternion_times, turn_quaternion
from sesshoku.stages.free_motion import IF_UNTOUCHED, SPIN, UNTURNED, gyroscopic_rate, spin_freely

NO_TORQUE = 1e-12  # of a body's spin: what torque does in a step is rounding


@jit
def spin_evenly(model, data, gyration_out, dt, fast):
    """(E30): new_v of lone free bodies, gyroscopic torque at the mean spin, by `rotor` above `fast` rad per step.

    gyration (V): the change of spin that is gyroscopic alone. Needs `middle_velocity`, whose prediction it takes out.
    """
    for k in range(model.dof_count):
        gyration_out[k] = 0.0
    for t in range(model.tree_count):
        i = model.tree_link[t]
        if model.tree_link[t + 1] != i + 1 or model.link_joint[i] != FREE:
            continue
        k, I, v, new_v, middle = model.link_dof[i] + 3, data.inertia[i], data.v, data.new_v, data.stage_v
        gx, gy, gz = gyroscopic_rate(I, middle[k], middle[k + 1], middle[k + 2])
        tx, ty, tz = new_v[k] - v[k] + dt * gx, new_v[k + 1] - v[k + 1] + dt * gy, new_v[k + 2] - v[k + 2] + dt * gz
        spin_freely(model, data, i, dt, fast)
        wx, wy, wz = v[k], v[k + 1], v[k + 2]
        turn = (wx * wx + wy * wy + wz * wz) * dt * dt
        free = data.implicit_diagonal[k] + model.dof_armature[k] <= 0.0
        if free and SPIN * SPIN <= turn < fast * fast:
            mx, my, mz = midpoint_spin(I, wx + 0.5 * tx, wy + 0.5 * ty, wz + 0.5 * tz, 0.5 * dt)
            new_v[k], new_v[k + 1], new_v[k + 2] = 2.0 * mx - wx, 2.0 * my - wy, 2.0 * mz - wz
            if tx * tx + ty * ty + tz * tz <= NO_TORQUE * NO_TORQUE * (wx * wx + wy * wy + wz * wz):
                turn_freely(model, data, t, dt)
            else:
                data.turn[i, 7] = UNTURNED
        gyration_out[k], gyration_out[k + 1] = new_v[k] - wx - tx, new_v[k + 1] - wy - ty
        gyration_out[k + 2] = new_v[k + 2] - wz - tz


@jit
def turn_freely(model, data, t, dt):
    """Where lone tree t ends that nothing touches, for `finish_turns`: by `rotor`, which keeps angular momentum too."""
    i = model.tree_link[t]
    k, at, v, q, spin, end = model.link_dof[i] + 3, model.link_coordinate[i] + 3, data.v, data.new_q, data.spin[i], \
        data.turn[i]
    wx, wy, wz, dw, dx, dy, dz = rotor(data.inertia[i], v[k], v[k + 1], v[k + 2], dt)
    E = turn_from_middle(model, data, t, dt, (dw, dx, dy, dz))
    end[4], end[5], end[6] = turn(E, wx, wy, wz)
    store_unit(end, 0, quaternion_times(E[0], E[1], E[2], E[3], q[at], q[at + 1], q[at + 2], q[at + 3]))
    end[7] = IF_UNTOUCHED
    for d in range(3):
        spin[d] = data.new_v[k + d]


@jit
def turn_from_middle(model, data, t, dt, since):
    """Turn of lone tree t from the middle of the step, of its turn since the start, both quaternions.

    The latter in the axes that it has in the middle, to where it turned about its old spin.
    """
    dw, dx, dy, dz = since
    if turns_fast(model, data, t, dt):  # its middle is the start
        return since
    k, v = model.link_dof[model.tree_link[t]] + 3, data.v
    ew, ex, ey, ez = turn_quaternion(-0.5 * dt * v[k], -0.5 * dt * v[k + 1], -0.5 * dt * v[k + 2])
    return quaternion_times(ew, ex, ey, ez, dw, dx, dy, dz)


@jit
def turn(E, x, y, z):
    """E (x, y, z), E a unit quaternion."""
    a, b, c, d, e, f, g, h, i = quaternion_matrix(E[0], E[1], E[2], E[3])
    return a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z


@jit
def turn_back(E, x, y, z):
    """E^T (x, y, z)."""
    a, b, c, d, e, f, g, h, i = quaternion_matrix(E[0], E[1], E[2], E[3])
    return a * x + d * y + g * z, b * x + e * y + h * z, c * x + f * y + i * z


@jit
def split_free(model, data, work):
    """Of every contact the free velocity as its rows have it, and the share in its change that forces have.

    The rest of the change is gyroscopic, and does no work. Needs `contact_rows` and work.gyration.
    """
    contacts, problem = work.contacts, work.problem
    for c in range(contacts.counts[CONTACTS]):
        x = y = z = 0.0
        p = contacts.point[c]
        for side in range(2):
            link, sign = contacts.link[c, side], 1.0 if side else -1.0
            if link >= 0 and problem.body[c, side] >= 0:
                k, o = problem.body[c, side] + 3, data.tree_origin[model.link_tree[link]]
                g = work.gyration[k : k + 3]
                gx, gy, gz = cross(g[0], g[1], g[2], p[0] - o[0], p[1] - o[1], p[2] - o[2])
                x, y, z = x + sign * gx, y + sign * gy, z + sign * gz
        for d in range(3):
            axis = problem.axes[c, d]
            work.unaided[c, d] = problem.free[c, d]
            work.forced[c, d] = (
                problem.free[c, d] - problem.velocity[c, d] - axis[0] * x - axis[1] * y - axis[2] * z
            )


@jit
def turn_along(model, data, shift, turned_out, dt):
    """Turn lone free bodies in the middle (new_q) by the angular part of `shift`, and their new spin with them.

    turned (V): those turns, which are taken out of `shift`.
    """
    for t in range(model.tree_count):
        i = model.tree_link[t]
        if model.tree_link[t + 1] != i + 1 or model.link_joint[i] != FREE or turns_fast(model, data, t, dt):
            continue
        k, w = model.link_dof[i] + 3, data.new_v
        x, y, z = shift[k], shift[k + 1], shift[k + 2]
        if x == 0.0 and y == 0.0 and z == 0.0:
            continue
        turned_out[k], turned_out[k + 1], turned_out[k + 2] = x, y, z
        turn_world(data.new_q, model.link_coordinate[i] + 3, x, y, z)
        dw, dx, dy, dz = turn_quaternion(x, y, z)
        R00, R01, R02, R10, R11, R12, R20, R21, R22 = quaternion_matrix(dw, dx, dy, dz)
        wx, wy, wz = w[k], w[k + 1], w[k + 2]
        w[k], w[k + 1] = R00 * wx + R01 * wy + R02 * wz, R10 * wx + R11 * wy + R12 * wz
        w[k + 2] = R20 * wx + R21 * wy + R22 * wz
        shift[k] = shift[k + 1] = shift[k + 2] = 0.0
