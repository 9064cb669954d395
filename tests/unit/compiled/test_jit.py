"""The compile cache: never stale, never in the way; the progress line: once."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from numba.core import config

from sesshoku.compiled import jit as jit_module
from sesshoku.compiled import sources
from waiting import PATIENCE

SOURCES = Path(jit_module.__file__).parents[1]


class Package:
    """A copy of the package with two small kernels in two files, run in processes of its own."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "src"
        self.package = self.root / "sesshoku"
        self.cache = folder / "cache"
        for name in ("__init__.py", "errors.py", "compiled/__init__.py", "compiled/jit.py", "compiled/sources.py",
                     "compiled/table.py"):
            (self.package / name).parent.mkdir(parents=True, exist_ok=True)
            if name.endswith("__init__.py"):
                (self.package / name).write_text("")
            else:
                shutil.copy(SOURCES / name, self.package / name)
        self.write("callee", "FACTOR = 2.0\n@jit\ndef scaled(x):\n    return FACTOR * x\n")
        self.write("caller", "from sesshoku.callee import scaled\n@jit\ndef shifted(x):\n    return scaled(x) + 1.0\n")

    def write(self, name: str, text: str) -> None:
        (self.package / f"{name}.py").write_text("from sesshoku.compiled.jit import jit\n" + text)

    def run(self, code: str = "print(shifted(10.0))", **variables: str) -> subprocess.CompletedProcess[str]:
        head = ("from sesshoku.compiled.jit import CACHE_DIRECTORY, CompileProgress, jit\n"
                "from sesshoku.caller import shifted\n")
        environment = os.environ | {"PYTHONPATH": str(self.root), "SESSHOKU_CACHE": str(self.cache),
                                    "NUMBA_DISABLE_JIT": "0"} | variables
        result = subprocess.run([sys.executable, "-c", head + code], env=environment, capture_output=True, text=True,
                                timeout=PATIENCE, check=False, cwd=self.root)
        assert result.returncode == 0, result.stderr
        return result

    def directories(self) -> set[str]:
        return {path.name for path in (self.cache / "compiled").iterdir()}


@pytest.fixture
def package(tmp_path: Path) -> Package:
    return Package(tmp_path)


REPORT = "print(shifted(10.0), sum(shifted.stats.cache_hits.values()))"


def test_edited_callee_in_another_file_is_recompiled(package: Package) -> None:
    assert package.run(REPORT).stdout.split() == ["21.0", "0"]
    assert package.run(REPORT).stdout.split() == ["21.0", "1"]
    package.write("callee", "FACTOR = 3.0\n@jit\ndef scaled(x):\n    return FACTOR * x\n")
    # the caller's own file is untouched: Numba's stamp alone would give 21 again
    assert package.run(REPORT).stdout.split() == ["31.0", "0"]


def test_numba_alone_would_be_stale(package: Package) -> None:
    """The reason for all this: with one fixed directory the edited callee goes unnoticed."""
    jit_file = package.package / "compiled" / "jit.py"
    text = jit_file.read_text()
    assert "{source_hash(module)}" in text
    jit_file.write_text(text.replace("{source_hash(module)}", "fixed"))
    package.run(REPORT)
    package.write("callee", "FACTOR = 3.0\n@jit\ndef scaled(x):\n    return FACTOR * x\n")
    assert package.run(REPORT).stdout.split() == ["21.0", "1"]


def test_only_what_an_edit_can_reach_is_compiled_again(package: Package) -> None:
    package.run()
    before = package.directories()
    package.write("another", "@jit\ndef other(x):\n    return x\n")
    (package.package / "errors.py").write_text("# edited\n")
    assert package.run(REPORT).stdout.split() == ["21.0", "1"]
    assert package.directories() == before
    # a constant behind two imports, one of them inside a function: both kernels are of new sources
    package.write("far", "OFFSET = 0.0\n")
    package.write("between", "def late():\n    from sesshoku import (  # why\n        far,\n    )\n    return far\n")
    package.write("callee", "from sesshoku import between\nFACTOR = 2.0\n@jit\ndef scaled(x):\n    return FACTOR * x\n")
    assert package.run(REPORT).stdout.split() == ["21.0", "0"]
    assert package.run(REPORT).stdout.split() == ["21.0", "1"]
    package.write("far", "OFFSET = 1.0\n")
    assert package.run(REPORT).stdout.split() == ["21.0", "0"]
    package.write("far", "OFFSET = 0.0\n")
    seen = package.directories()
    package.run()
    assert package.directories() == seen  # back to sources that were compiled before
    package.run(NUMBA_BOUNDSCHECK="1")
    assert len(package.directories()) == len(seen) + 2  # the caller's and the callee's


def test_imports_are_found_in_the_text() -> None:
    """Every import that Python's own parser sees in a file is among those found in its text."""
    count = 0
    for module in sources.every_module():
        path = sources._file(module)
        assert path is not None
        found = set(sources._read(module)[1])
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names = {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{module}: relative import"
                names = {str(node.module)} | {f"{node.module}.{alias.name}" for alias in node.names
                                              if sources._file(f"{node.module}.{alias.name}")}
            else:
                continue
            ours = {name for name in names if name.split(".")[0] == "sesshoku"}
            assert ours <= found, module
            count += len(ours)
    assert count > 500
    assert "sesshoku.spatial.algebra" in sources.sources_of("sesshoku.methods.lcp")


def test_only_this_package_uses_the_directory(package: Package) -> None:
    """A user's own cached functions stay where Numba puts them, and a changed variable does not move ours."""
    code = """
import os, numba
from numba.core import config
assert config.CACHE_DIR == os.environ.get("NUMBA_CACHE_DIR", "")
os.environ["NUMBA_DEBUG_CACHE"] = "0"   # Numba reads its variables again at the next compilation
print(shifted(10.0))
from sesshoku import late
print(late.third(9.0), str(CACHE_DIRECTORY) in late.third.stats.cache_path)
"""
    package.write("late", "@jit\ndef third(x):\n    return x / 3.0\n")
    assert package.run(code).stdout.split() == ["21.0", "3.0", "True"]
    assert not list(package.package.rglob("*.nbi"))


def test_unwritable_directory_falls_back(package: Package) -> None:
    package.cache.write_text("a file where the directory should be")
    report = "print(shifted(10.0)); print(CACHE_DIRECTORY); print(CACHE_DIRECTORY.is_dir())"
    value, directory, exists = package.run(report).stdout.split()
    assert (value, exists) == ("21.0", "True")
    assert not Path(directory).is_relative_to(package.cache)
    assert not Path(directory).exists()  # removed with its process
    assert not list(package.package.rglob("*.nbi"))  # and nothing beside the sources


def test_read_only_directory_falls_back(package: Package) -> None:
    if not hasattr(os, "geteuid") or os.geteuid() == 0:
        pytest.skip("the superuser may write everywhere")
    package.cache.mkdir()
    package.cache.chmod(0o500)
    assert package.run().stdout.split() == ["21.0"]


def test_progress_line_on_the_first_run_only(package: Package) -> None:
    code = ("with CompileProgress('two kernels'):\n    print(shifted(10.0))\n"
            "with CompileProgress('again'):\n    print(shifted(11.0))\n")
    first, second = package.run(code), package.run(code)
    assert first.stdout == second.stdout == "21.0\n23.0\n"
    assert first.stderr == "sesshoku: compiling two kernels (first run only; kept in the cache) ... done\n"
    assert second.stderr == ""


@pytest.mark.parametrize(("spacing", "kept"), [(5000.0, 4), (700.0, 6)])
def test_old_directories_are_dropped_and_fresh_ones_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spacing: float, kept: int,
) -> None:
    """The newest four of each module stay, and whatever was used within the hour."""
    monkeypatch.setenv("SESSHOKU_CACHE", str(tmp_path))
    root = tmp_path / "compiled"
    for age in range(8):
        for module in ("sesshoku.one", "sesshoku.two"):
            folder = root / f"{module}-age{age}"
            folder.mkdir(parents=True)
            then = time.time() - spacing * age
            os.utime(folder, (then, then))
    assert jit_module._choose_cache_directory() == root
    assert {path.name for path in root.iterdir()} == {
        f"{module}-age{age}" for module in ("sesshoku.one", "sesshoku.two") for age in range(kept)}


def test_cache_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SESSHOKU_CACHE", str(tmp_path / "chosen"))
    assert jit_module.cache_root() == tmp_path / "chosen"
    monkeypatch.delenv("SESSHOKU_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert jit_module.cache_root() == tmp_path / "xdg" / "sesshoku"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert jit_module.cache_root() == tmp_path / "home" / ".cache" / "sesshoku"


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="plain Python floats raise")
def test_division_by_zero_gives_infinity() -> None:
    @jit_module.jit
    def divide(a, b):
        return a / b

    assert divide(1.0, 0.0) == float("inf")
    assert divide.targetoptions["error_model"] == "numpy"
    assert jit_module.jit(fastmath=True)(divide.py_func).targetoptions["fastmath"]


def test_two_checkouts_share_what_either_compiled(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    first = Package(here)
    assert first.run(REPORT).stdout.split() == ["21.0", "0"]
    shutil.copytree(here, there)
    second = Package(there)
    second.cache = first.cache
    assert second.run(REPORT).stdout.split() == ["21.0", "1"]


def test_kernels_take_nothing_from_what_users_build() -> None:
    """No kernel, nor a constant of its module, names anything of the modules whose edits do not count."""
    kernels = 0
    for module in sources.every_module():
        path = sources._file(module)
        assert path is not None
        tree = ast.parse(path.read_text())
        if sources.unseen(module):
            assert not any(_is_kernel(node) for node in ast.walk(tree)), module
            continue
        outside = {alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
                   and node.module and sources.unseen(node.module) for alias in node.names
                   if not sources._file(f"{node.module}.{alias.name}")}
        constants = [node for node in tree.body if isinstance(node, ast.Assign)]
        functions = [node for node in ast.walk(tree) if _is_kernel(node)]
        kernels += len(functions)
        for node in functions + (constants if functions else []):
            used = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
            assert not used & outside, f"{module}, line {node.lineno}: {used & outside}"
    assert kernels > 1000


def _is_kernel(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(d).split("(")[0].split(".")
                                                     for d in node.decorator_list)
