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

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from parley import Builder, Checked, Config, Converted, Field, Folder, View

from .pins import PINS
from .views import (
    ASPECTS,
    DIALOGUE_ID,
    FEATURES,
    IN_SETTING,
    LANGUAGE,
    MESSAGE_ID,
    MODEL,
    ONLY_IN,
    OWN,
    PROMPTED,
    PROMPTS,
    SCORE,
    SPEAKER,
    SYSTEM_ID,
    TEXT,
    USER_ID,
    Record,
    for_aspects,
    language_of,
    messages,
    ratings,
    utterances,
)

# The shape of a record upstream ----------------------------------------------------------

EMOTIONS = {
    "Afraid", "Angry", "Annoyed", "Anticipating", "Anxious", "Apprehensive", "Ashamed", "Caring",
    "Confident", "Content", "Devastated", "Disappointed", "Disgusted", "Embarrassed", "Excited",
    "Furious", "Grateful", "Guilty", "Hopeful", "Impressed", "Jealous", "Joyful", "Lonely",
    "Nostalgic", "Prepared", "Proud", "Sad", "Sentimental", "Surprised", "Terrified", "Trusting",
}  # fmt: skip

_about: dict[str, dict[str, Any]] = {
    "ed": {"emotion": EMOTIONS, "episode": str},
    "wow": {"topic": str},
}


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


# The shape of a row --------------------------------------------------------------------

_prompt = {prompt for prompts in PROMPTS.values() for prompt in prompts.values()}
_mean = for_aspects(float, "the mean of the three scores, rounded to two decimals")
_three = for_aspects([SCORE], "the score of each of the three annotators")


def _keys(fields: dict[str, Field], suffix: str = "") -> dict[str, Field]:
    """Return the fields by key, in which "?" marks the aspects of one setting alone."""
    return {f"{a}{suffix}?" if a in ONLY_IN else f"{a}{suffix}": f for a, f in fields.items()}


ROW = {
    "dialogue_id": DIALOGUE_ID,
    "language": LANGUAGE,
    "setting": Field({"ed", "wow"}, IN_SETTING),
    "model": MODEL,
    "prompt": Field(_prompt, PROMPTED),
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
    "dialogue": Field(
        [
            {
                "message_id": MESSAGE_ID,
                "user_id?": USER_ID,
                "system_id?": SYSTEM_ID,
                "speaker": SPEAKER,
                "message": TEXT,
            }
        ],
        "the messages in order",
    ),
}


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


# Where the files come from --------------------------------------------------------------


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


# The dataset ----------------------------------------------------------------------------


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


def _view(name: str, description: str, use: str, rows: Any, *key: str) -> View:
    features = FEATURES[name]
    return View(name, description, of="dialogues", rows=rows, features=features, key=key, use=use)


class Duo(Builder):
    """314 English and 141 Japanese dialogues of a person with a bot, rated.

    The settings are those of EmpatheticDialogues (ed) and Wizard of Wikipedia (wow). The person
    rated each dialogue, and three third-party annotators rated some, for preference, stylistic
    similarity, consistency and empathy or engagingness.
    """

    VERSION = "1.1.0"
    HOMEPAGE = "https://github.com/ikuminumaya/duo-dataset"
    LICENSE = "cc-by-nc-4.0 (setting ed), apache-2.0 (setting wow)"
    LANGUAGES = ("en", "ja")
    CITATION = """\
@inproceedings{numaya2025stylesim,
  title = {How Stylistic Similarity Shapes Preferences in Dialogue Dataset with User and Third \
Party Evaluations},
  author = {Numaya, Ikumi and Moriya, Shoji and Sato, Shiki and Akama, Reina and Suzuki, Jun},
  booktitle = {Proceedings of the 26th Annual Meeting of the Special Interest Group on Discourse \
and Dialogue},
  year = {2025},
  publisher = {Association for Computational Linguistics},
  url = {https://aclanthology.org/2025.sigdial-1.15/}
}

@article{numaya2025style,
  title = {スタイル類似の知覚主体が対話評価に与える影響},
  author = {沼屋, 征海 and 守屋, 彰二 and 佐藤, 志貴 and 赤間, 怜奈 and 鈴木, 潤},
  journal = {自然言語処理},
  volume = {32},
  number = {4},
  year = {2025},
  url = {https://www.jstage.jst.go.jp/article/jnlp/32/4/32_1241/_article/-char/ja}
}"""
    CONFIGS = [
        _dialogues("dialogues", "a dialogue with its ratings", "read", LICENSE, ED, WOW),
        _dialogues(
            "ed", "a dialogue of the setting `ed`", "read, under CC BY-NC 4.0", "cc-by-nc-4.0", ED
        ),
        _dialogues(
            "wow", "a dialogue of the setting `wow`", "read, under Apache 2.0", "apache-2.0", WOW
        ),
        _view("utterances", "a message", "study style, search", utterances, "dialogue_id", "turn"),
        _view(
            "ratings",
            "a score that one person gave",
            "study ratings",
            ratings,
            "dialogue_id",
            "source",
            "aspect",
            "annotator",
        ),
        _view(
            "messages",
            "a dialogue as a chat, the bot as assistant",
            "train a chat model",
            messages,
            "dialogue_id",
        ),
    ]
