"""Rules for dataset cards: each yields a line for each violation, with its remedy."""

import re
import sys
from collections.abc import Iterator

from huggingface_hub import DatasetCard

from parley.authoring.new import SKELETON
from parley.base.errors import few
from parley.builds.card import PARTS, renewed_card
from parley.builds.card_parts import with_parts, without_parts
from parley.declaration.measured import measured
from parley.declaration.registry import CITATION
from parley.source.hashes import PLACEHOLDER
from parley.verification.dataset_folder import DatasetFolder
from parley.verification.results import Aside, Found

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
# The forms alone: the Hub compares the names before an upload
_LICENCE = re.compile(r"[a-z][a-z0-9]*([-.+][a-z0-9.+]*)*")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*|code|multilingual")
# an entry without a key, or a field without a comma before it
_NO_BIBTEX = re.compile(r'^@\w+\{(?![^\s,{}]+,)|[}"\w]\s*\n\s*\w+\s*=\s*[{"\d]', re.MULTILINE)


def _sections(body: str) -> dict[str, str]:
    """Return heading -> text of the second-level sections."""
    titles = (section.partition("\n") for section in body.split("\n## ")[1:])
    return {title: text.strip() for title, _, text in titles}


SECTIONS = _sections((SKELETON / "README.md").read_text(encoding="utf-8"))
"""Heading -> text of the sections of `parley new`: those that every card has, in order."""
# what it only describes; the others are generated
TO_WRITE = [title for title, text in SECTIONS.items() if "<!--" not in text]


def card_can_be_read(folder: DatasetFolder) -> Iterator[str]:
    """The card has YAML front matter, and the marks of each generated part."""
    _, body = folder.card
    with_parts(body, str(folder.dataset.card), dict.fromkeys(PARTS, ""))
    yield from ()


def card_has_its_parts(folder: DatasetFolder) -> Iterator[str]:
    """The card has the required headings in order."""
    _, body = folder.card
    titles = re.findall(r"^## (.*)$", body, re.MULTILINE)
    if titles != [*SECTIONS]:
        problem = "has another order"
        if unknown := {*titles} - SECTIONS.keys():
            problem = f"has the unknown {', '.join(sorted(unknown))}"
        elif lacking := SECTIONS.keys() - {*titles}:
            problem = f"lacks {', '.join(sorted(lacking))}"
        yield f"README.md: {problem}; let its second-level headings be {', '.join(SECTIONS)}"
    for unfinished in re.findall("TODO|More Information Needed", body):
        yield f"README.md: contains {unfinished}; write the missing text"


def card_is_up_to_date(folder: DatasetFolder) -> Iterator[str]:
    """The generated parts, the counted numbers and the front matter are those of the dataset."""
    dataset = folder.dataset
    if dataset.read_card() != renewed_card(dataset):
        problem = "a generated part, a counted number or the front matter is stale"
        yield f"README.md: {problem}; run `parley card {dataset.name}`"


def placeholders_are_replaced(folder: DatasetFolder) -> Iterator[Found]:
    """Card and script have no text or address of `parley new` that waits for the author's own.

    Until the dataset is measured, built with --source, such texts are no error.
    """
    dataset, builder = folder.dataset, folder.dataset.builder
    script = f"{dataset.name}.py"
    about = (sys.modules[builder.__module__].__doc__, builder.__doc__)
    places = {file: str(pin["url"]) for file, pin in dataset.pins.items()}
    places["HOMEPAGE"] = builder.HOMEPAGE
    none = [file for file, url in places.items() if url.startswith(PLACEHOLDER)]
    left = [f"{script}, pins.py: {PLACEHOLDER} for {few(none)}"] if none else []
    _, body = folder.card
    texts = {
        "README.md": without_parts(body),
        script: "\n".join(text or "" for text in about),
        CITATION: builder.CITATION,
    }
    left += [f"{file}: {one}" for file, text in texts.items() for one in TO_REPLACE if one in text]
    sections = _sections(body)
    for title in TO_WRITE:
        last = SECTIONS[title].split(". ")[-1]
        if not sections.get(title) or last in sections[title]:
            left.append(f"README.md: {title}")
    problem = "what `parley new` wrote is still there; write your own"
    if left and not measured(dataset).version:
        yield Aside("not checked", f"{few(left)}: {problem}")
    else:
        yield from (f"{place}: {problem}" for place in left)


def card_has_the_form_of_the_hub(folder: DatasetFolder) -> Iterator[str]:
    """Front matter has the Hub's tasks; licences, languages and the citation have their forms."""
    front, _ = folder.card
    DatasetCard.load(folder.dataset.card)  # parses the card like the Hub
    for key in (key for key in _KEYS if not front.get(key)):
        yield f"README.md: the front matter lacks {key}; add it"
    tasks = front.get("task_categories") or []
    for task in tasks if isinstance(tasks, list) else [tasks]:
        if task not in TASKS:
            problem = f"the Hub knows no {task}; take one of {', '.join(TASKS)}"
            yield f"README.md: task_categories: {problem}"
    builder, script = folder.dataset.builder, f"{folder.dataset.name}.py"
    licences = ", ".join(dict.fromkeys(map(builder.licence, folder.dataset.configs)))
    for part in re.sub(r"\([^)]*\)", "", licences).split(","):  # "mit (the texts), cc0-1.0"
        licence = part.strip()
        if not _LICENCE.fullmatch(licence):
            problem = f"{licence!r} is no name of a licence; take one of the Hub, as cc-by-4.0"
            yield f"{script}: LICENSE: {problem}"
    bibtex = builder.CITATION
    if bibtex.count("{") != bibtex.count("}") or _NO_BIBTEX.search(bibtex):
        form = "@KIND{KEY, and a comma after each field, and all braces closed"
        yield f"{CITATION}: expected {form}; repair it"
    for language in builder.LANGUAGES:
        if not _LANGUAGE.fullmatch(language):
            problem = f"{language} is no code of a language; take one of ISO 639, as en"
            yield f"{script}: LANGUAGES: {problem}"
