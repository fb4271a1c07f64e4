"""Writes the tables of `make faults` into SECURITY.md.

pytest tests/faults --junitxml=build/faults.xml && python tests/faults/tables.py build/faults.xml

Damaged are the files in the folder PARLEY_SOURCE. Without it they are the samples, and the tables
are printed only.
"""

import os
import sys
from datetime import date
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"  # before anything imports datasets

import report
import tally

BEGIN, END = "<!-- make faults: from here -->", "<!-- make faults: to here -->"


def main() -> None:
    """Replace what stands between the two marks."""
    place = os.environ.get("PARLEY_SOURCE")
    document = Path(__file__).parents[2] / "SECURITY.md"
    text = document.read_text(encoding="utf-8")
    if not text.count(BEGIN) == text.count(END) == 1 or text.index(BEGIN) > text.index(END):
        sys.exit(f"{document}: expected {BEGIN} and, after it, {END}, once each")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    origin = "cut out of the real files" if place else "cut out of the samples"
    tables = f"""{BEGIN}

{date.today()}: each fault, how often it was tried, and what was lost by it.

{tally.table(Path(sys.argv[1]))}

Damaged records and files, {report.EACH} of each kind and dataset, {origin}.
Each cell counts those rejected by an error that names file, record and field / harmless, since the
rows are the same / kept, since the rows say what the damaged file says. A fourth number would be
anything else.

{report.table(Path(place) if place else None)}

{END}"""
    if place:
        document.write_text(f"{before}{tables}{after}", encoding="utf-8")
    print(tables)


if __name__ == "__main__":
    main()
