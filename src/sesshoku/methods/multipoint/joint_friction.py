"""Dry friction of joints and tendons as rows of the system: against each joint's own motion.

A row either holds its joint (IN), with at most the static bound, or is a given force (HELD), the kinetic one against
the motion. Joints that move begin HELD, others IN. After a solve a row that is asked for more than its bound lets go
(`removal.drop_offenders`), and a force that turned out to push along the motion at the end of the step holds instead.
The paper has no joint friction: ours.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.constraints.rows import ROW_FRICTION
from sesshoku.dynamics.constraints.tendon_rows import ROW_TENDON_FRICTION
from sesshoku.dynamics.tendons import tendon_motion
from sesshoku.methods.multipoint.work import HELD, IN

TURNS = 2  # once a row went over from pushing to holding so often, rows change one at a time, the first of them
MOST_TURNS = 40
ALONG = 1e-10  # rad/s or m/s: slower motion along the force is none


@jit
def is_friction(kind):
    """Whether a joint row is dry friction."""
    return kind == ROW_FRICTION or kind == ROW_TENDON_FRICTION


@jit
def exceeds(work, m, j, row):
    """Whether a row that holds its joint is asked for more than static friction gives."""
    return abs(work.impulse[3 * m + j]) * work.scale[j] > work.problem.joint_high[row]


@jit
def one_by_one(work, joint_list):
    """Whether rows change one at a time: all at once they may go round in a circle (Murty's rule ends it)."""
    most = 0
    for j in range(len(joint_list)):
        if is_friction(work.problem.joint_source[joint_list[j], 0]):
            most = max(most, work.turned[j])
    return most >= TURNS


@jit
def start_friction(model, data, work, dt, m, joint_list):
    """Rows of joints that move faster than their friction could stop push against it; others hold."""
    problem = work.problem
    for j in range(len(joint_list)):
        row = joint_list[j]
        kind, n = problem.joint_source[row, 0], problem.joint_source[row, 1]
        if not is_friction(kind):
            continue
        work.turned[j], work.part[m + j] = 0, IN
        if kind == ROW_FRICTION:
            speed, data.friction_slips[n] = data.v[n], 0
        else:
            _, speed = tendon_motion(model, data, n, data.q, data.v)
        if abs(speed) > 0.5 * problem.joint_block[row] * kinetic_bound(model, work, dt, row):
            push_against(model, data, work, dt, m, (j, row), speed)


@jit
def kinetic_bound(model, work, dt, row):
    """Impulse of kinetic friction of a joint row in a step."""
    problem = work.problem
    if problem.joint_source[row, 0] == ROW_FRICTION:
        return min(problem.joint_high[row], dt * model.dof_kinetic_friction[problem.joint_source[row, 1]])
    return problem.joint_high[row]


@jit
def push_against(model, data, work, dt, m, at, motion):
    """Kinetic friction of row `at` (of the island, of the problem) against a motion, from now on."""
    j, row = at
    problem = work.problem
    bound = kinetic_bound(model, work, dt, row) / work.scale[j]
    work.impulse[3 * m + j] = -bound if motion > 0.0 else bound
    work.part[m + j] = HELD
    if problem.joint_source[row, 0] == ROW_FRICTION:
        data.friction_slips[problem.joint_source[row, 1]] = 1


@jit
def let_go(model, data, work, dt, m, at):
    """Whether row `at` holds with more than it can; it pushes from now on."""
    j, row = at
    if work.part[m + j] != IN or not is_friction(work.problem.joint_source[row, 0]) or not exceeds(work, m, j, row):
        return False
    push_against(model, data, work, dt, m, at, -work.impulse[3 * m + j])
    return True


@jit
def hold_instead(data, work, m, at, after):
    """Whether row `at` pushes along the velocity `after` that its joint ends with; it holds then, if not too often."""
    j, row = at
    problem = work.problem
    if work.part[m + j] != HELD or work.turned[j] >= MOST_TURNS or work.impulse[3 * m + j] * after <= 0.0:
        return False
    if abs(after) <= ALONG * work.scale[j]:
        return False
    work.part[m + j] = IN
    work.turned[j] += 1
    if problem.joint_source[row, 0] == ROW_FRICTION:
        data.friction_slips[problem.joint_source[row, 1]] = 0
    return True
