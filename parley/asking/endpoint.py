"""Calls of an OpenAI-compatible endpoint."""

import asyncio
import json
import math
import os
import re
import time
import zlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import httpx2

from parley.asking.client import LARGEST, TOO_LARGE, Call, FailedCall, call_of, said
from parley.asking.probe import RefusedCall, names_a_part
from parley.base.errors import ParleyError, UsageError
from parley.base.http import open_client, retry_after, unpacker

_OPENAI = "https://api.openai.com/v1"
_HOPELESS = {401: "no valid key", 403: "no permission", 404: "no such address or model"}
# of a question, whatever else the message names
_TOO_LONG = re.compile(
    r"context.{0,9}(?:length|window|size)|tokens\W{1,3}is too large", re.IGNORECASE
)
_LATER = (408, 409, 429)  # and 5xx: the same call may succeed later


class _Refused(Exception):
    """An answer with the status of an error or a redirect."""

    def __init__(self, response: httpx2.Response, body: bytes) -> None:
        super().__init__(response.status_code)
        self.status, self.headers = response.status_code, response.headers
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            found = body.decode("utf-8", "replace")
        self.is_json = isinstance(found, dict)  # by the model's server, not by a proxy before it
        self.text = f"status {self.status}: {said(found, 1000)}"
        self.what = self.text[:200]


class Endpoint:
    """An OpenAI-compatible endpoint; the key comes from OPENAI_API_KEY.

    `wait` is called before each attempt; `timeout` is in seconds, for one attempt.
    """

    def __init__(
        self,
        base_url: str,
        retries: int,
        timeout: float,
        at_once: int,
        wait: Callable[[], Awaitable[None]],
    ) -> None:
        key = os.environ.get("OPENAI_API_KEY", "").strip()
        base_url = base_url or os.environ.get("OPENAI_BASE_URL", "")
        if not key and not base_url:
            raise UsageError("name an endpoint with --base-url, or set OPENAI_API_KEY for OpenAI's")
        if not 0 < timeout < math.inf:
            raise UsageError(f"--timeout {timeout}: expected seconds, more than 0")
        if not all("!" <= each <= "~" for each in key):
            raise UsageError(
                "OPENAI_API_KEY has a space, or a character outside ASCII: copy it again"
            )
        self._url = _address(base_url or _OPENAI)
        self._retries, self._timeout, self._wait = retries, timeout, wait
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        limits = httpx2.Limits(max_connections=at_once, max_keepalive_connections=at_once)
        self._client = open_client(httpx2.AsyncClient, headers, timeout=timeout, limits=limits)

    async def ask(self, body: Mapping[str, Any]) -> Call:
        """Return the answer to a request.

        FailedCall if every attempt failed, RefusedCall if the endpoint refuses this request;
        ParleyError if none can succeed, as without a valid key.
        """
        start = time.monotonic()
        for attempt in range(self._retries + 1):
            await self._wait()
            try:
                answer = await asyncio.wait_for(self._attempt(body), self._timeout)
                return call_of(answer, attempt, time.monotonic() - start)
            except _Refused as refused:
                is_again = attempt > 0 or not self._retries
                failed, pause = _failed(refused, is_again), _pause(refused, attempt)
            except (httpx2.RequestError, asyncio.TimeoutError) as error:
                is_late = isinstance(error, asyncio.TimeoutError | httpx2.TimeoutException)
                why = said(error) or type(error).__name__
                failed = f"no answer in {self._timeout:g} s" if is_late else f"no connection: {why}"
                pause = _backoff(attempt)
            if attempt < self._retries:
                await asyncio.sleep(pause)
        raise FailedCall(failed)

    async def _attempt(self, body: Mapping[str, Any]) -> Any:
        """Return the body of an answer; a redirect is not followed."""
        async with self._client.stream("POST", self._url, json=body) as response:
            text = await _read(response)
        if not response.is_success:
            raise _Refused(response, text)
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise FailedCall("the answer is no JSON") from None

    async def close(self) -> None:
        """Close its connections."""
        await self._client.aclose()


def _address(base_url: str) -> httpx2.URL:
    """Return the address that requests go to, or raise UsageError."""
    try:
        url = httpx2.URL(base_url)
        is_good = url.scheme in ("http", "https") and url.host and "@" not in base_url
    except httpx2.InvalidURL:
        is_good = False
    if not is_good:
        raise UsageError("--base-url: expected http://HOST/... without a user name")
    return url.copy_with(path=f"{url.path.rstrip('/')}/chat/completions")


async def _read(response: httpx2.Response) -> bytes:
    """Return the bytes of an answer, or raise FailedCall if it is too large."""
    found = bytearray()
    try:
        unpack = unpacker(response)
        async for part in response.aiter_raw():
            found += unpack(part, LARGEST + 1 - len(found))
            if len(found) > LARGEST:
                raise FailedCall(TOO_LARGE)
    except zlib.error:
        raise FailedCall("the answer is no gzip") from None
    except ValueError as error:
        raise FailedCall(said(error)) from None
    return bytes(found)


def _failed(refused: _Refused, is_again: bool) -> str:
    """Return the reason of a refused call that may succeed later.

    RefusedCall if the same call never will, FailedCall if this question is too long, ParleyError if
    no call will. Status 500 may be an error of the moment, so it refuses only when it comes again.
    """
    status, what = refused.status, refused.what
    if 400 <= status < 500 and status not in _LATER and _TOO_LONG.search(refused.text):
        raise FailedCall(what)
    # a server of models answers 404, a chat template 500
    may_name = 400 <= status < 500 and status not in (*_LATER, 401, 403)
    may_name |= status == 500 and refused.is_json and is_again
    if may_name and names_a_part(refused.text):
        raise RefusedCall(what, refused.text)
    if 300 <= status < 400:
        place = said(refused.headers.get("Location", "no address"))
        raise ParleyError(
            f"the endpoint redirects to {place} (status {status}), which parley does not follow",
            remedy="If you trust that address, name it with --base-url.",
        )
    if status in _HOPELESS:
        raise ParleyError(
            f"the endpoint refuses: {_HOPELESS[status]} ({what})",
            remedy="Check --base-url, --model and OPENAI_API_KEY; then run it again.",
        )
    if status not in _LATER and status < 500:
        raise RefusedCall(what, refused.text)
    return what


def _backoff(attempt: int) -> float:
    """Return the seconds to wait after an attempt: half a second, then twice as long each time."""
    return min(0.5 * 2.0 ** min(attempt, 6), 30.0)


def _pause(refused: _Refused, attempt: int) -> float:
    """Return the seconds that the endpoint asks to wait, at most a minute."""
    seconds = retry_after(refused.headers)
    return _backoff(attempt) if seconds is None else min(seconds, 60)
