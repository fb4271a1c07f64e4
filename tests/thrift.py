"""Thrift's compact protocol, in which Parquet writes footers, headers of pages and indexes.

A struct is a dict of field's id -> (type, value), a list is (type of its items, items).
"""

TRUE, FALSE, I32, I64, BINARY, LIST, STRUCT = 1, 2, 5, 6, 8, 9, 12
_NUMBERS = (4, I32, I64)


def decode(data, at=0):
    """Return the struct that stands at a place, and where it ends."""
    return _read(STRUCT, memoryview(data), at)


def encode(fields):
    """Return the bytes of a struct."""
    return _written(STRUCT, fields)


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at


def _read(kind, data, at):
    if kind in (TRUE, FALSE):  # as the item of a list; a field has it in its type
        return data[at] == TRUE, at + 1
    if kind == 3:
        return data[at], at + 1
    if kind in _NUMBERS:
        value, at = _varint(data, at)
        return value >> 1 ^ -(value & 1), at
    if kind == BINARY:
        length, at = _varint(data, at)
        return bytes(data[at : at + length]), at + length
    if kind == LIST:
        length, inner, at = data[at] >> 4, data[at] & 15, at + 1
        if length == 15:
            length, at = _varint(data, at)
        items = []
        for _ in range(length):
            item, at = _read(inner, data, at)
            items.append(item)
        return (inner, items), at
    fields, number = {}, 0
    while byte := data[at]:
        at += 1
        if byte >> 4:
            number += byte >> 4
        else:
            number, at = _read(I32, data, at)
        kind = byte & 15
        if kind in (TRUE, FALSE):
            fields[number] = TRUE, kind == TRUE
        else:
            value, at = _read(kind, data, at)
            fields[number] = kind, value
    return fields, at + 1


def _bytes_of(value):
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def _written(kind, value):
    if kind in (TRUE, FALSE):
        return bytes([TRUE if value else FALSE])
    if kind == 3:
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
        marked = kind if kind != TRUE or inner else FALSE
        step = number - before
        near = 0 < step < 16
        found += bytes([step << 4 | marked]) if near else bytes([marked]) + _written(I32, number)
        found += b"" if kind == TRUE else _written(kind, inner)
        before = number
    return found + b"\0"
