"""Methods that compile while others run: a thread prepares one after the other, a row waits for its own only."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

from numba.core import config

from sesshoku.compiled.jit import uses_numba
from sesshoku.compiled.prepare import missing_of, prepare
from sesshoku.compiled.prepare.progress import CompileProgress
from sesshoku.methods.registry import DEFAULT

LOOKED = 0.2  # s between looks at a compilation that is waited for


class Ahead:
    """Compiles what is missing of some methods in the background: the default method first, the rest as given.

    A context. A method that cannot be compiled is ready too: its own run says why.
    """

    def __init__(self, methods: list[ModuleType]) -> None:
        missing = [] if config.DISABLE_JIT or uses_numba() else [m for m in methods if missing_of([m])]
        self._open = sorted(missing, key=lambda method: method.__name__.rpartition(".")[2] != DEFAULT)
        self.order = [method for method in methods if method not in self._open] + self._open
        self._ready = {method: threading.Event() for method in self._open}
        names = [method.__name__.rpartition(".")[2] for method in self._open]
        self._line = CompileProgress(", ".join(names) if len(names) < 3 else f"{len(names)} methods", quiet=True)
        self._thread = threading.Thread(target=self._work, name="sesshoku compiling", daemon=True)

    def __enter__(self) -> Ahead:
        if self._open:
            self._thread.start()
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if self.busy and kind is KeyboardInterrupt:
            self._line.quiet = False
            self._line.interrupted()
        elif self._open and kind is None:
            self._thread.join()

    @property
    def busy(self) -> bool:
        """Whether anything is still being compiled: no time to measure times."""
        return self._thread.is_alive()

    def wait(self, method: ModuleType, progress: Callable[[str, float], None] | None) -> None:
        """Until a method is compiled; progress(text, share) meanwhile."""
        ready = self._ready.get(method)
        while ready is not None and not ready.wait(LOOKED):
            if progress is not None and self._line.said:
                progress(self._line.text, self._line.state.share)

    def wait_for_all(self, progress: Callable[[str, float], None] | None) -> None:
        """Until everything is compiled."""
        for method in self._open:
            self.wait(method, progress)

    def _work(self) -> None:
        try:
            with self._line as line:
                prepare(self._open, tell=line.tell, ready=lambda method: self._ready[method].set())
        except Exception:  # whatever it is, the method's own run meets it again, and says so
            pass
        finally:
            for ready in self._ready.values():
                ready.set()
