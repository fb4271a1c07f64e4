"""Fetching, against a real server that misbehaves in every way we know of."""

import errno
import gzip
import os
import random
import re
import resource
import shutil
import socket
import ssl
import stat
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from server import BODY, QUICK, Page, Server, archive, blob, pinned

from parley.base.errors import FetchError, SourceError, UsageError
from parley.building.sources import open_source
from parley.declaring import pins
from parley.declaring.pins import git_tree, problem, taken, whence
from parley.fetching.fetch import cache_folder, fetch

OTHER = random.Random(8).randbytes(150_000)  # what a mirror has in its place
WRONG = b"?" + BODY[1:]
NOBODY = "http://127.0.0.1:1/x"  # where nobody listens


def files(folder):
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


def run(cache, sources, on_progress=lambda *step: None, **more):
    return fetch("talks", sources, cache, on_progress=on_progress, patience=QUICK, **more)


def failure(cache, sources, on_progress=lambda *step: None):
    with pytest.raises(FetchError, match=r"^talks could not be fetched:") as caught:
        run(cache, sources, on_progress)
    return caught.value


@pytest.fixture
def steps():
    """What a fetch said of its progress, when called with its `append`."""

    class Steps(list):
        def append(self, *step):
            super().append(step)

    return Steps()


def leave_part(cache, content):
    (cache / "talks").mkdir()
    (cache / "talks/a.parley-part").write_bytes(content)


# Pins -----------------------------------------------------------------------------------


def test_git_ids_are_those_that_git_computes(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    # "a.b" and "a-b" and "Z": byte order, not that of a dictionary
    odd = os.fsdecode(b"\xff") if sys.platform == "linux" else "y"  # a name that is not UTF-8
    for name, body in {"a.b": b"", "a-b": b"one\n", "Z": b"2", "é": b"three", odd: b"4"}.items():
        (folder / name).write_bytes(body)
    environment = {**os.environ, "GIT_DIR": str(tmp_path / "git"), "GIT_WORK_TREE": str(folder)}

    def git(*arguments):
        command = ["git", "-c", "core.quotepath=off", "-c", "core.autocrlf=false", *arguments]
        return subprocess.check_output(command, env=environment, cwd=folder, text=True).strip()

    git("init", "-q")
    git("add", "-A")
    assert git_tree(list(folder.iterdir())) == git("write-tree")
    assert problem(folder / "a-b", {"git_blob": git("hash-object", "a-b")}) is None


def test_what_is_wrong_with_a_file(tmp_path):
    file = tmp_path / "file"
    pin = pinned("http://here/file", b"abc")
    assert problem(file, pin) == "missing"
    file.write_bytes(b"abcd")
    assert problem(file, pin) == "size expected 3 bytes, found 4"
    file.write_bytes(b"abd")
    found = pinned("", b"abd")["sha256"]
    assert problem(file, pin) == f"sha256 expected {pin['sha256']}, found {found}"
    git = {"git_blob": blob(b"abc")}
    assert problem(file, git) == f"git_blob expected {blob(b'abc')}, found {blob(b'abd')}"
    file.write_bytes(b"abc")
    assert problem(file, pin) is None
    assert problem(file, git) is None
    assert problem(tmp_path, pin) == "expected a file, found none"


def test_what_is_wrong_with_a_folder(tmp_path):
    folder = tmp_path / "en"
    folder.mkdir()
    for i in range(3):
        (folder / f"{i}.json").write_text(str(i))
    tree = git_tree(list(folder.iterdir()))
    pin = {"url": "http://here/x.zip", "member": "x/en", "git_tree": tree, "files": 3}
    assert problem(folder, pin) is None
    assert "expected 4 files, found 3" in problem(folder, pin | {"files": 4})  # of this tree
    assert whence(pin) == "http://here/x.zip (x/en in it)"
    (folder / "1.json").write_text("one")
    assert re.fullmatch(
        rf"git_tree expected {tree}, found \w{{40}} over 3 files", str(problem(folder, pin))
    )
    (folder / "1.json").write_text("1")
    (folder / ".DS_Store").write_text("")
    odd = "expected 3 files, found 4; unlike the others: .DS_Store"
    assert problem(folder, pin) == odd
    (folder / ".DS_Store").unlink()
    (folder / "2.json").unlink()
    assert problem(folder, pin) == "expected 3 files, found 2"
    (folder / "2.json").symlink_to("1.json")
    assert problem(folder, pin) == "expected files alone, found also 2.json"
    (folder / "2.json").unlink()
    (folder / "2.json").mkdir()
    assert problem(folder, pin) == "expected files alone, found also 2.json"
    assert problem(folder / "1.json", pin) == "expected a folder, found none"


def test_what_a_mirror_has_is_recognised(tmp_path):
    file = tmp_path / "file"
    mirrors = [pinned("http://b/file", b"abd"), {"url": "http://c/file", "git_blob": blob(b"e")}]
    pin = pinned("http://a/file", b"abc", mirrors=mirrors)
    for content, place in ((b"abc", pin), (b"abd", mirrors[0]), (b"e", mirrors[1])):
        file.write_bytes(content)
        assert taken(file, pin) is place
        assert problem(file, pin) is None
    file.write_bytes(b"abc")
    assert taken(file, {**pin, "mirrors": [pinned("http://b/file", b"abc")]})["url"] == pin["url"]
    file.write_bytes(b"abx")
    assert taken(file, pin) is None
    assert str(problem(file, pin)).startswith(f"sha256 expected {pin['sha256']}, found ")


def test_a_damaged_file_is_read_once_and_replaced(server, tmp_path, pin, monkeypatch):
    """By a fetch, which looks again when it is its turn to write, and by a build."""
    read = []
    hashed = pins.hash_file
    monkeypatch.setattr(
        pins, "hash_file", lambda path, *a: [read.append(path), hashed(path, *a)][1]
    )
    del pin["size"]
    pin["mirrors"] = [pinned("http://b/file", b"b"), pinned("http://c/file", b"c")]
    del pin["mirrors"][0]["size"]
    (tmp_path / "talks").mkdir()
    (tmp_path / "talks/a").write_bytes(WRONG)
    dataset = SimpleNamespace(name="talks", pins={"a": pin}, sources={"a": None})
    with pytest.raises(SourceError, match="sha256 expected"):
        open_source(dataset, tmp_path)
    assert read == [tmp_path / "talks/a"]
    assert (run(tmp_path, {"a": pin}) / "a").read_bytes() == BODY
    assert read == [tmp_path / "talks/a"] * 2 + [tmp_path / "talks/a.parley-part"]


# Files ----------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [True, False], ids=["length", "no length"])
@pytest.mark.parametrize("size", [True, False], ids=["size", "no size"])
@pytest.mark.parametrize("kind", ["sha256", "git_blob"])
def test_a_file_is_brought_and_then_left_alone(server, tmp_path, pin, steps, kind, size, length):
    server.pages["/a"] = Page(BODY, length=length)
    pin["git_blob"] = blob(BODY)
    source = {"data/a.json": {k: pin[k] for k in ("url", kind, *(["size"] if size else []))}}
    folder = run(tmp_path, source, steps.append)
    assert folder == tmp_path / "talks"
    assert (folder / "data/a.json").read_bytes() == BODY
    assert steps[0] == ("data/a.json", "asking 127.0.0.1", None)
    assert steps[-1] == ("data/a.json", len(BODY), len(BODY) if size or length else None)
    assert server.headers[0]["Accept-Encoding"] == "identity"
    before = folder.stat().st_mtime_ns
    run(tmp_path, source)
    assert len(server.requests) == 1
    assert files(folder) == ["data/a.json"]
    assert folder.stat().st_mtime_ns == before  # the cache may be read-only


@pytest.mark.parametrize("length", [True, False], ids=["length", "no length"])
def test_a_broken_connection_is_resumed(server, tmp_path, pin, length):
    # More breaks than tries: each brings something new, so none counts.
    server.pages["/a"] = Page(BODY, drop=[40_000] * 4, length=length)
    folder = run(tmp_path, {"a": pin})
    assert (folder / "a").read_bytes() == BODY
    first, *rest = server.ranges("/a")
    assert first is None
    assert len(rest) == 4
    starts = [int(str(wanted).removeprefix("bytes=").removesuffix("-")) for wanted in rest]
    assert starts == sorted(set(starts))
    assert starts[0] > 20_000
    assert files(folder) == ["a"]


@pytest.mark.parametrize(
    "fault",
    [{"serve_from": 7}, {"serve_from": 7, "content_range": "bytes"}, {"ranges": False}],
    ids=["another range", "no known range", "the whole"],
)
def test_a_resumed_body_is_only_appended_where_it_belongs(server, tmp_path, pin, fault):
    leave_part(tmp_path, BODY[:1000])
    server.pages["/a"] = Page(BODY, **fault)
    assert (run(tmp_path, {"a": pin}) / "a").read_bytes() == BODY
    assert server.ranges("/a")[0] == "bytes=1000-"


@pytest.mark.parametrize("left", [1000, len(BODY)])
def test_a_part_of_another_file_is_begun_anew(server, tmp_path, pin, left):
    leave_part(tmp_path, bytes(left))
    assert (run(tmp_path, {"a": pin}) / "a").read_bytes() == BODY
    assert server.ranges("/a")[-1] is None


@pytest.mark.parametrize("size", [True, False], ids=["size", "no size"])
@pytest.mark.parametrize("left", [len(BODY), len(BODY) + 5], ids=["whole", "too long"])
def test_a_part_that_is_whole_or_too_long(server, tmp_path, pin, left, size):
    # Asked for what lies behind the end, the server answers 416.
    leave_part(tmp_path, (BODY + b"extra")[:left])
    if not size:
        del pin["size"]
    folder = run(tmp_path, {"a": pin})
    assert (folder / "a").read_bytes() == BODY
    assert files(folder) == ["a"]
    assert len(server.requests) == (0 if size and left == len(BODY) else 2)


def test_wrong_bytes_never_get_the_name(server, tmp_path, pin):
    server.pages["/a"] = Page(WRONG)
    error = failure(tmp_path, {"data/a": pin})
    (wrong,) = error.problems
    assert wrong.place == "data/a"
    found = pinned("", WRONG)["sha256"]
    assert wrong.what == f"{pin['url']}: sha256 expected {pin['sha256']}, found {found}"
    assert "Fetch again" in error.remedy
    assert files(tmp_path) == []
    server.pages["/a"] = Page(BODY)
    run(tmp_path, {"data/a": pin})


@pytest.mark.parametrize("body", [BODY[:-1], BODY + b"!"], ids=["short", "long"])
def test_a_wrong_length_is_seen_at_once(server, tmp_path, pin, steps, body):
    server.pages["/a"] = Page(body)
    error = failure(tmp_path, {"a": pin}, steps.append)
    assert f"size expected 200,000 bytes, found {len(body):,}" in error.problems[0].what
    assert [said for _, said, _ in steps] == ["asking 127.0.0.1"]
    assert files(tmp_path) == []


BOMB = Page(gzip.compress(bytes(100_000_000)), encoding="gzip", length=False)


@pytest.mark.parametrize("page", [Page(BODY * 20, length=False), BOMB], ids=["plain", "a bomb"])
def test_an_endless_body_is_cut_off(server, tmp_path, pin, steps, page):
    server.pages["/a"] = page
    error = failure(tmp_path, {"a": pin}, steps.append)
    assert "size expected at most 200,000 bytes, found more" in error.problems[0].what
    assert all(said < 300_000 for _, said, _ in steps[1:])
    assert files(tmp_path) == []


def test_a_compressed_answer_is_understood_though_not_asked_for(server, tmp_path):
    text = BODY.hex().encode()
    server.pages["/a"] = Page(gzip.compress(text), encoding="gzip", drop=[60_000])
    assert (run(tmp_path, {"a": pinned(server.url("/a"), text)}) / "a").read_bytes() == text


# What is waited for, and what is not ----------------------------------------------------


def test_a_passing_error_is_waited_out_aloud(server, tmp_path, pin, steps):
    server.pages["/a"] = Page(BODY, statuses=[503, 503])
    run(tmp_path, {"a": pin}, steps.append)
    waits = [step for step in steps if "trying" in str(step)]
    assert [total for *_, total in waits] == [None, None]
    texts = [re.sub("answered .*,", "answered,", text) for _, text, _ in waits]
    assert texts == [
        "127.0.0.1: the server answered, trying again in 0.01 s (2 of 3)",
        "127.0.0.1: the server answered, trying again in 0.02 s (3 of 3)",
    ]
    assert " 503 " in waits[0][1]
    assert len(server.requests) == 3


def test_retry_after_is_heeded_and_capped(server, tmp_path, pin, steps):
    server.pages["/a"] = Page(BODY, statuses=[429], retry_after=15)
    run(tmp_path, {"a": pin}, steps.append)
    assert steps[1][1].endswith("trying again in 0.05 s (2 of 3)")


def test_a_silent_server_is_not_waited_for(server, tmp_path, pin, steps):
    server.pages["/a"] = Page(BODY, pause=1.3, block=120_000)  # QUICK waits 1 s
    error = failure(tmp_path, {"a": pin}, steps.append)
    assert "the connection broke after 0 bytes, 3 times in a row" in error.problems[0].what
    assert error.remedy == "Try again later."
    assert sum("0 bytes, trying again" in said for _, said, _ in steps) == 2


def test_an_unknown_host_is_asked_for_once(server, tmp_path, monkeypatch):
    asked = []

    def unknown(host, *_):
        asked.append(host)
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    error = failure(tmp_path, {"a": pinned("http://nowhere.invalid/a", BODY)})
    assert error.problems[0].what == (
        "http://nowhere.invalid/a: the host is not found (Temporary failure in name resolution)"
    )
    assert "Check that you are online" in error.remedy
    assert asked == ["nowhere.invalid"]


def test_a_proxy_that_does_not_answer_is_named_as_the_cause(tmp_path, monkeypatch):
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    error = failure(tmp_path, {"a": pinned("http://nowhere.invalid/a", BODY)})
    assert "HTTPS_PROXY" in error.remedy
    monkeypatch.setenv("http_proxy", "socks9://127.0.0.1:1")
    with pytest.raises(UsageError, match="proxy"):
        run(tmp_path, {"a": pinned("http://nowhere.invalid/a", BODY)})


def test_a_certificate_of_nobody_is_refused_at_once(tmp_path, steps):
    if not shutil.which("openssl"):
        pytest.skip("openssl is not there to make a certificate")
    make = "req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=x -keyout key.pem -out x.pem"
    subprocess.run(["openssl", *make.split()], cwd=tmp_path, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "x.pem", tmp_path / "key.pem")
    with Server(tls=context) as server:
        error = failure(tmp_path, {"a": pinned(server.url("/a"), BODY)}, steps.append)
    assert "its certificate is refused: self" in error.problems[0].what
    assert "clock and certificates" in error.remedy
    assert [said for _, said, _ in steps] == ["asking 127.0.0.1"]


def test_redirects_are_followed_but_not_for_ever(server, tmp_path, pin):
    server.pages["/b"] = Page(b"", redirect="/a")
    run(tmp_path, {"a": pinned(server.url("/b"), BODY)})
    server.pages["/a"] = Page(b"", redirect="/b")
    error = failure(tmp_path, {"b": pin})
    assert "Exceeded 5 redirects" in error.problems[0].what
    assert len(server.requests) == 2 + 6


def test_all_failures_are_named_and_the_rest_is_fetched(server, tmp_path, pin):
    server.pages["/wrong"] = Page(WRONG)
    gone = pinned(server.url("/gone"), BODY)
    mirrored = pinned(NOBODY, OTHER, mirrors=[pinned(server.url("/wrong"), BODY)])
    error = failure(tmp_path, {"gone": gone, "mirrored": mirrored, "gone, too": gone, "ok": pin})
    assert [
        (problem.place, problem.what.partition(", found")[0]) for problem in error.problems
    ] == [
        ("gone", f"{gone['url']}: the server answered 404 Not Found"),
        ("mirrored", f"{NOBODY}: Connection refused, 3 times in a row"),
        ("mirrored", f"{server.url('/wrong')}: sha256 expected {pin['sha256']}"),
        ("gone, too", f"{gone['url']}: the server answered 404 Not Found"),
    ]
    for remedy in ("moved or removed", "differs from its pin", "Try again later."):
        assert error.remedy.count(remedy) == 1
    assert len(str(error).splitlines()) == 1 + 4 + 1
    assert files(tmp_path) == ["talks/ok"]


def test_what_a_hub_keeps_in_xet_is_fetched(server, tmp_path, pin):
    """It answers with a redirect, and with hashes that are none of the file's bytes."""
    server.pages["/resolve"] = Page(
        b"",
        raw=b"HTTP/1.1 302 Found\r\nLocation: /a\r\nContent-Length: 0\r\nConnection: close\r\n"
        b'X-Xet-Hash: %b\r\nETag: "%b"\r\n\r\n' % (b"1" * 64, b"2" * 64),
    )
    server.pages["/a"] = Page(BODY, drop=[50_000])
    folder = run(tmp_path, {"a": {**pin, "url": server.url("/resolve")}})
    assert (folder / "a").read_bytes() == BODY
    assert server.ranges("/a") == [None, "bytes=49152-"]  # the redirect is followed again


# Mirrors --------------------------------------------------------------------------------

LACKS = {
    "gone": (None, "the server answered 404 Not Found"),
    "busy": (Page(BODY, statuses=[503] * 99), "the server answered 503 Service Unavailable, 3"),
    "breaking": (Page(BODY, drop=[99_000] * 99, ranges=False), "the connection broke after"),
    "wrong": (Page(WRONG), "sha256 expected"),
    "too short": (Page(BODY[:-1]), "size expected 200,000 bytes, found 199,999"),
    "nobody": (None, "Connection refused, 3 times in a row"),
}


@pytest.mark.parametrize("lack", LACKS)
def test_what_cannot_be_had_is_taken_from_a_mirror(server, tmp_path, lack):
    page, why = LACKS[lack]
    server.pages["/b"] = Page(OTHER)
    if page:
        server.pages["/x"] = page
    mirror = pinned(server.url("/b"), OTHER)
    url = NOBODY if lack == "nobody" else server.url("/x")
    pin = pinned(url, BODY, mirrors=[pinned(server.url("/gone"), b"else"), mirror])
    told = []
    folder = run(tmp_path, {"a": pin}, on_mirror=lambda *took: told.append(took))
    assert (folder / "a").read_bytes() == OTHER
    assert taken(folder / "a", pin) is mirror
    ((source, place, problems),) = told
    assert (source, place) == ("a", mirror)
    first, second = problems
    assert first.place == second.place == "a"
    assert first.what.startswith(f"{url}: {why}")
    assert second.what == f"{server.url('/gone')}: the server answered 404 Not Found"
    asked = len(server.requests)
    run(tmp_path, {"a": pin})  # what a mirror gave stays
    assert len(server.requests) == asked
    assert files(folder) == ["a"]


def test_a_mirror_is_not_asked_for_what_is_there(server, tmp_path, pin):
    server.pages["/b"] = Page(OTHER)
    pin["mirrors"] = [pinned(server.url("/b"), OTHER)]
    told = []
    run(tmp_path, {"a": pin}, on_mirror=lambda *took: told.append(took))
    assert [path for path, _ in server.requests] == ["/a"]
    assert told == []


def test_a_mirror_that_has_nothing_leaves_what_came(server, tmp_path, pin):
    server.pages["/a"] = Page(BODY, drop=[100_000, 0, 0, 0])
    pin["mirrors"] = [pinned(server.url("/gone"), OTHER)]
    failure(tmp_path, {"a": pin})
    size = (tmp_path / "talks/a.parley-part").stat().st_size
    assert size > 50_000
    server.pages["/a"] = Page(BODY)
    server.requests.clear()
    assert (run(tmp_path, {"a": pin}) / "a").read_bytes() == BODY
    assert server.requests == [("/a", f"bytes={size}-")]


# The disk -------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["a file", "a folder"])
def test_a_disk_that_takes_no_more(server, tmp_path, pin, what):
    if what == "a folder":  # whose archive is small
        body, tree = archive({"0.json": bytes(len(BODY))})
        server.pages["/x.zip"] = Page(body)
        pin = {"url": server.url("/x.zip"), "member": "x-1/en", "git_tree": tree}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        error = failure(tmp_path, {"a": pin})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert error.problems[0].what == f"cannot be written below {tmp_path}/talks: File too large"
    assert error.remedy.startswith("Make room there, or set PARLEY_CACHE")
    assert not (tmp_path / "talks/a").exists()
    assert (run(tmp_path, {"a": pin}) / "a").exists()


def test_a_cache_that_cannot_be_written(tmp_path, pin):
    (tmp_path / "file").write_text("no folder")
    error = failure(tmp_path / "file", {"a": pin})
    assert "cannot be written below" in error.problems[0].what
    assert error.remedy == "Set PARLEY_CACHE to a folder that can be written."


def test_a_file_that_may_not_be_read_is_not_brought_again(server, tmp_path, pin, monkeypatch):
    locked = run(tmp_path, {"a": pin}) / "a"
    opened = Path.open

    def deny(path, *arguments, **more):  # as root, nothing is denied
        if path == locked:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return opened(path, *arguments, **more)

    monkeypatch.setattr(Path, "open", deny)
    error = failure(tmp_path, {"a": pin, "b": pin})
    (wrong,) = error.problems
    assert (wrong.place, wrong.what) == (str(locked), "cannot be read: Permission denied")
    assert error.remedy.startswith("Grant permission")
    assert len(server.requests) == 2  # for a, before; for b
    assert files(tmp_path) == ["talks/a", "talks/b"]


def test_the_cache_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("PARLEY_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("HOME", raising=False)
    with monkeypatch.context() as patch:  # a user id without an entry, as in a container
        patch.setattr("os.getuid", lambda: 4_000_000)
        with pytest.raises(UsageError, match=r"no home folder\. Set PARLEY_CACHE"):
            cache_folder()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache/parley"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg/parley"
    monkeypatch.setenv("PARLEY_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"


# Archives -------------------------------------------------------------------------------


def test_folders_come_from_one_archive(server, tmp_path):
    body, tree = archive({"1.json": b"one", "0.json": b"zero"}, {"x-1/ja/0.json": b""})
    _, ja = archive({"0.json": b""})
    server.pages["/x.zip"] = Page(body)
    pin = {"url": server.url("/x.zip"), "files": 2}
    sources = {
        "ed/en": {**pin, "member": "x-1/en", "git_tree": tree},
        "ed/ja": {**pin, "member": "x-1/ja", "git_tree": ja, "files": 1},
    }
    folder = run(tmp_path, sources)
    assert files(folder) == ["ed/en/0.json", "ed/en/1.json", "ed/ja/0.json"]
    assert (folder / "ed/en/1.json").read_bytes() == b"one"
    (folder / "ed/ja/0.json").write_bytes(b"damaged")
    for name in ("ed/ja.part", "x.zip.part"):  # whatever a person keeps there
        (folder / name).mkdir()
        (folder / name / "thesis.tex").write_bytes(b"years of work")
    (folder / "ed/ja.parley-part").mkdir()  # of an interrupted fetch
    (folder / "ed/ja.parley-part/junk").write_bytes(b"")
    run(tmp_path, sources)
    assert (folder / "ed/ja/0.json").read_bytes() == b""
    (folder / "x.zip.parley-part").write_bytes(b"of a fetch killed after it extracted all")
    run(tmp_path, sources)
    theirs = ["ed/ja.part/thesis.tex", "x.zip.part/thesis.tex"]
    assert files(folder) == sorted(["ed/en/0.json", "ed/en/1.json", "ed/ja/0.json", *theirs])
    assert len(server.requests) == 2


def test_an_archive_that_is_gone_is_asked_for_once(server, tmp_path, steps):
    pin = {"url": server.url("/x.zip"), "member": "x-1/en", "git_tree": "0" * 40}
    error = failure(tmp_path, {"en": pin, "ja": {**pin, "member": "x-1/ja"}}, steps.append)
    (gone,) = error.problems
    assert gone.place == "x.zip"
    assert gone.what == f"{pin['url']}: the server answered 404 Not Found"
    assert steps == [("x.zip", "asking 127.0.0.1", None)]


def test_a_wrong_folder_leaves_the_others_and_no_litter(server, tmp_path):
    body, tree = archive({"0.json": b"zero"}, {"x-1/ja/0.json": b"rei"})
    server.pages["/x.zip"] = Page(body)
    url = server.url("/x.zip")
    error = failure(
        tmp_path,
        {
            "ja": {"url": url, "member": "x-1/ja", "git_tree": "0" * 40},
            "ko": {"url": url, "member": "x-1/ko", "git_tree": "0" * 40},
            "en": {"url": url, "member": "x-1/en", "git_tree": tree},
        },
    )
    ja, ko = error.problems
    assert (ja.place, ko.place) == ("ja", "ko")
    assert ja.what.startswith(f"{url}: git_tree expected {'0' * 40}, found ")
    assert ko.what == f"{url}: the archive is refused: it has no files in x-1/ko/"
    assert [path.name for path in (tmp_path / "talks").iterdir()] == ["en"]
    assert files(tmp_path) == ["talks/en/0.json"]


def refused(server, cache, body, why):
    """The archive is refused in one message, nothing of it stays, the other source is there."""
    server.pages["/x.zip"] = Page(body)
    pin = {"url": server.url("/x.zip"), "member": "x-1/en", "git_tree": "0" * 40}
    error = failure(cache / "cache", {"en": pin, "a": pinned(server.url("/a"), BODY)})
    (wrong,) = error.problems
    assert wrong.place == "en"
    assert wrong.what.startswith(f"{pin['url']}: the archive ")
    assert why in wrong.what
    assert {path.name for path in cache.rglob("*")} == {"cache", "talks", "a"}
    assert not Path("/evil").exists()


OUTSIDE = [
    *("../evil", "x-1/../../evil", "x-1/en/../../../evil", "/evil", "\\evil", "C:\\evil", "C:evil"),
    *("x-1\\..\\..\\evil", "elsewhere/.."),
]
DEEPER = ["x-1/en/deeper/0.json", "x-1/en/deeper/", "x-1/en/a\\b"]


@pytest.mark.parametrize("name", OUTSIDE + DEEPER)
def test_a_path_that_leaves_the_archive_or_leads_deeper_is_refused(server, tmp_path, name):
    body, _ = archive({"0.json": b"zero"}, {name: b""})
    why = "may lead outside the folder" if name in OUTSIDE else "is not a file of a flat folder"
    refused(server, tmp_path, body, why)


def with_header(body, at, value):
    """Return a zip with a number put behind the versions that each of its headers begins with."""
    return re.sub(
        rb"(PK\x03\x04..|PK\x01\x02....)(.{%d}).." % at,
        lambda found: found[1] + found[2] + value.to_bytes(2, "little"),
        body,
        flags=re.DOTALL,
    )


SOUND, _ = archive({"0.json": BODY})
TWO, _ = archive({"0.json": b"zero", "1.json": b"one"})
LINK, _ = archive({"0.json": b"/etc/passwd"}, mode=stat.S_IFLNK)
MIDDLE, VERSION = len(SOUND) // 2, SOUND.rindex(b"PK\x01\x02") + 6
UNREADABLE = "the archive cannot be read"
ODD = {
    "a link": (LINK, "is not a file of a flat folder"),
    "a member twice": (TWO.replace(b"1.json", b"0.json"), "two entries"),
    "encrypted": (with_header(SOUND, 0, 1), "'x-1/en/0.json' is encrypted"),
    "no zip": (b"<html>Sorry!</html>", UNREADABLE),
    "cut": (SOUND[:-100], UNREADABLE),
    "flipped": (SOUND[:MIDDLE] + bytes([SOUND[MIDDLE] ^ 255]) + SOUND[MIDDLE + 1 :], UNREADABLE),
    "later": (SOUND[:VERSION] + b"\xff" + SOUND[VERSION + 1 :], UNREADABLE),
    **{  # a method that git does not use
        f"method {method}": (with_header(SOUND, 2, method), "expected 0 (stored) or 8 (deflated)")
        for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, 9, 93, 99)
    },
}


@pytest.mark.parametrize("what", ODD)
def test_an_odd_archive_is_refused(server, tmp_path, what):
    refused(server, tmp_path, *ODD[what])


@pytest.mark.parametrize("limit", ["LIMIT", "_FILES"])
def test_a_bomb_is_refused(server, tmp_path, monkeypatch, limit):
    body, _ = archive({f"{i}.json": bytes(1_000_000) for i in range(5)})
    monkeypatch.setattr(f"parley.fetching.archive.{limit}", 4_999_999 if limit == "LIMIT" else 4)
    refused(server, tmp_path, body, "5 files and 5,000,000 bytes, more than")


def test_a_list_of_too_many_entries_is_not_read(server, tmp_path, monkeypatch):
    monkeypatch.setattr("parley.fetching.archive._DIRECTORY", 100)
    refused(server, tmp_path, TWO, "is refused: its list of entries has")
