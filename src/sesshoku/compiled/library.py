"""Code of kernels, from LLVM's representation to machine code.

Numba optimises and translates every function with all it calls, level by level. Here a kernel that only kernels call
stays as Numba lowered it, as bitcode without its callees (`KernelLibrary`). What Python calls is linked from the
bitcode of its whole call graph, optimised and translated once.

A large call graph is translated in units: a kernel whose callees make up enough code is a unit of its own, and others
call it by its name. Units are translated side by side, shared by all that call them, and after an edit only those that
contain the edited kernel are translated again. Within a unit the optimiser sees everything.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import llvmlite.binding as ll
from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.compiler_lock import global_compiler_lock
from numba.core.runtime import rtsys

from sesshoku.compiled.keys import digest, machine
from sesshoku.compiled.target import translator

UNIT_SIZE = 100_000  # bytes of bitcode from which a kernel with its callees is a unit


class KernelLibrary(JITCodeLibrary):
    """The code of one kernel without the kernels it calls; never turned into machine code on its own."""

    def __init__(self, codegen: Any, name: str, tag: str = "") -> None:
        super().__init__(codegen, name)
        self.tag = tag  # tells kernels of one name apart, in the names of their symbols
        self.symbol = ""  # the name of its function
        self.key = ""  # hash of all the code comes from
        self.callees: dict[str, KernelLibrary] = {}  # by symbol
        self.storable = True  # no addresses of this process in it
        self.inlined = False  # always becomes part of its callers
        self._bitcode = b""
        self._shared_module: Any = None

    @classmethod
    def read(cls, codegen: Any, fndesc: Any, key: str, bitcode: bytes, callees: dict[str, KernelLibrary]) -> Any:
        """A library of stored code."""
        self = cls(codegen, fndesc.qualname)
        self.symbol, self.inlined = fndesc.mangled_name, fndesc.inline
        self.key, self._bitcode, self.callees = key, bitcode, callees
        self._finalized = True
        return self

    @property
    def bitcode(self) -> bytes:
        """The kernel and what Numba itself compiled for it, without other kernels."""
        return self._bitcode

    def add_linking_library(self, library: Any) -> None:
        """Note a callee; other kernels are linked when the whole call graph is known."""
        if isinstance(library, KernelLibrary):
            self.callees[library.symbol] = library
        elif library is not rtsys.library:  # Numba's runtime is linked once, at the end
            super().add_linking_library(library)

    def finalize(self) -> None:
        """End of the kernel's own compilation: what Numba compiled for it becomes part of it."""
        self._raise_if_finalized()
        module, runtime = self._final_module, runtime_names()
        for library in dict.fromkeys(self._linking_libraries):
            module.link_in(library._get_module_for_linking(), preserve=True)
        self._resolve_recursion(module)
        for function in module.functions:
            if not function.is_declaration and function.name != self.symbol and function.name not in runtime:
                function.linkage = "internal"  # Numba numbers its functions by process: names mean nothing elsewhere
        for variable in module.global_variables:
            if variable.name.startswith("numba.dynamic.globals"):
                self.storable = False
            elif not variable.is_declaration and variable.linkage in (ll.Linkage.external, ll.Linkage.common):
                variable.linkage = "internal"
        self.storable = self.storable and not self._reload_init
        self._bitcode = module.as_bitcode()
        self._finalized = True

    def _resolve_recursion(self, module: Any) -> None:
        """A kernel that calls itself does so through a pointer, which Numba would fill in when it runs."""
        for name in [v.name for v in module.global_variables if v.name.startswith(RuntimeLinker.PREFIX)]:
            if name != RuntimeLinker.PREFIX + self.symbol:
                raise NotImplementedError(f"{self.name}: kernels that call each other in a circle are not linked; "
                                          "make one of them, which may call itself")
            pointer = f'@"{name}" = internal constant ptr @"{self.symbol}"\ndeclare void @"{self.symbol}"()\n'
            stub = ll.parse_assembly(pointer.replace("internal", "linkonce_odr"))
            stub.triple, stub.data_layout = module.triple, module.data_layout
            module.link_in(stub)

    def _get_module_for_linking(self) -> Any:
        """For a function of Numba's own decorator that calls a kernel: the kernel with its whole call graph."""
        if self._shared_module is None:
            names = link_names(call_graph(self))
            module = joined(self._codegen, names, names)
            module.get_function(names[self]).linkage = "linkonce_odr"
            self._shared_module = module
        return self._shared_module

    def get_pointer_to_function(self, name: str) -> int:
        raise RuntimeError(f"{self.name}: called from kernels only, there is no machine code of it")


class LinkedLibrary(JITCodeLibrary):
    """Machine code that is loaded: of what Python calls."""

    def get_pointer_to_function(self, name: str) -> int:
        """The address of a function."""
        return int(self._codegen._engine.get_function_address(name))


def runtime_names() -> frozenset[str]:
    """Names of the functions of Numba's runtime; the optimiser knows them by name."""
    found = _RUNTIME.get(id(rtsys.library))
    if found is None:
        module = rtsys.library._get_module_for_linking()
        found = _RUNTIME[id(rtsys.library)] = frozenset(function.name for function in module.functions)
    return found


_RUNTIME: dict[int, frozenset[str]] = {}


def call_graph(root: KernelLibrary) -> list[KernelLibrary]:
    """A kernel and all it calls, callees first."""
    found: dict[KernelLibrary, None] = {}
    open_ = [(root, iter(root.callees.values()))]
    seen = {root}
    while open_:
        library, rest = open_[-1]
        callee = next(rest, None)
        if callee is None:
            found[library] = None
            open_.pop()
        elif callee not in seen:
            seen.add(callee)
            open_.append((callee, iter(callee.callees.values())))
    return list(found)


def link_names(libraries: Iterable[KernelLibrary]) -> dict[KernelLibrary, str]:
    """The name of each kernel's function where several are linked: its symbol, numbered where two share one."""
    names: dict[KernelLibrary, str] = {}
    taken: set[str] = set()
    for library in libraries:
        name, count = library.symbol, 0
        while name in taken:
            count += 1
            name = f"{library.symbol}.{count}"
        taken.add(name)
        names[library] = name
    return names


@global_compiler_lock
def joined(codegen: Any, libraries: Iterable[KernelLibrary], names: dict[KernelLibrary, str], start: Any = None) -> Any:
    """One module of several kernels and Numba's runtime."""
    module = start or ll.parse_assembly(str(codegen._create_empty_module("linked")))
    for library in libraries:
        part = ll.parse_bitcode(library.bitcode)
        for symbol, callee in library.callees.items():
            if names[callee] != symbol:
                part.get_function(symbol).name = names[callee]
        function = part.get_function(library.symbol)
        function.name = names[library]
        function.linkage = "external"
        module.link_in(part)
    module.link_in(rtsys.library._get_module_for_linking(), preserve=True)
    return module


@global_compiler_lock
def translated(codegen: Any, module: Any, exported: Iterable[str]) -> tuple[bytes, list[str]]:
    """A module as machine code, of which the process sees the exported names; and the names it needs of the process."""
    kept, codegen = set(exported), translator(codegen)
    library = JITCodeLibrary(codegen, "linked")
    module.data_layout = codegen._data_layout
    for function in module.functions:
        if not function.is_declaration and function.name not in kept:
            # as Numba marks callees: a copy of a function's body may be inlined, and the rest be dropped
            function.linkage = "linkonce_odr"
    library._final_module = module
    library._optimize_final_module()
    for function in module.functions:
        if not function.is_declaration and function.name not in kept:
            function.linkage = "internal"
    module.verify()
    needed = [value.name for values in (module.functions, module.global_variables) for value in values
              if value.is_declaration and not value.name.startswith("llvm.")]
    return bytes(codegen._tm.emit_object(module)), needed


class Unit:
    """Kernels that are translated together: a root, which others call by its name, and what only it sees."""

    def __init__(self, root: KernelLibrary, members: list[KernelLibrary], calls: list[KernelLibrary]) -> None:
        self.root = root
        self.members = members  # callees first; the root is the last
        self.calls = calls  # roots of other units
        self.key = digest([root.symbol, machine(), *sorted(f"{m.symbol} {m.key}" for m in members), "",
                           *sorted(call.symbol for call in calls)])

    def translate(self, codegen: Any) -> tuple[bytes, list[str]]:
        """The machine code of the unit, and the names it needs."""
        names = link_names([*self.members, *self.calls])
        return translated(codegen, joined(codegen, self.members, names), [self.root.symbol])


def units_of(root: KernelLibrary, size: int = UNIT_SIZE) -> list[Unit]:
    """The units of a call graph, callees first; the last is that of the root. One only where symbols are not unique."""
    graph = call_graph(root)
    if len({library.symbol for library in graph}) < len(graph):
        return [Unit(root, graph, [])]
    inside: dict[KernelLibrary, dict[KernelLibrary, None]] = {}  # what is translated with a kernel
    outside: dict[KernelLibrary, dict[KernelLibrary, None]] = {}  # the units it calls
    roots: dict[KernelLibrary, None] = {}
    for library in graph:
        near: dict[KernelLibrary, None] = {}
        far: dict[KernelLibrary, None] = {}
        for callee in library.callees.values():
            if callee in roots:
                far[callee] = None
            else:
                near |= inside[callee]
                far |= outside[callee]
        near[library] = None
        inside[library], outside[library] = near, far
        if library is root or not library.inlined and sum(len(member.bitcode) for member in near) > size:
            roots[library] = None
    reached = {root}
    for library in reversed(roots):  # callers first
        if library in reached:
            reached.update(outside[library])
    return [Unit(library, list(inside[library]), list(outside[library])) for library in roots if library in reached]
