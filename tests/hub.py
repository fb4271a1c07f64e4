"""A small Hub on 127.0.0.1, for the real clients to talk to.

It answers what huggingface_hub and datasets ask huggingface.co about dataset repositories: reading,
uploading, tags, tokens. Commits are git's, down to their ids. Unlike the Hub it answers LFS files
itself, where the Hub redirects to a CDN, gives every list as one page, and knows no pull requests.

    with Hub() as hub:
        hub.tokens["hf_ana"] = User("ana", orgs=("org",))
        hub.seed("org/casino", folder, tags=("v1.0.0",))
        hub.fail("POST", "/commit/", 500)  # the next commit, once
        subprocess.run(command, env=hub.environ(tmp_path, token="hf_ana"))

    python tests/hub.py ORG FOLDER     serve every dataset built in FOLDER, until killed
"""

import base64
import hashlib
import json
import os
import re
import signal
import socket
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from urllib.parse import parse_qs, unquote

import yaml

START = datetime(2026, 1, 1, tzinfo=timezone.utc)  # of every repository; a commit takes a minute
BLOCK = 1 << 20


def git_oid(kind: str, data: bytes) -> str:
    """Return the id that git gives to an object."""
    return hashlib.sha1(f"{kind} {len(data)}\0".encode() + data).hexdigest()


def front_matter(card: str) -> object:
    """Return the YAML that a README.md starts with."""
    found = re.match(r"---\r?\n(.*?)\r?\n---", card, re.DOTALL)
    return yaml.load(found[1], getattr(yaml, "CSafeLoader", yaml.SafeLoader)) if found else None


@dataclass(frozen=True)
class User:
    """Whose token it is: he may write as himself and in his organisations, if the token may."""

    name: str
    orgs: tuple[str, ...] = ()
    role: str = "write"  # or "read"


@dataclass(frozen=True)
class Blob:
    """A file: in git, or in LFS with a pointer to it in git."""

    content: bytes | Path
    size: int
    oid: str
    sha256: str = ""  # only in LFS
    pointer_size: int = 0

    @classmethod
    def in_git(cls, data: bytes) -> "Blob":
        return cls(data, len(data), git_oid("blob", data))

    @classmethod
    def in_lfs(cls, path: Path, size: int, sha256: str) -> "Blob":
        version = "version https://git-lfs.github.com/spec/v1"
        pointer = f"{version}\noid sha256:{sha256}\nsize {size}\n".encode()
        return cls(path, size, git_oid("blob", pointer), sha256, len(pointer))

    @property
    def lfs(self) -> dict[str, object] | None:
        """What listings say of a file in LFS."""
        if not self.sha256:
            return None
        return {"oid": self.sha256, "size": self.size, "pointerSize": self.pointer_size}

    def read(self) -> bytes:
        return self.content if isinstance(self.content, bytes) else self.content.read_bytes()


@dataclass(frozen=True)
class Commit:
    """A commit of git's."""

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

    @cached_property
    def date(self) -> str:
        return f"{self.time:%Y-%m-%dT%H:%M:%S.000Z}"

    @cached_property
    def id(self) -> str:
        parent = f"parent {self.parent.id}\n" if self.parent else ""
        by = f"{self.author} <{self.author}@localhost> {self.time.timestamp():.0f} +0000"
        text = f"author {by}\ncommitter {by}\n\n{self.title}\n"
        if self.description:
            text += f"\n{self.description}\n"
        return git_oid("commit", f"tree {self.entries['']['oid']}\n{parent}{text}".encode())

    @cached_property
    def entries(self) -> dict[str, dict[str, object]]:
        """All files and folders by path, as listings give them; the root is ''."""
        entries: dict[str, dict[str, object]] = {}
        folders = {""}
        for path, blob in sorted(self.files.items()):
            entry = {"type": "file", "oid": blob.oid, "size": blob.size, "path": path}
            entries[path] = entry | ({"lfs": blob.lfs} if blob.lfs else {})
            while path := path.rpartition("/")[0]:
                folders.add(path)
        for folder in sorted(folders, key=len, reverse=True):  # the innermost first
            lines = []
            for entry in self.within(folder, entries):
                name, is_folder = entry["path"].rpartition("/")[2], entry["type"] == "directory"
                line = f"{'40000' if is_folder else '100644'} {name}\0".encode()
                order = name + "/" * is_folder  # as git sorts them
                lines.append((order.encode(), line + bytes.fromhex(entry["oid"])))
            tree = b"".join(line for _, line in sorted(lines))
            oid = git_oid("tree", tree)
            entries[folder] = {"type": "directory", "oid": oid, "size": 0, "path": folder}
        return entries

    @staticmethod
    def within(
        folder: str, entries: dict[str, dict[str, object]], recursive: bool = False
    ) -> list[dict[str, object]]:
        """Return the entries of a folder."""
        start = folder and f"{folder}/"
        below = (path for path in entries if path and path.startswith(start))
        return [entries[path] for path in below if recursive or "/" not in path[len(start) :]]

    def last_change(self, path: str) -> "Commit":
        """Return the commit that made what is at this path now."""
        commit = self
        while commit.parent and commit.parent.entries.get(path) == commit.entries[path]:
            commit = commit.parent
        return commit

    @cached_property
    def card_data(self) -> object:
        card = self.files.get("README.md")
        with suppress(yaml.YAMLError):
            return front_matter(card.read().decode()) if card else None


@dataclass
class Repo:
    """A dataset repository."""

    id: str
    private: bool
    branches: dict[str, Commit]
    tags: dict[str, Commit] = field(default_factory=dict)

    def commit(self, revision: str) -> Commit:
        """Return the commit that a branch, a tag or the start of a commit id names."""
        heads = self.branches | self.tags
        if revision in heads:
            return heads[revision]
        if len(revision) >= 7:
            for head in heads.values():
                for commit in head.history:
                    if commit.id.startswith(revision):
                        return commit
        raise Refusal(404, f"Invalid rev id: {revision}", "RevisionNotFound")


class Refusal(Exception):
    """An answer that is an error; the code is what huggingface_hub tells errors apart by."""

    def __init__(self, status: int, message: str, code: str = "", **more: object):
        self.status, self.body = status, {"error": message, **more}
        self.headers = {"X-Error-Message": message.encode("ascii", "replace").decode()}
        if code:
            self.headers["X-Error-Code"] = code


@dataclass
class Fault:
    """What is to go wrong with the requests it fits: after `skip` of them, `times` times."""

    method: str
    pattern: str
    how: int | str
    times: int
    skip: int


class Hub:
    """The server: set `tokens`, `seed` repositories, read `log` to see what came in."""

    def __init__(self) -> None:
        self.tokens: dict[str, User] = {}
        self.repos: dict[str, Repo] = {}
        self.log: list[tuple[str, str, int]] = []  # method, path, status; 0 if dropped unheard
        self.pause = 0.2  # seconds, of the fault "slow"
        self.lfs: dict[str, Blob] = {}  # by sha256
        self.announced: set[str] = set()  # sha256 of the uploads agreed to
        self.closing = threading.Event()
        self.lock = threading.RLock()
        self._faults: list[Fault] = []

    def __enter__(self) -> "Hub":
        """Start to serve in threads."""
        self._folder = tempfile.TemporaryDirectory(prefix="hub-")
        self._server = _Server(self)
        self.endpoint = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop at once, whatever is under way."""
        self.closing.set()
        self._server.stop()
        self._thread.join()
        self._folder.cleanup()

    def seed(
        self, repo_id: str, folder: Path | str, private: bool = False, tags: Iterable[str] = ()
    ) -> Repo:
        """Make a repository, or the next commit of one, hold exactly the files of a folder."""
        files = {}
        for path in sorted(Path(folder).rglob("*")):
            if path.is_file():
                name = path.relative_to(folder).as_posix()
                if name.endswith(".parquet"):
                    with path.open("rb") as file:
                        files[name] = self.store(iter(lambda: file.read(BLOCK), b""))
                    self.lfs[files[name].sha256] = files[name]
                else:
                    files[name] = Blob.in_git(path.read_bytes())
        with self.lock:
            repo = self.repos.setdefault(repo_id, Repo(repo_id, private, {}))
            head = Commit(repo.branches.get("main"), files, "seed", "Seed")
            repo.branches["main"] = head
            repo.tags.update(dict.fromkeys(tags, head))
        return repo

    def push(self, repo_id: str, files: Mapping[str, bytes], branch: str = "main") -> str:
        """Commit some files past all clients, as somebody else would; return the commit's id."""
        with self.lock:
            branches = self.repos[repo_id].branches
            new = {path: Blob.in_git(data) for path, data in files.items()}
            head = branches[branch]
            branches[branch] = Commit(head, {**head.files, **new}, "somebody", "Something else")
            return branches[branch].id

    def files(self, repo_id: str, revision: str = "main") -> dict[str, bytes]:
        """Return the files at a revision."""
        files = self.repos[repo_id].commit(revision).files
        return {path: blob.read() for path, blob in sorted(files.items())}

    def commits(self, repo_id: str, revision: str = "main") -> list[str]:
        """Return the ids of the commits, the oldest first."""
        history = self.repos[repo_id].commit(revision).history
        return [commit.id for commit in history][::-1]

    def tags(self, repo_id: str) -> dict[str, str]:
        """Return the tags and the commits they are on."""
        return {name: commit.id for name, commit in self.repos[repo_id].tags.items()}

    def environ(self, home: Path, token: str | None = None) -> dict[str, str]:
        """Return an environment for a process that is to take this for the Hub."""
        environ = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "HUGGING"))}
        environ |= {"HF_ENDPOINT": self.endpoint, "HF_HOME": str(home), "NO_PROXY": "127.0.0.1"}
        environ |= {"HF_HUB_DISABLE_XET": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
        environ |= {"HF_HUB_DISABLE_PROGRESS_BARS": "1"}
        return environ | ({"HF_TOKEN": token} if token else {})

    def fail(
        self, method: str, pattern: str, how: int | str, times: int = 1, skip: int = 0
    ) -> None:
        """Let requests fail; method "*" is any, the pattern is searched for in the path and query.

        A number is a status. "drop" closes the connection before the request is read, "drop-after"
        does the work and closes the connection without a word, "truncate" sends half of the body,
        "slow" waits `pause` seconds, "stale" lets somebody else commit first. times=-1 is always.
        """
        if how not in ("drop", "drop-after", "truncate", "slow", "stale"):
            assert isinstance(how, int), how
        with self.lock:
            self._faults.append(Fault(method, pattern, how, times, skip))

    def cut_at(self, n: int, done: bool = False, forever: bool = False) -> None:
        """Cut the connection at the n-th request from now, counted from 1, or from there on."""
        self.fail("*", "", "drop-after" if done else "drop", -1 if forever else 1, n - 1)

    def fault(self, method: str, path: str) -> int | str | None:
        """Return what is to go wrong with this request."""
        with self.lock:
            for fault in self._faults:
                if fault.method in ("*", method) and re.search(fault.pattern, path):
                    if fault.skip:
                        fault.skip -= 1
                    elif fault.times:
                        fault.times -= 1
                        return fault.how
        return None

    def store(self, blocks: Iterable[bytes]) -> Blob:
        """Write a file for LFS to the disk, where it is named by its content."""
        digest, size = hashlib.sha256(), 0
        with tempfile.NamedTemporaryFile(dir=self._folder.name, delete=False) as file:
            for block in blocks:
                size += file.write(block)
                digest.update(block)
        sha256 = digest.hexdigest()
        path = Path(file.name).replace(Path(self._folder.name, sha256))
        return Blob.in_lfs(path, size, sha256)


ROUTES: list[tuple[str, re.Pattern[str], bool, Callable[..., object]]] = []
PARTS = {"id": "[^/]+/[^/]+?", "path": ".+"}


def route(method: str, path: str, write: bool = False) -> Callable[..., Callable[..., object]]:
    """Let a method answer a path: {id} becomes the `repo`, and {revision} its `commit`."""
    pattern = re.sub(
        r"{(\w+)}", lambda found: f"(?P<{found[1]}>{PARTS.get(found[1], '[^/]+')})", path
    )

    def add(function: Callable[..., object]) -> Callable[..., object]:
        ROUTES.append((method, re.compile(pattern), write, function))
        return function

    return add


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keeps connections open
    disable_nagle_algorithm = True
    server: "_Server"

    def handle_any(self) -> None:
        """Answer one request, or let it fail."""
        hub = self.server.hub
        how = hub.fault(self.command, self.path)
        if how == "drop":
            self.close_connection = True
            return hub.log.append((self.command, self.path, 0))
        blocks = self.blocks()
        upload = self.command == "PUT" and self.path.startswith("/lfs/")
        self.body = hub.store(blocks) if upload else b"".join(blocks)
        if how == "slow":
            hub.closing.wait(hub.pause)
        status, headers, content = 200, {}, b""
        try:
            if isinstance(how, int):
                raise Refusal(how, "This was asked for")
            with hub.lock:
                if how == "stale":
                    self.interfere()
                answer = self.answer()
            if isinstance(answer, tuple):
                status, headers, content = answer
            else:
                content = json.dumps(answer).encode()
        except Refusal as refusal:
            status, headers = refusal.status, refusal.headers
            content = json.dumps(refusal.body).encode()
        except Exception:
            status, content = 500, traceback.format_exc().encode()
            sys.stderr.write(content.decode())
        hub.log.append((self.command, self.path, status))
        if how == "drop-after":
            self.close_connection = True
            return None
        return self.send(status, headers, content, how == "truncate")

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = handle_any  # noqa: N815

    def blocks(self) -> Iterator[bytes]:
        """Read the body, which large uploads send in chunks of HTTP's own."""
        if self.headers["Transfer-Encoding"] == "chunked":
            while size := int(self.rfile.readline().partition(b";")[0] or b"0", 16):
                yield self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        left = int(self.headers["Content-Length"] or 0)
        while left:
            block = self.rfile.read(min(left, BLOCK))
            if not block:
                raise ConnectionError("the client has gone away")
            left -= len(block)
            yield block

    def send(
        self, status: int, headers: Mapping[str, str], content: bytes | Blob, half: bool
    ) -> None:
        """Send a status, headers and a body, or the part of it that a Range asks for."""
        headers = {"Content-Type": "application/json; charset=utf-8", **headers}
        size = content.size if isinstance(content, Blob) else len(content)
        start, end = 0, size
        wanted = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers["Range"] or "")
        if wanted and isinstance(content, Blob) and self.command == "GET" and any(wanted.groups()):
            first, last = wanted.groups()
            start = int(first) if first else max(0, size - int(last))
            end = min(size, int(last) + 1) if first and last else size
            if start >= end:
                headers["Content-Range"], end, status = f"bytes */{size}", start, 416
            else:
                headers["Content-Range"], status = f"bytes {start}-{end - 1}/{size}", 206
        if status == 429:
            headers["Retry-After"] = "0"
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(end - start)}.items():
            self.send_header(name, value)
        self.end_headers()
        if half:
            self.close_connection, end = True, start + (end - start) // 2
        if self.command == "HEAD" or start == end:
            return
        source = content.content if isinstance(content, Blob) else content
        if isinstance(source, bytes):
            self.wfile.write(memoryview(source)[start:end])
        else:
            with source.open("rb") as file:
                self.connection.sendfile(file, start, end - start)

    def answer(self) -> object:
        """Find out who asks for what, and let the method for it answer."""
        path, _, query = self.path.partition("?")
        self.query = {name: values[-1].lower() for name, values in parse_qs(query).items()}
        token = (self.headers["Authorization"] or "").removeprefix("Bearer ")
        self.user = self.server.hub.tokens.get(token)
        if token and not self.user:
            raise Refusal(401, "Invalid credentials in Authorization header")
        method = "GET" if self.command == "HEAD" else self.command
        for known, pattern, write, function in ROUTES:
            found = pattern.fullmatch(path)
            if known == method and found:
                values = {name: unquote(value) for name, value in found.groupdict().items()}
                if "id" in values:
                    values["repo"] = self.open(values.pop("id"), write)
                if "revision" in values:
                    values["commit"] = values["repo"].commit(values.pop("revision"))
                return function(self, **values)
        raise Refusal(404, "Sorry, we can't find the page you are looking for.")

    def open(self, repo_id: str, write: bool) -> Repo:
        """Return a repository that the user may read, or write to."""
        repo = self.server.hub.repos.get(repo_id)
        if repo is None or (repo.private and not self.member(repo_id)):
            # which of the two it is, is not for everybody to know
            if self.user:
                raise Refusal(404, "Repository not found", "RepoNotFound")
            raise Refusal(401, "Invalid username or password.", "RepoNotFound")
        if write:
            self.check_writer(repo_id, "Authorization error.")
        return repo

    def member(self, repo_id: str) -> bool:
        return bool(self.user) and repo_id.split("/")[0] in (self.user.name, *self.user.orgs)

    def check_writer(self, repo_id: str, message: str) -> None:
        if not self.user:
            raise Refusal(401, "Invalid username or password.")
        if not self.member(repo_id) or self.user.role != "write":
            raise Refusal(403, message)

    def interfere(self) -> None:
        """Let somebody else commit to the repository and branch of this request."""
        found = re.search(
            r"/datasets/([^/]+/[^/.?]+)(?:/(?:commit|preupload)/([^/?]+))?", self.path
        )
        if found:
            branch = unquote(found[2] or "main")
            self.server.hub.push(found[1], {"interference.txt": b"first!\n"}, branch)

    @property
    def json(self) -> dict[str, object]:
        return json.loads(self.body)

    # Who and what

    @route("GET", "/api/whoami-v2")
    def whoami(self) -> object:
        if not self.user:
            raise Refusal(401, "Invalid username or password.")
        orgs = [{"type": "org", "name": org, "roleInOrg": "write"} for org in self.user.orgs]
        token = {"displayName": self.user.name, "role": self.user.role}
        auth = {"type": "access_token", "accessToken": token}
        return {"type": "user", "name": self.user.name, "orgs": orgs, "auth": auth}

    @route("GET", "/api/datasets/{id}")
    def info(self, repo: Repo) -> object:
        return self.info_at(repo, repo.commit("main"))

    @route("GET", "/api/datasets/{id}/revision/{revision}")
    def info_at(self, repo: Repo, commit: Commit) -> object:
        siblings = [{"rfilename": path} for path in sorted(commit.files)]
        if "blobs" in self.query:
            for sibling in siblings:
                blob = commit.files[sibling["rfilename"]]
                sibling |= {"blobId": blob.oid, "size": blob.size}
                if blob.lfs:
                    sibling["lfs"] = blob.lfs | {"sha256": blob.sha256}
        *_, first = commit.history
        return {
            "id": repo.id,
            "author": repo.id.split("/")[0],
            "sha": commit.id,
            "lastModified": commit.date,
            "createdAt": first.date,
            "private": repo.private,
            "gated": False,
            "disabled": False,
            "tags": [],
            "downloads": 0,
            "likes": 0,
            "cardData": commit.card_data,
            "siblings": siblings,
        }

    @route("GET", "/api/datasets/{id}/refs")
    def refs(self, repo: Repo) -> object:
        def listed(kind: str, heads: dict[str, Commit]) -> list[dict[str, str]]:
            return [
                {"name": name, "ref": f"refs/{kind}/{name}", "targetCommit": commit.id}
                for name, commit in sorted(heads.items())
            ]

        refs = {"branches": listed("heads", repo.branches), "tags": listed("tags", repo.tags)}
        return (
            refs | {"converts": []} | ({"pullRequests": []} if "include_prs" in self.query else {})
        )

    @route("GET", "/api/datasets/{id}/commits/{revision}")
    def history(self, repo: Repo, commit: Commit) -> object:
        return [
            {
                "id": each.id,
                "title": each.title,
                "message": each.description,
                "authors": [{"user": each.author}],
                "date": each.date,
            }
            for each in commit.history
        ]

    @route("GET", "/api/datasets/{id}/tree/{revision}")
    def root(self, repo: Repo, commit: Commit) -> object:
        return self.tree(repo, commit, "")

    @route("GET", "/api/datasets/{id}/tree/{revision}/{path}")
    def tree(self, repo: Repo, commit: Commit, path: str) -> object:
        path = path.rstrip("/")
        if commit.entries.get(path, {}).get("type") != "directory":
            raise Refusal(404, f"{path} does not exist on this revision", "EntryNotFound")
        found = commit.within(path, commit.entries, self.query.get("recursive") in ("1", "true"))
        found.sort(key=lambda entry: entry["path"])
        return self.expanded(commit, found, self.query.get("expand", ""))

    @route("POST", "/api/datasets/{id}/paths-info/{revision}")
    def paths_info(self, repo: Repo, commit: Commit) -> object:
        if "json" in self.headers["Content-Type"]:
            form = self.json
        else:
            form = parse_qs(self.body.decode())
            form["expand"] = form.get("expand", [""])[0]
        found = [commit.entries[path] for path in form["paths"] if path in commit.entries]
        return self.expanded(commit, found, str(form.get("expand", "")))

    def expanded(self, commit: Commit, found: list[dict[str, object]], expand: str) -> object:
        if expand.lower() not in ("1", "true"):
            return found
        expanded = []
        for entry in found:
            last = commit.last_change(entry["path"])
            last_commit = {"id": last.id, "title": last.title, "date": last.date}
            expanded.append(entry | {"lastCommit": last_commit})
        return expanded

    @route("GET", "/datasets/{id}/resolve/{revision}/{path}")
    def resolve(self, repo: Repo, commit: Commit, path: str) -> object:
        blob = commit.files.get(path)
        headers = {"X-Repo-Commit": commit.id}
        if blob is None:
            refusal = Refusal(404, "Entry not found", "EntryNotFound")
            refusal.headers |= headers
            raise refusal
        headers |= {"Accept-Ranges": "bytes", "ETag": f'"{blob.sha256 or blob.oid}"'}
        headers["Content-Type"] = "text/plain; charset=utf-8"
        if blob.lfs:
            headers |= {"X-Linked-ETag": f'"{blob.sha256}"', "X-Linked-Size": str(blob.size)}
            headers["Content-Type"] = "application/octet-stream"
        return 200, headers, blob

    # Repositories and tags

    @route("POST", "/api/repos/create")
    def create(self) -> object:
        wanted = self.json
        repo_id = f"{wanted.get('organization') or (self.user and self.user.name)}/{wanted['name']}"
        namespace = repo_id.split("/")[0]
        self.check_writer(
            repo_id,
            f'You don\'t have the rights to create a dataset under the namespace "{namespace}"',
        )
        hub = self.server.hub
        url = {"url": f"{hub.endpoint}/datasets/{repo_id}", "name": repo_id}
        if wanted.get("type") != "dataset":
            raise Refusal(400, "There are only datasets here")
        if repo_id in hub.repos:
            raise Refusal(409, "You already created this dataset repo", **url)
        attributes = b"*.parquet filter=lfs diff=lfs merge=lfs -text\n"
        first = {".gitattributes": Blob.in_git(attributes)}
        commit = Commit(None, first, self.user.name, "initial commit")
        private = wanted.get("visibility") == "private" or wanted.get("private") is True
        hub.repos[repo_id] = Repo(repo_id, private, {"main": commit})
        return url

    @route("DELETE", "/api/repos/delete")
    def delete(self) -> object:
        wanted = self.json
        repo_id = f"{wanted.get('organization') or (self.user and self.user.name)}/{wanted['name']}"
        del self.server.hub.repos[self.open(repo_id, write=True).id]
        return {}

    @route("PUT", "/api/datasets/{id}/settings", write=True)
    def settings(self, repo: Repo) -> object:
        wanted = self.json
        if "visibility" in wanted or "private" in wanted:
            repo.private = wanted.get("visibility") == "private" or wanted.get("private") is True
        return {"private": repo.private}

    @route("POST", "/api/datasets/{id}/tag/{revision}", write=True)
    def tag(self, repo: Repo, commit: Commit) -> object:
        tag = self.json["tag"]
        if tag in repo.tags:
            raise Refusal(409, "Tag reference exists already")
        repo.tags[tag] = commit
        return {}

    @route("DELETE", "/api/datasets/{id}/tag/{tag}", write=True)
    def untag(self, repo: Repo, tag: str) -> object:
        if repo.tags.pop(tag, None) is None:
            raise Refusal(404, f"Invalid rev id: {tag}", "RevisionNotFound")
        return {}

    # Uploading, in the order in which create_commit does it

    @route("POST", "/api/validate-yaml")
    def validate(self) -> object:
        try:
            data = front_matter(self.json["content"])
        except yaml.YAMLError as error:
            data, errors = {}, [f"The YAML cannot be parsed: {error}"]
        else:
            errors = []
        warnings = [] if data else ["empty or missing yaml metadata in repo card"]
        if data and not isinstance(data, dict):
            data, errors = {}, ["The metadata must be an object"]
        for licence in [(data or {}).get("license", "mit")]:
            for name in licence if isinstance(licence, list) else [licence]:
                if not re.fullmatch(r"[a-z][a-z0-9.-]*", str(name)):
                    errors.append(f'"license" must be one of the known ids, got {name!r}')
        if not isinstance((data or {}).get("configs", []), list):
            errors.append('"configs" must be an array')
        found = {
            "errors": [{"message": message} for message in errors],
            "warnings": [{"message": message} for message in warnings],
        }
        if errors:
            raise Refusal(400, "Invalid metadata in README.md.", **found)
        return found

    @route("POST", "/api/datasets/{id}/preupload/{revision}", write=True)
    def preupload(self, repo: Repo, commit: Commit) -> object:
        files = []
        for file in self.json["files"]:
            mode = "lfs" if file["path"].endswith(".parquet") else "regular"
            old = commit.files.get(file["path"])
            oid = old and (old.sha256 or old.oid)  # clients leave out what they have the same
            answer = {"path": file["path"], "uploadMode": mode, "shouldIgnore": False, "oid": oid}
            files.append(answer)
        return {"commitOid": commit.id, "files": files}

    @route("POST", "/datasets/{id}.git/info/lfs/objects/batch", write=True)
    def batch(self, repo: Repo) -> object:
        hub, objects = self.server.hub, []
        for wanted in self.json["objects"]:
            oid, size = wanted["oid"], wanted["size"]
            answer = {"oid": oid, "size": size}
            if oid not in hub.lfs:
                hub.announced.add(oid)
                verify = f"{hub.endpoint}/datasets/{repo.id}.git/info/lfs/objects/verify"
                upload = {"href": f"{hub.endpoint}/lfs/{oid}"}
                answer["actions"] = {"upload": upload, "verify": {"href": verify}}
            objects.append(answer)
        return {"transfer": "basic", "objects": objects}

    @route("PUT", "/lfs/{oid}")
    def put(self, oid: str) -> object:
        hub = self.server.hub
        if oid not in hub.announced:  # the URL is a ticket: clients send no token here
            raise Refusal(403, "Request has expired")
        if self.body.sha256 != oid:
            raise Refusal(400, "The Content-SHA256 you specified did not match what we received")
        hub.lfs[oid] = self.body
        return 200, {"ETag": f'"{oid}"'}, b""

    @route("POST", "/datasets/{id}.git/info/lfs/objects/verify", write=True)
    def verify(self, repo: Repo) -> object:
        blob = self.server.hub.lfs.get(self.json["oid"])
        if blob is None or blob.size != self.json["size"]:
            raise Refusal(404, "Object does not exist")
        return {}

    @route("POST", "/api/datasets/{id}/commit/{branch}", write=True)
    def commit(self, repo: Repo, branch: str) -> object:
        hub = self.server.hub
        header, *lines = map(json.loads, self.body.splitlines())
        about = header["value"]
        if branch not in repo.branches:
            raise Refusal(404, f"Invalid rev id: {branch}", "RevisionNotFound")
        if "create_pr" in self.query:
            raise Refusal(400, "There are no pull requests here")
        head = repo.branches[branch]
        if not head.id.startswith(about.get("parentCommit", "")):
            raise Refusal(412, "A commit has happened since. Please refresh and try again.")
        files = dict(head.files)
        for line in lines:
            kind, value = line["key"], line["value"]
            path = value["path"]
            if kind == "file":
                files[path] = Blob.in_git(base64.b64decode(value["content"]))
            elif kind == "lfsFile":
                if value["oid"] not in hub.lfs:
                    raise Refusal(
                        400, f"LFS pointer of {path} points to a file that does not exist"
                    )
                files[path] = hub.lfs[value["oid"]]
            else:
                folder = path.rstrip("/") + "/" if kind == "deletedFolder" else None
                gone = [
                    name for name in files if name == path or (folder and name.startswith(folder))
                ]
                if not gone:
                    raise Refusal(404, "A file with this name doesn't exist", "EntryNotFound")
                for name in gone:
                    del files[name]
        new = Commit(head, files, self.user.name, about["summary"], about.get("description", ""))
        repo.branches[branch] = new
        url = f"{hub.endpoint}/datasets/{repo.id}/commit/{new.id}"
        return {"success": True, "commitOid": new.id, "commitUrl": url, "hookOutput": ""}

    def log_message(self, format: str, *args: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # so that closing waits for them
    request_queue_size = 128

    def __init__(self, hub: Hub):
        self.hub, self.connections = hub, set()
        super().__init__(("127.0.0.1", 0), _Handler)

    def server_bind(self) -> None:
        TCPServer.server_bind(self)  # HTTPServer's asks the DNS for our name

    def process_request(self, request: socket.socket, client_address: object) -> None:
        self.connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket) -> None:
        self.connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: socket.socket, client_address: object) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):  # clients may go away
            super().handle_error(request, client_address)

    def stop(self) -> None:
        self.shutdown()
        for connection in list(self.connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.server_close()


def main() -> None:
    """Serve the datasets in a folder until killed."""
    org, folder = sys.argv[1:]
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit())
    with Hub() as hub:
        for file in sorted(Path(folder).glob("*/provenance.json")):
            version = json.loads(file.read_text())["version"]
            hub.seed(f"{org}/{file.parent.name}", file.parent, tags=[f"v{version}"])
        print(hub.endpoint, flush=True)
        hub.closing.wait()


if __name__ == "__main__":
    main()
