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
Islands of many trees and more than `large` contacts are swept first (NNCG, pgs.py), then bettered by some Newton steps.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.solvers.block_sweeps import sweep_exactly
from sesshoku.solvers.island_matrix import fill_contacts, fill_joints
from sesshoku.solvers.pgs import solve_rows
from sesshoku.solvers.problem import CHAIN
from sesshoku.solvers.proximal.dual import (
    add_sticking,
    dense_velocities,
    dual_direction,
    dual_mismatch,
    factor_sticking,
)
from sesshoku.solvers.proximal.local import all_hold, image_derivatives, images, law_residual, project
from sesshoku.solvers.proximal.primal import analyze_island, primal_direction, primal_mismatch
from sesshoku.solvers.proximal.rolling import (
    project_rolling,
    rolling_derivatives,
    rolling_holds,
    rolling_images,
    rolling_rounding,
    rolling_violation,
)
from sesshoku.solvers.proximal.rows import load_island, push_rows, read_rows, store_island, velocities
from sesshoku.solvers.proximal.work import (
    AUTO,
    CONTACT_BLOCKS,
    DUAL,
    FORM_USED,
    NEWTON_STEPS,
    OUTER_PASSES,
    PRIMAL,
    SWEEPS_FIRST,
    SWEEPS_USED,
    TRIALS,
)

ROUNDING = 64 * 2.3e-16  # velocities are known to about this share of the largest that impulses make
TRIAL_STEPS = 10  # of a line search
SIGMA_MOST = 1.0
NEARLY = 1e-5  # m/s: a start that is nearly right, and has a smaller first sigma
SIGMA_QUIET = 1e-6  # least first sigma: hardly compliant, for large ratios of masses
WITHIN = 10.0  # the first images are off by no more than the largest impulse divided by this
RELATIVE_CALM = 1e-2  # of the first residual: what large islands that are not swept are solved to at least
STEADY = 1e-3  # m/s: a start from which all contacts may keep their states
REFINEMENTS = 6  # solves with the factor of that
STALLED_HELD = 2  # of them that hardly lower the residual
STALLED = 3  # passes that settle but hardly lower the residual: contacts that ask for contradicting things
SIGMA_STALLED = 1e-11  # least sigma then
WORSE, MOST_UNDONE = 2.0, 3  # a pass that settles so much worse than a small residual is undone, so often at most
BETTER = 0.999  # a pass counts as better from here on: rounding is no progress


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
    load_island(problem, mu, contact_list, joint_list, work)
    project_all(m, nj, work)
    velocities(chains, problem, lists, work.impulse, work.free, y, work.speed)
    residual = residual_of(m, nj, work)
    if residual < max(tol, rounding_floor(m, nj, work)):
        store_island(problem, contact_list, joint_list, work.impulse)
        return 0, residual, True
    form = choose_form(chains, problem, lists, options, work)
    cap = int(options.cap if len(dof_list) <= options.few else options.cap_many)
    if len(dof_list) > options.few:
        tol = max(tol, min(0.1 * options.accept, options.relative * residual))
    if form == SWEEPS_FIRST:
        if residual > options.quiet:
            residual = sweep_first(chains, problem, mu, lists, options, work, residual)
            cap = options.polish
        else:
            cap, tol = min(cap, options.calm), max(tol, RELATIVE_CALM * residual)
    steps, held = 0, False
    if info[FORM_USED] == DUAL and residual < STEADY and hold_all(m, work):
        steps, residual, held = hold_still(m, nj, tol, options.accept, residual, work)
        if held:
            push_rows(chains, problem, lists, work.impulse, y)
    if not held and (info[FORM_USED] == DUAL or info[FORM_USED] == PRIMAL):
        sigma = first_sigma(residual, options, work)
        more, residual = outer_passes(chains, problem, lists, options, work, (cap, tol), sigma, residual)
        steps += more
    wanted, tol = tol, max(tol, rounding_floor(m, nj, work))
    if residual >= max(tol, options.accept) and form != SWEEPS_FIRST:
        more, residual = rescue(chains, problem, mu, lists, options, work, (cap, wanted), residual)
        steps += more
    store_island(problem, contact_list, joint_list, work.impulse)
    info[NEWTON_STEPS] = steps
    return steps, residual, residual < max(tol, options.accept)


@jit
def first_sigma(residual, options, work):
    """(E18): compliance of the first pass, little where the start is nearly right; no contact may leave its state.

    Images are off by residual / (sigma g): with too small a sigma all of them slip that should stick, and the first
    Newton steps lead nowhere.
    """
    x, fastest = work.impulse, 0.0
    if residual > NEARLY:
        return options.sigma
    for i in range(work.info[CONTACT_BLOCKS]):
        fastest = max(fastest, work.scale[i] * x[3 * i + 2])
    sigma = max(SIGMA_QUIET, residual)
    if fastest > 0.0:
        sigma = max(sigma, WITHIN * residual / fastest)
    return min(options.sigma, sigma)


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
def residual_of(m, nj, work):
    m0 = work.info[CONTACT_BLOCKS]  # (E10)
    worst = law_residual((m0, m, nj), (work.mu, work.scale), (work.low, work.high), work.impulse, work.speed)
    return worst if m == m0 else max(worst, rolling_violation(m0, m, work))


@jit
def project_all(m, nj, work):
    """Bring work.impulse into its cones and bounds."""
    m0 = work.info[CONTACT_BLOCKS]
    project(m0, m, nj, work.mu, work.low, work.high, work.impulse)
    if m > m0:
        project_rolling(m0, m, work, work.impulse)


@jit
def hold_all(m, work):
    """Whether nothing is at its bound."""
    m0 = work.info[CONTACT_BLOCKS]
    return all_hold(m0, work) and (m == m0 or rolling_holds(m0, m, work))


@jit
def all_images(m, nj, sigma, work, u):
    """work.image of the velocities u."""
    m0 = work.info[CONTACT_BLOCKS]
    images((m0, m, nj), (work.mu, work.scale), (work.low, work.high), sigma, work.center, u, work.image)
    if m > m0:
        rolling_images(m0, m, sigma, work, u, work.image)


@jit
def all_derivatives(m, nj, sigma, work):
    """work.state and work.slope at the images of work.speed."""
    m0, u, image = work.info[CONTACT_BLOCKS], work.speed, work.image
    image_derivatives((m0, m, nj), (work.mu, work.scale), (work.low, work.high), sigma, work.center, u, image,
                      (work.state, work.slope))
    if m > m0:
        rolling_derivatives(m0, m, sigma, work, u, image)


@jit
def rounding_floor(m, nj, work):
    """Residual below which nothing can be known: velocities are differences of what impulses make of them."""
    x, scale, free, largest, m0 = work.impulse, work.scale, work.free, 0.0, work.info[CONTACT_BLOCKS]
    for i in range(m0):
        k = 3 * i
        largest = max(largest, scale[i] * x[k + 2])
        if x[k + 2] > 0.0:
            largest = max(largest, abs(free[k]), abs(free[k + 1]), abs(free[k + 2]))
    if m > m0:
        largest = max(largest, rolling_rounding(m0, m, work))
    for j in range(nj):
        k = 3 * m + j
        largest = max(largest, scale[m + j] * abs(x[k]), abs(free[k]))
    return ROUNDING * largest


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
    fits, dual = 3 * m + nj <= work.dense_rows, active * active * (0.67 * active + 8.0)
    least = 0.67 * dofs * dofs * dofs if trees == 1 else 145.0 * trees
    if fits and (wish == DUAL or wish == AUTO and dual <= least + assembly):  # no sparse factor can be cheaper
        fill_contacts(chains, problem, contact_list, work.matrix)
        fill_joints(chains, problem, lists, work.y_step, work.matrix)
        info[FORM_USED] = DUAL
        return DUAL
    flops = analyze_island(chains, problem, lists, work)
    possible = flops >= 0.0 and (flops <= options.most_flops or wish == PRIMAL)
    if fits and (not possible or wish == AUTO and dual <= flops + assembly) and wish != SWEEPS_FIRST:
        fill_contacts(chains, problem, contact_list, work.matrix)
        fill_joints(chains, problem, lists, work.y_step, work.matrix)
        info[FORM_USED] = DUAL
        return DUAL
    if possible:
        info[FORM_USED] = PRIMAL
    many = m0 > options.large and trees > options.few
    return SWEEPS_FIRST if wish == SWEEPS_FIRST or not possible or wish == AUTO and many else PRIMAL


@jit
def sweep_first(chains, problem, mu, lists, options, work, residual):
    """NNCG from the start; its result is taken if it is at most half worse than the start. Returns the residual."""
    contact_list, joint_list = lists[0], lists[1]
    store_island(problem, contact_list, joint_list, work.impulse)
    made = solve_rows(chains, problem, (work.law, mu), lists, (False, False, True), (options.sweeps, options.tolerance),
                      work, problem.y)
    work.info[SWEEPS_USED] = min(made, options.sweeps)
    return take_swept(chains, problem, mu, lists, work, 1.5 * residual)


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
    velocities(chains, problem, lists, x, work.free, problem.y, work.speed)
    residual = residual_of(m, nj, work)
    if not residual <= limit:
        for k in range(rows):
            x[k] = kept[k]
        velocities(chains, problem, lists, x, work.free, problem.y, work.speed)
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


@jit
def outer_passes(chains, problem, lists, options, work, goal, sigma, residual):
    """Passes until the residual falls below what is wanted or a budget ends; returns (Newton steps, residual).

    Of all passes the best is kept. The first may be up to half worse than the start and still replaces it: where no
    solution exists nothing is better than zero, and contacts would vanish. A residual below `accept` that passes hardly
    lower any more ends the solve: four corners of a face whose gaps contradict each other in the twelfth digit would
    be obeyed only by one of them giving up its load. A larger one means that too much sticks at once: impulses that
    strain the bodies against each other grow by residual/eps in every pass, until something slips. A heavy body on a
    light one takes long to get there, so sigma goes on falling.
    """
    cap, wanted = goal
    contact_list, joint_list, dof_list = lists
    m, nj, info, y = len(contact_list), len(joint_list), work.info, problem.y
    x, kept, center, image, rows = work.impulse, work.kept, work.center, work.image, 3 * m + nj
    tol, most, dual = wanted, options.outer, info[FORM_USED] == DUAL
    best, first, at_best, grown, stalled, steps, passes, undone = residual, True, True, 0, 0, 0, 0, 0
    for k in range(rows):
        kept[k] = x[k]
    while residual >= tol and steps < cap and passes < most:
        passes += 1
        for k in range(rows):
            center[k] = x[k]
        inner, settled = newton_pass(chains, problem, lists, options, work, sigma, (tol, cap - steps), residual)
        steps += inner
        for k in range(rows):  # y_image belongs to the images: momentum balance is exact
            x[k] = image[k]  # (E12): the next centre
        if dual:
            dense_velocities(rows, work, x)
        else:
            for r in range(len(dof_list)):
                for k in range(dof_list[r, 0], dof_list[r, 1]):
                    y[k] = work.y_image[k]
            read_rows(chains, problem, contact_list, joint_list, y, work.speed)
            for k in range(rows):
                work.speed[k] += work.free[k]
        new = residual_of(m, nj, work)
        tol = max(wanted, rounding_floor(m, nj, work))
        if new < BETTER * best or first and new <= 1.5 * best:
            best, first, at_best = new, False, True
            for k in range(rows):
                kept[k] = x[k]
        else:
            at_best = False
        if not settled and sigma < SIGMA_MOST:  # back to the last centre, with a stiffer proximal term
            for k in range(rows):
                x[k] = center[k]
            at_best = False
            if dual:
                dense_velocities(rows, work, x)
            else:
                velocities(chains, problem, lists, x, work.free, y, work.speed)
            sigma, grown = min(10.0 * sigma, SIGMA_MOST), grown + 1
        elif new > WORSE * residual and residual < options.quiet and undone < MOST_UNDONE:
            for k in range(rows):
                x[k] = center[k]
            at_best = False
            if dual:
                dense_velocities(rows, work, x)
            else:
                velocities(chains, problem, lists, x, work.free, y, work.speed)
            sigma, undone = 0.1 * sigma, undone + 1
        else:
            stalled = stalled + 1 if new > 0.5 * residual else 0
            residual = new
            if stalled >= STALLED and best < options.accept:
                break
            if stalled >= STALLED and inner <= 4:
                sigma = max(0.1 * sigma, min(options.sigma_least, SIGMA_STALLED))
            elif inner <= 4 and grown < 3:
                shrink = options.shrink if inner > 2 else options.shrink * options.shrink
                sigma = max(shrink * sigma, min(options.sigma_least, sigma))
            elif inner <= 4:
                grown -= 1
    info[OUTER_PASSES] = passes
    if not at_best:
        for k in range(rows):
            x[k] = kept[k]
        velocities(chains, problem, lists, x, work.free, y, work.speed)
        best = residual_of(m, nj, work)
    elif dual:
        push_rows(chains, problem, lists, x, y)
    return steps, best


@jit
def newton_pass(chains, problem, lists, options, work, sigma, limits, residual):
    """(E12), (E14): Newton's method on the fixed point of the images around work.center; returns (steps, settled).

    From work.speed, and problem.y in the primal form; work.image belongs to the last velocities, work.y_image to it.
    """
    tol, budget = limits
    contact_list, joint_list, dof_list = lists
    m, nj, dual = len(contact_list), len(joint_list), work.info[FORM_USED] == DUAL
    rows = 3 * m + nj
    u = work.speed
    most = int(options.inner if len(dof_list) <= options.few else options.inner_many)
    most, steps, goal = min(most, budget), 0, options.inner_accuracy * residual
    for k in range(rows):
        work.settled[k] = work.center[k]
    while True:
        all_images(m, nj, sigma, work, u)
        if dual:
            worst = dual_mismatch(rows, work)
        else:
            worst = primal_mismatch(chains, problem, lists, work)
        if worst < 0.1 * tol or steps > 0 and worst < goal:
            return steps, True
        if steps == most:
            return steps, False
        all_derivatives(m, nj, sigma, work)
        if dual:
            found, slope, size = dual_direction(m, nj, sigma, work)
        else:
            found, slope, size = primal_direction(chains, problem, lists, sigma, work)
        steps += 1
        if not found:
            return steps, False
        length = line_search(m, nj, slope, size, sigma, work)
        for k in range(rows):
            u[k] += length * work.change[k]
        if dual:
            for k in range(rows):
                work.settled[k] += length * work.step[k]
        else:
            for r in range(len(dof_list)):
                for k in range(dof_list[r, 0], dof_list[r, 1]):
                    problem.y[k] += length * work.y_step[k]


@jit
def line_search(m, nj, slope, size, sigma, work):
    """(E17): length of the step, about the root in (0, 1] of phi(a) = slope + a size - du image(u + a du).

    slope = dy y, size = dy dy. Were the problem convex phi would be the slope of the function minimised along the step.
    The full step where phi(1) is not above zero; else the secant inside a bracket, halved where it hardly moves.
    """
    u, change, trial, image, rows = work.speed, work.change, work.trial, work.image, 3 * m + nj
    low, high, a = 0.0, 1.0, 1.0
    below, above = slope, 0.0
    for k in range(rows):
        below -= change[k] * image[k]
    for _ in range(TRIAL_STEPS):
        work.info[TRIALS] += 1
        for k in range(rows):
            trial[k] = u[k] + a * change[k]
        all_images(m, nj, sigma, work, trial)
        phi = slope + a * size
        for k in range(rows):
            phi -= change[k] * image[k]
        if a == 1.0 and phi <= 0.01 * size or abs(phi) < 0.05 * size:
            return a
        if phi > 0.0:
            high, above = a, phi
        else:
            low, below = a, phi
        share = -below / (above - below) if below < 0.0 else 0.5
        a = low + min(max(share, 0.1), 0.9) * (high - low)
    return a
