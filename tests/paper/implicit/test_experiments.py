"""`sesshoku reproduce implicit/...`: what each asserts, on a few of its runs; all of it in the full run."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sesshoku.experiments import base
from sesshoku.experiments.implicit import fall, scaling, table1
from sesshoku.simulation.simulation import Simulation
from support import FULL


@pytest.mark.parametrize("name", ["implicit/soles", *(["implicit/table1", "implicit/scaling", "implicit/fall"] if FULL
                                                      else [])])
def test_every_check_passes(name, tmp_path):
    result = base.run(name, tmp_path)
    assert not [check.as_dict() for check in result.checks if not check.passed]
    stem = tmp_path / name.replace("/", "_")
    assert stem.with_suffix(".png").stat().st_size > 5000
    assert json.loads(stem.with_suffix(".json").read_text())["verdict"] == "pass"


@pytest.mark.parametrize("ms", [1.0, 5.0, 10.0, 20.0])
def test_the_implicit_box_drop_succeeds(ms):
    found = table1.drop("implicit", 1e-3 * ms)
    assert found.outcome == table1.SUCCESS and found.peak_mechanical <= 1.05


@pytest.mark.parametrize("integrator, works, fails", [("euler", 0.5, 3.5), ("symplectic", 0.5, 5.0), ("rk4", 1.0, 5.0)])
def test_explicit_box_drops_succeed_at_small_steps_only(integrator, works, fails):
    assert table1.drop(integrator, 1e-3 * works, 1.5).outcome == table1.SUCCESS
    assert table1.drop(integrator, 1e-3 * fails, 1.5).outcome != table1.SUCCESS


def test_a_coarse_fall_goes_as_a_fine_one_does():
    """At rest as one that was ten times finer; on the way the error is of first order."""
    fine, *coarse = (fall.fall("implicit", ms) for ms in (0.5, 5.0, 10.0, 20.0))
    errors = {ms: fall.error(row, fine) for ms, row in zip((5.0, 10.0, 20.0), coarse, strict=True)}
    assert all(abs(row.heights[-1] - fine.heights[-1]) < 1e-4 for row in coarse)
    assert fall.order(errors) == pytest.approx(1.0, abs=0.15)
    assert max(row.peak for row in (fine, *coarse)) <= 1.001
    assert fall.fall("symplectic", 20.0).diverged


def test_chains_are_the_same_by_both_ways():
    """The chains that are timed move as `none` says."""
    ends = []
    for method in ("implicit", "none"):
        sim = Simulation(scaling.chain(40), method, 1e-4)
        sim.step(50)
        ends.append(np.concatenate([sim.q, sim.v]))
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)
