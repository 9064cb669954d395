"""Every erratum of the paper: what holds with the right form, and fails with the printed one.

The reference step in NumPy takes either form; the method itself is held to the right one.
"""

from __future__ import annotations

import numpy as np
import pytest

import multipoint_reference as reference
import sesshoku as ss
from sesshoku.experiments.multipoint.scenes import flat_cube, multipoint
from sesshoku.experiments.scenes import crate_on_floor

G, DT, A = 9.8, 1e-3, 0.1
CORNERS = np.array([(x, y, -A) for x in (-A, A) for y in (-A, A)])


def cube(velocity, *, bounce=0.0, static=0.3, kinetic=0.3, gravity=G, push=(0.0, 0.0, 0.0), printed=(), **options):
    """The reference step of a cube of 1 kg on four corners with velocity (6) at its centre."""
    H = np.diag([1.0] * 3 + [4 * A * A / 6] * 3)
    J = np.array([np.hstack([np.eye(3), [[0, p[2], -p[1]], [-p[2], 0, p[0]], [p[1], -p[0], 0]]]) for p in CORNERS])
    points = reference.Points(
        J, np.tile([0.0, 0, 1], (4, 1)), np.full(4, static), np.full(4, kinetic), np.full(4, bounce), np.zeros(4)
    )
    v = np.asarray(velocity, float)
    free = v + DT * np.array([*push, 0, 0, 0]) + DT * np.array([0, 0, -gravity, 0, 0, 0])
    return reference.step(H, v, free, points, printed=printed, **options), v, free


def same_landing(velocity, bounce=0.0, **options):
    """The method on the same cube, without gravity."""
    sim = ss.Simulation(flat_cube(restitution=bounce), multipoint(**options), DT)
    sim.set_state(v=np.asarray(velocity, float))
    sim.step()
    return sim


def test_6_the_cases_of_the_slip_direction_are_swapped():
    """A slide must have a direction of slip, and a purely normal approach none."""
    for printed, holds in (((), True), (("(6)",), False)):
        with np.errstate(invalid="ignore", divide="ignore"):
            slides, _, _ = cube([1.0, 0, 0, 0, 0, 0], printed=printed)
            lands, _, _ = cube([0, 0, -1.0, 0, 0, 0], printed=printed)
        ok = np.allclose(slides.slip_direction, [1.0, 0, 0]) and np.array_equal(lands.slip_direction, np.zeros((4, 3)))
        assert ok == holds
    assert same_landing([1.0, 0, -1e-3, 0, 0, 0]).work.against[0] == pytest.approx([1.0, 0.0])


def test_after_3_K_has_a_row_for_every_generalised_coordinate():
    """K_i maps a force to n generalised forces, whatever the number of points N_C."""
    scene = ss.Scene()
    scene.add_ground()
    scene.load(ss.robots.path("humanoid_small.xml"), pose="stand")
    sim = ss.Simulation(scene, "multipoint", DT)
    sim.step()
    K = (
        sim.jacobian("left_foot", sim.contacts[0].point)[:3].T
        if "left_foot" in sim.bodies
        else sim.jacobian(next(b for b in sim.contacts[0].bodies if b != "ground"), sim.contacts[0].point)[:3].T
    )
    assert K.shape == (len(sim.v), 3)
    assert K.shape != (len(sim.contacts), 3), "N_C x 3, as printed, cannot act on the robot's coordinates"


def test_11_restitution_acts_on_approaching_points_only():
    """A cube that leaves the floor must go on leaving it; printed, it is sent back into the floor at e v."""
    leaving = [0, 0, 1.0, 0, 0, 0]
    right, _, _ = cube(leaving, bounce=0.5, gravity=0.0)
    wrong, _, _ = cube(leaving, bounce=0.5, gravity=0.0, printed=("(11)",))
    assert right.v[2] == 1.0 and not right.active.any()
    # a wanted velocity of -0.5 m/s: the points would have to pull, so all leave; what they ask for shows the sign
    assert (wrong.wanted.reshape(4, 3)[:, 2] < right.wanted.reshape(4, 3)[:, 2]).all()
    # one corner leaves while the others land: printed, the leaving corner is driven at the floor by the solve
    rocking = np.array([0, 0, -0.2, 0, 3.0, 0])
    for printed, holds in (((), True), (("(11)",), False)):
        found, _, _ = cube(
            rocking, bounce=0.8, gravity=0.0, static=1e6, kinetic=1e6, slip_threshold=1e3, stick_target="keep",
            printed=printed,
        )
        speeds = found.wanted.reshape(4, 3)[:, 2] + (rocking[2] - 3.0 * CORNERS[:, 0])  # v+ asked for
        assert (speeds >= 0.0).all() == holds
    assert same_landing([0, 0, 1.0, 0, 0, 0], bounce=0.5).v[2] == 1.0


def test_after_18_M_is_singular_from_two_points_on():
    """Printed: from four. An inverse of two points' 6 x 6 matrix does not exist."""
    J = np.vstack([np.hstack([np.eye(3), [[0, p[2], -p[1]], [-p[2], 0, p[0]], [p[1], -p[0], 0]]]) for p in CORNERS[:2]])
    M = J @ J.T
    assert np.linalg.matrix_rank(M) == 5
    assert np.linalg.matrix_rank(M[:3, :3]) == 3
    scene = crate_on_floor(tilt=0.2)  # two points: an edge
    sim = ss.Simulation(scene, "multipoint", DT)
    sim.step()
    assert len(sim.contacts) == 2 and sim.work.norm.rank[0] == 5
    assert all(np.isfinite(contact.force).all() for contact in sim.contacts)


def test_17_delta_a_is_a_velocity():
    """Halving the step halves what gravity adds to it, and leaves an impact's part as it is; an acceleration would
    double the impact's part."""
    for velocity, expected in (([0, 0, 0, 0, 0, 0], 2.0), ([0, 0, -1.0, 0, 0, 0], 1.0)):
        sums = []
        for dt in (1e-3, 5e-4):
            sim = ss.Simulation(crate_on_floor(vertical=velocity[2]), "multipoint", dt)
            sim.step()
            sums.append(float(sim.work.wanted[2]))
        assert sums[0] / sums[1] == pytest.approx(expected, rel=6e-3)


def test_21_kinetic_friction_opposes_the_slip():
    """Printed along +sigma: a sliding cube would speed up."""
    for printed, holds in (((), True), (("(21)",), False)):
        found, v, _ = cube([1.0, 0, 0, 0, 0, 0], printed=printed)
        assert (found.v[0] < v[0]) == holds
    sim = ss.Simulation(crate_on_floor(1.0), "multipoint", DT)
    sim.step()
    assert sim.v[0] < 1.0 and all(contact.friction_force[0] < 0 for contact in sim.contacts if contact.normal_force > 0)


def test_21_static_friction_needs_no_slip_direction():
    """A resting cube under a push has sigma = 0: along sigma, as printed, its friction would be nothing."""
    found, _, _ = cube(np.zeros(6), push=(1.0, 0.5, 0))
    friction = found.impulse[:, :2]
    assert np.array_equal(found.slip_direction, np.zeros((4, 3)))
    assert friction.sum(axis=0) == pytest.approx([-1.0 * DT, -0.5 * DT], rel=1e-9)
    along_sigma = (found.impulse * found.slip_direction).sum(axis=1, keepdims=True) * found.slip_direction
    assert np.abs(along_sigma).max() == 0.0
    assert np.abs(found.v[:2]).max() < 1e-15


def test_24_a_point_without_load_does_not_leave():
    """Strictly f > 0, as printed, throws out the points of a resting cube without weight, and what should hold it."""
    push = (0.0, 0.0, 0.0)
    right, _, _ = cube(np.zeros(6), gravity=0.0, push=push)
    wrong, _, _ = cube(np.zeros(6), gravity=0.0, push=push, printed=("(24)",))
    assert right.active.all() and right.passes == 1
    assert not wrong.active.any()
    sim = same_landing(np.zeros(6))
    assert sim.report.iterations == 1 and (sim.work.part[:4] == 0).all()


def test_25_the_slip_speed_decides_not_the_speed():
    """|v| in place of the slip speed takes a cube that drops flat, without any slip, for a sliding one."""
    for printed, holds in (((), True), (("(25)",), False)):
        with np.errstate(invalid="ignore", divide="ignore"):
            found, _, _ = cube([0, 0, -1.0, 0, 0, 0], printed=printed)
        assert (not found.slips.any()) == holds
    sim = same_landing([0, 0, -1.0, 0, 0, 0])
    assert {contact.state for contact in sim.contacts} == {"stick"}


def test_step_7_returns_to_the_solve_not_to_the_impact_law():
    """Wanted velocities belong to the impact; made anew from velocities of a trial, e acts again on them.

    A cube that lands on two corners while two leave keeps the rebound e v of those two only in the right form.
    """
    rocking = np.array([0, 0, -0.2, 0, 3.0, 0])
    sure = {"static": 1e6, "kinetic": 1e6, "slip_threshold": 1e3, "stick_target": "keep", "bounce": 0.5, "gravity": 0.0}
    right, _, _ = cube(rocking, **sure)
    wrong, _, _ = cube(rocking, printed=("step 7",), **sure)
    assert right.passes == 2 and right.active.sum() == 2
    before = rocking[2] - rocking[4] * CORNERS[:, 0]
    for found, holds in ((right, True), (wrong, False)):
        after = found.v[2] - found.v[4] * CORNERS[:, 0]
        assert np.allclose(after[right.active], -0.5 * before[right.active], atol=1e-12) == holds


def test_step_9_the_input_is_needed_in_step_5():
    """Without u in (17) the trial forces do not hold a resting cube that is pushed: it moves, though static friction
    would do."""
    for printed, holds in (((), True), (("step 9",), False)):
        found, _, _ = cube(np.zeros(6), push=(1.0, 0, 0), printed=printed)
        assert (np.abs(found.v).max() < 1e-12) == holds
