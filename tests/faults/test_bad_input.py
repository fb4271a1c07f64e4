"""A damaged upstream file is an error that names it, or the rows give back all that it holds."""

import json
import os
import random
import shutil
from pathlib import Path

from mutations import inner, nodes

from parley.base.errors import ParleyError
from parley.building.configs import Config
from parley.building.plan import plan
from parley.building.rows.arrow import to_batch
from parley.building.rows.generate import generate
from parley.building.sources import Sources

TRIALS = 25 * int(os.environ.get("PARLEY_TRIALS", 4))  # of each dataset; `make faults` has 500
HERE = "<what stands here is replaced>"
NEVER = [  # of no dataset: no JSON, or nothing that a column could hold
    *("NaN", "-Infinity", "1e999", "-1e-999", "9" * 5000, '"\\ud800"', '{"a": 1, "a": 2}'),
    *("[" * 20_000 + "]" * 20_000, "01", "'x'", "None"),
]
LITERALS = [
    *("null", "true", "7", "0.5", '"7"', "[]", "{}", '["x"]', '{"x": 1}', "9223372036854775807"),
    *('"\\u0000\\u001b[2J\\u2028"', f'"{"x" * 100_000}"', '""', *NEVER),
]
BYTES = [b"\x01", b"\xff", b"\xed\xa0\xbd", b"\xef\xbb\xbf", b"\n", b"\r"]


def parsed(path, text):
    """Return the records of a JSON file in plain Python, and how they are written."""
    if path.suffix == ".jsonl":
        records = [json.loads(line) for line in text.removesuffix("\n").split("\n")]
        return records, lambda records: "".join(f"{json.dumps(each)}\n" for each in records)
    whole = json.loads(text)
    if isinstance(whole, list):
        return whole, lambda records: json.dumps(records, indent=0)
    return [whole], lambda records: json.dumps(*records, indent=0)


def damaged(path, draw):
    """Return other content of a file, and whether no dataset may take it."""
    data = path.read_bytes()
    if path.suffix not in (".json", ".jsonl") or draw.random() < 0.3:
        place = draw.randrange(len(data))
        new = draw.choice(BYTES)
        made = [data[:place], data.replace(b"\n", b"\r\n"), data[:place] + new + data[place:]]
        kind = draw.randrange(3)
        return made[kind], kind == 2 and new in BYTES[1:3]
    records, written = parsed(path, data.decode())
    way, value = draw.choice([each for each in nodes(records) if each[0]])
    if isinstance(value, dict) and draw.random() < 0.5:
        value["note"] = None
        return written(records).encode(), False
    holder, literal = inner(records, way), draw.choice(LITERALS)
    if isinstance(holder, dict) and draw.random() < 0.3:
        del holder[way[-1]]
        return written(records).encode(), False
    holder[way[-1]] = HERE
    return written(records).replace(json.dumps(HERE), literal).encode(), literal in NEVER


def test_a_damaged_file_is_refused_or_kept(dataset, tmp_path, tally):
    folder = Path(shutil.copytree(dataset.sample, tmp_path / "source"))
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pkl")
    draw, refused = random.Random(dataset.name), 0
    for _ in range(TRIALS):
        path = draw.choice(files)
        before = path.read_bytes()
        content, never = damaged(path, draw)
        path.write_bytes(content)
        errors = []
        for split in plan(Sources(dataset, folder, sample=True)):
            if not any(f"{path}/".startswith(f"{folder / each.path}/") for each in split.files):
                continue
            try:
                rows = to_batch(list(generate(split)), split.schema, "here").to_pylist()
            except ParleyError as error:
                errors.append(str(error))
                continue
            if isinstance(split.config, Config) and path.suffix.startswith(".json"):
                records, _ = parsed(path, content.decode())
                back = [split.config.to_record(row) for row in rows]
                if not split.config.records:  # else of several files
                    assert all(each in back for each in records), path
        assert all(path.name in each for each in errors), (content[:200], errors)
        assert errors or not never, (path, content[:200])
        refused += bool(errors)
        path.write_bytes(before)
    assert TRIALS / 2 < refused < TRIALS
    tally("damaged place of an upstream file", TRIALS)
