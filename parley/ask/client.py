"""Calls of an OpenAI-compatible endpoint, and the reasons of answers without a text to read."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from parley.asking import EMPTY, LONGEST, REFUSED, TOO_LONG, TOOL_CALL, TRUNCATED, Message
from parley.errors import ParleyError, UsageError
from parley.secret import without_secrets

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
        if finish in _NO_ANSWER:
            raise FailedCall(f"the answer ended with {finish}")
        return Call(
            _clean(body.get("model") or ""),
            _clean(message.get("content") or ""),
            _clean(finish),
            _count(usage.get("prompt_tokens")),
            _count(usage.get("completion_tokens")),
            retries,
            round(seconds, 3),
        )
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise FailedCall(f"an answer without a message: {_said(body)}") from error


def _clean(text: Any) -> str:
    """Return a text without secrets and lone surrogates, which no log can hold."""
    return without_secrets(str(text).encode("utf-8", "replace").decode())


def _count(tokens: Any) -> int:
    return tokens if type(tokens) is int and 0 <= tokens < 2**53 else 0


def _said(found: Any) -> str:
    """Return the start of a message without secrets."""
    try:
        return _clean(" ".join(str(found).split()))[:200]
    except RecursionError:
        return "nested too deeply"


@dataclass(frozen=True)
class Sampling:
    """The fields of a request beside model and messages."""

    fields: Mapping[str, Any]  # as {"temperature": 0, "max_tokens": 80}
    schema: bool = False  # whether the JSON schema of a question is sent

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
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient

        key = os.environ.get("OPENAI_API_KEY", "").strip()
        base_url = base_url or os.environ.get("OPENAI_BASE_URL", "")
        if not key and not base_url:
            raise UsageError("name an endpoint with --base-url, or set OPENAI_API_KEY for OpenAI's")
        if base_url and (urlsplit(base_url).scheme not in ("http", "https") or "@" in base_url):
            raise UsageError("--base-url: expected http://HOST/... without a user name")
        if not key.isascii():
            raise UsageError("OPENAI_API_KEY has a character outside ASCII: copy it again")
        self._retries, self._timeout, self._wait = retries, timeout, wait
        self._client = AsyncOpenAI(
            api_key=key or "none",
            base_url=base_url or None,
            max_retries=0,
            timeout=timeout,
            http_client=DefaultAsyncHttpxClient(limits=_limits(at_once)),
        )

    async def ask(self, body: Mapping[str, Any]) -> Call:
        """Return the answer to a request.

        FailedCall if every attempt failed; ParleyError if none can succeed, as without a valid key.
        """
        import openai

        start = time.monotonic()
        for attempt in range(self._retries + 1):
            await self._wait()
            try:
                answer = await asyncio.wait_for(self._attempt(body), self._timeout)
                return call_of(answer, attempt, time.monotonic() - start)
            except openai.APIStatusError as error:
                failed, pause = _refused(error), _pause(error, attempt)
                if error.status_code not in _LATER and error.status_code < 500:
                    raise FailedCall(failed) from None
            except (openai.APIConnectionError, asyncio.TimeoutError) as error:
                is_late = isinstance(error, asyncio.TimeoutError | openai.APITimeoutError)
                why = "timeout" if is_late else "no connection"
                failed, pause = f"{why}: {_said(error.__cause__ or error)}", _backoff(attempt)
            except (ValueError, RecursionError):
                raise FailedCall("the answer is no JSON") from None
            if attempt < self._retries:
                await asyncio.sleep(pause)
        raise FailedCall(failed)

    async def _attempt(self, body: Mapping[str, Any]) -> Any:
        raw = await self._client.chat.completions.with_raw_response.create(
            model=body["model"],
            messages=body["messages"],
            extra_body={k: v for k, v in body.items() if k not in ("model", "messages")},
        )
        return raw.http_response.json()

    async def close(self) -> None:
        """Close its connections."""
        await self._client.close()


def _refused(error: Any) -> str:
    """Return the reason of a refused call; raise ParleyError if no call can succeed."""
    what = f"status {error.status_code}: {_said(error)}"
    if error.status_code in _HOPELESS:
        raise ParleyError(
            f"the endpoint refuses: {_HOPELESS[error.status_code]} ({what})",
            remedy="Check --base-url, --model and OPENAI_API_KEY; then run it again.",
        ) from error
    return what


def _backoff(attempt: int) -> float:
    """Return the seconds to wait after an attempt: half a second, then twice as long each time."""
    return float(min(0.5 * 2**attempt, 30))


def _pause(error: Any, attempt: int) -> float:
    """Return the seconds that the endpoint asks to wait, at most a minute."""
    try:
        return min(max(float(error.response.headers["Retry-After"]), 0), 60)
    except (KeyError, ValueError):
        return _backoff(attempt)


def _limits(at_once: int) -> Any:
    import httpx2

    return httpx2.Limits(max_connections=at_once, max_keepalive_connections=at_once)
