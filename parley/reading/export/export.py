"""Write a build in another format: a common one, or one of its dataset folder.

Every dataset can be written as `csv`, `jsonl` (all rows, or those of some dialogues) and
`croissant`, and one with chats as `prompt-completion`.
A dataset folder may hold an `export.py` with

    EXPORTS = {"trec": trec}                          # format -> function
    def trec(data: Data, folder: Path) -> None        # writes the files of the format into folder
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from parley.base.errors import MOST_PROBLEMS, OutputError, ParleyError, Problem, UsageError
from parley.base.replace import replacing
from parley.building.figures import MissingSplitError
from parley.building.folder import BuiltFolder
from parley.building.registry import Dataset
from parley.reading.export.tables import (
    CHATS,
    Ids,
    prompt_completion,
    write_csv,
    write_json_lines,
)


def _croissant(built: BuiltFolder, folder: Path) -> None:
    from parley.reading.export.croissant import croissant  # mlcroissant may not be installed

    croissant(built, folder)


_OF_ROWS = {"csv": write_csv, "jsonl": write_json_lines}
SAMPLE = "SAMPLE.txt"  # beside what was exported of a sample
_SAMPLE_TEXT = "These files were made of the invented sample of {}: they hold no data of it.\n"


def formats(dataset: Dataset) -> dict[str, Callable[[BuiltFolder, Path], None]]:
    """Return the formats of a dataset, each with the function that writes it."""
    chats = {"prompt-completion": prompt_completion} if CHATS in dataset.configs else {}
    return {**dataset.exports, **chats, **_OF_ROWS, "croissant": _croissant}


def export(built: BuiltFolder, format: str, target: Path, ids: Ids = None) -> list[str]:
    """Write a build in one of `formats`, and return the names of the files.

    `target` must be missing or an empty folder; it appears whole, or not at all. With `ids`,
    write only the rows of these dialogues, and no config whose rows belong to no single one.

    Raises:
        UsageError: the dataset has no such format or dialogue, or the format takes no ids.
        OutputError: a split or file is missing, or the target is not empty.
    """
    dataset = built.dataset
    offered = formats(dataset)
    if format not in offered:
        raise UsageError(f"{dataset.name} has no export {format!r}; it has: {', '.join(offered)}")
    if ids is not None and format not in _OF_ROWS:
        raise UsageError(f"{format} takes no ids; {', '.join(_OF_ROWS)} do")
    built.require_whole()
    with replacing(target) as folder:
        with explained(built):
            if ids is None:
                offered[format](built, folder)
            else:
                _OF_ROWS[format](built, folder, ids)
        note_sample(built, folder)
        return sorted(
            path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
        )


@contextmanager
def explained(built: BuiltFolder) -> Iterator[None]:
    """Turn an error of rows that nobody verified into an OutputError that names the misfits."""
    try:
        yield
    except MissingSplitError as error:
        raise OutputError(f"{built.path}: {error}") from error
    except (ParleyError, OSError, ModuleNotFoundError):
        raise
    except Exception as error:
        raise OutputError(
            f"{built.path}: cannot be exported ({type(error).__name__}: {error})",
            *islice(_misfits(built), MOST_PROBLEMS),
            remedy=f"Run {built.command('verify')}.",
        ) from error


def note_sample(built: BuiltFolder, folder: Path) -> None:
    """Note beside files made of a sample that they hold no data of the dataset."""
    if built.is_sample:
        text = _SAMPLE_TEXT.format(built.dataset.name)
        (folder / SAMPLE).write_text(text, encoding="utf-8")


def _misfits(built: BuiltFolder) -> Iterator[Problem]:
    """Yield where rows of a build differ from their features."""
    from parley.building.rows.arrow import explain  # not at the top: sound rows need none of it

    for config, split in built.declared:
        schema = built.features(config).arrow_schema
        for problem in explain(built.each_row(config, split), schema):
            yield problem.at(f"{config}/{split}")
