"""Writes the skeleton of a dataset folder, which passes every check and is there to be edited."""

import re
from pathlib import Path

from parley.build import render_card
from parley.collection import Dataset, collection_folder, wrong_name
from parley.errors import UsageError
from parley.figures import figures
from parley.folder.card import figures_section
from parley.folder.replace import replacing
from parley.rows.features import card_yaml
from parley.source.files import Source

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
    if wrong := wrong_name(name):
        raise UsageError(f"{name!r} cannot name a dataset: {wrong}", remedy="Choose another name.")
    if (target := home / name).exists() or target.is_symlink():
        raise UsageError(f"{target}: stands there already", remedy="Choose another name or folder.")
    if (known := collection_folder() / name).is_dir():
        raise UsageError(f"{known} has this name already", remedy="Choose another name.")
    texts = {
        path.relative_to(SKELETON).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(SKELETON.rglob("*"))
        if path.is_file() and path.suffix != ".pyc"
    }
    texts["README.md"] = _card()
    title = name.title().replace("_", "")
    if re.search(rf"^from .* import .*\b{title}\b", texts[f"{_NAME}.py"], re.MULTILINE):
        what = f"{name!r} cannot name a dataset: its class {title} would hide what the script uses"
        raise UsageError(what, remedy="Choose another name.")
    with replacing(target, mark="") as folder:
        for file, text in texts.items():
            path = folder / file.replace(_NAME, name)
            path.parent.mkdir(exist_ok=True)
            own = text.replace(_NAME, name).replace(_TITLE, title)
            path.write_text(own, encoding="utf-8")
    return target


def _card() -> str:
    """Return the skeleton's card with its generated part, in which nothing is counted yet."""
    dataset = Dataset(_NAME, SKELETON)
    infos = [
        {
            "config_name": config,
            "license": dataset.info(config).license,
            "features": card_yaml(features),
        }
        for config, features in dataset.module.FEATURES.items()
    ]
    stated = list(figures(dataset.figures, None, "the upstream files were not at hand"))
    source = Source(dataset, dataset.sample, missing=[*dataset.module.SOURCES])
    return render_card(source, [], infos, figures_section(stated), declare_all=True)
