"""The paper's way to solve an island.

Form its matrix K, by unit test forces or from the mass matrix, and sweep its rows.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.aba import path_acceleration, wrench_response
from sesshoku.methods.lcp.options import BY_TEST_FORCES
from sesshoku.solvers.island_matrix import fill_contacts, fill_joints
from sesshoku.solvers.pgs_dense import solve_dense
from sesshoku.solvers.problem import push_contact, push_joint
from sesshoku.spatial.algebra import cross


@jit
def gather(chains, problem, contact_list, joint_list, y):
    """y += Z^T x of some rows."""
    for n in range(len(contact_list)):
        c = contact_list[n]
        x = problem.impulse[c]
        if x[2] != 0.0 or x[0] != 0.0 or x[1] != 0.0:
            push_contact(chains, problem, c, x[0], x[1], x[2], y)
    for n in range(len(joint_list)):
        j = joint_list[n]
        if problem.joint_impulse[j] != 0.0:
            push_joint(chains, problem, j, problem.joint_impulse[j], y)


@jit
def solve_by_matrix(model, data, work, lists, most, tolerance):
    """The paper's way: form K of the island, sweep its rows."""
    contact_list, joint_list = lists[0], lists[1]
    problem = work.problem
    m, nj, K, x, w = len(contact_list), len(joint_list), work.matrix, work.row_impulse, work.row_velocity
    for i in range(m):
        c = contact_list[i]
        work.row_law[i], work.row_mu[i] = work.law[c], work.mu[c]
        for d in range(3):
            x[3 * i + d], w[3 * i + d] = problem.impulse[c, d], problem.free[c, d]
    for i in range(nj):
        j = joint_list[i]
        x[3 * m + i], w[3 * m + i] = problem.joint_impulse[j], problem.joint_free[j]
        work.row_low[i], work.row_high[i] = problem.joint_low[j], problem.joint_high[j]
    if work.matrix_by == BY_TEST_FORCES:
        fill_by_test_forces(model, data, work, contact_list)
    else:
        fill_contacts(model.row_dof, problem, contact_list, K)
    fill_joints(model.row_dof, problem, lists, work.y_before, K)
    for r in range(3 * m + nj):
        for s in range(3 * m + nj):
            w[r] += K[r, s] * x[s]  # (1), (6), (11): w is z dt, x is f dt
    sweeps = solve_dense(m, nj, K, (work.row_law, work.row_mu), (work.row_low, work.row_high), x, w, (most, tolerance))
    for i in range(m):
        for d in range(3):
            problem.impulse[contact_list[i], d] = x[3 * i + d]
    for i in range(nj):
        problem.joint_impulse[joint_list[i]] = x[3 * m + i]
    gather(model.row_dof, problem, contact_list, joint_list, problem.y)
    return sweeps


@jit
def fill_by_test_forces(model, data, work, contact_list):
    """(6): columns of K by unit test forces, +axis on b, -axis on a, articulated-body response, read along all axes.

    A column takes one acceleration of each link that is touched, and a product for each row: O(links depth + rows).
    """
    contacts = work.contacts
    K, count = work.matrix, len(contact_list)
    for i in range(count):
        for side in range(2):
            if contacts.link[contact_list[i], side] >= 0:
                for d in range(3):
                    unit_wrench(model, data, work, contact_list[i], d, side, work.unit[i, side, d])
    for n in range(model.link_count):
        work.answered[n] = -1
    for i in range(count):
        c = contact_list[i]
        for d in range(3):
            column = 3 * i + d
            for side in range(2):
                link = contacts.link[c, side]
                if link >= 0:
                    wrench_response(model, data, link, work.unit[i, side, d], work.response[side])
            for e in range(count):
                for b in range(3):
                    K[3 * e + b, column] = 0.0
                for reader in range(2):
                    link = contacts.link[contact_list[e], reader]
                    if link < 0:
                        continue
                    acc = work.link_response[link]
                    if work.answered[link] != column:
                        work.answered[link] = column
                        link_acceleration(model, data, work, c, link, acc)
                    for b in range(3):
                        wrench, s = work.unit[e, reader, b], 0.0
                        for a in range(6):
                            s += wrench[a] * acc[a]
                        K[3 * e + b, column] += s


@jit
def link_acceleration(model, data, work, c, link, acceleration_out):
    """Acceleration (6) of a link by the test force at contact c, of both its sides; work.response has theirs."""
    contacts, part = work.contacts, work.small[0]
    for a in range(6):
        acceleration_out[a] = 0.0
    for side in range(2):
        source = contacts.link[c, side]
        if source >= 0 and model.link_tree[source] == model.link_tree[link]:
            path_acceleration(model, data, source, link, work.response[side], part)
            for a in range(6):
                acceleration_out[a] += part[a]


@jit
def unit_wrench(model, data, work, c, d, side, wrench_out):
    """Wrench, at the tree's origin, of the unit test force along axis d of contact c on one of its links."""
    contacts, problem = work.contacts, work.problem
    o, p = data.tree_origin[model.link_tree[contacts.link[c, side]]], contacts.point[c]
    sign = 1.0 if side else -1.0
    fx, fy, fz = sign * problem.axes[c, d, 0], sign * problem.axes[c, d, 1], sign * problem.axes[c, d, 2]
    wrench_out[0], wrench_out[1], wrench_out[2] = fx, fy, fz
    wrench_out[3], wrench_out[4], wrench_out[5] = cross(p[0] - o[0], p[1] - o[1], p[2] - o[2], fx, fy, fz)
