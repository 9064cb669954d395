"""What users stumble over: writes to q, properties and methods, tables, presets, going back to the start."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from mechanisms import everything, four_bar, pendulum, simulate, turntable
from sesshoku.experiments.scenes import crate_on_floor
from sesshoku.scene.compiler import compile_scene

# ---- writes to q and v ----------------------------------------------------------------------------------------------


def falling() -> ss.Simulation:
    sim = simulate(pendulum())
    sim.step(10)
    return sim


def test_what_is_written_to_q_holds() -> None:
    sim, rod = falling(), simulate(pendulum())
    before = sim.bodies["rod"].rotation
    sim.q[0] = 0.7
    rod.set_state(q=[0.7])
    assert not np.allclose(sim.bodies["rod"].rotation, before)
    np.testing.assert_array_equal(sim.bodies["rod"].rotation, rod.bodies["rod"].rotation)
    np.testing.assert_allclose(sim.energy.potential, rod.energy.potential)


def test_a_reference_that_is_held_is_heeded_whenever_it_is_written_to() -> None:
    sim = falling()
    q, v = sim.q, sim.v
    for angle in (0.1, 0.2, 0.3):
        q[0], v[0] = angle, -angle
        assert sim.bodies["rod"].rotation[2] == pytest.approx(np.sin(angle / 2))
        assert sim.bodies["rod"].angular_velocity == pytest.approx([0, -angle, 0])
        assert sim.body_poses()[1, 5] == pytest.approx(np.sin(angle / 2))
        assert sim.center_of_mass()[0] == pytest.approx(-0.5 * np.sin(angle))
        sim.step()
        q[:] = angle + 0.5
        assert sim.jacobian("rod").shape == (6, 1) and sim.bodies["rod"].rotation[2] == pytest.approx(
            np.sin(angle / 2 + 0.25))


def test_slices_and_whole_arrays_can_be_assigned() -> None:
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.load(ss.robots.path("humanoid_small.xml"))
    sim = simulate(scene)
    knee = scene.robots["humanoid_small"].joints[4]
    target = np.linspace(-0.1, 0.1, len(sim.q) - 7)
    sim.q[7:] = target
    assert sim.joints[knee].position in target
    sim.q += 0.0
    whole = sim.q.copy()
    whole[7:] = 0.0
    sim.q = whole
    np.testing.assert_array_equal(sim.q, whole)
    with pytest.raises(ss.SceneError, match="q needs"):
        sim.q = whole[1:]
    with pytest.raises(ss.SceneError, match="v is not finite"):
        sim.v = np.full(len(sim.v), np.nan)


def test_a_written_state_does_not_change_what_the_sensors_read() -> None:
    def reading(spoil: bool) -> np.ndarray:
        scene = pendulum()
        scene.add_force_sensor("pin", "rod")
        sim = simulate(scene)
        q = sim.q
        sim.step(5)
        if spoil:
            q[0] = 1.0
        return sim.sensors["pin"].force

    np.testing.assert_array_equal(reading(True), reading(False))


def test_a_force_after_a_step_does_not_change_what_the_sensors_read() -> None:
    def reading(spoil: bool) -> np.ndarray:
        scene = pendulum()
        scene.add_force_sensor("pin", "rod")
        sim = simulate(scene)
        sim.step(5)
        if spoil:
            sim.apply_force("rod", (1, 2, 3))
        return sim.sensors["pin"].force

    np.testing.assert_array_equal(reading(True), reading(False))


# ---- properties and methods ----------------------------------------------------------------------------------------


def test_energy_is_a_property_with_names() -> None:
    sim = simulate(pendulum(), dt=1e-4)
    sim.set_state(q=[1.0])
    kinetic, potential = sim.energy
    assert (sim.energy.kinetic, sim.energy.potential) == (kinetic, potential) and kinetic == 0.0
    assert potential == pytest.approx(-9.8 * 0.5 * np.cos(1.0)) and sim.energy.total == kinetic + potential
    assert sum(sim.energy) == sim.energy.total


def test_what_is_read_is_a_copy() -> None:
    sim = simulate(everything())
    body = sim.bodies["rock"]
    for name in ("position", "rotation", "rotation_matrix", "velocity", "angular_velocity", "center_of_mass",
                 "center_of_mass_velocity"):
        before = getattr(body, name)
        getattr(body, name)[...] = 7.0
        np.testing.assert_array_equal(getattr(body, name), before)
    sim.body_poses()[:] = 7.0
    assert sim.body_poses().max() != 7.0
    assert sim.bodies["rock"] is body  # a view is made once


def test_views_follow_every_way_the_state_changes() -> None:
    """Against the kernels of all bodies, after steps, restores, placements and velocities."""
    sim = simulate(everything())
    begin = sim.save()
    changes: list[Any] = [
        lambda: sim.step(3), lambda: sim.restore(begin), lambda: sim.bodies["rock"].set_pose((1, 2, 3)),
        lambda: sim.bodies["rock"].set_velocity((3, 2, 1), (0, 1, 0)),
        lambda: setattr(sim.joints["arm0"], "position", 0.2),
        lambda: setattr(sim.joints["arm0"], "velocity", 2.0), lambda: sim.set_state(v=np.ones(len(sim.data.v))),
        lambda: sim.forward_dynamics(np.zeros(len(sim.data.v))), lambda: sim.profile(2), sim.reset,
        lambda: sim.bodies["belt"].set_pose((0, 1, 2)), lambda: sim.bodies["belt"].set_velocity((1, 1, 1))]
    for change in changes:
        change()
        again = copy.copy(sim)
        for name in sim.bodies:
            np.testing.assert_array_equal(sim.bodies[name].position, again.bodies[name].position)
            np.testing.assert_array_equal(sim.bodies[name].velocity, again.bodies[name].velocity)
            np.testing.assert_array_equal(sim.bodies[name].center_of_mass, again.bodies[name].center_of_mass)


# ---- tables ---------------------------------------------------------------------------------------------------------


def test_a_simulation_prints_as_a_short_table() -> None:
    sim = ss.Simulation(crate_on_floor(), "exact", 1e-3)
    sim.step(10)
    text = repr(sim)
    assert 4 <= len(text.splitlines()) <= 12 and max(map(len, text.splitlines())) <= 120
    for word in ("Simulation of", "exact", "0.01 s in steps of 0.001 s", "2, 1 of them", "contacts   4", "converged"):
        assert word in text, word
    assert "left out" not in text and "actuators  3: arm2, push, slider" in repr(simulate(everything()))


def test_a_comparison_prints_as_a_short_table() -> None:
    result = ss.compare(crate_on_floor(1.0), ["lcp", "exact:recommended"], time=0.02, dt=2e-3,
                        expected={"travel": 0.018})
    text = repr(result)
    assert max(map(len, text.splitlines())) <= 100 and len(text.splitlines()) <= 10
    for word in ("lcp", "exact", "travel", "closed form", "0.02 s in steps of 0.002 s"):
        assert word in text, word
    assert "[" not in text  # no marks of colours


def test_rows_of_a_comparison_are_found_as_they_were_asked_for() -> None:
    result = ss.compare(crate_on_floor(), ["exact:recommended", ss.methods.lcp(max_sweeps=7)], time=0.002, dt=2e-3,
                        peers=["mujoco"])
    assert result["exact:recommended"] is result["exact"] and result["mujoco"] is result["MuJoCo"]
    assert list(result) == ["exact:recommended", "lcp (max_sweeps=7)", "mujoco"] and len(result) == 3
    assert "mujoco" in result and "springs" not in result and result.get("springs") is None
    with pytest.raises(ss.SceneError, match="no such method.*did you mean 'exact'"):
        result["exakt"]
    with pytest.raises(KeyError):
        result["exakt"]


# ---- methods --------------------------------------------------------------------------------------------------------


def test_recommended_is_known_of_every_method() -> None:
    for keyword in ("exact", "none"):
        method = ss.methods.resolve(f"{keyword}:recommended")
        assert method.keyword == method.label == keyword and method.options == ss.methods.resolve(keyword).options
    assert "exact:recommended" not in ss.methods.keywords()
    with pytest.raises(ss.MethodError, match="no preset 'recomended'"):
        ss.methods.resolve("exact:recomended")


def test_a_preset_with_an_option_changed() -> None:
    method = ss.methods.lcp.recommended(max_sweeps=50)
    assert method.label == "lcp:recommended (max_sweeps=50)" and method.options.static_pyramid == "cone"
    assert ss.methods.lcp.recommended.label == "lcp:recommended"
    assert ss.methods.exact.recommended(correction=0.05).label == "exact (correction=0.05)"
    assert ss.Simulation(crate_on_floor(), ss.methods.lcp.recommended).method.keyword == "lcp:recommended"
    assert pickle.loads(pickle.dumps(method)).options == method.options
    with pytest.raises(ss.MethodError, match="unknown option 'max_sweep'.*did you mean 'max_sweeps'"):
        ss.methods.lcp.recommended(max_sweep=50)
    with pytest.raises(AttributeError, match="no 'best'"):
        ss.methods.lcp.best  # noqa: B018


def test_what_a_method_cannot_carry_is_a_method_error() -> None:
    scene = four_bar("ball")
    scene.add_force_sensor("pin", "coupler")
    with pytest.raises(ss.MethodError, match="sensor 'pin'"):
        ss.Simulation(scene, "springs")
    massless = ss.Scene()
    massless.add_body("wall", fixed=True)
    massless.add_body("dot", parent="wall", joint=ss.Joint("revolute", armature=1.0))
    with pytest.raises(ss.MethodError, match="body 'dot' has no mass"):
        ss.Simulation(massless, "springs")


# ---- back to the start ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["none", "exact", "lcp"])
def test_after_a_reset_the_run_is_the_same_bit_for_bit(method: str) -> None:
    sim = ss.Simulation(crate_on_floor(2.0, height=0.05, tilt=0.2), method, 2e-3)
    sim.bodies["crate"].set_velocity((9, 9, 9))  # not the scene's
    sim.apply_force("crate", (1, 2, 3))
    sim.bodies["crate"].push((3, 2, 1))
    sim.step(100)
    sim.reset()
    fresh = ss.Simulation(crate_on_floor(2.0, height=0.05, tilt=0.2), method, 2e-3)
    assert sim.time == 0.0 and sim.report == fresh.report
    for _ in range(3):
        sim.step(50), fresh.step(50)
        np.testing.assert_array_equal(sim.q, fresh.q)
        np.testing.assert_array_equal(sim.v, fresh.v)
        assert [contact.id for contact in sim.contacts] == [contact.id for contact in fresh.contacts]


def test_a_reset_brings_back_scripts_sensors_and_commands() -> None:
    scene = everything()
    scene.add_force_sensor("pin", "arm0")
    sim, fresh = simulate(scene), simulate(scene)
    sim.actuators["arm2"].target = -0.5
    sim.step(60)
    sim.reset()
    assert not sim.sensors["pin"].force.any() and sim.actuators["arm2"].target == 0.3
    sim.step(40), fresh.step(40)
    np.testing.assert_array_equal(sim.q, fresh.q)
    np.testing.assert_array_equal(sim.sensors["pin"].force, fresh.sensors["pin"].force)


def test_a_reset_after_a_divergence() -> None:
    scene = pendulum(stiffness=1e9, implicit=False)
    sim = simulate(scene, "euler")
    sim.set_state(q=[1.0])
    with pytest.raises(ss.SimulationDiverged):
        sim.step(100000)
    sim.reset()
    assert sim.time == 0.0 and np.isfinite(sim.q).all()


@pytest.mark.parametrize("placed", [{}, {"position": (1, 2, 0.9), "rotation": (0, 0, 0, 1)}])
def test_a_reset_into_a_pose_is_a_start_in_it(placed: dict[str, Any]) -> None:
    def loaded(**options: Any) -> ss.Simulation:
        scene = ss.Scene()
        scene.add_ground()
        scene.load(ss.robots.path("humanoid_small.xml"), name="one", **placed, **options)
        return simulate(scene)

    stand, sim = loaded(pose="stand"), loaded()
    sim.step(20)
    sim.reset(pose="stand")
    np.testing.assert_allclose(sim.q, stand.q, atol=1e-15)
    np.testing.assert_array_equal(sim.actuator_command, stand.actuator_command)
    with pytest.raises(ss.SceneError, match="no such pose.*did you mean 'stand'"):
        sim.reset(pose="stnad")
    joint = sim.scene.robots["one"].joints[3]
    sim.reset(pose={joint: 0.05})
    assert sim.joints[joint].position == 0.05
    with pytest.raises(ss.SceneError, match="no such joint"):
        sim.reset(pose={"nothing": 0.0})
    with pytest.raises(ss.SceneError, match="a pose is a name"):
        sim.reset(pose=3)  # type: ignore[arg-type]


# ---- shapes ---------------------------------------------------------------------------------------------------------


def test_the_hull_of_points(rng: np.random.Generator) -> None:
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 2) for z in (0, 3)], dtype=float)
    shape = ss.ConvexMesh.hull([*corners, *rng.uniform(0.1, 0.9, (20, 3))])
    assert sorted(map(tuple, shape.vertices)) == sorted(map(tuple, corners)) and len(shape.faces) == 12
    with pytest.raises(ss.SceneError, match="in a plane"):
        ss.ConvexMesh.hull(corners[:4])
    with pytest.raises(ss.SceneError, match="at least four points"):
        ss.ConvexMesh.hull(corners[:3])


def test_every_shape_takes_a_category_and_a_mask() -> None:
    scene = ss.Scene()
    bits = {"category": 2, "mask": 4}
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]
    made = [scene.add_ground(**bits), scene.add_box("box", size=(1, 1, 1), mass=1.0, **bits),
            scene.add_sphere("sphere", radius=1.0, mass=1.0, **bits),
            scene.add_capsule("capsule", radius=1.0, length=1.0, mass=1.0, **bits),
            scene.add_cylinder("cylinder", radius=1.0, length=1.0, mass=1.0, **bits),
            scene.add_convex("convex", points, mass=1.0, **bits),
            scene.add_mesh("mesh", points, faces=faces, mass=1.0, **bits)]
    for body in made:
        assert (body.geometries[0].category, body.geometries[0].mask) == (2, 4), body.name
    assert len(compile_scene(scene).model.allowed_pair) == 0
    with pytest.raises(ss.SceneError, match="mask must be an integer"):
        scene.add_sphere("other", radius=1.0, mass=1.0, mask="all")


def test_a_ball_falls_through_a_floor_that_its_mask_leaves_out() -> None:
    scene = turntable()
    scene.add_ground(height=-1.0, category=2, mask=0)
    scene.add_sphere("through", radius=0.1, mass=1.0, position=(5, 0, -0.9), mask=1)
    scene.add_sphere("upon", radius=0.1, mass=1.0, position=(6, 0, -0.9))
    sim = ss.Simulation(scene, "exact", 2e-3)
    sim.step(200)
    assert sim.bodies["through"].position[2] < -1.5 and sim.bodies["upon"].position[2] == pytest.approx(-0.9, abs=1e-6)
