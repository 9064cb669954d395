"""The command line called in this process: `said = call("compare", "scene.toml")`, with exit code and output."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from sesshoku.cli import app as cli
from sesshoku.cli import console


@dataclass
class Said:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


Call = Callable[..., Said]


def caller(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int = 200) -> Call:
    """A function that runs the command line as a shell would."""
    for stream in (console.out, console.err):
        monkeypatch.setattr(stream, "_width", width)

    def call(*arguments: Any) -> Said:
        monkeypatch.setattr(sys, "argv", ["sesshoku", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            cli.main()
        printed = capsys.readouterr()
        return Said(int(stop.value.code or 0), printed.out, printed.err)

    return call
