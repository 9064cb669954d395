"""64 worlds of the large humanoid standing, each from a start of its own: where they are after ten steps.

    python tests/golden_worlds.py [method ...]      # writes tests/golden/worlds.npz anew, or some methods' part of it

Contact makes small differences grow: ten steps are what two machines can be held to, to 1e-12.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import sesshoku as ss

FILE = Path(__file__).parent / "golden" / "worlds.npz"
METHODS = ("none", "lcp", "lcp:recommended", "exact", "implicit", "multipoint")
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


def starts(q: np.ndarray, v: np.ndarray, worlds: int, seed: int = 7) -> tuple[np.ndarray, np.ndarray]:
    """Joints off by 0.04 rad, up to 2 cm above the ground, a little tilted, moving at 0.1 rad/s and m/s; of one world.
    """
    rng = np.random.default_rng(seed)
    q, v = np.tile(q, (worlds, 1)), np.tile(v, (worlds, 1))
    q[:, 7:] += rng.normal(scale=0.04, size=q[:, 7:].shape)
    q[:, 2] += rng.uniform(0.0, 0.02, worlds)
    turn = np.concatenate([np.ones((worlds, 1)), rng.normal(scale=0.02, size=(worlds, 3))], axis=1)
    q[:, 3:7] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    return q, v + rng.normal(scale=0.1, size=v.shape)


def states(scene: ss.Scene, method: str, **given: Any) -> tuple[Any, Any]:
    """(64, Q) and (64, V) after ten steps."""
    batch = ss.Batch(scene, WORLDS, method, DT, **given)
    compiled = batch.compiled
    q, v = starts(compiled.q, compiled.v, WORLDS)
    batch.q, batch.v = q, v
    batch.step(STEPS)
    return batch.q, batch.v


def golden() -> dict[str, np.ndarray]:
    """"exact q" -> (64, Q), "exact v" -> (64, V), and so on."""
    if not FILE.exists():
        return {}
    with np.load(FILE) as file:
        return dict(file)


if __name__ == "__main__":
    found = golden()
    for name in sys.argv[1:] or METHODS:
        found[f"{name} q"], found[f"{name} v"] = states(standing(), name)
        print(name)
    np.savez_compressed(FILE, **found)
