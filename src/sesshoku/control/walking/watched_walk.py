"""`WatchedWalk`: a walker whose walk `sesshoku.compare` can measure: who falls, when and why, slip, ZMP error, forces.

    walk = control.WatchedWalk.of("small")                       # or "large", "large_bush"; stabiliser=True
    ss.compare(walk.scene, controller=walk, time=walk.duration).to_html("walk.html")

On the command line: `sesshoku compare walk`.
"""

from __future__ import annotations

import numpy as np

from sesshoku.comparison.outcome import MEASURES as USUAL
from sesshoku.comparison.outcome import Measure
from sesshoku.control import humanoids
from sesshoku.control.walking import footsteps
from sesshoku.control.walking.gait_log import GaitRecorder
from sesshoku.control.walking.pattern import walk as plan
from sesshoku.control.walking.walker import Walker
from sesshoku.errors import SceneError
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation

NAME = "walk"  # on the command line
#: what follows it there: kind of robot, stabiliser
WALKS = {"": ("small", False), "small": ("small", False), "large": ("large", False), "stabiliser": ("large", True),
         "bush": ("large_bush", False), "bush-stabiliser": ("large_bush", True)}
NAMES = tuple(f"{NAME}/{known}" if known else NAME for known in WALKS)

#: the report's columns
MEASURES = {
    "tilt": Measure("tilt", "rad", "largest angle of the trunk against the vertical", 0),
    "com_error": Measure("COM error", "m", "largest distance of the centre of mass from its plan, x or y", 4),
    "foot_slip": Measure("slip", "m", "farthest a standing sole moved within one single support", 1),
    "zmp_rms": Measure("ZMP error", "m", "rms of the ZMP from contact forces against its reference, the worse of "
                                         "x and y", 2),
    "peak_force": Measure("peak / weight", "", "largest vertical force of both feet over the weight", 3),
    "penetration": Measure("depth", "m", "deepest overlap of two bodies, first 0.05 s left out", 5),
    "contact_energy": Measure("energy by contact", "J", "kinetic energy that impulses gave, against the motion "
                                                        "without them, summed", 6),
    "upright": Measure("upright", "s", "how long it stayed on its feet", 0),
    "unconverged": USUAL["unconverged"],
    "step": USUAL["step"],
}


class WatchedWalk:
    """A controller for `compare`. Its scene starts in the walk's first posture."""

    MEASURES = MEASURES
    PEERS = Walker.PEERS

    def __init__(self, walker: Walker) -> None:
        self.walker, self.scene = walker, walker.biped.scene
        self.duration = walker.pattern.duration
        walker.pattern.start_scene()
        self._log = GaitRecorder(walker)

    @classmethod
    def of(cls, kind: str, *, stabiliser: bool = False) -> WatchedWalk:
        """A shipped humanoid: the small one goes 13 steps ahead, the large ones 19 with turns and backward steps."""
        scene: Scene = humanoids.stage(kind)
        steps = footsteps.forward(12, 0.04) if kind == "small" else footsteps.around()
        pattern = plan(humanoids.biped(scene), steps, humanoids.GAITS[kind])
        scene.name = f"{scene.name} walks {len(steps)} steps{' with stabiliser' if stabiliser else ''}"
        return cls(Walker(pattern, stabiliser))

    @staticmethod
    def knows(name: str) -> bool:
        """Whether it is a walk's name, "walk" or "walk/..." (of a walk that there is or not)."""
        return name.partition("/")[0] == NAME

    @classmethod
    def named(cls, name: str) -> WatchedWalk:
        """Of "walk", "walk/large", "walk/stabiliser" ..."""
        if name not in NAMES:
            raise SceneError("no such walk", element="compare", value=name, remedy=f"there is {', '.join(NAMES)}")
        kind, stabiliser = WALKS[name.partition("/")[2]]
        return cls.of(kind, stabiliser=stabiliser)

    def __call__(self, sim: Simulation) -> None:
        if sim.time == 0.0:
            self._log = GaitRecorder(self.walker)
        self.walker(sim)

    def look(self, sim: Simulation) -> None:
        """After a step; a robot that has fallen is not looked at any longer."""
        if self.walker.fallen_at is None:
            self._log.sample(sim)

    def end(self, diverged: bool = False) -> tuple[dict[str, float], str]:
        """Measures of the run, and how it ended."""
        log = self._log.finish(diverged)
        if not len(log.time):
            return dict.fromkeys(self.MEASURES, float("nan")), ""
        found = log.summary()
        shown = {name: found[name] for name in ("tilt", "com_error", "peak_force", "penetration", "contact_energy")}
        shown |= {"foot_slip": found["slip"], "zmp_rms": float(np.fmax(found["zmp_rms_x"], found["zmp_rms_y"])),
                  "upright": float(log.time[-1])}
        why = log.why()
        return shown, f"{log.end()}; {why}" if why else log.end()


__all__ = ["NAME", "NAMES", "WALKS", "WatchedWalk"]
