"""Ctrl-C within `step(n)`: heeded between compiled calls, whose length follows the time of a step."""

from __future__ import annotations

import signal
import threading
from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from mechanisms import pendulum
from sesshoku.simulation import simulation


class Clock:
    """A clock that only steps move: each takes `cost(n)` seconds."""

    def __init__(self, cost: Any) -> None:
        self.now, self.made, self.cost = 0.0, 0, cost
        self.slices: list[tuple[int, float]] = []

    def run(self, *arguments: Any) -> int:
        count, begin = arguments[-1], self.now
        self.now += count * self.cost(self.made)
        self.made += count
        self.slices.append((count, self.now - begin))
        return count


@pytest.mark.nojit
@pytest.mark.parametrize(("steps", "cost"), [
    (200_000_000, lambda n: 2e-7), (100_000, lambda n: 1e-3), (50, lambda n: 0.15),
    (10_000_000, lambda n: 1e-6 if n < 5_000_000 else 3e-6), (1_000_000, lambda n: 1e-4 if n < 500_000 else 1e-6)])
def test_no_call_takes_longer_than_a_fifth_of_a_second(monkeypatch, steps, cost):
    sim, clock = ss.Simulation(pendulum(), "none"), Clock(cost)
    sim.step(0)
    monkeypatch.setattr(sim, "_run", clock.run)
    monkeypatch.setattr(simulation, "perf_counter", lambda: clock.now)
    sim.step(steps)
    assert clock.made == steps
    assert max(took for _, took in clock.slices) <= 0.2
    assert len(clock.slices) < 12 + 40 * clock.now / 0.05  # and not many calls where few will do


@pytest.mark.nojit
def test_one_step_is_one_call_and_no_look_at_the_clock(monkeypatch):
    sim, clock = ss.Simulation(pendulum(), "none"), Clock(lambda n: 1.0)
    sim.step(0)
    monkeypatch.setattr(sim, "_run", clock.run)
    monkeypatch.setattr(simulation, "perf_counter", None)
    sim.step()
    assert clock.slices == [(1, 1.0)]


@pytest.mark.parametrize("method", ["none", "exact"])
def test_slices_change_nothing(method):
    scene = ss.Scene()
    scene.add_ground()
    scene.add_box("crate", size=(1, 1, 1), mass=1.0, position=(0, 0, 0.6), angular_velocity=(1, 2, 3))
    at_once, singly = ss.Simulation(scene, method), ss.Simulation(scene, method)
    at_once.step(777)
    for _ in range(777):
        singly.step()
    one, other = at_once.save(), singly.save()
    assert all(one[name].tobytes() == other[name].tobytes() for name in one)


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals are the main thread's")
def test_an_interrupt_ends_a_long_call_between_two_steps():
    sim, again = ss.Simulation(pendulum(), "none"), ss.Simulation(pendulum(), "none")
    sim.step(2)
    sim.apply_force("rod", (1.0, 0, 0))
    before = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            sim.step(10**12)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    made = round(sim.time / sim.dt)
    assert made > 2 and not sim.pushed
    again.step(2)
    again.apply_force("rod", (1.0, 0, 0))
    again.step(made - 2)
    np.testing.assert_array_equal(sim.q, again.q)
    np.testing.assert_array_equal(sim.v, again.v)
