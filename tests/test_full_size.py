"""The two sources that are too large to have at hand, generated in their shape and full size."""

import json
import random

import generate
import pyarrow.parquet as pq

from parley.build import build
from parley.collection import get
from parley.source.files import Source


def test_craigslist_train_of_5247_negotiations(tmp_path):
    (sample,) = json.loads((get("craigslist_bargains").sample / "train.json").read_text())[:1]
    draw = random.Random(1)
    records = []
    for number in range(5247):
        record = json.loads(json.dumps(sample))
        record["uuid"] = f"C_{number:032x}"
        record["events"] = [
            event
            for event in record["events"]
            for _ in range(draw.randint(1, 2))
            if event["action"] == "message" or draw.random() < 0.9
        ]
        for event in record["events"]:
            if event["action"] == "message":
                event["data"] += f" {draw.getrandbits(200):x}"
        records.append(record)
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "train.json").write_text(json.dumps(records), encoding="utf-8")
    built = check(
        Source(
            get("craigslist_bargains"),
            folder,
            missing=["validation.json", "test.json", "price_tracker.pkl"],
        ),
        tmp_path,
        {
            (config, "train"): 2 * 5247 if config == "messages" else 5247
            for config in ("dialogues", "negotiations", "outcomes", "messages")
        },
    )
    assert built["utterances", "train"] == sum(len(record["events"]) for record in records)
    negotiations = get("craigslist_bargains").configs["negotiations"]
    rows = table(tmp_path, "craigslist_bargains", "negotiations", "train").to_pylist()
    assert [negotiations.to_record(row) for row in rows] == records


def test_cosrec_raw_of_8938_conversations(tmp_path):
    lines = list(generate.conversations(8938))
    folder = generate.write(tmp_path / "source", 8938)
    sources = set(get("cosrec").sources) - {generate.RAW}
    check(
        Source(get("cosrec"), folder, missing=sorted(sources)),
        tmp_path,
        {("dialogues", "raw"): 8938, ("messages", "raw"): 8938},
    )
    rows = table(tmp_path, "cosrec", "dialogues", "raw").to_pylist()
    assert [get("cosrec").configs["dialogues"].to_record(row) for row in rows] == lines


def check(source, output, counts):
    splits = build(source, output)
    built = {(split.config, split.name): split.rows for split in splits}
    assert {key: built[key] for key in counts} == counts
    return built


def table(output, name, config, split):
    return pq.read_table(output / name / config / f"{split}-00000-of-00001.parquet")
