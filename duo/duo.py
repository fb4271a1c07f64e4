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
`prompt` has the documented values, with upstream's own beside it in `upstream_prompt`.
"""

import hashlib
import io
import json
import os
import pathlib
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any

import datasets

from .views import ASPECTS, PROMPTS, VIEW_FEATURES, VIEWS, Record, Rows, language_of

# Where the files come from --------------------------------------------------------------

_COMMIT = "a1c424371fc6fb716184bb177beaba91a183093a"
_ARCHIVE = f"https://github.com/ikuminumaya/duo-dataset/archive/{_COMMIT}.zip"
_TOP = f"duo-dataset-{_COMMIT}/"  # the archive's one folder

SOURCES: dict[str, dict[str, Any]] = {
    "ed/en": {
        "url": _ARCHIVE,
        "member": _TOP + "ed/en",
        "git_tree": "63dbbd00eac8f4a767ad8f2964cd67809db6671b",
        "files": 157,
    },
    "ed/ja": {
        "url": _ARCHIVE,
        "member": _TOP + "ed/ja",
        "git_tree": "ceadc5f84d79dbe07b6637c8dcefa929028f8e30",
        "files": 68,
    },
    "wow/en": {
        "url": _ARCHIVE,
        "member": _TOP + "wow/en",
        "git_tree": "f1d1ae95714c83708be9aeedc944d60858026e56",
        "files": 157,
    },
    "wow/ja": {
        "url": _ARCHIVE,
        "member": _TOP + "wow/ja",
        "git_tree": "8096884f8bdae3d289de49590b9e4edd8dbbffdd",
        "files": 73,
    },
}

# config -> split -> the sources it is made from
_both: dict[str, tuple[str, ...]] = {"en": ("ed/en", "wow/en"), "ja": ("ed/ja", "wow/ja")}
SPLITS: dict[str, dict[str, tuple[str, ...]]] = {
    "dialogues": _both,
    "ed": {"en": ("ed/en",), "ja": ("ed/ja",)},
    "wow": {"en": ("wow/en",), "ja": ("wow/ja",)},
    **dict.fromkeys(VIEW_FEATURES, _both),
}

# What a record upstream looks like ------------------------------------------------------
# A type, {values}: one of these, [x]: a list of x, (x, y): x or y, "key?": may be absent,
# a function: raises ValueError. `parley build` refuses a record that differs.

# fmt: off
EMOTIONS = {
    "Afraid", "Angry", "Annoyed", "Anticipating", "Anxious", "Apprehensive", "Ashamed", "Caring",
    "Confident", "Content", "Devastated", "Disappointed", "Disgusted", "Embarrassed", "Excited",
    "Furious", "Grateful", "Guilty", "Hopeful", "Impressed", "Jealous", "Joyful", "Lonely",
    "Nostalgic", "Prepared", "Proud", "Sad", "Sentimental", "Surprised", "Terrified", "Trusting",
}
# fmt: on

_scores = {1.0, 2.0, 3.0, 4.0, 5.0}
_common_aspects = ("preference", "stylistic_similarity", "consistency")
_aspects = {"ed": (*_common_aspects, "empathy"), "wow": (*_common_aspects, "engagingness")}
_about: dict[str, dict[str, Any]] = {
    "ed": {"emotion": EMOTIONS, "episode": str},
    "wow": {"topic": str},
}


def three_scores(value: Any) -> None:
    """Check the scores that the three annotators gave for one aspect."""
    if not (isinstance(value, list) and list(map(type, value)) == [float] * 3):
        raise ValueError("a list of three scores")
    if not _scores.issuperset(value):
        raise ValueError("three scores among 1.0, 2.0, 3.0, 4.0, 5.0")


def _dialogue_shape(setting: str, language: str) -> dict[str, Any]:
    aspects = _aspects[setting]
    return {
        "dialogue_id": {"en": str, "ja": int}[language],
        "setting": {setting},
        "model": {"gpt-4o", "Llama-3.1-70B-Instruct"},
        "prompt": set(PROMPTS[language]),
        **_about[setting],
        "objective_evaluation?": {
            **dict.fromkeys(aspects, float),
            **{f"{aspect}_scores": three_scores for aspect in aspects},
        },
        "subjective_evaluation": dict.fromkeys(aspects, _scores),
        "dialogue": [
            (
                {"message_id": int, "user_id": str, "speaker": {"Human"}, "message": str},
                {"message_id": int, "system_id": str, "speaker": {"Bot"}, "message": str},
            )
        ],
    }


DIALOGUE = {source: _dialogue_shape(*source.split("/")) for source in SOURCES}

# What a row looks like ------------------------------------------------------------------

_string, _integer, _number = (datasets.Value(t) for t in ("string", "int64", "float64"))
_subjective = dict.fromkeys(ASPECTS, _number)
_objective = {**_subjective, **{f"{name}_scores": [_number] for name in ASPECTS}}
_message = {
    "message_id": _integer,
    "user_id": _string,
    "system_id": _string,
    "speaker": _string,
    "message": _string,
}
_dialogue = datasets.Features(
    {
        "dialogue_id": _string,
        "language": _string,
        "setting": _string,
        "model": _string,
        "prompt": _string,
        "upstream_prompt": _string,
        "emotion": _string,
        "episode": _string,
        "topic": _string,
        "objective_evaluation": _objective,
        "subjective_evaluation": _subjective,
        "dialogue": [_message],
    }
)
FEATURES = {"dialogues": _dialogue, "ed": _dialogue, "wow": _dialogue, **VIEW_FEATURES}

# The builder ----------------------------------------------------------------------------

DESCRIPTION = """\
314 English and 141 Japanese dialogues of a person with a bot, in the settings of \
EmpatheticDialogues (ed) and Wizard of Wikipedia (wow), rated by the person and, some of them, \
by three third-party annotators for preference, stylistic similarity, consistency and empathy \
or engagingness."""

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

# config -> licence: upstream licenses each setting on its own
_both_licences = "cc-by-nc-4.0 (setting ed), apache-2.0 (setting wow)"
LICENCES = {
    "dialogues": _both_licences,
    "ed": "cc-by-nc-4.0",
    "wow": "apache-2.0",
    **dict.fromkeys(VIEW_FEATURES, _both_licences),
}


class Duo(datasets.GeneratorBasedBuilder):
    """DUO from its URL, or from a local copy of upstream's folders in `data_dir`."""

    VERSION = datasets.Version("1.1.0")
    DEFAULT_CONFIG_NAME = "dialogues"
    BUILDER_CONFIGS = [
        datasets.BuilderConfig("dialogues", VERSION, description="all dialogues of both settings"),
        datasets.BuilderConfig("ed", VERSION, description="the EmpatheticDialogues setting"),
        datasets.BuilderConfig("wow", VERSION, description="the Wizard of Wikipedia setting"),
        datasets.BuilderConfig("utterances", VERSION, description="messages, one a row"),
        datasets.BuilderConfig("ratings", VERSION, description="scores, one a row"),
        datasets.BuilderConfig("messages", VERSION, description="chats, the bot the assistant"),
    ]

    def _info(self) -> datasets.DatasetInfo:
        return datasets.DatasetInfo(
            description=DESCRIPTION,
            features=FEATURES[self.config.name],
            homepage="https://github.com/ikuminumaya/duo-dataset",
            license=LICENCES[self.config.name],
            citation=CITATION,
        )

    def _split_generators(
        self, dl_manager: datasets.DownloadManager
    ) -> list[datasets.SplitGenerator]:
        if folder := self.config.data_dir:
            paths = {source: os.path.join(folder, source) for source in SOURCES}
        else:
            archive = dl_manager.download(SOURCES["ed/en"]["url"])  # one archive holds all four
            paths = dict.fromkeys(SOURCES, archive)
        return [
            datasets.SplitGenerator(
                name=split, gen_kwargs={"paths": {source: paths[source] for source in sources}}
            )
            for split, sources in SPLITS[self.config.name].items()
        ]

    def _generate_examples(self, paths: dict[str, str]) -> Rows:
        folders = paths if self.config.data_dir else pinned_folders(paths)
        yield from rows(self.config.name, records(self.config.name, folders))


def pinned_folders(paths: dict[str, str]) -> dict[str, zipfile.Path]:
    """Return the folders in the downloaded archive; raise ValueError unless `SOURCES` pins them."""
    (path,) = set(paths.values())
    with open(path, "rb") as file:  # text mode cannot stream over http
        archive = io.BytesIO(file.read())  # in memory: it is small, and its server cannot seek
    folders = {}
    for source in paths:
        expected = SOURCES[source]["git_tree"]
        try:
            opened = zipfile.ZipFile(archive)
            folders[source] = zipfile.Path(opened, f"{SOURCES[source]['member']}/")
            found = git_tree(folders[source])
        except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
            found = f"an archive that cannot be read: {error}"
        if found != expected:
            raise ValueError(
                f"{source}: git_tree expected {expected}, found {found}; "
                "the download is damaged or upstream changed"
            )
    return folders


def git_tree(folder: zipfile.Path) -> str:
    """Return what git, and so GitHub, names a folder of files by."""
    entries = b""
    for file in files_of(folder):
        content = file.read_bytes()
        blob = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False)
        entries += b"100644 %s\0" % file.name.encode() + blob.digest()
    tree = b"tree %d\0" % len(entries) + entries
    return hashlib.sha1(tree, usedforsecurity=False).hexdigest()


# From files to rows ---------------------------------------------------------------------


def files_of(folder: str | zipfile.Path) -> list[Any]:
    """Return the files in a folder, of a disk or of an archive, by their names."""
    opened = pathlib.Path(folder) if isinstance(folder, str) else folder
    return sorted(opened.iterdir(), key=attrgetter("name"))


def read(
    path: pathlib.Path | zipfile.Path, shape: Any, loads: Callable[[bytes], Any] = json.loads
) -> Iterable[Any]:
    """Return the one record of an upstream file, of the given shape."""
    with path.open("rb") as file:
        return [loads(file.read())]


def records(
    config: str,
    paths: Mapping[str, str | zipfile.Path],
    read: Callable[[Any, Any], Iterable[Any]] = read,
) -> Iterator[tuple[str, Record]]:
    """Yield the upstream records of a split, each with its key; `paths` is source -> folder."""
    for source, folder in paths.items():
        for file in files_of(folder):
            for record in read(file, DIALOGUE[source]):
                require_place(record, f"{source}/{file.name}")
                require_sound(record, f"{source}/{file.name}")
                yield str(record["dialogue_id"]), record


def rows(config: str, records: Iterable[tuple[str, Record]]) -> Rows:
    """Yield the rows of a split, each with its key."""
    if view := VIEWS.get(config):
        yield from view(record for _, record in records)
    else:
        for key, record in records:
            yield key, to_row(record)


def require_place(record: Record, place: str) -> None:
    """Raise ValueError unless a record stands in the folder and file that it names."""
    named = f"{record['setting']}/{language_of(record)}/{record['dialogue_id']}.json"
    if named != place:
        raise ValueError(
            f"{place}: expected the dialogue_id, setting and language of this place, "
            f"found those of {named:.60}"
        )


def require_sound(record: Record, place: str) -> None:
    """Raise ValueError where a record contradicts itself.

    In every record upstream the messages are counted from 0 and are of one person and one bot;
    the person begins in the setting ed, the bot in wow; and an objective score is the mean of
    three, to two decimals.
    """

    def require(found: Any, expected: Any, field: str) -> None:
        if found != expected:
            raise ValueError(f"{place}: {field}: expected {expected!r:.60}, found {found!r:.60}")

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


# From record to row and back ------------------------------------------------------------


def _filled(value: Any, features: dict[str, Any]) -> Any:
    """Return an object with every key of its features, null where it had none; null as null."""
    return None if value is None else {key: value.get(key) for key in features}


def _given(value: dict[str, Any]) -> dict[str, Any]:
    """Return an object without its keys that are null."""
    return {key: inner for key, inner in value.items() if inner is not None}


def to_row(record: Record) -> dict[str, Any]:
    """Return the row of a record: language added, id and prompt alike, null for what it lacks."""
    language = language_of(record)
    return {
        **_filled(record, _dialogue),
        "dialogue_id": str(record["dialogue_id"]),
        "language": language,
        "prompt": PROMPTS[language][record["prompt"]],
        "upstream_prompt": record["prompt"],
        "objective_evaluation": _filled(record.get("objective_evaluation"), _objective),
        "subjective_evaluation": _filled(record["subjective_evaluation"], _subjective),
        "dialogue": [_filled(message, _message) for message in record["dialogue"]],
    }


def to_record(row: dict[str, Any]) -> Record:
    """Return the upstream record of a row: the inverse of `to_row`."""
    record = _given(row)
    record["prompt"] = record.pop("upstream_prompt")
    if record.pop("language") == "ja":
        record["dialogue_id"] = int(record["dialogue_id"])
    for key in ("objective_evaluation", "subjective_evaluation"):
        if key in record:
            record[key] = _given(record[key])
    record["dialogue"] = [_given(message) for message in record["dialogue"]]
    return record


# The configs that keep everything: the way back to the records of their sources, and their shape
TO_RECORD = {"dialogues": to_record, "ed": to_record, "wow": to_record}
RECORDS = {
    config: tuple(DIALOGUE[source] for sources in SPLITS[config].values() for source in sources)
    for config in TO_RECORD
}
