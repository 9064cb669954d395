"""Joints of springs: where their anchors are (chapter 6); what they pull: pulling.py; what drives them: drives.py.

    revolute    two springs on the axis; two torque springs beside it. While the angle moves, their anchors on the
                parent go along with it (they resist tilt alone); at a limit or at rest by friction they stay,
                and resist turning with 2 k r^2 per radian
    prismatic   the same four points, whose anchors on the parent go along the axis
    planar      four points, whose anchors go along the plane and turn with it
    spherical   one point;   fixed: no joint at all, such bodies are one;   free: nothing
    loops       ball: one point; hinge: two on its axis; weld: four
A stop (constraint without spring) keeps a limited joint from passing its limit by more than the springs' limit.
"""

from __future__ import annotations

from math import cos, sin, sqrt

from sesshoku.compiled.jit import jit
from sesshoku.methods.springs.bodies import joint_frame, link_origin, times_inertia
from sesshoku.methods.springs.joint.coupling import dof_speed
from sesshoku.methods.springs.options import (
    IMPLICIT_JOINTS,
    REST_CRITICAL,
)
from sesshoku.methods.springs.solve.descent import ACROSS, ALONG, BOTH_WAYS, ONE_WAY, UNLIMITED
from sesshoku.methods.springs.work import (
    ACROSS_NORMAL,
    ALL,
    ALONG_NORMAL,
    AT_LIMIT,
    AT_REST,
    AXIS,
    MOVING,
    STOP,
    TORQUE,
)
from sesshoku.model.arrays import PLANAR, PRISMATIC, REVOLUTE
from sesshoku.spatial.algebra import cross

REST_DAMPING_STEPS = 4.0  # damping over k dt of a hardened joint: more than critical, in chains too
REST_EXCESS = 1.5  # of static friction: more within a step is a blow, and lets go at once
NEAR_STOP = 0.5  # rad from a limit: farther away its stop is left out, its tangent means nothing there


@jit
def spring_stiffness(work, s):
    """Stiffness and damping of a joint's spring: the user's, or by the rule."""
    joints, options, dt = work.joints, work.options, work.bodies.step[0]
    k = joints.stiffness[s]
    if k < 0.0:
        k = options.rate / (dt * dt * joints.load[s])
    c = joints.damping[s]
    if c < 0.0:
        c = options.damping_steps * k * dt
    return k, c


@jit
def place_anchors(model, data, work, dt):
    """Anchors, limits and directions of all joint springs for this step."""
    bodies, joints, springs, options = work.bodies, work.joints, work.springs, work.options
    for i in range(model.link_count):
        kind, k, at = model.link_joint[i], model.link_dof[i], model.link_coordinate[i]
        if kind == REVOLUTE or kind == PRISMATIC:
            settle_dof(model, data, work, dt, i)
            position = data.q[at]
            if joints.state[k] != AT_REST:
                position = min(max(position, model.dof_lower[k]), model.dof_upper[k])
            elif kind == PRISMATIC:
                position = joints.hold[k]
            p = joint_frame(model, bodies, i, bodies.frame)
            harden(model, work, dt, i)
            for s in range(joints.link_spring[i, 0], joints.link_spring[i, 1]):
                if joints.role[s] == STOP:
                    place_stop(model, data, work, i, p, s)
                elif kind == REVOLUTE:
                    place_revolute(work, i, p, s, joints.state[k], position, joints.hold[k])
                else:
                    place_prismatic(work, i, p, s, position, joints.state[k])
        elif kind == PLANAR:
            p = joint_frame(model, bodies, i, bodies.frame)
            for s in range(joints.link_spring[i, 0], joints.link_spring[i, 1]):
                place_planar(data, work, i, p, s, at)
    for s in range(joints.spring_count):
        springs.limit[s] = joints.limit[s]
        if options.max_correction_speed < 1e300 and springs.holds[s] != UNLIMITED:
            dx, dy, dz = anchor_distance(bodies, springs, s)
            now = sqrt(dx * dx + dy * dy + dz * dz)
            springs.limit[s] = max(joints.limit[s], now - options.max_correction_speed * dt)


@jit
def settle_dof(model, data, work, dt, i):
    """Whether the joint of link i moves, stands at a limit, or rests by friction."""
    joints, options = work.joints, work.options
    k, q = model.link_dof[i], data.q[model.link_coordinate[i]]
    speed, old = data.v[k], joints.old_speed[k]
    joints.old_speed[k] = speed
    if q > model.dof_upper[k] or q < model.dof_lower[k]:
        joints.state[k] = AT_LIMIT
        return
    if model.dof_static_friction[k] <= 0.0:
        joints.state[k] = MOVING
        return
    if joints.released[k]:
        joints.old_speed[k] = 0.0
        return
    if joints.state[k] == AT_REST:
        stretch = abs(joints.hold[k] - q)
        if model.link_joint[i] == REVOLUTE and stretch < 1.5:  # anchors on a circle
            stretch = sin(stretch)
        held = held_stiffness(model, work, i) * max(1.0, joints.hardening[i]) * stretch
        if held > model.dof_static_friction[k]:
            joints.state[k] = MOVING
            joints.old_speed[k] = 0.0  # turning back needs two speeds of the new motion
        return
    reversed_ = speed * old < 0.0
    if joints.state[k] == MOVING and (reversed_ or abs(speed) < options.joint_stick_speed):
        joints.state[k] = AT_REST
        joints.hold[k] = q
    else:
        joints.state[k] = MOVING


@jit
def held_stiffness(model, work, i):
    """Stiffness of a joint at rest against its own motion: 2 k r^2 (revolute), that of all four springs (prismatic)."""
    joints = work.joints
    total = 0.0
    for s in range(joints.link_spring[i, 0], joints.link_spring[i, 1]):
        k, _ = spring_stiffness(work, s)
        if model.link_joint[i] == PRISMATIC and joints.role[s] != STOP:
            total += k
        elif joints.role[s] == TORQUE:
            total += k * joints.width[i] ** 2
    return total


@jit
def harden(model, work, dt, i):
    """Implicit joints at rest may be as stiff as the inertia they hold over dt^2: then no load swings them far."""
    bodies, joints, options = work.bodies, work.joints, work.options
    joints.hardening[i] = 0.0
    critical = options.rest_damping == REST_CRITICAL and options.joint_springs == IMPLICIT_JOINTS
    if critical and joints.state[model.link_dof[i]] == AT_REST:
        stiff = held_stiffness(model, work, i)
        if stiff > 0.0 and joints.stiffness[joints.link_spring[i, 0]] < 0.0:
            joints.hardening[i] = max(1.0, carried_inertia(model, bodies, i) / (dt * dt * stiff))


@jit
def let_go(model, data, work, dt):
    """Hardened joints at rest that a blow would have hold by far more than static friction move; True if any does."""
    bodies, joints, springs, options = work.bodies, work.joints, work.springs, work.options
    any_moves = False
    for i in range(model.link_count):
        if joints.hardening[i] == 0.0:
            continue
        k = model.link_dof[i]
        speed = dof_speed(model, bodies, i, 0, springs.velocity, False)
        stretch = data.q[model.link_coordinate[i]] - joints.hold[k]
        held = stretch + (1.0 + max(options.damping_steps, REST_DAMPING_STEPS)) * dt * speed
        held *= held_stiffness(model, work, i) * joints.hardening[i]
        if abs(held) > REST_EXCESS * model.dof_static_friction[k]:
            joints.state[k], joints.released[k], joints.hardening[i] = MOVING, 1, 0.0
            any_moves = True
    return any_moves


@jit
def carried_inertia(model, bodies, i):
    """Inertia of link i and all it carries against its joint's motion, as if every other joint were locked.

    Needs its joint's frame in `bodies.frame`, and the inertias of this step.
    """
    n, total = bodies.frame[2], 0.0
    ox, oy, oz = link_origin(bodies, i)
    for j in range(i, model.link_count):
        up = j
        while up > i:
            up = model.link_parent[up]
        if up != i:
            continue
        if model.link_joint[i] == PRISMATIC:
            total += bodies.mass[j]
            continue
        x = bodies.position[j]
        rx, ry, rz = cross(n[0], n[1], n[2], x[0] - ox, x[1] - oy, x[2] - oz)
        hx, hy, hz = times_inertia(bodies.inertia[j], n[0], n[1], n[2])
        total += bodies.mass[j] * (rx * rx + ry * ry + rz * rz) + n[0] * hx + n[1] * hy + n[2] * hz
    return total


@jit
def store_local(work, s, side, b, x, y, z):
    """The world point (x, y, z) as an anchor of spring s on body b."""
    bodies, springs = work.bodies, work.springs
    R, o, out = bodies.rotation[b], bodies.position[b], springs.local[s, side]
    x, y, z = x - o[0], y - o[1], z - o[2]
    for a in range(3):
        out[a] = R[0, a] * x + R[1, a] * y + R[2, a] * z


@jit
def place_revolute(work, i, p, s, state, angle, hold):
    """Axis springs stay; a torque spring's anchor on the parent goes along, or stays at `angle` (limit) or `hold`."""
    bodies, joints, springs = work.bodies, work.joints, work.springs
    J, r = bodies.frame, joints.sign[s] * joints.width[i]
    if joints.role[s] == AXIS:
        springs.holds[s] = BOTH_WAYS
        return
    springs.holds[s] = UNLIMITED
    for a in range(3):
        springs.normal[s, a] = J[2, a]
    ox, oy, oz = link_origin(bodies, i)
    if state == MOVING:
        joints.damper[s] = ALONG_NORMAL
        R, n = bodies.rotation[i], J[2]
        tilt = r * (R[0, 0] * n[0] + R[1, 0] * n[1] + R[2, 0] * n[2])
        store_local(work, s, 0, p, ox + r * R[0, 0] - tilt * n[0], oy + r * R[1, 0] - tilt * n[1],
                    oz + r * R[2, 0] - tilt * n[2])
        return
    joints.damper[s] = ALL
    x, y, z = on_circle(J, r, angle if state == AT_LIMIT else hold)
    store_local(work, s, 0, p, ox + x, oy + y, oz + z)


@jit
def on_circle(J, r, angle):
    """r (cos x + sin y) in the axes of a joint's frame."""
    c, w = r * cos(angle), r * sin(angle)
    return c * J[0, 0] + w * J[1, 0], c * J[0, 1] + w * J[1, 1], c * J[0, 2] + w * J[1, 2]


@jit
def place_prismatic(work, i, p, s, position, state):
    """Anchors on the parent at `position` along the axis."""
    bodies, joints, springs = work.bodies, work.joints, work.springs
    J, r = bodies.frame, joints.sign[s] * joints.width[i]
    along = position + (r if joints.role[s] == AXIS else 0.0)
    beside = r if joints.role[s] == TORQUE else 0.0
    store_local(work, s, 0, p, J[3, 0] + along * J[2, 0] + beside * J[0, 0],
                J[3, 1] + along * J[2, 1] + beside * J[0, 1], J[3, 2] + along * J[2, 2] + beside * J[0, 2])
    springs.holds[s] = ACROSS
    joints.damper[s] = ACROSS_NORMAL if state == MOVING else ALL
    for a in range(3):
        springs.normal[s, a] = J[2, a]


@jit
def place_planar(data, work, i, p, s, at):
    """Anchors on the parent where the child's are, but for their height above the plane."""
    bodies, joints, springs = work.bodies, work.joints, work.springs
    J, r = bodies.frame, joints.sign[s] * joints.width[i]
    turn = data.q[at + 2] + (1.5707963267948966 if joints.side[s] == 1 else 0.0)
    x, y, z = on_circle(J, r, turn)
    q0, q1 = data.q[at], data.q[at + 1]
    store_local(work, s, 0, p, J[3, 0] + q0 * J[0, 0] + q1 * J[1, 0] + x, J[3, 1] + q0 * J[0, 1] + q1 * J[1, 1] + y,
                J[3, 2] + q0 * J[0, 2] + q1 * J[1, 2] + z)
    springs.holds[s] = ALONG
    for a in range(3):
        springs.normal[s, a] = J[2, a]


@jit
def place_stop(model, data, work, i, p, s):
    """A stop at the nearer limit of link i's joint, if that is near."""
    bodies, joints, springs = work.bodies, work.joints, work.springs
    k, q, J = model.link_dof[i], data.q[model.link_coordinate[i]], bodies.frame
    upper = model.dof_upper[k] - q < q - model.dof_lower[k]
    limit, way = (model.dof_upper[k], 1.0) if upper else (model.dof_lower[k], -1.0)
    springs.holds[s] = ONE_WAY
    if model.link_joint[i] == PRISMATIC:
        store_local(work, s, 0, p, J[3, 0] + limit * J[2, 0], J[3, 1] + limit * J[2, 1], J[3, 2] + limit * J[2, 2])
        for a in range(3):
            springs.normal[s, a] = way * J[2, a]
        return
    if abs(limit - q) > NEAR_STOP:
        springs.holds[s] = UNLIMITED
        return
    r = joints.sign[s] * joints.width[i]
    x, y, z = on_circle(J, r, limit)
    ox, oy, oz = link_origin(bodies, i)
    store_local(work, s, 0, p, ox + x, oy + y, oz + z)
    tx, ty, tz = cross(J[2, 0], J[2, 1], J[2, 2], x, y, z)  # where turning on takes the anchor
    scale = way / abs(r)
    springs.normal[s, 0], springs.normal[s, 1], springs.normal[s, 2] = scale * tx, scale * ty, scale * tz


@jit
def world_anchor(bodies, springs, s, side):
    """World point of an anchor at the present pose: eq. (2.1)."""
    b, local = springs.body[s, side], springs.local[s, side]
    R, x = bodies.rotation[b], bodies.position[b]
    return (x[0] + R[0, 0] * local[0] + R[0, 1] * local[1] + R[0, 2] * local[2],
            x[1] + R[1, 0] * local[0] + R[1, 1] * local[1] + R[1, 2] * local[2],
            x[2] + R[2, 0] * local[0] + R[2, 1] * local[1] + R[2, 2] * local[2])


@jit
def anchor_distance(bodies, springs, s):
    """(5.13): d = p1 - p0."""
    x0, y0, z0 = world_anchor(bodies, springs, s, 0)
    x1, y1, z1 = world_anchor(bodies, springs, s, 1)
    return x1 - x0, y1 - y0, z1 - z0


@jit
def joint_gap(bodies, joints, springs):
    """Largest stretch of a spring on a joint's axis or in a loop at the present poses: the joint gap, m."""
    most = 0.0
    for s in range(joints.spring_count):
        if joints.role[s] == AXIS:
            dx, dy, dz = anchor_distance(bodies, springs, s)
            if springs.holds[s] == ACROSS or springs.holds[s] == ALONG:
                n = springs.normal[s]
                along = n[0] * dx + n[1] * dy + n[2] * dz
                if springs.holds[s] == ALONG:
                    dx, dy, dz = along, 0.0, 0.0
                else:
                    dx, dy, dz = dx - along * n[0], dy - along * n[1], dz - along * n[2]
            most = max(most, sqrt(dx * dx + dy * dy + dz * dz))
    return most
