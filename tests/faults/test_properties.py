"""Properties of the strict reader and rows, for any schema and any JSON value.

Each compares the code with a second, plain statement of its rule.
"""

import json
import math
import re
import struct

import orjson
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mutations import general, inner, nodes
from test_conversion import records_of

from parley.base.errors import Problem, RecordError, RowError, ScriptError
from parley.base.strict_json import loads
from parley.building.configs import Config, View
from parley.building.rows.arrow import to_batch, to_batches
from parley.building.rows.split import SplitPlan, generate
from parley.schema.features import arrow_schema
from parley.schema.fields import columns_of
from parley.schema.shapes import Converted, parse, problems
from parley.source.files import File

# The same examples every time, and nothing left on the disk
quick = settings(max_examples=300, deadline=None, derandomize=True, database=None)

keys = st.sampled_from("abc")
any_text = st.text(st.characters(exclude_categories=()), max_size=5)  # lone surrogates too
numbers = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([2**31 - 1, 2**31, -(2**63), 2**63, 2**53 + 1, 10**400]),
    st.floats(width=32),
    st.floats(),
)
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, any_text),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)
# Values easily taken for one of a type, or converted into it
DECEPTIVE = {
    bool: [0, 1, "true", None],
    int: [True, 1.0, "1", 2**31, -(2**31) - 1, 2**63, -(2**63) - 1, 10**400, None],
    float: [1, True, "1.0", 0.1, 1e300, math.nan, math.inf, None],
    str: [1, b"a", "\ud83d", ["a"], None],
    list: [(), ("a",), {}, "a", None],
    dict: [[], "a", None],
    type(None): [False, 0, "", "null", [], {}],
}


@st.composite
def nearly(draw, fitting):
    """Return a value that fits or, more often, one with a single place that may not."""
    holder = [draw(fitting)]
    if draw(st.integers(0, 3)):
        places = [(path, value) for path, value in nodes(holder) if path]
        leaves = [place for place in places if not isinstance(place[1], dict | list)]
        path, _ = draw(st.sampled_from(leaves if leaves and draw(st.booleans()) else places))
        place = inner(holder, path)
        found, change = place[path[-1]], draw(st.sampled_from(["more", "fewer", "renamed", "no"]))
        if isinstance(found, dict) and found and change != "no":
            key = draw(st.sampled_from(sorted(found)))
            value = found[key] if change == "more" else found.pop(key)
            if change != "fewer":
                found[draw(keys)] = value
        else:
            deceptive = st.sampled_from(DECEPTIVE[type(found)])
            place[path[-1]] = draw(deceptive if draw(st.integers(0, 3)) else json_values)
    return holder[0]


def exact(value):
    """Return a value in a form in which only what is equal in type, sign and value is equal."""
    if isinstance(value, dict):
        return {key: exact(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [exact(inner) for inner in value]
    return type(value), repr(value)


def result(function, *arguments):
    """Return what a function returns, or None, and what it raises, or None."""
    try:
        return function(*arguments), None
    except (ValueError, RecordError, RowError) as error:
        return None, error


# Rows ---------------------------------------------------------------------------------------

LEAVES = {
    pa.string(): st.text(max_size=3),
    pa.bool_(): st.booleans(),
    pa.int32(): st.integers(-(2**31), 2**31 - 1),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.float32(): st.floats(width=32, allow_nan=False, allow_infinity=False),
    pa.float64(): st.floats(allow_nan=False, allow_infinity=False),
}


def structs(types):
    return st.dictionaries(keys, types, min_size=1, max_size=3).map(
        lambda fields: pa.struct(list(fields.items()))
    )


types = st.recursive(
    st.sampled_from([*LEAVES]), lambda inner: inner.map(pa.list_) | structs(inner), max_leaves=5
)


def values_of(type_):
    """Return values that a column of the type holds exactly."""
    if pa.types.is_struct(type_):
        fitting = st.fixed_dictionaries({field.name: values_of(field.type) for field in type_})
    elif pa.types.is_list(type_):
        fitting = st.lists(values_of(type_.value_type), max_size=3)
    else:
        fitting = LEAVES[type_]
    return st.integers(0, 7).flatmap(lambda number: fitting if number else st.none())


def rows_of(type_):
    return st.lists(values_of(type_).filter(lambda row: row is not None), max_size=4)


def holds(type_, value):
    """Tell whether a column of the type can hold a value exactly."""
    if value is None:
        return True
    if pa.types.is_struct(type_):
        return (
            type(value) is dict
            and value.keys() == {field.name for field in type_}
            and all(holds(field.type, value[field.name]) for field in type_)
        )
    if pa.types.is_list(type_):
        return type(value) is list and all(holds(type_.value_type, item) for item in value)
    if pa.types.is_string(type_):
        return type(value) is str and not re.search("[\ud800-\udfff]", value)
    if pa.types.is_boolean(type_):
        return type(value) is bool
    if pa.types.is_integer(type_):
        limit = 2 ** (type_.bit_width - 1)
        return type(value) is int and -limit <= value < limit
    if type(value) is not float or not math.isfinite(value):
        return False
    try:
        return type_ == pa.float64() or struct.unpack("f", struct.pack("f", value))[0] == value
    except OverflowError:
        return False


@quick
@given(structs(types).flatmap(lambda type_: st.tuples(st.just(type_), nearly(rows_of(type_)))))
def test_rows_come_back_exactly_or_not_at_all(case):
    type_, rows = case
    assume(isinstance(rows, list))
    sound = all(row is not None and holds(type_, row) for row in rows)
    batch, error = result(to_batch, rows, pa.schema(list(type_)), "here")
    assert sound == (error is None)
    if error is None:
        batch.validate(full=True)
        assert exact(batch.to_pylist()) == exact(rows)
    else:
        assert isinstance(error, RowError)
        assert all(re.match(r"here\[\d\]|\(the first", line) for line in str(error).split("\n"))


# Records ------------------------------------------------------------------------------------


def even(value):
    if value != 2:
        raise ValueError("two")


def objects(inner):
    named = st.dictionaries(st.sampled_from(["a", "b", "c?"]), inner, max_size=3)
    return named | inner.map(lambda shape: {str: shape})


shapes = st.recursive(
    st.one_of(
        st.sampled_from([str, int, float, bool, None, even]),
        st.sets(st.sampled_from(["a", "b", 1, 2, 3.0, True]), min_size=1),
    ),
    lambda inner: st.one_of(
        inner.map(lambda shape: [shape]), st.tuples(inner, inner), objects(inner)
    ),
    max_leaves=6,
)


def fits(shape, value):
    if isinstance(shape, dict) and str in shape:
        return type(value) is dict and all(fits(shape[str], inner) for inner in value.values())
    if isinstance(shape, dict):
        names = {key.removesuffix("?"): key for key in shape}
        return (
            type(value) is dict
            and value.keys() <= names.keys()
            and all(
                fits(shape[key], value[name]) if name in value else key != name
                for name, key in names.items()
            )
        )
    if isinstance(shape, list):
        return type(value) is list and all(fits(shape[0], item) for item in value)
    if isinstance(shape, tuple):
        return any(fits(option, value) for option in shape)
    if isinstance(shape, set):
        return exact(value) in map(exact, shape)
    if shape is None:
        return value is None
    return type(value) is shape if isinstance(shape, type) else value == 2


@quick
@given(shapes.flatmap(lambda shape: st.tuples(st.just(shape), nearly(records_of(shape)))))
def test_a_record_has_no_problem_just_if_it_fits(case):
    shape, value = case
    found = list(problems(value, shape))
    assert (not found) == fits(shape, value) == parse(shape).fits(value)
    for problem in found:
        require_path(value, problem)


def require_path(value, problem):
    """Every step of a path leads somewhere, but the last one to a missing field."""
    steps = re.findall(r"\.(\w*)|\[(\d+)\]", problem.place)
    assert "".join(f"[{number}]" if number else f".{key}" for key, number in steps) == problem.place
    missing = None
    if problem.what.startswith("missing"):
        *steps, (missing, _) = steps
    for key, number in steps:
        value = value[int(number)] if number else value[key]
    assert missing is None or missing not in value


# JSON ---------------------------------------------------------------------------------------


def is_plain(value):
    """Tell whether 64 bits and UTF-8 hold a value."""
    if isinstance(value, dict):
        return all(is_plain(key) and is_plain(inner) for key, inner in value.items())
    if isinstance(value, list):
        return all(map(is_plain, value))
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    if isinstance(value, float):
        return math.isfinite(value)
    return not isinstance(value, str) or not re.search("[\ud800-\udfff]", value)


compact = {"separators": (",", ":")}
styles = st.sampled_from([{}, {"indent": 1}, compact, {**compact, "ensure_ascii": False}])


@quick
@given(json_values, styles)
def test_json_is_read_exactly_or_not_at_all(value, style):
    text = json.dumps(value, **style).encode("utf-8", "surrogatepass")
    found, error = result(loads, text)
    assert is_plain(value) == (error is None)
    if error is None:
        assert exact(found) == exact(value)
        assert exact(orjson.loads(text)) == exact(value)  # as a file that has passed is read again


@pytest.mark.parametrize("depth", [1, 50, 100, 101, 2000, 100_000])
def test_deep_nesting_is_read_or_refused(depth):
    text = "\n\n" + "[" * depth + "]" * depth
    found, error = result(loads, text)
    if error is None:
        assert depth <= 2000
        for _ in range(depth - 1):
            (found,) = found
        assert found == []
    else:
        assert depth > 100


# What is declared -------------------------------------------------------------------------

FILE = File("a.txt", str, url="https://example.org/1.0/a.txt", sha256="0" * 64)
MADE = {  # ways in which a script makes values of a shape, which become rows
    "a view": lambda shape, values: View(
        "v", "all", {"train": [FILE]}, rows=lambda given: [*given], features=shape, key=()
    ),
    "joined records": lambda shape, values: Config(
        "c", "all", {"train": [FILE]}, records=iter, shape=shape, key=()
    ),
    "another form": lambda shape, values: Config(
        "c",
        "all",
        {"train": [FILE]},
        records=iter,
        shape=Converted(int, shape, values.__getitem__, values.index),
        key=(),
    ),
}
declared = st.one_of(st.sampled_from([{"x", "y"}, [{"x"}], ({"x"}, None), {str: {"x"}}]), shapes)


class Read:
    """A reader whose records are given."""

    place = ""

    def __init__(self, records):
        self.records = records

    def open(self, files):
        return {"a.txt": self.records}

    def explain(self, error):
        return Problem("", what=str(error))

    def forget(self, *files):
        """Do nothing."""

    require_ended = forget


@quick
@given(
    st.sampled_from(sorted(MADE)),
    declared.map(lambda shape: {"a": shape}).flatmap(
        lambda shape: st.tuples(
            st.just(shape), st.lists(nearly(records_of(shape)), min_size=1, max_size=2)
        )
    ),
)
def test_no_split_has_a_row_that_its_declaration_forbids(kind, case):
    shape, values = case
    try:
        config = MADE[kind](shape, values)
        schema = arrow_schema(config.features)
    except ScriptError:
        assume(False)
    given = range(len(values)) if kind == "another form" else values
    plan = SplitPlan("tea", config, "train", (FILE,), Read(given), schema, lambda read: given)
    batches, error = result(lambda: list(to_batches(generate(plan), schema)))
    assert isinstance(error, RecordError | RowError | None)
    sound = all(fits(shape, value) for value in values)
    assert sound or error
    stated = {column.path: column.values for column in columns_of(config) if column.values}
    for path, value in nodes(pa.Table.from_batches(batches or [], schema).to_pylist()):
        place = re.sub(r"(\[\])+$", "", general(path).removeprefix("[]."))
        assert value is None or isinstance(value, list) or value in stated.get(place, [value])
