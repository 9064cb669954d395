"""Stiffness and damping of pairs of surfaces, and how they follow from an allowed depth and a restitution.

A body of mass m that rests on n points sinks by m g / (n k): k = m g / (n depth). It moves on them as a damped mass
with damping ratio zeta = n d / (2 sqrt(n k m)): d = 2 zeta sqrt(k m / n). Dropped on them it rebounds, without
adhesion, at the moment the force ends, with
    e = exp(-zeta (pi - 2 phi) / sqrt(1 - zeta^2)),   phi = asin zeta     (zeta < 1)
        exp(-2)                                                           (zeta = 1)
        exp(-2 zeta acosh(zeta) / sqrt(zeta^2 - 1))                       (zeta > 1)
times its speed. `restitution_of` is this, `damping_ratio_of` its inverse. n is what a contact has: one point under a
ball, four under a box. Backward Euler damps by itself, by w dt / 2 of the critical damping (w^2 = n k / m): that is
taken off the damper of a rebound.
"""

from __future__ import annotations

from math import acos, acosh, exp, sqrt

import numpy as np

from sesshoku.errors import MethodError
from sesshoku.scene.compiler import CompiledScene
from sesshoku.scene.elements import Material
from sesshoku.scene.geometry.shapes import Mesh

POINTS = 4  # contact points that are to carry the heaviest mechanism at the allowed depth
UNKNOWN = -1.0
GRAVITY = 9.8  # m/s^2, where the scene has none


def restitution_of(damping_ratio: float) -> float:
    """Rebound speed over impact speed of a mass on a spring and damper that cannot pull."""
    z = damping_ratio
    if abs(z - 1.0) < 1e-9:
        return exp(-2.0)
    if z < 1.0:
        return exp(-2.0 * z * acos(z) / sqrt(1.0 - z * z))
    return exp(-2.0 * z * acosh(z) / sqrt(z * z - 1.0))


def damping_ratio_of(restitution: float) -> float:
    """The damping ratio that rebounds with a restitution, by bisection; 0.025 and less are taken as 3."""
    low, high = 0.0, 3.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if restitution_of(middle) > restitution:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def spring_and_damper(mass: float, depth: float, restitution: float = 0.0, points: int = POINTS,
                      gravity: float = GRAVITY) -> tuple[float, float]:
    """Stiffness (N/m) and damping (N s/m) per contact point for a Material, from what a body should do on it.

    mass (kg) that rests on `points` points sinks by `depth` (m) and rebounds with `restitution` (0: critically damped).
    """
    for name, value in (("mass", mass), ("depth", depth), ("points", points), ("gravity", gravity)):
        if not value > 0.0:
            raise MethodError(f"{name} must be above zero", element="spring_and_damper", value=value)
    if not 0.0 <= restitution <= 1.0:
        raise MethodError("restitution must be from 0 to 1", element="spring_and_damper", value=restitution)
    k = mass * gravity / (points * depth)
    ratio = 1.0 if restitution == 0.0 else damping_ratio_of(restitution)
    return k, 2.0 * ratio * sqrt(k * mass / points)


def elastic_tables(compiled: CompiledScene, depth: float, damping_ratio: float) -> dict[str, np.ndarray]:
    """What the kernels look a pair's stiffness and damping up in.

    shape_elastic (G, 2): of each shape's material; pair_elastic (rows of pair_key, 2): of pairs given by name; UNKNOWN
    where nobody said. default_elastic (2): for those. tree_mass (T): what a rebound's damping is measured by.
    damping_table (101): damping ratio by restitution, in steps of 0.01.
    """
    model, scene = compiled.model, compiled.scene
    shapes = []
    for body in scene.bodies.values():
        for geometry in body.geometries:
            if geometry.collides:
                material = geometry.material or scene.material
                pieces = len(geometry.shape.pieces) if isinstance(geometry.shape, Mesh) else 1
                shapes += [_known(material)] * pieces
    named = {}
    for (a, b), material in scene.pair_friction.items():
        first, second = sorted((compiled.frame_index[a], compiled.frame_index[b]))
        given = _known(material)
        if UNKNOWN in given:  # what the pair leaves open, its bodies' materials say
            below = _known(scene.combined_material(a, b))
            given = [mine if mine != UNKNOWN else theirs for mine, theirs in zip(given, below, strict=True)]
        named[first * model.frame_count + second] = given
    for key, pair in zip(model.pair_key.tolist(), compiled.pair_materials, strict=True):
        if key >= model.frame_count**2 and pair is not None:  # a pair of single shapes
            named[key] = _known(pair)
    mass = np.add.reduceat(model.link_mass, model.tree_link[:-1]) if model.tree_count else np.zeros(0)
    heaviest = float(max(mass, default=1.0)) or 1.0
    gravity = float(np.linalg.norm(model.gravity)) or GRAVITY
    k = heaviest * gravity / (POINTS * depth)
    return {
        "shape_elastic": np.array(shapes, dtype=np.float64).reshape(-1, 2),
        "pair_elastic": np.array([named.get(int(key), [UNKNOWN] * 2) for key in model.pair_key]).reshape(-1, 2),
        "default_elastic": np.array([k, 2.0 * damping_ratio * sqrt(k * heaviest / POINTS)]),
        "tree_mass": mass,
        "damping_table": np.array([damping_ratio_of(0.01 * n) for n in range(101)]),
    }


def _known(material: Material) -> list[float]:
    return [UNKNOWN if value is None else float(value) for value in (material.stiffness, material.damping)]
