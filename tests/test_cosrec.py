"""What is particular to CoSRec: turns in a text, files joined by id, judgments as text, views."""

import importlib
import json
import shutil
from pathlib import Path

import pytest

from parley.builds.sources import Sources, split_plan
from parley.declaration.registry import get
from parley.read.transcript import Note
from parley.rows.splits import generate

cosrec = get("cosrec")
configs = cosrec.configs
turns_and_back = importlib.import_module("parley_datasets.cosrec.rows")


@pytest.fixture
def copy(tmp_path):
    """A copy of the sample, for a test to spoil."""
    return Path(shutil.copytree(cosrec.sample, tmp_path / "source"))


def records(root, config, split=None):
    """Return the records of a split, as `parley build` reads them."""
    return list(split_plan(Sources(cosrec, root), config, split or config).records())


def rows(root, config, split=None):
    return list(generate(split_plan(Sources(cosrec, root), config, split or config)))


def by_id(rows):
    return {row["dialogue_id"]: row for row in rows}


def add(path, value):
    path.write_text(path.read_text() + json.dumps(value) + "\n")


@pytest.mark.parametrize(("text", "turns"), [
    ("U: Hi\nS: Hello", [("user", "Hi"), ("assistant", "Hello")]),
    ("S: One\nS: Two", [("assistant", "One"), ("assistant", "Two")]),
    ("U:  Two  spaces ", [("user", " Two  spaces ")]),
    ("U: A list:\n- tea\n\n- milk", [("user", "A list:\n- tea\n\n- milk")]),
    ("U: Hi\nS:\nU: Hello?", [("user", "Hi"), ("assistant", ""), ("user", "Hello?")]),
    ("U:\n- tea\nS: Yes", [("user", "\n- tea"), ("assistant", "Yes")]),
    ("U: Plan U: or S: B\n S: no", [("user", "Plan U: or S: B\n S: no")]),
    ("U: USB\u2028S: no\r", [("user", "USB\u2028S: no\r")]), ("U: Hi\n", [("user", "Hi\n")])
])  # fmt: skip
def test_turns_and_back(text, turns):
    found = turns_and_back.to_turns(text)
    assert [(turn["role"], turn["text"]) for turn in found] == turns
    assert turns_and_back.to_text(found) == text
    rows = list(configs["utterances"].rows([{"c": text}]))
    assert [(row["speaker"], row["text"]) for row in rows] == turns
    assert [(row["dialogue_id"], row["turn"]) for row in rows] == [
        ("c", n) for n in range(len(turns))
    ]


def test_files_are_joined_by_id_not_by_position(copy):
    before = records(copy, "crowd")
    for path in (copy / "dataset/crowd").glob("[!c]*.jsonl"):
        path.write_text("".join(reversed(path.read_text().splitlines(keepends=True))))
    assert records(copy, "crowd") == before


@pytest.mark.parametrize("name", ["quality", "intent_annotations", "keywords"])
def test_what_a_file_lacks_is_null_and_what_is_empty_is_not(copy, name):
    column = {"quality": "ratings", "keywords": "users"}.get(name, name)
    key = "CoSRec-Crowd_9002"
    path = copy / f"dataset/crowd/{name}.jsonl"
    kept = [line for line in path.read_text().splitlines(keepends=True) if key not in line]
    for empty in (False, True):
        path.write_text("".join(kept))
        if empty:
            add(path, {key: {} if name == "keywords" else []})
            if name == "keywords":
                add(copy / "dataset/crowd/profiles.jsonl", {key: {}})
        record = by_id(records(copy, "crowd"))[key]
        row = configs["crowd"].to_row(record)
        assert row[column] == ([] if empty else None)
        assert configs["crowd"].to_record(row) == record
        assert (name in record) is empty


@pytest.mark.parametrize(("query", "named"), [
    ("CoSRec-Curated_9001_0_7#0", "9001_0_7#0"),
    ("CoSRec-Curated_9001_0_0", "9001_0_0"),  # of a recommendation, without a user
    ("CoSRec-Curated_9009_0_0", "9009: "),
])  # fmt: skip
def test_a_judgment_without_intent_is_refused_of_queries(copy, query, named):
    path = copy / "dataset/curated/qrels.qrels"
    path.write_text(path.read_text() + f"{query}\t0\td\t1\n")
    with pytest.raises(ValueError, match=named):
        records(copy, "queries", "curated")


def record(text, **files):
    return {"dialogue_id": "c", "conversations": text, **files}


@pytest.mark.parametrize(
    ("variants", "text"),
    [(["one", "three", "four"], "three"), (["abc", "xyz", "b"], "abc"), ([], None)],
)
def test_the_text_of_a_query_is_the_longest_formulation(variants, text):
    intents = [{"id": "c_0_0", "type": "search", "query_variants": variants}]
    judgments = [f"c_0_0\t0\td{relevance}\t{relevance}" for relevance in (0, 1, 2)]
    files = {"intents": [{"utterance": 0, "intents": intents}], "qrels": judgments}
    (row,) = configs["queries"].rows([record("U: Hi", **files)])
    assert (row["text"], row["variants"], row["relevant"]) == (text, variants, 2)


@pytest.mark.parametrize(("text", "messages", "turns"), [
    ("U: Hi\nS: Yes", [("user", "Hi"), ("assistant", "Yes")], [[0], [1]]),
    ("U: a\nU: b\nS: c\nS:\nS: d\nU: e",
     [("user", "a\nb"), ("assistant", "c\n\nd"), ("user", "e")], [[0, 1], [2, 3, 4], [5]]),
    ("S: a\nS: b\nU: c",
     [("user", "<start>"), ("assistant", "a\nb"), ("user", "c")], [[], [0, 1], [2]]),
    ("U: a\nb", [("user", "a\nb")], [[0]]),
])  # fmt: skip
def test_a_chat_alternates_and_knows_its_turns(text, messages, turns):
    (row,) = configs["messages"].rows([record(text)])
    assert row["dialogue_id"] == "c"
    assert [(m["role"], m["content"]) for m in row["messages"]] == messages
    assert row["source_turns"] == turns
    assert row["raters"] is row["coherence"] is row["fluency"] is None


def test_intents_stand_beside_the_users_turns(copy):
    lay_out = cosrec.layout.transcript
    crowd = lay_out(by_id(rows(copy, "crowd"))["CoSRec-Crowd_9002"])
    assert [turn.speaker for turn in crowd.turns[:4]] == ["user", *["assistant"] * 2, "user"]
    assert [len(turn.notes) for turn in crowd.turns] == [2, 0, 0, 2, 0, 2, 0, 0]
    seen = [("recommendation", "3 of 4"), ("none", "1 of 4")]
    assert [(note.text, note.by) for note in crowd.turns[0].notes] == seen
    (ratings,) = crowd.tables
    assert ratings.columns == ("mean", "1", "2", "3", "4", "5")
    assert dict(ratings.rows)["fluency"] == ("4.2", "4", "5", "4", "4", "4")
    curated = lay_out(by_id(rows(copy, "curated"))["CoSRec-Curated_9001"])
    (recommendation,), (search,) = (curated.turns[n].notes for n in (0, 2))
    due = "pot for baking bread with a crisp crust"
    assert recommendation == Note("recommendation", kind="intent", detail=due)
    due = "why does steam give a crisp crust when baking bread"
    assert search == Note("search", kind="intent", detail=due)
    assert curated.turns[6].notes[1].detail.startswith("B0INVENT01 · reviews")
    assert [label for label, _ in curated.after].count("profile") == 2


def test_a_query_is_laid_out_with_the_judged_documents(copy):
    found = {row["query_id"]: row for row in rows(copy, "queries", "curated")}
    search = cosrec.layout.transcript(found["CoSRec-Curated_9001_1_0"])
    assert [turn.notes for turn in search.turns] == [(), (), (Note("canonical"),)]
    assert search.before == [("utterance", "1 of CoSRec-Curated_9001")]
    user = cosrec.layout.transcript(found["CoSRec-Curated_9002_1_0#1"])
    assert user.before[1:] == [("user index", "1")]
    (card,) = user.judged
    (pool,) = card.pools
    assert (user.part_of, pool.name) == ("CoSRec-Curated_9002", "user 1")
    due = {"highly": "b0invent13", "partially": "B0INVENT11", "not": "B0INVENT12"}
    assert list(pool.grades) == [(f"{grade} relevant", (id,)) for grade, id in due.items()]
