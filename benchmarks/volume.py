"""The `volume` method: a box at rest and the standing humanoid against MuJoCo; growth with faces and with overlaps."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import sesshoku as ss
from benchmarks.contact import standing, steady
from sesshoku.comparison.bench import Comparison

METHODS = ("volume", "volume:recommended")
DT = 1e-3


def box_at_rest() -> ss.Scene:
    """One box on the ground: one overlap."""
    scene = ss.Scene(gravity=(0, 0, -9.8), name="box at rest")
    scene.add_ground(material=ss.Material(0.5))
    scene.add_box("box", size=(0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.1), material=ss.Material(0.5))
    return scene


def prism(sides: int) -> ss.Scene:
    """A prism of so many sides standing on another: 2 sides + 4 faces to intersect, a polygon of `sides` corners."""
    angle = 2 * np.pi * np.arange(sides) / sides
    ring = 0.1 * np.c_[np.cos(angle), np.sin(angle)]
    points = np.array([(x, y, z) for x, y in ring for z in (-0.05, 0.05)])
    scene = ss.Scene(gravity=(0, 0, -9.8), name=f"prisms of {sides} sides")
    scene.add_ground(material=ss.Material(0.5))
    for n in range(2):
        scene.add_convex(f"prism{n}", points, mass=1.0, position=(0, 0, 0.05 + 0.1 * n), material=ss.Material(0.5))
    return scene


def tower(count: int) -> ss.Scene:
    """A stack of boxes: as many overlaps, one island."""
    scene = ss.Scene(gravity=(0, 0, -9.8), name=f"tower of {count}")
    scene.add_ground(material=ss.Material(0.5))
    for n in range(count):
        scene.add_box(f"box{n}", size=(0.2, 0.2, 0.1), mass=1.0, position=(0.004 * (n % 2), 0, 0.05 + 0.1 * n),
                      material=ss.Material(0.5))
    return scene


def step_time(scene: ss.Scene, method: str, settle: int = 30, steps: int = 20, rounds: int = 8) -> tuple[float, int]:
    """Seconds per step at rest, and how many overlaps there are."""
    sim = ss.Simulation(scene, method, DT)
    sim.step(settle)
    best = np.inf
    for _ in range(rounds):
        clock = time.perf_counter()
        sim.step(steps)
        best = min(best, (time.perf_counter() - clock) / steps)
    return float(best), len(sim.contacts)


def measure(say: Callable[[str], None]) -> tuple[list[Comparison], dict[str, Any]]:
    """Comparisons with MuJoCo, and microseconds per step by faces and by overlaps."""
    comparisons: list[Comparison] = []
    for method in METHODS:
        for scene in (box_at_rest(), standing()):
            say(f"{scene.name}, {method}")
            comparisons += steady(scene, method, DT, settle=0.3)
    values: dict[str, Any] = {"faces": {}, "overlaps": {}}
    for sides in (4, 8, 16, 32, 64):
        say(f"prisms of {sides} sides")
        seconds, _ = step_time(prism(sides), "volume:recommended")
        values["faces"][str(2 * sides + 4)] = round(1e6 * seconds, 1)
    for count in (1, 2, 4, 8, 16, 30, 60):
        say(f"tower of {count}")
        seconds, found = step_time(tower(count), "volume:recommended", steps=5, rounds=4)
        values["overlaps"][str(found)] = round(1e6 * seconds, 1)
    counts = [n for n in values["overlaps"] if int(n) >= 4]
    fit = np.polyfit(np.log([int(n) for n in counts]), np.log([values["overlaps"][n] for n in counts]), 1)
    values["exponent from 4 overlaps on"] = round(float(fit[0]), 2)
    return comparisons, values


if __name__ == "__main__":
    found, numbers = measure(print)
    for comparison in found:
        print(comparison)
    print(numbers)
