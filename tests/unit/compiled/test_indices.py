"""Indices of arrays are unsigned in compiled code (compiled/indices.py)."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from numba import types

import sesshoku
from sesshoku.compiled.indices import counts_from_end, unsigned
from sesshoku.compiled.jit import jit

PACKAGE = Path(sesshoku.__file__).parent


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


def kernels() -> list[tuple[Path, ast.FunctionDef]]:
    found = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(mark) for mark in node.decorator_list):
                found.append((path, node))
    return found


def test_no_kernel_counts_from_the_end() -> None:
    """Also by literals, which would work here, but not on other devices."""
    found = kernels()
    assert len(found) > 1000
    for path, kernel in found:
        for node in ast.walk(kernel):
            parts = node.slice.elts if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) else [
                node.slice] if isinstance(node, ast.Subscript) else []
            for part in parts:
                below = isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub)
                assert not below, f"{path.name}:{node.lineno}: {ast.unparse(node)}"
