"""Test that a dataset's sample is invented: that its sentences are not upstream's."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from parley.base.errors import Problem, ScriptError
from parley.building.configs import Config
from parley.building.folder import BuiltFolder
from parley.building.plan import plan
from parley.building.rows.generate import generate
from parley.building.sources import open_source

_LEAST = 40  # characters of a text that nobody invents twice


def require_invented(built: BuiltFolder) -> None:
    """Raise ScriptError if the sample has long texts that a build of upstream's files has too.

    A text of fewer than 40 characters may be equal by chance. Views may put texts of their own
    around upstream's, so only the texts of a `Config` count.
    """
    dataset = built.dataset
    given = open_source(dataset, None, sample=True)
    lossless = [each for each in plan(given) if isinstance(each.config, Config)]
    configs = {each.config.name for each in lossless}
    texts = {text for each in lossless for row in generate(each) for text in _long(row)}
    folders = [built.path / each for each in configs]
    if found := sorted(_held(pa.array(texts, pa.string()), folders)):
        said = [Problem("", what=f"upstream has {text!r:.60} too") for text in found]
        raise ScriptError(f"{dataset.sample}", *said, remedy="Invent other texts for the sample.")


def _held(texts: pa.Array, folders: list[Path]) -> set[str]:
    """Return those of the texts that the Parquet files of the folders hold."""
    found: set[str] = set()
    for path in (path for folder in folders for path in folder.glob("*.parquet")):
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches():
                for arrays in map(_texts, batch.columns):
                    for each in arrays:
                        found.update(each.filter(pc.is_in(each, texts)).to_pylist())
    return found


def _long(value: Any) -> Iterator[str]:
    """Yield the long texts in a row."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _long(inner)
    elif isinstance(value, str) and len(value) >= _LEAST:
        yield value


def _texts(array: pa.Array) -> Iterator[pa.StringArray]:
    """Yield the arrays of texts in a column."""
    if pa.types.is_string(array.type):
        yield array
    elif pa.types.is_list(array.type):
        yield from _texts(array.flatten())
    elif pa.types.is_struct(array.type):
        for inner in array.flatten():
            yield from _texts(inner)
