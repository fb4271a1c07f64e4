"""The prompts of CaSiNo's tasks, and how answers are read.

A change of a prompt or reader needs a new `version`: tests hold the sha256 of the sample's prompts.
Definitions follow the paper's section 3 in our own words.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from parley import (
    Asking,
    Data,
    Question,
    Unreadable,
    chat,
    choice,
    object_schema,
    problems,
    read_labels,
    read_object,
    read_order,
    reader,
    spoken,
)

from .scenarios import ISSUES, PACKAGES, SIDES
from .views import LIKENESS, PARTNER, SATISFACTION

DEFINITIONS = {
    "small-talk": "talk beside the negotiation, to build rapport",
    "self-need": "an argument for a personal need of an item",
    "other-need": "an argument for a need of people other than the two, such as family",
    "no-need": "the speaker says that it does not need an item",
    "elicit-pref": "a question about the partner's preferences",
    "uv-part": "the speaker plays down the partner's need of an item",
    "vouch-fair": "an appeal to fairness, for the own benefit",
}

SETTING = (
    "Two campsite neighbours negotiate over three packages each of Food, Water and Firewood. Each "
    "neighbour has a private order of priorities: a package of the high, medium and low priority "
    "is worth 5, 4 and 3 points."
)


def dialogues(data: Data) -> dict[int, list[dict[str, Any]]]:
    """Return the utterances of each dialogue, without deal actions."""
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in data.rows("utterances", "train"):
        if row["data"] is None and row["issue2youget"] is None:
            found[row["dialogue_id"]].append(row)
    return found


def heard(rows: list[dict[str, Any]], side: str) -> str:
    """Return a dialogue as lines, as one side hears it."""
    return spoken(("You" if row["speaker"] == side else "Partner", row["text"]) for row in rows)


def seen(rows: list[dict[str, Any]]) -> str:
    """Return a dialogue as lines, from outside."""
    return spoken((row["speaker"], row["text"]) for row in rows)


# Strategies ------------------------------------------------------------------------------

_STRATEGIES = "\n".join(
    [
        "You label utterances of negotiations. " + SETTING,
        "An utterance can use several of these strategies, or none:",
        *(f"- {label}: {meaning}" for label, meaning in DEFINITIONS.items()),
        'Answer in JSON: {"labels": [...]}, with the strategies of the last utterance alone; [] '
        "for none.",
    ]
)
_LABEL = {"type": "string", "enum": [*DEFINITIONS]}
_LABELS = {"type": "array", "items": _LABEL, "maxItems": len(DEFINITIONS)}


def strategies(data: Data) -> Iterator[Question]:
    """Ask for the strategies of each annotated utterance, with the three before it."""
    for row in data.rows("strategies", "train"):
        names = dict(zip((row["speaker"], PARTNER[row["speaker"]]), "AB", strict=True))
        before = spoken((names[each["speaker"]], each["text"]) for each in row["context"])
        last = spoken([("A", row["text"])])
        user = f"Before it:\n{before or '(nothing)'}\n\nThe utterance:\n{last}"
        key = (row["dialogue_id"], row["turn"])
        yield Question(key, chat(_STRATEGIES, user), object_schema(labels=_LABELS))


STRATEGIES = Asking("2", strategies, reader(read_labels, "labels", [*DEFINITIONS]), max_tokens=80)

# The partner's priorities ----------------------------------------------------------------

_PRIORITIES = (
    f"{SETTING} You are one of them. After the talk, say in which order your partner ranks the "
    'items, the high priority first. Answer in JSON: {"order": [...]}, with Food, Water and '
    "Firewood, each once."
)
_ITEM = {"type": "string", "enum": [*ISSUES]}
_ORDER = {"type": "array", "items": _ITEM, "minItems": 3, "maxItems": 3}


def priorities(data: Data) -> Iterator[Question]:
    """Ask each side for its partner's order, given its own order and the talk."""
    talks = dialogues(data)
    for row in data.rows("participants", "train"):
        own = ", ".join(row[f"priority_{level}"] for level in ("high", "medium", "low"))
        user = f"Your own order, from high to low: {own}\n\nThe talk:\n"
        user += heard(talks[row["dialogue_id"]], row["speaker"])
        key = (row["dialogue_id"], row["speaker"])
        yield Question(key, chat(_PRIORITIES, user), object_schema(order=_ORDER))


PRIORITIES = Asking("2", priorities, reader(read_order, "order", ISSUES), max_tokens=80)

# The final deal --------------------------------------------------------------------------

_DEAL = (
    f"{SETTING} Read the talk of {SIDES[0]} and {SIDES[1]} and say who gets how many packages of "
    "each item in the end. Answer in JSON: "
    '{"allocation": {"mturk_agent_1": {"Food": .., "Water": .., "Firewood": ..}, "mturk_agent_2": '
    "{...}}}, where both sides together get three of each; "
    '{"allocation": null} if one side walks away without a deal.'
)
_COUNT = {"type": "integer", "minimum": 0, "maximum": PACKAGES}
_PART = object_schema(**dict.fromkeys(ISSUES, _COUNT))
_SHARES = {side: {issue: set(range(PACKAGES + 1)) for issue in ISSUES} for side in SIDES}
_ALLOCATION = {"anyOf": [object_schema(**dict.fromkeys(SIDES, _PART)), {"type": "null"}]}


def final_deal(data: Data) -> Iterator[Question]:
    """Ask for the deal at the end of each talk."""
    talks = dialogues(data)
    for row in data.rows("scenarios", "train"):
        user = f"The talk:\n{seen(talks[row['dialogue_id']])}"
        schema = object_schema(allocation=_ALLOCATION)
        yield Question((row["dialogue_id"],), chat(_DEAL, user), schema)


def read_allocation(text: str, _: Question) -> Mapping[str, Any] | Unreadable:
    """Read the packages of both sides."""
    found = read_object(text, "allocation")
    if isinstance(found, Unreadable):
        return found
    if found["allocation"] in (None, "null"):
        return {"allocation": None}
    shares = folded(found["allocation"])
    if any(problems(shares, _SHARES)):
        return Unreadable()
    if any(sum(part[issue] for part in shares.values()) != PACKAGES for issue in ISSUES):
        return Unreadable()
    return {"allocation": {side: {i: shares[side][i] for i in ISSUES} for side in SIDES}}


def folded(value: Any) -> Any:
    """Return shares with the names of sides and items, and whole numbers as integers."""
    if isinstance(value, Mapping):
        names = {name.casefold(): name for name in (*SIDES, *ISSUES)}
        known = {names.get(str(name).casefold(), name): folded(v) for name, v in value.items()}
        return known if len(known) == len(value) else value
    if isinstance(value, str) and value.isdigit() and len(value) == 1:
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


FINAL_DEAL = Asking("1", final_deal, read_allocation, max_tokens=150)

# Outcomes --------------------------------------------------------------------------------

_OUTCOMES = (
    f"{SETTING} After the talk each of them said how satisfied it was with the outcome and how "
    "much it liked the other. Read the talk of You and Partner and give the two answers of You.\n"
    f"satisfaction: one of {', '.join(SATISFACTION)}.\n"
    f"likeness: one of {', '.join(LIKENESS)}.\n"
    'Answer in JSON: {"satisfaction": "...", "likeness": "..."}.'
)
_CHOICES = {
    name: {"type": "string", "enum": choices}
    for name, choices in (("satisfaction", SATISFACTION), ("likeness", LIKENESS))
}


def outcomes(data: Data) -> Iterator[Question]:
    """Ask for each side's satisfaction and its liking of the partner, given the talk."""
    talks = dialogues(data)
    for row in data.rows("participants", "train"):
        key = (row["dialogue_id"], row["speaker"])
        user = f"The talk:\n{heard(talks[row['dialogue_id']], row['speaker'])}"
        yield Question(key, chat(_OUTCOMES, user), object_schema(**_CHOICES))


def read_outcomes(text: str, _: Question) -> Mapping[str, Any] | Unreadable:
    """Read the two answers of a side."""
    found = read_object(text, "satisfaction", "likeness")
    if isinstance(found, Unreadable):
        return found
    satisfaction = choice(found["satisfaction"], SATISFACTION)
    likeness = choice(found["likeness"], LIKENESS)
    if satisfaction is None or likeness is None:
        return Unreadable()
    return {"satisfaction": satisfaction, "likeness": likeness}


OUTCOMES = Asking("2", outcomes, read_outcomes, max_tokens=80)
