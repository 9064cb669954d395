"""Loads before stores: the order of a kernel's instructions for a GPU.

A thread of a GPU waits some hundred cycles for a number from memory, but several loads may be on their way at once. In
`a[i] -= f * b[i]; a[i + 1] -= f * b[i + 1]` the second pair could be loaded with the first, if only the compiler knew
that a store to `a` leaves `b` alone. Arrays of different fields of records never overlap, and what is shared between
worlds is never written. So pointers to fields carry the number of their field (`compiled/gpu/tiles.py`), as an address
space, and here, where most calls are inlined, the instructions between two calls or branches are put into another
order: loads as early as their addresses are known and no store of the same field stands before them.

All this is on LLVM's text of a module: the binding that Numba brings has no instructions to move.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

FIRST, LAST = 8, 255  # numbers of fields; below are a card's own address spaces, above those of some CPUs
WINDOW = 72  # instructions that change places among each other, at most: each load that is early keeps a register

_NAME = re.compile(r'%(?:"[^"]*"|[\w.$-]+)')
_DEFINES = re.compile(r'\s*(%(?:"[^"]*"|[\w.$-]+)) = (?:tail |musttail |notail )?(\w+)')
_SPACE = re.compile(r"addrspace\((\d+)\)")
_POINTER = re.compile(r'ptr (?:addrspace\((\d+)\) )?(%(?:"[^"]*"|[\w.$-]+))')
_TOUCHED = re.compile(r', ptr (?:addrspace\((\d+)\) )?([%@](?:"[^"]*"|[\w.$-]+))')
_INCOMING = re.compile(r'\[ (%(?:"[^"]*"|[\w.$-]+)|\w+), ')
_CALLED = re.compile(r"@(llvm\.\w+)")
_NO_MEMORY = frozenset(f"llvm.{name}" for name in (
    "abs", "ceil", "copysign", "ctlz", "ctpop", "cttz", "fabs", "floor", "fma", "fmuladd", "fshl", "fshr", "is",
    "ldexp", "maximum", "maximumnum", "maxnum", "minimum", "minimumnum", "minnum", "nearbyint", "rint", "round", "smax",
    "smin", "sqrt", "trunc", "umax", "umin"))
_FIXED = ("alloca", "phi", "call", "invoke", "fence", "cmpxchg", "atomicrmw", "va_arg", "landingpad")
_ENDS = ("br", "ret", "switch", "unreachable", "indirectbr", "resume")


def number_of(record: str, name: str, shared: bool) -> int:
    """The number of a field: even where all worlds share it. Two may have one: they are then taken to overlap."""
    place = sum((n + 1) * byte for n, byte in enumerate(f"{record}.{name}".encode())) % ((LAST - FIRST) // 2)
    return FIRST + 2 * place + (0 if shared else 1)


@dataclass
class Instruction:
    """A line of a block: what it defines, what it needs, and what memory it touches."""

    text: str
    name: str = ""
    needs: list[str] = field(default_factory=list)
    loads: bool = False
    stores: bool = False
    place: int = 0  # the field; 0: unknown
    depth: int = 0  # loads that it waits for, one after the other


def early_loads(module: str, window: int = WINDOW) -> str:
    """The text of an optimised module with loads in front, and fields in a card's memory.

    window: instructions that change places among each other, at most.
    """
    text = re.sub(r"^(\d+):", r"v\1:", re.sub(r"%(\d+)\b", r"%v\1", module), flags=re.M)
    empty = max((int(number) for number in re.findall(r"^!(\d+) =", text, re.M)), default=-1) + 1
    lines, inside, made = text.split("\n"), False, list[str]()
    body: list[str] = []
    for line in lines:
        if inside:
            if line == "}":
                made += _function(body[1:] if re.match(r'["\w.$-]+:', body[1]) else body, empty, window)
                made.append(line)
                inside = False
            else:
                body.append(line)
        else:
            made.append(line)
            if line.startswith("define "):  # a first block without a name is numbered behind the parameters
                inside, body = True, [f"v{len(re.findall(r'%v[0-9]+', line))}:"]
    text = "\n".join([*made, f"!{empty} = !{{}}", ""])
    return _SPACE.sub(lambda found: "addrspace(1)" if int(found[1]) >= FIRST else found[0], text)


def _function(body: list[str], empty: int, window: int) -> list[str]:
    places = _Places(body)
    made: list[str] = []
    run: list[Instruction] = []

    def flush() -> None:
        made.extend(instruction.text for instruction in _ordered(run))
        run.clear()

    for line in body:
        found = _read(line, places)
        if found is None:
            flush()
            made.append(line)
            continue
        if window and found.loads and found.place and found.place % 2 == 0 and "!invariant.load" not in line:
            found.text += f", !invariant.load !{empty}"
        if not window:
            made.append(line)
            continue
        run.append(found)
        if len(run) == window:
            flush()
    flush()
    return made


def _read(line: str, places: _Places) -> Instruction | None:
    """A line as an instruction that may change its place; None where it may not."""
    defines = _DEFINES.match(line)
    operation = defines[2] if defines else line.split(None, 1)[0] if line.strip() else ""
    if not operation or not line.startswith("  ") or line.startswith("    "):
        return None
    if operation in ("call", "tail") or " call " in line[:60]:
        called = _CALLED.search(line)
        if called is None or called[1] not in _NO_MEMORY:
            return None
    elif operation in _FIXED or operation in _ENDS or (not defines and operation != "store"):
        return None
    if " volatile " in line or " atomic " in line:
        return None
    name = defines[1] if defines else ""
    found = Instruction(line, name, [n for n in _NAME.findall(line) if n != name])
    found.loads, found.stores = operation == "load", operation == "store"
    if found.loads or found.stores:
        space, pointer = _TOUCHED.findall(line)[-1]
        found.place = int(space) if space and int(space) >= FIRST else places.of(pointer)
        if found.loads and "!invariant.load" in line:
            found.place = FIRST  # a table: nobody writes to it
    return found


class _Places:
    """Which field a pointer of a function points into."""

    def __init__(self, body: list[str]) -> None:
        self._lines = {found[1]: (found[2], line) for line in body if (found := _DEFINES.match(line))}
        self._known: dict[str, int] = {}

    def of(self, pointer: str) -> int:
        """The field's number; 0: unknown, or of several."""
        if pointer not in self._known:
            found = self._roots(pointer, set())
            self._known[pointer] = found.pop() if len(found) == 1 else 0
        return self._known[pointer]

    def _roots(self, pointer: str, seen: set[str]) -> set[int]:
        open_, found = [pointer], set[int]()
        while open_:
            name = open_.pop()
            if name in seen:
                continue
            seen.add(name)
            operation, line = self._lines.get(name, ("", ""))
            if operation == "addrspacecast":
                space = _SPACE.search(line)
                found.add(int(space[1]) if space and int(space[1]) >= FIRST else 0)
            elif operation == "getelementptr":
                base = _TOUCHED.findall(line)[0]
                if base[0]:
                    found.add(int(base[0]) if int(base[0]) >= FIRST else 0)
                else:
                    open_.append(base[1])
            elif operation == "phi":
                open_ += _INCOMING.findall(line)
            elif operation == "select":
                open_ += [pointer_ for _, pointer_ in _POINTER.findall(line)]
            else:
                found.add(0)
        return found


def _ordered(run: list[Instruction]) -> list[Instruction]:
    """Instructions without a branch or call between them, in an order that has loads early."""
    if sum(instruction.loads for instruction in run) < 2 or not any(instruction.stores for instruction in run):
        return run
    index = {instruction.name: n for n, instruction in enumerate(run) if instruction.name}
    after: list[list[int]] = []
    for n, instruction in enumerate(run):
        earlier = [index[name] for name in instruction.needs if name in index and index[name] < n]
        if instruction.loads and not (instruction.place and instruction.place % 2 == 0):
            earlier += [m for m in range(n) if run[m].stores and _may_meet(run[m], instruction)]
        elif instruction.stores:
            earlier += [m for m in range(n) if (run[m].stores or run[m].loads) and _may_meet(run[m], instruction)]
        instruction.depth = max((run[m].depth + run[m].loads for m in earlier), default=0)
        after.append(earlier)
    made: list[int] = []
    done = [False] * len(run)

    def emit(n: int) -> None:
        """An instruction behind all that it needs."""
        if not done[n]:
            done[n] = True
            for m in after[n]:
                emit(m)
            made.append(n)

    for depth in range(max(instruction.depth for instruction in run) + 1):
        for loads in (True, False):
            for n, instruction in enumerate(run):
                if instruction.depth == depth and (instruction.loads or not loads):
                    emit(n)
    return [run[n] for n in made]


def _may_meet(one: Instruction, other: Instruction) -> bool:
    """Whether two accesses may be of the same number."""
    return not one.place or not other.place or one.place == other.place
