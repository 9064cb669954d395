"""Answers of `multipoint` in closed form."""

from __future__ import annotations

import numpy as np
import pytest

import multipoint_reference as reference
import sesshoku as ss
from sesshoku.experiments.multipoint.landing import SLENDER, UNIFORM, closed_form, effective_restitution
from sesshoku.experiments.multipoint.scenes import RESOLVED, multipoint, planar_crate
from sesshoku.experiments.multipoint.sliding import MU, slide, stopping
from sesshoku.experiments.multipoint.sticking import KINETIC, STATIC, acceleration, incline, push_in_base_plane
from sesshoku.experiments.multipoint.tipping import HALF, loads, tip
from sesshoku.experiments.scenes import crate_on_floor

G = 9.8
METHODS = ["multipoint", "multipoint:recommended"]


@pytest.mark.boundscheck
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dt", [1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("bounce", [0.0, 0.35, 1.0])
@pytest.mark.parametrize("body", ["ball", "cube"])
def test_a_flat_landing_rebounds_with_e(body, bounce, dt, method):
    """v+ = e v exactly, the gravity of that step included."""
    scene = crate_on_floor(vertical=-2.0, restitution=bounce)
    if body == "ball":
        scene = ss.Scene(gravity=(0, 0, -G))
        scene.add_ground(material=ss.Material(0.5, restitution=bounce))
        scene.add_sphere("ball", radius=0.1, mass=2.0, position=(0, 0, 0.1), velocity=(0, 0, -2.0))
    sim = ss.Simulation(scene, method, dt)
    sim.step()
    assert sim.v[2] == pytest.approx(2.0 * bounce, abs=1e-12)


@pytest.mark.nojit
@pytest.mark.boundscheck
def test_a_cube_at_rest_shares_its_weight_evenly():
    sim = ss.Simulation(crate_on_floor(mass=3.0), "multipoint", 1e-3)
    sim.step()
    assert len(sim.contacts) == 4
    for contact in sim.contacts:
        assert contact.force == pytest.approx([0, 0, 3.0 * G / 4], abs=1e-12 * 3.0 * G)
    assert np.abs(sim.v).max() < 1e-15


@pytest.mark.parametrize(("x", "y"), [(0, 0), (0.05, 0.02), (-0.1, 0.03), (0.149, 0.0), (0.0, -0.099)])
def test_loads_follow_the_centre_of_pressure(x, y):
    found, total, passes = loads(x, y)
    for (i, j), force in found.items():
        assert force == pytest.approx(total / 4 * (1 + i * x / HALF[0] + j * y / HALF[1]), abs=1e-11 * total)
    assert passes == 1


def test_beyond_the_middle_a_corner_lifts_and_three_carry():
    found, total, passes = loads(0.12, 0.06)
    assert sum(force > 0 for force in found.values()) == 3 and passes == 2
    assert sum(found.values()) == pytest.approx(total, rel=1e-12)
    x = sum(force * i * HALF[0] for (i, _), force in found.items()) / total
    y = sum(force * j * HALF[1] for (_, j), force in found.items()) / total
    assert (x, y) == pytest.approx((0.12, 0.06), abs=1e-9)


def points_of_a_body(count, rng):
    J = np.empty((count, 3, 6))
    for n, p in enumerate(rng.normal(size=(count, 3))):
        J[n] = np.hstack([np.eye(3), [[0, p[2], -p[1]], [-p[2], 0, p[0]], [p[1], -p[0], 0]]])
    return J.reshape(-1, 6)


@pytest.mark.parametrize(("count", "rank"), [(1, 3), (2, 5), (3, 6), (4, 6)])
def test_ranks_and_row_picking(count, rank, rng):
    """M is singular from two points on, and picking independent rows gives the pseudo-inverse's answer."""
    J = points_of_a_body(count, rng)
    H = np.diag([2.0, 2.0, 2.0, 0.1, 0.2, 0.3])
    M = J @ np.linalg.solve(H, J.T)
    b = J @ rng.normal(size=6)
    picked, rows = reference.row_picking(M, b)
    assert np.linalg.matrix_rank(M, tol=1e-9 * np.linalg.norm(M)) == rank == len(rows)
    expected = reference.pseudo_inverse(M) @ b
    assert picked == pytest.approx(expected, rel=1e-9, abs=1e-9 * np.abs(expected).max())


def test_row_picking_depends_on_the_rows_where_there_is_no_solution(rng):
    """Three velocities that no rigid body has: the rows that are left out are not met, whichever they are."""
    J = points_of_a_body(4, rng)
    M, b = J @ J.T, rng.normal(size=12)
    order = rng.permutation(12)
    first, _ = reference.row_picking(M, b)
    scaled = np.diag(rng.uniform(0.9, 1.1, 12))[order]  # the same equations, other rows first
    second, _ = reference.row_picking(scaled @ M @ scaled.T, scaled @ b)
    assert np.abs(scaled.T @ second - first).max() > 1e-3 * np.abs(first).max()
    assert np.abs(M @ first - b).max() > 1e-3


@pytest.mark.parametrize(
    ("inertia", "friction", "expected"), [(UNIFORM, 0.0, 0.5625), (SLENDER, 0.0, 1.2857), (SLENDER, 0.3, 0.7714)]
)
@pytest.mark.parametrize("bounce", [0.0, 0.5])
def test_a_slipping_rod_rebounds_more_than_e(inertia, friction, expected, bounce):
    got, arm = effective_restitution(inertia, friction, bounce, "multipoint")
    assert got == pytest.approx(closed_form(inertia, friction, bounce, arm), abs=1e-12)
    if bounce == 0.0:
        assert got == pytest.approx(expected, abs=5e-5)
    resolved, _ = effective_restitution(inertia, friction, bounce, multipoint(friction_coupling="resolve"))
    assert resolved == pytest.approx(bounce, abs=1e-12)


@pytest.mark.parametrize("method", ["multipoint", multipoint(**RESOLVED), "multipoint:recommended"], ids=str)
@pytest.mark.parametrize("degrees", [10.0, 20.0, 26.0, 27.0, 35.0, 45.0])
def test_an_incline_holds_up_to_static_friction(degrees, method):
    angle = np.radians(degrees)
    found = acceleration(angle, method)
    if np.tan(angle) < STATIC:
        assert abs(found) < 1e-9
    else:
        loose = 0.03 if method == "multipoint" else 1e-9
        assert found == pytest.approx(G * (np.sin(angle) - KINETIC * np.cos(angle)), rel=loose)


@pytest.mark.parametrize("method", ["multipoint", multipoint(**RESOLVED), "multipoint:recommended"], ids=str)
def test_a_push_in_the_base_plane_holds_or_slides(method):
    first, later = push_in_base_plane(0.99, method)
    assert abs(first) < 1e-12 and abs(later) < 1e-12
    first, _ = push_in_base_plane(1.01, method)
    assert first == pytest.approx((1.01 * STATIC - KINETIC) * G, abs=1e-9)


def test_a_sliding_block_stops_by_default():
    data = slide(planar_crate(1.0, static=MU), "multipoint", 400)
    _, place = stopping(data)
    deceleration = -np.polyfit(data[:300, 0], data[:300, 2], 1)[0]
    assert place == pytest.approx(1 / (2 * MU * G), rel=0.015)
    assert 1.0 / (deceleration * 1e-3) == pytest.approx(1 / (MU * G * 1e-3), abs=2.0)
    assert data[:300, 3].std() > 5.0, "its normal force is known to be unsteady; if it is not, say so in the docs"


@pytest.mark.parametrize("method", [multipoint(**RESOLVED), "multipoint:recommended"], ids=str)
def test_a_sliding_block_stops_where_the_step_puts_it_with_friction_resolved(method):
    data = slide(crate_on_floor(1.0, static=MU, edge=0.2), method, 400)
    step, _ = stopping(data)
    assert step + 1 == pytest.approx(1 / (MU * G * 1e-3), abs=2.0)
    assert data[-1, 1] == pytest.approx(1 / (2 * MU * G) - 0.5e-3, rel=5e-4)
    assert data[:step, 3] == pytest.approx(G, abs=1e-9)
    assert np.abs(data[-20:, 2]).max() < 1e-15


@pytest.mark.parametrize(("threshold", "rests"), [(0.4, False), (0.6, True)])
def test_the_slip_threshold_must_be_half_of_what_friction_takes_in_a_step(threshold, rests):
    """Below mu_K g dt / 2 a block that slides to rest chatters for ever, above it rests."""
    limit, worst = MU * G * 1e-3, 0.0
    for start in np.linspace(0.1, 0.1 + limit, 7):  # wherever in the band it arrives
        sim = ss.Simulation(
            crate_on_floor(start, static=MU, edge=0.2), multipoint(slip_threshold=threshold * limit, **RESOLVED), 1e-3
        )
        sim.step(100)
        worst = max(worst, abs(float(sim.v[0])))
    assert (worst < 1e-12) == rests
    if not rests:
        assert worst <= limit


@pytest.mark.parametrize("offset", [0.101, 0.12, 0.15])
def test_exactly_the_outer_points_are_removed_in_one_pass(offset):
    carries, free, passes, turn = tip(offset)
    assert carries == pytest.approx([0.1, 0.1]) and free == pytest.approx([-0.1, -0.1]) and passes == 2
    arm = offset - 0.1
    assert turn == pytest.approx(G * arm / (0.02 + arm**2), rel=1e-9)


def test_slip_directions():
    """Purely normal approach: none. Grazing approach: a unit vector along the surface."""
    for velocity, expected in (((0, 0, -2.0), (0, 0)), ((3.0, -4.0, -1e-6), (0.6, -0.8)), ((1e-9, 0, -5.0), (1, 0))):
        scene = crate_on_floor()
        scene.bodies["crate"].velocity = np.array(velocity)
        sim = ss.Simulation(scene, "multipoint", 1e-3)
        sim.step()
        assert sim.work.against[:4] == pytest.approx(np.tile(expected, (4, 1)), abs=1e-9)


def test_sticking_points_stop_or_creep():
    """A block that arrives below the threshold stops by default, and keeps its speed with (12) to the letter."""
    for options, expected in (({}, 0.0), ({"stick_target": "keep"}, 4e-3)):
        sim = ss.Simulation(crate_on_floor(4e-3), multipoint(slip_threshold=5e-3, **options), 1e-3)
        sim.step(200)
        assert sim.v[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("rate", [0.0, 50.0])
def test_depth_is_left_or_pushed_out(rate):
    scene = crate_on_floor(height=-2e-3)
    sim = ss.Simulation(scene, multipoint(penetration_rate=rate), 1e-3)
    sim.step(200)
    depth = sim.report.penetration
    expected = 2e-3 if rate == 0.0 else 1e-5 + (2e-3 - 1e-5) * (1 - rate * 1e-3) ** 199
    assert depth == pytest.approx(expected, rel=1e-6)


def test_incline_scene_is_what_it_says():
    sim = ss.Simulation(incline(0.3), "multipoint", 1e-3)
    sim.step()
    load = sum(contact.normal_force for contact in sim.contacts)
    assert load == pytest.approx(G * np.cos(0.3), rel=1e-9)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("stick_target", "stop"),
        ("friction_coupling", "before"),
        ("readmit", 1),
        ("readmit", "yes"),
        ("stop_reversals", None),
        ("penetration_rate", -1.0),
        ("slop", float("nan")),
        ("slip_threshold", "small"),
        ("slip_threshold", True),
        ("rank_tolerance", 0.0),
        ("rank_tolerance", 1.0),
        ("rank_tolerance", 1e-16),
        ("margin", float("inf")),
        ("speculative", -1),
        ("most_per_pair", 2.5),
        ("most_per_pair", -1),
        ("restitution_speed", -1e-9),
    ],
)
def test_options_of_the_wrong_kind_are_refused_by_name(name, value):
    with pytest.raises(ss.MethodError, match=name):
        ss.methods.multipoint(**{name: value})


def test_stopping_reversals_needs_friction_resolved():
    with pytest.raises(ss.MethodError, match="stop_reversals needs friction_coupling='resolve'"):
        ss.methods.multipoint(stop_reversals=True)
