"""The kernels of control as plain Python and with bounds checks: a plan of a few samples, a few steps of control."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sesshoku import control
from sesshoku.control.humanoids import GAITS, stage
from sesshoku.control.walking import footsteps
from sesshoku.simulation.simulation import Simulation

pytestmark = [pytest.mark.nojit, pytest.mark.boundscheck]
SHORT = replace(GAITS["small"], start=0.15, shift=0.05, single=0.05, double=0.02, finish=0.1, sample=5e-3,
                swing_height=1e-3, preview=0.2)


def test_a_short_plan_and_a_few_steps_of_control():
    scene = stage("small")
    biped = control.Biped(scene, control.HUMANOID)
    pattern = control.walk(biped, footsteps.in_place(1), SHORT, dynamic_filter=False)
    assert np.isfinite(pattern.force).all() and np.abs(pattern.force[:, :6]).max() < 1e-9
    gains = control.Gains(level=1.0, body=5.0)
    sim, walker = Simulation(scene, "none"), control.Walker(pattern, gains, adjust=True)
    walker.place(sim)
    sim.data.time[0] = SHORT.start + 0.01  # on one foot
    for _ in range(3):
        walker(sim)
        sim.step()
    assert np.isfinite(sim.q).all() and np.isfinite(sim.actuator_command).all()
    assert control.foot_wrenches(sim, biped) == pytest.approx(np.zeros((2, 6)))


def test_legs_by_iteration():
    biped = control.Biped(stage("small"), control.HUMANOID)
    values = {name: getattr(biped.legs, name) for name in biped.legs.fields}
    biped.legs = type(biped.legs)(**{**values, "analytic": 0})
    feet = np.zeros((2, 6))
    feet[:, 1] = 0.04, -0.04
    com = np.array([0.01, 0.0, 0.24])
    assert biped.center_of_mass(biped.posture(com, feet)) == pytest.approx(com, abs=1e-9)
