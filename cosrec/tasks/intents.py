"""The task `intents`: tell the types of the intents of a user's utterance."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from parley import Data, Field, tasks

from ..rows import TYPE, TYPES
from ..views import places_of

Row = dict[str, Any]

_PROMPT = "\n".join(
    [
        "You label utterances of a user who talks with a shopping assistant. An utterance can have "
        "several of these types of intents, or none:",
        *(f"- {name}: the user {meaning}" for name, meaning in TYPE.meanings.items()),
        "Say of each whether the last utterance alone has it.",
    ]
)


def listed(data: Data, part: str) -> Iterator[tuple[tasks.Key, list[Any], dict[str, Any]]]:
    """Yield of each listed utterance its key, the turns up to it, and its entry."""
    column = {"crowd": "intent_annotations", "curated": "intents"}[part]
    for row in data.rows(part):
        places = places_of(row["turns"])
        for entry in row[column] or ():
            number = entry["utterance"]
            yield (row["dialogue_id"], number), row["turns"][: places[number] + 1], entry


def questions(data: Data) -> Iterator[tasks.Question]:
    """Ask for the types of each reviewed utterance, given the conversation up to it."""
    for key, turns, _ in listed(data, "curated"):
        *before, last = ((turn["role"], turn["text"]) for turn in turns)
        talk = tasks.text_of_turns(before) or "(nothing)"
        user = f"Before it:\n{talk}\n\nThe utterance:\n{tasks.text_of_turns([last])}"
        yield tasks.Question(key, _PROMPT, user)


def reviewed(data: Data) -> dict[tasks.Key, dict[str, list[str]]]:
    """Return the types of the intents of each utterance of curated that has some."""
    found = {}
    for row in data.rows("curated"):
        for entry in row["intents"] or ():
            types = {intent["type"] for intent in entry["intents"]}
            right = {"types": [type_ for type_ in TYPES if type_ in types]}
            found[row["dialogue_id"], entry["utterance"]] = right
    return found


def score_intents(
    gold: Mapping[tasks.Key, Mapping[str, list[str]]],
    predictions: Mapping[tasks.Key, tasks.Prediction],
) -> tasks.Score:
    """Compare the types of each utterance; an unreadable prediction misses all, and is wrong."""
    import numpy as np

    due = np.array([indicators(right["types"]) for right in gold.values()], bool).T
    found = np.array([indicators(each.get("types", ())) for each in predictions.values()], bool).T
    is_read = np.array([tasks.UNREADABLE not in each for each in predictions.values()])
    f1 = {name: tasks.f1_of(has, seen) for name, has, seen in zip(TYPES, due, found, strict=True)}
    return tasks.Score(
        metrics={
            "macro_f1": partial(tasks.mean_of_known, f1.values()),
            "exact_match": (due == found).all(axis=0) & is_read,
            "f1_by_type": f1,
        },
        counts={"utterances": len(gold), "dialogues": len({key[0] for key in gold})},
    )


def indicators(types: Any) -> list[int]:
    """Return 1 for each of the types that is among these, else 0."""
    return [int(type_ in types) for type_ in TYPES]


def seen_by_half(entry: Row) -> list[str]:
    """Return the types that at least half of an utterance's annotators saw."""
    lists = [{intent["type"] for intent in seen} for seen in entry["intent_annotations"]]
    counts = Counter(type_ for types in lists for type_ in types)
    return [type_ for type_ in TYPES if 2 * counts[type_] >= len(lists)]


def predicted(data: Data, types: Any) -> Iterator[tasks.Prediction]:
    """Yield a prediction for each utterance of curated, given indicators for each."""
    for (dialogue_id, utterance), found in zip(reviewed(data), types, strict=True):
        yield {
            "dialogue_id": dialogue_id,
            "utterance": utterance,
            "types": [type_ for type_, is_there in zip(TYPES, found, strict=True) if is_there],
        }


def majority(data: Data) -> Iterator[tasks.Prediction]:
    """Predict for all the set of types that most utterances of crowd have."""
    seen = Counter(tuple(seen_by_half(entry)) for *_, entry in listed(data, "crowd"))
    (most, _), *_ = seen.most_common(1)
    yield from predicted(data, [indicators(most)] * len(reviewed(data)))


def words_of(turns: list[Any], in_context: bool) -> str:
    """Return the words of the last turn and, in context, those of the system's before, marked."""
    *_, before, last = ({"text": ""}, *turns)
    heard = before["text"].split() if in_context else ()
    return " ".join([*(f"system_{word}" for word in heard), last["text"]])


def learnt(in_context: bool, data: Data) -> Iterator[tasks.Prediction]:
    """Predict by logistic regressions on tf-idf, one a type, learnt from crowd."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline

    texts = {
        part: [words_of(turns, in_context) for _, turns, _ in listed(data, part)]
        for part in ("crowd", "curated")
    }
    types = [indicators(seen_by_half(entry)) for *_, entry in listed(data, "crowd")]
    model = make_pipeline(
        TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True),
        OneVsRestClassifier(LogisticRegression(C=3, class_weight="balanced", max_iter=1000)),
    )
    yield from predicted(data, model.fit(texts["crowd"], types).predict(texts["curated"]))


INTENTS = tasks.Task(
    summary="the types of the intents of a user's utterance",
    evaluated_on="the utterances of curated with reviewed intents",
    configs=("curated", "crowd"),
    key={
        "dialogue_id": Field(str, "a conversation of curated"),
        "utterance": Field(int, "the number of the utterance, from 0, as in `curated`"),
    },
    answer={"types": tasks.SomeOf(TYPES, "the types of its intents")},
    metrics={
        "macro_f1": "mean F1 of the types that are in gold or predicted",
        "exact_match": "share of utterances with exactly the right types",
        "f1_by_type": "F1 of a type; none if the type is neither in gold nor predicted",
    },
    inputs="the utterance and the turns before it",
    columns=("curated.turns",),
    asking=tasks.Asking("1", questions, max_tokens=60),
    gold=reviewed,
    clusters={"conversations": None},
    score=score_intents,
    per_prediction=("exact_match",),
    baselines={
        "majority": majority,
        "lr-text": partial(learnt, False),
        "lr-context": partial(learnt, True),
    },
    references=(
        tasks.Reference("majority"),
        tasks.Reference(
            "lr-text",
            note="tf-idf and a logistic regression for each type, learnt from types that at least "
            "half of crowd's annotators gave",
        ),
        tasks.Reference("lr-context", note="the same with the system's turn before the utterance"),
    ),
)
