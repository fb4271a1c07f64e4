"""Charts: their counts against the rows, links into the list, and SVG files."""

import html
import json
import math
import re
import string
import xml.etree.ElementTree as ElementTree
from collections import Counter

import hostile_dataset
import pytest
from local_hub import contents

from parley.base.errors import ScriptError
from parley.builds.build import build
from parley.builds.built_folder import open_folder
from parley.builds.sources import open_source
from parley.declaration.registry import discover, get
from parley.page import build_charts
from parley.page.site import write_site
from parley.read.charts import Bar, Bars, Heatmap
from parley.read.dialogues import dialogues
from parley.read.transcript import Note, Transcript, Turn


def test_the_files_are_the_same_each_time(sample_build, tmp_path, run):
    for number in "12":
        status, out, _ = run("charts", "casino", "-o", tmp_path / number, "--build", sample_build)
        assert status == 0
        assert "SAMPLE.txt" in out
    files = contents(tmp_path / "1")
    assert files == contents(tmp_path / "2")
    assert {"SAMPLE.txt", "turns.svg"} <= files.keys()  # the latter, no dataset declares
    for content in (content for name, content in files.items() if name.endswith(".svg")):
        top = ElementTree.fromstring(content)
        assert [child.tag.rpartition("}")[2] for child in top[:2]] == ["title", "desc"]
        assert b"href" not in content


def test_a_calibration_is_drawn_at_its_probabilities_and_shares(sample_build, run, tmp_path):
    score = ("score", "casino", "beliefs", "--baseline", "mentions", "--build", sample_build)
    out = tmp_path / "<b>.svg"
    done = run(*score, "--chart", out, "--json")
    bins = json.loads(done.stdout)["calibration"]
    drawing = ElementTree.fromstring(out.read_text(encoding="utf-8"))
    axes = [each.attrib for each in drawing.iter() if each.tag.endswith("}line")]
    (x0, y0), (x1, y1) = ([float(axes[0][n + end]) for n in "xy"] for end in "12")
    circles = [each.attrib for each in drawing.iter() if each.tag.endswith("}circle")]
    found = [
        ((float(c["cx"]) - x0) / (x1 - x0), (float(c["cy"]) - y0) / (y1 - y0)) for c in circles
    ]
    assert (len(found) > 2, x0 < x1, y0 > y1) == (True, True, True)
    due = [(each["probability"], each["right"]) for each in bins]
    assert [*sum(found, ())] == pytest.approx([*sum(due, ())], abs=0.01)
    for more in (("bids", "x.svg"), ("beliefs", "x.png")):
        assert run("score", "casino", more[0], *score[3:], "--chart", more[1]).returncode == 2


def test_hostile_text_is_text_in_a_chart(tmp_path, monkeypatch):
    monkeypatch.setenv("PARLEY_DATASETS", str(hostile_dataset.write(tmp_path)))
    build(open_source(get("hostile"), None, sample=True), tmp_path / "build")
    built = open_folder(tmp_path / "build" / "hostile")
    names = build_charts.write_charts(built, tmp_path / "charts")
    assert len(names) > 8
    for name in names:
        assert re.fullmatch(r"[a-z0-9-]+\.svg|SAMPLE\.txt", name)
        if name.endswith(".svg"):
            content = (tmp_path / "charts" / name).read_bytes()
            assert len(content) < 60_000  # of a word of 100 kB
            tags = {each.tag.rpartition("}")[2] for each in ElementTree.fromstring(content).iter()}
            assert tags <= {"svg", "title", "desc", "style", "rect", "text", "g"}


def test_a_chart_that_fails_is_named(sample_build, monkeypatch):
    built = open_folder(sample_build / "casino")
    charts = ["no chart", Heatmap("", "", "x", "y", "", {1: 1})]
    for number in (10**400, -(10**5000), math.nan, math.inf, "1", None):
        charts.append(Bars("", "", "", ("",), (Bar("a", (1, number)),)))
        charts.append(Heatmap("", "", "x", "y", "", {(1, 2): 3, (2, 2): number}))
    odd = [lambda data, chart=chart: chart for chart in charts]
    for broken in (lambda data: data.rows("dialogues", "train")[0]["x"], *odd):
        monkeypatch.setattr(type(built.dataset), "charts", {"spoilt": broken})
        with pytest.raises(ScriptError) as caught:
            list(build_charts.dataset_charts(built))
        assert "spoilt" in str(caught.value)


def test_the_counts_are_those_of_the_parquet(sample_build):
    """Counted from views that the charts do not read."""
    casino = open_folder(sample_build / "casino")
    charts = build_charts.counts_of(casino).charts()
    sides = casino.rows_with_names("participants", "train")
    due = Counter((side["points_scored"], side["satisfaction"]) for side in sides)
    assert charts["satisfaction-by-points"].cells == due
    points = {bar.label: bar.values for bar in charts["points"].bars}
    assert points["22–23"] == (sum(side["points_scored"] in (22, 23) for side in sides),)
    said = casino.rows_with_names("utterances", "train")
    labels = Counter(label or "(empty label)" for row in said for label in row["annotations"] or ())
    shown = {bar.label: bar.values[0] for bar in charts["turns-strategy"].bars}
    assert shown | labels == shown
    cosrec = open_folder(sample_build / "cosrec")
    qrels = Counter((row["query_id"], row["relevance"]) for row in cosrec.rows("qrels"))
    chart = build_charts.counts_of(cosrec).charts()["grades-by-query"]
    bars = {bar.label: bar.values for bar in chart.bars}
    assert bars == {query: tuple(qrels[query, grade] for grade in (2, 1, 0)) for query, _ in qrels}


def drawn_shares(marks):
    """Return the length of each bar, or the depth of its colour, as a share of the largest."""
    boxes = [[box.attrib for box in mark.iter("rect")] for mark in marks]
    if "fill-opacity" in boxes[0][0]:
        found = [float(box["fill-opacity"]) - 0.1 for (box,) in boxes]
    else:
        found = [sum(float(part["width"]) for part in parts) for parts in boxes]
    return [each / max(found) for each in found]


def test_the_bars_on_the_page_add_up_to_what_the_chart_says_that_it_counts(sample_build, tmp_path):
    builts = [open_folder(sample_build / name) for name in discover()]
    write_site(builts, tmp_path / "site")
    for built in builts:
        page = (tmp_path / "site" / built.dataset.name / "index.html").read_text(encoding="utf-8")
        figures = re.findall(r"(?s)<figure id=.*?</figure>", page)
        assert len(figures) > 5
        for figure in figures:
            about = html.unescape(re.search(r"<h3>.*?</p>", figure)[0])
            assert "`" not in about
            drawing = ElementTree.fromstring(re.search(r"(?s)<svg.*?</svg>", figure)[0])
            assert not re.search(r">[\d.]+e[+-]\d", ElementTree.tostring(drawing).decode())
            marks = [mark for mark in drawing if mark.tag in ("a", "g")]
            assert not drawing.findall("g/rect[@class='heat']")  # each cell is a link
            if "<h3>Scores of" in figure:  # which count nothing
                continue
            said = re.search(r"([\d,]+) in all", about) or re.search(r"<p>([\d,]+) ", about)
            counted = []
            for mark in marks:
                parts = mark.find("title").text.rpartition(": ")[2]
                counted.append(sum(int(n.replace(",", "")) for n in re.findall(r"[\d,]*\d", parts)))
            assert sum(counted) == int(said[1].replace(",", "")), about
            due = [number / max(counted) for number in counted]
            assert drawn_shares(marks) == pytest.approx(due, abs=0.01), about


def test_a_chart_of_many_labels_says_how_many_it_leaves_out(sample_build, monkeypatch):
    built = open_folder(sample_build / "duo")
    notes = tuple(Note(f"label {letter}") for letter in string.ascii_letters)
    made = Transcript("a dialogue", turns=[Turn("a", "b", notes)])
    monkeypatch.setitem(vars(built.dataset.layout), "transcript", lambda row: made)
    chart = build_charts.counts_of(built).charts()["turns-label"]
    number = len(list(dialogues(built)))
    assert len(chart.bars) == 30
    assert [int(each) for each in re.findall(r"\d+", chart.about)] == [number, 30 * number, 22]
