"""Sets in arrays: who stands for whom, and where a key is."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku.compiled.sets import find, first_from


@pytest.mark.nojit
@pytest.mark.boundscheck
def test_members_of_a_set_have_one_that_stands_for_them(rng: np.random.Generator) -> None:
    """Random unions, against a list of sets."""
    for _ in range(20):
        count = int(rng.integers(1, 30))
        leader, sets = np.arange(count), [{n} for n in range(count)]
        for a, b in rng.integers(count, size=(int(rng.integers(40)), 2)):
            leader[find(leader, a)] = find(leader, b)
            one, other = (next(group for group in sets if n in group) for n in (a, b))
            if one is not other:
                sets.remove(other)
                one |= other
        for group in sets:
            (stands,) = {int(find(leader, n)) for n in group}
            assert stands in group and leader[stands] == stands


@pytest.mark.nojit
@pytest.mark.boundscheck
def test_keys_are_found_by_bisection(rng: np.random.Generator) -> None:
    """As NumPy finds them: keys twice, none at all, below and above all."""
    for count in range(8):
        keys = np.sort(rng.integers(0, 6, size=count + 2))
        for key in range(-1, 8):
            assert first_from(keys, count, key) == np.searchsorted(keys[:count], key)
