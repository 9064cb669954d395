"""`springs` and concave solids: a peg in a notch, an L on a rail, a hand around a heart; bullets."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.apps.crane.shapes import heart
from sesshoku.methods.springs.contact.overlaps import DeepOverlap
from support import SEED
from swept import l_shape, prism

everyone = pytest.mark.parametrize("keyword", ["springs", "springs:recommended"])


def upright(mesh):
    """A prism of an outline in x and y: its y becomes the scene's z."""
    vertices, faces = mesh
    return np.asarray(vertices)[:, [0, 2, 1]] * (1.0, -1.0, 1.0), np.asarray(faces)


@everyone
def test_a_peg_falls_into_a_notch(keyword):
    """9 mm of a notch of 10 mm, 20 mm deep. Its convex hull would hold the peg at the rim."""
    outline = 0.01 * np.array([(-2, -2), (2, -2), (2, 1), (0.5, 1), (0.5, -1), (-0.5, -1), (-0.5, 1), (-2, 1)])
    vertices, faces = upright(prism(outline, -0.01, 0.01))
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_mesh("block", vertices, faces=faces, fixed=True, mass=1.0, material=ss.Material(0.3))
    scene.add_box("peg", size=(0.009, 0.01, 0.03), mass=0.02, position=(0, 0, 0.03), material=ss.Material(0.3))
    sim = ss.Simulation(scene, keyword, 1e-3)
    sim.step(600)
    assert sim.bodies["peg"].position[2] == pytest.approx(-0.01 + 0.015, abs=4e-4)
    assert np.abs(sim.bodies["peg"].velocity).max() < 2e-2
    assert sum(c.force[2] * (1 if c.bodies[0] == "block" else -1) for c in sim.contacts) == pytest.approx(
        0.02 * 9.8, rel=0.3)


@everyone
def test_an_l_hangs_on_a_rail(keyword):
    """With its inner corner over the rail's edge: it rests on top and leans on the side."""
    vertices, faces = upright(l_shape(0.1))
    turned = vertices * (-1.0, 1.0, -1.0)  # its inner faces look down and to the left
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_box("rail", size=(0.1, 0.4, 0.2), position=(-0.05, 0, -0.1), fixed=True, material=ss.Material(0.5))
    scene.add_mesh("L", turned - 0.5 * (turned.min(axis=0) + turned.max(axis=0)), faces=faces, mass=0.5,
                   position=(0.0, 0, 0.0), material=ss.Material(0.5))
    sim = ss.Simulation(scene, keyword, 1e-3)
    sim.step(1000)
    height = sim.bodies["L"].position[2]
    sim.step(200)
    assert height > -0.02 and sim.bodies["L"].position[2] == pytest.approx(height, abs=1e-3)
    assert len(sim.contacts) >= 3


@pytest.mark.parametrize("keyword, dt", [("springs", 1e-3), ("springs:recommended", 1e-3),
                                         ("springs:recommended", 1 / 50)])
def test_a_hand_of_three_fingers_closes_on_a_heart(keyword, dt):
    """Nine joints around a concave solid of 0.3 kg that lies on a table: all three fingers end on it."""
    from benchmarks.springs import hand
    vertices, faces = heart(0.11, 0.05)
    scene = hand((vertices[:, [0, 2, 1]], faces[:, ::-1]))
    sim = ss.Simulation(scene, keyword, dt)
    sim.step(round(1.0 / dt))
    worst = 0.0
    for _ in range(round(1.0 / dt)):
        sim.step()
        worst = max(worst, sim.report.penetration)
    touching = {name for c in sim.contacts if "ring" in c.bodies for name in c.bodies if name != "ring"}
    fingers = {name.split("_")[0] for name in touching if name.startswith("finger")}
    assert fingers == {"finger0", "finger1", "finger2"}
    assert "ground" in touching and worst < 0.01 * 0.05  # the heart's own limit; fingers have a third of it


@everyone
@pytest.mark.parametrize("dt", [1 / 50, 1e-3])
def test_bullets_at_ten_lengths_a_step_do_not_pass_a_thin_plate(keyword, dt):
    """5 cm cubes onto a plate of 2 mm, fixed or of 50 kg and free."""
    for n in range(4):
        rng = np.random.default_rng([SEED, n])
        turn = rng.normal(size=4)
        scene = ss.Scene(gravity=(0, 0, 0))
        scene.add_box("plate", size=(0.002, 1, 1), mass=50.0, fixed=n % 2 == 0)
        scene.add_box("bullet", size=(0.05, 0.05, 0.05), mass=0.1, rotation=turn / np.linalg.norm(turn),
                      position=(-0.9, *rng.normal(scale=0.1, size=2)), velocity=(10 * 0.05 / dt, 0, 0),
                      angular_velocity=rng.normal(size=3))
        sim = ss.Simulation(scene, keyword, dt)
        for _ in range(12):
            sim.step()
            assert sim.bodies["bullet"].position[0] < sim.bodies["plate"].position[0]
        assert sim.bodies["bullet"].velocity[0] < 0.1 * 10 * 0.05 / dt


@everyone
@pytest.mark.parametrize("depth", [0.002, 0.005, 0.01])
def test_what_begins_deep_in_the_floor_comes_out_of_it(keyword, depth):
    """A 10 cm cube, deeper than its limit of 1 mm, and than its shrunken copy shows."""
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_ground()
    scene.add_box("cube", size=(0.1, 0.1, 0.1), mass=1.0, position=(0, 0, 0.05 - depth))
    sim = ss.Simulation(scene, keyword, 1 / 200)
    sim.step(800)
    assert sim.bodies["cube"].position[2] == pytest.approx(0.05, abs=1.2e-3)


@everyone
@pytest.mark.parametrize("depth", [0.01, 0.016, 0.02, 0.03])
def test_a_ball_deep_in_the_floor_does_not_stay_there(keyword, depth):
    """L1 sees a ring of its vertices, though the pole is far below."""
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_ground()
    scene.add_sphere("ball", radius=0.1, mass=1.0, position=(0, 0, 0.1 - depth))
    sim = ss.Simulation(scene, keyword, 1e-3)
    sim.step(60)
    assert sim.bodies["ball"].position[2] > 0.1


def floor(depth):
    scene = ss.Scene()
    scene.add_ground()
    scene.add_box("crate", size=(0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.1 - depth))
    return scene


def bars(depth):
    """Crossed, no vertex of one in the other."""
    scene = ss.Scene()
    scene.add_box("rail", size=(1.0, 0.1, 0.1), mass=1.0, fixed=True)
    scene.add_box("crate", size=(0.1, 1.0, 0.1), mass=1.0, position=(0, 0, 0.1 - depth))
    return scene


def notch(depth):
    """A small crate in the wall of a notch, beside it where depth < 0: within the hull of the block."""
    outline = np.array([(-2, -2), (2, -2), (2, 1), (1, 1), (1, -1), (-1, -1), (-1, 1), (-2, 1)])
    vertices, faces = upright(prism(outline, -1.0, 1.0))
    scene = ss.Scene()
    scene.add_mesh("block", vertices, faces=faces, fixed=True, mass=1.0)
    scene.add_box("crate", size=(0.5, 0.5, 0.5), mass=1.0, position=(0.75 + depth, 0, 0))
    return scene


@pytest.mark.parametrize("make, shallow, deep, other", [
    (floor, 0.034, 0.036, "ground"), (floor, 0.0, 0.5, "ground"), (bars, 0.017, 0.018, "rail"),
    (notch, -0.1, 0.4, "block"), (notch, 0.02, 0.6, "block"),
])
def test_bodies_too_deep_in_each_other_are_warned_of_by_name_and_depth(make, shallow, deep, other):
    def said(scene):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            ss.Simulation(scene, "springs", 1e-3)
        return [str(w.message) for w in found if w.category is DeepOverlap]

    assert said(make(shallow)) == []
    text, = said(make(deep))
    assert repr(other) in text and "'crate'" in text and "exclude_collision" in text
    if make is not notch:
        assert f"{deep:.3g} m deep" in text
    scene = make(deep)
    scene.exclude_collision("crate", other)
    assert said(scene) == []
