"""The state of a batch: back to the start, saved and restored, one world as a Simulation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sesshoku.compiled.checks import Unsound
from sesshoku.errors import SceneError
from sesshoku.methods.registry import Method
from sesshoku.model.arrays import FREE, SPHERICAL, Model
from sesshoku.scene import check
from sesshoku.scene.compiler import CompiledScene
from sesshoku.simulation.batch.memory import Place, WorldMemory
from sesshoku.simulation.batch.numbers import module_of, on_host
from sesshoku.simulation.sensors.sensing import SENSED
from sesshoku.simulation.simulation import Simulation, simulation_of
from sesshoku.simulation.snapshots import FINGERPRINT, Snapshot, StateRules, check_fingerprint, own_key
from sesshoku.stages.report import CONVERGED

DIVERGED = "diverged"
#: what a world that diverged keeps; the rest is as at its start
STANDS = frozenset(f"data.{name}" for name in (
    "time", "q", "v", "kinematic_pose", "kinematic_velocity", "kinematic_acceleration", "actuator_command",
    "activation", "report"))


def state_name(place: Place) -> str:
    """How a saved state of a Simulation calls an array."""
    if place.root == "data":
        return place.name
    if place.root == "mounts":
        return SENSED + place.name
    return own_key(".".join((*place.path, place.name)))


class BatchState:
    """Reset, save, restore, and worlds one by one."""

    worlds: int
    _xp: Any = np  # what arrays are of: NumPy or, on a GPU, CuPy
    dt: float
    method: Method
    compiled: CompiledScene
    model: Model
    diverged: np.ndarray
    _pushed: bool  # forces wait for the next step
    _first: Simulation
    _memory: WorldMemory
    _places: list[Place]  # what every world has of its own
    _states: list[Place]  # of these, what a saved state holds
    _start: dict[str, np.ndarray]  # key -> the array at the start, of all worlds or (worlds, ...)
    _start_differs: frozenset[str]  # keys of which every world has its own start

    def _compiled_world(self, world: int) -> CompiledScene:
        """The scene as a world has it."""
        return self.compiled

    def __getitem__(self, world: int) -> Simulation:
        """A Simulation in the state of a world: what it does from now on is what the world would do."""
        w = self._world(world)
        state, row = {state_name(place): self._memory.row(place.key, w) for place in self._states}, self._memory.row
        sim = simulation_of(self._compiled_world(w), self.method, self.dt, state, w)
        mounts = None if sim._sensing is None else sim._sensing.mounts
        if mounts is not None and "mounts.part_mass" in self._memory.arrays:  # the scene's differ by rounding
            mounts.part_mass[:], mounts.part_inertia[:] = row("mounts.part_mass", w), row("mounts.part_inertia", w)
            mounts.part_center[:] = self._first._sensing.mounts.part_center  # type: ignore[union-attr]
        return sim

    def _world(self, world: Any) -> int:
        whole = isinstance(world, (int, np.integer)) and not isinstance(world, bool)
        if not whole or not -self.worlds <= world < self.worlds:
            raise SceneError("no such world", element="Batch", value=world,
                             remedy=f"give a whole number from 0 to {self.worlds - 1}")
        return int(world) % self.worlds

    # ---- back to the start ---------------------------------------------------------------------------------------

    def reset(self, mask: Any = None, q: Any = None, v: Any = None, *, pose: Any = None) -> None:
        """Put worlds back to their start: what follows is bit for bit what they did from there.

        mask: (worlds) of True where a world is to be reset, or the numbers of such worlds; None: all. q, v: start there
        instead, (Q) and (V), or a row for each world that is reset, or for each of all worlds. pose: as of
        `Simulation.reset`, a named pose of the robots' files or joint -> position, servos aimed at it.
        """
        chosen, command = self._chosen(mask), None
        if pose is not None:
            if q is not None or v is not None:
                raise SceneError("either a pose or q and v", element="reset", value=pose, remedy="leave one out")
            self._first.reset(pose)
            q, v, command = (values.copy() for values in (self._first.q, self._first.v, self._first.actuator_command))
            self._first.reset()
        new_q = None if q is None else self._coordinates(self._rows(q, "q", self.model.coordinate_count, chosen))
        new_v = None if v is None else self._rows(v, "v", self.model.dof_count, chosen)
        self._to_start(chosen, frozenset())
        if new_q is not None:
            self._memory.write("data.q", new_q, chosen)
        if new_v is not None:
            self._memory.write("data.v", new_v, chosen)
        if command is not None:
            self._memory.write("data.actuator_command", command, chosen)
        self._mark(chosen, False)

    def _to_start(self, chosen: np.ndarray, but: frozenset[str]) -> None:
        """Arrays of some worlds as at their start, but for some."""
        for place in self._places:
            key = place.key
            if key not in but and key in self._start:
                first = self._start[key]
                self._memory.write(key, first[chosen] if key in self._start_differs else first, chosen)

    def _stop(self, worlds: np.ndarray) -> None:
        """These worlds have diverged. What the failed step left besides its state is no start for another."""
        self._mark(worlds, True)
        self._to_start(worlds, STANDS)
        self._memory.arrays["data.report"][worlds, CONVERGED] = 0.0

    def _mark(self, worlds: Any, diverged: Any) -> None:
        """Set the flag of some worlds."""
        self.diverged[worlds] = diverged

    def _chosen(self, mask: Any) -> np.ndarray:
        """Numbers of the worlds that a mask chooses."""
        if mask is None:
            return np.arange(self.worlds)
        given = np.atleast_1d(np.asarray(on_host(mask)))
        if given.dtype == bool and given.shape == (self.worlds,):
            return np.flatnonzero(given)
        inside = given.dtype.kind in "iu" and given.ndim == 1 and ((given >= 0) & (given < self.worlds)).all()
        if not inside and given.size:
            raise SceneError("a mask has True or False for each world, or lists numbers of worlds", element="reset",
                             value=given.shape if given.dtype == bool else mask,
                             remedy=f"give ({self.worlds}) truth values, or numbers from 0 to {self.worlds - 1}")
        return given.astype(np.int64)

    def _rows(self, given: Any, what: str, size: int, chosen: np.ndarray) -> np.ndarray:
        """(chosen, size) numbers from one row, a row for each chosen world, or a row for each of all."""
        try:
            if not check.is_numeric(on_host(given)):
                raise TypeError
            values = np.array(on_host(given), dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            values = np.zeros(0)
        if values.shape == (self.worlds, size):
            values = values[chosen]
        if values.shape not in ((size,), (len(chosen), size)):
            raise SceneError(f"{what} does not fit", element="reset", value=np.shape(given),
                             remedy=f"give ({size}) numbers, ({len(chosen)}, {size}) or ({self.worlds}, {size})")
        if not np.isfinite(values).all():
            raise SceneError(f"{what} is not finite", element="reset", value=values[~np.isfinite(values)].flat[0],
                             remedy="replace NaN and infinity by numbers")
        return np.broadcast_to(values, (len(chosen), size)).copy()

    def _coordinates(self, q: Any) -> Any:
        """Coordinates whose quaternions are unit."""
        xp = module_of(q)
        for link in np.flatnonzero(np.isin(self.model.link_joint, (FREE, SPHERICAL))):
            last = int(self.model.link_coordinate[link]) + (7 if self.model.link_joint[link] == FREE else 4)
            turn = q[:, last - 4:last]
            length = xp.linalg.norm(turn, axis=1)
            far = xp.abs(length - 1.0) > check.QUATERNION_TOLERANCE
            if far.any():
                name = self.compiled.joint_names[link]
                check.quaternion(on_host(turn[far.argmax()]), f"rotation of joint {name!r}", "reset")
            near = xp.abs(length - 1.0) < check.UNIT_ROUNDING
            q[:, last - 4:last] = turn / xp.where(near, 1.0, length)[:, None]
        return q

    # ---- saved states --------------------------------------------------------------------------------------------

    def save(self) -> Snapshot:
        """The state of all worlds; `restore` brings it back bit for bit."""
        snapshot = Snapshot({state_name(place): self._memory.arrays[place.key].copy() for place in self._states})
        snapshot[DIVERGED], snapshot[FINGERPRINT] = self.diverged.copy(), self._first._fingerprint.copy()
        return snapshot

    def restore(self, snapshot: Mapping[str, np.ndarray]) -> None:
        """Go back to a saved state of this scene, method and number of worlds.

        Every number is looked at first; a state that cannot be is refused, and the batch stays as it was.
        """
        if not isinstance(snapshot, Mapping):
            raise SceneError("not a snapshot", element="restore", value=snapshot, remedy="hand in what save() returned")
        given = dict(snapshot)
        check_fingerprint(self._first, given.get(FINGERPRINT))
        for place in self._states:
            like = self._memory.arrays[place.key]
            self._fits(state_name(place), given.get(state_name(place)), like)
        self._fits(DIVERGED, given.get(DIVERGED), self.diverged)
        rules = StateRules(self._first)
        for w in range(self.worlds):
            try:
                rules.check({state_name(place): given[state_name(place)][w] for place in self._states})
            except Unsound as fault:
                raise SceneError(f"world {w}: {fault}", element="restore", value=fault.value,
                                 remedy="the batch is as it was") from None
        for place in self._states:
            self._memory.write(place.key, given[state_name(place)])
        self._mark(slice(None), given[DIVERGED])
        self._pushed = bool(given["external_force"].any())

    def _fits(self, name: str, given: Any, like: np.ndarray) -> None:
        if not isinstance(given, np.ndarray) or given.shape != like.shape or given.dtype != like.dtype:
            found = None if given is None else getattr(given, "shape", type(given).__name__)
            raise SceneError(f"the snapshot belongs to another batch: {name} must have shape {like.shape} and hold "
                             f"{like.dtype}", element="restore", value=found,
                             remedy="hand in what save() of a batch of as many worlds returned")
