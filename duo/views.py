"""DUO's views: the same records as messages, single scores and chats.

Each view is a pure function of the records of a split, in their order, that yields rows.
They share their keys: `dialogue_id` names a dialogue, and with `turn`, the place in `dialogue`
from 0, a message; `setting` tells each row's licence.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from parley import CHAT, ClassLabel, Field, View, chat_of

from .records import ASPECT, MESSAGE, ONLY_IN, OWN, PROMPTS, ROW, SCORE, Record, language_of

Rows = Iterator[dict[str, Any]]

ROLES = {"Human": "user", "Bot": "assistant"}

_dialogue = {"dialogue_id": ROW["dialogue_id"]}
_setting = Field(ClassLabel(names=["ed", "wow"]), ROW["setting"].meaning)
_about = {"language": ROW["language"], "setting": _setting, "model": ROW["model"]}
_prompt = Field(ClassLabel(names=["aligned", "neutral", "not_aligned"]), ROW["prompt"].meaning)


def about(record: Record) -> dict[str, Any]:
    """Return language, setting and model of a message or a chat."""
    return {"language": language_of(record), "setting": record["setting"], "model": record["model"]}


def prompt_of(record: Record) -> str:
    """Return the prompt by its name, which is documented for English alone."""
    return PROMPTS[language_of(record)][record["prompt"]]


def scores_of(record: Record) -> Iterator[tuple[str, str, int | None, float]]:
    """Yield (source, aspect, annotator, score): the person's scores, then the annotators'."""
    subjective, objective = record["subjective_evaluation"], record.get("objective_evaluation", {})
    for aspect in ASPECT.names:
        if aspect in subjective:
            yield "subjective", aspect, None, subjective[aspect]
    for aspect in ASPECT.names:
        for annotator, score in enumerate(objective.get(f"{aspect}_scores", [])):
            yield "objective", aspect, annotator, score


@View(
    "a message",
    {
        **_dialogue,
        "turn": Field(int, "the message's place in `dialogue`, from 0"),
        "speaker": MESSAGE["speaker"],
        "text": MESSAGE["message"],
        "message_id": MESSAGE["message_id"],
        "user_id": (MESSAGE["user_id?"], None),
        "system_id": (MESSAGE["system_id?"], None),
        **_about,
        "prompt": _prompt,
    },
    of="dialogues",
    key=("dialogue_id", "turn"),
    use="study style, search",
)
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


@View(
    "a score that one person gave",
    {
        **_dialogue,
        "language": ROW["language"],
        "setting": _setting,
        "aspect": Field(
            ASPECT,
            "what is rated, empathy only in `ed`, engagingness only in `wow`; upstream does not "
            "explain the aspects: the meanings are in the words of the task `agreement`",
        ),
        "source": Field(
            ClassLabel(names=["subjective", "objective"]),
            "who rated, the person in the dialogue or a third party",
        ),
        "annotator": Field(
            (int, None),
            "the score's place among the three objective ones, from 0, not an annotator's id; "
            "null for subjective scores",
        ),
        "score": Field(SCORE, "the score"),
    },
    of="dialogues",
    key=("dialogue_id", "source", "aspect", "annotator"),
    use="study ratings",
)
def ratings(records: Iterable[Record]) -> Rows:
    """Yield each score that the person or one of the three annotators gave."""
    for record in records:
        dialogue_id = str(record["dialogue_id"])
        for source, aspect, annotator, score in scores_of(record):
            yield {
                "dialogue_id": dialogue_id,
                "language": language_of(record),
                "setting": record["setting"],
                "aspect": aspect,
                "source": source,
                "annotator": annotator,
                "score": score,
            }


@View(
    "a dialogue as a chat, the bot as assistant",
    {
        **_dialogue,
        **CHAT,
        **_about,
        "prompt_style": _prompt,  # TRL would train on a column `prompt`
        **{aspect: (own, None) if aspect in ONLY_IN else own for aspect, own in OWN.items()},
    },
    of="dialogues",
    use="train a chat model",
)
def messages(records: Iterable[Record]) -> Rows:
    """Yield each dialogue as a chat in which the bot is the assistant, with the person's scores."""
    for record in records:
        said = ((ROLES[message["speaker"]], message["message"]) for message in record["dialogue"])
        yield {
            "dialogue_id": str(record["dialogue_id"]),
            **chat_of(said),
            **about(record),
            "prompt_style": prompt_of(record),
            **{aspect: record["subjective_evaluation"].get(aspect) for aspect in ASPECT.names},
        }
