"""Spatial tendons: cords through space, over pulleys and round shapes, in every method."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sesshoku as ss

G = 9.8
ROW_METHODS = ("none", "exact", "lcp:recommended", "multipoint:recommended", "volume:recommended")
METHODS = (*ROW_METHODS, "implicit:recommended", "springs:recommended")


def bob(length: float = 0.5, **tendon: Any) -> ss.Scene:
    """A free ball of 0.3 kg that hangs on a cord from a hook, 1 m up."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_frame("hook", position=(0, 0, 1))
    scene.add_sphere("ball", radius=0.02, mass=0.3, position=(0, 0, 1 - length))
    scene.add_tendon("cord", path=["hook", {"body": "ball", "position": (0, 0, 0)}], **tendon)
    return scene


def sliders(*masses: float) -> ss.Scene:
    """Masses that slide up and down side by side under a beam."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_body("beam", fixed=True, position=(0, 0, 2))
    for n, mass in enumerate(masses):
        scene.add_body(f"m{n}", parent="beam", position=(0.2 * n, 0, -1), joint=ss.Joint("prismatic", axis=(0, 0, 1)),
                       inertial=ss.Inertial(mass, (0, 0, 0), 1e-3 * np.eye(3)))
    return scene


@pytest.mark.parametrize("method", ROW_METHODS)
def test_a_ball_on_a_cord_swings_as_a_pendulum(method: str) -> None:
    """Thrown at 0.5 m/s: small swings of period 2 pi sqrt(l/g), at the length of the cord, m g + m v^2/l in it."""
    dt, length = 1e-3, 0.5
    scene = bob(length, upper=length)
    scene.bodies["ball"].velocity = np.array([0.5, 0, 0])
    sim = ss.Simulation(scene, method, dt=dt)
    x, far, tension = [], 0.0, 0.0
    for n in range(800):
        sim.step()
        place = sim.bodies["ball"].position - (0, 0, 1)
        far = max(far, np.linalg.norm(place) - length)
        x.append(place[0])
        if n == 20:
            tension = -sim.data.tendon_impulse[0, 0] / dt
    assert far < 2e-4
    assert tension == pytest.approx(0.3 * (G + 0.25 / length), rel=0.02)
    crossing = np.flatnonzero(np.diff(np.sign(x)))[:1] + 1
    assert crossing[0] * dt == pytest.approx(np.pi * np.sqrt(length / G) * (1 + (0.5**2 / (G * length)) / 16), rel=5e-3)


@pytest.mark.parametrize("method", ROW_METHODS)
def test_a_slack_cord_does_nothing_and_a_taut_one_holds(method: str) -> None:
    """Dropped 0.2 m below the hook on 0.5 m of cord: it falls freely, and then hangs."""
    sim = ss.Simulation(bob(0.2, upper=0.5), method, dt=1e-3)
    sim.step(200)
    assert sim.bodies["ball"].position[2] == pytest.approx(0.8 - 0.5 * G * 0.04, abs=2e-3)
    sim.step(400)
    assert sim.bodies["ball"].position[2] == pytest.approx(0.5, abs=1e-4)
    assert np.abs(sim.v).max() < 1e-3


@pytest.mark.parametrize("method", ROW_METHODS)
def test_a_block_and_tackle(method: str) -> None:
    """A cord from the beam down to a load and up (half counts), over the beam and down to a weight.

    l = z0 + z1/2 in depths below the beam, held: weight 0.5 kg, load 3 kg. a_1 = -2 a_0, tension t in the cord:
    0.5 g - t = 0.5 a_0, 3 g - t/2 = 3 a_1.
    """
    scene = sliders(0.5, 3.0)
    beam = {"body": "beam"}
    scene.add_tendon("t", lower=1.5, upper=1.5, path=[
        beam, {"body": "m0"}, {"kind": "pulley", "divisor": 2.0}, beam | {"position": (0.2, 0, 0)}, {"body": "m1"}])
    sim = ss.Simulation(scene, method, dt=1e-3)
    sim.step(100)
    a = np.array([0.5, 3.0])
    arms = np.array([1.0, 0.5])
    tension = arms.sum() * G / (arms**2 / a).sum()
    np.testing.assert_allclose(sim.v / 0.1, -G + arms * tension / a, rtol=1e-6)


@pytest.mark.parametrize("method", ROW_METHODS)
def test_a_scripted_body_lifts_a_load(method: str) -> None:
    """A hoist that rises at 0.3 m/s on a cord of 0.5 m takes the load along."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_body("hoist", kinematic=True, position=(0, 0, 1), velocity=(0, 0, 0.3))
    scene.add_sphere("load", radius=0.02, mass=0.3, position=(0, 0, 0.5))
    scene.add_tendon("cord", path=[{"body": "hoist"}, {"body": "load"}], upper=0.5)
    sim = ss.Simulation(scene, method, dt=1e-3)
    sim.step(300)
    assert sim.bodies["load"].velocity[2] == pytest.approx(0.3, abs=1e-6)
    assert sim.bodies["load"].position[2] == pytest.approx(0.5 + 0.09, abs=1e-3)


@pytest.mark.parametrize("method", ROW_METHODS)
def test_friction_along_a_cord(method: str) -> None:
    """4.9 N of weight: friction of 6 N holds it, of 2 N leaves 5.8 m/s^2."""
    for friction, rate in ((6.0, 0.0), (2.0, -(0.5 * G - 2.0) / 0.5)):
        scene = sliders(0.5)
        scene.add_tendon("t", path=[{"body": "beam"}, {"body": "m0"}], friction=friction)
        sim = ss.Simulation(scene, method, dt=1e-3)
        sim.step(100)
        assert sim.v[0] == pytest.approx(0.1 * rate, abs=1e-6)


def swing() -> ss.Scene:
    """A double pendulum and a free ball, tied by an elastic cord that runs round a drum on the first arm."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_body("wall", fixed=True, position=(0, 0, 1))
    arm = ss.Inertial(0.5, (0.15, 0, 0), np.diag([1e-4, 4e-3, 4e-3]))
    scene.add_body("upper", parent="wall", joint=ss.Joint("revolute", axis=(0, 1, 0)), inertial=arm)
    scene.add_body("lower", parent="upper", position=(0.3, 0, 0), joint=ss.Joint("revolute", axis=(0, 1, 0.2)),
                   inertial=arm)
    scene.add_sphere("ball", radius=0.03, mass=0.4, position=(0.5, 0.1, 0.6))
    scene.add_tendon("cord", stiffness=40.0, rest=0.3, path=[
        {"body": "wall", "position": (0, 0.02, 0.2)},
        {"kind": "cylinder", "body": "upper", "position": (0.15, 0, 0), "rotation": (np.sqrt(0.5), np.sqrt(0.5), 0, 0),
         "radius": 0.04, "side": (0.15, 0, 0.3), "side_body": "upper"},
        {"body": "lower", "position": (0.2, 0, 0)}, {"kind": "pulley", "divisor": 2.0},
        {"body": "lower", "position": (0.3, 0, 0)}, {"body": "ball", "position": (0, 0, 0.03)}])
    scene.add_sensor("length", "tendonpos", of="cord")
    scene.add_sensor("rate", "tendonvel", of="cord")
    return scene


def energy(sim: ss.Simulation) -> float:
    stretch = sim.sensors["length"].value - 0.3
    return float(sim.energy.total + 20.0 * stretch * stretch)


@pytest.mark.parametrize(("method", "most"), [("exact", 0.05), (ss.methods.none(integrator="rk4"), 1e-5)])
def test_an_elastic_cord_keeps_energy(method: Any, most: float) -> None:
    """What it errs in half a second falls with the step; where the cord meets the drum its force has a kink."""
    errors = []
    for dt in (1e-3, 5e-4):
        sim = ss.Simulation(swing(), method, dt=dt)
        start, worst = energy(sim), 0.0
        for _ in range(50):
            sim.step(round(0.01 / dt))
            worst = max(worst, abs(energy(sim) - start))
        errors.append(worst)
    assert errors[0] < most and errors[1] < 0.65 * errors[0]


def test_sensors_read_length_and_rate() -> None:
    sim = ss.Simulation(swing(), ss.methods.none(integrator="rk4"), dt=1e-4)
    sim.step(1000)
    before = sim.sensors["length"].value
    rate = sim.sensors["rate"].value
    sim.step()
    after = sim.sensors["length"].value
    assert 0.5 * (rate + sim.sensors["rate"].value) == pytest.approx((after - before) / 1e-4, abs=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_a_stiff_servo_along_a_cord_is_stable_and_holds(method: str) -> None:
    """kp 1e5 N/m and kd 1e3 on half a kilogram at 2 ms: the load is pulled up to 0.9 m of cord and hangs there."""
    scene = sliders(0.5)
    scene.add_tendon("t", path=[{"body": "beam"}, {"body": "m0"}])
    scene.add_actuator(tendon="t", kind="position", kp=1e5, kd=1e3, target=0.9)
    sim = ss.Simulation(scene, method, dt=2e-3)
    sim.step(500)
    assert sim.q[0] == pytest.approx(0.1 - 0.5 * G / 1e5, abs=1e-6)
    assert abs(sim.v[0]) < 1e-6


@pytest.mark.parametrize("method", METHODS)
def test_a_motor_pulls_a_free_body(method: str) -> None:
    """A motor of -6 N on the cord of a ball of 0.3 kg: 20 m/s^2 towards the hook, 9.8 back."""
    scene = bob(0.5)
    scene.add_actuator(tendon="cord", name="winch", target=-6.0)
    sim = ss.Simulation(scene, method, dt=1e-4)
    sim.step(1000)
    assert sim.bodies["ball"].velocity[2] == pytest.approx(0.1 * (20.0 - G), rel=1e-5)


def test_methods_without_rows_of_tendons_say_so_and_leave_the_pose_alone() -> None:
    for method in ("implicit", "springs"):
        with pytest.warns(ss.UnsupportedFeature, match="tendon 'cord'"):
            sim = ss.Simulation(bob(upper=0.5), method, dt=1e-3)
        sim.step(100)
        assert sim.bodies["ball"].position[2] == pytest.approx(0.5 - 0.5 * G * 0.01, abs=6e-4)


def test_a_batch_moves_as_its_worlds(tmp_path: Path) -> None:
    batch, sim = ss.Batch(swing(), 3, "exact", dt=1e-3), ss.Simulation(swing(), "exact", dt=1e-3)
    batch.step(50)
    sim.step(50)
    for world in range(3):
        np.testing.assert_array_equal(batch.q[world], sim.q)
    np.testing.assert_allclose(batch.sensors["length"].value, sim.sensors["length"].value)


def test_states_hold_what_cords_did() -> None:
    scene = bob(0.2, upper=0.5)
    sim = ss.Simulation(scene, "exact", dt=1e-3)
    sim.step(250)
    kept = sim.save()
    sim.step(50)
    after = sim.q.copy()
    sim.restore(kept)
    sim.step(50)
    np.testing.assert_array_equal(sim.q, after)


def test_scene_files_keep_them(tmp_path: Path) -> None:
    scene = swing()
    scene.save(tmp_path / "scene.toml")
    again = ss.Scene.read(tmp_path / "scene.toml")
    assert again.tendons == scene.tendons
    sims = [ss.Simulation(made, "none", dt=1e-3) for made in (scene, again)]
    for sim in sims:
        sim.step(20)
    np.testing.assert_array_equal(sims[0].q, sims[1].q)


@pytest.mark.filterwarnings("ignore::sesshoku.UnsupportedFeature")
def test_mjcf_keeps_them(tmp_path: Path) -> None:
    scene = swing()
    (tmp_path / "scene.xml").write_text(scene.to_mjcf())
    again = ss.Scene()
    again.load(tmp_path / "scene.xml", pose="start", name="copy")
    sims = [ss.Simulation(made, "none", dt=1e-3) for made in (scene, again)]
    for sim in sims:
        sim.step(50)
    np.testing.assert_allclose(sims[1].joints["copy/lower"].position, sims[0].joints["lower"].position, rtol=1e-9)
    np.testing.assert_allclose(sims[1].bodies["copy/ball"].position, sims[0].bodies["ball"].position, rtol=1e-9)
    assert sims[1].sensors["copy/length"].value == pytest.approx(sims[0].sensors["length"].value, rel=1e-9)


ARM = """<mujoco><worldbody><site name="w" pos="0 0 1"/><body name="b">
<joint name="j" axis="0 1 0"/><geom size=".1"/><site name="s" pos=".3 0 0"/></body></worldbody><tendon>
<spatial name="t"><site site="w"/><site site="s"/></spatial></tendon><actuator>
<position name="p" tendon="t" kp="5"/></actuator><sensor><tendonpos name="l" tendon="t"/></sensor>
<keyframe><key name="k" qpos="0.5"/></keyframe></mujoco>"""


def test_places_of_the_world_go_where_the_file_is_placed(tmp_path: Path) -> None:
    (tmp_path / "arm.xml").write_text(ARM)
    scene = ss.Scene()
    scene.load(tmp_path / "arm.xml", name="moved", position=(1, 2, 3), rotation=(0.6, 0, 0.8, 0))
    assert ss.Simulation(scene, "none").sensors["moved/l"].value == pytest.approx(np.hypot(1, 0.3), rel=1e-12)


def test_a_key_without_commands_holds_the_length_of_its_pose(tmp_path: Path) -> None:
    (tmp_path / "arm.xml").write_text(ARM)
    scene = ss.Scene()
    scene.load(tmp_path / "arm.xml", pose="k")
    tip = 0.3 * np.array([np.cos(0.5), 0, -np.sin(0.5)])
    assert scene.actuators["p"].target == pytest.approx(np.linalg.norm(tip - (0, 0, 1)), rel=1e-12)


@pytest.mark.parametrize(("path", "message"), [
    ([{"body": "ball"}], "two sites at least"), ("hook", "path is not a list"), (["hok", "hook"], "no such frame"),
    ([{"body": "bal"}, "hook"], "no such body"), ([{"bodi": "ball"}, "hook"], "unknown key"),
    ([{"kind": "ring"}, "hook"], "unknown kind of place"), (["hook", {"kind": "sphere", "radius": 0.1}, "hook",
                                                             {"kind": "sphere", "radius": 0.1}], "between two sites"),
    (["hook", {"kind": "sphere"}, {"body": "ball"}], "radius must be greater"),
    (["hook", {"kind": "pulley", "divisor": 0.0}, {"body": "ball"}], "divisor must be greater"),
    (["hook", {"body": "ball"}, {"kind": "pulley"}], "a pulley begins a branch"),
    (["hook", {"body": "ball", "side": (0, 0, 1)}], "only a sphere or cylinder has a side"),
    (["hook", {"body": "ball", "position": (0, 0)}], "position needs 3 numbers"), ([3, 4], "no place of a path"),
])
def test_paths_that_are_refused(path: Any, message: str) -> None:
    with pytest.raises(ss.SceneError, match=message):
        bob().add_tendon("t", path=path)
    with pytest.raises(ss.SceneError, match="joints or a path, not both"):
        ss.Tendon("t", {"j": 1.0}, path=[{}, {"body": "ball"}])
