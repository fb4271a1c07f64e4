"""`parley build`."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich.console import Group, RenderableType
from typer import Option

from parley.base.console import print_message, progress, safe, size
from parley.base.errors import UsageError
from parley.builds.card import notes
from parley.cli.commands import single_command
from parley.cli.common import (
    AsJson,
    Attempts,
    BuildDir,
    Names,
    Sample,
    SourceDir,
    print_result,
    select,
)
from parley.cli.tables import table
from parley.rows.upstream import open_source, source_folder

if TYPE_CHECKING:
    from parley.rows.splits import BuiltSplit

app = single_command()


@app.command("build")
def build_command(
    names: Names = None,
    source: SourceDir = None,
    sample: Sample = False,
    folder: BuildDir = Path("build"),
    allow_missing: Annotated[
        bool, Option("--allow-missing", help="Leave out splits whose files are missing.")
    ] = False,
    measure: Annotated[
        bool, Option("--measure", help="Recompute figures and baselines, and renew measured.json.")
    ] = False,
    questions: Annotated[
        bool, Option("--questions", help="Add the tasks' questions and eval.yaml.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Build datasets: checked rows as Parquet, with card and provenance."""
    from parley.builds.build import build

    if sample and (source is not None or measure):
        raise UsageError("--sample excludes --source and --measure")
    upstream = None if sample else source_folder(source)
    splits: list[dict[str, Any]] = []
    messages: list[str] = []
    missing: list[str] = []
    attempt, start = Attempts(), time.perf_counter()
    with progress("rows") as advance:
        for dataset in select(names):
            with attempt():
                files = open_source(dataset, upstream, sample=sample, allow_missing=allow_missing)
                built = build(files, folder, advance, measure=measure, questions=questions)
                splits += [_as_dict(dataset.name, split) for split in built]
                missing += [f"{dataset.name}/{file}" for file in files.missing]
                for note in notes(files.mirrored):
                    messages.append(f"{dataset.name}: {note.replace('**', '')}")
    seconds = time.perf_counter() - start
    if splits or as_json:
        value = {"built": splits, "missing": missing}
        print_result(as_json, value, lay_out, splits, folder, seconds, sample)
    if missing:
        messages.append("missing files; every split made from them is left out:")
        messages += [f"  {file}" for file in missing]
    for message in messages:
        print_message(message, "yellow")
    attempt.finish()


def _as_dict(dataset: str, split: "BuiltSplit") -> dict[str, Any]:
    return {
        "dataset": dataset,
        "config": split.config,
        "split": split.name,
        "rows": split.rows,
        "bytes": split.size,
        "seconds": round(split.seconds, 3),
        "digest": split.digest,
    }


def lay_out(
    splits: Sequence[Mapping[str, Any]], folder: Path, seconds: float, sample: bool
) -> RenderableType:
    """Return a line per split, and where the builds are."""
    rows = []
    for split in splits:
        amounts = (f"{split['rows']:,}", size(split["bytes"]), f"{split['seconds']:.2f} s")
        rows.append((split["dataset"], split["config"], split["split"], *amounts))
    kind = "samples, not the datasets" if sample else "rows checked one by one"
    columns = ("dataset", "config", "split", ">rows", ">Parquet", ">time")
    last = f"in {folder}/, {seconds:.1f} s in all; {kind}"
    return Group(table(columns, rows), safe(last))
