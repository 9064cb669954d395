"""Free motion at fourth order (`free_motion="rk4"`): what nothing touches in a step moves by Runge and Kutta's scheme.

The step goes on as ever; at its end trees that no impulse has touched take the state that the scheme foresaw from the
step's start. Midpoint's own stay: trees with loops or friction of joints, with springs, dampers or servos so stiff that
an explicit scheme is no use, and what turns far in a step.
"""

from __future__ import annotations

from sesshoku.collision.contacts import CONTACTS
from sesshoku.compiled.jit import jit
from sesshoku.integrate.midpoint import turns_fast
from sesshoku.integrate.position import move_kinematic
from sesshoku.integrate.runge_kutta import runge_kutta
from sesshoku.methods.exact.work import GIVEN
from sesshoku.model.arrays import FREE, SPHERICAL
from sesshoku.solvers.problem import JOINT_ROWS

STIFF = 0.1  # of its inertia: what springs, dampers and servos add to that of a dof by being implicit


@jit
def foresee(model, data, work, dt):
    """smooth_q, smooth_v: the state at the end of the step if nothing touches. Before anything is done of the step."""
    for k in range(model.dof_count):
        data.constraint_force[k] = 0.0
    runge_kutta(model, data, work.tableau, dt, work.smooth_q, work.smooth_v)
    move_kinematic(model, data, -dt)


@jit
def find_smooth(model, data, work, dt):
    """tree_smooth: which trees have moved freely. Needs `apply`, and q, v of the start."""
    contacts, problem, smooth = work.contacts, work.problem, work.tree_smooth
    for t in range(model.tree_count):
        smooth[t] = 1 - work.tree_rough[t]
        if turns_fast(model, data, t, dt) or data.tree_fast[t] != 0:
            smooth[t] = 0
    for c in range(contacts.counts[CONTACTS]):
        x = problem.impulse[c]
        touched = x[0] != 0.0 or x[1] != 0.0 or x[2] != 0.0
        if work.impacts[GIVEN] > 0:
            touched = touched or work.given[c, 2] != 0.0
        for side in range(2):
            if touched and contacts.link[c, side] >= 0:
                smooth[model.link_tree[contacts.link[c, side]]] = 0
    for j in range(problem.counts[JOINT_ROWS]):
        if problem.joint_impulse[j] != 0.0:
            smooth[problem.joint_tree[j]] = 0
    for k in range(model.dof_count):
        if data.implicit_diagonal[k] > STIFF * data.mass_matrix[model.dof_row[k] + model.dof_depth[k]]:
            smooth[model.link_tree[model.dof_link[k]]] = 0


@jit
def take_smooth(model, work, q, v):
    """q, v of the trees that have moved freely, as `foresee` found them."""
    for i in range(model.link_count):
        if work.tree_smooth[model.link_tree[i]] == 1:
            at, k, count, kind = (model.link_coordinate[i], model.link_dof[i], model.link_dof_count[i],
                                  model.link_joint[i])
            for n in range(k, k + count):
                v[n] = work.smooth_v[n]
            for n in range(at, at + count + (1 if kind == FREE or kind == SPHERICAL else 0)):
                q[n] = work.smooth_q[n]
