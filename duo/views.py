"""DUO's views: the same records as messages, single scores and chats.

Each view is a pure function of the records of a split, in their order, that yields rows.
They share their keys: `dialogue_id` names a dialogue, and with `turn`, the place in `dialogue`
from 0, a message; `setting` tells each row's licence.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from parley import CHAT, ClassLabel, chat_of

Record = dict[str, Any]
Rows = Iterator[dict[str, Any]]

ASPECTS = ["preference", "stylistic_similarity", "consistency", "empathy", "engagingness"]

# language -> the prompt as published -> as documented
PROMPTS = {
    "en": {"aligned": "aligned", "neutral": "neutral", "not_aligned": "not_aligned"},
    "ja": {"ent": "aligned", "neutral": "neutral", "nonent": "not_aligned"},
}

ROLES = {"Human": "user", "Bot": "assistant"}

# The shape of a row --------------------------------------------------------------------

_setting = ClassLabel(names=["ed", "wow"])
_prompt = ClassLabel(names=["aligned", "neutral", "not_aligned"])
_aspect = ClassLabel(names=ASPECTS)
_source = ClassLabel(names=["subjective", "objective"])
_about = {"language": str, "setting": _setting, "model": str}
FEATURES = {
    "utterances": {
        "dialogue_id": str,
        "turn": int,
        "speaker": str,
        "text": str,
        "message_id": int,
        "user_id": str,
        "system_id": str,
        **_about,
        "prompt": _prompt,
    },
    "ratings": {
        "dialogue_id": str,
        "language": str,
        "setting": _setting,
        "aspect": _aspect,
        "source": _source,
        "annotator": int,
        "score": float,
    },
    "messages": {
        "dialogue_id": str,
        **CHAT,
        **_about,
        "prompt_style": _prompt,  # TRL would train on a column `prompt`
        **dict.fromkeys(ASPECTS, float),
    },
}

# Parts of the views --------------------------------------------------------------------


def language_of(record: Record) -> str:
    """Return the language of a record: upstream's ids are integers in Japanese alone."""
    return "ja" if isinstance(record["dialogue_id"], int) else "en"


def about(record: Record) -> dict[str, Any]:
    """Return language, setting and model of a message or a chat."""
    return {
        "language": language_of(record),
        "setting": _setting.names.index(record["setting"]),
        "model": record["model"],
    }


def prompt_of(record: Record) -> int:
    """Return the label of the prompt, which is documented for English alone."""
    return int(_prompt.names.index(PROMPTS[language_of(record)][record["prompt"]]))


def scores_of(record: Record) -> Iterator[tuple[str, str, int | None, float]]:
    """Yield (source, aspect, annotator, score): the person's scores, then the annotators'."""
    subjective, objective = record["subjective_evaluation"], record.get("objective_evaluation", {})
    for aspect in ASPECTS:
        if aspect in subjective:
            yield "subjective", aspect, None, subjective[aspect]
    for aspect in ASPECTS:
        for annotator, score in enumerate(objective.get(f"{aspect}_scores", [])):
            yield "objective", aspect, annotator, score


# The views ------------------------------------------------------------------------------


def utterances(records: Iterable[Record]) -> Rows:
    """Yield each message of the person and of the bot."""
    for record in records:
        dialogue_id = str(record["dialogue_id"])
        for turn, message in enumerate(record["dialogue"]):
            yield {
                "dialogue_id": dialogue_id,
                "turn": turn,
                "speaker": message["speaker"],
                "text": message["message"],
                "message_id": message["message_id"],
                "user_id": message.get("user_id"),
                "system_id": message.get("system_id"),
                **about(record),
                "prompt": prompt_of(record),
            }


def ratings(records: Iterable[Record]) -> Rows:
    """Yield each score that the person or one of the three annotators gave."""
    for record in records:
        dialogue_id = str(record["dialogue_id"])
        for source, aspect, annotator, score in scores_of(record):
            yield {
                "dialogue_id": dialogue_id,
                "language": language_of(record),
                "setting": _setting.names.index(record["setting"]),
                "aspect": _aspect.names.index(aspect),
                "source": _source.names.index(source),
                "annotator": annotator,
                "score": score,
            }


def messages(records: Iterable[Record]) -> Rows:
    """Yield each dialogue as a chat in which the bot is the assistant, with the person's scores."""
    for record in records:
        said = ((ROLES[message["speaker"]], message["message"]) for message in record["dialogue"])
        yield {
            "dialogue_id": str(record["dialogue_id"]),
            **chat_of(said),
            **about(record),
            "prompt_style": prompt_of(record),
            **{aspect: record["subjective_evaluation"].get(aspect) for aspect in ASPECTS},
        }
