"""CaSiNo's views: turns, participants, labelled utterances, chats and scenarios.

Each view is a pure function of all records, dialogues ascending, that yields rows. They
share their keys: `dialogue_id` and `turn`, the place in `chat_logs` from 0, name a chat entry;
`dialogue_id` and `speaker`, mturk_agent_1 or mturk_agent_2, name a side; `speaker_id` is the
participant, the same across dialogues, numbered as in ConvoKit's casino-corpus.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from parley import CHAT, ClassLabel, Field, chat_of

from .scenarios import ISSUES, PACKAGES, POINTS, SIDES, WALK_AWAY, most_joint_points
from .subsets import PUBLISHED_IN, SUBSETS

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
ANSWERS = {"accept_deal": "Accept-Deal", "reject_deal": "Reject-Deal", "walk_away": "Walk-Away"}

# Fields that records and rows share -----------------------------------------------


def _either(names: list[str], meaning: str) -> tuple[Field, Field]:
    """Return a field of a record, which has a string, and the column of a view, a label."""
    return Field(set(names), meaning), Field(ClassLabel(names=names), meaning)


def by_level(*levels: str) -> dict[str, Field]:
    """Return the fields that hold a side's priorities, and its reasons for them."""
    return {
        "value2issue": Field(dict.fromkeys(levels, ITEM), "the side's order of the items"),
        "value2reason": Field(dict.fromkeys(levels, REASON), "the side's reasons for its order"),
    }


DIALOGUE_ID = Field(int, "upstream's number of the dialogue, from 0")
SPEAKER = Field(set(SIDES), "the side that acts")
TEXT = Field(str, f"the utterance, or `Submit-Deal`, `{'`, `'.join(ANSWERS.values())}`")
ITEM = Field(set(ISSUES), "the item of this priority")
REASON = Field(str, "the reason for this priority, as the participant wrote it before the chat")
POINTS_SCORED = Field(
    int,
    "5, 4 and 3 for each package of the high, medium and low priority, at most 36; 5 for both "
    "sides after a walk-away",
)
SATISFIED, _satisfied = _either(SATISFACTION, "how satisfied the side is with the outcome")
LIKES, _likes = _either(LIKENESS, "how much the side likes its partner")
AGE = Field(int, "as the participant typed it (see Known limits in the card)", "years")
GENDER, _gender = _either(["female", "male", "other"], "gender")
ETHNICITY = Field(
    {
        "white american", "black or african american", "asian american", "hispanic or latino",
        "multi-racial", "alaska native or native american",
        "native hawaiian or other specific islander", "other (please specify)",
    },
    "ethnicity",
)  # fmt: skip
EDUCATION = Field(
    {
        "some high school, no diploma", "high school graduate / ged", "trade school",
        "some 2 year college, no degree", "some 2 year college, associate's degree",
        "some 4 year college, no degree", "some 4 year college, bachelor's degree",
        "master's degree", "doctorate degree",
    },
    "the highest level of education",
)  # fmt: skip
SVO, _svo = _either(["prosocial", "proself", "unclassified"], "social value orientation")
TRAITS = (
    "extraversion", "agreeableness", "conscientiousness", "emotional-stability",
    "openness-to-experiences",
)  # fmt: skip
TRAIT = Field(float, "score of the Ten-Item Personality Inventory, 1 to 7 in steps of 0.5")

OUTCOMES = {"points_scored": POINTS_SCORED, "satisfaction": SATISFIED, "opponent_likeness": LIKES}
DEMOGRAPHICS = {"age": AGE, "gender": GENDER, "ethnicity": ETHNICITY, "education": EDUCATION}
PERSONALITY = {"svo": SVO, "big-five": Field(dict.fromkeys(TRAITS, TRAIT), "the five traits")}

# Rows ------------------------------------------------------------------

_turn = Field(int, "the place in `chat_logs`, from 0, deal actions counted")
_speaker_id = Field(str, "the participant (see What we changed in the card)")
_strategies = [ClassLabel(names=STRATEGIES)]
_items = dict.fromkeys(ISSUES, Field(int, "packages of this item"))
_got = Field((int, None), "packages of this item by the accepted deal; null after a walk-away")
_entry = {"dialogue_id": DIALOGUE_ID, "turn": _turn, "speaker": SPEAKER, "text": TEXT}
_side = {
    "dialogue_id": DIALOGUE_ID,
    "speaker": Field(set(SIDES), "the side that the row is about"),
    "speaker_id": _speaker_id,
}
_person = {
    **DEMOGRAPHICS,
    "gender": _gender,
    "svo": _svo,
    **dict.fromkeys((trait.replace("-", "_") for trait in TRAITS), TRAIT),
}
_own = {**OUTCOMES, "satisfaction": _satisfied, "opponent_likeness": _likes}
_outcomes = {
    "deal": Field(bool, "whether a deal was accepted; otherwise one side walked away"),
    **_own,
    **{f"partner_{n}": Field(own.shape, f"`{n}` of the other side") for n, own in _own.items()},
}
FEATURES: dict[str, dict[str, Any]] = {
    "utterances": {
        **_entry,
        "id": Field(str, "`utterance_<n>`, numbered over all dialogues"),
        "conversation_id": Field(str, "the `id` of the dialogue's first entry"),
        "reply_to": Field((str, None), "the `id` of the entry before; null for the first"),
        "speaker_id": _speaker_id,
        "speaker_internal_id": Field(set(SIDES), "ConvoKit's name for `speaker`, the same value"),
        "annotations": Field(
            (_strategies, None),
            "the strategies (see Annotation in the card); null without annotation",
        ),
        "data": Field(
            (set(ANSWERS), None), "the side's decision; null for utterances and `Submit-Deal`"
        ),
        "issue2youget": Field((_items, None), "packages for the speaker; null without a deal"),
        "issue2theyget": Field((_items, None), "packages for the other; null without a deal"),
    },
    "speakers": {
        "speaker_id": _speaker_id,
        **_person,
        "dialogues": Field(int, "the number of the participant's dialogues"),
    },
    "participants": {
        **_side,
        **{f"priority_{level.lower()}": ITEM for level in POINTS},
        **{f"reason_{level.lower()}": REASON for level in POINTS},
        "guess_partner_highest_item": Field(
            set(ISSUES), "the side's guess, after the chat, of the other's high priority"
        ),
        "guess_partner_lowest_item": Field(
            set(ISSUES), "the side's guess, after the chat, of the other's low priority"
        ),
        "integrative_potential": Field(
            int,
            "of the dialogue: 1, 2 or 3 if the two orders allow at most 36, 39 or 42 points "
            "together",
        ),
        **{f"{issue.lower()}_got": _got for issue in ISSUES},
        **_outcomes,
        **_person,
    },
    "strategies": {
        **_entry,
        "context": Field(
            [{"speaker": SPEAKER, "text": Field(str, "its text")}],
            f"the {CONTEXT} utterances before, without deal actions, the nearest last; fewer at "
            "the start",
        ),
        "labels": Field(_strategies, "the strategies, one or more, as annotated"),
        "fold": Field(int, "the fold, from 0, that tests on the dialogue"),
    },
    "messages": {**_side, **CHAT, **_outcomes},
    "scenarios": {
        "dialogue_id": DIALOGUE_ID,
        **dict.fromkeys(SIDES, Field(by_level(*POINTS), "what this side alone knows")),
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


def named(labels: list[str] | None) -> list[str] | None:
    """Return labels without the empty one."""
    return None if labels is None else [name for name in labels if name]


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
                "annotations": named(labels),
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
                yield {**said(record, turn), **context, "labels": named(labels), "fold": fold}
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
            "published_in": [n for n in PUBLISHED_IN if record["dialogue_id"] in SUBSETS[n].ids],
        }
