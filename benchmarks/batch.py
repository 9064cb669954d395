"""Many worlds: a batch against as many simulations stepped in a Python loop, and its cost on one thread."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import sesshoku as ss
from sesshoku.comparison.bench import Comparison, batch_against_simulations
from sesshoku.methods.registry import keywords

WORLDS = 256


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


def measure(say: Callable[[str], Any]) -> tuple[list[Comparison], dict[str, Any]]:
    """Ratios below one: the batch is faster."""
    scene, found = standing(), []
    for method in ("lcp:recommended", "exact"):
        for threads, steps in ((2, 10), (2, 1), (1, 100)):
            say(f"{method}, {threads} threads, step({steps}) ...")
            found.append(batch_against_simulations(scene, method, 1e-3, worlds=WORLDS, threads=threads, steps=steps))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sizes = {method: round(ss.Batch(scene, 1, method, 1e-3).bytes_per_world / 1024) for method in keywords()}
    return found, {"kib_per_world": sizes}
