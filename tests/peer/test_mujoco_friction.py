"""Friction of pairs of a loaded MJCF against the coefficients of MuJoCo's own contacts."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from mjcf_files import write
from sesshoku.collision.materials import pair_coefficients, rolling_coefficients
from sesshoku.scene.compiler import CompiledScene, compile_scene
from sesshoku.scene.materials import friction_of
from sesshoku.scene.scene import Scene
from support import sample_count

pytestmark = pytest.mark.peer

# spheres in a row, each overlapping the next; the middle one of three may be named by a pair
ROW = '<body pos="{x} 0 0"><freejoint/><geom name="g{i}" size="0.3" {rest}/></body>'


def random_geom(rng: np.random.Generator) -> str:
    friction = " ".join(f"{value:.3f}" for value in rng.uniform(0.01, 1.0, 3))
    return (f'friction="{friction}" condim="{rng.choice([1, 3, 4, 6])}" '
            f'priority="{rng.choice([-1, 0, 0, 0, 2])}"')


def random_file(rng: np.random.Generator, folder: Path) -> Path:
    count = 6
    bodies = "".join(ROW.format(x=0.5 * i, i=i, rest=random_geom(rng)) for i in range(count))
    own = " ".join(f"{value:.3f}" for value in np.repeat(rng.uniform(0.01, 1.0, 3), [2, 1, 2]))
    pair = f'<pair geom1="g3" geom2="g2" friction="{own}" condim="{rng.choice([1, 3, 4, 6])}"/>'
    # the parts of one robot keep to themselves here, each free body is a family of its own
    return write(folder, f"<worldbody>{bodies}</worldbody><contact>{pair}</contact>")


def mujocos(path: Path) -> dict[frozenset[str], tuple[float, float, float]]:
    """Sliding, torsional and rolling friction of each contact MuJoCo finds, by the names of the geoms."""
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    found = {}
    for contact in data.contact:
        names = frozenset(model.geom(int(g)).name for g in contact.geom)
        sliding, _, torsional, rolling, _ = contact.friction
        n = contact.dim
        found[names] = (sliding if n >= 3 else 0.0, torsional if n >= 4 else 0.0, rolling if n >= 6 else 0.0)
    return found


def ours(compiled: CompiledScene) -> dict[frozenset[str], tuple[float, float, float]]:
    names = [geometry.name for body in compiled.scene.bodies.values() for geometry in body.geometries]
    found = {}
    for a in range(len(names)):
        for b in range(a + 1, len(names)):
            static, kinetic, _ = pair_coefficients(compiled.model, a, b)
            assert static == kinetic
            found[frozenset((str(names[a]), str(names[b])))] = (
                float(kinetic), *(float(value) for value in rolling_coefficients(compiled.model, a, b)))
    return found


def test_coefficients_of_pairs_are_mujocos(tmp_path: Path, rng: np.random.Generator) -> None:
    """Priority, maximum, condim and <pair>, by the kernels, the scene, a saved scene and one exported to MJCF."""
    for _ in range(sample_count(15, 300)):
        path = random_file(rng, tmp_path)
        want = mujocos(path)
        assert len(want) == 5
        scene = Scene()
        scene.load(path)
        compiled = compile_scene(scene)
        scene.save(tmp_path / "again.toml")
        (tmp_path / "exported.xml").write_text(scene.to_mjcf())
        again = ours(compile_scene(Scene.read(tmp_path / "again.toml")))
        exported, mine = mujocos(tmp_path / "exported.xml"), ours(compiled)
        for names, friction in want.items():
            assert mine[names] == pytest.approx(friction)
            assert again[names] == mine[names]
            assert exported[names] == pytest.approx(friction)
            if names != {"g2", "g3"}:
                materials = [g.material for b in scene.bodies.values() for g in b.geometries if g.name in names]
                assert friction_of(materials[0], materials[1])[1:] == pytest.approx(friction)
