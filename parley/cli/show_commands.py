"""One build in a terminal or as files: `parley show`, `parley charts` and `parley export`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from rich.console import Group, RenderableType
from rich.padding import Padding
from typer import Argument, Option

from parley.base.console import safe
from parley.base.errors import UsageError
from parley.builds.built_folder import BuiltFolder, find_folder
from parley.builds.card_parts import FieldTable, field_tables
from parley.builds.sources import Sources, open_source, source_folder
from parley.cli.common import print_line, print_result, read_ids
from parley.cli.options import (
    AsJson,
    BuildDir,
    BuildOrOther,
    Name,
    Sample,
    SourceDir,
    completing,
    output,
)
from parley.cli.tables import LABEL, grid, indented, labelled
from parley.declaration.registry import Dataset, get
from parley.page.build_charts import write_charts
from parley.read.dialogues import Dialogue, dialogues_of, places
from parley.read.export.export import export, formats, without_dialogues
from parley.read.transcript import Note, Table, Transcript

_ID = "A dialogue [default: the first]; with --fields a config [default: all]."
_FIELDS = "Show the fields of configs, not a dialogue."
_IDS = "Only these dialogues, one id a line (csv, jsonl)."
_CONFIGS = completing(lambda dataset: dataset.configs)
_FORMAT = (
    "csv, jsonl; with chats prompt-completion, sharegpt; for some datasets convokit, trec, beir."
)
_FORMATS = completing(formats)
_USUAL = Path("build")
_COLOURS = ("cyan", "magenta", "green", "yellow", "blue")

_TO = "The folder to write, missing or empty [default: NAME-{}]."


def show_command(
    name: Name,
    id: Annotated[str | None, Argument(metavar="ID", help=_ID, autocompletion=_CONFIGS)] = None,
    build: BuildOrOther = None,
    source: SourceDir = None,
    sample: Sample = False,
    fields: Annotated[bool, Option("--fields", help=_FIELDS)] = False,
    as_json: AsJson = False,
) -> None:
    """Show one dialogue of a build, a source or the sample, or the fields of each config.

    Without an option, read the build in build/, else PARLEY_SOURCE, else the sample.
    """
    dataset = get(name)
    excluding = {"--fields": fields, "--sample": sample, "--build": build, "--source": source}
    options = [option for option, value in excluding.items() if value]
    if len(options) > 1:
        raise UsageError(f"{options[0]} excludes {', '.join(options[1:])}")
    if fields:
        if id is not None:
            dataset.require(id)
        tables = field_tables({id: dataset.configs[id]} if id else dataset.configs)
        print_result(as_json, [vars(table) for table in tables], lay_out_fields, tables)
        return
    place, origin = _place(dataset, build, source, sample)
    dialogue = find_dialogue(dataset, id, place, origin)
    print_result(as_json, dialogue.row, _show_layout, dialogue, origin)


def _place(
    dataset: Dataset, build: Path | None, source: Path | None, sample: bool
) -> tuple[BuiltFolder | Sources, str]:
    """Return where to read dialogues, and its name for people."""
    if build or (not (sample or source) and (_USUAL / dataset.name).is_dir()):
        built = find_folder(build or _USUAL, dataset)
        kind = ", a build of the invented sample" if built.is_sample else ""
        return built, f"{built.path}{kind}"
    if not sample and (upstream := source_folder(source)):
        files = open_source(dataset, upstream, allow_missing=True)
        return files, str(files.folder)
    origin = "the sample (invented)"
    if not sample:
        origin += f", as build/ has no build: run `parley build {dataset.name}` for the dataset"
    return open_source(dataset, None, sample=True), origin


def find_dialogue(
    dataset: Dataset, id: str | None, folder: BuiltFolder | Sources, origin: str
) -> Dialogue:
    """Return the dialogue of this id, or the first one, with related rows; or raise UsageError."""
    first_ids: list[str] = []
    for place in places(folder):
        for dialogue in dialogues_of(folder, *place):
            if id is None or dialogue.id == id:
                return dialogue
            if len(first_ids) < 5:
                first_ids.append(dialogue.id)
    name = "" if id is None else f" {id!r}"
    examples = f"; the first are {', '.join(first_ids)}" if first_ids else ""
    raise UsageError(f"{dataset.name}: no dialogue{name} in {origin}{examples}")


def _show_layout(dialogue: Dialogue, origin: str) -> RenderableType:
    """Return a dialogue and its origin to print; ScriptError if transcript.py fails on it."""
    last = f"\n{dialogue.dataset.name}, config {dialogue.config}, from {origin}"
    transcript = dialogue.transcript
    names = dialogue.dataset.layout.speakers
    private = [
        (f"{names.get(side, side)}, {label}", value)
        for side, facts in transcript.sides.items()
        for label, value in facts
    ]
    judged = [
        (f"{pool.id}, {grade}, {len(documents)}", ", ".join(documents))
        for card in transcript.judged
        for pool in card.pools
        for grade, documents in pool.grades
    ]
    return Group(
        safe(transcript.title, style="bold"),
        labelled([*transcript.before, *private]),
        Padding(_turns(transcript, names), (1, 0)),
        *(Padding(_side_by_side(table), (0, 0, 1, 0)) for table in transcript.tables),
        labelled([*transcript.after, *judged]),
        safe(last, style="dim"),
    )


def lay_out_fields(tables: list[FieldTable]) -> RenderableType:
    """Return the fields to print: path and type in a line, the meaning below it."""
    parts: list[RenderableType] = []
    for table in tables:
        parts += [safe(f"{config}: {text}", style="bold") for config, text in table.configs.items()]
        for config, columns in table.elsewhere.items():
            parts.append(safe(f"as in {config}: {', '.join(columns)}"))
        for row in table.rows:
            path, kind, null, meaning = (cell.replace("`", "") for cell in row)
            text = f"{path}  {kind}, or null" if null else f"{path}  {kind}"
            parts += [indented(text, 2, "cyan"), indented(meaning, 6)]
        parts.append(safe())
    return Group(*parts)


def _side_by_side(values: Table) -> RenderableType:
    heads = [safe(text, style="dim") for text in (values.title, *values.columns)]
    rows = ([safe(head, style="dim"), *map(safe, cells)] for head, cells in values.rows)
    return grid([heads, *rows], *[{}] * len(heads))


def _turns(transcript: Transcript, names: Mapping[str, str]) -> RenderableType:
    colours = {s: _COLOURS[n % len(_COLOURS)] for n, s in enumerate(transcript.speakers)}
    rows = (
        (
            safe(names.get(turn.speaker, turn.speaker), style=f"bold {colours[turn.speaker]}"),
            safe(turn.text, style="italic" if turn.action else ""),
            safe(", ".join(map(_note, turn.notes)), style="dim"),
        )
        for turn in transcript.turns
    )
    return grid(rows, {"justify": "right", **LABEL}, {"max_width": 72}, {"max_width": 34})


def _note(note: Note) -> str:
    detail = f": {note.detail}" if note.detail else ""
    return note.text + detail + (f" ({note.by})" if note.by else "")


def charts_command(
    name: Name,
    to: Annotated[Path | None, output(_TO.format("charts"), "DIR")] = None,
    build: BuildDir = Path("build"),
) -> None:
    """Write the charts of a build as SVG files, into a new folder."""
    to = to or Path(f"{name}-charts")
    files = write_charts(find_folder(build, get(name)), to)
    print_line(f"charts of {name}, in {to}/: {', '.join(files)}")


def export_command(
    name: Name,
    format: Annotated[str, Argument(metavar="FORMAT", help=_FORMAT, autocompletion=_FORMATS)],
    to: Annotated[Path | None, output(_TO.format("FORMAT"), "DIR")] = None,
    build: BuildDir = Path("build"),
    ids: Annotated[Path | None, Option(metavar="FILE", help=_IDS)] = None,
) -> None:
    """Write a build in another format into a new folder."""
    built, to = find_folder(build, get(name)), to or Path(f"{name}-{format}")
    files = export(built, format, to, read_ids(ids))
    kind = "the invented sample, no data of the dataset; " if built.is_sample else ""
    print_line(f"{name} as {format}, in {to}/: {kind}{', '.join(files)}")
    if ids and (left_out := without_dialogues(built)):
        why = "their rows belong to no single dialogue"
        print_line(f"left out, as {why}: {', '.join(left_out)}")
