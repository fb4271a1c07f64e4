"""Builds a hub folder: rows from a builder, checked, into Parquet with a card beside it."""

import hashlib
import io
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import datasets
import pyarrow as pa
import pyarrow.parquet as pq

from parley import __version__
from parley.cards import figures_section, render, splits_section
from parley.collection import Dataset
from parley.errors import RecordError, SourceError
from parley.features import arrow_schema, card_yaml
from parley.figures import A_SAMPLE, Data, Figure, figures
from parley.output import replacing
from parley.records import Strict
from parley.rows import Digest, to_batch
from parley.sources import Source

PROVENANCE = "provenance.json"
BATCH = 500  # rows that are converted at once


@dataclass(frozen=True)
class Split:
    """One built split: how many rows, bytes of Parquet and of Arrow data, and which digest."""

    config: str
    name: str
    rows: int
    size: int
    arrow_size: int
    digest: str
    file: str
    sha256: str
    seconds: float


def build(
    dataset: Dataset,
    source: Source,
    output: Path,
    on_rows: Callable[[str, int], None],
    update_card: bool = False,
) -> list[Split]:
    """Build one dataset into `output/<name>`, replacing what stood there only when all is done.

    Args:
        dataset: What to build.
        source: Its upstream files; splits whose files are missing are left out.
        output: The folder that takes one folder a dataset.
        on_rows: Called with "name config/split" and its rows written so far.
        update_card: Also write the generated parts of the dataset folder's own card anew.

    Raises:
        RecordError: a source file does not hold what it should.
        RowError: a builder gave rows that do not fit.
        OutputError: the folder cannot be written.
    """
    with replacing(output / dataset.name, PROVENANCE) as folder:
        splits: list[Split] = []
        infos: list[dict[str, Any]] = []
        for config in dataset.module.SPLITS:
            builder = strict_builder(dataset, config, source.folder)
            built = [
                _write(dataset, generator, builder, folder, on_rows)
                for generator in builder._split_generators(None)
                if source.has(dataset, config, str(generator.name))
            ]
            splits += built
            if built:
                infos.append(_dataset_info(builder, built))
        _write_json(folder / PROVENANCE, _provenance(dataset, source, splits))
        recomputed = list(
            figures(
                dataset.statistics,
                Data(folder, dataset.module),
                A_SAMPLE if source.sample else "",
            )
        )
        card = render_card(dataset, splits, infos, recomputed, source.sample)
        (folder / "README.md").write_text(card, encoding="utf-8")
    if update_card:
        card = render_card(dataset, splits, infos, recomputed, source.sample, declare_all=True)
        dataset.card.write_text(card, encoding="utf-8")
    return splits


def render_card(
    dataset: Dataset,
    splits: list[Split],
    infos: list[dict[str, Any]],
    recomputed: list[Figure],
    sample: bool,
    declare_all: bool = False,
) -> str:
    """Return the dataset's card for what was built.

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
        + ("" if sample else "\n" + figures_section(recomputed)),
    )


def strict_builder(dataset: Dataset, config: str, data_dir: Path) -> Any:
    """Return a builder of the config that reads `data_dir` and checks each record it reads."""
    base = dataset.builder
    strict = type(base.__name__, (Strict, base), {"__module__": base.__module__})
    with tempfile.TemporaryDirectory() as cache:  # datasets wants one, though nothing goes there
        return strict(config_name=config, data_dir=str(data_dir), cache_dir=cache, hash="strict")


def generate(dataset: Dataset, builder: Any, generator: datasets.SplitGenerator) -> Iterator[Any]:
    """Yield the rows of a split.

    Raises:
        RecordError: naming each broken record of a file, a key that comes twice, or no record.
        SourceError: a file cannot be read.
    """
    config, split = builder.config.name, str(generator.name)
    where = f"{dataset.name} {config}/{split}"
    seen: dict[Any, int] = {}
    needed = dataset.module.SPLITS[config][split]
    files = needed if isinstance(needed, str) else ", ".join(needed)
    remedy = (
        f"`parley fetch {dataset.name}` gets the published files; if these are they, "
        f"{dataset.name}.py must learn what is new in them."
    )
    try:
        for number, (key, row) in enumerate(builder._generate_examples(**generator.gen_kwargs)):
            if key in seen:
                raise RecordError(
                    f"{files}: the key {key!r} comes twice, in the records {seen[key]} and {number}"
                )
            seen[key] = number
            yield row
        if not seen:
            raise RecordError(f"{files}: no record; expected at least one")
    except OSError as error:
        reason = error.strerror or error
        raise SourceError(f"{where}: {error.filename}: cannot be read: {reason}") from error
    except (RecordError, ValueError, TypeError, KeyError) as error:
        lines = "\n".join(f"  {line}" for line in str(error).splitlines())
        raise RecordError(f"{where}, a broken record:\n{lines}\n  {remedy}") from error


def row_groups(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Gather batches of 500 rows into row groups: 1,000 rows, or more while they are under 1 MB.

    A shorter last batch joins the group before it, so that a small split is one group. Few
    groups are better than many small ones: while the next group is read in the background, a
    process that has read one streamed row and ends can abort in pyarrow (apache/arrow#45214).
    """
    group: list[pa.RecordBatch] = []
    for batch in batches:
        full = len(group) * BATCH >= 1000 and sum(part.nbytes for part in group) >= 1 << 20
        if full and batch.num_rows == BATCH:
            yield pa.Table.from_batches(group)
            group = []
        group.append(batch)
    if group:
        yield pa.Table.from_batches(group)


class _Sink(io.RawIOBase):
    """Takes what pyarrow writes. It keeps an error of the disk to itself until asked.

    pyarrow ends the whole process when closing a file fails, as it does on a full disk.
    """

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self._error: OSError | None = None

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if self._error is None:
            try:
                self._file.write(data)
            except OSError as error:
                self._error = error
        return len(data)

    def check(self) -> None:
        """Raise the error that there was, if any."""
        if self._error:
            raise self._error


def _write(
    dataset: Dataset,
    generator: datasets.SplitGenerator,
    builder: Any,
    folder: Path,
    on_rows: Callable[[str, int], None],
) -> Split:
    start = time.perf_counter()
    config, split = builder.config.name, str(generator.name)
    where = f"{dataset.name} {config}/{split}"
    file = f"{config}/{split}-00000-of-00001.parquet"
    path = folder / file
    path.parent.mkdir(exist_ok=True)
    schema = arrow_schema(builder.info.features)
    digest, arrow_size = Digest(), 0

    def batches() -> Iterator[pa.RecordBatch]:
        nonlocal arrow_size
        rows = generate(dataset, builder, generator)
        while part := list(islice(rows, BATCH)):
            batch = to_batch(part, schema, where, digest.rows)
            digest.update(part)
            arrow_size += batch.nbytes
            on_rows(where, digest.rows)
            yield batch

    # Small row groups and a page index keep streaming and the dataset viewer quick;
    # content-defined chunking lets the Hub store only what a new version changes.
    with path.open("wb", buffering=0) as target:
        sink = _Sink(target)
        with pq.ParquetWriter(
            sink, schema, write_page_index=True, use_content_defined_chunking=True
        ) as writer:
            for group in row_groups(batches()):
                writer.write_table(group, row_group_size=group.num_rows)
                sink.check()
        sink.check()
    return Split(
        config,
        split,
        digest.rows,
        path.stat().st_size,
        arrow_size,
        digest.hexdigest(),
        file,
        hashlib.sha256(path.read_bytes()).hexdigest(),
        time.perf_counter() - start,
    )


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
            "files": [{"path": split.file, "bytes": split.size, "sha256": split.sha256}],
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
