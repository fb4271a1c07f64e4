"""What `parley show` and the page read of a built folder: each dialogue, once, and its facets."""

import math
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from parley.collection import Dataset, get
from parley.dialogues import Dialogue, dialogues, related_by_dialogue
from parley.errors import OutputError, ScriptError
from parley.folder.built import BuiltFolder, find_folder
from parley.terminal.show import find_dialogue
from parley.transcript import Note, Transcript, Turn


def folder(build: Path, name: str) -> BuiltFolder:
    return find_folder(build, get(name))


def counted(build: Path, name: str) -> dict[str, Counter[Any]]:
    """Return facet -> value -> how many dialogues have it."""
    found: dict[str, Counter[Any]] = {}
    for each in dialogues(folder(build, name)):
        for facet, value in each.facets.items():
            values = value if isinstance(value, list) else [] if value is None else [value]
            found.setdefault(facet, Counter()).update(set(values))
    return found


def column(build: Path, name: str, config: str, *columns: str) -> list[tuple[Any, ...]]:
    """Return these columns of a config, as they stand in the Parquet, the labels by name."""
    rows = []
    features = get(name).features(config)
    for file in sorted((build / name / config).glob("*.parquet")):
        table = pq.read_table(file, columns=list(columns)).to_pylist()
        for row in table:
            rows.append(tuple(named(row[c], features[c]) for c in columns))
    return rows


def named(value: Any, feature: Any) -> Any:
    if isinstance(value, list):
        return [named(each, getattr(feature, "feature", None) or feature[0]) for each in value]
    return feature.names[value] if hasattr(feature, "names") and value is not None else value


def test_every_dialogue_is_read_once(sample_build: Path, dataset: Dataset) -> None:
    found = [each.id for each in dialogues(find_folder(sample_build, dataset))]
    assert len(set(found)) == len(found)
    assert dataset.transcript is not None
    for config in dataset.transcript.CONFIGS:
        ids = {
            str(id) for (id,) in column(sample_build, dataset.name, config, first(dataset, config))
        }
        assert ids
        assert ids <= set(found)


def first(dataset: Dataset, config: str) -> str:
    return str(next(iter(dataset.features(config))))


def test_a_dialogue_is_of_the_richest_config_and_knows_its_other_places(sample_build: Path) -> None:
    casino = {each.id: each for each in dialogues(folder(sample_build, "casino"))}
    for split in ("train", "validation", "test"):
        (file,) = (sample_build / "casino" / "official_split").glob(f"{split}-*.parquet")
        for id in pq.read_table(file)["dialogue_id"].to_pylist():
            each = casino[str(id)]
            assert each.config == "dialogues"
            assert each.places == (("dialogues", "train"), ("official_split", split))
            assert each.facets["split"] == ["dialogues/train", f"official_split/{split}"]
    for each in dialogues(folder(sample_build, "duo")):
        assert each.facets["split"] == [each.split]


def test_of_a_config_only_the_dialogues_are_read_that_no_richer_one_has(
    sample_build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(get("casino").transcript, "CONFIGS", ("strategies", "dialogues"))
    labelled = {id for (id,) in column(sample_build, "casino", "strategies", "dialogue_id")}
    every = [id for (id,) in column(sample_build, "casino", "dialogues", "dialogue_id")]
    found = list(dialogues(folder(sample_build, "casino")))
    read = [each.row["dialogue_id"] for each in found if each.config == "dialogues"]
    assert read == [id for id in every if id not in labelled]
    assert 0 < len(read) < len(every)


def test_what_stands_beside_is_grouped_once_as_for_one(sample_build: Path) -> None:
    built = folder(sample_build, "craigslist_bargains")
    for each in dialogues(built):
        assert [act["dialogue_id"] for act in each.beside["dialogue_acts"]] == [each.id] * len(
            each.row["events"]
        )
        one = related_by_dialogue(built.dataset, built, each.split, only=each.id)
        assert one == {each.id: each.beside}


def test_without_a_function_the_scalars_and_labels_of_a_row_are_its_facets(
    sample_build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Dataset, "transcript", None)
    built = folder(sample_build, "casino")
    for config, facet in (("participants", "gender"), ("strategies", "labels")):
        place = (config, "train")
        for row, names in zip(
            built.rows(*place), column(sample_build, "casino", config, facet), strict=True
        ):
            found = Dialogue(built.dataset, *place, row, {}, (place,)).facets
            assert found[facet] == names[0]
            assert found["speaker"] == row["speaker"]
            assert found["split"] == [f"{config}/train"]
            assert not {"dialogue_id", "context"} & found.keys()


def test_facets_that_are_no_values_are_an_error(
    sample_build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    each = next(dialogues(folder(sample_build, "duo")))
    of_a = ([[None, b"x"]], float("nan"), object(), {"b": "c"}, ("b",))
    for wrong in (*({"a": value} for value in of_a), ["a"], {1: "b"}):
        monkeypatch.setattr(each.dataset.transcript, "facets", lambda row, wrong=wrong: wrong)
        named = "a" if isinstance(wrong, dict) and "a" in wrong else "facets"
        with pytest.raises(ScriptError, match=rf"duo/transcript\.py fails .*Error: {named}: "):
            _ = each.facets


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"notes": ("a label",)}, r"turns\[0\]\.notes\[0\]: expected a Note, found 'a label'"),
        ({"notes": (Note("a label", detail=None),)}, r"notes\[0\]\.detail: expected text"),
        ({"notes": "a label"}, r"notes: expected a list"),
        ({"terms": (("price",),)}, r"terms\[0\]: expected 2 values"),
        ({"action": "yes"}, r"action: expected true or false"),
    ],
)
def test_a_turn_of_another_form_is_an_error_that_names_the_field(
    sample_build: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], field: str
) -> None:
    each = next(dialogues(folder(sample_build, "duo")))
    made = Transcript("a title", turns=[replace(Turn("a", "b"), **change)])
    monkeypatch.setattr(each.dataset.transcript, "transcript", lambda row: made)
    with pytest.raises(ScriptError, match=rf"duo/transcript\.py fails .*{field}"):
        _ = each.transcript


@pytest.mark.parametrize("value", [None, math.nan, 1.0, True, b"x", [1], {"a": 1}])
@pytest.mark.parametrize(
    ("name", "config", "field"),
    [
        ("casino", "dialogues", "dialogue_id"),
        ("craigslist_bargains", "dialogue_acts", "dialogue_id"),
    ],
)
def test_a_row_whose_id_names_nothing_is_an_error(
    sample_build: Path, tmp_path: Path, name: str, config: str, field: str, value: object
) -> None:
    build = shutil.copytree(sample_build / name, tmp_path / name)
    for file in (build / config).glob("train-*.parquet"):
        table = pq.read_table(file)
        place = table.column_names.index(field)
        ids = pa.array([value] * table.num_rows)
        pq.write_table(table.set_column(place, field, ids), file)
    built = folder(tmp_path, name)
    for read in (
        lambda: find_dialogue(built.dataset, None, built, ""),
        lambda: list(dialogues(built)),
    ):
        with pytest.raises(
            OutputError, match=rf"{config}/train\[0\]\.{field}: expected .*, found "
        ):
            read()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"chat_logs": 5}, r"dialogues/train.*\[0\]\.chat_logs: expected a list, found 5"),
        ({"chat_logs": [{"text": "x"}]}, r"\[0\]\.chat_logs\[0\]\.id: missing"),
        (
            {"participant_info": None},
            "dialogues/train, rows of '2001': every value .* but participant_info, ",
        ),
    ],
)
def test_a_row_of_another_shape_is_an_error_that_names_the_field(
    sample_build: Path, change: dict[str, Any], said: str
) -> None:
    each = next(dialogues(folder(sample_build, "casino")))
    odd = replace(each, row=each.row | change)
    with pytest.raises(ScriptError, match=said):
        _ = odd.transcript, odd.facets


def test_a_truth_for_a_text_is_an_error(sample_build: Path) -> None:
    each = next(dialogues(folder(sample_build, "duo")))
    with pytest.raises(ScriptError, match=r"\.language: expected string, found True"):
        _ = replace(each, row=each.row | {"language": True}).transcript


@pytest.mark.parametrize("number", [-1, 99, 0.5])
def test_a_label_that_is_none_is_an_error(
    sample_build: Path, monkeypatch: pytest.MonkeyPatch, number: float
) -> None:
    monkeypatch.setattr(Dataset, "transcript", None)
    built = folder(sample_build, "casino")
    row = built.rows("strategies", "train")[0]
    place = ("strategies", "train")
    with pytest.raises(ScriptError, match=f"labels, found {number}"):
        _ = Dialogue(built.dataset, *place, row | {"labels": [number]}, {}, (place,)).facets


def test_a_split_of_a_wrong_name_is_an_error(sample_build: Path, tmp_path: Path) -> None:
    build = shutil.copytree(sample_build / "duo", tmp_path / "duo")
    (file, *_) = (build / "dialogues").glob("en-*.parquet")
    shutil.copy(file, file.with_name("\udcff-00000-of-00001.parquet"))
    with pytest.raises(OutputError, match="dialogues holds a split of a wrong name"):
        list(dialogues(folder(tmp_path, "duo")))


# Counts, against the Parquet of other configs ------------------------------------------------


def agree_casino(build: Path) -> None:
    found = counted(build, "casino")
    strategies = set()
    for id, labels in column(build, "casino", "strategies", "dialogue_id", "labels"):
        strategies |= {(id, label) for label in labels}
    assert found["strategies"] == Counter(label for _, label in strategies)
    sides = column(
        build, "casino", "participants", "dialogue_id", "deal", "points_scored", "satisfaction",
        "opponent_likeness", "integrative_potential",
    )  # fmt: skip
    for number, facet in enumerate(
        ("points", "satisfaction", "opponent likeness", "integrative potential"), 2
    ):
        assert found[facet] == Counter(v for _, v in {(side[0], side[number]) for side in sides})
    deals = Counter(deal for _, deal in {side[:2] for side in sides})
    assert found["deal"] == +Counter(yes=deals[True], no=deals[False])


def agree_craigslist_bargains(build: Path) -> None:
    name = "craigslist_bargains"
    found = counted(build, name)
    outcomes = column(
        build, name, "outcomes", "category", "deal_over_list_price", "events", "deal"
    )  # fmt: skip
    assert found["category"] == Counter(row[0] for row in outcomes)
    prices = Counter(row[1] for row in outcomes if row[1] is not None)
    assert found["deal price over list price"] == prices
    assert found["turns"] == Counter(row[2] for row in outcomes)
    assert found["deal"] == Counter({True: "yes", False: "no"}[row[3]] for row in outcomes)
    for facet, intent in (("acts by rule", "intent"), ("acts upstream", "upstream_intent")):
        acts = set(column(build, name, "dialogue_acts", "dialogue_id", intent))
        assert found[facet] == Counter(act for _, act in acts if act is not None)


def agree_cosrec(build: Path) -> None:
    found = counted(build, "cosrec")
    intents = set(column(build, "cosrec", "intent_labels", "dialogue_id", "type"))
    judged = column(build, "cosrec", "queries", "query_id", "type")
    assert found["intents"] == Counter(kind for _, kind in intents)
    assert found["type of query"] == Counter(kind for _, kind in judged)
    for aspect in ("coherence", "logicality", "informativeness", "fluency"):
        means = column(build, "cosrec", "messages", aspect)
        assert found[aspect] == Counter(mean for (mean,) in means if mean is not None)
    splits = folder(build, "cosrec").splits("dialogues")
    assert splits
    for split in splits:
        files = (build / "cosrec" / "dialogues").glob(f"{split}-*.parquet")
        rows = sum(pq.read_metadata(file).num_rows for file in files)
        assert found["split"][f"dialogues/{split}"] == rows


def agree_duo(build: Path) -> None:
    found = counted(build, "duo")
    rows = column(build, "duo", "messages", "language", "setting", "model", "prompt_style")
    for number, facet in enumerate(("language", "setting", "model", "prompt")):
        assert found[facet] == Counter(row[number] for row in rows)
    ratings = column(build, "duo", "ratings", "dialogue_id", "aspect", "source", "score")
    own = Counter((aspect, score) for _, aspect, source, score in ratings if source == "subjective")
    for (aspect, score), count in own.items():
        assert found[f"{aspect.replace('_', ' ')}, own"][score] == count
    rated = {row[0] for row in ratings if row[2] == "objective"}
    assert found["rated by others"]["yes"] == len(rated)


AGREE = {
    "casino": agree_casino,
    "craigslist_bargains": agree_craigslist_bargains,
    "cosrec": agree_cosrec,
    "duo": agree_duo,
}


@pytest.mark.parametrize("name", AGREE)
def test_facets_count_what_the_other_configs_say(sample_build: Path, name: str) -> None:
    AGREE[name](sample_build)


@pytest.mark.parametrize("name", AGREE)
def test_facets_of_the_real_data_count_what_the_other_configs_say(
    real_build: Path, name: str
) -> None:
    AGREE[name](real_build)
