"""Rules for the sample's content: each yields a line for each violation, with its remedy."""

from collections.abc import Iterator
from typing import Any

from parley.authoring.linting.dataset_folder import DatasetFolder
from parley.base.errors import ParleyError
from parley.building.configs import Config, View
from parley.building.rows.split import split_plan
from parley.reading.dialogues import Dialogue, as_id, related_by_dialogue
from parley.schema.alternatives import Alternatives
from parley.schema.nodes import Node
from parley.verifying.check import one_line

# Alternatives ---------------------------------------------------------------------------


def sample_shows_each_alternative(folder: DatasetFolder) -> Iterator[str]:
    """The sample has a value for each alternative of each shape, such as a null for (str, None).

    A shape that several fields share needs each alternative once.
    """
    lacking: dict[tuple[int, int], str] = {}
    shown: set[tuple[int, int]] = set()
    for config, declared in folder.dataset.configs.items():
        if isinstance(declared, Config):
            plans = (split_plan(folder.source, config, s) for s in folder.dataset.splits[config])
            records = [record for each in plans for record in each.records()]
            for node, values, place in _alternatives(declared.node, records, config):
                for number, (option, fitting, _) in enumerate(node.parts(values, place)):
                    key = id(node.shape), number
                    if fitting:
                        shown.add(key)
                    said = f"no record of the sample has {option.described()} here"
                    lacking.setdefault(key, f"{place}: {said}")
    for key, lacks in lacking.items():
        if key not in shown:
            yield f"{lacks}; add one, or narrow the shape if upstream has none"


def _alternatives(
    node: Node, values: list[Any], path: str
) -> Iterator[tuple[Alternatives, list[Any], str]]:
    """Yield each node of alternatives with the values there."""
    if isinstance(node, Alternatives):
        yield node, values, path
    for part in node.parts(values, path):
        yield from _alternatives(*part)


# Turns ----------------------------------------------------------------------------------


def transcript_lays_out_every_row(folder: DatasetFolder) -> Iterator[str]:
    """`transcript.py` gives facets and a transcript with each turn for the rows of CONFIGS."""
    dataset, declared = folder.dataset, folder.dataset.configs
    configs = getattr(dataset.transcript, "CONFIGS", ())
    for config in configs:
        if config not in declared:
            yield f"transcript.py: CONFIGS: no config {config}; name one"
    for name in ("BESIDE", "TABLES"):
        for config, column in getattr(dataset.transcript, name, {}).items():
            if config not in declared or column not in declared[config].features:
                yield f"transcript.py: {name}: no column {config}.{column}; name one"
    for config, split in folder.built.declared:
        if config not in configs:
            continue
        beside = related_by_dialogue(folder.built, split)
        for number, row in enumerate(folder.built.rows(config, split)):
            place = config, split
            id = as_id(next(iter(row.values())), dataset, place, number)
            dialogue = Dialogue(dataset, *place, row, beside[id], (place,))
            where = f"transcript.py: {config}/{split}[{number}]"
            try:
                shown = len(dialogue.transcript.turns)
                holds = getattr(declared[config], "holds", None)
                if not shown or (holds and shown != holds(row)[0]):
                    due = f"{holds(row)[0]} turns" if holds else "turns"
                    yield f"{where}: expected {due}, found {shown}; show each turn"
                dialogue.facets  # noqa: B018 - computes them
            except ParleyError as error:
                cause = error.__cause__ or error
                yield one_line(f"{where}: fails: {type(cause).__name__}: {cause}; fix it")


def views_are_of_dialogues(folder: DatasetFolder) -> Iterator[str]:
    """Each view says whose dialogues it shows, and their config what a dialogue holds."""
    configs = folder.dataset.configs
    script = f"{folder.dataset.name}.py"
    for name, declared in configs.items():
        if isinstance(declared, View) and not declared.of and declared.shows != {}:
            said = "name the config of its dialogues, of=, or say shows={}"
            yield f"{script}: View({name!r}) is of no config; {said}"
        config = configs.get(getattr(declared, "of", ""))
        if isinstance(config, Config) and config.holds is None:
            said = "give holds=, a function of a row: its number of turns, and its participants"
            yield f"{script}: Config({config.name!r}) says not what a dialogue holds; {said}"
