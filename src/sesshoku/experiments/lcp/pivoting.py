"""(9) and (10) by a pivoting method: what the paper says of it (fragile where constraints are redundant), tried.

With a multiplier for the bound of friction, normal forces, friction forces and multipliers z = (f_N, f_T, lambda) make
one linear complementarity problem w = M z + q >= 0, z >= 0, z w = 0, with

    M = [K_NN  K_TN   0]        (5)
        [K_NT  K_TT   1]        (9)
        [ mu    -1    0]        (10)

z M z = f K f + mu f_N lambda >= 0: Lemke's method ends in a solution in theory, if no two rows ever tie. A plate that
slides on m points has a K of rank 6 or less whatever m is: rows tie all the time, rounding decides, and the method runs
into a ray. Gauss-Seidel sweeps, the paper's answer, do not mind. Neither does Lemke's method on as many points that are
not redundant, nor where the ties are broken by noise on q, at the price of that noise in the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result, Table

TITLE = "(9) and (10) by Lemke's pivoting and by sweeps: a plate that slides on 4 to 64 points"
SIDES = (2, 3, 4, 5, 6, 8)  # points along a side of the plate
COUNT, MU, DT, SWEEPS = 40, 0.5, 1e-3, 120
NOISE = 1e-7  # m/s, on q
SOLVED, RAY, ENDLESS = "solved", "ray", "no end"
VARIANTS = ("redundant", "redundant, noise on q", "independent")


@dataclass(frozen=True)
class Problem:
    """K (2 m, 2 m), normals first, and b (2 m): velocities along the rows without contact."""

    K: np.ndarray
    b: np.ndarray

    @property
    def points(self) -> int:
        return len(self.b) // 2

    def pivoting_form(self) -> tuple[np.ndarray, np.ndarray]:
        """M and q of (5), (9), (10)."""
        m = self.points
        one, nothing = np.eye(m), np.zeros((m, m))
        M = np.block([[self.K, np.vstack([nothing, one])], [np.hstack([MU * one, -one]), nothing]])
        return M, np.r_[self.b, np.zeros(m)]

    def residual(self, f: np.ndarray) -> float:
        """Largest violation of (12) to (14), m/s."""
        m, z, own = self.points, self.K @ f + self.b, np.diag(self.K)
        high = np.r_[np.full(m, np.inf), MU * f[:m]]
        return float(np.abs((f - np.clip(f - z / own, 0.0, high)) * own).max())


def plate(side: int, rng: np.random.Generator, half: float = 0.1) -> Problem:
    """1 kg on side x side points, thrown along the floor and spinning at random about the vertical."""
    grid = np.linspace(-half, half, side)
    points = np.array([(x, y, -half) for x in grid for y in grid])
    inertia = np.array([2.0, 2.0, 2.0]) * half**2 / 3.0
    velocity = np.r_[np.cos(1.0), np.sin(1.0), 0.0, 0.0, 0.0, rng.normal()]
    slip = velocity[:3] + np.cross(velocity[3:], points)
    slip[:, 2] = 0.0
    directions = np.concatenate([np.tile((0.0, 0.0, 1.0), (len(points), 1)),
                                 -slip / np.linalg.norm(slip, axis=1, keepdims=True)])
    J = np.hstack([directions, np.cross(np.tile(points, (2, 1)), directions)])
    K = (J / np.r_[1.0, 1.0, 1.0, inertia]) @ J.T
    return Problem(K, J @ (velocity + DT * np.array([0, 0, -9.8, 0, 0, 0])))


def independent(side: int, rng: np.random.Generator) -> Problem:
    """As many points with a K of full rank, drawn at random, and the plate's velocities."""
    rows = 2 * side * side
    A = rng.normal(size=(rows, rows + 3))
    return Problem(A @ A.T / rows, plate(side, rng).b)


def lemke(M: np.ndarray, q: np.ndarray) -> tuple[np.ndarray | None, int, str]:
    """z, pivots and outcome of Lemke's method as textbooks have it: covering vector of ones, first row of a tie."""
    n = len(q)
    if (q >= 0.0).all():
        return np.zeros(n), 0, SOLVED
    table = np.hstack([np.eye(n), -M, -np.ones((n, 1)), q[:, None]])
    basis, row, enter = np.arange(n), int(np.argmin(q)), 2 * n
    for count in range(1, 50 * n + 1):
        leave = basis[row]
        table[row] /= table[row, enter]
        column = table[:, enter].copy()
        column[row] = 0.0
        table -= np.outer(column, table[row])
        basis[row] = enter
        if leave == 2 * n:
            z = np.zeros(2 * n + 1)
            z[basis] = table[:, -1]
            return z[n : 2 * n], count, SOLVED
        enter = leave + n if leave < n else leave - n
        column = table[:, enter]
        rows = np.flatnonzero(column > 1e-12 * max(1.0, np.abs(column).max()))
        if not len(rows):
            return None, count, RAY
        ratio = table[rows, -1] / column[rows]
        tied = rows[ratio <= ratio.min() + 1e-14 * max(1.0, abs(ratio.min()))]
        covering = tied[basis[tied] == 2 * n]
        row = int(covering[0] if len(covering) else tied[0])
    return None, 50 * n, ENDLESS


def sweep(problem: Problem, sweeps: int = SWEEPS) -> np.ndarray:
    """The paper's listing: normals, then tangents with the bound of the present normal force."""
    K, b, m = problem.K, problem.b, problem.points
    f = np.zeros(2 * m)
    for _ in range(sweeps):
        for i in range(2 * m):
            new = max(0.0, f[i] - (K[i] @ f + b[i]) / K[i, i])
            f[i] = new if i < m else min(MU * f[i - m], new)
    return f


def tried(variant: str, side: int) -> tuple[dict[str, int], float, float]:
    """Outcomes of COUNT problems, mean pivots, and the largest residual of the solved ones, m/s."""
    rng = np.random.default_rng(side)
    outcomes, pivots, worst = dict.fromkeys((SOLVED, RAY, ENDLESS), 0), [], 0.0
    for _ in range(COUNT):
        problem = independent(side, rng) if variant == "independent" else plate(side, rng)
        M, q = problem.pivoting_form()
        z, count, outcome = lemke(M, q + NOISE * rng.random(len(q)) if "noise" in variant else q)
        outcomes[outcome] += 1
        pivots.append(count)
        if z is not None:
            worst = max(worst, problem.residual(z[: 2 * problem.points]))
    return outcomes, float(np.mean(pivots)), worst


def run(progress: Callable[[str], None]) -> Result:
    found = {}
    for variant in VARIANTS:
        progress(variant)
        found[variant] = {side * side: tried(variant, side) for side in SIDES}
    progress("sweeps")
    rng = np.random.default_rng(1)
    swept = {side * side: max(problem.residual(sweep(problem)) for problem in (plate(side, rng) for _ in range(5)))
             for side in SIDES}

    def failures(variant: str, least: int = 0) -> float:
        rows = [outcomes for points, (outcomes, _, _) in found[variant].items() if points >= least]
        return 1.0 - sum(row[SOLVED] for row in rows) / (COUNT * len(rows))

    checks = [
        Check("redundant, 16 points and more: pivoting fails", failures("redundant", 16), 0.9, 0.0, "of the problems",
              "at_least"),
        Check("independent: pivoting fails", failures("independent"), 0.1, 0.0, "of the problems", "at_most"),
        Check("redundant, noise on q: pivoting fails", failures("redundant, noise on q"), 0.012, 0.0, "of the problems",
              "at_most"),
        Check("the same: largest residual, of the noise", max(worst for *_, worst in found[
            "redundant, noise on q"].values()) / NOISE, 10.0, 0.0, "", "at_most"),
        Check(f"redundant: largest residual after {SWEEPS} sweeps", max(swept.values()), 0.0, 1e-12, "m/s"),
    ]
    rows = [[variant, points, *outcomes.values(), round(pivots, 1), float(f"{worst:.1e}")]
            for variant, by_points in found.items() for points, (outcomes, pivots, worst) in by_points.items()]

    def draw(figure: Any) -> None:
        axes = figure.subplots(1, 2)
        for variant, by_points in found.items():
            points = list(by_points)
            axes[0].plot(points, [100 - 100 * by_points[m][0][SOLVED] / COUNT for m in points], "o-", markersize=4,
                         label=variant)
            axes[1].loglog(points, [by_points[m][1] for m in points], "o-", markersize=4, label=variant)
        axes[0].plot(list(swept), [0.0] * len(swept), "s--", color="#404040", markersize=4,
                     label="redundant, by sweeps")
        axes[0].set_title("problems without an answer [%]")
        axes[1].set_title("pivots")
        for axis in axes:
            axis.set_xlabel("contact points")
        axes[0].legend(fontsize=8)

    return Result(checks, draw, {"sweeps_residual": {str(m): r for m, r in swept.items()}}, figure_size=(10.0, 3.6),
                  tables=[Table(f"Lemke's method, {COUNT} problems each",
                                ["problems", "points", *(SOLVED, RAY, ENDLESS), "pivots", "residual"], rows)])
