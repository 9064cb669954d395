"""The walker as a controller: in `run`, in `compare`, begun anew, fallen; a scene that starts in the walk's posture."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku import control
from sesshoku.control.humanoids import GAITS, stage
from sesshoku.control.walking import footsteps
from sesshoku.errors import SceneError
from sesshoku.simulation.simulation import Simulation


@pytest.fixture(scope="module")
def pattern():
    return control.walk(control.Biped(stage("small"), control.HUMANOID), footsteps.in_place(2), GAITS["small"])


def test_it_is_a_controller_of_a_run(pattern):
    sim, walker = Simulation(pattern.biped.scene), control.Walker(pattern, stabiliser=True)
    walker.place(sim)
    recording = sim.run(1.6, controller=walker, rate=100)
    assert len(recording) == 161 and walker.fallen_at is None
    assert sim.center_of_mass() == pytest.approx(walker.planned(pattern.com, sim.time), abs=5e-3)
    assert walker.step_number(1.6) == 1 and walker.step_number(0.5) == 0


@pytest.mark.parametrize("stabiliser", [False, True])
def test_it_begins_anew_where_time_is_zero(pattern, stabiliser):
    """The same walk twice, bit for bit: nothing is remembered from the first."""
    sim, walker, ends = Simulation(pattern.biped.scene), control.Walker(pattern, stabiliser), []
    walker.place(sim)
    start = sim.save()
    for _ in range(2):
        sim.restore(start)
        for _ in range(300):
            walker(sim)
            sim.step()
        ends.append(sim.q.copy())
    assert np.all(ends[0] == ends[1])


def test_a_scene_can_start_in_the_walks_posture_and_be_compared():
    scene = stage("small")
    pattern = control.walk(control.Biped(scene, control.HUMANOID), footsteps.in_place(1), GAITS["small"])
    pattern.start_scene()
    sim = Simulation(scene)
    assert sim.q == pytest.approx(pattern.q[0], abs=1e-12)
    result = ss.compare(scene, ["exact", "multipoint:recommended"], controller=control.Walker(pattern, True), time=0.3)
    for outcome in result.outcomes:
        assert outcome.refused is None and abs(outcome.measures["travel"]) < 5e-3


def test_servos_get_the_middle_of_the_step(pattern):
    sim, walker, biped = Simulation(pattern.biped.scene), control.Walker(pattern), pattern.biped
    walker.place(sim)
    sim.data.time[0] = 1.5
    walker(sim)
    command, k = sim.actuator_command[biped.actuator], 1500
    q, force = pattern.q[:, biped.actuator_coordinate], pattern.force[:, biped.actuator_dof]
    assert command[:, 0] == pytest.approx(0.5 * (q[k] + q[k + 1]), abs=1e-12)
    assert command[:, 1] == pytest.approx((q[k + 1] - q[k]) / 1e-3, abs=1e-9)
    assert command[:, 2] == pytest.approx(0.5 * (force[k] + force[k + 1]), abs=1e-9)


def test_a_fallen_robot_is_told_and_left_holding(pattern):
    sim, walker = Simulation(pattern.biped.scene), control.Walker(pattern)
    log = control.record_walk(sim, walker, after_fall=0.1,
                              push=lambda sim: sim.apply_force("torso", (60.0, 0.0, 0.0)))
    assert not log.completed and log.fell == walker.fallen_at
    assert log.time[-1] == pytest.approx(log.fell[0] + 0.1, abs=2e-3)
    assert np.all(sim.actuator_command[pattern.biped.actuator, 1:] == 0.0)


def test_a_simulation_of_another_scene_is_refused(pattern):
    with pytest.raises(SceneError, match="another scene"):
        control.Walker(pattern).place(Simulation(stage("large")))


def test_servos_for_a_robot_without():
    """The shipped URDF (it cannot carry gains) gets about the gains of the shipped MJCF, which follow the same rule."""
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_ground()
    robot = scene.load(ss.robots.path("humanoid_small.urdf"), position=(0, 0, 0.4))
    for side in (control.HUMANOID.left, control.HUMANOID.right):
        for joint, value in zip(side, (0.0, 0.0, -0.3, 0.6, -0.3, 0.0)):
            scene.joint(joint).position[:] = value
    control.add_servos(scene, robot, control.HUMANOID)
    known = stage("small").actuators
    assert set(scene.actuators) == set(known)
    for name in ("left_knee", "right_hip_roll", "left_shoulder_pitch"):
        assert scene.actuators[name].kp == pytest.approx(known[name].kp, rel=0.25)
        assert scene.actuators[name].kd == pytest.approx(known[name].kd, rel=0.25)
    assert scene.actuators["left_knee"].target == 0.6
    assert control.Biped(scene, control.HUMANOID).analytic
    with pytest.raises(SceneError, match="no such joint"):
        control.add_servos(scene, robot, control.HUMANOID, strong=("waist",))
