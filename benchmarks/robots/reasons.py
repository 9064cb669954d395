"""Why a scene moves differently here and in MuJoCo: found by experiments on both, never by guess.

1. Contacts are switched off on both sides. What still differs belongs to the joints; each part of them (loops, drives,
   limits ...) is then taken away from both, and the one whose absence brings them together is named.
2. Otherwise the difference belongs to the contacts: friction and contact parameters are made equal on both sides.
3. MuJoCo is set against itself: a smaller step, stiffer contacts, no creep, a push of 0.1 mm/s. Where its own result
   moves as far as ours lies from it, the file does not fix the motion to that accuracy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np

import sesshoku as ss
from benchmarks.robots.changes import CONTACT_SIDE, CONTACTS, JOINT_SIDE, STIFFER, VARIANTS, Change
from benchmarks.robots.pair import Loaded, Pair, PeerDiverges
from benchmarks.robots.table import centimetres
from sesshoku.scene.io.unsupported import Item, summary

AGREES = 0.03  # m: every body within so much
PUSH = 1e-4  # m/s, rad/s
MOST_EVIDENCE = 3  # of MuJoCo against itself
ROUNDS, NEARER = 3, 0.7  # of things taken away together: how many, and how much nearer each must bring the two
MOTION = "changes the motion: "


def left_out(scene: ss.Scene) -> list[str]:
    """What the reader left out that changes the motion, alike things together."""
    items = [Item(item.partition(": ")[2], item.grade) for item in scene.unsupported if isinstance(item, Item)]
    return [line.removeprefix(MOTION) for line in summary(items) if line.startswith(MOTION)]


class Search:
    """Experiments on one loaded scene that differs by `distance` (m)."""

    def __init__(self, loaded: Loaded, method: str, distance: float, tell: Callable[[str], None]) -> None:
        """tell: is told what is known so far, should the time run out."""
        self.loaded, self.method, self.distance, self.tell = loaded, method, distance, tell

    def apart(self, *changes: Change) -> float:
        """Largest distance of a body after the run with these changes; infinite where ours diverges."""
        method = next((change.method for change in changes if change.method), self.method)

        def change_scene(scene: ss.Scene) -> None:
            for change in changes:
                if change.scene is not None:
                    change.scene(scene)

        def change_model(model: Any) -> None:
            for change in changes:
                change.model(model)

        pair = Pair(self.loaded, method, change_scene=change_scene, change_model=change_model)
        try:
            return float(np.linalg.norm(pair.run_ours() - pair.run_theirs(), axis=1).max())
        except (ss.SimulationDiverged, PeerDiverges):
            return np.inf

    def find(self) -> str:
        """The reason, in words."""
        model = self.loaded.model
        joint_side = [change for change in JOINT_SIDE if change.applies(model)]
        without = self.apart(CONTACTS)
        self.tell(f"of the {'joints' if without > AGREES else 'contacts'} ({centimetres(without)} without contacts)")
        if without > AGREES:
            return "; ".join([self.fewest("of the joints", without, [CONTACTS], joint_side), *self.softness()])
        soft = self.softness()
        self.tell("; ".join([f"of the contacts ({centimetres(without)} without them)", *soft]))
        if any(word.startswith(("agrees", "both agree")) for word in soft):
            return "; ".join([f"of the contacts ({centimetres(without)} without them)", *soft])
        return "; ".join([self.fewest("of the contacts", without, [], [*CONTACT_SIDE, *joint_side]), *soft])

    def fewest(self, side: str, without: float, always: list[Change], candidates: list[Change]) -> str:
        """What has to go for both to agree: one thing, or the best of each round together with what went before."""
        text = f"{side} ({centimetres(without)} without contacts)"
        gone: list[Change] = []
        distances, best = {}, without if always else self.distance
        for _ in range(ROUNDS):
            distances = {change.name: self.apart(*always, *gone, change) for change in candidates if change not in gone}
            found = [name for name, distance in distances.items() if distance <= AGREES]
            if found:
                before = "".join(f"{change.name} and " for change in gone)
                return f"{text}: agrees without {before}{' or without '.join(found)}"
            nearest = min((change for change in candidates if change not in gone), key=lambda c: distances[c.name],
                          default=None)
            if nearest is None or not distances[nearest.name] < NEARER * best:
                break
            gone, best = [*gone, nearest], distances[nearest.name]
        beside = f" beside {' and '.join(change.name for change in gone)}" if gone else ""
        nearest_name = min(distances, key=lambda name: distances[name], default="")
        near = f" (nearest: {centimetres(distances[nearest_name])} without {nearest_name})" if nearest_name else ""
        return f"{text}: no part of it alone{beside} mends it{near}"

    def softness(self) -> list[str]:
        """How far MuJoCo's own result moves, where that is as far as ours lies from it; how near ours comes."""
        base = Pair(self.loaded, self.method)
        try:
            theirs, ours = base.run_theirs(), base.run_ours()
        except PeerDiverges as error:
            return [str(error)]
        except ss.SimulationDiverged:
            return []
        found = []
        for change in VARIANTS:
            pair = Pair(self.loaded, "none", dt=float(self.loaded.model.opt.timestep) * change.step,
                        change_model=change.model)
            try:
                moved_to = pair.run_theirs()
            except PeerDiverges:
                continue
            found += self._moved(theirs, moved_to, ours, f"when {change.name}")
        finer = self.finer()
        if finer <= AGREES:
            found.append("both agree at a quarter of the step, MuJoCo's contacts made stiffer "
                         f"({centimetres(finer)})")
        base.start_peer()
        base.data.qvel[:] += PUSH * np.random.default_rng(1).standard_normal(base.model.nv)
        mujoco.mj_step(base.model, base.data, base.steps)
        found += self._moved(theirs, base.theirs(), ours, "when it is pushed by 0.1 mm/s")
        return sorted(found, key=lambda word: word.startswith("MuJoCo itself"))[:MOST_EVIDENCE]

    def finer(self) -> float:
        """Distance of the two at a quarter of the step, MuJoCo's contacts as stiff as that allows."""
        pair = Pair(self.loaded, self.method, dt=float(self.loaded.model.opt.timestep) / 4, change_model=STIFFER.model)
        try:
            return float(np.linalg.norm(pair.run_ours() - pair.run_theirs(), axis=1).max())
        except (ss.SimulationDiverged, PeerDiverges):
            return np.inf

    def _moved(self, theirs: np.ndarray, moved_to: np.ndarray, ours: np.ndarray, how: str) -> list[str]:
        moved = float(np.linalg.norm(moved_to - theirs, axis=1).max())
        left = float(np.linalg.norm(moved_to - ours, axis=1).max())
        if left <= AGREES:
            return [f"agrees with MuJoCo {how} ({centimetres(left)})"]
        if moved >= 0.5 * self.distance:
            return [f"MuJoCo itself moves by {centimetres(moved)} {how}"]
        return []
