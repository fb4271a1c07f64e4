"""Files that are given by mistake for files of predictions."""

import codecs
import re
from contextlib import suppress

from parley.tasks.formats import JSON_LINES
from parley.tasks.task import Task

GZIP = b"\x1f\x8b"
_KINDS = {  # the first bytes of files given by mistake
    GZIP: "compressed twice",
    b"\xfd7zXZ\0": "compressed with xz",
    b"\x28\xb5\x2f\xfd": "compressed with zstd",
    b"\x04\x22\x4d\x18": "compressed with lz4",
    b"BZh": "compressed with bzip2",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"PK": "a zip archive, as files of Excel, NumPy and PyTorch are",
    b"PAR1": "Parquet",
    b"ARROW1": "Arrow data",
    b"\x93NUMPY": "an array of NumPy",
    b"\x80": "a pickle of Python",
    b"SQLite format 3": "a database of SQLite",
    b"<": "HTML or XML",
    **dict.fromkeys((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff"), "in UTF-16 or UTF-32"),
}


def mistaken(line: bytes, task: Task) -> str:
    """Return what a file is that holds no predictions, by its first line; else ""."""
    with suppress(ValueError):
        if isinstance(task.format.parse(line), dict):
            return ""
    kind = next((kind for start, kind in _KINDS.items() if line.startswith(start)), "")
    cells = re.split(b"[,;\t]", line.removeprefix(codecs.BOM_UTF8))
    is_object, is_json = line.lstrip().startswith(b"{"), task.format is JSON_LINES
    if line[257:262] == b"ustar":
        kind = "a tar archive"
    elif {name.encode() for name in task.key} <= {cell.strip(b' "\r') for cell in cells}:
        kind = "CSV"
    elif is_object and not is_json:
        kind = "JSON"
    elif is_json and (line.strip() == b"{" or line.lstrip().startswith(b"[")):
        kind = "one JSON text"
    elif is_json and line.split()[1:2] == [b"Q0"]:
        kind = "a TREC run"
    elif is_json and not kind and not is_object and len(cells) >= len(task.example):
        kind = "CSV without names of columns"
    (example,) = task.format.lines([task.example])
    taken = f"a line for each prediction, plain or compressed with gzip, such as {example}"
    return f"it is {kind}; taken is {task.format.name}: {taken}" if kind else ""
