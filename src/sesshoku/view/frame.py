"""One instant as the browser gets it: a row of float32, live over the websocket and in a playback file alike.

    header (HEADER), poses (bodies, 7), contacts (n, 11), corners of contact polygons (n, 5), lines (n, 7), marks (n, 4)

The last four are described at `record.film.Look`. `LAYOUT` is sent along, so that the page needs no copy of these
numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sesshoku.collision.contacts import CONTACTS
from sesshoku.recording.film import CONTACT, CORNER, LINE, MARK, PULL, Look, look
from sesshoku.stages.report import CONE_VIOLATION, CONVERGED, ITERATIONS, MOMENTUM_RESIDUAL, PENETRATION, RESIDUAL

HEADER = ("number", "time", "bodies", "contacts", "corners", "lines", "marks", "running", "speed", "factor", "step",
          "kinetic", "potential", "force", "penetration", "residual", "momentum", "cone", "iterations", "converged")
LAYOUT = {"header": list(HEADER), "contact": CONTACT, "corner": CORNER, "line": LINE, "mark": MARK}
EMPTY = np.zeros(0, dtype=np.float32)


def pack(numbers: dict[str, float], poses: np.ndarray, seen: Look | None = None) -> bytes:
    """A frame from its parts. numbers: entries of the header by name; counts are filled in."""
    contacts, corners, lines, marks = seen if seen is not None else (EMPTY,) * 4
    counts = {"bodies": poses.size // 7, "contacts": contacts.size // CONTACT, "corners": corners.size // CORNER,
              "lines": lines.size // LINE, "marks": marks.size // MARK}
    parts = (poses, contacts, corners, lines, marks)
    with np.errstate(over="ignore", invalid="ignore"):  # of a run that diverges
        header = np.array([(numbers | counts).get(name, 0.0) for name in HEADER]).astype("<f4")
        return b"".join((header.tobytes(), *(np.asarray(part).astype("<f4").tobytes() for part in parts)))


def numbers_of(sim: Any) -> dict[str, float]:
    """The header's entries that the state of a simulation gives."""
    kinetic, potential = sim.energy
    report, record = sim.report_array, sim.records.get("contacts")
    count = 0 if record is None else int(record.counts[CONTACTS])
    force = 0.0 if record is None else float((record.force[:count] * record.normal[:count]).sum())
    return {"time": sim.time, "kinetic": kinetic, "potential": potential, "force": force,
            "penetration": report[PENETRATION], "residual": report[RESIDUAL], "momentum": report[MOMENTUM_RESIDUAL],
            "cone": report[CONE_VIOLATION], "iterations": report[ITERATIONS], "converged": report[CONVERGED]}


def snapshot(sim: Any, numbers: dict[str, float] | None = None, pulls: Sequence[np.ndarray] = ()) -> bytes:
    """The frame of a simulation now. numbers: further entries of the header. pulls: (2, 3) ends of mice's springs."""
    seen = look(sim)
    if pulls:
        seen = seen._replace(lines=np.vstack([seen.lines, *([[*ends[0], *ends[1], PULL]] for ends in pulls)]))
    return pack(numbers_of(sim) | (numbers or {}), sim.body_poses(), seen)
