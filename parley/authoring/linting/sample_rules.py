"""Rules for the sample's content: each yields a line for each violation, with its remedy."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from parley.authoring.linting.dataset_folder import DatasetFolder, one_line, values_of
from parley.base.errors import ParleyError
from parley.declaring.declaration import Config, View
from parley.declaring.shapes import Checked, Converted, fitter, in_words
from parley.reading.dialogues import Dialogue, as_id, related_by_dialogue

# Alternatives ---------------------------------------------------------------------------


@dataclass
class _Option:
    """An alternative of a shape, and whether a record shows it."""

    whole: tuple[Any, ...]  # kept, so that its id stays its own
    option: Any
    place: str
    shown: bool = False


def sample_shows_each_alternative(folder: DatasetFolder) -> Iterator[str]:
    """The sample has a value for each alternative of each shape, such as a null for (str, None).

    A shape that several fields share needs each alternative once.
    """
    found: dict[tuple[int, int], _Option] = {}
    for config, declared in folder.dataset.configs.items():
        if isinstance(declared, Config):
            splits = folder.dataset.splits[config]
            records = [record for split in splits for record in folder.records(config, split)]
            _look(declared.record_shape, records, config, found)
    for each in found.values():
        if not each.shown:
            said = in_words(each.option, None)
            if isinstance(each.option, dict):
                said += f" of {', '.join(map(str, each.option))}"
            lacks = f"{each.place}: no record of the sample has {said} here"
            yield f"{lacks}; add one, or narrow the shape if upstream has none"


def _look(shape: Any, values: list[Any], path: str, found: dict[tuple[int, int], _Option]) -> None:
    """Note which alternatives of a shape the values show."""
    if isinstance(shape, Checked | Converted):
        _look(shape.shape, values, path, found)
    elif isinstance(shape, list):
        _look(shape[0], [*chain.from_iterable(values)], f"{path}[]", found)
    elif isinstance(shape, dict) and str in shape:
        _look(shape[str], [*chain.from_iterable(map(dict.values, values))], f"{path}.*", found)
    elif isinstance(shape, dict):
        for key, inner in shape.items():
            name = key.removesuffix("?")
            _look(inner, [each[name] for each in values if name in each], f"{path}.{name}", found)
    elif isinstance(shape, tuple):
        for number, option in enumerate(shape):
            fitting = list(filter(fitter(option), values))
            each = found.setdefault((id(shape), number), _Option(shape, option, path))
            each.shown = each.shown or bool(fitting)
            _look(option, fitting, path, found)


# Turns ----------------------------------------------------------------------------------


def transcript_lays_out_every_row(folder: DatasetFolder) -> Iterator[str]:
    """`transcript.py` gives facets and a transcript with each turn for the rows of CONFIGS."""
    dataset = folder.dataset
    configs = getattr(dataset.transcript, "CONFIGS", ())
    columns = {config: set(each.features) for config, each in dataset.configs.items()}
    for config in configs:
        if config not in columns:
            yield f"transcript.py: CONFIGS: no config {config}; name one"
    for name in ("BESIDE", "TABLES"):
        for config, column in getattr(dataset.transcript, name, {}).items():
            if column not in columns.get(config, ()):
                yield f"transcript.py: {name}: no column {config}.{column}; name one"
    for config, split in folder.splits():
        if config not in configs:
            continue
        beside = related_by_dialogue(dataset, folder.built, split)
        for number, row in enumerate(folder.built.rows(config, split)):
            place = config, split
            id = as_id(next(iter(row.values())), dataset, place, number)
            dialogue = Dialogue(dataset, *place, row, beside[id], (place,))
            where = f"transcript.py: {config}/{split}[{number}]"
            try:
                if laid_out := dialogue.transcript:
                    yield from _incomplete(where, row, [turn.text for turn in laid_out.turns])
                dialogue.facets  # noqa: B018 - computes them
            except ParleyError as error:
                cause = error.__cause__ or error
                yield one_line(f"{where}: fails: {type(cause).__name__}: {cause}; fix it")


def _incomplete(where: str, row: Any, shown: list[str]) -> Iterator[str]:
    if not shown:
        yield f"{where}: has no turns; give them"
    for path in dropped(row, shown):
        yield f"{where}: lacks the text of {path}; show each turn"


def views_show_every_dialogue(folder: DatasetFolder) -> Iterator[str]:
    """A `messages` view has a chat for each dialogue, with each turn."""
    declared = folder.dataset.configs.get("messages")
    if not isinstance(declared, View):
        return
    for split in folder.dataset.splits["messages"]:
        # the rows of a config have turns as lists, as its records may not
        laid_out = folder.built.rows(declared.of, split) if declared.of else None
        for number, record in enumerate(folder.records("messages", split)):
            chats = list(declared.rows([record]))
            if not chats:
                yield f"messages/{split}: no chat for record {number}; add one"
                continue
            said = [message["content"] for chat in chats for message in chat["messages"]]
            for path in dropped(laid_out[number] if laid_out else record, said):
                yield f"messages/{split}: record {number}: no chat has the text of {path}; add it"


def dropped(value: Any, shown: list[str]) -> Iterator[str]:
    """Yield the paths of a dialogue's sentences that are not among the texts shown.

    The dialogue is the texts at the same place of several items of which most are shown. Texts
    of one word may be acts, which a chat or transcript may leave out or say in other words.
    """
    whole = _plain("\n".join(shown))
    found: dict[str, list[tuple[str, bool]]] = {}
    for path, text in values_of(value):
        if isinstance(text, str) and "[" in path and (" " in text.strip() or not text.isascii()):
            alike = re.sub(r"\[\d+\]", "[]", path)
            found.setdefault(alike, []).append((path, _plain(text) in whole))
    most = max(found.values(), key=lambda each: sum(there for _, there in each), default=[])
    if any(there for _, there in most):
        yield from (path for path, there in most if not there)


def _plain(text: str) -> str:
    return " ".join(text.split())
