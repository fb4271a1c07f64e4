"""Played: negotiations of models with each other, written from a log of `parley ask`.

A record looks like this (invented):

    {"id": "7",
     "turns": [{"speaker": "buyer", "text": "[Offer: 90]"}, {"speaker": "seller", "text": "No."}],
     "end": "turn_limit",
     "sides": [{"speaker": "buyer", "model": "m-1", "points": -0.5, "points_of_people": 0.1},
               {"speaker": "seller", "model": "m-2", "points": -0.5, "points_of_people": -0.1}]}

A row is the record.
"""

from parley import Builder, Config, File

SIDE = {"speaker": str, "model": str, "points": (float, None), "points_of_people": (float, None)}
RECORD = {
    "id": str,
    "turns": [{"speaker": str, "text": str}],
    "end": {"deal", "walk_away", "turn_limit", "unreadable"},
    "sides": [SIDE],
}
LOG = File(
    "dialogues.jsonl",
    RECORD,
    url="https://played.invalid/dialogues.jsonl",  # it is published nowhere
    size=0,
    sha256="0000000000000000000000000000000000000000000000000000000000000000",
)


class Played(Builder):
    """Negotiations of models with each other."""

    VERSION = "1.0.0"
    HOMEPAGE = "https://played.invalid/"
    LICENSE = "unknown"
    CITATION = "@misc{played, title = {Negotiations of models with each other}}"
    CONFIGS = [Config("dialogues", "the negotiations", {"train": [LOG]}, key="id")]
