"""A stabiliser that knows only ankle force sensors, an IMU and joint angles."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku import control
from sesshoku.control.humanoids import GAITS, stage
from sesshoku.control.onboard import Onboard
from sesshoku.control.walking import footsteps
from sesshoku.errors import SceneError


def walk(kind: str = "large", steps: int = 2, prepare=lambda scene: None):
    scene = stage(kind)
    prepare(scene)
    return scene, control.walk(control.Biped(scene, control.HUMANOID), footsteps.forward(steps, 0.15 if kind != "small"
                                                                                         else 0.03), GAITS[kind])


@pytest.mark.parametrize("kind", ["large", "large_bush"])
def test_it_feels_what_the_contacts_give_and_knows_its_orientation(kind):
    """Ground forces to the feet's inertia, orientation and turning rate nearly as they are; no look at the state."""
    scene, pattern = walk(kind)
    sim, walker = ss.Simulation(scene), control.Walker(pattern, True, sensors=True)
    walker.place(sim)
    errors, turns, rates, speeds, biped = [], [], [], [], pattern.biped
    at, first = biped.legs.root_coordinate, biped.legs.root_dof
    for n in range(3200):
        walker(sim)
        memory, sensed = walker.stabiliser.memory, walker.stabiliser.onboard
        if n > 50:
            truth = control.foot_wrenches(sim, biped)
            errors.append(sensed.wrench[:, :3] - truth[:, :3])
            turns.append(2.0 * np.abs(memory.q[at + 4:at + 7] - sim.q[at + 4:at + 7]).max())
            rates.append(np.abs(memory.v[first + 3:first + 6] - sim.v[first + 3:first + 6]).max())
            speeds.append(np.linalg.norm(sim.v[first + 3:first + 6]))
        if n:  # no robot knows these
            assert np.all(memory.q[at:at + 3] == 0.0) and np.all(memory.v[first:first + 3] == 0.0)
        sim.step()
    weight = biped.mass * 9.8
    assert walker.fallen_at is None
    assert np.sqrt(np.mean(np.square(errors))) < 0.02 * weight  # a foot's inertia
    assert max(turns) < 0.005  # an accelerometer takes swaying for leaning
    assert max(rates) < 0.005 * max(speeds)  # in axes that are so far off


def test_a_wrench_is_about_the_origin_and_the_feet_are_weighed():
    """Standing: both feet's wrenches give the ZMP that the contacts give."""
    scene, pattern = walk()
    sim, walker = ss.Simulation(scene), control.Walker(pattern, True, sensors=True)
    walker.place(sim)
    for _ in range(800):
        walker(sim)
        sim.step()
    walker(sim)
    sensed = walker.stabiliser.onboard.wrench
    truth = control.foot_wrenches(sim, pattern.biped)
    assert sensed[:, 2].sum() == pytest.approx(pattern.biped.mass * 9.8, rel=1e-3)
    base = sim.q[pattern.biped.legs.root_coordinate:][:3]  # the robot believes its base is at the origin
    moved = sensed + np.concatenate([np.zeros((2, 3)), np.cross(base, sensed[:, :3])], axis=1)
    assert control.zmp(moved) == pytest.approx(control.zmp(truth), abs=1e-3)


def test_noise_and_bias_reach_it_and_it_still_walks():
    def prepare(scene):
        scene.sensors["trunk"].gyro_noise, scene.sensors["trunk"].acceleration_noise = 0.005, 0.2
        for side in ("left", "right"):
            scene.sensors[f"{side}_ankle"].force_noise = 5.0

    scene, pattern = walk(prepare=prepare)
    log = control.record_walk(ss.Simulation(scene), control.Walker(pattern, True, sensors=True))
    clean = control.record_walk(ss.Simulation(walk()[0]), control.Walker(walk()[1], True, sensors=True))
    assert log.completed and clean.completed
    assert log.summary()["zmp_rms_y"] != clean.summary()["zmp_rms_y"]
    assert log.summary()["tilt"] < 0.03


def test_what_is_missing_is_named():
    _, pattern = walk()
    with pytest.raises(SceneError, match="stabiliser=True"):
        control.Walker(pattern, sensors=True)
    with pytest.raises(SceneError, match="no such IMU"):
        control.Walker(pattern, True, sensors="head")
    for name, text in (("trunk", "no IMU"), ("right_ankle", "no force sensor at the right ankle")):
        bare = stage("small")
        del bare.sensors[name]
        bare.state_sensors.clear()  # which read it
        with pytest.raises(SceneError, match=text):
            Onboard(control.Biped(bare, control.HUMANOID))


def test_the_filter_finds_the_vertical_again():
    """From 0.1 rad off, at rest: the accelerometer pulls it back with its rate; the gyro alone keeps what it has."""
    _, pattern = walk("small")
    onboard = Onboard(pattern.biped)
    from sesshoku.control.onboard import PULL, follow_attitude

    senses, angle = onboard.senses, 0.1
    senses.attitude[:] = [[1, 0, 0], [0, np.cos(angle), -np.sin(angle)], [0, np.sin(angle), np.cos(angle)]]
    rest = np.array([0.0, 0.0, 9.8, 0.0, 0.0, 0.0])
    for _ in range(5000):
        follow_attitude(senses, rest, 1e-3)
    left = np.arccos(senses.attitude[2, 2])
    assert left == pytest.approx(angle * np.exp(-PULL * 5.0), rel=0.02)
    assert senses.attitude.T @ senses.attitude == pytest.approx(np.eye(3), abs=1e-9)
    for _ in range(1000):
        follow_attitude(senses, np.array([0, 0, 0, 0, 0, 0.5]), 1e-3)  # in flight: turned by 0.5 rad about its z axis
    assert np.arctan2(senses.attitude[1, 0], senses.attitude[0, 0]) == pytest.approx(0.5, abs=1e-3)
