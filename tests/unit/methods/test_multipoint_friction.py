"""Friction of `multipoint`: static points stand still, and joints are braked against their own motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import sesshoku as ss
from support import sample_count

G = 9.8
METHODS = ["multipoint", "multipoint:recommended"]
every = pytest.mark.parametrize("method", METHODS)


def box(size: tuple[float, float, float], mass: float, static: float, kinetic: float, speed: float) -> ss.Scene:
    scene, material = ss.Scene(gravity=(0, 0, -G)), ss.Material(static, kinetic)
    scene.add_ground(material=material)
    scene.add_box("box", size=size, mass=mass, position=(0, 0, size[2] / 2), velocity=(speed, 0, 0), material=material)
    return scene


# ---- contacts --------------------------------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("share", [0.1, 0.4, 0.8, 3.0])
@pytest.mark.parametrize(("dt", "height"), [(2e-4, 0.02), (1e-3, 0.02), (1e-3, 0.2), (5e-3, 0.2)])
@pytest.mark.parametrize(("static", "kinetic"), [(0.5, 0.5), (0.5, 0.3)])
def test_a_slow_box_that_is_pushed_back_stops_and_stands(method, share, dt, height, static, kinetic):
    """Of what friction takes in a step, pushed back with 0.8 mu_K N: friction holds it."""
    speed = share * kinetic * G * dt
    sim = ss.Simulation(box((0.2, 0.2, height), 2.0, static, kinetic, speed), method, dt)
    push = 0.8 * kinetic * 2.0 * G
    for _ in range(200):
        # in the base plane: it must not tip
        sim.apply_force("box", (-push, 0, 0), point=sim.bodies["box"].position - (0, 0, height / 2))
        sim.step()
    assert np.abs(sim.v).max() < 1e-12
    assert sum(contact.force[0] for contact in sim.contacts) == pytest.approx(push, rel=1e-9)
    assert abs(sim.q[0]) < speed * dt + 5 * kinetic * G * dt * dt, "no creep"


@every
@pytest.mark.parametrize("dt", [1e-3, 4e-3])
@pytest.mark.parametrize("height", [0.01, 0.2])
def test_a_thrown_box_comes_to_rest(method, dt, height):
    """From 1 m/s, within one and a half of v / mu g; what swings of a cube under the paper's friction dies too."""
    sim = ss.Simulation(box((0.2, 0.2, height), 1.0, 0.3, 0.3, 1.0), method, dt)
    sim.step(round(1.5 / (0.3 * G) / dt))
    assert np.abs(sim.v).max() < 1e-12


@pytest.mark.parametrize("speed", [1e-3, 4e-3, 2e-2])
def test_a_dragged_plate_feels_kinetic_friction_however_slow(speed):
    """A velocity servo pulls with mu_K N in the mean, below the slip threshold too."""
    scene, mu = ss.Scene(gravity=(0, 0, -G)), 0.5
    scene.add_ground(material=ss.Material(mu))
    light = ss.Inertial(1e-6, matrix=np.eye(3) * 1e-9)
    scene.add_body("carriage", joint=ss.Joint("prismatic", axis=(1, 0, 0)), inertial=light, position=(0, 0, 5e-3))
    scene.add_box("plate", size=(0.2, 0.2, 0.01), mass=2.0, parent="carriage",
                  joint=ss.Joint("prismatic", axis=(0, 0, 1)), material=ss.Material(mu))
    scene.add_actuator("carriage", "velocity", target_velocity=speed, kd=3.0 * mu * 2.0 * G / speed)
    sim = ss.Simulation(scene, "multipoint", 1e-3)
    sim.step(300)
    felt = []
    for _ in range(200):
        sim.step()
        felt.append(-sum(contact.force[0] for contact in sim.contacts))
    assert np.mean(felt) == pytest.approx(mu * 2.0 * G, rel=0.01)
    assert sim.q[0] > 0.0


@pytest.mark.nojit
@pytest.mark.boundscheck
def test_the_threshold_is_half_of_what_friction_takes_in_a_step():
    """mu g dt / 2 for a plate that slides flat, whatever its mass and size; with a load, a push and an impact more."""
    for mass, size, load in ((1.0, 0.2, 0.0), (30.0, 0.5, 0.0), (1.0, 0.2, 20.0)):
        scene = box((size, size, 1e-4), mass, 0.4, 0.4, 0.3)
        sim = ss.Simulation(scene, "multipoint", 1e-3)
        sim.apply_force("box", (0, 0, -load))
        sim.step()
        assert sim.work.threshold[:4] == pytest.approx(0.5 * 0.4 * (G + load / mass) * 1e-3, rel=1e-6)
    sim.apply_force("box", (-3.0, 0, 0))
    sim.step()
    assert sim.work.threshold[:4] == pytest.approx(0.5 * (0.4 * G + 3.0) * 1e-3, rel=1e-4)
    sim.set_state(v=np.array([0.3, 0, -2.0, 0, 0, 0]))
    sim.step()
    assert sim.work.threshold[:4] == pytest.approx(0.5 * 0.4 * (G * 1e-3 + 2.0), rel=1e-4)
    given = ss.Simulation(scene, ss.methods.multipoint(slip_threshold=0.07), 1e-3)
    given.step()
    assert (given.work.threshold[:4] == 0.07).all(), "a number that the user gives stands"


# ---- joints ----------------------------------------------------------------------------------------------------------


def chain(joints: int, friction: Any, speeds: Any, gravity: float = 0.0) -> ss.Scene:
    """Links of 0.3 m, 1 kg in a plane, each with its own dry friction and speed."""
    scene = ss.Scene(gravity=(0, 0, -gravity))
    scene.add_body("wall", fixed=True)
    for n in range(joints):
        scene.add_body(f"link{n}", parent="wall" if n == 0 else f"link{n - 1}", position=(0.3 if n else 0.0, 0, 0),
                       inertial=ss.Inertial(1.0, (0.15, 0, 0), np.eye(3) * 0.01),
                       joint=ss.Joint("continuous", axis=(0, 1, 0), velocity=float(speeds[n]),
                                      static_friction=float(friction[n])))
    return scene


@pytest.mark.nojit
@pytest.mark.boundscheck
@every
def test_each_joint_is_braked_against_its_own_motion(method):
    sim = ss.Simulation(chain(2, (0.3, 0.3), (1.0, -0.5)), method, 1e-3)
    H, before, dt = sim.mass_matrix(), sim.v.copy(), 1e-3
    sim.step()
    assert [sim.joints[f"link{n}"].friction_force for n in range(2)] == pytest.approx([-0.3, 0.3], rel=1e-9)
    assert all(sim.joints[f"link{n}"].slipping for n in range(2))
    taken = dt * 0.5 * (0.3 * (before[0] + sim.v[0]) - 0.3 * (before[1] + sim.v[1]))
    assert taken == pytest.approx(dt * 0.3 * 1.5, rel=0.1) and np.isfinite(H).all()


@every
def test_a_chain_of_joints_with_friction_swings_as_its_equations_say(method):
    """Against the equations of motion in small steps, over a time in which no joint turns round; first order in dt."""
    friction, speeds, duration = np.array([0.3, 0.2]), np.array([2.0, -1.5]), 0.15
    scene = chain(2, friction, speeds, gravity=G)
    free = ss.Simulation(chain(2, (0.0, 0.0), speeds, gravity=G), "none", 1e-3)

    def rate(_, state):
        free.set_state(q=state[:2], v=state[2:])
        force = free.bias_force() + friction * np.sign(state[2:])
        return np.concatenate([state[2:], -np.linalg.solve(free.mass_matrix(), force)])

    truth = solve_ivp(rate, (0, duration), np.concatenate([np.zeros(2), speeds]), rtol=1e-10, atol=1e-12).y[:, -1]
    assert (np.sign(truth[2:]) == np.sign(speeds)).all()
    errors = []
    for dt in (1e-3, 5e-4):
        sim = ss.Simulation(scene, method, dt)
        sim.step(round(duration / dt))
        errors.append(np.abs(sim.q - truth[:2]).max())
    assert errors[0] < 5e-3 and errors[1] < 0.6 * errors[0]


@every
def test_joint_friction_holds_or_opposes_the_motion_it_ends_with(method, rng):
    """Chains at rest, slow and fast: a joint stands with no more than its friction, or is braked with all of it."""
    wrong = 0
    for _ in range(sample_count(60, 600)):
        joints = int(rng.integers(2, 7))
        friction = rng.uniform(0.05, 2.0, joints)
        speeds = rng.normal(size=joints) * rng.choice([0.0, 1e-4, 3e-3, 0.1, 3.0], joints)
        sim = ss.Simulation(chain(joints, friction, speeds, gravity=G), method, 1e-3)
        sim.step()
        force = np.array([sim.joints[f"link{n}"].friction_force for n in range(joints)])
        assert (np.abs(force) <= friction * (1 + 1e-9)).all()
        moving = np.abs(sim.v) > 1e-9
        wrong += int((force * sim.v > 1e-9)[moving].sum())
        assert np.abs(force[moving]) == pytest.approx(friction[moving], rel=1e-9)
    assert wrong == 0


# ---- joint rows beside contacts that slip ----------------------------------------------------------------------------


def arm_at_its_stop() -> ss.Scene:
    """A floating trunk, an upper arm and a light forearm whose elbow is at its stop; its tip is a small ball."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_ground(material=ss.Material(0.3))
    scene.add_body("trunk", position=(0, 0, 0.6), inertial=ss.Inertial(5.0, matrix=0.2 * np.eye(3)))
    scene.add_body("upper", parent="trunk", joint=ss.Joint("revolute", axis=(0, 1, 0), position=0.4, velocity=1.0),
                   inertial=ss.Inertial(1.0, (0, 0, -0.15), 0.01 * np.eye(3)))
    scene.add_body("fore", parent="upper", position=(0, 0, -0.3),
                   joint=ss.Joint("revolute", name="elbow", axis=(0, 1, 0), lower=-2.0, upper=0.3, position=0.3),
                   inertial=ss.Inertial(0.2, (0, 0, -0.15), 0.001 * np.eye(3)),
                   geometries=[ss.Geometry(ss.Sphere(0.02), position=(0, 0, -0.3), material=ss.Material(0.3))])
    return scene


@pytest.mark.parametrize(("method", "dense_rows"), [*((method, 900) for method in METHODS), ("multipoint", 1)])
@pytest.mark.parametrize("sideways", [-2.0, -1.0, 0.5])
def test_a_stop_holds_where_a_point_slips(method, dense_rows, sideways, monkeypatch):
    """A stop gives what it must under friction as it was cut, not as the trial had it: nothing goes through."""
    monkeypatch.setattr("sesshoku.methods.multipoint.work.DENSE_ROWS", dense_rows)
    sim = ss.Simulation(arm_at_its_stop(), method, 1e-3)
    sim.step(0)
    fore = sim.bodies["fore"]
    tip = (fore.position + fore.rotation_matrix @ (0, 0, -0.3))[2] - 0.02
    q, v = sim.q.copy(), sim.v.copy()
    q[2] -= tip + 1e-6
    q[-1] += 1e-6
    v[0], v[2], v[-1] = sideways, -1.0, 2.0
    sim.set_state(q=q, v=v)
    sim.step()
    assert [contact.state for contact in sim.contacts] == ["slip"]
    assert abs(float(sim.joints["elbow"].velocity)) < 1e-9
