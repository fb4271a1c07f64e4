"""Write the questions of each task as a dataset folder for the Hub, with its `eval.yaml`.

    DIR/README.md            front matter that names a config for each task, and its licence
    DIR/eval.yaml            the tasks for `inspect eval hf/ORG/NAME` and the Hub's leaderboards
    DIR/<task>.parquet       a row for each question, the split `test`:
                             key, input, target, schema, pilot

`key`, `target` and `schema` are JSON texts. `target` is the right prediction without its key, null
where a task has none; such a task is not in `eval.yaml`. `input` is the whole prompt in one text.
`pilot` is the place of a question in pilots: the first N make `parley ask --limit N`. Games are
left out. The framework compares texts; only `parley score` gives a task's metrics.
"""

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml
from pyarrow import parquet

from parley.building.built import BuiltFolder
from parley.building.card import parse
from parley.declaring.questions import Asking
from parley.declaring.tasks import task_id
from parley.scoring.gold import in_order_of_pilots, load_gold, running

SPLIT = "test"
_SCHEMA = pa.schema(
    [*((name, pa.string()) for name in ("key", "input", "target", "schema")), ("pilot", pa.int64())]
)
_CARD = """---
{front}---

# {name}: questions to models

The questions of the tasks of {name} {version}, each with the right answer if the task has one.
`eval.yaml` lets `inspect eval hf/ORG/NAME` ask them; it compares texts. The metrics of the tasks
are those of `parley ask` and `parley score`.
"""


def questions(built: BuiltFolder, folder: Path) -> None:
    """Write the folder."""
    tasks, configs = list[dict[str, Any]](), list[dict[str, Any]]()
    for name, rows in _each_task(built):
        parquet.write_table(pa.Table.from_pylist(rows, _SCHEMA), folder / f"{name}.parquet")
        data_files = [{"split": SPLIT, "path": f"{name}.parquet"}]
        configs.append({"config_name": name, "data_files": data_files})
        if all(row["target"] is not None for row in rows):
            tasks.append(
                {
                    "id": name,
                    "config": name,
                    "split": SPLIT,
                    "field_spec": {"input": "input", "target": "target", "metadata": ["key"]},
                    "solvers": [{"name": "generate"}],
                    "scorers": [{"name": "exact"}],
                }
            )
    named, builder = built.dataset.name, built.dataset.builder
    own, _ = parse(built.card, "README.md")
    kept = ("license", "license_name", "license_link", "language", "pretty_name")
    front = {name: own[name] for name in kept if name in own} | {"configs": configs}
    about: dict[str, Any] = {"name": named, "description": builder.description()}
    about |= {"evaluation_framework": "inspect-ai", "tasks": tasks}
    card = _CARD.format(front=_yaml(front), name=named, version=built.version)
    for file, text in (("README.md", card), ("eval.yaml", _yaml(about))):
        (folder / file).write_text(text, encoding="utf-8")


def _yaml(value: Any) -> str:
    return yaml.safe_dump(value, allow_unicode=True, sort_keys=False)


def _each_task(built: BuiltFolder) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the name and the rows of each task, for each choice of its options."""
    for name, task in built.dataset.tasks.items():
        if not isinstance(task.asking, Asking):
            continue
        for values in product(*task.options.values()):
            options = dict(zip(task.options, values, strict=True))
            gold, _ = load_gold(built, name, options)
            with running(built):
                asked = {each.key: each for each in task.asking.questions(built, **options)}
            pilot = {key: place for place, key in enumerate(in_order_of_pilots(gold))}
            yield (
                task_id(name, options),
                [
                    {
                        "key": _json(dict(zip(task.key, key, strict=True))),
                        "input": "\n\n".join(each["content"] for each in asked[key].messages),
                        "target": _json(task.target(due)) if task.target else None,
                        "schema": _json(asked[key].schema) if asked[key].schema else None,
                        "pilot": pilot[key],
                    }
                    for key, due in gold.items()
                ],
            )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
