"""`Simulation`: the same bits from every way of stepping, restored states, and what is left after divergence."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core import config
from numba.core.runtime import _nrt_python, rtsys

import sesshoku as ss
from mechanisms import BLOCK, INTEGRATORS, everything, simulate, wheel
from trees import poison


def same(a: ss.Simulation, b: ss.Simulation) -> None:
    one, other = a.save(), b.save()
    assert set(one) == set(other)
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


# ---- exactness -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_many_steps_at_once_are_the_same_bits(integrator: str) -> None:
    one, other = simulate(everything(), integrator), simulate(everything(), integrator)
    one.step(150)
    for _ in range(150):
        other.step()
    same(one, other)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_the_stages_one_by_one_are_the_step(integrator: str) -> None:
    """What `profile` times is what `step` does: after it the state is that of as many steps."""
    one, other = simulate(everything(), integrator), simulate(everything(), integrator)
    for sim in (one, other):
        sim.step(20)
        sim.apply_force("rock", (1, 2, 3))
    one.step(60)
    times = other.profile(60)
    same(one, other)
    assert not other.data.external_force.any()
    assert set(times) == {*one.method.definition.stages_of(one.method.options).names, "step"}
    assert all(seconds >= 0.0 for seconds in times.values()) and times["step"] > 0.0
    other.profile(0)
    same(one, other)


def observed(sim: ss.Simulation) -> list[Any]:
    """What a user sees of a state."""
    return [sim.report, sim.actuator_force.copy(), sim.body_poses(), sim.body_velocities(), sim.energy]


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_restore_brings_back_everything(integrator: str) -> None:
    """Friction states, scripts, servos, pushes: 100 steps again from the snapshot give the same bits, and so does
    another simulation whose work space is poisoned: what is not in the snapshot is not needed."""
    sim, fresh = simulate(everything(), integrator), simulate(everything(), integrator)
    sim.step(137)
    sim.actuators["arm2"].target = -0.2
    sim.bodies["belt"].set_velocity((0, 0.4, 0))
    sim.apply_force("rock", (3, 0, 1), point=(8, 0, 1))
    assert sim.data.friction_slips.any() and not sim.data.friction_slips.all()
    snapshot = sim.save()
    seen = observed(sim)
    sim.step(100)
    after = sim.save()
    sim.restore(snapshot)
    for before, now in zip(seen, observed(sim), strict=True):
        np.testing.assert_array_equal(before, now)
    sim.step(100)
    fresh.restore(snapshot)
    poison(fresh.data)
    fresh.step(100)
    for other in (sim, fresh):
        for name, value in other.save().items():
            np.testing.assert_array_equal(after[name], value, err_msg=name)


def test_snapshots_do_not_change_later() -> None:
    sim = simulate(wheel(velocity=1.0))
    snapshot = sim.save()
    sim.step(10)
    assert snapshot["q"][0] == 0.0 and snapshot["time"][0] == 0.0


PROGRAM = """
import hashlib, sys
sys.path.insert(0, {folder!r})
from mechanisms import everything, simulate
for integrator in ("semi-implicit", "rk4"):
    sim = simulate(everything(), integrator)
    sim.step(300)
    print(hashlib.sha256(b"".join(value.tobytes() for value in sim.save().values())).hexdigest())
"""


def test_two_processes_give_the_same_bits() -> None:
    """One of them with another hash seed, so that no order of a set or dictionary matters."""
    program = PROGRAM.format(folder=str(Path(__file__).parents[1]))
    outputs = []
    paths = os.pathsep.join(path for path in sys.path if path)
    for seed in ("1", "2"):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True,
                              env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": paths})
        outputs.append(done.stdout.split())
    here = []
    for integrator in ("semi-implicit", "rk4"):
        sim = simulate(everything(), integrator)
        sim.step(300)
        here.append(hashlib.sha256(b"".join(value.tobytes() for value in sim.save().values())).hexdigest())
    assert len(here) == 2 and outputs[0] == outputs[1] == here


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="counts what compiled code allocates")
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_steps_allocate_nothing(integrator: str) -> None:
    """Handing arrays over costs the same few references for a thousand steps as for one: a call of the compiled loop,
    of which `step(n)` makes as many as it takes to heed Ctrl-C."""
    scene = everything()
    scene.bodies["lift"].motion = None  # a script runs in Python
    sim = simulate(scene, integrator)
    sim.step(5)
    _nrt_python.memsys_enable_stats()

    def allocations(steps: int) -> int:
        before = rtsys.get_allocation_stats()
        assert sim._run(*sim._arguments, steps) == steps
        after = rtsys.get_allocation_stats()
        assert after.alloc - before.alloc == after.free - before.free
        return int(after.alloc - before.alloc)

    assert allocations(1000) == allocations(1)
    assert sim.report.rows > 8


@pytest.mark.boundscheck
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_scene_of_everything_runs(integrator: str) -> None:
    sim = simulate(everything(), integrator)
    largest = 0.0
    for _ in range(100):
        sim.step(10)
        report = sim.report
        assert report.converged and report.momentum_residual < 1e-10 and report.rows > 0
        largest = max(largest, report.loop_error)
    assert largest < 5e-3  # the hung body starts at speed: the first steps pull it into line
    assert sim.time == pytest.approx(1.0)
    # a mimic's error is what one step's acceleration adds, over the share of it that is corrected
    assert sim.joints["arm1"].position == pytest.approx(0.5 * sim.joints["arm0"].position + 0.1, abs=5e-4)


@pytest.mark.nojit
def test_a_few_steps_as_plain_python() -> None:
    """Every kernel of a step also runs uncompiled: a free body falls, constraints hold, stages are the step."""
    for integrator in INTEGRATORS:
        sim, other = simulate(everything(), integrator), simulate(everything(), integrator)
        velocity = sim.bodies["rock"].center_of_mass_velocity
        sim.step(3)
        other.profile(3)
        same(sim, other)
        falling = velocity + 3e-3 * sim.scene.gravity
        np.testing.assert_allclose(sim.bodies["rock"].center_of_mass_velocity, falling, rtol=1e-12, atol=1e-12)
        assert sim.report.converged and sim.report.rows > 5 and np.isfinite(sim.q).all()


# ---- divergence ------------------------------------------------------------------------------------------------------


def stiff() -> ss.Scene:
    """A sound body, and a spring far too stiff for an explicit step."""
    scene = wheel(stiffness=1e9, position=1e-3, implicit=False)
    scene.add_body("bystander", inertial=BLOCK)
    return scene


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_divergence_names_time_and_body_and_keeps_the_last_good_state(integrator: str) -> None:
    sim = simulate(stiff(), integrator)
    with pytest.raises(ss.SimulationDiverged, match="body 'wheel'") as caught:
        sim.step(100_000)
    assert caught.value.body == "wheel" and caught.value.time == sim.time > 0.0
    assert f"{sim.time:.6g}" in str(caught.value) and isinstance(caught.value, ss.SesshokuError)
    for name, values in sim.data.saved().items():
        assert np.isfinite(values).all() or name == "report", name
    assert not sim.bodies["bystander"].position.any()  # nothing pulls on it
    snapshot = sim.save()
    with pytest.raises(ss.SimulationDiverged):
        sim.step()
    assert sim.time == snapshot["time"][0]
    np.testing.assert_array_equal(sim.q, snapshot["q"])


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_diverged_simulation_can_be_set_right(integrator: str) -> None:
    """A mad command in a scene with friction, limits and loops; without it the run goes on from the last good state."""
    sim = simulate(everything(), integrator)
    sim.step(20)
    good = sim.time
    sim.actuators["push"].target = 1e300
    with pytest.raises(ss.SimulationDiverged):
        sim.step(10)
    assert sim.time == good
    sim.actuators["push"].target = 0.0
    sim.step(200)
    assert sim.report.converged and np.isfinite(sim.q).all() and np.abs(sim.v).max() < 1e3


def test_a_spin_near_overflow_is_caught_before_the_quaternion_breaks() -> None:
    scene = ss.Scene()
    scene.add_body("top", inertial=BLOCK, angular_velocity=(1e170, 1.0, 0))
    for integrator in INTEGRATORS:
        sim = simulate(scene, integrator)
        with pytest.raises(ss.SimulationDiverged, match="'top'"):
            sim.step(3)
        assert np.isfinite(sim.q).all()


def test_divergence_under_a_script_ends_too() -> None:
    scene = stiff()
    scene.add_body("lift", kinematic=True, motion=ss.Motion([0, 1], [(0, 0, 0), (0, 0, 1)]))
    sim = simulate(scene)
    with pytest.raises(ss.SimulationDiverged, match="body 'wheel'"):
        sim.step(100_000)
    assert np.isfinite(sim.body_poses()).all()


def test_run_keeps_the_recording_so_far() -> None:
    sim = simulate(stiff())
    with pytest.raises(ss.SimulationDiverged) as caught:
        sim.run(10.0)
    recording = sim.recording
    assert caught.value.recording is not None  # type: ignore[attr-defined]
    assert 1 < len(recording.time) < 10_000 and recording.time[-1] <= sim.time + 1e-12
    assert np.isfinite(recording.time).all()
