"""Score predictions on a task of a build, next to the references."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from parley.base.errors import Problem, UsageError, few, require_known
from parley.base.numbers import agrees
from parley.base.values import flat, tree
from parley.base.version import __version__
from parley.builds.built_folder import BuiltFolder
from parley.declaration.measured import measured
from parley.scoring.gold import ALL, Part, load_gold, rows_digest, running, script_of
from parley.scoring.intervals import Metric
from parley.scoring.metrics import Epoch, Evaluation, Names, Predictions, TaskRows
from parley.scoring.predictions import EPOCH, read, validate_predictions, write
from parley.tasks.answers import NO_ANSWER
from parley.tasks.prediction_formats import ANSWER, UNREADABLE
from parley.tasks.task import MEASURED, Reference, Score, Task, Undefined

WRONG, DROP = "wrong", "drop"
_MANY, _NEARLY_ALL = 10, 0.9  # answers; the share of one answer that is remarkable
POLICIES = (WRONG, DROP)
"""What an unreadable prediction is: a wrong one, or none, so that the others alone are scored."""


class Result:
    """The score of predictions, one or several for each row, with the references of its task.

    `epochs` also have what the policy drops; UsageError if it drops all. `predictions` is their
    name: a baseline, a file or a log; `run` has the facts of a log. `unreadable` has their number
    by reason, `answer_counts` that of each distinct readable answer, the commonest first.
    """

    def __init__(
        self,
        epochs: Sequence[Epoch],
        predictions: str,
        part: Part,
        policy: str = WRONG,
        *,
        baseline: str = "",
        run: Mapping[str, Any] | None = None,
    ) -> None:
        self.epochs, self.predictions, self.part, self.policy = epochs, predictions, part, policy
        self.baseline, self.run = baseline, run or {}
        self.evaluation = Evaluation([_kept(epoch, policy, predictions) for epoch in epochs])
        rows, built = self.evaluation.rows, self.evaluation.rows.built
        self.dataset, self.is_sample = built.dataset.name, built.is_sample
        self.name, self.task, self.options = rows.name, rows.task, rows.options
        every = [prediction for epoch in epochs for prediction in epoch.predictions.values()]
        self.total = sum(len(epoch.rows.gold) for epoch in epochs)
        reasons = Counter(each[UNREADABLE] for each in every if UNREADABLE in each)
        self.unreadable = dict(sorted(reasons.items()))
        readable = (self.task.without_key(each) for each in every if UNREADABLE not in each)
        self.answer_counts = [count for _, count in Counter(map(repr, readable)).most_common()]
        digest = "".join(_digest(epoch.predictions) for epoch in epochs)
        self.provenance = {
            "parley": __version__,
            "version": built.version,
            "rows": rows_digest(built, rows.task),
            "predictions": digest if len(epochs) == 1 else sha256(digest.encode()).hexdigest(),
        }

    def __repr__(self) -> str:
        defined = self.score.numbers.items()
        numbers = [f"{' '.join(path)} {value:.4g}" for path, value in defined]
        return f"<score of {self.dataset} {self.name}, {self.predictions}: {few(numbers)}>"

    @property
    def score(self) -> Score:
        """The metrics."""
        return self.evaluation.score

    @property
    def intervals(self) -> dict[str, Any]:
        """The 95% intervals, named as the metrics."""
        of_metrics = self.evaluation.metrics.items()
        return tree({path: of for path, metric in of_metrics if (of := metric.interval)})

    @property
    def without_interval(self) -> dict[Names, str]:
        """The defined metrics that have no interval, each with the reason."""
        found, declared = dict[Names, str](), self.score.without_interval
        for path in self.score.numbers:
            metric = self.evaluation.metrics[path]
            if not metric.interval:
                reasons = [declared[name] for name in path if name in declared]
                found[path] = (*reasons, _without_interval(metric))[0]
        return found

    @property
    def clusters(self) -> dict[str, int]:
        """The kinds of clusters that the intervals are over, and the number of each."""
        of_kinds = self.evaluation.rows.clusters.items()
        return {kind: sum(map(bool, clusters)) for kind, clusters in of_kinds if kind}

    @property
    def references(self) -> tuple[Reference, ...]:
        """The references, each of its own rows."""
        scores = measured(self.evaluation.rows.built.dataset).scores.get(self.name, {})
        references = self.task.with_measured(scores).references
        return tuple(r for r in references if r.options.items() <= self.options.items())

    @property
    def subset(self) -> str | None:
        """The scored rows as references name them: a subset, "" for all, None for another part."""
        is_dropped = self.policy == DROP and self.unreadable
        return None if is_dropped or self.part != Part(self.part.subset) else self.part.subset

    @property
    def coverage(self) -> float:
        """The share of predictions that are readable, from 0 to 1."""
        return (self.total - sum(self.unreadable.values())) / self.total

    @property
    def under_own_names(self) -> int:
        """The unreadable answers that have the names of a file, and not those asked for."""
        return sum(
            UNREADABLE not in self.task.read(epoch.texts.get(key, ""), by_own=True)
            for epoch in self.epochs
            for key, prediction in epoch.predictions.items()
            if prediction.get(UNREADABLE) == NO_ANSWER
        )

    @property
    def is_uniform(self) -> bool:
        """Whether one answer stands for nearly all questions, and no right answer does."""
        gold, right_of = self.evaluation.rows.gold.values(), self.task.right
        right = Counter(repr(of) for value in gold if (of := right_of(value)) is not None)
        most = max(right.values(), default=0) / len(gold)
        count, least = sum(self.answer_counts), max(_NEARLY_ALL, most + 1 / _MANY)
        return count >= _MANY and self.answer_counts[0] / count >= least

    @property
    def wrong_references(self) -> list[Problem]:
        """Numbers of a baseline's reference that differ from its score, on real data."""
        problems, metrics = [], flat(self.score.metrics)
        is_whole = not self.is_sample and self.part == ALL
        for reference in self.references if is_whole else ():
            if reference.place != MEASURED or reference.name != self.baseline:
                continue
            has_its_options = self.options == self.task.chosen(reference.options)
            for path, number in flat(reference.metrics).items():
                if path not in metrics and not has_its_options:
                    continue  # other options may leave out groups of a reference
                value = self.score.numbers.get(path)
                if value is None or not agrees(number, value):
                    found = str(metrics.get(path))
                    problems.append(Problem(" ".join((reference.name, *path)), number, found))
        return problems

    def save(self, path: Path, overwrite: bool = False) -> None:
        """Write the predictions, each beside the raw answer that it was read from.

        A line of several epochs has its number. OutputError for a file there without `overwrite`.
        """
        lines = []
        for number, epoch in enumerate(self.epochs, 1):
            number_of_line = {EPOCH: number} if len(self.epochs) > 1 else {}
            for key, prediction in epoch.predictions.items():
                text = {ANSWER: epoch.texts[key]} if key in epoch.texts else {}
                lines.append({**prediction, **number_of_line, **text})
        write(path, self.task, lines, overwrite)

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON: an undefined metric is null, and has a reason."""
        metrics = flat(self.score.metrics).items()
        reasons = {path: m.reason for path, m in metrics if isinstance(m, Undefined)}
        return {
            "dataset": self.dataset,
            "task": self.name,
            "options": dict(self.options),
            "predictions": self.predictions,
            "sample": self.is_sample,
            "subset": self.part.subset,
            "ids": sorted(self.part.ids),
            "pilot": self.part.limit,
            "ends": self.task.ends_in_words,
            "lower_is_better": [*self.task.lower],
            **as_numbers(self.evaluation.metrics),
            "undefined": tree(reasons),
            "without_interval": tree(self.without_interval),
            "clusters": self.clusters,
            "epochs": len(self.epochs),
            "counts": dict(self.score.counts),
            "calibration": [vars(each) for each in self.score.calibration],
            "unreadable": dict(self.unreadable),
            "under_own_names": self.under_own_names,
            "coverage": self.coverage,
            "distinct_answers": len(self.answer_counts),
            "policy": self.policy,
            "wrong_references": list(map(str, self.wrong_references)),
            "references": [
                {
                    "name": reference.name,
                    "place": reference.place,
                    "note": reference.note,
                    "rows": reference.rows,
                    "rule": reference.rule,
                    "metrics": tree({p: float(v) for p, v in flat(reference.metrics).items()}),
                }
                for reference in self.references
            ],
            "provenance": dict(self.provenance),
            "run": dict(self.run),
        }


def score(
    built: BuiltFolder,
    name: str,
    options: Mapping[str, str | None],
    *,
    file: str = "",
    baseline: str = "",
    predictions: Iterable[Any] | None = None,
    part: Part = ALL,
    policy: str = WRONG,
) -> Result:
    """Score a file of predictions ("-": standard input), a baseline, or `predictions`.

    `options` are the task's own; one that is lacking has its default. Predictions of keys outside
    `part` are left out. `policy` is one of `POLICIES`. ScriptError if the task fails; else it
    raises what `parley.score` does.
    """
    task = built.dataset.task(name)
    chosen = task.chosen(options)
    require_known("parley score", "--unreadable", policy, POLICIES)
    if baseline:
        require_known(f"{built.dataset.name} {name}", "baseline", baseline, task.baselines)
    if [bool(file), bool(baseline), predictions is not None].count(True) != 1:
        raise UsageError(f"{name} scores either predictions or a baseline")
    gold, others = load_gold(built, name, chosen, part)
    source = f"baseline {baseline}" if baseline else file or "predictions"
    source = "standard input" if source == "-" else source
    rows = TaskRows(built, name, chosen, gold, is_part=bool(others))
    if predictions is not None:  # whose errors are the caller's
        valid = validate_predictions(predictions, task, gold, "the predictions", others)
        epochs = [Epoch(rows, valid)]
    else:
        with running(built):
            if file:
                found = read(file, task, gold, others, _remedy(built, task, chosen))
                epochs = [Epoch(rows, *of_epoch) for of_epoch in zip(*found, strict=True)]
            else:
                arguments = task.subset(part.subset).arguments
                answers = task.baselines[baseline](built, **chosen, **arguments)
                place = f"the baseline {baseline} of {script_of(built)}"
                epochs = [Epoch(rows, validate_predictions(answers, task, gold, place, others))]
    part = replace(part, limit=min(part.limit, len(gold)) if others else 0)
    return Result(epochs, source, part, policy, baseline=baseline)


def as_numbers(metrics: Mapping[Names, Metric]) -> dict[str, Any]:
    """Return metrics for JSON, null where undefined, and the 95% intervals of those with one."""
    values = {n: None if math.isnan(m.value) else m.value for n, m in metrics.items()}
    intervals = {n: vars(of) for n, m in metrics.items() if (of := m.interval)}
    return {"metrics": tree(values), "intervals": tree(intervals)}


def _without_interval(metric: Metric) -> str:
    """Return why a metric has no interval."""
    if any(math.isnan(shift) for spread in metric.spreads for shift in spread.shifts):
        return "without a cluster it is undefined"
    if metric.error > 1e-12 * max(1.0, abs(metric.value)):
        return f"it is no mean over rows, and of fewer than {metric.few} rows"
    return "no two clusters move it"


def measured_scores(built: BuiltFolder) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the metrics of the baselines that tasks have as references, as a table prints them.

    The keys are a task's name, then the baseline's with the options. Raises as `score`.
    """
    scores: dict[str, dict[str, dict[str, Any]]] = {}
    for name, task in built.dataset.tasks.items():
        for key, reference in task.measured().items():
            result = score(built, name, reference.options, baseline=reference.name)
            numbers = result.score.numbers.items()
            texts = {path: f"{value:.{task.decimals}f}" for path, value in numbers}
            scores.setdefault(name, {})[key] = tree(texts)
    return scores


def _kept(epoch: Epoch, policy: str, of: str) -> Epoch:
    """Return the rows and predictions that are scored by a policy; `of` names the predictions."""
    readable = {key for key, fields in epoch.predictions.items() if UNREADABLE not in fields}
    if policy != DROP or len(readable) == len(epoch.predictions):
        return epoch
    if not readable:
        count = len(epoch.predictions)
        what = f"{of}: none of {count:,} predictions is readable, so none is left to score"
        raise UsageError(what, remedy="Count them as wrong: --unreadable wrong.")
    return epoch.within(readable)


def _digest(predictions: Predictions) -> str:
    """Return the sha256 of predictions as lines of JSON: sorted keys, no spaces, gold's order."""
    digest = sha256()
    for prediction in predictions.values():
        line = json.dumps(prediction, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()


def _remedy(built: BuiltFolder, task: Task, options: Mapping[str, str]) -> str:
    """Return the remedy for a file of predictions with missing or unknown keys."""
    sentences = []
    for name, value in options.items():
        others = " or ".join(other for other in task.options[name] if other != value)
        sentences.append(f"`{name}` is {value}; for another value: --set {name}={others}.")
    if built.is_sample:
        sentences.append(f"{built.path} is a build of the sample, not of the dataset.")
    return " ".join(sentences)
