"""Sensors under every method: readings balance the forces of the step, and reading changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.methods.registry import keywords

G = 9.8
WEIGHT = 3.1 * G
#: newtons and newton metres a sensor at a free base may read; all others: rounding. Runge-Kutta: read at the middle of
#: the step. springs: contact springs press at arms that move within the step
LOOSE = {"lcp": (0.002, 0.08), "springs": (1e-9, 0.1), "springs:recommended": (1e-9, 0.1)}
#: its servos act on bodies as if joints had no gap, which leaves forces that nothing balances: tested with limp joints
UNBALANCED_SERVOS = ("springs", "springs:recommended")


def hopper(sensors: bool = True, height: float = 0.004) -> ss.Scene:
    """A body on a leg with two servos and a broad foot, a little above the ground, leaning."""
    scene = ss.Scene(material=ss.Material(0.7, 0.6))
    scene.add_ground()
    scene.add_box("trunk", size=(0.2, 0.3, 0.2), mass=2.0, position=(0, 0, 0.5 + height), velocity=(0.1, 0.05, 0))
    for name, parent, axis, drop, size, mass in (("leg", "trunk", (0, 1, 0), -0.15, (0.05, 0.05, 0.2), 0.6),
                                                 ("foot", "leg", (1, 0, 0), -0.33, (0.2, 0.16, 0.04), 0.5)):
        scene.add_box(name, size=size, mass=mass, parent=parent, position=(0, 0, drop),
                      joint=ss.Joint("revolute", f"{name}_joint", axis=axis, anchor=(0, 0, 0.05), armature=0.02))
        scene.add_actuator(f"{name}_joint", "position", kp=200.0, kd=4.0)
    scene.exclude_collision("trunk", "foot")
    if sensors:
        scene.add_force_sensor("base", "trunk")
        scene.add_force_sensor("ankle", "foot")
        scene.add_imu("imu", "trunk")
    return scene


def moved(sim: ss.Simulation, steps: int):
    """Steps with changing targets and pushes, one at a time."""
    for n in range(steps):
        if sim.actuators:
            sim.actuators["leg_joint"].target = 0.1 * np.sin(0.02 * n)
        if n % 40 == 20:
            sim.apply_force("trunk", (5, -3, 0), torque=(0.1, 0, 0.2))
        if n % 40 == 30:
            sim.apply_force("foot", (0, 2, -4))
        sim.step()
        yield n


@pytest.mark.parametrize("method", keywords())
def test_nothing_passes_into_a_free_base(method: str) -> None:
    scene = hopper()
    if method in UNBALANCED_SERVOS:
        scene.actuators.clear()
    sim = ss.Simulation(scene, method)
    force, torque = LOOSE.get(method, (1e-9 * WEIGHT, 1e-9 * WEIGHT))
    touched = False
    for n in moved(sim, 200):
        base = sim.sensors["base"]
        assert np.abs(base.force).max() < force, n
        assert np.abs(base.torque).max() < torque, n
        touched = touched or bool(sim.contacts)
    assert touched or method == "none"


@pytest.mark.parametrize("method", [keyword for keyword in keywords() if keyword != "none"])
def test_at_rest_the_ankle_carries_what_stands_on_it(method: str) -> None:
    scene = hopper(height=0.0)
    scene.bodies["trunk"].velocity = np.zeros(3)
    sim = ss.Simulation(scene, method)
    sim.step(2000)
    ankles, contacts, imu = [], [], []
    for _ in range(500):  # the mean: springs never quite rest
        sim.step()
        ankles.append(sim.sensors["ankle"].rotation_matrix @ sim.sensors["ankle"].force)
        contacts.append(sum((c.force if c.bodies[1] == "foot" else -c.force for c in sim.contacts), np.zeros(3)))
        imu.append(sim.sensors["imu"].rotation_matrix @ sim.sensors["imu"].acceleration)
    near = 0.02 if method.startswith(("springs", "implicit")) else 1e-3
    force, contact = np.mean(ankles, axis=0), np.mean(contacts, axis=0)
    assert force == pytest.approx([0, 0, -2.6 * G], abs=near * WEIGHT)  # the leg pushes the foot down
    assert contact == pytest.approx([0, 0, WEIGHT], abs=near * WEIGHT)
    assert contact + force + [0, 0, -0.5 * G] == pytest.approx([0, 0, 0], abs=near * WEIGHT)
    assert np.mean(imu, axis=0) == pytest.approx([0, 0, G], abs=near * G)


@pytest.mark.parametrize("method", keywords())
def test_reading_changes_nothing(method: str) -> None:
    runs = []
    for sensors in (False, True):
        sim = ss.Simulation(hopper(sensors), method)
        for _ in moved(sim, 60):
            pass
        sim.step(20)
        runs.append((sim.q.copy(), sim.v.copy()))
    np.testing.assert_array_equal(runs[0][0], runs[1][0])
    np.testing.assert_array_equal(runs[0][1], runs[1][1])
