"""Angular momentum of lone bodies that impacts alone touch: how they turn after them.

Such a body spins freely to the instant of the first of them, and freely again from there, both by `rotor`, which keeps
energy and angular momentum; in between its angular momentum changes by arm x impulse. All of it in the axes that the
body has in the middle of the step, E from those of the instant (`instant_rows`). Impulses that act later (what carries
load from then on, a second impact) turn the body by less, d.
"""

from __future__ import annotations

from sesshoku.collision.contacts import CONTACTS
from sesshoku.compiled.jit import jit
from sesshoku.integrate.position import store_unit
from sesshoku.integrate.rotor import rotor
from sesshoku.methods.exact.impacts.instant import MET
from sesshoku.methods.exact.momenta.free_islands import tree_is_free
from sesshoku.methods.exact.momenta.spin import turn, turn_back
from sesshoku.methods.exact.work import IMPACTS, NEVER, SUPPORT, TAKEN
from sesshoku.solvers.problem import ROLLING
from sesshoku.spatial.algebra import cross, quaternion_times, turn_quaternion
from sesshoku.stages.free_motion import ALWAYS

UNTOUCHED, HIT, LOADED = range(3)  # `touched`: by nothing, by impacts alone, by contacts that last


@jit
def gather_torques(model, data, work, dt):
    """What touches the lone bodies, and the torque impulses of their contacts; before `new_v` is turned anywhere.

    torque (V): of the impulses, world axes. hit_torque (V): the same in the axes of the middle. late (V): each times
    how much longer it acts than from the body's instant on.
    """
    contacts, problem = work.contacts, work.problem
    for t in range(model.tree_count):
        work.touched[t] = UNTOUCHED
    for k in range(model.dof_count):
        work.torque[k] = work.hit_torque[k] = work.late[k] = 0.0
    for c in range(contacts.counts[CONTACTS]):
        x = work.impulse_world[c]
        if x[0] == 0.0 and x[1] == 0.0 and x[2] == 0.0:
            continue
        hits = work.met[c] == MET or work.impact[c, TAKEN] > 0.0 or work.impact[c, SUPPORT] > 0.0
        for side in range(2):
            if problem.body[c, side] >= 0:
                t = model.link_tree[contacts.link[c, side]]
                if work.tree_lone[t] == 1:
                    alone = hits and (work.impacts[IMPACTS] == 0 or work.crowded[t] == 0)
                    work.touched[t] = max(work.touched[t], HIT if alone else LOADED)
                    add_torque(model, data, work, dt, c, side, t)


@jit
def add_torque(model, data, work, dt, c, side, t):
    """The share of one side of contact c."""
    contacts, p, k = work.contacts, work.impulse_world[c], work.problem.body[c, side] + 3
    sign, at, o = 1.0 if side else -1.0, contacts.point[c], data.tree_origin[t]
    x, y, z = at[0] - o[0], at[1] - o[1], at[2] - o[2]
    if work.met[c] == MET:
        x, y, z = work.arm[c, side, 0], work.arm[c, side, 1], work.arm[c, side, 2]
    x, y, z = cross(x, y, z, sign * p[0], sign * p[1], sign * p[2])
    if work.problem.counts[ROLLING] > 0:
        f, h = contacts.torque[c], sign * dt
        x, y, z = x + h * f[0], y + h * f[1], z + h * f[2]
    work.torque[k], work.torque[k + 1], work.torque[k + 2] = (
        work.torque[k] + x, work.torque[k + 1] + y, work.torque[k + 2] + z)
    if work.impacts[IMPACTS] > 0 and work.tree_instant[t] < NEVER:
        x, y, z = turn_back(work.frame[t], x, y, z)
        longer = work.longer[c] - (0.5 * dt - work.tree_instant[t])
        for d, value in enumerate((x, y, z)):
            work.hit_torque[k + d] += value
            work.late[k + d] += longer * value


@jit
def given_torque(model, data, work, dt, i):
    """Torque impulse of forces on lone link i in the step, axes of the middle: not of contacts, not gyroscopic."""
    k, g = model.link_dof[i] + 3, work.gyration
    x, y, z = spin_momentum(data.inertia[i], data.new_v[k] - data.v[k] - g[k],
                            data.new_v[k + 1] - data.v[k + 1] - g[k + 1], data.new_v[k + 2] - data.v[k + 2] - g[k + 2])
    f = data.constraint_force
    return x - dt * f[k], y - dt * f[k + 1], z - dt * f[k + 2]


@jit
def turn_from_instants(model, data, work, dt):
    """Pose and spin at the step's end of lone bodies that impacts alone have touched, for `finish_turns` to take over.

    Their turn is taken out of work.shift. Needs `gather_torques`.
    """
    for t in range(model.tree_count):
        if work.touched[t] != HIT or work.tree_instant[t] >= NEVER:
            continue
        i = model.tree_link[t]
        k, at, E, I, W = model.link_dof[i] + 3, model.link_coordinate[i] + 3, work.frame[t], data.inertia[i], \
            work.instant_spin
        x, y, z = spin_momentum(I, W[k], W[k + 1], W[k + 2])
        gx, gy, gz = given_torque(model, data, work, dt, i)
        h = work.hit_torque
        x, y, z = x + gx + h[k], y + gy + h[k + 1], z + gz + h[k + 2]
        lx, ly, lz = momentum_spin(I, work.late[k], work.late[k + 1], work.late[k + 2])
        late = turn_quaternion(lx, ly, lz)
        if tree_is_free(work, t):  # the body turns, its angular momentum does not
            x, y, z = turn_back(late, x, y, z)
        else:
            work.turned[k], work.turned[k + 1], work.turned[k + 2] = turn(E, lx, ly, lz)
        x, y, z = momentum_spin(I, x, y, z)
        wx, wy, wz, dw, dx, dy, dz = rotor(I, x, y, z, dt - work.tree_instant[t])
        aw, ax, ay, az = quaternion_times(E[0], E[1], E[2], E[3], late[0], late[1], late[2], late[3])
        full = quaternion_times(aw, ax, ay, az, dw, dx, dy, dz)
        end, q = data.turn[i], data.new_q
        end[4], end[5], end[6] = turn(full, wx, wy, wz)
        store_unit(end, 0, quaternion_times(full[0], full[1], full[2], full[3], q[at], q[at + 1], q[at + 2], q[at + 3]))
        end[7] = ALWAYS
        work.shift[k] = work.shift[k + 1] = work.shift[k + 2] = 0.0


@jit
def spin_momentum(I, x, y, z):
    """I w, I the ten-number inertia at the centre of mass."""
    return (I[4] * x + I[7] * y + I[8] * z, I[7] * x + I[5] * y + I[9] * z, I[8] * x + I[9] * y + I[6] * z)


@jit
def momentum_spin(I, x, y, z):
    """I^-1 (x, y, z)."""
    xx, yy, zz, xy, xz, yz = I[4], I[5], I[6], I[7], I[8], I[9]
    u0, u1, u2 = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    det = xx * u0 + xy * u1 + xz * u2
    v1, v2, w2 = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
    return (u0 * x + u1 * y + u2 * z) / det, (u1 * x + v1 * y + v2 * z) / det, (u2 * x + v2 * y + w2 * z) / det
