"""Reads the dialogues of a dataset, each with what other configs say of it."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple, dataclass
from typing import Any

from parley.collection import Dataset
from parley.errors import ScriptError
from parley.folder.built import BuiltFolder
from parley.source.files import Source
from parley.transcript import Facets, Transcript, Value

Row = dict[str, Any]
Beside = dict[str, list[Row]]  # config -> its rows of a dialogue


@dataclass(frozen=True)
class Dialogue:
    """A row that `transcript.py` can read, and what stands beside it.

    Args:
        dataset: The dataset.
        config: The config that the row is of.
        split: The split that it is of.
        row: The row, as read from Parquet.
        beside: Config -> its rows of this dialogue, for the configs that `BESIDE` names.
        places: Every (config, split) with a row of this dialogue, that of `row` first.
    """

    dataset: Dataset
    config: str
    split: str
    row: Row
    beside: Beside
    places: tuple[tuple[str, str], ...]

    @property
    def id(self) -> str:
        """The value of the first column, as text."""
        return str(next(iter(self.row.values()), None))

    @property
    def transcript(self) -> Transcript | None:
        """The dialogue laid out for reading; None where the dataset has no `transcript.py`.

        Raises:
            ScriptError: transcript.py fails on it, or gives something else than text.
        """
        module = self.dataset.transcript
        return self._asked(module.transcript, _check_transcript) if module else None

    @property
    def facets(self) -> Facets:
        """What it can be filtered by: the splits it is in, and what `transcript.py` says.

        Without `facets` in `transcript.py` that is the scalars and labels of the row.

        Raises:
            ScriptError: transcript.py fails on it, or gives something else than values.
        """
        tool = self.dataset.transcript
        one = tool is not None and len(tool.CONFIGS) == 1
        splits: Facets = {"split": [s if one else f"{c}/{s}" for c, s in self.places]}
        if function := getattr(tool, "facets", None):
            said: Facets = self._asked(function, _check_facets)
            return splits | said
        features = self.dataset.features(self.config)
        (_, *columns) = self.row  # the id tells every row apart
        found = {column: _plain(self.row[column], features.get(column)) for column in columns}
        return splits | {column: value for column, value in found.items() if value is not None}

    def _asked(self, function: Callable[..., Any], check: Callable[[Any], None]) -> Any:
        """Return what a function of transcript.py says of the row, and of what is beside it."""
        try:
            found = function(self.row, *([self.beside] if self.beside else []))
            check(found)
        except Exception as error:  # whatever stands in a row of a folder that nobody verified
            name = self.dataset.name
            raise ScriptError(
                f"{name}: {name}/transcript.py fails on this row ({type(error).__name__}: {error})",
                remedy=f"If `parley verify {name}` holds for the folder, mend transcript.py; "
                "else the row is damaged: build it again.",
            ) from error
        return found


def _check_transcript(found: Any) -> None:
    if not isinstance(found, Transcript):
        raise TypeError(f"expected a Transcript, found {found!r:.60}")
    for value in _values(astuple(found)):
        if not isinstance(value, str | bool):
            raise TypeError(f"expected text, found {value!r:.60}")


def _check_facets(found: Any) -> None:
    for name, facet in found.items():
        for value in _values(facet):
            number = isinstance(value, int | float) and math.isfinite(value)
            if not (value is None or isinstance(value, str) or number):
                raise TypeError(f"{name}: expected text or a number, found {value!r:.60}")


def _values(found: Any) -> Iterator[Any]:
    """Yield what stands in lists, tuples and dicts of any depth, the keys of dicts too."""
    if isinstance(found, dict):
        yield from found
        found = list(found.values())
    if isinstance(found, list | tuple):
        for each in found:
            yield from _values(each)
    else:
        yield found


def _plain(value: Any, feature: Any) -> Value | list[Value] | None:
    """Return a scalar, or the name of a label or of each label of a list; None for the rest."""
    inner = feature[0] if isinstance(feature, list) else getattr(feature, "feature", feature)
    names = getattr(inner, "names", None)
    if isinstance(value, list):
        return [names[each] for each in value] if names else None
    if names and value is not None:
        return str(names[value])
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str | int | float) else None


def dialogues(folder: BuiltFolder) -> Iterator[Dialogue]:
    """Yield every dialogue that can be read, each once: from the first of `CONFIGS` that has it.

    What stands beside the dialogues of a split is read in one pass and kept while they last.
    Without a `transcript.py` every config is one of them.

    Raises:
        ScriptError: transcript.py is wrong.
        OutputError: a file of the folder is not Parquet that can be read.
    """
    dataset = folder.dataset
    found: dict[Any, dict[tuple[str, str], None]] = defaultdict(dict)  # as a set in their order
    for place in places(dataset, folder):
        for id in folder.ids(*place):
            found[id].setdefault(place)
    for place in dict.fromkeys(next(iter(each)) for each in found.values()):
        config, split = place
        beside = group_beside(dataset, folder, split)
        for row in folder.each_row(config, split):
            id = next(iter(row.values()), None)
            if next(iter(found[id])) == place:
                yield Dialogue(dataset, config, split, row, beside[id], tuple(found[id]))


def places(dataset: Dataset, place: BuiltFolder | Source) -> list[tuple[str, str]]:
    """Return the (config, split) pairs with dialogues that are there, the richest config first."""
    configs = dataset.transcript.CONFIGS if dataset.transcript else list(dataset.configs)
    return [(config, split) for config in configs for split in place.splits(config)]


def group_beside(
    dataset: Dataset, place: BuiltFolder | Source, split: str, only: Any = None
) -> dict[Any, Beside]:
    """Return what the configs that `BESIDE` names say: any id -> config -> rows of that split.

    Args:
        dataset: The dataset.
        place: Where its rows are.
        split: The split of the dialogues.
        only: The id of one dialogue, where no other is asked for.
    """
    wanted: dict[str, str] = getattr(dataset.transcript, "BESIDE", {})
    found: dict[Any, Beside] = defaultdict(lambda: {config: [] for config in wanted})
    for config, column in wanted.items():
        for row in rows(place, config, split) if split in place.splits(config) else ():
            if only is None or row[column] == only:
                found[row[column]][config].append(row)
    return found


def rows(place: BuiltFolder | Source, config: str, split: str) -> Iterable[Row]:
    """Return the rows of a split, of a built folder or made from a source."""
    if isinstance(place, BuiltFolder):
        return place.each_row(config, split)
    from parley.rows.generate import generate  # not at the top: a build needs less

    return generate(place, config, split)
