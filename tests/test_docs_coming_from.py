"""docs/coming-from.md: its right lines give what upstream's records hold, on the sample."""

import json
import re
from pathlib import Path

import pytest

from parley.declaration.registry import get

PAGE = Path(__file__).parent.parent / "docs" / "coming-from.md"
RECORDS = json.loads((get("casino").sample / "data" / "casino.json").read_bytes())
ENTRIES = [entry for record in RECORDS for entry in record["chat_logs"]]
DEALS = {"Submit-Deal", "Accept-Deal", "Reject-Deal", "Walk-Away"}


@pytest.fixture(scope="module")
def new(sample_build):
    """The names that the page's Python gives."""
    names = {}
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.M | re.S))
    exec(code.replace('"build/', f'"{sample_build}/'), names)
    return names


def test_points_speakers_and_a_dialogue_by_its_id_are_upstreams(new):
    assert new["points"] == {
        (record["dialogue_id"], side): known["outcomes"]["points_scored"]
        for record in RECORDS
        for side, known in record["participant_info"].items()
    }
    assert list(new["speakers"]) == [entry["id"] for entry in ENTRIES]
    for record in RECORDS:
        found = new["by_id"][record["dialogue_id"]]["chat_logs"]
        assert [entry["text"] for entry in found] == [e["text"] for e in record["chat_logs"]]


def test_deals_are_no_utterances_and_a_struct_of_nulls_is_true(new):
    texts = [entry["text"] for entry in ENTRIES]
    assert set(texts) >= DEALS
    assert list(new["said"]["text"]) == [text for text in texts if text not in DEALS]
    assert None not in new["messages"]["text"]
    assert len(new["messages"]) < len(new["events"])
    acts = [entry["text"] for entry in ENTRIES if entry["task_data"]]
    assert sum(bool(entry["task_data"]) for entry in new["entries"]) == len(ENTRIES) > len(acts)
    assert sum("data" in entry["task_data"] for entry in new["entries"]) == len(ENTRIES)
    assert [entry["text"] for entry in new["actions"]] == acts


def test_annotations_stand_at_their_utterances_and_none_elsewhere(new):
    names = new["utterances"].features["annotations"].feature.names
    assert [
        (row["dialogue_id"], row["text"], {names[label] for label in row["annotations"]})
        for row in new["labelled"]
    ] == [
        (record["dialogue_id"], text, set(labels.split(",")) - {""})
        for record in RECORDS
        for text, labels in record["annotations"]
    ]
