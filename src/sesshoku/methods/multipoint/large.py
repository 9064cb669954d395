"""Islands with more rows than a matrix is formed for: the same loop, its solves by conjugate gradients on the rows.

M^+ = (Z^T)^+ Z^+ with M = Z Z^T, so that x = M^+ b is two least-squares problems with the root of M's condition:
    y = Z^+ b        CGLS from zero: the least-squares y of smallest norm
    x = (Z^T)^+ y    conjugate gradients on Z^T Z w = y, x = Z w: the smallest x with Z^T x = y
Friction within the solve (`resolve`) lags: friction of slipping points is taken from the normal forces of the round
before; removed points are readmitted a few times per round. Reversals are not stopped here.
"""

from __future__ import annotations

from math import inf, sqrt

from sesshoku.compiled.jit import jit
from sesshoku.methods.multipoint.friction import break_away, classify, cut_friction
from sesshoku.methods.multipoint.joint_friction import hold_instead, let_go, one_by_one, start_friction
from sesshoku.methods.multipoint.options import RESOLVE
from sesshoku.methods.multipoint.removal import APPROACHES, drop_offenders
from sesshoku.methods.multipoint.thresholds import fit_thresholds
from sesshoku.methods.multipoint.work import AWAY, HELD, IN, REMOVED
from sesshoku.solvers.problem import push_contact, push_joint, read_contact, read_joint
from sesshoku.stages.report import CONVERGED

MOST_STEPS = 200  # of conjugate gradients
CLOSE = 1e-9  # they end when the residual is this share of the first
ROUNDS = 4  # of friction that lags
READMISSIONS = 2  # in a round
STEADY = 1e-6  # and those when no normal impulse changes by more than this share of the largest


@jit
def solve_large(model, data, work, dt, lists):
    """The method on one island, matrix-free; impulses in work.impulse. Returns the number of solves."""
    contact_list, joint_list = lists[0], lists[1]
    options = work.options
    m = len(contact_list)
    load_island(work, contact_list, joint_list)
    again = READMISSIONS if options.readmit else 0
    start_loop(model, data, work, dt, contact_list, joint_list)
    passes = large_loop(model, data, work, dt, lists, False, again)
    if options.slip_threshold == inf and fit_thresholds(model, work, lists):
        start_loop(model, data, work, dt, contact_list, joint_list)
        passes = max(passes, large_loop(model, data, work, dt, lists, False, again))
    slipping = classify(work, contact_list)
    if slipping > 0 and options.friction_coupling == RESOLVE:
        start_loop(model, data, work, dt, contact_list, joint_list)
        for _ in range(ROUNDS):
            largest = moved = 0.0
            for i in range(m):
                work.keep_push[i] = work.impulse[3 * i + 2]
            cut_friction(work, contact_list)
            passes += large_loop(model, data, work, dt, lists, True, again)
            for i in range(m):
                largest = max(largest, abs(work.impulse[3 * i + 2]))
                moved = max(moved, abs(work.impulse[3 * i + 2] - work.keep_push[i]))
                if work.part[i] == IN and not work.slips[contact_list[i]]:
                    if break_away(work, i, contact_list[i]):
                        moved = largest
            if moved <= STEADY * largest:
                break
    return passes


@jit
def start_loop(model, data, work, dt, contact_list, joint_list):
    """All take part but points that are not to be touched and friction of joints that move."""
    m = len(contact_list)
    for i in range(m):
        work.part[i] = AWAY if work.away[contact_list[i]] else IN
    for j in range(len(joint_list)):
        work.part[m + j] = IN
    start_friction(model, data, work, dt, m, joint_list)


@jit
def load_island(work, contact_list, joint_list):
    """Wanted changes of velocity, scales of the joint rows."""
    problem = work.problem
    m, largest = len(contact_list), 0.0
    for i in range(m):
        c = contact_list[i]
        free, target, wanted = problem.free[c], work.target[c], work.wanted[3 * i : 3 * i + 3]
        wanted[0], wanted[1], wanted[2] = target[0] - free[0], target[1] - free[1], -free[2]  # (17): Delta a
        for e in range(3):
            largest = max(largest, problem.block[c, e, e])
    for j in range(len(joint_list)):
        size = problem.joint_block[joint_list[j]]
        s = sqrt((largest if largest > 0.0 else 1.0) / size) if size > 0.0 else 1.0
        work.scale[j] = s
        work.wanted[3 * m + j] = -s * problem.joint_free[joint_list[j]]


@jit
def large_loop(model, data, work, dt, lists, lagging, again):
    """Solve and remove until nothing pulls, and `again` times with removed points that approach put back.

    lagging: friction of slipping points stands as it is in work.impulse.
    """
    contact_list, joint_list, dof_list = lists
    problem = work.problem
    m, passes, x, chains = len(contact_list), 0, work.impulse, model.row_dof
    rows = 3 * m + len(joint_list)
    while True:
        y = work.lines[0]
        zero(dof_list, y)
        for i in range(m):
            if lagging and work.part[i] == IN and work.slips[contact_list[i]]:
                push_contact(chains, problem, contact_list[i], x[3 * i], x[3 * i + 1], 0.0, y)
        for j in range(len(joint_list)):
            if work.part[m + j] == HELD:
                push_joint(chains, problem, joint_list[j], work.scale[j] * x[3 * m + j], y)
        times_rows(work, chains, contact_list, joint_list, lagging, y, work.right)
        for r in range(rows):
            work.right[r] = work.wanted[r] - work.right[r]
        if not conjugate_gradients(work, chains, lists, lagging):
            data.report[CONVERGED] = 0.0
        passes += 1
        for i in range(m):
            first = 2 if lagging and work.slips[contact_list[i]] and work.part[i] == IN else 0
            for e in range(first, 3):
                x[3 * i + e] = work.answer[3 * i + e] if work.part[i] == IN else 0.0
        for j in range(len(joint_list)):
            if work.part[m + j] != HELD:
                x[3 * m + j] = work.answer[3 * m + j] if work.part[m + j] == IN else 0.0
        if drop_offenders(model, data, work, dt, m, joint_list):
            continue
        if turn_friction_large(model, data, work, dt, lists):
            continue
        if again == 0 or not put_back_large(work, chains, contact_list, joint_list, dof_list):
            return passes
        again -= 1


@jit
def response(work, chains, contact_list, joint_list, dof_list):
    """work.lines[0]: y of the island's impulses as they stand."""
    problem = work.problem
    m, x, y = len(contact_list), work.impulse, work.lines[0]
    zero(dof_list, y)
    for i in range(m):
        if work.part[i] == IN:
            push_contact(chains, problem, contact_list[i], x[3 * i], x[3 * i + 1], x[3 * i + 2], y)
    for j in range(len(joint_list)):
        push_joint(chains, problem, joint_list[j], work.scale[j] * x[3 * m + j], y)


@jit
def turn_friction_large(model, data, work, dt, lists):
    """Joint friction that pushes along the motion it ends with holds instead; whether any changes."""
    contact_list, joint_list, dof_list = lists
    m, y, found, single, pushes = len(contact_list), work.lines[0], False, one_by_one(work, joint_list), False
    for j in range(len(joint_list)):
        pushes = pushes or work.part[m + j] == HELD
    if not pushes:
        return False
    response(work, model.row_dof, contact_list, joint_list, dof_list)
    for j in range(len(joint_list)):
        if work.part[m + j] == HELD:
            after = work.scale[j] * read_joint(model.row_dof, work.problem, joint_list[j], y) - work.wanted[3 * m + j]
            found = hold_instead(data, work, m, (j, joint_list[j]), after) or found
        elif single and let_go(model, data, work, dt, m, (j, joint_list[j])):
            found = True
        if single and found:
            return True
    return found


@jit
def put_back_large(work, chains, contact_list, joint_list, dof_list):
    """Points and limits that were removed and approach after all take part again; whether any does."""
    problem = work.problem
    m, y, found = len(contact_list), work.lines[0], False
    response(work, chains, contact_list, joint_list, dof_list)
    for i in range(m):
        if work.part[i] == REMOVED:
            _, _, u = read_contact(chains, problem, contact_list[i], y)
            target = work.target[contact_list[i], 2]
            if u - work.wanted[3 * i + 2] + target < min(target, 0.0) - APPROACHES:
                work.part[i], found = IN, True
    for j in range(len(joint_list)):
        if work.part[m + j] == REMOVED:
            u = work.scale[j] * read_joint(chains, problem, joint_list[j], y)
            if u - work.wanted[3 * m + j] < -APPROACHES * work.scale[j]:
                work.part[m + j], found = IN, True
    return found


@jit
def zero(dof_list, y):
    for n in range(len(dof_list)):
        for k in range(dof_list[n, 0], dof_list[n, 1]):
            y[k] = 0.0


@jit
def inner(dof_list, a, b):
    total = 0.0
    for n in range(len(dof_list)):
        for k in range(dof_list[n, 0], dof_list[n, 1]):
            total += a[k] * b[k]
    return total


@jit
def add(dof_list, factor, a, b, out):
    """out = a + factor b over the island's dofs."""
    for n in range(len(dof_list)):
        for k in range(dof_list[n, 0], dof_list[n, 1]):
            out[k] = a[k] + factor * b[k]


@jit
def times_rows(work, chains, contact_list, joint_list, lagging, y, rows_out):
    """rows_out = Z y of the rows that take part, 0 of others; returns its square."""
    problem = work.problem
    m, square = len(contact_list), 0.0
    for i in range(m):
        out = rows_out[3 * i : 3 * i + 3]
        out[0] = out[1] = out[2] = 0.0
        if work.part[i] == IN:
            u0, u1, u2 = read_contact(chains, problem, contact_list[i], y)
            if not (lagging and work.slips[contact_list[i]]):
                out[0], out[1] = u0, u1
            out[2] = u2
            square += out[0] * out[0] + out[1] * out[1] + out[2] * out[2]
    for j in range(len(joint_list)):
        r = 3 * m + j
        rows_out[r] = 0.0
        if work.part[m + j] == IN:
            rows_out[r] = work.scale[j] * read_joint(chains, problem, joint_list[j], y)
            square += rows_out[r] * rows_out[r]
    return square


@jit
def times_columns(work, chains, lists, lagging, rows, y_out):
    """y_out = Z^T rows, of the rows that take part."""
    contact_list, joint_list, dof_list = lists
    problem = work.problem
    m = len(contact_list)
    zero(dof_list, y_out)
    for i in range(m):
        if work.part[i] == IN:
            r0, r1, r2 = rows[3 * i], rows[3 * i + 1], rows[3 * i + 2]
            if lagging and work.slips[contact_list[i]]:
                r0 = r1 = 0.0
            push_contact(chains, problem, contact_list[i], r0, r1, r2, y_out)
    for j in range(len(joint_list)):
        if work.part[m + j] == IN:
            push_joint(chains, problem, joint_list[j], work.scale[j] * rows[3 * m + j], y_out)


@jit
def conjugate_gradients(work, chains, lists, lagging):
    """eqs. (18), (19): work.answer = (Z^T)^+ Z^+ work.right; work.right is used up. False if steps did not suffice."""
    contact_list, joint_list, dof_list = lists
    n = 3 * len(contact_list) + len(joint_list)
    y, s, p, q, r, x = work.lines[0], work.lines[1], work.lines[2], work.image, work.right, work.answer
    zero(dof_list, y)
    times_columns(work, chains, lists, lagging, r, s)
    add(dof_list, 0.0, s, s, p)
    size = first = inner(dof_list, s, s)
    done = False
    for _ in range(MOST_STEPS):
        if size <= CLOSE * CLOSE * first:
            done = True
            break
        a = size / times_rows(work, chains, contact_list, joint_list, lagging, p, q)
        add(dof_list, a, y, p, y)
        for i in range(n):
            r[i] -= a * q[i]
        times_columns(work, chains, lists, lagging, r, s)
        before, size = size, inner(dof_list, s, s)
        add(dof_list, size / before, s, p, p)
    for i in range(n):
        x[i] = 0.0
    add(dof_list, 0.0, y, y, p)
    size = first = inner(dof_list, y, y)
    for _ in range(MOST_STEPS):
        if size <= CLOSE * CLOSE * first:
            return done
        a = size / times_rows(work, chains, contact_list, joint_list, lagging, p, q)
        for i in range(n):
            x[i] += a * q[i]
        times_columns(work, chains, lists, lagging, q, s)
        add(dof_list, -a, y, s, y)
        before, size = size, inner(dof_list, y, y)
        add(dof_list, size / before, y, p, p)
    return False
