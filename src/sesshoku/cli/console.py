"""What commands print with: the two consoles, JSON, lines of files written, and a line of progress."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape

out, err = Console(), Console(stderr=True)


def print_json(value: Any) -> None:
    """One JSON value on stdout, in one line."""
    typer.echo(json.dumps(value))


def print_written(paths: Iterable[Path | str]) -> None:
    """A line for each thing a command wrote."""
    for path in paths:
        out.print(f"wrote {path}", markup=False, highlight=False, soft_wrap=True)


class ProgressLine:
    """What is running and how far it is: one line that renews itself in a terminal, one line a method elsewhere."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet, self._said = quiet, ""
        self._status = err.status("") if err.is_terminal and not quiet else None

    def __enter__(self) -> ProgressLine:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, *_: Any) -> None:
        if self._status is not None:
            self._status.stop()

    def __call__(self, label: str, done: float, scene: str = "") -> None:
        text = f"{scene}: {label}" if scene else label
        if self._status is not None:
            state = f"{100 * done:.0f} %" if done > 0.0 else "starting; the first run of a method compiles it, once"
            self._status.update(f"{escape(text)}  {state}")
        elif not self._quiet and re.sub(r"[0-9]+ (s|min|of)?", "", text) != self._said:
            err.print(f"running {text} ...", markup=False, highlight=False)
            self._said = re.sub(r"[0-9]+ (s|min|of)?", "", text)  # one line however far it is
