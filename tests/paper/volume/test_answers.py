"""Closed answers of the `volume` law."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.experiments.volume.base import bisect, exact_curve, limit_along, settled
from sesshoku.methods.volume.dense import cone_rows
from sesshoku.methods.volume.friction import correct, judge
from sesshoku.methods.volume.work import HELD
from support import SEED, sample_count
from volume_scenes import DT, RUBBER, G, box, inside, parameters, polygon, stack_problem, turn, volume, wrench


def test_moments_of_a_prism():
    a, b, d = 0.3, 0.2, 0.004
    sim = box((a, b, 0.1), depth=d, gravity=0.0)
    sim.step()
    shapes, contacts = sim.records["overlaps"], sim.records["contacts"]
    assert contacts.normal[0] == pytest.approx([0, 0, 1])
    assert shapes.area_moment[0] == pytest.approx([2 * a * b, 0, 0, 2 * a * b * a * a / 12, 0, 2 * a * b * b * b / 12],
                                                  abs=1e-15)
    assert shapes.depth_moment[0] == pytest.approx([a * b * d, 0, 0], abs=1e-15)


def test_the_order_of_bodies_flips_normal_and_wrench():
    found = []
    for names in (("low", "high"), ("high", "low")):
        scene = ss.Scene(gravity=(0, 0, -G))
        places = {"low": (0, 0, 0.05), "high": (0.02, 0.01, 0.149)}
        for name in names:
            scene.add_box(name, size=(0.2, 0.2, 0.1) if name == "low" else (0.1, 0.1, 0.1), mass=1.0,
                          position=places[name], material=RUBBER)
        sim = ss.Simulation(scene, "volume", DT)
        sim.step()
        found.append((sim.contacts[0], sim.bodies["high"].velocity.copy()))
    (one, up), (two, also_up) = found
    assert one.bodies == two.bodies[::-1]
    assert one.normal == pytest.approx(-two.normal) and one.force == pytest.approx(-two.force)
    assert up == pytest.approx(also_up) and up[2] > 0


@pytest.mark.parametrize("mass, integrator", [(0.2, "semi-implicit"), (1.0, "semi-implicit"), (7.0, "semi-implicit"),
                                              (1.0, "rkg"), (7.0, "rkg")])
def test_resting_depth_and_weight(mass, integrator):
    sim = box(mass=mass, method=volume(integrator=integrator))
    sim.step(400)
    depth = 1e-3 * mass**2 * G * DT / (1000.0 * 0.01)
    assert 0.05 - sim.bodies["box"].position[2] == pytest.approx(depth, rel=1e-6)
    assert wrench(sim)[2] == pytest.approx(mass * G, rel=1e-9)


def test_first_step_of_separation():
    S, lam, d = 0.02, 1e-3, 1e-3
    sim = box(depth=d, gravity=0.0)
    sim.step()
    expected = 500.0 * d * S / (S + lam)
    assert sim.bodies["box"].velocity == pytest.approx([0, 0, expected], abs=1e-12)
    assert wrench(sim)[2] * DT == pytest.approx(0.476, abs=5e-4)


def test_depth_halves_in_a_step():
    """k dt = 1: the speed asked for is half the depth per step; nothing pulls a body back that parts faster."""
    sim = box(depth=1e-3, gravity=0.0, method=volume(regularization=1e-9))
    sim.step()
    assert 0.05 - sim.bodies["box"].position[2] == pytest.approx(5e-4, rel=1e-4)
    before = sim.bodies["box"].velocity.copy()
    sim.step()
    assert sim.contacts[0].state == "released" and np.array_equal(sim.bodies["box"].velocity, before)


@pytest.mark.parametrize("keyword", ["volume", "volume:recommended"])
def test_a_load_outside_the_base_tips_the_box_about_its_edge(keyword):
    sim = box((0.2, 0.2, 0.2), method=keyword)
    sim.step(50)
    arm = 0.13  # m: a weight hung beside the base
    for _ in range(20):
        sim.apply_force("box", (0, 0, -60.0), point=(arm, 0, 0.2))
        sim.step()
    assert sim.bodies["box"].angular_velocity[1] > 0.05, "it tips over its edge"
    w, corners = wrench(sim), polygon(sim)
    assert -w[4] / w[2] == pytest.approx(corners[:, 0].max(), abs=1e-6 * 0.1), "the pressure is on the edge"


@pytest.mark.parametrize("correction", ["reciprocal", "nearest"])
def test_translation_meets_full_friction_whatever_the_pressure(correction):
    sim = box((0.2, 0.2, 0.1), velocity=(0.6, 0.8, 0), depth=1e-4, method=volume(correction=correction))
    sim.step()
    w = wrench(sim)
    assert sim.contacts[0].state == "slip"
    assert w[:2] == pytest.approx(-0.3 * w[2] * np.array([0.6, 0.8]), rel=1e-6)


@pytest.mark.parametrize("correction", ["reciprocal", "nearest"])
def test_spin_of_a_square(correction):
    """All corners at one distance: the torque is mu_d fn r, so the spin falls in a straight line."""
    r, inertia = 0.1 * np.sqrt(2), 0.04 / 6
    sim = box((0.2, 0.2, 0.05), angular_velocity=(0, 0, 5.0), depth=1e-6, method=volume(correction=correction))
    for _ in range(40):
        before = sim.bodies["box"].angular_velocity[2]
        sim.step()
        w = wrench(sim)
        if w[2] > 0:
            assert w[5] == pytest.approx(-0.3 * w[2] * r, rel=1e-6)
            assert sim.bodies["box"].angular_velocity[2] - before == pytest.approx(DT * w[5] / inertia, rel=1e-9)


def test_rows_say_what_point_in_polygon_says():
    """5000 wrenches; the polygon of a tilted box, a rhombus or so, not centred."""
    rng = np.random.default_rng(SEED)
    sim = box((0.2, 0.13, 0.1), depth=2e-3, rotation=turn(0.01, 0.02, 0.3), gravity=0.0)
    sim.step()
    records = sim.records
    memory, corners = records["memory"], polygon(sim)
    memory.verdict[0] = HELD
    memory.unknown_start[0] = 0
    rows = cone_rows(records["overlaps"], memory, np.array([0]))
    G_rows = memory.cone_row[:rows]
    size = np.abs(corners).max()
    for _ in range(5000):
        fn = rng.normal()
        x, y = rng.uniform(-1.3, 1.3, 2) * size
        w = np.array([rng.normal(), rng.normal(), fn, y * fn, -x * fn, rng.normal()])
        assert bool((G_rows @ w >= 0).all()) == (fn >= 0 and inside(corners, np.array([x, y])))


def test_gradient_of_the_least_squares():
    """P p + q against finite differences of E + lambda/2 p^2, E integrated over the faces by the moments of (8)."""
    sim, E, n = stack_problem()
    memory, rng = sim.records["memory"], np.random.default_rng(SEED)
    P, q = memory.hessian[:n, :n], memory.linear[:n]
    for _ in range(5):
        p, step = rng.normal(size=n), 1e-4
        numeric = np.array([(E(p + step * e) - E(p - step * e)) / (2 * step) for e in np.eye(n)])
        assert P @ p + q == pytest.approx(numeric, abs=1e-7 * np.abs(numeric).max())


@pytest.mark.parametrize("heading, limit", [(0.0, 1.0), (np.pi / 4, 1.0), (np.pi / 8, np.cos(np.pi / 8))])
def test_tilted_plane(heading, limit):
    """Gravity leans instead of the floor. It sticks up to mu_s along an edge of the pyramid, mu_s cos(pi/8) between."""
    for share, state in ((0.97, "stick"), (1.03, "slip")):
        slope = share * 0.5 * limit
        tilt = np.arctan(slope)
        scene = ss.Scene(gravity=(G * np.sin(tilt) * np.cos(heading), G * np.sin(tilt) * np.sin(heading),
                                  -G * np.cos(tilt)))
        scene.add_ground(material=RUBBER)
        scene.add_box("box", size=(0.2, 0.2, 0.02), mass=1.0, position=(0, 0, 0.01 - 2.45e-7), material=RUBBER)
        sim = ss.Simulation(scene, "volume", DT)
        sim.step(30)
        assert sim.contacts[0].state == state, share


def test_the_cone_of_many_sides_is_the_exact_curve():
    sim = settled(volume(pyramid_sides=360))
    curve = exact_curve()
    for degrees in (5.0, 30.0, 45.0, 70.0):
        angle = np.radians(degrees)
        assert bisect(sim, angle) == pytest.approx(limit_along(curve, angle), abs=2e-4)


def test_small_loads_stick():
    """From a feather to an anvil, and a load of a billionth of the weight: static."""
    for mass in (1e-6, 1e-3, 1.0, 1e3):
        for keyword in ("volume", "volume:recommended"):
            if keyword == "volume" and mass > 10:
                continue  # sinks, by the square of its mass
            sim = box((0.1, 0.1, 0.05), mass=mass, method=keyword)
            for share in (0.0, 1e-9, 1e-3):
                sim.apply_force("box", (share * mass * G, 0, 0))
                sim.step(50)
                assert sim.contacts[0].state == "stick", (mass, keyword, share)


def test_random_wrenches_are_judged_and_corrected_within_the_law():
    """Judged static: HiGHS finds vertex forces. Corrected: kinetic cone, normal part kept, power not positive."""
    from scipy.optimize import linprog

    rng = np.random.default_rng(SEED)
    for n in range(sample_count(60, 3000)):
        options = {"correction": str(rng.choice(["reciprocal", "nearest"]))}
        sim = box((0.2, float(rng.uniform(0.05, 0.3)), 0.1), depth=1e-3, gravity=0.0, method=volume(**options),
                  velocity=(*rng.normal(size=2), 0), angular_velocity=(0, 0, 5 * rng.normal()))
        sim.step()
        records, corners = sim.records, polygon(sim)
        fn, center = 10.0 ** rng.uniform(-6, 4), rng.dirichlet(np.ones(len(corners))) @ corners
        l = np.hypot(*corners.T).max()
        w = fn * np.array([*(0.5 * rng.normal(size=2)), 1.0, center[1], -center[0], 0.3 * l * rng.normal()])
        verdict = judge(records["contacts"], records["overlaps"], records["memory"], records["simplex"],
                        parameters(sim), 0, w, 0.0)
        angle = np.arange(8) * np.pi / 4
        columns = np.array([[1, y / l, -x / l, 0.5 * np.cos(p), 0.5 * np.sin(p),
                             0.5 * (x * np.sin(p) - y * np.cos(p)) / l] for x, y in corners for p in angle])
        target = np.array([w[2], w[3] / l, w[4] / l, w[0], w[1], w[5] / l]) / fn
        held = linprog(np.zeros(len(columns)), A_eq=columns.T, b_eq=target, method="highs").status == 0
        assert (verdict == HELD) == held, (SEED, n)
        new = w.copy()
        assert correct(records["contacts"], records["overlaps"], records["memory"], records["simplex"],
                       parameters(sim), 0, new)
        assert new[2:5] == pytest.approx(w[2:5], rel=1e-6, abs=1e-8 * fn * l)
        assert np.hypot(new[0], new[1]) <= 0.3 * fn * (1 + 1e-7)
        v, spin = records["problem"].velocity[0], records["problem"].velocity[1, 2]
        assert new[0] * v[0] + new[1] * v[1] + new[5] * spin <= 1e-9 * fn
