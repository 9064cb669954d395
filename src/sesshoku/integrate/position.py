"""Moving the coordinates along a velocity: q (+) h v, exact for a constant velocity."""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit
from sesshoku.model.arrays import FREE, KINEMATIC, SPHERICAL
from sesshoku.spatial.algebra import quaternion_times, turn_quaternion


@jit
def move(model, q, v, h):
    """q <- q (+) h v in place; quaternions turn by the exponential map and are normalised."""
    for i in range(model.link_count):
        kind, at, k = model.link_joint[i], model.link_coordinate[i], model.link_dof[i]
        if kind == FREE:
            for a in range(3):
                q[at + a] += h * v[k + a]
            turn_world(q, at + 3, h * v[k + 3], h * v[k + 4], h * v[k + 5])
        elif kind == SPHERICAL:
            dw, dx, dy, dz = turn_quaternion(h * v[k], h * v[k + 1], h * v[k + 2])
            store_unit(q, at, quaternion_times(q[at], q[at + 1], q[at + 2], q[at + 3], dw, dx, dy, dz))
        else:
            for a in range(model.link_dof_count[i]):
                q[at + a] += h * v[k + a]


@jit
def turn_world(q, at, x, y, z):
    """Turn the quaternion q[at:at+4] by a rotation vector in world axes."""
    dw, dx, dy, dz = turn_quaternion(x, y, z)
    store_unit(q, at, quaternion_times(dw, dx, dy, dz, q[at], q[at + 1], q[at + 2], q[at + 3]))


@jit
def store_unit(q, at, given):
    w, x, y, z = given
    s = 1.0 / sqrt(w * w + x * x + y * y + z * z)
    q[at], q[at + 1], q[at + 2], q[at + 3] = w * s, x * s, y * s, z * s


@jit
def normalize(model, q):
    """Bring every quaternion back to unit length."""
    for i in range(model.link_count):
        kind, at = model.link_joint[i], model.link_coordinate[i]
        if kind == FREE:
            store_unit(q, at + 3, (q[at + 3], q[at + 4], q[at + 5], q[at + 6]))
        elif kind == SPHERICAL:
            store_unit(q, at, (q[at], q[at + 1], q[at + 2], q[at + 3]))


@jit
def move_kinematic(model, data, h):
    """Move the scripted links along their velocities."""
    pose, velocity = data.kinematic_pose, data.kinematic_velocity
    for t in range(model.tree_count):
        i = model.tree_link[t]
        if model.link_joint[i] == KINEMATIC:
            for a in range(3):
                pose[i, a] += h * velocity[i, a]
            turn_world(pose[i], 3, h * velocity[i, 3], h * velocity[i, 4], h * velocity[i, 5])
