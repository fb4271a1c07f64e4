"""How a dialogue ends: each side's packages, or none after walking away."""

from collections.abc import Iterator, Mapping
from itertools import groupby

from parley import Checked
from parley.building.figures import Data
from parley.tasks.formats import Prediction

from ..scenarios import ISSUES, PACKAGES, SIDES, Items
from ..views import PARTNER

EXAMPLE = {
    "mturk_agent_1": {"Food": 1, "Water": 3, "Firewood": 0},
    "mturk_agent_2": {"Food": 2, "Water": 0, "Firewood": 3},
}


def all_packages(shares: Mapping[str, Items]) -> None:
    """Check that the sides share out all packages of each item."""
    for issue in ISSUES:
        one, other = (each[issue] for each in shares.values())
        if one + other != PACKAGES:
            raise ValueError(f"{PACKAGES} packages of {issue} in all, not {one} + {other}")


SHARES = {side: {issue: set(range(PACKAGES + 1)) for issue in ISSUES} for side in SIDES}
ALLOCATION = (Checked(SHARES, all_packages), None)


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
