"""Drafts a dataset from upstream's files: what `parley new NAME DIR --from FILES` writes.

Pins, formats, shapes, keys and chats are guessed from the files. The sample is invented from the
shape: no text of the files goes into it but the values of closed sets, and the names of files.
"""

import csv
import io
import json
import re
import subprocess
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from parley.errors import Problem, RecordError, UsageError
from parley.rows.formats import BY_SUFFIX, FORMATS
from parley.rows.strict_json import loads
from parley.source.pins import git_tree, hash_file
from parley.starting.shapes import (
    HELPERS,
    SPEAKERS,
    Invention,
    Node,
    Remark,
    code_of,
    guess,
    key_of,
)

PLACEHOLDER = "https://upstream.invalid/"  # where no URL is known; `parley check` names it
MANY = 5  # files of a folder that are declared as one Folder
_SPLITS = {"train": "train", "dev": "validation", "valid": "validation", "test": "test"}
_TEXTS = ("text", "utterance", "message", "content", "value", "data", "transcript")


@dataclass
class Found:
    """A source that was given: a file, a folder of many files, or an archive.

    Args:
        path: Where it lies in upstream's layout.
        place: Where it is here.
        format: The format of its files.
        files: The names of its files within it, with their records; "" of a file.
        member: The folder within an archive.
    """

    path: str
    place: Path
    format: str
    files: dict[str, list[Any]]
    member: str = ""

    @property
    def records(self) -> list[Any]:
        """All records, in order; of texts, as objects that name their file."""
        return [
            record
            for file, records in self.files.items()
            for record in _named(file or PurePosixPath(self.path).name, records, self.format)
        ]

    @property
    def split(self) -> str:
        """The split that its path speaks of; train if none."""
        for part in reversed(re.split(r"[^a-z]+", self.path.lower())):
            for word, split in _SPLITS.items():
                if part.startswith(word):
                    return split
        return "train"


def _named(file: str, records: list[Any], format: str) -> Iterator[Any]:
    for number, record in enumerate(records, 1):
        if format == "text":
            yield {"file": file, "text": record}
        elif format == "lines":
            yield {"file": file, "line": number, "text": record}
        else:
            yield record


# What is given --------------------------------------------------------------------------


def find(files: Sequence[Path]) -> list[Found]:
    """Return the sources that these files and folders are, with their records.

    Raises:
        UsageError: one is not there, or is of no format that is known.
        RecordError: one cannot be read.
    """
    if absent := [str(path) for path in files if not path.exists()]:
        raise UsageError(f"no such file or folder: {', '.join(absent)}")
    homes = {path.absolute().parent for path in files}
    home = Path(*_common([each.parts for each in homes]))
    found: list[Found] = []
    for path in files:
        found += _find(path.absolute(), home)
    return found


def _common(paths: Iterable[Sequence[str]]) -> list[str]:
    shared = []
    for parts in zip(*paths, strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return shared


def _find(path: Path, home: Path) -> Iterator[Found]:
    name = path.relative_to(home).as_posix()
    if path.is_dir():
        inside = sorted(each for each in path.iterdir() if not each.name.startswith("."))
        files = [each for each in inside if each.is_file()]
        if len(files) >= MANY and len(files) == len(inside):
            opened = {each.name: each.read_bytes() for each in files}
            yield _read(name, path, opened)
            return
        for each in inside:
            yield from _find(each, home)
    elif path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            entries = [each for each in archive.namelist() if not each.endswith("/")]
            member = "/".join(_common([PurePosixPath(each).parts[:-1] for each in entries]))
            if not member:
                raise UsageError(f"{path}: expected one folder in the archive, found files beside")
            opened = {each[len(member) + 1 :]: archive.read(each) for each in entries}
        yield _read(name, path, opened, member)
    else:
        yield _read(name, path, {"": path.read_bytes()})


def _read(name: str, place: Path, opened: dict[str, bytes], member: str = "") -> Found:
    suffixes = {PurePosixPath(file or name).suffix for file in opened}
    if len(suffixes) > 1 or (suffix := suffixes.pop()) not in BY_SUFFIX:
        known, there = ", ".join(BY_SUFFIX), ", ".join(sorted(suffixes)) or suffix
        raise UsageError(
            f"{place}: expected files of one format ({known}), found {there}",
            remedy="Name the files that hold the records alone.",
        )
    format = BY_SUFFIX[suffix]
    if format == "json" and all(content.lstrip()[:1] == b"{" for content in opened.values()):
        format = "json value"
    files = {}
    for file, content in sorted(opened.items()):
        try:
            files[file] = list(FORMATS[format](io.BytesIO(content), loads))
        except ValueError as error:
            where = f"{name}/{file}" if file else name
            raise RecordError("", Problem(where, what=str(error.__cause__ or error))) from error
    return Found(name, place, format, files, member)


def url_of(place: Path) -> tuple[str, str]:
    """Return the address of a file in a clone of a public repository, and its folder's archive.

    Returns:
        The two addresses; a placeholder and "" where the file lies in none.
    """

    def git(*command: str) -> str:
        folder = place if place.is_dir() else place.parent
        done = subprocess.run(  # noqa: S603 - git alone, with no text of a file
            ["git", "-C", str(folder), *command],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout.strip() if done.returncode == 0 else ""

    remote = re.fullmatch(
        r"(?:https://|git@|ssh://git@)github\.com[/:]([\w.-]+/[\w.-]+?)(?:\.git)?/?",
        git("remote", "get-url", "origin"),
    )
    commit, top = git("rev-parse", "HEAD"), git("rev-parse", "--show-toplevel")
    if not remote or not commit or git("status", "--porcelain", "--", str(place)):
        return PLACEHOLDER + place.name, ""
    path = place.resolve().relative_to(top).as_posix()
    raw = f"https://raw.githubusercontent.com/{remote[1]}/{commit}/{path}"
    repository = remote[1].partition("/")[2]
    return raw, f"https://github.com/{remote[1]}/archive/{commit}.zip {repository}-{commit}/{path}"


# What is guessed of it ------------------------------------------------------------------


@dataclass
class Draft:
    """What a dataset is guessed to be.

    Args:
        found: Its sources.
        shape: The shape of its records.
        key: The columns that tell them apart.
        chat: The list of turns, the key of the speaker, that of the text, and speaker -> role.
        remarks: What was guessed and may be wrong.
    """

    found: list[Found]
    shape: Node
    key: tuple[str, ...]
    chat: tuple[str, str, str, dict[str, str]] | None
    remarks: list[str] = field(default_factory=list)

    @property
    def format(self) -> str:
        """The format of its files."""
        return self.found[0].format


def draft(files: Sequence[Path]) -> Draft:
    """Guess a dataset from files that hold its records.

    Raises:
        UsageError: they are of several formats, or hold no records.
        RecordError: one cannot be read.
    """
    found = find(files)
    if len(formats := {each.format for each in found}) > 1:
        raise UsageError(
            f"expected files of one format, found {', '.join(sorted(formats))}",
            remedy="Name those that hold the dialogues; declare the others by hand.",
        )
    records = [record for each in found for record in each.records]
    if not records or not all(isinstance(record, dict) for record in records):
        raise UsageError("expected records that are objects, found none or others")
    remarks: list[str] = []
    shape = guess(records, "", remarks.append)
    by_line = found[0].format == "lines"
    key = ("file", "line") if by_line else tuple(filter(None, [key_of(records)]))
    if key:
        remarks.append(f"key: {', '.join(key)} tells the {len(records):,} records apart")
    else:
        remarks.append("key: no field tells the records apart; name the columns that do")
    chat = _chat_of(records, remarks.append)
    splits = ", ".join(f"{each.path} -> {each.split}" for each in found[:8])
    remarks.append(f"splits, by the names of files: {splits}{', ...' if found[8:] else ''}")
    for each in found:
        if url_of(each.place)[0].startswith(PLACEHOLDER):
            remarks.append(f"{each.path}: no URL is known; write where upstream has it")
    return Draft(found, shape, key, chat, remarks)


def _chat_of(
    records: list[dict[str, Any]], remark: Remark
) -> tuple[str, str, str, dict[str, str]] | None:
    for name, value in records[0].items():
        if not isinstance(value, list):
            continue
        turns = [turn for record in records for turn in record.get(name) or ()]
        if not turns or not all(isinstance(turn, dict) for turn in turns):
            continue
        keys = [key for key in turns[0] if all(isinstance(turn.get(key), str) for turn in turns)]
        speaker = next((key for key in SPEAKERS if key in keys), "")
        text = next((key for key in _TEXTS if key in keys and key != speaker), "")
        if not speaker or not text:
            continue
        said = list(dict.fromkeys(turn[speaker] for turn in turns))
        if len(said) == 2:
            roles = {said[0]: "user", said[1]: "assistant"}
            remark(f"messages: {name}, {speaker} and {text}; {said[1]} is the assistant")
            return name, speaker, text, roles
    remark("messages: no turns of two speakers were found, and so there are no chats")
    return None


# The sample -----------------------------------------------------------------------------


def invented(made: Draft) -> dict[str, list[Any]]:
    """Return invented records of each source, which show each branch of the shape once."""
    invention = Invention()
    found = {}
    for place, each in enumerate(made.found):
        count = max(2, made.shape.branches) if place == 0 else 1
        records = [made.shape.invent(invention, n % made.shape.branches) for n in range(count)]
        for record in records:
            if made.key == ("file", "line"):
                continue
            for key in made.key:
                number = invention.number()
                record[key] = number if isinstance(record[key], int) else f"{key}-{number}"
        found[each.path] = records
    return found


def write_sample(made: Draft, folder: Path) -> None:
    """Write the invented records in upstream's layout."""
    for each, records in zip(made.found, invented(made).values(), strict=True):
        target = folder / each.path
        names = list(each.files)
        if names != [""]:  # a folder, or an archive, which may lie as a folder in a sample
            home = target / each.member if each.member else target
            whole = made.format in ("json value", "text")
            parts = [[record] for record in records] if whole else [records]
            for name, part in zip(names, parts, strict=False):
                (home / name).parent.mkdir(parents=True, exist_ok=True)
                (home / name).write_text(_text(part, made.format), encoding="utf-8")
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(_text(records, made.format), encoding="utf-8")


def _text(records: list[Any], format: str) -> str:
    if format == "json":
        return json.dumps(records, ensure_ascii=False, indent=1) + "\n"
    if format == "json value":
        return json.dumps(records[0], ensure_ascii=False, indent=1) + "\n"
    if format == "json lines":
        return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    if format == "tsv":
        rows = [list(records[0]), *(list(record.values()) for record in records)]
        return "".join("\t".join(row) + "\n" for row in rows)
    if format == "csv":
        out = io.StringIO()
        writer = csv.DictWriter(out, list(records[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
        return out.getvalue()
    return "".join(f"{record['text']}\n" for record in records)


# The script -----------------------------------------------------------------------------


def script(name: str, title: str, made: Draft, record: Any) -> str:
    """Return the text of the dataset's script.

    Args:
        name: The dataset's name.
        title: The name of its class.
        made: What it is guessed to be.
        record: An invented record for the docstring.
    """
    helpers = [each for each in HELPERS if f"{each}(" in code_of(made.shape)]
    kinds = sorted({"Folder" if _is_folder(each) else "File" for each in made.found})
    chat = ["CHAT", "View", "chat_of"] if made.chat else []
    names = sorted({"Builder", "Config", *kinds, *helpers, *chat}, key=_isort)
    typed = "from collections.abc import Iterable, Iterator\nfrom typing import Any\n\n"
    shown = json.dumps(record, ensure_ascii=False, indent=1)[:1500].replace("\\", "\\\\")
    shown = "\n".join(f"    {line}" for line in shown.splitlines())
    texts = made.format in ("text", "lines")
    parts = [
        f'"""{title}: say here in one line what the dataset is, and below where it comes from.\n\n'
        f"A record looks like this (invented):\n\n{shown}\n\n"
        'A row is the record, with null for what it lacks.\n"""\n\n',
        typed if made.chat or texts else "",
        f"from parley import {', '.join(names)}\n\n",
        "# ruff: noqa: E501\n\n" if len(f"from parley import {', '.join(names)}") > 100 else "",
        f"RECORD = {code_of(made.shape)}\n",
        *_sources(made),
        _TEXT_RECORDS[made.format] if texts else "",
        _messages(made) if made.chat else "",
        _class(name, title, made),
    ]
    return "".join(parts)


def _isort(name: str) -> tuple[int, str]:
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def _is_folder(each: Found) -> bool:
    return list(each.files) != [""]


def _sources(made: Draft) -> Iterator[str]:
    shape = "str" if made.format in ("text", "lines") else "RECORD"
    yield "\nSOURCES = {\n"
    for each in made.found:
        raw, archive = url_of(each.place)
        lines = [_text_of(each.path), shape]
        if each.member:
            lines += [f"url={_text_of(raw)}", *_pin(each.place), f"member={_text_of(each.member)}"]
        elif _is_folder(each):
            url, _, member = archive.partition(" ")
            lines += [f"url={_text_of(url or raw + '.zip')}"]
            lines += [f"member={_text_of(member or each.path)}"]
            lines += [f'git_tree="{git_tree(sorted(each.place.iterdir()))}"']
            lines += [f"files={len(each.files)}"]
        else:
            lines += [f"url={_text_of(raw)}", *_pin(each.place)]
        if _is_folder(each):
            suffix = PurePosixPath(next(iter(each.files))).suffix
            lines += [f'only="*{suffix}"']
        if _is_folder(each) or made.format in ("json value", "lines"):
            lines += [f'read="{made.format}"']
        kind = "Folder" if _is_folder(each) else "File"
        body = "".join(f"        {line},\n" for line in lines)
        yield f"    {lines[0]}: {kind}(\n{body}    ),\n"
    yield "}\n"


def _text_of(value: str) -> str:
    """Return a text as Python has it, whatever is in it."""
    return json.dumps(value, ensure_ascii=not value.isprintable())


def _pin(place: Path) -> list[str]:
    size = place.stat().st_size
    return [f"size={size:_}", f'sha256="{hash_file(place, {"sha256": ""}, size).hexdigest()}"']


_TEXT_RECORDS = {
    "text": '''

def texts(sources: Any) -> Iterator[dict[str, Any]]:
    """Yield each file with its name."""
    for path, source in sources.items():
        for file, text in source.items():
            yield {"file": file or path.rpartition("/")[2], "text": text}
''',
    "lines": '''

def texts(sources: Any) -> Iterator[dict[str, Any]]:
    """Yield each line with its file and number, from 1."""
    for path, source in sources.items():
        last, number = None, 0
        for file, text in source.items():
            number = number + 1 if file == last else 1
            last = file
            yield {"file": file or path.rpartition("/")[2], "line": number, "text": text}
''',
}


def _messages(made: Draft) -> str:
    name, speaker, text, roles = made.chat or ("", "", "", {})
    keys = ", ".join(f"{_text_of(key)}: record[{_text_of(key)}]" for key in made.key)
    return f'''

def messages(records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield each dialogue as a chat of user and assistant."""
    roles = {json.dumps(roles, ensure_ascii=False)}
    for record in records:
        said = ((roles[turn["{speaker}"]], turn["{text}"]) for turn in record[{_text_of(name)}])
        yield {{{keys}{", " if keys else ""}**chat_of(said)}}
'''


def _class(name: str, title: str, made: Draft) -> str:
    splits: dict[str, list[str]] = {}
    for each in made.found:
        path = _text_of(each.path)
        splits.setdefault(each.split, []).append(f"SOURCES[{path}]")
    body = "".join(
        f'                "{split}": [{", ".join(paths)}],\n'
        if len(paths) < 3
        else f'                "{split}": [\n'
        + "".join(f"                    {path},\n" for path in paths)
        + "                ],\n"
        for split, paths in splits.items()
    )
    key = _text_of(made.key[0]) if len(made.key) == 1 else f"({', '.join(map(_text_of, made.key))})"
    own = ""
    if made.format in ("text", "lines"):
        own = "            records=texts,\n            shape=RECORD,\n"
    view = ""
    if made.chat:
        columns = "".join(f"{_text_of(each)}: {_type_of(made, each)}, " for each in made.key)
        view = f"""        View(
            "messages",
            "chats of user and assistant",
            of="dialogues",
            rows=messages,
            features={{{columns}**CHAT}},
            key={key},
        ),
"""
    return f'''

class {title}(Builder):
    """Say in a sentence what the dataset is."""

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
            "all records, as published",
            {{
{body}            }},
{own}            key={key},
        ),
{view}    ]
'''


def _type_of(made: Draft, key: str) -> str:
    return made.shape.parts[key].code if key in made.shape.parts else "str"
