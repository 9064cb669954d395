"""Coulomb's law after the normal forces, eqs. (21)-(28); and the loop again with it (`friction_coupling="resolve"`)."""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit
from sesshoku.methods.multipoint.joint_friction import start_friction
from sesshoku.methods.multipoint.options import AFTER, BY_LOAD
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

SHARINGS = 2  # rounds in which sticking points share friction by their load
LEAST_SHARE = 1e-6  # of the mean load
DIRECTIONS = 12  # rounds in which slips turn
STEADY_DIRECTION = 2e-3  # changes of a direction below this are none
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
        if work.options.friction_shares == BY_LOAD and work.speed[c] <= work.threshold[c]:
            work.slips[c] = 0  # judged when friction is shared (`share_by_load`)
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
    m, passes, settled, shared, turned = len(contact_list), 0, 0, 0, 0
    for i in range(m):
        work.share[contact_list[i]] = 1.0
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
        if options.friction_shares == BY_LOAD and shared < SHARINGS and share_by_load(work, contact_list):
            shared += 1
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
        if options.slip_direction == AFTER and turned < DIRECTIONS and turn_slips(work, contact_list, len(joint_list)):
            turned += 1
            continue
        if options.readmit and settled < m + len(joint_list):
            if not seen_before(work, settled, contact_list, len(joint_list)):
                settled += 1
                if put_back(work, contact_list, joint_list):
                    continue
        return passes


@jit
def share_by_load(work, contact_list):
    """Where a sticking point leaves its cone: friction is to be shared in the ratio of loads; whether one does.

    The smallest sum of f_t^2 / f_n instead of f_t^2: a pure push loads all cones alike.
    """
    contacts, x = work.contacts, work.impulse
    count, total, leaves = 0, 0.0, False
    for i in range(len(contact_list)):
        c = contact_list[i]
        if work.part[i] == IN and not work.slips[c] and not work.jammed[c]:
            push = max(x[3 * i + 2], 0.0)
            leaves = leaves or sqrt(x[3 * i] ** 2 + x[3 * i + 1] ** 2) > contacts.material[c, 0] * push
            count, total = count + 1, total + push
    if not leaves or total <= 0.0:
        return False
    for i in range(len(contact_list)):
        work.share[contact_list[i]] = sqrt(max(x[3 * i + 2] * count / total, LEAST_SHARE))
    return True


@jit
def turn_slips(work, contact_list, joints):
    """Friction of slipping points against the slip they end with; whether a direction still changes.

    d <- (v + c d) / |v + c d| with v the slip at the end and c what friction of all points may take off it: where all
    points go one way, d is the slip without friction after one round.
    """
    contacts, problem, x = work.contacts, work.problem, work.impulse
    m, found = len(contact_list), False
    for i in range(m):
        c, d = contact_list[i], work.against[contact_list[i]]
        if work.part[i] != IN or not work.slips[c] or x[3 * i + 2] <= 0.0:
            continue
        free, reach = problem.free[c], 0.0
        for k in range(m):
            if work.part[k] == IN and work.slips[contact_list[k]]:
                a, b = work.matrix[3 * i], work.matrix[3 * i + 1]
                size = sqrt(a[3 * k] ** 2 + a[3 * k + 1] ** 2 + b[3 * k] ** 2 + b[3 * k + 1] ** 2)
                reach += size * contacts.material[contact_list[k], 1] * max(x[3 * k + 2], 0.0)
        u = free[0] + change(work, m, joints, 3 * i) + reach * d[0]
        v = free[1] + change(work, m, joints, 3 * i + 1) + reach * d[1]
        size = sqrt(u * u + v * v)
        if size <= 0.0:
            continue
        found = found or abs(u / size - d[0]) + abs(v / size - d[1]) > STEADY_DIRECTION
        work.new_against[c, 0], work.new_against[c, 1] = u / size, v / size
    if found:
        for i in range(m):
            c = contact_list[i]
            if work.part[i] == IN and work.slips[c] and x[3 * i + 2] > 0.0:
                work.against[c, 0], work.against[c, 1] = work.new_against[c, 0], work.new_against[c, 1]
                check_sliding(work, i, c)
    return found


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
            elif r < 3 * m and r % 3 != 2:
                mine[b] *= work.share[contact_list[r // 3]]
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
                x[3 * i + e] = work.answer[n + e] * (work.share[c] if e < 2 else 1.0)
            n += 3
    for j in range(joints):
        if work.part[m + j] == IN:
            x[3 * m + j] = work.answer[n]
            n += 1
