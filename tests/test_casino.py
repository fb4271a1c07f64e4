"""What is particular to CaSiNo: deal actions, joined annotations, participants met again."""

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from parley.collection import get
from parley.folder.verify import verify

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


def view(name: str, records: dict[int, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of a view, with the names of labels in place of their numbers."""
    features = casino.module.FEATURES[name]
    rows = []
    for _, row in casino.module.VIEWS[name](records.values()):
        features.encode_example(row)  # as the builder would
        assert row.keys() == features.keys()
        rows.append({column: named(value, features[column]) for column, value in row.items()})
    return rows


def named(value: Any, feature: Any) -> Any:
    if isinstance(value, list):
        return [named(item, feature.feature) for item in value]
    return feature.names[value] if hasattr(feature, "names") else value


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


def test_every_dialogue_of_the_sample_is_sound(sample: dict[int, dict[str, Any]]) -> None:
    for record in sample.values():
        casino.module.require_sound(record)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda logs, _: logs.clear(), "chat_logs: expected at least one entry"),
        (
            lambda logs, _: logs[0].update(text="Walk-Away"),
            r"chat_logs\[0\].text: expected that of",
        ),
        (lambda logs, _: logs[-1].update(text="Accept"), r"\].text: expected that of"),
        (lambda logs, _: logs[-1].update(task_data={}), r"\].text: expected that of"),
        (lambda logs, _: logs.append(logs[0]), r"\].task_data.data: expected the end to be last"),
        (lambda logs, _: logs.pop(), r"\].task_data.data: expected the end to be last, found None"),
        (lambda logs, _: logs.pop(-2), r"\].id: expected the other side's deal before"),
        (lambda logs, _: logs[-2].update(id=logs[-1]["id"]), r"\].id: expected the other side's"),
        (
            lambda logs, _: logs[-2]["task_data"]["issue2theyget"].update(Water="9"),
            r"\].task_data: Water: expected three in all, found \[\d, 9\]",
        ),
        (
            lambda _, side: side["value2issue"].update(Low=side["value2issue"]["High"]),
            "participant_info.mturk_agent_1.value2issue: expected each issue once",
        ),
        (
            lambda _, side: side["outcomes"].update(points_scored=0),
            r"participant_info.mturk_agent_1.outcomes.points_scored: expected \d+ by the deal",
        ),
    ],
)
def test_a_dialogue_that_contradicts_itself_is_refused(
    sample: dict[int, dict[str, Any]], change: Any, problem: str
) -> None:
    record = sample[2001]
    change(record["chat_logs"], record["participant_info"]["mturk_agent_1"])
    with pytest.raises(ValueError, match=f"^dialogue 2001: .*{problem}"):
        casino.module.require_sound(record)


def test_an_answer_that_there_is_not_is_refused(sample: dict[int, dict[str, Any]]) -> None:
    sample[2001]["chat_logs"][0]["task_data"] = {"data": "maybe"}
    with pytest.raises(LookupError, match="maybe"):
        casino.module.require_sound(sample[2001])


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


# The views --------------------------------------------------------------------------------


def test_utterances_have_the_ids_of_convokit(sample: dict[int, dict[str, Any]]) -> None:
    rows = view("utterances", sample)
    assert [row["id"] for row in rows] == [f"utterance_{n}" for n in range(59)]
    second = [row for row in rows if row["dialogue_id"] == "2002"]
    assert {row["conversation_id"] for row in second} == {"utterance_13"}
    assert [row["turn"] for row in second] == list(range(12))
    assert [row["reply_to"] for row in second[:3]] == [None, "utterance_13", "utterance_14"]
    assert all(row["speaker"] == row["speaker_internal_id"] for row in rows)


def test_utterances_have_their_labels_and_deals(sample: dict[int, dict[str, Any]]) -> None:
    rows = {(row["dialogue_id"], row["turn"]): row for row in view("utterances", sample)}
    # an empty label, an utterance that was passed over, a dialogue that was not annotated
    assert rows["2002", 4]["annotations"] == ["no-need", "other-need", "promote-coordination"]
    assert rows["2002", 7]["annotations"] is None
    assert rows["2003", 0]["annotations"] is None
    deal, reject = rows["2004", 4], rows["2004", 5]
    assert deal["issue2youget"] == {"Food": 1, "Water": 1, "Firewood": 3}
    assert deal["issue2theyget"] == {"Food": 2, "Water": 2, "Firewood": 0}
    assert (deal["data"], reject["data"], deal["annotations"]) == (None, "reject_deal", None)
    assert reject["issue2youget"] is reject["issue2theyget"] is None


def test_an_utterance_that_reads_like_a_deal_action_is_none(
    sample: dict[int, dict[str, Any]],
) -> None:
    record = sample[2004]  # turn 5 is a Reject-Deal, turn 6 an utterance
    record["chat_logs"][6]["text"] = record["annotations"][4][0] = "Reject-Deal"
    rows = view("utterances", {2004: record})
    assert rows[5]["annotations"] is None
    assert rows[6]["annotations"] == ["other-need", "vouch-fair", "promote-coordination"]
    assert view("strategies", {2004: record})[5]["context"][-1]["text"] == "Reject-Deal"


def test_views_refuse_an_annotation_that_finds_no_utterance(
    sample: dict[int, dict[str, Any]],
) -> None:
    sample[2002]["annotations"][-1][0] = "Never said."
    for name in ("utterances", "strategies"):
        with pytest.raises(ValueError, match=r"2002.*Never said\."):
            view(name, sample)


def test_participants_whose_numbers_differ_in_sign_are_two(
    sample: dict[int, dict[str, Any]],
) -> None:
    record = sample[2001]
    numbers = []
    for zero in (0.0, -0.0, 0.0):
        copy = json.loads(json.dumps(record))
        traits = copy["participant_info"]["mturk_agent_1"]["personality"]["big-five"]
        traits.update(dict.fromkeys(traits, zero))
        numbers.append(copy)
    speakers = [row["speaker_id"] for row in view("participants", dict(enumerate(numbers)))]
    assert speakers[::2] == ["speaker_0", "speaker_2", "speaker_0"]


def test_a_participant_who_comes_again_keeps_the_number(
    sample: dict[int, dict[str, Any]],
) -> None:
    rows = view("participants", sample)
    assert [row["speaker_id"] for row in rows] == [
        f"speaker_{n}" for n in (0, 1, 2, 3, 4, 0, 5, 6, 7, 8)
    ]
    # agent 2 speaks first in 2001, but agent 1 is numbered first
    assert (rows[0]["dialogue_id"], rows[0]["speaker"]) == ("2001", "mturk_agent_1")
    speakers = view("speakers", sample)
    assert [row["dialogues"] for row in speakers] == [2, *[1] * 8]
    assert speakers[6] == {
        "speaker_id": "speaker_6",
        "age": 25,
        "gender": "male",
        "ethnicity": "asian american",
        "education": "some 4 year college, no degree",
        "svo": "prosocial",
        "extraversion": 7.0,
        "agreeableness": 5.5,
        "conscientiousness": 3.0,
        "emotional_stability": 4.0,
        "openness_to_experiences": 6.5,
        "dialogues": 1,
    }


def test_participants_get_the_items_of_the_last_deal(sample: dict[int, dict[str, Any]]) -> None:
    rows = {(row["dialogue_id"], row["speaker"][-1]): row for row in view("participants", sample)}

    def got(*key: str) -> list[Any]:
        return [rows[key][f"{issue}_got"] for issue in ("food", "water", "firewood")]

    # 2001: agent 2 submits the second deal, after the first was rejected
    assert (got("2001", "1"), got("2001", "2")) == ([2, 2, 0], [1, 1, 3])
    assert (got("2003", "1"), got("2003", "2")) == ([None] * 3, [None] * 3)
    assert [rows["2003", "1"][key] for key in ("deal", "points_scored")] == [False, 5]
    assert [rows["2001", "1"][key] for key in ("deal", "points_scored")] == [True, 18]
    assert rows["2001", "1"]["satisfaction"] == "Slightly satisfied"
    assert rows["2001", "1"]["partner_satisfaction"] == "Extremely satisfied"
    assert rows["2001", "2"]["partner_opponent_likeness"] == "Extremely like"
    assert rows["2001", "1"]["priority_high"] == rows["2001", "2"]["priority_medium"] == "Water"


@pytest.mark.parametrize(
    ("order", "potential"),
    [("FWO", 1), ("FOW", 2), ("WFO", 2), ("WOF", 3), ("OFW", 3), ("OWF", 3)],
)
def test_the_integrative_potential_of_every_pair_of_orders(
    sample: dict[int, dict[str, Any]], order: str, potential: int
) -> None:
    names = {"F": "Food", "W": "Water", "O": "Firewood"}
    for agent, letters in (("mturk_agent_1", "FWO"), ("mturk_agent_2", order)):
        side = sample[2003]["participant_info"][agent]
        side["value2issue"] = dict(zip(POINTS, (names[x] for x in letters), strict=True))
    rows = view("participants", {2003: sample[2003]})
    assert [row["integrative_potential"] for row in rows] == [potential] * 2


def test_strategies_have_the_three_utterances_before(sample: dict[int, dict[str, Any]]) -> None:
    rows = [row for row in view("strategies", sample) if row["dialogue_id"] == "2004"]
    said = [entry["text"] for entry in sample[2004]["chat_logs"]]
    # turns 4 and 5 are a deal and its rejection
    assert [row["turn"] for row in rows] == [0, 1, 2, 3, 6, 7, 8]
    contexts = [[said.index(c["text"]) for c in row["context"]] for row in rows]
    assert contexts == [[], [0], [0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 6], [3, 6, 7]]
    assert rows[1]["context"][0]["speaker"] == "mturk_agent_1"
    # 2002: the utterance without annotation is no row, but stands in the context
    last = view("strategies", sample)[17]
    assert (last["turn"], last["context"][-2]["text"]) == (9, "One food and all the water would "
            "do nicely, with a single log for the oven.")  # fmt: skip


def test_folds_deal_out_the_annotated_dialogues(sample: dict[int, dict[str, Any]]) -> None:
    many = {n: {**sample[2001 + n % 5], "dialogue_id": n} for n in range(60)}  # 36 are annotated
    folds: dict[str, set[int]] = {}
    for row in view("strategies", many):
        folds.setdefault(row["dialogue_id"], set()).add(row["fold"])
    assert all(len(of_dialogue) == 1 for of_dialogue in folds.values())
    sizes = [sum(fold in f for f in folds.values()) for fold in range(5)]
    assert sizes == [8, 7, 7, 7, 7]


def test_messages_see_a_dialogue_from_either_side(sample: dict[int, dict[str, Any]]) -> None:
    first, second = (row for row in view("messages", sample) if row["dialogue_id"] == "2004")
    assert [m["role"] for m in first["messages"]] == ["system", *["user", "assistant"] * 5, "user"]
    assert first["source_turns"] == [
        [], [], [0], [1], [2], [3], [4], [5, 6], [7], [8], [9], [10]
    ]  # fmt: skip
    assert [m["role"] for m in second["messages"]] == ["system", *["user", "assistant"] * 5]
    assert second["source_turns"] == first["source_turns"][:1] + first["source_turns"][2:]
    assert first["messages"][1]["content"] == "<start>"
    assert [m["content"] for m in first["messages"][2:]] == [
        m["content"] for m in second["messages"][1:]
    ]
    assert (first["points_scored"], first["partner_points_scored"]) == (14, 23)
    assert (second["points_scored"], second["partner_points_scored"]) == (23, 14)


def test_messages_say_deals_in_words_and_what_only_this_side_knows(
    sample: dict[int, dict[str, Any]],
) -> None:
    rows = {(row["dialogue_id"], row["speaker"][-1]): row for row in view("messages", sample)}
    said = [m["content"] for m in rows["2004", "2"]["messages"]]
    assert "[I submit a deal: I get 1 food, 1 water, 3 firewood; you get 2 food, 2 water, "\
        "0 firewood.]" in said  # fmt: skip
    assert (
        "[I reject the deal.]\nSorry, but with no wood at all the altos can't cook. "
        "Let me have one log and we agree." in said
    )
    assert said[-1] == "[I accept the deal.]"
    assert rows["2003", "1"]["messages"][-1]["content"] == "[I walk away.]"
    for (dialogue, agent), row in rows.items():
        sides = sample[int(dialogue)]["participant_info"]
        system = row["messages"][0]["content"]
        for name, side in sides.items():
            known = all(reason in system for reason in side["value2reason"].values())
            assert known == name.endswith(agent)
    assert (
        "\nYour high priority is food (5 points a package): "
        in (rows["2004", "2"]["messages"][0]["content"])
    )


# What verify finds in the views -------------------------------------------------------------


@pytest.fixture
def build(sample_build: Path, tmp_path: Path) -> Path:
    """A copy of the built sample to damage."""
    return Path(shutil.copytree(sample_build / "casino", tmp_path / "casino"))


@pytest.mark.parametrize(
    ("name", "number", "column", "value", "check"),
    [
        ("utterances", 5, "reply_to", "utterance_3", "utterances_are_the_chat_entries"),
        ("utterances", 5, "speaker_id", "speaker_3", "utterances_are_the_chat_entries"),
        ("utterances", 9, "issue2youget", None, "utterances_are_the_chat_entries"),
        ("utterances", 5, "annotations", [0], "annotations_find_their_utterances"),
        ("utterances", 5, "annotations", None, "annotations_find_their_utterances"),
        ("strategies", 5, "labels", [0], "annotations_find_their_utterances"),
        ("speakers", 0, "dialogues", 1, "speakers_are_the_participants"),
        ("speakers", 0, "gender", 1, "speakers_are_the_participants"),
        ("participants", 0, "satisfaction", 0, "participants_follow_from_their_dialogues"),
        ("participants", 0, "food_got", 3, "participants_follow_from_their_dialogues"),
        ("participants", 0, "points_scored", 19, "participants_follow_from_their_dialogues"),
        ("participants", 0, "integrative_potential", 1, "participants_follow_from_their_dialogues"),
        ("strategies", 5, "turn", 6, "strategies_stand_in_their_dialogues"),
        ("strategies", 5, "context", [], "strategies_stand_in_their_dialogues"),
        ("strategies", 5, "fold", 3, "strategies_stand_in_their_dialogues"),
        ("messages", 0, "source_turns", [[]], "messages_alternate_and_join_back"),
        ("messages", 0, "deal", False, "messages_alternate_and_join_back"),
    ],
)
def test_a_changed_view_is_noticed(
    build: Path, name: str, number: int, column: str, value: Any, check: str
) -> None:
    def change(row: dict[str, Any]) -> None:
        assert row[column] != value
        row[column] = value

    assert check in failed_after(build, name, number, change)


def failed_after(build: Path, name: str, number: int, change: Any) -> set[str]:
    path = build / name / "train-00000-of-00001.parquet"
    table = pq.read_table(path)
    rows = table.to_pylist()
    change(rows[number])
    pq.write_table(pa.Table.from_pylist(rows, table.schema), path)
    return {found.name for found in verify(casino, build).checks if found.failed}


@pytest.mark.parametrize("change", ["role", "text", "system", "cue", "lost", "swapped"])
def test_a_changed_chat_is_noticed(build: Path, change: str) -> None:
    def spoil(row: dict[str, Any]) -> None:
        chat, turns = row["messages"], row["source_turns"]
        if change == "role":
            chat[3]["role"] = "assistant"
        elif change == "text":
            chat[3]["content"] += "!"
        elif change == "system":
            chat[0]["content"] = chat[0]["content"].replace("4 points", "3 points")
        elif change == "cue":
            del chat[1], turns[1]
        elif change == "lost":
            del chat[-1], turns[-1]
        else:
            chat[2], chat[3] = chat[3], chat[2]

    # row 6 is the side of 2004 that speaks first
    assert "messages_alternate_and_join_back" in failed_after(build, "messages", 6, spoil)


# On the real data -----------------------------------------------------------------------------


def test_the_views_of_the_real_data(source: Path) -> None:
    records = dialogues(source / "casino")
    counts = {name: len(view(name, records)) for name in casino.module.VIEWS}
    assert counts == {
        "utterances": 14_297,
        "speakers": 846,
        "participants": 2_060,
        "strategies": 4_615,
        "messages": 2_060,
    }


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
