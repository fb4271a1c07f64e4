"""Checks of a build's files and of what they state: each yields a message for each violation.

The folder's metadata is untrusted: checks compare it with the Parquet and open no path it names.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from parley.base.errors import ParleyError, UsageError, one_line, require_memory, words_of
from parley.base.values import tree
from parley.builds.built_folder import BuiltFolder
from parley.builds.card import built_card
from parley.builds.provenance import (
    MOST_TEXT,
    PROVENANCE,
    TEXTS,
    new_provenance,
    provenance_text,
    tools,
)
from parley.builds.sources import Sources, sources_of
from parley.declaration.configs import Config
from parley.declaration.figures import A_SAMPLE, Figure, marked
from parley.declaration.measured import FILE, measured
from parley.rows.arrow import to_batches
from parley.rows.splits import BuiltSplit, SplitPlan, with_rows, write_batches
from parley.schema.features import arrow_schema
from parley.scoring.gold import Part, load_gold
from parley.source import hashes
from parley.tasks.task import Subset
from parley.verification.changes import differences
from parley.verification.figures import every_count
from parley.verification.results import Aside, Found

# what huggingface_hub adds to a copy, and the Hub's people to repositories, for leaderboards; other
# files of its folder could hold rows
_OF_THE_HUB = re.compile(
    r"\.gitattributes|eval\.yaml|\.cache/huggingface"
    r"(/(\.gitignore(\.lock)?|CACHEDIR\.TAG|(down|up)load(/.*\.(lock|metadata))?"
    r"|trees(/[0-9a-f]{40}\.json)?))?"
)
Plans = Mapping[tuple[str, str], SplitPlan]  # of the splits that the upstream files make


@dataclass(frozen=True)
class RebuiltSplit:
    """What a build makes of the source of a split."""

    split: BuiltSplit | Exception  # or what it fails with
    problems: list[str]  # one for each row that does not convert back to its record


class Rebuilt:
    """What a build writes again, of the source and of the rows, when a check first asks for it.

    No file is kept. Where the files that a build writes of the source are those of the folder, the
    rows of the folder are not written once more.
    """

    def __init__(self, built: BuiltFolder, plans: Plans) -> None:
        self._built = built
        self._plans = plans

    @cached_property
    def from_source(self) -> dict[tuple[str, str], RebuiltSplit]:
        """What a build writes of the source of each split, where it is at hand."""
        names = [name for name in self._built.declared_splits if name in self._plans]
        return {name: _from_source(self._plans[name]) for name in names}

    @cached_property
    def splits(self) -> dict[tuple[str, str], BuiltSplit]:
        """What a build writes of the rows of each split."""
        built = self._built

        def rebuilt_of(name: tuple[str, str]) -> BuiltSplit:
            batches = (batch for table in built.tables(*name) for batch in table.to_batches())
            schema = arrow_schema(built.column_types(name[0]))
            return write_batches(name, batches, schema, None)

        return {name: self._rebuilt(name) or rebuilt_of(name) for name in built.declared_splits}

    def _rebuilt(self, name: tuple[str, str]) -> BuiltSplit | None:
        """Return what a build writes of the source, if these are the files of the folder."""
        if name not in self.from_source:
            return None
        split = self.from_source[name].split
        if isinstance(split, Exception):
            return None
        in_folder = [hashes.hash_file(path, "sha256") for path in self._built.files(*name)]
        return split if in_folder == [file.sha256 for file in split.files] else None

    @property
    def measured(self) -> dict[str, dict[str, Any]]:
        """Config -> split -> what a build measures of its rows, with the recorded bytes."""
        entries = {}
        for (config, name), split in self.splits.items():
            files = self._built.split_entries[config][name]["files"]
            entries[config, name] = split.measured_entry | {"bytes": sum(f["bytes"] for f in files)}
        return tree(entries)


def _from_source(plan: SplitPlan) -> RebuiltSplit:
    """Generate and write the rows of a split; convert each row of a lossless config back."""
    config, place = plan.config, "/".join(plan.name)
    problems: list[str] = []

    def rows() -> Iterator[Any]:
        for number, (record, row) in enumerate(with_rows(plan)):
            if isinstance(config, Config):
                problems.extend(_conversion_problems(config, row, record, f"{place}[{number}]"))
            yield row

    try:
        batches = to_batches(rows(), plan.schema, place)
        return RebuiltSplit(write_batches(plan.name, batches, plan.schema, None), problems)
    except Exception as error:  # which the check `source` reports
        require_memory(error)
        return RebuiltSplit(error, problems)


def _conversion_problems(config: Config, row: Any, record: Any, where: str) -> Iterator[str]:
    try:
        back = config.to_record(row)
    except Exception as error:  # of a script
        yield f"{where}: does not convert back: {words_of(error)}"
        return
    if back != record or not config.node.fits(back):  # as true, which equals 1
        difference = next(differences(back, record), "it is of another type")
        yield f"{where}: does not convert back to the upstream record: {difference}"


def files(built: BuiltFolder) -> Iterator[str]:
    """The folder holds the files that its provenance records and its texts, byte for byte.

    Beside them it may hold what huggingface_hub and the Hub's people add to a copy.
    """
    pins_by_name, contents = built.parquet_files, built.contents()
    for config, splits in built.provenance["configs"].items():
        for split in sorted(splits.keys() - built.dataset.splits.get(config, {}).keys()):
            yield f"{config}/{split}: recorded, but not a split of {built.dataset.name}"
    missing = sorted({*pins_by_name, *TEXTS} - contents.keys())
    yield from (f"{name}: missing" for name in missing)
    for name, path in contents.items():
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            yield f"{name}: expected a file, found a link or device"
        elif _OF_THE_HUB.fullmatch(name):
            continue
        elif path.is_dir():
            yield f"{name}: unknown folder"
        elif name in pins_by_name:
            if problem := hashes.problem(path, pins_by_name[name]):
                yield f"{name}: {problem}"
        elif name not in TEXTS:
            yield f"{name}: unknown file"
        elif (size := path.stat().st_size) > MOST_TEXT:
            yield f"{name}: {size:,} bytes, expected at most {MOST_TEXT:,}"


def schema(built: BuiltFolder) -> Iterator[str]:
    """Every file has the columns and the footer of its config's features."""
    for config, split in built.declared_splits:
        expected = arrow_schema(built.column_types(config))
        for table in built.tables(config, split):
            if not table.schema.equals(expected):
                columns = f"expected the columns {_fields(expected)}, found {_fields(table.schema)}"
                yield f"{config}/{split}: {columns}"
            elif table.schema.metadata != expected.metadata:
                yield f"{config}/{split}: the footer states other features than the script"


def _fields(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} ({field.type})" for field in schema)


def shards(built: BuiltFolder, rebuilt: Rebuilt) -> Iterator[Found]:
    """Each Parquet file has the bytes that a build writes of its rows.

    So nothing else in it, such as statistics, counts, indexes or a second chain of pages, misleads
    a reader. Where another pyarrow or kind of machine made the build, only the numbers of rows and
    the statistics of the footers are compared.
    """
    made_with, here = built.provenance["built_with"], tools()
    if other := [name for name in ("pyarrow", "machine") if made_with.get(name) != here[name]]:
        then, now = (", ".join(str(each.get(name)) for name in other) for each in (made_with, here))
        what = f"the bytes are those of another writer, {then}; this is {now}"
        yield Aside("not checked", f"{what}; {built.rebuild} makes files that can be compared")
        for name, made in rebuilt.splits.items():
            found = [_statistics(pq.read_metadata(path)) for path in built.files(*name)]
            due = [_statistics(shard.footer) for shard in made.files]
            yield from (f"{'/'.join(name)}: {each}" for each in differences(found, due))
        return
    for (config, split), made in rebuilt.splits.items():
        stated, due = built.split_entries[config][split]["files"], made.provenance_entry["files"]
        wrong = [file["path"] for file in stated if file not in due]
        if wrong or len(stated) != len(due):
            names = ", ".join(wrong or [f"{len(stated)} files, expected {len(due)}"])
            yield f"{config}/{split}: {names}: not the bytes that a build writes; build again"


def _statistics(footer: pq.FileMetaData) -> list[dict[str, Any]]:
    """Return what each group of rows says of its rows and columns, by which readers skip it."""
    found = []
    for group in map(footer.row_group, range(footer.num_row_groups)):
        columns = [group.column(number).statistics for number in range(group.num_columns)]
        statistics = [of_column and of_column.to_dict() for of_column in columns]
        found.append({"rows": group.num_rows, "statistics": statistics})
    return found


def provenance(built: BuiltFolder, plans: Plans, rebuilt: Rebuilt) -> Iterator[str]:
    """The provenance is the text that a build of its sources writes for these rows."""
    stated, dataset = built.provenance, built.dataset
    there = {
        file: next((pin for pin in hashes.places(pin) if hashes.alone(pin) == found), pin)
        for file, pin in dataset.pins.items()
        if (found := stated["sources"].get(file)) is not None
    }
    made_of = sources_of(dataset, built.path, there)
    if built.is_sample:
        made_of = Sources(dataset, built.path, sample=True)
    declared = [(config, split) for config in dataset.configs for split in made_of.splits(config)]
    for config, split in [*declared, *plans]:
        if split not in built.split_entries.get(config, {}):
            yield f"{config}/{split}: not built, though its sources are available"
    built_with = tools()
    for tool in built_with:
        version = stated["built_with"].get(tool, "")
        if _VERSION.fullmatch(version):
            built_with[tool] = version
    due = new_provenance(made_of, built_with)
    due["configs"] = _entries(built, declared, rebuilt)
    found = list(differences(stated, json.loads(provenance_text(due))))
    yield from found
    if not found and built.text(PROVENANCE) != provenance_text(due):
        yield "expected the form that builds write, without other spaces or escapes"


_VERSION = re.compile(r"\d+(\.\w{1,12}){1,5}(\+[\w.]{1,40})?|[a-z]{3,12}-\w{2,12}", re.ASCII)


def _entries(
    built: BuiltFolder, names: Iterable[tuple[str, str]], rebuilt: Rebuilt
) -> dict[str, dict[str, Any]]:
    """Return what the provenance must say of these splits, but for the files, if anything."""
    due: dict[str, dict[str, Any]] = {}
    for config, split in names:
        if stated := built.split_entries.get(config, {}).get(split):
            made = rebuilt.splits.get((config, split))
            entry = made.provenance_entry | {"files": stated["files"]} if made else stated
            due.setdefault(config, {})[split] = entry
    return due


def card(built: BuiltFolder, rebuilt: Rebuilt) -> Iterator[str]:
    """The card is the one that a build of these rows writes, byte for byte."""
    due = built_card(built, rebuilt.measured, measured(built.dataset)).split("\n")
    for number, (line, expected) in enumerate(zip_longest(built.card.split("\n"), due), 1):
        if line != expected:
            problem = f"expected {expected!r:.100}, found {line!r:.100}"
            yield f"line {number}: {problem}, by the script, the rows or {FILE}; build again"
            return


def as_measured(built: BuiltFolder, rebuilt: Rebuilt, figures: list[Figure]) -> Iterator[str]:
    """Rows and figures equal the dataset's `measured.json`, if it is of the same version."""
    known = measured(built.dataset)
    if built.is_sample or known.version != built.version:
        return
    for (config, split), made in rebuilt.splits.items():
        due = known.splits.get(config, {}).get(split, {}).get("digest")
        if due not in (None, made.digest):
            what = f"the rows differ from the measured ones (digest {due}, found {made.digest})"
            remedy = "but the version is the same: raise VERSION, and run `make measure`"
            yield f"{config}/{split}: {what}, {remedy}"
    for figure in figures:
        stated = known.found.get(figure.name, {}).get("measured")
        if figure.measured is not None and stated not in (None, figure.measured):
            yield f"{figure.name}: measured {figure.measured}, {FILE} says {stated}"


def counted(built: BuiltFolder) -> Iterator[Found]:
    """Each counted number equals that of the dataset's `measured.json`, if of the same version."""
    dataset = built.dataset
    known = measured(dataset)
    if built.is_sample or known.version != built.version:
        why = A_SAMPLE if built.is_sample else f"{FILE} is not of {dataset.name} {built.version}"
        if marked(dataset.figures, "counted"):
            yield Aside("not checked", why)
        return
    due = {name: value for name, value in known.counted.items() if value is not None}
    owners = tuple(f"{each.__name__}." for each in marked(dataset.figures, "counted"))
    for name in due:
        if not f"{name}.".startswith(owners):
            yield f"{name}: {FILE} has it, but no function of figures.py counts it"
    for count in every_count(dataset.figures, built):
        own = [name for name in due if f"{name}.".startswith(f"{count.name}.")]
        if count.reason and not count.failed:
            yield Aside("not checked", f"{count.name}: {count.reason}")
        elif count.reason:
            yield f"{count.name}: {count.reason}"
        for name in dict.fromkeys((*own, *count.numbers)) if count.numbers else ():
            found, recorded = count.numbers.get(name, "nothing"), due.get(name, "nothing")
            if found != recorded:
                yield f"{name}: counted {found}, {FILE} says {recorded}"


def subsets(built: BuiltFolder) -> Iterator[Found]:
    """Each subset names dialogues of the build, of which the first task that has it scores some."""
    held = list[Subset]()
    for name, task in () if built.is_sample else built.dataset.tasks.items():
        for subset in [key for key, of in task.subsets.items() if of not in held]:
            try:
                load_gold(built, name, task.chosen({}), Part(subset))
                held.append(task.subsets[subset])
            except (ParleyError, ModuleNotFoundError) as error:
                is_wrong = isinstance(error, UsageError) or not task.options
                problem = one_line(f"{name}: {error}")
                is_problem = is_wrong and not built.provenance["missing"]
                yield problem if is_problem else Aside("not checked", problem)
