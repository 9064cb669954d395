"""World poses and bounding boxes of shapes."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku.collision.contacts import make_contacts
from sesshoku.collision.shapes import place_shapes
from sesshoku.scene.elements import Geometry
from sesshoku.scene.geometry.mesh import convex_mesh
from sesshoku.scene.geometry.shapes import Box, Capsule, Cylinder, Plane, Sphere
from sesshoku.scene.scene import Scene
from support import sample_count
from trees import Posed, random_scene, unit

pytestmark = pytest.mark.boundscheck


def extent(shape: object, direction: np.ndarray) -> float:
    """How far a shape reaches from its origin along a direction of its own frame; closed forms."""
    side = np.hypot(direction[0], direction[1])
    match shape:
        case Box(size=size):
            return float(0.5 * np.abs(direction) @ size)
        case Sphere(radius=radius):
            return radius
        case Capsule(radius=radius, length=length):
            return radius + 0.5 * length * abs(direction[2])
        case Cylinder(radius=radius, length=length):
            return radius * side + 0.5 * length * abs(direction[2])
        case _:
            return float((shape.vertices @ direction).max())


def scene_of_shapes(rng: np.random.Generator) -> Scene:
    """Moving trees and a fixed body, each with all shapes somewhere on it."""
    scene = random_scene(rng, trees=2, size=3, bases=("free", "kinematic"))
    scene.add_body("wall", fixed=True, position=rng.normal(size=3), rotation=unit(rng, 4))
    for body in scene.bodies.values():
        a, b, c = rng.uniform(0.1, 1.0, 3)
        for shape in (Box((a, b, c)), Sphere(a), Capsule(a, b), Cylinder(b, c), convex_mesh(rng.normal(size=(9, 3)))):
            body.geometries.append(Geometry(shape, position=rng.normal(size=3), rotation=unit(rng, 4)))
    scene.bodies["wall"].geometries.append(Geometry(Plane()))
    return scene


@pytest.mark.nojit
def test_boxes_are_as_tight_as_the_shape_allows(rng: np.random.Generator) -> None:
    for _ in range(sample_count(2, 50)):
        posed = Posed(scene_of_shapes(rng))
        m, d = posed.model, posed.data
        contacts, margin = make_contacts(m, 1, 1), 0.1
        place_shapes(m, d, contacts, margin, 0.0)
        shapes = [g.shape for body in posed.compiled.scene.bodies.values() for g in body.geometries]
        assert m.shape_count == len(shapes) > 20
        for g, shape in enumerate(shapes):
            i = m.shape_link[g]
            R = np.eye(3) if i < 0 else d.rotation[i]
            p = np.zeros(3) if i < 0 else d.tree_origin[m.link_tree[i]] + d.offset[i]
            np.testing.assert_allclose(contacts.shape_position[g], p + R @ m.shape_position[g], atol=1e-12)
            np.testing.assert_allclose(contacts.shape_rotation[g], R @ m.shape_rotation[g], atol=1e-12)
            low, high = contacts.shape_low[g], contacts.shape_high[g]
            if isinstance(shape, Plane):
                assert (low == -np.inf).all() and (high == np.inf).all()
                continue
            at, R = contacts.shape_position[g], contacts.shape_rotation[g]
            wanted_high = at + [extent(shape, R[k]) for k in range(3)] + margin / 2
            wanted_low = at - [extent(shape, -R[k]) for k in range(3)] - margin / 2
            if isinstance(shape, (Box, Sphere, Capsule, Cylinder)):
                np.testing.assert_allclose(low, wanted_low, atol=1e-12)
                np.testing.assert_allclose(high, wanted_high, atol=1e-12)
            else:  # the box around its own box: never too small, at most as large as that box's diagonal
                assert (low <= wanted_low + 1e-12).all() and (high >= wanted_high - 1e-12).all()
                assert (high - low <= 2 * m.shape_radius[g] + margin + 1e-12).all()


def test_world_shapes_follow_a_change_of_margin(rng: np.random.Generator) -> None:
    scene = Scene()
    scene.add_box("wall", size=(1, 2, 3), fixed=True)
    posed = Posed(scene)
    contacts = make_contacts(posed.model, 1, 1)
    for margin in (0.0, 0.2, 0.2, 0.0):
        place_shapes(posed.model, posed.data, contacts, margin, 0.0)
        np.testing.assert_allclose(contacts.shape_high[0], np.array([0.5, 1, 1.5]) + margin / 2)


@pytest.mark.parametrize("size", [1e-6, 1e3])
def test_sizes_of_all_orders(size: float) -> None:
    scene = Scene()
    scene.add_box("box", size=(size,) * 3, mass=1.0)
    scene.add_cylinder("can", radius=size, length=size, mass=1.0, rotation=(0.5, 0.5, 0.5, 0.5))
    posed = Posed(scene)
    contacts = make_contacts(posed.model, 1, 1)
    place_shapes(posed.model, posed.data, contacts, 0.0, 0.0)
    np.testing.assert_allclose(contacts.shape_high[0], 0.5 * size)
    np.testing.assert_allclose(contacts.shape_high[1], [0.5 * size, size, size], rtol=1e-12)


@pytest.mark.nojit
@pytest.mark.parametrize("thin", range(3))
def test_shapes_reach_as_far_as_they_travel_but_not_beyond_half_the_body(thin: int) -> None:
    """Slow: what they travel within the horizon. Fast: the least half edge, whichever it is, or the lead if more."""
    size = np.array([0.8, 0.6, 0.7])
    size[thin] = 0.1
    scene = Scene()
    scene.add_box("box", size=size, mass=1.0)
    posed = Posed(scene)
    m, d = posed.model, posed.data
    contacts = make_contacts(m, 1, 1)
    for speed, lead, wanted in ((1.0, 0.0, 0.01), (3.0, 0.0, 0.03), (40.0, 0.0, 0.05), (40.0, 0.2, 0.2),
                                (1.0, 0.02, 0.02)):
        d.velocity[0] = (0.0, 0.0, speed, 0.0, 0.0, 0.0)
        contacts.shape_lead[0] = lead
        place_shapes(m, d, contacts, 0.0, 0.01)
        np.testing.assert_allclose(contacts.shape_reach[0], wanted, rtol=1e-12)
        np.testing.assert_allclose(contacts.shape_high[0] - contacts.shape_low[0],
                                   np.abs(contacts.shape_rotation[0]) @ size + 2 * wanted, rtol=1e-12)
