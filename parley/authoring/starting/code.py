"""Python code of values and calls, formatted.

Code is text or a bracketed list: (open, [(prefix, code)], close). Upstream's texts enter it only
as literals.
"""

from collections.abc import Iterable
from typing import Any

Code = Any  # str, or a tuple as above
_WIDTH = 100


def literal(value: Any) -> str:
    """Return the Python literal of a text, number or truth value."""
    text = repr(value)
    return f'"{text[1:-1]}"' if text[0] == "'" and '"' not in text and "\\'" not in text else text


def call(name: str, *given: Code, **named: Code) -> Code:
    """Return the code of a call without the named arguments that are ""."""
    items = [("", each) for each in given]
    items += [(f"{key}=", each) for key, each in named.items() if each != ""]
    return f"{name}(", items, ")"


def listed(items: Iterable[Code], brackets: str = "[]") -> Code:
    """Return the code of a list, or of a set or tuple with other brackets."""
    return brackets[0], [("", each) for each in items], brackets[1]


def mapped(items: Iterable[tuple[str, Code]]) -> Code:
    """Return the code of a dict from pairs of code; the key "**" takes no colon."""
    return "{", [(key if key == "**" else f"{key}: ", each) for key, each in items], "}"


def lay_out(code: Code, indent: int = 0, before: int = 0) -> str:
    """Return code as text: on one line if it fits, else one item a line.

    `indent` is in levels; `before` is the characters before it on its line, without indentation.
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
