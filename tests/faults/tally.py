"""Make tables of tried faults and losses from pytest's report."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree


def faults(report: Path) -> str:
    """Return Markdown. Failed tests have no counts; the table names their number."""
    counts: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for fault, numbers in _properties(report, "fault"):
        for at, number in enumerate(numbers.split()):
            counts[fault][at] += int(number)
    lines = [
        "| fault | tried | noticed or survived | lost or unnoticed |",
        "| --- | ---: | ---: | ---: |",
    ]
    for fault, (tried, gone) in sorted(counts.items()):
        lines.append(f"| {fault} | {tried:,} | {tried - gone:,} | {gone:,} |")
    cases = ElementTree.parse(report).iter("testcase")
    lost = sum(case.find("failure") is not None or case.find("error") is not None for case in cases)
    if lost:
        lines.append(f"\n{lost} tests failed; what they tried is not in the table.")
    return "\n".join(lines)


def damage(report: Path) -> str:
    """Return Markdown: outcomes of damaged records by kind and dataset; "" without real files."""
    cells: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for kind, value in _properties(report, "damage"):
        name, _, cell = value.partition(": ")
        cells[kind][name] = cell
    if not cells:
        return ""
    names = sorted({name for row in cells.values() for name in row})
    lines = [f"| damage | {' | '.join(names)} |", f"| --- |{' ---: |' * len(names)}"]
    lines += [
        f"| {kind} | {' | '.join(row.get(name, '') for name in names)} |"
        for kind, row in cells.items()
    ]
    return "\n".join(lines)


def _properties(report: Path, wanted: str) -> Iterator[tuple[str, str]]:
    for item in ElementTree.parse(report).iter("property"):
        kind, _, name = item.get("name", "").partition(": ")
        if kind == wanted:
            yield name, item.get("value", "")
