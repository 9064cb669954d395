"""The stabiliser: its state estimate, signs, distribution; and what it is for."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku import control
from sesshoku.control import balance as kernels
from sesshoku.control.humanoids import GAITS, stage
from sesshoku.control.walking import footsteps
from sesshoku.control.walking.footsteps import LEFT
from sesshoku.control.walking.gait import BOTH
from sesshoku.errors import SceneError
from sesshoku.robots.bush import Bush
from sesshoku.simulation.simulation import Simulation
from sesshoku.spatial.rotation import axis_angle, multiply, quaternion_to_matrix
from support import FULL, SEED, sample_count


@pytest.fixture(scope="module")
def pattern():
    return control.walk(control.Biped(stage("large_bush"), control.HUMANOID), footsteps.forward(2, 0.1),
                        GAITS["large_bush"])


def row(pattern, k):
    return control.Walker(pattern).rows[k]


def estimated(stabiliser, q, v, support=LEFT):
    """Centre of mass and velocity the stabiliser sees, unfiltered, foot standing as planned at the first sample."""
    biped, memory = stabiliser.pattern.biped, stabiliser.memory
    memory.started[0] = 0
    memory.load[:] = 0.0
    memory.velocity[:] = 0.0
    kernels.sense(biped.model, biped.legs, memory, q, v)
    kernels.kinematics(biped.model, biped.data, memory.q)
    kernels.link_velocities(biped.model, biped.data, memory.v)
    kernels.estimate(biped.model, biped.data, biped.legs, memory, row(stabiliser.pattern, 0), support, 1e-3)
    return memory.com.copy(), memory.velocity.copy()


def rocked(pattern, angle, axis, pivot):
    """The first posture turned as a whole about a world axis through a point."""
    q, at = pattern.q[0].copy(), pattern.biped.legs.root_coordinate
    turn = axis_angle(axis, angle)
    q[at:at + 3] = pivot + quaternion_to_matrix(turn) @ (q[at:at + 3] - pivot)
    q[at + 3:at + 7] = multiply(turn, q[at + 3:at + 7])
    return q


def test_velocity_is_the_rate_of_the_estimated_place(pattern):
    """The robot rocks rigidly about its bush: c' must be the derivative of c, whatever the base's place."""
    rng = np.random.default_rng(SEED)
    biped, stabiliser = pattern.biped, control.Stabiliser(pattern)
    pivot = np.array([*pattern.line.feet[0, LEFT, :2], 0.0]) + biped.legs.pivot[LEFT]
    for _ in range(5):
        axis, h = rng.normal(size=3), 1e-5
        axis[2] = 0.0  # about the vertical the plan's heading is taken for the truth
        axis /= np.linalg.norm(axis)
        v = np.zeros(biped.model.dof_count)
        first = biped.legs.root_dof
        v[first:first + 3] = rng.normal(size=3)  # unknown to an IMU: must not matter
        v[first + 3:first + 6] = axis
        _, velocity = estimated(stabiliser, pattern.q[0], v)
        places = [estimated(stabiliser, rocked(pattern, s * h, axis, pivot), v)[0] for s in (-1, 1)]
        assert velocity == pytest.approx((places[1] - places[0]) / (2 * h), abs=1e-6)


def test_at_the_plan_the_estimate_is_the_plan(pattern):
    stabiliser = control.Stabiliser(pattern)
    for support in (LEFT, 1, BOTH):
        com, velocity = estimated(stabiliser, pattern.q[0], np.zeros(pattern.biped.model.dof_count), support)
        assert com == pytest.approx(pattern.com[0], abs=1e-9)
        assert velocity == pytest.approx(np.zeros(3), abs=1e-12)


def test_a_zmp_to_the_left_turns_the_bracket_to_negative_roll(pattern):
    """The sole lies flat: the spring below pushes to the left if the bracket above it leans the other way."""
    stabiliser = control.Stabiliser(pattern)
    memory, now = stabiliser.memory, row(pattern, 0)
    for _ in range(200):
        memory.zmp[:] = 0.06, 0.11  # 3 cm ahead and 2 cm to the left of the left sole's middle
        kernels.distribute(pattern.biped.legs, memory, now, LEFT)
        kernels.bend_ankles(pattern.biped.legs, memory, now, 1e-3)
    weight, (roll, pitch, _) = pattern.biped.mass * 9.8, pattern.biped.stiffness[LEFT]
    assert memory.spring[LEFT] == pytest.approx([-0.02 * weight / roll, 0.03 * weight / pitch], rel=1e-3)
    assert np.all(memory.spring[1 - LEFT] == 0.0) and memory.sag[1 - LEFT] == 0.0
    assert memory.sag[LEFT] == pytest.approx(-weight / 2.4e5, rel=1e-3)


def test_distribution_gives_the_wanted_zmp_where_soles_reach(pattern):
    rng = np.random.default_rng(SEED)
    stabiliser = control.Stabiliser(pattern)
    memory, now = stabiliser.memory, row(pattern, 0)
    for _ in range(50):
        wanted = np.array([0.03, 0.0]) + rng.uniform(-1, 1, 2) * [0.08, 0.14]
        memory.zmp[:] = wanted
        kernels.distribute(pattern.biped.legs, memory, now, BOTH)
        assert memory.share.sum() == pytest.approx(1.0) and np.all(memory.share >= 0.0)
        assert memory.share @ memory.foot_zmp == pytest.approx(wanted, abs=1e-12)
    memory.zmp[:] = 1.0, 1.0  # far outside: the corner, less the margin
    kernels.distribute(pattern.biped.legs, memory, now, LEFT)
    assert memory.zmp == pytest.approx([0.15 - 0.01, 0.09 + 0.06])


def test_wrong_gains_are_refused():
    with pytest.raises(SceneError, match="load_filter"):
        control.Gains(load_filter=0.0)
    with pytest.raises(SceneError, match="capture"):
        control.Gains(capture=-1.0)


def test_on_bushes_only_the_stabiliser_keeps_the_robot_up():
    """One leg alone is not statically stable on this bush: early fall; with it the trunk hardly leans."""
    scene = stage("large_bush", bush=Bush(4e4))
    steps = sample_count(3, 8)
    pattern = control.walk(control.Biped(scene, control.HUMANOID), footsteps.forward(steps, 0.2), GAITS["large_bush"])
    logs = [control.record_walk(Simulation(scene), control.Walker(pattern, stabiliser)) for stabiliser in (False, True)]
    assert logs[0].fell is not None and 1 <= logs[0].fell[1] <= 5
    assert logs[1].completed
    found = logs[1].summary()
    assert found["tilt"] < 0.02 and found["zmp_rms_x"] < 0.015 and found["zmp_rms_y"] < 0.015
    if FULL:  # the body moves too
        log = control.record_walk(Simulation(scene), control.Walker(pattern, control.Gains(body=5.0)))
        assert log.completed and log.summary()["tilt"] < 0.02 and np.abs(log.walker.stabiliser.memory.shift).max() > 0.0
