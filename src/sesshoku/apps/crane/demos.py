"""Demonstrations: a round as a file to learn from, and to play again bit for bit.

One .npz per round. N steps, D observations, C contacts:

    format, version            int, text: of this layout, of sesshoku
    machine, rules             text: what it was played with; a digest of the game's code
    method, options, dt        text, JSON, s
    seconds, prizes            s a round lasts; names of the prizes
    input_names, inputs        (6), (N, 6): x y z turn from -1 to 1, grab and hurry 0 or 1, of each step
    observation_names          (D)
    observations               (N + 1, D): before the first step, then after each
    body_names                 (B)
    contact_step               (C) the step 0 .. N - 1 it belongs to
    contact_bodies             (C, 2) places in body_names; forces act on the second
    contact_point, contact_normal, contact_force   (C, 3) m, -, N, world axes
    contact_depth, contact_state                   (C) m; 0 released, 1 stick, 2 slip
    won                        (K, 2) step after which a prize was won, and its place in `prizes`
    score, success             points; whether any prize was won
    finished                   whether the round came to its end: time up, or all won
    start/...                  the state at the first key, as `Simulation.save` gives it
    start_path                 (9) the crane's: x y z, its velocity, turn, its speed, time
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
import platform
import re
from dataclasses import asdict, dataclass, fields
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import numpy as np

from sesshoku._version import __version__
from sesshoku.apps.crane.motion import Inputs
from sesshoku.apps.crane.round import Round
from sesshoku.errors import MethodError, RecordingError, SesshokuError
from sesshoku.methods import registry
from sesshoku.recording.export import written_file
from sesshoku.recording.outside import read_arrays
from sesshoku.simulation.simulation import Simulation
from sesshoku.simulation.snapshots import Snapshot

if TYPE_CHECKING:
    from sesshoku.methods.registry import Method

FORMAT = 1
FAR, LONG = 1e6, 86_400.0  # m, m/s or rad, and s: no crane and no round is beyond
#: what a demonstration must have: kind of elements, shape, smallest and largest value
LAYOUT: dict[str, tuple[str, tuple[Any, ...], float, float]] = {
    "format": ("iu", (), 0, 2**31), "version": ("U", (), 0, 0), "machine": ("U", (), 0, 0), "rules": ("U", (), 0, 0),
    "method": ("U", (), 0, 0), "options": ("U", (), 0, 0), "dt": ("f", (), 1e-9, 1.0), "seconds": ("f", (), 0.0, LONG),
    "prizes": ("U", ("P",), 0, 0), "inputs": ("f", ("N", len(fields(Inputs))), -1.0, 1.0),
    "observations": ("f", ("N + 1", "D"), -math.inf, math.inf), "won": ("i", ("K", 2), 0, 2**62),
    "score": ("iu", (), 0, 2**62), "start_path": ("f", (9,), -FAR, FAR),
}


def machine() -> str:
    """What bit-exactness depends on besides our version."""
    import numba

    return (f"{platform.machine()} {platform.processor() or platform.system()}, Python {platform.python_version()}, "
            f"NumPy {np.__version__}, Numba {numba.__version__}")


def rules() -> str:
    """Tells one game from another: a digest of what makes its crane, its room, its motion and its rules."""
    digest = hashlib.sha256()
    for name in ("robot", "scene", "shapes", "motion", "round"):
        digest.update(FilePath(__file__).with_name(f"{name}.py").read_bytes())
    return digest.hexdigest()[:16]


class Recorder:
    """Writes down a round from its first key on. Call `before(sim, inputs)` and `after(sim)` around every step."""

    def __init__(self, game_round: Round) -> None:
        self.round = game_round
        self.clear()

    def clear(self) -> None:
        """A new round."""
        self.start: dict[str, Any] | None = None
        self.inputs: list[np.ndarray] = []
        self.observations: list[np.ndarray] = []
        self.contacts: list[tuple[Any, ...]] = []
        self.won: dict[str, int] = {}
        self.finished = False

    def so_far(self) -> Recorder:
        """What is written down by now, to be saved while the round goes on."""
        held = copy.copy(self)
        held.inputs, held.observations, held.contacts = self.inputs[:], self.observations[:], self.contacts[:]
        return held

    def before(self, sim: Simulation, inputs: Inputs) -> None:
        """Before `Round.before_step`."""
        if self.start is None:
            if inputs == Inputs() or self.round.begun:
                return
            path = self.round.path
            self.start = {f"start/{name}": values for name, values in sim.save().items()}
            self.start["start_path"] = np.concatenate([path.position, path.velocity,
                                                       [path.angle, path.turning, path.time]])
            self.method, self.dt, self.names = sim.method, sim.dt, list(sim.compiled.frame_names)
            self.observations.append(self.round.observe(sim))
        if not self.round.over:
            self.inputs.append(inputs.as_row())

    def after(self, sim: Simulation) -> None:
        """After `Round.after_step`."""
        if self.start is None or len(self.observations) > len(self.inputs):
            return
        self.observations.append(self.round.observe(sim))
        self.won, self.finished = dict(self.round.won), self.round.over
        record, model = sim.work.contacts, sim.model
        n = int(record.counts[0])
        self.contacts.append((np.full(n, len(self.inputs) - 1), model.shape_frame[record.shape[:n]],
                              record.point[:n].copy(), record.normal[:n].copy(), record.force[:n].copy(),
                              -record.gap[:n], record.state[:n].copy()))

    @property
    def used(self) -> bool:
        """Whether there is anything to write."""
        return self.start is not None and len(self.inputs) > 0

    def save(self, path: str | FilePath) -> FilePath:
        """Write the round."""
        if not self.used or self.start is None:
            raise RecordingError(f"{path}: no key was pressed: there is no round to write")
        game, steps = self.round, len(self.observations) - 1  # a step that failed has inputs and no observation
        names = [prize.name for prize in game.prizes]
        keys = ("step", "bodies", "point", "normal", "force", "depth", "state")
        listed = {f"contact_{key}": np.concatenate([entry[k] for entry in self.contacts])
                  for k, key in enumerate(keys)} if self.contacts else {}
        arrays: dict[str, Any] = {
            "format": FORMAT, "version": __version__, "machine": machine(), "rules": rules(),
            "method": self.method.keyword, "options": json.dumps(asdict(self.method.options)), "dt": self.dt,
            "seconds": game.seconds, "prizes": np.array(names),
            "input_names": np.array([item.name for item in fields(Inputs)]), "inputs": np.array(self.inputs[:steps]),
            "observation_names": np.array(game.observation_names()), "observations": np.array(self.observations),
            "body_names": np.array(self.names), "success": bool(self.won), "finished": self.finished,
            "score": sum(prize.points for prize in game.prizes if prize.name in self.won),
            "won": np.array([(step, names.index(name)) for name, step in self.won.items()],
                            dtype=np.int64).reshape(-1, 2)}
        path = FilePath(path)
        with written_file(path) as part, part.open("wb") as file:
            np.savez_compressed(file, **(arrays | listed | self.start))
        return path


def next_path(folder: FilePath) -> FilePath:
    """The next free name in a folder: round_0001.npz ..."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        names = [re.fullmatch(r"round_(\d+)\.npz", entry.name) for entry in folder.iterdir()]
    except OSError as error:
        raise RecordingError(f"{folder}: no folder for demonstrations ({error.strerror})") from error
    return folder / f"round_{max((int(found[1]) for found in names if found), default=0) + 1:04d}.npz"


# ---- playing it again ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Replay:
    """What playing a demonstration again gave."""

    steps: int
    score: int
    won: tuple[str, ...]
    differs_at: int | None  # the first step whose observation is not the same, bit for bit
    largest_difference: float
    method: Method
    dt: float

    @property
    def exact(self) -> bool:
        return self.differs_at is None


def read(path: str | FilePath) -> dict[str, np.ndarray]:
    """The arrays of a demonstration, checked to be one: shapes, element types, and numbers that a round may have."""
    found = read_arrays(FilePath(path), "a demonstration of the crane game")
    missing = [name for name in LAYOUT if name not in found]
    if missing:
        raise RecordingError(f"{path}: not a demonstration of the crane game: it has no {', '.join(missing)}")
    steps = len(found["inputs"]) if found["inputs"].ndim else 0
    sizes = {"N": steps, "N + 1": steps + 1, "D": found["observations"].shape[-1] if found["observations"].ndim else 0,
             "P": len(found["prizes"]) if found["prizes"].ndim else 0,
             "K": len(found["won"]) if found["won"].ndim else 0}
    for name, (kinds, extents, lowest, highest) in LAYOUT.items():
        values, shape = found[name], tuple(sizes.get(extent, extent) for extent in extents)
        if values.shape != shape or values.dtype.kind not in kinds:
            raise RecordingError(f"{path}: {name} has {values.shape} {values.dtype}, not {shape} of kind {kinds}")
        if kinds != "U" and not ((values >= lowest) & (values <= highest)).all():
            raise RecordingError(f"{path}: {name} has a value outside {lowest:g} .. {highest:g}")
    return found


def check_same(path: str | FilePath, found: dict[str, np.ndarray], anyway: bool = False) -> None:
    """Refuse what cannot play the same way: another layout, version, machine, or other rules of the game."""
    if int(found["format"]) != FORMAT:
        raise RecordingError(f"{path}: layout {int(found['format'])}, and this sesshoku reads {FORMAT}")
    for name, now in (("version", __version__), ("machine", machine()), ("rules", rules())):
        then = str(found[name])
        if then != now and not anyway:
            what = {"version": "version of sesshoku", "machine": "machine", "rules": "game's rules"}[name]
            raise RecordingError(f"{path}: recorded with another {what} ({then}; here {now}), so that it would not "
                                 f"play the same; its observations can still be read with numpy.load")


def replay(path: str | FilePath, *, method: str | None = None, dt: float | None = None, anyway: bool = False) -> Replay:
    """Play a demonstration again and compare every observation, bit for bit. method, dt: only to check that they agree.

    anyway: also where version, machine or rules differ.
    """
    found = read(path)
    check_same(path, found, anyway)
    if method is not None and method != str(found["method"]):
        raise RecordingError(f"{path}: recorded with method {str(found['method'])!r}, not {method!r}")
    if dt is not None and dt != float(found["dt"]):
        raise RecordingError(f"{path}: recorded with dt = {float(found['dt']):g} s, not {dt:g} s")
    try:
        law = registry.make(str(found["method"]), json.loads(str(found["options"])))
    except (MethodError, ValueError, TypeError, RecursionError) as error:
        raise RecordingError(f"{path}: its method cannot be made: {error}") from error
    game = Round(float(found["dt"]), float(found["seconds"]))
    names = [str(name) for name in found["prizes"]]
    if names != [prize.name for prize in game.prizes]:
        raise RecordingError(f"{path}: its prizes are {', '.join(names)}: another game")
    sim = Simulation(game.scene, law, game.dt)
    game.attach(sim)
    if found["observations"].shape[1] != len(game.observation_names()):
        raise RecordingError(f"{path}: it has {found['observations'].shape[1]} observations of a step, not "
                             f"{len(game.observation_names())}: another game")
    _begin(path, found, game, sim)
    return _play(found, game, sim, law)


def _begin(path: Any, found: dict[str, np.ndarray], game: Round, sim: Simulation) -> None:
    """Simulation and crane as they were at the first key."""
    start = Snapshot({name.partition("/")[2]: values for name, values in found.items() if name.startswith("start/")})
    try:
        sim.restore(start)
    except SesshokuError as error:
        raise RecordingError(f"{path}: recorded in another scene ({error})") from error
    place = np.asarray(found["start_path"], dtype=np.float64)
    game.path.position, game.path.velocity = place[:3].copy(), place[3:6].copy()
    game.path.angle, game.path.turning, game.path.time = (float(value) for value in place[6:9])


def _play(found: dict[str, np.ndarray], game: Round, sim: Simulation, law: Method) -> Replay:
    wanted, differs, largest = found["observations"], None, 0.0
    inputs = found["inputs"]
    for n in range(len(inputs) + 1):
        if n > 0:
            game.before_step(sim, Inputs.of_row(inputs[n - 1]))
            sim.step()
            game.after_step(sim)
        seen = game.observe(sim)
        if differs is None and not np.array_equal(seen, wanted[n]):
            differs = n
        if differs is not None:
            largest = max(largest, float(np.abs(seen - wanted[n]).max()))
    return Replay(len(inputs), game.score, tuple(game.won), differs, largest, law, game.dt)
