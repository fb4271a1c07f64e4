"""Lay out `parley list`: the splits of each dataset with their rows, and its licence."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType

from parley.base.console import safe, size
from parley.cli.tables import table

_NOTE = "* documented, not counted\n–: neither, or not built"


def listing(found: Sequence[dict[str, Any]]) -> RenderableType:
    """Return summaries of datasets: a table for each."""
    some = (rows for d in found for config in d["configs"] for _, rows, _ in _rows(config))
    note = [safe(_NOTE)] if any(rows[-1] in "*–" for rows in some) else []
    return Group(*(part for each in found for part in _one(each)), *note)


def _one(dataset: dict[str, Any]) -> Iterator[RenderableType]:
    yield safe(dataset["name"], style="bold")
    yield safe(f"licence: {_licences(dataset['configs'])}")
    rows = [
        (config["name"], *each, config["description"]) if number == 0 else ("", *each, "")
        for config in dataset["configs"]
        for number, each in enumerate(_rows(config))
    ]
    yield table(("config", "split", ">rows", ">Parquet", "content~"), rows)
    yield safe()


def _licences(configs: Sequence[dict[str, Any]]) -> str:
    """Return the usual licence, and the configs that have another."""
    every = [config["license"] for config in configs]
    usual = max(every, key=every.count, default="unknown")
    others = [f"{c['name']}: {c['license']}" for c in configs if c["license"] != usual]
    return "; ".join([usual, *others])


def _rows(config: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield each split with its number of rows and its size as Parquet."""
    for split, count in config["splits"].items():
        documented = config["documented"].get(split)
        if count is not None:
            yield split, f"{count:,}", size(config["sizes"][split])
        else:
            yield split, "–" if documented is None else f"{documented:,}*", "–"
