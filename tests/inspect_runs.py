"""Tasks of inspect, asked of a model that a function stands for."""

import functools
import gc
import importlib.metadata
import warnings

# inspect reads all of them in each run, which takes longer than the run
importlib.metadata.packages_distributions = functools.cache(
    importlib.metadata.packages_distributions
)

import inspect_ai  # noqa: E402
from inspect_ai.model import ModelOutput, ModelUsage, get_model  # noqa: E402


def ask(task, reply, build, folder, roles=None, name="model", fails=(), **given):
    """Ask a task, as "casino deals", and return the path of its log.

    `reply(messages, schema)` gives a text or a ModelOutput, of a model with a `name`; or it is a
    model itself. `roles` are the sides of a game, each with a model, None for that one. What else
    is given goes to the task, or to `inspect_ai.eval` if it takes it.
    """
    own = {each: given.pop(each) for each in [*given] if each in OF_EVAL}
    own |= {"limit": given.pop("first")} if "first" in given else {}  # of the samples
    model = model_of(reply, name) if callable(reply) else reply
    own["model_roles"] = {role: each or model for role, each in (roles or {}).items()}
    own |= {"task_args": {"build": str(build), **given}, "log_dir": str(folder)}
    id = task.replace(" ", "_").replace("-", "_")
    (log,) = inspect_ai.eval(f"parley/{id}", model=model, display="log", **own)
    with warnings.catch_warnings(action="ignore", category=ResourceWarning):
        gc.collect()  # inspect leaves the connections of a model open
    errors = [each.error.message for each in log.samples or () if each.error]
    assert log.status in {"success", *fails}, (log.error, errors[:1])
    return log.location


OF_EVAL = {"sample_id", "epochs", "fail_on_error", "temperature", "max_connections"}


def model_of(reply, name):
    """Return a model that a function stands for."""

    def output(messages, tools, choice, config):
        schema = config.response_schema and config.response_schema.json_schema
        said = [{"role": each.role, "content": each.text} for each in messages]
        found = reply(said, schema and schema.model_dump(exclude_none=True))
        if isinstance(found, str):
            found = ModelOutput.from_content(f"mockllm/{name}", found)
        found.usage = ModelUsage(input_tokens=7, output_tokens=3, total_tokens=10)
        return found

    return get_model(f"mockllm/{name}", custom_outputs=output)
