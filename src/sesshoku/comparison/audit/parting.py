"""Where two runs part from each other, and the contact that made the difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sesshoku.comparison.audit.touch import Felt, Pair, feel, in_words
from sesshoku.comparison.audit.trial import Ending, Trial, positions
from sesshoku.comparison.table import say

THRESHOLD = 0.01  # m between a body's places in two runs from which on they count as parted
CREEPS = 1e-4  # m/s that count
EARLY = 0.1  # of the threshold: where the difference begins


class Trace:
    """Bodies and contacts of a run, sampled by the clock; `look` is called after every step."""

    def __init__(self, rate: float = 500.0) -> None:
        self._period = 1.0 / rate
        self.times: list[float] = []
        self.places: list[np.ndarray] = []
        self.felt: list[dict[Pair, Felt]] = []
        self.ending: Ending | None = None

    def look(self, sim: Any) -> None:
        if sim.time + 0.5 * sim.dt < len(self.times) * self._period:
            return
        self.times.append(sim.time)
        self.places.append(positions(sim))
        self.felt.append(feel(sim.contacts))


def trace_of(trial: Trial) -> Trace:
    """Make a run and keep what it did."""
    trace = Trace()
    trace.ending = trial.go(trace.look)
    return trace


@dataclass
class Parting:
    """When two runs part (s), at which body and by how much (m), and the pair whose impulses differ the most by then.

    since: when the difference begins, s. untouched: the body with which it begins, where that and all that hangs
    together with it had touched nothing by then: contact did not make the difference. impulse: how much the
    pair's impulses differ by the parting, N s. first, second: what the pair felt from then until the
    parting, on the mean, under the two laws.
    """

    laws: tuple[str, str]
    time: float
    body: str
    distance: float
    since: float
    pair: Pair | None
    impulse: float
    first: Felt | None
    second: Felt | None
    untouched: str | None = None

    def sentence(self) -> str:
        """The parting in words."""
        head = (f"{self.laws[0]} and {self.laws[1]} part at {self.time:.2f} s "
                f"({self.body} {say(self.distance, 'm')} apart)")
        if self.untouched is not None:
            return (f"{head}; the difference begins at {self.since:.2f} s with {self.untouched}, which had touched "
                    "nothing by then: not contact made it, but servos, joints or the time step")
        if self.pair is None:
            return f"{head}; no contact differed before"
        a, b = in_words(self.pair)
        return (f"{head}; the difference begins at {self.since:.2f} s where {a} touches {b}: under {self.laws[0]} it "
                f"{describe(self.first)}, under {self.laws[1]} it {describe(self.second)}")

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        def felt(one: Felt | None) -> Any:
            return None if one is None else {
                "force": one.force.tolist(), "normal_force": one.normal, "friction_force": one.friction,
                "slip_speed": one.slip, "depth": one.depth, "held": one.held}

        return {"laws": list(self.laws), "time": self.time, "body": self.body, "distance": self.distance,
                "since": self.since, "untouched": self.untouched,
                "pair": None if self.pair is None else list(self.pair),
                "impulse_difference": self.impulse, "felt": [felt(self.first), felt(self.second)],
                "sentence": self.sentence()}


def describe(felt: Felt | None) -> str:
    """What a pair does, in words."""
    if felt is None or felt.normal <= 0.0:
        return "carries nothing"
    if felt.held < 0.5:
        how = f"slips at {say(felt.slip, 'm/s')}"
    else:
        how = f"creeps at {say(felt.creep, 'm/s')}" if felt.creep > CREEPS else "sticks"
    return f"{how}, pressed by {felt.normal:.3g} N with {felt.friction:.3g} N of friction"


def find_parting(laws: tuple[str, str], first: Trace, second: Trace, names: Sequence[str],
                 threshold: float = THRESHOLD, parents: Mapping[str, str | None] | None = None) -> Parting | None:
    """Where two runs of the same robot part by more than a threshold; None: they do not, as long as both last.

    parents: of bodies, for what hangs together.
    """
    count = min(len(first.times), len(second.times))
    if count == 0:
        return None
    apart = np.array([np.linalg.norm(first.places[n] - second.places[n], axis=1).max() for n in range(count)])
    late = np.flatnonzero(apart > threshold)
    if not len(late):
        return None
    end = int(late[0])
    begin = int(np.flatnonzero(apart[:end + 1] > EARLY * threshold)[0])
    body = int(np.linalg.norm(first.places[end] - second.places[end], axis=1).argmax())
    pair, impulse = _differing(first, second, end)
    moved = names[int(np.linalg.norm(first.places[begin] - second.places[begin], axis=1).argmax())]
    untouched = None if _touched(_tree(moved, parents or {}), (first, second), begin) else moved
    window = range(max(begin - 1, 0), end + 1)
    return Parting(laws, first.times[end], names[body], float(apart[end]), first.times[begin], pair, impulse,
                   _mean(first, pair, window), _mean(second, pair, window), untouched)


def _tree(body: str, parents: Mapping[str, str | None]) -> set[str]:
    """All bodies that hang together with one by joints."""
    def root(name: str) -> str:
        while (above := parents.get(name)) is not None:
            name = above
        return name

    return {name for name in parents if root(name) == root(body)} | {body}


def _touched(bodies: set[str], traces: Sequence[Trace], end: int) -> bool:
    """Whether any of some bodies carried load at a contact until a sample."""
    return any(name in bodies for trace in traces for felt in trace.felt[:end + 1] for pair in felt for name in pair)


def _differing(first: Trace, second: Trace, end: int) -> tuple[Pair | None, float]:
    """The pair whose impulses differ the most until a sample, and by how much, N s."""
    sums: dict[Pair, np.ndarray] = {}
    for n in range(end + 1):
        step = first.times[n] - (first.times[n - 1] if n else 0.0)
        for sign, trace in ((1.0, first), (-1.0, second)):
            for pair, felt in trace.felt[n].items():
                sums[pair] = sums.get(pair, np.zeros(3)) + sign * step * felt.force
    if not sums:
        return None, 0.0
    pair = max(sums, key=lambda pair: float(np.linalg.norm(sums[pair])))
    return pair, float(np.linalg.norm(sums[pair]))


def _mean(trace: Trace, pair: Pair | None, window: range) -> Felt | None:
    """What a pair felt on the mean over some samples, None where it did not touch."""
    found = [trace.felt[n][pair] for n in window if pair is not None and pair in trace.felt[n]]
    if not found:
        return None
    count, load = len(window), sum(felt.normal for felt in found)
    held = sum(felt.normal * felt.held for felt in found)
    creep = sum(felt.normal * felt.creep for felt in found)
    return Felt(sum((felt.force for felt in found), np.zeros(3)) / count, load / count,
                sum(felt.friction for felt in found) / count, sum(felt.normal * felt.slip for felt in found) / load,
                max(felt.depth for felt in found), held / load, creep / held if held > 0.0 else 0.0)
