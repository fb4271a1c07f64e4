"""A real HTTP server on 127.0.0.1 that serves what a test gives it, with the faults it asks for."""

import hashlib
import io
import random
import re
import stat
import threading
import time
import zipfile
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY = random.Random(7).randbytes(200_000)  # of "/a", by the fixture `server`
QUICK = {"TRIES": 3, "BACKOFF": 0.01, "LONGEST_WAIT": 0.05, "CONNECT": 5.0, "READ": 1.0}
"""How long a fetch bears with this server, to be set in `parley.source.download`."""


def pinned(url, body, **more):
    return {"url": url, "size": len(body), "sha256": hashlib.sha256(body).hexdigest(), **more}


def blob(body):
    return hashlib.sha1(b"blob %d\0%b" % (len(body), body)).hexdigest()


def archive(members, others=None, mode=stat.S_IFREG, method=zipfile.ZIP_DEFLATED):
    """Return a zip with members below x-1/en and others anywhere, and the git tree of the first."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        file.writestr("x-1/", b"")
        file.writestr("x-1/en/", b"")
        entries = {**{f"x-1/en/{name}": body for name, body in members.items()}, **(others or {})}
        for name, body in entries.items():
            entry = zipfile.ZipInfo(name)
            entry.filename = name  # ZipInfo tidies it
            entry.external_attr = (mode | 0o644) << 16
            entry.compress_type = method
            file.writestr(entry, body)
    tree = b"".join(
        b"100644 %b\0%b" % (name.encode(), bytes.fromhex(blob(body)))
        for name, body in sorted(members.items())
    )
    return buffer.getvalue(), hashlib.sha1(b"tree %d\0%b" % (len(tree), tree)).hexdigest()


class _Threads(ThreadingHTTPServer):
    daemon_threads, request_queue_size = True, 64


class Local:
    """A server on 127.0.0.1, in a thread of its own, while a `with` lasts."""

    handler: type[BaseHTTPRequestHandler]  # its connections know the server as `site`

    def __enter__(self):
        self.http = _Threads(("127.0.0.1", 0), type("Handler", (self.handler,), {"site": self}))
        self.endpoint = f"http://127.0.0.1:{self.http.server_port}"
        self._thread = threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()
        self._thread.join()


class Connection(BaseHTTPRequestHandler):
    """One connection, which logs nothing; `respond` answers any request."""

    do_GET = do_HEAD = do_POST = do_PUT = lambda self: self.respond()  # noqa: N815

    def answer(self, status, headers, body=b""):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@dataclass
class Page:
    """What one path answers, and with which faults."""

    body: bytes
    ranges: bool = True  # whether Range is understood
    drop: list[int] = field(default_factory=list)  # body bytes before each of these drops
    statuses: list[int] = field(default_factory=list)  # answered before the body is
    headers: dict[str, str | None] = field(default_factory=dict)  # sent instead of the right ones
    serve_from: int | None = None  # where the answer to a Range starts, whatever was asked for
    raw: bytes | None = None  # sent instead of any answer
    pause: float = 0  # seconds before each block of the body
    block: int = 1 << 14


class Server(Local):
    """The server: set `pages[path]`, read `requests` to see what came in."""

    def __init__(self):
        self.handler = _Handler
        self.pages: dict[str, Page] = {}
        self.requests: list[tuple[str, str | None]] = []  # path, Range
        self.headers: list[dict[str, str]] = []

    def url(self, path):
        return self.endpoint + path

    def ranges(self, path):
        """Return the Range headers of the requests for a path, in order."""
        return [wanted for asked, wanted in self.requests if asked == path]


class _Handler(Connection):
    site: Server

    def respond(self):
        if self.command == "HEAD":
            page = self.site.pages.get(self.path)
            size = str(len(page.body)) if page else "0"
            return self.answer(200 if page else 404, {"Content-Length": size})
        wanted = self.headers["Range"]
        self.site.requests.append((self.path, wanted))
        self.site.headers.append(dict(self.headers))
        page = self.site.pages.get(self.path)
        if page is None:
            return self.answer(404, {})
        if page.raw is not None:
            self.close_connection = True
            with suppress(ConnectionError):
                self.wfile.write(page.raw)
            return None
        if page.statuses:
            return self.answer(page.statuses.pop(0), page.headers)
        start, total = 0, len(page.body)
        headers = {}
        if wanted and page.ranges:
            found = re.fullmatch(r"bytes=(\d+)-\d*", wanted)
            assert found, wanted
            start = int(found[1]) if page.serve_from is None else page.serve_from
            if start >= total:
                return self.answer(416, {"Content-Range": f"bytes */{total}"})
            headers["Content-Range"] = f"bytes {start}-{total - 1}/{total}"
        self.send_response(206 if headers else 200)
        for name, value in ({"Content-Length": total - start} | headers | page.headers).items():
            if value is not None:
                self.send_header(name, value)
        self.end_headers()
        end = start + page.drop.pop(0) if page.drop else total
        self.close_connection = True
        with suppress(ConnectionError):  # the client has gone away
            for at in range(start, end, page.block):
                time.sleep(page.pause)
                self.wfile.write(page.body[at : min(at + page.block, end)])
        return None
