"""Build the catalogue into a folder, category by category.

    OUT/
      README.md            card with `configs:`; a split is a category
      products/<C>-00000-of-00001.parquet
      reviews/<C>-00000-of-00001.parquet
      counts.json          lines read, refused by each rule and kept, by category
      provenance.json      inputs with their hashes, options, engine, versions, digests

A category is finished when provenance.json names it. Until then its files are in a temporary
folder next to OUT. A run continues with the first unfinished category.
"""

import fcntl
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from parley import (
    OutputError,
    Problem,
    RecordError,
    SourceError,
    UsageError,
    __version__,
    print_message,
    work_folder,
    write_whole,
)

from . import jsonl as upstream
from .card import render
from .files import Files, find_categories, hash_file, state_of
from .rules import PRODUCT_RULES, REVIEW_RULES
from .sift import MOST_SHOWN, Read
from .sources import PRODUCTS_IN_ALL, SOURCES
from .tables import REVIEW_COUNTS_SQL, SCHEMAS, SQL, write

if TYPE_CHECKING:
    from .duckdb_engine import DuckDB
    from .spark_engine import Spark

JOB = "cosrec catalogue"
PROVENANCE, COUNTS = "provenance.json", "counts.json"
_NUMBERED = f"{'[0-9]' * 5}-of-{'[0-9]' * 5}"


def build(
    engine: "DuckDB | Spark",
    input: Path,
    output: Path,
    only: Sequence[str],
    skip_broken: bool,
    jsonl: Path | None,
) -> None:
    """Build the unfinished categories from the raw files in a folder.

    All with both files, unless `only` names some; `skip_broken` counts the lines that would end
    upstream's script, instead of stopping; `jsonl` is a file for upstream's own output.
    """
    categories, alone = find_categories(input, only)
    output = Path(os.path.realpath(output))
    if re.search("[\\\\\ud800-\udfff]", str(output)):
        what = f"{output}: the engines cannot read a path with a backslash or outside UTF-8"
        raise UsageError(what, remedy="Choose another --output.")
    if jsonl:
        upstream.require_place(jsonl)
    if alone and not only:
        print_message(f"left out, because one file is missing: {', '.join(alone)}")
    with _owned(output) as temporary:
        catalogue = _Catalogue(output, skip_broken)
        left = [name for name, files in categories.items() if not catalogue.has(name, files)]
        if done := len(categories) - len(left):
            print_message(f"{done} of {len(categories)} categories are finished")
        # while one category is joined and sorted, the next is read
        with ThreadPoolExecutor(1) as thread:
            before: Future[None] = thread.submit(lambda: None)
            for number, name in enumerate(left, 1):
                print_message(f"{name} ({number} of {len(left)})")
                folder = temporary / name
                try:
                    reads = {t: _read(engine, t, p, folder) for t, p in categories[name].items()}
                    if not skip_broken:
                        _refuse_broken(name, reads)
                finally:
                    before.result()
                before = thread.submit(catalogue.add, name, engine, folder, reads)
            before.result()
        catalogue.finish()
        print_message(catalogue.summary())
        if jsonl:
            count = upstream.write(output, categories, jsonl)
            print_message(f"{jsonl}: {count:,} products in upstream's format")


def _read(engine: "DuckDB | Spark", table: str, path: Path, folder: Path) -> Read:
    """Read a raw file with an engine, and meanwhile hash it."""
    before, stop = state_of(path), Event()
    with ThreadPoolExecutor(1) as thread:
        hashed = thread.submit(hash_file, path, stop)
        try:
            found = engine.read(table, path, folder)
        except BaseException:
            stop.set()  # a large file would keep an error, or Ctrl-C, waiting
            raise
    if state_of(path) != before:
        raise SourceError(f"{path}: was changed while it was read", remedy="Run it again.")
    found.path, found.pin = path, hashed.result()
    return found


@contextmanager
def _owned(output: Path) -> Iterator[Path]:
    """Lock the output, and yield a temporary folder next to it."""
    with work_folder(output) as temporary:
        output.mkdir(exist_ok=True)
        handle = os.open(output, os.O_RDONLY)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                what = f"{output}: another run is writing there"
                raise OutputError(what, remedy="Wait for it to end.") from None
            yield temporary
        finally:
            os.close(handle)


class _Catalogue:
    """The folder of a catalogue, consistent at any moment."""

    def __init__(self, output: Path, skip_broken: bool) -> None:
        self._output = output
        given = {"skip_broken": skip_broken}
        new = {"job": JOB, "given": given, "categories": {}}
        self._provenance: dict[str, Any] = _read_json(output / PROVENANCE) or new
        if self._provenance is new and any(output.iterdir()):
            what = f"{output}: holds files of another program (no {PROVENANCE})"
            raise OutputError(what, remedy="Choose another --output.")
        found = self._provenance.get("given")
        if self._provenance.get("job") != JOB or found != given:
            other = Problem(str(output), f"a catalogue with {given}", f"one with {found}")
            raise UsageError("", other, remedy="Choose another --output, or delete it.")
        self._counts: dict[str, Any] = _read_json(output / COUNTS) or {}

    def has(self, name: str, files: Files) -> bool:
        """Tell whether a category is finished and built from exactly these files."""
        entry = self._provenance["categories"].get(name)
        if not entry or name not in self._counts:
            return False
        for table, path in files.items():
            if not hash_file(path).items() <= entry["inputs"][table].items():
                return False
            for file in entry[table]["files"]:
                built = self._output / table / file["name"]
                if not built.is_file() or built.stat().st_size != file["size"]:
                    return False
        return True

    def add(
        self, name: str, engine: "DuckDB | Spark", sifted: Path, reads: Mapping[str, Read]
    ) -> None:
        """Build a category from its sifted rows, and move it into the catalogue."""
        target = sifted / "built"
        with engine.querying(sifted) as query:
            counted = [row for batch in query(REVIEW_COUNTS_SQL) for row in batch.to_pylist()]
            written = {t: write(query(sql), t, target / t, name) for t, sql in SQL.items()}
        libraries = {name: version(name) for name in (engine.package, "orjson", "pyarrow")}
        entry: dict[str, Any] = {
            "inputs": {table: _pinned(read) for table, read in reads.items()},
            "engine": engine.name,
            "versions": {"parley": __version__, **libraries},
            **written,
        }
        if self._provenance["categories"].pop(name, None):
            self.finish()  # remove it from the card first
        for table in SCHEMAS:
            (self._output / table).mkdir(exist_ok=True)
            for file in (self._output / table).glob(f"{name}-{_NUMBERED}.parquet"):
                file.unlink()
            for file in (target / table).iterdir():
                file.rename(self._output / table / file.name)
        self._counts[name] = _counts(reads, counted, written)
        self._provenance["categories"][name] = entry
        self.finish()
        shutil.rmtree(sifted)

    def summary(self) -> str:
        """Return a line about the whole."""
        kept = sum(count["products"]["kept"] for count in self._counts.values())
        found = f"{self._output}: {kept:,} products of {len(self._counts)} categories"
        return f"{found}; upstream states {PRODUCTS_IN_ALL:,} of all {len(SOURCES)}"

    def finish(self) -> None:
        """Write the card and the JSON files; provenance.json last."""
        entries = dict(sorted(self._provenance["categories"].items()))
        self._provenance["categories"] = entries
        self._counts = {name: self._counts[name] for name in entries}
        write_whole(self._output / COUNTS, _to_json(self._counts))
        card = render(entries, self._counts, self._provenance["given"])
        write_whole(self._output / "README.md", card)
        write_whole(self._output / PROVENANCE, _to_json(self._provenance))


def _refuse_broken(category: str, reads: Mapping[str, Read]) -> None:
    problems: list[Problem] = []
    for read in reads.values():
        path = str(read.path)
        problems += [Problem(f"{path}:{line}", what=why) for line, why in read.broken]
        if read.counts["broken"] > MOST_SHOWN:
            problems.append(Problem(path, what=f"{read.counts['broken']:,} such lines in total"))
        if not read.counts["read"]:
            problems.append(Problem(path, "a record in each line", "an empty file"))
    if problems:
        what = f"{category}: some lines are not records of Amazon Reviews 2023"
        remedy = "Download the file again, or skip such lines with --skip-broken."
        raise RecordError(what, *problems, remedy=remedy)


def _counts(
    reads: Mapping[str, Read], stored: list[dict[str, Any]], written: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the counts of a category; read = broken + refused + kept (+ replaced).

    `stored` has the number of stored reviews by rule, and by whether the product is known.
    """
    rules = {"products": PRODUCT_RULES, "reviews": REVIEW_RULES}
    counts: dict[str, Any] = {
        table: {
            "read": read.counts["read"],
            "broken": read.counts["broken"],
            "refused": {rule: read.counts[rule] for rule in rules[table]},
            "kept": written[table]["rows"],
        }
        for table, read in reads.items()
    }
    counts["products"]["replaced"] = reads["products"].counts["kept"] - written["products"]["rows"]
    for row in stored:
        if rule := row["rule"] if row["known"] else "not_in_catalogue":
            counts["reviews"]["refused"][rule] += row["number"]
    return counts


def _pinned(read: Read) -> dict[str, Any]:
    """Return what is recorded of a file, and whether it is the published one."""
    name, sha256 = read.path.name, read.pin["sha256"]
    pins = (item for files in SOURCES.values() for item in files.items())
    published = {(Path(file).name, pin["sha256"]) for file, pin in pins}
    return {"name": name, **read.pin, "pinned": (name, sha256) in published}


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise OutputError(f"{path}: is damaged: {error}", remedy="Delete the folder.") from error


def _to_json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
