"""CaSiNo: 1,030 campsite negotiations between two people over food, water and firewood.

Collected on Amazon Mechanical Turk by Chawla et al. (NAACL 2021) and published as one
JSON file, a list of dialogues; a later repository of the authors' adds each side's guesses of
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

A row is the record with upstream's names and types. Only one thing changes: a key that
`task_data` lacks is null in the row; the old Hub script filled in empty strings.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from parley import Builder, Checked, Config, Data, Field, File, View

# `datasets` 2 and 3 copy only the modules that the script itself imports.
from .pins import PINS
from .scenarios import ISSUES, PACKAGES, SIDES, points_of
from .subsets import (
    SUBSETS,  # noqa: F401 - for views; `datasets` takes a comment above for a file
)
from .views import (
    ANSWERS,
    DEMOGRAPHICS,
    DIALOGUE_ID,
    FEATURES,
    OUTCOMES,
    PARTNER,
    PERSONALITY,
    SPEAKER,
    STRATEGIES,
    TEXT,
    by_level,
    items_of,
    labelled,
    messages,
    participants,
    scenarios,
    speakers,
    strategies,
    utterances,
)

# Upstream's records ------------------------------------------------------

_ACTIONS = {"Submit-Deal", *ANSWERS.values()}
_counts = dict.fromkeys(ISSUES, Field({"0", "1", "2", "3"}, "packages of this item"))
_side = Field(
    {
        **by_level("Low", "Medium", "High"),
        "outcomes": Field(OUTCOMES, "what came of the dialogue for the side"),
        "demographics": Field(DEMOGRAPHICS, "the participant's own statements"),
        "personality": Field(PERSONALITY, "scores of the survey"),
    },
    "a side's priorities, outcome and person",
)


def annotation(pair: list[str]) -> None:
    """Check an [utterance, "label,label"] pair; upstream has an empty label in one of them."""
    if len(pair) != 2 or not {"", *STRATEGIES}.issuperset(pair[1].split(",")):
        raise ValueError(f"an utterance and labels among {', '.join(STRATEGIES)}")


DIALOGUE = {
    "dialogue_id": DIALOGUE_ID,
    "chat_logs": Field(
        [
            {
                "text": TEXT,
                "task_data": Field(
                    (
                        {"data": Field(set(ANSWERS), "the side's decision")},
                        {
                            "issue2youget": Field(_counts, "packages for the side that submits"),
                            "issue2theyget": Field(_counts, "packages for the other side"),
                        },
                        {},
                    ),
                    "the deal action; all null for an utterance",
                ),
                "id": SPEAKER,
            }
        ],
        "utterances and deal actions, in order",
    ),
    "participant_info": Field(dict.fromkeys(SIDES, _side), "the two sides"),
    "annotations": Field(
        [Checked([str], annotation)],
        "an `[utterance, labels]` pair for each annotated utterance, in order, the labels joined "
        "by commas (see Annotation in the card); empty without annotation",
    ),
}

_guess = {"partner_highest_item": set(ISSUES), "partner_lowest_item": set(ISSUES)}
GUESSES = {str: {"mturk_agent_1": _guess, "mturk_agent_2": _guess}}  # by a dialogue's id
FOLDS = {
    "seeds": [int],
    "cvs": {number: {"train": [int], "val": [int], "test": [int]} for number in "01234"},
}


def require_sound(record: dict[str, Any]) -> None:
    """Raise ValueError if a record contradicts itself.

    In upstream's records, the text of each deal action names the action. A deal shares out three
    packages of each issue, and the other side answers in the next entry. Accepting or walking away
    ends the dialogue. The points are those of the deal. Each annotation has its utterance.
    """

    def refuse(field: str, expected: str, found: Any) -> None:
        raise ValueError(f"{field}: expected {expected}, found {found!r:.60}")

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
            refuse(f"chat_logs[{turn}].task_data.data", "the last entry alone to end it", answer)
        if answer in ("accept_deal", "reject_deal") and submitter != PARTNER[side]:
            refuse(f"chat_logs[{turn}].id", "the other side's deal before this", side)
        for issue in ISSUES if deal else ():
            shares = [int(task[key][issue]) for key in ("issue2youget", "issue2theyget")]
            if sum(shares) != PACKAGES:
                refuse(f"chat_logs[{turn}].task_data: {issue}", "three in all", shares)
        submitter = side if deal else None
    items = items_of(record)
    for side, info in record["participant_info"].items():
        worth, got = info["value2issue"], items[side]
        if {*worth.values()} != {*ISSUES}:
            refuse(f"participant_info.{side}.value2issue", "each issue once", worth)
        points = points_of(worth, got)
        if points != (found := info["outcomes"]["points_scored"]):
            field = f"participant_info.{side}.outcomes.points_scored"
            refuse(field, f"{points} by the deal", found)
    for _ in labelled(record):
        pass


# Where the files come from --------------------------------------------------------------


def _dialogues(path: str) -> File:
    return File(path, DIALOGUE, validate=require_sound, **PINS[path])


def _later(name: str, shape: Any) -> File:
    path = f"opponent-modeling/{name}"
    return File(path, shape, read="json value", **PINS[path])


DATA = _dialogues("data/casino.json")
OFFICIAL = {
    split: [_dialogues(f"data/split/casino_{name}.json")]
    for split, name in (("train", "train"), ("validation", "valid"), ("test", "test"))
}
GUESSING = _later("casino_ix2guessing.json", GUESSES)
SEEDS = _later("data_splits_seeds.json", FOLDS)

# Records of several files ---------------------------------------------------------------


def with_guesses(sources: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each dialogue with its `guesses` from the other file.

    Raises ValueError unless the file has guesses of exactly these dialogues.
    """
    dialogues, (guesses,) = map(list, sources.values())
    numbers = {str(record["dialogue_id"]) for record in dialogues}
    if wrong := sorted(guesses.keys() ^ numbers):
        due = f"{GUESSING.path}: expected guesses of the {len(numbers)} dialogues"
        found = (f"{'none' if each in numbers else 'some'} of {each}" for each in wrong[:5])
        raise ValueError(f"{due}, found {', '.join(found)}")
    for record in dialogues:
        yield {**record, "guesses": guesses[str(record["dialogue_id"])]}


def guesses_again(data: Data, split: str) -> Iterator[dict[str, Any]]:
    """Yield the same records from the rows of a build, the guesses from `participants`."""
    sides: dict[int, dict[str, Any]] = {}
    for row in data.rows("participants", split):
        guess = {column: row[f"guess_{column}"] for column in _guess}
        sides.setdefault(row["dialogue_id"], {})[row["speaker"]] = guess
    for row in data.rows("dialogues"):
        record, guesses = data.record("dialogues", row), sides.get(row["dialogue_id"], {})
        yield {**record, "guesses": {side: guesses.get(side, {}) for side in SIDES}}


def folds(sources: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the folds, each with its number and the seeds."""
    (found,) = sources[SEEDS.path]
    for number, parts in found["cvs"].items():
        ids = {FOLD_PARTS[name]: each for name, each in parts.items()}
        yield {"fold": int(number), "seeds": found["seeds"], **ids}


def unfolded(records: Iterable[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the record of all folds: the inverse of `folds`."""
    found: dict[str, Any] = {}
    for record in records:
        parts = {name: record[part] for name, part in FOLD_PARTS.items()}
        found = {"cvs": {**found.get("cvs", {}), str(record["fold"]): parts}}
        found["seeds"] = record["seeds"]
    yield SEEDS.path, found


FOLD_PARTS = {"train": "train", "val": "validation", "test": "test"}  # upstream's name -> column
FOLD = {
    "fold": Field(int, "upstream's number of the fold, from 0"),
    **{
        part: Field([int], "the `dialogue_id` of each dialogue of this part, ascending")
        for part in FOLD_PARTS.values()
    },
    "seeds": Field([int], "upstream's seeds, equal in all rows; their use is not documented"),
}

# The dataset ----------------------------------------------------------------------------

_side_key = ("dialogue_id", "speaker")
_turn_key = ("dialogue_id", "turn")


def holds(row: dict[str, Any]) -> tuple[int, Iterable[str]]:
    """Return the number of a dialogue's turns, and its sides."""
    return len(row["chat_logs"]), row["participant_info"]


def _view(name: str, description: str, use: str, rows: Any, key: Any, **more: Any) -> View:
    more |= {"of": "dialogues", "features": FEATURES[name]}
    return View(name, description, rows=rows, key=key, use=use, **more)


class Casino(Builder):
    """1,030 English dialogues of two campsite neighbours over food, water and firewood.

    The rows have priorities and reasons, demographics, personality and outcomes. 396 dialogues have
    the negotiation strategies of each utterance.
    """

    VERSION = "1.2.0"
    HOMEPAGE = "https://github.com/kushalchawla/CaSiNo"
    LICENSE = "cc-by-4.0"
    LANGUAGES = ("en",)
    SHOWN = "messages"
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
}

@inproceedings{chawla2022opponent,
  title = {Opponent Modeling in Negotiation Dialogues by Related Data Adaptation},
  author = {Chawla, Kushal and Lucas, Gale and May, Jonathan and Gratch, Jonathan},
  booktitle = {Findings of the Association for Computational Linguistics: NAACL 2022},
  year = {2022}
}"""
    CONFIGS = [
        Config(
            "dialogues",
            "a dialogue as published, by `dialogue_id`",
            {"train": [DATA]},
            key="dialogue_id",
            holds=holds,
            use="read",
        ),
        Config(
            "official_split",
            "the same, in upstream's random split and order",
            OFFICIAL,
            key="dialogue_id",
            use="compare with scores on this split",
        ),
        _view(
            "utterances",
            "a chat entry, deal actions included, with ConvoKit's ids",
            "study turns and deal actions",
            utterances,
            _turn_key,
        ),
        _view(
            "speakers",
            "a participant, by first appearance",
            "study participants",
            speakers,
            "speaker_id",
            shows={},
        ),
        _view(
            "participants",
            "one side of a dialogue; the two sides follow each other",
            "study outcomes, infer the partner's priorities",
            participants,
            _side_key,
            splits={"train": [DATA, GUESSING]},
            records=with_guesses,
            rejoin=guesses_again,
        ),
        _view(
            "strategies",
            "a labelled utterance with those before it, in the authors' 5 folds",
            "classify utterances",
            strategies,
            _turn_key,
            left_out={"train": {"dialogues": 634, "turns": 9682}},  # without annotation
        ),
        _view(
            "messages",
            "a dialogue as a chat, with one side as the assistant",
            "train a chat model",
            messages,
            _side_key,
        ),
        _view(
            "scenarios",
            "the setting of a dialogue, without the dialogue",
            "let agents negotiate anew",
            scenarios,
            "dialogue_id",
        ),
        Config(
            "priority_folds",
            "one of the 5 folds for the partner's priorities",
            {"train": [SEEDS]},
            records=folds,
            unjoin=unfolded,
            shape=FOLD,
            key="fold",
            use="infer the partner's priorities",
        ),
    ]
