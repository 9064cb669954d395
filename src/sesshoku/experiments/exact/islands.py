"""One island's contact problem as a value: built from plain matrices, copied from a running simulation, solved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sesshoku.solvers.problem import CHAIN, NOTHING, Problem, diagonal_block, make_problem
from sesshoku.solvers.proximal.newton import solve_island
from sesshoku.solvers.proximal.work import NewtonOptions, NewtonWork, make_newton_work, newton_parameters


@dataclass
class Island:
    """A contact problem (solvers/problem.py) with the lists a solver takes. `start`: impulses to warm-start from."""

    problem: Problem
    chains: np.ndarray  # model.row_dof
    mu: np.ndarray  # (C)
    contact_list: np.ndarray
    joint_list: np.ndarray
    dof_list: np.ndarray  # (trees, 2)
    start: np.ndarray  # (3 m + nj)
    _work: list[NewtonWork] = field(default_factory=list)

    @property
    def contacts(self) -> int:
        return len(self.contact_list)

    def rows(self) -> np.ndarray:
        """Z (3 m + nj, V) as a dense matrix."""
        p, out = self.problem, np.zeros((3 * self.contacts + len(self.joint_list), len(self.problem.y)))
        for i, c in enumerate(self.contact_list):
            for start, count, at in p.span[c]:
                dofs = self.chains[start : start + count]
                out[3 * i : 3 * i + 3, dofs] += p.half[at : at + 3 * count].reshape(3, count)
        for i, j in enumerate(self.joint_list):
            for start, count, at in p.joint_span[j]:
                out[3 * self.contacts + i, self.chains[start : start + count]] += p.half[at : at + count]
        return out

    def free(self) -> np.ndarray:
        """Velocities at zero impulse (3 m + nj)."""
        return np.concatenate([self.problem.free[self.contact_list].ravel(), self.problem.joint_free[self.joint_list]])

    def impulses(self) -> np.ndarray:
        p = self.problem
        return np.concatenate([p.impulse[self.contact_list].ravel(), p.joint_impulse[self.joint_list]])

    def set_impulses(self, x: np.ndarray) -> None:
        m = 3 * self.contacts
        self.problem.impulse[self.contact_list] = x[:m].reshape(-1, 3)
        self.problem.joint_impulse[self.joint_list] = x[m:]

    def work(self) -> NewtonWork:
        if not self._work:
            p = self.problem
            self._work.append(make_newton_work(len(p.impulse), p.joint_capacity, len(p.y), len(self.dof_list)))
        return self._work[0]

    def solve(self, options: NewtonOptions | None = None, warm: bool = False) -> tuple[int, float, bool]:
        """Solve from zero, or from `start`; the impulses stay in the problem."""
        self.set_impulses(self.start if warm else np.zeros_like(self.start))
        return self.solve_on(options)

    def solve_on(self, options: NewtonOptions | None = None) -> tuple[int, float, bool]:
        """Solve from the present impulses."""
        parameters = newton_parameters(options or NewtonOptions())
        steps, residual, solved = solve_island(self.chains, self.problem, self.mu, self.contact_list, self.joint_list,
                                               self.dof_list, parameters, self.work())
        return int(steps), float(residual), bool(solved)


def island_from_rows(
    Z: np.ndarray,
    free: np.ndarray,
    mu: np.ndarray,
    sizes: list[int] | None = None,
    low: np.ndarray | None = None,
    high: np.ndarray | None = None,
) -> Island:
    """The island with rows Z (3 m + nj, V) in half form (J H^-1 J^T = Z Z^T) and velocities `free` at zero impulse.

    sizes: dofs of each tree, in order (all one tree where None); a row may touch two trees. low, high (nj): bounds.
    """
    m, (rows, dofs) = len(mu), Z.shape
    nj, trees = rows - 3 * m, [dofs] if sizes is None else list(sizes)
    if nj != (0 if low is None else len(low)) or sum(trees) != dofs:
        raise ValueError(f"{rows} rows are not 3 x {m} contacts and the joint rows, or {dofs} dofs not those of trees")
    problem, chains = make_problem(m, nj, dofs, dofs), np.arange(dofs)
    first = np.concatenate([[0], np.cumsum(trees)])
    used = 0
    for r in range(m + nj):
        at = slice(3 * r, 3 * r + 3) if r < m else slice(2 * m + r, 2 * m + r + 1)
        touched = [t for t in range(len(trees)) if np.any(Z[at, first[t] : first[t + 1]])]
        if len(touched) > 2:
            raise ValueError(f"row {r} touches {len(touched)} trees")
        span = problem.span[r] if r < m else problem.joint_span[r - m]
        for side, t in enumerate(touched):
            part = Z[at, first[t] : first[t + 1]]
            span[side] = first[t], trees[t], used
            problem.half[used : used + part.size] = part.ravel()
            used += part.size
        if r < m:
            problem.body[r] = [CHAIN if side < len(touched) else NOTHING for side in range(2)]
            diagonal_block(chains, problem, r)
        else:
            problem.joint_block[r - m] = float(np.sum(Z[at] ** 2))
    problem.free[:] = free[: 3 * m].reshape(m, 3)
    problem.joint_free[:] = free[3 * m :]
    if low is not None and high is not None:
        problem.joint_low[:], problem.joint_high[:] = low, high
    return Island(problem, chains, np.asarray(mu, dtype=float), np.arange(m), np.arange(nj),
                  np.stack([first[:-1], first[1:]], axis=1), np.zeros(3 * m + nj))


def island_from_matrix(G: np.ndarray, free: np.ndarray, mu: Any) -> Island:
    """The island with Delassus matrix G (3 m, 3 m), positive semi-definite."""
    values, vectors = np.linalg.eigh(G)
    keep = values > 1e-14 * values.max()
    Z = vectors[:, keep] * np.sqrt(values[keep])
    return island_from_rows(Z, free, np.broadcast_to(np.asarray(mu, dtype=float), len(free) // 3))
