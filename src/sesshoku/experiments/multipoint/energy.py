"""How often a landing gains energy: with (12) to the letter, by default, with friction resolved, with the preset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result
from sesshoku.experiments.multipoint.scenes import land, multipoint

TITLE = "kinetic energy of 5000 random landings of a cube on four corners, before and after"
COUNT = 5000
#: share of landings that gain energy, and the largest gain, where both are known: (label, e) -> (share, ratio)
EXPECTED: dict[tuple[str, float], tuple[float, float]] = {
    ("(12) to the letter", 0.0): (0.46, 1.40),
    ("(12) to the letter", 0.5): (0.99, 4.9),
    ("(12) to the letter", 1.0): (1.0, 10.8),
}
#: the same, at most
BOUNDS = {("paper", 0.0): (0.06, 1.25), ("paper", 0.5): (0.02, 1.45), ("paper", 1.0): (1.0, 4.0),
          ("resolve", 0.0): (0.0, 0.4), ("resolve", 0.5): (0.0, 0.7), ("resolve", 1.0): (1.0, 1.8),
          ("recommended", 0.0): (0.0, 0.4), ("recommended", 0.5): (0.0, 0.7), ("recommended", 1.0): (1.0, 1.8)}
METHODS: dict[str, Any] = {
    # static points keep their slip, and the threshold is a small constant
    "(12) to the letter": multipoint(stick_target="keep", slip_threshold=5e-3),
    "paper": "multipoint",
    "resolve": multipoint(friction_coupling="resolve"),
    "recommended": "multipoint:recommended",
}


def run(progress: Callable[[str], None]) -> Result:
    checks, found = [], {}
    for label, method in METHODS.items():
        for restitution in (0.0, 0.5, 1.0):
            progress(f"{label}, e = {restitution}")
            ratio = found[label, restitution] = land(method, COUNT, restitution=restitution).ratio
            bound = BOUNDS.get((label, restitution))
            share, most = bound or EXPECTED[label, restitution]
            kind, gains = "near" if bound is None else "at_most", float(np.mean(ratio > 1.0 + 1e-9))
            checks += [
                Check(
                    f"landings that gain energy, {label}, e = {restitution}",
                    gains,
                    share,
                    0.03 if bound is None else 0.0,
                    "",
                    kind,
                ),
                Check(
                    f"largest energy ratio, {label}, e = {restitution}",
                    float(ratio.max()),
                    most,
                    0.03 * most if bound is None else 0.0,
                    "",
                    kind,
                ),
            ]

    def draw(figure: Any) -> None:
        axes = figure.subplots(1, 3, sharey=True)
        for axis, restitution in zip(axes, (0.0, 0.5, 1.0), strict=True):
            bins = np.geomspace(1e-3, 20, 90)
            for label in METHODS:
                ratio = found[label, restitution]
                axis.hist(
                    np.maximum(ratio, 1e-3),
                    bins,
                    histtype="step",
                    linewidth=1.4,
                    label=f"{label}: {100 * np.mean(ratio > 1 + 1e-9):.0f} % gain, at most ×{ratio.max():.2f}",
                )
            axis.axvline(1.0, color="#404040", linewidth=0.8, linestyle=(0, (1, 1.5)))
            axis.set_xscale("log")
            axis.set_yscale("log")
            axis.set_ylim(0.7, 6e4)
            axis.set_title(f"e = {restitution}")
            axis.legend(loc="upper left", fontsize=8)
            axis.set_xlabel("kinetic energy after / before")
        axes[0].set_ylabel("landings")

    values = {f"{label}, e = {e}": [float(np.mean(r > 1 + 1e-9)), float(r.max())] for (label, e), r in found.items()}
    return Result(checks, draw, values, figure_size=(12.0, 3.8))
