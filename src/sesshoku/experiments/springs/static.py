"""Table 8.1 and Fig. 8.6: a block that a growing force tries to move.

Coulomb's law lets it go at mu m g = 4.9 N. The thesis found less, at every step size, and blamed vibration; geometry
says it as well: the pull at the centre unloads the rear springs, whose held anchors break first and hand their load on.
The preset's dragged anchors keep every spring at its bound instead, and slip at 4.9 N.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sesshoku.experiments.base import Check, Result
from sesshoku.experiments.springs.block import CUBE, SLAB, drag, method, slips, threshold

FORCES = (2.45, 3.43, 3.675, 3.92, 4.41, 4.90, 9.80)
STEPS = (50, 100, 200, 400)
THESIS = {2.45: False, 3.43: False, 3.675: False, 3.92: False, 4.41: True, 4.90: True, 9.80: True}
SHAPES = {"slab": SLAB, "cube": CUBE}


def table(progress: Callable[[str], None]) -> Result:
    """Every force at every step size, and the preset 1 % around Coulomb's 4.9 N."""
    found: dict[tuple[int, float], bool] = {}
    checks = []
    for parts in STEPS:
        progress(f"dt = 1/{parts} s")
        for force in FORCES:
            found[parts, force] = slips(force, 1 / parts, method())
            checks.append(Check(f"{force} N at 1/{parts} s slips", float(found[parts, force]), float(THESIS[force]),
                                0.0))
        for force, slides in ((3.43, False), (3.675, True)):  # its rocking is caught where rest begins at 5 mm/s
            checks.append(Check(f"1 m cube, {force} N at 1/{parts} s slips, at rest below 1 mm/s", float(slips(
                force, 1 / parts, method(stick_speed=1e-3), CUBE)), float(slides), 0.0))
        for shape, size in SHAPES.items():
            for force, slides in ((4.851, False), (4.949, True)):
                checks.append(Check(f"recommended, {shape}, {force} N at 1/{parts} s slips", float(slips(
                    force, 1 / parts, method("springs:recommended"), size)), float(slides), 0.0))

    def draw(figure: Any) -> None:
        axis = figure.add_subplot()
        axis.axis("off")
        cells = [["slips" if found[parts, force] else "holds" for force in FORCES] for parts in STEPS]
        cells.append(["slips" if THESIS[force] else "holds" for force in FORCES])
        colors = [["#f4d7c8" if text == "slips" else "#d7e6f0" for text in row] for row in cells]
        drawn = axis.table(cells, cellColours=colors, loc="center", cellLoc="center",
                           colLabels=[f"{force:g} N" for force in FORCES],
                           rowLabels=[f"dt 1/{parts} s" for parts in STEPS] + ["thesis, all dt"])
        drawn.scale(1.0, 1.6)
        axis.set_title(f"Table 8.1, the slab. By geometry its first spring breaks at {threshold(SLAB):.2f} N\n"
                       f"(a 1 m cube's at {threshold(CUBE):.2f} N); Coulomb's law and the preset say 4.9 N")

    values = {f"1/{parts}": {str(force): found[parts, force] for force in FORCES} for parts in STEPS}
    return Result(checks, draw, values, figure_size=(9.0, 3.2))


def traces(progress: Callable[[str], None]) -> Result:
    """Fig. 8.6: x of the block under 3.92 N."""
    checks, rows = [], {}
    for parts in STEPS:
        progress(f"dt = 1/{parts} s")
        rows[parts] = drag(3.92, 1 / parts, method())
        late = rows[parts][rows[parts][:, 0] > 5.0, 1]
        checks.append(Check(f"moved by 15 s, 1/{parts} s", float(late[-1]), 0.01, 0.0, "m", "at_most"))
        spread = float(late.max() - late.min())
        checks.append(Check(f"spread after 5 s, 1/{parts} s", spread, 1e-4, 0.0, "m", "at_most"))

    def draw(figure: Any) -> None:
        axis = figure.add_subplot()
        for (parts, data), dash in zip(rows.items(), ("-", (0, (5, 1.5)), (0, (3, 1.2)), (0, (1, 1.2))), strict=True):
            axis.plot(data[:, 0], 1e3 * data[:, 1], label=f"dt = 1/{parts} s", linestyle=dash)
        axis.set_title("x [mm] of the block, f = 3.92 N reached at 2 s (Fig. 8.6)")
        axis.set_xlabel("time [s]")
        axis.legend(loc="lower right")

    return Result(checks, draw, {}, figure_size=(8.0, 4.0))
