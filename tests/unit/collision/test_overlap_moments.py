"""Section and moments of overlaps: against quadrature over the faces of a Boolean intersection, and known facts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from overlap_oracles import Found, Pairs, boolean_body, half_spaces
from sesshoku.collision.overlap.detect import fill_area_moment, fill_depth_moment
from sesshoku.collision.overlap.overlaps import AREA, FACES, SECTION, THICKNESS
from sesshoku.scene.geometry.fine_polyhedra import Polyhedron
from shape_pairs import random_rotation, random_shape
from support import sample_count

pytestmark = pytest.mark.boundscheck


def random_overlaps(rng: np.random.Generator, count: int) -> Iterator[Pairs]:
    """Pairs of boxes and polyhedra in all attitudes that overlap, from shallow to deep."""
    made = 0
    while made < count:
        pairs = Pairs(random_shape(rng, "box"), random_shape(rng, str(rng.choice(["box", "convex"]))))
        pairs.place(0, rng.normal(size=3), random_rotation(rng))
        away = rng.normal(size=3)
        reach = rng.uniform(0.2, 0.9) * (pairs.polyhedra.radius[0] + pairs.polyhedra.radius[1])
        pairs.place(1, pairs.contacts.shape_position[0] + reach * away / np.linalg.norm(away), random_rotation(rng))
        found = pairs.overlap()
        if found is not None and found.volume > 1e-6 * min(pairs.polyhedra.volume):
            made += 1
            yield pairs


def bodies(pairs: Pairs) -> tuple[Polyhedron, Polyhedron]:
    origin = pairs.origin(0, 1)
    return pairs.placed(0, origin), pairs.placed(1, origin)


def nodes(found: Found, halves: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Quadrature over the faces: points (r1, r2, eta) about the barycentre, and weights: projected areas.

    Edge midpoints: exact for quadratics, and eta does not change sign within a half.
    """
    axes = np.array([*found.tangent, found.normal])
    points, weights = [], []
    for half in halves:
        mesh = half.to_mesh64()
        corners = (mesh.vert_properties[:, :3] - found.barycentre) @ axes.T
        p, q, r = (corners[mesh.tri_verts.astype(int)[:, k]] for k in range(3))
        cap = np.abs(np.stack([p, q, r])[:, :, 2]).max(axis=0) < 1e-13  # the cut itself is no face
        s = 0.5 * np.abs((q - p)[:, 0] * (r - p)[:, 1] - (q - p)[:, 1] * (r - p)[:, 0])
        for first, second in ((p, q), (q, r), (r, p)):
            points.append(0.5 * (first + second)[~cap])
            weights.append(s[~cap] / 3.0)
    return np.concatenate(points), np.concatenate(weights)


def split(found: Found, A: Polyhedron, B: Polyhedron) -> list[Any]:
    body = boolean_body(A, B)
    return list(body.split_by_plane(tuple(found.normal), float(found.normal @ found.barycentre)))


def test_moments_over_faces_against_quadrature(rng: np.random.Generator) -> None:
    for pairs in random_overlaps(rng, sample_count(12, 1000)):
        found = pairs.overlap(0, 1, FACES)
        assert found is not None and found.kind == AREA
        r, w = nodes(found, split(found, *bodies(pairs)))
        expected = [w.sum(), w @ r[:, 0], w @ r[:, 1], w @ r[:, 0] ** 2, w @ (r[:, 0] * r[:, 1]), w @ r[:, 1] ** 2]
        np.testing.assert_allclose(found.area_moment, expected, atol=1e-9 * w.sum())
        h = np.abs(r[:, 2])
        expected = [w @ h, w @ (h * r[:, 0]), w @ (h * r[:, 1])]
        np.testing.assert_allclose(found.depth_moment, expected, atol=1e-9 * expected[0])
        # in world axes: Q = int J^T J, c^T n = int h J^T n
        axes = np.array([*found.tangent, found.normal])
        Q, c = np.full((6, 6), np.nan), np.full(6, np.nan)
        fill_area_moment(pairs.contacts, pairs.overlaps, 0, Q)
        fill_depth_moment(pairs.contacts, pairs.overlaps, 0, c)
        Q_expected, c_expected = np.zeros((6, 6)), np.zeros(6)
        for x, weight in zip(r, w, strict=True):
            arm = x[:2] @ axes[:2]
            J = np.hstack([np.eye(3), -np.cross(arm, np.eye(3), axisb=0, axisc=0)])
            Q_expected += weight * J.T @ J
            c_expected += weight * abs(x[2]) * J.T @ found.normal
        np.testing.assert_allclose(Q, Q_expected, atol=1e-9 * w.sum())
        np.testing.assert_allclose(c, c_expected, atol=1e-9 * w.sum())
        assert np.linalg.eigvalsh(Q)[0] > 0.0


def test_facts_about_the_moments(rng: np.random.Generator) -> None:
    """Projected area counts twice; with h as thickness, int h = volume and its first moments vanish."""
    for pairs in random_overlaps(rng, sample_count(12, 1000)):
        found, thick = pairs.overlap(0, 1, FACES), pairs.overlap(0, 1, THICKNESS)
        assert found is not None and thick is not None
        points = boolean_body(*bodies(pairs)).to_mesh64().vert_properties[:, :3] - found.barycentre
        assert found.area_moment[0] == pytest.approx(2.0 * ConvexHull(points @ found.tangent.T).volume, rel=1e-9)
        heights = points @ found.normal
        assert found.depth == pytest.approx(np.ptp(heights), rel=1e-9)
        np.testing.assert_allclose(thick.area_moment, found.area_moment, rtol=1e-12)
        assert thick.depth_moment[0] == pytest.approx(found.volume, rel=1e-9)
        assert np.abs(thick.depth_moment[1:]).max() <= 1e-9 * found.volume * pairs.overlaps.polygon_radius[0]
        assert found.depth_moment[0] >= found.volume * (1.0 - 1e-9)  # |eta| counts overhangs, thickness subtracts them


def test_section_against_half_spaces(rng: np.random.Generator) -> None:
    """Over the section every line along the normal meets the overlap once above and once below the plane: int h is the
    volume of the overlap within the prism over the section, and areas count twice."""
    for pairs in random_overlaps(rng, sample_count(12, 1000)):
        found = pairs.overlap(0, 1, SECTION)
        assert found is not None and found.kind == AREA
        A, B = bodies(pairs)
        both = Polyhedron(A.vertices, A.loops, np.vstack([A.normals, B.normals]), np.append(A.offsets, B.offsets))
        corners = found.barycentre + found.polygon @ found.tangent
        edges = np.roll(corners, -1, axis=0) - corners
        outward = np.cross(edges, found.normal)
        outward /= np.linalg.norm(outward, axis=1, keepdims=True)
        prism = Polyhedron(corners, [], outward, (outward * corners).sum(axis=1))
        assert (both.normals @ corners.T <= both.offsets[:, None] + 1e-12).all()  # corners lie on the overlap's surface
        assert (np.abs(both.normals @ corners.T - both.offsets[:, None]) < 1e-12).any(axis=0).all()
        assert (prism.normals @ found.barycentre < prism.offsets).all()
        core = half_spaces(both, prism)
        assert core is not None
        assert found.depth_moment[0] == pytest.approx(core.volume, rel=1e-8)
        lever = (core.barycentre - found.barycentre) @ found.tangent.T
        np.testing.assert_allclose(found.depth_moment[1:], core.volume * lever, atol=1e-8 * core.volume)
        np.testing.assert_allclose(found.area_moment, 2.0 * polygon_moments(found.polygon), atol=1e-12)
        assert pairs.overlaps.polygon_area[0] == pytest.approx(polygon_moments(found.polygon)[0], rel=1e-12)
        assert pairs.overlaps.polygon_radius[0] == pytest.approx(np.linalg.norm(found.polygon, axis=1).max(), rel=1e-9)


def polygon_moments(p: np.ndarray) -> np.ndarray:
    """int 1, x, y, xx, xy, yy over a counter-clockwise polygon, by its edges."""
    q = np.roll(p, -1, axis=0)
    c = p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]
    x, y, u, v = p[:, 0], p[:, 1], q[:, 0], q[:, 1]
    return np.array([c.sum() / 2, c @ (x + u) / 6, c @ (y + v) / 6, c @ (x * x + x * u + u * u) / 12,
                     c @ (2 * x * y + x * v + u * y + 2 * u * v) / 24, c @ (y * y + y * v + v * v) / 12])


def test_polygons_are_convex_and_turn_left(rng: np.random.Generator) -> None:
    for pairs in random_overlaps(rng, sample_count(20, 2000)):
        found = pairs.overlap()
        assert found is not None
        p = found.polygon
        first, second = np.roll(p, -1, axis=0) - p, np.roll(p, -2, axis=0) - np.roll(p, -1, axis=0)
        assert (first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0] > 0.0).all()
        np.testing.assert_allclose(np.cross(*found.tangent), found.normal, atol=1e-14)
