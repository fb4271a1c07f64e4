"""How a dialogue ends: each side's packages, or none after walking away."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from parley.errors import Problem
from parley.figures import Data
from parley.tasks import Prediction

from ..scenarios import ISSUES, PACKAGES, SIDES, Items
from ..views import PARTNER

ALLOCATION = ({s: {issue: set(range(PACKAGES + 1)) for issue in ISSUES} for s in SIDES}, None)
EXAMPLE = {
    "mturk_agent_1": {"Food": 1, "Water": 3, "Firewood": 0},
    "mturk_agent_2": {"Food": 2, "Water": 0, "Firewood": 3},
}


def wrong_shares(prediction: Prediction, gold: Any) -> Iterator[Problem]:
    """Object to shares of an item that are not all its packages."""
    allocation = prediction["allocation"]
    for issue in ISSUES if allocation else ():
        shares = [allocation[side][issue] for side in SIDES]
        if sum(shares) != PACKAGES:
            yield Problem(f"allocation: {issue}", f"{PACKAGES} packages in all", str(shares))


def people(data: Data) -> Iterator[Prediction]:
    """Predict the participants' own deal: the last submitted, if accepted."""
    chats = groupby(data.rows("utterances", "train"), key=lambda row: row["dialogue_id"])
    for number, chat in chats:
        *before, last = (row for row in chat if row["issue2youget"] or row["data"])
        allocation: dict[str, Items] | None = None
        if last["data"] == "accept_deal":
            deal = before[-1]
            mine, theirs = deal["issue2youget"], deal["issue2theyget"]
            allocation = {deal["speaker"]: mine, PARTNER[deal["speaker"]]: theirs}
        yield {"dialogue_id": number, "allocation": allocation}
