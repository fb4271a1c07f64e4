"""Write a new dataset folder that passes every rule, to be edited."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import parley
from parley.authoring.starting.draft import Stated, draft
from parley.authoring.starting.files import pin_of
from parley.authoring.starting.sample import write_sample
from parley.authoring.starting.script import pins, script, transcript
from parley.base.errors import UsageError
from parley.base.replace import replacing
from parley.building.card import renewed_card
from parley.building.registry import Dataset, collection_folder, wrong_name

SKELETON = Path(__file__).parent.parent / "skeleton"
NOTHING = Stated()
_NAME, _TITLE = SKELETON.name, SKELETON.name.title()  # replaced by the dataset's name


def write_skeleton(name: str, home: Path) -> Path:
    """Write a dataset folder of two invented dialogues into `home`, and return its path."""
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
    """Write a dataset folder drafted from files; return it, and a line for each guess."""
    target = _free(name, home)
    made = draft(files, stated)
    with replacing(target) as folder:
        write_sample(made, folder / "sample")
        texts = {f"{name}.py": script(name, _title(name), made)}
        texts["pins.py"] = pins({each.path: pin_of(each.place, each.path) for each in made.given})
        card = _text(SKELETON / "README.md", name)
        texts["README.md"] = card.replace("A missing `rating` is null.", "Missing values are null.")
        if stated != NOTHING:
            texts["transcript.py"] = transcript(made)
        for file, text in texts.items():
            (folder / file).write_text(text, encoding="utf-8")
        _renew_card(Dataset(name, folder))
    return target, made.notes


def _text(file: Path, name: str) -> str:
    text = file.read_text(encoding="utf-8")
    return text.replace(_NAME, name).replace(_TITLE, _title(name))


def _renew_card(dataset: Dataset) -> None:
    dataset.card.write_text(renewed_card(dataset), encoding="utf-8")
    shutil.rmtree(dataset.folder / "__pycache__", ignore_errors=True)  # of importing the script


def _title(name: str) -> str:
    return name.title().replace("_", "")


def _free(name: str, home: Path) -> Path:
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
