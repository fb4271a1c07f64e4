"""The Hub of these tests, asked by the real clients, and compared with another one, olah."""

import contextlib
import hashlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from hub import Hub, User
from huggingface_hub import (
    CommitOperationAdd,
    CommitOperationDelete,
    HfApi,
    close_session,
    constants,
    get_hf_file_metadata,
    get_session,
    hf_hub_url,
)
from huggingface_hub.errors import (
    EntryNotFoundError,
    HfHubHTTPError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)
from huggingface_hub.lfs import UploadInfo, post_lfs_batch_info
from huggingface_hub.utils import _http

# huggingface_hub hands its LFS uploads to httpx under a name that is going away
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

HOME = Path(__file__).resolve().parent.parent
CASINO = {"repo_id": "org/casino", "repo_type": "dataset"}
PARQUET = "dialogues/train-00000-of-00001.parquet"
CUT_OFF = "disconnected|reset|closed|Broken pipe"


@pytest.fixture
def online(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """Let huggingface_hub ask in this process, and note its pauses instead of waiting."""
    pauses: list[float] = []
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(_http, "time", SimpleNamespace(sleep=pauses.append))
    yield pauses
    close_session()


@pytest.fixture
def folder(sample_build: Path) -> Path:
    return sample_build / "casino"


@pytest.fixture
def api(hub: Hub, folder: Path, online: list[float]) -> HfApi:
    """A client that may write to org, where casino is already."""
    hub.tokens["hf_ana"] = User("ana", orgs=("org",))
    hub.seed("org/casino", folder, tags=["v1.0.0"])
    return HfApi(endpoint=hub.endpoint, token="hf_ana")


def contents(folder: Path) -> dict[str, bytes]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def additions(folder: Path) -> list[CommitOperationAdd]:
    return [CommitOperationAdd(path, str(folder / path)) for path in contents(folder)]


def status(caught: pytest.ExceptionInfo[HfHubHTTPError]) -> int:
    return caught.value.response.status_code


def commit_note(api: HfApi, **more: str) -> None:
    note = CommitOperationAdd("note.txt", b"note")
    api.create_commit(**CASINO, operations=[note], commit_message="Add a note", **more)


# What it holds


def test_a_seeded_folder(hub, folder):
    hub.seed("org/casino", folder, tags=["v1.0.0", "v1"])
    assert hub.files("org/casino") == hub.files("org/casino", "v1") == contents(folder)
    (head,) = hub.commits("org/casino")
    assert hub.tags("org/casino") == {"v1.0.0": head, "v1": head}
    hub.seed("org/casino", folder / "dialogues")
    assert list(hub.files("org/casino")) == [Path(PARQUET).name]
    assert hub.files("org/casino", head[:8]) == contents(folder)
    assert hub.commits("org/casino")[:-1] == [head]


def test_ids_are_reproducible(hub, folder):
    hub.seed("org/casino", folder)
    with Hub() as other:
        other.seed("org/casino", folder)
        assert other.commits("org/casino") == hub.commits("org/casino")


# Publishing


def test_create_repo(hub, api):
    api.create_repo("org/new", repo_type="dataset", private=True)
    assert hub.repos["org/new"].private
    assert list(hub.files("org/new")) == [".gitattributes"]  # as on the Hub, never quite empty
    url = api.create_repo("org/new", repo_type="dataset", exist_ok=True)
    assert (url.repo_id, url.repo_type) == ("org/new", "dataset")
    with pytest.raises(HfHubHTTPError, match="already created this dataset") as caught:
        api.create_repo("org/new", repo_type="dataset")
    assert status(caught) == 409
    assert api.create_repo("mine", repo_type="dataset").repo_id == "ana/mine"
    api.update_repo_settings("org/new", repo_type="dataset", private=False)
    assert not hub.repos["org/new"].private
    api.delete_repo("org/new", repo_type="dataset")
    assert not api.repo_exists("org/new", repo_type="dataset")


def test_who_may_write(hub, api, folder):
    hub.tokens["hf_reader"] = User("reader", orgs=("org",), role="read")
    hub.tokens["hf_other"] = User("other")
    assert api.whoami()["orgs"][0]["name"] == "org"
    for token in ("hf_reader", "hf_other"):
        api = HfApi(endpoint=hub.endpoint, token=token)
        assert api.whoami()["name"] in ("reader", "other")
        for write in (
            lambda api=api: api.create_repo("org/new", repo_type="dataset"),
            lambda api=api: commit_note(api),
            lambda api=api: api.create_tag(**CASINO, tag="v2"),
            lambda api=api: api.delete_repo(**CASINO),
        ):
            with pytest.raises(HfHubHTTPError, match=r"rights|Authorization") as caught:
                write()
            assert status(caught) == 403
    with pytest.raises(HfHubHTTPError, match="Invalid username") as caught:
        commit_note(HfApi(endpoint=hub.endpoint, token=False))
    assert status(caught) == 401
    with pytest.raises(HfHubHTTPError, match="Invalid user token") as caught:
        HfApi(endpoint=hub.endpoint, token="hf_wrong").whoami()
    assert status(caught) == 401
    assert hub.files("org/casino") == contents(folder)
    assert list(hub.repos) == ["org/casino"]


def test_upload_and_upload_again(hub, api, folder):
    api.create_repo("org/new", repo_type="dataset")
    (first,) = hub.commits("org/new")
    new = {"repo_id": "org/new", "repo_type": "dataset", "commit_message": "Add"}
    info = api.create_commit(**new, operations=additions(folder), parent_commit=first)
    assert hub.commits("org/new") == [first, info.oid]
    files = hub.files("org/new")
    assert files.pop(".gitattributes")
    assert files == contents(folder)
    sent = [path for method, path, _ in hub.log if method == "PUT"]
    parquet = [data for path, data in contents(folder).items() if path.endswith(".parquet")]
    assert sorted(sent) == sorted(f"/lfs/org/new/{sha256(data)}" for data in parquet)

    start = len(hub.log)
    assert api.create_commit(**new, operations=additions(folder)).oid == info.oid
    assert hub.commits("org/new") == [first, info.oid]
    assert not [path for _, path, _ in hub.log[start:] if "/commit/" in path]


def test_lfs_takes_what_was_agreed_on(hub, api, folder):
    data = (folder / PARQUET).read_bytes()
    path = f"/lfs/org/casino/{sha256(b'agreed')}"
    assert ask(hub, "PUT", path, b"agreed").status == 403
    for oid, size, known in [(sha256(b"agreed"), 6, False), (sha256(data), len(data), True)]:
        (upload,), errors, _ = post_lfs_batch_info(
            [UploadInfo(size, b"", bytes.fromhex(oid))], "hf_ana", endpoint=hub.endpoint, **CASINO
        )
        assert ("actions" in upload, errors) == (not known, [])
    assert ask(hub, "PUT", path, b"something else").status == 400
    verify = "/datasets/org/casino.git/info/lfs/objects/verify"
    body, token = f'{{"oid": "{sha256(b"agreed")}", "size": 6}}'.encode(), "Bearer hf_ana"
    assert ask(hub, "POST", verify, body, Authorization=token).status == 404
    assert ask(hub, "PUT", path, b"agreed").status == 200
    assert ask(hub, "POST", verify, body, Authorization=token).status == 200


def test_a_commit_of_what_lfs_has_not(hub, api):
    lines = [
        {"key": "header", "value": {"summary": "Trust me"}},
        {"key": "lfsFile", "value": {"path": "a.parquet", "oid": "0" * 64, "size": 1}},
    ]
    body = "\n".join(map(json.dumps, lines)).encode()
    commit = "/api/datasets/org/casino/commit/main"
    answer = ask(hub, "POST", commit, body, Authorization="Bearer hf_ana")
    assert (answer.status, len(hub.commits("org/casino"))) == (400, 1)


def test_upload_folder_deletes_what_is_gone(hub, api, folder):
    api.upload_folder(
        **CASINO, folder_path=folder / "messages", delete_patterns="*", path_in_repo="messages"
    )
    api.upload_folder(**CASINO, folder_path=folder, allow_patterns="READ*", delete_patterns="*")
    assert list(hub.files("org/casino")) == ["README.md"]


def test_delete_files(hub, api, folder):
    gone = [CommitOperationDelete("provenance.json"), CommitOperationDelete("dialogues/")]
    api.create_commit(**CASINO, operations=gone, commit_message="Delete", commit_description="Two")
    left = {path for path in contents(folder) if not path.startswith(("provenance", "dialogues"))}
    assert set(hub.files("org/casino")) == left
    with pytest.raises(EntryNotFoundError, match="A file with this name doesn't exist"):
        api.create_commit(**CASINO, operations=gone, commit_message="Delete them again")
    assert [commit.title for commit in api.list_repo_commits(**CASINO)] == ["Delete", "Seed"]


def test_a_commit_on_a_stale_parent(hub, api):
    (head,) = hub.commits("org/casino")
    other = hub.push("org/casino", {"other.txt": b"first"})
    with pytest.raises(HfHubHTTPError, match="A commit has happened since") as caught:
        commit_note(api, parent_commit=head)
    assert status(caught) == 412
    commit_note(api, parent_commit=other)
    assert hub.commits("org/casino")[:2] == [head, other]
    with pytest.raises(RevisionNotFoundError):
        commit_note(api, revision="no-branch")


def test_a_card_that_is_not_valid(hub, api):
    for card, match in [
        (b"---\nlicense: [mit, 'my own']\nconfigs: {}\n---\n", '(?s)"license".*"configs"'),
        (b"---\na: [\n---\n", "YAML"),
        (b"---\n- a\n---\n", "object"),
    ]:
        change = CommitOperationAdd("README.md", card)
        with pytest.raises(ValueError, match=match):
            api.create_commit(**CASINO, operations=[change], commit_message="Spoil the card")
    change = CommitOperationAdd("README.md", b"# Casino\n")
    with pytest.warns(UserWarning, match="empty or missing yaml metadata"):
        api.create_commit(**CASINO, operations=[change], commit_message="Bare card")


def test_tags(hub, api):
    (head,) = hub.commits("org/casino")
    commit_note(api)
    api.create_tag(**CASINO, tag="v1.1.0", tag_message="With a note")
    api.create_tag(**CASINO, tag="v1.1.0", exist_ok=True)
    with pytest.raises(HfHubHTTPError, match="exists already") as caught:
        api.create_tag(**CASINO, tag="v1.1.0", revision=head)
    assert status(caught) == 409
    api.create_tag(**CASINO, tag="old", revision=head)
    tags = {tag.name: tag.target_commit for tag in api.list_repo_refs(**CASINO).tags}
    assert tags == hub.tags("org/casino")
    assert tags == {"v1.0.0": head, "v1.1.0": hub.commits("org/casino")[1], "old": head}
    api.delete_tag(**CASINO, tag="old")
    for call in (api.delete_tag, lambda **more: api.create_tag(**more, revision="old")):
        with pytest.raises(RevisionNotFoundError):
            call(**CASINO, tag="old")


# Reading


def test_private(hub, api, folder, tmp_path):
    hub.seed("org/secret", folder, private=True)
    hub.tokens["hf_other"] = User("other")
    secret = {"repo_id": "org/secret", "repo_type": "dataset"}
    assert api.dataset_info("org/secret").private
    assert Path(api.hf_hub_download(**secret, filename="README.md", cache_dir=tmp_path)).exists()
    for token, expected in [(False, 401), ("hf_other", 404)]:
        stranger = HfApi(endpoint=hub.endpoint, token=token)
        for repo_id in ("org/secret", "org/missing"):  # nothing tells the one from the other
            with pytest.raises(RepositoryNotFoundError) as caught:
                stranger.dataset_info(repo_id)
            assert status(caught) == expected
    assert HfApi(endpoint=hub.endpoint, token=False).dataset_info("org/casino").sha


def test_what_there_is_not(hub, api, tmp_path):
    with pytest.raises(RevisionNotFoundError, match="Invalid rev id: v9"):
        api.dataset_info("org/casino", revision="v9")
    with pytest.raises(EntryNotFoundError):
        list(api.list_repo_tree(**CASINO, path_in_repo="v9"))
    with pytest.raises(EntryNotFoundError) as caught:
        api.hf_hub_download(**CASINO, filename="casino.py", cache_dir=tmp_path)
    assert caught.value.response.headers["X-Repo-Commit"] == hub.commits("org/casino")[0]
    assert not api.file_exists(**CASINO, filename="dialogues")


def test_listings(hub, api, folder):
    commit_note(api)
    first, second = hub.commits("org/casino")
    tree = {entry.path: entry for entry in api.list_repo_tree(**CASINO, recursive=True)}
    expected = contents(folder) | {"note.txt": b"note"}
    assert [path for path in tree if hasattr(tree[path], "size")] == sorted(expected)
    lfs = tree[PARQUET].lfs
    assert (lfs.sha256, lfs.size) == (sha256(expected[PARQUET]), len(expected[PARQUET]))
    assert tree["README.md"].lfs is None
    top = [entry.path for entry in api.list_repo_tree(**CASINO, expand=True)]
    assert top == sorted({path.split("/")[0] for path in expected})
    info = api.get_paths_info(
        **CASINO, paths=["note.txt", "dialogues", "missing", PARQUET], expand=True
    )
    assert [entry.path for entry in info] == ["note.txt", "dialogues", PARQUET]
    assert [entry.last_commit.oid for entry in info] == [second, first, first]
    files = api.dataset_info("org/casino", files_metadata=True).siblings
    assert {file.rfilename: file.size for file in files} == {k: len(v) for k, v in expected.items()}
    assert api.dataset_info("org/casino").card_data.license == "cc-by-4.0"
    assert api.list_repo_files(**CASINO, revision="v1.0.0") == sorted(contents(folder))


LOAD = """
import sys
from datasets import load_dataset
from datasets.exceptions import DatasetNotFoundError
for options in {}, {"streaming": True}, {"revision": "v1.0.0"}, {"name": "messages"}:
    rows = load_dataset("org/casino", split="train", token=False, **options)
    assert len(list(rows)) == (10 if "name" in options else 5), options
try:
    load_dataset("org/secret", split="train", token=False)
except DatasetNotFoundError:
    assert load_dataset("org/secret", split="train").num_rows == 5
    print("all is well")
"""


def test_load_dataset(hub, folder, tmp_path):
    hub.tokens["hf_ana"] = User("ana", orgs=("org",))
    hub.seed("org/casino", folder, tags=["v1.0.0"])
    hub.push("org/casino", {"README.md": (folder / "README.md").read_bytes() + b"\nNew.\n"})
    hub.seed("org/secret", folder, private=True)
    result = subprocess.run(
        [sys.executable, "-c", LOAD],
        env=hub.environ(tmp_path, token="hf_ana"),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.stdout == "all is well\n", result.stderr
    assert {status for _, _, status in hub.log} <= {200, 206, 401, 404}


def ask(
    hub: Hub, method: str, path: str, body: bytes = b"", **headers: str
) -> http.client.HTTPResponse:
    """Send one request as it is; the answer has been read."""
    connection = http.client.HTTPConnection(hub.endpoint.removeprefix("http://"), timeout=10)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        answer.content = answer.read()
    finally:
        connection.close()
    return answer


@pytest.mark.parametrize("path", [PARQUET, "README.md"])
def test_ranges(hub, folder, path):
    hub.seed("org/casino", folder)
    data, url = (folder / path).read_bytes(), f"/datasets/org/casino/resolve/main/{path}"
    size = len(data)
    for wanted, start, end in [
        ("0-3", 0, 4),
        ("10-", 10, size),
        ("-8", size - 8, size),
        (f"{size - 1}-{size + 9}", size - 1, size),
        (f"-{size + 9}", 0, size),
    ]:
        answer = ask(hub, "GET", url, Range=f"bytes={wanted}")
        assert (answer.status, answer.content) == (206, data[start:end])
        assert answer.headers["Content-Range"] == f"bytes {start}-{end - 1}/{size}"
    for wanted in (f"{size}-", "-0"):
        answer = ask(hub, "GET", url, Range=f"bytes={wanted}")
        assert (answer.status, answer.content) == (416, b"")
        assert answer.headers["Content-Range"] == f"bytes */{size}"
    for wanted in ("lines=0-3", "bytes=0-3,6-9"):  # may be ignored, and is
        answer = ask(hub, "GET", url, Range=wanted)
        assert (answer.status, answer.content) == (200, data)
    answer = ask(hub, "HEAD", url)
    assert (answer.content, answer.headers["Content-Length"]) == (b"", str(size))
    assert answer.headers["Accept-Ranges"] == "bytes"


def test_a_connection_is_kept_and_chunks_are_read(hub):
    connection = http.client.HTTPConnection(hub.endpoint.removeprefix("http://"), timeout=10)
    for _ in range(2):
        body = (block for block in (b'{"content": ', b'"---\\na: 1\\n---\\n"}'))
        connection.request("POST", "/api/validate-yaml", body, encode_chunked=True)
        first = connection.sock
        assert connection.getresponse().read() == b'{"errors": [], "warnings": []}'
        assert connection.sock is first
    connection.close()


# Faults, as clients see them


def test_a_status_is_seen(hub, api):
    for how in (403, 500):
        hub.fail("POST", "/commit/", how)
        with pytest.raises(HfHubHTTPError) as caught:
            commit_note(api)
        assert status(caught) == how
    assert len(hub.commits("org/casino")) == 1
    commit_note(api)
    assert len(hub.commits("org/casino")) == 2


def test_too_many_requests_are_repeated(hub, api, online):
    hub.fail("POST", "/preupload/", 429, times=2)
    commit_note(api)
    statuses = [status for _, path, status in hub.log if "/preupload/" in path]
    assert statuses == [429, 429, 200]
    assert online == [1, 1]  # of Retry-After: 0 huggingface_hub makes a second


def test_a_fault_after_some(hub, api):
    hub.fail("GET", "/revision/", 500, skip=1, times=2)
    seen = [ask(hub, "GET", "/api/datasets/org/casino/revision/main").status for _ in range(5)]
    assert seen == [200, 500, 500, 200, 200]
    assert [status for _, _, status in hub.log] == seen
    with pytest.raises(ValueError, match="dorp"):
        hub.fail("*", "", "dorp")


def test_a_dropped_commit_is_not_made(hub, api):
    hub.fail("POST", "/commit/", "drop")
    with pytest.raises(Exception, match=CUT_OFF):
        commit_note(api)
    assert len(hub.commits("org/casino")) == 1
    assert hub.log[-1] == ("POST", "/api/datasets/org/casino/commit/main", 0)


def test_a_commit_may_be_made_and_never_answered(hub, api):
    hub.fail("POST", "/commit/", "drop-after")
    with pytest.raises(Exception, match=CUT_OFF):
        commit_note(api)
    assert hub.files("org/casino")["note.txt"] == b"note"
    assert hub.log[-1] == ("POST", "/api/datasets/org/casino/commit/main", 200)


@pytest.mark.parametrize("how", [500, "drop", "drop-after"])
def test_an_upload_to_lfs_is_repeated(hub, api, how):
    hub.fail("PUT", "/lfs/", how)
    data = b"PAR1" + bytes(3_000_000) + b"PAR1"
    api.upload_file(**CASINO, path_in_repo="a.parquet", path_or_fileobj=data)
    assert hub.files("org/casino")["a.parquet"] == data
    assert [status for method, _, status in hub.log if method == "PUT"][-1] == 200


def test_a_truncated_download_is_resumed(hub, api, folder, tmp_path, monkeypatch):
    monkeypatch.setattr("huggingface_hub.file_download.time", SimpleNamespace(sleep=lambda _: None))
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 1000)
    hub.fail("GET", PARQUET, "truncate")
    path = api.hf_hub_download(**CASINO, filename=PARQUET, cache_dir=tmp_path)
    assert Path(path).read_bytes() == (folder / PARQUET).read_bytes()
    statuses = [status for method, path, status in hub.log if method == "GET" and PARQUET in path]
    assert statuses == [200, 206]


def test_somebody_else_commits_first(hub, api):
    hub.fail("POST", "/commit/", "stale")
    (head,) = hub.commits("org/casino")
    with pytest.raises(HfHubHTTPError, match="A commit has happened since"):
        commit_note(api, parent_commit=head)
    assert hub.files("org/casino")["other.txt"] == b"first!\n"
    assert "note.txt" not in hub.files("org/casino")


def test_slow(hub, api):
    hub.fail("GET", "/revision/", "slow")
    hub.pause = 0.3
    start = time.perf_counter()
    api.dataset_info("org/casino", revision="main")
    assert time.perf_counter() - start > 0.3


@pytest.mark.parametrize(("done", "made"), [(False, 0), (True, 1)])
def test_cut_at_each_request(hub, api, done, made):
    commit_note(api)
    requests, commits = len(hub.log), len(hub.commits("org/casino"))
    hub.cut_at(1, done)
    with pytest.raises(Exception, match=CUT_OFF):
        api.dataset_info("org/casino")
    api.dataset_info("org/casino")
    assert requests >= 2  # preupload, which is repeated, and commit, which is not
    hub.cut_at(2, done, forever=True)
    change = CommitOperationAdd("note.txt", b"another")
    with pytest.raises(Exception, match=CUT_OFF):
        api.create_commit(**CASINO, operations=[change], commit_message="Change the note")
    assert len(hub.commits("org/casino")) == commits + made
    with pytest.raises(Exception, match=CUT_OFF):
        api.dataset_info("org/casino")


# Its life


def test_closing_ends_what_is_open(folder):
    with Hub() as hub:
        hub.seed("org/casino", folder)
        hub.pause = 60
        idle = socket.create_connection(hub._server.server_address)
        hub.fail("GET", "slow", "slow")
        waiting = socket.create_connection(hub._server.server_address)
        waiting.sendall(b"GET /slow HTTP/1.1\r\nHost: hub\r\n\r\n")
        half = socket.create_connection(hub._server.server_address)
        half.sendall(b"POST /api/validate-yaml HTTP/1.1\r\nContent-Length: 9\r\n\r\nhalf")
        while len(hub._server.connections) < 3:
            time.sleep(0.01)
        files, start = Path(hub._folder.name), time.perf_counter()
    assert time.perf_counter() - start < 1
    assert not [thread for thread in threading.enumerate() if "process_request" in thread.name]
    assert not files.exists()
    for connection in (idle, waiting, half):
        connection.close()


def test_the_command(sample_build, tmp_path):
    process = subprocess.Popen(
        [sys.executable, HOME / "tests/hub.py", "org", sample_build],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    with process:
        endpoint = process.stdout.readline().strip()
        hub = SimpleNamespace(endpoint=endpoint)
        for name in ("casino", "cosrec", "craigslist_bargains", "duo"):
            assert ask(hub, "GET", f"/api/datasets/org/{name}/revision/v1.0.0").status == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
    assert not list(tmp_path.iterdir())


# Another Hub: olah serves a git repository as one, for reading


@pytest.fixture(scope="module")
def both(sample_build: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
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


def git_repository(folder: Path, target: Path) -> None:
    """Make a git repository of a folder, with Parquet in LFS: the commit that `seed` makes."""
    for path, data in contents(folder).items():
        if path.endswith(".parquet"):
            oid = sha256(data)
            put(target / ".git/lfs/objects" / oid[:2] / oid[2:4] / oid, data)
            version = "version https://git-lfs.github.com/spec/v1"
            data = f"{version}\noid sha256:{oid}\nsize {len(data)}\n".encode()
        put(target / path, data)
    who = {"NAME": "seed", "EMAIL": "seed@localhost", "DATE": "2026-01-01T00:00:00+0000"}
    environ = {f"GIT_{role}_{k}": v for role in ("AUTHOR", "COMMITTER") for k, v in who.items()}
    environ |= {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull}
    for command in ("init --initial-branch=main", "add .", "commit -m Seed", "tag v1.0.0"):
        arguments = ["git", "-C", target, *command.split()]
        subprocess.run(arguments, check=True, env=environ, capture_output=True)


def put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def info(api: HfApi, revision: str) -> object:
    found = api.dataset_info("org/casino", revision=revision)
    files = sorted(file.rfilename for file in found.siblings)
    about = (found.id, found.sha, found.author, found.private, found.gated, found.disabled)
    return about, files, found.card_data.to_dict(), found.last_modified, found.created_at


def tree(api: HfApi, revision: str = "main", path: str | None = None, **more: bool) -> object:
    found = api.list_repo_tree(**CASINO, path_in_repo=path, revision=revision, **more)
    return sorted(found, key=lambda entry: entry.path)


def file(api: HfApi, path: str, revision: str) -> object:
    url = hf_hub_url(**CASINO, filename=path, revision=revision, endpoint=api.endpoint)
    found = get_hf_file_metadata(url)
    return found.commit_hash, found.etag, found.size, get_session().get(url).content


def refusal(api: HfApi) -> object:
    with pytest.raises(RepositoryNotFoundError) as caught:
        api.dataset_info("org/missing", revision="main")
    return status(caught)


ALIKE = {
    "info of a branch": lambda api, sha: info(api, "main"),
    "info of a tag": lambda api, sha: info(api, "v1.0.0"),
    "info of a commit": lambda api, sha: info(api, sha),
    "info of a commit, in short": lambda api, sha: info(api, sha[:7]),
    "no such repository": lambda api, sha: refusal(api),
    "refs": lambda api, sha: api.list_repo_refs(**CASINO, include_pull_requests=True),
    "root": lambda api, sha: tree(api),
    "whole tree": lambda api, sha: tree(api, sha, recursive=True),
    "folder": lambda api, sha: tree(api, "v1.0.0", "dialogues"),
    "some paths": lambda api, sha: api.get_paths_info(
        **CASINO, paths=["README.md", "dialogues", "missing", PARQUET], revision=sha
    ),
    "file in git": lambda api, sha: file(api, "README.md", "main"),
    "file in LFS": lambda api, sha: file(api, PARQUET, "v1.0.0"),
    "file of a commit": lambda api, sha: file(api, PARQUET, sha),
}


@pytest.mark.parametrize("question", ALIKE)
def test_answers_like_olah(both, online, question):
    apis = [HfApi(endpoint=endpoint, token=False) for endpoint in both]
    sha = apis[0].list_repo_refs(**CASINO).branches[0].target_commit
    ours, theirs = [ALIKE[question](api, sha) for api in apis]
    assert ours == theirs


REPO, FILES = "/api/datasets/org/casino", "/datasets/org/casino/resolve/main"
UNLIKE = {
    # request, Range: what the Hub answers, what olah answers, why the Hub's is right
    ("GET", REPO, ""): ((200, None), (401, "RepoNotFound")),
    # olah without a network knows no newest commit; clients ask for one when given no revision
    ("GET", f"{FILES}/{PARQUET}", "bytes=-8"): ((206, None), (200, None)),
    # olah knows no Range in local repositories; HfFileSystem relies on it
    ("HEAD", f"{FILES}/casino.py", ""): ((404, "EntryNotFound"), (401, "RepoNotFound")),
    ("GET", f"{FILES}/casino.py", ""): ((404, "EntryNotFound"), (500, None)),
    ("GET", f"{REPO}/tree/main/missing", ""): ((404, "EntryNotFound"), (401, "RepoNotFound")),
    ("GET", f"{REPO}/revision/v9", ""): ((404, "RevisionNotFound"), (401, "RepoNotFound")),
    # what is not in a local repository olah looks for at huggingface.co, which is out of reach;
    # clients tell the three apart, and datasets goes on after an EntryNotFound only
    ("HEAD", f"{FILES}/dialogues", ""): ((404, "EntryNotFound"), (200, None)),
    # a folder has no content to resolve to; olah gives the size of git's object
}


@pytest.mark.parametrize("request_", UNLIKE, ids=lambda request: " ".join(request[:2]))
def test_answers_unlike_olah(both, request_):
    method, path, wanted = request_
    for endpoint, expected in zip(both, UNLIKE[request_], strict=True):
        answer = ask(SimpleNamespace(endpoint=endpoint), method, path, Range=wanted)
        assert (answer.status, answer.headers["X-Error-Code"]) == expected


def test_headers_unlike_olah(both):
    # olah's are enough for huggingface_hub, which strips quotes and takes the ETag for lack of
    # X-Linked-Etag; that its GET has no length and no X-Repo-Commit is against what the Hub does
    ours, theirs = [
        ask(SimpleNamespace(endpoint=endpoint), "HEAD", f"{FILES}/{PARQUET}") for endpoint in both
    ]
    assert ours.headers["ETag"] == ours.headers["X-Linked-Etag"] == f'"{theirs.headers["ETag"]}"'
    assert ours.headers["X-Linked-Size"] == theirs.headers["Content-Length"]
    ours, theirs = [
        ask(SimpleNamespace(endpoint=endpoint), "GET", f"{FILES}/README.md") for endpoint in both
    ]
    assert ours.content == theirs.content
    assert {"Content-Length", "X-Repo-Commit", "ETag", "Accept-Ranges"} <= set(ours.headers)
    assert not {"Content-Length", "X-Repo-Commit", "ETag", "Accept-Ranges"} & set(theirs.headers)


def test_commits_unlike_olah(both, online):
    ours, theirs = [HfApi(endpoint=endpoint, token=False) for endpoint in both]
    assert [commit.authors for commit in ours.list_repo_commits(**CASINO)] == [["seed"]]
    with pytest.raises(KeyError, match="user"):  # olah calls it "name", the clients do not
        theirs.list_repo_commits(**CASINO)
