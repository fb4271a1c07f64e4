"""Lay out the results of `list`, `build`, `verify`, `check`, `diff` and `publish`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType

from parley.base.console import safe, size
from parley.base.errors import cut
from parley.cli.tables import first, indented, table
from parley.declaration import figures as verdicts
from parley.declaration.figures import UNEXPLAINED, Figure, tally

if TYPE_CHECKING:  # each command imports only what it runs
    from parley.hub.publish import Publication
    from parley.verification.check import Check
    from parley.verification.diff import Difference, SplitDifference
    from parley.verification.verify import Verification

# the verdicts, cut so that the table fits 80 columns
_HEADINGS = (">matches", ">differs", ">not repro- ducible", ">not checked", ">UNEX- PLAINED")


def listing(found: Sequence[dict[str, Any]]) -> RenderableType:
    """Return summaries of datasets: a table for each."""
    some = (rows for d in found for config in d["configs"] for _, rows, _ in _splits(config))
    has_signs = any(rows[-1] in "*–" for rows in some)
    note = [safe("* documented, not counted\n–: neither, or not built")] if has_signs else []
    return Group(*(part for each in found for part in _listed(each)), *note)


def _listed(dataset: dict[str, Any]) -> Iterator[RenderableType]:
    yield safe(dataset["name"], style="bold")
    yield safe(f"licence: {_licences(dataset['configs'])}")
    rows = [
        (config["name"], *each, config["description"]) if number == 0 else ("", *each, "")
        for config in dataset["configs"]
        for number, each in enumerate(_splits(config))
    ]
    yield table(("config", "split", ">rows", ">Parquet", "content~"), rows)
    yield safe()


def _licences(configs: Sequence[dict[str, Any]]) -> str:
    """Return the usual licence, and the configs that have another."""
    every = [config["license"] for config in configs]
    usual = max(every, key=every.count, default="unknown")
    others = [f"{c['name']}: {c['license']}" for c in configs if c["license"] != usual]
    return "; ".join([usual, *others])


def _splits(config: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield each split with its number of rows and its size as Parquet."""
    for split, count in config["splits"].items():
        documented = config["documented"].get(split)
        if count is not None:
            yield split, f"{count:,}", size(config["sizes"][split])
        else:
            yield split, "–" if documented is None else f"{documented:,}*", "–"


def report(
    found: "Sequence[Verification]", broken: Sequence[str] = (), all_figures: bool = False
) -> RenderableType:
    """Return the verdict, also of datasets broken before, failures, a table, known differences."""
    rows = []
    for each in found:
        failed, made, _ = _counts([each])
        checks = f"{failed} FAILED" if failed else f"{made} hold"
        rows.append((each.dataset, checks, *(str(each.count(v) or "·") for v in verdicts.VERDICTS)))
    failures, known = [], []
    for each in found:
        failures += _section(each.dataset, _failures(each))
        known += _section(each.dataset, _known(each, all_figures))
    columns = ("dataset", "checks", *_HEADINGS)
    return Group(_verdict(found, broken), safe(), *failures, table(columns, rows), safe(), *known)


def build_table(
    built: Sequence[Mapping[str, Any]], folder: Path, seconds: float, sample: bool
) -> RenderableType:
    """Return a line per split, and where the builds are."""
    rows = []
    for each in built:
        amounts = (f"{each['rows']:,}", size(each["bytes"]), f"{each['seconds']:.2f} s")
        rows.append((each["dataset"], each["config"], each["split"], *amounts))
    kind = "samples, not the datasets" if sample else "rows checked one by one"
    columns = ("dataset", "config", "split", ">rows", ">Parquet", ">time")
    last = f"in {folder}/, {seconds:.1f} s in all; {kind}"
    return Group(table(columns, rows), safe(last))


def checked(found: "Mapping[str, Sequence[Check]]") -> RenderableType:
    """Return a line per rule of each dataset folder, its problems, and the verdict."""
    lines = []
    for dataset, checks in found.items():
        lines.append(safe(dataset, style="bold"))
        for check in checks:
            mark, style = ("–", "yellow") if check.skipped else ("ok", "")
            mark, style = ("FAILED", "bold red") if check.failed else (mark, style)
            why = f": {check.skipped}" * bool(check.skipped)
            lines.append(safe(f"  {mark:7} {check.name.replace('_', ' ')}{why}", style=style))
            lines += [safe(f"    {problem}", style="red") for problem in first(check.problems)]
    bad = [dataset for dataset, checks in found.items() if any(c.failed for c in checks)]
    text = f"FAILED: {', '.join(bad)}" if bad else f"{', '.join(found)}: all checks hold"
    return Group(*lines, safe(text, style="bold red" if bad else "bold green"))


def _counts(found: "Sequence[Verification]") -> tuple[int, int, int]:
    """Return how many checks failed, were made, and were skipped."""
    checks = [check for each in found for check in each.checks]
    failed = sum(check.failed for check in checks)
    skipped = sum(bool(check.skipped) and not check.failed for check in checks)
    return failed, len(checks) - skipped, skipped


def _verdict(found: "Sequence[Verification]", broken: Sequence[str]) -> RenderableType:
    names = ", ".join(each.dataset + " (a sample)" * each.sample for each in found)
    failed, made, skipped = _counts(found)
    figures = [figure for each in found for figure in each.figures]
    bad = [*broken, *(each.dataset for each in found if each.failed)]
    text = f"{names}: all {made} checks hold"
    if bad:
        said = f"{failed} of {made} checks do not hold" if failed else "The checks hold"
        text = f"FAILED: {', '.join(bad)}. {said}"
    text += f", {skipped} not checked" if skipped else ""
    said = tally(each.verdict for each in figures) or "none"
    text += f"; of {len(figures)} documented figures {said}."
    return safe(text, style="bold red" if bad else "bold green")


def _section(dataset: str, lines: Iterable[RenderableType]) -> list[RenderableType]:
    lines = list(lines)
    return [safe(dataset, style="bold"), *lines, safe()] if lines else []


def _failures(each: "Verification") -> Iterator[RenderableType]:
    for check in each.checks:
        if check.failed:
            yield indented(f"{check.name}: {check.definition}", 2, "bold red")
            for problem in first(check.problems):
                yield indented(problem, 4, "red")
    yield from _figure_lines(each.figures, UNEXPLAINED)


def _known(each: "Verification", all_figures: bool) -> Iterator[RenderableType]:
    for check in each.checks:
        if check.skipped and not check.failed:
            yield indented(f"{check.name}: not checked, {check.skipped}", 2, "yellow")
        if check.notes:
            yield indented(f"{check.name}: {check.definition}", 2)
            yield from (indented(note, 4) for note in check.notes)
    told = [verdicts.DIFFERS, verdicts.NOT_REPRODUCIBLE, verdicts.NOT_CHECKED]
    for verdict in [*told, verdicts.MATCHES] if all_figures else told:
        yield from _figure_lines(each.figures, verdict)


def _figure_lines(figures: list[Figure], verdict: str) -> Iterator[RenderableType]:
    """Yield a verdict with each reason, then its figures: by table, if none was measured."""
    style = {UNEXPLAINED: "bold red", verdicts.DIFFERS: "yellow"}.get(verdict, "")
    reasons: dict[str, Counter[str]] = {}
    for each in figures:
        if each.verdict == verdict:
            measured = "nothing" if each.measured is None else each.measured
            line = f"{each.name}: documented {each.stated}, measured {measured}"
            if verdict in (verdicts.NOT_REPRODUCIBLE, verdicts.NOT_CHECKED):
                line = each.name.split(".")[0]
            reasons.setdefault(each.reason, Counter())[f"{line} ({each.place})"] += 1
    for reason, lines in reasons.items():
        yield indented(f"{verdict}: {reason}" if reason else verdict, 2, style)
        for line, count in lines.items():
            yield indented(f"{line}{f', {count} figures' if count > 1 else ''}", 4)


def differences(found: "Difference") -> RenderableType:
    """Return a table of splits, then the changed rows, fields and figures."""
    rows = []
    for each in found.splits:
        counts = [f"{len(x):,}" if x else "·" for x in (each.added, each.removed, each.changed)]
        sizes = (_count(each.old_rows), _count(each.new_rows))
        rows.append((each.config, each.split, *sizes, *counts))
    columns = ("config", "split", ">old rows", ">new rows", ">added", ">removed", ">changed")
    lines = [safe(line) for split in found.splits for line in _split_lines(split)]
    moved = {"provenance": found.provenance, "documented figures that moved": found.figures}
    for title, values in moved.items():
        lines += [safe(title, style="bold")] if values else []
        lines += [
            safe(f"  {name}: {cut(repr(old), 80)} -> {cut(repr(new), 80)}")
            for name, old, new in values
        ]
    if not found.differs:
        lines.append(safe("no difference"))
    return Group(table(columns, rows, title=found.dataset), *lines)


def publication(found: "Publication") -> RenderableType:
    """Return a table of the files that publishing changes, and the result."""
    rows = [(change.action, change.path, size(change.size)) for change in found.changed]
    kept = len(found.changes) - len(rows) - len(found.left)
    same = f"{kept} files are there already" if kept else ""
    left = f"left as they are, since parley did not publish them: {', '.join(first(found.left))}"
    if found.dry_run:
        new = f"{found.repo} would be made; " if found.is_new else ""
        last = f"a dry run: {new}nothing was written"
    elif rows:
        last = f"{found.url}\ncommit {found.commit}, read back and equal"
    else:
        last = f"{found.url}\nno change: commit {found.commit}, read back and equal"
    load = f'load_dataset("{found.repo}", ..., revision="{found.commit}")' if found.commit else ""
    said = (same, left if found.left else "", last, load)
    lines = [safe(line) for line in said if line]
    return Group(*([table(("", "file", ">size"), rows)] if rows else []), *lines)


def _split_lines(split: "SplitDifference") -> Iterator[str]:
    where = f"{split.config}/{split.split}"
    for change in split.schema:
        yield f"{where} schema, {change}"
    if split.reordered:
        yield f"{where}: the rows they share come in another order"
    for what, keys in (("added", split.added), ("removed", split.removed)):
        if keys and None not in (split.old_rows, split.new_rows):
            yield f"{where} {what}: {', '.join(first(keys))}"
    for changed in split.changed[:10]:
        yield f"{where} changed: {changed.key}"
        for path, old, new in changed.fields[:5]:
            yield f"    {path}: {cut(repr(old), 80)} -> {cut(repr(new), 80)}"
    if (more := len(split.changed) - 10) > 0:
        yield f"{where}: and {more:,} more changed rows"


def _count(rows: int | None) -> str:
    return "absent" if rows is None else f"{rows:,}"
