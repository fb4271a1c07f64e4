"""A small server that speaks the chat protocol of OpenAI."""

import json
from contextlib import suppress

from local import Connection, Local


class serving(Local):  # noqa: N801
    """Answers each of its `requests` with the text that `answer(request)` returns."""

    def __init__(self, answer):
        self.handler, self.reply, self.requests = _Handler, answer, []

    def __enter__(self):
        super().__enter__()
        self.http.handle_error = lambda *_: None  # of a client that was killed
        self.url = f"{self.endpoint}/v1"
        return self


class _Handler(Connection):
    protocol_version = "HTTP/1.1"
    site: serving

    def respond(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.site.requests.append(request)
        message = {"role": "assistant", "content": self.site.reply(request)}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
        head = {"id": "x", "object": "chat.completion", "model": "tiny", "created": 0}
        with suppress(ConnectionError):
            body = head | {"choices": [choice], "usage": usage}
            self.answer(200, {}, json.dumps(body).encode())
