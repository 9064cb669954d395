"""Shapes of one body that lie flush are one surface: nothing catches on their seams, and steps stay steps."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.scene.geometry.mesh import convex_mesh
from sesshoku.spatial.rotation import axis_angle

ICE = ss.Material(0.0, 0.0, 0.0)
POINTS = ["exact", "lcp", "lcp:recommended", "multipoint", "multipoint:recommended", "implicit", "implicit:recommended"]


def boxes(scene, heights=(0.0,) * 9, size=0.4, yaw=0.0):
    """Fixed boxes side by side along x and y, with their tops at these heights along x."""
    c, s = np.cos(yaw), np.sin(yaw)
    for n, height in enumerate(heights):
        for m in range(-2, 3):
            x, y = (n - 1) * size, m * size
            place = (c * x - s * y, s * x + c * y, height - 0.1)
            scene.add_box(f"tile_{n}_{m}", size=(size, size, 0.2), position=place,
                          rotation=axis_angle((0, 0, 1), yaw), fixed=True, material=ICE)


def triangles(scene, heights=(0.0,) * 9, size=0.4):
    """One fixed body of triangular prisms, flush."""
    pieces = []
    for n, m in itertools.product(range(len(heights)), range(-2, 3)):
        x, y, top = (n - 1.5) * size, (m - 0.5) * size, heights[n]
        corners = np.array([(x, y), (x + size, y), (x + size, y + size), (x, y + size)])
        for triangle in (corners[[0, 1, 2]], corners[[0, 2, 3]]):
            ends = np.concatenate([np.c_[triangle, np.full(3, top - 0.2)], np.c_[triangle, np.full(3, top)]])
            pieces.append(ss.Geometry(convex_mesh(ends), material=ICE))
    scene.add_body("plate", geometries=pieces, fixed=True)


def slide(ground, method, body="box", turned=0.0, speed=(2.0, 0.0), seconds=1.0, dt=1e-3, **floor):
    """A body without friction on the floor after `seconds`; its motion."""
    scene = ss.Scene(gravity=(0, 0, -9.8))
    ground(scene, **floor)
    given = {"mass": 1.0, "velocity": (*speed, 0), "material": ICE, "rotation": axis_angle((0, 0, 1), turned)}
    if body == "box":
        scene.add_box("body", size=(0.2, 0.2, 0.1), position=(0, 0, 0.05), **given)
    elif body == "ball":
        scene.add_sphere("body", radius=0.05, position=(0, 0, 0.05), **given)
    else:
        scene.add_convex("body", vertices=0.05 * np.array(list(itertools.product((-1, 1), (-1, 1), (-1, 1)))),
                         position=(0, 0, 0.05), **given)
    sim = ss.Simulation(scene, method, dt)
    sim.step(round(seconds / dt))
    return sim


@pytest.mark.parametrize("method", POINTS)
@pytest.mark.parametrize("ground", [boxes, triangles])
def test_a_block_slides_over_seams(ground, method):
    """To what the solver leaves open; under `implicit`, a spring a point, it bobs as it passes from box to box."""
    sim = slide(ground, method)
    loose = {"exact": 1e-6, "implicit": 2e-3}.get(method.split(":")[0], 1e-5)
    assert sim.bodies["body"].velocity[:2] == pytest.approx([2.0, 0.0], abs=loose)
    assert sim.bodies["body"].position[:2] == pytest.approx([2.0, 0.0], abs=loose)
    if not method.startswith("implicit"):
        assert np.abs(sim.bodies["body"].angular_velocity).max() < 10 * loose


@pytest.mark.parametrize("body", ["box", "ball", "convex"])
@pytest.mark.parametrize("ground", [boxes, triangles])
def test_any_shape_in_any_direction(ground, body):
    for turned, speed in ((0.0, (1.9, 0.3)), (0.4, (2.0, 0.0)), (0.7853981633974483, (1.7, -0.4))):
        sim = slide(ground, "exact", body, turned, speed)
        assert sim.bodies["body"].velocity == pytest.approx([*speed, 0.0], abs=1e-6)
        assert np.abs(sim.bodies["body"].angular_velocity).max() < 1e-6


def test_tiles_that_are_turned():
    """No axis of the world is one of theirs."""
    sim = slide(boxes, "exact", "box", 0.1, (1.8, 0.2), yaw=0.3)
    assert sim.bodies["body"].velocity == pytest.approx([1.8, 0.2, 0.0], abs=1e-6)


@pytest.mark.parametrize("ground", [boxes, triangles])
def test_a_step_stops_what_slides_against_it(ground):
    """20 mm up: the block does not glide onto it; without friction and restitution it stays at its foot, upright."""
    sim = slide(ground, "exact", heights=(0.0,) * 4 + (0.02,) * 5)
    assert sim.bodies["body"].velocity[0] < 1.0 and sim.bodies["body"].position[0] < 1.1


@pytest.mark.boundscheck
def test_a_wall_on_a_floor_has_all_its_points():
    """A block that is pushed against a wall touches floor and wall with four corners each."""
    scene = ss.Scene()
    boxes(scene)
    scene.add_box("wall", size=(0.1, 2.0, 0.5), position=(0.15, 0, 0.25), fixed=True, material=ICE)
    scene.add_box("body", size=(0.2, 0.2, 0.1), mass=1.0, position=(0, 0, 0.05), material=ICE)
    sim = ss.Simulation(scene, "exact", 1e-3)
    for _ in range(50):
        sim.apply_force("body", (5.0, 0, 0))
        sim.step()
    pushed = [contact for contact in sim.contacts if "wall" in contact.bodies]
    assert len(pushed) == 4 and sum(contact.normal_force for contact in pushed) == pytest.approx(5.0, rel=1e-9)
    assert sim.bodies["body"].position == pytest.approx([0, 0, 0.05], abs=1e-5)


def test_what_a_mask_takes_out_covers_nothing():
    """A box beside another, flush, that the block does not touch: the other's side stands free, and stops it."""
    scene = ss.Scene()
    scene.add_ground(material=ICE)
    scene.add_box("ghost", size=(1.0, 2.0, 0.2), position=(0.6, 0, 0.1), fixed=True, material=ICE)
    scene.add_box("step", size=(1.0, 2.0, 0.2), position=(1.6, 0, 0.1), fixed=True, material=ICE)
    scene.add_box("body", size=(0.2, 0.2, 0.1), mass=1.0, position=(0.3, 0, 0.05), velocity=(2, 0, 0), material=ICE)
    scene.exclude_collision("body", "ghost")
    sim = ss.Simulation(scene, "exact", 1e-3)
    sim.step(600)
    assert sim.bodies["body"].position[0] == pytest.approx(1.0, abs=1e-5)


def test_tiles_of_a_body_that_moves():
    """A sled of flush boxes glides below a block that another force holds up; both go their ways."""
    tiles = [ss.Geometry(ss.Box((0.4, 1.0, 0.1)), position=(0.4 * n, 0, 0), material=ICE) for n in range(-4, 5)]
    scene = ss.Scene()
    scene.add_ground(material=ICE)
    scene.add_body("sled", geometries=tiles, position=(0, 0, 0.05), inertial=ss.Inertial(20.0, (0, 0, 0), (1, 8, 8)),
                   velocity=(-1, 0, 0))
    scene.add_box("body", size=(0.2, 0.2, 0.1), mass=1.0, position=(-0.5, 0, 0.15), velocity=(1, 0, 0), material=ICE)
    sim = ss.Simulation(scene, "exact", 1e-3)
    sim.step(700)
    assert sim.bodies["body"].velocity == pytest.approx([1, 0, 0], abs=1e-6)
    assert sim.bodies["sled"].velocity == pytest.approx([-1, 0, 0], abs=1e-6)


@pytest.mark.parametrize("method", ["exact", "lcp", "multipoint", "implicit"])
@pytest.mark.parametrize("size", [0.2, 0.1])
def test_shapes_that_share_corners_keep_their_points(method: str, size: float, rng: np.random.Generator) -> None:
    """A body whose box stands there twice, or beside a smaller one in the same corner, comes to rest on a face."""
    for _ in range(3):
        turn, place = rng.normal(size=4), 0.1 - 0.5 * size
        scene = ss.Scene()
        scene.add_ground()
        scene.add_box("cube", size=(0.2,) * 3, mass=1.0, position=(0, 0, 0.2), rotation=turn / np.linalg.norm(turn))
        scene.bodies["cube"].geometries.append(ss.Geometry(ss.Box((size,) * 3), position=(place,) * 3))
        sim = ss.Simulation(scene, method, 1e-3)
        for _ in range(1200):
            sim.step()
            assert sim.bodies["cube"].position[2] > 0.09, turn
        assert abs(sim.bodies["cube"].position[2] - 0.1) < 3e-3, turn  # lcp stays as deep as it landed
        assert np.abs(sim.v).max() < 0.05
