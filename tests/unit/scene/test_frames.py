"""Frames and cameras: read from MJCF, kept by files, moved with their bodies; against MuJoCo's sites."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

import sesshoku as ss
from mjcf_files import write
from sesshoku.errors import SceneError
from sesshoku.scene.elements.frames import Camera
from sesshoku.spatial.rotation import axis_angle, quaternion_to_matrix

ROBOT = """<compiler angle="radian"/><worldbody>
  <site name="home" pos="1 2 3" euler="0.1 0.2 0.3"/><camera name="wall" pos="0 -2 1" xyaxes="1 0 0 0 0 1" fovy="50"/>
  <body name="base" pos="0 0 1"><freejoint/><geom size="0.1" pos="0.1 0 0"/>
    <camera name="eye" mode="targetbody" target="hand" resolution="640 480"/>
    <body name="arm" pos="0.2 0 0"><joint name="j" axis="0 1 0" pos="0 0 0.05"/><geom size="0.1"/>
      <body name="hand" pos="0 0.1 0.4" euler="0.3 0 0"><geom size="0.05"/>
        <site name="pinch" pos="0.01 0.02 0.1" quat="0.6 0 0.8 0"/><site pos="0 0 0.2"/></body></body></body>
</worldbody>"""


def moving(path: Path, rng: np.random.Generator) -> tuple[ss.Simulation, mujoco.MjModel, mujoco.MjData]:
    """The robot in a random state, here and in MuJoCo."""
    scene = ss.Scene()
    scene.load(path)
    sim = ss.Simulation(scene, "none")
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_integratePos(model, data.qpos, rng.normal(size=model.nv), 1.0)
    data.qvel[:] = rng.normal(size=model.nv)
    mujoco.mj_forward(model, data)
    base = sim.bodies["base"]
    base.set_pose(data.qpos[:3], data.qpos[3:7])
    R = quaternion_to_matrix(data.qpos[3:7])
    base.set_velocity(data.qvel[:3], R @ data.qvel[3:6])
    sim.joints["j"].position, sim.joints["j"].velocity = data.qpos[7], data.qvel[6]
    return sim, model, data


def test_frames_are_mujocos_sites(tmp_path: Path, rng: np.random.Generator) -> None:
    sim, model, data = moving(write(tmp_path, ROBOT), rng)
    assert list(sim.frames) == ["home", "pinch", "site2"]
    velocity = np.zeros(6)
    for i, view in enumerate(sim.frames.values()):
        np.testing.assert_allclose(view.position, data.site_xpos[i], atol=1e-12)
        np.testing.assert_allclose(view.rotation_matrix, data.site_xmat[i].reshape(3, 3), atol=1e-12)
        np.testing.assert_allclose(quaternion_to_matrix(view.rotation), view.rotation_matrix, atol=1e-12)
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_SITE, i, velocity, 0)
        np.testing.assert_allclose([*view.angular_velocity, *view.velocity], velocity, atol=1e-12)
        np.testing.assert_allclose(view.jacobian() @ sim.v, [*view.velocity, *view.angular_velocity], atol=1e-12)
    assert "pinch" in repr(sim.frames["pinch"])
    with pytest.raises(SceneError, match="did you mean 'pinch'"):
        sim.frames["pinc"]


def test_cameras_are_kept(tmp_path: Path) -> None:
    scene = ss.Scene()
    scene.load(write(tmp_path, ROBOT))
    wall, eye = scene.cameras["wall"], scene.cameras["eye"]
    assert wall.body is None and wall.fovy == pytest.approx(np.deg2rad(50)) and wall.mode == "fixed"
    np.testing.assert_allclose(quaternion_to_matrix(wall.rotation)[:, 2], [0, -1, 0], atol=1e-12)  # it looks along y
    assert (eye.body, eye.mode, eye.target, eye.resolution) == ("base", "targetbody", "hand", (640, 480))
    assert not scene.unsupported


def test_files_keep_both(tmp_path: Path, rng: np.random.Generator) -> None:
    scene = ss.Scene()
    scene.load(write(tmp_path, ROBOT), name="left", position=(0, 0, 1), rotation=axis_angle((0, 0, 1), 0.5 * np.pi))
    assert list(scene.frames) == ["left/home", "left/pinch", "left/site2"]
    # placed as the file's fixed bodies are
    np.testing.assert_allclose(scene.frames["left/home"].position, [-2, 1, 4], atol=1e-12)
    assert scene.cameras["left/eye"].target == "left/hand"
    scene.save(tmp_path / "scene.toml")
    again = ss.Scene.read(tmp_path / "scene.toml")
    (tmp_path / "again.xml").write_text(scene.to_mjcf())
    exported = ss.Scene()
    exported.load(tmp_path / "again.xml")
    assert exported.to_mjcf().count("<site") == 3
    for other in (again, exported):
        assert list(other.frames) == list(scene.frames) and list(other.cameras) == list(scene.cameras)
        for kind in ("frames", "cameras"):
            for name, place in getattr(scene, kind).items():
                for key, value in vars(place).items():
                    mine = getattr(getattr(other, kind)[name], key)
                    if isinstance(value, (float, np.ndarray)):
                        np.testing.assert_allclose(mine, value, atol=1e-12)
                    else:
                        assert mine == value, (name, key)


def test_frames_made_in_python() -> None:
    scene = ss.Scene()
    scene.add_box("crate", size=(1, 1, 1), mass=1.0, position=(0, 0, 2), rotation=axis_angle((0, 0, 1), 0.5 * np.pi))
    scene.add_frame("corner", "crate", position=(0.5, 0, 0))
    scene.add_camera("eye", "crate", mode="track", fovy=1.0)
    sim = ss.Simulation(scene, "none")
    np.testing.assert_allclose(sim.frames["corner"].position, [0, 0.5, 2], atol=1e-12)


@pytest.mark.parametrize(("make", "told"), [
    (lambda scene: scene.add_frame("f", "nobody"), "frame 'f': no such body"),
    (lambda scene: (scene.add_frame("f"), scene.add_frame("f")), "the name is taken already"),
    (lambda scene: scene.add_camera("c", mode="targetbody"), "a target belongs to the modes"),
    (lambda scene: scene.add_camera("c", mode="pan"), "unknown mode"),
    (lambda scene: scene.add_camera("c", resolution=(0, 3)), "resolution"),
    (lambda scene: scene.add_camera("c", fovy=0.0), "fovy"),
])
def test_bad_places_are_refused(make: object, told: str) -> None:
    with pytest.raises(SceneError, match=told):
        make(ss.Scene())  # type: ignore[operator]


def test_places_are_checked_again() -> None:
    scene = ss.Scene()
    scene.add_box("crate", size=(1, 1, 1), mass=1.0)
    scene.add_frame("f", "crate").body = "nobody"
    with pytest.raises(SceneError, match="frame 'f': no such body"):
        ss.Simulation(scene, "none")
    scene.frames["f"].body = None
    scene.cameras["c"] = Camera("d")
    with pytest.raises(SceneError, match="the camera was renamed"):
        ss.Simulation(scene, "none")
