"""CaSiNo: 1,030 campsite negotiations between two people over food, water and firewood.

Collected on Amazon Mechanical Turk by Chawla et al. (NAACL 2021) and published as one
JSON file, a list of dialogues; a later repository of the authors' adds what each side guessed of
the other's priorities. A record looks like this (invented, shortened):

    {"dialogue_id": 7,
     "chat_logs": [
       {"id": "mturk_agent_1", "text": "Hi! Which packages matter most to you?", "task_data": {}},
       {"id": "mturk_agent_2", "text": "Submit-Deal", "task_data": {
         "issue2youget": {"Food": "1", "Water": "0", "Firewood": "3"},
         "issue2theyget": {"Food": "2", "Water": "3", "Firewood": "0"}}},
       {"id": "mturk_agent_1", "text": "Accept-Deal", "task_data": {"data": "accept_deal"}}],
     "participant_info": {"mturk_agent_1": {"value2issue": {"High": "Water", ...},
       "value2reason": {...}, "outcomes": {...}, "demographics": {...}, "personality": {...}}, ...},
     "annotations": [["Hi! Which packages matter most to you?", "small-talk,elicit-pref"]]}

A row is the record with upstream's names and types. One thing is changed: a key that
`task_data` lacks is null in the row, where the old Hub script filled in empty strings.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import datasets

from .scenarios import ISSUES, PACKAGES, points_of
from .views import (
    LIKENESS,
    PARTNER,
    SATISFACTION,
    STRATEGIES,
    VIEW_FEATURES,
    VIEWS,
    items_of,
    labelled,
)

# Where the files come from --------------------------------------------------------------

_URL = (
    "https://raw.githubusercontent.com/kushalchawla/CaSiNo/"
    "2f6ed4a6a55110152a7699fbaa8150d6036314be/"
)

_LATER_URL = (  # the repository of the authors' paper on modelling the opponent
    "https://raw.githubusercontent.com/kushalchawla/opponent-modeling/"
    "107e954f9ed5aea551ff8d019c6b210240240286/storage/misc/"
)
_DATA = "data/casino.json"
_GUESSES = "opponent-modeling/casino_ix2guessing.json"
_FOLDS = "opponent-modeling/data_splits_seeds.json"

SOURCES: dict[str, dict[str, Any]] = {
    "data/casino.json": {
        "url": _URL + "data/casino.json",
        "size": 4_300_019,
        "sha256": "4f2c4560a0070906ed018c3f0766e35f8f8f31b36274ebf35b608621915744ab",
    },
    "data/split/casino_train.json": {
        "url": _URL + "data/split/casino_train.json",
        "size": 3_763_692,
        "git_blob": "12c603a57bdb75758d2d68d545e412249dc2c34d",
    },
    "data/split/casino_valid.json": {
        "url": _URL + "data/split/casino_valid.json",
        "size": 112_116,
        "git_blob": "2aad92fcd8c8eb4406b1202d6dfe6febb1c0bff0",
    },
    "data/split/casino_test.json": {
        "url": _URL + "data/split/casino_test.json",
        "size": 424_211,
        "git_blob": "e4ce0a249e533648d6a39faaabf5d5b9f8ec0ec4",
    },
    _GUESSES: {
        "url": _LATER_URL + "casino_ix2guessing.json",
        "size": 185_071,
        "git_blob": "7f861e79f12b9e29461cbf2991ddc4c173dd0790",
    },
    _FOLDS: {
        "url": _LATER_URL + "data_splits_seeds.json",
        "size": 25_573,
        "git_blob": "67f02c005877c3363b61898242d68007e7e76966",
    },
}

# config -> split -> the sources it is made from
SPLITS: dict[str, dict[str, tuple[str, ...]]] = {
    "dialogues": {"train": (_DATA,)},
    "official_split": {
        "train": ("data/split/casino_train.json",),
        "validation": ("data/split/casino_valid.json",),
        "test": ("data/split/casino_test.json",),
    },
    **{view: {"train": (_DATA,)} for view in VIEW_FEATURES},
    "participants": {"train": (_DATA, _GUESSES)},
    "priority_folds": {"train": (_FOLDS,)},
}

# What a record upstream looks like ------------------------------------------------------
# A type, {values}: one of these, [x]: a list of x, (x, y): x or y, "key?": may be absent,
# a function: raises ValueError. `parley build` refuses a record that differs.


def annotation(value: Any) -> None:
    """Check an [utterance, "label,label"] pair; upstream has an empty label in one of them."""
    if not (isinstance(value, list) and list(map(type, value)) == [str, str]):
        raise ValueError("an [utterance, labels] pair of strings")
    if not {"", *STRATEGIES}.issuperset(value[1].split(",")):
        raise ValueError(f"labels among {', '.join(STRATEGIES)}")


# fmt: off
_ethnicities = {
    "white american", "black or african american", "asian american", "hispanic or latino",
    "multi-racial", "alaska native or native american",
    "native hawaiian or other specific islander", "other (please specify)",
}
_educations = {
    "some high school, no diploma", "high school graduate / ged", "trade school",
    "some 2 year college, no degree", "some 2 year college, associate's degree",
    "some 4 year college, no degree", "some 4 year college, bachelor's degree",
    "master's degree", "doctorate degree",
}
# fmt: on
ANSWERS = {"accept_deal": "Accept-Deal", "reject_deal": "Reject-Deal", "walk_away": "Walk-Away"}
_ACTIONS = {"Submit-Deal", *ANSWERS.values()}
_issue = set(ISSUES)
_counts = {issue: {"0", "1", "2", "3"} for issue in ISSUES}
_side = {
    "value2issue": {"Low": _issue, "Medium": _issue, "High": _issue},
    "value2reason": {"Low": str, "Medium": str, "High": str},
    "outcomes": {
        "points_scored": int,
        "satisfaction": set(SATISFACTION),
        "opponent_likeness": set(LIKENESS),
    },
    "demographics": {
        "age": int,
        "gender": {"female", "male", "other"},
        "ethnicity": _ethnicities,
        "education": _educations,
    },
    "personality": {
        "svo": {"prosocial", "proself", "unclassified"},
        "big-five": {
            "extraversion": float,
            "agreeableness": float,
            "conscientiousness": float,
            "emotional-stability": float,
            "openness-to-experiences": float,
        },
    },
}
DIALOGUE = {
    "dialogue_id": int,
    "chat_logs": [
        {
            "text": str,
            "task_data": (
                {"issue2youget": _counts, "issue2theyget": _counts},
                {"data": set(ANSWERS)},
                {},
            ),
            "id": {"mturk_agent_1", "mturk_agent_2"},
        }
    ],
    "participant_info": {"mturk_agent_1": _side, "mturk_agent_2": _side},
    "annotations": [annotation],
}
_guess = {"partner_highest_item": _issue, "partner_lowest_item": _issue}
GUESSES = {str: {"mturk_agent_1": _guess, "mturk_agent_2": _guess}}  # one dialogue's, by its id
_parts = {"train": [int], "val": [int], "test": [int]}
FOLDS = {"seeds": [int], "cvs": dict.fromkeys("01234", _parts)}


def require_sound(record: dict[str, Any]) -> None:
    """Raise ValueError where a record contradicts itself.

    In every record upstream the text of a deal action names it, a deal shares out three packages
    of each issue, the other side's next entry answers it, the entry that ends the dialogue is the
    last, the points are those of the deal, and each annotation has its utterance.
    """

    def refuse(field: str, expected: str, found: Any) -> None:
        where = f"dialogue {record['dialogue_id']}: {field}"
        raise ValueError(f"{where}: expected {expected}, found {found!r:.60}")

    last = len(record["chat_logs"]) - 1
    if last < 0:
        refuse("chat_logs", "at least one entry", [])
    submitter = None  # of the entry before
    for turn, entry in enumerate(record["chat_logs"]):
        task, text, side = entry["task_data"], entry["text"], entry["id"]
        answer, deal = task.get("data"), "issue2youget" in task
        named = "Submit-Deal" if deal else ANSWERS[answer] if answer else None
        if text != named and (named or text in _ACTIONS):
            refuse(f"chat_logs[{turn}].text", f"that of the task_data {task}", text)
        if (answer in ("accept_deal", "walk_away")) != (turn == last):
            refuse(f"chat_logs[{turn}].task_data.data", "the end to be last", answer)
        if answer in ("accept_deal", "reject_deal") and submitter != PARTNER[side]:
            refuse(f"chat_logs[{turn}].id", "the other side's deal before", side)
        for issue in ISSUES if deal else ():
            shares = [int(task[key][issue]) for key in ("issue2youget", "issue2theyget")]
            if sum(shares) != PACKAGES:
                refuse(f"chat_logs[{turn}].task_data: {issue}", "three in all", shares)
        submitter = side if deal else None
    items = items_of(record)
    for side, info in record["participant_info"].items():
        worth, got = info["value2issue"], items[side]
        if {*worth.values()} != _issue:
            refuse(f"participant_info.{side}.value2issue", "each issue once", worth)
        points = points_of(worth, got)
        if points != (found := info["outcomes"]["points_scored"]):
            field = f"participant_info.{side}.outcomes.points_scored"
            refuse(field, f"{points} by the deal", found)
    for _ in labelled(record):
        pass


# What a row looks like ------------------------------------------------------------------

_string, _integer, _number = (datasets.Value(t) for t in ("string", "int64", "float64"))
_items = {"Food": _string, "Water": _string, "Firewood": _string}
_participant = {
    "value2issue": {"Low": _string, "Medium": _string, "High": _string},
    "value2reason": {"Low": _string, "Medium": _string, "High": _string},
    "outcomes": {
        "points_scored": _integer,
        "satisfaction": _string,
        "opponent_likeness": _string,
    },
    "demographics": {
        "age": _integer,
        "gender": _string,
        "ethnicity": _string,
        "education": _string,
    },
    "personality": {
        "svo": _string,
        "big-five": {
            "extraversion": _number,
            "agreeableness": _number,
            "conscientiousness": _number,
            "emotional-stability": _number,
            "openness-to-experiences": _number,
        },
    },
}
_dialogue = datasets.Features(
    {
        "dialogue_id": _integer,
        "chat_logs": [
            {
                "text": _string,
                "task_data": {"data": _string, "issue2youget": _items, "issue2theyget": _items},
                "id": _string,
            }
        ],
        "participant_info": {"mturk_agent_1": _participant, "mturk_agent_2": _participant},
        "annotations": [[_string]],
    }
)
_fold = datasets.Features(
    {
        "fold": _integer,
        "train": [_integer],
        "validation": [_integer],
        "test": [_integer],
        "seeds": [_integer],
    }
)
FEATURES = {
    "dialogues": _dialogue,
    "official_split": _dialogue,
    **VIEW_FEATURES,
    "priority_folds": _fold,
}

# The builder ----------------------------------------------------------------------------

DESCRIPTION = """\
1,030 English dialogues in which two campsite neighbours negotiate over food, water and \
firewood, with their priorities and reasons, demographics, personality, outcomes and, for 396 \
dialogues, the negotiation strategies of each utterance."""

CITATION = """\
@inproceedings{chawla2021casino,
  title = {{CaSiNo}: A Corpus of Campsite Negotiation Dialogues for Automatic Negotiation Systems},
  author = {Chawla, Kushal and Ramirez, Jaysa and Clever, Rene and Lucas, Gale and May, Jonathan \
and Gratch, Jonathan},
  booktitle = {Proceedings of the 2021 Conference of the North American Chapter of the \
Association for Computational Linguistics: Human Language Technologies},
  pages = {3167--3185},
  year = {2021},
  url = {https://aclanthology.org/2021.naacl-main.254/}
}"""


class Casino(datasets.GeneratorBasedBuilder):
    """CaSiNo from its URLs, or from a local copy of upstream's folders in `data_dir`."""

    VERSION = datasets.Version("1.1.0")
    DEFAULT_CONFIG_NAME = "dialogues"
    BUILDER_CONFIGS = [
        datasets.BuilderConfig("dialogues", VERSION, description="all dialogues, as published"),
        datasets.BuilderConfig(
            "official_split", VERSION, description="the same in upstream's random split"
        ),
        datasets.BuilderConfig("utterances", VERSION, description="chat entries, one a row"),
        datasets.BuilderConfig("speakers", VERSION, description="the participants"),
        datasets.BuilderConfig("participants", VERSION, description="the sides of the dialogues"),
        datasets.BuilderConfig("strategies", VERSION, description="labelled utterances, 5 folds"),
        datasets.BuilderConfig("messages", VERSION, description="chats, one side the assistant"),
        datasets.BuilderConfig("scenarios", VERSION, description="what a dialogue is about, alone"),
        datasets.BuilderConfig(
            "priority_folds", VERSION, description="5 folds, for the partner's priorities"
        ),
    ]

    def _info(self) -> datasets.DatasetInfo:
        return datasets.DatasetInfo(
            description=DESCRIPTION,
            features=FEATURES[self.config.name],
            homepage="https://github.com/kushalchawla/CaSiNo",
            license="cc-by-4.0",
            citation=CITATION,
        )

    def _split_generators(
        self, dl_manager: datasets.DownloadManager
    ) -> list[datasets.SplitGenerator]:
        splits = []
        for split, sources in SPLITS[self.config.name].items():
            if folder := self.config.data_dir:
                paths = {source: os.path.join(folder, source) for source in sources}
            else:
                paths = dl_manager.download({source: SOURCES[source]["url"] for source in sources})
            splits.append(datasets.SplitGenerator(name=split, gen_kwargs={"paths": paths}))
        return splits

    def _generate_examples(self, paths: dict[str, str]) -> Iterator[tuple[Any, dict[str, Any]]]:
        if not self.config.data_dir:
            for source, path in paths.items():
                require_pinned(source, path)
        yield from rows(self.config.name, records(self.config.name, paths))


def require_pinned(source: str, path: str) -> None:
    """Raise ValueError if a downloaded file is not the one that `SOURCES` pins."""
    with open(path, "rb") as file:  # text mode cannot stream over http
        content = file.read()
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False)
    found = {
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "git_blob": blob.hexdigest(),  # what git, and so GitHub, names a file by
    }
    for kind, expected in SOURCES[source].items():
        if kind != "url" and found[kind] != expected:
            raise ValueError(
                f"{source}: {kind} expected {expected}, found {found[kind]}; "
                "the download is damaged or upstream changed"
            )


# From file to rows ----------------------------------------------------------------------


def read(path: str, shape: Any, loads: Callable[[bytes], Any] = json.loads) -> Iterable[Any]:
    """Return the records of one upstream file, each of the given shape.

    The guesses are one object, of which each entry is a record; the folds are one record.
    """
    with open(path, "rb") as file:
        content = loads(file.read())
    if shape is FOLDS:
        return [content]
    if shape is GUESSES:
        if not isinstance(content, dict):
            raise ValueError(f"{path}: expected an object, found {content!r:.60}")
        return [{number: sides} for number, sides in content.items()]
    return content  # type: ignore[no-any-return]


Read = Callable[[str, Any], Iterable[Any]]


def records(
    config: str, paths: dict[str, str], read: Read = read
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the upstream records of a split, each with its key; `paths` is source -> local path.

    For `participants` a record is a dialogue with its `guesses`; for `priority_folds`, a fold.
    """
    path, *others = paths.values()
    if config == "priority_folds":
        for record in read(path, FOLDS):
            for fold, parts in record["cvs"].items():
                yield int(fold), {"fold": fold, "seeds": record["seeds"], **parts}
        return
    sound = sound_dialogues(path, read)
    if config == "participants":
        sound = with_guesses(list(sound), others[0], read)
    for record in sound:
        yield record["dialogue_id"], record


def sound_dialogues(path: str, read: Read) -> Iterator[dict[str, Any]]:
    """Yield each dialogue of a file."""
    for record in read(path, DIALOGUE):
        require_sound(record)
        yield record


def with_guesses(
    dialogues: list[dict[str, Any]], path: str, read: Read
) -> Iterator[dict[str, Any]]:
    """Yield each dialogue with the `guesses` that a file has of it.

    Raises ValueError unless the file has those of each dialogue, and no other.
    """
    guesses = {number: sides for record in read(path, GUESSES) for number, sides in record.items()}
    numbers = {str(record["dialogue_id"]) for record in dialogues}
    wrong = {"none of": numbers - guesses.keys(), "some of": guesses.keys() - numbers}
    if found := [f"{some} {', '.join(sorted(ids)[:5])}" for some, ids in wrong.items() if ids]:
        raise ValueError(
            f"{path}: expected guesses of the {len(numbers)} dialogues, found {' and '.join(found)}"
        )
    for record in dialogues:
        yield {**record, "guesses": guesses[str(record["dialogue_id"])]}


def rows(
    config: str, records: Iterable[tuple[Any, dict[str, Any]]]
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield the rows of a split, each with its key."""
    if view := VIEWS.get(config):
        yield from view(record for _, record in records)
    else:
        for key, record in records:
            yield key, fold_to_row(record) if config == "priority_folds" else to_row(record)


# From record to row and back ------------------------------------------------------------

_TASK_DATA = ("data", "issue2youget", "issue2theyget")


def to_row(record: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a record: the same, with null for what `task_data` lacks."""
    chat_logs = [
        {**entry, "task_data": {key: entry["task_data"].get(key) for key in _TASK_DATA}}
        for entry in record["chat_logs"]
    ]
    return {**record, "chat_logs": chat_logs}


def to_record(row: dict[str, Any]) -> dict[str, Any]:
    """Return the upstream record of a row: the inverse of `to_row`."""
    chat_logs = [
        {**entry, "task_data": {k: v for k, v in entry["task_data"].items() if v is not None}}
        for entry in row["chat_logs"]
    ]
    return {**row, "chat_logs": chat_logs}


def fold_to_row(record: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a fold: the same, with its number and the usual name of a split."""
    kept = {key: record[key] for key in ("train", "test", "seeds")}
    return {"fold": int(record["fold"]), "validation": record["val"], **kept}


def fold_to_record(row: dict[str, Any]) -> dict[str, Any]:
    """Return the fold of a row: the inverse of `fold_to_row`."""
    kept = {key: row[key] for key in ("train", "test", "seeds")}
    return {"fold": str(row["fold"]), "val": row["validation"], **kept}


# The configs that keep everything: the way back to the records of their sources, and their shape
TO_RECORD = {
    "dialogues": to_record,
    "official_split": to_record,
    "priority_folds": fold_to_record,
}
RECORDS = {
    "dialogues": DIALOGUE,
    "official_split": DIALOGUE,
    "priority_folds": {"fold": set("01234"), "seeds": [int], **_parts},
}
