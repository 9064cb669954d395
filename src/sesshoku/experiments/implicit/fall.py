"""A limp figure of 36 degrees of freedom falls from 0.2 m, at steps from 0.2 to 20 ms.

Joints without servos and limits, with a little damping; contact spheres of 3 cm at the joints' places; soft points. The
implicit step is compared with symplectic Euler of the same springs and dampers: how high the centre of mass is on the
way and in the end, and whether energy ever came from nowhere.

Coarse steps are compared with 0.1 ms where that says something of the step: on the way down, before the figure topples
(three times up to 0.4 s), where the error must be of first order; and at rest, after 4 s. In between it lies propped
on its limbs or kneels, and when it topples from there depends on the step. Four joint dampings. With the least of
them, 0.5, there are two ways to come to lie, 13 mm apart, and the step chooses; with the others there is one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sesshoku import robots
from sesshoku.errors import SimulationDiverged, UnsupportedFeature
from sesshoku.experiments.base import Check, Result
from sesshoku.methods.registry import make
from sesshoku.scene.elements import Geometry, Material
from sesshoku.scene.geometry.shapes import Sphere
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation

TITLE = "a limp figure of 36 degrees of freedom falls: steps from 0.2 to 20 ms"
STEPS = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)  # ms
FINE = 0.1  # ms: what they are compared with
K, D, RADIUS, HEIGHT, DURATION = 2e4, 200.0, 0.03, 0.2, 4.0
DAMPINGS = (0.5, 2.0, 5.0, 20.0)  # of the joints, N m s/rad
HELD = 2.0  # the one that is drawn
WAY = (0.2, 0.3, 0.4)  # s: before it topples
TIMES = (*WAY, DURATION)  # s: when heights are compared
#: joint damping -> how far apart figures of all steps may lie, mm
AT_REST = {0.5: 20.0, 2.0: 0.06, 5.0: 0.15, 20.0: 0.08}
#: joint damping -> error before it topples with 1 ms, mm
ON_THE_WAY = {0.5: 3.0, 2.0: 1.6, 5.0: 1.0, 20.0: 1.6}


def limp_figure(damping: float = HELD) -> Scene:
    """The large humanoid without servos and joint limits, on spheres at its joints."""
    scene = Scene(gravity=(0, 0, -9.8), name="limp figure")
    scene.add_ground(material=Material(0.5, stiffness=K, damping=D))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnsupportedFeature)
        scene.load(robots.path("humanoid_large.xml"), pose="stand")
    scene.bodies["pelvis"].position = scene.bodies["pelvis"].position + (0, 0, HEIGHT)
    scene.actuators.clear()
    for body in scene.bodies.values():
        if body.robot is None:
            continue
        kind = body.joint.kind
        body.geometries = []
        if kind in ("revolute", "continuous"):
            body.joint = replace(body.joint, lower=-np.inf, upper=np.inf, viscous=damping, static_friction=0.0,
                                 kinetic_friction=0.0, stiffness=0.0)
            place = body.joint.anchor
            body.geometries = [Geometry(Sphere(RADIUS), position=place, material=Material(0.5))]
    return scene


@dataclass
class Fall:
    """Heights of the centre of mass at TIMES (NaN once diverged), largest energy over the start's, and the course."""

    heights: np.ndarray
    kinetic: float
    peak: float
    course: list[tuple[float, float]]

    @property
    def diverged(self) -> bool:
        return not np.isfinite(self.kinetic)


def fall(integrator: str, ms: float, damping: float = HELD) -> Fall:
    """One fall, watched at every millisecond."""
    method = make("implicit", {"integrator": integrator, "rate_terms": False, "max_passes": 1})
    sim = Simulation(limp_figure(damping), method, 1e-3 * ms)
    start, steps = sum(sim.energy), round(DURATION / (1e-3 * ms))
    found = Fall(np.full(len(TIMES), np.nan), np.inf, 1.0, [(0.0, float(sim.center_of_mass()[2]))])
    watched = max(1, round(1.0 / ms))  # a millisecond
    marks = {round(t / (1e-3 * ms)): n for n, t in enumerate(TIMES)}
    for n in range(1, steps + 1):
        try:
            sim.step()
        except SimulationDiverged:
            found.peak = np.inf
            return found
        if n % watched == 0:
            found.peak = max(found.peak, float(sum(sim.energy) / start))
        height = float(sim.center_of_mass()[2])
        if n in marks:
            found.heights[marks[n]] = height
        if n % max(1, steps // 200) == 0:
            found.course.append((sim.time, height))
    found.kinetic = float(sim.energy[0])
    return found


def error(row: Fall, fine: Fall) -> float:
    """Root mean square of the heights' differences before the figure topples, mm."""
    return 1e3 * float(np.sqrt(np.mean((row.heights - fine.heights)[: len(WAY)] ** 2)))


def order(errors: dict[float, float]) -> float:
    """Slope of the errors over steps of 0.5 ms and more: finer ones are too near to what they are compared with."""
    steps = [ms for ms in errors if ms >= 5 * FINE]
    return float(np.polyfit(np.log(steps), np.log([errors[ms] for ms in steps]), 1)[0])


def run(progress: Callable[[str], None]) -> Result:
    implicit: dict[float, dict[float, Fall]] = {}
    for damping in DAMPINGS:
        progress(f"implicit, joint damping {damping:g}")
        implicit[damping] = {ms: fall("implicit", ms, damping) for ms in (FINE, *STEPS)}
    progress("symplectic")
    symplectic = {ms: fall("symplectic", ms) for ms in STEPS}
    every = [row for rows in implicit.values() for row in rows.values()]
    way = {d: {ms: error(rows[ms], rows[FINE]) for ms in STEPS} for d, rows in implicit.items()}
    rest = {d: max(1e3 * abs(float(rows[ms].heights[-1] - rows[FINE].heights[-1])) for ms in STEPS)
            for d, rows in implicit.items()}
    orders = {d: order(rows) for d, rows in way.items()}
    checks = [
        Check("implicit, all dampings: falls that diverge", sum(row.diverged for row in every), 0.0, 0.0),
        Check("implicit, all dampings: largest energy over the start's", max(row.peak for row in every), 1.0, 1e-3, "",
              "at_most"),
        Check("symplectic euler diverges at 20 ms", float(symplectic[20.0].diverged), 1.0, 0.0),
    ]
    for d in DAMPINGS:
        checks += [
            Check(f"implicit, damping {d:g}: order of the error before it topples", orders[d], 1.0, 0.15),
            Check(f"implicit, damping {d:g}: that error with 1 ms", way[d][1.0], ON_THE_WAY[d], 0.0, "mm", "at_most"),
            Check(f"implicit, damping {d:g}: at rest, farthest from {FINE:g} ms", rest[d], AT_REST[d], 0.0, "mm",
                  "at_most"),
        ]
    values = {"on_the_way_mm": {f"{d:g}": {f"{ms:g} ms": round(x, 4) for ms, x in rows.items()}
                                for d, rows in way.items()},
              "at_rest_mm": {f"{d:g}": round(x, 4) for d, x in rest.items()},
              "symplectic": {f"{ms:g} ms": "diverged" if row.diverged else round(float(row.heights[-1]), 4)
                             for ms, row in symplectic.items()}}

    def draw(figure: Any) -> None:
        left, right = figure.subfigures(1, 2, width_ratios=(2.0, 1.0))
        axes = left.subplots(1, 2, sharey=True)
        errors = right.subplots()
        for d in DAMPINGS:
            errors.loglog(STEPS, [way[d][ms] for ms in STEPS], "o-", markersize=4,
                          label=f"{d:g} N m s/rad: order {orders[d]:.2f}")
        errors.set_title("error before it topples [mm]")
        errors.set_xlabel("time step [ms]")
        errors.legend(fontsize=8)
        for axis, (name, rows) in zip(axes, (("implicit", implicit[HELD]), ("symplectic", symplectic)), strict=True):
            for ms, row in rows.items():
                course = np.array(row.course)
                if ms != FINE:
                    axis.plot(course[:, 0], course[:, 1], label=f"{ms:g} ms" + (", diverges" if row.diverged else ""))
            axis.set_title(f"{name}: height of the centre of mass [m]")
            axis.set_xlabel("time [s]")
            axis.set_ylim(0.0, 1.2)
            axis.set_xlim(0.0, 1.5)
            axis.legend(title="time step")

    return Result(checks, draw, values, figure_size=(12.0, 4.0))
