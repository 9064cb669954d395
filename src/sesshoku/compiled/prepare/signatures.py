"""For which argument types kernels are compiled: known beforehand, so that they need not wait for their callers.

The types of a kernel's arguments are found where a caller is compiled, and the caller needs the type its callee
returns: alone, the front end goes down the call graph one kernel at a time. `signatures.json` lists the types of every
kernel of the methods, so that processes can compile kernels side by side, callees first. The list is a hint: a kernel
that is missing is compiled when its caller is, and one that is listed wrongly costs its compilation. It is written anew
by `python -m sesshoku.methods.signatures`.
"""

from __future__ import annotations

import functools
import importlib
import json
from pathlib import Path
from typing import Any

from numba import types

from sesshoku.compiled.table import Record, RecordType

FILE = Path(__file__).with_name("signatures.json")
PLAIN = {name: getattr(types, name) for name in ("float64", "int64", "boolean", "none")}


@functools.cache
def _record_class(type_name: str) -> type[Record] | None:
    open_ = [Record]
    while open_:
        found = open_.pop()
        if found.type_name == type_name:
            return found
        open_ += found.__subclasses__()
    return None


def spelled(type_: types.Type) -> Any:
    """A type as JSON that means the same in another process and after an edit of a record's fields; None: it cannot."""
    if type_ in PLAIN.values():
        return str(type_) if str(type_) in PLAIN else next(name for name, plain in PLAIN.items() if plain == type_)
    if isinstance(type_, RecordType):
        record = _record_class(type_.record_name)
        return None if record is None or "<" in record.__qualname__ else f"{record.__module__}:{record.__qualname__}"
    if isinstance(type_, types.Array) and type_ == types.Array(type_.dtype, type_.ndim, type_.layout):
        element = spelled(type_.dtype)
        return None if element is None else ["array", element, type_.ndim, type_.layout]
    if isinstance(type_, types.BaseTuple) and not isinstance(type_, types.BaseNamedTuple):
        parts = [spelled(part) for part in type_]
        return None if None in parts else ["tuple", *parts]
    if isinstance(type_, types.Omitted) and isinstance(type_.value, bool | int | float):
        return ["omitted", type_.value]
    return None


def read_type(text: Any) -> types.Type:
    """The type that `spelled` wrote."""
    if isinstance(text, str):
        if text in PLAIN:
            return PLAIN[text]
        module, _, name = text.partition(":")
        return RecordType(getattr(importlib.import_module(module), name).type_name)
    kind, *rest = text
    if kind == "array":
        return types.Array(read_type(rest[0]), rest[1], rest[2])
    if kind == "omitted":
        return types.Omitted(rest[0])
    return types.BaseTuple.from_types(tuple(map(read_type, rest)))


def spelled_all(args: Any) -> Any:
    """The types of all arguments, or None."""
    found = [spelled(argument) for argument in args]
    return None if None in found else found


def find_kernel(name: str) -> Any:
    """The kernel of a name "module:function"."""
    module, _, function = name.partition(":")
    found: Any = importlib.import_module(module)
    for part in function.split("."):
        found = getattr(found, part)
    return found


@functools.cache
def listed() -> dict[str, list[Any]]:
    """Kernel -> lists of argument types, as in the file; empty where there is none."""
    try:
        read = json.loads(FILE.read_text("utf-8"))
        table = read["types"]
        return {name: [[table[n] for n in args] for args in found] for name, found in read["kernels"].items()}
    except (OSError, ValueError, KeyError, IndexError):
        return {}


def write(kernels: dict[str, list[Any]], path: Path = FILE) -> None:
    """Write the file: every type once, kernels by name."""
    table: dict[str, int] = {}
    lines = []
    for name, found in sorted(kernels.items()):
        numbered = [[table.setdefault(json.dumps(part), len(table)) for part in args] for args in found]
        lines.append(f"{json.dumps(name)}: {json.dumps(numbered, separators=(',', ':'))}")
    text = '{"types": [\n' + ",\n".join(table) + '\n],\n"kernels": {\n' + ",\n".join(lines) + "\n}}\n"
    path.write_text(text, "utf-8")


def found_in(entries: list[tuple[Any, Any]]) -> dict[str, list[Any]]:
    """The signatures of all kernels that entries (kernel, argument types) call."""
    kernels: dict[str, list[Any]] = {}
    for entry, entry_args in entries:
        entry.resolve(entry_args)
        for kernel in entry.reached():
            name = f"{kernel.py_func.__module__}:{kernel.py_func.__qualname__}"
            for args in kernel._resolved:
                text = spelled_all(args)
                if text is not None and text not in kernels.setdefault(name, []):
                    kernels[name].append(text)
    return {name: sorted(found, key=json.dumps) for name, found in kernels.items() if found}
