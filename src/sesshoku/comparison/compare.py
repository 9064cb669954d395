"""The same scene under several contact methods (and MuJoCo): one table, one report.

    result = sesshoku.compare(scene, time=2.0, dt=1e-3, controller=push, expected={"travel": 9.8})
    print(result["lcp"].measures["travel"])
    result.to_html("report.html")

Every method and preset runs on the same scene, step size and controller; a method that cannot carry the scene says why.
"""

from __future__ import annotations

import time as wall
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sesshoku.comparison.ahead import Ahead
from sesshoku.comparison.outcome import MEASURES, Comparison, Outcome, check_expected
from sesshoku.comparison.watch import Watcher, time_steps
from sesshoku.errors import MethodError, SceneError, SesshokuError, SimulationDiverged, UnsupportedFeature
from sesshoku.methods.registry import Method, keywords, resolve
from sesshoku.scene import check
from sesshoku.scene.calls import checked
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import DEFAULT_TIME_STEP, Simulation

PEERS = ("mujoco",)


@checked
def compare(
    scene: Scene, methods: Iterable[str | Method] | None = None, *, controller: Callable[[Any], None] | None = None,
    time: float = 2.0, dt: float | None = None, watch: Iterable[str] | None = None, peers: Iterable[str] = (),
    expected: Mapping[str, Any] | None = None, title: str = "", note: str = "", strict: bool = False,
    progress: Callable[[str, float], None] | None = None, row: Callable[[Outcome], None] | None = None,
) -> Comparison:
    """Run a scene under several methods. methods: default all that are registered, with their presets, but "none".

    controller(sim) is called before every step. Each run is made twice, watched and timed: a controller that remembers
    begins anew where sim.time is 0. With peers=("mujoco",) MuJoCo runs the same model behind the interface of a
    Simulation, so that the same controller drives it; its row is result["mujoco"]. watch: bodies whose final positions
    are shown (default: the free ones, at most four, else the last that moves); travel, height and turn are of
    the first. expected: measure -> value, or (value, within), known in closed form. strict: a method that would leave
    something of the scene out is refused; else its row says what. progress(label, share done) is called often,
    row(outcome) when a method has run. Methods that were never used before are compiled meanwhile, the default one
    first: they run in the order in which they are ready, and their steps are timed when all are. A controller may tell
    more of its runs: `look(sim)` is called after every step, `end(stopped)` then gives measures and a remark, and its
    `MEASURES` are the report's columns (as `control.WatchedWalk` does).
    """
    if not isinstance(scene, Scene):
        raise SceneError("compare needs a Scene", element="scene", value=type(scene).__name__)
    duration = check.number(time, "time", "compare", above=0.0)
    wish = dt if dt is not None else scene.time_step
    step = check.number(DEFAULT_TIME_STEP if wish is None else wish, "dt", "compare", above=0.0)
    if controller is not None and not callable(controller):
        raise SceneError("a controller is a function of the simulation", element="compare", value=controller)
    chosen = choose(methods)
    rivals = _peers(peers, controller)
    watched = _watched(scene, watch)
    answers = check_expected(expected)
    found: dict[str, Outcome] = {}
    timings: list[Callable[[], None]] = []
    with Ahead(list(dict.fromkeys(method.module for method, _ in chosen.values()))) as ahead:
        for label in sorted(chosen, key=lambda label: ahead.order.index(chosen[label][0].module)) \
                if ahead.busy else chosen:
            method, asked = chosen[label]
            ahead.wait(method.module, progress)
            outcome, timing = run_method(scene, method, label, controller, duration, step, watched,
                                         _told(progress, label), strict)
            outcome.asked = asked
            found[label] = outcome
            if ahead.busy:
                timings.append(timing)
            else:
                timing()
            if row is not None:
                row(outcome)
        ahead.wait_for_all(progress)
    for timing in timings:
        timing()
    outcomes = [found[label] for label in chosen]
    if "mujoco" in rivals:
        from sesshoku.comparison.mujoco import NAME, run_mujoco

        outcomes.append(run_mujoco(scene, controller, duration, step, watched, _told(progress, NAME)))
        if row is not None:
            row(outcomes[-1])
    return Comparison(scene.name, duration, step, watched, outcomes, answers, scene, title, note,
                      dict(getattr(controller, "MEASURES", MEASURES)))


def choose(methods: Iterable[str | Method] | None) -> dict[str, tuple[Method, str]]:
    """label -> method and how it was spelt; unknown ones and repetitions are refused before anything runs."""
    wanted: Iterable[Any] = [keyword for keyword in keywords() if keyword != "none"] if methods is None else \
        [methods] if isinstance(methods, (str, Method)) else methods
    chosen: dict[str, tuple[Method, str]] = {}
    for given in wanted:
        method = resolve(given)
        label = method.label
        if label in chosen:
            raise MethodError("asked for twice", element=f"method {label!r}", remedy="name it once")
        chosen[label] = method, given if isinstance(given, str) else label
    if not chosen:
        raise MethodError("nothing to compare", element="methods", remedy=f"methods: {', '.join(keywords())}")
    return chosen


def _peers(peers: Iterable[str], controller: Any) -> list[str]:
    """Peers by name; one that the controller says it cannot drive (its `PEERS`) is refused before anything runs."""
    wanted = [peers] if isinstance(peers, str) else list(peers)
    for peer in wanted:
        if peer not in PEERS:
            raise SceneError("unknown peer", element="compare", value=peer, remedy=f"peers: {', '.join(PEERS)}")
        if peer not in getattr(controller, "PEERS", PEERS):
            raise SceneError(f"this controller ({type(controller).__name__}) cannot drive that peer: it uses more of a "
                             "simulation than the peer offers", element="compare", value=peer,
                             remedy="leave the peer out")
    return wanted


def _watched(scene: Scene, watch: Iterable[str] | None) -> list[str]:
    if watch is None:
        free = [body.name for body in scene.bodies.values() if body.joint.kind == "free"][:4]
        return free or [body.name for body in scene.bodies.values() if body.joint.kind != "fixed"][-1:]
    names = [watch] if isinstance(watch, str) else list(watch)
    for name in names:
        if name not in scene.bodies:
            raise SceneError("no such body", element="watch", value=name,
                             remedy=f"bodies: {', '.join(list(scene.bodies)[:8])}")
    return names


def _told(progress: Callable[[str, float], None] | None, label: str) -> Callable[[float], None]:
    """progress for one label, at most ten times a second."""
    if progress is None:
        return lambda done: None
    progress(label, 0.0)
    last = wall.perf_counter()

    def told(done: float) -> None:
        nonlocal last
        now = wall.perf_counter()
        if now - last > 0.1 or done >= 1.0:
            last = now
            progress(label, done)

    return told


def run_method(scene: Scene, method: Method, label: str, controller: Callable[[Any], None] | None, duration: float,
               dt: float, watched: list[str], progress: Callable[[float], None] = lambda done: None,
               strict: bool = False) -> tuple[Outcome, Callable[[], None]]:
    """One method's run, measured, and what times its steps: the same run again, unwatched."""
    outcome = Outcome(label)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnsupportedFeature)
            sim = Simulation(scene, method, dt, strict=strict)
        sim.step(0)  # compile before the clock starts
        sim.body_poses(), sim.energy
    except SesshokuError as error:
        outcome.refused = f"refused: {error}"
        return outcome, lambda: None
    outcome.left_out = sim.left_out
    steps = max(round(duration / sim.dt), 1)
    watcher, begin = Watcher(watched, steps, sim.dt), sim.save()
    watcher.sample(sim)
    look = getattr(controller, "look", None)
    try:
        for n in range(steps):
            if controller is not None:
                controller(sim)
            sim.step()
            watcher.sample(sim)
            if look is not None:
                look(sim)
            progress((n + 1) / steps)
    except SimulationDiverged as error:
        outcome.refused = f"diverged at {error.time:.4g} s"
    watcher.write(outcome)
    end = getattr(controller, "end", None)
    if end is not None:
        more, outcome.remark = end(outcome.refused is not None)
        outcome.measures |= more

    def timing() -> None:
        sim.restore(begin)
        outcome.measures["step"] = time_steps(sim, controller, steps)

    return outcome, timing if outcome.refused is None else lambda: None
