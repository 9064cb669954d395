"""Records of many worlds in tiles of 32: neighbouring worlds have neighbouring numbers.

A GPU reads fast where the threads of a warp read side by side, and each thread steps a world. So element e of an array
of world w lies at `base + (w // 32) * tile + (e * 32 + w % 32) * 8`: from one element to the next it is 256 bytes,
whatever the number of worlds, and compiled code knows that. Kernels are written for records and do not notice: they are
compiled once more, for arrays with that stride. The same code runs on a CPU (tests) and on a GPU (`ptx.py`).

A record is then its table (`compiled/table.py`) and two offsets, of the world's numbers in two blocks of memory:
    own     what each world keeps from step to step: fields that are saved, and those a `Layout` names
    work    what a step fills before it reads it
The model is shared by all worlds, but for fields a layout names: whether and how these differ between worlds stands in
the table (`extra`), so that one compiled kernel serves batches whatever varies in them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, register_model
from numba.np.arrayobj import make_array, populate_array

from sesshoku.compiled.gpu.loads import number_of
from sesshoku.compiled.table import _FIELDS, Field, Record

TILE = 32  # worlds side by side: the threads of a warp
WORD = 8  # bytes of an element
STRIDE = WORD * TILE  # bytes from an element to the next
SHARED, VARIED, OWN, WORK = "shared", "varied", "own", "work"
GLOBAL = 1  # the address space of a GPU's memory; a CPU has one for all

I64 = ir.IntType(64)
#: bump it where code for tiles changes: part of the type's name, and so of every key in the store
VERSION = 3


class TiledType(types.Type):
    """The Numba type of a record of one world among tiles.

    own: fields of it and of records within ("bodies.mass") that worlds own though a saved state does not hold them. Of
    a shared record: fields that may differ between worlds.
    """

    def __init__(self, record_name: str, shared: bool, own: tuple[str, ...]) -> None:
        self.record_name, self.shared, self.own = record_name, shared, own
        saved = [name for name, field in self.fields.items() if field.saved]
        digest = hashlib.sha256(repr((shared, own, saved)).encode()).hexdigest()[:8]  # all that `kind` goes by
        super().__init__(name=f"Tiled({record_name},{digest},{VERSION})")

    @property
    def fields(self) -> dict[str, Field]:
        return _FIELDS[self.record_name]

    def kind(self, name: str) -> str:
        """Where an array lies."""
        if self.shared:
            return VARIED if name in self.own else SHARED
        return OWN if self.fields[name].saved or name in self.own else WORK

    def within(self, name: str) -> TiledType:
        """The type of a record within."""
        own = tuple(path.partition(".")[2] for path in self.own if path.startswith(f"{name}."))
        return TiledType(self.fields[name].dtype.type_name, self.shared, own)

    def extra(self, name: str) -> int:
        """Where the table has a mask of the world's offset (0: all share it) and the stride of a field that varies."""
        fields = self.fields
        end = sum(1 + max(field.ndim, 0) for field in fields.values())
        return end + 2 * [n for n in fields if n in self.own].index(name)

    @property
    def entries(self) -> int:
        """Length of the table."""
        end = sum(1 + max(field.ndim, 0) for field in self.fields.values())
        return end + (2 * sum(name in self.own for name in self.fields) if self.shared else 0)

    def array_type(self, name: str) -> types.Type:
        """The type of a field."""
        field = self.fields[name]
        if field.is_record:
            return self.within(name)
        if field.extents is None or self.kind(name) == SHARED:
            return field.numba_type
        return types.Array(field.numba_type.dtype, field.ndim, "A")


class _TiledModel(models.StructModel):
    def __init__(self, manager: Any, type_: Any) -> None:
        super().__init__(manager, type_, [("table", types.int64), ("own", types.int64), ("work", types.int64)])


register_model(TiledType)(_TiledModel)


@infer_getattr
class _TiledAttribute(AttributeTemplate):
    key = TiledType

    def generic_resolve(self, record_type: TiledType, attribute: str) -> types.Type | None:
        return record_type.array_type(attribute) if attribute in record_type.fields else None


@lower_getattr_generic(TiledType)
def _lower_field(context: Any, builder: Any, record_type: TiledType, value: Any, attribute: str) -> Any:
    field, kind = record_type.fields[attribute], record_type.kind(attribute)
    record = cgutils.create_struct_proxy(record_type)(context, builder, value=value)
    table = builder.inttoptr(record.table, I64.as_pointer(GLOBAL))

    def entry(slot: int) -> Any:
        """A table never changes while code runs that reads it."""
        load = builder.load(builder.gep(table, [ir.Constant(I64, slot)], source_etype=I64), typ=I64)
        load.set_metadata("invariant.load", builder.module.add_metadata([]))
        return load

    if field.is_record:
        inner = cgutils.create_struct_proxy(record_type.within(attribute))(context, builder)
        inner.table, inner.own, inner.work = entry(field.slot), record.own, record.work
        return inner._getvalue()
    if field.extents is None:
        number = entry(field.slot)
        return builder.bitcast(number, ir.DoubleType()) if field.dtype is float else number
    array_type = record_type.array_type(attribute)
    # an extent that is declared as a number is one in the code: strides then cost nothing
    shape = [ir.Constant(I64, extent) if isinstance(extent, int) else entry(field.slot + 1 + axis)
             for axis, extent in enumerate(field.extents)]
    address, step = entry(field.slot), ir.Constant(I64, WORD if kind == SHARED else STRIDE)
    if kind == VARIED:
        extra = record_type.extra(attribute)
        address, step = builder.add(address, builder.and_(record.own, entry(extra))), entry(extra + 1)
    elif kind != SHARED:
        address = builder.add(address, record.own if kind == OWN else record.work)
    strides = [step]
    for extent in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], extent))
    element = context.get_data_type(array_type.dtype)
    place = number_of(record_type.record_name, attribute, record_type.shared)
    data = builder.addrspacecast(builder.inttoptr(address, element.as_pointer(place)), element.as_pointer())
    struct = make_array(array_type)(context, builder)
    populate_array(struct, data=data, shape=shape, strides=strides, itemsize=ir.Constant(I64, WORD), meminfo=None)
    return struct._getvalue()


def tiled_viewer(record_type: TiledType) -> Callable[..., Any]:
    """The function `view(table, own, work)`, three whole numbers: the record of a world inside compiled code."""

    @intrinsic
    def view(typing_context, table, own, work):  # type: ignore[no-untyped-def]
        def lower(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            record = cgutils.create_struct_proxy(record_type)(context, builder)
            record.table, record.own, record.work = arguments
            return record._getvalue()

        return record_type(types.int64, types.int64, types.int64), lower

    return view


def tiled_type(record: type[Record], shared: bool = False, own: tuple[str, ...] = ()) -> TiledType:
    """The type of a record class in tiles."""
    return TiledType(record.type_name, shared, tuple(sorted(own)))

