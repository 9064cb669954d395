"""Where each key of a TOML text stands: key path -> line number, so that an error can name the line."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right

Path = tuple[str | int, ...]

_BLANK = re.compile(r"[ \t]*")
_BLANKS = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_BARE_VALUE = re.compile(r"[^,\]}#\n]*")
_KEY_PART = re.compile(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'|[A-Za-z0-9_-]+')
_STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"{3,5}'  # many lines; up to two quotes may stand before the closing three
    r"|'''(?:[^']|'(?!''))*'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'", re.DOTALL)


def key_lines(text: str) -> dict[Path, int]:
    """Line (from 1) of every key, table and array element of a *valid* TOML text with line feeds only."""
    return _Scanner(text).scan()


class _Scanner:
    """Walks over a text that tomllib has accepted, so it need not check anything."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.line_starts = [0] + [match.end() for match in re.finditer("\n", text)]
        self.lines: dict[Path, int] = {(): 1}
        self.array_last: dict[Path, int] = {}  # index of the newest [[table]] of each array

    def scan(self) -> dict[Path, int]:
        prefix: Path = ()
        while True:
            self.skip(_BLANKS)
            if self.at >= len(self.text):
                return self.lines
            if self.text[self.at] == "[":
                double = self.text.startswith("[[", self.at)
                line = self.line()
                self.at += 1 + double
                prefix = self.header(self.key(), double, line)
                self.at += 1 + double
            else:
                self.assignment(prefix)

    def line(self) -> int:
        return bisect_right(self.line_starts, self.at)

    def skip(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        if match is None:
            raise ValueError("not valid TOML")
        self.at = match.end()
        return match.group()

    def key(self) -> list[str]:
        """A dotted key; stops behind the blanks that follow it."""
        parts = []
        while True:
            self.skip(_BLANK)
            part = self.skip(_KEY_PART)
            parts.append(tomllib.loads(f"x = {part}")["x"] if part[0] in "\"'" else part)
            self.skip(_BLANK)
            if not self.text.startswith(".", self.at):
                return parts
            self.at += 1

    def header(self, keys: list[str], double: bool, line: int) -> Path:
        path: Path = ()
        for number, key in enumerate(keys):
            path += (key,)
            self.lines.setdefault(path, line)
            if double and number == len(keys) - 1:
                self.array_last[path] = self.array_last.get(path, -1) + 1
            if path in self.array_last:
                path += (self.array_last[path],)
                self.lines.setdefault(path, line)
        return path

    def assignment(self, prefix: Path) -> None:
        line, path = self.line(), prefix
        for key in self.key():
            path += (key,)
            self.lines.setdefault(path, line)
        self.at += 1  # the equals sign
        self.skip(_BLANK)
        self.value(path)

    def value(self, path: Path) -> None:
        first = self.text[self.at] if self.at < len(self.text) else ""
        if first in ("'", '"'):
            self.skip(_STRING)
        elif first == "[":
            self.at += 1
            index = 0
            while not self.closed("]"):
                self.lines[path + (index,)] = self.line()
                self.value(path + (index,))
                index += 1
        elif first == "{":
            self.at += 1
            while not self.closed("}"):
                self.assignment(path)
        else:
            self.skip(_BARE_VALUE)

    def closed(self, bracket: str) -> bool:
        """Step over blanks and a comma to the next element; True behind the closing bracket."""
        self.skip(_BLANKS)
        if self.text.startswith(",", self.at):
            self.at += 1
            self.skip(_BLANKS)
        if not self.text.startswith(bracket, self.at):
            return False
        self.at += 1
        return True
