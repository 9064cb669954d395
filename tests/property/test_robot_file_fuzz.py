"""Robot files with random damage load, or are refused by a SceneError that names the file; nothing else is raised."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from sesshoku.errors import SceneError
from sesshoku.scene.io.spec import Unsupported, load_robot
from sesshoku.scene.io.vrml.shapes import vrml_pieces
from support import sample_count

BODY = """format: ChoreonoidBody
formatVersion: 1.0
angleUnit: degree
name: Arm
links:
  -
    name: BASE
    jointType: fixed
    translation: [ 0, 0, 1 ]
    elements:
      -
        type: RigidBody
        mass: 2.0
        centerOfMass: [ 0, 0, 0.1 ]
        inertia: [ 0.02, 0, 0, 0, 0.02, 0, 0, 0, 0.01 ]
        elements:
          Shape: { geometry: { type: Box, size: [ 0.2, 0.3, 0.4 ] } }
  -
    name: UPPER
    parent: BASE
    jointId: 0
    jointType: revolute
    jointAxis: -Y
    jointRange: [ -90, 45 ]
    rotation: [ 0, 0, 1, 90 ]
    mass: 1
    elements:
      - { type: ForceSensor, name: force }
      - { type: Collision, shape: { geometry: { type: Extrusion, spine: [ 0, 0, 0, 0, 1, 0 ] } } }
extraJoints:
  - { link1Name: BASE, link2Name: UPPER, jointType: ball, link1LocalPos: [ 0, 0, 0.2 ] }
standardPose: [ 30 ]
"""
VRML = """#VRML V2.0 utf8
PROTO Ball [ field SFFloat size 0.25 ] { Shape { geometry Sphere { radius IS size } } }
Ball { size 2 } DEF A Transform { rotation 0 1 0 0.5 scale 1 2 1 children [ Shape {
  appearance Appearance { material Material { diffuseColor 1 0 0 } }
  geometry IndexedFaceSet { coord Coordinate { point [ 0 0 0, 1 0 0, 0 1 0, 0 0 1 ] }
    coordIndex [ 0 2 1 -1 0 1 3 -1 1 2 3 -1 2 0 3 -1 ] } } ] } USE A
Shape { geometry Extrusion { spine [ 0 0 0, 0 1 0, 1 2 0 ] } }
Switch { whichChoice 0 choice Shape { geometry Cone { } } }
Shape { geometry ElevationGrid { xDimension 2 zDimension 3 height [ 0 0 1 1 0 0 ] } }
"""
JUNK = ("nan", "-1", "0", "1e400", "[", "]", "{", "}", "x", "''", ":", "-", "null", "1e-320", '"', "true", "*x", "&y")


def damaged(text: str, rng: np.random.Generator) -> str:
    """The text with one to three of its words lost, doubled, swapped or replaced."""
    parts = re.findall(r"\s+|[^\s]+", text)
    for _ in range(int(rng.integers(1, 4))):
        k, j, how = (int(rng.integers(n)) for n in (len(parts), len(parts), 4))
        if how == 0:
            parts[k] = f"{rng.choice(JUNK)} "
        elif how == 1:
            del parts[k]
        elif how == 2:
            parts.insert(k, parts[j])
        else:
            parts[k], parts[j] = parts[j], parts[k]
    return "".join(parts)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numbers that overflow are refused a moment later
@pytest.mark.parametrize(("name", "text"), [("robot.body", BODY), ("shape.wrl", VRML)])
def test_damage_is_told(tmp_path: Path, rng: np.random.Generator, name: str, text: str) -> None:
    path, refused = tmp_path / name, 0
    count = sample_count(150, 3000)
    for _ in range(count):
        path.write_text(damaged(text, rng))
        try:
            if name.endswith(".body"):
                load_robot(path)
            else:
                vrml_pieces(path, Unsupported())
        except SceneError as error:
            refused += 1
            assert name in str(error)
    assert 0 < refused < count


def test_the_files_themselves_are_good(tmp_path: Path) -> None:
    (tmp_path / "robot.body").write_text(BODY)
    (tmp_path / "shape.wrl").write_text(VRML)
    assert len(load_robot(tmp_path / "robot.body").bodies) == 2
    assert len(vrml_pieces(tmp_path / "shape.wrl", Unsupported())) == 6
