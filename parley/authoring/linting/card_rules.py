"""Rules for dataset cards: each yields a line for each violation, with its remedy."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from huggingface_hub import DatasetCard

from parley.authoring.linting.dataset_folder import DatasetFolder
from parley.base.errors import few
from parley.base.marks import with_parts, without_parts
from parley.building.card import PARTS, renewed_card
from parley.building.measurements import measured
from parley.source.pins import PLACEHOLDER
from parley.verifying.check import NotChecked

# Keys that the front matter must have
_KEYS = ("license", "language", "pretty_name", "task_categories", "size_categories", "tags")
# The Hub's text tasks, July 2026
TASKS = (
    "text-classification", "token-classification", "table-question-answering",
    "question-answering", "zero-shot-classification", "translation", "summarization",
    "feature-extraction", "text-generation", "fill-mask", "sentence-similarity",
    "text-retrieval", "text-ranking", "tabular-regression", "other",
)  # fmt: skip
TO_REPLACE = ("Describe the dataset", "describe the dataset in a line", "The Title of the Paper")
_LICENCE = re.compile(r"[a-z][a-z0-9.+-]*")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*|code|multilingual")


def _sections(body: str) -> dict[str, str]:
    """Return heading -> text of the second-level sections."""
    titles = (each.partition("\n") for each in body.split("\n## ")[1:])
    return {title: text.strip() for title, _, text in titles}


_SKELETON = Path(__file__).parent.parent / "skeleton" / "README.md"
GIVEN = _sections(_SKELETON.read_text(encoding="utf-8"))
"""Heading -> text of the sections of `parley new`: those that every card has, in order."""
# what it only describes; it has the generated parts, and no changes
TO_WRITE = [each for each, text in GIVEN.items() if "<!--" not in text]
TO_WRITE.remove("What we changed")


def card_can_be_read(folder: DatasetFolder) -> Iterator[str]:
    """The card has YAML front matter, and the marks of each generated part."""
    _, body = folder.card
    with_parts(body, str(folder.dataset.card), dict.fromkeys(PARTS, ""))
    yield from ()


def card_has_its_parts(folder: DatasetFolder) -> Iterator[str]:
    """The card has the required headings in order."""
    _, body = folder.card
    found = re.findall(r"^## (.*)$", body, re.MULTILINE)
    if found != [*GIVEN]:
        lacking, unknown = GIVEN.keys() - set(found), set(found) - GIVEN.keys()
        problem = f"lacks {', '.join(sorted(lacking))}" if lacking else "has another order"
        problem = f"has the unknown {', '.join(sorted(unknown))}" if unknown else problem
        yield f"README.md: {problem}; let its second-level headings be {', '.join(GIVEN)}"
    for unfinished in re.findall("TODO|More Information Needed", body):
        yield f"README.md: contains {unfinished}; write the missing text"


def card_is_up_to_date(folder: DatasetFolder) -> Iterator[str]:
    """The generated parts, the counted numbers and the front matter are those of the dataset."""
    dataset = folder.dataset
    if dataset.read_card() != renewed_card(dataset):
        said = "a generated part, a counted number or the front matter is stale"
        yield f"README.md: {said}; run `parley card {dataset.name}`"


def placeholders_are_replaced(folder: DatasetFolder) -> Iterator[str]:
    """Card and script have no text or address of `parley new` that waits for the author's own.

    Until the dataset is measured, built with --source, such texts are no error.
    """
    dataset, builder = folder.dataset, folder.dataset.builder
    script = f"{dataset.name}.py"
    about = (sys.modules[builder.__module__].__doc__, builder.__doc__, builder.CITATION)
    places = {file: str(pin["url"]) for file, pin in dataset.pins.items()}
    places["HOMEPAGE"] = builder.HOMEPAGE
    left = []
    if none := [file for file, url in places.items() if url.startswith(PLACEHOLDER)]:
        left.append(f"{script}, pins.py: {PLACEHOLDER} for {few(none)}")
    _, body = folder.card
    texts = {"README.md": without_parts(body), script: "\n".join(each or "" for each in about)}
    left += [
        f"{file}: {each}" for file, text in texts.items() for each in TO_REPLACE if each in text
    ]
    own = _sections(body)
    left += [f"README.md: {title}" for title in TO_WRITE if own.get(title) == GIVEN[title]]
    said = "what `parley new` wrote is still there; write your own"
    if left and not measured(dataset).version:
        yield NotChecked(f"{few(left)}: {said}")
    else:
        yield from (f"{each}: {said}" for each in left)


def card_has_the_form_of_the_hub(folder: DatasetFolder) -> Iterator[str]:
    """Front matter has the Hub's tasks; licence and languages have the form of its ids."""
    front, _ = folder.card
    DatasetCard.load(folder.dataset.card)  # parses the card like the Hub
    for key in _KEYS:
        if not front.get(key):
            yield f"README.md: the front matter lacks {key}; add it"
    tasks = front.get("task_categories") or []
    for each in tasks if isinstance(tasks, list) else [tasks]:
        if each not in TASKS:
            said = f"the Hub knows no {each}; take one of {', '.join(TASKS)}"
            yield f"README.md: task_categories: {said}"
    builder, script = folder.dataset.builder, f"{folder.dataset.name}.py"
    named = dict.fromkeys(map(builder.licence, folder.dataset.configs))
    for each in re.sub(r"\([^)]*\)", "", ", ".join(named)).split(","):  # "mit (the texts), cc0-1.0"
        if not _LICENCE.fullmatch(each.strip()):
            said = f"{each.strip()} is no id of a licence; take the Hub's, as cc-by-4.0"
            yield f"{script}: LICENSE: {said}"
    for each in builder.LANGUAGES:
        if not _LANGUAGE.fullmatch(each):
            said = f"{each} is no code of a language; take one of ISO 639, as en"
            yield f"{script}: LANGUAGES: {said}"
