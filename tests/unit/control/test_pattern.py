"""Walking patterns: what they keep, the known numbers of the shipped robots, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sesshoku import control
from sesshoku.control.humanoids import GAITS, LARGE, stage
from sesshoku.control.walking import footsteps
from sesshoku.control.walking.footsteps import LEFT, RIGHT
from sesshoku.control.walking.gait import BOTH, timeline
from sesshoku.errors import SceneError
from support import FULL


@pytest.fixture(scope="module")
def small():
    return control.Biped(stage("small"), control.HUMANOID)


@pytest.fixture(scope="module")
def pattern(small):
    return control.walk(small, footsteps.forward(3, 0.04), GAITS["small"])


def test_a_timeline_lasts_as_said_and_shares_add_up():
    steps = footsteps.plan(footsteps.around(), 0.18)
    line = timeline(steps, LARGE)
    assert line.time[-1] == pytest.approx(20.0)
    assert set(line.support) == {LEFT, RIGHT, BOTH}
    assert np.all(line.share[line.support == LEFT] == 1.0) and np.all(line.share[line.support == RIGHT] == 0.0)
    swings = line.support != BOTH
    assert swings.sum() == pytest.approx(19 * 700, abs=19)
    up = line.feet[:, :, 2] > 0.0
    assert not np.any(up[:, LEFT] & (line.support != RIGHT)) and not np.any(up[:, RIGHT] & (line.support != LEFT))
    # ZMP under the standing foot, ahead of its ankle by zmp_ahead along its heading
    for side in (LEFT, RIGHT):
        rows = line.support == side
        foot, yaw = line.feet[rows, side, :2], line.feet[rows, side, 5]
        ahead = LARGE.zmp_ahead * np.stack([np.cos(yaw), np.sin(yaw)], axis=1)
        assert line.zmp[rows] == pytest.approx(foot + ahead, abs=1e-12)
    assert np.abs(np.diff(line.feet, axis=0)).max() < 1e-2  # nothing jumps


def test_a_plan_without_steps_stands(small):
    pattern = control.walk(small, [], GAITS["small"])
    assert pattern.duration == pytest.approx(2.6)
    assert np.ptp(pattern.q, axis=0).max() < 1e-9
    assert pattern.zmp == pytest.approx(np.tile(pattern.com[0, :2], (len(pattern.zmp), 1)), abs=1e-6)


def test_joint_forces_leave_nothing_for_the_base_to_do(small, pattern):
    """The feet's wrenches carry the motion: the base's six rows are zero."""
    assert np.abs(pattern.force[:, :6]).max() < 1e-9 * small.mass * 9.8


def test_multibody_zmp_follows_its_reference_thanks_to_the_filter(small, pattern):
    plain = control.walk(small, footsteps.forward(3, 0.04), GAITS["small"], dynamic_filter=False)
    assert pattern.zmp_error.max() < 4e-3 < 8e-3 < plain.zmp_error.max()


def test_standing_torques_hold_gravity(small):
    """At rest the feed-forward is what a robot of the same posture on its feet needs: J^T f and gravity balance."""
    pattern = control.walk(small, [], GAITS["small"])
    left, right = small.legs.dof
    torque = pattern.force[100]
    mirror = np.array([-1, -1, 1, 1, 1, -1])  # yaw and roll change sign from left to right
    assert torque[left] == pytest.approx(mirror * torque[right], abs=1e-7)
    assert np.abs(torque[left]).max() < 0.2 * small.mass * 9.8 * 0.2


def test_what_the_robot_cannot_do_is_refused(small):
    with pytest.raises(SceneError, match="too short by .* mm; lower com_height"):
        control.walk(small, footsteps.forward(2, 0.04), replace(GAITS["small"], com_height=0.27))
    with pytest.raises(SceneError, match="step 1: a leg is too short"):
        control.walk(small, footsteps.forward(2, 0.2), GAITS["small"])
    scene = stage("small")
    scene.actuators["left_knee"].effort = 0.5
    with pytest.raises(SceneError, match="'left_knee': the plan needs .* times the effort"):
        control.walk(control.Biped(scene, control.HUMANOID), footsteps.forward(2, 0.04), GAITS["small"])
    scene = stage("small")
    scene.bodies["left_shank"].joint.upper = 1.0
    with pytest.raises(SceneError, match="'left_knee': the plan passes the joint's limit"):
        control.walk(control.Biped(scene, control.HUMANOID), footsteps.forward(2, 0.04), GAITS["small"])


def test_rules_give_about_the_tuned_gait():
    rule = control.Gait.by_rule(0.72, 0.18)
    for name in ("single", "double", "start", "shift", "finish", "preview", "swing_height"):
        assert getattr(rule, name) == pytest.approx(getattr(LARGE, name), rel=0.25), name
    assert rule.jerk_cost == pytest.approx(LARGE.jerk_cost, rel=2.0)


@pytest.mark.skipif(not FULL, reason="nineteen steps take some seconds to plan")
def test_the_nineteen_steps_of_the_large_humanoid():
    pattern = control.walk(control.Biped(stage("large"), control.HUMANOID), footsteps.around(), LARGE)
    assert pattern.duration == pytest.approx(20.0)
    assert pattern.zmp_error == pytest.approx([0.012, 0.006], abs=0.002)


def test_a_gait_for_another_gravity_is_refused():
    scene = stage("small")
    scene.gravity = (0, 0, -1.62)
    with pytest.raises(SceneError, match="another gravity.*1.62.*biped.gravity"):
        control.walk(control.Biped(scene, control.HUMANOID), footsteps.forward(2, 0.04), GAITS["small"])


@pytest.mark.parametrize(("make", "words"), [
    (lambda: control.Gait.by_rule(-1.0, 0.1), "com_height must be greater than 0"),
    (lambda: replace(GAITS["small"], single=float("nan")), "gait.*single"),
    (lambda: replace(GAITS["small"], single=0.0), "single must be greater than 0"),
    (lambda: replace(GAITS["small"], start=0.4), "shift must end within start"),
    (lambda: control.Gait(0.24, width="wide"), "gait.*width"),
    (lambda: control.Gait(com_hight=0.24, width=0.1), "com_hight"),
    (lambda: footsteps.forward(-2, 0.04), "whole number.*-2"),
    (lambda: footsteps.in_place(1.5), "whole number.*1.5"),
    (lambda: control.LegMap(lef=(), right=()), "lef"),
    (lambda: control.Biped(stage("small"), None), "LegMap is wanted.*NoneType"),
    (lambda: control.Biped("small", control.HUMANOID), "Scene is wanted.*str"),
    (lambda: control.limp("small"), "needs a Scene.*str"),
    (lambda: control.Walker(None), "plays a pattern.*NoneType.*control.walk"),
])
def test_what_makes_no_sense_is_refused_with_words(make, words):
    with pytest.raises(SceneError, match=words):
        make()
