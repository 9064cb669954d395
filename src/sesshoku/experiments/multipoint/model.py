"""The paper's Fig. 2, velocities of a contact point before and after an impact, and Fig. 3, the flow chart of a step.

Fig. 2 is drawn from a run: a small ball without friction lands obliquely, and (11) and (12) are read off it. The boxes
of Fig. 3 name the functions that do what they say; a name that does not exist is a failed check.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result
from sesshoku.scene.elements import Material
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation

TITLE = "the rigid contact model (Fig. 2) and the flow chart of a step, with the functions that do it (Fig. 3)"
BEFORE = np.array([1.0, 0.0, -1.2])  # m/s
RESTITUTION = 0.5
#: step of the paper, what it says, where it stands
FLOW = (
    ("1", "mass matrix H, bias b", "stages.free_motion", "joint_space_inertia"),
    ("2", "collision detection: the set of contact points", "stages.common", "find_points"),
    ("3", "Jacobian of each point", "stages.contact_rows", "side_jacobian"),
    ("4", "velocity of each point after an ideal impact", "methods.multipoint.problem", "choose_target"),
    ("5", "trial impulses: inverse or pseudo-inverse", "methods.multipoint.removal", "removal_loop"),
    ("6", "points that pull leave the set", "methods.multipoint.removal", "drop_offenders"),
    ("7", "did any leave?", "", ""),
    ("8", "kinetic or static friction", "methods.multipoint.friction", "cut_friction"),
    ("9", "acceleration", "stages.contact_forces", "take_impulses"),
    ("10", "integration", "stages.common", "take_over"),
)


def landing(restitution: float = RESTITUTION) -> tuple[np.ndarray, np.ndarray]:
    """Velocities before and after the step in which a frictionless ball meets the floor, without gravity."""
    scene, material = Scene(gravity=(0, 0, 0), name="oblique landing"), Material(0.0, None, restitution)
    scene.add_ground(material=material)
    scene.add_sphere("ball", radius=0.05, mass=1.0, position=(0, 0, 0.05), velocity=tuple(BEFORE), material=material)
    sim = Simulation(scene, "multipoint", 1e-3)
    before = sim.bodies["ball"].velocity.copy()
    sim.step()
    return before, sim.bodies["ball"].velocity.copy()


def missing() -> list[str]:
    """Functions of the flow chart that the package does not have."""
    return [f"{module}.{name}" for _, _, module, name in FLOW
            if module and not hasattr(importlib.import_module(f"sesshoku.{module}"), name)]


def run(progress: Callable[[str], None]) -> Result:
    progress("oblique landing")
    before, after = landing()
    checks = [
        Check("(11): normal velocity after, over -e times before", float(after[2] / (-RESTITUTION * before[2])), 1.0,
              1e-12),
        Check("(12): slip after, over slip before", float(after[0] / before[0]), 1.0, 1e-12),
        Check("functions of the flow chart that do not exist", float(len(missing())), 0.0, 0.0),
    ]

    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2, width_ratios=(1.0, 1.25))
        draw_model(left, before, after)
        draw_flow(right)

    return Result(checks, draw, {"before": before.tolist(), "after": after.tolist()}, figure_size=(11.0, 6.4))


def draw_model(axis: Any, before: np.ndarray, after: np.ndarray) -> None:
    """Fig. 2: a link's corner on the environment, its velocities and their parts along normal and slip."""
    from matplotlib.patches import Polygon

    axis.add_patch(Polygon([(-1.6, -0.75), (1.8, -0.75), (1.8, 0.0), (-1.6, 0.0)], color="#dedede"))
    axis.add_patch(Polygon([(0, 0), (0.75, 1.15), (-0.35, 1.75), (-1.05, 0.75)], facecolor="#d7e6f0",
                           edgecolor="#3060a0"))
    arrows = (("v$_-$", before, "#3060a0", "-"), ("v$_+$", after, "#d04020", "-"),
              ("v$_{\\nu-}\\nu$", before * (0, 0, 1), "#3060a0", ":"), ("v$_{\\nu+}\\nu$", after * (0, 0, 1), "#d04020",
                                                                    ":"))
    for label, v, color, dash in arrows:
        end = np.array([v[0], v[2]])
        axis.annotate("", end, (0, 0), arrowprops={"arrowstyle": "-|>", "color": color, "linestyle": dash, "lw": 1.6})
        axis.text(*(end + (0.06, -0.12 if v[2] < 0 else 0.06)), label, color=color, fontsize=11)
    for label, tip in (("$\\nu$", (-1.3, 0.55)), ("$\\sigma$", (-0.75, 0.0))):
        axis.annotate("", tip, (-1.3, 0.0), arrowprops={"arrowstyle": "-|>", "color": "#404040", "lw": 1.2})
        axis.text(tip[0] - 0.04, tip[1] + 0.07, label, fontsize=11)
    for v, color in ((before, "#3060a0"), (after, "#d04020")):
        axis.plot([v[0], v[0]], [0, v[2]], color=color, linewidth=0.7, linestyle=(0, (1, 2)))
    axis.text(0.32, -0.14, "v$_{\\sigma+}$ = v$_{\\sigma-}$", fontsize=10)
    axis.plot(0, 0, "o", color="#202020", markersize=5)
    axis.text(-0.28, -0.2, "p$_i$", fontsize=11)
    axis.text(-0.45, 0.95, "link", color="#3060a0")
    axis.text(-1.5, -0.65, "environment", color="#606060")
    axis.set_title(f"Fig. 2: rigid contact model, measured, e = {RESTITUTION}")
    axis.set_xlim(-1.6, 1.8)
    axis.set_ylim(-1.45, 1.9)
    axis.set_aspect("equal")
    axis.axis("off")


def draw_flow(axis: Any) -> None:
    """Fig. 3: the boxes from top to bottom, and the way back from 7 to 5 (to 4 in print)."""
    from matplotlib.patches import FancyBboxPatch

    top, pitch, width = len(FLOW) * 1.0, 1.0, 5.4
    place = {}
    for n, (number, says, module, name) in enumerate(FLOW):
        y = top - n * pitch
        place[number] = y
        asks = not module
        axis.add_patch(FancyBboxPatch((0, y - 0.36), width, 0.72, boxstyle="round,pad=0.02" if asks else "square,pad=0",
                                      facecolor="#fbe9d7" if asks else "#eef3f7", edgecolor="#404040", linewidth=0.8))
        axis.text(0.12, y + (0.0 if asks else 0.15), f"{number}  {says}", va="center", fontsize=9)
        if module:
            axis.text(0.42, y - 0.19, f"{module.replace('.', '/')}.py: {name}", va="center", fontsize=7.5,
                      family="monospace", color="#3060a0")
        if n:
            axis.annotate("", (width / 2, y + 0.38), (width / 2, y + pitch - 0.38),
                          arrowprops={"arrowstyle": "-|>", "color": "#404040", "lw": 0.9})
    axis.text(width / 2 + 0.1, place["7"] - 0.5, "no", fontsize=8, va="center")
    side = width + 0.55
    axis.plot([width, side, side], [place["7"], place["7"], place["5"]], color="#404040", linewidth=0.9)
    axis.annotate("", (width, place["5"]), (side, place["5"]),
                  arrowprops={"arrowstyle": "-|>", "color": "#404040", "lw": 0.9})
    axis.text(side + 0.08, 0.5 * (place["7"] + place["5"]), "yes", fontsize=8, va="center")
    axis.set_title("Fig. 3: flow chart of a step")
    axis.set_xlim(-0.1, width + 1.3)
    axis.set_ylim(0.5, top + 0.6)
    axis.axis("off")
