"""What is particular to DUO: one file a dialogue, Japanese ids and prompts, scores."""

import json

import pytest
from build_changes import in_memory
from scipy import stats

from parley.base.errors import RecordError
from parley.declaration.registry import get
from parley.scoring.evaluate import score
from parley.tasks.task import Undefined

dataset = get("duo")
dialogues = dataset.configs["dialogues"]


def sample(place):
    return json.loads((dataset.sample / place).read_bytes())


@pytest.mark.parametrize("data", ["sample", "published"])
def test_files_return_to_their_bytes(data, request):
    folder = request.getfixturevalue("source") / "duo" if data == "published" else dataset.sample
    for file in [path for source in dataset.sources for path in (folder / source).iterdir()]:
        record = dialogues.to_record(dialogues.to_row(json.loads(file.read_bytes())))
        as_published = json.dumps(record, indent=4, ensure_ascii=False).encode()
        assert as_published == file.read_bytes(), file


@pytest.mark.parametrize("config", dataset.configs)
def test_licence_of_each_config(config, tmp_path):
    licence = dataset.builder(config_name=config, cache_dir=str(tmp_path)).info.license
    only = {"ed": (True, False), "wow": (False, True)}
    assert ("cc-by-nc-4.0" in licence, "apache-2.0" in licence) == only.get(config, (True, True))


def test_transcript():
    found = dataset.layout.transcript(dialogues.to_row(sample("ed/en/0901.json")))
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
    found = dataset.layout.transcript(dialogues.to_row(sample("wow/ja/3902.json")))
    assert found.language == "ja"
    assert found.tables[0].columns == ("person",)
    assert found.tables[0].rows[-1] == ("engagingness", ("4",))


@pytest.fixture
def built(sample_build):
    return in_memory(sample_build / dataset.name)


def agreement(built, scores, **options):
    """The score of a function of a row, of those that are rated by the aspect."""
    aspect = options.get("aspect", "preference")
    rows = built.rows("dialogues", "ja", "en")
    rated = [row for row in rows if row["subjective_evaluation"][aspect] is not None]
    found = [{"dialogue_id": row["dialogue_id"], "score": scores(row)} for row in rated]
    return score(built, "agreement", options, predictions=found).score


def test_scores_are_compared_within_a_language_and_setting(built):
    """Of the sample, whose English dialogues are three a setting, the Japanese ones two."""
    built.held["dialogues/ja"][-1]["subjective_evaluation"]["preference"] = 1.0  # else all alike

    def shifted(row):
        return float(row["subjective_evaluation"]["preference"] + 7 * (row["language"] == "ja"))

    person = agreement(built, shifted).metrics["person"]
    assert person.keys() == {"en ed", "en wow", "ja ed", "ja wow"}
    for group, found in person.items():
        assert found == dict.fromkeys(found, pytest.approx(1)), group


def test_correlations_are_those_of_scipy(built):
    rows = [row for row in built.rows("dialogues", "en") if row["setting"] == "wow"]
    scores = dict(zip((row["dialogue_id"] for row in rows), (3, 1.5, 2), strict=True))
    found = agreement(built, lambda row: scores.get(row["dialogue_id"], 1), aspect="engagingness")
    pair = list(scores.values()), [row["subjective_evaluation"]["engagingness"] for row in rows]
    of = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    due = {name: pytest.approx(each(*pair).statistic, abs=1e-12) for name, each in of.items()}
    assert found.metrics["person"]["en wow"] == due
    assert found.metrics["person"].keys() == {"en wow", "ja wow"}  # ed has no such aspect
    assert found.counts["dialogues"] == 5


def test_a_correlation_with_a_constant_is_undefined(built):
    found = agreement(built, lambda row: 3)
    assert isinstance(found.metrics["person"]["ja ed"]["pearson"], Undefined)
    for row in built.held["dialogues/ja"]:
        row["subjective_evaluation"]["preference"] = 4.0
    found = agreement(built, lambda row: int(row["dialogue_id"]))
    assert isinstance(found.metrics["person"]["ja ed"]["kendall"], Undefined)


def test_scores_that_are_nearly_the_same_have_ranks():
    correlations = dataset.load_module("tasks").agreement.correlations
    ratings = [1.0, 2.0, 4.0, 3.0, 5.0] * 4
    metrics = correlations([*enumerate(ratings)])
    near = correlations([(1e15 + number, rating) for number, rating in enumerate(ratings)])
    assert isinstance(near.pop("pearson"), Undefined)
    assert near == {name: metrics[name] for name in near}


def test_a_score_beyond_reckoning_is_refused(built):
    with pytest.raises(RecordError, match="score: "):
        agreement(built, lambda row: -1e308)


def test_the_others_rate_some_dialogues_alone(built):
    found = agreement(built, lambda row: int(row["dialogue_id"]))
    assert found.counts["rated by the others"] == 4  # one of each group
    for group in ("en ed", "en wow", "ja ed", "ja wow"):
        assert all(isinstance(each, Undefined) for each in found.metrics["others"][group].values())
