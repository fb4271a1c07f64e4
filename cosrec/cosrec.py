r"""CoSRec: 9,249 conversations, written by a language model, in which a user looks for a product.

Published by the CAMEO project (Alessio et al., SIGIR 2025) in three parts: raw; crowd, with ratings
and intents of several annotators; curated, with reviewed intents and relevance judgments. A line of
a JSONL file is an object with one key, the id of its conversation (invented, shortened):

    conversations       {"CoSRec-Curated_0": "U: My desk lamp flickers. Why?\nS: Is it an LED?"}
    quality             {"CoSRec-Curated_0": [{"fluency": 5, "coherence": 4, ...}, ...]}
    intents             {"CoSRec-Curated_0": [{"utterance": 0, "intents": [
                          {"id": "CoSRec-Curated_0_0_0", "type": "search",
                           "query_variants": ["why do desk lamps flicker"]}]}]}
    intent_annotations  {"CoSRec-Crowd_0": [{"utterance": 0, "intent_annotations": [
                          [{"type": "search", "query": "why do lamps flicker"}], [], ...]}]}
    keywords            {"CoSRec-Curated_0": {"A0USER": ["bright", "cheap"]}}
    profiles            {"CoSRec-Curated_0": {"A0USER": "Reads at night."}}

A row is a conversation cut into turns, with the values of the other files for its id. Missing
values of a conversation or a user are null.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from parley import Builder, Checked, Config, Converted, Data, Field, File, View

# `datasets` 2 and 3 copy only the modules that the script itself imports.
from .pins import PINS
from .rows import (
    TYPES,
    to_annotated_record,
    to_annotated_row,
    to_columns,
    to_judgment_record,
    to_judgment_row,
    to_record,
    to_row,
    to_turns,
)
from .views import ASPECTS, FEATURES, intent_labels, messages, queries, shared

# The shape of a record upstream ----------------------------------------------------------

# Ids are of visible ASCII; "#<user index>" ends a recommendation's query id; passages have # too.
_judgment = re.compile(r'[!-"$-~]+(#[0-4])?\t0\t[!-~]+\t[012]')


def judgment(line: str) -> None:
    """Check a line of the qrels, without its newline."""
    if not _judgment.fullmatch(line):
        raise ValueError("query id, 0, document id and 0, 1 or 2, with tabs between")


_text = Checked(str, to_turns)
_type = "the type of the intent (see Annotation in the card)"
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
HELD: dict[str, Any] = {  # by each file for a conversation
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
_dialogue = {
    **shared("dialogue_id"),
    "turns": Field([shared("role", "text")], "the conversation, in order"),
}
_user = {
    "user_id": Field(str, "upstream's id of the user"),
    "keywords": Field([str], "the user's interests, words or phrases; a few are empty"),
    "profile": Field((str, None), "a summary of the user; null for some users of crowd"),
}

LINES: dict[str, Any] = {name: {str: shape} for name, shape in HELD.items()}
LINES["conversations"] = Converted({str: _text}, _dialogue, to_row, to_record, to_columns)
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


# The files ------------------------------------------------------------------------------

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


# Records of several files ---------------------------------------------------------------


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


# The dataset ----------------------------------------------------------------------------


def _annotated(part: str, description: str, use: str, listed: str) -> Config:
    """Return the config of a part's conversations with all annotation."""
    held = {f"{name}?": HELD[name] for name in ("quality", listed, "keywords", "profiles")}
    users = Field([_user], "the users considered for the conversation; null without any")
    columns = {"ratings?": HELD["quality"], f"{listed}?": HELD[listed], "users?": users}
    shape = Converted(
        {"dialogue_id": str, "conversations": _text, **held},
        _dialogue | columns,
        to_annotated_row,
        to_annotated_record,
    )
    files = splits([part], *HELD)
    paths = {PurePosixPath(file.path).stem: file.path for file in files[part]}

    def unjoined(records: Iterable[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the line of each file for each conversation: the inverse of `joined`."""
        for record in records:
            for name in record.keys() - {"dialogue_id"}:
                yield paths[name], {record["dialogue_id"]: record[name]}

    return Config(
        part,
        description,
        files,
        records=joined,
        unjoin=unjoined,
        shape=shape,
        key="dialogue_id",
        use=use,
    )


def holds(row: dict[str, Any]) -> tuple[int, Iterable[str]]:
    """Return the number of a conversation's turns, and who speaks."""
    return len(row["turns"]), {turn["role"] for turn in row["turns"]}


def _view(
    name: str, description: str, rows: Any, use: str, files: Any, *key: str, **more: Any
) -> View:
    more |= {"of": "dialogues", "records": joined, "rejoin": joined_again}
    features = FEATURES[name]
    return View(name, description, files, rows=rows, features=features, key=key, use=use, **more)


class Cosrec(Builder):
    """9,249 English conversations: a user looks for a product, a system searches and recommends.

    Llama 3.1 8B wrote them. 311 have human ratings and intents, 20 of them also 17,464 judgments.
    """

    VERSION = "1.1.0"
    HOMEPAGE = "https://github.com/CAMEO-22/CoSRec"
    LICENSE = "unknown"
    LANGUAGES = ("en",)
    SHOWN = "curated"
    CITATION = """\
@inproceedings{alessio2025cosrec,
  title = {{CoSRec}: A Joint Conversational Search and Recommendation Dataset},
  author = {Alessio, Marco and Merlo, Simone and Di Noia, Tommaso and Faggioli, Guglielmo and \
Ferrante, Marco and Ferro, Nicola and Muntean, Cristina Ioana and Nardini, Franco Maria and \
Narducci, Fedelucio and Perego, Raffaele and Santucci, Giuseppe and Viterbo, N.},
  booktitle = {Proceedings of the 48th International ACM SIGIR Conference on \
Research and Development in Information Retrieval},
  year = {2025},
  url = {https://github.com/CAMEO-22/CoSRec}
}"""
    CONFIGS = [
        Config(
            "dialogues",
            "a conversation, in turns",
            splits(PARTS, "conversations"),
            key="dialogue_id",
            holds=holds,
            use="read",
        ),
        _annotated(
            "crowd",
            "a conversation with every annotator's intents",
            "study annotators and users",
            "intent_annotations",
        ),
        _annotated(
            "curated", "a conversation with reviewed intents", "study intents and users", "intents"
        ),
        Config(
            "qrels",
            "a relevance judgment",
            splits(["curated"], "qrels"),
            key=("query_id", "document_id"),
            use="evaluate retrieval",
        ),
        Config(
            "prompts",
            "a prompt that generated the data",
            {"prompts": [file for file in FILES.values() if file.read == "text"]},
            records=prompts,
            unjoin=unprompted,
            shape={
                "name": Field(str, "the name of the file, without `.txt`"),
                "text": Field(str, "the exact text, with the placeholders in braces"),
            },
            key="name",
            use="see how the data was made",
        ),
        _view(
            "queries",
            "a judged query with its judgments",
            queries,
            "search and recommend",
            splits(["curated"], "conversations", "intents", "qrels"),
            "query_id",
            shows={"dialogues": "dialogue_id", "turns": "turn"},
            left_out={"curated": {"turns": 202}},  # not judged
        ),
        _view(
            "intent_labels",
            "an intent with its turn and the turns before",
            intent_labels,
            "classify",
            splits(["crowd", "curated"], "conversations", "intent_annotations", "intents"),
            *("dialogue_id", "utterance", "annotator", "index"),
            left_out={"crowd": {"turns": 2554}, "curated": {"turns": 170}},  # without intents
        ),
        _view(
            "messages",
            "a conversation as a chat",
            messages,
            "train a chat model",
            splits(PARTS, "conversations", "quality"),
            "dialogue_id",
        ),
    ]
