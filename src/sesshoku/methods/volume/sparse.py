"""One large island over sparse blocks: the same programme as `dense` builds, by an interior-point method.

With y = Z^T p (Z: rows in half form, p: wrenches) the twists are free + Z y, and the programme
    min 1/2 (free + Z y)^T Q (free + Z y) - target^T Z y + 1/2 x^T R x    s.t.  K y = Z^T B x + g,  G x >= 0
has blocks of trees only: x are the unknowns of the overlaps (wrenches, or corner forces of what slides: p = B x;
a point contact has no torque), R the
regularisation, K = 1 + clamped joint rows as stiff springs, g what the other joint rows give. A Newton step of its
optimality conditions, the local unknowns eliminated overlap by overlap (W = B (R + G^T D G)^-1 B^T), is
    [ Z^T Q Z   K          ] [dy  ]   [-r1              ]
    [ K        -Z^T W Z    ] [deta] = [-r2 + Z^T B W h  ]
with one block row per tree, factored by solvers.block_lu. Mehrotra's predictor and corrector, from the inside of every
cone (pressure at the barycentre), until the gap is 1e-10 of its start.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.methods.volume.blocks import (
    CLAMPED,
    JOINT_SOFTNESS,
    add_blocks,
    add_stiffness,
    local_factor,
    local_solve,
    times_stiffness,
    to_wrench,
    transpose,
)
from sesshoku.methods.volume.dense import CORNER_RIDGE, cone_rows, times_moment
from sesshoku.methods.volume.work import SLIDES
from sesshoku.solvers import block_lu
from sesshoku.solvers.problem import push_contact, push_joint, read_contact

MOST_STEPS = 60
GAP = 1e-10  # of its start


@jit
def interior_point(model, work, contact_list, joint_list, dof_list):
    """eqs. (16), (25): unknowns of the island, wrenches into work.impulse; returns (converged, Newton steps)."""
    sparse = work.sparse
    m, chains = len(contact_list), model.row_dof
    x, z, s = work.unknown, sparse.slack, sparse.dual
    rows = unknowns(work, contact_list)
    sparse.info[2] = rows
    start_inside(work, contact_list, rows)
    right_sides(work, chains, contact_list, joint_list, dof_list)
    gap0, converged, steps = gap(rows, z, s), False, 0
    while steps < MOST_STEPS and not converged:
        residual = residuals(work, chains, contact_list, joint_list, dof_list)
        mu = gap(rows, z, s)
        if mu <= GAP * gap0 and residual <= 1e-9:
            converged = True
            break
        if not factor_system(work, chains, contact_list, joint_list, rows):
            break
        for k in range(rows):
            sparse.correct[k] = 0.0
        newton(work, chains, contact_list, dof_list, rows, 0.0)
        length = step_length(rows, sparse)
        ahead = 0.0
        for k in range(rows):
            ahead += (z[k] + length * sparse.slack_step[k]) * (s[k] + length * sparse.dual_step[k])
            sparse.correct[k] = sparse.slack_step[k] * sparse.dual_step[k]
        share = (ahead / rows / mu) ** 3
        newton(work, chains, contact_list, dof_list, rows, share * mu)
        length = min(1.0, 0.995 * step_length(rows, sparse))
        if not finite(rows, sparse):  # rounding has the last word: the point before is the best there is
            break
        for k in range(rows):
            z[k] += length * sparse.slack_step[k]
            s[k] += length * sparse.dual_step[k]
        for k in range(work.unknown_start[m]):
            x[k] += length * sparse.step[k]
        for n in range(len(dof_list)):
            for k in range(dof_list[n, 0], dof_list[n, 1]):
                sparse.y[k] += length * sparse.y_step[k]
                sparse.eta[k] += length * sparse.eta_step[k]
        steps += 1
    for i in range(m):
        to_wrench(work, i, contact_list[i], x, work.impulse[6 * i : 6 * i + 6])
    return converged, steps


@jit
def unknowns(work, contact_list):
    """Places of the unknowns and rows of the cones; how many rows."""
    at = 0
    for i in range(len(contact_list)):
        c = contact_list[i]
        work.unknown_start[i] = at
        at += work.corner_start[c + 1] - work.corner_start[c] if work.verdict[c] == SLIDES else 6
    work.unknown_start[len(contact_list)] = at
    return cone_rows(work, contact_list)


@jit
def finite(rows, sparse):
    """Whether the steps of slacks and duals are numbers."""
    total = 0.0
    for k in range(rows):
        total += 0.0 * sparse.slack_step[k] + 0.0 * sparse.dual_step[k]
    return total == 0.0


@jit
def gap(rows, z, s):
    total = 0.0
    for k in range(rows):
        total += z[k] * s[k]
    return total / rows


@jit
def start_inside(work, contact_list, rows):
    """Pressure at every barycentre, of the size that would stop the overlap by itself; equal products of the rows."""
    overlaps, sparse = work.overlaps, work.sparse
    m, x, largest, energy = len(contact_list), work.unknown, 1e-12, 1e-300
    for i in range(m):
        c = contact_list[i]
        push = abs(work.free[6 * i + 2]) + work.target[c, 0] / max(overlaps.area_moment[c, 0], 1e-300)
        largest = max(largest, push / max(sparse.mean_normal[i], 1e-300))
        energy += overlaps.area_moment[c, 0] * push * push
    for i in range(m):
        c, start, end = contact_list[i], work.unknown_start[i], work.unknown_start[i + 1]
        for k in range(start, end):
            x[k] = largest / (end - start) if work.verdict[c] == SLIDES else 0.0
        if work.verdict[c] != SLIDES:
            x[start + 2] = largest
    for k in range(rows):
        t, at = 0.0, work.cone_at[k]
        for a in range(6):
            if work.cone_row[k, a] != 0.0:
                t += work.cone_row[k, a] * x[at + a]
        if not t > 1e-9 * largest:  # a barycentre on an edge, to rounding
            t = 1e-9 * largest
        sparse.slack[k] = t
        sparse.dual[k] = energy / rows / t
    for k in range(len(sparse.y)):
        sparse.y[k] = sparse.eta[k] = 0.0


@jit
def right_sides(work, chains, contact_list, joint_list, dof_list):
    """c1 = Z^T (target - Q free) and g = what joint rows give: bounds reached, and the springs' rest."""
    problem, overlaps, sparse = work.problem, work.overlaps, work.sparse
    c1, g = sparse.c1, sparse.g
    for n in range(len(dof_list)):
        for k in range(dof_list[n, 0], dof_list[n, 1]):
            c1[k] = g[k] = 0.0
    t = sparse.small
    for i in range(len(contact_list)):
        c = contact_list[i]
        keep = 0.0 if work.verdict[c] == SLIDES else 1.0
        times_moment(overlaps.area_moment[c], work.free[6 * i : 6 * i + 6], keep, t)
        push_contact(chains, problem, 2 * c, -t[0], -t[1], work.target[c, 0] - t[2], c1)
        push_contact(chains, problem, 2 * c + 1, work.target[c, 1] - t[3], work.target[c, 2] - t[4], -t[5], c1)
    for i in range(len(joint_list)):
        j = joint_list[i]
        if work.joint_state[0, i] != CLAMPED:
            push_joint(chains, problem, j, problem.joint_impulse[j], g)
        elif problem.joint_block[j] > 0.0:
            push_joint(chains, problem, j, -problem.joint_free[j] / (JOINT_SOFTNESS * problem.joint_block[j]), g)


@jit
def residuals(work, chains, contact_list, joint_list, dof_list):
    """r1, r2 (dofs), r3 (unknowns) of the present point; the largest, each relative to what it is made of."""
    problem, sparse, overlaps = work.problem, work.sparse, work.overlaps
    y, eta, r1, r2, r3 = sparse.y, sparse.eta, sparse.r1, sparse.r2, sparse.r3
    times_stiffness(work, chains, joint_list, dof_list, eta, r1)
    times_stiffness(work, chains, joint_list, dof_list, y, r2)
    for n in range(len(dof_list)):
        for k in range(dof_list[n, 0], dof_list[n, 1]):
            r1[k] -= sparse.c1[k]
            r2[k] -= sparse.g[k]
    u, w = sparse.small[:6], sparse.small[6:12]
    worst3, size3 = 0.0, 1e-300
    for i in range(len(contact_list)):
        c, start = contact_list[i], work.unknown_start[i]
        n = work.unknown_start[i + 1] - start
        keep = 0.0 if work.verdict[c] == SLIDES else 1.0
        u[0], u[1], u[2] = read_contact(chains, problem, 2 * c, y)
        u[3], u[4], u[5] = read_contact(chains, problem, 2 * c + 1, y)
        times_moment(overlaps.area_moment[c], u, keep, w)
        push_contact(chains, problem, 2 * c, w[0], w[1], w[2], r1)
        push_contact(chains, problem, 2 * c + 1, w[3], w[4], w[5], r1)
        to_wrench(work, i, c, work.unknown, w)
        push_contact(chains, problem, 2 * c, -w[0], -w[1], -w[2], r2)
        push_contact(chains, problem, 2 * c + 1, -w[3], -w[4], -w[5], r2)
        for a in range(6):
            w[a] *= work.ridge[6 * i + a]
        u[0], u[1], u[2] = read_contact(chains, problem, 2 * c, eta)
        u[3], u[4], u[5] = read_contact(chains, problem, 2 * c + 1, eta)
        for k in range(n):
            pull = transpose(work, i, c, u, k)
            r3[start + k] = transpose(work, i, c, w, k) - pull
            if work.verdict[c] == SLIDES:
                r3[start + k] += CORNER_RIDGE * sparse.mean[i] * work.unknown[start + k]
            size3 = max(size3, abs(pull))
    for k in range(sparse.info[2]):
        row, at = work.cone_row[k], work.cone_at[k]
        for a in range(6):
            if row[a] != 0.0:
                r3[at + a] -= row[a] * sparse.dual[k]
    for k in range(work.unknown_start[len(contact_list)]):
        worst3 = max(worst3, abs(r3[k]))
    worst1, size1, worst2, size2 = 0.0, 1e-300, 0.0, 1e-300
    for n in range(len(dof_list)):
        for k in range(dof_list[n, 0], dof_list[n, 1]):
            worst1, size1 = max(worst1, abs(r1[k])), max(size1, abs(sparse.c1[k]), abs(eta[k]))
            worst2, size2 = max(worst2, abs(r2[k])), max(size2, abs(sparse.g[k]), abs(y[k]))
    return max(worst1 / size1, worst2 / size2, worst3 / size3)


@jit
def factor_system(work, chains, contact_list, joint_list, rows):
    """Assemble and factor the system of a Newton step; False if that fails."""
    overlaps, sparse = work.overlaps, work.sparse
    for k in range(sparse.info[1]):
        sparse.arena[k] = 0.0
    add_stiffness(work, chains, joint_list)
    Q, unit, k = sparse.moment, sparse.small, 0
    for i in range(len(contact_list)):
        c = contact_list[i]
        keep = 0.0 if work.verdict[c] == SLIDES else 1.0
        for a in range(6):
            for b in range(6):
                unit[b] = 1.0 if a == b else 0.0
            times_moment(overlaps.area_moment[c], unit[:6], keep, Q[a])
        first = k
        while k < rows and work.cone_at[k] < work.unknown_start[i + 1]:
            k += 1
        sparse.first_row[i], sparse.first_row[i + 1] = first, k
        local_factor(work, i, c, first, k)
        add_blocks(work, chains, c, Q, 0, 0, 1.0)
        add_blocks(work, chains, c, sparse.weight[i], 1, 1, -1.0)
    return block_lu.factor(sparse.info[0], sparse.block_size, sparse.block_start,
                           (sparse.order, sparse.neighbour_start, sparse.neighbour, sparse.place), sparse.arena,
                           sparse.pivot)


@jit
def newton(work, chains, contact_list, dof_list, rows, mu):
    """Steps of y, eta, x, slack and dual towards products mu, `correct` taken off."""
    problem, sparse = work.problem, work.sparse
    z, s, h, rhs = sparse.slack, sparse.dual, sparse.h, sparse.rhs
    for k in range(work.unknown_start[len(contact_list)]):
        h[k] = -sparse.r3[k]
    for k in range(rows):
        t = (mu - z[k] * s[k] - sparse.correct[k]) / z[k]
        row, at = work.cone_row[k], work.cone_at[k]
        for a in range(6):
            if row[a] != 0.0:
                h[at + a] += row[a] * t
    y2 = sparse.eta_step
    for n in range(len(dof_list)):
        for k in range(dof_list[n, 0], dof_list[n, 1]):
            y2[k] = -sparse.r2[k]
    w = sparse.small[:6]
    for i in range(len(contact_list)):
        c = contact_list[i]
        n = local_factor(work, i, c, sparse.first_row[i], sparse.first_row[i + 1])
        start = work.unknown_start[i]
        for k in range(n):
            sparse.step[start + k] = h[start + k]
        local_solve(n, sparse.local, sparse.step[start : start + n])
        to_wrench(work, i, c, sparse.step, w)
        push_contact(chains, problem, 2 * c, w[0], w[1], w[2], y2)
        push_contact(chains, problem, 2 * c + 1, w[3], w[4], w[5], y2)
    for b in range(sparse.info[0]):
        at, n = sparse.block_start[b], sparse.block_size[b] // 2
        for k in range(n):
            rhs[at + k], rhs[at + n + k] = -sparse.r1[at // 2 + k], y2[at // 2 + k]
    block_lu.solve(sparse.info[0], sparse.block_size, sparse.block_start,
                   (sparse.order, sparse.neighbour_start, sparse.neighbour, sparse.place), sparse.arena, sparse.pivot,
                   rhs)
    for b in range(sparse.info[0]):
        at, n = sparse.block_start[b], sparse.block_size[b] // 2
        for k in range(n):
            sparse.y_step[at // 2 + k], sparse.eta_step[at // 2 + k] = rhs[at + k], rhs[at + n + k]
    for i in range(len(contact_list)):
        c = contact_list[i]
        n = local_factor(work, i, c, sparse.first_row[i], sparse.first_row[i + 1])
        start = work.unknown_start[i]
        w[0], w[1], w[2] = read_contact(chains, problem, 2 * c, sparse.eta_step)
        w[3], w[4], w[5] = read_contact(chains, problem, 2 * c + 1, sparse.eta_step)
        for k in range(n):
            sparse.step[start + k] = h[start + k] + transpose(work, i, c, w, k)
        local_solve(n, sparse.local, sparse.step[start : start + n])
    for k in range(rows):
        t, row, at = 0.0, work.cone_row[k], work.cone_at[k]
        for a in range(6):
            if row[a] != 0.0:
                t += row[a] * sparse.step[at + a]
        sparse.slack_step[k] = t
        sparse.dual_step[k] = (mu - z[k] * s[k] - sparse.correct[k] - s[k] * t) / z[k]


@jit
def step_length(rows, sparse):
    """The longest share of the step that keeps slacks and duals from turning negative, at most 1."""
    length = 1.0
    for k in range(rows):
        if sparse.slack_step[k] < 0.0:
            length = min(length, -sparse.slack[k] / sparse.slack_step[k])
        if sparse.dual_step[k] < 0.0:
            length = min(length, -sparse.dual[k] / sparse.dual_step[k])
    return length
