"""Compare the logs of several models: scores, paired differences, tokens and cost."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from parley.asking.log import is_log, read_log, seat_of
from parley.asking.score import facts_of, is_older, open_log
from parley.asking.variants import variant_of
from parley.base.errors import Problem, RecordError, UsageError, require_known
from parley.building.built import BuiltFolder, find_folder
from parley.building.collection import get
from parley.declaring.prediction_formats import UNREADABLE
from parley.declaring.questions import Playing
from parley.declaring.spread import RESAMPLES, Interval
from parley.declaring.tasks import Task, tree
from parley.scoring.compare import Difference, Names, Rows, holm, intervals, paired
from parley.scoring.evaluate import POLICIES, WRONG, scored_rows
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
    unreadable: int
    cost: float | None
    differs: tuple[Problem, ...] = ()
    settings: tuple[Problem, ...] = ()
    units: int = 0
    metrics: Mapping[Names, float] = field(default_factory=dict)
    intervals: Mapping[Names, Interval] = field(default_factory=dict)
    differences: Mapping[Names, Difference] = field(default_factory=dict)

    @property
    def coverage(self) -> float:
        """The share of answers that could be read, from 0 to 1; 0 without an answer."""
        asked = self.facts["asked"]
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
            "resamples": RESAMPLES,
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
    prices: Prices,
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
        paths: Logs of `parley ask`, or folders of them; one that is named again counts once.
        prices: The prices of tokens.
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
    groups: dict[Any, list[tuple[Path, Header, Entries]]] = {}
    for path in _files(paths):
        try:
            if not is_log(str(path)):
                raise UsageError(f"{path}: is no log", remedy="Name logs that `parley ask` wrote.")
            header, entries = read_log(path)
        except (UsageError, RecordError) as error:
            if path in paths:
                raise
            leave_out(error.message)
            continue
        of = header["dataset"], header["task"], *sorted(header["options"].items())
        groups.setdefault(of, []).append((path, header, entries))
    begun = []
    for (dataset, name, *_), given in groups.items():
        built = find_folder(folder, get(dataset))
        logs, apart = dict[Path, _Scored](), dict[Path, tuple[Problem, ...]]()
        for path, stated, _ in given:
            if why := _apart(built, name, stated):
                apart[path] = why
                continue
            try:
                logs[path] = _Scored(built, name, path, stated, policy)
            except (UsageError, RecordError) as error:
                if path in paths:
                    raise
                apart[path] = error.problems or (Problem("", what=error.message),)
        begun.append((built, name, given, logs, apart))
    scored = [log for *_, logs, _ in begun for log in logs.values()]
    named = dict.fromkeys(names for log in scored for names in log.numbers)
    if unknown := [each for each in metrics if not any(each in _ways(names) for names in named)]:
        there = ", ".join(".".join(names) for names in named)
        raise UsageError(f"--metric {unknown[0]}: no such metric; there are: {there}")
    tables = []
    for built, name, given, logs, apart in begun:
        task, chosen = built.dataset.task(name), dict(given[0][1]["options"])
        found = _against_first([*logs.values()], metrics, advance)
        found |= {path: {"differs": why} for path, why in apart.items()}
        rows = [
            _row(task, each, label, found[each[0]], prices)
            for each, label in zip(given, _labels(given, task), strict=True)
        ]
        tables.append(Table(built.dataset.name, name, task, chosen, tuple(rows), policy))
    return tables


def _files(paths: Sequence[Path]) -> list[Path]:
    """Return logs and those of folders, by name, each once."""
    found: dict[Path, None] = {}
    for path in paths:
        files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
        if not any(is_log(str(file)) for file in files) and path.is_dir():
            raise UsageError(f"{path}: has no logs; they end in .jsonl")
        found |= dict.fromkeys(files)
    return [*found]


class _Scored:
    """The predictions of a log and their metrics."""

    def __init__(
        self, built: BuiltFolder, name: str, path: Path, header: Header, policy: str
    ) -> None:
        log = open_log(built, name, {}, path, Part())
        of, given = log.questions, log.predictions.values()
        self.path, self.header = path, header
        found = validate_predictions(given, of.task, of.gold, str(path))
        gold, self.predictions, part = scored_rows(of.gold, found, of.part, policy, str(path))
        self.rows = Rows(built, name, of.options, gold, part)
        self.numbers = self.rows.numbers(self.predictions)

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
        is_same = variant_of(self.header) == variant_of(first.header)
        due = [name for name in _ASKED if is_same or name != "questions"]
        own, other = ({name: log.header.get(name) for name in due} for log in (self, first))
        return _unlike(own, other, first.path)

    def settings(self, first: "_Scored") -> tuple[Problem, ...]:
        """Return where the settings of its calls differ from those of the first log."""
        return _unlike(_settings(self.header), _settings(first.header), first.path)


def _settings(header: Header) -> dict[str, Any]:
    """Return the settings of the calls of a log; an absent field is None, as one left out."""
    return {
        **{f"sampling.{name}": value for name, value in header["sampling"].items()},
        "schema": header["schema"],
        "ask again": header.get("ask_again", False),
        "repeat": header.get("repeat", 1),
        "mode": {role: mode for role, mode in header.get("mode", {}).items() if mode},
    }


def _unlike(own: Header, other: Header, path: Path) -> tuple[Problem, ...]:
    """Return where settings differ from those of the log at `path`."""
    return tuple(
        Problem(name, what=f"{own.get(name)}, but {other.get(name)} in {path}")
        for name in {**own, **other}
        if own.get(name) != other.get(name)
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
            names = [each for each in chosen if each in first[0].numbers]
            compared = _differences(log, first[0], names, (samples, first[1]), tell)
        found[log.path] = {"differs": differs, "units": len(log.rows.units), "metrics": chosen}
        found[log.path] |= {"intervals": spread, "differences": compared}
        found[log.path]["settings"] = log.settings(first[0])
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


def _differences(
    log: _Scored,
    first: _Scored,
    names: Collection[Names],
    samples: tuple[Mapping[Names, Any], Mapping[Names, Any]],
    tell: Callable[[int, int], None],
) -> dict[Names, Difference]:
    """Return metrics of a log minus those of the first, each over the same rows in both."""
    rows, both = log.rows, (log.predictions, first.predictions)
    told, of_first = map(rows.told, both)
    if both[0].keys() != both[1].keys():  # unreadable answers are dropped
        apart = {*names}
    elif told == of_first or len(rows) == 1:
        return paired(rows, *both, names, samples, tell)
    else:
        is_not_0 = {each for each in names if log.numbers[each] or first.numbers[each]}
        apart = rows.over_told(both) & is_not_0
    of_all = [each for each in names if each not in apart]
    found = paired(rows, *both, of_all, samples, tell) if of_all else {}
    common = rows.within(told & of_first)
    if apart and len(common):
        drawn = common.samples(both[0], tell), common.samples(both[1], tell)
        alike = paired(common, *both, apart, drawn, tell)
        found |= {each: replace(by, rows=len(common)) for each, by in alike.items()}
    elif apart:
        found |= dict.fromkeys(apart, Difference(None, rows=0))
    return {each: found[each] for each in names}


def _row(
    task: Task,
    log: tuple[Path, Header, Entries],
    label: str,
    found: Mapping[str, Any],
    prices: Prices,
) -> Compared:
    """Return a log for a table."""
    path, header, entries = log
    unread = sum(UNREADABLE in entry for entry in entries.values())
    facts = facts_of(header, entries, task.asking)
    cost = _cost(task, header, entries, prices)
    return Compared(path, label, facts, unread, cost, **found)


def _apart(built: BuiltFolder, name: str, header: Header) -> tuple[Problem, ...]:
    """Return why a log has no metrics in a table."""
    if header["rows"] != (due := rows_digest(built, built.dataset.task(name))):
        return (Problem("rows", due, header["rows"], f"of other rows than {built.path}"),)
    if header.get("swap"):
        what = "sides are swapped, so its own score compares its models: `parley score`"
        return (Problem("swap", what=what),)
    return ()


def _ways(names: Names) -> Iterator[str]:
    """Yield how a metric may be named: with each of its groups, or whole."""
    return (".".join(names[: end + 1]) for end in range(len(names)))


def _labels(logs: Sequence[tuple[Path, Header, Entries]], task: Task) -> list[str]:
    """Return the names of the models; where two are alike, with that of the log, or its path."""
    found = labels = [_label(header, task) for _, header, _ in logs]
    ways: tuple[Callable[[Path], object], ...] = (
        lambda path: path.stem,
        lambda path: Path(path.parent.name, path.stem),
        str,
    )
    for way in ways:
        if len({*labels}) == len(labels):
            break
        labels = [
            f"{label} ({way(path)})" if found.count(label) > 1 else label
            for label, (path, *_) in zip(found, logs, strict=True)
        ]
    return labels


def _label(header: Header, task: Task) -> str:
    """Return the models of a log, with their sides if it is a game, and older questions."""
    models, asking = header["models"].items(), task.asking
    label = ", ".join(f"{role}={model}" if role else model for role, model in models)
    label = ", ".join([label, *filter(None, variant_of(header).names)])
    is_old = asking and is_older(header, asking)
    return f"{label}, questions {header['asking']}" if is_old else label


def _cost(task: Task, header: Header, entries: Entries, prices: Prices) -> float | None:
    """Return the cost of all calls of a log, None without a price for each model."""
    total, models = 0.0, header["models"]
    for key, entry in entries.items():
        for call in entry["calls"]:
            model = models.get(seat_of(task, models, key, call.get("role", "")), "")
            tokens = call["prompt_tokens"], call["completion_tokens"]
            if not any(tokens):
                continue
            price = prices.get(model, prices.get(""))
            if price is None:
                return None
            total += sum(count * each for count, each in zip(tokens, price, strict=True)) / _MILLION
    return total if prices else None
