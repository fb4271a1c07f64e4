"""Write chats as prompts and completions, the format of preference trainers.

    DIR/<split>.jsonl    one line for each turn of the assistant in `messages`:
                         {"prompt": [message, ...], "completion": [message], key: value, ...}

A message is {"role", "content"}. The keys are those of the row of `messages`, and `turn`, the place
of the completion in its `messages`, from 0.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parley.building.folder import BuiltFolder
from parley.reading.export.tables import write_lines

CONFIG = "messages"


def prompt_completion(built: BuiltFolder, folder: Path) -> None:
    """Write a file per split."""
    for split in built.splits(CONFIG):
        write_lines(folder / f"{split}.jsonl", _completions(built, split))


def _completions(built: BuiltFolder, split: str) -> Iterator[dict[str, Any]]:
    keys = built.dataset.configs[CONFIG].keys
    for row in built.each_row(CONFIG, split):
        chat = row["messages"]
        for turn, message in enumerate(chat):
            if message["role"] == "assistant":
                line = {"prompt": chat[:turn], "completion": [message]}
                yield line | {key: row[key] for key in keys} | {"turn": turn}
