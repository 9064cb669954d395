"""Servos and dampers that are too stiff for the stages of Runge-Kutta: `lcp` steps semi-implicitly, and says so."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import sesshoku as ss


def arm(kd: float, viscous: float = 0.0) -> ss.Scene:
    """Two links with servos of 300 N m/rad, inertia about the elbow 5.6e-3 kg m^2."""
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_body("wall", fixed=True)
    link = ss.Inertial(0.25, (0.1, 0, 0), np.diag([1e-4, 3.1e-3, 3.1e-3]))
    for parent, name, x in (("wall", "upper", 0.0), ("upper", "lower", 0.2)):
        scene.add_body(name, parent=parent, position=(x, 0, 0), inertial=link,
                       joint=ss.Joint("revolute", axis=(0, 1, 0), viscous=viscous))
        scene.add_actuator(name, "position", kp=300.0, kd=kd, target=0.3)
    return scene


@pytest.mark.parametrize("stiff", [{"kd": 30.0}, {"kd": 1.0, "viscous": 30.0}])
def test_a_stiff_arm_holds_its_pose_and_the_warning_names_the_step_it_bears(stiff: dict[str, float]) -> None:
    with pytest.warns(ss.UnstableStep, match=r"joint 'lower' is too stiff for Runge-Kutta.*lower dt to"):
        sim = ss.Simulation(arm(**stiff), "lcp", dt=2e-3)
    sim.step(2000)
    sag = np.array([0.25 * 0.1 + 0.25 * 0.3, 0.25 * 0.1]) * 9.8 * np.cos([0.3, 0.6]) / 300.0
    np.testing.assert_allclose(sim.q, 0.3 + sag, atol=2e-3)
    assert np.abs(sim.v).max() < 1e-2


def test_an_arm_that_runge_kutta_bears_is_left_to_it() -> None:
    """To fourth order, as without contacts; and nothing is said."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sims = [ss.Simulation(arm(1.0), method, dt=1e-3) for method in ("lcp", ss.methods.none(integrator="rk4"))]
    for sim in sims:
        sim.step(200)
    np.testing.assert_allclose(sims[0].q, sims[1].q, atol=1e-12)


def test_the_preset_has_nothing_to_say() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ss.Simulation(arm(30.0), "lcp:recommended", dt=2e-3)
