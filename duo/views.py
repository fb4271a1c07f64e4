"""DUO's views: the same records as messages, single scores and chats.

Each view is a pure function of the records of a split, in their order, that yields rows.
They share their keys: `dialogue_id` names a dialogue, and with `turn`, the place in `dialogue`
from 0, a message; `setting` tells each row's licence.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from parley import CHAT, ClassLabel, Field, chat_of

Record = dict[str, Any]
Rows = Iterator[dict[str, Any]]

ASPECTS = ["preference", "stylistic_similarity", "consistency", "empathy", "engagingness"]
ONLY_IN = {"empathy": "ed", "engagingness": "wow"}  # aspect -> the one setting that rates it

# language -> the prompt as published -> as documented
PROMPTS = {
    "en": {"aligned": "aligned", "neutral": "neutral", "not_aligned": "not_aligned"},
    "ja": {"ent": "aligned", "neutral": "neutral", "nonent": "not_aligned"},
}

ROLES = {"Human": "user", "Bot": "assistant"}

# The shape of a row --------------------------------------------------------------------

SCORE = {1.0, 2.0, 3.0, 4.0, 5.0}
DIALOGUE_ID = Field(str, "upstream's id of the dialogue, four digits")
LANGUAGE = Field({"en", "ja"}, "the language, upstream's folder of the file")
IN_SETTING = "the setting, after EmpatheticDialogues or Wizard of Wikipedia"
MODEL = Field(
    {"gpt-4o", "Llama-3.1-70B-Instruct"}, "the bot's language model, in Japanese always `gpt-4o`"
)
PROMPTED = "the style that the prompt asks of the bot"
MESSAGE_ID = Field(int, "upstream's number of the message, from 0")
USER_ID = Field(str, "upstream's id of the person; null for the bot's messages")
SYSTEM_ID = Field(
    str,
    "upstream's id of the bot: one model with one prompt in a language and setting; null for the "
    "person's messages",
)
SPEAKER = Field({*ROLES}, "who wrote the message")
TEXT = Field(str, "the unchanged message")


def for_aspects(shape: Any, meaning: str) -> dict[str, Field]:
    """Return aspect -> a field of this shape."""
    only = {aspect: f"in `{setting}`, " for aspect, setting in ONLY_IN.items()}
    return {aspect: Field(shape, only.get(aspect, "") + meaning) for aspect in ASPECTS}


OWN = for_aspects(SCORE, "the person's own score")

_setting = ClassLabel(names=["ed", "wow"])
_prompt = ClassLabel(names=["aligned", "neutral", "not_aligned"])
_aspect = ClassLabel(names=ASPECTS)
_source = ClassLabel(names=["subjective", "objective"])
_in_setting = Field(_setting, IN_SETTING)
_prompted = Field(_prompt, PROMPTED)
_about = {"language": LANGUAGE, "setting": _in_setting, "model": MODEL}
FEATURES = {
    "utterances": {
        "dialogue_id": DIALOGUE_ID,
        "turn": Field(int, "the message's place in `dialogue`, from 0"),
        "speaker": SPEAKER,
        "text": TEXT,
        "message_id": MESSAGE_ID,
        "user_id": (USER_ID, None),
        "system_id": (SYSTEM_ID, None),
        **_about,
        "prompt": _prompted,
    },
    "ratings": {
        "dialogue_id": DIALOGUE_ID,
        "language": LANGUAGE,
        "setting": _in_setting,
        "aspect": Field(_aspect, "what is rated, empathy only in `ed`, engagingness only in `wow`"),
        "source": Field(_source, "who rated, the person in the dialogue or a third party"),
        "annotator": Field(
            (int, None),
            "the score's place among the three objective ones, from 0, not an annotator's id; "
            "null for subjective scores",
        ),
        "score": Field(SCORE, "the score"),
    },
    "messages": {
        "dialogue_id": DIALOGUE_ID,
        **CHAT,
        **_about,
        "prompt_style": _prompted,  # TRL would train on a column `prompt`
        **{aspect: (own, None) if aspect in ONLY_IN else own for aspect, own in OWN.items()},
    },
}

# Parts of the views --------------------------------------------------------------------


def language_of(record: Record) -> str:
    """Return the language of a record: upstream's ids are integers in Japanese alone."""
    return "ja" if isinstance(record["dialogue_id"], int) else "en"


def about(record: Record) -> dict[str, Any]:
    """Return language, setting and model of a message or a chat."""
    return {"language": language_of(record), "setting": record["setting"], "model": record["model"]}


def prompt_of(record: Record) -> str:
    """Return the prompt by its name, which is documented for English alone."""
    return PROMPTS[language_of(record)][record["prompt"]]


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
                "setting": record["setting"],
                "aspect": aspect,
                "source": source,
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
