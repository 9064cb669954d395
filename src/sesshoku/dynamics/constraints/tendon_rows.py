"""Rows of tendons: limits of their length and dry friction along them. See `rows` for what a row is.

A tendon's joints lie on one or two ways to the root, so its rows have the two chains that rows have: `tendon_row` says
which of its arms belongs where along them.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.tendons import arms_of, is_spatial, tendon_motion

ROW_TENDON_LOWER, ROW_TENDON_UPPER, ROW_TENDON_FRICTION = range(6, 9)  # behind the kinds of `rows`
UNBOUNDED = 1e300
TENDON_LIMIT, TENDON_FRICTION = range(2)  # columns of tendon_impulse


@jit
def tendon_rows(model, data, n, state, dt, used):
    """Rows of tendon n: the limits that the step may reach, and its friction."""
    q, v_free = state
    count, free = used
    length, speed = tendon_motion(model, data, n, q, v_free)
    drift = data.tendon_drift[n] if is_spatial(model, n) else 0.0  # the scripts' share of the rate is given
    near, kept = dt * (4.0 * abs(speed) + 0.1), data.tendon_impulse[n]
    for side in range(2):
        sign = 1.0 if side == 0 else -1.0
        gap = sign * (length - (model.tendon_lower[n] if side == 0 else model.tendon_upper[n]))
        if gap < near:
            kind = ROW_TENDON_LOWER if side == 0 else ROW_TENDON_UPPER
            free = tendon_row(model, data, n, sign, kind, count, free)
            data.row_low[count], data.row_high[count] = 0.0, UNBOUNDED
            data.row_target[count] = (-gap / dt if gap > 0.0 else 0.0) - sign * drift
            data.row_force[count] = max(0.0, sign * kept[TENDON_LIMIT])
            count += 1
        elif sign * kept[TENDON_LIMIT] > 0.0:
            kept[TENDON_LIMIT] = 0.0
    if model.tendon_friction[n] > 0.0:
        free = tendon_row(model, data, n, 1.0, ROW_TENDON_FRICTION, count, free)
        bound = dt * model.tendon_friction[n]
        data.row_low[count], data.row_high[count], data.row_target[count] = -bound, bound, -drift
        data.row_force[count] = kept[TENDON_FRICTION]
        count += 1
    return count, free


@jit
def tendon_row(model, data, n, sign, kind, count, free):
    """The row of tendon n's rate, as row `count`; the next free place in row_jacobian."""
    arms, first = arms_of(model, data, n)[1], model.tendon_drive[n]
    for side in range(2):
        end, start = model.tendon_end[n, side], model.tendon_start[n, side]
        data.row_end[count, side], data.row_start[count, side] = end, free
        if end >= 0:
            for e in range(model.dof_depth[end] + 1):
                at = model.tendon_row[start + e]
                data.row_jacobian[free + e] = sign * arms[at - first] if at >= 0 else 0.0
            free += model.dof_depth[end] + 1
    data.row_source[count, 0], data.row_source[count, 1] = kind, n
    return free


@jit
def store_tendon_impulse(data, kind, n, x):
    """Keep the impulse of a row; a limit's is positive where it pushes the length up."""
    kept = data.tendon_impulse[n]
    if kind == ROW_TENDON_LOWER:
        kept[TENDON_LIMIT] = x
    elif kind == ROW_TENDON_UPPER:
        if x > 0.0 or kept[TENDON_LIMIT] < 0.0:
            kept[TENDON_LIMIT] = -x
    else:
        kept[TENDON_FRICTION] = x


@jit
def tendon_excess(model, data, n, q):
    """How far the length of tendon n is beyond its limits: negative below the lower, positive above the upper.

    Of a spatial tendon at the pose of the links, of others at q.
    """
    length, _ = tendon_motion(model, data, n, q, data.v)
    return length - min(max(length, model.tendon_lower[n]), model.tendon_upper[n])
