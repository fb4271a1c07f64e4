"""The right answers of a task in a build: all of them, a published subset, or a pilot."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from parley.base.errors import OutputError, ParleyError, ScriptError, UsageError, few
from parley.base.extras import extra_of
from parley.base.modules import module_path
from parley.building.figures import MissingSplitError
from parley.building.folder import BuiltFolder
from parley.tasks.formats import Key
from parley.tasks.task import Gold, Task


@dataclass(frozen=True)
class Part:
    """The scored part of a task."""

    subset: str = ""  # a published subset of the task, "" for all dialogues
    limit: int = 0  # the number of keys in a pilot, which have the lowest sha256; 0 for all
    chosen: frozenset[Key] = frozenset()  # the keys that a run named itself, none for all
    ids: frozenset[str] = frozenset()  # of dialogues that are scored alone, as text; none for all

    def __str__(self) -> str:
        subset = f"subset {self.subset}" if self.subset else ""
        named = f"the dialogues of {len(self.ids):,} ids" if self.ids else ""
        pilot = f"a pilot of {self.limit:,}" if self.limit else ""
        own = f"{len(self.chosen):,} chosen" if self.chosen else ""
        return ", ".join(filter(None, (subset, named, pilot, own))) or "all dialogues"


ALL = Part()


def load_gold(
    built: BuiltFolder, name: str, options: Mapping[str, str], part: Part = ALL
) -> tuple[Gold, Collection[Key]]:
    """Return the gold of a part of a task, and the keys outside that part.

    OutputError if the build lacks a config, or the part is empty. UsageError for unknown ids.
    """
    task = built.dataset.task(name)
    if absent := [config for config in task.configs if not built.splits(config)]:
        said = f"{built.shown}: has no config {', '.join(absent)}, which {name} reads"
        raise OutputError(said, remedy=f"Run {built.rebuild} again.")
    subset = task.subset(part.subset)
    with running(built):
        gold = whole = task.gold(built, **options, **subset.arguments)
        fields = task.gold_key
        for key in gold:
            if not isinstance(key, tuple) or len(key) != len(fields):
                raise ScriptError(
                    f"{script_of(built)}: {name}: gold: expected tuples of {', '.join(fields)} as "
                    f"keys, found {key!r:.60}"
                )
        if part.subset or part.ids:
            of = {key: {*map(str, task.dialogues(key, gold[key]))} for key in gold}
            published = {*map(str, subset.ids)}
            there = published.difference(*of.values())
            if there and not built.is_sample:  # dialogues that are there, though not scored
                splits = ((each, split) for each in task.configs for split in built.splits(each))
                there = {str(id) for each in splits for id in built.ids(*each)}
            if part.subset:
                of = {key: ids for key, ids in of.items() if not published.isdisjoint(ids)}
            for what, due, known in (
                (f"subset {part.subset}", published, there),
                ("ids", part.ids, ()),
            ):
                if unknown := sorted(due.difference(known, *of.values())):
                    raise UsageError(
                        f"{what}: {len(unknown):,} of {len(due):,} name no scored "
                        f"dialogue: {few(unknown)}",
                        remedy=f"Scored are: {task.evaluated_on}.",
                    )
            gold = {k: gold[k] for k in of if not part.ids or not part.ids.isdisjoint(of[k])}
    gold = pilot(built, name, gold, part)
    return gold, whole.keys() - gold.keys()


def pilot(built: BuiltFolder, name: str, gold: Gold, part: Part) -> Gold:
    """Return the gold of a part's pilot, all if it has none; OutputError if the part is empty."""
    if part.limit or part.chosen:
        kept = part.chosen or {*in_order_of_pilots(gold)[: part.limit]}
        gold = {key: value for key, value in gold.items() if key in kept}
    if part != ALL and not gold:
        raise OutputError(f"{built.shown}: {name} has nothing to score in {part}")
    return gold


def in_order_of_pilots(keys: Iterable[Key]) -> list[Key]:
    """Return keys by their sha256: the first N make a pilot of N."""
    return sorted(keys, key=lambda key: hashlib.sha256(repr(key).encode()).hexdigest())


def rows_digest(built: BuiltFolder, task: Task) -> str:
    """Return the sha256 over the digests of the splits that a task reads.

    The digests are those of provenance.json, which `parley verify` recomputes.
    """
    configs = built.provenance["configs"]
    lines = [
        f"{config} {split} {made['digest']}\n"
        for config in sorted(task.configs)
        for split, made in sorted(configs.get(config, {}).items())
    ]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def script_of(built: BuiltFolder) -> str:
    """Return the file or folder with the tasks of a build's dataset, "NAME/tasks"."""
    return f"{built.dataset.name}/{module_path(built.dataset.folder, 'tasks').name}"


@contextmanager
def running(built: BuiltFolder) -> Iterator[None]:
    """Name the script and the build in errors of a task's functions."""
    try:
        yield
    except MissingSplitError as error:
        raise OutputError(f"{built.shown}: {error}") from error
    except (ParleyError, OSError, MemoryError):
        raise
    except Exception as error:  # an unverified folder may hold anything
        if isinstance(error, ModuleNotFoundError) and extra_of((error.name or "").split(".")[0]):
            raise  # the command line names the extra to install
        raise ScriptError(
            f"{script_of(built)} fails on {built.shown} ({type(error).__name__}: {error})",
            remedy=f"If `parley verify {built.dataset.name}` holds for the folder, fix the task; "
            "else the folder is damaged: build it again.",
        ) from error
