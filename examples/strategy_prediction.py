"""Predict the negotiation strategies of CaSiNo's utterances, the task of its paper, section 5.

    python examples/strategy_prediction.py build/casino

Majority and logistic regression on a bag of words (LR-BoW), one model a label, in five folds by
dialogue. Needs `pip install scikit-learn`; takes the name of a dataset on the Hub as well.
"""

import sys

import datasets
import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline

# The labels that the paper leaves out of the task; seven are left.
LEFT_OUT = ("showing-empathy", "promote-coordination", "non-strategic")
# What the paper states, in a hundred. F1: Table 11, on validation data; Joint-A: section 5.
PAPER = {"Majority": {"mean F1": 0.0, "Joint-A": 39.4}, "LR-BoW": {"mean F1": 49.6}}


def majority():
    """Return the model that always says what is more frequent in the training data."""
    return DummyClassifier(strategy="most_frequent")


def bag_of_words():
    """Return the logistic regression on word counts, scikit-learn's defaults throughout."""
    return make_pipeline(CountVectorizer(), LogisticRegression(max_iter=1000, random_state=0))


def cross_validate(model, texts, truth, folds):
    """Return F1 of each label and Joint-A, both means over the folds, in a hundred."""
    f1, joint = [], []
    for fold in np.unique(folds):
        test = folds == fold
        predicted = np.zeros_like(truth[test])
        for label, known in enumerate(truth[~test].T):
            # in a sample a label may be constant in training: nothing to regress on
            chosen = model() if known.any() and not known.all() else majority()
            predicted[:, label] = chosen.fit(texts[~test], known).predict(texts[test])
        f1.append(f1_score(truth[test], predicted, average=None, zero_division=0.0))
        joint.append((predicted == truth[test]).all(axis=1).mean())
    return 100 * np.mean(f1, axis=0), 100 * np.mean(joint)


datasets.disable_progress_bars()
rows = datasets.load_dataset(sys.argv[1], "strategies", split="train")
names = rows.features["labels"].feature.names
labels = [name for name in names if name not in LEFT_OUT]
truth = np.array([[names.index(name) in row for name in labels] for row in rows["labels"]])
texts, folds = np.array(rows["text"], dtype=object), np.array(rows["fold"])

results = {}
for name, model in (("Majority", majority), ("LR-BoW", bag_of_words)):
    f1, joint = cross_validate(model, texts, truth, folds)
    results[name] = {**dict(zip(labels, f1, strict=True)), "mean F1": f1.mean(), "Joint-A": joint}

print(f"{len(rows):,} utterances of {len(set(rows['dialogue_id']))} dialogues")
print(f"{'in a hundred':14}" + "".join(f"{name:>10}{'paper':>8}" for name in results))
for measure in (*labels, "mean F1", "Joint-A"):
    line = f"{measure:14}"
    for name, found in results.items():
        line += f"{found[measure]:10.1f}{PAPER[name].get(measure, '–'):>8}"
    print(line)
