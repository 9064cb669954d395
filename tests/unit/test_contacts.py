"""Contacts for users: `sim.contacts`, a body's own, their words, their channel in recordings and their picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.collision.per_body import sum_by_body
from sesshoku.experiments.scenes import crate_on_floor
from sesshoku.methods import registry
from sesshoku.recording.channels import CONTACT_PARTS
from sesshoku.recording.plot_contacts import _runs, bodies_in_contact
from sesshoku.simulation.contacts import Contact

METHOD = "lcp:recommended"


def pushed(force: float, steps: int = 200, **options: float) -> ss.Simulation:
    sim = ss.Simulation(crate_on_floor(**options), METHOD)
    for _ in range(steps):
        sim.apply_force("crate", (force, 0, 0))
        sim.step()
    return sim


def test_contacts_of_a_crate_that_holds() -> None:
    sim = pushed(3.0, mass=2.0)
    contacts = sim.contacts
    assert len(contacts) == 4 and len({contact.id for contact in contacts}) == 4
    for contact in contacts:
        assert contact.bodies == ("ground", "crate") and contact.state == "stick"
        np.testing.assert_allclose(contact.normal, [0, 0, 1], atol=1e-9)  # from a to b: the force acts on the crate
        np.testing.assert_allclose(np.abs(contact.point[1]), 0.5, atol=1e-6)
        assert abs(contact.depth) < 1e-4 and contact.slip_speed < 1e-6 and contact.normal_force > 0.0
        np.testing.assert_allclose(contact.friction_force @ contact.normal, 0.0, atol=1e-12)
    np.testing.assert_allclose(sum(contact.force for contact in contacts), [-3.0, 0, 2 * 9.8], atol=1e-6)
    ids = [contact.id for contact in contacts]
    sim.step(50)
    assert [contact.id for contact in sim.contacts] == ids  # persistent


def test_a_contact_says_why_it_slips() -> None:
    sim = pushed(6.0, kinetic=0.3)
    contact = sim.contacts[0]
    assert contact.state == "slip" and contact.slip_speed == pytest.approx(sim.bodies["crate"].velocity[0], rel=1e-3)
    pull = np.linalg.norm(contact.friction_force)
    assert pull == pytest.approx(0.3 * contact.normal_force, rel=1e-3)
    assert contact.reason.startswith("slips at ") and "has reached 0.3 x" in contact.reason
    assert str(contact).startswith(f"contact {contact.id} of ground and crate: slip, slips at")


def made(depth: float, force: tuple[float, float, float], state: str) -> Contact:
    return Contact(1, ("a", "b"), np.zeros(3), np.array([0, 0, 1.0]), depth, np.array(force), state, 0.0, 0.5, 0.4)


def test_every_state_has_its_reason() -> None:
    assert made(-1e-3, (0, 0, 0), "released").reason == "not touching yet"
    assert "separate" in made(1e-6, (0, 0, 0), "released").reason
    assert made(0.0, (3, 4, 20), "stick").reason == "friction 5 N holds within 0.5 x 20 N"


def test_a_body_knows_its_own_contacts() -> None:
    scene = crate_on_floor()
    scene.add_box("hat", size=(0.5, 0.5, 0.1), mass=0.5, position=(0, 0, 1.05))
    sim = ss.Simulation(scene, METHOD)
    sim.step(20)
    assert {contact.bodies for contact in sim.bodies["hat"].contacts} == {("crate", "hat")}
    assert {contact.bodies for contact in sim.bodies["crate"].contacts} == {("ground", "crate"), ("crate", "hat")}
    assert len(sim.bodies["crate"].contacts) == len(sim.contacts) == 8


def test_without_contact_there_are_none() -> None:
    sim = ss.Simulation(crate_on_floor(), "none")
    sim.step(5)
    assert sim.contacts == [] and "contacts" not in sim.run(0.01).channels
    with_them = sim.run(0.01, record=["contacts"])
    assert not with_them["contacts"].any()


# ---- the default method ----------------------------------------------------------------------------------------------


def test_the_default_knows_contact() -> None:
    assert registry.DEFAULT == "exact"
    sim = ss.Simulation(crate_on_floor(height=0.01))
    sim.step(500)
    assert sim.method.keyword == registry.DEFAULT and sim.bodies["crate"].position[2] == pytest.approx(0.5, abs=1e-3)


def test_without_contact_the_preset_of_lcp_moves_as_none_does() -> None:
    """Bit for bit where nothing constrains a joint; `exact` has a time step of its own, of second order."""
    for robot in ("arm_gripper.xml", "humanoid_small.xml"):
        scene = ss.Scene()
        scene.load(ss.robots.path(robot))
        ours, none = ss.Simulation(scene, "lcp:recommended"), ss.Simulation(scene, "none")
        ours.step(40)
        none.step(40)
        np.testing.assert_allclose(ours.q, none.q, rtol=0, atol=1e-9)
        np.testing.assert_allclose(ours.v, none.v, rtol=0, atol=1e-7)
    scene = ss.Scene()
    scene.add_box("crate", size=(1, 2, 3), mass=1.0, angular_velocity=(1, 2, 3))
    ours, none = ss.Simulation(scene, "lcp:recommended"), ss.Simulation(scene, "none")
    ours.step(100)
    none.step(100)
    np.testing.assert_array_equal(ours.q, none.q)


# ---- in recordings ---------------------------------------------------------------------------------------------------


def test_contacts_are_recorded_by_body() -> None:
    sim = pushed(0.0, 5, mass=2.0)
    recording = sim.run(0.1, lambda sim: sim.apply_force("crate", (3, 4, 0)), rate=100)
    channel = recording.channels["contacts"]
    assert channel.labels == (("crate",), CONTACT_PARTS)  # the ground does not move: its forces would only repeat
    values = recording["contacts", "crate"][-1]
    np.testing.assert_allclose(values, [19.6, 5.0, 0.5 * 19.6, 0.0, 4, 0, 0.0], atol=1e-5)
    assert recording["report"].shape[1] == len(recording.channels["report"].labels[0])


def test_the_sums_are_those_of_the_contacts(rng: np.random.Generator) -> None:
    """A heap of thrown boxes: the channel against the list of contacts, body by body."""
    scene = crate_on_floor(height=0.05, tilt=0.2)
    ice = ss.Material(0.4, 0.2)
    for n in range(4):
        place = (*rng.uniform(-0.3, 0.3, 2), 1.5 + n / 2)
        scene.add_box(f"box{n}", size=rng.uniform(0.2, 0.5, 3), mass=1.0, position=place, material=ice)
    sim = ss.Simulation(scene, METHOD)
    sim.step(int(rng.integers(300, 700)))
    recording = sim.run(0.0, record="contacts")
    for name in sim.bodies:
        if name == "ground":
            continue
        loaded = [contact for contact in sim.bodies[name].contacts if contact.state != "released"]
        slipping = [contact.state == "slip" for contact in loaded]
        pull = sum(((1 if c.bodies[1] == name else -1) * c.friction_force for c in loaded), np.zeros(3))
        limit = sum((c.kinetic_friction if c.state == "slip" else c.static_friction) * c.normal_force for c in loaded)
        wanted = [sum(c.normal_force for c in loaded), np.linalg.norm(pull), limit,
                  max((c.slip_speed for c in loaded), default=0.0), len(loaded) - sum(slipping), sum(slipping),
                  np.linalg.norm(sum(((1 if c.bodies[1] == name else -1) * c.torque for c in loaded), np.zeros(3)))]
        np.testing.assert_allclose(recording["contacts", name][-1], wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.boundscheck
@pytest.mark.nojit
def test_sums_by_hand() -> None:
    """Three contacts of shapes 0 (not asked for), 1 and 2: one sticks, one slips, one carries nothing."""
    up, row = np.tile([0.0, 0, 1], (3, 1)), np.array([-1, 0, 1])
    shape, state = np.array([[0, 1], [1, 2], [0, 2]]), np.array([1, 2, 0])
    force = np.array([[3.0, 0, 10], [0, 2, 5], [0, 0, 0]])
    material = np.tile([0.5, 0.4, 0.0], (3, 1))
    out, total = np.full((2, 7), np.nan), np.full((2, 6), np.nan)
    torque = np.array([[0.0, 0, 0.3], [0.4, 0, 0], [9.0, 9, 9]])
    sum_by_body(3, shape, force, torque, up, material, state, np.array([0.0, 0.7, 9.9]), row, total, out)
    np.testing.assert_allclose(out, [[15, np.hypot(3, 2), 7, 0.7, 1, 1, 0.5], [5, 2, 2, 0.7, 0, 1, 0.4]])
    sum_by_body(0, shape, force, torque, up, material, state, np.zeros(3), row, total, out)
    assert not out.any()


def test_contacts_between_moving_bodies_count_for_both() -> None:
    scene = crate_on_floor()
    scene.add_box("hat", size=(0.5, 0.5, 0.1), mass=0.5, position=(0, 0, 1.05))
    sim = ss.Simulation(scene, METHOD)
    sim.step(100)
    recording = sim.run(0.01, record="contacts")
    normal = recording["contacts"][-1][:, CONTACT_PARTS.index("normal")]
    np.testing.assert_allclose(normal, [1.5 * 9.8 + 0.5 * 9.8, 0.5 * 9.8], rtol=1e-4)


def test_sliding_is_recorded_as_slip(tmp_path: Path) -> None:
    sim = ss.Simulation(crate_on_floor(1.0, static=0.5, kinetic=0.4), METHOD)
    recording = sim.run(0.5, rate=200)
    slipping, sticking = (recording["contacts", "crate", name] for name in ("slipping", "sticking"))
    stop = 1.0 / (0.4 * 9.8)
    assert (slipping[(recording.time > 0.02) & (recording.time < stop - 0.02)] == 4).all()
    assert (sticking[recording.time > stop + 0.02] == 4).all()
    recording.save(tmp_path / "run.npz")
    np.testing.assert_array_equal(ss.Recording.load(tmp_path / "run.npz")["contacts"], recording["contacts"])


# ---- their picture ---------------------------------------------------------------------------------------------------


def test_the_picture_shows_forces_and_bands(tmp_path: Path) -> None:
    recording = ss.Simulation(crate_on_floor(1.0), METHOD).run(0.5, rate=200)
    [ax] = recording.plot("contacts", path=tmp_path / "contacts.png").axes
    assert "crate" in ax.get_title("left") and ax.get_ylabel() == "[N]"
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert {"normal", "friction", "friction limit", "sticks", "slips"} <= set(names)
    lines = {line.get_label(): line.get_ydata() for line in ax.lines}
    np.testing.assert_allclose(lines["normal"][5:], 9.8, rtol=1e-3)
    assert (lines["friction"] <= lines["friction limit"] + 1e-3).all()
    assert (tmp_path / "contacts.png").stat().st_size > 5000


def test_an_impact_does_not_hide_the_rest() -> None:
    recording = ss.Simulation(crate_on_floor(height=0.2), METHOD).run(1.0)
    [ax] = recording.plot("contacts").axes
    assert 9.8 < ax.get_ylim()[1] < 40.0
    assert any("peak" in text.get_text() for text in ax.texts)


def test_only_bodies_that_touch_have_a_panel() -> None:
    scene = crate_on_floor()
    scene.add_box("moon", size=(1, 1, 1), mass=1.0, position=(0, 0, 50))
    recording = ss.Simulation(scene, METHOD).run(0.1)
    assert len(recording.plot("contacts").axes) == 1
    assert "moon" in recording.plot("contacts", bodies=["moon"]).axes[0].get_title("left")
    lone = ss.Scene()
    lone.add_box("moon", size=(1, 1, 1), mass=1.0)
    with pytest.raises(ss.RecordingError, match="nothing to plot"):
        ss.Simulation(lone, METHOD).run(0.1).plot("contacts")


def test_long_recordings_are_drawn_as_envelopes() -> None:
    recording = ss.Simulation(crate_on_floor(1.0), METHOD).run(2.5)
    [ax] = recording.plot("contacts").axes
    assert len(recording) == 2501 and len(ax.lines[0].get_xdata()) < 2001


def test_stretches() -> None:
    time = np.arange(6.0)
    chosen = np.array([False, True, True, False, False, True])
    assert _runs(time, time + 1.0, chosen) == [(1.0, 2.0), (5.0, 1.0)]
    assert _runs(time, time + 1.0, np.zeros(6, dtype=bool)) == []


def test_the_heaviest_loaded_are_drawn() -> None:
    values = np.zeros((3, 5, 6))
    values[:, :, 0] = [0.0, 5.0, 1.0, 9.0, 7.0]
    assert bodies_in_contact(values, 3) == [1, 3, 4]
