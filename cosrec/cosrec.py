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

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
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
from .views import ASPECTS, VIEW_FEATURES, VIEWS

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


# config -> split -> the source it is made from, or the sources
SPLITS: dict[str, dict[str, str | tuple[str, ...]]] = {
    "dialogues": {
        "raw": "dataset/raw/conversations.jsonl",
        "crowd": "dataset/crowd/conversations.jsonl",
        "curated": "dataset/curated/conversations.jsonl",
    },
    "crowd": {"crowd": _sources("dataset/crowd/", ".jsonl")},
    "curated": {"curated": _sources("dataset/curated/", ".jsonl")},
    "qrels": {"curated": "dataset/curated/qrels.qrels"},
    "prompts": {"prompts": _sources("prompts/", ".txt")},
    "queries": {
        "curated": _sources("dataset/curated/", "/conversations.jsonl", "/intents.jsonl", ".qrels")
    },
    "intents": {
        "crowd": _sources("dataset/crowd/", "/conversations.jsonl", "/intent_annotations.jsonl"),
        "curated": _sources("dataset/curated/", "/conversations.jsonl", "/intents.jsonl"),
    },
    "messages": {
        "raw": "dataset/raw/conversations.jsonl",
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
LINES: dict[str, Any] = {
    "conversations": {str: conversation},
    "quality": {str: [{aspect: {1, 2, 3, 4, 5} for aspect in ASPECTS}]},
    "intent_annotations": {str: [{"utterance": int, "intent_annotations": [[_annotation]]}]},
    "intents": {str: [{"utterance": int, "intents": [_intent]}]},
    "keywords": {str: {str: [str]}},
    "profiles": {str: {str: str}},
}
PROMPT = str  # the text of the whole file

# What a row looks like ------------------------------------------------------------------

_string, _integer = (datasets.Value(t) for t in ("string", "int64"))
_type = datasets.ClassLabel(names=TYPES)
_dialogue = {"conversation_id": _string, "turns": [{"role": _string, "text": _string}]}
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

    VERSION = datasets.Version("1.0.0")
    DEFAULT_CONFIG_NAME = "dialogues"
    BUILDER_CONFIGS = [
        datasets.BuilderConfig("dialogues", VERSION, description="all conversations, in turns"),
        datasets.BuilderConfig("crowd", VERSION, description="with every annotator's intents"),
        datasets.BuilderConfig("curated", VERSION, description="with the reviewed intents"),
        datasets.BuilderConfig("qrels", VERSION, description="relevance judgments, one a row"),
        datasets.BuilderConfig("prompts", VERSION, description="the prompts of the generation"),
        datasets.BuilderConfig("queries", VERSION, description="judged queries, one a row"),
        datasets.BuilderConfig("intents", VERSION, description="intents, each with its context"),
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
            files = (sources,) if isinstance(sources, str) else sources
            names = {os.path.splitext(os.path.basename(file))[0]: file for file in files}
            if self.config.data_dir:
                paths = {n: os.path.join(self.config.data_dir, file) for n, file in names.items()}
            else:
                paths = dl_manager.download({n: SOURCES[file]["url"] for n, file in names.items()})
            generators.append(datasets.SplitGenerator(name=split, gen_kwargs={"paths": paths}))
        return generators

    def _generate_examples(self, paths: dict[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
        config = self.config.name
        for key, record in self.records(paths):
            try:
                if view := VIEWS.get(config):
                    rows = list(view([record]))
                else:
                    rows = [(key, TO_ROW[config](record))]
            except ValueError as error:
                raise ValueError(f"{key}: expected {error}") from error
            yield from rows

    def records(self, paths: dict[str, str]) -> Iterator[tuple[str, Any]]:
        """Yield the upstream records of a split, each with its key.

        A record is a line of conversations.jsonl or of qrels.qrels, or a prompt. In the other
        configs it is a conversation id and, by name, what each file that has the id holds for it.
        """
        if self.config.name == "dialogues":
            for conversation_id, text in self._lines(paths, "conversations"):
                yield conversation_id, {conversation_id: text}
        elif self.config.name == "qrels":
            for line in self._judgments(paths["qrels"]):
                query_id, _, document_id, _ = line.split("\t")
                yield f"{query_id}\t{document_id}", line
        elif self.config.name == "prompts":
            for name, path in paths.items():
                for text in self.read(path, PROMPT):
                    yield name, {"name": name, "text": text}
        else:
            yield from self._joined(paths)

    def _judgments(self, path: str) -> Iterator[str]:
        """Yield each line of the qrels, checked even where the file is read without its shape."""
        for number, line in enumerate(self.read(path, judgment), 1):
            try:
                judgment(line)
            except ValueError as error:
                where = f"{path}, line {number}"
                raise ValueError(f"{where}: expected {error}, found {line!r}") from error
            yield line

    def _lines(self, paths: dict[str, str], name: str) -> Iterator[tuple[str, Any]]:
        """Yield the conversation id and the value of each line of a JSONL file.

        Of qrels.qrels: each conversation id, <id> in <id>_<utterance>_<index>, and its lines.
        """
        if name == "qrels":
            judged: dict[str, list[str]] = {}
            for line in self._judgments(paths[name]):
                intent_id = re.split("[#\t]", line)[0]
                judged.setdefault(intent_id.rsplit("_", 2)[0], []).append(line)
            yield from judged.items()
            return
        for line in self.read(paths[name], LINES[name]):
            if len(line) != 1:
                found = ", ".join(line)[:80] or "none"
                raise ValueError(f"{paths[name]}: expected one new id in each line, found {found}")
            yield from line.items()

    def _joined(self, paths: dict[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each conversation's id and record, joined by id: the files differ in length."""
        files: dict[str, dict[str, Any]] = {name: {} for name in paths}
        for name, lines in files.items():
            for key, value in self._lines(paths, name):
                if key in lines:
                    raise ValueError(f"{paths[name]}: expected a new id in each line, found {key}")
                lines[key] = value
        conversations = files["conversations"]
        for name, lines in files.items():
            for unknown in (key for key in lines if key not in conversations):
                raise ValueError(
                    f"{paths[name]}: {unknown}: expected an id that {paths['conversations']} has"
                )
        for key in conversations:
            found = {name: lines[key] for name, lines in files.items() if key in lines}
            record = {"conversation_id": key, **found}
            for name, field, expected, wrong in broken_references(record):
                where = f"{paths[name]}: {key}{field}"
                raise ValueError(f"{where}: expected {expected}, found {wrong:.80}")
            yield key, record

    # `parley build` overrides these two, to check each record against its shape.
    loads = staticmethod(json.loads)

    def read(self, path: str, shape: Any) -> Iterable[Any]:
        """Yield the records of one upstream file, each of the given shape."""
        with open(path, "rb") as file:  # text mode cannot stream over http
            if shape is PROMPT:
                yield file.read().decode("utf-8")
            elif shape is judgment:
                for number, line in enumerate(file, 1):
                    if not line.endswith(b"\n"):
                        raise ValueError(f"{path}, line {number}: expected a newline at its end")
                    yield line[:-1].decode("utf-8")
            else:
                yield from jsonlines.Reader(_objects(file, path), loads=self.loads)


def _objects(file: Iterable[bytes], path: str) -> Iterator[bytes]:
    """Pass on lines that begin an object: jsonlines would skip a byte order mark."""
    for number, line in enumerate(file, 1):
        if not line.startswith(b"{"):
            raise ValueError(f"{path}, line {number}: expected an object, found {line[:40]!r}")
        yield line


# From record to row and back ------------------------------------------------------------

TO_ROW: dict[str, Callable[[Any], dict[str, Any]]] = {
    "dialogues": to_row,
    "crowd": to_crowd_row,
    "curated": to_curated_row,
    "qrels": to_judgment_row,
    "prompts": dict,
}

# The configs that keep everything, each with the way back to the records of its sources
TO_RECORD: dict[str, Callable[[dict[str, Any]], Any]] = {
    "dialogues": to_record,
    "crowd": to_crowd_record,
    "curated": to_curated_record,
    "qrels": to_judgment_record,
    "prompts": dict,
}
