"""What materials combine to in the kernels: priority, maximum, condim, pairs of single geometries."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sesshoku.collision.filter import may_touch
from sesshoku.collision.materials import pair_coefficients, rolling_coefficients
from sesshoku.collision.swept.brep import make_breps
from sesshoku.errors import SceneError
from sesshoku.methods import registry
from sesshoku.methods.implicit.elastic import elastic_tables
from sesshoku.scene.compiler import compile_scene
from sesshoku.scene.elements import Geometry, Inertial, Material
from sesshoku.scene.geometry.shapes import Box, Sphere
from sesshoku.scene.materials import friction_of
from sesshoku.scene.scene import Scene

pytestmark = pytest.mark.nojit

MATERIALS = [
    Material(0.8, 0.5), Material(0.3, 0.2, combine="maximum"), Material(0.1, priority=1), Material(0.9, condim=1),
    Material(0.4, combine="maximum", condim=1, torsional_friction=0.02), Material(0.6, torsional_friction=0.01),
    Material(0.2, 0.1, rolling_friction=0.005, torsional_friction=0.03, condim=4, combine="maximum"),
    Material(0.7, rolling_friction=0.001, priority=-1), Material(0.5, rolling_friction=0.02, restitution=0.5),
]


def test_kernels_and_scenes_have_one_rule() -> None:
    scene = Scene()
    for i, material in enumerate(MATERIALS):
        scene.add_box(f"b{i}", size=(1, 1, 1), mass=1.0, material=material)
    compiled = compile_scene(scene)
    breps = make_breps(compiled, 1e-3)
    assert compiled.model.has_rolling == 1
    for a, one in enumerate(MATERIALS):
        for b, other in enumerate(MATERIALS):
            static, kinetic, torsional, rolling = friction_of(one, other)
            want = pytest.approx((static, kinetic, max(one.restitution, other.restitution)))
            assert pair_coefficients(compiled.model, a, b) == want
            assert pair_coefficients(breps, a, b) == want
            assert rolling_coefficients(compiled.model, a, b) == (torsional, rolling)


def test_the_rule_by_hand() -> None:
    mean, larger, first, slick = MATERIALS[:4]
    assert friction_of(mean, slick)[:2] == (pytest.approx(np.sqrt(0.72)), pytest.approx(np.sqrt(0.45)))
    assert friction_of(mean, larger)[:2] == (0.8, 0.5) and friction_of(larger, first)[:2] == (0.1, 0.1)
    assert friction_of(slick, slick) == (0.0,) * 4 and friction_of(slick, MATERIALS[4]) == (0.0,) * 4
    assert friction_of(MATERIALS[4], MATERIALS[5])[2:] == (0.02, 0.0)  # what is there acts once the other asks for it
    assert friction_of(MATERIALS[6], mean)[2:] == (0.03, 0.0)


def two_legs() -> Scene:
    """Two bodies of one robot, joined, with two spheres each, and a floor."""
    scene = Scene()
    scene.add_ground(material=Material(0.5))
    parts = [Geometry(Sphere(0.1), (x, 0, 0), name=f"{x}") for x in (0.0, 1.0)]
    scene.add_body("a", inertial=Inertial(1.0, matrix=np.eye(3)), geometries=parts)
    scene.add_body("b", inertial=Inertial(1.0, matrix=np.eye(3)), geometries=parts)
    scene.exclude_collision("a", "b")
    scene.exclude_collision("a", "ground")
    scene.friction("a", "ground", static=0.9)
    return scene


def test_a_pair_of_geometries_touches_alone() -> None:
    scene = two_legs()
    scene.add_geometry_pair("b", 0, "a", "1.0", Material(0.7, 0.6, torsional_friction=0.01, stiffness=1e4))
    scene.add_geometry_pair("a", 1, "ground", 0)
    compiled = compile_scene(scene)
    model, breps = compiled.model, make_breps(compiled, 1e-3)
    number = {("ground", 0): 0, ("a", 0): 1, ("a", 1): 2, ("b", 0): 3, ("b", 1): 4}
    touching = {(0, 2), (2, 3), (0, 3), (0, 4)}
    assert {tuple(pair) for pair in model.allowed_pair.tolist()} == touching
    for record in (model, breps):
        pairs = [(a, b) for a in number.values() for b in number.values() if a < b]
        assert {(a, b) for a, b in pairs if may_touch(record, a, b)} == touching
        assert pair_coefficients(record, 3, 2) == (0.7, 0.6, 0.0)
        assert pair_coefficients(record, 0, 2) == (0.9, 0.9, 0.0)  # the pair of bodies speaks for its shapes
        assert pair_coefficients(record, 4, 1) == (0.5, 0.5, 0.0)
    assert rolling_coefficients(model, 2, 3) == (0.01, 0.0) and model.has_rolling == 1
    elastic = elastic_tables(compiled, 1e-3, 1.0)["pair_elastic"]
    assert elastic[-1].tolist() == [1e4, -1.0] and (elastic[:-1] == -1.0).all()
    assert registry.left_out(registry.resolve("lcp"), compiled) == ["torsional friction of a and b"]


def test_friction_of_bodies_overrules_the_pairs_of_their_geometries() -> None:
    scene = two_legs()
    scene.add_geometry_pair("a", 1, "b", 0, Material(0.7))
    scene.friction("b", "a", static=0.2)
    assert pair_coefficients(compile_scene(scene).model, 2, 3)[0] == 0.2


def test_pairs_of_geometries_are_kept_by_files(tmp_path: Path) -> None:
    scene = two_legs()
    scene.add_geometry_pair("a", 1, "b", 0, Material(0.7, 0.6, name="glue", condim=3, torsional_friction=0.1))
    scene.add_geometry_pair("a", 0, "ground", 0)
    scene.save(tmp_path / "scene.toml")
    again = Scene.read(tmp_path / "scene.toml")
    assert again.geometry_pairs == scene.geometry_pairs


@pytest.mark.parametrize(("ends", "told"), [
    (("a", 2, "b", 0), "no such colliding geometry"), (("a", "x", "b", 0), "0.0, 1.0"),
    (("a", 0, "c", 0), "no such body"), (("a", 0, "a", 1), "two different bodies")])
def test_pairs_that_do_not_exist_are_refused(ends: tuple[str, int, str, int], told: str) -> None:
    with pytest.raises(SceneError, match=told):
        two_legs().add_geometry_pair(*ends)


def test_geometries_that_went_away_are_refused() -> None:
    scene = two_legs()
    scene.add_geometry_pair("a", 1, "b", 0)
    scene.bodies["a"].geometries = [Geometry(Box((1, 1, 1)))]
    with pytest.raises(SceneError, match="no such colliding geometry"):
        compile_scene(scene)


@pytest.mark.parametrize("bad", [{"combine": "sum"}, {"condim": 2}, {"priority": 0.5}, {"priority": True}])
def test_rules_are_checked(bad: dict[str, object]) -> None:
    with pytest.raises(SceneError, match=next(iter(bad)) if "combine" not in bad else "rule of combining"):
        Material(0.5, **bad)
