"""The fluid that bodies move through: air, water, oil. It resists their motion; it neither lifts nor carries them.

Each body with mass is taken for the box of its mass and principal moments, whatever its shapes are (the inertia model
of MuJoCo): along and about the axes of that box act

    viscosity   a force 3 pi d b against its velocity, a torque pi d^3 b against its spin: the drag of a ball in slow
                flow; b the viscosity, d the mean of the box's edges
    density     a force rho/2 A |v| v along each axis, A the area it shows that way; a torque rho/64 a (b^4 + c^4) |w| w
                about the axis of edge a, b and c the other two

v relative to the wind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sesshoku.scene import check
from sesshoku.scene.calls import checked
from sesshoku.spatial.rotation import quaternion_to_matrix

LEAST_SQUARE = 1e-15  # kg m^2: an edge whose square would be less, or negative by rounding, has this
ROUNDING = 1e-12  # share of the moments below which the axes of an inertia are taken as they are


@checked
@dataclass(frozen=True)
class Fluid:
    """Density (kg/m^3), viscosity (Pa s) and velocity (wind, m/s, world axes) of what surrounds all bodies."""

    density: float = 0.0
    viscosity: float = 0.0
    wind: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        for key in ("density", "viscosity"):
            object.__setattr__(self, key, check.number(getattr(self, key), key, "fluid", least=0.0))
        object.__setattr__(self, "wind", tuple(check.vector(self.wind, "wind", "fluid").tolist()))

    @property
    def acts(self) -> bool:
        """Whether it resists anything: wind alone does not."""
        return self.density > 0.0 or self.viscosity > 0.0

    def __str__(self) -> str:
        wind = f", wind {list(self.wind)} m/s" if any(self.wind) else ""
        return f"density {self.density:g} kg/m^3, viscosity {self.viscosity:g} Pa s{wind}"


def principal_axes(matrix: np.ndarray, axes: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Moments (3) about the principal axes of an inertia (3, 3), and these as columns (3, 3), body axes.

    Where moments are equal any axes would do, and drag is not the same along all of them: then those that the inertia
    names, or those next to the body's (turned by Jacobi's rotations, only as far as it takes).
    """
    if axes is not None:
        turn = quaternion_to_matrix(axes)
        return np.diag(turn.T @ matrix @ turn).copy(), turn
    A, turn = np.array(matrix), np.eye(3)
    scale = float(np.abs(A).max())
    for _ in range(50):
        i, j = max(((0, 1), (0, 2), (1, 2)), key=lambda pair: abs(A[pair]))
        if abs(A[i, j]) <= ROUNDING * scale:
            break
        angle = 0.5 * np.arctan2(2.0 * A[i, j], A[j, j] - A[i, i])
        if abs(angle) > np.pi / 4:  # the smaller of the two turns that do it
            angle -= np.copysign(np.pi / 2, angle)
        R = np.eye(3)
        R[i, i] = R[j, j] = np.cos(angle)
        R[i, j], R[j, i] = np.sin(angle), -np.sin(angle)
        A, turn = R.T @ A @ R, turn @ R
    return np.diag(A).copy(), turn


def drag_numbers(fluid: Fluid, mass: float, moments: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Drag along (3) and about (3) the principal axes of a body: per speed (6), and per speed squared (6)."""
    x, y, z = box = box_edges(mass, moments)
    d, b, rho = float(box.mean()), fluid.viscosity, fluid.density
    linear = np.array([3.0 * np.pi * d * b] * 3 + [np.pi * d**3 * b] * 3)
    faces = 0.5 * rho * np.array([y * z, x * z, x * y])
    turns = rho / 64.0 * np.array([x * (y**4 + z**4), y * (x**4 + z**4), z * (x**4 + y**4)])
    return linear, np.concatenate([faces, turns])


def box_edges(mass: float, moments: Any) -> np.ndarray:
    """Edges (3) of the solid box that has this mass and these principal moments."""
    return np.sqrt(6.0 / mass * np.maximum(np.sum(moments) - 2.0 * np.asarray(moments), LEAST_SQUARE))
