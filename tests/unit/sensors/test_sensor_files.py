"""Sensors in files: MJCF both ways, scene files, the shipped humanoids, recordings."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import sesshoku as ss
from sesshoku import robots
from sesshoku.recording.channels import Channel
from sesshoku.recording.recording import Recording
from sesshoku.recording.stream import Store
from sesshoku.scene.io.spec import load_robot

MJCF = """<mujoco><worldbody>
  <site name="floor"/>
  <body name="a" pos="0 0 1"><freejoint/><geom size="0.1"/>
    <body name="b" pos="0.3 0 0"><joint type="hinge" axis="0 1 0"/><geom size="0.1"/>
      <site name="wrist" pos="0 0 0.1" quat="1 1 0 0"/><site name="mark"/></body></body></worldbody>
  <sensor><force site="wrist" noise="0.2"/><torque site="wrist"/><gyro name="spin" site="wrist" cutoff="3"/>
    <framepos name="where" objtype="site" objname="mark"/><accelerometer name="ground" site="floor"/></sensor>
</mujoco>"""


def test_mjcf_sensors_are_read(tmp_path: Path) -> None:
    (tmp_path / "m.xml").write_text(MJCF)
    made = load_robot(tmp_path / "m.xml")
    force, imu = made.sensors
    assert isinstance(force, ss.ForceSensor) and isinstance(imu, ss.Imu)
    assert (force.name, force.body, force.force_noise, force.torque_noise) == ("wrist", "b", 0.2, 0.0)
    assert (imu.name, imu.body) == ("wrist_2", "b")
    np.testing.assert_allclose(force.position, [0, 0, 0.1])
    np.testing.assert_allclose(force.rotation, np.array([1, 1, 0, 0]) / np.sqrt(2))
    assert made.unsupported == []
    assert {sensor.name: (sensor.kind, sensor.of, sensor.body, sensor.cutoff) for sensor in made.state_sensors} == {
        "spin": ("gyro", "wrist_2", None, 3.0), "where": ("framepos", None, "b", 0.0),
        "ground": ("accelerometer", None, None, 0.0)}
    assert [frame.name for frame in made.frames] == ["floor", "wrist", "mark"]


def measured_scene() -> ss.Scene:
    scene = ss.Scene(name="measured")
    scene.add_body("arm", joint=ss.Joint("revolute", "hinge", axis=(0, 1, 0)),
                   inertial=ss.Inertial(1.0, (0, 0, -0.5), 0.1 * np.eye(3)))
    scene.add_force_sensor("grip", joint="hinge", position=(0, 0, -0.2), force_noise=0.1, torque_noise=0.2)
    scene.add_imu("tip", "arm", position=(0, 0, -1), rotation=(0, 1, 0, 0), gyro_noise=0.01)
    return scene


def test_mjcf_round_trip(tmp_path: Path) -> None:
    scene = measured_scene()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (tmp_path / "m.xml").write_text(scene.to_mjcf())
        again = ss.Scene()
        robot = again.load(tmp_path / "m.xml", name="r")
    assert robot.sensors == ["r/grip", "r/tip"]
    for name, sensor in scene.sensors.items():
        other = again.sensors[f"r/{name}"]
        assert type(other) is type(sensor) and other.body == f"r/{sensor.body}"
        for key, value in vars(sensor).items():
            if key not in ("name", "body"):
                np.testing.assert_allclose(getattr(other, key), value)


def test_what_mjcf_cannot_say_is_listed() -> None:
    scene = measured_scene()
    scene.sensors["grip"].force_bias = np.array([1.0, 0, 0])
    scene.sensors["tip"].seed = 4
    with pytest.warns(ss.UnsupportedFeature, match="(?s)bias of sensors: 'grip'.*seeds of sensors: 'tip'"):
        scene.to_mjcf()


def test_scene_file_round_trip(tmp_path: Path) -> None:
    scene = measured_scene()
    scene.sensors["grip"].force_bias = np.array([1.0, 0, 0])
    scene.sensors["tip"].seed = 4
    scene.save(tmp_path / "s.toml")
    again = ss.Scene.read(tmp_path / "s.toml")
    assert list(again.sensors) == list(scene.sensors)
    for name, sensor in scene.sensors.items():
        for key, value in vars(sensor).items():
            np.testing.assert_array_equal(getattr(again.sensors[name], key), value)


def test_scene_files_take_joint_and_roll_pitch_yaw(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text("""
[[body]]
name = "arm"
mass = 1
inertia = [1, 1, 1]
joint = { kind = "revolute", name = "hinge", anchor = [0, 0, 0.5] }
[[force_sensor]]
name = "grip"
joint = "hinge"
roll_pitch_yaw = [3.141592653589793, 0, 0]
""")
    sensor = ss.Scene.read(tmp_path / "s.toml").sensors["grip"]
    np.testing.assert_allclose(sensor.position, [0, 0, 0.5])  # the joint's anchor
    np.testing.assert_allclose(np.abs(sensor.rotation), [0, 1, 0, 0], atol=1e-12)
    (tmp_path / "s.toml").write_text("[[imu]]\nname = \"i\"\nbody = \"arm\"\n")
    with pytest.raises(ss.SceneError, match="line 3.*imu.*no such body"):
        ss.Scene.read(tmp_path / "s.toml")


@pytest.mark.parametrize("kind", ["small", "large", "large_bush"])
def test_humanoids_have_ankle_sensors_and_an_imu(kind: str) -> None:
    made = load_robot(robots.path(f"humanoid_{kind}.xml"))
    assert [(sensor.name, sensor.body, type(sensor).__name__) for sensor in made.sensors] == [
        ("trunk", "torso" if kind == "small" else "pelvis", "Imu"), ("left_ankle", "left_foot", "ForceSensor"),
        ("right_ankle", "right_foot", "ForceSensor")] or \
        sorted(sensor.name for sensor in made.sensors) == ["left_ankle", "right_ankle", "trunk"]
    assert not any("sensor" in item or "site" in item for item in made.unsupported)


def test_recordings_hold_sensors(tmp_path: Path) -> None:
    sim = ss.Simulation(measured_scene(), "none")
    forces = []

    def controller(sim: ss.Simulation) -> None:
        forces.append(np.concatenate([sim.sensors["grip"].force, sim.sensors["grip"].torque]))

    recording = sim.run(0.02, controller)
    assert {"force_sensors", "imus"} <= set(recording.channels)
    np.testing.assert_array_equal(recording["force_sensors", "grip"][:-1], forces)
    assert recording.channels["imus"].columns[0] == "tip ax" and recording.channels["imus"].units[3] == "rad/s"
    assert recording.meta["sensors"] == ["grip", "tip"]
    for suffix in (".npz", ".ssk"):
        again = ss.Recording.load(recording.save(tmp_path / f"r{suffix}"))
        np.testing.assert_array_equal(again["force_sensors", "grip", "fz"], recording["force_sensors", "grip", "fz"])
    head = recording.save(tmp_path / "r.csv").read_text().splitlines()[0]
    assert "force_sensors grip fx [N]" in head and "imus tip wz [rad/s]" in head
    recording.plot(["force_sensors", "imus"], tmp_path / "r.png")
    bare = ss.Scene()
    bare.add_box("box", size=(1, 1, 1), mass=1.0)
    assert not {"force_sensors", "imus"} & set(ss.Simulation(bare, "none").run(0.002).channels)


def test_recordings_hold_the_torque_of_contacts() -> None:
    scene = ss.Scene()
    rubber = ss.Material(0.8, torsional_friction=0.02, rolling_friction=0.01)
    scene.add_ground(material=rubber)
    scene.add_sphere("ball", radius=0.1, mass=1.0, position=(0, 0, 0.1), angular_velocity=(0, 0, 20), material=rubber)
    recording = ss.Simulation(scene, "exact").run(0.05, record=["contacts", "contact_wrenches"])
    assert recording["contacts", "ball", "torque"][-1] == pytest.approx(0.02 * 9.8, rel=1e-6)
    assert recording.channels["contacts"].units[-1] == "N m"
    wrench = recording["contact_wrenches", "ball"][-1]
    assert wrench == pytest.approx([0, 0, 9.8, 0, 0, -0.02 * 9.8], abs=1e-6)


def test_recordings_without_torque_still_load_and_plot(tmp_path: Path) -> None:
    """As versions before the torque wrote them: six numbers a body."""
    parts = ("normal", "friction", "limit", "slip_speed", "sticking", "slipping")
    channel = Channel("contacts", (2, 6), (("a", "b"), parts), ("N", "N", "N", "m/s", "", "") * 2)
    store = Store([1, 12])
    values = np.zeros((5, 12))
    values[:, 6:] = [3.0, 1.0, 1.5, 0.2, 0, 1]
    store.keep([np.arange(5.0), values])
    old = Recording(store, {"contacts": channel}, {"scene": "old", "dt": 1.0, "bodies": ["a", "b"]})
    for suffix in (".ssk", ".npz"):
        again = Recording.load(old.save(tmp_path / f"old{suffix}"))
        np.testing.assert_array_equal(again["contacts", "b", "normal"], np.full(5, 3.0))
        figure = again.plot("contacts", tmp_path / "old.png")
        assert "contact forces of b" in figure.axes[0].get_title(loc="left")
