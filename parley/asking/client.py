"""Calls of an OpenAI-compatible endpoint, and the reasons of answers without a text to read."""

import asyncio
import json
import math
import os
import time
import zlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any

from parley.base.errors import ParleyError, UsageError
from parley.base.secret import without_secrets
from parley.base.version import __version__
from parley.declaring.questions import (
    EMPTY,
    LONGEST,
    REFUSED,
    TOO_LONG,
    TOOL_CALL,
    TRUNCATED,
    Message,
)

LARGEST = 2**22  # bytes of an answer after decompression; text of LONGEST is far shorter
TOO_LARGE = f"the answer is larger than {LARGEST:,} bytes"
_OPENAI = "https://api.openai.com/v1"
_HOPELESS = {401: "no valid key", 403: "no permission", 404: "no such address or model"}
_LATER = (408, 409, 429)  # and 5xx: the same call may succeed later


@dataclass(frozen=True)
class Call:
    """An answer of a model."""

    model: str  # the model that answered, by the answer itself
    text: str
    finish: str  # why it ended: "stop", "length", "tool_calls", "content_filter", "refusal"
    prompt_tokens: int = 0  # read; 0 if not stated
    completion_tokens: int = 0
    retries: int = 0  # failed attempts before it
    seconds: float = 0.0  # from the first attempt to the answer


class FailedCall(Exception):
    """A call without an answer."""


class _Refused(Exception):
    """An answer with the status of an error or a redirect."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        super().__init__(status)
        self.status, self.headers = status, headers
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            found = body.decode("utf-8", "replace")
        self.what = f"status {status}: {said(found)}"


_READ = {"stop", "eos", "eos_token", "end_turn", "stop_sequence"}
_NO_ANSWER = {"error", "abort", "cancelled"}
_REASONS = {
    "length": TRUNCATED,
    "tool_calls": TOOL_CALL,
    "function_call": TOOL_CALL,
    "content_filter": REFUSED,
    "refusal": REFUSED,
}


def reason_unread(finish: str, text: str) -> str:
    """Return why an answer is not even read, or ""."""
    if finish not in _READ:
        return _REASONS.get(finish, f"ended: {finish:.40}")
    if len(text) > LONGEST:
        return TOO_LONG
    return "" if text.strip() else EMPTY


def call_of(body: Mapping[str, Any], retries: int = 0, seconds: float = 0.0) -> Call:
    """Return the call of a chat completion in JSON, or raise FailedCall."""
    try:
        choice = body["choices"][0]
        message, usage = choice["message"], body.get("usage") or {}
        finish = "refusal" if message.get("refusal") else choice.get("finish_reason") or "stop"
        finish = "tool_calls" if message.get("tool_calls") else finish
        model, text = body.get("model") or "", message.get("content") or ""
        if not all(isinstance(each, str) for each in (model, text, finish)):
            raise TypeError("not a text")
        if finish in _NO_ANSWER:
            raise FailedCall(f"the answer ended with {finish}")
        return Call(
            _clean(model),
            _clean(text),
            _clean(finish),
            _count(usage.get("prompt_tokens")),
            _count(usage.get("completion_tokens")),
            retries,
            round(seconds, 3),
        )
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise FailedCall(f"an answer without a message: {said(body)}") from error


def _clean(text: str) -> str:
    """Return a text without secrets and lone surrogates, which no log can hold."""
    return without_secrets(text.encode("utf-8", "replace").decode())


def _count(tokens: Any) -> int:
    return tokens if type(tokens) is int and 0 <= tokens < 2**53 else 0


def said(found: Any) -> str:
    """Return the start of a message, in one line without secrets."""
    try:
        return " ".join(_clean(str(found)).split())[:200]
    except RecursionError:
        return "nested too deeply"


# Fields that parley sends itself, or that ask for something else than one whole answer
_OWN = {"messages", "model", "prompt", "stream", "stream_options"}
_OWN |= {"function_call", "functions", "n", "parallel_tool_calls", "tool_choice", "tools"}


@dataclass(frozen=True)
class Sampling:
    """The fields of a request beside model and messages; UsageError for a field that is not free.

    Args:
        fields: Name -> value, as {"temperature": 0, "max_tokens": 80}; None leaves a field out.
        schema: Whether the JSON schema of a question is sent.
    """

    fields: Mapping[str, Any]
    schema: bool = False

    def __post_init__(self) -> None:
        own = _OWN | {"response_format"} if self.schema else _OWN
        if wrong := sorted(own & self.fields.keys()):
            raise UsageError(
                f"--option {', '.join(wrong)}: is not free: parley sends one chat and reads one "
                "answer, whole and without tools",
                remedy="Leave it out; --model names the model, --schema sends the schema.",
            )

    def request(self, model: str, messages: Sequence[Message], schema: Any) -> dict[str, Any]:
        """Return the body of a request; a field of None is left out."""
        body = dict(self.fields)
        if self.schema and schema:
            form = {"name": "answer", "schema": schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        body = {name: value for name, value in body.items() if value is not None}
        return {"model": model, "messages": list(messages), **body}


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
        import httpx2

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
        headers = {"Accept-Encoding": "identity", "User-Agent": f"parley/{__version__}"}
        headers |= {"Authorization": f"Bearer {key}"} if key else {}
        limits = httpx2.Limits(max_connections=at_once, max_keepalive_connections=at_once)
        try:
            self._client = httpx2.AsyncClient(headers=headers, timeout=timeout, limits=limits)
        except (ImportError, ValueError) as error:  # as for SOCKS
            raise UsageError(
                f"the proxy of the environment cannot be used: {said(error)}"
            ) from None

    async def ask(self, body: Mapping[str, Any]) -> Call:
        """Return the answer to a request.

        FailedCall if every attempt failed; ParleyError if none can succeed, as without a valid key.
        """
        import httpx2

        start = time.monotonic()
        for attempt in range(self._retries + 1):
            await self._wait()
            try:
                answer = await asyncio.wait_for(self._attempt(body), self._timeout)
                return call_of(answer, attempt, time.monotonic() - start)
            except _Refused as refused:
                failed, pause = _failed(refused), _pause(refused, attempt)
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
            raise _Refused(response.status_code, response.headers, text)
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise FailedCall("the answer is no JSON") from None

    async def close(self) -> None:
        """Close its connections."""
        await self._client.aclose()


def _address(base_url: str) -> Any:
    """Return the address that requests go to, or raise UsageError."""
    import httpx2

    try:
        url = httpx2.URL(base_url)
        is_good = url.scheme in ("http", "https") and url.host and "@" not in base_url
    except httpx2.InvalidURL:
        is_good = False
    if not is_good:
        raise UsageError("--base-url: expected http://HOST/... without a user name")
    return url.copy_with(path=f"{url.path.rstrip('/')}/chat/completions")


async def _read(response: Any) -> bytes:
    """Return the bytes of an answer, or raise FailedCall if it is too large.

    The endpoint is asked not to compress. One that does is read in steps: a few bytes of gzip may
    stand for gigabytes.
    """
    form = response.headers.get("Content-Encoding", "identity").strip().lower()
    if form not in ("identity", "gzip"):
        raise FailedCall(f"the answer is compressed: {said(form)}")
    unzip = zlib.decompressobj(wbits=31) if form == "gzip" else None
    found = bytearray()
    async for part in response.aiter_raw():
        try:
            found += unzip.decompress(part, LARGEST + 1 - len(found)) if unzip else part
        except zlib.error:
            raise FailedCall("the answer is no gzip") from None
        if len(found) > LARGEST:
            raise FailedCall(TOO_LARGE)
    return bytes(found)


def _failed(refused: _Refused) -> str:
    """Return the reason of a refused call that may succeed later.

    FailedCall if the same call never will, ParleyError if no call will.
    """
    status, what = refused.status, refused.what
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
        raise FailedCall(what)
    return what


def _backoff(attempt: int) -> float:
    """Return the seconds to wait after an attempt: half a second, then twice as long each time."""
    return min(0.5 * 2.0 ** min(attempt, 6), 30.0)


def _pause(refused: _Refused, attempt: int) -> float:
    """Return the seconds that the endpoint asks to wait, at most a minute."""
    given = refused.headers.get("Retry-After", "")
    seconds = math.nan
    with suppress(ValueError):
        seconds = float(given)
    with suppress(ValueError, TypeError, OverflowError):
        seconds = (parsedate_to_datetime(given) - datetime.now(timezone.utc)).total_seconds()
    return min(max(seconds, 0), 60) if math.isfinite(seconds) else _backoff(attempt)
