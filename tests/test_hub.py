"""The Hub of these tests answers as another one, olah, and is not more lenient than the Hub."""

import contextlib
import hashlib
import http.client
import json
import os
import socket
import subprocess
import time
from pathlib import Path

import pytest
from hub import Hub, User, contents
from huggingface_hub import HfApi, constants, get_hf_file_metadata, get_session, hf_hub_url
from huggingface_hub.errors import RepositoryNotFoundError

HOME = Path(__file__).resolve().parent.parent
CASINO = {"repo_id": "org/casino", "repo_type": "dataset"}
PARQUET = "dialogues/train-00000-of-00001.parquet"
API, FILES = "/api/datasets/org/casino", "/datasets/org/casino/resolve"


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def ask(endpoint, method, path, body=b"", **headers):
    """Send one request as it is, and return its status, error code and body."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection = http.client.HTTPConnection(endpoint.removeprefix("http://"), timeout=10)
    with contextlib.closing(connection):
        connection.request(method, path, data, headers)
        answer = connection.getresponse()
        return answer.status, answer.headers["X-Error-Code"], answer.read()


# What it refuses ----------------------------------------------------------------------------

COMMIT = {"key": "header", "value": {"summary": "x"}}
UNKNOWN = {"key": "lfsFile", "value": {"path": "a.parquet", "oid": "0" * 64, "size": 1}}
GONE = {"key": "deletedFile", "value": {"path": "gone"}}
STALE = {"key": "header", "value": {"summary": "x", "parentCommit": "0" * 40}}
NEW = {"name": "new", "organization": "org", "type": "dataset"}
AGREED = sha256(b"agreed")
BATCH = "/datasets/org/casino.git/info/lfs/objects/batch"


@pytest.mark.parametrize(
    ("token", "method", "path", "body", "status", "code"),
    [
        ("hf_wrong", "GET", API, b"", 401, ""),
        ("", "GET", "/api/datasets/org/secret", b"", 401, "RepoNotFound"),
        ("hf_eve", "GET", "/api/datasets/org/secret", b"", 404, "RepoNotFound"),
        ("hf_eve", "GET", "/api/datasets/org/missing", b"", 404, "RepoNotFound"),
        ("", "GET", "/api/whoami-v2", b"", 401, ""),
        ("", "GET", f"{API}/revision/v9", b"", 404, "RevisionNotFound"),
        ("", "GET", f"{API}/tree/main/missing", b"", 404, "EntryNotFound"),
        ("", "GET", f"{FILES}/main/casino.py", b"", 404, "EntryNotFound"),
        ("", "HEAD", f"{FILES}/main/dialogues", b"", 404, "EntryNotFound"),
        ("", "POST", "/api/repos/create", NEW, 401, ""),
        ("hf_eve", "POST", "/api/repos/create", NEW, 403, ""),
        ("hf_reads", "POST", "/api/repos/create", NEW, 403, ""),
        ("hf_ana", "POST", "/api/repos/create", NEW | {"name": "casino"}, 409, None),
        ("", "POST", f"{API}/commit/main", [COMMIT], 401, ""),
        ("hf_eve", "POST", f"{API}/commit/main", [COMMIT], 403, ""),
        ("hf_reads", "POST", f"{API}/commit/main", [COMMIT], 403, ""),
        ("hf_ana", "POST", f"{API}/commit/main", [STALE], 412, ""),
        ("hf_ana", "POST", f"{API}/commit/main", [COMMIT, UNKNOWN], 400, ""),
        ("hf_ana", "POST", f"{API}/commit/main", [COMMIT, GONE], 404, "EntryNotFound"),
        ("hf_eve", "POST", BATCH, {"objects": []}, 403, ""),
        ("hf_eve", "POST", f"{API}/preupload/main", {"files": []}, 403, ""),
        ("", "PUT", f"/lfs/org/casino/{AGREED}", b"agreed", 403, ""),
        ("hf_eve", "POST", f"{API}/tag/main", {"tag": "v2"}, 403, ""),
        ("hf_ana", "POST", f"{API}/tag/v9", {"tag": "v2"}, 404, "RevisionNotFound"),
        ("hf_ana", "POST", f"{API}/tag/main", {"tag": "v1.0.0"}, 409, ""),
    ],
)
def test_what_the_hub_refuses(hub, sample_build, token, method, path, body, status, code):
    hub.tokens |= {"hf_ana": User("ana", ("org",)), "hf_eve": User("eve")}
    hub.tokens["hf_reads"] = User("ben", ("org",), role="read")
    hub.seed("org/casino", sample_build / "casino", tags=["v1.0.0"])
    hub.seed("org/secret", sample_build / "casino", private=True)
    before = hub.commits("org/casino"), hub.tags("org/casino"), list(hub.repos)
    if isinstance(body, list):
        body = "\n".join(map(json.dumps, body)).encode()
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    assert ask(hub.endpoint, method, path, body, **headers)[:2] == (status, code)
    assert (hub.commits("org/casino"), hub.tags("org/casino"), list(hub.repos)) == before


# What it answers: olah serves a git repository as a Hub, for reading ----------------------------


@pytest.fixture(scope="module")
def both(sample_build, tmp_path_factory):
    """The endpoints of our Hub and of olah, which have the same casino with a tag."""
    command = HOME / ".olah/bin/olah-cli"
    if not command.exists():
        pytest.skip("olah is not there to compare with: make .olah/ready")
    folder = tmp_path_factory.mktemp("olah")
    git_repository(sample_build / "casino", folder / "mirrors/datasets/org/casino")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    config = folder / "olah.toml"
    config.write_text(
        f'[basic]\nhost = "127.0.0.1"\nport = {port}\nrepos-path = "{folder}/repos"\n'
        f'mirrors-path = ["{folder}/mirrors"]\n[accessibility]\noffline = true\n'
    )
    with (folder / "log").open("w") as log, Hub() as hub:
        hub.seed("org/casino", sample_build / "casino", tags=["v1.0.0"])
        olah = subprocess.Popen(
            [command, "--config", config, "--log-path", folder], cwd=folder, stdout=log, stderr=log
        )
        try:
            deadline = time.monotonic() + 60
            while olah.poll() is None and time.monotonic() < deadline:
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.1)
            yield [hub.endpoint, f"http://127.0.0.1:{port}"]
        finally:
            olah.kill()
            olah.wait()


def git_repository(folder, target):
    """Make a git repository of a folder, with Parquet in LFS."""

    def put(path, data):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    for path, data in contents(folder).items():
        if path.endswith(".parquet"):
            oid = sha256(data)
            put(target / ".git/lfs/objects" / oid[:2] / oid[2:4] / oid, data)
            version = "version https://git-lfs.github.com/spec/v1"
            data = f"{version}\noid sha256:{oid}\nsize {len(data)}\n".encode()
        put(target / path, data)
    environ = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull}
    for role in ("AUTHOR", "COMMITTER"):
        environ |= {f"GIT_{role}_NAME": "seed", f"GIT_{role}_EMAIL": "seed@localhost"}
    for command in ("init --initial-branch=main", "add .", "commit -m Seed", "tag v1.0.0"):
        arguments = ["git", "-C", target, *command.split()]
        subprocess.run(arguments, check=True, env=environ, capture_output=True)


def info(api, revision):
    found = api.dataset_info("org/casino", revision=revision)
    return found.id, found.private, sorted(file.rfilename for file in found.siblings)


def listed(entries):
    """Return what there is of each entry but its commit; git's id of a folder is left out too."""
    of_files = ("path", "size", "blob_id", "lfs")
    return sorted([getattr(entry, name, None) for name in of_files] for entry in entries)


def tree(api, revision, path=None, **more):
    return listed(api.list_repo_tree(**CASINO, path_in_repo=path, revision=revision, **more))


def refs(api):
    found = api.list_repo_refs(**CASINO)
    named = found.branches + found.tags
    assert len({ref.target_commit for ref in named}) == 1
    return [(ref.name, ref.ref) for ref in named], found.converts


def file(api, path, revision):
    url = hf_hub_url(**CASINO, filename=path, revision=revision, endpoint=api.endpoint)
    found = get_hf_file_metadata(url)
    assert found.commit_hash == api.list_repo_refs(**CASINO).tags[0].target_commit
    return found.etag, found.size, get_session().get(url).content


def refusal(api):
    with pytest.raises(RepositoryNotFoundError) as caught:
        api.dataset_info("org/missing", revision="main")
    return caught.value.response.status_code


SOME = ["README.md", "dialogues", "missing", PARQUET]
ALIKE = {
    "info of a branch": lambda api: info(api, "main"),
    "info of a tag": lambda api: info(api, "v1.0.0"),
    "no such repository": refusal,
    "refs": refs,
    "root": lambda api: tree(api, "main"),
    "whole tree": lambda api: tree(api, "v1.0.0", recursive=True),
    "folder": lambda api: tree(api, "v1.0.0", "dialogues"),
    "some paths": lambda api: listed(api.get_paths_info(**CASINO, paths=SOME, revision="main")),
    "file in git": lambda api: file(api, "README.md", "main"),
    "file in LFS": lambda api: file(api, PARQUET, "v1.0.0"),
}


@pytest.mark.parametrize("question", ALIKE)
def test_answers_like_olah(both, monkeypatch, question):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    ours, theirs = [ALIKE[question](HfApi(endpoint=endpoint, token=False)) for endpoint in both]
    assert ours == theirs
