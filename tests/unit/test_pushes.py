"""Standing forces: until a time or their release, through steps of any number, saved, restored and sensed."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import sesshoku as ss
from mechanisms import everything, simulate
from sesshoku.experiments.scenes import crate_on_floor

DT = 1e-3


def floating(**box: object) -> ss.Simulation:
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_box("box", size=(1, 1, 1), mass=2.0, **box)
    return simulate(scene, dt=DT)


def speed(sim: ss.Simulation) -> np.ndarray:
    return sim.bodies["box"].velocity


@pytest.mark.parametrize("chunks", [(100,), (1,) * 100, (37, 1, 62)])
def test_a_push_acts_in_every_step_until_it_is_released(chunks: tuple[int, ...]) -> None:
    sim = floating()
    push = sim.bodies["box"].push((2, 0, 0))
    for count in chunks:
        sim.step(count)
    np.testing.assert_allclose(speed(sim), [0.1, 0, 0], rtol=1e-12)
    assert push.active and sim.bias_force()[0] == pytest.approx(-2.0)
    push.release()
    push.release()
    sim.step(50)
    np.testing.assert_allclose(speed(sim), [0.1, 0, 0], rtol=1e-12)
    assert not push.active and not sim.data.external_force.any()


@pytest.mark.parametrize("chunk", [1, 7, 100])
@pytest.mark.parametrize("until", [0.04, 0.0396, 0.0004])
def test_a_push_ends_at_its_time_within_a_call_of_step(chunk: int, until: float) -> None:
    sim = floating()
    push = sim.bodies["box"].push((2, 0, 0), until=until)
    while sim.time < 0.1 - 0.5 * DT:
        sim.step(chunk)
    np.testing.assert_allclose(speed(sim)[0], np.ceil(until / DT - 1e-6) * DT, rtol=1e-9)
    assert not push.active


def test_pushes_add_up_with_each_other_and_with_forces_of_one_call() -> None:
    sim = floating()
    box = sim.bodies["box"]
    first = box.push((2, 0, 0), until=0.02)
    box.push((0, 2, 0), torque=(0, 0, 1))
    sim.apply_force("box", (0, 0, 2))
    sim.step(10)
    np.testing.assert_allclose(speed(sim), [0.01, 0.01, 0.01], rtol=1e-9)
    sim.step(20)
    np.testing.assert_allclose(speed(sim), [0.02, 0.03, 0.01], rtol=1e-9)
    assert not first.active
    assert box.angular_velocity[2] == pytest.approx(0.03 / (2.0 / 6.0), rel=1e-9)
    box.release()
    before = box.velocity
    sim.step(10)
    np.testing.assert_array_equal(box.velocity, before)


def test_released_before_the_step_a_push_leaves_the_other_forces_exact() -> None:
    sim, other = floating(), floating()
    push = sim.bodies["box"].push((1e8, 0.3, 0))
    sim.apply_force("box", (0.1, 0.2, 0.3))
    push.release()
    other.apply_force("box", (0.1, 0.2, 0.3))
    sim.step(5), other.step(5)
    np.testing.assert_array_equal(sim.v, other.v)


def test_a_point_is_carried_by_the_body() -> None:
    """A constant force at a corner of a box that turns: the corner's path gives the work, the energy is the same."""
    sim = floating(angular_velocity=(0, 0, 3))
    box = sim.bodies["box"]
    force, corner = np.array([1.0, 0.5, 0.2]), np.array([0.5, 0.5, 0.5])
    box.push(force, point=corner)

    def place() -> np.ndarray:
        return box.position + box.rotation_matrix @ corner

    start, kinetic = place(), sim.energy.kinetic
    sim.step(2000)  # two seconds in one call
    assert sim.energy.kinetic - kinetic == pytest.approx(force @ (place() - start), rel=5e-3)
    assert sim.data.external_force[0, 3:] == pytest.approx(np.cross(box.rotation_matrix @ corner, force), abs=1e-12)


@pytest.mark.parametrize("point", [None, (0.1, 0.2, 0.3)])
def test_pushes_are_saved_and_restored(point: object) -> None:
    sim = floating()
    push = sim.bodies["box"].push((2, 1, 0), torque=(0, 0.1, 0), point=point, until=0.05)
    sim.step(10)
    sim.apply_force("box", (0, 0, 5))
    saved, twin = sim.save(), copy.copy(sim)
    sim.step(100)
    ends = sim.q.copy(), sim.v.copy()
    assert not push.active
    sim.restore(saved)
    assert push.active
    sim.step(3), sim.step(97)
    twin.step(3), twin.step(97)
    np.testing.assert_array_equal(sim.q, twin.q)
    assert not np.array_equal(sim.q, ends[0])  # the force of one call held for 3 steps, not for 100
    sim.restore(saved)
    sim.step(100)
    np.testing.assert_array_equal(sim.q, ends[0])
    np.testing.assert_array_equal(sim.v, ends[1])
    sim.reset()
    assert not push.active and not sim.data.external_force.any()


def test_a_run_is_pushed_as_single_steps_are() -> None:
    sim, other = (ss.Simulation(crate_on_floor(), "exact", DT) for _ in range(2))
    sim.bodies["crate"].push((10, 0, 0), until=0.1)
    sim.run(0.3, rate=100)
    for _ in range(300):
        if other.time < 0.1 - 0.5 * DT:
            other.apply_force("crate", (10, 0, 0))
        other.step()
    np.testing.assert_allclose(sim.q, other.q, atol=1e-12)


def test_scripts_and_sensors_go_with_pushes() -> None:
    """A sensor reads the same under a standing force as under the same force given before every step."""
    scene = everything()
    scene.add_force_sensor("pin", "arm1")
    sim, other = simulate(scene), simulate(scene)
    sim.bodies["arm2"].push((1, 2, 3), until=0.02)
    for n in range(30):
        sim.step()
        if n < 20:
            other.apply_force("arm2", (1, 2, 3))
        other.step()
        np.testing.assert_array_equal(sim.sensors["pin"].force, other.sensors["pin"].force)
    np.testing.assert_array_equal(sim.q, other.q)


def test_wrong_pushes_are_refused() -> None:
    sim = simulate(everything())
    for name in ("lift", "belt"):
        with pytest.raises(ss.SceneError, match="fixed or scripted"):
            sim.bodies[name].push((1, 0, 0))
    right = {"force": (1, 0, 0)}
    for given in ({"force": "much"}, {"force": (1, 2)}, {"force": (1, 2, np.nan)}, right | {"until": "soon"},
                  right | {"point": (1,)}, right | {"until": np.nan}):
        with pytest.raises(ss.SceneError, match="push of body 'rock'"):
            sim.bodies["rock"].push(**given)
    assert not sim.data.external_force.any()
    for force in ("abc", (1, 2), (1, 2, np.inf), (True, 0, 0), None):
        with pytest.raises(ss.SceneError, match="apply_force to body 'rock'"):
            sim.apply_force("rock", force)
    assert not sim.data.external_force.any()


def test_a_push_that_ends_in_the_past_is_refused() -> None:
    scene = ss.Scene()
    scene.add_box("box", size=(1, 1, 1), mass=1.0)
    sim = ss.Simulation(scene, "none", 1e-2)
    sim.step(5)
    for until in (0.05, 0.01, -1.0):
        with pytest.raises(ss.SceneError, match="must end later than now"):
            sim.bodies["box"].push((1, 0, 0), until=until)
    assert sim.bodies["box"].push((1, 0, 0), until=0.06).until == 0.06
