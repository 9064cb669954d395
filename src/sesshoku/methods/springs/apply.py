"""What users see of a step: springs as contacts, and the report."""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.contacts import CONTACTS, NEXT_ID, OLD_CONTACTS, OVERFLOW, RELEASED, SLIP, STICK, VERTEX
from sesshoku.compiled.jit import jit
from sesshoku.methods.springs.contact.friction import arm_velocity
from sesshoku.methods.springs.joint.joints import joint_gap
from sesshoku.methods.springs.options import DRAG
from sesshoku.methods.springs.solve.descent import CONVERGED as SOLVED
from sesshoku.methods.springs.solve.descent import ITERATIONS as USED
from sesshoku.methods.springs.solve.descent import RESIDUAL as LEFT
from sesshoku.methods.springs.solve.inertia import tie_velocity
from sesshoku.methods.springs.work import LOST, NEXT, PRESSES, STATIC, STRAY
from sesshoku.stages.joint_constraints import measure_errors
from sesshoku.stages.report import (
    CONE_VIOLATION,
    CONSTRAINT_WORK,
    CONVERGED,
    ENERGY_CHANGE,
    ITERATIONS,
    LIMIT_VIOLATION,
    LOOP_ERROR,
    PENETRATION,
    RESIDUAL,
    ROWS,
    TUNNELLING,
)
from sesshoku.stages.report import OVERFLOW as REPORT_OVERFLOW


@jit
def list_springs(model, work):
    """The springs that acted in this step as contacts: host first, normal and force from it to the guest."""
    springs, presses, contacts, options = work.springs, work.presses, work.contacts, work.options
    P, C, count = presses, contacts, min(presses.counts[PRESSES], contacts.capacity)
    C.counts[OLD_CONTACTS] = C.counts[CONTACTS]
    C.counts[CONTACTS], C.counts[NEXT_ID] = count, P.counts[NEXT]
    C.counts[OVERFLOW] = P.counts[LOST]
    for c in range(count):
        s, n = P.first + c, P.normal[c]
        C.shape[c, 0], C.shape[c, 1] = P.model_shape[P.shape[c, 1]], P.model_shape[P.shape[c, 0]]
        C.link[c, 0], C.link[c, 1] = link_of(model, springs.body[s, 1]), link_of(model, springs.body[s, 0])
        C.gap[c], C.id[c], C.kind[c], C.previous[c] = -P.depth[c], P.id[c], VERTEX, -1
        normal = 0.0
        for a in range(3):
            C.point[c, a] = 0.5 * (P.point[c, a] + P.foot[c, a])
            C.normal[c, a], C.material[c, a] = n[a], P.mu[c, a]
            P.held[c, a] = springs.held[s, a]
            C.force[c, a] = P.push[c, a] + springs.held[s, a]
            normal += n[a] * C.force[c, a]
        C.slip[c] = sliding_speed(springs, s, n)
        held = P.state[c] == STATIC or (options.friction_anchor != DRAG and C.slip[c] < options.stick_speed)
        C.state[c] = RELEASED if normal <= 0.0 else (STICK if held else SLIP)


@jit
def link_of(model, b):
    return b if b < model.link_count else -1


@jit
def sliding_speed(springs, s, n):
    """Speed of the guest across the normal at the end of the step."""
    ax, ay, az = arm_velocity(springs.velocity[springs.body[s, 0]], springs.arm[s, 0])
    bx, by, bz = arm_velocity(springs.velocity[springs.body[s, 1]], springs.arm[s, 1])
    vx, vy, vz = ax - bx, ay - by, az - bz
    along = n[0] * vx + n[1] * vy + n[2] * vz
    return sqrt((vx - along * n[0]) ** 2 + (vy - along * n[1]) ** 2 + (vz - along * n[2]) ** 2)


@jit
def report_step(model, data, work, dt):
    """How well the step kept physics: how far springs are beyond their limits, how deep contacts are, their friction.

    energy_change: what contacts and limits did to the kinetic energy, their forces times the mean velocity.
    """
    bodies, springs, presses = work.bodies, work.springs, work.presses
    report = data.report
    for n in range(len(report)):
        report[n] = 0.0
    report[RESIDUAL] = springs.result[LEFT] / dt
    report[ITERATIONS], report[CONVERGED] = springs.result[USED], springs.result[SOLVED]
    report[ROWS] = springs.counts[0]
    report[REPORT_OVERFLOW], report[TUNNELLING] = presses.counts[LOST], presses.counts[STRAY]
    deepest, outside, energy = presses.sunk[0], 0.0, 0.0
    for c in range(presses.counts[PRESSES]):
        s, n, f = presses.first + c, presses.normal[c], presses.push[c]
        deepest = max(deepest, presses.depth[c])
        fx, fy, fz = f[0] + springs.held[s, 0], f[1] + springs.held[s, 1], f[2] + springs.held[s, 2]
        along = n[0] * fx + n[1] * fy + n[2] * fz
        across = sqrt((fx - along * n[0]) ** 2 + (fy - along * n[1]) ** 2 + (fz - along * n[2]) ** 2)
        outside = max(outside, across - presses.mu[c, 0] * max(0.0, along))
        for side in range(2):
            b, sign = springs.body[s, side], 1.0 if side == 0 else -1.0
            ux, uy, uz = arm_velocity(springs.velocity[b], springs.arm[s, side])
            wx, wy, wz = arm_velocity(bodies.velocity[b], springs.arm[s, side])
            energy += 0.5 * dt * sign * (fx * (ux + wx) + fy * (uy + wy) + fz * (uz + wz))
    report[PENETRATION], report[CONE_VIOLATION] = deepest, outside
    report[ENERGY_CHANGE] = report[CONSTRAINT_WORK] = energy


@jit
def report_joints(model, data, bodies, joints, springs):
    """After the poses moved: joints beyond their limits, and the joint gap beside errors of loops and mimics."""
    for n in range(model.loop_count):
        for a in range(6):
            data.loop_error[n, a] = 0.0
    measure_errors(model, data, data.q)
    gap = joint_gap(bodies, joints, springs)
    data.report[LOOP_ERROR] = max(data.report[LOOP_ERROR], gap)
    data.report[LIMIT_VIOLATION] = max(data.report[LIMIT_VIOLATION], 0.0)
    joints.report[0] = gap


@jit
def momentum_residual(model, bodies, springs, dt):
    """Largest |M (U - U_free) - dt sum of the springs' constraint forces| over the bodies, N s."""
    sums, change = springs.gradient, springs.search
    for b in range(springs.body_count):
        for a in range(6):
            sums[b, a] = 0.0
            change[b, a] = springs.velocity[b, a] - springs.free[b, a] if bodies.inverse_mass[b] > 0.0 else 0.0
    for s in range(springs.counts[0]):
        for a in range(3):
            sums[springs.body[s, 0], a] += dt * springs.held[s, a]
            sums[springs.body[s, 1], a] -= dt * springs.held[s, a]
    for b in range(model.link_count):
        p = springs.above[b]
        for a in range(3):
            if springs.group[b] < 0:
                sums[b, a] -= bodies.mass[b] * change[b, a]
                continue
            for c in range(6):
                sums[b, a] -= springs.block[b, a, c] * change[b, c]
                if p >= 0:
                    sums[b, a] -= springs.cross[b, a, c] * change[p, c]
                    sums[p, a] -= springs.cross[b, c, a] * change[b, c]
    slip = bodies.frame[0]
    for t in range(len(springs.tie_body)):
        first, second = springs.tie_body[t, 0], springs.tie_body[t, 1]
        top = max(springs.group[first], springs.group[second])
        if top >= 0:
            tie_velocity(springs, top, t, change, slip)
            for a in range(3):
                sums[first, a] += springs.tie_inertia[t] * slip[a]
                sums[second, a] -= springs.tie_inertia[t] * slip[a]
    worst = 0.0
    for b in range(model.link_count):
        if bodies.inverse_mass[b] > 0.0:
            for a in range(3):
                worst = max(worst, abs(sums[b, a]))
    return worst
