"""Depth corrections that friction does not allow: told from the attempt, and given up.

A toe in a notch whose sides are steeper than friction's angle is wedged in. To open its overlaps it would have to slip
out, and no normal impulses make it: the larger they are, the more friction there is. So a problem that asks for it has
no solution; without corrections it has one, everything at rest. Overlaps that are deep for their shapes are no wedges
(`stages.deep_overlaps`): they keep their corrections, and users are told that they contradict each other.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.methods.exact.problem import start_contact
from sesshoku.model.arrays import SHAPE_PLANE
from sesshoku.solvers.problem import read_normal
from sesshoku.stages.deep_overlaps import SHARE

UNMET = 1e-9  # m/s: a contact closes faster than it may
STRAINED = 30.0  # an impulse that would part its bodies so many times as fast as anything closes


@jit
def fastest(problem, contact_list):
    """Largest normal speed at which contacts would close, m/s."""
    most = 0.0
    for n in range(len(contact_list)):
        most = max(most, -problem.free[contact_list[n], 2])
    return most


@jit
def strained(problem, contact_list, times):
    """Whether impulses are so many times above all that closing speeds explain: they cancel each other, as in a
    wedge."""
    most, closing = 0.0, fastest(problem, contact_list)
    for n in range(len(contact_list)):
        c = contact_list[n]
        most = max(most, problem.block[c, 2, 2] * problem.impulse[c, 2])
    return most > times * closing


@jit
def give_up_correction(model, work, contact_list, joint_list):
    """Overlaps that an attempt did not open as asked need only not grow; it begins at zero then. False: none of them.

    Impulses of the attempt cancel each other; as a start they would shoot out what is wedged in once they do not.
    """
    problem, some = work.problem, False
    for n in range(len(contact_list)):
        c = contact_list[n]
        asked = 0.0 if is_deep(model, work.contacts, c) else problem.correction[c]
        if asked > 0.0 and read_normal(model.row_dof, problem, c, problem.y) + problem.free[c, 2] < -UNMET:
            problem.free[c, 2] += asked
            problem.correction[c], some = 0.0, True
    for n in range(len(contact_list) if some else 0):
        c = contact_list[n]
        start_contact(model, work, c)
        problem.impulse[c, 0] = problem.impulse[c, 1] = problem.impulse[c, 2] = 0.0
    for n in range(len(joint_list) if some else 0):
        problem.joint_impulse[joint_list[n]] = 0.0
    return some


@jit
def is_deep(model, contacts, c):
    """Whether the shapes of contact c overlap by a good part of what the thinner one is thick."""
    for side in range(2):
        shape = contacts.shape[c, side]
        half = model.shape_box[shape, 1]
        thickness = 2.0 * min(half[0], half[1], half[2])
        if model.shape_type[shape] != SHAPE_PLANE and -contacts.gap[c] > SHARE * thickness:
            return True
    return False
