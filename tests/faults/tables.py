"""Write the table of `make faults` into docs/faults.md, from pytest's report.

    pytest tests/faults --junitxml=build/faults.xml
    python tests/faults/tables.py build/faults.xml

A failed test has no counts.
"""

import sys
from collections import defaultdict
from datetime import date
from pathlib import Path
from xml.etree import ElementTree

BEGIN, END = "<!-- make faults: from here -->", "<!-- make faults: to here -->"


def main():
    """Replace the text between the two marks."""
    document = Path(__file__).parents[2] / "docs" / "faults.md"
    text = document.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"{document}: expected {BEGIN} and, after it, {END}")
    stated = f"{date.today()}: each fault, with its trials and losses."
    table = f"{BEGIN}\n\n{stated}\n\n{faults(ElementTree.parse(sys.argv[1]))}\n\n{END}"
    document.write_text(f"{before}{table}{after}", encoding="utf-8")
    print(table)


def faults(report):
    """Return Markdown. Failed tests have no counts; the table names their number."""
    counts = defaultdict(lambda: [0, 0])
    for fault, numbers in properties(report, "fault"):
        for at, number in enumerate(numbers.split()):
            counts[fault][at] += int(number)
    lines = [
        "| fault | tried | noticed or survived | lost or unnoticed |",
        "| --- | ---: | ---: | ---: |",
    ]
    for fault, (tried, gone) in sorted(counts.items()):
        lines.append(f"| {fault} | {tried:,} | {tried - gone:,} | {gone:,} |")
    if lost := len([*report.iter("failure"), *report.iter("error")]):
        lines.append(f"\n{lost} tests failed; what they tried is not in the table.")
    return "\n".join(lines)


def properties(report, wanted):
    """Return name and value of what tests recorded as "WANTED: NAME"."""
    found = [(item.get("name", ""), item.get("value", "")) for item in report.iter("property")]
    start = f"{wanted}: "
    return [(name.removeprefix(start), value) for name, value in found if name.startswith(start)]


if __name__ == "__main__":
    main()
