"""Records of arrays that compiled code takes as one pointer.

A kernel of this package reads `model.link_mass` or `data.mass_matrix`, and a model has some sixty such arrays. Handing
them over one by one costs microseconds per call, and a named tuple of them costs half a minute of compilation
(docs/decisions/0002). So a `Record` keeps, beside its arrays, one int64 **table**: for each field the address of its
data and its shape. Compiled code sees the record as a pointer to that table, and `record.field` becomes the few loads
that rebuild the array, only for the fields a kernel names.

    class Data(Record):
        mass = array(float, "L", 6)                # a field: element type and extents, named or numbers
        force = array(float, "L", 3, saved=True)   # part of a saved state: finite, or it is not taken back
        order = array(int, "L + 1", saved=True, within=(0, "L"))  # names may stand in sums and products
        count = scalar()                           # an integer, fixed when the record is built
        tolerance = scalar(float)                  # a number, the same
        contacts = part(Contacts)                  # a record within the record

    data = Data.sized({"L": 12}, count=3, tolerance=1e-9, contacts=contacts)     # allocates itself, zeros
    data.saved()                       # the arrays of a saved state: "force", "order", "contacts.id", ...

A name stands for one size within a record: arrays that are given, not allocated, are checked against it. What a saved
state may hold is declared beside it, and checked by value when one comes back (`compiled/checks.py`).
    as_data = viewer(Data)

    @jit
    def total(data): ...               # called from kernels, or from Python with the record (tests)

    @jit
    def entry(table):                  # called from Python with data.table: the cheapest thing Numba can unbox
        return total(as_data(table))

Bind fields to local names at the top of a kernel: each mention of `record.field` reads the table again.
The record owns its arrays; whoever holds a table must hold the record. With JIT disabled `table` is the record itself.
"""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import config
from numba.core.datamodel import models
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np.arrayobj import make_array, populate_array


@dataclass(frozen=True)
class Field:
    """One entry of a record: an array of float64 or int64 with its extents, a number, or another record."""

    dtype: Any  # float, int, or the class of a record
    extents: tuple[str | int, ...] | None  # of an array; None: a number or a record
    saved: bool = False  # part of a saved state
    within: tuple[Any, Any] | None = None  # smallest and largest value that a saved state may hold
    finite: bool = True  # whether its saved numbers must be
    unit: bool = False  # whether its saved rows must have length one
    slot: int = -1  # where in the table the address (the number, the record's table) stands; an array's shape follows

    @property
    def ndim(self) -> int:
        """Number of dimensions; -1: not an array."""
        return -1 if self.extents is None else len(self.extents)

    @property
    def is_record(self) -> bool:
        return self.dtype not in (float, int)

    @property
    def element(self) -> np.dtype[Any]:
        return np.dtype(np.float64 if self.dtype is float else np.int64)

    @property
    def numba_type(self) -> types.Type:
        if self.is_record:
            return RecordType(self.dtype.type_name)
        element = types.float64 if self.dtype is float else types.int64
        return element if self.extents is None else types.Array(element, len(self.extents), "C")

    def layout(self) -> tuple[Any, ...]:
        """What compiled code depends on."""
        return self.dtype.type_name if self.is_record else self.dtype.__name__, self.ndim, self.slot


#: bounds of a saved counter that nothing is indexed by: an id, an age; and of a saved integer that may be any
COUNTER, ANY = (0, 2**62), (-(2**63), 2**63 - 1)


def array(dtype: type, *extents: str | int, saved: bool = False, within: tuple[Any, Any] | None = None,
          finite: bool = True, unit: bool = False) -> Any:
    """Declare an array field of float64 (`float`) or int64 (`int`) elements: its extents, named or numbers.

    saved: part of a saved state. Integers of one must say between which bounds they lie: numbers, or sums and products
    of extents, of the record's scalars and of the model's; a tuple of bounds: one for each place along the last axis.
    Floats of one are finite, unless finite=False. unit: its rows are unit vectors.
    """
    if dtype not in (float, int) or not extents or not all(isinstance(extent, (str, int)) for extent in extents):
        raise TypeError(f"array({dtype!r}, {extents}): declare float or int elements and at least one extent")
    for extent in extents:
        _words(extent)  # raises SyntaxError for what is no sum or product
    if saved and dtype is int and within is None:
        raise TypeError(f"array({dtype!r}, {extents}): a saved integer must say its range, within=(lowest, highest)")
    return Field(dtype, extents, saved, within, finite, unit)


def scalar(dtype: type = int) -> Any:
    """Declare a number that never changes after the record is built: a count, an option."""
    if dtype not in (float, int):
        raise TypeError(f"scalar({dtype!r}): declare float or int")
    return Field(dtype, None)


def part(record: type[Record]) -> Any:
    """Declare a record within the record."""
    return Field(record, None)


_FIELDS: dict[str, dict[str, Field]] = {}  # name of a record's Numba type -> its fields; read while compiling


class Record:
    """Base of the records; subclasses declare fields with `array`, `scalar` and `part`."""

    fields: ClassVar[dict[str, Field]] = {}
    type_name: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        base: Any = cls.__base__
        fields, slot = dict(base.fields), 0
        fields |= {name: value for name, value in vars(cls).items() if isinstance(value, Field)}
        for name, field in fields.items():
            fields[name] = replace(field, slot=slot)
            slot += 1 + max(field.ndim, 0)
        reserved = sorted(name for name in fields if name.startswith("_") or hasattr(Record, name))
        if reserved:
            raise TypeError(f"{cls.__name__}: a field cannot be called {', '.join(reserved)}")
        cls.fields = fields
        # The layout is part of the type: records of one name in two modules stay apart, and code cached for another
        # layout is never taken.
        layout = [(cls.__module__, cls.__qualname__), *((name, field.layout()) for name, field in fields.items())]
        cls.type_name = f"{cls.__name__}_{hashlib.sha256(repr(layout).encode()).hexdigest()[:12]}"
        _FIELDS[cls.type_name] = fields

    def __init__(self, **values: Any) -> None:
        if set(values) != set(self.fields):
            missing, unknown = set(self.fields) - set(values), set(values) - set(self.fields)
            raise TypeError(f"{type(self).__name__}: missing fields {sorted(missing)}, "
                            f"unknown fields {sorted(unknown)}")
        table: list[int] = []
        for name, field in self.fields.items():
            value = self._as_declared(name, field, values[name])
            self.__dict__[name] = value
            if field.is_record:
                table.append(value._table.ctypes.data)
            elif field.extents is None:
                table.append(int(np.array(value, dtype=field.element).view(np.int64)))
            else:
                table += [value.ctypes.data, *value.shape]
        self._check_extents()
        self._table = np.array(table, dtype=np.int64)

    @classmethod
    def sized(cls, sizes: Mapping[str, int], **given: Any) -> Self:
        """A record of zeros, its named extents by `sizes`, but for what is given."""
        made: dict[str, np.ndarray] = {}
        for name, field in cls.fields.items():
            if name in given or field.extents is None:
                continue
            lengths = [_extent(extent, sizes) for extent in field.extents]
            if None in lengths:
                unknown = field.extents[lengths.index(None)]
                raise TypeError(f"{cls.__name__}.{name}: extent {unknown!r} where sizes are given of {sorted(sizes)}")
            made[name] = np.zeros([length or 0 for length in lengths], field.element)
        return cls(**made, **given)

    def _check_extents(self) -> None:
        """A name is one size throughout the record; numbers, sums and products of known names hold too."""
        arrays = [(name, axis, extent, length) for name, field in self.fields.items() if field.extents is not None
                  for axis, (extent, length) in enumerate(zip(field.extents, self.__dict__[name].shape, strict=True))]
        sizes: dict[str, int] = {}
        origin: dict[str, str] = {}
        for name, _, extent, length in arrays:
            if isinstance(extent, str) and extent.isidentifier() and extent not in sizes:
                sizes[extent], origin[extent] = length, name
        for name, axis, extent, length in arrays:
            wanted = _extent(extent, sizes)
            if wanted is not None and wanted != length:
                others = sorted({origin[word] for word in _words(extent)} - {name})
                raise TypeError(f"{type(self).__name__}.{name}: axis {axis} has {length} entries where "
                                f"{extent} = {wanted}" + (f" by {', '.join(others)}" if others else ""))

    def _as_declared(self, name: str, field: Field, value: Any) -> Any:
        if field.is_record:
            if type(value) is not field.dtype:
                raise TypeError(f"{type(self).__name__}.{name}: {type(value).__name__} where "
                                f"{field.dtype.__name__} is declared")
            return value
        if field.extents is None:
            return float(value) if field.dtype is float else operator.index(value)
        given, dtype = np.asarray(value), field.element
        if given.size and not np.can_cast(given.dtype, dtype, "same_kind"):
            raise TypeError(f"{type(self).__name__}.{name}: {given.dtype} values where {dtype} is declared")
        if given.ndim != field.ndim:
            raise TypeError(f"{type(self).__name__}.{name}: {given.ndim} dimensions where {field.ndim} are declared")
        return np.require(given, dtype, ["C", "ALIGNED"])

    def __setattr__(self, name: str, value: Any) -> None:
        # the table would go on pointing at the old array; `record.field += 1` hands the same array back and may pass
        if name in self.fields and value is not self.__dict__[name]:
            raise AttributeError(f"{type(self).__name__}.{name} cannot be replaced; "
                                 f"write into it: record.{name}[...] = value")
        object.__setattr__(self, name, value)

    def __reduce__(self) -> Any:
        """Copies and pickles are built anew from the arrays: addresses mean nothing elsewhere."""
        arrays = {name: value for name, value in self.__dict__.items() if name in self.fields}
        others = {name: value for name, value in self.__dict__.items() if name not in self.fields and name != "_table"}
        return _rebuild, (type(self), arrays), others or None

    @property
    def table(self) -> Any:
        """What an entry point takes: the int64 table, or the record itself when JIT is disabled."""
        return self if config.DISABLE_JIT else self._table

    def saved(self, prefix: str = "") -> dict[str, np.ndarray]:
        """The arrays that are part of a saved state, those of records within included: "contacts.id" -> array."""
        found: dict[str, np.ndarray] = {}
        for name, field in self.fields.items():
            if field.is_record:
                found |= getattr(self, name).saved(f"{prefix}{name}.")
            elif field.saved:
                found[prefix + name] = getattr(self, name)
        return found

    def unsound(self, given: Mapping[str, np.ndarray]) -> tuple[str, tuple[int, ...], str] | None:
        """Of saved arrays, each within its bounds, one that does not belong to the others: name, index, what is wrong.

        given: as `saved` names them. What bounds alone cannot say stands in a record's own version of this.
        """
        return None

    def copy_into(self, other: Record) -> None:
        """Copy the contents of every array into those of another record of the same shapes."""
        for name, field in self.fields.items():
            if field.is_record:
                getattr(self, name).copy_into(getattr(other, name))
            elif field.ndim >= 0:
                source, target = getattr(self, name), getattr(other, name)
                if source.shape != target.shape:
                    raise ValueError(f"{type(self).__name__}.{name}: shape {source.shape} copied into {target.shape}")
                target[...] = source


@cache
def _parsed(extent: str) -> tuple[Any, tuple[str, ...]]:
    """Code of an extent such as "2 * C + 1", and the names in it."""
    code = compile(extent, extent, "eval")
    return code, code.co_names


def _words(extent: str | int) -> tuple[str, ...]:
    return () if isinstance(extent, int) else _parsed(extent)[1]


def _extent(extent: str | int, sizes: Mapping[str, int]) -> int | None:
    """A number, or the value of a named extent: "L", "2 * C + 1"; None where a name in it has no size."""
    if isinstance(extent, int):
        return extent
    if extent in sizes:
        return sizes[extent]
    code, names = _parsed(extent)
    return int(eval(code, {"__builtins__": {}}, dict(sizes))) if all(name in sizes for name in names) else None


def _rebuild(cls: type[Record], values: dict[str, Any]) -> Record:
    record = cls.__new__(cls)
    Record.__init__(record, **values)  # a subclass may have an initialiser of its own
    return record


class RecordType(types.Type):
    """The Numba type of a record: a pointer to its table."""

    def __init__(self, record_name: str) -> None:
        self.record_name = record_name
        super().__init__(name=f"Record({record_name})")


register_model(RecordType)(models.OpaqueModel)


@typeof_impl.register(Record)
def _typeof_record(value: Record, context: Any) -> RecordType:
    return RecordType(type(value).type_name)


@unbox(RecordType)
def _unbox_record(record_type: Any, obj: Any, c: Any) -> NativeValue:
    table = c.pyapi.object_getattr_string(obj, "_table")
    native = c.unbox(types.Array(types.int64, 1, "C"), table)
    c.pyapi.decref(table)
    struct = make_array(types.Array(types.int64, 1, "C"))(c.context, c.builder, value=native.value)
    pointer = c.builder.bitcast(struct.data, ir.IntType(8).as_pointer())
    c.context.nrt.decref(c.builder, types.Array(types.int64, 1, "C"), native.value)  # the Python record keeps it alive
    return NativeValue(pointer, is_error=native.is_error)


@infer_getattr
class _RecordAttribute(AttributeTemplate):
    key = RecordType

    def generic_resolve(self, record_type: RecordType, attribute: str) -> types.Type | None:
        field = _FIELDS[record_type.record_name].get(attribute)
        return None if field is None else field.numba_type


@lower_getattr_generic(RecordType)
def _lower_field(context: Any, builder: Any, record_type: RecordType, value: Any, attribute: str) -> Any:
    field = _FIELDS[record_type.record_name][attribute]
    table = builder.bitcast(value, ir.IntType(64).as_pointer())

    def entry(slot: int) -> Any:
        """A table never changes: the compiler may load once and keep what it read through any store to an array."""
        load = builder.load(builder.gep(table, [ir.Constant(ir.IntType(64), slot)]))
        load.set_metadata("invariant.load", builder.module.add_metadata([]))
        return load

    if field.is_record:
        return builder.inttoptr(entry(field.slot), ir.IntType(8).as_pointer())
    if field.extents is None:
        number = entry(field.slot)
        return builder.bitcast(number, ir.DoubleType()) if field.dtype is float else number
    array_type = field.numba_type
    struct = make_array(array_type)(context, builder)
    shape = [entry(field.slot + 1 + axis) for axis in range(field.ndim)]
    item_size = ir.Constant(ir.IntType(64), 8)
    strides = [item_size]
    for extent in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], extent))
    data = builder.inttoptr(entry(field.slot), context.get_data_type(array_type.dtype).as_pointer())
    populate_array(struct, data=data, shape=shape, strides=strides, itemsize=item_size, meminfo=None)
    return struct._getvalue()


def viewer(record_class: type[Record]) -> Callable[[Any], Any]:
    """The function that turns a table back into its record inside compiled code."""
    if config.DISABLE_JIT:
        return lambda table: table
    record_type = RecordType(record_class.type_name)

    @intrinsic
    def view(typing_context, table):  # type: ignore[no-untyped-def]
        def lower(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            struct = make_array(signature.args[0])(context, builder, value=arguments[0])
            return builder.bitcast(struct.data, ir.IntType(8).as_pointer())

        return record_type(types.Array(types.int64, 1, "C")), lower

    return view
