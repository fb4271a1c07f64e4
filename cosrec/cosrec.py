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

from parley import Builder, Checked, Config, Converted, File, View

# `datasets` 2 and 3 copy only the modules that the script itself imports.
from .rows import (
    to_annotated_record,
    to_annotated_row,
    to_columns,
    to_judgment_record,
    to_judgment_row,
    to_record,
    to_row,
    to_turns,
)
from .views import ASPECTS, FEATURES, TYPE, intent_labels, messages, queries

# The shape of a record upstream ----------------------------------------------------------

# Ids are of visible ASCII; "#<user index>" ends a recommendation's query id; passages have # too.
_judgment = re.compile(r'[!-"$-~]+(#[0-4])?\t0\t[!-~]+\t[012]')


def judgment(line: str) -> None:
    """Check a line of the qrels, without its newline."""
    if not _judgment.fullmatch(line):
        raise ValueError("query id, 0, document id and 0, 1 or 2, with tabs between")


_text = Checked(str, to_turns)
_annotation = {"type": set(TYPE.names), "query": str}
_intent = (
    {"id": str, "type": {"product_details"}, "product": str, "query_variants": [str]},
    {"id": str, "type": {"search", "recommendation"}, "query_variants": [str]},
)
HELD: dict[str, Any] = {  # by each file for a conversation
    "conversations": _text,
    "quality": [{aspect: {1, 2, 3, 4, 5} for aspect in ASPECTS}],
    "intent_annotations": [{"utterance": int, "intent_annotations": [[_annotation]]}],
    "intents": [{"utterance": int, "intents": [_intent]}],
    "keywords": {str: [str]},
    "profiles": {str: str},
}
_dialogue = {"dialogue_id": str, "turns": [{"role": str, "text": str}]}
_user = {"user_id": str, "keywords": [str], "profile": (str, None)}

LINES: dict[str, Any] = {name: {str: shape} for name, shape in HELD.items()}
LINES["conversations"] = Converted({str: _text}, _dialogue, to_row, to_record, to_columns)
LINES["qrels"] = Converted(
    Checked(str, judgment),
    {"query_id": str, "document_id": str, "relevance": int, "type": TYPE},
    to_judgment_row,
    to_judgment_record,
)


def require_one_id(line: dict[str, Any]) -> None:
    """Raise ValueError unless a line is of one conversation."""
    if len(line) != 1:
        raise ValueError(f"expected one id in each line, found {', '.join(line)[:80] or 'none'}")


# Where the files come from --------------------------------------------------------------

_URL = "https://raw.githubusercontent.com/CAMEO-22/CoSRec/d2f238d8c172bd7f0954a4394699de1e5b823b8a/"

# git blob, size in bytes ("-": not known), path
_FILES = """\
45281583ced1aca07ce365a2d6e33c8343f97a53 748706 dataset/crowd/conversations.jsonl
afc2e1ec8ecbf5b9344a5c72cb2eb348fce14568 992560 dataset/crowd/intent_annotations.jsonl
cf994005cc3d4b1cdaff0f146fbd63724e1120e1  45874 dataset/crowd/keywords.jsonl
83b1e3da297b153bcedb0badef9d9e9c697694c7 178289 dataset/crowd/profiles.jsonl
4a3fa4c29f9acc2f9698c64976ff3e012e087a3a 104423 dataset/crowd/quality.jsonl
ef9012cac0d06be7ab80f4f3de91ffa73162530f  47782 dataset/curated/conversations.jsonl
11b02543b48623b31e9c82fe59f56dcaa7fde8f8  43327 dataset/curated/intents.jsonl
1badb25500ae0c231fda18c2dbf659740ada26ff   4477 dataset/curated/keywords.jsonl
ce589ec1c6ad22442776129f22cf979aea2e07f8  14827 dataset/curated/profiles.jsonl
0ccb479be89d4eb53d4b11e1dc33c510577d9527 744807 dataset/curated/qrels.qrels
2974f0143ce2715231b8b3079f4b98d9a9e8942c   7145 dataset/curated/quality.jsonl
aebbcffc08ea96c0b61e12917a73b7c366e3bf39      - dataset/raw/conversations.jsonl
42ca8481005c028c8fc9251663595437493e4886   2828 prompts/conversation_generation_prompt.txt
956d798615b721a313b8a70a2538b95a1a57d873    592 prompts/product_to_query_prompt.txt
dfebaa5fbae9c365789686178cdb16dbb0a21f1b   1256 prompts/user_keywords_prompt.txt
76843cd65fec38ce54888c750060a91cc70e0f3f    793 prompts/user_summary_prompt.txt
"""


FILES = {
    PurePosixPath(path): File(
        path,
        LINES.get(PurePosixPath(path).stem, str),  # a prompt is text
        url=_URL + path,
        git_blob=blob,
        size=None if size == "-" else int(size),
        read="lines" if path.endswith(".qrels") else "",
        validate=require_one_id if path.endswith(".jsonl") else None,
    )
    for blob, size, path in map(str.split, _FILES.splitlines())
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


def _annotated(part: str, about: str, listed: str) -> Config:
    """Return the config of a part's conversations with all annotation."""
    held = {f"{name}?": HELD[name] for name in ("quality", listed, "keywords", "profiles")}
    record = {"dialogue_id": str, "conversations": _text, **held}
    columns = {"ratings?": HELD["quality"], f"{listed}?": HELD[listed], "users?": [_user]}
    shape = Converted(record, _dialogue | columns, to_annotated_row, to_annotated_record)
    files = splits([part], *HELD)
    return Config(part, about, files, records=joined, shape=shape, key="dialogue_id")


def _view(name: str, about: str, files: Any, rows: Any, key: Any) -> View:
    return View(name, about, files, records=joined, rows=rows, features=FEATURES[name], key=key)


class Cosrec(Builder):
    """9,249 English conversations: a user looks for a product, a system searches and recommends.

    Llama 3.1 8B wrote them. 311 have human ratings and intents, 20 of them also 17,464 judgments.
    """

    VERSION = "1.1.0"
    HOMEPAGE = "https://github.com/CAMEO-22/CoSRec"
    LICENSE = "unknown"
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
            "all conversations, in turns",
            splits(PARTS, "conversations"),
            key="dialogue_id",
        ),
        _annotated("crowd", "conversations with every annotator's intents", "intent_annotations"),
        _annotated("curated", "conversations with reviewed intents", "intents"),
        Config(
            "qrels",
            "relevance judgments, one a row",
            splits(["curated"], "qrels"),
            key=("query_id", "document_id"),
        ),
        Config(
            "prompts",
            "prompts that generated the data",
            {"prompts": [file for file in FILES.values() if file.read == "text"]},
            records=prompts,
            shape={"name": str, "text": str},
            key="name",
        ),
        _view(
            "queries",
            "judged queries, one a row",
            splits(["curated"], "conversations", "intents", "qrels"),
            queries,
            "query_id",
        ),
        _view(
            "intent_labels",
            "intents, each with its context",
            splits(["crowd", "curated"], "conversations", "intent_annotations", "intents"),
            intent_labels,
            ("dialogue_id", "utterance", "annotator", "index"),
        ),
        _view(
            "messages",
            "conversations as chats",
            splits(PARTS, "conversations", "quality"),
            messages,
            "dialogue_id",
        ),
    ]
