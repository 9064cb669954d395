"""Sets in arrays: disjoint ones by their leaders, those of sorted keys by bisection.

leader[n] is a member of n's set nearer to the one that stands for it.
"""

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


@jit
def first_from(keys: Any, count: Any, key: Any) -> Any:
    """Place of the first of `count` sorted keys that is not below `key`; `count`: there is none."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low
