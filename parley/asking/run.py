"""Ask a model all questions of a task, or let two models play its game, and log each answer."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from parley.asking.advice import advice
from parley.asking.client import Call, FailedCall, Sampling, reason_unread
from parley.asking.log import Log, Questions
from parley.asking.probe import RefusedCall, find_mode
from parley.asking.signals import run
from parley.base.errors import ParleyError, UsageError
from parley.declaring.prediction_formats import UNREADABLE, Key
from parley.declaring.questions import Message, Playing, Question, Unreadable, final_text

SCRIPT = "script:"  # before the name of a scripted agent, in the place of a model
_FAILED_IN_A_ROW = 10
_ENOUGH = 20  # answers, to tell whether many are unreadable

Entry = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """How to ask."""

    models: Mapping[str, str]  # role -> model or "script:NAME"; "" is the role of a question
    sampling: Sampling
    base_url: str = ""  # the endpoint, "" for OPENAI_BASE_URL
    at_once: int = 8  # calls at the same time
    per_minute: int = 0  # calls at most, 0 for any number
    retries: int = 5  # further attempts after a temporary failure of a call
    timeout: float = 120.0  # seconds for an attempt
    stop_unreadable: float = 1.0  # a greater share of unreadable answers ends the run

    def suited_to(self, questions: Questions) -> "Settings":
        """Return them with a model for each role, and what the questions can be sent with.

        That is the longest answer; the turns of a game have no schema and no second try.
        """
        own, asking = self.sampling, questions.asking
        models = self.models
        if isinstance(asking, Playing):
            own = replace(own, schema=False, ask_again=False)
        if not {"max_tokens", "max_completion_tokens"} & own.fields.keys():
            own = replace(own, fields={**own.fields, "max_tokens": asking.max_tokens})
        if (model := models.get("", "")) and isinstance(asking, Playing):
            models = dict.fromkeys(asking.roles, model)  # one model plays all sides
        return replace(self, models=models, sampling=own)


def entry_of(asking: Any, key: Key, question: Any, calls: list[Call], roles: list[str]) -> Entry:
    """Return the log entry of a key from its calls; `read_calls` makes the prediction."""
    optional = ("role", "reasoning", "reasoning_tokens")
    said = [
        {
            n: value
            for n, value in {"role": role, **vars(call)}.items()
            if value or n not in optional
        }
        for role, call in zip(roles, calls, strict=True)
    ]
    found = read_calls(asking, question, [(each.finish, each.text) for each in calls])
    entry: Entry = {"key": list(key), "calls": said}
    if isinstance(found, Unreadable):
        return entry | {UNREADABLE: found.reason}
    return entry | {"prediction": dict(found)}


def read_calls(
    asking: Any, question: Any, answers: list[tuple[str, str]]
) -> Mapping[str, Any] | Unreadable:
    """Return the fields of the prediction that the answers, or the turns of a game, give.

    An answer is a pair of finish reason and text. `question` is a Question, which takes one answer,
    and another after an unreadable one, or the first state of a game. ValueError if answers are
    missing or left over.
    """
    if isinstance(question, Question):
        *first, read = [_read(asking, question, *answer) for answer in answers]
        if len(first) > 1 or not all(isinstance(each, Unreadable) for each in first):
            raise ValueError("answers after the one that is read")
        return read
    state = question
    for finish, text in answers:
        if not asking.turn(state):
            raise ValueError("turns after the end")
        state = asking.step(state, text, reason_unread(finish, text))
    if asking.turn(state):
        raise ValueError("no end")
    played: Mapping[str, Any] = asking.outcome(state)
    return played


def _read(
    asking: Any, question: Question, finish: str, text: str
) -> Mapping[str, Any] | Unreadable:
    """Return what one answer gives."""
    if reason := reason_unread(finish, text):
        return Unreadable(reason)
    found: Mapping[str, Any] | Unreadable = asking.read(text, question)
    return found


def _asked_again(question: Question, text: str, reason: str) -> tuple[Message, ...]:
    """Return the chat that follows an unreadable answer."""
    again = f"This answer could not be read: {reason}. Answer again, in the form asked for."
    return (
        *question.messages,
        {"role": "assistant", "content": final_text(text) or "(no answer)"},
        {"role": "user", "content": again},
    )


class _Pace:
    """At most so many calls a minute, evenly spaced."""

    def __init__(self, per_minute: int) -> None:
        self._gap = 60 / per_minute if per_minute else 0.0
        self._next = 0.0

    async def wait(self) -> None:
        """Wait for the next free moment."""
        now = time.monotonic()
        start = max(now, self._next)
        self._next = start + self._gap
        if start > now:
            await asyncio.sleep(start - now)


def ask(
    questions: Questions,
    settings: Settings,
    path: Path,
    advance: Callable[[str, int, int], None] = lambda text, done, total: None,
    warn: Callable[[str], None] = lambda text: None,
) -> Log:
    """Ask the questions that a log lacks, write each answer into it, and close it.

    `advance` takes a line of progress, the number of keys with an answer, and that of all keys. An
    entry with "failed" has no answer. The first question of a new log is asked alone, until the
    endpoint takes it; all others are asked in the mode so found. `warn` takes advice, if more than
    a tenth of the first twenty answers are unreadable. ParleyError if no question is answered, ten
    in a row fail, or too many answers are unreadable.
    """
    _require_roles(questions, settings.models)
    log = Log(path, questions.header(settings.models, settings.sampling))
    try:
        run(_Calls(questions, settings, log, advance, warn).all())
        log.finish(questions.by_key)
    finally:
        log.close()
    return log


def _require_roles(questions: Questions, models: Mapping[str, str]) -> None:
    asking = questions.asking
    roles = questions.roles
    if {*roles} != models.keys() or not all(models.values()):
        due = " and ".join(f"--role {role}=MODEL" for role in roles) if roles != ("",) else ""
        raise UsageError(f"{questions.name}: name a model with --model MODEL{due and ' or ' + due}")
    if questions.swap and len({*models.values()}) == 1:
        raise UsageError("--swap: needs two models; one that plays both sides needs no swap")
    for model in models.values():
        name = model.removeprefix(SCRIPT)
        agents = asking.agents if isinstance(asking, Playing) else {}
        if model.startswith(SCRIPT) and name not in agents:
            there = ", ".join(f"{SCRIPT}{each}" for each in agents) or "none"
            raise UsageError(f"{model}: no such scripted agent; there are: {there}")


class _Calls:
    """The calls that a log lacks, a few at once."""

    def __init__(
        self,
        questions: Questions,
        settings: Settings,
        log: Log,
        advance: Callable[..., None],
        warn: Callable[[str], None],
    ) -> None:
        self._questions, self._settings, self._log = questions, settings, log
        self._asking, self._advance, self._warn = questions.asking, advance, warn
        self._pace = _Pace(settings.per_minute)
        entries = log.entries
        self._left = [
            key for key in questions.by_key if "failed" in entries.get(key, {"failed": ""})
        ]
        roles = settings.models if log.begun else ()
        self._mode = {role: log.mode.get(role, ()) for role in roles}
        self._start = time.monotonic()
        self._asked = self._failed_in_a_row = self._tokens = self._thoughts = 0
        self._answered, self._unreadable = 0, Counter[str]()

    async def all(self) -> None:
        """Ask everything that is left."""
        from parley.asking.endpoint import Endpoint  # not at the top: it brings httpx2

        models = self._settings.models.values()
        scripted = all(model.startswith(SCRIPT) for model in models)
        given = self._settings
        self._endpoint = (
            None
            if scripted or not self._left
            else Endpoint(
                given.base_url, given.retries, given.timeout, given.at_once, self._pace.wait
            )
        )
        waiting = iter(self._left)
        workers: list[asyncio.Task[None]] = []
        try:
            await self._begin(waiting)
            workers += [
                asyncio.create_task(self._work(waiting))
                for _ in range(min(given.at_once, len(self._left)))
            ]
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            if self._endpoint:
                await self._endpoint.close()

    async def _begin(self, waiting: Iterator[Key]) -> None:
        """Ask alone until a question is answered, and begin a new log with the mode so found."""
        if self._log.begun:
            return
        held: list[Entry] = []
        for key in waiting if self._endpoint else ():
            held.append(await self._entry(key))
            if "failed" not in held[-1]:
                break
            self._require_answers(held[-1], min(_FAILED_IN_A_ROW, len(self._left)))
        if self._endpoint and isinstance(self._asking, Playing):
            await self._find_modes(self._asking)
        self._log.begin(self._mode)
        for entry in held:
            self._add(entry)

    async def _find_modes(self, game: Playing) -> None:
        """Find the mode of each side that has not spoken in the first game."""
        state = next(iter(self._questions.by_key.values()))
        while role := game.turn(state):
            model = self._settings.models[role]
            if role not in self._mode and not model.startswith(SCRIPT):
                try:
                    await self._call(role, game.messages(state), None)
                except FailedCall as error:
                    raise ParleyError(f"--role {role}={model}: no answer: {error}") from None
            if role == game.roles[-1]:
                return
            state = game.step(state, "Hello.")

    async def _work(self, waiting: Iterator[Key]) -> None:
        for key in waiting:
            entry = await self._entry(key)
            self._add(entry)
            await asyncio.sleep(0)  # let others work: a scripted agent never waits
            self._require_answers(entry, _FAILED_IN_A_ROW)

    async def _entry(self, key: Key) -> Entry:
        """Return the entry of a key, "failed" without an answer."""
        question = self._questions.by_key[key]
        try:
            calls, roles = await self._calls(key, question)
        except FailedCall as error:
            self._failed_in_a_row += 1
            return {"key": list(key), "calls": [], "failed": str(error)}
        self._failed_in_a_row = 0
        return entry_of(self._asking, key, question, calls, roles)

    def _require_answers(self, entry: Entry, most: int) -> None:
        """Raise ParleyError if too many questions in a row failed."""
        if self._failed_in_a_row >= most:
            raise ParleyError(
                f"{most:,} questions in a row failed: {entry['failed']}",
                remedy="Run the same command again to ask the remaining questions.",
            )

    def _add(self, entry: Entry) -> None:
        self._log.add(entry)
        self._tell()
        if "failed" in entry:
            return
        self._answered += 1
        self._unreadable.update([entry[UNREADABLE]] if UNREADABLE in entry else [])
        if self._answered >= _ENOUGH:
            self._require_readable()

    def _require_readable(self) -> None:
        """Warn once if many answers are unreadable; raise ParleyError if too many are."""
        given, unread = self._settings, self._unreadable.total()
        is_over = unread > given.stop_unreadable * self._answered
        if not is_over and self._answered > _ENOUGH:
            return
        why = ", ".join(
            f"{reason:.80} {count:,}" for reason, count in self._unreadable.most_common(3)
        )
        found = f"{unread:,} of the first {self._answered:,} answers are unreadable ({why})"
        own = given.sampling
        facts = {"sampling": own.fields, "schema": own.schema, "ask_again": own.ask_again}
        facts |= {"mode": self._mode, "reasoning_tokens": self._thoughts}
        tries = advice(self._unreadable, self._answered, facts)
        if is_over:
            raise ParleyError(
                f"{found}: more than --stop-unreadable {given.stop_unreadable:g}",
                remedy=f"{tries}. Other settings need another --log; the same command resumes.",
            )
        if tries:
            self._warn(f"{found}; {tries}")

    async def _calls(self, key: Key, question: Any) -> tuple[list[Call], list[str]]:
        """Return the answer to a question, or those of all turns of a game."""
        asking = self._asking
        if isinstance(question, Question):
            call = await self._call("", question.messages, question.schema)
            found = _read(asking, question, call.finish, call.text)
            if not self._settings.sampling.ask_again or not isinstance(found, Unreadable):
                return [call], [""]
            chat = _asked_again(question, call.text, found.reason)
            try:
                second = await self._call("", chat, question.schema)
            except RefusedCall as refusal:  # as of a longer chat: the first answer stays
                second = Call(call.model, "", f"refused, {refusal}")
            return [call, second], ["", ""]
        assert isinstance(asking, Playing)  # noqa: S101 - for types
        state, calls, roles = question, list[Call](), list[str]()
        while role := asking.turn(state):
            seat = self._questions.seat(key, role)
            model = self._settings.models[seat]
            if model.startswith(SCRIPT):
                text = asking.agents[model.removeprefix(SCRIPT)](state)
                calls.append(Call(model, text, "stop"))
            else:
                calls.append(await self._call(seat, asking.messages(state), None))
            roles.append(role)
            reason = reason_unread(calls[-1].finish, calls[-1].text)
            state = asking.step(state, calls[-1].text, reason)
        return calls, roles

    async def _call(self, role: str, messages: Any, schema: Any) -> Call:
        assert self._endpoint is not None  # noqa: S101 - for types
        given = self._settings
        request = partial(given.sampling.request, given.models[role], messages, schema)
        if role in self._mode:
            call = await self._endpoint.ask(request(self._mode[role]))
        else:
            call, self._mode[role] = await find_mode(self._endpoint.ask, request)
        self._tokens += call.prompt_tokens + call.completion_tokens
        self._thoughts += call.reasoning_tokens
        return call

    def _tell(self) -> None:
        self._asked += 1
        total = len(self._questions.by_key)
        done = total - len(self._left) + self._asked
        seconds = (time.monotonic() - self._start) / self._asked * (total - done)
        text = f"{self._tokens:,} tokens, about {seconds / 60:,.1f} min left"
        self._advance(text, done, total)
