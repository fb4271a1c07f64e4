"""The command that compares logs: compare."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from parley.base.errors import UsageError
from parley.cli.common import UNREAD, AsJson, BuildDir, app, print_result, require_file

if TYPE_CHECKING:
    from parley.asking.compare import Prices

_LOGS = "Logs of `parley ask`, or folders; others of a task are compared with its first."
_PRICE = "Prices of a million tokens read and written, for all models or one; repeatable."
_METRIC = "A metric or a group [default: those outside groups, and points]; repeatable."


@app.command()
def compare(
    logs: Annotated[list[Path], Argument(metavar="LOG...", help=_LOGS)],
    folder: BuildDir = Path("build"),
    price: Annotated[list[str] | None, Option(metavar="[MODEL=]IN,OUT", help=_PRICE)] = None,
    metric: Annotated[list[str] | None, Option(metavar="M", help=_METRIC)] = None,
    unreadable: Annotated[str, Option(metavar="P", help=UNREAD)] = "wrong",
    as_json: AsJson = False,
) -> None:
    """Compare models by their logs: scores with intervals, differences, tokens and cost."""
    from parley.asking.compare import compare as compare_logs
    from parley.base.console import print_message, progress
    from parley.cli.compare_tables import lay_out_comparison

    prices = _prices(price or [])
    for path in logs:
        if not path.is_dir():
            require_file("LOG", path)
    left_out: list[str] = []
    with progress("samples") as advance:
        tables = compare_logs(
            folder, logs, prices, metric or (), advance, left_out.append, unreadable
        )
    for each in left_out:
        print_message(f"left out: {each}")
    print_result(
        as_json, lambda: [each.as_dict() for each in tables], lambda: lay_out_comparison(tables)
    )


def _prices(given: list[str]) -> "Prices":
    """Return model -> prices of a million tokens, "" for all others."""
    found: dict[str, tuple[float, float]] = {}
    for each in given:
        model, equals, numbers = each.rpartition("=")
        try:
            read, written = map(float, numbers.split(","))
            is_good = all(math.isfinite(one) and one >= 0 for one in (read, written))
        except ValueError:
            is_good = False
        if not is_good or (equals and not model) or model in found:
            raise UsageError(
                f"--price {each}: expected [MODEL=]IN,OUT, two numbers from 0 on, each model once"
            )
        found[model] = (read, written)
    return found
