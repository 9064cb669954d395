"""Which stiff servos are at their effort: by what they give at the end of the step, not by what they want at its start.

A servo with a large gain wants more than its effort at any small error. Taken for a constant force because of that, it
overshoots within the step, wants as much the other way, and rattles at what its effort makes of a light link. Whether
it is at its effort is a question of the end of the step: with f = wanted - slope a, a the acceleration, f is within the
effort, or the effort it is. `joint_forces` clips by the start; where the accelerations that follow say otherwise, the
servo is switched, and the accelerations are found again.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.actuation import drive_of, pull, stiffen, within_joint
from sesshoku.dynamics.factor import factorize, solve

ROUNDS = 6  # of switching; after the first ones servos are only clipped, so that they cannot go in circles
OPENING = 2


@jit
def settle_efforts(model, data):
    """Switch servos until they agree with free_acceleration (V), which holds then, as do joint_force and the factor.

    Needs the mass matrix, `joint_forces`, bias_force, and free_acceleration as these give it.
    """
    a = data.free_acceleration
    for n in range(ROUNDS):
        changed = False
        for s in range(model.actuator_count):
            if data.actuator_slope[s] > 0.0:
                changed = switch_servo(model, data, s, a, n < OPENING) or changed
        if not changed:
            return
        factorize(model, data.mass_matrix, data.implicit_diagonal, data.factor, data.factor_dinv)
        for k in range(model.dof_count):
            a[k] = data.joint_force[k] - data.bias_force[k]
        solve(model, data.factor, data.factor_dinv, a)


@jit
def switch_servo(model, data, s, a, may_open):
    """Clip actuator s, or let it go, by its force at the end of the step at accelerations a (V); whether it changed.

    One that shares its joint with others stays as it is: the joint's effort is that of their sum.
    """
    k, clipped = model.actuator_dof[s], data.actuator_clipped[s] == 1
    wanted, slope, given = data.actuator_wanted[s], data.actuator_slope[s], data.actuator_force[s]
    if not clipped:
        given = wanted
    if k >= 0 and data.drive_force[k] != given:
        return False
    dofs, arms = drive_of(model, data, s)
    force = wanted
    for n in range(len(dofs)):
        force -= slope * arms[n] * a[dofs[n]]
    bounded = within_joint(model, data, s, force)
    if clipped and bounded != given and may_open:
        change_force(data, dofs, arms, given, wanted, slope)
        data.actuator_clipped[s], data.actuator_force[s] = 0, bounded
        return True
    if not clipped and bounded != force:
        change_force(data, dofs, arms, given, bounded, -slope)
        data.actuator_clipped[s], data.actuator_force[s] = 1, bounded
        return True
    if not clipped and within_joint(model, data, s, wanted) != wanted:
        data.actuator_force[s] = bounded  # what it gives at the end: more could not be true
    return False


@jit
def change_force(data, dofs, arms, before, force, slope):
    """Another force along some dofs, and more (or less) slope."""
    pull(dofs, arms, force - before, data.joint_force)
    stiffen(dofs, arms, slope, data.implicit_diagonal)
    for n in range(len(dofs)):
        data.drive_force[dofs[n]] += arms[n] * (force - before)
    if len(dofs) == 1 and arms[0] == 1.0:
        data.drive_force[dofs[0]] = force  # of the joint it drives alone, without rounding
