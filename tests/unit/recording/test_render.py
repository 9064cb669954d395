"""Pictures without a window: what a pixel sees against closed forms, cameras against MuJoCo, films decoded."""

from __future__ import annotations

import copy
import pickle

import mujoco
import numpy as np
import pytest
from PIL import Image

import sesshoku as ss
from sesshoku.errors import RecordingError
from sesshoku.recording.render import Renderer, View
from sesshoku.recording.render.raster import NOTHING
from sesshoku.recording.render.renderer import SUN_WAY
from sesshoku.recording.render.triangles import linear
from sesshoku.recording.render.video import poses_at
from sesshoku.scene.geometry.drawing import drawing


def box_scene(**more):
    scene = ss.Scene()
    scene.add_ground()
    scene.add_box("crate", size=(1.0, 1.0, 1.0), mass=1.0, position=(0.0, 0.0, 0.5), **more)
    return scene


def renderer(scene, size=(160, 120), **more):
    sim = ss.Simulation(scene, "none")
    poses = sim.body_poses()
    return Renderer(drawing(scene, poses), size, **more), poses


def rays(view, size):
    """Directions (height, width, 3) through the middles of pixels, of length one along the camera's axis."""
    width, height = size
    scale = 0.5 * height / np.tan(0.5 * view.fov)
    x = (np.arange(width) + 0.5 - 0.5 * width) / scale
    y = (np.arange(height) + 0.5 - 0.5 * height) / scale
    right, down, ahead = view.axes
    return ahead + x[None, :, None] * right + y[:, None, None] * down


@pytest.mark.parametrize("eye", [(0.3, -4.0, 2.0), (3.0, 2.0, 5.0), (0.0, 0.01, 6.0), (-2.5, -2.5, 0.6)])
def test_depths_are_those_of_rays(eye):
    """Each pixel against the ray through its middle: the slab test of a box, and the plane."""
    made, poses = renderer(box_scene(), samples=1)
    view = View(eye, (0.0, 0.0, 0.4))
    way = rays(view, made.size)
    with np.errstate(divide="ignore"):
        to_low, to_high = (np.array([-0.5, -0.5, 0.0]) - eye) / way, (np.array([0.5, 0.5, 1.0]) - eye) / way
        enter, leave = np.minimum(to_low, to_high).max(axis=2), np.maximum(to_low, to_high).min(axis=2)
        ground = np.where(way[..., 2] < 0.0, -eye[2] / way[..., 2], np.inf)
    hit = (enter <= leave) & (enter > 0.0)
    expected = np.where(hit, np.minimum(enter, ground), ground)
    depth, numbers = made.depth(poses, view), made.segmentation(poses, view)
    edge = np.abs(leave - enter) < 1e-6  # a ray along an edge may go either way
    seen = np.isfinite(expected) & ~edge
    assert seen.mean() > 0.3
    np.testing.assert_allclose(depth[seen], expected[seen], rtol=1e-9)
    assert np.all(np.isinf(depth[~np.isfinite(expected)]))
    names = list(box_scene().bodies)
    assert np.all(numbers[hit & ~edge] == names.index("crate"))
    assert np.all(numbers[~np.isfinite(expected)] == NOTHING)


def test_sizes_of_a_parallel_view_are_those_of_bodies():
    made, poses = renderer(box_scene(), (200, 100), samples=1)
    numbers = made.segmentation(poses, View((0.013, -5.0, 0.513), (0.013, 0.0, 0.513), height=2.5))
    crate = list(box_scene().bodies).index("crate")
    assert np.count_nonzero(numbers == crate) == 40 * 40  # 1 m at 40 pixels a metre


def test_triangles_that_reach_behind_the_eye_need_no_clipping():
    """An eye above the middle of a board 40 m long: a part of each triangle is behind it."""
    scene = ss.Scene()
    scene.add_box("board", size=(2.0, 40.0, 0.1), mass=1.0, position=(0.0, 0.0, -0.05))
    made, poses = renderer(scene, samples=1)
    view = View((0.0, 0.0, 1.0), (0.0, 3.0, 0.4))
    way = rays(view, made.size)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(way[..., 2] < 0.0, -1.0 / way[..., 2], np.inf)
        inside = np.isfinite(t) & (np.abs(t * way[..., 0]) < 1.0 - 1e-6) & (np.abs(t * way[..., 1]) < 20.0 - 1e-6)
    depth = made.depth(poses, view)
    assert inside.sum() > 1000
    np.testing.assert_allclose(depth[inside], t[inside], rtol=1e-9)


def test_a_shadow_lies_where_the_sun_puts_it():
    scene = ss.Scene()
    scene.add_ground()
    scene.add_box("cube", size=(0.4, 0.4, 0.4), mass=1.0, position=(0.0, 0.0, 1.0))
    made, poses = renderer(scene, (300, 300))
    view = View((0.0, 0.0, 12.0), (0.0, 0.0, 0.0), up=(0.0, 1.0, 0.0), height=6.0)
    picture = made.rgb(poses, view).astype(float).mean(axis=2)

    def brightness(x, y):
        row, column = round(150 - 50 * y), round(150 + 50 * x)
        return np.median(picture[row - 2:row + 3, column - 2:column + 3])

    shade = -SUN_WAY[:2] / SUN_WAY[2]  # of a point 1 m above the ground
    assert brightness(*shade) < 0.8 * brightness(*-shade)
    assert brightness(*(2.0 * shade)) > 0.95 * brightness(*-shade)


def test_what_is_translucent_lets_through_what_is_behind():
    def colour(opacity):
        scene = ss.Scene()
        scene.add_box("back", size=(4.0, 0.1, 4.0), mass=1.0, position=(0.0, 2.0, 0.0), color=(0.0, 0.0, 1.0))
        scene.add_box("front", size=(1.0, 0.1, 1.0), mass=1.0, color=(1.0, 0.0, 0.0, opacity))
        made, poses = renderer(scene)
        return made.rgb(poses, View((0.0, -6.0, 0.0), (0.0, 0.0, 0.0)))[60, 80].astype(int)

    red, blue = colour(1.0), colour(0.5)
    assert red[0] > 100 and red[2] < 20
    assert blue[0] > 50 and blue[2] > 50


def test_a_picture_is_the_same_every_time_and_with_any_number_of_threads():
    sim = ss.Simulation(box_scene(), "exact", 1e-3)
    sim.step(20)
    first = sim.render(size=(160, 120))
    assert np.array_equal(first, sim.render(size=(160, 120)))
    alone = Renderer(drawing(sim.scene, sim.body_poses()), (160, 120))
    alone._workers = 1
    many = Renderer(drawing(sim.scene, sim.body_poses()), (160, 120))
    many._workers = 7
    assert np.array_equal(alone.rgb(sim.body_poses()), many.rgb(sim.body_poses()))


def test_a_simulation_that_drew_can_be_copied():
    sim = ss.Simulation(box_scene(), "exact", 1e-3)
    sim.render(size=(32, 24))
    for copied in (copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))):
        copied.step(5)
        assert copied.render(size=(32, 24)).shape == (24, 32, 3)


TREE = """
<mujoco><option gravity="0 0 0"/><worldbody>
  <camera name="still" pos="1 -4 2" xyaxes="1 0 0 0 0.4 0.9"/>
  <camera name="aiming" pos="-2 -3 1" mode="targetbody" target="hand"/>
  <camera name="aiming_com" pos="-2 -3 1.5" mode="targetbodycom" target="arm"/>
  <body name="arm" pos="0.1 0.2 1"><freejoint/><geom type="box" size="0.2 0.1 0.1" mass="2"/>
    <camera name="on_arm" pos="0 -1 0.3" euler="70 10 20"/>
    <camera name="track" mode="track" pos="0.3 -2 0.5" euler="80 0 10"/>
    <camera name="trackcom" mode="trackcom" pos="0.3 -2 0.5" euler="80 0 10"/>
    <body name="hand" pos="0.4 0 0.1"><joint axis="0 1 0"/>
      <geom type="sphere" size="0.1" pos="0.1 0 0" mass="1"/></body>
  </body></worldbody></mujoco>"""


@pytest.mark.parametrize("name", ["still", "aiming", "aiming_com", "on_arm", "track", "trackcom"])
def test_cameras_stand_where_mujocos_stand(name, tmp_path):
    path = tmp_path / "tree.xml"
    path.write_text(TREE)
    scene = ss.Scene()
    scene.load(path)
    sim = ss.Simulation(scene, "none", 1e-3)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    made = Renderer(drawing(scene, sim.body_poses()), (64, 48))
    turn = np.array([0.8, 0.2, -0.4, 0.4]) / np.linalg.norm([0.8, 0.2, -0.4, 0.4])
    data.qpos[:] = [0.5, -0.3, 1.4, *turn, 0.7]
    mujoco.mj_forward(model, data)
    poses = np.array([np.r_[data.body(body).xpos, data.body(body).xquat] for body in scene.bodies])
    view = made.view(name, poses)
    camera = data.camera(name)
    np.testing.assert_allclose(view.eye, camera.xpos, atol=1e-9)
    axes = camera.xmat.reshape(3, 3)
    np.testing.assert_allclose(view.axes, np.stack([axes[:, 0], -axes[:, 1], -axes[:, 2]]), atol=1e-9)


def test_a_run_becomes_a_film_and_a_strip(tmp_path):
    scene = box_scene()
    scene.bodies["crate"].position = np.array([0.0, 0.0, 1.0])
    runs = [ss.Simulation(scene, method, 1e-3).run(0.3, rate=200) for method in ("exact", "lcp:recommended")]
    gif = runs[0].to_video(tmp_path / "fall.gif", size=(80, 60), fps=20, trails=["crate"])
    with Image.open(gif) as film:
        assert film.size == (80, 60)
        assert film.n_frames == 6
        first = np.asarray(film.convert("RGB")).astype(int)
        film.seek(5)
        assert np.abs(np.asarray(film.convert("RGB")).astype(int) - first).max() > 30  # it moved
    strip = runs[0].to_strip(tmp_path / "fall.png", 3, size=(50, 40))
    with Image.open(strip) as pictures:
        assert pictures.size == (150, 40)
    assert runs[0].to_strip(tmp_path / "fall.pdf", [0.1], size=(50, 40)).read_bytes().startswith(b"%PDF")
    imageio = pytest.importorskip("imageio_ffmpeg")
    path = runs[0].to_video(tmp_path / "fall.mp4", size=(81, 60), fps=20, speed=0.5, ghosts=runs[1:])
    count, _ = imageio.count_frames_and_secs(str(path))
    assert count == 12
    told = next(imageio.read_frames(str(path)))
    assert told["size"] == (82, 60)  # players want even sizes


def test_between_samples_bodies_move_evenly():
    scene = ss.Scene(gravity=(0.0, 0.0, 0.0))
    scene.add_box("crate", size=(1.0, 1.0, 1.0), mass=1.0)
    sim = ss.Simulation(scene, "none", 1e-3)
    sim.bodies["crate"].set_velocity((1.0, 0.0, 0.0), (0.0, 0.0, 2.0))
    run = sim.run(0.2, rate=10)
    pose = poses_at(run, 0.05)[list(scene.bodies).index("crate")]
    np.testing.assert_allclose(pose[:3], [0.05, 0.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(pose[3:], [np.cos(0.05), 0.0, 0.0, np.sin(0.05)], atol=1e-5)


def test_what_cannot_be_drawn_is_said():
    scene = box_scene()
    scene.add_camera("side", position=(0.0, -3.0, 1.0))
    sim = ss.Simulation(scene, "none")
    for call, words in (
            (lambda: sim.render("sid"), "did you mean 'side'"),
            (lambda: sim.render(size=(0, 10)), "size must be two whole numbers"),
            (lambda: sim.render(size=(10, 10**6)), "from 1 to 8192"),
            (lambda: sim.render(kind="heat"), "rgb, depth, segmentation"),
            (lambda: sim.render(View((0, 0, 0), (0, 0, 0))), "same point"),
            (lambda: sim.render(3), "a camera is"),
            (lambda: sim.render({"eye": (0, 0, 1)}), "needs eye and target"),
            (lambda: sim.render(View((0, 0, 5), (0, 0, 0), follow="nobody")), "no body 'nobody'"),
            (lambda: View((0, 0, np.nan), (0, 0, 0)), "three finite numbers"),
            (lambda: sim.run(0.01).to_video("film.avi"), ".mp4, .webm, .gif"),
            (lambda: sim.run(0.01).to_video("film.gif", fps=0), "fps must be a positive number"),
            (lambda: sim.run(0.01, record=["q"]).to_video("film.gif"), "'poses' was not recorded"),
            (lambda: sim.run(0.01).to_strip("strip.gif"), ".png, .pdf or .svg"),
            (lambda: sim.run(0.01).to_video("film.gif", trails=["nobody"]), "to draw a trail of")):
        with pytest.raises(RecordingError, match=words.replace("(", r"\(")):
            call()


def test_colours_are_linear_between():
    np.testing.assert_allclose(linear((0.0, 1.0, 0.5, 0.3)), [0.0, 1.0, 0.2140, 0.3], atol=1e-4)
