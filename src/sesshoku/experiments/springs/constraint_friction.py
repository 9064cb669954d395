"""How right friction is where the constraint method acts: what the thesis leaves open.

(5.9) takes friction from the spring's force alone, in the penalty region. Here the limit w of the block's contacts
is lowered below the 1 cm that its weight presses its springs in by, so that a growing share of the weight is carried by
the constraint force; the block is thrown, and its deceleration tells the friction that acts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result
from sesshoku.experiments.springs.block import DEPTH, MU, G, block_scene
from sesshoku.methods.registry import make
from sesshoku.simulation.simulation import Simulation

TITLE = "friction while the constraint force carries 0 to 90 % of the weight"
SHARES = (0.0, 0.25, 0.5, 0.75, 0.9)
LAWS = ("spring", "spring+constraint", "coupled")
DT, SPEED, DURATION = 1 / 200, 9.8, 1.0


def friction(law: str, share: float) -> tuple[float, float]:
    """Mean deceleration over mu g, and the share of the weight that the constraint force carried."""
    limit = DEPTH * (1.0 - share) if share > 0.0 else 3.0 * DEPTH
    # it starts pressed in by what the limit lets through; the rest is the constraint's from the first step on
    sim = Simulation(block_scene(SPEED, depth=min(limit, DEPTH)), make("springs", {
        "limit": limit, "friction_normal": law}), DT)
    steps, carried = round(DURATION / DT), []
    settle = steps // 5
    for n in range(steps):
        if n == settle:
            before = float(sim.bodies["block"].velocity[0])
        sim.step()
        held = sim.work.springs.held[sim.work.presses.first:][: len(sim.contacts), 2]
        if n >= settle:
            carried.append(float(held.sum()) / G)
    slowed = (before - float(sim.bodies["block"].velocity[0])) / ((steps - settle) * DT)
    return slowed / (MU * G), float(np.mean(carried))


def run(progress: Callable[[str], None]) -> Result:
    found: dict[str, list[tuple[float, float]]] = {}
    for law in LAWS:
        progress(law)
        found[law] = [friction(law, share) for share in SHARES]
    checks = []
    for law in LAWS:
        for share, (ratio, carried) in zip(SHARES, found[law], strict=True):
            wanted, tolerance = (1.0 - carried, 3e-3) if law == "spring" else (1.0, 1e-3)
            name = f"{law}: friction, {share:.0%} carried by the constraint"
            checks.append(Check(name, ratio, wanted, tolerance, "mu m g"))

    def draw(figure: Any) -> None:
        axis = figure.add_subplot()
        for law, mark in zip(LAWS, ("o-", "s--", "^:"), strict=True):
            axis.plot([100 * carried for _, carried in found[law]], [ratio for ratio, _ in found[law]], mark,
                      label=f'friction_normal="{law}"')
        axis.plot([0, 100], [1, 0], color="#404040", linewidth=0.8, linestyle=(0, (1, 1.5)), label="springs' share")
        axis.set_xlabel("share of the weight carried by the constraint force [%]")
        axis.set_title("friction of a sliding block over mu m g")
        axis.set_ylim(0.0, 1.1)
        axis.legend(loc="lower left")

    values = {law: [{"ratio": ratio, "carried": carried} for ratio, carried in found[law]] for law in LAWS}
    return Result(checks, draw, values, figure_size=(8.0, 4.0))
