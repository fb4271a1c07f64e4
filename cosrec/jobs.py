"""What can be done with CoSRec beyond a build: its product catalogue."""

import os
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from parley import Job, UsageError

from .catalogue.sources import SOURCES


def catalogue(
    input: Annotated[
        Path,
        typer.Option(
            "--input",
            metavar="DIR",
            exists=True,
            file_okay=False,
            help="The raw files of Amazon Reviews 2023: folders meta* and review*, JSON Lines, "
            "plain or gzip.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", metavar="DIR", help="The catalogue, made or completed.")
    ],
    category: Annotated[
        list[str] | None,
        typer.Option("--category", metavar="C", help="Only this one; may be repeated."),
    ] = None,
    engine: Annotated[
        str, typer.Option("--engine", metavar="duckdb|spark", help="What joins and sorts.")
    ] = "duckdb",
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            min=0,
            metavar="N",
            help="Processes beside this one that apply the rules (Linux) [default: the cores].",
        ),
    ] = None,
    memory: Annotated[
        str, typer.Option("--memory", metavar="SIZE", help="To take, and 300 MB more: 1GB, 512MiB.")
    ] = "1GB",
    jsonl: Annotated[
        Path | None,
        typer.Option(
            "--jsonl", metavar="FILE", help="Write what upstream's own script would, as well."
        ),
    ] = None,
    judgments: Annotated[
        Path | None,
        typer.Option(
            "--judgments",
            metavar="DIR",
            exists=True,
            file_okay=False,
            help="A built folder of cosrec: look up the products that its judgments name.",
        ),
    ] = None,
    skip_broken: Annotated[
        bool,
        typer.Option(
            "--skip-broken",
            help="Count lines that are not JSON or lack a key, and empty files, and go on.",
        ),
    ] = False,
    master: Annotated[
        str | None,
        typer.Option("--master", metavar="URL", help="Spark's, unless SPARK_REMOTE is set."),
    ] = None,
    shortest_text: Annotated[
        int,
        typer.Option(
            "--shortest-text", min=0, metavar="N", help="Characters of a product's or review's."
        ),
    ] = 10,
    title_latin: Annotated[
        float,
        typer.Option("--title-latin", metavar="SHARE", help="Of a title that must be Latin-1."),
    ] = 0.5,
    text_latin: Annotated[
        float,
        typer.Option("--text-latin", metavar="SHARE", help="Of a text that must be Latin-1."),
    ] = 0.8,
) -> None:
    """Build the product catalogue that CoSRec's judgments are of, from Amazon Reviews 2023.

    What is finished stays: the same command again goes on where a run was ended.
    """
    from parley import print_message

    from .catalogue.build import Wanted, build
    from .catalogue.rules import Thresholds

    if engine not in ("duckdb", "spark"):
        raise UsageError(f"--engine {engine}: expected duckdb or spark")
    for option, share in (("--title-latin", title_latin), ("--text-latin", text_latin)):
        if not 0 <= share <= 1:  # nor is it what is no number
            raise UsageError(f"{option} {share}: expected a share from 0 to 1")
    thresholds = Thresholds(shortest_text, title_latin, text_latin)
    wanted = Wanted(input, output, tuple(category or ()), thresholds, skip_broken, jsonl, judgments)
    chosen: Any
    if engine == "spark":
        from .catalogue.spark_engine import Spark

        chosen = Spark(master, thresholds)
    else:
        from .catalogue.duckdb_engine import DuckDB

        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
        count = cores if workers is None else workers
        chosen = DuckDB(count, _size(memory), thresholds, skip_broken)
    with chosen:
        build(wanted, chosen, print_message)


def _size(text: str) -> int:
    units = {"MB": 10**6, "GB": 10**9, "MIB": 2**20, "GIB": 2**30}
    match = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,9})?)\s*([MG]i?B)", text, re.IGNORECASE)
    if not match:
        raise UsageError(f"--memory {text}: expected a size as 1GB or 512MiB, in up to six digits")
    return int(float(match[1]) * units[match[2].upper()])


JOBS = {"catalogue": Job(catalogue, SOURCES, part="category")}
