"""64 worlds of a scene, each from a start of its own: where they are after ten steps.

    python tests/golden_worlds.py [scene ...]      # writes tests/golden/worlds.npz anew, or some scenes' part of it

Contact makes small differences grow: ten steps are what two machines can be held to, to 1e-12. `lcp:recommended` stops
its sweeps at a tolerance that a rounding may decide; here it goes on until nothing changes.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import golden_runs
import sesshoku as ss
from sesshoku.methods.registry import Method, make, resolve

FILE = Path(__file__).parent / "golden" / "worlds.npz"
WORLDS, STEPS, DT = 64, 10, 1e-3


def standing() -> ss.Scene:
    """The large humanoid on its feet, servos holding its stance, without sensors."""
    scene = ss.Scene(name="large humanoid standing")
    scene.add_ground()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ss.UnsupportedFeature)
        scene.load(ss.robots.path("humanoid_large.xml"), pose="stand")
    scene.sensors.clear()
    scene.state_sensors.clear()
    return scene


SCENES = {"standing": (standing, ("none", "lcp", "lcp:recommended", "exact", "implicit", "multipoint")),
          "varied": (standing, ("lcp:recommended", "exact")),
          "heap": (golden_runs.heap, ("lcp:recommended", "exact")),
          "arm": (golden_runs.arm, ("lcp:recommended", "exact"))}


#: how worlds of "varied" differ
VARY = {"mass": 0.2, "inertia": 0.1, "friction": (0.3, 0.9), "gain": 0.1, "armature": 0.2, "gravity": (8.0, 11.0)}


def method_of(keyword: str) -> Method:
    """The method as it is here."""
    if keyword == "lcp:recommended":
        return make(keyword, {"tolerance": 1e-14, "max_sweeps": 3000, "visit_budget": 0})
    return resolve(keyword)


def starts(q: np.ndarray, v: np.ndarray, worlds: int, seed: int = 7) -> tuple[np.ndarray, np.ndarray]:
    """Of a robot: joints off by 0.04 rad, up to 2 cm above the ground, a little tilted, moving at 0.1 rad/s and m/s."""
    rng = np.random.default_rng(seed)
    q, v = np.tile(q, (worlds, 1)), np.tile(v, (worlds, 1))
    q[:, 7:] += rng.normal(scale=0.04, size=q[:, 7:].shape)
    q[:, 2] += rng.uniform(0.0, 0.02, worlds)
    turn = np.concatenate([np.ones((worlds, 1)), rng.normal(scale=0.02, size=(worlds, 3))], axis=1)
    q[:, 3:7] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    return q, v + rng.normal(scale=0.1, size=v.shape)


def begun(scene: ss.Scene, name: str, method: str, **given: Any) -> ss.Batch:
    """The worlds at their starts; of others than the robot velocities differ alone."""
    batch = ss.Batch(scene, WORLDS, method_of(method), DT, vary=VARY if name == "varied" else None, **given)
    q, v = starts(batch.compiled.q, batch.compiled.v, WORLDS) if name in ("standing", "varied") else (
        batch.compiled.q, batch.compiled.v + np.random.default_rng(7).normal(scale=0.1, size=batch.v.shape))
    batch.q, batch.v = q, v
    return batch


def golden() -> dict[str, np.ndarray]:
    """"standing exact q" -> (64, Q), "standing exact v" -> (64, V), and so on."""
    if not FILE.exists():
        return {}
    with np.load(FILE) as file:
        return dict(file)


def main() -> None:
    found = golden() if sys.argv[1:] else {}
    for name in sys.argv[1:] or SCENES:
        make_scene, methods = SCENES[name]
        for method in methods:
            batch = begun(make_scene(), name, method)
            batch.step(STEPS)
            found[f"{name} {method} q"], found[f"{name} {method} v"] = batch.q.copy(), batch.v.copy()
            print(name, method, "contacts", batch.contact_count.mean(), "converged", batch.converged.mean(), flush=True)
    np.savez_compressed(FILE, **found)


if __name__ == "__main__":
    main()
