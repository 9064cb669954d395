"""Bodies of kernels (`compiled/gpu/stages.py`) as a GPU's code: the same bitcode, another back end of LLVM.

The call graph of a body is linked as for a CPU (`compiled/library.py`), mathematical functions come from NVIDIA's
libdevice, and LLVM writes PTX, which the driver assembles for the card at hand. No compiler but LLVM, which Numba
brings, and no second front end: what a GPU runs has passed the tests of a CPU up to here.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import llvmlite.binding as ll
from numba.core.compiler_lock import global_compiler_lock

from sesshoku.compiled import keys
from sesshoku.compiled.gpu.loads import early_loads
from sesshoku.compiled.gpu.stages import ARGUMENTS
from sesshoku.compiled.library import call_graph, link_names, runtime_names
from sesshoku.errors import SesshokuError

TRIPLE = "nvptx64-nvidia-cuda"
ENTRY = "sesshoku"  # the name of a kernel in its module
#: functions whose IR is told by LLVM's name and which a GPU does not have as instructions
INTRINSICS = ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "exp2", "exp10",
              "log", "log2", "log10", "pow", "powi")
VERSION = "2"  # bump it where this file changes what code comes out: part of every key in the store

# One thread a world. `body` returns whether the world goes on; one that stopped takes part no more.
_ENTRY = """
target triple = "{triple}"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @"{body}"(ptr, ptr, i64, i64, i64, i64, i64, double, i64, i64, i64)

define ptx_kernel void @{entry}(i64 %model, i64 %data, i64 %work, i64 %own, i64 %space, double %dt, i64 %steps,
                                i64 %first, i64 %count, i64 %alive) {{
begin:
  %answer = alloca i64
  %error = alloca ptr
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %before = mul i32 %block, %size
  %number = add i32 %before, %thread
  %w = zext i32 %number to i64
  %inside = icmp slt i64 %w, %count
  br i1 %inside, label %look, label %end
look:
  %world = add i64 %w, %first
  %flags = inttoptr i64 %alive to ptr addrspace(1)
  %flag = getelementptr i64, ptr addrspace(1) %flags, i64 %world
  %state = load i64, ptr addrspace(1) %flag, align 8
  %goes = icmp sgt i64 %state, 0
  br i1 %goes, label %step, label %end
step:
  %status = call i32 @"{body}"(ptr %answer, ptr %error, i64 %model, i64 %data, i64 %work, i64 %own, i64 %space,
                               double %dt, i64 %steps, i64 %first, i64 %w)
  %told = load i64, ptr %answer, align 8
  %sound = icmp eq i32 %status, 0
  %on = icmp ne i64 %told, 0
  %both = and i1 %sound, %on
  br i1 %both, label %end, label %stop
stop:
  store i64 0, ptr addrspace(1) %flag, align 8
  br label %end
end:
  ret void
}}
"""
# memory of Numba's runtime: arrays of records are nobody's, there is nothing to count
_RUNTIME = """
target triple = "{triple}"
define void @NRT_incref(ptr %p) alwaysinline {{ ret void }}
define void @NRT_decref(ptr %p) alwaysinline {{ ret void }}
"""


@functools.cache
def target_machine(capability: tuple[int, int]) -> Any:
    """LLVM's back end for cards of a compute capability."""
    ll.initialize_all_targets()
    ll.initialize_all_asmprinters()
    target = ll.Target.from_triple(TRIPLE)
    return target.create_target_machine(cpu="sm_{}{}".format(*capability), opt=3)


def libdevice_path() -> Path:
    """Where NVIDIA's library of mathematical functions is: beside CUDA, or in one of its wheels."""
    for path in _libdevice_places():
        if path.is_file():
            return path
    raise SesshokuError("libdevice.10.bc is not found, NVIDIA's library of mathematical functions: install the extra "
                        "`sesshoku[cuda]`, or let CUDA_HOME name a CUDA toolkit")


def _libdevice_places() -> Iterator[Path]:
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(name):
            yield Path(os.environ[name]) / "nvvm" / "libdevice" / "libdevice.10.bc"
    yield from in_wheels("nvvm/libdevice/libdevice.10.bc")
    yield Path("/usr/local/cuda/nvvm/libdevice/libdevice.10.bc")
    yield from sorted(Path("/usr/local").glob("cuda-*/nvvm/libdevice/libdevice.10.bc"), reverse=True)


def in_wheels(path: str) -> list[Path]:
    """Where NVIDIA's wheels have a file, newest first."""
    try:
        nvidia = importlib.import_module("nvidia")
    except ImportError:
        return []
    return [found for root in nvidia.__path__ for found in sorted(Path(root).glob(f"*/{path}"), reverse=True)]


@functools.cache
def _libdevice() -> bytes:
    return libdevice_path().read_bytes()


def code_key(body: Any, capability: tuple[int, int]) -> str:
    """The key of a body's PTX: of all kernels in it, of LLVM, libdevice and the card; empty if it cannot be known."""
    contents = [kernel.content for kernel in body.reached()]
    if not all(content.shared for content in contents):
        return ""
    return keys.digest([keys.environment(), VERSION, str(capability),
                        hashlib.sha256(_libdevice()).hexdigest(), body.content.key,
                        *sorted(content.key for content in contents)])


@global_compiler_lock
def ptx_of(body: Any, capability: tuple[int, int]) -> str:
    """PTX of a body as a kernel named ENTRY."""
    module, machine = optimised(body, capability), target_machine(capability)
    ordered = ll.parse_assembly(early_loads(str(module)))
    ordered.verify()
    return str(machine.emit_assembly(ordered))


def optimised(body: Any, capability: tuple[int, int]) -> Any:
    """A body and all it calls, by LLVM's optimiser."""
    machine = target_machine(capability)
    module = _joined(body, machine)
    for function in module.functions:
        if not function.is_declaration and function.name != ENTRY:
            function.linkage = "internal"
    tuning = ll.create_pipeline_tuning_options(speed_level=3)
    tuning.loop_vectorization = tuning.slp_vectorization = False
    builder = ll.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    missing = sorted(f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm."))
    if missing:
        raise SesshokuError(f"{body.py_func.__qualname__}: a GPU has no {', '.join(missing)}")
    return module


def bounded(ptx: str, registers: int) -> str:
    """PTX whose threads have at most so many registers; 0: as many as they take."""
    if not registers:
        return ptx
    head, entry, rest = ptx.partition(f".entry {ENTRY}(")
    return head + entry + rest.replace(")", f")\n.maxnreg {registers}", 1)


def _joined(body: Any, machine: Any) -> Any:
    """One module of a kernel and all it calls."""
    layout = str(machine.target_data)
    root = body.resolve(ARGUMENTS).library
    names = link_names(call_graph(root))
    module = _parsed(_ENTRY.format(triple=TRIPLE, entry=ENTRY, body=names[root]), layout)
    module.link_in(_parsed(_RUNTIME.format(triple=TRIPLE), layout))
    for library in names:
        part = _with_libdevice(ll.parse_bitcode(library.bitcode))
        part.triple, part.data_layout = TRIPLE, layout
        for symbol, callee in library.callees.items():
            if names[callee] != symbol:
                part.get_function(symbol).name = names[callee]
        function = part.get_function(library.symbol)
        function.name, function.linkage = names[library], "external"
        for function in part.functions:
            if not function.is_declaration and function.name in runtime_names():
                function.linkage = "linkonce_odr"
        module.link_in(part)
    mathematics = ll.parse_bitcode(_libdevice())
    mathematics.triple, mathematics.data_layout = TRIPLE, layout
    module.link_in(mathematics)
    return module


def _parsed(text: str, layout: str) -> Any:
    module = ll.parse_assembly(text)
    module.data_layout = layout
    return module


def _with_libdevice(part: Any) -> Any:
    """A module whose mathematical functions are called by libdevice's names."""
    ours = {f"llvm.{name}.f64": f"__nv_{name}" for name in INTRINSICS} | {"llvm.powi.f64.i32": "__nv_powi"}
    known = libdevice_names()
    text = None
    for function in list(part.functions):
        if not function.is_declaration:
            continue
        name = function.name
        if name in ours:
            text = (text or str(part)).replace(f"@{name}(", f"@{ours[name]}(")
        elif f"__nv_{name}" in known:
            function.name = f"__nv_{name}"
    return part if text is None else _with_libdevice(ll.parse_assembly(text))


@functools.cache
def libdevice_names() -> frozenset[str]:
    """All functions of libdevice."""
    return frozenset(function.name for function in ll.parse_bitcode(_libdevice()).functions)
