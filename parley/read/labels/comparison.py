"""The labels of people compared with each other, and with the dataset's own as those of `gold`."""

import csv
import io
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from parley.base.replace import writing
from parley.read.export.export import cell
from parley.read.labels.layouts import ANNOTATOR
from parley.read.labels.reader import GOLD, Column, Key, Labels, Units, read_labels
from parley.rows.built_folder import BuiltFolder
from parley.tasks.agreement import (
    NONE,
    Array,
    Distance,
    Pairs,
    masi,
    nominal,
    ordinal,
    percent_alike,
)
from parley.tasks.intervals import Metric
from parley.tasks.predictions import require_free

MOST_LABELS = 30
"""Of a column with more different values, no label has numbers of its own."""


class Ratings:
    """The values that people gave units in a column, or whether they gave one label.

    `codes` are numbers of values, people by units, `NONE` for no value.
    """

    def __init__(
        self, codes: Mapping[str, Array], clusters: Array, values: int, distance: Distance
    ):
        self.codes, self.values = codes, values
        self._clusters, self._distance = clusters, distance

    def _of(self, people: Iterable[str]) -> Array:
        return np.array([self.codes[person] for person in people])

    def alpha(self, people: Iterable[str]) -> Metric:
        """Krippendorff's alpha of two people or more."""
        return Pairs.of(self._of(people), self._clusters, self.values).alpha(self._distance)

    def kappa(self, *people: str) -> Metric:
        """Cohen's kappa of two people."""
        return Pairs.of(self._of(people), self._clusters, self.values).kappa()

    def percent(self, people: Iterable[str]) -> Metric:
        """The percentage of units to which all of them gave one value."""
        return percent_alike(self._of(people), self._clusters)

    def counts(self, number: int) -> dict[str, int]:
        """Return for each person how often a value was given."""
        return {person: int((codes == number).sum()) for person, codes in self.codes.items()}

    def rows(self, people: Iterable[str]) -> int:
        """Return the number of units with values of two of these people or more."""
        return int(((self._of(people) != NONE).sum(axis=0) > 1).sum())


def compare(
    built: BuiltFolder, config: str, files: Sequence[str | Path], annotator: str = ANNOTATOR
) -> "Comparison":
    """Read files of labels for a config and compare them; errors as `read_labels`."""
    (labels,) = read_labels(built, files, config, annotator)
    labels.leave_out_equal()
    return Comparison(labels)


class Comparison:
    """The agreement of the people of `labels`, by column and label."""

    def __init__(self, labels: Labels) -> None:
        self.labels = labels
        self.people = [*labels.annotators]
        units = dict.fromkeys(unit for found in labels.annotators.values() for unit in found)
        self.units: list[Key] = [*units]
        self._clusters = np.unique([unit[0] for unit in self.units], return_inverse=True)[1]

    def compared(self, column: Column) -> list[str]:
        """Return those who have values of a column, the dataset's own last."""
        return [
            person
            for person, units in self.labels.everyone.items()
            if any(units.get(unit, {}).get(column.name) is not None for unit in self.units)
        ]

    @cached_property
    def ratings(self) -> dict[str, tuple[list[Any], Ratings, dict[str, Ratings]]]:
        """Column -> its values in order, the ratings as a whole, and those of each label."""
        return {name: self._ratings(column) for name, column in self.labels.columns.items()}

    def _ratings(self, column: Column) -> tuple[list[Any], Ratings, dict[str, Ratings]]:
        everyone, name = self.labels.everyone, column.name
        given = {
            person: [everyone[person].get(unit, {}).get(name) for unit in self.units]
            for person in self.compared(column)
        }
        used = Counter(value for values in given.values() for value in values if value is not None)
        order = {label: place for place, label in enumerate(column.labels)}
        domain = sorted(used, key=lambda value: order.get(value, 0) if order else value)
        if not order:  # of one's own: the commonest first, as they have no order
            domain = sorted(domain, key=lambda value: 0 if column.is_ordered else -used[value])
        number = {value: place for place, value in enumerate(domain)} | {None: NONE}

        def codes(table: Mapping[Any, int]) -> dict[str, Array]:
            return {p: np.array([table[v] for v in values], int) for p, values in given.items()}

        distance = masi([frozenset(v) for v in domain]) if column.is_set else nominal
        distance = ordinal if column.is_ordered else distance
        whole = Ratings(codes(number), self._clusters, len(domain), distance)
        labels = column.labels if column.is_set or column.labels else domain
        by_label = {}
        for label in labels if len(labels) <= MOST_LABELS else ():
            has = {v: int(label in v if column.is_set else label == v) for v in domain}
            if any(has.values()):
                table = codes(has | {None: NONE})
                by_label[text_of(label)] = Ratings(table, self._clusters, 2, nominal)
        return domain, whole, by_label

    def differences(self) -> Iterator[dict[str, Any]]:
        """Yield each unit and column in which the annotators differ; of one, from the dataset's.

        A row has the key, the text if it is of a turn, the column if there are several, and the
        value of each annotator and of `gold`, null for none.
        """
        labels, everyone = self.labels, self.labels.everyone
        by = self.people if len(self.people) > 1 else [*self.people, GOLD]
        for unit in self.units:
            for name in labels.columns:
                values = {p: units.get(unit, {}).get(name) for p, units in everyone.items()}
                if len({values[person] for person in by} - {None}) > 1:
                    row: dict[str, Any] = dict(zip(labels.keys, unit, strict=True))
                    if labels.keys[1:] == ("turn",):
                        row["text"] = labels.texts[unit]
                    if len(labels.columns) > 1:
                        row["column"] = name
                    yield row | values

    def write_differences(self, path: Path) -> int:
        """Write the differences to a new file of CSV, and return their number."""
        require_free(path)
        rows = [*self.differences()]
        heads = [*(rows[0] if rows else (*self.labels.keys, *self.labels.everyone))]
        lines = io.StringIO(newline="")
        writer = csv.writer(lines)
        writer.writerow(map(cell, heads))
        writer.writerows([cell(written(value)) for value in row.values()] for row in rows)
        with writing(path) as file:
            file.write(lines.getvalue().encode("utf-8-sig"))
        return len(rows)

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers, unrounded; one that is undefined is null."""
        labels = self.labels
        return {
            "dataset": labels.built.dataset.name,
            "config": labels.config,
            "key": [*labels.keys],
            "annotators": {person: self._counts(person) for person in self.people},
            "notes": labels.notes,
            "columns": {name: self._column(name) for name in labels.columns},
        }

    def _counts(self, person: str) -> dict[str, Any]:
        """Return the files of a person, the rows, of how many units, and those nobody else has."""
        everyone, units = self.labels.everyone, self.labels.annotators[person]
        others = [found for other, found in everyone.items() if other != person]
        has = {unit for found in others for unit in _with_values(found)}
        with_values = _with_values(units)
        return {
            "files": self.labels.files[person],
            "rows": len(units),
            "of": len(self.labels.rows),
            "without_value": len(units) - len(with_values),
            "without_partner": len(with_values - has),
        }

    @property
    def notes(self) -> list[str]:
        """Sentences to read the numbers by."""
        return [
            *self.labels.notes,
            "95%: an interval over whole dialogues; gold: the dataset's own",
        ]

    def tables(self) -> Iterator[tuple[str, list[str], list[list[str]]]]:
        """Yield tables for people: a title, headings, and rows of texts that begin with a name."""
        found = self.as_dict()
        heads = ["annotator", *(name.replace("_", " ") for name in _COUNTED)]
        of = found["annotators"].items()
        yield "", heads, [[p, *(f"{n[name]:,}" for name in _COUNTED)] for p, n in of]
        for name, column in found["columns"].items():
            labels = {**column["labels"], _WHOLE[column["alpha_of"]]: column}
            counts = {label: each["counts"] for label, each in column["labels"].items()}
            if counts:
                people = [*self.ratings[name][1].codes]
                rows = [[label, *(f"{n[p]:,}" for p in people)] for label, n in counts.items()]
                yield f"{name}: counts", ["label", *people], rows
            for kind, title in _AMONG.items():
                if kind in column:
                    rows = [[label, *_cells(each[kind], "alpha")] for label, each in labels.items()]
                    yield f"{name}: {title}", ["label", "alpha", "95%", "% alike", "rows"], rows
            for number, pair in enumerate(column["pairs"]):
                both = " and ".join(pair["of"])
                rows = [
                    [label, *_cells(each["pairs"][number], "kappa")]
                    for label, each in labels.items()
                ]
                yield f"{name}: {both}", ["label", "kappa", "95%", "% alike", "rows"], rows
                if "confusion" in pair:
                    values, table = pair["confusion"]["values"], pair["confusion"]["rows"]
                    rows = [[v, *map(str, line)] for v, line in zip(values, table, strict=True)]
                    one, other = pair["of"]
                    title = f"{name}: {one} in rows, {other} in columns"
                    yield title, [one, *values], rows

    def _column(self, name: str) -> dict[str, Any]:
        column, (domain, whole, by_label) = self.labels.columns[name], self.ratings[name]
        measure = "masi" if column.is_set else "ordinal" if column.is_ordered else "nominal"
        found = {"alpha_of": measure, **self._numbers(whole)}
        found["labels"] = {
            label: {"counts": ratings.counts(1), **self._numbers(ratings)}
            for label, ratings in by_label.items()
        }
        if not column.is_set and len(domain) <= MOST_LABELS:
            values = [text_of(value) for value in domain]
            for pair in found["pairs"]:
                pair["confusion"] = {"values": values, "rows": _confusion(whole, *pair["of"])}
        return found

    def _numbers(self, ratings: Ratings) -> dict[str, Any]:
        people = [person for person in ratings.codes if person != GOLD]
        among = {"annotators": people} if len(people) > 1 else {}
        if people and GOLD in ratings.codes:
            among |= {"with_gold": [*people, GOLD]}
        found: dict[str, Any] = {
            name: {
                "rows": ratings.rows(those),
                "alpha": as_number(ratings.alpha(those)),
                "percent": as_number(ratings.percent(those)),
            }
            for name, those in among.items()
        }
        found["pairs"] = [
            {
                "of": pair,
                "rows": ratings.rows(pair),
                "kappa": as_number(ratings.kappa(*pair)),
                "percent": as_number(ratings.percent(pair)),
            }
            for pair in combinations(ratings.codes, 2)
        ]
        return found


_COUNTED = ("rows", "of", "without_value", "without_partner")
_WHOLE = {"masi": "all, as a set", "ordinal": "all, as ordered", "nominal": "all"}
_AMONG = {"annotators": "all annotators", "with_gold": "all annotators and gold"}


def _cells(of: Mapping[str, Any], measure: str) -> Iterator[str]:
    """Yield a measure with its interval, percent agreement and rows, as texts."""
    value, low, high = of[measure].values()
    yield "undefined" if value is None else f"{value:.3f}"
    yield "–" if low is None else f"{low:.3f}…{high:.3f}"
    yield "undefined" if of["percent"]["value"] is None else f"{of['percent']['value']:.1f}"
    yield f"{of['rows']:,}"


def _with_values(units: Units) -> set[Key]:
    return {unit for unit, values in units.items() if any(v is not None for v in values.values())}


def _confusion(ratings: Ratings, one: str, other: str) -> list[list[int]]:
    """Return how often the first gave the value of a line, and the other that of a column."""
    first, second = ratings.codes[one], ratings.codes[other]
    both, size = (first != NONE) & (second != NONE), ratings.values
    table = np.bincount(first[both] * size + second[both], minlength=size * size)
    return table.reshape(size, size).tolist()


def as_number(metric: Metric) -> dict[str, Any]:
    """Return a value with the ends of its interval; None for what is undefined."""
    ends = metric.interval if not math.isnan(metric.value) else None
    value = None if math.isnan(metric.value) else metric.value
    return {"value": value, "low": ends and ends.low, "high": ends and ends.high}


def text_of(value: Any) -> str:
    """Return a value as the text of a label."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def written(value: Any) -> Any:
    """Return a value as a cell has it: labels between signs, which `read_labels` reads back."""
    return ("; ".join(value) or "[]") if isinstance(value, tuple) else value
