"""What holds and what differs: `parley verify`, `parley diff` and `parley check`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.console import Group, RenderableType
from typer import Argument, Exit, Option

from parley.base.console import progress, safe
from parley.base.errors import Failures, ParleyError, shorten
from parley.builds.built_folder import open_folder
from parley.builds.sources import source_folder
from parley.cli.common import print_result, select, select_built
from parley.cli.options import AsJson, BuildDir, Names, SourceDir
from parley.cli.process import as_failure
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

if TYPE_CHECKING:
    from parley.verification.diff import BuildDifference, SplitDifference
    from parley.verification.results import Check
    from parley.verification.verify import Verification

# the verdicts, cut so that the table fits 80 columns
_HEADINGS = (">matches", ">differs", ">not repro- ducible", ">not checked", ">UNEX- PLAINED")


def verify_command(
    names: Names = None,
    build: BuildDir = Path("build"),
    source: SourceDir = None,
    all_figures: Annotated[bool, Option("--all", help="Also list the figures that match.")] = False,
    as_json: AsJson = False,
) -> None:
    """Verify builds: every byte, consistency, round trip, documented figures.

    Exit status 1 if a check fails or a figure is unexplained.
    """
    datasets = select_built(names, build)  # before what is slow to import
    from parley.verification.verify import Verification, verify_each

    with progress() as advance:
        outcomes = list(verify_each(datasets, build, source_folder(source), advance))
    verifications = [outcome for outcome in outcomes if isinstance(outcome, Verification)]
    by_name = zip((dataset.name for dataset in datasets), outcomes, strict=True)
    broken = {name: error for name, error in by_name if isinstance(error, ParleyError)}
    if verifications or as_json:
        value = [verification.as_dict() for verification in verifications]
        value += [{"dataset": n, "failed": True, "error": str(e)} for n, e in broken.items()]
        print_result(as_json, value, _verify_layout, verifications, list(broken), all_figures)
    if broken:
        raise Failures(broken.values())
    if any(verification.failed for verification in verifications):
        raise Exit(1)


def _verify_layout(
    verifications: "Sequence[Verification]", broken: Sequence[str] = (), all_figures: bool = False
) -> RenderableType:
    """Return the verdict, also of datasets broken before, failures, a table, known differences."""
    rows, failures, known = [], [], []
    for verification in verifications:
        dataset, (failed, total, _) = verification.dataset, _counts([verification])
        checks = f"{failed} FAILED" if failed else f"{total} hold"
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
    failed, total, skipped = _counts(verifications)
    bad = [*broken, *(v.dataset for v in verifications if v.failed)]
    text = f"{', '.join(names)}: all {total} checks hold"
    if bad:
        checks = f"{failed} of {total} checks do not hold" if failed else "The checks hold"
        text = f"FAILED: {', '.join(bad)}. {checks}"
    if skipped:
        text += f", {skipped} not checked"
    of_each = [figure.verdict for v in verifications for figure in v.figures]
    text += f"; of {len(of_each)} documented figures {tally(of_each) or 'none'}."
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


def _figure_lines(entries: list[Figure], verdict: str) -> Iterator[RenderableType]:
    """Yield a verdict with each reason, then its figures: by table, if none was measured."""
    style = {UNEXPLAINED: "bold red", DIFFERS: "yellow"}.get(verdict, "")
    reasons: dict[str, Counter[str]] = {}
    for figure in entries:
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


def diff_command(
    old: Annotated[Path, Argument(metavar="OLD", help="The build of a dataset.")],
    new: Annotated[Path, Argument(metavar="NEW", help="Another build of the same dataset.")],
    as_json: AsJson = False,
) -> None:
    """Compare two builds by splits, rows, fields, schema and figures.

    As with diff(1), exit status 1 if they differ, 2 if they cannot be compared.
    """
    from parley.verification.diff import compare_builds

    try:
        difference = compare_builds(open_folder(old), open_folder(new))
    except Exception as error:
        failure = as_failure(error)
        failure.status = 2
        raise failure from error
    print_result(as_json, difference.as_dict(), _diff_layout, difference)
    if difference.differs:
        raise Exit(1)


def _diff_layout(difference: "BuildDifference") -> RenderableType:
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
            change = f"{shorten(repr(before), 80)} -> {shorten(repr(after), 80)}"
            lines.append(safe(f"  {name}: {change}"))
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
            yield f"    {path}: {shorten(repr(before), 80)} -> {shorten(repr(after), 80)}"
    if (more := len(split.changed) - 10) > 0:
        yield f"{where}: and {more:,} more changed rows"


def _count(rows: int | None) -> str:
    return "absent" if rows is None else f"{rows:,}"


def check_command(names: Names = None, as_json: AsJson = False) -> None:
    """Check dataset folders: script, card, sample and other modules.

    Needs no upstream files. Exit status 1 if a rule is broken.
    """
    from parley.verification.rules import check_folder

    with progress() as advance:
        results = {dataset.name: check_folder(dataset, advance) for dataset in select(names)}
    value = [
        {"dataset": name, "checks": [{**vars(check), "failed": check.failed} for check in checks]}
        for name, checks in results.items()
    ]
    print_result(as_json, value, _check_layout, results)
    if any(check.failed for checks in results.values() for check in checks):
        raise Exit(1)


def _check_layout(results: "Mapping[str, Sequence[Check]]") -> RenderableType:
    """Return a line per rule of each dataset folder, its problems, and the verdict."""
    lines = []
    for dataset, checks in results.items():
        lines.append(safe(dataset, style="bold"))
        for check in checks:
            mark, style = ("–", "yellow") if check.skipped else ("ok", "")
            if check.failed:
                mark, style = "FAILED", "bold red"
            why = f": {check.skipped}" if check.skipped else ""
            lines.append(safe(f"  {mark:7} {check.name.replace('_', ' ')}{why}", style=style))
            lines += [safe(f"    {problem}", style="red") for problem in first(check.problems)]
    bad = [dataset for dataset, checks in results.items() if any(c.failed for c in checks)]
    verdict = f"FAILED: {', '.join(bad)}" if bad else f"{', '.join(results)}: all checks hold"
    return Group(*lines, safe(verdict, style="bold red" if bad else "bold green"))
