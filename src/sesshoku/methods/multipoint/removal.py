"""The removal loop, eqs. (17)-(19), (24): a minimum-norm solve over all points; those that pull leave, until none does.

Joint rows take part: limits leave when they pull, loops and mimics stay, joint friction holds the joint or pushes
against its motion (`joint_friction`).
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.constraints.rows import ROW_LOWER, ROW_UPPER
from sesshoku.dynamics.constraints.tendon_rows import ROW_TENDON_LOWER, ROW_TENDON_UPPER
from sesshoku.methods.multipoint.joint_friction import (
    exceeds,
    hold_instead,
    is_friction,
    let_go,
    one_by_one,
    push_against,
)
from sesshoku.methods.multipoint.work import HELD, IN, REMOVED
from sesshoku.solvers.minimum_norm import drop_rows, solve_symmetric

PULLS = 1e-10  # a normal impulse below minus this share of the largest pulls
APPROACHES = 1e-8  # m/s; a removed point that approaches faster comes back with `readmit`


@jit
def removal_loop(model, data, work, dt, m, joint_list):
    """Solve and remove until nothing pulls; returns the number of solves. Impulses of the island: work.impulse."""
    norm, options = work.norm, work.options
    passes, known, rows, b, z = 0, False, work.rows, work.right, work.answer
    while True:
        n = list_rows(work, m, len(joint_list))
        if n == 0:
            clear(work, m, len(joint_list))
            if turn_friction(model, data, work, dt, m, joint_list):
                continue
            return passes
        for i in range(n):
            b[i] = work.wanted[rows[i]]
        subtract_held(work, m, len(joint_list), n)
        known = solve_symmetric(n, rows, work.matrix, b, options.rank_tolerance, known, norm, z)  # (18), (19)
        passes += 1
        clear(work, m, len(joint_list))
        for i in range(n):
            work.impulse[rows[i]] = z[i]
        if not drop_offenders(model, data, work, dt, m, joint_list):
            if not turn_friction(model, data, work, dt, m, joint_list):
                return passes
            known = False
        if known:
            for i in range(n):
                r = rows[i]
                work.keep[i] = work.part[r // 3 if r < 3 * m else r - 2 * m] == IN
            drop_rows(n, work.keep, norm)


@jit
def list_rows(work, m, joints):
    """Rows that take part, in work.rows; how many. `part` holds m contacts, then the joint rows."""
    n = 0
    for i in range(m):
        if work.part[i] == IN:
            for e in range(3):
                work.rows[n + e] = 3 * i + e
            n += 3
    for j in range(joints):
        if work.part[m + j] == IN:
            work.rows[n] = 3 * m + j
            n += 1
    return n


@jit
def clear(work, m, joints):
    """No impulses but those of joint friction at its bound."""
    for r in range(3 * m):
        work.impulse[r] = 0.0
    for j in range(joints):
        if work.part[m + j] != HELD:
            work.impulse[3 * m + j] = 0.0


@jit
def subtract_held(work, m, joints, n):
    """work.right: less what joint friction at its bound does."""
    for j in range(joints):
        if work.part[m + j] == HELD:
            column, x = work.matrix[3 * m + j], work.impulse[3 * m + j]
            for i in range(n):
                work.right[i] -= column[work.rows[i]] * x


@jit
def drop_offenders(model, data, work, dt, m, joint_list):
    """Points and limits that pull leave, all together; friction beyond its bound is held there. Whether any did."""
    problem = work.problem
    part, x, found, together = work.part, work.impulse, False, not one_by_one(work, joint_list)
    push = limit = 0.0
    for i in range(m):
        if part[i] == IN:
            push = max(push, abs(x[3 * i + 2]))
    for j in range(len(joint_list)):
        if part[m + j] == IN:
            limit = max(limit, abs(x[3 * m + j]))
    for i in range(m):
        if part[i] == IN and x[3 * i + 2] < -PULLS * push:  # (24) fails
            part[i], found = REMOVED, True
    for j in range(len(joint_list)):
        if part[m + j] != IN:
            continue
        kind, r = problem.joint_source[joint_list[j], 0], 3 * m + j
        if is_limit(kind) and x[r] < -PULLS * limit:
            part[m + j], found = REMOVED, True
        elif is_friction(kind) and together and exceeds(work, m, j, joint_list[j]):
            push_against(model, data, work, dt, m, (j, joint_list[j]), -x[r])
            found = True
    return found


@jit
def turn_friction(model, data, work, dt, m, joint_list):
    """Joint friction that pushes along the motion it ends with holds instead; whether any changes."""
    found, single = False, one_by_one(work, joint_list)
    for j in range(len(joint_list)):
        if work.part[m + j] == HELD:
            after = change(work, m, len(joint_list), 3 * m + j) - work.wanted[3 * m + j]
            found = hold_instead(data, work, m, (j, joint_list[j]), after) or found
        elif single and let_go(model, data, work, dt, m, (j, joint_list[j])):
            found = True
        if single and found:
            return True
    return found


@jit
def is_limit(kind):
    """Whether a joint row pushes only one way."""
    return kind == ROW_LOWER or kind == ROW_UPPER or kind == ROW_TENDON_LOWER or kind == ROW_TENDON_UPPER


@jit
def put_back(work, contact_list, joint_list):
    """Points and limits that were removed and approach after all take part again; whether any does."""
    m, part, found = len(contact_list), work.part, False
    for i in range(m):
        if part[i] == REMOVED:
            target = work.target[contact_list[i], 2]
            after = change(work, m, len(joint_list), 3 * i + 2) - work.wanted[3 * i + 2] + target
            if after < min(target, 0.0) - APPROACHES:
                part[i], found = IN, True
    for j in range(len(joint_list)):
        if part[m + j] == REMOVED:
            beyond = change(work, m, len(joint_list), 3 * m + j) - work.wanted[3 * m + j]
            if beyond < -APPROACHES * work.scale[j]:
                part[m + j], found = IN, True
    return found


@jit
def change(work, m, joints, row):
    """Velocity change along a row that the island's impulses make."""
    total, mine, x = 0.0, work.matrix[row], work.impulse
    for r in range(3 * m + joints):
        total += mine[r] * x[r]
    return total


@jit
def seen_before(work, count, contact_list, joints):
    """Whether the present set was settled on before (by a number made of it); notes it as seen[count] if not."""
    m, number = len(contact_list), 1469598103
    for i in range(m + joints):
        state = work.part[i] + 1 + (4 * work.slips[contact_list[i]] if i < m else 0)
        number = ((number ^ state) * 1099511627 + i) & 0x3FFFFFFFFFFFFFF
    for k in range(count):
        if work.seen[k] == number:
            return True
    work.seen[count] = number
    return False
