"""Builds a dataset: checked rows in Parquet, a card and a provenance."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from parley.base.disk import replacing, write_whole
from parley.base.errors import Problem, ScriptError
from parley.base.values import strings
from parley.builds.card import built_card
from parley.builds.card_parts import columns_of
from parley.declaration.configs import Config
from parley.declaration.measured import FILE, Scores, measured, measured_anew, measured_in
from parley.rows.folder import BuiltFolder, files_of
from parley.rows.provenance import (
    CARD,
    EVAL,
    PROVENANCE,
    by_config,
    read_provenance,
    stated_of,
    text_of,
    tools,
)
from parley.rows.splits import BuiltSplit, generate, paused_garbage_collection, plan, write_split
from parley.rows.upstream import Sources, open_source

_WORDS, _CHARACTERS = 4, 12  # of a text, or of one beyond ASCII, that nobody invents twice


def build(
    source: Sources,
    output: Path,
    on_rows: Callable[[str, int], None] = lambda where, rows: None,
    *,
    measure: bool = False,
    scores: Callable[[BuiltFolder], Scores] = lambda built: {},
    questions: Callable[[BuiltFolder], list[BuiltSplit]] | None = None,
) -> list[BuiltSplit]:
    """Build one dataset into `output/<name>`, replacing an earlier build only at the end.

    Splits whose files are missing are left out. `on_rows` is called with "name config/split" and
    its rows so far; `questions` writes those of the tasks. The card takes its figures from
    `measured.json`; with `measure`, they are recomputed, baselines by `scores`, and it is renewed.
    """
    dataset = source.dataset
    plans = plan(source)
    stated = stated_of(source, tools())
    known = measured(dataset)
    earlier = partial(files_of, dataset)
    with replacing(output / dataset.name, earlier) as folder, paused_garbage_collection():

        def opened() -> BuiltFolder:
            """Write the provenance, and open the build."""
            (folder / PROVENANCE).write_text(text_of(stated), encoding="utf-8")
            return BuiltFolder(folder, dataset, read_provenance(folder), output / dataset.name)

        splits = [write_split(each, folder, on_rows) for each in plans]
        stated["configs"] = by_config(splits, lambda split: split.recorded)
        built = opened()
        if questions:
            asked = questions(built)
            stated["questions"] = by_config(asked, lambda split: split.recorded)
            stated["eval"] = (folder / EVAL).exists()
            built = opened()
            splits += asked
        made = by_config(splits, lambda split: split.measured)
        if measure:
            if source.folder != dataset.sample:  # else the sample is what was built
                _require_invented(built)
            text = measured_anew(dataset, built, made, scores(built))
            known = measured_in(text.encode(), dataset.folder / FILE)
        (folder / CARD).write_text(built_card(built, made, known), encoding="utf-8")
        source.require_unchanged()
    if measure:
        write_whole(dataset.folder / FILE, text)
    return splits


def _require_invented(built: BuiltFolder) -> None:
    """Raise ScriptError if the sample has sentences that a build of upstream's files has too.

    Shorter texts may be equal by chance, and closed values carry over. Views may put texts of their
    own around upstream's, so only the texts of a `Config` count.
    """
    dataset = built.dataset
    given = open_source(dataset, None, sample=True)
    lossless = [each for each in plan(given) if isinstance(each.config, Config)]
    configs = {each.config.name for each in lossless}
    closed = {v for each in lossless for column in columns_of(each.config) for v in column.values}
    texts = {text for each in lossless for row in generate(each) for text in strings(row)} - closed
    own = {_sentence(text) for text in texts}
    held = (
        _sentence(text)
        for config, split in built.declared
        if config in configs
        for row in built.each_row(config, split)
        for text in strings(row)
    )
    if found := sorted(filter(None, own.intersection(held))):
        said = [Problem("", what=f"upstream has {text!r:.60} too") for text in found]
        raise ScriptError(f"{dataset.sample}", *said, remedy="Invent other texts for the sample.")


def _sentence(text: str) -> str:
    """Return a text in lower case, with single spaces; "" for one that may be equal by chance."""
    words = text.casefold().split()
    is_long = len(words) >= _WORDS or (len(text) >= _CHARACTERS and not text.isascii())
    return " ".join(words) if is_long else ""
