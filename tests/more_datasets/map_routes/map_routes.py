"""Map Routes: invented talks over two maps, in the form of transcripts in folders of an archive.

A folder a quad holds a text file a talk, a line an utterance: who speaks (g, who gives the route,
or f, who follows it), a tab and the words. A file looks like this (invented), q1/q1ec2.txt:

    g	start at the old pump
    f	okay
    f	{gg|mhm} then where

A row is a talk: the quad and number that its name says, and its utterances.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from parley import CHAT, Builder, Checked, Config, Converted, Folder, View, chat_of

ROLES = {"g": "giver", "f": "follower"}
MARKS = {role: mark for mark, role in ROLES.items()}


def require_utterances(text: str) -> None:
    """Check a file: lines of g or f, a tab and words, each with a newline at its end."""
    lines = text.split("\n")
    if lines.pop() != "" or not lines:
        raise ValueError("lines that end with a newline")
    for number, line in enumerate(lines, 1):
        mark, tab, words = line.partition("\t")
        if mark not in ROLES or not tab or not words:
            raise ValueError(f"g or f, a tab and words on line {number}, found {line[:40]!r}")


def to_row(record: dict[str, str]) -> dict[str, Any]:
    """Return a talk: its name cut into quad and number, its text into utterances."""
    quad, _, name = record["file"].removesuffix(".txt").partition("/")
    lines = (line.partition("\t") for line in record["text"].splitlines())
    turns = [{"speaker": ROLES[mark], "text": words} for mark, _, words in lines]
    return {"talk_id": name, "quad": quad, "turns": turns}


def to_record(row: dict[str, Any]) -> dict[str, str]:
    """Return the file of a talk: the inverse of `to_row`."""
    text = "".join(f"{MARKS[turn['speaker']]}\t{turn['text']}\n" for turn in row["turns"])
    return {"file": f"{row['quad']}/{row['talk_id']}.txt", "text": text}


TALK = Converted(
    {"file": str, "text": Checked(str, require_utterances)},
    {"talk_id": str, "quad": str, "turns": [{"speaker": set(MARKS), "text": str}]},
    to_row,
    to_record,
)

TRANSCRIPTS = Folder(
    "map-routes-2.1.zip",
    Checked(str, require_utterances),
    url="https://example.org/map-routes-2.1.zip",
    sha256="3333333333333333333333333333333333333333333333333333333333333333",
    member="map-routes/transcripts",
    only="*.txt",
)


def talks(sources: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Yield each file with its name, which says more than its text."""
    for file, text in sources[TRANSCRIPTS.path].items():
        yield {"file": file, "text": text}


def messages(records: Iterable[dict[str, str]]) -> Iterator[dict[str, Any]]:
    """Yield each talk as a chat, in which the follower is the assistant."""
    roles = {"giver": "user", "follower": "assistant"}
    for talk in map(to_row, records):
        said = ((roles[turn["speaker"]], turn["text"]) for turn in talk["turns"])
        yield {"talk_id": talk["talk_id"], **chat_of(said)}


class MapRoutes(Builder):
    """Invented talks in which one explains a route to another, whose map differs."""

    VERSION = "1.0.0"
    HOMEPAGE = "https://example.org/map-routes"
    LICENSE = "cc-by-nc-sa-4.0"
    CITATION = "@misc{maproutes, title = {Map Routes}}"
    CONFIGS = [
        Config(
            "dialogues",
            "all talks",
            {"train": [TRANSCRIPTS]},
            records=talks,
            shape=TALK,
            key="talk_id",
        ),
        View(
            "messages",
            "chats, the follower the assistant",
            of="dialogues",
            rows=messages,
            features={"talk_id": str, **CHAT},
            key="talk_id",
        ),
    ]
