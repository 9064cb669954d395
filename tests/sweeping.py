"""Functions that sweeps of the tests run, in processes of their own."""

from __future__ import annotations

import math
import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np


def noted(x: float, seed: int, log: str, pause: float = 0.0) -> dict[str, Any]:
    """Leaves a line in a file for every time it is called."""
    with Path(log).open("a") as file:
        file.write(f"{x:g} {seed} {os.getpid()}\n")
    time.sleep(pause)
    return {"product": x * np.random.default_rng(seed).random(), "odd": seed % 2 == 1}


def fragile(x: int, log: str, always: bool = False) -> int:
    """Its process is killed at x = 2: the first time, or always."""
    before = Path(log).read_text().split() if Path(log).is_file() else []
    with Path(log).open("a") as file:
        file.write(f"{x}\n")
    if x == 2 and (always or "2" not in before):
        os.kill(os.getpid(), signal.SIGKILL)
    return 10 * x


def root(x: float) -> float:
    return math.sqrt(x)


def slow(x: float) -> float:
    time.sleep(x)
    return x


def slide(scene: Any, method: str, speed: float, seed: int) -> dict[str, float]:
    """How far a crate slides; the seed throws it a little to the side."""
    import sesshoku as ss

    sim = ss.Simulation(scene, method, 2e-3)
    sim.bodies["crate"].set_velocity((speed, np.random.default_rng(seed).normal(), 0.0))
    sim.step(200)
    x, y, _ = sim.bodies["crate"].position
    return {"x": x, "y": y}
