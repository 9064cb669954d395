"""`sesshoku reproduce springs/...`: every check of every experiment (the long ones only in the full run)."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sesshoku.experiments import base
from sesshoku.experiments.springs import pendulum
from support import FULL

LONG = ("springs/cost", "springs/crane-methods")
NAMES = [name for name in base.EXPERIMENTS if name.startswith("springs/") and (FULL or name not in LONG)]


@pytest.mark.parametrize("name", NAMES)
def test_every_check_passes(name, tmp_path):
    result = base.run(name, tmp_path)
    failed = [check.as_dict() for check in result.checks if not check.passed]
    assert not failed
    stem = name.replace("/", "_")
    assert (tmp_path / f"{stem}.png").stat().st_size > 5000
    assert json.loads((tmp_path / f"{stem}.json").read_text())["verdict"] == "pass"


def test_the_thesis_has_all_its_figures():
    expected = {f"fig8.{n}" for n in range(1, 14)}
    expected |= {"table8.1", "trends", "edges", "sensitivity", "constraint-friction", "cost", "crane", "crane-methods"}
    assert {name.partition("/")[2] for name in base.EXPERIMENTS if name.startswith("springs/")} == expected


def test_pendulum_improves_with_the_limit_and_the_step():
    """Less stretch is better down to w = 0.1 m, w = 0.05 m is not worse than 0.2 m; a smaller step always is better."""
    reference = pendulum.lagrange()
    rms = {key: pendulum.errors(pendulum.simulate(*key)[0], reference)[0] for key in pendulum.EXPECTED}
    for wide, narrow in ((0.4, 0.2), (0.2, 0.1)):
        assert (rms[0.02, narrow] < rms[0.02, wide]).all()
    assert (rms[0.02, 0.05] <= rms[0.02, 0.2]).all()
    for coarse, fine in ((0.02, 0.01), (0.01, 0.005)):
        assert (rms[fine, 0.05] < rms[coarse, 0.05]).all()


def test_lagrange_reference_is_converged_and_needs_the_right_inertia(monkeypatch):
    """Symplectic Euler at 5 ms is near a fine step; with the printed 100/3 the second angle is off by half a radian."""
    reference, fine = pendulum.lagrange(), pendulum.lagrange(2.5e-4)
    assert np.abs(reference[:, 1:] - fine[::20, 1:]).max() < 0.01
    monkeypatch.setattr(pendulum, "MOMENT", 100.0 / 3.0)
    assert np.abs(pendulum.lagrange()[:, 1:] - reference[:, 1:]).max(axis=0) == pytest.approx([0.28, 0.53], abs=0.03)


def test_gauss_newton_finds_the_same_motion():
    descent, newton = pendulum.simulate(0.02, 0.1), pendulum.simulate(0.02, 0.1, "gauss-newton")
    assert np.abs(descent[0][:, 1:] - newton[0][:, 1:]).max() < 0.02
    assert newton[2] < 0.6 * descent[2]
