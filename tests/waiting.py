"""Waiting for what other threads, processes and browsers do: by events, with ceilings that only a hang reaches.

No test asserts that something is done within a wall-clock time: a machine under load may be slower by any factor.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

PATIENCE = 300.0  # s; below the time limit of a whole test, so that what was waited for is named


def until(condition: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Ask again and again until something holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds:g} s"
        time.sleep(0.005)


def interruptible(*words: str, **options: Any) -> subprocess.Popen[str]:
    """`python words...` as a process of its own that heeds SIGINT, as in a terminal.

    Background jobs of a shell ignore that signal, and all they start inherit it: also a test that was started so.
    """
    heed = f"import os, signal, sys; signal.signal({int(signal.SIGINT)}, signal.SIG_DFL); os.execv(sys.executable, "
    return subprocess.Popen([sys.executable, "-c", f"{heed}[sys.executable, *sys.argv[1:]])", *words], text=True,
                            **options)
