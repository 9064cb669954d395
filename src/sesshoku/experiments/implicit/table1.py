"""A box dropped on the floor, by four integrators of the same springs and dampers, over time steps (Table 1, Fig. 2).

The paper's masses, sizes and coefficients are lost; the protocol here is fixed: a cube of 0.2 m and 1 kg, its centre at
0.3 m, tilted by the rotation vector (0.3, 0.15, 0), thrown at 0.5 m/s, on points of 1e5 N/m and 300 N s/m with viscous
friction, for 2 s. *Diverged*: not finite, or more than 10 m away. *Success*: at rest within 1 mm of where it should be,
and kinetic and gravity energy never above 1.05 times the start's. *Unnatural*: finite but neither.
"""

from __future__ import annotations

import time as wall
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sesshoku.errors import SimulationDiverged
from sesshoku.experiments.base import Check, Result, Table
from sesshoku.methods.registry import make
from sesshoku.scene.elements import Material
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation
from sesshoku.spatial.rotation import axis_angle

TITLE = "a box dropped on the floor: explicit Euler, symplectic Euler, RK4 and implicit, over time steps (Table 1)"
STEPS = (0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.0, 7.0, 10.0, 14.0, 20.0, 28.0, 40.0, 50.0)  # ms
BEYOND = (70.0, 100.0)  # ms: implicit only, and only asked not to diverge
INTEGRATORS = ("euler", "symplectic", "rk4", "implicit")
K, D, MASS, EDGE, G, DURATION, MU = 1e5, 300.0, 1.0, 0.2, 9.8, 2.0, 0.5
SUCCESS, UNNATURAL, DIVERGED = "success", "unnatural", "diverged"


@dataclass
class Drop:
    """What became of one drop. Peaks: largest energy over the start's, without and with that of the springs."""

    outcome: str
    peak_mechanical: float
    peak_with_spring: float


def box_drop(friction: float = MU) -> Scene:
    """The tilted cube above the floor."""
    turn = np.array([0.3, 0.15, 0.0])
    scene = Scene(gravity=(0, 0, -G), name="box drop")
    scene.add_ground(material=Material(friction, stiffness=K, damping=D))
    scene.add_box("box", size=(EDGE,) * 3, mass=MASS, position=(0, 0, 0.3), velocity=(0.5, 0, 0),
                  rotation=axis_angle(turn / np.linalg.norm(turn), float(np.linalg.norm(turn))),
                  material=Material(friction))
    return scene


def method(integrator: str) -> Any:
    return make("implicit", {"integrator": integrator, "friction": "viscous", "slip_speed": 1e-2, "max_passes": 4})


def drop(integrator: str, dt: float, duration: float = DURATION, friction: float = MU) -> Drop:
    """One drop, watched at every step. Without friction the cube slides on: it need only be as high as at rest."""
    sim = Simulation(box_drop(friction), method(integrator), dt)
    box, start = sim.bodies["box"], sum(sim.energy)
    highest = with_spring = 1.0
    for _ in range(round(duration / dt)):
        try:
            sim.step()
        except SimulationDiverged:
            return Drop(DIVERGED, np.inf, np.inf)
        energy = sum(sim.energy)
        depths = np.array([max(contact.depth, 0.0) for contact in sim.contacts])
        highest = max(highest, energy / start)
        with_spring = max(with_spring, (energy + 0.5 * K * float(depths @ depths)) / start)
        if not np.abs(box.position).max() < 10.0:
            return Drop(DIVERGED, highest, with_spring)
    at_rest = (abs(box.position[2] - (0.5 * EDGE - MASS * G / (4 * K))) < 1e-3 and (friction == 0.0 or (
        np.linalg.norm(box.velocity) < 0.02 and np.linalg.norm(box.angular_velocity) < 0.1)))
    return Drop(SUCCESS if at_rest and highest <= 1.05 else UNNATURAL, highest, with_spring)


def step_time(integrators: tuple[str, ...] = INTEGRATORS, rounds: int = 60) -> dict[str, float]:
    """Seconds per step of the box at rest, in turns; the least of many rounds."""
    sims = {name: Simulation(box_drop(), method(name), 2e-4) for name in integrators}
    best = dict.fromkeys(sims, np.inf)
    for sim in sims.values():
        sim.step(5000)
    for _ in range(rounds):
        for name, sim in sims.items():
            clock = wall.perf_counter()
            sim.step(200)
            best[name] = min(best[name], (wall.perf_counter() - clock) / 200)
    return best


def largest_success(drops: dict[float, Drop]) -> float:
    """The largest step below which every drop succeeded."""
    last = 0.0
    for dt in sorted(drops):
        if drops[dt].outcome != SUCCESS:
            break
        last = dt
    return last


def run(progress: Callable[[str], None]) -> Result:
    drops: dict[str, dict[float, Drop]] = {}
    for integrator in INTEGRATORS:
        progress(integrator)
        drops[integrator] = {ms: drop(integrator, 1e-3 * ms) for ms in STEPS}
    beyond = {ms: drop("implicit", 1e-3 * ms) for ms in BEYOND}
    limit = {name: largest_success(found) for name, found in drops.items()}
    progress("without friction")
    slick = {name: largest_success({ms: drop(name, 1e-3 * ms, friction=0.0) for ms in STEPS})
             for name in ("euler", "rk4", "implicit")}
    progress("time per step")
    cost = step_time()
    total = {name: cost[name] * DURATION / (1e-3 * limit[name]) if limit[name] > 0.0 else np.inf for name in limit}
    diverged = [ms for ms, found in (drops["implicit"] | beyond).items() if found.outcome == DIVERGED]
    failed = [ms for ms, found in drops["implicit"].items() if ms <= 10.0 and found.outcome != SUCCESS]
    checks = [
        Check("implicit succeeds at every step up to 10 ms: failures", len(failed), 0.0, 0.0),
        Check("implicit diverges at no step up to 100 ms: divergences", len(diverged), 0.0, 0.0),
        Check("largest step, implicit over euler", limit["implicit"] / limit["euler"], 50.0, 0.0, "", "at_least"),
        Check("largest step, implicit over rk4", limit["implicit"] / limit["rk4"], 25.0, 0.0, "", "at_least"),
        Check("without friction, implicit over euler", slick["implicit"] / slick["euler"], 20.0, 0.0, "", "at_least"),
        Check("without friction, implicit over rk4", slick["implicit"] / slick["rk4"], 5.0, 0.0, "", "at_least"),
        Check("euler fails above 3.0 ms, flat on four points; largest success", limit["euler"], 1.4, 0.0, "ms",
              "at_most"),
        Check("rk4 fails above 4.5 ms, flat on four points; largest success", limit["rk4"], 2.8, 0.0, "ms", "at_most"),
        Check("time per step, implicit over euler", cost["implicit"] / cost["euler"], 2.0, 0.0, "", "at_most"),
        Check("time per step, rk4 over euler", cost["rk4"] / cost["euler"], 4.0, 1.0),
        Check("total time at the own limit, implicit over the least of the others",
              total["implicit"] / min(total[name] for name in INTEGRATORS[:-1]), 0.05, 0.0, "", "at_most"),
    ]
    with_spring = {name: max((ms for ms in STEPS if drops[name][ms].outcome == SUCCESS
                              and drops[name][ms].peak_with_spring <= 1.05), default=0.0) for name in INTEGRATORS}
    values = {
        "outcome": {name: {f"{ms:g} ms": found.outcome for ms, found in rows.items()} for name, rows in drops.items()},
        "peak_mechanical": {name: {f"{ms:g} ms": _number(found.peak_mechanical) for ms, found in rows.items()}
                            for name, rows in drops.items()},
        "peak_with_spring": {name: {f"{ms:g} ms": _number(found.peak_with_spring) for ms, found in rows.items()}
                             for name, rows in drops.items()},
        "implicit_beyond": {f"{ms:g} ms": found.outcome for ms, found in beyond.items()},
        "largest_success_ms": limit, "largest_success_with_spring_ms": with_spring, "without_friction_ms": slick,
        "microseconds_per_step": {name: round(1e6 * seconds, 2) for name, seconds in cost.items()},
    }

    def draw(figure: Any) -> None:
        signs = {SUCCESS: ("o", "#2a7f62"), UNNATURAL: ("^", "#c98a1b"), DIVERGED: ("x", "#b3352b")}
        axes = figure.subplots(1, 2, width_ratios=(3, 2))
        for row, name in enumerate(INTEGRATORS):
            for ms, found in drops[name].items():
                shape, color = signs[found.outcome]
                axes[0].plot(ms, row, shape, color=color, markersize=9, fillstyle="none", markeredgewidth=1.8)
        for outcome, (shape, color) in signs.items():
            axes[0].plot([], [], shape, color=color, label=outcome, fillstyle="none", markeredgewidth=1.8)
        axes[0].set_xscale("log")
        axes[0].set_xticks(STEPS[::2], [f"{ms:g}" for ms in STEPS[::2]], fontsize=8)
        axes[0].minorticks_off()
        axes[0].set_yticks(range(len(INTEGRATORS)), INTEGRATORS)
        axes[0].set_ylim(len(INTEGRATORS) - 0.4, -0.6)
        axes[0].set_xlabel("time step [ms]")
        axes[0].set_title("what becomes of the box")
        axes[0].legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3)
        for name in INTEGRATORS:
            peaks = [(ms, found.peak_mechanical) for ms, found in drops[name].items()
                     if np.isfinite(found.peak_mechanical) and found.peak_mechanical < 1e3]
            axes[1].loglog([ms for ms, _ in peaks], [peak for _, peak in peaks], "o-", label=name, markersize=4)
        axes[1].axhline(1.05, color="#404040", linewidth=0.8, linestyle=(0, (1, 1.5)))
        axes[1].set_title("largest kinetic + gravity energy / start")
        axes[1].set_xlabel("time step [ms]")
        axes[1].legend()

    marks = {SUCCESS: "o", UNNATURAL: "△", DIVERGED: "×"}
    rows = [[f"{ms:g}", *(marks[drops[name][ms].outcome] for name in INTEGRATORS)] for ms in STEPS]
    rows += [["time per step, µs", *(f"{1e6 * cost[name]:.2f}" for name in INTEGRATORS)],
             ["largest step, ms", *(f"{limit[name]:g}" for name in INTEGRATORS)],
             ["2 s at that step, ms", *(f"{1e3 * total[name]:.3g}" for name in INTEGRATORS)]]
    table = Table("Table 1: o success, △ unnatural, × diverged", ["step, ms", *INTEGRATORS], rows)
    return Result(checks, draw, values, figure_size=(10.0, 4.0), tables=[table])


def _number(value: float) -> float | str:
    return float(f"{value:.4g}") if np.isfinite(value) else "diverged"
