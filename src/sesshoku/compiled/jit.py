"""How this package compiles: one decorator, one store of compiled code.

Kernels are compiled one by one, each once, and kept as bitcode; what Python calls is linked from them
(`compiled/kernel.py`). An edit compiles the edited kernel and links what can reach it, and nothing else. Where the
sources lie does not matter: two checkouts share what either compiled.

That goes through Numba's inner interfaces. Where a version of Numba does not have them as they are known here, kernels
are compiled and cached by Numba itself (`compiled/plain/`), with a warning; SESSHOKU_COMPILER=numba asks for that.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import warnings
from collections.abc import Callable
from typing import Any

from numba.core import config

from sesshoku.compiled.store import cache_root, trusted_directory

CACHE_DIRECTORY = trusted_directory(cache_root() / "compiled")
CONTRACT = {"contract"}  # a * b + c in one rounding (fused): keeps the order of operations, no other fast-math liberty


def misfit() -> str:
    """What this version of Numba lacks for our code generator; empty: nothing."""
    try:
        from llvmlite.binding import ExecutionEngine
        from numba.core import bytecode, codegen, compiler, environment, registry

        importlib.import_module("sesshoku.compiled.kernel")  # imports what else is needed by name

        wanted = [
            (codegen.JITCodeLibrary, ("_optimize_final_module", "_get_module_for_linking", "add_linking_library")),
            (codegen.JITCPUCodegen, ("_create_empty_module", "set_env", "magic_tuple", "_get_host_cpu_name",
                                     "_get_host_cpu_features")),
            (codegen.JitEngine, ("finalize_object", "get_function_address")),
            (ExecutionEngine, ("add_object_file",)),
            (compiler, ("_make_subtarget", "compile_result")),
            (compiler.Flags, ("no_compile", "no_cpython_wrapper", "no_cfunc_wrapper", "release_gil")),
            (registry.CPUDispatcher, ("get_call_template", "get_overload", "compile", "_compile_for_args")),
            (environment.Environment, ("from_fndesc",)),
        ]
        missing = [f"{owner.__name__}.{name}" for owner, names in wanted for name in names if not hasattr(owner, name)]
        if "library" not in inspect.signature(compiler.compile_extra).parameters:
            missing.append("compile_extra(library=...)")
        if "unique_id" not in vars(bytecode.FunctionIdentity.from_function(misfit)):
            missing.append("FunctionIdentity.unique_id")
        return ", ".join(missing)
    except (ImportError, AttributeError, TypeError) as error:
        return str(error)


@functools.cache
def uses_numba() -> bool:
    """Whether kernels are compiled and cached by Numba itself."""
    if os.environ.get("SESSHOKU_COMPILER") == "numba":
        return True
    reason = misfit()
    if reason:
        import numba

        warnings.warn(f"Numba {numba.__version__} is not known to this version of sesshoku ({reason}): kernels are "
                      "compiled by Numba itself, which takes several times as long", RuntimeWarning, stacklevel=2)
    return bool(reason)


def jit(function: Callable[..., Any] | None = None, *, fastmath: Any = CONTRACT, inline: str = "never",
        into_callers: bool = False, nogil: bool = False) -> Any:
    """Compile a kernel: float64, no Python objects, division by zero gives inf, result cached on disk.

    into_callers: a small leaf of a hot loop, whose call must cost nothing (the optimiser is told to always inline it).
    nogil: called from Python, it lets other threads run meanwhile.
    """
    options = {"error_model": "numpy", "fastmath": fastmath, "inline": inline, "forceinline": into_callers}
    if nogil:  # named only where it is wanted: options are part of a kernel's key
        options["nogil"] = True

    def compile_(target: Callable[..., Any]) -> Any:
        if config.DISABLE_JIT:
            return target
        if uses_numba():
            from sesshoku.compiled.plain import plain_kernel

            return plain_kernel(target, options)
        from sesshoku.compiled.kernel import Kernel

        return Kernel(target, {}, options | {"nopython": True, "boundscheck": None})

    return compile_ if function is None else compile_(function)
