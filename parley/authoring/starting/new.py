"""Write a new dataset folder that passes every rule, to be edited."""

import shutil
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import parley
from parley.authoring.starting.draft import Draft, Stated, draft
from parley.authoring.starting.files import pin_of
from parley.authoring.starting.sample import write_sample
from parley.authoring.starting.script import TURNS, pins, script, transcript
from parley.base.errors import ScriptError, UsageError, few
from parley.base.replace import replacing
from parley.building.card import renewed_card
from parley.building.registry import Dataset, collection_folder, wrong_name
from parley.reading.dialogues import Dialogue

SKELETON = Path(__file__).parent.parent / "skeleton"
NOTHING = Stated()
_NAME, _TITLE = SKELETON.name, SKELETON.name.title()  # replaced by the dataset's name


def write_skeleton(name: str, home: Path) -> Path:
    """Write a dataset folder of two invented dialogues into `home`, and return its path.

    UsageError if the name is not allowed or taken, or the path exists.
    """
    target = _free(name, home)
    with replacing(target) as folder:
        for file in SKELETON.rglob("*.*"):
            if file.suffix != ".pyc":
                path = folder / file.relative_to(SKELETON).as_posix().replace(_NAME, name)
                path.parent.mkdir(exist_ok=True)
                path.write_text(_text(file, name), encoding="utf-8")
        _renew_card(Dataset(name, folder))
    return target


def write_draft(
    name: str, home: Path, files: Sequence[Path], stated: Stated = NOTHING
) -> tuple[Path, list[str]]:
    """Write a dataset folder drafted from upstream's files and folders.

    Return its path, and what was taken and guessed, a line each. UsageError as for a skeleton, or
    if the files hold no dataset, or not what is stated; RecordError if a file cannot be read.
    """
    target = _free(name, home)
    made = draft(files, stated)
    with replacing(target) as folder:
        write_sample(made, folder / "sample")
        dataset = Dataset(name, folder)
        texts = {f"{name}.py": script(name, _title(name), made)}
        texts["pins.py"] = pins({each.path: pin_of(each.place, each.path) for each in made.given})
        card = _text(SKELETON / "README.md", name)
        texts["README.md"] = card.replace("A missing `rating` is null.", "Missing values are null.")
        if stated != NOTHING:
            texts["transcript.py"] = transcript(made)
        for file, text in texts.items():
            (folder / file).write_text(text, encoding="utf-8")
        if stated != NOTHING:
            _require_turns(dataset, made)
        _renew_card(dataset)
    return target, made.notes


def _require_turns(dataset: Dataset, made: Draft) -> None:
    """Raise UsageError unless the drafted transcript lays out each record of the files."""
    config: Any = dataset.configs["dialogues"]
    sources = {each.path: each.values for each in made.given}
    records = config.records(sources) if config.records else chain(*sources.values())
    field = TURNS if made.stated.dialogue else made.stated.turns or made.stated.text
    for record in records:
        row = config.to_row(record)
        try:
            if not isinstance(row.get(field), list):
                raise ScriptError("")
            _ = Dialogue(dataset, "dialogues", "", row, {}, ()).transcript
        except ScriptError as error:
            why = f"{field}: {row.get(field)!r:.100}"
            if isinstance(error.__cause__, KeyError):
                of = "turn" if made.stated.turns or made.stated.dialogue else "record"
                why = f"{error.__cause__} is not a field of every {of}"
            fields = few([*map(repr, made.value if made.stated.dialogue else row)], 8)
            raise UsageError(
                f"{made.stated}: not a list of texts and their speakers in every record "
                f"({why}); a record has {fields}",
                remedy="Name fields as the files have them, or write the script by hand.",
            ) from error


def _text(file: Path, name: str) -> str:
    """Return a file of the skeleton with the name and title of a dataset."""
    text = file.read_text(encoding="utf-8")
    return text.replace(_NAME, name).replace(_TITLE, _title(name))


def _renew_card(dataset: Dataset) -> None:
    dataset.card.write_text(renewed_card(dataset), encoding="utf-8")
    shutil.rmtree(dataset.folder / "__pycache__", ignore_errors=True)  # of importing the script


def _title(name: str) -> str:
    return name.title().replace("_", "")


def _free(name: str, home: Path) -> Path:
    """Return the path for a new dataset, or raise UsageError."""
    target, known = home / name, collection_folder() / name
    wrong = wrong_name(name)
    if (title := _title(name)) in (*parley.__all__, "Any", "Iterable", "Iterator", "Mapping"):
        wrong = f"its class {title} would hide a name of the script"
    if wrong:
        raise UsageError(f"{name!r} cannot name a dataset: {wrong}", remedy="Choose another name.")
    for taken in (target, known):
        if taken.exists() or taken.is_symlink():
            raise UsageError(f"{taken}: already exists", remedy="Choose another name or folder.")
    return target
