"""The slip threshold of each point, where the user gave none.

The paper calls it a small positive value. Kinetic friction in place of the trial's friction f_t changes the slip of
point i within the step by
    c = sigma_i . sum_j M_ij (mu_K f_nj sigma_j + f_tj) dt        over the points j that carry,
so that a slip v ends as v - c. Where c > 2 v, friction would send the point back faster than it came: a slide would end
in chatter of that size, and the step bring energy. The threshold is c / 2, with the forces of the trial solve (for a
block on the floor mu_K g dt / 2), and no less than friction alone, of this point or of all, would have it.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.methods.multipoint.options import STICK_ZERO
from sesshoku.methods.multipoint.problem import NO_SLIP
from sesshoku.methods.multipoint.work import IN
from sesshoku.solvers.problem import push_contact, read_contact


@jit
def fit_thresholds(model, work, lists):
    """work.threshold of the island's points that carry; whether a point's target changes by it."""
    contact_list, _, dof_list = lists
    contacts, problem, friction, change = work.contacts, work.problem, work.lines[0], work.lines[1]
    m, chains, changed = len(contact_list), model.row_dof, False
    for n in range(len(dof_list)):
        for k in range(dof_list[n, 0], dof_list[n, 1]):
            friction[k] = change[k] = 0.0
    for i in range(m):
        c, x = contact_list[i], work.impulse[3 * i : 3 * i + 3]
        if work.part[i] == IN and x[2] > 0.0:
            u = contacts.material[c, 1] * x[2] * work.against[c, 0]
            v = contacts.material[c, 1] * x[2] * work.against[c, 1]
            push_contact(chains, problem, c, u, v, 0.0, friction)
            push_contact(chains, problem, c, u + x[0], v + x[1], 0.0, change)
    for i in range(m):
        c, x = contact_list[i], work.impulse[3 * i : 3 * i + 3]
        if work.part[i] != IN or x[2] <= 0.0 or work.speed[c] <= NO_SLIP:
            continue
        d, W = work.against[c], problem.block[c]
        u, v, _ = read_contact(chains, problem, c, friction)
        p, q, _ = read_contact(chains, problem, c, change)
        alone = d[0] * (W[0, 0] * d[0] + W[0, 1] * d[1]) + d[1] * (W[1, 0] * d[0] + W[1, 1] * d[1])
        most = max(contacts.material[c, 1] * x[2] * alone, d[0] * u + d[1] * v, d[0] * p + d[1] * q)
        was_static = work.speed[c] <= work.threshold[c]
        work.threshold[c] = max(0.5 * most, NO_SLIP)
        if work.options.stick_target == STICK_ZERO and (work.speed[c] <= work.threshold[c]) != was_static:
            set_slip(work, i, c, 0.0 if work.speed[c] <= work.threshold[c] else 1.0)
            changed = True
    return changed


@jit
def set_slip(work, i, c, share):
    """Point i of the island is to end with so much of its slip."""
    for e in range(2):
        target = share * work.problem.velocity[c, e]
        work.wanted[3 * i + e] += target - work.target[c, e]
        work.target[c, e] = target
