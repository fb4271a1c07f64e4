"""Writes a built dataset in another format, with the function that its folder offers for it.

A dataset folder may hold an `export.py` with

    EXPORTS = {"trec": trec}                          # format -> function
    def trec(data: Data, folder: Path) -> None        # writes the files of the format into folder
"""

from pathlib import Path

from parley.collection import Dataset, discover
from parley.errors import OutputError, ParleyError, UsageError
from parley.figures import Data, MissingSplitError
from parley.folder.replace import replacing
from parley.folder.verify import read_provenance


def export(dataset: Dataset, format: str, build: Path, target: Path) -> list[str]:
    """Write a built folder of a dataset in a format, and return the names of the files.

    Args:
        dataset: The dataset.
        format: One of its `EXPORTS`.
        build: Its built folder.
        target: A folder that does not exist or is empty; it appears whole, or not at all.

    Raises:
        UsageError: the dataset has no such format.
        OutputError: there is no built folder, a split of it is missing, or the target is not empty.
    """
    if format not in dataset.exports:
        offered = [f"{name} {key}" for key, other in discover().items() for name in other.exports]
        raise UsageError(
            f"{dataset.name} has no export {format!r}; there are: {', '.join(offered) or 'none'}"
        )
    read_provenance(build)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise OutputError(f"{target}: stands there already; name a folder to make")
    with replacing(target, mark="") as folder:
        try:
            dataset.exports[format](Data(build, dataset.module), folder)
        except MissingSplitError as error:
            raise OutputError(f"{build}: {error}") from error
        except (ParleyError, OSError):
            raise
        except Exception as error:  # whatever stands in a folder that nobody verified
            raise OutputError(
                f"{build}: cannot be exported ({type(error).__name__}: {error}); "
                f"run `parley verify {dataset.name}`"
            ) from error
        return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))
