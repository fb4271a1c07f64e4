"""A shape determines features and conversion both ways; ambiguous shapes are refused."""

import pytest

from parley.base.errors import ScriptError
from parley.schema.shapes import Converted, parse

LABELS = {"good", "bad"}
CUT = Converted(str, [str], lambda text: text.split("/"), "/".join)
# shape of a field, its feature, and (value, value in the row)
CASES = {
    "integers of one of several objects": (
        ({"a": float}, {"a": int, "b": str}), {"a": "float64", "b": "string"},
        [({"a": 1, "b": ""}, {"a": 1.0, "b": ""}), ({"a": 0.5}, {"a": 0.5, "b": None})],
    ),
    "a string": (str, "string", [("x", "x"), ("", "")]),
    "one of some values": (LABELS, "string", [("good", "good")]),
    "a number": ((int, float), "float64", [(2, 2.0), (2.5, 2.5)]),
    "a list of lists": ([[str]], [["string"]], [([["a"], []], [["a"], []])]),
    "a list or null": (([{"a?": str}], None), [{"a": "string"}], [(None, None), ([], [])]),
    "an optional key": (
        {"a?": str, "b?": {"c?": int}}, {"a": "string", "b": {"c": "int64"}},
        [({}, {"a": None, "b": None}), ({"a": "x"}, {"a": "x", "b": None}),
         ({"b": {}}, {"a": None, "b": {"c": None}}), ({"b": {"c": 0}}, {"a": None, "b": {"c": 0}})],
    ),
    "objects told apart by a value": (
        ({"who": {"bot"}, "model": (str, None)}, {"who": {"human"}, "age?": int}),
        {"who": "string", "model": "string", "age": "int64"},
        [({"who": "bot", "model": None}, {"who": "bot", "model": None, "age": None}),
         ({"who": "human"}, {"who": "human", "model": None, "age": None}),
         ({"who": "human", "age": 3}, {"who": "human", "model": None, "age": 3})],
    ),
    "objects told apart by their keys": (
        ({"deal": {"a": int}}, {"answer": LABELS}, {}),
        {"deal": {"a": "int64"}, "answer": "string"},
        [({}, {"deal": None, "answer": None}), ({"answer": "bad"}, {"deal": None, "answer": "bad"}),
         ({"deal": {"a": 1}}, {"deal": {"a": 1}, "answer": None})],
    ),
    "lists of different objects": (
        ([{"a": str}], [{"b": int, "c": {"d": str}}]),
        [{"a": "string", "b": "int64", "c": {"d": "string"}}],
        [([{"a": "x"}], [{"a": "x", "b": None, "c": None}]),
         ([{"b": 1, "c": {"d": "y"}}], [{"a": None, "b": 1, "c": {"d": "y"}}])],
    ),
    "any keys in one, absent from the other": (
        ({"a": {str: int}}, {"b?": str}),
        {"a": [{"key": "string", "value": "int64"}], "b": "string"},
        [({"a": {}}, {"a": [], "b": None}), ({}, {"a": None, "b": None})],
    ),
    "any keys": (
        {str: [int]}, [{"key": "string", "value": ["int64"]}],
        [({}, []), ({"b": [1], "a": []}, [{"key": "b", "value": [1]}, {"key": "a", "value": []}])],
    ),
    "another form, which may be null": ((CUT, None), ["string"], [(None, None), ("a", ["a"])]),
}  # fmt: skip


def named(feature):
    """Return a feature with the names of its types."""
    if isinstance(feature, dict):
        return {name: named(inner) for name, inner in feature.items()}
    return [named(feature[0])] if isinstance(feature, list) else feature.dtype


@pytest.mark.parametrize("name", CASES)
def test_features_rows_and_records_of(name):
    shape, feature, values = CASES[name]
    made = parse({"field": shape}).row()
    assert named(made.feature["field"]) == feature
    for value, stands in values:
        record = {"field": value}
        assert parse({"field": shape}).fits(record)
        row = made.to_row(record) if made.to_row else record
        assert row == {"field": stands}
        assert (made.to_record(row) if made.to_record else row) == record
        assert record == {"field": value}, "the record was changed"


@pytest.mark.parametrize("shape", [(int, float), ({"a": int}, {"a": float, "b?": str})])
def test_an_integer_that_no_float_equals_is_refused_by_its_path(shape):
    def record(number):
        return {"in": {"field": {"a": number} if isinstance(shape[0], dict) else number}}

    made = parse({"in": {"field": shape}}).row()
    row = made.to_row(record(2**53))
    assert (made.to_record(row) if made.to_record else row) == record(2**53)
    for odd in (2**53 + 1, 2**63 - 1, 10**400):
        with pytest.raises(ValueError, match=r"in\.field.*float64"):
            made.to_row(record(odd))


REFUSED = {
    "anything": object, "a function": len, "values of several types": {"a", 1}, "always null": None,
    "absent or null": {"a?": (str, None)}, "text or an object": (str, {"a": str}),
    "text or a number": (str, int), "an object or any keys": ({"a": str}, {str: str}),
    "null in one and absent from the other": ({"a": str, "b": (int, None)}, {"a": str}),
    "objects without keys": ({}, {}),
    "a converted value or another": (Converted(int, str, str, int), str),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_shapes_without_column_or_inverse_are_refused_with_their_path(name):
    with pytest.raises(ScriptError, match=r"deep\.field"):
        parse({"deep": {"field": REFUSED[name]}}).row()
