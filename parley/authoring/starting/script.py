"""Write the script, the pins and the transcript of a draft; upstream's texts enter as literals."""

from typing import TYPE_CHECKING, Any

from parley.schema.fields import UNKNOWN
from parley.schema.shapes import Converted
from parley.source.formats import BY_SUFFIX
from parley.source.pins import PLACEHOLDER

if TYPE_CHECKING:
    from parley.authoring.starting.draft import Draft
    from parley.authoring.starting.files import Given

_ROWS = '''def records(sources):
    """Yield each dialogue with its rows as turns, which stand one after the other."""
    for source in sources.values():
        for id, rows in groupby(source, lambda row: row[KEY]):
            turns = [{key: row[key] for key in row if key != KEY} for row in rows]
            yield {KEY: id, "turns": turns}


'''
_ENTRIES = '''def records(sources):
    """Yield each entry of the objects, with its key."""
    for source in sources.values():
        for found in source:
            for key, value in found.items():
                yield {"id": key, VALUE}


'''


def literal(value: Any) -> str:
    """Return the Python literal of a text or number."""
    text = repr(value)
    return f'"{text[1:-1]}"' if text[0] == "'" and '"' not in text and "\\'" not in text else text


def script(name: str, title: str, made: "Draft") -> str:
    """Return the text of the dataset's script, with a class named `title`."""
    value, of_files, records = _shape(made.value), "RECORD", ""
    shapes = f"RECORD = {value}\n"
    if dialogue := literal(made.stated.dialogue) if made.stated.dialogue else "":
        of_files, records = "ROW", _ROWS.replace("KEY", dialogue)
        shapes = f"""ROW = {value}
TURN = {{key: field for key, field in ROW.items() if key != {dialogue}}}
RECORD = {{{dialogue}: ROW[{dialogue}], "turns": {_field("[TURN]")}}}
"""
    elif made.entries:
        last = "**VALUE" if made.spread else f'"value": {_field("VALUE")}'
        shapes = f'VALUE = {value}\nRECORD = {{"id": {_field("str")}, {last}}}\n'
        records = _ENTRIES.replace("VALUE", "**value" if made.spread else '"value": value')
        of_files = "{str: VALUE}"
    splits: dict[str, list[str]] = {}
    for each in made.given:
        splits.setdefault(each.split, []).append(_source(each, of_files))
    declared = "".join(
        f"                {literal(split)}: [\n{''.join(sources)}                ],\n"
        for split, sources in splits.items()
    )
    key = literal(made.key[0]) if len(made.key) == 1 else f"({', '.join(map(literal, made.key))})"
    own = "            records=records,\n            shape=RECORD,\n" if records else ""
    body = f'''{shapes}

{records}class {title}(Builder):
    """Describe the dataset in a sentence."""

    VERSION = "1.0.0"
    HOMEPAGE = "{PLACEHOLDER}"
    LICENSE = "unknown"
    CITATION = """\\
@misc{{{name},
  title = {{The Title of the Paper}}
}}"""
    CONFIGS = [
        Config(
            "dialogues",
            "a record, as published",
            {{
{declared}            }},
{own}            key={key},
            use="read",
        ),
    ]
'''
    words = ("Builder", "Config", "Converted", "Field", "File", "Folder")
    used = ", ".join(each for each in words if f"{each}(" in body or f"({each})" in body)
    standard = "from itertools import groupby\n" * bool(dialogue)
    standard += "from json import dumps, loads\n" * ("Converted" in used)
    standard += "\n" * bool(standard)
    return f'''"""{title}: describe the dataset in a line here, and its origin below."""

{standard}from parley import {used}

from .pins import PINS

{body}'''


def _shape(shape: Any, level: int = 0, has_fields: bool = True) -> str:
    """Return the code of a shape, a key of an object on each line; JSON text has no fields."""
    if isinstance(shape, Converted):
        return f"Converted({_shape(shape.shape, level, False)}, str, dumps, loads)"
    if isinstance(shape, dict):
        lines = []
        for key, inner in shape.items():
            code = _shape(inner, level + 1, has_fields)
            name = "str" if key is str else literal(key)
            lines.append(f"{'    ' * level}    {name}: {_field(code) if has_fields else code},\n")
        return f"{{\n{''.join(lines)}{'    ' * level}}}"
    if isinstance(shape, list | tuple):
        start, end = "[]" if isinstance(shape, list) else "()"
        return f"{start}{', '.join(_shape(each, level, has_fields) for each in shape)}{end}"
    if isinstance(shape, set):
        return f"{{{', '.join(map(literal, sorted(shape)))}}}"
    return "None" if shape is None else str(shape.__name__)


def _field(code: str) -> str:
    return f"Field({code}, {literal(UNKNOWN)})"


def _source(each: "Given", shape: str) -> str:
    kind, usual = ("Folder", "json value") if each.names else ("File", "")
    usual = usual or BY_SUFFIX[each.place.suffix]
    read = "" if each.format == usual else f", read={literal(each.format)}"
    path = literal(each.path)
    return f"                    {kind}({path}, {shape}, **PINS[{path}]{read}),\n"


def pins(found: dict[str, dict[str, Any]]) -> str:
    """Return the text of `pins.py`, given path -> pin."""
    lines = []
    for path, pin in found.items():
        items = (f"        {literal(key)}: {literal(value)},\n" for key, value in pin.items())
        lines.append(f"    {literal(path)}: {{\n{''.join(items)}    }},\n")
    start = '"""The pins of upstream\'s files."""\n\nfrom typing import Any\n\n'
    return f"{start}PINS: dict[str, dict[str, Any]] = {{\n{''.join(lines)}}}\n"


def transcript(made: "Draft") -> str:
    """Return the code of `transcript.py`."""
    stated = made.stated
    text, who = literal(stated.text), literal(stated.speaker)
    if turns := "turns" if stated.dialogue else stated.turns:
        text = f"turn[{text}]" if stated.text else "turn"
        who = f"str(turn[{who}])" if stated.speaker else '"?"'
        said = f"Turn({who}, {text}) for turn in row[{literal(turns)}]"
    elif stated.speaker:
        said = f"Turn(str(who), text) for who, text in zip(row[{who}], row[{text}], strict=True)"
    else:
        said = f'Turn("?", text) for text in row[{text}]'
    return f'''"""The layout and the filters of a dialogue."""

from typing import Any

from parley.reading.transcript import Facets, Transcript, Turn

CONFIGS = ("dialogues",)


def transcript(row: dict[str, Any]) -> Transcript:
    """Return the transcript of a row of `dialogues`."""
    turns = [{said}]
    return Transcript(title=str(row[{literal(made.key[0])}]), turns=turns)


def facets(row: dict[str, Any]) -> Facets:
    """Return its length."""
    return {{"turns": len(transcript(row).turns)}}
'''
