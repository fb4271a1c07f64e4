"""docs/questions.md: all answers, a dozen computed again from upstream's files without SQL."""

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


def read(folder, *names):
    """Return the records of the files that are there."""
    paths = [path for name in names for path in sorted(folder.glob(name))]
    found = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    return [each for some in found for each in (some if isinstance(some, list) else [some])]


class Upstream:
    """What upstream's files say, as plain Python."""

    def __init__(self, sources, own):
        self.casino = read(sources["casino"], "data/casino.json")
        self.parts = {
            name: [each["dialogue_id"] for each in found]
            for name, part in (("train", "train"), ("validation", "valid"), ("test", "test"))
            if (found := read(sources["casino"], f"data/split/casino_{part}.json"))
        }
        (self.guesses,) = read(sources["casino"], "opponent-modeling/casino_ix2guessing.json")
        parts = ("train.json", "validation.json", "test.json")
        self.bargains = read(sources["craigslist_bargains"], *parts)
        self.duo = [
            (language, each)
            for language in ("en", "ja")
            for each in read(sources["duo"], f"ed/{language}/*.json", f"wow/{language}/*.json")
        ]
        self.cosrec = sources["cosrec"] / "dataset"
        self.own = own

    def points(self, info):
        return info["outcomes"]["points_scored"]

    def labelled(self):
        """Yield (dialogue, turn, side, text, labels) of each annotated utterance, in order."""
        for each in self.casino:
            left = list(each["annotations"])
            for turn, entry in enumerate(each["chat_logs"]):
                if left and not entry["task_data"] and entry["text"] == left[0][0]:
                    yield each, turn, entry["id"], entry["text"], left.pop(0)[1].split(",")
            assert not left

    def sides_that_use(self, label):
        """Return (dialogue, side) -> whether it uses a label, of the annotated."""
        found = defaultdict(bool)
        for each, _, side, _, labels in self.labelled():
            found[each["dialogue_id"], side] |= label in labels
        return found

    def worth(self, each, side):
        """Return the points of a side by the deal that was accepted."""
        last = [e for e in each["chat_logs"] if e["text"] == "Submit-Deal"][-1]
        got = last["task_data"]["issue2youget" if last["id"] == side else "issue2theyget"]
        order = each["participant_info"][side]["value2issue"]
        return sum(WORTH[level] * int(got[item]) for level, item in order.items())

    def table(self, name):
        with (self.own / name).open(encoding="utf-8-sig") as file:
            return list(csv.DictReader(file))

    def predicted(self, name):
        lines = map(json.loads, (self.own / name).read_text().splitlines())
        return {(each["dialogue_id"], each["turn"]): each["labels"] for each in lines}


def grouped(pairs, *functions):
    """Return a row for each key of (key, value): the key, and what functions make of the values."""
    found = defaultdict(list)
    for key, value in pairs:
        found[key].append(value)
    return [(key, *(f(values) for f in functions)) for key, values in found.items()]


def q5(up):
    found = Counter()
    for each in up.casino:
        sides, guessed = each["participant_info"], up.guesses[str(each["dialogue_id"])]
        right = [
            guessed[me]["partner_highest_item"] == sides[you]["value2issue"]["High"]
            for me, you in zip(sides, reversed(sides), strict=True)
        ]
        found[sum(right)] += 1
    return [*found.items()]


def q6(up):
    ways = []
    for each in up.bargains:
        if each["outcome"]["reward"]:
            kbs, price = each["scenario"]["kbs"], each["outcome"]["offer"]["price"]
            buyer, seller = (kb["personal"]["Target"] for kb in kbs)
            if seller > buyer:
                way = (price - buyer) / (seller - buyer)
                ways.append((each["scenario"]["category"], way))
    return grouped(ways, len, median)


def q8(up):
    def more(each):
        written = Counter()
        for message in each["dialogue"]:
            written[message["speaker"]] += len(message["message"])
        return written["Human"] > written["Bot"]

    return grouped(((language, more(each)) for language, each in up.duo), sum, len)


def q9(up):
    agreed = [each for each in up.casino if each["chat_logs"][-1]["text"] == "Accept-Deal"]
    sides = [(each, side) for each in agreed for side in each["participant_info"]]
    same = [up.worth(e, side) == up.points(e["participant_info"][side]) for e, side in sides]
    return [(len(sides), sum(same))]


def q10(up):
    by_place = {(e["dialogue_id"], turn): (s, labels) for e, turn, s, _, labels in up.labelled()}
    answers = [
        by_place[id, turn + 1][1]
        for (id, turn), (side, labels) in by_place.items()
        if "elicit-pref" in labels and by_place.get((id, turn + 1), (side,))[0] != side
    ]
    return [(len(answers), sum("self-need" in labels for labels in answers))]


def q13(up):
    waits = []
    for each in up.bargains:
        first = float(each["events"][0]["time"]) if each["events"] else 0
        for before, event in pairwise(each["events"]):
            if before["action"] == "offer" and event["action"] in ("accept", "reject"):
                since, now = (round(float(e["time"]) - first, 2) for e in (before, event))
                waits.append((event["action"], now - since))
    return grouped(waits, len, median)


def q15(up):
    found = [
        each["dialogue_id"]
        for each, _, _, text, labels in up.labelled()
        if "firewood" in text.lower() and "no-need" in labels
    ]
    return [(len(found), len(set(found)))]


def q17(up):
    infos = {each["dialogue_id"]: each["participant_info"] for each in up.casino}
    used = up.sides_that_use("uv-part").items()
    return grouped(((uses, up.points(infos[id][side])) for (id, side), uses in used), len, mean)


def q18(up):
    kinds = {
        intent["id"]: intent["type"]
        for line in (up.cosrec / "curated/intents.jsonl").read_text().splitlines()
        for entries in json.loads(line).values()
        for entry in entries
        for intent in entry["intents"]
    }
    high = Counter()
    for line in (up.cosrec / "curated/qrels.qrels").read_text().splitlines():
        query, _, _, grade = line.split()
        high[query] += grade == "2"
    return grouped(((kinds[q.split("#")[0]], times) for q, times in high.items()), len, mean)


def q22(up):
    return [(part, len(ids), sum(id < 100 for id in ids)) for part, ids in up.parts.items()]


def q24(up):
    model = up.predicted("model.jsonl")
    pairs = [
        ("self-need" in model[each["dialogue_id"], turn], "self-need" in labels)
        for each, turn, _, _, labels in up.labelled()
    ]
    return [(sum(p for p, _ in pairs), sum(g for _, g in pairs), sum(p and g for p, g in pairs))]


def q26(up):
    tested = {int(row["dialogue_id"]): row["in_test"] == "true" for row in up.table("split.csv")}
    parts = defaultdict(set)
    for row in parley.open(up.own / "build/casino").rows("participants"):  # upstream names nobody
        parts[row["speaker_id"]].add(tested[row["dialogue_id"]])
    return [(len(parts), sum(len(each) == 2 for each in parts.values()))]


@pytest.mark.parametrize("data", ["sample", pytest.param("real", marks=pytest.mark.slow)])
def test_an_answer_is_that_of_upstreams_files(data, request, tmp_path, monkeypatch):
    folder = request.getfixturevalue(f"{data}_build")
    home = request.getfixturevalue("source") if data == "real" else None
    sources = {n: home / n if home else each.sample for n, each in discover().items()}
    (tmp_path / "build").symlink_to(folder)
    monkeypatch.chdir(tmp_path)
    run = request.getfixturevalue("run")  # not before: it hides PARLEY_SOURCE
    for command in MAKING:
        assert run(*shlex.split(command)[1:]).returncode == 0, command
    up = Upstream(sources, tmp_path)
    assert [int(number) for number, *_ in QUESTIONS] == [*range(1, 31)]
    with parley.connect(folder) as connection:
        for number, sql, printed in QUESTIONS:
            found = connection.execute(sql)
            columns, rows = [column[0] for column in found.description], found.fetchall()
            assert rows, number
            if due := globals().get(f"q{number}"):
                due = sorted(due(up), key=str)
                for row, other in zip(sorted(rows, key=str), due, strict=True):
                    assert row == pytest.approx(other, abs=0.0006), number
            if data == "real":
                screen = StringIO()
                table = cut_table(columns, [list(map(_shown, row)) for row in rows])
                Console(width=1000, color_system=None, file=screen).print(table)
                shown = [line.rstrip() for line in screen.getvalue().splitlines()]
                assert shown == printed.splitlines()
