"""Makes a table of what the tests of faults tried and what was lost, from pytest's own report."""

from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree


def table(report: Path) -> str:
    """Return Markdown. A test that fails has no count to record: it is counted as lost."""
    counts: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    lost = 0
    for case in ElementTree.parse(report).iter("testcase"):
        lost += case.find("failure") is not None or case.find("error") is not None
        for item in case.iter("property"):
            kind, _, fault = item.get("name", "").partition(": ")
            if kind == "fault":
                for at, number in enumerate(item.get("value", "").split()):
                    counts[fault][at] += int(number)
    lines = [
        "| fault | tried | noticed or survived | lost or unnoticed |",
        "| --- | ---: | ---: | ---: |",
    ]
    for fault, (tried, gone) in sorted(counts.items()):
        lines.append(f"| {fault} | {tried:,} | {tried - gone:,} | {gone:,} |")
    if lost:
        lines.append(f"\n{lost} tests failed; what they tried is not in the table.")
    return "\n".join(lines)
