"""Score predictions on a task of a build, next to the references."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from parley.errors import OutputError, ParleyError, Problem, ScriptError, UsageError
from parley.extras import extra_of
from parley.figures import MissingSplitError, agrees
from parley.folder.built import BuiltFolder
from parley.scoring.prediction_formats import Key
from parley.scoring.predictions import read, validate_predictions, write
from parley.scoring.spread import Folds, Interval
from parley.tasks import (
    MEASURED,
    Gold,
    Reference,
    Score,
    Task,
    Undefined,
    flat,
    get_task,
    wrong_scores,
)


@dataclass(frozen=True)
class Result:
    """A score with its task, its build and the references."""

    dataset: str
    name: str
    task: Task
    options: Mapping[str, str]
    predictions: str
    is_sample: bool
    score: Score
    baseline: str = ""

    @property
    def references(self) -> tuple[Reference, ...]:
        """The references for the same options."""
        return self.task.references_for(self.options)

    @property
    def moved(self) -> list[Problem]:
        """Differences of a baseline's score from its own reference, on real data."""
        own = flat(self.score.metrics)
        return [
            Problem(" ".join((each.name, *path)), stated, str(own.get(path)))
            for each in self.references
            if each.place == MEASURED and each.name == self.baseline and not self.is_sample
            for path, stated in flat(each.metrics).items()
            if isinstance(value := own.get(path), Undefined | None) or not agrees(stated, value)
        ]

    @property
    def spread(self) -> dict[tuple[str, ...], Interval | Folds]:
        """The spread of the metrics that have one."""
        found = flat(self.score.spread)
        return {path: each for path, each in found.items() if each is not None}

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON: an undefined metric is null, and has a reason."""
        found = flat(self.score.metrics)
        reasons = {path: each.reason for path, each in found.items() if isinstance(each, Undefined)}
        return {
            "dataset": self.dataset,
            "task": self.name,
            "options": dict(self.options),
            "predictions": self.predictions,
            "sample": self.is_sample,
            "unit": self.task.unit,
            "metrics": _tree({path: None if path in reasons else found[path] for path in found}),
            "undefined": _tree(reasons),
            "spread": _tree({path: vars(each) for path, each in self.spread.items()}),
            "counts": dict(self.score.counts),
            "moved": list(map(str, self.moved)),
            "references": [
                {"name": each.name, "metrics": each.metrics, "place": each.place}
                | ({"note": each.note} if each.note else {})
                for each in self.references
            ],
        }


def _tree(found: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
    """Return nested mappings: the inverse of `flat`."""
    tree: dict[str, Any] = {}
    for path, value in found.items():
        inner = tree
        for name in path[:-1]:
            inner = inner.setdefault(name, {})
        inner[path[-1]] = value
    return tree


def load_gold(built: BuiltFolder, name: str, options: Mapping[str, str]) -> Gold:
    """Return the gold; OutputError if the build lacks a config, ScriptError if tasks.py fails."""
    task = get_task(built.dataset, name)
    if absent := [config for config in task.configs if not built.splits(config)]:
        raise OutputError(
            f"{built.path}: has no config {', '.join(absent)}, which {name} reads",
            remedy=f"Run {built.rebuild} again.",
        )
    with _running(built):
        gold = task.gold(built, **options)
    fields = task.required or task.key
    for key in gold:
        if not isinstance(key, tuple) or len(key) != len(fields):
            raise ScriptError(
                f"{_script(built)}: {name}: gold: expected tuples of {', '.join(fields)} as keys, "
                f"found {key!r:.60}"
            )
    return gold


def score(
    built: BuiltFolder,
    name: str,
    given: Mapping[str, str | None],
    *,
    file: str = "",
    baseline: str = "",
    keep: Path | None = None,
    found: Iterable[Any] | None = None,
) -> Result:
    """Score a file of predictions ("-": standard input), a baseline, or predictions `found`.

    Args:
        built: The build with the gold.
        name: The task.
        given: The task's own options, as far as they are given.
        file: A file of predictions.
        baseline: A baseline of the task.
        keep: A new file for the predictions of the baseline.
        found: Predictions.

    Raises:
        UsageError: there is no such task, option or baseline, or not one thing to score.
        RecordError: naming everything that is wrong with the file.
        OutputError: the build lacks a config or split, or `keep` cannot be written.
        ScriptError: tasks.py fails.
    """
    task = get_task(built.dataset, name)
    options = task.chosen(given)
    if baseline and baseline not in task.baselines:
        raise UsageError(
            f"{built.dataset.name} {name} has no baseline {baseline!r}; "
            f"there are: {', '.join(task.baselines) or 'none'}"
        )
    if [bool(file), bool(baseline), found is not None].count(True) != 1 or (keep and not baseline):
        raise UsageError(f"{name} scores either predictions or a baseline, and keeps the latter's")
    gold = load_gold(built, name, options)
    if baseline:
        of = f"baseline {baseline}"
        with _running(built):
            found = task.baselines[baseline](built, **options)
            made = f"the {of} of {_script(built)}"
            predictions = validate_predictions(found, task, gold, made)
    elif found is not None:
        of = "predictions"
        predictions = validate_predictions(found, task, gold, "the predictions")
    else:
        of = "standard input" if file == "-" else file
        predictions = read(file, task, gold, partial(_hint, built, task, options, gold))
    with _running(built):
        scored = task.score(gold, predictions, **options)
        wrong = list(wrong_scores(scored))
    if wrong:
        raise ScriptError(f"{_script(built)}: {name} gives a score that is none", *wrong)
    if keep:  # at last: before, the same command does all of it again
        write(keep, task, predictions.values())
    return Result(built.dataset.name, name, task, options, of, built.is_sample, scored, baseline)


def _hint(
    built: BuiltFolder, task: Task, options: Mapping[str, str], gold: Gold, keys: Collection[Key]
) -> str:
    """Return the remedy for a file of predictions that cannot be scored."""
    fits = len(gold) if gold.keys() >= set(keys) else math.inf
    told = ""
    for option, values in task.options.items():
        for value in values if keys else ():
            with _running(built):
                other = task.gold(built, **{**options, option: value}).keys()
            if len(other) < fits and other >= set(keys):
                fits = len(other)
                told = f"What it predicts is all for --{option} {value}: score it with that."
    if built.is_sample:  # the predictions for the dataset are mostly unknown to it
        told = f"{told} {built.path} is built of the sample, not of the dataset.".lstrip()
    return told


def _script(built: BuiltFolder) -> str:
    return f"{built.dataset.name}/tasks.py"


@contextmanager
def _running(built: BuiltFolder) -> Iterator[None]:
    """Name the script and the build in errors of a task's functions."""
    try:
        yield
    except MissingSplitError as error:
        raise OutputError(f"{built.path}: {error}") from error
    except (ParleyError, OSError, MemoryError):
        raise
    except Exception as error:  # whatever stands in a folder that nobody verified
        if isinstance(error, ModuleNotFoundError) and extra_of((error.name or "").split(".")[0]):
            raise  # which the command line answers with the extra that brings it
        raise ScriptError(
            f"{_script(built)} fails on {built.path} ({type(error).__name__}: {error})",
            remedy=f"If `parley verify {built.dataset.name}` holds for the folder, mend tasks.py; "
            "else the folder is damaged: build it again.",
        ) from error
