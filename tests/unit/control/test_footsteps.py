"""Foot-step plans: where the feet go, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku.control.walking import footsteps
from sesshoku.control.walking.footsteps import LEFT, RIGHT, plan, refuse_overlaps
from sesshoku.errors import SceneError

SOLES = np.array([[-0.09, 0.15, -0.07, 0.07]] * 2)


def test_a_straight_walk_alternates_and_closes():
    steps = plan(footsteps.forward(4, 0.2), 0.18)
    assert [step.side for step in steps] == [LEFT, RIGHT, LEFT, RIGHT, LEFT]
    assert [step.goal.x for step in steps] == pytest.approx([0.2, 0.4, 0.6, 0.8, 0.8])
    assert all(abs(step.goal.y) == pytest.approx(0.09) for step in steps)
    assert steps[1].start.x == 0.0 and steps[2].start == steps[0].goal


def test_backward_is_forward_mirrored():
    ahead, back = (plan(walk(3, 0.1), 0.2) for walk in (footsteps.forward, footsteps.backward))
    assert [step.goal.x for step in back] == pytest.approx([-step.goal.x for step in ahead])


def test_sideways_goes_in_pairs_with_the_near_foot_first():
    steps = plan(footsteps.sideways(3, 0.05), 0.18)
    assert [step.goal.y for step in steps] == pytest.approx([0.14, -0.04, 0.19, 0.01, 0.24, 0.06])
    steps = plan(footsteps.sideways(1, -0.05), 0.18, first="right")
    assert steps[0].side == RIGHT and steps[0].goal.y == pytest.approx(-0.14)


def test_turning_on_the_spot_keeps_the_middle():
    steps = plan(footsteps.turning(6, np.deg2rad(15.0)), 0.2)
    last = {step.side: step.goal for step in steps}
    middle = 0.5 * (np.array(last[LEFT]) + np.array(last[RIGHT]))
    assert middle == pytest.approx([0.0, 0.0, np.deg2rad(90.0)], abs=1e-12)
    assert np.hypot(last[LEFT].x - last[RIGHT].x, last[LEFT].y - last[RIGHT].y) == pytest.approx(0.2)


def test_a_bend_turns_in_the_frame_of_the_moment():
    """Increments compose: the last body frame is the product of all of them."""
    increments, frame = footsteps.around(), np.eye(3)
    for ahead, left, turn in increments:
        frame = frame @ [[1, 0, ahead], [0, 1, left], [0, 0, 1]]
        c, s = np.cos(turn), np.sin(turn)
        frame = frame @ [[c, -s, 0], [s, c, 0], [0, 0, 1]]
    last = plan(increments, 0.18)[-1]
    assert len(increments) == 19 and last.side == LEFT
    assert (frame @ [0.0, 0.09, 1.0])[:2] == pytest.approx([last.goal.x, last.goal.y], abs=1e-12)
    assert list(last.goal) == pytest.approx([1.148, -0.135, np.deg2rad(30.0)], abs=1e-3)


def test_too_wide_turns_and_feet_on_feet_are_refused():
    with pytest.raises(SceneError, match="step 2.*20 degrees"):
        plan([(0, 0, 0), (0, 0, 0.4)], 0.18)
    refuse_overlaps(plan(footsteps.around(), 0.18), SOLES, 0.18)
    with pytest.raises(SceneError, match="step 1: the left sole would stand on the right one"):
        refuse_overlaps(plan([(0.0, -0.05, 0.0)], 0.18), SOLES, 0.18)
    with pytest.raises(SceneError, match="neither left nor right"):
        plan([], 0.18, first="middle")  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [(0.1, 0.0), (float("nan"), 0.0, 0.0), ("far", 0, 0)])
def test_an_increment_is_three_finite_numbers(wrong):
    with pytest.raises(SceneError, match="step 2"):
        plan([(0.1, 0.0, 0.0), wrong], 0.2)
