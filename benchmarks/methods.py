"""Measure one method in a process: `python benchmarks/methods.py METHOD ARGUMENT...`.

Print JSON: seconds, processor seconds (with those of other processes that it started), peak memory
in MB, rows. Imports count only where stated.
"""

import json
import random
import re
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import accumulate, chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from parley.builds.sources import Sources

_start = [0.0, 0.0]


def begin() -> None:
    """Start the clock after imports and set-up."""
    _start[:] = time.perf_counter(), processor()


def processor() -> float:
    """Return the processor seconds of this process and of those that it started and that ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def main() -> None:
    """Run the method named on the command line: a function of this module that returns its rows."""
    name, *arguments = sys.argv[1:]
    begin()
    rows = globals()[name](*arguments)
    seconds, cpu = time.perf_counter() - _start[0], processor() - _start[1]
    # `ru_maxrss` would include the parent's
    (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    result = {"seconds": seconds, "cpu": cpu, "mb": int(peak) * 1024 / 1e6, "rows": rows}
    print(json.dumps(result), flush=True)


@contextmanager
def parquet(schema: Any) -> Iterator[Any]:
    """Yield a writer of a temporary file with the options of parley."""
    import pyarrow.parquet as pq

    with (
        tempfile.TemporaryDirectory() as folder,
        pq.ParquetWriter(
            f"{folder}/limit", schema, write_page_index=True, use_content_defined_chunking=True
        ) as writer,
    ):
        yield writer


def limit(source: str) -> int:
    """Write with only orjson and pyarrow: no check, no dict per turn, no digest, no card."""
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
        while batch := [*islice(pairs, 1000)]:
            said = [text.split("\n") for _, text in batch]
            lines = [*chain.from_iterable(said)]
            roles = ["user" if line[0] == "U" else "assistant" for line in lines]
            texts = [line[3:] for line in lines]
            turns = pa.StructArray.from_arrays(
                [pa.array(roles, pa.string()), pa.array(texts, pa.string())], fields=[*turn]
            )
            offsets = pa.array([*accumulate(map(len, said), initial=0)], pa.int32())
            lists = pa.ListArray.from_arrays(offsets, turns)
            ids = pa.array([dialogue_id for dialogue_id, _ in batch], pa.string())
            writer.write_batch(pa.record_batch([ids, lists], schema=schema))
            count += len(batch)
    return count


def generated(source: Path) -> "Sources":
    """Return generated files as the source of CoSRec, of which one config and split is left.

    Make one builder, because `datasets` imports more modules (such as scipy) for the first one.
    """
    from parley import dataset
    from parley.builds.sources import Sources

    found = dataset("cosrec")
    dialogues = found.configs["dialogues"]
    missing = [path for path in found.sources if not (source / path).exists()]
    here = Sources(found, source, missing=missing)
    splits = {split: dialogues.splits[split] for split in here.splits("dialogues")}
    found.builder.CONFIGS[:] = [replace(dialogues, splits=splits)]
    with tempfile.TemporaryDirectory() as folder:
        found.builder(config_name="dialogues", cache_dir=folder, hash="benchmark")
    return here


def parley(source: str) -> int:
    """Build with `parley`: strict rows, a digest, Parquet, provenance and card."""
    from parley.builds.build import build as build_folder

    files = generated(Path(source))
    begin()
    with tempfile.TemporaryDirectory() as folder:
        (split,) = build_folder(files, Path(folder))
    return split.rows


def datasets_builder(source: str) -> int:
    """Write with the `download_and_prepare` of the same builder."""
    import datasets

    builder_class = generated(Path(source)).dataset.builder
    datasets.disable_progress_bars()
    begin()
    with tempfile.TemporaryDirectory() as folder:
        builder = builder_class(
            config_name="dialogues", data_dir=source, cache_dir=folder, hash="benchmark"
        )
        builder.download_and_prepare(folder, file_format="parquet")
        (split,) = builder.info.splits.values()
        return int(split.num_examples)


def build(source: str, name: str = "") -> int:
    """Build one dataset without imports, or all that are in `source` with imports."""
    from parley import dataset
    from parley import list as datasets
    from parley.builds.build import build as build_folder
    from parley.builds.sources import open_source

    with tempfile.TemporaryDirectory() as folder:
        if name:  # a first build imports everything
            build_folder(open_source(dataset(name), None, sample=True), Path(folder))
            begin()
        rows = 0
        for each in [name] if name else datasets():
            files = open_source(dataset(each), Path(source), allow_missing=True)
            rows += sum(split.rows for split in build_folder(files, Path(folder)))
    return rows


def verify_all(source: str, built: str) -> int:
    """Verify all builds of the files in `source`, including imports."""
    from parley import dataset
    from parley import list as datasets
    from parley.verification.verify import Verification, verify_each

    every = [dataset(name) for name in datasets()]
    found = list(verify_each(every, Path(built), Path(source), lambda *_: None))
    held = [each for each in found if isinstance(each, Verification) and not each.failed]
    assert len(held) == len(found), found
    return sum(len(each.figures) for each in held)


def labels(built: str, people: str, rows: str) -> int:
    """Compare the labels of annotators, each with so many turns of the same five times as many."""
    import parley

    data, draw = parley.open(Path(built, "casino")), random.Random(0)
    names = sorted({label for row in data.rows_with_names("strategies") for label in row["labels"]})
    turns = [f"{row['dialogue_id']},{row['turn']}" for row in data.rows_with_names("utterances")]
    turns, lines = turns[: 5 * int(rows)], ["dialogue_id,turn,annotator,annotations"]
    for person in range(int(people)):
        for turn in draw.sample(turns, int(rows)):
            some = "; ".join(draw.sample(names, draw.choice((1, 1, 2))))
            lines.append(f"{turn},p{person},{some}")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "labels.csv")
        file.write_text("\n".join(lines))
        begin()
        parley.labels(data, "utterances", file).as_dict()
    return len(lines) - 1


def limit_of_rows(rows_folder: str, name: str) -> int:
    """Write the rows of one dataset with orjson and pyarrow."""
    import orjson
    import pandas  # noqa: F401 - pyarrow imports it for its first array
    import pyarrow as pa
    import pyarrow.parquet  # keep the import out of the measurement

    begin()
    count = 0
    for path in sorted(Path(rows_folder, name).glob("*.jsonl")):
        schema = pa.ipc.read_schema(pa.OSFile(f"{path}.schema"))
        with path.open("rb") as file, parquet(schema) as writer:
            rows = [orjson.loads(line) for line in file]
            writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=schema))
            count += len(rows)
    return count


if __name__ == "__main__":
    main()
