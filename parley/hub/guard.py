"""Limits for the answers of a Hub, where huggingface_hub has none.

huggingface_hub waits as long as a Hub asks for, follows the pages of a list without end and with
the token to any host, and takes an answer of any size into memory.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from huggingface_hub import set_client_factory
from huggingface_hub.utils._http import default_client_factory

LONGEST_WAIT = 300  # seconds before another try: the Hub counts requests in times of this length
MOST_PAGES = 1000  # of lists; the Hub has 1,000 files on a page
MOST_BYTES = 64_000_000  # of an answer that is not a file of a repository
_BUSY = (408, 429, 500, 502, 503, 504)  # huggingface_hub waits and tries again


class AnswerError(Exception):
    """An answer of the Hub is beyond a limit."""


@contextmanager
def guarded(endpoint: str) -> Iterator[None]:
    """Let huggingface_hub raise AnswerError for an answer of this Hub that is beyond a limit."""
    guard = _Guard(endpoint)
    set_client_factory(guard.client)
    try:
        yield
    finally:
        set_client_factory(default_client_factory)


class _Guard:
    """Looks at each request and each answer of httpx, of whichever version."""

    def __init__(self, endpoint: str) -> None:
        self._hub = urlsplit(endpoint)
        # the only other host that gets a proof: it answers for a Trusted Publisher
        self._runner = urlsplit(os.environ.get("ACTIONS_ID_TOKEN_REQUEST_URL", ""))
        self._pages = 0

    def client(self) -> Any:
        """Return a client for huggingface_hub."""
        client = default_client_factory()
        client.event_hooks["request"].append(self._before)
        client.event_hooks["response"].append(self._after)
        return client

    def _before(self, request: Any) -> None:
        url = urlsplit(str(request.url))
        known = self._is_of_hub(url) or url[:2] == self._runner[:2]
        if "Authorization" in request.headers and not known:
            raise AnswerError(f"the Hub leads to {url.hostname}, which must not get the token")
        request.headers["Accept-Encoding"] = "identity"  # few bytes may hold gigabytes

    def _after(self, response: Any) -> None:
        headers, status = response.headers, response.status_code
        if status in _BUSY and (wait := _wait(headers)) > LONGEST_WAIT:
            raise AnswerError(f"the Hub answers {status} and asks to wait for {wait:,.0f} s")
        self._pages += "next" in response.links
        if self._pages > MOST_PAGES:
            raise AnswerError(f"the Hub lists more than {MOST_PAGES:,} pages")
        if (encoding := headers.get("Content-Encoding", "identity")) != "identity":
            raise AnswerError(f"the Hub's answer is compressed ({encoding}), unasked")
        url = urlsplit(str(response.url))
        if self._is_of_hub(url) and "/resolve/" not in url.path:
            response.iter_bytes = partial(_limited, response.iter_bytes)

    def _is_of_hub(self, url: Any) -> bool:
        """Tell whether a URL is of the Hub or of a host in its domain."""
        host, home = url.hostname or "", self._hub.hostname or ""
        same = (url.scheme, url.port) == (self._hub.scheme, self._hub.port)
        return same and (host == home or host.endswith(f".{home}"))


def _wait(headers: Any) -> float:
    """Return the seconds for which the Hub asks to wait, 0 if it names none."""
    limit = re.search(r";\s*t\s*=\s*(\d+)", headers.get("RateLimit", ""))
    asked = [headers.get("Retry-After", "").strip(), limit[1] if limit else ""]
    return max(float(each) if each.isdecimal() else 0 for each in asked)


def _limited(blocks: Callable[..., Iterator[bytes]], *arguments: Any) -> Iterator[bytes]:
    size = 0
    for block in blocks(*arguments):
        size += len(block)
        if size > MOST_BYTES:
            raise AnswerError(f"the Hub's answer has more than {MOST_BYTES:,} bytes")
        yield block
