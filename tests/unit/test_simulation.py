"""`Simulation`: running, inputs it refuses, big scenes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from mechanisms import BLOCK, INTEGRATORS, everything, simulate, wheel

# ---- running ---------------------------------------------------------------------------------------------------------


def test_run_calls_the_controller_before_every_step_and_records() -> None:
    scene = wheel()
    scene.add_actuator("wheel", "torque")
    sim, times = simulate(scene), []

    def controller(running: ss.Simulation) -> None:
        times.append(running.time)
        running.actuators["wheel"].target = 0.5

    recording = sim.run(0.1, controller)
    np.testing.assert_allclose(times, np.arange(100) * 1e-3, atol=1e-12)
    np.testing.assert_allclose(recording.time, np.arange(101) * 1e-3, atol=1e-12)
    assert sim.v[0] == pytest.approx(0.1, rel=1e-9)


def test_pushes_last_for_one_call() -> None:
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_body("box", inertial=BLOCK)
    sim = simulate(scene)
    sim.apply_force("box", (2, 0, 0))
    sim.step(0)  # no step: the push still waits
    sim.step(10)
    sim.step(10)
    assert sim.bodies["box"].velocity[0] == pytest.approx(0.01, rel=1e-12)


def test_time_step_of_the_scene_is_taken_where_none_is_given() -> None:
    scene = wheel()
    assert ss.Simulation(scene, "none").dt == 1e-3
    scene.time_step = 2e-3
    assert ss.Simulation(scene, "none").dt == 2e-3
    assert ss.Simulation(scene, "none", dt=5e-3).dt == 5e-3


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dt", [0, -1e-3, float("nan"), float("inf"), "fast", (1, 2)])
def test_bad_time_steps(dt: Any) -> None:
    with pytest.raises(ss.SceneError, match="dt"):
        ss.Simulation(wheel(), "none", dt=dt)


@pytest.mark.parametrize("steps", [-1, 1.5, "3", None])
def test_bad_step_counts(steps: Any) -> None:
    for scene in (wheel(), everything()):
        sim = simulate(scene)
        with pytest.raises(ss.SceneError, match="steps"):
            sim.step(steps)
        assert sim.time == 0.0


def test_a_simulation_needs_a_scene() -> None:
    for wrong in (None, "robot.urdf", {}):
        with pytest.raises(ss.SceneError, match="needs a Scene"):
            ss.Simulation(wrong)  # type: ignore[arg-type]


def test_links_without_inertia_are_refused_by_joint() -> None:
    scene = wheel()
    scene.add_body("tip", parent="wheel", joint=ss.Joint("revolute", name="last", axis=(1, 0, 0)))
    with pytest.raises(ss.SceneError, match="joint 'last'.*armature"):
        simulate(scene)
    thin = wheel(inertial=ss.Inertial(1.0, (0, 0, 0.5), np.zeros((3, 3))))  # a point on the axis turns without inertia
    with pytest.raises(ss.SceneError, match="joint 'wheel'"):
        simulate(thin)
    scene.bodies["tip"].joint.armature = 0.1
    simulate(scene).step(10)


def test_bad_states() -> None:
    scene = everything()
    sim = simulate(scene)
    q, v = sim.q.copy(), sim.v.copy()
    for wrong in (q[:-1], np.full(len(q), np.nan), "q", None):
        if wrong is not None:
            with pytest.raises(ss.SceneError, match="q "):
                sim.set_state(wrong)
    with pytest.raises(ss.SceneError, match="v "):
        sim.set_state(q + 1e-9, np.append(v, 0.0))
    twisted = q.copy()
    twisted[sim.model.link_coordinate[sim.compiled.joint_link["ball"]]] += 0.5
    with pytest.raises(ss.SceneError, match="joint 'ball' is not a unit quaternion"):
        sim.set_state(twisted)
    np.testing.assert_array_equal(sim.q, q)
    np.testing.assert_array_equal(sim.v, v)


def test_snapshots_of_other_scenes_are_refused() -> None:
    with pytest.raises(ss.SceneError, match="another scene"):
        simulate(wheel()).restore(simulate(everything()).save())
    with pytest.raises(ss.SceneError, match="another scene"):
        simulate(wheel()).restore({})


def test_forces_on_what_cannot_move_are_refused() -> None:
    sim = simulate(everything())
    for body in ("lift", "belt"):
        with pytest.raises(ss.SceneError, match=f"{body}.*no force moves it"):
            sim.apply_force(body, (1, 0, 0))
    for force in ((1, 2), (1, 2, np.nan), "up"):
        with pytest.raises(ss.SceneError, match="force"):
            sim.apply_force("rock", force)
    with pytest.raises(ss.SceneError, match="did you mean 'rock'"):
        sim.apply_force("rocks", (1, 0, 0))
    assert not sim.data.external_force.any()


@pytest.mark.parametrize("duration", [-1.0, float("nan"), "long"])
def test_bad_durations(duration: Any) -> None:
    with pytest.raises(ss.SceneError, match="duration"):
        simulate(wheel()).run(duration)


# ---- size ------------------------------------------------------------------------------------------------------------


def test_empty_and_fixed_scenes_run() -> None:
    scene = ss.Scene()
    for integrator in INTEGRATORS:
        sim = simulate(scene, integrator)
        sim.step(10)
        assert sim.time == pytest.approx(0.01) and sim.energy == (0.0, 0.0)
    scene.add_ground()
    sim = simulate(scene)
    sim.step(3)
    assert sim.mass_matrix().shape == (0, 0) and not sim.momentum().any()


def test_ten_thousand_free_bodies() -> None:
    scene = ss.Scene(gravity=(0, 0, -10))
    for n in range(10_000):
        scene.add_body(f"rock{n}", inertial=BLOCK, position=(n, 0, 0), angular_velocity=(0, 0, 1))
    sim = simulate(scene)
    sim.step(10)
    assert sim.model.tree_count == 10_000 and sim.model.dof_count == 60_000
    assert sim.bodies["rock9999"].velocity[2] == pytest.approx(-0.1)
    poses = sim.body_poses()
    np.testing.assert_allclose(poses[:, 2], poses[0, 2])


def test_a_chain_of_a_thousand_links() -> None:
    """It obeys its equation of motion and keeps its energy."""
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_body("wall", fixed=True)
    parent = "wall"
    for n in range(1000):
        scene.add_body(f"link{n}", parent=parent, position=(0.1 if n else 0.0, 0, 0),
                       joint=ss.Joint("revolute", axis=(0, 1, 0)),
                       inertial=ss.Inertial(0.1, (0.05, 0, 0), 1e-3 * np.eye(3)))
        parent = f"link{n}"
    sim = simulate(scene, "rk4", dt=1e-4)
    zero = np.zeros(1000)
    a = sim.forward_dynamics(zero)
    assert np.abs(sim.inverse_dynamics(a)).max() < 1e-6
    before = sum(sim.energy)
    sim.step(20)
    assert abs(sum(sim.energy) - before) < 1e-6 * 0.5 * 100 * 9.8
