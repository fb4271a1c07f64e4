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


def _sources(folder: str, ending: str) -> tuple[str, ...]:
    return tuple(path for path in SOURCES if path.startswith(folder) and path.endswith(ending))


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
}

# What a record upstream looks like ------------------------------------------------------
# A type, {values}: one of these, [x]: a list of x, (x, y): x or y, {str: x}: any keys,
# a function: raises ValueError. `parley build` refuses a record that differs.


def conversation(value: Any) -> None:
    """Check the text of a conversation."""
    if not isinstance(value, str):
        raise ValueError("a string")
    to_turns(value)


def judgment(value: Any) -> None:
    """Check a line of the qrels, without its newline."""
    # "#<user index>" ends the query id of a recommendation; passages have a # in their id as well
    if not re.fullmatch(r"[^\s#]+(#[0-9]+)?\t0\t\S+\t[012]", value):
        raise ValueError("query id, 0, document id and 0, 1 or 2, with tabs between")


ASPECTS = ("coherence", "logicality", "informativeness", "fluency")

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
        {"query_id": _string, "document_id": _string, "relevance": _integer, "type": _string}
    ),
    "prompts": datasets.Features({"name": _string, "text": _string}),
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
        to_row = TO_ROW[self.config.name]
        for key, record in self.records(paths):
            try:
                row = to_row(record)
            except ValueError as error:
                raise ValueError(f"{key}: expected {error}") from error
            yield key, row

    def records(self, paths: dict[str, str]) -> Iterator[tuple[str, Any]]:
        """Yield the upstream records of a split, each with its key.

        A record is a line of conversations.jsonl or of qrels.qrels, or a prompt. In crowd and
        curated it is a conversation id and, by name, what each file with a line for it holds.
        """
        if self.config.name == "dialogues":
            for conversation_id, text in self._lines(paths, "conversations"):
                yield conversation_id, {conversation_id: text}
        elif self.config.name == "qrels":
            for number, line in enumerate(self.read(paths["qrels"], judgment), 1):
                try:
                    judgment(line)
                except ValueError as error:
                    where = f"{paths['qrels']}, line {number}"
                    raise ValueError(f"{where}: expected {error}, found {line!r}") from error
                query_id, _, document_id, _ = line.split("\t")
                yield f"{query_id}\t{document_id}", line
        elif self.config.name == "prompts":
            for name, path in paths.items():
                for text in self.read(path, PROMPT):
                    yield name, {"name": name, "text": text}
        else:
            yield from self._joined(paths)

    def _lines(self, paths: dict[str, str], name: str) -> Iterator[tuple[str, Any]]:
        """Yield the conversation id and the value of each line of a JSONL file."""
        seen: set[str] = set()
        for line in self.read(paths[name], LINES[name]):
            if len(line) != 1 or not seen.isdisjoint(line):
                found = ", ".join(line) or "none"
                raise ValueError(f"{paths[name]}: expected one new id in each line, found {found}")
            seen.update(line)
            yield from line.items()

    def _joined(self, paths: dict[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each conversation's id and record, joined by id: the files differ in length."""
        files = {name: dict(self._lines(paths, name)) for name in paths}
        conversations = files["conversations"]
        for name, lines in files.items():
            for unknown in (key for key in lines if key not in conversations):
                raise ValueError(
                    f"{paths[name]}: {unknown}: expected an id that {paths['conversations']} has"
                )
        for key in conversations:
            record = {name: lines[key] for name, lines in files.items() if key in lines}
            for name, expected, found in broken_references(record):
                raise ValueError(f"{paths[name]}: {key}: expected {expected}, found {found}")
            yield key, {"conversation_id": key, **record}

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


def broken_references(record: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield (file, expected, found) where a file refers to what another does not have."""
    keywords, profiles = record.get("keywords"), record.get("profiles")
    if keywords is None and profiles is not None:
        yield "profiles", "no line, as in keywords.jsonl", "one"
    if profiles is None and keywords is not None:
        yield "keywords", "no line, as in profiles.jsonl", "one"
    for user_id in (profiles or {}).keys() - (keywords or {}).keys():
        yield "profiles", "users that keywords.jsonl has", user_id
    count = f"\n{record['conversations']}".count("\nU:")
    for name in ("intent_annotations", "intents"):
        for entry in record.get(name, ()):
            if not 0 <= entry["utterance"] < count:
                expected = f"0 to {count - 1}, an utterance of the user in conversations.jsonl"
                yield name, expected, str(entry["utterance"])


# From record to row and back ------------------------------------------------------------

_ROLES = {"U: ": "user", "S: ": "assistant", "U:": "user", "S:": "assistant"}
_MARKERS = {"user": "U:", "assistant": "S:"}


def to_turns(text: str) -> list[dict[str, str]]:
    """Cut a conversation into turns, at the lines that begin with a marker, "U:" or "S:".

    In upstream's crowd and curated files every line is a marker, a space and text. Also taken are
    a line without a marker, which continues the turn before it, and a marker alone, a turn
    without text. Anything else raises ValueError, since `to_text` could not give it back.
    """
    turns: list[dict[str, str]] = []
    for line in text.split("\n"):
        role = _ROLES.get(line[:3])
        if role and line not in ("U: ", "S: "):
            turns.append({"role": role, "text": line[3:]})
        elif turns and not line.startswith(("U:", "S:")):
            turns[-1]["text"] += "\n" + line
        else:
            raise ValueError(f'turns that begin with "U: " or "S: " and text, not {line[:40]!r}')
    return turns


def to_text(turns: list[dict[str, str]]) -> str:
    """Return the text of a conversation: the inverse of `to_turns`."""
    lines = []
    for turn in turns:
        space = "" if turn["text"][:1] in ("", "\n") else " "  # none after a marker alone
        lines.append(_MARKERS[turn["role"]] + space + turn["text"])
    return "\n".join(lines)


def to_row(record: dict[str, str]) -> dict[str, Any]:
    """Return the row of a line of conversations.jsonl."""
    ((conversation_id, text),) = record.items()
    return {"conversation_id": conversation_id, "turns": to_turns(text)}


def to_record(row: dict[str, Any]) -> dict[str, str]:
    """Return the line of conversations.jsonl of a row: the inverse of `to_row`."""
    return {row["conversation_id"]: to_text(row["turns"])}


def to_crowd_row(record: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a crowd conversation."""
    return {**_to_rated_row(record), "intent_annotations": record.get("intent_annotations")}


def to_curated_row(record: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a curated conversation; an intent without product has null there."""
    entries = record.get("intents")
    if entries is not None:
        entries = [
            {
                **entry,
                "intents": [
                    {**intent, "product": intent.get("product")} for intent in entry["intents"]
                ],
            }
            for entry in entries
        ]
    return {**_to_rated_row(record), "intents": entries}


def _to_rated_row(record: dict[str, Any]) -> dict[str, Any]:
    users = None
    if "keywords" in record:
        users = [
            {"user_id": user_id, "keywords": keywords, "profile": record["profiles"].get(user_id)}
            for user_id, keywords in record["keywords"].items()
        ]
    return {
        "conversation_id": record["conversation_id"],
        "turns": to_turns(record["conversations"]),
        "ratings": record.get("quality"),
        "users": users,
    }


def to_crowd_record(row: dict[str, Any]) -> dict[str, Any]:
    """Return the record of a crowd row: the inverse of `to_crowd_row`."""
    return _without_nulls(
        {**_to_rated_record(row), "intent_annotations": row["intent_annotations"]}
    )


def to_curated_record(row: dict[str, Any]) -> dict[str, Any]:
    """Return the record of a curated row: the inverse of `to_curated_row`."""
    entries = row["intents"]
    if entries is not None:
        entries = [
            {**entry, "intents": [_without_nulls(intent) for intent in entry["intents"]]}
            for entry in entries
        ]
    return _without_nulls({**_to_rated_record(row), "intents": entries})


def _to_rated_record(row: dict[str, Any]) -> dict[str, Any]:
    record = {
        "conversation_id": row["conversation_id"],
        "conversations": to_text(row["turns"]),
        "quality": row["ratings"],
    }
    if row["users"] is not None:
        record["keywords"] = {user["user_id"]: user["keywords"] for user in row["users"]}
        profiles = {user["user_id"]: user["profile"] for user in row["users"]}
        record["profiles"] = _without_nulls(profiles)
    return record


def _without_nulls(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def to_judgment_row(record: str) -> dict[str, Any]:
    """Return the row of a line of the qrels."""
    query_id, _, document_id, relevance = record.split("\t")
    return {
        "query_id": query_id,
        "document_id": document_id,
        "relevance": int(relevance),
        "type": "recommendation" if "#" in query_id else "search",
    }


def to_judgment_record(row: dict[str, Any]) -> str:
    """Return the line of the qrels of a row: the inverse of `to_judgment_row`."""
    return f"{row['query_id']}\t0\t{row['document_id']}\t{row['relevance']}"


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
