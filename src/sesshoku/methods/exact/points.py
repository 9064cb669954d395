"""What the solver may know of contacts between lone bodies beside their rows: where their points are.

See solvers/proximal/pairs.py, which goes by pairs of bodies then.
"""

from __future__ import annotations

from sesshoku.collision.contacts import CONTACTS
from sesshoku.compiled.jit import jit
from sesshoku.methods.exact.impacts.instant import MET
from sesshoku.methods.exact.options import MIDPOINT
from sesshoku.solvers.problem import CHAIN


@jit
def note_points(model, data, work):
    """newton.lower of the lone bodies; pointed and arm of the contacts between them. Needs their final rows."""
    contacts, problem, newton = work.contacts, work.problem, work.newton
    for t in range(model.tree_count):
        if model.tree_link[t + 1] == model.tree_link[t] + 1:
            k = model.tree_dof[t]
            if model.tree_dof[t + 1] == k + 6 and newton.lone[k] == 1:
                five, four = data.factor[model.dof_row[k + 5] :], data.factor[model.dof_row[k + 4] :]
                newton.lower[k + 3], newton.lower[k + 4], newton.lower[k + 5] = four[3], five[3], five[4]
    at_instants = work.options.integrator == MIDPOINT
    for c in range(contacts.counts[CONTACTS]):
        a, b = problem.body[c, 0], problem.body[c, 1]
        newton.pointed[c] = 0
        if a == CHAIN or b == CHAIN or max(a, b) < 0 or at_instants and work.met[c] == MET:
            continue
        if a >= 0 and newton.lone[a] == 0 or b >= 0 and newton.lone[b] == 0:
            continue
        newton.pointed[c] = 1
        for side in range(2):
            if problem.body[c, side] >= 0:
                o = data.tree_origin[model.link_tree[contacts.link[c, side]]]
                for d in range(3):
                    newton.arm[c, side, d] = contacts.point[c, d] - o[d]
