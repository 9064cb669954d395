"""Code that comes with the package: used where it fits, refused and compiled anew where it does not, never changed."""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sesshoku.compiled import target
from sesshoku.compiled.target import Processor
from small_package import UNITS_REPORT, Package

BASELINE = next((name for name, (machines, _) in target.BASELINES.items() if platform.machine() in machines), "")
pytestmark = pytest.mark.skipif(not BASELINE, reason="no code is shipped for machines of this kind")
#: called with every kernel as a unit of its own, then packed
PACK = UNITS_REPORT + ("\nshifted.resolve(shifted.signatures[0])\nimport sys\nfrom pathlib import Path\n"
                       "from sesshoku.compiled import shipped\nshipped.pack(kernel.store(), Path(sys.argv[-1]))")
#: result, runs of the front end, units translated, entries linked, entries read
REPORT = ("import json\nfrom sesshoku.compiled import kernel, library, target\nlibrary.units_of.__defaults__ = (1,)\n"
          "value = shifted(10.0)\n"
          "done = [kernel.counts[what] for what in ('front end', 'unit', 'entry', 'entry read')]\n"
          "print(json.dumps([value, *done, target.processor().name]))")
SERVED = [21.0, 0, 0, 0, 1, BASELINE]


class Shipped(Package):
    """The small package with finished code in it and an empty cache."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.folder = self.package / "compiled" / "shipped"
        code = PACK.replace("sys.argv[-1]", repr(str(folder / "packed")))
        self.run(code, SESSHOKU_CPU=BASELINE)
        shutil.move(folder / "packed", self.folder)
        self.empty()

    def empty(self) -> None:
        shutil.rmtree(self.cache)

    def report(self, **variables: str) -> list[Any]:
        found: list[Any] = json.loads(self.run(REPORT, **variables).stdout)
        return found

    def describe(self, **changes: Any) -> None:
        path = self.folder / "code.json"
        described = json.loads(path.read_text())
        path.write_text(json.dumps({name: found | changes.get(name, {}) for name, found in described.items()}))

    def contents(self) -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Shipped:
    return Shipped(tmp_path_factory.mktemp("shipped"))


@pytest.fixture
def package(original: Shipped, tmp_path: Path) -> Shipped:
    """A copy of its own."""
    made = Shipped.__new__(Shipped)
    shutil.copytree(original.root, tmp_path / "src")
    made.root, made.cache = tmp_path / "src", tmp_path / "cache"
    made.package = made.root / "sesshoku"
    made.folder = made.package / "compiled" / "shipped"
    return made


def test_nothing_is_compiled_and_nothing_is_written(package: Shipped) -> None:
    before = package.contents()
    assert len(before) == 5  # two kernels, a unit, an entry, the description
    assert package.report() == SERVED
    assert not [path for path in package.cache.rglob("*") if path.is_file()]
    assert package.contents() == before


@pytest.mark.parametrize("changes", [
    {"versions": {"numba": "0.1.2"}}, {"versions": {"python": "cpython-27"}},
    {"processor": {"triple": "riscv64-unknown-linux-gnu"}}],
    ids=lambda changes: next(iter(next(iter(changes.values())))))
def test_code_of_other_versions_and_machines_is_left_alone(package: Shipped, changes: dict[str, Any]) -> None:
    """It is all compiled anew, for this processor."""
    package.describe(**changes)
    assert package.report() == [21.0, 2, 1, 1, 0, target.host().name]
    assert package.report() == [21.0, 0, 0, 0, 1, target.host().name]  # the user's own store serves


def test_machine_code_that_this_processor_cannot_run_is_left_alone(package: Shipped) -> None:
    """Bitcode is of no processor and serves."""
    package.describe(processor={"features": "+sse3,+of-the-future"})
    assert package.report() == [21.0, 0, 1, 1, 0, target.host().name]


@pytest.mark.parametrize("text", ["{", "[]", '{"processor": {"name": 3}, "versions": []}'])
def test_a_broken_description_is_no_error(package: Shipped, text: str) -> None:
    (package.folder / "code.json").write_text(text)
    assert package.report()[:2] == [21.0, 2]


def flip(data: bytes) -> bytes:
    changed = bytearray(data)
    changed[int(0.9 * len(changed))] ^= 0x10
    return bytes(changed)


@pytest.mark.parametrize("damage", [flip, lambda data: data[:len(data) // 2], lambda data: b""],
                         ids=["flipped bit", "cut", "empty"])
def test_damaged_code_is_never_run(package: Shipped, damage: Callable[[bytes], bytes]) -> None:
    """Made anew in the user's store, for the wheel's processor; the package's own files stay as they are."""
    for path in package.folder.glob("??-*/*"):
        path.write_bytes(damage(path.read_bytes()))
    before = package.contents()
    assert package.report() == [21.0, 2, 1, 1, 0, BASELINE]
    assert package.report() == SERVED
    assert package.contents() == before


@pytest.mark.parametrize(("kind", "done"), [("entry", [0, 0, 1, 0]), ("unit", [0, 1, 1, 0]), ("kernel", [0, 0, 0, 1])])
def test_what_is_missing_is_made_of_what_is_there(package: Shipped, kind: str, done: list[int]) -> None:
    for path in package.folder.glob(f"??-{kind}/*"):
        path.unlink()
    assert package.report() == [21.0, *done, BASELINE]


def test_a_kernel_of_the_users_own_takes_the_shipped_ones(package: Shipped) -> None:
    """One run of the front end, for the new kernel; compiled for the processor of the shipped code, to fit to it."""
    package.write("caller", "from sesshoku.callee import scaled\n@jit\ndef shifted(x):\n    return scaled(x) - 1.0\n")
    assert package.report() == [19.0, 1, 0, 1, 0, BASELINE]


def test_native_code_on_request(package: Shipped) -> None:
    """Bitcode is of no processor: only machine code is made anew."""
    if target.host().name == BASELINE:
        pytest.skip("this processor is the baseline")
    assert package.report(SESSHOKU_CPU="native") == [21.0, 0, 1, 1, 0, target.host().name]
    assert package.report() == SERVED


def test_an_unknown_processor_is_an_error(package: Shipped) -> None:
    with package.start(REPORT, SESSHOKU_CPU="z80") as process:
        _, err = process.communicate()
    assert process.returncode == 1
    assert "SESSHOKU_CPU=z80: no such baseline" in err
    assert BASELINE in err


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="a system without owners of files")
def test_code_that_others_may_write_is_refused(package: Shipped) -> None:
    """It is as trustworthy as the sources beside it, and no less is asked of it."""
    for path in package.folder.glob("??-entry/*"):
        path.chmod(0o666)
    result = package.run(REPORT)
    assert json.loads(result.stdout) == [21.0, 0, 0, 1, 0, BASELINE]
    assert "is not used: it may be written by others (mode 666)" in result.stderr


def test_a_processor_knows_what_it_lacks() -> None:
    old = Processor("x86_64", "old", "+sse2,-avx,-avx2")
    new = Processor("x86_64", "new", "+sse2,+avx")
    assert old.lacks(new) == ["avx"]
    assert new.lacks(old) == []
    assert target.baseline().features == "" or target.baseline().lacks(target.baseline()) == []
