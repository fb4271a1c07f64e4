"""What the Hub answers: each request of huggingface_hub and datasets about a dataset repository.

Read it with `hf_api.py` and `_commit_api.py` of huggingface_hub: the order is that of a load, then
of a publication. An answer is something to give as JSON, or a `Blob` with its headers; an error is
raised as a `Refusal`.
"""

import base64
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote

import yaml
from hub_git import Blob, Commit, Entry, Repo

if TYPE_CHECKING:
    from hub import Hub

YES = ("1", "true", "True")  # as httpx and requests write a True


@dataclass(frozen=True)
class User:
    """Whose token it is: he may write as himself and in his organisations, if the token may."""

    name: str
    orgs: tuple[str, ...] = ()
    role: str = "write"  # or "read"

    def owns(self, repo_id: str) -> bool:
        """Tell whether a repository is in his own namespace or in one of his organisations."""
        return repo_id.split("/")[0] in (self.name, *self.orgs)


class Refusal(Exception):
    """An error. The code is what huggingface_hub goes by: a 404 may mean three things."""

    def __init__(self, status: int, message: str, code: str = "", **more: object):
        self.status, self.body = status, {"error": message, **more}
        self.headers = {"X-Error-Message": message.encode("ascii", "replace").decode()}
        if code:
            self.headers["X-Error-Code"] = code


@dataclass(frozen=True)
class File:
    """An answer that is a file."""

    blob: Blob
    headers: dict[str, str]


@dataclass
class Call:
    """A request that has come in whole."""

    hub: "Hub"
    method: str
    target: str  # the path, quoted as it came, and the query
    headers: Mapping[str, str]
    body: bytes | Blob  # of an upload to LFS: a Blob, already on the disk

    def answer(self) -> object:
        """Find out who asks for what, and answer it."""
        path, _, query = self.target.partition("?")
        self.query = {name: values[-1] for name, values in parse_qs(query).items()}
        token = (self.headers["Authorization"] or "").removeprefix("Bearer ")
        self.user = self.hub.tokens.get(token)
        if token and not self.user:
            raise Refusal(401, "Invalid credentials in Authorization header")
        for method, pattern, write, function in ROUTES:
            found = pattern.fullmatch(path)
            if found and method == self.method.replace("HEAD", "GET"):
                values: dict[str, object] = {
                    name: unquote(value) for name, value in found.groupdict().items()
                }
                if "id" in values:
                    values["repo"] = repo = self.open(values.pop("id"), write)
                    if "revision" in values:
                        values["commit"] = self.commit(repo, values.pop("revision"))
                return function(self, **values)
        raise Refusal(404, "Sorry, we can't find the page you are looking for.")

    def open(self, repo_id: str, write: bool = False) -> Repo:
        """Return a repository that the user may read, or write to."""
        repo = self.hub.repos.get(repo_id)
        if repo is None or (repo.private and not (self.user and self.user.owns(repo_id))):
            if self.user:
                raise Refusal(404, "Repository not found", "RepoNotFound")
            # the Hub says no more to a stranger; clients take its 401 on https for RepoNotFound
            raise Refusal(401, "Invalid username or password.", "RepoNotFound")
        if write:
            self.check_writer(repo_id, "Authorization error.")
        return repo

    def check_writer(self, repo_id: str, message: str) -> User:
        """Return the user, if he may write to a repository."""
        if not self.user:
            raise Refusal(401, "Invalid username or password.")
        if not self.user.owns(repo_id) or self.user.role != "write":
            raise Refusal(403, message)
        return self.user

    def commit(self, repo: Repo, revision: str) -> Commit:
        """Return the commit that a revision names."""
        commit = repo.commit(revision)
        if commit is None:
            raise Refusal(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return commit

    @property
    def json(self) -> dict[str, object]:
        """The body, which is JSON."""
        return json.loads(self.body)


ROUTES: list[tuple[str, re.Pattern[str], bool, Callable[..., object]]] = []


def route(method: str, path: str, write: bool = False) -> Callable[..., Callable[..., object]]:
    """Let a function answer a path: {id} becomes its `repo`, {revision} the `commit` in it."""
    parts = {"id": "[^/]+/[^/]+?", "path": ".+"}

    def add(function: Callable[..., object]) -> Callable[..., object]:
        pattern = re.sub(
            r"{(\w+)}", lambda part: f"(?P<{part[1]}>{parts.get(part[1], '[^/]+')})", path
        )
        ROUTES.append((method, re.compile(pattern), write, function))
        return function

    return add


@route("GET", "/api/whoami-v2")
def whoami(call: Call) -> object:
    if not call.user:
        raise Refusal(401, "Invalid username or password.")
    orgs = [{"type": "org", "name": org} for org in call.user.orgs]
    token = {"displayName": call.user.name, "role": call.user.role}
    auth = {"type": "access_token", "accessToken": token}
    return {"type": "user", "name": call.user.name, "orgs": orgs, "auth": auth}


@route("GET", "/datasets/{id}/resolve/{revision}/{path}")
def resolve(call: Call, repo: Repo, commit: Commit, path: str) -> object:
    headers = {"X-Repo-Commit": commit.id}
    blob = commit.files.get(path)
    if blob is None:
        refusal = Refusal(404, "Entry not found", "EntryNotFound")
        refusal.headers |= headers  # clients remember that this commit has no such file
        raise refusal
    headers |= {"Accept-Ranges": "bytes", "ETag": f'"{blob.etag}"'}
    if not blob.lfs:
        return File(blob, {**headers, "Content-Type": "text/plain; charset=utf-8"})
    headers |= {"X-Linked-ETag": headers["ETag"], "X-Linked-Size": str(blob.size)}
    return File(blob, {**headers, "Content-Type": "application/octet-stream"})


@route("GET", "/api/datasets/{id}")
def info_of_main(call: Call, repo: Repo) -> object:
    return info(call, repo, call.commit(repo, "main"))


@route("GET", "/api/datasets/{id}/revision/{revision}")
def info(call: Call, repo: Repo, commit: Commit) -> object:
    siblings = []
    for path, blob in sorted(commit.files.items()):
        siblings.append({"rfilename": path})
        if "blobs" in call.query:
            siblings[-1] |= {"blobId": blob.oid, "size": blob.size}
            if blob.lfs:
                siblings[-1]["lfs"] = {**blob.lfs, "sha256": blob.etag}
    card = commit.files.get("README.md")
    try:
        card_data = front_matter(card.read().decode()) if card else None
    except yaml.YAMLError:
        card_data = None
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
        "cardData": card_data,
        "siblings": siblings,
    }


@route("GET", "/api/datasets/{id}/tree/{revision}")
def root(call: Call, repo: Repo, commit: Commit) -> object:
    return tree(call, repo, commit, "")


@route("GET", "/api/datasets/{id}/tree/{revision}/{path}")
def tree(call: Call, repo: Repo, commit: Commit, path: str) -> object:
    if commit.entries.get(path, {}).get("type") != "directory":
        raise Refusal(404, f"{path} does not exist on this revision", "EntryNotFound")
    found = commit.within(path, call.query.get("recursive") in YES)
    return expanded(commit, found) if call.query.get("expand") in YES else found


@route("POST", "/api/datasets/{id}/paths-info/{revision}")
def paths_info(call: Call, repo: Repo, commit: Commit) -> object:
    form = parse_qs(call.body.decode())
    found = [commit.entries[path] for path in form["paths"] if path in commit.entries]
    return expanded(commit, found) if form.get("expand", [""])[0] in YES else found


def expanded(commit: Commit, found: list[Entry]) -> list[Entry]:
    """Return entries with the commits that they are from."""
    commits = [commit.last_change(str(entry["path"])) for entry in found]
    last = [{"id": each.id, "title": each.title, "date": each.date} for each in commits]
    return [{**entry, "lastCommit": each} for entry, each in zip(found, last, strict=True)]


@route("GET", "/api/datasets/{id}/refs")
def refs(call: Call, repo: Repo) -> object:
    kinds = {
        "branches": ("heads", repo.branches),
        "tags": ("tags", repo.tags),
        "converts": ("", {}),
    }
    if "include_prs" in call.query:
        kinds["pullRequests"] = ("", {})
    return {
        name: [
            {"name": head, "ref": f"refs/{kind}/{head}", "targetCommit": commit.id}
            for head, commit in sorted(heads.items())
        ]
        for name, (kind, heads) in kinds.items()
    }


@route("GET", "/api/datasets/{id}/commits/{revision}")
def commits(call: Call, repo: Repo, commit: Commit) -> object:
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


@route("POST", "/api/repos/create")
def create(call: Call) -> object:
    wanted, hub = call.json, call.hub
    org = wanted.get("organization") or (call.user.name if call.user else "")
    repo_id = f"{org}/{wanted['name']}"
    user = call.check_writer(
        repo_id, f'You don\'t have the rights to create a dataset under the namespace "{org}"'
    )
    if wanted.get("type") != "dataset":
        raise Refusal(400, "There are only datasets here")
    where = {"url": f"{hub.endpoint}/datasets/{repo_id}", "name": repo_id}
    if repo_id in hub.repos:
        raise Refusal(409, "You already created this dataset repo", **where)
    attributes = Blob.in_git(b"*.parquet filter=lfs diff=lfs merge=lfs -text\n")
    first = Commit(None, {".gitattributes": attributes}, user.name, "initial commit")
    hub.repos[repo_id] = Repo(repo_id, is_private(wanted), {"main": first})
    return where


def is_private(wanted: Mapping[str, object]) -> bool:
    """Read what huggingface_hub says since 1.0, or what it said before."""
    return wanted.get("visibility") == "private" or wanted.get("private") is True


@route("PUT", "/api/datasets/{id}/settings", write=True)
def settings(call: Call, repo: Repo) -> object:
    if {"visibility", "private"} & set(call.json):
        repo.private = is_private(call.json)
    return {"private": repo.private}


@route("DELETE", "/api/repos/delete")
def delete(call: Call) -> object:
    org = call.json.get("organization") or (call.user.name if call.user else "")
    repo = call.open(f"{org}/{call.json['name']}", write=True)
    del call.hub.repos[repo.id]
    return {}


@route("POST", "/api/validate-yaml")
def validate_yaml(call: Call) -> object:
    errors, warnings = [], []
    try:
        data = front_matter(call.json["content"])
    except yaml.YAMLError as error:
        data, errors = {}, [f"YAML: {error}"]
    if data is None:
        data, warnings = {}, ["empty or missing yaml metadata in repo card"]
    elif not isinstance(data, dict):
        data, errors = {}, ["The metadata must be an object"]
    licences = data.get("license", [])
    for licence in licences if isinstance(licences, list) else [licences]:
        if not re.fullmatch(r"[a-z][a-z0-9.-]+", str(licence)):  # the Hub has a list of them
            errors.append(f'"license" must be one of the known licences, not {licence!r}')
    if not isinstance(data.get("configs", []), list):
        errors.append('"configs" must be an array')
    found = {
        "errors": [{"message": error} for error in errors],
        "warnings": [{"message": warning} for warning in warnings],
    }
    if errors:
        raise Refusal(400, "Invalid metadata in README.md.", **found)
    return found


@lru_cache
def front_matter(card: str) -> object:
    """Return the YAML that a README.md starts with."""
    found = re.match(r"---\r?\n(.*?)\r?\n---", card, re.DOTALL)
    return yaml.load(found[1], getattr(yaml, "CSafeLoader", yaml.SafeLoader)) if found else None


@route("POST", "/api/datasets/{id}/preupload/{revision}", write=True)
def preupload(call: Call, repo: Repo, commit: Commit) -> object:
    files = []
    for path in [file["path"] for file in call.json["files"]]:
        old = commit.files.get(path)
        mode = "lfs" if path.endswith(".parquet") else "regular"
        file = {"path": path, "uploadMode": mode, "shouldIgnore": False}
        files.append(file | {"oid": old and old.etag})  # clients leave out what is the same
    return {"commitOid": commit.id, "files": files}


@route("POST", "/datasets/{id}.git/info/lfs/objects/batch", write=True)
def lfs_batch(call: Call, repo: Repo) -> object:
    objects, hub = [], call.hub
    for wanted in call.json["objects"]:
        objects.append({"oid": wanted["oid"], "size": wanted["size"]})
        if wanted["oid"] not in repo.lfs:
            permit = f"/lfs/{repo.id}/{wanted['oid']}"
            hub.permits.add(permit)
            verify = f"{hub.endpoint}/datasets/{repo.id}.git/info/lfs/objects/verify"
            actions = {"upload": {"href": hub.endpoint + permit}, "verify": {"href": verify}}
            objects[-1]["actions"] = actions
    return {"transfer": "basic", "objects": objects}


@route("PUT", "/lfs/{owner}/{name}/{oid}")
def lfs_upload(call: Call, owner: str, name: str, oid: str) -> object:
    if call.target not in call.hub.permits:  # the URL is the permit: clients send no token here
        raise Refusal(403, "Request has expired")
    if call.body.etag != oid:
        raise Refusal(400, "The sha256 you specified did not match what we received")
    call.hub.repos[f"{owner}/{name}"].lfs[oid] = call.body
    return {}


@route("POST", "/datasets/{id}.git/info/lfs/objects/verify", write=True)
def lfs_verify(call: Call, repo: Repo) -> object:
    blob = repo.lfs.get(call.json["oid"])
    if blob is None or blob.size != call.json["size"]:
        raise Refusal(404, "Object does not exist")
    return {}


@route("POST", "/api/datasets/{id}/commit/{branch}", write=True)
def commit(call: Call, repo: Repo, branch: str) -> object:
    header, *operations = map(json.loads, call.body.splitlines())
    about, head = header["value"], repo.branches.get(branch)
    if head is None:
        raise Refusal(404, f"Invalid rev id: {branch}", "RevisionNotFound")
    if not head.id.startswith(about.get("parentCommit", "")):
        raise Refusal(412, "A commit has happened since. Please refresh and try again.")
    if "create_pr" in call.query:
        raise Refusal(400, "There are no pull requests here")
    files = dict(head.files)
    for operation in operations:
        value = operation["value"]
        path = value["path"]
        if operation["key"] == "file":
            files[path] = Blob.in_git(base64.b64decode(value["content"]))
        elif operation["key"] == "lfsFile":
            if value["oid"] not in repo.lfs:
                raise Refusal(400, "LFS pointer pointed to a file that does not exist")
            files[path] = repo.lfs[value["oid"]]
        else:
            start = f"{path.rstrip('/')}/" if operation["key"] == "deletedFolder" else None
            gone = {name for name in files if name == path or (start and name.startswith(start))}
            if not gone:
                raise Refusal(404, "A file with this name doesn't exist", "EntryNotFound")
            files = {name: blob for name, blob in files.items() if name not in gone}
    new = Commit(head, files, call.user.name, about["summary"], about.get("description", ""))
    repo.branches[branch] = new  # even if nothing has changed: it is the clients that skip those
    url = f"{call.hub.endpoint}/datasets/{repo.id}/commit/{new.id}"
    return {"success": True, "commitOid": new.id, "commitUrl": url, "hookOutput": ""}


@route("POST", "/api/datasets/{id}/tag/{revision}", write=True)
def tag(call: Call, repo: Repo, commit: Commit) -> object:
    if call.json["tag"] in repo.tags:
        raise Refusal(409, "Tag reference exists already")
    repo.tags[call.json["tag"]] = commit
    return {}


@route("DELETE", "/api/datasets/{id}/tag/{tag}", write=True)
def delete_tag(call: Call, repo: Repo, tag: str) -> object:
    if repo.tags.pop(tag, None) is None:
        raise Refusal(404, f"Invalid rev id: {tag}", "RevisionNotFound")
    return {}
