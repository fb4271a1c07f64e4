"""The small files to damage, cut out of each dataset, and damage specific to a dataset.

Files are parsed and joined here in plain Python, independently of parley.
"""

import functools
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from damage import OfRecords, Records, Wound, at, pattern, pick, put
from mutations import nodes

Files = dict[str, Records]

# Forms of files ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Form:
    """How a file is read and written, and how errors name a record in it.

    Args:
        parse: Converts text to records.
        write: Converts records to text, each on its own line if possible.
        place: The text after the file's name, with the record's number from 0 and from 1.
        json: Whether records are JSON, so keys and types can be damaged.
    """

    parse: Callable[[str], Records]
    write: Callable[[Records], str]
    place: str
    json: bool = True


def plainly(text: str) -> Any:
    """Parse JSON strictly: no duplicate keys, no NaN."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a key stands twice")
        return dict(pairs)

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    return json.loads(text, object_pairs_hook=unique, parse_constant=refuse)


def lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")


def of_columns(line: str) -> dict[str, str]:
    columns = ("query_id", "iteration", "document_id", "relevance")
    return dict(zip(columns, line.split("\t"), strict=True))


def to_columns(judgment: dict[str, Any] | None) -> str:
    return "\t".join("" if value is None else str(value) for value in (judgment or {}).values())


def written(line: Callable[[Any], str]) -> Callable[[Records], str]:
    return lambda records: "".join(line(record) + "\n" for record in records)


LIST = Form(plainly, lambda records: "[\n" + ",\n".join(map(json.dumps, records)) + "\n]", "[{0}]")
ONE = Form(lambda text: [plainly(text)], lambda records: json.dumps(*records, indent=1), "")
LINES = Form(lambda text: [*map(plainly, lines(text))], written(json.dumps), ", line {1}")
TABLE = Form(
    lambda text: [*map(of_columns, lines(text))], written(to_columns), ", line {1}", json=False
)
TEXT = Form(lambda text: [text], lambda records: str(*records), "", json=False)


def sampled(values: list[Any], count: int, draw: Random) -> list[Any]:
    """Return a few of the values, in their order."""
    return [values[i] for i in sorted(draw.sample(range(len(values)), min(count, len(values))))]


# Damage that a dataset gives its meaning --------------------------------------------------


def places(records: Records, wanted: str) -> list[Any]:
    return [path for path, _ in nodes(records) if path and pattern(path) == wanted]


def unknown_label(*labels: str) -> OfRecords:
    def damage(records: Records, draw: Random) -> Wound | None:
        if path := pick(records, draw, lambda p, value: pattern(p) in labels and value is not None):
            old = at(records, path)
            new = ["purple", f"{old} ", f"{old}s"] if isinstance(old, str) else [type(old)(9), -1]
            put(records, path, draw.choice(new))
        return path and Wound(path)

    return damage


def changed(*fields: str) -> OfRecords:
    """Give a field a valid value that contradicts other fields."""

    def damage(records: Records, draw: Random) -> Wound | None:
        if path := pick(records, draw, lambda p, value: pattern(p) in fields and value is not None):
            old = at(records, path)
            put(records, path, f"{old}0" if isinstance(old, str) else old + draw.choice([-1, 1, 9]))
        return path and Wound(path)

    return damage


def same(field: str) -> OfRecords:
    """Copy a field's value from elsewhere in the file."""

    def damage(records: Records, draw: Random) -> Wound | None:
        found = places(records, field)
        if len(found) < 2:
            return None
        first, second = draw.sample(found, 2)
        put(records, second, at(records, first))
        return Wound(second, (first,))

    return damage


def exchanged(field: str, *keys: str) -> OfRecords:
    """Exchange two neighbours in a list, or some of their keys."""

    def damage(records: Records, draw: Random) -> Wound | None:
        found = [path for path in places(records, field) if path[-1] > 0]
        if not found:
            return None
        path = draw.choice(found)
        before = (*path[:-1], path[-1] - 1)
        one, other = at(records, path), at(records, before)
        for key in keys or {**one, **other}:
            values = one.pop(key, None), other.pop(key, None)
            for target, value in zip((other, one), values, strict=True):
                if value is not None:
                    target[key] = value
        return Wound((*path, *keys[:1]), ((*before, *keys[:1]),))

    return damage


Special = tuple[tuple[str, OfRecords], ...]


def of(files: str, *damages: OfRecords) -> Special:
    """Return damages with the pattern of the files that each is for."""
    return tuple((files, damage) for damage in damages)


class Subject(ABC):
    """A dataset to damage.

    Attributes:
        labels: Patterns of fields with a few allowed values.
        special: Kind of damage -> pattern of file names and function.
        whole: Patterns of fields checked as one; an error names no place inside them.
        ties: Pattern of file and field -> words by which an error may name a contradicted field.
        excluded: Special functions whose result no dialogue of the dataset can have.
        beside: Files read but not damaged.
    """

    labels: tuple[str, ...] = ()
    special: dict[str, Special] = {}
    whole: tuple[str, ...] = ()
    ties: tuple[tuple[str, str], ...] = ()
    excluded: tuple[OfRecords, ...] = ()
    beside: tuple[str, ...] = ()

    def form(self, file: str) -> Form:
        return LIST

    @functools.cache  # noqa: B019 the subjects live as long as the module
    def read(self, folder: Path, file: str) -> Records:
        return self.form(file).parse((folder / file).read_bytes().decode("utf-8"))

    def ids(self, record: Any) -> list[str]:
        """Return the ids by which an error may name a record."""
        return []

    @abstractmethod
    def cut(self, folder: Path, draw: Random) -> Files:
        """Return a few records of each existing file that build soundly."""

    def expected(self, config: str, files: Files) -> Records:
        """Return the records that the rows of a config must give back, for one split."""
        return [record for records in files.values() for record in records]


# CaSiNo -----------------------------------------------------------------------------------


def sides_exchanged(records: Records, draw: Random) -> Wound | None:
    record = draw.randrange(len(records))
    info = records[record]["participant_info"]
    info["mturk_agent_1"], info["mturk_agent_2"] = info["mturk_agent_2"], info["mturk_agent_1"]
    return Wound((record, "participant_info"))


def annotation_of_another(records: Records, draw: Random) -> Wound | None:
    if path := pick(records, draw, lambda path, _: pattern(path) == "annotations.*.*"):
        path = (*path[:-1], 0)
        put(records, path, at(records, path) + "?")
    return path and Wound(path)


def deal_of_the_other(records: Records, draw: Random) -> Wound | None:
    """Let the same side submit and answer a deal."""
    found = [
        (*path[:-1], path[-1] - 1)
        for path in places(records, "chat_logs.*")
        if at(records, path)["task_data"].get("data") in ("accept_deal", "reject_deal")
    ]
    if not found:
        return None
    path = draw.choice(found)
    put(records, (*path, "id"), at(records, (*path[:-1], path[-1] + 1))["id"])
    return Wound((*path, "id"))


SIDES = ("participant_info.mturk_agent_1", "participant_info.mturk_agent_2")
LABELLED = (  # of each side
    *("value2issue.High", "value2issue.Low", "outcomes.satisfaction", "personality.svo"),
    *("outcomes.opponent_likeness", "demographics.gender", "demographics.ethnicity"),
    "demographics.education",
)
wrong_points = changed(*(f"{side}.outcomes.points_scored" for side in SIDES))
wrong_shares = same("chat_logs.*.task_data.issue2youget.Food")


GUESSES = "opponent-modeling/casino_ix2guessing.json"
FOLDS = "opponent-modeling/data_splits_seeds.json"


class Casino(Subject):
    labels = (
        "chat_logs.*.id",
        "chat_logs.*.task_data.data",
        *(f"chat_logs.*.task_data.issue2youget.{i}" for i in ("Food", "Water", "Firewood")),
        *(f"{side}.{field}" for side in SIDES for field in LABELLED),
    )
    special = {
        "unknown label": of("^data", unknown_label(*labels), unknown_label("annotations.*.*")),
        "duplicate id": of("^data", same("dialogue_id")),
        "swapped speakers": of(
            "^data", exchanged("chat_logs.*", "id"), sides_exchanged, deal_of_the_other
        ),
        "broken reference": of(
            "^data", annotation_of_another, changed("chat_logs.*.text"), wrong_points, wrong_shares
        ),
    }
    excluded = (deal_of_the_other, annotation_of_another, wrong_points, wrong_shares)
    whole = ("annotations.*",)
    ties = (
        (" chat_logs", "chat_logs["),
        (" (chat_logs.*text|annotations)", "annotations["),
        (" (chat_logs.*(id|task_data)|participant_info)", "outcomes.points_scored"),
    )

    def form(self, file: str) -> Form:
        return LIST if file.startswith("data/") else ONE

    def cut(self, folder: Path, draw: Random) -> Files:
        chosen: set[int] = set()
        files: Files = {}
        for split, count in (("train", 2), ("valid", 1), ("test", 1)):
            file = f"data/split/casino_{split}.json"
            records = self.read(folder, file)
            if split == "train":  # so that one of them can lose its annotations
                records = [record for record in records if record["annotations"]]
            files[file] = sampled(records, count, draw)
            chosen.update(record["dialogue_id"] for record in files[file])
        records = self.read(folder, "data/casino.json")
        files["data/casino.json"] = [r for r in records if r["dialogue_id"] in chosen]
        (guesses,) = self.read(folder, GUESSES)
        files[GUESSES] = [{key: value for key, value in guesses.items() if int(key) in chosen}]
        (folds,) = self.read(folder, FOLDS)
        cut = {
            fold: {part: [n for n in ids if n in chosen] for part, ids in parts.items()}
            for fold, parts in folds["cvs"].items()
        }
        files[FOLDS] = [{**folds, "cvs": cut}]
        return files

    def expected(self, config: str, files: Files) -> Records:
        if config != "priority_folds":
            return super().expected(config, files)
        ((record,),) = files.values()
        return [
            {"fold": fold, "seeds": record["seeds"], **parts}
            for fold, parts in record["cvs"].items()
        ]


# CraigslistBargains -----------------------------------------------------------------------


def roles_exchanged(records: Records, draw: Random) -> Wound | None:
    record = draw.randrange(len(records))
    records[record]["scenario"]["kbs"].reverse()
    return Wound((record, "scenario", "kbs"))


class CraigslistBargains(Subject):
    labels = (
        "events.*.action",
        "events.*.agent",
        "events.*.metadata.intent",
        "outcome.reward",
        "scenario.category",
        "scenario.kbs.*.item.Category",
        "scenario.kbs.*.personal.Role",
    )
    special = {
        "unknown label": of("", unknown_label(*labels)),
        "duplicate id": of("", same("uuid")),
        "swapped speakers": of("", exchanged("events.*", "agent"), roles_exchanged),
        "broken reference": of(
            "",
            changed("events.*.agent"),
            changed("scenario_uuid", "scenario.uuid"),
            exchanged("events.*", "action"),
        ),
    }
    excluded = (roles_exchanged,)
    whole = ("scenario.attributes",)
    beside = ("price_tracker.pkl",)  # no text; tests/test_dialogue_acts.py damages it
    ties = ((" events.*action", "events["), (" scenario", "the key "))

    def ids(self, record: Any) -> list[str]:
        scenario = record.get("scenario") if isinstance(record, dict) else None
        found = scenario.get("uuid") if isinstance(scenario, dict) else None
        return [found] if isinstance(found, str) and found else []  # by which its row is named

    def cut(self, folder: Path, draw: Random) -> Files:
        return {
            file.name: sampled(self.read(folder, file.name), 3, draw)
            for file in sorted(folder.glob("*.json"))
        }


# CoSRec -----------------------------------------------------------------------------------


def markers_exchanged(records: Records, draw: Random) -> Wound | None:
    """Exchange the speakers of two neighbouring turns."""
    record = draw.randrange(len(records))
    ((key, text),) = records[record].items()
    turns = text.split("\n")
    place = draw.randrange(len(turns))
    for turn in (place - 1, place):
        other = {"U": "S", "S": "U"}.get(turns[turn][:1], turns[turn][:1])
        turns[turn] = other + turns[turn][1:]
    records[record][key] = "\n".join(turns)
    return Wound((record, key))


def marker_unknown(records: Records, draw: Random) -> Wound | None:
    record = draw.randrange(len(records))
    ((key, text),) = records[record].items()
    records[record][key] = draw.choice(["X", "", "u"]) + text[1:]
    return Wound((record, key))


def line_of_another(records: Records, draw: Random) -> Wound | None:
    """Give two lines one id."""
    if len(records) < 2:
        return None
    first, second = draw.sample(range(len(records)), 2)
    (key,), (value,) = records[first], records[second].values()
    records[second] = {key: value}
    return Wound((second, key), ((first, key),))


def line_of_none(records: Records, draw: Random) -> Wound | None:
    """Give a line an id unknown to other files."""
    record = draw.randrange(len(records))
    ((key, value),) = records[record].items()
    records[record] = {key + "0": value}
    return Wound((record, key))


def of_each_line(damage: Callable[..., OfRecords], *fields: str) -> OfRecords:
    """Damage a field below the id, which differs in each line."""

    def of_lines(records: Records, draw: Random) -> Wound | None:
        record = draw.randrange(len(records))
        (key,) = records[record]
        wound = damage(*(f"{key}.{field}" for field in fields))([records[record]], draw)
        if wound is None:
            return None
        path, *also = ((record, *path[1:]) for path in (wound.path, *wound.also))
        return Wound(path, tuple(also))

    return of_lines


def judgment_twice(records: Records, draw: Random) -> Wound | None:
    first, second = draw.sample(range(len(records)), 2)
    records[second] = dict(records[first])
    return Wound((second, "query id"))


def judgment_of_none(records: Records, draw: Random) -> Wound | None:
    """Name an unknown conversation, utterance, intent or kind of query."""
    record = draw.randrange(len(records))
    query_id = records[record]["query_id"]
    intent_id, mark, user = query_id.partition("#")
    changes = [f"x{query_id}", f"{intent_id}9{mark}{user}", intent_id if mark else f"{intent_id}#0"]
    records[record]["query_id"] = draw.choice(changes)
    return Wound((record, "query id"))


def conversation_of(judgment: dict[str, str]) -> str:
    return re.sub(r"_\d+_\d+(#.*)?$", "", judgment["query_id"])


other_utterance = of_each_line(changed, "*.utterance")
other_intent = of_each_line(changed, "*.intents.*.id")


class Cosrec(Subject):
    special = {
        "unknown label": (
            ("quality", of_each_line(unknown_label, "*.fluency", "*.coherence")),
            ("intents", of_each_line(unknown_label, "*.intents.*.type")),
            ("intent_a", of_each_line(unknown_label, "*.intent_annotations.*.*.type")),
            ("qrels", unknown_label("relevance", "iteration")),
            ("conversations", marker_unknown),
        ),
        "duplicate id": (
            ("jsonl", line_of_another),
            ("intent", of_each_line(same, "*.utterance")),
            ("intents", of_each_line(same, "*.intents.*.id")),
            ("qrels", judgment_twice),
        ),
        "swapped speakers": (("conversations", markers_exchanged),),
        "broken reference": (
            ("(crowd|curated).*jsonl", line_of_none),
            ("intent", other_utterance),
            ("intents", other_intent),
            ("qrels", judgment_of_none),
        ),
    }
    excluded = (line_of_none, other_intent, judgment_of_none)

    ties = (
        ("jsonl", "one id in each line"),
        ("jsonl", "a new id in each line"),
        ("(crowd|curated)", "an id that"),
        ("(conversations|intent).*jsonl", "].utterance: "),
        ("conversations", "turns that begin"),
        ("intents|qrels", "a query id"),
        ("intents", "].id: "),
        ("qrels", "query id, 0, document id and 0, 1 or 2"),
        ("qrels", "the key "),
    )

    def form(self, file: str) -> Form:
        return {"jsonl": LINES, "qrels": TABLE}.get(file.rsplit(".")[-1], TEXT)

    def ids(self, record: Any) -> list[str]:
        if not isinstance(record, dict):
            return []
        return [conversation_of(record)] if record.get("query_id") else list(record)

    def cut(self, folder: Path, draw: Random) -> Files:
        files: Files = {}
        for part, count in (("raw", 3), ("crowd", 3), ("curated", 2)):
            chosen: set[str] = set()
            for path in sorted((folder / "dataset" / part).glob("*.jsonl")):
                file = path.relative_to(folder).as_posix()
                records = self.read(folder, file)
                chosen = chosen or set().union(*sampled(records, count, draw))
                files[file] = [record for record in records if chosen >= record.keys()]
        judged: dict[str, Records] = {}
        for judgment in self.read(folder, "dataset/curated/qrels.qrels"):
            judged.setdefault(judgment["query_id"], []).append(judgment)
        files["dataset/curated/qrels.qrels"] = [
            judgment
            for judgments in judged.values()
            for judgment in judgments[:2]
            if conversation_of(judgment) in chosen
        ]
        for path in sorted((folder / "prompts").iterdir()):
            file = path.relative_to(folder).as_posix()
            files[file] = self.read(folder, file)
        return {file: records for file, records in files.items() if records}

    def expected(self, config: str, files: Files) -> Records:
        if config in ("crowd", "curated"):
            return list(self._joined(files))
        if config == "prompts":
            return [{"name": Path(f).stem, "text": text} for f, (text,) in files.items()]
        if config == "qrels":
            return [to_columns(record) for record in super().expected(config, files)]
        return super().expected(config, files)

    def _joined(self, files: Files) -> Iterator[dict[str, Any]]:
        by_name = {
            Path(file).stem: {key: value for record in records for key, value in record.items()}
            for file, records in files.items()
        }
        for key in by_name["conversations"]:
            found = {name: values[key] for name, values in by_name.items() if key in values}
            yield {"dialogue_id": key, **found}


# DUO --------------------------------------------------------------------------------------


def other_name(records: Records, draw: Random) -> Wound | None:
    """Use the dialogue id of another file."""
    old = records[0]["dialogue_id"]
    records[0]["dialogue_id"] = "0000" if isinstance(old, str) else 2000
    return Wound((0, "dialogue_id"))


def other_begins(records: Records, draw: Random) -> Wound | None:
    """Exchange the first two messages."""
    one, other = records[0]["dialogue"][:2]
    one["message"], other["message"] = other["message"], one["message"]
    one["message_id"], other["message_id"] = other["message_id"], one["message_id"]
    records[0]["dialogue"][:2] = other, one
    return Wound((0, "dialogue", 0, "speaker"))


other_ids = changed("dialogue.*.user_id", "dialogue.*.system_id")
other_mean = changed("objective_evaluation.preference", "objective_evaluation.consistency")
other_place = changed("dialogue_id")
other_order = changed("dialogue.*.message_id")
ASPECTS = ("preference", "stylistic_similarity", "consistency", "empathy", "engagingness")


class Duo(Subject):
    labels = (
        "setting",
        "model",
        "prompt",
        "emotion",
        "dialogue.*.speaker",
        "subjective_evaluation.preference",
        "subjective_evaluation.consistency",
        "objective_evaluation.preference_scores.*",
    )
    special = {
        "unknown label": of("", unknown_label(*labels)),
        "duplicate id": of("", other_name, same("dialogue.*.message_id")),
        "swapped speakers": of(
            "",
            exchanged("dialogue.*", "speaker"),
            exchanged("dialogue.*", "speaker", "user_id", "system_id"),
            exchanged("dialogue.*"),
            other_begins,
        ),
        "broken reference": of("", other_ids, other_mean, other_place, other_order),
    }
    excluded = (other_begins, other_ids, other_mean, other_place, other_order)
    whole = tuple(f"objective_evaluation.{aspect}_scores" for aspect in ASPECTS)
    ties = ((" dialogue(_id)?$", "the dialogue_id"), (" dialogue", "dialogue["))

    def form(self, file: str) -> Form:
        return ONE

    def cut(self, folder: Path, draw: Random) -> Files:
        return {
            path.relative_to(folder).as_posix(): self.read(folder, str(path))
            for source in ("ed/en", "ed/ja", "wow/en", "wow/ja")
            for path in sampled(sorted((folder / source).iterdir()), 2, draw)
        }


SUBJECTS: dict[str, Subject] = {
    "casino": Casino(),
    "cosrec": Cosrec(),
    "craigslist_bargains": CraigslistBargains(),
    "duo": Duo(),
}
