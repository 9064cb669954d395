"""Coulomb problems of a few contacts solved by trying everything: plain NumPy, no line shared with the solvers.

u = G x + b, rows (t1, t2, n) per contact. Each contact is open (x = 0), sticks (u = 0) or slips: x = n (mu e, 1) with
e = (cos a, sin a) and u_n = 0, u_t parallel to e. For given states and angles of slip the rest is linear, so that only
the angles are searched for: on a grid, then by Newton's method from its best places.
"""

from __future__ import annotations

import itertools

import numpy as np
from scipy.optimize import root

OPEN, STICK, SLIP = range(3)
GRID = {1: 256, 2: 40, 3: 14}  # points per angle


def violation(G: np.ndarray, b: np.ndarray, mu: np.ndarray, x: np.ndarray) -> float:
    """How far x is from the law, in the units of b: gaps, cone and direction of friction, in our own words."""
    u, worst = (G @ x + b).reshape(-1, 3), 0.0
    for i, (t1, t2, n) in enumerate(x.reshape(-1, 3)):
        g = np.diag(G)[3 * i : 3 * i + 3].max()
        slip, size = np.hypot(u[i, 0], u[i, 1]), np.hypot(t1, t2)
        worst = max(worst, -u[i, 2], -n * g, min(abs(u[i, 2]), abs(n) * g), g * (size - mu[i] * n))
        # friction of full size opposes slip: as a velocity (u_t + |u_t| t / (mu n) = 0) or as an impulse
        bound = mu[i] * n
        if slip > 0.0 and bound > 0.0:
            turned = np.hypot(u[i, 0] + slip * t1 / bound, u[i, 1] + slip * t2 / bound)
            missing = np.hypot(t1 + bound * u[i, 0] / slip, t2 + bound * u[i, 1] / slip)
            worst = max(worst, min(turned, g * missing))
    return worst


def given_angles(G: np.ndarray, b: np.ndarray, mu: np.ndarray, states: tuple[int, ...], angles: np.ndarray,
                 ) -> tuple[np.ndarray, np.ndarray]:
    """Impulses and sideways slip (of u_t across e, to be zero) for slip angles (samples, slipping contacts)."""
    count, m = len(angles), len(states)
    columns = sum(3 if s == STICK else 1 for s in states if s != OPEN)
    B, T = np.zeros((count, 3 * m, columns)), np.zeros((count, columns, 3 * m))
    across = np.zeros((count, len([s for s in states if s == SLIP]), 3 * m))
    at = k = 0
    for i, state in enumerate(states):
        if state == STICK:
            for d in range(3):
                B[:, 3 * i + d, at + d] = T[:, at + d, 3 * i + d] = 1.0
            at += 3
        elif state == SLIP:
            c, s = np.cos(angles[:, k]), np.sin(angles[:, k])
            B[:, 3 * i, at], B[:, 3 * i + 1, at], B[:, 3 * i + 2, at] = mu[i] * c, mu[i] * s, 1.0
            T[:, at, 3 * i + 2] = 1.0
            across[:, k, 3 * i], across[:, k, 3 * i + 1] = -s, c
            at, k = at + 1, k + 1
    if columns == 0:
        return np.zeros((count, 3 * m)), np.zeros((count, 0))
    A = T @ G @ B
    det = np.linalg.det(A)
    A[np.abs(det) < 1e-13 * np.abs(A).max(axis=(1, 2)) ** columns] += 1e-9 * np.eye(columns)
    z = np.linalg.solve(A, -(T @ b)[:, :, None])
    x = (B @ z)[:, :, 0]
    u = x @ G.T + b
    return x, np.einsum("nkr,nr->nk", across, u)


def candidates(G: np.ndarray, b: np.ndarray, mu: np.ndarray, states: tuple[int, ...],
               hint: np.ndarray | None) -> list[np.ndarray]:
    """Impulses that solve the equations of the given states (inequalities unchecked)."""
    slips = sum(s == SLIP for s in states)
    if slips == 0:
        return [given_angles(G, b, mu, states, np.zeros((1, 0)))[0][0]]
    axis = np.linspace(-np.pi, np.pi, GRID[slips], endpoint=False)
    grid = np.stack(np.meshgrid(*[axis] * slips, indexing="ij"), axis=-1)
    _, error = given_angles(G, b, mu, states, grid.reshape(-1, slips))
    size = np.sqrt((error**2).sum(axis=1)).reshape(grid.shape[:-1])
    low = np.ones(size.shape, dtype=bool)
    for direction in range(slips):
        low &= (size <= np.roll(size, 1, direction)) & (size <= np.roll(size, -1, direction))
    starts = list(grid[low])
    if hint is not None:
        starts.append(hint)
    found = []
    for start in starts:
        result = root(lambda a: given_angles(G, b, mu, states, a[None])[1][0], start, tol=1e-14)
        found.append(given_angles(G, b, mu, states, result.x[None])[0][0])
    return found


def all_solutions(G: np.ndarray, b: np.ndarray, mu: np.ndarray, near: np.ndarray | None = None,
                  tolerance: float = 1e-9) -> list[np.ndarray]:
    """Every solution found. near: impulses whose friction directions are tried beside the grid."""
    m, found = len(b) // 3, []
    for states in itertools.product((OPEN, STICK, SLIP), repeat=m):
        hint = None
        if near is not None:
            hint = np.array([np.arctan2(near[3 * i + 1], near[3 * i]) for i in range(m) if states[i] == SLIP])
        for x in candidates(G, b, mu, states, hint):
            if violation(G, b, mu, x) <= tolerance * max(1.0, np.abs(b).max()):
                if all(np.abs(x - y).max() > 1e-7 for y in found):
                    found.append(x)
    return found
