"""What kernels leave alone, so that the same source serves arrays of any layout, and other devices."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import sesshoku
from sesshoku.compiled.jit import jit
from sesshoku.compiled.matrix import as_matrix

PACKAGE = Path(sesshoku.__file__).parent
LAYOUT = ("reshape", "ravel", "flatten", "flat", "T", "transpose", "ctypes", "strides")


def kernels() -> list[tuple[Path, ast.FunctionDef]]:
    found = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(mark) for mark in node.decorator_list):
                found.append((path, node))
    return found


KERNELS = kernels()


def complaints(kernel: ast.FunctionDef) -> Iterator[tuple[ast.AST, str]]:
    """What of a kernel assumes a layout, allocates, or counts from the end."""
    for node in ast.walk(kernel):
        if isinstance(node, ast.Attribute) and node.attr in LAYOUT:
            yield node, "assumes how numbers lie: use as_matrix"
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith(("np.", "numpy.")):
            yield node, "calls NumPy: use math, or a loop"
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Subscript) and isinstance(
                node.value.slice, ast.Slice):
            yield node, "returns part of an array: return how many, and let the caller cut"
        if isinstance(node, ast.Subscript):
            for part in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
                if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub):
                    yield node, "counts from the end"


def test_kernels_assume_no_layout_and_count_from_the_front() -> None:
    assert len(KERNELS) > 1000
    found = [f"{path.relative_to(PACKAGE)}:{node.lineno}: {ast.unparse(node)}: {what}"
             for path, kernel in KERNELS for node, what in complaints(kernel)]
    assert not found, "\n".join(found)


def test_the_rules_catch_what_they_are_for() -> None:
    text = "def f(x, n):\n    y = x.reshape((n, n))\n    z = np.zeros(3)\n    x[-1] = x[0, -n]\n    return y[:n]\n"
    kernel = ast.parse(text).body[0]
    assert isinstance(kernel, ast.FunctionDef)
    assert [what.split(":")[0] for _, what in sorted(complaints(kernel), key=lambda pair: pair[0].lineno)] == [
        "assumes how numbers lie", "calls NumPy", "counts from the end", "counts from the end",
        "returns part of an array"]


@jit
def transpose_into(flat, rows, columns, out):
    matrix = as_matrix(flat, rows, columns)
    for i in range(rows):
        for j in range(columns):
            out[j, i] = matrix[i, j]
            matrix[i, j] += 1.0


def test_a_flat_array_as_a_matrix() -> None:
    """Side by side or with gaps, its numbers stay where they are."""
    for flat in (np.arange(7.0), np.arange(14.0)[::2]):
        before, out = flat.copy(), np.zeros((3, 2))
        transpose_into(flat, 2, 3, out)
        assert (out == before[:6].reshape(2, 3).T).all()
        assert (flat[:6] == before[:6] + 1.0).all()
        assert flat[6] == before[6]
