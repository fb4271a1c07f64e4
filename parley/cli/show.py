"""Lay out one dialogue for reading in a terminal."""

from rich.console import Group, RenderableType
from rich.padding import Padding

from parley.base.console import safe
from parley.base.errors import UsageError
from parley.builds.card_parts import FieldTable
from parley.cli.tables import LABEL, grid, indented, labelled
from parley.declaration.registry import Dataset
from parley.read.dialogues import Dialogue, dialogues_of, places
from parley.read.transcript import Note, Table, Transcript
from parley.rows.folder import BuiltFolder
from parley.rows.upstream import Sources

_COLOURS = ("cyan", "magenta", "green", "yellow", "blue")


def find_dialogue(
    dataset: Dataset, id: str | None, folder: BuiltFolder | Sources, origin: str
) -> Dialogue:
    """Return the dialogue of this id, or the first one, with related rows; or raise UsageError."""
    some: list[str] = []
    for place in places(folder):
        for dialogue in dialogues_of(folder, *place):
            if id is None or dialogue.id == id:
                return dialogue
            if len(some) < 5:
                some.append(dialogue.id)
    wanted = "" if id is None else f" {id!r}"
    there = f"; the first are {', '.join(some)}" if some else ""
    raise UsageError(f"{dataset.name}: no dialogue{wanted} in {origin}{there}")


def lay_out(dialogue: Dialogue, origin: str) -> RenderableType:
    """Return a dialogue and its origin to print; ScriptError if transcript.py fails on it."""
    last = f"\n{dialogue.dataset.name}, config {dialogue.config}, from {origin}"
    transcript = dialogue.transcript
    sides = transcript.sides.items()
    private = [(f"{name}, {label}", value) for name, facts in sides for label, value in facts]
    judged = [
        (f"{pool.id}, {grade}, {len(found)}", ", ".join(found))
        for card in transcript.judged
        for pool in card.pools
        for grade, found in pool.grades
    ]
    return Group(
        safe(transcript.title, style="bold"),
        labelled([*transcript.before, *private]),
        Padding(_turns(transcript), (1, 0)),
        *(Padding(_table(each), (0, 0, 1, 0)) for each in transcript.tables),
        labelled([*transcript.after, *judged]),
        safe(last, style="dim"),
    )


def lay_out_fields(tables: list[FieldTable]) -> RenderableType:
    """Return the fields to print: path and type in a line, the meaning below it."""
    parts: list[RenderableType] = []
    for each in tables:
        parts += [safe(f"{config}: {text}", style="bold") for config, text in each.configs.items()]
        told = ((config, ", ".join(columns)) for config, columns in each.elsewhere.items())
        parts += [safe(f"as in {config}: {columns}") for config, columns in told]
        for row in each.rows:
            path, kind, null, meaning = (cell.replace("`", "") for cell in row)
            parts.append(indented(f"{path}  {kind}{', or null' * bool(null)}", 2, "cyan"))
            parts.append(indented(meaning, 6))
        parts.append(safe())
    return Group(*parts)


def _table(values: Table) -> RenderableType:
    heads = [safe(each, style="dim") for each in (values.title, *values.columns)]
    rows = ([safe(head, style="dim"), *map(safe, cells)] for head, cells in values.rows)
    return grid([heads, *rows], *[{}] * len(heads))


def _turns(transcript: Transcript) -> RenderableType:
    colours = {s: _COLOURS[n % len(_COLOURS)] for n, s in enumerate(transcript.speakers)}
    rows = (
        (
            safe(turn.speaker, style=f"bold {colours[turn.speaker]}"),
            safe(turn.text, style="italic" if turn.action else ""),
            safe(", ".join(map(_note, turn.notes)), style="dim"),
        )
        for turn in transcript.turns
    )
    return grid(rows, {"justify": "right", **LABEL}, {"max_width": 72}, {"max_width": 34})


def _note(note: Note) -> str:
    detail = f": {note.detail}" if note.detail else ""
    return note.text + detail + (f" ({note.by})" if note.by else "")
