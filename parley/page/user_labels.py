"""Files of the user on the page: labels and predictions beside what they are of, and filters."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np

from parley.annotators.comparison import Comparison, texts_of
from parley.annotators.layouts import records
from parley.annotators.reader import (
    GOLD,
    Labels,
    UnitKey,
    file_stem,
    is_lines,
    read_labels,
    tasks_of,
)
from parley.base.errors import ParleyError, RecordError, UsageError
from parley.base.numbers import is_number
from parley.base.values import is_values
from parley.builds.built_folder import BuiltFolder
from parley.read.charts import Calibration
from parley.read.dialogues import Dialogue
from parley.read.export.export import cell
from parley.read.filters import DIFFERS, OwnValues
from parley.scoring.gold import load_gold, running
from parley.scoring.metrics import Epoch, TaskRows
from parley.scoring.predictions import read
from parley.tasks.calibration import calibration
from parley.tasks.prediction_formats import UNREADABLE

Table = tuple[str, list[str], list[list[str]]]
Line = dict[str, Any]
"""What the page shows of an annotator: who (`by`), `texts`, and those of them `differing`."""
LABELS = "labels"
"""What a file holds if it holds no predictions."""
_RIGHT, _WRONG, _TIED, _ANSWERED = "right", "wrong", "tied", "answered"
_OUTCOMES = (_RIGHT, _WRONG, _TIED, _ANSWERED, UNREADABLE)


class UserLabels:
    """Labels and predictions of files beside the dialogues of a build.

    The values of each person are filters, and so are the differences of two, or of one from the
    dataset. A prediction is right or wrong as its task has it. `kind` says what JSON Lines are: a
    task, or `LABELS`; "" for what their fields say. Errors as `read_labels`; UsageError, too, if
    the fields are those of several tasks. `notes` has a line for each file or group of files,
    `tables` their agreement: a title, headings, and rows; `paths` are the files of labels.
    """

    def __init__(self, built: BuiltFolder, files: Sequence[Path], kind: str = "") -> None:
        self.notes: list[str] = []
        self.tables: list[Table] = []
        self.charts: list[Calibration] = []
        self.paths: list[Path] = []
        self._order: dict[str, Sequence[str]] = {}
        self._whose: dict[str, tuple[str, str]] = {}  # filter -> the annotator and the column
        # dialogue -> what a label is of, and its number or name -> lines by their names
        self._beside: dict[str, dict[UnitKey, dict[str, Line]]] = defaultdict(
            lambda: defaultdict(dict)
        )
        self._values: dict[str, dict[str, dict[str, list[str]]]] = defaultdict(  # dialogue ->
            lambda: defaultdict(lambda: defaultdict(list))  # filter -> side, or "" -> values
        )
        self._differing: dict[str, set[UnitKey]] = defaultdict(set)
        for file in dict.fromkeys(files):
            if predicted := _predictions(built, file, kind):
                self.add_answers(file, predicted)
            else:
                self.paths.append(file)
        for labels in read_labels(built, self.paths):
            labels.leave_out_equal(labels_too=True)
            found = Comparison(labels)
            self._add(labels)
            self._add_differences(labels, found.units)
            for person, numbers in found.as_dict()["annotators"].items():
                rows = f"{numbers['rows']:,} of {numbers['config_rows']:,} rows of {labels.config}"
                self.notes.append(f"{person}: {rows}")
            self.notes += labels.notes
            self.tables += found.tables()

    def own_labels(self, dialogue: Dialogue, sides: Sequence[str]) -> dict[str, Any]:
        """Return what to show beside a dialogue: of turns and sides by number, and of the rest."""
        found: dict[str, Any] = {}
        for (kind, part), lines in self._beside.get(dialogue.id, {}).items():
            number = str(sides.index(part)) if kind == "sides" else part
            if kind == "turns" and int(number) == len(dialogue.transcript.turns):
                kind, number = "rest", ""  # after the last turn
            found.setdefault(kind, {}).setdefault(number, []).extend(lines.values())
        return found

    @property
    def order(self) -> dict[str, Sequence[str]]:
        """The filters, each with its values in their order, none for texts without one."""
        differing = set(chain.from_iterable(of[DIFFERS][""] for of in self._values.values()))
        return {DIFFERS: sorted(differing), **self._order}

    @property
    def of_turns(self) -> list[str]:
        """The names of the lines beside turns, those of the dataset last."""
        places = chain.from_iterable(of_dialogue.items() for of_dialogue in self._beside.values())
        names = dict.fromkeys(name for (kind, _), of in places if kind == "turns" for name in of)
        names.pop(DIFFERS, None)
        return sorted(names, key=lambda name: name.startswith(f"{GOLD}: "))

    def filters(self, id: str) -> OwnValues:
        """Return the values of the filters of a dialogue."""
        found = self._values.get(id, {})
        return {name: values.get("", values) for name, values in found.items()}

    def differing(self, id: str) -> int:
        """Return how many turns, sides or rows of a dialogue differ."""
        return len(self._differing.get(id, ()))

    def _add(self, labels: Labels) -> None:
        """Add a line for each annotator and the dataset; a label that not all give differs."""
        annotators, everyone = labels.annotators, labels.everyone
        for person, (name, column) in product(annotators, labels.columns.items()):
            filter = f"{person}: {name}"
            if self._whose.setdefault(filter, (person, name)) != (person, name):
                what = f"two annotators and their columns would be one filter: {filter}"
                raise UsageError(what, remedy="Rename one.")
            self._order[filter] = column.labels
        for name, unit in product(labels.columns, dict.fromkeys(chain(*annotators.values()))):
            given = {person: rows.get(unit, {}).get(name) for person, rows in everyone.items()}
            texts = {p: texts_of(value) for p, value in given.items() if value is not None}
            if not texts.keys() & annotators.keys():
                continue
            shared = set.intersection(*map(set, texts.values()))
            for person, those in texts.items():
                differing = [text for text in those if text not in shared]
                values = [] if person == GOLD else those
                self._note(labels.keys, unit, f"{person}: {name}", those, values, differing)

    def _add_differences(self, labels: Labels, units: Iterable[UnitKey]) -> None:
        """Add where the annotators differ, and where each differs from the dataset."""
        annotators, everyone = [*labels.annotators], labels.everyone
        names = "annotators" if annotators[2:] else " and ".join(annotators)
        among = {f"{names} differ": annotators}
        among |= {f"{person} and {GOLD} differ": [person, GOLD] for person in annotators}
        for (names, those), name in product(among.items(), labels.columns):
            for unit in units:
                values = {everyone[person].get(unit, {}).get(name) for person in those} - {None}
                if len(values) > 1:
                    given = [{*v} if isinstance(v, tuple) else {v} for v in values]
                    differing = {*chain(*given)} - given[0].intersection(*given)
                    of_labels = sorted(differing) if labels.columns[name].labels else []
                    self._differs(labels.keys, unit, f"{names}: {name}", of_labels)

    def _note(
        self,
        keys: UnitKey,
        unit: UnitKey,
        name: str,
        texts: Iterable[str],
        values: Sequence[str],
        differing: Iterable[str] = (),
    ) -> None:
        """Add texts beside a unit, and the values of its dialogue in the filter `name`, if any.

        A row that is of no turn or side names its key.
        """
        place = {"turn": "turns", "speaker": "sides"}.get(keys[-1], "rest")
        part = "" if place == "rest" else unit[-1]
        label = ", ".join([name, *unit[1:]]) if place == "rest" and name != DIFFERS else name
        line = self._beside[unit[0]][place, part].setdefault(
            label, {"by": label, "texts": [], "differing": []}
        )
        line["texts"] += texts
        line["differing"] += differing
        if values:
            side = unit[-1] if place == "sides" and name != DIFFERS else ""
            self._values[unit[0]][name][side] += values

    def _differs(self, keys: UnitKey, unit: UnitKey, what: str, labels: Iterable[str] = ()) -> None:
        """Add that a unit differs, in these labels if they are known."""
        texts = [f"{what}, {label}" for label in labels] or [what]
        self._note(keys, unit, DIFFERS, texts, [what, *texts])
        self._differing[unit[0]].add(unit)

    def add_answers(self, file: Path, epochs: Sequence[Epoch], model: str = "") -> None:
        """Add predictions for the rows of a task, by epoch: right or wrong, or beside gold.

        They are named by the model, else by the file; a second one of that name has its path, too.
        """
        counts: dict[str, int] = defaultdict(int)
        whose, forecasts = model or file_stem(file), []
        if f"{whose}: {epochs[0].rows.name}" in self._order:
            whose += f" ({file})"
        for epoch in epochs:
            rows, predictions = epoch.rows, epoch.predictions
            name, task, keys = rows.name, rows.task, tuple(rows.task.key)
            with running(rows.built):
                score = task.score(rows.gold, predictions, **rows.options)
                due = {key: task.right(gold) for key, gold in rows.gold.items()}
            verdict: Any = score.metrics.get(next(iter(task.per_prediction), ""))
            verdict = verdict if is_values(verdict) else [None] * len(due)
            for (key, target), right in zip(due.items(), verdict, strict=True):
                prediction, by = predictions[key], f"{whose}: {name}"
                kind = UNREADABLE if UNREADABLE in prediction else _kind(right)
                counts[kind] += 1
                text = f"{kind}: {_in_words(task.without_key(prediction))}"
                text += f"; the task's: {_in_words(target)}" if target and kind != _RIGHT else ""
                self._order[by] = _OUTCOMES
                for id in map(str, task.dialogues(key, rows.gold[key])):
                    unit = (id, *map(str, key[1:]))
                    self._note(keys, unit, by, [text], [kind], [text] if right == 0 else [])
                    if right == 0:
                        self._differs(keys, unit, f"{by} is {_WRONG}")
            forecasts.append(score.forecasts)
        if bins := calibration(*map(np.concatenate, zip(*forecasts, strict=True))):
            self.charts.append(Calibration(f"{whose}: calibration of {name}", bins))
        found = ", ".join(f"{counts[kind]:,} {kind}" for kind in _OUTCOMES if counts[kind])
        self.notes.append(f"{whose}: predictions of the task {name}: {found}")


def _kind(right: float | None) -> str:
    """Return what an answer is by the task's first value of one, a share of 1 if it is tied."""
    if right is None or not 0 <= right <= 1:
        return _ANSWERED
    return _WRONG if right == 0 else _RIGHT if right == 1 else _TIED


def _in_words(fields: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {_shown(value)}" for name, value in fields.items())


def _shown(value: Any) -> str:
    """Return a value as text; of probabilities those above 0."""
    if isinstance(value, Mapping) and all(map(is_number, value.values())):
        return ", ".join(f"{name} {number:.3g}" for name, number in value.items() if number)
    return cell(value)


def _predictions(built: BuiltFolder, file: Path, kind: str) -> list[Epoch]:
    """Return what a file predicts, by epoch, if it has the fields of a task; [] for labels.

    `kind` says which of them it is, "" for what its fields say. The task's options are those that
    have the most of its keys. UsageError if several tasks fit; RecordError if a line is wrong.
    """
    if kind not in ("", LABELS) and not is_lines(file):
        raise UsageError(f"{file}: answers to a task are JSON Lines; expected a name in .jsonl")
    if kind == LABELS or not is_lines(file):
        return []
    try:
        found = records(file, set())
    except ParleyError:  # which `read_labels` tells
        return []
    if not (fitting := [kind] if kind else tasks_of(built, file, found)):
        return []
    if len(fitting) > 1:
        what = f"{file}: has answers to {' or '.join(fitting)}"
        raise UsageError(what, remedy=f"Say which: --as {fitting[0]}, or --as {LABELS}.")
    (name,) = fitting
    task = built.dataset.task(name)
    of_records = (tuple(record.values.get(part) for part in task.key) for record in found)
    keys = {k for k in of_records if not any(isinstance(part, list | dict) for part in k)}
    of_options = [(ids, load_gold(built, name, ids)[0]) for ids in task.ids(name).values()]
    options, gold = max(of_options, key=lambda each: len(each[1].keys() & keys))
    gold = {key: gold[key] for key in gold if key in keys}
    try:
        epochs, _ = read(str(file), task, gold)
    except RecordError as error:
        what = f"{file}: has the fields of {name}, but not its answers"
        remedy = f"If they are labels, say so: --as {LABELS}."
        raise RecordError(what, *error.problems, remedy=remedy) from error
    return [Epoch(TaskRows(built, name, options, gold, True), each) for each in epochs]
