"""State sensors: readings by name, zones of touch, names, files and refusals. (Against MuJoCo: tests/peer.)"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import sesshoku as ss
from mjcf_files import write
from sesshoku.scene.elements.state_sensors import KINDS, StateSensor
from sesshoku.simulation.sensors.state import READ
from sesshoku.simulation.sensors.zones import inside, ray_hits
from sesshoku.spatial.rotation import axis_angle
from support import sample_count

ZONES = {"sphere": mujoco.mjtGeom.mjGEOM_SPHERE, "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE,
         "ellipsoid": mujoco.mjtGeom.mjGEOM_ELLIPSOID, "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
         "box": mujoco.mjtGeom.mjGEOM_BOX}


def test_every_kind_is_read() -> None:
    assert set(READ) == set(KINDS)


@pytest.mark.parametrize("zone", ZONES)
def test_rays_meet_zones_as_mujoco_says(zone: str, rng: np.random.Generator) -> None:
    hits = 0
    for _ in range(sample_count(400, 20000)):
        size = rng.uniform(0.2, 1.0, 3)
        start, along = rng.normal(size=3), rng.normal(size=3)
        along /= np.linalg.norm(along)
        if rng.uniform() < 0.1:
            along = np.eye(3)[rng.integers(3)] * rng.choice([-1.0, 1.0])
        far = mujoco.mju_rayGeom(np.zeros(3), np.eye(3).ravel(), size, start, along, ZONES[zone], None)
        assert ray_hits(zone, size, start, along) == (far >= 0.0)
        hits += far >= 0.0
    assert 20 < hits < sample_count(400, 20000) - 20


@pytest.mark.parametrize("zone", ZONES)
def test_points_inside_see_the_zone_all_around(zone: str, rng: np.random.Generator) -> None:
    """A point is inside a convex zone if and only if the rays both ways along any line meet it."""
    found = 0
    for _ in range(300):
        size, point, along = rng.uniform(0.3, 1.0, 3), rng.normal(size=3) * 0.6, rng.normal(size=3)
        both = [mujoco.mju_rayGeom(np.zeros(3), np.eye(3).ravel(), size, point, d, ZONES[zone], None) >= 0.0
                for d in (along, -along)]
        assert inside(zone, size, point) == all(both)
        found += all(both)
    assert 10 < found < 290


PRESSED = """<worldbody><geom name="floor" type="plane" size="1 1 1"/>
  <body name="plate" pos="0 0 0.1"><freejoint/><geom type="box" size="0.3 0.1 0.1" mass="2"/>
    <site name="left" type="box" size="0.1 0.2 0.02" pos="-0.3 0 -0.1"/>
    <site name="right" type="sphere" size="0.25" pos="0.3 0 -0.1"/>
    <site name="above" type="box" size="0.5 0.5 0.01" pos="0 0 0.3"/>
    <site name="below" type="box" size="0.5 0.5 0.01" pos="0 0 -0.3"/></body></worldbody>
<sensor><touch name="l" site="left"/><touch name="r" site="right"/><touch name="a" site="above"/>
  <touch name="b" site="below"/><touch name="most" site="left" cutoff="3"/></sensor>"""


def test_touch_is_the_weight_on_the_zone(tmp_path: Path) -> None:
    """A plate at rest: each end carries half its weight; a contact sees what is straight below it, not above."""
    path = write(tmp_path, PRESSED)
    scene = ss.Scene()
    scene.load(path)
    sim = ss.Simulation(scene)
    assert sim.sensors["l"].value == 0.0
    sim.step(200)
    weight = 2 * 9.81
    assert sim.sensors["l"].value == pytest.approx(weight / 2, rel=1e-6)
    assert sim.sensors["r"].value == pytest.approx(weight / 2, rel=1e-6)
    assert sim.sensors["b"].value == pytest.approx(weight, rel=1e-6) and sim.sensors["a"].value == 0.0
    assert sim.sensors["most"].value == 3.0
    own = [contact for contact in sim.contacts if contact.point[0] < 0]
    assert sim.sensors["l"].value == pytest.approx(sum(contact.normal_force for contact in own))
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    for _ in range(2000):
        mujoco.mj_step(model, data)
    for name in ("l", "r", "a", "b", "most"):
        assert data.sensor(name).data[0] == pytest.approx(sim.sensors[name].value, rel=1e-3)


ARM = """<worldbody><site name="post" pos="1 0 0"/>
  <body name="arm"><joint name="j" axis="0 1 0"/><geom type="capsule" size="0.05 0.2" mass="1" pos="0.2 0 0"/>
    <site name="wrist" pos="0.4 0 0"/></body></worldbody>
<sensor><force name="load" site="wrist" cutoff="2"/><gyro name="spin" site="wrist"/><gyro site="wrist" noise="0.1"/>
  <torque site="wrist"/><jointpos name="wrist" joint="j"/><jointpos joint="j"/>
  <framepos name="seen" objtype="site" objname="wrist" reftype="site" refname="post"/>
  <rangefinder name="far" site="wrist"/><framepos name="noisy" objtype="site" objname="wrist" noise="0.1"/></sensor>"""


def test_names_of_a_file(tmp_path: Path) -> None:
    """Mounted sensors have their site's name and are read by their own names too; clashes get a number."""
    scene = ss.Scene()
    robot = scene.load(write(tmp_path, ARM), name="r", position=(0, 0, 2))
    assert list(scene.sensors) == ["r/wrist", "r/wrist_2"]
    assert {name: sensor.kind for name, sensor in scene.state_sensors.items()} == {
        "r/load": "force", "r/spin": "gyro", "r/wrist_3": "jointpos", "r/jointpos5": "jointpos", "r/seen": "framepos",
        "r/noisy": "framepos"}
    assert robot.sensors == [*scene.sensors, *scene.state_sensors]
    assert [str(item) for item in scene.unsupported] == [
        "robot.xml: sensor 'far': the kind rangefinder is not known here", "robot.xml: noise of sensor 'noisy'"]
    sim = ss.Simulation(scene, "none")
    np.testing.assert_allclose(sim.sensors["r/seen"].value, [-0.6, 0, 0], atol=1e-12)  # the post moved with the file
    sim.step(20)
    assert list(sim.sensors) == robot.sensors
    mounted = sim.sensors["r/wrist"]
    np.testing.assert_array_equal(mounted.value, [*mounted.force, *mounted.torque])
    np.testing.assert_array_equal(sim.sensors["r/load"].value, np.clip(mounted.force, -2, 2))
    assert np.abs(mounted.force).max() > 2
    imu = sim.sensors["r/wrist_2"]
    np.testing.assert_array_equal(sim.sensors["r/spin"].value, imu.angular_velocity)
    assert imu.value.shape == (6,) and sim.sensors["r/jointpos5"].value == sim.joints["r/j"].position
    assert "jointpos" in repr(sim.sensors["r/wrist_3"])


def built() -> ss.Scene:
    scene = ss.Scene()
    scene.add_box("crate", size=(1, 1, 1), mass=2.0, position=(0, 0, 3), velocity=(1, 0, 0))
    scene.add_body("arm", joint=ss.Joint("revolute", "hinge", axis=(0, 1, 0)),
                   inertial=ss.Inertial(1.0, (0, 0, -0.5), 0.1 * np.eye(3)))
    scene.add_actuator("hinge", "position", kp=10.0, gear=2.0, name="servo")
    scene.add_imu("imu", "arm")
    scene.add_sensor("angle", "jointpos", "hinge", cutoff=1.0)
    scene.add_sensor("length", "actuatorpos", "servo", scale=2.0)
    scene.add_sensor("corner", "framepos", body="crate", position=(0.5, 0, 0), rotation=axis_angle((0, 0, 1), 1.0),
                     relative=True, reference="arm", reference_position=(0, 0, 1))
    scene.add_sensor("pad", "touch", body="crate", position=(0, 0, -0.5), zone="box", zone_size=(0.5, 0.5, 0.01))
    scene.add_sensor("turn", "gyro", "imu")
    scene.add_sensor("push", "framelinacc", body="crate")
    scene.add_sensor("time", "clock")
    scene.add_sensor("all", "subtreecom")
    return scene


def test_sensors_made_in_python() -> None:
    sim = ss.Simulation(built(), "none", dt=1e-3)
    np.testing.assert_allclose(sim.sensors["corner"].value, [0.5, 0, 2], atol=1e-12)
    np.testing.assert_allclose(sim.sensors["all"].value, [0, 0, (6 - 0.5) / 3], atol=1e-12)
    sim.apply_force("crate", (4, 0, 0))
    sim.step()
    np.testing.assert_allclose(sim.sensors["push"].value, [2, 0, 0], atol=1e-9)  # free fall, and a push of 2 m/s^2
    assert sim.sensors["time"].value == sim.time == 1e-3
    snapshot = sim.save()
    sim.step(5)
    sim.restore(snapshot)
    np.testing.assert_allclose(sim.sensors["push"].value, [2, 0, 0], atol=1e-9)
    sim.joints["hinge"].position = 1.5
    assert sim.sensors["angle"].value == 1.0 and sim.sensors["length"].value == 3.0


def test_scene_files_keep_them(tmp_path: Path) -> None:
    scene = built()
    scene.save(tmp_path / "scene.toml")
    again = ss.Scene.read(tmp_path / "scene.toml")
    assert list(again.state_sensors) == list(scene.state_sensors)
    for name, sensor in scene.state_sensors.items():
        for key, value in vars(sensor).items():
            np.testing.assert_array_equal(getattr(again.state_sensors[name], key), value, err_msg=f"{name} {key}")


def test_what_needs_no_step_costs_none() -> None:
    scene = ss.Scene()
    scene.add_box("crate", size=(1, 1, 1), mass=2.0)
    scene.add_sensor("where", "framepos", body="crate")
    assert ss.Simulation(scene, "none")._sensing is None


BAD: list[tuple[dict[str, Any], str]] = [
    ({"kind": "jointpos"}, "needs the joint it reads"), ({"kind": "smell"}, "unknown kind of sensor"),
    ({"kind": "jointpos", "of": "imu"}, "no such joint"), ({"kind": "ballquat", "of": "hinge"}, "kind spherical"),
    ({"kind": "actuatorpos", "of": "x"}, "no such actuator"), ({"kind": "force"}, "needs the mounted sensor"),
    ({"kind": "force", "of": "x"}, "no such mounted sensor"), ({"kind": "framepos", "body": "x"}, "no such body"),
    ({"kind": "framepos", "of": "crate"}, "reads a place"), ({"kind": "clock", "cutoff": -1.0}, "cutoff"),
    ({"kind": "framelinacc", "relative": True}, "has no reference"), ({"kind": "touch", "body": "crate"}, "a zone"),
    ({"kind": "framepos", "zone": "box"}, "a zone"),
]


@pytest.mark.parametrize(("options", "told"), BAD)
def test_bad_sensors_are_refused(options: dict[str, Any], told: str) -> None:
    with pytest.raises(ss.SceneError, match=told):
        built().add_sensor("bad", **options)


def test_names_are_taken_once() -> None:
    for name in ("imu", "angle"):
        with pytest.raises(ss.SceneError, match="the name is taken already"):
            built().add_sensor(name, "clock")
    with pytest.raises(ss.SceneError, match="the name is taken already"):
        built().add_imu("angle", "arm")


def test_sensors_are_checked_again() -> None:
    scene = built()
    scene.state_sensors["angle"].of = "gone"
    with pytest.raises(ss.SceneError, match="no such joint"):
        ss.Simulation(scene, "none")
    scene.state_sensors["angle"] = StateSensor("other", "clock")
    with pytest.raises(ss.SceneError, match="renamed"):
        ss.Simulation(scene, "none")
