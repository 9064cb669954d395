"""End-of-step velocities of rigid bodies that keep springs within their limits, by descent on an exterior penalty.

Unknown: U (B, 6), linear and angular velocity of every body at the end of the step. Predicted poses are x + dt v and
exp(dt (w + lead)) R. For spring i, with d = p1' - p0' between its anchors there,
    g_i = |d| - limit_i             a spring that holds both ways,
    g_i = N . d - limit_i           one that holds one way, along the fixed direction N,
    g_i = |d - (N . d) N| - limit_i one that lets slide along N,
    g_i = |N . d| - limit_i         one that lets slide across N,
and the penalty is  Phi(U) = 1/2 sum max(0, g_i)^2,  least squares because a first power has a kink on which Armijo's
rule stalls. Its gradient, by virtual work: F_i = dt max(0, g_i) n_i at p1' and -F_i at p0' as forces and torques about
the centres of mass. The direction is steepest in the metric of kinetic energy, D = -M^-1 grad, so every iterate is
U0 + dt M^-1 J^T f with f along the springs: linear momentum is kept, and the force stays near the smallest one.
The first trial step is Polyak's, 2 Phi / (grad M^-1 grad), exact for a single spring; Armijo's rule halves it. No step
turns a body by more than MOST_TURN, and all together by MORE_TURN at most beyond its free motion.

`gauss_newton` (gauss_newton.py) works on the same residuals: it linearises all rows and solves the least change of
velocity that meets them, J dU <= -g, by sweeps over one-signed row forces; Armijo's rule guards the step.

M is the bodies' inertia with what implicit forces between a body and its parent add to it (inertia.py).

Springs come island by island (islands.py), since Phi is a sum over islands.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from sesshoku.compiled.jit import jit
from sesshoku.compiled.table import COUNTER, Record, array, scalar, viewer
from sesshoku.methods.springs.solve.gauss_newton import gauss_newton
from sesshoku.methods.springs.solve.inertia import solve_group, through_inertia
from sesshoku.methods.springs.solve.islands import ACROSS, ALONG, BOTH_WAYS, ONE_WAY, UNLIMITED, find_islands
from sesshoku.spatial.algebra import quaternion_matrix, turn_quaternion

ARMIJO = 1e-4
LEAST_STEP = 1e-12
MOST_COLUMNS = 1 << 20  # numbers kept of answers to rows
MOST_TURN = 0.5  # rad: of a body in one iteration; a search direction means nothing farther away
MORE_TURN = 1.0  # rad: that constraint forces may add to what a body would turn in the step without them
MORE_ENERGY = 0.02  # of the island's kinetic energy: that they may add to it, beside pulling back what begins too far
TINY = 1e-9  # m: a shorter spring has no direction
# results of a solve
ITERATIONS, CONVERGED, RESIDUAL = range(3)


class SpringSet(Record):
    """B bodies (the last is the world), S springs, T ties. Anchor 0 is on body 0, anchor 1 on body 1.

    most: three times the most ties of a group.
    """

    body_count = scalar()
    capacity = scalar()
    # ---- bodies at the start of the step, world axes
    position = array(float, "B", 3)  # centre of mass
    rotation = array(float, "B", 3, 3)
    inverse_mass = array(float, "B")  # 0: moved by no force
    inverse_inertia = array(float, "B", 6)  # xx yy zz xy xz yz
    velocity = array(float, "B", 6)  # at the end of the step: unknown
    inertia = array(float, "B", 6)  # the bodies' own
    free = array(float, "B", 6)  # the same without forces of the springs' limits
    lead = array(float, "B", 3)  # mean spin over the step less the one at its end: given, not changed by forces
    # ---- bodies whose inertias are coupled
    group = array(int, "B")  # first body of its group, -1: none
    group_end = array(int, "B")  # of a group's first body: one past its last
    above = array(int, "B")  # the parent within the group, -1: none
    block = array(float, "B", 6, 6)  # inertia, linear before angular
    cross = array(float, "B", 6, 6)  # of a body (rows) with its parent (columns)
    factor = array(float, "B", 6, 6)
    link = array(float, "B", 6, 6)
    # ---- T ties between bodies of a group, those of a group in a row
    group_tie = array(int, "B", 2)  # of a group's first body: range of its ties
    tie_body = array(int, "T", 2)
    tie_arm = array(float, "T", 2, 3)  # ends from the centres of mass, world axes
    tie_inertia = array(float, "T")
    tie_column = array(int, "T")  # place of its three answers in `tie_columns`
    tie_columns = array(float, "tie_columns")  # answers of a group's tree to unit forces along its ties
    tie_factor = array(float, "3 * T", "most")
    tie_reply = array(float, "B", 6)
    tie_speed = array(float, "most")
    # ---- springs
    counts = array(int, 4, saved=True, within=(0, ("S", "columns", COUNTER[1], COUNTER[1])))  # springs in use
    body = array(int, "S", 2, saved=True, within=(0, "B - 1"))
    local = array(float, "S", 2, 3, saved=True)  # anchors from the centres of mass, body axes
    limit = array(float, "S")  # m: how far it may stretch in this step
    holds = array(int, "S", saved=True, within=(BOTH_WAYS, UNLIMITED))  # BOTH_WAYS .. UNLIMITED
    normal = array(float, "S", 3, saved=True)  # N, world axes
    held = array(float, "S", 3, saved=True)  # N: force found for body 0, the opposite acts on body 1
    # N: its size to start Gauss-Newton's sweeps from; their result does not depend on it
    guess = array(float, "S", saved=True)
    # ---- islands
    island_count = array(int, 1)
    island_spring_start = array(int, "B + 1")
    island_spring = array(int, "S")
    island_body_start = array(int, "B + 1")
    island_body = array(int, "B")
    # ---- work
    new_position = array(float, "B", 3)
    new_rotation = array(float, "B", 3, 3)
    arm = array(float, "S", 2, 3)  # anchors from the centres of mass, at the predicted poses
    gap = array(float, "S")  # g
    start_gap = array(float, "S")  # m: how far beyond its limit it begins the step
    direction = array(float, "S", 3)  # n, along which body 1 must not go farther from body 0
    row_force = array(float, "S")  # per unit step along the search direction, N
    row_direction = array(float, "S", 3)  # direction it acts along
    row_inverse = array(float, "S")  # 0: not known yet
    row_column = array(int, "S")  # place of its answer in `columns`, -1: none there
    columns = array(float, "columns")  # answers of coupled bodies to unit forces along rows
    reply = array(float, 2, "B", 6)
    touched = array(int, 4)  # bodies
    gradient = array(float, "B", 6)
    search = array(float, "B", 6)
    before = array(float, "B", 6)
    root = array(int, "B")
    iwork = array(int, "B + 1")
    result = array(float, 3, saved=True)


as_springs = viewer(SpringSet)


def make_springs(body_count: int, capacity: int, ties: Any = (), tops: Any = ()) -> SpringSet:
    """Room for `capacity` springs between `body_count` bodies, the world included as the last of them.

    ties: pairs of bodies, a group's in a row; tops: of every body the first one of its group, -1 if no force moves it.
    """
    B, S = body_count, capacity
    places, group_tie = _tie_places(ties, tops, B)
    sizes = {"B": B, "S": S, "T": len(ties), "columns": min(6 * B * S, MOST_COLUMNS), "tie_columns": int(places[-1]),
             "most": 3 * int(np.ptp(group_tie, axis=1).max(initial=0))}
    springs = SpringSet.sized(sizes, body_count=B, capacity=S, group_tie=group_tie, tie_column=places[:-1],
                              tie_body=np.array(ties, dtype=np.int64).reshape(-1, 2))
    springs.group[:] = springs.above[:] = -1
    springs.rotation[:] = springs.new_rotation[:] = np.eye(3)
    return springs


def _tie_places(ties: Any, tops: Any, body_count: int) -> tuple[np.ndarray, np.ndarray]:
    """Where each tie's answers begin, and where all end (T + 1); of a group's first body its ties' range (B, 2)."""
    places, group_tie = np.zeros(len(ties) + 1, dtype=np.int64), np.zeros((body_count, 2), dtype=np.int64)
    for t, pair in enumerate(ties):
        top = max(tops[b] for b in pair)
        first, last = group_tie[top]
        group_tie[top] = (first, t + 1) if last > first else (t, t + 1)
        places[t + 1] = places[t] + 18 * (int(np.flatnonzero(np.asarray(tops) == top)[-1]) + 1 - top)
    return places, group_tie


@jit
def predict(springs, b, dt):
    """Pose of body b at the end of the step with its present velocity: eq. (3.19)."""
    x, u, out = springs.position[b], springs.velocity[b], springs.new_position[b]
    R, Q = springs.rotation[b], springs.new_rotation[b]
    for a in range(3):
        out[a] = x[a] + dt * u[a]
    lead = springs.lead[b]
    w, p, q, r = turn_quaternion(dt * (u[3] + lead[0]), dt * (u[4] + lead[1]), dt * (u[5] + lead[2]))
    t00, t01, t02, t10, t11, t12, t20, t21, t22 = quaternion_matrix(w, p, q, r)
    for a in range(3):
        x0, x1, x2 = R[0, a], R[1, a], R[2, a]
        Q[0, a] = t00 * x0 + t01 * x1 + t02 * x2
        Q[1, a] = t10 * x0 + t11 * x1 + t12 * x2
        Q[2, a] = t20 * x0 + t21 * x1 + t22 * x2


@jit
def stretch(springs, s):
    """Arms, direction and g of spring s at the predicted poses: g is |l_r| - w of eqs. (2.29), (2.31), (2.32)."""
    local, body, arm, n = springs.local[s], springs.body[s], springs.arm[s], springs.direction[s]
    for side in range(2):
        R = springs.new_rotation[body[side]]
        for a in range(3):
            arm[side, a] = R[a, 0] * local[side, 0] + R[a, 1] * local[side, 1] + R[a, 2] * local[side, 2]
    x0, x1 = springs.new_position[body[0]], springs.new_position[body[1]]
    dx, dy, dz = x1[0] + arm[1, 0] - x0[0] - arm[0, 0], x1[1] + arm[1, 1] - x0[1] - arm[0, 1], (
        x1[2] + arm[1, 2] - x0[2] - arm[0, 2])
    holds, N = springs.holds[s], springs.normal[s]
    if holds == ONE_WAY or holds == ALONG:
        along = N[0] * dx + N[1] * dy + N[2] * dz
        sign = -1.0 if along < 0.0 and holds == ALONG else 1.0
        n[0], n[1], n[2] = sign * N[0], sign * N[1], sign * N[2]
        springs.gap[s] = sign * along - springs.limit[s]
        return
    if holds == ACROSS:
        along = N[0] * dx + N[1] * dy + N[2] * dz
        dx, dy, dz = dx - along * N[0], dy - along * N[1], dz - along * N[2]
    length = sqrt(dx * dx + dy * dy + dz * dz)
    scale = 1.0 / length if length > TINY else 0.0
    n[0], n[1], n[2] = scale * dx, scale * dy, scale * dz
    springs.gap[s] = length - springs.limit[s] if length > TINY else min(0.0, -springs.limit[s])


@jit
def penalty(springs, island, dt):
    """(4.3): Phi of an island at the present velocities; squared, to the first power in print."""
    for n in range(springs.island_body_start[island], springs.island_body_start[island + 1]):
        predict(springs, springs.island_body[n], dt)
    total = 0.0
    for n in range(springs.island_spring_start[island], springs.island_spring_start[island + 1]):
        s = springs.island_spring[n]
        stretch(springs, s)
        g = max(0.0, springs.gap[s])
        total += g * g
    return 0.5 * total


@jit
def worst(springs, island, tolerance):
    """Largest g / limit, and whether it is within `tolerance`; largest g in metres."""
    most, ok = 0.0, True
    for n in range(springs.island_spring_start[island], springs.island_spring_start[island + 1]):
        s = springs.island_spring[n]
        g = springs.gap[s]
        most = max(most, g)
        if not g <= tolerance * springs.limit[s] + 1e-12:
            ok = False
    return most, ok


@jit
def push(springs, out, s, side, x, y, z):
    """Add the force (x, y, z) at an anchor of spring s, as force and torque about the centre of mass."""
    b, r = springs.body[s, side], springs.arm[s, side]
    if springs.inverse_mass[b] == 0.0:
        return
    o = out[b]
    o[0] += x
    o[1] += y
    o[2] += z
    o[3] += r[1] * z - r[2] * y
    o[4] += r[2] * x - r[0] * z
    o[5] += r[0] * y - r[1] * x


@jit
def penalty_gradient(springs, island, dt):
    """(4.5): gradient of Phi into `gradient`, -M^-1 gradient into `search`; returns gradient . M^-1 gradient.

    In print the direction is -gradient, made a unit vector.
    """
    first, last = springs.island_body_start[island], springs.island_body_start[island + 1]
    grad, search, body = springs.gradient, springs.search, springs.island_body
    for n in range(first, last):
        for a in range(6):
            grad[body[n], a] = 0.0
    for n in range(springs.island_spring_start[island], springs.island_spring_start[island + 1]):
        s = springs.island_spring[n]
        g, d = springs.gap[s], springs.direction[s]
        springs.row_force[s] = max(0.0, g)
        for a in range(3):
            springs.row_direction[s, a] = d[a]
        if g > 0.0:
            x, y, z = dt * g * d[0], dt * g * d[1], dt * g * d[2]
            push(springs, grad, s, 1, x, y, z)
            push(springs, grad, s, 0, -x, -y, -z)
    for n in range(first, last):
        b = body[n]
        for a in range(6):
            search[b, a] = grad[b, a]
        if springs.group[b] < 0:
            through_inertia(springs, b, grad[b], search[b])
    for n in range(first, last):
        if springs.group[body[n]] == body[n]:
            solve_group(springs, body[n], search)
    slope = 0.0
    for n in range(first, last):
        b = body[n]
        for a in range(6):
            slope += grad[b, a] * search[b, a]
            search[b, a] = -search[b, a]
    return slope


@jit
def shift(springs, island, step):
    """velocity = before + step * search, for the bodies of an island."""
    for n in range(springs.island_body_start[island], springs.island_body_start[island + 1]):
        b = springs.island_body[n]
        for a in range(6):
            springs.velocity[b, a] = springs.before[b, a] + step * springs.search[b, a]


@jit
def search_turn(springs, island, dt):
    """By how much a unit step along the search direction turns the body that it turns most, rad."""
    most = 0.0
    for n in range(springs.island_body_start[island], springs.island_body_start[island + 1]):
        most = max(most, spin(springs.search[springs.island_body[n]]))
    return dt * most


@jit(into_callers=True)
def spin(u):
    """Angular speed of a velocity (6), rad/s."""
    return sqrt(u[3] * u[3] + u[4] * u[4] + u[5] * u[5])


@jit
def kinetic_energy(springs, island):
    """Of the island's bodies at the present velocities, J."""
    total = 0.0
    for n in range(springs.island_body_start[island], springs.island_body_start[island + 1]):
        b = springs.island_body[n]
        u, I = springs.velocity[b], springs.inertia[b]
        if springs.inverse_mass[b] > 0.0:
            total += (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]) / springs.inverse_mass[b]
            total += I[0] * u[3] * u[3] + I[1] * u[4] * u[4] + I[2] * u[5] * u[5]
            total += 2.0 * (I[3] * u[3] * u[4] + I[4] * u[3] * u[5] + I[5] * u[4] * u[5])
    return 0.5 * total


@jit
def find_start_gaps(springs, island):
    """start_gap of the island's springs, at the poses its bodies have now."""
    for n in range(springs.island_body_start[island], springs.island_body_start[island + 1]):
        b = springs.island_body[n]
        for a in range(3):
            springs.new_position[b, a] = springs.position[b, a]
            for c in range(3):
                springs.new_rotation[b, a, c] = springs.rotation[b, a, c]
    for n in range(springs.island_spring_start[island], springs.island_spring_start[island + 1]):
        s = springs.island_spring[n]
        stretch(springs, s)
        springs.start_gap[s] = max(0.0, springs.gap[s])


@jit
def row_work(springs, s, dt):
    """Energy that spring s adds by a short step along the search direction, beside pulling itself back: J per unit of
    the step, and by how much that grows with the step."""
    f = springs.row_force[s]
    if f == 0.0:
        return 0.0, 0.0
    opening = row_rate(springs, springs.velocity, s)
    return -f * (dt * opening + springs.start_gap[s]), -f * dt * row_rate(springs, springs.search, s)


@jit(into_callers=True)
def row_rate(springs, velocity, s):
    """Speed at which velocities (B, 6) stretch spring s along its row's direction."""
    n, total = springs.row_direction[s], 0.0
    for side in range(2):
        u, r = velocity[springs.body[s, side]], springs.arm[s, side]
        sign = 1.0 if side == 1 else -1.0
        total += sign * (n[0] * (u[0] + u[4] * r[2] - u[5] * r[1]) + n[1] * (u[1] + u[5] * r[0] - u[3] * r[2])
                         + n[2] * (u[2] + u[3] * r[1] - u[4] * r[0]))
    return total


@jit
def turns_little(springs, island, dt):
    """Whether no body turns more than MORE_TURN farther than it would without constraint forces.

    Phi is periodic in a body's turn: many turns on, a rod may lie within all limits again.
    """
    for n in range(springs.island_body_start[island], springs.island_body_start[island + 1]):
        b = springs.island_body[n]
        turn = spin(springs.velocity[b])
        if dt * (turn - spin(springs.free[b])) > MORE_TURN and turn > spin(springs.before[b]):
            return False
    return True


@jit
def keep_velocity(springs, island):
    """before = velocity."""
    for n in range(springs.island_body_start[island], springs.island_body_start[island + 1]):
        b = springs.island_body[n]
        for a in range(6):
            springs.before[b, a] = springs.velocity[b, a]


@jit
def descend(springs, dt, tolerance, least, cap, newton):
    """Bring every island's springs within their limits; writes velocity, held (added to) and result.

    tolerance: of g, as a share of the limit. least, cap: iterations of an island at least, where anything is beyond its
    limit, and at most. newton: Gauss-Newton steps.
    """
    find_islands(springs)
    for b in range(springs.body_count):
        if springs.inverse_mass[b] == 0.0:
            predict(springs, b, dt)
    iterations, residual, converged = 0, 0.0, True
    for island in range(springs.island_count[0]):
        if springs.island_spring_start[island] == springs.island_spring_start[island + 1]:
            continue
        used, most, ok = descend_island(springs, island, dt, tolerance, least, cap, newton)
        iterations = max(iterations, used)
        residual = max(residual, most)
        converged = converged and ok
    springs.result[ITERATIONS] = iterations
    springs.result[CONVERGED] = 1.0 if converged else 0.0
    springs.result[RESIDUAL] = residual


@jit
def descend_island(springs, island, dt, tolerance, least, cap, newton):
    """One island: iterations used, largest g left, whether the tolerance was met."""
    first, last = springs.island_spring_start[island], springs.island_spring_start[island + 1]
    find_start_gaps(springs, island)
    phi, gained, most_gain = penalty(springs, island, dt), 0.0, MORE_ENERGY * kinetic_energy(springs, island)
    most, ok = worst(springs, island, tolerance)
    used = 0
    while (not ok or (used < least and most > 0.0)) and used < cap:
        slope = gauss_newton(springs, island, dt) if newton else penalty_gradient(springs, island, dt)
        if not slope > 0.0:  # (4.4) fails
            break
        keep_velocity(springs, island)
        step, found, new_phi = 1.0 if newton else 2.0 * phi / slope, False, phi
        turn, rate, bend = search_turn(springs, island, dt), 0.0, 0.0
        for n in range(first, last):
            change, more = row_work(springs, springs.island_spring[n], dt)
            rate, bend = rate + change, bend + more
        if step * turn > MOST_TURN:
            step = MOST_TURN / turn
        while step > LEAST_STEP and not found:
            shift(springs, island, step)
            new_phi = penalty(springs, island, dt)
            found = new_phi <= phi - ARMIJO * step * slope  # (4.6): xi is ARMIJO, alpha is step
            found = found and turns_little(springs, island, dt)
            found = found and gained + step * (rate + 0.5 * step * bend) <= most_gain
            if not found:
                step *= 0.5
        if not found:
            shift(springs, island, 0.0)
            penalty(springs, island, dt)
            break
        for n in range(first, last):
            s = springs.island_spring[n]
            f = step * springs.row_force[s]
            for a in range(3):
                springs.held[s, a] += f * springs.row_direction[s, a]
        phi, gained = new_phi, gained + step * (rate + 0.5 * step * bend)
        used += 1
        most, ok = worst(springs, island, tolerance)
    return used, most, ok


__all__ = ["ACROSS", "ALONG", "BOTH_WAYS", "CONVERGED", "ITERATIONS", "ONE_WAY", "RESIDUAL", "TINY", "UNLIMITED",
           "SpringSet", "as_springs", "descend", "find_islands", "make_springs", "penalty", "penalty_gradient",
           "predict"]
