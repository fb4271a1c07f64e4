"""Write the script and the transcript of a draft, like those of the skeleton."""

import json
from collections.abc import Iterator
from typing import Any

from parley.authoring.starting.code import Code, call, lay_out, listed, literal, mapped
from parley.authoring.starting.draft import TURNS, Draft, Stated
from parley.authoring.starting.given import Given, pin_of
from parley.schema.fields import UNKNOWN
from parley.schema.shapes import Converted
from parley.source.formats import BY_SUFFIX
from parley.source.pins import PLACEHOLDER

_LINES = 25  # of the record in a docstring


def script(name: str, title: str, made: Draft) -> str:
    """Return the text of the dataset's script, with a class named `title`."""
    splits: dict[str, list[Given]] = {}
    for each in made.given:
        splits.setdefault(each.split, []).append(each)
    parts = [*_shapes(made), "\n", *_sources(made, splits)]
    if made.stated and made.stated.dialogue:
        parts += ["\n\n", _GROUPED.replace("KEY", literal(made.stated.dialogue))]
    elif made.naming:
        parts += ["\n\n", _records(made)]
    parts += ["\n\n", _class(name, title, made, splits)]
    body = "".join(parts)
    return f"{_docstring(title, made.example)}\n\n{''.join(_imports(body))}\n{body}"


def pins(made: Draft) -> str:
    """Return the text of `pins.py`."""
    table = mapped((literal(each.path), mapped(_pin(each))) for each in made.given)
    start = "PINS: dict[str, dict[str, Any]] = "
    code = lay_out(table, before=len(start))
    return f'''"""The pins of upstream's files."""\n\nfrom typing import Any\n\n{start}{code}\n'''


def _pin(each: Given) -> Iterator[tuple[str, Code]]:
    for key, value in pin_of(each.place, each.path).items():
        yield literal(key), f"{value:_}" if isinstance(value, int) else literal(value)


def _docstring(title: str, record: Any) -> str:
    shown = json.dumps(shortened(record), ensure_ascii=False, indent=1)
    lines = [f"    {line}" for line in shown.splitlines()]
    lines = [*lines[: _LINES - 1], "    ..."] if len(lines) > _LINES else lines
    safe = "\n".join(lines).replace("\\", "\\\\").replace('"""', r"\"\"\"")
    return f'''"""{title}: describe the dataset in a line here, and its origin below.

A record looks like this (invented, lists shortened):

{safe}

A row is the record, with null for missing values.
"""'''


def shortened(value: Any) -> Any:
    """Return a value with one item of each list."""
    if isinstance(value, dict):
        return {key: shortened(inner) for key, inner in value.items()}
    return [shortened(item) for item in value[:1]] if isinstance(value, list) else value


def _imports(body: str) -> Iterator[str]:
    """Yield the imports of a script."""
    abstract = [name for name in ("Iterator", "Mapping") if f"{name}[" in body]
    uses = {f"from collections.abc import {', '.join(abstract)}": bool(abstract)}
    uses |= dict.fromkeys(
        ("from itertools import groupby", "from operator import itemgetter"), "groupby(" in body
    )
    uses |= {"from json import dumps, loads": "Converted(" in body}
    uses |= {"from typing import Any": bool(abstract)}
    lines = sorted(line for line, is_used in uses.items() if is_used)
    yield "".join(f"{line}\n" for line in lines) + "\n" * bool(lines)
    words = ("Builder", "Config", "Converted", "Field", "File", "Folder")
    names = [word for word in words if f"{word}(" in body or f"({word})" in body]
    yield f"from parley import {', '.join(names)}\n\nfrom .pins import PINS\n"


def _assign(name: str, code: Code) -> str:
    return f"{name} = {lay_out(code, before=len(name) + 3)}\n"


def _shapes(made: Draft) -> Iterator[str]:
    value = _shape(made.value)
    if made.stated and (key := made.stated.dialogue):
        yield _assign("ROW", value)
        yield f"TURN = {{key: field for key, field in ROW.items() if key != {literal(key)}}}\n"
        items = [(literal(key), f"ROW[{literal(key)}]"), (literal(TURNS), _field(listed(["TURN"])))]
        yield _assign("RECORD", mapped(items))
        return
    if made.naming is None:
        yield _assign("RECORD", value)
        return
    if value != "str":
        yield _assign("VALUE", value)
    kinds = [
        (literal(key), _field("int" if key == "number" else "str")) for key in made.naming.columns
    ]
    inner = "str" if value == "str" else "VALUE"
    last = (literal(made.naming.value), _field(inner)) if made.naming.value else ("**", inner)
    yield _assign("RECORD", mapped([*kinds, last]))


def _shape(shape: Any, is_json: bool = False) -> Code:
    """Return the code of a shape; what is no JSON text has fields."""
    if isinstance(shape, Converted):
        return call("Converted", _shape(shape.shape, is_json=True), "str", "dumps", "loads")
    if isinstance(shape, dict):
        keys = ["str" if key is str else literal(key) for key in shape]
        inner = (_shape(each, is_json) for each in shape.values())
        return mapped(zip(keys, inner if is_json else map(_field, inner), strict=True))
    if isinstance(shape, list | tuple):
        brackets = "[]" if isinstance(shape, list) else "()"
        return listed((_shape(each, is_json) for each in shape), brackets)
    if isinstance(shape, set):
        return listed(map(literal, sorted(shape)), "{}")
    return "None" if shape is None else str(shape.__name__)


def _field(shape: Code) -> Code:
    return call("Field", shape, literal(UNKNOWN))


def _sources(made: Draft, splits: dict[str, list[Given]]) -> Iterator[str]:
    shape: Code = "ROW" if made.stated and made.stated.dialogue else "RECORD"
    if made.naming:
        shape = "str" if made.value is str else "VALUE"
        shape = mapped([("str", shape)]) if made.naming.entries else shape
    for split, given in splits.items():
        sources = [_source(each, shape) for each in given]
        code = sources[0] if len(sources) == 1 else listed(sources)
        yield _assign(_name(split, splits), code)


def _name(split: str, splits: dict[str, list[Given]]) -> str:
    return split.upper() if len(splits) > 1 else "DATA"


def _source(each: Given, shape: Code) -> Code:
    kind = "Folder" if each.place.is_dir() else "File"
    path = literal(each.path)
    items = [("", path), ("", shape), ("**", f"PINS[{path}]")]
    usual = "json value" if each.place.is_dir() else BY_SUFFIX.get(each.place.suffix)
    if each.format != usual:
        items.append(("read=", literal(each.format)))
    return f"{kind}(", items, ")"


_GROUPED = '''def records(sources: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each dialogue with its rows as turns, which stand one after the other."""
    for source in sources.values():
        for id, rows in groupby(source, key=itemgetter(KEY)):
            turns = [{key: row[key] for key in row if key != KEY} for row in rows]
            yield {KEY: id, "turns": turns}
'''
_ENTRIES = '''def records(sources: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each entry of the objects, with its key."""
    for source in sources.values():
        for found in source:
            for key, value in found.items():
                yield RECORD
'''
_FILES = '''def records(sources: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each value with its file."""
    for path, source in sources.items():
        for file, value in source.items():
            yield RECORD
'''
_PLACES = '''def records(sources: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each value with its file and its number there, from 1."""
    for path, source in sources.items():
        for file, found in groupby(source.items(), key=itemgetter(0)):
            for number, (_, value) in enumerate(found, 1):
                yield RECORD
'''


def _records(made: Draft) -> str:
    naming = made.naming
    assert naming is not None  # noqa: S101 - the caller checks it
    text = _FILES if len(naming.columns) == 1 else _PLACES
    text = _ENTRIES if naming.entries else text
    places = {"file": 'f"{path}/{file}".rstrip("/")', "number": "number", "id": "key"}
    items = [(literal(column), places[column]) for column in naming.columns]
    last = (literal(naming.value), "value") if naming.value else ("**", "value")
    return text.replace("RECORD", lay_out(mapped([*items, last])))


def _class(name: str, title: str, made: Draft, splits: dict[str, list[Given]]) -> str:
    key: Code = listed(map(literal, made.key), "()") if len(made.key) != 1 else ""
    key = key or literal(next(iter(made.key)))
    declared = mapped(
        (
            literal(split),
            listed([_name(split, splits)]) if len(given) == 1 else _name(split, splits),
        )
        for split, given in splits.items()
    )
    joined = bool(made.naming or (made.stated and made.stated.dialogue))
    about = (literal("dialogues"), literal("a record, as published"), declared)
    own = {"records": "records" * joined, "shape": "RECORD" * joined}
    config = lay_out(call("Config", *about, **own, key=key, use=literal("read")), 2)
    return f'''class {title}(Builder):
    """Describe the dataset in a sentence."""

    VERSION = "1.0.0"
    HOMEPAGE = "{PLACEHOLDER}"
    LICENSE = "unknown"
    CITATION = """\\
@misc{{{name},
  title = {{The Title of the Paper}}
}}"""
    CONFIGS = [
        {config},
    ]
'''


def transcript(made: Draft, stated: Stated) -> str:
    """Return the code of `transcript.py`."""
    turns = f"row[{literal(TURNS if stated.dialogue else stated.turns)}]"
    text, who = literal(stated.text), literal(stated.speaker)
    if stated.turns or stated.dialogue:
        text = f"turn[{text}]" if stated.text else "turn"
        who = f"str(turn[{who}])" if stated.speaker else literal("?")
        said = f"Turn({who}, {text}) for turn in {turns}"
    elif stated.speaker:
        said = f"Turn(str(who), text) for who, text in zip(row[{who}], row[{text}], strict=True)"
    else:
        said = f'Turn("?", text) for text in row[{text}]'
    return f'''"""The layout and the filters of a dialogue."""

from typing import Any

from parley.views import Facets, Transcript, Turn

CONFIGS = ("dialogues",)


def transcript(row: dict[str, Any]) -> Transcript:
    """Return the transcript of a row of `dialogues`."""
    turns = {f"[{said}]" if len(said) < 85 else f"[{chr(10)}        {said}{chr(10)}    ]"}
    return Transcript(title=str(row[{literal(next(iter(made.key)))}]), turns=turns)


def facets(row: dict[str, Any]) -> Facets:
    """Return its length."""
    return {{"turns": len(transcript(row).turns)}}
'''
