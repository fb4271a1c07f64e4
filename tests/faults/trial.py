"""Damage one file at a time, build as `parley build` does, and judge the outcome."""

import json
import os
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from random import Random
from unittest.mock import patch

from damage import HERE, KINDS, OF_BYTES, OF_RECORDS, pattern, truncated
from subjects import LINES, SUBJECTS

from parley.base.errors import ParleyError, ScriptError
from parley.building.configs import Config
from parley.building.plan import plan
from parley.building.rows.arrow import to_batch
from parley.building.rows.generate import generate
from parley.building.sources import Sources
from parley.schema.features import arrow_schema
from parley.source import reader

REJECTED, HARMLESS, KEPT = "rejected", "harmless", "kept"
# Real files damaged in each kind and dataset; `make faults` damages 100
EACH = 5 * int(os.environ.get("PARLEY_TRIALS", 4))
FOLDERS = 10  # cut out of each dataset's files; every one is damaged many times
LONGEST = 600  # characters that a line of an error may have; it need not have all of a long id
LONG_ID = 100

# The only kinds for records of files that are not JSON
OF_ANY_TEXT = ("control character", "very long text")
OF_A_TABLE = ("key removed", "key added", "null")

# Such a file is not JSON
EXCLUDED = (
    "duplicate JSON key",
    "NaN, infinity",
    "deep nesting",
    "lone surrogate",
    "invalid UTF-8",
)

# Damage that may fit the shape but contradict another field
IN_SHAPE = ("key removed", "null", "empty list", "control character", "very long text")


@dataclass(frozen=True)
class Mutant:
    """A damaged file, and how an error must name it: the file, one of places, one of fields."""

    kind: str
    file: str
    content: bytes
    places: tuple[str, ...]  # the record, its id or the line
    fields: tuple[str, ...] = ()  # also those it contradicts; empty if no parser can know them
    excluded: bool = False  # whether no dataset can have such a file, so it must be rejected

    def is_named(self, error):
        """Tell whether one line of an error names all three, and none is too long to read."""
        folder, _, name = self.file.rpartition("/")
        return all(len(line) <= LONGEST for line in error.splitlines()) and any(
            (self.file in line or (f"{folder}/" in line and f" {name}" in line))
            and any(holds(line, place) for place in self.places)
            and (not self.fields or any(holds(line, field) for field in self.fields))
            for line in error.splitlines()
        )


class Unfair(Exception):
    """A mutant was refused with a vague error, or wrongly accepted."""

    def __init__(self, mutant, what):
        where = f"{mutant.file}, at {mutant.places} {mutant.fields}"
        super().__init__(f"{mutant.kind} in {where}: {what}")


class Trial:
    """A small source folder of one dataset; damages one file after the other."""

    def __init__(self, dataset, source, folder, draw):
        self.dataset, self.folder, self.draw = dataset, folder, draw
        self.subject = SUBJECTS[dataset.name]
        self.files = self.subject.cut(source, draw)
        for file in self.files:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(self.content(file))
        for file in self.subject.beside:
            if (source / file).exists():
                shutil.copy(source / file, folder / file)
        missing = [file for file in dataset.sources if not (folder / file).exists()]
        self.source = Sources(dataset, folder, missing=missing)
        self.schemas = {name: arrow_schema(dataset.features(name)) for name in dataset.configs}
        self.splits = {  # with the files of each
            (config, split): self._files(*(each.path for each in self.source.files(config, split)))
            for config in self.schemas
            for split in self.source.splits(config)
        }
        self.sound = {}
        for split, rows, error in self._built(self.files):
            if error:
                raise ValueError(f"cut out of sound files, but {error}")
            self.sound[split] = rows

    def content(self, file):
        return self.subject.form(file).write(self.files[file]).encode("utf-8")

    def _files(self, *sources):
        """Return the files of some sources, each a file or a folder."""
        beginnings = tuple(f"{source}/" for source in sources)
        return [file for file in self.files if f"{file}/".startswith(beginnings)]

    def _built(self, files):
        """Yield (config, split), rows and error of each split that reads one of the files.

        An error of the script itself is not caught.
        """
        plans = {each.name: each for each in plan(self.source)}  # they share a reader
        for split, read in self.splits.items():
            if set(files) & set(read):
                try:
                    # check a new file once, not again for each config
                    with patch.object(reader, "SETTLED", -1):
                        made = list(generate(plans[split]))
                    rows = to_batch(made, self.schemas[split[0]], "/".join(split)).to_pylist()
                except ScriptError:
                    raise
                except ParleyError as error:
                    yield split, None, str(error)
                else:
                    yield split, rows, ""

    # Making mutants -----------------------------------------------------------------------

    def mutant(self, kind):
        """Return a random mutant of this kind."""
        while True:
            file = self.draw.choice(list(self.files))
            is_json, is_table = self.subject.form(file).json, file.endswith(".qrels")
            if kind in OF_BYTES:
                mutant = self._of_bytes(kind, file)
            elif is_json or kind in OF_ANY_TEXT or (is_table and kind in OF_A_TABLE):
                mutant = self._of_records(kind, file)
            else:
                continue
            if mutant:
                return mutant

    def _of_bytes(self, kind, file):
        content, line = OF_BYTES[kind](self.content(file), self.draw)
        if content == self.content(file):
            return None
        # Where several lines make one JSON text, a parser may see only later that one was cut.
        sees_later = OF_BYTES[kind] is truncated and self.subject.form(file) is not LINES
        last = content.count(b"\n") + 1 if sees_later else line
        places = tuple(f"line {n}" for n in range(line, last + 1))
        return Mutant(kind, file, content, places, (), kind in EXCLUDED)

    def _of_records(self, kind, file):
        form, before = self.subject.form(file), self.files[file]
        records = json.loads(json.dumps(before))
        wound = OF_RECORDS[kind](records, self.draw)
        if wound is None or (same(records, before) and not wound.literal):
            return None
        content = form.write(records).replace(json.dumps(HERE), wound.literal).encode("utf-8")
        number = wound.path[0]
        places, fields = {form.place.format(number, number + 1)}, self._fields(wound.path)
        for record in (before[number], records[number]):
            for name in self.subject.ids(record):
                places |= {f": {name}"[:LONG_ID], f"the key ({name!r}"[:LONG_ID]}
        if kind in IN_SHAPE or not form.json:
            where = f"{file} {pattern(wound.path)}"
            fields |= {word for tied, word in self.subject.ties if re.search(tied, where)}
        if not form.json:  # a newline in the last column ends the line
            places.add(form.place.format(number + 1, number + 2))
        if wound.too_deep:
            places.add(f"line {content[: content.index(wound.literal.encode())].count(10) + 1}")
            fields.clear()
        named = tuple(sorted(places)), tuple(sorted(fields))
        return Mutant(kind, file, content, *named, kind in EXCLUDED)

    def _fields(self, path):
        """Return the ways an error may write the path of a field: all of it, or up to a `whole`."""
        ends = [end for end in range(2, len(path)) if pattern(path[:end]) in self.subject.whole]
        return {
            "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in path[1:end]).lstrip(".")
            for end in (*ends, len(path))
        }

    # Judging them -------------------------------------------------------------------------

    def judge(self, mutant):
        """Return the outcome.

        Raises:
            Unfair: no allowed outcome.
            Exception: any other error of a build.
        """
        path = self.folder / mutant.file
        path.write_bytes(mutant.content)
        rows = {}
        try:
            for split, made, error in self._built([mutant.file]):
                if error and mutant.is_named(error):
                    return REJECTED
                if error:
                    raise Unfair(mutant, f"refused with a vague error: {error}")
                rows[split] = made
        finally:
            path.write_bytes(self.content(mutant.file))
        if mutant.excluded:
            raise Unfair(mutant, "accepted, though it is excluded")
        self._require_kept(mutant, rows)
        return HARMLESS if all(same(self.sound[split], rows[split]) for split in rows) else KEPT

    def _require_kept(self, mutant, rows):
        """Raise Unfair unless the rows give back the records of the damaged file."""
        form = self.subject.form(mutant.file)
        try:
            records = form.parse(mutant.content.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise Unfair(mutant, f"accepted, though {error}") from error
        files = {**self.files, mutant.file: records}
        for split, made in rows.items():
            declared = self.dataset.configs[split[0]]
            if isinstance(declared, Config):
                due = self.subject.expected(split[0], {f: files[f] for f in self.splits[split]})
                if not same([declared.to_record(row) for row in made], due):
                    raise Unfair(mutant, f"accepted by {'/'.join(split)} with changed data")


def judged(dataset, source, each):
    """Yield kind and outcome of `each` mutants of each kind; an exception is unfair.

    The small folders are always the same.
    """
    draw, folders = Random(dataset.name), min(FOLDERS, each)
    for number in range(folders):
        with tempfile.TemporaryDirectory() as folder:
            trial = Trial(dataset, source, Path(folder), draw)
            for kind in KINDS * len(range(number, each, folders)):
                mutant = trial.mutant(kind)
                try:
                    yield kind, trial.judge(mutant)
                except Unfair as error:
                    yield kind, error
                except Exception as error:
                    what = f"crashed: {type(error).__name__}: {error}"
                    yield kind, Unfair(mutant, what).with_traceback(error.__traceback__)


def holds(text, words):
    """Tell whether a text holds the words as whole words."""
    before = r"(?<!\w)" if words[:1].isalnum() else ""
    after = r"(?!\w)" if words[-1:].isalnum() and len(words) < LONG_ID else ""
    return bool(re.search(before + re.escape(words) + after, text))


def same(one, other):
    """Tell whether two JSON values are equal: true is not 1, but 4 equals 4.0."""
    return bool(_typed(one) == _typed(other))


def _typed(value):
    if isinstance(value, dict):
        return {key: _typed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_typed(inner) for inner in value]
    return isinstance(value, bool), value
