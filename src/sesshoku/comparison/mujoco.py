"""MuJoCo on the same scene, for `compare --peer mujoco`: the scene through `to_mjcf`, MuJoCo's default settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.bench import mujoco_of
from sesshoku.comparison.outcome import Outcome
from sesshoku.comparison.watch import Watcher, time_steps
from sesshoku.errors import SceneError, SesshokuError
from sesshoku.methods.report import Report
from sesshoku.scene.scene import Scene

NAME = "MuJoCo"
OFFERED = "time, dt, scene, bodies, actuators, apply_force, energy, body_poses"
UNKNOWN = ("energy_gain", "residual", "residual_max", "unconverged")  # measures MuJoCo does not tell


class MujocoBody:
    """The parts of a body view that controllers and `compare` read."""

    def __init__(self, peer: MujocoRun, name: str) -> None:
        self._peer, self._body = peer, peer.body_id(name)

    @property
    def position(self) -> np.ndarray:
        return self._peer.data.xpos[self._body].copy()

    @property
    def rotation(self) -> np.ndarray:
        return self._peer.data.xquat[self._body].copy()

    @property
    def rotation_matrix(self) -> np.ndarray:
        return self._peer.data.xmat[self._body].reshape(3, 3).copy()

    @property
    def center_of_mass(self) -> np.ndarray:
        return self._peer.data.xipos[self._body].copy()

    def _twist(self) -> np.ndarray:
        import mujoco

        out = np.zeros(6)
        mujoco.mj_objectVelocity(self._peer.model, self._peer.data, mujoco.mjtObj.mjOBJ_XBODY, self._body, out, 0)
        return out

    @property
    def velocity(self) -> np.ndarray:
        return self._twist()[3:]

    @property
    def angular_velocity(self) -> np.ndarray:
        return self._twist()[:3]


class MujocoActuator:
    """An actuator's `target`; MuJoCo takes one number."""

    def __init__(self, control: np.ndarray, index: int, name: str) -> None:
        object.__setattr__(self, "_parts", (control, index, name))

    @property
    def target(self) -> float:
        control, index, _ = self._parts  # type: ignore[attr-defined]
        return float(control[index])

    def __setattr__(self, key: str, value: float) -> None:
        control, index, name = self._parts  # type: ignore[attr-defined]
        if key != "target":
            raise SceneError(f"MuJoCo's servo takes a target only, not {key}", element=f"actuator {name!r}")
        control[index] = value


class MujocoRun:
    """MuJoCo behind the part of `Simulation` that controllers use."""

    def __init__(self, scene: Scene, dt: float) -> None:
        import mujoco

        self.model, self.data = mujoco_of(scene, dt)
        self.scene, self.dt = scene, dt
        self.bodies = _Lookup(lambda name: MujocoBody(self, name))
        self.actuators = _Lookup(self._actuator)
        mujoco.mj_forward(self.model, self.data)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in ("touch", "settle", "model", "data"):
            raise AttributeError(name)
        raise SceneError("a controller that shall also drive MuJoCo cannot use it", element=f"sim.{name}",
                         remedy=f"there is {OFFERED}")

    def _id(self, kind: Any, name: str, what: str) -> int:
        import mujoco

        found = mujoco.mj_name2id(self.model, kind, name)
        if found < 0:
            raise SceneError(f"not {what} of the exported model", element=repr(name))
        return int(found)

    def body_id(self, name: str) -> int:
        import mujoco

        return self._id(mujoco.mjtObj.mjOBJ_BODY, name, "a body")

    def _actuator(self, name: str) -> MujocoActuator:
        import mujoco

        return MujocoActuator(self.data.ctrl, self._id(mujoco.mjtObj.mjOBJ_ACTUATOR, name, "an actuator"), name)

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

    def settle(self) -> None:
        """After a step: MuJoCo's poses and velocities belong to its beginning until they are brought up to date."""
        import mujoco

        self.data.xfrc_applied[:] = 0.0
        for bring in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_comVel):
            bring(self.model, self.data)

    def energy(self) -> tuple[float, float]:
        import mujoco

        mujoco.mj_energyPos(self.model, self.data)
        mujoco.mj_energyVel(self.model, self.data)
        return float(self.data.energy[1]), float(self.data.energy[0])

    def touch(self) -> tuple[float, float]:
        """Sum of normal forces, N, and speed of the fastest contact that carries force, m/s."""
        import mujoco

        total, fastest, force = 0.0, 0.0, np.zeros(6)
        for i in range(self.data.ncon):
            contact = self.data.contact[i]
            mujoco.mj_contactForce(self.model, self.data, i, force)
            if force[0] <= 0.0:
                continue
            total += float(force[0])
            a, b = (self._velocity_at(int(self.model.geom_bodyid[geom]), contact.pos) for geom in contact.geom)
            normal = contact.frame[:3]
            slip = (b - a) - normal * (normal @ (b - a))
            fastest = max(fastest, float(np.linalg.norm(slip)))
        return total, fastest

    def _velocity_at(self, body: int, point: np.ndarray) -> np.ndarray:
        twist = self.data.cvel[body]  # about the centre of mass of the body's tree
        return twist[3:] + np.cross(twist[:3], point - self.data.subtree_com[self.model.body_rootid[body]])

    def body_poses(self) -> np.ndarray:
        """(F, 7) of every body of the scene; those that are no bodies to MuJoCo (the ground) as the scene has them."""
        import mujoco

        poses = np.zeros((len(self.scene.bodies), 7))
        for row, body in zip(poses, self.scene.bodies.values()):
            index = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_BODY, body.name)
            row[:] = [*body.position, *body.rotation] if index < 0 else [*self.data.xpos[index],
                                                                         *self.data.xquat[index]]
        return poses

    @property
    def report(self) -> Report:
        depth = max((-float(self.data.contact[i].dist) for i in range(self.data.ncon)), default=0.0)
        return Report(penetration=max(depth, 0.0), residual=float("nan"))


class _Lookup:
    def __init__(self, make: Callable[[str], Any]) -> None:
        self._make = make

    def __getitem__(self, name: str) -> Any:
        return self._make(name)


def run_mujoco(scene: Scene, controller: Callable[[Any], None] | None, duration: float, dt: float, watched: list[str],
               progress: Callable[[float], None] = lambda done: None) -> Outcome:
    """MuJoCo's run, measured as ours are; what it does not report is NaN."""
    outcome = Outcome(NAME)
    steps = max(round(duration / dt), 1)
    watcher = Watcher(watched, steps, dt)
    try:
        peer = MujocoRun(scene, dt)
        watcher.sample(peer)
        for n in range(steps):
            if controller is not None:
                controller(peer)
            peer.step()
            peer.settle()
            watcher.sample(peer)
            progress((n + 1) / steps)
        watcher.write(outcome)
        outcome.measures["step"] = time_steps(MujocoRun(scene, dt), controller, steps)
    except ImportError:
        outcome.refused = "refused: MuJoCo is not installed; pip install mujoco"
        return outcome
    except (ValueError, SesshokuError) as error:
        outcome.refused = f"refused: {error}"
        return outcome
    outcome.measures |= {name: float("nan") for name in UNKNOWN}
    outcome.traces["residual"] = np.full_like(outcome.time, np.nan)
    outcome.report = {"penetration": outcome.report["penetration"]}
    return outcome
