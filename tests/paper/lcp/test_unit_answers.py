"""Answers of `lcp` in closed form."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.experiments.lcp.pyramids import capacity, sledge
from sesshoku.experiments.scenes import crate_on_floor

G = 9.8
EXACT = {"integrator": "semi-implicit", "centripetal": False}  # the mode that meets its target velocity exactly


def exact(**options):
    return ss.methods.lcp(**(EXACT | options))


def total_force(sim):
    return sum((contact.force for contact in sim.contacts), np.zeros(3))


@pytest.mark.parametrize("delassus_by", ["aba", "mass_matrix", "none"])
def test_flat_box_landing_stops_in_one_step(delassus_by):
    sim = ss.Simulation(crate_on_floor(vertical=-0.5), exact(delassus_by=delassus_by, tolerance=1e-13), 1e-3)
    sim.step()
    corners = [sim.jacobian("crate", sim.bodies["crate"].position + np.array([x, y, -0.5]))[:3] @ sim.v
               for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    assert np.abs(corners).max() < 1e-10
    assert total_force(sim)[2] == pytest.approx(0.5 / 1e-3 + G, rel=1e-8)


def test_rest_carries_the_weight_without_friction():
    sim = ss.Simulation(crate_on_floor(mass=3.0), exact(), 1e-3)
    sim.step(20)
    assert total_force(sim) == pytest.approx([0, 0, 3.0 * G], abs=1e-7)
    assert all(contact.state == "stick" for contact in sim.contacts)


@pytest.mark.parametrize(("pyramid", "angle", "expected"), [
    ("circumscribed", 0.0, 1.0), ("circumscribed", np.pi / 4, np.sqrt(2)), ("inscribed", np.pi / 4, 1.0),
    ("cone", 0.0, 1.0), ("cone", np.pi / 4, 1.0)])
def test_point_mass_holds_as_much_as_its_pyramid_says(pyramid, angle, expected):
    held = capacity(sledge(1), {"static_pyramid": pyramid, "tangent_axes": "fixed"}, angle)
    assert held == pytest.approx(expected, abs=2e-3)


def test_sliding_box_stops_where_semi_implicit_euler_must_stop():
    sim = ss.Simulation(crate_on_floor(1.0, static=0.3), exact(), 1e-3)
    normal, centers = [], []
    while sim.bodies["crate"].velocity[0] > 1e-3:
        sim.step()
        forces = np.array([contact.normal_force for contact in sim.contacts])
        places = np.array([contact.point[0] for contact in sim.contacts])
        normal.append(forces.sum())
        centers.append(forces @ places / forces.sum() - sim.bodies["crate"].position[0])
    sim.step(50)
    assert sim.bodies["crate"].position[0] == pytest.approx(1 / (2 * 0.3 * G) - 0.5e-3, abs=1e-5)
    assert np.ptp(normal[:-1]) < 1e-6 * G
    assert np.median(centers) == pytest.approx(0.3 * 0.5, abs=2e-3)  # point of the step's start against its end


def test_two_stacked_boxes_share_the_weight():
    scene = crate_on_floor(mass=2.0)
    scene.add_box("upper", size=(0.8, 0.8, 0.5), mass=3.0, position=(0.05, 0.0, 1.25))
    sim = ss.Simulation(scene, exact(max_sweeps=2000), 1e-3)
    sim.step(5)
    by_pair = {}
    for contact in sim.contacts:
        by_pair[frozenset(contact.bodies)] = by_pair.get(frozenset(contact.bodies), 0.0) + contact.normal_force
    assert by_pair[frozenset(("upper", "crate"))] == pytest.approx(3.0 * G, rel=1e-5)
    assert by_pair[frozenset(("ground", "crate"))] == pytest.approx(5.0 * G, rel=1e-5)


def test_mass_ratio_100_needs_many_sweeps_and_says_so():
    scene = crate_on_floor(mass=1.0)
    scene.add_box("heavy", size=(1, 1, 1), mass=100.0, position=(0, 0, 1.5))
    few = ss.Simulation(scene, exact(max_sweeps=20), 1e-3)
    few.step()
    assert not few.report.converged
    many = ss.Simulation(scene, exact(max_sweeps=20000, tolerance=1e-6), 1e-3)
    many.step()
    assert many.report.converged
    assert many.report.residual < few.report.residual


@pytest.mark.parametrize(("speed", "law"), [(0.9e-3, "static"), (1.1e-3, "kinetic")])
def test_friction_switches_at_the_threshold(speed, law):
    """Static 0.6, kinetic 0.2, and a push between: below the threshold it is stopped, above it only braked."""
    sim = ss.Simulation(crate_on_floor(speed, static=0.6, kinetic=0.2), exact(tangent_axes="fixed"), 1e-3)
    sim.apply_force("crate", (0.4 * G, 0, 0))
    sim.step()
    velocity = sim.bodies["crate"].velocity[0]
    if law == "static":
        assert abs(velocity) < 1e-9
    else:
        assert velocity == pytest.approx(speed + 1e-3 * (0.4 - 0.2) * G, abs=1e-9)


@pytest.mark.parametrize("bounce", [0.0, 0.4, 1.0])
def test_single_impact_rebounds_with_e(bounce):
    sim = ss.Simulation(crate_on_floor(vertical=-2.0, restitution=bounce, gravity=0.0), exact(), 1e-3)
    sim.step()
    assert sim.bodies["crate"].velocity[2] == pytest.approx(2.0 * bounce, abs=1e-8)


def test_routes_to_the_matrix_agree_on_a_robot():
    """Columns by test forces, the mass matrix, and half-form rows lead to the same forces."""
    forces = {}
    for route in ("aba", "mass_matrix", "none"):
        scene = ss.Scene()
        scene.add_ground()
        scene.load(ss.robots.path("humanoid_small.xml"), pose="stand")
        sim = ss.Simulation(scene, ss.methods.lcp(delassus_by=route), 1e-3)
        sim.step(5)
        forces[route] = np.array([contact.force for contact in sim.contacts])
    assert len(forces["aba"]) == 8
    for route in ("mass_matrix", "none"):
        np.testing.assert_allclose(forces[route], forces["aba"], rtol=1e-6, atol=1e-7 * np.abs(forces["aba"]).max())
