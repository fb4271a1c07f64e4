"""Labels of people, compared with each other and with the dataset's own: `parley labels`."""

from pathlib import Path
from typing import Annotated

from rich.console import Group, RenderableType
from typer import Argument, Option

from parley.annotators.comparison import Comparison, compare
from parley.annotators.layouts import ANNOTATOR
from parley.base.console import print_message, progress, safe
from parley.base.errors import UsageError
from parley.builds.built_folder import find_folder
from parley.cli.common import print_result, require_outputs
from parley.cli.options import AsJson, BuildDir, Name, Overwrite, completing, output
from parley.cli.tables import table
from parley.declaration.registry import get

_CONFIG = "The config whose rows are labelled, such as strategies."
_FILES = "Files of labels, each of one annotator, or with a column of annotators."
_ANNOTATOR = "The column with the names of the annotators."
_TO = "Write the rows in which annotators differ, or one and the dataset, as .csv."
_CONFIGS = completing(lambda dataset: dataset.configs)


def labels_command(
    name: Name,
    config: Annotated[str, Argument(metavar="CONFIG", help=_CONFIG, autocompletion=_CONFIGS)],
    files: Annotated[list[Path], Argument(metavar="FILE", help=_FILES)],
    build: BuildDir = Path("build"),
    annotator: Annotated[str, Option(metavar="COLUMN", help=_ANNOTATOR)] = ANNOTATOR,
    to: Annotated[Path | None, output(_TO)] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Compare the labels of annotators with each other, and with the dataset's own."""
    if to is not None and to.suffix != ".csv":
        raise UsageError(f"--output {to}: expected a name that ends in .csv")
    require_outputs([to] if to else [], files, overwrite)
    built = find_folder(build, get(name))
    with progress() as advance:
        advance(f"{name} {config}", "reading labels")
        found = compare(built, config, files, annotator)
        value = found.as_dict() if as_json else None
    rows = found.write_differences(to, overwrite) if to else 0  # before a reader of tables may end
    print_result(as_json, value, _layout, found)
    if to is not None:
        print_message(f"{to}: {rows:,} rows")


def _layout(found: Comparison) -> RenderableType:
    """Return the tables of a comparison."""
    parts: list[RenderableType] = []
    for title, heads, rows in found.tables():
        columns = [f"{heads[0]}~", *(f">{head}" for head in heads[1:])]
        parts += [safe(title), table(columns, rows), safe()]
    notes = [*found.labels.notes, "95%: an interval over whole dialogues; gold: the dataset's own"]
    return Group(*parts, *map(safe, notes))
