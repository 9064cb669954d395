"""Motion of the bodies as the sensors take it: poses and velocities in front of the step, accelerations over it."""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.methods.springs.bodies import take_state
from sesshoku.model.arrays import KINEMATIC
from sesshoku.spatial.algebra import cross


@jit
def start_motion(model, data, work, start_out):
    """What a step begins with: the bodies where the user has put them. start_out (B, 18): position, velocity, rotation.
    """
    bodies = work.bodies
    if take_state(model, data, bodies):
        work.presses.fresh[0] = 1
    for b in range(len(start_out)):
        for a in range(3):
            start_out[b, a] = bodies.position[b, a]
            for c in range(3):
                start_out[b, 9 + 3 * a + c] = bodies.rotation[b, a, c]
        for a in range(6):
            start_out[b, 3 + a] = bodies.velocity[b, a]


@jit
def leave_motion(model, data, work, start, dt):
    """Links where the step began, as the bodies were: rotation, offset, velocity and mean acceleration, in `data`.

    start (B, 18): of `start_motion`. Accelerations are spatial, less gravity, at the tree's origin: its root's body.
    """
    bodies, g = work.bodies, model.gravity
    for i in range(model.link_count):
        t, x, u, U = model.link_tree[i], start[i, :3], start[i, 3:9], bodies.velocity[i]
        o, c, acc = data.tree_origin[t], bodies.center[i], data.acceleration[i]
        if i == model.tree_link[t]:
            for a in range(3):
                o[a] = x[a]
        for a in range(3):
            for b in range(3):
                data.rotation[i, a, b] = start[i, 9 + 3 * a + b]
        R = data.rotation[i]
        rx, ry, rz = x[0] - o[0], x[1] - o[1], x[2] - o[2]  # from the tree's origin to the body's
        data.offset[i, 0] = rx - R[0, 0] * c[0] - R[0, 1] * c[1] - R[0, 2] * c[2]
        data.offset[i, 1] = ry - R[1, 0] * c[0] - R[1, 1] * c[1] - R[1, 2] * c[2]
        data.offset[i, 2] = rz - R[2, 0] * c[0] - R[2, 1] * c[1] - R[2, 2] * c[2]
        vx, vy, vz = cross(rx, ry, rz, u[3], u[4], u[5])
        data.velocity[i, 0], data.velocity[i, 1], data.velocity[i, 2] = u[0] + vx, u[1] + vy, u[2] + vz
        for a in range(3):
            data.velocity[i, 3 + a] = u[3 + a]
            acc[a] = (U[a] - u[a]) / dt - g[a]
            acc[3 + a] = (U[3 + a] - u[3 + a]) / dt
        if model.link_joint[i] == KINEMATIC:
            for a in range(3):
                acc[a] = data.kinematic_acceleration[i, a] - g[a]
                acc[3 + a] = data.kinematic_acceleration[i, 3 + a]
        tx, ty, tz = cross(rx, ry, rz, acc[3], acc[4], acc[5])
        wx, wy, wz = cross(u[0], u[1], u[2], u[3], u[4], u[5])  # classical to spatial acceleration
        acc[0], acc[1], acc[2] = acc[0] + tx + wx, acc[1] + ty + wy, acc[2] + tz + wz
