from types import ModuleType

import pytest

from parley.figures import Known, MissingSplitError, agrees, documented, figures, judge, written


@pytest.mark.parametrize(
    ("stated", "measured", "same"),
    [
        (846, 846, True),
        (846, 847, False),
        (846, 846.0, False),  # a count is an integer
        ("36.97", 36.97278, True),
        ("36.97", 36.9749, True),
        ("36.97", 36.9751, False),
        ("36.97", 36.965, True),
        ("36.97", 36.9649, False),
        (".376", 0.3762, True),
        (".376", 0.3766, False),
        ("-.092", -0.0916, True),
        ("-.092", 0.0916, False),
        ("5.6", 5.5975, True),
        ("22", 22.1, True),
        ("22", 22.6, False),
        ("4e1", 38.4, True),
        ("4e1", 34.9, False),
        ("17e3", 17464, True),
        ("17e3", 17501, False),
        ("20-23", "20-23", True),
        ("20-23", "20-24", False),
        ("3.47", float("nan"), False),
        ("3.47", "3.47", False),
    ],
)
def test_a_value_agrees_within_the_rounding_it_is_stated_with(stated, measured, same):
    assert agrees(stated, measured) is same


def test_a_measured_value_is_written_like_the_stated_one():
    assert written(36.97278, "36.97") == "36.97"
    assert written(38.446, "4e1") == "38"
    assert written(17464, "17e3") == "17464"
    assert written(846, 846) == 846


KNOWN = Known("39.5", "folds")


@pytest.mark.parametrize(
    ("documented", "measured", "known", "verdict"),
    [
        ("39.4", 39.41, None, "matches"),
        ("39.4", 39.54, None, "UNEXPLAINED"),
        ("39.4", 39.54, KNOWN, "differs"),
        ("39.4", 39.41, KNOWN, "UNEXPLAINED"),  # a known difference that disappeared
        ("39.4", 39.70, KNOWN, "UNEXPLAINED"),  # it differs otherwise than known
    ],
)
def test_verdicts(documented, measured, known, verdict):
    assert judge(documented, measured, known)[1] == verdict


def module(**functions):
    result = ModuleType("statistics")
    vars(result).update(functions)
    return result


def verdicts(function):
    return {f.name: (f.verdict, f.reason) for f in figures(module(f=function), None)}


def test_a_missing_split_and_a_missing_package_are_not_checked():
    @documented(1, "somewhere")
    def split(data):
        raise MissingSplitError("raw was not built")

    @documented({"a": 1, "b": 2}, "somewhere")
    def package(data):
        raise ModuleNotFoundError(name="sacremoses")

    assert verdicts(split) == {"f": ("not checked", "raw was not built")}
    reason = "the package sacremoses is not installed; it is in the extra `tokens`"
    assert verdicts(package) == dict.fromkeys(("f.a", "f.b"), ("not checked", reason))


def test_what_cannot_be_reproduced_is_not_computed():
    @documented(1, "somewhere", not_reproducible="not released")
    def alpha(data):
        raise AssertionError

    assert verdicts(alpha) == {"f": ("not reproducible", "not released")}


def test_a_computation_that_fails_or_lacks_a_value_is_unexplained():
    @documented({"a": 1, "b": 2}, "somewhere")
    def lacks(data):
        return {"a": 1}

    @documented(1, "somewhere")
    def fails(data):
        return 1 / 0

    assert verdicts(lacks)["f.a"][0] == "matches"
    assert verdicts(lacks)["f.b"] == ("UNEXPLAINED", "the computation gives no value for it")
    assert verdicts(fails)["f"][0] == "UNEXPLAINED"
    assert "ZeroDivisionError" in verdicts(fails)["f"][1]


def test_a_value_that_no_document_states_is_unexplained():
    @documented({"a": 1}, "somewhere")
    def more(data):
        return {"a": 1, "b": 2}

    assert verdicts(more) == {
        "f.a": ("matches", ""),
        "f.b": ("UNEXPLAINED", "the document states no such value"),
    }


def test_a_mistyped_import_is_no_missing_extra():
    @documented(1, "somewhere")
    def mistyped(data):
        import no_such_package  # noqa: F401

    with pytest.raises(ModuleNotFoundError):
        verdicts(mistyped)
