"""CraigslistBargains: 6,682 negotiations between a buyer and a seller over a Craigslist post.

Collected on Amazon Mechanical Turk by He et al. (EMNLP 2018) and published as one JSON file a
split, each a list of negotiations. A record looks like this (invented, shortened):

    {"uuid": "C_5d0c...", "scenario_uuid": "S_kR3t...", "agents": {"0": "human", "1": "human"},
     "scenario": {"uuid": "S_kR3t...", "category": "bike", "post_id": "6150000001",
       "kbs": [{"personal": {"Role": "buyer", "Target": 84, "Bottomline": null},
                "item": {"Category": "bike", "Title": "City bike", "Price": 120, ...}}, ...]},
     "agents_info": null, "outcome": {"reward": 1, "offer": {"price": 92.5, "sides": ""}},
     "events": [
       {"agent": 0, "action": "message", "data": "Could we meet at $92.5?", "time": "1499000123.4",
        "start_time": "1499000110.08", "metadata": {"intent": "counter-price", "price": 92.5}},
       {"agent": 0, "action": "offer", "data": {"price": 92.5, "sides": ""}, ...},
       {"agent": 1, "action": "accept", "data": null, "metadata": {"intent": "accept"}, ...}]}

Upstream's parser has added `agents_info` and each event's `metadata`, its dialogue act, to the
train and validation files; the test file has neither. A row of `dialogues` has the schema of the
Hub's old script, with "" and -1.0 for missing. A row of `negotiations` keeps the whole record. The
rows of `dialogue_acts` have the act of every event, by upstream's rules.
"""

from collections.abc import Iterable

from parley import Builder, Config

# `datasets` 2 and 3 copy only the modules that the script itself imports.
from .dialogue_acts import acts as acts
from .pins import PINS as PINS
from .records import SIDES, SPLITS, Record
from .subsets import SUBSETS as SUBSETS
from .views import dialogue_acts, dialogues, messages, outcomes, scenarios, utterances
from .word_counts import read_words as read_words


def holds(row: Record) -> tuple[int, Iterable[str]]:
    """Return the number of a negotiation's events, and its sides."""
    return len(row["events"]), SIDES


class CraigslistBargains(Builder):
    """6,682 English dialogues in which a buyer and a seller negotiate the price of an item.

    The item is posted on Craigslist. The rows have the post, each side's target price, offers and
    outcome, and rule-based dialogue acts of every event.
    """

    VERSION = "1.0.0"
    HOMEPAGE = "https://worksheets.codalab.org/worksheets/0x453913e76b65495d8b9730d41c7e0a0c/"
    LICENSE = "unknown"
    LANGUAGES = ("en",)
    CONFIGS = [
        dialogues,
        Config(
            "negotiations", "a whole upstream record", SPLITS, key="uuid", holds=holds, use="read"
        ),
        utterances,
        outcomes,
        scenarios,
        messages,
        dialogue_acts,
    ]
