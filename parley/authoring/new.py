"""Write a new dataset folder that passes every rule, to be edited."""

import shutil
from pathlib import Path

import parley
from parley.base.errors import UsageError
from parley.base.replace import replacing
from parley.builds.card import renewed_card
from parley.declaration.registry import Dataset, collection_folder, wrong_name

SKELETON = Path(__file__).parent / "skeleton"
_NAME, _TITLE = SKELETON.name, SKELETON.name.title()  # replaced by the dataset's name


def write_skeleton(name: str, home: Path) -> Path:
    """Write a dataset folder of two invented dialogues into `home`, and return its path."""
    target = _free(name, home)
    with replacing(target) as folder:
        for file in SKELETON.rglob("*.*"):
            if file.suffix != ".pyc":
                path = folder / file.relative_to(SKELETON).as_posix().replace(_NAME, name)
                path.parent.mkdir(exist_ok=True)
                text = file.read_text(encoding="utf-8").replace(_NAME, name)
                path.write_text(text.replace(_TITLE, _title(name)), encoding="utf-8")
        dataset = Dataset(name, folder)
        dataset.card.write_text(renewed_card(dataset), encoding="utf-8")
        shutil.rmtree(folder / "__pycache__", ignore_errors=True)  # of importing the script
    return target


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
