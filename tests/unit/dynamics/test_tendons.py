"""Tendons: limits of their length, dry friction, stiff servos along them, in every method that has rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from support import sample_count
from trees import Posed, random_scene

G = 9.8
ROW_METHODS = ("none", "exact", "lcp:recommended", "multipoint:recommended", "volume:recommended")
METHODS = (*ROW_METHODS, "implicit:recommended", "springs:recommended")


def sliders(count: int = 2, mass: float = 0.5, **tendon: Any) -> ss.Scene:
    """Sliders that hang side by side under gravity on one plate, and a tendon over them, its length their mean way."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_body("plate", fixed=True)
    names = [f"s{n}" for n in range(count)]
    for n, name in enumerate(names):
        scene.add_body(name, parent="plate", position=(0.1 * n, 0, 0), joint=ss.Joint("prismatic", axis=(0, 0, 1)),
                       inertial=ss.Inertial(mass * (1 + n), (0, 0, 0), 1e-3 * np.eye(3)))
    scene.add_tendon("t", dict.fromkeys(names, 1.0 / count), **tendon)
    return scene


@pytest.mark.parametrize("method", ROW_METHODS)
def test_a_limit_stops_the_length_and_nothing_else(method: str) -> None:
    """The mean of two sliders stops at -0.02 m; the heavier sinks on, the lighter rises: an Atwood machine."""
    sim = ss.Simulation(sliders(lower=-0.02), method, dt=1e-3)
    sim.step(400)
    assert sim.q.mean() == pytest.approx(-0.02, abs=1e-5)
    before = sim.v.copy()
    sim.step(100)
    rates = (sim.v - before) / 0.1
    rate = (1.0 - 0.5) / (1.0 + 0.5) * G
    np.testing.assert_allclose(rates, [rate, -rate], rtol=1e-6)
    impulse = sim.data.tendon_impulse[0, 0]  # tension times dt; each slider feels half of it
    assert 0.5 * impulse / 1e-3 == pytest.approx(2.0 * 0.5 * 1.0 / 1.5 * G, rel=1e-6)
    assert sim.report.limit_violation < 1e-5


@pytest.mark.parametrize("method", ROW_METHODS)
def test_dry_friction_holds_or_slows(method: str) -> None:
    """One slider of 0.5 kg, 4.9 N: friction of 6 N holds it, of 2 N leaves 5.8 m/s^2."""
    for friction, rate in ((6.0, 0.0), (2.0, -(0.5 * G - 2.0) / 0.5)):
        sim = ss.Simulation(sliders(1, friction=friction), method, dt=1e-3)
        sim.step(100)
        assert sim.v[0] == pytest.approx(0.1 * rate, abs=1e-6)


@pytest.mark.parametrize("method", ROW_METHODS)
def test_limits_over_a_chain_and_two_branches(method: str) -> None:
    """A limit over two arms on one shoulder keeps what it says while all of them swing."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_body("wall", fixed=True)
    arm = ss.Inertial(0.3, (0.1, 0, 0), np.diag([1e-4, 1e-3, 1e-3]))
    scene.add_body("shoulder", parent="wall", joint=ss.Joint("revolute", axis=(0, 1, 0)), inertial=arm)
    for side, axis in (("left", (0, 1, 0.3)), ("right", (0, 1, -0.3))):
        scene.add_body(side, parent="shoulder", position=(0.2, 0, 0), joint=ss.Joint("revolute", axis=axis),
                       inertial=arm)
    scene.add_tendon("t", {"left": 0.4, "shoulder": 1.0, "right": -0.7}, lower=-0.1, upper=0.15)
    sim = ss.Simulation(scene, method, dt=1e-3)
    arms, at, reached = np.array([1.0, 0.4, -0.7]), 0.0, 0.0
    for _ in range(200):
        sim.step(5)
        length = arms @ sim.q
        at, reached = max(at, length - 0.15, -0.1 - length), max(reached, abs(length))
    assert at < 2e-3 and reached > 0.14


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_stiff_servo_along_a_tendon_is_stable_and_holds(method: str, count: int) -> None:
    """kp 1e6 and kd 1e4 on half a kilogram at 2 ms: explicit it would burst in three steps."""
    scene = sliders(count, mass=0.5)
    scene.gravity = (0, 0, 0)
    scene.add_actuator(tendon="t", kind="position", kp=1e6, kd=1e4, target=0.01)
    sim = ss.Simulation(scene, method, dt=2e-3)
    fastest = 0.0
    for _ in range(100):
        sim.step(5)
        fastest = max(fastest, float(np.abs(sim.v).max()))
    assert fastest < 12.0
    assert sim.q.mean() == pytest.approx(0.01, abs=1e-5)
    assert np.abs(sim.v).max() < 1e-3


def test_methods_without_rows_of_tendons_say_so() -> None:
    for method in ("implicit", "springs"):
        with pytest.warns(ss.UnsupportedFeature, match="tendon 't'"):
            ss.Simulation(sliders(lower=-0.02), method, dt=1e-3)


def test_more_than_two_branches_are_refused() -> None:
    with pytest.raises(ss.SceneError, match=r"tendon 't': limits and friction are for tendons .* one or two branches"):
        ss.Simulation(sliders(3, upper=1.0), "none")


def test_states_hold_what_tendons_did() -> None:
    sim = ss.Simulation(sliders(lower=-0.02), "none", dt=1e-3)
    sim.step(150)
    kept = sim.save()
    sim.step(50)
    after = sim.q.copy()
    sim.restore(kept)
    sim.step(50)
    np.testing.assert_array_equal(sim.q, after)


def test_inertias_of_joints_are_those_of_the_mass_matrix(rng: np.random.Generator) -> None:
    for _ in range(sample_count(5, 50)):
        posed = Posed(random_scene(rng, trees=2))
        m = posed.model
        diagonal = posed.data.mass_matrix[m.dof_row[:m.dof_count] + m.dof_depth]
        single = np.isfinite(m.dof_inertia)
        assert single.any()
        np.testing.assert_allclose(m.dof_inertia[single], diagonal[single], rtol=1e-9)


TIED = """<mujoco><option gravity="0 0 -9.8"/><worldbody>
<body name="a"><joint name="a" type="slide" axis="0 0 1" ref="0.1"/><geom size=".1" mass="1"/></body>
<body name="b" pos="1 0 0"><joint name="b" type="slide" axis="0 0 1"/><geom size=".1" mass="1"/></body></worldbody>
<tendon><fixed name="one"><joint joint="a" coef="2"/></fixed><fixed name="two"><joint joint="b" coef="0.5"/></fixed>
</tendon><equality><tendon name="e" tendon1="one" tendon2="two" polycoef="0.05 3 0 0 0"/></equality></mujoco>"""


def test_an_equality_of_tendons_is_a_mimic(tmp_path: Path) -> None:
    """2 (a - 0.1) = 0.05 + 3 * 0.5 b."""
    (tmp_path / "tied.xml").write_text(TIED)
    scene = ss.Scene()
    scene.load(tmp_path / "tied.xml")
    (mimic,) = scene.mimics.values()
    assert (mimic.joint, mimic.source) == ("a", "b")
    assert (mimic.ratio, mimic.offset) == pytest.approx((0.75, 0.125))
