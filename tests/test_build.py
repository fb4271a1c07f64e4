"""What a build refuses, and what it leaves behind: on the samples, damaged on purpose."""

import json
import random
import shutil
from contextlib import nullcontext
from pathlib import Path

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from parley.base.errors import OutputError, RecordError, ScriptError, SourceError
from parley.builds.build import build
from parley.builds.built_folder import BuiltFolder, open_folder
from parley.builds.provenance import read_provenance
from parley.builds.sources import Sources, at_hand, open_source
from parley.declaration.registry import get
from parley.rows import parquet
from parley.rows.digest import Digest
from parley.rows.parquet import row_groups
from parley.scoring.gold import Part, load_gold
from parley.source.hashes import UNREADABLE, hash_file
from parley.verification.measure import measure
from parley.verification.verify import verify


@pytest.fixture
def casino(tmp_path):
    """The folder of builds, and a copy of the casino sample to damage."""
    folder = Path(shutil.copytree(get("casino").sample, tmp_path / "source" / "casino"))
    return tmp_path / "build", Sources(get("casino"), folder, sample=True)


def test_the_same_cause_is_told_once_with_its_count_and_first_places(casino):
    output, source = casino
    records = json.loads((source.folder / "data/casino.json").read_text(encoding="utf-8"))
    for number, record in enumerate(records):
        record["mood"] = number
    records[1]["chat_logs"][0]["text"] = None
    (source.folder / "data/casino.json").write_text(json.dumps(records), encoding="utf-8")
    with pytest.raises(RecordError) as error:
        build(source, output)
    assert not list(output.iterdir())  # nothing half-written
    assert str(source.folder) in error.value.remedy
    assert [problem.place for problem in error.value.problems] == [
        f"data/casino.json[0]; [1]; [2] and {len(records) - 3} more: mood",
        "data/casino.json[1].chat_logs[0].text",
    ]


def test_an_output_folder_behind_a_link(casino, tmp_path):
    output, source = casino
    output.mkdir()
    (output / "casino").symlink_to(tmp_path / "elsewhere" / "casino")
    (tmp_path / "elsewhere").mkdir()
    for _ in range(2):  # at first the link dangles
        build(source, output)
    assert (output / "casino").is_symlink()
    assert (tmp_path / "elsewhere" / "casino" / "provenance.json").is_file()
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["casino"]


def test_an_output_folder_that_is_named_as_the_home_folder(casino, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    build(casino[1], Path("~"))
    assert not verify(open_folder(Path("~/casino"))).failed


def test_a_subset_needs_no_split_but_its_own(tmp_path):
    haggling = get("craigslist_bargains")
    build(Sources(haggling, haggling.sample, sample=True, missing=["test.json"]), tmp_path)
    with pytest.raises(OutputError, match="ppdpp2024-test"):  # of which the sample has nothing
        load_gold(open_folder(tmp_path / haggling.name), "deals", {}, Part("ppdpp2024-test"))


@pytest.fixture
def real_casino(source, tmp_path):
    shutil.copytree(source / "casino", tmp_path / "source" / "casino")
    for path in (tmp_path / "source").rglob("*"):
        path.chmod(0o755)
    return tmp_path / "source"


def test_a_damaged_file_is_not_taken_for_a_missing_one(real_casino):
    """Nor one in a folder that cannot be read."""
    path = real_casino / "casino/data/casino.json"
    path.write_bytes(path.read_bytes()[:-1])
    folder = real_casino / "casino/data/split"
    shutil.rmtree(folder)
    folder.symlink_to(folder)
    with pytest.raises(SourceError) as error:
        open_source(get("casino"), real_casino, allow_missing=True)
    found = {problem.place: problem.what for problem in error.value.problems}
    assert found[str(path)].startswith("size ")
    assert found[str(folder / "casino_test.json")].startswith(UNREADABLE)
    shutil.rmtree(real_casino / "casino")
    (real_casino / "casino").symlink_to(real_casino / "casino")
    with pytest.raises(SourceError):
        at_hand(get("casino"), real_casino)


def test_a_missing_file_is_named_with_what_to_do_and_a_partial_build_says_so(real_casino, tmp_path):
    path = real_casino / "casino/data/split/casino_test.json"
    path.unlink()
    with pytest.raises(SourceError) as error:
        open_source(get("casino"), real_casino)
    assert [each.place for each in error.value.problems] == [str(path)]
    for each in (str(path.parents[2]), "--source", "`parley fetch casino`", "--allow-missing"):
        assert each in error.value.remedy
    files = open_source(get("casino"), real_casino, allow_missing=True)
    build(files, tmp_path / "build")
    folder = tmp_path / "build/casino"
    provenance = json.loads((folder / "provenance.json").read_text())
    assert provenance["missing"] == ["data/split/casino_test.json"]
    assert list(provenance["configs"]["official_split"]) == ["train", "validation"]
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "| `official_split` | `test` | not built" in card
    loaded = datasets.load_dataset(str(folder), "official_split", cache_dir=str(tmp_path / "c"))
    assert {split: len(rows) for split, rows in loaded.items()} == {"train": 900, "validation": 30}


def test_a_mirrors_bytes_are_named_in_provenance_and_card(tmp_path, monkeypatch):
    dataset = get("craigslist_bargains")
    upstream = Path(shutil.copytree(dataset.sample, tmp_path / "upstream" / dataset.name))
    for path, source in dataset.sources.items():
        pin = {"url": f"https://example.org/{path}", "sha256": hash_file(upstream / path, "sha256")}
        monkeypatch.setitem(vars(source), "pin", pin)

    def source():
        return open_source(dataset, upstream.parent)

    def failed(found):
        return {check.name for check in verify(found, source()).checks if check.failed}

    build(source(), tmp_path / "before")
    before = open_folder(tmp_path / "before" / dataset.name)
    path = upstream / "test.json"
    path.write_text(json.dumps(json.loads(path.read_text()), indent=1))  # equal, of other bytes
    with pytest.raises(SourceError, match=r"test\.json: "):
        source()
    mirror = {"url": "https://example.org/mirror/test.json", "sha256": hash_file(path, "sha256")}
    monkeypatch.setitem(dataset.pins["test.json"], "mirrors", [mirror])
    build(source(), tmp_path / "after")
    found = open_folder(tmp_path / "after" / dataset.name)
    assert found.provenance["configs"] == before.provenance["configs"]
    assert found.provenance["sources"]["test.json"] == mirror
    assert f"`test.json` came from <{mirror['url']}>" in found.card
    assert "mirror" not in before.card
    assert "provenance" not in failed(found)
    found.provenance["sources"]["test.json"]["url"] = "https://example.org/elsewhere"
    assert "provenance" in failed(found)
    assert not found.mirrored


@pytest.mark.parametrize(("rows", "bytes_a_row", "sizes"), [
    (0, 2000, []), (1, 2000, [1]), (1499, 2000, [1499]), (1500, 2000, [1000, 500]),
    (5247, 2000, [1000, 1000, 1000, 1000, 1247]),
    (17464, 40, [17464]),  # small rows: all of them are under 1 MB
    (20000, 200, [5500, 5500, 5500, 3500]),
])  # fmt: skip
def test_row_groups(rows, bytes_a_row, sizes):
    values = (pa.array(["x" * (bytes_a_row - 4)] * min(500, rows - n)) for n in range(0, rows, 500))
    cut = list(row_groups(pa.record_batch({"text": array}) for array in values))
    assert [table.num_rows for table in cut] == sizes


def test_rows_in_front_leave_the_last_page_as_it_is(tmp_path):
    """So that the Hub stores only the changed pages of a new version."""
    draw, columns = random.Random(0), []
    texts = [" ".join(map(str, draw.choices(range(3000), k=400))) for _ in range(1000)]
    for split, rows in (("old", texts), ("new", ["x", "y", "z", *texts])):
        table = pa.table({"text": rows})
        writing = (table.to_batches(), table.schema, tmp_path, split, Digest(table.schema))
        (shard,) = parquet.write_parquet(*writing)
        column = shard.footer.row_group(0).column(0)
        end = column.dictionary_page_offset + column.total_compressed_size
        columns.append((tmp_path / shard.name).read_bytes()[:end])
    assert columns[1].endswith(columns[0][-400_000:])


def test_parquet_suits_streaming(dataset, sample_build):
    built = open_folder(sample_build / dataset.name)
    for config, split in built.declared_splits:
        path = sample_build / dataset.name / config / f"{split}-00000-of-00001.parquet"
        metadata = pq.read_metadata(path)
        assert metadata.metadata[b"use_content_defined_chunking"] == b"true"  # the Hub reads it
        column = metadata.row_group(0).column(0)
        assert column.has_offset_index
        assert column.has_column_index
        assert column.compression == "SNAPPY"
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            assert group.num_rows < 1500 or group.total_byte_size < 2 << 20


def test_shards_hold_the_same_rows(sample_build, tmp_path, monkeypatch):
    for name, size in (("BATCH", 1), ("GROUP", 0), ("SHARD", 10_000)):
        monkeypatch.setattr(parquet, name, size)
    build(open_source(get("casino"), None, sample=True), tmp_path)
    whole, cut = (
        read_provenance(output / "casino")["configs"]["dialogues"]["train"]
        for output in (sample_build, tmp_path)
    )
    assert (whole["rows"], whole["digest"]) == (cut["rows"], cut["digest"])
    names = [file["path"] for file in cut["files"]]
    folder, count = tmp_path / "casino", len(names)
    assert names == [f"dialogues/train-{n:05d}-of-{count:05d}.parquet" for n in range(count)]
    assert sorted(folder.glob("dialogues/*")) == [folder / name for name in names]
    tables = [pq.read_table(folder / name) for name in names]
    assert len(tables) > 1
    assert all(table.nbytes <= 10_000 for table in tables)
    assert not verify(open_folder(folder)).failed


@pytest.mark.parametrize(("own", "upstream", "is_refused"), [
    ("Nobody else says this.", "Nobody else says this.", True),
    ("NOBODY  else says this.", "Nobody else says this.", True),
    ("誰もほかに言わない言葉です", "誰もほかに言わない言葉です", True),
    ("Not at all.", "Not at all.", False), (40 * "id", 40 * "id", False)
])  # fmt: skip
def test_a_sample_with_sentences_of_upstream_is_not_measured(
    tea, tmp_path, own, upstream, is_refused
):
    turn = {"speaker": "clerk"}
    for folder, text in ((tea.sample, own), (tmp_path / "upstream", upstream)):
        folder.mkdir(exist_ok=True)
        record = {"id": "a", "turns": [turn | {"text": text}]}
        (folder / "dialogues.jsonl").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(ScriptError) if is_refused else nullcontext():
        build(Sources(tea, tmp_path / "upstream"), tmp_path / "out", measure=measure)
    assert (tmp_path / "out" / "tea").exists() != is_refused


def test_rows_of_a_damaged_page_are_never_others(sample_build, tmp_path):
    folder = Path(shutil.copytree(sample_build / "casino", tmp_path / "casino"))
    due = open_folder(folder).rows("scenarios", "train")
    (file,) = folder.glob("scenarios/*.parquet")
    data = file.read_bytes()
    refused = 0
    for place in range(4, len(data) - 8 - int.from_bytes(data[-8:-4], "little"), 97):
        file.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        for read in (BuiltFolder.rows, BuiltFolder.each_row):
            try:
                found = list(read(open_folder(folder), "scenarios", "train"))
            except OutputError:
                refused += 1
            else:
                assert found == due
    assert refused
