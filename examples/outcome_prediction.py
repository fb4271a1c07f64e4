"""Predict from CraigslistBargains' messages whether a negotiation ends in a deal.

    python examples/outcome_prediction.py build/craigslist_bargains

Gradient boosting on the dialogue acts, by rules, of the messages before the first offer, accept,
reject or quit: how many of each intent a side has, and its last price. Needs `pip install
scikit-learn`; takes the name of a dataset on the Hub as well.
"""

import sys

import datasets
import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score


def first_messages(acts):
    """Return {dialogue_id: the rows of its messages before any other action}."""
    is_message = acts.features["action"].str2int("message")
    found, over = {}, set()
    for row in acts:
        if row["action"] != is_message:
            over.add(row["dialogue_id"])
        elif row["dialogue_id"] not in over:
            found.setdefault(row["dialogue_id"], []).append(row)
    return found


def describe(messages, list_price, intents):
    """Return the numbers about a dialogue: NaN is the last price of a side that names none."""
    numbers = []
    for side in ("buyer", "seller"):
        said = [row["intent"] for row in messages if row["speaker"] == side]
        prices = [row["price"] for row in messages if row["speaker"] == side]
        named = [price / list_price for price in prices if price is not None]
        numbers += [said.count(intent) for intent in range(intents)]
        numbers.append(named[-1] if named else np.nan)
    return numbers


datasets.disable_progress_bars()
acts = datasets.load_dataset(sys.argv[1], "acts")
outcomes = datasets.load_dataset(sys.argv[1], "outcomes")
trained_on = "train" if "train" in acts else "validation"

numbers, deals = {}, {}
for split in (trained_on, "test"):
    messages = first_messages(acts[split])
    intents = acts[split].features["intent"].num_classes
    numbers[split] = np.array(
        [
            describe(messages.get(row["dialogue_id"], []), row["list_price"] or np.nan, intents)
            for row in outcomes[split]
        ]
    )
    deals[split] = np.array(outcomes[split]["deal"])

sizes = [len(deals[split]) for split in (trained_on, "test")]
print(f"trained on {trained_on}: {sizes[0]:,} dialogues, tested on {sizes[1]:,}")
print(f"{'':12}{'accuracy':>10}{'AUC':>8}{'macro-F1':>10}")
for name, model in (
    ("majority", DummyClassifier(strategy="most_frequent")),
    ("acts", HistGradientBoostingClassifier(random_state=0)),
):
    model.fit(numbers[trained_on], deals[trained_on])
    predicted = model.predict(numbers["test"])
    chance = model.predict_proba(numbers["test"])[:, 1]
    accuracy = accuracy_score(deals["test"], predicted)
    area = roc_auc_score(deals["test"], chance)
    f1 = f1_score(deals["test"], predicted, average="macro")
    print(f"{name:12}{accuracy:10.3f}{area:8.3f}{f1:10.3f}")
