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
    after_thoughts,
)

LARGEST = 2**22  # bytes of an answer after decompression; text of LONGEST is far shorter
TOO_LARGE = f"the answer is larger than {LARGEST:,} bytes"


@dataclass(frozen=True)
class Call:
    """An answer of a model."""

    model: str  # the model that answered, by the answer itself
    text: str
    finish: str  # why it ended: "stop", "length", "tool_calls", "content_filter", "refusal"
    reasoning: str = ""  # the thoughts that the endpoint gives apart; never read as an answer
    reasoning_tokens: int = 0  # of completion_tokens, those of thoughts
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
    "max_tokens": TRUNCATED,
    "model_length": TRUNCATED,
    "tool_calls": TOOL_CALL,
    "function_call": TOOL_CALL,
    "content_filter": REFUSED,
    "refusal": REFUSED,
    "safety": REFUSED,
}


def reason_unread(finish: str, text: str) -> str:
    """Return why an answer is not even read, or ""."""
    if finish.casefold() not in _READ:
        return _REASONS.get(finish.casefold(), f"ended: {finish:.40}")
    if len(after_thoughts(text)) > LONGEST:
        return TOO_LONG
    return "" if text.strip() else EMPTY


def call_of(body: Mapping[str, Any], retries: int = 0, seconds: float = 0.0) -> Call:
    """Return the call of a chat completion in JSON, or raise FailedCall."""
    try:
        choice = body["choices"][0]
        message, usage = choice["message"], body.get("usage") or {}
        thoughts = message.get("reasoning_content") or message.get("reasoning")
        details = usage.get("completion_tokens_details") or {}
        finish = "refusal" if message.get("refusal") else choice.get("finish_reason") or "stop"
        finish = "tool_calls" if message.get("tool_calls") else finish
        model, text = body.get("model") or "", message.get("content") or ""
        if not all(isinstance(each, str) for each in (model, text, finish)):
            raise TypeError("not a text")
        if finish.casefold() in _NO_ANSWER:
            raise FailedCall(f"the answer ended with {finish}")
        return Call(
            _clean(model),
            _clean(text),
            _clean(finish),
            _clean(thoughts) if isinstance(thoughts, str) else "",
            _count(details.get("reasoning_tokens")),
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


def said(found: Any, most: int = 200) -> str:
    """Return the start of a message, in one line without secrets."""
    try:
        return " ".join(_clean(str(found)).split())[:most]
    except RecursionError:
        return "nested too deeply"


# Fields that parley sends itself, or that ask for something else than one whole answer
_OWN = {"messages", "model", "prompt", "stream", "stream_options"}
_OWN |= {"function_call", "functions", "n", "parallel_tool_calls", "tool_choice", "tools"}


# What a request does in the place of something that its endpoint refuses
NO_SCHEMA = "no schema"
NO_TEMPERATURE = "no temperature"  # only 0, the default
MAX_COMPLETION_TOKENS = "max_completion_tokens"
NO_LIMIT = "no limit of tokens"
DEVELOPER = "developer role"
NO_SYSTEM = "no system role"  # the instruction begins the user's message
Mode = tuple[str, ...]


@dataclass(frozen=True)
class Sampling:
    """The fields of a request beside model and messages; UsageError for a field that is not free.

    Args:
        fields: Name -> value, as {"temperature": 0, "max_tokens": 80}; None leaves a field out.
        schema: Whether the JSON schema of a question is sent.
        ask_again: Whether an unreadable answer to a question is followed once by the reason.
        repeat: The number of the repetition, from 1.
    """

    fields: Mapping[str, Any]
    schema: bool = True
    ask_again: bool = False
    repeat: int = 1

    def __post_init__(self) -> None:
        own = _OWN | {"response_format"} if self.schema else _OWN
        if wrong := sorted(own & self.fields.keys()):
            raise UsageError(
                f"--option {', '.join(wrong)}: is not free: parley sends one chat and reads one "
                "answer, whole and without tools",
                remedy="Leave it out; --model names the model, --no-schema frees response_format.",
            )

    def request(
        self, model: str, messages: Sequence[Message], schema: Any, mode: Mode = ()
    ) -> dict[str, Any]:
        """Return the body of a request in a mode; a field of None is left out."""
        body = {name: value for name, value in self.fields.items() if value is not None}
        if self.schema and schema and NO_SCHEMA not in mode:
            form = {"name": "answer", "schema": schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        if NO_TEMPERATURE in mode and body.get("temperature") == 0:  # any other was asked for
            del body["temperature"]
        if MAX_COMPLETION_TOKENS in mode and "max_tokens" in body:
            body["max_completion_tokens"] = body.pop("max_tokens")
        if NO_LIMIT in mode:
            body.pop("max_tokens", None)
            body.pop("max_completion_tokens", None)
        return {"model": model, "messages": _in_roles(messages, mode), **body}


def _in_roles(messages: Sequence[Message], mode: Mode) -> list[Message]:
    """Return messages whose instruction has the role that a mode gives it."""
    first, *rest = messages
    if first["role"] != "system":
        return [first, *rest]
    if DEVELOPER in mode:
        return [{**first, "role": "developer"}, *rest]
    if NO_SYSTEM in mode:
        if rest and rest[0]["role"] == "user":
            asked = rest.pop(0)["content"]
            first = {**first, "content": f"{first['content']}\n\n{asked}"}
        return [{**first, "role": "user"}, *rest]
    return [first, *rest]
