"""States from outside: any value in any place is taken or refused with an error of ours, and never crashes a step."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.methods.registry import keywords
from snapshot_fuzz import same_state, simulated, spoil
from support import SEED, sample_count

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")


@pytest.mark.parametrize("method", keywords())
def test_bad_values_are_refused_and_what_is_taken_steps(method: str) -> None:
    rng = np.random.default_rng([SEED, 25])
    sim = simulated(method, 40)
    good = sim.save()
    refused = 0
    for n in range(sample_count(150, 3000)):
        bad, what = spoil(rng, good)
        before = sim.save()
        try:
            sim.restore(bad)
        except ss.SceneError as error:
            refused += 1
            assert "restore" in str(error), what
            assert same_state(before, sim.save()), f"{what}: refused, and yet the state changed"
            continue
        try:
            sim.step(3 if n % 10 else 30)
            assert isinstance(sim.contacts, list) and isinstance(sim.energy.total, float)
        except ss.SimulationDiverged:
            pass  # 1e308 m/s is a number, and no state that a step can start from
        sim.restore(good)
    assert refused > 0


@pytest.mark.parametrize("method", keywords())
def test_every_saved_count_and_index_is_bounded(method: str) -> None:
    """The largest integer is refused in every place of every array that compiled code counts or points by."""
    sim = simulated(method, 40)
    good = sim.save()
    free = {"id", "old_id", "age", "old_age", "key", "old_key", "tree_rows", "tree_unsolved", "tree_wait",
            "tree_restless"}  # places in no array
    for name, values in good.items():
        if values.dtype != np.int64 or name.rpartition(".")[2] in free:
            continue
        for number in (2**62 + 1, -2):
            bad = dict(good) | {name: np.full_like(values, number)}
            if values.size:
                with pytest.raises(ss.SceneError, match=rf"restore: {name} ?\[0.*got {number}"):
                    sim.restore(bad)
