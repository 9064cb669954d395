"""A copy is the original: restored, deep-copied and pickled simulations go on bit for bit, with every method.

What a method keeps from step to step beyond what its records declare as saved shows here: scenes with scripted bodies
that push, loops, mimics, limits, friction that changes its state, and random heaps.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import sesshoku as ss
from mechanisms import everything
from property_scenes import random_scene
from sesshoku.methods.registry import keywords, resolve
from support import SEED, sample_count

EXAMPLES = Path(__file__).parents[2] / "examples"
STEPS = 100  # for which copies must be the original
pytestmark = pytest.mark.filterwarnings("ignore::sesshoku.UnsupportedFeature", "ignore::sesshoku.UnstableStep",
                                        "ignore::sesshoku.stages.deep_overlaps.DeepOverlap")


def example(name: str) -> ss.Scene:
    return ss.Scene.read(EXAMPLES / f"{name}.toml")


def paddle() -> ss.Scene:
    """A scripted paddle that turns as it pushes a stack and a ball along; they slide, stop and come back to rest."""
    scene = ss.Scene()
    scene.add_ground()
    scene.add_box("paddle", size=(0.1, 1.0, 0.5), position=(-0.3, 0, 0.26), velocity=(0.8, 0, 0),
                  angular_velocity=(0, 0, 0.6), kinematic=True)
    scene.add_box("lower", size=(0.3, 0.3, 0.2), mass=2.0, position=(0, 0, 0.1))
    scene.add_box("upper", size=(0.2, 0.25, 0.2), mass=1.0, position=(0.02, 0, 0.305), angular_velocity=(0, 0, 2.0))
    scene.add_sphere("ball", radius=0.1, mass=0.3, position=(0.4, 0.1, 0.1), velocity=(-1.5, 0, 0))
    return scene


def gripper() -> ss.Scene:
    """A hand on an arm whose fingers, joined by a mimic, close on a crate."""
    scene = ss.Scene()
    scene.add_ground()
    scene.load(ss.robots.path("arm_gripper.xml"))
    scene.add_box("crate", size=(0.2, 0.2, 0.2), mass=2.0, position=(0.5, 0.1, 0.1))
    return scene


def dice(rng: np.random.Generator) -> ss.Scene:
    """Boxes that tumble over the ground: their contacts come and go from step to step."""
    scene = ss.Scene()
    scene.add_ground()
    for n in range(int(rng.integers(1, 4))):
        scene.add_box(f"b{n}", size=rng.uniform(0.05, 0.3, 3), mass=float(rng.uniform(0.1, 2)),
                      position=(0.4 * n, 0, float(rng.uniform(0.2, 0.4))), velocity=2.0 * rng.normal(size=3),
                      angular_velocity=15.0 * rng.normal(size=3))
    return scene


SCENES: dict[str, tuple[Callable[[], ss.Scene], float]] = {
    "paddle": (paddle, 2e-3),
    "crate_thrown": (lambda: example("crate_thrown"), 4e-3),
    "gripper_and_belt": (lambda: example("gripper_and_belt"), 2e-3),
    "four_bar": (lambda: example("four_bar"), 2e-3),
    "everything": (everything, 1e-3),
    "gripper": (gripper, 1e-3),
}


def check_copies(sim: ss.Simulation, before: int) -> None:
    """After `before` steps, four ways to come back to this state, each for STEPS steps, against the run itself."""
    sim.step(before)
    snapshot = sim.save()
    fresh = ss.Simulation(sim.scene, sim.method, sim.dt)
    fresh.restore(snapshot)
    copies = {"restored into a new simulation": fresh, "deepcopy": copy.deepcopy(sim),
              "pickle": pickle.loads(pickle.dumps(sim))}
    middle, end = history(sim)
    sim.step(17)
    sim.restore(snapshot)
    for name, other in (copies | {"restored into itself": sim}).items():
        for part, mine, theirs in zip(("half-way", "at the end"), (middle, end), history(other), strict=True):
            differs = [key for key in mine if mine[key].tobytes() != theirs[key].tobytes()]
            assert mine.keys() == theirs.keys() and not differs, f"{name} differs {part}: {', '.join(differs)}"


def history(sim: ss.Simulation) -> tuple[ss.Snapshot, ss.Snapshot]:
    sim.step(STEPS // 2)
    middle = sim.save()
    sim.step(STEPS - STEPS // 2)
    return middle, sim.save()


@pytest.mark.parametrize("method", keywords())
@pytest.mark.parametrize("name", SCENES)
def test_copies_go_on_as_the_original(name: str, method: str) -> None:
    build, dt = SCENES[name]
    check_copies(ss.Simulation(build(), method, dt), 60)


@pytest.mark.parametrize("method", keywords())
def test_copies_of_random_scenes_go_on_as_the_original(method: str) -> None:
    for n in range(sample_count(2, 40)):
        rng = np.random.default_rng([SEED, 77, n])
        bounces = resolve(method).definition.guaranteed("restitution", resolve(method).options)
        scene = random_scene(rng, float(rng.choice([0.0, 0.5])) if bounces else 0.0)
        check_copies(ss.Simulation(scene, method, float(10 ** rng.uniform(-3.5, -2.0))), int(rng.integers(1, 120)))


@pytest.mark.parametrize("method", keywords())
def test_every_state_of_tumbling_dice_restores(method: str) -> None:
    """One step on from any state, restored where something else was simulated before."""
    seeds = [[SEED, 78, n] for n in range(sample_count(1, 40))]
    for seed in [[5, 9], [5, 34], *seeds]:  # the first two: contacts of `springs` that were gone for one step
        sim, other = (ss.Simulation(dice(np.random.default_rng(seed)), method, 5e-3) for _ in range(2))
        states = [sim.save()]
        for _ in range(sample_count(120, 250)):
            sim.step()
            states.append(sim.save())
        other.step(37)
        for before, after in zip(states[-2::-1], states[:0:-1], strict=True):
            other.restore(before)
            other.step()
            found = other.save()
            assert [name for name in found if found[name].tobytes() != after[name].tobytes()] == [], before["time"]
