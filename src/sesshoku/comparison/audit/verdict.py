"""The verdict of an audit: whether success depends on the law, in a sentence, with the evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sesshoku.comparison.audit.statistics import SURE, Share, holm, paired_chance, percent
from sesshoku.comparison.audit.touch import in_words
from sesshoku.comparison.sweep import Study
from sesshoku.comparison.table import say

if TYPE_CHECKING:
    from sesshoku.comparison.audit.run import Audit

CREEPS = 1e-3  # m/s that a contact creeps while it should stick, from which on it is worth a word
SINKS = 1e-3  # m


@dataclass
class Verdict:
    """depends: success differs between laws by more than chance. decided: False where a difference may be chance.

    pair: the law with the most successes, and the one with the fewest. chance: of the pair's difference, if there were
    none (corrected for the number of pairs). telling: the row of a run that ends differently under the two, if any.
    """

    depends: bool
    decided: bool
    pair: tuple[str, str]
    chance: float
    shares: dict[str, Share]
    telling: dict[str, Any]
    differing: int  # runs that end differently under some laws
    common: int  # runs that all laws made
    sentence: str = ""
    because: list[str] = field(default_factory=list)

    def explain(self, result: Audit) -> None:
        """Put it into words."""
        best, worst = (self.shares[law] for law in self.pair)
        a, b = self.pair
        both = (f"it succeeds in {percent(best.value)} of {best.total} runs under {a} and in {percent(worst.value)} "
                f"under {b}")
        self.because = reasons(result, a, b)
        if self.depends:
            free = _untouched(result, a, b)
            tail = f", where {self.because[0]}" if self.because and not free else ""
            on = "the contact law" if not free else \
                f"the simulator, and not by contact alone ({free} moves differently before it touches anything)"
            self.sentence = f"The controller depends on {on}: {both}{tail}."
        elif not self.decided:
            self.sentence = (f"Whether the controller depends on the contact law is open: {both}, {self.differing} of "
                             f"{self.common} runs end differently, which may be chance (p = {self.chance:.2g}); more "
                             "seeds would tell.")
        else:
            low, high = worst.interval[0], best.interval[1]
            runs = f"{best.total} run{'s' if best.total != 1 else ''}"
            self.sentence = (f"No dependence on the contact law was found: {percent(worst.value)} succeed under every "
                             f"law ({runs} each; 95 % interval {percent(low)} to {percent(high)}).")


def judge(study: Study, laws: list[str], asked: list[str]) -> Verdict:
    """Compare laws on the runs that all of them made."""
    rows = {law: {_run(row, study): row for row in study if row["method"] == law and row["error"] is None}
            for law in asked}
    shares = {law: Share(sum(bool(row["success"]) for row in rows[law].values()), len(rows[law])) for law in asked}
    ran = [law for law in laws if rows[law]]
    common = [run for run in rows[ran[0]] if all(run in rows[law] for law in ran)]
    flags = {law: [bool(rows[law][run]["success"]) for run in common] for law in ran}
    best = max(ran, key=lambda law: sum(flags[law]))
    worst = min((law for law in ran if law != best), key=lambda law: sum(flags[law]), default=best)
    pairs = [(one, other) for n, one in enumerate(ran) for other in ran[n + 1:]]
    chances = dict(zip(pairs, holm([paired_chance(flags[one], flags[other]) for one, other in pairs])))
    chance = chances.get((best, worst), chances.get((worst, best), 1.0))
    wholly = bool(common) and all(flags[best]) and not any(flags[worst])
    differing = sum(len({flags[law][n] for law in ran}) > 1 for n in range(len(common)))
    split = [run for n, run in enumerate(common) if flags[best][n] and not flags[worst][n]] or [
        run for n, run in enumerate(common) if len({flags[law][n] for law in ran}) > 1] or common
    telling = rows[best][split[0]] if split else next(iter(rows[best].values()))
    depends = wholly or min(chances.values(), default=1.0) < SURE
    return Verdict(depends, depends or differing == 0, (best, worst), chance, shares, telling, differing, len(common))


def _run(row: dict[str, Any], study: Study) -> tuple[Any, ...]:
    """What is the same under all laws."""
    return (row["seed"], *(row[name] for name in study.conditions if name != "method"))


def _untouched(result: Audit, a: str, b: str) -> str | None:
    """The body with which two laws begin to differ in the run that tells, where nothing had touched it by then."""
    found = result.case.partings[:1] if result.case is not None else []
    return found[0].untouched if found and set(found[0].laws) == {a, b} else None


def carries(touches: dict[str, dict[str, float]], pair: str) -> bool:
    """Whether a pair carries a tenth of all load or more: what lies on the ground now and then explains nothing."""
    impulse = {name: one["force"] * one["loaded"] for name, one in touches.items()}
    return impulse[pair] >= 0.1 * sum(impulse.values())


def reasons(result: Audit, a: str, b: str) -> list[str]:
    """What contacts do differently under two laws, the telling ones first: words with numbers."""
    found = []
    first, second = result.touches(a), result.touches(b)
    for key, least, unit, words in (("creep", CREEPS, "m/s", "creeps at {} on {} while it should stick"),
                                    ("depth", SINKS, "m", "sinks {} into {}")):
        pairs = [(abs(first[pair][key] - second[pair][key]), pair) for pair in first
                 if pair in second and carries(first, pair) and carries(second, pair)]
        if not pairs or max(pairs)[0] < least:
            continue
        pair = max(pairs)[1]
        body, ground = in_words(pair.split(" and "))
        more, less = (a, b) if first[pair][key] > second[pair][key] else (b, a)
        much, little = max(first[pair][key], second[pair][key]), min(first[pair][key], second[pair][key])
        found.append(f"{body} {words.format(say(much, unit), ground)} under {more} "
                     f"({say(max(little, 0.0), unit)} under {less})")
    if result.case is not None and result.case.partings and set(result.case.partings[0].laws) == {a, b}:
        found.append(f"in one run ({result.case}) {result.case.partings[0].sentence()}")
    return found
