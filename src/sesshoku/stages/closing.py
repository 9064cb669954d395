"""Closing loops and mimics at the end of a step, by moving bodies: what the step's motion left open, velocities as they
are.

A Newton step on the errors at the new positions, in the metric of the step's mass matrix: the smallest way back. Links
are left as the step had them, where its equation of motion holds (sensors read it there).
"""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.constraints.independent import independent_rows
from sesshoku.dynamics.constraints.rows import ROW_LOOP, cluster_rows, loop_error, mimic_error
from sesshoku.dynamics.kinematics import place_links
from sesshoku.integrate.position import move
from sesshoku.stages.report import LOOP_ERROR

CLOSED = 1e-12  # m or rad: a smaller error is left
FAR = 1e-7  # a larger one is looked at again: one Newton step leaves its square
CLOSING_SPEED = 10.0  # m/s or rad/s: no loop closes faster
NEAR_DEAD_CENTRE = 3e-2  # rows nearer to dependence than this move less: there a small error asks for a large way
PASSES = 3


@jit
def close_loops(model, data, dt):
    """Bring data.q back to where loops and mimics are closed; reports the largest error that remains."""
    if model.cluster_count == 0:
        return
    if model.loop_count > 0:
        keep_links(model, data, 1)
    worst = 0.0
    for n in range(PASSES):
        before, worst = worst, errors_at(model, data)
        if worst <= CLOSED or n == PASSES - 1 or n > 0 and not FAR < worst < 0.5 * before:
            break
        step_back(model, data, dt)
    if model.loop_count > 0:
        keep_links(model, data, 0)
    data.report[LOOP_ERROR] = worst


@jit
def errors_at(model, data):
    """Poses and errors of all loops at data.q; the largest distance of two anchors, or error of a mimic."""
    worst2 = worst = 0.0
    if model.loop_count > 0:
        place_links(model, data, data.q)
    for n in range(model.loop_count):
        e = data.loop_error[n]
        loop_error(model, data, n, data.loop_point[n], data.loop_frame[n], e)
        worst2 = max(worst2, e[0] * e[0] + e[1] * e[1] + e[2] * e[2])
    for n in range(model.mimic_count):
        worst = max(worst, abs(mimic_error(model, n, data.q)))
    return max(worst, sqrt(worst2))


@jit
def step_back(model, data, dt):
    """Move q by the smallest displacement that undoes the errors, to first order; cluster after cluster.

    No joint moves faster than CLOSING_SPEED by it.
    """
    y, most, farthest = data.basis_way, CLOSING_SPEED * dt, 0.0
    for k in range(model.dof_count):
        y[k] = 0.0
    for cluster in range(model.cluster_count):
        count, _ = cluster_rows(model, data, cluster, 0, 0)
        for r in range(count):
            data.row_turn[r] = 0.0
            data.row_target[r] = -min(max(row_error(model, data, r), -most), most)
        rank = independent_rows(model, data, cluster, count, NEAR_DEAD_CENTRE)
        start, n = model.cluster_dofs[cluster, 0], model.cluster_dofs[cluster, 1]
        dofs, first = model.row_dof[start : start + n], model.cluster_start[cluster]
        for l in range(rank):
            p = data.basis_order[first[0] + l]
            row, way = data.basis[first[1] + p * n : first[1] + p * n + n], data.row_target[p]
            for e in range(n):
                way -= row[e] * y[dofs[e]]  # what the clusters before it do
            for e in range(n):
                y[dofs[e]] += row[e] * way
    for k in range(model.dof_count):  # L^-1 D^-1/2 y
        t = y[k] * sqrt(data.factor_dinv[k])
        for f in range(model.dof_row[k], model.dof_row[k] + model.dof_depth[k]):
            t -= data.factor[f] * y[model.row_dof[f]]
        y[k] = t
        farthest = max(farthest, abs(t))
    move(model, data.q, y, min(1.0, most / farthest) if farthest > 0.0 else 0.0)


@jit
def row_error(model, data, r):
    """The share of a row's error that is to be undone."""
    kind, number = data.row_source[r, 0], data.row_source[r, 1]
    if kind != ROW_LOOP:
        return mimic_error(model, number, data.q)
    return model.loop_correction[number // 6] * data.loop_error[number // 6, number % 6]


@jit
def keep_links(model, data, away):
    """Put the poses of the links and the anchors away (1), or take them back (0)."""
    for i in range(model.link_count):
        for a in range(3):
            exchange(data.rotation[i, a], data.link_kept[i, 3 * a :], away)
        exchange(data.offset[i], data.link_kept[i, 9:], away)
    for k in range(model.dof_count):
        exchange(data.axis[k], data.dof_kept[k], away)
    for t in range(model.tree_count):
        exchange(data.tree_origin[t], data.tree_kept[t], away)
    for n in range(model.loop_count):
        for side in range(2):
            kept = data.loop_kept[n, 12 * side :]
            exchange(data.loop_point[n, side], kept, away)
            for a in range(3):
                exchange(data.loop_frame[n, side, a], kept[3 + 3 * a :], away)


@jit(into_callers=True)
def exchange(here, kept, away):
    """Copy the numbers of `here` one way or the other."""
    for a in range(len(here)):
        if away:
            kept[a] = here[a]
        else:
            here[a] = kept[a]
