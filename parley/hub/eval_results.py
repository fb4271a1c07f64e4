"""A score as an entry of a model repository's `.eval_results/*.yaml`, which the Hub shows."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from typing import Any

import yaml
from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

from parley.base.errors import UsageError
from parley.base.values import flat
from parley.builds.built_folder import BuiltFolder
from parley.builds.publication_note import read_note
from parley.tasks.evaluate import WRONG, Result
from parley.tasks.task import ALL, Undefined, task_id


def eval_results(result: Result, built: BuiltFolder) -> str:
    """Return the YAML of a score's first metric; UsageError if it is of a part, or unpublished."""
    for wrong, what in (
        (result.baseline, "a baseline"),
        (result.is_sample, "a sample"),
        (result.part != ALL, f"{result.part}"),
        (result.policy != WRONG, "the readable predictions alone"),
    ):
        if wrong:
            refusal = f"--eval-results writes no score of {what}"
            raise UsageError(refusal, remedy="Score all predictions of a model on the whole task.")
    if not (note := read_note(built)):
        what = f"--eval-results: {built.shown_path} is not published from this machine, so that no "
        remedy = f"Run `parley publish {result.dataset} --repo ORG/{result.dataset}` first."
        raise UsageError(f"{what}repository can be named", remedy=remedy)
    path, value = next(iter(flat(result.score.metrics).items()))
    if isinstance(value, Undefined):
        raise UsageError(f"--eval-results: {' '.join(path)} is undefined: {value.reason}")
    asked = [*_asked(result.run)] if result.run else []
    proof = result.provenance
    notes = [" ".join(path), *asked, f"{result.part}", f"coverage {result.coverage:.4g}"]
    notes += [f"parley {proof['parley']}", f"{result.dataset} {proof['version']}"]
    entry = EvalResultEntry(
        dataset_id=note.repo,
        dataset_revision=note.commit,
        task_id=task_id(result.name, result.options),
        value=value,
        date=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        notes=", ".join(notes),
    )
    return str(yaml.safe_dump(eval_result_entries_to_yaml([entry]), sort_keys=False))


def _asked(run: Mapping[str, Any]) -> Iterator[str]:
    """Yield how a model was asked, from the facts of its log: all that may change its score."""
    yield f"questions {run['asking']}"
    if "schema" in run:
        yield "with schema" if run["schema"] else "without schema"
    yield from (f"{name} {run[name]}" for name in ("shots", "prompt", "turns") if run.get(name))
    if run["epochs"] > 1:
        yield f"{run['epochs']} epochs"
    if run.get("swap"):
        yield "swap"
