"""Part of a flat array as a matrix: what kernels use in place of `.reshape`, which needs numbers side by side."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

if config.DISABLE_JIT:

    def as_matrix(flat: Any, rows: int, columns: int) -> Any:
        """The first rows x columns numbers of a flat array, row by row; they stay where they are."""
        return flat[: rows * columns].reshape((rows, columns))

else:

    @intrinsic
    def as_matrix(typing_context, flat, rows, columns):  # type: ignore[no-untyped-def]
        """The first rows x columns numbers of a flat array, row by row; they stay where they are."""

        def lower(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            source = make_array(signature.args[0])(context, builder, value=arguments[0])
            step = cgutils.unpack_tuple(builder, source.strides, 1)[0]
            matrix = make_array(signature.return_type)(context, builder)
            populate_array(matrix, data=source.data, shape=[arguments[1], arguments[2]],
                           strides=[builder.mul(step, arguments[2]), step], itemsize=source.itemsize, meminfo=None)
            return matrix._getvalue()

        return types.Array(flat.dtype, 2, flat.layout)(flat, types.int64, types.int64), lower
