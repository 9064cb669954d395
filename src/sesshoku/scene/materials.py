"""What two materials combine to: the rule, stated once for scenes; `collision.materials` has it on the model's arrays.

1. A pair with coefficients of its own (`Scene.friction`, `Scene.add_geometry_pair`) has those.
2. The material of higher `priority` decides all friction alone.
3. Of equals, friction is the geometric mean; the maximum where one of them says `combine="maximum"`, as all geoms of an
   MJCF file do. Torsional and rolling friction are the larger ones, and act as far as the larger `condim` lets them.
4. Restitution is the larger one. Stiffnesses act in series, damping is the mean.
"""

from __future__ import annotations

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.model.arrays import MAXIMUM, MEAN
from sesshoku.scene import check
from sesshoku.scene.contents import Contents, Robot, listed
from sesshoku.scene.elements import Material
from sesshoku.scene.names import unknown


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


class ContactPairs(Contents):
    """The part of `Scene` that says of pairs whether they touch, and how."""

    def friction(self, a: str, b: str, *, static: float, kinetic: float | None = None,
                 restitution: float | None = None, stiffness: float | None = None, damping: float | None = None,
                 torsional: float | None = None, rolling: float | None = None) -> None:
        """Set the coefficients of one pair of bodies, in place of what their materials combine to.

        stiffness (N/m), damping (N s/m): for the compliant methods. torsional, rolling: friction against turning (m).
        What is not given of these and of restitution stays as the materials say.
        """
        pair = self._pair(a, b)
        usual = self.combined_material(a, b)
        self.pair_friction[pair] = Material(
            static, kinetic, usual.restitution if restitution is None else restitution, stiffness, damping,
            name=f"{a} on {b}",
            torsional_friction=usual.torsional_friction if torsional is None else torsional,
            rolling_friction=usual.rolling_friction if rolling is None else rolling)
        for one, other in self.geometry_pairs:  # what a file said of single geometries is overruled
            if {one[0], other[0]} == {a, b}:
                self.geometry_pairs[one, other] = self.pair_friction[pair]

    def combined_material(self, a: str, b: str) -> Material:
        """What two bodies' (first) materials combine to, see `combine_materials`."""
        first, second = self._first_material(a), self._first_material(b)
        return combine_materials(first, second)

    def _first_material(self, name: str) -> Material:
        for geometry in self._body(name, "friction pair").geometries:
            if geometry.collides:
                return geometry.material or self.material
        return self.material

    def add_geometry_pair(self, a: str, geometry_a: int | str, b: str, geometry_b: int | str,
                          material: Material | None = None) -> None:
        """Let two geometries touch, whatever groups, adjacency and filters of their bodies say (MJCF's <pair>).

        A geometry is named by its number on its body, or by its name. material: the coefficients of just this pair;
        None: what their materials combine to.
        """
        element = f"geometry pair of {a!r} and {b!r}"
        ends = sorted(((a, self._geometry(a, geometry_a, element)), (b, self._geometry(b, geometry_b, element))))
        if a == b:
            raise SceneError("a geometry pair joins two different bodies", element=element, value=a)
        if material is not None:
            check.kind(material, Material, "material", element, "a Material(static_friction=...)")
        self.geometry_pairs[ends[0], ends[1]] = material

    def _geometry(self, name: str, geometry: int | str, element: str) -> int:
        """Number of a geometry on its body, by number or name."""
        geometries = self._body(name, element).geometries
        known = [i for i, item in enumerate(geometries) if item.collides and geometry in (i, item.name)]
        if not known or isinstance(geometry, bool):
            known_names = listed(item.name or i for i, item in enumerate(geometries) if item.collides)
            raise SceneError(f"body {name!r} has no such colliding geometry", element=element, value=geometry,
                             remedy=f"geometries: {known_names}")
        return known[0]

    def exclude_collision(self, a: str, b: str) -> None:
        """Bodies a and b never touch."""
        pair = self._pair(a, b)
        self.excluded_pairs.add(pair)
        self.forced_pairs.discard(pair)

    def include_collision(self, a: str, b: str) -> None:
        """Bodies a and b may touch, whatever groups, adjacency and self-collision say."""
        pair = self._pair(a, b)
        self.forced_pairs.add(pair)
        self.excluded_pairs.discard(pair)

    def self_collision(self, robot: str | Robot, on: bool = True) -> None:
        """Let the links of a robot touch each other (adjacent links never do). Off by default."""
        name = robot.name if isinstance(robot, Robot) else robot
        if name not in self.robots:
            raise unknown("robot", name, self.robots)
        (self.self_colliding.add if check.flag(on, "on", f"robot {name!r}") else self.self_colliding.discard)(name)
