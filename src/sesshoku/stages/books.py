"""The energy books of a step: what forces that are no constraints bring."""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.integrate.fast_joints import gather


@jit
def applied_work(model, data, diagonal, dt):
    """Work (J) in a step of actuators, springs and dampers, pushes, gravity compensation and drag.

    Force times the mean of the step's velocities, v and new_v. diagonal (V): what implicit springs, dampers and servos
    have added to the mass matrix; their force falls by it as the velocity changes. Needs the links where the step has
    placed them.
    """
    v, new_v, pull, wrench, total, pushed = data.v, data.new_v, data.joint_force, data.wrench, 0.0, False
    for k in range(model.dof_count):
        total += 0.5 * (v[k] + new_v[k]) * (dt * pull[k] - diagonal[k] * (new_v[k] - v[k]))
    for i in range(model.link_count):
        for a in range(6):
            pushed = pushed or wrench[i, a] != 0.0
    if pushed:
        f, push = data.force, data.work
        for t in range(model.tree_count):
            for i in range(model.tree_link[t], model.tree_link[t + 1]):
                for a in range(6):
                    f[i, a] = wrench[i, a]
            gather(model, data, t, push)
        for k in range(model.dof_count):
            total += 0.5 * dt * (v[k] + new_v[k]) * push[k]
    return total
