"""What the springs of joints and loops pull, by present velocities or by those at the end of the step."""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.methods.springs.bodies import point_velocity
from sesshoku.methods.springs.joint.coupling import add_spring, add_spring_along
from sesshoku.methods.springs.joint.joints import REST_DAMPING_STEPS, spring_stiffness, world_anchor
from sesshoku.methods.springs.options import IMPLICIT_JOINTS, ISOTROPIC
from sesshoku.methods.springs.solve.descent import TINY
from sesshoku.methods.springs.work import ACROSS_NORMAL, ALL, ALONG_NORMAL, STOP, TORQUE
from sesshoku.model.arrays import PLANAR, PRISMATIC
from sesshoku.spatial.algebra import cross, quaternion_matrix, turn_quaternion

IMPLICIT_RATE = 1e3  # k dt^2 of an implicit joint spring, in masses of all that is joined: it hardly opens


@jit
def add_force(bodies, b, place, force):
    """A force at a world point, onto body b's sums: eqs. (2.13), (2.14)."""
    add_at(bodies.force[b], bodies.position[b], place, force)


@jit
def touch_at(bodies, b, place, force):
    """A force at a world point, onto what touches body b from outside its tree."""
    add_at(bodies.touch[b], bodies.position[b], place, force)


@jit
def add_at(F, x, place, force):
    """A force at a world point onto a wrench F about x."""
    px, py, pz = place
    fx, fy, fz = force
    tx, ty, tz = cross(px - x[0], py - x[1], pz - x[2], fx, fy, fz)  # (2.12)
    F[0] += fx
    F[1] += fy
    F[2] += fz
    F[3] += tx
    F[4] += ty
    F[5] += tz


@jit
def pull_joints(model, work, dt):
    """Spring and damper of every joint spring, eqs. (2.30) and (2.33): on body 0, the opposite on body 1."""
    bodies, joints, springs, options = work.bodies, work.joints, work.springs, work.options
    isotropic = options.static_damping == ISOTROPIC
    loops = joints.loop_spring[0, 0] if model.loop_count > 0 else joints.spring_count
    for s in range(joints.spring_count):
        if joints.role[s] == STOP:
            continue
        if options.joint_springs == IMPLICIT_JOINTS:
            if s < loops:
                pull_implicitly(model, work, dt, s)
            elif joints.tie[s] >= 0:
                pull_loop_implicitly(work, dt, s)
            continue
        k, c = spring_stiffness(work, s)
        a, b = springs.body[s, 0], springs.body[s, 1]
        x0, y0, z0 = world_anchor(bodies, springs, s, 0)
        x1, y1, z1 = world_anchor(bodies, springs, s, 1)
        dx, dy, dz = x1 - x0, y1 - y0, z1 - z0
        ux, uy, uz = point_velocity(bodies, a, x0, y0, z0)
        wx, wy, wz = point_velocity(bodies, b, x1, y1, z1)
        vx, vy, vz = damped_velocity(isotropic, joints.damper[s], springs.normal[s], (dx, dy, dz),
                                     (wx - ux, wy - uy, wz - uz))
        fx, fy, fz = k * dx + c * vx, k * dy + c * vy, k * dz + c * vz
        # a damper in every direction is no pair along one line: both act at the middle, which keeps angular momentum
        if isotropic:
            x0, y0, z0 = x1, y1, z1 = 0.5 * (x0 + x1), 0.5 * (y0 + y1), 0.5 * (z0 + z1)
        add_force(bodies, a, (x0, y0, z0), (fx, fy, fz))
        add_force(bodies, b, (x1, y1, z1), (-fx, -fy, -fz))
        if s >= loops:
            fx, fy, fz = fx + springs.held[s, 0], fy + springs.held[s, 1], fz + springs.held[s, 2]
            touch_at(bodies, a, (x0, y0, z0), (fx, fy, fz))
            touch_at(bodies, b, (x1, y1, z1), (-fx, -fy, -fz))


@jit
def turn_axes(model, bodies, joints, springs, dt):
    """Axes of sliding and planar joints as they will be at the end of the step, where limits hold.

    Along the axis as it is, what slides far in a step seems to leave it.
    """
    for i in range(model.link_count):
        if model.link_joint[i] != PRISMATIC and model.link_joint[i] != PLANAR:
            continue
        p = model.link_parent[i] if model.link_parent[i] >= 0 else model.link_count
        u = bodies.velocity[p]
        w, x, y, z = turn_quaternion(dt * u[3], dt * u[4], dt * u[5])
        t00, t01, t02, t10, t11, t12, t20, t21, t22 = quaternion_matrix(w, x, y, z)
        for s in range(joints.link_spring[i, 0], joints.link_spring[i, 1]):
            n = springs.normal[s]
            a, b, c = n[0], n[1], n[2]
            n[0], n[1], n[2] = t00 * a + t01 * b + t02 * c, t10 * a + t11 * b + t12 * c, t20 * a + t21 * b + t22 * c


@jit
def pull_implicitly(model, work, dt, s):
    """Spring and damper at the end of the step: what they pull by present velocities, and their share of the inertia.

    Stiff in the directions that the joint itself holds. What a limit or friction holds, it holds with the stiffness of
    the rule, since the stretch tells friction when to let go; so it should not swing beyond that of the load
    (`harden`). Both act at the middle of the anchors.
    """
    bodies, joints, springs, options = work.bodies, work.joints, work.springs, work.options
    a, b, n, damper = springs.body[s, 0], springs.body[s, 1], springs.normal[s], joints.damper[s]
    soft, soft_damping = spring_stiffness(work, s)
    if joints.hardening[b] > 0.0:
        soft *= joints.hardening[b]
        if joints.damping[s] < 0.0:
            soft_damping = max(options.damping_steps, REST_DAMPING_STEPS) * soft * dt
    k, c = implicit_stiffness(work, dt, s, b)
    along_k, along_c = k, c  # of the part along the normal
    if damper == ALONG_NORMAL:
        k = c = 0.0
    elif damper == ACROSS_NORMAL:
        along_k = along_c = 0.0
    elif model.link_joint[b] == PRISMATIC:
        along_k, along_c = soft, soft_damping
    elif joints.role[s] == TORQUE:
        k, c = along_k, along_c = soft, soft_damping
    x0, y0, z0 = world_anchor(bodies, springs, s, 0)
    x1, y1, z1 = world_anchor(bodies, springs, s, 1)
    dx, dy, dz = x1 - x0, y1 - y0, z1 - z0
    x, y, z = 0.5 * (x0 + x1), 0.5 * (y0 + y1), 0.5 * (z0 + z1)
    ux, uy, uz = point_velocity(bodies, a, x, y, z)
    wx, wy, wz = point_velocity(bodies, b, x, y, z)
    vx, vy, vz = wx - ux, wy - uy, wz - uz
    s_all, s_along = dt * dt * k + dt * c, dt * dt * along_k + dt * along_c
    f, v = k, k * dt + c
    fx, fy, fz = f * dx + v * vx, f * dy + v * vy, f * dz + v * vz
    if s_all > 0.0:
        add_spring(bodies, b, a, s_all, x, y, z)
    if s_along != s_all:
        along = (along_k - k) * (n[0] * dx + n[1] * dy + n[2] * dz) + (along_k * dt + along_c - v) * (
            n[0] * vx + n[1] * vy + n[2] * vz)
        fx, fy, fz = fx + along * n[0], fy + along * n[1], fz + along * n[2]
        add_spring_along(bodies, b, a, s_along - s_all, n, (x, y, z))
    add_force(bodies, a, (x, y, z), (fx, fy, fz))
    add_force(bodies, b, (x, y, z), (-fx, -fy, -fz))


@jit
def pull_loop_implicitly(work, dt, s):
    """The same for a spring of a loop, whose share of the inertia does not follow the tree: a tie."""
    bodies, joints, springs = work.bodies, work.joints, work.springs
    a, b, t = springs.body[s, 0], springs.body[s, 1], joints.tie[s]
    k, c = implicit_stiffness(work, dt, s, a if bodies.mass[a] > 0.0 else b)
    x0, y0, z0 = world_anchor(bodies, springs, s, 0)
    x1, y1, z1 = world_anchor(bodies, springs, s, 1)
    x, y, z = 0.5 * (x0 + x1), 0.5 * (y0 + y1), 0.5 * (z0 + z1)
    ux, uy, uz = point_velocity(bodies, a, x, y, z)
    wx, wy, wz = point_velocity(bodies, b, x, y, z)
    v = k * dt + c
    fx, fy, fz = k * (x1 - x0) + v * (wx - ux), k * (y1 - y0) + v * (wy - uy), k * (z1 - z0) + v * (wz - uz)
    add_force(bodies, a, (x, y, z), (fx, fy, fz))
    add_force(bodies, b, (x, y, z), (-fx, -fy, -fz))
    springs.tie_inertia[t] = dt * dt * k + dt * c
    for side in range(2):
        o, r = bodies.position[springs.body[s, side]], springs.tie_arm[t, side]
        r[0], r[1], r[2] = x - o[0], y - o[1], z - o[2]


@jit
def implicit_stiffness(work, dt, s, b):
    """Stiffness and damping of an implicit spring at body b: the user's, or hard against all that is joined."""
    bodies, joints, options = work.bodies, work.joints, work.options
    k = joints.stiffness[s]
    k = k if k >= 0.0 else IMPLICIT_RATE * bodies.group_mass[b] / (dt * dt)
    c = joints.damping[s]
    return k, c if c >= 0.0 else options.damping_steps * k * dt


@jit
def damped_velocity(isotropic, damper, n, direction, second):
    """The part of a relative velocity that a damper acts on: along the spring's line, or all of it that is held."""
    dx, dy, dz = direction
    vx, vy, vz = second
    if isotropic:
        if damper == ALL:
            return vx, vy, vz
        along = n[0] * vx + n[1] * vy + n[2] * vz
        if damper == ALONG_NORMAL:
            return along * n[0], along * n[1], along * n[2]
        return vx - along * n[0], vy - along * n[1], vz - along * n[2]
    d2 = dx * dx + dy * dy + dz * dz
    if d2 < TINY * TINY:
        return 0.0, 0.0, 0.0
    if damper == ACROSS_NORMAL:  # a tilted joint's spring lies askew: its sliding is not to be damped
        along = n[0] * vx + n[1] * vy + n[2] * vz
        vx, vy, vz = vx - along * n[0], vy - along * n[1], vz - along * n[2]
    along = (dx * vx + dy * vy + dz * vz) / d2  # (2.32), (2.33): n_l is d / |d|
    return along * dx, along * dy, along * dz
