"""Views of bodies, joints and actuators by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from mechanisms import BLOCK, everything, simulate, wheel
from sesshoku.spatial.rotation import axis_angle, quaternion_to_matrix, rotation_vector
from trees import random_scene, unit


@pytest.fixture(scope="module")
def sim() -> ss.Simulation:
    made = simulate(everything())
    made.step(50)
    return made


def test_views_are_mappings(sim: ss.Simulation) -> None:
    assert list(sim.bodies) == list(sim.scene.bodies) and len(sim.bodies) == len(sim.scene.bodies)
    assert list(sim.actuators) == ["arm2", "push", "slider"]
    assert "arm0" in sim.joints and "lift" not in sim.joints and "nobody" not in sim.bodies
    assert "rock" in repr(sim.bodies["rock"]) and "arm0" in repr(sim.joints) and "push" in repr(sim.actuators["push"])


@pytest.mark.parametrize(("views", "name", "words"), [
    ("bodies", "rok", "body 'rok'.*did you mean 'rock'"), ("joints", "arm9", "joint 'arm9'.*did you mean 'arm"),
    ("actuators", "pusch", "actuator 'pusch'.*did you mean 'push'"), ("bodies", "zzz", "there are 11"),
    ("bodies", 3, "no such"),
])
def test_unknown_names_suggest_the_nearest(sim: ss.Simulation, views: str, name: Any, words: str) -> None:
    with pytest.raises(ss.SceneError, match=words):
        getattr(sim, views)[name]


def test_views_agree_with_the_arrays_of_all_bodies(sim: ss.Simulation) -> None:
    poses, velocities = sim.body_poses(), sim.body_velocities()
    for f, (name, body) in enumerate(sim.bodies.items()):
        assert sim.compiled.frame_names[f] == name
        np.testing.assert_allclose(poses[f], [*body.position, *body.rotation], atol=1e-13)
        np.testing.assert_allclose(velocities[f], [*body.velocity, *body.angular_velocity], atol=1e-12)
        np.testing.assert_allclose(quaternion_to_matrix(body.rotation), body.rotation_matrix, atol=1e-13)


def test_bodies_fixed_to_others_move_with_them(rng: np.random.Generator) -> None:
    """Named bodies welded to a link, and bodies welded to those; velocities against finite differences."""
    scene = random_scene(rng, trees=1, size=5, bases=("free",))
    scene.add_body("plate", parent="tree0_2", position=(0.3, 0.1, -0.2), rotation=unit(rng, 4), inertial=BLOCK)
    scene.add_body("knob", parent="plate", position=(0, 0.2, 0.4))
    sim = simulate(scene, "rk4", dt=1e-6)
    before = {name: (body.position, body.rotation_matrix) for name, body in sim.bodies.items()}
    sim.step()
    middle = {name: (body.velocity, body.angular_velocity) for name, body in sim.bodies.items()}
    sim.step()
    for name, body in sim.bodies.items():
        position, rotation = before[name]
        np.testing.assert_allclose((body.position - position) / 2e-6, middle[name][0], atol=1e-6)
        turn = rotation_vector(body.rotation_matrix @ rotation.T) / 2e-6
        np.testing.assert_allclose(turn, middle[name][1], atol=1e-6)
    plate = sim.bodies["plate"]
    knob = plate.position + plate.rotation_matrix @ [0, 0.2, 0.4]
    np.testing.assert_allclose(sim.bodies["knob"].position, knob, atol=1e-12)
    assert plate.mass == 2.0 and sim.bodies["knob"].mass == 0.0
    # one rigid link has one centre of mass, whichever of its bodies is asked
    np.testing.assert_allclose(plate.center_of_mass, sim.bodies["tree0_2"].center_of_mass, atol=1e-13)


def test_fixed_bodies_stand_still() -> None:
    scene = wheel()
    scene.add_body("sign", parent="wall", position=(1, 2, 3), rotation=axis_angle(np.array([0, 0, 1.0]), 0.5))
    body = simulate(scene).bodies["sign"]
    np.testing.assert_array_equal(body.position, [1, 2, 3])
    assert not body.velocity.any() and not body.angular_velocity.any() and not body.center_of_mass_velocity.any()
    np.testing.assert_allclose(body.rotation, axis_angle(np.array([0, 0, 1.0]), 0.5))
    with pytest.raises(ss.SceneError, match="body 'sign'.*only a free or kinematic body"):
        body.set_pose((0, 0, 0))


def lopsided() -> ss.Simulation:
    """A free body whose centre of mass is off its frame's origin."""
    scene = ss.Scene(gravity=(0, 0, 0))
    turn = axis_angle(np.array([0, 0, 1.0]), np.pi / 2)
    scene.add_body("club", position=(1, 2, 3), rotation=turn, velocity=(1, 0, 0), angular_velocity=(0, 0, 2),
                   inertial=ss.Inertial(3.0, (0.5, 0, 0), np.diag([1.0, 2, 2])))
    return simulate(scene)


def test_body_with_its_centre_of_mass_off_its_origin() -> None:
    body = lopsided().bodies["club"]
    np.testing.assert_allclose(body.position, [1, 2, 3], atol=1e-15)
    np.testing.assert_allclose(body.center_of_mass, [1, 2.5, 3], atol=1e-15)
    np.testing.assert_allclose(body.velocity, [1, 0, 0], atol=1e-15)
    np.testing.assert_allclose(body.center_of_mass_velocity, [0, 0, 0], atol=1e-15)  # v + w x r
    assert body.mass == 3.0


def test_setting_pose_and_velocity_of_a_free_body() -> None:
    sim = lopsided()
    body, turn = sim.bodies["club"], axis_angle(np.array([0.6, 0, 0.8]), 1.0)
    body.set_pose((4, 5, 6), turn)
    body.set_velocity((1, 2, 3), (0.1, 0.2, 0.3))
    np.testing.assert_allclose(body.position, [4, 5, 6], atol=1e-14)
    np.testing.assert_allclose(body.rotation, turn, atol=1e-14)
    np.testing.assert_allclose([*body.velocity, *body.angular_velocity], [1, 2, 3, 0.1, 0.2, 0.3], atol=1e-14)
    body.set_pose(position=(0, 0, 0))  # keeps what is not given
    body.set_velocity(angular_velocity=(0, 0, 1))
    np.testing.assert_allclose(body.rotation, turn, atol=1e-14)
    np.testing.assert_allclose(body.velocity, [1, 2, 3], atol=1e-14)
    joint = sim.joints["club"]
    np.testing.assert_allclose(joint.position, [0, 0, 0, *turn], atol=1e-14)
    joint.position = [7, 8, 9, 1, 0, 0, 0]
    joint.velocity = [1, 0, 0, 0, 1, 0]
    np.testing.assert_allclose(body.position, [7, 8, 9], atol=1e-14)
    np.testing.assert_allclose(joint.velocity, [1, 0, 0, 0, 1, 0], atol=1e-14)
    for bad in ((1, 2), (1, 2, np.nan)):
        with pytest.raises(ss.SceneError, match="body 'club'"):
            body.set_pose(bad)
    with pytest.raises(ss.SceneError, match="unit quaternion"):
        body.set_pose(rotation=(1, 1, 0, 0))


def test_setting_the_pose_of_a_body_fixed_to_a_free_one() -> None:
    scene = ss.Scene()
    scene.add_body("base", inertial=BLOCK)
    scene.add_body("tool", parent="base", position=(0.5, 0, 0), inertial=BLOCK,
                   rotation=axis_angle(np.array([1.0, 0, 0]), 0.7))
    sim = simulate(scene)
    sim.bodies["tool"].set_pose((1, 1, 1), (1, 0, 0, 0))
    sim.bodies["tool"].set_velocity((0, 0, 2), (0, 1, 0))
    np.testing.assert_allclose(sim.bodies["tool"].position, [1, 1, 1], atol=1e-14)
    np.testing.assert_allclose(sim.bodies["tool"].rotation, [1, 0, 0, 0], atol=1e-14)
    np.testing.assert_allclose(sim.bodies["tool"].velocity, [0, 0, 2], atol=1e-14)
    np.testing.assert_allclose(sim.bodies["base"].position, [0.5, 1, 1], atol=1e-14)
    np.testing.assert_allclose(sim.bodies["base"].velocity, [0, 0, 2.5], atol=1e-14)


def test_joints_of_one_axis() -> None:
    sim = simulate(wheel(lower=-1, upper=2, position=0.5, velocity=0.1))
    joint = sim.joints["wheel"]
    assert joint.position == 0.5 and joint.velocity == 0.1 and joint.limits == (-1.0, 2.0)
    assert isinstance(joint.position, float) and not joint.slipping and joint.limit_force == joint.friction_force == 0.0
    joint.position, joint.velocity = 1.5, -2
    assert (sim.q[0], sim.v[0]) == (1.5, -2.0)
    for wrong in ("up", np.nan, (1, 2)):
        with pytest.raises(ss.SceneError, match="joint 'wheel'"):
            joint.position = wrong
        with pytest.raises(ss.SceneError, match="joint 'wheel'"):
            joint.velocity = wrong
    assert (sim.q[0], sim.v[0]) == (1.5, -2.0)


def test_joints_of_several_axes() -> None:
    sim = simulate(everything())
    ball, puck = sim.joints["ball"], sim.joints["puck"]
    ball.position, ball.velocity = (0.6, 0, 0.8, 0), (1, 2, 3)
    np.testing.assert_array_equal(ball.position, [0.6, 0, 0.8, 0])
    np.testing.assert_array_equal(ball.velocity, [1, 2, 3])
    assert puck.position.shape == (3,) and puck.velocity.shape == (3,)
    with pytest.raises(ss.SceneError, match="unit quaternion"):
        ball.position = (1, 1, 0, 0)
    # views are copies: writing into one does not move the joint
    puck.position[0] = 99.0
    assert sim.joints["puck"].position[0] != 99.0


def test_actuators() -> None:
    sim = simulate(everything())
    push = sim.actuators["push"]
    push.target, push.target_velocity, push.feed_forward = 0.3, 0.1, 0.2
    assert (push.target, push.target_velocity, push.feed_forward) == (0.3, 0.1, 0.2)
    np.testing.assert_array_equal(sim.actuator_command[1], [0.3, 0.1, 0.2])
    sim.step()
    assert push.force == pytest.approx(0.5) and sim.actuator_force[1] == push.force
    with pytest.raises(ss.SceneError, match="actuator 'push'"):
        push.target = float("nan")


def test_views_see_the_present_state(sim: ss.Simulation) -> None:
    body = sim.bodies["rock"]
    before, height = body.position, sim.center_of_mass()[2]
    sim.step()
    assert not np.array_equal(body.position, before) and sim.center_of_mass()[2] != height
    snapshot = sim.save()
    sim.step()
    sim.restore(snapshot)
    np.testing.assert_allclose(body.position, sim.body_poses()[list(sim.bodies).index("rock")][:3], rtol=1e-12)


def test_whole_robots() -> None:
    """Centre of mass and momentum of one robot of several."""
    scene = ss.Scene(gravity=(0, 0, 0))
    for name, x in (("one", 0.0), ("two", 5.0)):
        scene.load(ss.robots.path("arm_gripper.urdf"), name=name, position=(x, 0, 0), fixed_base=True)
    sim = simulate(scene)
    apart = sim.center_of_mass("two") - sim.center_of_mass("one")
    np.testing.assert_allclose(apart, [5, 0, 0], atol=1e-9)
    middle = 0.5 * (sim.center_of_mass("one") + sim.center_of_mass("two"))
    np.testing.assert_allclose(sim.center_of_mass(), middle, atol=1e-9)
    sim.joints[scene.robots["one"].joints[0]].velocity = 1.0
    assert np.abs(sim.momentum("one")).max() > 0.0 and not sim.momentum("two").any()
    np.testing.assert_allclose(sim.momentum("one", about=(0, 0, 0)), sim.momentum(scene.robots["one"], about=(0, 0, 0)))
    with pytest.raises(ss.SceneError, match="no such robot; there are 2: one, two"):
        sim.center_of_mass("three")


def test_poses_are_those_of_now_where_sensors_were_read_in_between() -> None:
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_box("box", size=(0.1, 0.1, 0.1), mass=1.0)
    scene.add_imu("imu", "box")
    sim = ss.Simulation(scene, "none", dt=1e-2)
    box = sim.bodies["box"]
    for n in range(1, 5):
        sim.step()
        assert np.isfinite(sim.sensors["imu"].value).all()
        assert box.velocity[2] == pytest.approx(-9.8e-2 * n) and box.position[2] == pytest.approx(sim.q[2])
