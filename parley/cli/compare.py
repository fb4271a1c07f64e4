"""The command that compares logs: compare."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from parley.cli.common import UNREAD, AsJson, BuildDir, app, print_result, require_file

_LOGS = (
    "Logs of inspect, folders of them, or files of predictions; the first of a task is the base."
)
_TASK = "The task of the files, DATASET/TASK [default: that of the logs]."
_METRIC = "A metric or a group [default: those outside groups, and points]; repeatable."


@app.command()
def compare(
    logs: Annotated[list[Path], Argument(metavar="FILE", help=_LOGS)],
    folder: BuildDir = Path("build"),
    task: Annotated[str, Option(metavar="T", help=_TASK)] = "",
    metric: Annotated[list[str] | None, Option(metavar="M", help=_METRIC)] = None,
    unreadable: Annotated[str, Option(metavar="P", help=UNREAD)] = "wrong",
    as_json: AsJson = False,
) -> None:
    """Compare models by their logs or predictions: scores with intervals, differences, tokens."""
    from parley.base.console import print_message, progress
    from parley.cli.compare_tables import comparison_as_dicts, lay_out_comparison
    from parley.models.compare import compare as compare_logs

    for path in logs:
        if not path.is_dir():
            require_file("FILE", path)
    left_out: list[str] = []
    with progress("scores") as advance:
        tables = compare_logs(
            folder, logs, metric or (), task, advance, left_out.append, unreadable
        )
    for each in left_out:
        print_message(f"left out: {each}")
    print_result(as_json, lambda: comparison_as_dicts(tables), lambda: lay_out_comparison(tables))
