"""Where a built folder was published: noted beside its files, and never published itself."""

import json
import re
from dataclasses import asdict, dataclass

from parley.folder.built import BuiltFolder
from parley.folder.replace import write_whole

_FILE = ".published.json"
_MOST = 1000  # bytes of it; ours have some 100


@dataclass(frozen=True)
class Published:
    """A repository, and the commit in it that holds what the built folder holds."""

    repo: str
    commit: str


def note(built: BuiltFolder, found: Published) -> None:
    """Note where a built folder was published; a new build of it knows nothing of that."""
    write_whole(built.path / _FILE, json.dumps(asdict(found), indent=2) + "\n")


def published(built: BuiltFolder) -> Published | None:
    """Return where a built folder was published; None where nothing sound says so."""
    file = built.path / _FILE
    if file.is_symlink() or not file.is_file() or file.stat().st_size > _MOST:
        return None
    try:
        found = Published(**json.loads(file.read_text(encoding="utf-8")))
    except (ValueError, TypeError, RecursionError):
        return None
    parts = {"repo": r"[\w.-]+/[\w.-]+", "commit": "[0-9a-f]{40}"}
    sound = all(re.fullmatch(form, str(getattr(found, key))) for key, form in parts.items())
    return found if sound else None
