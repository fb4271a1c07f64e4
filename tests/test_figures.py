import json
from dataclasses import asdict
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from parley.base.errors import MissingSplitError
from parley.declaration.figures import UNEXPLAINED, Differs, counted, documented
from parley.verification.figures import every_count, figures, judge

KNOWN = Differs("39.4", "39.5", "folds")


@pytest.mark.parametrize(("stated", "measured", "known", "due"), [
    (846, 847, None, (847, UNEXPLAINED)),
    (846, 846.0, None, ("846.0", UNEXPLAINED)),  # a count is an integer
    ("36.97", 36.965, None, ("36.97", "matches")),  # may have been rounded either way
    ("36.97", 36.9649, None, ("36.96", UNEXPLAINED)),
    (".376", 0.3766, None, ("0.377", UNEXPLAINED)), ("-.092", 0.0916, None, ("0.092", UNEXPLAINED)),
    ("4e1", 38.4, None, ("38", "matches")), ("4e1", 34.9, None, ("35", UNEXPLAINED)),
    ("20-23", "20-23", None, ("20-23", "matches")),
    ("3.47", float("nan"), None, ("nan", UNEXPLAINED)),
    ("3.47", "3.47", None, ("3.47", UNEXPLAINED)), ("nan", "nan", None, ("nan", "matches")),
    ("39.4", 39.54, KNOWN, ("39.5", "differs")),
    ("39.4", 39.41, KNOWN, ("39.4", UNEXPLAINED)),  # a known difference that disappeared
    ("39.4", 39.70, KNOWN, ("39.7", UNEXPLAINED)),  # it differs otherwise than known
    ("39.4", 39.52, Differs("39.4", 39.5, "folds"), ("39.52", UNEXPLAINED)),
])  # fmt: skip
def test_a_value_is_judged_within_the_rounding_that_it_is_stated_with(stated, measured, known, due):
    assert judge(stated, measured, known)[:2] == due


def computed(function):
    function.__name__ = "f"
    return list(figures(SimpleNamespace(f=function), None))


def verdicts(function):
    return {figure.name: (figure.verdict, figure.reason) for figure in computed(function)}


def raising(error):
    def function(data):
        raise error

    return function


def rows(data, split):
    if split == "train":
        raise MissingSplitError("train was not built")
    return 2


UNBUILT = ("not checked", "train was not built")
OTHERS = {"f.d": "matches", "f.a": UNEXPLAINED, "f.b": UNEXPLAINED}
ONE_DIFFERS = {"f.en.mean": ("differs", "fewer dialogues"), "f.en.sd": "matches"}
SD_STAYS = Differs("3.55 ± 0.72", "3.57 ± 0.72", "fewer dialogues")


@pytest.mark.parametrize(
    ("stated", "function", "due"),
    [
        (1, raising(MissingSplitError("train was not built")), {"f": UNBUILT}),
        ({"train": 1, "test": 2}, rows, {"f.train": UNBUILT, "f.test": "matches"}),
        ({"a": 1}, raising(ModuleNotFoundError(name="sacremoses")), {"f.a": "not checked"}),
        ({"a": 1, "b": 2}, lambda data: {"a": 1}, {"f.a": "matches", "f.b": UNEXPLAINED}),
        ({"a": 1}, cache(lambda data: {"a": 1}), {"f.a": "matches"}),
        # the others sorted: they are often of a set
        ({"d": 1}, lambda data: dict.fromkeys("dba", 1), OTHERS),
        ({"en": SD_STAYS}, lambda data, column: (3.57, 0.72), ONE_DIFFERS),
    ],
)
def test_a_verdict_and_its_reason(stated, function, due):
    found = verdicts(documented("somewhere", stated)(function))
    assert list(found) == list(due)
    for name, told in due.items():
        assert told in (found[name], found[name][0])


def test_what_cannot_be_reproduced_is_not_computed():
    alpha = documented("somewhere", 1, not_reproducible="not released")(raising(AssertionError))
    assert verdicts(alpha) == {"f": ("not reproducible", "not released")}


def test_a_computation_that_fails_is_unexplained_but_for_memory_or_a_mistyped_import():
    verdict, _ = verdicts(documented("somewhere", 1)(lambda data: 1 / 0))["f"]
    assert verdict == UNEXPLAINED
    for error in (ModuleNotFoundError(name="no_such_package"), MemoryError()):
        with pytest.raises(type(error)):
            verdicts(documented("x", 1)(raising(error)))


@pytest.mark.parametrize(("stated", "measured", "written"), [
    (3, np.int64(3), 3), ("36.97", np.float32(36.97), "36.97"),
    ("9007199254740993", 2**53 + 1, "9007199254740993"),  # no float equals it
    ("x", np.str_("x"), "x"),
])  # fmt: skip
def test_a_value_of_numpy_is_measured_as_the_equal_one_of_python(stated, measured, written):
    (figure,) = computed(documented("somewhere", stated)(lambda data: measured))
    assert (figure.verdict, figure.measured) == ("matches", written)
    assert json.loads(json.dumps(asdict(figure)))["measured"] == written


@pytest.mark.parametrize("odd", [
    *(None, [1], {None: 1}, {"a": None}, {"a": {2: 1}}, (1, None)),
    *(True, 1j, -(2**63) - 1, 10**5000, np.longdouble(1)),
], ids=lambda odd: f"{type(odd).__name__}")  # fmt: skip
def test_what_odd_rows_give_is_unexplained(odd):
    @documented("somewhere", {"a": "1.0"})
    def measured(data):
        return odd

    for figure in computed(measured):
        assert figure.verdict == UNEXPLAINED
        json.dumps(asdict(figure))


def test_a_function_is_called_for_each_path_of_keys_that_it_takes():
    calls = []

    @documented("somewhere", {"age": {"en": "36.97 ± 10.81", "ja": None}, "size": {"en": 3}})
    def cell(data, what, column):
        calls.append((what, column))
        return (36.971, 10.83) if what == "age" else 3

    assert {name: verdict for name, (verdict, _) in verdicts(cell).items()} == {
        "f.age.en.mean": "matches",
        "f.age.en.sd": UNEXPLAINED,
        "f.size.en": "matches",
    }
    assert calls == [("age", "en"), ("size", "en")]  # the empty cell is none


@pytest.mark.parametrize("odd", [
    *(True, np.int64(1), 10**400, [1], Differs("1", None, "lost"), Differs(1, 2, "")),
    *("54%", "3,68", "1,030.5"),
])  # fmt: skip
def test_a_stated_value_that_is_no_text_or_number_is_refused(odd):
    with pytest.raises(ValueError, match=r"age\.en"):
        documented("somewhere", {"age": {"en": odd}})


ODD_COUNTS = [float("nan"), "7", (1, 2, 3), {"a": "x"}, None, {"a.b": 1, "a": {"b": 2}}, {"-->": 1}]


@pytest.mark.parametrize(("given", "due"), [
    (7, {"f": 7}), (np.int64(7), {"f": 7}), (0.125, {"f": "0.12"}), (-0.001, {"f": "0.00"}),
    ({"a": 1, "b": {"c": -2.5}}, {"f.a": 1, "f.b.c": "-2.50"}),
    ({"a": (3.0, 1.0)}, {"f.a.mean": "3.00", "f.a.sd": "1.00"}),
    *((odd, {}) for odd in ODD_COUNTS),  # the fault of the function
])  # fmt: skip
def test_a_count_has_the_name_of_its_function_and_keys(given, due):
    @counted(decimals=2)
    def f(data):
        return given

    (count,) = every_count(SimpleNamespace(f=f), None)
    assert (count.numbers, count.failed) == (due, not due)
