"""Properties that every build of CaSiNo must have."""

from collections.abc import Iterator
from typing import Any

from parley import Data, check, row_differences


def rows_of(data: Data, config: str) -> list[dict[str, Any]]:
    """The rows of a config; none if its source was missing."""
    return [row for split in data.splits(config) for row in data.rows(config, split)]


@check
def official_split_is_a_partition(data: Data) -> Iterator[str]:
    """The official split holds each dialogue of `dialogues` once, with equal content."""
    if len(data.splits("official_split")) < 3 or not data.splits("dialogues"):
        return  # some were not built
    rows = sorted(rows_of(data, "official_split"), key=lambda row: str(row["dialogue_id"]))
    due = sorted(rows_of(data, "dialogues"), key=lambda row: str(row["dialogue_id"]))
    yield from row_differences("official_split, sorted", rows, due)


@check
def priority_folds_are_partitions(data: Data) -> Iterator[str]:
    """A fold has each dialogue in one part of three; over the folds each is tested once."""
    rows = rows_of(data, "priority_folds")
    known = sorted(row["dialogue_id"] for row in rows_of(data, "dialogues"))
    if not rows or not known:
        return  # one of them was not built
    yield from row_differences("priority_folds", rows, [{"fold": fold} for fold in range(5)])
    for number, row in enumerate(rows):
        if sorted([*row["train"], *row["validation"], *row["test"]]) != known:
            yield f"priority_folds[{number}]: expected each dialogue once in its three parts"
    if sorted(dialogue for row in rows for dialogue in row["test"]) != known:
        yield "priority_folds: expected each dialogue in one test part"
