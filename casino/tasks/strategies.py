"""The negotiation strategies of an utterance: the paper's section 5."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from parley.errors import Problem
from parley.figures import Data
from parley.questions import Asking, Question, chat, object_schema, reader, some_of, spoken
from parley.tasks import (
    MEASURED,
    UNREADABLE,
    Key,
    Prediction,
    Reference,
    Score,
    Task,
    Undefined,
    interval,
    means,
    resamples,
)

from ..subsets import SUBSETS
from ..views import PARTNER
from .folds import keys_by_fold, over_all
from .regression import regressed, word_pairs
from .talks import SETTING

# After the paper's section 3, in our own words
DEFINITIONS = {
    "small-talk": "talk beside the negotiation, to build rapport",
    "self-need": "an argument for a personal need of an item",
    "other-need": "an argument for a need of people other than the two, such as family",
    "no-need": "the speaker says that it does not need an item",
    "elicit-pref": "a question about the partner's preferences",
    "uv-part": "the speaker plays down the partner's need of an item",
    "vouch-fair": "an appeal to fairness, for the own benefit",
}

SEVEN = tuple(DEFINITIONS)
"""The labels of the task, in the order of the paper's tables.

The paper leaves out showing-empathy and promote-coordination, on which its annotators agreed too
little; an utterance that is only non-strategic has none of the seven.
"""

Labels = Callable[[list[str], Any, list[str]], Any]
"""Takes texts, their labels as a matrix of texts by `SEVEN`, and unseen texts; returns theirs."""

# Question ----------------------------------------------------------------------------------

_FORM = ", ".join(f'"{label}": ..' for label in DEFINITIONS)
_STRATEGIES = "\n".join(
    [
        "You label utterances of negotiations. " + SETTING,
        "An utterance can use several of these strategies, or none:",
        *(f"- {label}: {meaning}" for label, meaning in DEFINITIONS.items()),
        "Say of each whether the last utterance alone uses it. Answer in JSON, with true or false "
        f"for each: {{{_FORM}}}.",
    ]
)
_SCHEMA = object_schema(**{label: {"type": "boolean"} for label in SEVEN})


def strategies(data: Data) -> Iterator[Question]:
    """Ask for the strategies of each annotated utterance, with the three before it."""
    for row in data.rows("strategies", "train"):
        names = dict(zip((row["speaker"], PARTNER[row["speaker"]]), "AB", strict=True))
        before = spoken((names[each["speaker"]], each["text"]) for each in row["context"])
        last = spoken([("A", row["text"])])
        user = f"Before it:\n{before or '(nothing)'}\n\nThe utterance:\n{last}"
        key = (row["dialogue_id"], row["turn"])
        yield Question(key, chat(_STRATEGIES, user), _SCHEMA)


# Score -------------------------------------------------------------------------------------


def strategies_gold(data: Data) -> dict[Key, tuple[int, set[str]]]:
    """Return (dialogue_id, turn) -> fold and those of the seven labels that the utterance has."""
    return {
        (row["dialogue_id"], row["turn"]): (row["fold"], {*SEVEN}.intersection(row["labels"]))
        for row in data.named("strategies", "train")
    }


def matrix(labels: Iterable[Iterable[str]]) -> Any:
    """Return labels as an array of bool, utterances by `SEVEN`."""
    import numpy as np

    return np.array([[label in each for label in SEVEN] for each in labels])


def positive_f1(truth: Any, predicted: Any, absent: float = 0.0) -> list[float]:
    """Return F1 of each of the seven labels, in percent.

    scikit-learn's, of the class that has the label; `absent` for a label that is neither true nor
    predicted, which is 0 in the authors' code.
    """
    import numpy as np

    true, said = np.asarray(truth, bool), np.asarray(predicted, bool)
    named = true.sum(axis=0) + said.sum(axis=0)
    hits = 200.0 * (true & said).sum(axis=0)
    found = np.divide(hits, named, out=np.full(named.shape, 100 * absent), where=named > 0)
    return [float(f1) for f1 in found]


def compared(
    gold: Mapping[Key, tuple[int, set[str]]],
    predictions: Mapping[Key, Prediction],
    keys: Iterable[Key],
) -> tuple[Any, Any, Any]:
    """Return the true and the predicted labels of utterances, and where all seven are right.

    An unreadable prediction misses every label, and never has all seven right.
    """
    import numpy as np

    keys = list(keys)
    truth = matrix(gold[key][1] for key in keys)
    predicted = matrix(predictions[key].get("labels", ()) for key in keys)
    is_read = np.array([UNREADABLE not in predictions[key] for key in keys])
    return truth, predicted, (truth == predicted).all(axis=1) & is_read


def strategies_score(
    gold: Mapping[Key, tuple[int, set[str]]], predictions: Mapping[Key, Prediction]
) -> Score:
    """Score labels: F1 by label, its mean over the labels, and utterances with all seven right.

    Each is computed in each fold, and then the mean over the folds is taken. As in the authors'
    code, F1 is 0 for a label that is neither true nor predicted in a fold.
    """
    by_label, f1, joint = [], [], []
    for keys in keys_by_fold(gold):
        truth, predicted, right = compared(gold, predictions, keys)
        by_label.append(positive_f1(truth, predicted))
        f1.append(sum(by_label[-1]) / len(SEVEN))
        joint.append(100 * float(right.mean()))
    metrics, spread = over_all({"f1": f1, "joint_accuracy": joint})
    labels, deviations = over_all(dict(zip(SEVEN, zip(*by_label, strict=True), strict=True)))
    metrics, spread = metrics | {"f1_by_label": labels}, spread | {"f1_by_label": deviations}
    return Score(metrics, spread, {**counted(gold), "folds": len(f1)})


def strategies_pooled(
    gold: Mapping[Key, tuple[int, set[str]]], predictions: Mapping[Key, Prediction]
) -> Score:
    """Score labels of a part, whose folds are too small: all utterances together.

    A label that is neither true nor predicted has no F1, and no place in the mean.
    """
    import numpy as np

    truth, predicted, right = compared(gold, predictions, gold)
    none = Undefined("neither in gold nor predicted")
    f1 = dict(zip(SEVEN, positive_f1(truth, predicted, np.nan), strict=True))
    known = [each for each in f1.values() if not np.isnan(each)]
    times = np.array([np.bincount(places, minlength=len(gold)) for places in resamples(len(gold))])
    named = times @ truth + times @ predicted
    hits = 200 * (times @ (truth & predicted))
    drawn = np.divide(hits, named, out=np.full(named.shape, np.nan), where=named > 0)
    joint, joint_spread = means({"joint_accuracy": 100 * right})
    return Score(
        {
            "f1": sum(known) / len(known) if known else none,
            **joint,
            "f1_by_label": {n: none if np.isnan(each) else each for n, each in f1.items()},
        },
        {
            "f1": interval(np.ma.masked_invalid(drawn).mean(axis=1).filled(np.nan)),
            **joint_spread,
            "f1_by_label": dict(zip(SEVEN, map(interval, drawn.T), strict=True)),
        },
        counted(gold),
    )


def counted(gold: Mapping[Key, Any]) -> dict[str, int]:
    """Return the number of utterances and of their dialogues."""
    return {"utterances": len(gold), "dialogues": len({number for number, _ in gold})}


def one_label_twice(prediction: Prediction, gold: Any) -> Iterator[Problem]:
    """Object to a repeated label."""
    labels = prediction["labels"]
    if len(set(labels)) < len(labels):
        yield Problem("labels", "each label once", str(labels))


# Baselines ---------------------------------------------------------------------------------


def learning(labels: Labels) -> Callable[[Data], Iterator[Prediction]]:
    """Return the baseline that learns from the utterances of the other folds."""

    def predict(data: Data) -> Iterator[Prediction]:
        rows = data.named("strategies", "train")
        for fold in sorted({row["fold"] for row in rows}):
            known = [row for row in rows if row["fold"] != fold]
            unseen = [row for row in rows if row["fold"] == fold]
            truth = matrix(row["labels"] for row in known)
            texts = ([row["text"] for row in part] for part in (known, unseen))
            for row, found in zip(unseen, labels(next(texts), truth, next(texts)), strict=True):
                named = [label for label, has in zip(SEVEN, found, strict=True) if has]
                yield {"dialogue_id": row["dialogue_id"], "turn": row["turn"], "labels": named}

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


# Task --------------------------------------------------------------------------------------
TABLE_11 = {"Majority": "0.0", "LR-BoW": "49.6", "BERT-FT": "69.9", "Freeze": "62.3"}
TABLE_11 |= {"No Attn": "66.6", "No Feats": "77.6", "Full": "78.1", "Full+OS": "77.9"}
TABLE_11 |= {"Full+IDPT": "79.6", "Full+IDPT+OS": "79.6"}


def reached(baseline: str, f1: str, joint: str, by_label: str) -> Reference:
    """Return the scores of a baseline, as measured."""
    labels = dict(zip(SEVEN, by_label.split(), strict=True))
    metrics = {"f1": f1, "joint_accuracy": joint, "f1_by_label": labels}
    return Reference(baseline, metrics, MEASURED)


STRATEGIES = Task(
    summary="the negotiation strategies of an utterance, out of seven",
    category="text-classification",
    evaluated_on="the rows of `strategies`, by the test parts of the authors' five folds",
    configs=("strategies",),
    fields={
        "dialogue_id": "the dialogue, an integer",
        "turn": "the turn of the utterance, from 0, as in the config strategies",
        "labels": f"its strategies, none or more of {', '.join(SEVEN)}",
    },
    shape={"dialogue_id": int, "turn": int, "labels": [set(SEVEN)]},
    key=("dialogue_id", "turn"),
    example={"dialogue_id": 7, "turn": 0, "labels": ["small-talk", "elicit-pref"]},
    metrics={
        "f1": "F1 of the positive class, mean over the seven labels and over the folds; 0 where a "
        "label is neither in gold nor predicted. A subset or a pilot: over all its utterances, "
        "without such labels",
        "joint_accuracy": "utterances with all seven labels right",
        "f1_by_label": "F1 of the positive class; 0 as above",
    },
    inputs="the utterance and the texts before it",
    columns=("strategies.text", "strategies.context"),
    asking=Asking(
        "3",
        strategies,
        reader(labels=some_of(SEVEN)),
        max_tokens=120,
        answer=lambda fields: {label: label in fields["labels"] for label in SEVEN},
    ),
    subsets=SUBSETS,
    gold=strategies_gold,
    score=strategies_score,
    score_part=strategies_pooled,
    target=lambda gold: {"labels": [label for label in SEVEN if label in gold[1]]},
    per_prediction=("joint_accuracy",),
    validate=one_label_twice,
    baselines={
        "majority": learning(majority),
        "lr-bow": learning(bag_of_words),
        "lr-tfidf": learning(tf_idf),
    },
    references=(
        *(Reference(n, {"f1": f1}, "paper, Table 11 (validation)") for n, f1 in TABLE_11.items()),
        Reference("Majority", {"joint_accuracy": "39.4"}, "paper, section 5"),
        reached("majority", "0.0", "39.54", "0.0 0.0 0.0 0.0 0.0 0.0 0.0"),
        reached("lr-bow", "52.8", "61.1", "70.7 65.0 55.8 23.1 61.6 31.7 61.7"),
        reached("lr-tfidf", "57.4", "58.7", "73.4 67.2 63.7 31.9 69.7 35.1 61.0"),
    ),
    unit="percent",
    decimals=2,
)
