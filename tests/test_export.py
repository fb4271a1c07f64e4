"""`parley export`: every format that a dataset folder offers."""

import codecs
import csv
import json
import math
import re
import shutil
from collections import Counter
from itertools import pairwise

import hostile_dataset
import pyarrow as pa
import pytest
from build_changes import retable
from hostile_dataset import ATTACKS, FORMULAS

from parley.base.errors import OutputError, UsageError
from parley.builds.build import build
from parley.builds.built_folder import open_folder
from parley.builds.sources import open_source
from parley.declaration.registry import get
from parley.read.dialogues import dialogues
from parley.read.export.export import export, formats

ODD = [
    ("casino", "convokit", "dialogues", {"chat_logs": 5}, r"train\[0\]\.chat_logs"),
    ("casino", "csv", "strategies", {"labels": [-1]}, "-1"),
    ("duo", "convokit", "dialogues", {"dialogue_id": "x"}, "x"),
    ("casino", "prompt-completion", "messages", {"dialogue_id": math.nan}, "nan"),
    ("casino", "prompt-completion", "messages", {"messages": None}, None),
    *(("cosrec", "trec", "queries", {"text": text}, "9001_0_0#0") for text in ("", "a\n", "a\t")),
]


@pytest.mark.parametrize(("name", "format", "config", "change", "place"), ODD)
def test_an_odd_row_is_an_error(sample_build, tmp_path, name, format, config, change, place):
    build = shutil.copytree(sample_build / name, tmp_path / name)
    (file, *_) = (build / config).glob("*.parquet")
    retable(file, lambda rows: pa.Table.from_pylist([row | change for row in rows.to_pylist()]))
    with pytest.raises(OutputError, match=place):
        export(open_folder(build), format, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_help_names_each_format(dataset, run):
    assert {*formats(dataset)} <= {*re.findall(r"[\w-]+", run("export", "--help").stdout)}


def test_every_turn_of_the_assistant_has_its_prompt(sample_build, tmp_path):
    folder = open_folder(sample_build / "casino")
    export(folder, "prompt-completion", tmp_path / "out")
    found = lines_of(tmp_path / "out" / "train.jsonl")
    for row in folder.rows("messages", "train"):
        for turn, message in enumerate(row["messages"]):
            if message["role"] == "assistant":
                line = found.pop(0)
                assert line.pop("prompt") + line.pop("completion") == row["messages"][: turn + 1]
                keys = folder.dataset.configs["messages"].keys
                assert line == {key: row[key] for key in keys} | {"turn": turn}
    assert not found


def test_every_chat_is_as_sharegpt_has_it(sample_build, tmp_path):
    folder = open_folder(sample_build / "duo")
    export(folder, "sharegpt", tmp_path / "out")
    role = {"human": "user", "gpt": "assistant", "system": "system"}
    for split in ("en", "ja"):
        found = lines_of(tmp_path / "out" / f"{split}.jsonl")
        for line in found:
            turns = line.pop("conversations")
            line["messages"] = [{"role": role[t["from"]], "content": t["value"]} for t in turns]
        assert found == folder.rows_with_names("messages", split)


def test_csv_holds_every_row_in_named_columns(dataset, sample_build, tmp_path):
    built = open_folder(sample_build / dataset.name)
    export(built, "csv", tmp_path / "out")

    def value(row, path):
        for key in path.split("."):
            row = None if row is None else row[key]
        return row

    for config, split in built.declared_splits:
        path = tmp_path / "out" / f"{config}-{split}.csv"
        assert path.read_bytes().startswith(codecs.BOM_UTF8)
        with path.open(newline="", encoding="utf-8-sig") as file:
            found = list(csv.DictReader(file))
        rows = built.rows_with_names(config, split)
        if built.dataset.configs[config].splits_share_keys:
            rows = [{"split": split, **row} for row in rows]
        assert len(found) == len(rows)
        assert {path.split(".")[0] for path in found[0]} == set(rows[0])
        for cells, row in zip(found, rows, strict=True):
            for path, cell in cells.items():
                due = value(row, path)
                if due is None:
                    assert cell == ""
                elif isinstance(due, str):
                    assert cell in (due, f"'{due}")  # which, the test of formulas holds
                else:
                    assert json.loads(cell) == due


def test_ids_choose_the_rows_of_their_dialogues(dataset, sample_build, tmp_path, run):
    built = open_folder(sample_build / dataset.name)
    first, *_, last = (dialogue.id for dialogue in dialogues(built))
    columns = {"dialogue_id", "uuid", "query_id"}

    def is_due(row):
        return bool({str(row.get(column)) for column in columns} & {first, last})

    due = {
        f"{config}-{split}": [*filter(is_due, built.rows_with_names(config, split))]
        for config, split in built.declared_splits
        if columns & set(built.features(config))
    }
    for format in ("csv", "jsonl"):
        names = export(built, format, tmp_path / format, [first, last])
        assert names == sorted(["SAMPLE.txt", *(f"{name}.{format}" for name in due)])
    for name, rows in due.items():
        assert lines_of(tmp_path / "jsonl" / f"{name}.jsonl") == rows
        with (tmp_path / "csv" / f"{name}.csv").open(newline="") as file:
            assert len(list(csv.reader(file))) == 1 + len(rows)
    (tmp_path / "ids").write_text(first)
    home = ("--build", sample_build, "--ids", tmp_path / "ids")
    said = run("export", dataset.name, "csv", "-o", tmp_path / "said", *home).stdout
    written = {name.partition("-")[0] for name in due}
    for config in {config for config, _ in built.declared_splits} - written:
        assert config in said
    for format, ids in (("csv", ["no such one"]), ("sharegpt", [first])):
        with pytest.raises(UsageError):
            export(built, format, tmp_path / "none", ids)
    assert not (tmp_path / "none").exists()


def test_no_cell_is_a_formula(tmp_path, monkeypatch):
    """Each text that begins as a formula begins with ' in CSV, and only the first ' is ours."""
    monkeypatch.setattr(hostile_dataset, "ATTACKS", [*FORMULAS, *ATTACKS])
    monkeypatch.setenv("PARLEY_DATASETS", str(hostile_dataset.write(tmp_path)))
    build(open_source(get("hostile"), None, sample=True), tmp_path / "build")
    export(open_folder(tmp_path / "build" / "hostile"), "csv", tmp_path / "out")
    csv.field_size_limit(2_000_000)
    with (tmp_path / "out" / "dialogues-train.csv").open(newline="", encoding="utf-8-sig") as file:
        cells = [row["attack"] for row in csv.DictReader(file)]
    assert cells[: len(FORMULAS)] == [f"'{text}" for text in FORMULAS]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert [cell.removeprefix("'") for cell in cells] == hostile_dataset.ATTACKS


TURNS = {
    "casino": ("dialogues", "chat_logs", "text"), "cosrec": ("dialogues", "turns", "text"),
    "craigslist_bargains": ("negotiations", "events", "text"),
    "duo": ("dialogues", "dialogue", "message"),
}  # fmt: skip
WHOLE = ("conversations", "corpus", "index", "speakers")


@pytest.fixture(params=["sample_build", "real_build"])
def builds(request):
    """Builds of the samples, then of the available real data."""
    return request.getfixturevalue(request.param)


def root_of(folder, request):
    """Return the folder of upstream's files that a build is of."""
    name = folder.dataset.name
    return folder.dataset.sample if folder.is_sample else request.getfixturevalue("source") / name


def corpus_of(folder, target):
    """Export a build as a ConvoKit corpus and return its files, read."""
    written = export(folder, "convokit", target)
    assert set(written) - {"SAMPLE.txt"} == {*(f"{n}.json" for n in WHOLE), "utterances.jsonl"}
    corpus = {part: json.loads((target / f"{part}.json").read_text("ascii")) for part in WHOLE}
    return corpus | {"utterances": lines_of(target / "utterances.jsonl")}


@pytest.mark.parametrize("name", TURNS)
def test_a_convokit_corpus_holds_every_turn_in_its_place(name, builds, tmp_path):
    folder = open_folder(builds / name)
    corpus = corpus_of(folder, tmp_path / "out")
    utterances = {each["id"]: each for each in corpus["utterances"]}
    assert len(utterances) == len(corpus["utterances"])
    config, turns, text = TURNS[name]
    rows = [row for split in folder.splits(config) for row in folder.rows(config, split)]
    due = Counter(turn[text] or "" for row in rows for turn in row[turns])
    assert Counter(each["text"] for each in corpus["utterances"]) == due
    assert len(corpus["conversations"]) == len(rows)
    assert {each["speaker"] for each in corpus["utterances"]} == set(corpus["speakers"])
    assert {u["conversation_id"] for u in corpus["utterances"]} == set(corpus["conversations"])
    for each in corpus["utterances"]:
        before = utterances.get(each["reply-to"])
        assert each["conversation_id"] == (before["conversation_id"] if before else each["id"])
    times = [(each["conversation_id"], each["timestamp"]) for each in corpus["utterances"]]
    for (one, before), (other, after) in pairwise(times):
        assert one != other or before <= after  # ConvoKit orders by them
    if name == "craigslist_bargains":
        assert [time for _, time in times] == [turn["time"] for row in rows for turn in row[turns]]
    components = {
        "utterances-index": [each["meta"] for each in corpus["utterances"]],
        "speakers-index": [each["meta"] for each in corpus["speakers"].values()],
        "conversations-index": [each["meta"] for each in corpus["conversations"].values()],
        "overall-index": [corpus["corpus"]],
    }
    assert corpus["index"].keys() == {*components, "version", "vectors"}
    for part, metas in components.items():
        assert corpus["index"][part].keys() >= {key for meta in metas for key in meta}, part
        kinds = {kind for kinds in corpus["index"][part].values() for kind in kinds}
        assert kinds <= {f"<class '{k}'>" for k in ("bool", "dict", "float", "int", "list", "str")}


def test_the_corpus_of_casino_is_what_upstream_says(builds, tmp_path, request):
    """Hold every utterance, speaker and conversation against upstream's records."""
    folder = open_folder(builds / "casino")
    corpus = corpus_of(folder, tmp_path / "out")
    records = json.loads((root_of(folder, request) / "data/casino.json").read_bytes())
    utterances, seen = enumerate(corpus["utterances"]), {}
    for record in records:
        about, sides = {"dialogue_id": record["dialogue_id"]}, record["participant_info"]
        ids, annotated, known = {}, [], {}
        for name in ("mturk_agent_1", "mturk_agent_2"):
            person = {key: sides[name].pop(key) for key in ("demographics", "personality")}
            ids[name] = seen.setdefault(json.dumps(person, sort_keys=True), f"speaker_{len(seen)}")
            known[name] = {"meta": {"speaker_id": ids[name], **person}, "vectors": []}
            assert corpus["speakers"][ids[name]] == known[name]
        for turn, entry in enumerate(record["chat_logs"]):
            number, found = next(utterances)
            id, first, before = (f"utterance_{number - back}" for back in (0, turn, 1))
            if (labels := found["meta"].pop("annotations")) is not None:
                annotated.append([found["text"], labels])
            side = {"speaker_internal_id": entry["id"], "speaker_id": ids[entry["id"]]}
            assert (found["text"], found["speaker"]) == (entry["text"], ids[entry["id"]])
            assert found["meta"] == {**entry["task_data"], **about, **side}
            assert (found["id"], found["conversation_id"]) == (id, first)
            assert found["reply-to"] == (before if turn else None)
        assert annotated == record["annotations"]
        meta = {"meta": about | {"participant_info": sides}, "vectors": []}
        assert corpus["conversations"][found["conversation_id"]] == meta
    assert next(utterances, None) is None
    assert corpus["speakers"].keys() == set(seen.values())
    assert corpus["corpus"] == {
        "name": "Campsite Negotiation Dialogues",
        "dataset_url": "https://github.com/kushalchawla/CaSiNo",
        "paper_url": "https://aclanthology.org/2021.naacl-main.254/",
    }
    if not folder.is_sample:  # the numbers of ConvoKit's own corpus
        numbers = len(corpus["utterances"]), len(seen), len(corpus["conversations"])
        assert numbers == (14_297, 846, 1_030)
        keys = Counter(key for each in corpus["utterances"] for key in each["meta"])
        assert (keys["data"], keys["issue2youget"], keys["issue2theyget"]) == (1197, 1181, 1181)


PARTS = ("", ".search", ".recommendation")


def test_topics_and_judgments_are_upstreams(builds, tmp_path, request):
    folder, out = open_folder(builds / "cosrec"), tmp_path / "out"
    export(folder, "trec", out)
    export(folder, "beir", tmp_path / "beir")
    upstream = root_of(folder, request) / "dataset/curated/qrels.qrels"
    assert (out / "qrels.qrels").read_bytes() == upstream.read_bytes()
    found, judged = {}, {}
    for part in PARTS:
        lines = (out / f"topics{part}.tsv").read_bytes().decode().removesuffix("\n").split("\n")
        found[part] = dict(line.split("\t") for line in lines)
        titles = json.loads((out / f"topics{part}.json").read_text(encoding="utf-8"))
        assert titles == {query_id: {"title": text} for query_id, text in found[part].items()}
        judged[part] = (out / f"qrels{part}.qrels").read_text(encoding="utf-8").splitlines()
        assert found[part].keys() == {line.split()[0] for line in judged[part]}
    for part in PARTS[1:]:  # the same, in BEIR's layout
        place = tmp_path / "beir" / part[1:]
        queries = lines_of(place / "queries.jsonl")
        assert {each["_id"]: each["text"] for each in queries} == found[part]
        lines = (place / "qrels" / "test.tsv").read_text().splitlines()
        due = [f"{id}\t{document}\t{n}" for id, _, document, n in map(str.split, judged[part])]
        assert lines == ["query-id\tcorpus-id\tscore", *due]
    assert found[""] == found[".search"] | found[".recommendation"]
    assert not found[".search"].keys() & found[".recommendation"].keys()
    if not folder.is_sample:
        counts = [(len(found[part]), len(judged[part])) for part in PARTS]
        assert counts == [(268, 17464), (43, 2314), (225, 15150)]
    else:
        text = found[".search"]["CoSRec-Curated_9002_0_1"]
        assert text == "what do the numbers on binoculars mean"
