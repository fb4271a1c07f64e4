"""docs/coming-from.md: what old code silently makes of the old layout, and the new lines beside it.

The records are the sample's, in the layout of `kchawla123/casino`.
"""

import json
import re
from pathlib import Path

import pytest

from parley.declaration.registry import get

PAGE = Path(__file__).parent.parent / "docs" / "coming-from.md"
RECORDS = json.loads((get("casino").sample / "data" / "casino.json").read_bytes())
WORTH = {"High": 5, "Medium": 4, "Low": 3}
DEALS = {"Submit-Deal", "Accept-Deal", "Reject-Deal", "Walk-Away"}


def old_layout(record):
    """Return a row of the old dataset: no id, and "" for what `task_data` lacks."""
    nothing = dict.fromkeys(("Food", "Firewood", "Water"), "")
    filled = {"data": "", "issue2youget": nothing, "issue2theyget": nothing}
    chat = [entry | {"task_data": filled | entry["task_data"]} for entry in record["chat_logs"]]
    kept = {key: value for key, value in record.items() if key != "dialogue_id"}
    return kept | {"chat_logs": chat}


OLD = [old_layout(record) for record in RECORDS]


@pytest.fixture(scope="module")
def new(sample_build):
    """The names that the page's Python gives, on the sample."""
    names = {}
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.M | re.S))
    exec(code.replace('"build/', f'"{sample_build}/'), names)
    return names


def test_points_are_not_5_3_and_1(new):
    def counted(row, side, worth):
        last = [e for e in row["chat_logs"] if e["text"] == "Submit-Deal"][-1]
        packages = last["task_data"]["issue2youget" if last["id"] == side else "issue2theyget"]
        order = row["participant_info"][side]["value2issue"]
        return sum(worth[level] * int(packages[item]) for level, item in order.items())

    for row, record in zip(OLD, RECORDS, strict=True):
        if row["chat_logs"][-1]["text"] != "Accept-Deal":
            continue
        for side in row["participant_info"]:
            right = new["points"][record["dialogue_id"], side]
            assert counted(row, side, WORTH) == right
            assert counted(row, side, {"High": 5, "Medium": 3, "Low": 1}) < right


def test_an_entry_has_no_key_speaker(new):
    entries = [entry for row in OLD for entry in row["chat_logs"]]
    assert {entry.get("speaker", "?") for entry in entries} == {"?"}
    assert list(new["speakers"]) == [entry["id"] for entry in entries]


def test_deals_are_no_utterances(new):
    texts = [entry["text"] for row in OLD for entry in row["chat_logs"]]
    assert set(texts) >= DEALS
    assert list(new["said"]["text"]) == [text for text in texts if text not in DEALS]
    assert None not in new["messages"]["text"]
    assert len(new["messages"]) < len(new["events"])
    silent = [text for row in new["bargains"]["validation"] for text in row["utterance"]]
    assert "" in silent  # what the old columns make of an action


def test_annotations_shift_after_a_deal(new):
    zipped = [
        (entry["text"], labels)
        for row in OLD
        for entry, (_, labels) in zip(row["chat_logs"], row["annotations"], strict=False)
    ]
    right = [tuple(pair) for row in OLD for pair in row["annotations"]]
    assert zipped != right
    assert {text for text, _ in zipped} & DEALS
    names = new["utterances"].features["annotations"].feature.names
    rows = new["labelled"]
    joined = [(row["text"], {names[label] for label in row["annotations"]}) for row in rows]
    assert joined == [(text, set(labels.split(",")) - {""}) for text, labels in right]


def test_a_struct_of_nulls_is_true(new):
    upstream = [entry for record in RECORDS for entry in record["chat_logs"]]
    acts = [entry["text"] for entry in upstream if entry["task_data"]]
    assert acts
    assert sum(bool(entry["task_data"]) for entry in new["entries"]) == len(upstream) > len(acts)
    assert sum("data" in entry["task_data"] for entry in new["entries"]) == len(upstream)
    assert [entry["text"] for entry in new["actions"]] == acts


def test_an_index_is_no_id(new):
    kept = [row for row in OLD if row["annotations"]]  # a filter, as old code has many
    for index, row in enumerate(kept):
        found = new["by_id"].get(index)
        assert found is None or found["chat_logs"][0]["text"] != row["chat_logs"][0]["text"]
    for record in RECORDS:
        chats = (each["chat_logs"] for each in (new["by_id"][record["dialogue_id"]], record))
        one, other = ([entry["text"] for entry in chat] for chat in chats)
        assert one == other


def test_no_annotation_is_no_label(new):
    without = {record["dialogue_id"] for record in RECORDS if not record["annotations"]}
    assert without
    assert without.isdisjoint(new["labelled"]["dialogue_id"])
