"""Disjoint sets in an array of leaders: leader[n] is a member of n's set nearer to the one that stands for it."""

from __future__ import annotations

from typing import Any

from sesshoku.compiled.jit import jit


@jit
def find(leader: Any, n: Any) -> Any:
    """The member that stands for the set n is in; halves the path on the way."""
    while leader[n] != n:
        leader[n] = leader[leader[n]]
        n = leader[n]
    return n
