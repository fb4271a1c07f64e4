"""Write the script and the transcript of a draft, like those of the skeleton."""

import json
from collections.abc import Iterator
from typing import Any

from parley.authoring.starting.draft import Draft
from parley.authoring.starting.given import Given
from parley.authoring.starting.turns import Chat
from parley.base.code import Code, call, lay_out, listed, literal, mapped
from parley.declaring.fields import UNKNOWN
from parley.declaring.pins import PLACEHOLDER
from parley.declaring.shapes import parse

_LINES = 25  # of the record in a docstring
# format -> the suffix with this default format
_USUAL = {
    "File": {"json": ".json", "json lines": ".jsonl", "csv": ".csv", "tsv": ".tsv"},
    "Folder": {"json value": ".json", "json lines": ".jsonl", "csv": ".csv", "tsv": ".tsv"}
    | {"text": ".txt"},
}


def script(name: str, title: str, made: Draft) -> str:
    """Return the text of the dataset's script, with a class named `title`."""
    splits: dict[str, list[Given]] = {}
    for each in made.given:
        splits.setdefault(each.split, []).append(each)
    parts = [*_shapes(made), "\n", *_sources(made, splits)]
    if made.naming:
        parts += ["\n\n", _records(made)]
    if made.chat:
        parts += ["\n\n" if made.naming else "\n", _messages(made, made.chat)]
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
    for key, value in each.pin().items():
        yield literal(key), f"{value:_}" if isinstance(value, int) else literal(value)
    if each.member:
        yield literal("member"), literal(each.member)


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
    abstract = [name for name in ("Iterable", "Iterator", "Mapping") if f"{name}[" in body]
    if abstract:
        yield f"from collections.abc import {', '.join(abstract)}\n"
    if "groupby(" in body:
        yield "from itertools import groupby\nfrom operator import itemgetter\n"
    if abstract:
        yield "from typing import Any\n\n"
    uses = {"CHAT": "**CHAT", "Builder": "(Builder)", "Config": "Config(", "File": "File("}
    uses |= {"Folder": "Folder(", "View": "View(", "as_json": "as_json("}
    uses |= {"Field": "Field(", "chat_of": "chat_of(", "null_or_absent": "null_or_absent("}
    names = sorted((n for n, use in uses.items() if use in body), key=lambda n: (n != "CHAT", n))
    yield f"from parley import {', '.join(names)}\n\nfrom .pins import PINS\n"


def _assign(name: str, code: Code) -> str:
    return f"{name} = {lay_out(code, before=len(name) + 3)}\n"


def _shapes(made: Draft) -> Iterator[str]:
    value = parse(made.value.shape).code(UNKNOWN)
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


def _field(shape: Code) -> Code:
    return call("Field", shape, literal(UNKNOWN))


def _sources(made: Draft, splits: dict[str, list[Given]]) -> Iterator[str]:
    shape: Code = "RECORD"
    if made.naming:
        shape = "str" if made.value.shape is str else "VALUE"
        shape = mapped([("str", shape)]) if made.naming.entries else shape
    for split, given in splits.items():
        sources = [_source(each, shape) for each in given]
        code = sources[0] if len(sources) == 1 else listed(sources)
        yield _assign(_name(split, splits), code)


def _name(split: str, splits: dict[str, list[Given]]) -> str:
    return split.upper() if len(splits) > 1 else "DATA"


def _source(each: Given, shape: Code) -> Code:
    kind = "Folder" if each.only else "File"
    path = literal(each.path)
    items = [("", path), ("", shape), ("**", f"PINS[{path}]")]
    items += [("only=", literal(each.only))] if each.only else []
    ending = _USUAL[kind].get(each.format)
    if not ending or not (each.only or each.path).endswith(ending):
        items.append(("read=", literal(each.format)))
    return f"{kind}(", items, ")"


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
    if not any(each.only for each in made.given):
        file = "path"
        text = text.replace("for file, value", "for _, value").replace("for file, f", "for _, f")
    elif len(made.given) == 1:
        file = "file"
        text = text.replace("for path, source in sources.items()", "for source in sources.values()")
    else:
        file = 'f"{path}/{file}".rstrip("/")'
    places = {"file": file, "number": "number", "id": "key"}
    items = [(literal(column), places[column]) for column in naming.columns]
    last = (literal(naming.value), "value") if naming.value else ("**", "value")
    return text.replace("RECORD", lay_out(mapped([*items, last])))


def _each_turn(chat: Chat, turns: str, numbered: str) -> tuple[str, str, str]:
    """Return the code of speaker (`numbered` without one) and text of a turn, and of the loop."""
    text = f"turn[{literal(chat.text)}]" if chat.text else "turn"
    if chat.speaker:
        return f"turn[{literal(chat.speaker)}]", text, f"for turn in {turns}"
    return numbered, text, f"for number, turn in enumerate({turns})"


def _messages(made: Draft, chat: Chat) -> str:
    roles = mapped((literal(who), literal(role)) for who, role in chat.roles.items())
    who, text, each = _each_turn(chat, f"record[{literal(chat.turns)}]", "number % 2")
    said = f"(ROLES[{who}], {text}) {each}"
    said = f"({said})" if len(said) < 83 else f"(\n            {said}\n        )"
    row = mapped([*((literal(key), f"record[{literal(key)}]") for key in made.key), _CHAT])
    sides, of_row = "()", f"row[{literal(chat.turns)}]"
    if chat.speaker:
        sides = f"{{turn[{literal(chat.speaker)}] for turn in {of_row}}}"
    return f'''{_assign("ROLES", roles)}

def holds(row: dict[str, Any]) -> tuple[int, Iterable[Any]]:
    """Return the number of turns of a dialogue, and who speaks."""
    return len({of_row}), {sides}


def messages(records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield each dialogue as a chat of user and assistant."""
    for record in records:
        said = {said}
        yield {lay_out(row, 2, 6)}
'''


_CHAT = ("**", "chat_of(said)")


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
    own = {"records": "records", "shape": "RECORD"} if made.naming else {}
    own |= {"holds": "holds"} if made.chat else {}
    configs = [call("Config", literal("dialogues"), literal("a record, as published"), declared)]
    configs[0][1].extend(
        (f"{word}=", each) for word, each in [*own.items(), ("key", key), ("use", '"read"')]
    )
    if made.chat:
        kinds = [(literal(column), _of_record(made, column)) for column in made.key]
        configs.append(
            call(
                "View",
                literal("messages"),
                literal("a dialogue as a chat of user and assistant"),
                of=literal("dialogues"),
                rows="messages",
                features=mapped([*kinds, ("**", "CHAT")]),
                key=key,
                use=literal("train a chat model"),
            )
        )
    body = "".join(f"        {lay_out(config, 2)},\n" for config in configs)
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
{body}    ]
'''


def _of_record(made: Draft, column: str) -> Code:
    """Return the code of the shape of a column of the key, from the records' if these are one."""
    if made.naming or isinstance(made.value.shape, dict):
        return f"RECORD[{literal(column)}]"
    return _field(made.key[column].__name__)


def transcript(made: Draft, chat: Chat) -> str:
    """Return the code of `transcript.py`."""
    title = f"row[{literal(next(iter(made.key)))}]" if made.key else literal("dialogue")
    turns = f"row[{literal(chat.turns)}]"
    who, text, each = _each_turn(chat, turns, "number % 2 + 1")
    named = all(isinstance(who, str) for who in chat.roles)
    said = f"Turn({who if named else f'str({who})'}, {text}) {each}"
    return f'''"""The layout and the filters of a dialogue."""

from typing import Any

from parley.views import Facets, Transcript, Turn

CONFIGS = ("dialogues",)


def transcript(row: dict[str, Any]) -> Transcript:
    """Return the transcript of a row of `dialogues`."""
    turns = {f"[{said}]" if len(said) < 85 else f"[{chr(10)}        {said}{chr(10)}    ]"}
    return Transcript(title=str({title}), turns=turns, language="en")


def facets(row: dict[str, Any]) -> Facets:
    """Return its length."""
    return {{"turns": len({turns})}}
'''
