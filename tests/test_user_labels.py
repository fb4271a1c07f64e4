"""Predictions in files beside their dialogues on the page."""

import json
import re
import shutil

import pytest
from label_files import KEYS, only, write_file

import parley
from parley.base.errors import UsageError
from parley.page import user_labels
from parley.read.dialogues import dialogues


def test_predictions_are_right_or_wrong_as_their_task_has_it(casino, tmp_path):
    file = tmp_path / "model.jsonl"
    rows = casino.rows_with_names("strategies")
    lines = [row | {"labels": ["uv-part"]} for row in only(rows, *KEYS)]
    found = user_labels.UserLabels(casino, [write_file(file, lines)])
    score = parley.score(casino, "strategies", file).as_dict()["metrics"]["joint_accuracy"]
    assert f"{round(score / 100 * len(rows)):,} right" in found.notes[0]
    assert not found.paths
    same = [{"dialogue_id": 2001, "annotator": "a", "b: c": 1}]
    same.append({"dialogue_id": 2002, "annotator": "a: b", "c": 1})
    with pytest.raises(UsageError, match="a: b: c"):
        user_labels.UserLabels(casino, [write_file(tmp_path / "b.jsonl", same)])
    lines[0]["labels"] = ["non-strategic"]  # which the task has not, but the config
    assert user_labels.UserLabels(casino, [write_file(file, lines)], "labels").paths == [file]
    with pytest.raises(UsageError, match=r"a\.csv"):
        user_labels.UserLabels(casino, [write_file(tmp_path / "a.csv", lines)], "strategies")
    lines = [{**line, "text": row["text"]} for line, row in zip(lines, rows, strict=True)]
    assert user_labels.UserLabels(casino, [write_file(file, lines)]).paths == [file]


def test_labels_of_a_side_are_values_of_the_side(casino, tmp_path):
    line = {"dialogue_id": 2001, "speaker": "mturk_agent_2", "tone": "warm"}
    found = user_labels.UserLabels(casino, [write_file(tmp_path / "ann.jsonl", [line])])
    assert found.filters("2001") == {"ann: tone": {"mturk_agent_2": ["warm"]}}
    beside = found.own_labels(next(dialogues(casino)), ["mturk_agent_1", "mturk_agent_2"])
    assert [*beside["sides"]] == ["1"]


@pytest.mark.parametrize("wrong", [
    {"decision": "Accept"}, {"turn": 1.0}, {"model": "mine"}, {"dialogue_id": 9}, {"answer": 1},
])  # fmt: skip
def test_a_wrong_line_of_predictions_is_an_error(casino, run, tmp_path, wrong):
    """That of `parley score`, and no label of a person, unless the file is said to hold labels."""
    task, file = casino.dataset.tasks["decisions"], tmp_path / "model.jsonl"
    first, *rest = task.baselines["accept"](casino)
    write_file(file, [first | wrong, *rest])
    done = run("browse", "casino", "--build", casino.path.parent, "--with", file, "--no-open")
    scored = run("score", "casino", "decisions", file, "--build", casino.path.parent)
    assert (done.returncode, scored.returncode) == (1, 1)
    assert {*scored.stderr.splitlines()[1:2]} <= {*done.stderr.splitlines()}


def test_answers_to_several_tasks_are_of_the_one_that_is_named(casino, run, tmp_path):
    task, file = casino.dataset.tasks["decisions"], tmp_path / "model.jsonl"
    gold = task.gold(casino)
    write_file(file, [dict(zip(task.key, key, strict=True)) | {"answer": "accept"} for key in gold])
    with pytest.raises(UsageError, match="decisions"):
        user_labels.UserLabels(casino, [file])
    found = user_labels.UserLabels(casino, [file], "decisions")
    assert f"{[*gold.values()].count({'decision': 'accept'})} right" in found.notes[0]
    given = "browse", "casino", "--build", casino.path.parent, "--no-open", "--as", "nothing"
    assert run(*given, "--with", file)[0] == run(*given)[0] == 2


def test_beliefs_stand_beside_their_turns_with_their_calibration(casino, tmp_path):
    for at, place in (("turns", "turns"), ("end", "rest")):
        predicted = [*casino.dataset.tasks["beliefs"].baselines["uniform"](casino, at)]
        first, *others = (row | {"epoch": epoch} for epoch in (1, 2) for row in predicted)
        raw = json.dumps(first.pop("probabilities"))
        file = write_file(tmp_path / f"{at}.jsonl", [first | {"answer": raw}, *others])
        found = user_labels.UserLabels(casino, [file])
        ((chart,), (note,)) = found.charts, found.notes
        assert note.endswith(f": {2 * len(predicted)} tied")
        assert sum(each.count for each in chart.bins) == 2 * len(predicted)
        due = {(str(e["dialogue_id"]), str(e["turn"]) * (at == "turns")) for e in predicted}
        beside = {each.id: found.own_labels(each, ())[place] for each in dialogues(casino)}
        assert {(id, turn) for id, turns in beside.items() for turn in turns} == due


def test_a_log_beside_its_dialogues_is_right_or_wrong(
    casino, run, tmp_path, monkeypatch, inspect_runs
):
    answer = '{"labels": ["small-talk"]}'
    log = inspect_runs.ask("casino strategies", lambda *_: answer, casino.path.parent, tmp_path)
    given = []
    monkeypatch.setattr("parley.page.serve.browse", lambda *of, **_: given.extend(of))
    done = run("browse", "casino", "--build", casino.path.parent, "--with", log)
    score = parley.score(casino, "strategies", log).as_dict()["metrics"]["joint_accuracy"]
    right = round(score / 100 * len(casino.rows("strategies")))
    assert right > 0
    named = "mockllm/model: predictions of the task strategies: "
    assert re.search(rf"{named}.*\b{right} right", done.stderr), done.stderr
    again = shutil.copy(log, tmp_path / "again.eval")
    run("browse", "casino", "--build", casino.path.parent, "--with", log, "--with", again)
    order = [*given.pop().files.order][1:]
    assert order == ["mockllm/model: strategies", f"mockllm/model ({again}): strategies"]
    beside = [given[1].files.own_labels(each, ()) for each in dialogues(casino)]
    assert json.dumps(beside).count('"right: ') == right
