"""Score what a model answered: repetitions of predictions, and logs of inspect."""

import hashlib
import math
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from parley.building.built import BuiltFolder
from parley.declaring.game_scores import score_models
from parley.declaring.prediction_formats import Key, Prediction
from parley.declaring.questions import Playing
from parley.declaring.spread import Interval, no_resamples
from parley.declaring.tasks import Gold, Score, Undefined, flat, tree
from parley.models.logs import is_log, open_log
from parley.models.questions import Questions
from parley.scoring.compare import Rows, intervals
from parley.scoring.evaluate import (
    WRONG,
    Result,
    compute,
    digest_of,
    score,
    scored_rows,
    unreadable_of,
)
from parley.scoring.gold import Part
from parley.scoring.predictions import validate_predictions

Epoch = Mapping[Key, Prediction]
"""The predictions of a repetition, by the keys of the questions."""


def score_file(
    built: BuiltFolder,
    name: str,
    given: Mapping[str, str | None],
    file: str,
    part: Part,
    policy: str = WRONG,
) -> Result:
    """Score a file of predictions, or a log of inspect, which states its own part."""
    if not is_log(file):
        return score(built, name, given, file=file, part=part, policy=policy)
    return score_log(built, name, given, Path(file), part, policy)


def score_log(
    built: BuiltFolder,
    name: str,
    given: Mapping[str, str | None],
    path: Path,
    part: Part,
    policy: str = WRONG,
) -> Result:
    """Score the answers of a log as the readers of today read them.

    A log of an older version of the questions is scored by the predictions that it holds, if the
    rows are today's, and the result says so. Of several epochs it is the mean. Raises what
    `open_log` raises.
    """
    log = open_log(built, name, given, path, part)
    questions = log.questions
    halves = [half for epoch in log.epochs for half in _halves(questions, epoch)]
    gold, first = halves[0]
    due = gold, {*questions.others, *questions.gold} - gold.keys()
    how: dict[str, Any] = {"part": log.part, "policy": policy}
    result = score(built, name, questions.options, found=first.values(), due=due, **how)
    unreadable = sum((Counter(unreadable_of(half)) for _, half in halves), Counter[str]())
    proof = dict(result.provenance)
    if halves[1:]:
        digests = "".join(digest_of(half) for _, half in halves)
        proof["predictions"] = hashlib.sha256(digests.encode()).hexdigest()
    return replace(
        result,
        score=score_epochs(questions, log.epochs, log.models, policy),
        predictions=str(path),
        provenance=proof,
        due=sum(len(half) for _, half in halves),
        unreadable=dict(sorted(unreadable.items())),
        run={**log.facts, "se_epochs": tree(se_epochs(questions, log.epochs, policy))},
    )


def score_epochs(
    questions: Questions, epochs: Sequence[Epoch], models: Mapping[str, str], policy: str = WRONG
) -> Score:
    """Return the score of one repetition, or the means over several.

    The intervals of means are over whole dialogues, each drawn with all its repetitions.
    """
    each = [_score(questions, epoch, models, policy) for epoch in epochs]
    if len(each) == 1:
        return each[0]
    found = [flat(one.metrics) for one in each]
    means: dict[tuple[str, ...], Any] = {}
    for path in dict.fromkeys(path for one in found for path in one):
        values = [one.get(path, Undefined("not in each epoch")) for one in found]
        odd = next((value for value in values if isinstance(value, Undefined)), None)
        means[path] = odd or sum(values) / len(values)
    samples = [
        rows.samples(read)
        for rows, read in (scored_epoch(questions, one, policy) for one in epochs)
    ]
    spread = intervals(
        {
            path: sum(one[path] for one in samples) / len(samples)
            for path in samples[0]
            if all(path in one for one in samples)
        }
    )
    return Score(tree(means), tree(spread), each[0].counts)


def _score(questions: Questions, epoch: Epoch, models: Mapping[str, str], policy: str) -> Score:
    """Return the score of a repetition; of swapped sides also each model's, over both."""
    of, game = questions, questions.asking
    gold, read, part = _kept(questions, epoch, policy)
    found = compute(of.built, of.name, of.options, gold, read, part)
    if not (of.swap and models and isinstance(game, Playing)):
        return found
    states = {key: of.by_key[key] for key in read}
    own = score_models(game, states, read, lambda key, role: models[of.seat(key, role)])
    metrics = {**found.metrics, "by_model": own.metrics}
    return Score(metrics, {**found.spread, "by_model": own.spread}, found.counts)


def scored_epoch(questions: Questions, epoch: Epoch, policy: str) -> tuple[Rows, Epoch]:
    """Return the scored rows of a repetition, and its predictions for them."""
    gold, read, part = _kept(questions, epoch, policy)
    return Rows(questions.built, questions.name, questions.options, gold, part), read


def _kept(questions: Questions, epoch: Epoch, policy: str) -> tuple[Gold, Epoch, Part]:
    """Return gold, sound predictions and part of a repetition, as far as the policy scores it."""
    width, read = len(questions.task.key), dict[Key, Prediction]()
    for gold, half in _halves(questions, epoch):
        found = validate_predictions(half.values(), questions.task, gold, "the answers")
        read |= {key: found[key[:width]] for key in half}
    due = {key: questions.gold[key[:width]] for key in read}
    return scored_rows(due, read, questions.cut(epoch), policy, "the answers")


def _halves(questions: Questions, epoch: Epoch) -> Iterator[tuple[Gold, Epoch]]:
    """Yield gold and predictions, in its order; those of swapped sides for themselves."""
    width = len(questions.task.key)
    for is_swapped in (False, True):
        half = {key[:width]: key for key in epoch if (len(key) > width) is is_swapped}
        gold = {key: value for key, value in questions.gold.items() if key in half}
        if gold:
            yield gold, {half[key]: epoch[half[key]] for key in gold}


def se_epochs(
    questions: Questions, epochs: Sequence[Epoch], policy: str = WRONG
) -> dict[tuple[str, ...], float]:
    """Return the standard error of each metric over the epochs: SD / sqrt(count)."""
    if len(epochs) == 1:
        return {}
    numbers = [
        rows.numbers(read) for rows, read in (scored_epoch(questions, e, policy) for e in epochs)
    ]
    return {
        path: statistics.stdev(values) / math.sqrt(len(values))
        for path in numbers[0]
        if not any(map(math.isnan, values := [one.get(path, math.nan) for one in numbers]))
    }


def alone(questions: Questions, key: Key, prediction: Prediction) -> dict[str, Any]:
    """Return the metrics of a prediction as if there were no other."""
    with no_resamples():
        return dict(_score(questions, {key: prediction}, {}, WRONG).metrics)


def flat_numbers(found: Score) -> dict[str, float]:
    """Return the metrics of a score and their spread by name, and the number of undefined ones.

    An interval is NAME.low and NAME.high, a sample SD over folds NAME.sd.
    """
    metrics = {".".join(path): value for path, value in flat(found.metrics).items()}
    known = {name: value for name, value in metrics.items() if not isinstance(value, Undefined)}
    for path, spread in flat(found.spread).items():
        name = ".".join(path)
        if isinstance(spread, Interval):
            known |= {f"{name}.low": spread.low, f"{name}.high": spread.high}
        elif spread:
            known[f"{name}.sd"] = spread.sd
    return {**known, "undefined": len(metrics) - sum(name in known for name in metrics)}
