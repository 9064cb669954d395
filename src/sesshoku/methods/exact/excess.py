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
from sesshoku.solvers.problem import ROLLING, contacts_among, push_contact, push_joint
from sesshoku.stages.passivity import correction_energy

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
    block_list, joint_list, dof_list = lists
    problem, gain = work.problem, 0.0
    for r in range(len(dof_list)):
        for k in range(dof_list[r, 0], dof_list[r, 1]):
            gain += 0.5 * problem.y[k] * problem.y[k]
    if gain <= allowed:  # the impulses change no more than that
        return 1.0
    count = contacts_among(problem, block_list)
    for n in range(len(block_list)):
        x, free = problem.impulse[block_list[n]], problem.free[block_list[n]]
        if n < count:
            free = work.unaided[block_list[n]]
        gain += x[0] * free[0] + x[1] * free[1] + x[2] * free[2]
    for n in range(len(joint_list)):
        gain += problem.joint_impulse[joint_list[n]] * problem.joint_free[joint_list[n]]
    return 1.0 if gain <= allowed else sqrt(allowed / gain)


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
def cap_impulses(model, problem, lists):
    """Impulses that cancel each other, of an island that is not solved: none far above all that closing explains."""
    block_list, joint_list, dof_list = lists
    count = contacts_among(problem, block_list)
    closing = fastest(problem, block_list[:count])
    for n in range(count):
        x, most = problem.impulse[block_list[n]], MOST_STRAINED * closing / problem.block[block_list[n], 2, 2]
        if x[2] > most:
            share = most / x[2]
            shrink(problem, block_list[n], share)
            if problem.counts[ROLLING] > 0:
                shrink(problem, problem.contact_capacity + block_list[n], share)
    for n in range(len(joint_list)):
        j = joint_list[n]
        most = MOST_STRAINED * max(closing, abs(problem.joint_free[j])) / problem.joint_block[j]
        problem.joint_impulse[j] = min(max(problem.joint_impulse[j], -most), most)
    for r in range(len(dof_list)):
        for k in range(dof_list[r, 0], dof_list[r, 1]):
            problem.y[k] = 0.0
    for n in range(len(block_list)):
        x = problem.impulse[block_list[n]]
        push_contact(model.row_dof, problem, block_list[n], x[0], x[1], x[2], problem.y)
    for n in range(len(joint_list)):
        push_joint(model.row_dof, problem, joint_list[n], problem.joint_impulse[joint_list[n]], problem.y)


@jit
def shrink(problem, block, share):
    for d in range(3):
        problem.impulse[block, d] *= share
