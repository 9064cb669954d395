"""What two choices do on which the paper is silent: the margin at which contacts are found, and the rotors of a bush.

Stepping in place. Contacts that are found too late flicker: noise of the standing feet. Rotors that are larger than RK4
needs hide the bush: force of the landing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from sesshoku.control.walking import footsteps
from sesshoku.experiments.base import Check, Result
from sesshoku.experiments.lcp.stepping import noise, touchdown_peak
from sesshoku.experiments.walking import Walk
from sesshoku.methods.registry import make

TITLE = "sensitivity to the contact margin (noise) and to the rotors of bush feet (landing)"
MARGINS, SHARES, STEPS = np.geomspace(1e-7, 1e-3, 9), (1.0, 1.5, 2.0, 3.0, 5.125, 8.0), 4
EULER = 5.125  # rotor that semi-implicit Euler would need (k dt^2 + 2 c dt), of the one in use


def with_rotors(share: float) -> Walk:
    """Stepping on bush feet whose rotors are so many times those of the model."""
    walk = Walk.plan("large_bush", footsteps.in_place(STEPS))
    for body in walk.scene.bodies.values():
        if "_bush_" in (body.joint.name or ""):
            body.joint = replace(body.joint, armature=share * body.joint.armature)
    return walk


def run(progress: Callable[[str], None]) -> Result:
    rigid = Walk.plan("large", footsteps.in_place(STEPS))
    heard = []
    for margin in MARGINS:
        progress(f"margin {margin:.1e} m")
        heard.append(noise(rigid.run(make("lcp", {"margin": float(margin)}))))
    felt = []
    for share in SHARES:
        progress(f"rotors times {share}")
        felt.append(touchdown_peak(with_rotors(share).run("lcp", True)))
    hard, sound = touchdown_peak(rigid.run("lcp", True)), 100 * np.array(heard)
    checks = [
        Check("noise in double support at 1e-5 m", float(sound[MARGINS.searchsorted(0.99e-5), 0]), 0.2, 0.0,
              "% of the weight", "at_most"),
        Check("noise in double support at 1e-7 m", float(sound[0, 0]), 1.0, 0.0, "% of the weight", "at_least"),
        Check("landing, rigid over bush", hard / felt[0], 1.5, 0.0, "", "at_least"),
        Check("landing, rotor of semi-implicit Euler over ours", felt[SHARES.index(EULER)] / felt[0], 1.3, 0.0, "",
              "at_least"),
    ]

    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        left.loglog(MARGINS, sound[:, 0], "o-", markersize=4, label="rms")
        left.loglog(MARGINS, sound[:, 1], "s-", markersize=4, label="peak")
        left.axvline(1e-5, color="#404040", linewidth=1.0, linestyle=(0, (4, 2)), label="default")
        left.set_title("force above 50 Hz in double support, rigid soles [% of the weight]")
        left.set_xlabel("margin [m]")
        left.legend(fontsize=8)
        right.plot(SHARES, felt, "o-", markersize=4, label="bush feet")
        right.axhline(hard, color="#404040", linewidth=1.0, linestyle=(0, (4, 2)), label="rigid soles")
        right.axvline(EULER, color="#a0a0a0", linewidth=1.0, linestyle=(0, (1, 1.5)), label="what Euler would need")
        right.set_ylim(0.0, None)
        right.set_title("touchdown force [of the weight]")
        right.set_xlabel("rotors, of what RK4 needs")
        right.legend(fontsize=8)

    return Result(checks, draw, {"margins": MARGINS.tolist(), "noise": sound.tolist(), "rotors": list(SHARES),
                                 "touchdown": felt, "rigid": hard}, figure_size=(11.0, 3.6))
