"""`Simulation`: owns the state of a scene and calls the method's step."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sesshoku.compiled.prepare import prepare
from sesshoku.compiled.progress import CompileProgress
from sesshoku.compiled.table import Record
from sesshoku.dynamics.aba import forward_dynamics
from sesshoku.dynamics.centroid import center_of_mass, momentum
from sesshoku.dynamics.crba import mass_matrix
from sesshoku.dynamics.data import Data, make_data
from sesshoku.dynamics.factor import factorize
from sesshoku.dynamics.jacobian import point_jacobian
from sesshoku.dynamics.observe import observe_bodies, observe_energy, refresh
from sesshoku.dynamics.rnea import bias_force, external_wrenches, inverse_dynamics
from sesshoku.errors import MethodError, OpenLoop, SceneError, SimulationDiverged, UnstableStep, UnsupportedFeature
from sesshoku.methods.registry import DEFAULT, Method, left_out, obstacles, resolve
from sesshoku.model.arrays import FREE, KINEMATIC, SPHERICAL
from sesshoku.recording import Recorder, Recording
from sesshoku.scene import check
from sesshoku.scene.calls import checked
from sesshoku.scene.compiler import CompiledScene, compile_scene
from sesshoku.scene.names import unknown
from sesshoku.scene.scene import Robot, RobotPose, Scene
from sesshoku.simulation.alarm import Alarm
from sesshoku.simulation.profiling import profile
from sesshoku.simulation.progress import Progress
from sesshoku.simulation.pushes import Pushes
from sesshoku.simulation.robot_views import RobotView, RobotViews, find_pose
from sesshoku.simulation.script import ScriptedBodies
from sesshoku.simulation.sensors import Sensing, sensor_view
from sesshoku.simulation.sensors.places import FrameView
from sesshoku.simulation.sensors.sensing import add_numbers
from sesshoku.simulation.views import ActuatorView, BodyView, Contact, Energy, JointView, Views, list_contacts, three
from sesshoku.stages.deep_overlaps import deep_overlap
from sesshoku.stages.report import CHANNELS, CONVERGED, ENERGY_CHANGE, RESIDUAL, Report

DEFAULT_TIME_STEP = 1e-3
NO_TORQUE = (0.0, 0.0, 0.0)
LATER = ("acceleration", "contacts.torque", "presses.old_")  # what the first snapshots did not hold yet
OPEN_LOOP = 5e-3  # m: a smaller gap is closed without a word


class Snapshot(dict[str, np.ndarray]):
    """A saved state; hand it to `restore`."""


@checked
class Simulation:
    """A scene in motion.

        sim = Simulation(scene, dt=1e-3)
        sim.step(100)
        sim.bodies["crate"].position

    method: a keyword ("exact", the default; "lcp", "lcp:recommended" ...; "none": without contact), or a method with
    options (`methods.lcp(max_sweeps=200)`). dt: seconds; where None, the scene's own time step, else 1 ms.
    What the method does not know of the scene (`left_out`: rolling friction, say) it leaves out, with a warning;
    strict: it refuses such a scene.

    Properties are the present state and the last step: `time`, `q`, `v`, `energy`, `contacts`, `report`. Methods do
    something (`step`, `reset`), take arguments (`momentum(robot)`) or compute anew (`mass_matrix()`, `body_poses()`).
    By name: `bodies`, `joints`, `actuators`, `sensors`, `robots`; what is read there is a copy. `q` and `v` are live:
    writing to them moves the bodies.
    """

    def __init__(self, scene: Scene, method: str | Method = DEFAULT, dt: float | None = None, *,
                 strict: bool = False) -> None:
        if not isinstance(scene, Scene):
            raise SceneError("a Simulation needs a Scene", element="scene", value=type(scene).__name__,
                             remedy="build one with Scene() or Scene.read(path)")
        wish = dt if dt is not None else scene.time_step
        self._dt = check.number(DEFAULT_TIME_STEP if wish is None else wish, "dt", "Simulation", above=0.0)
        self.scene = scene
        self.method = resolve(method)
        self.compiled: CompiledScene = compile_scene(scene)
        reasons = obstacles(self.method, self.compiled, check.flag(strict, "strict", "Simulation"))
        if reasons:
            raise MethodError("; ".join(reasons), element=f"method {self.method.keyword!r}",
                              remedy="choose another method")
        self.left_out = tuple(left_out(self.method, self.compiled))
        if self.left_out:
            warnings.warn(f"method {self.method.keyword!r} leaves out {'; '.join(self.left_out)} (strict=True refuses)",
                          UnsupportedFeature, stacklevel=3)
        self.model, self.data = self.compiled.model, make_data(self.compiled)
        definition, options = self.method.definition, self.method.options
        self._run = definition.run(options)
        self.work: Any = definition.make_work(self.compiled, options)  # the method's own record
        cautions = definition.cautions
        for caution in cautions(self.compiled, options, self.work, self.dt) if cautions else ():
            category = type(caution) if isinstance(caution, Warning) else UnstableStep
            warnings.warn(f"method {self.method.keyword!r}: {caution}", category, stacklevel=3)
        self._model_table, self._data_table = self.model.table, self.data.table
        self._arguments = (self._model_table, self._data_table, self.work.table, self.dt)
        self._report = self.data.report[: len(CHANNELS)]
        self._report[CONVERGED] = 1.0  # nothing went wrong yet
        self._pushed = False  # external forces wait for the next step
        self._stale = True  # link poses and velocities belong to an older state
        self._unobserved = True  # and so does what bodies are read from: poses, velocities, centres of mass
        self._lent = False  # somebody holds q or v and may write to them at any time
        self._seen = b"", b""  # q and v that the links belong to, where they are lent
        F, L = self.model.frame_count, self.model.link_count
        self._observed = np.zeros((F, 7)), np.zeros((F, 6)), np.zeros((L, 3))
        self._commands = self.data.actuator_command.reshape(-1)
        self._kinematic = (self.model.link_joint == KINEMATIC).tolist()
        self._external: memoryview[float] = memoryview(self.data.external_force.reshape(-1))
        self._script = ScriptedBodies(self.compiled)
        self._warm = False
        self._told_deep = cautions is not None  # of bodies deep inside each other: once, or the method itself does
        self._fingerprint = _fingerprint(self.compiled, self.method)
        self.bodies: Mapping[str, BodyView] = Views(self, self.compiled.frame_index, BodyView, "body")
        self.joints: Mapping[str, JointView] = Views(self, self.compiled.joint_link, JointView, "joint")
        self.actuators: Mapping[str, ActuatorView] = Views(self, self.compiled.actuator_index, ActuatorView, "actuator")
        self.frames: Mapping[str, FrameView] = Views(self, dict.fromkeys(scene.frames, 0), FrameView, "frame")
        self._subtrees: dict[str | None, Any] = {}  # masses that hang on bodies, for state sensors that ask for them
        self._sensing = Sensing(self) if scene.sensors or scene.read_in_steps else None
        self.sensors: Mapping[str, Any] = Views(  # ForceSensorView, ImuView or StateSensorView
            self, {name: i for i, name in enumerate([*scene.sensors, *scene.state_sensors])}, sensor_view, "sensor")
        self.robots: RobotViews = RobotViews(self)
        self._pushes = Pushes(self)
        self._alarm = Alarm(self)
        self._judged: memoryview[float] = memoryview(self._report)  # read in every step: an array takes twice as long
        self._origin: Snapshot | None = None  # the scene's start, once somebody asked for it
        with CompileProgress("the dynamics"):
            self._check_inertia()
        self._tell_open_loops()

    def __repr__(self) -> str:
        """A short table: what is simulated, how, and how the last step went."""
        model, report = self.model, self.report
        size = f"{model.frame_count}, {model.link_count} of them move, {model.dof_count} degrees of freedom"
        rows = [("bodies", size)]
        for what in ("robots", "joints", "actuators", "sensors"):
            names = list(getattr(self, what))
            if names:
                rows.append((what, f"{len(names)}: {', '.join(names[:4])}{' ...' if len(names) > 4 else ''}"))
        rows.append(("contacts", str(len(self.contacts))))
        rows.append(("last step", f"residual {report.residual:.1e}, depth {report.penetration:.1e} m, "
                                  f"{'converged' if report.converged else 'not converged'}"))
        rows += [("left out", item) for item in self.left_out]
        head = f"Simulation of {self.scene.name!r}: {self.method.label}, {self.time:.6g} s in steps of {self.dt:g} s"
        return "\n".join([head, *(f"  {what:<10} {text}" for what, text in rows)])

    # ---- stepping ------------------------------------------------------------------------------------------------

    def step(self, steps: int = 1) -> None:
        """Advance by `steps` time steps."""
        if not isinstance(steps, (int, np.integer)) or isinstance(steps, bool) or not 0 <= steps < 2**62:
            raise SceneError("steps must be a whole number, 0 or more", element="step", value=steps)
        if not self._warm:
            with CompileProgress(self.method.keyword) as line:
                prepare([self.method.module], tell=line.tell)
                self._run(*self._arguments, 0)
                if self._sensing is not None:
                    self._sensing.compile(self)
            self._warm = True
        self._stale = True
        sensing = self._sensing if steps > 0 else None
        done = self._advance(steps) if sensing is None else sensing.advance(self, steps)
        if (self._pushed or self._pushes.standing) and steps > 0:
            self._release()
        if done != steps:
            self._diverged()
        judged, alarm = self._judged, self._alarm
        if judged[RESIDUAL] > alarm.residual or judged[ENERGY_CHANGE] > alarm.gain or alarm.count:
            alarm.look()
        if judged[CONVERGED] == 0.0 and not self._told_deep and "contacts" in self.work.fields:
            self._tell_deep_overlap()

    def _tell_deep_overlap(self) -> None:
        """Say once why steps do not converge, where bodies are too deep inside each other."""
        found = deep_overlap(self.compiled, self.work.contacts)
        if found is not None:
            self._told_deep = True
            warnings.warn(f"method {self.method.keyword!r}, at {self.time:g} s: {found}", type(found), stacklevel=3)

    def _advance(self, steps: int) -> int:
        """Make steps; how many were made before the state stopped being finite."""
        return self._pushes.advance(steps) if self._pushes.standing else self._make_steps(steps)

    def _make_steps(self, steps: int) -> int:
        """Make steps under the forces as they stand; how many were made."""
        if not self._script.active:
            return int(self._run(*self._arguments, steps))
        for done in range(steps):
            self._script.aim(self.data, self.dt)
            if self._run(*self._arguments, 1) == 0:
                return done
        return steps

    def _release(self) -> None:
        """Forces last for one call of `step`, but for those that stand."""
        self.data.external_force[:] = 0.0
        if self._sensing is not None:
            self._sensing.release()
        self._pushed = False
        if self._pushes.standing:
            self._pushes.forget_once()

    def run(self, duration: float, controller: Callable[[Simulation], None] | None = None, *, record: Any = None,
            rate: float | None = None, path: Any = None, progress: bool = False) -> Recording:
        """Simulate `duration` seconds and return a Recording of `record` (channel names, or name -> function of sim).

        controller(sim) is called before every step. rate: samples per second (None: every step). path: stream to that
        file.
        """
        duration = check.number(duration, "duration", "run", least=0.0)
        if controller is not None and not callable(controller):
            raise SceneError("a controller is a function of the simulation", element="run", value=controller)
        steps = round(duration / self.dt)
        recorder = Recorder(self, channels=record, rate=rate, path=path)
        show = Progress(steps) if progress else None
        try:
            recorder.sample(self)
            stride = recorder.stride if controller is None else 1
            done = 0
            while done < steps:
                if controller is not None:
                    controller(self)
                count = min(stride, steps - done)
                self.step(count)
                done += count
                if done % recorder.stride == 0 or done == steps:
                    recorder.sample(self)
                if show is not None:
                    show.update(done)
        except SimulationDiverged as error:
            error.recording = recorder.finish()  # type: ignore[attr-defined]
            raise
        finally:
            if show is not None:
                show.close()
            self.recording = recorder.finish()
        return self.recording

    def show(self, *, controller: Callable[[Simulation], None] | None = None, page: Any = None,
             host: str = "127.0.0.1", port: int = 0, block: bool = True, browser: bool = True, playing: bool = True,
             speed: float = 1.0) -> Any:
        """Show the simulation in the browser, running by the clock, until Ctrl-C; needs the extra `view`.

        The arguments are those of `sesshoku.view.show`.
        """
        from sesshoku.view import show

        return show(self, page=page, controller=controller, host=host, port=port, block=block, browser=browser,
                    playing=playing, speed=speed)

    def _diverged(self) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            bad = np.flatnonzero(~np.isfinite(self.data.new_v**2))
        for name in ("friction_impulse", "limit_impulse", "mimic_impulse", "loop_impulse", "tendon_impulse"):
            getattr(self.data, name)[:] = 0.0  # the failed solve's: no place for the next one to start from
        link = int(self.model.dof_link[bad[0]]) if len(bad) else None
        body = None if link is None else self.compiled.link_names[link]
        where = f" at body {body!r}" if body else ""
        turn = 0.0 if body is None else self.dt * float(np.linalg.norm(self.bodies[body].angular_velocity))
        if turn > 1.0:
            where += f", which turned by {turn:.3g} rad per step"
        raise SimulationDiverged(
            f"the state stopped being finite at t = {self.time:.6g} s{where}; the last good state is kept. "
            f"Try a smaller dt (now {self.dt:g} s), implicit springs and servos, or more armature.",
            time=self.time, body=body)

    def profile(self, steps: int = 1000) -> dict[str, float]:
        """Mean time (seconds) of each stage of a step, by a clock between the stages of the compiled loop itself.

        The state advances as with `step(steps)`, which this is. "step" is one whole step.
        """
        return profile(self, steps)

    # ---- state ---------------------------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return float(self.data.time[0])

    @property
    def dt(self) -> float:
        """The time step, s; fixed for the life of a simulation."""
        return self._dt

    @property
    def q(self) -> np.ndarray:
        """Coordinates (Q), live: what is written to it holds. A free joint's are of its body's centre of mass.

        `set_state` checks what it is given; `robots[name].q` has the coordinates as the robot's file counts them.
        """
        self._lend()
        return self.data.q[:]  # a view: it can be written to, not resized

    @q.setter
    def q(self, value: Any) -> None:
        self.set_state(q=value)

    @property
    def v(self) -> np.ndarray:
        """Velocities (V), live as `q` is."""
        self._lend()
        return self.data.v[:]

    @v.setter
    def v(self, value: Any) -> None:
        self.set_state(v=value)

    def _lend(self) -> None:
        """Hand out q or v: whoever holds them may write, so that from now on reading looks whether they changed."""
        self._read_sensors()
        if not self._lent:
            self._lent, self._seen = True, (self.data.q.tobytes(), self.data.v.tobytes())

    def set_state(self, q: Any = None, v: Any = None) -> None:
        """Set coordinates and velocities; quaternions must be unit."""
        if q is not None:
            q = check.vector(q, "q", "state", size=self.model.coordinate_count)
            for link in np.flatnonzero(np.isin(self.model.link_joint, (FREE, SPHERICAL))):
                last = self.model.link_coordinate[link] + (7 if self.model.link_joint[link] == FREE else 4)
                check.quaternion(q[last - 4:last], f"rotation of joint {self.compiled.joint_names[link]!r}", "state")
        if v is not None:
            v = check.vector(v, "v", "state", size=self.model.dof_count)
        self._read_sensors()
        if q is not None:
            self.data.q[:] = q
        if v is not None:
            self.data.v[:] = v
        self._stale = True

    def _state(self) -> dict[str, np.ndarray]:
        """Every array that a saved state holds, by name."""
        return _saved(self.data, self.work) | ({} if self._sensing is None else self._sensing.state)

    def save(self) -> Snapshot:
        """The whole state; `restore` brings it back bit for bit."""
        self._read_sensors()
        snapshot = Snapshot({name: values.copy() for name, values in self._state().items()})
        snapshot["fingerprint"] = self._fingerprint
        snapshot |= self._pushes.saved()
        return snapshot

    def restore(self, snapshot: Mapping[str, np.ndarray]) -> None:
        """Go back to a saved state."""
        state = self._state()
        if not isinstance(snapshot, Mapping):
            raise SceneError("not a snapshot", element="restore", value=snapshot, remedy="hand in what save() returned")
        if not np.array_equal(snapshot.get("fingerprint", np.zeros(0)), self._fingerprint):
            raise SceneError("the snapshot belongs to another scene or method", element="restore",
                             remedy="bodies, joints, actuators and method must be the same")
        given = dict(snapshot)
        if any(name not in given and name.startswith(LATER) for name in state):
            given = {name: values for name, values in self._first_state().items() if name.startswith(LATER)} | given
        for name, values in state.items():
            if name not in given or np.shape(given[name]) != values.shape:
                raise SceneError("the snapshot belongs to another scene or method", element="restore", value=name)
        for name, values in state.items():
            values[...] = given[name]
        self._pushes.restore(snapshot)
        if self._sensing is not None:
            self._sensing.unread = False
        self._pushed = bool((self._pushes.once if self._pushes.standing else self.data.external_force).any())
        self._stale = True

    def reset(self, pose: str | Mapping[str, Any] | None = None) -> None:
        """Back to the scene's start: what follows is bit for bit what a new simulation does.

        pose: start in that named pose of the robots' files, as if they had been loaded in it; or with some joints at
        other positions (joint -> position), position servos aimed at them.
        """
        wanted = RobotPose() if pose is None else find_pose(self.scene.robots.values(), pose)
        for joint in wanted.positions:
            self.joints[joint]  # known ones only, before anything changes
        if self._origin is None:
            self._origin = self._first_state()
        self.restore(self._origin)
        for joint, position in wanted.positions.items():
            self.joints[joint].position = position
        for joint, velocity in wanted.velocities.items():
            self.joints[joint].velocity = velocity
        for name, command in wanted.commands.items():
            self.data.actuator_command[self.compiled.actuator_index[name]] = command
        for name, actuator in self.scene.actuators.items() if isinstance(pose, Mapping) else ():
            if actuator.kind == "position" and actuator.joint in wanted.positions:
                self.actuators[name].target = float(np.ravel(wanted.positions[actuator.joint])[0])

    def _first_state(self) -> Snapshot:
        """The state a new simulation of this scene has."""
        data = make_data(self.compiled)
        data.report[CONVERGED] = 1.0
        first = _saved(data, self.method.definition.make_work(self.compiled, self.method.options))
        if self._sensing is not None:
            first |= {name: np.zeros_like(values) for name, values in self._sensing.state.items()}
        return Snapshot(first | {"fingerprint": self._fingerprint})

    def __reduce__(self) -> Any:
        """Copies and pickles are built anew from the scene, then put into the same state.

        Compiled code holds addresses.
        """
        return _rebuild, (self.scene, self.method, self.dt, dict(self.save()))

    def refresh(self) -> None:
        """Bring link poses and velocities up to the present state (views call it when needed)."""
        self._read_sensors()
        if self._stale or (self._lent and self._written()):
            refresh(self._model_table, self._data_table)
            self._stale, self._unobserved = False, True
            self._look()

    def _observe(self) -> None:
        """Bring up to date what bodies are read from, by one compiled call after each change of the state."""
        if self._sensing is not None and self._sensing.unread:
            self._sensing.read(self)
        stale = self._stale or (self._lent and self._written())
        if stale or self._unobserved:
            observe_bodies(self._model_table, self._data_table, stale, *self._observed)
            self._stale = self._unobserved = False
            self._look()

    def _written(self) -> bool:
        """Whether somebody wrote to q or v since the links were brought up to date."""
        return self._seen != (self.data.q.tobytes(), self.data.v.tobytes())

    def _look(self) -> None:
        if self._lent:
            self._seen = self.data.q.tobytes(), self.data.v.tobytes()

    def _read_sensors(self) -> None:
        """What the sensors say of the last step, before the links or the state are changed."""
        if self._sensing is not None and self._sensing.unread:
            self._sensing.read(self)

    # ---- inputs --------------------------------------------------------------------------------------------------

    def apply_force(self, body: str, force: Any, torque: Any = NO_TORQUE, point: Any = None) -> None:
        """Push a body through the next step(): world axes, N and N m, at its link's centre of mass or a world point.

        `bodies[body].push` is a force that stands.
        """
        view = self.bodies[body]
        link = view.link
        if link < 0 or self._kinematic[link]:
            self._check_movable(view, f"apply_force to body {body!r}")
        x, y, z = three(force) or check.vector(force, "force", f"apply_force to body {body!r}").tolist()
        a, b, c = torque if torque is NO_TORQUE else three(torque) or check.vector(
            torque, "torque", f"apply_force to body {body!r}").tolist()
        if point is not None:
            at = three(point) or check.vector(point, "point", f"apply_force to body {body!r}").tolist()
            p, q, r = (here - center for here, center in zip(at, view.center_of_mass.tolist(), strict=True))
            a, b, c = a + q * z - r * y, b + r * x - p * z, c + p * y - q * x
        wrench = x, y, z, a, b, c
        add_numbers(self._external, 6 * link, wrench)
        if self._sensing is not None:
            self._read_sensors()
            self._sensing.push(view._frame, wrench)
        if self._pushes.standing:
            self._pushes.add_once(link, view._frame, wrench)
        self._pushed = True

    def _check_movable(self, view: BodyView, element: str) -> None:
        if view.link < 0 or self.model.link_joint[view.link] == KINEMATIC:
            raise SceneError("the body is fixed or scripted: no force moves it", element=element)

    @property
    def pushed(self) -> bool:
        """Whether a force of `apply_force` or a standing one acts in the next step."""
        return self._pushed or bool(self._pushes.standing)

    @property
    def actuator_command(self) -> np.ndarray:
        """(A, 3) target, target velocity, feed-forward of every actuator, live; a torque's target is its force."""
        return self.data.actuator_command

    @property
    def actuator_force(self) -> np.ndarray:
        """(A) force of every actuator in the last step, after clipping."""
        return self.data.actuator_force

    # ---- what happened -------------------------------------------------------------------------------------------

    @property
    def report(self) -> Report:
        """How well the last step kept physics."""
        return Report.from_array(self.data.report, self.left_out)

    @property
    def contacts(self) -> list[Contact]:
        """The contacts of the last step (none for method "none")."""
        return list_contacts(self)

    @property
    def report_array(self) -> np.ndarray:
        """The report as numbers, in the order of `methods.report.CHANNELS`; a live array."""
        return self._report

    @property
    def sensor_readings(self) -> np.ndarray:
        """(S, 6) force and torque, or acceleration and angular velocity, of every sensor, in the order of `sensors`."""
        self._read_sensors()
        return np.zeros((0, 6)) if self._sensing is None else self._sensing.mounts.reading

    def body_poses(self) -> np.ndarray:
        """(F, 7) position and quaternion of every named body, in the order of `compiled.frame_names`."""
        self._observe()
        return self._observed[0].copy()

    def body_velocities(self) -> np.ndarray:
        """(F, 6) velocity and angular velocity of every named body's frame, world axes."""
        self._observe()
        return self._observed[1].copy()

    @property
    def energy(self) -> Energy:
        """Kinetic and potential energy (gravity and joint springs), J."""
        self.refresh()
        return Energy(*observe_energy(self._model_table, self._data_table))

    def _links_of(self, robot: str | Robot | None) -> list[tuple[int, int]]:
        """Ranges of links: all, or those of one robot."""
        if robot is None:
            return [(0, self.model.link_count)]
        name = robot.name if isinstance(robot, (Robot, RobotView)) else robot
        if name not in self.scene.robots:
            raise unknown("robot", name, self.scene.robots)
        links = {int(self.model.frame_link[self.compiled.frame_index[body]]) for body in self.scene.robots[name].bodies}
        return [(link, link + 1) for link in sorted(links) if link >= 0]

    def center_of_mass(self, robot: str | Robot | None = None) -> np.ndarray:
        """Centre of mass (3) of everything that moves, or of one robot."""
        self.refresh()
        total, weighted, center = 0.0, np.zeros(3), np.zeros(3)
        for first, last in self._links_of(robot):
            mass = center_of_mass(self.model, self.data, first, last, center)
            total += mass
            weighted += mass * center
        return weighted / total if total > 0.0 else weighted

    def momentum(self, robot: str | Robot | None = None, about: Any = None) -> np.ndarray:
        """Linear and angular momentum (6) about a world point, by default the centre of mass."""
        point = self.center_of_mass(robot) if about is None else check.vector(about, "about", "momentum")
        self.refresh()
        total, part = np.zeros(6), np.zeros(6)
        for first, last in self._links_of(robot):
            momentum(self.model, self.data, first, last, point, part)
            total += part
        return total

    # ---- dynamics for controllers --------------------------------------------------------------------------------

    def mass_matrix(self) -> np.ndarray:
        """H (V, V) at the present state."""
        self.refresh()
        mass_matrix(self.model, self.data, self.data.mass_matrix)
        m, H = self.model, np.zeros((self.model.dof_count, self.model.dof_count))
        for k in range(m.dof_count):
            ancestors = m.row_dof[m.dof_row[k]:m.dof_row[k + 1]]
            H[k, ancestors] = H[ancestors, k] = self.data.mass_matrix[m.dof_row[k]:m.dof_row[k + 1]]
        return H

    def bias_force(self) -> np.ndarray:
        """C v + gravity - external forces (V)."""
        self.refresh()
        out = np.empty(self.model.dof_count)
        external_wrenches(self.model, self.data)
        bias_force(self.model, self.data, self.data.v, out)
        return out

    def inverse_dynamics(self, acceleration: Any) -> np.ndarray:
        """Joint forces (V) for joint accelerations (V) at the present state."""
        self.refresh()
        out = np.empty(self.model.dof_count)
        external_wrenches(self.model, self.data)
        wanted = check.vector(acceleration, "acceleration", "inverse_dynamics", size=self.model.dof_count)
        inverse_dynamics(self.model, self.data, self.data.v, wanted, out)
        return out

    def forward_dynamics(self, joint_force: Any) -> np.ndarray:
        """Joint accelerations (V) under joint forces (V), without joint constraints."""
        out = np.empty(self.model.dof_count)
        self.data.implicit_diagonal[:] = 0.0
        given = check.vector(joint_force, "joint_force", "forward_dynamics", size=self.model.dof_count)
        forward_dynamics(self.model, self.data, self.data.q, self.data.v, given, out)
        self._stale = True
        return out

    def jacobian(self, body: str, point: Any = None) -> np.ndarray:
        """J (6, V): velocity of a world point carried by a body (its origin by default) and its angular velocity."""
        view = self.bodies[body]
        self.refresh()
        at = view.position if point is None else check.vector(point, "point", f"jacobian of body {body!r}")
        J = np.zeros((6, self.model.dof_count))
        if view.link >= 0:
            point_jacobian(self.model, self.data, view.link, at, J)
        return J

    def _tell_open_loops(self) -> None:
        """Warn of loops whose ends start apart: they will be moved together, and springs be stretched by it."""
        model, data = self.model, self.data
        for n, name in enumerate(self.compiled.loop_names):
            ends = [model.loop_position[n, side] if link < 0 else data.tree_origin[model.link_tree[link]]
                    + data.offset[link] + data.rotation[link] @ model.loop_position[n, side]
                    for side, link in enumerate(model.loop_link[n].tolist())]
            gap = float(np.linalg.norm(ends[0] - ends[1]))
            if gap > OPEN_LOOP:
                warnings.warn(f"loop {name!r} starts open by {gap:.3g} m: its bodies are moved together, by up to "
                              "10 m/s; start in a pose in which it is closed (a keyframe of the file: pose=...)",
                              OpenLoop, stacklevel=4)

    def _check_inertia(self) -> None:
        """Every joint must move some inertia, or its acceleration is not defined."""
        if self.model.dof_count == 0:
            return
        self.refresh()
        mass_matrix(self.model, self.data, self.data.mass_matrix)
        self.data.implicit_diagonal[:] = 0.0
        factorize(self.model, self.data.mass_matrix, self.data.implicit_diagonal, self.data.factor,
                  self.data.factor_dinv)
        pivots = 1.0 / self.data.factor_dinv
        diagonal = self.data.mass_matrix[self.model.dof_row[1:] - 1]
        bad = np.flatnonzero(~(pivots > 1e-13 * np.maximum(np.abs(diagonal), 1e-280)))
        if len(bad):
            link = self.model.dof_link[bad[-1]]  # the factor runs from leaves to roots: the ones above only inherit it
            raise SceneError("nothing with inertia moves with the joint",
                             element=f"joint {self.compiled.joint_names[link]!r}", value=float(pivots[bad[-1]]),
                             remedy="give the bodies below it mass and inertia, or the joint armature")


def _saved(data: Data, work: Record) -> dict[str, np.ndarray]:
    """What the records declare as saved, by name: "q", "contacts.id", and of the work's own arrays "memory.slip"."""
    own = {name if "." in name else f"memory.{name}": values for name, values in work.saved().items()}
    return data.saved() | own


def _rebuild(scene: Scene, method: Method, dt: float, state: dict[str, np.ndarray]) -> Simulation:
    sim = Simulation(scene, method, dt)
    sim.restore(state)
    return sim


def _fingerprint(compiled: CompiledScene, method: Method) -> np.ndarray:
    """32 bytes that tell scenes and methods apart: names, joints, masses, and which method."""
    digest = hashlib.sha256(repr((method.keyword, compiled.frame_names, compiled.joint_names, compiled.actuator_names,
                                  compiled.loop_names, *compiled.scene.sensors)).encode())
    for values in (compiled.model.link_joint, compiled.model.link_parent, compiled.model.link_mass,
                   compiled.model.link_position):
        digest.update(np.ascontiguousarray(values).tobytes())
    return np.frombuffer(digest.digest(), dtype=np.uint8)
