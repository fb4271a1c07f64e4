"""docs/questions.md: each answer is computed again from upstream's files, without SQL."""

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
LIKES = ["Extremely dissatisfied", "Slightly dissatisfied", "Undecided"]
LIKES += ["Slightly satisfied", "Extremely satisfied"]
WORTH = {"High": 5, "Medium": 4, "Low": 3}


def read(folder, *names):
    """Yield the records of files that are there, each with the stem of its file."""
    for name in names:
        for path in sorted(folder.glob(name)):
            found = json.loads(path.read_text(encoding="utf-8"))
            yield from (
                (path.stem, each) for each in (found if isinstance(found, list) else [found])
            )


class Upstream:
    """What upstream's files say, as plain Python."""

    def __init__(self, sources, own):
        self.casino = [each for _, each in read(sources["casino"], "data/casino.json")]
        self.parts = {
            {"valid": "validation"}.get(part, part): [each["dialogue_id"] for _, each in found]
            for part in ("train", "valid", "test")
            if (found := [*read(sources["casino"], f"data/split/casino_{part}.json")])
        }
        (guesses,) = read(sources["casino"], "opponent-modeling/casino_ix2guessing.json")
        self.guesses = guesses[1]
        bargains = read(
            sources["craigslist_bargains"], "train.json", "validation.json", "test.json"
        )
        self.bargains = [(part, each) for part, each in bargains]
        self.duo = []
        for language in ("en", "ja"):
            for _, each in read(sources["duo"], f"ed/{language}/*.json", f"wow/{language}/*.json"):
                self.duo.append((language, each))
        self.cosrec = sources["cosrec"] / "dataset"
        self.own = own

    def sides(self):
        """Yield a dialogue of casino with both its sides."""
        for each in self.casino:
            yield each, *each["participant_info"].values()

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

    def deals(self):
        """Yield (part, dialogue, category, both targets, price, list price) of each deal."""
        for part, each in self.bargains:
            if each["outcome"]["reward"]:
                kbs = each["scenario"]["kbs"]
                targets = [kb["personal"]["Target"] for kb in kbs]
                price, listed = each["outcome"]["offer"]["price"], kbs[1]["item"]["Price"]
                yield part, each, each["scenario"]["category"], targets, price, listed

    def turns_of_cosrec(self):
        for name in ("raw", "crowd", "curated"):
            file = self.cosrec / name / "conversations.jsonl"
            for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
                for text in json.loads(line).values():
                    yield len(re.findall(r"^[US]: ", text, re.M))

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
    as_row = lambda key: key if isinstance(key, tuple) else (key,)  # noqa: E731
    return [(*as_row(k), *(f(values) for f in functions)) for k, values in found.items()]


def told(count):
    return [(key, number) for key, number in count.items()]


def q1(up):
    pairs = (
        (a["value2issue"]["High"] == b["value2issue"]["High"], up.points(a) + up.points(b))
        for _, a, b in up.sides()
    )
    return grouped(pairs, len, mean)


def q2(up):
    svo = lambda info: info["personality"]["svo"]  # noqa: E731
    pairs = (
        (tuple(sorted((svo(a), svo(b)))), up.points(a) + up.points(b)) for _, a, b in up.sides()
    )
    return grouped(pairs, len, mean)


def q3(up):
    talk = Counter()
    for (id, _), talks in up.sides_that_use("small-talk").items():
        talk[id] += talks
    return told(Counter(talk.values()))


def q4(up):
    content = lambda info: LIKES.index(info["outcomes"]["satisfaction"])  # noqa: E731
    pairs = [pair for _, a, b in up.sides() for pair in ((a, b), (b, a))]
    return [(sum(up.points(a) > up.points(b) and content(a) < content(b) for a, b in pairs),)]


def q5(up):
    found = Counter()
    for each, *_ in up.sides():
        sides = each["participant_info"]
        guessed = up.guesses[str(each["dialogue_id"])]
        one, other = sides
        found[
            sum(
                guessed[me]["partner_highest_item"] == sides[you]["value2issue"]["High"]
                for me, you in ((one, other), (other, one))
            )
        ] += 1
    return told(found)


def q6(up):
    ways = (
        (category, (price - buyer) / (seller - buyer))
        for _, _, category, (buyer, seller), price, _ in up.deals()
        if seller > buyer
    )
    return grouped(ways, len, median)


def q7(up):
    ratios = (
        (("buyer", "seller")[each["events"][0]["agent"]], price / listed if listed else None)
        for _, each, _, _, price, listed in up.deals()
    )
    return grouped(ratios, len, lambda found: mean(x for x in found if x is not None))


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


def q11(up):
    texts = [[entry["text"] for entry in each["chat_logs"]] for each in up.casino]
    first = [each.index("Submit-Deal") for each in texts if "Submit-Deal" in each]
    return [(len(first), mean(first), max(first))]


def q12(up):
    texts = [[entry["text"] for entry in each["chat_logs"]] for each in up.casino]
    rest = [each[each.index("Reject-Deal") :] for each in texts if "Reject-Deal" in each]
    return [(len(rest), sum("Accept-Deal" in each for each in rest))]


def q13(up):
    waits = []
    for _, each in up.bargains:
        events = each["events"]
        for before, event in pairwise(events):
            if before["action"] == "offer" and event["action"] in ("accept", "reject"):
                first = float(events[0]["time"])
                since, now = (round(float(e["time"]) - first, 2) for e in (before, event))
                waits.append((event["action"], now - since))
    return grouped(waits, len, median)


def q14(up):
    chats = [[entry["id"] for entry in each["chat_logs"]] for each in up.casino]
    again = sum(a == b for each in chats for a, b in pairwise(each))
    return [(sum(map(len, chats)), again)]


def q15(up):
    found = [
        each["dialogue_id"]
        for each, _, _, text, labels in up.labelled()
        if "firewood" in text.lower() and "no-need" in labels
    ]
    return [(len(found), len(set(found)))]


def q16(up):
    empathy = Counter()
    for (id, _), shows in up.sides_that_use("showing-empathy").items():
        empathy[id] += shows
    return [(sum(not times for times in empathy.values()),)]


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


def q19(up):
    entries = [entry for each in up.casino for entry in each["chat_logs"]]
    return [(len(entries), sum(not entry["task_data"] for entry in entries))]


def q20(up):
    return told(Counter(entry["id"] for each in up.casino for entry in each["chat_logs"]))


def q21(up):
    found = [
        any(entry["task_data"] for entry in each["chat_logs"][:turn])
        for each, turn, *_ in up.labelled()
    ]
    return [(len(found), sum(found))]


def q22(up):
    return [(part, len(ids), sum(id < 100 for id in ids)) for part, ids in up.parts.items()]


def q23(up):
    return told(Counter(("?" in text, "elicit-pref" in found) for *_, text, found in up.labelled()))


def q24(up):
    model = up.predicted("model.jsonl")
    pairs = [
        ("self-need" in model[each["dialogue_id"], turn], "self-need" in labels)
        for each, turn, _, _, labels in up.labelled()
    ]
    return [(sum(p for p, _ in pairs), sum(g for _, g in pairs), sum(p and g for p, g in pairs))]


def q25(up):
    one, other = up.predicted("model.jsonl"), up.predicted("other.jsonl")
    return told(Counter(one[key] == other[key] for key in one))


def q26(up):
    tested = {int(row["dialogue_id"]): row["in_test"] == "true" for row in up.table("split.csv")}
    parts = defaultdict(set)
    for row in parley.open(up.own / "build/casino").rows("participants"):  # upstream names nobody
        parts[row["speaker_id"]].add(tested[row["dialogue_id"]])
    return [(len(parts), sum(len(each) == 2 for each in parts.values()))]


def q27(up):
    listed = {int(row["dialogue_id"]) for row in up.table("test.csv")}
    return [(sum(each["dialogue_id"] not in listed for each in up.casino),)]


def q28(up):
    lengths = {
        "casino": [len(each["chat_logs"]) for each in up.casino],
        "craigslist_bargains": [len(each["events"]) for _, each in up.bargains if each["events"]],
        "duo": [len(each["dialogue"]) for _, each in up.duo],
        "cosrec": [*up.turns_of_cosrec()],
    }
    return [(name, len(found), mean(found), max(found)) for name, found in lengths.items()]


def q29(up):
    chats = [entry for each in up.casino for entry in each["chat_logs"]]
    texts = [("casino", entry["text"]) for entry in chats if not entry["task_data"]]
    events = [event for _, each in up.bargains for event in each["events"]]
    said = [event["data"] for event in events if event["action"] == "message"]
    texts += [("craigslist_bargains", text) for text in said]
    english = [each for language, each in up.duo if language == "en"]
    texts += [("duo", message["message"]) for each in english for message in each["dialogue"]]
    return grouped(((name, "?" in text) for name, text in texts), len, mean)


def q30(up):
    ends = [
        (("casino", "train"), each["chat_logs"][-1]["text"] == "Accept-Deal") for each in up.casino
    ]
    ends += [(("craigslist_bargains", p), bool(e["outcome"]["reward"])) for p, e in up.bargains]
    return grouped(ends, len, mean)


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
            due = globals()[f"q{number}"](up)
            due = sorted(map(flat, due), key=str)
            assert len(rows) == len(due), number
            for row, other in zip(sorted(rows, key=str), due, strict=True):
                assert row == pytest.approx(other, abs=0.0006), number
            if data == "real":
                screen = StringIO()
                table = cut_table(columns, [list(map(_shown, row)) for row in rows])
                Console(width=1000, color_system=None, file=screen).print(table)
                assert [
                    line.rstrip() for line in screen.getvalue().splitlines()
                ] == printed.splitlines()


def flat(row):
    """Return a row whose key may be several values."""
    return tuple(part for each in row for part in (each if isinstance(each, tuple) else (each,)))
