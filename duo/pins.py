"""Upstream's folders: each one's place in an archive, number of files and content hash."""

from typing import Any

_COMMIT = "a1c424371fc6fb716184bb177beaba91a183093a"
_ARCHIVE = f"https://github.com/ikuminumaya/duo-dataset/archive/{_COMMIT}.zip"
_TOP = f"duo-dataset-{_COMMIT}"

PINS: dict[str, dict[str, Any]] = {
    "ed/en": {
        "url": _ARCHIVE,
        "member": f"{_TOP}/ed/en",
        "files": 157,
        "git_tree": "63dbbd00eac8f4a767ad8f2964cd67809db6671b",
    },
    "ed/ja": {
        "url": _ARCHIVE,
        "member": f"{_TOP}/ed/ja",
        "files": 68,
        "git_tree": "ceadc5f84d79dbe07b6637c8dcefa929028f8e30",
    },
    "wow/en": {
        "url": _ARCHIVE,
        "member": f"{_TOP}/wow/en",
        "files": 157,
        "git_tree": "f1d1ae95714c83708be9aeedc944d60858026e56",
    },
    "wow/ja": {
        "url": _ARCHIVE,
        "member": f"{_TOP}/wow/ja",
        "files": 73,
        "git_tree": "8096884f8bdae3d289de49590b9e4edd8dbbffdd",
    },
}
