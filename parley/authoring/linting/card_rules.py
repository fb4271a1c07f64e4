"""Rules for dataset cards: each yields a line for each violation, with its remedy."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from huggingface_hub import DatasetCard

from parley.authoring.linting.dataset_folder import DatasetFolder, NotYetError
from parley.base.errors import few
from parley.building.card import BEGIN, END
from parley.building.measured import measured

HEADINGS = (  # "Tasks" only if the dataset has tasks
    "How to load", "What a row looks like", "Fields", "Splits", "Tasks", "How it was collected",
    "Annotation", "Personal and sensitive information", "Known limits", "What we changed",
    "Citation", "Licence",
)  # fmt: skip
# Handwritten keys of the front matter
BY_HAND = ("license", "language", "pretty_name", "task_categories", "size_categories", "tags")
# The Hub's text tasks, July 2026
TASKS = (
    "text-classification", "token-classification", "table-question-answering",
    "question-answering", "zero-shot-classification", "translation", "summarization",
    "feature-extraction", "text-generation", "fill-mask", "sentence-similarity",
    "text-retrieval", "text-ranking", "tabular-regression", "other",
)  # fmt: skip
# Sections that the card of `parley new` only describes, and its other texts to replace
TO_WRITE = (
    "How it was collected", "Annotation", "Personal and sensitive information", "Known limits",
    "Licence",
)  # fmt: skip
TO_REPLACE = ("Describe the dataset", "describe the dataset in a line", "The Title of the Paper")
_SKELETON = Path(__file__).parent.parent / "skeleton" / "README.md"
SIZES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B")


def card_can_be_read(folder: DatasetFolder) -> Iterator[str]:
    """The card has YAML front matter, and text with the two marks under Splits."""
    _, body = folder.card
    for mark in (BEGIN, END):
        if (count := body.count(mark)) != 1:
            yield f"README.md: the line {mark} comes {count} times; have it once, under Splits"


def card_has_its_parts(folder: DatasetFolder) -> Iterator[str]:
    """The card has the required headings in order."""
    _, body = folder.card
    due = [name for name in HEADINGS if name != "Tasks" or folder.dataset.tasks]
    found = re.findall(r"^## (.*)$", body, re.MULTILINE)
    if found != due:
        lacking, unknown = set(due) - set(found), set(found) - set(due)
        problem = f"lacks {', '.join(sorted(lacking))}" if lacking else "has another order"
        problem = f"has the unknown {', '.join(sorted(unknown))}" if unknown else problem
        yield f"README.md: {problem}; let its second-level headings be {', '.join(due)}"
    for unfinished in re.findall("TODO|More Information Needed", body):
        yield f"README.md: contains {unfinished}; write the missing text"


def placeholders_are_replaced(folder: DatasetFolder) -> Iterator[str]:
    """Card and script have no text of `parley new` that waits for the author's own.

    Until the dataset is measured, such texts are no error.
    """
    dataset, builder = folder.dataset, folder.dataset.builder
    _, body = folder.card
    texts = {
        "README.md": body,
        f"{dataset.name}.py": f"{sys.modules[builder.__module__].__doc__}\n{builder.__doc__}",
    }
    left = [
        f"{file}: {each}" for file, text in texts.items() for each in TO_REPLACE if each in text
    ]
    own, given = _sections(body), _sections(_SKELETON.read_text(encoding="utf-8"))
    left += [f"README.md: {title}" for title in TO_WRITE if own.get(title) == given[title]]
    if left and not measured(dataset).version:
        raise NotYetError(f"the text of `parley new` is still there ({few(left)}); write your own")
    yield from (f"{each}: the text of `parley new` is still there; write your own" for each in left)


def _sections(body: str) -> dict[str, str]:
    """Return heading -> text of the second-level sections."""
    titles = (each.partition("\n") for each in body.split("\n## ")[1:])
    return {title: text.strip() for title, _, text in titles}


def card_is_valid_for_the_hub(folder: DatasetFolder) -> Iterator[str]:
    """The front matter has the required keys, with values that the Hub knows."""
    front, _ = folder.card
    DatasetCard.load(folder.dataset.card)  # parses the card like the Hub
    for key in BY_HAND:
        if not front.get(key):
            yield f"README.md: the front matter lacks {key}; add it"
    for key, known in (("task_categories", TASKS), ("size_categories", SIZES)):
        stated = front.get(key) or []
        for value in stated if isinstance(stated, list) else [stated]:
            if value not in known:
                yield f"README.md: {key}: the Hub knows no {value}; take one of {', '.join(known)}"


def card_describes_every_field(folder: DatasetFolder) -> Iterator[str]:
    """The section Fields names every config and every column in backticks."""
    _, body = folder.card
    fields = body.partition("## Fields")[2].partition("\n## ")[0]
    for config, declared in folder.dataset.configs.items():
        if f"`{config}`" not in fields:
            yield f"README.md: Fields lacks the config `{config}`; describe it"
        for column in declared.features:
            if not re.search(rf"`{re.escape(column)}(?!\w)", fields):
                yield f"README.md: Fields lacks `{column}` of {config}; describe it"


def card_shows_a_row(folder: DatasetFolder) -> Iterator[str]:
    """The section 'What a row looks like' shows a row of a config as JSON."""
    _, body = folder.card
    block = re.search(r"## What a row looks like.*?```json\n(.*?)```", body, re.DOTALL)
    try:
        found = json.loads(block[1] if block else "")
    except ValueError as error:
        yield f"README.md: What a row looks like: expected a row as ```json: {error}; fix it"
        return
    columns = [list(config.features) for config in folder.dataset.configs.values()]
    if not isinstance(found, dict) or sorted(found) not in map(sorted, columns):
        due = ", ".join(columns[0])
        yield f"README.md: the row fits no config; give it the columns of dialogues: {due}"


def card_cites(folder: DatasetFolder) -> Iterator[str]:
    """The card contains the script's CITATION."""
    _, body = folder.card
    if (citation := folder.dataset.builder.CITATION.strip()) not in body or not citation:
        yield "README.md: Citation lacks the script's CITATION; copy it there"
