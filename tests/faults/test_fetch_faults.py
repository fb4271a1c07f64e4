"""After any fault of a server, disk or process, final names in the cache hold the right files.

The next fetch completes. tests/test_fetch.py has the faults with a message of their own.
"""

import json
import os
import random
import signal
import time

import pytest
from file_server import BODY, QUICK, Page, archive

from parley.base.errors import FetchError
from parley.source import download
from parley.source.fetch import fetch


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    for name, value in QUICK.items():
        monkeypatch.setattr(download, name, value)


def run(cache, sources):
    return fetch("talks", sources, cache)


def wrong_files(cache, right):
    """Return the final names that hold wrong content."""
    found = (p for p in cache.rglob("*") if p.is_file() and ".parley-part" not in str(p))
    names = {str(p.relative_to(cache / "talks")): p.read_bytes() for p in found}
    return [name for name, content in names.items() if content != right.get(name)]


def survives(cache, server, sources, right):
    """Fetch from a faulty server, then from a good one; return the first error."""
    error = None
    try:
        run(cache, sources)
    except FetchError as caught:
        error = caught
        assert {problem.place for problem in error.problems} == {"a"}
        assert error.remedy
    assert wrong_files(cache, right) == []
    server.pages["/a"] = Page(BODY)
    run(cache, sources)
    assert {p.name: p.read_bytes() for p in (cache / "talks").iterdir()} == right
    return error


STATUSES = dict.fromkeys((408, 425, 429, 500, 502, 503, 504), 3)  # requests
STATUSES |= dict.fromkeys((400, 401, 403, 404, 410, 418, 451, 501, 505), 1)


@pytest.mark.parametrize("status", STATUSES)
def test_a_lasting_status(server, tmp_path, pin, status):
    server.pages["/a"] = Page(BODY, statuses=[status] * 99)
    error = survives(tmp_path, server, {"a": pin}, {"a": BODY})
    assert error.problems[0].what.startswith(f"{pin['url']}: ")
    assert str(status) in error.problems[0].what
    assert ("--source" in error.remedy) == (status in (401, 403, 404, 410, 451))
    assert len(server.requests) == STATUSES[status] + 1  # and the good one


OK = b"HTTP/1.1 200 OK\r\n"
ODD = {  # httpx2 knows what is HTTP; that each of its errors is one of ours
    "nothing": b"",
    "204": b"HTTP/1.1 204 No Content\r\n\r\n",
    "416 for the whole": b"HTTP/1.1 416 No\r\nContent-Length: 0\r\n\r\n",
    "206 for the whole": b"HTTP/1.1 206 OK\r\nContent-Length: 9\r\n\r\n" + BODY[:9],
    "206 with a long number": b"HTTP/1.1 206 OK\r\nContent-Range: bytes %b-%b/9\r\n\r\n"
    % (b"9" * 5000, b"9" * 5000),
    "length of 5000 digits": OK + b"Content-Length: %b\r\n\r\n" % (b"9" * 5000) + BODY[:9],
    "length of 18 digits": OK + b"Content-Length: 999999999999999999\r\n\r\n" + BODY[:9],
    "cut chunk": OK + b"Transfer-Encoding: chunked\r\n\r\n40\r\n" + BODY[:9],
    "no gzip": OK + b"Content-Encoding: gzip\r\n\r\n" + BODY[:999],
}
PLACES = ["/a", "", "http://[", "http://127.0.0.1:99999/", "file:///etc/passwd"]  # /a: for ever
MOVED = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: %b\r\n\r\n"
ODD |= {f"to {place[:30]}": MOVED % place.encode() for place in PLACES}


@pytest.mark.parametrize("answer", ODD)
def test_an_odd_answer(server, tmp_path, pin, answer):
    server.pages["/a"] = Page(BODY, raw=ODD[answer])
    error = survives(tmp_path, server, {"a": pin}, {"a": BODY})
    assert error.problems[0].what.startswith(f"{pin['url']}: ")
    assert len(str(error).splitlines()) == 3


PREPARE = "import json; from pathlib import Path; from parley.source.fetch import fetch"
JOB = 'fetch("talks", json.loads(arguments[0]), Path(arguments[1]))'


@pytest.fixture
def talks(server, pin):
    """Sources of two files and an archive of 40, from a server that takes its time."""
    members = {f"{n}": os.urandom(2000) for n in range(40)}
    body, tree = archive(members)
    pages = {"/a": BODY, "/b": BODY, "/x.zip": body}
    server.pages |= {path: Page(content, pause=0.005) for path, content in pages.items()}
    en = {"url": server.url("/x.zip"), "member": "x-1/en", "git_tree": tree}
    sources = {"a": pin, "b": pin | {"url": server.url("/b")}, "en": en}
    right = {f"en/{name}": content for name, content in members.items()}
    return json.dumps(sources), {**right, "a": BODY, "b": BODY}


@pytest.mark.parametrize(("trials", "kill"), [(1, False), (8, True)])
def test_two_fetches_at_once(server, tmp_path, forks, talks, trials, kill):
    sources, right = talks
    first, second = forks(PREPARE, JOB), forks(PREPARE, JOB)
    draw = random.Random(16)
    for number in range(trials):
        cache = tmp_path / str(number)
        child = first.start(sources, cache)
        second.start(sources, cache)
        if kill:
            time.sleep(draw.random() / 4)
            os.kill(child, signal.SIGKILL)
        assert first.wait() in ((0, -signal.SIGKILL) if kill else (0,))
        assert second.wait() == 0
        left = [p for p in (cache / "talks").iterdir() if p.name not in {"a", "b", "en"}]
        # A kill can leave an empty part: the lock of a file that the other fetch just completed
        assert [p.name for p in left if p.suffix != ".parley-part" or p.stat().st_size] == []
        assert wrong_files(cache, right) == []
    if not kill:  # each file was fetched once
        assert sorted(path for path, _ in server.requests) == ["/a", "/b", "/x.zip"]
