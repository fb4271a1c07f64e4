"""DUO's records: their shape upstream, the row of each, and the folders that hold them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from parley import Checked, ClassLabel, Field, Folder

from .pins import PINS

Record = dict[str, Any]

ASPECT = ClassLabel(  # upstream names them alone; in the words of the task `agreement`
    {
        "preference": "how much a user would like to talk with this bot again",
        "stylistic_similarity": "how similar the bot's style of speaking is to the user's",
        "consistency": "how free of contradictions the bot's utterances are",
        "empathy": "how well the bot understands and shares the user's feelings",
        "engagingness": "how engaging the dialogue with the bot is",
    }
)
ASPECTS = ASPECT.names
ONLY_IN = {"empathy": "ed", "engagingness": "wow"}  # aspect -> the one setting that rates it

# language -> the prompt as published -> as documented
PROMPTS = {
    "en": {"aligned": "aligned", "neutral": "neutral", "not_aligned": "not_aligned"},
    "ja": {"ent": "aligned", "neutral": "neutral", "nonent": "not_aligned"},
}

SCORE = {1.0, 2.0, 3.0, 4.0, 5.0}
EMOTIONS = {
    "Afraid", "Angry", "Annoyed", "Anticipating", "Anxious", "Apprehensive", "Ashamed", "Caring",
    "Confident", "Content", "Devastated", "Disappointed", "Disgusted", "Embarrassed", "Excited",
    "Furious", "Grateful", "Guilty", "Hopeful", "Impressed", "Jealous", "Joyful", "Lonely",
    "Nostalgic", "Prepared", "Proud", "Sad", "Sentimental", "Surprised", "Terrified", "Trusting",
}  # fmt: skip

_about: dict[str, Record] = {"ed": {"emotion": EMOTIONS, "episode": str}, "wow": {"topic": str}}


def three_scores(scores: list[float]) -> None:
    """Check the scores that the three annotators gave for one aspect."""
    if len(scores) != 3:
        raise ValueError("three scores, one an annotator")


def _dialogue_shape(setting: str, language: str) -> dict[str, Any]:
    aspects = [aspect for aspect in ASPECTS if ONLY_IN.get(aspect, setting) == setting]
    return {
        "dialogue_id": {"en": str, "ja": int}[language],
        "setting": {setting},
        "model": {"gpt-4o", "Llama-3.1-70B-Instruct"},
        "prompt": set(PROMPTS[language]),
        **_about[setting],
        "objective_evaluation?": {
            **dict.fromkeys(aspects, float),
            **{f"{aspect}_scores": Checked([SCORE], three_scores) for aspect in aspects},
        },
        "subjective_evaluation": dict.fromkeys(aspects, SCORE),
        "dialogue": [
            (
                {"message_id": int, "user_id": str, "speaker": {"Human"}, "message": str},
                {"message_id": int, "system_id": str, "speaker": {"Bot"}, "message": str},
            )
        ],
    }


def require_sound(record: Record) -> None:
    """Raise ValueError where a record contradicts itself.

    In every record upstream the messages are counted from 0 and are of one person and one bot;
    the person begins in the setting ed, the bot in wow; and an objective score is the mean of
    three, to two decimals.
    """

    def require(found: Any, expected: Any, field: str) -> None:
        if found != expected:
            raise ValueError(f"{field}: expected {expected!r:.60}, found {found!r:.60}")

    messages = record["dialogue"]
    ids: dict[str, str] = {}
    speakers = [message["speaker"] for message in messages[:1]]
    require(speakers, [{"ed": "Human", "wow": "Bot"}[record["setting"]]], "dialogue[0].speaker")
    for number, message in enumerate(messages):
        require(message["message_id"], number, f"dialogue[{number}].message_id")
        for key in message.keys() & {"user_id", "system_id"}:
            require(message[key], ids.setdefault(key, message[key]), f"dialogue[{number}].{key}")
    objective = record.get("objective_evaluation", {})
    for aspect in objective.keys() & set(ASPECTS):
        mean = round(sum(objective[f"{aspect}_scores"]) / 3, 2)
        require(objective[aspect], mean, f"objective_evaluation.{aspect}")


def for_aspects(shape: Any, meaning: str) -> dict[str, Field]:
    """Return aspect -> a field of this shape."""
    only = {aspect: f"in `{setting}`, " for aspect, setting in ONLY_IN.items()}
    return {aspect: Field(shape, only.get(aspect, "") + meaning) for aspect in ASPECTS}


OWN = for_aspects(SCORE, "the person's own score")
_mean = for_aspects(float, "the mean of the three scores, rounded to two decimals")
_three = for_aspects([SCORE], "the score of each of the three annotators")
_prompts = {prompt for prompts in PROMPTS.values() for prompt in prompts.values()}


def _keys(fields: dict[str, Field], suffix: str = "") -> dict[str, Field]:
    """Return the fields by key, in which "?" marks the aspects of one setting alone."""
    return {f"{a}{suffix}?" if a in ONLY_IN else f"{a}{suffix}": f for a, f in fields.items()}


MESSAGE = {
    "message_id": Field(int, "upstream's number of the message, from 0"),
    "user_id?": Field(str, "upstream's id of the person; null for the bot's messages"),
    "system_id?": Field(
        str,
        "upstream's id of the bot: one model with one prompt in a language and setting; null for "
        "the person's messages",
    ),
    "speaker": Field({"Human", "Bot"}, "who wrote the message"),
    "message": Field(str, "the unchanged message"),
}
ROW = {
    "dialogue_id": Field(str, "upstream's id of the dialogue, four digits"),
    "language": Field({"en", "ja"}, "the language, upstream's folder of the file"),
    "setting": Field(
        {"ed", "wow"}, "the setting, after EmpatheticDialogues or Wizard of Wikipedia"
    ),
    "model": Field(
        {"gpt-4o", "Llama-3.1-70B-Instruct"},
        "the bot's language model, in Japanese always `gpt-4o`",
    ),
    "prompt": Field(_prompts, "the style that the prompt asks of the bot"),
    "upstream_prompt": Field(
        {*PROMPTS["en"], *PROMPTS["ja"]},
        "upstream's value of `prompt`, with other words in Japanese",
    ),
    "emotion?": Field(
        EMOTIONS, "in `ed`, the emotion that the person chose, in English in both languages"
    ),
    "episode?": Field(
        str, "in `ed`, the person's short account of an experience with this emotion"
    ),
    "topic?": Field(str, "in `wow`, the subject of the dialogue, in its language"),
    "objective_evaluation?": Field(
        {**_keys(_mean), **_keys(_three, "_scores")},
        "the ratings of three third-party annotators; null without them",
    ),
    "subjective_evaluation": Field(_keys(OWN), "the ratings of the person in the dialogue"),
    "dialogue": Field([MESSAGE], "the messages in order"),
}


def language_of(record: Record) -> str:
    """Return the language of a record: upstream's ids are integers in Japanese alone."""
    return "ja" if isinstance(record["dialogue_id"], int) else "en"


def to_row(record: Record) -> Record:
    """Return a record with its language, an id that is a string, and the prompt as documented."""
    language = language_of(record)
    return {
        **record,
        "dialogue_id": str(record["dialogue_id"]),
        "language": language,
        "prompt": PROMPTS[language][record["prompt"]],
        "upstream_prompt": record["prompt"],
    }


def to_record(row: Record) -> Record:
    """Return the upstream record: the inverse of `to_row`."""
    record = {**row, "prompt": row["upstream_prompt"]}
    del record["upstream_prompt"]
    if record.pop("language") == "ja":
        record["dialogue_id"] = int(row["dialogue_id"])
    return record


def _folder(path: str) -> Folder:
    shape = _dialogue_shape(*path.split("/"))
    return Folder(path, shape, validate=require_sound, **PINS[path])


ED = {language: _folder(f"ed/{language}") for language in ("en", "ja")}
WOW = {language: _folder(f"wow/{language}") for language in ("en", "ja")}


def placed(sources: Mapping[str, Any]) -> Iterator[Record]:
    """Yield each dialogue; ValueError unless a record names its own folder and file."""
    for path, folder in sources.items():
        for file, record in folder.items():
            place = f"{path}/{file}"
            named = f"{record['setting']}/{language_of(record)}/{record['dialogue_id']}.json"
            if named != place:
                expected = "the dialogue_id, setting and language of this place"
                raise ValueError(f"{place}: expected {expected}, found those of {named:.60}")
            yield record


def unplaced(records: Iterable[Record]) -> Iterator[tuple[str, Record]]:
    """Yield each dialogue with its folder: the inverse of `placed`."""
    for record in records:
        yield f"{record['setting']}/{language_of(record)}", record
