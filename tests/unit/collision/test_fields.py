"""Height fields: distances, normals on faces, ridges and in hollows, no seams."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku.collision.contacts import CONTACTS
from sesshoku.collision.points.detect import detect, new_contacts
from sesshoku.collision.points.fields import collide_field, height_above
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.scene.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, HeightField, Plane, Shape, Sphere
from sesshoku.scene.geometry.surfaces import surface
from sesshoku.scene.scene import Scene
from shape_pairs import Shapes, random_polyhedron, random_rotation, turn
from support import sample_count
from trees import Posed

pytestmark = pytest.mark.boundscheck
OTHERS = (Sphere(0.08), Box((0.2, 0.15, 0.1)), Capsule(0.04, 0.15), Cylinder(0.06, 0.1), Ellipsoid((0.1, 0.07, 0.05)))


def points(pair: Shapes, margin: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points, gaps and normals of all bundles of field 0 with shape 1."""
    c = pair.contacts
    found = range(collide_field(pair.model, c, 0, 1, margin))
    part = [(c.bundle_point[k, :c.bundle_count[k]].copy(), c.bundle_gap[k, :c.bundle_count[k]].copy(),
             np.tile(c.bundle_normal[k], (c.bundle_count[k], 1))) for k in found]
    if not part:
        return np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3))
    return tuple(np.concatenate(column) for column in zip(*part, strict=True))  # type: ignore[return-value]


def from_triangles(corners: np.ndarray, point: np.ndarray) -> float:
    """Distance of a point from the nearest of triangles (n, 3, 3), by brute force over faces, edges, corners."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    best = np.linalg.norm(corners - point, axis=2).min()
    for p, q in ((a, b), (b, c), (c, a)):
        t = np.clip(((point - p) * (q - p)).sum(1) / ((q - p) ** 2).sum(1), 0, 1)
        best = min(best, np.linalg.norm(p + t[:, None] * (q - p) - point, axis=1).min())
    n = np.cross(b - a, c - a)
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    foot = point - ((point - a) * n).sum(1)[:, None] * n
    inside = np.all([(np.cross(q - p, foot - p) * n).sum(1) >= 0 for p, q in ((a, b), (b, c), (c, a))], axis=0)
    return float(min(best, np.abs(((point - a) * n).sum(1))[inside].min(initial=np.inf)))


@pytest.mark.nojit
def test_a_ball_over_rough_ground(rng: np.random.Generator) -> None:
    field = HeightField(0.15 * rng.random((7, 9)), (1.6, 1.2))
    vertices, faces = surface(field)
    top = vertices[[face for face in faces if (face < 63).all()]]
    pair = Shapes(field, Sphere(0.08))
    for _ in range(sample_count(20, 1000)):
        frame, origin = random_rotation(rng), rng.normal(size=3)
        center = np.array([*rng.uniform(-0.5, 0.5, 2), 0.24])
        center[2] -= max(from_triangles(top, center) - 0.082, 0.0) * rng.uniform(0.9, 1.0)
        distance = from_triangles(top, center) - 0.08
        pair.place(0, origin, frame)
        pair.place(1, origin + frame @ center, frame)
        _, gap, _ = points(pair, 0.1)
        assert gap.min() == pytest.approx(distance, abs=1e-12)


@pytest.mark.nojit
@pytest.mark.parametrize("shape", [*OTHERS, "hull"], ids=lambda shape: getattr(shape, "kind", shape))
def test_flat_ground_is_a_plane(shape: Shape | str, rng: np.random.Generator) -> None:
    """However the cells lie under a shape, and however it stands: the normal is up, and the least gap a plane's."""
    other = random_polyhedron(rng, 20, 0.3) if isinstance(shape, str) else shape
    pair, plane = Shapes(HeightField(np.full((9, 12), 0.3), (1.1, 0.8)), other), Shapes(Plane(), other)
    for trial in range(sample_count(6, 200)):
        rotation = random_rotation(rng) if trial % 2 else turn((0, 0, 1), 0.4 * trial)
        x, y = rng.uniform(-0.3, 0.3, 2)
        plane.place(1, (x, y, 0.0), rotation)
        plane.place(0, (0, 0, 0))
        height = -float(plane.collide(margin=10.0).gap.min()) + rng.choice([1e-3, 0.0, -1e-6, -1e-3])
        plane.place(1, (x, y, height), rotation)
        pair.place(1, (x, y, height + 0.3), rotation)
        _, gap, normal = points(pair, 2e-3)
        np.testing.assert_allclose(normal, np.tile((0, 0, 1), (len(gap), 1)), atol=1e-9)
        assert gap.min() == pytest.approx(plane.collide(margin=2e-3).gap.min(), abs=1e-9)


def ridge(height: float) -> HeightField:
    """A ridge (a hollow, if negative) along y at x = 0, slopes of 0.5 m."""
    return HeightField(np.tile([0.0, height, 0.0], (4, 1)), (1.0, 0.9))


@pytest.mark.nojit
def test_a_box_on_a_ridge_and_a_ball_in_a_hollow() -> None:
    pair = Shapes(ridge(0.1), Box((0.3, 0.2, 0.1)))
    pair.place(1, (0.02, 0.03, 0.15 - 1e-6))
    at, gap, normal = points(pair, 1e-4)
    np.testing.assert_allclose(normal, np.tile((0, 0, 1), (len(gap), 1)), atol=1e-9)
    np.testing.assert_allclose(at[:, 0], 0.0, atol=1e-3)
    assert sorted(np.round(at[:, 1], 9))[::len(at) - 1] == [-0.07, 0.13]
    assert gap.min() == pytest.approx(-1e-6, abs=1e-12)
    pair = Shapes(ridge(-0.1), Sphere(0.1))
    up = 0.1 * np.hypot(1.0, 0.2) - 0.1  # it touches both slopes
    pair.place(1, (0.0, 0.03, up))
    at, gap, normal = points(pair, 1e-4)
    np.testing.assert_allclose(gap, 0.0, atol=1e-12)
    assert {round(float(n), 9) for n in normal[:, 0] * np.hypot(1, 0.2)} == {0.2, -0.2}


@pytest.mark.nojit
def test_nothing_beside_or_above() -> None:
    pair = Shapes(HeightField(np.zeros((3, 3)), (1.0, 1.0)), Sphere(0.1))
    for place in ((0, 0, 0.2), (0.7, 0, 0.05), (0, -5, 0.0)):
        pair.place(1, place)
        assert len(points(pair, 1e-3)[1]) == 0
    pair.place(1, (0.55, 0, 0.05))  # over the brim
    _, gap, _ = points(pair, 1e-3)
    assert gap.min() == pytest.approx(np.hypot(0.05, 0.05) - 0.1, abs=1e-12)


def test_a_large_box_on_small_cells_keeps_its_corners() -> None:
    scene = Scene()
    scene.add_height_field("field", np.zeros((60, 60)), size=(3, 3))
    scene.add_box("box", size=(1, 0.8, 0.2), mass=1.0, position=(0.01, 0.02, 0.1 - 1e-6))
    posed = Posed(scene)
    contacts = new_contacts(posed.model)
    kinematics(posed.model, posed.data, posed.data.q)
    for _ in range(2):
        detect(posed.model, posed.data, contacts, 1e-3, 0.0, 6)
        assert contacts.counts[CONTACTS] == 4
        corners = {(round(float(x), 6), round(float(y), 6)) for x, y, _ in contacts.point[:4]}
        assert corners == {(x, y) for x in (-0.49, 0.51) for y in (-0.38, 0.42)}
    assert set(contacts.id[:4]) == {0, 1, 2, 3}


@pytest.mark.nojit
def test_height_above_the_terrain(rng: np.random.Generator) -> None:
    field = HeightField(rng.random((5, 6)), (1.5, 1.2))
    vertices, faces = surface(field)
    pair = Shapes(field, Sphere(0.1))
    frame, origin = random_rotation(rng), rng.normal(size=3)
    pair.place(0, origin, frame)
    for face in faces:
        if (face < 30).all():
            share = rng.dirichlet(np.ones(3))
            place = share @ vertices[face] + (0, 0, 0.3)
            above = height_above(pair.model, pair.contacts, 0, *(origin + frame @ place))
            assert above == pytest.approx(0.3, abs=1e-12)
    for place in ((0.76, 0, 0), (0, -0.61, 0), (np.nan, 0, 0)):
        assert height_above(pair.model, pair.contacts, 0, *(origin + frame @ np.array(place))) == np.inf
