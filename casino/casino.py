"""CaSiNo: 1,030 campsite negotiations between two people over food, water and firewood.

Collected on Amazon Mechanical Turk by Chawla et al. (NAACL 2021) and published as one
JSON file, a list of dialogues; a later repository of the authors' adds each side's guesses of
the other's priorities. A record looks like this (invented, shortened):

    {"dialogue_id": 7,
     "chat_logs": [
       {"id": "mturk_agent_1", "text": "Hi! Which packages matter most to you?", "task_data": {}},
       {"id": "mturk_agent_2", "text": "Submit-Deal", "task_data": {
         "issue2youget": {"Food": "1", "Water": "0", "Firewood": "3"},
         "issue2theyget": {"Food": "2", "Water": "3", "Firewood": "0"}}},
       {"id": "mturk_agent_1", "text": "Accept-Deal", "task_data": {"data": "accept_deal"}}],
     "participant_info": {"mturk_agent_1": {"value2issue": {"High": "Water", ...},
       "value2reason": {...}, "outcomes": {...}, "demographics": {...}, "personality": {...}}, ...},
     "annotations": [["Hi! Which packages matter most to you?", "small-talk,elicit-pref"]]}

A row is the record with upstream's names and types. Only one thing changes: a key that
`task_data` lacks is null in the row; the old Hub script filled in empty strings.
"""

from collections.abc import Iterable
from typing import Any

from parley import Builder, Config

# `datasets` 2 and 3 copy only the modules that the script itself imports.
from .pins import PINS as PINS
from .records import DATA, FOLD, OFFICIAL, SEEDS, folds, unfolded
from .scenarios import ISSUES as ISSUES
from .subsets import SUBSETS as SUBSETS
from .views import messages, participants, results, scenarios, speakers, strategies, utterances


def holds(row: dict[str, Any]) -> tuple[int, Iterable[str]]:
    """Return the number of a dialogue's turns, and its sides."""
    return len(row["chat_logs"]), row["participant_info"]


class Casino(Builder):
    """1,030 English dialogues of two campsite neighbours over food, water and firewood.

    The rows have priorities and reasons, demographics, personality and outcomes. 396 dialogues have
    the negotiation strategies of each utterance.
    """

    VERSION = "1.0.0"
    HOMEPAGE = "https://github.com/kushalchawla/CaSiNo"
    LICENSE = "cc-by-4.0"
    LANGUAGES = ("en",)
    SHOWN = "messages"
    CONFIGS = [
        Config(
            "dialogues",
            "a dialogue as published, by `dialogue_id`",
            {"train": [DATA]},
            key="dialogue_id",
            holds=holds,
            use="read",
        ),
        Config(
            "official_split",
            "the same, in upstream's random split and order",
            OFFICIAL,
            key="dialogue_id",
            use="compare with scores on this split",
        ),
        utterances,
        speakers,
        participants,
        results,
        strategies,
        messages,
        scenarios,
        Config(
            "priority_folds",
            "one of the 5 folds for the partner's priorities",
            {"train": [SEEDS]},
            records=folds,
            unjoin=unfolded,
            shape=FOLD,
            key="fold",
            use="infer the partner's priorities",
        ),
    ]
