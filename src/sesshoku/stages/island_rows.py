"""Which joint rows and dofs belong to an island.

`work`: a record with contacts, problem, joint_list, joint_start and dof_list.
"""

from __future__ import annotations

from sesshoku.collision.contacts import ISLANDS
from sesshoku.compiled.jit import jit
from sesshoku.solvers.problem import JOINT_ROWS
from sesshoku.stages.report import CONVERGED


@jit
def start_solve(model, data, problem):
    """Nothing is solved yet: an empty report that says converged, and y of no impulses."""
    report = data.report
    for n in range(len(report)):
        report[n] = 0.0
    report[CONVERGED] = 1.0
    for k in range(model.dof_count):
        problem.y[k] = 0.0


@jit
def group_joint_rows(model, work):
    """Sort the joint rows by island.

    Those of trees without contact come last, as one more island. Returns its number.
    """
    contacts, problem = work.contacts, work.problem
    islands, start = contacts.counts[ISLANDS], work.joint_start
    for i in range(islands + 2):
        start[i] = 0
    for j in range(problem.counts[JOINT_ROWS]):
        i = contacts.tree_island[problem.joint_tree[j]]
        start[(i if i >= 0 else islands) + 1] += 1
    for i in range(islands + 1):
        start[i + 1] += start[i]
    for j in range(problem.counts[JOINT_ROWS] - 1, -1, -1):  # fill each range from its end
        i = contacts.tree_island[problem.joint_tree[j]]
        i = i if i >= 0 else islands
        start[i + 1] -= 1
        work.joint_list[start[i + 1]] = j
    for i in range(islands + 1):  # the ends moved to the starts: shift back
        start[i] = start[i + 1]
    start[islands + 1] = problem.counts[JOINT_ROWS]
    return islands


@jit
def island_lists(work, island, rest):
    """Contacts and joint rows of an island; `rest` is the number of the one without contacts."""
    contacts = work.contacts
    first, last = (contacts.island_start[island], contacts.island_start[island + 1]) if island < rest else (0, 0)
    joint_list = work.joint_list[work.joint_start[island] : work.joint_start[island + 1]]
    return contacts.island_contact[first:last], joint_list


@jit
def island_dofs(model, work, island):
    """Ranges of dofs of an island's trees (all trees for the rows without contact); returns how many."""
    contacts = work.contacts
    count = 0
    if island < contacts.counts[ISLANDS]:
        for n in range(contacts.island_tree_start[island], contacts.island_tree_start[island + 1]):
            t = contacts.island_tree[n]
            work.dof_list[count, 0], work.dof_list[count, 1] = model.tree_dof[t], model.tree_dof[t + 1]
            count += 1
    else:
        for t in range(model.tree_count):
            if contacts.tree_island[t] < 0:
                work.dof_list[count, 0], work.dof_list[count, 1] = model.tree_dof[t], model.tree_dof[t + 1]
                count += 1
    return count
