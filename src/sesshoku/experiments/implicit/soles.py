"""Rubber soles and a foam mat: what the method is made for, with closed forms.

A humanoid stands on soles of a given stiffness: it sinks by its weight over the stiffness of all points, and swings on
them with their period. A crate falls on a foam mat: it rests as deep as its weight says, and is lowest after half a
period of the damped spring. The same at 1 ms and at 5 ms.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku import robots
from sesshoku.errors import UnsupportedFeature
from sesshoku.experiments.base import Check, Result
from sesshoku.scene.elements import Material
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation

TITLE = "rubber soles and a foam mat: sag, period and rest against closed forms, at 1 and 5 ms"
SOLE_K, SOLE_D, G = 2.5e4, 250.0, 9.8  # per contact point: N/m, N s/m
FOAM_K, FOAM_D, MASS = 2e3, 6.0, 4.0


def on_soles() -> Scene:
    """The large humanoid, its servos holding it, on soles of rubber."""
    scene = Scene(gravity=(0, 0, -G), name="humanoid on rubber soles")
    scene.add_ground(material=Material(0.8, stiffness=SOLE_K, damping=SOLE_D))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnsupportedFeature)
        scene.load(robots.path("humanoid_large.xml"), pose="stand")
    return scene


def on_foam() -> Scene:
    """A crate of 4 kg just above a foam mat."""
    scene = Scene(gravity=(0, 0, -G), name="crate on foam")
    scene.add_ground(material=Material(0.8, stiffness=FOAM_K, damping=FOAM_D))
    scene.add_box("crate", size=(0.3, 0.3, 0.3), mass=MASS, position=(0, 0, 0.15), material=Material(0.8))
    return scene


def stand(dt: float) -> tuple[np.ndarray, float, float, float]:
    """Height of the pelvis over time, mass, deepest point at rest and how far the feet crept in the last second."""
    sim = Simulation(on_soles(), "implicit:recommended", dt)
    course, pelvis, feet = [], sim.bodies["pelvis"], [sim.bodies[f"{side}_foot"] for side in ("left", "right")]
    for _ in range(round(2.0 / dt)):
        sim.step()
        course.append((sim.time, pelvis.position[2]))
    before = [foot.position[:2].copy() for foot in feet]
    sim.step(round(1.0 / dt))
    crept = max(float(np.linalg.norm(foot.position[:2] - place)) for foot, place in zip(feet, before, strict=True))
    load = sum(contact.force[2] for contact in sim.contacts)
    mean = float(np.mean([contact.depth for contact in sim.contacts]))
    return np.array(course), load / G, mean, crept


def bounce(dt: float) -> tuple[np.ndarray, float]:
    """Height of the crate over time, and its half period: from touching to its lowest point, twice."""
    sim = Simulation(on_foam(), "implicit", dt)
    course = []
    for _ in range(round(3.0 / dt)):
        sim.step()
        course.append((sim.time, sim.bodies["crate"].position[2]))
    data = np.array(course)
    return data, float(data[np.argmin(data[:, 1]), 0])


def run(progress: Callable[[str], None]) -> Result:
    checks, stands, bounces = [], {}, {}
    sag = MASS * G / (4 * FOAM_K)
    # from rest, x = sag (1 - e^-at (cos wt + a/w sin wt)): lowest at w t = pi
    a, w = 4 * FOAM_D / (2 * MASS), np.sqrt(4 * FOAM_K / MASS - (4 * FOAM_D / (2 * MASS)) ** 2)
    lowest = np.pi / w
    for dt in (1e-3, 5e-3):
        progress(f"{1e3 * dt:g} ms")
        course, mass, depth, crept = stand(dt)
        stands[dt] = course
        checks += [
            Check(f"soles, {1e3 * dt:g} ms: mean depth against m g / 8 k", 1e3 * depth, 1e3 * mass * G / (8 * SOLE_K),
                  0.02, "mm"),
            Check(f"soles, {1e3 * dt:g} ms: feet creep in a second", 1e3 * crept, 0.1, 0.0, "mm", "at_most"),
        ]
        data, first = bounce(dt)
        bounces[dt] = data
        checks += [
            Check(f"foam, {1e3 * dt:g} ms: depth at rest", 1e3 * (0.15 - data[-1, 1]), 1e3 * sag, 0.01, "mm"),
            Check(f"foam, {1e3 * dt:g} ms: lowest point after", 1e3 * first, 1e3 * lowest, 1.0, "ms"),
        ]

    def draw(figure: Any) -> None:
        axes = figure.subplots(1, 2)
        for dt, course in stands.items():
            axes[0].plot(course[:, 0], 1e3 * (course[:, 1] - course[0, 1]), label=f"{1e3 * dt:g} ms")
        for dt, data in bounces.items():
            axes[1].plot(data[:, 0], 1e3 * (data[:, 1] - 0.15), label=f"{1e3 * dt:g} ms")
        t = np.linspace(0.0, 1.5, 400)
        exact = -sag * (1.0 - np.exp(-a * t) * (np.cos(w * t) + a / w * np.sin(w * t)))
        axes[1].plot(t, 1e3 * exact, color="#404040", linewidth=0.8, linestyle=(0, (1, 1.5)), label="closed form")
        axes[0].set_title("humanoid on rubber soles: pelvis [mm]")
        axes[1].set_title("crate on foam: height [mm]")
        axes[0].set_xlim(0.0, 1.0)
        axes[1].set_xlim(0.0, 1.5)
        for axis in axes:
            axis.set_xlabel("time [s]")
            axis.legend()

    return Result(checks, draw, figure_size=(10.0, 3.6))
