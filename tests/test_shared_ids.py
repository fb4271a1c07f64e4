"""Dialogues of two splits with the same ids stay apart in every command that names them."""

import csv
import json

import jsonlines
import numbered_dataset
import pytest
from numbered_dataset import TEXTS

from parley.builds.build import build
from parley.builds.built_folder import open_folder
from parley.builds.sources import open_source
from parley.declaration.registry import get
from parley.page import page_data, user_labels
from parley.read.dialogues import dialogues
from parley.tasks import Subset

IDS = [f"{split}/{id}" for split, id in TEXTS]
ROWS = [
    {"split": split, "id": id, "turn": turn, "act": "ask" if text.endswith("?") else "tell"}
    for (split, id), texts in TEXTS.items()
    for turn, text in enumerate(texts)
]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with the dataset in `more` and its build in `build`, the current one."""
    monkeypatch.setenv("PARLEY_DATASETS", str(numbered_dataset.write(tmp_path)))
    monkeypatch.chdir(tmp_path)
    build(open_source(get("numbered"), None, sample=True), tmp_path / "build")
    return tmp_path


def test_show_takes_the_split_with_the_id(place, run):
    for id, texts in zip(IDS, TEXTS.values(), strict=True):
        shown = run("show", "numbered", id).stdout
        assert {text for each in TEXTS.values() for text in each if text in shown} == {*texts}
    refused = run("show", "numbered", "0")
    assert refused.returncode == 2
    assert "test/0" in refused.stderr


def test_exports_and_queries_take_the_split_with_the_id(place, run):
    (place / "ids.txt").write_text("test/0\n")
    run("export", "numbered", "jsonl", "-o", "out", "--ids", "ids.txt")
    kept = [row for path in (place / "out").glob("*.jsonl") for row in jsonlines.open(path)]
    texts = [text for row in kept for text in row.get("turns", ())]
    assert (texts, len(kept)) == (TEXTS["test", 0], 1 + 2)
    (place / "ids.txt").write_text("0\n")
    assert run("export", "numbered", "jsonl", "-o", "none", "--ids", "ids.txt").returncode == 2


def test_the_page_lists_filters_and_selects_each_dialogue(place, run, monkeypatch):
    given = []
    monkeypatch.setattr("parley.page.serve.browse", lambda *of, **_: given.extend(of))
    query = "select split || '/' || id as id from numbered.acts where act = 'ask'"
    done = run("browse", "numbered", "--where", f"{query}; ")
    assert (done.returncode, done.stderr.split()[0], given[1].query) == (0, "3", query)
    assert given[1].ids == ["train/0", "test/0", "test/1"]
    assert run("browse", "numbered", "--where", "select id from numbered.acts").returncode == 2
    counts = page_data.write_data(given[0][0], place / "data", {"folder": "."})
    acts = [{row["act"] for row in ROWS if (row["split"], row["id"]) == key} for key in TEXTS]
    for filter, due in (
        (counts.filters["split"], [{split} for split, _ in TEXTS]),
        (counts.more["acts"]["acts.act"], acts),
    ):
        assert [{filter["labels"][n] for n in values} for values in filter["values"]] == due
    index = (place / "data" / "index.js").read_text()
    assert all(f'\\"{id}\\"' in index for id in IDS)


def test_labels_are_compared_within_their_split(place, run):
    with (place / "ann.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["split", "id", "turn", "act"])
        writer.writeheader()
        writer.writerows(ROWS[2:])
    done = run("labels", "numbered", "acts", "ann.csv", "--json")
    numbers = json.loads(done.stdout)
    assert numbers["columns"]["act"]["pairs"][0]["percent"]["value"] == 100
    counted = {name: numbers["annotators"]["ann"][name] for name in ("rows", "config_rows")}
    assert counted == {"rows": len(ROWS) - 2, "config_rows": len(ROWS)}
    assert numbers["key"] == ["split", "id", "turn"]
    wrong = (place / "ann.csv").read_text().replace("test,0,0,tell", "test,0,0,ask")
    (place / "ann.csv").write_text(wrong)
    assert run("labels", "numbered", "acts", "ann.csv", "-o", "differ.csv").returncode == 0
    with (place / "differ.csv").open(encoding="utf-8-sig") as file:
        (row,) = csv.DictReader(file)
    found = {name: row[name] for name in ("split", "id", "turn", "text")}
    assert found == {"split": "test", "id": "0", "turn": "0", "text": "I like plums."}
    assert run("export", "numbered", "csv", "-o", "tables").returncode == 0
    assert run("labels", "numbered", "acts", "tables/acts-test.csv").returncode == 0
    (place / "without.csv").write_text(wrong.replace("split", "part"))
    assert run("labels", "numbered", "acts", "without.csv").returncode == 2
    query = "select split, count(*) as n from ann join numbered.acts using (split, id, turn) "
    found = json.loads(run("sql", query + "group by 1", "--with", "ann.csv", "--json").stdout)
    assert {row["split"]: row["n"] for row in found} == {"train": 1, "test": 5}


def test_labels_and_predictions_stand_beside_their_dialogue_and_are_scored_on_its_id(place, run):
    (place / "ann.csv").write_text("split,id,turn,code\ntest,0,0,plums\ntrain,0,0,rain\n")
    with jsonlines.open(place / "model.jsonl", "w") as file:
        file.write_all(row | {"act": "tell"} for row in ROWS)
    built = open_folder(place / "build" / "numbered")
    own = user_labels.UserLabels(built, [place / "ann.csv", place / "model.jsonl"])
    beside = {dialogue.id: own.own_labels(dialogue, ()) for dialogue in dialogues(built)}
    codes = {
        (id, turn): value
        for id, found in beside.items()
        for turn, lines in found["turns"].items()
        for line in lines
        for value in line["texts"]
        if line["by"] == "ann: code"
    }
    assert codes == {("test/0", "0"): "plums", ("train/0", "0"): "rain"}
    wrong = {id for id in beside if "wrong" in own.filters(id).get("model: acts", ())}
    assert wrong == {"train/0", "test/0", "test/1"}


def test_a_task_is_scored_on_the_ids_of_the_page(place, run, monkeypatch):
    with jsonlines.open(place / "model.jsonl", "w") as file:
        file.write_all(row | {"act": "tell"} for row in ROWS)
    (place / "ids.txt").write_text("test/1\n")
    of = ("score", "numbered", "acts", "model.jsonl", "--ids", "ids.txt", "--json")
    assert json.loads(run(*of).stdout)["metrics"]["right"] == pytest.approx(2 / 3)
    task, wrong = vars(get("numbered").task("acts")), {"a": Subset("paper", frozenset({"0"}))}
    changes = {"subsets": wrong, "dialogues": lambda key, _: [key[1]]}
    for change, place in zip(changes, ("acts: subset a: ", "acts: gold: "), strict=True):
        assert place not in run("check", "numbered").stdout
        monkeypatch.setitem(task, change, changes[change])
        assert place in run("check", "numbered").stdout


def test_verify_notices_a_dialogue_that_hides_another(place, run, monkeypatch):
    assert run("verify", "numbered").returncode == 0
    config = vars(get("numbered").configs["dialogues"])
    monkeypatch.setitem(config, "splits_share_keys", False)
    done = run("verify", "numbered")
    assert done.returncode == 1
    assert "transcript.py: dialogues/test[0]" in done.stdout
