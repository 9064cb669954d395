"""MJCF that is wrong, or says what we read in another way: named, refused or listed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from mjcf_files import BALL, DATA, HINGE, body, load, write
from sesshoku.errors import SceneError
from sesshoku.scene.io.mjcf.read import load_mjcf
from sesshoku.scene.io.spec import load_robot
from sesshoku.scene.scene import Scene

BAD = {
    "unknown element": ("<world/>", "MuJoCo cannot read.*world"),
    "unknown attribute": (HINGE.replace("axis", "axle"), "MuJoCo cannot read.*axle"),
    "double name": (HINGE.replace("</worldbody>", f'<body name="b">{BALL}</body></worldbody>'),
                    "MuJoCo.*repeated name 'b'"),
    "reversed range": (HINGE.replace('name="j"', 'name="j" range="40 -40"'),
                       "joint 'j': lower bound of range 40 is not below .* -40"),
    "empty force range": (HINGE + '<actuator><motor name="m" joint="j" forcerange="2 2"/></actuator>',
                          "actuator 'm': .*forcerange"),
    "massless": (HINGE.replace('mass="1"', 'mass="0"'), "MuJoCo cannot compile.*mass and inertia"),
    "negative mass": (HINGE.replace('mass="1"', 'mass="-1"'), "MuJoCo cannot.*mass"),
    "negative damping": (HINGE.replace('name="j"', 'name="j" damping="-1"'),
                         "body 'b': joint 'j': viscous must be at least 0"),
    "nan": (HINGE.replace('name="b"', 'name="b" pos="0 NaN 0"'), "body 'b': pos is not finite"),
    "infinite": (HINGE.replace('name="b"', 'name="b" pos="0 inf 0"'), "b.*not finite"),
    "missing mesh": ('<asset><mesh name="m" file="lost.obj"/></asset>', "MuJoCo cannot.*lost.obj"),
    "missing include": ('<include file="lost.xml"/>', "lost.xml"),
    "negative friction": (HINGE.replace('size="0.1"', 'size="0.1" friction="-1 0 0"'),
                          "geom 0 of body 'b': .*friction"),
    "zero time step": ('<option timestep="0"/>' + HINGE, "timestep"),
    "inertia": (HINGE.replace(BALL, '<inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/>'), "MuJoCo cannot.*inertia"),
    "stray joint": ("<worldbody><joint/></worldbody>", "MuJoCo cannot"),
}


@pytest.mark.parametrize("case", BAD)
def test_errors_name_file_and_element(case: str, tmp_path: Path) -> None:
    inside, pattern = BAD[case]
    path = write(tmp_path, inside)
    with pytest.raises(SceneError, match=f"{re.escape(str(path))}: .*{pattern}"):
        load_robot(path)


def test_nan_in_an_included_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "part.xml").write_text(f'<mujocoinclude><body name="n" pos="nan 0 0">{BALL}</body></mujocoinclude>')
    with pytest.raises(SceneError, match="body 'n': pos is not finite"):
        load(tmp_path, '<worldbody><include file="part.xml"/></worldbody>')


def test_wrong_root_is_refused() -> None:
    with pytest.raises(SceneError, match="<robot>.*<mujoco>"):
        load_mjcf(DATA / "parts_description" / "urdf" / "machine.urdf")


def test_a_range_that_leaves_out_zero_starts_at_its_nearest_end(tmp_path: Path) -> None:
    limited = '<compiler angle="radian"/>' + HINGE.replace('axis="0 1 0"', 'axis="0 1 0" range="-2 -1"')
    scene = Scene(gravity=(0, 0, -9.8))
    scene.load(write(tmp_path, limited))
    assert scene.joint("j").position.tolist() == [-1.0]
    assert any("joint 'j' starts at -1" in note for note in scene.notes)
    outside = load(tmp_path, limited.replace('range="-2 -1"', 'range="-2 -1" ref="0.5"'))
    assert outside.bodies[0].joint.position.tolist() == [-1.0]
    assert "ref of joint 'j' is beyond its limits: it starts at -1" in outside.unsupported


@pytest.mark.parametrize(("inside", "listed"), [
    ('<joint name="j" type="free" damping="1" armature="2"/><geom size="0.1" pos="0 0 0.3" mass="1"/>', True),
    ('<joint name="j" type="free" frictionloss="1"/><geom size="0.1" mass="1"/>'
     '<body pos="0.2 0 0"><geom size="0.1" mass="1"/></body>', True),
    ('<joint name="j" type="free" damping="1"/><geom size="0.1" mass="1"/>', False),
    ('<joint name="j" type="free" damping="1"/><geom size="0.1" mass="1"/>'
     '<body pos="0.2 0 0"><geom size="0.1" mass="1"/></body><body pos="-0.2 0 0"><geom size="0.1" mass="1"/></body>',
     False),
    ('<joint name="j" type="free"/><geom size="0.1" pos="0 0 0.3" mass="1"/>', False),
])
def test_damping_of_an_off_centre_free_body_is_listed(tmp_path: Path, inside: str, listed: bool) -> None:
    made = load(tmp_path, f'<worldbody><body name="b">{inside}</body></worldbody>')
    found = [item for item in made.unsupported if "centre of mass" in item]
    assert len(found) == listed
    assert not listed or "of free joint 'j'" in found[0]


def test_quaternions_are_normalised_as_mujoco_does(tmp_path: Path) -> None:
    made = load(tmp_path, HINGE.replace('name="b"', 'name="b" quat="2 0 0 2"'))
    np.testing.assert_allclose(body(made, "b").rotation, [np.sqrt(0.5), 0, 0, np.sqrt(0.5)], atol=1e-15)
