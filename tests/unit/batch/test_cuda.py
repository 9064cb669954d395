"""Batches for a GPU, on a card that is none: what a GPU runs up to LLVM's back end, stepped by the CPU (fake_card.py).

The layout in tiles changes nothing: every world does what it does on the CPU, bit for bit, but for `exact`.
"""

from __future__ import annotations

import copy

import numpy as np
import pytest

import sesshoku as ss
from batch_scenes import mixed, stirred
from fake_card import FakeCard
from golden_runs import heap
from sesshoku.compiled.gpu.stages import LOOP
from sesshoku.simulation.batch.gpu import launches
from sesshoku.simulation.batch.gpu.cuda import SPARE, CudaBatch
from sesshoku.simulation.batch.gpu.verified import unverified

pytestmark = [pytest.mark.filterwarnings("ignore::sesshoku.UnsupportedFeature", "ignore::sesshoku.UnstableStep",
                                         "ignore::sesshoku.SuspectRun"),
              pytest.mark.usefixtures("card")]

WORLDS = 37  # two tiles, the second in part
VARY = {"mass": 0.2, "friction": (0.3, 0.9), "gain": 0.1, "gravity": (8.0, 11.0)}


@pytest.fixture(name="card")
def fake_card(monkeypatch) -> FakeCard:
    """Batches on "cuda" find this card."""
    found = FakeCard()
    monkeypatch.setattr(CudaBatch, "_find_card", lambda self: found)
    monkeypatch.setattr(CudaBatch, "_unverified", lambda self: [])  # it is a CPU
    return found


def pair(method="none", worlds=WORLDS, sensors=False, **given) -> tuple[ss.Batch, ss.Batch]:
    """A batch on the CPU and one for a GPU, in the same state."""
    found = [ss.Batch(mixed(sensors), worlds, method, 1e-3, device=device, **given) for device in ("cpu", "cuda")]
    for batch in found:
        stirred(batch)
    return found[0], found[1]


def same(one: ss.Batch, other: ss.Batch) -> None:
    """Every array of a saved state, bit for bit."""
    a, b = one.save(), other.save()
    assert set(a) == set(b)
    for name in a:
        assert np.array_equal(a[name], b[name], equal_nan=a[name].dtype.kind == "f"), name


@pytest.mark.parametrize("method", ["none", "lcp:recommended", pytest.param("lcp", marks=pytest.mark.slow), "exact",
                                    pytest.param("multipoint", marks=pytest.mark.slow)])
def test_worlds_in_tiles_do_what_worlds_on_the_cpu_do(monkeypatch, method):
    monkeypatch.setattr(launches, "FEW", 0)  # stage by stage
    few = 5 if method == "multipoint" else WORLDS
    one, other = pair(method, few, vary=VARY)
    for steps in (1, 9, 40):
        one.step(steps)
        other.step(steps)
        if method == "exact":  # sums of its factorisation go in another order where numbers lie apart: a rounding
            assert np.abs(one.q - other.q).max() < 1e-12 and np.abs(one.v - other.v).max() < 1e-11
        else:
            same(one, other)
    assert len({q.tobytes() for q in other.q}) == few


def test_one_launch_for_all_steps_does_the_same(card):
    one, other = pair()
    one.step(70)
    other.step(70)
    same(one, other)
    assert LOOP in card.launched and "forces" not in card.launched


def test_stage_by_stage_each_is_launched_once_a_step(monkeypatch, card):
    monkeypatch.setattr(launches, "FEW", 0)
    _, other = pair()
    card.launched.clear()
    other.step(3)
    assert card.launched == ["enter", *3 * list(other._launches.stages), "renew", "leave"]


def test_work_space_for_some_worlds_at_a_time_does_the_same(card):
    layout = pair()[1]._layout
    card.free = SPARE + WORLDS * (layout.bytes_of("own") + 4096) + 32 * layout.bytes_of("work")
    one, other = pair()
    assert other._memory.tiles.at_once == 32
    one.step(20)
    other.step(20)
    same(one, other)


def test_sensors_read_the_same():
    one, other = pair(sensors=True)
    for steps in (1, 5):
        one.step(steps)
        other.step(steps)
        assert np.array_equal(one.sensor_readings, other.sensor_readings)
    same(one, other)


def test_what_is_read_is_the_same():
    one, other = pair(vary=VARY)
    one.step(10)
    other.step(10)
    assert np.array_equal(one.body_poses(), other.body_poses())
    assert np.array_equal(one.body_velocities(), other.body_velocities())
    assert np.array_equal(one.bodies["fore"].center_of_mass, other.bodies["fore"].center_of_mass)
    assert np.array_equal(one.time, other.time)


def test_commands_pushes_and_states_that_are_written_hold():
    one, other = pair()
    for batch in (one, other):
        batch.actuators["motor"].command[:] = np.linspace(-1, 1, WORLDS)
        batch.apply_force("crate", np.linspace(0, 9, 3 * WORLDS).reshape(WORLDS, 3))
        batch.joints["elbow"].position[:] = 0.3
        batch.step(10)
        batch.step(10)
    same(one, other)


def test_reset_save_and_restore():
    one, other = pair()
    for batch in (one, other):
        batch.step(5)
        kept = batch.save()
        batch.step(5)
        batch.reset(np.arange(WORLDS) % 3 == 0)
        batch.reset([1, 4], v=np.zeros(batch.v.shape[1]))
        batch.step(5)
        batch.restore(kept)
        batch.step(5)
    same(one, other)
    one.restore(other.save())
    other.restore(copy.deepcopy(one).save())
    same(one, other)


def test_a_world_is_a_simulation():
    _, other = pair(vary=VARY)
    other.step(5)
    sim = other[34]
    other.step(5)
    sim.step(5)
    assert np.array_equal(sim.q, other.q[34])


def test_a_world_that_diverges_stands_still_and_harms_none(card):
    layout = pair()[1]._layout
    card.free = SPARE + WORLDS * (layout.bytes_of("own") + 4096) + 32 * layout.bytes_of("work")
    one, other = pair()
    for batch in (one, other):
        batch.step(3)
        batch.v[2] = 1e200
        batch.step(5)
        assert np.flatnonzero(batch.diverged).tolist() == [2]
        batch.step(5)
    same(one, other)
    for batch in (one, other):
        batch.reset([2])
        batch.step(5)
        assert not batch.diverged.any()
    same(one, other)


# ---- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["springs", "volume", "implicit"])
def test_methods_for_the_cpu_say_so(method):
    with pytest.raises(ss.MethodError, match=f"{method}.*CPU alone.*none, lcp, exact"):
        ss.Batch(mixed(), 4, method, device="cuda")


def test_too_many_worlds_are_refused_with_the_number_that_fits(monkeypatch):
    layout = pair()[1]._layout
    fake = FakeCard(SPARE + 100 * layout.bytes_of("own") + 32 * layout.bytes_of("work"))
    monkeypatch.setattr(CudaBatch, "_find_card", lambda self: fake)
    with pytest.raises(ss.SceneError, match="not enough memory on the GPU.*worlds fit") as caught:
        ss.Batch(mixed(), 5000, "none", device="cuda")
    fit = int(str(caught.value).rsplit("; ", 1)[1].split()[0])
    assert 50 < fit <= 100
    assert len(ss.Batch(mixed(), fit, "none", device="cuda")) == fit


def test_what_was_not_compared_on_a_card_is_refused(card, monkeypatch):
    found = unverified(ss.Simulation(mixed(), "none").compiled)
    assert {"joint friction", "actuators other than position servos"} <= set(found)
    assert not unverified(ss.Simulation(heap(), "none").compiled)
    monkeypatch.setattr(CudaBatch, "_unverified", lambda self: unverified(self.compiled))
    with pytest.raises(ss.SceneError, match="not known to move on a GPU as on the CPU: .*joint friction"):
        ss.Batch(mixed(), 4, "none", device="cuda")
    ss.Batch(heap(), 4, "none", device="cuda")


def test_scripted_bodies_run_on_the_cpu():
    scene = mixed()
    scene.add_box("door", size=(0.1, 1, 2), position=(3, 0, 1), kinematic=True,
                  motion=lambda t: ((3, t, 1), (1, 0, 0, 0)))
    with pytest.raises(ss.SceneError, match="scripted"):
        ss.Batch(scene, 4, "none", device="cuda")


def test_without_cuda_the_error_says_what_is_missing(monkeypatch):
    monkeypatch.undo()
    try:
        import cupy

        if cupy.cuda.is_available():
            pytest.skip("there is a card")
    except ImportError:
        pass
    with pytest.raises(ss.SceneError, match="CuPy|CUDA"):
        ss.Batch(mixed(), 4, "none", device="cuda")


def test_unknown_devices_are_refused():
    with pytest.raises(ss.SceneError, match='"cpu" or "cuda"'):
        ss.Batch(mixed(), 4, "none", device="tpu")
