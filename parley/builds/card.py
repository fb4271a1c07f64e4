"""Dataset cards: YAML front matter and Markdown, parts of which are generated.

`parley card` writes the parts into the card of the dataset folder, with the rows of
`measured.json`. A build writes the same parts with its own rows, and adds `configs` and
`dataset_info` to the front matter. A counted number is followed by a comment that names it:
`76.7<!-- guesses.highest -->`.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import yaml

from parley.base.errors import OutputError, Problem, ScriptError
from parley.base.numbers import FigureValue
from parley.builds import card_parts
from parley.builds.built_folder import BuiltFolder
from parley.declaration.figures import A_SAMPLE
from parley.declaration.measured import Measured, Splits, descriptions, every_split, measured
from parley.declaration.registry import Dataset
from parley.schema.features import card_yaml

# in C where PyYAML was built with libyaml
_SAFE_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
# the last three: values that do not fit their tag or form, as !!bool maybe, 2000-13-45
_NOT_YAML = (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError)
_SHOWN = "docs/adding.md shows a card."
_NO_LICENCE = ("", "unknown", "other", "none")
_DEEPEST = 50  # lists and mappings in each other; ours have less than 15
# the Hub's names of sizes, by the digits of the number of rows: up to 3, 4 and so on
_SIZES = (
    *("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B"),
    *("1B<n<10B", "10B<n<100B", "100B<n<1T", "n>1T"),
)
PARTS = ("splits", "load", "row", "fields", "figures", "tasks", "citation")
_LAST_NUMBER = re.compile(r"(?<![\w.,−-])[-−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?\Z")
_NAMED = re.compile(r"<!--(?! parley: )(.*?)-->", re.DOTALL)
_COMMENT = re.compile("<!--.*?-->", re.DOTALL)
_EMPTY = re.compile(r"^## .*\n\s*(?=^## |\Z)", re.MULTILINE)


def parse(card: str, where: str) -> tuple[dict[str, Any], str]:
    """Split a card into its front matter, a mapping or OutputError, and the text below it."""
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


class _Loader(_SAFE_LOADER):
    """Loads plain values; a repeated key is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:
        mapping = super().construct_mapping(node, deep)
        if len(mapping) < len(node.value):
            keys = Counter(self.construct_object(key) for key, _ in node.value)
            raise ValueError(f"it has the key {max(keys, key=keys.__getitem__)!r:.60} twice")
        return mapping


def _load(text: str) -> Any:
    """Load untrusted YAML, but no aliases, which may expand to billions of values.

    Nor deep nesting, which crashes the library, nor repeated keys, of which readers take one.
    """
    depth = 0
    for event in yaml.parse(text, _Loader):
        if isinstance(event, yaml.AliasEvent):
            raise ValueError("it has an alias; write out the value")
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise ValueError(f"it is nested more than {_DEEPEST} levels deep")
    return yaml.load(text, _Loader)  # noqa: S506 - safe, in either form


def built_card(built: BuiltFolder, entries: Splits, known: Measured) -> str:
    """Return the card of a build, of whose rows `entries` were measured.

    OutputError if the dataset's card lacks a part's marks, or names an unknown number.
    """
    dataset, sample = built.dataset, built.is_sample
    splits = every_split(dataset, entries)
    on_build = [*([card_parts.SAMPLE] if sample else ()), *notes(built.mirrored)]
    parts = _parts(dataset, known, splits, on_build)
    if sample:
        parts["figures"] = f"Not recomputed: {A_SAMPLE}."
    elif built.missing:
        note = "Partial build: the figures are those of `measured.json`."
        parts["figures"] = card_parts.figures_part(known.figures(dataset), note)
    front, body = parse(dataset.read_card(), str(dataset.card))
    front |= determined(dataset, splits)
    front["configs"] = [_files(name, config, dataset.default) for name, config in entries.items()]
    front["dataset_info"] = [_info(built, name, config) for name, config in entries.items()]
    return _front(front) + _with_parts(dataset, body, parts, known, sample)


def renewed_card(dataset: Dataset) -> str:
    """Return the card of the dataset folder with renewed parts, numbers and front matter.

    OutputError as in `built_card`.
    """
    known = measured(dataset)
    front, body = parse(dataset.read_card(), str(dataset.card))
    splits = known.splits or every_split(dataset, {})
    front |= determined(dataset, splits)
    body = _with_parts(dataset, body, _parts(dataset, known, splits), known)
    return _front(front, default_flow_style=None) + body  # lists within a line


def _front(front: Mapping[str, Any], **style: Any) -> str:
    options: Any = {"sort_keys": False, "allow_unicode": True, "width": 1000, **style}
    return f"---\n{yaml.dump(front, Dumper=_DUMPER, **options)}---\n"


def _parts(
    dataset: Dataset, known: Measured, splits: Splits, on_build: Sequence[str] = ()
) -> dict[str, str]:
    return {
        "splits": card_parts.splits_part(dataset, splits, on_build),
        "load": card_parts.load_part(dataset, splits),
        "row": card_parts.row_part(dataset),
        "fields": card_parts.fields_part(dataset),
        "figures": card_parts.figures_part(known.figures(dataset)),
        "tasks": card_parts.tasks_part(dataset, known.scores),
        "citation": f"```bibtex\n{dataset.builder.CITATION.strip()}\n```",
    }


def _with_parts(
    dataset: Dataset, body: str, parts: Mapping[str, str], known: Measured, sample: bool = False
) -> str:
    """Return the text of a card with its parts and its counted numbers."""
    where = str(dataset.card)
    body = card_parts.with_parts(body, where, dict.fromkeys(parts, ""))
    try:
        body = with_numbers(body, known.counted, where)
    except OutputError:
        if not sample:  # of which a number that is not yet counted is no fault
            raise
    return card_parts.with_parts(body, where, parts)


def with_numbers(body: str, counted: Mapping[str, FigureValue | None], where: str) -> str:
    """Return a text in which each number before a comment is the one that the comment names.

    OutputError for an unknown name, or a comment that follows no number.
    """
    parts, end = [], 0
    for comment in _NAMED.finditer(body):
        before, name = body[end : comment.start()], comment[1].strip()
        place = f"{where}: {before[-20:].lstrip()}{comment[0]:.60}"
        if not (number := _LAST_NUMBER.search(before)) or comment[1] != f" {name} ":
            remedy = "Write `NUMBER<!-- NAME -->`, with nothing between, and no other comments."
            raise OutputError(f"{place}: the comment follows no number", remedy=remedy)
        if (value := counted.get(name)) is None:
            why = "could not be counted" if name in counted else "is not counted"
            remedy = "Write a name of `counted` in measured.json, or run `parley build --measure`."
            raise OutputError(f"{place}: {name} {why}", remedy=remedy)
        whole, dot, decimals = format(Decimal(str(value)), "f").replace("-", "−").partition(".")
        grouped = re.sub(r"(?<=\d)(?=(\d{3})+$)", ",", whole)
        parts += [before[: number.start()], grouped, dot, decimals, comment[0]]
        end = comment.end()
    return "".join([*parts, body[end:]])


def determined(dataset: Dataset, splits: Splits) -> dict[str, Any]:
    """Return the keys of the front matter that the declaration and the rows determine."""
    licences = dict.fromkeys(map(dataset.builder.licence, dataset.configs))
    ids = [licence for licence in licences if re.fullmatch(r"[a-z][a-z0-9.-]*", licence)]
    entries = splits.get(dataset.default, {}).values()
    rows = sum(entry.get("rows", entry.get("documented", 0)) for entry in entries)
    categories = dict.fromkeys(task.category for task in dataset.tasks.values())
    front: dict[str, Any] = {
        "license": ids[0] if len(ids) == 1 else ids,
        "language": list(dataset.builder.LANGUAGES),
        "size_categories": [_SIZES[max(0, len(str(rows)) - 3)]] if rows else [],
        "task_categories": list(categories),
    }
    return {key: value for key, value in front.items() if value}


def notes(mirrored: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the notes on a build's mirrors."""
    for file, pin in mirrored.items():
        yield f"**Made from a mirror**: `{file}` came from <{pin['url']}>, with other bytes."


def _info(
    built: BuiltFolder, config: str, splits: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return an entry of the card's `dataset_info`."""
    builder = built.dataset.builder
    # `datasets` keeps what it read of a folder by what the card states, not by the content of
    # files: so builds with other rows need cards that differ
    digests = ", ".join(f"{split} {entry['digest']}" for split, entry in splits.items())
    return {
        "config_name": config,
        "description": f"Digests of the rows: {digests}",
        "license": builder.licence(config),
        "features": card_yaml(built.column_types(config)),
        "splits": [
            {"name": split, "num_bytes": entry["arrow_bytes"], "num_examples": entry["rows"]}
            for split, entry in splits.items()
        ],
        "download_size": sum(entry["bytes"] for entry in splits.values()),
        "dataset_size": sum(entry["arrow_bytes"] for entry in splits.values()),
    }


def _files(config: str, splits: Iterable[str], default: str) -> dict[str, Any]:
    """Return an entry of the card's `configs`."""
    files = [{"split": split, "path": f"{config}/{split}-*.parquet"} for split in splits]
    is_default = {"default": True} if config == default else {}
    return {"config_name": config, **is_default, "data_files": files}


def summary(dataset: Dataset) -> dict[str, Any]:
    """Summarise a dataset's configs, without importing the builder if they were measured.

    `splits` is split -> rows, None where they were not counted; `sizes` split -> bytes of Parquet,
    of those counted; `documented` is split -> the rows that a document states of one not counted.
    """
    front, _ = parse(dataset.read_card(), str(dataset.card))
    if not isinstance(title := front.get("pretty_name"), str | None):
        raise ScriptError(str(dataset.card), Problem("pretty_name", "a string", repr(title)))
    known = measured(dataset)
    described = known.configs if known.version else descriptions(dataset)
    splits = known.splits if known.version else every_split(dataset, {})
    configs = []
    for config, about in described.items():
        entries = splits.get(config, {})
        entry = {
            "name": config,
            "description": about["description"],
            "license": about["licence"],
            "sizes": _numbers(entries, "bytes"),
            "splits": dict.fromkeys(entries) | _numbers(entries, "rows"),
            "documented": _numbers(entries, "documented"),
        }
        configs.append(entry)
    return {"name": dataset.name, "pretty_name": title, "configs": configs}


def _numbers(entries: Mapping[str, Mapping[str, Any]], key: str) -> dict[str, Any]:
    return {split: entry[key] for split, entry in entries.items() if key in entry}


def prose(body: str, keep: Collection[str] = ()) -> str:
    """Return the text of a card that a person wrote, with these generated parts.

    Comments and sections without a text are left out.
    """
    return _EMPTY.sub("", _COMMENT.sub("", card_parts.without_parts(body, keep)))


def is_licensed(card: str, where: str) -> bool:
    """Tell whether a card names a licence."""
    stated = parse(card, where)[0].get("license")
    licences = stated if isinstance(stated, list) and stated else [stated]
    return all(isinstance(name, str) and name.lower() not in _NO_LICENCE for name in licences)


def licence_section(card: str, where: str) -> str:
    """Return the licence section of a card, or ""."""
    return parse(card, where)[1].partition("\n## Licence\n")[2].partition("\n## ")[0].strip()
