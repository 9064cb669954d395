"""Worlds of a batch are simulations, bit for bit, with every method: mechanisms, random heaps, worlds far apart."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from mechanisms import everything
from property_scenes import random_scene
from sesshoku.methods.registry import keywords, resolve
from support import SEED, sample_count

pytestmark = pytest.mark.filterwarnings("ignore::sesshoku.UnsupportedFeature", "ignore::sesshoku.UnstableStep",
                                        "ignore::sesshoku.SuspectRun",
                                        "ignore::sesshoku.stages.deep_overlaps.DeepOverlap")


def check_worlds(scene: ss.Scene, method: str, dt: float, rng: np.random.Generator) -> None:
    """Five worlds with velocities of their own, beside five simulations, through calls of any length."""
    batch = ss.Batch(scene, 5, method, dt, threads=int(rng.integers(1, 4)))
    batch.v = batch.v + rng.choice([0.0, 0.3, 3.0], (5, 1)) * rng.standard_normal(batch.v.shape)
    sims = [batch[w] for w in range(5)]
    ended = np.zeros(5, dtype=bool)
    for steps in rng.integers(1, 40, 3).tolist():
        batch.step(steps)
        for w, sim in enumerate(sims):
            try:
                if not ended[w]:
                    sim.step(steps)
            except ss.SimulationDiverged:
                ended[w] = True
            assert np.array_equal(batch.q[w], sim.q) and np.array_equal(batch.v[w], sim.v), f"world {w}"
    assert np.array_equal(batch.diverged, ended)
    for w, sim in enumerate(sims):
        if not ended[w]:
            mine, theirs = batch[w].save(), sim.save()
            assert [name for name in theirs if mine[name].tobytes() != theirs[name].tobytes()] == [], f"world {w}"


@pytest.mark.parametrize("method", keywords())
def test_worlds_of_a_mechanism_with_everything(method: str) -> None:
    check_worlds(everything(), method, 1e-3, np.random.default_rng([SEED, 80]))


@pytest.mark.parametrize("method", keywords())
def test_worlds_of_random_scenes(method: str) -> None:
    for n in range(sample_count(2, 40)):
        rng = np.random.default_rng([SEED, 81, n])
        bounces = resolve(method).definition.guaranteed("restitution", resolve(method).options)
        scene = random_scene(rng, float(rng.choice([0.0, 0.5])) if bounces else 0.0)
        check_worlds(scene, method, float(10 ** rng.uniform(-3.5, -2.0)), rng)
