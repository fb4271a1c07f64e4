"""`parley diff`."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group, RenderableType
from typer import Argument

from parley.base.console import safe
from parley.base.errors import cut
from parley.cli.commands import single_command
from parley.cli.common import AsJson, print_result
from parley.cli.process import as_failure
from parley.cli.tables import first, table
from parley.rows.folder import open_folder

if TYPE_CHECKING:
    from parley.verification.diff import BuildDifference, SplitDifference

app = single_command()


@app.command("diff")
def diff_command(
    old: Annotated[Path, Argument(metavar="OLD", help="The build of a dataset.")],
    new: Annotated[Path, Argument(metavar="NEW", help="Another build of the same dataset.")],
    as_json: AsJson = False,
) -> None:
    """Compare two builds by splits, rows, fields, schema and figures.

    As with diff(1), exit status 1 if they differ, 2 if they cannot be compared.
    """
    from parley.verification.diff import compare

    try:
        difference = compare(open_folder(old), open_folder(new))
    except Exception as error:
        failure = as_failure(error)
        failure.status = 2
        raise failure from error
    print_result(as_json, difference.as_dict(), lay_out, difference)
    if difference.differs:
        raise typer.Exit(1)


def lay_out(difference: "BuildDifference") -> RenderableType:
    """Return a table of splits, then the changed rows, fields and figures."""
    rows = []
    for split in difference.splits:
        changes = (split.added, split.removed, split.changed)
        counts = [f"{len(keys):,}" if keys else "·" for keys in changes]
        sizes = (_count(split.old_rows), _count(split.new_rows))
        rows.append((split.config, split.split, *sizes, *counts))
    columns = ("config", "split", ">old rows", ">new rows", ">added", ">removed", ">changed")
    lines = [safe(line) for split in difference.splits for line in _split_lines(split)]
    for title, values in (
        ("provenance", difference.provenance),
        ("documented figures that moved", difference.figures),
    ):
        if values:
            lines.append(safe(title, style="bold"))
        for name, before, after in values:
            lines.append(safe(f"  {name}: {cut(repr(before), 80)} -> {cut(repr(after), 80)}"))
    if not difference.differs:
        lines.append(safe("no difference"))
    return Group(table(columns, rows, title=difference.dataset), *lines)


def _split_lines(split: "SplitDifference") -> Iterator[str]:
    where = f"{split.config}/{split.split}"
    for change in split.schema:
        yield f"{where} schema, {change}"
    if split.reordered:
        yield f"{where}: the rows they share come in another order"
    for what, keys in (("added", split.added), ("removed", split.removed)):
        if keys and None not in (split.old_rows, split.new_rows):
            yield f"{where} {what}: {', '.join(first(keys))}"
    for row in split.changed[:10]:
        yield f"{where} changed: {row.key}"
        for path, before, after in row.fields[:5]:
            yield f"    {path}: {cut(repr(before), 80)} -> {cut(repr(after), 80)}"
    if (more := len(split.changed) - 10) > 0:
        yield f"{where}: and {more:,} more changed rows"


def _count(rows: int | None) -> str:
    return "absent" if rows is None else f"{rows:,}"
