"""What must hold of the sample and of the rows that the script makes of it, one function a check.

Each yields a line for everything that contradicts its docstring, and says what to do.
"""

import copy
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import datasets

from parley.checking.subject import Subject, lines_of, one_line
from parley.errors import ParleyError, RowError
from parley.folder.checks import first_difference
from parley.folder.verify import verify
from parley.shapes import fitter

_SENTINELS = ("None", "null", "N/A")
_FEW = 100  # records of a shape that are taken to pieces
_EDGE = {"unknown": None}  # what no record has anywhere


def sample_is_there(subject: Subject) -> Iterator[str]:
    """The folder `sample` holds every source, in upstream's layout."""
    for source in subject.module.SOURCES:
        if not (path := subject.dataset.sample / source).exists():
            yield f"{path}: missing; write a few invented records in upstream's layout"


def sample_builds(subject: Subject) -> Iterator[str]:
    """The strict build makes every config and split of the sample."""
    try:
        built = subject.built
    except ParleyError as error:
        agree = "; let rows and FEATURES agree" if isinstance(error, RowError) else ""
        yield from (f"{line}{agree}" for line in lines_of(error))
        return
    for config, split in subject.splits():
        if not built.rows(config, split):
            yield f"{config}/{split}: no row; give the sample a record that makes one"


def rows_go_back_to_records(subject: Subject) -> Iterator[str]:
    """Of configs in TO_RECORD each record gives one row, which goes back to it, types and all."""
    if not subject.module.TO_RECORD:
        yield "TO_RECORD: names no config; one has to keep everything that upstream has"
    for config, to_record in subject.module.TO_RECORD.items():
        for split in subject.source.splits(config):
            where = f"{config}/{split}"
            records = subject.records(config, split)
            rows = subject.built.rows(config, split)
            if len(rows) != len(records):
                yield (
                    f"{where}: {len(records)} records make {len(rows)} rows; make one of each, or "
                    f"take {config} out of TO_RECORD"
                )
            for number, (row, (_, record)) in enumerate(zip(rows, records, strict=False)):
                try:
                    back = to_record(row)
                except Exception as error:
                    problem = f"to_record fails: {type(error).__name__}: {error}"
                else:
                    if _typed(back) == _typed(record):
                        continue
                    problem = "does not come back as the record: " + first_difference(back, record)
                yield f"{where}[{number}]: {one_line(problem)}; let to_record undo what to_row does"


def _typed(value: Any) -> Any:
    """Return a value in a form that tells 1 from True, and a number from a string."""
    if isinstance(value, dict):
        return {key: _typed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_typed(inner) for inner in value]
    kind = type(value)
    return float if kind is int else kind, value  # JSON's 1 and 1.0 are one number


def records_stay_as_they_are(subject: Subject) -> Iterator[str]:
    """What makes rows does not change the records, which other configs may be made of."""
    for config, split in subject.splits():
        records = subject.records(config, split)
        before = copy.deepcopy(records)
        for _ in subject.module.rows(config, iter(records)):
            pass
        for number, (found, due) in enumerate(zip(records, before, strict=True)):
            if found != due:
                path = first_difference(found[1], due[1])
                yield (
                    f"{config}/{split}: rows changes record {number}: {path}; change a copy, as "
                    "{**record}"
                )


def shapes_refuse_what_they_do_not_know(subject: Subject) -> Iterator[str]:
    """No object in a record may have a key more, and no value may be just anything."""
    found: dict[str, str] = {}
    for record, shape in _shaped(subject):
        fits = fitter(shape)
        for way, holder, step in _places(record):
            value = holder[step]
            holder[step] = _EDGE
            try:
                if fits(record):
                    found[way] = f"the shape takes anything at {way}; say what may stand there"
            except Exception as error:
                said = f"{type(error).__name__}: {error}"
                found[way] = one_line(
                    f"the shape's function at {way} fails on an object: {said}; let it raise "
                    "ValueError for whatever it does not expect"
                )
            holder[step] = value
            if isinstance(value, dict):
                value["unknown"] = _EDGE
                if fits(record):
                    found[way] = f"the shape takes any key at {way}; name the keys that there are"
                del value["unknown"]
    yield from found.values()


def _shaped(subject: Subject) -> list[tuple[Any, Any]]:
    """Return a few records of each shape that are objects, in a list of their own."""
    found: list[tuple[Any, Any]] = []

    def read(path: Any, shape: Any) -> Iterator[Any]:
        for record in subject.module.read(path, shape):
            yield record
            if sum(known is shape for _, known in found) < _FEW and isinstance(record, dict):
                found.append((copy.deepcopy(record), shape))

    for config, split in subject.splits():
        for _ in subject.module.records(config, subject.source.paths(config, split), read):
            pass
    return [([record], [shape]) for record, shape in found]


def _places(value: Any, way: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield every place in a value: as it is called, the object or list, and the key there."""
    steps = value.items() if isinstance(value, dict) else enumerate(value)
    for step, inner in list(steps):
        here = f"{way}.{step}" if isinstance(step, str) else f"{way}[]"
        yield here.removeprefix("[]").lstrip(".") or "the record itself", value, step
        if isinstance(inner, dict | list):
            yield from _places(inner, here)


def missing_is_null(subject: Subject) -> Iterator[str]:
    """What is missing is null, and never "None", "null", "N/A" or -1.0.

    But for the configs that `checks.py` names in SENTINELS, as their documented schema has them.
    """
    exempt = getattr(subject.dataset.checks, "SENTINELS", ())
    for config, split in subject.splits():
        for number, row in enumerate(subject.built.rows(config, split)):
            for path, value in _sentinels(row) if config not in exempt else ():
                yield f"{config}/{split}[{number}]{path}: is {value!r}; make it null"


def _sentinels(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _sentinels(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _sentinels(inner, f"{path}[{index}]")
    elif value in _SENTINELS or (isinstance(value, float) and value == -1.0):
        yield path, value


def keys_tell_rows_apart(subject: Subject) -> Iterator[str]:
    """KEYS of `checks.py` names columns that together tell all rows of a config apart."""
    features = subject.module.FEATURES
    for config, columns in subject.dataset.keys.items():
        if unknown := set(columns) - set(features.get(config, ())):
            there = ", ".join(features[config]) if config in features else "no such config"
            named = f"{', '.join(sorted(unknown))}, found only {there}"
            yield f"KEYS[{config!r}]: names {named}; name columns of the config"
            continue
        rows = subject.built.rows(config, *subject.module.SPLITS[config])
        seen: set[str] = set()
        for row in rows:
            key = ", ".join(repr(row[column]) for column in columns)
            if key in seen:
                yield f"KEYS[{config!r}]: {key} comes twice; name the columns that tell them apart"
            seen.add(key)


def sample_verifies(subject: Subject) -> Iterator[str]:
    """What `parley verify` asserts of any build, and the dataset's own checks, holds of it."""
    for check in verify(subject.built).checks:
        for problem in check.problems:
            mend = f"mend the rows, or the check: {check.definition}"
            yield one_line(f"{check.name}: {problem}; {mend}")


def script_alone_makes_the_same_rows(subject: Subject) -> Iterator[str]:
    """`datasets` makes the same rows of the builder, prepared and streamed, without the tool."""
    for config, splits in subject.module.SPLITS.items():
        try:
            builder = subject.dataset.builder(
                config_name=config,
                data_dir=str(subject.dataset.sample),
                cache_dir=str(subject.work / "alone"),
            )
            builder.download_and_prepare()
            if set(prepared := builder.as_dataset()) != set(splits):
                found = f"{', '.join(splits)}, found {', '.join(prepared)}"
                yield f"_split_generators: {config}: expected the splits {found}; mend it"
                continue
            for split in splits:
                due = subject.built.rows(config, split)
                yield from _unlike(f"{config}/{split}, prepared", prepared[split], due)
                stream = builder.as_streaming_dataset(split=split)
                yield from _unlike(f"{config}/{split}, streamed", stream, due)
        except Exception as error:
            while isinstance(error.__cause__, Exception):  # datasets' own error says nothing
                error = error.__cause__
            said = f"{type(error).__name__}: {error}"
            yield one_line(f"{config}: the builder fails without the tool: {said}; mend it")


def folder_loads(subject: Subject) -> Iterator[str]:
    """`load_dataset` opens each config and split of the built folder, and streams the same rows."""
    folder, cache = str(subject.built.path), str(subject.work / "loaded")
    if set(datasets.load_dataset(folder, cache_dir=cache)) != set(
        subject.module.SPLITS["dialogues"]
    ):
        yield "loaded without the name of a config, it is not dialogues; mend DEFAULT_CONFIG_NAME"
    for config, split in subject.splits():
        due = subject.built.rows(config, split)
        kwargs = {"name": config, "split": split, "cache_dir": cache}
        loaded = datasets.load_dataset(folder, **kwargs)
        yield from _unlike(f"{config}/{split}, loaded", loaded, due)
        if loaded.features != subject.module.FEATURES[config]:
            yield f"{config}/{split}: loaded with other features than FEATURES; build it again"
        stream = datasets.load_dataset(folder, streaming=True, **kwargs)
        yield from _unlike(f"{config}/{split}, streamed from the folder", stream, due)


def _unlike(where: str, found: Iterable[Any], due: list[Any]) -> Iterator[str]:
    """Yield how rows differ from what the tool built, if they do."""
    rows = list(islice(found, len(due) + 1))
    if len(rows) != len(due):
        count = f"more than {len(due)}" if len(rows) > len(due) else str(len(rows))
        yield f"{where}: expected {len(due)} rows, as the tool made, found {count}"
    for number, (row, expected) in enumerate(zip(rows, due, strict=False)):
        if row != expected:
            path = first_difference(row, expected)
            yield f"{where}[{number}]: not the row that the tool made: {path}"
            return


def downloads_are_compared_with_their_pins(subject: Subject) -> Iterator[str]:
    """Without `data_dir` the builder refuses what differs from SOURCES, before it makes a row."""
    junk = subject.work / "junk"
    junk.write_bytes(b"not what upstream has")
    for config, splits in subject.module.SPLITS.items():
        needed = {source for sources in splits.values() for source in sources}
        builder = subject.dataset.builder(
            config_name=config, cache_dir=str(subject.work / "downloaded")
        )
        try:
            builder.download_and_prepare(dl_manager=_Junk(junk))
        except Exception as error:
            while isinstance(error.__cause__, Exception):
                error = error.__cause__
            said = str(error)
            if isinstance(error, ValueError) and any(each in said for each in needed):
                continue
            said = f"fails with {type(error).__name__}: {error}"
        else:
            said = "is made of it"
        yield one_line(
            f"{config}: expected a ValueError that names the source whose download is damaged, but "
            f"it {said}; call require_pinned first in _generate_examples"
        )


class _Junk(datasets.DownloadManager):
    """Downloads nothing: each URL gives the same file."""

    def __init__(self, path: Path) -> None:
        super().__init__(download_config=datasets.DownloadConfig())
        self._path = str(path)

    def download(self, url_or_urls: Any) -> Any:
        """Return the file in the place of each URL."""
        return datasets.utils.py_utils.map_nested(lambda url: self._path, url_or_urls)
