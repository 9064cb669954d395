"""Step adjustment: closed forms of the pendulum it is made of, limits, and what it buys under a push."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku import control
from sesshoku.control.balance import COM, COM_VELOCITY, FEET, SHARE, ZMP
from sesshoku.control.humanoids import GAITS, LARGE, stage
from sesshoku.control.walking import footsteps
from sesshoku.control.walking.footsteps import RIGHT
from sesshoku.control.walking.gait import BOTH
from sesshoku.errors import SceneError
from sesshoku.simulation.simulation import Simulation
from support import FULL


@pytest.fixture(scope="module")
def pattern():
    return control.walk(control.Biped(stage("large"), control.HUMANOID), footsteps.forward(5, 0.2), GAITS["large"])


def test_small_errors_are_left_to_the_ankles(pattern):
    adjustment = control.StepAdjustment(pattern)
    for n in range(500):
        adjustment.update(LARGE.start + 1e-3 * n, RIGHT, 0, np.array([0.04, -0.02]), 1e-3)
    assert np.all(adjustment.wanted == 0.0) and np.all(adjustment.feet == 0.0) and np.all(adjustment.com == 0.0)


def test_an_error_shifts_the_landing_by_what_it_grows_to(pattern):
    """x e^(w T) / h, and the shifted plan's capture point is off by x from then on: nothing is left to correct."""
    adjustment, w = control.StepAdjustment(pattern, control.Adjustment(timing=False)), np.sqrt(9.8 / 0.72)
    time, excess = LARGE.start + 0.4, 0.01
    adjustment.update(time, RIGHT, 0, np.array([adjustment.allowed[0] + excess, 0.0]), 1e-3)
    handed = (1.0 - np.exp(-w * LARGE.double)) / (w * LARGE.double)
    assert adjustment.wanted == pytest.approx([excess * np.exp(w * (LARGE.single - 0.4)) / handed, 0.0])
    assert adjustment.rate / w == pytest.approx([excess, 0.0])  # com is still zero: the capture point's offset
    walker, row = control.Walker(pattern), None
    row = adjustment.shift(walker.rows[2400])
    moved = row - walker.rows[2400]
    capture = moved[COM:COM + 2] + moved[COM_VELOCITY:COM_VELOCITY + 2] / w
    assert capture == pytest.approx([excess, 0.0], rel=1e-2)
    # without further error the foot is there in time, and the centre of mass of the shifted plan arrives above it
    for n in range(1, 2000):
        support = RIGHT if time + 1e-3 * n < LARGE.start + LARGE.single else BOTH
        adjustment.update(time + 1e-3 * n, support, 0, np.zeros(2), 1e-3)
        if n == round(1e3 * (LARGE.single - 0.4)):
            assert adjustment.feet[0] == pytest.approx(adjustment.wanted, abs=1e-3)
    assert adjustment.com == pytest.approx(adjustment.wanted, abs=1e-3)
    assert np.all(adjustment.feet[1] == 0.0)


def test_shifts_end_where_legs_and_the_other_foot_end(pattern):
    adjustment = control.StepAdjustment(pattern, control.Adjustment(timing=False))
    for n in range(300):
        adjustment.update(LARGE.start + 0.2 + 1e-3 * n, RIGHT, 0, np.array([0.5, -0.5]), 1e-3)
    chosen = adjustment.chosen
    assert adjustment.wanted == pytest.approx([chosen.longest - 0.2, -chosen.inward])
    row = control.Walker(pattern).rows[0]
    moved = adjustment.shift(row) - row
    assert moved[FEET:FEET + 2] == pytest.approx(adjustment.feet[0])
    assert moved[ZMP:ZMP + 2] == pytest.approx(0.5 * adjustment.feet[0])  # half the load is on that foot


def flow_error(capture: np.ndarray, pressure: np.ndarray, w: float, dt: float) -> float:
    """How far (m) capture points are from the pendulum's xi' = w (xi - p) over windows of 50 ms."""
    count, worst = round(0.05 / dt), 0.0
    decay = np.exp(w * dt * np.arange(count)[::-1])[:, None]
    for first in range(10, len(capture) - count - 1, count // 5):
        grown = capture[first] * np.exp(w * dt * count) - w * dt * (decay * pressure[first:first + count]).sum(axis=0)
        worst = max(worst, float(np.abs(grown - capture[first + count]).max()))
    return worst


@pytest.mark.parametrize("timing", [False, True])
def test_the_shifted_plan_is_a_motion_of_the_pendulum(pattern, timing):
    """Through swing, landing and double support: the offsets alone exactly; hurried, no worse than the plan itself."""
    walker, adjustment = control.Walker(pattern), control.StepAdjustment(pattern, control.Adjustment(timing=timing))
    w, dt, time, error = np.sqrt(9.8 / 0.72), 1e-4, LARGE.start + 0.3, np.array([0.08, 0.06])
    rows, clocks = [], []
    while time < LARGE.start + LARGE.single + LARGE.double - 5 * dt:
        support = int(pattern.line.support[round(time / 1e-3 - 0.5)])
        adjustment.update(time, support, 0, error if not clocks else np.zeros(2), dt)
        clocks.append(adjustment.clock)
        time += adjustment.clock * dt
        part = time / 1e-3
        row = (1.0 - part % 1.0) * walker.rows[int(part)] + part % 1.0 * walker.rows[int(part) + 1]
        plan = row[COM:COM + 2] + row[COM_VELOCITY:COM_VELOCITY + 2] / w
        moved = row[SHARE] * adjustment.feet[0] + (1.0 - row[SHARE]) * adjustment.feet[1]
        rows.append((plan, row[ZMP:ZMP + 2], adjustment.offset, moved))
    plan, zmp, offset, moved = (np.array(column) for column in zip(*rows))
    assert clocks[-1] == 1.0
    if timing:
        assert max(clocks) > 1.1
        table = slice(2300, 2850)
        raw = walker.rows[table, COM:COM + 2] + walker.rows[table, COM_VELOCITY:COM_VELOCITY + 2] / w
        own = flow_error(raw, walker.rows[table, ZMP:ZMP + 2], w, 1e-3)  # preview control and swinging legs
        hurried = flow_error(plan + offset, zmp + moved, w, dt)
        assert hurried < max(clocks) * own  # a plan's own error comes as much sooner as its clock runs faster
        assert flow_error(plan, zmp, w, dt) > 1.3 * hurried  # the hurried plan alone would not do
    else:
        assert max(clocks) == 1.0 and np.abs(offset).max() > 0.05
        assert flow_error(offset, moved, w, dt) < 1e-4


def test_a_landing_is_hurried_where_the_place_alone_is_out_of_reach(pattern):
    adjustment = control.StepAdjustment(pattern)
    adjustment.update(LARGE.start + 0.3, RIGHT, 0, np.array([0.0, 0.12]), 1e-3)
    assert 1.2 < adjustment.clock <= adjustment.chosen.fastest
    late = control.StepAdjustment(pattern, control.Adjustment(timing=False))
    late.update(LARGE.start + 0.3, RIGHT, 0, np.array([0.0, 0.12]), 1e-3)
    assert late.clock == 1.0 and late.wanted[1] == pytest.approx(late.chosen.outward)
    assert adjustment.wanted[1] < late.wanted[1]  # sooner, so not as far
    adjustment.update(LARGE.start + LARGE.single, BOTH, 0, np.zeros(2), 1e-3)
    assert adjustment.clock == 1.0


def test_it_needs_the_stabiliser(pattern):
    with pytest.raises(SceneError, match="give stabiliser=True"):
        control.Walker(pattern, adjust=True)
    with pytest.raises(SceneError, match="longest"):
        control.Adjustment(longest=-1.0)


def test_it_saves_a_walk_that_the_stabiliser_alone_does_not(pattern):
    begin = LARGE.start + LARGE.single + LARGE.double + 0.4 * LARGE.single

    def run(impulse: np.ndarray, adjust: bool) -> control.GaitLog:
        def push(sim: Simulation) -> None:
            if begin <= sim.time < begin + 0.0995:
                sim.apply_force("chest", impulse / 0.1)

        return control.record_walk(Simulation(pattern.biped.scene), control.Walker(pattern, True, adjust=adjust),
                                   None if FULL else 6.0, push=push)

    assert not run(np.array([0.0, -20.0, 0.0]), False).completed
    assert run(np.array([0.0, -30.0, 0.0]), True).completed
    if FULL:
        for impulse in ((30.0, 0.0, 0.0), (-30.0, 0.0, 0.0)):
            assert not run(np.array(impulse), False).completed
            assert run(np.array(impulse), True).completed


@pytest.mark.parametrize("wrong", [{"fastest": 0.5}, {"timing": "yes"}, {"hurry": -1.0}, {"outward": float("nan")}])
def test_settings_are_checked(wrong):
    with pytest.raises(SceneError, match=next(iter(wrong))):
        control.Adjustment(**wrong)


@pytest.mark.parametrize("wrong", [{"stabiliser": 3}, {"stabiliser": True, "adjust": "yes"},
                                   {"stabiliser": True, "sensors": 1.0}])
def test_a_walker_says_what_it_takes(pattern, wrong):
    with pytest.raises(SceneError, match=f"{list(wrong)[-1]} is True, False or"):
        control.Walker(pattern, **wrong)
