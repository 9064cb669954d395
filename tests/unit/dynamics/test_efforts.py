"""Stiff servos at their effort: clipped by what they give at the end of a step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sesshoku as ss

G, MASS, LENGTH, EFFORT = 9.8, 0.5, 0.2, 2.0
METHODS = ("none", "exact", "lcp:recommended", "multipoint:recommended", "volume:recommended", "implicit:recommended")


def arm(kind: str, *, payload: float = 0.0, joint_effort: float = np.inf, **servo: Any) -> ss.Scene:
    """A light rod, level, on a hinge; a point mass at its end."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_body("wall", fixed=True)
    mass = MASS + payload
    scene.add_body("rod", parent="wall", joint=ss.Joint("revolute", axis=(0, -1, 0), effort=joint_effort),
                   inertial=ss.Inertial(mass, (LENGTH, 0, 0), 1e-6 * np.eye(3)))
    scene.add_actuator("rod", kind, **servo)
    return scene


@pytest.mark.nojit
@pytest.mark.parametrize("where", ["actuator", "joint"])
def test_a_velocity_servo_of_large_gain_holds_a_light_link(where: str) -> None:
    """Weight 0.98 N m, effort 2 N m, gain 1e5: pushed, it stops, sinks by what the gain gives way, never rattles."""
    limits: dict[str, Any] = {"effort": EFFORT} if where == "actuator" else {"joint_effort": EFFORT}
    scene = arm("velocity", kd=1e5, **limits)
    scene.joint("rod").velocity = np.array([0.05])
    sim = ss.Simulation(scene, "none", dt=2e-3)
    sim.step(2)
    for _ in range(100):
        sim.step()
        assert abs(sim.v[0]) < 2.0 * MASS * G * LENGTH / 1e5
    assert sim.actuators["rod"].force == pytest.approx(MASS * G * LENGTH, rel=1e-3)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("servo", [{"kind": "velocity", "kd": 1e5}, {"kind": "position", "kp": 1e5, "kd": 1e4},
                                   {"kind": "general", "gain": (1e5, 0, 0), "bias": (0, -1e5, -1e4)}])
def test_what_is_too_heavy_falls(method: str, servo: dict[str, Any]) -> None:
    """A weight of 2.94 N m against an effort of 2 N m: it falls as the rest makes it, and the servo says its effort."""
    scene = arm(**servo, effort=EFFORT, payload=1.0)
    sim = ss.Simulation(scene, method, dt=1e-3)
    sim.step(20)
    inertia = (MASS + 1.0) * LENGTH**2 + 1e-6
    rate = (EFFORT - (MASS + 1.0) * G * LENGTH) / inertia
    assert sim.v[0] == pytest.approx(rate * 0.02, rel=2e-2)
    assert sim.actuators["rod"].force == pytest.approx(EFFORT)


@pytest.mark.parametrize("method", METHODS)
def test_a_stop_from_speed_takes_the_time_the_effort_needs(method: str) -> None:
    """Without gravity, 5 rad/s against an effort of 2 N m: constant deceleration to rest, and rest then."""
    scene = arm("velocity", kd=1e4, effort=EFFORT)
    scene.gravity = (0, 0, 0)
    scene.joint("rod").velocity = np.array([5.0])
    sim = ss.Simulation(scene, method, dt=1e-3)
    rate = EFFORT / (MASS * LENGTH**2 + 1e-6)
    sim.step(20)
    assert sim.v[0] == pytest.approx(5.0 - 0.02 * rate, abs=2e-3)
    sim.step(200)
    assert abs(sim.v[0]) < 0.05
