"""The game without a screen: `game.step(inputs)` advances one step and says how things stand.

All is decided by the inputs alone: the same inputs give the same round, bit for bit.
"""

from __future__ import annotations

from typing import Any

from sesshoku.apps.crane.motion import Inputs, Path
from sesshoku.apps.crane.round import IDLE, SECONDS, Round, State
from sesshoku.apps.crane.scene import HOME, LIMITS, PRIZES, Prize, game_scene
from sesshoku.errors import SimulationDiverged
from sesshoku.methods import registry
from sesshoku.methods.registry import Method
from sesshoku.scene.compiler import compile_scene
from sesshoku.simulation.simulation import Simulation

TIME_STEP = 1.0 / 50.0
#: what the game asks of a method where the player says nothing: contacts a finger's breadth deep at most, since in a
#: step of 1/50 s things fall by 4 mm; time to find the constraint force; joints as wide as fingers are long
CHOSEN: dict[str, dict[str, Any]] = {"springs": {"limit": 0.01, "max_iterations": 400, "joint_axis": "inertia"}}


def game_method(method: str | Method) -> Method:
    """A method as the game uses it: a keyword gets the options of `CHOSEN`."""
    if isinstance(method, Method):
        return method
    keyword = registry.resolve(method).keyword
    return registry.make(keyword, CHOSEN.get(keyword.partition(":")[0], {}))


def playable() -> dict[str, list[str]]:
    """Every method and preset with contact -> why it cannot carry the game (empty: it can)."""
    compiled = compile_scene(game_scene(Path(HOME, LIMITS)))
    return {keyword: registry.obstacles(game_method(keyword), compiled)
            for keyword in registry.keywords() if keyword != "none"}


class Game:
    """A crane game.

        game = Game(method="springs", dt=1/50)
        state = game.step(Inputs.of_keys({"left", "grab"}))
    """

    def __init__(self, method: str | Method = "springs", dt: float = TIME_STEP, *, seconds: float = SECONDS,
                 prizes: tuple[Prize, ...] = PRIZES) -> None:
        self.round = Round(dt, seconds, prizes)
        self.sim = Simulation(self.round.scene, game_method(method), dt)
        self.round.attach(self.sim)
        self._start = self.sim.save()

    def new_round(self) -> State:
        """Everything back to its place."""
        self.sim.restore(self._start)
        self.round.begin()
        return self.state

    def step(self, inputs: Inputs = IDLE) -> State:
        """Advance one step with what is held down. Where physics fails the round is over."""
        if self.round.trouble:
            return self.state
        self.round.before_step(self.sim, inputs)
        try:
            self.sim.step()
        except SimulationDiverged as error:
            self.round.trouble, self.round.over = str(error), True
            return self.state
        self.round.after_step(self.sim)
        return self.state

    @property
    def state(self) -> State:
        return self.round.state

    @property
    def path(self) -> Path:
        return self.round.path


__all__ = ["Game", "game_method", "playable"]
