"""Properties of the strict reader and rows, for any schema and any JSON value.

Each compares the code with a second, plain statement of its rule.
"""

import json
import math
import re
from contextlib import suppress
from itertools import product
from unittest.mock import Mock

import orjson
import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mutations import general, inner, nodes

from parley.base.errors import Problem, RecordError, RowError, ScriptError
from parley.base.strict_json import loads
from parley.declaration.configs import Config, View
from parley.rows.arrow import to_batch, to_batches
from parley.rows.splits import SplitPlan, generate
from parley.schema.features import arrow_schema
from parley.schema.shapes import Checked, Converted, parse, problems
from parley.source.files import File

# The same examples every time, and nothing left on the disk
quick = settings(max_examples=300, deadline=None, derandomize=True, database=None)

keys = st.sampled_from("abc")
any_text = st.text(st.characters(exclude_categories=()), max_size=5)  # lone surrogates too
numbers = st.integers(-3, 3) | st.floats(width=32) | st.floats()
numbers |= st.sampled_from([2**31 - 1, 2**31, -(2**63), 2**63, 2**53 + 1, 10**400])
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, any_text),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)
# Values easily taken for one of a type, or converted into it
DECEPTIVE = {
    bool: [False, 0, 1, "true", None],
    int: [3, True, 1.0, "1", 2**31, -(2**31) - 1, 2**63, -(2**63) - 1, 10**400, None],
    float: [1, True, "1.0", 0.1, 1e300, math.nan, math.inf, None],
    str: ["z", 1, b"a", "\ud83d", ["a"], None], list: [(), ("a",), {}, "a", None],
    dict: [[], "a", None], type(None): [False, 0, "", "null", [], {}]
}  # fmt: skip


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


def even(value):
    if value != 2:
        raise ValueError("two")


def objects(inner):
    named = st.dictionaries(st.sampled_from(["a", "b", "c?"]), inner, max_size=3)
    return named | inner.map(lambda shape: {str: shape})


def shapes_of(leaves):
    def wider(inner):
        lists = inner.map(lambda shape: [shape]) | inner.map(lambda shape: (shape, None))
        pairs = st.tuples(inner, inner) | st.tuples(objects(inner), objects(inner))
        return lists | pairs | objects(inner)

    return st.recursive(leaves, wider, max_leaves=5)


CLOSED = [frozenset({"x", "y"}), frozenset({1, 2}), frozenset({True})]
with_columns = st.sampled_from([str, int, float, bool, *CLOSED, Checked(int, even)])
any_set = st.sets(st.sampled_from(["a", "b", 1, 2, 3.0, True]), min_size=1)
shapes = shapes_of(with_columns | any_set | st.sampled_from([None, even]))


def records_of(shape):
    """Return values of a shape; a function in it takes 2."""
    if isinstance(shape, tuple):
        return st.one_of([records_of(option) for option in shape])
    if isinstance(shape, list):
        return st.lists(records_of(shape[0]), max_size=2)
    if isinstance(shape, dict) and str in shape:
        return st.dictionaries(st.text("xyz", max_size=2), records_of(shape[str]), max_size=2)
    if isinstance(shape, dict):
        required = {key: records_of(inner) for key, inner in shape.items() if key[-1] != "?"}
        optional = {key[0]: records_of(inner) for key, inner in shape.items() if key[-1] == "?"}
        return st.fixed_dictionaries(required, optional=optional)
    if isinstance(shape, set | frozenset):
        return st.sampled_from(sorted(shape, key=repr))
    if shape is None:
        return st.none()
    kinds = {str: st.text("ab", max_size=2), int: st.integers(-9, 9), bool: st.booleans()}
    return (kinds | {float: st.sampled_from([0.5, -1.0])}).get(shape, st.just(2))


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
    if isinstance(shape, set | frozenset):
        return exact(value) in map(exact, shape)
    if shape is None:
        return value is None
    if isinstance(shape, Checked):
        return type(value) is int and value == 2
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


LEAVES = [pa.string(), pa.bool_(), pa.int32(), pa.int64(), pa.float32(), pa.float64()]
LAYERS = [  # of a type, and of a value
    (lambda each: each, lambda each: each),
    (pa.list_, lambda each: [each, None]),
    (lambda each: pa.struct({"a": each}), lambda each: {"a": each}),
]


@settings(quick, max_examples=100)
@example(math.inf)
@given(st.sampled_from([each for some in DECEPTIVE.values() for each in some]) | json_values)
def test_rows_come_back_from_arrow_as_they_were_or_are_refused(value):
    for leaf, (outer_type, outer), (inner_type, inside) in product(LEAVES, LAYERS, LAYERS):
        rows, schema = [{"a": outer(inside(value))}], pa.schema({"a": outer_type(inner_type(leaf))})
        back = None
        with suppress(pa.ArrowException, TypeError, ValueError, AttributeError, OverflowError):
            back = pa.RecordBatch.from_pylist(rows, schema).to_pylist()
        batch, error = result(to_batch, rows, schema)
        assert (error is None) == (is_plain(rows) and exact(back) == exact(rows))
        assert error or exact(batch.to_pylist()) == exact(rows)


FILE = File("a.txt", str, url="https://example.org/1.0/a.txt", sha256="0" * 64)
SPLITS = {"train": [FILE]}


def same(records):
    return [*records]


def joined(shape):
    return Config("c", "all", SPLITS, records=iter, unjoin=iter, shape=shape, key=())


MADE = {  # ways in which a script makes values of a shape, which become rows
    "a view": lambda shape, values: View("all", shape, splits=SPLITS, key=())(same),
    "joined records": lambda shape, values: joined(shape),
    "another form": lambda shape, values: joined(
        Converted(int, shape, values.__getitem__, values.index)
    ),
}


def reader_of(records):
    """Return what stands for a reader, with these records."""
    return Mock(
        place="",
        open=lambda files: {"a.txt": records},
        explain=lambda error: Problem("", what=str(error)),
    )


def cases(shape):
    values = st.lists(records_of(shape) | nearly(records_of(shape)), min_size=1, max_size=2)
    return st.tuples(st.just(shape), values)


@settings(quick, max_examples=600)  # of most shapes no script is made
@given(st.sampled_from(sorted(MADE)), objects(shapes_of(with_columns)).flatmap(cases))
def test_no_split_has_a_row_that_its_declaration_forbids(kind, case):
    shape, values = case
    try:
        config = MADE[kind](shape, values)
        schema = arrow_schema(config.features)
    except ScriptError:
        return
    given = range(len(values)) if kind == "another form" else values
    plan = SplitPlan("tea", config, "train", (FILE,), reader_of(given), lambda read: given)
    batches, error = result(lambda: list(to_batches(generate(plan), schema)))
    assert isinstance(error, RecordError | RowError | None)
    sound = all(fits(shape, value) for value in values)
    assert sound or error
    if kind == "joined records" and not error:  # the way back
        rows = pa.Table.from_batches(batches, schema).to_pylist()
        assert list(map(config.to_record, rows)) == values
    stated = {column.path: column.values for column in config.fields if column.values}
    for path, value in nodes(pa.Table.from_batches(batches or [], schema).to_pylist()):
        place = re.sub(r"(\[\])+$", "", general(path).removeprefix("[]."))
        assert value is None or isinstance(value, list) or value in stated.get(place, [value])
