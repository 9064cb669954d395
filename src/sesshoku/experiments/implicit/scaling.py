"""Time of a step against the number of links: chains of 20 to 2,000 links by assembly, beside the mass matrix's way.

The chain hangs and swings from a fixed post. `implicit` steps it by assembly and disassembly; the composite-rigid-body
algorithm and the factorisation of its mass matrix, which other methods use, grow with depth as well. With contacts: the
same chain lies on the floor, every link touching it, as the paper's O(N) has it; and folded in the middle, so that
every link of the upper half touches one of the lower, which the paper does not speak of.
"""

from __future__ import annotations

import time as wall
from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result
from sesshoku.scene.elements import Geometry, Inertial, Joint, Material
from sesshoku.scene.geometry.shapes import Sphere
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation
from sesshoku.stages.free_motion import joint_space_inertia

TITLE = "time per step against the number of links: chains of 20 to 2,000, swinging, lying, folded; mass matrix"
LENGTHS = (20, 50, 100, 200, 500, 1000, 2000)
MATRIX_LENGTHS = (20, 50, 100, 200, 500)  # beyond, the factorisation takes minutes
FOLDED_LENGTHS = (20, 40, 80, 160)
RADIUS = 0.03


def chain(links: int) -> Scene:
    """Links of 0.1 m, hinged across each other in turn."""
    scene = Scene(gravity=(0, 0, -9.8), name=f"chain of {links}")
    parent = None
    for n in range(links):
        scene.add_body(f"link{n}", parent=parent, position=(0, 0, 0 if n == 0 else -0.1),
                       joint=Joint("revolute", axis=(n % 2, 1 - n % 2, 0), position=0.3 if n == 0 else 0.0),
                       inertial=Inertial(0.1, (0, 0, -0.05), 1e-4 * np.eye(3)))
        parent = f"link{n}"
    return scene


def lying(links: int, folded: bool = False) -> Scene:
    """Balls of 3 cm on joints across the chain, all on the floor; folded: its second half comes back on the first."""
    scene = Scene(gravity=(0, 0, -9.8), name=f"chain of {links} on the floor")
    scene.add_ground(material=Material(0.5, stiffness=1e4, damping=100.0))
    parent = None
    for n in range(links):
        back = folded and n >= links // 2
        place = (0.0, 0.0, RADIUS) if n == 0 else (0.0, 0.0, 2 * RADIUS - 1e-3) if folded and n == links // 2 else (
            -0.1 if back else 0.1, 0.0, 0.0)
        joint = Joint("free") if n == 0 else Joint("revolute", axis=(0, 1, 0), viscous=0.1)
        scene.add_body(f"link{n}", parent=parent, position=place, joint=joint,
                       inertial=Inertial(0.1, matrix=1e-4 * np.eye(3)),
                       geometries=[Geometry(Sphere(RADIUS), material=Material(0.5))])
        parent = f"link{n}"
    return scene


def step_times(lengths: tuple[int, ...], rounds: int = 12, make: Callable[[int], Scene] = chain) -> dict[int, float]:
    """links -> seconds per step of `implicit`, in turns; the least of many rounds."""
    sims = {n: Simulation(make(n), "implicit", 1e-4) for n in lengths}
    best = dict.fromkeys(lengths, np.inf)
    for _ in range(rounds):
        for n, sim in sims.items():
            count = max(2, 4000 // n)
            sim.step(1)
            clock = wall.perf_counter()
            sim.step(count)
            best[n] = min(best[n], (wall.perf_counter() - clock) / count)
    return best


def matrix_times(lengths: tuple[int, ...], rounds: int = 8) -> dict[int, float]:
    """links -> seconds for the mass matrix and its factor."""
    best = dict.fromkeys(lengths, np.inf)
    for n in lengths:
        sim = Simulation(chain(n), "none", 1e-4)
        sim.step(1)
        joint_space_inertia(sim.model, sim.data)
        for _ in range(rounds):
            clock = wall.perf_counter()
            joint_space_inertia(sim.model, sim.data)
            best[n] = min(best[n], wall.perf_counter() - clock)
    return best


def slope(times: dict[int, float]) -> float:
    """Exponent of the growth: slope of the log-log fit."""
    return float(np.polyfit(np.log(list(times)), np.log(list(times.values())), 1)[0])


def run(progress: Callable[[str], None]) -> Result:
    progress("assembly")
    assembly = step_times(LENGTHS)
    progress("lying on the floor")
    contacts = step_times(LENGTHS, make=lying)
    progress("folded")
    folded = step_times(FOLDED_LENGTHS, 4, lambda n: lying(n, folded=True))
    progress("mass matrix")
    matrix = matrix_times(MATRIX_LENGTHS)
    checks = [
        Check("growth exponent, assembly, 20 to 2,000 links", slope(assembly), 1.0, 0.2),
        Check("growth exponent, lying with every link on the floor", slope(contacts), 1.0, 0.2),
        Check("growth exponent, folded, every link on another, 40 to 160 links",
              slope({n: t for n, t in folded.items() if n >= 40}), 4.5, 0.0, "", "at_most"),
        Check("growth exponent, mass matrix and factor, 100 to 500 links",
              slope({n: t for n, t in matrix.items() if n >= 100}), 1.5, 0.0, "", "at_least"),
        Check("2,000 links: time per step", 1e6 * assembly[2000], 0.0, 0.0, "µs", "report"),
    ]

    def draw(figure: Any) -> None:
        axis = figure.add_subplot()
        for times, sign, label in ((assembly, "o-", "implicit: a whole step, swinging"),
                                   (contacts, "v-", "implicit: lying, every link on the floor"),
                                   (folded, "^-", "implicit: folded, every link on another"),
                                   (matrix, "s-", "mass matrix and its factor alone")):
            axis.loglog(list(times), [1e6 * t for t in times.values()], sign, label=label)
        axis.set_xlabel("links of the chain")
        axis.set_ylabel("[µs]")
        axis.set_title("time against the number of links")
        axis.set_xticks(LENGTHS, [str(n) for n in LENGTHS])
        axis.minorticks_off()
        axis.legend(loc="upper left")

    values = {"implicit_us": {str(n): round(1e6 * t, 2) for n, t in assembly.items()},
              "lying_us": {str(n): round(1e6 * t, 2) for n, t in contacts.items()},
              "folded_us": {str(n): round(1e6 * t, 2) for n, t in folded.items()},
              "mass_matrix_us": {str(n): round(1e6 * t, 2) for n, t in matrix.items()}}
    return Result(checks, draw, values, figure_size=(8.0, 4.0))
