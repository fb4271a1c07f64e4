"""docs/questions.md: all answers, half a dozen computed again from upstream's files without SQL."""

import csv
import json
import re
import shlex
from collections import Counter, defaultdict
from io import StringIO
from itertools import pairwise
from pathlib import Path
from statistics import mean, median

import pytest
from rich.console import Console

import parley
from parley.building.registry import discover
from parley.cli.sql import _shown
from parley.cli.tables import cut_table

pytest.importorskip("duckdb", reason="the extra `sql` is not installed")
pytest.importorskip("sklearn", reason="the extra `tasks` is not installed")
PAGE = (Path(__file__).parent.parent / "docs/questions.md").read_text(encoding="utf-8")
QUESTIONS = re.findall(r"\*\*(\d+)\. .*?```sql\n(.*?)\n```\n\n```text\n(.*?)\n```", PAGE, re.S)
MAKING = re.findall(r"^    (parley .* (?:--to|--save-predictions) .*)$", PAGE, re.M)
WORTH = {"High": 5, "Medium": 4, "Low": 3}


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def casino(upstream):
    return json.loads((upstream / "casino/data/casino.json").read_text(encoding="utf-8"))


def labelled(upstream):
    """Yield (place, side, labels) of each annotated utterance of CaSiNo, in order."""
    for each in casino(upstream):
        left = list(each["annotations"])
        for turn, entry in enumerate(each["chat_logs"]):
            if left and not entry["task_data"] and entry["text"] == left[0][0]:
                yield (each["dialogue_id"], turn), entry["id"], left.pop(0)[1].split(",")
        assert not left


def grouped(pairs, *functions):
    """Return a row for each key of (key, value): the key, and what functions make of the values."""
    found = defaultdict(list)
    for key, value in pairs:
        found[key].append(value)
    return [(key, *(f(values) for f in functions)) for key, values in found.items()]


def q9(upstream):
    same = []
    for each in casino(upstream):
        *_, last = [e for e in each["chat_logs"] if e["text"] == "Submit-Deal"] or [None]
        if each["chat_logs"][-1]["text"] == "Accept-Deal":
            for side, info in each["participant_info"].items():
                packages = "issue2youget" if last["id"] == side else "issue2theyget"
                got, order = last["task_data"][packages], info["value2issue"]
                points = sum(WORTH[level] * int(got[item]) for level, item in order.items())
                same.append(points == info["outcomes"]["points_scored"])
    return [(len(same), sum(same))]


def q10(upstream):
    by_place = {place: (side, labels) for place, side, labels in labelled(upstream)}
    answers = [
        by_place[id, turn + 1][1]
        for (id, turn), (side, labels) in by_place.items()
        if "elicit-pref" in labels and by_place.get((id, turn + 1), (side,))[0] != side
    ]
    return [(len(answers), sum("self-need" in labels for labels in answers))]


def q13(upstream):
    waits = []
    for name in ("train", "validation", "test"):
        path = upstream / f"craigslist_bargains/{name}.json"
        for each in json.loads(path.read_text(encoding="utf-8")) if path.exists() else ():
            first = float(each["events"][0]["time"]) if each["events"] else 0
            for before, event in pairwise(each["events"]):
                if before["action"] == "offer" and event["action"] in ("accept", "reject"):
                    since, now = (round(float(e["time"]) - first, 2) for e in (before, event))
                    waits.append((event["action"], now - since))
    return grouped(waits, len, median)


def q18(upstream):
    curated = upstream / "cosrec/dataset/curated"
    kinds = {
        intent["id"]: intent["type"]
        for each in lines(curated / "intents.jsonl")
        for entries in each.values()
        for entry in entries
        for intent in entry["intents"]
    }
    high = Counter()
    for line in (curated / "qrels.qrels").read_text().splitlines():
        query, _, _, grade = line.split()
        high[query] += grade == "2"
    return grouped(((kinds[q.split("#")[0]], times) for q, times in high.items()), len, mean)


def q24(upstream):
    model = {(e["dialogue_id"], e["turn"]): e["labels"] for e in lines(Path("model.jsonl"))}
    pairs = [
        ("self-need" in model[at], "self-need" in labels) for at, _, labels in labelled(upstream)
    ]
    return [(sum(p for p, _ in pairs), sum(g for _, g in pairs), sum(p and g for p, g in pairs))]


def q26(upstream):
    with open("split.csv", encoding="utf-8-sig") as file:
        tested = {int(row["dialogue_id"]): row["in_test"] for row in csv.DictReader(file)}
    parts = defaultdict(set)
    for row in parley.open("build/casino").rows("participants"):  # upstream names nobody
        parts[row["speaker_id"]].add(tested[row["dialogue_id"]])
    return [(len(parts), sum(len(each) == 2 for each in parts.values()))]


@pytest.mark.parametrize("data", ["sample", pytest.param("real", marks=pytest.mark.slow)])
def test_an_answer_is_that_of_upstreams_files(data, request, tmp_path, monkeypatch):
    folder = request.getfixturevalue(f"{data}_build")
    upstream = request.getfixturevalue("source") if data == "real" else tmp_path / "samples"
    if data == "sample":
        upstream.mkdir()
        for name, each in discover().items():
            (upstream / name).symlink_to(each.sample)
    (tmp_path / "build").symlink_to(folder)
    monkeypatch.chdir(tmp_path)
    run = request.getfixturevalue("run")  # not before: it hides PARLEY_SOURCE
    for command in MAKING:
        assert run(*shlex.split(command)[1:]).returncode == 0, command
    assert [int(number) for number, *_ in QUESTIONS] == [*range(1, 31)]
    with parley.connect(folder) as connection:
        for number, sql, printed in QUESTIONS:
            found = connection.execute(sql)
            columns, rows = [column[0] for column in found.description], found.fetchall()
            assert rows, number
            if due := globals().get(f"q{number}"):
                due = sorted(due(upstream), key=str)
                for row, other in zip(sorted(rows, key=str), due, strict=True):
                    assert row == pytest.approx(other, abs=0.0006), number
            if data == "real":
                screen = StringIO()
                table = cut_table(columns, [list(map(_shown, row)) for row in rows])
                Console(width=1000, color_system=None, file=screen).print(table)
                shown = [line.rstrip() for line in screen.getvalue().splitlines()]
                assert shown == printed.splitlines()
