"""Robots that are not ours walk: TALOS (closed-form legs) and G1 (legs by iteration) of example-robot-data."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from sesshoku import control
from sesshoku.simulation.simulation import Simulation
from support import FULL, example_robots

pytestmark = pytest.mark.peer
EXAMPLE = Path(__file__).parents[2] / "examples" / "walk_your_robot.py"
STEPS = 12 if FULL else 3


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("walk_your_robot", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name, mass, closed, sole", [
    ("talos", 90.3, True, (-0.105, 0.105, -0.065, 0.065)), ("g1", 33.3, False, (-0.05, 0.12, -0.03, 0.03))])
def test_a_foreign_robot_walks(example, name, mass, closed, sole):
    folder = example_robots()
    scene, biped, gait = example.prepare(name, folder)
    assert biped.mass == pytest.approx(mass, abs=0.1) and biped.analytic == closed
    assert biped.legs.sole_box[0] == pytest.approx(sole, abs=6e-3)
    increments = example.ROBOTS[name]["steps"]
    pattern = control.walk(biped, increments if FULL else [*increments[:STEPS - 1], (0, 0, 0)], gait)
    for joint, margin in pattern.margins().items():
        assert margin["limit"] > 0.04 and margin["effort"] < 0.7, joint
    for stabiliser in (False, True) if FULL else (True,):
        log = control.record_walk(Simulation(scene), control.Walker(pattern, stabiliser))
        found = log.summary()
        assert log.completed and len(pattern.steps) == STEPS
        assert found["tilt"] < 0.03 and max(found["zmp_rms_x"], found["zmp_rms_y"]) < 0.03
        assert np.isfinite(log.torque).all()
