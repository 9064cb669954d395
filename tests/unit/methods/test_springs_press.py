"""`springs:recommended` under load: fingers that press with what their drives give, humanoids that stand."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku import robots
from support import sample_count

METHOD = "springs:recommended"
LENGTH, THICK, HEIGHT = 0.06, 0.012, 0.002


def finger(mass, joint, **drive):
    """A finger over a smooth table, 2 mm above it, that turns down or slides down."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_box("table", size=(0.3, 0.3, 0.1), position=(0, 0, -0.05), fixed=True,
                  material=ss.Material(static_friction=0.0, kinetic_friction=0.0))
    inertia = mass / 12 * np.diag([2 * THICK**2, THICK**2 + LENGTH**2, THICK**2 + LENGTH**2])
    scene.add_body("finger", position=(0, 0, THICK / 2 + HEIGHT), joint=joint,
                   inertial=ss.Inertial(mass, (LENGTH / 2, 0, 0), inertia),
                   geometries=[ss.Geometry(ss.Box((LENGTH, THICK, THICK)), position=(LENGTH / 2, 0, 0))])
    scene.add_actuator("finger", **drive)
    return scene


def pressing(sim, steps):
    """Force on the finger and its moment about the hinge, over the last tenth of the steps: means and spreads."""
    seen = []
    for n in range(steps):
        sim.step()
        if n >= 0.9 * steps:
            force = sum((np.asarray(c.force) for c in sim.contacts), np.zeros(3))
            moment = sum(c.force[2] * c.point[0] for c in sim.contacts)
            seen.append((force[2], moment))
    return np.mean(seen, axis=0), np.ptp(seen, axis=0)


@pytest.mark.parametrize("dt", (1 / 50, 1e-3))
@pytest.mark.parametrize("mass", (0.01, 0.05, 0.2, 1.0))
def test_a_finger_presses_with_what_its_drive_gives(mass, dt):
    """At its effort, by gain times error, and with a plain torque: whatever the mass of the finger and the step."""
    steps = round(1.0 / dt)
    turns, slides = ss.Joint("revolute", axis=(0, 1, 0)), ss.Joint("prismatic", axis=(0, 0, -1))

    sim = ss.Simulation(finger(mass, slides, kind="position", kp=5000.0, kd=50.0, target=0.1, effort=60.0), METHOD, dt)
    (force, _), (spread, _) = pressing(sim, steps)
    assert force == pytest.approx(60.0, rel=1e-3) and spread < 0.06

    sim = ss.Simulation(finger(mass, turns, kind="position", kp=200.0, kd=4.0, target=0.9, effort=3.0), METHOD, dt)
    (_, moment), (_, spread) = pressing(sim, steps)
    assert moment == pytest.approx(3.0, rel=0.01) and spread < 0.03
    assert sim.actuator_force[0] == pytest.approx(3.0, rel=1e-9)

    sim = ss.Simulation(finger(mass, turns, kind="position", kp=200.0, kd=4.0, target=0.1), METHOD, dt)
    (_, moment), (_, spread) = pressing(sim, steps)
    wanted = 200.0 * (0.1 - sim.q[0])
    assert 5.0 < wanted < 20.0 and moment == pytest.approx(wanted, rel=0.01) and spread < 0.01 * wanted

    sim = ss.Simulation(finger(mass, turns), METHOD, dt)
    sim.actuator_command[0, 0] = 0.5
    (_, moment), (_, spread) = pressing(sim, steps)
    assert moment == pytest.approx(0.5, rel=0.01) and spread < 0.005


@pytest.mark.parametrize("kind, weight", (("small", 58.8), ("large", 568.4)))
def test_humanoids_stand_on_their_servos(kind, weight):
    """1 ms: for 10 s in the full run. The joints do not open, and the soles bear the weight in every single step."""
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_ground()
    scene.load(robots.path(f"humanoid_{kind}.xml"), pose="stand")
    sim = ss.Simulation(scene, METHOD, 1e-3)
    height = sim.q[2]
    sim.step(1000 * sample_count(2, 10) - 50)
    for _ in range(50):
        sim.step()
        assert sum(c.force[2] for c in sim.contacts) == pytest.approx(weight, rel=0.01)
    assert abs(sim.q[2] - height) < 0.002 and np.abs(sim.q[:2]).max() < 0.005 and abs(sim.q[3]) > 0.9999
    assert sim.report.loop_error < 1e-5


def test_free_motion_under_a_torque_that_turns_far_in_a_step():
    """The inertia lent to such a joint for the solve takes nothing of the torque: omega = tau t / I."""
    mass, tau, dt = 0.05, 0.05, 1 / 50
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_body("link", joint=ss.Joint("revolute", axis=(0, 1, 0)),
                   inertial=ss.Inertial(mass, (0, 0, 0), np.diag([1e-4, 1e-4, 1e-4])))
    scene.add_actuator("link")
    sim = ss.Simulation(scene, METHOD, dt)
    sim.actuator_command[0, 0] = tau
    sim.step()
    assert tau * dt**2 / 1e-4 > 0.1 and sim.v[0] == pytest.approx(tau * dt / 1e-4, rel=2e-3)


@pytest.mark.parametrize("size", [(2, 2, 0.5), (1, 1, 1)], ids=["slab", "cube"])
@pytest.mark.parametrize("dt", [1 / 50, 1 / 150])
def test_a_block_on_springs_by_the_rule_holds_up_to_the_bound_of_friction(size, dt):
    """At 1/50 s the constraint force carries most of its weight: friction of that has no anchor to hold by."""
    def pulled(force):
        scene = ss.Scene(gravity=(0, 0, -9.8), material=ss.Material(0.5))
        scene.add_ground()
        scene.add_box("block", size=size, mass=1.0, position=(0, 0, 0.5 * size[2]))
        sim = ss.Simulation(scene, "springs:recommended", dt)
        sim.step(round(0.5 / dt))
        start = sim.bodies["block"].position[0]
        for n in range(round(8 / dt)):
            sim.apply_force("block", (min(1.0, 0.5 * n * dt) * force, 0, 0))
            sim.step()
        return sim.bodies["block"].position[0] - start, sim.bodies["block"].rotation

    for share, most in ((0.8, 0.01), (0.95, 0.01), (0.99, 0.1)):  # the springs give by 1 cm
        way, quaternion = pulled(share * 4.9)
        assert way < most
        assert abs(quaternion[1:]).max() < 0.01  # nor does it turn
    assert pulled(1.01 * 4.9)[0] > 0.5
