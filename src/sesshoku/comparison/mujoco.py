"""MuJoCo on the same scene, for `compare --peer mujoco`: the scene through `to_mjcf`, MuJoCo's default settings.

`MujocoRun` is a Simulation whose steps MuJoCo makes: after each its state is taken over, so that all that a controller
reads of a Simulation is there and means the same. Contacts, sensors and forces are MuJoCo's own.
"""

from __future__ import annotations

import time as wall
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sesshoku.comparison.bench import mujoco_of
from sesshoku.comparison.mujoco_contacts import bring_up_to_date, list_mujoco_contacts
from sesshoku.comparison.mujoco_state import SharedState, find
from sesshoku.comparison.outcome import Outcome
from sesshoku.comparison.watch import Watcher, time_steps
from sesshoku.compiled.checks import Unsound, check_array, check_finite
from sesshoku.errors import SceneError, SesshokuError, SimulationDiverged
from sesshoku.scene.elements.sensors import ForceSensor, Imu
from sesshoku.scene.elements.state_sensors import ACCELERATIONS
from sesshoku.scene.io.mjcf.write_sensors import ELEMENTS
from sesshoku.scene.scene import Scene
from sesshoku.simulation.contacts import Contact
from sesshoku.simulation.sensors.memory import make_mounts
from sesshoku.simulation.sensors.sensing import SENSED, add_numbers
from sesshoku.simulation.simulation import Simulation
from sesshoku.simulation.snapshots import Snapshot
from sesshoku.stages.report import Report

NAME, KEY = "MuJoCo", "mujoco"  # of its row, and as it is asked for
UNKNOWN = ("energy_gain", "residual", "residual_max", "unconverged")  # measures MuJoCo does not tell

UNTOLD = ("limit_impulse", "friction_impulse")  # of a saved state: MuJoCo does not tell them, so that they are NaN


class MujocoSensing:
    """The sensors of the scene as MuJoCo reads them: of the step's beginning. Stands in for `Sensing`."""

    def __init__(self, sim: MujocoRun) -> None:
        self.mounts, self.unread = make_mounts(sim.compiled), False
        self._felt: memoryview[float] = memoryview(self.mounts.push.reshape(-1))
        self._places: list[tuple[int, int, int]] = []  # row and column of the readings, where in MuJoCo's
        for row, sensor in enumerate(sim.scene.sensors.values()):
            parts = ("force", "torque") if isinstance(sensor, ForceSensor) else \
                ("acceleration", "gyro") if isinstance(sensor, Imu) else ()
            for column, quantity in enumerate(parts):
                number = find(sim.peer_model, "sensor", f"{sensor.name}/{ELEMENTS[quantity]}")
                self._places.append((row, 3 * column, int(sim.peer_model.sensor_adr[number])))
        moved = [sensor for sensor in sim.scene.state_sensors.values() if sensor.kind in ACCELERATIONS]
        for row, state in enumerate(moved, len(sim.scene.sensors)):
            at = int(sim.peer_model.sensor_adr[find(sim.peer_model, "sensor", state.name)])
            self._places.append((row, 3 * ACCELERATIONS.index(state.kind), at))

    @property
    def state(self) -> dict[str, np.ndarray]:
        return {SENSED + "reading": self.mounts.reading, SENSED + "push": self.mounts.push}

    def push(self, frame: int, wrench: tuple[float, ...]) -> None:
        add_numbers(self._felt, 6 * frame, wrench)

    def release(self) -> None:
        self.mounts.push[:] = 0.0

    def compile(self, sim: Any) -> None:
        """Nothing to compile."""

    def advance(self, sim: MujocoRun, steps: int) -> int:
        done = sim._advance(steps)
        for row, column, at in self._places:
            self.mounts.reading[row, column:column + 3] = sim.peer_data.sensordata[at:at + 3]
        return done

    def read(self, sim: Any) -> None:
        """Read already."""


class MujocoRun(Simulation):
    """A Simulation whose steps are MuJoCo's. peer_model, peer_data: what they are made with."""

    def __init__(self, scene: Scene, dt: float) -> None:
        super().__init__(scene, "none", dt)
        import mujoco

        self.peer_model, self.peer_data = mujoco_of(scene, dt)
        mujoco.mj_forward(self.peer_model, self.peer_data)
        self._shared = SharedState(self.compiled, self.peer_model)
        self._bodies = [find(self.peer_model, "body", name) for name in self.compiled.link_names]
        sensed = scene.sensors or scene.read_in_steps
        self._sensing = MujocoSensing(self) if sensed else None  # type: ignore[assignment]
        self._prepare_actuators()
        self._warm, self._bare = True, False  # nothing of ours is stepped, not by any shorter way either
        self.step_seconds = 0.0  # of MuJoCo alone, in the last call of step
        self._made: tuple[bytes, bytes] = self.data.q.tobytes(), self.data.v.tobytes()
        self._settled = False

    def __repr__(self) -> str:
        return super().__repr__().replace(": none,", f": {NAME},", 1)

    def _prepare_actuators(self) -> None:
        """Of each actuator: its kind and gain, and the constant force its model has beyond what it is commanded."""
        scene, model = self.scene, self.peer_model
        actuators = list(scene.actuators.values())
        self._torque = np.array([a.kind == "torque" for a in actuators], dtype=bool)
        self._column = np.array([1 if a.kind == "velocity" else 0 for a in actuators], dtype=np.int64)
        # what the target velocity of a position servo is worth
        self._ahead = np.array([a.kd if a.kind == "position" else 0.0 for a in actuators])
        self._constant = model.actuator_biasprm[:len(actuators), 0].copy()
        self._constant -= np.where(self._torque, 0.0, self._commanded())
        self._rows, self._gear = np.arange(len(actuators)), np.array([a.gear for a in actuators])

    def _commanded(self) -> np.ndarray:
        """(A) constant force that the commands ask of servos: feed-forward, and damping of the target velocity."""
        command = self.data.actuator_command
        return command[:, 2] + self._ahead * command[:, 1]

    # ---- stepping

    def _make_steps(self, steps: int) -> int:
        import mujoco

        model, data = self.peer_model, self.peer_data
        self.step_seconds = 0.0
        for done in range(steps):
            self._hand_over()
            start = wall.perf_counter()
            mujoco.mj_step(model, data)
            self.step_seconds += wall.perf_counter() - start
            if not (np.isfinite(data.qvel).all() and np.isfinite(data.qpos).all()) or any(
                    data.warning[number].number for number in BAD_STATE):
                return done
            self._take_over()
        return steps

    def _hand_over(self) -> None:
        """Commands, forces and what a user wrote to the state, before a step."""
        command, data = self.data.actuator_command, self.peer_data
        if (self.data.q.tobytes(), self.data.v.tobytes()) != self._made:
            self._shared.write(self.data, data)
        self._script.aim(self.data, self.dt)
        self._shared.place_scripted(self.data, data)
        if len(self._rows):
            data.ctrl[:len(self._rows)] = command[self._rows, self._column] + np.where(self._torque, command[:, 2], 0.0)
            self.peer_model.actuator_biasprm[:len(self._rows), 0] = self._constant + np.where(
                self._torque, 0.0, self._commanded())
        data.xfrc_applied[:] = 0.0
        pushed = np.flatnonzero(self.data.external_force.any(axis=1))
        if len(pushed):
            self._observe()
        for link in pushed:  # ours act at the centre of mass of all that is fixed to the link, MuJoCo's at the body's
            wrench, body = self.data.external_force[link], self._bodies[link]
            arm = self._observed[2][link] - self._body_center(body)
            data.xfrc_applied[body, :3] = wrench[:3]
            data.xfrc_applied[body, 3:] = wrench[3:] + np.cross(arm, wrench[:3])

    def _body_center(self, body: int) -> np.ndarray:
        """Centre of mass of a body of MuJoCo's alone, world."""
        self._settle()
        center: np.ndarray = self.peer_data.xipos[body]
        return center

    def _take_over(self) -> None:
        """MuJoCo's state after a step. Impulses of joints it does not tell."""
        self._shared.read(self.peer_data, self.data)
        self._shared.move_scripted(self.data, self.dt)
        self.data.time[0] = self.peer_data.time
        self.data.actuator_force[:] = self._gear * self.peer_data.actuator_force[:len(self._rows)]
        for name in (*UNTOLD, "drive_force"):
            getattr(self.data, name)[:] = np.nan
        self._made = self.data.q.tobytes(), self.data.v.tobytes()
        self._stale, self._settled = True, False

    def _settle(self) -> None:
        """MuJoCo's poses and velocities belong to a step's beginning until they are brought up to date."""
        if not self._settled:
            bring_up_to_date(self.peer_model, self.peer_data)
            self._settled = True

    # ---- saved states

    def _peer_state(self) -> np.ndarray:
        import mujoco

        kind = mujoco.mjtState.mjSTATE_INTEGRATION
        state = np.zeros(mujoco.mj_stateSize(self.peer_model, kind))
        mujoco.mj_getState(self.peer_model, self.peer_data, state, kind)
        return state

    def save(self) -> Snapshot:
        snapshot = super().save()
        snapshot[KEY] = self._peer_state()
        return snapshot

    def restore(self, snapshot: Any) -> None:
        mine = self._peer_state()
        state = snapshot.get(KEY) if isinstance(snapshot, Mapping) else None
        try:
            check_array(KEY, state, mine.shape, mine.dtype)
            check_finite(KEY, snapshot[KEY])
        except Unsound as fault:
            raise SceneError(str(fault), element="restore", value=fault.value,
                             remedy="hand in what save() returned") from None
        untold = {name: np.where(np.isnan(values), 0.0, values) for name in UNTOLD
                  if isinstance(values := snapshot.get(name), np.ndarray) and values.dtype == np.float64}
        super().restore(dict(snapshot) | untold)
        for name in untold:
            getattr(self.data, name)[:] = snapshot[name]

    def _put(self, snapshot: Any) -> None:
        import mujoco

        super()._put(snapshot)
        mujoco.mj_setState(self.peer_model, self.peer_data, snapshot[KEY], mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_forward(self.peer_model, self.peer_data)
        self._made, self._settled = (self.data.q.tobytes(), self.data.v.tobytes()), True

    def __reduce__(self) -> Any:
        return _rebuild, (self.scene, self.dt, dict(self.save()))

    def _first_state(self) -> Snapshot:
        return Snapshot(super()._first_state() | {KEY: MujocoRun(self.scene, self.dt)._peer_state()})

    # ---- what happened

    @property
    def report(self) -> Report:
        depth = max((-float(self.peer_data.contact[i].dist) for i in range(self.peer_data.ncon)), default=0.0)
        return Report(penetration=max(depth, 0.0), residual=float("nan"))

    def touch(self) -> tuple[float, float]:
        """Sum of normal forces, N, and speed of the fastest contact that carries force, m/s."""
        found = [contact for contact in self.contacts if contact.normal_force > 0.0]
        return (sum(contact.normal_force for contact in found),
                max((contact.slip_speed for contact in found), default=0.0))

    @property
    def contacts(self) -> list[Contact]:
        """MuJoCo's contacts of the last step. Slipping: friction is at its bound."""
        self._settle()
        return list_mujoco_contacts(self.peer_model, self.peer_data, self._body_name)

    def _body_name(self, body: int) -> str:
        import mujoco

        return mujoco.mj_id2name(self.peer_model, mujoco.mjtObj.mjOBJ_BODY, body) or "world"


def _rebuild(scene: Scene, dt: float, state: dict[str, np.ndarray]) -> MujocoRun:
    run = MujocoRun(scene, dt)
    run._put(state)
    return run


BAD_STATE = (3, 4, 5)  # MuJoCo's warnings of numbers that are not finite, upon which it starts anew


def run_mujoco(scene: Scene, controller: Callable[[Any], None] | None, duration: float, dt: float, watched: list[str],
               progress: Callable[[float], None] = lambda done: None) -> Outcome:
    """MuJoCo's run, measured as ours are; what it does not report is NaN."""
    outcome = Outcome(NAME, asked=KEY)
    steps = max(round(duration / dt), 1)
    watcher = Watcher(watched, steps, dt)
    try:
        peer = MujocoRun(scene, dt)
        watcher.sample(peer)
        for n in range(steps):
            if controller is not None:
                controller(peer)
            peer.step()
            watcher.sample(peer)
            progress((n + 1) / steps)
    except ImportError:
        outcome.refused = "refused: MuJoCo is not installed; pip install mujoco"
        return outcome
    except SimulationDiverged as error:
        outcome.refused = f"diverged at {error.time:.4g} s"
    except (ValueError, SesshokuError) as error:
        outcome.refused = f"refused: {error}"
        return outcome
    watcher.write(outcome)
    if outcome.refused is None:
        outcome.measures["step"] = time_steps(MujocoRun(scene, dt), controller, steps)
    outcome.measures |= {name: float("nan") for name in UNKNOWN}
    outcome.traces["residual"] = np.full_like(outcome.time, np.nan)
    outcome.report = {"penetration": outcome.report.get("penetration", 0.0)}
    return outcome
