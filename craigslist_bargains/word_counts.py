"""Read the pickle of upstream's price tracker, two tables of counted words, without running it.

A pickle is a program: `pickle.loads` calls any function that the file names. Here nothing is
called or imported: `pickletools.genops` splits the bytes into opcodes, and only those that write
such tables in protocol 4 are followed. Each makes no more than its own bytes hold, and only text
may be a key. So `MOST_BYTES`, the largest size, also bounds time and memory.
"""

import io
import pickletools
from typing import Any

MOST_BYTES = 1 << 16  # upstream's file has 5,764
MOST_TIMES = (1 << 31) - 1  # the largest count of a word

# Placeholders for the classes that may be named, and for the tuple (int,)
_DEFAULTDICT, _INT, _TUPLE = object(), object(), object()
_CLASSES = {("collections", "defaultdict"): _DEFAULTDICT, ("builtins", "int"): _INT}
_MARK = object()  # the start of a group of values on the stack


def read_word_counts(data: bytes) -> dict[str, dict[str, int]]:
    """Return the tables that a pickle holds: name -> word -> count.

    Raises:
        ValueError: The pickle is too large, damaged, or holds or does anything else.
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
                raise ValueError(f"a frame of {argument:,} bytes, beyond the end")
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
    """Execute an opcode; the stack holds str, int, dict and placeholders for all else."""
    match opcode:
        case "PROTO" | "FRAME" | "STOP":
            pass
        case "SHORT_BINUNICODE" | "BININT1" | "BININT2":
            stack.append(argument)
        case "MEMOIZE":
            memo[len(memo)] = stack[-1]
        case "BINGET":
            if argument not in memo:
                raise ValueError("the memo has no such entry")
            stack.append(memo[argument])
        case "STACK_GLOBAL":
            name, module = stack.pop(), stack.pop()
            stack.append(_class(module, name))
        case "MARK":
            stack.append(_MARK)
        case "TUPLE1":
            if stack.pop() is not _INT:
                raise ValueError("expected the tuple (int,), found another")
            stack.append(_TUPLE)
        case "REDUCE":
            arguments, function = stack.pop(), stack.pop()
            if function is not _DEFAULTDICT or arguments is not _TUPLE:
                raise ValueError("expected defaultdict(int), found another call")
            stack.append({})  # all that the call would make
        case "EMPTY_DICT":
            stack.append({})
        case "SETITEM":  # of a table of one word
            value, key = stack.pop(), stack.pop()
            _fill(stack[-1], [key, value])
        case "SETITEMS":
            group = _group(stack)
            _fill(stack[-1], group)
        case _:
            raise ValueError("expected only the opcodes of word counts in protocol 4")


def _class(module: Any, name: Any) -> object:
    """Return the placeholder of a class that may be named."""
    if type(module) is not str or type(name) is not str:
        raise ValueError("expected the name of a class, found a value of another type")
    if (module, name) not in _CLASSES:
        found = f"{module}.{name}"[:60]
        raise ValueError(f"expected collections.defaultdict or int, found {found!r}")
    return _CLASSES[module, name]


def _group(stack: list[Any]) -> list[Any]:
    """Pop the values since the last mark, and the mark."""
    group = []
    while (value := stack.pop()) is not _MARK:
        group.append(value)
    return group[::-1]


def _fill(table: Any, group: list[Any]) -> None:
    """Put alternating keys and values into a table."""
    if type(table) is not dict or len(group) % 2:
        raise ValueError("expected a dict, and a value for each key")
    for key, value in zip(group[::2], group[1::2], strict=True):
        if type(key) is not str:
            raise ValueError("expected words as keys, found a value of another type")
        if key in table:
            raise ValueError(f"{key[:40]!r} occurs twice")
        table[key] = value
