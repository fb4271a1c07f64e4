"""Verifies a build: its checks and every documented figure."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from parley.base.errors import OutputError, ParleyError
from parley.declaration.figures import A_SAMPLE, UNEXPLAINED, Figure, figures, marked
from parley.declaration.registry import Dataset
from parley.read.dialogues import transcripts
from parley.rows.folder import BuiltFolder, find_folder
from parley.rows.splits import paused_garbage_collection, plan
from parley.rows.upstream import Sources, at_hand, open_source
from parley.verification import folder_checks, row_checks
from parley.verification.check import Check, OnStep, run_check


@dataclass(frozen=True)
class Verification:
    """The results of verifying one build of a dataset, or of its sample."""

    dataset: str
    sample: bool = False
    checks: list[Check] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)

    def __repr__(self) -> str:
        failed = [check.name for check in self.checks if check.failed]
        checks = f"failed: {', '.join(failed)}" if failed else f"{len(self.checks)} checks hold"
        return f"<verification of {self.dataset}: {checks}, {len(self.figures)} figures>"

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
            "sample": self.sample,
            "failed": self.failed,
            "checks": [vars(check) for check in self.checks],
            "figures": [asdict(figure) for figure in self.figures],
        }


def verify(
    built: BuiltFolder,
    source: Sources | None = None,
    on_step: OnStep = lambda dataset, step: None,
) -> Verification:
    """Verify a build, also against its upstream files, if available, or against the sample."""
    dataset = built.dataset
    built = BuiltFolder(built.path, dataset, built.provenance, built.shown)  # reads files anew
    if built.is_sample:
        source = open_source(dataset, None, sample=True)
    plans = {each.name: each for each in plan(source)} if source else {}
    remeasured = folder_checks.Remeasured(built, plans)

    def test(check: Callable[..., Iterator[str]], *arguments: Any) -> Check:
        on_step(dataset.name, check.__name__.replace("_", " "))
        return run_check(check, built, *arguments)

    checks = [test(folder_checks.files), schema := test(folder_checks.schema)]
    if schema.failed:
        damaged = figures(dataset.figures, None, "the Parquet files are damaged")
        return Verification(dataset.name, built.is_sample, checks, list(damaged))
    found = list[Figure]()
    for figure in figures(dataset.figures, built, A_SAMPLE if built.is_sample else ""):
        on_step(dataset.name, figure.name.partition(".")[0].replace("_", " "))
        found.append(figure)
    checks += [
        test(folder_checks.shards, remeasured),
        test(folder_checks.provenance, plans, remeasured),
        test(folder_checks.card, remeasured),
        test(folder_checks.as_measured, remeasured, found),
        test(row_checks.keys),
        test(row_checks.empty_texts),
        test(row_checks.records, plans),
        test(folder_checks.questions, remeasured),
        test(row_checks.views, plans),
        test(row_checks.shown),
        *(test(check) for check in marked(dataset.checks, "is_check")),
        test(row_checks.source, plans, remeasured),
        test(row_checks.joins, plans),
        test(folder_checks.counted),
        test(transcripts),
    ]
    return Verification(dataset.name, built.is_sample, checks, found)


def verify_each(
    datasets: list[Dataset], build: Path, sources: Path | None, on_step: OnStep
) -> Iterator[Verification | ParleyError]:
    """Verify the builds of datasets in a folder; yield each result or error."""
    for dataset in datasets:
        outcome: Verification | ParleyError
        try:
            with paused_garbage_collection():
                built = find_folder(build, dataset)
                outcome = verify(built, at_hand(dataset, sources), on_step)
        except MemoryError:  # which ends the command
            raise
        except ParleyError as error:
            outcome = error
        except Exception as error:  # an unexpected error must not hide the other datasets
            said = f"{type(error).__name__}: {error}"
            outcome = OutputError(f"{dataset.name}: was not verified: {said}")
        yield outcome
