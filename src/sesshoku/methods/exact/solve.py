"""Solving each island: static and kinetic friction told apart by what the solution does, restitution kept passive."""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.constraints.rows import ROW_FRICTION, ROW_UPPER
from sesshoku.methods.exact.energy import ROUNDING_ENERGY, bound_energy, energy_gain
from sesshoku.methods.exact.options import MIDPOINT
from sesshoku.methods.exact.problem import set_rebound
from sesshoku.methods.exact.wedged import fastest, give_up_correction, strained
from sesshoku.methods.exact.work import BOUNCE, INSTANT, SPEED
from sesshoku.solvers.problem import JOINT_ROWS, ROLLING, contacts_among, read_contact, read_joint
from sesshoku.solvers.proximal.newton import solve_island
from sesshoku.stages.island_rows import group_joint_rows, island_dofs, island_lists, start_solve
from sesshoku.stages.report import CONVERGED, ITERATIONS, ROWS
from sesshoku.stages.rolling_rows import list_blocks

BROKEN, TRIED = 1, 2  # `locked`: broke away in this step; static friction was tried against a turning back
STANDS = 1e300  # m/s: no contact rebounds
JAMMED = 0.1  # a residual of this share of the closing speed: no solution, the contacts contradict each other
GUARD_SOLVES = 8  # of the search for the restitution that brings no energy
GUARD_SHARE = 0.01  # how close to it, as a share of what full restitution brings more than none
# steps after which an island that is not solved (its contacts contradict each other, as where a robot begins deep in
# itself) gets few Newton steps, from a compliant start, and more of them every so many steps
FAILED, WEDGED = 1, 2  # of a tree in a step: not in an island that was solved; in one that was without corrections
PATIENCE, TRY_AGAIN = 2, 32


@jit
def solve_islands(model, data, work, dt):
    """Solve every island apart; impulses and y are left in the problem."""
    contacts, problem, newton = work.contacts, work.problem, work.newton
    report = data.report
    start_solve(model, data, problem)
    for t in range(model.tree_count):
        work.tree_jammed[t] = work.tree_failed[t] = 0
    for j in range(problem.counts[JOINT_ROWS]):
        work.joint_locked[j] = 0
    rest = group_joint_rows(model, work)
    for island in range(rest + 1):
        contact_list, joint_list = island_lists(work, island, rest)
        if len(contact_list) + len(joint_list) > 0:
            block_list = contact_list
            if problem.counts[ROLLING] > 0:
                block_list = work.block_list[: list_blocks(problem, contact_list, work.block_list)]
            dof_list = work.dof_list[: island_dofs(model, work, island)]
            unsolved, stuck = longest_unsolved(work, island) if island < rest else (0, 0)
            small, tried = len(dof_list) <= newton.options.few, max(unsolved, stuck)
            effort, hopeless = usual_effort(work, contact_list), unsolved >= PATIENCE and small
            if tried >= PATIENCE and small:
                effort = work.more_effort if tried % TRY_AGAIN == 0 else work.less_effort
            residual, solved = solve_rounds(model, data, work, dt, effort, (block_list, joint_list, dof_list), True)
            wedged = not solved and small and give_up_correction(model, work, contact_list, joint_list)
            if wedged:
                if not hopeless:
                    effort = usual_effort(work, contact_list)
                residual, solved = solve_rounds(model, data, work, dt, effort, (block_list, joint_list, dof_list), True)
                if solved and island < rest:
                    mark_trees(contacts, island, WEDGED, work.tree_failed)
            if bounces(work, contact_list) and (wedged or not hopeless):
                residual, solved = guard_energy(model, data, work, dt, (block_list, joint_list, dof_list), residual,
                                                solved)
            report[ROWS] += 3 * len(block_list) + len(joint_list)
            if not solved:
                report[CONVERGED] = 0.0
                if island < rest:
                    mark_trees(contacts, island, FAILED, work.tree_failed)
                strain = small and strained(problem, contact_list)
                if (strain or residual > JAMMED * fastest(problem, contact_list)) and island < rest:
                    mark_trees(contacts, island, FAILED, work.tree_jammed)
                bound_energy(model, work, dt, (block_list, joint_list, dof_list), strain)


@jit
def usual_effort(work, contact_list):
    """The solver's options for an island; above `large` contacts it is not solved further, whatever its restitution."""
    elastic = 0.0
    if len(contact_list) <= work.newton.options.large:
        for n in range(len(contact_list)):
            elastic = max(elastic, work.contacts.material[contact_list[n], 2])
    return work.careful if elastic > 0.0 else work.newton.options


@jit
def mark_trees(contacts, island, what, mark_out):
    for n in range(contacts.island_tree_start[island], contacts.island_tree_start[island + 1]):
        mark_out[contacts.island_tree[n]] = what


@jit
def longest_unsolved(work, island):
    """For how many steps a tree of the island has not been in one that was solved, or only without its corrections."""
    contacts = work.contacts
    most = least = 0
    for k in range(contacts.island_tree_start[island], contacts.island_tree_start[island + 1]):
        steps = work.tree_unsolved[contacts.island_tree[k]]
        most, least = max(most, steps), min(least, steps)
    return most, -least


@jit
def count_unsolved(model, work):
    """For the next step: how long the islands of the trees have not been solved; negative: have been wedged in."""
    for t in range(model.tree_count):
        steps = work.tree_unsolved[t]
        if work.tree_failed[t] == FAILED:
            work.tree_unsolved[t] = max(steps, 0) + 1
        elif work.tree_failed[t] == WEDGED:
            work.tree_unsolved[t] = min(steps, 0) - 1
        else:
            work.tree_unsolved[t] = 0


@jit
def solve_rounds(model, data, work, dt, effort, lists, rebounding):
    """Solve, let what moved break away and what turned back try to hold, and solve again until nothing switches.

    rebounding: contacts that the first solution brings together rebound, later ones wait for the next step: chains of
    rebounds within a step feed on each other. effort: the solver's options. Returns the residual and whether the law is
    met.
    """
    block_list, joint_list = lists[0], lists[1]
    problem, newton, options = work.problem, work.newton, work.options
    contact_list = block_list[: contacts_among(problem, block_list)]
    made, solved, residual, rounds = 0, False, 0.0, options.rounds
    for n in range(rounds):
        steps, residual, solved = solve_island(model.row_dof, problem, work.mu, lists, effort, newton)
        made += steps
        if n == rounds - 1 or not solved and effort.rescue == 0:  # what is switched must be solved with
            break
        switched = switch_contacts(model, work, options.slip_speed, contact_list)
        switched += switch_joints(model, data, work, dt, options.slip_speed, joint_list)
        if options.integrator == MIDPOINT:
            least = options.restitution_speed if rebounding and n == 0 else STANDS
            switched += late_impacts(model, work, dt, least, contact_list)
        if switched == 0:
            break
    data.report[ITERATIONS] = max(data.report[ITERATIONS], made)
    return residual, solved


@jit
def late_impacts(model, work, dt, bounce_speed, contact_list):
    """(E7): contacts that close only because another impact of the step turned a body back rebound, too; how many.

    Until here they were held open, so that the solved velocity is the one they meet with. Their instant is unknown and
    taken as the middle, or that of the impacts they share bodies with. What these bring together in turn waits for the
    next step, in which it is an impact from the start: stopped, it would lose its energy.
    """
    contacts, problem = work.contacts, work.problem
    found = 0
    for n in range(len(contact_list)):
        c = contact_list[n]
        if work.held[c] == 0:
            continue
        _, _, u = read_contact(model.row_dof, problem, c, problem.y)
        speed, gap, impact = u + work.free_normal[c], contacts.gap[c], work.impact[c]
        t = 0.5 * dt
        if work.later[c] > 0.0:
            t, gap = work.instant[c], work.later[c]
        if gap + (dt - t) * speed >= 0.0:
            continue
        bounces_back = contacts.material[c, 2] > 0.0
        waits = bounce_speed == STANDS or work.later[c] == 0.0
        if bounces_back and waits and speed < -work.options.restitution_speed:
            continue
        work.held[c] = 0
        found += 1
        if work.later[c] > 0.0:  # both turn round what they came with: e = 1 keeps the energy then
            speed = work.free_normal[c] - work.forced[c, 2] * (1.0 - t / dt)
        if speed < -bounce_speed and bounces_back:
            impact[INSTANT], impact[SPEED], impact[BOUNCE] = t, speed, contacts.material[c, 2]
            set_rebound(work, c, 1.0)
        else:
            problem.free[c, 2] = work.free_normal[c] + gap / max(dt - t, 1e-3 * dt)
    return found


@jit
def bounces(work, contact_list):
    """Whether any contact of the island rebounds in this step."""
    most = 0.0
    for n in range(len(contact_list)):
        most = max(most, work.impact[contact_list[n], BOUNCE])
    return most > 0.0


@jit
def guard_energy(model, data, work, dt, lists, residual, solved):
    """(E8): Newton's restitution may raise energy where there is friction, or in a stack: lower the island's then.

    The largest share of every restitution is taken with which the impulses bring no energy, found by the secant rule
    inside a bracket, from below; without restitution they never do. The law holds to the same residual, with smaller
    coefficients.
    """
    gain, scale = energy_gain(model, work, dt, lists)
    allowed, low, high, share, above = ROUNDING_ENERGY * scale, 0.0, 1.0, 0.0, gain
    if not gain > allowed:
        return residual, solved
    below, near = 0.0, 0.0
    for n in range(GUARD_SOLVES):
        residual, solved = share_restitution(model, data, work, dt, lists, share)
        gain, _ = energy_gain(model, work, dt, lists)
        if n == 0:  # none at all
            allowed, below = max(allowed, gain), gain
            near = GUARD_SHARE * (above - below)
        elif gain <= allowed:
            low, below = share, gain
        else:
            high, above = share, gain
        if gain <= allowed and (gain >= allowed - near or n == GUARD_SOLVES - 1):
            return residual, solved
        # aim a little below what is allowed, and never at the ends of the bracket
        aim = (allowed - 0.5 * near - below) / max(above - below, 1e-300)
        share = low + min(max(aim, 0.05), 0.95) * (high - low)
    return share_restitution(model, data, work, dt, lists, low)


@jit
def share_restitution(model, data, work, dt, lists, share):
    """(E7): Solve with a share of every restitution; residual and whether solved."""
    block_list = lists[0]
    problem = work.problem
    for n in range(contacts_among(problem, block_list)):
        if work.impact[block_list[n], BOUNCE] > 0.0:
            set_rebound(work, block_list[n], share)
    effort = usual_effort(work, block_list[: contacts_among(problem, block_list)])
    return solve_rounds(model, data, work, dt, effort, lists, False)


@jit
def switch_contacts(model, work, slip_speed, contact_list):
    """Judge every loaded contact by its solved velocity; returns how many coefficients changed."""
    contacts, problem = work.contacts, work.problem
    changed = 0
    for n in range(len(contact_list)):
        c = contact_list[n]
        static, kinetic = contacts.material[c, 0], contacts.material[c, 1]
        if static == kinetic or problem.impulse[c, 2] <= 0.0:
            continue
        u0, u1, _ = read_contact(model.row_dof, problem, c, problem.y)
        u0, u1 = u0 + problem.free[c, 0], u1 + problem.free[c, 1]
        moves = sqrt(u0 * u0 + u1 * u1) > slip_speed
        if moves and work.slips[c] == 0:
            work.slips[c], work.locked[c], work.mu[c] = 1, BROKEN, kinetic
            changed += 1
        elif (moves and work.slips[c] == 1 and work.locked[c] == 0
              and u0 * problem.velocity[c, 0] + u1 * problem.velocity[c, 1] <= 0.0):
            work.slips[c], work.locked[c], work.mu[c] = 0, TRIED, static
            changed += 1
    return changed


@jit
def switch_joints(model, data, work, dt, slip_speed, joint_list):
    """The same for the friction of joints."""
    problem = work.problem
    changed = 0
    for n in range(len(joint_list)):
        j = joint_list[n]
        if not rubs(problem, j):
            continue
        k = problem.joint_source[j, 1]
        bound = dt * model.dof_static_friction[k]
        speed = read_joint(model.row_dof, problem, j, problem.y) + problem.joint_free[j]
        before = -data.v[k] if problem.joint_source[j, 0] == ROW_UPPER else data.v[k]
        moves = abs(speed) > slip_speed
        if moves and data.friction_slips[k] == 0:
            data.friction_slips[k], work.joint_locked[j], bound = 1, BROKEN, dt * model.dof_kinetic_friction[k]
        elif moves and work.joint_locked[j] == 0 and speed * before <= 0.0:
            data.friction_slips[k], work.joint_locked[j] = 0, TRIED
        else:
            continue
        if problem.joint_low[j] != -bound:
            problem.joint_low[j] = -bound
            if problem.joint_source[j, 0] == ROW_FRICTION:
                problem.joint_high[j] = bound
            changed += 1
    return changed


@jit(into_callers=True)
def rubs(problem, j):
    """Whether a joint row has friction: of a joint, or of one that stands at its limit."""
    kind = problem.joint_source[j, 0]
    return kind == ROW_FRICTION or kind <= ROW_UPPER and problem.joint_low[j] < 0.0


@jit
def keep_states(model, data, work, slip_speed):
    """States for the next step: what moves slips, what does not rests."""
    problem = work.problem
    for j in range(problem.counts[JOINT_ROWS]):
        if rubs(problem, j):
            speed = read_joint(model.row_dof, problem, j, problem.y) + problem.joint_free[j]
            data.friction_slips[problem.joint_source[j, 1]] = 1 if abs(speed) > slip_speed else 0
