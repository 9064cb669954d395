"""A heart: the simplest solid that is concave, smooth and sharp at once. A square on its corner with two half discs."""

from __future__ import annotations

import struct

import numpy as np

from sesshoku.scene.geometry.mass import polyhedron_moments

WIDTH, THICKNESS, ARC_STEPS = 0.15, 0.05, 20


def outline() -> np.ndarray:
    """Corners (n, 2) counter-clockwise from the lower tip; the notch between the lobes is the only concave corner."""
    side = WIDTH / (1.0 + np.sqrt(0.5))
    half = side / np.sqrt(8.0)  # the lobes' centres are at (+-half, half), their radius side / 2
    turn = np.pi * np.arange(ARC_STEPS + 1) / ARC_STEPS - np.pi / 4
    right = half + 0.5 * side * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    right[-1, 0] = 0.0  # the notch lies on the axis exactly, so that the mirror image meets it
    left = right[-2::-1] * np.array([-1.0, 1.0])
    return np.vstack([[[0.0, -2.0 * half]], right, left])


def heart() -> tuple[np.ndarray, np.ndarray]:
    """Vertices (m) and triangles of the closed heart, tip down along -y, thickness along z, centre of mass at 0."""
    ring = outline()
    n = len(ring)
    flat = np.vstack([ring, [[0.0, 0.0]]])  # every corner is seen from the square's centre, so fans fill the faces
    lift = np.full((n + 1, 1), 0.5 * THICKNESS)
    vertices = np.vstack([np.hstack([flat, -lift]), np.hstack([flat, lift])])
    here, after = np.arange(n), (np.arange(n) + 1) % n
    above = n + 1
    faces = np.vstack([
        np.column_stack([after, here, np.full(n, n)]),
        np.column_stack([above + here, above + after, np.full(n, above + n)]),
        np.column_stack([here, after, above + after]),
        np.column_stack([here, above + after, above + here]),
    ])
    _, center, _ = polyhedron_moments(vertices, faces)
    return vertices - np.array([0.0, center[1], 0.0]), faces


def binary_stl(vertices: np.ndarray, faces: np.ndarray) -> bytes:
    """Binary STL: little-endian single precision, one normal and three corners per triangle."""
    points = np.round(vertices, 9)[faces]  # rounding hides the last bits, which differ between machines
    normals = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    normals = np.round(normals / np.linalg.norm(normals, axis=1, keepdims=True), 6) + 0.0
    records = np.zeros(len(faces), dtype=[("numbers", "<f4", 12), ("attribute", "<u2")])
    records["numbers"] = np.concatenate([normals, points.reshape(-1, 9) + 0.0], axis=1)
    return b"heart, metres".ljust(80) + struct.pack("<I", len(faces)) + records.tobytes()
