"""What a kernel's code comes from, as a hash: bytecode, the constants it names, its options, and its callees' names.

A kernel is compiled without its callees' bodies (`compiled/library.py`), so of a callee only the name, the parameters
and the type it returns matter; the type is checked where a cached kernel is read. An edit of a kernel's body thus
leaves its callers alone, and an edit of a comment, a docstring or another function leaves everything alone. What is
linked is named by the hashes of all kernels that can be reached.

A value that has no spelling (an object of a kind not known here) makes a key that no other process will find: such a
kernel compiles in every process, and is never stale.
"""

from __future__ import annotations

import dis
import enum
import functools
import hashlib
import types as python
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numba import types
from numba.core import config
from numba.core.dispatcher import Dispatcher
from numba.extending import intrinsic

from sesshoku.compiled.shipped import versions
from sesshoku.compiled.target import host, processor

#: packages whose functions and constants are told by their names: their versions are in every key
KNOWN = ("builtins", "math", "operator", "numpy", "numba", "llvmlite")
#: files of this folder that decide what a kernel is compiled to
COMPILER = ("indices.py", "keys.py", "kernel.py", "library.py", "table.py")
Intrinsic = type(intrinsic(lambda typing_context: None))


class Content:
    """What one function is made of."""

    def __init__(self, key: str, kernels: tuple[Any, ...], shared: bool) -> None:
        self.key = key  # hash of all that its code is made from
        self.kernels = kernels  # kernels it names
        self.shared = shared  # False: another process cannot know the key


def digest(parts: Iterable[str]) -> str:
    """Hash of several texts; where one ends and the next begins matters."""
    sha = hashlib.sha256()
    for part in parts:
        text = part.encode("utf-8", "surrogatepass")
        sha.update(len(text).to_bytes(8, "little") + text)
    return sha.hexdigest()[:40]


@functools.cache
def _compiler_sources() -> str:
    return digest((Path(__file__).parent / name).read_text("utf-8") for name in COMPILER)


def environment() -> str:
    """All that decides the bitcode of a kernel besides its own content: versions, kind of machine, settings."""
    settings = (config.BOUNDSCHECK, config.OPT, config.LOOP_VECTORIZE, config.SLP_VECTORIZE, config.DEBUGINFO_DEFAULT,
                config.LLVM_REFPRUNE_PASS, config.LLVM_REFPRUNE_FLAGS, config.FULL_TRACEBACKS, config.USING_SVML)
    return _environment(tuple(map(str, settings)))


@functools.cache
def _environment(settings: tuple[str, ...]) -> str:
    return digest([*versions().values(), host().triple, *settings, _compiler_sources()])


@functools.cache
def machine() -> str:
    """What machine code depends on besides: the processor it is for."""
    return digest([processor().name, processor().features])


def is_kernel(value: Any) -> bool:
    """Whether this is a kernel of `sesshoku.compiled.kernel` (which imports this module)."""
    return isinstance(value, Dispatcher) and hasattr(type(value), "content")


def is_local(function: Any) -> bool:
    """Whether a function is told by its content only: several may share module and name."""
    return function.__closure__ is not None or "<" in function.__qualname__ or function.__module__ == "__main__"


def name_of(function: Any) -> str:
    """Module and name of a function."""
    return f"{function.__module__}:{function.__qualname__}"


def type_text(type_: types.Type) -> str:
    """A Numba type as text; two types of one text are the same type, in every process."""
    text = str(type_)
    if isinstance(type_, types.Callable | types.BaseFunction) or " at 0x" in text:
        return f"{text} {uuid.uuid4()}"
    return f"{type(type_).__name__} {text}"


def content_of(function: Any, options: dict[str, Any]) -> Content:
    """The content of a kernel's Python function under the options of its decorator."""
    speller = _Speller()
    text = speller.function(function)
    chosen = [f"{name}={speller.value(value)}" for name, value in sorted(options.items())]
    return Content(digest([name_of(function), text, *chosen]), tuple(speller.kernels), speller.shared)


class _Speller:
    """Turns what a function names into text, and collects the kernels among it."""

    def __init__(self) -> None:
        self.kernels: list[Any] = []
        self.shared = True
        self._open: list[Any] = []  # functions on the way: one that names itself is told by its name

    def function(self, function: Any) -> str:
        """The code of a function and the values of the names it uses."""
        if any(function is other for other in self._open):
            return f"again {name_of(function)}"
        self._open.append(function)
        parts = [self._code(function.__code__, function.__doc__), self.value(function.__defaults__),
                 self.value(function.__kwdefaults__)]
        space = function.__globals__
        for name in sorted({name for code in _codes(function.__code__) for name in code.co_names if name in space}):
            parts += [name, self._named(function, name, space[name])]
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            try:
                parts += [name, self._named(function, name, cell.cell_contents)]
            except ValueError:  # a cell that holds nothing yet
                parts += [name, "empty"]
        self._open.pop()
        return digest(parts)

    def _code(self, code: python.CodeType, doc: str | None) -> str:
        constants = list(code.co_consts)
        if doc is not None and constants and constants[0] == doc:
            constants[0] = None  # a docstring is no code
        parts = [code.co_code.hex(), *code.co_names, "", *code.co_varnames, "", *code.co_freevars, ""]
        parts += [*code.co_cellvars, str((code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount))]
        parts += [str(code.co_flags), getattr(code, "co_exceptiontable", b"").hex()]
        parts += [self._code(c, None) if isinstance(c, python.CodeType) else self.value(c) for c in constants]
        return digest(parts)

    def _named(self, function: Any, name: str, value: Any) -> str:
        """The value of a name; of modules and classes what the function takes from them."""
        if isinstance(value, python.ModuleType | type) and not _is_known(value):
            taken = []
            for path in sorted({path for code in _codes(function.__code__) for path in _paths(code, name)}):
                found: Any = value
                for step in path:
                    found = getattr(found, step, None)
                    if not isinstance(found, python.ModuleType | type):
                        break
                taken.append(f"{'.'.join(path)}={self.value(found)}")
            return digest([self.value(value), *taken])
        return self.value(value)

    def value(self, value: Any) -> str:
        """A value as text that is the same in every process."""
        if value is None or value is Ellipsis or isinstance(value, bool | int | float | complex | str | bytes):
            if isinstance(value, enum.Enum):
                return f"{type(value).__module__}.{type(value).__qualname__}.{value.name}={self.value(value.value)}"
            return f"{type(value).__name__} {value!r}"
        if isinstance(value, tuple | list):
            return f"{type(value).__qualname__} {digest(self.value(item) for item in value)}"
        if isinstance(value, set | frozenset):
            return f"set {digest(sorted(self.value(item) for item in value))}"
        if isinstance(value, dict):
            return f"dict {digest(self.value(item) for pair in value.items() for item in pair)}"
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            data = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
            return f"array {value.dtype.str} {value.shape} {value.flags.c_contiguous} {data}"
        if isinstance(value, np.generic):
            return f"{value.dtype.str} {value.tobytes().hex()}"
        if isinstance(value, types.Type):
            return type_text(value)
        if isinstance(value, Dispatcher):
            return self._dispatcher(value)
        if isinstance(value, Intrinsic):
            return f"intrinsic {self.function(value._defn)}"
        return self._object(value)

    def _dispatcher(self, value: Any) -> str:
        function = value.py_func
        if not is_kernel(value):  # of Numba's own decorator: linked whole, with the kernels it calls
            before, text = len(self.kernels), self.function(function)
            inside = {kernel.content for called in self.kernels[before:] for kernel in called.reached()}
            self.shared = self.shared and all(content.shared for content in inside)
            options = self.value(dict(value.targetoptions))
            return f"dispatcher {options} {text} {digest(sorted(content.key for content in inside))}"
        self.kernels.append(value)
        if value.targetoptions.get("inline", "never") != "never":  # becomes part of the function that names it
            return f"inlined {self.function(function)}"
        if any(function is other for other in self._open):
            return f"itself {name_of(function)}"
        if is_local(function):
            self.shared = self.shared and value.content.shared
            return f"kernel {value.content.key}"
        parameters = function.__code__.co_varnames[:function.__code__.co_argcount]
        return f"kernel {name_of(function)} {value.tag} {parameters} {self.value(function.__defaults__)}"

    def _object(self, value: Any) -> str:
        if isinstance(value, enum.Enum):
            return f"{type(value).__module__}.{type(value).__qualname__}.{value.name}"
        if isinstance(value, python.ModuleType):
            return f"module {value.__name__}"
        if isinstance(value, type):
            layout = getattr(value, "type_name", "")  # of a record
            return f"class {value.__module__}.{value.__qualname__} {layout}"
        if _is_known(value):
            name = getattr(value, "__qualname__", None) or value.__name__
            return f"{getattr(value, '__module__', '')}.{name}"
        if isinstance(value, python.FunctionType):
            return f"function {self.function(value)}"
        self.shared = False
        return f"{type(value).__qualname__} {uuid.uuid4()}"


def _is_known(value: Any) -> bool:
    """Whether a module, class or function belongs to a package that is told by its version."""
    if isinstance(value, np.ufunc):
        return True
    name = value.__name__ if isinstance(value, python.ModuleType) else getattr(value, "__module__", None)
    if not isinstance(value, python.ModuleType | type | python.FunctionType | python.BuiltinFunctionType
                      | type(np.sum)):
        return False
    return isinstance(name, str) and name.split(".")[0] in KNOWN


def _codes(code: python.CodeType) -> Iterator[python.CodeType]:
    """A code object and those inside it (comprehensions, inner functions)."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, python.CodeType):
            yield from _codes(constant)


def _paths(code: python.CodeType, name: str) -> Iterator[tuple[str, ...]]:
    """The attributes that code takes of a name: `a.b.c` gives ("b", "c")."""
    path: list[str] | None = None
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_ATTR", "LOAD_METHOD") and path is not None:
            path.append(str(step.argval))
            continue
        if path:
            yield tuple(path)
        path = [] if step.opname.startswith("LOAD") and step.argval == name else None
    if path:
        yield tuple(path)
