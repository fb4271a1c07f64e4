"""What an endpoint refuses, found before the first answer, and what a run sends in its place.

A mode is a tuple of the changes below, one of each ladder at most; () is a request in full.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from parley.asking.client import (
    DEVELOPER,
    MAX_COMPLETION_TOKENS,
    NO_LIMIT,
    NO_SCHEMA,
    NO_SYSTEM,
    NO_TEMPERATURE,
    Call,
    FailedCall,
    Mode,
)

# What an endpoint says of a part of a request, and the changes to try in turn; the part that the
# fewest endpoints take comes first, for a refusal that names none.
_LADDERS: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), changes)
    for pattern, changes in (
        (r"response.?format|json.?schema|structured.?output|grammar", (NO_SCHEMA,)),
        (r"temperature", (NO_TEMPERATURE,)),
        (r"max_(?:completion_)?tokens", (MAX_COMPLETION_TOKENS, NO_LIMIT)),
        (
            r"\b(?:system|developer)\W{1,3}(?:role|message|prompt|instruction)|\broles?\b",
            (DEVELOPER, NO_SYSTEM),
        ),
    )
)
CHANGES = tuple(change for _, changes in _LADDERS for change in changes)

_Levels = tuple[int, ...]  # for each ladder, the number of its change; 0 for none


class RefusedCall(FailedCall):
    """A call that the endpoint refuses as it is written; `text` is more of what it says."""

    def __init__(self, what: str, text: str) -> None:
        super().__init__(what)
        self.text = text


def names_a_part(text: str) -> bool:
    """Tell whether the message of an error names a part of a request that has a change."""
    return any(pattern.search(text) for pattern, _ in _LADDERS)


async def find_mode(
    send: Callable[[Mapping[str, Any]], Awaitable[Call]],
    request: Callable[[Mode], Mapping[str, Any]],
) -> tuple[Call, Mode]:
    """Return the answer to a request in the fullest mode that the endpoint takes, and this mode.

    A refused request is changed until it is answered; then each change but the last is tried
    without. RefusedCall with the first refusal if the endpoint takes no mode.
    """
    levels: _Levels = (0,) * len(_LADDERS)
    refusals, last = list[RefusedCall](), -1
    while True:
        try:
            call = await send(request(_mode(levels)))
            break
        except RefusedCall as refusal:
            refusals.append(refusal)
            last, levels = _change(levels, refusal.text, request)
            if last < 0:
                raise refusals[0] from None
    for place in range(len(_LADDERS)):
        for level in range(levels[place] if place != last else 0):
            fuller = _with(levels, place, level)
            if request(_mode(fuller)) == request(_mode(levels)):
                continue
            try:
                call = await send(request(_mode(fuller)))
            except RefusedCall:
                continue
            levels = fuller
            break
    return call, _mode(levels)


def _mode(levels: _Levels) -> Mode:
    return tuple(
        changes[level - 1] for level, (_, changes) in zip(levels, _LADDERS, strict=True) if level
    )


def _with(levels: _Levels, place: int, level: int) -> _Levels:
    return (*levels[:place], level, *levels[place + 1 :])


def _change(
    levels: _Levels, refusal: str, request: Callable[[Mode], Mapping[str, Any]]
) -> tuple[int, _Levels]:
    """Return the next ladder to climb and the levels after it; -1 if there is none.

    The ladder that a refusal names first goes first. A change that changes nothing is passed over.
    """
    named = {
        place: found.start()
        for place, (pattern, _) in enumerate(_LADDERS)
        if (found := pattern.search(refusal))
    }
    now = request(_mode(levels))
    for place in sorted(range(len(_LADDERS)), key=lambda each: named.get(each, len(refusal))):
        for level in range(levels[place] + 1, len(_LADDERS[place][1]) + 1):
            changed = _with(levels, place, level)
            if request(_mode(changed)) != now:
                return place, changed
    return -1, levels
