"""Motion of the bodies as the sensors take it: poses and velocities in front of the step, accelerations over it."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.data import as_data
from sesshoku.methods.springs.bodies import take_state
from sesshoku.methods.springs.work import as_bodies, as_presses
from sesshoku.model.arrays import KINEMATIC, as_model
from sesshoku.spatial.algebra import cross


def start_motion(sim: Any) -> np.ndarray:
    """Poses and velocities in front of a step, with what the user changed, for `leave_motion`."""
    bodies = sim.records["bodies"]
    take(sim.model.table, sim.data.table, bodies.table, sim.records["presses"].table)
    return np.concatenate([bodies.position, bodies.velocity, bodies.rotation.reshape(-1, 9)], axis=1)


def leave_motion(sim: Any, start: np.ndarray) -> None:
    """The links where the step began, as the bodies were, and the mean acceleration of each over the step."""
    leave(sim.model.table, sim.data.table, sim.records["bodies"].table, start, sim.dt)


@jit
def take(model_table, data_table, body_table, press_table):
    """What a step begins with: the bodies where the user has put them."""
    if take_state(as_model(model_table), as_data(data_table), as_bodies(body_table)):
        as_presses(press_table).fresh[0] = 1


@jit
def leave(model_table, data_table, body_table, start, dt):
    """Rotation, offset, velocity and acceleration of every link in `data`; start (B, 18): position, velocity, rotation.

    Accelerations are spatial, less gravity, at the tree's origin: that of its root's body.
    """
    model, data, bodies = as_model(model_table), as_data(data_table), as_bodies(body_table)
    g = model.gravity
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
