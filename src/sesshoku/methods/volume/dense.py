"""One island by dense matrices: the least squares of eq. (16) over the cone of eq. (25), and friction's rounds.

Unknowns of an overlap: its wrench (6), or while it slides with `sliding_solve="coupled"` the normal forces at its
corners, friction against the slip bound to them. A: Delassus matrix with the joints at work, b: free twist.
"""

from __future__ import annotations

from sesshoku.collision.overlap.overlaps import POINT
from sesshoku.compiled.jit import jit
from sesshoku.methods.volume.friction import LEAST_FORCE, correct, judge
from sesshoku.methods.volume.options import BY_TRACE, COUPLED
from sesshoku.methods.volume.work import FREED, HELD, SLIDES
from sesshoku.solvers.cone_qp import SOLVED, cone_qp

FRICTION_ROUNDS = 6
ROUNDING = 1e-12  # of the diagonal, added to it: redundant overlaps of light bodies stay solvable
CORNER_RIDGE = 1e-9  # the same for normal forces at more than three corners
# with "trace": of the ridge on friction force and spin torque. What friction creeps tilts a tall body; were it as soft
# as the depth, the overlap would become a wedge that covers part of the base only
TANGENT = 1e-2
NOISE = 1e-13  # of the island's largest normal impulse: less is none


@jit
def solve_dense(work, dt, contact_list):
    """Wrenches of an island from work.delassus and work.free into work.impulse; returns (solved, iterations)."""
    options = work.options
    m, solved, total = len(contact_list), True, 0
    for i in range(m):
        work.verdict[contact_list[i]] = HELD
    for round_ in range(FRICTION_ROUNDS):
        least_squares(work, contact_list, round_ == 0)
        status, iterations = solve_cone(work, contact_list)
        solved, total = status == SOLVED, total + iterations
        last = round_ == FRICTION_ROUNDS - 1 or options.sliding_solve != COUPLED
        if not judge_all(work, dt, contact_list, last, False):
            break
    return solved, total


@jit
def judge_all(work, dt, contact_list, last, large):
    """Verdicts on all wrenches that stick; True if some slide now and the island is to be solved again.

    What fails while another overlap slides may fail because the solution stopped that slip: as long as some of the
    failing ones were slipping before the step, only those change.
    """
    least, p = LEAST_FORCE * dt, work.impulse
    for i in range(len(contact_list)):
        least = max(least, NOISE * p[6 * i + 2])
    moving, failing = False, False
    for i in range(len(contact_list)):
        c = contact_list[i]
        w = p[6 * i : 6 * i + 6]
        if work.verdict[c] == SLIDES:
            continue
        verdict = judge(work, c, w, least)
        if verdict == SLIDES:
            failing = True
            moving = moving or work.moves[c] == 1
        work.judged[c] = verdict
    room = last or not failing or large or fits(work, contact_list, moving)
    for i in range(len(contact_list)):
        c = contact_list[i]
        w = p[6 * i : 6 * i + 6]
        if work.verdict[c] == SLIDES:
            if not w[2] > least and (last or not failing or not room):
                release(work, c, w)
            continue
        if work.judged[c] == FREED and (last or not failing or not room):
            release(work, c, w)
        elif work.judged[c] == SLIDES:
            if last or not room:
                work.verdict[c] = SLIDES
                correct(work, c, w)
            elif work.moves[c] == 1 or not moving:
                work.verdict[c] = SLIDES
    return failing and not last and room


@jit
def release(work, c, w):
    """No force."""
    work.verdict[c] = FREED
    for a in range(6):
        w[a] = 0.0


@jit
def fits(work, contact_list, moving):
    """Whether there is room for the corners of what slides from now on as unknowns."""
    unknowns = rows = 0
    for i in range(len(contact_list)):
        c = contact_list[i]
        corners = work.corner_start[c + 1] - work.corner_start[c]
        slides = work.verdict[c] == SLIDES or (work.judged[c] == SLIDES and (work.moves[c] == 1 or not moving))
        unknowns += corners if slides else 6
        rows += corners + 1
    return unknowns <= work.dense and rows <= work.row_capacity


@jit
def times_moment(S, wrench, keep, out):
    """Q (6, 6) of eqs. (8), (9) times a twist in the overlap's axes; keep 0: only the normal part of it."""
    s, m1, m2, a, b, d = S[0], S[1], S[2], S[3], S[4], S[5]
    vn, w1, w2 = wrench[2], wrench[3], wrench[4]
    out[2] = s * vn + m2 * w1 - m1 * w2
    out[3] = m2 * vn + d * w1 - b * w2
    out[4] = -m1 * vn - b * w1 + a * w2
    v1, v2, wn = keep * wrench[0], keep * wrench[1], keep * wrench[5]
    out[0] = s * v1 - m2 * wn
    out[1] = s * v2 + m1 * wn
    out[5] = -m2 * v1 + m1 * v2 + (a + d) * wn


@jit
def least_squares(work, contact_list, first):
    """(16): P = A Q A + regularisation and q = A (Q b - k c^T n), where the paper prints + K n^T c.

    Q of an overlap that slides has its normal part only. The regularisation is that of the first round.
    """
    overlaps = work.overlaps
    m, A, b, QA, P, q = (len(contact_list), work.delassus, work.free, work.gradient, work.hessian,
                         work.linear)
    n = 6 * m
    for i in range(m):
        c = contact_list[i]
        S, keep = overlaps.area_moment[c], 0.0 if work.verdict[c] == SLIDES else 1.0
        times_moment(S, b[6 * i : 6 * i + 6], keep, q[6 * i : 6 * i + 6])
        q[6 * i + 2] -= work.target[c, 0]
        q[6 * i + 3] -= work.target[c, 1]
        q[6 * i + 4] -= work.target[c, 2]
    find_touching(work, m)
    touching = work.touching
    for i in range(m):
        c = contact_list[i]
        S, keep = overlaps.area_moment[c], 0.0 if work.verdict[c] == SLIDES else 1.0
        for g in range(m):
            if touching[g, i]:
                for r in range(6 * g, 6 * g + 6):  # row r of (Q A)^T = A Q
                    times_moment(S, A[r, 6 * i : 6 * i + 6], keep, QA[r, 6 * i : 6 * i + 6])
    for g in range(m):
        for h in range(g + 1):
            for r in range(6 * g, 6 * g + 6):
                for s in range(6 * h, 6 * h + 6):
                    P[r, s] = 0.0
            for i in range(m):
                if touching[g, i] and touching[h, i]:
                    add_product(QA, A, 6 * g, 6 * h, 6 * i, P)
            for r in range(6 * g, 6 * g + 6):
                for s in range(6 * h, 6 * h + 6):
                    P[s, r] = P[r, s]
    for r in range(n):  # q = A (Q b - target)
        t = 0.0
        for s in range(n):
            t += A[r, s] * q[s]
        work.unknown[r] = t
    for r in range(n):
        q[r] = work.unknown[r]
    if first:
        for i in range(m):
            choose_ridge(work, i, contact_list[i], A[6 * i : 6 * i + 6, 6 * i : 6 * i + 6])
    for r in range(n):
        P[r, r] += work.ridge[r] + ROUNDING * P[r, r]


@jit
def find_touching(work, m):
    """touching (m, m): whether one overlap's wrench moves the other, that is, whether their block of A is not zero."""
    A, touching = work.delassus, work.touching
    for g in range(m):
        for h in range(g + 1):
            found = 0
            for r in range(6 * g, 6 * g + 6):
                for s in range(6 * h, 6 * h + 6):
                    if A[r, s] != 0.0:
                        found = 1
            touching[g, h] = touching[h, g] = found


@jit
def add_product(one, two, row, column, inner, out):
    """out[row, column] += one[row, inner] two[column, inner]^T, blocks of six by six that begin there."""
    for r in range(row, row + 6):
        for s in range(column, column + 6):
            t = 0.0
            for e in range(inner, inner + 6):
                t += one[r, e] * two[s, e]
            out[r, s] += t


@jit
def choose_ridge(work, i, c, A):
    """(10): lambda; or lambda times the mean diagonal of the overlap's own A Q A, A (6, 6): forces, torques apart."""
    overlaps, options = work.overlaps, work.options
    ridge, q, out = work.ridge, work.small[0], work.small[1]
    for half in range(2):
        mean = 0.0
        for e in range(3 * half, 3 * half + 3):
            for a in range(6):
                q[a] = A[a, e]
            times_moment(overlaps.area_moment[c], q, 1.0, out)
            for a in range(6):
                mean += q[a] * out[a] / 3.0
        by_trace = options.regularization_unit == BY_TRACE and mean > 0.0
        if not by_trace:
            mean = 1.0
        for e in range(3):
            friction = (e < 2) != (half == 1)  # f1, f2 and the torque about n
            ridge[6 * i + 3 * half + e] = options.regularization * mean * (TANGENT if by_trace and friction else 1.0)


@jit
def solve_cone(work, contact_list):
    """The programme in wrenches, or in corner forces for what slides; work.impulse gets the wrenches."""
    cone = work.cone
    m, start, mixed = len(contact_list), work.unknown_start, False
    at = 0
    for i in range(m):
        c = contact_list[i]
        start[i] = at
        if work.verdict[c] == SLIDES:
            mixed = True
            at += work.corner_start[c + 1] - work.corner_start[c]
        else:
            at += 6
    start[m] = at
    rows = cone_rows(work, contact_list)
    if not mixed:
        return cone_qp(at, (work.hessian, work.linear), rows, (work.cone_row, work.cone_at, 6), cone, work.impulse,
                       work.cone_price)
    change_unknowns(work, contact_list)
    status, iterations = cone_qp(at, (work.mixed, work.mixed_linear), rows, (work.cone_row, work.cone_at, 6), cone,
                                 work.unknown, work.cone_price)
    for i in range(m):
        c = contact_list[i]
        p = work.impulse[6 * i : 6 * i + 6]
        for a in range(6):
            p[a] = 0.0 if work.verdict[c] == SLIDES else work.unknown[start[i] + a]
        if work.verdict[c] == SLIDES:
            for l in range(work.corner_start[c], work.corner_start[c + 1]):
                x = max(work.unknown[start[i] + l - work.corner_start[c]], 0.0)
                for a in range(6):
                    p[a] += x * work.pull[l, a]
    return status, iterations


@jit
def change_unknowns(work, contact_list):
    """B^T P B and B^T q, where B maps corner forces of what slides to wrenches (and wrenches to themselves)."""
    m, start, P, half, out = len(contact_list), work.unknown_start, work.hessian, work.half_mixed, work.mixed
    n, z = 6 * m, work.unknown_start[m]
    for r in range(n):  # P B
        for i in range(m):
            c, first = contact_list[i], start[i]
            for k in range(start[i + 1] - first):
                if work.verdict[c] == SLIDES:
                    pull, t = work.pull[work.corner_start[c] + k], 0.0
                    for a in range(6):
                        t += P[r, 6 * i + a] * pull[a]
                    half[r, first + k] = t
                else:
                    half[r, first + k] = P[r, 6 * i + k]
    for i in range(m):
        c, first = contact_list[i], start[i]
        for k in range(start[i + 1] - first):
            row, t = out[first + k], 0.0
            if work.verdict[c] == SLIDES:
                pull = work.pull[work.corner_start[c] + k]
                for s in range(z):
                    row[s] = 0.0
                for a in range(6):
                    t += pull[a] * work.linear[6 * i + a]
                    source, f = half[6 * i + a], pull[a]
                    for s in range(z):
                        row[s] += f * source[s]
                row[first + k] += CORNER_RIDGE * row[first + k]
            else:
                t = work.linear[6 * i + k]
                for s in range(z):
                    row[s] = half[6 * i + k, s]
            work.mixed_linear[first + k] = t


@jit
def cone_rows(work, contact_list):
    """(25): normal force not negative, centre of pressure inside every edge; corner forces not negative."""
    overlaps = work.overlaps
    rows, G, at = 0, work.cone_row, work.cone_at
    for i in range(len(contact_list)):
        c, start = contact_list[i], work.unknown_start[i]
        first, last = work.corner_start[c], work.corner_start[c + 1]
        if work.verdict[c] == SLIDES:
            for k in range(last - first):
                for a in range(6):
                    G[rows, a] = 1.0 if a == 0 else 0.0
                at[rows] = start + k
                rows += 1
            continue
        for a in range(6):
            G[rows, a] = 1.0 if a == 2 else 0.0
        at[rows] = start
        rows += 1
        if overlaps.kind[c] == POINT:
            continue
        for l in range(first, last):
            here, there = work.corner[l], work.corner[l + 1 if l + 1 < last else first]
            d1, d2 = there[0] - here[0], there[1] - here[1]
            size = (d1 * d1 + d2 * d2) ** 0.5
            if size > 0.0:
                d1, d2, row = d1 / size, d2 / size, G[rows]
                # (24) within this edge, times f_n
                row[0], row[1], row[2], row[3], row[4], row[5] = 0.0, 0.0, d2 * here[0] - d1 * here[1], d1, d2, 0.0
                at[rows] = start
                rows += 1
    return rows
