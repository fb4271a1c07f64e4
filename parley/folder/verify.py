"""Verifies a built folder: that it is whole and consistent, and every documented figure."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from parley.build import PROVENANCE
from parley.collection import Dataset
from parley.errors import OutputError
from parley.figures import A_SAMPLE, UNEXPLAINED, Data, Figure, checks_of, definition_of, figures
from parley.folder import checks
from parley.shapes import problems
from parley.source.files import Source, open_source


@dataclass(frozen=True)
class Check:
    """One check: what must hold, and what contradicts it."""

    name: str
    definition: str
    problems: list[str]
    skipped: str = ""

    @property
    def failed(self) -> bool:
        """Whether anything contradicts it."""
        return bool(self.problems)


@dataclass(frozen=True)
class Verification:
    """What was found out about one built folder."""

    dataset: str
    checks: list[Check] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        """Whether a check failed or a figure is unexplained."""
        return any(check.failed for check in self.checks) or bool(self.count(UNEXPLAINED))

    def count(self, verdict: str) -> int:
        """Return how many figures have this verdict."""
        return sum(figure.verdict == verdict for figure in self.figures)

    def as_dict(self) -> dict[str, Any]:
        """Return it all for JSON."""
        return {
            "dataset": self.dataset,
            "failed": self.failed,
            "checks": [vars(check) for check in self.checks],
            "figures": [figure.as_dict() for figure in self.figures],
        }


_SHAPE = {
    "dataset": str,
    "version": str,
    "sample": bool,
    "missing": [str],
    "sources": {str: {str: (str, int)}},
    "built_with": {str: str},
    "configs": {
        str: {
            str: {
                "rows": int,
                "digest": str,
                "files": [{"path": str, "bytes": int, "sha256": str}],
            }
        }
    },
}


def verify(dataset: Dataset, path: Path, source: Source | None = None) -> Verification:
    """Verify a built folder of a dataset.

    Args:
        dataset: The dataset.
        path: Its built folder.
        source: Its upstream files, if they are at hand, to hold the rows against. A sample is
            held against the records shipped with the dataset instead.

    Raises:
        OutputError: there is no built folder, or its provenance cannot be read.
    """
    provenance = read_provenance(path)
    if provenance["dataset"] != dataset.name:
        raise OutputError(
            f"{path / PROVENANCE}: expected the dataset {dataset.name}, "
            f"found {provenance['dataset']!r}"
        )
    if provenance["sample"]:
        source = open_source(dataset, None, sample=True)
    data = Data(path, dataset.module)
    folder = checks.Folder(dataset, path, provenance, data, source, [])
    schema = _run(checks.schema, folder)
    why_not = A_SAMPLE if provenance["sample"] else ""
    if schema.failed:
        why_not = "the Parquet files are damaged"
    folder.figures.extend(figures(dataset.statistics, data, why_not))
    found = [_run(checks.files, folder), schema]
    found += [_run(c, folder) for c in (checks.provenance, checks.counts, checks.card)]
    if not schema.failed:
        found += [_run(c, folder) for c in (checks.digests, checks.keys, checks.labels)]
        found += [_run(c, data) for c in checks_of(dataset.statistics)]
        skipped = "" if source else "the upstream files are not at hand"
        found.append(_run(checks.source, folder, skipped))
    return Verification(dataset.name, found, folder.figures)


def _run(check: Callable[[Any], Iterator[str]], argument: Any, skipped: str = "") -> Check:
    problems: list[str] = []
    try:
        problems += check(argument)
    except Exception as error:  # what no check expects must not hide the rest
        problems.append(f"the check failed: {type(error).__name__}: {error}")
    return Check(check.__name__, definition_of(check), problems, skipped)


def read_provenance(path: Path) -> dict[str, Any]:
    """Return what a built folder says of itself; raise OutputError if it says nothing sound."""
    file = path / PROVENANCE
    wrong = partial("{}: not what parley writes: {}".format, file)
    if file.is_symlink() or not file.is_file():
        raise OutputError(f"{path}: not a built folder (no {PROVENANCE}); run `parley build`")
    try:
        provenance = json.loads(checks.read_text(file))
    except (OSError, ValueError, RecursionError) as error:
        raise OutputError(wrong(error)) from error
    for problem in problems(provenance, _SHAPE):
        raise OutputError(wrong(problem))
    return dict(provenance)
