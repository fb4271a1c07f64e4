"""Measures a build: the text of `measured.json`, which `parley build --measure` writes."""

from parley.base.errors import Problem, ScriptError
from parley.base.numbers import FigureValue
from parley.base.values import strings
from parley.builds.built_folder import BuiltFolder
from parley.builds.sources import Sources, open_source, plan
from parley.declaration.configs import Config
from parley.declaration.measured import Splits, every_split, measured_text
from parley.rows.splits import generate
from parley.scoring.evaluate import measured_scores
from parley.verification.figures import every_count, figures

_WORDS, _CHARACTERS = 4, 12  # of a text, or of one beyond ASCII, that nobody invents twice


def measure(source: Sources, built: BuiltFolder, splits: Splits) -> str:
    """Return the text of `measured.json` for a build, given its source and its splits.

    ScriptError if a function of `figures.py` fails to count, or if the sample has sentences of
    upstream.
    """
    dataset = built.dataset
    if source.folder != dataset.sample:  # else the sample is what was built
        _require_invented(built)
    found = list(figures(dataset.figures, built))
    counted = dict[str, FigureValue | None]()
    for count in every_count(dataset.figures, built):
        if count.failed:
            raise ScriptError(f"{dataset.folder / 'figures.py'}: {count.name}: {count.reason}")
        if not count.numbers:
            counted[count.name] = None
        counted |= count.numbers
    return measured_text(
        dataset, every_split(dataset, splits), found, counted, measured_scores(built)
    )


def _require_invented(built: BuiltFolder) -> None:
    """Raise ScriptError if the sample has sentences that a build of upstream's files has too.

    Shorter texts may be equal by chance, and closed values carry over. Views may put texts of their
    own around upstream's, so only the texts of a `Config` count.
    """
    dataset = built.dataset
    sample = open_source(dataset, None, sample=True)
    plans = [split_plan for split_plan in plan(sample) if isinstance(split_plan.config, Config)]
    configs = {split_plan.config.name for split_plan in plans}
    columns = [column for split_plan in plans for column in split_plan.config.fields]
    closed = {value for column in columns for value in column.values}
    rows = (row for split_plan in plans for row in generate(split_plan))
    invented = {_sentence(text) for row in rows for text in set(strings(row)) - closed}
    upstream = (
        _sentence(text)
        for config, split in built.declared_splits
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
