"""Builds a dataset: checked rows in Parquet, a card and a provenance."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from parley.base.errors import Problem, ScriptError
from parley.base.replace import replacing, write_whole
from parley.base.values import strings
from parley.builds.built_questions import write_questions
from parley.builds.card import built_card
from parley.builds.card_parts import columns_of
from parley.declaration.configs import Config
from parley.declaration.measured import FILE, measured, measured_anew, measured_in
from parley.rows import provenance
from parley.rows.built_folder import BuiltFolder, files_of
from parley.rows.sources import Sources, open_source
from parley.rows.splits import BuiltSplit, generate, paused_garbage_collection, plan, write_split
from parley.tasks.evaluate import measured_scores

_WORDS, _CHARACTERS = 4, 12  # of a text, or of one beyond ASCII, that nobody invents twice


def build(
    source: Sources,
    output: Path,
    on_rows: Callable[[str, int], None] = lambda where, rows: None,
    *,
    measure: bool = False,
    questions: bool = False,
) -> list[BuiltSplit]:
    """Build one dataset into `output/<name>`, replacing an earlier build only at the end.

    Splits whose files are missing are left out. `on_rows` is called with "name config/split" and
    its rows so far; `questions` adds those of the tasks. The card takes its figures from
    `measured.json`; with `measure`, they and the baselines' scores are computed again, and the file
    is renewed.
    """
    dataset = source.dataset
    plans = plan(source)
    stated = provenance.stated_of(source, provenance.tools())
    measurements = measured(dataset)
    target, earlier = output / dataset.name, partial(files_of, dataset)
    with replacing(target, earlier) as folder, paused_garbage_collection():

        def opened() -> BuiltFolder:
            """Write the provenance, and open the build."""
            text = provenance.text_of(stated)
            (folder / provenance.PROVENANCE).write_text(text, encoding="utf-8")
            return BuiltFolder(folder, dataset, provenance.read_provenance(folder), target)

        splits = [write_split(split_plan, folder, on_rows) for split_plan in plans]
        stated["configs"] = provenance.by_config(splits, lambda split: split.recorded)
        built = opened()
        if questions:
            of_questions = write_questions(built)
            stated["questions"] = provenance.by_config(of_questions, lambda split: split.recorded)
            stated["eval"] = (folder / provenance.EVAL).exists()
            built = opened()
            splits += of_questions
        entries = provenance.by_config(splits, lambda split: split.measured)
        if measure:
            if source.folder != dataset.sample:  # else the sample is what was built
                _require_invented(built)
            text = measured_anew(dataset, built, entries, measured_scores(built))
            measurements = measured_in(text.encode(), dataset.folder / FILE)
        card = built_card(built, entries, measurements)
        (folder / provenance.CARD).write_text(card, encoding="utf-8")
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
    sample = open_source(dataset, None, sample=True)
    plans = [split_plan for split_plan in plan(sample) if isinstance(split_plan.config, Config)]
    configs = {split_plan.config.name for split_plan in plans}
    columns = [column for split_plan in plans for column in columns_of(split_plan.config)]
    closed = {value for column in columns for value in column.values}
    rows = (row for split_plan in plans for row in generate(split_plan))
    invented = {_sentence(text) for row in rows for text in set(strings(row)) - closed}
    upstream = (
        _sentence(text)
        for config, split in built.declared
        if config in configs
        for row in built.each_row(config, split)
        for text in strings(row)
    )
    if copied := sorted(filter(None, invented.intersection(upstream))):
        problems = [Problem("", what=f"upstream has {text!r:.60} too") for text in copied]
        remedy = "Invent other texts for the sample."
        raise ScriptError(str(dataset.sample), *problems, remedy=remedy)


def _sentence(text: str) -> str:
    """Return a text in lower case, with single spaces; "" for one that may be equal by chance."""
    words = text.casefold().split()
    is_long = len(words) >= _WORDS or (len(text) >= _CHARACTERS and not text.isascii())
    return " ".join(words) if is_long else ""
