"""`Simulation`: owns the state of a scene and calls the method's step."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any
from weakref import proxy

import numpy as np

from sesshoku.compiled.prepare import prepare
from sesshoku.compiled.prepare.progress import CompileProgress
from sesshoku.dynamics.data import start_data
from sesshoku.errors import MethodError, SceneError, SimulationDiverged, UnstableStep, UnsupportedFeature
from sesshoku.methods.registry import DEFAULT, Method, left_out, obstacles, resolve
from sesshoku.model.arrays import KINEMATIC
from sesshoku.recording import Recorder, Recording
from sesshoku.scene import check
from sesshoku.scene.calls import checked
from sesshoku.scene.compiler import CompiledScene, compile_scene
from sesshoku.scene.scene import Scene
from sesshoku.simulation import complaints
from sesshoku.simulation.alarm import Alarm
from sesshoku.simulation.contacts import Contact, list_contacts
from sesshoku.simulation.controller_dynamics import ControllerDynamics
from sesshoku.simulation.profiling import profile
from sesshoku.simulation.progress import Progress
from sesshoku.simulation.pushes import Pushes
from sesshoku.simulation.robot_views import RobotViews
from sesshoku.simulation.saved_state import SavedState
from sesshoku.simulation.script import ScriptedBodies
from sesshoku.simulation.sensors import Sensing, sensor_view
from sesshoku.simulation.sensors.places import FrameView
from sesshoku.simulation.sensors.sensing import add_numbers
from sesshoku.simulation.snapshots import fingerprint
from sesshoku.simulation.state import STEPPED
from sesshoku.simulation.views import ActuatorView, BodyView, JointView, Views, three
from sesshoku.stages.report import CHANNELS, CONVERGED, ENERGY_CHANGE, RESIDUAL, Report

DEFAULT_TIME_STEP = 1e-3
NO_TORQUE = (0.0, 0.0, 0.0)
SLICE, SLICE_GROWTH, MOST_IN_SLICE = 0.05, 8, 2**31  # s of one compiled call, growth from one to the next, steps


@checked
class Simulation(SavedState, ControllerDynamics):
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

    __slots__ = ("_core", "actuators", "bodies", "frames", "joints", "robots", "sensors")
    _core: Simulation
    bodies: Mapping[str, BodyView]
    joints: Mapping[str, JointView]
    actuators: Mapping[str, ActuatorView]
    frames: Mapping[str, FrameView]
    sensors: Mapping[str, Any]  # ForceSensorView, ImuView or StateSensorView
    robots: RobotViews

    def __init__(self, scene: Scene, method: str | Method = DEFAULT, dt: float | None = None, *,
                 strict: bool = False) -> None:
        if not isinstance(scene, Scene):
            raise SceneError("a Simulation needs a Scene", element="scene", value=type(scene).__name__,
                             remedy="build one with Scene() or Scene.read(path)")
        wish = dt if dt is not None else scene.time_step
        time_step = check.number(DEFAULT_TIME_STEP if wish is None else wish, "dt", "Simulation", above=0.0)
        chosen = resolve(method)
        self._build(compile_scene(scene), chosen, time_step, check.flag(strict, "strict", "Simulation"))

    def _build(self, compiled: CompiledScene, method: Method, time_step: float, strict: bool, world: int = 0) -> None:
        """What there is of a simulation, all of it. world: its number among those of a batch."""
        self.compiled, self.scene, self.method = compiled, compiled.scene, method
        self._world = world
        reasons = obstacles(self.method, self.compiled, strict)
        if reasons:
            raise MethodError("; ".join(reasons), element=f"method {self.method.keyword!r}",
                              remedy="choose another method")
        self.left_out = tuple(left_out(self.method, self.compiled))
        if self.left_out:
            warnings.warn(f"method {self.method.keyword!r} leaves out {'; '.join(self.left_out)} (strict=True refuses)",
                          UnsupportedFeature, stacklevel=4)
        self.model, self.data = self.compiled.model, start_data(self.compiled, time_step)
        self._start_state(time_step)
        definition, options = self.method.definition, self.method.options
        self._run = definition.run(options)
        self.work: Any = definition.make_work(self.compiled, options)  # the method's own record
        cautions = definition.cautions
        for caution in cautions(self.compiled, options, self.work, self.dt) if cautions else ():
            category = type(caution) if isinstance(caution, Warning) else UnstableStep
            warnings.warn(f"method {self.method.keyword!r}: {caution}", category, stacklevel=4)
        self._arguments = (self._model_table, self._data_table, self.work.table, self.dt)
        self._report = self.data.report[: len(CHANNELS)]
        self._report[CONVERGED] = 1.0  # nothing went wrong yet
        self._pushed = False  # external forces wait for the next step
        self._commands = self.data.actuator_command.reshape(-1)
        self._kinematic = (self.model.link_joint == KINEMATIC).tolist()
        self._external: memoryview[float] = memoryview(self.data.external_force.reshape(-1))
        self._script = ScriptedBodies(self.compiled)
        self._warm = False
        self._slice = 1  # steps to make in one compiled call, by the time that the last ones took
        self._told_deep = definition.finds_deep  # of bodies deep inside each other: once, or the method itself does
        self._fingerprint = fingerprint(self.compiled, self.method)
        self._subtrees: dict[str | None, Any] = {}  # masses that hang on bodies, for state sensors that ask for them
        self._sensing = Sensing(self) if self.scene.sensors or self.scene.read_in_steps else None
        self._bare = self._sensing is None and not self._script.active
        self._share()
        self._pushes = Pushes(proxy(self._core))
        self._alarm = Alarm(proxy(self._core))
        self._judged: memoryview[float] = memoryview(self._report)  # read in every step: an array takes twice as long
        with CompileProgress("the dynamics"):
            complaints.check_inertia(self)
        complaints.tell_open_loops(self)
        complaints.watch_growth(self)

    def _share(self) -> None:
        """Make the views, such that a simulation nobody holds any more is freed at once, without a search for cycles.

        Views keep their simulation alive, and it keeps them: so they hold another object with the same attributes,
        `_core`, which does not have them. What the core has for its own use refers to it weakly.
        """
        self._core = core = object.__new__(type(self))
        core.__dict__ = self.__dict__
        compiled, scene = self.compiled, self.scene
        sensors = {name: i for i, name in enumerate([*scene.sensors, *scene.state_sensors])}
        for holder, sim in ((self, core), (core, proxy(core))):
            holder.bodies = Views(sim, compiled.frame_index, BodyView, "body")
            holder.joints = Views(sim, compiled.joint_link, JointView, "joint")
            holder.actuators = Views(sim, compiled.actuator_index, ActuatorView, "actuator")
            holder.frames = Views(sim, dict.fromkeys(scene.frames, 0), FrameView, "frame")
            holder.sensors = Views(sim, sensors, sensor_view, "sensor")
            holder.robots = RobotViews(sim)

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

    def _repr_html_(self) -> str:
        """In a notebook: a picture of the scene as it stands, and the short table."""
        from sesshoku.recording.notebook import HEIGHT, WIDTH, pictured

        return pictured(self.render(size=(WIDTH, HEIGHT)), repr(self))

    # ---- stepping ------------------------------------------------------------------------------------------------

    def step(self, steps: int = 1) -> None:
        """Advance by `steps` time steps. Ctrl-C ends it between two of them; `time` says how many were made."""
        if (type(steps) is not int and (not isinstance(steps, (int, np.integer)) or isinstance(steps, bool))
                or not 0 <= steps < 2**62):
            raise SceneError("steps must be a whole number, 0 or more", element="step", value=steps)
        first = not self._warm
        if first:
            with CompileProgress(self.method.keyword) as line:
                prepare([self.method.module], tell=line.tell)
                self._run(*self._arguments, 0)
                if self._sensing is not None:
                    self._sensing.compile(self)
            self._warm = True
        alarm = self._alarm
        if alarm.elastic and (self._stale is True or self.pushed or (self._lent and self._written())):
            alarm.forget()  # somebody changed the state since it was weighed, or pushes
        self._stale = STEPPED
        sensing = self._sensing if steps > 0 else None
        try:
            if steps == 1 and self._bare and not self._pushes.standing:  # the shortest way to what every call pays for
                done = self._run(*self._arguments, 1)
            else:
                done = self._advance(steps) if sensing is None else sensing.advance(self, steps)
        except KeyboardInterrupt:
            self._release()  # forces last for one call, also for one that was cut short between two steps
            raise
        if (self._pushed or self._pushes.standing) and steps > 0:
            self._release()
        if done != steps:
            raise complaints.diverged(self)
        judged = self._judged
        if judged[RESIDUAL] > alarm.residual or judged[ENERGY_CHANGE] > alarm.gain or alarm.count:
            alarm.look()
        if alarm.elastic:
            alarm.passed(steps)
        asked = judged[CONVERGED] == 0.0 or (first and alarm.elastic)
        if asked and not self._told_deep and "contacts" in self.work.fields:
            self._told_deep = complaints.tell_deep_overlap(self)

    def _advance(self, steps: int) -> int:
        """Make steps; how many were made before the state stopped being finite."""
        return self._pushes.advance(steps) if self._pushes.standing else self._make_steps(steps)

    def _make_steps(self, steps: int) -> int:
        """Make steps under the forces as they stand; how many were made."""
        if not self._script.active:
            return int(self._run(*self._arguments, steps)) if steps <= 1 else self._run_in_slices(steps)
        for done in range(steps):
            self._script.aim(self.data, self.dt)
            if self._run(*self._arguments, 1) == 0:
                return done
        return steps

    def _run_in_slices(self, steps: int) -> int:
        """Make steps in calls short enough that Ctrl-C is heeded between them; how many were made."""
        done = 0
        while done < steps:
            count = min(self._slice, steps - done)
            begin = perf_counter()
            made = int(self._run(*self._arguments, count))
            took = perf_counter() - begin
            done += made
            if made < count:
                break
            if count == self._slice or took > SLICE:
                self._slice = max(1, min(int(SLICE * count / max(took, 1e-9)), SLICE_GROWTH * count, MOST_IN_SLICE))
        return done

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
             host: str = "127.0.0.1", port: int = 0, block: bool | None = None, browser: bool | None = None,
             playing: bool = True, speed: float = 1.0) -> Any:
        """Show the simulation in the browser, running by the clock, until Ctrl-C; needs the extra `view`.

        In a notebook it stands below the cell and runs on; `viewer = sim.show()`, `viewer.stop()` ends it.

        The arguments are those of `sesshoku.view.show`.
        """
        from sesshoku.view import show

        return show(self, page=page, controller=controller, host=host, port=port, block=block, browser=browser,
                    playing=playing, speed=speed)

    def render(self, camera: Any = None, size: Any = None, *, kind: str = "rgb", contacts: bool = True) -> np.ndarray:
        """A picture of the scene as it stands, without a window: (height, width, 3) bytes, red, green and blue.

        camera: name of a camera of the scene, a `View(eye, target)`, or None: everything. size: width and height, by
        default 640 x 480 or the camera's. kind: "depth" gives (height, width) in m along the camera's axis, inf where
        nothing is; "segmentation" the numbers of bodies, -1 where nothing is. contacts: draw points and forces.
        """
        from sesshoku.recording.render.live import render

        return render(self, camera, size, kind, contacts)

    def profile(self, steps: int = 1000) -> dict[str, float]:
        """Mean time (seconds) of each stage of a step, by a clock between the stages of the compiled loop itself.

        The state advances as with `step(steps)`, which this is. "step" is one whole step.
        """
        return profile(self, steps)

    def __reduce__(self) -> Any:
        """Copies and pickles are built anew from the scene, then put into the same state.

        Compiled code holds addresses.
        """
        model = self.model  # a varied one is kept whole: compiled anew, it would differ by rounding
        varied = {name: getattr(model, name) for name in (model.fields if self.compiled.varied else ())}
        return _rebuild, (self.scene, self.method, self.dt, dict(self.save()), varied, self._world)

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
        return self.data.actuator_command[:]  # a view: it can be written to, not resized

    @property
    def actuator_force(self) -> np.ndarray:
        """(A) force of every actuator in the last step, after clipping."""
        return self.data.actuator_force[:]

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
        """The report as numbers, in the order of `stages.report.CHANNELS`; a live array."""
        return self._report

    @property
    def sensor_readings(self) -> np.ndarray:
        """(S, 6) force and torque, or acceleration and angular velocity, of every sensor, in the order of `sensors`."""
        self._read_sensors()
        return np.zeros((0, 6)) if self._sensing is None else self._sensing.mounts.reading[:]


def _rebuild(scene: Scene, method: Method, dt: float, state: Mapping[str, np.ndarray],
             varied: Mapping[str, np.ndarray] | None = None, world: int = 0) -> Simulation:
    return simulation_of(compile_scene(scene).with_arrays(varied or {}), method, dt, state, world)


def simulation_of(compiled: CompiledScene, method: Method, dt: float, state: Mapping[str, np.ndarray],
                  world: int = 0) -> Simulation:
    """A simulation of a compiled scene, in a state of it that is taken as it is, sound or not."""
    sim = object.__new__(Simulation)
    sim._build(compiled, method, dt, False, world)
    sim._put(state)  # a copy of what is: after a step that failed, say
    return sim
