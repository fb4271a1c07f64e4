"""A small server that speaks the chat protocol of OpenAI, and fails on demand."""

import json
import threading
from contextlib import suppress

from local import Connection, Local

ANSWER = {"role": "assistant", "content": "?"}


def completion(text="?", finish="stop", model="tiny", **message):
    """Return the body of an answer."""
    choice = {"index": 0, "finish_reason": finish, "message": ANSWER | {"content": text} | message}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    return {"id": "x", "object": "chat.completion", "model": model, "choices": [choice]} | {
        "created": 0,
        "usage": usage,
    }


class serving(Local):  # noqa: N801
    """Calls `answer(request)`: a text, a body, bytes to cut, or (status, headers[, bytes])."""

    def __init__(self, answer):
        self.handler, self.reply, self.requests, self.lock = _Handler, answer, [], threading.Lock()

    def __enter__(self):
        super().__enter__()
        self.http.handle_error = lambda *_: None  # of a client that was killed
        self.url = f"{self.endpoint}/v1"
        return self


class _Handler(Connection):
    protocol_version = "HTTP/1.1"
    site: serving

    def respond(self):
        with suppress(ConnectionError):
            self._answer()

    def _answer(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.site.lock:
            self.site.requests.append((self.headers.get("Authorization"), request))
        found = self.site.reply(request)
        if isinstance(found, bytes):  # a connection that is cut
            self.answer(200, {"Content-Length": str(len(found) + 100)}, found)
            self.close_connection = True
        elif isinstance(found, tuple):
            status, headers, *body = found
            error = {"error": {"message": f"status {status}"}}
            self.answer(status, headers, *(body or [json.dumps(error).encode()]))
        else:
            body = completion(found) if isinstance(found, str) else found
            self.answer(200, {}, json.dumps(body).encode())
