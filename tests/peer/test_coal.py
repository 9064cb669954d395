"""Narrow phase against coal: signed distance and normal of random pairs, every disagreement explained.

`Shapes.separation` (NumPy) gives, for any unit normal, a proven lower bound of the signed distance: b moved along the
normal by minus that much no longer overlaps. A disagreement must be one of these, and is counted:

- lower: coal says less than our proven bound, so it is coal that stopped short (seen with cylinders only: its EPA gives
  up, and its sphere against cylinder goes wrong where the sphere's centre is inside);
- higher: coal says more than the bound its own normal gives: it claims a separation that does not separate;
- another normal at the same distance (concentric or symmetric pairs): ours reaches that distance too.

Tolerances: 1e-9 of the size, 1e-6 for cylinders (coal's EPA and ours approach their surface by triangles).
"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest

from sesshoku.scene.geometry.shapes import Box, Capsule, ConvexMesh, Cylinder, Ellipsoid, Plane, Shape, Sphere
from shape_pairs import KINDS, Shapes, random_rotation, random_shape
from support import sample_count

coal = pytest.importorskip("coal", reason="coal is not installed (extra `peers`)")
pytestmark = pytest.mark.peer
PAIRS = [pair for pair in itertools.combinations_with_replacement(KINDS, 2) if pair != ("plane", "plane")]
PER_SHAPES = 50  # poses for each pair of shapes


def coal_shape(shape: Shape) -> Any:
    if isinstance(shape, Plane):
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    if isinstance(shape, Box):
        return coal.Box(*shape.size)
    if isinstance(shape, Sphere):
        return coal.Sphere(shape.radius)
    if isinstance(shape, Capsule):
        return coal.Capsule(shape.radius, shape.length)
    if isinstance(shape, Cylinder):
        return coal.Cylinder(shape.radius, shape.length)
    if isinstance(shape, Ellipsoid):
        return coal.Ellipsoid(*shape.radii)
    assert isinstance(shape, ConvexMesh)
    points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for vertex in shape.vertices:
        points.append(np.array(vertex))
    for face in shape.faces:
        triangles.append(coal.Triangle(*(int(i) for i in face)))
    return coal.Convex(points, triangles)


def request() -> Any:
    r = coal.DistanceRequest()
    r.enable_signed_distance = True
    r.gjk_tolerance = r.epa_tolerance = 1e-12
    r.gjk_max_iterations = r.epa_max_iterations = 1000
    return r


def parted(pair: Shapes, shapes: tuple[Any, Any], normal: np.ndarray, depth: float) -> bool:
    """Whether coal finds no collision once b has moved along the normal by the depth and a hair more."""
    at, R = pair.contacts.shape_position, pair.contacts.shape_rotation
    moved = at[1] + (depth + 1e-5 * (pair.size(0) + pair.size(1))) * normal
    return not coal.collide(shapes[0], coal.Transform3s(R[0], at[0]), shapes[1], coal.Transform3s(R[1], moved),
                            coal.CollisionRequest(), coal.CollisionResult())


def verdict(pair: Shapes, shapes: tuple[Any, Any], tolerance: float) -> str:
    at, R = pair.contacts.shape_position, pair.contacts.shape_rotation
    size = pair.size(0) + pair.size(1)
    found, result = pair.collide(0, 1, 10.0), coal.DistanceResult()
    poses = [coal.Transform3s(R[i], at[i]) for i in range(2)]
    theirs = coal.distance(shapes[0], poses[0], shapes[1], poses[1], request(), result)
    ours, bound, their_normal = float(found.gap.min()), pair.separation(0, 1, found.normal), np.array(result.normal)
    assert ours == pytest.approx(bound, abs=max(tolerance, 2e-7 if tolerance > 1e-8 else 0.0) * size)
    if abs(ours - theirs) <= tolerance * size:
        # a normal found to the square root of the tolerance: the distance is flat around it
        if np.abs(found.normal - their_normal).max() <= 5.0 * np.sqrt(tolerance):
            return "same"
        return "another normal, as good"  # the bound above proves it
    if not np.isfinite(theirs) or abs(theirs) > 1e6 or ours > theirs:
        assert parted(pair, shapes, found.normal, -bound)
        return "coal lower"
    claimed = pair.separation(0, 1, their_normal)
    assert claimed < theirs - tolerance * size, f"coal found {theirs}, we {ours}"
    return "coal higher"


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_signed_distance_and_normal(a: str, b: str, rng: np.random.Generator) -> None:
    curved = bool({"cylinder", "ellipsoid"} & {a, b})  # coal itself finds these to its own tolerance
    tolerance = 1e-6 if curved else 1e-9
    count: Counter[str] = Counter()
    overlapping = 0
    for _ in range(sample_count(300, 10_000) // PER_SHAPES):
        kinds = random_shape(rng, a), random_shape(rng, b)
        pair, shapes = Shapes(*kinds), (coal_shape(kinds[0]), coal_shape(kinds[1]))
        for _ in range(PER_SHAPES):
            way = rng.normal(size=3)
            way *= rng.uniform(0, 1.2) * (pair.size(0) + pair.size(1)) / np.linalg.norm(way)
            pair.place(0, rng.uniform(-1, 1, 3), random_rotation(rng))
            pair.place(1, pair.contacts.shape_position[0] + way, random_rotation(rng))
            count[verdict(pair, shapes, tolerance)] += 1
            overlapping += bool(pair.contacts.manifold_gap[0] < 0)
    total = sum(count.values())
    print(f"{a}-{b}: {dict(count)}, {overlapping} overlapping of {total}")
    assert overlapping > total // 5
    assert count["same"] >= (0.7 if curved else 0.999) * total
