"""Predictions and scores of games: how a negotiation ended, for each side.

A side without a deal has the points of walking away, whoever walked away and at the turn limit.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from statistics import median
from typing import Any

from parley.base.errors import Problem
from parley.base.nested import tree
from parley.schema.shapes import Checked
from parley.tasks.formats import UNREADABLE, Key, Prediction
from parley.tasks.games import TURN_LIMIT
from parley.tasks.task import Score, Undefined

__all__ = ["GAME_FIELDS", "GAME_METRICS", "game_shape", "score_games"]

GAME_FIELDS = {
    "end": "turn_limit if the negotiation ended at its turn limit without a deal; otherwise no "
    "field",
    "walked_away": "the side that walked away, also by its third malformed turn; no field if none "
    "did, or if it is unknown",
    "turns": "the number of turns of each side; no field if unknown",
    "malformed": "the number of malformed turns of each side; no field if unknown",
}
"""Fields of a prediction of any game -> their content."""

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


def _not_negative(number: int) -> None:
    if number < 0:
        raise ValueError("0 or more")


def game_shape(roles: Iterable[str]) -> dict[str, Any]:
    """Return the shape of `GAME_FIELDS`."""
    counts = {role: Checked(int, _not_negative) for role in roles}
    ends = {"end?": {TURN_LIMIT}, "walked_away?": {*counts}}
    return {**ends, "turns?": counts, "malformed?": counts}


def wrong_end(prediction: Prediction, agreed: str) -> Iterator[Problem]:
    """Object to an end without a deal beside a deal, or to two of them."""
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

    Args:
        gold: Key -> scenario.
        predictions: Key -> prediction.
        agreed: The field of a prediction that holds the deal, None without one.
        points: Scenario, the deal or None -> role -> points.
        of_games: Metric -> its value of a scenario and the deal or None; a mean over scenarios.
        of_deals: Metric -> its value of a scenario and the deal; a mean over deals.
    """
    values: dict[tuple[str, ...], list[float]] = defaultdict(list)  # of each game, NaN for none
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
        without = points(scenario, None)
        for role, gained in points(scenario, deal).items():
            values["points", role].append(gained)
            values["below_walk_away", role].append(gained < without[role])
            values["walked_away", role].append(prediction.get("walked_away") == role)
            for name in ("turns", "malformed"):
                values[name, role].append(prediction.get(name, {}).get(role, math.nan))
    metrics: dict[tuple[str, ...], Any] = {**values}
    unread = sum(values["unreadable",])  # they tell nothing, and have no place in a mean
    for path, each in values.items():
        if path[0] == "points":
            metrics["median_points", path[1]] = float(median(each))
        lacking = sum(map(math.isnan, each)) if path[0] in ("turns", "malformed") else 0
        if lacking > unread or lacking == len(each):
            metrics[path] = Undefined(f"{lacking:,} of {len(each):,} predictions do not tell it")
    deals = int(sum(values["deals",]))
    if not deals:
        metrics |= {(name,): Undefined("no scenario has a deal") for name in of_deals}
    return Score(tree(metrics), {"scenarios": len(gold), "deals": deals}, ("median_points",))
