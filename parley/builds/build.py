"""Builds a dataset: checked rows in Parquet, a card and a provenance."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from parley.base.replace import replacing, write_whole
from parley.base.values import tree
from parley.builds.built_folder import BuiltFolder, files_of
from parley.builds.card import built_card
from parley.builds.provenance import (
    CARD,
    PROVENANCE,
    new_provenance,
    provenance_text,
    read_provenance,
    tools,
)
from parley.builds.sources import Sources, plan
from parley.declaration.measured import FILE, Splits, measured, measured_in
from parley.rows.splits import BuiltSplit, paused_garbage_collection, write_split

Measure = Callable[[Sources, BuiltFolder, Splits], str]
"""Returns the text of `measured.json` for the source, a build of it, and its splits."""


def build(
    source: Sources,
    output: Path,
    on_rows: Callable[[str, int], None] = lambda where, rows: None,
    *,
    measure: Measure | None = None,
) -> list[BuiltSplit]:
    """Build one dataset into `output/<name>`, replacing an earlier build only at the end.

    Splits whose files are missing are left out. `on_rows` is called with "name config/split" and
    its rows so far. The card takes its figures from `measured.json`, which `measure` renews.
    """
    dataset = source.dataset
    plans = plan(source)
    stated = new_provenance(source, tools())
    measurements = measured(dataset)
    target, earlier = output / dataset.name, partial(files_of, dataset)
    with replacing(target, earlier) as folder, paused_garbage_collection():
        splits = [write_split(split_plan, folder, on_rows) for split_plan in plans]
        stated["configs"] = tree({(s.config, s.name): s.provenance_entry for s in splits})
        (folder / PROVENANCE).write_text(provenance_text(stated), encoding="utf-8")
        built = BuiltFolder(folder, dataset, read_provenance(folder), target)
        entries = tree({(s.config, s.name): s.measured_entry for s in splits})
        if measure:
            text = measure(source, built, entries)
            measurements = measured_in(text.encode(), dataset.folder / FILE)
        card = built_card(built, entries, measurements)
        (folder / CARD).write_text(card, encoding="utf-8")
        source.require_unchanged()
    if measure:
        write_whole(dataset.folder / FILE, text)
    return splits
