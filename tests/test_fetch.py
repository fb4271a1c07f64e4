"""Fetching, against a real server that misbehaves in every way we know of."""

import gzip
import io
import random
import re
import resource
import shutil
import socket
import ssl
import stat
import struct
import zipfile
from pathlib import Path

import pytest
from file_server import BODY, QUICK, Page, archive, blob, pinned

from parley.base.disk import cache_folder
from parley.base.errors import FetchError, UsageError
from parley.source import download
from parley.source.download import ArchiveError, open_archive
from parley.source.fetch import fetch
from parley.source.hashes import git_tree, problem, whence

OTHER = random.Random(8).randbytes(150_000)  # what a mirror has in its place
WRONG = b"?" + BODY[1:]
NO_LENGTH, GZIP = {"Content-Length": None}, {"Content-Encoding": "gzip"}
NOBODY = "http://127.0.0.1:1/x"  # where nobody listens


def files(folder):
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


def tried(problems):
    return [(each.place, each.what.partition(": ")[0]) for each in problems]


@pytest.fixture
def steps():
    """What the fetches of a test said of their progress: (source, bytes or a reason, total)."""
    return []


@pytest.fixture
def run(steps, tmp_path, monkeypatch):
    for name, value in QUICK.items():
        monkeypatch.setattr(download, name, value)

    def run(sources, cache=tmp_path, **more):
        more = {"on_progress": lambda *step: steps.append(step), **more}
        return fetch("talks", sources, cache, **more)

    return run


@pytest.fixture
def failure(run):
    def failure(sources, *cache):
        with pytest.raises(FetchError) as caught:
            run(sources, *cache)
        return caught.value

    return failure


def test_git_ids_are_those_that_git_computes(tmp_path):
    """In the order of bytes, not that of a dictionary: `git write-tree` gave the id."""
    for name, body in {"a.b": b"", "a-b": b"one\n", "Z": b"2", "é": b"three"}.items():
        (tmp_path / name).write_bytes(body)
    assert git_tree(list(tmp_path.iterdir())) == "f05821267b265b6e04e8ac85f6aedb80c8490268"
    assert blob(b"one\n") == "5626abf0f72e58d7a153368ba57db4c673c0e171"


SHA256, GIT = pinned("http://a/file", b"abc"), {"git_blob": blob(b"abc")}


@pytest.mark.parametrize(("pin", "content", "differs"), [
    *((SHA256, b"abc", ""), (SHA256, b"abcd", "size"), (SHA256, b"abd", "sha256")),
    *((GIT, b"abc", ""), (GIT, b"abd", "git_blob"), (GIT, None, "missing")),
])  # fmt: skip
def test_a_file_is_compared_with_its_pin(tmp_path, pin, content, differs):
    if content is not None:
        (tmp_path / "file").write_bytes(content)
    assert (problem(tmp_path / "file", pin) or "").partition(" ")[0] == differs
    assert problem(tmp_path, pin), "a folder is no file"


@pytest.mark.parametrize(("name", "change", "differs"), [
    ("1.json", lambda path: path.write_text("one"), "git_tree"),
    (".DS_Store", Path.touch, ".DS_Store"),
    ("2.json", Path.unlink, "2"),
    ("2.json", lambda path: (path.unlink(), path.symlink_to("1.json")), "2.json"),
    ("2.json", lambda path: (path.unlink(), path.mkdir()), "2.json"),
    ("", lambda path: (shutil.rmtree(path), path.touch()), "folder"),
])  # fmt: skip
def test_a_folder_is_compared_with_its_pin(tmp_path, name, change, differs):
    folder = tmp_path / "en"
    folder.mkdir()
    for i in range(3):
        (folder / f"{i}.json").write_text(str(i))
    tree = git_tree(list(folder.iterdir()))
    pin = {"url": "http://here/x.zip", "member": "x/en", "git_tree": tree, "files": 3}
    assert problem(folder, pin) is None
    assert problem(folder, pin | {"files": 4})  # though of this tree
    assert pin["member"] in whence(pin)
    change(folder / name)
    assert differs in problem(folder, pin)


@pytest.mark.parametrize("length", [True, False], ids=["length", "no length"])
@pytest.mark.parametrize(("size", "kind"), [(True, "sha256"), (False, "git_blob")])
def test_a_file_is_brought_and_then_left_alone(server, pin, run, steps, kind, size, length):
    server.pages["/a"] = Page(BODY, headers={} if length else NO_LENGTH)
    pin["git_blob"] = blob(BODY)
    source = {"data/a.json": {k: pin[k] for k in ("url", kind, *(["size"] if size else []))}}
    folder = run(source)
    assert (folder / "data/a.json").read_bytes() == BODY
    assert steps[0] == ("data/a.json", "asking 127.0.0.1", None)
    assert steps[-1] == ("data/a.json", len(BODY), len(BODY) if size or length else None)
    assert server.headers[0]["Accept-Encoding"] == "identity"
    before = folder.stat().st_mtime_ns
    run(source)
    assert len(server.requests) == 1
    assert files(folder) == ["data/a.json"]
    assert folder.stat().st_mtime_ns == before  # the cache may be read-only


PART, RESUMED = BODY[:1000], "bytes=1000-"


@pytest.mark.parametrize(("left", "size", "fault", "asked"), [
    (PART, True, {}, [RESUMED]), (PART, True, {"ranges": False}, [RESUMED]),
    (PART, True, {"serve_from": 7}, [RESUMED, None]),
    (PART, True, {"serve_from": 7, "headers": {"Content-Range": "bytes"}}, [RESUMED, None]),
    (bytes(1000), True, {}, [RESUMED, None]),  # of another file
    (bytes(len(BODY)), True, {}, [None]), (BODY, True, {}, []),
    (BODY, False, {}, [f"bytes={len(BODY)}-", None]),  # the server answers 416
    (BODY + b"extra", True, {}, [f"bytes={len(BODY) + 5}-", None]),
])  # fmt: skip
def test_what_a_fetch_left_is_taken_where_it_belongs(
    server, tmp_path, pin, run, left, size, fault, asked
):
    (tmp_path / "talks").mkdir()
    (tmp_path / "talks/a.parley-part").write_bytes(left)
    server.pages["/a"] = Page(BODY, **fault)
    if not size:
        del pin["size"]
    assert (run({"a": pin}) / "a").read_bytes() == BODY
    assert files(tmp_path) == ["talks/a"]
    assert server.ranges("/a") == asked


@pytest.mark.parametrize("lacks", ["a size", "a length"])
def test_a_body_that_is_cut_goes_on_as_its_pin_or_its_length_says(server, pin, run, lacks):
    if lacks == "a size":
        del pin["size"]
    headers = NO_LENGTH if lacks == "a length" else {}
    server.pages["/a"] = Page(BODY, drop=[100_000], headers=headers)
    assert (run({"a": pin}) / "a").read_bytes() == BODY
    assert len(server.requests) == 2


@pytest.mark.parametrize(("page", "differs", "most"), [
    (Page(WRONG), "sha256 ", len(BODY)),
    (Page(BODY + b"!"), "size ", 0),  # is seen at once
    (Page(BODY * 20, headers=NO_LENGTH), "size ", 300_000),
    (Page(gzip.compress(bytes(10_000_000)), headers=GZIP), ".*gzip", 0),  # was not asked for
], ids=["wrong", "long", "endless", "compressed"])  # fmt: skip
def test_wrong_bytes_never_get_the_name(server, tmp_path, pin, failure, steps, page, differs, most):
    server.pages["/a"] = page
    (wrong,) = failure({"data/a": pin}).problems
    assert wrong.place == "data/a"
    assert re.match(f"{pin['url']}: {differs}", wrong.what)
    assert all(done <= most for _, done, _ in steps[1:])
    assert files(tmp_path) == []


ODD_WAITS = ("0", "-1", "soon", "NaN", "inf", "9" * 5000, "²", "x, 99 y 9 9")
LONG_WAITS = ("15", "9" * 30, "Fri, 31 Dec 9999 23:59:59 GMT")


@pytest.mark.parametrize(("retry_after", "waits"), [
    *((after, ["0.01", "0.02"]) for after in (None, *ODD_WAITS)),
    *((after, ["0.05", "0.05"]) for after in LONG_WAITS),
])  # fmt: skip
def test_a_passing_error_is_waited_out_aloud(server, pin, run, steps, retry_after, waits):
    headers = {"Retry-After": retry_after} if retry_after else {}
    server.pages["/a"] = Page(BODY, statuses=[429, 503], headers=headers)
    run({"a": pin})
    found = [re.search(r" (?:429|503) .* ([\d.]+) s \((.*)\)", str(said)) for _, said, _ in steps]
    due = list(zip(waits, ("2 of 3", "3 of 3"), strict=True))
    assert [each.groups() for each in found if each] == due
    assert len(server.requests) == 3


def test_a_silent_server_is_not_waited_for(server, pin, failure, steps):
    server.pages["/a"] = Page(BODY, pause=1.3, block=120_000)  # QUICK waits 1 s
    assert [each.place for each in failure({"a": pin}).problems] == ["a"]
    assert len(server.requests) == 3
    assert sum("0 bytes" in str(said) for _, said, _ in steps) == 2


NO_CERTIFICATE = ssl.SSLCertVerificationError(1, "certificate verify failed")
NO_CERTIFICATE.verify_message = "self-signed certificate"


@pytest.mark.parametrize(("error", "remedy"), [
    (socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution"), "HTTPS_PROXY"),
    (NO_CERTIFICATE, "SSL_CERT_FILE"),
])  # fmt: skip
def test_an_unknown_host_or_a_wrong_certificate_is_asked_once(failure, monkeypatch, error, remedy):
    asked = []

    def connect(host, *_):
        asked.append(host)
        raise error

    monkeypatch.setattr(socket, "getaddrinfo", connect)
    assert remedy in failure({"a": pinned("https://nowhere.invalid/a", BODY)}).remedy
    assert asked == ["nowhere.invalid"]


def test_a_proxy_that_does_not_answer_is_named_as_the_cause(run, failure, monkeypatch):
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    source = {"a": pinned("http://nowhere.invalid/a", BODY)}
    assert "HTTPS_PROXY" in failure(source).remedy
    monkeypatch.setenv("http_proxy", "socks9://127.0.0.1:1")
    with pytest.raises(UsageError):
        run(source)


def test_redirects_are_followed_at_each_try_but_not_for_ever(server, pin, run, failure):
    """As a Hub's, which answers with one for what it keeps in Xet."""
    moved = Page(b"", statuses=[302] * 9, headers={"Location": "/a"})
    server.pages |= {"/b": moved, "/a": Page(BODY, drop=[50_000])}
    assert (run({"a": pinned(server.url("/b"), BODY)}) / "a").read_bytes() == BODY
    assert server.ranges("/a") == server.ranges("/b") == [None, "bytes=49152-"]
    server.pages["/a"] = Page(b"", statuses=[302] * 9, headers={"Location": "/b"})
    server.requests.clear()
    failure({"b": pin})
    assert len(server.requests) == 6


def test_all_failures_are_named_and_the_rest_is_fetched(server, tmp_path, pin, failure):
    server.pages["/wrong"] = Page(WRONG)
    gone = pinned(server.url("/gone"), BODY)
    mirrored = pinned(NOBODY, OTHER, mirrors=[pinned(server.url("/wrong"), BODY)])
    error = failure({"gone": gone, "mirrored": mirrored, "gone, too": gone, "ok": pin})
    assert tried(error.problems) == [
        ("gone", gone["url"]),
        *(("mirrored", url) for url in (NOBODY, server.url("/wrong"))),
        ("gone, too", gone["url"]),
    ]
    assert error.remedy.count("--source") == 1
    assert files(tmp_path) == ["talks/ok"]


LACKS = {"404": None, "broke": Page(BODY, drop=[99_000] * 99, ranges=False), "sha256": Page(WRONG)}


@pytest.mark.parametrize("lack", LACKS)
def test_what_cannot_be_had_is_taken_from_a_mirror(server, pin, run, lack):
    server.pages["/b"] = Page(OTHER)
    if LACKS[lack]:
        server.pages["/x"] = LACKS[lack]
    mirror = pinned(server.url("/b"), OTHER)
    gone = pinned(server.url("/gone"), b"else")
    pin = pinned(server.url("/x"), BODY, mirrors=[gone, mirror])
    told = []
    folder = run({"a": pin}, on_mirror=lambda *took: told.append(took))
    assert (folder / "a").read_bytes() == OTHER
    ((source, place, problems),) = told
    assert (source, place) == ("a", mirror)
    assert tried(problems) == [("a", pin["url"]), ("a", gone["url"])]
    assert lack in problems[0].what
    asked = len(server.requests)
    run({"a": pin})  # what a mirror gave stays
    assert len(server.requests) == asked
    assert files(folder) == ["a"]


def test_a_mirror_that_has_nothing_leaves_what_came(server, tmp_path, pin, run, failure):
    server.pages["/a"] = Page(BODY, drop=[100_000, 0, 0, 0])
    pin["mirrors"] = [pinned(server.url("/b"), OTHER)]  # where nothing is yet
    failure({"a": pin})
    size = (tmp_path / "talks/a.parley-part").stat().st_size
    assert size > 50_000
    server.pages |= {"/a": Page(BODY), "/b": Page(OTHER)}
    server.requests.clear()
    run({"a": pin}, on_mirror=lambda *took: pytest.fail("nothing was taken from a mirror"))
    assert (tmp_path / "talks/a").read_bytes() == BODY
    assert server.requests == [("/a", f"bytes={size}-")]


def zipped(server, members, others=None):
    """Serve a zip; return the pin of the folder of its members."""
    body, tree = archive(members, others)
    server.pages["/x.zip"] = Page(body)
    return {"url": server.url("/x.zip"), "member": "x-1/en", "git_tree": tree}


@pytest.mark.parametrize("what", ["a file", "a folder"])
def test_a_disk_that_takes_no_more(server, tmp_path, pin, run, failure, what):
    if what == "a folder":  # whose archive is small
        pin = zipped(server, {"0.json": bytes(len(BODY))})
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        error = failure({"a": pin})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert str(tmp_path / "talks") in error.problems[0].what
    assert "PARLEY_CACHE" in error.remedy
    assert not (tmp_path / "talks/a").exists()
    assert (run({"a": pin}) / "a").exists()


def test_no_link_is_written_through(tmp_path, pin, failure):
    (tmp_path / "talks").mkdir()
    (tmp_path / "mine").write_text("years of work")
    (tmp_path / "talks/a.parley-part").symlink_to("../mine")
    assert str(tmp_path / "talks") in failure({"a": pin}).problems[0].what
    assert (tmp_path / "mine").read_text() == "years of work"


def test_a_cache_that_cannot_be_written(tmp_path, pin, failure):
    (tmp_path / "file").write_text("no folder")
    assert failure({"a": pin}, tmp_path / "file").remedy.startswith("Set PARLEY_CACHE")


def test_a_file_that_may_not_be_read_is_not_brought_again(server, tmp_path, pin, failure):
    unread = tmp_path / "talks/a"
    unread.parent.mkdir()
    unread.symlink_to("a")  # a loop: unlike a lack of permission it stops also root
    (wrong,) = failure({"a": pin, "b": pin}).problems
    assert wrong.place == str(unread)
    assert len(server.requests) == 1
    assert files(tmp_path) == ["talks/b"]


def test_the_cache_folder(monkeypatch, tmp_path):
    for name in ("PARLEY_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    with monkeypatch.context() as patch:  # a user id without an entry, as in a container
        patch.setattr("os.getuid", lambda: 4_000_000)
        with pytest.raises(UsageError):
            cache_folder()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache/parley"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg/parley"
    monkeypatch.setenv("PARLEY_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"


def test_folders_come_from_one_archive(server, run):
    pin = zipped(server, {"1.json": b"one", "0.json": b"zero"}, {"x-1/ja/0.json": b""})
    ja = {**pin, "member": "x-1/ja", "git_tree": archive({"0.json": b""})[1], "files": 1}
    sources = {"ed/en": {**pin, "files": 2}, "ed/ja": ja}
    folder = run(sources)
    assert files(folder) == ["ed/en/0.json", "ed/en/1.json", "ed/ja/0.json"]
    assert (folder / "ed/en/1.json").read_bytes() == b"one"
    (folder / "ed/ja/0.json").write_bytes(b"damaged")
    theirs = ["ed/ja.part/thesis.tex", "x.zip.part/thesis.tex"]  # whatever a person keeps there
    left = "ed/ja.parley-part/junk"  # of an interrupted fetch
    for name in (*theirs, left):
        (folder / name).parent.mkdir()
        (folder / name).write_bytes(b"years of work")
    run(sources)
    assert (folder / "ed/ja/0.json").read_bytes() == b""
    (folder / "x.zip.parley-part").write_bytes(b"of a fetch killed after it extracted all")
    run(sources)
    assert files(folder) == sorted(["ed/en/0.json", "ed/en/1.json", "ed/ja/0.json", *theirs])
    assert len(server.requests) == 2


def test_an_archive_that_is_gone_is_asked_for_once(server, failure, steps):
    pin = {"url": server.url("/x.zip"), "member": "x-1/en", "git_tree": "0" * 40}
    (gone,) = failure({"en": pin, "ja": {**pin, "member": "x-1/ja"}}).problems
    assert gone.place == "x.zip"
    assert steps == [("x.zip", "asking 127.0.0.1", None)]


def test_a_wrong_folder_leaves_the_others_and_no_litter(server, tmp_path, failure):
    en = zipped(server, {"0.json": b"zero"}, {"x-1/ja/0.json": b"rei"})
    ja, ko = ({**en, "member": f"x-1/{name}", "git_tree": "0" * 40} for name in ("ja", "ko"))
    wrong, absent = failure({"ja": ja, "ko": ko, "en": en}).problems
    assert (wrong.place, absent.place) == ("ja", "ko")
    assert wrong.what.startswith(f"{en['url']}: git_tree ")
    assert "x-1/ko/" in absent.what
    assert [path.name for path in (tmp_path / "talks").iterdir()] == ["en"]
    assert files(tmp_path) == ["talks/en/0.json"]


OUTSIDE = ["x-1/../../evil", "/evil", "\\evil", "C:evil", "elsewhere/.."]
DEEPER = ["x-1/en/deeper/0.json", "x-1/en/deeper/", "x-1/en/a\\b"]


def with_header(body, at, value):
    """Return a zip with a number put behind the versions that each of its headers begins with."""
    return re.sub(
        rb"(PK\x03\x04..|PK\x01\x02....)(.{%d}).." % at,
        lambda found: found[1] + found[2] + value.to_bytes(2, "little"),
        body,
        flags=re.DOTALL,
    )


SOUND, _ = archive({"0.json": BODY})
MIDDLE, VERSION = len(SOUND) // 2, SOUND.rindex(b"PK\x01\x02") + 6
ODD = {
    **{f"path {name}": archive({"0.json": b"zero"}, {name: b""})[0] for name in OUTSIDE + DEEPER},
    "a link": archive({"0.json": b"/etc/passwd"}, mode=stat.S_IFLNK)[0],
    "a member twice": archive({"0": b"zero", "1": b"one"})[0].replace(b"en/1", b"en/0"),
    "encrypted": with_header(SOUND, 0, 1),
    "no zip": b"<html>Sorry!</html>",
    "cut": SOUND[:-100],
    "flipped": SOUND[:MIDDLE] + bytes([SOUND[MIDDLE] ^ 255]) + SOUND[MIDDLE + 1 :],
    "later": SOUND[:VERSION] + b"\xff" + SOUND[VERSION + 1 :],
    **{  # a method that git does not use
        f"method {method}": with_header(SOUND, 2, method)
        for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, 9, 93, 99)
    },
    "too many files": archive(dict.fromkeys(map(str, range(10_001)), b""))[0],
    "too many bytes": archive({f"{i}.json": bytes(1_000_000) for i in range(5)})[0],
}


@pytest.mark.parametrize("what", ODD)
def test_an_odd_archive_is_refused(server, tmp_path, pin, failure, monkeypatch, what):
    """In one message; nothing of it stays; the other source is there."""
    monkeypatch.setattr("parley.source.download.LIMIT", 4_999_999)
    server.pages["/x.zip"] = Page(ODD[what])
    folder = {"url": server.url("/x.zip"), "member": "x-1/en", "git_tree": "0" * 40}
    (wrong,) = failure({"en": folder, "a": pin}, tmp_path / "cache").problems
    assert wrong.place == "en"
    assert wrong.what.startswith(f"{folder['url']}: the archive ")  # not only its git_tree
    assert {path.name for path in tmp_path.rglob("*")} == {"cache", "talks", "a"}
    assert not Path("/evil").exists()


def test_a_list_of_too_many_entries_is_not_read():
    size = 17_000_000
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, size, 0, 0)
    with pytest.raises(ArchiveError):
        open_archive(io.BytesIO(bytes(size) + end))
