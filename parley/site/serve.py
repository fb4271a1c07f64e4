"""Serves a written site to a browser on this machine, and to nobody else."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a folder on 127.0.0.1 while the block runs.

    Yields:
        The URL of its first page.
    """
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(folder)))
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


class _Handler(SimpleHTTPRequestHandler):
    """Serves files in silence, and only to who asks this machine by its own name.

    A page elsewhere could otherwise have a name of its own lead here, and read what is served.
    """

    timeout = 30

    def parse_request(self) -> bool:
        if not super().parse_request():
            return False
        host = self.headers.get("Host", "").rpartition(":")[0]
        if host in ("127.0.0.1", "localhost"):
            return True
        self.send_error(421)
        return False

    def log_message(self, format: str, *args: Any) -> None:
        pass
