"""Rolling blocks (solvers/rolling.py) in the proximal Newton method: what local.py does for contacts.

The image of a rolling block is bounded by the image n of its contact's normal, so that it changes with two velocities,
its own w and the contact's normal u_n:
    (t1, t2) = P(t_k - w_t / eps), P onto the disc of radius r n      s = s_k - w_s / eps, clamped to +-s n
each with the compliance of its block, eps = sigma g of the rolling block and sigma g_c of the contact. Rows of D are
kept as if both had the block's eps, the coupling with u_n therefore times g / g_c:
    slope = (D_11, D_12, D_22, D_1n, D_2n; D_ss, D_sn)
    inside the disc   I, 0                          on it     s (I - e e^T), r e g/g_c        as a contact's friction
    torsion inside    1, 0                          at bound  0, +-s g/g_c
    contact open      all zero

Blocks m0 .. m - 1 of an island are the rolling blocks; owner[i] is the island's number of the contact of block i.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit
from sesshoku.solvers.proximal.local import OPEN, SLIP, STICK
from sesshoku.solvers.rolling import allowed_torque, torque_violation


@jit
def load_rolling(problem, m0, block_list, work):
    """Coefficients and contacts of the island's rolling blocks, which stand in the order of their contacts."""
    c = 0
    for i in range(m0, len(block_list)):
        contact = block_list[i] - problem.contact_capacity
        while c < m0 - 1 and block_list[c] != contact:
            c += 1
        work.owner[i] = c
        work.mu[i], work.torsion[i] = problem.rolling_bound[contact, 0], problem.rolling_bound[contact, 1]


@jit
def rolling_images(m0, m, sigma, work, u, image_out):
    """(E11) for (E9): images of the rolling blocks; image_out must hold those of the contacts already."""
    mu, torsion, owner, scale, center = work.mu, work.torsion, work.owner, work.scale, work.center
    for i in range(m0, m):
        k, g, n = 3 * i, scale[i], image_out[3 * owner[i] + 2]
        if g <= 0.0 or n <= 0.0:
            image_out[k] = image_out[k + 1] = image_out[k + 2] = 0.0
            continue
        h = 1.0 / (sigma * g)
        image_out[k], image_out[k + 1], image_out[k + 2] = allowed_torque(
            mu[i] * n, torsion[i] * n, center[k] - u[k] * h, center[k + 1] - u[k + 1] * h, center[k + 2] - u[k + 2] * h
        )


@jit
def rolling_derivatives(m0, m, sigma, work, u, image):
    """(E13) for (E9): work.state and work.slope of the rolling blocks at their images."""
    state, slope, mu, torsion, owner = work.state, work.slope, work.mu, work.torsion, work.owner
    scale, center = work.scale, work.center
    for i in range(m0, m):
        k, g, d, c = 3 * i, scale[i], slope[i], owner[i]
        n = image[3 * c + 2]
        if g <= 0.0 or n <= 0.0:
            state[i] = OPEN
            continue
        h, ratio, disc, most = 1.0 / (sigma * g), g / scale[c], mu[i] * n, torsion[i] * n
        t1, t2, s = center[k] - u[k] * h, center[k + 1] - u[k + 1] * h, center[k + 2] - u[k + 2] * h
        size = sqrt(t1 * t1 + t2 * t2)
        state[i] = STICK
        d[0], d[1], d[2], d[3], d[4], d[5], d[6] = 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0
        if size > disc or disc == 0.0:
            state[i] = SLIP
            e1, e2, share = (t1 / size, t2 / size, disc / size) if size > 0.0 else (0.0, 0.0, 0.0)
            d[0], d[1], d[2] = share * (1.0 - e1 * e1), -share * e1 * e2, share * (1.0 - e2 * e2)
            d[3], d[4] = mu[i] * e1 * ratio, mu[i] * e2 * ratio
        if abs(s) > most or most == 0.0:
            state[i] = SLIP
            d[5], d[6] = 0.0, (torsion[i] if s > 0.0 else -torsion[i]) * ratio


@jit
def project_rolling(m0, m, work, x):
    """Bring the torque impulses within their bounds, those of the normal impulses in x. Up to rounding: as they are."""
    for i in range(m0, m):
        k, n = 3 * i, x[3 * work.owner[i] + 2]
        disc, most = work.mu[i] * n, work.torsion[i] * n
        if not (x[k] * x[k] + x[k + 1] * x[k + 1] <= (1.0 + 1e-14) * disc * disc
                and abs(x[k + 2]) <= (1.0 + 1e-14) * most):
            x[k], x[k + 1], x[k + 2] = allowed_torque(disc, most, x[k], x[k + 1], x[k + 2])


@jit
def rolling_violation(m0, m, work):
    """(E10) for (E9): largest residual of the rolling blocks, rad/s."""
    x, u, worst = work.impulse, work.speed, 0.0
    for i in range(m0, m):
        k, g, n = 3 * i, work.scale[i], max(x[3 * work.owner[i] + 2], 0.0)
        if g > 0.0:
            worst = max(worst, torque_violation(work.mu[i] * n, work.torsion[i] * n, g, (x[k], x[k + 1], x[k + 2]),
                                                (u[k], u[k + 1], u[k + 2])))
    return worst


@jit
def rolling_holds(m0, m, work):
    """Whether every rolling block of a loaded contact is within its bounds, not at them; what is free does not count.

    A coefficient of zero leaves its rows free.
    """
    x, inside = work.impulse, True
    for i in range(m0, m):
        k, n = 3 * i, x[3 * work.owner[i] + 2]
        if n > 0.0:
            disc, most = work.mu[i] * n, work.torsion[i] * n
            rolls_not = disc == 0.0 or x[k] * x[k] + x[k + 1] * x[k + 1] < 0.999 * disc * disc
            inside = inside and rolls_not and (most == 0.0 or abs(x[k + 2]) < 0.999 * most)
    return inside


@jit
def hold_rolling(m0, m, work):
    """State and D of rolling blocks that are to stay at rest: of loaded contacts, in the rows that have friction."""
    for i in range(m0, m):
        d, loaded = work.slope[i], work.impulse[3 * work.owner[i] + 2] > 0.0
        work.state[i] = STICK if loaded else OPEN
        rolling, torsion = 1.0 if work.mu[i] > 0.0 else 0.0, 1.0 if work.torsion[i] > 0.0 else 0.0
        d[0], d[1], d[2], d[3], d[4], d[5], d[6] = rolling, 0.0, rolling, 0.0, 0.0, torsion, 0.0


@jit
def rolling_rounding(m0, m, work):
    """Largest velocity that torque impulses make, or that they stop."""
    x, free, largest = work.impulse, work.free, 0.0
    for i in range(m0, m):
        k = 3 * i
        if x[3 * work.owner[i] + 2] > 0.0:
            torque = max(abs(x[k]), abs(x[k + 1]), abs(x[k + 2]))
            largest = max(largest, work.scale[i] * torque, abs(free[k]), abs(free[k + 1]), abs(free[k + 2]))
    return largest
