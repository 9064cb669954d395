"""A round of the game: what happens before and after every step of physics, the clock and the score.

It does not step the simulation itself, so that `Game` and the page in the browser play by the same rules. A round
begins with the first key and ends when its time is up or every prize is won.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sesshoku.apps.crane.motion import Inputs, Path
from sesshoku.apps.crane.robot import CLOSE_TORQUE, CRAB, FINGERS, OPEN_TORQUE
from sesshoku.apps.crane.scene import HOME, LIMITS, PRIZES, Prize, game_scene, in_chute
from sesshoku.errors import SceneError
from sesshoku.scene import check

if TYPE_CHECKING:
    from sesshoku.simulation.simulation import Simulation

SECONDS = 90.0
JOINTS = tuple(f"{finger}_{part}" for finger in FINGERS for part in ("hip", "knee"))
IDLE = Inputs()


@dataclass(frozen=True)
class State:
    """How things stand. phase: "ready" (no key yet), "playing", "over"."""

    phase: str
    step: int  # of the round
    time_left: float
    score: int
    won: tuple[str, ...]
    crane: tuple[float, float, float, float]  # x, y, z, turn
    closed: bool
    trouble: str = ""  # why physics failed, if it did


class Round:
    """The rules: `before_step(sim, inputs)`, then a step of `sim`, then `after_step(sim)`; `state` says the rest."""

    def __init__(self, dt: float, seconds: float = SECONDS, prizes: tuple[Prize, ...] = PRIZES) -> None:
        self.dt = check.number(dt, "dt", "crane game", above=0.0)
        self.seconds = check.number(seconds, "seconds", "crane game", above=0.0)
        self.prizes = prizes
        self.path = Path(HOME, LIMITS)
        self.scene = game_scene(self.path, prizes)
        self.begin()

    def begin(self, time: float = 0.0) -> None:
        """A new round; the crane is where it starts, and so must be everything in the simulation."""
        self.path.__dict__.update(Path(HOME, LIMITS, time=time).__dict__)
        self.steps, self.begun, self.over, self.trouble = 0, False, False, ""
        self.inputs = IDLE
        self.won: dict[str, int] = {}  # prize -> the step it was won in

    def attach(self, sim: Simulation) -> None:
        """The simulation to play in, perhaps another one than before, in a copy of the scene."""
        script = sim.scene.bodies[CRAB].motion
        if isinstance(script, Path) and script is not self.path:
            script.__dict__.update(self.path.__dict__)
            self.path = script
        owners = [sim.compiled.frame_names[frame] for frame in sim.model.shape_frame]
        self._crane_shape = np.array([float(name == CRAB or name in JOINTS) for name in owners])

    # ---- a step --------------------------------------------------------------------------------------------------

    def before_step(self, sim: Simulation, inputs: Inputs = IDLE) -> None:
        """Tell crane and fingers what to do."""
        if not isinstance(inputs, Inputs):
            raise SceneError("a step takes Inputs", element="crane game", value=inputs,
                             remedy='give Inputs(x=1.0) or Inputs.of_keys({"right"})')
        self.inputs = IDLE if self.over else inputs
        self.begun = self.begun or self.inputs != IDLE
        drive(sim, CLOSE_TORQUE if self.inputs.grab else OPEN_TORQUE)
        self.path.aim(self.inputs, self.dt, self.load(sim))

    def after_step(self, sim: Simulation) -> None:
        """Crane where it is now, clock, score."""
        self.path.advance(self.dt)
        if not self.begun or self.over:
            return
        self.steps += 1
        for prize in self.prizes:
            if prize.name not in self.won and in_chute(sim.bodies[prize.name].position):
                self.won[prize.name] = self.steps
        self.over = self.time_left <= 0.5 * self.dt or len(self.won) == len(self.prizes)

    def load(self, sim: Simulation) -> np.ndarray:
        """Sum of the contact forces on the crane in the last step (3), N."""
        contacts = sim.records["contacts"]
        count = int(contacts.counts[0])
        shapes, force = contacts.shape[:count], contacts.force[:count]
        sign = self._crane_shape[shapes[:, 1]] - self._crane_shape[shapes[:, 0]]  # forces act on the second
        return sign @ force

    # ---- what is seen --------------------------------------------------------------------------------------------

    @property
    def time_left(self) -> float:
        return max(self.seconds - self.steps * self.dt, 0.0)

    @property
    def score(self) -> int:
        return sum(prize.points for prize in self.prizes if prize.name in self.won)

    @property
    def state(self) -> State:
        phase = "over" if self.over else "playing" if self.begun else "ready"
        x, y, z = (float(value) for value in self.path.position)
        return State(phase, self.steps, self.time_left, self.score, tuple(self.won),
                     (x, y, z, float(self.path.angle)), self.inputs.grab, self.trouble)

    def observe(self, sim: Simulation) -> np.ndarray:
        """All that a player could see, as numbers; `observation_names` says what they are."""
        path, poses, velocities = self.path, sim.body_poses(), sim.body_velocities()
        rows = [sim.compiled.frame_index[prize.name] for prize in self.prizes]
        return np.concatenate([
            path.position, [path.angle], path.velocity, [path.turning],
            [sim.joints[name].position for name in JOINTS], [sim.joints[name].velocity for name in JOINTS],
            *(np.concatenate([poses[row], velocities[row]]) for row in rows)])

    def observation_names(self) -> list[str]:
        axes = ("x", "y", "z", "turn")
        names = [f"crane_{axis}" for axis in axes] + [f"crane_{axis}_speed" for axis in axes]
        names += [*JOINTS, *(f"{joint}_speed" for joint in JOINTS)]
        parts = ("x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz")
        return names + [f"{prize.name}_{part}" for prize in self.prizes for part in parts]


def drive(sim: Simulation, torques: tuple[float, float], fingers: Any = tuple(FINGERS)) -> None:
    """Torques of hip and knee, the same for all the fingers named."""
    for finger in fingers:
        sim.actuators[f"{finger}_hip"].target = torques[0]
        sim.actuators[f"{finger}_knee"].target = torques[1]
