"""VRML 97 files (`.wrl`) as a tree of nodes; shapes.py makes shapes of it.

Read without a table of node types: what follows a field's name tells what it is (numbers, a text, TRUE or FALSE, a
node, a list). DEF and USE, PROTO with IS, and Inline are resolved; EXTERNPROTO, ROUTE and scripts are passed over,
since no shape depends on them.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sesshoku.errors import SceneError, in_file
from sesshoku.scene.io.files import read_file

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]|[^\s,{}\[\]"#]+')
BLANK = re.compile(r"(?:[\s,]+|#[^\n]*)*")
NUMBERS = re.compile(r"[-+0-9.eE,\s]*\]")  # the rest of a list of nothing but numbers
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$|0[xX][0-9a-fA-F]+$")
INTERFACES = ("field", "exposedField", "eventIn", "eventOut")


@dataclass
class Node:
    """A node: its type, its fields, the name DEF gave it, its line in the file."""

    kind: str
    fields: dict[str, Any] = field(default_factory=dict)
    name: str | None = None
    line: int = 0

    def numbers(self, key: str, usual: Any) -> np.ndarray:
        """A field of numbers, flat; `usual` where the file says nothing."""
        value = self.fields.get(key)
        if value is None:
            return np.asarray(usual, dtype=np.float64).ravel()
        if not isinstance(value, np.ndarray):
            raise SceneError(f"{key} is not a list of numbers", element=self.label, value=value)
        return value

    def nodes(self, key: str) -> list[Node]:
        """A field of nodes; an empty list where there is none."""
        value = self.fields.get(key)
        found = value if isinstance(value, list) else [value]
        return [node for node in found if isinstance(node, Node)]

    def flag(self, key: str, usual: bool) -> bool:
        value = self.fields.get(key)
        return value if isinstance(value, bool) else usual

    @property
    def label(self) -> str:
        named = f" {self.name!r}" if self.name else ""
        return f"{self.kind}{named} (line {self.line})"


@dataclass
class _Is:
    """The value of a field of the prototype around it."""

    name: str


@dataclass
class _Prototype:
    usual: dict[str, Any]
    body: list[Node]


@dataclass
class World:
    """The nodes of a file, and those that have names."""

    nodes: list[Node]
    named: dict[str, Node]


def read_vrml(path: Path) -> World:
    """Parse a VRML 97 file."""
    with in_file(path):
        text = read_file(path).decode("utf-8", errors="replace")
        if not text.startswith("#VRML V2.0"):
            raise SceneError("not a VRML 97 file", element="line 1", value=text[:20],
                             remedy='its first line must be "#VRML V2.0 utf8"; convert other files to it, STL or OBJ')
        try:
            parser = _Parser(text)
            return World(parser.statements(""), parser.named)
        except RecursionError:
            raise SceneError("nodes are nested too deeply", element="VRML", remedy="flatten the file") from None


class _Parser:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.named: dict[str, Node] = {}
        self.prototypes: dict[str, _Prototype] = {}

    # ---- tokens ------------------------------------------------------------------------------------------------------

    @property
    def line(self) -> int:
        return self.text.count("\n", 0, self.at) + 1

    def peek(self) -> str:
        """The next token, or an empty string at the end."""
        self.at = BLANK.match(self.text, self.at).end()  # type: ignore[union-attr]
        match = TOKEN.match(self.text, self.at)
        if match is None and self.at < len(self.text):
            raise self.error("a text is not closed", self.text[self.at:self.at + 20], 'add the missing "')
        return match.group() if match else ""

    def take(self) -> str:
        token = self.peek()
        self.at += len(token)
        return token

    def expect(self, wanted: str) -> None:
        token = self.take()
        if token != wanted:
            raise self.error(f"expected {wanted!r}", token or "the end of the file", "correct the file at that place")

    def error(self, problem: str, value: Any, remedy: str) -> SceneError:
        return SceneError(problem, element=f"line {self.line}", value=value, remedy=remedy)

    # ---- grammar -----------------------------------------------------------------------------------------------------

    def statements(self, end: str) -> list[Node]:
        """Nodes until `end` ("" is the end of the file)."""
        found = []
        while (token := self.peek()) != end:
            if not token:
                raise self.error("the file ends within a node", None, "is the file complete?")
            if not self.aside(token):
                node = self.node()
                found += [node] if node is not None else []
        self.take()
        return found

    def aside(self, token: str) -> bool:
        """PROTO, EXTERNPROTO and ROUTE, which may stand between nodes and between fields."""
        if token == "ROUTE":
            for _ in range(4):  # ROUTE a.b TO c.d
                self.take()
        elif token == "PROTO":
            self.prototype()
        elif token == "EXTERNPROTO":
            self.take(), self.take()
            self.interface(with_values=False)
            self.value()
        else:
            return False
        return True

    def node(self) -> Node | None:
        token, line = self.take(), self.line
        if token == "NULL":
            return None
        if token == "USE":
            name = self.take()
            if name not in self.named:
                raise self.error("USE of a name that no DEF gave", name, "define it before, or correct the name")
            return self.named[name]
        named = self.take() if token == "DEF" else None
        token = self.take() if named else token
        if not token or token in "{}[]" or token.startswith('"') or NUMBER.match(token):
            raise self.error("expected a node", token or "the end of the file", "correct the file at that place")
        self.expect("{")
        node = Node(token, self.fields(), named, line)
        if token in self.prototypes:
            node = self.instance(self.prototypes[token], node)
        if named is not None:
            self.named[named] = node
        return node

    def fields(self) -> dict[str, Any]:
        """The fields of a node, until its closing brace."""
        found: dict[str, Any] = {}
        while (token := self.peek()) != "}":
            if not token:
                raise self.error("the file ends within a node", None, "is the file complete?")
            if self.aside(token):
                continue
            self.take()
            if token in INTERFACES:  # of a script
                self.take(), self.take()
                if self.peek() == "IS" or token in ("field", "exposedField"):
                    self.value()
                continue
            if token in "{[]" or token.startswith('"') or NUMBER.match(token):
                raise self.error("expected the name of a field", token, "correct the file at that place")
            found[token] = self.value()
        self.take()
        return found

    def value(self) -> Any:
        token = self.peek()
        if token == "[":
            return self.many()
        if token == "IS":
            self.take()
            return _Is(self.take())
        if token in ("TRUE", "FALSE"):
            return self.take() == "TRUE"
        if token.startswith('"'):
            return [_unquoted(self.take())]
        if NUMBER.match(token):
            numbers = []
            while NUMBER.match(self.peek()):
                numbers.append(_number(self.take()))
            return np.array(numbers)
        return self.node()

    def many(self) -> Any:
        """What stands between brackets: numbers, texts or nodes."""
        self.take()
        numbers = NUMBERS.match(self.text, self.at)
        if numbers:
            self.at = numbers.end()
            try:
                return np.array(numbers.group()[:-1].replace(",", " ").split(), dtype=np.float64)
            except ValueError as error:
                raise self.error("a list holds what is no number", str(error), "correct the number") from None
        found: list[Any] = []
        while (token := self.peek()) != "]":
            if not token:
                raise self.error("the file ends within a list", None, "is the file complete?")
            if token.startswith('"'):
                found.append(_unquoted(self.take()))
            elif NUMBER.match(token):
                found.append(_number(self.take()))
            elif token in ("TRUE", "FALSE"):
                found.append(self.take() == "TRUE")
            elif not self.aside(token):
                found.append(self.node())
        self.take()
        if found and all(isinstance(item, float) for item in found):
            return np.array(found)
        return found

    # ---- prototypes --------------------------------------------------------------------------------------------------

    def interface(self, with_values: bool) -> dict[str, Any]:
        self.expect("[")
        usual: dict[str, Any] = {}
        while (token := self.take()) != "]":
            if token not in INTERFACES:
                raise self.error("expected field, exposedField, eventIn or eventOut", token, "correct the prototype")
            self.take()  # its type
            name = self.take()
            if with_values and token in ("field", "exposedField"):
                usual[name] = self.value()
        return usual

    def prototype(self) -> None:
        self.take()
        name, usual, outer = self.take(), self.interface(with_values=True), self.named
        self.expect("{")
        self.named = {}  # names inside are its own
        self.prototypes[name] = _Prototype(usual, self.statements("}"))
        self.named = outer

    def instance(self, prototype: _Prototype, given: Node) -> Node:
        """The first node of the prototype's body, with the fields that were handed in."""
        if not prototype.body:
            return given
        made = copy.deepcopy(prototype.body[0])
        _fill(made, prototype.usual | given.fields, set())
        made.name, made.line = given.name, given.line
        return made


def _fill(node: Node, values: dict[str, Any], seen: set[int]) -> None:
    if id(node) in seen:
        return
    seen.add(id(node))
    for key, value in list(node.fields.items()):
        if isinstance(value, _Is):
            node.fields[key] = values.get(value.name)
        for child in node.nodes(key):
            if not isinstance(value, _Is):
                _fill(child, values, seen)


def _unquoted(token: str) -> str:
    return re.sub(r"\\(.)", r"\1", token[1:-1])


def _number(token: str) -> float:
    return float(int(token, 16)) if token[:2] in ("0x", "0X") else float(token)
