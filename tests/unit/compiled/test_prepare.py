"""Compiling side by side: what children compile is what a simulation then calls."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core import config

import sesshoku as ss
from sesshoku.compiled import prepare
from sesshoku.methods import registry
from waiting import PATIENCE

METHODS = list(registry.MODULES)
# `make test` never skips these: as plain Python it runs what is marked `nojit` alone. They ask this process's compiler.
compiled_only = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled with NUMBA_DISABLE_JIT=1")


def crate(keyword: str) -> ss.Simulation:
    scene = ss.Scene()
    scene.add_ground()
    scene.add_box("crate", size=(1, 1, 1), mass=1.0, position=(0, 0, 0.5))
    return ss.Simulation(scene, keyword)


@pytest.mark.parametrize("keyword", METHODS)
def test_a_part_survives_being_spelled(keyword: str) -> None:
    module = registry.load(keyword)
    for part in [*module.PARTS, *([] if config.DISABLE_JIT else [prepare.linked(module)])]:
        assert prepare.read_part(prepare.spelled(part)) == part


@compiled_only
@pytest.mark.parametrize("keyword", METHODS)
def test_every_part_compiles(keyword: str) -> None:
    """A part that children cannot compile would go unnoticed: the caller compiles it, later and alone."""
    for part in registry.load(keyword).PARTS:
        prepare.compile_part(part)


@compiled_only
@pytest.mark.parametrize("keyword", METHODS)
def test_a_simulation_calls_what_was_prepared(keyword: str) -> None:
    """One signature of `run`, the prepared one; and each part is called with the types it was compiled for."""
    crate(keyword).step()
    module = registry.load(keyword)
    entry = getattr(module, "LINKED", module.run)
    assert entry.signatures == [tuple(map(prepare.numba_type, prepare.linked(module)[1]))]
    assert prepare.marker(module).exists() or (os.cpu_count() or 1) < 2


SIDE_BY_SIDE = """
from sesshoku.compiled import prepare
from sesshoku.spatial import algebra

parts = [("sesshoku.spatial.algebra:cross", (float,) * 6), ("sesshoku.spatial.algebra:quaternion_matrix", (float,) * 4)]
told = []
print(prepare.compile_side_by_side(parts, 2, told.append), sorted(told) == sorted(name for name, _ in parts))
for name, arguments in parts:
    prepare.compile_part((name, arguments))
    print(sum(getattr(algebra, name.partition(":")[2]).stats.cache_misses.values()))
print(prepare.compile_side_by_side([("sesshoku.spatial.algebra:no_such_kernel", ())], 2, told.append), len(told))
"""


def test_children_fill_the_cache_and_a_failure_is_told(tmp_path: Path) -> None:
    """In a cache of its own: this process then finds both kernels there; a part that does not exist does no harm."""
    environment = os.environ | {"SESSHOKU_CACHE": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    result = subprocess.run([sys.executable, "-c", SIDE_BY_SIDE], env=environment, capture_output=True, text=True,
                            check=True, timeout=PATIENCE)
    assert result.stdout.split() == ["True", "True", "0", "0", "False", "2"]
