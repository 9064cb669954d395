"""What every contact method must keep, whatever its law: parametrised over the registry, presets included.

A method declares its guarantees in its `METHOD` (methods/definition.py says which exist); what it does not declare is
measured elsewhere, not asserted here. A new method faces this suite the day it is registered. Guarantees that depend
on options which no keyword has are asked of the entries in VARIANTS.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.experiments.scenes import crate_on_floor
from sesshoku.methods.definition import EXPECTED
from sesshoku.methods.registry import keywords, make, resolve
from sesshoku.stages.report import CHANNELS

KEYWORDS = [keyword for keyword in keywords() if keyword != "none"]
#: methods with options of their own: those that make them passive, of `lcp` the paper's sweeps and the preset's
VARIANTS = {
    "exact, passive": make("exact", {"integrator": "semi-implicit", "correction": 0.0}),
    "lcp, passive": make("lcp", {"integrator": "semi-implicit", "centripetal": False}),
    "lcp:recommended, passive": make("lcp", vars(resolve("lcp:recommended").options) | {"penetration_rate": 0.0}),
}
METHODS = {keyword: resolve(keyword) for keyword in KEYWORDS} | VARIANTS
everyone = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
G = 9.8


def guaranteed(method, what):
    return resolve(method).definition.guaranteed(what, resolve(method).options)


def collision_in_space(seed=3):
    """Two tumbling boxes that meet without gravity."""
    rng = np.random.default_rng(seed)
    scene = ss.Scene(gravity=(0, 0, 0))
    for name, place, velocity in (("a", (-0.45, 0.1, 0), (1.5, 0, 0)), ("b", (0.45, -0.1, 0.1), (-1.0, 0.2, 0))):
        scene.add_box(name, size=(0.6, 0.5, 0.4), mass=float(rng.uniform(0.5, 3)), position=place, velocity=velocity,
                      angular_velocity=rng.normal(size=3))
    return scene


@everyone
def test_free_fall_is_not_disturbed(method):
    sim = ss.Simulation(crate_on_floor(height=5.0), method, 1e-3)
    sim.step(500)
    assert sim.bodies["crate"].velocity == pytest.approx([0, 0, -G * 0.5], abs=1e-9)
    assert all(contact.normal_force == 0.0 for contact in sim.contacts)


@everyone
def test_what_profile_times_is_what_step_does(method):
    """After it the state is that of as many steps, bit for bit; the stages' times add up to the step's."""
    one, other = (ss.Simulation(collision_in_space(), method, 1e-3) for _ in range(2))
    one.step(320)
    other.step(20)
    times = other.profile(300)
    assert one.q.tobytes() == other.q.tobytes() and one.v.tobytes() == other.v.tobytes() and one.time == other.time
    whole = times.pop("step")
    assert list(times) == other.method.definition.stages_of(other.method.options).names
    assert all(seconds >= 0.0 for seconds in times.values())
    assert sum(times.values()) == pytest.approx(whole, rel=1e-9)


@everyone
def test_a_crate_at_rest_stays_and_is_carried(method):
    sim = ss.Simulation(crate_on_floor(mass=2.5), method, 1e-3)
    sim.step(300)
    assert np.abs(sim.bodies["crate"].velocity).max() < 1e-3
    assert sim.bodies["crate"].position == pytest.approx([0, 0, 0.5], abs=2e-3)
    total = sum((contact.force for contact in sim.contacts), np.zeros(3))
    assert total == pytest.approx([0, 0, 2.5 * G], abs=0.02 * 2.5 * G)


@everyone
def test_nothing_pulls(method):
    sim = ss.Simulation(crate_on_floor(2.0, height=0.3, tilt=0.3), method, 1e-3)
    for _ in range(600):
        sim.step()
        assert all(contact.normal_force >= -1e-9 for contact in sim.contacts)


@everyone
def test_friction_stays_within_the_declared_bound(method):
    factor = guaranteed(method, "friction_bound")
    sim = ss.Simulation(crate_on_floor(3.0, heading=0.4, height=0.1, tilt=0.2, static=0.6, kinetic=0.4), method, 1e-3)
    for _ in range(800):
        sim.step()
        for contact in sim.contacts:
            limit = factor * 0.6 * contact.normal_force
            assert np.linalg.norm(contact.friction_force) <= limit * (1 + 1e-9) + 1e-9


@everyone
def test_action_equals_reaction(method):
    sim = ss.Simulation(collision_in_space(), method, 1e-3)
    before = sim.momentum(about=(0, 0, 0))
    sim.step(400)
    assert sim.work.contacts.counts[4] > 0, "the boxes must meet for the test to mean anything"
    after = sim.momentum(about=(0, 0, 0))
    assert after[:3] == pytest.approx(before[:3], abs=1e-9)
    assert after[3:] == pytest.approx(
        before[3:], abs=5e-3
    )  # the integrator's, not the contact's: orders are tested apart


PASSIVE = {name: method for name, method in METHODS.items() if guaranteed(method, "passive")}


def test_every_registered_method_is_tested_for_passivity_if_it_can_be():
    """A method whose declaration depends on its options needs an entry in VARIANTS that meets it."""
    declared = {method.keyword.partition(":")[0]: method.definition.guarantees.get("passive")
                for method in METHODS.values()}
    can_be = {keyword for keyword, rule in declared.items() if rule is None or rule.__code__.co_names}
    assert can_be == {method.keyword.partition(":")[0] for method in PASSIVE.values()} >= {"exact", "lcp"}


def test_every_guarantee_has_a_test_here():
    """`elastic` and `gains` aside: they allow something, and promise nothing."""
    text = Path(__file__).read_text(encoding="utf-8")
    assert {name for name in EXPECTED if f'guaranteed(method, "{name}")' not in text} == {"elastic", "gains"}
    declared = {name for method in METHODS.values() for name in method.definition.guarantees}
    assert declared <= set(EXPECTED)


@everyone
def test_a_ball_bounces_where_restitution_is_known(method):
    """To within a step's gravity and the springs of compliant methods; where it is not known, the method says so."""
    scene, bouncy = ss.Scene(), ss.Material(0.5, restitution=0.6)
    scene.add_ground(material=bouncy)
    scene.add_sphere("ball", radius=0.1, mass=1.0, position=(0, 0, 0.4), material=bouncy)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ss.UnsupportedFeature)
        sim = ss.Simulation(scene, method, 1e-3)
    speeds = []
    for _ in range(400):
        sim.step()
        speeds.append(sim.bodies["ball"].velocity[2])
    known = guaranteed(method, "restitution")
    assert ("restitution of ball and ground" in sim.report.left_out) != known
    if known:
        assert max(speeds) == pytest.approx(-0.6 * min(speeds), rel=0.05)


@everyone
def test_a_body_that_turns_by_radians_in_a_step_stays_finite(method):
    """1.8 rad a step, and a floor to hit: what energy it has is not multiplied (springs give some back too late)."""
    scene = crate_on_floor(height=0.3)
    scene.bodies["crate"].angular_velocity = np.array([900.0, 1500.0, 300.0])
    sim = ss.Simulation(scene, method, 1e-3)
    before = sum(sim.energy)
    try:
        sim.step(400)
    except ss.SimulationDiverged:
        assert not guaranteed(method, "finite")
    else:
        assert not guaranteed(method, "finite") or sum(sim.energy) <= 1.1 * before


@everyone
def test_a_tonne_on_a_palms_breadth_is_carried(method):
    """By a millimetre and a bit, the overlap at which `implicit` balances it; what drowns is declared."""
    scene = ss.Scene()
    scene.add_ground()
    scene.add_box("weight", size=(0.1, 0.1, 0.1), mass=1000.0, position=(0, 0, 0.05))
    sim = ss.Simulation(scene, method, 1e-3)
    sim.step(400)
    assert (abs(sim.bodies["weight"].position[2] - 0.05) < 1.5e-3) == guaranteed(method, "carries_any_mass")


@everyone
def test_work_of_pushes_is_in_the_books(method):
    """3 N along the path they push a body of 2 kg; a method that keeps no books says so and reports none."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_box("crate", size=(0.3, 0.2, 0.1), mass=2.0)
    sim, booked = ss.Simulation(scene, method, 1e-3), 0.0
    for _ in range(100):
        sim.apply_force("crate", (3, 0, 0))
        sim.step()
        booked += sim.report.applied_work
    work = 0.5 * (3.0 * sim.time) ** 2 / 2.0
    assert sim.energy[0] == pytest.approx(work, rel=1e-9)
    assert booked == pytest.approx(work if guaranteed(method, "books") else 0.0, rel=1e-9, abs=1e-12)


@everyone
def test_the_residual_of_the_law_is_reported(method):
    """A speed, small where a crate rests; a method without a law to solve says so."""
    sim = ss.Simulation(crate_on_floor(), method, 1e-3)
    worst = 0.0
    for _ in range(20):
        sim.step()
        worst = max(worst, sim.report.residual)
    assert worst <= 1e-3
    assert guaranteed(method, "residual") or worst == 0.0


def tower():
    """Boxes of 1 and 10 kg in turn, thrown over."""
    scene = crate_on_floor(2.0, height=0.1, tilt=0.1)
    for n in range(1, 4):
        scene.add_box(f"box{n}", size=(0.6, 0.7, 0.5), mass=10.0 ** (n % 2), position=(0.1 * n, 0.05, 1.0 + 0.6 * n),
                      angular_velocity=(0.5, n, 0))
    return scene


@pytest.mark.parametrize("method", PASSIVE.values(), ids=PASSIVE)
@pytest.mark.parametrize("scene", [lambda: crate_on_floor(2.0, height=0.2, tilt=0.35), collision_in_space, tower],
                         ids=["crate", "collision", "tower"])
def test_inelastic_contact_adds_no_energy(method, scene):
    """Neither by the report's word nor by the energy itself."""
    sim = ss.Simulation(scene(), method, 1e-3)
    before = sum(sim.energy)
    scale, touched = max(1.0, before), 0
    for _ in range(1000):
        sim.step()
        assert sim.report.energy_change <= 1e-6 * scale
        now = sum(sim.energy)
        assert now <= before + 1e-5 * scale
        before, touched = now, touched + len(sim.contacts)
    assert touched > 0


@everyone
def test_same_state_same_bits(method):
    first, second = (ss.Simulation(crate_on_floor(2.0, height=0.05, tilt=0.2), method, 2e-3) for _ in range(2))
    first.step(150)
    for _ in range(150):
        second.step()
    assert np.array_equal(first.q, second.q) and np.array_equal(first.v, second.v)
    saved = first.save()
    first.step(100)
    ends = first.q.copy(), first.v.copy(), [contact.id for contact in first.contacts]
    first.restore(saved)
    first.step(100)
    assert np.array_equal(first.q, ends[0]) and np.array_equal(first.v, ends[1])
    assert [contact.id for contact in first.contacts] == ends[2]


@everyone
def test_a_reset_is_a_new_start(method):
    first, fresh = (ss.Simulation(crate_on_floor(2.0, height=0.05, tilt=0.2), method, 2e-3) for _ in range(2))
    first.step(80)
    first.reset()
    first.step(100), fresh.step(100)
    assert np.array_equal(first.q, fresh.q) and np.array_equal(first.v, fresh.v)
    assert [contact.id for contact in first.contacts] == [contact.id for contact in fresh.contacts]


@everyone
def test_report_and_contacts_are_finite_and_named(method):
    sim = ss.Simulation(crate_on_floor(1.0), method, 1e-3)
    sim.step(5)
    report = sim.report
    assert all(np.isfinite(getattr(report, name)) for name in CHANNELS) and report.left_out == ()
    ids = [contact.id for contact in sim.contacts]
    per_pair = guaranteed(method, "contacts_per_pair")  # a method may see overlaps, not points
    assert len(set(ids)) == len(ids) >= per_pair
    for contact in sim.contacts:
        assert set(contact.bodies) == {"crate", "ground"}
        assert contact.state in ("stick", "slip", "released") and contact.reason
        assert np.linalg.norm(contact.normal) == pytest.approx(1.0)


@everyone
def test_slip_and_stick_are_told_apart(method):
    sliding = ss.Simulation(crate_on_floor(5.0), method, 1e-3)
    states = set()
    for _ in range(10):  # over all steps: a method may let it hop
        sliding.step()
        states |= {contact.state for contact in sliding.contacts if contact.normal_force > 0}
    assert states == {"slip"}
    resting = ss.Simulation(crate_on_floor(), method, 1e-3)
    resting.step(10)
    assert {contact.state for contact in resting.contacts if contact.normal_force > 0} == {"stick"}


@everyone
def test_robots_with_servos_limits_and_loops_run(method):
    scene = ss.Scene()
    scene.add_ground()
    scene.load(ss.robots.path("humanoid_small.xml"), pose="stand")
    scene.add_box("bar", size=(0.02, 0.02, 0.3), mass=0.2, position=(1, 0, 0.5))
    scene.add_loop("ball", "bar", None, position=(0, 0, 0.15))
    sim = ss.Simulation(scene, method, 1e-3)
    sim.step(300)
    assert sim.bodies["torso"].position[2] > 0.2, "it must still stand"
    assert np.linalg.norm(sim.bodies["bar"].position - np.array([1, 0, 0.5])) < 1e-3


@everyone
def test_what_a_method_leaves_out_it_says_and_strict_refuses(method, monkeypatch):
    """`leaves_out` of the module decides: a warning, the report, a row of compare; refused where strict."""
    resolved = resolve(method)
    assert resolved.definition.leaves_out(ss.Simulation(crate_on_floor(), method, strict=True).compiled) == []
    monkeypatch.setattr(resolved.module, "METHOD",
                        replace(resolved.definition, leaves_out=lambda compiled: ["the colour of crate"]))
    with pytest.warns(ss.UnsupportedFeature, match="leaves out the colour of crate"):
        sim = ss.Simulation(crate_on_floor(), method, 1e-3)
    sim.step(3)
    assert sim.left_out == sim.report.left_out == ("the colour of crate",)
    row = ss.compare(crate_on_floor(), [method], time=0.003, dt=1e-3).outcomes[0]
    assert row.ran and row.refused is None and row.left_out == ("the colour of crate",)
    with pytest.raises(ss.MethodError, match="leaves out the colour of crate"):
        ss.Simulation(crate_on_floor(), method, 1e-3, strict=True)
    refused = ss.compare(crate_on_floor(), [method], time=0.003, dt=1e-3, strict=True).outcomes[0]
    assert not refused.ran and "the colour of crate" in str(refused.refused)


@everyone
def test_a_ball_with_every_kind_of_friction_is_carried(method):
    """Rolling friction brakes the ball, by 1.4 m/s^2, where the method does not say that it leaves it out."""
    scene = ss.Scene()
    scene.add_ground()
    scene.add_sphere("ball", radius=0.1, mass=1.0, position=(0, 0, 0.1), velocity=(1, 0, 0),
                     material=ss.Material(0.5, restitution=0.2, torsional_friction=0.01, rolling_friction=0.02))
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        sim = ss.Simulation(scene, method, 1e-3)
    sim.step(400)
    ball = sim.bodies["ball"]
    assert ball.position[2] == pytest.approx(0.1, abs=5e-3)
    without = "torsional and rolling friction of ball" in sim.report.left_out
    if without:  # facets of a polyhedral ball may brake it a little
        assert 0.5 < ball.velocity[0] < 5 / 7 + 0.01
    else:
        assert ball.velocity[0] == pytest.approx(5 / 7 - 1.4 * sim.time, abs=0.01)


@everyone
def test_what_a_method_does_not_carry_it_refuses_with_reasons(method, monkeypatch):
    """`supports` of the module decides: reasons come out of Simulation as they are, in compare as a refusal."""
    resolved = resolve(method)
    assert resolved.definition.supports(ss.Simulation(crate_on_floor(), method).compiled) == []
    monkeypatch.setattr(resolved.module, "METHOD",
                        replace(resolved.definition, supports=lambda compiled: ["it has a crate", "and a floor"]))
    with pytest.raises(ss.SesshokuError, match="it has a crate.*and a floor"):
        ss.Simulation(crate_on_floor(), method)
    refused = ss.compare(crate_on_floor(), [method], time=0.01, dt=1e-3).outcomes[0]
    assert not refused.ran and "it has a crate" in str(refused.refused)
