"""Errors of scene files: each names the line, the key path, the element's name, the value and a remedy."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from sesshoku.errors import SceneError, did_you_mean
from sesshoku.scene.io.toml.lines import Path, key_lines
from sesshoku.scene.io.toml.schema import SceneTable, Table, keys_of, tables_in

#: keys whose word in an error text differs from the key
SPOKEN = {"center": "centre", "parent": "parent", "bodies": "pair"}

MOST_DOTS = 64  # in a key
_PART = r"(?:[A-Za-z0-9_-]++|\"[^\"\n]*+\"|'[^'\n]*+')"
_DEEP_KEY = re.compile(rf"(?<![A-Za-z0-9_-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MOST_DOTS},{MOST_DOTS}}}")


def parse(text: str) -> dict[str, Any]:
    """The tables of a TOML text; syntax errors name line and column."""
    deep = _DEEP_KEY.search(text)
    if deep is not None:  # each dot is a table within the one before, and readers take the square of that, or recurse
        line = text.count("\n", 0, deep.start()) + 1
        raise SceneError(f"a key has more than {MOST_DOTS} dots", element=f"line {line}",
                         value=deep.group()[:40] + "...", remedy="no key of a scene has more than two")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        found = re.search(r" ?\(at (line \d+, column \d+|end of document)\)$", message)
        place = found.group(1) if found else "text"
        if place == "end of document":
            place = f"line {text.count(chr(10)) + 1} (end of document)"
        problem = message[:found.start()] if found else message
        raise SceneError(f"not valid TOML: {problem}", element=place, remedy="correct the syntax there") from None
    except RecursionError:
        raise SceneError("not readable: tables or arrays are nested too deeply", element="text",
                         remedy="flatten them") from None
    except ValueError as error:  # numbers of thousands of digits
        raise SceneError(f"not readable: {error}", element="text", remedy="shorten the number") from None


class Places:
    """Knows where each key of one scene file stands."""

    def __init__(self, text: str, data: dict[str, Any]) -> None:
        self.data = data
        self.lines = key_lines(text)

    def line(self, path: Path) -> int:
        """Line of a key, or of the nearest table around it."""
        while path not in self.lines:
            path = path[:-1]
        return self.lines[path]

    def element(self, path: Path, name: str | None = None) -> str:
        """`line 12: body[3].mass (body 'crate')`."""
        shown = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
        name = name or self._name(path)
        return f"line {self.line(path)}: {shown or 'scene'}" + (f" ({name})" if name else "")

    def _name(self, path: Path) -> str | None:
        """The name of the innermost named table of an array on the way to a key."""
        for end in range(len(path), 1, -1):
            table = self.value(path[:end])
            if isinstance(path[end - 1], int) and isinstance(table, dict) and isinstance(table.get("name"), str):
                return f"{path[end - 2]} {table['name']!r}"
        return None

    def value(self, path: Path) -> Any:
        value: Any = self.data
        for part in path:
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                return None
        return value

    def error(self, path: Path, problem: str, remedy: str | None = None, value: Any = None) -> SceneError:
        return SceneError(problem, element=self.element(path), value=value, remedy=remedy)

    @contextmanager
    def inside(self, path: Path) -> Iterator[None]:
        """Give every SceneError raised inside the line and key path of the table it came from."""
        try:
            yield
        except SceneError as error:
            known = error.element or ""
            if error.file is None and not known.startswith("line "):
                error.element = self.element(path + self._blamed(path, error.problem), known or None)
                error.args = (str(error),)
            raise
        except (ArithmeticError, np.linalg.LinAlgError) as error:  # sizes so extreme that volumes vanish or overflow
            raise self.error(path, f"the numbers are too large or too small to compute with ({error})",
                             "use metres, kilograms and seconds") from None

    def _blamed(self, path: Path, problem: str) -> Path:
        """The key of a table that an error text speaks of, as a path of one part; empty if it names none."""
        table = self.value(path)
        if not isinstance(table, dict):
            return ()
        words = re.findall(r"\w+", problem.lower())
        blamed = [key for key in table if SPOKEN.get(key, key) in words]
        return (min(blamed, key=lambda key: words.index(SPOKEN.get(key, key))),) if blamed else ()


def validated(places: Places) -> SceneTable:
    """The tables of a scene file, checked for keys, types and ranges."""
    try:
        return SceneTable.model_validate(places.data)
    except ValidationError as error:
        details = error.errors(include_url=False)
        paths = [_path(places, item) for item in details]
        first = min(range(len(details)), key=lambda i: places.line(paths[i]))
        raise _explained(places, paths[first], details[first], len(details)) from None
    except RecursionError:
        raise SceneError("not readable: tables or arrays are nested too deeply", element="text",
                         remedy="flatten them") from None


def _path(places: Places, item: ErrorDetails) -> Path:
    """The key path of a pydantic error, without the tags that pydantic puts in for the branches of a union."""
    path: Path = ()
    for number, part in enumerate(item["loc"]):
        value = places.value(path)
        inside = (isinstance(value, dict) and part in value) or (
            isinstance(value, list) and isinstance(part, int) and 0 <= part < len(value))
        if inside or (item["type"] == "missing" and number == len(item["loc"]) - 1):
            path += (part,)
    return path


def _explained(places: Places, path: Path, item: ErrorDetails, count: int) -> SceneError:
    table, description = _schema_of(path)
    kind, value, key = item["type"], item["input"], path[-1] if path else ""
    more = f" ({count - 1} more problems in this file)" if count > 1 else ""
    if kind == "extra_forbidden":
        known = list(keys_of(table))
        remedy = did_you_mean(key, known, f"known keys here: {', '.join(known)}")
        return places.error(path, f"unknown key {key!r}", remedy + more, value)
    if kind == "missing":
        return places.error(path, f"the key {key!r} is missing", f"add it: {key} = ... ({description})" + more)
    name = next((part for part in reversed(path) if isinstance(part, str)), "value")
    problem = item["msg"].removeprefix("Input ").replace("List should", "should")
    return places.error(path, problem, (f"{name}: {description}" if description else "correct the value") + more, value)


def _schema_of(path: Path) -> tuple[type[Table], str]:
    """The table class around the last key of a path, and the description of that key."""
    table: type[Table] = SceneTable
    inner: type[Table] | None = SceneTable
    description = ""
    for part in path:
        if isinstance(part, int):
            continue
        if inner is None:
            break
        table, field = inner, keys_of(inner).get(part)
        if field is not None:
            description = field.description or ""
            inner = next(tables_in(field.annotation), None)
    return table, description
