"""What must hold of the modules beside a builder script, one function a check.

Each yields a line for everything that contradicts its docstring, and says what to do.
"""

import re
from collections.abc import Iterator
from itertools import islice

from parley.checking.subject import Subject, lines_of, one_line
from parley.dialogues import Dialogue, as_id, group_beside
from parley.errors import ParleyError
from parley.export import export
from parley.extras import extra_of
from parley.figures import FAILED, UNEXPLAINED, figures
from parley.jobs import Job
from parley.scoring.evaluate import score
from parley.shapes import problems
from parley.tasks import tasks_of

# What a computation may raise of a sample, which lacks most of what it looks for
_TOO_FEW = "(StatisticsError|ValueError|ZeroDivisionError): "
_MODULES = ("figures", "checks", "transcript", "export", "jobs", "tasks")


def modules_load(subject: Subject) -> Iterator[str]:
    """What stands beside the script can be imported."""
    for name in _MODULES:
        try:
            subject.dataset.beside(name)
        except ParleyError as error:
            yield from lines_of(error)


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
    dataset, features = subject.dataset, subject.module.FEATURES
    try:
        module = dataset.transcript
    except ParleyError as error:
        yield from lines_of(error)
        return
    if module is None:
        return
    for config in module.CONFIGS:
        if config not in features:
            yield f"transcript.py: CONFIGS names {config}, which SPLITS does not have; mend it"
    for config, column in getattr(module, "BESIDE", {}).items():
        if column not in features.get(config, ()):
            yield f"transcript.py: BESIDE: there is no {config}.{column}; name a config's column"
    for config in module.CONFIGS:
        for split in subject.module.SPLITS.get(config, ()):
            beside = group_beside(dataset, subject.built, split)
            for number, row in enumerate(subject.built.rows(config, split)):
                place = config, split
                id = as_id(next(iter(row.values())), dataset, place, number)
                dialogue = Dialogue(dataset, *place, row, beside[id], (place,))
                try:
                    laid_out = dialogue.transcript
                    dialogue.facets  # noqa: B018 - that it can be asked for is the check
                except ParleyError as error:
                    cause = error.__cause__
                    said = f"{type(cause).__name__}: {cause}"
                    line = f"transcript.py: {config}/{split}[{number}]: fails: {said}; mend it"
                    yield one_line(line)
                    continue
                if laid_out and not laid_out.turns:
                    yield f"transcript.py: {config}/{split}[{number}]: has no turns; give them"


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
            if config not in subject.module.SPLITS:
                yield f"{where}: reads {config}, which SPLITS does not have; name a config"
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


def jobs_say_what_they_do(subject: Subject) -> Iterator[str]:
    """Each job is a Job with a docstring, and what it fetches is pinned."""
    for name, job in subject.dataset.jobs.items():
        if not isinstance(job, Job):
            yield f"jobs.py: JOBS[{name!r}]: expected a Job, found {job!r:.60}; write Job(function)"
            continue
        if not job.summary:
            yield f"jobs.py: {name}: has no docstring, which is its help; write one"
        for part, sources in job.sources.items():
            for file, pin in sources.items():
                if (
                    not {"url", "size"} <= pin.keys()
                    or len(pin.keys() & {"sha256", "git_blob"}) != 1
                ):
                    yield f"jobs.py: {name}: {part}: {file}: expected url, size and a hash; pin it"
