"""Everything that Python calls of the compiled code, called once: what a wheel then brings finished.

`python tools/tour.py FOLDER [METHOD...]` compiles what is missing for the processor that SESSHOKU_CPU names and puts
the machine code of all methods and presets, of what simulations, sensors, recordings and controllers call, and the
bitcode of all kernels, into FOLDER.
"""

from __future__ import annotations

import contextlib
import importlib
import pkgutil
import shutil
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sesshoku as ss
from sesshoku import robots
from sesshoku.compiled import shipped, target
from sesshoku.compiled.kernel import Kernel
from sesshoku.compiled.kernel import store as kernels
from sesshoku.compiled.prepare import prepare
from sesshoku.compiled.prepare.progress import CompileProgress
from sesshoku.methods import registry
from sesshoku.simulation.batch import sensed

HEART = robots.path("heart.stl")


def shapes() -> ss.Scene:
    """Bodies of every shape on the ground, one of them thrown."""
    scene = ss.Scene()
    scene.add_ground()
    scene.add_box("crate", size=(0.4, 0.3, 0.3), mass=1.0, position=(0, 0, 0.15), velocity=(1, 0, 0))
    scene.add_sphere("ball", radius=0.1, mass=1.0, position=(2, 0, 0.1))
    scene.add_capsule("pill", radius=0.1, length=0.2, mass=1.0, position=(4, 0, 0.1))
    scene.add_mesh("heart", HEART, density=500.0, position=(6, 0, 0.5))
    return scene


def humanoid() -> ss.Scene:
    """A robot with sensors above the ground."""
    scene = ss.Scene()
    scene.add_ground()
    robot = scene.load(robots.path("humanoid_small.xml"), position=(0, 0, 1.0))
    scene.add_imu("gyro", robot.bodies[0])
    scene.add_force_sensor("foot", robot.bodies[-1])
    return scene


def use(sim: ss.Simulation) -> None:
    """What users call of a simulation."""
    sim.step()
    sim.step(2)
    name = next(iter(sim.bodies))
    sim.energy, sim.contacts, sim.report, sim.body_poses(), sim.mass_matrix(), sim.bias_force(), sim.momentum()
    sim.center_of_mass(), sim.jacobian(name), sim.bodies[name].velocity
    sim.inverse_dynamics(0.0 * sim.v), sim.forward_dynamics(0.0 * sim.v)
    sim.run(2 * sim.dt)
    sim.restore(sim.save())


def use_batch(batch: ss.Batch) -> None:
    """What users call of a batch."""
    batch.step(2)
    batch.body_poses(), batch.contact_force(next(iter(batch.bodies)))


def methods(names: list[str]) -> None:
    """Every method and preset on plain bodies and on a robot."""
    for keyword in registry.keywords():
        if keyword.partition(":")[0] in names:
            for scene in (shapes(), humanoid()):
                with contextlib.suppress(ss.MethodError):  # what a method cannot carry
                    use(ss.Simulation(scene, keyword))
                    use_batch(ss.Batch(scene, 2, keyword))


def walks() -> None:
    """Controllers: a walk with its stabiliser, on board and by the truth, and a jump."""
    from sesshoku.control.walking.watched_walk import NAMES, WatchedWalk
    from sesshoku.experiments.multipoint.jump import planned

    for name in NAMES:
        walk = WatchedWalk.named(name)
        sim = ss.Simulation(walk.scene, "exact", walk.scene.time_step)
        sim.run(0.02, walk)
    planned()


def all_kernels() -> Iterator[Any]:
    """Every kernel of the package."""
    for found in pkgutil.walk_packages(ss.__path__, "sesshoku."):
        if not found.name.endswith("__main__"):
            try:
                module = importlib.import_module(found.name)
            except ImportError:  # an extra that is not installed
                continue
            yield from (value for value in vars(module).values() if isinstance(value, Kernel))
    for keyword in registry.MODULES:
        yield from registry.load(keyword).METHOD._runs.values()
        yield from registry.load(keyword).METHOD._worlds.values()
    yield from sensed.loops.values()


def collect(folder: Path) -> int:
    """Copy what this process used of the store into a folder, and describe it; how many files."""
    for kernel in dict.fromkeys(all_kernels()):
        for args in list(kernel._linked):
            kernel.resolve(args)  # reads the bitcode of its whole call graph
    shutil.rmtree(folder, ignore_errors=True)
    return shipped.pack(kernels(), folder)


def main(folder: str, *names: str) -> None:
    """The tour, and its luggage."""
    warnings.simplefilter("ignore")
    chosen = list(names) or list(registry.MODULES)
    with CompileProgress(f"for {target.processor().name}") as line:
        prepare([registry.load(name) for name in chosen], tell=line.tell)
        methods(chosen)
        if "exact" in chosen:
            walks()
    print(f"{collect(Path(folder))} files in {folder}")


if __name__ == "__main__":
    main(*sys.argv[1:])
