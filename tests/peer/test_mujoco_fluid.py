"""Drag of the surrounding fluid on random mechanisms, against MuJoCo's own forces (inertia model)."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from support import SEED, sample_count

pytestmark = pytest.mark.peer
mujoco: Any = pytest.importorskip("mujoco")
OFF = 'contype="0" conaffinity="0"'


def _quaternion(rng: np.random.Generator) -> str:
    return " ".join(str(x) for x in rng.normal(size=4))


def _geom(rng: np.random.Generator) -> str:
    """A geom of any kind anywhere on its body; balls, cubes and rods have equal moments, their axes are the geom's."""
    kind = rng.choice(["box", "sphere", "capsule", "cylinder", "ellipsoid", "cube"])
    size = rng.uniform(0.02, 0.2, 3)
    if kind == "cube":
        kind, size = "box", np.full(3, size[0])
    place = " ".join(str(x) for x in rng.uniform(-0.2, 0.2, 3))
    return (f'<geom type="{kind}" size="{size[0]} {size[1]} {size[2]}" pos="{place}" quat="{_quaternion(rng)}" '
            f'density="{rng.uniform(100, 2000)}" {OFF}/>')


def _body(rng: np.random.Generator, name: str, depth: int) -> str:
    joints = {"hinge": f'<joint type="hinge" axis="{rng.normal()} {rng.normal()} 1"/>', "ball": '<joint type="ball"/>',
              "slide": f'<joint type="slide" axis="1 {rng.normal()} {rng.normal()}"/>', "fixed": "",
              "two": '<joint type="hinge" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>'}
    joint = joints[str(rng.choice(list(joints)))] if depth else joints["hinge"]
    geoms = "".join(_geom(rng) for _ in range(rng.integers(1, 3)))
    below = "".join(_body(rng, f"{name}{n}", depth + 1) for n in range(rng.integers(0, 3) if depth < 3 else 0))
    place = " ".join(str(x) for x in rng.uniform(-0.3, 0.3, 3))
    return f'<body name="{name}" pos="{place}" quat="{_quaternion(rng)}">{joint}{geoms}{below}</body>'


def _files(rng: np.random.Generator, folder: Path, body: str) -> tuple[Path, Path]:
    """The same bodies in a fluid, and in none."""
    fluid = f'density="{rng.uniform(0, 1200)}" viscosity="{rng.uniform(0, 2)}" wind="{rng.normal()} {rng.normal()} 0.5"'
    paths = folder / "fluid.xml", folder / "none.xml"
    for path, option in zip(paths, (fluid, "")):
        path.write_text(f"<mujoco><option {option}/><worldbody>{body}</worldbody></mujoco>")
    return paths


def _sims(paths: tuple[Path, Path]) -> list[ss.Simulation]:
    sims = []
    for path in paths:
        scene = ss.Scene()
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # nothing is left out
            scene.load(path)
        sims.append(ss.Simulation(scene, "none", dt=1e-9))  # drag is never as much as would stop a body
    return sims


def test_drag_on_joints_is_mujocos(tmp_path: Path) -> None:
    rng = np.random.default_rng([SEED, 301])
    for number in range(sample_count(12, 200)):
        paths = _files(rng, tmp_path, _body(rng, "b", 0))
        model = mujoco.MjModel.from_xml_path(str(paths[0]))
        data = mujoco.MjData(model)
        data.qpos[:] += rng.normal(size=model.nq)
        mujoco.mj_normalizeQuat(model, data.qpos)
        data.qvel[:] = 3.0 * rng.normal(size=model.nv)
        mujoco.mj_forward(model, data)
        wet, dry = _sims(paths)
        for sim in (wet, dry):
            for name, link in sim.compiled.joint_link.items():  # joints of one robot stand in the file's order
                joint = model.joint(list(sim.compiled.joint_names).index(name))
                kind, at, k = joint.type[0], joint.qposadr[0], joint.dofadr[0]
                n, v = (4, 3) if kind == 1 else (1, 1)
                sim.q[sim.model.link_coordinate[link]:][:n] = data.qpos[at:at + n]
                sim.v[sim.model.link_dof[link]:][:v] = data.qvel[k:k + v]
        drag = dry.bias_force() - wet.bias_force()
        scale = 1.0 + np.abs(data.qfrc_fluid).max() + np.abs(dry.bias_force()).max()
        assert np.abs(drag - data.qfrc_fluid).max() < 1e-10 * scale, number


def test_drag_on_free_bodies_is_mujocos(tmp_path: Path) -> None:
    rng = np.random.default_rng([SEED, 302])
    for _ in range(sample_count(8, 100)):
        geoms = "".join(_geom(rng) for _ in range(rng.integers(1, 3)))
        paths = _files(rng, tmp_path, f'<body name="b"><freejoint/>{geoms}</body>')
        model = mujoco.MjModel.from_xml_path(str(paths[0]))
        data = mujoco.MjData(model)
        data.qpos[:] = rng.normal(size=7)
        mujoco.mj_normalizeQuat(model, data.qpos)
        data.qvel[:] = 3.0 * rng.normal(size=6)
        mujoco.mj_forward(model, data)
        wet, dry = _sims(paths)
        R = data.xmat[1].reshape(3, 3)
        for sim in (wet, dry):
            sim.bodies["b"].set_pose(data.qpos[:3], data.qpos[3:])
            sim.bodies["b"].set_velocity(data.qvel[:3], R @ data.qvel[3:])
        drag = dry.bias_force() - wet.bias_force()  # force, and torque about the centre of mass, world axes
        about_origin = drag[3:] + np.cross(wet.bodies["b"].center_of_mass - data.qpos[:3], drag[:3])
        expected = np.concatenate([data.qfrc_fluid[:3], R @ data.qfrc_fluid[3:]])
        assert np.abs(np.concatenate([drag[:3], about_origin]) - expected).max() < 1e-10 * (1 + np.abs(expected).max())


def test_written_scenes_have_the_same_drag(tmp_path: Path) -> None:
    """Cubes and rods at odd angles: their axes, which the moments do not tell, survive both ways of writing."""
    rng = np.random.default_rng([SEED, 303])
    geoms = '<geom type="box" size=".1 .1 .1" quat="1 .2 .3 .4" contype="0" conaffinity="0"/>'
    path, _ = _files(rng, tmp_path, f'<body name="b"><freejoint/>{geoms}</body>')
    scene = ss.Scene()
    scene.load(path)
    scene.save(tmp_path / "scene.toml")
    (tmp_path / "again.xml").write_text(scene.to_mjcf())
    again = ss.Scene()
    again.load(tmp_path / "again.xml")
    forces = []
    for each in (scene, ss.Scene.read(tmp_path / "scene.toml"), again):
        sim = ss.Simulation(each, "none", dt=1e-9)
        sim.bodies["b"].set_velocity((1, 2, 3), (4, 5, 6))
        forces.append(sim.bias_force())
    np.testing.assert_allclose(forces[1], forces[0], rtol=1e-14)
    np.testing.assert_allclose(forces[2], forces[0], rtol=1e-12)
    assert again.medium == scene.medium
