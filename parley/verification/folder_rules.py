"""Rules for modules and sample: each yields a line for each violation, with its remedy."""

import re
from collections.abc import Iterator
from typing import Any

from parley.base.errors import ParleyError, RowError, few, one_line
from parley.base.numbers import FigureValue
from parley.builds.sources import split_plan
from parley.declaration.configs import Config, View
from parley.declaration.figures import UNEXPLAINED, marked
from parley.declaration.measured import FILE, Measured, every_split, measured, measured_text
from parley.declaration.registry import Dataset
from parley.page.build_charts import dataset_charts
from parley.read.dialogues import dialogue_ids, dialogues
from parley.read.export.export import export
from parley.schema.composites import Alternatives
from parley.schema.nodes import Node
from parley.verification.dataset_folder import DatasetFolder
from parley.verification.figures import FAILED, every_count, figures
from parley.verification.results import lines_of
from parley.verification.row_checks import transcripts
from parley.verification.verify import verify

Choice = tuple[Alternatives, list[Any], str]  # alternatives, with their values and the path
# Errors of a figure on a sample that is too small
_TOO_FEW = "(StatisticsError|ValueError|ZeroDivisionError): "


def every_field_has_a_meaning(folder: DatasetFolder) -> Iterator[str]:
    """Each column of a config, and each field within it, is declared with its meaning."""
    for name, config in folder.dataset.configs.items():
        for column in config.fields:
            if not any(map(str.isalpha, column.meaning)):  # "?" is none
                problem = 'has no meaning; declare Field(shape, "its meaning")'
                yield f"{folder.dataset.name}.py: {name}: {column.path} {problem}"


def modules_load(folder: DatasetFolder) -> Iterator[str]:
    """The script and the other modules can be imported, and what they declare is valid."""
    declared = ("figures", "checks", "layout", "charts", "exports", "jobs", "tasks")
    for name in ("builder", *declared):
        try:
            getattr(folder.dataset, name)
        except ParleyError as error:
            yield from lines_of(error)


def measured_is_up_to_date(folder: DatasetFolder) -> Iterator[str]:
    """`measured.json`, if any, has the folder's version, features, licences and figures."""
    dataset = folder.dataset
    known = measured(dataset)
    built = {
        config: {split: record for split, record in records.items() if "rows" in record}
        for config, records in known.splits.items()
    }
    splits = every_split(dataset, built)
    scores = {
        name: {key: known.scores.get(name, {}).get(key, {}) for key in baselines}
        for name, task in dataset.tasks.items()
        if (baselines := task.measured())
    }
    text = measured_text(
        dataset, splits, known.figures(dataset), dict(_numbers(dataset, known)), scores
    )
    if known.version and text != (dataset.folder / FILE).read_text(encoding="utf-8"):
        problem = "version, features, licences, splits or figures are not those of the folder"
        yield f"{FILE}: {problem}; renew it: `parley build {dataset.name} --source DIR --measure`"


def _numbers(dataset: Dataset, known: Measured) -> Iterator[tuple[str, FigureValue | None]]:
    """Yield the recorded numbers of the functions that count, in their order."""
    for function in marked(dataset.figures, "counted"):
        name = function.__name__
        numbers = {k: v for k, v in known.counted.items() if f"{k}.".startswith(f"{name}.")}
        yield from (numbers or {name: None}).items()


def sample_builds(folder: DatasetFolder) -> Iterator[str]:
    """The sample has every source and builds every split."""
    places = [folder.dataset.sample / source for source in folder.dataset.sources]
    if missing := [path for path in places if not path.exists()]:
        for path in missing:
            yield f"{path}: missing; write a few invented records in upstream's layout"
        return
    try:
        built = folder.built
    except RowError as error:
        error.remedy = "Fix the rows or the features."
        raise
    for config, split in built.declared_splits:
        if not built.rows(config, split):
            yield f"{config}/{split}: no row; add a record for it to the sample"


def sample_verifies(folder: DatasetFolder) -> Iterator[str]:
    """The checks of `parley verify` and of the dataset pass on the built sample."""
    for check in verify(folder.built).checks:
        # the transcripts have a rule of their own
        for problem in check.problems if check.name != transcripts.__name__ else ():
            mend = f"fix the rows or the check: {check.definition}"
            yield one_line(f"{check.name}: {problem}; {mend}")


def figures_compute(folder: DatasetFolder) -> Iterator[str]:
    """Every figure and counted number can be computed on the sample; its value may differ.

    On a sample that is too small, a function may raise ValueError or divide by zero.
    """
    module, data = folder.dataset.figures, folder.built
    unexplained = [figure for figure in figures(module, data) if figure.verdict == UNEXPLAINED]
    failed = [(fig.name, fig.reason) for fig in unexplained if fig.reason.startswith(FAILED)]
    failed += [(count.name, count.reason) for count in every_count(module, data) if count.failed]
    for figure in unexplained:
        if figure.stated == "nothing":
            yield f"figures.py: {figure.name}: is computed, but the table lacks it; add it"
    for name, reason in failed:
        error = reason.removeprefix(f"{FAILED}: ")
        if not re.match(_TOO_FEW, error):
            yield one_line(f"figures.py: {name} fails: {error}; fix its function")


def exports_write_the_sample(folder: DatasetFolder) -> Iterator[str]:
    """Each export writes the sample in its format."""
    for format in folder.dataset.exports:
        try:
            written = export(folder.built, format, folder.work / f"export-{format}")
        except ParleyError as error:
            yield from (f"export.py: {line}; fix {format}" for line in lines_of(error))
        else:
            if len(written) < 2:  # one file says that it is a sample
                yield f"export.py: {format} writes no file; write into the given folder"


def charts_are_drawn(folder: DatasetFolder) -> Iterator[str]:
    """Each chart of `charts.py` is drawn of the sample."""
    for _ in dataset_charts(folder.built):  # whose error says what is wrong
        yield from ()


def sample_shows_each_alternative(folder: DatasetFolder) -> Iterator[str]:
    """The sample has a value for each alternative of each shape, such as a null for (str, None).

    A shape that several fields share needs each alternative once.
    """
    problems: dict[tuple[int, int], str] = {}
    with_values: set[tuple[int, int]] = set()
    for name, config in folder.dataset.configs.items():
        if isinstance(config, Config):
            plans = (split_plan(folder.source, name, s) for s in folder.dataset.splits[name])
            records = [record for plan in plans for record in plan.records()]
            for node, values, place in _alternatives(config.node, records, name):
                for number, (option, fitting, _) in enumerate(node.within(values, place)):
                    key = id(node.shape), number
                    if fitting:
                        with_values.add(key)
                    problem = f"no record of the sample has {option.described()} here"
                    problems.setdefault(key, f"{place}: {problem}")
    for key, problem in problems.items():
        if key not in with_values:
            yield f"{problem}; add one, or narrow the shape if upstream has none"


def _alternatives(node: Node, values: list[Any], path: str) -> Iterator[Choice]:
    if isinstance(node, Alternatives):
        yield node, values, path
    for inner in node.within(values, path):
        yield from _alternatives(*inner)


def transcript_lays_out_every_row(folder: DatasetFolder) -> Iterator[str]:
    """`transcript.py` names columns, and lays out each row in its language."""
    dataset, layout = folder.dataset, folder.dataset.layout
    known = dialogue_ids(folder.built)
    for config, column in (*layout.beside.items(), *layout.tables.items()):
        for split in folder.built.splits(config):
            rows = folder.built.rows(config, split)
            ids = {dataset.dialogue_id(split, row[column]): None for row in rows}
            if strangers := [id for id in ids if id not in known]:
                problem = f"no dialogue is {few(strangers)}"
                yield f"transcript.py: {config}.{column}: {problem}; name the column of its id"
    problems = list(transcripts(folder.built))
    yield from problems
    if problems or not layout.transcript:
        return
    laid_out = list(dialogues(folder.built))
    codes = {code.partition("-")[0] for code in dataset.builder.LANGUAGES}
    languages = {dialogue.transcript.language.partition("-")[0] for dialogue in laid_out}
    if codes and (others := languages - codes):
        problem = f"transcripts are in {', '.join(sorted(others)) or 'none'}, which LANGUAGES lacks"
        yield f"transcript.py: {problem}; name Transcript(language=...), or declare it"


def views_are_of_dialogues(folder: DatasetFolder) -> Iterator[str]:
    """Each view says whose dialogues it shows, and their config what a dialogue holds."""
    configs, script = folder.dataset.configs, f"{folder.dataset.name}.py"
    for name, view in configs.items():
        if not isinstance(view, View):
            continue
        if not view.of and view.shows != {}:
            remedy = "name the config of its dialogues, of=, or say shows={}"
            yield f"{script}: View({name!r}) is of no config; {remedy}"
        config = configs.get(view.of)
        if isinstance(config, Config) and config.holds is None:
            remedy = "give holds=, a function of a row: its number of turns, and its participants"
            yield f"{script}: Config({config.name!r}) says not what a dialogue holds; {remedy}"
