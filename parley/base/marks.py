"""Parts of a Markdown file that commands write, each between two marks with its name."""

import re
from collections.abc import Collection, Mapping

from parley.base.errors import OutputError

_PART = re.compile(r"(<!-- parley: (\w+) from here -->\n).*?(<!-- parley: \2 to here -->)", re.S)
_LINES = "\n"
_MARK = re.compile(r"<!-- parley: (\w+) (?:from|to) here -->")


def marks(part: str) -> tuple[str, str]:
    """Return the lines before and after a part."""
    return f"<!-- parley: {part} from here -->", f"<!-- parley: {part} to here -->"


def with_parts(text: str, where: str, parts: Mapping[str, str]) -> str:
    """Return a text with parts, by name, between their marks; OutputError if some are not due."""
    found = [match[2] for match in _PART.finditer(text)]
    named = _MARK.findall(text)
    for part in dict.fromkeys((*named, *parts)):
        begin, end = marks(part)
        if part not in parts:
            begin, end = marks(next(iter(parts)))
            remedy = f"Use {', '.join(parts)}: `{begin}` and `{end}`."
            raise OutputError(f"{where}: no part is named {part}", remedy=remedy)
        if found.count(part) != 1 or named.count(part) != 2:
            what = f"{where}: expected the lines {begin} and {end} once each"
            raise OutputError(what, remedy="Write them where the part belongs.")
    return _PART.sub(lambda m: f"{m[1]}\n{parts[m[2]].strip(_LINES)}\n\n{m[3]}", text)


def without_parts(text: str, keep: Collection[str] = ()) -> str:
    """Return a text without its parts, but those to keep, and without their marks."""
    text = _PART.sub(lambda match: match[0] if match[2] in keep else "", text)
    return _MARK.sub("", text)
