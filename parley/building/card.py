"""Dataset cards: YAML front matter and prose, which a build completes.

A build adds `configs` and `dataset_info` to the front matter, splits and figures between the two
marks, and the declared tasks to the section Tasks.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import yaml

from parley.base.errors import OutputError, Problem, ScriptError
from parley.building.collection import Dataset
from parley.building.measured import Splits, descriptions, every_split, measured
from parley.declaring.features import card_yaml
from parley.declaring.figures import OUR_CARD, Figure, tally
from parley.declaring.leaderboard import markdown_table, section

BEGIN = "<!-- parley: generated from here -->"
END = "<!-- parley: generated to here -->"
# in C where PyYAML was built with libyaml
_SAFE_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
# the last three: values that do not fit their tag or form, as !!bool maybe, 2000-13-45
_NOT_YAML = (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError)
_NOT_BUILT = "not built: its source is missing"
_SHOWN = "docs/adding.md shows a card."
_NO_LICENCE = ("", "unknown", "other", "none")
_DEEPEST = 50  # lists and mappings in each other; ours have less than 15


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
        made = super().construct_mapping(node, deep)
        if len(made) < len(node.value):
            keys = Counter(self.construct_object(key) for key, _ in node.value)
            raise ValueError(f"it has the key {max(keys, key=keys.__getitem__)!r:.60} twice")
        return made


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


def built_card(
    dataset: Dataset,
    counted: Splits,
    figures: Sequence[Figure],
    *,
    sample: bool,
    missing: Sequence[str],
    mirrored: Mapping[str, Mapping[str, Any]],
    fallbacks: Mapping[str, Sequence[str]],
) -> str:
    """Return the card of a build.

    `counted` is config -> split -> what was measured of it. `missing`, `mirrored` and `fallbacks`
    are those of its source.
    """
    parts = [splits_section(dataset, every_split(dataset, counted), sample)]
    parts += notes(mirrored, fallbacks)
    if not sample and (table := figures_section(figures)):
        if missing:
            parts.append("Partial build: the figures are those of `measured.json`.")
        parts.append(table)
    return render(dataset, counted, "\n\n".join(part.rstrip("\n") for part in parts) + "\n")


def notes(
    mirrored: Mapping[str, Mapping[str, Any]], fallbacks: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """Yield the notes on a build's mirrors and fallbacks."""
    for file, pin in mirrored.items():
        yield f"**Made from a mirror**: `{file}` came from <{pin['url']}>, with other bytes."
    for file, others in fallbacks.items():
        served = ", ".join(f"`{other}`" for other in others)
        yield f"**Made without `{file}`**: {served} replaced it."


def render(dataset: Dataset, counted: Splits, generated: str) -> str:
    """Return the dataset's card, completed for a build.

    `counted` is config -> split -> what was measured of it; `generated` is the Markdown between the
    marks. OutputError if the card lacks the marks.
    """
    where = str(dataset.card)
    front, body = own_parts(dataset)
    if body.count(BEGIN) != 1 or body.count(END) != 1:
        raise OutputError(f"{where}: expected the lines {BEGIN} and {END} once each")
    front["configs"] = card_configs(counted, dataset.default)
    front["dataset_info"] = [dict(_info(dataset, *each)) for each in counted.items()]
    head = yaml.dump(front, Dumper=_DUMPER, sort_keys=False, allow_unicode=True, width=1000)
    before, after = prose(body)
    return f"---\n{head}---\n{before}{BEGIN}\n\n{generated}\n{END}{after}"


def own_parts(dataset: Dataset) -> tuple[dict[str, Any], str]:
    """Return the front matter of the dataset's card, and the text below it with the tasks."""
    front, body = parse(dataset.read_card(), str(dataset.card))
    tasks = [(dataset.name, *each) for each in dataset.tasks.items()]
    before, heading, rest = body.partition("\n## Tasks\n")
    if heading and tasks:
        own, following, after = rest.partition("\n## ")
        body = f"{before}{heading}{own}\n{section(tasks)}{following}{after}"
    return front, body


def _info(
    dataset: Dataset, config: str, splits: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, Any]]:
    """Yield an entry of the card's `dataset_info`."""
    yield "config_name", config
    yield "description", digests_of(splits)
    yield "license", dataset.builder.licence(config)
    yield "features", card_yaml(dataset.configs[config].features)
    yield (
        "splits",
        [
            {"name": split, "num_bytes": found["arrow_bytes"], "num_examples": found["rows"]}
            for split, found in splits.items()
        ],
    )
    yield "download_size", sum(found["bytes"] for found in splits.values())
    yield "dataset_size", sum(found["arrow_bytes"] for found in splits.values())


def digests_of(splits: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the description of a config: the digest of the rows of each split.

    `datasets` keeps what it read of a folder by what the card states, not by the content of files.
    So builds with other rows need cards that differ.
    """
    named = (f"{split} {found['digest']}" for split, found in splits.items())
    return f"Digests of the rows: {', '.join(named)}"


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
    ]


def summary(dataset: Dataset) -> dict[str, Any]:
    """Summarise a dataset's configs, without importing the builder if they were measured.

    `splits` is split -> rows, None where they were not counted; `size` the bytes of Parquet of
    those counted; `documented` is split -> the rows that a document states of one not counted.
    """
    front, _ = parse(dataset.read_card(), str(dataset.card))
    if not isinstance(title := front.get("pretty_name"), str | None):
        raise ScriptError(str(dataset.card), Problem("pretty_name", "a string", repr(title)))
    known = measured(dataset)
    described = known.configs if known.version else descriptions(dataset)
    splits = known.splits if known.version else every_split(dataset, {})
    configs = []
    for config, about in described.items():
        found = splits.get(config, {})
        sizes = [each["bytes"] for each in found.values() if "bytes" in each]
        documented = {s: each["documented"] for s, each in found.items() if "documented" in each}
        configs.append(
            {
                "name": config,
                "license": about["licence"],
                "size": sum(sizes) if sizes else None,
                "splits": {split: each.get("rows") for split, each in found.items()},
                "documented": documented,
            }
        )
    return {"name": dataset.name, "pretty_name": title, "configs": configs}


def figures_section(figures: Sequence[Figure]) -> str:
    """Return the documented figures with what was measured, and the reasons for differences."""
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
    for some, title in ((documented, "The documented figures"), (ours, "This card's figures")):
        if some:  # folded: hundreds of lines that few read
            lines += ["<details>", f"<summary>{title}</summary>", "", *_table(some, notes)]
            lines += ["</details>", ""]
    lines += [f"[{number}] {reason}.  " for reason, number in notes.items()]
    return "\n".join(lines).rstrip("\n") + "\n" if lines else ""


def _table(figures: Sequence[Figure], notes: dict[str, int]) -> Iterator[str]:
    rows = []
    for figure in figures:
        note = f" [{notes.setdefault(figure.reason, len(notes) + 1)}]" if figure.reason else ""
        measured = "" if figure.measured is None else str(figure.measured)
        verdict = figure.verdict + note
        rows.append((f"`{figure.name}`", figure.stated, measured, verdict, figure.place))
    columns = ("figure", "documented", "measured", "verdict", "document")
    return markdown_table(columns, rows, right=columns[1:3])


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
    cells = []
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
            cells.append((f"`{config}`", f"`{split}`", rows, nulls))
    lines = [*markdown_table(("config", "split", "rows", "null in all rows"), cells, ("rows",))]
    if sample:
        said = "**This is a sample**: invented records in the dataset's layout, not its data."
        lines += [said, ""]
    return "\n".join(lines)
