"""What must hold of a dataset card, one function a check.

Each yields a line for everything that contradicts its docstring, and says what to do.
"""

import json
import re
from collections.abc import Iterator

from huggingface_hub import DatasetCard

from parley.build import own_card
from parley.folder.card import BEGIN, END
from parley.folder.measured import FILE, measured
from parley.linting.subject import Subject
from parley.scoring.leaderboard import renewed
from parley.tasks import tasks_of

HEADINGS = (  # "Tasks" of a dataset that has some
    "How to load", "What a row looks like", "Fields", "Splits", "Tasks", "How it was collected",
    "Annotation", "Personal and sensitive information", "Known limits", "What we changed",
    "Citation", "Licence",
)  # fmt: skip
# The keys of the front matter that are written by hand
BY_HAND = ("license", "language", "pretty_name", "task_categories", "size_categories", "tags")
# From the Hub's list of tasks, July 2026, as far as text is concerned
TASKS = (
    "text-classification", "token-classification", "table-question-answering",
    "question-answering", "zero-shot-classification", "translation", "summarization",
    "feature-extraction", "text-generation", "fill-mask", "sentence-similarity",
    "text-retrieval", "text-ranking", "tabular-regression", "other",
)  # fmt: skip
SIZES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B")


def card_can_be_read(subject: Subject) -> Iterator[str]:
    """The card is there: YAML front matter, text, and in it the two marks of what is generated."""
    _, body = subject.card
    for mark in (BEGIN, END):
        if (count := body.count(mark)) != 1:
            yield f"README.md: the line {mark} comes {count} times; have it once, under Splits"


def card_has_its_parts(subject: Subject) -> Iterator[str]:
    """The text of the card has the house's headings, in their order."""
    _, body = subject.card
    due = [name for name in HEADINGS if name != "Tasks" or subject.dataset.tasks]
    found = re.findall(r"^## (.*)$", body, re.MULTILINE)
    if found != due:
        lacking, unknown = set(due) - set(found), set(found) - set(due)
        problem = f"lacks {', '.join(sorted(lacking))}" if lacking else "has another order"
        problem = f"has the unknown {', '.join(sorted(unknown))}" if unknown else problem
        yield f"README.md: {problem}; let its headings of two # be {', '.join(due)}"
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


def card_describes_every_field(subject: Subject) -> Iterator[str]:
    """The section Fields speaks of every config and of every column, in backticks."""
    _, body = subject.card
    fields = body.partition("## Fields")[2].partition("\n## ")[0]
    for config, declared in subject.dataset.configs.items():
        if f"`{config}`" not in fields:
            yield f"README.md: Fields does not speak of the config `{config}`; describe it"
        for column in declared.features:
            if not re.search(rf"`{re.escape(column)}(?!\w)", fields):
                yield f"README.md: Fields lacks `{column}` of {config}; describe it"


def card_shows_a_row(subject: Subject) -> Iterator[str]:
    """The section 'What a row looks like' begins with a row of some config, as JSON."""
    _, body = subject.card
    block = re.search(r"## What a row looks like.*?```json\n(.*?)```", body, re.DOTALL)
    try:
        found = json.loads(block[1] if block else "")
    except ValueError as error:
        yield f"README.md: What a row looks like: expected a row as ```json: {error}; mend it"
        return
    columns = [list(config.features) for config in subject.dataset.configs.values()]
    if not isinstance(found, dict) or sorted(found) not in map(sorted, columns):
        due = ", ".join(columns[0])
        yield f"README.md: the row shown is of no config; give it the columns of dialogues: {due}"


def card_cites(subject: Subject) -> Iterator[str]:
    """The section Citation holds the script's CITATION."""
    _, body = subject.card
    if (citation := subject.dataset.builder.CITATION.strip()) not in body or not citation:
        yield "README.md: Citation does not hold the script's CITATION; copy it there"


def card_is_up_to_date(subject: Subject) -> Iterator[str]:
    """Generated parts of the card follow from the script, figures, tasks and measured.json."""
    dataset = subject.dataset
    known, card = measured(dataset), dataset.read_card()
    renew = f"renew it: `parley build {dataset.name} --source DIR --update-cards`"
    if card != own_card(dataset):
        yield f"README.md: configs, features, splits or figures are others than declared; {renew}"
    if known.version not in ("", dataset.version):
        yield f"{FILE}: is of version {known.version}, the script of {dataset.version}; {renew}"
    tasks = [(dataset.name, *each) for each in tasks_of(dataset).items()]
    if tasks and renewed(card, "README.md", tasks) != card:
        renew = f"renew it: `parley tasks {dataset.name} --update {dataset.card}`"
        yield f"README.md: Tasks is not what tasks.py declares; {renew}"
