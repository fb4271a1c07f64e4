"""The page in a browser: searches, filters, keys, code, hostile text, accessibility."""

import ast
import codecs
import csv
import io
import json
import re
import shutil
import subprocess
import sys
import unicodedata
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple
from urllib.parse import quote_plus, unquote_plus

import hostile
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import parley
from parley.base.console import plain
from parley.building.build import build
from parley.building.built import find_folder
from parley.building.collection import discover, get
from parley.building.sources import open_source
from parley.reading.export.export import export

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
site = pytest.importorskip("parley.reading.site.write", reason="the extra `site` is not installed")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"),
]

WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 320, "height": 640}
DATASETS = list(discover())


class Site(NamedTuple):
    """A written site and the folder of its builds."""

    build: Path
    folder: Path
    http: str


# Sites and browser ------------------------------------------------


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as tool:
        chromium = tool.chromium.launch(executable_path=CHROMIUM)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A served folder for sites."""
    from parley.reading.site.serve import serving

    root = tmp_path_factory.mktemp("served")
    with serving(root) as address:
        yield root, address


def written(served, build, name, datasets):
    folders = [find_folder(build, get(each)) for each in datasets]
    place = served[0] / name / "of some" / "site"
    place.parent.mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:  # another test may publish these builds
        patch.setenv("PARLEY_CACHE", str(served[0] / "no cache"))
        site.write_site(folders, place)
    return Site(build, place, f"{served[1]}{name}/of%20some/site/")


@pytest.fixture(scope="module")
def sample(served, sample_build):
    return written(served, sample_build, "sample", DATASETS)


@pytest.fixture(scope="module")
def real(served, real_build):
    there = [name for name in DATASETS if (real_build / name).is_dir()]
    return written(served, real_build, "real", there)


@pytest.fixture(scope="module")
def attacked(served, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PARLEY_DATASETS", str(hostile.write(folder)))
        dataset = get("hostile")
        build(open_source(dataset, None, sample=True), folder / "build")
        hostile.spoil(folder / "build" / "hostile" / "provenance.json")
        yield written(served, folder / "build", "hostile", ["hostile"])


@pytest.fixture
def open_page(browser, served):
    """A function that opens an address; fail on foreign requests, errors and dialogs."""
    context = browser.new_context(viewport=WIDE)
    context.set_default_timeout(20_000)
    wrong = []
    own = (served[1], served[0].as_uri())

    def request(asked):
        if not asked.url.startswith(own):
            wrong.append(f"asks for {asked.url}")

    def console(message):
        if message.type in ("error", "warning"):
            wrong.append(message.text)

    context.on("request", request)
    context.on("console", console)
    context.on("weberror", lambda raised: wrong.append(str(raised.error)))
    context.on("dialog", lambda asks: wrong.append(f"says {asks.message}"))

    def opened(address):
        page = context.new_page()
        page.goto(address)
        if "dialogues.html" in address:
            loaded(page)
        return page

    yield opened
    context.close()
    assert not wrong


def loaded(page):
    """Wait until all text is searchable."""
    page.wait_for_selector("#progress", state="hidden")


def addresses(found, *parts):
    """Return the addresses of a page on a server and on disk."""
    return [found.http + "/".join(parts), found.folder.joinpath(*parts).as_uri()]


def page_of(found, name, state=""):
    """Return the address of a state of a dataset's page of dialogues."""
    return f"{found.http}{name}/dialogues.html" + (f"#{state}" if state else "")


# The page ----------------------------------------------------------------------


def counted(page):
    """Return the numbers of dialogues, utterances and queries found on the page."""
    text = page.locator("#count strong").inner_text()
    found = re.fullmatch(r"([\d,]+) dialogues?(?:, ([\d,]+) queries)?", text)
    said = re.fullmatch(
        r"(?:([1-9][\d,]*) utterances?)?", page.locator("#count > :last-child").inner_text().strip()
    )
    assert found, text
    assert said, page.locator("#count").inner_text()
    dialogues, queries, utterances = (
        int((n or "0").replace(",", "")) for n in (*found.groups(), said[1])
    )
    return dialogues, utterances, queries


def bars(page):
    """Return filter -> value -> number of hits."""
    return page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll('.filter')].map(filter => [
            filter.querySelector('h2').textContent,
            Object.fromEntries([...filter.querySelectorAll('.value')].map(bar => [
                bar.querySelector('.label').textContent,
                parseInt(bar.querySelector('.number').textContent.replaceAll(',', '')),
            ]))]))"""
    )


def bar(page, name, value):
    heading = page.get_by_role("heading", name=name, exact=True)
    label = page.locator(".label", has_text=re.compile(f"^{re.escape(value)}$"))
    return page.locator(".filter").filter(has=heading).locator(".value").filter(has=label)


def search(page, query):
    page.get_by_role("searchbox").fill(query)


def state(page):
    """Return the visible state of the page of dialogues."""
    return {
        "query": page.get_by_role("searchbox").input_value(),
        "count": counted(page),
        "bars": bars(page),
        "chosen": page.locator(".value[aria-pressed=true] .label").all_inner_texts(),
        "title": page.locator("#dialogue h2").all_inner_texts(),
        "marked": page.locator("#dialogue mark").all_inner_texts(),
        "list": page.locator("#window a").all_inner_texts(),
    }


# The Parquet --------------------------------------------------------------------


def table(build, name, config):
    """Return the rows of a config with label names."""
    built = find_folder(build, get(name))
    return built.named(config, *built.splits(config))


def ids(build, name):
    """Return the ids of all dialogues of the readable configs."""
    built, transcript = find_folder(build, get(name)), get(name).transcript
    assert transcript is not None
    places = [(c, s) for c in transcript.CONFIGS for s in built.splits(c)]
    return {str(id) for place in places for id in built.ids(*place)}


def utterances(build, name):
    """Return the dialogue id and text of each utterance."""
    if name == "cosrec":
        return [
            (row["dialogue_id"], turn["text"])
            for row in table(build, name, "dialogues")
            for turn in row["turns"]
        ]
    return [
        (str(row["dialogue_id"]), row["text"])
        for row in table(build, name, "utterances")
        if row.get("data") is None
        and row.get("issue2youget") is None
        and row.get("action") in (None, "message")
    ]


def formulations(build, name):
    """Return the query id and text of each formulation of a judged query."""
    rows = table(build, name, "queries") if name == "cosrec" else []
    return [(row["query_id"], text) for row in rows for text in row["variants"]]


def expected(build, name, *words):
    """Return the numbers of dialogues, utterances and judged queries with all words in a text."""

    def fold(text):
        return unicodedata.normalize("NFKC", text).lower()

    def has(text):
        return all(fold(word) in fold(text) for word in words)

    found = [id for id, text in utterances(build, name) if has(text)]
    judged = {id for id, text in formulations(build, name) if has(text)}
    return len(set(found)), len(found), len(judged)


# Finding ----------------------------------------------------------------------------------


SEARCHES = {
    "casino": ["firewood", "FIREWOOD", "Firewood,", "$", "<script>", "🙂", "no such thing"],
    "craigslist_bargains": ["$", "the", "<script>"],
    "cosrec": ["bread", "?", "<script>"],
    "duo": ["仕事", "harmonica", "ＨＡＲＭＯＮＩＣＡ", "。", "<script>"],
}


@pytest.mark.parametrize("data", ["sample", "real"])
def test_a_search_finds_the_hits_of_the_parquet(request, open_page, data):
    found = request.getfixturevalue(data)
    hits = Counter()
    for name, queries in SEARCHES.items():
        page = open_page(page_of(found, name))
        dialogues, said, others = counted(page)
        assert dialogues + others == len(ids(found.build, name))
        assert said == len(utterances(found.build, name))
        assert (others > 0) == (name == "cosrec")
        for query in queries:
            search(page, query)
            assert counted(page) == expected(found.build, name, query), query
            hits[query] += counted(page)[1]
            if counted(page)[1]:
                marks = page.locator("#window mark").all_inner_texts()
                folded = {unicodedata.normalize("NFKC", mark).lower() for mark in marks}
                assert folded == {unicodedata.normalize("NFKC", query).lower()}
    if data == "real":
        assert hits["仕事"] == 12
    else:
        assert all(hits[query] for query in ("firewood", "🙂", "$", "bread", "harmonica", "。"))
    assert not hits["no such thing"]


def test_a_search_takes_words_and_quoted_phrases(real, open_page):
    page = open_page(page_of(real, "casino"))
    counts = []
    for query, words in {
        "water need": ["need", "water"],
        "  Need   WATER ": ["need", "water"],
        '"need water"': ["need water"],
        "“need water” extra": ["need water", "extra"],
        '"need water': ['"need', "water"],
        'need" water': ['need"', "water"],
    }.items():
        search(page, query)
        assert counted(page) == expected(real.build, "casino", *words), query
        counts.append(counted(page)[1])
        marks = {mark.lower() for mark in page.locator("#dialogue mark").all_inner_texts()}
        assert marks == set(words if counts[-1] else ())
    assert counts[0] == counts[1] > counts[2] > counts[3] > 0
    search(page, "   ")
    assert counted(page)[1] == len(utterances(real.build, "casino"))


class Casino:
    """The sides of each dialogue of CaSiNo by the Parquet, apart from the page's code."""

    def __init__(self, build):
        self.said = utterances(build, "casino")
        self.sides = {}
        for row in table(build, "casino", "participants"):
            self.sides.setdefault(row["dialogue_id"], {})[row["speaker"]] = row | {"used": set()}
        for row in table(build, "casino", "strategies"):
            self.sides[row["dialogue_id"]][row["speaker"]]["used"] |= set(row["labels"])

    def having(self, *tests, together=True):
        """Return the dialogues of which one side passes all tests, or any side each."""
        return {
            number
            for number, sides in self.sides.items()
            if (
                any(all(test(side) for test in tests) for side in sides.values())
                if together
                else all(any(test(side) for side in sides.values()) for test in tests)
            )
        }

    def tally(self, values, *tests, within=None):
        """Count the dialogues by each value of a side that passes all tests."""
        found = Counter()
        for number, sides in self.sides.items():
            if within is None or number in within:
                passing = [side for side in sides.values() if all(test(side) for test in tests)]
                found.update({value for side in passing for value in values(side)})
        return dict(found)


def used(*labels):
    return lambda side: bool(side["used"] & set(labels))


def got(low, high):
    return lambda side: low <= side["points_scored"] <= high


def content(side):
    return side["satisfaction"] == "Extremely satisfied"


def shown(page, name):
    return {value: count for value, count in bars(page)[name].items() if count}


def field(page, name, end):
    return page.get_by_role("spinbutton", name=f"{name}, {end}", exact=True)


@pytest.mark.parametrize("data", ["sample", "real"])
def test_filters_of_a_side_count_the_parquet(request, open_page, data):
    found = request.getfixturevalue(data)
    casino = Casino(found.build)
    page = open_page(page_of(found, "casino"))
    bar(page, "strategies", "uv-part").click()
    field(page, "points", "at most").fill("14")
    uv, few = used("uv-part"), got(0, 14)
    due = casino.having(uv, few)
    assert counted(page)[0] == len(due)
    # a value that widens counts what passes the other filters
    assert shown(page, "strategies") == casino.tally(lambda side: side["used"], few)
    moods = casino.tally(lambda side: [side["satisfaction"]], uv, few)
    assert shown(page, "satisfaction") == moods
    deals = Counter("yes" if casino.sides[each]["mturk_agent_1"]["deal"] else "no" for each in due)
    assert shown(page, "deal") == deals
    said = page.locator("#count").inner_text()
    assert "in which one side used uv-part and got at most 14 points" in " ".join(said.split())
    page.get_by_label("one side must pass").uncheck()
    mixed = casino.having(uv, few, together=False)
    assert counted(page)[0] == len(mixed)
    assert state(open_page(page.url)) == state(page)
    if data == "real":
        assert (len(due), len(mixed)) == (10, 13)
    page.get_by_label("one side must pass").check()
    page.get_by_role("button", name="Clear the filters").click()
    bar(page, "satisfaction", "Extremely satisfied").click()
    search(page, "firewood")
    hits = {int(id) for id, text in casino.said if "firewood" in text.lower()}
    assert counted(page)[0] == len(hits & casino.having(content))
    assert shown(page, "strategies") == casino.tally(lambda s: s["used"], content, within=hits)


def test_a_dialogue_shows_its_values_for_the_filters_and_who_matches(real, open_page):
    casino = Casino(real.build)
    page = open_page(page_of(real, "casino", "is.strategies=uv-part&max.points=14&min.age=20"))
    texts = """() => [...document.querySelectorAll('.filtered tbody tr')].map(row =>
        [...row.cells].map(cell => [cell.textContent, !!cell.querySelector('.chosen')]))"""
    for _ in range(3):
        number = int(page.locator("#dialogue h2").inner_text().split()[-1])
        sides = casino.sides[number]
        shown = {row[0][0]: row[1:] for row in page.evaluate(texts)}
        for name, column in {
            "age": "age",
            "education": "education",
            "social value orientation": "svo",
            "points": "points_scored",
        }.items():
            assert [text for text, _ in shown[name]] == [
                str(side[column]) for side in sides.values()
            ]
        assert [set(text.split("; ")) - {""} for text, _ in shown["strategies"]] == [
            side["used"] for side in sides.values()
        ]
        assert [chosen for _, chosen in shown["points"]] == [
            side["points_scored"] <= 14 for side in sides.values()
        ]
        due = [
            name.removeprefix("mturk_").replace("_", " ")
            for name, side in sides.items()
            if "uv-part" in side["used"] and side["points_scored"] <= 14 and side["age"] >= 20
        ]
        assert page.locator(".where bdi").inner_text() == " and ".join(due)
        page.keyboard.press("j")
    page = open_page(page_of(real, "craigslist_bargains", "max.deal+price+over+list+price=0.5"))
    ratio = page.locator(".filtered .facts div", has_text="deal price over list price")
    assert float(ratio.locator(".chosen").inner_text()) <= 0.5
    assert page.locator(".where bdi").count() == 0


def test_chosen_values_are_joined_by_any_or_all(real, open_page):
    casino = Casino(real.build)
    page = open_page(page_of(real, "casino"))
    for label in ("uv-part", "no-need"):
        bar(page, "strategies", label).click()
    either = casino.having(used("uv-part", "no-need"))
    assert counted(page)[0] == len(either)
    assert "used no-need or uv-part" in page.locator("#count").inner_text()
    how = page.get_by_label("strategies: any or all of the chosen values")
    how.select_option("all")
    both = casino.having(used("uv-part"), used("no-need"))
    assert 0 < len(both) < len(either)
    assert counted(page)[0] == len(both)
    assert shown(page, "strategies") == casino.tally(
        lambda side: side["used"], used("uv-part"), used("no-need")
    )
    again = open_page(page.url)
    assert counted(again)[0] == len(both)
    assert again.get_by_label("strategies: any or all").input_value() == "all"
    page.get_by_label("one side must pass").uncheck()
    mixed = casino.having(used("uv-part"), used("no-need"), together=False)
    assert counted(page)[0] == len(mixed) > len(both)


def test_numbers_are_filtered_by_typed_ends_and_handles(real, open_page):
    casino = Casino(real.build)
    page = open_page(page_of(real, "casino"))
    field(page, "points", "at least").fill("11")
    field(page, "points", "at most").fill("13")
    assert counted(page)[0] == len(casino.having(got(11, 13)))
    title = page.locator("#dialogue h2").inner_text()
    field(page, "points", "at most").press("j")
    assert page.locator("#dialogue h2").inner_text() == title
    field(page, "points", "at most").fill("")
    assert counted(page)[0] == len(casino.having(got(11, 99)))
    handle = page.get_by_role("slider", name="points, at least")
    handle.focus()
    page.keyboard.press("ArrowRight")
    assert field(page, "points", "at least").input_value() == "12"
    assert counted(page)[0] == len(casino.having(got(12, 99)))
    page.keyboard.press("Home")
    assert counted(page)[0] == len(casino.sides)
    page.get_by_role("slider", name="points, at most").press("ArrowLeft")
    assert handle.get_attribute("aria-valuetext") == "no limit"
    at_most = int(field(page, "points", "at most").input_value())
    assert counted(page)[0] == len(casino.having(got(0, at_most)))


@pytest.mark.parametrize("name", DATASETS)
def test_every_value_narrows_to_the_count_of_its_bar(sample, open_page, name):
    page = open_page(page_of(sample, name))
    shown = bars(page)
    found = page.evaluate(
        """() => [...document.querySelectorAll('.value')].map(bar => {
            bar.click();
            const said = document.querySelector('#count strong').textContent;
            const count = said.match(/\\d+/g).reduce((sum, number) => sum + Number(number), 0);
            bar.click();
            const name = bar.closest('.filter').querySelector('h2').textContent;
            return [name, bar.querySelector('.label').textContent, count];
        })"""
    )
    assert found
    for facet, value, count in found:
        assert shown[facet][value] == count, (facet, value)


# Addresses and keys -----------------------------------------------------------------------


@pytest.mark.parametrize("place", [0, 1], ids=["http", "disk"])
def test_an_address_opens_the_same_again(sample, open_page, place):
    page = open_page(addresses(sample, "craigslist_bargains", "dialogues.html")[place])
    search(page, "$")
    bar(page, "deal", "yes").click()
    page.locator("#window a").last.click()
    due = state(page)
    assert due["marked"]
    assert due["title"]
    assert due["chosen"] == ["yes"]
    assert state(open_page(page.url)) == due


def test_back_and_forward_restore_each_state(sample, open_page):
    page = open_page(page_of(sample, "casino"))
    seen = [state(page)]
    for act in (
        lambda: bar(page, "deal", "yes").click(),
        lambda: page.locator("#window a").last.click(),
        lambda: search(page, "firewood"),
        lambda: page.locator("#window a").last.click(),
    ):
        act()
        seen.append(state(page))
    assert len({str(each) for each in seen}) == len(seen)
    for due in reversed(seen[:-1]):
        page.go_back()
        assert state(page) == due
    for due in seen[1:]:
        page.go_forward()
        assert state(page) == due


def test_shortcuts_move_search_and_go_back(sample, open_page):
    page = open_page(page_of(sample, "casino"))
    title = page.locator("#dialogue h2")
    entries = page.locator("#window a .title").all_inner_texts()

    def opened():
        return f"{title.inner_text().split()[-1]} · "

    assert entries[0].startswith(opened())
    for key, place in (("j", 1), ("j", 2), ("k", 1)):
        page.keyboard.press(key)
        assert entries[place].startswith(opened())
    page.keyboard.press("/")
    assert page.get_by_role("searchbox").evaluate("box => box === document.activeElement")
    page.keyboard.type("jk/ firewood")  # in the field, keys are text
    assert page.get_by_role("searchbox").input_value() == "jk/ firewood"
    page.keyboard.press("Control+A")
    page.keyboard.type("firewood")
    hits = counted(page)
    assert hits == expected(sample.build, "casino", "firewood")
    page.keyboard.press("Enter")
    assert "id=" in page.url
    page.keyboard.press("j")
    assert page.get_by_role("searchbox").input_value() == "firewood"
    assert title.evaluate("title => title === document.activeElement")
    assert counted(page) == hits
    page.keyboard.press("/")
    page.keyboard.press("Escape")
    assert page.locator("#window a").first.evaluate("link => link === document.activeElement")
    page.keyboard.press("Enter")
    assert "id=" in page.url
    page.keyboard.press("Escape")
    assert "id=" not in page.url
    assert counted(page) == hits
    page.keyboard.press("Escape")
    assert page.get_by_role("searchbox").input_value() == ""
    assert counted(page)[0] == len(entries)


def test_an_address_marks_a_turn_and_a_turn_gives_its_address_and_quote(sample, open_page):
    page = open_page(page_of(sample, "casino"))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("#window a").last.click()
    turn = page.locator("#dialogue .turn").nth(2)
    turn.hover()
    turn.get_by_role("button", name="Copy link").click()
    turn.get_by_role("button", name="Copied").wait_for()
    link = page.evaluate("navigator.clipboard.readText()")
    turn.get_by_role("button", name="Copy quote").click()
    page.wait_for_function(f"async () => await navigator.clipboard.readText() !== {link!r}")
    quote = page.evaluate("navigator.clipboard.readText()")
    built = find_folder(sample.build, get("casino"))
    title = page.locator("#dialogue h2").inner_text()
    for part in (f"“{turn.locator('.text').inner_text()}”", f", turn 2 of {title}, ", "@inproc"):
        assert part in quote
    assert f"casino {built.version}" in quote
    assert f"version={built.version}" in link
    again = open_page(link)
    assert again.locator("#dialogue h2").inner_text() == title
    assert again.title().startswith(f"{title} · ")
    marked = again.locator("#dialogue .turn[aria-current]")
    assert marked.locator(".text").inner_text() == turn.locator(".text").inner_text()
    assert not again.locator("#unknown").is_visible()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("id=no such one", "no dialogue “no such one”"),
        ("id=ID&turn=99", "no turn “99”"),
        ("id=ID&turn=length", "no turn “length”"),
        ("is.mood=good", "no filter “mood”"),
        ("min.points=1&is.deal=perhaps", "no “perhaps” in “deal”"),
        ("min.points=few", "“points” takes numbers"),
        ("is.points=9", "no “9” in “points”"),
        ("min.deal=9", "“deal” has no numbers"),
        ("id=ID&version=0.0.1", "of version 0.0.1"),
    ],
)
def test_an_address_of_another_build_says_so(sample, open_page, asked, said):
    number = sorted(ids(sample.build, "casino"))[0]
    page = open_page(page_of(sample, "casino", f"{asked}").replace("ID", number))
    assert said in page.locator("#unknown").inner_text()
    assert (counted(page)[0] == 0) == ("is." in asked or "min." in asked)
    opened = page.locator("#dialogue h2").all_inner_texts()
    assert [title.split()[-1] for title in opened] == ([number] if "=ID" in asked else [])
    page.get_by_role("button", name="Clear the filters").click(force=True)
    page.locator("#window a").first.click()
    assert not page.locator("#unknown").is_visible()


def test_a_print_holds_the_whole_dialogue(real, open_page):
    longest = max(
        Counter(id for id, _ in utterances(real.build, "cosrec")).items(), key=lambda n: n[1]
    )
    page = open_page(page_of(real, "cosrec", f"id={longest[0]}"))
    page.emulate_media(media="print")
    places = page.locator("#dialogue .turn").evaluate_all(
        "turns => turns.map(turn => turn.getBoundingClientRect().bottom)"
    )
    assert len(places) == longest[1]
    assert max(places) <= page.evaluate("document.documentElement.scrollHeight")
    assert not page.locator("#list").is_visible()
    assert page.evaluate("document.querySelector('#dialogue').scrollHeight") == page.evaluate(
        "document.querySelector('#dialogue').clientHeight"
    )


def test_a_print_without_a_chosen_dialogue_holds_the_open_one(sample, open_page):
    page = open_page(page_of(sample, "casino"))
    page.pdf()  # as wide as paper
    due = state(page)["title"]
    assert due
    page.set_viewport_size({"width": 700, "height": 900})
    page.emulate_media(media="print")
    page.locator("#dialogue .turn").nth(2).wait_for()
    assert page.locator("#dialogue h2").all_inner_texts() == due


def test_clearing_the_filters_moves_nothing(sample, open_page):
    page = open_page(page_of(sample, "casino"))
    clear = page.get_by_role("button", name="Clear the filters")
    place = bar(page, "deal", "yes").bounding_box()
    assert clear.is_disabled()
    bar(page, "deal", "yes").click()
    assert bar(page, "deal", "yes").bounding_box() == place
    clear.click()
    assert bar(page, "deal", "yes").bounding_box() == place
    assert page.locator(".value[aria-pressed=true]").count() == 0


def test_a_skip_link_leads_to_the_hits(sample, open_page):
    page = open_page(page_of(sample, "casino", "q=firewood"))
    found = counted(page)
    for _ in range(2):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.locator("#window a").first.evaluate("link => link === document.activeElement")
    assert counted(page) == found


def test_the_keyboard_alone_reaches_the_code_and_a_dialogue(sample, open_page):
    page = open_page(addresses(sample, "index.html")[0])

    def focused():
        return page.evaluate(
            """() => {
                const at = document.activeElement, box = at.getBoundingClientRect();
                const style = getComputedStyle(at);
                return {text: at.innerText ?? '', id: at.id, name: at.className,
                    seen: box.bottom > 0 && box.top < innerHeight && box.width > 0,
                    ring: style.outlineStyle !== 'none' || style.boxShadow !== 'none'};
            }"""
        )

    def tab_to(wanted):
        for _ in range(200):
            page.keyboard.press("Tab")
            at = focused()
            assert at["seen"], at
            assert at["ring"], at
            if wanted(at):
                return
        raise AssertionError("Tab does not lead there")

    tab_to(lambda at: at["text"].startswith("Read the dialogues") and "CaSiNo" in at["text"])
    page.keyboard.press("Enter")
    page.wait_for_url("**/casino/dialogues.html")
    loaded(page)
    tab_to(lambda at: at["id"] == "query")
    page.keyboard.type("firewood")
    tab_to(lambda at: at["name"].startswith("value") and at["text"].startswith("uv-part"))
    page.keyboard.press("Space")
    assert page.locator(".value[aria-pressed=true] .label").all_inner_texts() == ["uv-part"]
    tab_to(lambda at: at["id"] == "load")
    page.keyboard.press("Enter")
    assert page.locator("#code").is_visible()
    page.keyboard.press("Escape")
    assert page.locator("#code").is_hidden()
    tab_to(lambda at: at["name"].startswith("entry"))
    page.keyboard.press("Enter")
    assert "id=" in page.url
    assert page.locator("#dialogue h2").evaluate("title => title === document.activeElement")
    assert page.locator("#dialogue .note.chosen", has_text="uv-part").count()


@pytest.mark.parametrize("name", DATASETS)
def test_the_list_shows_whole_titles(sample, open_page, name):
    page = open_page(page_of(sample, name))
    for width in (1600, 900):
        page.set_viewport_size({"width": width, "height": 900})
        entries = page.locator("#window a").evaluate_all(
            """links => links.map(link => {
                const [title, text] = link.querySelectorAll('.title, .excerpt');
                return [title.scrollHeight > title.clientHeight + 3
                        || title.scrollWidth > title.clientWidth,
                    link.title === title.textContent.slice(0, 200),
                    link.getBoundingClientRect().bottom - text.getBoundingClientRect().bottom];
            })"""
        )
        assert width == 900 or not any(cut for cut, *_ in entries)
        assert all(told and below >= 0 for _, told, below in entries)


@pytest.mark.parametrize("reach", ["pointer", "keyboard"])
def test_every_width_reaches_a_filter(sample, open_page, reach):
    page = open_page("about:blank")
    value, summary = page.locator(".value").first, page.locator("#filters-box > summary")
    for width in range(600, 1601, 100):
        page.set_viewport_size({"width": width, "height": 700})
        visit(page, page_of(sample, "casino"))
        if reach == "pointer":
            if summary.is_visible():
                summary.click()
            box = value.bounding_box()
            page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        else:
            page.get_by_role("searchbox").focus()
            for _ in range(5):
                page.keyboard.press("Tab")
                if page.evaluate("document.activeElement.matches('summary, .value')"):
                    page.keyboard.press("Space")
        assert value.get_attribute("aria-pressed") == "true", width
        assert 0 <= value.bounding_box()["y"] <= 670, width  # in sight without scrolling
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width


@pytest.mark.parametrize("place", [0, 1], ids=["http", "disk"])
def test_a_narrow_screen_shows_a_dialogue_and_goes_back(sample, open_page, place):
    page = open_page(addresses(sample, "duo", "dialogues.html")[place])
    page.set_viewport_size(NARROW)
    back = page.get_by_role("button", name="Back to the list")
    hit = page.locator("#window a").nth(1)
    entry = hit.locator(".title").inner_text()
    hit.click()
    opened = page.locator("#dialogue h2", has_text=entry.partition(" · ")[0])
    opened.wait_for()
    title = opened.inner_text()
    assert page.locator("#dialogue .turn").first.is_visible()
    assert not page.get_by_role("searchbox").is_visible()
    back.click()
    assert page.get_by_role("searchbox").is_visible()
    assert not page.locator("#dialogue .turn").first.is_visible()
    page.go_back()
    assert page.locator("#dialogue h2").inner_text() == title


def test_the_figures_of_one_verdict_stand_alone(real, open_page):
    page = open_page(addresses(real, "casino", "index.html#figures")[0])
    rows = page.locator("tr[data-verdict]:visible")
    verdicts = Counter(rows.evaluate_all("rows => rows.map(row => row.dataset.verdict)"))
    assert verdicts["differs"]
    for verdict, number in verdicts.items():
        page.get_by_label("Verdict").select_option(verdict)
        assert (
            rows.evaluate_all("rows => rows.map(row => row.dataset.verdict)") == [verdict] * number
        )
    page.get_by_label("Verdict").select_option("")
    assert rows.count() == verdicts.total()


@pytest.mark.parametrize("name", DATASETS)
def test_the_page_of_a_dataset_shows_one_section_at_a_time(sample, open_page, name):
    page = open_page(addresses(sample, name, "index.html")[0])
    open_ = page.locator(".about > section:visible")
    links = page.get_by_role("navigation", name="Sections").get_by_role("link")
    assert links.all_inner_texts()[:2] == ["Overview", "Charts"]
    for link in links.all():
        link.click()
        page.locator(page.url[page.url.index("#") :]).wait_for()
        assert open_.count() == 1
        assert page.evaluate("document.scrollingElement.scrollHeight") < 9000
    page.evaluate("location.hash = 'card-citation'")  # as a link within the card
    page.locator("#card-citation").wait_for()
    page.emulate_media(media="print")
    assert open_.count() == links.count()


@pytest.mark.parametrize("name", DATASETS)
def test_every_mark_opens_its_dialogues(real, open_page, name):
    page = open_page(addresses(real, name, "index.html#charts")[0])
    assert page.locator("#charts svg.chart").count() > 5
    marks = page.evaluate(
        """() => [...document.querySelectorAll('.chart a')].map(mark => [
            mark.getAttribute('href').split('#')[1], mark.querySelector('title').textContent])"""
    )
    links = page.locator("#charts tbody a").evaluate_all("all => all.map(a => a.hash.slice(1))")
    assert set(links) == {fragment for fragment, _ in marks}
    page = open_page(page_of(real, name))
    for fragment, said in marks[:: 1 + len(marks) // 60]:
        found = page.evaluate(
            """async (fragment) => {
                location.hash = fragment;
                await new Promise(done => setTimeout(done, 30));
                const hits = [...page.hits.slice(0, page.count)];
                const sum = (count) => hits.reduce((all, number) => all + count(number), 0);
                const queries = page.beside.get('queries') ?? 0;
                const labels = page.chosenLabels();
                const own = page.chosen.filter(filter => filter.sides);
                const bits = mask => mask.toString(2).replaceAll('0', '').length;
                return {
                    unknown: document.getElementById('unknown').innerText,
                    title: document.querySelector('#dialogue h2')?.textContent ?? '',
                    queries, dialogues: page.count - queries,
                    sides: own.length && sum(number =>
                        bits(own.reduce((mask, filter) => mask & filter.passing(number), EVERY))),
                    turns: sum(number => (page.dialogue(number).turns ?? []).filter(
                        turn => turn.notes?.some(note => labels.has(note.text))).length),
                };
            }""",
            fragment,
        )
        assert not found["unknown"], fragment
        if fragment.startswith("id="):
            assert unquote_plus(fragment[3:]) in found["title"]
        else:
            number, counted = said.rpartition(": ")[2].split()
            assert found[counted] == int(number.replace(",", "")), (fragment, said)


def test_judged_queries_stand_in_their_conversation(real, open_page):
    qrels = Counter(
        (row["query_id"], row["relevance"]) for row in table(real.build, "cosrec", "qrels")
    )
    page = open_page(page_of(real, "cosrec"))
    queries = table(real.build, "cosrec", "queries")
    for query in queries[::60]:
        fragment = f"id={quote_plus(query['query_id'])}"
        page.evaluate("fragment => { location.hash = fragment; }", fragment)
        own = page.locator(".judged [aria-current]")
        own.wait_for()
        assert query["query_id"] in page.locator("#dialogue h2").inner_text()
        assert page.locator(".context .turn").count() == query["turn"] + 1
        same = [each for each in queries if each["intent_id"] == query["intent_id"]]
        users = [each["user_index"] for each in same]
        names = [f"user {user}" if user is not None else "every user" for user in users]
        assert page.locator(".judged h4").all_inner_texts() == names
        column = page.locator(".pools > div").filter(has=page.locator("[aria-current]"))
        shown = column.locator("summary").all_inner_texts()
        due = [qrels[query["query_id"], grade] for grade in (2, 1, 0)]
        assert [int(text.rpartition(" ")[2]) for text in shown] == due
        page.get_by_role("link", name="The whole conversation").click()
        page.locator(".turns > .cards-of").first.wait_for()
        assert page.locator("#dialogue h2").inner_text() == query["dialogue_id"]
        assert (
            page.locator("#dialogue .after").inner_text().count("upstream does not document") == 1
        )
        back = page.locator(f".judged a[href*='{quote_plus(query['query_id'])}']")
        back.first.click()
        own.wait_for()
        assert query["query_id"] in page.locator("#dialogue h2").inner_text()


def test_products_show_their_titles_in_a_catalogue(served, sample_build, tmp_path, open_page):
    (tmp_path / "products").mkdir()
    titles = {"parent_asin": ["b0invent13", "B0OTHER"], "title": ["<b>Boots</b>", "Other"]}
    pq.write_table(pa.table(titles), tmp_path / "products" / "Shoes.parquet")
    folder = find_folder(sample_build, get("cosrec"))
    site.write_site([folder], served[0] / "titled", catalogue=tmp_path)
    page = open_page(f"{served[1]}titled/cosrec/dialogues.html#id=CoSRec-Curated_9002_1_0%231")
    said = page.locator(".documents li").all_text_contents()
    assert "b0invent13 <b>Boots</b>" in said
    assert "B0INVENT11" in said


# Loading ----------------------------------------------------------------------------------


def rows_of(code):
    """Run code of the page, and return the first column of its rows."""
    import datasets

    scope = {}
    exec(code, scope)
    found = scope["rows"]
    parts = found.values() if isinstance(found, dict) else [found]
    assert all(isinstance(part, datasets.Dataset) for part in parts)
    return [row[part.column_names[0]] for part in parts for row in part]


@pytest.mark.parametrize("name", DATASETS)
def test_the_code_loads_exactly_the_hits(sample, open_page, tmp_path, monkeypatch, name):
    (tmp_path / "build").symlink_to(sample.build)
    monkeypatch.chdir(tmp_path)
    query = {"casino": "firewood", "craigslist_bargains": "$", "cosrec": "bread", "duo": "i"}[name]
    page = open_page(page_of(sample, name))
    every = ids(sample.build, name)
    texts = utterances(sample.build, name) + formulations(sample.build, name)
    due = {id for id, text in texts if query in text.lower()}
    assert due
    assert sorted(map(str, rows_of(code_of(page)))) == sorted(every)
    search(page, query)
    assert sorted(map(str, rows_of(code_of(page)))) == sorted(due)
    page.locator("#window a").last.click()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Use these").click()
    page.locator("#code-one-part").get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    page.keyboard.press("Escape")
    assert copied == code_of(page, "#code-one")
    (one,) = rows_of(copied)
    assert str(one) in due
    assert str(one) in page.locator("#dialogue h2").inner_text()


def saved(page, folder):
    """Save each file of the selection, and return the text of each by its name."""
    page.get_by_role("button", name="Use these").click()
    found = {}
    for button in page.locator("#code-files button").all():
        with page.expect_download() as download:
            button.click()
        path = folder / download.value.suggested_filename
        download.value.save_as(path)
        is_csv = path.suffix == ".csv"
        assert path.read_bytes().startswith(codecs.BOM_UTF8) == is_csv
        with path.open(encoding="utf-8-sig" if is_csv else "utf-8", newline="") as file:
            found[button.inner_text()] = file.read()
    page.keyboard.press("Escape")
    return found


def records(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("name", DATASETS)
def test_the_tables_of_a_selection_are_those_of_the_configs(sample, open_page, tmp_path, name):
    built = find_folder(sample.build, get(name))
    some = {"craigslist_bargains": "is.deal=yes", "duo": "is.setting=ed"}
    page = open_page(page_of(sample, name, some.get(name, "max.turns=12")))
    found = saved(page, tmp_path)
    chosen = found["ids.txt"].split()
    assert 0 < len(chosen) < len(ids(sample.build, name))
    export(built, "csv", tmp_path / "csv", chosen)
    for config in getattr(built.dataset.transcript, "TABLES", {}):
        head, *rows = csv.reader(io.StringIO(found[f"{config}.csv"], newline=""))
        due = []
        for split in built.splits(config):
            path = tmp_path / "csv" / f"{config}-{split}.csv"
            with path.open(newline="", encoding="utf-8-sig") as file:
                columns, *lines = csv.reader(file)
            assert head == ["split", *columns]
            due += [[split, *line] for line in lines]
        assert rows == due
    listed = records(found["dialogues.csv"])
    assert [row["id"] for row in listed] == chosen
    assert ("sides.csv" in found) == (name in ("casino", "craigslist_bargains"))
    if name == "casino":
        splits = {s: set(map(str, built.ids("official_split", s))) for s in ("train", "test")}
        for row in listed:
            assert all((row["official_split"] == s) == (row["id"] in splits[s]) for s in splits)
    if name == "craigslist_bargains":
        outcomes = {row["dialogue_id"]: row for row in table(sample.build, name, "outcomes")}
        for row in listed:
            for column in ("list price", "deal price"):
                stated = outcomes[row["id"]][column.replace(" ", "_")]
                assert (float(row[column]) if row[column] else None) == stated


def test_files_python_and_command_of_a_selection(real, open_page, tmp_path, monkeypatch):
    casino, address = Casino(real.build), addresses(real, "casino", "dialogues.html")[1]
    due = sorted(casino.having(used("uv-part"), got(0, 14)))
    assert len(due) == 10
    page = open_page(f"{address}#is.strategies=uv-part&max.points=14")
    assert page.get_by_role("button", name="Use these 10", exact=True).is_visible()
    found = saved(page, tmp_path)
    assert [int(row["id"]) for row in records(found["dialogues.csv"])] == due
    lines = [json.loads(line) for line in found["dialogues.jsonl"].splitlines()]
    assert [line["id"] for line in lines] == due
    people = [(line["id"], one) for line in lines for one in line["sides"]]
    for id, one in people:
        side = casino.sides[id]["mturk_" + one["side"].replace(" ", "_")]
        assert (set(one["strategies"]), one["age"]) == (side["used"], side["age"])
    one = {id for id, one in people if "uv-part" in one["strategies"] and one["points"] < 15}
    assert one == set(due)
    (tmp_path / "build").symlink_to(real.build)
    monkeypatch.chdir(tmp_path)
    code = code_of(page)
    assert "one side used uv-part and got at most 14 points" in code
    assert sorted(rows_of(code)) == due
    page.get_by_label("one side must pass").uncheck()
    assert page.get_by_role("button", name="Use these 13", exact=True).is_visible()
    page = open_page(f"{address}#is.strategies=uv-part")
    every = sorted(casino.having(used("uv-part")))
    assert len(every) == 89
    saved(page, tmp_path)
    code = code_of(page)
    assert sorted(rows_of(code)) == every
    done = subprocess.run(
        [sys.executable, "-m", *code_of(page, "#code-command").split()], capture_output=True
    )
    assert done.returncode == 0, done.stderr
    with (tmp_path / "casino-csv" / "dialogues-train.csv").open(newline="") as file:
        assert sorted(int(row["dialogue_id"]) for row in csv.DictReader(file)) == every


@pytest.mark.parametrize(
    ("name", "chosen"),
    [
        ("casino", "is.strategies=uv-part&is.strategies=no-need"),
        ("casino", "is.strategies=uv-part&is.strategies=no-need&all=strategies"),
        ("casino", "is.strategies=uv-part&is.strategies=no-need&all=strategies&apart=1"),
        ("casino", "min.points=21.5&max.age=30&is.deal=yes&q=fire%20%22need%20the%22"),
        ("casino", "q=submits+cold&around=1"),
        ("craigslist_bargains", "q=offers+bike&around=1&is.split=test"),
        ("cosrec", "is.split=curated/curated&q=grade&around=1"),
        ("duo", "q=I&apart=1"),
    ],
)
def test_the_python_of_a_selection(real, open_page, tmp_path, monkeypatch, name, chosen):
    (tmp_path / "build").symlink_to(real.build)
    monkeypatch.chdir(tmp_path)
    page = open_page(page_of(real, name, f"{chosen}"))
    due = page.evaluate("new Selection(page).ids()")
    assert 0 < len(due) < len(ids(real.build, name))
    scope = {"parley": parley}
    exec(page.evaluate("new Selection(page).selecting()"), scope)
    assert scope["ids"] == set(due)


def test_the_python_of_a_published_build(sample, open_page, tmp_path, monkeypatch):
    page = open_page(page_of(sample, "duo", "is.setting=ed"))
    page.evaluate("page.index.load = { path: 'org/duo', revision: 'a1' }")
    asked = []

    def download(*names, local_dir, **more):
        asked.append((names, more))
        shutil.copytree(sample.build / "duo", local_dir)

    monkeypatch.chdir(tmp_path)
    hub = SimpleNamespace(snapshot_download=download)
    scope = {"parley": parley, "huggingface_hub": hub}
    exec(page.evaluate("new Selection(page).selecting()"), scope)
    assert asked == [(("org/duo",), {"repo_type": "dataset", "revision": "a1"})]
    assert scope["ids"] == set(page.evaluate("new Selection(page).ids()"))
    assert ast.parse(code_of(page)).body[0].names[0].name == "huggingface_hub"


def test_no_cell_of_a_hostile_selection_is_a_formula(attacked, open_page, tmp_path):
    page = open_page(page_of(attacked, "hostile"))
    csv.field_size_limit(2_000_000)
    for name, text in saved(page, tmp_path).items():
        if name.endswith(".csv"):
            for row in [*csv.reader(io.StringIO(text, newline=""))]:
                cells = [each for each in row if not re.fullmatch(r"-?[\d.]+", each)]
                assert not [cell for cell in cells if cell.startswith(tuple("=+-@\t\r"))]
    for text in hostile.FORMULAS:
        (row,) = csv.reader(io.StringIO(page.evaluate("cell", text), newline=""))
        assert row == [f"'{text}"]
    assert page.evaluate("cell(-1)") == "-1"  # a number is no text


def code_of(page, part="#code-all"):
    """Return the code of the page."""
    page.get_by_role("button", name="Use these").click()
    text = page.locator(part).text_content()
    page.keyboard.press("Escape")
    return text


def test_the_code_holds_every_id_as_a_value(served, sample_build, tmp_path, open_page):
    """In an unverified build, one part of a split has numeric ids, another text; all are text."""
    folder = shutil.copytree(sample_build / "casino", tmp_path / "casino") / "dialogues"
    (file,) = folder.glob("*.parquet")
    table = pq.read_table(file)
    first = table["dialogue_id"][0].as_py()
    texts = [
        '__import__("os").system("exit 1")',
        "1}) or exit({1",
        "\\",
        '"',
        "'\n",
        "😀\u2028",
        "1",
    ]
    odd = pa.array([*texts, str(first), texts[0]])
    rows = table.take([0] * len(odd)).set_column(0, "dialogue_id", odd)
    shards = [folder / f"train-0000{number}-of-00002.parquet" for number in range(2)]
    file.rename(shards[0])
    pq.write_table(rows, shards[1])
    record = tmp_path / "casino" / "provenance.json"
    provenance = json.loads(record.read_text(encoding="utf-8"))
    recorded = provenance["configs"]["dialogues"]["train"]["files"]
    recorded[:] = [{**recorded[0], "path": f"dialogues/{shard.name}"} for shard in shards]
    record.write_text(json.dumps(provenance), encoding="utf-8")
    page = open_page(page_of(written(served, tmp_path, "ids", ["casino"]), "casino"))
    search(page, table["chat_logs"][0][0]["text"].as_py())
    assert counted(page)[0] == 1 + len(odd)
    links = [link.get_attribute("href") for link in page.locator("#window a").all()]
    assert len(set(links)) == len(links) > 5
    found = []
    for link in links:
        page.goto(page.url.partition("#")[0] + link)
        assert page.locator("#window a.open").get_attribute("href") == link
        (value,) = (
            n for n in ast.walk(ast.parse(code_of(page, "#code-one"))) if type(n) is ast.Set
        )
        found += map(ast.literal_eval, value.elts)
    assert found == [str(first), *odd.to_pylist()][: len(found)]


# Hostile text ---------------------------------------------------------------------


def test_hostile_text_cannot_act(attacked, open_page):
    parts = (("index.html",), ("hostile", "index.html"), ("hostile", "dialogues.html"))
    for address in [address for part in parts for address in addresses(attacked, *part)]:
        page = open_page(address)
        assert page.locator("main").is_visible()
        made = page.evaluate(
            """() => ({
                acted: 'acted' in window,
                tags: [...document.querySelectorAll(
                    'iframe, object, embed, base, form[action], img, main style, main script')]
                    .map(tag => tag.outerHTML.slice(0, 80)),
                handlers: [...document.querySelectorAll('*')].flatMap(tag => [...tag.attributes])
                    .filter(a => a.name.startsWith('on') || a.name === 'style' && !a.ownerElement
                        .closest('#filters, #window, .stack')).map(a => a.name),
                links: [...document.querySelectorAll('[href], [src]')]
                    .map(tag => tag.getAttribute('href') ?? tag.getAttribute('src'))
                    .filter(url => /^\\s*(?!https?:)[a-z]+:/i.test(url)),
            })"""
        )
        assert made == {"acted": False, "tags": [], "handlers": [], "links": []}, address
        if not address.endswith("dialogues.html"):
            text = page.locator("main").text_content()
            for attack in (hostile.ATTACKS[0], hostile.ATTACKS[2], hostile.ATTACKS[3]):
                assert attack in text, address
        page.close()


def test_a_page_of_another_origin_cannot_read_the_site(sample, browser, tmp_path):
    from parley.reading.site.serve import serving

    data = f"{sample.http}casino/data/index.js"
    (tmp_path / "take.js").write_text("var got = 0; var parley = {index: text => (got = text)};")
    (tmp_path / "index.html").write_text(
        f"<script src=take.js></script><script src='{data}'></script>"
        f"<iframe src='{sample.http}index.html'></iframe><a href='{sample.http}index.html'>here</a>"
    )
    with serving(tmp_path) as elsewhere:
        page = browser.new_page()
        page.goto(elsewhere)
        assert page.evaluate("got") == 0
        (frame,) = page.frames[1:]
        assert "Dialogue datasets" not in frame.content()
        page.get_by_role("link", name="here").click()
        assert page.locator("h1").inner_text() == "Dialogue datasets to read"
        page.close()


def test_attacks_are_shown_as_text(attacked, open_page):
    page = open_page(page_of(attacked, "hostile"))
    assert counted(page) == (len(hostile.ATTACKS), 2 * len(hostile.ATTACKS), 0)
    shown = page.evaluate(
        """async () => {
            const found = [];
            document.dispatchEvent(new KeyboardEvent('keydown', {key: 'k', bubbles: true}));
            for (let n = 0; n < 100; n++) {
                const pane = document.getElementById('dialogue');
                found.push({
                    title: pane.querySelector('h2').textContent,
                    texts: [...pane.querySelectorAll('.turn .text')].map(e => e.textContent),
                    notes: [...pane.querySelectorAll('.note')].map(e => e.textContent),
                    labels: [...pane.querySelectorAll('[title], [aria-label]')].map(
                        e => e.title + e.getAttribute('aria-label')),
                });
                const next = pane.querySelector('.step[aria-label="Next dialogue"]');
                if (next.disabled) break;
                next.click();
            }
            return found;
        }"""
    )
    assert len(shown) == len(hostile.ATTACKS)
    assert not page.evaluate("'acted' in window")
    for attack, found in zip(hostile.ATTACKS, shown, strict=True):
        visible = as_shown(attack)
        assert found["title"] == (visible or "(no title)")
        assert found["texts"] == [visible] * 3
        assert all(note.startswith(visible) for note in found["notes"])
        for label in found["labels"]:
            assert plain(label) == label.replace("\t", "\\t")
            assert len(label) < 500
    for attack in hostile.ATTACKS[:5:2]:
        bar(page, attack, attack).click()
        said = page.locator("#count .said").text_content()
        assert attack in said
        assert state(open_page(page.url)) == state(page)
        page.locator(".turn").first.get_by_role("button", name="Copy quote").click(force=True)
        bar(page, attack, attack).click()
    assert not page.evaluate("'acted' in window")
    for attack in [*hostile.ATTACKS[:20:3], "ww"]:
        search(page, attack)
        assert counted(page)[0] >= 1, attack


def as_shown(text):
    """Return text as shown: shortened, with control characters as numbers."""
    shown = "".join(
        sign if sign == "\t" or plain(sign) == sign else f"U+{ord(sign):04X}"
        for sign in text[:20_000]
    )
    return shown + (f"… and {len(text) - 20_000:,} more characters" if text[20_000:] else "")


# Accessibility -----------------------------------------------------------------------


def pages(found):
    """Return an address of each kind of page, one with search, filter and open dialogue."""
    (casino,) = {str(row["dialogue_id"]) for row in table(found.build, "casino", "strategies")[:1]}
    opened = f"#q=firewood&is.deal=yes&id={casino}"
    kinds = [("index.html",), ("casino", f"dialogues.html{opened}")]
    kinds += [
        ("casino", f"index.html#{part}") for part in ("overview", "charts", "configs", "figures")
    ]
    rest = [(name, "dialogues.html") for name in DATASETS if name != "casino"]
    return [found.http + "/".join(parts) for parts in [*kinds, *rest, ("casino", "dialogues.html")]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])
def test_pages_meet_the_accessibility_rules(sample, open_page, size, scheme):
    rules = {
        "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]},
        "rules": {"region": {"enabled": True}},
        "resultTypes": ["violations"],
    }
    page = open_page("about:blank")
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=scheme)
    for address in pages(sample):
        visit(page, address)
        page.evaluate(  # 30 rows of a table are enough; the rest takes a minute
            "() => document.querySelectorAll('tr:nth-child(n + 31)').forEach(row => row.remove())"
        )
        found = axe.Axe().run(page, options=rules)
        assert found.violations_count == 0, f"{address}\n{found.generate_report()}"


def test_pages_fit_a_narrow_screen(sample, attacked, open_page):
    page = open_page("about:blank")
    page.set_viewport_size(NARROW)

    def width():
        return page.evaluate("document.scrollingElement.scrollWidth")

    for address in pages(sample):
        visit(page, address)
        assert width() <= NARROW["width"], address
    page.set_viewport_size({"width": 320, "height": 256})  # a desktop at 400% zoom
    visit(page, pages(sample)[-1])
    assert width() <= NARROW["width"]
    page.locator("#window a").last.click()
    assert page.locator("#dialogue .turn").first.is_visible()
    page.set_viewport_size(NARROW)
    for parts in (("index.html",), ("hostile", "index.html"), ("hostile", "dialogues.html")):
        visit(page, addresses(attacked, *parts)[0])
        assert width() <= NARROW["width"], parts
    page.locator("#list").evaluate("list => list.scrollTop = list.scrollHeight")
    page.locator("#window a", has_text="wwwww").last.click()
    assert page.locator("#dialogue .text").first.inner_text().startswith("wwwww")
    assert width() <= NARROW["width"]


def test_no_word_is_broken_inside(real, open_page):
    page = open_page("about:blank")
    for size in ({"width": 390, "height": 844}, WIDE):
        page.set_viewport_size(size)
        for address in pages(real):
            visit(page, address)
            broken = page.evaluate(
                """() => {
                    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
                    const found = new Set(), range = document.createRange();
                    while (texts.nextNode())
                        for (const word of texts.currentNode.data.matchAll(/[a-z0-9_]{2,25}/gi)) {
                            range.setStart(texts.currentNode, word.index);
                            range.setEnd(texts.currentNode, word.index + word[0].length);
                            const tops = [...range.getClientRects()].map(box => box.top);
                            if (tops.some(top => top - tops[0] > 3)) found.add(word[0]);
                        }
                    return [...found];
                }"""
            )
            assert not broken, address


def visit(page, address):
    """Open an address, even if only its fragment is new."""
    page.goto("about:blank")
    page.goto(address)
    if "dialogues.html" in address:
        loaded(page)
