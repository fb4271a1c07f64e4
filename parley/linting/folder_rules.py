"""What must hold of a dataset folder's modules and sample, one function a check.

Each yields a line for everything that contradicts its docstring, and says what to do.
"""

import copy
import re
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

from parley.declaration import Config, View
from parley.dialogues import Dialogue, as_id, related_by_dialogue
from parley.errors import ParleyError, RowError
from parley.exports.export import export
from parley.extras import extra_of
from parley.figures import FAILED, UNEXPLAINED, figures
from parley.folder.integrity import first_difference
from parley.folder.verify import verify
from parley.jobs import jobs_of
from parley.linting.subject import NotYetError, Subject, lines_of, one_line
from parley.scoring.evaluate import score
from parley.shapes import problems
from parley.source.pins import PLACEHOLDER
from parley.tasks import tasks_of

# What a computation may raise of a sample, which lacks most of what it looks for
_TOO_FEW = "(StatisticsError|ValueError|ZeroDivisionError): "
_SENTINELS = ("None", "null", "N/A")


# The modules ----------------------------------------------------------------------------


def script_opens_with_what_it_is(subject: Subject) -> Iterator[str]:
    """The script's docstring shows an invented record, and says what a row is."""
    name = f"{subject.dataset.name}.py"
    text = sys.modules[subject.dataset.builder.__module__].__doc__ or ""
    if "(invented" not in text:
        yield f'{name}: the docstring shows no record; add one under "A record ... (invented):"'
    if "A row" not in text:
        yield f'{name}: the docstring does not say what a row is; add a sentence: "A row is ..."'


def script_declares(subject: Subject) -> Iterator[str]:
    """The script can be imported, and its class is declared as it should be."""
    subject.dataset.builder  # noqa: B018 - importing it is the check
    return iter(())


def sources_have_addresses(subject: Subject) -> Iterator[str]:
    """Each source has a URL, and the dataset a homepage; until then it builds from --source."""
    places = {file: str(pin["url"]) for file, pin in subject.dataset.pins.items()}
    places["HOMEPAGE"] = subject.dataset.builder.HOMEPAGE
    if none := [file for file, url in places.items() if url.startswith(PLACEHOLDER)]:
        named = ", ".join(none[:3]) + (f" and {len(none) - 3} more" if none[3:] else "")
        raise NotYetError(f"{PLACEHOLDER} stands for where upstream has {named}; write its URL")
    return iter(())


def modules_load(subject: Subject) -> Iterator[str]:
    """The modules beside the script can be imported."""
    for name in ("figures", "checks", "transcript", "export", "jobs", "tasks"):
        try:
            subject.dataset.load_module(name)
            jobs_of(subject.dataset)
        except ParleyError as error:
            yield from lines_of(error)


# The sample -----------------------------------------------------------------------------


def sample_builds(subject: Subject) -> Iterator[str]:
    """The sample holds every source, and the strict build makes every split of it."""
    places = [subject.dataset.sample / source for source in subject.dataset.sources]
    if missing := [path for path in places if not path.exists()]:
        for path in missing:
            yield f"{path}: missing; write a few invented records in upstream's layout"
        return
    try:
        built = subject.built
    except RowError as error:
        error.remedy = "Mend what makes the row, or its features."
        raise
    for config, split in subject.splits():
        if not built.rows(config, split):
            yield f"{config}/{split}: no row; give the sample a record that makes one"


def records_stay_as_they_are(subject: Subject) -> Iterator[str]:
    """What makes rows does not change the records, which other configs may be made of."""
    for config, split in subject.splits():
        records = subject.records(config, split)
        before = copy.deepcopy(records)
        for _ in subject.dataset.configs[config].rows(iter(records)):
            pass
        for number, (found, due) in enumerate(zip(records, before, strict=True)):
            if found != due:
                path = first_difference(found, due)
                yield (
                    f"{config}/{split}: rows changes record {number}: {path}; change a copy, as "
                    "{**record}"
                )


def missing_is_null(subject: Subject) -> Iterator[str]:
    """A missing value is null, and never "None", "null", "N/A", -1.0, or "" that upstream lacks.

    But for the views with `sentinels=True`, whose documented schema has them.
    """
    for config, split in subject.splits():
        declared = subject.dataset.configs[config]
        if isinstance(declared, Config) or declared.sentinels:
            continue  # a Config holds just what upstream has
        empty = any(value == "" for _, value in _values(subject.records(config, split)))
        for number, row in enumerate(subject.built.rows(config, split)):
            for path, value in _values(row):
                wrong = value in _SENTINELS or (value == "" and not empty)
                if wrong or (isinstance(value, float) and value == -1.0):
                    yield f"{config}/{split}[{number}]{path}: is {value!r}; make it null"


def _values(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every string and number within a value, with the path to it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _values(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _values(inner, f"{path}[{index}]")
    else:
        yield path, value


def sample_verifies(subject: Subject) -> Iterator[str]:
    """The checks of `parley verify`, and the dataset's own, hold of the built sample."""
    for check in verify(subject.built).checks:
        for problem in check.problems:
            mend = f"mend the rows, or the check: {check.definition}"
            yield one_line(f"{check.name}: {problem}; {mend}")


# What is made of it ---------------------------------------------------------------------


def figures_compute(subject: Subject) -> Iterator[str]:
    """Every documented figure can be computed, or is of what the sample lacks; values may differ.

    A computation may raise a ValueError, as StatisticsError is one, or divide by zero, where the
    sample is too small for it.
    """
    for figure in figures(subject.dataset.figures, subject.built):
        if figure.verdict != UNEXPLAINED:
            continue
        if figure.reason.startswith(FAILED):
            said = figure.reason.removeprefix(f"{FAILED}: ")
            if not re.match(_TOO_FEW, said):
                yield one_line(f"figures.py: {figure.name} fails: {said}; mend its function")
        elif figure.documented == "nothing":
            yield (
                f"figures.py: {figure.name}: is computed, but the document states no such value; "
                "give the table this key, or the function none"
            )


def transcript_lays_out_every_row(subject: Subject) -> Iterator[str]:
    """`transcript.py` lays out every row of the configs that it names, and gives its facets."""
    dataset = subject.dataset
    module = dataset.transcript
    configs = getattr(module, "CONFIGS", ())
    columns = {config: set(each.features) for config, each in dataset.configs.items()}
    for config in configs:
        if config not in columns:
            yield f"transcript.py: CONFIGS names {config}, which is no config; mend it"
    for config, column in getattr(module, "BESIDE", {}).items():
        if column not in columns.get(config, ()):
            yield f"transcript.py: BESIDE: there is no {config}.{column}; name a config's column"
    for config, split in subject.splits():
        if config not in configs:
            continue
        beside = related_by_dialogue(dataset, subject.built, split)
        for number, row in enumerate(subject.built.rows(config, split)):
            place = config, split
            id = as_id(next(iter(row.values())), dataset, place, number)
            dialogue = Dialogue(dataset, *place, row, beside[id], (place,))
            where = f"transcript.py: {config}/{split}[{number}]"
            try:
                if (laid_out := dialogue.transcript) and not laid_out.turns:
                    yield f"{where}: has no turns; give them"
                dialogue.facets  # noqa: B018 - that it can be asked for is the check
            except ParleyError as error:
                cause = error.__cause__ or error
                yield one_line(f"{where}: fails: {type(cause).__name__}: {cause}; mend it")


def exports_write_the_sample(subject: Subject) -> Iterator[str]:
    """Each export writes the sample in its format."""
    for format in subject.dataset.exports:
        try:
            written = export(subject.built, format, subject.work / f"export-{format}")
        except ParleyError as error:
            yield from (f"export.py: {line}; mend {format}" for line in lines_of(error))
        else:
            if len(written) < 2:  # one file says that it is a sample
                yield f"export.py: {format} writes no file; write into the folder that it is given"


def tasks_score_the_sample(subject: Subject) -> Iterator[str]:
    """Each task agrees with its example, and its first baseline scores the sample."""
    for name, task in tasks_of(subject.dataset).items():
        where = f"tasks.py: {name}"
        for config in task.configs:
            if config not in subject.dataset.configs:
                yield f"{where}: reads {config}, which is no config; name one"
        for problem in problems(task.example, task.shape):
            yield f"{where}: the example: {problem}; mend the example or the shape"
        if task.example.keys() != task.fields.keys():
            fields = f"{', '.join(task.fields)}, found {', '.join(task.example)}"
            yield f"{where}: the example: expected the fields {fields}; mend one of them"
        for baseline in islice(task.baselines, 1):
            try:
                score(subject.built, name, {}, baseline=baseline)
            except ModuleNotFoundError as error:
                if not extra_of((error.name or "").partition(".")[0]):
                    yield f"{where}: {baseline}: {error}; do without it"
            except ParleyError as error:
                yield from (f"{where}: {baseline}: {line}" for line in lines_of(error))


def views_show_every_dialogue(subject: Subject) -> Iterator[str]:
    """A `messages` view has a chat of each dialogue."""
    declared = subject.dataset.configs.get("messages")
    if not isinstance(declared, View):
        return
    for split in subject.dataset.splits["messages"]:
        for number, record in enumerate(subject.records("messages", split)):
            if not any(True for _ in declared.rows([record])):
                yield f"messages/{split}: has no chat of record {number}; give one"
