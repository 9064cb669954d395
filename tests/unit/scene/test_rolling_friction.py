"""Torsional and rolling friction of materials: checked, combined, written and read."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest

from every_kind import assert_equal
from mjcf_files import body, load
from sesshoku.errors import SceneError
from sesshoku.scene.compiler import compile_scene
from sesshoku.scene.elements import Material
from sesshoku.scene.io.spec import load_robot
from sesshoku.scene.scene import Scene, combine_materials

FELT = Material(0.5, torsional_friction=0.003, rolling_friction=0.001, name="felt")
CORK = Material(0.5, torsional_friction=0.002, rolling_friction=0.004)


def scene() -> Scene:
    made = Scene(material=Material(0.5))
    made.add_ground()
    made.add_sphere("felt", radius=0.1, mass=1.0, position=(0, 0, 0.09), material=FELT)
    made.add_sphere("cork", radius=0.1, mass=1.0, position=(0.19, 0, 0.09), material=CORK)
    made.add_box("plain", size=(0.2, 0.2, 0.2), mass=1.0, position=(1, 0, 0.09))
    made.add_box("twisted", size=(0.2, 0.2, 0.2), mass=1.0, position=(2, 0, 0.09))
    made.friction("twisted", "ground", static=0.5, torsional=0.006)
    return made


@pytest.mark.parametrize("kind", ["torsional_friction", "rolling_friction"])
@pytest.mark.parametrize("value", [-1e-3, float("nan"), float("inf"), None, "much"])
def test_bad_coefficients_are_named(kind: str, value: object) -> None:
    with pytest.raises(SceneError, match=kind):
        Material(0.5, **{kind: value})  # type: ignore[arg-type]


def test_of_two_materials_the_larger_counts() -> None:
    both = combine_materials(FELT, CORK)
    assert (both.torsional_friction, both.rolling_friction) == (0.003, 0.004)
    assert combine_materials(FELT, Material(0.1)).rolling_friction == 0.001


def test_pairs_keep_what_they_are_not_given() -> None:
    made = scene()
    made.friction("felt", "cork", static=0.3, rolling=0.0)
    pair = made.pair_friction["cork", "felt"]
    assert (pair.torsional_friction, pair.rolling_friction) == (0.003, 0.0)


def test_the_model_says_whether_any_has_it() -> None:
    assert compile_scene(scene()).model.has_rolling == 1
    plain = Scene()
    plain.add_ground()
    plain.add_sphere("a", radius=0.1, mass=1.0)
    assert compile_scene(plain).model.has_rolling == 0
    plain.friction("a", "ground", static=0.4, rolling=1e-3)
    assert compile_scene(plain).model.has_rolling == 1


def test_toml_keeps_them(tmp_path: Path) -> None:
    made = scene()
    made.friction("felt", "cork", static=0.3, rolling=0.0)
    made.save(tmp_path / "scene.toml")
    text = (tmp_path / "scene.toml").read_text()
    again = Scene.read(tmp_path / "scene.toml")
    for key in ("bodies", "pair_friction", "material"):
        assert_equal(getattr(made, key), getattr(again, key), key)
    assert "rolling_friction = 0.001" in text and "torsional = 0.006" in text
    assert compile_scene(again).model.shape_rolling.tolist() == compile_scene(made).model.shape_rolling.tolist()


def found(xml: str) -> dict[tuple[str, str], tuple[int, float, float, float]]:
    """Pair of bodies -> condim, sliding, torsional and rolling friction of its contacts in MuJoCo."""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    result = {}
    for contact in data.contact:
        a, b = sorted(model.body(model.geom_bodyid[g]).name for g in contact.geom)
        result[a, b] = (int(contact.dim), *(float(contact.friction[i]) for i in (0, 2, 3)))
    return result


def test_mjcf_has_the_contacts_we_have() -> None:
    contacts = found(scene().to_mjcf())
    assert contacts["felt", "ground"] == pytest.approx((6, 0.5, 0.003, 0.001))
    assert contacts["cork", "ground"] == pytest.approx((6, 0.5, 0.002, 0.004))
    assert contacts["cork", "felt"] == pytest.approx((6, 0.5, 0.003, 0.004))
    assert contacts["ground", "plain"][:2] == pytest.approx((3, 0.5))
    assert contacts["ground", "twisted"][:3] == pytest.approx((4, 0.5, 0.006))


def test_mjcf_comes_back_as_it_was(tmp_path: Path) -> None:
    made = scene()
    (tmp_path / "scene.xml").write_text(made.to_mjcf())
    robot = load_robot(tmp_path / "scene.xml")
    for name in ("felt", "cork", "plain"):
        old, new = made.bodies[name].geometries[0], body(robot, name).geometries[0].material
        material = old.material or made.material
        assert new is not None
        assert new.coefficients == material.coefficients


@pytest.mark.parametrize(("condim", "torsional", "rolling"), [(1, 0, 0), (3, 0, 0), (4, 0.02, 0), (6, 0.02, 0.03)])
def test_condim_says_which_coefficients_count(condim: int, torsional: float, rolling: float, tmp_path: Path) -> None:
    robot = load(tmp_path, f'<worldbody><body name="b"><freejoint/><geom name="g" size="0.1" mass="1" '
                           f'condim="{condim}" friction="0.7 0.02 0.03"/></body></worldbody>')
    material = body(robot, "b").geometries[0].material
    assert material is not None
    sliding = 0.7 if condim >= 3 else 0.0
    assert material.coefficients == (sliding, sliding, torsional, rolling)
    assert (material.combine, material.condim, material.static_friction) == ("maximum", condim, 0.7)
    assert robot.unsupported == []
