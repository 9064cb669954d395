"""How sure one may be: intervals of shares, and whether two laws differ on the same runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Z = 1.959963984540054  # of a normal distribution: 95 % lie within
SURE = 0.05  # chance of a difference as large, if there were none, below which it counts


@dataclass(frozen=True)
class Share:
    """Successes of so many runs, with Wilson's 95 % interval."""

    count: int
    total: int

    @property
    def value(self) -> float:
        return self.count / self.total if self.total else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.count, self.total)

    def __str__(self) -> str:
        low, high = self.interval
        return f"{percent(self.value)} ({percent(low)} to {percent(high)})" if self.total else "-"


def wilson(count: int, total: int, z: float = Z) -> tuple[float, float]:
    """Wilson's interval of a share: holds for few runs and for shares of 0 and 1 too."""
    if total == 0:
        return 0.0, 1.0
    share, square = count / total, z * z / total
    middle = (share + 0.5 * square) / (1.0 + square)
    half = z / (1.0 + square) * math.sqrt(share * (1.0 - share) / total + 0.25 * square / total)
    return max(0.0, middle - half) if count else 0.0, min(1.0, middle + half) if count < total else 1.0


def paired_chance(first: Sequence[bool], second: Sequence[bool]) -> float:
    """Chance that two laws that are alike differ so unevenly on the same runs: McNemar's exact test, two-sided."""
    one = sum(a and not b for a, b in zip(first, second))
    other = sum(b and not a for a, b in zip(first, second))
    both = one + other
    if both == 0:
        return 1.0
    tail = sum(math.comb(both, k) for k in range(min(one, other) + 1)) / 2.0**both
    return min(1.0, 2.0 * tail)


def holm(chances: Sequence[float]) -> list[float]:
    """Chances of several tests at once, each made larger so that together they err no more often (Holm)."""
    order = sorted(range(len(chances)), key=lambda n: chances[n])
    found, worst = [0.0] * len(chances), 0.0
    for rank, n in enumerate(order):
        worst = max(worst, min(1.0, (len(chances) - rank) * chances[n]))
        found[n] = worst
    return found


def percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100.0 * share:.0f} %"
