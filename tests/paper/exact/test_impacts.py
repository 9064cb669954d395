"""Landing and bouncing under `exact`: heights of rebounds, what stays flat, and energy that never grows."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.experiments.exact import measures
from sesshoku.experiments.exact.measures import lowest_corner
from sesshoku.experiments.exact.scenes import G, engine
from sesshoku.experiments.scenes import crate_on_floor
from support import FULL


@pytest.mark.parametrize("bounce", [0.5, 1.0])
@pytest.mark.parametrize("dt", [1 / 1000, 1 / 100, 1 / 50])
def test_three_rebounds_reach_their_height(bounce, dt):
    """Dropped flat from 1 m: apex e^2n, within what sampling an apex misses (g dt^2/8)."""
    apexes, turned = measures.rebounds(engine(), bounce, dt)
    assert len(apexes) == 3
    for n, apex in enumerate(apexes):
        assert apex == pytest.approx(bounce ** (2 * n + 2), abs=1.01 * G * dt**2 / 8)
    assert turned < 1e-10


@pytest.mark.parametrize("dt", [1 / 1000, 1 / 100, 1 / 50])
def test_without_restitution_it_lands_and_stays(dt):
    low, high, speed = measures.dropped(engine(), dt)
    assert low > -1e-12 and high < 1e-12 and speed < 1e-11


@pytest.mark.parametrize("dt", [1 / 1000, 1 / 100, 1 / 50])
@pytest.mark.parametrize("steps", [1.01, 1.1, 1.3, 2.2])
@pytest.mark.parametrize("push", [0.0, 100.0])
def test_let_go_just_above_the_floor_it_lands_on_it(dt, steps, push):
    """From rest, so high that it falls for `steps` steps: slower than a step's forces make it, and found only then."""
    height = 0.5 * (G + push) * (steps * dt) ** 2
    sim, low, work = ss.Simulation(crate_on_floor(height=height), "exact", dt), 0.0, 0.0
    for _ in range(30):
        sim.apply_force("crate", (0, 0, -push * sum(sim.model.link_mass)))
        sim.step()
        low, work = min(low, lowest_corner(sim)), work + sim.report.correction_work
    assert low > -1e-5 and work == 0.0 and np.abs(sim.v).max() < 1e-11


@pytest.mark.parametrize("integrator", ["midpoint", "semi-implicit"])
@pytest.mark.parametrize("kind", ["crate", "plate", "marble"])
@pytest.mark.parametrize("dt", [1 / 1000, 1 / 50])
def test_let_go_from_rest_it_never_sinks_in(dt, kind, integrator):
    """However far above the floor and however thin: what a step's fall closes has been found before."""
    rise = {"crate": 0.5, "plate": 0.5e-3, "marble": 1e-3}[kind]
    for height in np.linspace(0.0, 3e-3, 31):
        scene = ss.Scene(gravity=(0, 0, -G))
        scene.add_ground(material=ss.Material(0.5))
        at = {"mass": 1.0, "position": (0, 0, rise + height), "material": ss.Material(0.5)}
        if kind == "marble":
            scene.add_sphere("body", radius=rise, **at)
        else:
            scene.add_box("body", size=(1, 1, 2 * rise), **at)
        sim, work = ss.Simulation(scene, ss.methods.exact(integrator=integrator), dt), 0.0
        for _ in range(round(0.06 / dt)):
            sim.step()
            work += sim.report.correction_work
            assert sim.bodies["body"].position[2] - rise > -1e-12, height
        assert work == 0.0 and sim.bodies["body"].position[2] - rise < 1e-7


def driven_finger(gap, torque, plate):
    """A finger of 20 cm, 50 g, driven about z from rest; a plate 1 cm thick stands `gap` before its tip."""
    scene, material = ss.Scene(gravity=(0, 0, 0)), ss.Material(0.5)
    scene.add_box("plate", size=(0.1, 0.01, 0.1), position=(0.2, 0.015 + gap, 0), material=material, **plate)
    scene.add_box("finger", size=(0.2, 0.02, 0.02), mass=0.05, position=(0.1, 0, 0), material=material,
                  joint=ss.Joint("revolute", axis=(0, 0, 1), anchor=(-0.1, 0, 0), lower=-3.0, upper=3.0))
    sim = ss.Simulation(scene, "exact", 1 / 50)
    through = 0
    for _ in range(10):
        sim.apply_force("finger", (0, 0, 0), torque=(0, 0, torque))
        sim.step()
        through += sim.report.tunnelling
    return sim, through


@pytest.mark.parametrize("torque", [2.0, 20.0])
@pytest.mark.parametrize("gap", [0.0, 0.5e-3, 2e-3, 5e-3, 9e-3])
def test_a_finger_driven_hard_stops_at_a_plate(gap, torque):
    """10 and 100 N at its tip, from rest, at 1/50 s: contact is looked for as far as the torque takes it."""
    sim, through = driven_finger(gap, torque, {"fixed": True})
    assert through == 0 and abs(sim.v[0]) < 1e-3  # rad/s: of depth correction
    assert 0.1 * sim.q[0] < gap + 1e-4  # the plate's near end, which it meets at 15 cm and more
    sim, through = driven_finger(gap, torque, {"mass": 0.2})
    assert through == 0 and sim.bodies["plate"].velocity[1] > 1.0  # struck, and not passed


@pytest.mark.parametrize("torque", [2.0, 20.0])
@pytest.mark.parametrize("gap", [2e-2, 5e-2])
def test_a_finger_that_passes_a_plate_in_one_step_is_counted(gap, torque):
    """From farther than its own half thickness it is not stopped; the report says so, once."""
    for plate in ({"fixed": True}, {"mass": 0.2}):
        sim, through = driven_finger(gap, torque, plate)
        assert through == 1 and sim.q[-1] > 1.0


@pytest.mark.parametrize(("dt", "depth"), [(0.25e-3, 5e-5), (1e-3, 2e-3), (4e-3, 1.6e-2), (16e-3, 1.4e-2),
                                           (32e-3, 1.2e-2)])
def test_tilted_drop_ends_flat(dt, depth):
    sim, low = ss.Simulation(crate_on_floor(height=0.5, tilt=np.radians(12)), "exact", dt), 0.0
    energy = sum(sim.energy)
    for _ in range(round(4.0 / dt)):
        sim.step()
        low = min(low, lowest_corner(sim))
        assert sum(sim.energy) <= energy * (1 + 1e-9)
    assert low > -depth
    assert np.abs(sim.v).max() < 1e-6 and abs(lowest_corner(sim)) < 1.1e-5  # what `slop` leaves of an overlap
    assert sim.bodies["crate"].rotation_matrix[2, 2] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("dt", [1e-3, 4e-3])
def test_tilted_rebound_without_friction_keeps_its_energy(dt):
    sim = ss.Simulation(crate_on_floor(height=0.5, tilt=np.radians(12), restitution=1.0, static=0.0), "exact", dt)
    energy = sum(sim.energy)
    for _ in range(round(3.0 / dt)):
        sim.step()
        assert sum(sim.energy) == pytest.approx(energy, rel=1e-11)


def bouncing(kind, bounce, friction, dt, rng):
    """A scene in which Newton's restitution with friction would make energy."""
    if kind == "crate":
        tilt = float(rng.uniform(0.02, 0.7))
        return ss.Simulation(crate_on_floor(float(rng.uniform(0, 5)), height=0.5, tilt=tilt, restitution=bounce,
                                            static=friction), "exact", dt)
    material = ss.Material(friction, None, bounce)
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=material)
    for n in range(4):
        scene.add_box(f"box{n}", size=(1, 1, 1), mass=float(10 ** rng.uniform(-1, 1)),
                      position=(*rng.uniform(-0.1, 0.1, 2), 0.5 + n + 0.3 * (n + 1)), material=material)
    return ss.Simulation(scene, "exact", dt)


@pytest.mark.parametrize("kind", ["crate", "stack"])
@pytest.mark.parametrize(("bounce", "friction"), [(1.0, 0.3), (0.8, 0.6)])
def test_restitution_with_friction_makes_no_energy(kind, bounce, friction, rng):
    """Single steps of a tilted crate gained 14 % of the energy without the guard.

    Depth correction's work is in the report.
    """
    dt = 2e-3
    for _ in range(10 if FULL else 2):
        sim = bouncing(kind, bounce, friction, dt, rng)
        start = before = sum(sim.energy)
        given = 0.0
        for _ in range(round(1.5 / dt)):
            sim.step()
            now = sum(sim.energy)
            given += sim.report.correction_work
            assert now <= before + sim.report.correction_work + 1e-4 * start
            before = now
        assert before <= start + given


def test_stack_rebounds_without_loss_where_nothing_rubs():
    """e = 1, mu = 0: impacts that other impacts of the same step bring about rebound as well."""
    material = ss.Material(0.0, None, 1.0)
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=material)
    for n in range(3):
        scene.add_box(f"box{n}", size=(1, 1, 1), mass=1.0, position=(0, 0, 0.5 + n + 0.3 * (n + 1)), material=material)
    sim = ss.Simulation(scene, "exact", 1e-3)
    start = sum(sim.energy)
    sim.step(2000)
    assert sum(sim.energy) == pytest.approx(start, rel=5e-3)


def test_a_ball_gives_its_speed_to_its_twin():
    """e = 1: two equal balls exchange velocities, with the instant inside a step."""
    material = ss.Material(0.0, None, 1.0)
    scene = ss.Scene(gravity=(0, 0, 0))
    for name, x, speed in (("a", -0.531, 2.0), ("b", 0.5, 0.0)):
        scene.add_sphere(name, radius=0.2, mass=1.0, position=(x, 0, 0), velocity=(speed, 0, 0), material=material)
    sim = ss.Simulation(scene, "exact", 1 / 50)
    sim.step(50)
    assert sim.bodies["a"].velocity[0] == pytest.approx(0.0, abs=1e-12)
    assert sim.bodies["b"].velocity[0] == pytest.approx(2.0, abs=1e-12)
    assert sim.bodies["a"].position[0] == pytest.approx(0.1, abs=1e-12)  # where they met
    assert sim.bodies["b"].position[0] == pytest.approx(0.5 + 2.0 * (1.0 - 0.631 / 2.0), abs=1e-12)


@pytest.mark.parametrize("tilt", [0.03, 0.0355, 0.039, 0.05, 0.058, 0.07])
def test_feet_under_legs_that_move_on_do_not_rattle(tilt):
    """A limp humanoid sinks to its knees: its soles land, tilt and lie, they do not part and land in turns.

    Counted are contacts that begin or cease to carry load from one step to the next; those of eight corners in turns
    would be hundreds.
    """
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=ss.Material(0.5))
    scene.load(ss.robots.path("humanoid_large.xml"), pose="stand")
    scene.actuators.clear()
    scene.bodies["pelvis"].rotation = np.array([np.cos(tilt), 0.0, np.sin(tilt), 0.0])
    sim, loaded, changes = ss.Simulation(scene, "exact", 1e-3), {}, 0
    for _ in range(400):
        sim.step()
        now = {contact.id: contact.force[2] > 0.0 for contact in sim.contacts}
        changes += sum(now[contact] != before for contact, before in loaded.items() if contact in now)
        loaded = now
    assert changes < 100 and sim.report.converged
