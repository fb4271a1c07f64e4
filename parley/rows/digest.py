"""The digest of a table's rows, by which two builds, or a build and its copy, are compared.

It depends on the values, on their order, and on the names and types of the columns; not on how the
rows are cut into batches, row groups and files, nor on the encoding that a file or a reader chose.
It is made of streams of bytes, each with a sha256 of its own. A column has these streams, one entry
for each value, in the order of the rows:

    every value         a byte: 1 where it is there, 0 where it is null
    each list there     how many items it has, in 8 bytes; the items of all lists one after another
                        are a column of their own
    each struct         its fields are columns of their own, and null where the struct is null
    each string there   how many bytes it has, in 8 bytes; and in another stream these, as UTF-8
    each number there   its bytes, as many as its type has; floats are IEEE 754
    each boolean there  a byte: 1 or 0

All numbers are little-endian. Numbers are told apart by their bytes: 0.0 and -0.0 are two.

The digest is the sha256 of a JSON text, in ASCII and without spaces: `[rows, columns]`, where
`rows` counts the rows and `columns` names each column, those within others after them, as
`[path, type, hashes]`. `path` is a list: the column's name, then for each level below it the
field's name, or 0 for the items of a list. `type` is `struct`, `list` or Arrow's name of the type:
`string`, `bool`, `int32`, `int64`, `float` (32 bits), `double` (64 bits). `hashes` are those of the
column's streams in hexadecimal, in the order above. The names of labels have no part in it.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from parley.errors import RowError


class Digest:
    """The digest of rows that come in batches.

    Args:
        schema: The columns, with the types that the rows are declared to have.

    Raises:
        RowError: a type is one that rows cannot have.
    """

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema.remove_metadata()
        self._columns = [_Column([field.name], field.type) for field in schema]
        self.rows = 0

    def update(self, batch: pa.RecordBatch | pa.Table) -> None:
        """Take in more rows.

        Raises:
            pyarrow.ArrowException: they have other columns, or values that are not of the types.
        """
        if not batch.schema.equals(self._schema):  # as dictionaries, or strings of another width
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


class _Column:
    """The streams of a column, and of those within it."""

    def __init__(self, path: list[str | int], type_: pa.DataType) -> None:
        self._path, self._type = path, str(type_)
        self._inner: list[_Column] = []
        self._valid, self._lengths, self._values = (hashlib.sha256() for _ in range(3))
        self._streams = [self._valid]
        self.add: Callable[[pa.Array], None]  # takes in more values
        if pa.types.is_struct(type_):
            self._type, self.add = "struct", self._add_struct
            self._inner = [_Column([*path, field.name], field.type) for field in type_]
        elif pa.types.is_list(type_):
            self._type, self.add = "list", self._add_list
            self._inner = [_Column([*path, 0], type_.value_type)]
            self._streams.append(self._lengths)
        elif pa.types.is_string(type_):
            self.add = self._add_strings
            self._streams += [self._lengths, self._values]
        elif pa.types.is_boolean(type_):
            self.add = self._add_booleans
            self._streams.append(self._values)
        elif pa.types.is_integer(type_) or pa.types.is_floating(type_):
            self.add = self._add_numbers
            self._streams.append(self._values)
        else:
            raise RowError(f"{type_} is not a type that rows may have")

    def stated(self) -> Iterator[list[Any]]:
        """Yield path, type and hashes of this column and of those within it."""
        yield [self._path, self._type, [stream.hexdigest() for stream in self._streams]]
        for column in self._inner:
            yield from column.stated()

    def _add_struct(self, array: pa.Array) -> None:
        self._there(array)
        # `flatten` makes a field null where its struct is, whatever lies there in memory
        for column, values in zip(self._inner, array.flatten(), strict=True):
            column.add(values)

    def _add_list(self, array: pa.Array) -> None:
        array = self._there(array)
        self._add_lengths(pc.list_value_length(array))
        self._inner[0].add(array.flatten())

    def _add_strings(self, array: pa.Array) -> None:
        array = self._there(array)
        self._add_lengths(pc.binary_length(array))
        _, offsets, data = array.buffers()
        if data is not None and len(array):
            ends = memoryview(offsets).cast("i")
            start, stop = ends[array.offset], ends[array.offset + len(array)]
            self._values.update(memoryview(data)[start:stop])

    def _add_booleans(self, array: pa.Array) -> None:
        self._values.update(_bytes(self._there(array).cast(pa.uint8())))

    def _add_numbers(self, array: pa.Array) -> None:
        self._values.update(_bytes(self._there(array)))

    def _there(self, array: pa.Array) -> pa.Array:
        """Take in which values are there, and return these."""
        if not array.null_count:
            self._valid.update(b"\1" * len(array))
            return array
        self._valid.update(_bytes(array.is_valid().cast(pa.uint8())))
        return array if self._type == "struct" else array.drop_null()

    def _add_lengths(self, lengths: pa.Array) -> None:
        self._lengths.update(_bytes(lengths.cast(pa.int64())))


def _bytes(array: pa.Array) -> memoryview | bytes:
    """Return the bytes of numbers of which none is null."""
    data = array.buffers()[-1]
    if data is None:
        return b""
    width = array.type.bit_width // 8
    return memoryview(data)[array.offset * width : (array.offset + len(array)) * width]


def same(one: Any, other: Any) -> bool:
    """Tell whether two values are the same, as a digest would: 0.0 is not -0.0, but NaN is NaN."""
    if repr(one) == repr(other):
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return False
