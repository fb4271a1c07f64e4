"""What is particular to DUO: one file a dialogue, an archive, Japanese ids and prompts, scores."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import fsspec
import pytest

from parley.collection import get
from parley.source.pins import git_tree

dataset = get("duo")
module = dataset.module


def sample(place: str) -> Any:
    return json.loads((dataset.sample / place).read_bytes())


def records(folder: Path, config: str, split: str) -> list[tuple[str, Any]]:
    paths = {source: str(folder / source) for source in module.SPLITS[config][split]}
    return list(module.records(config, paths))


def test_ids_and_prompts_are_alike_in_both_languages() -> None:
    rows = [module.to_row(sample(f"ed/{place}.json")) for place in ("ja/2901", "en/0902")]
    assert [row["dialogue_id"] for row in rows] == ["2901", "0902"]
    assert [module.to_record(row)["dialogue_id"] for row in rows] == [2901, "0902"]
    found = {
        (row["language"], row["upstream_prompt"], row["prompt"])
        for split in ("en", "ja")
        for _, row in module.rows("dialogues", records(dataset.sample, "dialogues", split))
    }
    assert found == {
        ("en", "aligned", "aligned"),
        ("en", "neutral", "neutral"),
        ("en", "not_aligned", "not_aligned"),
        ("ja", "ent", "aligned"),
        ("ja", "neutral", "neutral"),
        ("ja", "nonent", "not_aligned"),
    }


def test_sample_files_return_to_their_bytes() -> None:
    assert_bytes_return(dataset.sample)


def test_published_files_return_to_their_bytes(source: Path) -> None:
    assert_bytes_return(source / "duo")


def assert_bytes_return(folder: Path) -> None:
    for source in module.SOURCES:
        for file in sorted((folder / source).iterdir()):
            record = module.to_record(module.to_row(json.loads(file.read_bytes())))
            as_published = json.dumps(record, indent=4, ensure_ascii=False).encode()
            assert as_published == file.read_bytes(), file


@pytest.mark.parametrize("config", module.SPLITS)
def test_licence_of_each_config(config: str, tmp_path: Path) -> None:
    licence = module.Duo(config_name=config, cache_dir=str(tmp_path)).info.license
    only = {"ed": (True, False), "wow": (False, True)}
    assert ("cc-by-nc-4.0" in licence, "apache-2.0" in licence) == only.get(config, (True, True))


# The archive ------------------------------------------------------------------------------


@pytest.fixture
def archive() -> bytes:
    """The sample as upstream's archive, in an order that is not that of the rows."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as opened:
        opened.writestr("duo-dataset-" + "0" * 40 + "/ed/en/0000.json", "of another commit")
        opened.writestr(module._TOP + "README.md", "not a dialogue")
        for file in sorted(dataset.sample.rglob("*.json"), reverse=True):
            opened.writestr(
                module._TOP + file.relative_to(dataset.sample).as_posix(), file.read_bytes()
            )
    return buffer.getvalue()


@pytest.fixture
def pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sample's own folders are the pinned ones."""
    for source, pin in module.SOURCES.items():
        monkeypatch.setitem(pin, "git_tree", git_tree(sorted((dataset.sample / source).iterdir())))


@pytest.mark.usefixtures("pinned")
@pytest.mark.parametrize("config", module.SPLITS)
def test_archive(
    config: str, archive: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The archive gives the rows of the folders, prepared and streamed, and is not unpacked."""
    (tmp_path / "upstream.zip").write_bytes(archive)
    fsspec.filesystem("memory").pipe("/upstream.zip", archive)
    builder = module.Duo(config_name=config, cache_dir=str(tmp_path / "cache"))
    monkeypatch.setitem(module.SOURCES["ed/en"], "url", str(tmp_path / "upstream.zip"))
    builder.download_and_prepare()
    monkeypatch.setitem(module.SOURCES["ed/en"], "url", "memory://upstream.zip")
    streamed = builder.as_streaming_dataset()
    for split in module.SPLITS[config]:
        found = records(dataset.sample, config, split)
        rows = [row for _, row in module.rows(config, found)]
        assert list(streamed[split]) == rows
        assert list(builder.as_dataset(split)) == rows
    assert not any(file.stem.isdigit() for file in tmp_path.rglob("*.json"))


@pytest.mark.usefixtures("pinned")
@pytest.mark.parametrize(
    ("spoil", "found"),
    [
        (lambda archive: archive.replace(b"harmonica", b"harmonika"), "Bad CRC-32"),
        (lambda archive: archive[: len(archive) // 2], "not a zip file"),
        (lambda archive: archive.replace(b"ed/en/0902", b"ed/en/0909"), "[0-9a-f]{40};"),
        (lambda archive: archive.replace(b"/ed/en/", b"/ed/xx/"), "[0-9a-f]{40};"),
    ],
)
def test_archive_that_is_not_the_pinned_one(
    spoil: Any, found: str, archive: bytes, tmp_path: Path
) -> None:
    (tmp_path / "upstream.zip").write_bytes(spoil(archive))
    with pytest.raises(
        ValueError, match=f"^ed/en: git_tree expected [0-9a-f]{{40}}, found .*{found}"
    ):
        module.pinned_folders({"ed/en": str(tmp_path / "upstream.zip")})


# Figures ----------------------------------------------------------------------------------


def test_alpha_is_krippendorffs() -> None:
    """As in the worked example of his Computing Krippendorff's Alpha-Reliability (2011).

    A line is an observer, a column a unit, of which one has a single value.
    """
    observers = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
    units = [
        [float(value) for value in unit if value != "."] for unit in zip(*observers, strict=True)
    ]
    assert round(dataset.figures.alpha(units), 3) == 0.815


# Transcripts and views --------------------------------------------------------------------


def test_transcript() -> None:
    assert dataset.transcript is not None
    found = dataset.transcript.transcript(module.to_row(sample("ed/en/0901.json")))
    assert ("prompt", "aligned") in found.before
    assert "topic" not in dict(found.before)
    assert [turn.speaker for turn in found.turns[:2]] == ["Human", "Bot"]
    (ratings,) = found.tables
    assert ratings.columns == ("person", "mean of others", "others")
    assert ratings.rows == (
        ("preference", ("4", "4.33", "4, 5, 4")),
        ("stylistic similarity", ("4", "3.67", "4, 4, 3")),
        ("consistency", ("5", "5", "5, 5, 5")),
        ("empathy", ("4", "4.33", "5, 4, 4")),
    )
    found = dataset.transcript.transcript(module.to_row(sample("wow/ja/3902.json")))
    assert found.language == "ja"
    assert found.tables[0].columns == ("person",)
    assert found.tables[0].rows[-1] == ("engagingness", ("4",))


def test_the_turn_is_the_place_and_not_the_number_upstream() -> None:
    record = sample("ed/en/0901.json")
    for message in record["dialogue"]:
        message["message_id"] += 100
    rows = [row for _, row in module.VIEWS["utterances"]([record])]
    assert [(row["turn"], row["message_id"]) for row in rows[:2]] == [(0, 100), (1, 101)]


def test_messages_join_the_bots_first_turns_after_the_cue() -> None:
    record = sample("wow/en/1901.json")
    record["dialogue"].insert(0, {**record["dialogue"][0], "message": "Hello!"})
    ((_, row),) = module.VIEWS["messages"]([record])
    assert row["source_turns"][:3] == [[], [0, 1], [2]]
    assert row["messages"][0] == {"role": "user", "content": "<start>"}
    assert row["messages"][1]["content"] == f"Hello!\n{record['dialogue'][1]['message']}"
