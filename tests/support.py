"""What tests share: the seed of the run and the size of samples (`from support import SEED, sample_count`)."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from importlib import metadata
from pathlib import Path

import pytest

FULL = os.environ.get("SESSHOKU_FULL", "") not in ("", "0")


def sample_count(normal: int, full: int) -> int:
    """How many samples to draw: `normal` in `make test`, `full` in `make test-full`."""
    return full if FULL else normal


def example_robots() -> Path:
    """The folder of robots of example-robot-data: files only, no Python module to import. Skips where it is missing."""
    try:
        package = metadata.distribution("example-robot-data")
    except metadata.PackageNotFoundError:
        pytest.skip("example-robot-data is not installed (extra `peers`)")
    folder = Path(str(package.locate_file("cmeel.prefix/share/example-robot-data/robots")))
    assert folder.is_dir(), f"example-robot-data {package.version} keeps its robots elsewhere than in {folder}"
    return folder


def _choose_seed() -> int:
    """$SESSHOKU_SEED; else 1 for the samples of `make test`, so that a change is judged by what it changes; else, with
    full counts, one that is new with every commit (and so repeats on one), or the time where there is no git."""
    given = os.environ.get("SESSHOKU_SEED")
    if given:
        return int(given)
    if not FULL:
        return 1
    if shutil.which("git"):
        head = subprocess.run(["git", "rev-parse", "--short=7", "HEAD"], cwd=Path(__file__).parent, capture_output=True,
                              text=True, check=False)
        if head.returncode == 0:
            return int(head.stdout[:7], 16)
    return int(time.time()) % 2**28


SEED = _choose_seed()
os.environ["SESSHOKU_SEED"] = str(SEED)  # the workers of pytest-xdist inherit it and draw the same samples
