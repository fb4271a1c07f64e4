"""Thrift's compact protocol, in which Parquet writes footers, headers of pages and indexes.

A struct is a dict of field's id -> (type, value), a list is (type of its items, items). The value
of a boolean field is its type.
"""

import io

TRUE, FALSE, BYTE, I32, I64, BINARY, LIST, STRUCT = 1, 2, 3, 5, 6, 8, 9, 12
_NUMBERS = (4, I32, I64)


def decode(data, at=0):
    """Return the struct that stands at a place."""
    return _read(STRUCT, io.BytesIO(data[at:]))


def encode(fields):
    """Return the bytes of a struct."""
    return _written(STRUCT, fields)


def _varint(data):
    (byte,) = data.read(1)
    return byte if byte < 128 else byte & 127 | _varint(data) << 7


def _read(kind, data):
    if kind in (TRUE, FALSE, BYTE):  # booleans as items of a list
        return data.read(1)[0]
    if kind in _NUMBERS:
        value = _varint(data)
        return value >> 1 ^ -(value & 1)
    if kind == BINARY:
        return data.read(_varint(data))
    if kind == LIST:
        length, inner = divmod(data.read(1)[0], 16)
        length = _varint(data) if length == 15 else length
        return inner, [_read(inner, data) for _ in range(length)]
    fields, number = {}, 0
    while byte := data.read(1)[0]:
        step, kind = divmod(byte, 16)
        number = number + step if step else _read(I32, data)
        fields[number] = kind, kind if kind in (TRUE, FALSE) else _read(kind, data)
    return fields


def _bytes_of(value):
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + _bytes_of(value >> 7)


def _written(kind, value):
    if kind in (TRUE, FALSE, BYTE):
        return bytes([value])
    if kind in _NUMBERS:
        return _bytes_of((value << 1 ^ value >> 63) & (1 << 64) - 1)
    if kind == BINARY:
        return _bytes_of(len(value)) + value
    if kind == LIST:
        inner, items = value
        head = bytes([min(len(items), 15) << 4 | inner])
        head += _bytes_of(len(items)) if len(items) > 14 else b""
        return head + b"".join(_written(inner, item) for item in items)
    found, before = b"", 0
    for number, (kind, inner) in sorted(value.items()):
        step = number - before
        found += bytes([step << 4 | kind]) if step < 16 else bytes([kind]) + _written(I32, number)
        found += b"" if kind in (TRUE, FALSE) else _written(kind, inner)
        before = number
    return found + b"\0"
