"""Calls with arguments that a function does not take: an error of our family that names the near miss.

Python's TypeError for them says nothing of what there is instead, and a program that catches SesshokuError would miss
it. A checked call costs nothing but a frame: the arguments are looked at only after Python refused them.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, TypeVar

from sesshoku.errors import SceneError, SesshokuError, did_you_mean, nearest

T = TypeVar("T", bound=Callable[..., Any])  # a function, or a class


def checked(thing: T) -> T:
    """Decorator of a function, or of a class (its constructor and public methods, those of its parts that it inherits
    among them): bad arguments are SceneErrors."""
    return checked_as(SceneError)(thing)


def checked_as(error: type[SesshokuError]) -> Callable[[T], T]:
    """`checked` with another error of the family."""

    def decorate(thing: T) -> T:
        if not isinstance(thing, type):
            return _checked_function(thing, thing.__name__, error, bound=False)
        for name, member in _members(thing).items():
            if name.startswith("_") and name not in ("__init__", "__call__"):
                continue
            element = thing.__name__ if name == "__init__" else f"{thing.__name__}.{name}"
            if isinstance(member, FunctionType):
                setattr(thing, name, _checked_function(member, element, error))
            elif isinstance(member, (classmethod, staticmethod)):
                bound = isinstance(member, classmethod)
                setattr(thing, name, type(member)(_checked_function(member.__func__, element, error, bound)))
        if dataclasses.is_dataclass(thing) and "__setattr__" not in vars(thing):  # frozen ones have their own
            thing.__setattr__ = _set_known  # type: ignore[method-assign]
        return thing

    return decorate


def _members(thing: type) -> dict[str, Any]:
    """What a class has of its own and from parents of this package that are not checked themselves."""
    package = __name__.partition(".")[0]
    parents = [parent for parent in thing.__mro__[1:] if parent.__module__.partition(".")[0] == package]
    inherited = {name: member for parent in reversed(parents) for name, member in vars(parent).items()
                 if not name.startswith("__") and not hasattr(member, "__wrapped__")}
    return inherited | vars(thing)


def _set_known(self: Any, name: str, value: Any) -> None:
    """Attributes are fields: a misspelt one would be kept, and never read."""
    if not name.startswith("_") and not hasattr(type(self), name):
        names = [field.name for field in dataclasses.fields(self)]
        if name not in names:
            raise SceneError(f"no attribute {name!r}", element=type(self).__name__, value=value,
                             remedy=did_you_mean(name, names, f"attributes: {', '.join(names)}"))
    object.__setattr__(self, name, value)


def _checked_function(function: Any, element: str, error: type[SesshokuError], bound: bool = True) -> Any:
    @functools.wraps(function)
    def checked_call(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except TypeError as refusal:
            # raised further in, the function did take the arguments: not ours to explain
            within = refusal.__traceback__ is None or refusal.__traceback__.tb_next is not None
            problem = None if within else explain(function, args, options, element, bound)
            if problem is None:
                raise
            raise (problem if error is SceneError else error(str(problem))) from None

    return checked_call


def explain(function: Any, args: tuple[Any, ...], options: dict[str, Any], element: str,
            bound: bool = True) -> SceneError | None:
    """Why a function does not take these arguments; None if it does. bound: its first one is the object itself."""
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **options)
    except TypeError as refusal:
        parameters = list(signature.parameters.values())[1 if bound else 0:]
        known = [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        strange = [key for key in options if key not in known]
        open_ended = any(p.kind == p.VAR_KEYWORD for p in parameters)
        if strange and (not open_ended or nearest(strange[0], known) is not None):
            return unknown_keyword(strange[0], known, element)
        listed = ", ".join(f"{p.name}=" if p.kind == p.KEYWORD_ONLY else p.name for p in parameters if p.name in known)
        return SceneError(str(refusal), element=element, remedy=f"arguments: {listed or 'none'}")
    return None


def unknown_keyword(key: str, known: Iterable[str], element: str) -> SceneError:
    """The error for a keyword that nobody knows, with the nearest one that is known."""
    names = list(known)
    return SceneError(f"unknown keyword {key!r}", element=element,
                      remedy=did_you_mean(key, names, f"known: {', '.join(names) or 'none'}"))
