"""Compare models by what they answered: scores, paired differences, tokens and cost."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from parley.base.errors import Problem, RecordError, UsageError, require_known
from parley.building.folder import BuiltFolder, find_folder
from parley.building.registry import get
from parley.models.logs import AnsweredLog, is_log, open_log, read_log
from parley.models.score import scored_epoch
from parley.tasks.compare import Difference, Measured, holm, paired_differences
from parley.tasks.evaluate import POLICIES, WRONG, intervals_of, scored_rows, unreadable_of
from parley.tasks.formats import UNREADABLE
from parley.tasks.games import Playing
from parley.tasks.gold import ALL, Part, load_gold, reading, rows_digest
from parley.tasks.intervals import Interval
from parley.tasks.predictions import read
from parley.tasks.rows import Names, Rows
from parley.tasks.task import Task, task_id


@dataclass
class Compared:
    """A log or a file of predictions in a table; names of metrics -> numbers.

    `differs` says where it differs from the first of the table in what was asked, so that it has no
    differences, or why it has no metrics. `settings` says where its calls differed.
    """

    path: Path
    label: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    asked: int = 0
    unreadable: int = 0
    measured: Measured | None = None
    agreeing: Mapping[str, Any] = field(default_factory=dict)  # in which it must agree with others
    calls: Mapping[str, Any] = field(default_factory=dict)  # their settings
    differs: tuple[Problem, ...] = ()
    settings: tuple[Problem, ...] = ()
    metrics: Mapping[Names, float] = field(default_factory=dict)
    intervals: Mapping[Names, Interval] = field(default_factory=dict)
    differences: Mapping[Names, Difference] = field(default_factory=dict)

    @property
    def units(self) -> int:
        """The number of dialogues that its intervals are over."""
        return sum(map(bool, self.measured.rows.units)) if self.measured and self.metrics else 0

    @property
    def coverage(self) -> float:
        """The share of answers that could be read, from 0 to 1; 0 without an answer."""
        return (self.asked - self.unreadable) / self.asked if self.asked else 0.0


@dataclass(frozen=True)
class Table:
    """The logs and files of a task with the same options, in the order given."""

    dataset: str
    name: str
    task: Task
    options: Mapping[str, str]
    logs: tuple[Compared, ...]
    policy: str = WRONG

    @property
    def first(self) -> Compared | None:
        """The one that the others are compared with: the first with metrics."""
        return next((each for each in self.logs if each.metrics), None)


def compare(
    folder: Path,
    paths: Sequence[Path],
    metrics: Collection[str] = (),
    task: str = "",
    advance: Callable[[str, int, int], None] = lambda text, done, total: None,
    leave_out: Callable[[str], None] = lambda text: None,
    policy: str = WRONG,
) -> list[Table]:
    """Return a table for each task, and choice of its options, of logs and files of predictions.

    Each is compared with the first one of its table. Without names of metrics they are those
    outside groups, or all if there are no others; of a game also points. The differences of a table
    are the family of Holm's correction.

    Args:
        folder: The folder of builds.
        paths: Logs, folders of them, and files, which are scored on the part of the first log.
        metrics: Metrics or groups of them: "f1", "f1_by_label", "person.en ed".
        task: The task of files, as DATASET/TASK or DATASET/TASK-VALUE; "" for that of the logs.
        advance: Takes what is computed, the scores done, and all of them.
        leave_out: Takes why a file of a folder is in no table.
        policy: What an unreadable answer is, one of `POLICIES`. Where they are dropped, a log is
            scored on the rows that it answers, and two are compared on those that both answer.

    Raises:
        UsageError: a folder has no log, the task of a file is unknown, or no log has a metric.
        RecordError: one that is named is damaged, or does not answer all its questions.
    """
    require_known("parley compare", "--unreadable", policy, POLICIES)
    given: dict[Path, Mapping[str, Any]] = {}  # what a log states, nothing of a file
    for path in _files(paths):
        try:
            log = is_log(str(path))
            given[path] = read_log(path, header_only=True).eval.metadata if log else {}
        except (UsageError, RecordError) as error:
            if path in paths:
                raise
            leave_out(error.message)
    tables = []
    for (dataset, name, *options), of in _by_task(given, task).items():
        built = find_folder(folder, get(dataset))
        part = ALL
        rows = {path: Compared(path, path.stem) for path in of}
        for path in sorted(of, key=lambda path: not given[path]):  # the logs, and then the files
            tell = partial(advance, f"{path.stem}: intervals")
            try:
                if not given[path]:
                    rows[path] = _of_file(built, name, dict(options), path, part, policy, tell)
                elif why := _apart(built, name, given[path]):
                    rows[path].differs = why
                else:
                    answered = open_log(built, name, {}, path)
                    part = part if any(row.measured for row in rows.values()) else answered.part
                    rows[path] = _of_log(answered, policy, tell)
            except (UsageError, RecordError) as error:
                if path in paths:
                    raise
                rows[path].differs = error.problems or (Problem("", what=error.message),)
        shown = [*rows.values()]
        _against_first(shown, metrics)
        labels = Counter(row.label for row in shown)
        for row in shown:
            row.label += f" ({row.path})" if labels[row.label] > 1 else ""
        task_of = built.dataset.task(name)
        tables.append(Table(dataset, name, task_of, dict(options), (*shown,), policy))
    shown_ones = {
        way for each in tables for log in each.logs for n in log.metrics for way in _ways(n)
    }
    if unknown := [each for each in metrics if each not in shown_ones]:
        raise UsageError(f"--metric {unknown[0]}: no such metric; `parley tasks` lists them")
    return tables


def _files(paths: Sequence[Path]) -> list[Path]:
    """Return files, and the logs of folders by name, each once."""
    found: dict[Path, None] = {}
    for path in paths:
        files = [path]
        if path.is_dir():
            files = [each for each in sorted(path.iterdir()) if is_log(str(each))]
            if not files:
                raise UsageError(f"{path}: has no logs of inspect; they end in .eval or .json")
        found |= dict.fromkeys(files)
    return [*found]


def _by_task(
    given: Mapping[Path, Mapping[str, Any]], task: str
) -> dict[tuple[Any, ...], list[Path]]:
    """Return paths by dataset, task and options; `task` is that of files."""
    tasks = {
        path: (stated["dataset"], stated["task"], *sorted(stated["options"].items()))
        for path, stated in given.items()
        if stated
    }
    of_files = _named_task(task) if task else next(iter(tasks.values()), None)
    files = [path for path in given if path not in tasks]
    if files and (of_files is None or (not task and len({*tasks.values()}) > 1)):
        raise UsageError(
            f"{files[0]}: a file of predictions does not state its task",
            remedy="Name it: --task DATASET/TASK, or DATASET/TASK-VALUE with an option.",
        )
    found: dict[tuple[Any, ...], list[Path]] = {}
    for path in given:
        found.setdefault(tasks.get(path, of_files or ()), []).append(path)
    return found


def _named_task(named: str) -> tuple[Any, ...]:
    """Return dataset, task and options of a name as on the Hub, DATASET/TASK-VALUE."""
    dataset, _, id = named.partition("/")
    known = {
        task_id(name, options): (name, options)
        for name, task in get(dataset).tasks.items()
        for options in task.choices
    }
    require_known(dataset, "task", id, known)
    name, options = known[id]
    return (dataset, name, *sorted(options.items()))


def _chosen(measured: Measured, metrics: Collection[str]) -> dict[Names, float]:
    """Return the metrics that are shown."""
    numbers = {names: each.value for names, each in measured.metrics.items()}
    if metrics:
        return {n: value for n, value in numbers.items() if {*metrics} & {*_ways(n)}}
    is_game = isinstance(measured.rows.task.asking, Playing)
    shown = {
        names: value
        for names, value in numbers.items()
        if (names[0] == "points" if is_game and names[1:] else len(names) == 1)
        if not (is_game and names == (UNREADABLE,))
    }
    return shown or numbers


def _of_log(log: AnsweredLog, policy: str, tell: Callable[[int, int], None]) -> Compared:
    """Return a log, scored."""
    facts, answers = log.facts, [each for epoch in log.epochs for each in epoch.values()]
    unread = sum(UNREADABLE in each for each in answers)
    measured = Measured([scored_epoch(log.questions, each, policy) for each in log.epochs], tell)
    settings = {**facts["settings"], "schema": facts.get("schema"), "epochs": len(log.epochs)}
    agreeing = {"turns": facts.get("turns"), "part": str(log.part)}
    about = log.path, _label(log), facts, len(answers), unread
    return Compared(*about, measured, agreeing, settings)


def _of_file(
    built: BuiltFolder,
    name: str,
    options: Mapping[str, str],
    path: Path,
    part: Part,
    policy: str,
    tell: Callable[[int, int], None],
) -> Compared:
    """Return a file of predictions, scored on a part."""
    gold, others = load_gold(built, name, options, part)
    fields = reading(built, name, options, part)
    found = read(str(path), built.dataset.task(name), gold, others=others, fields=fields)
    kept, scored = scored_rows(gold, found, policy, str(path))
    rows = Rows(built, name, options, gold, is_part=bool(others)).within(kept)
    unread = sum(unreadable_of(found).values())
    measured = Measured([(rows, scored)], tell)
    return Compared(path, path.stem, {}, len(gold), unread, measured, {"part": str(part)})


def _unlike(own: Mapping[str, Any], other: Mapping[str, Any], path: Path) -> tuple[Problem, ...]:
    """Return where settings differ from those of the one at `path`, as far as both state any."""
    names = {**own, **other} if own and other else ()
    return tuple(
        Problem(name, what=f"{own.get(name)}, but {other.get(name)} in {path}")
        for name in names
        if own.get(name) != other.get(name)
    )


def _against_first(rows: Sequence[Compared], metrics: Collection[str]) -> None:
    """Compare the rows of a table with the first that has one of the metrics."""
    first: Compared | None = None
    tested: list[tuple[Compared, Names, float]] = []
    for row in rows:
        if not row.measured or not (chosen := _chosen(row.measured, metrics)):
            continue
        first = first or row
        row.metrics = chosen
        row.intervals = intervals_of({names: row.measured.metrics[names] for names in chosen})
        # a file has no turns; examples and another system text stand in the labels
        own = {**first.agreeing, **row.agreeing}
        row.differs = _unlike(own, {**own, **first.agreeing}, first.path)
        row.settings = _unlike(row.calls, first.calls, first.path)
        if first.measured and row is not first and not row.differs:
            row.differences = paired_differences(row.measured, first.measured, chosen)
            tested += [(row, n, by.p) for n, by in row.differences.items() if by.p is not None]
    adjusted = holm([p for *_, p in tested])
    for (row, names, _), p in zip(tested, adjusted, strict=True):
        by = replace(row.differences[names], p_holm=p)
        row.differences = {**row.differences, names: by}


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


def _label(log: AnsweredLog) -> str:
    """Return the models of a log, with their sides if it is a game, and what else was asked."""
    parts = [", ".join(f"{role}={model}" if role else model for role, model in log.models.items())]
    variant, facts = log.questions.variant, log.facts
    parts += [f"{variant.shots} shots"] * bool(variant.shots)
    parts += [f"prompt {facts.get('prompt', '')[:8]}"] * bool(variant.prompt)
    return ", ".join(parts)
