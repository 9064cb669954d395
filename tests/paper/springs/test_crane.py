"""The thesis's crane game, scripted: what `springs` must show at 1/50 s (`sesshoku reproduce springs/crane`)."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from sesshoku.apps.crane import trials
from sesshoku.apps.crane.game import CHOSEN
from support import FULL

LIMIT = CHOSEN["springs"]["limit"]


@pytest.fixture(autouse=True)
def _no_rubbish() -> Iterator[None]:
    """A step's processor time is of the step: collecting what other tests left would be counted as well."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_a_box_is_lifted_by_static_friction_and_falls_when_let_go() -> None:
    found = trials.lift_box("springs")
    assert found.rise > 0.9 and found.slip < 0.02
    assert found.fallen > 0.9
    assert found.penetration <= 1.05 * LIMIT
    assert found.step_seconds < 1 / 15


def test_without_friction_it_stays_on_the_floor() -> None:
    found = trials.lift_box("springs", friction=0.0)
    assert found.rise < 1e-3 and found.penetration <= 1.05 * LIMIT


@pytest.mark.parametrize("share, holds", [(0.6, True), (1.5, False)] + ([(0.5, True), (2.0, False)] if FULL else []))
def test_two_fingers_hold_up_to_the_bound_of_friction(share: float, holds: bool) -> None:
    """m sqrt(g^2 + a^2) <= 2 mu' N, sideways along the fingers' faces."""
    found = trials.jerk_box("springs", share)
    assert found.force == pytest.approx(10.0, abs=0.5)
    assert 0.5 * found.bound > trials.MASS * trials.GRAVITY
    assert trials.MASS * (trials.GRAVITY**2 + found.acceleration**2) ** 0.5 == pytest.approx(share * found.bound)
    assert found.held is holds


def test_a_heart_rises_by_its_notch_without_friction_and_its_hull_does_not() -> None:
    assert trials.hook_heart("springs").rise > 0.9
    assert trials.hook_heart("springs", hull=True).rise <= 0.0


def test_a_minute_of_lifting_stays_within_the_limit() -> None:
    found = trials.endure("springs", 60.0 if FULL else 13.0)
    assert found.penetration <= 1.05 * LIMIT and found.highest > 0.9
    assert found.step_seconds < 1 / 15
