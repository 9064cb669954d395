"""Worlds of a batch do what single simulations do, bit for bit."""

from __future__ import annotations

import _thread
import os
import threading
import time
import warnings

import numpy as np
import pytest

import sesshoku as ss
from batch_scenes import mixed, stirred
from sesshoku.methods.registry import keywords

pytestmark = pytest.mark.filterwarnings("ignore::sesshoku.UnsupportedFeature", "ignore::sesshoku.UnstableStep")
WORLDS = 7


def made(method: str = "lcp:recommended", worlds: int = WORLDS, sensors: bool = False, **given) -> ss.Batch:
    batch = ss.Batch(mixed(sensors), worlds, method, 1e-3, **given)
    stirred(batch)
    return batch


def same(batch: ss.Batch, world: int, sim: ss.Simulation) -> None:
    """Every array of a saved state, bit for bit."""
    one, other = batch[world].save(), sim.save()
    for name in other:
        assert np.array_equal(one[name], other[name], equal_nan=one[name].dtype.kind == "f"), f"world {world}: {name}"


@pytest.mark.parametrize("sensors", [False, True])
@pytest.mark.parametrize("method", keywords())
def test_worlds_do_what_single_simulations_do(method, sensors):
    batch = made(method, sensors=sensors, threads=2)
    sims = [batch[w] for w in range(WORLDS)]
    for steps in (1, 40, 9):
        batch.actuators["motor"].command[:] = np.linspace(-1, 1, WORLDS)
        batch.step(steps)
        for w, sim in enumerate(sims):
            sim.actuators["motor"].target = np.linspace(-1, 1, WORLDS)[w]
            sim.step(steps)
            assert np.array_equal(batch.q[w], sim.q) and np.array_equal(batch.v[w], sim.v)
            assert np.array_equal(batch.report_array[w], sim.report_array)
    for w, sim in enumerate(sims):
        same(batch, w, sim)
    assert len({sim.q.tobytes() for sim in sims}) == WORLDS


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
def test_the_number_of_threads_changes_nothing(threads):
    batch, alone = made(threads=threads, worlds=23), made(threads=1, worlds=23)
    for steps in (1, 30):
        batch.step(steps)
        alone.step(steps)
    assert np.array_equal(batch.q, alone.q) and np.array_equal(batch.report_array, alone.report_array)


def test_a_world_does_not_depend_on_how_many_there_are():
    many, few = made(worlds=40), made(worlds=3)
    few.v[:] = many.v[:3]
    many.step(20)
    few.step(20)
    assert np.array_equal(many.q[:3], few.q)


def test_a_world_goes_on_as_the_simulation_taken_from_it():
    batch = made()
    batch.step(25)
    sim = batch[4]
    assert sim.time == batch.time[4] == pytest.approx(0.025)
    batch.step(25)
    sim.step(25)
    same(batch, 4, sim)


def test_several_steps_are_single_steps():
    batch, other = made(), made()
    batch.step(12)
    for _ in range(12):
        other.step()
    assert np.array_equal(batch.q, other.q)
    assert np.array_equal(batch.time, other.time)


def test_a_world_that_diverges_stands_still_and_harms_none():
    batch, calm = made(threads=1), made(threads=1)
    batch.step(10)
    calm.step(10)
    batch.v[2, 0] = batch.v[2, 7] = 1e200
    before = batch.q[2].copy(), batch.v[2].copy(), batch.time[2]
    batch.step(10)
    calm.step(10)
    assert batch.diverged.tolist() == [w == 2 for w in range(WORLDS)]
    for _ in range(2):
        for w in range(WORLDS):
            if w == 2:
                assert np.array_equal(batch.q[2], before[0]) and np.array_equal(batch.v[2], before[1])
                assert batch.time[2] == before[2]
            else:
                assert np.array_equal(batch.q[w], calm.q[w]) and np.array_equal(batch.v[w], calm.v[w])
        batch.step(3)
        calm.step(3)


def test_a_diverged_world_starts_again_when_it_is_reset():
    batch, fresh = made(), made()
    batch.v[1] = 1e200
    batch.step(5)
    assert batch.diverged[1]
    batch.reset(batch.diverged, v=fresh.v[1])
    assert not batch.diverged.any()
    batch.step(5)
    fresh.step(5)
    assert np.array_equal(batch.q[1], fresh.q[1]) and np.isfinite(batch.q).all()


def test_steps_let_other_threads_run():
    """A counter in Python goes on while the batch is inside one compiled call."""
    batch = made(worlds=1, threads=1)
    batch.step(10)
    count, stop = [0], threading.Event()

    def tick():
        while not stop.is_set():
            count[0] += 1
            time.sleep(1e-4)

    thread = threading.Thread(target=tick)
    lane = batch._crew.lane()
    lane.bind(np.zeros(1, dtype=np.int64))
    thread.start()
    try:
        before = count[0]
        batch._work(lane, np.zeros(1, dtype=np.int64), 20_000)
        ticked = count[0] - before
    finally:
        stop.set()
        thread.join()
    assert ticked > 20


@pytest.mark.boundscheck
@pytest.mark.nojit
def test_plain_python_steps_worlds_too():
    scene = ss.Scene()
    scene.add_ground()
    scene.add_sphere("ball", radius=0.1, mass=0.5, position=(0, 0, 0.1))
    scene.add_imu("imu", "ball")
    batch = ss.Batch(scene, 3, "lcp:recommended", 1e-3, vary={"mass": 0.3})
    batch.v[:, 2] = (1.0, 2.0, 3.0)
    sims = [batch[w] for w in range(3)]
    batch.step(3)
    poses = batch.body_poses()
    for w, sim in enumerate(sims):
        sim.step(3)
        assert np.array_equal(batch.q[w], sim.q)
        assert np.array_equal(batch.sensor_readings[w], sim.sensor_readings)
        assert np.array_equal(poses[w], sim.body_poses())


def test_scripted_bodies_move_in_every_world():
    scene = ss.Scene()
    scene.add_box("belt", size=(2, 1, 0.1), mass=1.0, kinematic=True, position=(0, 0, -0.05),
                  motion=lambda t: ((0.3 * t * t, 0, -0.05), (1, 0, 0, 0)))
    scene.add_box("crate", size=(0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.1))
    batch = ss.Batch(scene, 3, "lcp:recommended", 1e-3, threads=2)
    batch.v[:, 1] = (0.0, 0.3, -0.2)
    sims = [batch[w] for w in range(3)]
    for steps in (1, 20):
        batch.step(steps)
        for w, sim in enumerate(sims):
            sim.step(steps)
            same(batch, w, sim)


def test_overflow_is_told_once_and_flagged(monkeypatch):
    from sesshoku.methods.lcp import work as lcp_work

    monkeypatch.setattr(lcp_work, "contact_capacity", lambda model: 2)
    batch = made(worlds=3)
    with pytest.warns(ss.SuspectRun, match="more contacts than there is room for"):
        batch.step(30)
    assert batch.overflow.any()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ss.SuspectRun)
        batch.step(1)


def test_a_batch_nobody_holds_is_freed_at_once():
    import gc
    import weakref

    gc.collect()
    gc.disable()
    try:
        batch = made(threads=2)
        batch.step(2)
        body = batch.bodies["crate"]
        kept = weakref.ref(batch._memory)
        batch.contact_force("crate")
        assert np.isfinite(body.position).all()
        del batch
        assert kept() is not None  # a view keeps its batch
        del body
        assert kept() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_a_long_call_soon(threads):
    batch = made(threads=threads)
    batch.step(1)
    batch.apply_force("crate", (0, 0, 1.0))
    timer = threading.Timer(0.3, _thread.interrupt_main)
    begin = time.perf_counter()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        batch.step(10**9)
    timer.join()
    assert time.perf_counter() - begin < 60.0
    assert np.isfinite(batch.q).all() and (batch.time > 0.0).all()
    assert not batch._memory.arrays["data.external_force"].any()
    before = batch.time.copy()
    batch.step(3)
    np.testing.assert_allclose(batch.time - before, 3e-3, atol=1e-9)


def test_an_error_in_a_thread_is_told():
    batch = made(threads=2, worlds=40)
    batch.step(1)
    plain = batch._work

    def failing(lane, worlds, steps):
        if 30 in worlds:
            raise RuntimeError("a lane failed")
        return plain(lane, worlds, steps)

    batch._work = failing
    with pytest.raises(RuntimeError, match="a lane failed"):
        batch.step(1)


@pytest.mark.parametrize("method", keywords())
def test_scenes_without_anything_that_moves_step_too(method):
    bare, ground = ss.Batch(ss.Scene(), 3, method), ss.Scene()
    bare.step(2)
    assert bare.q.shape == (3, 0) and bare.body_poses().shape == (3, 0, 7)
    ground.add_ground()
    batch = ss.Batch(ground, 2, method)
    batch.step(2)
    batch.restore(batch.save())
    assert not batch.contact_force("ground").any() and np.allclose(batch.time, 2e-3)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    batch = made(threads=2, worlds=40)
    batch.step(1)
    child = os.fork()
    if child == 0:
        batch.step(5)
        os._exit(0 if np.isfinite(batch.q).all() else 1)
    assert os.waitpid(child, 0)[1] == 0
