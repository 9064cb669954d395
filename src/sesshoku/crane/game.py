"""The game itself, without a screen: `game.step(inputs)` advances one step and says how things stand.

A round begins with the first key and ends when its time is up, every prize is won, or the physics fails. All is decided
by the inputs alone: the same inputs give the same round, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sesshoku.crane.motion import Inputs, Path
from sesshoku.crane.robot import CLOSE_TORQUE, CRAB, FINGERS, OPEN_TORQUE
from sesshoku.crane.scene import HOME, LIMITS, PRIZES, Prize, game_scene, in_chute
from sesshoku.errors import SceneError, SimulationDiverged
from sesshoku.methods import registry
from sesshoku.methods.registry import Method
from sesshoku.scene import check
from sesshoku.scene.compiler import compile_scene
from sesshoku.simulation import Simulation

TIME_STEP = 1.0 / 50.0
ROUND_SECONDS = 90.0
SETTLE_SECONDS = 0.4  # prizes come to rest before the first round is shown
#: what the game asks of a method where it says nothing: thumb-deep contacts, since a step of 1/50 s falls by 4 mm
CHOSEN = {"springs": {"limit": 0.01}}


@dataclass(frozen=True)
class State:
    """How things stand after a step. phase: "ready" (no key yet), "playing", "over"."""

    phase: str
    step: int
    time_left: float
    score: int
    won: tuple[str, ...]
    crane: tuple[float, float, float, float]  # x, y, z, turn
    closed: bool
    trouble: str = ""  # why physics failed, if it did


def game_method(method: str | Method) -> Method:
    """A method as the game uses it: a keyword gets the options of `CHOSEN`."""
    if isinstance(method, Method):
        return method
    keyword = registry.resolve(method).keyword
    return registry.make(keyword, CHOSEN.get(keyword.partition(":")[0], {}))


def playable() -> dict[str, list[str]]:
    """Every method and preset with contact -> why it cannot carry the game (empty: it can)."""
    compiled = compile_scene(game_scene(Path(HOME, LIMITS)))
    found = {}
    for keyword in registry.keywords():
        if keyword != "none":
            found[keyword] = registry.obstacles(game_method(keyword), compiled)
    return found


class Game:
    """A crane game.

        game = Game(method="springs", dt=1/50)
        state = game.step(Inputs.of_keys({"left", "grab"}))
    """

    def __init__(self, method: str | Method = "springs", dt: float = TIME_STEP, *, seconds: float = ROUND_SECONDS,
                 prizes: tuple[Prize, ...] = PRIZES) -> None:
        self.method = game_method(method)
        self.dt = check.number(dt, "dt", "crane game", above=0.0)
        self.seconds = check.number(seconds, "seconds", "crane game", above=0.0)
        self.prizes = prizes
        self.path = Path(HOME, LIMITS)
        self.scene = game_scene(self.path, prizes)
        self.sim = Simulation(self.scene, self.method, self.dt)
        owners = [self.sim.compiled.frame_names[frame] for frame in self.sim.model.shape_frame]
        self._crane_shape = np.array([float(name == CRAB or name.partition("_")[0] in FINGERS) for name in owners])
        self._start = self.sim.save()
        self.new_round()

    def new_round(self) -> State:
        """Everything back to its place; prizes settle before the clock can start."""
        self.sim.restore(self._start)
        fresh = Path(HOME, LIMITS)
        self.path.__dict__.update(fresh.__dict__)
        self._step, self._playing, self._over, self._trouble = 0, 0.0, False, ""
        self._begun, self._closed = False, False
        self._won: dict[str, int] = {}
        for _ in range(round(SETTLE_SECONDS / self.dt)):
            self._advance(Inputs())
        return self.state

    # ---- a step --------------------------------------------------------------------------------------------------

    def step(self, inputs: Inputs | None = None) -> State:
        """Advance one step with what is held down. After the end of a round nothing moves any more."""
        inputs = Inputs() if inputs is None else inputs
        if not isinstance(inputs, Inputs):
            raise SceneError("a step takes Inputs", element="crane game", value=inputs,
                             remedy='give Inputs(x=1.0) or Inputs.of_keys({"right"})')
        if self._over:
            return self.state
        self._begun = self._begun or inputs != Inputs()
        self._advance(inputs)
        self._step += 1
        if self._begun:
            self._playing += self.dt
        self._count()
        if self._playing >= self.seconds - 0.5 * self.dt or len(self._won) == len(self.prizes):
            self._over = True
        return self.state

    def _advance(self, inputs: Inputs) -> None:
        """Crane and fingers told what to do, and one step of physics."""
        self._closed = inputs.grab
        drive(self.sim, CLOSE_TORQUE if inputs.grab else OPEN_TORQUE)
        self.path.aim(inputs, self.dt, self._load())
        try:
            self.sim.step()
        except SimulationDiverged as error:
            self._trouble, self._over = str(error), True
            return
        self.path.advance(self.dt)

    def _load(self) -> np.ndarray:
        """Sum of the contact forces on the crane in the last step (3), N."""
        contacts = self.sim.records["contacts"]
        count = int(contacts.counts[0])
        shapes, force = contacts.shape[:count], contacts.force[:count]
        sign = self._crane_shape[shapes[:, 1]] - self._crane_shape[shapes[:, 0]]  # forces act on the second
        return sign @ force

    def _count(self) -> None:
        """A prize is won when its middle is down in the chute."""
        for prize in self.prizes:
            if prize.name not in self._won and in_chute(self.sim.bodies[prize.name].position):
                self._won[prize.name] = self._step

    # ---- what is seen --------------------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        phase = "over" if self._over else "playing" if self._begun else "ready"
        x, y, z = (float(value) for value in self.path.position)
        return State(phase, self._step, max(self.seconds - self._playing, 0.0), self.score, tuple(self._won),
                     (x, y, z, float(self.path.angle)), self._closed, self._trouble)

    @property
    def score(self) -> int:
        return sum(prize.points for prize in self.prizes if prize.name in self._won)

    @property
    def won(self) -> dict[str, int]:
        """Prize -> the step it was won in."""
        return dict(self._won)

    def observation(self) -> np.ndarray:
        """All that a player could see, as numbers; `observation_names` says what they are."""
        path, sim = self.path, self.sim
        poses, velocities = sim.body_poses(), sim.body_velocities()
        rows = [sim.compiled.frame_index[prize.name] for prize in self.prizes]
        joints = [f"{finger}_{part}" for finger in FINGERS for part in ("hip", "knee")]
        return np.concatenate([
            path.position, [path.angle], path.velocity, [path.turning],
            [sim.joints[name].position for name in joints], [sim.joints[name].velocity for name in joints],
            *(np.concatenate([poses[row], velocities[row]]) for row in rows)])

    def observation_names(self) -> list[str]:
        names = [f"crane_{axis}" for axis in ("x", "y", "z", "turn")]
        names += [f"crane_{axis}_speed" for axis in ("x", "y", "z", "turn")]
        joints = [f"{finger}_{part}" for finger in FINGERS for part in ("hip", "knee")]
        names += joints + [f"{joint}_speed" for joint in joints]
        parts = ("x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz")
        return names + [f"{prize.name}_{part}" for prize in self.prizes for part in parts]


def drive(sim: Simulation, torques: tuple[float, float], fingers: Any = tuple(FINGERS)) -> None:
    """Torques of hip and knee, the same for all the fingers named."""
    for finger in fingers:
        sim.actuators[f"{finger}_hip"].target = torques[0]
        sim.actuators[f"{finger}_knee"].target = torques[1]


__all__ = ["CRAB", "Game", "State", "drive", "game_method", "playable"]
