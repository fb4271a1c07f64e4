"""Compare models by their logs: scores, paired differences, tokens and cost."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from parley.base.errors import Problem, RecordError, UsageError, require_known
from parley.building.built import BuiltFolder, find_folder
from parley.building.collection import get
from parley.declaring.prediction_formats import UNREADABLE
from parley.declaring.questions import Playing
from parley.declaring.tasks import Task, tree
from parley.models.logs import AnsweredLog, is_log, open_log, read_log
from parley.models.score import scored_epoch
from parley.scoring.compare import Difference, Measured, holm, paired_differences
from parley.scoring.evaluate import POLICIES, WRONG, intervals_of
from parley.scoring.gold import rows_digest
from parley.scoring.intervals import Interval
from parley.scoring.rows import Names

Advance = Callable[[str, int, int], None]  # takes what is computed, the scores done, and all
_ASKED = ("asking", "questions", "turns")


@dataclass(frozen=True)
class Compared:
    """A log in a table.

    Args:
        path: The log.
        label: The model, or SIDE=MODEL of a game; with the name of the log if two are alike.
        facts: Models, calls, tokens and seconds, as `parley score` has them.
        unreadable: The number of answers that could not be read.
        cost: In the unit of the prices; None without a price for each model.
        differs: Where it differs from the first log of the table in what was asked; then it has no
            differences. Or why it has no metrics: rows other than the build's, swapped sides,
            questions that are not answered.
        settings: Where the settings of its calls differ from those of the first log.
        units: The number of units that its intervals draw.
        metrics: Name -> value, NaN if undefined.
        intervals: Name -> the 95% interval.
        differences: Name -> its metric minus that of the first log.
    """

    path: Path
    label: str
    facts: Mapping[str, Any]
    unreadable: int = 0
    cost: float | None = None
    differs: tuple[Problem, ...] = ()
    settings: tuple[Problem, ...] = ()
    units: int = 0
    metrics: Mapping[Names, float] = field(default_factory=dict)
    intervals: Mapping[Names, Interval] = field(default_factory=dict)
    differences: Mapping[Names, Difference] = field(default_factory=dict)

    @property
    def coverage(self) -> float:
        """The share of answers that could be read, from 0 to 1; 0 without an answer."""
        asked = self.facts.get("asked", 0)
        return (asked - self.unreadable) / asked if asked else 0.0


@dataclass(frozen=True)
class Table:
    """The logs of a task with the same options, in the order given."""

    dataset: str
    name: str
    task: Task
    options: Mapping[str, str]
    logs: tuple[Compared, ...]
    policy: str = WRONG

    @property
    def first(self) -> Compared | None:
        """The log that the others are compared with: the first with metrics."""
        return next((each for each in self.logs if each.metrics), None)

    def as_dict(self) -> dict[str, Any]:
        """Return it for JSON; a number that is undefined is null."""
        return {
            "dataset": self.dataset,
            "task": self.name,
            "options": dict(self.options),
            "unit": self.task.unit,
            "drawn": self.task.key[0],
            "policy": self.policy,
            "first": self.first and str(self.first.path),
            "logs": [
                {
                    "log": str(each.path),
                    "label": each.label,
                    "differs": list(map(str, each.differs)),
                    "settings": list(map(str, each.settings)),
                    "units": each.units,
                    "metrics": tree({n: _known(value) for n, value in each.metrics.items()}),
                    "intervals": tree({n: vars(found) for n, found in each.intervals.items()}),
                    "differences": tree(
                        {
                            names: vars(found)
                            | {"interval": found.interval and vars(found.interval)}
                            for names, found in each.differences.items()
                        }
                    ),
                    "unreadable": each.unreadable,
                    "coverage": each.coverage,
                    "cost": each.cost,
                    "run": dict(each.facts),
                }
                for each in self.logs
            ],
        }


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def compare(
    folder: Path,
    paths: Sequence[Path],
    metrics: Collection[str] = (),
    advance: Advance = lambda text, done, total: None,
    leave_out: Callable[[str], None] = lambda text: None,
    policy: str = WRONG,
) -> list[Table]:
    """Return a table for each task, and choice of its options, of logs.

    Each log is compared with the first one of its table. Without names of metrics they are those
    outside groups, or all if there are no others; of a game also points, and not the unreadable,
    which a log of it has none of. The differences of a table are the family of Holm's correction.

    Args:
        folder: The folder of builds.
        paths: Logs of inspect, or folders of them; one that is named again counts once.
        metrics: Metrics or groups of them: "f1", "f1_by_label", "person.en ed".
        advance: Takes what is computed, the samples done, and all of them.
        leave_out: Takes why a file of a folder is in no table.
        policy: What an unreadable answer is, one of `POLICIES`. Where they are dropped, a log is
            scored on the rows that it answers, and two are compared on those that both answer.

    Raises:
        UsageError: a file is no log, a folder has none, no log has a metric, or there is no such
            policy.
        RecordError: a log that is named is damaged, or does not answer all its questions.
    """
    require_known("parley compare", "--unreadable", policy, POLICIES)
    groups: dict[Any, list[tuple[Path, Mapping[str, Any]]]] = {}
    for path in _files(paths):
        try:
            if not is_log(str(path)):
                raise UsageError(f"{path}: is no log", remedy="Name logs that `inspect` wrote.")
            stated = read_log(path, header_only=True).eval.metadata
        except (UsageError, RecordError) as error:
            if path in paths:
                raise
            leave_out(error.message)
            continue
        of = stated["dataset"], stated["task"], *sorted(stated["options"].items())
        groups.setdefault(of, []).append((path, stated))
    begun = []
    for (dataset, name, *options), given in groups.items():
        built = find_folder(folder, get(dataset))
        logs, apart = dict[Path, _Scored](), dict[Path, tuple[Problem, ...]]()
        for path, stated in given:
            if why := _apart(built, name, stated):
                apart[path] = why
                continue
            try:
                log = open_log(built, name, {}, path)
                logs[path] = _Scored(log, policy, partial(advance, f"{path.stem}: intervals"))
            except (UsageError, RecordError) as error:
                if path in paths:
                    raise
                apart[path] = error.problems or (Problem("", what=error.message),)
        begun.append((built, name, dict(options), [path for path, _ in given], logs, apart))
    scored = [log for *_, logs, _ in begun for log in logs.values()]
    named = dict.fromkeys(names for log in scored for names in log.numbers)
    if unknown := [each for each in metrics if not any(each in _ways(names) for names in named)]:
        there = ", ".join(".".join(names) for names in named)
        raise UsageError(f"--metric {unknown[0]}: no such metric; there are: {there}")
    tables = []
    for built, name, options, order, logs, apart in begun:
        found = _against_first([*logs.values()], metrics)
        rows = [
            Compared(path, path.stem, {}, differs=apart[path])
            if path in apart
            else _row(logs[path], found[path])
            for path in order
        ]
        labels = _labels(rows)
        rows = [replace(row, label=label) for row, label in zip(rows, labels, strict=True)]
        task = built.dataset.task(name)
        tables.append(Table(built.dataset.name, name, task, options, tuple(rows), policy))
    return tables


def _files(paths: Sequence[Path]) -> list[Path]:
    """Return logs and those of folders, by name, each once."""
    found: dict[Path, None] = {}
    for path in paths:
        files = [path]
        if path.is_dir():
            files = [each for each in sorted(path.iterdir()) if is_log(str(each))]
            if not files:
                raise UsageError(f"{path}: has no logs of inspect; they end in .eval or .json")
        found |= dict.fromkeys(files)
    return [*found]


class _Scored:
    """The predictions of a log and their metrics."""

    def __init__(self, log: AnsweredLog, policy: str, advance: Callable[[int, int], None]) -> None:
        self.log = log
        epochs = [scored_epoch(log.questions, each, policy) for each in log.epochs]
        self.measured = Measured(epochs, advance)
        self.rows = self.measured.rows
        self.numbers = {names: each.value for names, each in self.measured.metrics.items()}

    def chosen(self, metrics: Collection[str]) -> dict[Names, float]:
        """Return the metrics that are shown."""
        if metrics:
            return {n: value for n, value in self.numbers.items() if {*metrics} & {*_ways(n)}}
        is_game = isinstance(self.rows.task.asking, Playing)
        shown = {
            names: value
            for names, value in self.numbers.items()
            if (names[0] == "points" if is_game and names[1:] else len(names) == 1)
            if not (is_game and names == (UNREADABLE,))
        }
        return shown or self.numbers

    def differs(self, first: "_Scored") -> tuple[Problem, ...]:
        """Return where it differs from the first log of its table in what was asked.

        Examples and another system text make other questions, which their labels state.
        """
        is_same = self.log.questions.variant == first.log.questions.variant
        due = [name for name in _ASKED if is_same or name != "questions"]
        own, other = ({name: each.log.facts.get(name) for name in due} for each in (self, first))
        parts = ({"part": str(each.log.part)} for each in (self, first))
        return _unlike(own | next(parts), other | next(parts), first.log.path)

    def settings(self, first: "_Scored") -> tuple[Problem, ...]:
        """Return where the settings of its calls differ from those of the first log."""
        own, other = ({**each.log.facts["settings"]} for each in (self, first))
        for settings, log in ((own, self.log), (other, first.log)):
            settings |= {"schema": log.facts.get("schema"), "epochs": len(log.epochs)}
        return _unlike(own, other, first.log.path)


def _unlike(own: Mapping[str, Any], other: Mapping[str, Any], path: Path) -> tuple[Problem, ...]:
    """Return where settings differ from those of the log at `path`."""
    return tuple(
        Problem(name, what=f"{own.get(name)}, but {other.get(name)} in {path}")
        for name in {**own, **other}
        if own.get(name) != other.get(name)
    )


def _against_first(logs: Sequence[_Scored], metrics: Collection[str]) -> dict[Path, dict[str, Any]]:
    """Return what a table shows of each log: fields of `Compared`."""
    found: dict[Path, dict[str, Any]] = {}
    first: Any = None
    for log in logs:
        if not (chosen := log.chosen(metrics)):
            found[log.log.path] = {}
            continue
        first = first or log
        differs = log.differs(first)
        compared: dict[Names, Difference] = {}
        if log is not first and not differs:
            compared = paired_differences(log.measured, first.measured, chosen)
        found[log.log.path] = {
            "differs": differs,
            "units": sum(map(bool, log.rows.units)),
            "metrics": chosen,
            "intervals": intervals_of({names: log.measured.metrics[names] for names in chosen}),
            "differences": compared,
            "settings": log.settings(first),
        }
    tested = [
        (each["differences"], names)
        for each in found.values()
        for names, difference in each.get("differences", {}).items()
        if difference.p is not None
    ]
    adjusted = holm([differences[names].p for differences, names in tested])
    for (differences, names), p in zip(tested, adjusted, strict=True):
        differences[names] = replace(differences[names], p_holm=p)
    return found


def _row(scored: _Scored, found: Mapping[str, Any]) -> Compared:
    """Return a log for a table."""
    log = scored.log
    unread = sum(UNREADABLE in each for epoch in log.epochs for each in epoch.values())
    return Compared(log.path, _label(log), log.facts, unread, log.facts["cost"], **found)


def _apart(built: BuiltFolder, name: str, stated: Mapping[str, Any]) -> tuple[Problem, ...]:
    """Return why a log has no metrics in a table."""
    if stated["rows"] != (due := rows_digest(built, built.dataset.task(name))):
        return (Problem("rows", due, stated["rows"], f"of other rows than {built.path}"),)
    if stated.get("swap"):
        what = "sides are swapped, so its own score compares its models: `parley score`"
        return (Problem("swap", what=what),)
    return ()


def _ways(names: Names) -> Iterator[str]:
    """Yield how a metric may be named: with each of its groups, or whole."""
    return (".".join(names[: end + 1]) for end in range(len(names)))


def _labels(rows: Sequence[Compared]) -> list[str]:
    """Return the labels; where two are alike, with the name of the log, or its path."""
    found = labels = [row.label for row in rows]
    ways: tuple[Callable[[Path], object], ...] = (
        lambda path: path.stem,
        lambda path: Path(path.parent.name, path.stem),
        str,
    )
    for way in ways:
        if len({*labels}) == len(labels):
            break
        labels = [
            f"{label} ({way(row.path)})" if found.count(label) > 1 else label
            for label, row in zip(found, rows, strict=True)
        ]
    return labels


def _label(log: AnsweredLog) -> str:
    """Return the models of a log, with their sides if it is a game, and what else was asked."""
    parts = [", ".join(f"{role}={model}" if role else model for role, model in log.models.items())]
    variant, facts = log.questions.variant, log.facts
    parts += [f"{variant.shots} shots"] * bool(variant.shots)
    parts += [f"prompt {facts.get('prompt', '')[:8]}"] * bool(variant.prompt)
    parts += [f"questions {facts['asking']}"] * ("asking_today" in facts)
    return ", ".join(parts)
