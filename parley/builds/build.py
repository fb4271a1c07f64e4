"""Builds a dataset: checked rows in Parquet, a card and a provenance."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from parley.base.replace import replacing, write_whole
from parley.base.values import tree
from parley.builds import provenance
from parley.builds.built_folder import BuiltFolder, files_of
from parley.builds.card import built_card
from parley.builds.sources import Sources, plan
from parley.declaration.measured import FILE, Splits, measured, measured_in
from parley.rows.splits import BuiltSplit, paused_garbage_collection, write_split

AddQuestions = Callable[[BuiltFolder], list[BuiltSplit]]
"""Writes the questions of the tasks into a build, and returns their splits."""
Measure = Callable[[Sources, BuiltFolder, Splits], str]
"""Returns the text of `measured.json` for the source, a build of it, and its splits."""


def build(
    source: Sources,
    output: Path,
    on_rows: Callable[[str, int], None] = lambda where, rows: None,
    *,
    add_questions: AddQuestions | None = None,
    measure: Measure | None = None,
) -> list[BuiltSplit]:
    """Build one dataset into `output/<name>`, replacing an earlier build only at the end.

    Splits whose files are missing are left out. `on_rows` is called with "name config/split" and
    its rows so far. The card takes its figures from `measured.json`, which `measure` renews.
    """
    dataset = source.dataset
    plans = plan(source)
    stated = provenance.new_provenance(source, provenance.tools())
    measurements = measured(dataset)
    target, earlier = output / dataset.name, partial(files_of, dataset)
    with replacing(target, earlier) as folder, paused_garbage_collection():

        def opened() -> BuiltFolder:
            """Write the provenance, and open the build."""
            text = provenance.provenance_text(stated)
            (folder / provenance.PROVENANCE).write_text(text, encoding="utf-8")
            return BuiltFolder(folder, dataset, provenance.read_provenance(folder), target)

        splits = [write_split(split_plan, folder, on_rows) for split_plan in plans]
        stated["configs"] = tree({(s.config, s.name): s.provenance_entry for s in splits})
        built = opened()
        if add_questions:
            questions = add_questions(built)
            stated["questions"] = tree({(s.config, s.name): s.provenance_entry for s in questions})
            stated["eval"] = (folder / provenance.EVAL).exists()
            built = opened()
            splits += questions
        entries = tree({(s.config, s.name): s.measured_entry for s in splits})
        if measure:
            text = measure(source, built, entries)
            measurements = measured_in(text.encode(), dataset.folder / FILE)
        card = built_card(built, entries, measurements)
        (folder / provenance.CARD).write_text(card, encoding="utf-8")
        source.require_unchanged()
    if measure:
        write_whole(dataset.folder / FILE, text)
    return splits
