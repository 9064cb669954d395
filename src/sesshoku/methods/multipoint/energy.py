"""What energy the impulses of an island may add: no more than the correction of depth asks for (`energy="bounded"`).

The impulses x change the kinetic energy of the free motion by x . u_free + 1/2 |y|^2. Points that leave because they
pull, friction that is cut and rows that contradict each other leave impulses behind that belong to another problem:
where they add energy, all of the island are scaled down by one share, which leaves every one of them within its cone.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.stages.passivity import correction_energy, share_within

TOLERANCE = 1e-3  # of |y|^2: rebounds at e = 1 add nothing but rounding


@jit
def bound_energy(model, work, contact_list, joint_list, dof_list):
    """Scale the impulses of an island in the problem, and y, to what adds no energy; False: nothing was to do."""
    problem, linear, square, allowed, speed = work.problem, 0.0, 0.0, 0.0, 0.0
    for r in range(len(dof_list)):
        for k in range(dof_list[r, 0], dof_list[r, 1]):
            square += problem.y[k] * problem.y[k]
    for i in range(len(contact_list)):
        c = contact_list[i]
        x, free = problem.impulse[c], problem.free[c]
        if x[2] != 0.0:
            linear += x[0] * free[0] + x[1] * free[1] + x[2] * (free[2] + work.target[c, 2])
            allowed += x[2] * problem.correction[c]
            speed = max(speed, problem.correction[c])
    for j in range(len(joint_list)):
        linear += problem.joint_impulse[joint_list[j]] * problem.joint_free[joint_list[j]]
    if allowed > 0.0 and linear + 0.5 * square > 0.0:
        allowed = min(allowed, correction_energy(model, dof_list, speed))
    if linear + (0.5 - TOLERANCE) * square <= allowed:
        return False
    share = share_within(linear, square, allowed)
    for i in range(len(contact_list)):
        for e in range(3):
            problem.impulse[contact_list[i], e] *= share
    for j in range(len(joint_list)):
        problem.joint_impulse[joint_list[j]] *= share
    for r in range(len(dof_list)):
        for k in range(dof_list[r, 0], dof_list[r, 1]):
            problem.y[k] *= share
    return True
