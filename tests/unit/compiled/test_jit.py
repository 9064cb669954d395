"""The decorator: what it leaves alone, where code is kept, what is said meanwhile; Numba alone where it must be."""

from __future__ import annotations

import ast
import os
import re
import time
from pathlib import Path

import pytest
from numba.core import config

from sesshoku.compiled import jit as jit_module
from sesshoku.compiled import plain, store
from sesshoku.compiled.plain import sources
from small_package import CALLEE, Package


@pytest.fixture
def package(tmp_path: Path) -> Package:
    return Package(tmp_path)


# ---- kernels compiled by Numba itself --------------------------------------------------------------------------------

REPORT = "print(shifted(10.0), sum(shifted.stats.cache_hits.values()))"
NUMBA = {"SESSHOKU_COMPILER": "numba"}


def test_numba_alone_recompiles_what_an_edit_can_reach(package: Package) -> None:
    assert package.run(REPORT, **NUMBA).stdout.split() == ["21.0", "0"]
    assert package.run(REPORT, **NUMBA).stdout.split() == ["21.0", "1"]
    package.write("callee", CALLEE.replace("2.0", "3.0"))
    # the caller's own file is untouched: Numba's stamp alone would give 21 again
    assert package.run(REPORT, **NUMBA).stdout.split() == ["31.0", "0"]
    assert not list(package.package.rglob("*.nbi"))


def test_an_unknown_numba_compiles_by_itself_with_one_warning(package: Package) -> None:
    """As of a version that lacks something: the name is taken away before the package is imported."""
    site = package.root / "sitecustomize.py"
    site.write_text("from numba.core import compiler\ndel compiler._make_subtarget\n")
    path = package.package / "compiled" / "kernel.py"
    assert "_make_subtarget" in path.read_text()
    code = "print(type(shifted).__name__, hasattr(type(shifted), 'content'))"
    result = package.run(code)
    assert result.stdout.split() == ["CPUDispatcher", "False"]
    assert result.stderr.count("compiled by Numba itself") == 1
    assert "compiler._make_subtarget" in result.stderr


@pytest.mark.parametrize(("spacing", "kept"), [(5000.0, 4), (700.0, 6)])
def test_old_directories_are_dropped_and_fresh_ones_kept(tmp_path: Path, spacing: float, kept: int) -> None:
    """The newest four of each module stay, and whatever was used within the hour."""
    for age in range(8):
        for module in ("sesshoku.one", "sesshoku.two"):
            folder = tmp_path / f"{module}-age{age}"
            folder.mkdir(parents=True)
            then = time.time() - spacing * age
            os.utime(folder, (then, then))
    plain.drop_old(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        f"{module}-age{age}" for module in ("sesshoku.one", "sesshoku.two") for age in range(kept)}


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


# ---- the decorator ---------------------------------------------------------------------------------------------------


def test_only_this_package_uses_the_store(package: Package) -> None:
    """A user's own cached functions stay where Numba puts them, and a changed variable does not move ours."""
    code = """
import os, numba
from numba.core import config
assert config.CACHE_DIR == os.environ.get("NUMBA_CACHE_DIR", "")
os.environ["NUMBA_DEBUG_CACHE"] = "0"   # Numba reads its variables again at the next compilation
print(shifted(10.0))
from sesshoku import late
print(late.third(9.0))
"""
    package.write("late", "@jit\ndef third(x):\n    return x / 3.0\n")
    assert package.run(code).stdout.split() == ["21.0", "3.0"]
    assert len(package.files("entry")) == 2
    assert not list(package.package.rglob("*.nbi"))


def test_unwritable_directory_falls_back(package: Package) -> None:
    package.cache.write_text("a file where the directory should be")
    report = ("print(shifted(10.0))\nfrom sesshoku.compiled.kernel import store\n"
              "print(store().directory); print(store().directory.is_dir())")
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
    said = first.stderr.splitlines()
    assert said[0] == "sesshoku: compiling two kernels"
    assert re.fullmatch(r"sesshoku: compiled two kernels in \d+ s; kept in the cache", said[-1])
    assert second.stderr == ""


def test_as_plain_python(package: Package) -> None:
    assert package.run("print(shifted(10.0), type(shifted).__name__)",
                       NUMBA_DISABLE_JIT="1").stdout.split() == ["21.0", "function"]
    assert not package.files("entry")


def test_cache_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SESSHOKU_CACHE", str(tmp_path / "chosen"))
    assert store.cache_root() == tmp_path / "chosen"
    monkeypatch.delenv("SESSHOKU_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert store.cache_root() == tmp_path / "xdg" / "sesshoku"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert store.cache_root() == tmp_path / "home" / ".cache" / "sesshoku"


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="plain Python floats raise")
def test_division_by_zero_gives_infinity() -> None:
    @jit_module.jit
    def divide(a, b):
        return a / b

    assert divide(1.0, 0.0) == float("inf")
    assert divide.targetoptions["error_model"] == "numpy"
    assert jit_module.jit(fastmath=True)(divide.py_func).targetoptions["fastmath"]


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
