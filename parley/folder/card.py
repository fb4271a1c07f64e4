"""Dataset cards: YAML front matter, prose, and one generated section.

Prose and the first keys of the front matter are written by hand. `configs`, `dataset_info` and
the section between the two marks are generated from the build.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import yaml

from parley.collection import Dataset
from parley.errors import MOST_PROBLEMS, OutputError, ScriptError
from parley.figures import DIFFERS, OUR_CARD, Figure, tally
from parley.shapes import problems

BEGIN = "<!-- parley: generated from here -->"
END = "<!-- parley: generated to here -->"
GENERATED = ("configs", "dataset_info")
# in C where PyYAML was built with libyaml
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
# the last three: values that do not fit their tag or form, as !!bool maybe, 2000-13-45
_NOT_YAML = (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError)
_NOT_BUILT = "not built: its source is missing"
PIPE = "&#124;"  # a vertical line in a cell of a table
_SHOWN = "docs/adding.md shows a card."
_NO_LICENCE = ("", "unknown", "other", "none")
Splits = Mapping[str, Mapping[str, Mapping[str, Any]]]  # config -> split -> as in measured.json
_DEEPEST = 50  # lists and mappings in each other; ours have less than 15


def parse(card: str, where: str) -> tuple[dict[str, Any], str]:
    """Split a card into its front matter and the text below it.

    Raises:
        OutputError: the front matter is missing or is not a YAML mapping.
    """
    match = re.match(r"---\n(.*?\n)---\n", card, re.DOTALL)
    try:
        front = _load(match.group(1)) if match else None
    except _NOT_YAML as error:
        what = f"{where}: the front matter is not valid YAML: {error}"
        raise OutputError(what, remedy=_SHOWN) from error
    if not match or not isinstance(front, dict):
        what = f"{where}: expected YAML front matter between two lines of ---"
        raise OutputError(what, remedy=_SHOWN)
    return front, card[match.end() :]


def _load(text: str) -> Any:
    """Load untrusted YAML: refuse deep nesting, which crashes the library.

    Refuse aliases too: a few lines of them expand to billions of values.
    """
    depth = 0
    for event in yaml.parse(text, _LOADER):
        if isinstance(event, yaml.AliasEvent):
            raise ValueError("it has an alias; write out the value")
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise ValueError(f"it is nested more than {_DEEPEST} levels deep")
    return yaml.load(text, _LOADER)  # noqa: S506 - safe, in either form


def render(dataset: Dataset, splits: Splits, section: str, *, whole: bool = False) -> str:
    """Return the dataset's card with new generated parts.

    Args:
        dataset: The dataset.
        splits: Config -> split -> what was measured of it, or what a document states.
        section: Markdown for below the table of splits.
        whole: Also name the splits that were not built, as the card in a dataset folder does.

    Raises:
        OutputError: the card cannot be read, or lacks the marks around its generated part.
    """
    where = str(dataset.card)
    front, body = parse(dataset.read_card(), where)
    if body.count(BEGIN) != 1 or body.count(END) != 1:
        raise OutputError(f"{where}: expected the lines {BEGIN} and {END} once each")
    built = {
        config: {split: found for split, found in names.items() if "rows" in found}
        for config, names in splits.items()
    }
    named = dataset.splits if whole else built
    front = {key: value for key, value in front.items() if key not in GENERATED}
    front["configs"] = card_configs(named, dataset.default)
    front["dataset_info"] = [
        dict(_info(dataset, config, built.get(config, {}))) for config in named if named[config]
    ]
    head = yaml.dump(front, Dumper=_DUMPER, sort_keys=False, allow_unicode=True, width=1000)
    before, rest = body.split(BEGIN)
    after = rest.split(END)[1]
    return f"---\n{head}---\n{before}{BEGIN}\n\n{section}\n{END}{after}"


def _info(
    dataset: Dataset, config: str, splits: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, Any]]:
    """Yield an entry of the card's `dataset_info`."""
    from parley.rows.features import card_yaml  # not at the top: it brings `datasets`

    yield "config_name", config
    yield "license", dataset.builder.licence(config)
    yield "features", card_yaml(dataset.features(config))
    if splits:
        yield (
            "splits",
            [
                {"name": split, "num_bytes": found["arrow_bytes"], "num_examples": found["rows"]}
                for split, found in splits.items()
            ],
        )
        yield "download_size", sum(found["bytes"] for found in splits.values())
        yield "dataset_size", sum(found["arrow_bytes"] for found in splits.values())


def card_configs(configs: Mapping[str, Iterable[str]], default: str) -> list[dict[str, Any]]:
    """Return the front matter's `configs`: config -> its splits, one of them the default."""
    return [
        {
            "config_name": config,
            **({"default": True} if config == default else {}),
            "data_files": [
                {"split": split, "path": f"{config}/{split}-*.parquet"} for split in splits
            ],
        }
        for config, splits in configs.items()
        if splits
    ]


def _any(value: Any) -> None:
    """Take any value."""


# What `summary` reads of a card's front matter
_licence = (str, [str])
_files = {"split": str, "path": (str, [str])}
_SUMMARISED = {
    "pretty_name": (str, None),
    "license": (*_licence, None),
    "configs": [{"config_name": str, "default?": bool, "data_files": [_files]}],
    "dataset_info": [
        {
            "config_name": str,
            "license?": _licence,
            "features?": _any,
            "splits?": [{"name": str, "num_bytes": int, "num_examples": int}],
            "download_size?": int,
            "dataset_size?": int,
        }
    ],
}


def summary(dataset: Dataset) -> dict[str, Any]:
    """Summarise a dataset's configs from its card, without importing the builder.

    Returns:
        name, pretty_name, and configs: a list of {name, license, size, splits, documented}. Splits
        is split -> rows, None where they were not counted; size is the bytes of Parquet of those
        that were, or None. Documented is split -> rows that a document states of one not counted.
    """
    # The features fill most of the front matter, and parsing them most of the time `list` takes.
    card = re.sub(r"^  features:\n(?: {3,}.*\n|  - .*\n)*", "", dataset.read_card(), flags=re.M)
    front, _ = parse(card, str(dataset.card))
    stated = _documented(dataset)
    front = {key: front.get(key, []) for key in GENERATED} | {
        key: front.get(key) for key in ("pretty_name", "license")
    }
    if found := list(islice(problems(front, _SUMMARISED), MOST_PROBLEMS)):
        raise ScriptError(f"{dataset.card}: the front matter is invalid", *found)
    infos = {info["config_name"]: info for info in front["dataset_info"]}
    configs = []
    for config in front["configs"]:
        info = infos.get(config["config_name"], {})
        rows = {split["name"]: split["num_examples"] for split in info.get("splits", ())}
        splits = {file["split"]: rows.get(file["split"]) for file in config["data_files"]}
        licence = info.get("license", front["license"] or "unknown")
        configs.append(
            {
                "name": config["config_name"],
                "license": licence if isinstance(licence, str) else ", ".join(licence),
                "size": info.get("download_size"),
                "splits": splits,
                "documented": stated.get(config["config_name"], {}),
            }
        )
    return {"name": dataset.name, "pretty_name": front["pretty_name"], "configs": configs}


def _documented(dataset: Dataset) -> dict[str, dict[str, int]]:
    """Return config -> split -> documented rows of splits that were not counted."""
    from parley.folder.measured import measured

    return {
        config: {
            split: found["documented"] for split, found in names.items() if "documented" in found
        }
        for config, names in measured(dataset).splits.items()
    }


def figures_section(figures: Sequence[Figure], *, whole: bool = True) -> str:
    """Return the documented figures with what was measured, and the reasons for differences.

    Args:
        figures: The figures.
        whole: Show every figure; else only those that differ, as the card in a dataset folder.
    """
    documented = [figure for figure in figures if not figure.place.startswith(OUR_CARD)]
    ours = [figure for figure in figures if figure.place.startswith(OUR_CARD)]
    notes: dict[str, int] = {}
    lines = []
    if documented:
        total = tally(figure.verdict for figure in documented)
        lines += [
            f"Of {len(documented)} documented figures, recomputed from the rows: {total}.",
            "",
        ]
    if ours:
        lines += [f"{len(ours)} further figures of this card are recomputed too.", ""]
    if not whole:
        differing = [figure for figure in figures if figure.verdict == DIFFERS]
        lines += [*_table(differing, notes), ""] if differing else []
    for some, title in ((documented, "The documented figures"), (ours, "This card's figures")):
        if some and whole:  # folded: hundreds of lines that few read
            lines += ["<details>", f"<summary>{title}</summary>", "", *_table(some, notes)]
            lines += ["", "</details>", ""]
    lines += [f"[{number}] {reason}.  " for reason, number in notes.items()]
    return "\n".join(lines).rstrip("\n") + "\n" if lines else ""


def _table(figures: Sequence[Figure], notes: dict[str, int]) -> Iterator[str]:
    yield "| figure | documented | measured | verdict | document |"
    yield "| --- | ---: | ---: | --- | --- |"
    for figure in figures:
        note = f" [{notes.setdefault(figure.reason, len(notes) + 1)}]" if figure.reason else ""
        measured = "" if figure.measured is None else str(figure.measured)
        cells = (f"`{figure.name}`", figure.stated, measured, figure.verdict + note, figure.place)
        yield f"| {' | '.join(cell.replace('|', PIPE) for cell in cells)} |"


def prose(body: str) -> tuple[str, str]:
    """Return the text of a card before and after its generated section."""
    return body.split(BEGIN)[0], body.split(END)[-1]


def is_licensed(card: str, where: str) -> bool:
    """Tell whether a card names a licence."""
    stated = parse(card, where)[0].get("license")
    licences = stated if isinstance(stated, list) and stated else [stated]
    return all(isinstance(name, str) and name.lower() not in _NO_LICENCE for name in licences)


def licence_section(card: str, where: str) -> str:
    """Return the licence section of a card, or ""."""
    body = parse(card, where)[1]
    return body.partition("\n## Licence\n")[2].partition("\n## ")[0].strip()


def splits_section(dataset: Dataset, splits: Splits, sample: bool = False) -> str:
    """Return the table of splits."""
    lines = ["| config | split | rows | null in all rows |", "| --- | --- | ---: | --- |"]
    for config, names in dataset.splits.items():
        for split in names:
            found = splits.get(config, {}).get(split, {})
            if "rows" in found:
                rows = f"{found['rows']:,}"
            elif (documented := found.get("documented")) is not None:
                rows = f"{documented:,} documented, {_NOT_BUILT}"
            else:
                rows = _NOT_BUILT
            nulls = ", ".join(f"`{column}`" for column in found.get("null", ()))
            lines.append(f"| `{config}` | `{split}` | {rows} | {nulls} |")
    if sample:
        lines.append("")
        lines.append(
            "**This is a sample**: invented records in the dataset's layout, not its data."
        )
    return "\n".join(lines) + "\n"
