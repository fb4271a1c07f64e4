"""Where a built folder was published: noted in the cache, which no folder from elsewhere brings.

A note is named by the sha256 of the folder's provenance, which names each Parquet file by its own:
whatever stands in the folder's place later is another, or holds the same rows.
"""

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from parley.errors import OutputError, UsageError
from parley.folder.built import PROVENANCE, BuiltFolder
from parley.folder.replace import write_whole
from parley.hub.repository import LocalFiles
from parley.secret import without_secrets

_MOST = 1000  # bytes of a note; ours have some 100


@dataclass(frozen=True)
class Published:
    """A repository, and the commit in it that holds what a built folder holds."""

    repo: str
    commit: str


def note(files: LocalFiles, found: Published) -> None:
    """Note where the files of a built folder were published, as they were verified.

    Raises:
        OutputError: the cache cannot be written.
        UsageError: this user has no cache.
    """
    file = _place(files[PROVENANCE].sha256)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{file.parent}: {error.strerror or error}") from error
    write_whole(file, without_secrets(json.dumps(asdict(found), indent=2)) + "\n")


def published(built: BuiltFolder) -> Published | None:
    """Return where a built folder was published from this machine; None where no sound note is."""
    try:
        file = _place(hashlib.sha256((built.path / PROVENANCE).read_bytes()).hexdigest())
        if not file.is_file() or file.stat().st_size > _MOST:
            return None
        found = Published(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError, UsageError):
        return None
    parts = {"repo": r"[\w.-]+/[\w.-]+", "commit": "[0-9a-f]{40}"}
    sound = all(re.fullmatch(form, str(getattr(found, key))) for key, form in parts.items())
    return found if sound else None


def _place(provenance: str) -> Path:
    from parley.source.fetch import cache_folder  # not at the top: it brings requests

    return cache_folder() / ".published" / f"{provenance}.json"
