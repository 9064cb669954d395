"""Recursive Newton-Euler: link velocities, and the joint forces that a motion needs (inverse dynamics)."""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.kinematics import sum_to_joints
from sesshoku.dynamics.pushes import push_links
from sesshoku.model.arrays import FREE, KINEMATIC, PLANAR
from sesshoku.spatial.algebra import cross, inertia_times, motion_cross


@jit
def link_velocities(model, data, v):
    """Spatial velocity of every link, and the acceleration its joint adds at zero joint acceleration (S' v)."""
    S, vel, c = data.axis, data.velocity, data.velocity_product
    for i in range(model.link_count):
        kind, parent = model.link_joint[i], model.link_parent[i]
        first, count = model.link_dof[i], model.link_dof_count[i]
        if kind == KINEMATIC:
            given, given_rate = data.kinematic_velocity, data.kinematic_acceleration
            for a in range(6):
                vel[i, a] = given[i, a]
                c[i, a] = given_rate[i, a]
            x, y, z = cross(given[i, 0], given[i, 1], given[i, 2], given[i, 3], given[i, 4], given[i, 5])
            c[i, 0], c[i, 1], c[i, 2] = c[i, 0] + x, c[i, 1] + y, c[i, 2] + z  # classical to spatial acceleration
            continue
        j0 = j1 = j2 = j3 = j4 = j5 = 0.0
        for k in range(first, first + count):
            s = v[k]
            j0, j1, j2 = j0 + S[k, 0] * s, j1 + S[k, 1] * s, j2 + S[k, 2] * s
            j3, j4, j5 = j3 + S[k, 3] * s, j4 + S[k, 4] * s, j5 + S[k, 5] * s
        if parent < 0:
            vel[i, 0], vel[i, 1], vel[i, 2], vel[i, 3], vel[i, 4], vel[i, 5] = j0, j1, j2, j3, j4, j5
        else:
            vel[i, 0], vel[i, 1], vel[i, 2] = vel[parent, 0] + j0, vel[parent, 1] + j1, vel[parent, 2] + j2
            vel[i, 3], vel[i, 4], vel[i, 5] = vel[parent, 3] + j3, vel[parent, 4] + j4, vel[parent, 5] + j5
        c[i, 0], c[i, 1], c[i, 2], c[i, 3], c[i, 4], c[i, 5] = motion_cross(vel, i, j0, j1, j2, j3, j4, j5)
        if kind == FREE or kind == PLANAR:  # the sliding axes do not turn with the link: add slide x turn
            slide0 = slide1 = slide2 = 0.0
            for k in range(first, first + (3 if kind == FREE else 2)):
                slide0, slide1, slide2 = slide0 + S[k, 0] * v[k], slide1 + S[k, 1] * v[k], slide2 + S[k, 2] * v[k]
            x, y, z = cross(slide0, slide1, slide2, j3, j4, j5)
            c[i, 0], c[i, 1], c[i, 2] = c[i, 0] + x, c[i, 1] + y, c[i, 2] + z


@jit
def carried_velocities(model, data, v, velocity_out):
    """Spatial velocity (L, 6) of every link at any joint velocities v (V); nothing else changes. Needs `kinematics`."""
    S, out = data.axis, velocity_out
    for i in range(model.link_count):
        parent, first = model.link_parent[i], model.link_dof[i]
        for a in range(6):
            out[i, a] = out[parent, a] if parent >= 0 else 0.0
        if model.link_joint[i] == KINEMATIC:
            for a in range(6):
                out[i, a] = data.kinematic_velocity[i, a]
        for k in range(first, first + model.link_dof_count[i]):
            for a in range(6):
                out[i, a] += S[k, a] * v[k]


@jit
def external_wrenches(model, data):
    """External force and torque about each link's centre of mass -> wrench at the tree's origin; and `push_links`."""
    given, wrench, R, r, c = data.external_force, data.wrench, data.rotation, data.offset, model.link_center
    for i in range(model.link_count):
        fx, fy, fz = given[i, 0], given[i, 1], given[i, 2]
        x = r[i, 0] + R[i, 0, 0] * c[i, 0] + R[i, 0, 1] * c[i, 1] + R[i, 0, 2] * c[i, 2]
        y = r[i, 1] + R[i, 1, 0] * c[i, 0] + R[i, 1, 1] * c[i, 1] + R[i, 1, 2] * c[i, 2]
        z = r[i, 2] + R[i, 2, 0] * c[i, 0] + R[i, 2, 1] * c[i, 1] + R[i, 2, 2] * c[i, 2]
        tx, ty, tz = cross(x, y, z, fx, fy, fz)
        wrench[i, 0], wrench[i, 1], wrench[i, 2] = fx, fy, fz
        wrench[i, 3], wrench[i, 4], wrench[i, 5] = given[i, 3] + tx, given[i, 4] + ty, given[i, 5] + tz
    push_links(model, data, wrench)


@jit
def link_force(model, data, i):
    """f[i] = I a + v x* (I v) - external wrench: the force link i's motion needs."""
    I, vel, acc, f, wrench = data.inertia, data.velocity, data.acceleration, data.force, data.wrench
    vx, vy, vz, wx, wy, wz = vel[i, 0], vel[i, 1], vel[i, 2], vel[i, 3], vel[i, 4], vel[i, 5]
    px, py, pz, lx, ly, lz = inertia_times(I, i, vx, vy, vz, wx, wy, wz)
    fx, fy, fz, nx, ny, nz = inertia_times(I, i, acc[i, 0], acc[i, 1], acc[i, 2], acc[i, 3], acc[i, 4], acc[i, 5])
    ax, ay, az = cross(wx, wy, wz, px, py, pz)
    bx, by, bz = cross(wx, wy, wz, lx, ly, lz)
    dx, dy, dz = cross(vx, vy, vz, px, py, pz)
    f[i, 0], f[i, 1], f[i, 2] = fx + ax - wrench[i, 0], fy + ay - wrench[i, 1], fz + az - wrench[i, 2]
    f[i, 3] = nx + bx + dx - wrench[i, 3]
    f[i, 4] = ny + by + dy - wrench[i, 4]
    f[i, 5] = nz + bz + dz - wrench[i, 5]


@jit
def bias_force(model, data, v, force_out):
    """Joint forces (V) that hold the joint acceleration at zero: C v + gravity - external. Needs `kinematics`."""
    link_velocities(model, data, v)
    bias_at_velocities(model, data, force_out)


@jit
def bias_at_velocities(model, data, force_out):
    """`bias_force` where `link_velocities` are known."""
    g, acc, c = model.gravity, data.acceleration, data.velocity_product
    for i in range(model.link_count):
        parent = model.link_parent[i]
        if parent < 0:
            for a in range(3):
                acc[i, a] = c[i, a] - g[a]
                acc[i, 3 + a] = c[i, 3 + a]
        else:
            for a in range(6):
                acc[i, a] = acc[parent, a] + c[i, a]
        link_force(model, data, i)
    sum_to_joints(model, data, 0, model.link_count, force_out)


@jit
def inverse_dynamics(model, data, v, acceleration, force_out):
    """Joint forces (V) for joint accelerations (V), armature included. Needs `kinematics` and `external_wrenches`."""
    link_velocities(model, data, v)
    link_forces(model, data, acceleration)
    sum_to_joints(model, data, 0, model.link_count, force_out)
    for k in range(model.dof_count):
        force_out[k] += model.dof_armature[k] * acceleration[k]


@jit
def link_forces(model, data, acceleration):
    """Forces that the links need for joint accelerations (V), and the accelerations of `link_accelerations`."""
    link_accelerations(model, data, acceleration)
    for i in range(model.link_count):
        link_force(model, data, i)


@jit
def link_accelerations(model, data, acceleration):
    """Spatial acceleration of every link less gravity, from those of the joints (V). Needs `link_velocities`."""
    g, acc, c, S = model.gravity, data.acceleration, data.velocity_product, data.axis
    for i in range(model.link_count):
        parent, first = model.link_parent[i], model.link_dof[i]
        for a in range(6):
            up = acc[parent, a] if parent >= 0 else (-g[a] if a < 3 else 0.0)
            for k in range(first, first + model.link_dof_count[i]):
                up += S[k, a] * acceleration[k]
            acc[i, a] = up + c[i, a]
