"""Notes in the cache of where a build was published; a downloaded folder cannot forge them.

The sha256 of the provenance, which lists the sha256 of each Parquet file, names the note.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from parley.base.disk import cache_folder, open_regular, read_regular
from parley.base.errors import UsageError
from parley.base.replace import write_whole
from parley.base.secret import without_secrets
from parley.builds.built_folder import BuiltFolder
from parley.builds.provenance import PROVENANCE

_LONGEST_NOTE = 1000  # bytes of a note; ours have some 100


@dataclass(frozen=True)
class PublicationNote:
    """The repository and the commit that hold a build, and the URL of its Hub."""

    repo: str
    commit: str
    endpoint: str


def write_note(files: Mapping[str, str], note: PublicationNote) -> None:
    """Note where the verified files of a build, name -> sha256, were published."""
    text = without_secrets(json.dumps(asdict(note), indent=2))
    write_whole(_place(files[PROVENANCE]), f"{text}\n")


def read_note(built: BuiltFolder) -> PublicationNote | None:
    """Return where this machine published a build; None without a valid note, or on another Hub."""
    from huggingface_hub import constants  # not at the top: it is slow

    try:
        file = _place(hashlib.sha256(read_regular(built.path / PROVENANCE)).hexdigest())
        with open_regular(file) as opened:
            note = PublicationNote(**json.loads(opened.read(_LONGEST_NOTE)))
    except (OSError, ValueError, TypeError, RecursionError, UsageError):
        return None
    parts = {"repo": r"[\w.-]+/[\w.-]+", "commit": "[0-9a-f]{40}"}
    sound = all(re.fullmatch(form, str(getattr(note, key))) for key, form in parts.items())
    is_in_use = note.endpoint == without_secrets(constants.ENDPOINT)
    return note if sound and is_in_use else None


def _place(provenance: str) -> Path:
    return cache_folder() / ".published" / f"{provenance}.json"
