"""DUO's parsing quirks: two ways to write ids and prompts, one file a dialogue, an archive."""

import io
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import fsspec
import pytest

from parley.collection import get
from parley.records import problems

dataset = get("duo")
module = dataset.module


def sample(place: str) -> Any:
    return json.loads((dataset.sample / place).read_bytes())


def records(folder: Path, config: str, split: str, cache: Path) -> list[Any]:
    builder = module.Duo(config_name=config, data_dir=str(folder), cache_dir=str(cache))
    return [record for _, record in builder.records(str(folder), split)]


def as_published(record: Any) -> bytes:
    """Write a record as upstream does."""
    return json.dumps(record, indent=4, ensure_ascii=False).encode()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the sample that a test may change."""
    return Path(shutil.copytree(dataset.sample, tmp_path / "duo"))


def test_japanese_row() -> None:
    record = sample("ed/ja/2901.json")
    row = module.to_row(record)
    assert record["dialogue_id"] == 2901
    assert (row["dialogue_id"], row["language"]) == ("2901", "ja")
    assert (record["prompt"], row["prompt"], row["upstream_prompt"]) == ("ent", "aligned", "ent")
    assert module.to_record(row)["dialogue_id"] == 2901


def test_english_row_keeps_its_leading_zero() -> None:
    row = module.to_row(sample("ed/en/0902.json"))
    assert (row["dialogue_id"], row["language"]) == ("0902", "en")
    assert (row["prompt"], row["upstream_prompt"]) == ("not_aligned", "not_aligned")
    assert module.to_record(row)["dialogue_id"] == "0902"


@pytest.mark.parametrize(
    ("language", "published", "documented"),
    [
        ("en", "aligned", "aligned"),
        ("en", "neutral", "neutral"),
        ("en", "not_aligned", "not_aligned"),
        ("ja", "ent", "aligned"),
        ("ja", "neutral", "neutral"),
        ("ja", "nonent", "not_aligned"),
    ],
)
def test_prompt(language: str, published: str, documented: str) -> None:
    record = sample({"en": "wow/en/1901.json", "ja": "wow/ja/3901.json"}[language])
    record["prompt"] = published
    row = module.to_row(record)
    assert (row["prompt"], row["upstream_prompt"]) == (documented, published)
    assert module.to_record(row) == record


def test_absent_is_null() -> None:
    ed = module.to_row(sample("ed/en/0902.json"))
    wow = module.to_row(sample("wow/en/1901.json"))
    assert ed["objective_evaluation"] is None
    assert ed["topic"] is ed["subjective_evaluation"]["engagingness"] is None
    assert wow["emotion"] is wow["episode"] is wow["subjective_evaluation"]["empathy"] is None
    assert wow["objective_evaluation"]["empathy"] is None
    assert wow["objective_evaluation"]["empathy_scores"] is None
    assert wow["objective_evaluation"]["engagingness_scores"] == [4.0, 4.0, 5.0]
    human, bot = ed["dialogue"][:2]
    assert (human["user_id"], human["system_id"]) == ("0902", None)
    assert (bot["user_id"], bot["system_id"]) == (None, "0914")


def test_whitespace_and_consecutive_turns_are_kept() -> None:
    row = module.to_row(sample("ed/en/0902.json"))
    assert [message["speaker"] for message in row["dialogue"][-2:]] == ["Human", "Human"]
    assert row["dialogue"][4]["message"].endswith(
        "\nso the volunteers made a tunnel with their arms for her "
    )


@pytest.mark.parametrize("source", module.SOURCES)
def test_sample_returns_to_its_bytes(source: str) -> None:
    for file in sorted((dataset.sample / source).iterdir()):
        record = json.loads(file.read_bytes())
        assert as_published(module.to_record(module.to_row(record))) == file.read_bytes()


@pytest.mark.parametrize("config", ["dialogues", "ed", "wow"])
def test_licence_of_each_config(config: str, tmp_path: Path) -> None:
    licence = module.Duo(config_name=config, cache_dir=str(tmp_path)).info.license
    assert ("cc-by-nc-4.0" in licence, "apache-2.0" in licence) == {
        "dialogues": (True, True),
        "ed": (True, False),
        "wow": (False, True),
    }[config]


def test_order(tmp_path: Path) -> None:
    found = records(dataset.sample, "dialogues", "en", tmp_path)
    expected = ["0901", "0902", "0903", "1901", "1902", "1903"]
    assert [record["dialogue_id"] for record in found] == expected


@pytest.mark.parametrize(
    ("place", "key", "value", "named"),
    [
        ("ed/en/0901.json", "dialogue_id", "901", "ed/en/901.json"),
        ("ed/ja/2901.json", "dialogue_id", "2901", "ed/en/2901.json"),
        ("wow/en/1901.json", "dialogue_id", 1901, "wow/ja/1901.json"),
        ("wow/ja/3901.json", "setting", "ed", "ed/ja/3901.json"),
    ],
)
def test_misplaced_dialogue(
    copy: Path, tmp_path: Path, place: str, key: str, value: Any, named: str
) -> None:
    (copy / place).write_bytes(as_published({**sample(place), key: value}))
    with pytest.raises(ValueError, match=f"^{place}: .* found that of {named}$"):
        records(copy, "dialogues", place.split("/")[1], tmp_path)


def test_missing_folder(copy: Path, tmp_path: Path) -> None:
    shutil.rmtree(copy / "wow/ja")
    assert len(records(copy, "dialogues", "en", tmp_path)) == 6
    with pytest.raises(FileNotFoundError, match="expected a folder wow/ja"):
        records(copy, "dialogues", "ja", tmp_path)


def changed(place: str, **values: Any) -> list[str]:
    """Return the problems of a sample's record after some of its keys were changed."""
    shape = module.DIALOGUE[place.rpartition("/")[0]]
    return list(problems({**sample(place), **values}, shape))


@pytest.mark.parametrize(
    ("place", "values", "problem"),
    [
        ("ed/en/0901.json", {"prompt": "ent"}, ".prompt: expected"),
        ("ed/ja/2901.json", {"prompt": "aligned"}, ".prompt: expected"),
        ("ed/ja/2901.json", {"dialogue_id": "2901"}, ".dialogue_id: expected an integer"),
        ("ed/en/0901.json", {"emotion": "Peckish"}, ".emotion: expected"),
        ("ed/en/0901.json", {"topic": "Harmonica"}, ".topic: unknown field"),
        ("wow/en/1901.json", {"episode": "I baked."}, ".episode: unknown field"),
        ("wow/en/1901.json", {"objective_evaluation": None}, ".objective_evaluation: expected"),
        (
            "ed/en/0902.json",
            {"dialogue": [{"message_id": 0, "system_id": "1", "speaker": "Human", "message": ""}]},
            ".dialogue[0]",
        ),
        (
            "ed/en/0902.json",
            {"dialogue": [{"message_id": 0, "user_id": "1", "speaker": "Bot", "message": ""}]},
            ".dialogue[0]",
        ),
    ],
)
def test_shape(place: str, values: dict[str, Any], problem: str) -> None:
    assert changed(place) == []
    (first, *_) = changed(place, **values)
    assert first.startswith(problem)


@pytest.mark.parametrize("score", [0.0, 3.5, 6.0, 4, True, "4.0", None])
def test_single_scores_are_one_to_five(score: Any) -> None:
    record = sample("wow/en/1901.json")
    subjective = {**record["subjective_evaluation"], "engagingness": score}
    objective = {**record["objective_evaluation"], "engagingness_scores": [4.0, score, 4.0]}
    (problem,) = changed("wow/en/1901.json", subjective_evaluation=subjective)
    assert problem.startswith(".subjective_evaluation.engagingness: expected")
    (problem,) = changed("wow/en/1901.json", objective_evaluation=objective)
    assert problem.startswith(".objective_evaluation.engagingness_scores: expected")


@pytest.mark.parametrize("scores", [[4.0, 4.0], [4.0, 4.0, 4.0, 4.0], [], None])
def test_scores_come_in_threes(scores: Any) -> None:
    objective = sample("ed/ja/2901.json")["objective_evaluation"]
    (problem,) = changed(
        "ed/ja/2901.json", objective_evaluation={**objective, "empathy_scores": scores}
    )
    assert problem.startswith(".objective_evaluation.empathy_scores: expected a list of three")


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
        expected = records(dataset.sample, config, split, tmp_path / "cache")
        rows = [module.to_row(record) for record in expected]
        assert list(streamed[split]) == rows
        assert list(builder.as_dataset(split)) == rows
    assert not any(file.stem.isdigit() for file in tmp_path.rglob("*.json"))


def test_archive_without_a_folder(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "upstream.zip", "w") as opened:
        opened.writestr(module._TOP + "ed/en/0901.json", "{}")
    builder = module.Duo(config_name="wow", cache_dir=str(tmp_path))
    with pytest.raises(FileNotFoundError, match="expected a folder wow/en"):
        list(builder.records(str(tmp_path / "upstream.zip"), "en"))


def test_transcript() -> None:
    assert dataset.transcript is not None
    found = dataset.transcript.transcript(module.to_row(sample("ed/en/0901.json")))
    assert ("prompt", "aligned") in found.before
    assert "topic" not in dict(found.before)
    assert [turn.speaker for turn in found.turns[:2]] == ["Human", "Bot"]
    assert found.after == [
        ("preference", "user 4; annotators 4.33 (4, 5, 4)"),
        ("stylistic similarity", "user 4; annotators 3.67 (4, 4, 3)"),
        ("consistency", "user 5; annotators 5 (5, 5, 5)"),
        ("empathy", "user 4; annotators 4.33 (5, 4, 4)"),
    ]
    found = dataset.transcript.transcript(module.to_row(sample("wow/ja/3902.json")))
    assert found.after[-1] == ("engagingness", "user 4")


def test_published_files(source: Path) -> None:
    """Every published file returns to its bytes, and no two dialogues share an id."""
    ids = []
    for folder, pin in module.SOURCES.items():
        files = sorted((source / "duo" / folder).iterdir())
        assert len(files) == pin["files"]
        for file in files:
            row = module.to_row(json.loads(file.read_bytes()))
            assert as_published(module.to_record(row)) == file.read_bytes()
            ids.append(row["dialogue_id"])
    assert len(ids) == len(set(ids)) == 455


def test_published_objective_evaluations(source: Path, tmp_path: Path) -> None:
    """Upstream's readme says 70 and 71 in English; the files hold 50 and 46. Means are rounded."""
    counts = {}
    for config in ("ed", "wow"):
        for split in ("en", "ja"):
            found = records(source / "duo", config, split, tmp_path)
            rated = [r["objective_evaluation"] for r in found if "objective_evaluation" in r]
            counts[config, split] = len(rated)
            for ratings in rated:
                for aspect in (name for name in ratings if f"{name}_scores" in ratings):
                    mean = sum(ratings[f"{aspect}_scores"]) / 3
                    assert ratings[aspect] == round(mean, 2)
    assert counts == {("ed", "en"): 50, ("ed", "ja"): 45, ("wow", "en"): 46, ("wow", "ja"): 45}
