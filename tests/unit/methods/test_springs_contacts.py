"""`springs`: contacts that neither lose each other nor pull. Towers, kicks with closed answers, widths and limits."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.methods.registry import make
from sesshoku.spatial.rotation import quaternion_to_matrix

KEYWORDS = ("springs", "springs:recommended")
everyone = pytest.mark.parametrize("keyword", KEYWORDS)
G = 9.8


def tower(count, size, mass=1.0, offset=0.0):
    """Cubes on each other, every second one off by `offset` of its size."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground()
    for n in range(count):
        scene.add_box(f"cube{n}", size=(size,) * 3, mass=mass, position=(offset * size * (n % 2), 0, size * (n + 0.5)))
    return scene


def deepest(sim, count, size):
    """Overlap of neighbours in a tower, and of the lowest with the floor, by their heights: m."""
    z = np.array([-0.5 * size, *(sim.bodies[f"cube{n}"].position[2] for n in range(count))])
    return float(size - np.diff(z).min())


@pytest.mark.parametrize(("count", "size", "offset"), [(3, 1.0, 0.0), (6, 0.05, 0.1), (10, 0.2, 0.0), (10, 0.2, 0.05)])
def test_towers_stand(count, size, offset):
    """No cube falls through the next: each stays within its limit, for seconds, and no step says otherwise."""
    sim = ss.Simulation(tower(count, size, offset=offset), "springs:recommended", 1e-3)
    worst = 0.0
    for _ in range(30):
        sim.step(50)
        worst = max(worst, deepest(sim, count, size))
        assert sim.report.tunnelling == 0
    assert worst < 0.0105 * size
    top = sim.bodies[f"cube{count - 1}"]
    assert np.abs(top.position[:2] - [offset * size * ((count - 1) % 2), 0]).max() < 0.05 * size


def box_overlap(sim, one, other, size):
    """Least way that parts two cubes, by the axes that can part boxes: m, negative where they are apart."""
    a, b = sim.bodies[one], sim.bodies[other]
    A, B = quaternion_to_matrix(a.rotation), quaternion_to_matrix(b.rotation)
    axes = [*A.T, *B.T, *(np.cross(x, y) for x in A.T for y in B.T)]
    gap, found = b.position - a.position, []
    for axis in axes:
        if np.linalg.norm(axis) > 1e-6:
            n = axis / np.linalg.norm(axis)
            found.append(0.5 * size * (np.abs(A.T @ n).sum() + np.abs(B.T @ n).sum()) - abs(n @ gap))
    return min(found)


@everyone
def test_depth_is_that_of_the_shapes(keyword):
    """A tower that the solver is not given the time to carry: what it reports is how deep the cubes really are."""
    options = vars(ss.methods.resolve(keyword).options) | {"max_iterations": 1, "constraint_solver": "descent"}
    count, size = 6, 0.2
    sim = ss.Simulation(tower(count, size), make("springs", options), 1e-2)
    beyond = 0
    for _ in range(100):
        before = max(box_overlap(sim, f"cube{n}", f"cube{n + 1}", size) for n in range(count - 1))
        sim.step()
        assert sim.report.penetration > 0.9 * before - 1e-6
        beyond += before > 0.012 * size
    assert beyond > 10, "too easy: nothing sank beyond what the shrunken shapes can see"
    assert before < 0.5 * size, "cubes coincide"


@everyone
@pytest.mark.parametrize("dt", [1e-3, 5e-3])
def test_a_crushed_cube_is_never_lost(keyword, dt):
    """A tonne on a kilogram: whether it holds or squeezes the light cube out, no overlap goes unseen."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground()
    for n, mass in enumerate((1.0, 1000.0)):
        scene.add_box(f"cube{n}", size=(0.2, 0.2, 0.2), mass=mass, position=(0, 0, 0.1 + 0.2 * n))
    sim = ss.Simulation(scene, keyword, dt)
    for _ in range(round(2.0 / dt)):
        before = box_overlap(sim, "cube0", "cube1", 0.2)
        sim.step()
        after = box_overlap(sim, "cube0", "cube1", 0.2)  # a step in parts reports the beginning of the last one
        assert sim.report.penetration > 0.9 * min(before, after) - 1e-4
    assert after < 0.03


@everyone
@pytest.mark.parametrize("direction", [(0, 0, 1), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (1, 0, 1), (-1, 0, 1),
                                       (0, 1, 1), (0, -1, 1)], ids=str)
def test_a_kick_is_not_held_back(keyword, direction):
    """20 N s on a kilogram at rest, in one step of 1/50 s: it leaves with what Newton says, but for friction.

    Upwards the floor has no say from the second step on; sideways friction takes mu g dt a step.
    """
    dt, push = 1 / 50, 1000.0 * np.array(direction, dtype=float)
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=ss.Material(0.5))
    scene.add_box("box", size=(2.0, 2.0, 0.5), mass=1.0, position=(0, 0, 0.25), material=ss.Material(0.5))
    sim = ss.Simulation(scene, keyword, dt)
    sim.step(150)
    assert np.abs(sim.v).max() < 1e-3
    sim.apply_force("box", push)
    sim.step()
    first, gone = sim.bodies["box"].velocity, dt * push
    # sideways friction at most; upwards the springs, which the weight has pressed in, carry it for this step at most
    assert first[:2] == pytest.approx(gone[:2], abs=0.5 * G * dt + 1e-6)
    assert gone[2] - G * dt - 1e-6 < first[2] < gone[2] + (1e-6 if direction[2] else 0.02)  # friction tilts it
    sim.step()
    second = sim.bodies["box"].velocity
    if direction[2]:
        assert second == pytest.approx(first - [0, 0, G * dt], abs=1e-9)
    else:
        assert second[:2] == pytest.approx(gone[:2], abs=2 * 0.5 * G * dt + 1e-6)


@everyone
def test_contacts_never_pull_and_explain_the_motion(keyword):
    """Jerked in all directions: no contact force pulls, and with gravity and the push they are the whole of m a."""
    rng = np.random.default_rng(5)
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=ss.Material(0.8))
    scene.add_box("box", size=(0.3, 0.3, 0.2), mass=2.0, position=(0, 0, 0.1), material=ss.Material(0.8))
    sim = ss.Simulation(scene, keyword, 5e-3)
    sim.step(60)
    pulled, touching = 0.0, 0
    for n in range(300):
        push = rng.normal(size=3) * (200.0 if n % 7 == 0 else 10.0)
        before = sim.bodies["box"].velocity
        sim.apply_force("box", push)
        sim.step()
        total = sum((c.force for c in sim.contacts), np.zeros(3))
        touching += len(sim.contacts) > 0
        change = 2.0 * (sim.bodies["box"].velocity - before) / 5e-3
        if sim.report.iterations is not None and not divided(sim):
            assert np.abs(total) + 1e-300 == pytest.approx(np.abs(change - push - [0, 0, -2.0 * G]), abs=1e-6)
        pulled = max(pulled, *(-c.normal @ c.force for c in sim.contacts), 0.0)
    assert pulled < 1e-9 and touching > 100


def divided(sim):
    """Whether the last step was divided: contact forces are then those of its last part."""
    spin = np.linalg.norm(sim.bodies["box"].angular_velocity)
    return spin * 5e-3 > 0.5 * sim.method.options.substep_angle


def rod(length=1.0, side=0.025, angle=0.1):
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_body("rod", joint=ss.Joint("revolute", axis=(0, 1, 0), position=angle), position=(0, 0, 2),
                   inertial=ss.Inertial(1.0, (0, 0, -0.5 * length), np.diag([
                       (length**2 + side**2) / 12, (length**2 + side**2) / 12, side**2 / 6])))
    return scene


@pytest.mark.parametrize("side", [0.025, 0.1])
@everyone
def test_the_period_of_a_pendulum(keyword, side):
    """A rod hung at its end against the closed form 2 pi sqrt(I / m g l) (1 + a^2 / 16), joints of half its width."""
    angle = 0.1
    sim = ss.Simulation(rod(side=side, angle=angle), keyword, 1e-3)
    crossings, last, gap = [], angle, 0.0
    for n in range(4000):
        sim.step()
        now = sim.joints["rod"].position
        gap = max(gap, sim.report.loop_error)
        if last > 0.0 >= now:
            crossings.append((n + last / (last - now)) * 1e-3)
        last = now
    period = np.diff(crossings).mean()
    wanted = 2 * np.pi * np.sqrt(((1 + side**2) / 12 + 0.25) / (G * 0.5)) * (1 + angle**2 / 16)
    assert period == pytest.approx(wanted, rel=1e-3)
    assert gap < 0.05 * 0.5 * side


@everyone
def test_a_thin_plate_rests_on_a_thick_one_within_its_own_limit(keyword):
    """1 % of the thinner: a sheet of 2 mm does not vanish in a block of half a metre."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground()
    scene.add_box("block", size=(0.5, 0.5, 0.5), mass=50.0, position=(0, 0, 0.25))
    scene.add_box("sheet", size=(0.2, 0.2, 0.002), mass=20.0, position=(0, 0, 0.501))
    sim = ss.Simulation(scene, keyword, 1 / 50)
    sim.step(200)
    depth = 0.251 - (sim.bodies["sheet"].position[2] - sim.bodies["block"].position[2])
    assert 0.0 < depth < 1.05 * 0.01 * 0.002


def test_a_limit_wider_than_a_shape_is_warned_of():
    scene = ss.Scene()
    scene.add_ground()
    scene.add_box("sheet", size=(0.2, 0.2, 0.002), mass=0.1, position=(0, 0, 0.1))
    with pytest.warns(UserWarning, match=r"sheet.*0\.002.*limit"):
        ss.Simulation(scene, make("springs", {"limit": 0.01}), 1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ss.Simulation(scene, make("springs", {}), 1e-3)
