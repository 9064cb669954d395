"""Which points carry: the load of a sole by where its centre of pressure is, and a box that tips over its edge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result
from sesshoku.experiments.multipoint.scenes import G
from sesshoku.scene.elements import Geometry, Inertial, Material
from sesshoku.scene.geometry.shapes import Box
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation

TITLE = "load of four points by the centre of pressure, and a box whose centre of mass is outside its edge"
HALF = (0.15, 0.1)  # of the sole, m
DT = 1e-3


def sole() -> Scene:
    """A flat box of 1 kg at rest on four points."""
    scene = Scene(gravity=(0, 0, -G), name="sole")
    scene.add_ground(material=Material(1.0))
    scene.add_box(
        "sole", size=(2 * HALF[0], 2 * HALF[1], 0.04), mass=1.0, position=(0, 0, 0.02), material=Material(1.0)
    )
    return scene


def loads(x: float, y: float, extra: float = 40.0) -> tuple[dict[tuple[int, int], float], float, int]:
    """Normal force by corner (signs of x and y), their sum, and passes, under a load that puts the centre of pressure
    at (x, y)."""
    sim = Simulation(sole(), "multipoint", DT)
    total = G + extra
    point = np.array([x * total / extra, y * total / extra, 0.04])
    sim.apply_force("sole", (0, 0, -extra), point=point)
    sim.step()
    found = {(int(np.sign(c.point[0])), int(np.sign(c.point[1]))): c.normal_force for c in sim.contacts}
    return found, total, sim.report.iterations


def overhanging(offset: float) -> Scene:
    """A box on the floor whose centre of mass is `offset` (m) from its middle along x; its half width is 0.1 m."""
    scene = Scene(gravity=(0, 0, -G), name="overhanging box")
    scene.add_ground(material=Material(1.0))
    scene.add_body(
        "box",
        position=(0, 0, 0.1),
        inertial=Inertial(1.0, (offset, 0, 0), np.eye(3) * 0.01),
        geometries=[Geometry(Box((0.2, 0.2, 0.2)), material=Material(1.0))],
    )
    return scene


def tip(offset: float) -> tuple[np.ndarray, np.ndarray, int, float]:
    """x of the points that carry and of those that do not in the first step, passes, angular acceleration about y."""
    sim = Simulation(overhanging(offset), "multipoint", DT)
    sim.step()
    carries = np.array([c.point[0] for c in sim.contacts if c.normal_force > 0])
    free = np.array([c.point[0] for c in sim.contacts if c.normal_force <= 0])
    return carries, free, sim.report.iterations, float(sim.bodies["box"].angular_velocity[1]) / DT


def run(progress: Callable[[str], None]) -> Result:
    progress("centres of pressure")
    places = np.linspace(-0.14, 0.14, 57)
    y = 0.02
    table = {
        corner: np.array([loads(x, y)[0][corner] for x in places]) for corner in ((-1, -1), (-1, 1), (1, -1), (1, 1))
    }
    total = G + 40.0
    inside = np.abs(places / HALF[0]) + abs(y / HALF[1]) <= 1.0
    error = max(
        float(np.abs(values - 0.25 * total * (1 + i * places / HALF[0] + j * y / HALF[1]))[inside].max())
        for (i, j), values in table.items()
    )
    checks = [
        Check("four points: load against N/4 (1 ± x/a ± y/b)", error, 0.0, 1e-9 * total, "N"),
        Check("sum of the loads beyond it", float(np.abs(sum(table.values()) - total).max()), 0.0, 1e-9 * total, "N"),
    ]
    progress("tipping")
    for offset in (0.05, 0.099, 0.11, 0.15):
        carries, _, passes, turn = tip(offset)
        outside = offset > 0.1
        arm = max(offset - 0.1, 0.0)
        expected = G * arm / (0.01 + arm**2 + 0.1**2) if outside else 0.0  # about the edge, centre of mass 0.1 m above
        checks += [
            Check(
                f"points that carry, centre of mass at {offset} m", float(len(carries)), 2.0 if outside else 4.0, 0.0
            ),
            Check(f"passes, centre of mass at {offset} m", float(passes), 2.0 if outside else 1.0, 0.0),
            Check(
                f"angular acceleration, centre of mass at {offset} m", turn, expected, 1e-9 + 1e-9 * expected, "rad/s²"
            ),
        ]
        if outside:
            checks.append(
                Check(f"the outer edge carries, centre of mass at {offset} m", float(carries.min()), 0.1, 1e-6, "m")
            )

    def draw(figure: Any) -> None:
        axis = figure.add_subplot()
        for (i, j), values in table.items():
            (line,) = axis.plot(places, values, label=f"corner ({'+' if i > 0 else '−'}a, {'+' if j > 0 else '−'}b)")
            axis.plot(
                places,
                0.25 * total * (1 + i * places / HALF[0] + j * y / HALF[1]),
                color=line.get_color(),
                linewidth=0.8,
                linestyle=(0, (1, 1.5)),
            )
        edge = HALF[0] * (1 - y / HALF[1])
        axis.axvspan(-edge, edge, color="#000000", alpha=0.05, linewidth=0)
        axis.axhline(0.0, color="#404040", linewidth=0.6)
        axis.set_title(
            "normal force of four points by the centre of pressure, N/4 (1 ± x/a ± y/b) dotted, y = 0.2 b [N]"
        )
        axis.set_xlabel("centre of pressure along x [m]; grey: where no point would have to pull")
        axis.legend(loc="center right")

    return Result(checks, draw, figure_size=(8.0, 4.0))
