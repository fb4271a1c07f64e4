"""What is particular to CaSiNo: deal actions, joined annotations, participants met again."""

import copy
import json

import pytest
from sklearn import model_selection

from parley.declaration.registry import get

POINTS = ("High", "Medium", "Low")
ONE, TWO = "mturk_agent_1", "mturk_agent_2"
casino = get("casino")
SAMPLE = json.loads((casino.sample / "data/casino.json").read_bytes())
GUESSES = json.loads((casino.sample / "opponent-modeling/casino_ix2guessing.json").read_bytes())


@pytest.fixture
def sample():
    """The records, as `participants` is made of them: with the guesses."""
    return {
        record["dialogue_id"]: {**record, "guesses": GUESSES[str(record["dialogue_id"])]}
        for record in copy.deepcopy(SAMPLE)
    }


def transcript(record):
    dialogues = casino.configs["dialogues"]
    return casino.layout.transcript(dict(dialogues.to_row(record)))


def labels(turn):
    assert all(note.kind == "strategy" for note in turn.notes)
    return tuple(note.text for note in turn.notes)


def view(name, records):
    return list(casino.configs[name].rows(records))


def test_labels_pass_over_deal_actions_and_utterances_without_annotation(sample):
    # 2004: a rejected deal stands in the middle, and after it the same speaker goes on.
    turns = transcript(sample[2004]).turns
    assert [turn.action for turn in turns[4:8]] == [True, True, False, False]
    spoken = [("other-need", "vouch-fair", "promote-coordination"), ("showing-empathy", "no-need")]
    assert list(map(labels, turns[4:8])) == [(), (), *spoken]
    assert [turn.speaker for turn in turns][5:7] == [TWO, TWO]
    spoken = [labels(turn) for turn in transcript(sample[2002]).turns if not turn.action]
    assert spoken[4] == ("no-need", "other-need", "(empty label)", "promote-coordination")
    last = [("small-talk",), ("non-strategic",)]
    assert spoken[6:] == [("showing-empathy", "promote-coordination"), (), *last]


def test_deal_actions_read_as_words_and_outcomes_stand_side_by_side(sample):
    shown, left = transcript(sample[2001]), transcript(sample[2003])
    first = "2 food, 3 water, 0 firewood for me; 1 food, 0 water, 3 firewood for you"
    mine, theirs = "1 food, 1 water, 3 firewood", "2 food, 2 water, 0 firewood"
    assert [(turn.speaker, turn.text) for turn in shown.turns if turn.action] == [
        (ONE, f"submits a deal: {first}"),
        (TWO, "rejects the deal"),
        (TWO, f"submits a deal: {mine} for me; {theirs} for you"),
        (ONE, "accepts the deal"),
    ]
    (outcome,) = shown.tables
    assert outcome.columns == ("agent 1", "agent 2")
    assert [*shown.sides] == [ONE, TWO]
    assert dict(outcome.rows)["packages"] == (theirs, mine)
    sides = first, _ = sample[2001]["participant_info"].values()
    items, reasons = ([first[of][n] for n in POINTS] for of in ("value2issue", "value2reason"))
    known = [("priorities", " > ".join(items)), *zip(items, reasons, strict=True)]
    assert shown.sides[ONE] == known
    points = tuple(str(side["outcomes"]["points_scored"]) for side in sides)
    assert dict(outcome.rows)["points"] == points
    assert left.turns[-1].text == "walks away"
    assert "packages" not in dict(left.tables[0].rows)
    assert left.after[0] == ("deal", "no")
    assert shown.entry == "2001 · 18–22 points · deal"
    assert left.entry == "2003 · 5–5 points · no deal"


def test_a_participant_is_told_by_demographics_and_personality(sample):
    records = [copy.deepcopy(sample[2001]) for _ in range(6)]
    people = [record["participant_info"]["mturk_agent_1"] for record in records]
    people[1]["personality"]["svo"] = "unclassified"
    people[2]["demographics"]["age"] += 1
    people[3]["personality"]["big-five"]["extraversion"] = 0.0
    people[4]["personality"]["big-five"]["extraversion"] = -0.0  # is another number
    people[5]["value2reason"]["High"] = "Because."  # is none of the person
    speakers = [row["speaker_id"] for row in view("participants", records)]
    assert speakers[::2] == [f"speaker_{n}" for n in (0, 2, 3, 4, 5, 0)]


def test_the_integrative_potential_of_every_pair_of_orders(sample):
    names, people = {"F": "Food", "W": "Water", "O": "Firewood"}, sample[2003]["participant_info"]
    for order, potential in {"FWO": 1, "FOW": 2, "WFO": 2, "WOF": 3, "OFW": 3, "OWF": 3}.items():
        for side, letters in zip(people.values(), ("FWO", order), strict=True):
            side["value2issue"] = dict(zip(POINTS, map(names.get, letters), strict=True))
        rows = view("participants", [sample[2003]])
        rows += view("results", [sample[2003]])
        assert [row["integrative_potential"] for row in rows] == [potential] * 3


def test_a_result_counts_entries_utterances_and_deals_submitted(sample):
    rows = view("results", [sample[2001], sample[2003]])
    assert [row["deal"] for row in rows] == [True, False]
    assert [row["events"] - row["messages"] for row in rows] == [4, 1]
    assert [row["offers"] for row in rows] == [2, 0]


@pytest.mark.parametrize("dialogues", [59, 60, 396 * 5 // 3])  # 36, 36 and 396 are annotated
def test_folds_are_those_of_scikit_learn(sample, dialogues):
    many = {n: {**sample[2001 + n % 5], "dialogue_id": n} for n in range(dialogues)}
    found = dict.fromkeys((r["dialogue_id"], r["fold"]) for r in view("strategies", many.values()))
    annotated = [n for n in many if many[n]["annotations"]]
    parts = [test for _, test in model_selection.KFold(5).split(annotated)]
    assert list(found) == [(annotated[n], fold) for fold, part in enumerate(parts) for n in part]
