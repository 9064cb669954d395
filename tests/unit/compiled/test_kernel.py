"""Kernels as bitcode: what an edit compiles anew, and that what is linked computes what was written."""

from __future__ import annotations

import copy
import json
import math
import pickle
import shutil
from pathlib import Path

import numba
import numpy as np
import pytest
from numba import types
from numba.core import config

from sesshoku.compiled import keys
from sesshoku.compiled.jit import jit, misfit
from small_package import CALLEE, CALLER, COUNTS, Package
from waiting import PATIENCE

compiled_only = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled with NUMBA_DISABLE_JIT=1")


@pytest.fixture
def package(tmp_path: Path) -> Package:
    return Package(tmp_path)


def test_the_installed_numba_has_what_the_code_generator_needs() -> None:
    assert misfit() == ""


# ---- what an edit costs ----------------------------------------------------------------------------------------------


def test_an_edited_callee_is_compiled_and_its_caller_only_linked(package: Package) -> None:
    assert package.counts() == [21.0, 2, 1, 0]
    assert package.counts() == [21.0, 0, 0, 1]
    package.write("callee", CALLEE.replace("FACTOR * x", "FACTOR * x + 5.0"))
    assert package.counts() == [26.0, 1, 1, 0]
    package.write("callee", CALLEE)
    assert package.counts() == [21.0, 0, 0, 1]  # known from before


def test_comments_docstrings_and_other_functions_cost_nothing(package: Package) -> None:
    package.run()
    package.write("callee", 'OTHER = 7.0\n# why\nFACTOR = 2.0\n\n\n@jit\ndef scaled(x):\n    """Says what."""\n'
                  "    # and how\n    return FACTOR * x\n\n@jit\ndef another(x):\n    return x\n")
    assert package.counts() == [21.0, 0, 0, 1]


def test_constants_a_kernel_names_count(package: Package) -> None:
    package.run()
    package.write("callee", CALLEE.replace("2.0", "3.0"))
    assert package.counts() == [31.0, 1, 1, 0]
    package.write("callee", CALLEE.replace("2.0", "3"))  # another type: 3 * x is a float all the same
    assert package.counts() == [31.0, 1, 1, 0]


def test_constants_of_modules_count(package: Package) -> None:
    package.write("caller", "from sesshoku import callee\n@jit\ndef shifted(x):\n    return callee.scaled(x) + 1.0\n")
    package.write("far", "OFFSET = 0.0\nUNUSED = 1\n")
    package.write("callee", "from sesshoku import far\n@jit\ndef scaled(x):\n    return 2.0 * x + far.OFFSET\n")
    assert package.counts() == [21.0, 2, 1, 0]
    package.write("far", "OFFSET = 0.0\nUNUSED = 2\n")
    assert package.counts() == [21.0, 0, 0, 1]
    package.write("far", "OFFSET = 4.0\n")
    assert package.counts() == [25.0, 1, 1, 0]


def test_a_callee_that_returns_another_type_recompiles_its_caller(package: Package) -> None:
    package.write("caller", CALLER.replace("scaled(x) + 1.0", "scaled(x) / 4"))
    assert package.counts() == [5.0, 2, 1, 0]
    package.write("callee", "@jit\ndef scaled(x):\n    return int(2.0 * x)\n")
    assert package.counts() == [5.0, 2, 1, 0]
    package.write("callee", "@jit\ndef scaled(x):\n    return int(3.0 * x)\n")
    assert package.counts() == [7.5, 1, 1, 0]


def test_a_changed_signature_recompiles_the_caller(package: Package) -> None:
    package.write("callee", "@jit\ndef scaled(x, factor=2.0):\n    return factor * x\n")
    assert package.counts() == [21.0, 2, 1, 0]
    package.write("callee", "@jit\ndef scaled(x, factor=3.0):\n    return factor * x\n")
    assert package.counts() == [31.0, 2, 1, 0]


def test_an_inlined_callee_is_part_of_its_caller(package: Package) -> None:
    package.write("callee", CALLEE.replace("@jit", '@jit(inline="always")'))
    assert package.counts() == [21.0, 1, 1, 0]
    package.write("callee", CALLEE.replace("@jit", '@jit(inline="always")').replace("FACTOR * x", "FACTOR + x"))
    assert package.counts() == [13.0, 1, 1, 0]


def test_kernels_inside_a_function_of_numba_count_with_their_bodies(package: Package) -> None:
    package.write("caller", "import numba\nfrom sesshoku.callee import scaled\n@numba.njit\ndef between(x):\n"
                  "    return scaled(x)\n@jit\ndef shifted(x):\n    return between(x) + 1.0\n")
    assert package.counts()[0] == 21.0
    package.write("callee", CALLEE.replace("FACTOR * x", "FACTOR * x + 5.0"))
    assert package.counts()[0] == 26.0


def test_a_record_of_another_layout_is_another_type(package: Package) -> None:
    text = ("import numpy as np\nfrom sesshoku.compiled.table import Record, array\nclass Data(Record):\n"
            "    {}\n    mass = array(float, 1)\nDATA = {}\n@jit\ndef total(data):\n    return data.mass[0]\n")
    package.write("records", text.format("", "Data(mass=np.array([3.0]))"))
    report = ("from sesshoku import records\nfrom sesshoku.compiled import kernel\n"
              "print(records.total(records.DATA), kernel.counts['front end'])")
    assert package.run(report).stdout.split() == ["3.0", "1"]
    assert package.run(report).stdout.split() == ["3.0", "0"]
    both = "Data(mass=np.array([4.0]), size=np.ones((2, 2)))"
    package.write("records", text.format("size = array(float, 2, 2)", both))
    assert package.run(report).stdout.split() == ["4.0", "1"]


def test_bounds_checks_have_keys_of_their_own(package: Package) -> None:
    package.write("caller", "@jit\ndef shifted(x):\n    return x\n@jit\ndef at(a, n):\n    return a[n]\n")
    report = ("import numpy as np\nfrom sesshoku.caller import at\ntry:\n    at(np.zeros(2), 5)\n    print('unseen')\n"
              "except IndexError:\n    print('seen')\n")
    assert package.run(report).stdout.split() == ["unseen"]
    assert package.run(report, NUMBA_BOUNDSCHECK="1").stdout.split() == ["seen"]
    assert package.run(report, NUMBA_BOUNDSCHECK="1").stdout.split() == ["seen"]
    assert package.run(report).stdout.split() == ["unseen"]
    assert len(package.files("entry")) == 2


def test_two_checkouts_share_what_either_compiled(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    first = Package(here)
    first.run()
    shutil.copytree(here, there)
    second = Package(there)
    second.cache = first.cache
    assert second.counts() == [21.0, 0, 0, 1]


def test_two_processes_compile_at_once(package: Package) -> None:
    processes = [package.start(COUNTS) for _ in range(3)]
    for process in processes:
        out, err = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, err
        assert json.loads(out)[0] == 21.0
    assert package.counts() == [21.0, 0, 0, 1]
    assert not list((package.cache / "kernels").rglob("writing-*"))


UNITS = """
import json
from sesshoku.compiled import kernel, library
library.units_of.__defaults__ = (1,)  # every kernel a unit
value = shifted(10.0)
print(json.dumps([value, *(kernel.counts[what] for what in ('front end', 'unit', 'entry', 'entry read'))]))
"""


def test_only_the_unit_of_an_edited_kernel_is_translated_again(package: Package) -> None:
    package.write("middle", "from sesshoku.callee import scaled\n@jit\ndef twice(x):\n    return 2.0 * scaled(x)\n"
                  "@jit(into_callers=True)\ndef plus(x, y):\n    return x + y\n")
    package.write("caller", "from sesshoku.middle import twice, plus\n@jit\ndef shifted(x):\n"
                  "    return plus(twice(x), 1.0)\n")
    assert json.loads(package.run(UNITS).stdout) == [41.0, 4, 2, 1, 0]  # `plus` is part of its caller, always
    assert json.loads(package.run(UNITS).stdout) == [41.0, 0, 0, 0, 1]
    package.write("callee", CALLEE.replace("FACTOR * x", "FACTOR * x + 5.0"))
    assert json.loads(package.run(UNITS).stdout) == [51.0, 1, 1, 1, 0]
    package.files("unit")[0].unlink()
    assert json.loads(package.run(UNITS).stdout)[0] == 51.0


# ---- in this process -------------------------------------------------------------------------------------------------


def counter(start: float):
    @jit
    def count(x):
        return x + start

    return count


@compiled_only
def test_kernels_of_one_name_stay_apart() -> None:
    one, ten = counter(1.0), counter(10.0)

    @jit
    def both(x):
        return one(x) * ten(x)

    assert (one(0.0), ten(0.0), both(0.0)) == (1.0, 10.0, 10.0)
    assert one.content.key != ten.content.key


@compiled_only
def test_a_kernel_defined_anew_replaces_the_old_one() -> None:
    """As in a notebook: what was compiled before keeps the old one."""
    space = {"jit": jit, "__name__": "a_notebook"}
    exec("@jit\ndef f(x):\n    return x + 1.0\n@jit\ndef g(x):\n    return f(x)\n", space)
    assert space["g"](1.0) == 2.0
    exec("@jit\ndef f(x):\n    return x + 2.0\n@jit\ndef h(x):\n    return 10.0 * f(x) + g(x)\n", space)
    assert space["h"](1.0) == 32.0
    assert space["g"](1.0) == 2.0


@compiled_only
def test_a_kernel_may_call_itself() -> None:
    @jit
    def factorial(n):
        if n <= 1:
            return 1
        return n * factorial(n - 1)

    @jit
    def ratio(n):
        return factorial(n) // factorial(n - 1)

    assert factorial(6) == 720
    assert ratio(6) == 6


@compiled_only
def test_a_function_of_numba_calls_a_kernel_and_the_other_way_round() -> None:
    @jit
    def half(x):
        return 0.5 * x

    @jit
    def quarter(x):
        return half(half(x))

    @numba.njit
    def eighth(x):
        return half(quarter(x))

    @jit
    def sixteenth(x):
        return half(eighth(x))

    assert eighth(8.0) == 1.0
    assert sixteenth(16.0) == 1.0


@compiled_only
def test_literals_share_one_compiled_kernel() -> None:
    @jit
    def pick(a, n):
        return a[n]

    @jit
    def ends(a):
        return pick(a, 0) + pick(a, 1)

    assert ends(np.array([1.0, 2.0])) == 3.0
    ends.resolve((types.Array(types.float64, 1, "C"),))  # a warm store gave the machine code and nothing of `pick`
    assert pick.signatures == [(types.Array(types.float64, 1, "C"), types.int64)]


@compiled_only
def test_copies_and_pickles_of_kernels_are_the_kernel() -> None:
    from sesshoku.spatial import algebra

    assert copy.deepcopy(algebra.cross) is algebra.cross
    assert pickle.loads(pickle.dumps(algebra.cross)) is algebra.cross


@compiled_only
def test_code_whose_functions_are_missing_is_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """LLVM would end the process; here the code is linked anew."""
    from sesshoku.compiled.kernel import Kernel, counts
    from sesshoku.spatial import algebra

    assert algebra.cross._can_resolve({"cos", "PyExc_RuntimeError"})
    assert not algebra.cross._can_resolve({"cos", "no_such_function_anywhere"})
    algebra.cross(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    monkeypatch.setattr(Kernel, "_can_resolve", lambda self, needs: False)
    before = counts["entry"]
    again = Kernel(algebra.cross.py_func, {}, algebra.cross.targetoptions)
    assert again(1.0, 0.0, 0.0, 0.0, 1.0, 0.0) == (0.0, 0.0, 1.0)
    assert counts["entry"] == before + 1


@compiled_only
def test_numba_functions_that_kernels_use_are_linked() -> None:
    """Sums, minima and the like are functions that Numba compiles for the kernel; a read kernel still has them."""
    @jit
    def spread(a):
        low, high = min(a[0], a[1]), max(a[0], a[1])
        return math.hypot(high - low, np.abs(a).sum())

    assert spread(np.array([3.0, -1.0])) == math.hypot(4.0, 4.0)


# ---- keys ------------------------------------------------------------------------------------------------------------

TABLE = np.arange(4.0)
THING = object()


def uses_table(n):
    return TABLE[n]


def uses_thing(n):
    return THING


def test_arrays_count_by_their_contents() -> None:
    before = keys.content_of(uses_table, {}).key
    assert keys.content_of(uses_table, {}).key == before
    TABLE[0] = 1.0
    try:
        assert keys.content_of(uses_table, {}).key != before
    finally:
        TABLE[0] = 0.0
    assert keys.content_of(uses_table, {"inline": "always"}).key != before


def test_what_cannot_be_spelled_is_not_shared() -> None:
    assert keys.content_of(uses_table, {}).shared
    content = keys.content_of(uses_thing, {})
    assert not content.shared
    assert content.key != keys.content_of(uses_thing, {}).key


@compiled_only
def test_every_kernel_of_every_method_is_shared() -> None:
    from sesshoku.compiled.prepare import entry_of
    from sesshoku.methods import registry

    kernels = {kernel for keyword in registry.MODULES for kernel in entry_of(registry.load(keyword))[0].reached()}
    assert len(kernels) > 900
    assert [kernel.identity for kernel in kernels if not kernel.content.shared] == []
