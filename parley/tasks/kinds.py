"""The kinds of fields that a model is asked for.

A kind is one class. It says the shape of its field in a file of predictions, the JSON schema and
the form of a value in a prompt, and it reads and writes values.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from itertools import islice, permutations
from typing import Any, TypeVar

from parley.base.errors import ScriptError, few
from parley.schema.shapes import Checked, Field

T = TypeVar("T")


def object_schema(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object that has exactly these fields, name -> schema."""
    closed = {"required": [*fields], "additionalProperties": False}
    return {"type": "object", "properties": dict(fields), **closed}


def object_form(fields: Mapping[str, str]) -> str:
    """Return the form of an object that has exactly these fields, name -> form."""
    forms = (f"{json.dumps(name, ensure_ascii=False)}: {form}" for name, form in fields.items())
    return "{" + ", ".join(forms) + "}"


def in_one_object(
    fields: Mapping[str, "AnswerField"], of_fields: Mapping[str, Any], made: Callable[[Any], Any]
) -> Any:
    """Return what `made` makes of something of each field, in the object that a model writes."""
    groups: dict[str, dict[str, Any]] = {"": {}}
    for name, field in fields.items():
        *group, own = place_of(name, field)
        groups.setdefault("".join(group), {})[own] = of_fields[name]
    whole = groups.pop("")
    return made(whole | {name: made(group) for name, group in groups.items()})


def place_of(name: str, field: "AnswerField") -> list[str]:
    """Return the names that lead to a field in the object that a model writes."""
    return (field.asked or name).split(".", 1)


def schema_of(fields: Mapping[str, "AnswerField"]) -> dict[str, Any]:
    """Return the JSON schema of an answer with these fields."""
    schemas = {name: field.schema for name, field in fields.items()}
    return dict(in_one_object(fields, schemas, object_schema))


def form_of(fields: Mapping[str, "AnswerField"]) -> str:
    """Return the form of an answer with these fields, for a prompt."""
    forms = {name: field.form for name, field in fields.items()}
    return str(in_one_object(fields, forms, object_form))


def written(fields: Mapping[str, "AnswerField"], values: Mapping[str, Any]) -> str:
    """Return an answer that gives these values, in JSON."""
    found = {name: field.written(values[name]) for name, field in fields.items()}
    return json.dumps(in_one_object(fields, found, dict), ensure_ascii=False)


def normalized_name(name: str) -> str:
    """Return a name without case, blanks, hyphens, underscores and the marks around it."""
    name = unicodedata.normalize("NFKC", name).strip(" \t\n*`\"'.!。")
    return re.sub("[\\s_\\\\\u2010-\u2015\u2212-]", "", name).casefold()


class AnswerField(Field):
    """A field of a prediction that a model is asked for. A kind of fields is a subclass.

    Args:
        shape: Its shape in a file of predictions.
        meaning: Its meaning.
        asked: Its place in the object that a model writes if it is not its name: "own.Food" tells
            whose packages are meant.

    Attributes:
        values: Its values in a file, in words.
        schema: The JSON schema of the value that a model writes.
        form: This value in the form that a prompt shows, such as "n".
        example: A value in a file.
    """

    values: str
    schema: Mapping[str, Any]
    form: str
    example: Any

    def __init__(self, shape: Any, meaning: str, asked: str = "") -> None:
        super().__init__(shape, meaning)
        self.asked = asked

    def read(self, value: Any) -> Any:
        """Return the value that JSON or a text stands for; ValueError if it stands for none."""
        raise NotImplementedError(f"{type(self).__name__} has no method `read`")

    def written(self, value: Any) -> Any:
        """Return a value as a model is asked to write it."""
        return value


class OneOf(AnswerField):
    """One of some names.

    Args:
        names: The names, or name -> the other names that it has in the prompt: {"accept":
            ["accept_deal"]}.
    """

    form = '"..."'

    def __init__(
        self, names: Iterable[str] | Mapping[str, Iterable[str]], meaning: str, asked: str = ""
    ) -> None:
        others = names if isinstance(names, Mapping) else dict.fromkeys(names, ())
        pairs = ((each, name) for name in others for each in (name, *others[name]))
        self._names = _by_normalized_name(pairs)
        super().__init__({*others}, meaning, asked)
        self.values = f"one of {', '.join(others)}"
        self.schema = _one_of(others)
        self.example = next(iter(others))

    def read(self, value: Any) -> str:
        """Return a name."""
        return _known_name(value, self._names)


class SomeOf(AnswerField):
    """None or more of some labels. A model says of each whether it is there."""

    def __init__(self, labels: Iterable[str], meaning: str, asked: str = "") -> None:
        self._labels = _by_normalized_name(((label, label) for label in labels), ".*,.*|none")
        labels = [*self._labels.values()]
        super().__init__(Checked([{*labels}], _each_once), meaning, asked)
        self.values = f"a list of none or more of {', '.join(labels)}"
        self.schema = object_schema({label: {"type": "boolean"} for label in labels})
        self.form = object_form(dict.fromkeys(labels, "true/false"))
        self.example = labels[:2]

    def read(self, value: Any) -> list[str]:
        """Return labels in their order, from "a, b", "none", a list, or an object of booleans."""
        if isinstance(value, str):
            value = value.split(",") if normalized_name(value) != "none" else []
        if isinstance(value, list):
            given = [_known_name(name, self._labels) for name in value]
        else:
            texts = {n: str(value_at(value, [n])).casefold() for n in self._labels.values()}
            if not {*texts.values()} <= {"true", "false", "1", "0"}:
                raise ValueError("a label without true or false")
            given = [label for label, text in texts.items() if text in ("true", "1")]
        return [label for label in self._labels.values() if label in given]

    def written(self, value: Any) -> dict[str, bool]:
        """Return label -> whether it is there."""
        return {label: label in value for label in self._labels.values()}


class OrderOf(AnswerField):
    """An order of some items. In a file, null is a place left open."""

    def __init__(self, items: Iterable[str], meaning: str, asked: str = "") -> None:
        self._items = _by_normalized_name(((item, item) for item in items), ".*[>,].*")
        self.example = [*self._items.values()]
        super().__init__(Checked([({*self.example}, None)], self._check), meaning, asked)
        self.values = f"a list of {', '.join(self.example)}, each once; null for a place left open"
        self.schema = _one_of(map(self.written, permutations(self.example)))
        self.form = f'"{self.written([".."] * len(self.example))}"'

    def _check(self, order: list[str | None]) -> None:
        items = [item for item in order if item]
        if len(order) != len(self.example) or len({*items}) < len(items):
            raise ValueError(f"each of {', '.join(self.example)} once, or null")

    def read(self, value: Any) -> list[str]:
        """Return the items, from "A > B > C", "A, B, C" or a list."""
        names = re.split("[>,]", value) if isinstance(value, str) else value
        order = (
            [_known_name(name, self._items) for name in names] if isinstance(names, list) else []
        )
        if sorted(order) != sorted(self.example):
            raise ValueError("not each item once")
        return order

    def written(self, value: Any) -> str:
        """Return the items as "A > B > C"."""
        return " > ".join(value)


class Number(AnswerField):
    """A number from `low` to `high`.

    Args:
        step: The distance of the numbers that a model may choose by the schema.
        shape: The shape in a file if it takes other numbers, too.
        values: Those numbers in words.
    """

    form = "n"

    def __init__(
        self,
        low: float,
        high: float,
        meaning: str,
        asked: str = "",
        *,
        step: float = 0.01,
        shape: Any = None,
        values: str = "",
    ) -> None:
        if not low < high or step <= 0:
            what = f"no numbers from {low!r} to {high!r} in steps of {step!r}"
            raise ScriptError(what, remedy="Make low less than high, and step more than 0.")
        super().__init__(shape or Checked((float, int), self._check), meaning, asked)
        self._low, self._high, self.example = low, high, (low + high) / 2
        self.values = values or f"a number from {low:g} to {high:g}"
        count, is_whole = round((high - low) / step) + 1, float(low).is_integer() and step == 1
        if is_whole and count > _MOST_VALUES:
            self.schema = {"type": "integer", "minimum": int(low), "maximum": int(high)}
            return
        # an enumeration, as llama.cpp does not keep to the bounds of a number that is no integer
        numbers = (round(low + place * step, 9) for place in range(count))
        self.schema = _one_of(int(n) if float(n).is_integer() else n for n in numbers)

    def _check(self, value: float) -> None:
        if not self._low <= value <= self._high:
            raise ValueError(f"a number from {self._low:g} to {self._high:g}")

    def read(self, value: Any) -> float:
        """Return the number that JSON or a text is: 4, 4/5 on a scale to 5, 80% from 0 to 1."""
        if isinstance(value, str) and (match := _STATED_NUMBER.fullmatch(value)):
            number, percent, scale = match.groups()
            is_other_scale = scale not in (None, f"{self._high:g}")
            if is_other_scale or (percent and (self._low, self._high) != (0, 1)):
                raise ValueError("on another scale")
            value = float(number) / (100 if percent else 1)
        if type(value) not in (int, float):
            raise ValueError("no number")
        self._check(value)
        return float(value)

    def written(self, value: float) -> float:
        """Return the number, as an integer if whole ones are asked for."""
        is_whole = self.schema["type"] == "integer" and float(value).is_integer()
        return int(value) if is_whole else value


class Whole(Number):
    """A whole number from `low` to `high`."""

    def __init__(self, low: int, high: int, meaning: str, asked: str = "") -> None:
        values, shape = f"a whole number from {low} to {high}", Checked(int, self._check)
        super().__init__(low, high, meaning, asked, step=1, shape=shape, values=values)
        self.example = (low + high) // 2

    def read(self, value: Any) -> int:
        """Return the number that JSON or a text is, such as 4, 4.0 or 4/5."""
        number = super().read(value)
        if not number.is_integer():
            raise ValueError("a whole number")
        return int(number)


class Probabilities(AnswerField):
    """The probability of each of some names. All are 0 to 1, and one is above 0."""

    def __init__(self, names: Iterable[str], meaning: str, asked: str = "") -> None:
        self._one = one = Number(0, 1, "a probability")
        names = [*_by_normalized_name((name, name) for name in names).values()]
        super().__init__(Checked(dict.fromkeys(names, one), _not_all_0), meaning, asked)
        self.values = f"an object of {', '.join(names)}, each from 0 to 1, together 1"
        self.schema = object_schema(dict.fromkeys(names, one.schema))
        self.form = object_form(dict.fromkeys(names, "p"))
        self.example = {name: float(name == names[0]) for name in names}

    def read(self, value: Any) -> dict[str, float]:
        """Return name -> probability, from an object that has each."""
        found = {name: self._one.read(value_at(value, [name])) for name in self.example}
        _not_all_0(found)
        return found


_MOST_VALUES = (
    500  # values that a JSON schema names: endpoints refuse many, and each question has them
)
_STATED_NUMBER = re.compile(
    r"\s*([-+]?(?:\d+(?:\.\d*)?|\.\d+))\s*(?:(\\?%)|/\s*(\d+))?\s*", re.ASCII
)


def _by_normalized_name(pairs: Iterable[tuple[str, T]], other: str = "") -> dict[str, T]:
    """Return normalized name -> what a name stands for.

    ScriptError if there is none, if two that are alike differ in it, or if one matches `other`.
    """
    pairs = [*pairs]
    of = {normalized_name(name): value for name, value in pairs}
    alike = [name for name, value in pairs if of[normalized_name(name)] != value]
    if alike or not pairs:
        what = f"{few(alike) or 'no name'}: expected names that differ"
        raise ScriptError(what, remedy="Names must differ in more than case, blanks, - and _.")
    if odd := [name for name, _ in pairs if re.fullmatch(other, normalized_name(name))]:
        what = f"{few(odd)}: expected names that are read as they are"
        raise ScriptError(what, remedy='Use no comma and no >, and call none of several "none".')
    return of


def _one_of(values: Iterable[Any]) -> dict[str, Any]:
    """Return the JSON schema of one of some values; ScriptError if they are too many."""
    if len(found := [*islice(values, _MOST_VALUES + 1)]) > _MOST_VALUES:
        what = f"{found[0]}, {found[1]} and so on: expected at most {_MOST_VALUES} of a field"
        raise ScriptError(what, remedy="Ask for fewer values, larger steps or whole numbers.")
    kinds = {str: "string", float: "number", int: "integer"}
    return {"type": next(kinds[of] for of in kinds if of in map(type, found)), "enum": found}


def value_at(value: Any, place: Iterable[str]) -> Any:
    """Return the value at a place of an object, by names in any form; None if it lacks it.

    ValueError if a value on the way is no object.
    """
    for name in place:
        if not isinstance(value, Mapping):
            raise ValueError("no object")
        due = normalized_name(name)
        found = [inner for each, inner in value.items() if normalized_name(each) == due]
        if len(found) > 1:
            raise ValueError("one name in two forms")
        value = found[0] if found else None
    return value


def _known_name(value: Any, names: Mapping[str, str]) -> str:
    """Return the name that a text stands for, given normalized name -> name; else ValueError."""
    name = names.get(normalized_name(value)) if isinstance(value, str) else None
    if name is None:
        raise ValueError("an unknown name")
    return name


def _each_once(labels: list[str]) -> None:
    if len({*labels}) < len(labels):
        raise ValueError("each label once")


def _not_all_0(stated: Mapping[str, float]) -> None:
    if not any(stated.values()):
        raise ValueError("a sum above 0")
