"""What the shared suite breaks in a dataset's sample, and who must say so.

A module a dataset, of its name, declares

    GUARDS     check -> a pattern of "place change": this check must notice each
    ROWS       check -> place -> change of built rows that it must notice besides
    UNGUARDED  place -> changes that only the digests and the source can tell
    RECORDS    (file, place, change, named): what a build refuses of an upstream file; what it names
    OPTIONAL   what a record may lack, or have null for, and
    LOOSE      what may have other keys, or be of another type: patterns of places
    SAMPLE     each config of the sample, and the first eight digits of each split's digest

A place is a path, like "messages/train[6].source_turns[0]" in rows or "[0].chat_logs" in a file; in
a pattern it lacks split and numbers. A change is the name of one of test_mutations' `ways`, the new
value, `DROP`, or a function of the old value that returns the new one.
"""

import inspect
import re

import pyarrow as pa

from parley.base.errors import MissingSplitError
from parley.builds.built_folder import BuiltFolder
from parley.schema.features import arrow_schema
from parley.verification import folder_checks, row_checks

DROP = object()


def steps(place):
    """Return the keys and indices of a place."""
    found = re.findall(r"\[(-?\d+)\]|([^.\[\]]+)", place)
    return [int(index) if index else key for index, key in found]


def changed(value, place, change):
    """Return the value, changed at a place."""
    holder = [value]
    way = (0, *steps(place))
    inside, last = inner(holder, way), way[-1]
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


def inner(value, way):
    """Return the dict or list that holds the end of a way."""
    for step in way[:-1]:
        value = value[step]
    return value


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
        """Return the rows held for these splits, or for all."""
        splits = splits or self.splits(config)
        if missing := [split for split in splits if f"{config}/{split}" not in self.held]:
            raise MissingSplitError(f"{config}/{missing[0]}")
        return [row for split in splits for row in self.held[f"{config}/{split}"]]

    def tables(self, config, split):
        """Yield the rows of a split as a table."""
        schema = arrow_schema(self.features(config))
        yield pa.Table.from_pylist(self.rows(config, split), schema)


def found_by(check, built, figures=()):
    """Return the problems that a check finds in a build without its upstream files."""
    homes = (folder_checks, row_checks)
    function = next(vars(home)[check] for home in homes if check in vars(home))
    rebuilt = folder_checks.Rebuilt(built, {})
    given = {"built": built, "plans": {}, "rebuilt": rebuilt, "figures": figures}
    found = function(*(given[name] for name in inspect.signature(function).parameters))
    return [each for each in found if type(each) is str]
