"""Scripted bodies: where a motion wants them, and how they get there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from mechanisms import INTEGRATORS, simulate
from sesshoku.scene.motion import motion_pose
from sesshoku.spatial.rotation import axis_angle, quaternion_to_matrix
from trees import unit

Z = np.array([0, 0, 1.0])


def lift(motion: Any, **options: Any) -> ss.Scene:
    scene = ss.Scene()
    scene.add_body("lift", kinematic=True, motion=motion, **options)
    scene.add_body("cup", parent="lift", position=(0, 0, 0.5))
    return scene


def test_motion_is_straight_and_turns_steadily_between_its_times() -> None:
    turns = [(1, 0, 0, 0), axis_angle(Z, 1.0), axis_angle(Z, -1.0)]
    motion = ss.Motion([1.0, 2.0, 4.0], [(0, 0, 0), (1, 0, 0), (1, 2, 0)], turns)
    for time, position, angle in ((0.0, (0, 0, 0), 0.0), (1.25, (0.25, 0, 0), 0.25), (2.0, (1, 0, 0), 1.0),
                                  (3.0, (1, 1, 0), 0.0), (3.5, (1, 1.5, 0), -0.5), (9.0, (1, 2, 0), -1.0)):
        where, turn = motion_pose(motion, time, "motion")
        np.testing.assert_allclose(where, position, atol=1e-12)
        np.testing.assert_allclose(quaternion_to_matrix(turn), quaternion_to_matrix(axis_angle(Z, angle)), atol=1e-12)


def test_turns_go_the_short_way() -> None:
    """Quaternions of either sign: from 3 rad to -3 rad is 0.28 rad through pi, not back through zero."""
    motion = ss.Motion([0, 1], [(0, 0, 0)] * 2, [axis_angle(Z, 3.0), axis_angle(Z, -3.0)])
    turn = quaternion_to_matrix(motion_pose(motion, 0.5, "motion")[1])
    np.testing.assert_allclose(turn, quaternion_to_matrix(axis_angle(Z, np.pi)), atol=1e-12)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_bodies_arrive_where_their_script_wants_them(integrator: str, rng: np.random.Generator) -> None:
    motion = ss.Motion([0.0, 0.05, 0.2], rng.normal(size=(3, 3)), [unit(rng, 4) for _ in range(3)])
    sim = simulate(lift(motion), integrator)
    for _ in range(25):
        sim.step(10)
        position, rotation = motion_pose(motion, sim.time, "motion")
        body = sim.bodies["lift"]
        np.testing.assert_allclose(body.position, position, atol=1e-12)
        np.testing.assert_allclose(body.rotation_matrix, quaternion_to_matrix(rotation), atol=1e-12)
        cup = position + body.rotation_matrix @ [0, 0, 0.5]
        np.testing.assert_allclose(sim.bodies["cup"].position, cup, atol=1e-12)
    assert np.abs(sim.bodies["lift"].velocity).max() < 1e-9  # past the last time it rests


def test_a_script_begins_where_it_says() -> None:
    """Not at the body's own pose: no leap in the first step, and what hangs on it starts there."""
    scene = lift(ss.Motion([0, 1], [(3, 0, 0), (4, 0, 0)]), position=(0, 7, 0))
    scene.add_body("bob", parent="lift", joint=ss.Joint("revolute", axis=(0, 1, 0)),
                   inertial=ss.Inertial(1.0, (0, 0, -1), np.eye(3)))
    sim = simulate(scene)
    np.testing.assert_allclose(sim.bodies["lift"].position, [3, 0, 0])
    sim.step()
    np.testing.assert_allclose(sim.bodies["lift"].velocity, [1, 0, 0], atol=1e-9)
    assert abs(sim.v[0]) < 1e-12


def test_a_stopping_script_swings_what_hangs_on_it() -> None:
    """A cart that stops at once hands its speed to the bob: w = m l v / (I + m l^2)."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_body("cart", kinematic=True, motion=ss.Motion([0, 0.1, 1.0], [(0, 0, 0), (0.2, 0, 0), (0.2, 0, 0)]))
    scene.add_body("bob", parent="cart", joint=ss.Joint("revolute", axis=(0, 1, 0)),
                   inertial=ss.Inertial(1.0, (0, 0, -0.5), 0.05 * np.eye(3)))
    for integrator in INTEGRATORS:
        sim = simulate(scene, integrator)
        sim.step(105)
        assert sim.v[0] == pytest.approx(-2.0 * 0.5 / (0.05 + 0.25), rel=0.02)  # towards +x


def test_functions_of_time() -> None:
    sim = simulate(lift(lambda t: ((t, 0, 0), quaternion_to_matrix(axis_angle(Z, t)))))  # a matrix serves as rotation
    sim.step(100)
    np.testing.assert_allclose(sim.bodies["lift"].position, [0.1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(sim.bodies["lift"].angular_velocity, [0, 0, 1], atol=1e-9)


@pytest.mark.parametrize(("motion", "words"), [
    (lambda t: (0, 0, 0), "returns .position, rotation."), (lambda t: None, "returns .position, rotation."),
    (lambda t: ((0, 0), (1, 0, 0, 0)), "position needs 3 numbers"),
    (lambda t: ((0, 0, np.nan), (1, 0, 0, 0)), "not finite"), (lambda t: ((0, 0, 0), (2, 0, 0, 0)), "unit quaternion"),
])
def test_bad_functions_are_named(motion: Any, words: str) -> None:
    with pytest.raises(ss.SceneError, match=f"motion of body 'lift'.*{words}"):
        simulate(lift(motion))


def test_errors_inside_a_users_function_are_the_users() -> None:
    def broken(time: float) -> Any:
        return ((0, 0, 0), (1, 0, 0, 0)) if time < 0.01 else {}["missing"]

    sim = simulate(lift(broken))
    with pytest.raises(KeyError, match="missing"):
        sim.step(100)

    def wrong(time: float) -> Any:
        raise TypeError("mine")

    with pytest.raises(TypeError, match="mine"):
        simulate(lift(wrong))


def test_restored_scripts_follow_their_times() -> None:
    motion = ss.Motion([0, 1], [(0, 0, 0), (1, 0, 0)])
    sim = simulate(lift(motion))
    sim.step(100)
    snapshot = sim.save()
    sim.step(300)
    sim.restore(snapshot)
    sim.step(100)
    np.testing.assert_allclose(sim.bodies["lift"].position, [0.2, 0, 0], atol=1e-12)
