"""Write the tables of `make faults` into SECURITY.md.

pytest tests/faults --junitxml=build/faults.xml && python tests/faults/tables.py build/faults.xml

Without real files (PARLEY_SOURCE), only print the tables.
"""

import sys
from datetime import date
from pathlib import Path

import tally
from trial import EACH

BEGIN, END = "<!-- make faults: from here -->", "<!-- make faults: to here -->"


def main() -> None:
    """Replace the text between the two marks."""
    document = Path(__file__).parents[2] / "SECURITY.md"
    text = document.read_text(encoding="utf-8")
    if not text.count(BEGIN) == text.count(END) == 1 or text.index(BEGIN) > text.index(END):
        sys.exit(f"{document}: expected {BEGIN} and, after it, {END}, once each")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    report = Path(sys.argv[1])
    damage = tally.damage(report)
    tables = f"""{BEGIN}

{date.today()}: each fault, with its trials and losses.

{tally.faults(report)}

Damaged records and files: {EACH} of each kind and dataset, cut out of the real files. Each cell
counts rejected (the error names file, record and field) / harmless (same rows) / kept (the rows
hold the damaged data exactly). A fourth number would count everything else.

{damage}

{END}"""
    if damage:
        document.write_text(f"{before}{tables}{after}", encoding="utf-8")
    print(tables)


if __name__ == "__main__":
    main()
