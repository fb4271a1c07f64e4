"""Upstream's folders: each one's place in an archive, number of files and content hash."""

from typing import Any

_COMMIT = "a1c424371fc6fb716184bb177beaba91a183093a"
_ARCHIVE = f"https://github.com/ikuminumaya/duo-dataset/archive/{_COMMIT}.zip"
_TOP = f"duo-dataset-{_COMMIT}"

# Folder -> the number of its files, and git's hash of it
_FOLDERS = {
    "ed/en": (157, "63dbbd00eac8f4a767ad8f2964cd67809db6671b"),
    "ed/ja": (68, "ceadc5f84d79dbe07b6637c8dcefa929028f8e30"),
    "wow/en": (157, "f1d1ae95714c83708be9aeedc944d60858026e56"),
    "wow/ja": (73, "8096884f8bdae3d289de49590b9e4edd8dbbffdd"),
}
PINS: dict[str, dict[str, Any]] = {
    path: {"url": _ARCHIVE, "member": f"{_TOP}/{path}", "files": files, "git_tree": tree}
    for path, (files, tree) in _FOLDERS.items()
}
