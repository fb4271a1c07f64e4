"""What is particular to CaSiNo: deal actions, joined annotations, participants met again."""

import json
from pathlib import Path
from typing import Any

import pytest

from parley.collection import get

POINTS = {"High": 5, "Medium": 4, "Low": 3}
casino = get("casino")


def dialogues(root: Path) -> dict[int, dict[str, Any]]:
    records = json.loads((root / "data/casino.json").read_bytes())
    return {record["dialogue_id"]: record for record in records}


@pytest.fixture
def sample() -> dict[int, dict[str, Any]]:
    return dialogues(casino.sample)


def turns(record: dict[str, Any]) -> list[Any]:
    assert casino.transcript is not None
    return casino.transcript.transcript(casino.module.to_row(record)).turns


def points(record: dict[str, Any]) -> dict[str, int]:
    """Recompute both sides' points from the deal that was accepted."""
    *_, deal, last = record["chat_logs"]
    if last["text"] == "Walk-Away":
        return dict.fromkeys(record["participant_info"], 5)
    return {
        agent: sum(
            POINTS[level]
            * int(deal["task_data"][f"issue2{'you' if deal['id'] == agent else 'they'}get"][item])
            for level, item in side["value2issue"].items()
        )
        for agent, side in record["participant_info"].items()
    }


def participants(records: Any) -> set[str]:
    return {
        json.dumps([side["demographics"], side["personality"]], sort_keys=True)
        for record in records
        for side in record["participant_info"].values()
    }


def test_what_task_data_lacks_is_null_and_stays_absent_on_the_way_back() -> None:
    to_row, to_record = casino.module.to_row, casino.module.to_record
    deal = {"issue2youget": {"Food": "0"}, "issue2theyget": {"Food": "3"}}
    for task_data in ({}, {"data": "walk_away"}, deal):
        record = {"dialogue_id": 1, "chat_logs": [{"text": "Hm", "task_data": task_data}]}
        row = to_row(record)
        nulls = {"data": None, "issue2youget": None, "issue2theyget": None}
        assert row["chat_logs"][0]["task_data"] == nulls | task_data
        assert to_record(row) == record


def test_an_empty_label_is_known_and_an_unknown_one_is_not() -> None:
    check = casino.module.annotation
    check(["All three?", "no-need,other-need,,promote-coordination"])
    for wrong in (["Hi", "smalltalk"], ["Hi", "self-need, no-need"], ["Hi", None], ["Hi"], "Hi"):
        with pytest.raises(ValueError, match=r"pair of strings|labels among small-talk, "):
            check(wrong)


def test_labels_pass_over_deal_actions(sample: dict[int, dict[str, Any]]) -> None:
    # 2004: a rejected deal stands in the middle, and after it the same speaker goes on.
    notes = [(turn.action, turn.notes) for turn in turns(sample[2004])]
    assert notes[4:8] == [
        (True, ()),
        (True, ()),
        (False, ("other-need", "vouch-fair", "promote-coordination")),
        (False, ("showing-empathy", "no-need")),
    ]
    assert [turn.speaker for turn in turns(sample[2004])][5:7] == ["agent 2", "agent 2"]


def test_labels_pass_over_an_utterance_without_annotation(
    sample: dict[int, dict[str, Any]],
) -> None:
    spoken = [turn for turn in turns(sample[2002]) if not turn.action]
    assert len(spoken) == len(sample[2002]["annotations"]) + 1
    assert [turn.notes for turn in spoken[6:]] == [
        ("showing-empathy", "promote-coordination"),
        (),
        ("small-talk",),
        ("non-strategic",),
    ]
    assert spoken[4].notes == ("no-need", "other-need", "(empty label)", "promote-coordination")


def test_an_annotation_that_finds_no_utterance_is_an_error(
    sample: dict[int, dict[str, Any]],
) -> None:
    record = sample[2002]
    record["annotations"][-1][0] = "Never said."
    with pytest.raises(ValueError, match=r"2002.*Never said\."):
        turns(record)


def test_deal_actions_read_as_words(sample: dict[int, dict[str, Any]]) -> None:
    actions = [(turn.speaker, turn.text) for turn in turns(sample[2001]) if turn.action]
    assert actions == [
        ("agent 1", "submits a deal: 2 food, 3 water, 0 firewood for me; "
                    "1 food, 0 water, 3 firewood for you"),
        ("agent 2", "rejects the deal"),
        ("agent 2", "submits a deal: 1 food, 1 water, 3 firewood for me; "
                    "2 food, 2 water, 0 firewood for you"),
        ("agent 1", "accepts the deal"),
    ]  # fmt: skip
    assert turns(sample[2003])[-1].text == "walks away"


def test_points_follow_from_the_deal_in_the_sample(sample: dict[int, dict[str, Any]]) -> None:
    for record in sample.values():
        scored = {
            agent: side["outcomes"]["points_scored"]
            for agent, side in record["participant_info"].items()
        }
        assert scored == points(record)


def test_the_samples_split_is_a_partition(sample: dict[int, dict[str, Any]]) -> None:
    parts = [
        json.loads((casino.sample / file).read_bytes())
        for file in casino.module.SPLITS["official_split"].values()
    ]
    assert sorted((r for part in parts for r in part), key=lambda r: r["dialogue_id"]) == [
        record for _, record in sorted(sample.items())
    ]


def test_every_annotation_upstream_finds_its_utterance(source: Path) -> None:
    spoken = [
        turn
        for record in dialogues(source / "casino").values()
        for turn in turns(record)
        if not turn.action
    ]
    assert len(spoken) == 11_919
    assert sum(bool(turn.notes) for turn in spoken) == 4_615
    assert sum("(empty label)" in turn.notes for turn in spoken) == 1


def test_points_upstream_follow_from_the_deals(source: Path) -> None:
    for record in dialogues(source / "casino").values():
        for agent, expected in points(record).items():
            scored = record["participant_info"][agent]["outcomes"]["points_scored"]
            assert scored == expected, (record["dialogue_id"], agent)


def test_the_leakage_that_the_card_states(source: Path) -> None:
    folder = source / "casino/data/split"
    train, valid, test = (
        json.loads((folder / f"casino_{split}.json").read_bytes())
        for split in ("train", "valid", "test")
    )
    known = participants(train)
    assert len(participants(train + valid + test)) == 846
    for records, all_, seen, one, both in ((valid, 58, 45, 28, 19), (test, 167, 116, 92, 57)):
        people = participants(records)
        met = [len(participants([r]) & known) for r in records]
        assert (len(people), len(people & known)) == (all_, seen)
        assert (sum(n >= 1 for n in met), sum(n == 2 for n in met)) == (one, both)
