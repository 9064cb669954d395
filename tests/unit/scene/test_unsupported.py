"""What files use and we do not: grades, groups, and few lines."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest

from command_line import caller
from mjcf_files import HINGE, load, write
from sesshoku.errors import UnsupportedFeature
from sesshoku.scene.io.unsupported import Grade, Item, Unsupported, summary
from sesshoku.scene.scene import Scene


def listed(*items: tuple[str, Grade]) -> list[str]:
    unsupported = Unsupported()
    for item, grade in items:
        unsupported.add(item, grade)
    return unsupported.listed()


def test_what_changes_the_motion_comes_first() -> None:
    items = listed(("light 'sun'", Grade.LOOKS), ("solref of geom 'a'", Grade.SLIGHT),
                   ("gravcomp of body 'b'", Grade.MOTION), ("light 'sun'", Grade.LOOKS))
    assert items == ["gravcomp of body 'b'", "solref of geom 'a'", "light 'sun' (2 times)"]
    assert [item.grade for item in items] == [Grade.MOTION, Grade.SLIGHT, Grade.LOOKS]


def test_items_that_differ_in_a_name_are_told_together() -> None:
    items = listed(*((f"gravcomp of body 'link{i}'", Grade.MOTION) for i in range(9)), ("flex 'f'", Grade.MOTION),
                   *((f"solref of geom {i} of body 'b{i}'", Grade.SLIGHT) for i in range(2)),
                   ("range of ball joint 'x'", Grade.MOTION), ("range of ball joint 'y'", Grade.MOTION))
    assert summary(items) == [
        "changes the motion: gravcomp of 9 bodies (link0, link1, link2, ...)",
        "changes the motion: range of 2 ball joints (x, y)", "changes the motion: flex 'f'",
        "changes it slightly: solref of 2 geoms (b0#0, b1#1)"]
    assert "link8" in summary(items, verbose=True)[0]


def test_looks_are_one_line_and_options_another() -> None:
    items = listed(("light (line 1)", Grade.LOOKS), ("light (line 7)", Grade.LOOKS), ("camera 'c'", Grade.LOOKS),
                   ("visual settings", Grade.LOOKS), ("option cone = ELLIPTIC", Grade.SLIGHT),
                   ("option impratio = 10.0", Grade.SLIGHT))
    assert summary(items) == ["changes it slightly: options cone = ELLIPTIC, impratio = 10.0",
                              "leaves it as it is: 2 lights, camera 'c', visual settings"]
    assert summary(items, verbose=True)[1:] == [
        "leaves it as it is: 2 lights (line 1, line 7)", "leaves it as it is: camera 'c'",
        "leaves it as it is: visual settings"]


def test_what_does_not_change_the_motion_fits_ten_lines() -> None:
    slight = [(f"{what} of geom 'g{n}'", Grade.SLIGHT) for what in "abcdefghijklmnop" for n in range(5)]
    lines = summary(listed(*slight, *((f"site 's{n}'", Grade.LOOKS) for n in range(300))))
    assert len(lines) <= 9  # and a heading
    assert any("12 kinds more (sesshoku info -v" in line for line in lines)


def test_each_remedy_is_told() -> None:
    unsupported = Unsupported()
    for name in "ab":
        unsupported.add(f"adhesion of geom {name!r}", remedy="push it with apply_force")
    assert summary(unsupported.listed()) == [
        "changes the motion: adhesion of 2 geoms (a, b); push it with apply_force"]


def test_items_are_strings_that_keep_their_grade() -> None:
    item = Item("x", Grade.SLIGHT, "do y")
    for again in (copy.deepcopy(item), pickle.loads(pickle.dumps(item))):
        assert (again, again.grade, again.remedy) == ("x", Grade.SLIGHT, "do y")
    assert item.within("f.xml") == "f.xml: x" and item.within("f.xml").grade == Grade.SLIGHT


GRADED = {
    "adhesion of geom 0 of body 'b'": (HINGE.replace('size="0.1"', 'size="0.1" adhesion="2"'), Grade.MOTION),
    "solreflimit of joint 'j'": (HINGE.replace('name="j"', 'name="j" solreflimit="0.1 1"'), Grade.SLIGHT),
    "option integrator = RK4": ('<option integrator="RK4"/>' + HINGE, Grade.SLIGHT),
    "option flag contact disabled": ('<option><flag contact="disable"/></option>' + HINGE, Grade.MOTION),
    "fluidshape of geom 0 of body 'b': the box of its body's inertia stands for it": (
        '<option density="1"/>' + HINGE.replace('size="0.1"', 'size="0.1" fluidshape="ellipsoid"'), Grade.MOTION),
    "light (line 1)": (HINGE.replace("<worldbody>", "<worldbody><light/>"), Grade.LOOKS),
}


@pytest.mark.parametrize("item", GRADED)
def test_files_are_graded(item: str, tmp_path: Path) -> None:
    inside, grade = GRADED[item]
    (found,) = load(tmp_path, inside).unsupported
    assert (found, found.grade) == (item, grade)  # type: ignore[attr-defined]


def test_the_warning_is_short_and_the_scene_keeps_all(tmp_path: Path) -> None:
    lights = "".join(f'<light name="l{n}"/>' for n in range(40))
    sticky = HINGE.replace('size="0.1"', 'size="0.1" adhesion="2"')
    path = write(tmp_path, sticky.replace("<worldbody>", f"<worldbody>{lights}"))
    scene = Scene()
    with pytest.warns(UnsupportedFeature) as caught:
        scene.load(path)
    lines = str(caught[0].message).splitlines()
    assert len(lines) == 3 and "adhesion of geom 0 of body 'b'" in lines[1] and lines[2].endswith("40 lights")
    assert len(scene.unsupported) == 41
    scene.save(tmp_path / "scene.toml")
    assert Scene.read(tmp_path / "scene.toml").unsupported == scene.unsupported


def test_info_lists_all_on_demand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                  capsys: pytest.CaptureFixture[str]) -> None:
    sesshoku = caller(monkeypatch, capsys)
    lights = "".join(f'<light name="l{n}"/>' for n in range(5))
    path = write(tmp_path, HINGE.replace("<worldbody>", f"<worldbody>{lights}"))
    assert "l4" not in sesshoku("info", path).out
    assert "leaves it as it is: robot.xml: 5 lights (l0, l1, l2, l3, l4)" in sesshoku("info", path, "-v").out
