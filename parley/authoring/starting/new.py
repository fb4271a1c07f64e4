"""Write a new dataset folder that passes every rule, to be edited."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import parley
from parley.authoring.starting.draft import Stated, draft, require_spoken
from parley.authoring.starting.sample import write_sample
from parley.authoring.starting.script import pins, script, transcript
from parley.base.errors import UsageError
from parley.base.replace import replacing
from parley.building.card import renewed_card
from parley.building.card_parts import shown_row
from parley.building.registry import Dataset, collection_folder, wrong_name

SKELETON = Path(__file__).parent.parent / "skeleton"
NOTHING = Stated()
_NAME, _TITLE = SKELETON.name, SKELETON.name.title()  # replaced by the dataset's name


def write_skeleton(name: str, home: Path) -> Path:
    """Write a dataset folder of two invented dialogues into `home`, and return its path.

    UsageError if the name is not allowed or taken, or the path exists.
    """
    target = _free(name, home)
    texts = {
        path.relative_to(SKELETON).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(SKELETON.rglob("*"))
        if path.is_file() and path.suffix != ".pyc"
    }
    with replacing(target) as folder:
        for file, text in texts.items():
            path = folder / file.replace(_NAME, name)
            path.parent.mkdir(exist_ok=True)
            own = text.replace(_NAME, name).replace(_TITLE, _title(name))
            path.write_text(own, encoding="utf-8")
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
        text = script(name, _title(name), made)
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
        (folder / "pins.py").write_text(pins(made), encoding="utf-8")
        if made.stated:
            text = transcript(made, made.stated)
            (folder / "transcript.py").write_text(text, encoding="utf-8")
            row = shown_row(dataset)
            require_spoken(made.stated, [row.row] if row else [])  # as a row, too
        dataset.card.write_text(_drafted_card(dataset), encoding="utf-8")
        _renew_card(dataset)
    return target, made.notes


def _renew_card(dataset: Dataset) -> None:
    dataset.card.write_text(renewed_card(dataset), encoding="utf-8")
    shutil.rmtree(dataset.folder / "__pycache__", ignore_errors=True)  # of importing the script


def _title(name: str) -> str:
    return name.title().replace("_", "")


def _free(name: str, home: Path) -> Path:
    """Return the path for a new dataset, or raise UsageError."""
    if wrong := wrong_name(name):
        raise UsageError(f"{name!r} cannot name a dataset: {wrong}", remedy="Choose another name.")
    if (title := _title(name)) in (*parley.__all__, "Any", "Iterable", "Iterator"):
        what = f"{name!r} cannot name a dataset: its class {title} would hide a name of the script"
        raise UsageError(what, remedy="Choose another name.")
    if (target := home / name).exists() or target.is_symlink():
        raise UsageError(f"{target}: already exists", remedy="Choose another name or folder.")
    if (known := collection_folder() / name).is_dir():
        raise UsageError(f"{known} has this name already", remedy="Choose another name.")
    return target


def _drafted_card(dataset: Dataset) -> str:
    """Return the card of a draft, to be renewed: the skeleton's, with the known facts."""
    card = (SKELETON / "README.md").read_text(encoding="utf-8")
    card = card.replace(_NAME, dataset.name).replace(_TITLE, _title(dataset.name))
    head, *rest = card.split("\n## ")
    sections = dict(each.split("\n", 1) for each in rest)
    sections["What we changed"] = "\nMissing values are null. No record is left out.\n"
    return "\n## ".join([head, *(f"{title}\n{text}" for title, text in sections.items())])
