"""The crane game as an environment: all that a player sees as numbers, the keys as actions, prizes as reward."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from sesshoku.apps.crane.motion import Inputs
from sesshoku.apps.crane.round import Round
from sesshoku.errors import SceneError, SimulationDiverged, UnstableStep, UnsupportedFeature
from sesshoku.gym.env import PICTURE
from sesshoku.gym.laws import choose_laws
from sesshoku.methods.registry import Method
from sesshoku.scene.calls import checked
from sesshoku.simulation.simulation import Simulation

DT, DECIMATION = 2e-3, 25
KEYS = ("x", "y", "z", "turn")


@checked
class CraneEnv(gymnasium.Env):  # type: ignore[misc]
    """Actions: x, y, z and turn of the crane (-1 to 1), and grab (above 0). Reward: points won."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": round(1.0 / (DT * DECIMATION))}  # noqa: RUF012

    def __init__(self, *, method: str | Method | None = None, laws: Sequence[str | Method] | None = None,
                 seconds: float = 60.0, render_mode: str | None = None) -> None:
        if render_mode not in (None, "rgb_array"):
            raise SceneError("no such way to render", element="CraneEnv: render_mode", value=render_mode,
                             remedy='there is "rgb_array"; `sesshoku play crane` is for people')
        self.render_mode, self.laws = render_mode, choose_laws(method, laws, "exact")
        self.round = Round(DT, seconds)
        self._sims: dict[str, Simulation] = {}
        self.sim = self._simulation(self.laws[0])
        size = len(self.round.observe(self.sim))
        self.observation_space = spaces.Box(-np.inf, np.inf, (size,), np.float32)
        self.action_space = spaces.Box(-1.0, 1.0, (len(KEYS) + 1,), np.float32)

    def _simulation(self, law: Method) -> Simulation:
        if law.label not in self._sims:
            with warnings.catch_warnings():
                for kind in (UnsupportedFeature, UnstableStep):
                    warnings.simplefilter("ignore", kind)
                self._sims[law.label] = Simulation(self.round.scene, law, DT)
        sim = self._sims[law.label]
        self.round.begin()
        sim.reset()
        self.round.attach(sim)
        sim.step(0)  # contacts are there to be read
        return sim

    def reset(self, *, seed: int | None = None,
              options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """A new round; prizes lie a little turned, as the seed says."""
        super().reset(seed=seed)
        self.sim = self._simulation(self.laws[int(self.np_random.integers(len(self.laws)))])
        for prize in self.round.prizes:
            angle = self.np_random.uniform(-0.2, 0.2)
            body = self.sim.bodies[prize.name]
            w, x, y, z = body.rotation
            c, s = np.cos(0.5 * angle), np.sin(0.5 * angle)
            body.set_pose(rotation=(c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w))
        return self._observe(), self._info()

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        given = np.clip(np.asarray(action, dtype=np.float64), -1.0, 1.0)
        if given.shape != (len(KEYS) + 1,) or not np.isfinite(given).all():
            raise SceneError("an action has five finite numbers", element="step", value=action)
        x, y, z, turn = given[:4].tolist()
        inputs = Inputs(x, y, z, turn, grab=bool(given[4] > 0.0))
        self.round.begun = True  # the clock runs, whatever the player does
        before = self.round.score
        try:
            for _ in range(DECIMATION):
                self.round.before_step(self.sim, inputs)
                self.sim.step()
                self.round.after_step(self.sim)
        except SimulationDiverged as error:
            return self._observe(), 0.0, True, False, self._info() | {"diverged": str(error)}
        won_all = len(self.round.won) == len(self.round.prizes)
        return (self._observe(), float(self.round.score - before), won_all, self.round.over and not won_all,
                self._info())

    def _observe(self) -> np.ndarray:
        return self.round.observe(self.sim).astype(np.float32)

    def _info(self) -> dict[str, Any]:
        return {"law": self.sim.method.label, "score": self.round.score, "success": bool(self.round.won)}

    def render(self) -> np.ndarray | None:
        return self.sim.render(size=PICTURE, contacts=False) if self.render_mode == "rgb_array" else None
