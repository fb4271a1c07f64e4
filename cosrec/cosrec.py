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

A row is a conversation cut into turns, with what the other files hold for its id. What a file does
not have for a conversation or a user is null in the row.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

import datasets
import jsonlines

from .rows import (
    TYPES,
    broken_references,
    to_crowd_record,
    to_crowd_row,
    to_curated_record,
    to_curated_row,
    to_judgment_record,
    to_judgment_row,
    to_record,
    to_row,
    to_turns,
)
from .views import ASPECTS, VIEW_FEATURES, VIEWS, Rows

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

SOURCES: dict[str, dict[str, Any]] = {
    path: {"url": _URL + path, "git_blob": blob} | ({} if size == "-" else {"size": int(size)})
    for blob, size, path in map(str.split, _FILES.splitlines())
}


def _sources(folder: str, *endings: str) -> tuple[str, ...]:
    return tuple(path for path in SOURCES if path.startswith(folder) and path.endswith(endings))


# config -> split -> the sources it is made from
SPLITS: dict[str, dict[str, tuple[str, ...]]] = {
    "dialogues": {
        "raw": ("dataset/raw/conversations.jsonl",),
        "crowd": ("dataset/crowd/conversations.jsonl",),
        "curated": ("dataset/curated/conversations.jsonl",),
    },
    "crowd": {"crowd": _sources("dataset/crowd/", ".jsonl")},
    "curated": {"curated": _sources("dataset/curated/", ".jsonl")},
    "qrels": {"curated": ("dataset/curated/qrels.qrels",)},
    "prompts": {"prompts": _sources("prompts/", ".txt")},
    "queries": {
        "curated": _sources("dataset/curated/", "/conversations.jsonl", "/intents.jsonl", ".qrels")
    },
    "intent_labels": {
        "crowd": _sources("dataset/crowd/", "/conversations.jsonl", "/intent_annotations.jsonl"),
        "curated": _sources("dataset/curated/", "/conversations.jsonl", "/intents.jsonl"),
    },
    "messages": {
        "raw": ("dataset/raw/conversations.jsonl",),
        "crowd": _sources("dataset/crowd/", "/conversations.jsonl", "/quality.jsonl"),
        "curated": _sources("dataset/curated/", "/conversations.jsonl", "/quality.jsonl"),
    },
}

# configs whose rows are each made from one line of one file: processes may share the lines out
BY_LINE = ("dialogues",)

# What a record upstream looks like ------------------------------------------------------
# A type, {values}: one of these, [x]: a list of x, (x, y): x or y, {str: x}: any keys,
# a function: raises ValueError. `parley build` refuses a record that differs.


def conversation(value: Any) -> None:
    """Check the text of a conversation."""
    if not isinstance(value, str):
        raise ValueError("a string")
    to_turns(value)


# Ids are of visible ASCII. "#<user index>" ends the query id of a recommendation; passages have a #
# in their id as well.
_judgment = re.compile(r'[!-"$-~]+(#[0-4])?\t0\t[!-~]+\t[012]')


def judgment(value: Any) -> None:
    """Check a line of the qrels, without its newline."""
    if not _judgment.fullmatch(value):
        raise ValueError("query id, 0, document id and 0, 1 or 2, with tabs between")


_annotation = {"type": {"search", "recommendation", "product_details"}, "query": str}
_intent = (
    {"id": str, "type": {"search", "recommendation"}, "query_variants": [str]},
    {"id": str, "type": {"product_details"}, "product": str, "query_variants": [str]},
)
_held: dict[str, Any] = {  # by each file for a conversation
    "conversations": conversation,
    "quality": [{aspect: {1, 2, 3, 4, 5} for aspect in ASPECTS}],
    "intent_annotations": [{"utterance": int, "intent_annotations": [[_annotation]]}],
    "intents": [{"utterance": int, "intents": [_intent]}],
    "keywords": {str: [str]},
    "profiles": {str: str},
}
LINES: dict[str, Any] = {name: {str: shape} for name, shape in _held.items()}
PROMPT = str  # the text of the whole file


def _joined_shape(*names: str) -> dict[str, Any]:
    """Return the shape of a conversation with what the files of these names may hold for it."""
    held = {f"{name}?": _held[name] for name in names}
    return {"dialogue_id": str, "conversations": conversation, **held}


# What a row looks like ------------------------------------------------------------------

_string, _integer = (datasets.Value(t) for t in ("string", "int64"))
_type = datasets.ClassLabel(names=TYPES)
_dialogue = {"dialogue_id": _string, "turns": [{"role": _string, "text": _string}]}
_ratings = [dict.fromkeys(ASPECTS, _integer)]
_annotations = [
    {"utterance": _integer, "intent_annotations": [[{"type": _string, "query": _string}]]}
]
_intents = [
    {
        "utterance": _integer,
        "intents": [
            {"id": _string, "type": _string, "product": _string, "query_variants": [_string]}
        ],
    }
]
_users = [{"user_id": _string, "keywords": [_string], "profile": _string}]
FEATURES = {
    "dialogues": datasets.Features(_dialogue),
    "crowd": datasets.Features(
        _dialogue | {"ratings": _ratings, "intent_annotations": _annotations, "users": _users}
    ),
    "curated": datasets.Features(
        _dialogue | {"ratings": _ratings, "intents": _intents, "users": _users}
    ),
    "qrels": datasets.Features(
        {"query_id": _string, "document_id": _string, "relevance": _integer, "type": _type}
    ),
    "prompts": datasets.Features({"name": _string, "text": _string}),
    **VIEW_FEATURES,
}

# The builder ----------------------------------------------------------------------------

DESCRIPTION = """\
9,249 English conversations, generated by Llama 3.1 8B, in which a user looks for a product and a \
system searches and recommends; 311 of them with human ratings and intents, and 20 of these with \
17,464 relevance judgments of passages and products."""

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


class Cosrec(datasets.GeneratorBasedBuilder):
    """CoSRec from its URLs, or from a local copy of upstream's folders in `data_dir`."""

    VERSION = datasets.Version("1.1.0")
    DEFAULT_CONFIG_NAME = "dialogues"
    BUILDER_CONFIGS = [
        datasets.BuilderConfig("dialogues", VERSION, description="all conversations, in turns"),
        datasets.BuilderConfig("crowd", VERSION, description="with every annotator's intents"),
        datasets.BuilderConfig("curated", VERSION, description="with the reviewed intents"),
        datasets.BuilderConfig("qrels", VERSION, description="relevance judgments, one a row"),
        datasets.BuilderConfig("prompts", VERSION, description="the prompts of the generation"),
        datasets.BuilderConfig("queries", VERSION, description="judged queries, one a row"),
        datasets.BuilderConfig(
            "intent_labels", VERSION, description="intents, each with its context"
        ),
        datasets.BuilderConfig("messages", VERSION, description="conversations as chats"),
    ]

    def _info(self) -> datasets.DatasetInfo:
        return datasets.DatasetInfo(
            description=DESCRIPTION,
            features=FEATURES[self.config.name],
            homepage="https://github.com/CAMEO-22/CoSRec",
            license="unknown",
            citation=CITATION,
        )

    def _split_generators(
        self, dl_manager: datasets.DownloadManager
    ) -> list[datasets.SplitGenerator]:
        generators = []
        for split, sources in SPLITS[self.config.name].items():
            if self.config.data_dir:
                paths = {source: os.path.join(self.config.data_dir, source) for source in sources}
            else:
                paths = dl_manager.download({source: SOURCES[source]["url"] for source in sources})
            generators.append(datasets.SplitGenerator(name=split, gen_kwargs={"paths": paths}))
        return generators

    def _generate_examples(self, paths: dict[str, str]) -> Rows:
        if not self.config.data_dir:
            for source, path in paths.items():
                require_pinned(source, path)
        yield from rows(self.config.name, records(self.config.name, paths))


def require_pinned(source: str, path: str) -> None:
    """Raise ValueError if a downloaded file is not the one that `SOURCES` pins."""
    with open(path, "rb") as file:  # text mode cannot stream over http
        content = file.read()
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False)
    pin = SOURCES[source]
    for kind, found in (("size", len(content)), ("git_blob", blob.hexdigest())):
        if found != pin.get(kind, found):
            raise ValueError(
                f"{source}: {kind} expected {pin[kind]}, found {found}; "
                "the download is damaged or upstream changed"
            )


# From files to rows ---------------------------------------------------------------------

Read = Callable[[str, Any], Iterable[Any]]  # as `read` is called


def read(path: str, shape: Any, loads: Callable[[str], Any] = json.loads) -> Iterator[Any]:
    """Yield the records of one upstream file, each of the given shape.

    The shape says how the file is read: `PROMPT`, `judgment`, or one of `LINES`.
    """
    with open(path, "rb") as file:
        if shape is PROMPT:
            yield file.read().decode("utf-8")
        elif shape is judgment:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    raise ValueError(f"{path}, line {number}: expected a newline at its end")
                yield line[:-1].decode("utf-8")
        else:
            yield from jsonlines.Reader(_objects(file, path), loads=loads)


def _objects(file: Iterable[bytes], path: str) -> Iterator[bytes]:
    """Pass on lines that begin an object: jsonlines would skip a byte order mark."""
    for number, line in enumerate(file, 1):
        if not line.startswith(b"{"):
            raise ValueError(f"{path}, line {number}: expected an object, found {line[:40]!r}")
        yield line


def records(config: str, paths: dict[str, str], read: Read = read) -> Iterator[tuple[str, Any]]:
    """Yield the upstream records of a split, each with its key.

    A record is a line of conversations.jsonl or of qrels.qrels, or a prompt. In the other configs
    it is a conversation id and, by name, what each file that has the id holds for it; `paths` is
    source -> local path. A ValueError says what is wrong with a file, or with two of them together.
    """
    named = {PurePosixPath(source).stem: path for source, path in paths.items()}
    if config == "dialogues":
        for dialogue_id, text in _lines("conversations", named["conversations"], read):
            yield dialogue_id, {dialogue_id: text}
    elif config == "qrels":
        for line in _judgments(named["qrels"], read):
            query_id, _, document_id, _ = line.split("\t")
            yield f"{query_id}\t{document_id}", line
    elif config == "prompts":
        for name, path in named.items():
            for text in read(path, PROMPT):
                yield name, {"name": name, "text": text}
    else:
        yield from _joined(named, read)


def _judgments(path: str, read: Read) -> Iterator[str]:
    """Yield each line of the qrels, checked even where the file is read without its shape."""
    for number, line in enumerate(read(path, judgment), 1):
        try:
            judgment(line)
        except ValueError as error:
            where = f"{path}, line {number}"
            raise ValueError(f"{where}: expected {error}, found {line!r}") from error
        yield line


def _lines(name: str, path: str, read: Read) -> Iterator[tuple[str, Any]]:
    """Yield the conversation id and the value of each line of a JSONL file.

    Of qrels.qrels: each conversation id, <id> in <id>_<utterance>_<index>, and its lines.
    """
    if name == "qrels":
        judged: dict[str, list[str]] = {}
        for line in _judgments(path, read):
            intent_id = re.split("[#\t]", line)[0]
            judged.setdefault(intent_id.rsplit("_", 2)[0], []).append(line)
        yield from judged.items()
        return
    for held in read(path, LINES[name]):
        if len(held) != 1:
            found = ", ".join(held)[:80] or "none"
            raise ValueError(f"{path}: expected one new id in each line, found {found}")
        yield from held.items()


def _joined(named: dict[str, str], read: Read) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each conversation's id and record, joined by id: the files differ in length."""
    files: dict[str, dict[str, Any]] = {name: {} for name in named}
    for name, lines in files.items():
        for key, value in _lines(name, named[name], read):
            if key in lines:
                raise ValueError(f"{named[name]}: expected a new id in each line, found {key}")
            lines[key] = value
    conversations = files["conversations"]
    for name, lines in files.items():
        for unknown in (key for key in lines if key not in conversations):
            raise ValueError(
                f"{named[name]}: {unknown}: expected an id that {named['conversations']} has"
            )
    for key in conversations:
        found = {name: lines[key] for name, lines in files.items() if key in lines}
        record = {"dialogue_id": key, **found}
        for name, field, expected, wrong in broken_references(record):
            where = f"{named[name]}: {key}{field}"
            raise ValueError(f"{where}: expected {expected}, found {wrong:.80}")
        yield key, record


def rows(config: str, records: Iterable[tuple[str, Any]]) -> Rows:
    """Yield the key and each row that a config makes of records, given with their keys."""
    for key, record in records:
        try:
            if view := VIEWS.get(config):
                made = list(view([record]))
            else:
                made = [(key, TO_ROW[config](record))]
        except ValueError as error:
            raise ValueError(f"{key}: expected {error}") from error
        yield from made


# From record to row and back ------------------------------------------------------------

TO_ROW: dict[str, Callable[[Any], dict[str, Any]]] = {
    "dialogues": to_row,
    "crowd": to_crowd_row,
    "curated": to_curated_row,
    "qrels": to_judgment_row,
    "prompts": dict,
}

# The configs that keep everything: the way back to the records of their sources, and their shape
TO_RECORD: dict[str, Callable[[dict[str, Any]], Any]] = {
    "dialogues": to_record,
    "crowd": to_crowd_record,
    "curated": to_curated_record,
    "qrels": to_judgment_record,
    "prompts": dict,
}
RECORDS: dict[str, Any] = {
    "dialogues": LINES["conversations"],
    "crowd": _joined_shape("quality", "intent_annotations", "keywords", "profiles"),
    "curated": _joined_shape("quality", "intents", "keywords", "profiles"),
    "qrels": judgment,
    "prompts": {"name": str, "text": PROMPT},
}
