"""Verifies a build: its checks and every documented figure.

What reads rows is imported where it is called: the process that only hands out work needs none.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from parley.base.errors import NO_MEMORY, OutputError, ParleyError, is_no_memory
from parley.building.folder import BuiltFolder, find_folder
from parley.building.registry import Dataset, get
from parley.building.sources import Sources, at_hand, open_source
from parley.building.verdicts import (
    A_SAMPLE,
    UNEXPLAINED,
    Figure,
    checks_of,
    definition_of,
    figures,
)
from parley.verifying.side_by_side import Lost, side_by_side

OnStep = Callable[[str, str], None]  # dataset and name of the check
_PARTS = ("rows", "figures")  # of a verification, side by side


@dataclass(frozen=True)
class Check:
    """One check: its definition and the problems found."""

    name: str
    definition: str
    problems: list[str]
    skipped: str = ""
    notes: list[str] = field(default_factory=list)  # what it counted

    @property
    def failed(self) -> bool:
        """Whether it found a problem."""
        return bool(self.problems)


@dataclass(frozen=True)
class Verification:
    """The results of verifying one build.

    Args:
        dataset: Its dataset.
        sample: Whether it is built from the sample.
        checks: Each check.
        figures: Each documented figure.
    """

    dataset: str
    sample: bool = False
    checks: list[Check] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)

    def __repr__(self) -> str:
        failed = [check.name for check in self.checks if check.failed]
        checks = f"failed: {', '.join(failed)}" if failed else f"{len(self.checks)} checks hold"
        return f"<verification of {self.dataset}: {checks}, {len(self.figures)} figures>"

    @property
    def failed(self) -> bool:
        """Whether a check failed or a figure is unexplained."""
        return any(check.failed for check in self.checks) or bool(self.count(UNEXPLAINED))

    def count(self, verdict: str) -> int:
        """Return how many figures have this verdict."""
        return sum(figure.verdict == verdict for figure in self.figures)

    def as_dict(self) -> dict[str, Any]:
        """Return it all for JSON."""
        return {
            "dataset": self.dataset,
            "sample": self.sample,
            "failed": self.failed,
            "checks": [vars(check) for check in self.checks],
            "figures": [figure.as_dict() for figure in self.figures],
        }


def verify(
    built: BuiltFolder, source: Sources | None = None, on_step: OnStep = lambda dataset, step: None
) -> Verification:
    """Verify a built folder.

    Its rows are compared with the upstream files `source`, if available. A build of the sample is
    compared with the sample in the dataset folder. `on_step` takes the dataset and the next check.
    """
    built = built.reading_once()
    of_rows = verify_rows(built, source, on_step)
    figured = None if _is_damaged(of_rows) else verify_figures(built, on_step)
    return _whole(built.dataset, of_rows, figured)


def verify_figures(built: BuiltFolder, on_step: OnStep) -> Verification:
    """Recompute figures and counted numbers of a build, and compare them with the measured."""
    from parley.verifying import integrity

    name, found = built.dataset.name, list[Figure]()
    for figure in figures(built.dataset.figures, built, A_SAMPLE if built.is_sample else ""):
        on_step(name, figure.name.partition(".")[0].replace("_", " "))
        found.append(figure)
    not_counted: list[str] = []
    numbers = _run(integrity.counted, (built, not_counted))
    checks = [
        _run(integrity.as_measured, (built, None, found)),
        replace(numbers, skipped="; ".join(not_counted)),
    ]
    return Verification(name, built.is_sample, checks, found)


def verify_rows(built: BuiltFolder, source: Sources | None, on_step: OnStep) -> Verification:
    """Check the files and the rows of a built folder; see `verify`."""
    from parley.building.plan import plan
    from parley.verifying import integrity
    from parley.verifying import views as of_views

    dataset = built.dataset
    if built.is_sample:
        source = open_source(dataset, None, sample=True)
    plans = {each.name: each for each in plan(source)} if source else {}
    remeasured, not_compared, told = integrity.Remeasured(built), list[str](), list[str]()

    def test(check: Callable[..., Iterator[str]], *arguments: Any, skipped: str = "") -> Check:
        on_step(dataset.name, check.__name__.replace("_", " "))
        return _run(check, arguments, skipped)

    found = [
        test(integrity.files, built),
        schema := test(integrity.schema, built),
    ]
    if not schema.failed:
        absent = ["/".join(each) for each in built.declared if each not in plans]
        skipped = f"the upstream files of {', '.join(absent)} are not available" if absent else ""
        if not source:
            skipped = "the upstream files are not available"
        against_source = test(integrity.source, built, plans, remeasured, skipped=skipped)
        found += [
            replace(
                test(integrity.shards, built, remeasured, not_compared),
                skipped="; ".join(not_compared),
            ),
            test(integrity.provenance, built, plans, remeasured),
            test(integrity.card, built, remeasured),
            test(integrity.as_measured, built, remeasured),
            test(integrity.keys, built),
            test(integrity.numbers, built),
            test(integrity.empty_texts, built),
            test(integrity.records, built, plans),
            test(integrity.chats, built),
            test(integrity.questions, built, remeasured),
            test(of_views.views, built, plans),
            replace(test(of_views.shown, built, told), notes=told),
            *(test(check, built) for check in checks_of(dataset.checks)),
            against_source,
        ]
    return Verification(dataset.name, built.is_sample, found)


def _is_damaged(of_rows: Verification) -> bool:
    return any(check.failed for check in of_rows.checks if check.name == "schema")


def _whole(dataset: Dataset, of_rows: Verification, figured: Verification | None) -> Verification:
    """Return the verification of both parts of a build; of damaged files it has no figures."""
    if figured is None or _is_damaged(of_rows):
        why_not = "the Parquet files are damaged"
        return replace(of_rows, figures=list(figures(dataset.figures, None, why_not)))
    more = {check.name: check for check in figured.checks}
    checks = [
        replace(check, problems=[*check.problems, *more.pop(check.name).problems])
        if check.name in more
        else check
        for check in of_rows.checks
    ]
    checks += more.values()
    return replace(of_rows, checks=checks, figures=figured.figures)


def _run(
    check: Callable[..., Iterator[str]], arguments: tuple[Any, ...], skipped: str = ""
) -> Check:
    problems: list[str] = []
    try:
        for problem in check(*arguments):
            if not isinstance(problem, str):
                raise TypeError(f"expected a message, found {problem!r:.60}")
            problems.append(problem)
    except MemoryError:  # blames no script
        raise
    except Exception as error:  # one failing check must not hide the others
        problems.append(f"the check failed: {type(error).__name__}: {error}")
    return Check(check.__name__, definition_of(check), problems, skipped)


def verify_each(
    datasets: list[Dataset], build: Path, sources: Path | None, on_step: OnStep
) -> Iterator[Verification | ParleyError]:
    """Verify the built folders of several datasets, side by side; yield each result or error.

    Figures and rows of a build are verified by two processes.

    Args:
        datasets: The datasets.
        build: The folder that holds their built folders.
        sources: The folder that holds their upstream files; None is the cache.
        on_step: Called with a dataset's name and that of the next check.
    """
    jobs = [(each.name, build, sources, part) for each in datasets for part in _PARTS]
    workers = min(_processors(), len(jobs))
    if workers < 2:
        yield from (_outcome(each.name, build, sources, "", on_step) for each in datasets)
        return
    outcomes = side_by_side(_outcome, jobs, workers, on_step)
    with closing(outcomes):  # at Ctrl-C, drop the remaining jobs
        for dataset in datasets:
            both = [next(outcomes) for _ in _PARTS]  # rows, figures
            wrong = [each for each in both if not isinstance(each, Verification)]
            if any(isinstance(each, Lost) for each in wrong):
                yield _lost(dataset.name)
            else:
                yield wrong[0] if wrong else _whole(dataset, *both)


def _outcome(
    name: str, build: Path, sources: Path | None, part: str, on_step: OnStep
) -> Verification | ParleyError:
    from parley.building.rows.generate import paused_garbage_collection

    try:
        dataset = get(name)
        with paused_garbage_collection():
            built = find_folder(build, dataset)
            if part == "figures":
                return verify_figures(built, on_step)
            source = at_hand(dataset, sources)
            if part == "rows":
                return verify_rows(built.reading_once(), source, on_step)
            return verify(built, source, on_step)
    except Exception as error:  # an unexpected error must not hide the other datasets
        if is_no_memory(error):
            return OutputError(f"{name}: {NO_MEMORY}")
        if isinstance(error, ParleyError):
            return error
        return OutputError(f"{name}: was not verified: {type(error).__name__}: {error}")


def _lost(name: str) -> ParleyError:
    return OutputError(
        f"{name}: its process ended early",
        remedy=f"Memory may be short: verify it alone with `parley verify {name}`.",
    )


def _processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
