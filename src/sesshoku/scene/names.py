"""Things by name: a name that is not there is an error that suggests the nearest one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, TypeVar

from sesshoku.errors import UnknownName

T = TypeVar("T")
SHOWN = 8  # names listed where none is near


def unknown(what: str, name: Any, known: Iterable[str]) -> UnknownName:
    """The error for a name that nobody has. what: "body", "joint" ..."""
    names = [str(one) for one in known]
    near = nearest(str(name), names)
    listed = ", ".join(names[:SHOWN]) + (" ..." if len(names) > SHOWN else "")
    remedy = f"did you mean {near!r}?" if near else f"there are {len(names)}: {listed}" if names else "there are none"
    return UnknownName(f"no such {what}", element=f"{what} {name!r}", remedy=remedy)


def nearest(name: str, known: list[str]) -> str | None:
    """The known name most like another, whatever its case; else one that is the same but for a prefix ("left/knee")."""
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return near[0]
    lower = {one.lower(): one for one in known}
    near = difflib.get_close_matches(name.lower(), lower, n=1)
    if near:
        return lower[near[0]]
    return next((one for one in known if one.rpartition("/")[2] == name.rpartition("/")[2]), None)


class Named(dict[str, T]):
    """A dict whose unknown names are errors with a suggestion; `get` and `in` are those of any dict."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what

    def __missing__(self, name: str) -> T:
        raise unknown(self.what, name, self)
