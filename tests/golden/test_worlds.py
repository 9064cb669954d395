"""64 worlds are where they were after ten steps, on any processor and on a GPU (golden_worlds.py)."""

from __future__ import annotations

import numpy as np
import pytest

import golden_worlds
from sesshoku.compiled.gpu.card import Card, NoCard

RUNS = [(scene, method) for scene, (_, methods) in golden_worlds.SCENES.items() for method in methods]
OFTEN = {("standing", "lcp:recommended"), ("varied", "exact")}
pytestmark = pytest.mark.filterwarnings("ignore::sesshoku.UnsupportedFeature", "ignore::sesshoku.UnstableStep")


def why_not() -> str:
    """Why nothing can run on a GPU here; empty where it can."""
    try:
        Card()
    except NoCard as error:
        return str(error)
    return ""


@pytest.mark.parametrize("scene, method", [run if run in OFTEN else pytest.param(*run, marks=pytest.mark.slow)
                                           for run in RUNS])
def test_worlds_are_where_they_were(scene, method):
    held(scene, method, "cpu")


@pytest.mark.skipif(bool(why_not()), reason=why_not())
@pytest.mark.slow
@pytest.mark.parametrize("scene, method", [run for run in RUNS if run[0] != "arm" and run[1] != "implicit"])
def test_worlds_on_a_gpu_are_where_those_of_the_cpu_are(scene, method):
    held(scene, method, "cuda")


def held(scene: str, method: str, device: str) -> None:
    batch = golden_worlds.begun(golden_worlds.SCENES[scene][0](), scene, method, device=device)
    batch.step(golden_worlds.STEPS)
    state, wanted = batch.save(), golden_worlds.golden()
    assert np.abs(state["q"] - wanted[f"{scene} {method} q"]).max() < 1e-12
    assert np.abs(state["v"] - wanted[f"{scene} {method} v"]).max() < 1e-10
    assert not state["diverged"].any()
