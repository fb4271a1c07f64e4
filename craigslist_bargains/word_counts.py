r"""Read the pickle of upstream's price tracker, two tables of counted words, without running it.

A pickle is a program: `pickle.loads` calls any function that the file names. Here nothing is
called or imported: `pickletools.genops` splits the bytes into opcodes, each a character and maybe
a value, and these must be those of upstream's file. Between the words and counts they say, of each
table: a new dict `}(`, its name, the classes `\x93` defaultdict and int, the tuple `\x85` of int,
the call `R` of the one with the other, and `u`, which puts all since `(` into the dict.
"""

import io
import pickletools
import re
import warnings
from typing import Any, NamedTuple

MOST_BYTES = 1 << 16  # upstream's file has 5,764; this bounds time and memory too

_ITEMS = "((?:\x8c[KM])*)"  # texts, each with a number of one byte or two
_FORM = re.compile(
    "}\\(\x8c\x8c\x8c\x93\x8c\x8c\x93\x85R\\(" + _ITEMS + "u\x8c\x93\x93\x85R\\(" + _ITEMS + "uu\\."
)
_NAMES = {2: "left", 3: "collections", 4: "defaultdict", 6: "builtins", 7: "int"}


class Contexts(NamedTuple):
    """The words before and after a "$" price in train; a message's ends are `<s>` and `</s>`."""

    left: frozenset[str]
    right: frozenset[str]


def read_words(data: bytes) -> Contexts:
    """Return the words of the tables `left` and `right`; ValueError if a pickle has anything else.

    Too large and damaged ones are refused alike.
    """
    if len(data) > MOST_BYTES:
        raise ValueError(f"expected at most {MOST_BYTES:,} bytes, found {len(data):,}")
    file = io.BytesIO(data)
    written: list[tuple[str, Any]] = []
    memo: list[tuple[str, Any]] = []
    value: Any
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of texts of other opcodes, which are refused below
        for opcode, value, _ in pickletools.genops(file):
            if opcode.name == "MEMOIZE" and written:
                memo.append(written[-1])
            elif opcode.name == "BINGET" and value < len(memo):
                written.append(memo[value])
            elif opcode.name not in ("PROTO", "FRAME"):
                written.append((opcode.code, value))
    values = [value for _, value in written]
    form = _FORM.fullmatch("".join(code for code, _ in written))
    if not form or file.read():
        raise ValueError("expected the opcodes of two tables of counted words, and nothing else")
    for number, name in {**_NAMES, form.end(1) + 1: "right"}.items():
        if values[number] != name:
            raise ValueError(f"expected {name}, found {values[number]:.40}")
    left, right = (values[form.start(n) : form.end(n) : 2] for n in (1, 2))
    return Contexts(frozenset(left), frozenset(right))
