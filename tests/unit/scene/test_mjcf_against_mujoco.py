"""MJCF as read: kinematics and loops against MuJoCo's own."""

from __future__ import annotations

import re
from pathlib import Path

import mujoco
import numpy as np
import pytest

from mjcf_files import BALL, DATA, MACHINE, write
from sesshoku.scene.elements import Body, Loop, RobotDescription
from sesshoku.scene.io.mjcf.read import load_mjcf
from sesshoku.spatial.rotation import axis_angle, multiply, quaternion_to_matrix


@pytest.fixture(scope="module")
def machine() -> RobotDescription:
    return load_mjcf(MACHINE)


Pose = tuple[np.ndarray, np.ndarray]


def compose(a: Pose, b: Pose) -> Pose:
    return a[0] + quaternion_to_matrix(a[1]) @ b[0], multiply(a[1], b[1])


def moved(b: Body, q: np.ndarray) -> Pose:
    """The joint's own motion: about its axis through its anchor, in the body's frame."""
    if b.joint.kind in ("revolute", "continuous", "spherical"):
        turn = q / np.linalg.norm(q) if b.joint.kind == "spherical" else axis_angle(b.joint.axis, q[0])
        return b.joint.anchor - quaternion_to_matrix(turn) @ b.joint.anchor, turn
    return (b.joint.axis * q[0] if b.joint.kind == "prismatic" else np.zeros(3)), np.array([1.0, 0, 0, 0])


def poses(description: RobotDescription, model: mujoco.MjModel, data: mujoco.MjData) -> dict[str, Pose]:
    """World poses by the description, with joint positions equal to MuJoCo's qpos."""
    result: dict[str, Pose] = {}
    for b in description.bodies:
        size = {"spherical": 4, "free": 7}.get(b.joint.kind, 1)
        q = np.zeros(0) if b.joint.kind == "fixed" else data.qpos[model.joint(b.joint.name).qposadr[0]:][:size]
        if b.joint.kind == "free":
            result[b.name] = (q[:3].copy(), q[3:].copy())
            continue
        at = compose((b.position, b.rotation), moved(b, q))
        result[b.name] = at if b.parent is None else compose(result[b.parent], at)
    return result


def random_state(model: mujoco.MjModel, rng: np.random.Generator) -> mujoco.MjData:
    data = mujoco.MjData(model)
    mujoco.mj_integratePos(model, data.qpos, rng.normal(size=model.nv), 1.0)
    return data


def test_joint_positions_are_mujocos(machine: RobotDescription, rng: np.random.Generator) -> None:
    """Chains of joints, anchors, refs, balls: the same qpos gives the same poses."""
    model = _mujocos_own()
    for attempt in range(5):
        data = mujoco.MjData(model) if attempt == 0 else random_state(model, rng)
        mujoco.mj_kinematics(model, data)
        ours = poses(machine, model, data)
        for i in range(1, model.nbody):
            if model.body(i).name == "puppet":
                continue
            position, rotation = ours[model.body(i).name]
            np.testing.assert_allclose(position, data.xpos[i], atol=1e-12)
            np.testing.assert_allclose(quaternion_to_matrix(rotation), data.xmat[i].reshape(3, 3), atol=1e-12)
    start = {b.joint.name: b.joint.position for b in machine.bodies if b.joint.kind in ("revolute", "prismatic")}
    for name, position in start.items():
        assert position[0] == model.qpos0[model.joint(name).qposadr[0]]


def _mujocos_own() -> mujoco.MjModel:
    """The machine compiled by MuJoCo alone, which insists on pictures being there."""
    text = re.sub(r"<texture[^>]*>", "", MACHINE.read_text()).replace(' texture="checks"', "")
    wedge = (DATA / "parts_description" / "meshes" / "wedge.obj").read_bytes()
    return mujoco.MjSpec.from_string(text, include={"legs.xml": (DATA / "legs.xml").read_bytes()},
                                     assets={"parts_description/meshes/wedge.obj": wedge}).compile()


LOOPS = {
    "connect": '<connect body1="a" body2="b" anchor="0.1 0.2 0.3"/>',
    "connect world": '<connect body1="a" anchor="0.1 0.2 0.3"/>',
    "connect sites": '<connect site1="s" site2="t"/>',
    "weld": '<weld body1="a" body2="b"/>',
    "weld anchor": '<weld body1="a" body2="b" anchor="0.1 0.2 0.3"/>',
    "weld pose": '<weld body1="a" body2="b" relpose="0.1 0.2 0.3 0.5 0.5 -0.5 0.5" anchor="0.4 0 0.2"/>',
    "weld world": '<weld body1="a"/>',
    "weld sites": '<weld site1="s" site2="t"/>',
}


@pytest.mark.parametrize("case", LOOPS)
def test_loops_close_where_mujocos_do(case: str, tmp_path: Path, rng: np.random.Generator) -> None:
    site = '<site name="{}" pos="0.3 -0.1 0.2" euler="20 40 {}"/>'
    bodies = "".join(f'<body name="{name}" pos="{x} 0 1" euler="10 {x} 30"><freejoint/>{BALL}'
                     f"{site.format(mark, x)}</body>" for name, x, mark in (("a", 0, "s"), ("b", 2, "t")))
    path = write(tmp_path, f"<worldbody>{bodies}</worldbody><equality>{LOOPS[case]}</equality>")
    description = load_mjcf(path)
    (loop,) = description.loops
    model = mujoco.MjModel.from_xml_path(str(path))
    data = random_state(model, rng)
    place_a_on_b(loop, data)
    mujoco.mj_forward(model, data)
    assert data.ne == (6 if loop.kind == "weld" else 3)
    np.testing.assert_allclose(data.efc_pos[:data.ne], 0, atol=1e-12)


def place_a_on_b(loop: Loop, data: mujoco.MjData) -> None:
    """Move body a (the first free joint) so that the loop is closed by the words of `Loop`."""
    assert loop.body_a == "a"
    b: Pose = (data.qpos[7:10].copy(), data.qpos[10:14].copy())
    if loop.body_b is None:
        b = (np.zeros(3), np.array([1.0, 0, 0, 0]))
    if loop.kind == "weld":
        data.qpos[3:7] = multiply(b[1], loop.rotation_b)
    R_a, R_b = quaternion_to_matrix(data.qpos[3:7]), quaternion_to_matrix(b[1])
    data.qpos[:3] = b[0] + R_b @ loop.position_b - R_a @ loop.position
