"""Closed answers of `implicit`: springs, steps, rests, slopes, impulses."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.methods.implicit import damping_ratio_of, restitution_of, spring_and_damper
from sesshoku.methods.registry import make
from sesshoku.spatial.rotation import axis_angle

G = 9.8
TILTED = axis_angle(np.array([1.0, 0.5, 0.0]) / np.sqrt(1.25), 0.3)


def implicit(**options):
    return make("implicit", options)


def cube(k=1e5, d=300.0, mu=0.5, height=0.1, edge=0.2, mass=1.0, slope=0.0, velocity=(0, 0, 0), spin=(0, 0, 0),
         kinetic=None, rotation=(1, 0, 0, 0)):
    """A cube on a floor, or on a slope by a tilted gravity (rad, downhill +x)."""
    material = ss.Material(mu, kinetic, stiffness=k, damping=d)
    scene = ss.Scene(gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    scene.add_ground(material=material)
    scene.add_box("cube", size=(edge,) * 3, mass=mass, position=(0, 0, height), velocity=velocity,
                  angular_velocity=spin, rotation=rotation, material=material)
    return scene


def test_materials_combine_in_series():
    """Two equal surfaces of stiffness k: k / 2 between them; the damping is their mean."""
    sim = ss.Simulation(cube(k=2e5, d=300.0, height=0.0999), implicit(), 1e-3)
    sim.step()
    assert sim.work.elastic[0] == pytest.approx([1e5, 300.0])


def floor_and(k, d, mu=0.5, kinetic=None):
    """A scene whose floor has stiffness k and damping d per point, whatever stands on it."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=ss.Material(mu, kinetic, stiffness=k, damping=d))
    return scene, ss.Material(mu, kinetic)


def test_two_points_joined_by_a_spring_obey_backward_euler():
    """(1/2 + dt d + dt^2 k) du = dt (-k x - d u - dt k u), and the sum of momenta stays."""
    k, d, dt = 4e4, 50.0, 1e-3
    scene = ss.Scene(gravity=(0, 0, 0))
    material = ss.Material(0.0, stiffness=2 * k, damping=d)
    for name, x, v in (("a", 0.0, 0.3), ("b", 0.199, -0.5)):
        scene.add_sphere(name, radius=0.1, mass=1.0, position=(x, 0, 0), velocity=(v, 0, 0), material=material)
    sim = ss.Simulation(scene, implicit(), dt)
    for _ in range(20):
        a, b = sim.bodies["a"], sim.bodies["b"]
        x, u, total = b.position[0] - a.position[0] - 0.2, b.velocity[0] - a.velocity[0], a.velocity[0] + b.velocity[0]
        if not k * (x + dt * u) + d * u < 0.0:  # about to part
            break
        change = dt * (-k * x - d * u - dt * k * u) / (0.5 + dt * d + dt * dt * k)
        sim.step()
        a, b = sim.bodies["a"], sim.bodies["b"]
        assert b.velocity[0] - a.velocity[0] == pytest.approx(u + change, abs=1e-12)
        assert a.velocity[0] + b.velocity[0] == pytest.approx(total, abs=1e-14)
    assert sim.time > 2e-3


def one_mass(integrator, dt, k=4e5, d=1200.0):
    """A ball of 1 kg held down by its weight on one spring, moved a little from rest."""
    scene, material = floor_and(k, d)
    scene.add_sphere("ball", radius=0.1, mass=1.0, position=(0, 0, 0.1 - G / k * 1.1), material=material)
    sim = ss.Simulation(scene, implicit(integrator=integrator), dt)
    sizes = []
    for _ in range(12):
        sim.step()
        ball = sim.bodies["ball"]
        sizes.append(np.hypot(np.sqrt(k) * (ball.position[2] - 0.1 + G / k), ball.velocity[2]))
    return sizes


@pytest.mark.parametrize("integrator, limit", [("euler", 3.0e-3), ("symplectic", 1.359e-3), ("rk4", 4.498e-3)])
def test_explicit_integrators_lose_stability_where_the_formula_says(integrator, limit):
    """m = 1, k = 4e5, d = 1200: d/k, (-d + sqrt(d^2 + 4 k m))/k, and RK4's own."""
    stable, unstable = one_mass(integrator, 0.97 * limit), one_mass(integrator, 1.03 * limit)
    assert stable[-1] < stable[2] and unstable[-1] > unstable[2]


@pytest.mark.parametrize("dt, radius", [(1e-3, 0.620), (1e-2, 0.137), (1e-1, 0.0156)])
def test_implicit_contact_is_stable_for_every_step(dt, radius):
    k, d = 4e5, 1200.0
    sizes = one_mass("implicit", dt)
    A = np.linalg.inv(np.array([[1.0, -dt], [dt * k, 1.0 + dt * d]]))
    assert np.abs(np.linalg.eigvals(A)).max() == pytest.approx(radius, abs=6e-4)
    # the orbit follows that matrix: its decay over four steps, away from rounding
    assert sizes[4] / sizes[0] < 2.5 * radius**4 + 1e-12


@pytest.mark.parametrize("dt", [2e-4, 2e-3, 2e-2])
def test_a_cube_at_rest_sinks_by_load_over_stiffness_at_any_step(dt):
    sim = ss.Simulation(cube(k=2e5), implicit(), dt)
    sim.step(max(60, round(0.12 / dt)))
    assert sim.bodies["cube"].position[2] == pytest.approx(0.1 - G / 4e5, abs=1e-9)
    assert sum(contact.force[2] for contact in sim.contacts) == pytest.approx(G, abs=1e-6)


def doubled(parts, options, dt=5e-3, steps=60):
    """A tilted cube dropped on a floor; its box there once, or twice with half the coefficients each."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=ss.Material(0.5))
    material = ss.Material(0.5, stiffness=1e5 / parts, damping=300.0 / parts)
    scene.add_box("cube", size=(0.2,) * 3, mass=1.0, position=(0, 0, 0.16), rotation=TILTED,
                  velocity=(0.5, 0, 0), material=material)
    body = scene.bodies["cube"]
    for _ in range(parts - 1):
        body.geometries.append(ss.Geometry(body.geometries[0].shape, material=material))
    sim = ss.Simulation(scene, implicit(**options), dt)
    sim.step(steps)
    return np.concatenate([sim.q, sim.v])


def test_doubling_the_points_with_half_the_coefficients_changes_nothing():
    assert doubled(2, {}) == pytest.approx(doubled(1, {}), abs=1e-12)


def test_frozen_coupling_minds_how_the_points_are_split():
    first, second = (doubled(n, {"coupling": "frozen"}, dt=2e-3, steps=40) for n in (1, 2))
    assert np.abs(first - second).max() > 1e-3


@pytest.mark.parametrize("points, diverges", [(1, False), (4, True)])
def test_frozen_coupling_diverges_with_several_points(points, diverges):
    """k = 1e5, d = 300, m = 1, dt = 10 ms: spectral radius 0.27 for one point, 5.1 for four."""
    k, d, dt = 1e5, 300.0, 1e-2
    alone = (1.0 + dt * d + dt * dt * k) ** -1  # what one point leaves of an acceleration
    A = np.array([[1.0 - points * dt * dt * k * alone, dt * (1.0 - points * (dt * d + dt * dt * k) * alone)],
                  [-points * dt * k * alone, 1.0 - points * (dt * d + dt * dt * k) * alone]])
    radius = np.abs(np.linalg.eigvals(A)).max()
    assert (radius > 1.0) == diverges
    scene, material = floor_and(k, d)
    if points == 1:
        scene.add_sphere("body", radius=0.1, mass=1.0, position=(0, 0, 0.099), material=material)
    else:
        scene.add_box("body", size=(0.2,) * 3, mass=1.0, position=(0, 0, 0.099), material=material)
    sim = ss.Simulation(scene, implicit(coupling="frozen"), dt)
    top = 0.0
    for _ in range(40):
        sim.step()
        top = max(top, abs(sim.bodies["body"].velocity[2]))
    assert (top > 1.0) == diverges
    calm = ss.Simulation(scene, implicit(), dt)
    calm.step(40)
    assert abs(calm.bodies["body"].velocity[2]) < 1e-3


# ---- friction --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dt", [2e-3, 5e-3, 2e-2])
def test_a_gentle_slope_holds_without_drift(dt):
    sim = ss.Simulation(cube(k=2e5, height=0.1 - G / 4e5, slope=np.radians(15)), implicit(), dt)
    sim.step(round(0.4 / dt))
    start = sim.bodies["cube"].position[0]
    sim.step(round(0.4 / dt))
    assert abs(sim.bodies["cube"].position[0] - start) < 1e-9


@pytest.mark.parametrize("dt", [2e-3, 5e-3, 2e-2])
def test_a_steep_slope_lets_slide_at_the_closed_form(dt):
    sim = ss.Simulation(cube(k=2e5, height=0.1 - G / 4e5, slope=np.radians(35)), implicit(), dt)
    sim.step(round(0.4 / dt))
    wanted = G * (np.sin(np.radians(35)) - 0.5 * np.cos(np.radians(35)))
    assert wanted == pytest.approx(1.607, abs=1e-3)
    assert sim.bodies["cube"].velocity[0] / sim.time == pytest.approx(wanted, rel=0.03)


@pytest.mark.parametrize("dt, error", [(1e-3, 0.01), (5e-3, 0.016), (2e-2, 0.06)])
def test_a_thrown_cube_stops_where_friction_says(dt, error):
    """v^2 / 2 mu g, less about v dt / 2: semi-implicit in time."""
    sim = ss.Simulation(cube(k=2e5, height=0.1 - G / 4e5, velocity=(2, 0, 0)), implicit(), dt)
    sim.step(round(0.8 / dt))
    wanted = 4.0 / (2 * 0.5 * G)
    assert sim.bodies["cube"].position[0] == pytest.approx(wanted - dt, rel=error)
    assert abs(sim.bodies["cube"].velocity[0]) < 5e-3


def test_viscous_friction_creeps_as_its_law_says():
    """slip_speed tan(angle) / mu below the cone."""
    angle, dt = np.radians(15), 5e-3
    method = implicit(friction="viscous", slip_speed=1e-2)
    sim = ss.Simulation(cube(k=2e5, height=0.1 - G / 4e5, slope=angle), method, dt)
    sim.step(300)
    assert sim.bodies["cube"].velocity[0] == pytest.approx(1e-2 * np.tan(angle) / 0.5, rel=1e-6)


def test_static_and_kinetic_friction_differ():
    """At 19 degrees, between the two cones: at rest it stays, once thrown downhill it goes on.

    (From 20 degrees on the rear points, less loaded, slip first, and then the front ones cannot hold alone.)
    """
    angle = np.radians(19)
    rest = ss.Simulation(cube(k=2e5, mu=0.5, kinetic=0.3, height=0.1 - G / 4e5, slope=angle), implicit(), 2e-3)
    rest.step(200)
    assert abs(rest.bodies["cube"].velocity[0]) < 1e-3
    thrown = ss.Simulation(cube(k=2e5, mu=0.5, kinetic=0.3, height=0.1 - G / 4e5, slope=angle, velocity=(0.5, 0, 0)),
                           implicit(), 2e-3)
    thrown.step(200)
    wanted = 0.5 + 0.4 * G * (np.sin(angle) - 0.3 * np.cos(angle))
    assert thrown.bodies["cube"].velocity[0] == pytest.approx(wanted, rel=0.02)


def test_a_spinning_cube_slows_down_and_stays():
    """It never speeds up while it slides; at rest its anchors' springs give back what they hold, a few mrad/s."""
    sim = ss.Simulation(cube(k=2e5, height=0.1 - G / 4e5, spin=(0, 0, 10)), implicit(), 2e-3)
    last = 10.0
    for _ in range(250):
        sim.step()
        spin = sim.bodies["cube"].angular_velocity[2]
        assert (spin <= last + 1e-9 or last < 0.05) and spin > -1e-2
        last = spin
    assert abs(last) < 1e-4


def test_rolling_balls_roll():
    """A ball that rolls keeps rolling: its anchor goes along."""
    scene, material = floor_and(1e5, 300.0)
    scene.add_sphere("ball", radius=0.1, mass=1.0, position=(0, 0, 0.1 - G / 1e5), velocity=(1, 0, 0),
                     angular_velocity=(0, 10, 0), material=material)
    sim = ss.Simulation(scene, implicit(), 1e-3)
    sim.step(500)
    assert sim.bodies["ball"].velocity[0] == pytest.approx(1.0, abs=1e-2)
    assert sim.bodies["ball"].angular_velocity[1] == pytest.approx(10.0, abs=1e-1)


# ---- sums ------------------------------------------------------------------------------------------------------------


def test_without_contact_it_is_the_shared_dynamics():
    def pendulum(method):
        scene = ss.Scene(gravity=(0, 0, -G))
        scene.add_body("post", fixed=True)
        for n, parent in enumerate(("post", "arm0", "arm1")):
            scene.add_box(f"arm{n}", size=(0.05, 0.05, 0.4), mass=1.0 + n, parent=parent, position=(0, 0, -0.4),
                          joint=ss.Joint("revolute", axis=(n % 2, 1, 0), anchor=(0, 0, 0.2), position=0.4,
                                         velocity=1.0))
        sim = ss.Simulation(scene, method, 1e-3)
        sim.step(300)
        return np.concatenate([sim.q, sim.v])

    assert pendulum("implicit") == pytest.approx(pendulum("none"), abs=1e-12)


@pytest.mark.parametrize("rate_terms", [True, False])
def test_forces_explain_every_change_of_momentum(rate_terms):
    """Floor impulse = change of m v + m g dt, through impact, tumbling and rest."""
    scene, material = floor_and(1e5, 300.0)
    scene.add_box("cube", size=(0.2,) * 3, mass=1.3, position=(0, 0, 0.16), rotation=TILTED,
                  velocity=(0.5, 0, -1.0), angular_velocity=(1, 2, 3), material=material)
    sim = ss.Simulation(scene, implicit(rate_terms=rate_terms), 2e-3)
    for _ in range(150):
        before = 1.3 * sim.bodies["cube"].velocity
        sim.step()
        total = sum((contact.force for contact in sim.contacts), np.zeros(3))
        change = 1.3 * sim.bodies["cube"].velocity - before + 1.3 * np.array([0, 0, G]) * 2e-3
        assert 2e-3 * total == pytest.approx(change, abs=1e-10)
        assert sim.report.momentum_residual < 1e-12


def test_reported_force_is_the_law_at_the_end_of_the_step():
    """phi = k (depth at the end) - d (velocity at the end) for a ball: its next gap is the depth the law saw."""
    k, d, dt = 1e5, 300.0, 2e-3
    scene, material = floor_and(k, d, mu=0.0)
    scene.add_sphere("ball", radius=0.1, mass=1.0, position=(0, 0, 0.0995), velocity=(0, 0, -0.5), material=material)
    sim = ss.Simulation(scene, implicit(), dt)
    for _ in range(5):
        sim.step()
        force = sim.contacts[0].normal_force
        depth, speed = 0.1 - sim.bodies["ball"].position[2], sim.bodies["ball"].velocity[2]
        assert force == pytest.approx(max(k * depth - d * speed, 0.0), rel=1e-9)


def test_conversion_of_depth_and_restitution():
    """A body dropped on points so made sinks and rebounds as asked."""
    assert damping_ratio_of(restitution_of(0.37)) == pytest.approx(0.37, abs=1e-9)
    k, d = spring_and_damper(mass=2.0, depth=1e-4, restitution=0.6)
    scene, material = floor_and(k, d)
    scene.add_box("cube", size=(0.2,) * 3, mass=2.0, position=(0, 0, 0.1), velocity=(0, 0, -1), material=material)
    sim = ss.Simulation(scene, implicit(), 2e-5)
    fastest = 0.0
    for _ in range(100):
        sim.step(10)
        fastest = max(fastest, sim.bodies["cube"].velocity[2])
    assert fastest == pytest.approx(0.6, abs=0.02)
    with pytest.raises(ss.SesshokuError, match="depth"):
        spring_and_damper(1.0, 0.0)


@pytest.mark.parametrize("name, value", [("integrator", "rk5"), ("coupling", "none"), ("slip_speed", 0.0),
                                         ("depth", None), ("max_passes", 0), ("max_passes", 2.5), ("speculative", 1),
                                         ("friction", 3)])
def test_options_of_the_wrong_kind_are_refused_by_name(name, value):
    with pytest.raises(ss.SesshokuError, match=name):
        implicit(**{name: value})
