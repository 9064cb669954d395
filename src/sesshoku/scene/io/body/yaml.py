"""YAML with lines, as Choreonoid's body files need it: every value knows where it stands.

Scalars stay text until a reader asks for a number (YAML's own rules would read 010 as 8 and 1e-3 as text). Keys are
taken in snake_case: `jointType` and `joint_type` are the same key. `import: *name` and `<<: *name` add the entries of
another mapping.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene import check
from sesshoku.scene.io.files import read_file
from sesshoku.scene.io.spec import within
from sesshoku.scene.io.unsupported import Grade, Unsupported

NOTHING = ("", "~", "null", "Null", "NULL")
TRUE, FALSE = ("true", "yes", "on"), ("false", "no", "off")


class Text(str):
    """A scalar and its line."""

    line: int = 0


class Items(list[Any]):
    """A list and its line."""

    line: int = 0


class Entries(dict[str, Any]):
    """A mapping and its line; `taken`: keys that a reader has asked for."""

    line: int = 0

    def __init__(self) -> None:
        super().__init__()
        self.taken: set[str] = set()

    def take(self, *keys: str) -> Any:
        """The value of the first of these keys that is there, or None."""
        self.taken.update(keys)
        return next((self[key] for key in keys if key in self), None)

    def left(self) -> Iterator[str]:
        """Keys nobody asked for."""
        return (key for key in self if key not in self.taken)


def snake(key: str) -> str:
    """jointType -> joint_type."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", key).lower()


def read_yaml(path: Path, unsupported: Unsupported) -> Entries:
    """The top-level mapping of a file."""
    import yaml

    try:
        text = read_file(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise SceneError(f"cannot be read: {error}", remedy="check the path, and that the file is UTF-8") from None
    try:
        root = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        found = _convert(root, unsupported, {}, set()) if root is not None else None
    except yaml.YAMLError as error:
        raise SceneError(f"is not well-formed YAML: {' '.join(str(error).split())}",
                         remedy="correct the file at that place") from None
    except RecursionError:
        raise SceneError("is nested too deeply", remedy="flatten the file") from None
    if not isinstance(found, Entries):
        raise SceneError("holds no mapping of keys to values", value=str(found)[:60],
                         remedy="a body file begins with `format: ChoreonoidBody`")
    return found


def _convert(node: Any, unsupported: Unsupported, done: dict[int, Any], open_nodes: set[int]) -> Any:
    """The values of a YAML node; an alias is the same object as its anchor."""
    import yaml

    if id(node) in done:
        return done[id(node)]
    line = node.start_mark.line + 1
    if id(node) in open_nodes:
        raise SceneError("an alias stands within its own anchor", element=f"line {line}", remedy="end the circle")
    open_nodes.add(id(node))
    made: Any
    if isinstance(node, yaml.ScalarNode):
        made = None if node.style is None and node.value in NOTHING else Text(node.value)
    elif isinstance(node, yaml.SequenceNode):
        made = Items(_convert(item, unsupported, done, open_nodes) for item in node.value)
    else:
        made, own = Entries(), set[str]()
        for key_node, value_node in node.value:
            _enter(made, own, key_node, _convert(value_node, unsupported, done, open_nodes), unsupported)
    if made is not None:
        made.line = line
    open_nodes.discard(id(node))
    done[id(node)] = made
    return made


def _enter(made: Entries, own: set[str], key_node: Any, value: Any, unsupported: Unsupported) -> None:
    line = key_node.start_mark.line + 1
    if not isinstance(key_node.value, str):
        raise SceneError("a key is not a text", element=f"line {line}", remedy="write `key: value`")
    if key_node.value in ("<<", "import"):
        for other in value if isinstance(value, Items) else [value]:
            if not isinstance(other, Entries):
                raise SceneError(f"{key_node.value} needs a mapping", element=f"line {line}", value=other,
                                 remedy="name an anchor: `import: *name`")
            for key, inherited in other.items():
                made.setdefault(key, inherited)
        return
    # names of nodes in a mapping of elements keep their capitals
    key = key_node.value if key_node.value[:1].isupper() else snake(key_node.value)
    if key in own:
        unsupported.add(f"key {key_node.value!r} stands twice, the second time in line {line}: the last one counts",
                        Grade.SLIGHT)
    own.add(key)
    made[key] = value


# ---- values ----------------------------------------------------------------------------------------------------------


def place(value: Any, label: str) -> str:
    """How an error names an element: with the line of the value, in place of its own."""
    line = getattr(value, "line", 0)
    return f"{re.sub(r' [(]line [0-9]+[)]$', '', label)} (line {line})" if line else label


@contextmanager
def lined(value: Any, element: str) -> Iterator[None]:
    """Name the element, and its line where no line is named, in every SceneError raised inside."""
    try:
        with within(element):
            yield
    except SceneError as error:
        if "(line " not in (error.element or ""):
            error.element = place(value, error.element or element)
            error.args = (str(error),)
        raise


def number(value: Any, what: str, label: str, infinite: bool = False) -> float:
    """A number out of its text."""
    at = place(value, label)
    try:
        if not isinstance(value, Text) or "_" in value:
            raise ValueError
        return check.number(float(value), what, at, infinite=infinite)
    except ValueError as error:
        if isinstance(error, SceneError):
            raise
        raise SceneError(f"{what} is not a number", element=at, value=_shown(value), remedy="give a number") from None


def vector(value: Any, what: str, label: str, size: int = 3) -> np.ndarray:
    """So many numbers in brackets."""
    if not isinstance(value, Items) or len(value) != size:
        raise SceneError(f"{what} needs {size} numbers", element=place(value, label), value=_shown(value),
                         remedy=f"give them in brackets: [{', '.join('0' * min(size, 4))}{', ...' * (size > 4)}]")
    return np.array([number(item, what, label) for item in value])


def numbers(value: Any, what: str, label: str) -> np.ndarray:
    """Numbers in brackets, however many, nested or not."""
    if not isinstance(value, Items):
        raise SceneError(f"{what} is not a list", element=place(value, label), value=_shown(value),
                         remedy="give numbers in brackets")
    flat = [part for item in value for part in (item if isinstance(item, Items) else [item])]
    return np.array([number(item, what, label) for item in flat])


def text(value: Any, what: str, label: str) -> str:
    if not isinstance(value, Text):
        raise SceneError(f"{what} is not a text", element=place(value, label), value=_shown(value),
                         remedy="give a text")
    return str(value)


def flag(value: Any, what: str, label: str) -> bool:
    if isinstance(value, Text) and value.lower() in TRUE + FALSE:
        return value.lower() in TRUE
    raise SceneError(f"{what} is neither true nor false", element=place(value, label), value=_shown(value),
                     remedy="give true or false")


def _shown(value: Any) -> Any:
    """A value as an error prints it."""
    if isinstance(value, Text):
        return str(value)
    return [_shown(item) for item in value] if isinstance(value, Items) else dict(value) if isinstance(
        value, Entries) else value
