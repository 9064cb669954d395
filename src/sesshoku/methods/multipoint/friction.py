"""Coulomb's law after the normal forces, (21)-(28); and the loop run again with it (`friction_coupling="resolve"`)."""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit
from sesshoku.methods.multipoint.options import RANK_TOLERANCE, READMIT, SLIP_SPEED, STOP
from sesshoku.methods.multipoint.removal import change, clear, drop_offenders, put_back, seen_before
from sesshoku.methods.multipoint.work import AWAY, HELD, IN, REMOVED
from sesshoku.solvers.minimum_norm import solve_general

UNSOLVABLE = 1e-6  # normal velocity per normal impulse of a sliding point, as a share of that without friction


@jit
def classify(contacts, memory, options, contact_list):
    """Kinetic where the point slips or its trial force leaves the static cone; how many are.

    `against` is the slip direction; where the point did not slip, minus that of the trial force, which opposes the slip
    that is about to begin.
    """
    count = 0
    for i in range(len(contact_list)):
        c = contact_list[i]
        if memory.part[i] == AWAY:
            continue
        if memory.speed[c] > options[SLIP_SPEED]:
            memory.slips[c] = 1
        elif memory.part[i] == IN:
            break_away(contacts, memory, i, c)
        count += memory.slips[c]
    return count


@jit
def break_away(contacts, memory, i, c):
    """Kinetic friction from now on if the tangential impulse is more than static friction can give; whether it is."""
    x, y, push = memory.impulse[3 * i], memory.impulse[3 * i + 1], memory.impulse[3 * i + 2]
    size = sqrt(x * x + y * y)
    if size > contacts.material[c, 0] * max(push, 0.0) and size > 0.0:
        memory.slips[c] = 1
        memory.against[c, 0], memory.against[c, 1] = -x / size, -y / size
        return True
    return False


@jit
def cut_friction(contacts, memory, contact_list):
    """Impulses of the island cut to Coulomb's law: (27) where it slips, (28) where it sticks; nothing pulls."""
    x = memory.impulse
    for i in range(len(contact_list)):
        c = contact_list[i]
        push = max(x[3 * i + 2], 0.0)
        x[3 * i + 2] = push
        if memory.slips[c]:
            bound = contacts.material[c, 1] * push
            x[3 * i], x[3 * i + 1] = -bound * memory.against[c, 0], -bound * memory.against[c, 1]
        elif memory.jammed[c] or push == 0.0:
            size, bound = sqrt(x[3 * i] ** 2 + x[3 * i + 1] ** 2), contacts.material[c, 0] * push
            if size > bound:
                x[3 * i], x[3 * i + 1] = x[3 * i] * bound / size, x[3 * i + 1] * bound / size


@jit
def resolve_loop(model, data, contacts, problem, memory, norm, options, dt, contact_list, joint_list):
    """The removal loop with friction in it: a point that slips has one unknown, f_n (n - mu_k d), and one equation.

    Begins with all points. Sticking points that leave their cone begin to slip. Returns the number of solves.
    """
    m, passes, settled = len(contact_list), 0, 0
    for u in range(m + len(joint_list)):
        if memory.part[u] == REMOVED or memory.part[u] == HELD:
            memory.part[u] = IN
    for i in range(m):
        if memory.slips[contact_list[i]]:
            check_sliding(contacts, problem, memory, i, contact_list[i])
    while True:
        n = fill_reduced(contacts, memory, contact_list, len(joint_list))
        if n > 0:
            solve_general(n, memory.reduced, memory.right, options[RANK_TOLERANCE], norm, memory.answer)
            passes += 1
        spread_answer(contacts, memory, contact_list, len(joint_list))
        if drop_offenders(model, data, problem, memory, dt, m, joint_list):
            continue
        broke = False
        for i in range(m):
            c = contact_list[i]
            if memory.part[i] == IN and not memory.slips[c] and not memory.jammed[c]:
                if break_away(contacts, memory, i, c):
                    check_sliding(contacts, problem, memory, i, c)
                    broke = True
        if broke or (options[STOP] and stop_reversed(problem, memory, contact_list, len(joint_list))):
            continue
        if options[READMIT] and settled < m + len(joint_list):
            if not seen_before(memory, settled, contact_list, len(joint_list)):
                settled += 1
                if put_back(problem, memory, contact_list, joint_list):
                    continue
        return passes


@jit
def check_sliding(contacts, problem, memory, i, c):
    """A point that friction presses into the surface as fast as its normal force lifts it (Painlevé) is stopped."""
    W, mu, d = problem.block[c], contacts.material[c, 1], memory.against[c]
    if W[2, 2] - mu * (W[2, 0] * d[0] + W[2, 1] * d[1]) <= UNSOLVABLE * W[2, 2]:
        memory.slips[c], memory.jammed[c] = 0, 1
        ask_to_stop(memory, i, c)


@jit
def ask_to_stop(memory, i, c):
    """No velocity along the surface after the step."""
    for e in range(2):
        memory.wanted[3 * i + e] -= memory.target[c, e]
        memory.target[c, e] = 0.0


@jit
def stop_reversed(problem, memory, contact_list, joints):
    """Points whose slip friction turned round are asked to stop, once in a step; whether any is."""
    m, found = len(contact_list), False
    for i in range(m):
        c = contact_list[i]
        if memory.part[i] != IN or not memory.slips[c] or memory.tried[c]:
            continue
        d, free = memory.against[c], problem.free[c]
        after = (d[0] * (free[0] + change(memory, m, joints, 3 * i))
                 + d[1] * (free[1] + change(memory, m, joints, 3 * i + 1)))  # fmt: skip
        if after < 0.0:
            memory.slips[c], memory.tried[c], found = 0, 1, True
            ask_to_stop(memory, i, c)
    return found


@jit
def fill_reduced(contacts, memory, contact_list, joints):
    """The square system of the points and joint rows that take part, its right-hand side; how many equations."""
    m, rows, A, M = len(contact_list), memory.rows, memory.reduced, memory.matrix
    n = 0
    for i in range(m):
        if memory.part[i] == IN:
            for e in range(2 if memory.slips[contact_list[i]] else 0, 3):
                rows[n] = 3 * i + e
                n += 1
    for j in range(joints):
        if memory.part[m + j] == IN:
            rows[n] = 3 * m + j
            n += 1
    for a in range(n):
        mine, row = A[a], M[rows[a]]
        memory.right[a] = memory.wanted[rows[a]]
        for b in range(n):
            r = rows[b]
            mine[b] = row[r]
            if r < 3 * m and memory.slips[contact_list[r // 3]]:
                c = contact_list[r // 3]
                mu, d = contacts.material[c, 1], memory.against[c]
                mine[b] -= mu * (d[0] * row[r - 2] + d[1] * row[r - 1])
        for j in range(joints):
            if memory.part[m + j] == HELD:
                memory.right[a] -= row[3 * m + j] * memory.impulse[3 * m + j]
    return n


@jit
def spread_answer(contacts, memory, contact_list, joints):
    """Impulses of all rows from the unknowns of the reduced system."""
    m, n, x = len(contact_list), 0, memory.impulse
    clear(memory, m, joints)
    for i in range(m):
        if memory.part[i] != IN:
            continue
        c = contact_list[i]
        if memory.slips[c]:
            push, mu, d = memory.answer[n], contacts.material[c, 1], memory.against[c]
            x[3 * i], x[3 * i + 1], x[3 * i + 2] = -mu * push * d[0], -mu * push * d[1], push
            n += 1
        else:
            for e in range(3):
                x[3 * i + e] = memory.answer[n + e]
            n += 3
    for j in range(joints):
        if memory.part[m + j] == IN:
            x[3 * m + j] = memory.answer[n]
            n += 1
