"""Measure one method in a process: `python benchmarks/methods.py METHOD ARGUMENT...`.

Print JSON: seconds, processor seconds (with those of other processes that it started), peak memory
in MB, rows. Imports count only where stated.
"""

import json
import re
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

METHODS: dict[str, Callable[..., int]] = {}
_start = [0.0, 0.0]


def method(function: Callable[..., int]) -> Callable[..., int]:
    """Register a method under its name; it returns its number of rows."""
    METHODS[function.__name__] = function
    return function


def begin() -> None:
    """Start the clock after imports and set-up."""
    _start[:] = time.perf_counter(), processor()


def processor() -> float:
    """Return the processor seconds of this process and of those that it started and that ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def main() -> None:
    """Run the method named on the command line."""
    name, *arguments = sys.argv[1:]
    begin()
    rows = METHODS[name](*arguments)
    seconds, cpu = time.perf_counter() - _start[0], processor() - _start[1]
    print(json.dumps({"seconds": seconds, "cpu": cpu, "mb": peak_mb(), "rows": rows}), flush=True)


def peak_mb() -> float:
    """Return the peak resident memory of this process; `ru_maxrss` would include its parent's."""
    status = Path("/proc/self/status")
    if status.exists():
        (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", status.read_text())
        return int(peak) * 1024 / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6  # macOS, in bytes


# Writing CoSRec-shaped conversations ----------------------------------------------------


@contextmanager
def parquet(schema: Any) -> Iterator[Any]:
    """Yield a writer of a temporary file with the options of parley."""
    import pyarrow.parquet as pq

    with (
        tempfile.TemporaryDirectory() as folder,
        pq.ParquetWriter(
            f"{folder}/limit.parquet",
            schema,
            write_page_index=True,
            use_content_defined_chunking=True,
        ) as writer,
    ):
        yield writer


def write(source: str, to_batch: Callable[[Any, Iterable[tuple[str, str]]], Any]) -> int:
    """Write conversations in batches, each from a schema and a thousand ids with texts."""
    import orjson
    import pandas  # noqa: F401 - pyarrow imports it for its first array
    import pyarrow as pa
    import pyarrow.parquet  # keep the import out of the measurement

    turn = pa.struct([("role", pa.string()), ("text", pa.string())])
    schema = pa.schema([("dialogue_id", pa.string()), ("turns", pa.list_(turn))])
    begin()
    count = 0
    with parquet(schema) as writer, Path(source).open("rb") as file:
        pairs = (pair for line in file for pair in orjson.loads(line).items())
        while (batch := to_batch(schema, islice(pairs, 1000))).num_rows:
            writer.write_batch(batch)
            count += batch.num_rows
    return count


@method
def limit(source: str) -> int:
    """Write with only orjson and pyarrow: no check, no dict per turn, no digest, no card."""
    import pyarrow as pa

    def from_columns(schema: Any, pairs: Iterable[tuple[str, str]]) -> Any:
        ids: list[str] = []
        roles: list[str] = []
        texts: list[str] = []
        offsets = [0]
        for dialogue_id, text in pairs:
            ids.append(dialogue_id)
            for line in text.split("\n"):
                roles.append("user" if line[0] == "U" else "assistant")
                texts.append(line[3:])
            offsets.append(len(texts))
        turns = pa.StructArray.from_arrays(
            [pa.array(roles, pa.string()), pa.array(texts, pa.string())],
            fields=list(schema.field("turns").type.value_type),
        )
        lists = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), turns)
        return pa.record_batch([pa.array(ids, pa.string()), lists], schema=schema)

    return write(source, from_columns)


@method
def limit_of_rows(source: str) -> int:
    """Write with orjson and pyarrow from one dict per row and turn."""
    import pyarrow as pa

    def from_dicts(schema: Any, pairs: Iterable[tuple[str, str]]) -> Any:
        rows = []
        for dialogue_id, text in pairs:
            turns = [
                {"role": "user" if line[0] == "U" else "assistant", "text": line[3:]}
                for line in text.split("\n")
            ]
            rows.append({"dialogue_id": dialogue_id, "turns": turns})
        return pa.RecordBatch.from_pylist(rows, schema=schema)

    return write(source, from_dicts)


def only_raw() -> Any:
    """Return CoSRec with only the config and split of the generated files.

    Make one builder, because `datasets` imports more modules (such as scipy) for the first one.
    """
    from parley import dataset

    cosrec = dataset("cosrec")
    dialogues = cosrec.configs["dialogues"]
    raw = replace(dialogues, splits={"raw": dialogues.splits["raw"]})
    cosrec.builder.CONFIGS[:] = [raw]
    with tempfile.TemporaryDirectory() as folder:
        cosrec.builder(config_name="dialogues", cache_dir=folder, hash="benchmark")
    return cosrec


@method
def parley(source: str) -> int:
    """Build with `parley`: strict rows, a digest, Parquet, provenance and card."""
    from parley.building.build import build as build_folder
    from parley.building.sources import Sources

    dataset = only_raw()
    missing = [name for name in dataset.sources if not (Path(source) / name).exists()]
    begin()
    with tempfile.TemporaryDirectory() as folder:
        files = Sources(dataset, Path(source), missing=missing)
        (split,) = build_folder(files, Path(folder))
    return split.rows


@method
def datasets_builder(source: str) -> int:
    """Write with the `download_and_prepare` of the same builder."""
    import datasets

    dataset = only_raw()
    builder_class = dataset.builder
    datasets.disable_progress_bars()
    begin()
    with tempfile.TemporaryDirectory() as folder:
        builder = builder_class(
            config_name="dialogues", data_dir=source, cache_dir=folder, hash="benchmark"
        )
        builder.download_and_prepare(folder, file_format="parquet")
        return int(builder.info.splits["raw"].num_examples)


@method
def polars(source: str) -> int:
    """Write with Polars; orjson parses, because Polars cannot read objects with varying keys."""
    import orjson
    import polars as pl

    begin()
    with tempfile.TemporaryDirectory() as folder, Path(source).open("rb") as file:
        pairs = [next(iter(orjson.loads(line).items())) for line in file]
        frame = pl.DataFrame(pairs, schema=["dialogue_id", "text"], orient="row")
        line = pl.element()
        turns = pl.struct(
            pl.when(line.str.starts_with("U"))
            .then(pl.lit("user"))
            .otherwise(pl.lit("assistant"))
            .alias("role"),
            line.str.slice(3).alias("text"),
        )
        frame.select(
            "dialogue_id", turns=pl.col("text").str.split("\n").list.eval(turns)
        ).write_parquet(f"{folder}/polars.parquet", compression="snappy", row_group_size=1000)
        return frame.height


# The real datasets ----------------------------------------------------------------------


@method
def build(source: str, name: str = "") -> int:
    """Build one dataset without imports, or all that are in `source` with imports."""
    from parley import dataset
    from parley import list as datasets
    from parley.building.build import build as build_folder
    from parley.building.sources import open_source

    with tempfile.TemporaryDirectory() as folder:
        if name:  # a first build imports everything
            build_folder(open_source(dataset(name), None, sample=True), Path(folder))
            begin()
        rows = 0
        for each in [name] if name else datasets():
            files = open_source(dataset(each), Path(source), allow_missing=True)
            rows += sum(split.rows for split in build_folder(files, Path(folder)))
    return rows


@method
def verify_all(source: str, built: str) -> int:
    """Verify all builds of the files in `source`, including imports."""
    from parley import dataset
    from parley import list as datasets
    from parley.verifying.verify import Verification, verify_each

    every = [dataset(name) for name in datasets()]
    found = list(verify_each(every, Path(built), Path(source), lambda *_: None))
    held = [each for each in found if isinstance(each, Verification) and not each.failed]
    assert len(held) == len(found), found
    return sum(len(each.figures) for each in held)


@method
def acts(source: str) -> int:
    """Derive the dialogue acts of CraigslistBargains' validation and test."""
    import orjson

    from parley import dataset

    found = dataset("craigslist_bargains")
    rules, words = map(found.load_module, ("dialogue_acts", "word_counts"))
    folder = Path(source, "craigslist_bargains")
    begin()
    contexts = words.read_words((folder / "price_tracker.pkl").read_bytes())
    files = [folder / f"{split}.json" for split in ("validation", "test")]
    records = (record for file in files for record in orjson.loads(file.read_bytes()))
    return sum(len(rules.acts(record, contexts)) for record in records)


@method
def limit_all(rows_folder: str) -> int:
    """Import datasets, and write the rows of all with orjson and pyarrow."""
    import datasets  # noqa: F401

    return _limit_of(Path(rows_folder))


@method
def limit_one(rows_folder: str, name: str) -> int:
    """Write the rows of one dataset with orjson and pyarrow."""
    import orjson  # noqa: F401
    import pandas  # noqa: F401 - pyarrow imports it for its first array
    import pyarrow.parquet  # noqa: F401 - keep the import out of the measurement

    begin()
    return _limit_of(Path(rows_folder, name))


def _limit_of(folder: Path) -> int:
    import orjson
    import pyarrow as pa

    count = 0
    for path in sorted(folder.rglob("*.jsonl")):
        schema = pa.ipc.read_schema(pa.OSFile(f"{path}.schema"))
        with path.open("rb") as file, parquet(schema) as writer:
            rows = [orjson.loads(line) for line in file]
            writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=schema))
            count += len(rows)
    return count


# Use ------------------------------------------------------------------------------------


@method
def first_row(repo: str, config: str, split: str) -> int:
    """Read one streamed row from the Hub."""
    import datasets

    begin()
    next(iter(datasets.load_dataset(repo, config, split=split, streaming=True)))
    return 1


@method
def streamed(path: str) -> int:
    """Stream a Parquet file with the reader of datasets."""
    import datasets

    stream = datasets.load_dataset("parquet", data_files={"raw": path}, split="raw", streaming=True)
    begin()
    return sum(1 for _ in stream)


@method
def first_local(path: str) -> int:
    """Read the first row of a streamed Parquet file."""
    import datasets

    begin()
    stream = datasets.load_dataset("parquet", data_files={"raw": path}, split="raw", streaming=True)
    next(iter(stream))
    return 1


@method
def plain_pyarrow(path: str) -> int:
    """Read a Parquet file into Python rows with pyarrow."""
    import pandas  # noqa: F401 - pyarrow imports it for its first array
    import pyarrow.parquet as pq

    begin()
    return sum(len(batch.to_pylist()) for batch in pq.ParquetFile(path).iter_batches(1000))


@method
def load(folder: str, config: str, cache: str) -> int:
    """Load a build with load_dataset into a given cache."""
    import datasets

    datasets.disable_progress_bars()
    begin()
    (split,) = datasets.load_dataset(folder, config, cache_dir=cache).values()
    return len(split)


@method
def read_table(path: str) -> int:
    """Read a Parquet file into Arrow with pyarrow."""
    import pandas  # noqa: F401 - pyarrow imports it for its first table
    import pyarrow.parquet as pq

    begin()
    return int(pq.read_table(path).num_rows)


if __name__ == "__main__":
    main()
