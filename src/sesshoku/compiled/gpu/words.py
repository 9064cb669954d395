"""Numbers at bare addresses, for the bodies of a card's kernels (`compiled/gpu/stages.py`)."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array


@intrinsic
def load_word(typing_context, address):  # type: ignore[no-untyped-def]
    """The int64 at an address."""

    def lower(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.load(builder.inttoptr(arguments[0], ir.IntType(64).as_pointer(1)), typ=ir.IntType(64), align=8)

    return types.int64(types.int64), lower


@intrinsic
def store_word(typing_context, address, word):  # type: ignore[no-untyped-def]
    """Put an int64 at an address."""

    def lower(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        builder.store(arguments[1], builder.inttoptr(arguments[0], ir.IntType(64).as_pointer(1)), align=8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), lower


@intrinsic
def matrix_at(typing_context, address, rows, columns):  # type: ignore[no-untyped-def]
    """The rows x columns float64 numbers at an address, row by row."""
    array_type = types.Array(types.float64, 2, "C")

    def lower(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        place, item = arguments[0], ir.Constant(ir.IntType(64), 8)
        element = ir.DoubleType()
        data = builder.addrspacecast(builder.inttoptr(place, element.as_pointer(1)), element.as_pointer())
        struct = make_array(array_type)(context, builder)
        populate_array(struct, data=data, shape=arguments[1:], strides=[builder.mul(item, arguments[2]), item],
                       itemsize=item, meminfo=None)
        return struct._getvalue()

    return array_type(types.int64, types.int64, types.int64), lower
