"""Checks of a CoSRec build: its configs agree."""

from collections.abc import Iterator

from parley import Data, check, row_differences

from .records import PARTS, broken_references, joined_again


@check
def annotated_conversations_are_those_of_dialogues(data: Data) -> Iterator[str]:
    """`crowd` and `curated` hold the conversations of these splits of `dialogues`, turn by turn."""
    for part in ("crowd", "curated"):
        for split in data.splits(part):
            rows, whole = data.rows_with_names(part, split), data.rows("dialogues", split)
            yield from row_differences(f"{part}/{split}", rows, whole)


@check
def references_hold(data: Data) -> Iterator[str]:
    """Utterances and intents that annotation and judgments name exist, and have one entry.

    The id of an intent is <dialogue_id>_<utterance>_<index>. A query id is that of a search, or of
    a recommendation with # and an index of a user.
    """
    for part in PARTS:
        for record in joined_again(data, part):
            for name, field, expected, found in broken_references(record):
                where = f"{part}: {record['dialogue_id']}: {name}{field}"
                yield f"{where}: expected {expected}, found {found}"
