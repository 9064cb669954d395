"""One run of an audit: a law, conditions, a seed; whether it succeeded, and what its contacts did."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from sesshoku.comparison.audit.conditions import Condition, Delay, Push, start_of, vary_scene
from sesshoku.comparison.audit.controllers import Criterion, base_body, make_controller
from sesshoku.comparison.audit.touch import Touch, feel
from sesshoku.comparison.mujoco import KEY, MujocoRun
from sesshoku.errors import MethodError, SceneError, SimulationDiverged, SuspectRun, UnstableStep, UnsupportedFeature
from sesshoku.scene.elements import Material
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import DEFAULT_TIME_STEP, Simulation

LOOKED = 0.005  # s between looks at contacts
WATCHED = 0.02  # s between looks at whether it has fallen
DURATION = 5.0  # s, where neither the user nor the controller says


@dataclass(frozen=True)
class Setting:
    """What all runs of an audit share; sent to other processes, so that it names things and does not hold them."""

    controller: str
    conditions: tuple[Condition, ...] = ()
    robot: str | None = None
    pose: str | None = None
    ground: bool = False
    fixed_base: bool = False
    success: str | None = None
    duration: float | None = None
    dt: float | None = None
    push_body: str | None = None
    folder: str | None = None  # where modules and policies are looked for
    contents: str = ""  # a hash of the files it was made from: runs of another policy do not belong to these

    @property
    def label(self) -> str:
        """What is judged, in short: a policy's file without its folders."""
        return Path(self.controller).name if Path(self.controller).is_file() else self.controller

    @property
    def place(self) -> Path | None:
        return None if self.folder is None else Path(self.folder)


@dataclass
class Ending:
    """How a run ended."""

    success: bool
    end: str
    time: float
    score: float | None = None
    touches: dict[tuple[str, str], Touch] = field(default_factory=dict)


@cache
def nominal_scene(setting: Setting) -> Scene:
    """The scene as it is without conditions; every process reads it once."""
    controller = make_controller(setting.controller, setting.place)
    own = getattr(controller, "scene", None)
    if setting.robot is None:
        if not isinstance(own, Scene):
            raise SceneError("no robot is named, and the controller has no scene", element="audit",
                             value=setting.controller, remedy="give --robot MODEL")
        scene = own
    else:
        scene = _read(setting)
    prepare = getattr(controller, "prepare_scene", None)
    if prepare is not None:
        prepare(scene)
    return scene


def _read(setting: Setting) -> Scene:
    file = Path(str(setting.robot))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnsupportedFeature)
        if file.suffix.lower() == ".toml" and not (setting.fixed_base or setting.pose):
            scene = Scene.read(file)
        elif setting.fixed_base or setting.pose is not None:
            scene = Scene(name=file.stem)
            scene.load(file, fixed_base=setting.fixed_base or None, pose=setting.pose)
        else:
            scene = Scene.read(file)
    if setting.ground:
        scene.add_ground("ground" if "ground" not in scene.bodies else "audit_ground", material=Material(1.0))
    return scene


def make_run(scene: Scene, law: str, dt: float) -> Simulation:
    """A simulation under a law, or MuJoCo behind the same interface."""
    with warnings.catch_warnings():
        for kind in (UnsupportedFeature, UnstableStep):
            warnings.simplefilter("ignore", kind)
        return MujocoRun(scene, dt) if law == KEY else Simulation(scene, law, dt)


class Trial:
    """A run that is ready to be made: `go(look)`; look(sim) is called after every step."""

    def __init__(self, setting: Setting, law: str, point: Mapping[str, float], seed: int) -> None:
        nominal = nominal_scene(setting)
        self.law, self.scene = law, vary_scene(nominal, setting.conditions, point, seed)
        self.controller = make_controller(setting.controller, setting.place)
        if law == KEY and KEY not in getattr(self.controller, "PEERS", (KEY,)):
            raise MethodError("this controller uses more of a simulation than MuJoCo offers", element=f"law {law!r}",
                              remedy="leave MuJoCo out")
        wish = point.get("dt", setting.dt if setting.dt is not None else
                         getattr(self.controller, "dt", None) or nominal.time_step or DEFAULT_TIME_STEP)
        self.sim = make_run(self.scene, law, float(wish))
        start = start_of(nominal, setting.conditions, point, seed)
        if start is not None:
            self.sim.set_state(*start)
        own = getattr(self.controller, "duration", None)
        self.duration = setting.duration if setting.duration is not None else float(own) if own else DURATION
        said = setting.success if setting.success is not None else getattr(self.controller, "criterion", None)
        self.criterion = Criterion(said, self.controller, self.scene, setting.place)
        self.delay = Delay(point.get("delay", 0.0), self.sim.dt)
        body = setting.push_body or getattr(self.controller, "push_body", None) or base_body(self.scene)
        self.push: Push | None = None
        if point.get("push"):
            if body is None:
                raise SceneError("nothing of the scene is free to be pushed", element="push",
                                 remedy="name a body: --push-body NAME")
            self.push = Push(body, float(point["push"]), self.duration, seed)
        self.touches: dict[tuple[str, str], Touch] = {}

    def go(self, look: Callable[[Any], None] | None = None) -> Ending:
        """Make the run. It ends early where it has failed."""
        sim, controller = self.sim, self.controller
        steps = max(round(self.duration / sim.dt), 1)
        every, watched = (max(round(period / sim.dt), 1) for period in (LOOKED, WATCHED))
        begin = getattr(controller, "begin", None)
        if begin is not None:
            begin(sim)
        self.delay.begin(sim)
        self.criterion.begin(sim)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SuspectRun)
                for n in range(steps):
                    self.delay.undo(sim)
                    controller(sim)
                    self.delay(sim)
                    if self.push is not None:
                        self.push(sim)
                    sim.step()
                    if look is not None:
                        look(sim)
                    if n % every == every - 1:
                        self._feel(sim, every * sim.dt)
                    if n % watched == watched - 1 or n == steps - 1:
                        why = self.criterion.failed(sim)
                        if why is not None:
                            return self._ending(False, f"{why} at {sim.time:.2f} s")
        except SimulationDiverged as error:
            return self._ending(False, f"diverged at {error.time:.2f} s")
        success = self.criterion.success(sim)
        return self._ending(success, "succeeded" if success else "did not reach its goal")

    def _ending(self, success: bool, end: str) -> Ending:
        score = getattr(self.controller, "score", None)
        value = None if score is None else float(score(self.sim))
        finite = value is not None and math.isfinite(value)
        return Ending(success, end, self.sim.time, value if finite else None, self.touches)

    def _feel(self, sim: Simulation, seconds: float) -> None:
        """Add up what the contacts of the last step did, as if it had lasted until now."""
        for pair, felt in feel(sim.contacts).items():
            self.touches.setdefault(pair, Touch()).add(felt, seconds)


def run_trial(setting: Setting, method: str, seed: int, **grid: float) -> dict[str, Any]:
    """A run of the sweep: its outcome, its draws, and of every pair of bodies that touched how it did."""
    point = point_of(setting.conditions, grid, seed)
    ending = Trial(setting, method, point, seed).go()
    touched = {" and ".join(pair): touch.means() for pair, touch in ending.touches.items()}
    return {"success": ending.success, "end": ending.end, "time": ending.time, "score": ending.score,
            **{f"{name}_drawn": value for name, value in point.items() if name not in grid},
            "pairs": list(touched), **{key: [means[key] for means in touched.values()]
                                       for key in ("slip", "creep", "depth", "force", "loaded")}}


def point_of(conditions: Sequence[Condition], grid: Mapping[str, float], seed: int) -> dict[str, float]:
    """All numbers of a run: those of the grid, and what the seed draws."""
    return {c.name: c.draw(seed) if c.drawn else float(grid[c.name]) for c in conditions}


def positions(sim: Simulation) -> np.ndarray:
    """(F, 3) positions of all bodies."""
    found: np.ndarray = sim.body_poses()[:, :3]
    return found
