"""Energy that grows without a source ends a run while its numbers are still small; what has a source does not."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.experiments.scenes import crate_on_floor
from sesshoku.methods.registry import keywords
from sesshoku.stages.growth import ALLOWED, FOUND, PACE, may_follow
from sesshoku.stages.report import CHANNELS

METHODS = [keyword for keyword in keywords() if keyword != "none"]


def fed(sim: ss.Simulation, factor: float) -> None:
    """From now on every step ends `factor` times as fast as it should, without the books knowing of it."""
    run = sim._run

    def faster(*arguments: Any) -> int:
        done = int(run(*arguments))
        if done == 0:
            return done
        sim.data.v *= factor
        sim.data.left_v[:] = sim.data.v
        if "bodies" in sim.work.fields:
            sim.work.bodies.velocity[: sim.model.link_count] *= factor
            sim.work.bodies.seen_v[:] = sim.data.v
        return done

    sim._run = faster


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("factor", [1.1, 30.0])
def test_growth_ends_a_run_long_before_infinity(method: str, factor: float) -> None:
    """A ball in the air whose speed grows by a tenth, or thirtyfold, in every step."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_sphere("ball", radius=0.1, mass=2.0, position=(0, 0, 5), velocity=(0, 0, 1.0))
    sim = ss.Simulation(scene, method, 1e-3)
    sim.step(3)
    fed(sim, factor)
    with pytest.raises(ss.SimulationDiverged, match=r"kinetic energy grew to .* at body 'ball'.*is kept") as told:
        for _ in range(400):
            before = sim.save()
            sim.step()
    kept = sim.save()
    assert all(np.array_equal(kept[name], before[name]) for name in ("q", "v", "time"))
    assert np.abs(sim.v).max() < 3e4 * factor and told.value.body == "ball"  # light is 1e4 times as fast
    with pytest.raises(ss.SimulationDiverged):  # and it stays so
        sim.step()


@pytest.mark.parametrize("method", METHODS)
def test_what_has_a_source_goes_on(method: str) -> None:
    """A fall from high above, a throw, a push, a state that is written, one that is restored."""
    sim = ss.Simulation(crate_on_floor(1.0, height=400.0), method, 0.01)
    sim.step(500)
    sim.bodies["crate"].set_velocity((0, 0, 3000.0))
    sim.step(5)
    sim.apply_force("crate", (0, 0, 1e7))
    sim.step(5)
    state = sim.save()
    sim.reset()
    sim.step(5)
    sim.v[2] = 1e5
    sim.step(5)
    sim.restore(state)
    sim.step(5)
    sim.bodies["crate"].push((0, 0, 1e8))
    sim.step(20)


def test_many_steps_in_one_call_are_looked_at_too() -> None:
    sim = ss.Simulation(crate_on_floor(1.0, height=2.0), "exact", 1e-3)
    sim.data.growth[PACE] = -1.0
    sim.step(2000)
    assert 0.0 < sim.data.growth[FOUND] <= sim.data.growth[ALLOWED]


def test_an_unstable_servo_is_a_source_of_its_own() -> None:
    """What actuators bring is booked: such a run ends where no motion can be, as ever."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_body("post", fixed=True)
    scene.add_box("arm", size=(0.1, 0.1, 0.5), mass=1.0, parent="post",
                  joint=ss.Joint("revolute", "hinge", axis=(0, 1, 0), position=0.1))
    scene.add_actuator("hinge", "torque", name="motor")
    sim = ss.Simulation(scene, "none", 1e-3)
    sim.joints["hinge"].velocity = 1.0
    with pytest.raises(ss.SimulationDiverged, match="slower than light"):
        for _ in range(3000):
            sim.actuators["motor"].target = 5.0 * sim.joints["hinge"].velocity
            sim.step()


@pytest.mark.parametrize("method", ["exact", "lcp:recommended", "springs", "implicit"])
def test_a_moving_script_is_a_source(method: str) -> None:
    scene = ss.Scene()
    scene.add_ground()
    scene.add_box("paddle", size=(0.2, 1, 1), position=(-1.0, 0, 0.55), velocity=(60.0, 0, 0), kinematic=True)
    scene.add_box("crate", size=(0.3, 0.3, 0.3), mass=1.0, position=(0, 0, 0.15))
    sim = ss.Simulation(scene, method, 1e-3)
    sim.step(60)
    assert sim.bodies["crate"].velocity[0] > 20.0


def test_copies_go_on_with_an_account_of_their_own() -> None:
    sim = ss.Simulation(crate_on_floor(1.0, height=2.0), "exact", 1e-3)
    sim.step(100)
    again = copy.deepcopy(sim)
    sim.step(200)
    again.step(200)
    assert np.array_equal(sim.q, again.q)


def test_a_residual_beyond_all_motion_is_not_converged() -> None:
    sim = ss.Simulation(crate_on_floor(1.0), "exact", 1e-3)
    sim.step(5)
    report = sim.data.report
    for residual, converged in ((0.5, 1.0), (2.0, 1.0), (5.0, 0.0), (2e9, 0.0)):
        report[CHANNELS.index("residual")], report[CHANNELS.index("converged")] = residual, 1.0
        assert may_follow(sim.model, sim.data, sim.data.v, 0.0)
        assert report[CHANNELS.index("converged")] == converged


def test_worlds_of_a_batch_have_accounts_of_their_own() -> None:
    """One world of four is written to: the others' accounts go on, and all come to the same as alone."""
    batch = ss.Batch(crate_on_floor(1.0, height=2.0), worlds=4, method="exact", dt=1e-3)
    batch.step(5)
    batch.v[2, 2] = 500.0
    batch.step(5)
    assert not batch.diverged.any()
    assert batch.v[2, 2] > 400.0 and abs(batch.v[1, 2]) < 1.0
