"""Measured values of a dataset's rows: `measured.json` beside its script.

    {"version": "1.0.0",
     "configs": {"dialogues": {
       "description": "a dialogue", "licence": "cc-by-4.0", "features": "5d41..."}},
     "splits": {"dialogues": {
       "train": {"rows": 1030, "digest": "9a03...", "bytes": 1198304, "arrow_bytes": 4120111,
                 "null": []},
       "test": {"documented": 100}}},
     "figures": {"participants.gender.female": {"measured": 472, "verdict": "matches"}},
     "counted": {"guesses.highest": "76.7"},
     "scores": {"deal": {"majority": {"auc": "0.500"}}}}

`features` is the sha256 of a config's columns, types and label names. A split that was not built
has only the rows that a document states, if one does. `counted` has null for a function that needs
a split that was not built, or a missing package. `scores` has those of the baselines that a task
names as references, by its name, the baseline and the reference's options. `make measure` writes
the file from the real files; built cards, the page, `parley list` and `parley verify` read it.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parley.base.disk import read_regular
from parley.base.errors import OutputError
from parley.base.numbers import FigureValue
from parley.base.strict_json import loads
from parley.base.values import flat
from parley.declaration.figures import NOT_CHECKED, Figure, recorded_figures
from parley.declaration.registry import Dataset
from parley.schema.features import card_yaml
from parley.schema.shapes import problems

FILE = "measured.json"
_RENEW = "Run `make measure`."

Splits = Mapping[str, Mapping[str, Mapping[str, Any]]]  # config -> split -> what is known of it
Scores = Mapping[str, Mapping[str, Mapping[str, Any]]]
Counted = Mapping[str, FigureValue | None]  # function and keys -> number, None for none

_SPLIT = {"rows": int, "digest": str, "bytes": int, "arrow_bytes": int, "null": [str]}
_FIGURE = {"measured?": (int, float, str), "verdict": str, "reason?": str}


def _require_texts(metrics: Any) -> None:
    """Check the metrics of a score: numbers as text, in groups or not."""
    if not isinstance(metrics, dict) or not all(isinstance(v, str) for v in flat(metrics).values()):
        raise ValueError("metrics as text")


_SHAPE = {
    "version": str,
    "configs": {str: {"description": str, "licence": str, "features": str}},
    "splits": {str: {str: (_SPLIT, {"documented": int}, {})}},
    "figures": {str: _FIGURE},
    "counted?": {str: (int, float, str, None)},
    "scores?": {str: {str: _require_texts}},
}


@dataclass(frozen=True)
class Measured:
    """The measured values of one version; empty for a new dataset."""

    version: str = ""  # of the rows
    # config -> description, licence, features
    configs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    splits: Splits = field(default_factory=dict)
    # figure -> value, verdict, and the reason if `figures.py` has none
    found: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    counted: Counted = field(default_factory=dict)
    # task -> baseline and options -> its metrics, as text
    scores: Scores = field(default_factory=dict)

    def figures(self, dataset: Dataset) -> list[Figure]:
        """Return every documented figure of a dataset with what was measured."""
        return list(recorded_figures(dataset.figures, self.found))


def measured(dataset: Dataset) -> Measured:
    """Return what was measured of a dataset; OutputError if its `measured.json` is damaged."""
    path = dataset.folder / FILE
    try:
        return measured_in(read_regular(path), path)
    except FileNotFoundError:
        return Measured()
    except OSError as error:
        raise OutputError(f"{path}: cannot be read: {error.strerror}", remedy=_RENEW) from error


def measured_in(content: bytes, path: Path) -> Measured:
    """Return what a `measured.json` says; OutputError if it is damaged."""
    try:
        found = loads(content)
    except ValueError as error:
        raise OutputError(f"{path}: cannot be read: {error}", remedy=_RENEW) from error
    if wrong := list(problems(found, _SHAPE)):
        raise OutputError(f"{path}: not in parley's format", *wrong, remedy=_RENEW)
    parts = ("configs", "splits", "figures", "counted", "scores")
    return Measured(found["version"], *(found.get(part, {}) for part in parts))


def descriptions(dataset: Dataset) -> dict[str, dict[str, str]]:
    """Return config -> its description, its licence, and the sha256 of its features."""
    found = {}
    for config, declared in dataset.configs.items():
        features = json.dumps(card_yaml(declared.features)).encode("ascii")
        found[config] = {
            "description": declared.description,
            "licence": dataset.builder.licence(config),
            "features": hashlib.sha256(features).hexdigest(),
        }
    return found


def every_split(dataset: Dataset, made: Splits) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Return what was measured of every split (`made`), or else its documented rows."""
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for config, names in dataset.splits.items():
        rows, there = dataset.documented_rows.get(config, {}), made.get(config, {})
        stated = {split: {"documented": rows[split]} for split in names if split in rows}
        found[config] = {split: there.get(split) or stated.get(split, {}) for split in names}
    return found


def measured_text(
    dataset: Dataset, splits: Splits, figures: Sequence[Figure], counted: Counted, scores: Scores
) -> str:
    """Return the text of `measured.json`, given what is known of every split."""
    content: dict[str, Any] = {"version": dataset.version, "configs": descriptions(dataset)}
    content |= {"splits": splits, "figures": {each.name: dict(_entry(each)) for each in figures}}
    content |= {"counted": counted} if counted else {}
    return _text(content | ({"scores": scores} if scores else {})) + "\n"


def _text(value: Any, indent: int = 0) -> str:
    """Return JSON with a line for each split, figure and counted number."""
    nested = isinstance(value, Mapping) and any(isinstance(v, Mapping) for v in value.values())
    if not nested and (indent != 1 or not isinstance(value, Mapping) or not value):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    inner = "\n" + " " * (indent + 1)
    entries = (f"{json.dumps(key)}: {_text(each, indent + 1)}" for key, each in value.items())
    return "{" + inner + f",{inner}".join(entries) + "\n" + " " * indent + "}"


def _entry(figure: Figure) -> Iterator[tuple[str, Any]]:
    if figure.measured is not None:
        yield "measured", figure.measured
    yield "verdict", figure.verdict
    if figure.verdict == NOT_CHECKED:  # any other reason stands in figures.py
        yield "reason", figure.reason
