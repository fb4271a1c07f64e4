"""`parley check`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import typer
from rich.console import Group, RenderableType

from parley.base.console import progress, safe
from parley.cli.commands import single_command
from parley.cli.common import AsJson, Names, print_result, select
from parley.cli.tables import first

if TYPE_CHECKING:
    from parley.verification.verify import Check

app = single_command()


@app.command("check")
def check_command(names: Names = None, as_json: AsJson = False) -> None:
    """Check dataset folders: script, card, sample and other modules.

    Needs no upstream files. Exit status 1 if a rule is broken.
    """
    from parley.authoring.rules import check_folder

    with progress() as advance:
        results = {dataset.name: check_folder(dataset, advance) for dataset in select(names)}
    value = [
        {"dataset": name, "checks": [{**vars(check), "failed": check.failed} for check in checks]}
        for name, checks in results.items()
    ]
    print_result(as_json, value, lay_out, results)
    if any(check.failed for checks in results.values() for check in checks):
        raise typer.Exit(1)


def lay_out(results: "Mapping[str, Sequence[Check]]") -> RenderableType:
    """Return a line per rule of each dataset folder, its problems, and the verdict."""
    lines = []
    for dataset, checks in results.items():
        lines.append(safe(dataset, style="bold"))
        for check in checks:
            mark, style = ("–", "yellow") if check.skipped else ("ok", "")
            if check.failed:
                mark, style = "FAILED", "bold red"
            text = f"  {mark:7} {check.name.replace('_', ' ')}"
            if check.skipped:
                text += f": {check.skipped}"
            lines.append(safe(text, style=style))
            lines += [safe(f"    {problem}", style="red") for problem in first(check.problems)]
    bad = [dataset for dataset, checks in results.items() if any(c.failed for c in checks)]
    verdict = f"FAILED: {', '.join(bad)}" if bad else f"{', '.join(results)}: all checks hold"
    return Group(*lines, safe(verdict, style="bold red" if bad else "bold green"))
