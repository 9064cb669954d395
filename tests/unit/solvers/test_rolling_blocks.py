"""Rolling blocks (rolling and torsional friction) in the exact solver: random problems, both forms, and the sweeps."""

from __future__ import annotations

import numpy as np
import pytest

from ncp_oracle import violation
from sesshoku.experiments.exact.islands import Island
from sesshoku.solvers.block_sweeps import sweep_exactly
from sesshoku.solvers.pgs import solve_rows
from sesshoku.solvers.problem import CHAIN, NOTHING, diagonal_block, make_problem
from sesshoku.solvers.proximal.work import DUAL, FORM_USED, PRIMAL, SWEEPS_FIRST, NewtonOptions
from sesshoku.solvers.rolling import rolling_residual
from support import sample_count

pytestmark = pytest.mark.boundscheck


def frame(rng: np.random.Generator, lean: float) -> np.ndarray:
    """Rows t1, t2, n, the normal about upwards."""
    n = np.array([0.0, 0.0, 1.0]) + lean * rng.normal(size=3)
    n /= np.linalg.norm(n)
    t = np.cross(n, rng.normal(size=3))
    t /= np.linalg.norm(t)
    return np.array([t, np.cross(n, t), n])


def random_island(rng: np.random.Generator, bodies: int, m: int, some: bool = False) -> tuple[Island, np.ndarray]:
    """Bodies pressed on each other and on the world at random points; contact bounds (m, 2) of rolling and torsion.

    some: not every contact has a rolling block.
    """
    Z, turns = np.zeros((3 * m, 6 * bodies)), np.zeros((3 * m, 6 * bodies))
    mass, inertia = np.exp(rng.normal(size=bodies)), 0.1 * np.exp(0.5 * rng.normal(size=(bodies, 3)))
    sides = []
    for c in range(m):
        b = c % bodies
        a = int(rng.integers(-1, bodies))
        sides.append([b] if a in (b, -1) else sorted((a, b)))
        axes = frame(rng, 0.3)
        for body, sign in ((b, 1.0), (a, -1.0)):
            if body < 0 or len(sides[-1]) == 1 and body != b or sign < 0.0 and a == b:
                continue
            r, at = rng.normal(size=3) * 0.5, slice(6 * body, 6 * body + 6)
            for d in range(3):
                Z[3 * c + d, at] += sign * np.concatenate(
                    [axes[d] / np.sqrt(mass[body]), np.cross(r, axes[d]) / np.sqrt(inertia[body])])
                turns[3 * c + d, at] += sign * np.concatenate([np.zeros(3), axes[d] / np.sqrt(inertia[body])])
    bound = rng.uniform(0.0, 0.3, size=(m, 2)) * rng.choice([0.0, 1.0], p=[0.2, 0.8], size=(m, 2))
    if not some:
        bound = np.maximum(bound, [1e-3, 0.0])
    velocity = rng.normal(size=6 * bodies)
    velocity[2::6] -= 1.0
    problem, chains = make_problem(m, 0, 6 * bodies, 6 * bodies, rolling=True), np.arange(6 * bodies)
    used = 0
    for slot in range(2 * m):
        rows, c = (Z, slot) if slot < m else (turns, slot - m)
        for side, b in enumerate(sides[c]):
            part = rows[3 * c : 3 * c + 3, 6 * b : 6 * b + 6]
            problem.span[slot, side] = 6 * b, 6, used
            problem.half[used : used + 18] = part.ravel()
            used += 18
        problem.body[slot] = [CHAIN if side < len(sides[c]) else NOTHING for side in range(2)]
        diagonal_block(chains, problem, slot)
        problem.free[slot] = rows[3 * c : 3 * c + 3] @ velocity
    problem.rolling_bound[:] = bound
    rolling = [m + c for c in range(m) if bound[c].any()]
    blocks = np.array([*range(m), *rolling])
    ranges = np.array([[6 * b, 6 * b + 6] for b in range(bodies)])
    island = Island(problem, chains, rng.uniform(0.05, 1.0, size=m), blocks, np.zeros(0, dtype=np.int64), ranges,
                    np.zeros(3 * len(blocks)))
    return island, bound


def broken_law(island: Island, bound: np.ndarray) -> float:
    """How far the impulses are from the law, in our own words: contacts as the oracle has it; then torques."""
    Z, x, m = island.rows(), island.impulses(), len(bound)
    u = Z @ (Z.T @ x) + island.free()
    # contacts: whatever the torques do to them is a part of their free velocity
    contact = Z[: 3 * m] @ Z[: 3 * m].T
    worst = violation(contact, u[: 3 * m] - contact @ x[: 3 * m], island.mu, x[: 3 * m])
    for i, slot in enumerate(island.contact_list[m:], start=m):
        c, g = slot - m, np.sum(Z[3 * i : 3 * i + 3] ** 2, axis=1).max()
        n, torque, w = x[3 * c + 2], x[3 * i : 3 * i + 3], u[3 * i : 3 * i + 3]
        for part, most in ((slice(0, 2), bound[c, 0] * n), (slice(2, 3), bound[c, 1] * n)):
            t, speed = torque[part], np.linalg.norm(w[part])
            worst = max(worst, g * (np.linalg.norm(t) - most))
            if speed > 0.0:  # no speed, or torque of full size against it; what is not counts at that speed
                short = np.linalg.norm(t + most * w[part] / speed)
                worst = max(worst, min(speed, g * short, speed * short / most if most > 0.0 else np.inf))
    return worst


@pytest.mark.nojit
@pytest.mark.parametrize("bodies", [1, 2, 4])
def test_both_forms_solve_random_problems_alike(bodies: int, rng: np.random.Generator) -> None:
    """To 1e-10 m/s and rad/s, and the same motion; what is called solved obeys the law in our own words."""
    total = sample_count({1: 60, 2: 40, 4: 20}[bodies], {1: 3000, 2: 2000, 4: 500}[bodies])
    failed = differ = close = 0
    for n in range(total):
        island, bound = random_island(rng, bodies, int(rng.integers(1, 3 * bodies + 2)), some=n % 3 == 0)
        motion: list[np.ndarray] = []
        for form in (DUAL, PRIMAL):
            _, residual, solved = island.solve(NewtonOptions(form=form, tolerance=1e-11))
            assert island.work().info[FORM_USED] in (form, 0)  # 0: nothing touches
            if solved:
                close += residual <= 1e-10
                assert broken_law(island, bound) <= 1e-8
                y = island.rows().T @ island.impulses()
                np.testing.assert_allclose(island.problem.y, y, atol=1e-11 * max(1.0, np.abs(y).max()))
                motion.append(y)
        failed += len(motion) < 2  # a hard problem is hard in both forms
        differ += len(motion) == 2 and np.abs(motion[0] - motion[1]).max() > 1e-7
    assert failed <= 1 + total // 50 and differ <= 1 + total // 50 and close >= 2 * total - 2 - total // 25


def test_sweeps_come_to_the_same_law(rng: np.random.Generator) -> None:
    """NNCG and exact block sweeps with rolling blocks obey the law where they come to rest, which they mostly do."""
    total, rested = sample_count(10, 200), 0
    for _ in range(total):
        island, bound = random_island(rng, 2, 4)
        work, p = island.work(), island.problem
        island.set_impulses(np.zeros_like(island.start))
        p.y[:] = 0.0
        made = solve_rows(island.chains, p, (work.law, island.mu),
                          (island.contact_list, island.joint_list, island.dof_list), (False, False, True), (600, 1e-12),
                          work, p.y)
        if made <= 600:
            rested += 1
            assert max(rolling_residual(island.chains, p, slot, p.y) for slot in island.contact_list[4:]) <= 1e-9
            assert broken_law(island, bound) <= 1e-6
        island.set_impulses(np.zeros_like(island.start))
        p.y[:] = 0.0
        made = sweep_exactly(island.chains, p, island.mu, (island.contact_list, island.joint_list), work.joint_moved,
                             p.y, (600, 1e-12))
        if made < 600:
            rested += 1
            assert broken_law(island, bound) <= 1e-6
    assert rested >= 1.2 * total


def test_sweeps_first_takes_turning_blocks_along(rng: np.random.Generator) -> None:
    island, bound = random_island(rng, 3, 8)
    _, residual, _ = island.solve(NewtonOptions(form=SWEEPS_FIRST))
    assert residual <= 1e-8 and broken_law(island, bound) <= 1e-6


def test_bounds_of_zero_give_no_torque(rng: np.random.Generator) -> None:
    """Rolling blocks with coefficients of zero leave the contacts with a solution of the problem without them."""
    for form in (DUAL, PRIMAL):
        island, bound = random_island(rng, 1, 3)
        island.problem.rolling_bound[:] = 0.0
        island.solve(NewtonOptions(form=form))
        assert not island.impulses()[9:].any()
        with_blocks = island.impulses()[:9].copy()  # redundant contacts: another solve may split the load otherwise
        island.contact_list, island.start = island.contact_list[:3], with_blocks
        steps, residual, solved = island.solve(NewtonOptions(form=form), warm=True)
        assert solved and steps == 0 and residual <= 1e-11
        assert len(bound) == 3
