"""What the Hub keeps: files, commits and repositories, with the ids that git gives them."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from functools import cached_property
from pathlib import Path

START = datetime(2026, 1, 1, tzinfo=timezone.utc)  # of every repository: ids are reproducible

Entry = dict[str, object]  # a file or folder as listings give it


def git_oid(kind: str, data: bytes) -> str:
    """Return the id that git gives to an object."""
    return hashlib.sha1(f"{kind} {len(data)}\0".encode() + data).hexdigest()


@dataclass(frozen=True)
class Blob:
    """A file: in git, or in LFS with a pointer to it in git."""

    content: bytes | Path
    size: int
    oid: str
    lfs: dict[str, object] | None = None

    @classmethod
    def in_git(cls, data: bytes) -> "Blob":
        """Return a file whose content git keeps."""
        return cls(data, len(data), git_oid("blob", data))

    @classmethod
    def in_lfs(cls, path: Path, size: int, sha256: str) -> "Blob":
        """Return a file whose content lies elsewhere."""
        version = "version https://git-lfs.github.com/spec/v1"
        pointer = f"{version}\noid sha256:{sha256}\nsize {size}\n".encode()
        lfs = {"oid": sha256, "size": size, "pointerSize": len(pointer)}
        return cls(path, size, git_oid("blob", pointer), lfs)

    @property
    def etag(self) -> str:
        """What tells contents apart: the sha256 in LFS, else git's id."""
        return str(self.lfs["oid"]) if self.lfs else self.oid

    def read(self) -> bytes:
        """Return the content."""
        return self.content if isinstance(self.content, bytes) else self.content.read_bytes()


@dataclass(frozen=True)
class Commit:
    """A commit, one minute after its parent."""

    parent: "Commit | None"
    files: Mapping[str, Blob]
    author: str
    title: str
    description: str = ""

    @property
    def history(self) -> "Iterator[Commit]":
        """This commit, its parent, and so on to the first."""
        commit: Commit | None = self
        while commit:
            yield commit
            commit = commit.parent

    @cached_property
    def time(self) -> datetime:
        return self.parent.time + timedelta(minutes=1) if self.parent else START

    @property
    def date(self) -> str:
        return f"{self.time:%Y-%m-%dT%H:%M:%S.000Z}"

    @cached_property
    def id(self) -> str:
        tree = f"tree {self.entries['']['oid']}\n"
        parent = f"parent {self.parent.id}\n" if self.parent else ""
        by = f"{self.author} <{self.author}@localhost> {self.time.timestamp():.0f} +0000\n"
        message = f"{self.title}\n\n{self.description}".strip() + "\n"
        return git_oid("commit", f"{tree}{parent}author {by}committer {by}\n{message}".encode())

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """All files and folders by path; the root is ''."""
        entries: dict[str, Entry] = {}
        folders: dict[str, list[tuple[str, bytes]]] = {"": []}  # their files: name, line in git
        for path, blob in sorted(self.files.items()):
            entries[path] = {"type": "file", "oid": blob.oid, "size": blob.size, "path": path}
            if blob.lfs:
                entries[path]["lfs"] = blob.lfs
            folder, _, name = path.rpartition("/")
            line = f"100644 {name}\0".encode() + bytes.fromhex(blob.oid)
            folders.setdefault(folder, []).append((name, line))
            while folder := folder.rpartition("/")[0]:
                folders.setdefault(folder, [])
        for path in sorted(folders, key=len, reverse=True):  # the innermost first
            oid = git_oid("tree", b"".join(line for _, line in sorted(folders[path])))
            entries[path] = {"type": "directory", "oid": oid, "size": 0, "path": path}
            if path:
                folder, _, name = path.rpartition("/")
                line = f"40000 {name}\0".encode() + bytes.fromhex(oid)
                folders[folder].append((f"{name}/", line))  # git sorts folders by this
        return entries

    def within(self, folder: str, recursive: bool = False) -> list[Entry]:
        """Return the files and folders in a folder."""
        start = folder and f"{folder}/"
        below = sorted(path for path in self.entries if path and path.startswith(start))
        return [self.entries[path] for path in below if recursive or "/" not in path[len(start) :]]

    def last_change(self, path: str) -> "Commit":
        """Return the commit that made what is at this path now."""
        commit = self
        while commit.parent and commit.parent.entries.get(path) == commit.entries[path]:
            commit = commit.parent
        return commit


@dataclass
class Repo:
    """A dataset repository."""

    id: str
    private: bool
    branches: dict[str, Commit]
    tags: dict[str, Commit] = field(default_factory=dict)
    lfs: dict[str, Blob] = field(default_factory=dict)  # what has been uploaded, by sha256

    def commit(self, revision: str) -> Commit | None:
        """Return the commit that a branch, a tag or the start of a commit id names."""
        heads = self.tags | self.branches
        if revision in heads or len(revision) < 7:
            return heads.get(revision)
        past = (commit for head in heads.values() for commit in head.history)
        return next((commit for commit in past if commit.id.startswith(revision)), None)
