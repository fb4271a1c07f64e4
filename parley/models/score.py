"""Score what a model answered: epochs of predictions, and logs of inspect."""

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from parley.base.errors import require_known
from parley.base.nested import flat, tree
from parley.building.folder import BuiltFolder
from parley.models.logs import is_log, open_log
from parley.models.questions import Questions
from parley.tasks.compare import Measured
from parley.tasks.evaluate import (
    POLICIES,
    WRONG,
    Progress,
    Result,
    digest_of,
    result_of,
    score,
    scored_rows,
    unreadable_of,
)
from parley.tasks.formats import Key, Prediction
from parley.tasks.game_scores import score_models
from parley.tasks.games import Playing
from parley.tasks.gold import Part
from parley.tasks.intervals import Interval, mean_of
from parley.tasks.predictions import validate_predictions
from parley.tasks.rows import Advance, Names, Rows
from parley.tasks.task import Gold, Score, Undefined

Epoch = Mapping[Key, Prediction]  # by the keys of the questions


def score_file(
    built: BuiltFolder,
    name: str,
    given: Mapping[str, str | None],
    file: str,
    part: Part,
    policy: str = WRONG,
    advance: Progress = lambda what, done, total: None,
) -> Result:
    """Score a file of predictions, or a log of inspect, which states its own part.

    The answers of a log are read again; of several epochs it is the mean. Raises what `score` and
    `open_log` raise.
    """
    if not is_log(file):
        return score(built, name, given, file=file, part=part, policy=policy, advance=advance)
    require_known("parley score", "--unreadable", policy, POLICIES)
    advance(file, "reading", None)
    log = open_log(built, name, given, Path(file), part)
    of = log.questions
    halves = [half for epoch in log.epochs for _, half in _halves(of, epoch)]
    unreadable = sum(map(Counter[str], map(unreadable_of, halves)), Counter[str]())
    digests = [*map(digest_of, halves)]
    digest = hashlib.sha256("".join(digests).encode()).hexdigest() if digests[1:] else digests[0]
    tell = partial(advance, "intervals")
    found, measured = score_epochs(of, log.epochs, log.models, policy, tell)
    return result_of(
        measured.rows,
        file,
        found,
        measured.metrics,
        digest,
        part=log.part,
        due=sum(map(len, halves)),
        unreadable=dict(sorted(unreadable.items())),
        policy=policy,
        run=log.facts,
    )


def score_epochs(
    questions: Questions,
    epochs: Sequence[Epoch],
    models: Mapping[str, str],
    policy: str = WRONG,
    advance: Advance = lambda done, total: None,
) -> tuple[Score, Measured]:
    """Return the score of one epoch, or the means over several, and its metrics with their spread.

    Of swapped sides it also has what each model reaches over both sides.
    """
    measured = Measured([scored_epoch(questions, each, policy) for each in epochs], advance)
    of, game, metrics = questions, questions.asking, flat(measured.score.metrics)
    if of.swap and models and isinstance(game, Playing):
        own = []
        for rows, read in measured.epochs:
            states = {key: of.by_key[key] for key in read}
            found = score_models(game, states, read, lambda key, role: models[of.seat(key, role)])
            own.append(rows.of_rows(found))
        for names, number in flat(own[0][0].metrics).items():
            metric, place = mean_of([found.get(names) for _, found in own]), ("by_model", *names)
            measured.metrics[place] = metric
            metrics[place] = number if math.isnan(metric.value) else metric.value
    return Score(tree(metrics), measured.score.counts), measured


def scored_epoch(questions: Questions, epoch: Epoch, policy: str) -> tuple[Rows, Epoch]:
    """Return the scored rows of an epoch, as far as the policy scores it, and its predictions."""
    of, width, read = questions, len(questions.task.key), dict[Key, Prediction]()
    for gold, half in _halves(questions, epoch):
        found = validate_predictions(half.values(), questions.task, gold, "the answers")
        read |= {key: found[key[:width]] for key in half}
    due = {key: of.gold[key[:width]] for key in read}
    is_part = bool(of.others) or len({key[:width] for key in read}) < len(of.gold)
    kept, scored = scored_rows(due, read, policy, "the answers")
    return Rows(of.built, of.name, of.options, due, is_part).within(kept), scored


def _halves(questions: Questions, epoch: Epoch) -> Iterator[tuple[Gold, Epoch]]:
    """Yield gold and predictions, in its order; those of swapped sides for themselves."""
    width = len(questions.task.key)
    for is_swapped in (False, True):
        half = {key[:width]: key for key in epoch if (len(key) > width) is is_swapped}
        gold = {key: value for key, value in questions.gold.items() if key in half}
        if gold:
            yield gold, {half[key]: epoch[half[key]] for key in gold}


def alone(questions: Questions, key: Key, prediction: Prediction) -> dict[str, Any]:
    """Return the metrics that one prediction has by itself."""
    rows, read = scored_epoch(questions, {key: prediction}, WRONG)
    metrics = rows.score(read).metrics
    return {name: metrics[name] for name in questions.task.per_prediction}


def flat_numbers(score: Score, intervals: Mapping[Names, Interval]) -> dict[str, float]:
    """Return the metrics of a score by name, and the number of undefined ones.

    The ends of an interval are NAME.low and NAME.high.
    """
    metrics = {".".join(path): value for path, value in flat(score.metrics).items()}
    known = {name: value for name, value in metrics.items() if not isinstance(value, Undefined)}
    for path, each in intervals.items():
        name = ".".join(path)
        known |= {f"{name}.low": each.low, f"{name}.high": each.high}
    return {**known, "undefined": len(metrics) - sum(name in known for name in metrics)}
