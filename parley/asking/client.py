"""What a model is sent and what it returns, and why an answer holds no text to read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parley.base.errors import UsageError
from parley.base.secret import without_secrets
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
