"""`RobotVectorEnv`: a task in many worlds at once, on `ss.Batch`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from sesshoku.comparison.audit.drive import Drive
from sesshoku.errors import SceneError, UnstableStep, UnsupportedFeature
from sesshoku.gym.env import DIVERGED, hold, task_options
from sesshoku.gym.laws import choose_laws
from sesshoku.gym.task import Task
from sesshoku.methods.registry import Method
from sesshoku.scene.calls import checked
from sesshoku.simulation.batch import Batch


class Group:
    """Worlds under one law: a batch, its drive, and the rows of the environment that they are."""

    def __init__(self, task: Task, law: Method, rows: np.ndarray, vary: Any, seed: int, threads: int | None) -> None:
        self.rows, self.task, self.law = rows, task, law
        with warnings.catch_warnings():
            for kind in (UnsupportedFeature, UnstableStep):
                warnings.simplefilter("ignore", kind)
            self.batch = Batch(task.scene, len(rows), law, task.dt, vary=vary, seed=seed, threads=threads)
        self.drive = Drive(task.contract, task.scene, len(rows))
        self.command = np.zeros((len(rows), 0))
        self.memory: dict[str, Any] = {}

    def reset(self, which: np.ndarray, rngs: list[np.random.Generator]) -> None:
        """Begin new episodes in some worlds (a mask)."""
        chosen = np.flatnonzero(which)
        if not len(chosen):
            return
        drawn = [self.task.draw(rngs[w]) for w in chosen]
        if self.command.shape[1] != len(drawn[0]):
            self.command = np.zeros((len(self.rows), len(drawn[0])))
        self.command[chosen] = drawn
        starts = [self.task.start(self.batch.compiled, rngs[w]) for w in chosen]
        self.batch.reset(which, np.array([q for q, _ in starts]), np.array([v for _, v in starts]))
        self.drive.begin(None if which.all() else which)
        self.drive.command = self.command


@checked
class RobotVectorEnv(VectorEnv):  # type: ignore[misc]
    """Many worlds, stepped on all cores. laws: the worlds are shared out among them.

    A world whose episode has ended begins the next one in the following step, whose action it does not heed
    (Gymnasium's `NEXT_STEP`). vary: each world draws once, as `Batch` does. Seeds: as of `reset`; world n draws by the
    seed and n alone.
    """

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(self, task: Task, num_envs: int = 1, *, method: str | Method | None = None,
                 laws: Sequence[str | Method] | None = None, vary: Mapping[str, Any] | None = None, seed: int = 0,
                 threads: int | None = None) -> None:
        chosen = choose_laws(method, laws, task.method)
        if not isinstance(num_envs, int) or num_envs < len(chosen):
            raise SceneError("at least one world for each law", element="RobotVectorEnv: num_envs", value=num_envs)
        self.task, self.num_envs = task, num_envs
        shares = np.array_split(np.arange(num_envs), len(chosen))
        self.groups = [Group(task, law, rows, vary, seed + n, threads)
                       for n, (law, rows) in enumerate(zip(chosen, shares))]
        self._seed(seed)
        for group in self.groups:
            group.reset(np.ones(len(group.rows), dtype=bool), self._of(group))
        size = self._observe().shape[1]
        self.single_observation_space = spaces.Box(-np.inf, np.inf, (size,), np.float32)
        self.single_action_space = spaces.Box(-1.0, 1.0, self.groups[0].drive.shape[1:], np.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._over, self._steps = np.zeros(num_envs, dtype=bool), np.zeros(num_envs, dtype=np.int64)

    def _seed(self, seed: int) -> None:
        self._rngs = [np.random.Generator(np.random.Philox(key=[seed, world])) for world in range(self.num_envs)]

    def _of(self, group: Group) -> list[np.random.Generator]:
        return [self._rngs[row] for row in group.rows]

    def reset(self, *, seed: int | list[int | None] | None = None,
              options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        if isinstance(seed, int):
            self._seed(seed)
        elif seed is not None:
            for world, one in enumerate(seed):
                if one is not None:
                    self._rngs[world] = np.random.Generator(np.random.Philox(key=[one, 0]))
        for group in self.groups:
            group.reset(np.ones(len(group.rows), dtype=bool), self._of(group))
        self._over[:], self._steps[:] = False, 0
        return self._observe(), self._info()

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        given, task = np.asarray(actions, dtype=np.float64), self.task
        if given.shape != (self.num_envs, *self.single_action_space.shape) or not np.isfinite(given).all():
            raise SceneError(f"actions are {(self.num_envs, *self.single_action_space.shape)} finite numbers",
                             element="step", value=given.shape)
        again, rewards = self._over.copy(), np.zeros(self.num_envs)
        failed = np.zeros(self.num_envs, dtype=bool)
        for group in self.groups:
            rows, batch = group.rows, group.batch
            group.drive.act(batch, given[rows])
            task.disturb(batch, self._of(group), self._steps[rows], group.memory)
            hold(batch, group.drive, task.decimation)
            diverged = batch.diverged.copy()
            rewards[rows] = np.where(diverged, DIVERGED, task.reward(batch, group.command))
            failed[rows] = task.failed(batch, group.command) | diverged
            group.reset(again[rows], self._of(group))  # what was over begins anew; its step does not count
        self._steps = np.where(again, 0, self._steps + 1)
        rewards[again], failed[again] = 0.0, False
        late = self._steps * task.decimation * task.dt >= task.duration - 0.5 * task.dt
        truncated = late & ~failed & ~again
        self._over = failed | truncated
        return self._observe(), rewards, failed, truncated, self._info()

    def _observe(self) -> np.ndarray:
        parts = [group.drive.observe(group.batch) for group in self.groups]
        return np.concatenate(parts).astype(np.float32)

    def _info(self) -> dict[str, Any]:
        success = np.concatenate([np.asarray(self.task.success(group.batch, group.command)) for group in self.groups])
        return {"success": success, "_success": np.ones(self.num_envs, dtype=bool)}


def make_vector_env(task: type[Task], num_envs: int = 1, **options: Any) -> RobotVectorEnv:
    """What `gymnasium.make_vec` calls."""
    own, others = task_options(task, options)
    return RobotVectorEnv(task(**own), num_envs, **others)
