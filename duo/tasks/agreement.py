"""The task `agreement`: a score of a dialogue that agrees with people's ratings.

A model rates a dialogue as a judge, in its language.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from parley import Checked, Data, Field, tasks

from ..records import ASPECT, ASPECTS

Row = dict[str, Any]

COMMON = ASPECTS[:3]  # those of both settings
GROUPS = ("en ed", "en wow", "ja ed", "ja wow")  # language and setting
METRICS = ("pearson", "spearman", "kendall")
LARGEST = 1e100  # a score: the squares of larger ones would be no numbers

_MEANING = {
    "en": ASPECT.meanings,
    "ja": {
        "preference": "ユーザがこのボットとまた話したいと思う度合い",
        "stylistic_similarity": "ボットの話し方がユーザの話し方に似ている度合い",
        "consistency": "ボットの発話に矛盾がない度合い",
        "empathy": "ボットがユーザの気持ちを理解し、寄り添っている度合い",
        "engagingness": "ボットとの対話に引き込まれる度合い",
    },
}
_PROMPT = {
    "en": "Read a dialogue of a user and a bot and rate it by one aspect: {meaning}. Give a whole "
    "number from 1 (lowest) to 5 (highest).",
    "ja": "ユーザとボットの対話を読み、次の観点で評価してください：{meaning}。1（最低）から"
    "5（最高）までの整数で点数を付けてください。",
}
_NAMES = {"en": {"Human": "User", "Bot": "Bot"}, "ja": {"Human": "ユーザ", "Bot": "ボット"}}
_TALK = {"en": "The dialogue:", "ja": "対話："}


def questions(data: Data, aspect: str) -> Iterator[tasks.Question]:
    """Ask for a score of an aspect of each dialogue that is rated by it."""
    rated = ratings(data, aspect)
    for row in (r for r in data.rows("dialogues", "en", "ja") if (r["dialogue_id"],) in rated):
        language = row["language"]
        names = _NAMES[language]
        talk = tasks.text_of_turns(
            (names[turn["speaker"]], turn["message"]) for turn in row["dialogue"]
        )
        system = _PROMPT[language].format(meaning=_MEANING[language][aspect])
        user = f"{_TALK[language]}\n{talk}"
        yield tasks.Question((row["dialogue_id"],), system, user, language)


def ratings(data: Data, aspect: str) -> dict[tasks.Key, Row]:
    """Return how the person and the others rate an aspect, and the group, of each rated dialogue.

    Empathy and engagingness are of one setting each. The others' rating is the published mean of
    the three, with two decimals; it is None for most dialogues.
    """
    return {
        (row["dialogue_id"],): {
            "group": f"{row['language']} {row['setting']}",
            "score": row["subjective_evaluation"][aspect],
            "others": (row["objective_evaluation"] or {}).get(aspect),
        }
        for row in data.rows("dialogues", "en", "ja")
        if row["subjective_evaluation"][aspect] is not None
    }


def participants(data: Data) -> dict[tasks.Key, list[str]]:
    """Return the person of each dialogue, who rates it; ids are of one language."""
    return {
        (row["dialogue_id"],): sorted(
            {f"{row['language']} {turn['user_id']}" for turn in row["dialogue"] if turn["user_id"]}
        )
        for row in data.rows("dialogues", "en", "ja")
    }


def agreement(
    gold: Mapping[tasks.Key, Row], predictions: Mapping[tasks.Key, tasks.Prediction], aspect: str
) -> tasks.Score:
    """Correlate the readable scores with the ratings of an aspect, in each language and setting."""
    metrics: dict[str, dict[str, Any]] = {}
    rating = {"person": "score", "others": "others"}
    own_rows: dict[str, dict[str, list[bool]]] = {"person": {}, "others": {}}
    counts = {"dialogues": len(gold)}
    for source, name in rating.items():
        rated = {key: row for key, row in gold.items() if row[name] is not None}
        counts[f"rated by the {source}"] = len(rated)
        metrics[source] = {}
        for group in GROUPS:
            of_group = {key: row for key, row in rated.items() if row["group"] == group}
            pairs = [
                (predictions[key]["score"], row[name])
                for key, row in of_group.items()
                if tasks.UNREADABLE not in predictions[key]
            ]
            own_rows[source][group] = [
                key in of_group and tasks.UNREADABLE not in predictions[key] for key in gold
            ]
            if pairs:
                metrics[source][group] = correlations(pairs)
            elif of_group:
                why = tasks.Undefined("no prediction is readable")
                metrics[source][group] = dict.fromkeys(METRICS, why)
    return tasks.Score(metrics, counts, own_rows=own_rows)


def a_score(value: float) -> None:
    """Check that a number is not too large for the computation."""
    if abs(value) > LARGEST:
        raise ValueError(f"a number from -{LARGEST:g} to {LARGEST:g}")


def correlations(pairs: list[tuple[float, float]]) -> dict[str, Any]:
    """Return the correlations of scores with ratings, by name."""
    import numpy as np
    from scipy import stats

    scores, rated = np.array(pairs, dtype=float).T
    if len(pairs) < 2:
        return dict.fromkeys(METRICS, tasks.Undefined("one dialogue alone has ratings"))
    for name, values in (("scores", scores), ("ratings", rated)):
        if len(set(values)) == 1:
            return dict.fromkeys(METRICS, tasks.Undefined(f"all {name} are the same"))
    pearson: Any = float(np.corrcoef(scores, rated)[0, 1])
    if np.ptp(scores) < 1e-13 * abs(scores.mean()):
        pearson = tasks.Undefined("the scores are apart by hardly more than rounding")
    ranks = [stats.rankdata(values) for values in (scores, rated)]
    spearman = float(np.corrcoef(ranks)[0, 1])
    kendall = float(stats.kendalltau(scores, rated).statistic)
    return dict(zip(METRICS, (pearson, spearman, kendall), strict=True))


def own(rating: str, data: Data, aspect: str) -> Iterator[tasks.Prediction]:
    """Take the person's own rating of an aspect, which all dialogues have, for a metric."""
    rated = ratings(data, aspect)
    for key, row in ratings(data, rating).items():
        if key in rated:
            yield {"dialogue_id": key[0], "score": row["score"]}


def length(data: Data, aspect: str) -> Iterator[tasks.Prediction]:
    """Take the number of characters of each dialogue that is rated by the aspect."""
    rated = ratings(data, aspect)
    for row in data.rows("dialogues", "en", "ja"):
        if (row["dialogue_id"],) in rated:
            characters = sum(len(turn["message"]) for turn in row["dialogue"])
            yield {"dialogue_id": row["dialogue_id"], "score": characters}


AGREEMENT = tasks.Task(
    summary="a score of a dialogue that agrees with people's ratings",
    evaluated_on="all dialogues for the person, rated ones for the others; empathy in ed alone, "
    "engagingness in wow alone",
    configs=("dialogues",),
    key={"dialogue_id": Field(str, "a dialogue, in either language")},
    answer={
        "score": tasks.Number(
            1,
            5,
            "the higher the better; compared only within a language and setting",
            step=1,
            shape=Checked((float, int), a_score),
            values=f"a number from -{LARGEST:g} to {LARGEST:g}",
        )
    },
    metrics={
        "pearson": "correlation of readable scores and their ratings",
        "spearman": "correlation of their ranks",
        "kendall": "tau-b",
    },
    inputs="the dialogue, and its language",
    columns=("dialogues.dialogue", "dialogues.language"),
    asking=tasks.Asking("1", questions, max_tokens=60),
    gold=ratings,
    clusters={"participants": participants},
    score=agreement,
    baselines={
        **{f"own-{rating.replace('_', '-')}": partial(own, rating) for rating in COMMON},
        "length": length,
    },
    references=(
        tasks.Reference("own-stylistic-similarity", options={"aspect": "preference"}),
        tasks.Reference(
            "own-preference",
            note="the person's own rating, which is that of `person` by itself",
            options={"aspect": "preference"},
        ),
        tasks.Reference(
            "length", note="the characters of the dialogue", options={"aspect": "preference"}
        ),
    ),
    options={"aspect": tuple(ASPECTS)},
    ends=dict.fromkeys(METRICS, (-1, 1)),
)
