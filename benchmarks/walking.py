"""A whole walking step (control, detection, contact, dynamics) per method; MuJoCo walks the same gait on its servos.

MuJoCo's position servos take one number, so target velocity and feed-forward are folded into it: the same torque. Both
walk in turns of 50 ms, so that a busy machine slows both alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import sesshoku as ss
from sesshoku import control
from sesshoku.comparison.bench import Comparison, mujoco_of
from sesshoku.control.walking import footsteps
from sesshoku.experiments.walking import Walk

DT, TURN = 1e-3, 50
METHODS = ("exact", "lcp", "lcp:recommended", "multipoint", "multipoint:recommended", "implicit",
           "implicit:recommended", "volume", "volume:recommended", "springs", "springs:recommended")
#: what the papers printed: seconds per step
PAPERS = {"multipoint (26 degrees of freedom, Pentium 4, 1.8 GHz)": 4e-3,
          "lcp (36 degrees of freedom, a few tens of contacts, Pentium D, 3.2 GHz)": 1e-3}
#: method and robot of those figures
PRINTED = {("multipoint", "small"): 4e-3, ("lcp", "large"): 1e-3}
#: stages of the methods by what they are about; all others are dynamics
STAGES = {"find contacts": "detection", "find points": "detection", "find": "detection", "build problem": "contact",
          "hold joints": "contact", "solve islands": "contact", "release joints": "contact", "solve": "contact",
          "apply": "contact", "apply wrenches": "contact", "forces": "contact",
          "constrain": "contact", "release": "contact"}


class MujocoWalk:
    """MuJoCo playing the targets of a pattern on its servos."""

    def __init__(self, walk: Walk) -> None:
        import mujoco

        self._mujoco, pattern, biped = mujoco, walk.pattern, walk.pattern.biped
        pattern.start_scene()
        self.model, self.data = mujoco_of(walk.scene, DT)
        names = [biped.compiled.actuator_names[a] for a in biped.actuator]
        self.order = [self.model.actuator(name).id for name in names]
        kp, kd = biped.model.actuator_kp[biped.actuator], biped.model.actuator_kd[biped.actuator]
        q = pattern.q[:, biped.actuator_coordinate]
        v, force = pattern.v[:, biped.actuator_dof], pattern.force[:, biped.actuator_dof]
        self.targets = q + (kd * v + force) / kp

    def step(self, k: int) -> None:
        self.data.ctrl[self.order] = self.targets[min(k, len(self.targets) - 1)]
        self._mujoco.mj_step(self.model, self.data)

    @property
    def height(self) -> float:
        return float(self.data.qpos[2])


def race(walk: Walk, method: str, stabiliser: bool) -> tuple[Comparison, dict[str, Any]]:
    """The whole walk, ours and MuJoCo's in turns; microseconds per step and who stood at the end."""
    peer = MujocoWalk(walk)
    sim, walker = ss.Simulation(walk.scene, method, DT), control.Walker(walk.pattern, stabiliser)
    walker.place(sim)
    walker(sim)
    sim.step(0)
    steps, start = round(walk.pattern.duration / DT), peer.height
    turns, controlled = [], 0.0
    for first in range(0, steps, TURN):
        begin = time.perf_counter()
        for _ in range(TURN):
            clock = time.perf_counter()
            walker(sim)
            controlled += time.perf_counter() - clock
            sim.step()
        middle = time.perf_counter()
        for k in range(first, first + TURN):
            peer.step(k)
        turns.append((middle - begin, time.perf_counter() - middle))
    mine, theirs = np.array(turns).T / TURN
    low, high = np.percentile(mine / theirs, [25, 75])
    whole, control_time, single = float(np.median(mine)), controlled / steps, stages(walk, method)
    label = f"{walk.kind} humanoid, walking step, {method}{', stabiliser' if stabiliser else ''}"
    found = {"whole step [us]": round(1e6 * whole, 2), "split [us]": split(whole, control_time, single),
             "control [us]": round(1e6 * control_time, 2), "times real time": round(DT / whole, 1),
             "end": "upright" if walker.fallen_at is None else f"fell in step {walker.fallen_at[1]}",
             "MuJoCo": "upright" if peer.height > 0.6 * start else "fell",
             "stages [us]": {name: round(1e6 * spent, 2) for name, spent in single.items()}}
    printed = PRINTED.get((method.partition(":")[0], walk.kind))
    if printed is not None:
        found["the paper's step over ours"] = round(printed / whole, 1)
    return Comparison(label, whole, float(np.median(theirs)), "mj_step, same gait and servos",
                      (float(low), float(high))), found


def split(whole: float, controlled: float, single: dict[str, float]) -> dict[str, float]:
    """A whole step [us] by what it does: control, detection, contact, dynamics; the rest are sensors and Python.

    Stages called singly cost more than within a step: their shares of the step are taken.
    """
    step, parts = single["step"], dict.fromkeys(("detection", "contact", "dynamics"), 0.0)
    total = sum(spent for name, spent in single.items() if name != "step") or 1.0
    for name, spent in single.items():
        if name != "step":
            parts[STAGES.get(name, "dynamics")] += spent / total * step
    found = {"control": controlled, **parts, "sensors, calls from Python": max(whole - controlled - step, 0.0)}
    return {name: round(1e6 * spent, 2) for name, spent in found.items()}


def stages(walk: Walk, method: str) -> dict[str, float]:
    """Seconds of each stage of a step in the middle of the first single support."""
    sim, walker, gait = ss.Simulation(walk.scene, method, DT), control.Walker(walk.pattern), walk.pattern.gait
    walker.place(sim)
    for _ in range(round((gait.start + 0.5 * gait.single) / DT)):
        walker(sim)
        sim.step()
    return sim.profile(50)


def measure(say: Callable[[str], None]) -> tuple[list[Comparison], dict[str, Any]]:
    """Comparisons with MuJoCo on the same walk, and the parts of a step."""
    comparisons, numbers = [], {"papers, seconds per step": PAPERS}
    walks = (Walk.plan("small", footsteps.forward(4, 0.04)), Walk.plan("large", footsteps.forward(4, 0.2)))
    for walk in walks:
        for method in METHODS:
            say(f"{walk.kind}, {method}")
            comparison, found = race(walk, method, False)
            comparisons.append(comparison)
            numbers[comparison.name] = found
    say("large, exact, stabiliser")
    comparison, found = race(walks[1], "exact", True)
    comparisons.append(comparison)
    numbers[comparison.name] = found
    return comparisons, numbers


if __name__ == "__main__":
    found, values = measure(print)
    for comparison in found:
        print(comparison)
    print(values)
