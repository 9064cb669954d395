"""Records: what compiled code sees of them, and what they refuse."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import subprocess
import sys
import textwrap
import weakref
from pathlib import Path

import numpy as np
import pytest
from numba.core import config
from numba.core.errors import TypingError

from sesshoku.compiled.jit import jit
from sesshoku.compiled.table import COUNTER, Record, array, part, scalar, viewer
from waiting import PATIENCE

compiled_only = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="NUMBA_DISABLE_JIT is set")


class Sample(Record):
    count = scalar()
    line = array(float, "n")
    plane = array(float, "n", 3)
    block = array(float, 2, "n", 4)
    deep = array(float, 2, 3, "n", 2)
    index = array(int, "n")
    pairs = array(int, "n", 2)


as_sample = viewer(Sample)


def make_sample(rng: np.random.Generator, n: int = 5) -> Sample:
    return Sample(count=n, line=rng.random(n), plane=rng.random((n, 3)), block=rng.random((2, n, 4)),
                  deep=rng.random((2, 3, n, 2)), index=rng.integers(-9, 9, n),
                  pairs=rng.integers(-2**60, 2**60, (n, 2)))


@jit
def weighted_sums(sample, sums_out):
    """One position-weighted sum per field, so that a wrong stride, shape or element type shows."""
    line, plane, block, deep, index, pairs = (
        sample.line, sample.plane, sample.block, sample.deep, sample.index, sample.pairs)
    sums_out[:] = 0.0
    for i in range(sample.count):
        sums_out[0] += (i + 1) * line[i]
        sums_out[4] += (i + 1) * index[i]
        for j in range(plane.shape[1]):
            sums_out[1] += (10 * i + j) * plane[i, j]
        for j in range(pairs.shape[1]):
            sums_out[5] += (10 * i + j) * float(pairs[i, j] % 1000)
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            for k in range(block.shape[2]):
                sums_out[2] += (100 * i + 10 * j + k) * block[i, j, k]
                for l in range(deep.shape[3]):
                    if k < deep.shape[1]:
                        sums_out[3] += (1000 * i + 100 * k + 10 * j + l) * deep[i, k, j, l]


@jit
def weighted_sums_entry(table, sums_out):
    weighted_sums(as_sample(table), sums_out)


def expected_sums(sample: Sample) -> np.ndarray:
    def weigh(values, *radix):
        grid = np.indices(values.shape)
        return float((sum(r * g for r, g in zip(radix, grid)) * values).sum())

    n = np.arange(1, sample.count + 1)
    return np.array([
        n @ sample.line, weigh(sample.plane, 10, 1), weigh(sample.block, 100, 10, 1),
        weigh(sample.deep, 1000, 100, 10, 1), n @ sample.index, weigh(sample.pairs % 1000, 10, 1),
    ])


@pytest.mark.boundscheck
@pytest.mark.nojit
def test_compiled_code_sees_every_field(rng: np.random.Generator) -> None:
    sample, sums = make_sample(rng), np.full(6, np.nan)
    weighted_sums_entry(sample.table, sums)
    np.testing.assert_allclose(sums, expected_sums(sample), rtol=1e-12)
    sums[:] = np.nan
    weighted_sums(sample, sums)  # the record itself, as tests of a single kernel pass it
    np.testing.assert_allclose(sums, expected_sums(sample), rtol=1e-12)


@jit
def double(sample):
    line, pairs = sample.line, sample.pairs
    for i in range(sample.count):
        line[i] *= 2.0
        pairs[i, 1] = -pairs[i, 1]


@jit
def double_entry(table):
    double(as_sample(table))


@pytest.mark.boundscheck
@pytest.mark.nojit
def test_writes_are_seen_on_both_sides(rng: np.random.Generator) -> None:
    sample = make_sample(rng)
    line, pairs = sample.line.copy(), sample.pairs.copy()
    double_entry(sample.table)
    np.testing.assert_array_equal(sample.line, 2.0 * line)
    np.testing.assert_array_equal(sample.pairs[:, 1], -pairs[:, 1])
    np.testing.assert_array_equal(sample.pairs[:, 0], pairs[:, 0])
    sample.line[...] = 7.0
    sample.line += 1.0  # augmented assignment keeps the array
    double_entry(sample.table)
    np.testing.assert_array_equal(sample.line, 16.0)


@pytest.mark.nojit
def test_arrays_are_taken_over_or_copied() -> None:
    line = np.zeros(5)
    plane = np.arange(30.0).reshape(5, 6)[:, ::2]  # strided: compiled code needs it contiguous
    sample = Sample(count=5, line=line, plane=plane, block=np.zeros((2, 5, 4), np.float32), deep=np.zeros((2, 3, 5, 2)),
                    index=np.arange(5, dtype=np.int32), pairs=np.zeros((5, 2), dtype=np.int64, order="F"))
    assert sample.line is line
    assert sample.plane.flags.c_contiguous
    np.testing.assert_array_equal(sample.plane, plane)
    assert sample.block.dtype == np.float64
    assert sample.index.dtype == np.int64
    sums = np.zeros(6)
    weighted_sums_entry(sample.table, sums)
    np.testing.assert_allclose(sums, expected_sums(sample))


def test_unaligned_arrays_are_copied() -> None:
    raw = np.zeros(8 * 5 + 1, np.uint8)[1:].view(np.float64)
    raw[:] = np.arange(5)

    class Unaligned(Record):
        values = array(float, "n")

    record = Unaligned(values=raw)
    assert record.values.flags.aligned
    np.testing.assert_array_equal(record.values, np.arange(5))


@pytest.mark.boundscheck
@pytest.mark.nojit
def test_empty_arrays() -> None:
    sample = Sample(count=0, line=[], plane=np.zeros((0, 3)), block=np.zeros((2, 0, 4)), deep=np.zeros((2, 3, 0, 2)),
                    index=[], pairs=np.zeros((0, 2), int))
    sums = np.full(6, np.nan)
    weighted_sums_entry(sample.table, sums)
    np.testing.assert_array_equal(sums, 0.0)


VALUES = {"count": 1, "line": np.zeros(1), "plane": np.zeros((1, 3)), "block": np.zeros((2, 1, 4)),
          "deep": np.zeros((2, 3, 1, 2)), "index": np.zeros(1, int), "pairs": np.zeros((1, 2), int)}


@pytest.mark.parametrize(("change", "message"), [
    ({"line": None}, "missing fields .*line"),
    ({"other": np.zeros(1)}, "unknown fields .*other"),
    ({"line": np.zeros((1, 1))}, "line: 2 dimensions where 1 are declared"),
    ({"plane": np.zeros(3)}, "plane: 1 dimensions where 2 are declared"),
    ({"line": 1.0}, "line: 0 dimensions where 1 are declared"),
    ({"index": np.array([0.5])}, "index: float64 values where int64"),
    ({"line": np.array([1j])}, "line: complex128 values where float64"),
    ({"line": np.array(["1"])}, "line: <U1 values"),
    ({"count": 1.5}, "integer"),
    ({"plane": np.zeros((1, 4))}, r"plane: axis 1 has 4 entries where 3 = 3$"),
    ({"index": np.zeros(2, int)}, "index: axis 0 has 2 entries where n = 1 by line"),
    ({"line": np.zeros(7)}, "plane: axis 0 has 1 entries where n = 7 by line"),
])
@pytest.mark.nojit
def test_wrong_fields_are_refused(change: dict, message: str) -> None:
    values = {name: value for name, value in (VALUES | change).items() if value is not None}
    with pytest.raises(TypeError, match=message):
        Sample(**values)


def test_wrong_declarations_are_refused() -> None:
    for dtype, extents in ((float, ()), (complex, (1,)), (np.float32, ("n",)), (float, (1.5,))):
        with pytest.raises(TypeError, match="at least one extent"):
            array(dtype, *extents)
    with pytest.raises(SyntaxError):
        array(float, "n +")
    with pytest.raises(TypeError, match="float or int"):
        scalar(complex)
    for name in ("table", "fields", "copy_into", "saved", "_hidden"):
        with pytest.raises(TypeError, match="cannot be called"):
            type("Wrong", (Record,), {name: array(float, 1)})


@pytest.mark.nojit
def test_fields_cannot_be_replaced(rng: np.random.Generator) -> None:
    sample = make_sample(rng)
    with pytest.raises(AttributeError, match="write into it"):
        sample.line = np.zeros(5)
    with pytest.raises(AttributeError, match="cannot be replaced"):
        sample.count = 3
    sample.note = "other attributes are free"


@compiled_only
def test_unknown_attribute_does_not_compile(rng: np.random.Generator) -> None:
    @jit
    def wrong(sample):
        return sample.no_such_field

    with pytest.raises(TypingError, match="no_such_field"):
        wrong(make_sample(rng))


@pytest.mark.nojit
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda record: pickle.loads(pickle.dumps(record))])
def test_copies_stand_on_their_own(rng: np.random.Generator, duplicate) -> None:
    sample = make_sample(rng)
    sample.note = "kept"
    before = sample.line.copy()
    other = duplicate(sample)
    double_entry(other.table)
    np.testing.assert_array_equal(sample.line, before)
    np.testing.assert_array_equal(other.line, 2.0 * before)
    assert other.note == "kept"


@pytest.mark.nojit
def test_copy_into(rng: np.random.Generator) -> None:
    sample, other = make_sample(rng), make_sample(rng)
    line = other.line
    sample.copy_into(other)
    assert other.line is line
    for name in ("line", "plane", "block", "deep", "index", "pairs"):
        np.testing.assert_array_equal(getattr(other, name), getattr(sample, name))
    with pytest.raises(ValueError, match=r"line: shape \(1,\) copied into \(5,\)"):
        make_sample(rng, 1).copy_into(other)  # NumPy alone would spread one value over five


@pytest.mark.nojit
def test_subclass_extends_its_base() -> None:
    class Base(Record):
        first = array(float, "n")

    class Derived(Base):
        second = array(float, "n", 2)

    @jit
    def read(record):
        return record.first[0] + record.second[0, 1]

    assert list(Derived.fields) == ["first", "second"]
    assert read(Derived(first=[1.0], second=[[2.0, 3.0]])) == 4.0


@compiled_only
def test_records_of_one_name_stay_apart() -> None:
    a, b = array(float, "n"), array(float, "n", 2)
    first = type("Twin", (Record,), {"a": a, "b": b})
    second = type("Twin", (Record,), {"b": b, "a": a})  # as in another module: same name, other layout
    values = {"a": np.array([1.0]), "b": np.array([[2.0, 3.0]])}

    @jit
    def read(record):
        return record.a[0] + 10.0 * record.b[0, 1]

    assert read(first(**values)) == read(second(**values)) == 31.0


# ---- sizes ----------------------------------------------------------------------------------------------------------


class Sized(Record):
    capacity = scalar()
    start = array(int, "n + 1", saved=True, within=(0, "n"))
    corner = array(float, "2 * n + m", 3)
    fixed = array(float, 4)
    half = array(float, "n // 2", "m")
    chosen = array(int, "m", saved=True, within=COUNTER)


@pytest.mark.nojit
def test_a_record_allocates_itself_from_named_sizes() -> None:
    chosen = np.array([7, 8])
    record = Sized.sized({"n": 5, "m": 2}, capacity=3, chosen=chosen)
    shapes = {name: getattr(record, name).shape for name in ("start", "corner", "fixed", "half")}
    assert shapes == {"start": (6,), "corner": (12, 3), "fixed": (4,), "half": (2, 2)}
    assert record.chosen is chosen and record.capacity == 3
    for name in shapes:
        values = getattr(record, name)
        assert not values.any() and values.dtype == (np.int64 if name == "start" else np.float64)


@pytest.mark.nojit
def test_sizes_that_are_missing_or_do_not_agree_are_refused() -> None:
    with pytest.raises(TypeError, match=r"Sized.corner: extent '2 \* n \+ m' where sizes are given of \['n'\]"):
        Sized.sized({"n": 5}, capacity=3)
    with pytest.raises(TypeError, match="missing fields .*capacity"):
        Sized.sized({"n": 5, "m": 2})
    with pytest.raises(TypeError, match="Sized.chosen: axis 0 has 3 entries where m = 2 by half"):
        Sized.sized({"n": 5, "m": 2}, capacity=3, chosen=np.zeros(3, int))

    class Ranges(Record):
        start = array(int, "n + 1")
        item = array(float, "n")

    Ranges(start=[0, 1, 2], item=[1.0, 2.0])
    with pytest.raises(TypeError, match=r"Ranges.start: axis 0 has 2 entries where n \+ 1 = 3 by item"):
        Ranges(start=[0, 1], item=[1.0, 2.0])


@pytest.mark.nojit
def test_extents_are_no_part_of_compiled_code() -> None:
    """What they are is read from the table: code for a record serves one of other sizes and another saved state."""
    def twin(*fields):
        return type("Twin", (Record,), {"__module__": "here", "__qualname__": "Twin", **dict(zip("ab", fields))})

    first = twin(array(float, "n"), array(int, 3, 2)).type_name
    assert first == twin(array(float, 7, saved=True), array(int, "n", "n + 1")).type_name
    assert first != twin(array(float, "n"), array(int, 3)).type_name
    assert first != twin(array(float, "n"), array(float, 3, 2)).type_name


# ---- records within records -----------------------------------------------------------------------------------------


class Leaf(Record):
    gain = scalar(float)
    values = array(float, "n", saved=True)
    work = array(float, "n")


class Branch(Record):
    shift = scalar()
    left = part(Leaf)
    right = part(Leaf)
    order = array(int, "n", saved=True, within=(0, "n - 1"))


class Tree(Record):
    scale = scalar(float)
    branch = part(Branch)
    trunk = array(float, 2, saved=True)


as_tree = viewer(Tree)


def make_tree(rng: np.random.Generator, n: int = 4) -> Tree:
    left, right = (Leaf.sized({"n": n}, gain=gain, values=rng.random(n)) for gain in (0.1, -3.5))
    branch = Branch(shift=2, left=left, right=right, order=rng.permutation(n))
    return Tree(scale=1.0 / 3.0, branch=branch, trunk=rng.random(2))


@jit
def gather(leaf, order, shift):
    """A part handed on as a record of its own."""
    total = 0.0
    for i in range(len(order)):
        total += leaf.gain * leaf.values[order[i]] * (i + shift)
        leaf.work[i] = total
    return total


@jit
def sum_tree(tree):
    branch = tree.branch
    total = gather(branch.left, branch.order, branch.shift) + gather(tree.branch.right, branch.order, branch.shift)
    tree.trunk[1] = total
    return tree.scale * (total + tree.trunk[0])


@jit
def sum_tree_entry(table):
    return sum_tree(as_tree(table))


def expected_tree(tree: Tree) -> float:
    branch, weight = tree.branch, np.arange(len(tree.branch.order)) + tree.branch.shift
    total = sum(leaf.gain * (leaf.values[branch.order] * weight).sum() for leaf in (branch.left, branch.right))
    return float(tree.scale * (total + tree.trunk[0]))


@pytest.mark.boundscheck
@pytest.mark.nojit
def test_parts_are_read_and_written_from_kernels(rng: np.random.Generator) -> None:
    tree = make_tree(rng)
    assert sum_tree_entry(tree.table) == pytest.approx(expected_tree(tree), rel=1e-14)
    assert sum_tree(tree) == pytest.approx(expected_tree(tree), rel=1e-14)
    assert tree.branch.right.work[-1] + tree.branch.left.work[-1] == pytest.approx(tree.trunk[1], rel=1e-14)


@jit
def read_scale(tree):
    return tree.scale


@pytest.mark.boundscheck
@pytest.mark.nojit
@pytest.mark.parametrize("value", [0.1, -0.0, 5e-324, -1.7976931348623157e308, np.inf, 3])
def test_numbers_arrive_bit_for_bit(rng: np.random.Generator, value: float) -> None:
    tree = make_tree(rng)
    found = read_scale(Tree(scale=value, branch=tree.branch, trunk=tree.trunk))
    assert np.float64(found).tobytes() == np.float64(value).tobytes()


@pytest.mark.nojit
def test_saved_arrays_are_named_by_their_way(rng: np.random.Generator) -> None:
    tree = make_tree(rng)
    found = tree.saved("start/")
    assert list(found) == ["start/branch.left.values", "start/branch.right.values", "start/branch.order", "start/trunk"]
    assert found["start/branch.right.values"] is tree.branch.right.values and found["start/trunk"] is tree.trunk
    assert list(Sized.sized({"n": 1, "m": 1}, capacity=0).saved()) == ["start", "chosen"]


@pytest.mark.nojit
def test_parts_must_be_what_is_declared(rng: np.random.Generator) -> None:
    tree = make_tree(rng)
    with pytest.raises(TypeError, match="Tree.branch: Leaf where Branch is declared"):
        Tree(scale=1.0, branch=tree.branch.left, trunk=np.zeros(2))
    with pytest.raises(AttributeError, match="cannot be replaced"):
        tree.branch = make_tree(rng).branch


@pytest.mark.nojit
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda record: pickle.loads(pickle.dumps(record))])
def test_copies_of_records_with_parts_stand_on_their_own(rng: np.random.Generator, duplicate) -> None:
    tree = make_tree(rng)
    other, before = duplicate(tree), expected_tree(tree)
    other.branch.left.values[:] = 0.0
    assert sum_tree_entry(tree.table) == pytest.approx(before, rel=1e-14)
    assert sum_tree_entry(other.table) == pytest.approx(expected_tree(other), rel=1e-14) != before
    assert (other.scale, other.branch.left.gain, other.branch.shift) == (tree.scale, 0.1, 2)
    del tree
    gc.collect()
    assert sum_tree_entry(other.table) == pytest.approx(expected_tree(other), rel=1e-14)


@pytest.mark.nojit
def test_copy_into_reaches_the_parts(rng: np.random.Generator) -> None:
    tree, other = make_tree(rng), make_tree(rng)
    kept = other.branch.left.values
    tree.copy_into(other)
    assert other.branch.left.values is kept and expected_tree(other) == expected_tree(tree)
    np.testing.assert_array_equal(other.branch.order, tree.branch.order)
    with pytest.raises(ValueError, match="Leaf.values: shape"):
        make_tree(rng, 1).copy_into(other)


@compiled_only
@pytest.mark.boundscheck
def test_no_reference_is_kept(rng: np.random.Generator) -> None:
    sample, sums = make_sample(rng), np.zeros(6)
    weighted_sums(sample, sums)
    weighted_sums_entry(sample.table, sums)
    counts = sys.getrefcount(sample), sys.getrefcount(sample._table), sys.getrefcount(sample.line)
    for _ in range(1000):
        weighted_sums(sample, sums)
        weighted_sums_entry(sample.table, sums)
    assert (sys.getrefcount(sample), sys.getrefcount(sample._table), sys.getrefcount(sample.line)) == counts
    gone = weakref.ref(sample), weakref.ref(sample.line)
    del sample
    gc.collect()
    assert [reference() for reference in gone] == [None, None]


SCRIPT = textwrap.dedent("""
    import sys
    import numpy as np
    from sesshoku.compiled.jit import jit
    from sesshoku.compiled.table import Record, array, scalar, viewer

    class Pair(Record):
        n = scalar()
        x = array(float, "m")
        k = array(int, "m", 2)

    as_pair = viewer(Pair)

    @jit
    def total(pair, out):
        x, k = pair.x, pair.k
        out[0] = 0.0
        for i in range(pair.n):
            out[0] += x[i] * k[i, 1]

    @jit
    def entry(table, out):
        total(as_pair(table), out)

    pair, out = Pair(n=3, x=[1.0, 2.0, 3.0], k=[[0, 1], [0, 10], [0, 100]]), np.zeros(1)
    entry(pair.table, out)
    hits = sum(entry.stats.cache_hits.values()) if hasattr(entry, "stats") else -1
    print(out[0], hits, type(pair.table).__name__)
""")


def run_script(path: Path, **variables: str) -> str:
    result = subprocess.run([sys.executable, str(path)], env=os.environ | variables, capture_output=True, text=True,
                            timeout=PATIENCE, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_cached_kernels_serve_the_next_process(tmp_path: Path) -> None:
    script = tmp_path / "pair.py"
    script.write_text(SCRIPT)
    variables = {"SESSHOKU_CACHE": str(tmp_path / "cache"), "NUMBA_DISABLE_JIT": "0"}
    assert run_script(script, **variables).split() == ["321.0", "0", "ndarray"]
    assert run_script(script, **variables).split() == ["321.0", "1", "ndarray"]


def test_without_jit_the_table_is_the_record(tmp_path: Path) -> None:
    script = tmp_path / "pair.py"
    script.write_text(SCRIPT)
    assert run_script(script, NUMBA_DISABLE_JIT="1").split() == ["321.0", "-1", "Pair"]


def test_bounds_checks_reach_the_fields(tmp_path: Path) -> None:
    script = tmp_path / "pair.py"
    script.write_text(SCRIPT.replace("n=3", "n=4"))
    result = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=PATIENCE,
                            check=False, env=os.environ | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_DISABLE_JIT": "0",
                                              "SESSHOKU_CACHE": str(tmp_path / "cache")})
    assert result.returncode == 1
    assert "IndexError" in result.stderr
