"""Contact problems to compare solvers on: snapshots of simulated scenes, one per island.

A scene runs under the step of `lcp` (semi-implicit, true cones), with its problem solved by the exact solver; the
problem of a step is copied before it is solved, so that `start` holds the previous step's impulses.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from sesshoku.collision.contacts import CONTACTS, ISLANDS
from sesshoku.errors import UnsupportedFeature
from sesshoku.experiments.exact.islands import Island
from sesshoku.methods.registry import Method, resolve
from sesshoku.robots import path
from sesshoku.scene.elements import Joint, Material
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation
from sesshoku.solvers.problem import JOINT_ROWS, make_problem
from sesshoku.solvers.proximal.newton import solve_island
from sesshoku.solvers.proximal.work import NewtonOptions, make_newton_work
from sesshoku.spatial.rotation import axis_angle
from sesshoku.stages import contact_forces, island_rows


class Stepper:
    """Steps a scene, solving each island exactly; hands out the problems it meets."""

    def __init__(self, scene: Scene, dt: float, options: NewtonOptions | None = None) -> None:
        base = resolve("lcp:recommended")  # its own friction state is set aside: one coefficient per contact
        options_of_step = replace(base.options, static_friction_speed=0.0, margin=0.01)
        self.sim = Simulation(scene, Method("lcp", options_of_step, base.module), dt)
        self.sim.step(0)
        self.memory: Any = self.sim.work
        self.contacts, self.problem = self.memory.contacts, self.memory.problem
        m = self.sim.model
        self.work = make_newton_work(self.contacts.capacity, self.problem.joint_capacity, m.dof_count, m.tree_count,
                                     options or NewtonOptions(tolerance=1e-10))
        self.stages = self.sim.method.definition.stages_of(self.sim.method.options).named

    def step(self, take: bool = False) -> list[Island]:
        """One time step; the islands with contact, as they stood before their solve, if wanted."""
        sim = self.sim
        arguments = (sim.model, sim.data, sim.work, sim.dt)
        for name in ("place links", "find points", "free motion", "build problem"):
            self.stages[name](*arguments)
        taken = [self.copy(*lists) for lists in self._islands()] if take else []
        sim.data.report[:] = 0.0
        self.problem.y[:] = 0.0
        for lists in self._islands():
            self.solve(*lists)
        contact_forces.apply_forces(*arguments)
        self.stages["advance"](*arguments)
        sim._release()
        sim._stale = True
        return [island for island in taken if island.contacts > 0]

    def solve(self, contact_list: np.ndarray, joint_list: np.ndarray, dof_list: np.ndarray) -> None:
        """Impulses of one island, and y of its dofs, into the problem."""
        solve_island(self.sim.model.row_dof, self.problem, self.memory.mu, (contact_list, joint_list, dof_list),
                     self.work.options, self.work)

    def _islands(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Lists of contacts, joint rows and dof ranges of every island."""
        model, c = self.sim.model, self.contacts
        rest = island_rows.group_joint_rows(model, self.memory)
        for n in range(rest + 1):
            first, last = (c.island_start[n], c.island_start[n + 1]) if n < c.counts[ISLANDS] else (0, 0)
            joint_list = self.memory.joint_list[self.memory.joint_start[n] : self.memory.joint_start[n + 1]]
            if last > first or len(joint_list):
                trees = island_rows.island_dofs(model, self.memory, n)
                yield c.island_contact[first:last].copy(), joint_list.copy(), self.memory.dof_list[:trees].copy()

    def copy(self, contact_list: np.ndarray, joint_list: np.ndarray, dof_list: np.ndarray) -> Island:
        """The island alone: rows renumbered, dofs and chains of its own."""
        p, chains = self.problem, self.sim.model.row_dof
        dofs = np.concatenate([np.arange(a, b) for a, b in dof_list])
        place = np.full(self.sim.model.dof_count, -1)
        place[dofs] = np.arange(len(dofs))
        m, nj = len(contact_list), len(joint_list)
        out = make_problem(m, nj, len(dofs), int(max(self.sim.model.dof_depth, default=0)) + 1)
        new_chains: list[int] = []
        used = 0
        for i, old in [(i, c) for i, c in enumerate(contact_list)] + [(m + i, j) for i, j in enumerate(joint_list)]:
            width, spans = (3, p.span[old]) if i < m else (1, p.joint_span[old])
            for side, (start, count, at) in enumerate(spans):
                target = out.span[i, side] if i < m else out.joint_span[i - m, side]
                target[:] = len(new_chains), count, used
                new_chains += list(place[chains[start : start + count]])
                out.half[used : used + width * count] = p.half[at : at + width * count]
                used += width * count
        out.body[:] = [[place[k] if k >= 0 else k for k in p.body[c]] for c in contact_list]
        for name in ("block", "inverse", "free", "impulse", "velocity"):
            getattr(out, name)[:] = getattr(p, name)[contact_list]
        for name in ("joint_block", "joint_free", "joint_low", "joint_high", "joint_impulse"):
            getattr(out, name)[:] = getattr(p, name)[joint_list]
        out.counts[JOINT_ROWS] = nj
        sizes = np.diff(dof_list, axis=1)[:, 0]
        first = np.concatenate([[0], np.cumsum(sizes)])
        start = np.concatenate([p.impulse[contact_list].ravel(), p.joint_impulse[joint_list]])
        return Island(out, np.array(new_chains, dtype=np.int64), self.memory.mu[contact_list].copy(), np.arange(m),
                      np.arange(nj), np.stack([first[:-1], first[1:]], axis=1), start)

    @property
    def contact_count(self) -> int:
        return int(self.contacts.counts[CONTACTS])


# ---- scenes --------------------------------------------------------------------------------------------------------


def _tilt(rng: np.random.Generator, most: float) -> np.ndarray:
    axis = rng.normal(size=3)
    return axis_angle(axis / np.linalg.norm(axis), float(rng.uniform(-most, most)))


def _floor(mu: float) -> tuple[Scene, Material]:
    material, scene = Material(mu), Scene(gravity=(0, 0, -9.8))
    scene.add_ground(material=material)
    return scene, material


def box_stop(rng: np.random.Generator) -> Scene:
    """A cube of 1 m sliding and spinning to rest, mu 0.2 to 1."""
    scene, material = _floor(rng.uniform(0.2, 1.0))
    scene.add_box("box", size=(1, 1, 1), mass=1.0, position=(0, 0, 0.5), velocity=(*rng.uniform(-3, 3, size=2), 0),
                  angular_velocity=(0, 0, rng.uniform(-5, 5)), material=material)
    return scene


def box_land(rng: np.random.Generator) -> Scene:
    """A tilted cube of 0.2 m landing."""
    scene, material = _floor(rng.uniform(0.2, 1.0))
    scene.add_box("box", size=(0.2,) * 3, mass=1.0, position=(0, 0, 0.18), rotation=_tilt(rng, 0.5),
                  velocity=rng.uniform(-2, 2, size=3), angular_velocity=rng.uniform(-5, 5, size=3), material=material)
    return scene


def stack(rng: np.random.Generator, masses: list[float], kick: float, shift: float) -> Scene:
    """Cubes of 0.2 m on each other, up to `shift` off centre, kicked at about `kick` m/s."""
    scene, material = _floor(0.5)
    for n, mass in enumerate(masses):
        scene.add_box(f"box{n}", size=(0.2,) * 3, mass=mass, material=material, velocity=kick * rng.normal(size=3),
                      position=(*rng.uniform(-shift, shift, size=2), 0.2 * (n + 0.5)))
    return scene


def grasp(rng: np.random.Generator) -> Scene:
    """Two sliding fingers press a box with 4 to 12 N each (4.9 N holds it); the box is perturbed."""
    material, scene = Material(0.5), Scene(gravity=(0, 0, -9.8))
    push = rng.uniform(4.0, 12.0)
    for side in (-1.0, 1.0):
        name = "left" if side < 0 else "right"
        # a spring whose rest lies far inside presses with a nearly constant force
        slide = Joint("prismatic", axis=(1, 0, 0), stiffness=push, rest=-side)
        scene.add_box(name, size=(0.04, 0.06, 0.06), mass=0.5, position=(0.07 * side, 0, 1.0), material=material,
                      joint=slide)
    scene.add_box("box", size=(0.1,) * 3, mass=0.5, position=(0, 0, 1.0), velocity=0.05 * rng.normal(size=3),
                  angular_velocity=0.05 * rng.normal(size=3), material=material)
    return scene


def pile(rng: np.random.Generator, edge: int, size: float = 0.1) -> Scene:
    """edge^3 loosely stacked, tilted cubes that fall on a heap; layers shifted, so that most of it is one island."""
    scene, material = _floor(0.5)
    for n, (i, j, k) in enumerate(np.ndindex(edge, edge, edge)):
        aside, shift = rng.uniform(-0.01, 0.01, size=2), 0.5 * (k % 2)
        spot = (1.6 * (i + shift) * size + aside[0], 1.6 * (j + shift) * size + aside[1], (0.8 + 1.4 * k) * size)
        scene.add_box(f"box{n}", size=(size,) * 3, mass=1.0, position=spot, rotation=_tilt(rng, 0.35),
                      material=material)
    return scene


def humanoid() -> Scene:
    """The large humanoid on its two feet, servos holding its stance: 8 contacts."""
    scene, _ = _floor(0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnsupportedFeature)
        scene.load(path("humanoid_large.xml"), pose="stand")
    return scene


def _shove(sim: Simulation, step: int) -> None:
    if 400 < step < 500:
        sim.apply_force("pelvis", (60.0 * np.sin(step), 30.0, 0.0))


def _kick(rng: np.random.Generator, speed: float, every: int) -> Callable[[Simulation, int], None]:
    """Before every so many steps the bodies get random velocities of about `speed`, m/s and rad/s, more."""

    def before_step(sim: Simulation, step: int) -> None:
        if step % every == 0:
            sim.data.v += speed * rng.normal(size=len(sim.data.v))
            sim._stale = True

    return before_step


def collect(scene: Scene, dt: float, steps: int, choose: Callable[[int, int], bool],
            before_step: Callable[[Simulation, int], None] | None = None,
            options: NewtonOptions | None = None) -> list[Island]:
    """Islands of the steps that `choose(step, contacts)` picks. before_step(sim, step): before each step."""
    stepper, out = Stepper(scene, dt, options), []
    for n in range(steps):
        if before_step is not None:
            before_step(stepper.sim, n)
        out += stepper.step(take=choose(n, stepper.contact_count))
    return out


def problem_sets(seed: int = 3, share: float = 1.0, progress: Callable[[str], None] = lambda text: None,
                 large: bool = True) -> dict[str, list[Island]]:
    """The sets solvers are compared on. share: of the scenes of each set. large: also the pile of 125 (minutes)."""
    rng = np.random.default_rng(seed)
    sets: dict[str, list[Island]] = {name: [] for name in ("box stop", "box land", "1000:1", "10000:1", "grasp",
                                                           "humanoid", "stack of 10", "pile of 27")}

    def count(full: int) -> int:
        return max(1, round(share * full))

    for _ in range(count(60)):
        sets["box stop"] += collect(box_stop(rng), 1 / 50, 30, lambda n, _: rng.random() < 0.15)
        sets["box land"] += collect(box_land(rng), 1 / 100, 60, lambda n, c: c > 1 and rng.random() < 0.15)
    progress("boxes")
    for name, ratio in (("1000:1", 1e3), ("10000:1", 1e4)):
        for _ in range(count(6)):
            sets[name] += collect(stack(rng, [1.0, ratio], 0.0, 0.02), 1 / 200, 60, lambda n, _: n % 6 == 0,
                                  _kick(rng, 0.02, 6))
    for _ in range(count(4)):
        sets["grasp"] += collect(grasp(rng), 1 / 200, 60, lambda n, _: n % 4 == 0, _kick(rng, 0.05, 4))
    progress("heavy on light, grasps")
    sets["humanoid"] = collect(humanoid(), 1e-3, round(1500 * min(1.0, share)), lambda n, _: n % 15 == 0, _shove)
    for _ in range(count(4)):
        sets["stack of 10"] += collect(stack(rng, [1.0] * 10, 0.0, 0.01), 1 / 60, 60, lambda n, _: n % 4 == 0,
                                       _kick(rng, 0.05, 4))
    progress("stacks")
    sets["pile of 27"] = collect(pile(rng, 3), 1 / 200, 400, lambda n, _: n % 20 == 19)
    if large:
        progress("piles")
        sets["pile of 125"] = collect(pile(rng, 5), 1 / 200, 400, lambda n, _: n % 40 == 39)
    return {name: [p for p in found if p.contacts >= _LEAST.get(name, 1)] for name, found in sets.items()}


_LEAST = {"stack of 10": 20, "pile of 27": 15, "pile of 125": 200}  # contacts: not the lone boxes beside the heap
