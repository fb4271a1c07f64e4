"""What `list` prints: each dataset's splits with their rows, and its licence."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from parley.terminal.console import out, plain, size, table

_NOTE = (
    "* documented, not counted: the source was not at hand when the card was written, so that the\n"
    "  size is without it; –: neither"
)


def listing(found: Sequence[dict[str, Any]]) -> RenderableType:
    """Return what there is: on a terminal a table a dataset, else a line a split.

    Args:
        found: Of each dataset what `parley.folder.card.summary` returns.
    """
    if out.is_terminal:
        parts = [part for dataset in found for part in _one(dataset)]
    else:
        columns = ("dataset", "config", "split", ">rows", ">config's Parquet", "licence")
        lines = [
            (dataset["name"], config["name"], split, rows, _size(config), config["license"])
            for dataset in found
            for config in dataset["configs"]
            for split, rows in _rows(config)
        ]
        parts = [table(columns, lines)]
    some = (rows for d in found for config in d["configs"] for _, rows in _rows(config))
    return Group(*parts, *([Text(_NOTE)] if any(rows[-1] in "*–" for rows in some) else []))


def _one(dataset: dict[str, Any]) -> Iterator[RenderableType]:
    yield Text(plain(dataset["name"]), style="bold")
    yield Text(plain(f"licence: {_licences(dataset['configs'])}"))
    rows = [
        (config["name"], split, count, _size(config)) if number == 0 else ("", split, count, "")
        for config in dataset["configs"]
        for number, (split, count) in enumerate(_rows(config))
    ]
    yield table(("config", "split", ">rows", ">Parquet"), rows)
    yield Text()


def _licences(configs: Sequence[dict[str, Any]]) -> str:
    """Return the licence of most configs, and of those that have another."""
    every = [config["license"] for config in configs]
    usual = max(every, key=every.count, default="unknown")
    others = [f"{c['name']}: {c['license']}" for c in configs if c["license"] != usual]
    return "; ".join([usual, *others])


def _rows(config: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for split, count in config["splits"].items():
        documented = config["documented"].get(split)
        if count is not None:
            yield split, f"{count:,}"
        else:
            yield split, "–" if documented is None else f"{documented:,}*"


def _size(config: dict[str, Any]) -> str:
    """Return the Parquet of the splits that were counted."""
    return size(config["size"]) if config["size"] else "–"
