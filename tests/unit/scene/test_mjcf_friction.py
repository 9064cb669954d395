"""Friction of MJCF files in motion: a box that slides, an incline, a pair of its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sesshoku as ss
from mjcf_files import load, write

G = 9.81
FLOOR = '<geom name="floor" type="plane" size="1 1 1" {floor}/>'
CRATE = ('<body name="crate" pos="0 0 0.1"><freejoint/>'
         '<geom name="side" type="box" size="0.1 0.1 0.1" mass="1" {crate}/></body>')
PAIR = '<contact><pair name="p" geom1="side" geom2="floor" {}/></contact>'


def slide(path: Path, ground: ss.Material | None = None, method: str = "exact") -> float:
    """Deceleration over g of a crate that slides at 3 m/s."""
    scene = ss.Scene()
    if ground is not None:
        scene.add_ground(material=ground)
    scene.load(path)
    scene.bodies["crate"].velocity = np.array([3.0, 0.0, 0.0])
    sim = ss.Simulation(scene, method, dt=1e-3)
    sim.step(100)
    return float(3.0 - sim.bodies["crate"].velocity[0]) / (0.1 * G)


CASES = [  # floor, crate, pair, coefficient
    ('friction="1.0"', 'friction="0.3"', "", 1.0), ('friction="0.2"', 'friction="0.6" priority="-1"', "", 0.2),
    ('friction="0.9"', 'friction="0.1" priority="3"', "", 0.1), ('condim="1"', 'condim="1"', "", 0.0),
    ('condim="1"', 'friction="0.4" condim="3"', "", 1.0),
    ('friction="0.9" contype="0" conaffinity="0"', "",
     PAIR.format('friction="0.25 0.25" condim="3"'), 0.25),
    ('friction="0.9"', "", PAIR.format('friction="0.25 0.25" condim="1"'), 0.0),
]


@pytest.mark.parametrize(("floor", "crate", "pair", "mu"), CASES)
def test_a_crate_slides_as_the_file_means(floor: str, crate: str, pair: str, mu: float, tmp_path: Path) -> None:
    inside = f"<worldbody>{FLOOR.format(floor=floor)}{CRATE.format(crate=crate)}</worldbody>{pair}"
    assert slide(write(tmp_path, inside)) == pytest.approx(mu, abs=1e-6)


@pytest.mark.parametrize("method", ["lcp", "multipoint", "volume", "implicit", "springs"])
def test_every_method_has_the_files_rule(method: str, tmp_path: Path) -> None:
    """The larger coefficient, 0.6, not the mean, 0.42; compliant methods take a while to press with the full weight."""
    floor, crate = FLOOR.format(floor='friction="0.6"'), CRATE.format(crate='friction="0.3"')
    inside = f"<worldbody>{floor}{crate}</worldbody>"
    assert slide(write(tmp_path, inside), method=f"{method}:recommended") == pytest.approx(0.6, rel=0.1)


def test_the_files_rule_holds_on_the_users_ground(tmp_path: Path) -> None:
    """A file's geoms take the larger coefficient, also against a material of the scene around it."""
    crate = CRATE.format(crate='friction="0.3"')
    path = write(tmp_path, f"<worldbody>{crate}</worldbody>")
    assert slide(path, ss.Material(0.6)) == pytest.approx(0.6, abs=1e-6)
    assert slide(path, ss.Material(0.1)) == pytest.approx(0.3, abs=1e-6)
    assert slide(path, ss.Material(0.1, priority=1)) == pytest.approx(0.1, abs=1e-6)


def test_materials_of_users_combine_by_the_mean() -> None:
    scene = ss.Scene()
    scene.add_ground(material=ss.Material(1.0))
    scene.add_box("crate", size=(0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.1), velocity=(3.0, 0, 0),
                  material=ss.Material(0.3))
    sim = ss.Simulation(scene, dt=1e-3)
    sim.step(100)
    assert (3.0 - sim.bodies["crate"].velocity[0]) / (0.1 * 9.8) == pytest.approx(np.sqrt(0.3), abs=1e-6)


def test_what_a_pair_cannot_keep_is_listed(tmp_path: Path) -> None:
    two = f"<worldbody>{FLOOR.format(floor='')}{CRATE.format(crate='')}</worldbody>"
    description = load(tmp_path, two + PAIR.format('friction="0.3 0.5" margin="0.01" solref="0.1 1"'))
    assert description.unsupported == ["contact pair 'p': friction that differs by direction, the larger is used",
                                       "solref of contact pair 'p'", "margin of contact pair 'p'"]
    ((_, material),) = description.geometry_pairs.items()
    assert material is not None and material.static_friction == 0.5
    description = load(tmp_path, two + PAIR.format('adhesion="3" solreffriction="0.1 1"'))
    assert description.unsupported == ["adhesion of contact pair 'p'", "solreffriction of contact pair 'p'"]
