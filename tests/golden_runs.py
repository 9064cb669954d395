"""Runs whose results are pinned bit for bit: every method and preset on boxes, meshes, robots, loops and heaps.

A run's hash covers the whole state at its end (positions, velocities, time), the contacts' forces and the report, so
that a change of any rounding shows. `python tests/golden_runs.py` writes the hashes of this machine's processor.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np

import linkages
import sesshoku as ss

HASHES = Path(__file__).parent / "golden" / "hashes.json"
EXAMPLES = Path(__file__).parents[1] / "examples"
ALL = ("lcp", "lcp:recommended", "exact", "multipoint", "multipoint:recommended", "volume", "volume:recommended",
       "implicit", "implicit:recommended", "springs", "springs:recommended")


def example(name: str) -> ss.Scene:
    return ss.Scene.read(EXAMPLES / f"{name}.toml")


def heap() -> ss.Scene:
    """Crates, balls and a heart dropped on each other, spinning."""
    rng = np.random.default_rng(3)
    scene = ss.Scene()
    scene.add_ground()
    for n in range(12):
        place = {"position": (0.2 * (n % 2), 0.2 * (n // 2 % 2), 0.2 + 0.25 * (n // 4)),
                 "angular_velocity": rng.normal(size=3)}
        if n % 3 == 2:
            scene.add_sphere(f"ball{n}", radius=0.09, mass=0.5, **place)
        else:
            scene.add_box(f"box{n}", size=(0.2, 0.18, 0.15), mass=1.0 + 0.1 * n, **place)
    return scene


def heart() -> ss.Scene:
    """A concave mesh of convex pieces that falls on an edge."""
    scene = ss.Scene()
    scene.add_ground()
    scene.add_mesh("heart", file=ss.robots.path("heart.stl"), mass=0.2, position=(0, 0, 0.15),
                   rotation=(0.9, 0.3, 0.3, 0.1))
    return scene


def arm() -> ss.Scene:
    """A driven arm that sweeps a crate off its place."""
    scene = ss.Scene()
    scene.add_ground()
    scene.load(ss.robots.path("arm_gripper.xml"))
    scene.add_box("crate", size=(0.2, 0.2, 0.2), mass=2.0, position=(0.5, 0.1, 0.1))
    return scene


SCENES: dict[str, tuple[Callable[[], ss.Scene], float, int]] = {
    "crate_thrown": (lambda: example("crate_thrown"), 2e-3, 150),
    "humanoid_drop": (lambda: example("humanoid_drop"), 1e-3, 120),
    "gripper_and_belt": (lambda: example("gripper_and_belt"), 1e-3, 120),
    "arm_on_limits": (lambda: example("arm_on_limits"), 1e-3, 120),
    "tumbling": (lambda: example("tumbling"), 1e-3, 200),
    "humanoid_servos": (lambda: example("humanoid_servos"), 1e-3, 100),
    "four_bar_in_space": (lambda: linkages.four_bar(linkages.turned(0.3, 0.5, 0.7)), 2e-3, 150),
    "stewart": (lambda: linkages.stewart(linkages.turned(0.3, 0.5, 0.7), np.random.default_rng(5)), 1e-3, 100),
    "heap": (heap, 2e-3, 120),
    "heart": (heart, 1e-3, 200),
    "arm": (arm, 1e-3, 100),
}
RUNS = ([("humanoid_drop", method) for method in ALL]
        + [("crate_thrown", method) for method in ALL]
        + [("gripper_and_belt", method) for method in ("lcp:recommended", "exact", "implicit", "springs:recommended")]
        + [("heap", method) for method in ("lcp", "lcp:recommended", "exact", "multipoint", "volume:recommended",
                                           "implicit", "springs")]
        + [("heart", method) for method in ("exact", "lcp:recommended", "volume", "springs:recommended")]
        + [("four_bar_in_space", method) for method in ("none", "exact", "lcp:recommended", "multipoint:recommended",
                                                        "volume", "implicit")]
        + [("stewart", "exact"), ("stewart", "lcp"), ("arm", "exact"), ("arm", "lcp:recommended"),
           ("arm_on_limits", "exact"), ("arm_on_limits", "none"), ("tumbling", "none"), ("humanoid_servos", "none")])


def machine() -> str:
    """What machine code depends on: the processor as LLVM knows it."""
    return f"{platform.machine()} {llvm.get_host_cpu_name()}"


def digest(scene_name: str, method: str) -> str:
    """Hash of everything a run leaves: state, contacts, report."""
    build, dt, steps = SCENES[scene_name]
    simulation = ss.Simulation(build(), method=method, dt=dt)
    simulation.step(steps)
    made = hashlib.sha256()
    for values in (simulation.q, simulation.v, np.array([simulation.time])):
        made.update(np.ascontiguousarray(values, dtype=np.float64).tobytes())
    for contact in simulation.contacts:
        made.update(np.concatenate([contact.point, contact.force]).astype(np.float64).tobytes())
    made.update(np.array([simulation.report.residual, simulation.report.energy_change], dtype=np.float64).tobytes())
    return made.hexdigest()[:16]


def main() -> None:
    known = json.loads(HASHES.read_text()) if HASHES.exists() else {}
    mine = known.setdefault(machine(), {})
    for scene_name, method in RUNS:
        name = f"{scene_name}/{method}"
        now = digest(scene_name, method)
        print(f"{name:42} {now}" + ("" if mine.get(name, now) == now else f"  was {mine[name]}"), flush=True)
        mine[name] = now
    HASHES.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
