"""Tendons beyond their limits: moved back by a share in every step, so that it leaves no velocity behind.

Only where the limit has pushed in the step: elsewhere the motion itself brings the tendon back, and a method without
rows of tendons leaves them alone.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.constraints.tendon_rows import TENDON_LIMIT, tendon_excess
from sesshoku.dynamics.factor import solve
from sesshoku.dynamics.tendons import arms_of, is_spatial
from sesshoku.integrate.position import move

FARTHEST = 0.1  # rad or m: no dof goes farther back in a step


@jit
def return_tendons(model, data, q, share):
    """Move q so that `share` of what tendons are beyond their limits is undone."""
    for m in range(len(model.rowed_tendons)):
        n = model.rowed_tendons[m]
        if data.tendon_impulse[n, TENDON_LIMIT] == 0.0:
            continue
        beyond = tendon_excess(model, data, n, q)
        if beyond != 0.0 and is_spatial(model, n):
            return_path(model, data, n, q, share * beyond)
        elif beyond != 0.0:
            return_joints(model, n, q, share * beyond)


@jit
def return_joints(model, n, q, way):
    """Shorten tendon n over joints by `way`; heavy joints move less."""
    whole = 0.0
    for e in range(model.tendon_drive[n], model.tendon_drive[n + 1]):
        whole += model.tendon_arm[e] * model.tendon_arm[e] / model.dof_inertia[model.tendon_dof[e]]
    for e in range(model.tendon_drive[n], model.tendon_drive[n + 1]):
        k = model.tendon_dof[e]
        q[model.dof_coordinate[k]] -= way * model.tendon_arm[e] / (model.dof_inertia[k] * whole)


@jit
def return_path(model, data, n, q, way):
    """The same of a spatial tendon, in the metric of the step's mass matrix: what it was beyond at the links' pose."""
    dofs, arms = arms_of(model, data, n)
    y, whole, farthest = data.work, 0.0, 0.0
    for k in range(model.dof_count):
        y[k] = 0.0
    for e in range(len(dofs)):
        y[dofs[e]] = arms[e]
    solve(model, data.factor, data.factor_dinv, y)
    for e in range(len(dofs)):
        whole += arms[e] * y[dofs[e]]
    if not whole > 0.0:
        return
    for k in range(model.dof_count):
        farthest = max(farthest, abs(y[k] * way / whole))
    move(model, q, y, -way / whole * min(1.0, FARTHEST / farthest))
