"""Saved states: of which scene they are, and that bad ones are refused with everything as it was."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from mechanisms import pendulum
from sesshoku.methods.registry import keywords
from snapshot_fuzz import rich_scene, same_state, simulated

pytestmark = pytest.mark.nojit


def crate(**changed: Any) -> ss.Scene:
    given = {"size": (1, 1, 1), "mass": 1.0, "position": (0, 0, 0.5)} | changed
    scene = ss.Scene()
    scene.add_ground()
    scene.add_box("crate", **given)
    return scene


@pytest.mark.parametrize(("scene", "method", "differs"), [
    (crate(size=(2, 1, 1)), "lcp", "masses, shapes"), (crate(), "lcp:recommended", "method"),
    (crate(), "none", "method"),
    (crate(mass=2.0), "lcp", "masses"), (crate(), "lcp", None)])
def test_a_snapshot_of_another_scene_is_refused_and_says_what_differs(scene, method, differs):
    snapshot = ss.Simulation(crate(), "lcp").save()
    sim = ss.Simulation(scene, method)
    if differs is None:
        sim.restore(snapshot)
        return
    with pytest.raises(ss.SceneError, match=f"belongs to another scene or method: {differs} differ"):
        sim.restore(snapshot)


def test_shapes_of_equal_names_and_masses_tell_scenes_apart():
    one, other = ss.Scene(), ss.Scene()
    body = ss.Inertial(1.0, (0, 0, 0), np.eye(3))
    for scene, size in ((one, 1.0), (other, 3.0)):
        scene.add_body("stone", inertial=body, geometries=[ss.Geometry(ss.Box((size, size, size)))])
    with pytest.raises(ss.SceneError, match="another scene or method: shapes differ"):
        ss.Simulation(other, "none").restore(ss.Simulation(one, "none").save())


def test_the_first_fingerprints_are_still_known():
    from sesshoku.simulation.snapshots import first_fingerprint

    sim = ss.Simulation(pendulum(), "none")
    old = dict(sim.save()) | {"fingerprint": first_fingerprint(sim.compiled, sim.method)}
    sim.restore(old)
    with pytest.raises(ss.SceneError, match="another scene"):
        ss.Simulation(pendulum(kind="prismatic"), "none").restore(old)


@pytest.mark.parametrize("fingerprint", [None, np.zeros(3), np.zeros((9, 8), dtype=np.uint8), np.array("x"), "x"])
def test_a_snapshot_without_its_fingerprint_is_refused(fingerprint):
    sim = ss.Simulation(pendulum(), "none")
    with pytest.raises(ss.SceneError, match="another scene or method"):
        sim.restore(dict(sim.save()) | {"fingerprint": fingerprint})


@pytest.mark.parametrize(("key", "at", "value", "said"), [
    ("contacts.counts", 0, 1_000_000, r"contacts.counts \[0\] must lie within 0 .. \d+ \(got 1000000\)"),
    ("contacts.state", 0, 3, r"contacts.state \[0\] must lie within 0 .. 2"),
    ("q", 0, np.nan, r"q \[0\] must be finite \(got nan\)"),
    ("q", 3, 5.0, r"q\[3:7\], rotation of joint 'lower', must have length 1"),
    ("kinematic_pose", (0, 3), 2.0, r"kinematic_pose\[0, 3:\] must have length 1"),
    ("time", 0, np.inf, r"time \[0\] must be finite"),
    ("pushes.rows", (0, 1), 10**6, r"pushes.rows \[0, 1\] must be a whole number within 0 .. \d+"),
    ("pushes.rows", (0, 1), 0.0, r"pushes.rows \[0, 1\] must be the number of a body that forces move"),
    ("pushes.rows", (0, 11), np.nan, r"pushes.rows \[0, 11\] must be a time"),
    ("pushes.once", (0, 1), np.nan, r"pushes.once \[0, 1\] must be finite"),
    ("sensors.reading", (0, 1), np.nan, r"sensors.reading \[0, 1\] must be finite"),
])
def test_a_bad_value_is_named_and_nothing_changes(key, at, value, said):
    sim = simulated("lcp", 3)
    bad, before = copy.deepcopy(sim.save()), sim.save()
    bad[key][at] = value
    with pytest.raises(ss.SceneError, match=f"restore: {said}.*the simulation is as it was"):
        sim.restore(bad)
    assert same_state(before, sim.save())


@pytest.mark.parametrize("value", [np.array(["a"]), "text", None, 7, object(), np.zeros(99), np.array([None])])
def test_anything_but_the_array_is_refused(value):
    sim = simulated("none", 2)
    with pytest.raises(ss.SceneError, match="restore: .*actuator_command"):
        sim.restore(dict(sim.save()) | {"actuator_command": value})


def test_features_of_contact_springs_are_bounded_by_their_kind():
    sim = simulated("springs", 2)
    bad = sim.save()
    bad["presses.variant"][:] = 1
    bad["presses.feature"][0] = sim.work.breps.edge_count - 1
    sim.restore(bad)
    bad["presses.feature"][0, 1] += 1
    with pytest.raises(ss.SceneError, match=r"presses.feature \[0, 1\] must be below"):
        sim.restore(bad)


def test_other_gravity_friction_and_steps_may_go_on_from_a_state():
    scene = rich_scene()
    state = ss.Simulation(scene, "lcp", 1e-3).save()
    other = rich_scene()
    other.gravity = (0, 0, -1.6)
    ss.Simulation(other, "lcp", 2e-3).restore(state)


def test_copies_of_a_simulation_that_failed_are_copies():
    """What a failed step leaves behind is no state to take from a file, but a copy still is what was copied."""
    sim = simulated("none", 2)
    sim.data.friction_impulse[:] = np.nan
    again = copy.deepcopy(sim)
    assert np.isnan(again.data.friction_impulse).all()


@pytest.mark.parametrize("method", keywords())
def test_the_state_before_the_first_step_comes_back(method):
    """What a new simulation holds is sound, whatever a method marks as not seen yet."""
    sim = ss.Simulation(crate(), method)
    start = sim.save()
    sim.restore(start)
    assert same_state(sim.save(), start)
