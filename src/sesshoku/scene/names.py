"""Things by name: a name that is not there is an error that suggests the nearest one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from sesshoku.errors import UnknownName, did_you_mean

T = TypeVar("T")
SHOWN = 8  # names listed where none is near


def unknown(what: str, name: Any, known: Iterable[str]) -> UnknownName:
    """The error for a name that nobody has. what: "body", "joint" ..."""
    names = [str(one) for one in known]
    listed = ", ".join(names[:SHOWN]) + (" ..." if len(names) > SHOWN else "")
    otherwise = f"there are {len(names)}: {listed}" if names else "there are none"
    return UnknownName(f"no such {what}", element=f"{what} {name!r}", remedy=did_you_mean(name, names, otherwise))


class Named(dict[str, T]):
    """A dict whose unknown names are errors with a suggestion; `get` and `in` are those of any dict."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what

    def __missing__(self, name: str) -> T:
        raise unknown(self.what, name, self)
