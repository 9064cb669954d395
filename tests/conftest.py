"""Seed, hypothesis profile and selection for the whole suite."""

from __future__ import annotations

import hashlib

import hypothesis
import numpy as np
import pytest

from support import FULL, SEED, sample_count

hypothesis.settings.register_profile(
    "sesshoku",
    deadline=None,  # a first call compiles
    database=None,  # what was drawn depends on the seed alone
    max_examples=sample_count(50, 500),
    print_blob=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("sesshoku")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(SEED)


def pytest_report_header() -> str:
    return f"sesshoku: seed {SEED} (repeat with SESSHOKU_SEED={SEED}), {'full counts' if FULL else 'samples'}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if terminalreporter.stats.get("failed") or terminalreporter.stats.get("error"):
        terminalreporter.write_line(f"sesshoku: repeat these failures with SESSHOKU_SEED={SEED}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave `slow` and `full` to `make test-full`."""
    if FULL:
        return
    left_out = [item for item in items if item.get_closest_marker("slow") or item.get_closest_marker("full")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


@pytest.fixture(scope="session")
def seed() -> int:
    """The seed of this run, printed in the header."""
    return SEED


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A generator that depends on the seed and the test's name, not on the order of tests."""
    name = int.from_bytes(hashlib.sha256(request.node.nodeid.encode()).digest()[:8], "little")
    return np.random.default_rng([SEED, name])
