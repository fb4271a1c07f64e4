"""Write the negotiations of a log as session traces, which the Hub draws as chats.

A JSONL file holds what the model of one side saw and said: a `session` line with harness and id,
then a `message` line for each message.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from parley.asking.client import reason_unread
from parley.asking.log import is_log, read_log
from parley.asking.score import is_older, open_log
from parley.base.errors import UsageError
from parley.base.replace import replacing
from parley.building.built import find_folder
from parley.building.collection import get
from parley.declaring.questions import Playing
from parley.reading.export.export import note_sample
from parley.scoring.gold import Part


def write_traces(path: Path, builds: Path, target: Path) -> list[str]:
    """Write a file for each side of each negotiation of a log into a new folder; return the names.

    Raises:
        UsageError: the log is of no game, or of an older version of it, or there is no build.
        RecordError: the log is broken or incomplete, or of other rows.
        OutputError: the target is not empty.
    """
    if not is_log(str(path)):
        raise UsageError(f"{path}: not a log", remedy="`parley ask` writes one.")
    header, _ = read_log(path)
    built, name = find_folder(builds, get(header["dataset"])), header["task"]
    game = built.dataset.task(name).asking
    if not isinstance(game, Playing) or is_older(header, game):
        raise UsageError(
            f"{path}: a log of {built.dataset.name} {name}, questions {header['asking']}: traces "
            "are of a game that is played as today"
        )
    log = open_log(built, name, {}, path, Part())
    files = {}
    for number, (key, state) in enumerate(log.questions.by_key.items(), 1):
        id = "-".join(map(str, key))
        for role in game.roles:
            session = {"type": "session", "harness": "parley", "id": f"{path.stem}-{id}-{role}"}
            session |= {"name": f"{built.dataset.name} {name} {id}: {role}"}
            messages = [*_messages(game, state, log.entries[key]["calls"], role)]
            lines = (session, *({"type": "message", "message": each} for each in messages))
            text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
            if messages:
                files[f"{number:04}-{role}.jsonl"] = text
    with replacing(target, mark="") as folder:
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
        note_sample(built, folder)
    return [*files]


def _messages(
    game: Playing, state: Any, calls: list[Mapping[str, Any]], role: str
) -> Iterator[dict[str, str]]:
    """Yield what the model of a role saw, with what it said, and the last word of the other.

    Nothing, if the game ended before its first turn.
    """
    seen, own = list[Mapping[str, str]](), list[Mapping[str, Any]]()
    for call in calls:
        if call["role"] == role:
            seen = [*game.messages(state), {"role": "assistant", "content": call["text"]}]
            own.append(call)
        state = game.step(state, call["text"], reason_unread(call["finish"], call["text"]))
    if own and calls[-1]["role"] != role:
        seen.append({"role": "user", "content": calls[-1]["text"]})
    said = iter(own)
    for each in seen:
        message = {"role": each["role"], "content": each["content"]}
        if each["role"] == "assistant":
            call = next(said)
            message["model"] = call["model"]
            if "reasoning" in call:
                message["reasoningContent"] = call["reasoning"]
        yield message
