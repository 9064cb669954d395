"""An island's rows side by side: copies of its data, and products with Z and Z^T over all of them."""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.solvers.problem import contacts_among, push_contact, push_joint, read_contact, read_joint
from sesshoku.solvers.proximal.pairs import find_runs, push_pairs, read_pairs
from sesshoku.solvers.proximal.rolling import load_rolling
from sesshoku.solvers.proximal.work import CONTACT_BLOCKS


@jit
def load_island(problem, mu, contact_list, joint_list, work):
    """Copy free velocities, scales, bounds and starting impulses of an island into the work space."""
    m, free, x, scale = len(contact_list), work.free, work.impulse, work.scale
    m0 = contacts_among(problem, contact_list)
    work.info[CONTACT_BLOCKS] = m0
    find_runs(problem, contact_list, work)
    for i in range(m0):
        work.mu[i] = mu[contact_list[i]]
    if m > m0:
        load_rolling(problem, m0, contact_list, work)
    for i in range(m):
        c, k = contact_list[i], 3 * i
        W = problem.block[c]
        scale[i] = max(W[0, 0], W[1, 1], W[2, 2])
        for d in range(3):
            free[k + d], x[k + d] = problem.free[c, d], problem.impulse[c, d]
    for i in range(len(joint_list)):
        j, k = joint_list[i], 3 * m + i
        scale[m + i] = problem.joint_block[j]
        work.low[i], work.high[i] = problem.joint_low[j], problem.joint_high[j]
        free[k], x[k] = problem.joint_free[j], problem.joint_impulse[j]


@jit
def store_island(problem, contact_list, joint_list, x):
    """Write the impulses x back to the problem."""
    m = len(contact_list)
    for i in range(m):
        for d in range(3):
            problem.impulse[contact_list[i], d] = x[3 * i + d]
    for i in range(len(joint_list)):
        problem.joint_impulse[joint_list[i]] = x[3 * m + i]


@jit
def push_rows(chains, problem, lists, work, x, y_out):
    """y = Z^T x over the island's dofs (others are left alone)."""
    contact_list, joint_list, dof_list = lists
    m = len(contact_list)
    for r in range(len(dof_list)):
        for k in range(dof_list[r, 0], dof_list[r, 1]):
            y_out[k] = 0.0
    push_pairs(chains, problem, contact_list, work, x, y_out)
    for i in range(work.info[CONTACT_BLOCKS], m):
        k = 3 * i
        if x[k + 2] != 0.0 or x[k] != 0.0 or x[k + 1] != 0.0:
            push_contact(chains, problem, contact_list[i], x[k], x[k + 1], x[k + 2], y_out)
    for i in range(len(joint_list)):
        if x[3 * m + i] != 0.0:
            push_joint(chains, problem, joint_list[i], x[3 * m + i], y_out)


@jit
def read_rows(chains, problem, lists, work, y, u_out):
    """u = Z y of the island's rows."""
    contact_list, joint_list = lists[0], lists[1]
    m = len(contact_list)
    read_pairs(chains, problem, contact_list, work, y, u_out)
    for i in range(work.info[CONTACT_BLOCKS], m):
        k = 3 * i
        u_out[k], u_out[k + 1], u_out[k + 2] = read_contact(chains, problem, contact_list[i], y)
    for i in range(len(joint_list)):
        u_out[3 * m + i] = read_joint(chains, problem, joint_list[i], y)


@jit
def velocities(chains, problem, lists, work):
    """(E4): problem.y and work.speed that belong to work.impulse."""
    u, free = work.speed, work.free
    push_rows(chains, problem, lists, work, work.impulse, problem.y)
    read_rows(chains, problem, lists, work, problem.y, u)
    for k in range(3 * len(lists[0]) + len(lists[1])):
        u[k] += free[k]
