"""The tasks of all datasets, the answers that a schema allows, and logs of inspect."""

from parley.declaration.registry import discover

TASKS = {
    f"{dataset.name} {name}": (dataset, name, task)
    for dataset in discover().values()
    for name, task in dataset.tasks.items()
}
ASKED = {name: each for name, each in TASKS.items() if each[-1].asking}


def allowed(schema):
    """Yield the answers that a schema allows; strict modes of endpoints have to take it."""
    assert {"type", "anyOf"} & schema.keys()
    if "anyOf" in schema:
        for each in schema["anyOf"]:
            yield from allowed(each)
    elif "enum" in schema:
        yield from schema["enum"]
    elif schema["type"] == "null":
        yield None
    elif schema["type"] == "boolean":
        yield from (True, False)
    else:
        fields = schema["properties"]
        assert (schema["additionalProperties"], schema["required"]) == (False, [*fields])
        yield from objects(fields)


def objects(fields):
    """Yield the objects with these fields, one by one: six probabilities have 101 ** 6 values."""
    if not fields:
        yield {}
    for name in [*fields][:1]:
        rest = {other: fields[other] for other in fields if other != name}
        for value in allowed(fields[name]):
            for others in objects(rest):
                yield {name: value, **others}


def read_log(log):
    from inspect_ai.log import read_eval_log

    return read_eval_log(str(log))
