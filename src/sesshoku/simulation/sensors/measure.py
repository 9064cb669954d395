"""The kernels behind the sensors: Newton and Euler over all that hangs on a sensor.

What the parent passes through the sensor is what the motion of the bodies below needs, less gravity, contact forces,
the user's pushes and loops. The motion is that of the step: mean acceleration (v+ - v) / dt, at the place and velocity
where the method wrote its equation of motion, so that the result balances the forces of the step to rounding.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.data import as_data
from sesshoku.dynamics.kinematics import kinematics, world_point
from sesshoku.dynamics.pushes import drag_links
from sesshoku.dynamics.rnea import link_accelerations, link_velocities
from sesshoku.integrate.position import move, move_kinematic
from sesshoku.model.arrays import BALL, HINGE, as_model
from sesshoku.simulation.sensors.memory import FORCE, IMU, as_mounts
from sesshoku.spatial.algebra import add_force, cross, turned_back

# where a method's equation of motion holds: where the step left the links; in the middle of it (Runge-Kutta schemes);
# the method has left the links' accelerations as well
LEFT, MIDDLE, GIVEN = range(3)


@jit
def measure(model_table, data_table, mount_table, count, shape, point, force, torque, place, dt):
    """Readings of all sensors for the step just made; links end at the present state, as `refresh` leaves them.

    The first `count` contacts: shape (C, 2), point, force and torque (C, 3) on the second shape's body.
    """
    model, data, mounts = as_model(model_table), as_data(data_table), as_mounts(mount_table)
    if place == MIDDLE:
        go_to_middle(model, data, mounts, dt)
    elif place == LEFT:
        for k in range(model.dof_count):
            mounts.rate[k] = (data.new_v[k] - mounts.old_v[k]) / dt
    if place != GIVEN:
        link_accelerations(model, data, mounts.rate)
    for s in range(mounts.sensor_count):
        if mounts.kind[s] == FORCE:
            weigh_parts(model, data, mounts, s)
            subtract_contacts(model, data, mounts, s, count, shape, point, force, torque)
            subtract_pushes(model, data, mounts, s)
            subtract_loops(model, data, mounts, s, dt)
            turn_into(model, data, mounts, s, 0)
            turn_into(model, data, mounts, s, 3)
        else:
            read_acceleration(model, data, mounts, s)
            if mounts.kind[s] == IMU:
                turn_into(model, data, mounts, s, 0)
    kinematics(model, data, data.q)
    link_velocities(model, data, data.v)
    for s in range(mounts.sensor_count):
        if mounts.kind[s] == IMU:
            i, out = mounts.link[s], mounts.reading[s]
            for a in range(3):
                out[3 + a] = data.velocity[i, 3 + a] if i >= 0 else 0.0
            turn_into(model, data, mounts, s, 3)


@jit
def go_to_middle(model, data, mounts, dt):
    """Poses and velocities in the middle between the old state and the new one, and the mean acceleration."""
    q, v, rate, pose = mounts.middle_q, mounts.middle_v, mounts.rate, mounts.kinematic_pose
    for k in range(model.dof_count):
        v[k] = 0.5 * (mounts.old_v[k] + data.v[k])
        rate[k] = (data.v[k] - mounts.old_v[k]) / dt
    for n in range(model.coordinate_count):
        q[n] = mounts.old_q[n]
    move(model, q, v, 0.5 * dt)
    for i in range(model.link_count):
        for a in range(7):
            pose[i, a] = data.kinematic_pose[i, a]
    move_kinematic(model, data, -0.5 * dt)
    kinematics(model, data, q)
    link_velocities(model, data, v)
    if model.drag_count > 0:
        drag_links(model, data, data.wrench)
    for i in range(model.link_count):
        for a in range(7):
            data.kinematic_pose[i, a] = pose[i, a]


@jit
def point_acceleration(model, data, i, x, y, z):
    """Acceleration less gravity of the point of link i (-1: the world) that is at (x, y, z) of the world."""
    if i < 0:
        return -model.gravity[0], -model.gravity[1], -model.gravity[2]
    o, u, a = data.tree_origin[model.link_tree[i]], data.velocity[i], data.acceleration[i]
    x, y, z = x - o[0], y - o[1], z - o[2]
    vx, vy, vz = cross(u[3], u[4], u[5], x, y, z)
    wx, wy, wz = cross(u[3], u[4], u[5], u[0] + vx, u[1] + vy, u[2] + vz)  # spatial to classical acceleration
    tx, ty, tz = cross(a[3], a[4], a[5], x, y, z)
    return a[0] + tx + wx, a[1] + ty + wy, a[2] + tz + wz


@jit
def weigh_parts(model, data, mounts, s):
    """reading = what the motion and weight of the bodies below need, world axes, about the sensor."""
    out = mounts.reading[s]
    for a in range(6):
        out[a] = 0.0
    sx, sy, sz = world_point(model, data, mounts.link[s], mounts.position[s])
    for p in range(mounts.part_start[s], mounts.part_start[s + 1]):
        i, m, I = mounts.part_link[p], mounts.part_mass[p], mounts.part_inertia[p]
        x, y, z = world_point(model, data, i, mounts.part_center[p])
        ax, ay, az = point_acceleration(model, data, i, x, y, z)
        add_force(out, x - sx, y - sy, z - sz, m * ax, m * ay, m * az)
        if i >= 0:
            w0, w1, w2 = turned_back(data.rotation[i], data.velocity[i, 3], data.velocity[i, 4], data.velocity[i, 5])
            b0, b1, b2 = turned_back(data.rotation[i], data.acceleration[i, 3], data.acceleration[i, 4],
                                 data.acceleration[i, 5])  # fmt: skip
            h0, h1, h2 = times(I, w0, w1, w2)
            n0, n1, n2 = times(I, b0, b1, b2)
            c0, c1, c2 = cross(w0, w1, w2, h0, h1, h2)
            n0, n1, n2, R = n0 + c0, n1 + c1, n2 + c2, data.rotation[i]
            for a in range(3):
                out[3 + a] += R[a, 0] * n0 + R[a, 1] * n1 + R[a, 2] * n2


@jit
def times(A, x, y, z):
    return (A[0, 0] * x + A[0, 1] * y + A[0, 2] * z, A[1, 0] * x + A[1, 1] * y + A[1, 2] * z,
            A[2, 0] * x + A[2, 1] * y + A[2, 2] * z)


@jit
def subtract_contacts(model, data, mounts, s, count, shape, point, force, torque):
    """Less the contact forces on the bodies below; between two of them they cancel."""
    out = mounts.reading[s]
    sx, sy, sz = world_point(model, data, mounts.link[s], mounts.position[s])
    for c in range(count):
        sign = float(mounts.hangs[s, model.shape_frame[shape[c, 0]]] - mounts.hangs[s, model.shape_frame[shape[c, 1]]])
        if sign != 0.0:
            add_force(out, point[c, 0] - sx, point[c, 1] - sy, point[c, 2] - sz, sign * force[c, 0],
                      sign * force[c, 1], sign * force[c, 2])  # fmt: skip
            for a in range(3):
                out[3 + a] += sign * torque[c, a]


@jit
def subtract_pushes(model, data, mounts, s):
    """Less what the user pushes the bodies below with, and the drag of the fluid on them."""
    out, push = mounts.reading[s], mounts.push
    sx, sy, sz = world_point(model, data, mounts.link[s], mounts.position[s])
    for f in range(model.frame_count):
        if mounts.hangs[s, f] and model.frame_link[f] >= 0:
            i = model.frame_link[f]
            x, y, z = world_point(model, data, i, model.link_center[i])
            add_force(out, x - sx, y - sy, z - sz, -push[f, 0], -push[f, 1], -push[f, 2])
            for a in range(3, 6):
                out[a] -= push[f, a]
    for d in range(model.drag_count):
        if mounts.hangs[s, model.drag_frame[d]]:
            x, y, z = world_point(model, data, model.drag_link[d], model.drag_position[d])
            drag = data.drag_wrench[d]
            add_force(out, x - sx, y - sy, z - sz, -drag[0], -drag[1], -drag[2])
            for a in range(3, 6):
                out[a] -= drag[a]


@jit
def subtract_loops(model, data, mounts, s, dt):
    """Less the forces of loops that join a body below with one that is not."""
    out, joins = mounts.reading[s], mounts.loop_body
    sx, sy, sz = world_point(model, data, mounts.link[s], mounts.position[s])
    for n in range(model.loop_count):
        on_a, on_b = mounts.hangs[s, joins[n, 0]], mounts.hangs[s, joins[n, 1]]
        if on_a == on_b:
            continue
        side, sign = (0, -1.0 / dt) if on_a else (1, 1.0 / dt)
        x, A, p = data.loop_impulse[n], data.loop_frame[n, 0], data.loop_point[n, side]
        kind = model.loop_kind[n]
        turns = 0 if kind == BALL else (2 if kind == HINGE else 3)
        fx = sign * (A[0, 0] * x[0] + A[0, 1] * x[1] + A[0, 2] * x[2])
        fy = sign * (A[1, 0] * x[0] + A[1, 1] * x[1] + A[1, 2] * x[2])
        fz = sign * (A[2, 0] * x[0] + A[2, 1] * x[1] + A[2, 2] * x[2])
        add_force(out, p[0] - sx, p[1] - sy, p[2] - sz, fx, fy, fz)
        for b in range(turns):
            for a in range(3):
                out[3 + a] += sign * A[a, b] * x[3 + b]


@jit
def read_acceleration(model, data, mounts, s):
    """reading = proper acceleration of the sensor's origin and angular acceleration, world axes."""
    i, out = mounts.link[s], mounts.reading[s]
    x, y, z = world_point(model, data, i, mounts.position[s])
    out[0], out[1], out[2] = point_acceleration(model, data, i, x, y, z)
    for a in range(3, 6):
        out[a] = data.acceleration[i, a] if i >= 0 else 0.0


@jit
def turn_into(model, data, mounts, s, first):
    """Three numbers of a reading from world axes to the sensor's."""
    i, out = mounts.link[s], mounts.reading[s]
    x, y, z = out[first], out[first + 1], out[first + 2]
    if i >= 0:
        x, y, z = turned_back(data.rotation[i], x, y, z)
    out[first], out[first + 1], out[first + 2] = turned_back(mounts.rotation[s], x, y, z)
