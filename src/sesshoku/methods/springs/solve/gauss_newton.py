"""Gauss-Newton steps on the exterior penalty of descent.py: rows linearised, met by one-signed forces along them.

A row is a spring with the direction it acts along at the predicted poses. Bodies of a group (inertia.py) answer
a force together; what a unit force along a row moves is kept in `columns` as long as there is room.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.methods.springs.solve.inertia import opening, respond

ROW_SWEEPS = 30
ROW_SETTLED = 1e-4  # of the limit


@jit
def gauss_newton(springs, island, dt):
    """Least dU (kinetic-energy metric) with J dU <= -g, rows linearised at the present velocities, into `search`.

    Sweeps over the rows with forces of one sign: a row that others satisfy already carries nothing. Returns the rate
    at which Phi falls along it, or what the steepest descent's would be if that is not positive.
    """
    first, last = springs.island_spring_start[island], springs.island_spring_start[island + 1]
    search, body = springs.search, springs.island_body
    bodies = springs.island_body_start[island], springs.island_body_start[island + 1]
    for n in range(bodies[0], bodies[1]):
        for a in range(6):
            search[body[n], a] = 0.0
    springs.counts[1] = 0
    for n in range(first, last):
        s = springs.island_spring[n]
        for a in range(3):
            springs.row_direction[s, a] = springs.direction[s, a]
        f = springs.row_force[s] = springs.guess[s]
        springs.guess[s] = 0.0
        springs.row_inverse[s] = 0.0
        if f != 0.0:
            open_row(springs, s)
            push_row(springs, s, dt * f)
    for _ in range(ROW_SWEEPS):
        change = 0.0
        for n in range(first, last):
            s = springs.island_spring[n]
            g, old = springs.gap[s], springs.row_force[s]
            need = g + dt * (row_speed(springs, s, 1) - row_speed(springs, s, 0))
            if need <= 0.0 and old == 0.0:
                continue
            if springs.row_inverse[s] == 0.0:
                open_row(springs, s)
            force = max(0.0, old + need * springs.row_inverse[s] / (dt * dt))
            if force != old:
                springs.row_force[s] = force
                push_row(springs, s, dt * (force - old))
                change = max(change, abs(force - old) * dt * dt / springs.row_inverse[s] / springs.limit[s])
        if change < ROW_SETTLED:
            break
    rate = 0.0
    for n in range(first, last):
        s = springs.island_spring[n]
        g = springs.gap[s]
        if g > 0.0:
            rate -= g * dt * (row_speed(springs, s, 1) - row_speed(springs, s, 0))
    return rate


@jit
def open_row(springs, s):
    """Inverse of what a unit force along row s moves it by; the answer of coupled bodies is kept in `columns`."""
    a, b, n = springs.body[s, 0], springs.body[s, 1], springs.row_direction[s]
    springs.row_column[s] = -1
    if springs.group[a] < 0 and springs.group[b] < 0:
        inverse = row_inverse_mass(springs, s, 0) + row_inverse_mass(springs, s, 1)
        springs.row_inverse[s] = 1.0 / inverse if inverse > 0.0 else 0.0
        return
    u, at = springs.reply[0], springs.counts[1]
    respond(springs, s, n[0], n[1], n[2], u)
    inverse = opening(springs, s, u, n[0], n[1], n[2])
    springs.row_inverse[s] = 1.0 / inverse if inverse > 0.0 else 0.0
    end = at
    for side in range(2):
        top = springs.group[springs.body[s, side]]
        if top >= 0 and (side == 0 or top != springs.group[a]):
            end += 6 * (springs.group_end[top] - top)
    if end > len(springs.columns):
        return  # found anew whenever it is pushed
    springs.row_column[s], springs.counts[1] = at, end
    for side in range(2):
        top = springs.group[springs.body[s, side]]
        if top >= 0 and (side == 0 or top != springs.group[a]):
            for i in range(top, springs.group_end[top]):
                for c in range(6):
                    springs.columns[at] = u[i, c] if springs.group[i] == top else 0.0
                    at += 1


@jit
def push_row(springs, s, f):
    """search += M^-1 of the force f along row s on body 0, the opposite on body 1."""
    search, first = springs.search, springs.group[springs.body[s, 0]]
    for side in range(2):
        if springs.group[springs.body[s, side]] < 0:
            push_search(springs, s, side, f if side == 0 else -f)
    if springs.group[springs.body[s, 0]] < 0 and springs.group[springs.body[s, 1]] < 0:
        return
    at = springs.row_column[s]
    if at < 0:
        n = springs.row_direction[s]
        respond(springs, s, n[0], n[1], n[2], springs.reply[0])
    for side in range(2):
        top = springs.group[springs.body[s, side]]
        if top >= 0 and (side == 0 or top != first):
            for i in range(top, springs.group_end[top]):
                for c in range(6):
                    if at >= 0:
                        search[i, c] += f * springs.columns[at]
                        at += 1
                    elif springs.group[i] == top:
                        search[i, c] += f * springs.reply[0, i, c]


@jit(into_callers=True)
def row_inverse_mass(springs, s, side):
    """n . (E/m - r* I^-1 r*) n of one side of spring s."""
    b, r, n = springs.body[s, side], springs.arm[s, side], springs.direction[s]
    I = springs.inverse_inertia[b]
    x, y, z = r[1] * n[2] - r[2] * n[1], r[2] * n[0] - r[0] * n[2], r[0] * n[1] - r[1] * n[0]
    return springs.inverse_mass[b] * (n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) + (
        I[0] * x * x + I[1] * y * y + I[2] * z * z + 2.0 * (I[3] * x * y + I[4] * x * z + I[5] * y * z))


@jit(into_callers=True)
def row_speed(springs, s, side):
    """Speed along the spring that the search direction gives its anchor."""
    u, r, n = springs.search[springs.body[s, side]], springs.arm[s, side], springs.direction[s]
    return (n[0] * (u[0] + u[4] * r[2] - u[5] * r[1]) + n[1] * (u[1] + u[5] * r[0] - u[3] * r[2])
            + n[2] * (u[2] + u[3] * r[1] - u[4] * r[0]))


@jit(into_callers=True)
def push_search(springs, s, side, f):
    """search += M^-1 of the force f along the spring at its anchor."""
    b, r, n = springs.body[s, side], springs.arm[s, side], springs.direction[s]
    m, I, u = springs.inverse_mass[b], springs.inverse_inertia[b], springs.search[b]
    if m == 0.0:
        return
    x, y, z = f * (r[1] * n[2] - r[2] * n[1]), f * (r[2] * n[0] - r[0] * n[2]), f * (r[0] * n[1] - r[1] * n[0])
    u[0] += m * f * n[0]
    u[1] += m * f * n[1]
    u[2] += m * f * n[2]
    u[3] += I[0] * x + I[3] * y + I[4] * z
    u[4] += I[3] * x + I[1] * y + I[5] * z
    u[5] += I[4] * x + I[5] * y + I[2] * z
