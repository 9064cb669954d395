"""Copies, pickles, snapshots of other scenes, and other ways to misuse a Simulation."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import sesshoku as ss


def pendulum(mass=1.0, kind="continuous", **joint):
    scene = ss.Scene()
    scene.add_box("rod", size=(0.1, 0.1, 1), mass=mass,
                  joint=ss.Joint(kind, axis=(0, 1, 0), anchor=(0, 0, 0.5), position=0.5, **joint))
    return scene


def test_a_copy_moves_alone():
    first = ss.Simulation(pendulum(), dt=1e-3)
    first.step(10)
    before = first.q.copy()
    second = copy.deepcopy(first)
    second.step(100)
    assert np.array_equal(first.q, before)
    first.step(100)
    assert np.array_equal(first.q, second.q) and first.time == second.time


def test_a_pickle_moves_in_another_process(tmp_path):
    sim = ss.Simulation(pendulum(), dt=1e-3)
    sim.step(10)
    path = tmp_path / "sim.pickle"
    path.write_bytes(pickle.dumps(sim))
    code = f"import pickle; sim = pickle.load(open({str(path)!r}, 'rb')); sim.step(50); print(sim.q[0].hex())"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()[-1]
    sim.step(50)
    assert found == float(sim.q[0]).hex()


def test_live_arrays_cannot_be_resized():
    with pytest.raises(ValueError, match="own its data|resize"):
        ss.Simulation(pendulum()).q.resize(5)


@pytest.mark.parametrize("other", [pendulum(7.0), pendulum(kind="prismatic")])
def test_snapshots_of_other_scenes_are_refused(other):
    with pytest.raises(ss.SceneError, match="another scene"):
        ss.Simulation(other).restore(ss.Simulation(pendulum()).save())


def test_snapshots_from_before_later_fields_restore():
    """Demonstrations of users hold them; what they lack is as in a new simulation. All else must be there."""
    sim = ss.Simulation(pendulum(), "lcp")
    sim.step(20)
    snapshot = sim.save()
    old = {name: values for name, values in snapshot.items() if name not in ("acceleration", "contacts.torque")}
    assert len(old) == len(snapshot) - 2
    sim.step(30)
    after = sim.q.copy()
    sim.data.acceleration[:] = 7.0
    sim.restore(old)
    assert not sim.data.acceleration.any()
    sim.step(30)
    assert np.array_equal(sim.q, after)
    for name in ("q", "contacts.id", "report"):
        with pytest.raises(ss.SceneError, match=f"another scene.*{name}"):
            sim.restore({key: values for key, values in snapshot.items() if key != name})


def test_restore_brings_views_back_too():
    sim = ss.Simulation(pendulum())
    saved, start = sim.save(), sim.bodies["rod"].position
    sim.step(300)
    assert np.abs(sim.bodies["rod"].position - start).max() > 1e-3
    sim.restore(saved)
    assert np.array_equal(sim.bodies["rod"].position, start)


def test_a_force_that_breaks_a_step_is_gone_afterwards():
    scene = ss.Scene()
    scene.add_box("box", size=(1, 1, 1), mass=1.0)
    sim = ss.Simulation(scene)
    sim.apply_force("box", (1e200, 1e200, 1e200))
    with pytest.raises(ss.SimulationDiverged):
        sim.step()
    sim.step(10)
    assert sim.bodies["box"].velocity[2] == pytest.approx(-9.8 * 10e-3)


def test_the_time_step_and_names_of_views_are_fixed():
    scene = pendulum()
    scene.add_actuator("rod", "position", kp=1.0)
    sim = ss.Simulation(scene)
    with pytest.raises(AttributeError):
        sim.dt = 0.1
    with pytest.raises(AttributeError):
        sim.actuators["rod"].targt = 1.2


@pytest.mark.parametrize("misuse", [
    lambda sim: sim.step(10**30), lambda sim: sim.step(True), lambda sim: sim.run(1.0, controller=5),
    lambda sim: sim.restore(None), lambda sim: sim.bodies[[]]])
def test_misuse_is_one_kind_of_error(misuse):
    with pytest.raises(ss.SceneError):
        misuse(ss.Simulation(pendulum()))


def test_profile_of_no_steps_is_zero():
    assert set(ss.Simulation(pendulum()).profile(0).values()) == {0.0}


@pytest.mark.parametrize("method", ["none", "lcp:recommended", "exact"])
def test_static_friction_holds_what_kinetic_friction_brought_to_rest(method):
    """A slider braked to a stop against a load between kinetic and static friction must stay."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_box("slider", size=(0.1, 0.1, 0.1), mass=1.0, joint=ss.Joint(
        "prismatic", axis=(1, 0, 0), static_friction=2.0, kinetic_friction=1.0, velocity=1.0002))
    sim = ss.Simulation(scene, method, dt=1e-3)
    for _ in range(1500):
        sim.apply_force("slider", (-1.5, 0, 0))
        sim.step()
    assert sim.joints["slider"].position == pytest.approx(1.0002**2 / (2 * 2.5), abs=1e-3)
    assert abs(sim.joints["slider"].velocity) < 1e-11


@pytest.mark.parametrize("method", ["none", "lcp:recommended", "exact"])
def test_a_mimic_that_limits_pull_apart_shows_in_the_report(method):
    scene = ss.Scene(gravity=(0, 0, 0))
    for name, lower, upper, start in (("a", -1.0, 1.0, 0.9), ("b", 2.0, 3.0, 2.1)):
        scene.add_box(name, size=(0.1, 0.1, 0.1), mass=1.0, joint=ss.Joint(
            "revolute", axis=(0, 0, 1), lower=lower, upper=upper, position=start))
    scene.add_mimic("b", "a")
    sim = ss.Simulation(scene, method)
    sim.step(50)
    assert sim.report.loop_error > 0.3
