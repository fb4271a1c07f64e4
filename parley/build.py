"""Builds a hub folder: rows from a builder, checked, into Parquet with a card beside it."""

import gc
import json
import tempfile
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pyarrow as pa

from parley import __version__
from parley.collection import Dataset
from parley.errors import RecordError, SourceError
from parley.figures import Data, figures
from parley.folder.card import figures_on, figures_section, render, splits_section
from parley.folder.replace import replacing
from parley.rows import parquet
from parley.rows.arrow import Chunk, Digest, to_chunks
from parley.rows.features import arrow_schema, card_yaml
from parley.rows.reader import Strict, cut
from parley.rows.workers import Lost, shareable, shared_chunks
from parley.source.files import Source

PROVENANCE = "provenance.json"


@dataclass(frozen=True)
class Split:
    """One built split: how many rows, bytes of Parquet and of Arrow data, and which digest."""

    config: str
    name: str
    digest: str
    files: list[parquet.File]
    seconds: float

    @property
    def rows(self) -> int:
        """Rows in all."""
        return sum(file.rows for file in self.files)

    @property
    def size(self) -> int:
        """Bytes of Parquet."""
        return sum(file.size for file in self.files)

    @property
    def arrow_size(self) -> int:
        """Bytes of Arrow data."""
        return sum(file.arrow_size for file in self.files)


def build(
    dataset: Dataset,
    source: Source,
    output: Path,
    on_rows: Callable[[str, int], None] = lambda where, rows: None,
    *,
    max_shard_size: int = parquet.SHARD,
    update_card: bool = False,
    workers: int = 0,
) -> list[Split]:
    """Build one dataset into `output/<name>`, replacing what stood there only when all is done.

    The documented figures on the card are those of the dataset folder's card, which `verify`
    compares with the rows, unless `update_card` asks to recompute them: that takes longer than
    everything else.

    Args:
        dataset: What to build.
        source: Its upstream files; splits whose files are missing are left out.
        output: The folder that takes one folder a dataset.
        on_rows: Called with "name config/split" and its rows written so far.
        max_shard_size: Bytes of Arrow data that a Parquet file holds at most.
        update_card: Recompute the figures, and write the dataset folder's own card anew.
        workers: Processes that make the rows of a large file while this one writes them, where
            the script's `BY_LINE` lets them share its lines; with 0, or where the system is not
            Linux, this one does all. The same bytes come out with any number.

    Raises:
        RecordError: a source file does not hold what it should.
        RowError: a builder gave rows that do not fit.
        OutputError: the folder cannot be written.
    """
    with replacing(output / dataset.name, PROVENANCE) as folder, _seldom_collecting():
        splits: list[Split] = []
        infos: list[dict[str, Any]] = []
        passed: dict[Any, Any] = {}
        for config in dataset.module.SPLITS:
            builder = strict_builder(dataset, config, source.folder, passed)
            built = [
                _write(dataset, generator, builder, folder, on_rows, max_shard_size, workers)
                for generator in builder._split_generators(None)
                if source.has(dataset, config, str(generator.name))
            ]
            splits += built
            if built:
                infos.append(_dataset_info(builder, built))
        _write_json(folder / PROVENANCE, _provenance(dataset, source, splits))
        if source.sample:
            table = ""
        elif update_card:
            data = Data(folder, dataset.module)
            table = figures_section(list(figures(dataset.statistics, data)))
        else:
            table = figures_on(dataset.read_card())
            if source.missing and table:
                table = f"Built in part: the figures are those of the dataset's card.\n\n{table}"
        card = render_card(dataset, splits, infos, table, source.sample)
        (folder / "README.md").write_text(card, encoding="utf-8")
    if update_card:
        card = render_card(dataset, splits, infos, table, source.sample, declare_all=True)
        dataset.card.write_text(card, encoding="utf-8")
    return splits


@contextmanager
def _seldom_collecting() -> Iterator[None]:
    """Let Python look for cyclic garbage less often: rows have no cycles, and there are many."""
    usual = gc.get_threshold()
    gc.set_threshold(50_000)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def render_card(
    dataset: Dataset,
    splits: list[Split],
    infos: list[dict[str, Any]],
    table: str,
    sample: bool,
    declare_all: bool = False,
) -> str:
    """Return the dataset's card for what was built, with a table of documented figures.

    With `declare_all`, `configs` names the splits that were not built too: the card in the
    dataset folder speaks of the dataset, the one in a hub folder of the files beside it.
    """
    built = {(split.config, split.name): split.rows for split in splits}
    declared = dataset.module.SPLITS
    return render(
        dataset.read_card(),
        str(dataset.card),
        {
            config: [name for name in names if declare_all or (config, name) in built]
            for config, names in declared.items()
        },
        dataset.builder.DEFAULT_CONFIG_NAME,
        infos,
        splits_section(
            [(c, name, built.get((c, name))) for c, names in declared.items() for name in names],
            sample,
        )
        + (f"\n{table}" if table else ""),
    )


def strict_builder(
    dataset: Dataset, config: str, data_dir: Path, passed: dict[Any, Any] | None = None
) -> Any:
    """Return a builder of the config that reads `data_dir` and checks each record it reads.

    With the same `passed`, the builders of a dataset check each file only once.
    """
    base = dataset.builder
    strict = type(base.__name__, (Strict, base), {"__module__": base.__module__})
    with tempfile.TemporaryDirectory() as cache:  # datasets wants one, though nothing goes there
        builder = strict(config_name=config, data_dir=str(data_dir), cache_dir=cache, hash="strict")
    builder.passed = {} if passed is None else passed
    return builder


def generate(dataset: Dataset, builder: Any, generator: datasets.SplitGenerator) -> Iterator[Any]:
    """Yield the rows of a split.

    Raises:
        RecordError: naming each broken record of a file, a key that comes twice, or no record.
        SourceError: a file cannot be read.
    """
    config, split = builder.config.name, str(generator.name)
    where = f"{dataset.name} {config}/{split}"
    keys = array("q")  # their hashes, which is less than the keys of a million rows
    needed = dataset.module.SPLITS[config][split]
    files = needed if isinstance(needed, str) else ", ".join(needed)
    remedy = (
        f"`parley fetch {dataset.name}` gets the published files; if these are they, "
        f"{dataset.name}.py must learn what is new in them."
    )
    try:
        for key, row in builder._generate_examples(**generator.gen_kwargs):
            keys.append(hash(key))
            yield row
        if not keys:
            raise RecordError(f"{files}: no record; expected at least one")
        if not _are_unique(keys):
            _require_unique_keys(builder, generator, files)
    except OSError as error:
        reason = error.strerror or error
        raise SourceError(f"{where}: {error.filename}: cannot be read: {reason}") from error
    except (RecordError, ValueError, TypeError, LookupError, ArithmeticError) as error:
        problems = str(error) if isinstance(error, RecordError) else builder.explain(error)
        lines = "\n".join(f"  {cut(line)}" for line in problems.splitlines())
        raise RecordError(f"{where}, a broken record:\n{lines}\n  {remedy}") from error


def _are_unique(hashes: "array[int]") -> bool:
    ordered = np.sort(np.frombuffer(hashes, np.int64))  # takes much less memory than a set
    return not (ordered[1:] == ordered[:-1]).any()


def _require_unique_keys(builder: Any, generator: datasets.SplitGenerator, files: str) -> None:
    """Go through a split once more, to name the records that have the same key."""
    seen: dict[Any, str] = {}
    for number, (key, _) in enumerate(builder._generate_examples(**generator.gen_kwargs)):
        place = builder.place or f"{files}, row {number}"
        if key in seen:
            raise RecordError(f"{place}: the key {key!r} comes twice, first in {seen[key]}")
        seen[key] = place


def _write(
    dataset: Dataset,
    generator: datasets.SplitGenerator,
    builder: Any,
    folder: Path,
    on_rows: Callable[[str, int], None],
    max_shard_size: int,
    workers: int,
) -> Split:
    start = time.perf_counter()
    config, split = builder.config.name, str(generator.name)
    where = f"{dataset.name} {config}/{split}"
    schema = arrow_schema(builder.info.features)
    target = folder / config
    target.mkdir(exist_ok=True)

    def write(chunks: Iterator[Chunk]) -> Split:
        digest = Digest()

        def batches() -> Iterator[pa.RecordBatch]:
            for batch, lines in chunks:
                digest.add(lines, batch.num_rows)
                on_rows(where, digest.rows)
                yield batch

        files = parquet.write(batches(), schema, target, split, max_shard_size)
        return Split(config, split, digest.hexdigest(), files, time.perf_counter() - start)

    if workers and (path := shareable(dataset, config, generator)):
        keys = array("q")
        shared = shared_chunks(builder, generator, path, schema, target, workers, keys)
        try:
            with closing(shared):
                made = write(shared)
        except Lost:
            pass  # one process alone can name what is wrong
        else:
            if keys and _are_unique(keys):
                return made
    return write(to_chunks(generate(dataset, builder, generator), schema, where))


def _dataset_info(builder: Any, splits: list[Split]) -> dict[str, Any]:
    """Return one entry of the card's `dataset_info`."""
    return {
        "config_name": builder.config.name,
        "license": builder.info.license,
        "features": card_yaml(builder.info.features),
        "splits": [
            {"name": split.name, "num_bytes": split.arrow_size, "num_examples": split.rows}
            for split in splits
        ],
        "download_size": sum(split.size for split in splits),
        "dataset_size": sum(split.arrow_size for split in splits),
    }


def _provenance(dataset: Dataset, source: Source, splits: list[Split]) -> dict[str, Any]:
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
        "dataset": dataset.name,
        "version": str(dataset.builder.VERSION),
        "sample": source.sample,
        "missing": source.missing,
        "sources": {
            file: dict(pin)
            for file, pin in dataset.module.SOURCES.items()
            if not source.sample and file not in source.missing
        },
        "built_with": {
            "parley": __version__,
            "datasets": version("datasets"),
            "pyarrow": version("pyarrow"),
        },
        "configs": configs,
    }


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
