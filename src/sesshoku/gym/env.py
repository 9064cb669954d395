"""`RobotEnv`: a task as an environment of Gymnasium, one world."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from sesshoku.comparison.audit.drive import Drive
from sesshoku.errors import SceneError, SimulationDiverged, UnstableStep, UnsupportedFeature
from sesshoku.gym.laws import choose_laws
from sesshoku.gym.task import Task
from sesshoku.methods.registry import Method
from sesshoku.scene.calls import checked
from sesshoku.scene.compiler import compile_scene
from sesshoku.simulation.batch.varied import varied_scene
from sesshoku.simulation.batch.vary import draw_all
from sesshoku.simulation.simulation import Simulation

DIVERGED = -1.0  # reward of a step in which physics failed
MODES = ("rgb_array", "human")
PICTURE = (480, 480)  # pixels


@checked
class RobotEnv(gymnasium.Env):  # type: ignore[misc]
    """One world. method: the law; or laws: several, of which every episode draws one.

    vary: what every episode draws anew, as `Batch` takes it: {"friction": (0.4, 1.0), "mass": 0.1}. Everything that is
    drawn follows from the seed given to `reset`. `info` has the law and whether the goal is reached (`success`).
    """

    metadata = {"render_modes": list(MODES), "render_fps": 50}  # noqa: RUF012

    def __init__(self, task: Task, *, method: str | Method | None = None, laws: Sequence[str | Method] | None = None,
                 vary: Mapping[str, Any] | None = None, render_mode: str | None = None) -> None:
        if not isinstance(task, Task):
            raise SceneError("an environment needs a Task", element="RobotEnv", value=type(task).__name__,
                             remedy="make one: class Stand(sesshoku.gym.Task): ...")
        if render_mode is not None and render_mode not in MODES:
            raise SceneError("no such way to render", element="RobotEnv: render_mode", value=render_mode,
                             remedy=f"there is {', '.join(MODES)}")
        self.task, self.render_mode, self.vary = task, render_mode, vary
        self.laws = choose_laws(method, laws, task.method)
        self.metadata = self.metadata | {"render_fps": round(1.0 / (task.dt * task.decimation))}
        self.drive = Drive(task.contract, task.scene)
        self._memory: dict[str, Any] = {}
        self._steps, self._sims = 0, dict[str, Simulation]()
        self._shown: tuple[Simulation, Any] | None = None
        self._compiled = compile_scene(task.scene)
        self.command = task.draw(np.random.default_rng(0))
        self.drive.command = self.command
        self.sim = self._simulation(self.laws[0], 0)
        size = len(self.drive.observe(self.sim))
        self.observation_space = spaces.Box(-np.inf, np.inf, (size,), np.float32)
        self.action_space = spaces.Box(-1.0, 1.0, self.drive.shape, np.float32)

    def _simulation(self, law: Method, seed: int) -> Simulation:
        """A simulation at its start: one for each law, or with what varies a new one."""
        with warnings.catch_warnings():
            for kind in (UnsupportedFeature, UnstableStep):
                warnings.simplefilter("ignore", kind)
            if self.vary:
                scene = varied_scene(self._compiled, draw_all(self._compiled, self.vary, 1, seed), 0)
                return Simulation(scene, law, self.task.dt)
            if law.label not in self._sims:
                self._sims[law.label] = Simulation(self.task.scene, law, self.task.dt)
        self._sims[law.label].reset()
        return self._sims[law.label]

    def reset(self, *, seed: int | None = None,
              options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        rng = self.np_random
        law = self.laws[int(rng.integers(len(self.laws)))]
        self.sim = self._simulation(law, int(rng.integers(2**31)))
        self.command = self.task.draw(rng)
        self.sim.set_state(*self.task.start(self._compiled, rng))
        self.drive.begin()
        self.drive.command = self.command
        self._steps = 0
        return self._observe(), self._info()

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        sim, task = self.sim, self.task
        given = np.asarray(action, dtype=np.float64)
        if given.shape != self.drive.shape or not np.isfinite(given).all():
            raise SceneError(f"an action has {self.drive.shape[0]} finite numbers", element="step", value=action)
        self.drive.act(sim, given)
        task.disturb(sim, [self.np_random], np.asarray(self._steps), self._memory)
        self._steps += 1
        late = self._steps * task.decimation * task.dt >= task.duration - 0.5 * task.dt
        try:
            hold(sim, self.drive, task.decimation)
        except SimulationDiverged as error:
            return self._observe(), DIVERGED, True, False, self._info() | {"diverged": str(error)}
        reward, failed = float(task.reward(sim, self.command)), bool(task.failed(sim, self.command))
        if self.render_mode == "human":
            self.render()
        return self._observe(), reward, failed, bool(late) and not failed, self._info()

    def _observe(self) -> np.ndarray:
        return self.drive.observe(self.sim).astype(np.float32)

    def _info(self) -> dict[str, Any]:
        return {"law": self.sim.method.label, "success": bool(self.task.success(self.sim, self.command))}

    def render(self) -> np.ndarray | None:
        """A picture (height, width, 3) of bytes; with "human" shown in the browser (extra `view`)."""
        if self.render_mode == "rgb_array":
            return self.sim.render(size=PICTURE, contacts=False)
        if self.render_mode == "human":
            if self._shown is None or self._shown[0] is not self.sim:
                self.close()
                self._shown = self.sim, self.sim.show(block=False, playing=False)
        return None

    def close(self) -> None:
        if self._shown is not None:
            stop: Callable[[], None] | None = getattr(self._shown[1], "stop", None)
            if stop is not None:
                stop()
            self._shown = None


def hold(world: Any, drive: Drive, steps: int) -> None:
    """Steps of physics under one action."""
    if not drive.pd:
        world.step(steps)
        return
    for _ in range(steps):
        drive.follow(world)
        world.step()


def make_env(task: type[Task], **options: Any) -> RobotEnv:
    """What `gymnasium.make` calls. Options that the task takes (robot, ...) go to it, others to the environment."""
    own, others = task_options(task, options)
    return RobotEnv(task(**own), **others)


def task_options(task: type[Task], options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    import inspect

    names = set(inspect.signature(task.__init__).parameters) - {"self"}
    return ({name: value for name, value in options.items() if name in names},
            {name: value for name, value in options.items() if name not in names})
