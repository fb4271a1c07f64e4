"""The negotiation strategies of an utterance: the paper's section 5."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from parley import Data, Field, tasks

from ..records import PARTNER
from ..records import STRATEGY as LABEL
from ..subsets import SUBSETS
from .shared import SETTING, participants_by, regressed, word_pairs

SEVEN = ("small-talk", "self-need", "other-need", "no-need", "elicit-pref", "uv-part", "vouch-fair")
"""The labels of the task, in the order of the paper's tables.

The paper leaves out showing-empathy and promote-coordination, on which its annotators agreed too
little; an utterance that is only non-strategic has none of the seven.
"""

Labels = Callable[[list[str], Any, list[str]], Any]
"""Takes texts, their labels as a matrix of texts by `SEVEN`, and unseen texts; returns theirs."""

_STRATEGIES = "\n".join(
    [
        "You label utterances of negotiations. " + SETTING,
        "An utterance can use several of these strategies, or none:",
        *(f"- {label}: {LABEL.meanings[label]}" for label in SEVEN),
        "Say of each whether the last utterance alone uses it.",
    ]
)


def strategies(data: Data) -> Iterator[tasks.Question]:
    """Ask for the strategies of each annotated utterance, with the three before it."""
    for row in data.rows("strategies", "train"):
        names = dict(zip((row["speaker"], PARTNER[row["speaker"]]), "AB", strict=True))
        before = tasks.text_of_turns(
            (names[each["speaker"]], each["text"]) for each in row["context"]
        )
        last = tasks.text_of_turns([("A", row["text"])])
        user = f"Before it:\n{before or '(nothing)'}\n\nThe utterance:\n{last}"
        key = (row["dialogue_id"], row["turn"])
        yield tasks.Question(key, _STRATEGIES, user)


def strategies_gold(data: Data) -> dict[tasks.Key, dict[str, Any]]:
    """Return (dialogue_id, turn) -> those of the seven labels that the utterance has, and fold."""
    return {
        (row["dialogue_id"], row["turn"]): {
            "labels": [label for label in SEVEN if label in row["labels"]],
            "fold": row["fold"],
        }
        for row in data.rows_with_names("strategies", "train")
    }


def matrix(labels: Iterable[Iterable[str]]) -> Any:
    """Return labels as an array of bool, utterances by `SEVEN`."""
    import numpy as np

    return np.array([[label in each for label in SEVEN] for each in labels])


def strategies_score(
    gold: Mapping[tasks.Key, Mapping[str, Any]], predictions: Mapping[tasks.Key, tasks.Prediction]
) -> tasks.Score:
    """Score labels: F1 by label, its mean over the labels, and utterances with all seven right.

    An unreadable prediction misses every label, and never has all seven right. A label that is
    neither true nor predicted has no F1, and no place in the mean.
    """
    import numpy as np

    truth = matrix(due["labels"] for due in gold.values())
    predicted = matrix(predictions[key].get("labels", ()) for key in gold)
    is_read = np.array([tasks.UNREADABLE not in predictions[key] for key in gold])
    f1 = {
        label: tasks.f1_of(has, found, 100)
        for label, has, found in zip(SEVEN, truth.T, predicted.T, strict=True)
    }
    return tasks.Score(
        {
            "f1": partial(tasks.mean_of_known, f1.values()),
            "joint_accuracy": (truth == predicted).all(axis=1) & is_read,
            "f1_by_label": f1,
        },
        {"utterances": len(gold), "dialogues": len({number for number, _ in gold})},
    )


def learning(labels: Labels) -> Callable[[Data], Iterator[tasks.Prediction]]:
    """Return the baseline that learns from the utterances of the other folds."""

    def predict(data: Data) -> Iterator[tasks.Prediction]:
        rows = data.rows_with_names("strategies", "train")
        for fold in sorted({row["fold"] for row in rows}):
            known = [row for row in rows if row["fold"] != fold]
            unseen = [row for row in rows if row["fold"] == fold]
            truth = matrix(row["labels"] for row in known)
            texts = ([row["text"] for row in part] for part in (known, unseen))
            for row, found in zip(unseen, labels(next(texts), truth, next(texts)), strict=True):
                names = [label for label, has in zip(SEVEN, found, strict=True) if has]
                yield {"dialogue_id": row["dialogue_id"], "turn": row["turn"], "labels": names}

    return predict


def majority(texts: list[str], truth: Any, unseen: list[str]) -> Any:
    """Give each utterance the labels that most of those in training have."""
    return [truth.mean(axis=0) > 0.5] * len(unseen)


def bag_of_words(texts: list[str], truth: Any, unseen: list[str]) -> Any:
    """Predict by logistic regression on word counts: a model a label, scikit-learn's defaults."""
    from sklearn.feature_extraction.text import CountVectorizer

    return regressed(CountVectorizer(), texts, truth, unseen)


def tf_idf(texts: list[str], truth: Any, unseen: list[str]) -> Any:
    """Predict by logistic regression on tf-idf of words and of two in a row, classes balanced."""
    return regressed(word_pairs(), texts, truth, unseen, C=5, class_weight="balanced")


# The paper's names of the labels in `LABEL`, with the number of utterances and alpha
TABLE_2 = """\
Small-Talk          1054 0.81
Empathy              254 0.42
Coordination         579 0.42
No-Need              196 0.77
Elicit-Pref          377 0.77
Undervalue-Partner   131 0.72
Vouch-Fairness       439 0.62
Self-Need            964 0.75
Other-Need           409 0.89
Non-strategic       1455 none
"""
STRATEGY, COUNT, ALPHA = zip(*map(str.split, TABLE_2.splitlines()), strict=True)
AGREEMENT = ", ".join(f"{a} for {n}" for n, a in zip(LABEL.names, ALPHA, strict=True) if n in SEVEN)
TABLE_11 = {"Majority": "0.0", "LR-BoW": "49.6", "BERT-FT": "69.9", "Freeze": "62.3"}
TABLE_11 |= {"No Attn": "66.6", "No Feats": "77.6", "Full": "78.1", "Full+OS": "77.9"}
TABLE_11 |= {"Full+IDPT": "79.6", "Full+IDPT+OS": "79.6"}


STRATEGIES = tasks.Task(
    summary="the negotiation strategies of an utterance, out of seven",
    evaluated_on="the rows of `strategies`, by the test parts of the authors' five folds",
    configs=("strategies", "utterances"),
    key={
        "dialogue_id": Field(int, "the dialogue"),
        "turn": Field(int, "the turn of the utterance, from 0, as in the config strategies"),
    },
    answer={"labels": tasks.SomeOf(SEVEN, "the strategies of the utterance")},
    metrics={
        "f1": "F1 of the positive class, mean over the labels that are in gold or predicted",
        "joint_accuracy": "utterances with all seven labels right",
        "f1_by_label": "F1 of the positive class; none if the label is neither in gold nor "
        f"predicted. To compare: the alpha of three annotators (paper, Table 2) is {AGREEMENT}",
    },
    inputs="the utterance and the texts before it",
    columns=("strategies.text", "strategies.context"),
    asking=tasks.Asking("2", strategies, max_tokens=120),
    subsets=SUBSETS,
    gold=strategies_gold,
    clusters={
        "dialogues": None,
        "participants": participants_by("utterances", "dialogue_id", "turn"),
    },
    score=strategies_score,
    per_prediction=("joint_accuracy",),
    baselines={
        "majority": learning(majority),
        "lr-bow": learning(bag_of_words),
        "lr-tfidf": learning(tf_idf),
    },
    references=(
        *(
            tasks.Reference(n, {"f1": f1}, "paper, Table 11", rows="validation parts")
            for n, f1 in TABLE_11.items()
        ),
        tasks.Reference("Majority", {"joint_accuracy": "39.4"}, "paper, section 5"),
        *map(tasks.Reference, ("majority", "lr-bow", "lr-tfidf")),
    ),
    ends=dict.fromkeys(("f1", "joint_accuracy", "f1_by_label"), (0, 100)),
)
