"""Options of a method, each declared once: a field with its default and bounds, and a line of the class's docstring.

    class Options:
        \"""Defaults are the paper's.

        tolerance (m/s): residual at which a solve ends
        order: all normals, then all tangents; or contact by contact
        \"""

        tolerance: float = option(1e-9, least=0.0)
        order: Literal["normals_first", "by_contact"] = "normals_first"

`check_options` refuses what they do not allow; the tables of docs/methods are made of them (`python -m
benchmarks.options`).
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
import typing
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from sesshoku.errors import MethodError


@dataclass(frozen=True)
class Option:
    """Bounds of an option. least, most: allowed themselves; above, below: not. infinite: inf is allowed too."""

    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None
    infinite: bool = False
    hint: str = ""  # what else an error says

    def allows(self, number: float) -> bool:
        """Whether a number lies within the bounds."""
        if self.infinite and number == np.inf:
            return True
        return ((self.least is None or number >= self.least) and (self.above is None or number > self.above)
                and (self.most is None or number <= self.most) and (self.below is None or number < self.below)
                and abs(number) <= sys.float_info.max)

    @property
    def range(self) -> str:
        """The bounds in words: "from 0 to 1", "above 0", "of at least 1"."""
        if self.least is not None and self.most is not None:
            words = f"from {self.least:g} to {self.most:g}"
        else:
            said = ((self.least, "of at least"), (self.above, "above"), (self.most, "up to"), (self.below, "below"))
            words = " and ".join(f"{word} {bound:g}" for bound, word in said if bound is not None)
        return f"{words}, or inf" if self.infinite else words


def option(default: Any, **bounds: Any) -> Any:
    """A field of a class of options with bounds, those of `Option`."""
    return field(default=default, metadata={"option": Option(**bounds)})


@functools.cache
def declared(options: type) -> dict[str, tuple[Any, Option]]:
    """Option -> its type and its bounds."""
    kinds = typing.get_type_hints(options)
    return {entry.name: (kinds[entry.name], entry.metadata.get("option", Option())) for entry in fields(options)}


def explained(options: type) -> dict[str, tuple[str, str]]:
    """Option -> its unit and its meaning, from the docstring."""
    entries = re.findall(r"^(\w+)(?: \((.+?)\))?: (.+(?:\n    .+)*)", inspect.getdoc(options) or "", re.MULTILINE)
    return {name: (unit, " ".join(text.split())) for name, unit, text in entries}


def choices_of(kind: Any) -> tuple[str, ...]:
    """The words of a Literal; none for other types."""
    return typing.get_args(kind) if typing.get_origin(kind) is typing.Literal else ()


def check_options(options: Any, keyword: str) -> None:
    """MethodError for the first option that is not what it was declared as."""
    space: type = type(options)
    for name, (kind, said) in declared(space).items():
        value = getattr(options, name)
        if not _fits(value, kind, said):
            default = getattr(space, name)
            raise MethodError(f"{name} must be {_wanted(kind, said)}", element=f"method {keyword!r}",
                              value=repr(value) if value is None else value,
                              remedy=f"the default is {default}{', ' if said.hint else ''}{said.hint}")


def _wanted(kind: Any, said: Option) -> str:
    """What an option must be, in words."""
    words = choices_of(kind)
    if words:
        return " or ".join(words) if len(words) < 3 else f"one of {', '.join(words)}"
    if kind is bool:
        return "True or False"
    text = f"{'a whole number' if kind is int else 'a number'} {said.range}".rstrip()
    return f"{text}, or None" if type(None) in typing.get_args(kind) else text


def _fits(value: Any, kind: Any, said: Option) -> bool:
    if choices_of(kind):
        return isinstance(value, str) and value in choices_of(kind)
    if kind is bool:
        return isinstance(value, (bool, np.bool_))
    if value is None:
        return type(None) in typing.get_args(kind)
    if isinstance(value, (bool, np.bool_)):
        return False
    if kind is int:
        return isinstance(value, (int, np.integer)) and abs(int(value)) < 2**53 and said.allows(int(value))
    return isinstance(value, (int, float, np.integer, np.floating)) and said.allows(
        value if isinstance(value, int) else float(value))
