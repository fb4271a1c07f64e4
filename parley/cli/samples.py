"""The builds that a command reads: those of `--build`, or the samples, built for it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from parley.base.disk import temporary_folder
from parley.base.errors import UsageError
from parley.cli.common import select
from parley.rows.upstream import open_source


@contextmanager
def built_or_samples(
    folder: Path | None, sample: bool, names: list[str] | None = None
) -> Iterator[Path]:
    """Yield the folder of `--build`, or, with `--sample`, a temporary one of built samples."""
    if not sample:
        yield folder or Path("build")
        return
    if folder is not None:
        raise UsageError("--sample excludes --build")
    from parley.builds.build import build

    with temporary_folder("samples") as place:
        for dataset in select(names):
            build(open_source(dataset, None, sample=True), place)
        yield place
