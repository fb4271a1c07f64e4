"""Predictions and scores of games: how a negotiation ended, for each side.

A side without a deal has the points of walking away, whoever walked away and at the turn limit.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from parley.base.errors import Problem
from parley.base.values import tree
from parley.tasks.games import TURN_LIMIT
from parley.tasks.prediction_formats import UNREADABLE, Key, Prediction
from parley.tasks.task import Score, Undefined

SWAPPED = "swapped"  # the last part of the key of a game with its sides swapped
BY_MODEL = "by_model"  # the group of metrics of each model over both sides
_OPTIONAL = ("turns", "malformed")  # fields that a prediction may lack

GAME_METRICS = {
    "deals": "share of scenarios with a deal",
    "walk_aways": "share of scenarios without a deal that the turn limit did not end",
    "turn_limits": "share of scenarios that end at the turn limit",
    "unreadable": "share of scenarios without a readable prediction, which count as without a deal",
    "points": "points of a side, mean over scenarios",
    "median_points": "their median",
    "below_walk_away": "share of scenarios in which a side has fewer points than for walking away",
    "walked_away": "share of scenarios in which the prediction names this side as walking away",
    "turns": "turns of a side, mean over readable predictions",
    "malformed": "malformed turns of a side, the same mean",
}
"""Metrics of any game -> their meaning; the last six are by side."""
GAME_ENDS = dict.fromkeys(_OPTIONAL, (0.0, math.inf))
"""Those of them that are no fractions -> their ends, but for points, which a task knows."""


def wrong_end(prediction: Prediction, agreed: str) -> Iterator[Problem]:
    """Yield the problem of an end without a deal if there is a deal, or of two such ends."""
    if prediction.get(agreed) is not None:
        for name in ("end", "walked_away"):
            if name in prediction:
                yield Problem(name, f"no field, as there is a deal in {agreed}", prediction[name])
    elif "end" in prediction and "walked_away" in prediction:
        what = "no field, as the negotiation ended at its turn limit"
        yield Problem("walked_away", what, prediction["walked_away"])


def score_games(
    gold: Mapping[Key, Any],
    predictions: Mapping[Key, Prediction],
    agreed: str,
    points: Callable[[Any, Any], Mapping[str, float]],
    of_games: Mapping[str, Callable[[Any, Any], float]],
    of_deals: Mapping[str, Callable[[Any, Any], float]],
) -> Score:
    """Return `GAME_METRICS` and a task's own metrics.

    If scenarios are played with swapped sides, too, also `BY_MODEL`: those of a side over both
    games, by the side that a model has in the first one.

    Args:
        gold: Key -> scenario.
        predictions: Key -> prediction.
        agreed: The field of a prediction that holds the deal, None without one.
        points: Scenario, the deal or None -> role -> points.
        of_games: Metric -> its value of a scenario and the deal or None; a mean over scenarios.
        of_deals: Metric -> its value of a scenario and the deal; a mean over deals.
    """
    values: dict[tuple[str, ...], list[float]] = defaultdict(list)  # of each game, NaN for none
    scenarios = len({key[:-1] if key[-1] == SWAPPED else key for key in gold})
    is_swapped_too = scenarios < len(gold)
    for key, scenario in gold.items():
        prediction = predictions[key]
        deal, is_read = prediction.get(agreed), UNREADABLE not in prediction
        is_over_time = prediction.get("end") == TURN_LIMIT
        values["deals",].append(deal is not None)
        values["walk_aways",].append(is_read and deal is None and not is_over_time)
        values["turn_limits",].append(is_over_time)
        values["unreadable",].append(not is_read)
        for name, value in of_games.items():
            values[name,].append(value(scenario, deal))
        for name, value in of_deals.items():
            values[name,].append(math.nan if deal is None else value(scenario, deal))
        with_deal, without_deal = points(scenario, deal), points(scenario, None)
        seats = [*with_deal][::-1] if key[-1] == SWAPPED else [*with_deal]
        for role, seat in zip(with_deal, seats, strict=True):
            of_side = {
                "points": with_deal[role],
                "below_walk_away": with_deal[role] < without_deal[role],
                "walked_away": prediction.get("walked_away") == role,
                **{name: prediction.get(name, {}).get(role, math.nan) for name in _OPTIONAL},
            }
            for name, number in of_side.items():
                values[name, role].append(number)
                if is_swapped_too:
                    values[BY_MODEL, name, seat].append(number)
    metrics = _metrics(values)
    deals = int(sum(values["deals",]))
    if not deals:
        metrics |= {(name,): Undefined("no scenario has a deal") for name in of_deals}
    games = {"games": len(gold)} if is_swapped_too else {}
    counts = {"scenarios": scenarios, **games, "deals": deals}
    return Score(tree(metrics), counts, {"median_points": "it is a median"})


def _metrics(values: Mapping[tuple[str, ...], Sequence[float]]) -> dict[tuple[str, ...], Any]:
    """Return the values of each metric, medians of points, and why some are undefined."""
    metrics: dict[tuple[str, ...], Any] = {**values}
    unreadable = sum(values["unreadable",])  # they tell nothing, and have no place in a mean
    for path, of_games in values.items():
        if "points" in path:
            medians = (*path[:-2], "median_points", path[-1])
            metrics[medians] = float(median(of_games))
        lacking = sum(map(math.isnan, of_games)) if {*path} & {*_OPTIONAL} else 0
        if lacking > unreadable or lacking == len(of_games):
            why = f"{lacking:,} of {len(of_games):,} predictions do not tell it"
            metrics[path] = Undefined(why)
    return metrics
