"""What must hold of a dataset card, one function a check.

Each yields a line for everything that contradicts its docstring, and says what to do.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from huggingface_hub import DatasetCard

from parley.checking.subject import Subject, lines_of
from parley.errors import ParleyError
from parley.figures import figures
from parley.folder.card import BEGIN, END, card_configs, stated_figures
from parley.rows.features import card_yaml
from parley.scoring.leaderboard import renewed
from parley.tasks import tasks_of

HEADINGS = (
    "How to load",
    "What a row looks like",
    "Fields",
    "Splits",
    "Tasks",  # of a dataset that has some
    "How it was collected",
    "Annotation",
    "Personal and sensitive information",
    "Known limits",
    "What we changed",
    "Citation",
    "Licence",
)
# The keys of the front matter that are written by hand
BY_HAND = ("license", "language", "pretty_name", "task_categories", "size_categories", "tags")
# From the Hub's list of tasks, July 2026, as far as text is concerned
TASKS = (
    "text-classification",
    "token-classification",
    "table-question-answering",
    "question-answering",
    "zero-shot-classification",
    "translation",
    "summarization",
    "feature-extraction",
    "text-generation",
    "fill-mask",
    "sentence-similarity",
    "text-retrieval",
    "text-ranking",
    "tabular-regression",
    "other",
)
SIZES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B")


def card_can_be_read(subject: Subject) -> Iterator[str]:
    """The card is there: YAML front matter, text, and in it the two marks of what is generated."""
    try:
        _, body = subject.card
    except ParleyError as error:
        yield from (f"{line}. docs/adding.md shows one." for line in lines_of(error))
        return
    for mark in (BEGIN, END):
        if (count := body.count(mark)) != 1:
            yield f"README.md: the line {mark} comes {count} times; have it once, under Splits"


def card_has_its_parts(subject: Subject) -> Iterator[str]:
    """The text of the card has the house's headings, in their order."""
    _, body = subject.card
    due = [name for name in HEADINGS if name != "Tasks" or subject.dataset.tasks]
    found = re.findall(r"^## (.*)$", body, re.MULTILINE)
    for heading in due:
        if heading not in found:
            yield f"README.md: lacks the heading '## {heading}'; add it, with what it asks for"
    for heading in found:
        if heading not in due:
            yield f"README.md: has an unknown heading '## {heading}'; make it one of three #"
    if sorted(found) == sorted(due) and found != due:
        yield f"README.md: put the headings in the order {', '.join(due)}"
    for unfinished in re.findall("TODO|More Information Needed", body):
        yield f"README.md: says {unfinished}; write what is meant"


def card_is_valid_for_the_hub(subject: Subject) -> Iterator[str]:
    """The front matter has the keys that the Hub reads, with values that it knows."""
    front, _ = subject.card
    DatasetCard.load(subject.dataset.card)  # parses what the Hub would
    for key in BY_HAND:
        if not front.get(key):
            yield f"README.md: the front matter lacks {key}; add it"
    for key, known in (("task_categories", TASKS), ("size_categories", SIZES)):
        stated = front.get(key) or []
        for value in stated if isinstance(stated, list) else [stated]:
            if value not in known:
                yield f"README.md: {key}: the Hub knows no {value}; take one of {', '.join(known)}"


def _features(subject: Subject) -> dict[str, Any]:
    return {config: each.features for config, each in subject.dataset.configs.items()}


def card_describes_every_field(subject: Subject) -> Iterator[str]:
    """The section Fields speaks of every config and of every column, in backticks."""
    _, body = subject.card
    fields = body.partition("## Fields")[2].partition("\n## ")[0]
    for config, features in _features(subject).items():
        if f"`{config}`" not in fields:
            yield f"README.md: Fields does not speak of the config `{config}`; describe it"
        for column in features:
            if not re.search(rf"`{re.escape(column)}(?!\w)", fields):
                yield f"README.md: Fields lacks `{column}` of {config}; describe it"


def card_shows_a_row(subject: Subject) -> Iterator[str]:
    """The section 'What a row looks like' begins with a row of some config, as JSON."""
    _, body = subject.card
    block = re.search(r"## What a row looks like.*?```json\n(.*?)```", body, re.DOTALL)
    if not block:
        yield "README.md: no ```json block under 'What a row looks like'; show an invented row"
        return
    try:
        found = json.loads(block[1])
    except ValueError as error:
        yield f"README.md: the row under 'What a row looks like' is no JSON: {error}; mend it"
        return
    columns = {config: list(features) for config, features in _features(subject).items()}
    if not isinstance(found, dict) or sorted(found) not in map(sorted, columns.values()):
        due = ", ".join(columns["dialogues"])
        yield f"README.md: the row shown is of no config; give it the columns of dialogues: {due}"


def card_cites(subject: Subject) -> Iterator[str]:
    """The section Citation holds the script's CITATION."""
    _, body = subject.card
    if (citation := subject.dataset.builder.CITATION.strip()) not in body or not citation:
        yield "README.md: Citation does not hold the script's CITATION; copy it there"


def card_is_up_to_date(subject: Subject) -> Iterator[str]:
    """Configs, features, licences and documented figures on the card are those of the folder."""
    front, body = subject.card
    stale = []
    if front.get("configs") != card_configs(subject.dataset.splits, subject.dataset.default):
        stale.append("configs: not the configs and splits of the script")
    infos = {info.get("config_name"): info for info in front.get("dataset_info") or ()}
    for config, features in _features(subject).items():
        info = infos.pop(config, {})
        if info.get("features") != card_yaml(features):
            stale.append(f"dataset_info: not the features of {config}")
        elif info.get("license") != (licence := subject.dataset.builder.licence(config)):
            stale.append(f"dataset_info: {config}: the licence is {licence}")
    stale += [f"dataset_info: there is no config {config}" for config in infos]
    stated = {name: found.documented for name, found in stated_figures(body).items()}
    due = {f.name: f.stated for f in figures(subject.dataset.figures, None, "not now")}
    for name in {**due, **stated}:
        if stated.get(name) != due.get(name):
            there, here = (each.get(name, "nothing") for each in (stated, due))
            stale.append(f"figure {name}: the card says {there}, figures.py {here}")
    renew = f"renew it: `parley build {subject.dataset.name} --source DIR --update-cards`"
    yield from (f"README.md: {each}; {renew}" for each in stale)


def card_tells_of_the_tasks(subject: Subject) -> Iterator[str]:
    """What the card says of the tasks, between marks of its own, is what tasks.py declares."""
    if not (tasks := tasks_of(subject.dataset)):
        return
    card = subject.dataset.read_card()
    declared = [(subject.dataset.name, *each) for each in tasks.items()]
    if renewed(card, "README.md", declared) != card:
        yield (
            "README.md: Tasks is not what tasks.py declares; renew it: "
            f"`parley tasks {subject.dataset.name} --update {subject.dataset.card}`"
        )
