"""Write a new dataset folder that passes every rule, to be edited."""

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import parley
from parley.authoring.starting.draft import draft
from parley.authoring.starting.sample import write_sample
from parley.authoring.starting.script import script, shortened, transcript
from parley.base.errors import UsageError
from parley.base.replace import replacing
from parley.building.card import BEGIN
from parley.building.collection import Dataset, collection_folder, wrong_name
from parley.building.plan import split_plan
from parley.building.sources import open_source
from parley.declaring.features import item_of
from parley.rows.generate import generate

SKELETON = Path(__file__).parent.parent / "skeleton"
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
    with replacing(target, mark="") as folder:
        for file, text in texts.items():
            path = folder / file.replace(_NAME, name)
            path.parent.mkdir(exist_ok=True)
            own = text.replace(_NAME, name).replace(_TITLE, _title(name))
            path.write_text(own, encoding="utf-8")
    return target


def write_draft(name: str, home: Path, files: Sequence[Path]) -> tuple[Path, list[str]]:
    """Write a dataset folder guessed from upstream's files, folders and zip archives.

    Return its path, and the guesses, a line each. UsageError as for a skeleton, or if the files
    hold no dataset; RecordError if a file cannot be read.
    """
    target = _free(name, home)
    made = draft(files)
    with replacing(target, mark="") as folder:
        write_sample(made, folder / "sample")
        dataset = Dataset(name, folder)
        text = script(name, _title(name), made)
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
        if made.chat:
            text = transcript(made, made.chat)
            (folder / "transcript.py").write_text(text, encoding="utf-8")
        dataset.card.write_text(drafted_card(dataset), encoding="utf-8")
        shutil.rmtree(folder / "__pycache__", ignore_errors=True)  # of importing the script
    return target, made.notes


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


def drafted_card(dataset: Dataset) -> str:
    """Return the card of a draft: the skeleton's, with the known facts."""
    card = (SKELETON / "README.md").read_text(encoding="utf-8")
    card = card.replace(_NAME, dataset.name).replace(_TITLE, _title(dataset.name))
    head, *rest = card.replace("license: cc-by-4.0", "license: unknown").split("\n## ")
    sections = dict(each.split("\n", 1) for each in rest)
    first, *_ = splits = list(dataset.splits["dialogues"])
    sample = open_source(dataset, None, sample=True)
    row = next(iter(generate(split_plan(sample, "dialogues", first))))
    shown = json.dumps(shortened(row), ensure_ascii=False, indent=2)
    generated = sections["Splits"][sections["Splits"].index(BEGIN) :]
    load = sections["How to load"].replace('"train"', f'"{first}"')
    if "messages" not in dataset.configs:
        load = re.sub("chats = .*\n", "", load)
    sections |= {
        "How to load": load,
        "What a row looks like": f"""
A row of `dialogues`, invented, its lists shortened:

```json
{shown}
```
""",
        "Fields": "\n" + "\n".join(_fields(dataset)),
        "Splits": f"""
{", ".join(f"`{split}`" for split in splits)}, in upstream's order.

{generated}""",
        "What we changed": "\nMissing values are null. No record is left out.\n",
        "Citation": f"\n```bibtex\n{dataset.builder.CITATION}\n```\n",
    }
    return "\n## ".join([head, *(f"{title}\n{text}" for title, text in sections.items())])


def _fields(dataset: Dataset) -> Iterator[str]:
    for config in dataset.configs.values():
        yield f"`{config.name}`, {config.description}:\n"
        yield "| field | type | content |\n| --- | --- | --- |"
        for column, feature in config.features.items():
            yield f"| `{column}` | {_type(feature)} | |"
        yield ""


def _type(feature: Any) -> str:
    if isinstance(feature, dict):
        return ", ".join(f"`{name}`" for name in feature)
    item = item_of(feature)
    return str(feature.dtype) if item is None else f"list of {_type(item)}"
