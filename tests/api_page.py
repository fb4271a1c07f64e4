"""Writes docs/api.md from the docstrings of the public names: `python tests/api_page.py`."""

import ast
import dataclasses
import importlib
import inspect
import json
import re
import textwrap
import types
from functools import cached_property
from pathlib import Path

import parley

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "api.md"
INTRODUCTION = """\
# The public API

What follows can be imported from `parley`; all other names may change. `import parley`
is quick: a name is imported when it is first asked for. [Using the datasets](using.md) and
[adding a dataset](adding.md) show most names in use. `make docs` writes this page from the
docstrings.

    import parley

    strategies = parley.load("casino", "strategies", split="train")
"""
PARTS = {  # title -> the modules whose names stand below it
    "Use datasets": ("api", "folder.built", "scoring.evaluate"),
    "Declare a dataset": ("builder", "declaration", "shapes", "chats"),
    "Figures and checks": ("figures",),
    "Transcripts": ("transcript",),
    "Tasks": ("tasks", "scoring.prediction_formats", "scoring.spread"),
    "Exports and jobs": (
        "formats.convokit",
        "jobs",
        "folder.replace",
        "rows.digest",
        "rows.features",
        "rows.parquet",
        "terminal.console",
    ),
    "Do as the commands do": (
        "collection",
        "source.files",
        "build",
        "folder.verify",
        "export",
        "site.write",
    ),
    "Errors": ("errors",),
}
SECTIONS = ("Args", "Returns", "Raises", "Attributes")
METHODS = (types.FunctionType, classmethod, staticmethod, property, cached_property)


def page():
    """Return the text of the page."""
    lines = [INTRODUCTION]
    for title, modules in PARTS.items():
        lines.append(f"## {title}\n")
        for name, (module, inner) in parley._PLACES.items():
            if module.removeprefix("parley.") in modules:
                lines += entry(name, importlib.import_module(module), inner)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip("\n") + "\n"


def entry(name, module, inner):
    """Yield what is said of a name."""
    found = getattr(module, inner)
    source = Path(module.__file__).relative_to(ROOT).as_posix()
    yield f"### {name}\n"
    if not isinstance(found, type | types.FunctionType) or isinstance(found, types.GenericAlias):
        yield from constant(inner, module, source)
        return
    kind = "" if isinstance(found, types.FunctionType) else "class "
    if isinstance(found, types.FunctionType) or dataclasses.is_dataclass(found):
        taken, returned = signature(found)
        yield code(f"{kind}{name}", taken, "" if kind else returned)
    else:
        yield f"    {kind}{name}\n"
    yield from described(inspect.getdoc(found) or "")
    fields = getattr(found, "__dataclass_fields__", {})
    for member, value in vars(found).items() if kind else ():
        if isinstance(value, METHODS) and not member.startswith("_") and member not in fields:
            yield method(found, member, value)
    yield f"\nSource: [{source}](../{source})\n"


def constant(name, module, source):
    """Yield how a constant or a type is defined, and what is written beside it."""
    text = Path(module.__file__).read_text(encoding="utf-8")
    body, lines = ast.parse(text).body, text.splitlines()
    for node, after in zip(body, [*body[1:], None], strict=True):
        target = getattr(node, "target", None) or getattr(node, "targets", [None])[0]
        if getattr(target, "id", "") != name:
            continue
        line, above = lines[node.lineno - 1], lines[node.lineno - 2]
        yield f"    {line.partition('  #')[0]}\n"
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            yield inspect.cleandoc(after.value.value) + "\n"
        elif "  # " in line or above.startswith("# "):
            yield sentence(line.partition("  # ")[2] or above.removeprefix("# ")) + "\n"
        yield f"Source: [{source}](../{source})\n"


def sentence(text):
    """Return a comment as a sentence."""
    return f"{text[0].upper()}{text[1:].removesuffix('.')}."


def signature(function):
    """Return each thing that is taken, and what is returned."""
    found = inspect.signature(function)
    parts, named = [], False
    for parameter in found.parameters.values():
        text = parameter.name
        if text == "self":
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            text, named = f"*{text}", True
        elif parameter.kind is parameter.VAR_KEYWORD:
            text = f"**{text}"
        elif parameter.kind is parameter.KEYWORD_ONLY and not named:
            parts, named = [*parts, "*"], True
        if parameter.annotation is not parameter.empty:
            text += f": {typed(parameter.annotation)}"
        if parameter.default is not parameter.empty:
            plain = isinstance(parameter.default, str | int | tuple | None)
            shown = json.dumps(parameter.default) if isinstance(parameter.default, str) else ""
            text += f" = {shown or repr(parameter.default)}" if plain else " = ..."
        parts.append(text)
    returned = found.return_annotation
    arrow = "" if returned is found.empty else f" -> {typed(returned)}"
    return parts, arrow


def code(name, taken, returned):
    """Return a signature as a block of code, on one line if it fits."""
    line = f"    {name}({', '.join(taken)}){returned}\n"
    inner = "".join(f"        {each},\n" for each in taken)
    return line if len(line) <= 100 else f"    {name}(\n{inner}    ){returned}\n"


def typed(annotation):
    """Return a type as a person writes it, without the modules of names."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", text).replace("'", "")


def method(owner, name, value):
    """Return a line on a method or property."""
    text = (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ")
    if isinstance(value, property | cached_property):
        return f"- `.{name}`: {text}"
    taken, returned = signature(getattr(owner, name))
    return f"- `.{name}({', '.join(taken)}){returned}`: {text}"


def described(text):
    """Yield a docstring in Markdown: its sections as lists."""
    for part in re.split(r"\n\n(?=\S)", text):
        title, _, rest = part.partition(":\n")
        if title not in SECTIONS:
            yield f"{part}\n"
        elif title == "Returns":
            said = textwrap.dedent(rest)
            yield f"Returns {said[0].lower()}{said[1:]}\n"
        else:
            yield {"Args": "Takes", "Raises": "Raises", "Attributes": "Has"}[title] + "\n"
            for item in re.split(r"\n(?=\S)", textwrap.dedent(rest)):
                name, _, said = " ".join(item.split()).partition(": ")
                yield f"- `{name}`: {said}"
            yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
