"""Properties that every build of CaSiNo must have."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from parley.figures import Data, check, check_of_views, differing, differing_views, records_of

from . import views
from .scenarios import ISSUES, SIDES


def rows_of(data: Data, config: str) -> list[dict[str, Any]]:
    """The rows of a config; none if its source was missing."""
    return data.rows(config, *data.splits(config))


@check
def official_split_is_a_partition(data: Data) -> Iterator[str]:
    """The official split holds each dialogue of `dialogues` once, with equal content."""
    if len(data.splits("official_split")) < 3 or not data.splits("dialogues"):
        return  # some were not built
    rows = sorted(rows_of(data, "official_split"), key=lambda row: str(row["dialogue_id"]))
    due = sorted(rows_of(data, "dialogues"), key=lambda row: str(row["dialogue_id"]))
    yield from differing("official_split, sorted", rows, due)


@check_of_views
def views_follow_from_dialogues(data: Data) -> Iterator[str]:
    """The rows of each view are those computed from the rows of `dialogues`."""
    records = records_of(data, "dialogues")
    participants = rows_of(data, "participants")  # their guesses have another source
    guesses = {(row["dialogue_id"], row["speaker"]): guess_of(row) for row in participants}
    for record in chain.from_iterable(records.values()):
        number = record["dialogue_id"]
        record["guesses"] = {side: guesses.get((number, side), {}) for side in SIDES}
    of_people = (views.utterances, views.speakers, views.participants)
    of_texts = (views.strategies, views.messages, views.scenarios)
    yield from differing_views(data, records, *of_people, *of_texts)


def guess_of(row: dict[str, Any]) -> dict[str, str]:
    """A side's guesses, with upstream's names."""
    columns = ("partner_highest_item", "partner_lowest_item")
    return {column: row[f"guess_{column}"] for column in columns}


@check
def guesses_are_items(data: Data) -> Iterator[str]:
    """Each guess in `participants` is an item."""
    for number, row in enumerate(rows_of(data, "participants")):
        for column, item in guess_of(row).items():
            if item not in ISSUES:
                yield f"participants[{number}].guess_{column}: expected an item, found {item!r}"


@check
def priority_folds_are_partitions(data: Data) -> Iterator[str]:
    """A fold has each dialogue in one part of three; over the folds each is tested once."""
    rows = rows_of(data, "priority_folds")
    known = sorted(row["dialogue_id"] for row in rows_of(data, "dialogues"))
    if not rows or not known:
        return  # one of them was not built
    yield from differing("priority_folds", rows, [{"fold": fold} for fold in range(5)])
    for number, row in enumerate(rows):
        if sorted([*row["train"], *row["validation"], *row["test"]]) != known:
            yield f"priority_folds[{number}]: expected each dialogue once in its three parts"
    if sorted(dialogue for row in rows for dialogue in row["test"]) != known:
        yield "priority_folds: expected each dialogue in one test part"
