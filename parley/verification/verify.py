"""Verifies a build: its checks and every documented figure."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from parley.base.errors import OutputError, ParleyError, words_of
from parley.builds.built_folder import BuiltFolder, find_folder
from parley.builds.sources import Sources, at_hand, open_source, plan
from parley.declaration.figures import A_SAMPLE, UNEXPLAINED, Figure, marked
from parley.declaration.registry import Dataset
from parley.rows.splits import paused_garbage_collection
from parley.verification import folder_checks, row_checks
from parley.verification.figures import figures
from parley.verification.results import Check, Found, run_check

OnStep = Callable[[str, str], None]  # dataset and name of the check


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


@paused_garbage_collection()
def verify(
    built: BuiltFolder, source: Sources | None = None, on_step: OnStep = lambda dataset, step: None
) -> Verification:
    """Verify a build, also against its upstream files, if available, or against the sample."""
    dataset = built.dataset
    built = BuiltFolder(built.path, dataset, built.provenance, built.shown_path)  # reads files anew
    if built.is_sample:
        source = open_source(dataset, None, sample=True)
    plans = {each.name: each for each in plan(source)} if source else {}
    rebuilt = folder_checks.Rebuilt(built, plans)

    def test(check: Callable[..., Iterator[Found]], *arguments: Any) -> Check:
        on_step(dataset.name, check.__name__.replace("_", " "))
        return run_check(check, built, *arguments)

    checks = [test(folder_checks.files), schema := test(folder_checks.schema)]
    if schema.failed:
        damaged = figures(dataset.figures, None, "the Parquet files are damaged")
        return Verification(dataset.name, built.is_sample, checks, list(damaged))
    found = list[Figure]()
    why_not = A_SAMPLE if built.is_sample else ""
    for figure in figures(dataset.figures, built, why_not):
        on_step(dataset.name, figure.name.partition(".")[0].replace("_", " "))
        found.append(figure)
    checks += [
        test(folder_checks.shards, rebuilt),
        test(folder_checks.provenance, plans, rebuilt),
        test(folder_checks.card, rebuilt),
        test(folder_checks.as_measured, rebuilt, found),
        test(row_checks.keys),
        test(row_checks.empty_texts),
        test(row_checks.records, plans),
        test(row_checks.views, plans),
        test(row_checks.shown),
        *(test(check) for check in marked(dataset.checks, "is_check")),
        test(row_checks.source, plans, rebuilt),
        test(row_checks.joins, plans),
        test(folder_checks.counted),
        test(folder_checks.subsets),
        test(row_checks.transcripts),
    ]
    return Verification(dataset.name, built.is_sample, checks, found)


def verify_each(
    datasets: list[Dataset], build: Path, sources: Path | None, on_step: OnStep
) -> Iterator[Verification | ParleyError]:
    """Verify the builds of datasets in a folder; yield each result or error."""
    for dataset in datasets:
        try:
            built = find_folder(build, dataset)
            source = None if built.is_sample else at_hand(dataset, sources)
            yield verify(built, source, on_step)
        except ParleyError as error:
            yield error
        except Exception as error:  # an unexpected error must not hide the other datasets
            yield OutputError(f"{dataset.name}: was not verified: {words_of(error)}")
