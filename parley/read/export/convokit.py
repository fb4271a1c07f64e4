"""Write a ConvoKit corpus, for `convokit.Corpus(filename=folder)`."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from parley.builds.built_folder import BuiltFolder
from parley.read.dialogues import Dialogue, dialogues
from parley.read.export.export import write_lines

Meta = Mapping[str, Any]
Said = tuple[str, Meta, str, Meta]
"""An utterance: the id and the metadata of its speaker, its text and its metadata."""
Conversation = tuple[Sequence[str], Meta, Sequence[Said]]
"""The id of each utterance, the metadata, and the utterances, each a reply to the last."""


def convokit(
    about: Mapping[str, str],
    turns: str,
    text: str,
    speaker: Callable[[Any, Any], tuple[str, Meta]],
    time: str = "",
) -> Callable[[BuiltFolder, Path], None]:
    """Return the function that writes a dataset as a corpus, for its `EXPORTS`.

    A conversation is a dialogue that transcript.py reads, an utterance an entry of it. The other
    columns and fields are their metadata, with the split and the number of the turn.

    Args:
        about: The metadata of the corpus.
        turns: The column with the entries of a dialogue.
        text: The field of an entry with its text; null becomes "".
        speaker: Takes a row and an entry; returns the id and the metadata of the speaker.
        time: The field of an entry with its time in seconds; by default its number is the time.
    """

    def conversation(dialogue: Dialogue) -> Conversation:
        row = dialogue.row
        utterances = [
            (*speaker(row, entry), entry[text] or "", _without(entry, text) | {"turn": turn})
            for turn, entry in enumerate(row[turns])
        ]
        ids = [f"{dialogue.split} {dialogue.id} {n}" for n in range(len(utterances))]
        return ids, _without(row, turns) | {"split": dialogue.split}, utterances

    def write(built: BuiltFolder, folder: Path) -> None:
        chosen = (dialogue for dialogue in dialogues(built) if turns in dialogue.row)
        write_corpus(folder, about, map(conversation, chosen), time)

    return write


def _without(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != name}


def write_corpus(
    folder: Path, about: Mapping[str, str], conversations: Iterable[Conversation], time: str = ""
) -> None:
    """Write a corpus; a conversation's id is that of its first utterance, as in ConvoKit.

    ValueError if an utterance comes twice, or a number is not finite.

    Args:
        folder: An empty folder.
        about: The metadata of the corpus.
        conversations: The conversations in order.
        time: The metadata of an utterance with its time; by default its number, from 0.
    """
    utterances: dict[str, dict[str, Any]] = {}
    speakers: dict[str, Meta] = {}
    metas: dict[str, Meta] = {}
    for ids, meta, turns in conversations:
        metas[ids[0]] = meta
        for number, (id, before, turn) in enumerate(zip(ids, (None, *ids), turns, strict=False)):
            speaker, speakers[turn[0]], text, turn_meta = turn
            if id in utterances:
                raise ValueError(f"the utterance {id!r:.60} comes twice")
            utterance: dict[str, Any] = {"id": id, "conversation_id": ids[0], "text": text}
            utterance |= {"speaker": speaker, "meta": turn_meta, "reply-to": before}
            utterance |= {"timestamp": turn_meta[time] if time else number, "vectors": []}
            utterances[id] = utterance
    index = {
        "utterances-index": _types(utterance["meta"] for utterance in utterances.values()),
        "speakers-index": _types(speakers.values()),
        "conversations-index": _types(metas.values()),
        "overall-index": _types([about]),
        "version": 2,
        "vectors": [],
    }
    write_lines(folder / "utterances.jsonl", utterances.values(), ascii=True)
    for part, by_id in (("speakers", speakers), ("conversations", metas)):
        whole = {id: {"meta": meta, "vectors": []} for id, meta in by_id.items()}
        _write(folder / f"{part}.json", whole)
    _write(folder / "corpus.json", about)
    _write(folder / "index.json", index)


def _types(metas: Any) -> dict[str, list[str]]:
    """Return the types of each metadata field, as ConvoKit stores them."""
    kinds_of: dict[str, dict[str, None]] = {}
    for meta in metas:
        for key, value in meta.items():
            kinds = kinds_of.setdefault(key, {})
            if value is not None:
                # of Python's types, as rows are of our own
                kind = next(k for k in type(value).__mro__ if k.__module__ == "builtins")
                kinds[str(kind)] = None
    return {key: list(kinds) for key, kinds in kinds_of.items()}


def _write(path: Path, value: Any) -> None:
    """Write a value as JSON; ASCII, since ConvoKit opens files without an encoding."""
    path.write_text(json.dumps(value, allow_nan=False) + "\n", encoding="ascii")
