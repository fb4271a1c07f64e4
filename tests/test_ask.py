"""Asking a model: what it sees, what becomes of its answers, faults, resuming, logs, batches."""

import asyncio
import functools
import gzip
import hashlib
import itertools
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import time
import tracemalloc
from dataclasses import replace
from fnmatch import fnmatch
from itertools import permutations
from urllib.parse import quote

import hypothesis
import hypothesis.strategies as st
import pytest
from model_server import completion, serving
from mutations import general, inner, nodes, ways

import parley
from parley.asking.batch import read_answers, write_requests
from parley.asking.client import LARGEST, Sampling, reason_unread
from parley.asking.log import Questions, read_log
from parley.asking.played import write_played
from parley.asking.run import Settings, ask
from parley.asking.score import score_log
from parley.asking.variants import AS_DECLARED, Variant
from parley.base.errors import ParleyError, RecordError, UsageError
from parley.base.secret import is_secret, without_secrets
from parley.building.built import find_folder
from parley.building.collection import discover
from parley.declaring.questions import Playing
from parley.declaring.tasks import Undefined, flat
from parley.scoring.gold import Part

ASKED = {
    f"{name} {each}": (dataset, each, task)
    for name, dataset in discover().items()
    for each, task in dataset.tasks.items()
    if task.asking
}
SINGLE = [name for name, (_, _, task) in ASKED.items() if not isinstance(task.asking, Playing)]
GAMES = [name for name in ASKED if name not in SINGLE]


@pytest.fixture
def of(sample_build):
    """Return the questions of a task of the samples."""

    def of(name, subset="", limit=0, turns=0, swap=False, variant=AS_DECLARED, **options):
        dataset, each, task = ASKED[name]
        built = find_folder(sample_build, dataset)
        return Questions(
            built, each, task.chosen(options), Part(subset, limit), turns, swap, variant
        )

    return of


def settings(url="", model="tiny", **given):
    given = {"at_once": 4, "retries": 3, "timeout": 20} | given
    sampling = Sampling({"temperature": 0.0, "max_tokens": 80}, given.pop("schema", False))
    return Settings({"": model}, sampling, url, **given)


def scored(questions, path):
    return score_log(questions.built, questions.name, {}, path, Part())


def near(value):
    return pytest.approx(value, abs=1e-9)


# What a model sees -----------------------------------------------------------------------


class Hidden:
    """A build in which everything that a task hides is replaced."""

    def __init__(self, built, columns):
        self._built, self._columns = built, columns

    def __getattr__(self, name):
        return getattr(self._built, name)

    def rows(self, config, *splits):
        return [self._hide(config, row) for row in self._built.rows(config, *splits)]

    def named(self, config, *splits):
        return [self._hide(config, row) for row in self._built.named(config, *splits)]

    def _hide(self, config, row):
        return {
            name: value if self._is_seen(f"{config}.{name}") else changed(value)
            for name, value in row.items()
        }

    def _is_seen(self, column):
        return column.partition(".")[2] in KEYS or any(fnmatch(column, c) for c in self._columns)


KEYS = {"dialogue_id", "turn", "speaker", "scenario_id", "query_id", "language"}
STEERS = {f"utterances.{name}" for name in ("data", "issue2youget", "action")} | {
    "curated.intents"
}  # they select what is asked


def changed(value):
    """Return a value of the same type that holds nothing of the old one."""
    if isinstance(value, dict):
        return {name: changed(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [changed(inner) for inner in value]
    kinds = {str: "SENTINEL", bool: not value, int: 987654, float: 98765.5}
    return kinds.get(type(value), value)


@pytest.mark.parametrize("name", ASKED)
def test_a_prompt_holds_nothing_but_the_named_columns(name, of):
    questions = of(name)
    _, _, task = ASKED[name]
    built = questions.built
    there = [
        f"{each}.{column}" for each in built.dataset.configs for column in built.features(each)
    ]
    for column in task.columns:
        assert any(fnmatch(each, column) for each in there), column
    hidden = Hidden(built, {*task.columns, *STEERS})
    options = task.chosen({})
    if name in SINGLE:
        found = {each.key: each.messages for each in task.asking.questions(hidden, **options)}
        assert found == {each.key: each.messages for each in questions.by_key.values()}
    else:
        for key, state in task.asking.start(hidden, task.asking.limit, **options):
            assert prompts(task.asking, state) == prompts(task.asking, questions.by_key[key])


def prompts(game, state):
    """Return the prompt of each side."""
    return [game.messages(each)[0]["content"] for each in (state, game.step(state, "Hi"))]


@pytest.mark.parametrize("name", GAMES)
def test_a_side_does_not_see_the_private_knowledge_of_the_other(name, of):
    questions = of(name)
    for state in questions.by_key.values():
        scenario = state.scenario
        for place, (own, other) in enumerate(permutations(questions.asking.roles)):
            private = {n: changed(v) for n, v in scenario.items() if n.startswith(other)}
            assert private, own
            hidden = replace(state, scenario=scenario | private)
            seen, due = (prompts(questions.asking, each) for each in (hidden, state))
            assert seen[place] == due[place]
            assert seen[1 - place] != due[1 - place]


def test_a_prompt_holds_no_later_turn(of):
    hidden = {}
    questions = of("cosrec intents")
    for row in questions.built.rows("curated", *questions.built.splits("curated")):
        places = [place for place, turn in enumerate(row["turns"]) if turn["role"] == "user"]
        for entry in row["intents"] or ():
            place = places[entry["utterance"]]
            hidden[row["dialogue_id"], entry["utterance"]] = row["turns"][place + 1 :]
    assert any(hidden.values())
    for key, turns in hidden.items():
        text = str(questions.by_key[key].messages)
        assert not [turn for turn in turns if turn["text"] in text]
    questions = of("casino strategies")
    for row in questions.built.rows("strategies", "train"):
        text = questions.by_key[row["dialogue_id"], row["turn"]].messages[1]["content"]
        assert text.endswith(f"A: {' '.join(row['text'].split())}")
    actions = {"Submit-Deal", "Accept-Deal", "Reject-Deal", "Walk-Away"}
    for name in ("casino partner-priorities", "casino final-deal", "casino outcomes"):
        lines = "\n".join(str(each.messages[1]["content"]) for each in of(name).by_key.values())
        assert not {line.partition(": ")[2] for line in lines.splitlines()} & actions
    questions = of("craigslist_bargains deal")
    for row in questions.built.named("utterances", "test"):
        if row["action"] == "offer":
            later = [
                each["text"]
                for each in questions.built.named("utterances", "test")
                if each["dialogue_id"] == row["dialogue_id"] and each["turn"] > row["turn"]
            ]
            lines = questions.by_key[(row["dialogue_id"],)].messages[1]["content"].splitlines()
            assert not {line.partition(": ")[2] for line in lines} & {
                each for each in later if each
            }


# An oracle and a silent model ------------------------------------------------------------


IDEAL = {"f1": 100, "joint_accuracy": 100, "exact_order": 100, "top_1": 100, "exact": 1, "items": 1}
IDEAL |= dict.fromkeys(
    ("satisfaction", "likeness", "macro_f1", "exact_match", "auc", "accuracy"), 1
)
COUNTS_ABSENT = {"f1", "macro_f1"}  # below 1 where the sample lacks a label


@pytest.mark.parametrize("name", SINGLE)
def test_an_oracle_is_ideal_and_silence_is_unreadable(name, of, tmp_path):
    questions = of(name)
    known = {
        questions.by_key[key].messages[1]["content"]: json.dumps(questions.task.target(gold))
        for key, gold in questions.gold.items()
    }

    def oracle(request):
        return f"Here it is:\n```json\n{known[request['messages'][1]['content']]}\n```"

    for answer in (oracle, lambda request: ""):
        with serving(answer) as server:
            path = tmp_path / f"{answer is oracle}.jsonl"
            ask(questions, settings(server.url, schema=True), path)
            result = scored(questions, path)
            assert len(server.requests) == len(questions.gold)
            assert all("json_schema" in str(body["response_format"]) for _, body in server.requests)
        found = flat(result.score.metrics)
        if answer is oracle:
            assert result.unreadable == {}
            for path_, value in found.items():
                if path_[0] in IDEAL and not isinstance(value, Undefined):
                    ideal = IDEAL[path_[0]]
                    assert value == ideal or (path_[0] in COUNTS_ABSENT and 0 < value < ideal)
            if name == "duo agreement":
                own = [value for path_, value in found.items() if path_[0] == "person"]
                assert all(isinstance(v, Undefined) or v == pytest.approx(1) for v in own)
        else:
            assert result.unreadable == {"empty answer": len(questions.gold)}
            assert all(isinstance(value, Undefined) or value == 0 for value in found.values())


# Faults ----------------------------------------------------------------------------------

KEY = "sk-secret-0123456789"


GOOD = json.dumps(completion()).encode()
FAULTS = {
    "429": (429, {"Retry-After": "0.01"}),
    "500": (500, {}),
    "cut": b'{"id": "x", ',
    "empty": completion(""),
    "truncated": completion('{"labels": []}', "length"),
    "other model": completion('{"labels": []}', model="other"),
    "nonsense": "la " * 10_000,
    "tool": completion(None, tool_calls=[{"id": "t", "type": "function"}]),
    "refusal": completion(None, refusal="I cannot."),
    "filter": completion("", "content_filter"),
    "echo": f'{{"labels": []}} {KEY}',
    "surrogate": completion('{"labels": []} \ud83d'),
    "tokens": completion('{"labels": []}') | {"usage": {"prompt_tokens": 10**25}},
    "odd end": completion('{"labels": []}', KEY),
    "no JSON": completion()["choices"],
    "error": {"error": {"message": f"bad key {KEY}"}},
    "ended with error": completion('{"labels": []}', "error"),
    "no number": (429, {"Retry-After": "nan"}),
    "gzip": (200, {"Content-Encoding": "gzip"}, gzip.compress(GOOD)),
    "no gzip": (200, {"Content-Encoding": "gzip"}, GOOD),
    "br": (200, {"Content-Encoding": "br"}, GOOD),
    "large": (200, {}, GOOD + b" " * LARGEST),
    "deep": (200, {}, GOOD.replace(b'"tiny"', b"[" * 900 + b"]" * 900)),
    "parts": (200, {}, GOOD.replace(b'"?"', b'["labels"]')),
    "deep text": completion('{"labels": ' + "[" * 900 + "]" * 900 + "}"),
}


LATER = ("429", "500", "cut", "no number")  # the second attempt succeeds


def test_every_fault_is_retried_or_named(of, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    questions = of("casino strategies")
    texts = [each.messages[1]["content"] for each in questions.by_key.values()]
    assert len(texts) >= len(FAULTS)
    fault_of = dict(zip(texts, FAULTS, strict=False))
    seen = []

    def answer(request):
        text = request["messages"][1]["content"]
        fault = fault_of.get(text)
        seen.append(text)
        passes = fault in LATER and seen.count(text) > 1
        return '{"labels": []}' if fault is None or passes else FAULTS[fault]

    path = tmp_path / "log.jsonl"
    with serving(answer) as server:
        ask(questions, settings(server.url), path)
        assert {given for given, _ in server.requests} == {f"Bearer {KEY}"}
    assert KEY not in path.read_text()
    assert path.stat().st_size < LARGEST
    header, entries = read_log(path)
    by_text = {questions.by_key[key].messages[1]["content"]: each for key, each in entries.items()}
    found = {fault: by_text[text] for text, fault in fault_of.items()}
    for fault in LATER:
        (call,) = found[fault]["calls"]
        assert (call["retries"], found[fault]["prediction"]) == (1, {"labels": []})
    unread = {fault: each["unreadable"] for fault, each in found.items() if "unreadable" in each}
    assert unread == {
        "empty": "empty answer",
        "truncated": "truncated",
        "nonsense": "too long",
        "tool": "tool call",
        "refusal": "refused",
        "filter": "refused",
        "odd end": "ended: \u2026",
        "gzip": "no answer found",
        "deep text": "no answer found",
    }
    assert found["other model"]["calls"][0]["model"] == "other"
    failed = {fault for fault, each in found.items() if "failed" in each}
    assert failed == {
        *("no JSON", "error", "ended with error"),
        *("no gzip", "br", "large", "deep", "parts"),
    }
    with pytest.raises(RecordError, match="failed") as refused:
        scored(questions, path)
    assert KEY not in str(refused.value)
    with serving(lambda request: '{"labels": []}') as server:
        ask(questions, settings(server.url), path)
        assert len(server.requests) == len(failed)
    result = scored(questions, path)
    assert sum(result.unreadable.values()) == len(unread)
    assert result.run["answered_by"] == {"other": 1, "tiny": len(texts) - 1}
    assert header["models"] == {"": "tiny"}


def test_a_key_is_hidden_also_where_it_is_escaped(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", key := 'sk-"0123\\/56')
    for written in (key, json.dumps(key)[1:-1], quote(key, safe="")):
        assert without_secrets(f"<{written}>") == "<…>"


def test_few_bytes_that_stand_for_many_take_no_memory(of, tmp_path):
    bomb = (200, {"Content-Encoding": "gzip"}, gzip.compress(GOOD + b" " * 2**26))
    with serving(lambda request: bomb) as server:
        tracemalloc.start()
        try:
            with pytest.raises(ParleyError, match="larger"):
                ask(of("casino strategies", limit=1), settings(server.url), tmp_path / "log")
            assert tracemalloc.get_traced_memory()[1] < 2**25
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("key", ["ollama", "EMPTY", "sk-no-key-required", "12345678", "utterance"])
def test_a_placeholder_for_a_key_is_no_secret(key, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    monkeypatch.setenv("HTTP_PROXY", f"http://{key}:{key}@proxy")
    assert without_secrets(f"a {key} {key.upper()}") == f"a {key} {key.upper()}"
    assert without_secrets(f"http://{key}:{key}@proxy") == "http://…proxy"


@pytest.mark.parametrize("key", ["sk-01234567\x0b89", "sk-0123 456789", "sk-0123456789é"])
def test_a_key_that_no_header_can_hold_is_refused(key, of, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with serving(lambda request: "none") as server, pytest.raises(UsageError, match="copy it"):
        ask(of("casino strategies"), settings(server.url), tmp_path / "log.jsonl")
    assert server.requests == []


def test_the_pause_is_that_of_the_endpoint_up_to_a_minute(of, tmp_path, monkeypatch):
    given = ["7", "1e9", "-1", "nan", "inf", "x", "Wed, 21 Oct 2015 07:28:00 GMT"]
    given += ["Wed, 21 Oct 2099 07:28:00 GMT"]
    left, pauses, sleep = iter(given), [], asyncio.sleep

    async def note(seconds):
        pauses.append(seconds)
        await sleep(0)

    def answer(request):
        after = next(left, None)
        return "none" if after is None else (429, {"Retry-After": after})

    monkeypatch.setattr("asyncio.sleep", note)
    with serving(answer) as server:
        few = of("casino strategies", limit=1)
        ask(few, settings(server.url, retries=len(given)), tmp_path / "log.jsonl")
    own = [0.5 * 2**attempt for attempt in range(len(given))]  # of an endpoint that asks for none
    assert pauses[: len(given)] == [7, 60, 0, own[3], own[4], own[5], 0, 60]


def test_a_redirect_is_refused_and_takes_no_prompt_along(of, tmp_path):
    questions = of("casino strategies")
    with serving(lambda request: "none") as other:
        moved = (307, {"Location": f"{other.url}/chat/completions"})
        with serving(lambda request: moved) as server:
            with pytest.raises(ParleyError, match=re.escape(other.url)):
                ask(questions, settings(server.url, at_once=1), tmp_path / "log.jsonl")
            assert len(server.requests) == 1
        assert other.requests == []


def test_a_hopeless_endpoint_ends_the_run_at_once(of, tmp_path):
    questions = of("casino strategies")
    for status in (401, 404):
        with serving(lambda request, status=status: (status, {})) as server:
            with pytest.raises(ParleyError, match=str(status)):
                ask(questions, settings(server.url, at_once=1), tmp_path / f"{status}.jsonl")
            assert len(server.requests) == 1
    with serving(lambda request: (400, {})) as server:
        with pytest.raises(ParleyError, match="10 questions in a row"):
            ask(questions, settings(server.url, at_once=1), tmp_path / "400.jsonl")
        assert [*tmp_path.iterdir()] == []  # nothing was answered
        assert sum(is_full(body) for _, body in server.requests) == 10
    with pytest.raises(ParleyError, match="in a row"):
        ask(questions, settings("http://127.0.0.1:9/v1", retries=0), tmp_path / "closed.jsonl")


def test_calls_keep_to_the_rate_and_the_number_at_once(of, tmp_path):
    questions = of("casino strategies")
    now, most = 0, 0

    def answer(request):
        nonlocal now, most
        now += 1
        most = max(most, now)
        time.sleep(0.05)
        now -= 1
        return "none"

    with serving(answer) as server:
        ask(questions, settings(server.url, at_once=3), tmp_path / "log.jsonl")
    assert 1 < most <= 3
    limited = of("casino strategies", limit=4)
    start = time.monotonic()
    with serving(lambda request: "none") as server:
        ask(limited, settings(server.url, per_minute=600), tmp_path / "slow.jsonl")
    assert time.monotonic() - start >= 0.3  # three gaps of a tenth


# Dialects --------------------------------------------------------------------------------


def roles_of(body):
    return {each["role"] for each in body["messages"]}


IS_IN = {
    "response_format": lambda body: "response_format" in body,
    "temperature": lambda body: "temperature" in body,
    "max_tokens": lambda body: "max_tokens" in body,
    "max_completion_tokens": lambda body: "max_completion_tokens" in body,
    "system": lambda body: "system" in roles_of(body),
    "developer": lambda body: "developer" in roles_of(body),
}


def is_full(body):
    return all(IS_IN[part](body) for part in ("temperature", "max_tokens", "system"))


UNNAMED = "Bad request"
BARE = ["no schema", "no temperature", "no limit of tokens", "no system role"]
DIALECTS = {  # what a server refuses, with which status and message; the mode that is due
    "any request": ("", 400, UNNAMED, []),
    "OpenAI's reasoning models": (
        "max_tokens temperature",
        400,
        "Unsupported parameter: '{0}' is not supported with this model.",
        ["no temperature", "max_completion_tokens"],
    ),
    "no schema": ("response_format", 400, "This response_format type is unavailable", "no schema"),
    "no model with a schema": (
        "response_format",
        404,
        "No endpoints found that can handle response_format",
        "no schema",
    ),
    "a chat template": (
        "system developer",
        500,
        "While executing CallExpression: Jinja Exception: System role not supported",
        "no system role",
    ),
    "strict fields": (
        "max_tokens max_completion_tokens",
        422,
        "body.{0}: Extra inputs are not permitted",
        "no limit of tokens",
    ),
    "a new role": ("system", 400, "role must be one of developer, user", "developer role"),
    "a silent one": ("temperature", 400, UNNAMED, "no temperature"),
    "a silent one without system": ("system developer", 400, UNNAMED, "no system role"),
    "a misleading one": ("temperature", 400, "no response_format, please", "no temperature"),
    "all": (" ".join(IS_IN), 400, "no {0} role", BARE),
    "all, silently": (" ".join(IS_IN), 422, UNNAMED, BARE),
}


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_a_run_has_the_mode_that_its_endpoint_takes(dialect, of, tmp_path):
    parts, status, said, due = dialect
    questions, path, answered = of("casino strategies", limit=6), tmp_path / "log.jsonl", []

    def answer(request):
        wrong = [part for part in parts.split() if IS_IN[part](request)]
        if wrong:
            error = {"error": {"message": said.format(wrong[0])}}
            return status, {}, json.dumps(error).encode()
        answered.append(request)
        return '{"labels": ["small-talk"]}'

    with serving(answer) as server:
        ask(questions, settings(server.url, schema=True, retries=0), path)
        whole = timeless(path)
        assert len(answered) - len(questions.gold) <= 3  # those that a fuller mode replaced
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-2]))
        before = len(server.requests)
        ask(questions, settings(server.url, schema=True, retries=0), path)
        assert len(server.requests) - before == 2  # a resumed run keeps the mode
    assert timeless(path) == whole
    result = scored(questions, path)
    assert result.run["mode"] == {"": [due] if isinstance(due, str) else due}
    assert result.unreadable == {}
    sent = "".join(each["content"] for body in answered for each in body["messages"])
    asked = [each for question in questions.by_key.values() for each in question.messages]
    assert all(each["content"] in sent for each in asked)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (502, '<div role="main">Bad gateway</div>'),
        (500, '{"error": "the system role of this node is moving"}'),
        (400, "'max_tokens' is too large: 80. The model's maximum context length is 512 tokens."),
    ],
)
def test_an_error_of_the_moment_or_of_one_question_changes_no_mode(status, said, of, tmp_path):
    questions, path = of("casino strategies", limit=3), tmp_path / "log.jsonl"

    def answer(request):
        return (status, {}, said.encode()) if len(server.requests) == 1 else '{"labels": []}'

    with serving(answer) as server:
        ask(questions, settings(server.url, schema=True, retries=1, at_once=1), path)
        ask(questions, settings(server.url, schema=True, retries=1, at_once=1), path)
    assert len(server.requests) == 4
    assert scored(questions, path).run["mode"] == {"": []}


def test_each_side_of_a_game_has_its_own_mode(of, tmp_path):
    questions, path = of("casino deals", limit=2), tmp_path / "log.jsonl"
    first, second = questions.asking.roles

    def answer(request):
        is_wrong = request["model"] == "two" and "temperature" in request
        return (400, {}, b"no temperature") if is_wrong else "[Walk-Away]"

    with serving(answer) as server:
        given = replace(settings(server.url), models={first: "one", second: "two"})
        ask(questions, given, path)
    assert scored(questions, path).run["mode"] == {first: [], second: ["no temperature"]}


def test_a_setting_that_somebody_chose_is_not_left_out(of, tmp_path):
    given = Sampling({"temperature": 0.7, "max_tokens": 80})
    with serving(lambda request: (400, {}, b"no temperature")) as server:
        chosen = replace(settings(server.url), sampling=given)
        with pytest.raises(ParleyError, match="no temperature"):
            ask(of("casino strategies", limit=1), chosen, tmp_path / "log.jsonl")
    assert all(body["temperature"] == 0.7 for _, body in server.requests)


def test_thoughts_are_kept_apart_and_never_read(of, tmp_path):
    questions, path = of("casino strategies", limit=4), tmp_path / "log.jsonl"
    usage = {"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 6}}
    labels = '{"labels": ["small-talk"]}'
    answers = iter(
        [
            completion('{"labels": []}', "STOP", reasoning_content=labels) | {"usage": usage},
            completion('{"labels": []}', "stop", reasoning=labels),
            completion(f"<think>{labels * 1000}</think>" + '{"labels": []}', "Stop"),
            completion("", "MAX_TOKENS", reasoning=labels) | {"usage": usage},
        ]
    )
    with serving(lambda request: next(answers)) as server:
        ask(questions, settings(server.url, at_once=1), path)
    _, entries = read_log(path)
    assert [each.get("prediction") for each in entries.values()] == [{"labels": []}] * 3 + [None]
    assert [each["calls"][0].get("reasoning") for each in entries.values()] == [labels] * 2 + [
        None,
        labels,
    ]
    result = scored(questions, path)
    assert result.unreadable == {"truncated": 1}
    assert (result.run["reasoning_tokens"], result.run["completion_tokens"]) == (12, 24)


# Settings --------------------------------------------------------------------------------

OWN_FIELDS = {"messages": [], "model": "x", "stream": True, "n": 3, "tools": [], "tool_choice": 1}
REFUSED_FIELDS = {
    "infinite": {"temperature": math.inf},
    "not a number": {"x": [math.nan]},
    "long": {"x": {"y": 10**30}},
    "seed": {"seed": 2**63},
    "tuple": {"stop": ("a",)},
    "surrogate": {"stop": "\udcff"},
    "key": {1: 2},
    "no JSON": {"x": {1}},
    "deep": {"x": functools.reduce(lambda value, _: [value], range(2000), 1)},
    "secret": {"user": f"I am {KEY}"},
    **{name: {name: value} for name, value in OWN_FIELDS.items()},
    "schema": {"response_format": {"type": "text"}},
}


@pytest.mark.parametrize("fields", REFUSED_FIELDS.values(), ids=REFUSED_FIELDS)
def test_settings_that_a_log_cannot_state_are_refused_before_a_call(
    fields, of, tmp_path, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    questions, path = of("casino strategies"), tmp_path / "log.jsonl"

    def given(url):
        return replace(settings(url), sampling=Sampling(fields, schema=True))

    with serving(lambda request: "none") as server:
        for write in (
            lambda: ask(questions, given(server.url), path),
            lambda: write_requests(questions, "tiny", given("").sampling, path),
        ):
            with pytest.raises(UsageError, match=str(next(iter(fields)))):
                write()
    assert (server.requests, path.exists()) == ([], False)


@pytest.mark.parametrize(
    "given",
    [
        *(f"strategies --option x={value}" for value in ("NaN", "1e999", '{"a":1,"a":2}')),
        *(f"strategies --temperature {value}" for value in ("inf", "nan")),
        f"strategies --seed {10**30}",
        "strategies --timeout nan",
        "strategies --option n=3",
        "deals --requests new.jsonl",
        "deals --answers there.jsonl",
    ],
)
def test_a_command_names_what_cannot_be_asked(given, sample_build, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.jsonl").touch()
    with serving(lambda request: "none") as server:
        more = ["--model", "tiny", "--build", sample_build, "--base-url", server.url]
        status, _, err = run("ask", "casino", *given.split(), *more)
    assert (status, server.requests) == (2, [])
    assert given.split()[1].lstrip("-") in err or "game" in err


@pytest.mark.parametrize(
    ("given", "finish", "tries"),
    [
        ("strategies --no-schema", "length", {"--schema", "--max-tokens", "--ask-again"}),
        ("strategies --no-schema", "stop", {"--schema", "--ask-again"}),
        ("strategies", "length", {"--max-tokens", "--ask-again"}),
    ],
)
def test_a_report_of_unreadable_answers_names_settings_to_try(
    given, finish, tries, sample_build, run, tmp_path
):
    with serving(lambda request: completion("Well, well.", finish)) as server:
        more = ["--model", "tiny", "--build", sample_build, "--log", tmp_path, "--limit", 2]
        _, out, _ = run("ask", "casino", *given.split(), *more, "--base-url", server.url)
    (advice,) = [line for line in out.splitlines() if "unreadable; try" in line]
    assert {word.strip(",;") for word in advice.split() if word.startswith("--")} == tries


def test_a_run_warns_early_of_unreadable_answers_and_ends_if_told(sample_build, run, tmp_path):
    def ended(server, log, *more):
        given = ["--model", "tiny", "--build", sample_build, "--log", tmp_path / log, *more]
        given += ["--base-url", server.url, "--at-once", 2, "--json"]
        status, _, err = run("ask", "casino", "strategies", *given)
        return status, err.count("--ask-again")

    with serving(lambda request: "Well, well.") as server:
        assert ended(server, "stopped", "--stop-unreadable", 0.5) == (1, 1)
        assert 20 <= len(server.requests) <= 21
        before = len(server.requests)
        assert ended(server, "stopped")[0] == 0
        assert ended(server, "told") == (0, 1)
        assert len(server.requests) < 2 * (len(server.requests) - before)  # it resumed
    with serving(lambda request: "none") as server:
        assert ended(server, "read", "--stop-unreadable", 0) == (0, 0)


def test_an_unreadable_answer_is_asked_again_once_with_the_reason(of, tmp_path):
    questions, path = of("casino strategies", limit=4), tmp_path / "log.jsonl"
    texts = [each.messages[1]["content"] for each in questions.by_key.values()]

    def answer(request):
        _, first, *again = request["messages"]
        if first["content"] == texts[0]:
            return "none"
        assert not again or (again[0]["content"], "several" in again[1]["content"]) == (
            "A {}" if first["content"] == texts[1] else "(no answer)",
            False,
        )
        if first["content"] == texts[1]:
            return '{"labels": ["small-talk"]}' if again else "A {}"
        return "" if first["content"] == texts[2] or not again else "none"

    given = settings(at_once=1, schema=True)
    given = replace(given, sampling=replace(given.sampling, ask_again=True))
    with serving(answer) as server:
        ask(questions, replace(given, base_url=server.url), path)
        assert len(server.requests) == 7
    header, entries = read_log(path)
    assert header["ask_again"]
    assert [len(each["calls"]) for each in entries.values()] == [1, 2, 2, 2]
    found = [each.get("prediction") for each in entries.values()]
    assert found == [{"labels": []}, {"labels": ["small-talk"]}, None, {"labels": []}]
    result = scored(questions, path)
    assert (result.unreadable, result.run["ask_again"]) == ({"empty answer": 1}, True)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for wrong in (1, 3):  # a question that was not asked again, and settings that ask none again
        lines[0]["ask_again"] = wrong == 1
        lines[3]["calls"] = (
            lines[3]["calls"][:1] if wrong == 1 else entries[(*entries,)[2]]["calls"]
        )
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        with pytest.raises(RecordError, match="answers, not"):
            scored(questions, path)


def test_an_unreadable_answer_stays_if_asking_again_is_refused(of, tmp_path):
    questions, path = of("casino strategies", limit=2), tmp_path / "log.jsonl"

    def answer(request):
        return (400, {}, b"a chat of four messages") if len(request["messages"]) > 2 else "A {}"

    given = settings(retries=0)
    given = replace(given, sampling=replace(given.sampling, ask_again=True))
    with serving(answer) as server:
        ask(questions, replace(given, base_url=server.url), path)
    for entry in read_log(path)[1].values():
        assert [each["text"] for each in entry["calls"]] == ["A {}", ""]
    (reason,) = scored(questions, path).unreadable
    assert "refused, status 400" in reason


# Logs ------------------------------------------------------------------------------------


NAMES = st.text(min_size=1).filter(lambda name: name not in OWN_FIELDS)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
KEYS_GIVEN = st.sampled_from(["", "ollama", "labels", "utterance", KEY, 'sk-"0123\\/56'])
KEYS_GIVEN |= st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8)
OFTEN = ["none", '{"labels": []}', "[Offer: Food=1 Water=1 Firewood=3]", "[Accept]", "Hello"]


@pytest.mark.parametrize("name", ["casino strategies", "casino deals"])
@hypothesis.settings(
    max_examples=12, deadline=None, suppress_health_check=[*hypothesis.HealthCheck]
)
@hypothesis.given(data=st.data())
def test_what_is_sent_is_what_is_logged(name, data, of, tmp_path_factory):
    path, part = tmp_path_factory.mktemp("sent") / "log.jsonl", {"limit": 2}
    questions = of(name, **({"limit": 1, "turns": 4, "swap": True} if name in GAMES else part))
    key = data.draw(KEYS_GIVEN)
    words = st.sampled_from(OFTEN) | st.text() | st.just(key)
    texts = data.draw(st.lists(st.lists(words).map(" ".join), min_size=1, max_size=30))
    fields = data.draw(st.dictionaries(NAMES, VALUES | words, max_size=4))
    sampling = Sampling(fields, data.draw(st.booleans()))
    roles = questions.asking.roles if name in GAMES else [""]
    models = {role: data.draw(st.text(min_size=1) | words.filter(bool)) for role in roles}
    one_in_both_seats = len({*models.values()}) < len(models)
    left = itertools.cycle(texts)

    def answer(request):  # "Hello." finds the mode of a side that did not speak in the first game
        return "Hi" if request["messages"][-1]["content"] == "Hello." else next(left)

    def asked():
        bodies = [body for _, body in server.requests]
        return [body for body in bodies if body["messages"][-1]["content"] != "Hello."]

    with pytest.MonkeyPatch.context() as patch, serving(answer) as server:
        patch.setenv("OPENAI_API_KEY", key)
        given = Settings(models, sampling, server.url, at_once=1)
        loggable = json.dumps([models, fields])
        is_odd = any(m.startswith("script:") for m in models) or one_in_both_seats
        if without_secrets(loggable) != loggable or is_odd:
            with pytest.raises(UsageError):
                ask(questions, given, path)
            assert server.requests == []
            return
        ask(questions, given, path)
        header, entries = read_log(path)
        assert repr(header["sampling"]) == repr(json.loads(json.dumps(fields)))
        assert (header["models"], header["mode"]) == (models, {role: [] for role in roles})
        assert header["schema"] == sampling.schema
        sent = asked()
        assert {said for said, _ in server.requests} == {f"Bearer {key}" if key else None}
        assert sent == [*requests_of(questions, header, entries)]
        said = [call["text"] for each in entries.values() for call in each["calls"]]
        heard = itertools.islice(itertools.cycle(texts), len(said))
        assert said == [without_secrets(text) for text in heard]
        whole, result = timeless(path), scored(questions, path)
        assert repr(result.run["sampling"]) == repr(header["sampling"])
        assert not is_secret(key) or key.encode() not in whole

        first = len(next(iter(entries.values()))["calls"])
        left = itertools.chain(itertools.islice(itertools.cycle(texts), first), [(401, {})])
        path = path.with_name("resumed.jsonl")
        with pytest.raises(ParleyError, match="401"):
            ask(questions, given, path)
        path.write_bytes(path.read_bytes() + whole.splitlines()[-1][:9])  # as of a kill
        left = itertools.islice(itertools.cycle(texts), first, None)
        ask(questions, given, path)
        assert timeless(path) == whole
        again = asked()[len(sent) :]
        assert again == [*sent[: first + 1], *sent[first:]]
        assert scored(questions, path).score == result.score


def requests_of(questions, header, entries):
    """Yield the requests that a log tells of."""
    fields = {name: value for name, value in header["sampling"].items() if value is not None}
    for key, entry in entries.items():
        state = questions.by_key[key]
        for call in entry["calls"]:
            seat = questions.seat(key, call.get("role", ""))
            body = {"model": header["models"][seat], **fields}
            if isinstance(questions.asking, Playing):
                yield {**body, "messages": [*questions.asking.messages(state)]}
                reason = reason_unread(call["finish"], call["text"])
                state = questions.asking.step(state, call["text"], reason)
            else:
                form = {"name": "answer", "schema": state.schema, "strict": True}
                asked = {"response_format": {"type": "json_schema", "json_schema": form}}
                yield {**body, **(asked if header["schema"] else {})} | {
                    "messages": [*state.messages]
                }


def timeless(path):
    return re.sub(rb'"seconds":[0-9.]+', b"", path.read_bytes())


ASK = [sys.executable, "-m", "parley", "ask", "casino", "strategies", "--model", "tiny"]


@pytest.mark.slow
@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM])
def test_a_run_killed_at_random_moments_resumes_to_the_same_score_and_cost(
    signum, request, tmp_path
):
    kills = int(os.environ.get("PARLEY_TRIALS", 3))
    is_real = "PARLEY_TRIALS" in os.environ and "PARLEY_SOURCE" in os.environ
    build = request.getfixturevalue("real_build" if is_real else "sample_build")
    limit = 200 * kills if is_real else 0
    built = find_folder(build, discover()["casino"])
    questions = Questions(built, "strategies", {}, Part("", limit))

    def answer(request):
        text = request["messages"][-1]["content"]
        return '{"labels": ["small-talk"]}' if sum(text.encode()) % 2 else "none"

    with serving(answer) as server:
        ask(questions, settings(server.url, schema=True), tmp_path / "whole.jsonl")
    due = scored(questions, tmp_path / "whole.jsonl")

    count, at_once = len(questions.gold), 4
    moments = sorted(random.Random(signum).sample(range(1, count - 1), kills))
    with serving(answer) as server:
        given = ["--build", str(build), "--log", str(tmp_path), "--base-url", server.url]
        given += ["--limit", str(limit), "--at-once", str(at_once)]
        for moment in moments:
            child = subprocess.Popen([*ASK, *given], stderr=subprocess.DEVNULL)
            while len(server.requests) <= moment and child.poll() is None:
                time.sleep(0.0005)
            child.send_signal(signum)
            assert child.wait() in (-signum, 128 + signum)
            (log,) = tmp_path.glob("casino.strategies.*.jsonl")
            with log.open("ab") as file:
                file.write(b'{"key":[1')  # as of a kill in the middle of a line
        done = subprocess.run([*ASK, *given, "--json"], capture_output=True, check=True)
        paid = len(server.requests)
    print(f"{count:,} questions, {kills} times {signal.Signals(signum).name}: {paid:,} paid calls")
    assert count <= paid <= count + kills * at_once
    (result,) = json.loads(done.stdout)
    assert result["metrics"] == due.as_dict()["metrics"]
    assert result["run"]["asked"] == count


INTERRUPTED = """
import asyncio.events, os, signal, sys
from parley.cli import main

run, step, left = asyncio.events.Handle._run, int(sys.argv.pop(1)), 0

def interrupted(handle):
    global left
    left += 1
    if left == step:
        os.kill(os.getpid(), signal.SIGTERM)
    run(handle)

asyncio.events.Handle._run = interrupted
main()
"""


@pytest.mark.parametrize("step", [1, 9])
def test_a_signal_at_a_step_of_the_event_loop_ends_the_run(step, sample_build, tmp_path):
    with serving(lambda request: "none") as server:
        given = ["--build", sample_build, "--log", tmp_path, "--base-url", server.url]
        command = [sys.executable, "-c", INTERRUPTED, str(step), *ASK[3:], *map(str, given)]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 128 + signal.SIGTERM
    assert "Traceback" not in ended.stderr


def test_a_log_of_other_questions_is_refused_with_both_hashes(of, tmp_path):
    path = tmp_path / "log.jsonl"
    with serving(lambda request: '{"score": 3}') as server:
        ask(of("duo agreement", limit=2), settings(server.url), path)
        before = path.read_bytes()
        for other in (
            lambda: ask(of("duo agreement", aspect="empathy", limit=2), settings(server.url), path),
            lambda: ask(of("duo agreement"), settings(server.url), path),
            lambda: ask(of("duo agreement", limit=2), settings(server.url, "other"), path),
        ):
            with pytest.raises(UsageError, match="other questions"):
                other()
        assert path.read_bytes() == before
    empathy, preference = of("duo agreement", aspect="empathy").digest, of("duo agreement").digest
    header = json.loads(before.splitlines()[0])
    assert header["questions"] == preference != empathy
    changed = before.replace(preference.encode(), empathy.encode())
    path.write_bytes(changed)
    with pytest.raises(RecordError) as refused:
        scored(of("duo agreement", limit=2), path)
    assert preference in str(refused.value)
    assert empathy in str(refused.value)


# what a log may say otherwise: settings, what an endpoint said, and when
OTHERWISE = (
    r"header (sampling(\..*| role)|(schema|parley|models\.\w*) another|(mode|ask_again|repeat).*)"
    r"|entry calls\[\]\.(text|model|seconds|retries|\w+_tokens) another"
)


@pytest.mark.parametrize("name", ["casino strategies", "craigslist_bargains deals"])
def test_a_changed_log_is_refused(name, of, tmp_path):
    questions, path = of(name, limit=2), tmp_path / "log.jsonl"
    first, *second = getattr(questions.asking, "roles", [""])
    models = {first: "tiny", **dict.fromkeys(second, "script:concede")}
    with serving(lambda request: '{"labels": ["uv-part"]} [Offer: 100]') as server:
        given = replace(settings(server.url), models=models)
        ask(questions, given, path)
    log = [[json.loads(line) for line in path.read_text().splitlines()]]
    seen = set()

    def require_refused(change):
        path.write_text("".join(f"{json.dumps(line)}\n" for line in log[0]))
        if not re.fullmatch(OTHERWISE, change):
            with pytest.raises((RecordError, UsageError)):
                scored(questions, path)

    for way, value in list(nodes(log))[1:]:
        inside = inner(log, way)
        speaker = inside.get("role", "") if isinstance(inside, dict) else ""
        place = f"{'entry' if way[1:2] > (0,) else 'header'} {general(way[2:])}"
        if value is None or (place, speaker) in seen:
            continue
        seen.add((place, speaker))
        more = [("negative", -1)] * (type(value) in (int, float))
        more += [("none", ""), ("script", "script:firm")] * place.startswith("header models.")
        more += [("role", value | {"role": "buyer"})] if isinstance(value, dict) else []
        for change, other in [*ways(value), *more]:
            inside[way[-1]] = other
            if other != value and log[0]:
                require_refused(f"{place} {change}")
        inside[way[-1]] = value
        if isinstance(inside, dict):
            inside["other"] = inside.pop(way[-1])
            require_refused(f"{place} renamed")
            inside[way[-1]] = inside.pop("other")
    path.write_text("".join(f"{json.dumps(line)}\n" for line in [*log[0], log[0][-1]]))
    with pytest.raises(RecordError, match="has an answer in a line before"):
        ask(questions, given, path)


def test_a_run_finds_its_log_of_an_earlier_day(sample_build, run, tmp_path):
    folder = tmp_path / "runs"
    given = ["casino", "outcomes", "--model", "../org/a:7b", "--limit", 2, "--build", sample_build]

    def asked(*more):
        with serving(lambda request: "none") as server:
            status, _, err = run(
                "ask", *given, *more, "--log", folder, "--base-url", server.url, "--no-schema"
            )
            assert not status, err
            return len(server.requests), sorted(path.name for path in folder.glob("*.jsonl"))

    count, (name,) = asked()
    assert re.fullmatch(r"casino\.outcomes\.pilot-2\.\.\.-org-a-7b\.\d{4}-\d\d-\d\d\.jsonl", name)
    assert count > 0
    text = (folder / name).read_text()
    header, first, _ = text.splitlines()
    old, older = (name.replace(name[-16:-6], day) for day in ("2026-01-02", "2026-01-01"))
    (folder / name).unlink()
    (folder / old).write_text(f"{header}\n{first}\n")
    (folder / older).write_text(f"{header}\n")
    (folder / name.replace(name[-16:-6], "2026-01-03")).write_text(text.replace("7b", "8b"))
    count, there = asked()
    assert (count, name in there) == (1, False)
    assert (folder / old).read_text().count("\n") == 3
    count, there = asked("--temperature", 1)  # other settings: a log of today
    assert (count >= 2, name in there) == (True, True)


@pytest.mark.parametrize("name", ["casino outcomes", "casino deals"])
def test_a_log_of_older_questions_is_scored_by_its_predictions_and_says_so(
    name, of, tmp_path, sample_build, run
):
    questions, path = of(name), tmp_path / "log.jsonl"
    path.write_text("")
    roles = getattr(questions.asking, "roles", [""])
    models = dict.fromkeys(roles, "tiny")
    with serving(lambda request: "[Walk-Away]") as server:
        ask(questions, replace(settings(server.url), models=models), path)
    header, *entries = [json.loads(line) for line in path.read_text().splitlines()]
    today = header["asking"]
    header |= {"parley": "1.0.0", "version": "1.0.0", "asking": "1", "questions": "0" * 64}
    header.pop("mode", None)
    for key, entry in zip(questions.gold, entries, strict=True):
        for reason in ("unreadable", "prediction"):
            entry.pop(reason, None)
        entry["prediction"] = (
            {"allocation": None}
            if name in GAMES
            else {"satisfaction": questions.gold[key][0], "likeness": "Extremely like"}
        )

    def write(**other):
        lines = [header | other, *entries]
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))

    write()
    result = scored(questions, path)
    assert result.score.metrics["walk_aways" if name in GAMES else "satisfaction"] == 1
    assert (result.run["asking"], result.run["asking_today"]) == ("1", today)
    assert "questions 1" in run("score", *name.split(), path, "--build", sample_build)[1]
    for change in ({"rows": "0"}, {"asking": "next"}, {"asking": str(int(today) + 1)}):
        write(**change)
        with pytest.raises(RecordError):
            scored(questions, path)
    entries.append({**entries[0], "key": [1, *entries[0]["key"][1:]]})  # no longer asked
    write()
    assert scored(questions, path).as_dict()["metrics"] == result.as_dict()["metrics"]
    del entries[0]
    write()
    with pytest.raises(RecordError, match="1 of"):
        scored(questions, path)


def test_a_file_that_is_no_log_is_left_alone(of, tmp_path):
    path = tmp_path / "log.jsonl"
    for text in (b'{"my": "only line"}', b'{"my": 1}\n'):
        path.write_bytes(text)
        with pytest.raises((UsageError, RecordError)):
            ask(of("casino strategies"), settings("http://127.0.0.1:9/v1"), path)
        assert path.read_bytes() == text


def test_a_pilot_is_the_same_part_for_everyone_and_says_so(of, tmp_path, sample_build):
    pilot, whole = of("casino strategies", limit=3), of("casino strategies")
    assert len(pilot.by_key) == 3 < len(whole.by_key)
    assert pilot.digest == whole.digest
    path = tmp_path / "pilot.jsonl"
    with serving(lambda request: "none") as server:
        ask(pilot, settings(server.url), path)
    found = parley.score(sample_build / "casino", "strategies", path)
    assert found.as_dict()["pilot"] == 3
    assert found.score.counts["utterances"] == 3


@pytest.mark.parametrize("name", SINGLE)
def test_examples_are_of_dialogues_that_are_not_scored(name, of):
    part = {} if name == "craigslist_bargains deal" else {"limit": 1}
    plain, varied = of(name, **part), of(name, **part, variant=Variant(2, "Do it."))
    assert plain.digest != varied.digest
    all_of = of(name) if part else plain
    known = {each.messages[-1]["content"]: key for key, each in all_of.by_key.items()}
    scored_dialogues = {key[0] for key in varied.by_key}
    for key, question in varied.by_key.items():
        system, *shown, last = question.messages
        assert system == {"role": "system", "content": "Do it."}
        assert last == plain.by_key[key].messages[-1]
        assert [each["role"] for each in shown] == ["user", "assistant"] * 2
        for asked, answer in zip(shown[::2], shown[1::2], strict=True):
            if part:
                own = known[asked["content"]]
                assert own[0] not in scored_dialogues
                fields = varied.asking.read(answer["content"], all_of.by_key[own])
                assert fields == varied.task.target(all_of.gold[own])
            else:
                assert asked["content"] not in known
    for kind in (Variant(1000), Variant(1)) if part else (Variant(1000),):
        with pytest.raises(UsageError, match="examples"):
            of(name, variant=kind)


@pytest.mark.parametrize("given", [{"turns": -5}, {"turns": 2.5}, {"limit": -1}, {"limit": "2"}])
def test_what_another_framework_gives_as_a_count_is_checked(of, given):
    with pytest.raises(UsageError, match="expected a whole number"):
        of(GAMES[0], **given)


def test_a_variant_is_in_the_log_its_name_and_the_score(sample_build, run, tmp_path):
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("Guess.\n")
    given = ["casino", "outcomes", "--model", "m", "--limit", 2, "--build", sample_build]
    with serving(lambda request: "none") as server:
        more = ["--shots", 1, "--prompt", prompt, "--log", tmp_path, "--base-url", server.url]
        status, out, err = run("ask", *given, *more)
        assert not status, err
        assert server.requests[-1][1]["messages"][0]["content"] == "Guess.\n"
        assert run("ask", "casino", "deals", *given[2:], *more)[0] == 2
        assert run("ask", "casino", *given[2:], *more)[0] == 2
    sha256 = hashlib.sha256(b"Guess.\n").hexdigest()
    (path,) = tmp_path.glob(f"casino.outcomes.pilot-2.shots-1.prompt-{sha256[:8]}.m.*.jsonl")
    header, *entries = path.read_text().splitlines()
    assert {"shots": 1, "prompt": "Guess.\n"}.items() <= json.loads(header).items()
    assert f"shots 1, system text {sha256[:12]}" in out
    with serving(lambda request: "none") as server:
        run("ask", *given, "--log", tmp_path / "plain", "--base-url", server.url)
    both = [path, tmp_path / "plain", "--metric", "likeness", "--build", sample_build]
    (table,) = json.loads(run("compare", *both, "--json").stdout)
    assert [(each["label"], each["differs"]) for each in table["logs"]] == [
        (f"m, shots-1, prompt-{sha256[:8]}", []),
        ("m", []),
    ]
    prompt.unlink()
    found = parley.score(sample_build / "casino", "outcomes", path).run
    assert (found["shots"], found["prompt"]) == (1, sha256)
    for change in ({"shots": 2}, {"prompt": "Guess."}, {"prompt": ""}):
        path.write_text("\n".join([json.dumps(json.loads(header) | change), *entries]) + "\n")
        with pytest.raises(RecordError, match="questions"):
            parley.score(sample_build / "casino", "outcomes", path)


def test_batch_files_give_the_same_log_as_asking(of, tmp_path):
    questions = of("cosrec intents")
    requests, answers = tmp_path / "requests.jsonl", tmp_path / "answers.jsonl"
    sampling = settings().sampling
    assert write_requests(questions, "tiny", sampling, requests) == len(questions.gold)
    sent = [json.loads(line) for line in requests.read_text().splitlines()]
    with serving(lambda request: "search") as server:
        ask(questions, settings(server.url), tmp_path / "asked.jsonl")
        bodies = [body for _, body in server.requests]
    assert sorted(map(str, bodies)) == sorted(str(each["body"]) for each in sent)

    def answer(each, **response):
        body = {"status_code": 200, "body": completion("search")} | response
        return json.dumps({"custom_id": each["custom_id"], "response": body, "error": None})

    lines = [answer(each) for each in reversed(sent)]
    answers.write_text("\n".join(lines))
    read_answers(questions, "tiny", sampling, answers, tmp_path / "batch.jsonl")
    assert timeless(tmp_path / "batch.jsonl") == timeless(tmp_path / "asked.jsonl")
    whole = (tmp_path / "batch.jsonl").read_bytes()
    bad = [answer(each, status_code=500, body={}) for each in sent]
    answers.write_text("\n".join(bad))
    read_answers(questions, "tiny", sampling, answers, tmp_path / "batch.jsonl")
    assert (tmp_path / "batch.jsonl").read_bytes() == whole  # a failed answer replaces none
    answers.write_text("\n".join([bad[0], "", *lines[:-1]]))
    read_answers(questions, "tiny", sampling, answers, tmp_path / "failed.jsonl")
    with pytest.raises(RecordError, match="500"):
        scored(questions, tmp_path / "failed.jsonl")
    answers.write_text("\n".join([lines[0], lines[0], '{"custom_id": "x"}', "{"]))
    with pytest.raises(RecordError) as wrong:
        read_answers(questions, "tiny", sampling, answers, tmp_path / "wrong.jsonl")
    assert len(wrong.value.problems) == 3
    body = completion("search") | {"choices": "\ud800"}
    odd = [answer(sent[0], status_code="\ud800"), answer(sent[1], body=body)]
    odd += [answer(sent[2], body=completion(" " * LARGEST))]
    answers.write_text("\n".join([*odd, *lines[:-3]]))
    read_answers(questions, "tiny", sampling, answers, tmp_path / "odd.jsonl")
    _, entries = read_log(tmp_path / "odd.jsonl")
    assert sum("failed" in each for each in entries.values()) == len(odd)
    answers.write_text("\n".join(lines))
    for other, model in ((questions, "huge"), (of("cosrec intents", limit=1), "tiny")):
        with pytest.raises(RecordError, match="no request has"):
            read_answers(other, model, sampling, answers, tmp_path / "other.jsonl")


# Games -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GAMES)
def test_two_models_play(name, of, tmp_path, sample_build, monkeypatch, run):
    questions = of(name)
    first, second = questions.asking.roles
    offer = {"casino": "[Offer: Food=1 Water=1 Firewood=3]"}.get(name.split()[0], "[Offer: 100]")

    def answer(request):
        return offer if request["model"] == "one" else "Fine. [Accept]"

    path = tmp_path / "log.jsonl"
    with serving(answer) as server:
        given = settings(server.url)
        models = {first: "one", second: "two"}
        ask(questions, Settings(models, given.sampling, server.url), path)
        asked = [body["model"] for _, body in server.requests]
        assert sorted(asked) == sorted(["one", "two"] * len(questions.gold))
        prompts = sorted(json.dumps(body["messages"]) for _, body in server.requests)
        with pytest.raises(UsageError, match=first):
            ask(questions, given, tmp_path / "other.jsonl")
    result = scored(questions, path)
    assert result.score.counts["deals"] == len(questions.gold)
    assert parley.score(sample_build / name.split()[0], "deals", path).as_dict() == result.as_dict()
    traces = tmp_path / "traces"
    assert run("export", path, "traces", traces, "--build", sample_build).returncode == 0
    chats = [[*map(json.loads, file.open())] for file in traces.glob("*.jsonl")]
    assert {chat[0]["type"] for chat in chats} == {"session"}
    assert len({chat[0]["id"] for chat in chats}) == 2 * len(questions.gold)
    sent = []
    for _, *lines in chats:
        said = [line["message"] for line in lines]
        at = [each["role"] for each in said].index("assistant")
        sent.append(json.dumps(said[:at]))
        first_model = said[at]["content"] == offer
        assert (said[at]["model"], len(said) - at) == ("tiny", 2 if first_model else 1)
    assert sorted(sent) == prompts
    played = write_played(questions, path)
    rows = find_folder(tmp_path / "played" / "build", played).rows("dialogues", "train")
    people = parley.score(questions.built, "deals", baseline=questions.asking.people).score.metrics
    for field, metrics in (("points", result.score.metrics), ("points_of_people", people)):
        for place, role in enumerate(questions.asking.roles):
            mean = sum(row["sides"][place][field] for row in rows) / len(rows)
            assert mean == near(metrics["points"][role])
    assert {(row["end"], len(row["turns"])) for row in rows} == {("deal", 2)}
    monkeypatch.setenv("PARLEY_DATASETS", str(played.folder.parent))
    assert "Fine. [Accept]" in run("show", played.name, "--build", tmp_path / "played/build")[1]
    monkeypatch.delenv("PARLEY_DATASETS")
    for text, due in {
        "[Walk-Away]": {"walk_aways": 1, "turns": {first: 1, second: 0}},
        "Hm [.": {"turn_limits": 1, "turns": {first: 10, second: 10}},
        "[Accept]": {"walk_aways": 1, "turns": {first: 3, second: 2}},
    }.items():
        with serving(lambda request, text=text: text) as server:
            other = tmp_path / f"{text}.jsonl"
            ask(questions, Settings(models, given.sampling, server.url), other)
        result = scored(questions, other)
        metrics = result.score.metrics
        assert {metric: metrics[metric] for metric in due} == due
        faults = due["turns"] if text == "[Accept]" else {first: 0, second: 0}
        assert metrics["malformed"] == faults
        assert metrics["walked_away"] == {first: "walk_aways" in due, second: 0}
        assert result.unreadable == {}
        assert {*metrics["points"].values()} == {5.0 if name.startswith("casino") else -0.5}


@pytest.mark.parametrize("name", GAMES)
def test_swapped_seats_judge_models_apart_from_sides(name, of, tmp_path, sample_build):
    first, second = of(name).asking.roles

    def played(path, one, two, **how):
        models = {first: f"script:{one}", second: f"script:{two}"}
        questions = of(name, turns=18, **how)
        ask(questions, Settings(models, Sampling({})), tmp_path / path)
        return questions, scored(questions, tmp_path / path).score

    of_seats = [
        played(pair, *pair.split())[1].metrics for pair in ("concede joint", "joint concede")
    ]
    swapped, found = played("swapped", "concede", "joint", swap=True)
    for metric in ("points", "turns", "below_walk_away"):
        own, by_model = ([each[metric] for each in of_seats], found.metrics["by_model"][metric])
        for role in (first, second):
            assert found.metrics[metric][role] == near((own[0][role] + own[1][role]) / 2)
        assert by_model["script:concede"] == near((own[0][first] + own[1][second]) / 2)
        assert by_model["script:joint"] == near((own[0][second] + own[1][first]) / 2)
    assert found.spread["by_model"]["points"].keys() == {"script:concede", "script:joint"}
    assert found.counts["games"] == 2 * found.counts["scenarios"] == len(swapped.by_key)
    rows = find_folder(
        tmp_path / "played" / "build", write_played(swapped, tmp_path / "swapped")
    ).rows("dialogues", "train")
    assert {(row["sides"][0]["model"], row["id"].endswith("-swapped")) for row in rows} == {
        ("script:concede", False),
        ("script:joint", True),
    }
    whole = (tmp_path / "swapped").read_bytes()
    header, *entries = whole.splitlines(keepends=True)
    assert {"turns": 18, "swap": True}.items() <= json.loads(header).items()
    for kept in (entries[:1], entries[1::2]):  # as of a run that was stopped
        (tmp_path / "swapped").write_bytes(b"".join([header, *kept]))
        with pytest.raises(RecordError, match="are not asked"):
            scored(swapped, tmp_path / "swapped")
        played("swapped", "concede", "joint", swap=True)
        assert (tmp_path / "swapped").read_bytes() == whole
    for how in ({"turns": 8, "swap": True}, {"turns": 18}):
        with pytest.raises(UsageError, match="other questions"):
            ask(
                of(name, **how),
                Settings(json.loads(header)["models"], Sampling({})),
                tmp_path / "swapped",
            )
    with pytest.raises(UsageError, match="two models"):
        played("other", "firm", "firm", swap=True)


@pytest.mark.parametrize("given", [["--turns", "4"], ["--swap"]])
def test_what_only_games_have_is_refused_for_questions(given, sample_build, run, tmp_path):
    more = ["--model", "tiny", "--build", sample_build, "--log", tmp_path, *given]
    for task in ("strategies", *(["deals"] if given == ["--swap"] else [])):
        assert run("ask", "casino", task, *more)[0] == 2
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "pair", "due"),
    [
        ("casino deals", ("joint", "joint"), {"share_of_most": 1, "fairness": 0.4223}),
        ("casino deals", ("concede", "joint"), {"share_of_most": 1, "turn_limits": 0}),
        ("casino deals", ("concede", "concede"), {"share_of_most": 0.9183, "turn_limits": 0}),
        ("casino deals", ("firm", "concede"), {"turn_limits": 1}),
        ("craigslist_bargains deals", ("joint", "joint"), {"sl": 0.5, "deals": 1}),
        ("craigslist_bargains deals", ("concede", "concede"), {"sl": 0.4618, "deals": 1}),
        ("craigslist_bargains deals", ("firm", "concede"), {"sl": 1, "turn_limits": 1 / 3}),
        ("craigslist_bargains deals", ("firm", "firm"), {"turn_limits": 1}),
    ],
)
def test_scripted_agents_reach_what_they_aim_at(name, pair, due, of, tmp_path):
    questions, path = of(name), tmp_path / "log.jsonl"
    models = (f"script:{each}" for each in pair)
    roles = questions.asking.roles
    ask(questions, Settings(dict(zip(roles, models, strict=True)), Sampling({})), path)
    metrics = scored(questions, path).score.metrics
    assert {metric: metrics[metric] for metric in due} == pytest.approx(due, abs=1e-4)


# Subsets ---------------------------------------------------------------------------------


def test_published_subsets_are_scored_apart(real_build, tmp_path):
    casino, bargains = real_build / "casino", real_build / "craigslist_bargains"
    for name, count in (("kwon2024", 120), ("rlvr-batna2026", 124), ("bond2026", 150)):
        for task, baseline in (("deals", "people"), ("outcomes", "commonest")):
            found = parley.score(casino, task, baseline=baseline, subset=name)
            assert found.as_dict()["subset"] == name
            assert {120, 124, 150} & {*found.score.counts.values()} == {count}
    for name in ("ppdpp2024-test", "ppdpp2024-valid"):
        rows = [
            {"dialogue_id": row["dialogue_id"], "probability": float(row["deal"])}
            for row in parley.open(bargains).rows("outcomes", "validation")
        ]
        found = parley.score(bargains, "deal", rows, subset=name)
        assert found.score.counts["dialogues"] == 187
        assert found.score.metrics["auc"] == 1
        with pytest.raises(UsageError, match="validation"):
            parley.score(bargains, "deal", baseline="majority", subset=name)
    built = find_folder(real_build, discover()["craigslist_bargains"])
    questions = Questions(built, "deals", {}, Part("ppdpp2024-test", 3))
    models = dict.fromkeys(questions.asking.roles, "script:joint")
    ask(questions, Settings(models, Sampling({})), tmp_path / "log.jsonl")
    assert scored(questions, tmp_path / "log.jsonl").score.counts == {"scenarios": 3, "deals": 3}
    assert write_played(questions, tmp_path / "log.jsonl").name == "log_played"
    with pytest.raises(UsageError, match="kwon2024"):
        parley.score(casino, "deals", baseline="people", subset="nobody2030")
