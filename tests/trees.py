"""Random trees of every joint kind, and what tests of the dynamics share."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.dynamics.aba import articulate
from sesshoku.dynamics.crba import mass_matrix
from sesshoku.dynamics.data import Data, make_data
from sesshoku.dynamics.factor import factorize
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import external_wrenches, link_velocities
from sesshoku.integrate.position import move
from sesshoku.model.arrays import Model
from sesshoku.scene.compiler import CompiledScene, compile_scene
from sesshoku.scene.elements import Inertial, Joint
from sesshoku.scene.scene import Scene

HANGING = ("revolute", "continuous", "prismatic", "spherical", "planar", "fixed")  # kinds that may have a parent
BASES = ("free", "fixed", "revolute", "spherical", "planar", "prismatic")


def unit(rng: np.random.Generator, size: int) -> np.ndarray:
    direction = rng.normal(size=size)
    return direction / np.linalg.norm(direction)


def random_inertial(rng: np.random.Generator) -> Inertial:
    """The inertia of a random cloud of points: always physical."""
    mass = rng.uniform(0.5, 3.0)
    points = rng.normal(size=(6, 3)) * 0.3
    points -= points.mean(axis=0)
    second = mass / 6 * points.T @ points
    return Inertial(mass, rng.normal(size=3) * 0.2, np.trace(second) * np.eye(3) - second)


def random_joint(rng: np.random.Generator, kind: Any, armature: float = 0.2) -> Joint:
    """A joint off the body's origin, at a random position and speed."""
    start: dict[str, Any] = {}
    if kind in ("revolute", "continuous", "prismatic"):
        start = {"position": rng.normal(), "velocity": rng.normal()}
    elif kind == "spherical":
        start = {"position": unit(rng, 4), "velocity": rng.normal(size=3)}
    elif kind == "planar":
        start = {"position": rng.normal(size=3), "velocity": rng.normal(size=3)}
    return Joint(kind, axis=unit(rng, 3), anchor=0.3 * rng.normal(size=3), armature=armature * rng.uniform(), **start)


def add_tree(scene: Scene, rng: np.random.Generator, name: str, size: int, base: str, kinds: Any = HANGING,
             armature: float = 0.2) -> None:
    """A tree of `size` bodies; each hangs on any earlier one, so numbers of a subtree have gaps."""
    root: dict[str, Any] = {"joint": Joint("free"), "velocity": rng.normal(size=3),
                            "angular_velocity": rng.normal(size=3)}
    if base == "kinematic":
        root = {"kinematic": True, "velocity": rng.normal(size=3), "angular_velocity": rng.normal(size=3)}
    elif base != "free":
        root = {"joint": random_joint(rng, base, armature)}
    scene.add_body(f"{name}0", position=rng.normal(size=3), rotation=unit(rng, 4), inertial=random_inertial(rng),
                   **root)
    for i in range(1, size):
        scene.add_body(f"{name}{i}", parent=f"{name}{rng.integers(i)}", position=0.5 * rng.normal(size=3),
                       rotation=unit(rng, 4), inertial=random_inertial(rng),
                       joint=random_joint(rng, kinds[i % len(kinds)], armature))


def random_scene(rng: np.random.Generator, trees: int = 3, size: int = 9, bases: Any = BASES, **options: Any) -> Scene:
    """Several trees of every joint kind under a slanted gravity."""
    scene = Scene(gravity=(0.3, -0.2, -9.8))
    first = int(rng.integers(len(bases)))
    for t in range(trees):
        add_tree(scene, rng, f"tree{t}_", size, bases[(first + t) % len(bases)], **options)
    return scene


class Posed:
    """A compiled scene with its data, kinematics, velocities and factor up to date, other outputs poisoned."""

    def __init__(self, scene: Scene, ready: bool = True) -> None:
        self.compiled: CompiledScene = compile_scene(scene)
        self.model: Model = self.compiled.model
        self.data: Data = make_data(self.compiled)
        poison_outputs(self.data)
        if ready:
            self.refresh()

    def refresh(self) -> None:
        model, data = self.model, self.data
        kinematics(model, data, data.q)
        external_wrenches(model, data)
        link_velocities(model, data, data.v)
        mass_matrix(model, data, data.mass_matrix)
        factorize(model, data.mass_matrix, data.implicit_diagonal, data.factor, data.factor_dinv)
        articulate(model, data)

    def moved(self, h: float) -> Posed:
        """The same scene a little later along its velocity."""
        later = Posed(self.compiled.scene, ready=False)
        later.data.q[:] = self.data.q
        later.data.v[:] = self.data.v
        move(self.model, later.data.q, later.data.v, h)
        later.refresh()
        return later

    @property
    def H(self) -> np.ndarray:
        return dense(self.model, self.data.mass_matrix)


def dense(model: Model, rows: np.ndarray) -> np.ndarray:
    """The full symmetric matrix of one stored in rows by ancestor chain."""
    full = np.zeros((model.dof_count, model.dof_count))
    for k in range(model.dof_count):
        ancestors = model.row_dof[model.dof_row[k] : model.dof_row[k + 1]]
        full[k, ancestors] = full[ancestors, k] = rows[model.dof_row[k] : model.dof_row[k + 1]]
    return full


GIVEN = ("friction_state", "loop_turn")  # zero, but where a method says otherwise in every step


def poison(data: Data) -> None:
    """Fill everything that is no state with NaN (integers: a number that is no index)."""
    for name, field in Data.fields.items():
        if name not in GIVEN and (not field.saved or name == "acceleration"):
            getattr(data, name)[...] = np.nan if field.dtype is float else -(2**40)


def poison_outputs(data: Data) -> None:
    """Poison for kernels called on their own: what a step hands from stage to stage is their input, and is nothing."""
    poison(data)
    data.implicit_diagonal[:] = 0.0
    data.constraint_force[:] = 0.0


def nan(*shape: int) -> np.ndarray:
    """An output array whose every number must be written."""
    return np.full(shape, np.nan)


def relative_error(ours: Any, theirs: Any) -> float:
    """Largest difference, by the largest number. NaN never passes a comparison."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    if ours.size == 0:
        return 0.0
    return float(np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-300))
