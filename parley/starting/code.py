"""Python code as a formatter would lay it out, of shapes and of calls.

A piece of code is text, or what stands between two brackets: (open, [(prefix, code)], close).
Whatever comes from upstream goes into it as a literal.
"""

from collections.abc import Iterable
from typing import Any

from parley.shapes import Converted

Code = Any  # str, or a tuple as above; mypy has recursive types, a reader less so
_WIDTH = 100


def literal(value: Any) -> str:
    """Return a text, number or truth value as Python has it, whatever is in it."""
    text = repr(value)
    return f'"{text[1:-1]}"' if text[0] == "'" and '"' not in text and "\\'" not in text else text


def call(name: str, *given: Code, **named: Code) -> Code:
    """Return the code of a call; what is named and "" is left out."""
    items = [("", each) for each in given]
    items += [(f"{key}=", each) for key, each in named.items() if each != ""]
    return f"{name}(", items, ")"


def listed(items: Iterable[Code], brackets: str = "[]") -> Code:
    """Return the code of a list, or of what has other brackets."""
    return brackets[0], [("", each) for each in items], brackets[1]


def mapped(items: Iterable[tuple[str, Code]]) -> Code:
    """Return the code of a dict, of pairs of a key's code and a value's; "**" takes no colon."""
    return "{", [(key if key == "**" else f"{key}: ", each) for key, each in items], "}"


def shape_code(shape: Any) -> Code:
    """Return the code of a shape of types, sets, lists, tuples, dicts and parley's conversions."""
    if isinstance(shape, type):
        return shape.__name__
    if shape is None:
        return "None"
    if isinstance(shape, set):
        return listed(map(literal, sorted(shape)), "{}")
    if isinstance(shape, list):
        return listed(map(shape_code, shape))
    if isinstance(shape, tuple):
        return listed(map(shape_code, shape), "()")
    if isinstance(shape, Converted):
        if shape.into is str:
            return call("as_json", shape_code(shape.shape))
        inner = {key: each for key, each in shape.into.items() if key in shape.shape}
        flags = [key for key in shape.into if key not in shape.shape]
        keys = (literal(key.removesuffix("_absent")) for key in flags)
        return call("null_or_absent", shape_code(inner), *keys)
    return mapped(
        ("str" if key is str else literal(key), shape_code(each)) for key, each in shape.items()
    )


def lay_out(code: Code, indent: int = 0, before: int = 0) -> str:
    """Return code as text: on one line if it fits, else an item a line.

    Args:
        code: The code.
        indent: How many levels its line is indented.
        before: How many characters of its line stand before it, but for the indent.
    """
    flat = _flat(code)
    if isinstance(code, str) or 4 * indent + before + len(flat) < _WIDTH:
        return flat
    start, items, end = code
    inner = "    " * (indent + 1)
    lines = (f"{inner}{key}{lay_out(each, indent + 1, len(key))},\n" for key, each in items)
    return f"{start}\n{''.join(lines)}{'    ' * indent}{end}"


def _flat(code: Code) -> str:
    if isinstance(code, str):
        return code
    start, items, end = code
    return f"{start}{', '.join(f'{key}{_flat(each)}' for key, each in items)}{end}"
