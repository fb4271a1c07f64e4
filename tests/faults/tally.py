"""Makes tables of what the tests of faults tried and what was lost, from pytest's own report."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree


def faults(report: Path) -> str:
    """Return Markdown. A test that fails has no count to record: it is counted as lost."""
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
    """Return Markdown: what became of damaged records, by kind and dataset; "" of no real files."""
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
