"""The packages that two campers share out, and their points.

The functions take a side's `value2issue`, as `dialogues` and `scenarios` have it, and the packages
that a side gets as {"Food": 2, "Water": 0, "Firewood": 3}.
"""

import operator
from collections.abc import Iterator, Mapping
from itertools import product

SIDES = ("mturk_agent_1", "mturk_agent_2")
ISSUES = ("Food", "Water", "Firewood")
PACKAGES = 3  # of each issue, for both sides together
POINTS = {"High": 5, "Medium": 4, "Low": 3}  # a package, by its priority
WALK_AWAY = 5  # points of each side when one walks away

Items = Mapping[str, int]
Priorities = Mapping[str, str]


def points_of(value2issue: Priorities, items: Items | None) -> int:
    """Return the points of a side that gets these packages; None stands for walking away.

    The rule of the paper, section 2. It gives every score that upstream records.
    """
    if items is None:
        return WALK_AWAY
    return sum(POINTS[level] * items[issue] for level, issue in value2issue.items())


def allocations() -> Iterator[dict[str, Items]]:
    """Yield each of the 64 ways to share out all packages, as side -> packages."""
    first, second = SIDES
    for counts in product(range(PACKAGES + 1), repeat=len(ISSUES)):
        mine = dict(zip(ISSUES, counts, strict=True))
        yield {first: mine, second: {issue: PACKAGES - mine[issue] for issue in ISSUES}}


def most_joint_points(sides: Mapping[str, Priorities]) -> int:
    """Return the most points that both sides can reach together: 36, 39 or 42."""
    worth = [{issue: POINTS[level] for level, issue in each.items()} for each in sides.values()]
    return sum(PACKAGES * max(side[issue] for side in worth) for issue in ISSUES)


def is_pareto_optimal(sides: Mapping[str, Priorities], reached: tuple[float, ...]) -> bool:
    """Tell whether no deal is better for one side and no worse for the other."""
    for shares in allocations():
        both = tuple(points_of(sides[side], shares[side]) for side in SIDES)
        if both != reached and all(map(operator.ge, both, reached)):
            return False
    return True
