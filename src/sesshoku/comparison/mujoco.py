"""MuJoCo on the same scene, for `compare --peer mujoco`: the scene through `to_mjcf`, MuJoCo's default settings."""

from __future__ import annotations

import time as wall
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from sesshoku.bench import mujoco_of
from sesshoku.comparison.outcome import Outcome, Watcher
from sesshoku.errors import SceneError
from sesshoku.methods.report import Report
from sesshoku.scene.scene import Scene


class MujocoBody:
    """The parts of a body view that controllers and `compare` read."""

    def __init__(self, peer: MujocoRun, name: str) -> None:
        self._peer, self._body = peer, peer.body_id(name)

    @property
    def position(self) -> np.ndarray:
        return self._peer.data.xpos[self._body].copy()

    @property
    def center_of_mass(self) -> np.ndarray:
        return self._peer.data.xipos[self._body].copy()

    @property
    def velocity(self) -> np.ndarray:
        import mujoco

        out = np.zeros(6)
        mujoco.mj_objectVelocity(self._peer.model, self._peer.data, mujoco.mjtObj.mjOBJ_BODY, self._body, out, 0)
        return out[3:]


class MujocoRun:
    """MuJoCo behind the part of `Simulation` that controllers use: time, dt, step, apply_force, bodies, actuators."""

    def __init__(self, scene: Scene, dt: float) -> None:
        import mujoco

        self.model, self.data = mujoco_of(scene, dt)
        self.scene, self.dt = scene, dt
        self.records: dict[str, Any] = {}
        self.bodies = _Lookup(lambda name: MujocoBody(self, name))
        self.actuators = _Lookup(self._actuator)
        mujoco.mj_forward(self.model, self.data)

    def body_id(self, name: str) -> int:
        import mujoco

        found = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, name)
        if found < 0:
            raise SceneError("not a body of the exported model", element=f"body {name!r}")
        return int(found)

    def _actuator(self, name: str) -> Any:
        import mujoco

        index = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_ACTUATOR, name)
        control = self.data.ctrl

        class Handle(SimpleNamespace):
            def __setattr__(self, key: str, value: float) -> None:
                if key != "target":
                    raise SceneError(f"MuJoCo's servo takes a target only, not {key}", element=f"actuator {name!r}")
                control[index] = value

        return Handle()

    @property
    def time(self) -> float:
        return float(self.data.time)

    def apply_force(self, body: str, force: Any, torque: Any = (0, 0, 0), point: Any = None) -> None:
        index = self.body_id(body)
        f, t = np.asarray(force, dtype=float), np.asarray(torque, dtype=float)
        if point is not None:
            t = t + np.cross(np.asarray(point) - self.data.xipos[index], f)
        self.data.xfrc_applied[index] += np.concatenate([f, t])

    def step(self) -> None:
        import mujoco

        mujoco.mj_step(self.model, self.data)
        self.data.xfrc_applied[:] = 0.0

    def energy(self) -> tuple[float, float]:
        import mujoco

        mujoco.mj_energyPos(self.model, self.data)
        mujoco.mj_energyVel(self.model, self.data)
        return float(self.data.energy[1]), float(self.data.energy[0])

    @property
    def report(self) -> Report:
        depth = max((-float(self.data.contact[i].dist) for i in range(self.data.ncon)), default=0.0)
        return Report(penetration=max(depth, 0.0), residual=float("nan"))


class _Lookup:
    def __init__(self, make: Callable[[str], Any]) -> None:
        self._make = make

    def __getitem__(self, name: str) -> Any:
        return self._make(name)


def run_mujoco(scene: Scene, controller: Callable[[Any], None] | None, duration: float, dt: float,
               watched: list[str]) -> Outcome:
    """MuJoCo's run, measured as ours are; what it does not report is NaN."""
    outcome = Outcome("MuJoCo (defaults)")
    try:
        peer = MujocoRun(scene, dt)
    except (ValueError, SceneError) as error:
        outcome.refused = f"refused: {error}"
        return outcome
    steps = round(duration / dt)
    watcher, spent = Watcher(watched, steps), 0.0
    watcher.sample(peer)
    for _ in range(steps):
        if controller is not None:
            controller(peer)
        start = wall.perf_counter()
        peer.step()
        spent += wall.perf_counter() - start
        watcher.sample(peer)
    watcher.write(outcome, spent)
    outcome.measures |= {
        name: float("nan") for name in ("slip", "energy_gain", "residual", "residual_max", "unconverged")
    }
    return outcome
