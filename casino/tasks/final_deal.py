"""The packages of both sides at the end of a dialogue."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from parley import Data, problems, tasks

from ..scenarios import ISSUES, PACKAGES, SIDES
from ..subsets import SUBSETS
from .moments import END, moments
from .shared import ALLOCATION, EXAMPLE, SETTING, participants, people, seen

# Question ----------------------------------------------------------------------------------

_DEAL = (
    f"{SETTING} Read the talk of {SIDES[0]} and {SIDES[1]} and say who gets how many packages of "
    "each item in the end."
)
_FORM = (
    'Answer in JSON: {"allocation": {"Food": {"mturk_agent_1": .., "mturk_agent_2": ..}, '
    '"Water": {...}, "Firewood": {...}}}, where both sides together get three of each; '
    '{"allocation": null} if one side walks away without a deal.'
)


def _split(first: int) -> dict[str, Any]:
    """Return the schema of an item of which the first side gets so many packages."""
    counts = zip(SIDES, (first, PACKAGES - first), strict=True)
    return tasks.object_schema(**{side: {"type": "integer", "enum": [n]} for side, n in counts})


_ITEM = {"anyOf": [_split(first) for first in range(PACKAGES + 1)]}
_SCHEMA = {"anyOf": [tasks.object_schema(**dict.fromkeys(ISSUES, _ITEM)), {"type": "null"}]}


def final_deal(data: Data) -> Iterator[tasks.Question]:
    """Ask for the deal at the end of each talk."""
    schema = tasks.object_schema(allocation=_SCHEMA)
    for moment in moments(data, END, SIDES[0]):
        chat = tasks.chat(_DEAL, f"The talk:\n{seen(moment.talk)}", _FORM)
        yield tasks.Question((moment.dialogue_id,), chat, schema)


_NO_DEAL = re.compile(r"\W*(?:(?:no[ _-]deal|null)\b\W*)+", re.IGNORECASE)
_PART = re.compile(
    rf"(?P<item>{'|'.join(ISSUES)})|(?:mturk_)?(?P<side>agent[_ ][12])\b"
    r"|(?P<number>-?\d+(?:\.\d+)?)",
    re.IGNORECASE,
)
_LAYOUT = re.compile("(?:i(?:sn|ns){2}){3}|(?:s(?:in|ni){3}){2}")  # i(tem), s(ide), n(umber)


def allocation(value: Any) -> Any:
    """Return the packages by side of an answer; None for no deal.

    An object or lines name items, sides and numbers alone, by item or by side.
    """
    text = value if isinstance(value, str) else json.dumps(value)
    if _NO_DEAL.fullmatch(text):
        return None
    parts = [(kind := str(part.lastgroup), part[kind]) for part in _PART.finditer(text)]
    kinds = "".join(kind[0] for kind, _ in parts)
    if not _LAYOUT.fullmatch(kinds) or re.search(r"\w", _PART.sub("", text)):
        return tasks.Unreadable()
    shares: dict[str, dict[str, Any]] = {side: {} for side in SIDES}
    step = kinds.index(kinds[0], 1)
    for start in range(0, len(parts), step):
        head, *rest = parts[start : start + step]
        for pair in zip(rest[::2], rest[1::2], strict=True):
            named = dict([head, *pair])
            count = float(named["number"])  # may be 1.0
            side, item = SIDES[int(named["side"][-1]) - 1], named["item"].capitalize()
            shares[side][item] = int(count) if count.is_integer() else count
    return tasks.Unreadable() if any(problems(shares, ALLOCATION)) else shares


def answered(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a prediction as the prompt asks for it: the packages by item."""
    shares = fields["allocation"]
    by_item = shares and {issue: {side: shares[side][issue] for side in SIDES} for issue in ISSUES}
    return {"allocation": by_item}


# Score -------------------------------------------------------------------------------------


def final_deal_gold(data: Data) -> dict[tasks.Key, Any]:
    """Return (dialogue_id,) -> the allocation, None after walking away."""
    return {(each["dialogue_id"],): each["allocation"] for each in people(data)}


def final_deal_score(
    gold: Mapping[tasks.Key, Any], predictions: Mapping[tasks.Key, tasks.Prediction]
) -> tasks.Score:
    """Score allocations: dialogues with all right, and items with the right shares."""
    exact, items = [], []
    for key, due in gold.items():
        found = predictions[key].get("allocation", tasks.UNREADABLE)
        exact.append(found == due)
        if due is None or not isinstance(found, Mapping):
            items.append(float(found == due))
        else:
            mine, own = found[SIDES[0]], due[SIDES[0]]  # the other side has the rest
            items.append(sum(mine[issue] == own[issue] for issue in ISSUES) / len(ISSUES))
    counts = {"dialogues": len(gold), "deals": sum(due is not None for due in gold.values())}
    return tasks.Score({"exact": exact, "items": items}, counts)


# Baseline ----------------------------------------------------------------------------------


def commonest_deal(data: Data) -> Iterator[tasks.Prediction]:
    """Predict the commonest deal of all dialogues for each."""
    found = [*people(data)]
    times = Counter(repr(each["allocation"]) for each in found)
    of_text = {repr(each["allocation"]): each["allocation"] for each in found}
    commonest = of_text[max(sorted(times), key=lambda name: times[name])]  # the first of equal ones
    for each in found:
        yield {**each, "allocation": commonest}


# Task --------------------------------------------------------------------------------------

FINAL_DEAL = tasks.Task(
    summary="each side's packages at the end of a dialogue",
    category="text-classification",
    public_since="2021",
    evaluated_on="all scenarios",
    configs=("scenarios", "utterances"),
    fields={
        "dialogue_id": "the dialogue, an integer",
        "allocation": "mturk_agent_1 and mturk_agent_2, each with its packages of Food, Water and "
        "Firewood, together three of each; null if a side walks away",
    },
    shape={"dialogue_id": int, "allocation": ALLOCATION},
    key=("dialogue_id",),
    example={"dialogue_id": 2001, "allocation": EXAMPLE},
    metrics={
        "exact": "dialogues with the whole allocation right",
        "items": "share of items with the right packages, mean over the dialogues; if "
        "either is a walk-away, 1 if both are, else 0",
    },
    inputs="the texts of the dialogue without deal actions",
    columns=("utterances.text",),
    leak="the deal actions and the config `messages` hold the deal",
    asking=tasks.Asking("4", final_deal, tasks.reader(allocation=allocation), answer=answered),
    subsets=SUBSETS,
    gold=final_deal_gold,
    clusters={"dialogues": None, "participants": participants("utterances", "dialogue_id")},
    score=final_deal_score,
    target=lambda gold: {"allocation": gold},
    per_prediction=("exact", "items"),
    baselines={"commonest": commonest_deal},
    references=(tasks.Reference("commonest"),),
)
