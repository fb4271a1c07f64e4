"""Checks of a DUO build, besides the checks of every dataset."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from parley import Data, check, row_differences

from .records import require_sound

Row = dict[str, Any]


def every_row(data: Data) -> Iterator[tuple[str, str, Row]]:
    """Yield config, split and row of each dialogue of the built configs that are no views."""
    for config in ("dialogues", "ed", "wow"):
        for split in data.splits(config):
            yield from ((config, split, row) for row in data.rows(config, split))


@check
def dialogues_are_sound(data: Data) -> Iterator[str]:
    """Each dialogue passes the checks of a build, and its language is its split."""
    for config, split, row in every_row(data):
        place = f"{config}/{split} dialogue {row['dialogue_id']}"
        if row["language"] != split:
            yield f"{place}: is in {row['language']}"
            continue
        try:
            require_sound(data.record(config, row))
        except ValueError as error:
            yield f"{place}: {error}"


@check
def ed_and_wow_make_up_dialogues(data: Data) -> Iterator[str]:
    """A split of `dialogues` holds the rows of `ed`, then those of `wow`."""
    for split in data.splits("dialogues"):
        if split in data.splits("ed") and split in data.splits("wow"):
            due = data.rows("ed", split) + data.rows("wow", split)
            yield from row_differences(f"dialogues/{split}", data.rows("dialogues", split), due)


@check
def a_system_is_a_model_with_a_prompt(data: Data) -> Iterator[str]:
    """A `system_id` stands for one model with one prompt in a language and setting."""
    systems: dict[tuple[str, ...], set[tuple[str, str]]] = defaultdict(set)
    for _, _, dialogue in every_row(data):
        for system in {m["system_id"] for m in dialogue["dialogue"]} - {None}:
            key = (dialogue["setting"], dialogue["language"], system)
            systems[key].add((dialogue["model"], dialogue["prompt"]))
    for (setting, language, system), found in systems.items():
        if len(found) > 1:
            yield f"system_id {system} of {setting} in {language} is {sorted(found)}"
