"""Coulomb's law solved exactly: proximal (augmented Lagrangian) Newton on the true complementarity problem.

    u = u_free + Z Z^T x,    0 <= x_n  complementary to  u_n >= 0,    |x_t| <= mu x_n,    x_t = -mu x_n u_t/|u_t| if u_t
per contact, (E1)-(E5) of docs/methods/exact.md, without convex relaxation; joint rows with bounds (limits, friction,
loops, mimics) beside them, and the rolling blocks of contacts with rolling or torsional friction (rolling.py).

An outer pass replaces the law around the present impulses x_k by a compliant one (local.py: every velocity has
one image), whose solution is the fixed point y = Z^T image(u_free + Z y), found by Newton's method with a line search.
The image becomes the next x_k; where the passes come to rest x_k obeys the law itself. The compliance sigma shrinks
while passes settle quickly and grows, the pass being undone, where one does not settle.
A solve that starts nearly right, with nothing that slips, tries first whether all contacts can simply stay as they are:
one linear system (`hold_still`), which is all that a standing or walking robot needs in most steps.
Starting at zero, redundant contacts share their load evenly (the smallest sum of g x^2); no sweeps come first, which
would break that.

The Newton direction has two forms, chosen by their cost: `dual` (dense, in the impulses of active contacts)
and `primal` (block-sparse, in the velocities of the island's trees). Iterates are the same up to rounding.
Islands of many trees and more than `large` contacts are swept first, and go by groups of bodies then (groups.py).
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.solvers.block_sweeps import sweep_exactly
from sesshoku.solvers.island_matrix import fill_contacts, fill_joints
from sesshoku.solvers.problem import CHAIN
from sesshoku.solvers.proximal.dual import add_sticking, dense_velocities, factor_sticking
from sesshoku.solvers.proximal.groups import solve_large
from sesshoku.solvers.proximal.local import all_hold, law_residual
from sesshoku.solvers.proximal.passes import (
    SIGMA_MOST,
    SIGMA_QUIET,
    first_sigma,
    outer_passes,
    project_all,
    residual_of,
    rounding_floor,
)
from sesshoku.solvers.proximal.primal import analyze_island
from sesshoku.solvers.proximal.rolling import rolling_holds, rolling_violation
from sesshoku.solvers.proximal.rows import load_island, push_rows, store_island, velocities
from sesshoku.solvers.proximal.work import (
    AUTO,
    CONTACT_BLOCKS,
    DUAL,
    FORM_USED,
    NEWTON_STEPS,
    PRIMAL,
    SWEEPS_FIRST,
    SWEEPS_USED,
)

# of the tolerance: what islands of many trees are solved to. What is left of a stack's velocities stays from step to
# step as long as it is called solved, and adds up to a drift; and most Newton steps leave nothing but rounding
FINER = 0.1
STEADY = 1e-3  # m/s: a start from which all contacts may keep their states
REFINEMENTS = 6  # solves with the factor of that
STALLED_HELD = 2  # of them that hardly lower the residual


@jit
def solve_island(chains, problem, mu, lists, options, work):
    """Solve the contacts and joint rows of one island; returns (Newton steps, residual in m/s, whether it is solved).

    chains: Model.row_dof. problem: rows, free velocities and bounds (problem.py); its impulses are the start (last
    step's, or zero; they are brought into their cones first) and the result, and problem.y of the island's dofs comes
    out as Z^T x of them, whatever it held. mu (C): friction coefficient of each contact. contact_list, joint_list:
    rows of the island; contact_list may end with rolling blocks of its contacts, in their order. dof_list (n, 2):
    ranges of dofs of its trees, all trees that its rows reach. options: NewtonNumbers. work: NewtonWork;
    work.info tells more about the solve.

    The residual is zero iff complementarity, cone and direction of friction hold in every row. Where no solution exists
    (a body squeezed between walls that close) the result is the bounded answer of the first compliant pass; such
    impulses make a poor start of the next step, so start it at zero where this one was not solved.
    """
    contact_list, joint_list, dof_list = lists
    m, nj, info, y, tol = len(contact_list), len(joint_list), work.info, problem.y, options.tolerance
    for k in range(len(info)):
        info[k] = 0
    if len(dof_list) > options.few:
        tol *= FINER
    load_island(problem, mu, contact_list, joint_list, work)
    project_all(m, nj, work)
    velocities(chains, problem, lists, work)
    residual = residual_of(m, nj, work)
    if residual < max(tol, rounding_floor(m, nj, work)):
        store_island(problem, contact_list, joint_list, work.impulse)
        return 0, residual, True
    form = choose_form(chains, problem, lists, options, work)
    if len(dof_list) > options.crowd or form == SWEEPS_FIRST and len(dof_list) > options.few:
        tol = max(tol, min(options.moving, options.share * residual))
    if form == SWEEPS_FIRST:
        steps, residual = solve_large(chains, problem, mu, lists, options, work, tol, residual)
        info[NEWTON_STEPS] = steps
        return steps, residual, residual < max(tol, options.accept, rounding_floor(m, nj, work))
    cap = int(options.cap if len(dof_list) <= options.few else options.cap_many)
    if len(dof_list) > options.few:
        tol = max(tol, min(0.1 * options.accept, options.relative * residual))
    steps, held = 0, False
    if info[FORM_USED] == DUAL and (residual < STEADY or nj > 0 and contact_residual(m, work) < STEADY) and (
            hold_all(m, work)):
        steps, residual, held = hold_still(m, nj, tol, options.accept, residual, work)
        if held:
            push_rows(chains, problem, lists, work, work.impulse, y)
    if not held:
        sigma = first_sigma(residual, options, work)
        more, residual = outer_passes(chains, problem, lists, options, work, (cap, tol), sigma, residual)
        steps += more
    wanted, tol = tol, max(tol, rounding_floor(m, nj, work))
    if residual >= max(tol, options.accept):
        more, residual = rescue(chains, problem, mu, lists, options, work, (cap, wanted), residual)
        steps += more
    store_island(problem, contact_list, joint_list, work.impulse)
    info[NEWTON_STEPS] = steps
    return steps, residual, residual < max(tol, options.accept)


@jit
def hold_still(m, nj, tol, accept, residual, work):
    """(E19): impulses that stop all that is loaded, if that solves it; returns (Newton steps, residual, solved).

    The usual case of a robot that stands or walks: no contact changes its state, and the law is a linear system. One
    factor serves several solves, as long as each lowers the residual tenfold; or until it stays where it is below
    `accept`, as in `outer_passes`. What fails leaves no trace: the passes begin where they would have begun.
    """
    x, start, rows, begun, stalled = work.impulse, work.kept, 3 * m + nj, residual, 0
    for k in range(rows):
        start[k] = x[k]
    n = factor_sticking(m, nj, SIGMA_QUIET, work)
    for _ in range(REFINEMENTS if n > 0 else 0):
        add_sticking(m, n, work, x)
        dense_velocities(rows, work, x)
        new = residual_of(m, nj, work)
        if new < max(tol, rounding_floor(m, nj, work)):
            return 1, new, True
        stalled = stalled + 1 if new > 0.5 * residual else 0
        if stalled >= STALLED_HELD and new < accept:
            return 1, new, True
        if not (new < 0.1 * residual or new < accept):
            break
        residual = new
    for k in range(rows):
        x[k] = start[k]
    dense_velocities(rows, work, x)
    return 1, begun, False


@jit
def contact_residual(m, work):
    """The residual of an island's contacts alone: rows of loops and mimics are linear, whatever theirs."""
    m0 = work.info[CONTACT_BLOCKS]
    worst = law_residual((m0, m, 0), (work.mu, work.scale), (work.low, work.high), work.impulse, work.speed)
    return worst if m == m0 else max(worst, rolling_violation(m0, m, work))


@jit
def hold_all(m, work):
    """Whether nothing is at its bound."""
    m0 = work.info[CONTACT_BLOCKS]
    return all_hold(m0, work) and (m == m0 or rolling_holds(m0, m, work))


@jit
def choose_form(chains, problem, lists, options, work):
    """Dual, primal or sweeps first, by the flops of a Newton step; prepares what the form needs once per solve.

    Dual: 2/3 n^3 for n active rows, and 8 n^2 to fill. Primal: those of the sparse factor, and 6 (a + b)^2 per active
    contact whose chains have a and b dofs, worth 16 (a + b)^2 where they are not runs of six; no factor of blocks of
    six takes fewer than 2/3 6^3 per tree.
    """
    contact_list, joint_list, dof_list = lists
    m, nj, info, trees = len(contact_list), len(joint_list), work.info, len(dof_list)
    wish, dofs, active, assembly = options.form, 0, 0.0, 0.0
    for r in range(trees):
        dofs += dof_list[r, 1] - dof_list[r, 0]
    closing, m0 = 0.0, info[CONTACT_BLOCKS]
    for i in range(m0):
        closing = max(closing, -work.speed[3 * i + 2])
    for i in range(m):  # contacts that may become active: others may push them together as fast as anything closes
        k = 3 * (i if i < m0 else work.owner[i]) + 2
        if work.impulse[k] > 0.0 or work.speed[k] <= closing:
            c = contact_list[i]
            length = problem.span[c, 0, 1] + problem.span[c, 1, 1]
            active += 3.0
            assembly += (6.0 if min(problem.body[c, 0], problem.body[c, 1]) != CHAIN else 16.0) * length * length
    for j in range(nj):  # limits that nothing pushes against stay open
        if work.low[j] < 0.0 or work.impulse[3 * m + j] != 0.0 or work.speed[3 * m + j] < 0.0:
            active += 1.0
    if wish == SWEEPS_FIRST or wish == AUTO and m0 > options.large and trees > options.few:
        return SWEEPS_FIRST
    fits, dual = 3 * m + nj <= work.dense_rows, active * active * (0.67 * active + 8.0)
    least = 0.67 * dofs * dofs * dofs if trees == 1 else 145.0 * trees
    if fits and (wish == DUAL or wish == AUTO and dual <= least + assembly):  # no sparse factor can be cheaper
        fill_contacts(chains, problem, contact_list, work.matrix)
        fill_joints(chains, problem, lists, work.y_step, work.matrix)
        info[FORM_USED] = DUAL
        return DUAL
    flops = analyze_island(chains, problem, lists, work)
    possible = flops >= 0.0 and (flops <= options.most_flops or wish == PRIMAL)
    if fits and (not possible or wish == AUTO and dual <= flops + assembly):
        fill_contacts(chains, problem, contact_list, work.matrix)
        fill_joints(chains, problem, lists, work.y_step, work.matrix)
        info[FORM_USED] = DUAL
        return DUAL
    if not possible:
        return SWEEPS_FIRST
    info[FORM_USED] = PRIMAL
    return PRIMAL


@jit
def take_swept(chains, problem, mu, lists, work, limit):
    """Take the impulses that sweeps left in the problem if their residual is at most `limit`, else go back."""
    contact_list, joint_list = lists[0], lists[1]
    m, nj, x, kept = len(contact_list), len(joint_list), work.impulse, work.kept
    rows = 3 * m + nj
    for k in range(rows):
        kept[k] = x[k]
    load_island(problem, mu, contact_list, joint_list, work)
    project_all(m, nj, work)
    velocities(chains, problem, lists, work)
    residual = residual_of(m, nj, work)
    if not residual <= limit:
        for k in range(rows):
            x[k] = kept[k]
        velocities(chains, problem, lists, work)
        residual = residual_of(m, nj, work)
    return residual


@jit
def rescue(chains, problem, mu, lists, options, work, goal, residual):
    """Newton failed: sweeps with exact local solves, then Newton again, very stiff; returns (steps, residual).

    Sweeps are kept if they at least halve the residual: where no solution exists they raise the impulses without end
    and the residual hardly falls. For that reason, too, only small islands try again.
    """
    contact_list, joint_list, dof_list = lists
    store_island(problem, contact_list, joint_list, work.impulse)
    made = sweep_exactly(chains, problem, mu, (contact_list, joint_list), work.joint_moved, problem.y,
                         (options.rescue, 0.0))
    work.info[SWEEPS_USED] += made
    swept = take_swept(chains, problem, mu, lists, work, 0.5 * residual)
    if swept > 0.5 * residual or len(dof_list) > options.few or made == 0:
        return 0, swept
    return outer_passes(chains, problem, lists, options, work, goal, SIGMA_MOST, swept)
