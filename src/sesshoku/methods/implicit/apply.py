"""After the passes: the new velocity, forces and states of the contacts, impulses of joints and loops, the report."""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.contacts import CONTACTS, OVERFLOW, RELEASED, SLIP, STICK
from sesshoku.compiled.jit import jit
from sesshoku.methods.implicit.law import loop_row, loop_scale, row_times, side_row
from sesshoku.methods.implicit.loops import is_exact
from sesshoku.methods.implicit.problem import keep_contacts, moves
from sesshoku.methods.implicit.solve import drag_anchors
from sesshoku.methods.implicit.work import COUPLING_OVERFLOW, PASSES, UNSETTLED
from sesshoku.model.arrays import BALL, FREE, HINGE
from sesshoku.spatial.algebra import cross, inertia_times
from sesshoku.stages.free_motion import joint_space_inertia, spin_freely
from sesshoku.stages.joint_constraints import measure_errors
from sesshoku.stages.report import (
    CONE_VIOLATION,
    CONSTRAINT_WORK,
    CONVERGED,
    ENERGY_CHANGE,
    ITERATIONS,
    MOMENTUM_RESIDUAL,
    PENETRATION,
    RESIDUAL,
    ROWS,
)
from sesshoku.stages.report import OVERFLOW as REPORT_OVERFLOW
from sesshoku.stages.tunnelling import count_tunnelling

TURNED = 7  # place in `turn`: whether a body's free turning holds


@jit
def new_velocity(model, data, work, dt, least_spin):
    """new_v = v + dt q''; lone free bodies that touch nothing, and hang on no loop, turn on by `rotor`."""
    contacts = work.contacts
    for k in range(model.dof_count):
        data.new_v[k] = data.v[k] + dt * data.free_acceleration[k]
    for t in range(model.tree_count):
        i = model.tree_link[t]
        data.turn[i, TURNED] = 0.0
        free = contacts.tree_island[t] < 0 and work.tree_looped[t] == 0
        if free and model.tree_link[t + 1] == i + 1 and model.link_joint[i] == FREE:
            spin_freely(model, data, i, dt, least_spin)


@jit
def finish_contacts(model, data, work, dt):
    """Forces, states, slip of the contacts; anchors; the report."""
    contacts = work.contacts
    report = data.report
    for n in range(len(report)):
        report[n] = 0.0
    deepest = outside = energy = 0.0
    pushing = 0
    for c in range(contacts.counts[CONTACTS]):
        n, f, u, end = contacts.normal[c], work.force[c], work.before[c], work.after[c]
        un = end[0] * n[0] + end[1] * n[1] + end[2] * n[2]
        tx, ty, tz = end[0] - un * n[0], end[1] - un * n[1], end[2] - un * n[2]
        on = work.on[c] != 0
        normal = friction = 0.0
        if on:
            pushing += 1
            normal = f[0] * n[0] + f[1] * n[1] + f[2] * n[2]
            gx, gy, gz = f[0] - normal * n[0], f[1] - normal * n[1], f[2] - normal * n[2]
            friction = sqrt(gx * gx + gy * gy + gz * gz)
        for a in range(3):
            if not on:
                f[a] = 0.0
            contacts.force[c, a] = f[a]
            energy += 0.5 * dt * f[a] * (u[a] + end[a])
        contacts.slip[c] = sqrt(tx * tx + ty * ty + tz * tz)
        contacts.state[c] = RELEASED if not on else (SLIP if work.slides[c] != 0 else STICK)
        outside = max(outside, friction - contacts.material[c, 0] * normal)
        deepest = max(deepest, -contacts.gap[c])
    drag_anchors(work, dt)
    keep_contacts(model, data, work)
    report[PENETRATION], report[CONE_VIOLATION] = deepest, outside
    report[ENERGY_CHANGE] = report[CONSTRAINT_WORK] = energy
    report[ROWS], report[ITERATIONS] = 3 * pushing, work.counts[PASSES]
    report[CONVERGED] = 1.0 if work.counts[UNSETTLED] == 0 else 0.0
    report[REPORT_OVERFLOW] = float(contacts.counts[OVERFLOW] + work.counts[COUPLING_OVERFLOW])


@jit
def finish_joints(model, data, work, dt):
    """Impulses of loops and mimics; how far they are from what they hold.

    Between moving links the impulse is that of the pair's wrench. Read off the accelerations it would be their
    rounding, made larger by a law as stiff as these.
    """
    worst = 0.0
    ra, rb = work.work[1], work.work[2]
    for n in range(model.loop_count):
        kind, a, b = model.loop_kind[n], model.loop_link[n, 0], model.loop_link[n, 1]
        rows = 3 if kind == BALL else (5 if kind == HINGE else 6)
        for d in range(rows):
            x, y, z, px, py, pz = loop_row(data, work, n, d)
            u = 0.0
            for side in range(2):
                link, row, sign = (a, ra, -1.0) if side == 0 else (b, rb, 1.0)
                if link >= 0:
                    side_row(model, data, link, d < 3, (x, y, z), (px, py, pz), row)
                    u += sign * row_times(row, data.velocity[link])
                    u += sign * dt * (row_times(row, data.acceleration[link]) - row_times(row, work.reference[link]))
            data.loop_impulse[n, d] = loop_scale(model, work, n, d >= 3) * u  # on a
            if is_exact(work):
                data.loop_impulse[n, d] = -dt * work.loop_force[n, d]
            worst = max(worst, abs(u))
        if work.loop_mark[n] >= 0 and not is_exact(work):
            impulse_of_pair(model, data, work, dt, n, rows)
    for n in range(model.mimic_count):
        k, source, ratio = model.mimic_dof[n], model.mimic_source[n], model.mimic_ratio[n]
        u = data.new_v[k] - ratio * data.new_v[source]
        data.mimic_impulse[n] = dt * work.pair_force[work.mimic_mark[n], 1, 0]
        worst = max(worst, abs(u))
        u += data.v[k] - ratio * data.v[source]
        data.report[CONSTRAINT_WORK] += 0.5 * data.mimic_impulse[n] * u
    data.report[CONSTRAINT_WORK] += work_of_joints(model, data)
    data.report[RESIDUAL] = worst
    if model.group_count > 0:
        measure_errors(model, data, data.q)
    if model.cluster_count > 0:
        joint_space_inertia(model, data)  # closing loops moves along it


@jit
def work_of_joints(model, data):
    """Impulses of limits and joint friction times the mean of the step's velocities, J; loops do none."""
    work = 0.0
    for n in range(len(model.limited_dofs)):
        k = model.limited_dofs[n]
        work += 0.5 * data.limit_impulse[k] * (data.v[k] + data.new_v[k])
    for n in range(len(model.rubbing_dofs)):
        k = model.rubbing_dofs[n]
        work += 0.5 * data.friction_impulse[k] * (data.v[k] + data.new_v[k])
    return work


@jit
def impulse_of_pair(model, data, work, dt, n, rows):
    """Impulse on a of loop n, which joins moving links, along its rows: the wrench of its pair at the anchors."""
    f, o = work.pair_force[work.loop_mark[n], 0], data.tree_origin[model.link_tree[model.loop_link[n, 0]]]
    for d in range(rows):
        x, y, z, px, py, pz = loop_row(data, work, n, d)
        nx, ny, nz = cross(px - o[0], py - o[1], pz - o[2], f[0], f[1], f[2])
        if d < 3:
            data.loop_impulse[n, d] = dt * (x * f[0] + y * f[1] + z * f[2])
        else:
            data.loop_impulse[n, d] = dt * (x * (f[3] - nx) + y * (f[4] - ny) + z * (f[5] - nz))


@jit
def measure_momentum(model, data, work, dt):
    """Largest part of the change of a free-rooted tree's momentum that no force explains, N s or N m s."""
    contacts = work.contacts
    total, worst = work.work[3], 0.0
    for t in range(model.tree_count):
        first, last = model.tree_link[t], model.tree_link[t + 1]
        if model.link_joint[first] != FREE:
            continue
        k = model.link_dof[first]
        for a in range(6):  # what the free joint's own drive and rotor give
            extra = data.implicit_diagonal[k + a] + model.dof_armature[k + a]
            total[a] = extra * data.free_acceleration[k + a] - data.joint_force[k + a]
        for i in range(first, last):
            acc, bias = data.acceleration[i], work.bias[i]
            fx, fy, fz, nx, ny, nz = inertia_times(data.inertia, i, acc[0], acc[1], acc[2], acc[3], acc[4], acc[5])
            total[0], total[1], total[2] = total[0] + fx + bias[0], total[1] + fy + bias[1], total[2] + fz + bias[2]
            total[3], total[4], total[5] = total[3] + nx + bias[3], total[4] + ny + bias[4], total[5] + nz + bias[5]
        for a in range(6):
            data.stage_v[k + a] = total[a]
    for c in range(contacts.counts[CONTACTS]):
        p, f = contacts.point[c], contacts.force[c]
        for side in range(2):
            link, sign = contacts.link[c, side], -1.0 if side == 1 else 1.0
            if moves(model, link) and model.link_joint[model.tree_link[model.link_tree[link]]] == FREE:
                t = model.link_tree[link]
                k, o = model.link_dof[model.tree_link[t]], data.tree_origin[t]
                nx, ny, nz = cross(p[0] - o[0], p[1] - o[1], p[2] - o[2], f[0], f[1], f[2])
                r = data.stage_v
                r[k], r[k + 1], r[k + 2] = r[k] + sign * f[0], r[k + 1] + sign * f[1], r[k + 2] + sign * f[2]
                r[k + 3], r[k + 4], r[k + 5] = r[k + 3] + sign * nx, r[k + 4] + sign * ny, r[k + 5] + sign * nz
    for t in range(model.tree_count):
        first = model.tree_link[t]
        if model.link_joint[first] == FREE and model.tree_joined[t] == t:
            k = model.link_dof[first]
            for a in range(6):
                worst = max(worst, abs(data.stage_v[k + a]))
    data.report[MOMENTUM_RESIDUAL] = dt * worst


@jit
def finish_report(model, data, work, dt):
    contacts = work.contacts
    if model.loop_count == 0:  # a loop's wrench is not among the contacts'
        measure_momentum(model, data, work, dt)
    count_tunnelling(model, data, contacts, dt)
