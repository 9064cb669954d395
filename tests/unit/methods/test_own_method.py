"""A method of one's own in one file (examples/penalty.py): closed forms of springs and dampers; import registers it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.methods import registry

FILE = Path(__file__).parents[3] / "examples" / "penalty.py"
PAGE = Path(__file__).parents[3] / "docs" / "methods" / "writing-a-method.md"


@pytest.fixture(scope="module")
def penalty() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("penalty", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["penalty"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["penalty"], registry.MODULES["penalty"]


def sliding(speed: float, **options: float) -> ss.Simulation:
    scene = ss.Scene(gravity=(0, 0, -9.8))
    rubber = ss.Material(static_friction=0.5, kinetic_friction=0.5)
    scene.add_ground(material=rubber)
    scene.add_box("box", size=(0.4, 0.4, 0.1), mass=2.0, position=(0, 0, 0.05), velocity=(speed, 0, 0), material=rubber)
    return ss.Simulation(scene, registry.make("penalty", options), 1e-3)


@pytest.mark.parametrize("stiffness", [1e4, 4e4])
def test_a_box_sinks_until_its_springs_carry_it(penalty: ModuleType, stiffness: float) -> None:
    sim = sliding(0.0, stiffness=stiffness)
    sim.step(1500)
    assert sim.bodies["box"].position[2] == pytest.approx(0.05 - 2.0 * 9.8 / (4 * stiffness), abs=1e-9)
    assert sum(contact.force[2] for contact in sim.contacts) == pytest.approx(2.0 * 9.8, rel=1e-6)


def test_friction_stops_a_sliding_box(penalty: ModuleType) -> None:
    """v^2 / (2 mu g), and below the slip speed v the last v0^2 / (mu g) of a viscous brake."""
    sim = sliding(1.0)
    sim.step(3000)
    slow = 3e-2
    expected = (1.0 - slow**2) / (2 * 0.5 * 9.8) + slow**2 / (0.5 * 9.8)
    assert sim.bodies["box"].position[0] == pytest.approx(expected, rel=2e-2)
    assert np.linalg.norm(sim.bodies["box"].velocity) < 1e-6


def test_it_steps_batches(penalty: ModuleType) -> None:
    scene = sliding(0.0).scene
    batch = ss.Batch(scene, 3, penalty(stiffness=2e4), 1e-3, vary={"mass": 0.3, "velocity": 1.0})
    sims = [batch[w] for w in range(3)]
    batch.step(40)
    for w, sim in enumerate(sims):
        sim.step(40)
        assert np.array_equal(batch.q[w], sim.q)


def test_it_is_a_method_like_any_other(penalty: ModuleType) -> None:
    assert "penalty" in registry.keywords() and penalty(stiffness=1e5).options.stiffness == 1e5
    assert set(sliding(0.0).profile(3)) >= {"push", "place links", "step"}
    with pytest.raises(ss.MethodError, match="did you mean 'stiffness'"):
        penalty(stifness=1.0)


def test_two_methods_cannot_have_one_name(penalty: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "elsewhere.penalty", penalty)
    with pytest.raises(ss.MethodError, match="there is a method of this name"):
        registry.register("elsewhere.penalty")


def test_the_page_shows_the_file(penalty: ModuleType) -> None:
    assert FILE.read_text() in PAGE.read_text()
