"""Outer passes of the proximal Newton method (newton.py), and what they measure: images, residual, rounding."""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.solvers.proximal.dual import dense_velocities, dual_direction, dual_mismatch
from sesshoku.solvers.proximal.local import image_derivatives, images, law_residual, project
from sesshoku.solvers.proximal.primal import primal_direction, primal_mismatch
from sesshoku.solvers.proximal.rolling import (
    project_rolling,
    rolling_derivatives,
    rolling_images,
    rolling_rounding,
    rolling_violation,
)
from sesshoku.solvers.proximal.rows import push_rows, read_rows, velocities
from sesshoku.solvers.proximal.work import CONTACT_BLOCKS, DUAL, FORM_USED, OUTER_PASSES, TRIALS

ROUNDING = 64 * 2.3e-16  # velocities are known to about this share of the largest that impulses make
TRIAL_STEPS = 10  # of a line search
SIGMA_MOST = 1.0
NEARLY = 1e-5  # m/s: a start that is nearly right, and has a smaller first sigma
SIGMA_QUIET = 1e-6  # least first sigma: hardly compliant, for large ratios of masses
WITHIN = 10.0  # the first images are off by no more than the largest impulse divided by this
STALLED = 3  # passes that settle but hardly lower the residual: contacts that ask for contradicting things
SIGMA_STALLED = 1e-11  # least sigma then
WORSE, MOST_UNDONE = 2.0, 3  # a pass that settles so much worse than a small residual is undone, so often at most
BETTER = 0.999  # a pass counts as better from here on: rounding is no progress


@jit
def project_all(m, nj, work):
    """Bring work.impulse into its cones and bounds."""
    m0 = work.info[CONTACT_BLOCKS]
    project(m0, m, nj, work.mu, work.low, work.high, work.impulse)
    if m > m0:
        project_rolling(m0, m, work, work.impulse)


@jit
def residual_of(m, nj, work):
    m0 = work.info[CONTACT_BLOCKS]  # (E10)
    worst = law_residual((m0, m, nj), (work.mu, work.scale), (work.low, work.high), work.impulse, work.speed)
    return worst if m == m0 else max(worst, rolling_violation(m0, m, work))


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
            read_rows(chains, problem, lists, work, y, work.speed)
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
                velocities(chains, problem, lists, work)
            sigma, grown = min(10.0 * sigma, SIGMA_MOST), grown + 1
        elif new > WORSE * residual and residual < options.quiet and undone < MOST_UNDONE:
            for k in range(rows):
                x[k] = center[k]
            at_best = False
            if dual:
                dense_velocities(rows, work, x)
            else:
                velocities(chains, problem, lists, work)
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
        velocities(chains, problem, lists, work)
        best = residual_of(m, nj, work)
    elif dual:
        push_rows(chains, problem, lists, work, x, y)
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
