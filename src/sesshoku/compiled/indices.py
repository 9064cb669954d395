"""A pass of the front end: kernels index arrays from the front.

Python counts a negative index from the end. Numba therefore compares every index with zero and adds the length where it
is below, unless its type says that it cannot be. No kernel of ours counts from the end, so that all indices of arrays
are handed over as unsigned: shorter code, compiled sooner. Where bounds are checked (NUMBA_BOUNDSCHECK=1) an index
below zero is an IndexError. A literal such as `row[-1]` means what it says.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import ir
from numba.core.compiler_machinery import FunctionPass, register_pass


def unsigned(index: Any) -> Any:
    """The type of an index with its integers unsigned; slices, and whatever else it has, as they are."""
    if isinstance(index, types.Integer) and not isinstance(index, types.Boolean):
        return types.uintp if index.signed and index.bitwidth == types.intp.bitwidth else index
    if isinstance(index, types.BaseTuple):
        return types.BaseTuple.from_types([unsigned(part) for part in index])
    return index


def counts_from_end(index: Any) -> bool:
    """Whether a literal index has a negative part."""
    parts = index if isinstance(index, tuple) else (index,)
    return any(isinstance(part, int) and part < 0 for part in parts)


@register_pass(mutates_CFG=False, analysis_only=False)
class UnsignedIndices(FunctionPass):
    """Change the types by which getitem and setitem take their indices."""

    _name = "sesshoku_unsigned_indices"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        for block in state.func_ir.blocks.values():
            for statement in block.body:
                node = statement.value if isinstance(statement, ir.Assign) else statement
                literal = isinstance(node, ir.StaticSetItem) or (isinstance(node, ir.Expr)
                                                                 and node.op == "static_getitem")
                if not (literal or isinstance(node, ir.SetItem) or (isinstance(node, ir.Expr)
                                                                    and node.op == "getitem")):
                    continue
                signature = state.calltypes.get(node)
                if signature is None or not isinstance(signature.args[0], types.Array):
                    continue
                if literal and counts_from_end(node.index):
                    continue
                index = unsigned(types.unliteral(signature.args[1]))
                changed = signature.replace(args=(signature.args[0], index, *signature.args[2:]))
                dict.__setitem__(state.calltypes, node, changed)  # the table takes a key only once otherwise
        return True
