"""Shows builds in a browser on this machine only, until it is interrupted."""

import secrets
import sys
import time
import webbrowser
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from threading import Thread
from typing import Any, BinaryIO

from parley.base.console import plain, print_message, print_output, progress
from parley.base.errors import ParleyError, UsageError
from parley.base.replace import temporary_folder
from parley.builds.built_folder import BuiltFolder
from parley.page.page_data import ALL, Selection
from parley.page.site import Site


def browse(
    builds: Sequence[BuiltFolder],
    selection: Selection = ALL,
    *,
    port: int = 0,
    open_browser: bool = True,
    is_kept: bool = True,
) -> None:
    """Serve the pages of builds, and print their address.

    A dataset is read when its first page is asked for. `is_kept` tells whether the builds stay, so
    that the pages may name them in code.
    """
    try:
        with temporary_folder("browse") as pages:
            writer = Site(builds, selection, is_kept)

            def make(name: str) -> None:
                with progress("dialogues") as advance:
                    writer.write_dataset(pages, name, advance)
                writer.write_front(pages)

            writer.write_assets(pages)
            writer.write_front(pages)
            parts = SiteParts(writer.datasets)
            with serving(pages, port, parts) as url:
                print_output(plain(f"{url} shows them; Ctrl-C ends it"))
                if open_browser:
                    webbrowser.open(url)
                parts.make_asked(make)
    except KeyboardInterrupt:
        return


class SiteParts:
    """The parts of a site: folders that the main thread makes when a browser first asks for them.

    The main thread makes them because only it receives signals: a signal stops the work. A request
    for a part that is not made is answered at once, and asked again.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.unmade = set(names)
        self.asked: set[str] = set()
        self.errors: dict[str, str] = {}  # name -> why it cannot be made

    def make_asked(self, make: Callable[[str], None]) -> None:
        """Make each part that is asked for, once, until a signal."""
        while True:
            for name in self.unmade & self.asked:
                try:
                    make(name)
                except ParleyError as error:
                    print_message(str(error), "red")
                    self.errors[name] = str(error)
                self.unmade.remove(name)
            time.sleep(0.1)  # an endless wait would miss a signal before it


_READING = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Reading {0}</title>
<script src="{1}assets/reading.js"></script><p>Reading {0}. This takes some seconds.</p></html>"""
_WHOLE = SiteParts()  # of a site that is written already


@contextmanager
def serving(folder: Path, port: int = 0, parts: SiteParts = _WHOLE) -> Iterator[str]:
    """Serve a folder on 127.0.0.1 below a secret path, and yield the URL of the first page.

    Port 0 is any free one. Of the `parts` that are not made, it serves a page that asks again.
    UsageError if the port cannot be taken.
    """
    root = f"/{secrets.token_urlsafe(16)}/"
    try:
        handler = partial(_Handler, root, parts, directory=str(folder))
        server = _Server(("127.0.0.1", port), handler)
    except (OSError, OverflowError) as error:
        remedy = "Name another port, or leave out --port to take a free port."
        why = getattr(error, "strerror", "expected 0 to 65535")
        raise UsageError(f"--port {port}: {why}", remedy=remedy) from error
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{root}"
    finally:
        server.shutdown()
        server.server_close()


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print why a request failed, unless the browser disconnected."""
        error = sys.exc_info()[1]
        if not isinstance(error, ConnectionError | TimeoutError):
            print_message(f"cannot serve a page: {type(error).__name__}: {error}", "yellow")


class _Handler(SimpleHTTPRequestHandler):
    """Serves files without a log, only to its own pages and below its secret path.

    The checks stop other pages from reading the data by DNS rebinding or as a script.
    """

    timeout = 30

    def __init__(self, root: str, parts: SiteParts, *arguments: Any, **options: Any) -> None:
        self._root, self._parts = root, parts
        super().__init__(*arguments, **options)

    def _refusal(self) -> HTTPStatus | None:
        """Return the status that refuses a request, or None."""
        if self.headers.get("Host", "").rpartition(":")[0] not in ("127.0.0.1", "localhost"):
            return HTTPStatus.MISDIRECTED_REQUEST
        if not self.path.startswith(self._root):
            return HTTPStatus.NOT_FOUND
        # other pages may link here, but not embed or load files
        by_ours = self.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin")
        if by_ours or self.headers.get("Sec-Fetch-Dest") == "document":
            return None
        return HTTPStatus.FORBIDDEN

    def translate_path(self, path: str) -> str:
        return super().translate_path(path.removeprefix(self._root[:-1]))

    def send_head(self) -> BytesIO | BinaryIO | None:
        if status := self._refusal():
            self.send_error(status)
            return None
        try:
            path = Path(self.translate_path(self.path)).relative_to(self.directory)
            part = "".join(path.parts[:1])
            if part in self._parts.unmade:
                return self._reading(part)
            if error := self._parts.errors.get(part):
                self.send_error(HTTPStatus.INTERNAL_SERVER_ERROR, explain=plain(error))
                return None
            return super().send_head()
        except ValueError:  # invalid file name
            self.send_error(HTTPStatus.NOT_FOUND)
            return None

    def _reading(self, part: str) -> BytesIO:
        """Ask for a part, and send a page that says what is read, and asks again."""
        self._parts.asked.add(part)
        self.send_response(HTTPStatus.SERVICE_UNAVAILABLE)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Security-Policy", "default-src 'none'; script-src 'self'")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        return BytesIO(_READING.format(part, self._root).encode())

    def list_directory(self, path: Any) -> None:
        self.send_error(HTTPStatus.NOT_FOUND)

    def end_headers(self) -> None:
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass
