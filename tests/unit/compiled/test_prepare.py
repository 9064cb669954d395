"""Compiling side by side: what children compile is what a simulation then calls; what fails is told."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from numba import types
from numba.core import config

import sesshoku as ss
from sesshoku.compiled import prepare
from sesshoku.compiled.prepare import signatures
from sesshoku.methods import registry
from small_package import Package, chain_package
from waiting import PATIENCE, interruptible

METHODS = list(registry.MODULES)
# `make test` never skips these: as plain Python it runs what is marked `nojit` alone. They ask this process's compiler.
compiled_only = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled with NUMBA_DISABLE_JIT=1")


@pytest.fixture
def package(tmp_path: Path) -> Package:
    """Some thirty kernels that call each other, in a module with an entry like a method's."""
    return chain_package(tmp_path, 30)


def crate(keyword: str) -> ss.Simulation:
    scene = ss.Scene()
    scene.add_ground()
    scene.add_box("crate", size=(1, 1, 1), mass=1.0, position=(0, 0, 0.5))
    return ss.Simulation(scene, keyword)


@compiled_only
@pytest.mark.parametrize("keyword", METHODS)
def test_a_simulation_calls_what_was_prepared(keyword: str) -> None:
    """One signature of `run`, the prepared one."""
    crate(keyword).step()
    entry, args = prepare.entry_of(registry.load(keyword))
    assert entry.signatures == [args]


@compiled_only
@pytest.mark.parametrize("keyword", METHODS)
def test_nearly_all_kernels_are_listed(keyword: str) -> None:
    """What is not listed compiles in one process: after larger edits, `python -m sesshoku.methods.signatures`."""
    entry, _ = prepare.entry_of(registry.load(keyword))
    names = {f"{kernel.py_func.__module__}:{kernel.py_func.__qualname__}" for kernel in entry.reached()
             if kernel.targetoptions["inline"] == "never"}
    missing = sorted(names - set(signatures.listed()))
    assert len(missing) <= 0.2 * len(names), missing


SAID = [types.float64, types.int64, types.boolean, types.none, types.Array(types.float64, 2, "C"), types.Omitted(0),
        types.UniTuple(types.float64, 3), types.Tuple([types.int64, types.Array(types.int64, 1, "A")])]


@compiled_only
def test_types_survive_being_spelled() -> None:
    from numba import typeof

    sim = crate("none")
    for type_ in [*SAID, typeof(sim.model), typeof(sim.data)]:
        spelled = json.loads(json.dumps(signatures.spelled(type_)))
        assert signatures.read_type(spelled) == type_
    assert signatures.spelled(types.unicode_type) is None
    assert signatures.spelled(types.Array(types.float64, 1, "C", readonly=True)) is None


def test_the_list_survives_being_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = {"a:f": [["float64", ["array", "float64", 1, "C"]], ["int64", "int64"]], "b:g": [["float64"]]}
    monkeypatch.setattr(signatures, "FILE", tmp_path / "list.json")
    signatures.write(kernels, tmp_path / "list.json")
    assert signatures.listed.__wrapped__() == kernels
    (tmp_path / "list.json").write_text("{")
    assert signatures.listed.__wrapped__() == {}


PREPARED = """
import json, os, sys
os.sched_getaffinity = lambda process: {0, 1, 2}
from sesshoku import method
from sesshoku.compiled import kernel, prepare
told, states = [], []
prepare.prepare([method], lambda part, share: told.append(share), lambda state: states.append(vars(state).copy()))
import numpy as np
value = method.run(np.array([5.0]), 1.0, 2)
print(json.dumps([value, kernel.counts["front end"], kernel.counts["entry read"], told[-1:], states[-1:]]))
"""


def test_children_fill_the_store(package: Package) -> None:
    value, front_end, read, told, states = json.loads(package.run(PREPARED).stdout)
    assert (value, front_end, read) == (38.0, 0, 1)  # this process compiled nothing
    assert told == [1.0]
    assert states == [{"kernels": 31, "kernels_done": 31, "links": 1, "links_done": 1}]
    assert json.loads(package.run(PREPARED).stdout) == [38.0, 0, 1, [], []]  # nothing to do


def test_each_kernel_is_compiled_once(package: Package) -> None:
    """Children note what they compile; callees are there before their callers."""
    path = package.package / "compiled" / "prepare" / "worker.py"
    text = path.read_text()
    log = package.root / "log"
    path.write_text(text.replace("    for line in sys.stdin:", "    from sesshoku.compiled.kernel import listeners\n"
                                 f"    listeners.append(lambda name: print(name, file=open({str(log)!r}, 'a')))\n"
                                 "    for line in sys.stdin:"))
    package.run(PREPARED)
    names = [name for name in log.read_text().split("\n") if name and not name.startswith("unit")]
    assert sorted(names) == sorted([f"sesshoku.method:level{n}" for n in range(30)] + ["sesshoku.method:run"])
    assert names[-1] == "sesshoku.method:run"


@pytest.mark.parametrize("listed", [{}, {"sesshoku.method:level3": [["sesshoku.gone:Record"], ["boolean"]],
                                         "sesshoku.method:level7": [[["tuple", "float64"]]]}])
def test_a_wrong_list_does_no_harm(package: Package, listed: dict[str, list[object]]) -> None:
    """Kernels that nobody lists, records that are gone, types for which a kernel does not compile."""
    signatures.write(listed, package.package / "compiled" / "prepare" / "signatures.json")
    assert json.loads(package.run(PREPARED).stdout)[:3] == [38.0, 0, 1]


def test_an_error_of_a_child_reaches_the_user(package: Package) -> None:
    """Of several methods as one error that names the kernels; of one, its own call fails with its reason."""
    text = (package.package / "method.py").read_text()
    package.write("method", text.replace("return level16(x) + 1.0", "return level16(x) + no_such_name"))
    several = "try:\n    prepare.prepare([method, method])\nexcept prepare.CompileError as error:\n    print(error)\n"
    head = "import os\nos.sched_getaffinity = lambda process: {0, 1}\nfrom sesshoku import method\n"
    said = package.run(head + "from sesshoku.compiled import prepare\n" + several).stdout
    assert "sesshoku.method:level17: TypingError" in said
    assert "no_such_name" in said
    with package.start(PREPARED) as process:
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "no_such_name" in err
    assert "level17" in err


@pytest.mark.parametrize(("which", "left"), [("level9", 0), ("", 31)])
def test_a_child_that_dies_does_no_harm(package: Package, which: str, left: int) -> None:
    """Another child does its work; where all die, the parent does."""
    path = package.package / "compiled" / "prepare" / "worker.py"
    path.write_text(path.read_text().replace("    kernel = find_kernel", f"    if task['name'].endswith({which!r}):\n"
                                             "        os._exit(7)\n    kernel = find_kernel"))
    value, front_end, *_ = json.loads(package.run(PREPARED).stdout)
    assert (value, front_end) == (38.0, left)


def test_children_import_nothing_from_the_working_directory(package: Package, tmp_path: Path) -> None:
    """A folder that somebody else filled: the parent, a script elsewhere, does not look there, nor do its children."""
    folder = tmp_path / "somewhere"
    folder.mkdir()
    (folder / "numba.py").write_text("open('taken', 'w')\nraise SystemExit(1)\n")
    script = tmp_path / "script.py"
    script.write_text(PREPARED)
    result = subprocess.run([sys.executable, str(script)], cwd=folder, env=package.environment(PYTHONINSPECT=""),
                            text=True, capture_output=True, timeout=PATIENCE, check=True)
    assert json.loads(result.stdout)[:3] == [38.0, 0, 1]
    assert not (folder / "taken").exists()


def test_what_is_done_is_kept_when_interrupted(package: Package) -> None:
    code = PREPARED.replace("lambda part, share: told.append(share)", "lambda part, share: print(part, flush=True)")
    with interruptible("-c", code, env=package.environment(), cwd=package.root, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        for _ in range(5):
            process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
    assert process.returncode != 0
    kept = len(package.files("kernel"))
    assert kept >= 5
    _, front_end, _, _, states = json.loads(package.run(PREPARED).stdout)
    assert front_end == 0
    assert not states or states[0]["kernels"] <= 31 - 5
