"""What a method leaves out of a scene: found in materials and pairs, said everywhere, refused where strict."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sesshoku as ss
from command_line import caller
from sesshoku.methods import features
from sesshoku.scene.compiler import compile_scene

FELT = ss.Material(0.5, torsional_friction=0.003, rolling_friction=0.001)


def balls(count: int = 1, material: ss.Material | None = FELT) -> ss.Scene:
    scene = ss.Scene()
    scene.add_ground()
    for n in range(count):
        scene.add_sphere(f"ball{n}", radius=0.1, mass=1.0, position=(n, 0, 0.1), material=material)
    return scene


def test_features_are_named_with_their_bodies() -> None:
    assert features.rolling_friction(compile_scene(balls(0))) == []
    assert features.rolling_friction(compile_scene(balls(1))) == ["torsional and rolling friction of ball0"]
    assert features.rolling_friction(compile_scene(balls(2))) == ["torsional and rolling friction of ball0 and ball1"]
    assert features.rolling_friction(compile_scene(balls(6))) == [
        "torsional and rolling friction of ball0, ball1, ball2 and 3 more"]
    scene = balls(1, ss.Material(0.5, torsional_friction=0.01))
    scene.add_box("box", size=(1, 1, 1), mass=1.0, material=ss.Material(0.5, rolling_friction=0.01, restitution=0.1))
    assert features.rolling_friction(compile_scene(scene)) == [
        "torsional friction of ball0", "rolling friction of box"]
    assert features.restitution(compile_scene(scene)) == ["restitution of box"]


def test_pairs_count_as_well_and_excluded_ones_do_not() -> None:
    scene = balls(2, None)
    scene.exclude_collision("ball0", "ball1")
    assert features.rolling_friction(compile_scene(scene)) == features.restitution(compile_scene(scene)) == []
    scene.friction("ball0", "ground", static=0.5, rolling=1e-3, restitution=0.4)
    assert features.rolling_friction(compile_scene(scene)) == ["rolling friction of ball0 and ground"]
    assert features.restitution(compile_scene(scene)) == ["restitution of ball0 and ground"]


def test_visual_geometries_do_not_count() -> None:
    scene = ss.Scene()
    scene.add_body("ghost", inertial=ss.Inertial(1.0, matrix=np.eye(3)),
                   geometries=[ss.Geometry(ss.Sphere(0.1), material=FELT, collides=False)])
    assert features.rolling_friction(compile_scene(scene)) == []


def test_the_table_marks_the_rows_and_says_what() -> None:
    result = ss.compare(balls(), ["none", "lcp", "lcp:recommended"], time=0.004, dt=2e-3)
    said = [line for line in result.endings() if "left out" in line]
    assert said == ["* lcp, lcp:recommended: left out torsional and rolling friction of ball0"]
    rows = {row["method"]: row["left_out"] for row in result.as_dict()["methods"]}
    assert rows == {"none": [], "lcp": ["torsional and rolling friction of ball0"],
                    "lcp:recommended": ["torsional and rolling friction of ball0"]}
    cells = list(result.table().columns[0].cells)
    assert cells == ["none", "lcp *", "lcp:recommended *"]


def test_the_page_says_it(tmp_path: Path) -> None:
    ss.compare(balls(), ["none", "lcp"], time=0.004, dt=2e-3).to_html(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert text.count("leaves out torsional and rolling friction of ball0") == 1


def test_the_command_line_says_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                  capsys: pytest.CaptureFixture[str]) -> None:
    call, file = caller(monkeypatch, capsys), tmp_path / "balls.toml"
    balls().save(file)
    run = ("run", file, "--method", "lcp", "--time", "0.01")
    assert call(*run, "--json").json["left_out"] == ["torsional and rolling friction of ball0"]
    shown = call(*run)
    assert "left out" in shown.out and "Warning" not in shown.err
    refused = call(*run, "--strict")
    assert refused.code == 2 and "leaves out torsional and rolling friction of ball0" in refused.err
    compared = call("compare", file, "-m", "lcp", "--time", "0.01", "--strict")
    assert compared.code == 1 and "leaves out torsional" in compared.out


@pytest.mark.parametrize("method", ["springs", "springs:recommended"])
def test_springs_heed_the_stiffness_of_a_pair(method: str) -> None:
    """A ball on one spring of a pair sinks by m g / k, whatever its material says."""
    scene = ss.Scene()
    scene.add_ground()
    scene.add_box("box", size=(0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.1),
                  material=ss.Material(0.5, stiffness=5e4, damping=100.0))
    scene.friction("box", "ground", static=0.5, stiffness=2000.0, damping=40.0)
    sim = ss.Simulation(scene, ss.methods.registry.make(method, {"limit": 0.01}), 1e-3)
    sim.step(1500)
    assert 0.1 - sim.bodies["box"].position[2] == pytest.approx(9.8 / (4 * 2000.0), rel=0.02)  # four corners


def test_springs_warn_of_a_pair_too_stiff_for_the_step() -> None:
    scene = ss.Scene()
    scene.add_ground()
    scene.add_box("box", size=(0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.1))
    scene.friction("box", "ground", static=0.5, stiffness=1e8)
    with pytest.warns(ss.UnstableStep, match="the pair 'box', 'ground'"):
        ss.Simulation(scene, "springs", 1e-3)


def test_springs_lend_mass_to_links_without() -> None:
    """A body on two hinges, as files have them: a link without mass between. It swings as it does under `none`."""
    scene = ss.Scene()
    scene.add_body("wall", fixed=True)
    scene.add_body("cross", parent="wall", joint=ss.Joint("revolute", axis=(1, 0, 0)))
    scene.add_body("bob", parent="cross", joint=ss.Joint("revolute", axis=(0, 1, 0), position=0.5),
                   inertial=ss.Inertial(1.0, (0, 0, -0.5), 0.01 * np.eye(3)))
    with pytest.warns(ss.UnsupportedFeature, match="lack of mass or inertia .*5 %.* of cross"):
        sim = ss.Simulation(scene, "springs:recommended", 1e-3)
    other = ss.Simulation(scene, "none", 1e-3)
    sim.step(300), other.step(300)
    assert sim.joints["bob"].position == pytest.approx(other.joints["bob"].position, abs=0.03)
    with pytest.raises(ss.MethodError, match="lack of mass"):
        ss.Simulation(scene, "springs", strict=True)


def test_springs_say_that_they_leave_out_restitution() -> None:
    scene = balls(1, ss.Material(0.5, restitution=0.5))
    with pytest.warns(ss.UnsupportedFeature, match="leaves out restitution of ball0"):
        sim = ss.Simulation(scene, "springs")
    assert sim.report.left_out == ("restitution of ball0",)


@pytest.mark.parametrize("method", ["springs", "springs:recommended"])
def test_springs_say_what_they_do_not_know_of_tendons_and_efforts(method: str) -> None:
    scene = ss.Scene()
    scene.add_body("wall", fixed=True)
    scene.add_box("arm", size=(0.2, 0.02, 0.02), mass=0.3, parent="wall", gravity_compensation=1.0,
                  joint=ss.Joint("revolute", axis=(0, 1, 0), anchor=(-0.1, 0, 0), effort=0.1,
                                 actuator_compensation=True))
    scene.add_tendon("cord", {"arm": 1.0}, upper=0.2, friction=0.1)
    said = ("limits and dry friction of tendon 'cord'", "efforts that limit gravity compensation of arm")
    with pytest.warns(ss.UnsupportedFeature, match="tendon 'cord'.*gravity compensation of arm"):
        assert ss.Simulation(scene, method).left_out == said
    with pytest.raises(ss.MethodError, match="tendon 'cord'"):
        ss.Simulation(scene, method, strict=True)
    assert ss.Simulation(scene, "exact", strict=True).left_out == ()
