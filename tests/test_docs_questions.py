"""docs/questions.md: each answer is computed again from upstream's files, without SQL."""

import json
import re
import shlex
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from rich.console import Console

import parley
from parley.cli.browse_commands import cell_of
from parley.cli.tables import cut_table
from parley.declaration.registry import discover

PAGE = (Path(__file__).parent.parent / "docs/questions.md").read_text(encoding="utf-8")
QUESTIONS = re.findall(r"\*\*(\d+)\. .*?```sql\n(.*?)\n```\n\n```text\n(.*?)\n```", PAGE, re.S)
MAKING = re.findall(r"^    (parley .* (?:-o|--save-predictions) .*)$", PAGE, re.M)
LIKES = ["Extremely dissatisfied", "Slightly dissatisfied", "Undecided"]
LIKES += ["Slightly satisfied", "Extremely satisfied"]
SPLITS = ("raw", "crowd", "curated")


def read(folder, *names):
    """Yield the records of files that are there."""
    for name in names:
        for path in sorted(folder.glob(name)):
            text = path.read_text(encoding="utf-8")
            if path.suffix == ".jsonl":
                yield from map(json.loads, text.splitlines())
            else:
                found = json.loads(text)
                yield from found if isinstance(found, list) else [found]


def casino(folder):
    """Return a row for each side, and one for each entry of a chat."""
    sides, said = [], []
    for each in read(folder, "data/casino.json"):
        id, chat, left = each["dialogue_id"], each["chat_logs"], list(each["annotations"])
        for side, info in each["participant_info"].items():
            row = {"id": id, "side": side, "points": info["outcomes"]["points_scored"]}
            row["high"] = info["value2issue"]["High"]
            row["likes"] = LIKES.index(info["outcomes"]["satisfaction"])
            sides.append(row)
        for turn, entry in enumerate(chat):
            row = {"id": id, "turn": turn, "side": entry["id"], "text": entry["text"]}
            row["acts"], row["labels"] = bool(entry["task_data"]), None
            if left and not row["acts"] and row["text"] == left[0][0]:
                row["labels"] = left.pop(0)[1].split(",")
            said.append(row)
        assert not left
    return pd.DataFrame(sides), pd.DataFrame(said)


def bargains(folder):
    """Return a row for each dialogue, and one for each of its events."""
    rows, events = [], []
    for part in ("train", "validation", "test"):
        for number, each in enumerate(read(folder, f"{part}.json")):
            kbs, outcome = each["scenario"]["kbs"], each["outcome"]
            row = {"category": each["scenario"]["category"]}
            row |= {"buyer": kbs[0]["personal"]["Target"], "seller": kbs[1]["personal"]["Target"]}
            row |= {"deal": bool(outcome["reward"]), "listed": kbs[1]["item"]["Price"]}
            row["price"] = outcome["offer"]["price"] if row["deal"] else None
            row["first"] = each["events"][0]["agent"] if each["events"] else None
            rows.append(row)
            events += [{"id": f"{part} {number}", **event} for event in each["events"]]
    return pd.DataFrame(rows), pd.DataFrame(events)


def upstream(sources, own):
    """Return what upstream's files say, and files of one's own, as tables."""
    up = SimpleNamespace(own=own, cosrec=sources["cosrec"] / "dataset")
    up.sides, up.said = casino(sources["casino"])
    up.labelled = up.said[up.said.labels.notna()]
    up.pairs = up.sides.merge(up.sides, on="id", suffixes=("", "_of_other"))
    up.pairs = up.pairs[up.pairs.side != up.pairs.side_of_other]
    up.points = up.sides.groupby("id").points.sum()
    up.bargains, up.events = bargains(sources["craigslist_bargains"])
    up.deals = up.bargains[up.bargains.deal]
    up.duo = pd.DataFrame(
        {"id": number, "language": language, **message}
        for language in ("en", "ja")
        for number, each in enumerate(read(sources["duo"], f"*/{language}/*.json"))
        for message in each["dialogue"]
    )
    predicted = pd.DataFrame(read(own, "model.jsonl")).set_index(["dialogue_id", "turn"])
    up.predicted = predicted.labels
    return up


def has(labels, label):
    return labels.map(lambda found: label in found)


def using(up, label):
    """Return (dialogue, side) -> whether it uses a label, of the annotated."""
    return has(up.labelled.labels, label).groupby([up.labelled.id, up.labelled.side]).any()


def q1(up):
    same = up.sides.groupby("id").high.nunique() == 1
    return up.points.groupby(same).agg(["size", "mean"])


def q2(up):
    return using(up, "small-talk").groupby("id").sum().value_counts()


def q3(up):
    more = up.pairs.points > up.pairs.points_of_other
    less = up.pairs.likes < up.pairs.likes_of_other
    return [((more & less).sum(),)]


def q4(up):
    deals = up.deals[up.deals.seller > up.deals.buyer]
    way = (deals.price - deals.buyer) / (deals.seller - deals.buyer)
    return way.groupby(deals.category).agg(["size", "median"])


def q5(up):
    ratio = up.deals.price / up.deals.listed.where(up.deals.listed != 0)
    return ratio.groupby(up.deals["first"].map({0: "buyer", 1: "seller"})).agg(["size", "mean"])


def q6(up):
    written = up.duo.message.str.len().groupby([up.duo.language, up.duo.id, up.duo.speaker]).sum()
    more = written.unstack(fill_value=0).eval("Human > Bot")
    return more.groupby("language").agg(["sum", "size"])


def q7(up):
    after = up.labelled.assign(turn=up.labelled.turn - 1)
    pairs = up.labelled.merge(after, on=["id", "turn"], suffixes=("", "_after"))
    asks = has(pairs.labels, "elicit-pref") & (pairs.side != pairs.side_after)
    return [(asks.sum(), has(pairs.labels_after[asks], "self-need").sum())]


def q8(up):
    first = up.said[up.said.text == "Submit-Deal"].groupby("id").turn.min()
    return [first.agg(["size", "mean", "max"])]


def q9(up):
    time = up.events.time.astype(float).groupby(up.events.id)
    seconds = (up.events.time.astype(float) - time.transform("first")).round(2)
    waits = seconds.groupby(up.events.id).diff()
    after = up.events.groupby("id").action.shift() == "offer"
    answers = after & up.events.action.isin(["accept", "reject"])
    return waits[answers].groupby(up.events.action).agg(["size", "median"])


def q10(up):
    return [((~using(up, "showing-empathy").groupby("id").any()).sum(),)]


def q11(up):
    found = up.said.acts.groupby(up.said.id).cummax()[up.labelled.index]
    return [(len(found), found.sum())]


def q12(up):
    gold = has(up.labelled.set_index(["id", "turn"]).labels, "self-need")
    found = has(up.predicted, "self-need").reindex(gold.index)
    return [(found.sum(), gold.sum(), (found & gold).sum())]


def q13(up):
    tested = pd.read_csv(up.own / "split.csv").set_index("dialogue_id").in_test
    # by the build, as upstream names nobody
    people = pd.DataFrame(parley.open(up.own / "build/casino").rows("participants"))
    parts = people.dialogue_id.map(tested).groupby(people.speaker_id).nunique()
    return [(len(parts), (parts == 2).sum())]


def q14(up):
    listed = pd.read_csv(up.own / "test.csv").dialogue_id
    return [((~up.points.index.isin(listed)).sum(),)]


def q15(up):
    records = read(up.cosrec, *(f"{part}/conversations.jsonl" for part in SPLITS))
    lengths = {
        "casino": up.said.groupby("id").size(),
        "craigslist_bargains": up.events.groupby("id").size(),
        "duo": up.duo.groupby(["language", "id"]).size(),
        "cosrec": pd.Series(
            len(re.findall(r"^[US]: ", text, re.M)) for each in records for text in each.values()
        ),
    }
    return [(name, *found.agg(["size", "mean", "max"])) for name, found in lengths.items()]


def q16(up):
    found = [
        [frozenset(intent["type"] for intent in one) for one in entry["intent_annotations"]]
        for record in read(up.cosrec, "crowd/intent_annotations.jsonl")
        for entries in record.values()
        for entry in entries
    ]
    alike = (len({*types}) == 1 for types in found)
    return [(len(found), sum(alike), sum(len({*types} - {frozenset()}) == 1 for types in found))]


def q17(up):
    elicits, asks = has(up.labelled.labels, "elicit-pref"), up.labelled.text.str.contains("\\?")
    return pd.DataFrame([elicits, asks]).T.value_counts()


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
    up = upstream(sources, tmp_path)
    assert [int(number) for number, *_ in QUESTIONS] == [*range(1, 18)]
    with parley.connect(folder) as connection:
        for number, sql, printed in QUESTIONS:
            found = connection.execute(sql)
            columns, rows = [column[0] for column in found.description], found.fetchall()
            due = sorted(rows_of(globals()[f"q{number}"](up)), key=str)
            assert len(rows) == len(due), number
            for row, other in zip(sorted(rows, key=str), due, strict=True):
                assert row == pytest.approx(other, abs=0.0006), number
            if data == "real":
                screen = StringIO()
                table = cut_table(columns, [list(map(cell_of, row)) for row in rows])
                Console(width=1000, color_system=None, file=screen).print(table)
                assert [
                    line.rstrip() for line in screen.getvalue().splitlines()
                ] == printed.splitlines()


def rows_of(found):
    """Return the rows of a table, of numbers by their keys, or of a list, as plain Python."""
    table = pd.DataFrame(found) if isinstance(found, list) else found.reset_index()
    return [*table.itertuples(index=False, name=None)]
