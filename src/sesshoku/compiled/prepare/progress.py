"""What is said while kernels compile: `compiling exact: 212 of 403 kernels, about 15 s left`.

One line that renews itself in a terminal; elsewhere (a file, a notebook) a line at the beginning, one every ten seconds
and one at the end. With a warm store nothing is said. `listeners` hear every text, wherever it is compiled for.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numba.core import config

KERNEL_SECONDS, UNIT_SECONDS, UNIT_KERNELS = 0.15, 0.7, 16  # what each costs, kernels in a unit, roughly: for shares
RENEWED, REPEATED = 0.2, 10.0  # s between texts in a terminal, and elsewhere
GUESSED = 0.03  # share of the work from which on the rest is guessed

#: called with each text, in whatever thread compiles, and with "" at the end: a page shows it
listeners: list[Callable[[str], None]] = []


@dataclass
class Progress:
    """How far a compilation is: what there is to do, and what is done."""

    kernels: int = 0
    kernels_done: int = 0
    links: int = 0  # units and entries; only guessed before the kernels are done
    links_done: int = 0

    @property
    def share(self) -> float:
        """The share of the work that is done, in time."""
        links = max(self.links, self.kernels // UNIT_KERNELS, 1)
        total = KERNEL_SECONDS * self.kernels + UNIT_SECONDS * links
        return min(1.0, (KERNEL_SECONDS * self.kernels_done + UNIT_SECONDS * self.links_done) / total)


def sentence(what: str, state: Progress, elapsed: float) -> str:
    """The state of a compilation in words, after some seconds."""
    text = f"compiling {what}"
    if state.kernels_done < state.kernels:
        text += f": {state.kernels_done} of {state.kernels} kernels"
    elif state.links:
        text += f": machine code, {state.links_done} of {state.links} parts"
    share = state.share
    if GUESSED <= share < 1.0 and elapsed > 1.0:
        text += f", about {seconds(elapsed * (1.0 - share) / share)} left"
    return text


def seconds(value: float) -> str:
    """A duration as one says it: "15 s", "3 min"."""
    return f"{max(1, round(value))} s" if value < 100.0 else f"{round(value / 60.0)} min"


class CompileProgress:
    """Tells of a call that may compile: a context around it. Where kernels are counted beforehand, `tell` is called.

    quiet: only listeners hear it.
    """

    def __init__(self, what: str, quiet: bool = False) -> None:
        self.what, self.quiet = what, quiet
        self.said = False
        self.state = Progress()
        self._lock = threading.Lock()
        self._began = self._next = self._repeat = 0.0
        self._width = 0  # of the line in the terminal

    def __enter__(self) -> CompileProgress:
        from numba.core import event

        progress = self

        class Listener(event.Listener):
            def on_start(self, event_: Any) -> None:
                progress._say()

            def on_end(self, event_: Any) -> None:
                pass

        self._listener = Listener()
        event.register("numba:compile", self._listener)
        self._heard = self._kernel_listeners()
        self._heard.append(self._compiled)
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        from numba.core import event

        event.unregister("numba:compile", self._listener)
        self._heard.remove(self._compiled)
        if not self.said:
            return
        state, spent = self.state, seconds(time.monotonic() - self._began)
        if kind is KeyboardInterrupt:
            self.interrupted()
        else:
            kernels = f": {state.kernels} kernels" if state.kernels else ""
            ended = "compiled" if kind is None else "stopped compiling"
            self._write(f"{ended} {self.what}{kernels} in {spent}; kept in the cache", end="\n")
        for listener in listeners:
            listener("")

    def interrupted(self) -> None:
        """Say what is kept where Ctrl-C ends it."""
        state = self.state
        done = f"{state.kernels_done} of {state.kernels} kernels" if state.kernels else "what is done"
        self._write(f"interrupted while compiling {self.what}; kept: {done}. The next run goes on from there", end="\n")

    def tell(self, state: Progress) -> None:
        """The compilation is this far."""
        self.state = state
        self._say()

    @property
    def text(self) -> str:
        """How far it is, in words."""
        return sentence(self.what, self.state, time.monotonic() - self._began)

    @staticmethod
    def _kernel_listeners() -> list[Callable[[str], None]]:
        from sesshoku.compiled.jit import uses_numba

        if config.DISABLE_JIT or uses_numba():
            return []
        from sesshoku.compiled.kernel import listeners as of_kernels

        return of_kernels

    def _compiled(self, name: str) -> None:
        """A kernel was compiled in this process."""
        state = self.state
        if not name.startswith("unit ") and state.kernels_done < state.kernels:
            state.kernels_done += 1
            self._say()

    def _say(self) -> None:
        with self._lock:
            now = time.monotonic()
            if not self.said:
                self.said, self._began = True, now
            if now < self._next:
                return
            self._next = now + RENEWED
            text = self.text
            if _is_terminal():
                self._write(text, end="")
            elif now >= self._repeat:
                self._repeat = now + REPEATED
                self._write(text, end="\n")
            for listener in listeners:
                listener(text)

    def _write(self, text: str, end: str) -> None:
        if self.quiet or sys.stderr is None:
            return
        text = f"sesshoku: {text}"
        if _is_terminal():
            sys.stderr.write(f"\r{text:<{self._width}}{end}")
        else:
            sys.stderr.write(text + end)
        self._width = len(text)
        sys.stderr.flush()


def _is_terminal() -> bool:
    try:
        return sys.stderr is not None and sys.stderr.isatty()
    except ValueError:  # closed
        return False
