"""Played: negotiations of models with each other, written from a log of `parley ask`.

A record looks like this (invented):

    {"id": "7",
     "turns": [{"speaker": "buyer", "text": "[Offer: 90]"}, {"speaker": "seller", "text": "No."}],
     "end": "turn_limit",
     "sides": [{"speaker": "buyer", "model": "m-1", "points": -0.5, "points_of_people": 0.1},
               {"speaker": "seller", "model": "m-2", "points": -0.5, "points_of_people": -0.1}]}

A row is the record.
"""

from parley import Builder, Config, Field, File

SPEAKER = Field(str, "the side")
SIDE = {
    "speaker": SPEAKER,
    "model": Field(str, "its model"),
    "points": Field((float, None), "its points"),
    "points_of_people": Field((float, None), "the points of the people of the first dialogue"),
}
RECORD = {
    "id": Field(str, "the key of the scenario"),
    "turns": Field(
        [{"speaker": SPEAKER, "text": Field(str, "the text as the model wrote it")}], "the turns"
    ),
    "end": Field({"deal", "walk_away", "turn_limit"}, "how the negotiation ended"),
    "sides": Field([SIDE], "both sides"),
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
    SHOWS_REAL_ROWS = True  # models wrote them, for the user
    CONFIGS = [Config("dialogues", "a negotiation", {"train": [LOG]}, key="id")]
