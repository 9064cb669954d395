"""The paper's Figs. 1, 3 and 4: friction directions, the bush feet of a humanoid, and the joints that stand for them.

Fig. 1 is drawn from a run: where a box slides its friction lies along one direction, against the slip; where it rests
it may lie anywhere, here under a push. Figs. 3 and 4 show the bush of the shipped model: three units of rubber and
damper between ankle and sole, and the vertical, pitch and roll joints whose springs hold the same energy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result
from sesshoku.experiments.scenes import crate_on_floor
from sesshoku.robots.bush import Bush
from sesshoku.simulation.simulation import Simulation

TITLE = "directions of friction (Fig. 1), the foot's bushes and the virtual joints that stand for them (Figs. 3, 4)"
HEADING, PUSH = np.radians(35.0), np.radians(-70.0)
MU, EDGE, G = 0.5, 0.2, 9.8


def sliding() -> tuple[np.ndarray, list[Any]]:
    """Slip velocity of a box before a step in which it slides, and its contacts in that step."""
    sim = Simulation(crate_on_floor(1.0, heading=HEADING, static=MU, edge=EDGE), "lcp", 1e-3)
    sim.step(5)
    slip = sim.bodies["crate"].velocity.copy()
    sim.step()
    return slip, sim.contacts


def resting() -> tuple[np.ndarray, list[Any]]:
    """A push of half of what friction holds, and the contacts of the box that rests under it."""
    sim = Simulation(crate_on_floor(static=MU, edge=EDGE), "lcp", 1e-3)
    push = 0.5 * MU * G * np.array([np.cos(PUSH), np.sin(PUSH), 0.0])
    for _ in range(20):
        sim.apply_force("crate", push, point=sim.bodies["crate"].position - (0, 0, EDGE / 2))
        sim.step()
    return push, sim.contacts


def energies(bush: Bush, turn: float = 1e-3) -> dict[str, tuple[float, float]]:
    """Energy of the three units and of the virtual joint by direction, J: 1 mm down, 1 mrad of pitch, of roll."""
    springs, found = bush.springs(), {}
    for direction, move in (("z", lambda x, y: -turn), ("pitch", lambda x, y: -x * turn),
                            ("roll", lambda x, y: y * turn)):
        units = sum(0.5 * bush.stiffness * move(x, y) ** 2 for x, y in bush.units)
        found[direction] = (units, 0.5 * springs[direction][0] * turn**2)
    return found


def run(progress: Callable[[str], None]) -> Result:
    progress("sliding and resting")
    slip, slides = sliding()
    push, rests = resting()
    along = slip[:2] / np.linalg.norm(slip[:2])
    friction = [c.force[:2] / c.normal_force for c in slides]
    total = sum((c.force for c in rests), np.zeros(3))
    checks = [
        Check("sliding: friction over µ N against the slip, least of the points",
              float(min(-f @ along for f in friction) / MU),
              1.0, 1e-6),
        Check("sliding: friction across the slip",
              float(max(abs(f[0] * along[1] - f[1] * along[0]) for f in friction)), 0.0,
              1e-6, "of N"),
        Check("resting: friction of all points against the push, over it",
              float(-total[:2] @ push[:2] / (push @ push)), 1.0,
              1e-6),
    ]
    for direction, (units, joint) in energies(Bush()).items():
        checks.append(Check(f"bush, {direction}: energy of the virtual joint over that of three units", joint / units,
                            1.0,
                            1e-12))

    def draw(figure: Any) -> None:
        top, bottom = figure.subfigures(2, 1)
        left, right = top.subplots(1, 2)
        draw_directions(left, "Fig. 1 (a) sliding: one direction, against the slip", slides, slip, None)
        draw_directions(right, "(b) resting: two axes, both ways, here under a push", rests, None, push)
        left, right = bottom.subplots(1, 2)
        draw_bush(left, Bush())
        draw_joints(right, Bush())

    return Result(checks, draw, {"springs": Bush().springs()}, figure_size=(10.5, 8.6))


def arrow(axis: Any, start: Any, end: Any, color: str, **style: Any) -> None:
    axis.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": color, "lw": 1.6} | style)


def draw_directions(axis: Any, title: str, contacts: list[Any], slip: np.ndarray | None,
                    push: np.ndarray | None) -> None:
    """The box from above: friction at its corners, the slip or the push at its middle."""
    middle = np.mean([c.point[:2] for c in contacts], axis=0)
    corners = sorted((c.point[:2] for c in contacts), key=lambda p: np.arctan2(*(p - middle)[::-1]))
    outline = np.array([*corners, corners[0]])
    axis.plot(*outline.T, color="#3060a0")
    scale = 0.09 / max(np.linalg.norm(c.force[:2]) for c in contacts)
    for c in contacts:
        axis.plot(*c.point[:2], "o", color="#202020", markersize=4)
        arrow(axis, c.point[:2], c.point[:2] + scale * c.force[:2], "#d04020")
        if push is not None:
            for direction in ((1, 0), (0, 1), (-1, 0), (0, -1)):
                arrow(axis, c.point[:2], c.point[:2] + 0.035 * np.array(direction), "#909090", lw=0.8)
    if slip is not None:
        arrow(axis, middle, middle + 0.09 * slip[:2] / np.linalg.norm(slip), "#3060a0")
        axis.text(*(middle + (0.0, -0.03)), "slip", color="#3060a0")
    if push is not None:
        arrow(axis, middle, middle + 0.09 * push[:2] / np.linalg.norm(push), "#3060a0")
        axis.text(*(middle + (0.01, 0.0)), "push", color="#3060a0")
        axis.text(*(corners[0] + (0.0, -0.06)), "grey: ± along two axes, each up to µ N", color="#606060", fontsize=8)
    axis.set_title(title)
    axis.set_xlim(middle[0] - 0.22, middle[0] + 0.22)
    axis.set_ylim(middle[1] - 0.2, middle[1] + 0.2)
    axis.set_aspect("equal")
    axis.axis("off")


def draw_foot(axis: Any, bush: Bush) -> None:
    """Ankle and sole from the side."""
    from matplotlib.patches import Rectangle

    x = bush.center[0]
    axis.add_patch(Rectangle((x - 0.13, -0.105), 0.26, 0.02, color="#9db6c9"))
    axis.add_patch(Rectangle((x - 0.1, -0.045), 0.2, 0.015, color="#c9d6df"))
    axis.add_patch(Rectangle((x - 0.035, -0.03), 0.03, 0.06, color="#c9d6df"))
    axis.plot(x - 0.02, 0.03, "o", color="#404040", markersize=9, fillstyle="none")
    axis.text(x + 0.0, 0.028, "ankle", va="center")
    axis.text(x + 0.14, -0.095, "sole", va="center")
    axis.set_xlim(x - 0.17, x + 0.2)
    axis.set_ylim(-0.16, 0.07)
    axis.set_aspect("equal")
    axis.axis("off")


def draw_bush(axis: Any, bush: Bush) -> None:
    """Fig. 3: three units between ankle and sole, from the side; below from above."""
    draw_foot(axis, bush)
    for px, py in bush.units:
        x, shift = bush.center[0] + px, 0.006 * np.sign(py)
        z = np.linspace(-0.085, -0.045, 40)
        axis.plot(x + shift + 0.006 * np.sin(np.linspace(0, 8 * np.pi, 40)), z, color="#d04020", linewidth=1.3)
        axis.plot(0.55 * (x - bush.center[0]) + bush.center[0] + 0.0, -0.135 + 0.35 * py, "s", color="#d04020",
                  markersize=6)
    axis.text(bush.center[0] + 0.06, -0.135, "from above", fontsize=8, va="center", color="#606060")
    axis.set_title(f"Fig. 3: three units of {bush.stiffness:.0e} N/m and {bush.stiffness * bush.loss:.0f} N s/m")


def draw_joints(axis: Any, bush: Bush) -> None:
    """Fig. 4: what stands for them: a slide and two hinges with springs."""
    draw_foot(axis, bush)
    x, springs = bush.center[0], bush.springs()
    axis.annotate("", (x, -0.043), (x, -0.087), arrowprops={"arrowstyle": "<|-|>", "color": "#d04020", "lw": 1.6})
    axis.plot(x, -0.066, "o", color="#d04020", markersize=12, fillstyle="none", markeredgewidth=1.6)
    axis.plot([x - 0.04, x + 0.04], [-0.066] * 2, color="#d04020", linestyle=(0, (6, 2, 1, 2)))
    for n, (direction, unit) in enumerate((("z", "N/m"), ("pitch", "N m/rad"), ("roll", "N m/rad"))):
        k, c, rotor = springs[direction]
        axis.text(x - 0.15, -0.122 - 0.016 * n, f"{direction}: {k:.3g} {unit}, damper {c:.3g}, rotor {rotor:.3g}",
                  fontsize=8)
    axis.set_title("Fig. 4: one slide and two hinges with the same energy")
