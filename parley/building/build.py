"""Builds a dataset: checked rows in Parquet, a card and a provenance."""

import json
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa

from parley.base.replace import replacing, write_whole
from parley.base.version import __version__
from parley.building.built import CARD, FORMAT, PROVENANCE, open_folder
from parley.building.card import built_card
from parley.building.card_parts import shown_row
from parley.building.generate import are_unique, generate, paused_garbage_collection
from parley.building.invented import require_invented
from parley.building.measured import FILE, counted_of, every_split, measured, measured_in, text_of
from parley.building.sources import Source
from parley.building.workers import Lost, shareable, shared_batches
from parley.declaring import pins
from parley.declaring.features import arrow_schema
from parley.declaring.figures import figures
from parley.rows import parquet
from parley.rows.arrow import Nulls, to_batches
from parley.rows.digest import Digest
from parley.rows.reader import Reader


@dataclass(frozen=True)
class Split:
    """One built split."""

    config: str
    name: str
    digest: str
    files: list[parquet.File]
    seconds: float
    nulls: list[str]  # columns, and fields of structs, that are null in all rows

    @property
    def rows(self) -> int:
        """Rows in all."""
        return sum(file.rows for file in self.files)

    @property
    def size(self) -> int:
        """Bytes of Parquet."""
        return sum(file.size for file in self.files)

    @property
    def measured(self) -> dict[str, Any]:
        """Its entry in `measured.json`."""
        return {
            "rows": self.rows,
            "digest": self.digest,
            "bytes": self.size,
            "arrow_bytes": sum(file.arrow_size for file in self.files),
            "null": self.nulls,
        }


def build(
    source: Source,
    output: Path,
    on_rows: Callable[[str, int], None] = lambda where, rows: None,
    *,
    max_shard_size: int = parquet.SHARD,
    measure: bool = False,
    workers: int = 0,
) -> list[Split]:
    """Build one dataset into `output/<name>`, replacing an earlier build only at the end.

    The card takes its figures from `measured.json`; `verify` compares them with the rows. With
    `measure`, they are recomputed, which takes longer than everything else.

    Args:
        source: The dataset's upstream files; splits whose files are missing are left out.
        output: The folder that takes one folder a dataset.
        on_rows: Called with "name config/split" and its rows written so far.
        max_shard_size: Bytes of Arrow data that a Parquet file holds at most.
        measure: Recompute the figures and counted numbers, and renew `measured.json`.
        workers: Processes that make rows of large line-based files while this one writes them.
            0, or a system other than Linux: this process does all. The output is the same.

    Raises:
        RecordError: a source file has a broken record.
        RowError: a builder made rows of another schema.
        ScriptError: the script breaks the tool's rules; or, with `measure`, the sample has
            upstream's sentences.
        OutputError: the folder cannot be written.
    """
    dataset = source.dataset
    reader = Reader(source.folder)
    with replacing(output / dataset.name, PROVENANCE) as folder, paused_garbage_collection():
        splits: list[Split] = []
        for config in dataset.configs:
            splits += [
                _write(source, config, split, reader, folder, on_rows, max_shard_size, workers)
                for split in source.splits(config)
            ]
        _write_json(folder / PROVENANCE, _provenance(source, splits))
        counted: dict[str, dict[str, Any]] = {}
        for split in splits:
            counted.setdefault(split.config, {})[split.name] = split.measured
        known, built = measured(dataset), open_folder(folder, dataset)
        if measure:
            require_invented(source, folder)
            found = list(figures(dataset.figures, built))
            numbers = counted_of(dataset, built)
            text = text_of(dataset, every_split(dataset, counted), found, numbers)
            known = measured_in(text.encode(), dataset.folder / FILE)
        text_of_card = built_card(
            dataset,
            counted,
            known,
            shown_row(dataset, built),
            sample=source.sample,
            missing=source.missing,
            mirrored=source.mirrored,
            fallbacks=source.fallbacks,
        )
        (folder / CARD).write_text(text_of_card, encoding="utf-8")
    if measure:
        write_whole(dataset.folder / FILE, text)
    return splits


def _write(
    source: Source,
    config: str,
    split: str,
    reader: Reader,
    folder: Path,
    on_rows: Callable[[str, int], None],
    max_shard_size: int,
    workers: int,
) -> Split:
    start = time.perf_counter()
    where = f"{source.dataset.name} {config}/{split}"
    schema = arrow_schema(source.dataset.features(config))
    target = folder / config
    target.mkdir(exist_ok=True)

    def write(batches: Iterator[pa.RecordBatch]) -> Split:
        digest, nulls = Digest(schema), Nulls(schema)

        def looked_at() -> Iterator[pa.RecordBatch]:
            rows = 0
            for batch in batches:
                rows += batch.num_rows
                nulls.add(batch)
                on_rows(where, rows)
                yield batch

        files = parquet.write(looked_at(), schema, target, split, max_shard_size, digest)
        seconds = time.perf_counter() - start
        return Split(config, split, digest.hexdigest(), files, seconds, nulls.left)

    if workers and shareable(source, config, split):
        keys = array("q")
        shared = shared_batches(source, config, split, schema, target, workers, keys)
        try:
            with closing(shared):
                made = write(shared)
        except Lost:
            pass  # one process alone can name what is wrong
        else:
            if keys and are_unique(keys):
                return made
    return write(to_batches(generate(source, config, split, reader), schema, where))


def _provenance(source: Source, splits: list[Split]) -> dict[str, Any]:
    dataset = source.dataset
    configs: dict[str, Any] = {}
    for split in splits:
        configs.setdefault(split.config, {})[split.name] = {
            "rows": split.rows,
            "digest": split.digest,
            "files": [
                {"path": f"{split.config}/{f.name}", "bytes": f.size, "sha256": f.sha256}
                for f in split.files
            ],
        }
    return {
        "format": FORMAT,
        "dataset": dataset.name,
        "version": dataset.version,
        "sample": source.sample,
        "missing": source.missing,
        "sources": {
            file: pins.alone(source.mirrored.get(file, pin))
            for file, pin in dataset.pins.items()
            if not source.sample and file not in {*source.missing, *source.fallbacks}
        },
        **({"fallbacks": source.fallbacks} if source.fallbacks else {}),
        "built_with": {
            "parley": __version__,
            "datasets": version("datasets"),
            "pyarrow": version("pyarrow"),
        },
        "configs": configs,
    }


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
