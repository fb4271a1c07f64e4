"""The small files to damage, cut out of each dataset.

Files are parsed and joined here in plain Python, independently of parley.
"""

import functools
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

# Forms of files ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Form:
    """How a file is read and written, and how errors name a record in it."""

    parse: Callable
    write: Callable  # each record on its own line if possible
    place: str  # the text after the file's name, with the record's number from 0 and from 1
    json: bool = True  # else only its text can be damaged


def plainly(text):
    """Parse JSON strictly: no duplicate keys, no NaN."""

    def unique(pairs):
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a key stands twice")
        return dict(pairs)

    def refuse(constant):
        raise ValueError(constant)

    return json.loads(text, object_pairs_hook=unique, parse_constant=refuse)


def lines(text):
    return text.removesuffix("\n").split("\n")


def of_columns(line):
    columns = ("query_id", "iteration", "document_id", "relevance")
    return dict(zip(columns, line.split("\t"), strict=True))


def to_columns(judgment):
    return "\t".join("" if value is None else str(value) for value in (judgment or {}).values())


def written(line):
    return lambda records: "".join(line(record) + "\n" for record in records)


LIST = Form(plainly, lambda records: "[\n" + ",\n".join(map(json.dumps, records)) + "\n]", "[{0}]")
ONE = Form(lambda text: [plainly(text)], lambda records: json.dumps(*records, indent=1), "")
LINES = Form(lambda text: [*map(plainly, lines(text))], written(json.dumps), ", line {1}")
TABLE = Form(
    lambda text: [*map(of_columns, lines(text))], written(to_columns), ", line {1}", json=False
)
TEXT = Form(lambda text: [text], lambda records: str(*records), "", json=False)


def sampled(values, count, draw):
    """Return a few of the values, in their order."""
    return [values[i] for i in sorted(draw.sample(range(len(values)), min(count, len(values))))]


class Subject:
    """A dataset to damage: its `cut` are a few records of each existing file that build soundly."""

    whole = ()  # patterns of fields whose errors name no place inside them
    ties = ()  # file and field -> words that name a contradicted field
    beside = ()  # files read but not damaged

    def form(self, file):
        return LIST

    @functools.cache  # noqa: B019 the subjects live as long as the module
    def read(self, folder, file):
        return self.form(file).parse((folder / file).read_bytes().decode("utf-8"))

    def ids(self, record):
        """Return the ids by which an error may name a record."""
        return []

    def expected(self, config, files):
        """Return the records that the rows of a config must give back, for one split."""
        return [record for records in files.values() for record in records]


# CaSiNo -----------------------------------------------------------------------------------


GUESSES = "opponent-modeling/casino_ix2guessing.json"
FOLDS = "opponent-modeling/data_splits_seeds.json"


class Casino(Subject):
    whole = ("annotations.*",)
    ties = (
        (" chat_logs", "chat_logs["),
        (" (chat_logs.*text|annotations)", "annotations["),
        (" (chat_logs.*(id|task_data)|participant_info)", "outcomes.points_scored"),
    )

    def form(self, file):
        return LIST if file.startswith("data/") else ONE

    def cut(self, folder, draw):
        chosen = set()
        files = {}
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

    def expected(self, config, files):
        if config != "priority_folds":
            return super().expected(config, files)
        ((record,),) = files.values()
        return [
            {"fold": fold, "seeds": record["seeds"], **parts}
            for fold, parts in record["cvs"].items()
        ]


# CraigslistBargains -----------------------------------------------------------------------


class CraigslistBargains(Subject):
    whole = ("scenario.attributes",)
    beside = ("price_tracker.pkl",)  # no text; tests/test_dialogue_acts.py damages it
    ties = ((" events.*action", "events["), (" scenario", "the key "))

    def ids(self, record):
        scenario = record.get("scenario") if isinstance(record, dict) else None
        found = scenario.get("uuid") if isinstance(scenario, dict) else None
        return [found] if isinstance(found, str) and found else []  # by which its row is named

    def cut(self, folder, draw):
        return {
            file.name: sampled(self.read(folder, file.name), 3, draw)
            for file in sorted(folder.glob("*.json"))
        }


# CoSRec -----------------------------------------------------------------------------------


def conversation_of(judgment):
    return re.sub(r"_\d+_\d+(#.*)?$", "", judgment["query_id"])


class Cosrec(Subject):
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

    def form(self, file):
        return {"jsonl": LINES, "qrels": TABLE}.get(file.rsplit(".")[-1], TEXT)

    def ids(self, record):
        if not isinstance(record, dict):
            return []
        return [conversation_of(record)] if record.get("query_id") else list(record)

    def cut(self, folder, draw):
        files = {}
        for part, count in (("raw", 3), ("crowd", 3), ("curated", 2)):
            chosen = set()
            for path in sorted((folder / "dataset" / part).glob("*.jsonl")):
                file = path.relative_to(folder).as_posix()
                records = self.read(folder, file)
                chosen = chosen or set().union(*sampled(records, count, draw))
                files[file] = [record for record in records if chosen >= record.keys()]
        judged = {}
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

    def expected(self, config, files):
        if config in ("crowd", "curated"):
            return list(self._joined(files))
        if config == "prompts":
            return [{"name": Path(f).stem, "text": text} for f, (text,) in files.items()]
        if config == "qrels":
            return [to_columns(record) for record in super().expected(config, files)]
        return super().expected(config, files)

    def _joined(self, files):
        by_name = {
            Path(file).stem: {key: value for record in records for key, value in record.items()}
            for file, records in files.items()
        }
        for key in by_name["conversations"]:
            found = {name: values[key] for name, values in by_name.items() if key in values}
            yield {"dialogue_id": key, **found}


# DUO --------------------------------------------------------------------------------------


ASPECTS = ("preference", "stylistic_similarity", "consistency", "empathy", "engagingness")


class Duo(Subject):
    whole = tuple(f"objective_evaluation.{aspect}_scores" for aspect in ASPECTS)
    ties = ((" dialogue(_id)?$", "the dialogue_id"), (" dialogue", "dialogue["))

    def form(self, file):
        return ONE

    def cut(self, folder, draw):
        return {
            path.relative_to(folder).as_posix(): self.read(folder, str(path))
            for source in ("ed/en", "ed/ja", "wow/en", "wow/ja")
            for path in sampled(sorted((folder / source).iterdir()), 2, draw)
        }


SUBJECTS = {
    "casino": Casino(),
    "cosrec": Cosrec(),
    "craigslist_bargains": CraigslistBargains(),
    "duo": Duo(),
}
