"""The paper's jump and fall: what they must show."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku.experiments.multipoint import fall, jump
from support import FULL


def test_jump() -> None:
    result = jump.run(lambda text: None)
    assert [check.name for check in result.checks if not check.passed] == []


@pytest.mark.skipif(not FULL, reason="nine falls: full counts only")
def test_falls() -> None:
    result = fall.run(lambda text: None)
    assert [check.name for check in result.checks if not check.passed] == []


def test_a_damped_fall_ends_at_rest() -> None:
    seen = fall.tumble("multipoint:recommended", 0.2, 1.2)
    assert seen.com[-1, 2] < 0.1 and seen.speed[-1] < 0.5
    assert (seen.gain > fall.GAIN).mean() <= 1e-3
    assert seen.unexplained.max() < 1e-9 * seen.weight
    assert seen.force[-100:].mean() / seen.weight == pytest.approx(1.0, abs=0.05)
    assert np.isfinite(seen.com).all()
