"""Coulomb's law after the normal forces, eqs. (21)-(28); and the loop again with it (`friction_coupling="resolve"`)."""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit
from sesshoku.methods.multipoint.joint_friction import start_friction
from sesshoku.methods.multipoint.removal import (
    change,
    clear,
    drop_offenders,
    put_back,
    seen_before,
    turn_friction,
)
from sesshoku.methods.multipoint.work import AWAY, HELD, IN, REMOVED
from sesshoku.solvers.minimum_norm import solve_general

UNSOLVABLE = 1e-6  # normal velocity per normal impulse of a sliding point, as a share of that without friction


@jit
def classify(work, contact_list):
    """Kinetic where the point slips or its trial force leaves the static cone; how many are.

    `against` is the slip direction; where the point did not slip, minus that of the trial force, which opposes the slip
    that is about to begin.
    """
    count = 0
    for i in range(len(contact_list)):
        c = contact_list[i]
        if work.part[i] == AWAY:
            continue
        if work.speed[c] > work.threshold[c]:  # (26): v_sigma > 0
            work.slips[c] = 1
        elif work.part[i] == IN:
            break_away(work, i, c)
        count += work.slips[c]
    return count


@jit
def break_away(work, i, c):
    """Kinetic friction from now on if the tangential impulse is more than static friction can give; whether it is."""
    contacts = work.contacts
    x, y, push = work.impulse[3 * i], work.impulse[3 * i + 1], work.impulse[3 * i + 2]
    size = sqrt(x * x + y * y)  # (21)-(23): f_nu is push, f_sigma is size
    if size > contacts.material[c, 0] * max(push, 0.0) and size > 0.0:  # (25) fails
        work.slips[c] = 1
        work.against[c, 0], work.against[c, 1] = -x / size, -y / size
        return True
    return False


@jit
def cut_friction(work, contact_list):
    """Impulses of the island cut to Coulomb's law, eq. (27) where it slips, eq. (28) where it sticks; nothing pulls."""
    contacts = work.contacts
    x = work.impulse
    for i in range(len(contact_list)):
        c = contact_list[i]
        push = max(x[3 * i + 2], 0.0)
        x[3 * i + 2] = push
        if work.slips[c]:
            bound = contacts.material[c, 1] * push
            x[3 * i], x[3 * i + 1] = -bound * work.against[c, 0], -bound * work.against[c, 1]  # (27), + in print
        elif work.jammed[c] or push == 0.0:
            size, bound = sqrt(x[3 * i] ** 2 + x[3 * i + 1] ** 2), contacts.material[c, 0] * push
            if size > bound:
                x[3 * i], x[3 * i + 1] = x[3 * i] * bound / size, x[3 * i + 1] * bound / size


@jit
def resolve_loop(model, data, work, dt, contact_list, joint_list):
    """The removal loop with friction in it: a point that slips has one unknown, f_n (n - mu_k d), and one equation.

    Begins with all points. Sticking points that leave their cone begin to slip. Returns the number of solves.
    """
    norm, options = work.norm, work.options
    m, passes, settled = len(contact_list), 0, 0
    for u in range(m + len(joint_list)):
        if work.part[u] == REMOVED:
            work.part[u] = IN
    start_friction(model, data, work, dt, m, joint_list)
    for i in range(m):
        if work.slips[contact_list[i]]:
            check_sliding(work, i, contact_list[i])
    while True:
        n = fill_reduced(work, contact_list, len(joint_list))
        if n > 0:
            solve_general(n, work.reduced, work.right, options.rank_tolerance, norm, work.answer)
            passes += 1
        spread_answer(work, contact_list, len(joint_list))
        if drop_offenders(model, data, work, dt, m, joint_list):
            continue
        broke = False
        for i in range(m):
            c = contact_list[i]
            if work.part[i] == IN and not work.slips[c] and not work.jammed[c]:
                if break_away(work, i, c):
                    check_sliding(work, i, c)
                    broke = True
        if broke or (options.stop_reversals and stop_reversed(work, contact_list, len(joint_list))):
            continue
        if turn_friction(model, data, work, dt, m, joint_list):
            continue
        if options.readmit and settled < m + len(joint_list):
            if not seen_before(work, settled, contact_list, len(joint_list)):
                settled += 1
                if put_back(work, contact_list, joint_list):
                    continue
        return passes


@jit
def check_sliding(work, i, c):
    """A point that friction presses into the surface as fast as its normal force lifts it (Painlevé) is stopped."""
    contacts, problem = work.contacts, work.problem
    W, mu, d = problem.block[c], contacts.material[c, 1], work.against[c]
    if W[2, 2] - mu * (W[2, 0] * d[0] + W[2, 1] * d[1]) <= UNSOLVABLE * W[2, 2]:
        work.slips[c], work.jammed[c] = 0, 1
        ask_to_stop(work, i, c)


@jit
def ask_to_stop(work, i, c):
    """No velocity along the surface after the step."""
    for e in range(2):
        work.wanted[3 * i + e] -= work.target[c, e]
        work.target[c, e] = 0.0


@jit
def stop_reversed(work, contact_list, joints):
    """Points whose slip friction turned round are asked to stop, once in a step; whether any is."""
    problem = work.problem
    m, found = len(contact_list), False
    for i in range(m):
        c = contact_list[i]
        if work.part[i] != IN or not work.slips[c] or work.tried[c]:
            continue
        d, free = work.against[c], problem.free[c]
        after = (d[0] * (free[0] + change(work, m, joints, 3 * i))
                 + d[1] * (free[1] + change(work, m, joints, 3 * i + 1)))
        if after < 0.0:
            work.slips[c], work.tried[c], found = 0, 1, True
            ask_to_stop(work, i, c)
    return found


@jit
def fill_reduced(work, contact_list, joints):
    """The square system of the points and joint rows that take part, its right-hand side; how many equations."""
    contacts = work.contacts
    m, rows, A, M = len(contact_list), work.rows, work.reduced, work.matrix
    n = 0
    for i in range(m):
        if work.part[i] == IN:
            for e in range(2 if work.slips[contact_list[i]] else 0, 3):
                rows[n] = 3 * i + e
                n += 1
    for j in range(joints):
        if work.part[m + j] == IN:
            rows[n] = 3 * m + j
            n += 1
    for a in range(n):
        mine, row = A[a], M[rows[a]]
        work.right[a] = work.wanted[rows[a]]
        for b in range(n):
            r = rows[b]
            mine[b] = row[r]
            if r < 3 * m and work.slips[contact_list[r // 3]]:
                c = contact_list[r // 3]
                mu, d = contacts.material[c, 1], work.against[c]
                mine[b] -= mu * (d[0] * row[r - 2] + d[1] * row[r - 1])
        for j in range(joints):
            if work.part[m + j] == HELD:
                work.right[a] -= row[3 * m + j] * work.impulse[3 * m + j]
    return n


@jit
def spread_answer(work, contact_list, joints):
    """Impulses of all rows from the unknowns of the reduced system."""
    contacts = work.contacts
    m, n, x = len(contact_list), 0, work.impulse
    clear(work, m, joints)
    for i in range(m):
        if work.part[i] != IN:
            continue
        c = contact_list[i]
        if work.slips[c]:
            push, mu, d = work.answer[n], contacts.material[c, 1], work.against[c]
            x[3 * i], x[3 * i + 1], x[3 * i + 2] = -mu * push * d[0], -mu * push * d[1], push  # (27), + in print
            n += 1
        else:
            for e in range(3):
                x[3 * i + e] = work.answer[n + e]
            n += 3
    for j in range(joints):
        if work.part[m + j] == IN:
            x[3 * m + j] = work.answer[n]
            n += 1
