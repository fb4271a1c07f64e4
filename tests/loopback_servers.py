"""What the servers of these tests are made of."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


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
