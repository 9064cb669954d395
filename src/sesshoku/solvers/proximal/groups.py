"""Large islands: sweeps as long as they promise to end, then Newton's method group by group.

One Newton method for all of a pile waits for its worst tower: one line search, one sigma, a pass undone for everybody.
Sweeps (NNCG, pgs.py) settle most of it quickly, and all of it where bodies are round; what they settle slowly is load
that has to pass from one corner to another through several bodies. So:

    1. sweeps in batches of `batch`; on while  residual * rate^ahead <= tolerance,  rate: of the last batch
    2. groups: bodies joined by contacts that carry load, and by joint rows
    3. every group with a violated contact: passes of Newton's method over all contacts of its bodies, with a sigma of
       its own, impulses elsewhere held; the bodies around it move along. First sigma: residual over mean g x_n, so that
       the first images are off by no more than the impulses themselves
    4. again, until the island is below the tolerance, `rounds` times at most; the best is kept

In motion a group whose factor takes more than `group_flops` is swept on instead. All budgets are counts.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.compiled.sets import find
from sesshoku.solvers.pgs import solve_rows
from sesshoku.solvers.problem import CHAIN
from sesshoku.solvers.proximal.local import contact_violation
from sesshoku.solvers.proximal.passes import SIGMA_MOST, outer_passes, project_all, residual_of, rounding_floor
from sesshoku.solvers.proximal.primal import analyze_island
from sesshoku.solvers.proximal.rolling import rolling_violation
from sesshoku.solvers.proximal.rows import load_island, push_rows, read_rows, store_island, velocities
from sesshoku.solvers.proximal.work import CONTACT_BLOCKS, FORM_USED, GROUPS_VISITED, PRIMAL, SWEEPS_USED

NOBODY = -1
WORSE = 1.5  # of the start's residual: more is no start for Newton
UNTIL_THEN = 1000.0  # batches that sweeps may still need where there is nothing else to do


@jit
def solve_large(chains, problem, mu, lists, options, work, tol, residual):
    """Impulses of a large island from work.impulse, into work.impulse; returns (Newton steps, residual).

    problem.y belongs to them at the start and at the end.
    """
    contact_list, joint_list = lists[0], lists[1]
    m, nj, steps, best = len(contact_list), len(joint_list), 0, work.best
    rows = 3 * m + nj
    store_island(problem, contact_list, joint_list, work.impulse)
    if residual > options.quiet:
        for k in range(rows):
            best[k] = work.impulse[k]
        swept = sweep_on(chains, problem, mu, lists, options, work, tol, residual, options.ahead)
        if not swept <= WORSE * residual:
            swept = go_back(chains, problem, lists, work)
        residual = swept
    if residual < tol:
        return 0, residual
    least, most = residual, options.group_flops if residual > options.quiet else options.most_flops
    for k in range(rows):
        best[k] = work.impulse[k]
    for _ in range(options.rounds):
        find_groups(chains, problem, lists, work)  # anew: load may have passed on to others
        made, dear = visit_groups(chains, problem, mu, lists, work, tol, most)
        steps += made
        residual = load_all(chains, problem, mu, lists, work)
        if dear and residual >= tol:
            residual = sweep_on(chains, problem, mu, lists, options, work, tol, residual, UNTIL_THEN)
        if residual < least:
            least = residual
            for k in range(rows):
                best[k] = work.impulse[k]
        if residual < max(tol, rounding_floor(m, nj, work)):
            break
    if residual > least:
        residual = go_back(chains, problem, lists, work)
    return steps, residual


@jit
def go_back(chains, problem, lists, work):
    """The impulses of work.best again; returns their residual."""
    contact_list, joint_list = lists[0], lists[1]
    for k in range(3 * len(contact_list) + len(joint_list)):
        work.impulse[k] = work.best[k]
    store_island(problem, contact_list, joint_list, work.impulse)
    velocities(chains, problem, lists, work)
    return residual_of(len(contact_list), len(joint_list), work)


@jit
def load_all(chains, problem, mu, lists, work):
    """The island as it stands in the problem, brought into its cones; y and velocities anew. Returns the residual."""
    contact_list, joint_list = lists[0], lists[1]
    load_island(problem, mu, contact_list, joint_list, work)
    project_all(len(contact_list), len(joint_list), work)
    velocities(chains, problem, lists, work)
    store_island(problem, contact_list, joint_list, work.impulse)
    return residual_of(len(contact_list), len(joint_list), work)


@jit
def sweep_on(chains, problem, mu, lists, options, work, tol, residual, ahead):
    """Batches of NNCG as long as they promise to reach `tol` within `ahead` more of them; returns the residual."""
    for n in range(options.batches):
        made = solve_rows(chains, problem, (work.law, mu), lists, (False, False, True), (options.batch, 0.0), work,
                          problem.y)
        work.info[SWEEPS_USED] += min(made, options.batch)
        new = load_all(chains, problem, mu, lists, work)
        rate, residual = new / residual, new
        if residual < tol or n > 0 and not (rate < 1.0 and residual * rate**ahead <= tol):
            break
    return residual


# ---- who belongs together --------------------------------------------------------------------------------------------


@jit
def side_tree(chains, problem, c, side, work):
    """First dof of the tree on a side of contact c, NOBODY where it does not move."""
    k = problem.body[c, side]
    if k >= 0:
        return work.tree_first[k]
    return work.tree_first[chains[problem.span[c, side, 0]]] if k == CHAIN else NOBODY


@jit
def find_groups(chains, problem, lists, work):
    """work.parent: groups of trees along loaded contacts and joint rows; work.group of the contacts' sides."""
    contact_list, joint_list, dof_list = lists
    parent, first = work.parent, work.tree_first
    for r in range(len(dof_list)):
        for k in range(dof_list[r, 0], dof_list[r, 1]):
            first[k] = parent[k] = dof_list[r, 0]
    m0 = work.info[CONTACT_BLOCKS]
    for i in range(m0):
        c = contact_list[i]
        for side in range(2):
            work.group[i, side] = side_tree(chains, problem, c, side, work)
        if work.group[i, 0] >= 0 and work.group[i, 1] >= 0 and work.impulse[3 * i + 2] > 0.0:
            unite(parent, work.group[i, 0], work.group[i, 1])
    for i in range(len(joint_list)):
        span, before = problem.joint_span[joint_list[i]], NOBODY
        for side in range(2):
            for e in range(span[side, 1]):
                k = first[chains[span[side, 0] + e]]
                if before >= 0:
                    unite(parent, before, k)
                before = k
    for i in range(m0):
        for side in range(2):
            if work.group[i, side] >= 0:
                work.group[i, side] = find(parent, work.group[i, side])
    find_bad(chains, problem, lists, work)


@jit
def unite(parent, a, b):
    a, b = find(parent, a), find(parent, b)
    if a != b:
        parent[max(a, b)] = min(a, b)


@jit
def find_bad(chains, problem, lists, work):
    """work.violation: the largest violation (m/s) among the contacts and joint rows of each group, at its tree."""
    contact_list, joint_list, dof_list = lists
    m, x, u, scale, worst_of = len(contact_list), work.impulse, work.speed, work.scale, work.violation
    m0 = work.info[CONTACT_BLOCKS]
    everywhere = rolling_violation(m0, m, work) if m > m0 else 0.0
    for r in range(len(dof_list)):
        for k in range(dof_list[r, 0], dof_list[r, 1]):
            worst_of[k] = everywhere
    for i in range(m0):
        k = 3 * i
        if scale[i] <= 0.0:
            continue
        v = contact_violation(work.mu[i], scale[i], (x[k], x[k + 1], x[k + 2]), (u[k], u[k + 1], u[k + 2]))
        for side in range(2):
            g = work.group[i, side]
            if g >= 0:
                worst_of[g] = max(worst_of[g], v)
    for i in range(len(joint_list)):
        k, s, j = 3 * m + i, scale[m + i], joint_list[i]
        if s > 0.0:
            g = find(work.parent, work.tree_first[chains[problem.joint_span[j, 0, 0]]])
            worst_of[g] = max(worst_of[g], s * abs(x[k] - min(max(x[k] - u[k] / s, work.low[i]), work.high[i])))


# ---- Newton's method of a group --------------------------------------------------------------------------------------


@jit
def visit_groups(chains, problem, mu, lists, work, tol, most):
    """Newton's method of every group whose contacts are violated; returns (Newton steps, some were too dear).

    most: flops of a factor.
    """
    contact_list, dof_list = lists[0], lists[2]
    m, m0, steps, dear = len(contact_list), work.info[CONTACT_BLOCKS], 0, False
    for r in range(len(dof_list)):
        g = dof_list[r, 0]
        if dof_list[r, 1] == g or work.parent[g] != g or work.violation[g] <= 0.5 * tol:
            continue
        work.info[GROUPS_VISITED] += 1
        sub = gather_group(chains, problem, lists, (m0, m), work, g)
        made, found = group_newton(chains, problem, mu, sub, work, 0.5 * tol, most)
        steps, dear = steps + made, dear or not found
    return steps, dear


@jit
def gather_group(chains, problem, lists, sizes, work, g):
    """Lists of the contacts that touch a tree of group g, of its joint rows, and of all trees that these act on."""
    contact_list, joint_list, dof_list = lists
    m0, m = sizes
    count = joints = trees = 0
    for r in range(len(dof_list)):
        k = dof_list[r, 0]
        if dof_list[r, 1] > k:
            work.member[k] = 1 if find(work.parent, k) == g else 0
    for i in range(m0):
        work.taken[i] = 1 if work.group[i, 0] == g or work.group[i, 1] == g else 0
        if work.taken[i] == 1:
            c = contact_list[i]
            work.group_contact[count] = c
            count += 1
            for side in range(2):
                k = side_tree(chains, problem, c, side, work)
                if k >= 0:
                    work.member[k] = 1
    place = 0
    for i in range(m0, m):  # rolling blocks stand in the order of their contacts
        c = contact_list[i] - problem.contact_capacity
        while contact_list[place] != c:
            place += 1
        if work.taken[place] == 1:
            work.group_contact[count] = contact_list[i]
            count += 1
    for i in range(len(joint_list)):
        k = work.tree_first[chains[problem.joint_span[joint_list[i], 0, 0]]]
        if find(work.parent, k) == g:
            work.group_joint[joints] = joint_list[i]
            joints += 1
    for r in range(len(dof_list)):
        k = dof_list[r, 0]
        if dof_list[r, 1] > k and work.member[k] == 1:
            work.group_dof[trees, 0], work.group_dof[trees, 1] = k, dof_list[r, 1]
            trees += 1
    return work.group_contact[:count], work.group_joint[:joints], work.group_dof[:trees]


@jit
def group_newton(chains, problem, mu, lists, work, tol, most):
    """Passes over the rows of a group, what others do to its trees held; returns (steps, its factor is not too dear).

    The impulses stand in the problem, and problem.y belongs to those of the island, before and after.
    """
    contact_list, joint_list, dof_list = lists
    m, nj, y, rest, steps, options = len(contact_list), len(joint_list), problem.y, work.y_rest, 0, work.group_options
    load_island(problem, mu, contact_list, joint_list, work)
    push_rows(chains, problem, lists, work, work.impulse, work.y_image)
    for r in range(len(dof_list)):
        for k in range(dof_list[r, 0], dof_list[r, 1]):
            rest[k] = y[k] - work.y_image[k]
            y[k] = work.y_image[k]
    read_rows(chains, problem, lists, work, rest, work.change)
    read_rows(chains, problem, lists, work, y, work.speed)
    for k in range(3 * m + nj):
        work.free[k] += work.change[k]
        work.speed[k] += work.free[k]
    residual, affordable = residual_of(m, nj, work), True
    if residual >= tol:
        flops = analyze_island(chains, problem, lists, work)
        affordable = 0.0 <= flops <= most
        if affordable:
            work.info[FORM_USED] = PRIMAL
            steps, residual = outer_passes(chains, problem, lists, options, work, (options.cap, tol),
                                           group_sigma(residual, options, work), residual)
            store_island(problem, contact_list, joint_list, work.impulse)
    for r in range(len(dof_list)):
        for k in range(dof_list[r, 0], dof_list[r, 1]):
            y[k] += rest[k]
    return steps, affordable


@jit
def group_sigma(residual, options, work):
    """First sigma: images are off by no more than the mean of the impulses."""
    load, count = 0.0, 0
    for i in range(work.info[CONTACT_BLOCKS]):
        if work.impulse[3 * i + 2] > 0.0:
            load += work.scale[i] * work.impulse[3 * i + 2]
            count += 1
    return min(SIGMA_MOST, max(options.sigma_least, residual * max(count, 1) / max(load, 1e-300)))
