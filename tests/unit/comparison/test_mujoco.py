"""MuJoCo behind the interface of a Simulation: the same numbers by the same names, for one controller of all."""

from __future__ import annotations

import copy
from typing import Any

import mujoco
import numpy as np
import pytest

import sesshoku as ss
from mechanisms import everything
from sesshoku.comparison.mujoco import MujocoRun
from sesshoku.experiments.scenes import crate_on_floor

ARM = """
<mujoco><option timestep="0.002"/><worldbody>
  <geom name="floor" type="plane" size="5 5 0.1"/>
  <body name="upper" pos="0 0 1"><joint name="shoulder" axis="0 1 0" damping="0.1"/>
    <geom type="capsule" size="0.03" fromto="0 0 0 0.4 0 0" mass="1"/>
    <body name="lower" pos="0.4 0 0"><joint name="elbow" axis="0 1 0" damping="0.1"/>
      <geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0" mass="0.5"/><site name="tip" pos="0.3 0 0"/></body></body>
  <body name="ball" pos="1 1 0.1"><freejoint/><geom size="0.1" mass="1"/></body>
</worldbody>
<actuator><motor name="m1" joint="shoulder"/><motor name="m2" joint="elbow"/></actuator>
<sensor><accelerometer site="tip"/><gyro site="tip"/></sensor></mujoco>"""


def arm(tmp_path: Any) -> ss.Scene:
    (tmp_path / "arm.xml").write_text(ARM)
    scene = ss.Scene()
    scene.load(tmp_path / "arm.xml")
    return scene


def loose(rng: np.random.Generator) -> ss.Scene:
    """Bodies with every kind of joint, off-centre masses, in motion."""
    scene = ss.Scene(gravity=(0, 0, -9.8))
    block = ss.Inertial(1.0, (0.1, -0.05, 0.2), np.diag([0.1, 0.2, 0.25]))
    quaternion = rng.normal(size=4)
    scene.add_body("rock", inertial=block, position=(1, 2, 3), rotation=quaternion / np.linalg.norm(quaternion),
                   velocity=rng.normal(size=3), angular_velocity=rng.normal(size=3))
    scene.add_body("lump", parent="rock", position=(0.3, 0, 0), inertial=block)
    scene.add_body("ball", parent="lump", position=(0, 0.4, 0), inertial=block,
                   joint=ss.Joint("spherical", anchor=(0, 0.1, 0), velocity=rng.normal(size=3)))
    scene.add_body("puck", inertial=block, joint=ss.Joint("planar", axis=(0.1, 0, 1), velocity=(1, 0, 2)))
    scene.add_body("slide", parent="puck", inertial=block, joint=ss.Joint("prismatic", axis=(1, 0, 0), velocity=0.3))
    scene.add_body("hinge", parent="slide", inertial=block, position=(0, 0, 0.3),
                   joint=ss.Joint("revolute", axis=(0, 1, 0), position=0.4, velocity=-1.0))
    return scene


def test_the_state_is_the_same_in_both(rng: np.random.Generator) -> None:
    """At the start, and after steps against MuJoCo's own poses and velocities."""
    scene = loose(rng)
    ours, peer = ss.Simulation(scene, "none", 1e-3), MujocoRun(scene, 1e-3)
    np.testing.assert_allclose(peer.q, ours.q, atol=1e-14)
    np.testing.assert_allclose(peer.v, ours.v, atol=1e-14)
    peer.step(50)
    mujoco.mj_forward(peer.peer_model, peer.peer_data)
    for name in scene.bodies:
        body = mujoco.mj_name2id(peer.peer_model, mujoco.mjtObj.mjOBJ_BODY, name)
        np.testing.assert_allclose(peer.bodies[name].position, peer.peer_data.xpos[body], atol=1e-12)
        np.testing.assert_allclose(peer.bodies[name].rotation_matrix.ravel(), peer.peer_data.xmat[body], atol=1e-12)
        twist = np.zeros(6)
        mujoco.mj_objectVelocity(peer.peer_model, peer.peer_data, mujoco.mjtObj.mjOBJ_XBODY, body, twist, 0)
        np.testing.assert_allclose(peer.bodies[name].velocity, twist[3:], atol=1e-10)
        np.testing.assert_allclose(peer.bodies[name].angular_velocity, twist[:3], atol=1e-10)
    assert peer.time == pytest.approx(0.05)
    peer.peer_model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    mujoco.mj_forward(peer.peer_model, peer.peer_data)
    assert peer.energy.kinetic == pytest.approx(peer.peer_data.energy[1], rel=1e-9)


def test_what_is_written_to_the_state_moves_mujoco(rng: np.random.Generator) -> None:
    scene = loose(rng)
    ours, peer = ss.Simulation(scene, "none", 1e-5), MujocoRun(scene, 1e-5)
    q, v = ours.q + 0.0, rng.normal(size=len(ours.v))
    for sim in (ours, peer):
        sim.joints["hinge"].position = -0.3
        sim.bodies["rock"].set_pose((0, 0, 1), (0.6, 0.8, 0, 0))
        sim.v[:] = v
        sim.step()
    np.testing.assert_allclose(peer.q, ours.q, atol=1e-8)
    np.testing.assert_allclose(peer.v, ours.v, atol=1e-4)
    assert not np.allclose(peer.q, q)


def test_forces_act_alike(rng: np.random.Generator) -> None:
    """At the centre of mass of a link of two bodies, and at points; for one step, and standing."""
    scene = loose(rng)
    ours, peer = ss.Simulation(scene, "none", 1e-5), MujocoRun(scene, 1e-5)
    for sim in (ours, peer):
        sim.apply_force("lump", (30, 0, 10), torque=(1, 2, 3))
        sim.apply_force("hinge", (0, 5, 0), point=(0.1, 0.2, 0.3))
        sim.bodies["ball"].push((0, 0, 7), point=(1, 1, 1), until=2e-4)
        sim.step(10)
        sim.step(30)
    np.testing.assert_allclose(peer.v, ours.v, atol=2e-4)
    assert not peer.data.external_force.any()
    still = ss.Simulation(scene, "none", 1e-5)
    still.step(40)
    assert np.abs(still.v - ours.v).max() > 2e-3  # the forces matter


def test_commands_of_every_kind_are_followed() -> None:
    def built() -> ss.Scene:
        scene = ss.Scene(gravity=(0, 0, 0))
        scene.add_body("wall", fixed=True)
        for n, kind in enumerate(("torque", "position", "velocity")):
            scene.add_body(f"b{n}", parent="wall", position=(n, 0, 0), joint=ss.Joint("revolute", f"j{n}"),
                           inertial=ss.Inertial(1.0, matrix=0.1 * np.eye(3)))
            scene.add_actuator(f"j{n}", kind, name=f"a{n}", kp=5.0, kd=1.0, gear=2.0 if n == 0 else 1.0,
                               feed_forward=0.1)
        return scene

    ours, peer = ss.Simulation(built(), "none", 1e-4), MujocoRun(built(), 1e-4)
    for sim in (ours, peer):
        for n, view in enumerate(sim.actuators.values()):
            view.target, view.target_velocity, view.feed_forward = 0.3 + n, 0.5, 0.2 * n
        sim.step(500)
    np.testing.assert_allclose(peer.q, ours.q, rtol=2e-3)
    np.testing.assert_allclose(peer.v, ours.v, rtol=2e-3)


def test_one_pd_controller_drives_all_rows(tmp_path: Any) -> None:
    """Written for a Simulation, with joints, vectors, actuators, sensors and contacts: the same end everywhere."""
    seen: dict[str, set[str]] = {}

    def controller(sim: Any) -> None:
        robot = sim.robots["arm"]
        names = ("shoulder", "elbow")
        q = np.array([sim.joints[name].position for name in names])
        np.testing.assert_array_equal(q, [robot.q[robot.places[name]][0] for name in names])
        v = np.array([robot.v[robot.dofs[name]][0] for name in names])
        np.testing.assert_array_equal(v, sim.v[:2])
        np.testing.assert_array_equal(q, sim.q[:2])
        robot.command = 40.0 * (np.array([-0.5, 0.8]) - q) - 4.0 * v
        seen.setdefault(type(sim).__name__ + sim.method.keyword, set()).update(
            contact.state for contact in sim.contacts if "ball" in contact.bodies)
        assert sim.sensors["tip"].angular_velocity.shape == (3,) and np.isfinite(sim.energy.total)

    result = ss.compare(arm(tmp_path), ["exact", "lcp", "none"], controller=controller, time=1.5, dt=2e-3,
                        watch=["lower"], peers=["mujoco"])
    places = [outcome.positions["lower"] for outcome in result.outcomes]
    assert all(outcome.refused is None for outcome in result.outcomes)
    for place in places[1:]:
        np.testing.assert_allclose(place, places[0], atol=1e-3)
    assert np.isfinite(result["mujoco"].measures["step"])
    assert "stick" in seen["MujocoRunnone"] and "stick" in seen["Simulationexact"]


def test_sensors_and_contacts_are_mujocos(tmp_path: Any) -> None:
    peer = MujocoRun(arm(tmp_path), 2e-3)
    assert not peer.sensors["tip"].acceleration.any()
    peer.step(400)
    ball = [contact for contact in peer.contacts if "ball" in contact.bodies]
    assert len(ball) == 1 and ball[0].bodies[1] == "ball" and ball[0].reason
    assert ball[0].force == pytest.approx([0, 0, 9.81], rel=1e-3) and ball[0].normal == pytest.approx([0, 0, 1])
    assert peer.bodies["ball"].contacts[0].id == ball[0].id and peer.touch()[0] >= 9.8
    peer.step()
    sensor = peer.peer_data.sensordata
    np.testing.assert_array_equal(peer.sensors["tip"].acceleration, sensor[:3])
    np.testing.assert_array_equal(peer.sensors["tip"].angular_velocity, sensor[3:])


def test_states_are_saved_and_runs_begin_anew() -> None:
    scene = crate_on_floor(1.0, height=0.1, tilt=0.2)
    peer = MujocoRun(scene, 2e-3)
    first = []
    for _ in range(3):
        peer.step(40)
        first.append(peer.q.copy())
        if len(first) == 1:
            saved = peer.save()
    peer.restore(saved)
    peer.step(40)
    np.testing.assert_array_equal(peer.q, first[1])
    peer.reset()
    assert peer.time == 0.0
    peer.step(40)
    np.testing.assert_array_equal(peer.q, first[0])


def test_scripted_bodies_move_along() -> None:
    scene = ss.Scene()
    scene.add_box("lift", size=(1, 1, 0.1), kinematic=True, position=(0, 0, 0),
                  motion=lambda t: ((0, 0, 0.2 * t), (1, 0, 0, 0)))
    scene.add_box("crate", size=(0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.15))
    peer = MujocoRun(scene, 2e-3)
    peer.step(250)
    assert peer.bodies["lift"].position[2] == pytest.approx(0.1, abs=1e-9)
    # MuJoCo knows no velocity of such bodies, so that its damper lets the crate sink in
    assert peer.bodies["crate"].position[2] == pytest.approx(0.25, abs=2e-2)


def test_unknown_names_and_bad_commands_are_errors_as_ever(tmp_path: Any) -> None:
    peer = MujocoRun(arm(tmp_path), 2e-3)
    with pytest.raises(ss.SceneError, match="no such actuator"):
        peer.actuators["nose"].target = 1.0
    with pytest.raises(ss.SceneError, match="target is not finite"):
        peer.actuators["m1"].target = np.nan
    assert "MuJoCo" in repr(peer)


def test_a_scene_with_everything_runs() -> None:
    peer = MujocoRun(everything(), 1e-3)
    peer.step(20)
    assert np.isfinite(peer.body_poses()).all() and np.isfinite(peer.body_velocities()).all()
    again = copy.copy(peer)
    peer.step(10), again.step(10)
    np.testing.assert_array_equal(again.q, peer.q)
