"""`parley list`."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Group, RenderableType

from parley.base.console import safe, size
from parley.builds.card import summary
from parley.cli.commands import single_command
from parley.cli.common import AsJson, Attempts, Names, print_result, select
from parley.cli.tables import table

app = single_command()


@app.command("list")
def list_command(names: Names = None, as_json: AsJson = False) -> None:
    """List datasets: configs, splits, rows, sizes, licences."""
    summaries, attempt = [], Attempts()
    for dataset in select(names):
        with attempt():
            summaries.append(summary(dataset))
    if summaries or as_json:
        print_result(as_json, summaries, lay_out, summaries)
    attempt.finish()


def lay_out(summaries: Sequence[dict[str, Any]]) -> RenderableType:
    """Return summaries of datasets: a table for each."""
    parts = [part for dataset in summaries for part in _dataset(dataset)]
    configs = [config for dataset in summaries for config in dataset["configs"]]
    if any(rows[-1] in "*–" for config in configs for _, rows, _ in _splits(config)):
        parts.append(safe("* documented, not counted\n–: neither, or not built"))
    return Group(*parts)


def _dataset(dataset: dict[str, Any]) -> Iterator[RenderableType]:
    yield safe(dataset["name"], style="bold")
    yield safe(f"licence: {_licences(dataset['configs'])}")
    rows = []
    for config in dataset["configs"]:
        name, description = config["name"], config["description"]
        for split in _splits(config):
            rows.append((name, *split, description))
            name = description = ""  # only beside the first split
    yield table(("config", "split", ">rows", ">Parquet", "content~"), rows)
    yield safe()


def _licences(configs: Sequence[dict[str, Any]]) -> str:
    """Return the usual licence, and the configs that have another."""
    licences = [config["license"] for config in configs]
    usual = max(licences, key=licences.count, default="unknown")
    others = [f"{c['name']}: {c['license']}" for c in configs if c["license"] != usual]
    return "; ".join([usual, *others])


def _splits(config: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield each split with its number of rows and its size as Parquet."""
    for split, count in config["splits"].items():
        documented = config["documented"].get(split)
        if count is not None:
            yield split, f"{count:,}", size(config["sizes"][split])
        else:
            yield split, "–" if documented is None else f"{documented:,}*", "–"
