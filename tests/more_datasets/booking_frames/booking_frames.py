"""Booking Frames: invented bookings, in the form of schema-guided dialogues.

Each split is a folder of JSON lists. A record looks like this (invented, shortened):

    {"dialogue_id": "1_00000", "services": ["Trains_1"],
     "turns": [
       {"speaker": "USER", "utterance": "A seat to Alder, please.", "frames": [
         {"service": "Trains_1", "slots": [{"slot": "to", "start": 10, "exclusive_end": 15}],
          "state": {"active_intent": "BookSeat", "requested_slots": [],
                    "slot_values": {"to": ["Alder"]}}}]},
       {"speaker": "SYSTEM", "utterance": "Booked.", "frames": [
         {"service": "Trains_1", "slots": [],
          "actions": [{"act": "NOTIFY", "slot": "", "values": []}],
          "service_call": {"method": "BookSeat", "parameters": {"to": "Alder"}},
          "service_results": [{"to": "Alder", "seat": "12"}]}]}]}

A row is the record: open-keyed objects are lists of key and value, and what a frame lacks is null.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from parley import CHAT, Builder, Config, Folder, View, chat_of

SLOT = {"slot": str, "start": int, "exclusive_end": int}
USER_FRAME = {
    "service": str,
    "slots": [SLOT],
    "state": {"active_intent": str, "requested_slots": [str], "slot_values": {str: [str]}},
}
SYSTEM_FRAME = {
    "service": str,
    "slots": [SLOT],
    "actions": [{"act": str, "slot": str, "values": [str], "canonical_values?": [str]}],
    "service_call?": {"method": str, "parameters": {str: str}},
    "service_results?": [{str: str}],
}
DIALOGUE = {
    "dialogue_id": str,
    "services": [str],
    "turns": [
        {
            "speaker": {"USER", "SYSTEM"},
            "utterance": str,
            "frames": [(USER_FRAME, SYSTEM_FRAME)],
        }
    ],
}


def require_slots_in_text(record: dict[str, Any]) -> None:
    """Raise ValueError where a slot stands outside its utterance."""
    for number, turn in enumerate(record["turns"]):
        for frame in turn["frames"]:
            for slot in frame["slots"]:
                if not 0 <= slot["start"] < slot["exclusive_end"] <= len(turn["utterance"]):
                    raise ValueError(f"turns[{number}]: expected slots in the text, found {slot}")


_COMMIT = "0123456789abcdef0123456789abcdef01234567"


def _folder(split: str, git_tree: str, files: int) -> Folder:
    return Folder(
        split,
        DIALOGUE,
        url=f"https://example.org/booking-frames/archive/{_COMMIT}.zip",
        member=f"booking-frames-{_COMMIT}/{split}",
        git_tree=git_tree,
        files=files,
        only="dialogues_*.json",
        read="json",
        validate=require_slots_in_text,
    )


TRAIN = _folder("train", "1111111111111111111111111111111111111111", 3)
TEST = _folder("test", "2222222222222222222222222222222222222222", 1)


def messages(records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield each dialogue as a chat, in which the system is the assistant."""
    roles = {"USER": "user", "SYSTEM": "assistant"}
    for record in records:
        said = ((roles[turn["speaker"]], turn["utterance"]) for turn in record["turns"])
        yield {"dialogue_id": record["dialogue_id"], **chat_of(said)}


class BookingFrames(Builder):
    """Invented bookings of trains and tables, with the state and calls of every turn."""

    VERSION = "1.0.0"
    HOMEPAGE = "https://example.org/booking-frames"
    LICENSE = "cc-by-4.0"
    CITATION = "@misc{bookingframes, title = {Booking Frames}}"
    CONFIGS = [
        Config(
            "dialogues",
            "all dialogues, with their frames",
            {"train": [TRAIN], "test": [TEST]},
            key="dialogue_id",
        ),
        View(
            "messages",
            "chats, the system the assistant",
            of="dialogues",
            rows=messages,
            features={"dialogue_id": str, **CHAT},
            key="dialogue_id",
        ),
    ]
