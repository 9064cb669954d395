"""Islands without solution: few Newton steps where many did not help, and all of them again when there is one."""

from __future__ import annotations

import numpy as np

import sesshoku as ss
from sesshoku.methods.exact.solve import PATIENCE, TRY_AGAIN
from sesshoku.methods.exact.work import FEW_STEPS, MORE_STEPS


def press(closing: float) -> ss.Simulation:
    """A box between the floor and a plate that a script drives down on it."""
    scene = ss.Scene()
    scene.add_ground()
    scene.add_box("box", size=(0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.1))
    scene.add_box("plate", size=(0.4, 0.4, 0.1), kinematic=True, position=(0, 0, 0.25))
    sim = ss.Simulation(scene, dt=1e-3)
    sim.bodies["plate"].set_velocity((0.0, 0.0, -closing))
    return sim


def test_a_squeeze_without_solution_costs_little_after_some_steps() -> None:
    sim, made = press(0.2), []
    for _ in range(TRY_AGAIN + 4):
        sim.step()
        made.append(sim.report.iterations)
        assert not sim.report.converged
        assert np.isfinite(sim.q).all()
    assert max(made[PATIENCE : TRY_AGAIN]) <= FEW_STEPS < min(made[:PATIENCE])
    assert max(made[TRY_AGAIN:]) <= MORE_STEPS


def test_it_is_solved_again_when_there_is_a_solution() -> None:
    sim = press(0.2)
    sim.step(20)
    sim.bodies["plate"].set_velocity((0.0, 0.0, 1.0))
    sim.step(300)
    assert sim.report.converged and sim.report.residual < 1e-9
    assert np.abs(sim.v).max() < 1e-6


def test_a_saved_state_remembers_how_long_it_went_on() -> None:
    sim = press(0.2)
    sim.step(5)
    kept = sim.save()
    sim.step(10)
    after = sim.q.copy()
    fresh = press(0.2)
    fresh.restore(kept)
    fresh.step(10)
    np.testing.assert_array_equal(fresh.q, after)
