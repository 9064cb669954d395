"""First-order schemes: explicit Euler moves with the old velocity, semi-implicit (symplectic) with the new one."""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.integrate.position import move, move_kinematic


@jit
def finish_euler(model, data, v_new, dt):
    """q <- q (+) dt v, v <- v_new: eq. (1), implicit."""
    move(model, data.q, data.v, dt)
    for k in range(model.dof_count):
        data.v[k] = v_new[k]
    move_kinematic(model, data, dt)


@jit
def finish_semi_implicit(model, data, v_new, dt):
    """v <- v_new, q <- q (+) dt v."""
    for k in range(model.dof_count):
        data.v[k] = v_new[k]
    move(model, data.q, data.v, dt)
    move_kinematic(model, data, dt)
