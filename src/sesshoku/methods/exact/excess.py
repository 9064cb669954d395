"""Depth corrections that would bring far more energy than parting takes: made smaller, or left for a later step.

Corrections ask for small speeds, but of contacts that contradict each other, or that press near a joint's axis, small
speeds may be had only by mad motion, or by impulses a billion times the load that cancel each other. What overlaps
then parts more slowly, and the forces are such that one can look at them.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit
from sesshoku.methods.exact.problem import start_contact
from sesshoku.methods.exact.wedged import fastest, is_deep
from sesshoku.solvers.problem import contacts_among
from sesshoku.stages.passivity import correction_energy, share_within

MOST_STRAINED = 1e3  # a solution with impulses so many times what closing explains is no better than none


@jit
def allowed_work(model, problem, contact_list, dof_list):
    """The energy (J) that the corrections of an island may bring; negative: nothing is corrected."""
    speed = 0.0
    for n in range(len(contact_list)):
        speed = max(speed, problem.correction[contact_list[n]])
    return -1.0 if speed == 0.0 else correction_energy(model, dof_list, speed)


@jit
def correction_share(work, lists, allowed):
    """The share of the corrections that would bring no more than what is allowed, by the solution as it stands.

    Kinetic energy beyond that of the free motion, x . u_free + |y|^2/2, is what counts: work against weight and motors
    is no mad motion.
    """
    square = size_of_change(work.problem, lists[2])
    if 0.5 * square <= allowed:  # the impulses change no more than that
        return 1.0
    gain = along_free_motion(work, lists[0], lists[1]) + 0.5 * square
    return 1.0 if gain <= allowed else sqrt(allowed / gain)


@jit
def size_of_change(problem, dof_list):
    """|y|^2 of an island."""
    square = 0.0
    for r in range(len(dof_list)):
        for k in range(dof_list[r, 0], dof_list[r, 1]):
            square += problem.y[k] * problem.y[k]
    return square


@jit
def along_free_motion(work, block_list, joint_list):
    """x . u_free of an island."""
    problem, total = work.problem, 0.0
    count = contacts_among(problem, block_list)
    for n in range(len(block_list)):
        x, free = problem.impulse[block_list[n]], problem.free[block_list[n]]
        if n < count:
            free = work.unaided[block_list[n]]
        total += x[0] * free[0] + x[1] * free[1] + x[2] * free[2]
    for n in range(len(joint_list)):
        total += problem.joint_impulse[joint_list[n]] * problem.joint_free[joint_list[n]]
    return total


@jit
def any_deep(model, work, contact_list):
    """Whether an overlap that is corrected is a good part of its shapes."""
    for n in range(len(contact_list)):
        if work.problem.correction[contact_list[n]] > 0.0 and is_deep(model, work.contacts, contact_list[n]):
            return True
    return False


@jit
def ease_corrections(model, work, contact_list, joint_list, share):
    """Corrections ask for a share of what they did; the solve begins at zero then. False: there are none."""
    problem, some = work.problem, False
    for n in range(len(contact_list)):
        c = contact_list[n]
        if problem.correction[c] > 0.0:
            problem.free[c, 2] += (1.0 - share) * problem.correction[c]
            problem.correction[c] *= share
            some = True
    for n in range(len(contact_list) if some else 0):
        c = contact_list[n]
        start_contact(model, work, c)
        problem.impulse[c, 0] = problem.impulse[c, 1] = problem.impulse[c, 2] = 0.0
    for n in range(len(joint_list) if some else 0):
        problem.joint_impulse[joint_list[n]] = 0.0
    return some


@jit
def cap_impulses(work, lists):
    """Impulses that cancel each other, of an island that is not solved, scaled together: none far above what closing
    explains. Capped one by one they would cancel no more."""
    problem, block_list = work.problem, lists[0]
    count, most = contacts_among(problem, block_list), 0.0
    for n in range(count):
        c = block_list[n]
        most = max(most, problem.block[c, 2, 2] * problem.impulse[c, 2])
    scale_island(problem, lists, MOST_STRAINED * fastest(problem, block_list[:count]) / most)


@jit
def bound_kinetic(work, lists):
    """Scale impulses that are no solution to where they bring no kinetic energy beyond that of the free motion."""
    problem, (block_list, joint_list, dof_list) = work.problem, lists
    share = share_within(along_free_motion(work, block_list, joint_list), size_of_change(problem, dof_list), 0.0)
    if share < 1.0:
        scale_island(problem, lists, share)


@jit
def scale_island(problem, lists, share):
    """All impulses of an island, and y, times a share."""
    block_list, joint_list, dof_list = lists
    for n in range(len(block_list)):
        for d in range(3):
            problem.impulse[block_list[n], d] *= share
    for n in range(len(joint_list)):
        problem.joint_impulse[joint_list[n]] *= share
    for r in range(len(dof_list)):
        for k in range(dof_list[r, 0], dof_list[r, 1]):
            problem.y[k] *= share
