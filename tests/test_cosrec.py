"""What is particular to CoSRec: turns in a text, files joined by id, judgments as text."""

import json
import shutil
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from parley.build import strict_builder
from parley.collection import get
from parley.errors import RecordError

cosrec = get("cosrec")


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
    assert cosrec.module.to_text(found) == text


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
    [({}, "none"), ({"a": "U: Hi", "b": "U: Hi"}, "a, b"), ({"CoSRec-Raw_9001": "U: Hi"}, "Co.*1")],
)
def test_a_line_has_one_id_and_each_id_one_line(copy: Path, line: Any, found: str) -> None:
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
            "expected users that keywords.jsonl has, found A9",
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
    ],
)
def test_a_broken_reference_names_file_id_expected_and_found(
    copy: Path, name: str, key: str, value: Any, message: str
) -> None:
    path = copy / f"dataset/crowd/{name}.jsonl"
    content = lines(path) | {key: value}
    path.write_text("".join(json.dumps({k: v}) + "\n" for k, v in content.items()))
    with pytest.raises(ValueError, match=f"crowd/{name}.jsonl: {key}: {message}"):
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
        assert row["type"] == ("search" if passage else "recommendation")


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


def test_prompts_are_exact(copy: Path) -> None:
    (copy / "prompts/user_summary_prompt.txt").write_bytes(b"\n a\r\nb {x} \n\n")
    found = {key: row["text"].encode() for key, row in rows(copy, "prompts").items()}
    assert found == {path.stem: path.read_bytes() for path in (copy / "prompts").iterdir()}
    assert {text[-1:] for text in found.values()} == {b"\n", b":"}


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
        (row["query_id"].partition("#")[0], row["type"])
        for row in rows(source / "cosrec", "qrels").values()
    }
    assert judged == {(key, type_) for key, type_ in types.items() if type_ != "product_details"}
    assert Counter(types.values()) == {"recommendation": 62, "search": 43, "product_details": 38}


def test_the_qrels_upstream_come_back_byte_for_byte(source: Path) -> None:
    found = rows(source / "cosrec", "qrels").values()
    text = "".join(cosrec.module.to_judgment_record(row) + "\n" for row in found)
    assert text.encode() == (source / "cosrec/dataset/curated/qrels.qrels").read_bytes()
    assert Counter(row["relevance"] for row in found) == {0: 6150, 1: 4793, 2: 6521}
