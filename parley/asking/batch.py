"""Batch files, as OpenAI's batch endpoint and `vllm run-batch` take and give them."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from parley.asking.client import LARGEST, TOO_LARGE, FailedCall, Sampling, call_of, said
from parley.asking.log import Log, Questions
from parley.asking.run import Entry, entry_of
from parley.base.errors import Problem, RecordError, UsageError
from parley.base.replace import writing
from parley.declaring.prediction_formats import Key
from parley.declaring.questions import Asking
from parley.scoring.predictions import require_free

_URL = "/v1/chat/completions"


def _requests(
    questions: Questions, model: str, sampling: Sampling
) -> Iterator[tuple[str, Key, dict[str, Any]]]:
    """Yield custom_id, key and body of each request; the id is a hash of both."""
    if not isinstance(questions.asking, Asking):
        raise UsageError(f"{questions.name} is a game; its turns cannot be asked in a batch")
    for key, each in questions.by_key.items():
        body = sampling.request(model, each.messages, each.schema)
        text = json.dumps([list(key), body], sort_keys=True)
        yield hashlib.sha256(text.encode()).hexdigest()[:32], key, body


def write_requests(questions: Questions, model: str, sampling: Sampling, path: Path) -> int:
    """Write a batch file, a new one, with a request for each question; return their number."""
    require_free(path)
    questions.header({"": model}, sampling)  # refuses settings that no log can hold
    lines = [
        {"custom_id": id, "method": "POST", "url": _URL, "body": body}
        for id, _, body in _requests(questions, model, sampling)
    ]
    with writing(path) as file:
        for line in lines:
            file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
    return len(lines)


def read_answers(
    questions: Questions, model: str, sampling: Sampling, answers: Path, path: Path
) -> Log:
    """Write the answers of a batch into a log, new or to complete: no answer there is replaced.

    RecordError names every line that is no answer to the requests of these questions.
    """
    keys = {id: key for id, key, _ in _requests(questions, model, sampling)}
    entries: dict[str, Entry] = {}
    wrong: list[Problem] = []
    for number, line in enumerate(answers.read_bytes().splitlines(), 1):
        if not line.strip():
            continue
        try:
            answer = json.loads(line)
            id = answer["custom_id"]
            if id in entries:
                raise ValueError("its custom_id is repeated")
            key = keys[id]
        except KeyError as error:
            wrong.append(Problem(f"line {number}", what=f"no request has {said(error)}"))
        except (ValueError, TypeError, RecursionError) as error:
            wrong.append(Problem(f"line {number}", what=f"no answer: {said(error)}"))
        else:
            entries[id] = _entry(questions, key, answer, len(line))
    if wrong:
        remedy = "Give the settings that the requests were written with."
        raise RecordError(f"{answers}: holds no answers to these requests", *wrong, remedy=remedy)
    log = Log(path, questions.header({"": model}, sampling))
    try:
        log.begin({"": ()})  # the requests were written in full
        if mode := log.mode.get(""):
            raise UsageError(
                f"{path}: holds answers to requests with {', '.join(mode)}; those of a batch are "
                "in full",
                remedy="Name another --log.",
            )
        for entry in entries.values():
            log.add(entry)
        log.finish(questions.by_key)
    finally:
        log.close()
    return log


def _entry(questions: Questions, key: Key, answer: Any, size: int) -> Entry:
    """Return the entry of an answer in a batch; `size` is in bytes."""
    try:
        if size > LARGEST:
            raise FailedCall(TOO_LARGE)
        response = answer.get("response") or {}
        if response.get("status_code") != 200:
            status, why = response.get("status_code"), answer.get("error") or response.get("body")
            raise FailedCall(said(f"status {status}: {why}"))
        call = call_of(response["body"])
    except FailedCall as error:
        return {"key": list(key), "calls": [], "failed": str(error)}
    except (LookupError, TypeError, AttributeError, RecursionError) as error:
        return {"key": list(key), "calls": [], "failed": f"no answer: {type(error).__name__}"}
    return entry_of(questions.asking, key, questions.by_key[key], [call], [""])
