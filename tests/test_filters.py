"""The filters of dialogues: which columns they are, and their values against the rows."""

import shutil
from collections import Counter, defaultdict

import pyarrow as pa
import pytest
from build_changes import edit, parquet, retable

from parley.base.errors import OutputError
from parley.builds.build import build
from parley.builds.built_folder import open_folder
from parley.builds.sources import open_source
from parley.declaration.registry import get
from parley.page import build_charts
from parley.read.columns import NOBODY, asked, id_of
from parley.read.dialogues import dialogues
from parley.read.filters import filter_of, filter_of_column, pairs_of
from parley.read.transcript import Facet

TOLD = Facet("it was {} then", "it was not {}", column="")


@pytest.mark.parametrize(("values", "options", "due"), [
    (["b", "a", "b"], {}, {"labels": ["b", "a"], "values": [[0], [1], [0]], "many": False}),
    ([["b", "a"], ["a"], []], {}, {"labels": ["a", "b"], "many": True, "complete": False}),
    ([{"x": "b", "y": "a"}, {"y": "a"}, "a"], {}, {"sides": [[0, 1], [1], [NOBODY]]}),
    ([{"x": ["b", "a"]}, []], {}, {"sides": [[0, 0], []], "many": True}),
    ([[1], [2], [3.5], []], {}, {"values": [[1], [2], [3.5], []]}),
    ([[0.333], []], {}, {"values": [[0.333], []]}), (["a", "a"], {}, {}), ([[], []], {}, {}),
    (["a", "b", "c", "c"], {"most": 2}, {}),
    (["a", "b", "b"], {"most": 2}, {"labels": ["b", "a"]}),
    (["a", "b", "c"], {"order": "bax"}, {"labels": ["b", "a", "c"]}),
    (["a", "b"], {}, {"phrase": ["x is ", ""], "without": ["x is not ", ""]}),
    (["a", {"x": "b"}], {}, {"phrase": ["has x ", ""], "without": ["does not have x ", ""]}),
    (["a", "b"], {"words": TOLD}, {"phrase": ["it was ", " then"], "without": ["it was not ", ""]}),
])  # fmt: skip
def test_values_of_a_filter(values, options, due):
    found = filter_of("x", [pairs_of(each, {"x": 0, "y": 1}) for each in values], **options)
    assert bool(found) == bool(due)
    assert found | due == found


def test_one_split_of_the_same_dialogues_stands_and_a_difference_of_all():
    places = (["a/x", "b/x"], ["c/x", "a/y", "d/y"], ["c/x"])
    made = filter_of("split", [pairs_of(each, {}) for each in places])
    assert (sorted(made["labels"]), made["complete"]) == (["a/x", "a/y", "c/x"], True)
    assert filter_of("differs", [[(NOBODY, "a")]])["labels"] == ["a"]


def test_labels_of_a_column_have_its_order_ranks_and_what_sql_needs():
    dataset, known = get("casino"), {column.name: column for column in asked(get("casino"))}
    pairs = [[(1, "Extremely satisfied"), (0, "Slightly dissatisfied")], []]
    made = filter_of_column(known["satisfaction"], pairs, dataset)
    assert made["labels"] == ["Slightly dissatisfied", "Extremely satisfied"]
    assert (made["ranks"], made["sides"], made["many"]) == ([2, 5], [[1, 0], []], False)
    due = {"config": "participants", "path": ("satisfaction",), "kind": "label"}
    assert made["column"] == due | {"list": False, "one": True}
    made = filter_of_column(known["deal"], [[(NOBODY, False)], [(NOBODY, True)]], dataset)
    assert (made["labels"], "ranks" in made) == (["yes", "no"], False)


@pytest.mark.parametrize(("values", "widens"), [
    (list(range(100)), False), ([-500, *range(20), 900], True), ([n / 8 for n in range(81)], False),
    ([0.3, 0.3], False), ([n**4 for n in range(2, 40)], True),
    ([1, 2, *[5] * 97, 1000], False),  # nearly all are equal
])  # fmt: skip
def test_the_bars_of_a_histogram_hold_every_number(values, widens):
    scale = filter_of("x", [*([(NOBODY, value)] for value in values), []])["scale"]
    bars = [sum(edge <= value for edge in scale["edges"]) for value in values]
    assert (min(bars), max(bars)) == (scale["first"], scale["last"])
    assert len(set(bars)) <= 20
    assert scale["widens"] == widens
    if widens and values[0] > 0:
        assert max(map(bars.count, bars)) < len(values) / 2
    assert scale["whole"] == isinstance(values[0], int)


def filters_of(built):
    """Return filter -> its (dialogue, side, value), each with its number."""
    counts, ids = build_charts.counts_of(built), [each.id for each in dialogues(built)]
    names = [[*counts.sides(each), None] for each in dialogues(built)]  # of nobody is the last
    found = defaultdict(Counter)
    for made in [made for of in (counts.filters, *counts.more.values()) for made in of.values()]:
        sides = made.get("sides", [[NOBODY] * len(values) for values in made["values"]])
        for id, of, own, values in zip(ids, names, sides, made["values"], strict=True):
            for side, value in zip(own, values, strict=True):
                label = made["labels"][value] if "labels" in made else value
                found[made["name"]][id, of[side], label] += 1
    return found


def values_of(built, config, path, id, side=""):
    """Return the (dialogue, side, value) of a column of a config, each with its number."""
    found = Counter()
    for row in built.rows_with_names(config):
        cell = row
        for part in path:
            cell = cell and cell[part]
        for value in cell if isinstance(cell, list) else [cell]:
            if value is not None:
                value = ("no", "yes")[value] if isinstance(value, bool) else value
                found[str(row[id]), side and row[side], value] += 1
    return found


OTHERS = {  # dataset -> filter -> another config and column that say the same
    "casino": {
        "deal": "participants.deal", "strategies": "utterances.annotations",
        "integrative potential": "participants.integrative_potential",
    },
    "craigslist_bargains": {
        "deal": "messages.deal", "category": "utterances.category", "turns": "outcomes.events",
        "list price": "messages.list_price", "upstream's acts": "dialogue_acts.upstream_intent",
    },
    "cosrec": {},
    "duo": {"preference, own": "messages.preference", "language": "ratings.language"},
}  # fmt: skip


def test_a_filter_has_the_values_of_its_column_and_those_that_other_configs_say(
    sample_build, dataset
):
    built = open_folder(sample_build / dataset.name)
    found, ids = filters_of(built), {each.id for each in dialogues(built)}
    for column in [column for column in asked(dataset) if column.path]:
        side = "speaker" if column.is_of_side else None
        due = values_of(built, column.config, column.path, id_of(dataset, column.config), side)
        due = due if column.kind == "number" else Counter([*due])
        values = {value for *_, value in due}
        of_one = len(values) < 2 and len({id for id, *_ in due}) in (0, len(ids))
        assert found.get(column.name, due) == due, column
        is_free = column.kind == "text" and not column.is_closed
        is_rare = is_free and (len(values) > 20 or len(values) == sum(due.values()))
        assert (column.name in found) != (of_one or is_rare), column
    for filter, place in OTHERS[dataset.name].items():
        config, column = place.split(".")
        due = {(id, value) for id, _, value in values_of(built, config, [column], "dialogue_id")}
        assert {(id, value) for id, _, value in found[filter]} == {*due} - {(id, "") for id in ids}


PERSON = [(name, value) for name in ("gender", "satisfaction") for value in (-1, 99, 0.5)]
PERSON += [("openness_to_experiences", float(number)) for number in ("nan", "inf", "1e101")]
PERSON += [("points_scored", "9"), ("education", 7)]


@pytest.mark.parametrize(("config", "column", "value"), [
    *(("participants", *each) for each in PERSON), ("results", "deal", 1),
    ("strategies", "labels", [99]), ("strategies", "labels", "small-talk"),
])  # fmt: skip
def test_a_value_that_a_column_cannot_have_is_an_error_that_names_it(
    sample_build, tmp_path, config, column, value
):
    folder = shutil.copytree(sample_build / "casino", tmp_path / "casino")
    retable(parquet(folder, config, "train"), lambda table: table.set_column(
        table.column_names.index(column), column, pa.array([value] * len(table))
    ))  # fmt: skip
    counts = build_charts.Counts(open_folder(folder))
    with pytest.raises(OutputError, match=rf"{config}\[0\]\.{column}"):
        assert counts.filters == counts.more


PEOPLE = "priority_high* priority_medium* priority_low* guess_partner_highest_item* "
PEOPLE += "guess_partner_lowest_item* food_got* water_got* firewood_got* partner_points_scored* "
PEOPLE += "partner_satisfaction* partner_opponent_likeness* gender* ethnicity* extraversion* "
PEOPLE += "agreeableness* conscientiousness* emotional_stability* openness_to_experiences*"
COLUMNS = {  # the columns of a side in FACETS, then those of each config, with a * if of a side
    "casino": {
        "FACETS": "labels points_scored satisfaction opponent_likeness svo age education",
        "utterances": "data*", "participants": PEOPLE, "results": "events offers",
        "strategies": "fold*", "scenarios": "points_after_walking_away",
    },
    "cosrec": {
        "FACETS": "", "queries": "utterance judged_0 judged_1 judged_2",
        "intent_labels": "annotators*", "messages": "raters",
    },
    "craigslist_bargains": {
        "FACETS": "target intent intent", "negotiations": "parsed",
        "utterances": "action* offer_price* intent_price* seconds*",
        "outcomes": "buyer_target seller_target events offers seconds",
        "dialogue_acts": "price* prices* tags* parsed_upstream*",
    },
    "duo": {"FACETS": "", "dialogues": "upstream_prompt emotion", "ratings": "score"},
}  # fmt: skip


def test_a_field_stands_once_and_is_of_the_side_or_the_dialogue(sample_build, dataset):
    facets, found = dataset.layout.facets, defaultdict(list)
    first, rest = asked(dataset)[: len(facets)], asked(dataset)[len(facets) :]
    assert [column.name for column in first] == [*facets]
    found["FACETS"] = [column.path[0] for column in first if column.is_of_side]
    for column in rest:
        if column.is_closed or column.kind != "text":  # others may have too many values
            found[column.config].append(column.path[0] + "*" * column.is_of_side)
    assert {config: " ".join(those) for config, those in found.items()} == COLUMNS[dataset.name]
    more = build_charts.counts_of(open_folder(sample_build / dataset.name)).more
    made = {(config, name) for config, filters in more.items() for name in filters}
    assert made <= {(column.config, column.name) for column in rest}


VIEW = '''
PERSON = {"n": Field(int, "a number"), "speaker": Field((str, None), "who it is")}
PERSON |= {"mood": ClassLabel(["good", "bad"]), "age": int, "topic": str}
PERSON["rating"] = Field((int, None), DIALOGUE["rating?"].meaning)  # stands in dialogues


@View("a person, or nobody", {"talk": ID, **PERSON}, of="dialogues", key=("talk", "n"))
def people(records):
    """Yield 31 people, and before them nobody."""
    for record, n in ((record, n) for record in records for n in range(32)):
        what = {"mood": ("good", "bad")[n % 2], "age": n, "topic": f"topic {n % 2}"}
        who = {"n": n, "speaker": f"p{n}" if n else None, "rating": record.get("rating")}
        yield {"talk": record["talk"], **who, **what}


class '''


def test_a_dataset_from_outside_has_filters_of_its_sides_unless_too_many(
    tea, tmp_path, monkeypatch
):
    (tea.folder / "transcript.py").unlink()
    edit(tea.folder / "sample/dialogues.jsonl", '"id"', '"talk"')
    changes = {'"id"': '"talk"', "\nclass ": VIEW, "import CHAT": "import ClassLabel, CHAT"}
    for old, new in (changes | {"        messages,": "        people,"}).items():
        edit(tea.folder / "tea.py", old, new)
    monkeypatch.setenv("PARLEY_DATASETS", str(tmp_path / "more"))
    build(open_source(get("tea"), None, sample=True), tmp_path / "build")
    for most in (build_charts.MOST_SIDES, 31):
        monkeypatch.setattr(build_charts, "MOST_SIDES", most)
        found = filters_of(open_folder(tmp_path / "build" / "tea"))
        assert found.keys() == {"dialogues.rating", "people.mood", "people.age", "people.topic"}
        people = [(n, f"p{n}" if n and most > 30 else None) for n in range(32)]
        rows = [(n, (id, who)) for id in ("s1", "s2") for n, who in people]
        assert {*found["people.age"]} == {(*who, n) for n, who in rows}
        assert {*found["people.mood"]} == {(*who, ("good", "bad")[n % 2]) for n, who in rows}
        assert {*found["people.topic"]} == {(*who, f"topic {n % 2}") for n, who in rows}
