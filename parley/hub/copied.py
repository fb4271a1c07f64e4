"""A private copy of a build: the bytes that are verified are the bytes that are published."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from parley.base.errors import OutputError
from parley.base.regular import open_regular
from parley.base.temporary import temporary_folder
from parley.building.built import MOST_TEXT, BuiltFolder, find_folder, open_folder
from parley.building.collection import Dataset

_BLOCK = 1 << 20


@contextmanager
def private_copy(build: Path, dataset: Dataset) -> Iterator[BuiltFolder]:
    """Yield a copy of the dataset's build in the folder of `--build`, which nobody else writes.

    A link, a device or an unknown file is an empty file in the copy, for verification to refuse.

    Raises:
        OutputError: a file cannot be copied, or the provenance is broken.
        UsageError: there is no build.
    """
    built = find_folder(build, dataset)
    with temporary_folder("publish") as place:
        try:
            _copy(built, place)
        except OSError as error:
            raise OutputError(
                f"{built.path}: cannot be copied to {tempfile.gettempdir()}: "
                f"{error.filename or 'writing'}: {error.strerror or error}",
                remedy="Allow to read the files, and make room for the copy, or set TMPDIR to "
                "a folder on another disk.",
            ) from error
        copy = open_folder(place, dataset)
        yield BuiltFolder(place, dataset, copy.provenance, shown=built.path)


def _copy(built: BuiltFolder, place: Path) -> None:
    sizes = {name: int(file["size"]) for name, file in built.recorded.items()}
    sizes |= dict.fromkeys(built.texts, MOST_TEXT)
    for name, path in built.contents().items():
        copy = place / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.touch()
        if name in sizes and path.is_file() and not path.is_symlink():
            left = sizes[name] + 1  # a longer file stays too long
            with open_regular(path, links=False) as given, copy.open("wb") as taken:
                while left > 0 and (block := given.read(min(_BLOCK, left))):
                    left -= taken.write(block)
