"""The labels of people compared with each other, and with the dataset's own as those of `gold`."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, combinations, product
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import normalize

import numpy as np

from parley.annotators.columns import COMMA, Column, number_of
from parley.annotators.layouts import ANNOTATOR, LONG
from parley.annotators.reader import GOLD, Labels, UnitKey, read_labels
from parley.base.errors import UsageError, few, shorten
from parley.base.replace import writing
from parley.builds.built_folder import BuiltFolder
from parley.read.export.export import write_cells
from parley.scoring import agreement
from parley.scoring.agreement import NONE, Distance, nominal, ordinal
from parley.scoring.intervals import Array, Metric

MOST_LABELS = 30
"""Of a column with more different values, no label has numbers of its own."""
_MOST_SETS = 2_000  # of more different sets, the distances take too much memory
NOTHING = ("[]",)  # of a set without labels
MOST_PAIRS = 45
"""The most pairs of annotators with numbers of their own: all those of ten."""


class Ratings(NamedTuple):
    """The values that annotators gave units in a column, or whether they gave one label."""

    codes: dict[str, Array]  # person -> the number of the value of each unit, or `NONE`
    clusters: Array
    values: int  # the number of different ones
    distance: Distance = nominal

    def numbers(self, annotators: Sequence[str], measure: str) -> dict[str, Any]:
        """Return alpha of these annotators, or kappa of two, percent agreement, and their units."""
        codes = np.array([self.codes[person] for person in annotators])
        if measure == "kappa":
            found = agreement.kappa(codes[0], codes[1], self.clusters, self.values)
        else:
            found = agreement.alpha_of(codes, self.clusters, self.values, self.distance)
        return {
            "rows": int(((codes != NONE).sum(axis=0) > 1).sum()),
            measure: as_number(found),
            "percent": as_number(agreement.percent_alike(codes, self.clusters)),
        }

    def of_all(self) -> dict[str, Any]:
        """Return the numbers of all annotators, of all and the dataset, and of `pairs`."""
        annotators = [person for person in self.codes if person != GOLD]
        among = {"annotators": annotators} if len(annotators) > 1 else {}
        among |= {"with_gold": [*annotators, GOLD]} if annotators and GOLD in self.codes else {}
        found: dict[str, Any] = {kind: self.numbers(of, "alpha") for kind, of in among.items()}
        pairs, _ = self.pairs()
        return found | {"pairs": [{"of": [*p], **self.numbers(p, "kappa")} for p in pairs]}

    def pairs(self) -> tuple[list[tuple[str, str]], int]:
        """Return the pairs with common rows, and how many others have some.

        They are each annotator with the dataset, and the `MOST_PAIRS` with the most common rows.
        """
        if not self.codes:  # of a column that nobody filled in
            return [], 0
        has = np.array([codes != NONE for codes in self.codes.values()], np.float32)
        common = dict(zip(product(self.codes, repeat=2), (has @ has.T).flat, strict=True))
        pairs = [pair for pair in combinations(self.codes, 2) if common[pair]]
        among = sorted((p for p in pairs if GOLD not in p), key=lambda pair: -common[pair])
        left_out = {*among[MOST_PAIRS:]}
        return [pair for pair in pairs if pair not in left_out], len(left_out)

    def confusion(self, one: str, other: str) -> list[list[int]]:
        """Return how often one gave the value of a line, and the other that of a column."""
        first, second = self.codes[one], self.codes[other]
        both, size = (first != NONE) & (second != NONE), self.values
        table = np.bincount(first[both] * size + second[both], minlength=size * size)
        return table.reshape(size, size).tolist()


def compare(
    built: BuiltFolder, config: str, files: Sequence[str | Path], annotator: str = ANNOTATOR
) -> "Comparison":
    """Read files of labels for a config and compare them; errors as `read_labels`."""
    if not files:
        raise UsageError("no file of labels is named")
    (labels,) = read_labels(built, files, config, annotator)
    labels.leave_out_equal(labels_too=False)
    found = Comparison(labels)
    found.require_partners()
    return found


class Comparison:
    """The agreement of the annotators of `labels`, by column and label."""

    def __init__(self, labels: Labels) -> None:
        self.labels = labels
        self.annotators = [*labels.annotators]
        self.units: list[UnitKey] = [
            *dict.fromkeys(chain.from_iterable(labels.annotators.values()))
        ]
        self._clusters = np.unique([unit[0] for unit in self.units], return_inverse=True)[1]
        for column in labels.columns.values():
            labels.notes += _spellings(column, self._given(column))

    @cached_property
    def ratings(self) -> dict[str, tuple[list[Any], Ratings, dict[str, Ratings]]]:
        """Column -> its values in order, the ratings as a whole, and those of each label."""
        return {name: self._ratings(column) for name, column in self.labels.columns.items()}

    def _given(self, column: Column) -> dict[str, list[Any]]:
        """Return the value of each unit by each person with any, None for none."""
        everyone = self.labels.everyone.items()
        given = {by: [of.get(u, {}).get(column.name) for u in self.units] for by, of in everyone}
        return {by: values for by, values in given.items() if values.count(None) < len(values)}

    def _ratings(self, column: Column) -> tuple[list[Any], Ratings, dict[str, Ratings]]:
        given = self._given(column)
        counts = Counter(chain.from_iterable(given.values()))
        del counts[None]
        domain = _in_order(counts, column)
        distance: Distance = nominal
        if column.is_ordered:
            distance = ordinal
        elif column.is_set and len(domain) <= _MOST_SETS:
            distance = agreement.masi([frozenset(value) for value in domain])
        places = {value: place for place, value in enumerate(domain)}
        whole = Ratings(_codes(given, places), self._clusters, len(domain), distance)
        labels = column.labels or domain
        by_label = {}
        for label in labels if len(labels) <= MOST_LABELS else ():
            has = {v: int(label in v if column.is_set else label == v) for v in domain}
            if any(has.values()):
                by_label[label_text(label)] = Ratings(_codes(given, has), self._clusters, 2)
        return domain, whole, by_label

    @cached_property
    def _answers(self) -> dict[str, set[tuple[UnitKey, str]]]:
        """Person -> each unit and column with an answer."""
        found = defaultdict[str, set[tuple[UnitKey, str]]](set)
        for person, units in self.labels.everyone.items():
            for unit, name in product(units, self.labels.columns):
                if units[unit].get(name) is not None:
                    found[person].add((unit, name))
        return found

    @cached_property
    def _compared(self) -> set[tuple[UnitKey, str]]:
        """Each unit and column with the answers of two people, or of one and gold."""
        counts = Counter(chain.from_iterable(self._answers.values()))
        return {answer for answer, count in counts.items() if count > 1}

    def require_partners(self) -> None:
        """Raise UsageError for a file without an answer that another annotator or gold has, too."""
        labels = self.labels
        declared = labels.built.dataset.configs[labels.config]
        known = [n for n in declared.features if n not in (*declared.keys, *labels.keys)]
        own = "; rows of the dataset's own annotators are no gold" * (ANNOTATOR in declared.keys)
        remedy = f"Columns of {labels.config}: {few(known, 20) or 'none'}{own}. {LONG}"
        for file in dict.fromkeys(chain.from_iterable(labels.files.values())):
            answers = [self._answers[by] for by, files in labels.files.items() if file in files]
            if self._compared.isdisjoint(chain.from_iterable(answers)):
                what = f"{file}: neither another annotator nor gold has answers to compare with"
                columns = few([*labels.columns], 20)
                raise UsageError("; ".join([f"{what}: {columns}", *labels.notes]), remedy=remedy)

    def differences(self) -> Iterator[dict[str, Any]]:
        """Yield each unit and column in which the annotators differ; of one, from the dataset's.

        A row has the key; of a turn the speaker, the two utterances before it as `context` and the
        text; the column if there are several; and the value of each annotator and of `gold`, null
        for none.
        """
        labels, everyone = self.labels, self.labels.everyone
        by = self.annotators if len(self.annotators) > 1 else [*self.annotators, GOLD]
        for unit in self.units:
            for name in labels.columns:
                values = {p: units.get(unit, {}).get(name) for p, units in everyone.items()}
                if len({values[person] for person in by} - {None}) > 1:
                    row = labels.key_values(unit)
                    if said := labels.units.get(unit):
                        row |= {"speaker": said.speaker, "context": said.context, "text": said.text}
                    if len(labels.columns) > 1:
                        row["column"] = name
                    yield row | values

    def write_differences(self, path: Path, overwrite: bool = False) -> int:
        """Write the differences to a file of CSV, as `writing` does, and return their number."""
        rows = [*self.differences()]
        heads = [*(rows[0] if rows else (*self.labels.keys, *self.labels.everyone))]
        columns = self.labels.columns

        def cells(row: dict[str, Any]) -> Iterator[Any]:
            column = columns[row.get("column", next(iter(columns)))]
            return map(column.cell, row.values())

        with writing(path, overwrite=overwrite) as file:
            return write_cells(file, heads, map(cells, rows))

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers, unrounded; one that is undefined is null."""
        return self._numbers

    @cached_property
    def _numbers(self) -> dict[str, Any]:
        labels = self.labels
        return {
            "dataset": labels.built.dataset.name,
            "config": labels.config,
            "key": [*labels.keys],
            "annotators": {person: self._counts(person) for person in self.annotators},
            "notes": labels.notes,
            "columns": {name: self._column(name) for name in labels.columns},
        }

    def _counts(self, person: str) -> dict[str, Any]:
        """Return a person's files and numbers of rows, also those that nobody else answered."""
        units, answers = self.labels.annotators[person], self._answers[person]
        with_answer = {unit for unit, _ in answers}
        return {
            "files": self.labels.files[person],
            "rows": len(units),
            "config_rows": len(self.labels.rows),
            "without_answer": len(units) - len(with_answer),
            "answered_alone": len(with_answer - {unit for unit, _ in answers & self._compared}),
        }

    def tables(self) -> Iterator[tuple[str, list[str], list[list[str]]]]:
        """Yield tables for people: a title, headings, and rows of texts that begin with a name."""
        found = self.as_dict()
        heads = ["annotator", *(name.replace("_", " ") for name in _COUNTED)]
        of = found["annotators"].items()
        names = {name for _, name in self._compared}
        compared = [f"{n} ({c['alpha_of']})" for n, c in found["columns"].items() if n in names]
        title = f"compared: {', '.join(compared) or 'nothing'}"
        yield title, heads, [[p, *(f"{n[name]:,}" for name in _COUNTED)] for p, n in of]
        for name, column in found["columns"].items():
            labels = [*column["labels"].items(), (f"all ({column['alpha_of']})", column)]
            if counts := {n: each["counts"] for n, each in column["labels"].items()}:
                by = [*self.ratings[name][1].codes]
                rows = [[label, *(f"{of[p]:,}" for p in by)] for label, of in counts.items()]
                yield f"{name}: counts", ["label", *by], rows
            for kind, title in _AMONG.items():
                if kind in column:
                    rows = [[label, *_cells(each[kind], "alpha")] for label, each in labels]
                    yield f"{name}: {title}", ["label", "alpha", "95%", "% agreement", "rows"], rows
            for number, pair in enumerate(column["pairs"]):
                both = " and ".join(pair["of"])
                labels[-1] = "all", column  # kappa knows neither order nor sets
                rows = [[label, *_cells(each["pairs"][number], "kappa")] for label, each in labels]
                yield f"{name}: {both}", ["label", "kappa", "95%", "% agreement", "rows"], rows
                if "confusion" in pair:
                    values, table = pair["confusion"]["values"], pair["confusion"]["rows"]
                    rows = [[v, *map(str, line)] for v, line in zip(values, table, strict=True)]
                    one, other = pair["of"]
                    title = f"{name}: {one} in rows, {other} in columns"
                    yield title, [one, *values], rows
            if left_out := column["pairs_left_out"]:
                rows = [["with fewer common rows, left out", f"{left_out:,}"]]
                yield f"{name}: other pairs of annotators", ["pairs", "number"], rows

    def _column(self, name: str) -> dict[str, Any]:
        column, (domain, whole, by_label) = self.labels.columns[name], self.ratings[name]
        measures: dict[Distance, str] = {nominal: "nominal", ordinal: "ordinal"}
        measure = measures.get(whole.distance, "MASI")
        found = {"alpha_of": measure, **whole.of_all(), "pairs_left_out": whole.pairs()[1]}
        for pair in found["pairs"] if not column.is_set and len(domain) <= MOST_LABELS else ():
            values = [*map(label_text, domain)]
            pair["confusion"] = {"values": values, "rows": whole.confusion(*pair["of"])}
        found["labels"] = {
            label: {
                "counts": {person: int((of == 1).sum()) for person, of in each.codes.items()},
                **each.of_all(),
            }
            for label, each in by_label.items()
        }
        return found


def _spellings(column: Column, given: Mapping[str, list[Any]]) -> Iterator[str]:
    """Yield what may be written in two ways in a column that is open or of texts."""
    if not column.is_open and (column.labels or column.is_ordered):
        return
    words = {by: [*chain(*map(texts_of, {*of} - {None}))] for by, of in given.items()}
    by_word = {word: by for by, of in words.items() for word in of}
    apart = [by for by, of in words.items() if any({*of}.isdisjoint(o) for o in words.values())]
    if apart:
        shown = few([f"{by} ({shorten(few(sorted({*words[by]})), 100)})" for by in apart], 5)
        yield f"{column.name}: no value in common: {shown}"
    alike = defaultdict[Any, list[str]](list)
    for word in sorted(by_word):
        number = number_of(word)
        text = " ".join(normalize("NFKC", word).casefold().split())
        alike[text if number is None else number].append(word)
    if several := [" and ".join(of) for of in alike.values() if len(of) > 1]:
        yield f"{column.name}: values that differ in spelling alone: {few(several)}"
    counts = Counter(chain.from_iterable(given.values()))
    odd = [word for word in sorted(by_word) if number_of(word) is None]
    is_rare = sum(counts[word] for word in odd) * 20 <= counts.total() - counts[None]
    if odd and column.is_open and not column.is_set and (is_rare or all(map(COMMA.fullmatch, odd))):
        shown = few([f"{word} ({by_word[word]})" for word in odd])
        yield f"{column.name}: compared as texts, not as numbers, because of {shown}"


def texts_of(value: Any) -> Sequence[str]:
    """Return a value as text, or the labels of a set."""
    return (value or NOTHING) if isinstance(value, tuple) else [label_text(value)]


def _in_order(counts: Counter[Any], column: Column) -> list[Any]:
    """Return the values of a column in their order; without one, the commonest first."""
    if column.labels and not column.is_set:
        return sorted(counts, key=column.labels.index)
    if column.is_ordered:
        return sorted(counts)
    return sorted(counts, key=lambda value: (-counts[value], value))


def _codes(given: Mapping[str, list[Any]], numbers: Mapping[Any, int]) -> dict[str, Array]:
    """Return person -> the number of each value, `NONE` for None."""
    table = {**numbers, None: NONE}
    return {by: np.array([table[v] for v in values], int) for by, values in given.items()}


_COUNTED = ("rows", "config_rows", "without_answer", "answered_alone")
_AMONG = {"annotators": "all annotators", "with_gold": "all annotators and gold"}


def _cells(of: Mapping[str, Any], measure: str) -> Iterator[str]:
    """Yield a measure with its interval, percent agreement and rows, as texts."""
    value, low, high = of[measure].values()
    yield "undefined" if value is None else f"{value:.3f}"
    yield "–" if low is None else f"{low:.3f}…{high:.3f}"
    yield "undefined" if of["percent"]["value"] is None else f"{of['percent']['value']:.1f}"
    yield f"{of['rows']:,}"


def as_number(metric: Metric) -> dict[str, Any]:
    """Return a value with the ends of its interval; None for what is undefined."""
    ends = metric.interval if not math.isnan(metric.value) else None
    value = None if math.isnan(metric.value) else metric.value
    return {"value": value, "low": ends and ends.low, "high": ends and ends.high}


def label_text(value: Any) -> str:
    """Return a value as the text of a label."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)
