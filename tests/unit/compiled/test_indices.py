"""Indices of arrays are unsigned in compiled code (compiled/indices.py)."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
from numba import types

from sesshoku.compiled.indices import counts_from_end, unsigned
from sesshoku.compiled.jit import jit


@jit
def pick(values, i, j):
    return values[i, j] + values[i][j] + values[0, -1]


@jit
def put(values, i, x):
    values[i] = x
    values[-1] += x


def test_results_are_those_of_python() -> None:
    values = np.arange(12.0).reshape(3, 4)
    assert pick(values, 2, 1) == 9.0 + 9.0 + 3.0
    row = np.zeros(4)
    put(row, 1, 2.0)
    assert row.tolist() == [0.0, 2.0, 0.0, 2.0]


def test_types_of_indices() -> None:
    pair = types.UniTuple(types.int64, 2)
    assert unsigned(types.int64) == types.uint64 and unsigned(types.int32) == types.int32
    assert unsigned(pair) == types.UniTuple(types.uint64, 2)
    assert unsigned(types.Tuple((types.int64, types.slice2_type))) == types.Tuple((types.uint64, types.slice2_type))
    assert unsigned(types.slice2_type) == types.slice2_type
    assert counts_from_end(-1) and counts_from_end((0, -2))
    assert not counts_from_end((0, 1)) and not counts_from_end(None)


def test_an_index_below_zero_is_caught_where_bounds_are_checked() -> None:
    text = ("import numpy as np\nfrom sesshoku.compiled.jit import jit\n"
            "@jit\ndef at(values, i):\n    return values[i]\n"
            "try:\n    at(np.zeros(3), -1)\nexcept IndexError:\n    print('caught')\n")
    said = subprocess.run([sys.executable, "-c", text], env={**os.environ, "NUMBA_BOUNDSCHECK": "1"}, text=True,
                          capture_output=True, timeout=600)
    assert said.stdout.strip() == "caught", said.stderr
