"""What the shared suite breaks in a dataset's sample, and who must say so.

A module a dataset, of its name, declares

    ROWS       check -> (place, change) of built rows that this check of `checks.py` must notice
    UNGUARDED  the values that only the digests and the source can tell from others
    RECORDS    (file, place, change, message): what a build refuses of an upstream file, and how
    OPTIONAL   what a record may lack, or have null for, and
    FREE       what may be any value of its type: patterns of places
    SAMPLE     the digests of the sample's splits: each config's, their first eight digits

A place is a path, like "messages/train[6].source_turns[0]" in rows or "[0].chat_logs" in a file. A
change is the new value, `DROP`, or a function of the old value that returns the new one.
"""

import inspect
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pyarrow as pa

from parley.building.built import BuiltFolder
from parley.declaring.features import arrow_schema
from parley.declaring.figures import MissingSplitError
from parley.verifying import integrity

DROP = object()
NAMES = [path.stem for path in Path(__file__).parent.glob("[!_]*.py")]
NONE_YET = ModuleType("none yet")
vars(NONE_YET).update(ROWS={}, RECORDS=[])


def steps(place):
    """Return the keys and indices of a place."""
    found = re.findall(r"\[(-?\d+)\]|([^.\[\]]+)", place)
    return [int(index) if index else key for index, key in found]


def changed(value, place, change):
    """Return the value, changed at a place."""
    holder = [value]
    *way, last = [0, *steps(place)]
    inside = holder
    for step in way:
        inside = inside[step]
    before = repr(value)
    if change is DROP:
        del inside[last]
    else:
        inside[last] = change(inside[last]) if callable(change) else change
    assert repr(holder[0]) != before, f"{place}: the change changes nothing"
    return holder[0]


def nodes(value, way=()):
    """Yield every value in a value, itself first, with the way to it."""
    yield way, value
    inner = value.items() if isinstance(value, dict) else ()
    for step, each in enumerate(value) if isinstance(value, list) else inner:
        yield from nodes(each, (*way, step))


def general(way):
    """Return a way as a place in any row: without the indices."""
    return "".join("[]" if isinstance(step, int) else f".{step}" for step in way).lstrip(".")


def swap(first, second):
    """Return the change of a list in which two places are exchanged."""

    def change(items):
        items[first], items[second] = items[second], items[first]
        return items

    return change


class InMemory(BuiltFolder):
    """A built folder whose rows are what a test says, not what its files hold."""

    def __init__(self, built, rows):
        super().__init__(built.path, built.dataset, built.provenance)
        self.held = rows

    def rows(self, config, *splits):
        """Return the rows held for these splits."""
        if missing := [split for split in splits if f"{config}/{split}" not in self.held]:
            raise MissingSplitError(f"{config}/{missing[0]}")
        return [row for split in splits for row in self.held[f"{config}/{split}"]]

    def tables(self, config, split):
        """Yield the rows of a split as a table."""
        schema = arrow_schema(self.features(config))
        yield pa.Table.from_pylist(self.rows(config, split), schema)


def of(name):
    """Return the declarations of a dataset; a new one has none yet."""
    return import_module(f"mutations.{name}") if name in NAMES else NONE_YET


def found_by(check, built, figures=()):
    """Return the problems that a check finds in a build without its upstream files."""
    function = getattr(integrity, check)
    given = {"built": built, "plans": {}, "counted": integrity.Counted(built), "figures": figures}
    return list(function(*(given[name] for name in inspect.signature(function).parameters)))
