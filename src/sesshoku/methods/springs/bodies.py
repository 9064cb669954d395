"""Every link a free body: poses and velocities of their own, and what of them the joints' coordinates say.

Body b < L is link b, its frame at the link's centre of mass with the link's axes (a scripted link: at its origin); body
L is the world. `data.q` and `data.v` are what users read and write; the bodies are the state. After a step the joints'
positions and velocities are read off the bodies, and kept: where the user has changed them since, the bodies of that
tree are placed anew (`take_state`).
"""

from __future__ import annotations

from math import atan2, pi, sqrt

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.pushes import drag_of_body
from sesshoku.dynamics.rnea import link_velocities
from sesshoku.integrate.rotor import rotor
from sesshoku.methods.springs.options import MOMENTUM
from sesshoku.methods.springs.solve.inertia import solve_group
from sesshoku.methods.springs.work import BIG_TURN
from sesshoku.model.arrays import FREE, KINEMATIC, PLANAR, PRISMATIC, REVOLUTE, SPHERICAL
from sesshoku.spatial.algebra import add_force, cross, quaternion_matrix, quaternion_times, turn_quaternion, turned
from sesshoku.stages.free_motion import all_slower
from sesshoku.stages.report import LIGHT


@jit
def take_state(model, data, bodies):
    """Place the bodies of every tree whose coordinates or velocities are not those read off last; True if any was."""
    changed = False
    for n in range(model.coordinate_count):
        changed = changed or data.q[n] != bodies.seen_q[n]
    for k in range(model.dof_count):
        changed = changed or data.v[k] != bodies.seen_v[k]
    if changed:
        kinematics(model, data, data.q)
        link_velocities(model, data, data.v)
        for t in range(model.tree_count):
            if tree_changed(model, data, bodies, t):
                for i in range(model.tree_link[t], model.tree_link[t + 1]):
                    if model.link_joint[i] != KINEMATIC:
                        place_body(model, data, bodies, i)
        for n in range(model.coordinate_count):
            bodies.seen_q[n] = data.q[n]
        for k in range(model.dof_count):
            bodies.seen_v[k] = data.v[k]
    follow_script(model, data, bodies)
    return changed


@jit
def tree_changed(model, data, bodies, t):
    first, last = model.tree_link[t], model.tree_link[t + 1]
    begin = model.link_coordinate[first]
    end = model.link_coordinate[last] if last < model.link_count else model.coordinate_count
    for n in range(begin, end):
        if data.q[n] != bodies.seen_q[n]:
            return True
    changed = False
    for k in range(model.tree_dof[t], model.tree_dof[t + 1]):
        changed = changed or data.v[k] != bodies.seen_v[k]
    return changed


@jit
def place_body(model, data, bodies, i):
    """Pose and velocity of body i from the kinematics of its tree."""
    R, r, u, c = data.rotation[i], data.offset[i], data.velocity[i], bodies.center[i]
    o = data.tree_origin[model.link_tree[i]]
    x, y, z = r[0], r[1], r[2]  # from the tree's origin to the centre of mass
    x += R[0, 0] * c[0] + R[0, 1] * c[1] + R[0, 2] * c[2]
    y += R[1, 0] * c[0] + R[1, 1] * c[1] + R[1, 2] * c[2]
    z += R[2, 0] * c[0] + R[2, 1] * c[1] + R[2, 2] * c[2]
    bodies.position[i, 0], bodies.position[i, 1], bodies.position[i, 2] = o[0] + x, o[1] + y, o[2] + z
    if model.link_joint[i] == FREE:  # as the user gave it, not through a matrix and back
        at = model.link_coordinate[i] + 3
        for a in range(4):
            bodies.quaternion[i, a] = data.q[at + a]
    else:
        store_quaternion(bodies.quaternion[i], R)
    turn_body(bodies, i)
    vx, vy, vz = cross(u[3], u[4], u[5], x, y, z)
    bodies.velocity[i, 0], bodies.velocity[i, 1], bodies.velocity[i, 2] = u[0] + vx, u[1] + vy, u[2] + vz
    for a in range(3, 6):
        bodies.velocity[i, a] = u[a]


@jit
def follow_script(model, data, bodies):
    """Scripted links stand and move as their script says."""
    for t in range(model.tree_count):
        i = model.tree_link[t]
        if model.link_joint[i] == KINEMATIC:
            pose, given = data.kinematic_pose[i], data.kinematic_velocity[i]
            out, c = bodies.velocity[i], bodies.center[i]
            for a in range(4):
                bodies.quaternion[i, a] = pose[3 + a]
            turn_body(bodies, i)
            R = bodies.rotation[i]
            x = R[0, 0] * c[0] + R[0, 1] * c[1] + R[0, 2] * c[2]
            y = R[1, 0] * c[0] + R[1, 1] * c[1] + R[1, 2] * c[2]
            z = R[2, 0] * c[0] + R[2, 1] * c[1] + R[2, 2] * c[2]
            bodies.position[i, 0], bodies.position[i, 1], bodies.position[i, 2] = pose[0] + x, pose[1] + y, pose[2] + z
            vx, vy, vz = cross(given[3], given[4], given[5], x, y, z)
            out[0], out[1], out[2] = given[0] + vx, given[1] + vy, given[2] + vz
            for a in range(3, 6):
                out[a] = given[a]


@jit
def store_quaternion(q, R):
    """Unit quaternion of a rotation matrix, by its largest component."""
    t = R[0, 0] + R[1, 1] + R[2, 2]
    if t > 0.0:
        s = 2.0 * sqrt(1.0 + t)
        q[0], q[1], q[2], q[3] = 0.25 * s, (R[2, 1] - R[1, 2]) / s, (R[0, 2] - R[2, 0]) / s, (R[1, 0] - R[0, 1]) / s
    elif R[0, 0] >= R[1, 1] and R[0, 0] >= R[2, 2]:
        s = 2.0 * sqrt(1.0 + R[0, 0] - R[1, 1] - R[2, 2])
        q[0], q[1], q[2], q[3] = (R[2, 1] - R[1, 2]) / s, 0.25 * s, (R[0, 1] + R[1, 0]) / s, (R[0, 2] + R[2, 0]) / s
    elif R[1, 1] >= R[2, 2]:
        s = 2.0 * sqrt(1.0 + R[1, 1] - R[0, 0] - R[2, 2])
        q[0], q[1], q[2], q[3] = (R[0, 2] - R[2, 0]) / s, (R[0, 1] + R[1, 0]) / s, 0.25 * s, (R[1, 2] + R[2, 1]) / s
    else:
        s = 2.0 * sqrt(1.0 + R[2, 2] - R[0, 0] - R[1, 1])
        q[0], q[1], q[2], q[3] = (R[1, 0] - R[0, 1]) / s, (R[0, 2] + R[2, 0]) / s, (R[1, 2] + R[2, 1]) / s, 0.25 * s


@jit
def turn_body(bodies, b):
    """Rotation matrix of body b from its quaternion."""
    q, R = bodies.quaternion[b], bodies.rotation[b]
    (R[0, 0], R[0, 1], R[0, 2], R[1, 0], R[1, 1], R[1, 2], R[2, 0], R[2, 1], R[2, 2]) = quaternion_matrix(
        q[0], q[1], q[2], q[3])


@jit
def world_inertia(R, I, out):
    """R I R^T, six numbers xx yy zz xy xz yz in and out."""
    xx, yy, zz, xy, xz, yz = I[0], I[1], I[2], I[3], I[4], I[5]
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = (R[0, 0], R[0, 1], R[0, 2], R[1, 0], R[1, 1], R[1, 2], R[2, 0],
                                                   R[2, 1], R[2, 2])
    a0, a1, a2 = r00 * xx + r01 * xy + r02 * xz, r00 * xy + r01 * yy + r02 * yz, r00 * xz + r01 * yz + r02 * zz
    b0, b1, b2 = r10 * xx + r11 * xy + r12 * xz, r10 * xy + r11 * yy + r12 * yz, r10 * xz + r11 * yz + r12 * zz
    c0, c1, c2 = r20 * xx + r21 * xy + r22 * xz, r20 * xy + r21 * yy + r22 * yz, r20 * xz + r21 * yz + r22 * zz
    out[0], out[1], out[2] = (a0 * r00 + a1 * r01 + a2 * r02, b0 * r10 + b1 * r11 + b2 * r12,
                              c0 * r20 + c1 * r21 + c2 * r22)
    out[3], out[4], out[5] = (a0 * r10 + a1 * r11 + a2 * r12, a0 * r20 + a1 * r21 + a2 * r22,
                              b0 * r20 + b1 * r21 + b2 * r22)


@jit
def load_bodies(model, data, work, dt):
    """Gravity, the user's wrenches and the gyroscopic torque, as force and torque on every body.

    The torque of a fast spin is the one by which it changes over the step, by `rotor`. With `rotation="momentum"` it
    is that of any spin, and the body is to turn as `rotor` does (`lead`).
    """
    bodies, springs, options = work.bodies, work.springs, work.options
    g, F, exact = model.gravity, bodies.force, options.rotation == MOMENTUM
    for b in range(model.link_count + 1):
        for a in range(6):
            bodies.touch[b, a] = 0.0
    for b in range(model.link_count):
        world_inertia(bodies.rotation[b], bodies.own_inertia[b], bodies.inertia[b])
        world_inertia(bodies.rotation[b], bodies.own_inverse[b], bodies.inverse_inertia[b])
        m = bodies.mass[b]
        for a in range(3):
            F[b, a] = m * g[a] + data.external_force[b, a]
            F[b, 3 + a] = data.external_force[b, 3 + a]
        w, I = bodies.velocity[b], bodies.ten[4:]
        if m == 0.0:
            continue
        world_inertia(bodies.rotation[b], bodies.own_plain[b], I)
        hx, hy, hz = times_inertia(I, w[3], w[4], w[5])  # (2.23): L
        if not exact and (w[3] * w[3] + w[4] * w[4] + w[5] * w[5]) * dt * dt < BIG_TURN * BIG_TURN:
            tx, ty, tz = cross(hx, hy, hz, w[3], w[4], w[5])  # (2.26): -w x I w
        else:
            x, y, z, dw, dx, dy, dz = rotor(bodies.ten, w[3], w[4], w[5], dt)
            R00, R01, R02, R10, R11, R12, R20, R21, R22 = quaternion_matrix(dw, dx, dy, dz)
            ex, ey, ez = R00 * x + R01 * y + R02 * z, R10 * x + R11 * y + R12 * z, R20 * x + R21 * y + R22 * z
            tx, ty, tz = times_inertia(I, (ex - w[3]) / dt, (ey - w[4]) / dt, (ez - w[5]) / dt)
            if exact:
                c, lead = bodies.gyration[b], springs.lead[b]
                c[0], c[1], c[2] = ex - w[3], ey - w[4], ez - w[5]
                ax, ay, az = turn_vector(dw, dx, dy, dz, dt * ex, dt * ey, dt * ez)
                lead[0], lead[1], lead[2] = ax / dt - ex, ay / dt - ey, az / dt - ez
        F[b, 3] += tx
        F[b, 4] += ty
        F[b, 5] += tz
    push_bodies(model, data, bodies)


@jit
def push_bodies(model, data, bodies):
    """Gravity compensation, actuators that push a body at a place (dynamics/pushes.py), drag; about centres of mass."""
    g, F = model.gravity, bodies.force
    for b in range(model.link_count):
        m, c, o = model.link_lift[b, 0], model.link_lift[b, 1:4], model.link_center[b]
        if m != 0.0:
            x, y, z = turned(bodies.rotation[b], c[0] - o[0], c[1] - o[1], c[2] - o[2])
            add_force(F[b], x, y, z, -m * g[0], -m * g[1], -m * g[2])
    for a in range(model.actuator_count):
        b, base = model.actuator_link[a], model.actuator_base[a]
        w, p = model.actuator_wrench[a], model.actuator_place[a]
        if b < 0:
            continue
        s, o = data.actuator_force[a], model.link_center[b]
        fx, fy, fz, nx, ny, nz = s * w[0], s * w[1], s * w[2], s * w[3], s * w[4], s * w[5]
        if base >= 0:
            fx, fy, fz = turned(bodies.rotation[base], fx, fy, fz)
            nx, ny, nz = turned(bodies.rotation[base], nx, ny, nz)
        x, y, z = turned(bodies.rotation[b], p[0] - o[0], p[1] - o[1], p[2] - o[2])
        add_force(F[b], x, y, z, fx, fy, fz)
        F[b, 3], F[b, 4], F[b, 5] = F[b, 3] + nx, F[b, 4] + ny, F[b, 5] + nz
        if base >= 0 and base != b:
            r, t = bodies.position[b], bodies.position[base]
            add_force(F[base], x + r[0] - t[0], y + r[1] - t[1], z + r[2] - t[2], -fx, -fy, -fz)
            F[base, 3], F[base, 4], F[base, 5] = F[base, 3] - nx, F[base, 4] - ny, F[base, 5] - nz
    for d in range(model.drag_count):
        b, f = model.drag_link[d], data.drag_wrench[d]
        c, o, u = model.drag_position[d], model.link_center[b], bodies.velocity[b]
        x, y, z = turned(bodies.rotation[b], c[0] - o[0], c[1] - o[1], c[2] - o[2])
        vx, vy, vz = cross(u[3], u[4], u[5], x, y, z)
        drag_of_body(model, data.drag_most[d], d, bodies.rotation[b], (u[0] + vx, u[1] + vy, u[2] + vz),
                     (u[3], u[4], u[5]), f)
        add_force(F[b], x, y, z, f[0], f[1], f[2])
        F[b, 3], F[b, 4], F[b, 5] = F[b, 3] + f[3], F[b, 4] + f[4], F[b, 5] + f[5]


@jit
def turn_vector(w, x, y, z, ax, ay, az):
    """Rotation vector of a unit quaternion, of all that turn alike the one nearest to (ax, ay, az)."""
    s = sqrt(x * x + y * y + z * z)
    if s == 0.0:
        return 0.0, 0.0, 0.0
    angle = 2.0 * atan2(s, w)
    angle += 2.0 * pi * round(((ax * x + ay * y + az * z) / s - angle) / (2.0 * pi))
    return angle * x / s, angle * y / s, angle * z / s


@jit
def times_inertia(I, x, y, z):
    """A symmetric matrix of six numbers times a vector."""
    return I[0] * x + I[3] * y + I[4] * z, I[3] * x + I[1] * y + I[5] * z, I[4] * x + I[5] * y + I[2] * z


@jit
def free_velocities(model, bodies, springs, dt):
    """(3.5), (3.20): U = u + dt M^-1 F without f_c; and the poses and inertias the descent works with.

    F is f_ext; M^-1 is missing in print.
    """
    for b in range(springs.body_count):
        I, F, out = bodies.inverse_inertia[b], bodies.force[b], springs.velocity[b]
        m = springs.inverse_mass[b] = bodies.inverse_mass[b]
        for a in range(3):
            springs.position[b, a] = bodies.position[b, a]
            for c in range(3):
                springs.rotation[b, a, c] = bodies.rotation[b, a, c]
        for a in range(6):
            springs.inverse_inertia[b, a], springs.inertia[b, a] = I[a], bodies.inertia[b, a]
            out[a] = F[a] if a >= 3 or springs.group[b] >= 0 else m * F[a]
        if springs.group[b] < 0:
            out[3], out[4], out[5] = times_inertia(I, F[3], F[4], F[5])
    for b in range(springs.body_count):
        if springs.group[b] == b:
            solve_group(springs, b, springs.velocity)
    for b in range(springs.body_count):
        for a in range(6):
            springs.velocity[b, a] = bodies.velocity[b, a] + dt * springs.velocity[b, a]


@jit
def advance(model, work, dt):
    """(3.6), (3.19): take over the velocities, move the poses by them; False, nothing moved, if they cannot be.

    With `rotation="momentum"` the spin is the one that has the momentum of the start and all torques at the new pose.
    """
    bodies, springs, options = work.bodies, work.springs, work.options
    for b in range(model.link_count):
        if not all_slower(springs.velocity[b], LIGHT):
            return False
    for b in range(model.link_count):
        if bodies.inverse_mass[b] == 0.0:
            continue
        u, q = springs.velocity[b], bodies.quaternion[b]
        for a in range(6):
            bodies.velocity[b, a] = u[a]
        for a in range(3):
            bodies.position[b, a] += dt * u[a]
        c = springs.lead[b]
        dw, dx, dy, dz = turn_quaternion(dt * (u[3] + c[0]), dt * (u[4] + c[1]), dt * (u[5] + c[2]))
        if options.rotation == MOMENTUM:
            carried_momentum(bodies, b, u, (dw, dx, dy, dz))
        w, x, y, z = quaternion_times(dw, dx, dy, dz, q[0], q[1], q[2], q[3])  # (2.28), by the exponential
        s = 1.0 / sqrt(w * w + x * x + y * y + z * z)
        q[0], q[1], q[2], q[3] = s * w, s * x, s * y, s * z
        turn_body(bodies, b)
        if options.rotation == MOMENTUM:
            h, v = bodies.momentum, bodies.velocity[b]
            world_inertia(bodies.rotation[b], bodies.own_inverse[b], bodies.inverse_inertia[b])
            v[3], v[4], v[5] = times_inertia(bodies.inverse_inertia[b], h[0], h[1], h[2])
    return True


@jit
def carried_momentum(bodies, b, u, turn):
    """Angular momentum of body b at velocity u (6) that it keeps as it turns; that of its armature turns along."""
    c, h, plain = bodies.gyration[b], bodies.momentum, bodies.ten[4:]
    world_inertia(bodies.rotation[b], bodies.own_plain[b], plain)
    x, y, z = times_inertia(plain, u[3], u[4], u[5])
    ax, ay, az = times_inertia(bodies.inertia[b], u[3], u[4], u[5])
    ax, ay, az = ax - x, ay - y, az - z
    h[0], h[1], h[2] = times_inertia(plain, u[3] - c[0], u[4] - c[1], u[5] - c[2])
    if ax != 0.0 or ay != 0.0 or az != 0.0:
        R00, R01, R02, R10, R11, R12, R20, R21, R22 = quaternion_matrix(turn[0], turn[1], turn[2], turn[3])
        h[0] += R00 * ax + R01 * ay + R02 * az
        h[1] += R10 * ax + R11 * ay + R12 * az
        h[2] += R20 * ax + R21 * ay + R22 * az


@jit
def joint_frame(model, bodies, i, out):
    """Joint frame of link i on its parent at zero position, into out (4, 3): rows x, y, z, then its origin."""
    p = model.link_parent[i]
    p = p if p >= 0 else model.link_count
    R, x, c = bodies.rotation[p], bodies.position[p], bodies.center[p]
    at, R0 = model.link_position[i], model.link_rotation[i]
    for a in range(3):
        out[3, a] = x[a] + (R[a, 0] * (at[0] - c[0]) + R[a, 1] * (at[1] - c[1]) + R[a, 2] * (at[2] - c[2]))
        for b in range(3):
            out[b, a] = R[a, 0] * R0[0, b] + R[a, 1] * R0[1, b] + R[a, 2] * R0[2, b]
    return p


@jit
def link_origin(bodies, i):
    """World position of the origin of link i's frame."""
    R, x, c = bodies.rotation[i], bodies.position[i], bodies.center[i]
    return (x[0] - R[0, 0] * c[0] - R[0, 1] * c[1] - R[0, 2] * c[2],
            x[1] - R[1, 0] * c[0] - R[1, 1] * c[1] - R[1, 2] * c[2],
            x[2] - R[2, 0] * c[0] - R[2, 1] * c[1] - R[2, 2] * c[2])


@jit
def point_velocity(bodies, b, x, y, z):
    """Velocity of the point (x, y, z) carried by body b: eqs. (2.2), (2.3)."""
    u, o = bodies.velocity[b], bodies.position[b]
    vx, vy, vz = cross(u[3], u[4], u[5], x - o[0], y - o[1], z - o[2])
    return u[0] + vx, u[1] + vy, u[2] + vz


@jit
def read_joint(model, bodies, i, q, v):
    """Position and velocity of link i's joint from the bodies, into q and v; angles go on from what q holds."""
    kind, at, k = model.link_joint[i], model.link_coordinate[i], model.link_dof[i]
    if kind == KINEMATIC:
        return
    if kind == FREE:
        x, y, z = link_origin(bodies, i)
        u, w = bodies.velocity[i], bodies.quaternion[i]
        q[at], q[at + 1], q[at + 2] = x, y, z
        for a in range(4):
            q[at + 3 + a] = w[a]
        v[k], v[k + 1], v[k + 2] = point_velocity(bodies, i, x, y, z)
        for a in range(3, 6):
            v[k + a] = u[a]
        return
    J = bodies.frame
    p = joint_frame(model, bodies, i, J)
    ox, oy, oz = link_origin(bodies, i)
    dx, dy, dz = ox - J[3, 0], oy - J[3, 1], oz - J[3, 2]
    wx, wy, wz = (bodies.velocity[i, 3] - bodies.velocity[p, 3], bodies.velocity[i, 4] - bodies.velocity[p, 4],
                  bodies.velocity[i, 5] - bodies.velocity[p, 5])
    if kind == REVOLUTE:
        q[at] = read_angle(bodies.rotation[i], J, q[at])
        v[k] = J[2, 0] * wx + J[2, 1] * wy + J[2, 2] * wz
    elif kind == SPHERICAL:
        R, rel = bodies.rotation[i], bodies.relative
        for a in range(3):
            for b in range(3):
                rel[a, b] = J[a, 0] * R[0, b] + J[a, 1] * R[1, b] + J[a, 2] * R[2, b]
            v[k + a] = R[0, a] * wx + R[1, a] * wy + R[2, a] * wz
        old = q[at], q[at + 1], q[at + 2], q[at + 3]
        store_quaternion(q[at : at + 4], rel)
        if old[0] * q[at] + old[1] * q[at + 1] + old[2] * q[at + 2] + old[3] * q[at + 3] < 0.0:
            for a in range(4):
                q[at + a] = -q[at + a]
    else:
        ux, uy, uz = point_velocity(bodies, i, ox, oy, oz)
        px, py, pz = point_velocity(bodies, p, ox, oy, oz)
        ux, uy, uz = ux - px, uy - py, uz - pz
        if kind == PRISMATIC:
            q[at] = J[2, 0] * dx + J[2, 1] * dy + J[2, 2] * dz
            v[k] = J[2, 0] * ux + J[2, 1] * uy + J[2, 2] * uz
        elif kind == PLANAR:
            for a in range(2):
                q[at + a] = J[a, 0] * dx + J[a, 1] * dy + J[a, 2] * dz
                v[k + a] = J[a, 0] * ux + J[a, 1] * uy + J[a, 2] * uz
            q[at + 2] = read_angle(bodies.rotation[i], J, q[at + 2])
            v[k + 2] = J[2, 0] * wx + J[2, 1] * wy + J[2, 2] * wz


@jit
def read_angle(R, J, near):
    """Angle about the joint's z from its frame J to the rotation R, the turn nearest to `near`.

    Both directions are projected off the axis (atan2 of the sums), so a tilt of the joint does not enter.
    """
    s = c = 0.0
    for a in range(3):
        c += J[0, a] * R[a, 0] + J[1, a] * R[a, 1]
        s += J[1, a] * R[a, 0] - J[0, a] * R[a, 1]
    angle = atan2(s, c)
    return angle + 2.0 * pi * round((near - angle) / (2.0 * pi))


@jit
def read_joints(model, data, bodies):
    """data.q and data.v from the bodies, kept as what was read."""
    for i in range(model.link_count):
        read_joint(model, bodies, i, data.q, data.v)
    for n in range(model.coordinate_count):
        bodies.seen_q[n] = data.q[n]
    for k in range(model.dof_count):
        bodies.seen_v[k] = data.v[k]
