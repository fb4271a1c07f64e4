"""CoSRec's records: their shapes, the files that hold them, and how several files join."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from parley import Checked, Converted, Data, Field, File

from .pins import PINS
from .rows import TYPE, TYPES, to_judgment_record, to_judgment_row, to_record, to_row, to_turns

ASPECTS = ("coherence", "logicality", "informativeness", "fluency")

_STANDALONE = "the intent as a query that stands alone"
_FIELDS: dict[str, Field] = {  # that several configs have
    "dialogue_id": Field(str, "upstream's id of the conversation, the same in all configs"),
    "turn": Field(int, "the place in `turns` of the conversation, from 0"),
    "utterance": Field(int, "the turn's place among the user's turns, from 0"),
    "role": Field({"user", "assistant"}, "who speaks"),
    "text": Field(str, "the text, without the marker and the space after it"),
    "type": Field(TYPE, "the type of the intent, by what the user does"),
    "query": Field(str, _STANDALONE),
    "query_variants": Field([str], f"{_STANDALONE}; upstream calls the longest canonical"),
    "product": Field(
        (str, None),
        "the product that `product_details` asks about; null of other types, and in crowd",
    ),
    "query_id": Field(str, "an intent's id; for a recommendation `<intent id>#<user index>`"),
    "document_id": Field(
        str, "a passage of MS MARCO v2.1 for a search, a `parent_asin` for a recommendation"
    ),
    "relevance": Field(int, "0 not, 1 partially, 2 highly relevant"),
}


def shared(*names: str) -> dict[str, Any]:
    """Return fields that several configs have, by their names."""
    return {name: _FIELDS[name] for name in names}


# Ids are of visible ASCII; "#<user index>" ends a recommendation's query id; passages have # too.
_judgment = re.compile(r'[!-"$-~]+(#[0-4])?\t0\t[!-~]+\t[012]')


def judgment(line: str) -> None:
    """Check a line of the qrels, without its newline."""
    if not _judgment.fullmatch(line):
        raise ValueError("query id, 0, document id and 0, 1 or 2, with tabs between")


_text = Checked(str, to_turns)
_type = "the type of the intent, as in `qrels`"
_seen = {"type": Field(set(TYPES), _type), **shared("query")}
_intent = {
    "id": Field(str, "the intent's id, `<dialogue_id>_<utterance>_<counter>`"),
    "type": Field({"search", "recommendation"}, _type),
    **shared("query_variants"),
}
_about_product = {
    "id": _intent["id"],
    "type": Field({"product_details"}, _type),
    "product": Field(str, "the product asked about; null for other types"),
    **shared("query_variants"),
}
_annotated_utterance = {
    **shared("utterance"),
    "intent_annotations": Field([[_seen]], "a list for each annotator, of the intents seen"),
}
_reviewed_utterance = {
    **shared("utterance"),
    "intents": Field([(_about_product, _intent)], "its reviewed intents"),
}
VALUES: dict[str, Any] = {  # by each file for a conversation
    "conversations": _text,
    "quality": Field(
        [{aspect: Field({1, 2, 3, 4, 5}, f"the rating of {aspect}") for aspect in ASPECTS}],
        "the ratings, one for each rater; null without any",
    ),
    "intent_annotations": Field(
        [_annotated_utterance], "the annotated utterances, in upstream's order; null without any"
    ),
    "intents": Field(
        [_reviewed_utterance], "the utterances with intents, in upstream's order; null without any"
    ),
    "keywords": {str: [str]},
    "profiles": {str: str},
}
DIALOGUE = {
    **shared("dialogue_id"),
    "turns": Field([shared("role", "text")], "the conversation, in order"),
}
USER = {
    "user_id": Field(str, "upstream's id of the user"),
    "keywords": Field([str], "the user's interests, words or phrases; a few are empty"),
    "profile": Field((str, None), "a summary of the user; null for some users of crowd"),
}

LINES: dict[str, Any] = {name: {str: shape} for name, shape in VALUES.items()}
LINES["conversations"] = Converted({str: _text}, DIALOGUE, to_row, to_record)
LINES["qrels"] = Converted(
    Checked(str, judgment),
    shared("query_id", "document_id", "relevance", "type"),
    to_judgment_row,
    to_judgment_record,
)


def require_one_id(line: dict[str, Any]) -> None:
    """Raise ValueError unless a line is of one conversation."""
    if len(line) != 1:
        raise ValueError(f"expected one id in each line, found {', '.join(line)[:80] or 'none'}")


FILES = {
    PurePosixPath(path): File(
        path,
        LINES.get(PurePosixPath(path).stem, str),  # a prompt is text
        read="lines" if path.endswith(".qrels") else "",
        validate=require_one_id if path.endswith(".jsonl") else None,
        **pin,
    )
    for path, pin in PINS.items()
}
PARTS = ("raw", "crowd", "curated")


def splits(folders: Iterable[str], *names: str) -> dict[str, list[File]]:
    """Return the files of these names in each folder; folders name the splits."""
    found: dict[str, list[File]] = {folder: [] for folder in folders}
    for at, file in FILES.items():
        if at.parent.name in found and at.stem in names:
            found[at.parent.name].append(file)
    return found


def prompts(sources: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Yield each prompt with its name."""
    for path, texts in sources.items():
        for text in texts:
            yield {"name": PurePosixPath(path).stem, "text": text}


def unprompted(records: Iterable[dict[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield each prompt with its file: the inverse of `prompts`."""
    paths = {at.stem: str(at) for at, file in FILES.items() if file.read == "text"}
    for record in records:
        yield paths[record["name"]], record["text"]


def joined(sources: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each conversation with the values of all files for its id, by the names of the files.

    Raises ValueError for a repeated id or a broken reference between files.
    """
    paths = {PurePosixPath(path).stem: path for path in sources}
    held: dict[str, dict[str, Any]] = {name: {} for name in paths}
    for name, found in held.items():
        for line in sources[paths[name]]:
            if name == "qrels":  # of a conversation <id>, query ids are <id>_<utterance>_<index>
                intent_id = re.split("[#\t]", line)[0]
                found.setdefault(intent_id.rsplit("_", 2)[0], []).append(line)
                continue
            ((dialogue_id, value),) = line.items()
            if dialogue_id in found:
                raise ValueError(f"expected a new id in each line, found {dialogue_id}")
            found[dialogue_id] = value
    for name, found in held.items():
        for unknown in (each for each in found if each not in held["conversations"]):
            expected = f"an id that {paths['conversations']} has"
            raise ValueError(f"{paths[name]}: {unknown}: expected {expected}")
    for dialogue_id in held["conversations"]:
        parts = {name: found[dialogue_id] for name, found in held.items() if dialogue_id in found}
        record = {"dialogue_id": dialogue_id, **parts}
        for name, field, expected, wrong in broken_references(record):
            where = f"{paths[name]}: {dialogue_id}{field}"
            raise ValueError(f"{where}: expected {expected}, found {wrong:.80}")
        yield record


# part -> the configs that its records are made from; each has a split of its name
_CONFIGS = {"raw": ("dialogues",), "crowd": ("crowd",), "curated": ("curated", "qrels")}


def joined_again(data: Data, part: str) -> list[dict[str, Any]]:
    """Return the same records from the rows of a build; none if a part was not built whole."""
    if not all(part in data.splits(config) for config in _CONFIGS[part]):
        return []
    config = _CONFIGS[part][0]
    found = [data.record(config, row) for row in data.rows(config, part)]
    if part == "raw":
        return [{"dialogue_id": k, "conversations": v} for line in found for k, v in line.items()]
    judged: dict[str, list[str]] = {}
    for row in data.rows("qrels", part) if part == "curated" else ():
        dialogue_id = row["query_id"].partition("#")[0].rsplit("_", 2)[0]
        judged.setdefault(dialogue_id, []).append(data.record("qrels", row))
    return [record | {"qrels": judged.get(record["dialogue_id"], [])} for record in found]


def broken_references(record: dict[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Yield (file, field, expected, found) of each broken reference between files."""
    for one, other in (("keywords", "profiles"), ("profiles", "keywords")):
        if one in record and other not in record:
            yield one, "", f"no line, as in {other}.jsonl", "one"
    for user_id in sorted(record.get("profiles", {}).keys() - record.get("keywords", {}).keys()):
        yield "profiles", f".{user_id}", "a user that keywords.jsonl has", "another"
    types: dict[str, str] = {}  # of intents, by their ids
    count = f"\n{record['conversations']}".count("\nU:")
    for name in ("intent_annotations", "intents"):
        due = set(range(count))
        for number, entry in enumerate(record.get(name, ())):
            utterance, field = entry["utterance"], f"[{number}].utterance"
            if not 0 <= utterance < count:
                expected = f"0 to {count - 1}, an utterance of the user in conversations.jsonl"
                yield name, field, expected, str(utterance)
            elif utterance not in due:
                yield name, field, "each utterance once", str(utterance)
            due -= {utterance}
            for index, intent in enumerate(entry.get("intents", ())):
                due_id = f"{record['dialogue_id']}_{utterance}_{index}"
                types[due_id] = intent["type"]
                if intent["id"] != due_id:
                    yield name, f"[{number}].intents[{index}].id", due_id, intent["id"]
    for line in record.get("qrels", ()):
        query_id = line.split("\t")[0]
        intent_id, _, user_index = query_id.partition("#")
        due_type = "recommendation" if user_index else "search"
        if types.get(intent_id) != due_type:
            yield "qrels", "", f"a query id of a {due_type} intent in intents.jsonl", query_id
