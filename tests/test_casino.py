"""What is particular to CaSiNo: deal actions, joined annotations, participants met again."""

import copy
import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from parley.collection import get
from parley.folder.built import open_folder

POINTS = ("High", "Medium", "Low")
casino = get("casino")
scenarios: Any = casino.load_module("scenarios")
SAMPLE = json.loads((casino.sample / "data/casino.json").read_bytes())


GUESSES = json.loads((casino.sample / "opponent-modeling/casino_ix2guessing.json").read_bytes())


@pytest.fixture
def sample() -> dict[int, dict[str, Any]]:
    """The records, as `participants` is made of them: with the guesses."""
    return {
        record["dialogue_id"]: {**record, "guesses": GUESSES[str(record["dialogue_id"])]}
        for record in copy.deepcopy(SAMPLE)
    }


def to_row(record: dict[str, Any]) -> dict[str, Any]:
    dialogues: Any = casino.configs["dialogues"]
    return dict(dialogues.to_row(record))


def turns(record: dict[str, Any]) -> list[Any]:
    assert casino.transcript is not None
    return casino.transcript.transcript(to_row(record)).turns


def labels(turn: Any) -> tuple[str, ...]:
    assert all(note.kind == "strategy" for note in turn.notes)
    return tuple(note.text for note in turn.notes)


def view(name: str, records: dict[int, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of a view, with the names of labels in place of their numbers."""
    features = casino.features(name)
    rows = casino.configs[name].rows(records.values())
    return [{column: named(value, features[column]) for column, value in r.items()} for r in rows]


def named(value: Any, feature: Any) -> Any:
    if isinstance(value, list):
        return [named(item, feature.feature) for item in value]
    return feature.names[value] if hasattr(feature, "names") else value


# Transcripts ------------------------------------------------------------------------------


def test_labels_pass_over_deal_actions(sample: dict[int, dict[str, Any]]) -> None:
    # 2004: a rejected deal stands in the middle, and after it the same speaker goes on.
    notes = [(turn.action, labels(turn)) for turn in turns(sample[2004])]
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
    assert [labels(turn) for turn in spoken[6:]] == [
        ("showing-empathy", "promote-coordination"),
        (),
        ("small-talk",),
        ("non-strategic",),
    ]
    assert labels(spoken[4]) == ("no-need", "other-need", "(empty label)", "promote-coordination")


def test_an_annotation_that_finds_no_utterance_is_an_error(
    sample: dict[int, dict[str, Any]],
) -> None:
    sample[2002]["annotations"][-1][0] = "Never said."
    with pytest.raises(ValueError, match=r"2002.*Never said\."):
        turns(sample[2002])


def test_deal_actions_read_as_words(sample: dict[int, dict[str, Any]]) -> None:
    actions = [(turn.speaker, turn.text) for turn in turns(sample[2001]) if turn.action]
    assert actions == [
        ("agent 1", "submits a deal: 2 food, 3 water, 0 firewood for me; "
                    "1 food, 0 water, 3 firewood for you"),
        ("agent 2", "rejects the deal"),
        ("agent 2", "submits a deal: 1 food, 1 water, 3 firewood for me; "
                    "2 food, 2 water, 0 firewood for you"),
        ("agent 1", "accepts the deal")
    ]  # fmt: skip
    assert turns(sample[2003])[-1].text == "walks away"
    submitted = [turn.terms for turn in turns(sample[2001]) if turn.terms]
    assert submitted[1] == (
        ("agent 2", "1 food, 1 water, 3 firewood"),
        ("agent 1", "2 food, 2 water, 0 firewood"),
    )


def test_the_outcomes_of_both_sides_stand_side_by_side(sample: dict[int, dict[str, Any]]) -> None:
    assert casino.transcript is not None
    shown = casino.transcript.transcript(to_row(sample[2001]))
    (outcome,) = shown.tables
    assert outcome.columns == ("agent 1", "agent 2") == tuple(shown.sides)
    assert dict(outcome.rows)["packages"] == (
        "2 food, 2 water, 0 firewood",
        "1 food, 1 water, 3 firewood",
    )
    for number, side in enumerate(sample[2001]["participant_info"].values()):
        points = str(side["outcomes"]["points_scored"])
        assert dict(outcome.rows)["points scored"][number] == points
    left = casino.transcript.transcript(to_row(sample[2003]))
    assert "packages" not in dict(left.tables[0].rows)
    assert left.after[0] == ("deal", "no")


# The views --------------------------------------------------------------------------------


def test_the_rows_of_the_sample_stay(sample_build: Path) -> None:
    built = open_folder(sample_build / "casino").provenance["configs"]
    digests = {name: [s["digest"][:8] for s in each.values()] for name, each in built.items()}
    assert {name: " ".join(each) for name, each in digests.items()} == {
        "dialogues": "52892566",
        "official_split": "59592c31 d50c9e4b 234e66cc",
        "utterances": "d782092b",
        "speakers": "cc97d2fd",
        "participants": "5a0ef434",
        "strategies": "b49a907c",
        "messages": "7d01459e",
        "scenarios": "3ce3d6a7",
        "priority_folds": "7c8956ae",
    }


def test_an_utterance_that_reads_like_a_deal_action_is_none(
    sample: dict[int, dict[str, Any]],
) -> None:
    record = sample[2004]  # turn 5 is a Reject-Deal, turn 6 an utterance
    record["chat_logs"][6]["text"] = record["annotations"][4][0] = "Reject-Deal"
    rows = view("utterances", {2004: record})
    assert rows[5]["annotations"] is None
    assert rows[6]["annotations"] == ["other-need", "vouch-fair", "promote-coordination"]
    assert view("strategies", {2004: record})[5]["context"][-1]["text"] == "Reject-Deal"


def test_a_participant_is_told_by_demographics_and_personality(
    sample: dict[int, dict[str, Any]],
) -> None:
    records = [copy.deepcopy(sample[2001]) for _ in range(6)]
    people = [record["participant_info"]["mturk_agent_1"] for record in records]
    people[1]["personality"]["svo"] = "unclassified"
    people[2]["demographics"]["age"] += 1
    people[3]["personality"]["big-five"]["extraversion"] = 0.0
    people[4]["personality"]["big-five"]["extraversion"] = -0.0  # is another number
    people[5]["value2reason"]["High"] = "Because."  # is none of the person
    speakers = [row["speaker_id"] for row in view("participants", dict(enumerate(records)))]
    assert speakers[::2] == [f"speaker_{n}" for n in (0, 2, 3, 4, 5, 0)]


@pytest.mark.parametrize(
    ("order", "potential"), [("FWO", 1), ("FOW", 2), ("WFO", 2), ("WOF", 3), ("OFW", 3), ("OWF", 3)]
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


@pytest.mark.parametrize("dialogues", [59, 60, 396 * 5 // 3])  # 36, 36 and 396 are annotated
def test_folds_are_those_of_scikit_learn(sample: dict[int, dict[str, Any]], dialogues: int) -> None:
    model_selection = pytest.importorskip("sklearn.model_selection")
    many = {n: {**sample[2001 + n % 5], "dialogue_id": n} for n in range(dialogues)}
    found = dict.fromkeys((r["dialogue_id"], r["fold"]) for r in view("strategies", many))
    annotated = [n for n in many if many[n]["annotations"]]
    parts = [test for _, test in model_selection.KFold(5).split(annotated)]
    assert list(found) == [(annotated[n], fold) for fold, part in enumerate(parts) for n in part]


# Scenarios and points -----------------------------------------------------------------------


ORDER = {"High": "Water", "Medium": "Food", "Low": "Firewood"}
OTHER = {"High": "Firewood", "Medium": "Food", "Low": "Water"}


@pytest.mark.parametrize(
    ("items", "points"),
    [
        ({"Food": 3, "Water": 3, "Firewood": 3}, 36),
        ({"Food": 0, "Water": 0, "Firewood": 0}, 0),
        ({"Food": 1, "Water": 2, "Firewood": 0}, 14),
        ({"Food": 0, "Water": 0, "Firewood": 2}, 6),
        (None, 5),
    ],
)
def test_the_points_of_a_side(items: dict[str, int] | None, points: int) -> None:
    assert scenarios.points_of(ORDER, items) == points


def test_the_most_joint_points_are_those_of_the_best_allocation() -> None:
    for order in map(list, permutations(ORDER.values())):
        sides = dict(
            zip(scenarios.SIDES, (ORDER, dict(zip(ORDER, order, strict=True))), strict=True)
        )
        found = scenarios.outcomes(sides)
        assert len(found) == 64
        assert scenarios.most_joint_points(sides) == max(map(sum, found))


ALIKE = {"High": "Water", "Medium": "Firewood", "Low": "Food"}


@pytest.mark.parametrize(
    ("other", "reached", "optimal"),
    [
        (OTHER, (27, 15), True),  # all water and food for one, firewood for the other
        (OTHER, (36, 0), True),
        (OTHER, (23, 19), True),
        (OTHER, (22, 18), False),
        (OTHER, (5, 5), False),  # as after walking away
        (ALIKE, (19, 18), False),  # 19 and 19 is better for one side alone
        (ALIKE, (19, 19), True),
    ],
)
def test_a_deal_is_optimal_when_no_other_is_better_for_one_and_no_worse_for_the_other(
    other: dict[str, str], reached: tuple[int, int], optimal: bool
) -> None:
    sides = dict(zip(scenarios.SIDES, (ORDER, other), strict=True))
    assert scenarios.is_pareto_optimal(sides, reached) == optimal
