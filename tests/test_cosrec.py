"""What is particular to CoSRec: turns in a text, files joined by id, judgments as text, views."""

import importlib
import json
import shutil
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from parley.build import strict_builder
from parley.collection import get
from parley.errors import RecordError
from parley.figures import Data, checks_of

cosrec = get("cosrec")
views = cosrec.module.VIEWS
to_text = importlib.import_module("parley_datasets.cosrec.rows").to_text


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the sample, for a test to spoil."""
    return Path(shutil.copytree(cosrec.sample, tmp_path / "source"))


def records(root: Path, config: str, split: str | None = None, strict: bool = True) -> list[Any]:
    """Return (key, record) pairs, as `parley build` reads them or as `datasets` does."""
    builder = (
        strict_builder(cosrec, config, root)
        if strict
        else cosrec.builder(config_name=config, data_dir=str(root), cache_dir=str(root / "cache"))
    )
    generators = {str(g.name): g for g in builder._split_generators(None)}
    generator = generators[split or config]
    return list(builder.records(**generator.gen_kwargs))


def rows(root: Path, config: str) -> dict[str, dict[str, Any]]:
    return {
        key: cosrec.module.TO_ROW[config](record)
        for key, record in records(root, config, "curated" if config == "qrels" else None)
    }


def lines(path: Path) -> dict[str, Any]:
    return {k: v for line in path.read_text().splitlines() for k, v in json.loads(line).items()}


def add(path: Path, value: Any) -> None:
    path.write_text(path.read_text() + json.dumps(value) + "\n")


# Turns ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        ("U: Hi\nS: Hello", [("user", "Hi"), ("assistant", "Hello")]),
        ("S: One\nS: Two", [("assistant", "One"), ("assistant", "Two")]),
        ("U:  Two  spaces ", [("user", " Two  spaces ")]),
        ("U: A list:\n- tea\n\n- milk", [("user", "A list:\n- tea\n\n- milk")]),
        ("U: Hi\nS:\nU: Hello?", [("user", "Hi"), ("assistant", ""), ("user", "Hello?")]),
        ("U:\n- tea\nS: Yes", [("user", "\n- tea"), ("assistant", "Yes")]),
        ("U: Plan U: or S: B\n S: no", [("user", "Plan U: or S: B\n S: no")]),
        ("U: USB\u2028S: no\r", [("user", "USB\u2028S: no\r")]),
        ("U: Hi\n", [("user", "Hi\n")]),
    ],
)
def test_turns_and_back(text: str, turns: list[tuple[str, str]]) -> None:
    found = cosrec.module.to_turns(text)
    assert [(turn["role"], turn["text"]) for turn in found] == turns
    assert to_text(found) == text


@pytest.mark.parametrize(
    "text",
    ["", "Sure!\nU: Hi", " U: Hi", "u: Hi", "U:Hi", "U: Hi\nS:Hello", "U: Hi\nS: ", "U: \n-"],
)
def test_a_text_that_could_not_be_given_back_is_refused(text: str, copy: Path) -> None:
    with pytest.raises(ValueError, match='turns that begin with "U: " or "S: " and text, not'):
        cosrec.module.to_turns(text)
    add(copy / "dataset/raw/conversations.jsonl", {"CoSRec-Raw_9999": text})
    with pytest.raises(RecordError, match=r"raw/conversations.jsonl, line 4: CoSRec-Raw_9999"):
        records(copy, "dialogues", "raw")
    builder = cosrec.builder(data_dir=str(copy), cache_dir=str(copy / "cache"))
    with pytest.raises(ValueError, match="CoSRec-Raw_9999: expected turns"):
        list(builder.as_streaming_dataset(split="raw"))


# Lines of JSON ----------------------------------------------------------------------------


def test_a_line_ends_at_a_newline_only(copy: Path) -> None:
    path = copy / "dataset/raw/conversations.jsonl"
    text = "U: a\u2028b\u0085c\u001ed\ufeff"
    path.write_bytes(json.dumps({"x": text}, ensure_ascii=False).encode())  # and none at the end
    assert records(copy, "dialogues", "raw") == [("x", {"x": text})]


@pytest.mark.parametrize("line", ["\ufeff{}", "\x1e{}", "", " {}", "null", "[]"])
@pytest.mark.parametrize("strict", [True, False])
def test_a_line_that_jsonlines_might_pass_over_is_an_error(
    copy: Path, line: str, strict: bool
) -> None:
    path = copy / "dataset/raw/conversations.jsonl"
    good = path.read_text().splitlines(keepends=True)
    path.write_text("".join([good[0], line, "\n", *good[1:]]), encoding="utf-8")
    with pytest.raises((RecordError, ValueError), match="line 2: expected an object, found"):
        records(copy, "dialogues", "raw", strict)


@pytest.mark.parametrize(
    ("line", "found"),
    [({}, "none"), ({"a": "U: Hi", "b": "U: Hi"}, "a, b")],
)
def test_a_line_has_one_id(copy: Path, line: Any, found: str) -> None:
    add(copy / "dataset/raw/conversations.jsonl", line)
    with pytest.raises(ValueError, match=f"expected one new id in each line, found {found}$"):
        records(copy, "dialogues", "raw")


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("quality", [{"coherence": 6, "logicality": 1, "informativeness": 1, "fluency": 1}], "6"),
        ("quality", [{"coherence": 1, "logicality": 1, "informativeness": 1}], "fluency: missing"),
        ("intents", [{"utterance": "0", "intents": []}], "utterance: expected an integer"),
        (
            "intents",
            [{"utterance": 0, "intents": [{"id": "x", "type": "search", "product": "B0",
                                           "query_variants": []}]}],
            "product: unknown field",
        ),
        (
            "intents",
            [{"utterance": 0, "intents": [{"id": "x", "type": "product_details",
                                           "query_variants": []}]}],
            "intents",
        ),
        ("keywords", {"A0": "cheap"}, "A0: expected a list"),
        ("profiles", {"A0": None}, "A0: expected a string"),
    ],
)  # fmt: skip
def test_a_record_of_another_shape_is_refused(
    copy: Path, name: str, value: Any, problem: str
) -> None:
    add(copy / f"dataset/curated/{name}.jsonl", {"CoSRec-Curated_9999": value})
    with pytest.raises(RecordError, match=rf"{name}.jsonl, line 3: .*{problem}"):
        records(copy, "curated")


# Files joined by id -----------------------------------------------------------------------


def test_an_intent_has_the_id_of_its_place(copy: Path) -> None:
    path = copy / "dataset/curated/intents.jsonl"
    path.write_text(path.read_text().replace('"CoSRec-Curated_9001_1_0"', '"CoSRec-Curated_9_1_0"'))
    message = r"9001\[1\]\.intents\[0\]\.id: expected CoSRec-Curated_9001_1_0, found .*_9_1_0$"
    with pytest.raises(ValueError, match=message):
        records(copy, "curated")


def test_files_are_joined_by_id_not_by_position(copy: Path) -> None:
    before = records(copy, "crowd")
    for path in (copy / "dataset/crowd").glob("[!c]*.jsonl"):
        path.write_text("".join(reversed(path.read_text().splitlines(keepends=True))))
    assert records(copy, "crowd") == before
    crowd = rows(copy, "crowd")
    assert [crowd[f"CoSRec-Crowd_900{n}"]["users"] is None for n in (1, 2, 3)] == [0, 1, 0]
    assert len(crowd["CoSRec-Crowd_9002"]["ratings"]) == 5


@pytest.mark.parametrize("name", ["quality", "intent_annotations", "keywords"])
def test_what_a_file_lacks_is_null_and_what_is_empty_is_not(copy: Path, name: str) -> None:
    column = {"quality": "ratings", "keywords": "users"}.get(name, name)
    key = "CoSRec-Crowd_9002"
    path = copy / f"dataset/crowd/{name}.jsonl"
    kept = {k: v for k, v in lines(path).items() if k != key}
    for empty in (False, True):
        path.write_text("".join(json.dumps({k: v}) + "\n" for k, v in kept.items()))
        if empty:
            add(path, {key: {} if name == "keywords" else []})
            if name == "keywords":
                add(copy / "dataset/crowd/profiles.jsonl", {key: {}})
        record = dict(records(copy, "crowd"))[key]
        row = cosrec.module.to_crowd_row(record)
        assert row[column] == ([] if empty else None)
        assert cosrec.module.to_crowd_record(row) == record
        assert (name in record) is empty


def test_a_user_without_profile_has_null(copy: Path) -> None:
    users = rows(copy, "crowd")["CoSRec-Crowd_9001"]["users"]
    assert [user["profile"] is None for user in users] == [False, True]
    assert users[1]["keywords"] == ["cheap", "sturdy", ""]


def test_only_product_details_have_a_product(copy: Path) -> None:
    row = rows(copy, "curated")["CoSRec-Curated_9001"]
    intents = [intent for entry in row["intents"] for intent in entry["intents"]]
    assert [intent["product"] for intent in intents] == [None] * 3 + ["B0INVENT01"] * 2
    back = cosrec.module.to_curated_record(row)["intents"]
    assert ["product" in i for entry in back for i in entry["intents"]] == [False] * 3 + [True] * 2


BAD_UTTERANCE = r"expected 0 to 4, an utterance of the user in conversations.jsonl, found "


@pytest.mark.parametrize(
    ("name", "key", "value", "message"),
    [
        ("quality", "CoSRec-Crowd_9999", [], "expected an id that .*crowd/conversations.jsonl has"),
        ("keywords", "CoSRec-Crowd_9002", {}, "expected no line, as in profiles.jsonl, found one"),
        ("profiles", "CoSRec-Crowd_9002", {}, "expected no line, as in keywords.jsonl, found one"),
        (
            "profiles",
            "CoSRec-Crowd_9003",
            {"A9": "Likes tea."},
            "expected a user that keywords.jsonl has",
        ),
        *(
            (
                "intent_annotations",
                "CoSRec-Crowd_9001",
                [{"utterance": n, "intent_annotations": []}],
                BAD_UTTERANCE + str(n),
            )
            for n in (-1, 5)
        ),
        (
            "intent_annotations",
            "CoSRec-Crowd_9001",
            [{"utterance": 0, "intent_annotations": []}] * 2,
            "expected each utterance once, found 0",
        ),
    ],
)
def test_a_broken_reference_names_file_id_expected_and_found(
    copy: Path, name: str, key: str, value: Any, message: str
) -> None:
    path = copy / f"dataset/crowd/{name}.jsonl"
    content = lines(path) | {key: value}
    path.write_text("".join(json.dumps({k: v}) + "\n" for k, v in content.items()))
    field = {"profiles": r"(\.A9)?", "intent_annotations": r"\[[01]\]\.utterance"}.get(name, "")
    with pytest.raises(ValueError, match=f"crowd/{name}.jsonl: {key}{field}: {message}"):
        records(copy, "crowd")


# Judgments and prompts --------------------------------------------------------------------


def test_judgments_rebuild_the_file(copy: Path) -> None:
    found = rows(copy, "qrels")
    text = "".join(cosrec.module.to_judgment_record(row) + "\n" for row in found.values())
    assert text == (copy / "dataset/curated/qrels.qrels").read_text()
    assert found["CoSRec-Curated_9002_1_0#1\tb0invent13"]["relevance"] == 2


def test_the_type_follows_from_the_query_id_alone(copy: Path) -> None:
    """Passages have a # in their ids too."""
    for row in rows(copy, "qrels").values():
        passage = row["document_id"].startswith("msmarco")
        assert passage == ("#" in row["document_id"])
        assert row["type"] == (0 if passage else 1)


@pytest.mark.parametrize(
    "line",
    ["", "q 0 d 1", "q\t0\td", "\t0\td\t1", "q\t0\t\t1", "q\t1\td\t1", "q\t0\td\t3", "q\t0\td\t01",
     "q\t0\td\t1\r", "q\t0\td\t1\t", "q#\t0\td\t1", "q#a\t0\td\t1", "q\t0\td\t\u0661"],
)  # fmt: skip
@pytest.mark.parametrize("strict", [True, False])
def test_a_malformed_judgment_names_its_line(copy: Path, line: str, strict: bool) -> None:
    path = copy / "dataset/curated/qrels.qrels"
    path.write_bytes(path.read_bytes() + line.encode() + b"\n")
    with pytest.raises((RecordError, ValueError)) as raised:
        records(copy, "qrels", "curated", strict)
    message = str(raised.value)
    assert "curated/qrels.qrels, line 37: " in message
    assert "expected query id, 0, document id and 0, 1 or 2, with tabs between, found" in message


def test_a_judgment_cut_short_is_an_error(copy: Path) -> None:
    path = copy / "dataset/curated/qrels.qrels"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(RecordError, match="line 36: expected a newline"):
        records(copy, "qrels", "curated")


def test_a_byte_of_a_prompt_that_is_no_text_names_its_line(copy: Path) -> None:
    (copy / "prompts/user_summary_prompt.txt").write_bytes(b"one\ntwo\nth\xffree\n")
    with pytest.raises(RecordError, match=r"prompt.txt, line 3: invalid UTF-8: the byte 0xff$"):
        records(copy, "prompts")


def test_prompts_are_exact(copy: Path) -> None:
    (copy / "prompts/user_summary_prompt.txt").write_bytes(b"\n a\r\nb {x} \n\n")
    found = {key: row["text"].encode() for key, row in rows(copy, "prompts").items()}
    assert found == {path.stem: path.read_bytes() for path in (copy / "prompts").iterdir()}
    assert {text[-1:] for text in found.values()} == {b"\n", b":"}


# Views ------------------------------------------------------------------------------------


def view_rows(root: Path, config: str, split: str) -> list[dict[str, Any]]:
    return [row for _, record in records(root, config, split) for _, row in views[config]([record])]


def record(text: str, **files: Any) -> dict[str, Any]:
    return {"conversation_id": "c", "conversations": text, **files}


def an_intent(**changes: Any) -> list[dict[str, Any]]:
    intent = {"id": "c_0_0", "type": "search", "query_variants": ["a"]} | changes
    return [{"utterance": 0, "intents": [intent]}]


def test_a_query_joins_its_intent_and_its_judgments(copy: Path) -> None:
    found = {row["query_id"]: row for row in view_rows(copy, "queries", "curated")}
    assert found["CoSRec-Curated_9002_1_0#1"] == {
        "query_id": "CoSRec-Curated_9002_1_0#1",
        "intent_id": "CoSRec-Curated_9002_1_0",
        "dialogue_id": "CoSRec-Curated_9002",
        "turn": 2,
        "utterance": 1,
        "type": 1,
        "user_index": 1,
        "text": "light binoculars for a nine-year-old with small hands to watch the stars",
        "variants": ["light binoculars for a nine-year-old with small hands to watch the stars"],
        "judgments": [
            {"document_id": "B0INVENT11", "relevance": 1},
            {"document_id": "B0INVENT12", "relevance": 0},
            {"document_id": "b0invent13", "relevance": 2},
        ],
        "judged_0": 1,
        "judged_1": 1,
        "judged_2": 1,
    }
    search = found["CoSRec-Curated_9001_1_0"]
    assert (search["type"], search["user_index"]) == (0, None)
    assert search["text"] == search["variants"][2]
    assert list(found) == list(dict.fromkeys(r["query_id"] for r in rows(copy, "qrels").values()))
    path = copy / "dataset/curated/qrels.qrels"  # judgments need not stand together
    path.write_text("".join(sorted(path.read_text().splitlines(True), key=lambda x: x[::-1])))
    mixed = {row["query_id"]: row for row in view_rows(copy, "queries", "curated")}
    assert found.keys() == mixed.keys()
    assert all(len(row["judgments"]) == 3 for row in mixed.values())


@pytest.mark.parametrize(
    ("variants", "text"),
    [(["one", "three", "four"], "three"), (["abc", "xyz", "b"], "abc"), ([], None)],
)
def test_the_text_of_a_query_is_the_longest_formulation(
    variants: list[str], text: str | None
) -> None:
    judged = record("U: Hi", intents=an_intent(query_variants=variants), qrels=["c_0_0\t0\td\t1"])
    ((_, row),) = views["queries"]([judged])
    assert (row["text"], row["variants"]) == (text, variants)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("CoSRec-Curated_9001_0_7#0", "a recommendation intent in intents.jsonl, found .*_0_7#0"),
        ("CoSRec-Curated_9001_0_0", "a search intent in intents.jsonl, found .*9001_0_0"),
        ("CoSRec-Curated_9009_0_0", "9009: expected an id that .*curated/conversations.jsonl has"),
        ("CoSRec-Curated_9001_0_0 ", "line 37: expected query id, 0, document id"),
    ],
)
def test_a_judgment_without_intent_is_an_error(
    copy: Path, query: str, message: str, strict: bool
) -> None:
    path = copy / "dataset/curated/qrels.qrels"
    path.write_text(path.read_text() + f"{query}\t0\td\t1\n")
    builder = (
        strict_builder(cosrec, "queries", copy)
        if strict
        else cosrec.builder(
            config_name="queries", data_dir=str(copy), cache_dir=str(copy / "cache")
        )
    )
    (generator,) = builder._split_generators(None)
    with pytest.raises((RecordError, ValueError), match=message):
        list(builder._generate_examples(**generator.gen_kwargs))


def test_intents_of_crowd_are_those_of_each_annotator(copy: Path) -> None:
    found = view_rows(copy, "intents", "crowd")
    assert len(found) == 27
    two = [r for r in found if (r["dialogue_id"], r["utterance"]) == ("CoSRec-Crowd_9001", 1)]
    assert [(r["annotator"], r["index"], r["annotators"]) for r in two] == [
        (0, 0, 3), (1, 0, 3), (1, 1, 3),
    ]  # fmt: skip
    assert {r["turn"] for r in two} == {2}
    # two turns of the system before it
    late = next(r for r in found if (r["dialogue_id"], r["turn"]) == ("CoSRec-Crowd_9002", 5))
    assert late["utterance"] == 2
    assert late["text"].startswith("Without speaking?")
    assert [turn["speaker"] for turn in late["context"]] == [
        "user", "assistant", "assistant", "user", "assistant",
    ]  # fmt: skip
    assert late["context"][-1]["text"].startswith("Lighthouse Keepers is")
    assert (late["type"], late["formulations"]) == (2, ["reviews of Lighthouse Keepers"])
    assert (late["intent_id"], late["product"]) == (None, None)


def test_intents_of_curated_have_ids_and_products(copy: Path) -> None:
    found = view_rows(copy, "intents", "curated")
    assert [row["intent_id"].removeprefix("CoSRec-Curated_") for row in found] == [
        "9001_0_0", "9001_1_0", "9001_2_0", "9001_3_0", "9001_3_1",
        "9002_0_0", "9002_0_1", "9002_1_0",
    ]  # fmt: skip
    assert [row["index"] for row in found] == [0, 0, 0, 0, 1, 0, 1, 0]
    assert [row["product"] is None for row in found] == [True] * 3 + [False] * 2 + [True] * 3
    assert {(row["annotator"], row["annotators"]) for row in found} == {(None, None)}
    assert found[0]["context"] == []
    assert len(found[1]["formulations"]) == 3


@pytest.mark.parametrize(
    ("text", "messages", "turns"),
    [
        ("U: Hi\nS: Yes", [("user", "Hi"), ("assistant", "Yes")], [[0], [1]]),
        ("U: a\nU: b\nS: c\nS:\nS: d\nU: e",
         [("user", "a\nb"), ("assistant", "c\n\nd"), ("user", "e")], [[0, 1], [2, 3, 4], [5]]),
        ("S: a\nS: b\nU: c",
         [("user", "<start>"), ("assistant", "a\nb"), ("user", "c")], [[], [0, 1], [2]]),
        ("U: a\nb", [("user", "a\nb")], [[0]]),
    ],
)  # fmt: skip
def test_a_chat_alternates_and_knows_its_turns(
    text: str, messages: list[tuple[str, str]], turns: list[list[int]]
) -> None:
    ((key, row),) = views["messages"]([record(text)])
    assert key == row["dialogue_id"] == "c"
    assert [(m["role"], m["content"]) for m in row["messages"]] == messages
    assert row["source_turns"] == turns
    assert row["raters"] is row["coherence"] is row["fluency"] is None


def test_a_chat_has_the_means_of_its_ratings(copy: Path) -> None:
    means = {row["dialogue_id"]: row for row in view_rows(copy, "messages", "crowd")}
    row = means["CoSRec-Crowd_9002"]
    assert [row[name] for name in ("raters", *cosrec.module.ASPECTS)] == [5, 2.6, 3.4, 3.0, 4.2]
    assert means["CoSRec-Crowd_9001"]["raters"] == 4
    raw = view_rows(copy, "messages", "raw")
    assert {row["raters"] for row in raw} == {row["logicality"] for row in raw} == {None}


# Transcripts ------------------------------------------------------------------------------


def test_intents_stand_beside_the_users_turns(copy: Path) -> None:
    assert cosrec.transcript is not None
    lay_out = cosrec.transcript.transcript
    crowd = lay_out(rows(copy, "crowd")["CoSRec-Crowd_9002"])
    assert [turn.speaker for turn in crowd.turns[:4]] == ["user", "system", "system", "user"]
    assert [turn.notes for turn in crowd.turns] == [
        ("recommendation 3/4", "none 1/4"),
        (),
        (),
        ("recommendation 3/4", "search 1/4"),
        (),
        ("product_details 3/4", "search 1/4"),
        (),
        (),
    ]
    assert crowd.after[0] == ("fluency", "4.2 (mean of 5, from 1 to 5)")
    curated = lay_out(rows(copy, "curated")["CoSRec-Curated_9001"])
    assert curated.turns[0].notes == ("recommendation: pot for baking bread with a crisp crust",)
    assert curated.turns[2].notes == (
        "search: why does steam give a crisp crust when baking bread",
    )
    assert curated.turns[6].notes[1].startswith("product_details of B0INVENT01: reviews")
    assert [label for label, _ in curated.after].count("profile") == 2


def test_a_plain_conversation_has_no_notes(copy: Path) -> None:
    assert cosrec.transcript is not None
    ((_, record), *_) = records(copy, "dialogues", "crowd")
    plain = cosrec.transcript.transcript(cosrec.module.to_row(record))
    assert not plain.after
    assert not any(turn.notes for turn in plain.turns)


def test_a_query_is_laid_out_with_the_judged_documents(copy: Path) -> None:
    assert cosrec.transcript is not None
    found = {row["query_id"]: row for row in view_rows(copy, "queries", "curated")}
    search = cosrec.transcript.transcript(found["CoSRec-Curated_9001_1_0"])
    assert [turn.notes for turn in search.turns] == [(), (), ("canonical",)]
    assert search.before == [("utterance", "1 of CoSRec-Curated_9001")]
    user = cosrec.transcript.transcript(found["CoSRec-Curated_9002_1_0#1"])
    assert user.before[1:] == [("user index", "1")]
    assert user.after == [
        ("highly relevant, 1", "b0invent13"),
        ("partially relevant, 1", "B0INVENT11"),
        ("not relevant, 1", "B0INVENT12"),
    ]


# Checks of the views ----------------------------------------------------------------------


Change = Callable[[list[dict[str, Any]]], object]


@pytest.mark.parametrize(
    ("config", "split", "change", "check"),
    [
        ("queries", "curated", lambda rows: rows[0].update(judged_2=9), "queries"),
        ("queries", "curated", lambda rows: rows[0].update(text="x"), "queries"),
        ("queries", "curated", lambda rows: rows[0].update(turn=1), "queries"),
        ("queries", "curated", lambda rows: rows[0].update(utterance=1), "queries"),
        ("queries", "curated", lambda rows: rows[0].update(type=0), "queries"),
        ("queries", "curated", lambda rows: rows[0].update(user_index=None), "queries"),
        ("queries", "curated", lambda rows: rows[0]["variants"].pop(), "queries"),
        ("queries", "curated", lambda rows: rows[0]["judgments"].reverse(), "queries"),
        ("queries", "curated", lambda rows: rows.pop(), "queries"),
        ("queries", "curated", lambda rows: rows.reverse(), "queries"),
        ("intents", "crowd", lambda rows: rows[3].update(text="x"), "intents_stand"),
        ("intents", "crowd", lambda rows: rows[3].update(turn=1), "intents_stand"),
        ("intents", "crowd", lambda rows: rows[3]["context"].pop(), "intents_stand"),
        ("intents", "curated", lambda rows: rows[3].update(utterance=1), "intents_stand"),
        ("intents", "crowd", lambda rows: rows.pop(), "intents_are"),
        ("intents", "crowd", lambda rows: rows[0].update(annotators=9), "intents_are"),
        ("intents", "crowd", lambda rows: rows[0].update(type=0), "intents_are"),
        ("intents", "curated", lambda rows: rows[3].update(product=None), "intents_are"),
        ("intents", "curated", lambda rows: rows[1]["formulations"].pop(), "intents_are"),
        ("messages", "raw", lambda rows: rows.pop(), "messages_are"),
        ("messages", "raw", lambda rows: rows[0]["messages"].pop(), "messages_are"),
        ("messages", "raw", lambda rows: rows[0]["messages"].reverse(), "messages_are"),
        ("messages", "raw", lambda rows: rows[0]["source_turns"][0].clear(), "messages_are"),
        ("messages", "raw", lambda rows: rows[0]["source_turns"].reverse(), "messages_are"),
        ("messages", "crowd", lambda rows: rows[0].update(fluency=None), "ratings_of_chats"),
        ("messages", "crowd", lambda rows: rows[0].update(raters=3), "ratings_of_chats"),
        ("messages", "raw", lambda rows: rows[0].update(raters=3), "ratings_of_chats"),
    ],
)
def test_each_check_of_a_view_can_fail(
    sample_build: Path, config: str, split: str, change: Change, check: str
) -> None:
    data = Data(sample_build / "cosrec", cosrec.module)
    found = [each for each in checks_of(cosrec.statistics) if each.__name__.startswith(check)]
    assert found
    assert not [problem for each in found for problem in each(data)]
    change(data._rows[config, split])
    assert [problem for each in found for problem in each(data)]


# The real files ---------------------------------------------------------------------------


def test_every_line_upstream_is_a_marker_a_space_and_text(source: Path) -> None:
    for part, users, assistants, alternating in (
        ("crowd", 2329, 2277, 282),
        ("curated", 150, 146, 20),
    ):
        turns = [
            [(turn["role"], turn["text"]) for turn in cosrec.module.to_row(record)["turns"]]
            for _, record in records(source / "cosrec", "dialogues", part)
        ]
        assert all(text == text.strip() != "" and "\n" not in text for t in turns for _, text in t)
        assert Counter(role for t in turns for role, _ in t) == {
            "user": users,
            "assistant": assistants,
        }
        assert alternating == sum(all(a[0] != b[0] for a, b in pairwise(t)) for t in turns)


def test_users_upstream(source: Path) -> None:
    crowd = rows(source / "cosrec", "crowd").values()
    assert sum(row["users"] is None for row in crowd) == 107
    profiles = [user["profile"] for row in crowd for user in row["users"] or ()]
    assert (len(profiles), profiles.count(None)) == (538, 23)
    curated = rows(source / "cosrec", "curated").values()
    assert sum(len(row["users"]) for row in curated) == 52


def test_the_user_index_of_a_query_fits_no_list_of_users(source: Path) -> None:
    """Why `qrels` names no user: each conversation has one index more than users."""
    indices: dict[str, set[int]] = {}
    for row in rows(source / "cosrec", "qrels").values():
        intent, _, index = row["query_id"].partition("#")
        if index:
            indices.setdefault(intent.rsplit("_", 2)[0], set()).add(int(index))
    users = {key: row["users"] for key, row in rows(source / "cosrec", "curated").items()}
    assert len(users) == 20
    assert indices == {key: set(range(len(value) + 1)) for key, value in users.items()}


def test_every_judged_query_upstream_is_an_intent_of_its_type(source: Path) -> None:
    types = {
        intent["id"]: intent["type"]
        for row in rows(source / "cosrec", "curated").values()
        for entry in row["intents"]
        for intent in entry["intents"]
    }
    judged = {
        (row["query_id"].partition("#")[0], cosrec.module.TYPES[row["type"]])
        for row in rows(source / "cosrec", "qrels").values()
    }
    assert judged == {(key, type_) for key, type_ in types.items() if type_ != "product_details"}
    assert Counter(types.values()) == {"recommendation": 62, "search": 43, "product_details": 38}


def test_the_qrels_upstream_come_back_byte_for_byte(source: Path) -> None:
    found = rows(source / "cosrec", "qrels").values()
    text = "".join(cosrec.module.to_judgment_record(row) + "\n" for row in found)
    assert text.encode() == (source / "cosrec/dataset/curated/qrels.qrels").read_bytes()
    assert Counter(row["relevance"] for row in found) == {0: 6150, 1: 4793, 2: 6521}


def test_the_views_upstream(source: Path) -> None:
    root = source / "cosrec"
    queries = view_rows(root, "queries", "curated")
    assert Counter(row["type"] for row in queries) == {0: 43, 1: 225}
    assert sum(len(row["judgments"]) for row in queries) == 17464
    assert [sum(row[f"judged_{label}"] for row in queries) for label in (0, 1, 2)] == [
        6150, 4793, 6521,
    ]  # fmt: skip
    crowd, curated = (view_rows(root, "intents", part) for part in ("crowd", "curated"))
    assert Counter(row["type"] for row in crowd) == {0: 2520, 1: 3157, 2: 3174}
    assert Counter(row["type"] for row in curated) == {0: 43, 1: 62, 2: 38}
    assert {row["intent_id"] for row in queries} <= {row["intent_id"] for row in curated}
    for part, chats, count in (("crowd", 291, 4597), ("curated", 20, 296)):
        found = view_rows(root, "messages", part)
        assert (len(found), sum(len(row["messages"]) for row in found)) == (chats, count)
        assert all(row["messages"][0]["role"] == "user" for row in found)
        assert {row["raters"] for row in found} == {4, 5}
