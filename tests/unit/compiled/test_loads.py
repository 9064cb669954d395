"""Loads come before stores of other fields, and never before one that may be of the same number."""

from __future__ import annotations

import re

import llvmlite.binding as ll
import numpy as np
import pytest

from sesshoku.compiled.gpu.loads import FIRST, LAST, early_loads, number_of

MINE, THEIRS, MODEL = 9, 11, 10  # odd: of a world; even: shared
POINTERS = "\n".join(f"  %{name}g = inttoptr i64 %{name}_at to ptr addrspace({place})\n"
                     f"  %{name} = addrspacecast ptr addrspace({place}) %{name}g to ptr"
                     for name, place in (("a", MINE), ("b", THEIRS), ("m", MODEL)))


def kernel(lines: str) -> str:
    """A function of three arrays and a pointer of which nothing is known, as LLVM writes it."""
    text = "declare void @other()\ndeclare double @llvm.sqrt.f64(double)\n" \
           f"define void @f(i64 %a_at, i64 %b_at, i64 %m_at, ptr %x, i64 %n) {{\n{POINTERS}\n{lines}\n  ret void\n}}\n"
    return str(ll.parse_assembly(text))


def order(text: str) -> list[str]:
    """Names of loads, and "store", in the order of a function's lines."""
    return [found[1] or "store" for found in re.finditer(r"^  (?:%(\w+) = load|store) ", text, re.M)]


def step(n: int, source: str, target: str = "a") -> str:
    """target[n] = source[n] + 1."""
    return (f"  %p{n} = getelementptr double, ptr %{source}, i64 {n}\n  %l{n} = load double, ptr %p{n}\n"
            f"  %s{n} = fadd double %l{n}, 1.0\n  %q{n} = getelementptr double, ptr %{target}, i64 {n}\n"
            f"  store double %s{n}, ptr %q{n}\n")


@pytest.mark.parametrize("source, wanted", [
    ("b", ["l0", "l1", "l2", "store", "store", "store"]),  # another field: all at once
    ("m", ["l0", "l1", "l2", "store", "store", "store"]),  # shared, never written
    ("a", ["l0", "store", "l1", "store", "l2", "store"]),  # the same field
    ("x", ["l0", "store", "l1", "store", "l2", "store"]),  # unknown
])
def test_loads_pass_stores_of_other_fields_alone(source, wanted):
    made = early_loads(kernel("".join(step(n, source) for n in range(3))))
    ll.parse_assembly(made).verify()
    assert order(made) == wanted
    assert ("!invariant.load" in made) == (source == "m")
    assert set(re.findall(r"addrspace\((\d+)\)", made)) == {"1"}


def test_stores_stay_behind_loads_of_their_field_and_in_order():
    lines = step(0, "b") + step(1, "a", "b") + step(2, "b")
    made = early_loads(kernel(lines))
    ll.parse_assembly(made).verify()
    assert order(made).index("l0") < order(made).index("l2")
    stores = re.findall(r"store double %(s\d)", made)
    assert stores.index("s1") < stores.index("s2") or "l2" in order(made)[:order(made).index("store")]
    assert order(made).index("l1") > order(made).index("store")  # a[1] may be a[0], which was just stored


def test_calls_are_not_passed_but_pure_ones_are():
    for call, wanted in (("call void @other()", ["l0", "store", "l1", "store"]),
                         ("%c = call double @llvm.sqrt.f64(double 2.0)", ["l0", "l1", "store", "store"])):
        assert order(early_loads(kernel(f"{step(0, 'b')}  {call}\n{step(1, 'b')}"))) == wanted


def test_pointers_through_loops_and_choices_are_followed():
    lines = """  br label %loop
loop:
  %p = phi ptr [ %b, %0 ], [ %next, %loop ]
  %t = phi ptr [ %a, %0 ], [ %up, %loop ]
  %k = phi i64 [ 0, %0 ], [ %k1, %loop ]
  %la = load double, ptr %p
  store double %la, ptr %t
  %p1 = getelementptr i8, ptr %p, i64 256
  %lb = load double, ptr %p1
  %t1 = getelementptr i8, ptr %t, i64 256
  store double %lb, ptr %t1
  %next = getelementptr i8, ptr %p, i64 512
  %up = getelementptr i8, ptr %t, i64 512
  %k1 = add i64 %k, 1
  %on = icmp slt i64 %k1, %n
  br i1 %on, label %loop, label %done
done:"""
    made = early_loads(kernel(lines))
    ll.parse_assembly(made).verify()
    assert order(made) == ["la", "lb", "store", "store"]
    either = lines.replace("[ %b, %0 ]", "[ %x, %0 ]")  # unknown on one way
    assert order(early_loads(kernel(either))) == ["la", "store", "lb", "store"]


def test_numbers_of_fields_are_stable_and_tell_shared_ones():
    found = {number_of(f"Record_{n}", f"field{n % 7}", shared) for n in range(500) for shared in (True, False)}
    assert min(found) >= FIRST and max(found) <= LAST and len(found) > 200
    assert number_of("Data_12", "q", False) % 2 == 1 and number_of("Model_12", "row", True) % 2 == 0
    assert number_of("Data_12", "q", False) == number_of("Data_12", "q", False)


def test_code_in_that_order_does_the_same():
    """Random programs on four arrays of eight numbers, two of which may be one: run as they are and in their new order.
    """
    rng = np.random.default_rng(5)
    ll.initialize_native_target()
    ll.initialize_native_asmprinter()
    for _ in range(30):
        lines, values = [], ["1.5"]
        for n in range(40):
            array, place = rng.choice(["a", "b", "x"]), int(rng.integers(0, 4))
            lines.append(f"  %p{n} = getelementptr double, ptr %{array}, i64 {place}")
            if rng.random() < 0.5:
                lines.append(f"  %v{n}l = load double, ptr %p{n}")
                values.append(f"%v{n}l")
            else:
                one, other = rng.choice(values, 2)
                lines.append(f"  %v{n}s = fadd double {one}, {other}\n  store double %v{n}s, ptr %p{n}")
                values.append(f"%v{n}s")
        text = kernel("\n".join(lines))
        assert run(early_loads(text)) == run(text)


def run(text: str) -> bytes:
    """What @f leaves in its arrays; x is a part of b."""
    from ctypes import CFUNCTYPE, c_int64, c_void_p

    module = ll.parse_assembly(text)
    engine = ll.create_mcjit_compiler(module, ll.Target.from_default_triple().create_target_machine())
    engine.finalize_object()
    memory = np.arange(32, dtype=np.float64)
    a, b, m = (memory.ctypes.data + 64 * n for n in range(3))
    CFUNCTYPE(None, c_int64, c_int64, c_int64, c_void_p, c_int64)(engine.get_function_address("f"))(a, b, m, b + 8, 4)
    return memory.tobytes()
