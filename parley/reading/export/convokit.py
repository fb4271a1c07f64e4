"""Write a ConvoKit corpus, for `convokit.Corpus(filename=folder)`."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_PARTS = ("utterances", "speakers", "conversations")


def utterance(
    id: str, conversation_id: str, reply_to: str | None, speaker: str, text: str, meta: Any
) -> dict[str, Any]:
    """Return an utterance as ConvoKit stores it; a conversation's id is its first utterance's."""
    said = {"id": id, "conversation_id": conversation_id, "text": text, "speaker": speaker}
    return {**said, "meta": meta, "reply-to": reply_to, "timestamp": None, "vectors": []}


def write_corpus(
    folder: Path,
    about: Mapping[str, str],
    utterances: Sequence[Mapping[str, Any]],
    speakers: Mapping[str, Mapping[str, Any]],
    conversations: Mapping[str, Mapping[str, Any]],
    index: Mapping[str, Any] | None = None,
) -> None:
    """Write a corpus: its metadata, utterances in order, and id -> metadata of the others.

    The `index` holds the types of the metadata; they are counted unless given.

    Raises:
        ValueError: an utterance comes twice, or a number is not finite.
    """
    id, times = next(iter(Counter(each["id"] for each in utterances).most_common(1)), ("", 0))
    if times > 1:
        raise ValueError(f"the utterance {id!r:.60} comes {times} times")
    metas = ([each["meta"] for each in utterances], speakers.values(), conversations.values())
    counted = {
        **{f"{part}-index": _types(found) for part, found in zip(_PARTS, metas, strict=True)},
        "overall-index": _types([about]),
        "version": 2,
        "vectors": [],
    }
    _write(folder / "utterances.jsonl", *utterances)
    for name, each in (("speakers", speakers), ("conversations", conversations)):
        whole = {id: {"meta": meta, "vectors": []} for id, meta in each.items()}
        _write(folder / f"{name}.json", whole)
    _write(folder / "corpus.json", about)
    _write(folder / "index.json", counted if index is None else index)


def _types(metas: Any) -> dict[str, list[str]]:
    """Return the types of each metadata field, as ConvoKit stores them."""
    found: dict[str, dict[str, None]] = {}
    for meta in metas:
        for key, value in meta.items():
            kinds = found.setdefault(key, {})
            if value is not None:
                kinds[str(type(value))] = None
    return {key: list(kinds) for key, kinds in found.items()}


def _write(path: Path, *values: Any) -> None:
    """Write each value as a line of JSON; ASCII, since ConvoKit opens files without an encoding."""
    path.write_text(
        "".join(json.dumps(value, allow_nan=False) + "\n" for value in values), encoding="ascii"
    )
