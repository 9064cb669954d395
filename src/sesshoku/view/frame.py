"""One instant as the browser gets it: a row of float32, live over the websocket and in a playback file alike.

    header (HEADER), poses (bodies, 7), contacts (n, 11), corners of contact polygons (n, 5), lines (n, 7), marks (n, 4)

contact: point, normal, force on b (3 each), friction coefficient of its state, state (0 released, 1 stick, 2 slip).
corner: point, number of its polygon, state. line: from, to, kind. mark: kind, point. `LAYOUT` is sent along, so that
the page needs no copy of these numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.collision.contacts import CONTACTS, SLIP
from sesshoku.methods.report import CONE_VIOLATION, CONVERGED, ITERATIONS, MOMENTUM_RESIDUAL, PENETRATION, RESIDUAL

HEADER = ("number", "time", "bodies", "contacts", "corners", "lines", "marks", "running", "speed", "factor", "step",
          "kinetic", "potential", "force", "penetration", "residual", "momentum", "cone", "iterations", "converged")
CONTACT, CORNER, LINE, MARK = 11, 5, 7, 4
SPRING, PULL = 0.0, 1.0  # kinds of lines: a contact's spring, the pull of a mouse
CENTER_OF_MASS, ZERO_MOMENT = 0.0, 1.0  # kinds of marks
LAYOUT = {"header": list(HEADER), "contact": CONTACT, "corner": CORNER, "line": LINE, "mark": MARK}
MOST_CONTACTS = 2000  # drawn; a scene with more shows those of the largest force
EMPTY = np.zeros(0, dtype=np.float32)


def pack(numbers: dict[str, float], poses: np.ndarray, contacts: np.ndarray = EMPTY, corners: np.ndarray = EMPTY,
         lines: np.ndarray = EMPTY, marks: np.ndarray = EMPTY) -> bytes:
    """A frame from its parts. numbers: entries of the header by name; counts are filled in."""
    counts = {"bodies": poses.size // 7, "contacts": contacts.size // CONTACT, "corners": corners.size // CORNER,
              "lines": lines.size // LINE, "marks": marks.size // MARK}
    header = np.array([(numbers | counts).get(name, 0.0) for name in HEADER], dtype="<f4")
    parts = (poses, contacts, corners, lines, marks)
    return b"".join((header.tobytes(), *(np.asarray(part, dtype="<f4").tobytes() for part in parts)))


def contact_rows(sim: Any) -> np.ndarray:
    """(n, 11) contacts of the last step, released ones included."""
    record = sim.records.get("contacts")
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
    """(n, 5) corners of the overlaps of method `volume`; none for others."""
    if "overlaps" not in sim.records:
        return np.zeros((0, CORNER), dtype=np.float32)
    contacts, shapes, memory = (sim.records[name] for name in ("contacts", "overlaps", "memory"))
    rows = []
    for c in range(int(contacts.counts[CONTACTS])):
        corners = shapes.polygon[shapes.polygon_start[c]:shapes.polygon_start[c + 1]]
        if len(corners) >= 3:
            points = memory.center[c] + corners @ contacts.tangent[c]
            rows.append(np.column_stack([points, np.full(len(points), c), np.full(len(points), contacts.state[c])]))
    return np.concatenate(rows).astype(np.float32) if rows else np.zeros((0, CORNER), dtype=np.float32)


def spring_rows(sim: Any) -> np.ndarray:
    """(n, 7) contact springs of method `springs`, from the host's point to the guest's; none for others."""
    if "presses" not in sim.records:
        return np.zeros((0, LINE), dtype=np.float32)
    contacts = sim.records["contacts"]
    count = min(int(contacts.counts[CONTACTS]), MOST_CONTACTS)
    half = -0.5 * contacts.gap[:count, None] * contacts.normal[:count]  # the point is midway; depth is outward of the host
    rows = np.empty((count, LINE), dtype=np.float32)
    rows[:, 0:3], rows[:, 3:6], rows[:, 6] = contacts.point[:count] + half, contacts.point[:count] - half, SPRING
    return rows


def mark_rows(sim: Any) -> np.ndarray:
    """(n, 4) centre of mass and zero-moment point of each robot, or of all that moves where there is no robot."""
    rows = []
    for robot in list(sim.scene.robots) or [None]:
        rows.append([CENTER_OF_MASS, *sim.center_of_mass(robot)])
        point = zero_moment_point(sim, robot)
        if point is not None:
            rows.append([ZERO_MOMENT, *point])
    return np.array(rows, dtype=np.float32)


def zero_moment_point(sim: Any, robot: str | None = None) -> np.ndarray | None:
    """Where the contact forces on a robot (or on all that moves) have no moment about horizontal axes, world (3), m.

    In the horizontal plane through the mean height of the contacts, weighted by their forces along gravity; None where
    nothing presses. Contacts within the robot cancel and are left out.
    """
    record = sim.records.get("contacts")
    count = 0 if record is None else int(record.counts[CONTACTS])
    gravity = np.asarray(sim.model.gravity)
    if count == 0 or abs(gravity[2]) < 0.99 * np.linalg.norm(gravity) or not gravity.any():
        return None
    members = np.zeros(sim.model.link_count + 1, dtype=bool)  # the last: the world, link -1
    for first, last in sim._links_of(robot):
        members[first:last] = True
    a, b = members[record.link[:count, 0]], members[record.link[:count, 1]]
    sign = b.astype(float) - a.astype(float)  # forces are on b
    force, torque = sign[:, None] * record.force[:count], sign[:, None] * record.torque[:count]
    total, up = force.sum(axis=0), -np.sign(gravity[2])
    if up * total[2] <= 1e-9 * np.abs(record.force[:count]).sum() or up * total[2] <= 0.0:
        return None
    weight = np.maximum(up * force[:, 2], 0.0)
    height = float(weight @ record.point[:count, 2] / weight.sum())
    moment = (np.cross(record.point[:count], force) + torque).sum(axis=0)
    return np.array([(height * total[0] - moment[1]) / total[2], (moment[0] + height * total[1]) / total[2], height])


def numbers_of(sim: Any) -> dict[str, float]:
    """The header's entries that the state of a simulation gives."""
    kinetic, potential = sim.energy()
    report, record = sim.report_array, sim.records.get("contacts")
    count = 0 if record is None else int(record.counts[CONTACTS])
    force = 0.0 if record is None else float((record.force[:count] * record.normal[:count]).sum())
    return {"time": sim.time, "kinetic": kinetic, "potential": potential, "force": force,
            "penetration": report[PENETRATION], "residual": report[RESIDUAL], "momentum": report[MOMENTUM_RESIDUAL],
            "cone": report[CONE_VIOLATION], "iterations": report[ITERATIONS], "converged": report[CONVERGED]}


def snapshot(sim: Any, numbers: dict[str, float] | None = None, pull: np.ndarray | None = None) -> bytes:
    """The frame of a simulation now. numbers: further entries of the header. pull: (2, 3) ends of the mouse's spring."""
    lines = spring_rows(sim)
    if pull is not None:
        lines = np.vstack([lines, [[*pull[0], *pull[1], PULL]]])
    return pack(numbers_of(sim) | (numbers or {}), sim.body_poses(), contact_rows(sim), polygon_rows(sim), lines,
                mark_rows(sim))
