"""Can the polygon carry the wrench? And if not, which kinetic wrench takes its place.

Programmes are scaled: forces by the normal one, lengths by the distance of the farthest corner, so that a feather and
an anvil are judged alike.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.overlap.overlaps import POINT
from sesshoku.compiled.jit import jit
from sesshoku.methods.volume.options import ALONG_FORCE, NEAREST, SEPARATED
from sesshoku.methods.volume.work import FREED, HELD, SLIDES
from sesshoku.solvers.simplex import OPTIMAL, feasible, solve_lp

CARRIED = 1e-8  # scaled: a wrench is carried if vertex forces miss it by no more
INSIDE = 1e-9  # the centre of pressure is moved inwards by this share: on an edge rounding must not read as slip
LEAST_FORCE = 1e-12  # N
TINY = 1e-9  # components of a wrench below this share of what they may be have no weight in the correction


@jit
def judge(work, c, w, least):
    """FREED, HELD or SLIDES for the wrench w (6) of overlap c. least (N s): a normal impulse below it is none."""
    contacts, overlaps, options = work.contacts, work.overlaps, work.options
    fn = w[2]
    if not fn > least:  # (17)
        return FREED
    mu, l = contacts.material[c, 0], overlaps.polygon_radius[c]
    force, bound = sqrt(w[0] * w[0] + w[1] * w[1]), mu * fn
    if overlaps.kind[c] == POINT or not l > 0.0:
        return HELD if force <= bound * (1.0 + CARRIED) else SLIDES  # (18)
    if force > bound * (1.0 + CARRIED) + CARRIED * fn:
        return SLIDES
    if options.friction_limit == SEPARATED:
        most = largest_torque(work, c, w)
        return HELD if abs(w[5]) <= most + CARRIED * fn * l else SLIDES
    if abs(w[5]) > (bound * (1.0 + CARRIED) + CARRIED * fn) * l:
        return SLIDES
    return HELD if carried(work, options.pyramid_sides, mu, c, w) else SLIDES


@jit
def carried(work, sides, mu, c, w):
    """(26)-(31): whether forces in the pyramids at the corners, inscribed in the cones, add up to w."""
    overlaps, simplex = work.overlaps, work.simplex
    b, column, side, fn, l = work.load, work.column, work.side, w[2], overlaps.polygon_radius[c]
    b[0], b[1], b[2] = 1.0, (1.0 - INSIDE) * w[3] / (fn * l), (1.0 - INSIDE) * w[4] / (fn * l)
    b[3], b[4], b[5] = w[0] / fn, w[1] / fn, w[5] / (fn * l)
    first, last = work.corner_start[c], work.corner_start[c + 1]
    force, x, y = sqrt(w[0] * w[0] + w[1] * w[1]), 1.0, 0.0
    if work.options.pyramid_axis == ALONG_FORCE and force > 0.0:
        x, y = w[0] / force, w[1] / force
    for k in range(first, last):
        r1, r2 = work.corner[k, 0] / l, work.corner[k, 1] / l
        for p in range(sides):
            t1, t2 = mu * (x * side[p, 0] - y * side[p, 1]), mu * (y * side[p, 0] + x * side[p, 1])
            out = column[(k - first) * sides + p]
            # (28), (31), (29), (30): f_n; tau_1, tau_2; f_1, f_2; tau_n
            out[0], out[1], out[2], out[3], out[4], out[5] = 1.0, r2, -r1, t1, t2, r1 * t2 - r2 * t1
    status, _, _ = feasible(6, (last - first) * sides, column, b, CARRIED, simplex)
    return status == OPTIMAL


@jit
def fill_normal(work, c, w):
    """(34): the first three rows of columns and load, scaled. Returns the number of corners."""
    overlaps = work.overlaps
    b, fn, l = work.load, w[2], max(overlaps.polygon_radius[c], 1e-300)
    b[0], b[1], b[2] = 1.0, (1.0 - INSIDE) * w[3] / (fn * l), (1.0 - INSIDE) * w[4] / (fn * l)
    first, last = work.corner_start[c], work.corner_start[c + 1]
    for k in range(first, last):
        out = work.column[k - first]
        out[0], out[1], out[2] = 1.0, work.corner[k, 1] / l, -work.corner[k, 0] / l
    return last - first


@jit
def largest_torque(work, c, w):
    """The previous method's bound on the spin torque: friction about the centre, best distribution of pressure."""
    contacts, overlaps, simplex = work.contacts, work.overlaps, work.simplex
    count = fill_normal(work, c, w)
    first, l = work.corner_start[c], overlaps.polygon_radius[c]
    for k in range(count):
        r1, r2 = work.corner[first + k, 0] / l, work.corner[first + k, 1] / l
        work.cost[k] = sqrt(r1 * r1 + r2 * r2)
    status, _ = solve_lp((3, count, work.column, work.load, work.cost), CARRIED, simplex, work.weight)
    total = 0.0
    if status == OPTIMAL:
        for k in range(count):
            total += work.cost[k] * work.weight[k]
    return contacts.material[c, 0] * w[2] * l * total


@jit
def correct(work, c, w):
    """Replace friction force and spin torque of w by kinetic ones, the rest of it kept: eqs. (32)-(34).

    Returns False where the programme found no distribution (rounding): friction then acts at the centre of pressure.
    """
    contacts, overlaps, options = work.contacts, work.overlaps, work.options
    count, first, fn = fill_normal(work, c, w), work.corner_start[c], w[2]
    l, mu = max(overlaps.polygon_radius[c], 1e-300), contacts.material[c, 1]
    if overlaps.kind[c] == POINT or mu == 0.0:
        pull = work.pull[first]
        w[0], w[1], w[5] = fn * pull[0], fn * pull[1], 0.0
        return True
    if options.correction == NEAREST:
        status = nearest_weights(work, count, first, mu, l, w)
    else:
        status = reciprocal_weights(work, count, first, l, w)
    f1 = f2 = torque = total = 0.0
    if status == OPTIMAL:
        for k in range(count):
            total += work.weight[k]
        for k in range(count):  # no more than the normal force, also where rounding left the sum a little above it
            pull, weight = work.pull[first + k], work.weight[k] / max(total, 1.0)
            f1, f2, torque = f1 + weight * pull[0], f2 + weight * pull[1], torque + weight * pull[5]  # (21), (22)
    else:
        f1, f2 = slip_at_pressure(work, count, first, w)
    w[0], w[1], w[5] = fn * f1, fn * f2, fn * torque
    return status == OPTIMAL


@jit
def reciprocal_weights(work, count, first, l, w):
    """(33): the components, each in units of the wrench's own, as large as they can be together."""
    simplex = work.simplex
    fn = w[2]
    a = fn / w[0] if abs(w[0]) > TINY * fn else 0.0
    b = fn / w[1] if abs(w[1]) > TINY * fn else 0.0
    t = fn / w[5] if abs(w[5]) > TINY * fn * l else 0.0  # 1/m: the torque in `pull` has the unit m
    for k in range(count):
        pull = work.pull[first + k]
        work.cost[k] = a * pull[0] + b * pull[1] + t * pull[5]
    status, _ = solve_lp((3, count, work.column, work.load, work.cost), CARRIED, simplex, work.weight)
    return status


@jit
def nearest_weights(work, count, first, mu, l, w):
    """The kinetic wrench with the least sum of distances, each in units of the largest kinetic friction."""
    simplex = work.simplex
    fn, b = w[2], work.load
    b[3], b[4], b[5] = w[0] / (mu * fn), w[1] / (mu * fn), w[5] / (mu * fn * l)
    for k in range(count):
        pull, out = work.pull[first + k], work.column[k]
        out[3], out[4], out[5] = pull[0] / mu, pull[1] / mu, pull[5] / (mu * l)
        work.cost[k] = 0.0
    for d in range(3):
        for sign in range(2):
            out = work.column[count + 2 * d + sign]
            for a in range(6):
                out[a] = 0.0
            out[3 + d] = 1.0 - 2.0 * sign
            work.cost[count + 2 * d + sign] = -1.0
    status, _ = solve_lp((6, count + 6, work.column, b, work.cost), CARRIED, simplex, work.weight)
    return status


@jit
def slip_at_pressure(work, count, first, w):
    """Kinetic friction of the corner nearest the centre of pressure, per unit of normal force."""
    x, y, nearest, least = -w[4] / w[2], w[3] / w[2], first, 1e300  # (24)
    for k in range(first, first + count):
        dx, dy = work.corner[k, 0] - x, work.corner[k, 1] - y
        if dx * dx + dy * dy < least:
            least, nearest = dx * dx + dy * dy, k
    return work.pull[nearest, 0], work.pull[nearest, 1]
