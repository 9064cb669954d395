"""One scene measured, in a process of its own: `python -m benchmarks.robots.measure SCENE.xml OUT.json METHOD`.

The result is written once when the run is measured and again with the reason, so that a time limit keeps the first.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sesshoku as ss
from benchmarks.robots.pair import Loaded, Pair, PeerDiverges, PeerRefuses, load
from benchmarks.robots.reasons import AGREES, Search, left_out
from benchmarks.robots.table import centimetres

REPEATS, BUDGET = 5, 15.0  # of timing: rounds, seconds after which no further one begins
UNFINISHED = "the search for more met its time limit"
MOST_LISTED = 5  # of what is left out, in a reason
MOST_NAMED = 2  # pairs of bodies that a reason names
WATCH = 0.01  # s between looks at the distance
MADNESS, LEAST, FALLING = 10.0, 1.0, 2.0  # blowing up: energy over MuJoCo's, J per kg, over what falling gives


def measure(path: Path, method: str, keep: Any = lambda row: None) -> dict[str, Any]:
    """The row of one scene; `keep(row)` is called as soon as the run is measured."""
    row: dict[str, Any] = {"result": "refused", "reason": ""}
    try:
        loaded = load(path)
    except PeerRefuses as error:
        return row | {"result": "MuJoCo cannot load", "reason": str(error)}
    except ss.SesshokuError as error:
        return row | {"reason": str(error)}
    row |= {"time step": loaded.model.opt.timestep, "bodies": loaded.model.nbody - 1, "dof": loaded.model.nv,
            "keyframe": loaded.key, "left out": left_out(loaded.scene), "listed": len(loaded.scene.unsupported)}
    try:
        pair = Pair(loaded, method)
    except ss.SesshokuError as error:
        return row | {"reason": str(error)}
    row |= follow(pair)
    if row["result"] in ("agrees", "differs"):
        ours, theirs = pair.step_times(REPEATS, BUDGET)
        row |= {"step us": round(1e6 * ours, 2), "mj_step us": round(1e6 * theirs, 2), "ratio": round(ours / theirs, 2)}
    if row["result"] in ("differs", "blows up", "diverges"):
        start = row["reason"]

        def tell(known: str) -> None:
            keep(row | {"reason": "; ".join(filter(None, (start, known, apart_first(row), UNFINISHED)))})

        tell("")
        row["reason"] = "; ".join(filter(None, (start, why(loaded, method, row, tell), apart_first(row))))
    return row


def follow(pair: Pair) -> dict[str, Any]:
    """Both run for a second and are watched."""
    peaks, unconverged, first, mad = np.zeros(2), 0, "", False
    height, weight = pair.energies()[2], pair.mass()
    begin = pair.distances()
    start = f"starts {centimetres(begin.max())} away at {pair.names[begin.argmax()]}" if begin.max() > 1e-4 else ""
    stride, contacts = max(round(WATCH / pair.dt), 1), 0  # type: ignore[operator]
    row: dict[str, Any] = {}
    try:
        for n in range(1, pair.steps + 1):
            pair.sim.step()
            pair.peer_step()
            *kinetic, potential = pair.energies()
            peaks = np.maximum(peaks, kinetic)
            mad |= kinetic[0] > max(MADNESS * peaks[1], LEAST * weight, FALLING * (height - potential))
            unconverged += not pair.converged()
            if n % stride == 0:
                contacts = max(contacts, len(pair.sim.contacts))
                apart = pair.distances()
                if not first and apart.max() > AGREES:
                    first = f"{pair.names[apart.argmax()]} at {n * pair.dt:.2f} s"  # type: ignore[operator]
                    first += touching(pair)
        pair.refuse_reset()
        apart = pair.distances()
        row["result"] = "blows up" if mad else "agrees" if apart.max() <= AGREES else "differs"
        row |= {"distance": float(apart.max()), "body": pair.names[apart.argmax()],
                "contacts": len(pair.sim.contacts), "their contacts": int(pair.data.ncon)}
    except ss.SimulationDiverged as error:
        row |= {"result": "diverges", "reason": str(error).partition(";")[0]}
    except PeerDiverges as error:
        row |= {"result": "MuJoCo diverges", "reason": str(error)}
    row |= {"first apart": first, "most contacts": contacts, "unconverged": unconverged, "steps": pair.steps,
            "peak energy": round(float(peaks[0]), 4), "their peak energy": round(float(peaks[1]), 4)}
    row["reason"] = "; ".join(filter(None, (start, row.get("reason", ""))))
    return row


def touching(pair: Pair) -> str:
    """Which bodies touch here only, or in MuJoCo only."""
    here, there = pair.touching()
    only = ((here - there, "here only"), (there - here, "in MuJoCo only"))
    words = [f"{' and '.join(two)} touch {where}" for found, where in only for two in sorted(found)[:MOST_NAMED]]
    return f" ({', '.join(words)})" if words else ""


def why(loaded: Loaded, method: str, row: dict[str, Any], tell: Callable[[str], None]) -> str:
    """What the experiments found, and what is left out."""
    found = [Search(loaded, method, row.get("distance", np.inf), tell).find()]
    if row["left out"]:
        found.append(f"left out: {', '.join(row['left out'][:MOST_LISTED])}")
    return "; ".join(found)


def apart_first(row: dict[str, Any]) -> str:
    return f"first {row['first apart']}" if row["first apart"] else ""


def main() -> None:
    path, out, method = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]

    def keep(row: dict[str, Any]) -> None:
        out.write_text(json.dumps(row))

    keep(measure(path, method, keep))


if __name__ == "__main__":
    main()
