"""Mutation testing of kernels: does a test fail when the code is wrong?

`make mutants COUNT=50`, or `python tools/mutants.py --count 50 --seed 1`. A mutant is one kernel of `dynamics`,
`collision` or `solvers` with one small change: an operator, a comparison, a constant, a sign, a condition. The tests
that import its module run on a copy of the package; a mutant that they let pass is a survivor, listed with its line.
Mutants that do not compile count as killed: no user would ever meet them. --plain runs the tests that are meant for it
as plain Python first (a few seconds), and compiles only what they let pass.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "sesshoku"
ROOMS = ("dynamics", "collision", "solvers")
PATIENCE = 600.0  # s for the tests of a mutant: one that loops for ever is killed
PLAIN_PATIENCE = 300.0
NO_TESTS = 5  # pytest's word for it
SWAPPED: dict[type, type] = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Lt: ast.LtE,
                             ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
                             ast.And: ast.Or, ast.Or: ast.And}


@dataclass
class Mutant:
    path: Path  # within the package
    line: int
    before: str
    after: str
    source: str  # of the whole module


def kernels(tree: ast.Module) -> list[ast.FunctionDef]:
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)
            and any("jit" in ast.unparse(mark) for mark in node.decorator_list)]


def changes(node: ast.AST) -> Iterator[str]:
    """Names of the changes that a node allows."""
    if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPPED:
        yield "operator"
    if isinstance(node, ast.AugAssign) and type(node.op) in SWAPPED:
        yield "operator"
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPPED:
        yield "comparison"
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        yield "constant"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "sign"
    if isinstance(node, ast.If):
        yield "condition"


def change(node: ast.AST, what: str) -> None:
    if what == "operator":
        node.op = SWAPPED[type(node.op)]()  # type: ignore[attr-defined]
    elif what == "comparison":
        node.ops[0] = SWAPPED[type(node.ops[0])]()  # type: ignore[attr-defined]
    elif what == "constant":
        node.value = node.value + 1 if isinstance(node.value, int) else 1.1 * node.value + 0.1  # type: ignore[attr-defined]
    elif what == "sign":
        node.op = ast.UAdd()  # type: ignore[attr-defined]
    else:
        node.test = ast.UnaryOp(ast.Not(), node.test)  # type: ignore[attr-defined]


def draw(rng: random.Random) -> Mutant:
    """One change of one kernel, all kernels alike and all places of one alike."""
    paths = sorted(path for room in ROOMS for path in (PACKAGE / room).rglob("*.py"))
    while True:
        path = rng.choice(paths)
        tree = ast.parse(path.read_text())
        found = kernels(tree)
        if not found:
            continue
        kernel = rng.choice(found)
        places = [(node, what) for statement in kernel.body[1:] for node in ast.walk(statement)
                  for what in changes(node)]
        if not places:
            continue
        node, what = rng.choice(places)
        before = ast.unparse(node)
        original = copy.deepcopy(node)
        change(node, what)
        source = ast.unparse(tree)
        if isinstance(node, ast.If):
            before, after = ast.unparse(original.test), ast.unparse(node.test)  # type: ignore[attr-defined]
        else:
            after = ast.unparse(node)
        return Mutant(path.relative_to(PACKAGE), getattr(node, "lineno", 0), before, after, source)


def tests_of(path: Path) -> list[Path]:
    """Files of tests that import a module, or, where none does, those of its room."""
    name = "sesshoku." + ".".join(path.with_suffix("").parts)
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    direct = [file for file in files if name in file.read_text()]
    return direct or [file for file in files if f"sesshoku.{path.parts[0]}" in file.read_text()]


def survives(mutant: Mutant, folder: Path, plain: bool) -> bool:
    """Whether all tests pass on the copy of the package in `folder` with this change."""
    target = folder / "sesshoku" / mutant.path
    kept = target.read_text()
    target.write_text(mutant.source)
    try:
        tests = tests_of(mutant.path)
        if plain and not passes(tests, folder, PLAIN_PATIENCE, ["-m", "nojit"], NUMBA_DISABLE_JIT="1"):
            return False
        return passes(tests, folder, PATIENCE, [])
    finally:
        target.write_text(kept)


def passes(tests: list[Path], folder: Path, patience: float, words: list[str], **variables: str) -> bool:
    """Whether tests pass on a package in `folder`; tests that none of the words select do."""
    quietly = ["-x", "-q", "-p", "no:cacheprovider", "--disable-warnings", *words]
    try:
        done = subprocess.run([sys.executable, "-m", "pytest", *quietly, *map(str, tests)], cwd=ROOT,
                              capture_output=True, timeout=patience,
                              env={**os.environ, "PYTHONPATH": str(folder), **variables})
    except subprocess.TimeoutExpired:
        return False
    return done.returncode in (0, NO_TESTS)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plain", action="store_true", help="plain Python first")
    parser.add_argument("--only", help="modules whose path holds this")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    rng, survivors = random.Random(given.seed), []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        shutil.copytree(PACKAGE, folder / "sesshoku", ignore=shutil.ignore_patterns("__pycache__"))
        for n in range(given.count):
            mutant = draw(rng)
            while given.only and given.only not in str(mutant.path):
                mutant = draw(rng)
            alive = survives(mutant, folder, given.plain)
            said = f"{mutant.path}:{mutant.line}: {mutant.before}  ->  {mutant.after}"
            print(f"[{n + 1}/{given.count}] {'SURVIVES' if alive else 'killed'}  {said}", flush=True)
            if alive:
                survivors.append(said)
    share = 100.0 * (1.0 - len(survivors) / max(given.count, 1))
    print(f"{given.count - len(survivors)} of {given.count} killed ({share:.0f} %)")
    if given.out is not None:
        given.out.write_text(json.dumps({"seed": given.seed, "count": given.count, "survivors": survivors}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
