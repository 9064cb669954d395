"""The one exception family of sesshoku. An error names the file, the element, the value and the remedy."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any


class SesshokuError(Exception):
    """Base of every error this package raises on purpose."""


class SceneError(SesshokuError, ValueError):
    """A scene, robot file or argument that cannot be simulated.

    The message reads `FILE: ELEMENT: what is wrong (got VALUE); REMEDY`, with the parts that are known.
    """

    def __init__(
        self, problem: str, *, element: str | None = None, value: Any = None, remedy: str | None = None,
        file: str | None = None,
    ) -> None:
        self.problem, self.element, self.value, self.remedy, self.file = problem, element, value, remedy, file
        super().__init__(str(self))

    def __str__(self) -> str:
        text = ": ".join(part for part in (self.file, self.element, self.problem) if part)
        if self.value is not None:
            shown = repr(_plain(self.value))
            text += f" (got {shown if len(shown) <= 200 else shown[:200] + '...'})"
        return f"{text}; {self.remedy}" if self.remedy else text

    def __reduce__(self) -> Any:
        return (_rebuild_scene_error, (type(self), self.problem, self.element, self.value, self.remedy, self.file))


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's own, which read better: 0.0, not np.float64(0.0)."""
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        return type(value)(_plain(item) for item in value)
    return value.tolist() if type(value).__module__ == "numpy" and hasattr(value, "tolist") else value


def _rebuild_scene_error(
    cls: type[SceneError], problem: str, element: str, value: Any, remedy: str, file: str,
) -> SceneError:
    return cls(problem, element=element, value=value, remedy=remedy, file=file)


class UnknownName(SceneError, KeyError):
    """A name that a mapping does not hold. Also a KeyError, so that `.get` and `except KeyError` work as ever."""


class MethodError(SceneError):
    """A method name, option or scene that the contact method cannot carry."""


class RecordingError(SesshokuError, ValueError):
    """A recording that cannot be written or read."""


class MissingExtra(SesshokuError, ImportError):
    """A package that an optional part needs is not installed; names the extra that brings it."""


class SimulationDiverged(SesshokuError, RuntimeError):
    """The state stopped being one that can be: finite, slower than light, with no energy from nowhere.

    `time` and `body` say when and where; the last good state is kept.
    """

    def __init__(self, message: str, *, time: float, body: str | None) -> None:
        super().__init__(message)
        self.time, self.body = time, body


class UnstableStep(UserWarning):
    """A time step too long for springs or gains the user chose; says how long it may be."""


class SuspectRun(UserWarning):
    """A run that stays finite and cannot be right: energy from nothing, or a contact law that stays unsolved."""


class OpenLoop(UserWarning):
    """A closed loop whose ends are apart at the start: the bodies will be moved together."""


class UnsupportedFeature(UserWarning):
    """What a robot file uses and sesshoku does not, listed once per load; what of a scene a method leaves out."""


@contextmanager
def in_file(path: Any) -> Iterator[None]:
    """Name the file in every SceneError raised inside."""
    try:
        yield
    except SceneError as error:
        if error.file is None:
            error.file = str(path)
            error.args = (str(error),)
        raise


@contextmanager
def from_extra(extra: str, what: str) -> Iterator[None]:
    """Around the imports of an optional part: what is not installed is told with the extra that brings it."""
    try:
        yield
    except ImportError as error:
        if isinstance(error, MissingExtra):
            raise
        raise MissingExtra(f"{what} needs {error.name or error}, which the extra `{extra}` brings: "
                           f"pip install 'sesshoku[{extra}]'") from error


def nearest(name: Any, known: Iterable[str]) -> str | None:
    """The known name most like another, whatever its case; else one that is the same but for a prefix ("left/knee")."""
    names = list(known)
    near = difflib.get_close_matches(str(name), names, n=1)
    if near:
        return near[0]
    lower = {one.lower(): one for one in names}
    near = difflib.get_close_matches(str(name).lower(), lower, n=1)
    if near:
        return lower[near[0]]
    return next((one for one in names if one.rpartition("/")[2] == str(name).rpartition("/")[2]), None)


def did_you_mean(name: Any, known: Iterable[str], otherwise: str = "", *, also: str = "") -> str:
    """The remedy for a misspelt name: the nearest known one, `otherwise` where none is near; `also` in either case."""
    near = nearest(name, known)
    parts = (otherwise if near is None else f"did you mean {near!r}?", also)
    return " ".join(part for part in parts if part)
