"""Fetching, against a real server that misbehaves in every way we know of."""

import gzip
import hashlib
import io
import os
import random
import resource
import signal
import stat
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server import Page, Server

from parley.errors import FetchError
from parley.source.fetch import Patience, cache_folder, fetch
from parley.source.pins import check, git_tree

BODY = random.Random(7).randbytes(200_000)
QUICK = Patience(tries=3, backoff=0.01, longest_wait=0.05, connect=2, read=0.3)


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


def sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def blob(body: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest()


def pinned(server: Server, path: str = "/a", body: bytes = BODY, **more: Any) -> dict[str, Any]:
    return {"url": server.url(path), "size": len(body), "sha256": sha256(body), **more}


def files(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


def run(cache: Path, sources: dict[str, Any], **more: Any) -> Path:
    return fetch("talks", sources, cache, patience=QUICK, **more)


# Pins -----------------------------------------------------------------------------------


def test_git_ids_are_those_that_git_computes(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    # "a.b" and "a-b" and "Z": byte order, not that of a dictionary
    for name, body in {"a.b": b"", "a-b": b"one\n", "Z": b"two", "é": b"three"}.items():
        (folder / name).write_bytes(body)
    git = ["git", "-c", "core.quotepath=off", "-c", "core.autocrlf=false"]
    environment = {**os.environ, "GIT_DIR": str(tmp_path / "git"), "GIT_WORK_TREE": str(folder)}
    for command in (["init", "-q"], ["add", "-A"]):
        subprocess.run([*git, *command], env=environment, cwd=folder, check=True)
    tree = subprocess.run(
        [*git, "write-tree"], env=environment, cwd=folder, check=True, capture_output=True
    )
    assert git_tree(list(folder.iterdir())) == tree.stdout.decode().strip()
    hashed = subprocess.run([*git, "hash-object", "a-b"], cwd=folder, capture_output=True)
    assert check(folder / "a-b", {"url": "", "git_blob": hashed.stdout.decode().strip()}) is None


def test_check_says_what_is_wrong_with_a_file(tmp_path: Path) -> None:
    file = tmp_path / "file"
    pin = {"url": "http://here/file", "size": 3, "sha256": sha256(b"abc")}
    assert check(file, pin) == f"{file}: missing. Get it from http://here/file"
    file.write_bytes(b"abcd")
    assert "size expected 3 bytes, found 4." in str(check(file, pin))
    file.write_bytes(b"abd")
    assert f"sha256 expected {sha256(b'abc')}, found {sha256(b'abd')}." in str(check(file, pin))
    found = str(check(file, {"url": "u", "git_blob": blob(b"abc")}))
    assert f"git_blob expected {blob(b'abc')}, found {blob(b'abd')}." in found
    file.write_bytes(b"abc")
    assert check(file, pin) is None
    assert check(file, {"url": "u", "git_blob": blob(b"abc")}) is None
    assert "expected a file, found none" in str(check(tmp_path, pin))


def test_check_says_what_is_wrong_with_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "en"
    folder.mkdir()
    for i in range(3):
        (folder / f"{i}.json").write_text(str(i))
    pin = {
        "url": "http://here/x.zip",
        "member": "x/en",
        "git_tree": git_tree(list(folder.iterdir())),
        "files": 3,
    }
    assert check(folder, pin) is None
    (folder / "1.json").write_text("one")
    found = str(check(folder, pin))
    assert f"git_tree expected {pin['git_tree']}, found " in found
    assert found.endswith("over 3 files. Get it from http://here/x.zip (x/en in it)")
    (folder / "1.json").write_text("1")
    (folder / ".DS_Store").write_text("")
    assert "expected 3 files, found 4; unlike the others: .DS_Store" in str(check(folder, pin))
    (folder / ".DS_Store").unlink()
    (folder / "2.json").unlink()
    assert "expected 3 files, found 2." in str(check(folder, pin))
    (folder / "2.json").symlink_to("1.json")
    assert "found also 2.json" in str(check(folder, pin))
    (folder / "2.json").unlink()
    (folder / "2.json").mkdir()
    assert "found also 2.json" in str(check(folder, pin))
    assert "expected a folder, found none" in str(check(folder / "1.json", pin))


# Files ----------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [True, False], ids=["length", "no length"])
@pytest.mark.parametrize("size", [True, False], ids=["size", "no size"])
@pytest.mark.parametrize("kind", ["sha256", "git_blob"])
def test_a_file_is_brought_and_then_left_alone(
    server: Server, tmp_path: Path, kind: str, size: bool, length: bool
) -> None:
    server.pages["/a"] = Page(BODY, length=length)
    pin = {"url": server.url("/a"), kind: sha256(BODY) if kind == "sha256" else blob(BODY)}
    source = {"data/a.json": {**pin, "size": len(BODY)} if size else pin}
    progress: list[tuple[str, int, int | None]] = []
    folder = run(tmp_path, source, on_progress=lambda *step: progress.append(step))
    assert folder == tmp_path / "talks"
    assert (folder / "data/a.json").read_bytes() == BODY
    assert progress[-1] == ("data/a.json", len(BODY), len(BODY) if size or length else None)
    assert server.headers[0]["Accept-Encoding"] == "identity"
    run(tmp_path, source)
    assert len(server.requests) == 1
    assert files(folder) == ["data/a.json"]


def test_a_damaged_file_in_the_cache_is_replaced(server: Server, tmp_path: Path) -> None:
    server.pages["/a"] = Page(BODY)
    file = run(tmp_path, {"a": pinned(server)}) / "a"
    file.write_bytes(BODY[:-1] + b"?")
    run(tmp_path, {"a": pinned(server)})
    assert file.read_bytes() == BODY


@pytest.mark.parametrize("length", [True, False], ids=["length", "no length"])
def test_a_broken_connection_is_resumed(server: Server, tmp_path: Path, length: bool) -> None:
    # More breaks than tries: each brings something new, so none counts.
    server.pages["/a"] = Page(BODY, drop=[40_000] * 4, length=length)
    folder = run(tmp_path, {"a": pinned(server)})
    assert (folder / "a").read_bytes() == BODY
    first, *rest = server.ranges("/a")
    assert first is None
    assert len(rest) == 4
    starts = [int(str(wanted).removeprefix("bytes=").removesuffix("-")) for wanted in rest]
    assert starts == sorted(set(starts))
    assert starts[0] > 20_000
    assert files(folder) == ["a"]


def test_a_server_without_ranges_starts_again(server: Server, tmp_path: Path) -> None:
    server.pages["/a"] = Page(BODY, drop=[150_000, 90_000], ranges=False)
    assert (run(tmp_path, {"a": pinned(server)}) / "a").read_bytes() == BODY


def test_a_server_that_always_breaks_is_given_up(server: Server, tmp_path: Path) -> None:
    server.pages["/a"] = Page(BODY, drop=[100_000] * 99, ranges=False)
    with pytest.raises(FetchError, match=r"the connection broke after \d\d,\d{3} bytes, 3 times"):
        run(tmp_path, {"a": pinned(server)})
    assert len(server.requests) == 3 + 1 - 1  # the first brought something, two more did not
    assert files(tmp_path) == ["talks/a.part"]


@pytest.mark.parametrize(
    "fault",
    [
        {"serve_from": 7},
        {"serve_from": 7, "content_range": "bytes"},
        {"ranges": False},
    ],
    ids=["another range", "no known range", "the whole"],
)
def test_a_resumed_body_is_only_appended_where_it_belongs(
    server: Server, tmp_path: Path, fault: dict[str, Any]
) -> None:
    (tmp_path / "talks").mkdir()
    (tmp_path / "talks/a.part").write_bytes(BODY[:1000])
    server.pages["/a"] = Page(BODY, **fault)
    assert (run(tmp_path, {"a": pinned(server)}) / "a").read_bytes() == BODY
    assert server.ranges("/a")[0] == "bytes=1000-"


@pytest.mark.parametrize("size", [True, False], ids=["size", "no size"])
@pytest.mark.parametrize("left", [len(BODY), len(BODY) + 5], ids=["whole", "too long"])
def test_a_part_that_is_whole_or_too_long(
    server: Server, tmp_path: Path, left: int, size: bool
) -> None:
    # Asked for what lies behind the end, the server answers 416.
    (tmp_path / "talks").mkdir()
    (tmp_path / "talks/a.part").write_bytes((BODY + b"extra")[:left])
    server.pages["/a"] = Page(BODY)
    pin = pinned(server)
    if not size:
        del pin["size"]
    folder = run(tmp_path, {"a": pin})
    assert (folder / "a").read_bytes() == BODY
    assert files(folder) == ["a"]
    assert len(server.requests) == (0 if size and left == len(BODY) else 2)


@pytest.mark.parametrize("kind", ["sha256", "git_blob"])
def test_an_interrupted_fetch_is_taken_up_by_the_next(
    server: Server, tmp_path: Path, kind: str
) -> None:
    def interrupt(source: str, done: int, total: int | None) -> None:
        if done > 100_000:
            raise KeyboardInterrupt

    server.pages["/a"] = Page(BODY)
    pin = {"url": server.url("/a"), kind: sha256(BODY) if kind == "sha256" else blob(BODY)}
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, {"a": pin}, on_progress=interrupt)
    assert files(tmp_path) == ["talks/a.part"]
    size = (tmp_path / "talks/a.part").stat().st_size
    assert size > 100_000
    assert (run(tmp_path, {"a": pin}) / "a").read_bytes() == BODY
    assert server.ranges("/a") == [None, f"bytes={size}-"]
    assert files(tmp_path) == ["talks/a"]


def test_a_killed_fetch_is_taken_up_by_the_next(server: Server, tmp_path: Path) -> None:
    server.pages["/a"] = Page(BODY, pause=0.05)
    script = (
        "import sys; from pathlib import Path; from parley.source.fetch import fetch\n"
        "fetch('talks', {'a': {'url': sys.argv[1], 'sha256': sys.argv[2]}}, Path(sys.argv[3]))"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script, server.url("/a"), sha256(BODY), str(tmp_path)],
        cwd=Path(__file__).parent.parent,
    )
    part = tmp_path / "talks/a.part"
    deadline = time.monotonic() + 8
    while not (part.exists() and part.stat().st_size > 20_000):
        assert time.monotonic() < deadline
        assert child.poll() is None
        time.sleep(0.005)
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert files(tmp_path) == ["talks/a.part"]
    server.pages["/a"].pause = 0
    assert (run(tmp_path, {"a": pinned(server)}) / "a").read_bytes() == BODY
    assert str(server.ranges("/a")[-1]).startswith("bytes=")
    assert files(tmp_path) == ["talks/a"]


def test_wrong_bytes_never_get_the_name(server: Server, tmp_path: Path) -> None:
    wrong = b"?" + BODY[1:]
    server.pages["/a"] = Page(wrong)
    with pytest.raises(FetchError) as caught:
        run(tmp_path, {"data/a": pinned(server)})
    assert f"data/a: sha256 expected {sha256(BODY)}, found {sha256(wrong)}" in str(caught.value)
    assert "fetch again" in str(caught.value)
    assert files(tmp_path) == []
    server.pages["/a"] = Page(BODY)
    run(tmp_path, {"data/a": pinned(server)})


@pytest.mark.parametrize("body", [BODY[:-1], BODY + b"!"], ids=["short", "long"])
def test_a_wrong_length_is_seen_at_once(server: Server, tmp_path: Path, body: bytes) -> None:
    server.pages["/a"] = Page(body)
    steps: list[int] = []
    with pytest.raises(FetchError, match=f"size expected 200,000 bytes, found {len(body):,}"):
        run(tmp_path, {"a": pinned(server)}, on_progress=lambda *step: steps.append(step[1]))
    assert steps == []
    assert files(tmp_path) == []


def test_an_endless_body_is_cut_off(server: Server, tmp_path: Path) -> None:
    server.pages["/a"] = Page(BODY * 20, length=False)
    steps: list[int] = []
    with pytest.raises(FetchError, match="size expected at most 200,000 bytes, found more"):
        run(tmp_path, {"a": pinned(server)}, on_progress=lambda *step: steps.append(step[1]))
    assert steps[-1] < 300_000
    assert files(tmp_path) == []


def test_a_compressed_answer_is_understood_though_not_asked_for(
    server: Server, tmp_path: Path
) -> None:
    text = BODY.hex().encode()
    server.pages["/a"] = Page(gzip.compress(text), encoding="gzip", drop=[60_000])
    assert (run(tmp_path, {"a": pinned(server, body=text)}) / "a").read_bytes() == text


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_passing_error_is_waited_out(server: Server, tmp_path: Path, status: int) -> None:
    server.pages["/a"] = Page(BODY, statuses=[status, status])
    assert (run(tmp_path, {"a": pinned(server)}) / "a").read_bytes() == BODY
    assert len(server.requests) == 3


def test_retry_after_is_heeded_and_capped(server: Server, tmp_path: Path) -> None:
    server.pages["/a"] = Page(BODY, statuses=[429], retry_after=15)
    start = time.monotonic()
    fetch(
        "talks",
        {"a": pinned(server)},
        tmp_path,
        patience=Patience(tries=3, backoff=0, longest_wait=0.3),
    )
    assert 0.3 <= time.monotonic() - start < 2


def test_a_lasting_error_is_reported(server: Server, tmp_path: Path) -> None:
    server.pages["/a"] = Page(BODY, statuses=[503] * 99)
    with pytest.raises(FetchError, match=r"a: http://.*/a: the server answered 503 Service Un"):
        run(tmp_path, {"a": pinned(server)})
    assert len(server.requests) == 4
    assert files(tmp_path) == []


def test_a_silent_server_is_not_waited_for_and_is_resumed(server: Server, tmp_path: Path) -> None:
    server.pages["/a"] = Page(BODY, pause=0.4, block=120_000)  # QUICK waits 0.3 s
    with pytest.raises(FetchError, match="the connection broke after 0 bytes, 3 times in a row"):
        run(tmp_path, {"a": pinned(server)})


def test_redirects_are_followed_but_not_for_ever(server: Server, tmp_path: Path) -> None:
    server.pages["/a"] = Page(b"", redirect="/b")
    server.pages["/b"] = Page(BODY)
    run(tmp_path, {"a": pinned(server)})
    server.pages["/b"] = Page(b"", redirect="/a")
    with pytest.raises(FetchError, match="redirects"):
        run(tmp_path, {"b": pinned(server)})
    assert len(server.requests) < 10


def test_all_failures_are_named_and_the_rest_is_fetched(server: Server, tmp_path: Path) -> None:
    server.pages["/wrong"], server.pages["/ok"] = Page(b"?" * len(BODY)), Page(BODY)
    with pytest.raises(FetchError) as caught:
        run(
            tmp_path,
            {
                "gone": pinned(server, "/gone"),
                "wrong": pinned(server, "/wrong"),
                "nowhere": {"url": "http://127.0.0.1:1/x", "sha256": ""},
                "ok": pinned(server, "/ok"),
            },
        )
    title, gone, wrong, nowhere = str(caught.value).splitlines()
    assert title == "talks could not be fetched:"
    assert gone.startswith("gone: http://")
    assert "404 Not Found" in gone
    assert wrong.startswith("wrong: sha256 expected")
    assert nowhere.startswith("nowhere: http://")
    assert "refused" in nowhere
    assert files(tmp_path) == ["talks/ok"]


# The disk -------------------------------------------------------------------------------


def test_a_disk_that_takes_no_more(server: Server, tmp_path: Path) -> None:
    server.pages["/a"] = Page(BODY)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        with pytest.raises(FetchError, match=r"a: cannot be written below .*File too large"):
            run(tmp_path, {"a": pinned(server)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert files(tmp_path) == ["talks/a.part"]
    assert (run(tmp_path, {"a": pinned(server)}) / "a").read_bytes() == BODY


def test_a_cache_that_cannot_be_written(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(FetchError, match=r"cannot be written below .*Make room .* PARLEY_CACHE"):
        run(tmp_path / "file", {"a": pinned(server)})


def test_a_complete_cache_is_not_written_to(server: Server, tmp_path: Path) -> None:
    server.pages["/a"] = Page(BODY)
    folder = run(tmp_path, {"a": pinned(server)})
    before = folder.stat().st_mtime_ns
    run(tmp_path, {"a": pinned(server)})
    assert folder.stat().st_mtime_ns == before


def test_fetches_at_once_do_the_work_once(server: Server, tmp_path: Path) -> None:
    body, tree = archive({"0.json": b"zero"})
    server.pages["/a"] = Page(BODY, pause=0.02)
    server.pages["/x.zip"] = Page(body, pause=0.1)
    sources = {
        "a": pinned(server),
        "en": {"url": server.url("/x.zip"), "member": "x-1/en", "git_tree": tree},
    }
    failures: list[BaseException] = []

    def attempt() -> None:
        try:
            run(tmp_path, sources)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=attempt) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert sorted(path for path, _ in server.requests) == ["/a", "/x.zip"]
    assert files(tmp_path) == ["talks/a", "talks/en/0.json"]


def test_the_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("PARLEY_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() == tmp_path / ".cache/parley"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg/parley"
    monkeypatch.setenv("PARLEY_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"


# Archives -------------------------------------------------------------------------------


def archive(
    members: dict[str, bytes], others: dict[str, bytes] | None = None, mode: int = stat.S_IFREG
) -> tuple[bytes, str]:
    """Return a zip with members below x-1/en and others anywhere, and the git tree of the first."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("x-1/", b"")
        file.writestr("x-1/en/", b"")
        entries = {**{f"x-1/en/{name}": body for name, body in members.items()}, **(others or {})}
        for name, body in entries.items():
            entry = zipfile.ZipInfo(name)
            entry.filename = name  # ZipInfo tidies it
            entry.external_attr = (mode | 0o644) << 16
            file.writestr(entry, body)
    tree = b"".join(
        b"100644 %s\0%s" % (name.encode(), bytes.fromhex(blob(body)))
        for name, body in sorted(members.items())
    )
    return buffer.getvalue(), hashlib.sha1(b"tree %d\0" % len(tree) + tree).hexdigest()


def test_folders_come_from_one_archive(server: Server, tmp_path: Path) -> None:
    body, tree = archive({"1.json": b"one", "0.json": b"zero"}, {"x-1/ja/0.json": b"rei"})
    _, ja = archive({"0.json": b"rei"})
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
    (folder / "ed/ja.part").mkdir()  # of an interrupted fetch
    (folder / "ed/ja.part/junk").write_bytes(b"")
    run(tmp_path, sources)
    assert (folder / "ed/ja/0.json").read_bytes() == b"rei"
    assert files(folder) == ["ed/en/0.json", "ed/en/1.json", "ed/ja/0.json"]
    run(tmp_path, sources)
    assert len(server.requests) == 2


def test_a_wrong_folder_leaves_the_others_and_no_litter(server: Server, tmp_path: Path) -> None:
    body, tree = archive({"0.json": b"zero"}, {"x-1/ja/0.json": b"rei"})
    server.pages["/x.zip"] = Page(body)
    sources = {
        "ja": {"url": server.url("/x.zip"), "member": "x-1/ja", "git_tree": "0" * 40},
        "ko": {"url": server.url("/x.zip"), "member": "x-1/ko", "git_tree": "0" * 40},
        "en": {"url": server.url("/x.zip"), "member": "x-1/en", "git_tree": tree},
    }
    with pytest.raises(FetchError) as caught:
        run(tmp_path, sources)
    _, ja, ko = str(caught.value).splitlines()
    assert ja.startswith(f"ja: git_tree expected {'0' * 40}, found ")
    assert ko.startswith("ko: the archive is refused: it has no files in x-1/ko/")
    assert files(tmp_path) == ["talks/en/0.json"]
    assert sorted(path.name for path in (tmp_path / "talks").iterdir()) == ["en"]


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "x-1/../../evil",
        "x-1/en/../../../evil",
        "/evil",
        "\\evil",
        "C:\\evil",
        "C:evil",
        "x-1\\..\\..\\evil",
        "elsewhere/..",
    ],
)
def test_an_archive_with_a_path_that_leaves_it_is_refused(
    server: Server, tmp_path: Path, name: str
) -> None:
    body, tree = archive({"0.json": b"zero"}, {name: b"evil"})
    refused(server, tmp_path, body, tree, "may leave the folder")


@pytest.mark.parametrize("name", ["deeper/0.json", "deeper/", "a\\b"])
def test_a_folder_that_is_not_flat_is_refused(server: Server, tmp_path: Path, name: str) -> None:
    body, tree = archive({"0.json": b"zero"}, {f"x-1/en/{name}": b""})
    refused(server, tmp_path, body, tree, "is not a file of a flat folder")


def test_a_link_is_refused(server: Server, tmp_path: Path) -> None:
    body, tree = archive({"0.json": b"/etc/passwd"}, mode=stat.S_IFLNK)
    refused(server, tmp_path, body, tree, "is not a file of a flat folder")


def test_a_member_twice_is_refused(server: Server, tmp_path: Path) -> None:
    body, tree = archive({"0.json": b"zero", "1.json": b"one"})
    refused(server, tmp_path, body.replace(b"1.json", b"0.json"), tree, "two entries")


@pytest.mark.parametrize("limit", ["LIMIT", "_FILES"])
def test_a_bomb_is_refused(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    body, tree = archive({f"{i}.json": bytes(1_000_000) for i in range(5)})
    monkeypatch.setattr(f"parley.source.archive.{limit}", 4_999_999 if limit == "LIMIT" else 4)
    refused(server, tmp_path, body, tree, "5 files and 5,000,000 bytes, more than")


@pytest.mark.parametrize("damage", ["no zip", "cut", "flipped"])
def test_a_damaged_archive_is_refused(server: Server, tmp_path: Path, damage: str) -> None:
    body, tree = archive({"0.json": BODY})
    middle = len(body) // 2
    damaged = {
        "no zip": b"<html>Sorry!</html>",
        "cut": body[:-100],
        "flipped": body[:middle] + bytes([body[middle] ^ 255]) + body[middle + 1 :],
    }[damage]
    refused(server, tmp_path, damaged, tree, "the archive cannot be read")


def refused(server: Server, cache: Path, body: bytes, tree: str, why: str) -> None:
    server.pages["/x.zip"] = Page(body)
    pin = {"url": server.url("/x.zip"), "member": "x-1/en", "git_tree": tree}
    with pytest.raises(FetchError) as caught:
        run(cache / "cache", {"en": pin})
    assert "en: the archive" in str(caught.value)
    assert why in str(caught.value)
    assert [path for path in cache.rglob("*") if path.name not in ("cache", "talks")] == []
    assert not Path("/evil").exists()
