# tasks.py
"""Tasks of Chatter."""

from parley import MEASURED, Asking, Question, Reference, Score, Task, chat, object_schema
from parley import read_number, reader


def gold(data):
    """Return (id,) -> rating."""
    return {(d["id"],): d["rating"] for d in data.rows("dialogues", "train") if d["rating"]}


def score(gold, predictions) -> Score:
    """Return the mean error."""
    errors = [abs(predictions[key]["rating"] - rating) for key, rating in gold.items()]
    return Score({"error": sum(errors) / len(errors)}, counts={"dialogues": len(errors)})


def middle(data):
    """Predict 3."""
    return ({"id": id, "rating": 3.0} for (id,) in gold(data))


def questions(data):
    """Ask for the rating of each dialogue."""
    for row in data.rows("dialogues", "train"):
        if row["rating"]:
            text = " ".join(turn["text"] for turn in row["turns"])
            yield Question((row["id"],), chat("Rate the clerk from 1 to 5.", text), SCHEMA)


SCHEMA = object_schema(rating={"enum": [1, 2, 3, 4, 5]})
RATING = Task(
    summary="how a customer rates a dialogue",
    evaluated_on="dialogues that have a rating",
    configs=("dialogues",),
    fields={"id": "the dialogue", "rating": "1 to 5"},
    shape={"id": str, "rating": float},
    key=("id",),
    example={"id": "s7", "rating": 4.0},
    metrics={"error": "mean absolute error"},
    gold=gold,
    score=score,
    baselines={"middle": middle},
    references=(Reference("middle", {"error": "2.0"}, MEASURED),),
    unit="points",
    asking=Asking("1", questions, reader(read_number, "rating", 1, 5)),
)
TASKS = {"rating": RATING}
