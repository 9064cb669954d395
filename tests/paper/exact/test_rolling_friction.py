"""Rolling and torsional friction under `exact` against closed forms: a torque within coefficient times normal force."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from support import sample_count

G, R, MASS = 9.8, 0.1, 2.0
INERTIA = 0.4 * MASS * R**2  # of a solid ball


def material(rolling: float = 0.0, torsional: float = 0.0, friction: float = 0.8) -> ss.Material:
    return ss.Material(friction, rolling_friction=rolling, torsional_friction=torsional)


def ball(surface: ss.Material, velocity=(0.0, 0.0, 0.0), spin=(0.0, 0.0, 0.0), slope: float = 0.0) -> ss.Scene:
    """A ball on the floor; slope: angle of the incline, whose downward direction is x (gravity leans instead)."""
    scene = ss.Scene(gravity=(G * np.sin(slope), 0.0, -G * np.cos(slope)))
    scene.add_ground(material=ss.Material(surface.static_friction))  # the larger coefficients count: the ball's
    scene.add_sphere("ball", radius=R, mass=MASS, position=(0, 0, R), material=surface, velocity=velocity,
                     angular_velocity=spin)
    return scene


def stopping(speed: float, rate: float, dt: float) -> tuple[int, float]:
    """Steps until rest (and ten more), and how far the last step may be from the way of a constant deceleration."""
    return int(speed / rate / dt) + 11, rate * dt * dt / 8 + 2e-12


@pytest.mark.nojit
@pytest.mark.boundscheck
@pytest.mark.parametrize("dt", [1 / 50, 1 / 400])
def test_a_rolling_ball_slows_down_evenly_stops_and_stays(dt, rng):
    """Without slip: deceleration (5/7) r g / R in any heading; then it stands still."""
    for _ in range(sample_count(2, 30)):
        rolling, v0, heading = float(rng.uniform(5e-4, 5e-3)), float(rng.uniform(0.05, 0.4)), rng.uniform(0, 2 * np.pi)
        c, s = np.cos(heading), np.sin(heading)
        sim = ss.Simulation(ball(material(rolling), (c * v0, s * v0, 0), (-s * v0 / R, c * v0 / R, 0)), "exact", dt)
        rate = 5 / 7 * rolling * G / R
        steps, unsure = stopping(v0, rate, dt)
        for n in range(min(steps, 400)):
            sim.step()
            assert sim.report.converged and sim.report.residual < 1e-11 and sim.report.energy_change <= 1e-15
            if n < 3:
                assert sim.v[:2] == pytest.approx((v0 - rate * sim.time) * np.array([c, s]), abs=1e-12)
                assert np.linalg.norm(sim.contacts[0].torque) == pytest.approx(rolling * MASS * G, rel=1e-9)
        if steps < 400:
            x = sim.bodies["ball"].position
            assert abs(c * x[0] + s * x[1] - v0**2 / (2 * rate)) < unsure
            assert abs(c * x[1] - s * x[0]) < 1e-12 and np.abs(sim.v).max() < 1e-11
            sim.step(100)
            assert np.abs(sim.bodies["ball"].position - x).max() < 1e-12


@pytest.mark.parametrize("dt", [1 / 50, 1 / 1000])
def test_a_ball_holds_on_an_incline_up_to_its_rolling_friction(dt):
    """It holds iff tan(angle) <= r / R, and beyond rolls with (5/7) g (sin - r/R cos)."""
    rolling = 0.01
    for share in (0.5, 0.999, 1.001, 1.5):
        angle = np.arctan(share * rolling / R)
        sim = ss.Simulation(ball(material(rolling), slope=angle), "exact", dt)
        sim.step(200)
        assert sim.report.converged
        rate = max(0.0, 5 / 7 * G * (np.sin(angle) - rolling / R * np.cos(angle)))
        unsure = 2e-12 * (1.0 + (sim.time if rate > 0.0 else 0.0))  # the tolerance is 1e-12 m/s
        assert sim.bodies["ball"].position == pytest.approx([0.5 * rate * sim.time**2, 0, R], abs=unsure)
        if share < 1.0:  # the torque needed, not the largest
            assert sim.contacts[0].torque == pytest.approx([0, -MASS * G * np.sin(angle) * R, 0], abs=1e-9)


@pytest.mark.nojit
@pytest.mark.parametrize("dt", [1 / 50, 1 / 400])
def test_a_spinning_ball_stops_by_torsion_and_stays(dt, rng):
    """About the normal: deceleration s m g / I, and no motion sideways."""
    for _ in range(sample_count(2, 30)):
        torsional, w0 = float(rng.uniform(1e-4, 1e-3)), float(rng.uniform(-5, 5))
        sim = ss.Simulation(ball(material(0.0, torsional), spin=(0, 0, w0)), "exact", dt)
        rate = torsional * MASS * G / INERTIA
        steps, unsure = stopping(abs(w0), rate, dt)
        angle = 0.0
        for n in range(min(steps, 400)):
            before = sim.v[5]
            sim.step()
            angle += 0.5 * dt * (before + sim.v[5])
            assert sim.report.converged and sim.report.energy_change <= 1e-15
            if n < 3:
                assert sim.v[5] == pytest.approx(np.sign(w0) * max(0.0, abs(w0) - rate * sim.time), abs=1e-12)
        assert np.abs(sim.bodies["ball"].position - [0, 0, R]).max() < 1e-12
        if steps < 400:
            assert abs(sim.v[5]) < 1e-11 and abs(abs(angle) - w0**2 / (2 * rate)) < unsure
            turned = sim.bodies["ball"].rotation
            sim.step(100)
            assert np.abs(sim.bodies["ball"].rotation - turned).max() < 1e-12


@pytest.mark.parametrize(("share", "rate"), [(0.999, 0.0), (1.001, 0.001)])
def test_a_torque_about_the_normal_is_held_up_to_the_limit(share, rate):
    torsional = 2e-3
    limit = torsional * MASS * G
    sim = ss.Simulation(ball(material(0.0, torsional)), "exact", 1 / 100)
    for _ in range(100):
        sim.apply_force("ball", (0, 0, 0), (0, 0, share * limit))
        sim.step()
    assert sim.v[5] == pytest.approx(rate * limit / INERTIA * sim.time, abs=1e-11)
    assert sim.contacts[0].torque[2] == pytest.approx(-min(share, 1.0) * limit, rel=1e-9)


def test_rolling_and_spinning_at_once_do_not_disturb_each_other():
    rolling, torsional, v0, w0 = 1e-3, 2e-4, 0.2, 3.0
    sim = ss.Simulation(ball(material(rolling, torsional), (v0, 0, 0), (0, v0 / R, w0)), "exact", 1 / 200)
    sim.step(100)
    assert sim.v[:2] == pytest.approx([v0 - 5 / 7 * rolling * G / R * sim.time, 0.0], abs=1e-11)
    assert sim.v[5] == pytest.approx(w0 - torsional * MASS * G / INERTIA * sim.time, abs=1e-10)


@pytest.mark.parametrize("dt", [1 / 100, 1 / 500])
def test_a_cylinder_rolls_on_two_points(dt):
    """However they share the load: (2/3) r g / R, straight on."""
    rolling, v0, h = 2e-3, 0.3, np.sqrt(0.5)
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=ss.Material(0.8))
    scene.add_cylinder("cylinder", radius=R, length=0.3, mass=MASS, position=(0, 0, R), rotation=(h, h, 0, 0),
                       material=material(rolling, 1e-3), velocity=(v0, 0, 0), angular_velocity=(0, v0 / R, 0))
    sim = ss.Simulation(scene, "exact", dt)
    sim.step(round(0.5 / dt))
    v = v0 - 2 / 3 * rolling * G / R * sim.time
    assert len(sim.contacts) == 2
    assert sim.v == pytest.approx([v, 0, 0, 0, v / R, 0], abs=1e-10)


@pytest.mark.parametrize("bounce", [0.5, 1.0])
def test_a_spinning_ball_that_bounces_loses_spin_in_the_impact(bounce):
    """By the torsional coefficient times the impact's impulse, m (1 + e) v."""
    torsional, w0, height = 1e-3, 10.0, 0.2
    surface = ss.Material(0.8, restitution=bounce, torsional_friction=torsional)
    scene = ball(surface, spin=(0, 0, w0))
    scene.bodies["ball"].position = np.array([0, 0, R + height])
    sim = ss.Simulation(scene, "exact", 0.003)
    sim.step(84)  # the ball meets the floor after 0.202 s
    lost = torsional * (1 + bounce) * MASS * np.sqrt(2 * G * height) / INERTIA
    assert sim.v[5] == pytest.approx(w0 - lost, abs=1e-9)


@pytest.mark.boundscheck
def test_a_smooth_box_that_turns_on_its_face():
    """Four corners, no sliding friction: only torsion slows it, s m g in all, however the corners share the load."""
    torsional, w0, side, mass = 0.01, 2.0, 0.2, 3.0
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=material(0.0, torsional, friction=0.0))
    scene.add_box("box", size=(side, side, side), mass=mass, position=(0, 0, side / 2), angular_velocity=(0, 0, w0),
                  material=ss.Material(0.0))
    sim = ss.Simulation(scene, "exact", 1 / 200)
    rate = torsional * mass * G / (mass * side**2 / 6)
    for _ in range(40):
        sim.step()
        assert sim.report.converged and sim.report.residual < 1e-11
        assert sim.v[5] == pytest.approx(max(0.0, w0 - rate * sim.time), abs=1e-9)
    assert np.abs(sim.v).max() < 1e-10  # stopped after 0.14 s


@pytest.mark.parametrize("integrator", ["midpoint", "semi-implicit"])
def test_a_ball_spins_between_two_plates(integrator):
    """The lower plate carries both weights, the upper one (on a sliding joint) its own: torsion of both contacts."""
    torsional, load, w0 = 5e-4, 5.0, 4.0
    scene = ball(material(0.0, torsional), spin=(0, 0, w0))
    plate = scene.add_body("plate", position=(0, 0, 2 * R + 0.05), joint=ss.Joint("prismatic", axis=(0, 0, 1)),
                           inertial=ss.Inertial(load, (0, 0, 0), np.eye(3)),
                           geometries=[ss.Geometry(ss.Box((0.4, 0.4, 0.1)), material=ss.Material(0.8))])
    assert plate.name == "plate"
    sim = ss.Simulation(scene, ss.methods.exact(integrator=integrator), 1 / 200)
    sim.step(20)
    rate = torsional * G * (MASS + 2 * load) / INERTIA
    spin = sim.bodies["ball"].angular_velocity
    assert sim.report.converged and spin == pytest.approx([0, 0, w0 - rate * sim.time], abs=1e-8)


def test_a_ball_on_a_turntable_takes_its_spin_and_no_more():
    """A link that turns and a free body: torsion speeds up one, slows down the other until they turn as one."""
    torsional, w0, inertia = 1e-3, 2.0, 0.05
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_body("table", joint=ss.Joint("revolute", axis=(0, 0, 1), velocity=w0),
                   inertial=ss.Inertial(1.0, (0, 0, 0), np.diag([0.1, 0.1, inertia])),
                   geometries=[ss.Geometry(ss.Box((1.0, 1.0, 0.1)), material=ss.Material(0.8))])
    scene.add_sphere("ball", radius=R, mass=MASS, position=(0, 0, 0.05 + R), material=material(0.0, torsional))
    sim = ss.Simulation(scene, "exact", 1 / 500)
    torque = torsional * MASS * G
    together = w0 * inertia / (inertia + INERTIA)
    for _ in range(500):
        sim.step()
        assert sim.report.converged
        table, spin = sim.joints["table"].velocity, sim.bodies["ball"].angular_velocity[2]
        meets = (w0 - together) / (torque / inertia)
        if sim.time < meets - sim.dt:
            assert table == pytest.approx(w0 - torque / inertia * sim.time, abs=1e-9)
            assert spin == pytest.approx(torque / INERTIA * sim.time, abs=1e-9)
        elif sim.time > meets + sim.dt:
            assert table == pytest.approx(together, abs=1e-9) and spin == pytest.approx(together, abs=1e-9)
        assert inertia * table + INERTIA * spin == pytest.approx(inertia * w0, abs=1e-11)
    assert meets < 0.8


def test_a_scripted_turntable_takes_a_ball_along():
    """Torsion against a scripted link: the ball comes to turn as the table does, however that speeds up."""
    scene = ss.Scene(gravity=(0, 0, -G))
    rate = 0.5
    scene.add_body("table", kinematic=True, position=(0, 0, -0.05), motion=lambda t: (
        (0, 0, -0.05), (np.cos(rate * t * t / 4), 0, 0, np.sin(rate * t * t / 4))),
        geometries=[ss.Geometry(ss.Box((1.0, 1.0, 0.1)), material=ss.Material(0.8))])
    scene.add_sphere("ball", radius=R, mass=MASS, position=(0, 0, R), material=material(0.0, 0.01))
    sim = ss.Simulation(scene, "exact", 1 / 100)
    sim.step(100)
    assert sim.bodies["ball"].angular_velocity == pytest.approx([0, 0, rate * sim.time], abs=1e-5)
    assert sim.contacts[0].torque[2] == pytest.approx(INERTIA * rate, rel=1e-4)


def heap(rng: np.random.Generator, rolling: float, torsional: float, apart: bool = False) -> ss.Scene:
    """Balls, boxes and capsules that fall on a heap; apart: a ball with friction of turning lies far away."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=ss.Material(0.5))
    for n in range(6):
        turn = rng.normal(size=4)
        given = {"mass": 1.0, "material": material(rolling, torsional, 0.5), "rotation": turn / np.linalg.norm(turn),
                 "position": (*rng.uniform(-0.1, 0.1, size=2), 0.15 + 0.22 * n), "velocity": rng.normal(size=3) * 0.3,
                 "angular_velocity": rng.normal(size=3)}
        if n % 3 == 0:
            scene.add_sphere(f"b{n}", radius=0.1, **given)
        elif n % 3 == 1:
            scene.add_box(f"b{n}", size=(0.2, 0.15, 0.1), **given)
        else:
            scene.add_capsule(f"b{n}", radius=0.06, length=0.15, **given)
    if apart:
        scene.add_sphere("far", radius=0.1, mass=1.0, position=(50, 0, 0.1), material=material(1e-3, 1e-3))
    return scene


def test_a_heap_obeys_the_law_and_gains_nothing(rng):
    """Bounds, balance and energy in every step; what the residual says is below the tolerance or what counts as solved.

    A heap with rolling friction comes to rest.
    """
    for _ in range(sample_count(2, 20)):
        sim = ss.Simulation(heap(rng, *rng.uniform(5e-3, 2e-2, size=2)), "exact", 1 / 200)
        solved = 0
        for _ in range(300):
            sim.step()
            report = sim.report
            solved += report.converged
            assert report.momentum_residual < 1e-10 and report.cone_violation < 1e-7
            assert not report.converged or report.residual < 1.1e-8
        assert solved >= 298 and report.rows > 0
        sim.step(3000)  # the slowest loses 0.35 m/s in every second
        assert np.abs(sim.v).max() < 1e-6


def test_many_balls_are_solved_in_every_step(rng):
    """A block of balls that falls apart, some hundred contacts in one island."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=ss.Material(0.5))
    for n in range(64):
        place = 0.11 * np.array([n % 4, n // 4 % 4]) + 0.005 * rng.normal(size=2)
        scene.add_sphere(f"ball{n}", radius=0.05, mass=0.5, position=(*place, 0.06 + 0.11 * (n // 16)),
                         material=material(3e-3, 1e-3, 0.5))
    sim = ss.Simulation(scene, "exact", 1 / 250)
    solved = 0
    for _ in range(150):
        sim.step()
        solved += sim.report.converged
        assert sim.report.momentum_residual < 1e-10
    assert solved >= 149 and len(sim.contacts) > 60


def test_energy_never_rises_through_friction_of_turning(rng):
    """Semi-implicit and without depth correction the impulses of a step never bring energy."""
    sim = ss.Simulation(heap(rng, 5e-3, 5e-3), ss.methods.exact(integrator="semi-implicit", correction=0.0), 1 / 500)
    for _ in range(400):
        sim.step()
        assert sim.report.energy_change <= 1e-9


def test_coefficients_of_zero_change_no_bit(rng):
    """Neither spelled out, nor beside bodies far away that have them."""
    seed = int(rng.integers(2**31))
    plain = ss.Simulation(heap(np.random.default_rng(seed), 0.0, 0.0), "exact", 1 / 200)
    beside = ss.Simulation(heap(np.random.default_rng(seed), 0.0, 0.0, apart=True), "exact", 1 / 200)
    for _ in range(150):
        plain.step()
        beside.step()
        np.testing.assert_array_equal(plain.v, beside.v[: len(plain.v)])
    assert len(plain.work.problem.rolling) == 0 < len(beside.work.problem.rolling)
    np.testing.assert_array_equal(plain.q, beside.q[: len(plain.q)])


def test_a_saved_run_goes_on_to_the_last_bit(rng):
    scene = heap(rng, 5e-3, 5e-3)
    first, second = ss.Simulation(scene, "exact", 1 / 200), ss.Simulation(scene, "exact", 1 / 200)
    first.step(120)
    second.restore(first.save())
    for one, other in zip(first.contacts, second.contacts, strict=True):
        np.testing.assert_array_equal(one.torque, other.torque)
    assert any(contact.torque.any() for contact in first.contacts)
    first.step(60)
    second.step(60)
    np.testing.assert_array_equal(first.q, second.q)


def test_pairs_have_coefficients_of_their_own():
    scene = ball(material(1e-3), spin=(0, 0, 1.0))
    scene.friction("ball", "ground", static=0.8, rolling=4e-3, torsional=2e-3)
    sim = ss.Simulation(scene, "exact", 1e-3)
    sim.step()
    assert sim.contacts[0].torque == pytest.approx([0, 0, -2e-3 * MASS * G], rel=1e-9)
    scene.friction("ball", "ground", static=0.8)
    assert scene.pair_friction["ball", "ground"].rolling_friction == 1e-3


def test_other_methods_leave_it_out_by_name():
    scene = ball(ss.Material(0.5, rolling_friction=1e-3, name="felt"))
    with pytest.warns(ss.UnsupportedFeature, match="'lcp' leaves out rolling friction of ball"):
        assert ss.Simulation(scene, "lcp").report.left_out == ("rolling friction of ball",)
    with pytest.raises(ss.MethodError, match="leaves out torsional friction of ball"):
        ss.Simulation(ball(material(0.0, 1e-3)), "lcp:recommended", strict=True)
    for method in ("none", "exact"):
        assert ss.Simulation(scene, method, strict=True).report.left_out == ()
    result = ss.compare(scene, ["lcp", "exact"], time=0.02)
    assert result["lcp"].ran and result["lcp"].left_out == ("rolling friction of ball",)
    assert result["exact"].left_out == ()
