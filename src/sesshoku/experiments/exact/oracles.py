"""Other solvers of the same contact problems, to compare the exact one with: their standard forms, compiled.

    gauss_seidel_exact       block Gauss-Seidel, every contact solved exactly at its visit
    gauss_seidel_projection  the same with one projection step per visit
    nncg                     projection sweeps combined by nonlinear conjugate gradients
    admm                     proximal ADMM on the cones with De Saxcé's shift, penalty adapted by the ratio rule
Each solves an Island from its present impulses and returns Solved; the clock runs for the iteration alone, in CPU time:
what it is given (rows; ADMM: also the whole matrix) is made before. `newton` is ours in the same clothes, with all it
prepares inside the clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sesshoku.experiments.exact.islands import Island
from sesshoku.solvers.admm import admm_dense
from sesshoku.solvers.block_sweeps import sweep_exactly
from sesshoku.solvers.pgs import solve_rows
from sesshoku.solvers.proximal.local import contact_violation
from sesshoku.solvers.proximal.newton import solve_island
from sesshoku.solvers.proximal.work import NewtonOptions, newton_numbers


class Solved(NamedTuple):
    iterations: int
    residual: float  # m/s
    seconds: float  # CPU time


def residual(island: Island) -> float:
    """Violation of the law at the island's impulses, m/s: as the exact solver measures it."""
    Z, x, p = island.rows(), island.impulses(), island.problem
    u, worst = Z @ (Z.T @ x) + island.free(), 0.0
    for i, c in enumerate(island.contact_list):
        g = float(np.diag(p.block[c]).max())
        if g > 0.0:
            rows = slice(3 * i, 3 * i + 3)
            worst = max(worst, contact_violation(island.mu[c], g, tuple(x[rows]), tuple(u[rows])))
    for i, j in enumerate(island.joint_list):
        k, g = 3 * island.contacts + i, p.joint_block[j]
        if g > 0.0:
            worst = max(worst, g * abs(x[k] - min(max(x[k] - u[k] / g, p.joint_low[j]), p.joint_high[j])))
    return float(worst)


def _sweeps(island: Island, accelerate: bool, most: int, tolerance: float) -> Solved:
    work = island.work()
    island.problem.y[:] = island.rows().T @ island.impulses()
    clock = time.process_time()
    made = solve_rows(island.chains, island.problem, (work.law, island.mu),
                      (island.contact_list, island.joint_list, island.dof_list), (False, False, accelerate),
                      (most, tolerance), work, island.problem.y)
    spent = time.process_time() - clock
    return Solved(min(int(made), most), residual(island), spent)


def gauss_seidel_projection(island: Island, most: int = 3000, tolerance: float = 1e-9) -> Solved:
    return _sweeps(island, False, most, tolerance)


def nncg(island: Island, most: int = 1500, tolerance: float = 1e-9) -> Solved:
    return _sweeps(island, True, most, tolerance)


def gauss_seidel_exact(island: Island, most: int = 3000, tolerance: float = 1e-9) -> Solved:
    work = island.work()
    island.problem.y[:] = island.rows().T @ island.impulses()
    clock = time.process_time()
    made = sweep_exactly(island.chains, island.problem, island.mu, (island.contact_list, island.joint_list),
                         work.joint_moved, island.problem.y, (most, tolerance))
    spent = time.process_time() - clock
    return Solved(int(made), residual(island), spent)


def admm(island: Island, most: int = 1000, tolerance: float = 1e-8) -> Solved:
    Z, p = island.rows(), island.problem
    G, n = np.ascontiguousarray(Z @ Z.T), len(Z)
    x, free, mu = island.impulses(), island.free(), island.mu[island.contact_list]
    low, high = p.joint_low[island.joint_list], p.joint_high[island.joint_list]
    L, work = np.zeros((n, n)), np.zeros((6, n))
    clock = time.process_time()
    made = admm_dense((island.contacts, len(island.joint_list)), (G, free), mu, (low, high), x, most, tolerance, L,
                      work)
    spent = time.process_time() - clock
    island.set_impulses(x)
    return Solved(int(made), residual(island), spent)


def newton(island: Island, options: NewtonOptions) -> Solved:
    """The exact solver itself."""
    parameters, work = newton_numbers(options), island.work()
    clock = time.process_time()
    steps, _, _ = solve_island(island.chains, island.problem, island.mu,
                               (island.contact_list, island.joint_list, island.dof_list), parameters, work)
    spent = time.process_time() - clock
    return Solved(int(steps), residual(island), spent)


SOLVERS: dict[str, Callable[..., Solved]] = {
    "Gauss-Seidel, projection": gauss_seidel_projection,
    "Gauss-Seidel, exact": gauss_seidel_exact,
    "NNCG": nncg,
    "ADMM": admm,
}
