"""What two materials combine to: the rule, stated once for scenes; `collision.materials` has it on the model's arrays.

1. A pair with coefficients of its own (`Scene.friction`, `Scene.add_geometry_pair`) has those.
2. The material of higher `priority` decides all friction alone.
3. Of equals, friction is the geometric mean; the maximum where one of them says `combine="maximum"`, as all geoms of an
   MJCF file do. Torsional and rolling friction are the larger ones, and act as far as the larger `condim` lets them.
4. Restitution is the larger one. Stiffnesses act in series, damping is the mean.
"""

from __future__ import annotations

import numpy as np

from sesshoku.model.arrays import MAXIMUM, MEAN
from sesshoku.scene.elements import Material


def combine_materials(a: Material, b: Material) -> Material:
    """What two materials that meet combine to, by the rule above."""
    return Material(*friction_of(a, b)[:2], max(a.restitution, b.restitution), *_elasticity(a, b),
                    torsional_friction=friction_of(a, b)[2], rolling_friction=friction_of(a, b)[3])


def friction_of(a: Material, b: Material) -> tuple[float, float, float, float]:
    """Static, kinetic, torsional and rolling friction of two materials."""
    if a.priority != b.priority:
        return (a if a.priority > b.priority else b).coefficients
    if "maximum" in (a.combine, b.combine):
        static, kinetic = max(a.static_friction, b.static_friction), max(_kinetic(a), _kinetic(b))
    else:
        kinetic = float(np.sqrt(_kinetic(a) * _kinetic(b)))
        static = max(float(np.sqrt(a.static_friction * b.static_friction)), kinetic)
    condim = max(a.dimension, b.dimension)
    if condim < 3:
        return 0.0, 0.0, 0.0, 0.0
    return (static, kinetic, max(a.torsional_friction, b.torsional_friction) if condim >= 4 else 0.0,
            max(a.rolling_friction, b.rolling_friction) if condim >= 6 else 0.0)


def _kinetic(material: Material) -> float:
    return float(material.kinetic_friction or 0.0)


def _elasticity(a: Material, b: Material) -> tuple[float | None, float | None]:
    """Stiffness and damping; None where neither says any."""
    stiffness = damping = None
    if a.stiffness is not None and b.stiffness is not None:
        total = a.stiffness + b.stiffness
        stiffness = a.stiffness * b.stiffness / total if total > 0 else 0.0
    elif a.stiffness is not None or b.stiffness is not None:
        stiffness = a.stiffness if a.stiffness is not None else b.stiffness
    if a.damping is not None and b.damping is not None:
        damping = 0.5 * (a.damping + b.damping)
    elif a.damping is not None or b.damping is not None:
        damping = a.damping if a.damping is not None else b.damping
    return stiffness, damping


def rule_row(material: Material) -> list[int]:
    """A material's row of `shape_rule` of the model."""
    return [MAXIMUM if material.combine == "maximum" else MEAN, int(material.priority), material.dimension]
