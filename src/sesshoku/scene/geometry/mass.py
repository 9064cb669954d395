"""Mass properties of shapes, exact: closed forms for primitives, polynomial integrals over tetrahedra for polyhedra."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene import check
from sesshoku.scene.elements import Inertial, is_physical
from sesshoku.scene.geometry import shapes
from sesshoku.spatial.rotation import quaternion_to_matrix


def shape_inertial(shape: shapes.Shape, mass: float | None = None, density: float | None = None,
                   element: str = "inertial") -> Inertial:
    """Mass, centre of mass and inertia about it of a solid shape, from its mass (kg) or its density (kg/m^3)."""
    if isinstance(shape, shapes.Plane):
        raise SceneError("a plane has no mass", element=element, remedy="use a box, or a body that does not move")
    if isinstance(shape, shapes.HeightField):
        raise SceneError("a height field has no mass", element=element,
                         remedy="leave mass and density out: terrain does not move")
    if (mass is None) == (density is None):
        raise SceneError("give either mass or density", element=element, value=(mass, density),
                         remedy="water has a density of 1000 kg/m^3")
    try:
        volume, center, moment = _unit_density(shape)
    except OverflowError:
        volume, center, moment = np.inf, np.zeros(3), np.zeros((3, 3))
    if not 0.0 < volume < np.inf or not np.isfinite(moment).all():  # sides of 1e-200 m, or 1e200 m
        raise SceneError("the shape is too small or too large to have a mass", element=element, value=shape,
                         remedy="give its sizes in metres")
    if mass is None:
        rho = check.number(density, "density", element, above=0.0)
    else:
        rho = check.number(mass, "mass", element, above=0.0) / volume
    return Inertial(rho * volume, center, rho * moment, element)


def _unit_density(shape: shapes.Shape) -> tuple[float, np.ndarray, np.ndarray]:
    """Volume, centroid and inertia about it of a shape of density 1."""
    if isinstance(shape, (shapes.ConvexMesh, shapes.Mesh)):
        return polyhedron_moments(shape.vertices, shape.faces)
    if isinstance(shape, shapes.Box):
        x, y, z = shape.size
        volume = x * y * z
        moments = [volume / 12 * (y * y + z * z), volume / 12 * (x * x + z * z), volume / 12 * (x * x + y * y)]
    elif isinstance(shape, shapes.Sphere):
        r = shape.radius
        volume = 4 / 3 * np.pi * r**3
        moments = [0.4 * volume * r * r] * 3
    elif isinstance(shape, shapes.Ellipsoid):
        a, b, c = shape.radii
        volume = 4 / 3 * np.pi * a * b * c
        moments = [volume / 5 * (b * b + c * c), volume / 5 * (a * a + c * c), volume / 5 * (a * a + b * b)]
    elif isinstance(shape, shapes.Cylinder):
        r, h = shape.radius, shape.length
        volume = np.pi * r * r * h
        across = volume * (r * r / 4 + h * h / 12)
        moments = [across, across, volume * r * r / 2]
    elif isinstance(shape, shapes.Capsule):
        r, h = shape.radius, shape.length
        tube, ball = np.pi * r * r * h, 4 / 3 * np.pi * r**3
        volume = tube + ball
        # half spheres: their centroids lie 3/8 r beyond the tube's ends
        across = tube * (r * r / 4 + h * h / 12) + ball * (2 * r * r / 5 + h * h / 4 + 3 * h * r / 8)
        moments = [across, across, tube * r * r / 2 + ball * 2 * r * r / 5]
    else:
        raise SceneError("this shape has no mass properties", element="inertial", value=shape)
    return float(volume), np.zeros(3), np.diag(moments)


def polyhedron_moments(vertices: np.ndarray, faces: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Volume (m^3), centroid (3,) and inertia about it (3, 3) at density 1 of the solid inside closed triangles.

    Each triangle spans a signed tetrahedron with a common point; over it the integrals of 1, x and x x^T are
    det/6, det/24 (a+b+c) and det/120 (s s^T + a a^T + b b^T + c c^T) with s = a+b+c.
    """
    origin = vertices.mean(axis=0)  # a point near the solid keeps the signed sums free of cancellation
    a, b, c = (vertices[faces[:, k]] - origin for k in range(3))
    determinant = np.einsum("ij,ij->i", a, np.cross(b, c))
    s = a + b + c
    volume = float(determinant.sum()) / 6.0
    if volume <= 0.0:
        raise SceneError("the mesh encloses no volume", element="mesh", value=volume, remedy="turn its faces outward")
    centroid = determinant @ s / (24.0 * volume)
    second = sum(np.einsum("n,ni,nj->ij", determinant, p, p) for p in (s, a, b, c)) / 120.0
    second = second - volume * np.outer(centroid, centroid)
    return volume, origin + centroid, np.trace(second) * np.eye(3) - second


def repair(matrix: np.ndarray, exact: bool = False) -> np.ndarray | None:
    """The inertia with the nearest principal moments that are positive and obey the triangle inequality.

    None where nothing needs repair; with `exact` a violation by mere rounding does, too. The axes stay. "Positive" is a
    millionth of the largest, so that a joint can turn.
    """
    if not np.isfinite(matrix).all():
        return None  # not for repair: `Inertial` refuses it
    moments, axes = np.linalg.eigh(0.5 * matrix + 0.5 * matrix.T)
    a, b, c = moments
    if a >= 0.0 and a + b >= c if exact else is_physical(moments):
        return None
    lack = (c - a - b) / 3.0  # onto the plane c = a + b
    if lack > 0.0:
        a, b, c = a + lack, b + lack, c - lack
    if a < 0.0:  # onto its edge: a rod
        b = c = 0.5 * (moments[1] + moments[2])
    least = 1e-6 * float(np.abs(moments).max())
    repaired = axes @ np.diag(np.maximum([a, b, c], least)) @ axes.T
    return np.asarray(0.5 * (repaired + repaired.T))


def combine(inertials_with_poses: Iterable[tuple[Inertial, Any, Any]]) -> Inertial:
    """One Inertial of several, each given with its position (m) and rotation (quaternion w x y z or matrix).

    Parallel axes: each inertia is turned, then moved to the common centre of mass. Nothing at all has mass zero.
    """
    masses, centers, matrices = [], [], []
    for inertial, position, rotation in inertials_with_poses:
        R = quaternion_to_matrix(check.quaternion(rotation, "rotation", inertial.element))
        masses.append(inertial.mass)
        centers.append(check.vector(position, "position", inertial.element) + R @ inertial.center)
        matrices.append(R @ inertial.matrix @ R.T)
    total = float(sum(masses))
    if total == 0.0:
        return Inertial(0.0)
    center = sum(m * p for m, p in zip(masses, centers, strict=True)) / total
    matrix = np.zeros((3, 3))
    for m, p, about_own in zip(masses, centers, matrices, strict=True):
        d = p - center
        matrix += about_own + m * (d @ d * np.eye(3) - np.outer(d, d))
    return Inertial(total, center, matrix)
