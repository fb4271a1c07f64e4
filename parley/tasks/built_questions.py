"""The questions of a build's tasks: a config for each task, and `eval.yaml`, which names them.

    eval.yaml                   the tasks for `inspect eval hf/ORG/NAME` and the Hub's leaderboards
    questions-<task>/test-*.parquet
                                a row for each question: key, input, target, schema, pilot

`key`, `target` and `schema` are JSON texts. `target` is the right answer in the form of the prompt,
null where a task has none. `input` is the whole prompt in one text. `pilot` is the place of a
question in pilots: the first N make a pilot of N. Games are left out.

The framework compares texts: the same answer in another spelling counts as wrong, and only
`parley score` gives a task's metrics. So `eval.yaml` names no task without targets or with a real
number in them, such as a probability, and is not written if no task is left.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from parley.base.errors import OutputError, UsageError
from parley.base.values import flat
from parley.builds.built_folder import COLUMNS, BuiltFolder
from parley.builds.provenance import EVAL, QUESTIONS
from parley.rows.arrow import to_batches
from parley.rows.digest import Digest
from parley.rows.splits import BuiltSplit, write_batches
from parley.schema.features import arrow_schema
from parley.tasks.asking import Asking
from parley.tasks.kinds import written
from parley.tasks.questions import Questions

SPLIT = "test"
SCHEMA = arrow_schema(COLUMNS)


def write_questions(built: BuiltFolder) -> list[BuiltSplit]:
    """Write the questions into a build that has none, and return their splits.

    UsageError if no task asks any; OutputError if the build lacks what a task reads.
    """
    if not (versions := versions_of(built)):
        raise UsageError(f"--questions: no task of {built.dataset.name} asks a model questions")
    splits, questions = [], dict(each_task(built))
    for task, rows in questions.items():
        name = QUESTIONS + task, SPLIT
        batches = to_batches(rows, SCHEMA, name[0])
        splits.append(write_batches(name, batches, SCHEMA, built.path, versions[name[0]]))
    if text := eval_yaml(built, questions):
        (built.path / EVAL).write_text(text, encoding="utf-8")
    return splits


def versions_of(built: BuiltFolder) -> dict[str, str]:
    """Return the version of each task's questions in this Parley, by their config."""
    return {QUESTIONS + task: asking.version for task, _, asking, _ in _asked(built)}


def digest_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the digest of the questions of a task."""
    digest = Digest(SCHEMA)
    for batch in to_batches(rows, SCHEMA):
        digest.update(batch)
    return digest.hexdigest()


def eval_yaml(built: BuiltFolder, questions: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Return the text of `eval.yaml`, given the id and rows of tasks; "" if it names no task."""
    about: dict[str, Any] = {
        "name": built.dataset.name,
        "description": built.dataset.builder.description(),
        "evaluation_framework": "inspect-ai",
        "tasks": [
            {
                "id": task,
                "config": QUESTIONS + task,
                "split": SPLIT,
                "field_spec": {"input": "input", "target": "target", "metadata": ["key"]},
                "solvers": [{"name": "generate"}],
                "scorers": [{"name": "exact"}],
            }
            for task, rows in questions.items()
            if all(_is_exact(row["target"]) for row in rows)
        ],
    }
    return str(yaml.safe_dump(about, allow_unicode=True, sort_keys=False)) if about["tasks"] else ""


def each_task(built: BuiltFolder) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the id and the questions of each task, for each choice of its options."""
    for id, name, _, options in _asked(built):
        try:
            of = Questions(built, name, options)
        except OutputError as error:
            if not built.missing:
                raise
            remedy = f"Get {', '.join(built.missing)}, or build without --questions."
            raise OutputError(error.message, remedy=remedy) from error
        task, pilot = of.task, {key: place for place, key in enumerate(of.by_key)}
        rows = []
        for key, right in of.gold.items():
            row = {
                "key": _json(dict(zip(task.key, key, strict=True))),
                "input": "\n\n".join(message["content"] for message in of.by_key[key]),
                "target": written(task.asked, right),
                "schema": _json(of.schema),
                "pilot": pilot[key],
            }
            rows.append(row)
        yield id, rows


def _asked(built: BuiltFolder) -> Iterator[tuple[str, str, Asking, dict[str, str]]]:
    """Yield id, name, questions and options of each task, for each choice of its options."""
    for name, task in built.dataset.tasks.items():
        if isinstance(task.asking, Asking):
            for id, options in task.ids(name).items():
                yield id, name, task.asking, options


def _is_exact(target: str | None) -> bool:
    """Tell whether a right answer has no real number, so that an equal text is the only one."""
    return target is not None and float not in map(type, flat(json.loads(target)).values())


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
