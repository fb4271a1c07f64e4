"""Compare the logs of several models: scores, paired differences, tokens and cost."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from parley.asking.log import is_log, read_log
from parley.asking.score import facts_of, is_older, open_log
from parley.asking.variants import variant_of
from parley.base.errors import Problem, UsageError
from parley.building.built import BuiltFolder, find_folder
from parley.building.collection import get
from parley.declaring.prediction_formats import UNREADABLE
from parley.declaring.spread import RESAMPLES, Interval, interval
from parley.declaring.tasks import Task, tree
from parley.scoring.compare import Difference, Names, Rows, holm, intervals, p_value
from parley.scoring.gold import Part, rows_digest
from parley.scoring.predictions import validate_predictions

Prices = Mapping[str, tuple[float, float]]
"""Model, "" for every other -> the price of a million tokens that it reads, and that it writes."""
Header = Mapping[str, Any]
Entries = Mapping[Any, Mapping[str, Any]]
Advance = Callable[[str, int, int], None]  # takes what is computed, the samples done, and all
_MILLION = 1_000_000
_ASKED = ("version", "rows", "subset", "limit", "asking", "questions", "turns")


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
            differences. Or why it has no metrics: rows other than the build's, swapped seats.
        units: The number of units that its intervals draw.
        metrics: Name -> value, NaN if undefined.
        intervals: Name -> the 95% interval.
        differences: Name -> its metric minus that of the first log.
    """

    path: Path
    label: str
    facts: Mapping[str, Any]
    unreadable: int
    cost: float | None
    differs: tuple[Problem, ...] = ()
    units: int = 0
    metrics: Mapping[Names, float] = field(default_factory=dict)
    intervals: Mapping[Names, Interval] = field(default_factory=dict)
    differences: Mapping[Names, Difference] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """The logs of a task with the same options, in the order given."""

    dataset: str
    name: str
    task: Task
    options: Mapping[str, str]
    logs: tuple[Compared, ...]

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
            "resamples": RESAMPLES,
            "first": self.first and str(self.first.path),
            "logs": [
                {
                    "log": str(each.path),
                    "label": each.label,
                    "differs": list(map(str, each.differs)),
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
    prices: Prices,
    metrics: Collection[str] = (),
    advance: Advance = lambda text, done, total: None,
) -> list[Table]:
    """Return a table for each task, and choice of its options, of logs.

    Each log is compared with the first one of its table. Without names of metrics they are those
    outside groups, or all if there are no others. The differences of a table are the family of
    Holm's correction.

    Args:
        folder: The folder of builds.
        paths: Logs of `parley ask`, or folders of them; one that is named again counts once.
        prices: The prices of tokens.
        metrics: Metrics or groups of them: "f1", "f1_by_label", "person.en ed".
        advance: Takes what is computed, the samples done, and all of them.

    Raises:
        UsageError: a file is no log, a folder has none, or no log has a metric.
        RecordError: a log is damaged, or does not answer all its questions.
    """
    groups: dict[Any, list[tuple[Path, Header, Entries]]] = {}
    for path in dict.fromkeys(_files(paths)):
        if not is_log(str(path)):
            raise UsageError(f"{path}: is no log", remedy="Name logs that `parley ask` wrote.")
        header, entries = read_log(path)
        of = header["dataset"], header["task"], *sorted(header["options"].items())
        groups.setdefault(of, []).append((path, header, entries))
    begun = []
    for (dataset, name, *_), given in groups.items():
        built = find_folder(folder, get(dataset))
        logs = {
            path: _Scored(built, name, path, header)
            for path, header, _ in given
            if not _apart(built, name, header)
        }
        begun.append((built, name, given, logs))
    scored = [log for *_, logs in begun for log in logs.values()]
    named = dict.fromkeys(names for log in scored for names in log.numbers)
    if unknown := [each for each in metrics if not any(each in _ways(names) for names in named)]:
        there = ", ".join(".".join(names) for names in named)
        raise UsageError(f"--metric {unknown[0]}: no such metric; there are: {there}")
    tables = []
    for built, name, given, logs in begun:
        found = _against_first([*logs.values()], metrics, advance)
        rows = [
            _row(built, name, each, label, found.get(each[0]), prices)
            for each, label in zip(given, _labels(given, built.dataset.task(name)), strict=True)
        ]
        task, options = built.dataset.task(name), dict(given[0][1]["options"])
        tables.append(Table(built.dataset.name, name, task, options, tuple(rows)))
    return tables


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield logs and those of folders, by name."""
    for path in paths:
        files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
        if not files:
            raise UsageError(f"{path}: has no logs; they end in .jsonl")
        yield from files


class _Scored:
    """The predictions of a log and their metrics."""

    def __init__(self, built: BuiltFolder, name: str, path: Path, header: Header) -> None:
        log = open_log(built, name, {}, path, Part())
        of, given = log.questions, log.predictions.values()
        self.path, self.header = path, header
        self.predictions = validate_predictions(given, of.task, of.gold, str(path))
        self.rows = Rows(built, name, of.options, of.gold, of.part)
        self.numbers = self.rows.numbers(self.predictions)

    def chosen(self, metrics: Collection[str]) -> dict[Names, float]:
        """Return the metrics that are shown."""
        is_plain = any(len(names) == 1 for names in self.numbers)
        return {
            names: value
            for names, value in self.numbers.items()
            if ({*metrics} & {*_ways(names)} if metrics else len(names) == 1 or not is_plain)
        }

    def differs(self, first: "_Scored") -> tuple[Problem, ...]:
        """Return where it differs from the first log of its table in what was asked.

        Examples and another system text make other questions, which their labels state.
        """
        is_same = variant_of(self.header) == variant_of(first.header)
        due = [name for name in _ASKED if is_same or name != "questions"]
        both = {name: [log.header.get(name) for log in (self, first)] for name in due}
        return tuple(
            Problem(name, what=f"{own}, but {other} in {first.path}")
            for name, (own, other) in both.items()
            if own != other
        )


def _against_first(
    logs: Sequence[_Scored], metrics: Collection[str], advance: Advance
) -> dict[Path, dict[str, Any]]:
    """Return what a table shows of each log: fields of `Compared`."""
    found: dict[Path, dict[str, Any]] = {}
    first: Any = None
    for log in logs:
        if not (chosen := log.chosen(metrics)):
            found[log.path] = {}
            continue
        tell = partial(advance, f"{log.path.stem}: intervals")
        samples = log.rows.samples(log.predictions, tell)
        first = first or (log, samples)
        differs = log.differs(first[0])
        spread = intervals({names: samples[names] for names in chosen})
        compared: dict[Names, Difference] = {}
        if log is not first[0] and not differs:
            tell = partial(advance, f"{log.path.stem}: differences")
            swapped = log.rows.swapped(log.predictions, first[0].predictions, tell)
            for names in [each for each in chosen if each in first[0].numbers]:
                by = chosen[names] - first[0].numbers[names]
                drawn = interval(samples[names] - first[1][names])
                p = p_value(by, swapped[names], len(log.rows.units))
                compared[names] = Difference(_known(by), drawn, p)
        found[log.path] = {"differs": differs, "units": len(log.rows.units), "metrics": chosen}
        found[log.path] |= {"intervals": spread, "differences": compared}
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


def _row(
    built: BuiltFolder,
    name: str,
    log: tuple[Path, Header, Entries],
    label: str,
    found: Mapping[str, Any] | None,
    prices: Prices,
) -> Compared:
    """Return a log for a table."""
    path, header, entries = log
    if found is None:
        found = {"differs": _apart(built, name, header)}
    unread = sum(UNREADABLE in entry for entry in entries.values())
    facts = facts_of(header, entries, built.dataset.task(name).asking)
    return Compared(path, label, facts, unread, _cost(header, entries, prices), **found)


def _apart(built: BuiltFolder, name: str, header: Header) -> tuple[Problem, ...]:
    """Return why a log has no metrics in a table."""
    if header["rows"] != (due := rows_digest(built, built.dataset.task(name))):
        return (Problem("rows", due, header["rows"], f"of other rows than {built.path}"),)
    if header.get("swap"):
        what = "seats are swapped, so its own score compares its models: `parley score`"
        return (Problem("swap", what=what),)
    return ()


def _ways(names: Names) -> Iterator[str]:
    """Yield how a metric may be named: with each of its groups, or whole."""
    return (".".join(names[: end + 1]) for end in range(len(names)))


def _labels(logs: Sequence[tuple[Path, Header, Entries]], task: Task) -> list[str]:
    """Return the names of the models, with that of the log where two are alike."""
    found = [_label(header, task) for _, header, _ in logs]
    return [
        f"{label} ({path.stem})" if found.count(label) > 1 else label
        for label, (path, *_) in zip(found, logs, strict=True)
    ]


def _label(header: Header, task: Task) -> str:
    """Return the models of a log, with their sides if it is a game, and older questions."""
    models, asking = header["models"].items(), task.asking
    label = ", ".join(f"{role}={model}" if role else model for role, model in models)
    label = ", ".join([label, *filter(None, variant_of(header).names)])
    is_old = asking and is_older(header, asking)
    return f"{label}, questions {header['asking']}" if is_old else label


def _cost(header: Header, entries: Entries, prices: Prices) -> float | None:
    """Return the cost of all calls of a log, None without a price for each model."""
    total = 0.0
    for entry in entries.values():
        for call in entry["calls"]:
            model = header["models"].get(call.get("role", ""), "")
            tokens = call["prompt_tokens"], call["completion_tokens"]
            if not any(tokens):
                continue
            price = prices.get(model, prices.get(""))
            if price is None:
                return None
            total += sum(count * each for count, each in zip(tokens, price, strict=True)) / _MILLION
    return total if prices else None
