"""Select dialogues by filters and words, with the same result as the page."""

import math
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, replace
from functools import reduce
from operator import and_, or_
from typing import Any

from parley.base.errors import Problem, UsageError, few
from parley.building.folder import BuiltFolder
from parley.reading.dialogues import Dialogue, dialogues
from parley.reading.site.data import transcript_of
from parley.reading.site.filters import Pairs, pairs_of, sides_of, text_of
from parley.reading.transcript import Facets, Transcript, Value

Choice = list[str] | tuple[float | None, float | None]  # labels, or the least and most number
_TOLD = 20  # values in an error
_EVERY = -1  # every side of a dialogue, as bits


def selected(
    built: BuiltFolder,
    chosen: Mapping[str, Choice],
    every: Collection[str],
    together: bool,
    words: Collection[str],
    around: bool,
) -> set[str]:
    """Return the ids of the dialogues that pass; `parley.select` describes arguments and errors."""
    _require_lists(chosen, every=every, words=words)
    folded = [_fold(word) for word in words]
    sound = {name: choice for name, choice in chosen.items() if _is_choice(choice)}
    there: dict[str, set[Value]] = {}  # facet -> its values, of those that were chosen
    found = set()
    for dialogue in dialogues(built):
        facets = dialogue.facets
        for name in facets:
            values = there.setdefault(name, set())
            if name in chosen:
                values.update(value for _, value in pairs_of(facets[name], sides_of(facets)))
        if _passes(facets, sound, every, together) and _has(dialogue, folded, around):
            found.add(dialogue.id)
    if unknown := [name for name in chosen if name not in there]:
        names = ", ".join(map(repr, unknown))
        raise UsageError(f"no facet {names}; there are: {', '.join(sorted(there))}")
    if wrong := [each for name in chosen for each in _wrong(name, chosen[name], there[name])]:
        raise UsageError("", *wrong)
    return found


def _require_lists(chosen: Mapping[str, Choice], **lists: Any) -> None:
    """Raise UsageError for a text in place of a list, and for `every` of a facet not chosen."""
    for name, given in lists.items():
        if isinstance(given, str) or not all(isinstance(each, str) for each in given):
            raise UsageError("", Problem(name, "a list of texts", f"{given!r:.60}"))
    if unknown := [name for name in lists["every"] if name not in chosen]:
        raise UsageError(
            "", Problem("every", "facets that are chosen", ", ".join(map(repr, unknown)))
        )


def _is_choice(choice: Any) -> bool:
    """Tell whether a choice is labels, or the least and the greatest number."""
    if isinstance(choice, tuple):
        ends = [end for end in choice if end is not None]
        return (
            len(choice) == 2
            and all(isinstance(end, int | float) and not math.isnan(end) for end in ends)
            and ends == sorted(ends)
        )
    return isinstance(choice, list | set | frozenset) and len(choice) > 0


def _wrong(name: str, choice: Any, there: set[Value]) -> Iterator[Problem]:
    """Yield the problems of a choice, with the values that a facet has."""
    numbers = [value for value in there if not isinstance(value, str | bool)]
    labels = sorted(map(text_of, there))
    told = f"there are: {few(labels, _TOLD)}"
    if numbers and len(numbers) == len(there):
        told = f"there are numbers from {text_of(min(numbers))} to {text_of(max(numbers))}"
    if not _is_choice(choice):
        expected = "a list of labels, or a tuple of the least and the greatest number"
        yield Problem(repr(name), expected, f"{choice!r:.60}; {told}")
    elif isinstance(choice, tuple):
        if not numbers:
            yield Problem(repr(name), what=f"has no numbers; {told}")
    elif unknown := [f"{label!r:.60}" for label in choice if label not in labels]:
        yield Problem(repr(name), what=f"has no label {few(unknown)}; {told}")


def _passes(
    facets: Facets, chosen: Mapping[str, Choice], every: Collection[str], together: bool
) -> bool:
    """Whether a dialogue, or one of its sides, passes all filters."""
    sides = sides_of(facets)
    mask = _EVERY  # the sides that pass, as bits
    for name, choice in chosen.items():
        pairs = pairs_of(facets.get(name), sides)
        if not together:
            pairs = [(-1, value) for _, value in pairs]
        mask &= _passing(pairs, choice, name in every)
    return mask != 0


def _passing(pairs: Pairs, choice: Choice, all_of_them: bool) -> int:
    """Return the sides with the chosen values, as bits."""

    def having(passes: Callable[[Value], bool]) -> int:
        bits = (1 << side if side >= 0 else _EVERY for side, value in pairs if passes(value))
        return reduce(or_, bits, 0)

    if isinstance(choice, tuple):
        return having(lambda value: _is_between(value, *choice))
    masks = [having(lambda value, label=label: text_of(value) == label) for label in choice]  # type: ignore[misc]
    return reduce(and_, masks, _EVERY) if all_of_them else reduce(or_, masks, 0)


def _is_between(value: Value, least: float | None, most: float | None) -> bool:
    if isinstance(value, str):
        return False
    return (least is None or value >= least) and (most is None or value <= most)


def _has(dialogue: Dialogue, words: list[str], around: bool) -> bool:
    """Whether an utterance has all words, or, with `around`, everything else together has."""
    if not words:
        return True
    transcript = transcript_of(dialogue)
    texts = [turn.text for turn in transcript.turns if not turn.action]
    if around:
        texts.append("\n".join(_around(transcript)))
    return any(all(word in text for word in words) for text in map(_fold, texts))


def _around(transcript: Transcript) -> Iterator[str]:
    """Yield reasons, descriptions, actions and labels."""
    yield from transcript.speakers
    yield from _strings(asdict(replace(transcript, turns=[], language="", entry="")))
    for turn in transcript.turns:
        yield from [turn.text] if turn.action else []
        yield from _strings([asdict(note) for note in turn.notes])


def _strings(value: Any) -> Iterator[str]:
    """Yield the texts inside lists and values of dicts."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)


def _fold(text: str) -> str:
    """Return text for comparison, as page.js does."""
    return unicodedata.normalize("NFKC", text).lower()
