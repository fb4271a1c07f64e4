"""A small server that speaks the chat protocol of OpenAI, and fails on demand."""

import json
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANSWER = {"role": "assistant", "content": "?"}


def completion(text="?", finish="stop", model="tiny", **message):
    """Return the body of an answer."""
    choice = {"index": 0, "finish_reason": finish, "message": ANSWER | {"content": text} | message}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return {"id": "x", "object": "chat.completion", "model": model, "choices": [choice]} | {
        "created": 0,
        "usage": usage,
    }


class ModelServer(ThreadingHTTPServer):
    """Calls `answer(request)`: a text, a body, bytes to cut, or (status, headers[, bytes])."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer, self.requests, self.lock = answer, [], threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request, client_address):
        """Say nothing of a client that was killed."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ModelServer

    def do_POST(self):
        with suppress(ConnectionError):
            self._answer()

    def _answer(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.requests.append((self.headers.get("Authorization"), request))
        found = self.server.answer(request)
        status, headers = 200, {}
        if isinstance(found, tuple):
            status, headers, *body = found
            found = {"error": {"message": f"status {status}"}}
            if body:
                self._send(status, headers, *body)
                return
        if isinstance(found, bytes):  # a connection that is cut
            self.send_response(200)
            self.send_header("Content-Length", str(len(found) + 100))
            self.end_headers()
            self.wfile.write(found)
            self.close_connection = True
            return
        body = json.dumps(completion(found) if isinstance(found, str) else found).encode()
        self._send(status, headers, body)

    def _send(self, status, headers, body):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """Log nothing."""


@contextmanager
def serving(answer):
    """Yield a server that answers with `answer`."""
    with ModelServer(answer) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
