"""Changes of a built folder, and of what it says of itself."""

import copy
import hashlib
import json
from contextlib import suppress

import pyarrow as pa
import pyarrow.parquet as pq
from mutations import InMemory, changed

from parley.base.errors import RowError
from parley.builds.built_folder import open_folder
from parley.builds.provenance import provenance_text
from parley.rows.digest import Digest


def in_memory(folder, rows=()):
    """Open a build with rows in memory, which a test may change; of some splits they are others."""
    built = open_folder(folder)
    found = {f"{c}/{s}": built.rows(c, s) for c, s in built.declared_splits}
    return InMemory(built, copy.deepcopy(found) | dict(rows))


def everything(folder):
    """Return each path of a folder with the bytes of files, None for folders."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def parquet(folder, config, split):
    return folder / config / f"{split}-00000-of-00001.parquet"


def read(file):
    return pq.ParquetFile(file).read()  # which takes two columns of one name


def retable(file, change, compression="snappy"):
    """Write what a function makes of the table of a file."""
    pq.write_table(change(read(file)), file, compression=compression)


def of_rows(change):
    """Return a change of a table: what a function makes of its rows."""
    return lambda table: pa.Table.from_pylist(change(table.to_pylist()), table.schema)


def edit(path, old, new):
    """Change a text wherever a file has it, and it must have it."""
    text = path.read_text(encoding="utf-8")
    assert old in text, f"{old!r} is not there"
    path.write_text(text.replace(old, new) if old else text, encoding="utf-8")


def restate(folder, place, change):
    """Change what a folder's provenance says."""
    path = folder / "provenance.json"
    path.write_text(provenance_text(changed(json.loads(path.read_text()), place, change)))


def reseal(folder, **more):
    """Update the provenance, as somebody who hides a change would."""
    path = folder / "provenance.json"
    provenance = json.loads(path.read_text()) | more
    for split in [each for splits in provenance["configs"].values() for each in splits.values()]:
        split["rows"] = 0
        for file in split["files"]:
            body, table = (folder / file["path"]).read_bytes(), read(folder / file["path"])
            file.update(bytes=len(body), sha256=hashlib.sha256(body).hexdigest())
            split["rows"] += table.num_rows
            with suppress(RowError):
                digest = Digest(table.schema)
                digest.update(table)
                split["digest"] = digest.hexdigest()
    path.write_text(provenance_text(provenance))
