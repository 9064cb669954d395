"""`report.momentum_residual` is a momentum, in N s: known errors of the solver come out with their mass."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.methods.registry import resolve

G = 9.8


def stepped_with_error(method: str, mass: float, dof: int, error: float) -> float:
    """momentum_residual of a resting cube (0.6 m) whose solver believes dof `dof` to change by `error` more."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground()
    scene.add_box("box", size=(0.6, 0.6, 0.6), mass=mass, position=(0, 0, 0.3))
    sim = ss.Simulation(scene, method, 1e-3)
    sim.step(3)
    arguments = (sim.model, sim.data, sim.work, sim.dt)
    for name, stage in resolve(method).definition.stages_of(sim.method.options).named.items():
        if name == "apply":
            problem = sim.work.problem
            problem.y[dof] += error / problem.root_dinv[dof]  # y is D^1/2 times the change of velocity here
            stage(*arguments)
            return float(sim.report.momentum_residual)
        stage(*arguments)
    raise AssertionError(f"{method} has no stage 'apply'")


@pytest.mark.parametrize("method", ["exact", "lcp", "multipoint"])
@pytest.mark.parametrize("mass", [0.25, 16.0])
def test_errors_come_out_in_newton_seconds(method: str, mass: float) -> None:
    """m dv of a velocity, I dw of a spin; nothing to speak of without an error."""
    inertia = mass * 0.6**2 / 6.0
    assert stepped_with_error(method, mass, 2, 0.0) <= 1e-14 * mass
    assert stepped_with_error(method, mass, 2, 1e-3) == pytest.approx(mass * 1e-3, rel=1e-9)
    assert stepped_with_error(method, mass, 0, -2e-4) == pytest.approx(mass * 2e-4, rel=1e-9)
    assert stepped_with_error(method, mass, 5, 1e-3) == pytest.approx(inertia * 1e-3, rel=1e-9)


def test_a_robot_arm_balances() -> None:
    """A chain of joints, with the rows of its mimic and limits: rounding of the largest impulse."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground()
    scene.load(ss.robots.path("arm_gripper.xml"), pose="home")
    sim = ss.Simulation(scene, "exact", 1e-3)
    for _ in range(50):
        sim.step()
        assert sim.report.momentum_residual <= 1e-12 * max(1.0, float(np.abs(sim.data.constraint_force).max()) * sim.dt)
