"""Ask the same questions several times, a log for each repetition, and score the logs together."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from parley.asking.client import Sampling
from parley.asking.log import Questions
from parley.asking.score import open_log
from parley.base.errors import UsageError
from parley.scoring.compare import Rows
from parley.scoring.gold import Part
from parley.scoring.predictions import validate_predictions
from parley.scoring.repeats import Repeats, score_repeats


def repetitions(sampling: Sampling, count: int) -> list[Sampling]:
    """Return the settings of each repetition; a seed is another one in each.

    UsageError if every answer would be the same.
    """
    if count > 1 and sampling.fields.get("temperature") == 0:
        raise UsageError(
            f"--repeat {count}: at temperature 0 a model gives the same answer again",
            remedy="Name a --temperature above 0.",
        )
    found = []
    for number in range(1, count + 1):
        seed = sampling.fields.get("seed")
        own: dict[str, Any] = {"seed": seed + number - 1} if isinstance(seed, int) else {}
        found.append(replace(sampling, fields={**sampling.fields, **own}, repeat=number))
    return found


def score_logs(questions: Questions, paths: list[Path]) -> Repeats:
    """Return the score of the logs of two repetitions or more together; raises as `score_log`."""
    of, found = questions, []
    for path in paths:
        log = open_log(of.built, of.name, of.options, path, Part())
        given = log.predictions.values()
        found.append(validate_predictions(given, of.task, of.gold, str(path)))
    return score_repeats(Rows(of.built, of.name, of.options, of.gold, of.part), found)
