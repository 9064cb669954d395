"""The problem sets the exact solver is compared on, and the solvers it is compared with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ncp_oracle import violation
from sesshoku.experiments.exact import oracles
from sesshoku.experiments.exact.islands import Island, island_from_matrix
from sesshoku.experiments.exact.problems import Stepper, problem_sets
from sesshoku.experiments.scenes import crate_on_floor
from sesshoku.solvers.proximal.work import DUAL, PRIMAL, SWEEPS_FIRST, NewtonOptions
from support import sample_count


@pytest.fixture(scope="module")
def sets(seed: int) -> dict[str, list[Island]]:
    return problem_sets(seed, sample_count(1, 10) / 10, large=False)


def test_every_set_is_solved_from_zero_and_warm(sets: dict[str, list[Island]]) -> None:
    """Every one to 1e-8 m/s, in both forms where both fit, and hardly one with more than 250 Newton steps."""
    options = NewtonOptions(tolerance=1e-8, cap=1000, cap_many=1000, outer=1000)
    for form in (DUAL, PRIMAL):
        for warm in (False, True):
            total, long = 0, []
            for name, islands in sets.items():
                assert islands, name
                for n, island in enumerate(islands):
                    steps, residual, solved = island.solve(replace(options, form=form), warm)
                    label = f"{name} {n}: {residual:.1e} m/s left after {steps} steps"
                    assert solved and residual < 1e-8, label
                    assert oracles.residual(island) == pytest.approx(residual, abs=1e-9)
                    total += 1
                    if steps > 250:
                        long.append(label)
            assert len(long) <= 2 + total // 500, long


def test_answers_obey_the_law_in_the_oracles_words(sets: dict[str, list[Island]]) -> None:
    for name, islands in sets.items():
        for island in islands[::3]:
            island.solve(NewtonOptions(tolerance=1e-9, form=PRIMAL))
            if len(island.joint_list) == 0:
                Z = island.rows()
                assert violation(Z @ Z.T, island.free(), island.mu, island.impulses()) <= 1e-6, name


@pytest.mark.parametrize("moving", [5e-4, 1e-9])
def test_large_islands_reach_the_tolerance_of_motion(sets: dict[str, list[Island]], moving: float) -> None:
    """The way of large islands on the pile, from zero: what is called solved is, and hardly one is not."""
    options, unsolved = NewtonOptions(form=SWEEPS_FIRST, moving=moving), 0
    for island in sets["pile of 27"]:
        _, residual, solved = island.solve(options)
        assert oracles.residual(island) == pytest.approx(residual, abs=1e-9)
        Z = island.rows()
        np.testing.assert_allclose(island.problem.y, Z.T @ island.impulses(), atol=1e-12 * max(1.0, np.abs(Z).max()))
        assert residual < max(moving, 1e-8) if solved else residual <= 3e-2
        unsolved += not solved
    assert unsolved <= len(sets["pile of 27"]) // 4


def test_the_stepper_slides_a_crate_as_far_as_theory_says() -> None:
    """The step that makes the problems: a crate thrown at 2 m/s, mu 0.5, stops after v^2/(2 mu g) - v dt/2."""
    stepper = Stepper(crate_on_floor(2.0, static=0.5), 1e-2)
    for _ in range(60):
        stepper.step()
    assert stepper.sim.bodies["crate"].position[0] == pytest.approx(4.0 / 9.8 - 0.01, abs=1e-3)
    assert np.abs(stepper.sim.data.v).max() <= 1e-9


@pytest.mark.parametrize("name", oracles.SOLVERS)
def test_other_solvers_agree_on_easy_problems(name: str, rng: np.random.Generator) -> None:
    """Well-conditioned problems with little friction: all solve them, and find the same impulses."""
    for _ in range(sample_count(20, 300)):
        m = int(rng.integers(1, 4))
        J = np.eye(3 * m, 3 * m + 2) + 0.15 * rng.normal(size=(3 * m, 3 * m + 2))
        island = island_from_matrix(J @ J.T, rng.normal(size=3 * m), rng.uniform(0.05, 0.4, size=m))
        _, _, solved = island.solve(NewtonOptions(tolerance=1e-11))
        exact = island.impulses()
        assert solved
        island.set_impulses(np.zeros(3 * m))
        assert oracles.SOLVERS[name](island, 5000, 1e-11).residual <= 1e-9
        np.testing.assert_allclose(island.impulses(), exact, atol=1e-7)
