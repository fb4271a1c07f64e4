"""Tables of references, and the generated text on tasks in cards and docs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from parley.base.nested import flat

if TYPE_CHECKING:
    from parley.tasks.task import Task

PIPE = "&#124;"  # a vertical line in a cell of a table

Entry = tuple[str, str, Mapping[tuple[str, ...], str]]
"""Name, document, and the metrics by path, as text."""


class Row(NamedTuple):
    """The metrics of one entry in one group: a cell per metric, "–" for none."""

    group: tuple[str, ...]
    who: str
    place: str
    cells: tuple[str, ...]


class Board(NamedTuple):
    """A table of results: groups with metrics of the same names."""

    metrics: tuple[str, ...]
    rows: list[Row]

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """The groups, in the order of their rows."""
        return list(dict.fromkeys(row.group for row in self.rows))


def leaderboard(entries: Sequence[Entry]) -> Iterator[Board]:
    """Yield tables of results; an entry without metrics of a group has no row there."""
    named: dict[tuple[str, ...], dict[str, None]] = {}  # group -> its metrics, in their order
    for _, _, metrics in entries:
        for path in metrics:
            named.setdefault(path[:-1], {})[path[-1]] = None
    boards: dict[tuple[int, tuple[str, ...]], Board] = {}
    for group, names in named.items():
        board = boards.setdefault((len(group), tuple(names)), Board(tuple(names), []))
        for who, place, metrics in entries:
            cells = tuple(metrics.get((*group, name), "–") for name in names)
            if set(cells) != {"–"}:
                board.rows.append(Row(group, who, place, cells))
    yield from boards.values()


def section(tasks: Iterable[tuple[str, str, "Task"]]) -> str:
    """Return Markdown on tasks, each given with the dataset and its name."""
    return "\n".join(line for each in tasks for line in _lines(*each))


def overview(tasks: Iterable[tuple[str, str, "Task"]]) -> str:
    """Return a table of tasks, a line for each, that leads to their sections in the cards."""
    rows = [
        (
            f"[`{dataset} {name}`](../{dataset}/README.md#{dataset}-{name})",
            task.summary,
            task.evaluated_on,
        )
        for dataset, name, task in tasks
    ]
    return "\n".join(markdown_table(("task", "predicted", "scored on"), rows))


def _lines(dataset: str, name: str, task: "Task") -> Iterator[str]:
    """Yield the prediction, the fields of a file, the metrics and the references."""
    yield f"### `{dataset} {name}`\n"
    yield f"- Predicted: {task.summary}."
    yield f"- Scored on: {task.evaluated_on}."
    if task.inputs:
        seen = ", ".join(f"`{each}`" for each in task.columns)
        yield f"- A model may see: {task.inputs} ({seen})."
    if task.leak:
        yield f"- Warning: {task.leak}."
    if task.not_asked:
        yield f"- No model can be asked: {task.not_asked}."
    options = "".join(f" [--set {option}={'|'.join(v)}]" for option, v in task.options.items())
    yield f"- Score a file: `parley score {dataset} {name} FILE{options}`"
    keys = ", ".join(f"`{each}`" for each in task.key)
    (example,) = task.format.lines([task.example])
    yield f"- FILE is {task.format.name}, one line for each {keys}."
    yield f"- An invented line: `{example}`\n"
    yield from markdown_table(("field", "content"), [(f"`{k}`", v) for k, v in task.fields.items()])
    yield from markdown_table((f"metric ({task.unit})", "meaning"), list(task.metrics.items()))
    notes: dict[str, int] = {}
    entries = []
    for each in task.references:
        who = f"`--baseline {each.name}`" if each.name in task.baselines else each.name
        who += "".join(f" `--set {option}={value}`" for option, value in each.options.items())
        if each.note:
            who += f" [{notes.setdefault(each.note, len(notes) + 1)}]"
        entries.append((who, each.place, flat(each.metrics)))
    for board in leaderboard(entries):
        (*_, group) = board.groups
        if len(board.groups) == 1 and group:
            yield f"{' '.join(group)}:\n"
        shown = len(group) if len(board.groups) > 1 else 0
        rows = [(*row.group[:shown], row.who, *row.cells, row.place) for row in board.rows]
        columns = (*[""] * shown, "", *board.metrics, "from")
        yield from markdown_table(columns, rows, right=board.metrics)
    if notes:
        yield from (f"[{number}] {note}  " for note, number in notes.items())
        yield ""


def markdown_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()
) -> Iterator[str]:
    """Yield a table in Markdown, its columns of numbers aligned right, and an empty line."""
    for cells in (columns, ["---:" if name in right else "---" for name in columns], *rows):
        yield f"| {' | '.join(cell.replace('|', PIPE) for cell in cells)} |"
    yield ""
