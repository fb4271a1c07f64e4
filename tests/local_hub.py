"""A small Hub on 127.0.0.1, for the real clients to talk to.

It answers what huggingface_hub and datasets ask huggingface.co when a dataset is read or published
by `parley publish`, and refuses what the Hub refuses. Unlike the Hub it sends LFS files itself,
where the Hub redirects to a CDN, has one branch, gives every list as one page and checks no card.
"""

import base64
import hashlib
import json
import os
import re
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs, unquote

from file_server import Connection, Local
from file_server import blob as git_oid

YES = ("1", "true", "True")  # as httpx and requests write a True
_STRANGER = "Invalid username or password."


class Refusal(Exception):
    """An error. The code is what huggingface_hub goes by: a 404 may mean three things."""

    def __init__(self, status, message, code="", **headers):
        self.status, self.message = status, message
        self.headers = {"X-Error-Message": message, "X-Error-Code": code, **headers}


@dataclass(frozen=True)
class Blob:
    """A file: in git, or in LFS with a pointer to it in git."""

    content: bytes
    in_lfs: bool

    @cached_property
    def etag(self):
        """What tells contents apart: the sha256 in LFS, else git's id."""
        return hashlib.sha256(self.content).hexdigest() if self.in_lfs else git_oid(self.content)

    @property
    def entry(self):
        """What listings say of it, but for its path."""
        size = len(self.content)
        if not self.in_lfs:
            return {"type": "file", "oid": self.etag, "size": size}
        version = "version https://git-lfs.github.com/spec/v1"
        pointer = f"{version}\noid sha256:{self.etag}\nsize {size}\n".encode()
        lfs = {"oid": self.etag, "size": size, "pointerSize": len(pointer)}
        return {"type": "file", "oid": git_oid(pointer), "size": size, "lfs": lfs}


def contents(folder):
    """Return the files of a folder by their names in a repository."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def blobs(files):
    return {path: Blob(data, path.endswith(".parquet")) for path, data in files.items()}


@dataclass(frozen=True)
class Commit:
    """The files of a repository at one time."""

    files: Mapping[str, Blob]
    number: int = 0

    @cached_property
    def id(self):
        """An id for these files at this place in the history; not the one that git would give."""
        files = sorted((path, blob.etag) for path, blob in self.files.items())
        return hashlib.sha1(repr((self.number, files)).encode()).hexdigest()

    def tree(self):
        """Return all files and folders by path, with the date that DuckDB reads; the root is ''."""
        found = {path: blob.entry for path, blob in self.files.items()}
        for folder in {path[: end.start()] for path in found for end in re.finditer("/|^", path)}:
            found[folder] = {"type": "directory", "oid": git_oid(folder.encode()), "size": 0}
        last = {"id": self.id, "title": "A commit", "date": "2026-01-01T00:00:00.000Z"}
        return {path: {"path": path, **found[path], "lastCommit": last} for path in sorted(found)}


@dataclass
class Repo:
    """A dataset repository; its commits, the last of which is `main`."""

    id: str
    private: bool = False
    commits: list[Commit] = field(default_factory=list)
    tags: dict[str, Commit] = field(default_factory=dict)
    lfs: dict[str, Blob] = field(default_factory=dict)  # what has been uploaded, by sha256

    def add(self, files):
        self.commits.append(Commit(files, len(self.commits)))
        self.lfs |= {blob.etag: blob for blob in files.values() if blob.in_lfs}
        return self.commits[-1]

    def at(self, revision):
        """Return the commit that `main`, a tag or a commit's id names."""
        ids = {commit.id: commit for commit in self.commits}
        named = ids | self.tags | {"main": self.commits[-1]}
        if revision not in named:
            raise Refusal(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return named[revision]


@dataclass
class Call:
    hub: "Hub"
    method: str
    target: str  # the path, quoted as it came, and the query
    headers: Mapping[str, str]
    body: bytes

    def answer(self):
        status, headers = 200, {"Content-Type": "application/json; charset=utf-8"}
        try:
            found = self.find()
        except Refusal as refusal:
            status, headers = refusal.status, headers | refusal.headers
            found = {"error": refusal.message}
        return found if isinstance(found, tuple) else (status, headers, json.dumps(found).encode())

    def find(self):
        path, _, query = self.target.partition("?")
        self.query = {name: values[-1] for name, values in parse_qs(query).items()}
        token = (self.headers["Authorization"] or "").removeprefix("Bearer ")
        self.role = self.hub.tokens.get(token)
        if token and not self.role:
            raise Refusal(401, "Invalid credentials in Authorization header")
        for method, pattern, function in ROUTES:
            found = pattern.fullmatch(path)
            if found and method == self.method.replace("HEAD", "GET"):
                parts = found.groupdict("").items()
                values: dict[str, object] = {name: unquote(part) for name, part in parts}
                if "id" in values:
                    values["repo"] = repo = self.open(values.pop("id"), write=method != "GET")
                    if "revision" in values:
                        values["commit"] = repo.at(values.pop("revision") or "main")
                return function(self, **values)
        raise Refusal(404, "Sorry, we can't find the page you are looking for.")

    def open(self, repo_id, write):
        """Return a repository that the token may read, or write to."""
        repo = self.hub.repos.get(repo_id)
        if repo is None or (repo.private and not self.role):
            # the Hub says no more to a stranger; clients take its 401 on https for RepoNotFound
            status, said = (404, "Repository not found") if self.role else (401, _STRANGER)
            raise Refusal(status, said, "RepoNotFound")
        if write and "/paths-info/" not in self.target:  # which is a POST for its length
            self.require_writer()
        return repo

    def require_writer(self):
        if self.role != "write":
            raise Refusal(403, "Authorization error.") if self.role else Refusal(401, _STRANGER)

    @property
    def json(self):
        return json.loads(self.body)


ROUTES: list[tuple[str, re.Pattern[str], Callable[..., object]]] = []
PARTS = {
    "kind": "datasets", "id": "(?P<id>[^/]+/[^/]+?)", "revision": "(?P<revision>[^/]+)",
    "path": "(?P<path>.+)",
}  # fmt: skip


def route(method, path):
    """Let a function answer a path: {id} becomes its `repo`, {revision} the `commit` in it."""

    def add(function):
        ROUTES.append((method, re.compile(path.format(**PARTS)), function))
        return function

    return add


@route("GET", "/datasets/{id}/resolve/{revision}/{path}")
def resolve(call, repo, commit, path):
    headers = {"X-Repo-Commit": commit.id}
    blob = commit.files.get(path)
    if blob is None:  # clients remember that this commit has no such file
        raise Refusal(404, "Entry not found", "EntryNotFound", **headers)
    size = len(blob.content)
    headers |= {"Accept-Ranges": "bytes", "ETag": f'"{blob.etag}"'}
    if blob.in_lfs:
        headers |= {"X-Linked-ETag": headers["ETag"], "X-Linked-Size": str(size)}
    wanted = re.fullmatch(r"bytes=(\d*)-(\d*)", call.headers["Range"] or "")
    if not wanted or call.method != "GET":
        return 200, headers, blob.content
    first, last = wanted.groups()
    start = int(first) if first else max(0, size - int(last))
    end = min(size, int(last) + 1) if first and last else size
    headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    return 206, headers, blob.content[start:end]


@route("GET", "/api/{kind}/{id}(/revision/{revision})?")
def info(call, repo, commit):
    siblings = [{"rfilename": path} for path in sorted(commit.files)]
    about = {"id": repo.id, "sha": commit.id, "private": repo.private, "siblings": siblings}
    return about | {"tags": [], "downloads": 0, "likes": 0}


@route("GET", "/api/{kind}/{id}/tree/{revision}(/{path})?")
def tree(call, repo, commit, path):
    entries = commit.tree()
    if entries.get(path, {}).get("type") != "directory":
        raise Refusal(404, f"{path} does not exist on this revision", "EntryNotFound")
    start = path and f"{path}/"
    inside = [entries[name] for name in entries if name and name.startswith(start)]
    if call.query.get("recursive") not in YES:
        inside = [entry for entry in inside if "/" not in str(entry["path"])[len(start) :]]
    return inside


@route("POST", "/api/{kind}/{id}/paths-info/{revision}")
def paths_info(call, repo, commit):
    entries, paths = commit.tree(), parse_qs(call.body.decode())["paths"]
    return [entries[path] for path in paths if path in entries]


@route("GET", "/api/{kind}/{id}/refs")
def refs(call, repo):
    def named(kind, commits):
        ids = sorted((name, commit.id) for name, commit in commits.items())
        return [{"name": n, "ref": f"refs/{kind}/{n}", "targetCommit": id} for n, id in ids]

    main = {"main": repo.commits[-1]}
    return {"converts": [], "branches": named("heads", main), "tags": named("tags", repo.tags)}


@route("POST", "/api/repos/create")
def create(call):
    wanted, repos = call.json, call.hub.repos
    repo_id = f"{wanted['organization']}/{wanted['name']}"
    call.require_writer()
    where = {"url": f"{call.hub.endpoint}/datasets/{repo_id}", "name": repo_id}
    if repo_id in repos:  # clients take the answer for one, if they may
        return 409, {}, json.dumps(where).encode()
    attributes = Blob(b"*.parquet filter=lfs diff=lfs merge=lfs -text\n", in_lfs=False)
    repos[repo_id] = Repo(repo_id, private=wanted.get("visibility") == "private")
    repos[repo_id].add({".gitattributes": attributes})
    return where


@route("POST", "/api/validate-yaml")
def validate_yaml(call):
    return {"errors": [], "warnings": []}


@route("POST", "/api/{kind}/{id}/preupload/{revision}")
def preupload(call, repo, commit):
    files = []
    for path in [file["path"] for file in call.json["files"]]:
        old = commit.files.get(path)
        mode = "lfs" if path.endswith(".parquet") else "regular"
        file = {"path": path, "uploadMode": mode, "shouldIgnore": False}
        files.append(file | {"oid": old and old.etag})  # clients leave out what is the same
    return {"commitOid": commit.id, "files": files}


@route("POST", "/{kind}/{id}.git/info/lfs/objects/batch")
def lfs_batch(call, repo):
    objects = []
    for wanted in call.json["objects"]:
        objects.append({"oid": wanted["oid"], "size": wanted["size"]})
        if wanted["oid"] not in repo.lfs:
            href = f"{call.hub.endpoint}/lfs/{repo.id}/{wanted['oid']}"
            objects[-1]["actions"] = {"upload": {"href": href}}
    return {"transfer": "basic", "objects": objects}


@route("PUT", "/lfs/{path}")
def lfs_upload(call, path):
    blob = Blob(call.body, in_lfs=True)
    repo_id, _, oid = path.rpartition("/")
    if blob.etag != oid:
        raise Refusal(400, "The sha256 you specified did not match what we received")
    call.hub.repos[repo_id].lfs[oid] = blob
    return {}


@route("POST", "/api/{kind}/{id}/commit/main")
def commit(call, repo):
    header, *operations = map(json.loads, call.body.splitlines())
    about, head = header["value"], repo.commits[-1]
    if about.get("parentCommit", head.id) != head.id:
        raise Refusal(412, "A commit has happened since. Please refresh and try again.")
    files = dict(head.files)
    for key, value in ((operation["key"], operation["value"]) for operation in operations):
        if key == "file":
            files[value["path"]] = Blob(base64.b64decode(value["content"]), in_lfs=False)
        elif key == "deletedFile":
            del files[value["path"]]
        else:
            files[value["path"]] = repo.lfs[value["oid"]]
    new = repo.add(files)  # even if nothing has changed: clients skip those
    url = f"{call.hub.endpoint}/datasets/{repo.id}/commit/{new.id}"
    return {"success": True, "commitOid": new.id, "commitUrl": url, "hookOutput": ""}


@route("POST", "/api/{kind}/{id}/tag/{revision}")
def tag(call, repo, commit):
    if call.json["tag"] in repo.tags:
        raise Refusal(409, "Tag reference exists already")
    repo.tags[call.json["tag"]] = commit
    return {}


class Hub(Local):
    """The server: set `tokens`, `seed` repositories, read `log` to see what came in."""

    def __init__(self):
        self.handler = _Handler
        self.tokens: dict[str, str] = {}  # token -> "write" or "read"
        self.headers: dict[str, str] = {}  # sent with every answer
        self.repos: dict[str, Repo] = {}
        self.log: list[tuple[str, str, int]] = []  # method, path, status; 0: dropped unheard
        self.faults: list[SimpleNamespace] = []
        self.connections: list[socket.socket] = []
        self.lock = threading.RLock()  # held while an answer is worked out

    def __exit__(self, *_):
        super().__exit__()
        for connection in self.connections:
            with suppress(OSError):  # closed already
                connection.shutdown(socket.SHUT_RDWR)

    def seed(self, repo_id, folder, tags=()):
        """Make a repository, or the next commit of one, hold exactly the files of a folder."""
        files = blobs(contents(Path(folder)))
        with self.lock:
            repo = self.repos.setdefault(repo_id, Repo(repo_id))
            repo.tags.update(dict.fromkeys(tags, repo.add(files)))

    def push(self, repo_id, files):
        """Add files past all clients, as somebody else would."""
        with self.lock:
            repo = self.repos[repo_id]
            repo.add({**repo.commits[-1].files, **blobs(files)})

    def files(self, repo_id, revision="main"):
        files = self.repos[repo_id].at(revision).files
        return {path: blob.content for path, blob in sorted(files.items())}

    def commits(self, repo_id):
        return [commit.id for commit in self.repos[repo_id].commits]

    def tags(self, repo_id):
        return {name: commit.id for name, commit in self.repos[repo_id].tags.items()}

    def environ(self, home, token=None):
        """Return an environment for a process that is to take this for the Hub."""
        environ = {k: v for k, v in os.environ.items() if not k.startswith(("HF_", "HUGGING"))}
        on = ("HF_HUB_DISABLE_XET", "HF_HUB_DISABLE_TELEMETRY", "HF_HUB_DISABLE_PROGRESS_BARS")
        environ |= dict.fromkeys(on, "1") | dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1")
        environ |= {"HF_ENDPOINT": self.endpoint, "HF_HOME": str(home), "HF_HUB_OFFLINE": "0"}
        return environ | ({"HF_TOKEN": token} if token else {})

    def fail(self, method, pattern, how, times=1, skip=0):
        """Let something happen to requests: of a method ("*" is any), whose path has the pattern.

        A number is the status they get. "drop" closes the connection before the request is read,
        "drop-after" does the work and then says nothing. A function is called before the answer
        is worked out. It happens `times` times, -1 is always, after `skip` of the requests.
        """
        fault = {"method": method, "pattern": pattern, "how": how, "times": times, "skip": skip}
        with self.lock:
            self.faults.append(SimpleNamespace(**fault))

    def fault(self, method, path):
        with self.lock:
            for fault in self.faults:
                if fault.method in ("*", method) and re.search(fault.pattern, path):
                    if fault.skip:
                        fault.skip -= 1
                    elif fault.times:
                        fault.times -= 1
                        return fault.how
        return None


class _Handler(Connection):
    """One connection: HTTP itself, and the faults."""

    protocol_version = "HTTP/1.1"  # keeps the connection for the next request
    disable_nagle_algorithm = True
    site: Hub

    def setup(self):
        super().setup()
        self.site.connections.append(self.connection)

    def respond(self):
        hub, status = self.site, 0
        how = hub.fault(self.command, self.path)
        self.close_connection |= how in ("drop", "drop-after")
        if how != "drop":
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            if callable(how):
                how()
            if isinstance(how, int):
                status, headers, content = how, {}, b'{"error": "This was asked for."}'
            else:
                with hub.lock:
                    call = Call(hub, self.command, self.path, self.headers, body)
                    status, headers, content = call.answer()
        hub.log.append((self.command, self.path, status))
        if how in ("drop", "drop-after"):
            return
        headers = {**hub.headers, **headers, "Content-Length": str(len(content))}
        self.answer(status, headers, b"" if self.command == "HEAD" else content)
