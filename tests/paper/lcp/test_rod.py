"""A rod that slides on its end (digest, sections 11 and 13.6): closed forces, where sweeps fail, and Painlevé's jam.

Uniform rod, 1 kg, half length 0.5 m, at an angle theta to the floor: K_NN = 1 + 3 cos^2, K_TN = +-3 sin cos, friction
along t against the slip. Leaning towards +x its foot is harmless when it slides towards +x (K_TN > 0: friction lifts
it) and digs in when it slides towards -x.
"""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.scene.elements import Geometry, Inertial, Material
from sesshoku.scene.geometry.shapes import Sphere
from sesshoku.solvers.pgs import SLIDE
from sesshoku.solvers.pgs_dense import solve_dense
from sesshoku.spatial.rotation import axis_angle

G, FOOT = 9.81, 1e-7
STEEP = np.arctan(2.0)  # K_NN = 1.6, K_TN = +-1.2: sweeps are at their worst here
DT = 1e-3


def sliding_rod(slip: float, mu: float, theta: float = STEEP, **options):
    """One Euler step of the rod with its foot sliding along x; foot: a ball of no size worth mentioning."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=Material(mu))
    scene.add_body("rod", position=(0.5 * np.cos(theta), 0, 0.5 * np.sin(theta) + FOOT),
                   rotation=axis_angle(np.array([0.0, 1.0, 0.0]), -theta), velocity=(slip, 0, 0),
                   inertial=Inertial(1.0, matrix=np.diag([1e-3, 1 / 12, 1 / 12])),
                   geometries=[Geometry(Sphere(FOOT), position=(-0.5, 0, 0), material=Material(mu))])
    method = ss.methods.lcp(integrator="semi-implicit", centripetal=False, margin=1e-4, **options)
    sim = ss.Simulation(scene, method, DT)
    sim.step()
    return sim


def normal_force(sim) -> float:
    (contact,) = sim.contacts
    return contact.normal_force


@pytest.mark.parametrize(("slip", "expected"), [(10.0, 3.5036), (-10.0, 24.525)])
@pytest.mark.parametrize("options", [{}, {"delassus_by": "mass_matrix"}, {"delassus_by": "none"}, {"inner": "pair"}],
                         ids=str)
def test_both_slip_directions_have_their_closed_force(slip, expected, options):
    sim = sliding_rod(slip, 1.0, max_sweeps=2000, tolerance=1e-13, **options)
    (contact,) = sim.contacts
    assert sim.report.converged
    assert contact.normal_force == pytest.approx(expected, rel=2e-5)
    assert contact.friction_force == pytest.approx([-np.sign(slip) * expected, 0, 0], rel=2e-5, abs=1e-9)


def test_beyond_the_threshold_sweeps_flip_and_the_exact_pair_does_not():
    """mu = 1.5 > 4/3 in the harmless direction: 6.13 N and 0 in turns, although 9.81 / (1.6 + 1.5 1.2) N exists."""
    forces = [normal_force(sliding_rod(10.0, 1.5, max_sweeps=n)) for n in (120, 121)]
    assert sorted(forces) == pytest.approx([0.0, G / 1.6], abs=1e-3)
    assert not sliding_rod(10.0, 1.5).report.converged
    exact = sliding_rod(10.0, 1.5, inner="pair")
    assert exact.report.converged
    assert normal_force(exact) == pytest.approx(G / (1.6 + 1.5 * 1.2), rel=1e-5)


def test_in_painleves_direction_it_settles_where_slip_stops():
    """K_NN + mu K_TN = -0.2: no sliding solution holds the foot, the force grows until friction has stopped it."""
    sim = sliding_rod(-10.0, 1.5, max_sweeps=5000, tolerance=1e-13)
    (contact,) = sim.contacts
    _, jam = -np.linalg.solve([[3.4, -1.2], [-1.2, 1.6]], [-10.0, -G * DT]) / DT  # both velocities zero
    assert sim.report.converged and contact.slip_speed < 1e-9
    assert contact.normal_force == pytest.approx(jam, rel=1e-5)


@pytest.mark.parametrize("theta", np.radians([20, 40, 63.43, 75]))
@pytest.mark.parametrize("factor", [0.97, 1.03])
def test_the_threshold_of_convergence(theta, factor):
    """Sweeps multiply the error by -mu K_TN / K_NN: they converge iff mu (3 sin cos) < 1 + 3 cos^2."""
    knn, ktn = 1 + 3 * np.cos(theta) ** 2, 3 * np.sin(theta) * np.cos(theta)
    mu = factor * knn / ktn
    K = np.zeros((3, 3))
    K[0, 0], K[1, 1], K[2, 2] = 1 + 3 * np.sin(theta) ** 2, 1.0, knn
    K[0, 2] = K[2, 0] = ktn
    x, w = np.zeros(3), np.array([-1e3, 0.0, -G])
    sweeps = solve_dense(1, 0, K, (np.array([SLIDE]), np.array([mu])), (np.zeros(0), np.zeros(0)), x, w, (5000, 1e-12))
    assert (sweeps < 5000) == (factor < 1.0)
    if factor < 1.0:
        assert x[2] == pytest.approx(G / (knn + mu * ktn), rel=1e-9)
