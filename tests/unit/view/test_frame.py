"""Frames carry the state of a simulation, number by number."""

from __future__ import annotations

import numpy as np

import sesshoku as ss
from sesshoku.recording.film import CENTER_OF_MASS, ZERO_MOMENT, look, zero_moment_point
from sesshoku.view.frame import HEADER, LAYOUT, snapshot
from viewing import box_scene


def parts(data: bytes) -> tuple[dict[str, float], dict[str, np.ndarray]]:
    values, at = np.frombuffer(data, "<f4"), len(HEADER)
    head = dict(zip(HEADER, values[:at].tolist(), strict=True))
    found = {}
    for name, width in (("bodies", 7), ("contacts", LAYOUT["contact"]), ("corners", LAYOUT["corner"]),
                        ("lines", LAYOUT["line"]), ("marks", LAYOUT["mark"])):
        count = int(head[name])
        found[name] = values[at:at + count * width].reshape(count, width)
        at += count * width
    assert at == len(values)
    return head, found


def test_a_frame_holds_poses_contacts_and_numbers() -> None:
    sim = ss.Simulation(box_scene(2))
    sim.step(50)
    head, found = parts(snapshot(sim, {"number": 7.0, "speed": 0.5}))
    assert head["number"] == 7.0 and head["speed"] == 0.5
    assert np.isclose(head["time"], sim.time) and np.isclose(head["kinetic"] + head["potential"], sum(sim.energy))
    np.testing.assert_allclose(found["bodies"], sim.body_poses(), atol=1e-6)
    contacts = sim.contacts
    assert len(found["contacts"]) == len(contacts) == 8
    for row, contact in zip(found["contacts"], contacts, strict=True):
        np.testing.assert_allclose(row[:9], [*contact.point, *contact.normal, *contact.force], rtol=1e-5, atol=1e-5)
        assert np.isclose(row[9], contact.static_friction)
        assert ("released", "stick", "slip")[int(row[10])] == contact.state
    assert np.isclose(head["force"], sum(contact.normal_force for contact in contacts), rtol=1e-5)
    assert np.isclose(head["force"], 2 * 9.8, rtol=1e-3)


def test_without_contacts_a_frame_is_short() -> None:
    sim = ss.Simulation(box_scene(), "none")
    head, found = parts(snapshot(sim))
    assert head["contacts"] == head["corners"] == head["lines"] == 0 and found["marks"].shape == (1, 4)


def test_the_pull_of_a_mouse_is_a_line() -> None:
    sim = ss.Simulation(box_scene())
    _, found = parts(snapshot(sim, pulls=[np.array([[0, 0, 1], [2, 3, 4]])]))
    np.testing.assert_array_equal(found["lines"], [[0, 0, 1, 2, 3, 4, 1]])


def test_zero_moment_point_of_a_box_at_rest_is_below_its_centre() -> None:
    sim = ss.Simulation(box_scene())
    sim.step(20)
    np.testing.assert_allclose(zero_moment_point(sim), [0, 0, 0], atol=1e-4)
    kinds = look(sim).marks[:, 0].tolist()
    assert kinds == [CENTER_OF_MASS, ZERO_MOMENT]


def test_zero_moment_point_shifts_as_the_push_demands() -> None:
    """A box pushed at its centre with F < mu m g stays: the floor's force acts F h / (m g) ahead."""
    sim = ss.Simulation(box_scene())
    for _ in range(50):
        sim.apply_force("box0", (2.0, 0, 0))
        sim.step()
    np.testing.assert_allclose(zero_moment_point(sim), [2.0 * 0.2 / 9.8, 0, 0], atol=2e-4)


def test_zero_moment_point_needs_something_that_presses() -> None:
    scene = ss.Scene()
    scene.add_ground()
    scene.add_box("high", size=(1, 1, 1), mass=1.0, position=(0, 0, 5))
    sim = ss.Simulation(scene)
    sim.step(3)
    assert zero_moment_point(sim) is None and len(look(sim).marks) == 1


def test_springs_shows_its_springs() -> None:
    sim = ss.Simulation(box_scene(), "springs")
    sim.step(200)
    seen = look(sim)
    assert len(seen.lines) == len(seen.contacts) == 4
    depth = np.linalg.norm(seen.lines[:, :3] - seen.lines[:, 3:6], axis=1)
    np.testing.assert_allclose(depth, [contact.depth for contact in sim.contacts], atol=1e-6)


def test_volume_shows_its_polygons() -> None:
    """A box of 0.4 m on the ground: one polygon of its four corners, at the height of the ground."""
    sim = ss.Simulation(box_scene(), "volume")
    sim.step(50)
    corners = look(sim).corners
    assert len(set(corners[:, 3])) == 1 and (corners[:, 4] == 1.0).all()
    np.testing.assert_allclose(np.sort(np.abs(corners[:, :2]), axis=0), 0.2, atol=1e-3)
    np.testing.assert_allclose(corners[:, 2], 0.0, atol=1e-3)
    assert corners.shape == (4, 5) and len(look(ss.Simulation(box_scene(), "exact")).corners) == 0
