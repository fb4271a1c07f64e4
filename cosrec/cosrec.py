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

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

from parley import Builder, Config, Converted, Field

# `datasets` 2 and 3 copy only the modules that the script itself imports.
from .pins import PINS as PINS
from .records import DIALOGUE, FILES, PARTS, USER, VALUES, joined, prompts, splits, unprompted
from .rows import to_annotated_record, to_annotated_row
from .views import intent_labels, messages, queries, utterances


def _annotated(part: str, about: str, use: str, listed: str) -> Config:
    """Return the config of a part's conversations with all annotation."""
    values = {f"{name}?": VALUES[name] for name in ("quality", listed, "keywords", "profiles")}
    users = Field([USER], "the users considered for the conversation; null without any")
    columns = {"ratings?": VALUES["quality"], f"{listed}?": VALUES[listed], "users?": users}
    shape = Converted(
        {"dialogue_id": str, "conversations": VALUES["conversations"], **values},
        DIALOGUE | columns,
        to_annotated_row,
        to_annotated_record,
    )
    files = splits([part], *VALUES)
    paths = {PurePosixPath(file.path).stem: file.path for file in files[part]}

    def unjoined(records: Iterable[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the line of each file for each conversation: the inverse of `joined`."""
        for record in records:
            for name in record.keys() - {"dialogue_id"}:
                yield paths[name], {record["dialogue_id"]: record[name]}

    return Config(
        part, about, files, records=joined, unjoin=unjoined, shape=shape, key="dialogue_id", use=use
    )


def holds(row: dict[str, Any]) -> tuple[int, Iterable[str]]:
    """Return the number of a conversation's turns, and who speaks."""
    return len(row["turns"]), {turn["role"] for turn in row["turns"]}


class Cosrec(Builder):
    """9,249 English conversations: a user looks for a product, a system searches and recommends.

    Llama 3.1 8B wrote them. 311 have human ratings and intents, 20 of them also 17,464 judgments.
    """

    VERSION = "1.0.0"
    HOMEPAGE = "https://github.com/CAMEO-22/CoSRec"
    LICENSE = "unknown"
    LANGUAGES = ("en",)
    SHOWN = "curated"
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
        queries,
        utterances,
        intent_labels,
        messages,
    ]
