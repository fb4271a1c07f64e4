"""`parley verify`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group, RenderableType
from typer import Option

from parley.base.console import progress, safe
from parley.base.errors import Failures, ParleyError
from parley.cli.commands import single_command
from parley.cli.common import AsJson, BuildDir, Names, SourceDir, print_result, select_built
from parley.cli.tables import first, indented, table
from parley.declaration.figures import (
    DIFFERS,
    MATCHES,
    NOT_CHECKED,
    NOT_REPRODUCIBLE,
    UNEXPLAINED,
    VERDICTS,
    Figure,
    tally,
)
from parley.rows.upstream import source_folder

if TYPE_CHECKING:
    from parley.verification.verify import Verification

# the verdicts, cut so that the table fits 80 columns
_HEADINGS = (">matches", ">differs", ">not repro- ducible", ">not checked", ">UNEX- PLAINED")

app = single_command()


@app.command("verify")
def verify_command(
    names: Names = None,
    folder: BuildDir = Path("build"),
    source: SourceDir = None,
    all_figures: Annotated[bool, Option("--all", help="Also list the figures that match.")] = False,
    as_json: AsJson = False,
) -> None:
    """Verify builds: every byte, consistency, round trip, documented figures.

    Exit status 1 if a check fails or a figure is unexplained.
    """
    datasets = select_built(names, folder)  # before what is slow to import
    from parley.verification.verify import Verification, verify_each

    with progress() as advance:
        outcomes = list(verify_each(datasets, folder, source_folder(source), advance))
    verifications: list[Verification] = []
    broken: dict[str, ParleyError] = {}
    for dataset, outcome in zip(datasets, outcomes, strict=True):
        if isinstance(outcome, Verification):
            verifications.append(outcome)
        else:
            broken[dataset.name] = outcome
    if verifications or as_json:
        value = [verification.as_dict() for verification in verifications]
        value += [{"dataset": n, "failed": True, "error": str(e)} for n, e in broken.items()]
        print_result(as_json, value, lay_out, verifications, list(broken), all_figures)
    if broken:
        raise Failures(broken.values())
    if any(verification.failed for verification in verifications):
        raise typer.Exit(1)


def lay_out(
    verifications: "Sequence[Verification]", broken: Sequence[str] = (), all_figures: bool = False
) -> RenderableType:
    """Return the verdict, also of datasets broken before, failures, a table, known differences."""
    rows, failures, known = [], [], []
    for verification in verifications:
        dataset, (failed, made, _) = verification.dataset, _counts([verification])
        checks = f"{failed} FAILED" if failed else f"{made} hold"
        counts = (str(verification.count(verdict) or "·") for verdict in VERDICTS)
        rows.append((dataset, checks, *counts))
        failures += _section(dataset, _failures(verification))
        known += _section(dataset, _known(verification, all_figures))
    results = table(("dataset", "checks", *_HEADINGS), rows)
    return Group(_verdict(verifications, broken), safe(), *failures, results, safe(), *known)


def _counts(verifications: "Sequence[Verification]") -> tuple[int, int, int]:
    """Return how many checks failed, were made, and were skipped."""
    checks = [check for verification in verifications for check in verification.checks]
    failed = sum(check.failed for check in checks)
    skipped = sum(bool(check.skipped) and not check.failed for check in checks)
    return failed, len(checks) - skipped, skipped


def _verdict(verifications: "Sequence[Verification]", broken: Sequence[str]) -> RenderableType:
    names = [f"{v.dataset} (a sample)" if v.sample else v.dataset for v in verifications]
    failed, made, skipped = _counts(verifications)
    bad = [*broken, *(v.dataset for v in verifications if v.failed)]
    text = f"{', '.join(names)}: all {made} checks hold"
    if bad:
        checks = f"{failed} of {made} checks do not hold" if failed else "The checks hold"
        text = f"FAILED: {', '.join(bad)}. {checks}"
    if skipped:
        text += f", {skipped} not checked"
    verdicts = [figure.verdict for v in verifications for figure in v.figures]
    text += f"; of {len(verdicts)} documented figures {tally(verdicts) or 'none'}."
    return safe(text, style="bold red" if bad else "bold green")


def _section(dataset: str, lines: Iterable[RenderableType]) -> list[RenderableType]:
    lines = list(lines)
    return [safe(dataset, style="bold"), *lines, safe()] if lines else []


def _failures(verification: "Verification") -> Iterator[RenderableType]:
    for check in verification.checks:
        if check.failed:
            yield indented(f"{check.name}: {check.definition}", 2, "bold red")
            for problem in first(check.problems):
                yield indented(problem, 4, "red")
    yield from _figure_lines(verification.figures, UNEXPLAINED)


def _known(verification: "Verification", all_figures: bool) -> Iterator[RenderableType]:
    for check in verification.checks:
        if check.skipped and not check.failed:
            yield indented(f"{check.name}: not checked, {check.skipped}", 2, "yellow")
        if check.notes:
            yield indented(f"{check.name}: {check.definition}", 2)
            for note in check.notes:
                yield indented(note, 4)
    for verdict in (DIFFERS, NOT_REPRODUCIBLE, NOT_CHECKED):
        yield from _figure_lines(verification.figures, verdict)
    if all_figures:
        yield from _figure_lines(verification.figures, MATCHES)


def _figure_lines(figures: list[Figure], verdict: str) -> Iterator[RenderableType]:
    """Yield a verdict with each reason, then its figures: by table, if none was measured."""
    style = {UNEXPLAINED: "bold red", DIFFERS: "yellow"}.get(verdict, "")
    reasons: dict[str, Counter[str]] = {}
    for figure in figures:
        if figure.verdict == verdict:
            measured = "nothing" if figure.measured is None else figure.measured
            line = f"{figure.name}: documented {figure.stated}, measured {measured}"
            if verdict in (NOT_REPRODUCIBLE, NOT_CHECKED):
                line = figure.name.split(".")[0]
            reasons.setdefault(figure.reason, Counter())[f"{line} ({figure.place})"] += 1
    for reason, lines in reasons.items():
        yield indented(f"{verdict}: {reason}" if reason else verdict, 2, style)
        for line, count in lines.items():
            yield indented(f"{line}, {count} figures" if count > 1 else line, 4)
