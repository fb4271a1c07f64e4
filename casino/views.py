"""CaSiNo's views: turns, participants, labelled utterances, chats and scenarios.

Each view is a pure function of all records, dialogues ascending, that yields rows. They
share their keys: `dialogue_id` and `turn`, the place in `chat_logs` from 0, name a chat entry;
`dialogue_id` and `speaker`, mturk_agent_1 or mturk_agent_2, name a side; `speaker_id` is the
participant, the same across dialogues, numbered as in ConvoKit's casino-corpus.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from parley import CHAT, ClassLabel, chat_of

from .scenarios import ISSUES, PACKAGES, POINTS, SIDES, WALK_AWAY, most_joint_points
from .subsets import SUBSETS

Record = dict[str, Any]
Rows = Iterator[dict[str, Any]]

PARTNER = {"mturk_agent_1": "mturk_agent_2", "mturk_agent_2": "mturk_agent_1"}
FOLDS = 5
CONTEXT = 3  # utterances before the labelled one, as in the paper

STRATEGIES = [
    "small-talk", "showing-empathy", "promote-coordination", "no-need", "elicit-pref",
    "uv-part", "vouch-fair", "self-need", "other-need", "non-strategic",
]  # fmt: skip
SATISFACTION = [
    "Extremely dissatisfied", "Slightly dissatisfied", "Undecided", "Slightly satisfied",
    "Extremely satisfied",
]  # fmt: skip
LIKENESS = [
    "Extremely dislike", "Slightly dislike", "Undecided", "Slightly like", "Extremely like",
]  # fmt: skip

# Rows ------------------------------------------------------------------

_strategy = ClassLabel(names=STRATEGIES)
_satisfaction = ClassLabel(names=SATISFACTION)
_likeness = ClassLabel(names=LIKENESS)
_gender = ClassLabel(names=["female", "male", "other"])
_svo = ClassLabel(names=["prosocial", "proself", "unclassified"])

_items = {"Food": int, "Water": int, "Firewood": int}
_levels = {"High": str, "Medium": str, "Low": str}
_entry = {"dialogue_id": int, "turn": int, "speaker": str, "text": str}
_side = {"dialogue_id": int, "speaker": str, "speaker_id": str}
_traits = ("extraversion", "agreeableness", "conscientiousness", "emotional_stability")
_person = {"age": int, "gender": _gender, "ethnicity": str, "education": str, "svo": _svo}
_person |= dict.fromkeys((*_traits, "openness_to_experiences"), float)
_own = {"points_scored": int, "satisfaction": _satisfaction, "opponent_likeness": _likeness}
_outcomes = {"deal": bool, **_own, **{f"partner_{name}": kind for name, kind in _own.items()}}
FEATURES = {
    "utterances": {
        **_entry,
        **dict.fromkeys(("id", "conversation_id", "reply_to", "speaker_id"), str),
        "speaker_internal_id": str,
        "annotations": [_strategy],
        "data": str,
        "issue2youget": _items,
        "issue2theyget": _items,
    },
    "speakers": {"speaker_id": str, **_person, "dialogues": int},
    "participants": {
        **_side,
        **{f"priority_{level.lower()}": str for level in POINTS},
        **{f"reason_{level.lower()}": str for level in POINTS},
        "guess_partner_highest_item": str,
        "guess_partner_lowest_item": str,
        "integrative_potential": int,
        **{f"{issue.lower()}_got": int for issue in ISSUES},
        **_outcomes,
        **_person,
    },
    "strategies": {
        **_entry,
        "context": [{"speaker": str, "text": str}],
        "labels": [_strategy],
        "fold": int,
    },
    "messages": {**_side, **CHAT, **_outcomes},
    "scenarios": {
        "dialogue_id": int,
        **{side: {"value2issue": _levels, "value2reason": _levels} for side in SIDES},
        "packages": _items,
        "points": dict.fromkeys(POINTS, int),
        "points_after_walking_away": int,
        "published_in": [str],
    },
}

# Parts of rows -------------------------------------------------------------


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


def labelled(record: Record) -> Iterator[tuple[int, Record, list[str] | None]]:
    """Yield the turn, the chat entry and its labels, None if it has none.

    Annotations follow the utterances by text, in order, and pass over some of them and over
    the deal actions. A label may be empty. The record may be a row of `dialogues`.
    """
    pending = list(record["annotations"])
    for turn, entry in enumerate(record["chat_logs"]):
        said = not any(entry["task_data"].values())
        found = said and pending and entry["text"] == pending[0][0]
        yield turn, entry, pending.pop(0)[1].split(",") if found else None
    if pending:
        where = f"annotations[{len(record['annotations']) - len(pending)}]"
        expected = f"the text of a chat entry that follows, found {pending[0][0]!r:.60}"
        raise ValueError(f"dialogue {record['dialogue_id']}: {where}: expected {expected}")


def numbers(labels: list[str] | None) -> list[int] | None:
    """Return the numbers of labels, without the empty one."""
    return None if labels is None else [_strategy.names.index(name) for name in labels if name]


def said(record: Record, turn: int) -> dict[str, Any]:
    """Return a chat entry with its key."""
    entry = record["chat_logs"][turn]
    place = {"dialogue_id": record["dialogue_id"], "turn": turn}
    return {**place, "speaker": entry["id"], "text": entry["text"]}


def counts(items: dict[str, str] | None) -> dict[str, int] | None:
    """Return upstream's item counts, which are strings, as integers."""
    return {issue: int(items[issue]) for issue in ISSUES} if items else None


def items_of(record: Record) -> dict[str, Any]:
    """Return each side's packages by the last deal submitted; None after Walk-Away."""
    if record["chat_logs"][-1]["task_data"].get("data") != "accept_deal":
        return dict.fromkeys(PARTNER)
    deal = [each for each in record["chat_logs"] if each["task_data"].get("issue2youget")][-1]
    return {
        deal["id"]: counts(deal["task_data"]["issue2youget"]),
        PARTNER[deal["id"]]: counts(deal["task_data"]["issue2theyget"]),
    }


def outcomes_of(record: Record, side: str) -> dict[str, Any]:
    """Return the outcomes of a side and, with the prefix partner_, of the other."""
    outcomes: dict[str, Any] = {"deal": items_of(record)[side] is not None}
    for prefix, name in (("", side), ("partner_", PARTNER[side])):
        for column, value in record["participant_info"][name]["outcomes"].items():
            names = getattr(_own[column], "names", None)
            outcomes[prefix + column] = names.index(value) if names else value
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
        "gender": _gender.names.index(info["demographics"]["gender"]),
        "svo": _svo.names.index(info["personality"]["svo"]),
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


def spoken(entry: Record) -> str:
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


# The views ------------------------------------------------------------------------------


def utterances(records: Iterable[Record]) -> Rows:
    """Yield each chat entry, deal actions included, with ConvoKit's ids."""
    number = 0
    for record, speaker_ids in numbered(records):
        for turn, entry, labels in labelled(record):
            yield {
                **said(record, turn),
                "id": f"utterance_{number}",
                "conversation_id": f"utterance_{number - turn}",
                "reply_to": f"utterance_{number - 1}" if turn else None,
                "speaker_id": speaker_ids[entry["id"]],
                "speaker_internal_id": entry["id"],
                "annotations": numbers(labels),
                "data": entry["task_data"].get("data"),
                "issue2youget": counts(entry["task_data"].get("issue2youget")),
                "issue2theyget": counts(entry["task_data"].get("issue2theyget")),
            }
            number += 1


def speakers(records: Iterable[Record]) -> Rows:
    """Yield each participant once."""
    rows: dict[str, dict[str, Any]] = {}
    for record, speaker_ids in numbered(records):
        for side, speaker_id in speaker_ids.items():
            person = person_of(record["participant_info"][side])
            row = rows.setdefault(speaker_id, {"speaker_id": speaker_id, **person, "dialogues": 0})
            row["dialogues"] += 1
    yield from rows.values()


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
                yield {**said(record, turn), **context, "labels": numbers(labels), "fold": fold}
            if not entry["task_data"]:
                before.append({"speaker": entry["id"], "text": entry["text"]})


def messages(records: Iterable[Record]) -> Rows:
    """Yield each side's view of a dialogue as a chat in which that side is the assistant."""
    for record, speaker_ids in numbered(records):
        for side, speaker_id in speaker_ids.items():
            said = (
                ("assistant" if entry["id"] == side else "user", spoken(entry))
                for entry in record["chat_logs"]
            )
            yield {
                "dialogue_id": record["dialogue_id"],
                "speaker": side,
                "speaker_id": speaker_id,
                **chat_of(said, briefing(record["participant_info"][side])),
                **outcomes_of(record, side),
            }


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
            "published_in": [n for n, s in SUBSETS.items() if record["dialogue_id"] in s.ids],
        }
