"""Lay out `parley list`: the splits of each dataset with their rows, and its licence."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType

from parley.base.console import out, safe, size, table

_NOTE = "* documented, not counted; the size leaves it out\n–: neither"
Descriptions = Mapping[str, Mapping[str, str]]
"""Dataset -> config -> what a row is."""


def stated_descriptions(folder: Path) -> dict[str, str]:
    """Return config -> the text after its name in a call such as `View("acts", "one act", ...)`.

    The modules of the folder, the script first, are read, not run: importing them takes long.
    """
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*.py"), key=lambda path: (path.stem != folder.name, path)):
        with suppress(OSError, SyntaxError, ValueError):
            if not re.search(r"\b(Config|View)\(", text := path.read_text(encoding="utf-8")):
                continue  # to parse it takes long
            for node in ast.walk(ast.parse(text)):
                match node:
                    case ast.Call(args=[ast.Constant(str(name)), ast.Constant(str(said)), *_]):
                        found.setdefault(name, said)
    return found


def listing(found: Sequence[dict[str, Any]], descriptions: Descriptions) -> RenderableType:
    """Return summaries of datasets: on a terminal a table per dataset, else a line per split."""
    if out.is_terminal:
        parts = [p for each in found for p in _one(each, descriptions.get(each["name"], {}))]
    else:
        columns = ("dataset", "config", "split", ">rows", ">config's Parquet", "licence", "content")
        lines: list[tuple[str, ...]] = []
        for dataset in found:
            said = descriptions.get(dataset["name"], {})
            for config in dataset["configs"]:
                last = (_size(config), config["license"], said.get(config["name"], ""))
                each = ((dataset["name"], config["name"], *rows, *last) for rows in _rows(config))
                lines += each
        parts = [table(columns, lines)]
    some = (rows for d in found for config in d["configs"] for _, rows in _rows(config))
    return Group(*parts, *([safe(_NOTE)] if any(rows[-1] in "*–" for rows in some) else []))


def _one(dataset: dict[str, Any], descriptions: Mapping[str, str]) -> Iterator[RenderableType]:
    yield safe(dataset["name"], style="bold")
    yield safe(f"licence: {_licences(dataset['configs'])}")
    rows = [
        (config["name"], split, count, _size(config), descriptions.get(config["name"], ""))
        if number == 0
        else ("", split, count, "", "")
        for config in dataset["configs"]
        for number, (split, count) in enumerate(_rows(config))
    ]
    yield table(("config", "split", ">rows", ">Parquet", "content~"), rows)
    yield safe()


def _licences(configs: Sequence[dict[str, Any]]) -> str:
    """Return the usual licence, and the configs that have another."""
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
    """Return the size of the counted splits as Parquet."""
    return size(config["size"]) if config["size"] else "–"
