"""Write the negotiations of a log as a dataset folder and its build, to read like any other."""

import hashlib
import json
from pathlib import Path
from typing import Any

from parley.asking.log import Questions, read_log
from parley.base.replace import replacing, write_whole
from parley.building.build import build
from parley.building.collection import Dataset
from parley.building.sources import open_source
from parley.declaring.questions import Playing
from parley.scoring.gold import arguments

_SKELETON = Path(__file__).parent / "skeleton"


def write_played(questions: Questions, path: Path) -> Dataset:
    """Write the negotiations of a complete log and build them; return their dataset.

    Beside the log, `played/NAME` holds the dataset, and `played/build` its build.
    """
    name = "".join(c if c.isalnum() else "_" for c in path.stem.lower()) + "_played"
    home = path.parent / "played"
    lines = (json.dumps(each, ensure_ascii=False) for each in _records(questions, path))
    text = "".join(f"{line}\n" for line in lines)
    source = home / "source" / name / "dialogues.jsonl"
    source.parent.mkdir(parents=True, exist_ok=True)
    write_whole(source, text)
    dataset = Dataset(name, home / name)
    with replacing(dataset.folder, f"{name}.py") as folder:
        for file in _SKELETON.glob("*.*"):
            written = file.read_text(encoding="utf-8").replace("played", name)
            for old, new in (
                ("Played", name.title().replace("_", "")),
                ("size=0", f"size={len(text.encode())}"),
                ("0" * 64, hashlib.sha256(text.encode()).hexdigest()),
                ("SOURCE", f"{questions.built.dataset.name} {questions.name}"),
                ("LOGFILE", path.name),
            ):
                written = written.replace(old, new)
            (folder / file.name.replace("played", name)).write_text(written, encoding="utf-8")
    build(open_source(dataset, home / "source"), home / "build")
    return dataset


def _records(questions: Questions, path: Path) -> list[dict[str, Any]]:
    """Return the record of each negotiation."""
    game = questions.asking
    assert isinstance(game, Playing)  # noqa: S101 - for types
    header, entries = read_log(path)
    task = questions.task
    given = {**questions.options, **arguments(task, questions.part)}
    people = {
        tuple(each[name] for name in task.key): each
        for each in task.baselines[game.people](questions.built, **given)
    }
    found = []
    for key, state in questions.by_key.items():
        entry = entries[key]
        prediction = entry["prediction"]
        end = "deal" if prediction[game.agreed] is not None else prediction.get("end", "walk_away")
        own, theirs = (
            game.points(state, prediction),
            game.points(state, people[key[: len(task.key)]]),
        )
        turns = [{"speaker": call["role"], "text": call["text"]} for call in entry["calls"]]
        sides = [
            {
                "speaker": role,
                "model": header["models"][questions.seat(key, role)],
                "points": own.get(role),
                "points_of_people": theirs.get(role),
            }
            for role in game.roles
        ]
        found.append({"id": "-".join(map(str, key)), "turns": turns, "end": end, "sides": sides})
    return found
