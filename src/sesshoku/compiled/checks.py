"""Saved arrays by value: whether what is handed in may be written into a record, as its declarations say.

Compiled code trusts its arrays: a count beyond a capacity makes it read and write where it should not. So a saved state
that comes from outside is looked at first, number by number, against the record's own declaration of each field
(`within`, `finite`, `unit` of `array`), and against what a record knows of fields that belong together (`unsound`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sesshoku.compiled.table import Field, Record, _extent

LENGTH_TOLERANCE = 1e-6  # by which unit vectors may miss their length


class Unsound(Exception):
    """A value that must not enter. key: of the array; problem: what is wrong, with its index; value: what was given."""

    def __init__(self, key: str, problem: str, value: Any = None) -> None:
        super().__init__(f"{key} {problem}")
        self.key, self.problem, self.value = key, problem, value


@dataclass(frozen=True)
class Rule:
    """What a saved array must be: its key in a state, shape, declaration, and bounds as numbers."""

    key: str
    shape: tuple[int, ...]
    field: Field
    lowest: Any = None  # None: no bounds
    highest: Any = None

    def check(self, given: Any) -> None:
        check_array(self.key, given, self.shape, self.field.element)
        if self.field.dtype is float and self.field.finite:
            check_finite(self.key, given)
        if self.field.unit:
            check_unit(self.key, given)
        if self.lowest is not None:
            check_within(self.key, given, self.lowest, self.highest)


class SavedRules:
    """What the saved arrays of a record must be.

    names: numbers that bounds may name besides the record's own extents and scalars. key_of: how a state calls what
    `Record.saved` calls "contacts.id".
    """

    def __init__(self, record: Record, names: Mapping[str, int], key_of: Callable[[str], str] = str) -> None:
        self._record, self._key_of = record, key_of
        self._rules = list(_rules(record, names, "", key_of))

    def check(self, given: Mapping[str, Any]) -> None:
        """Raise `Unsound` for the first array that is missing or must not be written into the record."""
        for rule in self._rules:
            rule.check(given.get(rule.key))
        _check_relations(self._record, given, "", self._key_of)


def check_array(key: str, given: Any, shape: tuple[int, ...], dtype: Any) -> None:
    """Raise `Unsound` for anything but an array of that shape and element type."""
    if given is None:
        raise Unsound(key, "is missing")
    if type(given) not in (np.ndarray, np.memmap):  # others may answer differently each time they are asked
        raise Unsound(key, f"must be an array of {np.dtype(dtype)}", type(given).__name__)
    if given.dtype != dtype:
        raise Unsound(key, f"must hold {np.dtype(dtype)}", str(given.dtype))
    if given.shape != shape:
        raise Unsound(key, f"must have shape {shape}", given.shape)


def check_finite(key: str, given: np.ndarray) -> None:
    """Raise `Unsound` for the first number that is not finite."""
    if not np.isfinite(given).all():
        _refuse(key, given, ~np.isfinite(given), "must be finite")


def check_unit(key: str, given: np.ndarray) -> None:
    """Raise `Unsound` for the first row (last axis) whose length is not one."""
    with np.errstate(over="ignore"):
        length = np.sqrt((given * given).sum(axis=-1))
    bad = ~(np.abs(length - 1.0) <= LENGTH_TOLERANCE)
    if bad.any():
        at = tuple(np.argwhere(bad)[0].tolist())
        raise Unsound(key, f"{list(at) if at else ''} must have length 1".lstrip(), given[at].tolist())


def check_within(key: str, given: np.ndarray, lowest: Any, highest: Any) -> None:
    """Raise `Unsound` for the first number outside its bounds."""
    bad = (given < lowest) | (given > highest)
    if bad.any():
        at = tuple(np.argwhere(bad)[0].tolist())
        low, high = (int(np.broadcast_to(bound, given.shape)[at]) for bound in (lowest, highest))
        _refuse(key, given, bad, f"must lie within {low} .. {high}")


def _refuse(key: str, given: np.ndarray, bad: np.ndarray, problem: str) -> None:
    at = tuple(np.argwhere(bad)[0].tolist())
    raise Unsound(key, f"[{', '.join(map(str, at))}] {problem}", given[at].item())


def _rules(record: Record, names: Mapping[str, int], prefix: str, key_of: Callable[[str], str]) -> Iterator[Rule]:
    """Of every saved field of a record and of the records within it."""
    known = {**names, **_numbers(record)}
    for name, field in record.fields.items():
        if field.is_record:
            yield from _rules(getattr(record, name), known, f"{prefix}{name}.", key_of)
        elif field.saved:
            key, shape = key_of(prefix + name), getattr(record, name).shape
            if field.within is None:
                yield Rule(key, shape, field)
            else:
                lowest, highest = (_bound(key, bound, known) for bound in field.within)
                # where there is nothing to count or to point at, unused places are zero all the same
                yield Rule(key, shape, field, lowest, np.maximum(highest, 0))


def _numbers(record: Record) -> dict[str, int]:
    """Named extents and integer scalars of a record."""
    found: dict[str, int] = {}
    for name, field in record.fields.items():
        if field.extents is not None:
            sizes = zip(field.extents, getattr(record, name).shape, strict=True)
            found |= {extent: size for extent, size in sizes if isinstance(extent, str) and extent.isidentifier()}
        elif field.dtype is int:
            found[name] = getattr(record, name)
    return found


def _bound(key: str, bound: Any, known: Mapping[str, int]) -> Any:
    """A bound as a number, or as one for each place along the last axis."""
    if isinstance(bound, tuple):
        return np.array([_bound(key, each, known) for each in bound])
    value = _extent(bound, known)
    if value is None:
        raise TypeError(f"{key}: bound {bound!r} names what nobody knows; there are {', '.join(sorted(known))}")
    return value


def _check_relations(record: Record, given: Mapping[str, Any], prefix: str, key_of: Callable[[str], str]) -> None:
    """What records know of fields that belong together."""
    for name, field in record.fields.items():
        if field.is_record:
            _check_relations(getattr(record, name), given, f"{prefix}{name}.", key_of)
    if type(record).unsound is Record.unsound:
        return
    found = record.unsound({name: given[key_of(prefix + name)] for name in record.saved()})
    if found is not None:
        name, at, problem = found
        key = key_of(prefix + name)
        raise Unsound(key, f"[{', '.join(map(str, at))}] {problem}", given[key][at].item())
