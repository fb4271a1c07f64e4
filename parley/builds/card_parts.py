"""The generated parts of cards and of docs, each as Markdown, and tables of references."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from parley.base.errors import OutputError, RecordError, RowError, SourceError
from parley.base.values import flat
from parley.declaration.figures import Figure, tally
from parley.declaration.measured import Scores, Splits
from parley.declaration.registry import Dataset
from parley.schema.nodes import Column
from parley.tasks.boards import Entry, Footnotes, leaderboard

if TYPE_CHECKING:
    from parley.declaration.configs import Config, View
    from parley.tasks.task import Task

HEADINGS = ("field", "type", "null", "meaning")
_MOST_VALUES = 40  # values of a closed set; of more, the first are listed
_FIRST = 8
_MARKS = re.compile(r"[`|<\x00-\x1f\x7f-\x9f\u2028\u2029]")  # of Markdown, HTML and lines


@dataclass(frozen=True)
class FieldTable:
    """The fields of some configs."""

    configs: Mapping[str, str]  # config -> its description
    rows: Sequence[tuple[str, str, str, str]]  # as HEADINGS
    elsewhere: Mapping[str, Sequence[str]]  # config of an earlier table -> its columns


@dataclass(frozen=True)
class _FieldTree:
    """A field with those within it; `name` is "" or the end of its path, as `.text`."""

    name: str
    column: Column  # without its path
    within: tuple["_FieldTree", ...]


def field_tables(configs: "Mapping[str, Config | View]") -> list[FieldTable]:
    """Return the tables of the fields of configs."""
    by_fields: dict[tuple[_FieldTree, ...], dict[str, str]] = {}
    for name, config in configs.items():
        by_fields.setdefault(_tree(config.fields), {})[name] = config.description
    config_of: dict[_FieldTree, str] = {}
    told: set[Any] = set()
    tables = []
    for fields, described in by_fields.items():
        elsewhere: dict[str, list[str]] = {}
        new = [field for field in fields if field not in config_of]
        for field in fields:
            if field in config_of:
                elsewhere.setdefault(config_of[field], []).append(field.name)
        config_of |= dict.fromkeys(new, next(iter(described)))
        tables.append(FieldTable(described, list(_rows(new, "", told)), elsewhere))
    return tables


def _tree(columns: Sequence[Column], above: str = "") -> tuple[_FieldTree, ...]:
    fields = []
    while columns:
        first, *rest = columns
        starts = (f"{first.path}.", f"{first.path}[") if first.type.endswith("struct") else ()
        ends = (n for n, column in enumerate(rest) if not column.path.startswith(starts))
        inside = next(ends, len(rest))
        name = re.sub(r"^(\[\])*\.", "", first.path.removeprefix(above)) if above else first.path
        within, columns = rest[:inside], rest[inside:]
        fields.append(_FieldTree(name, replace(first, path=""), _tree(within, first.path)))
    return tuple(fields)


def _rows(
    fields: Sequence[_FieldTree], above: str, told: set[Any]
) -> Iterator[tuple[str, str, str, str]]:
    """Yield the rows of fields, of which equal ones share a row, and of labels not yet `told`."""
    alike: dict[Any, list[str]] = {}
    within: dict[Any, list[str]] = {}
    for field in fields:
        # without a meaning, a row is not shared
        apart = "" if field.column.meaning or field.within else field.name
        alike.setdefault((field.column, field.within, apart), []).append(field.name)
        within.setdefault((field.column.type, field.within), []).append(field.name)
    described: set[str] = set()
    for (column, inner, _), names in alike.items():
        described.update(names)
        dot = "." if above else ""
        paths = [in_code(f"{above}{names[0]}"), *(in_code(f"{dot}{name}") for name in names[1:])]
        labels = () if column.meanings in told else column.meanings
        told.add(column.meanings)
        meaning = meaning_of(replace(column, values=()) if labels else column)
        yield ", ".join(paths), column.type, "yes" if column.null else "", meaning
        for label, meaning in labels:
            yield f"{paths[0]}: {in_code(label)}", "label", "", meaning
        if inner and described.issuperset(names := within[column.type, inner]):
            joined = names[0] if len(names) == 1 else f"{{{','.join(names)}}}"
            joined = "*" if len(names) == len(fields) > 1 else joined
            lists = "[]" * column.type.count("list of ")
            yield from _rows(inner, f"{above}{joined}{lists}.", told)


def meaning_of(column: Column) -> str:
    """Return the meaning of a column with its unit and its values."""
    text = column.meaning + (f", in {column.unit}" if column.unit else "")
    if not column.values:
        return text
    few = column.values if len(column.values) <= _MOST_VALUES else column.values[:_FIRST]
    more = len(column.values) - len(few)
    values = ", ".join(map(in_code, few))
    values += f" and {more} more" if more else ""
    values = f"{'one of' if len(column.values) > 1 else 'always'} {values}"
    return f"{text}; {values}" if text else values


def in_code(value: Any) -> str:
    """Return a value as code in a cell of Markdown: JSON where its text could end code or cell."""
    if isinstance(value, str) and value.strip() and not _MARKS.search(value):
        return f"`{value}`"
    text = json.dumps(value, ensure_ascii=False)
    return "`" + _MARKS.sub(lambda mark: rf"\u{ord(mark[0]):04x}", text) + "`"


_PART = re.compile(r"(<!-- parley: (\w+) from here -->\n).*?(<!-- parley: \2 to here -->)", re.S)
_MARK = re.compile(r"<!-- parley: (\w+) (?:from|to) here -->")


def marks(part: str) -> tuple[str, str]:
    """Return the lines before and after a part."""
    return f"<!-- parley: {part} from here -->", f"<!-- parley: {part} to here -->"


def with_parts(text: str, where: str, parts: Mapping[str, str]) -> str:
    """Return a text with parts, by name, between their marks; OutputError if some are not due."""
    whole = [match[2] for match in _PART.finditer(text)]
    names = _MARK.findall(text)
    for part in dict.fromkeys((*names, *parts)):
        begin, end = marks(part)
        if part not in parts:
            begin, end = marks(next(iter(parts)))
            remedy = f"Use {', '.join(parts)}: `{begin}` and `{end}`."
            raise OutputError(f"{where}: no part is named {part}", remedy=remedy)
        if whole.count(part) != 1 or names.count(part) != 2:
            what = f"{where}: expected the lines {begin} and {end} once each"
            raise OutputError(what, remedy="Write them where the part belongs.")
    return _PART.sub(lambda m: "\n".join([m[1], parts[m[2]].strip("\n"), "", m[3]]), text)


def without_parts(text: str, keep: Collection[str] = ()) -> str:
    """Return a text without its parts, but those to keep, and without their marks."""
    return _MARK.sub("", _PART.sub(lambda match: match[0] if match[2] in keep else "", text))


_NOT_BUILT = "not built: its source is missing"
SAMPLE = "**This is a sample**: invented records in the dataset's layout, not its data."
_LONGEST_TEXT = 160  # characters of a text in a row
_ITEMS_SHOWN = 3  # items of a list in a row
_WIDTH = 100
_SIGNS = {
    "[]": "`[]` stands for each item of a list",
    "*": "`*` for each of the fields above",
    "{": "`{a,b}` for `a` and `b`",
}


def splits_part(dataset: Dataset, splits: Splits, notes: Sequence[str]) -> str:
    """Return the table of splits, the columns that are null in all rows, and notes on a build."""
    cells, nulls = [], []
    for config, names in dataset.splits.items():
        for split in names:
            entry = splits.get(config, {}).get(split, {})
            rows = _NOT_BUILT
            if "rows" in entry:
                rows = f"{entry['rows']:,}"
            elif (documented := entry.get("documented")) is not None:
                rows = f"{documented:,} documented, {_NOT_BUILT}"
            cells.append((f"`{config}`", f"`{split}`", rows, dataset.configs[config].use))
            if null := ", ".join(map(in_code, entry.get("null", ()))):
                nulls.append(f"- `{config}`, `{split}`: {null}")
    lines = [*markdown_table(("config", "split", "rows", "use it to"), cells, ("rows",))]
    lines += ["Null in all rows:\n", *nulls, ""] if nulls else []
    return "\n".join([*lines, *(f"{note}\n" for note in notes)])


def load_part(dataset: Dataset, splits: Splits) -> str:
    """Return the code that loads a split of the default config, the first that was built."""
    entries = splits.get(dataset.default, {})
    first = next(iter(entries or dataset.splits[dataset.default]))
    split = next((split for split, entry in entries.items() if "rows" in entry), first)
    return f"""```python
from datasets import load_dataset

rows = load_dataset("build/{dataset.name}", "{dataset.default}", split="{split}")
```

`build/{dataset.name}` is what `parley build` writes. On the Hub, take the repository's name."""


def row_part(dataset: Dataset) -> str:
    """Return the first row of the sample as JSON, its long texts and lists shortened, or ""."""
    # not at the top: cards are read without these
    from parley.builds.sources import open_source, plan
    from parley.rows.splits import generate

    config = dataset.builder.SHOWN or dataset.default
    for split_plan in plan(open_source(dataset, None, sample=True)):
        if split_plan.config.name == config:
            with suppress(RecordError, RowError, SourceError):  # `parley check` tells what is wrong
                row = _laid_out(_shortened(next(generate(split_plan))))
                row = row.replace("<!--", "\\u003c!--")  # no mark of a part
                return f"An invented row of `{config}`, shortened at `…`.\n\n```json\n{row}\n```"
    return ""


def _shortened(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _LONGEST_TEXT:
        return f"{value[: _LONGEST_TEXT - 20]}…"
    if isinstance(value, dict):
        return {key: _shortened(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_shortened(item) for item in value[:_ITEMS_SHOWN]] + ["…"] * (
            len(value) > _ITEMS_SHOWN
        )
    return value


def _laid_out(value: Any, indent: str = "", before: int = 0) -> str:
    """Return JSON on one line if it fits, else an item a line."""
    flat = json.dumps(value, ensure_ascii=False, default=str)
    if not isinstance(value, dict | list) or len(indent) + before + len(flat) < _WIDTH:
        return flat
    inner = f"{indent}  "
    items = value.items() if isinstance(value, dict) else [(None, item) for item in value]
    lines = []
    for key, item in items:
        name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
        lines.append(f"{inner}{name}{_laid_out(item, inner, len(name))}")
    opened, closed = "{}" if isinstance(value, dict) else "[]"
    return f"{opened}\n{(',' + chr(10)).join(lines)}\n{indent}{closed}"


def fields_part(dataset: Dataset) -> str:
    """Return the tables of the fields of every config."""
    tables = field_tables(dataset.configs)
    paths = "".join(row[0] for table in tables for row in table.rows)
    signs = "".join(f"{meaning}, " for sign, meaning in _SIGNS.items() if sign in paths)
    first = f"In a field, {signs[:-2]}.\n\n" if signs else ""
    return first + "\n".join(line for table in tables for line in _field_table(table))


def _field_table(table: FieldTable) -> Iterator[str]:
    yield f"### {', '.join(f'`{config}`' for config in table.configs)}\n"
    described: dict[str, list[str]] = {}
    for config, description in table.configs.items():
        described.setdefault(description, []).append(f"`{config}`")
    if len(described) == 1:
        yield f"A row: {next(iter(described))}.\n"
    else:
        yield from (f"- {', '.join(names)}: {text}" for text, names in described.items())
        yield ""
    for config, columns in table.elsewhere.items():
        yield f"As in `{config}`: {', '.join(map(in_code, columns))}.\n"
    if table.rows:
        yield from markdown_table(HEADINGS, table.rows)


def figures_part(figures: Sequence[Figure], note: str = "") -> str:
    """Return the documented figures with what was measured, and the reasons for differences."""
    if not figures:
        return "None are documented."
    notes, rows = Footnotes(), []
    for figure in figures:
        measured = "" if figure.measured is None else str(figure.measured)
        name, verdict = f"`{figure.name}`", figure.verdict + notes.mark(figure.reason)
        rows.append((name, figure.stated, measured, verdict, figure.place))
    columns = ("figure", "documented", "measured", "verdict", "document")
    total = tally(figure.verdict for figure in figures)
    lines = [f"Of {len(figures)} documented figures, recomputed from the rows: {total}.", ""]
    lines += [note, ""] if note else []
    # folded: hundreds of lines that few read
    lines += ["<details>", "<summary>The documented figures</summary>", ""]
    lines += [*markdown_table(columns, rows, right=columns[1:3]), "</details>", ""]
    return "\n".join([*lines, *(f"{each}.  " for each in notes)])


def overview(tasks: "Iterable[tuple[str, str, Task]]") -> str:
    """Return a table of tasks, a line for each, that leads to their sections in the cards."""
    rows = []
    for dataset, name, task in tasks:
        link = f"[`{dataset} {name}`](../{dataset}/README.md#{dataset}-{name})"
        rows.append((link, task.summary, task.evaluated_on))
    return "\n".join(markdown_table(("task", "predicted", "scored on"), rows))


def tasks_part(dataset: Dataset, scores: Scores) -> str:
    """Return the tables of the tasks, with the measured scores of their baselines."""
    lines: list[str] = []
    if dataset.tasks and dataset.published:
        since = f"The rows have been public since {dataset.published}"
        lines.append(f"{since}: a model may have been trained on them.\n")
    for name, task in dataset.tasks.items():
        lines += _of_task(dataset.name, name, task.with_measured(scores.get(name, {})))
    return "\n".join(lines) or "None are declared."


def _of_task(dataset: str, name: str, task: "Task") -> Iterator[str]:
    """Yield the prediction, the fields of a file, the metrics and the references."""
    yield f"### `{dataset} {name}`\n"
    yield f"- Predicted: {task.summary}."
    yield f"- Scored on: {task.evaluated_on}."
    if task.inputs:
        columns = ", ".join(f"`{column}`" for column in task.columns)
        yield f"- A model may see: {task.inputs} ({columns})."
    if task.leak:
        yield f"- Warning: {task.leak}."
    if task.form:
        yield f"- A model is asked for `{task.form}`."
    if task.not_asked:
        yield f"- No model can be asked: {task.not_asked}."
    options = "".join(f" [--set {option}={'|'.join(v)}]" for option, v in task.options.items())
    yield f"- Score a file: `parley score {dataset} {name} FILE{options}`"
    keys = ", ".join(f"`{field}`" for field in task.key)
    (example,) = task.format.lines([task.example])
    yield f"- FILE is {task.format.name}, one line for each {keys}."
    yield f"- An invented line: `{example}`\n"
    fields = [(f"`{name}`", *content) for name, *content in task.contents]
    yield from markdown_table(("field", "values", "meaning"), fields)
    metrics = [(name, task.ends_in_words[name], about) for name, about in task.metrics.items()]
    yield from markdown_table(("metric", "from, to", "meaning"), metrics)
    notes, entries = Footnotes(), []
    for reference in task.references:
        who = reference.name
        if who in task.baselines:
            who = f"`--baseline {who}`"
        who += "".join(f" `--set {option}={value}`" for option, value in reference.options.items())
        who += reference.conditions() + notes.mark(reference.note)
        entries.append(Entry(who, flat(reference.metrics), reference.place))
    for board in leaderboard(entries):
        (*_, group) = board.groups
        if len(board.groups) == 1 and group:
            yield f"{' '.join(group)}:\n"
        depth = len(group) if len(board.groups) > 1 else 0
        rows = [
            (*group[:depth], entry.name, *cells, entry.place) for group, entry, cells in board.rows
        ]
        heads = (*[""] * depth, "", *board.metrics, "from")
        yield from markdown_table(heads, rows, right=board.metrics)
    if lines := [f"{note}  " for note in notes]:
        yield from (*lines, "")


def markdown_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()
) -> Iterator[str]:
    """Yield a table in Markdown, its columns of numbers aligned right, and an empty line."""
    for cells in (columns, ["---:" if name in right else "---" for name in columns], *rows):
        yield f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"
    yield ""
