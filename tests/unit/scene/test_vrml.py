"""VRML 97: small files of our own, their shapes against closed forms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sesshoku.errors import SceneError
from sesshoku.scene.geometry.mass import polyhedron_moments
from sesshoku.scene.geometry.shapes import Box, Cylinder, Sphere
from sesshoku.scene.io.spec import Unsupported
from sesshoku.scene.io.vrml.geometry import Piece
from sesshoku.scene.io.vrml.shapes import vrml_pieces


def pieces(tmp_path: Path, text: str, node: str | None = None, listed: list[str] | None = None) -> list[Piece]:
    path = tmp_path / "shape.wrl"
    path.write_text("#VRML V2.0 utf8\n" + text)
    unsupported = Unsupported()
    found = vrml_pieces(path, unsupported, node)
    if listed is not None:
        listed += unsupported.listed()
    return found


def volume(piece: Piece) -> float:
    assert piece.vertices is not None and piece.faces is not None
    return polyhedron_moments(piece.vertices, piece.faces)[0]


def test_primitives_with_their_usual_sizes(tmp_path: Path) -> None:
    box, sphere, cylinder = pieces(tmp_path, """
        Shape { geometry Box { size 1, 2 3 } }   # commas are blanks
        Shape { geometry Sphere {}
          appearance Appearance { material Material { diffuseColor 1 0 0 transparency 0.25 } } }
        Shape { geometry Cylinder { radius .5 height 4 } }""")
    assert box.shape == Box((1, 2, 3)) and box.color is None
    assert sphere.shape == Sphere(1.0) and sphere.color == (1.0, 0.0, 0.0, 0.75)
    assert cylinder.shape == Cylinder(0.5, 4.0)
    from sesshoku.spatial.rotation import quaternion_to_matrix

    assert np.allclose(quaternion_to_matrix(np.asarray(cylinder.rotation))[:, 2], [0, 1, 0])  # VRML's axis is y


def test_transforms_move_turn_and_scale(tmp_path: Path) -> None:
    moved, = pieces(tmp_path, """Transform { translation 1 2 3 rotation 0 0 1 1.5707963267948966
        children [ Transform { scale 2 2 2 translation 1 0 0 children Shape { geometry Sphere { radius 0.5 } } } ] }""")
    assert isinstance(moved.shape, Sphere) and moved.shape.radius == pytest.approx(1.0, rel=1e-12)
    assert np.allclose(moved.position, [1, 3, 3])


def test_a_scale_along_one_axis_makes_triangles(tmp_path: Path) -> None:
    stretched, = pieces(tmp_path, "Transform { scale 1 1 3 children [ Shape { geometry Box { size 1 1 1 } } ] }")
    assert stretched.shape is None and volume(stretched) == pytest.approx(3.0)
    mirrored, = pieces(tmp_path, "Transform { scale -1 1 1 children [ Shape { geometry Box { size 1 1 1 } } ] }")
    assert volume(mirrored) == pytest.approx(1.0)  # outward stays outward


def test_center_and_scale_orientation(tmp_path: Path) -> None:
    """Stretched twofold along the diagonal of x and y, about a corner of the unit cube."""
    found, = pieces(tmp_path, """Transform { center 0.5 0.5 0 scaleOrientation 0 0 1 0.7853981633974483 scale 2 1 1
        children Shape { geometry Box { size 1 1 1 } } }""")
    assert found.vertices is not None
    corner = found.vertices[np.argmin(np.abs(found.vertices[:, :2] - [0.5, 0.5]).sum(axis=1))]
    assert np.allclose(corner[:2], [0.5, 0.5]) and volume(found) == pytest.approx(2.0)
    assert found.vertices[:, :2].min() == pytest.approx(0.5 - 2.0)


CUBE = """IndexedFaceSet { coord Coordinate { point [ 0 0 0, 1 0 0, 1 1 0, 0 1 0, 0 0 1, 1 0 1, 1 1 1, 0 1 1 ] }
    coordIndex [ 3 2 1 0 -1 4 5 6 7 -1 0 1 5 4 -1 1 2 6 5 -1 2 3 7 6 -1 3 0 4 7 ] %s }"""


def test_faces_are_fans_of_triangles(tmp_path: Path) -> None:
    cube, = pieces(tmp_path, "Shape { geometry " + CUBE % "" + " }")
    assert cube.faces is not None and len(cube.faces) == 12 and volume(cube) == pytest.approx(1.0)
    clockwise, = pieces(tmp_path, "Shape { geometry " + CUBE % "ccw FALSE" + " }")
    with pytest.raises(SceneError, match="no volume"):
        volume(clockwise)  # turned inside out, as the file says


def test_names_are_used_again(tmp_path: Path) -> None:
    found = pieces(tmp_path, """DEF PART Shape { geometry Box { size 1 1 1 } }
        Transform { translation 0 0 5 children USE PART } ROUTE A.x TO B.y""")
    assert [np.asarray(piece.position)[2] for piece in found] == [0, 5]
    two = "Group { children [ DEF A Shape { geometry Sphere {} } Shape { geometry Sphere {} } ] }"
    assert len(pieces(tmp_path, two, node="A")) == 1


def test_prototypes_take_fields(tmp_path: Path) -> None:
    small, large = pieces(tmp_path, """
        PROTO Ball [ field SFFloat size 0.25 exposedField SFVec3f at 0 0 0 eventIn SFBool go ]
          { Transform { translation IS at children [ Shape { geometry Sphere { radius IS size } } ] } }
        EXTERNPROTO Far [ field SFFloat a ] "far.wrl"
        Ball {} Ball { size 2 at 1 2 3 }""")
    assert small.shape == Sphere(0.25) and large.shape == Sphere(2.0)
    assert np.allclose(np.asarray(large.position), [1, 2, 3])


def test_what_is_no_solid_is_passed_over_and_the_unknown_listed(tmp_path: Path) -> None:
    listed: list[str] = []
    found = pieces(tmp_path, """NavigationInfo { type "EXAMINE" } Viewpoint { position 0 0 10 }
        Switch { whichChoice 1 choice [ Shape { geometry Sphere {} } Shape { geometry Box {} } ] }
        LOD { level [ Shape { geometry Box {} } Shape { geometry Sphere {} } ] }
        Shape { geometry IndexedLineSet { coordIndex [ 0 1 -1 ] } } Strange { children [] }
        Script { url "x.js" field SFInt32 n 3 eventOut SFBool done }""", listed=listed)
    assert [type(piece.shape) for piece in found] == [Box, Box]
    assert listed == ["shape.wrl: node Strange"]


def test_inlined_files(tmp_path: Path) -> None:
    (tmp_path / "inner.wrl").write_text("#VRML V2.0 utf8\nShape { geometry Box { size 1 1 1 } }")
    found, = pieces(tmp_path, 'Transform { translation 0 0 2 children Inline { url "inner.wrl" } }')
    assert np.allclose(np.asarray(found.position), [0, 0, 2])
    with pytest.raises(SceneError, match=r"Inline \(line 2\): an included file is missing"):
        pieces(tmp_path, 'Inline { url "nowhere.wrl" }')
    with pytest.raises(SceneError, match="without end"):
        pieces(tmp_path, 'Inline { url "shape.wrl" }')


def test_cone_extrusion_and_grid_have_their_volumes(tmp_path: Path) -> None:
    cone, prism, bent = pieces(tmp_path, """Shape { geometry Cone { bottomRadius 1 height 3 } }
        Shape { geometry Extrusion { spine [ 0 0 0, 0 2 0 ] scale [ 0.5 0.5 ] } }
        Shape { geometry Extrusion { spine [ 0 0 0, 0 1 0, 1 2 0 ] } }""")
    assert volume(cone) == pytest.approx(np.pi, rel=0.02)
    assert volume(prism) == pytest.approx(2.0)
    assert bent.vertices is not None and volume(bent) > 0.0
    grid, = pieces(tmp_path, """Shape { geometry ElevationGrid { xDimension 2 zDimension 3 xSpacing 2
        height [ 0 0 1 1 0 0 ] } }""")
    assert grid.vertices is not None and grid.vertices.max(axis=0).tolist() == [2, 1, 2]


@pytest.mark.parametrize(("text", "message"), [
    ("Shape { geometry Box { size 1 2 } }", r"Box \(line 2\): size needs 3 numbers"),
    ("Shape { geometry Box { size 1 2 3 }", "the file ends within a node"),
    ("\n\nShape ( )", r"line 4: expected '\{' \(got '\('\)"),
    ("USE NOTHING", "line 2: USE of a name that no DEF gave"),
    ("Shape { geometry IndexedFaceSet { coord Coordinate { point [ 0 0 0 1 0 0 0 1 0 ] } coordIndex [ 0 1 7 -1 ] } }",
     "a face names a point that is not there"),
    ('WorldInfo { title "open', "a text is not closed"),
])
def test_bad_files_say_where(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SceneError, match=message) as caught:
        pieces(tmp_path, text)
    assert "shape.wrl" in str(caught.value)


def test_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "old.wrl").write_text("#VRML V1.0 ascii\nCube {}")
    with pytest.raises(SceneError, match="not a VRML 97 file"):
        vrml_pieces(tmp_path / "old.wrl", Unsupported())
