"""Builds a hub folder: rows from a builder, checked, into Parquet with a card beside it."""

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

from parley import __version__
from parley.figures import figures
from parley.folder.built import CARD, FORMAT, PROVENANCE, open_folder
from parley.folder.card import SplitLine, figures_on, figures_section, render, splits_section
from parley.folder.replace import replacing, write_whole
from parley.rows import parquet
from parley.rows.arrow import Nulls, to_batches
from parley.rows.digest import Digest
from parley.rows.features import arrow_schema, card_yaml
from parley.rows.generate import are_unique, generate, seldom_collecting
from parley.rows.reader import Reader
from parley.rows.workers import Lost, shareable, shared_batches
from parley.source import pins
from parley.source.files import Source


@dataclass(frozen=True)
class Split:
    """One built split: how many rows, bytes of Parquet and of Arrow data, and which digest."""

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
    def arrow_size(self) -> int:
        """Bytes of Arrow data."""
        return sum(file.arrow_size for file in self.files)


def build(
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
        source: The dataset's upstream files; splits whose files are missing are left out.
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
        ScriptError: the script does not keep to what the tool expects of it.
        OutputError: the folder cannot be written.
    """
    dataset = source.dataset
    module = dataset.module
    reader = Reader(source.folder, module)
    with replacing(output / dataset.name, PROVENANCE) as folder, seldom_collecting():
        splits: list[Split] = []
        infos: list[dict[str, Any]] = []
        for config in module.SPLITS:
            built = [
                _write(source, config, split, reader, folder, on_rows, max_shard_size, workers)
                for split in source.splits(config)
            ]
            splits += built
            if built:
                infos.append(_dataset_info(config, dataset.info(config), built))
        _write_json(folder / PROVENANCE, _provenance(source, splits))
        if source.sample:
            table = ""
        elif update_card:
            data = open_folder(folder, dataset)
            table = figures_section(list(figures(dataset.figures, data)))
        else:
            table = figures_on(dataset.read_card())
            if source.missing and table:
                table = f"Built in part: the figures are those of the dataset's card.\n\n{table}"
        own = "".join(f"{note}\n\n" for note in notes(source)) + table
        card = render_card(source, splits, infos, own)
        (folder / CARD).write_text(card, encoding="utf-8")
    if update_card:
        write_whole(dataset.card, render_card(source, splits, infos, table, declare_all=True))
    return splits


def notes(source: Source) -> Iterator[str]:
    """Yield what a build and its card say of files that are not upstream's own."""
    for file, pin in source.mirrored.items():
        yield f"**Made from a mirror**: `{file}` is that of <{pin['url']}>, with other bytes."
    for file, others in source.stand_ins.items():
        served = ", ".join(f"`{other}`" for other in others)
        yield f"**Made without `{file}`**: {served} served in its place."


def render_card(
    source: Source,
    splits: list[Split],
    infos: list[dict[str, Any]],
    table: str,
    declare_all: bool = False,
) -> str:
    """Return the dataset's card for what was built, with a table of documented figures.

    With `declare_all`, `configs` names the splits that were not built too: the card in the
    dataset folder speaks of the dataset, the one in a hub folder of the files beside it.
    """
    dataset = source.dataset
    built = {(split.config, split.name): split for split in splits}
    declared = dataset.module.SPLITS
    lines = [
        SplitLine(
            config,
            name,
            split.rows if (split := built.get((config, name))) else None,
            dataset.documented_rows.get(config, {}).get(name),
            split.nulls if split else (),
        )
        for config, names in declared.items()
        for name in names
    ]
    return render(
        dataset.read_card(),
        str(dataset.card),
        {
            config: [name for name in names if declare_all or (config, name) in built]
            for config, names in declared.items()
        },
        dataset.builder.DEFAULT_CONFIG_NAME,
        infos,
        splits_section(lines, source.sample) + (f"\n{table}" if table else ""),
    )


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
    schema = arrow_schema(source.dataset.module.FEATURES[config])
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


def _dataset_info(config: str, info: Any, splits: list[Split]) -> dict[str, Any]:
    """Return one entry of the card's `dataset_info`."""
    return {
        "config_name": config,
        "license": info.license,
        "features": card_yaml(info.features),
        "splits": [
            {"name": split.name, "num_bytes": split.arrow_size, "num_examples": split.rows}
            for split in splits
        ],
        "download_size": sum(split.size for split in splits),
        "dataset_size": sum(split.arrow_size for split in splits),
    }


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
        "version": str(dataset.builder.VERSION),
        "sample": source.sample,
        "missing": source.missing,
        "sources": {
            file: pins.alone(source.mirrored.get(file, pin))
            for file, pin in dataset.module.SOURCES.items()
            if not source.sample and file not in {*source.missing, *source.stand_ins}
        },
        **({"stand_ins": source.stand_ins} if source.stand_ins else {}),
        "built_with": {
            "parley": __version__,
            "datasets": version("datasets"),
            "pyarrow": version("pyarrow"),
        },
        "configs": configs,
    }


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
