"""Other solvers of the same contact problems, to compare the exact one with: their standard forms, compiled.

    gauss_seidel_exact       block Gauss-Seidel, every contact solved exactly at its visit
    gauss_seidel_projection  the same with one projection step per visit
    nncg                     projection sweeps combined by nonlinear conjugate gradients
    admm                     proximal ADMM on the cones with De Saxcé's shift, penalty adapted by the ratio rule
Each solves an Island from its present impulses and returns (iterations, residual in m/s).
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np

from sesshoku.compiled.jit import jit
from sesshoku.experiments.exact.islands import Island
from sesshoku.solvers.block_sweeps import sweep_exactly
from sesshoku.solvers.pgs import solve_rows
from sesshoku.solvers.proximal_local import contact_violation


def residual(island: Island) -> float:
    """Violation of the law at the island's impulses, m/s: as the exact solver measures it."""
    Z, x, p = island.rows(), island.impulses(), island.problem
    u, worst = Z @ (Z.T @ x) + island.free(), 0.0
    for i, c in enumerate(island.contact_list):
        g = float(np.diag(p.block[c]).max())
        if g > 0.0:
            worst = max(worst, contact_violation(island.mu[c], g, *x[3 * i : 3 * i + 3], *u[3 * i : 3 * i + 3]))
    for i, j in enumerate(island.joint_list):
        k, g = 3 * island.contacts + i, p.joint_block[j]
        if g > 0.0:
            worst = max(worst, g * abs(x[k] - min(max(x[k] - u[k] / g, p.joint_low[j]), p.joint_high[j])))
    return float(worst)


def _sweeps(island: Island, accelerate: bool, most: int, tolerance: float) -> tuple[int, float]:
    work = island.work()
    island.problem.y[:] = island.rows().T @ island.impulses()
    made = solve_rows(island.chains, island.problem, work.law, island.mu, island.contact_list, island.joint_list,
                      island.dof_list, False, False, accelerate, most, tolerance, work, island.problem.y)
    return int(made), residual(island)


def gauss_seidel_projection(island: Island, most: int = 3000, tolerance: float = 1e-9) -> tuple[int, float]:
    return _sweeps(island, False, most, tolerance)


def nncg(island: Island, most: int = 1500, tolerance: float = 1e-9) -> tuple[int, float]:
    return _sweeps(island, True, most, tolerance)


def gauss_seidel_exact(island: Island, most: int = 3000, tolerance: float = 1e-9) -> tuple[int, float]:
    island.problem.y[:] = island.rows().T @ island.impulses()
    made = sweep_exactly(island.chains, island.problem, island.mu, island.contact_list, island.joint_list,
                         island.work().joint_moved, island.problem.y, most, tolerance)
    return int(made), residual(island)


def admm(island: Island, most: int = 1000, tolerance: float = 1e-8) -> tuple[int, float]:
    Z, p = island.rows(), island.problem
    G, n = np.ascontiguousarray(Z @ Z.T), len(Z)
    x = island.impulses()
    made = admm_dense(island.contacts, len(island.joint_list), G, island.free(), island.mu[island.contact_list],
                      p.joint_low[island.joint_list], p.joint_high[island.joint_list], x, most, tolerance,
                      np.zeros((n, n)), np.zeros((6, n)))
    island.set_impulses(x)
    return int(made), residual(island)


SOLVERS: dict[str, Callable[..., tuple[int, float]]] = {
    "Gauss-Seidel, projection": gauss_seidel_projection,
    "Gauss-Seidel, exact": gauss_seidel_exact,
    "NNCG": nncg,
    "ADMM": admm,
}


# ---- ADMM ----------------------------------------------------------------------------------------------------------


@jit
def onto_cone(mu, x0, x1, x2):
    """Nearest point of the friction cone |t| <= mu n."""
    size = sqrt(x0 * x0 + x1 * x1)
    if size <= mu * x2:
        return x0, x1, x2
    if mu * size <= -x2:
        return 0.0, 0.0, 0.0
    n = (mu * size + x2) / (1.0 + mu * mu)
    return x0 * mu * n / size, x1 * mu * n / size, n


@jit
def cholesky(n, G, shift, L):
    """L L^T = G + shift I."""
    for i in range(n):
        for j in range(i + 1):
            t = G[i, j]
            if i == j:
                t += shift
            for k in range(j):
                t -= L[i, k] * L[j, k]
            L[i, j] = sqrt(t) if i == j else t / L[j, j]


@jit
def cholesky_solve(n, L, x):
    for i in range(n):
        t = x[i]
        for k in range(i):
            t -= L[i, k] * x[k]
        x[i] = t / L[i, i]
    for i in range(n - 1, -1, -1):
        t = x[i] / L[i, i]
        x[i] = t
        for k in range(i):
            x[k] -= L[i, k] * t


@jit
def dense_residual(m, nj, G, b, mu, low, high, x, u):
    """Residual of the law for a dense matrix; u (n) comes out as the velocity."""
    worst, n = 0.0, 3 * m + nj
    for i in range(n):
        t = b[i]
        for j in range(n):
            t += G[i, j] * x[j]
        u[i] = t
    for i in range(m):
        k = 3 * i
        g = max(G[k, k], G[k + 1, k + 1], G[k + 2, k + 2])
        if g > 0.0:
            worst = max(worst, contact_violation(mu[i], g, x[k], x[k + 1], x[k + 2], u[k], u[k + 1], u[k + 2]))
    for j in range(nj):
        k = 3 * m + j
        if G[k, k] > 0.0:
            worst = max(worst, G[k, k] * abs(x[k] - min(max(x[k] - u[k] / G[k, k], low[j]), high[j])))
    return worst


@jit
def admm_dense(m, nj, G, b, mu, low, high, x, most, tolerance, L, work):
    """min 1/2 z^T G z + (b + s)^T z with z = x in the cones; s_n = mu |u_t| (De Saxcé) refreshed every iteration.

    x (n): start and result, inside the cones. L (n, n), work (6, n). Returns the number of iterations.
    """
    n = 3 * m + nj
    z, dual, right, u, before = work[0], work[1], work[2], work[3], work[4]
    mean = 0.0
    for i in range(n):
        mean += G[i, i] / n
    proximal, penalty = 1e-6 * mean, 0.1 * mean
    cholesky(n, G, penalty + proximal, L)
    dense_residual(m, nj, G, b, mu, low, high, x, u)
    for i in range(n):
        z[i], dual[i] = x[i], u[i]
    for i in range(m):
        dual[3 * i + 2] += mu[i] * sqrt(u[3 * i] ** 2 + u[3 * i + 1] ** 2)
    for it in range(most):
        for i in range(n):
            right[i] = proximal * z[i] + penalty * x[i] + dual[i] - b[i]
        for i in range(m):
            right[3 * i + 2] -= mu[i] * sqrt(dual[3 * i] ** 2 + dual[3 * i + 1] ** 2)
        cholesky_solve(n, L, right)
        for i in range(n):
            z[i], before[i] = right[i], x[i]
            x[i] = z[i] - dual[i] / penalty
        for i in range(m):
            k = 3 * i
            x[k], x[k + 1], x[k + 2] = onto_cone(mu[i], x[k], x[k + 1], x[k + 2])
        for j in range(nj):
            x[3 * m + j] = min(max(x[3 * m + j], low[j]), high[j])
        apart = moved = 0.0
        for i in range(n):
            dual[i] -= penalty * (z[i] - x[i])
            apart, moved = max(apart, abs(z[i] - x[i])), max(moved, penalty * abs(x[i] - before[i]))
        if dense_residual(m, nj, G, b, mu, low, high, x, u) < tolerance:
            return it + 1
        if it % 10 == 9:
            factor = 5.0 if apart * mean > 10.0 * moved else (0.2 if moved > 10.0 * apart * mean else 1.0)
            if factor != 1.0:
                penalty *= factor
                cholesky(n, G, penalty + proximal, L)
    return most
