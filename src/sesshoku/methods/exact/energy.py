"""Energy that the impulses of an island bring, and a bound on it where they are no solution."""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.methods.exact.options import MIDPOINT
from sesshoku.methods.exact.problem import add_impact, impact_longer
from sesshoku.methods.exact.work import BOUNCE
from sesshoku.solvers.problem import contacts_among

ROUNDING_ENERGY = 1e-10  # share of the impulses' work


@jit
def energy_gain(model, work, dt, lists):
    """(E8): energy the island's impulses bring beyond what corrections of depth, loops and mimics ask for, J; and the
    size of what it is the difference of.

    Kinetic: x . u_free + |y|^2/2. Against the forces on the bodies, by moving them: an impulse displaces what it moves
    for half a step, of an impact longer or shorter. Exact for lone bodies under the midpoint rule, whose free motion
    brings none. A semi-implicit step counts a rebound by the speed it meets.
    """
    block_list, joint_list, dof_list = lists
    problem, options = work.problem, work.options
    gain = size = 0.0
    count, y = contacts_among(problem, block_list), work.y_direction
    for r in range(len(dof_list)):
        for k in range(dof_list[r, 0], dof_list[r, 1]):
            y[k] = 0.0
    for n in range(count):
        add_impact(model, work, block_list[n], y)
    for n in range(count):
        c = block_list[n]
        x, free, forced = problem.impulse[c], work.unaided[c], work.forced[c]
        share = 1.0 if work.impact[c, BOUNCE] > 0.0 else 0.0
        if options.integrator == MIDPOINT:
            share = 0.5 + impact_longer(model, work, dt, c, y) / dt
        part = x[0] * (free[0] - share * forced[0]) + x[1] * (free[1] - share * forced[1])
        part += x[2] * (free[2] - share * forced[2] - problem.correction[c])
        gain, size = gain + part, size + abs(part)
    for n in range(count, len(block_list)):
        x, free = problem.impulse[block_list[n]], problem.free[block_list[n]]
        part = x[0] * free[0] + x[1] * free[1] + x[2] * free[2]
        gain, size = gain + part, size + abs(part)
    for n in range(len(joint_list)):
        part = problem.joint_impulse[joint_list[n]] * problem.joint_free[joint_list[n]]
        gain, size = gain + part, size + abs(part)
    for r in range(len(dof_list)):
        for k in range(dof_list[r, 0], dof_list[r, 1]):
            gain += 0.5 * problem.y[k] * problem.y[k]
    return gain, size


@jit
def bound_energy(model, work, dt, lists, strained):
    """Shrink the impulses of an island that is not solved until they bring no energy beyond what correction may.

    That is normal impulse times the speed it asks for; of strained impulses (`wedged`) nothing. Shrunk impulses are in
    their cones, and oppose slip, as before; some contacts go on closing, which the residual tells.
    """
    block_list, joint_list, dof_list = lists
    problem = work.problem
    gain, size = energy_gain(model, work, dt, lists)
    made = 0.0
    for r in range(len(dof_list)):
        for k in range(dof_list[r, 0], dof_list[r, 1]):
            made += 0.5 * problem.y[k] * problem.y[k]
    for n in range(contacts_among(problem, block_list) if strained else 0):
        gain += problem.correction[block_list[n]] * problem.impulse[block_list[n], 2]
    if gain <= ROUNDING_ENERGY * size:
        return
    share = min(max((made - gain) / max(made, 1e-300), 0.0), 1.0)
    for n in range(len(block_list)):
        for d in range(3):
            problem.impulse[block_list[n], d] *= share
    for n in range(len(joint_list)):
        problem.joint_impulse[joint_list[n]] *= share
    for r in range(len(dof_list)):
        for k in range(dof_list[r, 0], dof_list[r, 1]):
            problem.y[k] *= share
