"""Columns of labels, and how the values of files are read as a config declares them."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from parley.base.errors import Problem, RecordError
from parley.base.numbers import is_number
from parley.builds.built_folder import BuiltFolder
from parley.schema.features import item_of, labels_of
from parley.schema.nodes import Node, show
from parley.schema.shapes import parse

WHOLE = re.compile(r"\s*(-?(?:0|[1-9]\d{0,18}))(?:\.0+)?\s*", re.ASCII)
_DECIMAL = re.compile(r"\s*[-+]?(\d+(?:\.\d*)?|\.\d+)(e[-+]?\d+)?\s*", re.ASCII | re.IGNORECASE)
COMMA = re.compile(r"[-+]?\d+,\d+", re.ASCII)
"""A number with a decimal comma, or two labels: nobody knows which."""
# A list as the texts of Python and numpy have it: ['a', "b"] or ['a' 'b']
_LISTED = re.compile(r"""\[(?:\s*(?:'[^']*'|"[^"]*"),?)*\s*\]""")
_SIGNS = re.compile("[,;]")  # between labels
INDEX = "index"  # in a key: the place of a label among those that one annotator gave a unit
_NUMBERS = ("int", "float", "double")


@dataclass(frozen=True)
class Column:
    """A column of labels, numbers or texts, and how its values are read.

    `node` is the shape of a value that the config declares; None for an open column, whose values
    say what they are, and for a column of lists or objects, whose text is compared.
    """

    name: str
    node: Node | None = None
    labels: tuple[str, ...] = ()  # the declared ones; of open sets, the commonest first
    is_set: bool = False
    is_ordered: bool = False
    is_open: bool = False  # a code that the config does not have, or its list of texts

    @classmethod
    def of(cls, built: BuiltFolder, config: str, *path: str) -> "Column":
        """Return a column of a config or a field within it; one's own if the config has none."""
        declared, name = built.dataset.configs[config], ".".join(path)
        feature: Any = declared.features
        for part in path:
            feature = feature.get(part)
        if getattr(item_of(feature), "dtype", "") == "string":
            return cls(name, is_set=True, is_open=True)
        names = tuple(labels_of(item_of(feature) or feature) or ())
        if names and (item_of(feature) or INDEX in declared.keys):
            return cls(name, parse([item_of(feature) or feature]), names, True)
        dtype = "" if names else str(getattr(feature, "dtype", ""))
        if not names and not dtype.startswith((*_NUMBERS, "bool", "string")):
            return cls(name)
        fields: Mapping[str, Node] = getattr(declared.node.column, "fields", {})
        is_ordered = getattr(feature, "is_ordered", dtype.startswith(_NUMBERS))
        return cls(name, fields.get(name) or parse(feature), names, is_ordered=is_ordered)

    def read(self, value: Any) -> Any:
        """Return a value of a file as the declared one, None for no answer; else RecordError.

        Where one value is due, a list of one is that one, and an empty one is no answer.
        """
        if self.node and not self.is_set and not self.node.fits(value):
            listed = listed_in(value)
            if listed is not None and len(listed) < 2:
                value = listed[0] if listed else None
        value = value.strip() if isinstance(value, str) else value
        if value is None or value == "" or value != value:  # NaN, as pandas has no answer
            return None
        if self.node is None:
            return _code(value) if self.is_open else _as_text(value)
        for found in (_sets if self.is_set else _scalars)(value):
            if self.node.fits(found):
                if not self.is_set:
                    return found
                if len({*found}) == len(found):
                    return self.own(found)
        names = f"one{' or several, each once,' * self.is_set} of {', '.join(self.labels)}"
        if all(number_of(str(each)) is not None for each in listed_in(value) or [value]):
            names += ", by name, not by number"
        expected = names if self.labels else self.node.described()
        raise RecordError("", Problem(self.name, expected, show(value)))

    def takes(self, values: Iterable[Any]) -> bool:
        """Tell whether most answers, and one at least, are such as `read` returns."""
        taken, refused = 0, 0
        for value in values:
            try:
                taken += bool(self.read(value))
            except RecordError:
                refused += 1
        return taken > refused

    def of_values(
        self, values: Sequence[Any], known: Iterable[str] = ()
    ) -> tuple["Column", list[Any]]:
        """Return an open column as all its values that were read say, and these values.

        Sets of labels, if one has several; else numbers, if all are and no two texts are the same
        number; else texts. A text is several labels if signs stand between them, and if there are
        lists or each part is a value, too. `known` are labels of the dataset beside them.
        """
        alone = {*values}
        lists = [value for value in values if isinstance(value, tuple)]
        labels = {*known, *chain.from_iterable(lists)}

        def several(text: str) -> Sequence[str]:
            parts = [part.strip() for part in _SIGNS.split(text)]
            are_values = alone.issuperset(parts) and not COMMA.fullmatch(text)
            is_one = text in labels or not all(parts) or not (lists or self.is_set or are_values)
            return [text] if is_one else parts

        found = [value if isinstance(value, tuple) else several(value) for value in values]
        if self.is_set or any(len(value) > 1 for value in found):
            sets = [tuple(sorted({*value})) for value in found]
            counts = Counter(chain(*sets)) + Counter(known)
            names = tuple(label for label, _ in counts.most_common())
            return replace(self, labels=names, is_set=True), sets
        texts = [(*value, "[]")[0] for value in found]
        numbers = [number_of(text) for text in texts]
        written = {WHOLE.sub(r"\1", text) if WHOLE.fullmatch(text) else text for text in texts}
        if numbers and None not in numbers and len(written) == len({*numbers}):
            return replace(self, is_ordered=True), numbers
        return self, texts

    def own(self, value: Any) -> Any:
        """Return a value of the dataset as one that `read` returns."""
        if self.is_set and value is not None:
            labels = {*map(_word, value)} if self.is_open else {*value}
            return tuple(sorted(labels, key=None if self.is_open else self.labels.index))
        if isinstance(value, str):
            return value.strip() or None
        return None if value is None else value if self.node else _as_text(value)

    def cell(self, value: Any) -> Any:
        """Return an answer as a cell of CSV has it, which `read` reads back."""
        if not isinstance(value, tuple):
            return value
        return [*value] if self.is_open else "; ".join(value) or "[]"


def _as_text(value: Any) -> str:
    """Return a text, or a number, list or object in the one way in which JSON may have it."""
    if isinstance(value, bool | int | float | list | dict):
        value = json.dumps(value, ensure_ascii=False, default=str)
    elif str(value).strip()[:1] not in ("[", "{"):
        return str(value).strip()
    with suppress(ValueError, RecursionError):
        value = json.loads(value, parse_float=_whole)
        value = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return str(value).strip()


def _whole(text: str) -> float:
    return int(float(text)) if float(text).is_integer() else float(text)


def _code(value: Any) -> Any:
    """Return the text of a value of an open column, or the texts of a list."""
    listed = listed_in(value)
    if listed is None or not all(isinstance(each, str | int | float) for each in listed):
        return _word(value)
    return tuple(filter(None, map(_word, listed)))


def _word(value: Any) -> str:
    """Return the text of a value: 1.0 is 1, and TRUE is true."""
    text = _as_text(value)
    return text.lower() if text.lower() in ("true", "false") else text


def number_of(text: str) -> Any:
    """Return the number that a text is, or None."""
    return next(filter(is_number, _scalars(text)), None)


def listed_in(value: Any) -> list[Any] | None:
    """Return a list, or that of a text in JSON, Python or numpy; None for what is none."""
    if isinstance(value, str) and value.strip()[:1] == "[":
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            if _LISTED.fullmatch(value.strip()):
                value = [a or b for a, b in re.findall(r"""'([^']*)'|"([^"]*)\"""", value)]
    return value if isinstance(value, list) else None


def _scalars(value: Any) -> Iterator[Any]:
    """Yield what a value may stand for, without a number that a float or 64 bits do not hold."""
    found = value
    if isinstance(value, str):
        yield value
        if match := WHOLE.fullmatch(value):
            found = int(match[1])
        elif _DECIMAL.fullmatch(value) and math.isfinite(float(value)):
            yield float(value)
            return
        else:
            found = {"true": True, "false": False}.get(value.lower(), value)
    if isinstance(found, bool):
        yield found
    if not is_number(found) or not math.isfinite(found):
        return
    yield found
    if type(found) is int and int(float(found)) == found:
        yield float(found)
    elif type(found) is float and found.is_integer() and is_number(int(found)):
        yield int(found)


def _sets(value: Any) -> Iterator[Any]:
    """Yield a text as one label, as a list, or as labels between signs."""
    if isinstance(value, str):
        yield [value]
        listed = listed_in(value)
        value = [part.strip() for part in _SIGNS.split(value)] if listed is None else listed
    yield value
