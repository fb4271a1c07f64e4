"""Write chats as prompts and completions, the format of preference trainers.

    DIR/<split>.jsonl    one line for each turn of the assistant in `messages`:
                         {"prompt": [message, ...], "completion": [message], key: value, ...}

A message is {"role", "content"}. The keys are those of the row of `messages`, and `turn`, the place
of the completion in its `messages`, from 0.
"""

import json
from pathlib import Path

from parley.building.built import BuiltFolder

CONFIG = "messages"


def prompt_completion(built: BuiltFolder, folder: Path) -> None:
    """Write a file per split."""
    keys = built.dataset.configs[CONFIG].keys
    for split in built.splits(CONFIG):
        with (folder / f"{split}.jsonl").open("w", encoding="utf-8", newline="\n") as file:
            for row in built.each_row(CONFIG, split):
                chat = row["messages"]
                for turn, message in enumerate(chat):
                    if message["role"] == "assistant":
                        line = {"prompt": chat[:turn], "completion": [message]}
                        line |= {key: row[key] for key in keys} | {"turn": turn}
                        text = json.dumps(line, ensure_ascii=False, allow_nan=False)
                        file.write(f"{text}\n")
