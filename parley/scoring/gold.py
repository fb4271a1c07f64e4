"""The right answers of a task in a build: all, or those of a `Part`.

`running` names the script in errors of a task's functions.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass

from parley.base.errors import MissingSplitError, OutputError, ScriptError, UsageError, few
from parley.builds.built_folder import BuiltFolder
from parley.declaration.registry import module_path
from parley.tasks.prediction_formats import Key
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
        ids = f"the dialogues of {len(self.ids):,} ids" if self.ids else ""
        pilot = f"a pilot of {self.limit:,}" if self.limit else ""
        chosen = f"{len(self.chosen):,} chosen" if self.chosen else ""
        return ", ".join(filter(None, (subset, ids, pilot, chosen))) or "all dialogues"


ALL = Part()


def load_gold(
    built: BuiltFolder, name: str, options: Mapping[str, str], part: Part = ALL
) -> tuple[Gold, Collection[Key]]:
    """Return the gold of a part of a task, and the keys outside that part.

    OutputError if the build lacks a config, or the part is empty. UsageError for unknown ids.
    """
    task, fields = built.dataset.task(name), built.dataset.task(name).gold_key
    if absent := [config for config in task.configs if not built.splits(config)]:
        what = f"{built.shown_path}: has no config {', '.join(absent)}, which {name} reads"
        raise OutputError(what, remedy=f"Run {built.rebuild} again.")
    with running(built):
        arguments = task.subset(part.subset).arguments
        gold = whole = task.gold(built, **options, **arguments)
        every = {*whole}
        with suppress(MissingSplitError):  # which the subset itself may not need
            every |= task.gold(built, **options).keys() if arguments else set()
        for key in gold:
            if not isinstance(key, tuple) or len(key) != len(fields):
                what = f"expected tuples of {', '.join(fields)} as keys, found {key!r:.60}"
                raise ScriptError(f"{script_of(built)}: {name}: gold: {what}")
            if not isinstance(gold[key], Mapping):
                what = f"expected the fields of the answer to {key!r:.60}, found {gold[key]!r:.60}"
                raise ScriptError(f"{script_of(built)}: {name}: gold: {what}")
        if part.subset or part.ids:
            gold = _of_dialogues(built, task, gold, part)
    gold = pilot(built, name, gold, part)
    return gold, every - gold.keys()


def _of_dialogues(built: BuiltFolder, task: Task, gold: Gold, part: Part) -> Gold:
    """Return the gold of a part's subset and ids; UsageError for unknown ones."""
    ids_of = {key: {*map(str, task.dialogues(key, gold[key]))} for key in gold}
    if part.subset:
        ids = {*map(str, task.subset(part.subset).ids)}
        if ids.difference(*ids_of.values()) and not built.is_sample:
            # dialogues of the build may be in a subset, though not scored
            splits = [(config, split) for config in task.configs for split in built.splits(config)]
            in_build = {
                built.dataset.dialogue_id(split, value)
                for config, split in splits
                for value in built.ids(config, split)
            }
            if unknown := ids.difference(in_build, *ids_of.values()):
                raise _unknown(f"subset {part.subset}", unknown, len(ids), task)
        ids_of = {key: of_key for key, of_key in ids_of.items() if not ids.isdisjoint(of_key)}
    if part.ids:
        if unknown := {*part.ids}.difference(*ids_of.values()):
            raise _unknown("ids", unknown, len(part.ids), task)
        ids_of = {key: of_key for key, of_key in ids_of.items() if not part.ids.isdisjoint(of_key)}
    return {key: gold[key] for key in ids_of}


def _unknown(what: str, ids: Collection[str], count: int, task: Task) -> UsageError:
    """Return the error for ids of no scored dialogue, among so many that were named."""
    problem = f"{len(ids):,} of {count:,} name no scored dialogue: {few(sorted(ids))}"
    return UsageError(f"{what}: {problem}", remedy=f"The task scores {task.evaluated_on}.")


def pilot(built: BuiltFolder, name: str, gold: Gold, part: Part) -> Gold:
    """Return the gold of a part's pilot, all if it has none; OutputError if the part is empty."""
    if part.limit or part.chosen:
        keys = part.chosen or {*in_order_of_pilots(gold)[: part.limit]}
        gold = {key: value for key, value in gold.items() if key in keys}
    if part != ALL and not gold:
        raise OutputError(f"{built.shown_path}: {name} has nothing to score in {part}")
    return gold


def in_order_of_pilots(keys: Iterable[Key]) -> list[Key]:
    """Return keys by their sha256: the first N make a pilot of N."""
    return sorted(keys, key=lambda key: hashlib.sha256(repr(key).encode()).hexdigest())


def rows_digest(built: BuiltFolder, task: Task) -> str:
    """Return the sha256 over the digests of the splits that a task reads.

    The digests are those of provenance.json, which `parley verify` recomputes.
    """
    configs = built.provenance["configs"]
    digest = hashlib.sha256()
    for config in sorted(task.configs):
        for split, record in sorted(configs.get(config, {}).items()):
            digest.update(f"{config} {split} {record['digest']}\n".encode())
    return digest.hexdigest()


def script_of(built: BuiltFolder) -> str:
    """Return the file or folder with the tasks of a build's dataset, "NAME/tasks"."""
    return f"{built.dataset.name}/{module_path(built.dataset.folder, 'tasks').name}"


def running(built: BuiltFolder) -> AbstractContextManager[None]:
    """Name the script and the build in errors of a task's functions."""
    file = module_path(built.dataset.folder, "tasks").name
    return built.dataset.running(file, built.shown_path)
