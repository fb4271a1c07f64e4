"""The job of CoSRec: build its product catalogue."""

import os
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from parley import Job, UsageError

from .catalogue.sources import SOURCES

_FOLDER: dict[str, Any] = {"metavar": "DIR", "exists": True, "file_okay": False}
_RAW = "The raw files of Amazon Reviews 2023: folders meta* and review*, JSON Lines, plain or gzip."
_CATALOGUE = "The catalogue to build or continue."
_ONLY = "Only this category; repeatable."
_ENGINE = "The engine that joins and sorts."
_WORKERS = "Processes that apply the rules (Linux) [default: the cores]."
_MEMORY = "Memory limit, plus 300 MB: 1GB, 512MiB."
_JSONL = "Also write the output of upstream's own script, to a new file."
_BROKEN = "Count invalid lines and empty files instead of stopping."
_MASTER = "Spark master, unless SPARK_REMOTE is set."


def catalogue(
    input: Annotated[Path, Option("--input", help=_RAW, **_FOLDER)],
    output: Annotated[Path, Option("--output", metavar="DIR", help=_CATALOGUE)],
    category: Annotated[list[str] | None, Option("--category", metavar="NAME", help=_ONLY)] = None,
    engine: Annotated[str, Option("--engine", metavar="duckdb|spark", help=_ENGINE)] = "duckdb",
    workers: Annotated[int | None, Option("--workers", min=0, metavar="N", help=_WORKERS)] = None,
    memory: Annotated[str, Option("--memory", metavar="SIZE", help=_MEMORY)] = "1GB",
    jsonl: Annotated[Path | None, Option("--jsonl", metavar="FILE", help=_JSONL)] = None,
    skip_broken: Annotated[bool, Option("--skip-broken", help=_BROKEN)] = False,
    master: Annotated[str | None, Option("--master", metavar="URL", help=_MASTER)] = None,
) -> None:
    """Build CoSRec's product catalogue from Amazon Reviews 2023.

    Run the same command again to continue an interrupted run.
    """
    from .catalogue.build import build

    with _engine(engine, workers, memory, master) as chosen:
        build(chosen, input, output, category or (), skip_broken, jsonl)


def _engine(name: str, workers: int | None, memory: str, master: str | None) -> Any:
    if name == "spark":
        from .catalogue.spark_engine import Spark

        return Spark(master)
    if name != "duckdb":
        raise UsageError(f"--engine {name}: expected duckdb or spark")
    from .catalogue.duckdb_engine import DuckDB

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    count = cores if workers is None else workers
    return DuckDB(count, memory)


JOBS = {"catalogue": Job(catalogue, SOURCES)}
