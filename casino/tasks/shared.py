"""What several tasks of CaSiNo share: talks in prompts, allocations, a regression on words."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from parley import Checked, Data
from parley.tasks import (
    AnswerField,
    Key,
    Prediction,
    Whole,
    object_form,
    object_schema,
    text_of_turns,
    value_at,
)

from ..records import PARTNER
from ..scenarios import ISSUES, PACKAGES, SIDES, Items
from ..views import entry_in_words

SETTING = (
    "Two campsite neighbours negotiate over three packages each of Food, Water and Firewood. Each "
    "neighbour has a private order of priorities: a package of the high, medium and low priority "
    "is worth 5, 4 and 3 points."
)


def is_utterance(row: dict[str, Any]) -> bool:
    """Tell whether an entry is no deal action."""
    return row["data"] is None and row["issue2youget"] is None


def heard(rows: Iterable[dict[str, Any]], side: str) -> str:
    """Return entries as lines, as one side hears them; deal actions in words."""
    return text_of_turns(
        ("You" if row["speaker"] == side else "Partner", row_in_words(row)) for row in rows
    )


def row_in_words(row: dict[str, Any]) -> str:
    """Return the text of an entry; of a deal action, that of the config `messages`."""
    names = ("data", "issue2youget", "issue2theyget")
    return entry_in_words({**row, "task_data": {n: row[n] for n in names if row[n] is not None}})


def seen(rows: Iterable[dict[str, Any]]) -> str:
    """Return a dialogue as lines, from outside."""
    return text_of_turns((row["speaker"], row["text"]) for row in rows)


def participants_by(config: str, *key: str) -> Callable[[Data], dict[Key, Collection[str]]]:
    """Return a function that gives the participants of the rows of a config, by these columns."""

    def of(data: Data) -> dict[Key, Collection[str]]:
        found: dict[Key, dict[str, None]] = defaultdict(dict)
        for row in data.rows(config, "train"):
            found[tuple([row[name] for name in key])][row["speaker_id"]] = None
        return {**found}

    return of


def all_packages(shares: Mapping[str, Items]) -> None:
    """Check that the sides share out all packages of each item."""
    for issue in ISSUES:
        one, other = (each[issue] for each in shares.values())
        if one + other != PACKAGES:
            raise ValueError(f"{PACKAGES} packages of {issue} in all, not {one} + {other}")


_COUNT = Whole(0, PACKAGES, "packages of an item")
_SHARES = {side: dict.fromkeys(ISSUES, _COUNT) for side in SIDES}


class Allocation(AnswerField):
    """The packages of each item by side, or None without a deal. A model writes them by item."""

    values = f"an object of {' and '.join(SIDES)}, each with its packages of {', '.join(ISSUES)}, "
    values += "together three of each; null without a deal"
    form = object_form(dict.fromkeys(ISSUES, object_form(dict.fromkeys(SIDES, "n")))) + " or null"
    example = {
        "mturk_agent_1": {"Food": 1, "Water": 3, "Firewood": 0},
        "mturk_agent_2": {"Food": 2, "Water": 0, "Firewood": 3},
    }

    def __init__(self, meaning: str) -> None:
        super().__init__((Checked(_SHARES, all_packages), None), meaning)
        splits = []
        for first in range(PACKAGES + 1):  # no schema says that numbers add up to three
            counts = zip(SIDES, (first, PACKAGES - first), strict=True)
            splits.append(object_schema({s: {"type": "integer", "enum": [n]} for s, n in counts}))
        of_items = object_schema({issue: {"anyOf": splits} for issue in ISSUES})
        self.schema = {"anyOf": [of_items, {"type": "null"}]}

    def read(self, value: Any) -> dict[str, dict[str, int]] | None:
        """Return the packages of an object by item or by side, None for null."""
        if value is None or (isinstance(value, str) and value.casefold() in ("null", "none")):
            return None
        is_by_side = value_at(value, SIDES[:1]) is not None
        shares = {
            side: {
                issue: _COUNT.read(value_at(value, (side, issue) if is_by_side else (issue, side)))
                for issue in ISSUES
            }
            for side in SIDES
        }
        all_packages(shares)
        return shares

    def written(self, value: Mapping[str, Items] | None) -> dict[str, dict[str, int]] | None:
        """Return the packages by item."""
        if value is None:
            return None
        return {issue: {side: value[side][issue] for side in SIDES} for issue in ISSUES}


def own_deals(data: Data) -> Iterator[Prediction]:
    """Predict the participants' own deal: the last submitted, if accepted."""
    chats = groupby(data.rows("utterances", "train"), key=lambda row: row["dialogue_id"])
    for number, chat in chats:
        *before, last = (row for row in chat if row["issue2youget"] or row["data"])
        allocation: dict[str, Items] | None = None
        if last["data"] == "accept_deal":
            deal = before[-1]
            mine, theirs = deal["issue2youget"], deal["issue2theyget"]
            allocation = {deal["speaker"]: mine, PARTNER[deal["speaker"]]: theirs}
        yield {"dialogue_id": number, "allocation": allocation}


def word_pairs() -> Any:
    """Return tf-idf of the words, and of two in a row, that two texts have; 1 + log of counts."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)


def chances(
    vectors: Any, texts: list[str], truth: Any, unseen: list[str], **settings: Any
) -> Iterator[tuple[Any, Any]]:
    """Yield the classes of each column of `truth`, and their probabilities for unseen texts.

    Each column has a logistic regression; probabilities are texts by classes.
    """
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    known, new = vectors.fit_transform(texts), vectors.transform(unseen)
    with threadpool_limits(1):  # more threads take longer on matrices of this size
        for column in truth.T:
            if len(set(column)) == 1:  # as in a sample
                yield column[:1], np.ones((len(unseen), 1))
            else:
                model = LogisticRegression(max_iter=1000, **settings).fit(known, column)
                yield model.classes_, model.predict_proba(new)


def regressed(
    vectors: Any, texts: list[str], truth: Any, unseen: list[str], **settings: Any
) -> Any:
    """Return the most probable class of each unseen text, for each column of `truth`."""
    import numpy as np

    columns = chances(vectors, texts, truth, unseen, **settings)
    return np.array([classes[found.argmax(axis=1)] for classes, found in columns]).T
