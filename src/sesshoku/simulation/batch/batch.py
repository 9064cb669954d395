"""`Batch`: many worlds of one scene."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from sesshoku.compiled.prepare import prepare
from sesshoku.compiled.prepare.progress import CompileProgress
from sesshoku.compiled.table import Record
from sesshoku.dynamics.data import start_data
from sesshoku.errors import SceneError, SuspectRun, did_you_mean
from sesshoku.methods.registry import DEFAULT, Method
from sesshoku.model.arrays import KINEMATIC, Model
from sesshoku.scene.calls import checked
from sesshoku.scene.compiler import CompiledScene
from sesshoku.scene.scene import Scene
from sesshoku.simulation.batch.crew import Crew, Work, run_lane, usable_cores
from sesshoku.simulation.batch.memory import Lane, Place, WorldMemory, bytes_of_lane, check_room, places_of
from sesshoku.simulation.batch.numbers import numbers_of, on_host
from sesshoku.simulation.batch.observe import Observed
from sesshoku.simulation.batch.reading import BatchReading
from sesshoku.simulation.batch.sensed import run_sensed_lane
from sesshoku.simulation.batch.sensors import DRIVEN, BatchErrors
from sesshoku.simulation.batch.varied import Said, model_arrays, sensed_parts, start_state, varied_scene
from sesshoku.simulation.batch.vary import draw_all, trial_draw
from sesshoku.simulation.robot_views import COMMAND_COLUMN
from sesshoku.simulation.script import ScriptedBodies
from sesshoku.simulation.sensors.memory import make_mounts
from sesshoku.simulation.simulation import Simulation
from sesshoku.stages.report import CONVERGED

DEVICES = ("cpu", "cuda")
APART = frozenset({"data.q", "data.v", "data.time", "data.actuator_command", "data.report"})  # users hold these


@checked
class Batch(BatchReading):
    """Many worlds of one scene, stepped side by side.

        batch = Batch(scene, worlds=256, method="lcp:recommended", dt=2e-3)
        batch.step(5)
        batch.q                     # (256, Q), live

    method, dt, strict: as `Simulation` takes them. threads: None for all cores. Each world does, bit for bit, what a
    Simulation in its state would do, whatever the number of threads and of worlds.

    Arrays have the worlds along their first axis. `q`, `v`, `command` are live: writing to them moves the bodies or
    commands the actuators. `diverged`, `overflow`, `converged` are flags of each world; one that diverged stands still
    in the state before, until it is reset. `batch[17]` is a Simulation in the state of that world.
    """

    def __init__(self, scene: Scene, worlds: int, method: str | Method = DEFAULT, dt: float | None = None, *,
                 device: str = "cpu", threads: int | None = None, seed: int = 0,
                 vary: Mapping[str, Any] | None = None, strict: bool = False) -> None:
        if not isinstance(scene, Scene):
            raise SceneError("a Batch needs a Scene", element="scene", value=type(scene).__name__,
                             remedy="build one with Scene() or Scene.read(path)")
        self.worlds, self.seed = _whole(worlds, "worlds", 1), _whole(seed, "seed", 0)
        if not isinstance(device, str) or device not in DEVICES:
            raise SceneError("no such device", element="Batch: device", value=device, remedy='give "cpu" or "cuda"')
        self.device = device
        self.threads = min(usable_cores() if threads is None else _whole(threads, "threads", 1), self.worlds)
        self._first = Simulation(scene, method, dt, strict=strict)  # one world as it begins; never stepped
        self.scene, self.method, self.dt = scene, self._first.method, self._first.dt
        self.compiled, self.model, self.left_out = self._first.compiled, self._first.model, self._first.left_out
        self._script = ScriptedBodies(self.compiled)
        self._check_device()
        self._plan(trial_draw(self.compiled, vary))
        self._vary, self._said = vary, draw_all(self.compiled, vary, self.worlds, self.seed)
        self._allocate()
        self._work = self._steps()
        self._errors = BatchErrors(scene.sensors.values(), self.worlds)
        self._observed = self._observer()
        self._columns = [COMMAND_COLUMN.get(actuator.kind, 0) for actuator in scene.actuators.values()]
        self._told_overflow = self._warm = self._pushed = False
        self.reset()

    def __new__(cls, *given: Any, **options: Any) -> Batch:
        """On a GPU a batch is of a kind of its own, which needs what the extra `cuda` brings."""
        if cls is Batch and options.get("device") == "cuda":
            from sesshoku.simulation.batch.gpu.cuda import CudaBatch

            return super().__new__(CudaBatch)
        return super().__new__(cls)

    def _check_device(self) -> None:
        """Refuse what the device cannot step."""

    def _observer(self) -> Any:
        """What reads the bodies of all worlds."""
        return Observed(self._memory, self.model, self._crew)

    def _plan(self, said: Said) -> None:
        """What every world has of its own, and whether there is memory for it; said: of one world."""
        roots = self._roots()
        self._states = [place for root, record in roots.items() if root != "model"
                        for place, saved in places_of(root, record) if saved]
        own = {key for key, _ in self._varied(said, 1)}
        if any(key.startswith("model.") for key in own):
            own |= {f"work.{name}" for name in self.method.definition.follows_model}
        if "model.drag_inertia" in own:
            own.add("data.drag_most")
        if self._script.active:
            own.add("data.kinematic_lead")
        if any(sensor.kind == DRIVEN for sensor in self.scene.state_sensors.values()):
            own.add("data.drive_force")
        self._places = self._states + [place for root, record in roots.items()
                                       for place, saved in places_of(root, record) if not saved and place.key in own]
        self._check_room(roots)

    def _check_room(self, roots: dict[str, Record]) -> None:
        self.bytes_per_world = WorldMemory.bytes_per_world(self._places, roots)
        check_room(self.worlds, self.bytes_per_world, self.threads * bytes_of_lane(roots))

    def _varied(self, said: Said, worlds: int) -> Iterator[tuple[str, np.ndarray]]:
        """Keys of the arrays in which worlds differ by what is said, and the arrays (worlds, ...)."""
        for name, values in model_arrays(self.compiled, said, worlds).items():
            yield f"model.{name}", values
        if self._first._sensing is not None and {"mass", "inertia", "armature"} & set(said):
            rotors = self.method.definition.rotors(self.method.options)
            for name, values in sensed_parts(self.compiled, said, worlds, rotors).items():
                yield f"mounts.{name}", values

    def _allocate(self) -> None:
        """The memory of all worlds, with the arrays in which they differ."""
        roots = self._roots()
        self._take_memory(roots)
        self._start = {place.key: place.array(roots).copy() for place in self._states}
        self._start["data.report"][CONVERGED] = 1.0  # nothing went wrong yet
        self._start_differs: frozenset[str] = frozenset({"data.q", "data.v"})
        self._start["data.q"], self._start["data.v"] = start_state(self.compiled, self._said, self.worlds)
        self._start["data.q"] = self._coordinates(self._start["data.q"])
        for key, values in self._varied(self._said, self.worlds):
            self._memory.write(key, values)
        if "data.drag_most" in {place.key for place in self._places}:
            self._memory.write("data.drag_most", self._memory.arrays["model.drag_inertia"] / self.dt)
        follows = [place for place in self._places if place.key not in self._start and place.root == "work"]
        if follows:
            self._follow(follows)

    def _take_memory(self, roots: dict[str, Record]) -> None:
        self._memory = WorldMemory(self._places, roots, self.worlds, APART)
        self._crew = Crew(self.threads, partial(make_lane, self._memory, self.compiled, self.method, self.dt))
        self.diverged = np.zeros(self.worlds, dtype=bool)

    def _follow(self, follows: list[Place]) -> None:
        """What a method's work has of each world's model: arrays, and starts that differ."""
        starts = [place for place in self._states if place.root == "work"]
        found = {place.key: np.repeat(place.array(self._roots())[None], self.worlds, axis=0) for place in follows}
        for w in range(self.worlds):
            roots = {"work": self.method.definition.make_work(self._compiled_world(w), self.method.options)}
            for place in follows:
                found[place.key][w] = place.array(roots)
            for place in starts:
                key, values, usual = place.key, place.array(roots), place.array(self._roots())
                if key not in self._start_differs and values.tobytes() != usual.tobytes():
                    self._start[key] = np.repeat(usual[None], self.worlds, axis=0)
                    self._start_differs |= {key}
                if key in self._start_differs:
                    self._start[key][w] = values
        for key, values in found.items():
            self._memory.write(key, values)

    def _compiled_world(self, world: int) -> CompiledScene:
        own = {place.name: self._memory.row(place.key, world) for place in self._places if place.root == "model"}
        if not own:
            return self.compiled
        scene = varied_scene(self.compiled, self._said, world)
        return replace(self.compiled, scene=scene).with_arrays({name: values.copy() for name, values in own.items()})

    def _steps(self) -> Work:
        """What makes steps with a lane."""
        if self._first._sensing is not None:
            return run_sensed_lane(self.method, self.dt, self._first._sensing.place)
        return run_lane(self.method.definition.run_worlds(self.method.options), self.dt)

    def _roots(self) -> dict[str, Record]:
        """The records of a world as it begins."""
        first = self._first
        sensed = {} if first._sensing is None else {"mounts": first._sensing.mounts}
        return {"model": first.model, "data": first.data, "work": first.work, **sensed}

    # ---- stepping ------------------------------------------------------------------------------------------------

    def step(self, steps: int = 1) -> None:
        """Advance every world by `steps` time steps, but for those that diverged.

        A world makes all its steps before the next world on the same thread does: many steps a call are cheaper. Ctrl-C
        ends it soon; `time` says how far each world came.
        """
        if not isinstance(steps, (int, np.integer)) or isinstance(steps, bool) or not 0 <= steps < 2**62:
            raise SceneError("steps must be a whole number, 0 or more", element="step", value=steps)
        if not self._warm:
            self._prepare()
        if steps == 0:
            return
        going = np.flatnonzero(~self.diverged)
        try:
            done = self._make_steps(going, int(steps))
        finally:
            self._release()
        stopped = going[done < steps]
        if len(stopped):
            self._stop(stopped)
        if self._first._sensing is not None:
            self._errors.add(self.sensor_readings, np.round(self.time / self.dt), going[done == steps])
        if not self._told_overflow and self.overflow.any():
            self._told_overflow = True
            warnings.warn(f"world {int(np.flatnonzero(self.overflow)[0])}: more contacts than there is room for; some "
                          "are left out (flag `overflow`)", SuspectRun, stacklevel=3)

    def _make_steps(self, going: np.ndarray, steps: int) -> np.ndarray:
        """Steps of some worlds; how many each made. Scripts are asked before every step, for every world."""
        if not self._script.active:
            return self._crew.step(going, steps, self._work)
        done, left = np.zeros(len(going), dtype=np.int64), np.arange(len(going))
        names = ("time", "kinematic_pose", "kinematic_velocity", "kinematic_acceleration", "kinematic_lead")
        for _ in range(steps):
            for w in going[left].tolist():
                rows = {name: self._memory.arrays[f"data.{name}"][w] for name in names}
                self._script.aim(SimpleNamespace(**rows), self.dt)
            made = self._crew.step(going[left], 1, self._work)
            done[left] += made
            left = left[made == 1]
        return done

    def _prepare(self) -> None:
        with CompileProgress(self.method.keyword) as line:
            prepare([self.method.module], tell=line.tell)
            self._work(self._crew.lane(), np.zeros(0, dtype=np.int64), 0)
        self._warm = True

    def _release(self) -> None:
        """Forces last for one call of `step`."""
        if self._pushed:
            self._memory.arrays["data.external_force"][:] = 0.0
            if "mounts.push" in self._memory.arrays:
                self._memory.arrays["mounts.push"][:] = 0.0
            self._pushed = False

    def apply_force(self, body: str, force: Any, torque: Any = (0.0, 0.0, 0.0), point: Any = None) -> None:
        """Push a body of every world through the next step(): world axes, N and N m, each (3) or (worlds, 3).

        At its link's centre of mass, or at a point of the world. Until the next call of `step` ends.
        """
        view, element = self.bodies[body], f"apply_force to body {body!r}"
        if view.link < 0 or self.model.link_joint[view.link] == KINEMATIC:
            raise SceneError("the body is fixed or scripted: no force moves it", element=element)
        wrench, centers = self._xp.zeros((self.worlds, 6)), view.center_of_mass
        wrench[:, :3] = numbers_of(force, centers, "force", element)
        wrench[:, 3:] = numbers_of(torque, centers, "torque", element)
        if point is not None:
            wrench[:, 3:] += self._xp.cross(numbers_of(point, centers, "point", element) - centers, wrench[:, :3])
        self._memory.arrays["data.external_force"][:, view.link] += wrench
        if "mounts.push" in self._memory.arrays:
            self._memory.arrays["mounts.push"][:, view._frame] += wrench
        self._pushed = True

    def __setattr__(self, name: str, value: Any) -> None:
        """A misspelt assignment is an error, and the arrays stay where worlds look for them."""
        if "_warm" in self.__dict__ and not name.startswith("_") and not isinstance(
                getattr(type(self), name, None), property):
            known = [key for key in dir(type(self)) if isinstance(getattr(type(self), key), property)
                     and getattr(type(self), key).fset is not None]
            raise SceneError(f"no {name!r} to assign to", element="Batch", remedy=did_you_mean(
                name, known, f"there are {', '.join(known)}"))
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        """What a Simulation has and a batch has not is asked of one world."""
        if not name.startswith("_") and hasattr(Simulation, name):
            raise AttributeError(f"a Batch has no {name!r}; of one world: batch[0].{name}")
        raise AttributeError(f"a Batch has no {name!r}")

    def __reduce__(self) -> Any:
        """Copies and pickles are built anew, then put into the same state: compiled code holds addresses."""
        given = {"device": self.device, "threads": self.threads, "seed": self.seed, "vary": self._vary}
        state = {key: on_host(values).copy() for key, values in self._memory.arrays.items()}
        return _rebuild, (self.scene, self.worlds, self.method, self.dt, given, state, on_host(self.diverged).copy())

    def __len__(self) -> int:
        return self.worlds

    def __repr__(self) -> str:
        lost = int(self.diverged.sum())
        return (f"Batch of {self.worlds} worlds of {self.scene.name!r}: {self.method.label}, steps of {self.dt:g} s, "
                f"{self.threads} threads on the {self.device}" + (f"; {lost} diverged" if lost else ""))


def _rebuild(scene: Scene, worlds: int, method: Method, dt: float, given: dict[str, Any],
             state: dict[str, np.ndarray], diverged: np.ndarray) -> Batch:
    batch = Batch(scene, worlds, method, dt, **given)
    for key, values in state.items():
        batch._memory.write(key, values)
    batch._mark(slice(None), diverged)
    batch._pushed = bool(state["data.external_force"].any())
    return batch


def _whole(value: Any, what: str, least: int) -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not least <= value < 2**62:
        raise SceneError(f"{what} must be a whole number, {least} or more", element="Batch", value=value,
                         remedy=f"give a number such as {what}=4")
    return int(value)


def make_lane(memory: WorldMemory, compiled: CompiledScene, method: Method, dt: float) -> Lane:
    """Work space for one thread. It knows nothing of the batch, which may then be freed when nobody holds it."""
    definition = method.definition
    roots: dict[str, Record] = {
        "model": Model(**{name: getattr(compiled.model, name) for name in compiled.model.fields}),
        "data": start_data(compiled, dt), "work": definition.make_work(compiled, method.options)}
    if compiled.scene.sensors or compiled.scene.read_in_steps:
        roots["mounts"] = make_mounts(compiled, definition.leave_motion is not None, definition.rotors(method.options))
    return Lane(memory, roots)
