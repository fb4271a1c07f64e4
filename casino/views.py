"""CaSiNo's views: turns, participants, results, labelled utterances, chats and scenarios.

Each view is a pure function of all records, dialogues ascending, that yields rows. They
share their keys: `dialogue_id` and `turn`, the place in `chat_logs` from 0, name a chat entry;
`dialogue_id` and `speaker`, mturk_agent_1 or mturk_agent_2, name a side; `speaker_id` is the
participant, the same across dialogues, numbered as in ConvoKit's casino-corpus.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from parley import CHAT, ClassLabel, Field, View, chat_of

from . import records as shapes
from .records import PARTNER, Record, counts, items_of, labelled
from .scenarios import ISSUES, PACKAGES, POINTS, SIDES, WALK_AWAY, most_joint_points
from .subsets import PUBLISHED_IN, SUBSETS

Rows = Iterator[dict[str, Any]]
Names = Sequence[str] | Mapping[str, str]  # of labels

FOLDS = 5
CONTEXT = 3  # utterances before the labelled one, as in the paper


def _label(field: Field, names: Names, is_ordered: bool = False) -> Field:
    """Return the column of labels for a field that holds one of these names."""
    return Field(ClassLabel(names=names, is_ordered=is_ordered), field.meaning)


_dialogue = {"dialogue_id": shapes.DIALOGUE["dialogue_id"]}
_speaker = shapes.ENTRY["id"]
_speaker_id = Field(str, "the participant (see What we changed in the card)")
_strategies = [shapes.STRATEGY]
_ANNOTATED = "the strategies, one or more, as annotated"
_items = dict.fromkeys(ISSUES, Field(int, "packages of this item"))
_got = Field((int, None), "packages of this item by the accepted deal; null after a walk-away")
_turn_key = ("dialogue_id", "turn")
_entry = {
    **_dialogue,
    "turn": Field(int, "the place in `chat_logs`, from 0, deal actions counted"),
    "speaker": _speaker,
    "text": shapes.ENTRY["text"],
}
_side_key = ("dialogue_id", "speaker")
_side = {
    **_dialogue,
    "speaker": Field(set(SIDES), "the side that the row is about"),
    "speaker_id": _speaker_id,
}
_person = {
    **shapes.DEMOGRAPHICS,
    "gender": _label(shapes.DEMOGRAPHICS["gender"], shapes.GENDERS),
    "svo": _label(shapes.PERSONALITY["svo"], shapes.ORIENTATIONS),
    **{trait.replace("-", "_"): shapes.TRAIT for trait in shapes.TRAITS},
}
_own = {
    **shapes.OUTCOME,
    "satisfaction": _label(shapes.OUTCOME["satisfaction"], shapes.SATISFACTION, is_ordered=True),
    "opponent_likeness": _label(
        shapes.OUTCOME["opponent_likeness"], shapes.LIKENESS, is_ordered=True
    ),
}
_potential = Field(
    int, "of the dialogue: 1, 2 or 3 if the two orders allow at most 36, 39 or 42 points together"
)
_deal = Field(bool, "whether a deal was accepted; otherwise one side walked away")
_outcomes = {
    "deal": _deal,
    **_own,
    **{f"partner_{n}": Field(own.shape, f"`{n}` of the other side") for n, own in _own.items()},
}


def numbered(records: Iterable[Record]) -> Iterator[tuple[Record, dict[str, str]]]:
    """Yield each record with the participant, `speaker_<n>`, of its two sides.

    A participant is one combination of demographics and personality, numbered as first seen.
    """
    known: dict[str, str] = {}
    for record in records:
        speakers = {}
        for side in PARTNER:
            info = record["participant_info"][side]
            svo, traits = info["personality"]["svo"], info["personality"]["big-five"]
            person = repr((svo, sorted(traits.items()), sorted(info["demographics"].items())))
            speakers[side] = known.setdefault(person, f"speaker_{len(known)}")
        yield record, speakers


def without_empty(labels: list[str] | None) -> list[str] | None:
    """Return labels without the empty one."""
    return None if labels is None else [name for name in labels if name]


def keyed_entry(record: Record, turn: int) -> dict[str, Any]:
    """Return a chat entry with its key."""
    entry = record["chat_logs"][turn]
    place = {"dialogue_id": record["dialogue_id"], "turn": turn}
    return {**place, "speaker": entry["id"], "text": entry["text"]}


def outcomes_of(record: Record, side: str) -> dict[str, Any]:
    """Return the outcomes of a side and, with the prefix partner_, of the other."""
    outcomes: dict[str, Any] = {"deal": items_of(record)[side] is not None}
    for prefix, name in (("", side), ("partner_", PARTNER[side])):
        own = record["participant_info"][name]["outcomes"]
        outcomes |= {prefix + column: value for column, value in own.items()}
    return outcomes


def potential_of(record: Record) -> int:
    """Return the integrative potential: 1, 2 or 3 for at most 36, 39 or 42 joint points."""
    orders = {side: info["value2issue"] for side, info in record["participant_info"].items()}
    return {36: 1, 39: 2, 42: 3}[most_joint_points(orders)]


def person_of(info: Record) -> dict[str, Any]:
    """Return a participant's demographics and personality as flat columns."""
    traits = info["personality"]["big-five"]
    return {
        **info["demographics"],
        "svo": info["personality"]["svo"],
        **{trait.replace("-", "_"): value for trait, value in traits.items()},
    }


def briefing(info: Record) -> str:
    """Return this side's private knowledge as the system message."""
    lines = [
        "You are camping, and negotiate with your campsite neighbour over three packages each of "
        "food, water and firewood."
    ]
    for level, points in POINTS.items():
        issue, reason = info["value2issue"][level].lower(), info["value2reason"][level]
        line = f"Your {level.lower()} priority is {issue} ({points} points a package): {reason}"
        lines.append(line)
    return "\n".join(lines)


def entry_in_words(entry: Record) -> str:
    """Return a chat entry as text; a deal action in words."""
    task = entry["task_data"]
    if "issue2youget" in task:
        mine, theirs = (
            ", ".join(f"{task[key][issue]} {issue.lower()}" for issue in ISSUES)
            for key in ("issue2youget", "issue2theyget")
        )
        return f"[I submit a deal: I get {mine}; you get {theirs}.]"
    if "data" not in task:
        return str(entry["text"])
    decision = {"accept_deal": "accept the deal", "reject_deal": "reject the deal"}
    return f"[I {decision.get(task['data'], 'walk away')}.]"


@View(
    "a chat entry, deal actions included, with ConvoKit's ids",
    {
        **_entry,
        "id": Field(str, "`utterance_<n>`, numbered over all dialogues"),
        "conversation_id": Field(str, "the `id` of the dialogue's first entry"),
        "reply_to": Field((str, None), "the `id` of the entry before; null for the first"),
        "speaker_id": _speaker_id,
        "speaker_internal_id": Field(set(SIDES), "ConvoKit's name for `speaker`, the same value"),
        "annotations": Field((_strategies, None), _ANNOTATED),
        "data": Field(
            (set(shapes.ANSWERS), None),
            "the side's decision; null for utterances and `Submit-Deal`",
        ),
        "issue2youget": Field((_items, None), "packages for the speaker; null without a deal"),
        "issue2theyget": Field((_items, None), "packages for the other; null without a deal"),
    },
    of="dialogues",
    key=_turn_key,
    use="study turns and deal actions",
)
def utterances(records: Iterable[Record]) -> Rows:
    """Yield each chat entry, deal actions included, with ConvoKit's ids."""
    number = 0
    for record, speaker_ids in numbered(records):
        for turn, entry, labels in labelled(record):
            yield {
                **keyed_entry(record, turn),
                "id": f"utterance_{number}",
                "conversation_id": f"utterance_{number - turn}",
                "reply_to": f"utterance_{number - 1}" if turn else None,
                "speaker_id": speaker_ids[entry["id"]],
                "speaker_internal_id": entry["id"],
                "annotations": without_empty(labels),
                "data": entry["task_data"].get("data"),
                "issue2youget": counts(entry["task_data"].get("issue2youget")),
                "issue2theyget": counts(entry["task_data"].get("issue2theyget")),
            }
            number += 1


@View(
    "a participant, by first appearance",
    {
        "speaker_id": _speaker_id,
        **_person,
        "dialogues": Field(int, "the number of the participant's dialogues"),
    },
    of="dialogues",
    key="speaker_id",
    shows={},
    use="study participants",
)
def speakers(records: Iterable[Record]) -> Rows:
    """Yield each participant once."""
    rows: dict[str, dict[str, Any]] = {}
    for record, speaker_ids in numbered(records):
        for side, speaker_id in speaker_ids.items():
            person = person_of(record["participant_info"][side])
            row = rows.setdefault(speaker_id, {"speaker_id": speaker_id, **person, "dialogues": 0})
            row["dialogues"] += 1
    yield from rows.values()


@View(
    "one side of a dialogue; the two sides follow each other",
    {
        **_side,
        **{f"priority_{level.lower()}": shapes.ITEM for level in POINTS},
        **{f"reason_{level.lower()}": shapes.REASON for level in POINTS},
        "guess_partner_highest_item": Field(
            set(ISSUES), "the side's guess, after the chat, of the other's high priority"
        ),
        "guess_partner_lowest_item": Field(
            set(ISSUES), "the side's guess, after the chat, of the other's low priority"
        ),
        "integrative_potential": _potential,
        **{f"{issue.lower()}_got": _got for issue in ISSUES},
        **_outcomes,
        **_person,
    },
    of="dialogues",
    key=_side_key,
    splits={"train": [shapes.DATA, shapes.GUESSING]},
    records=shapes.with_guesses,
    rejoin=shapes.guesses_again,
    use="study outcomes, infer the partner's priorities",
)
def participants(records: Iterable[Record]) -> Rows:
    """Yield each side of each dialogue as flat columns; a record has `guesses` here."""
    for record, speaker_ids in numbered(records):
        for side, speaker_id in speaker_ids.items():
            info = record["participant_info"][side]
            got = items_of(record)[side] or dict.fromkeys(ISSUES)
            yield {
                "dialogue_id": record["dialogue_id"],
                "speaker": side,
                "speaker_id": speaker_id,
                **{f"priority_{level.lower()}": info["value2issue"][level] for level in POINTS},
                **{f"reason_{level.lower()}": info["value2reason"][level] for level in POINTS},
                **{f"guess_{key}": item for key, item in record["guesses"][side].items()},
                "integrative_potential": potential_of(record),
                **{f"{issue.lower()}_got": got[issue] for issue in ISSUES},
                **outcomes_of(record, side),
                **person_of(info),
            }


@View(
    "a dialogue, flat",
    {
        **_dialogue,
        "deal": _deal,
        "integrative_potential": _potential,
        "events": Field(int, "the number of chat entries, deal actions included"),
        "messages": Field(int, "the number of utterances, without deal actions"),
        "offers": Field(int, "the number of deals submitted"),
    },
    of="dialogues",
    use="study outcomes",
)
def results(records: Iterable[Record]) -> Rows:
    """Yield each dialogue as flat columns."""
    for record in records:
        tasks = [entry["task_data"] for entry in record["chat_logs"]]
        yield {
            "dialogue_id": record["dialogue_id"],
            "deal": None not in items_of(record).values(),
            "integrative_potential": potential_of(record),
            "events": len(tasks),
            "messages": tasks.count({}),
            "offers": sum("issue2youget" in task for task in tasks),
        }


@View(
    "a labelled utterance with those before it, in the authors' 5 folds",
    {
        **_entry,
        "context": Field(
            [{"speaker": _speaker, "text": Field(str, "its text")}],
            f"the {CONTEXT} utterances before, without deal actions, the nearest last; fewer at "
            "the start",
        ),
        "labels": Field(_strategies, _ANNOTATED),
        "fold": Field(int, "the fold, from 0, that tests on the dialogue"),
    },
    of="dialogues",
    key=_turn_key,
    left_out={"train": {"dialogues": 634, "turns": 9682}},  # without annotation
    use="classify utterances",
)
def strategies(records: Iterable[Record]) -> Rows:
    """Yield each annotated utterance, with those before it and the fold of its dialogue.

    The folds are the authors': `KFold(5)` of scikit-learn, without shuffling, over the annotated
    dialogues in their order. Each is of dialogues in a row; the first ones have the one more.
    """
    annotated = [record for record in records if record["annotations"]]
    folds = [fold for fold in range(FOLDS) for _ in range(fold, len(annotated), FOLDS)]
    for record, fold in zip(annotated, folds, strict=True):
        before: list[dict[str, str]] = []
        for turn, entry, labels in labelled(record):
            if labels is not None:
                context = {"context": before[-CONTEXT:]}
                yield {
                    **keyed_entry(record, turn),
                    **context,
                    "labels": without_empty(labels),
                    "fold": fold,
                }
            if not entry["task_data"]:
                before.append({"speaker": entry["id"], "text": entry["text"]})


@View(
    "a dialogue as a chat, with one side as the assistant",
    {**_side, **CHAT, **_outcomes},
    of="dialogues",
    key=_side_key,
    use="train a chat model",
)
def messages(records: Iterable[Record]) -> Rows:
    """Yield each side's view of a dialogue as a chat in which that side is the assistant."""
    for record, speaker_ids in numbered(records):
        spoken = [(entry["id"], entry_in_words(entry)) for entry in record["chat_logs"]]
        for side, speaker_id in speaker_ids.items():
            turns = (("assistant" if who == side else "user", text) for who, text in spoken)
            yield {
                "dialogue_id": record["dialogue_id"],
                "speaker": side,
                "speaker_id": speaker_id,
                **chat_of(turns, briefing(record["participant_info"][side])),
                **outcomes_of(record, side),
            }


@View(
    "the setting of a dialogue, without the dialogue",
    {
        **_dialogue,
        **dict.fromkeys(SIDES, Field(shapes.by_level(*POINTS), "what this side alone knows")),
        "packages": Field(_items, "the packages to share out"),
        "points": Field(
            dict.fromkeys(POINTS, Field(int, "points for a package of this priority")),
            "the worth of a package",
        ),
        "points_after_walking_away": Field(int, "points of each side if one walks away"),
        "published_in": Field(
            [str], "kwon2024 and rlvr-batna2026, if they have the dialogue (see Tasks in the card)"
        ),
    },
    of="dialogues",
    use="let agents negotiate anew",
)
def scenarios(records: Iterable[Record]) -> Rows:
    """Yield the setting of each dialogue, without the dialogue."""
    for record in records:
        info = record["participant_info"]
        known = ("value2issue", "value2reason")
        yield {
            "dialogue_id": record["dialogue_id"],
            **{side: {key: dict(info[side][key]) for key in known} for side in SIDES},
            "packages": dict.fromkeys(ISSUES, PACKAGES),
            "points": dict(POINTS),
            "points_after_walking_away": WALK_AWAY,
            "published_in": [n for n in PUBLISHED_IN if record["dialogue_id"] in SUBSETS[n].ids],
        }
