"""Writes a new dataset folder that passes every check and is there to be edited."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import parley
from parley.build import own_card
from parley.collection import Dataset, collection_folder, wrong_name
from parley.errors import UsageError
from parley.folder.replace import replacing
from parley.source.files import open_source
from parley.starting.draft import Draft, draft, invented, script, write_sample

SKELETON = Path(__file__).parent.parent / "skeleton"
_NAME, _TITLE = SKELETON.name, SKELETON.name.title()  # what stands in it for the dataset's name


def write_skeleton(name: str, home: Path) -> Path:
    """Write a dataset folder of two invented dialogues, and return where it is.

    Args:
        name: The dataset's name.
        home: The folder that takes the dataset's folder; made if need be.

    Raises:
        UsageError: no dataset may have this name, one of the collection has it, or something
            stands there.
        OutputError: it cannot be written.
    """
    target = _free(name, home)
    texts = {
        path.relative_to(SKELETON).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(SKELETON.rglob("*"))
        if path.is_file() and path.suffix != ".pyc"
    }
    texts["README.md"] = own_card(Dataset(_NAME, SKELETON))
    with replacing(target, mark="") as folder:
        for file, text in texts.items():
            path = folder / file.replace(_NAME, name)
            path.parent.mkdir(exist_ok=True)
            own = text.replace(_NAME, name).replace(_TITLE, _title(name))
            path.write_text(own, encoding="utf-8")
    return target


def write_draft(name: str, home: Path, files: Sequence[Path]) -> tuple[Path, list[str]]:
    """Write a dataset folder guessed from upstream's files.

    Args:
        name: The dataset's name.
        home: The folder that takes the dataset's folder; made if need be.
        files: Files, folders and zip archives that hold the records.

    Returns:
        Where it is, and what was guessed, a line each.

    Raises:
        UsageError: as for a skeleton; or the files cannot be made a dataset of.
        RecordError: a file cannot be read.
        OutputError: it cannot be written.
    """
    target = _free(name, home)
    made = draft(files)
    (record, *_), *_ = invented(made).values()
    with replacing(target, mark="") as folder:
        text = script(name, _title(name), made, record)
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
        if made.chat:
            (folder / "transcript.py").write_text(_transcript(made), encoding="utf-8")
        write_sample(made, folder / "sample")
        dataset = Dataset(name, folder)
        (folder / "README.md").write_text(_drafted_card(dataset, made, folder), encoding="utf-8")
        (folder / "README.md").write_text(own_card(dataset), encoding="utf-8")
    return target, made.remarks


def _title(name: str) -> str:
    return name.title().replace("_", "")


def _free(name: str, home: Path) -> Path:
    """Return where the folder of a new dataset is to be, or raise UsageError."""
    if wrong := wrong_name(name):
        raise UsageError(f"{name!r} cannot name a dataset: {wrong}", remedy="Choose another name.")
    if (title := _title(name)) in (*parley.__all__, "Any", "Iterable", "Iterator"):
        what = f"{name!r} cannot name a dataset: its class {title} would hide what the script uses"
        raise UsageError(what, remedy="Choose another name.")
    if (target := home / name).exists() or target.is_symlink():
        raise UsageError(f"{target}: stands there already", remedy="Choose another name or folder.")
    if (known := collection_folder() / name).is_dir():
        raise UsageError(f"{known} has this name already", remedy="Choose another name.")
    return target


def _drafted_card(dataset: Dataset, made: Draft, folder: Path) -> str:
    """Return the card of a draft: the skeleton's, with the fields and a row of this dataset."""
    card = (SKELETON / "README.md").read_text(encoding="utf-8")
    card = card.replace(_NAME, dataset.name).replace(_TITLE, _title(dataset.name))
    card = card.replace("license: cc-by-4.0", "license: unknown")
    card = re.sub(
        r"(```bibtex\n).*?(\n```)",
        lambda m: m[1] + dataset.builder.CITATION + m[2],
        card,
        flags=re.S,
    )
    fields = "\n".join(_fields(dataset))
    card = re.sub(r"(## Fields\n\n).*?(?=\n## )", lambda m: m[1] + fields, card, flags=re.S)
    (config, split), *_ = (
        (config, split) for config, splits in dataset.splits.items() for split in splits
    )
    row = _first_row(dataset, config, split, folder)
    shown = json.dumps(row, ensure_ascii=False, indent=2)
    card = re.sub(r"(```json\n).*?(\n```)", lambda m: m[1] + shown + m[2], card, flags=re.S)
    card = re.sub(
        r"(## What we changed\n\n).*?(?=\n## )",
        lambda m: m[1] + "A missing key is null. No record is left out.\n",
        card,
        flags=re.S,
    )
    card = re.sub(r"^chats = .*\n", "", card, flags=re.M) if not made.chat else card
    split_names = ", ".join(f"`{split}`" for split in dataset.splits[config])
    card = card.replace(
        "One split, `train`, in upstream's order.", f"{split_names}, in upstream's order."
    )
    first = next(iter(dataset.splits[config]))
    card = card.replace('split="train"', f'split="{first}"')
    return card.replace(
        "The data is published under CC BY 4.0 by its authors; say where they say so.",
        "Say under which licence upstream publishes the data, and where.",
    )


def _first_row(dataset: Dataset, config: str, split: str, folder: Path) -> Any:
    from parley.rows.generate import generate

    return next(iter(generate(open_source(dataset, None, sample=True), config, split)))


def _fields(dataset: Dataset) -> Iterator[str]:
    for config in dataset.configs.values():
        yield f"`{config.name}`, {config.description}:\n"
        yield "| field | type | content |\n| --- | --- | --- |"
        for column, feature in config.features.items():
            yield f"| `{column}` | {_type(feature)} | |"
        yield ""


def _type(feature: Any) -> str:
    if isinstance(feature, dict):
        return f"object of {', '.join(f'`{name}`' for name in feature)}"
    inner = feature[0] if isinstance(feature, list) else getattr(feature, "feature", None)
    if inner is not None:
        said = _type(inner)
        return "list of " + said.removeprefix("object of ")
    return str(feature.dtype)


def _transcript(made: Draft) -> str:
    name, speaker, text, _ = made.chat or ("", "", "", {})
    title = f"row[{json.dumps(made.key[0])}]" if made.key else '"dialogue"'
    return f'''"""Lays a dialogue out for reading, and says what it can be found by."""

from typing import Any

from parley.transcript import Facets, Transcript, Turn

CONFIGS = ("dialogues",)


def transcript(row: dict[str, Any]) -> Transcript:
    """Return the transcript of a row of `dialogues`."""
    return Transcript(
        title=str({title}),
        turns=[Turn(turn["{speaker}"], turn["{text}"]) for turn in row[{json.dumps(name)}]],
        language="en",
    )


def facets(row: dict[str, Any]) -> Facets:
    """Return its length."""
    return {{"turns": len(row[{json.dumps(name)}])}}
'''
