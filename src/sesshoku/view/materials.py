"""The materials of a scene as a list that sliders can change, and a scene with one of them changed."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from sesshoku.scene.elements import Material
from sesshoku.scene.scene import Scene

FIELDS = ("static_friction", "kinetic_friction", "restitution", "stiffness", "damping")


def list_materials(scene: Scene) -> list[dict[str, Any]]:
    """Each material that some shape or pair uses: name, who uses it, and its numbers (None: the method chooses)."""
    return [{"name": _name(material, users), "users": users, **{field: getattr(material, field) for field in FIELDS}}
            for material, users in _used(scene)]


def _name(material: Material, users: list[str]) -> str:
    return material.name or (users[0] if len(users) == 1 else f"{users[0]} and {len(users) - 1} more")


def _used(scene: Scene) -> list[tuple[Material, list[str]]]:
    """Materials, told apart by identity, with the names of bodies and pairs that use them."""
    found: dict[int, tuple[Material, list[str]]] = {}
    for body in scene.bodies.values():
        for geometry in body.geometries:
            if geometry.collides:
                material = geometry.material or scene.material
                users = found.setdefault(id(material), (material, []))[1]
                if body.name not in users:
                    users.append(body.name)
    for (a, b), material in scene.pair_friction.items():
        found.setdefault(id(material), (material, []))[1].append(f"{a} on {b}")
    for ((a, _), (b, _)), pair_material in scene.geometry_pairs.items():
        if pair_material is not None:
            found.setdefault(id(pair_material), (pair_material, []))[1].append(f"{a} on {b}")
    return list(found.values())


def with_material(scene: Scene, number: int, field: str, value: float) -> Scene:
    """A copy of the scene in which material `number` of the list has one number changed. The given scene stays.

    Static friction stays at or above kinetic: the other one follows.
    """
    changed = copy.deepcopy(scene)
    old = _used(changed)[number][0]
    values: dict[str, Any] = {field: value}
    if field == "static_friction":
        values["kinetic_friction"] = min(old.kinetic_friction or 0.0, value)
    elif field == "kinetic_friction":
        values["static_friction"] = max(old.static_friction, value)
    new = replace(old, **values)
    if changed.material is old:
        changed.material = new
    for body in changed.bodies.values():
        for geometry in body.geometries:
            if geometry.material is old:
                geometry.material = new
    for pair, material in changed.pair_friction.items():
        if material is old:
            changed.pair_friction[pair] = new
    for ends, pair_material in changed.geometry_pairs.items():
        if pair_material is old:
            changed.geometry_pairs[ends] = new
    return changed
