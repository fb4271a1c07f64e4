"""Reads a pickle of named counts of words, as upstream's price tracker is one, without running it.

A pickle is a program: `pickle.loads` calls what the file names, and even an Unpickler with a strict
`find_class` lets the file choose the size of its memo, or make keys that take for ever to hash.
Here nothing is called and nothing that is named is imported. `pickletools.genops` only splits the
bytes into opcodes. The few that a dict of `defaultdict(int)` or of dicts is written with, in the
protocols 0 to 5 of Python 2 and 3, are followed by hand; any other is an error. None of them makes
more than its own bytes hold, none looks into what is nested, and only text may be a key. So time
and memory are bound by the size of the file, and that is bound by `MOST_BYTES`.
"""

import io
import pickletools
from typing import Any

MOST_BYTES = 1 << 16  # upstream's file has 5,764
MOST_TIMES = (1 << 31) - 1  # that a word may be counted

# The classes that may be named, by the names of Python 2 or 3, and what stands for them here
_DEFAULTDICT, _INT = object(), object()
_CLASSES = {
    ("collections", "defaultdict"): _DEFAULTDICT,
    ("__builtin__", "int"): _INT,
    ("__builtin__", "long"): _INT,  # what Python 3 writes for int in the protocols of Python 2
    ("builtins", "int"): _INT,
}
_MARK = object()  # where on the stack a group of values begins


def read_word_counts(data: bytes) -> dict[str, dict[str, int]]:
    """Return the tables that a pickle holds: name -> word -> how often it was counted.

    Raises:
        ValueError: The pickle is too large, damaged, or is or does anything else.
    """
    if len(data) > MOST_BYTES:
        raise ValueError(f"expected at most {MOST_BYTES:,} bytes, found {len(data):,}")
    tables = _follow(data)
    if type(tables) is not dict:
        raise ValueError("expected a dict of tables, found a value of another type")
    for name, table in tables.items():
        if type(table) is not dict:
            raise ValueError(f"{name[:40]!r}: expected a table of words, found another value")
        for word, count in table.items():
            if type(count) is not int or not 1 <= count <= MOST_TIMES:
                raise ValueError(
                    f"{name[:40]!r}, word {word[:40]!r}: expected a count from 1 to {MOST_TIMES:,}"
                )
    return tables


def _follow(data: bytes) -> Any:
    """Return the value that a pickle of word counts makes."""
    stack: list[Any] = []
    memo: dict[int, Any] = {}
    file, at = io.BytesIO(data), "at its beginning"
    try:
        for opcode, argument, position in pickletools.genops(file):
            at = f"near byte {position}, {opcode.name}"
            if opcode.name == "FRAME" and (argument or 0) > len(data) - file.tell():
                raise ValueError(f"a frame of {argument:,} bytes, which are not there")
            _step(opcode.name, argument, stack, memo)
    except IndexError:
        raise ValueError(f"{at}: nothing is on the stack") from None
    except ValueError as error:  # of genops, too: an unknown opcode, or the end before STOP
        raise ValueError(f"{at}: {error}") from None
    if file.tell() != len(data):
        raise ValueError(f"{at}: {len(data) - file.tell():,} bytes follow the pickle's end")
    if len(stack) != 1:
        raise ValueError(f"{at}: expected one value, found {len(stack)}")
    return stack[0]


def _step(opcode: str, argument: Any, stack: list[Any], memo: dict[int, Any]) -> None:
    """Do what an opcode says; the stack holds str, int, bool, dict and what stands for the rest."""
    match opcode:
        case "PROTO" | "FRAME" | "STOP":
            pass
        case "UNICODE" | "BINUNICODE" | "SHORT_BINUNICODE":
            stack.append(argument)
        case "INT" | "BININT" | "BININT1" | "BININT2":
            stack.append(argument)
        case "STRING" | "BINSTRING" | "SHORT_BINSTRING":  # text of Python 2
            if not argument.isascii():
                raise ValueError("expected text in ASCII, found other bytes, of no known encoding")
            stack.append(argument)
        case "PUT" | "BINPUT" | "LONG_BINPUT":
            memo[argument] = stack[-1]
        case "MEMOIZE":
            memo[len(memo)] = stack[-1]
        case "GET" | "BINGET" | "LONG_BINGET":
            if argument not in memo:
                raise ValueError("what it asks for was never put into the memo")
            stack.append(memo[argument])
        case "GLOBAL":
            stack.append(_class(*argument.split(" ", 1)))
        case "STACK_GLOBAL":
            name, module = stack.pop(), stack.pop()
            stack.append(_class(module, name))
        case "MARK":
            stack.append(_MARK)
        case "TUPLE1" | "TUPLE":
            group = [stack.pop()] if opcode == "TUPLE1" else _group(stack)
            if group != [_INT]:
                raise ValueError("expected the tuple (int,), found another")
            stack.append((_INT,))
        case "REDUCE":
            arguments, function = stack.pop(), stack.pop()
            if function is not _DEFAULTDICT or arguments != (_INT,):
                raise ValueError("expected defaultdict(int), found another call")
            stack.append({})  # all that the call would make
        case "EMPTY_DICT":
            stack.append({})
        case "DICT":
            stack.append(_filled({}, _group(stack)))
        case "SETITEM":
            value, key = stack.pop(), stack.pop()
            _filled(stack[-1], [key, value])
        case "SETITEMS":
            group = _group(stack)
            _filled(stack[-1], group)
        case _:
            raise ValueError("no counts of words are written with this opcode")


def _class(module: Any, name: Any) -> object:
    """Return what stands for a class that may be named."""
    if type(module) is not str or type(name) is not str:
        raise ValueError("expected the name of a class, found a value of another type")
    if (module, name) not in _CLASSES:
        found = f"{module}.{name}"[:60]
        raise ValueError(f"expected collections.defaultdict or int, found {found!r}")
    return _CLASSES[module, name]


def _group(stack: list[Any]) -> list[Any]:
    """Take from the stack what was put on it since the last mark, and the mark."""
    group = []
    while (value := stack.pop()) is not _MARK:
        group.append(value)
    return group[::-1]


def _filled(table: Any, group: list[Any]) -> dict[str, Any]:
    """Put keys and values, which take turns, into a table and return it."""
    if type(table) is not dict or len(group) % 2:
        raise ValueError("expected a dict, and a value for each key")
    for key, value in zip(group[::2], group[1::2], strict=False):
        if type(key) is not str:
            raise ValueError("expected words as keys, found a value of another type")
        if key in table:
            raise ValueError(f"{key[:40]!r} occurs twice")
        table[key] = value
    return table
