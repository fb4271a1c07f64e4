"""The Hub of these tests is not more lenient than the Hub."""

import contextlib
import hashlib
import http.client
import json

import pytest
from hub import User

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
