"""Coulomb's law contact by contact, for the proximal Newton method (newton.py).

Around a centre x_k (the impulses of the last outer pass) and with a compliance eps = sigma g, g the largest diagonal
entry of the contact's own 3 x 3 block, every velocity u has one impulse, its **image**, (E11):
    n = max(0, n_k - u_n / eps)
    t = t_k - u_t / eps, shortened to the disc of radius mu n          (the radius is that of the new n: coupled)
and the image of a joint row is x_k - u / eps, clamped to the row's bounds. The images change with u by -D / eps,
(E13):
    open     D = 0
    stick    D = I
    slip     D = [[s (I - e e^T), mu e], [0, 1]],  e = t / |t| before shortening, s = mu n / |t|   (not symmetric)
    joint    D = 1 between its bounds, 0 at them
A friction group (the disc and its radius) hangs on the normal row alone, so rolling and torsional friction are further
blocks of the same kind (rolling.py).

Rows of an island are kept block by block, its m0 contacts (t1, t2, n) first, then their rolling blocks, then its joint
rows: row 3 i + d of block i, row 3 m + j.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit

OPEN, STICK, SLIP = range(3)


@jit(into_callers=True)
def contact_image(mu, stiffness, center, u):
    """(E11): impulse (t1, t2, n) of one contact at velocity u around the centre c; stiffness = 1 / eps."""
    c0, c1, c2 = center
    u0, u1, u2 = u
    n = max(0.0, c2 - u2 * stiffness)
    t1, t2, radius = c0 - u0 * stiffness, c1 - u1 * stiffness, mu * n
    size2 = t1 * t1 + t2 * t2
    if size2 > radius * radius:
        s = radius / sqrt(size2)
        return s * t1, s * t2, n
    return t1, t2, n


@jit
def images(sizes, law, bounds, sigma, center, u, image_out):
    """Images of contacts and joint rows at velocities u around `center`. mu: (m). scale: (m + nj). low, high: (nj)."""
    m0, m, nj = sizes
    mu, scale = law
    low, high = bounds
    for i in range(m0):
        k, g = 3 * i, scale[i]
        if g <= 0.0:  # nothing this contact could move
            image_out[k] = image_out[k + 1] = image_out[k + 2] = 0.0
            continue
        image_out[k], image_out[k + 1], image_out[k + 2] = contact_image(mu[i], 1.0 / (sigma * g),
                                                                         (center[k], center[k + 1], center[k + 2]),
                                                                         (u[k], u[k + 1], u[k + 2]))
    for j in range(nj):
        k, g = 3 * m + j, scale[m + j]
        image_out[k] = min(max(center[k] - u[k] / (sigma * g), low[j]), high[j]) if g > 0.0 else 0.0


@jit
def image_derivatives(sizes, law, bounds, sigma, center, u, image, out):
    """(E13): state and D of contacts and joint rows at their images. slope of one: D_11, D_12, D_22, D_1n, D_2n."""
    m0, m, nj = sizes
    mu, scale = law
    low, high = bounds
    state_out, slope_out = out
    for i in range(m0):
        k, g, d = 3 * i, scale[i], slope_out[i]
        if image[k + 2] <= 0.0 or g <= 0.0:
            state_out[i] = OPEN
            continue
        stiffness, radius = 1.0 / (sigma * g), mu[i] * image[k + 2]
        t1, t2 = center[k] - u[k] * stiffness, center[k + 1] - u[k + 1] * stiffness
        size = sqrt(t1 * t1 + t2 * t2)
        if size > radius:
            e1, e2, s = t1 / size, t2 / size, radius / size
            state_out[i] = SLIP
            d[0], d[1], d[2] = s * (1.0 - e1 * e1), -s * e1 * e2, s * (1.0 - e2 * e2)
            d[3], d[4] = mu[i] * e1, mu[i] * e2
        else:
            state_out[i] = STICK
            d[0], d[1], d[2], d[3], d[4] = 1.0, 0.0, 1.0, 0.0, 0.0
    for j in range(nj):
        x = image[3 * m + j]
        inside = scale[m + j] > 0.0 and low[j] < x < high[j]
        state_out[m + j] = STICK if inside else OPEN


@jit
def project(m0, m, nj, mu, low, high, x):
    """(E1), (E2): bring impulses x into their cones and bounds, in place: the friction shortened, the normal as it is.

    What stands on the cone up to rounding stays as it is, so that a solution comes back unchanged.
    """
    for i in range(m0):
        k = 3 * i
        radius = mu[i] * x[k + 2]
        if not (x[k + 2] >= 0.0 and x[k] * x[k] + x[k + 1] * x[k + 1] <= (1.0 + 1e-14) * radius * radius):
            x[k], x[k + 1], x[k + 2] = contact_image(mu[i], 0.0, (x[k], x[k + 1], x[k + 2]), (0.0, 0.0, 0.0))
    for j in range(nj):
        x[3 * m + j] = min(max(x[3 * m + j], low[j]), high[j])


@jit
def all_hold(m0, work):
    """Whether every loaded contact is within its cone, not on it: nothing has to slip."""
    x, mu, inside = work.impulse, work.mu, True
    for i in range(m0):
        k = 3 * i
        radius = mu[i] * x[k + 2]
        inside = inside and (x[k + 2] <= 0.0 or x[k] * x[k] + x[k + 1] * x[k + 1] < 0.999 * radius * radius)
    return inside


@jit
def law_residual(sizes, law, bounds, x, u):
    """(E10): largest violation of the law at impulses x and velocities u, in m/s (rad/s); 0 iff every block obeys it.

    Contact: g max(|n - [n - u_n/g]+|, |t - P(t - u_t/g)|), P the projection on the disc of radius mu n.
    """
    m0, m, nj = sizes
    mu, scale = law
    low, high = bounds
    worst = 0.0
    for i in range(m0):
        k, g = 3 * i, scale[i]
        if g > 0.0:
            worst = max(worst, contact_violation(mu[i], g, (x[k], x[k + 1], x[k + 2]), (u[k], u[k + 1], u[k + 2])))
    for j in range(nj):
        k, g = 3 * m + j, scale[m + j]
        if g > 0.0:
            worst = max(worst, g * abs(x[k] - min(max(x[k] - u[k] / g, low[j]), high[j])))
    return worst


@jit(into_callers=True)
def contact_violation(mu, g, x, u):
    """(E10): residual of one contact, m/s."""
    x0, x1, x2 = x
    u0, u1, u2 = u
    normal = abs(x2 - max(0.0, x2 - u2 / g))
    t1, t2, radius = x0 - u0 / g, x1 - u1 / g, mu * max(x2, 0.0)
    size = sqrt(t1 * t1 + t2 * t2)
    if size > radius:
        t1, t2 = t1 * radius / size, t2 * radius / size
    return g * max(normal, sqrt((x0 - t1) ** 2 + (x1 - t2) ** 2))


@jit
def exact_contact(W, mu, q0, q1, q2):
    """Impulse (t1, t2, n) of a single contact that solves u = W x + q under Coulomb's law, (E1)-(E3), exactly.

    Open; else stick if W^-1 q lies in the cone; else slip: with n eliminated, t(s) = -(A + s I)^-1 c, and the friction
    is on the cone where mu n(s) = |t(s)|. Between s = 0 (outside the cone) and infinity (inside) the sign changes, so
    there is always a root: found by Newton's method inside the bracket. W (3, 3) positive semi-definite, W_nn > 0.
    """
    if q2 >= 0.0:
        return 0.0, 0.0, 0.0
    inverse, trace = 1.0 / W[2, 2], W[0, 0] + W[1, 1]
    w0, w1 = W[0, 2] * inverse, W[1, 2] * inverse
    a, b, d = W[0, 0] - W[0, 2] * w0, W[0, 1] - W[0, 2] * w1, W[1, 1] - W[1, 2] * w1
    c0, c1 = q0 - w0 * q2, q1 - w1 * q2
    if mu == 0.0:
        return 0.0, 0.0, -q2 * inverse
    least = 1e-12 * trace  # a direction nothing moves along has no stiffness of its own
    t0, t1 = shifted_solve(a + least, b, d + least, -c0, -c1)
    v0, v1 = shifted_solve(a + least, b, d + least, -c0 - a * t0 - b * t1, -c1 - b * t0 - d * t1)  # and without it
    t0, t1 = t0 + v0, t1 + v1
    n = -q2 * inverse - w0 * t0 - w1 * t1
    if n >= 0.0 and t0 * t0 + t1 * t1 <= mu * mu * n * n:
        return t0, t1, n
    low, high = 0.0, 1e300
    s = sqrt(c0 * c0 + c1 * c1) / (mu * -q2 * inverse)
    s = max(s - 0.5 * (a + d), 0.1 * s)
    for _ in range(60):
        t0, t1 = shifted_solve(a + s, b, d + s, -c0, -c1)
        n, size = -q2 * inverse - w0 * t0 - w1 * t1, sqrt(t0 * t0 + t1 * t1)
        if size <= mu * n:
            high = s
        else:
            low = s
        new = -1.0
        if n > 0.0 and size > 0.0:  # Newton on mu n / |t| - 1, nearly linear in s
            v0, v1 = shifted_solve(a + s, b, d + s, -t0, -t1)
            slope = mu * (-(w0 * v0 + w1 * v1) * size - n * (t0 * v0 + t1 * v1) / size) / (size * size)
            error = mu * n / size - 1.0
            if abs(error) < 1e-15:
                break
            new = s - error / slope
        if not low < new < high:
            new = 0.5 * (low + high) if high < 1e299 else 2.0 * s + 1e-3 * trace
        if abs(new - s) <= 1e-16 * s:
            break
        s = new
    size = sqrt(t0 * t0 + t1 * t1)
    n = max(n, 0.0)
    if size > 0.0:  # on the cone to the last digit
        t0, t1 = t0 * mu * n / size, t1 * mu * n / size
    return t0, t1, n


@jit
def shifted_solve(a, b, d, r0, r1):
    """Solve the symmetric 2 x 2 system [[a, b], [b, d]] t = r."""
    inverse = 1.0 / (a * d - b * b)
    return (d * r0 - b * r1) * inverse, (a * r1 - b * r0) * inverse
