"""DUO: 455 dialogues of a person with a bot, rated by that person and by third parties.

Collected by Numaya et al. (SIGDIAL 2025) in English and, later, in Japanese, and published as
one JSON file a dialogue, in a folder a setting (ed: EmpatheticDialogues, wow: Wizard of
Wikipedia) and language. A record looks like this (invented, shortened):

    {"dialogue_id": "0901", "setting": "ed", "model": "gpt-4o", "prompt": "aligned",
     "emotion": "Nostalgic", "episode": "I found my grandfather's harmonica in a drawer...",
     "objective_evaluation": {"preference": 4.33, ..., "preference_scores": [4.0, 5.0, 4.0], ...},
     "subjective_evaluation": {"preference": 4.0, "stylistic_similarity": 4.0, ...},
     "dialogue": [
       {"message_id": 0, "user_id": "0901", "speaker": "Human", "message": "I was looking for..."},
       {"message_id": 1, "system_id": "0911", "speaker": "Bot", "message": "Oh, what a..."}]}

A row is the record with the language added and null for every key it lacks. Two things that
upstream writes differently in Japanese are the same in every row: `dialogue_id` is a string, and
`prompt` has the documented values, with upstream's own in `upstream_prompt`.
"""

from collections.abc import Iterable

from parley import Builder, Config, Converted, Folder

# `datasets` 2 and 3 copy only the modules that the script itself imports.
from .pins import PINS as PINS
from .records import ED, ROW, WOW, Record, placed, to_record, to_row, unplaced
from .views import messages, ratings, utterances


def holds(row: Record) -> tuple[int, Iterable[str]]:
    """Return the number of a dialogue's messages, and who writes them."""
    return len(row["dialogue"]), {message["speaker"] for message in row["dialogue"]}


def _dialogues(
    name: str, description: str, use: str, licence: str, *settings: dict[str, Folder]
) -> Config:
    splits = {language: [each[language] for each in settings] for language in ("en", "ja")}
    shapes = tuple(folder.shape for each in settings for folder in each.values())
    return Config(
        name,
        description,
        splits,
        records=placed,
        unjoin=unplaced,
        shape=Converted(shapes, ROW, to_row, to_record),
        key="dialogue_id",
        holds=holds,
        licence=licence,
        use=use,
    )


class Duo(Builder):
    """314 English and 141 Japanese dialogues of a person with a bot, rated.

    The settings are those of EmpatheticDialogues (ed) and Wizard of Wikipedia (wow). The person
    rated each dialogue, and three third-party annotators rated some, for preference, stylistic
    similarity, consistency and empathy or engagingness.
    """

    VERSION = "1.0.0"
    HOMEPAGE = "https://github.com/ikuminumaya/duo-dataset"
    LICENSE = "cc-by-nc-4.0 (setting ed), apache-2.0 (setting wow)"
    LANGUAGES = ("en", "ja")
    CONFIGS = [
        _dialogues("dialogues", "a dialogue with its ratings", "read", LICENSE, ED, WOW),
        _dialogues(
            "ed", "a dialogue of the setting `ed`", "read, under CC BY-NC 4.0", "cc-by-nc-4.0", ED
        ),
        _dialogues(
            "wow", "a dialogue of the setting `wow`", "read, under Apache 2.0", "apache-2.0", WOW
        ),
        utterances,
        ratings,
        messages,
    ]
