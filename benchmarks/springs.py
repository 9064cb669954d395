"""`springs`: a hand closing on a concave mesh, growth with the number of bodies, a humanoid against MuJoCo."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import sesshoku as ss
from benchmarks.contact import standing, steady
from sesshoku.comparison.bench import Comparison

METHODS = ("springs", "springs:recommended")


def ring(around: int = 16, tube: int = 10, radius: float = 0.045, thickness: float = 0.02) -> tuple[Any, Any]:
    """A torus of around x tube vertices: concave in its hole."""
    u = 2 * np.pi * np.arange(around) / around
    w = 2 * np.pi * np.arange(tube) / tube
    reach = radius + thickness * np.cos(w)[None, :]
    vertices = np.stack([reach * np.cos(u)[:, None], reach * np.sin(u)[:, None],
                         np.broadcast_to(thickness * np.sin(w), (around, tube))], axis=-1).reshape(-1, 3)
    faces = []
    for i in range(around):
        for j in range(tube):
            a, b = i * tube + j, (i + 1) % around * tube + j
            c, d = (i + 1) % around * tube + (j + 1) % tube, i * tube + (j + 1) % tube
            faces += [(a, b, c), (a, c, d)]
    return vertices, np.array(faces)


def hand(solid: tuple[Any, Any] | None = None) -> ss.Scene:
    """Three fingers of three joints on a fixed palm, closing on a ring of 160 vertices (or a solid) on a table."""
    scene = ss.Scene(gravity=(0, 0, -9.8), name="hand on a ring")
    rubber = ss.Material(0.8)
    scene.add_ground(material=rubber)
    vertices, faces = ring() if solid is None else solid
    height = 0.0195 if solid is None else 5e-4 - vertices[:, 2].min()
    scene.add_mesh("ring", vertices, faces=faces, mass=0.3, position=(0, 0, height), material=rubber)
    for n in range(3):
        angle = 2 * np.pi * n / 3
        out = np.array([np.cos(angle), np.sin(angle), 0.0])
        turn = np.array([np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)])
        parent = None
        for k, (length, bend) in enumerate(((0.06, 0.5), (0.05, 0.3), (0.04, 0.3))):
            name = f"finger{n}_{k}"
            mass = 0.05
            inertia = mass / 12.0 * np.array([length**2 + 0.016**2, length**2 + 0.016**2, 2 * 0.016**2])
            place = 0.06 * out + np.array([0, 0, 0.15]) if k == 0 else (0, 0, -(0.06, 0.05)[k - 1])
            scene.add_body(name, parent=parent, position=place, rotation=turn if k == 0 else (1, 0, 0, 0),
                           joint=ss.Joint("revolute", axis=(0, 1, 0), lower=-1.5, upper=1.5, viscous=0.002,
                                          position=[-0.5 if k == 0 else 0.2]),
                           inertial=ss.Inertial(mass, (0, 0, -length / 2), inertia),
                           geometries=[ss.Geometry(ss.Box((0.016, 0.016, length)), position=(0, 0, -length / 2),
                                                   material=rubber)])
            scene.add_actuator(name, "position", kp=0.5, kd=0.25, target=bend)
            parent = name
    return scene


def hand_run(method: str, dt: float, duration: float = 2.0, rounds: int = 5) -> dict[str, Any]:
    """Time per step while the hand closes and holds, share of each stage, real-time factor."""
    sim = ss.Simulation(hand(), method, dt)
    sim.step(0)
    start, steps = sim.save(), round(duration / dt)
    best = np.inf
    for _ in range(rounds):
        sim.restore(start)
        clock = time.perf_counter()
        sim.step(steps)
        best = min(best, (time.perf_counter() - clock) / steps)
    contacts, depth = len(sim.contacts), sim.report.penetration
    sim.restore(start)
    stages = sim.profile(steps)
    total = sum(value for name, value in stages.items() if name != "step")
    return {"microseconds per step": round(1e6 * best, 1), "real-time factor": round(dt / best, 1),
            "share of stages": {name: round(value / total, 3) for name, value in stages.items() if name != "step"},
            "contacts at the end": contacts, "penetration at the end [mm]": round(1e3 * depth, 3)}


def growth(method: str, counts: tuple[int, ...] = (1, 5, 20, 50, 100, 200), dt: float = 1 / 200) -> dict[str, Any]:
    """Microseconds per step of 1 to 200 cubes resting in stacks of at most five, and the exponent of their growth."""
    found = {}
    for count in counts:
        scene = ss.Scene(name=f"{count} cubes")
        scene.add_ground(material=ss.Material(0.5))
        for n in range(count):
            column, level = n // 5, n % 5
            scene.add_box(f"cube{n}", size=(0.1, 0.1, 0.1), mass=1.0, material=ss.Material(0.5),
                          position=(0.2 * (column % 7), 0.2 * (column // 7), 0.05 + 0.1 * level))
        sim = ss.Simulation(scene, method, dt)
        sim.step(round(0.5 / dt))
        best = np.inf
        for _ in range(5):
            clock = time.perf_counter()
            sim.step(10)
            best = min(best, (time.perf_counter() - clock) / 10)
        found[count] = best
    fit = np.polyfit(np.log(counts[2:]), np.log([found[n] for n in counts[2:]]), 1)
    return {"microseconds": {str(n): round(1e6 * t, 1) for n, t in found.items()},
            "exponent from 20 on": round(float(fit[0]), 2)}


def measure(say: Callable[[str], None]) -> tuple[list[Comparison], dict[str, Any]]:
    """Comparisons with MuJoCo, and the rest by name."""
    comparisons, values = [], {}
    for method in METHODS:
        say(f"{method}: hand on a ring")
        for dt in (1 / 50, 1e-3):
            values[f"hand, {method}, dt {dt:g}"] = hand_run(method, dt)
        say(f"{method}: growth")
        values[f"growth, {method}"] = growth(method)
        say(f"{method}: large humanoid standing")
        comparisons += steady(standing(), method, 1e-3, 0.3, rounds=10)
    return comparisons, values
