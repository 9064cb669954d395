"""Recordings of the real `Simulation`: every built-in channel says what the simulation says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fake_simulation import pendulum_scene
from sesshoku.recording import Recording
from sesshoku.recording.channels import BUILT_IN
from sesshoku.simulation.simulation import Simulation


def test_every_channel_agrees_with_the_simulation() -> None:
    sim = Simulation(pendulum_scene(), dt=1e-3)
    sim.actuators["servo"].target = 0.7
    recording = sim.run(0.1, record=list(BUILT_IN), rate=100)
    assert len(recording) == 11 and recording.time[0] == 0.0 and recording.time[-1] == pytest.approx(0.1)
    last = {name: recording[name][-1] for name in BUILT_IN}
    np.testing.assert_array_equal(last["q"], sim.q)
    np.testing.assert_array_equal(last["v"], sim.v)
    for name in ("swing", "slide"):
        assert recording["joints", name][-1] == sim.joints[name].position != 0.0
        assert recording["joint_velocities", name][-1] == sim.joints[name].velocity
    for name in ("rod", "crate"):
        body = sim.bodies[name]
        np.testing.assert_allclose(recording["poses", name][-1], [*body.position, *body.rotation], atol=1e-14)
        twist = [*body.velocity, *body.angular_velocity]
        np.testing.assert_allclose(recording["velocities", name][-1], twist, atol=1e-14)
    assert recording["actuator_force", "servo"][-1] == sim.actuators["servo"].force != 0.0
    assert recording["command", "servo", "target"][-1] == 0.7
    np.testing.assert_array_equal(last["energy"], sim.energy)
    np.testing.assert_array_equal(last["momentum"], sim.momentum())
    np.testing.assert_array_equal(last["com"], sim.center_of_mass())
    np.testing.assert_array_equal(last["report"], sim.report_array)
    assert recording.meta["method"] == sim.method.keyword
    assert not last["contacts"].any()


def test_a_failing_controller_leaves_a_readable_file(tmp_path: Path) -> None:
    sim = Simulation(pendulum_scene(), dt=1e-3)

    def controller(sim: Simulation) -> None:
        if sim.time > 0.0555:
            raise RuntimeError("motor on fire")

    with pytest.raises(RuntimeError, match="motor on fire"):
        sim.run(1.0, controller, rate=100, path=tmp_path / "run.ssk")
    recording = Recording.load(tmp_path / "run.ssk")
    assert recording.time[-1] == pytest.approx(0.056) and len(recording) == 7  # with the state it ended in
    np.testing.assert_array_equal(recording["q"][-1], sim.q)
