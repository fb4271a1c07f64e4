"""The digest of a table's rows, for comparing builds and their copies.

It depends on the values, their order, and the names and types of the columns, but not on batches,
row groups, files or encodings. It hashes streams of bytes, each with its own sha256. A column has
these streams, with one entry per value in the order of the rows:

    every value         a byte: 0 for null, 1 otherwise
    non-null list       its number of items, in 8 bytes; the items of all lists in order are
                        another column
    struct              its fields are other columns, null where the struct is null
    non-null string     its number of UTF-8 bytes, in 8 bytes; and in another stream these bytes
    non-null number     its bytes, as many as its type has; floats are IEEE 754
    non-null boolean    a byte: 1 or 0

All numbers are little-endian. Numbers with different bytes differ, such as 0.0 and -0.0.

The digest is the sha256 of a JSON text, in ASCII and without spaces: `[rows, columns]`. `rows` is
the number of rows. `columns` lists each column, followed by its inner columns, as
`[path, type, hashes]`. `path` is a list: the column's name, then for each level the field's name,
or 0 for the items of a list. `type` is `struct`, `list` or Arrow's name of the type:
`string`, `bool`, `int32`, `int64`, `float` (32 bits), `double` (64 bits). `hashes` are the
hexadecimal hashes of the column's streams, in the order above. Label names do not count.
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from parley.base.errors import RowError


class Digest:
    """The digest of batches of rows of a schema; RowError if a type is not supported."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema.remove_metadata()
        self._columns = [_Streams([field.name], field.type) for field in schema]
        self.rows = 0

    def update(self, batch: pa.RecordBatch | pa.Table) -> None:
        """Add rows; pyarrow.ArrowException if they have other columns or types."""
        if not batch.schema.equals(self._schema):  # dictionaries, or large strings
            batch = batch.cast(self._schema)
        parts = batch.to_batches() if isinstance(batch, pa.Table) else [batch]
        for part in parts:
            self.rows += part.num_rows
            for column, values in zip(self._columns, part.columns, strict=True):
                column.add(values)

    def hexdigest(self) -> str:
        """Return the digest of the rows so far, in hexadecimal."""
        columns = [each for column in self._columns for each in column.stated()]
        text = json.dumps([self.rows, columns], separators=(",", ":"))
        return hashlib.sha256(text.encode("ascii")).hexdigest()

    def nulls(self) -> list[str]:
        """Return the columns, and fields of structs, that are null in all rows so far."""
        return [path for column in self._columns for path in column.nulls()]


class _Streams:
    """The hashed streams of a column, and those of its inner columns."""

    def __init__(self, path: list[str | int], type_: pa.DataType) -> None:
        self._path, self._type, self._inner = path, str(type_), list[_Streams]()
        self._valid, self._lengths, self._values = (hashlib.sha256() for _ in range(3))
        self._streams, self._is_filled = [self._valid], False
        if pa.types.is_struct(type_):
            self._type = "struct"
            self._inner = [_Streams([*path, field.name], field.type) for field in type_]
        elif pa.types.is_list(type_):
            self._type = "list"
            self._inner = [_Streams([*path, 0], type_.value_type)]
            self._streams.append(self._lengths)
        elif pa.types.is_string(type_):
            self._streams += [self._lengths, self._values]
        elif pa.types.is_integer(type_) or pa.types.is_floating(type_) or type_ == pa.bool_():
            self._streams.append(self._values)
        else:
            raise RowError(f"rows cannot have the type {type_}")

    def stated(self) -> Iterator[list[Any]]:
        """Yield path, type and hashes of this column and its inner columns."""
        yield [self._path, self._type, [stream.hexdigest() for stream in self._streams]]
        for column in self._inner:
            yield from column.stated()

    def nulls(self) -> Iterator[str]:
        """Yield its path, or those of its fields, unless it has a value."""
        if not self._is_filled:
            yield ".".join(map(str, self._path))
        elif self._type == "struct":
            for column in self._inner:
                yield from column.nulls()

    def add(self, array: pa.Array) -> None:
        self._is_filled |= array.null_count < len(array)
        self._valid.update(_bytes(array.is_valid()))
        if self._type == "struct":
            # `flatten` makes the fields of a null struct null, whatever their memory holds
            for column, values in zip(self._inner, array.flatten(), strict=True):
                column.add(values)
            return
        array = array.drop_null()
        if self._type == "list":
            self._lengths.update(_bytes(pc.list_value_length(array).cast(pa.int64())))
            self._inner[0].add(array.flatten())
        elif self._type == "string":
            self._lengths.update(_bytes(pc.binary_length(array).cast(pa.int64())))
            _, offsets, data = array.buffers()
            if data is not None and len(array):
                ends = memoryview(offsets).cast("i")
                start, stop = ends[array.offset], ends[array.offset + len(array)]
                self._values.update(memoryview(data)[start:stop])
        else:
            self._values.update(_bytes(array))


def _bytes(array: pa.Array) -> memoryview | bytes:
    """Return the bytes of an array of numbers without nulls; a boolean is a byte."""
    if array.type == pa.bool_():
        array = array.cast(pa.uint8())
    if (data := array.buffers()[-1]) is None:
        return b""
    width = array.type.bit_width // 8
    return memoryview(data)[array.offset * width : (array.offset + len(array)) * width]
