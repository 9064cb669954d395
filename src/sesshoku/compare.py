"""The same scene under several contact methods (and MuJoCo): one table, one report.

    result = sesshoku.compare(scene, time=2.0, dt=1e-3, controller=push)
    print(result.table())
    result.to_html("report.html")

Every method and preset runs on the same scene, step size and controller; a method that cannot carry the scene says why.
"""

from __future__ import annotations

import time as wall
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from sesshoku.comparison.outcome import Comparison, Outcome, Watcher
from sesshoku.errors import SceneError, SesshokuError, SimulationDiverged, UnsupportedFeature
from sesshoku.methods.registry import Method, keywords
from sesshoku.scene import check
from sesshoku.scene.calls import checked
from sesshoku.scene.scene import Scene
from sesshoku.simulation import Simulation


@checked
def compare(
    scene: Scene, methods: Iterable[str | Method] | None = None, *, controller: Callable[[Any], None] | None = None,
    time: float = 2.0, dt: float | None = None, watch: Iterable[str] | None = None, peers: Iterable[str] = (),
    progress: Callable[[str], None] | None = None,
) -> Comparison:
    """Run a scene under several methods. methods: default all that are registered, with their presets, but "none".

    controller(sim) is called before every step; with peers=("mujoco",) MuJoCo runs the same model, and a controller is
    given an object with the parts of Simulation it needs (time, dt, apply_force, actuators, bodies). watch: bodies
    whose final positions are shown (default: the free ones, at most four).
    """
    duration = check.number(time, "time", "compare", above=0.0)
    chosen = [keyword for keyword in keywords() if keyword != "none"] if methods is None else list(methods)
    watched = list(watch) if watch is not None else [
        body.name for body in scene.bodies.values() if body.joint.kind == "free"][:4]
    for name in watched:
        if name not in scene.bodies:
            raise SceneError(
                "no such body", element="watch", value=name, remedy=f"bodies: {', '.join(list(scene.bodies)[:8])}"
            )
    outcomes = []
    for method in chosen:
        label = method if isinstance(method, str) else repr(method)
        if progress is not None:
            progress(label)
        outcomes.append(run_method(scene, method, label, controller, duration, dt, watched))
    for peer in peers:
        if progress is not None:
            progress(peer)
        if peer != "mujoco":
            raise SceneError("unknown peer", element="compare", value=peer, remedy="peers: mujoco")
        from sesshoku.comparison.mujoco import run_mujoco

        outcomes.append(run_mujoco(scene, controller, duration, dt or scene.time_step or 1e-3, watched))
    used = dt or scene.time_step or 1e-3
    return Comparison(scene.name, duration, used, watched, outcomes)


def run_method(
    scene: Scene,
    method: str | Method,
    label: str,
    controller: Callable[[Any], None] | None,
    duration: float,
    dt: float | None,
    watched: list[str],
) -> Outcome:
    """One method's run, measured."""
    outcome = Outcome(label)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnsupportedFeature)
            sim = Simulation(scene, method, dt)
        sim.step(0)
        sim.body_poses(), sim.energy()
    except SesshokuError as error:
        outcome.refused = f"refused: {error}"
        return outcome
    watcher = Watcher(watched, round(duration / sim.dt))
    spent = 0.0
    try:
        watcher.sample(sim)
        for _ in range(round(duration / sim.dt)):
            if controller is not None:
                controller(sim)
            start = wall.perf_counter()
            sim.step()
            spent += wall.perf_counter() - start
            watcher.sample(sim)
    except SimulationDiverged as error:
        outcome.refused = f"diverged at {error.time:.4g} s"
    watcher.write(outcome, spent)
    return outcome


