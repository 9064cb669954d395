"""A kernel: Numba's front end once, then bitcode for kernels that call it and machine code where Python calls it.

`resolve` gives what callers in compiled code need (types, name, bitcode), `compile` what Python calls. Both are looked
for in the store (`compiled/store.py`) under keys of content (`compiled/keys.py`).
"""

from __future__ import annotations

import copy
import functools
from collections import Counter
from collections.abc import Callable
from typing import Any

import llvmlite.binding as ll
import numba.core.event as numba_event
from numba import types
from numba.core import compiler, dispatcher, errors, sigutils, typing
from numba.core.bytecode import FunctionIdentity
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import Environment
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys
from numba.core.typed_passes import IRLegalization
from numba.core.untyped_passes import ExtractByteCode

from sesshoku.compiled import keys
from sesshoku.compiled.indices import UnsignedIndices
from sesshoku.compiled.library import KernelLibrary, LinkedLibrary, Unit, joined, link_names, translated, units_of
from sesshoku.compiled.shipped import shipped_store
from sesshoku.compiled.store import Store, cache_root, trusted_directory

#: what this process did: "front end" (kernels compiled), "read", "unit" (translated), "entry" (linked), "entry read"
counts: Counter[str] = Counter()
#: called with the name of each kernel that went through the front end, and of each unit ("unit NAME") translated
listeners: list[Callable[[str], None]] = []

_frames: list[dict[Any, None]] = []  # of each kernel in the front end: the calls that were resolved for it
_loaded: dict[str, str] = {}  # symbol of a unit -> key of the machine code that stands for it in this process


@functools.cache
def store() -> Store:
    """The store of this process; what came with the package is looked at first."""
    return Store(trusted_directory(cache_root() / "kernels"), shipped_store())


class KernelFlags(compiler.Flags):
    """Numba's flags, compared fast: the front end looks up every operator's implementation by them."""

    def __eq__(self, other: object) -> Any:
        if isinstance(other, KernelFlags) and self._values == other._values:
            return True
        return super().__eq__(other)

    def __hash__(self) -> int:
        return _FLAGS  # of the names of all options, as Numba's own


_FLAGS = hash(compiler.Flags())


class Pipeline(compiler.Compiler):
    """Numba's front end, with a pass of ours (`indices`); names of symbols come from the kernel's identity, not from a
    count of the process."""

    def define_pipelines(self) -> Any:
        passes = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        at = next(n for n, (kind, _) in enumerate(passes.passes) if kind is IRLegalization)
        passes.passes.insert(at, (UnsignedIndices, "indices are unsigned"))
        passes.finalize()
        return [passes]

    def compile_extra(self, func: Any) -> Any:
        identity = self.state.func_id = FunctionIdentity.from_function(func)
        identity.unique_id = self.state.library.tag
        identity.unique_name = f"{identity.func_qualname}${identity.unique_id}"
        ExtractByteCode().run_pass(self.state)
        self.state.lifted = ()
        self.state.lifted_from = None
        return self._compile_bytecode()


class FrontEnd(dispatcher._FunctionCompiler):  # type: ignore[name-defined]
    """Compiles a function to bitcode: neither machine code nor what Python would call."""

    tag = ""

    def flags(self) -> Any:
        """Numba's flags of the kernel's options."""
        flags = KernelFlags()
        self.targetdescr.options.parse_as_flags(flags, self.targetoptions)
        return flags

    def _compile_core(self, args: Any, return_type: Any) -> Any:
        flags, context = self.flags(), self.targetdescr.target_context
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        library = KernelLibrary(context.codegen(), self.py_func.__qualname__, self.tag)
        result = compiler.compile_extra(self.targetdescr.typing_context, context, self.py_func, args=args,
                                        return_type=return_type, flags=flags, locals=self.locals, library=library,
                                        pipeline_class=self.pipeline_class)
        if result.typing_error is not None:
            raise result.typing_error
        return result


class Token:
    """Stands for a kernel in Numba's tables of callables."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"


class Kernel(CPUDispatcher):
    """What the decorator `jit` makes of a function."""

    def __init__(self, py_func: Any, locals: Any = None, targetoptions: Any = None,
                 pipeline_class: Any = Pipeline) -> None:
        super().__init__(py_func, locals, targetoptions, pipeline_class)
        self._compiler = FrontEnd(py_func, self.targetdescr, self.targetoptions, self.locals, pipeline_class)
        self._resolved: dict[Any, Any] = {}  # argument types -> result without machine code
        self._linked: dict[Any, Any] = {}  # argument types -> what Python calls

    # ---- identity ------------------------------------------------------------------------------------------------

    @functools.cached_property
    def content(self) -> keys.Content:
        """What the kernel is made of; fixed when it is first asked for, as Numba fixes constants when it compiles."""
        return keys.content_of(self.py_func, self.targetoptions)

    @functools.cached_property
    def tag(self) -> str:
        """Tells kernels of one name apart: by their options and, where names are not enough, by their content."""
        options = keys.digest(f"{name}={value!r}" for name, value in sorted(self.targetoptions.items())
                              if not isinstance(value, set))
        fast = ",".join(sorted(map(str, f))) if isinstance(f := self.targetoptions.get("fastmath"), set) else ""
        content = self.content.key if keys.is_local(self.py_func) else ""
        return keys.digest([options, fast, content])[:12]

    @property
    def identity(self) -> str:
        """The name under which a caller's stored code knows the kernel."""
        return f"{keys.name_of(self.py_func)}:{self.tag}"

    def reached(self) -> dict[Any, None]:
        """The kernel and all it can call."""
        found: dict[Any, None] = {self: None}
        open_ = [self]
        while open_:
            for kernel in open_.pop().content.kernels:
                if kernel not in found:
                    found[kernel] = None
                    open_.append(kernel)
        return found

    def key(self, args: Any) -> str:
        """The key of the kernel's own code for these argument types; empty if other processes cannot know it."""
        return keys.digest([keys.environment(), self.content.key, *map(keys.type_text, args)]) \
            if self.content.shared else ""

    def entry_key(self, args: Any) -> str:
        """The key of the machine code: of all kernels that it can contain."""
        contents = [kernel.content for kernel in self.reached()]
        if not all(content.shared for content in contents):
            return ""
        return keys.digest([keys.environment(), keys.machine(), self.content.key, *map(keys.type_text, args), "",
                            *sorted(content.key for content in contents)])

    # ---- for kernels that call it --------------------------------------------------------------------------------

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Numba asks for the type a call returns. Calls with 0 and with 1 share one compiled kernel."""
        plain = tuple(types.unliteral(a) for a in args), {name: types.unliteral(a) for name, a in kws.items()}
        pysig, folded = self._compiler.fold_argument_types(*plain)
        result = self.resolve(tuple(folded))
        if _frames:
            _frames[-1][self, tuple(folded)] = None
        name = self.py_func.__name__
        template = typing.make_concrete_template(f"CallTemplate({name})", key=name, signatures=[result.signature])
        return template, pysig, folded, {}

    def get_overload(self, sig: Any) -> Any:
        """Numba asks for what a call is to be lowered to."""
        args, _ = sigutils.normalize_signature(sig)
        return self.resolve(tuple(args)).entry_point

    @global_compiler_lock
    def resolve(self, args: Any) -> Any:
        """The kernel for these argument types, without machine code: read from the store or compiled."""
        found = self._resolved.get(args)
        if found is None:
            found = self._read(args) or self._compile(args)
            self.targetctx.insert_user_function(found.entry_point, found.fndesc, [found.library])
            self._resolved[args] = self.overloads[args] = found
        return found

    def _read(self, args: Any) -> Any:
        """The stored kernel, if what it calls still returns what it returned then."""
        key = self.key(args)
        found = store().read("kernel", key) if key else None
        if found is None:
            return None
        described, bitcode = found
        known = {kernel.identity: kernel for kernel in self.content.kernels}
        callees = {}
        for identity, callee_args, return_type, symbol in described["calls"]:
            if identity not in known:
                return None
            try:
                callee = known[identity].resolve(callee_args)
            except errors.NumbaError:  # the front end will say it better
                return None
            if callee.signature.return_type != return_type:
                return None
            if symbol:
                callees[symbol] = callee.library
        counts["read"] += 1
        fndesc, signature = described["fndesc"], described["signature"]
        library = KernelLibrary.read(self.targetctx.codegen(), fndesc, _key_in_use(key, described["calls"]), bitcode,
                                     callees)
        return self._result(library, fndesc, signature)

    def _result(self, library: Any, fndesc: Any, signature: Any, entry_point: Any = None, env: Any = None) -> Any:
        return compiler.compile_result(
            typing_context=self.typingctx, target_context=self.targetctx, library=library, fndesc=fndesc,
            signature=signature, objectmode=False, lifted=(), environment=env, type_annotation="", metadata={},
            reload_init=(), entry_point=entry_point or Token(fndesc.qualname))

    def _compile(self, args: Any) -> Any:
        """Numba's front end, and the result into the store."""
        calls: dict[Any, None] = {}
        self._compiler.tag = self.tag
        _frames.append(calls)
        try:
            with (numba_event.trigger_event("numba:compile", data={"dispatcher": self, "args": args,
                                                                   "return_type": None}), self._compiling_counter):
                result = self._compiler.compile(args, None)
        finally:
            _frames.pop()
        library, fndesc = result.library, result.fndesc
        library.symbol, key = fndesc.mangled_name, self.key(args)
        library.finalize()
        library.inlined = fndesc.inline
        fndesc.typemap = fndesc.calltypes = None  # neither needed nor fit to be stored
        fndesc.doc = ""
        made = [(kernel, callee_args, kernel._resolved[callee_args]) for kernel, callee_args in calls]
        listed = [(kernel.identity, callee_args, callee.signature.return_type,
                   callee.library.symbol if callee.library.symbol in library.callees else "")
                  for kernel, callee_args, callee in made]
        library.storable = library.storable and bool(key)
        library.key = _key_in_use(key or keys.digest([library.symbol, library.bitcode.hex()]), listed)
        if library.storable:
            described = {"fndesc": fndesc, "signature": result.signature, "name": self.identity, "calls": listed}
            store().write("kernel", key, described, library.bitcode)
        counts["front end"] += 1
        for listener in listeners:
            listener(self.identity.rpartition(":")[0])
        return result._replace(entry_point=Token(fndesc.qualname))

    # ---- for Python ----------------------------------------------------------------------------------------------

    @global_compiler_lock
    def compile(self, sig: Any) -> Any:
        """What Python calls for these argument types: read from the store, or linked from bitcode."""
        if not self._can_compile:
            raise RuntimeError("compilation disabled")
        args = tuple(sigutils.normalize_signature(sig)[0])
        if args not in self._linked:
            result = self._read_entry(args) or self._link(args)
            self._linked[args] = result.entry_point
            self._insert([a._code for a in args], result.entry_point, False)
            self.overloads.setdefault(args, result)
        return self._linked[args]

    def units(self, args: Any) -> list[Unit]:
        """The units of the kernel's call graph, the last of which is linked with what Python calls."""
        units: list[Unit] = units_of(self.resolve(args).library)
        if any(_loaded.get(unit.root.symbol, unit.key) != unit.key for unit in units[:-1]):
            units = units_of(self.resolve(args).library, 1 << 62)  # a kernel was defined anew since: all in one
        return units

    def _read_entry(self, args: Any) -> Any:
        key = self.entry_key(args)
        found = store().read("entry", key) if key else None
        if found is None:
            return None
        described, code = found
        parts, needs = [], set(described["needs"])
        for symbol, unit_key in described["units"]:
            if _loaded.get(symbol) == unit_key:
                continue
            unit = store().read("unit", unit_key)
            if unit is None or symbol in _loaded:
                return None
            parts.append((symbol, unit_key, unit[1]))
            needs.update(unit[0]["needs"])
        if not self._can_resolve(needs.difference(symbol for symbol, _ in described["units"])):
            return None
        counts["entry read"] += 1
        self._cache_hits[args] += 1
        for part in parts:
            self._load(*part)
        return self._executable(described["fndesc"], described["signature"], described["environment"], code)

    def _can_resolve(self, needs: set[str]) -> bool:
        """Whether the process has all functions that code calls: LLVM ends the process at the first that is missing.

        Most code needs Numba's runtime only; what Numba's other modules bring takes half a second to import.
        """
        rtsys.initialize(self.targetctx)
        if all(ll.address_of_symbol(name) for name in needs):
            return True
        self.targetctx.refresh()
        return all(ll.address_of_symbol(name) for name in needs)

    def _link(self, args: Any) -> Any:
        """Link, optimise and translate the call graph."""
        self.targetctx.refresh()
        self._cache_misses[args] += 1
        with numba_event.trigger_event("numba:compile", data={"dispatcher": self, "args": args, "return_type": None}):
            result = self.resolve(args)
            units = self.units(args)
            for unit in units[:-1]:
                if unit.root.symbol not in _loaded:
                    self._load(unit.root.symbol, unit.key, translate(unit, self.targetctx.codegen()))
            described, code = self._translate_entry(result, units, self.entry_key(args))
        return self._executable(described["fndesc"], described["signature"], described["environment"], code)

    def link_ahead(self, args: Any) -> None:
        """Put the entry into the store, whose units are there already, without loading it."""
        key = self.entry_key(args)
        if key and not store().has("entry", key):
            self._translate_entry(self.resolve(args), units_of(self.resolve(args).library), key)

    def _translate_entry(self, result: Any, units: list[Unit], key: str) -> tuple[Any, bytes]:
        """The last unit together with the function that Python calls; into the store if it has a key."""
        codegen, last = self.targetctx.codegen(), units[-1]
        fndesc = copy.copy(result.fndesc)
        unique = key or keys.digest([str(id(self)), str(len(_loaded)), str(counts["entry"])])
        fndesc.mangled_name = f"{fndesc.mangled_name}.{unique[:16]}"
        fndesc.env_name = f"{fndesc.env_name}.{unique[:16]}"
        env = Environment.from_fndesc(fndesc)
        flags = self._compiler.flags()
        context = compiler._make_subtarget(self.targetctx, flags)
        library = LinkedLibrary(codegen, self.py_func.__qualname__)
        with context.push_code_library(library):
            context.create_cpython_wrapper(library, fndesc, env, None, flags.release_gil)
        names = link_names([*last.members, *last.calls]) | {last.root: fndesc.mangled_name}
        module = joined(codegen, last.members, names, library._final_module)
        code, needs = translated(codegen, module, [fndesc.llvm_cpython_wrapper_name])
        counts["entry"] += 1
        described = {"fndesc": fndesc, "signature": result.signature, "environment": env, "name": self.identity,
                     "needs": needs, "units": [(unit.root.symbol, unit.key) for unit in units[:-1]]}
        if key and all(member.storable for unit in units for member in unit.members):
            store().write("entry", key, described, code)
        return described, code

    def _load(self, symbol: str, key: str, code: bytes) -> None:
        _loaded[symbol] = key
        _add_object(self.targetctx.codegen(), code)

    def _executable(self, fndesc: Any, signature: Any, env: Any, code: bytes) -> Any:
        codegen = self.targetctx.codegen()
        _add_object(codegen, code)
        library = LinkedLibrary(codegen, self.py_func.__qualname__)
        function = self.targetctx.get_executable(library, fndesc, env)
        return self._result(library, fndesc, signature, function, env)


def _key_in_use(key: str, calls: Any) -> str:
    """The key of a kernel's code together with the types that its calls return."""
    return keys.digest([key, *(f"{identity} {keys.type_text(returned)}" for identity, _, returned, _ in calls)])


def translate(unit: Unit, codegen: Any) -> bytes:
    """The machine code of a unit: from the store, or made and put there."""
    storable = all(member.storable for member in unit.members)
    found = store().read("unit", unit.key) if storable else None
    if found is not None:
        return found[1]
    code, needs = unit.translate(codegen)
    if storable:
        store().write("unit", unit.key, {"name": unit.root.symbol, "needs": needs}, code)
    counts["unit"] += 1
    for listener in listeners:
        listener(f"unit {unit.root.name}")
    return code


def _add_object(codegen: Any, code: bytes) -> None:
    codegen._engine._ee.add_object_file(ll.ObjectFileRef.from_data(code))
    codegen._engine.finalize_object()
