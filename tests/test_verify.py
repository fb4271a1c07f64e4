"""Verification on real data, and that each of its checks can fail."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from parley.collection import discover, get
from parley.figures import UNEXPLAINED
from parley.folder.diff import compare
from parley.folder.verify import verify
from parley.source.files import open_source


def run(*args, **environ):
    environ = {k: v for k, v in os.environ.items() if k != "PARLEY_SOURCE"} | environ
    command = [sys.executable, "-m", "parley", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, env=environ, timeout=120)


def test_a_sample_build_holds(dataset, sample_build):
    source = open_source(dataset, None, sample=True)
    found = verify(dataset, sample_build / dataset.name, source)
    assert not found.failed, [check for check in found.checks if check.failed]
    assert {figure.verdict for figure in found.figures} <= {"not checked", "not reproducible"}


def test_the_real_build_holds(dataset, source, real_build):
    found = verify(
        dataset, real_build / dataset.name, open_source(dataset, source, allow_missing=True)
    )
    assert not found.failed, [c for c in found.checks if c.failed] + [
        f for f in found.figures if f.verdict == UNEXPLAINED
    ]
    assert not any(check.skipped for check in found.checks)
    assert all(figure.place and figure.definition for figure in found.figures)


def test_verify_lists_every_figure(source, real_build):
    done = run("verify", "--json", "--build", real_build, "--source", source)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    figures = [figure for each in found for figure in each["figures"]]
    assert len(figures) >= 180
    assert not [figure for figure in figures if figure["verdict"] == UNEXPLAINED]
    assert len({(each["dataset"], f["name"]) for each in found for f in each["figures"]}) == len(
        figures
    )
    by_name = {f"{e['dataset']}.{f['name']}": f for e in found for f in e["figures"]}
    assert by_name["casino.number_of_participants"]["measured"] == 846
    table7 = [f for name, f in by_name.items() if "outcome_correlations" in name]
    assert [f["verdict"] for f in table7] == ["matches"] * 9


@pytest.fixture
def build(sample_build, tmp_path):
    """A copy of the built samples to damage."""
    return shutil.copytree(sample_build, tmp_path / "build")


@pytest.fixture
def real(real_build, tmp_path):
    """A copy of the real build to damage."""
    return shutil.copytree(real_build, tmp_path / "build")


def rewrite(build, name, config, split, change):
    """Change the rows of a split as someone would who also keeps the file readable."""
    path = build / name / config / f"{split}-00000-of-00001.parquet"
    table = pq.read_table(path)
    rows = table.to_pylist()
    rows = change(rows) or rows
    pq.write_table(pa.Table.from_pylist(rows, table.schema), path)


def failures(build, name):
    found = verify(get(name), build / name)
    return {check.name for check in found.checks if check.failed}, {
        figure.name for figure in found.figures if figure.verdict == UNEXPLAINED
    }


def test_a_dropped_row_is_noticed(real):
    rewrite(real, "casino", "dialogues", "train", lambda rows: rows[1:])
    checks, figures = failures(real, "casino")
    assert {"files", "counts", "digests", "official_split_is_a_partition"} <= checks
    assert {"number_of_dialogues", "chat_entries"} <= figures
    done = run("verify", "casino", "--build", real, COLUMNS="200")
    assert done.returncode == 1
    assert "number_of_dialogues: documented 1030, measured 1029" in done.stdout
    assert "UNEXPLAINED: differs, and nothing is known of it" in done.stdout


def test_a_swapped_label_is_noticed(real):
    def swap(rows):
        for row in rows:
            for pair in row["annotations"]:
                if pair[1] == "small-talk":
                    pair[1] = "no-need"
                    return

    rewrite(real, "casino", "dialogues", "train", swap)
    assert {"strategy_counts.Small-Talk", "strategy_counts.No-Need"} <= failures(real, "casino")[1]


def test_an_unknown_label_is_noticed(real):
    def spoil(rows):
        rows[0]["annotations"][0][1] = "flattery"

    rewrite(real, "casino", "dialogues", "train", spoil)
    assert "rows_go_back_to_records" in failures(real, "casino")[0]


def test_two_rows_that_change_places_are_noticed(build):
    def flip(rows):
        rows[0], rows[1] = rows[1], rows[0]

    rewrite(build, "duo", "dialogues", "en", flip)
    assert {"files", "digests"} <= failures(build, "duo")[0]


def test_a_changed_score_is_noticed(real):
    def change(rows):
        for row in rows[:20]:
            row["subjective_evaluation"]["preference"] = 1.0

    rewrite(real, "duo", "ed", "en", change)
    checks, figures = failures(real, "duo")
    assert "subjective_preference.en.ed.mean" in figures
    assert {"digests", "ed_and_wow_make_up_dialogues"} <= checks


def test_a_judgment_of_an_intent_that_does_not_exist_is_noticed(build):
    def break_reference(rows):
        rows[0]["query_id"] = rows[0]["query_id"].replace("Curated_", "Curated_9")

    rewrite(build, "cosrec", "qrels", "curated", break_reference)
    assert len(failures(build, "cosrec")[0] - {"files", "digests"}) >= 1


def test_a_row_that_comes_twice_is_noticed(build):
    rewrite(build, "duo", "ed", "en", lambda rows: [*rows, rows[0]])
    assert {"keys", "counts"} <= failures(build, "duo")[0]


def test_a_changed_documented_value_is_noticed(real, monkeypatch):
    statistics = get("casino").statistics
    change_documented(monkeypatch, statistics.number_of_participants, 847)
    assert failures(real, "casino") == ({"card"}, {"number_of_participants"})


def test_a_known_difference_that_disappears_is_noticed(real, monkeypatch):
    statistics = get("casino").statistics
    change_documented(monkeypatch, statistics.majority_joint_accuracy, "39.5")
    assert failures(real, "casino") == ({"card"}, {"majority_joint_accuracy"})


def change_documented(monkeypatch, function, value):
    from dataclasses import replace

    changed = replace(function.documentation, documented=value)
    monkeypatch.setattr(function, "documentation", changed)


def test_a_row_that_the_source_does_not_give_is_noticed(build):
    def change(rows):
        rows[0]["text"] += "!"

    rewrite(build, "cosrec", "prompts", "prompts", change)
    source = open_source(get("cosrec"), None, sample=True)
    found = verify(get("cosrec"), build / "cosrec", source)
    (check,) = (check for check in found.checks if check.name == "source")
    assert check.problems == [
        "prompts/prompts[0]: is not the row that the source gives",
        "prompts/prompts[0]: does not come back as the upstream record",
    ]


def test_a_flipped_byte_is_noticed_wherever_it_is(build):
    path = build / "casino/dialogues/train-00000-of-00001.parquet"
    content = path.read_bytes()
    for at in range(0, len(content), len(content) // 40):
        damaged = bytearray(content)
        damaged[at] ^= 0x10
        path.write_bytes(damaged)
        assert "files" in failures(build, "casino")[0]


def test_a_changed_schema_is_noticed(build):
    path = build / "casino/dialogues/train-00000-of-00001.parquet"
    table = pq.read_table(path)
    pq.write_table(table.drop_columns(["annotations"]), path)
    assert "schema" in failures(build, "casino")[0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("| 36.97 | 36.97 |", "| 36.97 | 99.99 |"),
        ("| 36.97 | 36.97 |", "| 99.99 | 36.97 |"),
        ("dialogues/train-*.parquet", "../../../etc/*"),
        ("dtype: int64", "dtype: int32"),
    ],
)
def test_a_card_that_says_something_else_is_noticed(real, old, new):
    card = real / "casino/README.md"
    text = card.read_text(encoding="utf-8")
    assert old in text
    card.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert failures(real, "casino")[0] == {"card"}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("version", "9.9.9"),
        ("sources", {}),
        ("missing", ["no/such/file"]),
        ("sample", True),  # it is none, and the shipped records say so
    ],
)
def test_a_provenance_that_says_something_else_is_noticed(real, key, value):
    path = real / "casino/provenance.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    assert failures(real, "casino")[0]


def test_a_split_that_is_not_there_is_noticed(source, real):
    shutil.rmtree(real / "casino/official_split")
    checks, _ = failures(real, "casino")
    assert {"files", "provenance", "counts", "card"} <= checks


def test_an_unexpected_category_is_unexplained(real):
    def change(rows):
        rows[0]["participant_info"]["mturk_agent_1"]["demographics"]["gender"] = "unknown"

    rewrite(real, "casino", "dialogues", "train", change)
    assert "gender.unknown" in failures(real, "casino")[1]


def test_null_where_no_computation_expects_it(real):
    def change(rows):
        rows[0]["events"] = None

    rewrite(real, "craigslist_bargains", "negotiations", "test", change)
    checks, figures = failures(real, "craigslist_bargains")
    assert "digests" in checks
    assert figures


def test_one_broken_folder_does_not_hide_the_others(build):
    (build / "casino/provenance.json").write_text("{}")
    done = run("verify", "--build", build)
    assert done.returncode == 1
    assert "casino/provenance.json: not what parley writes" in done.stderr
    assert "duo" in done.stdout


def test_a_card_with_another_count_is_noticed(build):
    card = build / "casino/README.md"
    text = card.read_text(encoding="utf-8")
    card.write_text(text.replace("num_examples: ", "num_examples: 1", 1), encoding="utf-8")
    assert failures(build, "casino")[0] == {"counts"}


def test_a_file_too_many_a_link_and_a_missing_one_are_noticed(build):
    (build / "casino/casino.py").write_text("")
    (build / "casino/official_split/more.parquet").symlink_to("/etc/hostname")
    (build / "casino/official_split/test-00000-of-00001.parquet").unlink()
    found = verify(get("casino"), build / "casino")
    (files,) = (check for check in found.checks if check.name == "files")
    assert files.problems == [
        "official_split/test-00000-of-00001.parquet: missing",
        "casino.py: unknown file",
        "official_split/more.parquet: expected a file, found a link or device",
    ]


@pytest.mark.parametrize(
    ("args", "status", "message"),
    [
        (["verify", "casino", "--build", "nowhere"], 1, "not a built folder"),
        (["verify", "--build", "nowhere"], 2, "no built dataset there"),
        (["diff", "nowhere", "nowhere"], 1, "not a built folder"),
    ],
)
def test_errors(args, status, message):
    done = run(*args)
    assert done.returncode == status
    assert message in done.stderr


def test_a_source_that_is_not_there_is_wrong_usage(sample_build):
    done = run("verify", "--build", sample_build, "--source", "nowhere")
    assert done.returncode == 2
    assert "nowhere: no such folder" in done.stderr


@pytest.mark.parametrize(
    "provenance",
    ["", "[]", "{}", '{"configs": 1}', '{"configs": {"a": {"b": {}}}}', "\x00", "[" * 100_000],
)
def test_a_provenance_that_is_none(build, provenance):
    (build / "casino/provenance.json").write_text(provenance)
    done = run("verify", "casino", "--build", build)
    assert done.returncode == 1
    assert "provenance.json: not what parley writes" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_table_is_read_in_ten_seconds(sample_build):
    done = run("verify", "--build", sample_build)
    assert done.returncode == 0
    head = done.stdout.splitlines()[: 4 + len(discover())]
    assert all(len(line) <= 80 for line in head)
    assert all(any(line.split()[:1] == [name] for line in head) for name in discover())


# diff -------------------------------------------------------------------------------------


def test_equal_folders_do_not_differ(dataset, sample_build, build):
    found = compare(sample_build / dataset.name, build / dataset.name)
    assert not found.differs
    done = run("diff", sample_build / dataset.name, build / dataset.name)
    assert (done.returncode, "no difference" in done.stdout) == (0, True)


def test_changed_added_and_removed_rows_are_named_with_their_fields(sample_build, build):
    def change(rows):
        rows[0]["chat_logs"][1]["text"] = "changed\x1b[2J"
        rows[2]["dialogue_id"] = 7777
        return rows

    rewrite(build, "casino", "dialogues", "train", change)
    found = compare(sample_build / "casino", build / "casino")
    (split,) = (s for s in found.splits if s.differs)
    ids = [
        row["dialogue_id"]
        for row in pq.read_table(
            sample_build / "casino/dialogues/train-00000-of-00001.parquet"
        ).to_pylist()
    ]
    assert (split.added, split.removed) == (["7777"], [str(ids[2])])
    (changed,) = split.changed
    assert changed.key == str(ids[0])
    ((path, _, new),) = changed.fields
    assert (path, new) == ("chat_logs[1].text", "changed\x1b[2J")
    done = run("diff", sample_build / "casino", build / "casino")
    assert done.returncode == 1
    assert "chat_logs[1].text" in done.stdout
    assert "\x1b" not in done.stdout


def test_rows_in_another_order_and_a_missing_split(sample_build, build):
    rewrite(build, "duo", "ed", "en", lambda rows: rows[::-1])
    (build / "duo/wow/ja-00000-of-00001.parquet").unlink()
    found = compare(sample_build / "duo", build / "duo")
    differing = {(s.config, s.split): s for s in found.splits if s.differs}
    assert differing.keys() == {("ed", "en"), ("wow", "ja")}
    assert differing["ed", "en"].reordered
    assert not differing["ed", "en"].changed
    assert differing["wow", "ja"].new_rows is None


def test_rows_without_a_key_are_aligned_by_content(real_build, real):
    def change(rows):
        rows[5]["utterance"][0] = "changed"
        return rows[1:]

    rewrite(real, "craigslist_bargains", "dialogues", "test", change)
    found = compare(real_build / "craigslist_bargains", real / "craigslist_bargains")
    (split,) = (s for s in found.splits if s.differs)
    assert (split.removed, split.added, split.reordered) == (["row 0"], [], False)
    assert [(c.key, c.fields[0][0]) for c in split.changed] == [("row 5", "utterance[0]")]


def test_a_config_too_many_and_another_provenance_are_named(sample_build, build):
    shutil.copytree(build / "duo/ed", build / "duo/more")
    path = build / "duo/provenance.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": "9.9.9"}))
    found = compare(sample_build / "duo", build / "duo")
    assert {(s.config, s.split) for s in found.splits if s.differs} == {
        ("more", "en"),
        ("more", "ja"),
    }
    assert found.provenance == [("version", "1.0.0", "9.9.9")]


def test_a_schema_change_is_named(sample_build, build):
    path = build / "cosrec/qrels/curated-00000-of-00001.parquet"
    table = pq.read_table(path)
    relevance = table["relevance"].cast(pa.int32())
    pq.write_table(table.set_column(2, "relevance", relevance), path)
    found = compare(sample_build / "cosrec", build / "cosrec")
    (split,) = (s for s in found.splits if s.differs)
    assert split.schema == ["relevance: int64 -> int32"]


def test_figures_that_moved_are_named(real_build, real):
    rewrite(real, "casino", "dialogues", "train", lambda rows: rows[1:])
    found = compare(real_build / "casino", real / "casino")
    assert ("number_of_dialogues", 1030, 1029) in found.figures


def test_two_datasets_cannot_be_compared(sample_build):
    done = run("diff", sample_build / "casino", sample_build / "duo")
    assert done.returncode == 2
    assert "not the same dataset" in done.stderr


def test_what_the_hub_adds_to_a_copy_is_no_unknown_file(sample_build, tmp_path):
    folder = Path(shutil.copytree(sample_build / "casino", tmp_path / "casino"))
    (folder / ".gitattributes").write_text("*.parquet filter=lfs\n")
    (folder / ".cache" / "huggingface").mkdir(parents=True)
    (folder / ".cache" / "huggingface" / ".gitignore").write_text("*")
    assert not verify(get("casino"), folder).failed
    (folder / "casino.py").write_text("")
    (check,) = (c for c in verify(get("casino"), folder).checks if c.failed)
    assert check.problems == ["casino.py: unknown file"]
