"""Results stay bit for bit what they were; where a change moves one on purpose, `python tests/golden_runs.py` writes
the new hashes, and the commit says which moved and why."""

from __future__ import annotations

import json

import pytest

import golden_runs as runs


@pytest.mark.parametrize(("scene", "method"), runs.RUNS)
def test_the_same_bits(scene: str, method: str) -> None:
    known = json.loads(runs.HASHES.read_text()).get(runs.machine())
    if known is None:
        pytest.skip(f"no hashes for {runs.machine()}: `python tests/golden_runs.py` writes them")
    assert runs.digest(scene, method) == known[f"{scene}/{method}"]
