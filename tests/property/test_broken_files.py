"""Hundreds of broken robot files: nothing but a SceneError comes out, and what loads is finite.

The mutations are seeded, so a failure repeats. What twenty thousand of them have shown of MuJoCo's compiler (4.0): it
never aborted; it searched for minutes for the length range of a muscle (we switch that search off); it lets infinity
and NaN pass in places, and of NaN it writes a warning into a log file in the working directory (we refuse NaN
beforehand and check every number afterwards).
"""

from __future__ import annotations

import random
import re
import shutil
import time
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from sesshoku.errors import SceneError
from sesshoku.scene.elements import Joint
from sesshoku.scene.io.spec import load_robot
from support import sample_count

DATA = Path(__file__).parents[1] / "data"
FILES = {"urdf": "parts_description/urdf/machine.urdf", "mjcf": "machine.xml"}
NUMBERS = ["nan", "inf", "-inf", "-1", "0", "1e999", "1e300", "-1e300", "1e-300", "text", "", "1 2", "0x10",
           "1,5", "1_0"]
TIME_LIMIT = 20.0  # s of processor time for one file; good ones take 0.01 to 0.3, only a search gone astray comes near
COUNT = sample_count(300, 3000)

# limits and clips may be infinite, everything else may not
MAY_BE_INFINITE = {"lower", "upper", "effort", "effort_range", "velocity_limit"}


# ---- mutations -------------------------------------------------------------------------------------------------------


def _elements(root: ElementTree.Element) -> list[tuple[ElementTree.Element, ElementTree.Element]]:
    return [(parent, child) for parent in root.iter() for child in parent]


def _with_attributes(root: ElementTree.Element) -> list[ElementTree.Element]:
    return [element for element in root.iter() if element.attrib]


def delete_element(root: ElementTree.Element, rng: random.Random) -> None:
    parent, child = rng.choice(_elements(root))
    parent.remove(child)


def duplicate_element(root: ElementTree.Element, rng: random.Random) -> None:
    parent, child = rng.choice(_elements(root))
    parent.append(child)


def move_element(root: ElementTree.Element, rng: random.Random) -> None:
    parent, child = rng.choice(_elements(root))
    parent.remove(child)
    below = set(child.iter())
    rng.choice([element for element in root.iter() if element not in below]).append(child)


def rename_element(root: ElementTree.Element, rng: random.Random) -> None:
    _, child = rng.choice(_elements(root))
    child.tag = rng.choice(["unknown", "link", "joint", "body", "geom", "inertial", child.tag.upper(), "mesh"])


def delete_attribute(root: ElementTree.Element, rng: random.Random) -> None:
    element = rng.choice(_with_attributes(root))
    del element.attrib[rng.choice(sorted(element.attrib))]


def rename_attribute(root: ElementTree.Element, rng: random.Random) -> None:
    element = rng.choice(_with_attributes(root))
    key = rng.choice(sorted(element.attrib))
    element.attrib[rng.choice(["unknown", "name", "type", "pos", key + "x"])] = element.attrib.pop(key)


def change_number(root: ElementTree.Element, rng: random.Random) -> None:
    numeric = [(element, key) for element in root.iter() for key, value in element.attrib.items()
               if re.fullmatch(r"[-+0-9.e ]+", value)]
    element, key = rng.choice(numeric)
    parts = element.attrib[key].split() or [""]
    parts[rng.randrange(len(parts))] = rng.choice(NUMBERS)
    element.attrib[key] = " ".join(parts)


def swap_values(root: ElementTree.Element, rng: random.Random) -> None:
    """Two attributes of the same key trade places: parents, children, names, axes, limits ..."""
    key = rng.choice(sorted({key for element in root.iter() for key in element.attrib}))
    holders = [element for element in root.iter() if key in element.attrib]
    one, two = rng.choice(holders), rng.choice(holders)
    one.attrib[key], two.attrib[key] = two.attrib[key], one.attrib[key]


def copy_value(root: ElementTree.Element, rng: random.Random) -> None:
    """Any value anywhere: names double, words stand where numbers should."""
    one, two = rng.choice(_with_attributes(root)), rng.choice(_with_attributes(root))
    one.attrib[rng.choice(sorted(one.attrib))] = two.attrib[rng.choice(sorted(two.attrib))]


def spoil_text(text: str, rng: random.Random) -> str:
    """Damage below the level of XML: cut short, bytes lost, bytes doubled."""
    at = rng.randrange(len(text))
    length = rng.randrange(1, 40)
    return rng.choice([text[:at], text[:at] + text[at + length:], text[:at] + text[at:at + length] + text[at:]])


MUTATIONS = [delete_element, duplicate_element, move_element, rename_element, delete_attribute, rename_attribute,
             change_number, change_number, change_number, swap_values, copy_value]


def mutated(text: str, seed: int) -> str:
    rng = random.Random(seed)
    if rng.random() < 0.08:
        return spoil_text(text, rng)
    root = ElementTree.fromstring(text)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        rng.choice(MUTATIONS)(root, rng)
    return ElementTree.tostring(root, encoding="unicode")


# ---- the property ----------------------------------------------------------------------------------------------------


def assert_finite(value: Any, where: str) -> None:
    """Every number in a description is finite, but for limits; NaN is nowhere."""
    if is_dataclass(value):
        for item in fields(value):
            inner = getattr(value, item.name)
            if item.name in MAY_BE_INFINITE and isinstance(inner, (float, tuple)):
                assert not np.isnan(inner).any(), f"{where}.{item.name}"
            else:
                assert_finite(inner, f"{where}.{item.name}")
    elif isinstance(value, (list, tuple)):
        for i, inner in enumerate(value):
            assert_finite(inner, f"{where}[{i}]")
    elif isinstance(value, (float, np.ndarray)):
        assert np.isfinite(value).all(), f"{where} = {value}"


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the data folder to write broken files into, so that includes and meshes are found."""
    return Path(shutil.copytree(DATA, tmp_path_factory.mktemp("broken") / "data"))


@pytest.mark.parametrize("kind", FILES)
def test_only_scene_errors_come_out_of_broken_files(kind: str, workplace: Path) -> None:
    text = (DATA / FILES[kind]).read_text()
    path = (workplace / FILES[kind]).with_name(f"broken{Path(FILES[kind]).suffix}")
    refused = 0
    for seed in range(COUNT):
        broken = mutated(text, seed)
        path.write_text(broken)
        begin = time.process_time()
        try:
            description = load_robot(path)
        except SceneError as error:
            assert str(path) in str(error), f"seed {seed}: the error does not name the file: {error}"
            refused += 1
        except Exception as error:
            raise AssertionError(f"seed {seed}: {type(error).__name__}: {error}") from error
        else:
            assert description.bodies or kind == "mjcf", f"seed {seed}: nothing was loaded"
            assert_finite(description, f"seed {seed}")
        assert time.process_time() - begin < TIME_LIMIT, f"seed {seed} took too long"
    # the mutations must neither miss nor kill everything
    assert 0.2 * COUNT < refused < 0.95 * COUNT, refused


def test_the_finite_check_sees_nan() -> None:
    joint = Joint("revolute", lower=-np.inf)
    assert_finite(joint, "joint")
    joint.stiffness = float("nan")
    with pytest.raises(AssertionError, match="stiffness"):
        assert_finite(joint, "joint")


@pytest.mark.parametrize("data", [
    b"", b"\x00" * 64, b"\xff\xfe\x00", b"<robot", b"<robot/>", b"<mujoco><worldbody>", b"<sdf version='1.6'/>",
    b"<?xml version='1.0' encoding='klingon'?><robot name='r'/>", b"<robot name='r'><link/></robot>",
    b"<mujoco><include file='nowhere.xml'/></mujoco>", b"<mujocoinclude/>", "<robot name='\u200b'/>".encode(),
    b"<robot name='r'>" + b"<link>" * 3000 + b"</link>" * 3000 + b"</robot>",
    b"<mujoco><worldbody>" + b"<body>" * 3000 + b"</body>" * 3000 + b"</worldbody></mujoco>",
])
def test_hostile_bytes_are_refused(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    path.write_bytes(data)
    with pytest.raises(SceneError, match=re.escape(str(path))):
        load_robot(path)


def test_places_that_are_no_files_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "lost.urdf", Path("a\0b"), tmp_path / ("x" * 5000)):
        with pytest.raises(SceneError):
            load_robot(path)
