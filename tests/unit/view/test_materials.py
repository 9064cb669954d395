"""Sliders change a copy of the scene, and only what they name."""

from __future__ import annotations

import sesshoku as ss
from sesshoku.view.materials import list_materials, with_material
from viewing import box_scene


def test_materials_are_listed_with_their_users() -> None:
    scene = box_scene(2, ss.Material(0.4, 0.3, name="wood"))
    scene.add_box("other", size=(1, 1, 1), mass=1.0, position=(5, 0, 1))
    scene.friction("other", "ground", static=0.9)
    found = list_materials(scene)
    assert [entry["users"] for entry in found] == [["ground", "box0", "box1"], ["other"], ["ground on other"]] or \
        [entry["users"] for entry in found][:2] == [["ground", "box0", "box1"], ["other"]]
    assert found[0]["name"] == "wood" and found[0]["kinetic_friction"] == 0.3 and found[0]["stiffness"] is None


def test_a_changed_material_leaves_the_scene_alone() -> None:
    scene = box_scene(2, ss.Material(0.4, 0.3, name="wood"))
    changed = with_material(scene, 0, "restitution", 0.7)
    assert {g.material.restitution for b in changed.bodies.values() for g in b.geometries} == {0.7}
    assert {g.material.restitution for b in scene.bodies.values() for g in b.geometries} == {0.0}


def test_kinetic_friction_stays_below_static() -> None:
    scene = box_scene(1, ss.Material(0.4, 0.3))
    low = list_materials(with_material(scene, 0, "static_friction", 0.1))[0]
    assert (low["static_friction"], low["kinetic_friction"]) == (0.1, 0.1)
    high = list_materials(with_material(scene, 0, "kinetic_friction", 0.8))[0]
    assert (high["static_friction"], high["kinetic_friction"]) == (0.8, 0.8)


def test_the_scene_s_own_material_can_be_changed() -> None:
    scene = box_scene(1)
    assert list_materials(with_material(scene, 0, "static_friction", 0.05))[0]["static_friction"] == 0.05
    assert scene.material.static_friction == 0.5
