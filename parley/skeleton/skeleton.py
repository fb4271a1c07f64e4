"""Skeleton: say here in one line what the dataset is, and below where it comes from.

Collected by whom, how and when; published as which files. A record looks like this (invented):

    {"id": "s1",
     "turns": [{"speaker": "customer", "text": "Is the kettle still there?"},
               {"speaker": "clerk", "text": "It is."}],
     "rating": 5}

A row is the record with upstream's names and types, and null for a rating that it lacks.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import datasets

from .views import VIEW_FEATURES, VIEWS

# Where the files come from --------------------------------------------------------------

# file -> its URL, which names one version, and its content: "sha256" or "git_blob", and "size".
# Until you have upstream's files this pins the sample's.
SOURCES = {
    "dialogues.jsonl": {
        "url": "https://example.org/skeleton/1.0/dialogues.jsonl",
        "size": 423,
        "sha256": "0f461b7785d3a48e8c8cd93a580276d08a920e59ae4c70e4a87a7865de8f8fc3",
    },
}

# config -> split -> the sources it is made from
SPLITS = {
    "dialogues": {"train": ("dialogues.jsonl",)},
    **{view: {"train": ("dialogues.jsonl",)} for view in VIEW_FEATURES},
}

# What a record upstream looks like ------------------------------------------------------
# A type, {values}: one of these, [x]: a list of x, (x, y): x or y, "key?": may be absent,
# a function: raises ValueError. `parley build` refuses a record that differs.

DIALOGUE = {
    "id": str,
    "turns": [{"speaker": {"customer", "clerk"}, "text": str}],
    "rating?": {1, 2, 3, 4, 5},
}


def require_sound(record: dict[str, Any]) -> None:
    """Raise ValueError where a record contradicts itself, which its shape cannot say."""
    if not record["turns"]:
        raise ValueError(f"dialogue {record['id']}: turns: expected at least one, found none")


# What a row looks like ------------------------------------------------------------------

_string, _integer = datasets.Value("string"), datasets.Value("int64")
_dialogue = datasets.Features(
    {
        "dialogue_id": _string,
        "turns": [{"speaker": _string, "text": _string}],
        "rating": _integer,
    }
)
FEATURES = {"dialogues": _dialogue, **VIEW_FEATURES}

# The builder ----------------------------------------------------------------------------

DESCRIPTION = "Two invented dialogues of a customer and a clerk."

CITATION = """\
@inproceedings{someone2026skeleton,
  title = {The Title of the Paper},
  author = {Someone, Ann},
  year = {2026}
}"""


class Skeleton(datasets.GeneratorBasedBuilder):
    """Skeleton from its URLs, or from a local copy of upstream's folders in `data_dir`."""

    VERSION = datasets.Version("1.0.0")
    DEFAULT_CONFIG_NAME = "dialogues"
    BUILDER_CONFIGS = [
        datasets.BuilderConfig("dialogues", VERSION, description="all dialogues, as published"),
        datasets.BuilderConfig("messages", VERSION, description="chats, the clerk the assistant"),
    ]

    def _info(self) -> datasets.DatasetInfo:
        return datasets.DatasetInfo(
            description=DESCRIPTION,
            features=FEATURES[self.config.name],
            homepage="https://example.org/skeleton",
            license="cc-by-4.0",
            citation=CITATION,
        )

    # From here to `rows` nothing is of this dataset, but how `read` parses a file.

    def _split_generators(
        self, dl_manager: datasets.DownloadManager
    ) -> list[datasets.SplitGenerator]:
        splits = []
        for split, sources in SPLITS[self.config.name].items():
            if folder := self.config.data_dir:
                paths = {source: os.path.join(folder, source) for source in sources}
            else:
                paths = dl_manager.download({source: SOURCES[source]["url"] for source in sources})
            splits.append(datasets.SplitGenerator(name=split, gen_kwargs={"paths": paths}))
        return splits

    def _generate_examples(self, paths: dict[str, str]) -> Iterator[tuple[Any, dict[str, Any]]]:
        if not self.config.data_dir:
            for source, path in paths.items():
                require_pinned(source, path)
        yield from rows(self.config.name, records(self.config.name, paths))


def require_pinned(source: str, path: str) -> None:
    """Raise ValueError if a downloaded file is not the one that `SOURCES` pins."""
    with open(path, "rb") as file:  # text mode cannot stream over http
        content = file.read()
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False)
    found = {
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "git_blob": blob.hexdigest(),  # what git, and so GitHub, names a file by
    }
    for kind, expected in SOURCES[source].items():
        if kind != "url" and found[kind] != expected:
            raise ValueError(
                f"{source}: {kind} expected {expected}, found {found[kind]}; "
                "the download is damaged or upstream changed"
            )


# From file to rows ----------------------------------------------------------------------


def read(path: str, shape: Any, loads: Callable[[bytes], Any] = json.loads) -> Iterator[Any]:
    """Yield the records of one upstream file, each of the given shape: here a JSON value a line."""
    with open(path, "rb") as file:
        for line in file:
            yield loads(line)


def records(
    config: str, paths: dict[str, str], read: Callable[[str, Any], Iterable[Any]] = read
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the upstream records of a split, each with its key; `paths` is source -> local path."""
    for path in paths.values():
        for record in read(path, DIALOGUE):
            require_sound(record)
            yield record["id"], record


def rows(
    config: str, records: Iterable[tuple[Any, dict[str, Any]]]
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield the rows of a split, each with its key."""
    if view := VIEWS.get(config):
        yield from view(record for _, record in records)
    else:
        for key, record in records:
            yield key, to_row(record)


# From record to row and back ------------------------------------------------------------


def to_row(record: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a record: all that it says, null for what it lacks."""
    return {
        "dialogue_id": record["id"],
        "turns": record["turns"],
        "rating": record.get("rating"),
    }


def to_record(row: dict[str, Any]) -> dict[str, Any]:
    """Return the upstream record of a row: the inverse of `to_row`."""
    record = {"id": row["dialogue_id"], "turns": row["turns"], "rating": row["rating"]}
    return {key: value for key, value in record.items() if value is not None}


# The configs that keep everything: the way back to the records of their sources, and their shape
TO_RECORD = {"dialogues": to_record}
RECORDS = {"dialogues": DIALOGUE}
