"""Runs that stay finite and cannot be right warn once, with the body and the time."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import sesshoku as ss
from sesshoku.experiments.scenes import crate_on_floor
from sesshoku.simulation.alarm import IN_A_ROW
from sesshoku.stages.report import CHANNELS


def falsify(sim: ss.Simulation, **numbers: float) -> None:
    """From now on the report of every step says so."""
    run = sim._run

    def falsified(*arguments: Any) -> int:
        done = int(run(*arguments))
        for name, value in numbers.items():
            sim.report_array[CHANNELS.index(name)] = value
        return done

    sim._run = falsified


def warned(sim: ss.Simulation, steps: int) -> list[str]:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(steps):
            sim.step()
    return [str(warning.message) for warning in seen if warning.category is ss.SuspectRun]


@pytest.mark.parametrize(("numbers", "words"), [
    ({"energy_change": 612.0}, "brought 612 J into a motion of"),
    ({"residual": 960.0}, "residual is 960 m/s where nothing moves faster than"),
])
def test_what_goes_mad_is_told_at_once(numbers: dict[str, float], words: str) -> None:
    sim = ss.Simulation(crate_on_floor(2.0), "exact", 0.005)
    assert warned(sim, 20) == []
    falsify(sim, **numbers)
    told = warned(sim, 20)
    assert len(told) == 1 and words in told[0]
    assert "at 0.105 s" in told[0] and "body 'crate'" in told[0] and "method 'exact'" in told[0] and "dt" in told[0]


def test_steps_that_stay_unsolved_are_told_after_a_while() -> None:
    sim = ss.Simulation(crate_on_floor(2.0), "exact", 0.005)
    sim.step()
    falsify(sim, residual=0.05, converged=0.0, penetration=0.12)
    assert warned(sim, IN_A_ROW - 1) == []
    told = warned(sim, 30)
    assert len(told) == 1 and f"{IN_A_ROW} steps in a row did not converge" in told[0]
    assert "residual is 0.05 m/s, the deepest overlap 0.12 m, of bodies" in told[0]
    assert "bodies 'ground' and 'crate'" in told[0] or "bodies 'crate' and 'ground'" in told[0]


def test_bodies_known_to_be_too_deep_are_told_once() -> None:
    sim = ss.Simulation(crate_on_floor(2.0), "exact", 0.005)
    sim.step()
    sim._told_deep = True  # as after a DeepOverlap
    falsify(sim, residual=0.05, converged=0.0, penetration=0.12)
    assert warned(sim, IN_A_ROW + 30) == []


def test_a_step_that_converges_begins_anew() -> None:
    sim = ss.Simulation(crate_on_floor(2.0), "exact", 0.005)
    sim.step()
    run = sim._run
    for _ in range(3):
        falsify(sim, residual=0.05, converged=0.0)
        assert warned(sim, IN_A_ROW - 1) == []
        sim._run = run
        assert warned(sim, 1) == []


@pytest.mark.parametrize("method", ["exact", "lcp:recommended", "implicit"])
def test_depth_correction_and_impacts_are_no_news(method: str) -> None:
    """A crate falls, tumbles and comes to rest; another one begins half a centimetre deep."""
    for height in (0.3, -0.005):
        sim = ss.Simulation(crate_on_floor(1.0, height=height), method, 0.005)
        assert warned(sim, 200) == []


@pytest.mark.parametrize("method", ["springs", "implicit"])
def test_energy_without_a_source_is_told_where_contacts_are_springs(method: str) -> None:
    """Such a method reports no gain of a step: the energy of the scene says it."""
    sim = ss.Simulation(crate_on_floor(2.0), method, 0.005)
    assert warned(sim, 20) == []
    run = sim._run

    def mad(*arguments: Any) -> int:
        done = int(run(*arguments))
        sim.data.v[0] = 1e4
        return done

    sim._run = mad
    told = warned(sim, 20)
    assert len(told) == 1 and "energy rose by" in told[0] and f"method {method!r}" in told[0]
    assert "body 'crate'" in told[0]


def test_falls_pushes_and_throws_are_no_news_to_springs() -> None:
    sim = ss.Simulation(crate_on_floor(1.0, height=0.3), "springs:recommended", 0.002)
    assert warned(sim, 200) == []
    sim.bodies["crate"].push((1e5, 0, 0), until=sim.time + 0.1)
    assert warned(sim, 60) == []
    sim.reset()
    sim.bodies["crate"].set_velocity((0, 0, 300.0))
    assert warned(sim, 20) == []
    sim.v[0] = 500.0
    assert warned(sim, 20) == []
    sim.apply_force("crate", (1e6, 0, 0))
    assert warned(sim, 20) == []
