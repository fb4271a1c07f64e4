"""What the page filters by and searches, as rows for SQL: one for each side of a dialogue."""

import unicodedata
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

from parley.building.folder import BuiltFolder
from parley.reading.dialogues import dialogues
from parley.reading.site.filters import pairs_of, sides_of, text_of
from parley.reading.transcript import Transcript


def sides(built: BuiltFolder) -> Iterator[dict[str, Any]]:
    """Yield a row for each side of a dialogue, or one for a dialogue without sides.

    `labels` and `numbers` are lists of (filter, its values of the side or of the dialogue).
    """
    for place, dialogue in enumerate(dialogues(built)):
        facets, transcript = dialogue.facets, dialogue.transcript
        said = [_fold(turn.text) for turn in transcript.turns if not turn.action]
        around = _fold("\n".join(_around(transcript)))
        whole = {"id": dialogue.id, "place": place, "said": said, "around": around}
        known = sides_of(facets)
        for side, number in known.items() if known else [(None, -1)]:
            values = {
                name: [value for of, value in pairs_of(facet, known) if of in (-1, number)]
                for name, facet in facets.items()
            }
            labels = [(name, list(map(text_of, found))) for name, found in values.items()]
            numbers = [
                (name, [float(v) for v in found if not isinstance(v, str | bool)])
                for name, found in values.items()
            ]
            yield whole | {"side": side, "labels": labels, "numbers": numbers}


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
