"""Time from the shell to the end of the first step, with an empty and with a warm compile cache."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sesshoku.comparison.bench import Comparison
from sesshoku.methods.registry import DEFAULT

WHEEL = "wheel"  # name of its row
SIMPLE = """
import sesshoku as ss
scene = ss.Scene()
scene.add_ground()
scene.add_box("crate", size=(1, 1, 1), mass=1.0, position=(0, 0, 0.5))
sim = ss.Simulation(scene, "METHOD")
sim.step()
"""


def first_step(method: str = "none") -> dict[str, float]:
    """Seconds of wall time of a process that builds a simple scene and makes one step."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"SESSHOKU_CACHE": cache}
        times = []
        for _ in range(4):
            start = time.perf_counter()
            subprocess.run(
                [sys.executable, "-c", SIMPLE.replace("METHOD", method)],
                check=True,
                env=environment,
                stderr=subprocess.DEVNULL,
            )
            times.append(time.perf_counter() - start)
    return {"cold_s": round(times[0], 2), "warm_s": round(min(times[1:]), 2)}


def first_step_from_a_wheel(method: str = DEFAULT) -> dict[str, float]:
    """The same from a wheel in a clean environment with an empty home, of processes one after the other."""
    from tools.wheel import build, install, without_settings

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        python, _ = install(build(place, place / "code"), place / "environment")
        times = []
        for n in range(4):
            home = place / f"home{n}"
            home.mkdir()
            start = time.perf_counter()
            subprocess.run([python, "-c", SIMPLE.replace("METHOD", method)], check=True, env=without_settings(home),
                           cwd=home)
            times.append(time.perf_counter() - start)
    return {"first_s": round(times[0], 2), "best_s": round(min(times), 2)}


def measure(say: Callable[[str], None]) -> tuple[list[Comparison], dict[str, Any]]:
    """The first step, cold and warm: without contact, by default, and with the swiftest method."""
    found = {}
    for method in ("none", DEFAULT, "lcp:recommended"):
        say(f"first step with {method}, cold and warm ...")
        found[method] = first_step(method)
    say(f"first step with {DEFAULT} from a wheel ...")
    found[WHEEL] = first_step_from_a_wheel()
    return [], found
