"""Saved arrays by value, from the declarations of a record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from sesshoku.compiled.checks import SavedRules, Unsound
from sesshoku.compiled.table import COUNTER, Record, array, part, scalar


class Inner(Record):
    capacity = scalar()
    counts = array(int, 3, saved=True, within=(0, ("C", "capacity", 2**62)))
    link = array(int, "C", 2, saved=True, within=(-1, "link_count - 1"))
    place = array(int, "C", saved=True, within=(0, "2 * C + 1"))
    force = array(float, "C", 3, saved=True)
    note = array(float, 2, saved=True, finite=False)
    turn = array(float, "B", 4, saved=True, unit=True)
    work = array(int, "C")  # not saved, no range


class Outer(Record):
    inner = part(Inner)
    kind = array(int, "V", saved=True, within=(0, 2))
    age = array(int, 1, saved=True, within=COUNTER)

    def unsound(self, given: Mapping[str, np.ndarray]) -> Any:
        return ("kind", (0,), "must not be 2 where the first count is 1") \
            if given["kind"][0] == 2 and given["inner.counts"][0] == 1 else None


def made() -> tuple[Outer, dict[str, np.ndarray], SavedRules]:
    inner = Inner.sized({"C": 4, "B": 2}, capacity=7)
    inner.turn[:, 0] = 1.0
    outer = Outer.sized({"V": 3}, inner=inner)
    given = {f"own {name}": values.copy() for name, values in outer.saved().items()}
    return outer, given, SavedRules(outer, {"link_count": 5}, lambda name: f"own {name}")


def test_what_a_record_holds_is_sound() -> None:
    _, given, rules = made()
    given["own inner.note"][:] = np.nan
    given["own inner.counts"][:] = 4, 7, 2**62
    given["own inner.link"][:] = [-1, 4]
    given["own inner.place"][:] = 9
    rules.check(given)


@pytest.mark.parametrize(("key", "at", "value", "said"), [
    ("inner.counts", 0, 5, r"own inner.counts \[0\] must lie within 0 .. 4"),
    ("inner.counts", 1, 8, r"\[1\] must lie within 0 .. 7"),
    ("inner.counts", 2, -1, r"\[2\] must lie within 0 .. 4611686018427387904"),
    ("inner.link", (3, 1), 5, r"own inner.link \[3, 1\] must lie within -1 .. 4"),
    ("inner.link", (0, 0), -2, r"\[0, 0\] must lie within -1 .. 4"),
    ("inner.place", 2, 10, r"\[2\] must lie within 0 .. 9"),
    ("inner.force", (1, 2), np.nan, r"own inner.force \[1, 2\] must be finite"),
    ("inner.force", (1, 2), -np.inf, r"\[1, 2\] must be finite"),
    ("inner.turn", (1, 0), 0.9, r"own inner.turn \[1\] must have length 1"),
    ("inner.turn", (1, 0), np.nan, "must be finite"),
    ("kind", 2, 3, r"own kind \[2\] must lie within 0 .. 2"),
    ("age", 0, -(2**63), r"own age \[0\] must lie within 0 .. "),
])
def test_a_value_out_of_range_is_named_with_its_place(key: str, at: Any, value: Any, said: str) -> None:
    _, given, rules = made()
    given[f"own {key}"][at] = value
    with pytest.raises(Unsound, match=said) as caught:
        rules.check(given)
    held = given[f"own {key}"][at if "length" not in str(caught.value) else 1]
    np.testing.assert_array_equal(caught.value.value, held)


@pytest.mark.parametrize(("value", "said"), [
    (None, "missing"), ("text", "must be an array of int64"), ([0, 0, 0], "must be an array"),
    (np.zeros(3), "must hold int64"), (np.zeros(3, dtype=">i8"), "must hold int64"),
    (np.array(["0", "0", "0"]), "must hold int64"), (np.array([0, 0, None]), "must hold int64"),
    (np.zeros(2, dtype=np.int64), r"must have shape \(3,\)"), (np.zeros((3, 1), dtype=np.int64), "must have shape"),
    (np.ma.masked_array(np.zeros(3, dtype=np.int64)), "must be an array"),
])
def test_anything_but_the_declared_array_is_refused(value: Any, said: str) -> None:
    _, given, rules = made()
    given["own kind"] = value
    with pytest.raises(Unsound, match=f"own kind .*{said}"):
        rules.check(given)


def test_fields_that_do_not_belong_together_are_refused() -> None:
    _, given, rules = made()
    given["own kind"][0] = 2
    rules.check(given)
    given["own inner.counts"][0] = 1
    with pytest.raises(Unsound, match=r"own kind \[0\] must not be 2"):
        rules.check(given)


def test_a_saved_integer_without_a_range_is_no_declaration() -> None:
    with pytest.raises(TypeError, match="must say its range"):
        array(int, "n", saved=True)


def test_a_bound_that_names_nothing_known_is_an_error_of_the_declaration() -> None:
    class Wrong(Record):
        place = array(int, "n", saved=True, within=(0, "m"))

    with pytest.raises(TypeError, match="'m' names what nobody knows"):
        SavedRules(Wrong.sized({"n": 2}), {})
