"""`Film`: what a recording keeps so that it can be looked at: the scene's shapes, and contacts now and then.

Poses are a channel of their own. Contacts come and go, so they are no channel: at most `RATE` times per simulated
second the contacts of the last step are kept as rows of float32 (see `Look`), in memory; `.npz` and `.ssk` files hold
them too. A run that streams to a file writes them with its samples, so that one that was killed has them as well.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sesshoku.collision.contacts import CONTACTS, SLIP
from sesshoku.errors import RecordingError
from sesshoku.recording.outside import unpack
from sesshoku.scene.geometry.drawing import drawing

RATE = 30.0  # looks per simulated second at most: each costs as much as some ten steps of a crate
MEMORY = 64 * 2**20  # bytes; when full, every other look is dropped and the rate halved
CONTACT, CORNER, LINE, MARK = 11, 5, 7, 4  # numbers in a row
WIDTHS = (CONTACT, CORNER, LINE, MARK)
SPRING, PULL = 0.0, 1.0  # kinds of lines: a contact's spring, the pull of a mouse
CENTER_OF_MASS, ZERO_MOMENT = 0.0, 1.0  # kinds of marks
MOST_CONTACTS = 2000  # drawn; a scene with more shows those of the largest force


class Look(NamedTuple):
    """Contacts at one instant, float32.

    contacts (n, 11): point, normal, force on b, friction coefficient of its state, state (0 released, 1 stick, 2 slip).
    corners (n, 5): of contact polygons: point, number of the polygon, state. lines (n, 7): from, to, kind.
    marks (n, 4): kind, point.
    """

    contacts: np.ndarray
    corners: np.ndarray
    lines: np.ndarray
    marks: np.ndarray


def look(sim: Any) -> Look:
    """What there is to see of a simulation besides the poses."""
    with np.errstate(over="ignore", invalid="ignore"):  # of a run that diverges
        return Look(contact_rows(sim), polygon_rows(sim), spring_rows(sim), mark_rows(sim))


class Film:
    """Looks at a run. drawing: the scene's shapes (scene/geometry/drawing.py), None where a file does not have them."""

    def __init__(self, shapes: dict[str, Any] | None = None) -> None:
        self.drawing = shapes
        self.times: list[float] = []
        self.looks: list[Look] = []
        self.streams = False  # `take_bytes` will be called now and then
        self._waiting: list[tuple[float, Look]] = []  # not yet taken
        self._interval, self._bytes, self._due = 1.0 / RATE, 0, -np.inf

    @classmethod
    def of(cls, sim: Any) -> Film:
        return cls(drawing(sim.compiled.scene, sim.body_poses()))

    def sample(self, sim: Any, time: float) -> None:
        """Take a look if one is due; called with every sample."""
        if time < self._due and not (self.times and time < self.times[-1]):
            return
        self._due = time + self._interval - 0.5 * sim.dt
        seen = look(sim)
        self.times.append(time)
        self.looks.append(seen)
        if self.streams:
            self._waiting.append((time, seen))
        self._keep_within_memory([seen])

    def at(self, time: float) -> Look | None:
        """The last look at or before a time."""
        n = int(np.searchsorted(self.times, time + 1e-9, side="right")) - 1
        return self.looks[n] if n >= 0 else None

    # ---- files

    def shapes_bytes(self) -> bytes:
        return zlib.compress(json.dumps(self.drawing).encode())

    def looks_bytes(self) -> bytes:
        return _pack(self.times, self.looks)

    def take_bytes(self) -> bytes | None:
        """The looks since it was last asked; None: there are no new ones."""
        taken, self._waiting = self._waiting, []
        return _pack([time for time, _ in taken], [seen for _, seen in taken]) if taken else None

    @classmethod
    def from_bytes(cls, shapes: bytes | None, looks: Sequence[bytes] = ()) -> Film:
        """From what files hold: the shapes, and looks in any number of parts."""
        film = cls(_read_shapes(shapes) if shapes else None)
        for part in looks:
            times, seen = _unpack(part)
            film.times += times
            film.looks += seen
            film._keep_within_memory(seen)
        return film

    def _keep_within_memory(self, seen: Sequence[Look]) -> None:
        """Drop every other look while they are too many."""
        self._bytes += sum(part.nbytes for one in seen for part in one)
        while self._bytes > MEMORY and len(self.looks) > 1:
            self.times, self.looks = self.times[::2], self.looks[::2]
            self._bytes, self._interval = sum(part.nbytes for one in self.looks for part in one), 2.0 * self._interval


def _pack(times: list[float], looks: list[Look]) -> bytes:
    """Times (float64), rows of each part (uint32), then all rows (float32), each with its length before it."""
    counts = np.array([[len(part) for part in one] for one in looks], dtype="<u4").reshape(-1, len(WIDTHS))
    rows = [part.astype("<f4").tobytes() for one in looks for part in one]
    parts = (np.array(times, dtype="<f8").tobytes(), counts.tobytes(), b"".join(rows))
    return zlib.compress(b"".join(len(part).to_bytes(8, "little") + part for part in parts))


def _unpack(packed: bytes) -> tuple[list[float], list[Look]]:
    data = unpack(packed)
    parts: list[bytes] = []
    while data and len(parts) < 3:
        length = int.from_bytes(data[:8], "little")
        parts.append(data[8:8 + length])
        data = data[8 + length:]
    units = (8, 4 * len(WIDTHS), 4)
    if len(parts) != 3 or data or any(len(part) % unit for part, unit in zip(parts, units, strict=True)):
        raise RecordingError("a part of the film is damaged")
    rows, at, looks = np.frombuffer(parts[2], "<f4"), 0, []
    every = np.frombuffer(parts[1], "<u4").reshape(-1, len(WIDTHS)).astype(np.int64)
    if int((every * WIDTHS).sum()) != len(rows) or len(every) != len(parts[0]) // 8:
        raise RecordingError("a part of the film is damaged")
    for counts in every:
        found = []
        for count, width in zip(counts.tolist(), WIDTHS, strict=True):
            found.append(rows[at:at + count * width].reshape(count, width))
            at += count * width
        looks.append(Look(*found))
    return np.frombuffer(parts[0], "<f8").tolist(), looks


def _read_shapes(packed: bytes) -> dict[str, Any]:
    """The drawing of a scene, as scene/drawing.py makes it."""
    data = unpack(packed)
    try:
        found = json.loads(data)
        bodies, shapes, meshes = (found[key] for key in ("bodies", "shapes", "meshes"))
        sound = all(isinstance(body["name"], str) for body in bodies) and all(
            type(shape["body"]) is int and 0 <= shape["body"] < len(bodies) and isinstance(shape["kind"], str)
            and (shape.get("mesh") is None or type(shape["mesh"]) is int and 0 <= shape["mesh"] < len(meshes))
            and _are_numbers(shape["position"], 3) and _are_numbers(shape["rotation"], 4)
            and _are_numbers(shape["color"], 4) for shape in shapes) and all(
            isinstance(mesh["vertices"], str) and isinstance(mesh["faces"], str) for mesh in meshes)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise RecordingError("the shapes of the film are damaged") from error
    if not sound:
        raise RecordingError("the shapes of the film are damaged")
    return dict(found)


def _are_numbers(values: Any, size: int) -> bool:
    return isinstance(values, list) and len(values) == size and all(type(x) in (int, float) for x in values)


# ---- parts of a look -------------------------------------------------------------------------------------------------


def contact_rows(sim: Any) -> np.ndarray:
    """(n, 11) contacts of the last step, released ones included."""
    record: Any = getattr(sim.work, "contacts", None)
    if record is None:
        return np.zeros((0, CONTACT), dtype=np.float32)
    count = int(record.counts[CONTACTS])
    chosen = np.arange(count)
    if count > MOST_CONTACTS:
        strength = np.linalg.norm(record.force[:count], axis=1)
        chosen = np.sort(np.argpartition(-strength, MOST_CONTACTS)[:MOST_CONTACTS])
    rows = np.empty((len(chosen), CONTACT), dtype=np.float32)
    rows[:, 0:3], rows[:, 3:6], rows[:, 6:9] = record.point[chosen], record.normal[chosen], record.force[chosen]
    state = record.state[chosen]
    rows[:, 9] = np.where(state == SLIP, record.material[chosen, 1], record.material[chosen, 0])
    rows[:, 10] = state
    return rows


def polygon_rows(sim: Any) -> np.ndarray:
    """(n, 5) corners of contact polygons, of a method that has them."""
    polygons = sim.method.definition.contact_polygons
    return np.zeros((0, CORNER), dtype=np.float32) if polygons is None else polygons(sim.work).astype(np.float32)


def spring_rows(sim: Any) -> np.ndarray:
    """(n, 7) springs at contacts, of a method that has them."""
    springs = sim.method.definition.contact_springs
    if springs is None:
        return np.zeros((0, LINE), dtype=np.float32)
    ends = springs(sim.work)[:MOST_CONTACTS]
    return np.column_stack([ends, np.full(len(ends), SPRING)]).astype(np.float32)


def mark_rows(sim: Any) -> np.ndarray:
    """(n, 4) centre of mass and zero-moment point of each robot, or of all that moves where there is no robot."""
    rows = []
    robots: list[str | None] = [*sim.compiled.scene.robots] or [None]
    for robot in robots:
        rows.append([CENTER_OF_MASS, *(sim.center_of_mass(robot) if robot else sim.center_of_mass())])
        point = zero_moment_point(sim, robot)
        if point is not None:
            rows.append([ZERO_MOMENT, *point])
    return np.array(rows, dtype=np.float32)


def zero_moment_point(sim: Any, robot: str | None = None) -> np.ndarray | None:
    """Where the contact forces on a robot (or on all that moves) have no moment about horizontal axes, world (3), m.

    In the horizontal plane through the mean height of the contacts, weighted by their forces along gravity; None where
    nothing presses. Contacts within the robot cancel and are left out.
    """
    record: Any = getattr(sim.work, "contacts", None)
    count = 0 if record is None else int(record.counts[CONTACTS])
    gx, gy, gz = sim.compiled.model.gravity.tolist()
    if count == 0 or gz * gz <= 50.0 * (gx * gx + gy * gy):  # gravity must be vertical, or nearly
        return None
    link = record.link[:count]
    if robot is None:
        member = link >= 0
    else:
        inside = np.zeros(sim.model.link_count + 1, dtype=bool)  # the last: the world, link -1
        for first, last in sim._links_of(robot):
            inside[first:last] = True
        member = inside[link]
    sign = member[:, 1] * 1.0 - member[:, 0]  # forces are on b
    fx, fy, fz = sign * record.force[:count].T
    x, y, z = record.point[:count].T
    total, up = float(fz.sum()), 1.0 if gz < 0.0 else -1.0
    if up * total <= 1e-9 * float(np.abs(record.force[:count]).sum()):
        return None
    weight = np.maximum(up * fz, 0.0)
    height = float(weight @ z / weight.sum())
    turn_x, turn_y = sign @ record.torque[:count, :2]
    moment_x, moment_y = y @ fz - z @ fy + turn_x, z @ fx - x @ fz + turn_y
    return np.array([(height * fx.sum() - moment_y) / total, (moment_x + height * fy.sum()) / total, height])
