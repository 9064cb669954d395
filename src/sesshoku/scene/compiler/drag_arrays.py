"""Drag of the surrounding fluid as the arrays of a model: one entry for each body with mass, none without a fluid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sesshoku.scene.elements.fluid import Fluid, drag_numbers, principal_axes
from sesshoku.spatial.poses import compose, inverse

if TYPE_CHECKING:
    from sesshoku.scene.compiler import Link


def drag_arrays(fluid: Fluid, links: list[Link], frame_index: dict[str, int]) -> dict[str, Any]:
    """Bodies that the fluid resists: their links and poses there, and their numbers of drag."""
    found = []
    for link in links if fluid.acts else ():
        for body, pose in link.bodies:
            if body.inertial is None or body.inertial.mass <= 0.0 or link.owner.kinematic:
                continue
            mass = body.inertial.mass
            moments, axes = principal_axes(body.inertial.matrix, body.inertial.axes)
            position, rotation = compose(compose(inverse(link.frame), pose), (body.inertial.center, axes))
            linear, square = drag_numbers(fluid, mass, moments)
            found.append((link.index, frame_index[body.name], position, rotation, linear, square,
                          [mass] * 3 + [max(float(moment), 0.0) for moment in moments]))
    link_numbers, frames, *columns = zip(*found) if found else ((),) * 7
    shapes = ((3,), (3, 3), (6,), (6,), (6,))
    names = ("drag_position", "drag_rotation", "drag_linear", "drag_square", "drag_inertia")
    return {
        "wind": np.array(fluid.wind), "drag_count": len(found), "drag_link": list(link_numbers),
        "drag_frame": list(frames),
    } | {name: np.array(column, dtype=np.float64).reshape(-1, *shape)
         for name, column, shape in zip(names, columns, shapes, strict=True)}
