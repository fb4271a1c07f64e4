"""The packages of both sides at the end of a dialogue."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from parley import Data, Field, tasks

from ..scenarios import ISSUES, SIDES
from ..subsets import SUBSETS
from .moments import END, moments
from .shared import SETTING, Allocation, own_deals, participants_by, seen

_DEAL = (
    f"{SETTING} Read the talk of {SIDES[0]} and {SIDES[1]} and say who gets how many packages of "
    "each item in the end, both sides together three of each; null if one side walks away without "
    "a deal."
)


def final_deal(data: Data) -> Iterator[tasks.Question]:
    """Ask for the deal at the end of each talk."""
    for moment in moments(data, END, SIDES[0]):
        yield tasks.Question((moment.dialogue_id,), _DEAL, f"The talk:\n{seen(moment.talk)}")


def final_deal_gold(data: Data) -> dict[tasks.Key, dict[str, Any]]:
    """Return (dialogue_id,) -> the allocation, None after walking away."""
    return {(each["dialogue_id"],): {"allocation": each["allocation"]} for each in own_deals(data)}


def final_deal_score(
    gold: Mapping[tasks.Key, Mapping[str, Any]], predictions: Mapping[tasks.Key, tasks.Prediction]
) -> tasks.Score:
    """Score allocations: dialogues with all right, and items with the right shares."""
    exact, items = [], []
    for key, right in gold.items():
        due = right["allocation"]
        found = predictions[key].get("allocation", tasks.UNREADABLE)
        exact.append(found == due)
        if due is None or not isinstance(found, Mapping):
            items.append(float(found == due))
        else:
            mine, own = found[SIDES[0]], due[SIDES[0]]  # the other side has the rest
            items.append(sum(mine[issue] == own[issue] for issue in ISSUES) / len(ISSUES))
    deals = sum(right["allocation"] is not None for right in gold.values())
    counts = {"dialogues": len(gold), "deals": deals}
    return tasks.Score({"exact": exact, "items": items}, counts)


def commonest_deal(data: Data) -> Iterator[tasks.Prediction]:
    """Predict the commonest deal of all dialogues for each."""
    found = [*own_deals(data)]
    times = Counter(repr(each["allocation"]) for each in found)
    of_text = {repr(each["allocation"]): each["allocation"] for each in found}
    commonest = of_text[max(sorted(times), key=lambda name: times[name])]  # the first of equal ones
    for each in found:
        yield {**each, "allocation": commonest}


FINAL_DEAL = tasks.Task(
    summary="each side's packages at the end of a dialogue",
    evaluated_on="all scenarios",
    configs=("scenarios", "utterances"),
    key={"dialogue_id": Field(int, "the dialogue")},
    answer={"allocation": Allocation("each side's packages")},
    metrics={
        "exact": "dialogues with the whole allocation right",
        "items": "share of items with the right packages, mean over the dialogues; if "
        "either is a walk-away, 1 if both are, else 0",
    },
    inputs="the texts of the dialogue without deal actions",
    columns=("utterances.text",),
    leak="the deal actions and the config `messages` hold the deal",
    asking=tasks.Asking("1", final_deal),
    subsets=SUBSETS,
    gold=final_deal_gold,
    clusters={"dialogues": None, "participants": participants_by("utterances", "dialogue_id")},
    score=final_deal_score,
    per_prediction=("exact", "items"),
    baselines={"commonest": commonest_deal},
    references=(tasks.Reference("commonest"),),
)
