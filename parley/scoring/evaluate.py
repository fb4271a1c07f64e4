"""Score predictions on a task of a build, next to the references."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from parley.base.errors import Problem, ScriptError, UsageError, require_known
from parley.base.exact import is_number
from parley.base.version import __version__
from parley.building.built import BuiltFolder
from parley.declaring.figures import agrees
from parley.declaring.prediction_formats import UNREADABLE, Key, Prediction, Run
from parley.declaring.spread import Folds, Interval
from parley.declaring.tasks import (
    MEASURED,
    Gold,
    Reference,
    Score,
    Task,
    Undefined,
    flat,
    tree,
    wrong_scores,
)
from parley.scoring.gold import (
    ALL,
    Part,
    arguments,
    load_gold,
    reading,
    rows_digest,
    running,
    script_of,
)
from parley.scoring.predictions import read, validate_predictions, write

WRONG, DROP = "wrong", "drop"
POLICIES = (WRONG, DROP)
"""What an unreadable prediction is: a wrong one, or none, so that the others alone are scored."""


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
    references: tuple[Reference, ...] = ()  # on the scored rows
    baseline: str = ""
    part: Part = ALL
    provenance: Mapping[str, str] = field(default_factory=dict)
    due: int = 0  # predictions, also those that are unreadable
    unreadable: Mapping[str, int] = field(default_factory=dict)  # reason -> predictions
    policy: str = WRONG
    run: Mapping[str, Any] = field(default_factory=dict)  # the facts of a log

    def __repr__(self) -> str:
        numbers = {path: v for path, v in flat(self.score.metrics).items() if is_number(v)}
        own = [f"{' '.join(path)} {value:.4g}" for path, value in numbers.items()]
        more = ", ..." if len(own) > 3 else ""
        scored = f"{self.dataset} {self.name}, {self.predictions}"
        return f"<score of {scored}: {', '.join(own[:3])}{more}>"

    @property
    def coverage(self) -> float:
        """The share of predictions that are readable, from 0 to 1."""
        return (self.due - sum(self.unreadable.values())) / self.due

    @property
    def moved(self) -> list[Problem]:
        """Differences of a baseline's score from its own reference, on real data."""
        own = flat(self.score.metrics)
        return [
            Problem(" ".join((each.name, *path)), stated, str(own.get(path)))
            for each in self.references
            if each.place == MEASURED and each.name == self.baseline
            if not self.is_sample and self.part == ALL
            for path, stated in flat(each.metrics).items()
            # other options may leave out groups of a reference
            if path in own or self.options == self.task.chosen(each.options)
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
            "subset": self.part.subset,
            "pilot": self.part.limit,
            "unit": self.task.unit,
            "metrics": tree({path: None if path in reasons else found[path] for path in found}),
            "undefined": tree(reasons),
            "spread": tree({path: vars(each) for path, each in self.spread.items()}),
            "counts": dict(self.score.counts),
            "unreadable": dict(self.unreadable),
            "coverage": self.coverage,
            "policy": self.policy,
            "moved": list(map(str, self.moved)),
            "references": [
                {"name": each.name, "metrics": tree(_numbers(each)), "unit": self.task.unit}
                | {"decimals": tree(_numbers(each, _decimals)), "place": each.place}
                | ({"note": each.note} if each.note else {})
                for each in self.references
            ],
            "provenance": dict(self.provenance),
            "run": dict(self.run),
        }


def _numbers(
    reference: Reference, of: Callable[[str], float] = float
) -> dict[tuple[str, ...], float]:
    return {path: of(text) for path, text in flat(reference.metrics).items()}


def _decimals(text: str) -> int:
    return len(text.partition(".")[2])


def score(
    built: BuiltFolder,
    name: str,
    given: Mapping[str, str | None],
    *,
    file: str = "",
    baseline: str = "",
    keep: Path | None = None,
    found: Iterable[Any] | None = None,
    due: tuple[Gold, Collection[Key]] | None = None,
    part: Part = ALL,
    policy: str = WRONG,
) -> Result:
    """Score a file of predictions ("-": standard input), a baseline, or predictions `found`.

    `given` has the task's own options, as far as they are given. `keep` is a new file for the
    predictions of the baseline. Predictions of keys outside `part` are left out. `due` is what
    `load_gold` returns, where it is known. `policy` is one of `POLICIES`.

    Raises:
        UsageError: there is no such task, option, subset, baseline or policy, not one thing to
            score, or no readable prediction is left.
        RecordError: naming everything that is wrong with the file.
        OutputError: the build lacks a config or split, or `keep` cannot be written.
        ScriptError: the task fails.
    """
    task = built.dataset.task(name)
    options = task.chosen(given)
    require_known("parley score", "--unreadable", policy, POLICIES)
    if baseline:
        require_known(f"{built.dataset.name} {name}", "baseline", baseline, task.baselines)
    if [bool(file), bool(baseline), found is not None].count(True) != 1 or (keep and not baseline):
        raise UsageError(
            f"{name} scores either predictions or a baseline; only a baseline's can be saved"
        )
    gold, others = due or load_gold(built, name, options, part)
    fields = reading(built, name, options, part)
    if baseline:
        of = f"baseline {baseline}"
        predictions = _run(built, name, baseline, options, part, gold, others)
    elif found is not None:
        of = "predictions"
        predictions = validate_predictions(found, task, gold, "the predictions", others, fields)
    else:
        of = "standard input" if file == "-" else file
        hint = partial(_hint, built, task, options, gold)
        predictions = read(file, task, gold, hint, others, fields)
    unreadable = unreadable_of(predictions)
    kept, scored, of_rows = scored_rows(gold, predictions, part, policy, of)
    metrics = compute(built, name, options, kept, scored, of_rows)
    references = task.references_for(options)
    if of_rows != ALL:
        others = {*others, *(gold.keys() - kept.keys())}
        measured = (each for each in references if each.name != baseline)
        references = (*_here(built, name, measured, options, of_rows, kept, others),)
    if keep:  # at last: before, the same command does all of it again
        write(keep, task, predictions.values())
    return Result(
        built.dataset.name,
        name,
        task,
        options,
        of,
        built.is_sample,
        metrics,
        references,
        baseline,
        part,
        _proof(built, task, predictions),
        len(gold),
        unreadable,
        policy,
    )


def scored_rows(
    gold: Gold, predictions: Mapping[Key, Prediction], part: Part, policy: str, of: str
) -> tuple[Gold, Mapping[Key, Prediction], Part]:
    """Return what is scored by a policy: gold, predictions and part; `of` names the predictions.

    UsageError if no readable prediction is left.
    """
    if policy != DROP or not unreadable_of(predictions):
        return gold, predictions, part
    kept = {key: gold[key] for key in gold if UNREADABLE not in predictions[key]}
    if not kept:
        raise UsageError(
            f"{of}: none of {len(gold):,} predictions is readable, so none is left to score",
            remedy="With --unreadable wrong they count as wrong.",
        )
    return kept, {key: predictions[key] for key in kept}, replace(part, limit=len(kept))


def _run(
    built: BuiltFolder,
    name: str,
    baseline: str,
    options: Mapping[str, str],
    part: Part,
    gold: Gold,
    others: Collection[Key],
) -> Mapping[Key, Prediction]:
    """Return the predictions of a baseline for the keys of `gold`."""
    task = built.dataset.task(name)
    with running(built):
        found = task.baselines[baseline](built, **options, **arguments(task, part))
        made = f"the baseline {baseline} of {script_of(built)}"
        return validate_predictions(found, task, gold, made, others)


def _here(
    built: BuiltFolder,
    name: str,
    references: Iterable[Reference],
    options: Mapping[str, str],
    part: Part,
    gold: Gold,
    others: Collection[Key],
) -> Iterator[Reference]:
    """Yield what the baselines among these references reach on the rows of `gold` alone.

    The other references are of all rows, and left out; so is a baseline that cannot predict a part,
    as one that learns from it.
    """
    task = built.dataset.task(name)
    for each in references:
        if each.place == MEASURED:
            with suppress(UsageError):
                predictions = _run(built, name, each.name, options, part, gold, others)
                found = flat(compute(built, name, options, gold, predictions, part).metrics)
                stated = {
                    path: f"{value:.{task.decimals}f}"
                    for path, value in found.items()
                    if not isinstance(value, Undefined)
                }
                note = "; ".join(filter(None, (each.note, "on the same rows")))
                yield replace(each, metrics=tree(stated), note=note)


def compute(
    built: BuiltFolder,
    name: str,
    options: Mapping[str, str],
    gold: Gold,
    predictions: Mapping[Key, Prediction],
    part: Part = ALL,
) -> Score:
    """Return the score of sound predictions, one for each key of `gold` and in its order.

    `part` is the part of the task that they are from. ScriptError if the task fails.
    """
    with running(built):
        task = built.dataset.task(name)
        compared = task.score if part == ALL else task.score_part or task.score
        scored = compared(gold, predictions, **options)
        wrong = list(wrong_scores(scored, task))
    if wrong:
        raise ScriptError(f"{script_of(built)}: {name} gives an invalid score", *wrong)
    return scored


def _proof(built: BuiltFolder, task: Task, predictions: Mapping[Key, Prediction]) -> dict[str, str]:
    """Return the versions, and the digests of rows and predictions."""
    return {
        "parley": __version__,
        "version": built.version,
        "rows": rows_digest(built, task),
        "predictions": digest_of(predictions),
    }


def unreadable_of(predictions: Mapping[Key, Prediction]) -> dict[str, int]:
    """Return reason -> number of unreadable predictions; a TREC run has none."""
    each = () if isinstance(predictions, Run) else predictions.values()
    return dict(sorted(Counter(one[UNREADABLE] for one in each if UNREADABLE in one).items()))


def digest_of(predictions: Mapping[Key, Prediction]) -> str:
    """Return the sha256 of predictions as lines of JSON: sorted keys, no spaces, gold's order."""
    found = hashlib.sha256()
    if isinstance(predictions, Run):
        for topic, documents, scores in predictions.topics():
            found.update(json.dumps([topic, documents, scores]).encode() + b"\n")
    else:
        for each in predictions.values():
            line = json.dumps(each, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            found.update(line.encode() + b"\n")
    return found.hexdigest()


def _hint(
    built: BuiltFolder, task: Task, options: Mapping[str, str], gold: Gold, keys: Collection[Key]
) -> str:
    """Return the remedy for a file of predictions that cannot be scored."""
    fits = len(gold) if gold.keys() >= set(keys) else math.inf
    told = ""
    for option, values in task.options.items():
        for value in values if keys else ():
            with running(built):
                other = task.gold(built, **{**options, option: value}).keys()
            if len(other) < fits and other >= set(keys):
                fits = len(other)
                told = f"The file holds predictions for --set {option}={value}; score it with that."
    if built.is_sample:  # the predictions for the dataset are mostly unknown to it
        told = f"{told} {built.path} is a build of the sample, not of the dataset.".lstrip()
    return told
