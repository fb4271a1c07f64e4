"""The page in a browser, as journeys: search, filters, addresses, keys, files, hostile text."""

import ast
import codecs
import csv
import functools
import io
import itertools
import json
import random
import re
import shutil
import subprocess
import sys
import unicodedata
from collections import Counter
from types import SimpleNamespace
from urllib.parse import quote_plus, unquote_plus, urlencode

import hostile_dataset
import jsonlines
import numbered_dataset
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from build_changes import reseal
from hostile_dataset import ATTACKS, FORMULAS

import parley
from parley.base.console import plain
from parley.builds.build import build
from parley.builds.built_folder import find_folder
from parley.builds.sources import open_source
from parley.declaration.registry import discover, get
from parley.read.dialogues import places
from parley.read.export.export import export

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
site = pytest.importorskip("parley.page.site", reason="the extra `site` is not installed")
data = pytest.importorskip("parley.page.page_data")
serve = pytest.importorskip("parley.page.serve")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
NEEDS_CHROMIUM = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
pytestmark = [pytest.mark.slow, NEEDS_CHROMIUM]

WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 320, "height": 640}
DATASETS = list(discover())
DATA = pytest.mark.parametrize("data", ["sample", "real"])


# Sites and browser ------------------------------------------------


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as tool:
        chromium = tool.chromium.launch(executable_path=CHROMIUM)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A served folder for sites, and its address."""
    root = tmp_path_factory.mktemp("served")
    with serve.serving(root) as address:
        yield root, address


def written(served, build, name, selection=data.ALL, of="*"):
    """Write the page of builds in a folder; return the folders of both and the address."""
    folders = [find_folder(build, get(path.name)) for path in sorted(build.glob(f"{of}/"))]
    place = served[0] / name / "of some" / "site"
    place.parent.mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:  # another test may publish these builds
        patch.setenv("PARLEY_CACHE", str(served[0] / "no cache"))
        site.write_site(folders, place, selection=selection)
    return SimpleNamespace(build=build, folder=place, http=f"{served[1]}{name}/of%20some/site/")


@pytest.fixture(scope="module")
def sample(served, sample_build):
    return written(served, sample_build, "sample")


@pytest.fixture(scope="module")
def real(served, real_build):
    return written(served, real_build, "real")


@pytest.fixture(scope="module")
def attacked(served, tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PARLEY_DATASETS", str(hostile_dataset.write(folder)))
        build(open_source(get("hostile"), None, sample=True), folder / "build")
        hostile_dataset.spoil(folder / "build" / "hostile" / "provenance.json")
        yield written(served, folder / "build", "hostile")


@pytest.fixture
def open_page(browser, served):
    """A function that opens an address; fail on foreign requests, errors and dialogs."""
    context = browser.new_context(viewport=WIDE)
    context.set_default_timeout(20_000)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
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
        visit(page, address)
        return page

    yield opened
    context.close()
    assert not wrong


def visit(page, address):
    """Open an address, even if only its fragment is new, and wait until all text is searchable."""
    page.goto("about:blank")
    page.goto(address)
    if "dialogues.html" in address:
        page.wait_for_selector("#progress", state="hidden")


def page_of(found, name, state=""):
    """Return the address of a state of a dataset's page of dialogues."""
    return f"{found.http}{name}/dialogues.html" + (f"#{state}" if state else "")


# The page ----------------------------------------------------------------------


def counted(page):
    """Return the numbers of dialogues, utterances and queries found on the page."""
    text = page.locator("#count strong").inner_text()
    found = re.fullmatch(r"([\d,]+) dialogues?(?:, ([\d,]+) queries)?", text)
    text = page.locator("#count > :last-child").inner_text().strip()
    said = re.fullmatch(r"(?:([1-9][\d,]*) utterances?)?", text)
    assert found, page.locator("#count").inner_text()
    assert said, text
    numbers = found[1], said[1], found[2]
    return tuple(int((number or "0").replace(",", "")) for number in numbers)


def bars(page):
    """Return filter -> value -> number of dialogues."""
    return page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll('.filter')].map(filter => [
            filter.querySelector('h2').textContent,
            Object.fromEntries([...filter.querySelectorAll('.value')].map(bar => [
                bar.querySelector('.label').textContent,
                parseInt(bar.querySelector('.number').textContent.replaceAll(',', '')),
            ]))]))"""
    )


def shown(page, name):
    return {value: count for value, count in bars(page)[name].items() if count}


def bar(page, name, value):
    heading = page.get_by_role("heading", name=name, exact=True)
    label = page.locator(".label", has_text=re.compile(f"^{re.escape(value)}$"))
    return page.locator(".filter").filter(has=heading).locator(".value").filter(has=label)


def field(page, name, end):
    return page.get_by_role("spinbutton", name=f"{name}, {end}", exact=True)


def search(page, query):
    page.get_by_role("searchbox").fill(query)


def is_focused(locator):
    return locator.evaluate("element => element === document.activeElement")


def state(page):
    """Return the visible state of the page of dialogues."""
    return {
        "query": page.get_by_role("searchbox").input_value(),
        "count": counted(page),
        "bars": bars(page),
        "chosen": page.locator(".value[aria-pressed=true] .label").all_inner_texts(),
        "said": page.locator(".said").text_content(),
        "sort": page.locator("#sort").input_value(),
        "title": page.locator("#dialogue h2").all_inner_texts(),
        "marked": page.locator("#dialogue mark").all_inner_texts(),
        # the first block is written at once; what is off the screen has no inner text
        "list": page.locator("#window ol:first-child a").all_text_contents(),
    }


# The Parquet --------------------------------------------------------------------


@functools.cache
def table(build, name, config):
    """Return the rows of a config with label names."""
    built = find_folder(build, get(name))
    return built.rows_with_names(config, *built.splits(config))


@functools.cache
def ids(build, name):
    """Return the ids of all dialogues of the readable configs."""
    built = find_folder(build, get(name))
    return {str(id) for place in places(built) for id in built.ids(*place)}


@functools.cache
def texts(build, name):
    """Return the id and text of each utterance, and of each formulation of a judged query."""
    if name == "cosrec":
        rows = table(build, name, "dialogues")
        said = [(row["dialogue_id"], turn["text"]) for row in rows for turn in row["turns"]]
        queries = table(build, name, "queries")
        return said, [(row["query_id"], text) for row in queries for text in row["variants"]]
    return [
        (str(row["dialogue_id"]), row["text"])
        for row in table(build, name, "utterances")
        if row.get("action", "message") == "message"
        and not (row.get("data") or row.get("issue2youget"))
    ], []


@functools.cache
def fold(text):
    return unicodedata.normalize("NFKC", text).lower()


def expected(build, name, *words):
    """Return the numbers of dialogues, utterances and judged queries with all words in a text."""
    words = [fold(word) for word in words]
    found, judged = (
        [id for id, text in some if all(word in fold(text) for word in words)]
        for some in texts(build, name)
    )
    return len(set(found)), len(found), len(set(judged))


def asked(build, query):
    """Ask SQL of the sides of CaSiNo, each with its strategies."""
    used = "select flatten(list(labels)) from casino.strategies s where "
    used += "s.dialogue_id = p.dialogue_id and s.speaker = p.speaker"
    sides = f"with sides as (select p.*, ({used}) as used from casino.participants p)"
    with parley.connect(build / "casino") as connection:
        return connection.execute(f"{sides} {query}").fetchall()


def having(build, test):
    """Return the dialogues of which one side passes a test."""
    return {id for (id,) in asked(build, f"select dialogue_id from sides where {test}")}


def tally(build, value, test):
    """Count the dialogues by each value of a side that passes a test."""
    counts = "count(distinct dialogue_id)"
    sides = f"select dialogue_id, {value} as value from sides where {test}"
    return dict(asked(build, f"select value, {counts} from ({sides}) group by all"))


MOODS = ["Extremely dissatisfied", "Slightly dissatisfied", "Undecided"]
MOODS += ["Slightly satisfied", "Extremely satisfied"]
UV, FEW = "list_contains(used, 'uv-part')", "points_scored <= 18"
NO_NEED = "list_contains(used, 'no-need')"


# Finding ----------------------------------------------------------------------------------

# dataset -> query -> the words that it asks for
SEARCHES = {
    "casino": {
        **{word: [word] for word in ("firewood", "🙂")},
        "no such thing": ["no", "such", "thing"],
        "water need": ["need", "water"],
        "  Need   WATER ": ["need", "water"],
        '"need water"': ["need water"],
        "“need water” extra": ["need water", "extra"],
        'need" water': ['need"', "water"],
        "   ": [],
    },
    "craigslist_bargains": {"$": ["$"]},
    "cosrec": {word: [word] for word in ("bread", "<script>")},
    "duo": {word: [word] for word in ("仕事", "harmonica", "ＨＡＲＭＯＮＩＣＡ", "。")},
}


@DATA
def test_a_search_finds_and_marks_the_hits_of_the_parquet(request, open_page, data):
    found = request.getfixturevalue(data)
    hits = {}
    for name, queries in SEARCHES.items():
        page = open_page(page_of(found, name))
        every = dialogues, said, others = counted(page)
        assert dialogues + others == len(ids(found.build, name))
        assert said == len(texts(found.build, name)[0])
        assert (others > 0) == (name == "cosrec")
        for query, words in queries.items():
            search(page, query)
            assert counted(page) == (expected(found.build, name, *words) if words else every), query
            hits[query] = counted(page)[1]
            marks = {fold(mark) for mark in page.locator("#dialogue mark").all_inner_texts()}
            assert marks == set(map(fold, words if hits[query] else ()))
            listed = {fold(mark) for mark in page.locator("#window mark").all_text_contents()}
            assert listed <= marks
            assert bool(listed) == bool(marks)
    page.get_by_label("also in").check()  # no utterance has it, so none is counted
    search(page, "duo dialogue")
    assert counted(page) == (len(ids(found.build, "duo")), 0, 0)
    if data == "real":
        assert hits["water need"] == hits["  Need   WATER "] > hits['"need water"'] > 0
    else:
        assert all(hits[query] for query in ("firewood", "🙂", "$", "bread", "harmonica", "。"))


@DATA
def test_filters_count_the_sides_of_the_parquet(request, open_page, data):
    found = request.getfixturevalue(data)
    build, page = found.build, open_page(page_of(found, "casino"))
    clear, together = page.get_by_role("button", name="Clear"), page.get_by_label("the same side")
    assert clear.is_disabled()
    bar(page, "strategies", "uv-part").locator("xpath=ancestor::*/button[@class='more']").click()
    place = bar(page, "deal", "yes").evaluate("bar => bar.offsetTop")
    bar(page, "strategies", "uv-part").click()
    field(page, "points", "at most").fill("18")
    due = having(build, f"{UV} and {FEW}")
    assert counted(page)[0] == len(due) > 0
    # a value that widens counts what passes the other filters
    assert shown(page, "strategies") == tally(build, "unnest(used)", FEW)
    assert shown(page, "satisfaction") == tally(build, "satisfaction", f"{UV} and {FEW}")
    said = page.locator("#count").inner_text()
    assert "uv-part" in said
    assert "18" in said
    together.uncheck()
    assert counted(page)[0] == len(having(build, UV) & having(build, FEW)) > len(due)
    assert state(open_page(page.url)) == state(page)
    together.check()
    clear.click()
    assert bar(page, "deal", "yes").evaluate("bar => bar.offsetTop") == place  # nothing moved
    assert page.locator(".value[aria-pressed=true]").count() == 0
    for label in ("uv-part", "no-need"):  # any or all
        bar(page, "strategies", label).click()
    assert counted(page)[0] == len(having(build, f"{UV} or {NO_NEED}"))
    page.get_by_label("strategies: any or all").select_option("all")
    assert shown(page, "strategies") == tally(build, "unnest(used)", f"{UV} and {NO_NEED}")
    assert state(open_page(page.url)) == state(page)


@DATA
def test_a_value_can_be_absent_on_a_side_or_on_all(request, open_page, data):
    found = request.getfixturevalue(data)
    build, page = found.build, open_page(page_of(found, "casino"))
    known, who = "used is not null", page.get_by_label("strategies: which sides")
    uv_part = bar(page, "strategies", "uv-part")
    uv_part.locator("xpath=ancestor::*/button[@class='more']").click()
    uv_part.click(modifiers=["Shift"])
    assert counted(page)[0] == len(having(build, f"{known} and not {UV}"))
    assert "one side did not use uv-part" in page.locator("#count").inner_text()
    moods = tally(build, "satisfaction", f"{known} and not {UV}")
    assert shown(page, "satisfaction") == moods
    bar(page, "strategies", "no-need").click()
    due = having(build, f"{NO_NEED} and not {UV}")
    assert counted(page)[0] == len(due)
    widening = f"{known} and not {UV}"  # what one more label adds lacks uv-part, too
    assert shown(page, "strategies") == tally(build, "unnest(used)", widening)
    bar(page, "strategies", "no-need").click()
    who.select_option("no side with")
    nobody = having(build, known) - having(build, UV)
    assert 0 < counted(page)[0] == len(nobody) < len(having(build, known))
    assert "no side used uv-part" in page.locator("#count").inner_text()
    assert not page.locator(".where bdi").count()  # no side stands out
    assert state(open_page(page.url)) == state(page)
    page.get_by_role("button", name="Clear").click()
    page.get_by_role("button", name="strategies: without uv-part").click()
    assert shown(page, "satisfaction") == moods


def test_a_heading_explains_its_filter_to_the_pointer(sample, open_page):
    page = open_page(page_of(sample, "casino", "is.deal=yes"))
    text = page.locator(".meaning:visible")
    for name in ("points", "satisfaction"):
        page.get_by_role("heading", name=name, exact=True).hover()
        column = get("casino").transcript.FACETS[name].column
        assert text.all_inner_texts() == [get("casino").meanings[column]]
        text.hover()
        assert text.count() == 1
        page.keyboard.press("Escape")
        assert not text.count()
        assert "deal=yes" in page.url  # Escape hides the text, and keeps the filters


def test_the_open_dialogue_tells_its_values_and_who_matches(sample, open_page):
    page = open_page(page_of(sample, "casino", "is.strategies=uv-part&max.points=18"))
    number = int(page.locator("#dialogue h2").inner_text().split()[-1])
    columns = f"age, used, points_scored, coalesce({UV} and {FEW}, false), speaker"
    query = f"select {columns} from sides where dialogue_id = {number} order by speaker"
    people = asked(sample.build, query)
    rows = page.evaluate(
        """() => [...document.querySelectorAll('.filtered tbody tr')].map(row =>
            [...row.cells].map(cell => [cell.textContent, !!cell.querySelector('.chosen')]))"""
    )
    values = {name: of_sides for (name, _), *of_sides in rows}
    assert [int(text) for text, _ in values["age"]] == [age for age, *_ in people]
    strategies = [set(text.split("; ")) - {""} for text, _ in values["strategies"]]
    assert strategies == [set(used or ()) for _, used, *_ in people]
    assert values["points"] == [[str(points), points <= 18] for _, _, points, *_ in people]
    names = [name.replace("mturk_agent_", "agent ") for *_, passes, name in people if passes]
    assert page.locator(".where bdi").inner_text() == " and ".join(names)
    assert not page.locator(".filtered details[open]").count()  # the other values are folded


def test_a_number_is_limited_by_its_fields(sample, open_page):
    page = open_page(page_of(sample, "casino"))
    least = field(page, "points", "at least")
    least.fill("11")
    assert counted(page)[0] == len(having(sample.build, "points_scored >= 11"))
    title = page.locator("#dialogue h2").inner_text()
    least.press("j")  # in a field, no shortcut
    assert page.locator("#dialogue h2").inner_text() == title
    least.fill("")
    assert counted(page)[0] == len(having(sample.build, "true"))


def by_hand(rng):
    """Return the address of a selection, and the SQL of its sides, in the order of dialogues."""
    strategies = ["uv-part", "no-need", "self-need", "small-talk", "non-strategic"]
    chosen = rng.sample(strategies, rng.randint(0, 4))
    some, without = chosen[: rng.randint(0, 2)], chosen[2:]
    apart, all_, none, most = (rng.random() < share for share in (0.3, 0.5, 0.4, 0.5))
    moods = rng.sample(
        ["Undecided", "Slightly satisfied", "Extremely satisfied"], rng.randint(0, 2)
    )
    has = "list_has_any(used, {})".format
    groups = [[label] for label in some] if all_ else [some] if some else []
    tests = [*map(has, groups), *[f"satisfaction not in ({str(moods)[1:-1]})"] * bool(moods)]
    tests += [f"used is not null and not {has(without)}"] * (bool(without) and not none)
    tests += ["points_scored <= 18"] * most
    one_of = "dialogue_id in (select dialogue_id from sides where {})".format
    tests = [one_of(test) for test in tests] if apart else tests
    if none and without:
        tests += [one_of("used is not null"), f"not {one_of(has(without))}"]
    sort = rng.choice([*VALUES, ""])
    is_down = bool(sort) and rng.random() < 0.5
    least = f"{'max' if is_down else 'min'}({VALUES.get(sort, 0)})"
    order = f"{least} {'desc' if is_down else ''} nulls last, dialogue_id"
    said = [("is.strategies", label) for label in some]
    said += [("not.strategies", label) for label in without]
    said += [("not.satisfaction", mood) for mood in moods]
    said += [("all", "strategies")] * all_ + [("none", "strategies")] * none
    said += [("max.points", 18)] * most + [("apart", 1)] * apart
    said += [("sort", "-" * is_down + sort)] * bool(sort)
    return f"#{urlencode(said)}", " and ".join(["true", *tests]), order, sort, least


# what the page sorts by -> its SQL
VALUES = {
    "points": "points_scored", "satisfaction": "enum_code(satisfaction) + 1", "age": "age",
    **{
        name: "(select count(*) from casino.utterances u "
        f"where u.dialogue_id = sides.dialogue_id and {of})"
        for name, of in (("turns", "true"), ("utterances", "data is null and issue2youget is null"))
    },
}  # fmt: skip
SUMS = """() => {
    const number = (text) => text === '–' ? null : Number(text.replaceAll(',', ''));
    const rows = [...document.querySelectorAll('#sums tr')].map((row) => {
        const [name, bars, ...of] = row.cells;
        const counts = [...bars.firstChild.children].map(bar => number(bar.title));
        const every = of.map(cell => cell.children[0]?.textContent.replace('all ', ''));
        return [name.textContent, [of.map(cell => number(cell.firstChild.data)), counts, every]];
    });
    return Object.fromEntries(rows);
}"""  # name -> count, mean and median; the dialogues or sides of each bar; those of all, as texts


@DATA
def test_thirty_selections_have_the_dialogues_order_and_means_of_sql(request, open_page, data):
    place, rng, seen = request.getfixturevalue(data), random.Random(data), Counter()
    page = open_page(page_of(place, "casino"))
    whole = page.evaluate(SUMS)
    for _ in range(30):
        address, test, order, sort, least = by_hand(rng)
        found, _ = page.evaluate(STATE, address)
        query = f"select dialogue_id, {least} from sides where {test} group by all order by {order}"
        due = asked(place.build, query)
        assert found == [str(id) for id, _ in due], address
        first_value = due[0][1] if due else None
        sums = page.evaluate(SUMS)
        names = ("points", "satisfaction", "turns")
        columns = ", ".join(f"{VALUES[name]} as {name}" for name in names)
        rows = f"select {columns}, row_number() over (partition by dialogue_id) = 1 as is_first"
        query = ", ".join(
            f"count(x) {f}, avg(x) {f}, median(x) {f}".replace("(x)", f"({name})")
            for name in names
            for f in ["filter (is_first)" if name == "turns" else ""]
        )
        (due,) = asked(place.build, f"select {query} from ({rows} from sides where {test})")
        for place_of, name in enumerate(names):
            found_here, counts, every = sums[name]
            of_sql = [*due[3 * place_of : 3 * place_of + 3]]
            assert found_here == pytest.approx(of_sql, abs=0.0051), (address, name)
            assert sum(counts) == of_sql[0]
            if found_here != whole[name][0]:
                every = [float(each.replace(",", "")) for each in every]
                assert every == whole[name][0]
        if sort and found:
            text = MOODS[first_value - 1] if sort == "satisfaction" else str(first_value)
            assert page.locator("#window .sum").first.text_content() == text
            first = "highest" if " desc " in order else "lowest"
            assert f", sorted by {sort}, {first} first" in page.locator(".said").text_content()
        seen["some" if 0 < len(found) < len(ids(place.build, "casino")) else "all or none"] += 1
    assert seen["some"] > 10


# Addresses and keys -----------------------------------------------------------------------


def test_an_address_and_the_history_hold_each_state(sample, open_page):
    page = open_page((sample.folder / "craigslist_bargains/dialogues.html").as_uri())
    seen = [state(page)]
    for act in (
        lambda: bar(page, "deal", "yes").click(),
        lambda: page.locator("#window a").last.click(),
        lambda: page.locator("#sort").select_option("-deal price"),
        lambda: search(page, "$"),
        lambda: page.locator("#window a").last.click(),
    ):
        act()
        seen.append(state(page))
    assert len({str(each) for each in seen}) == len(seen)
    assert seen[-1]["marked"]
    assert seen[-1]["chosen"] == ["yes"]
    assert state(open_page(page.url)) == seen[-1]
    for due in reversed(seen[:-1]):
        page.go_back()
        assert state(page) == due
    for due in seen[1:]:
        page.go_forward()
        assert state(page) == due


def test_an_address_of_another_build_says_so(sample, open_page):
    number, page = sorted(ids(sample.build, "casino"))[0], open_page("about:blank")
    for asks, said in {
        "id=no such one": ["no such one"],
        "id=ID&turn=99": ["99"],
        "id=ID&turn=length": ["length"],
        "is.mood=good": ["mood"],
        "min.points=1&is.deal=perhaps": ["perhaps", "deal"],
        "min.points=few": ["points"],
        "is.points=9": ["9", "points"],
        "min.deal=9": ["deal"],
        "not.deal=perhaps&not.points=9": ["perhaps", "deal", "9", "points"],
        "id=ID&version=0.0.1": [],
    }.items():
        visit(page, page_of(sample, "casino", asks).replace("ID", number))
        text = page.locator("#unknown").inner_text()
        assert re.findall("“(.*?)”", text) == said
        assert ("version" in asks) == ("0.0.1" in text)
        assert (counted(page)[0] == 0) == bool(re.search(r"(is|min|not)\.", asks))
        opened = page.locator("#dialogue h2").all_inner_texts()
        assert [title.split()[-1] for title in opened] == ([number] if "=ID" in asks else [])
        page.get_by_role("button", name="Clear the filters").click(force=True)
        page.locator("#window a").first.click()
        assert not page.locator("#unknown").is_visible()
    visit(page, page_of(sample, "casino", "sort=mood"))
    assert "“mood”" in page.locator("#unknown").inner_text()
    page.locator("#sort").select_option("points")
    assert not page.locator("#unknown").is_visible()


def tab_to(page, selector, text=""):
    """Press Tab to an element with the text; each on the way is seen to have the focus."""
    for _ in range(300):
        page.keyboard.press("Tab")
        at = page.evaluate(
            """(selector) => {
                const at = document.activeElement, box = at.getBoundingClientRect();
                const style = getComputedStyle(at);
                return {text: at.matches(selector) ? at.innerText : null,
                    seen: box.bottom > 0 && box.top < innerHeight && box.width > 0,
                    ring: style.outlineStyle !== 'none' || style.boxShadow !== 'none'};
            }""",
            selector,
        )
        assert (at["seen"], at["ring"]) == (True, True), at
        if at["text"] is not None and text in at["text"]:
            return
    raise AssertionError("Tab does not lead there")


def test_the_keyboard_alone_reaches_everything(sample, open_page):
    page = open_page(sample.http + "index.html")

    def press(*keys):
        for key in keys:
            page.keyboard.press(key)

    tab_to(page, ".button", "CaSiNo")
    press("Enter")
    page.wait_for_url("**/casino/dialogues.html")
    page.wait_for_selector("#progress", state="hidden")
    tab_to(page, ".skip", "list")
    press("Enter", "Tab")
    first, title = page.locator("#window a").first, page.locator("#dialogue h2")
    box = page.get_by_role("searchbox")
    entries = page.locator("#window a .title").all_text_contents()
    assert is_focused(first)
    for key, place in (("j", 1), ("j", 2), ("k", 1)):
        press(key)
        assert entries[place].startswith(f"{title.inner_text().split()[-1]} · ")
    press("/")
    page.keyboard.type("jk/ firewood")  # in the field, keys are text
    assert box.input_value() == "jk/ firewood"
    press("Control+A")
    page.keyboard.type("firewood")
    hits = counted(page)
    assert hits == expected(sample.build, "casino", "firewood")
    press("Enter")
    assert "id=" in page.url
    assert is_focused(title)
    press("j", "/", "Escape")
    assert (box.input_value(), counted(page), is_focused(first)) == ("firewood", hits, True)
    press("Escape")
    assert ("id=" in page.url, counted(page)) == (False, hits)
    press("Escape", "/")
    assert (box.input_value(), counted(page)[0]) == ("", len(entries))
    tab_to(page, ".value", "small-talk")
    press("Space")
    assert page.locator(".value[aria-pressed=true] .label").all_inner_texts() == ["small-talk"]
    tab_to(page, ".not")
    press("Space")
    assert "not.strategies=small-talk" in page.evaluate("location.hash")
    press("Shift+Tab", "Space")
    assert "#is.strategies=small-talk&version" in page.evaluate("location.hash")
    tab_to(page, "#filters h2")
    assert page.locator(".meaning:visible").count() == 1
    press("Escape", "/", "Tab")
    assert not page.locator(".meaning:visible").count()
    tab_to(page, "#load")
    press("Enter")
    assert page.locator("#code").is_visible()
    press("Escape")
    assert page.locator("#code").is_hidden()
    tab_to(page, "#sort")
    press("ArrowDown")
    assert "sort=" in page.evaluate("location.hash")
    query = "select min(points_scored) from sides where list_contains(used, 'small-talk')"
    ((least,),) = asked(sample.build, query)
    assert page.locator("#window .sum").first.inner_text() == str(least)
    tab_to(page, ".entry")
    press("Enter")
    assert is_focused(title)
    assert page.locator("#dialogue .note.chosen", has_text="small-talk").count()


# A dialogue ---------------------------------------------------------------------------------


def copied(page):
    return page.evaluate("navigator.clipboard.readText()")


def test_a_turn_gives_its_address_and_quote_and_a_print_holds_all_turns(sample, open_page):
    page = open_page(page_of(sample, "casino"))
    page.locator("#window a").last.click()
    turn = page.locator("#dialogue .turn").nth(2)
    text = turn.locator(".text").inner_text()
    turn.hover()
    turn.get_by_role("button", name="Copy link").click()
    turn.get_by_role("button", name="Copied").wait_for()
    link = copied(page)
    turn.get_by_role("button", name="Copy quote").click()
    page.wait_for_function(f"async () => await navigator.clipboard.readText() !== {link!r}")
    built = find_folder(sample.build, get("casino"))
    title = page.locator("#dialogue h2").inner_text()
    keys = "; ".join(re.findall(r"^@\w+{(.+),", built.dataset.builder.CITATION, re.MULTILINE))
    parts = (f"“{text}”", f", turn 2 of {title}, ", f"casino {built.version} [{keys}]")
    assert all(part in copied(page) for part in parts)
    assert code_of(page, "#code-cite") == built.dataset.builder.CITATION.strip()
    assert f"version={built.version}" in link
    again = open_page(link)
    assert again.title().startswith(f"{title} · ")
    assert again.locator("#dialogue .turn[aria-current] .text").inner_text() == text
    assert not again.locator("#unknown").is_visible()
    again.set_viewport_size({"width": 1440, "height": 300})
    again.emulate_media(media="print")
    places = again.locator("#dialogue .turn").evaluate_all(
        "turns => turns.map(turn => turn.getBoundingClientRect().bottom)"
    )
    assert len(places) == page.locator("#dialogue .turn").count()
    assert 300 < max(places) <= again.evaluate("document.documentElement.scrollHeight")
    assert not again.locator("#list").is_visible()
    pane = again.locator("#dialogue")
    assert pane.evaluate("pane => pane.scrollHeight") == pane.evaluate("pane => pane.clientHeight")


def test_judged_queries_stand_in_their_conversation_with_the_titles_of_a_catalogue(
    served, sample_build, tmp_path, open_page
):
    (tmp_path / "products").mkdir()
    titles = {"parent_asin": ["b0invent13", "B0OTHER"], "title": ["<b>Boots</b>", "Other"]}
    pq.write_table(pa.table(titles), tmp_path / "products" / "Shoes.parquet")
    titled = written(served, sample_build, "titled", data.Selection(catalogue=tmp_path), "cosrec")
    page = open_page(page_of(titled, "cosrec"))
    said = page.locator(".documents li")
    title, own = page.locator("#dialogue h2"), page.locator(".judged [aria-current]")
    qrels, queries = (table(sample_build, "cosrec", config) for config in ("qrels", "queries"))
    grades = Counter((row["query_id"], row["relevance"]) for row in qrels)
    for query in queries:
        id = query["query_id"]
        page.evaluate("id => { location.hash = id; }", f"id={quote_plus(id)}")
        own.wait_for()
        assert id in title.inner_text()
        if id == "CoSRec-Curated_9002_1_0#1":
            assert {"b0invent13 <b>Boots</b>", "B0INVENT11"} <= set(said.all_text_contents())
        assert page.locator(".context .turn").count() == query["turn"] + 1
        same = [each for each in queries if each["intent_id"] == query["intent_id"]]
        assert page.locator(".judged h4").count() == len(same)
        column = page.locator(".pools > div").filter(has=page.locator("[aria-current]"))
        counts = [text.rpartition(" ")[2] for text in column.locator("summary").all_inner_texts()]
        assert counts == [str(grades[id, grade]) for grade in (2, 1, 0)]
    page.get_by_role("link", name="The whole conversation").click()
    page.locator(".turns > .cards-of").first.wait_for()
    assert title.inner_text() == query["dialogue_id"]
    page.locator(f".judged a[href*='{quote_plus(id)}']").first.click()
    own.wait_for()
    assert id in title.inner_text()


# The page about a dataset -----------------------------------------------------------------


def test_the_page_of_a_dataset_shows_one_section_at_a_time(sample, open_page):
    page = open_page(sample.http + "casino/index.html")
    open_ = page.locator(".about > section:visible")
    links = page.get_by_role("navigation", name="Sections").get_by_role("link")
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
    page = open_page(f"{real.http}{name}/index.html#charts")
    assert page.locator("#charts svg.chart").count() > 5
    marks = page.evaluate(
        """() => [...document.querySelectorAll('.chart a')].map(mark => [
            mark.getAttribute('href').split('#')[1], mark.querySelector('title').textContent])"""
    )
    links = page.locator("#charts tbody a").evaluate_all("all => all.map(a => a.hash.slice(1))")
    assert set(links) == {fragment for fragment, _ in marks}
    visit(page, page_of(real, name))
    for fragment, said in marks[:: 1 + len(marks) // 60]:
        found = page.evaluate(
            """(fragment) => {
                history.replaceState(null, "", `#${fragment}`);
                page.restore();
                const queries = page.selection.beside.get('queries') ?? 0;
                const unknown = document.getElementById('unknown').innerText;
                const title = document.querySelector('#dialogue h2')?.textContent ?? '';
                const { numbers, labels, count, chosen } = page.selection, hits = [...numbers];
                const sum = (of) => hits.reduce((all, number) => all + of(number), 0);
                const own = chosen.filter(filter => filter.sides);
                const bits = mask => mask.toString(2).replaceAll('0', '').length;
                const sides = sum(number =>
                    bits(own.reduce((mask, filter) => mask & filter.passing(number), EVERY)));
                const turns = (number) => (page.dialogues.get(number).turns ?? []).filter(
                    turn => turn.notes?.some(note => labels.has(note.text))).length;
                return { unknown, title, queries, dialogues: count - queries,
                    sides: own.length && sides, turns: hits.every(turns) && sum(turns) };
            }""",
            fragment,
        )
        assert not found["unknown"], fragment
        if fragment.startswith("id="):
            assert unquote_plus(fragment[3:]) in found["title"]
        else:
            number, counted = said.rpartition(": ")[2].split()
            assert found[counted] == int(number.replace(",", "")) > 0, (fragment, said)


# Taking along -------------------------------------------------------------------------------


def code_of(page, part="#code-all"):
    """Return the code of the page."""
    page.locator("#load").click()
    text = page.locator(part).text_content()
    page.keyboard.press("Escape")
    return text


def rows_of(code):
    """Run code of the page, and return the first column of its rows."""
    import datasets

    scope = {}
    exec(code, scope)
    found = scope["rows"]
    parts = found.values() if isinstance(found, dict) else [found]
    assert all(isinstance(part, datasets.Dataset) for part in parts)
    return [row[part.column_names[0]] for part in parts for row in part]


def saved(page, folder):
    """Save each file of the selection, and return the text of each by its name."""
    page.locator("#load").click()
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


@pytest.mark.parametrize("name", DATASETS)
def test_the_code_and_tables_hold_the_selection(sample, open_page, tmp_path, monkeypatch, name):
    (tmp_path / "build").symlink_to(sample.build)
    monkeypatch.chdir(tmp_path)
    built = find_folder(sample.build, get(name))
    some = {"craigslist_bargains": "is.deal=yes", "duo": "is.setting=ed"}
    some |= {"casino": "is.strategies=uv-part&max.points=18", "cosrec": "max.turns=12"}
    page = open_page((sample.folder / name / "dialogues.html").as_uri() + f"#{some[name]}")
    found = saved(page, tmp_path)
    chosen = found["ids.txt"].split()
    assert 0 < len(chosen) < len(ids(sample.build, name))
    assert sorted(map(str, rows_of(code_of(page)))) == sorted(chosen)
    export(built, "csv", tmp_path / "csv", chosen)
    for config in getattr(built.dataset.transcript, "TABLES", {}):
        head, *rows = csv.reader(io.StringIO(found[f"{config}.csv"], newline=""))
        lines = []
        for split in built.splits(config):
            path = tmp_path / "csv" / f"{config}-{split}.csv"
            with path.open(newline="", encoding="utf-8-sig") as file:
                columns, *of_split = csv.reader(file)
            assert head == ["split", *columns]
            lines += [[split, *line] for line in of_split]
        assert rows == lines
    listed = list(csv.DictReader(io.StringIO(found["dialogues.csv"], newline="")))
    key = next(iter(getattr(built.dataset.transcript, "TABLES", {}).values()), "dialogue_id")
    assert [row.get(key) or row["query_id"] for row in listed] == chosen
    assert len(found["sides.csv"].splitlines()) > len(chosen)
    if name == "casino":
        splits = dict(asked(sample.build, "select dialogue_id, split from casino.official_split"))
        assert [row["official_split"] for row in listed] == [splits[int(id)] for id in chosen]
        query = "select (dialogue_id, speaker), used from sides"
        used = {place: set(labels or ()) for place, labels in asked(sample.build, query)}
        for line in map(json.loads, found["dialogues.jsonl"].splitlines()):
            for side in line["sides"]:
                place = line["dialogue_id"], "mturk_" + side["side"].replace(" ", "_")
                assert set(side["strategies"]) == used[place]
        assert "one side used uv-part and got at most 18 points" in code_of(page)
        command = [sys.executable, "-m", *code_of(page, "#code-command").split()]
        done = subprocess.run(command, capture_output=True)
        assert done.returncode == 0, done.stderr
        with (tmp_path / "casino-csv" / "dialogues-train.csv").open(encoding="utf-8-sig") as file:
            assert [row["dialogue_id"] for row in csv.DictReader(file)] == chosen


STATE = """(to) => {
    history.replaceState(null, "", to);
    page.restore();
    return [page.selection.ids(), page.selection.sql()];
}"""  # from an address to the selection
TRIED = {"sample": 100, "real": 25}  # random filters of each dataset


def random_filters(page, rng, texts):
    """Return the address of some filters and words."""
    found = page.evaluate("page.filters.map(f => [f.name, f.labels, f.labels ? 0 : [...f.values]])")
    said = []
    for name, labels, numbers in rng.sample(found, rng.randint(0, min(3, len(found)))):
        if labels:
            some = rng.sample(labels, rng.randint(1, min(3, len(labels))))
            said += [(rng.choice([f"is.{name}", f"not.{name}"]), label) for label in some]
            said += [(way, name) for way in ("all", "none") if rng.random() < 0.5]
        else:
            ends = zip(("min", "max"), sorted(rng.choices(numbers, k=2)), strict=True)
            said += [(f"{end}.{name}", number) for end, number in ends if rng.random() < 0.7]
    if rng.random() < 0.5:
        words = rng.choice(texts).split()
        said.append(("q", " ".join(rng.sample(words, min(2, len(words))))))
    said += [(flag, 1) for flag in ("around", "apart") if rng.random() < 0.3]
    orders = page.locator("#sort option").evaluate_all("all => all.map(each => each.value)")
    said.append(("sort", rng.choice(orders)))
    return f"#{urlencode(said)}"


def answer(build, sql):
    """Return the ids that SQL finds."""
    with parley.connect(build) as connection:
        return {id for (id,) in connection.execute(sql).fetchall()}


@DATA
@pytest.mark.parametrize("name", DATASETS)
def test_the_sql_of_a_selection_finds_the_same(request, open_page, data, name):
    place, rng = request.getfixturevalue(data), random.Random(name)
    page = open_page(page_of(place, name))
    said = [text for _, text in texts(place.build, name)[0] if text.split()]
    found = Counter()
    with parley.connect(place.build / name) as connection:
        for _ in range(TRIED[data]):
            address = random_filters(page, rng, said)
            ids, sql = page.evaluate(STATE, address)
            assert [id for (id,) in connection.execute(sql).fetchall()] == ids, (address, sql)
            found[
                "some" if 0 < len(ids) < page.evaluate("page.dialogues.size") else "all or none"
            ] += 1
    assert found["some"] > 2


def test_sql_and_python_hold_hostile_labels_and_ids_as_values(attacked, open_page, tmp_path):
    folder = shutil.copytree(attacked.build / "hostile", tmp_path / "hostile")
    reseal(folder)
    page = open_page(page_of(attacked, "hostile"))
    labels = page.evaluate("page.filters.flatMap((f) => (f.labels ?? []).map((l) => [f.name, l]))")
    assert any("\u202e" in label for _, label in labels)
    with parley.connect(folder) as connection:
        for name, label in labels:
            for kind in ("is", "not"):
                said = {f"{kind}.{name}": label, "sort": "-number of a side", "apart": 1}
                said |= {"q": label} if kind == "is" else {}
                ids, sql = page.evaluate(STATE, f"#{urlencode(said)}")
                assert "\u202e" not in sql
                assert [id for (id,) in connection.execute(sql).fetchall()] == ids, sql
                ast.parse(page.evaluate("page.selection.python()"))


def test_labels_of_files_are_filters_differ_and_are_taken_along(
    served, sample, sample_build, open_page, tmp_path
):
    built = find_folder(sample_build, get("casino"))
    files = [tmp_path / f"{ATTACKS[3]}.jsonl", tmp_path / "ann2.csv"]
    rows = built.rows_with_names("strategies")
    with jsonlines.open(files[0], "w") as lines:
        for row, attack in zip(rows, itertools.cycle(reversed(ATTACKS))):
            keys = {key: row[key] for key in ("dialogue_id", "turn")}
            lines.write(keys | {"labels": ["uv-part"], "<b>x</b>": attack})
    head = "dialogue_id,turn,labels\n"
    lines = (f"{row['dialogue_id']},{row['turn']},{row['labels'][0]}\n" for row in rows)
    files[1].write_text(head + "".join(lines))
    user_labels = pytest.importorskip("parley.page.user_labels")
    beside = user_labels.UserLabels(built, files, "labels")
    selection = data.Selection(files=beside)
    page = open_page(page_of(written(served, sample_build, "own", selection, "casino"), "casino"))
    counts = shown(page, "ann2: labels")
    assert "ann2: labels" in page.evaluate("page.filters.map(({ name }) => name)")[:4]
    with parley.connect(built, labels=files[1:]) as connection:
        query = """select label, count(distinct dialogue_id) from
            (select dialogue_id, unnest(labels) as label from ann2) group by all"""
        assert counts == dict(connection.execute(query).fetchall())
        query = """select distinct dialogue_id::varchar from ann2 join casino.strategies s
            using (dialogue_id, turn) where ann2.labels <> s.labels"""
        due = {id for (id,) in connection.execute(query).fetchall()}
    found, sql = page.evaluate(STATE, f"#{urlencode({'is.differs': 'ann2 ≠ gold: labels'})}")
    assert set(found) == due == answer(sample_build / "casino", sql)
    assert 0 < len(found) < len(built.rows("dialogues"))
    without, sql = page.evaluate(STATE, f"#{urlencode({'not.differs': 'ann2 ≠ gold: labels'})}")
    assert set(without) == ids(sample_build, "casino") - due == answer(sample_build / "casino", sql)
    page.evaluate(STATE, f"#{urlencode({'is.differs': 'ann2 ≠ gold: labels'})}")
    shown_at = []
    for _ in due:
        page.keyboard.press("d")
        at = page.evaluate("[page.dialogues.names[page.open], page.turn]")
        shown_at.append(tuple(at))
        line = page.locator("#dialogue .turn[aria-current] .own > div", has_text="ann2: labels")
        assert line.locator(".differs").count() == 1
        own = page.locator("#dialogue .turn[aria-current] .own > div", has_text="gold: labels")
        (gold,) = (r["labels"] for r in rows if [str(r["dialogue_id"]), r["turn"]] == at)
        assert {text.removeprefix("≠ ") for text in own.locator(".note").all_inner_texts()} == {
            *gold
        }
    assert len(set(shown_at)) == len(due)
    text = page.inner_text("#dialogue")
    assert "<b>x</b>" in text
    assert not re.search("[\u202e\u200f\x07]", text)
    page.locator("#your-files summary").click()
    agreed = parley.labels(built, "strategies", *files).as_dict()["columns"]["labels"]
    alpha = f"{agreed['with_gold']['alpha']['value']:.3f}"
    assert alpha in page.locator("#your-files").inner_text()
    page.locator("#your-files summary").click()
    files, plain_page = saved(page, tmp_path), open_page(page_of(sample, "casino", "is.deal=yes"))
    for file, text in saved(plain_page, tmp_path).items():
        if file.endswith(".csv"):  # the same columns without files, then those of the annotators
            head, others = (next(csv.reader(io.StringIO(each))) for each in (files[file], text))
            assert head[: len(others)] == others, file
            own = head[len(others) :]
            assert ("ann2: labels" in own) == (file in ("dialogues.csv", "utterances.csv"))
            assert file != "utterances.csv" or own[-1] == "gold: labels"
            assert "differs" not in head
    taken = [*csv.DictReader(io.StringIO(files["utterances.csv"], newline=""))]
    taken = {(row["dialogue_id"], row["turn"]): row["ann2: labels"] for row in taken}
    of_rows = {(str(row["dialogue_id"]), str(row["turn"])): row["labels"][0] for row in rows}
    assert {key: label for key, label in taken.items() if label} == {
        key: label for key, label in of_rows.items() if key[0] in due
    }
    assert not page.evaluate("'acted' in window")
    found = axe.Axe().run(page, options=RULES)
    assert found.violations_count == 0, found.generate_report()


def test_a_query_chooses_the_dialogues_and_their_order(served, sample_build, open_page):
    query = "select dialogue_id from casino.participants where dialogue_id <> 2005 "
    query += "order by points_scored, dialogue_id"
    due = list(dict.fromkeys(str(id) for (id,) in asked(sample_build, query)))
    chosen = data.Selection(query, due)
    page = open_page(page_of(written(served, sample_build, "asked", chosen, "casino"), "casino"))
    assert page.evaluate("page.index.ids") == due
    page.evaluate("page.restore({ ...page.state, query: 'food' })")
    ids, sql = page.evaluate("[page.selection.ids(), page.selection.sql()]")
    assert 0 < len(ids) < len(due)
    with parley.connect(sample_build / "casino") as connection:
        assert [id for (id,) in connection.execute(sql).fetchall()] == ids


def test_the_python_of_a_published_build(sample, open_page, tmp_path, monkeypatch):
    page = open_page(page_of(sample, "duo", "is.setting=ed"))
    page.evaluate("page.index.load = { path: 'org/duo', revision: 'a1' }")
    asked = []

    def download(*names, local_dir, **more):
        asked.append((names, more))
        shutil.copytree(sample.build / "duo", local_dir)

    monkeypatch.chdir(tmp_path)
    scope = {"parley": parley, "huggingface_hub": SimpleNamespace(snapshot_download=download)}
    exec(page.evaluate("page.selection.selecting()"), scope)
    assert asked == [(("org/duo",), {"repo_type": "dataset", "revision": "a1"})]
    assert scope["ids"] == set(page.evaluate("page.selection.ids()"))
    assert ast.parse(code_of(page)).body[0].names[0].name == "huggingface_hub"


def test_a_selection_names_dialogues_of_two_splits_with_one_id(
    served, open_page, tmp_path, monkeypatch
):
    monkeypatch.setenv("PARLEY_DATASETS", str(numbered_dataset.write(tmp_path)))
    build(open_source(get("numbered"), None, sample=True), tmp_path / "build")
    made = written(served, tmp_path / "build", "numbered")
    page = open_page(page_of(made, "numbered", "q=why"))
    page.locator("#window a").first.click()
    assert page.locator("#dialogue").inner_text().count("Why plums?") == 1
    files = saved(page, tmp_path)
    assert files["ids.txt"] == "test/0\n"
    for name in ("dialogues.csv", "utterances.csv", "acts.csv"):
        rows = [*csv.DictReader(io.StringIO(files[name], newline=""))]
        assert {(row["split"], row["id"]) for row in rows} == {("test", "0")}, name
    (row,) = map(json.loads, files["dialogues.jsonl"].splitlines())
    assert (row["split"], row["id"]) == ("test", 0)
    assert answer(tmp_path / "build" / "numbered", code_of(page, "#code-sql")) == {"test/0"}
    monkeypatch.chdir(tmp_path)
    assert rows_of(code_of(page)) == [0]


# Hostile text ---------------------------------------------------------------------


def as_shown(text):
    """Return text as shown: shortened, with control characters as numbers."""
    return "".join(
        sign if sign == "\t" or plain(sign) == sign else f"U+{ord(sign):04X}"
        for sign in text[:20_000]
    ) + (f"… and {len(text) - 20_000:,} more characters" if text[20_000:] else "")


def test_hostile_text_cannot_act(attacked, open_page):
    page = open_page("about:blank")
    page.set_viewport_size(NARROW)
    parts = ("index.html", "hostile/index.html", "hostile/dialogues.html")
    on_disk = [(attacked.folder / part).as_uri() for part in parts]
    for address in [*(attacked.http + part for part in parts), *on_disk]:
        visit(page, address)
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
        assert width(page) <= NARROW["width"], address
        if not address.endswith("dialogues.html"):
            text = page.locator("main").text_content()
            for attack in (ATTACKS[0], ATTACKS[2], ATTACKS[3]):
                assert attack in text, address
    page.locator("#list").evaluate("list => list.scrollTop = list.scrollHeight")
    long = page.locator("#window a", has_text="wwwww").last
    assert long.locator(".excerpt").text_content().endswith("…")
    long.click()
    assert page.locator("#dialogue .text").first.inner_text().startswith("wwwww")
    assert width(page) <= NARROW["width"]


def test_attacks_are_shown_as_text_and_saved_as_no_formulas(attacked, open_page, tmp_path):
    page = open_page(page_of(attacked, "hostile"))
    assert counted(page) == (len(ATTACKS), 2 * len(ATTACKS), 0)
    found = page.evaluate(
        """() => hostile = page.dialogues.names.map((id, number) => {
            page.choose(number);
            const pane = document.getElementById('dialogue');
            const texts = (kind) => [...pane.querySelectorAll(kind)].map(e => e.textContent);
            return {
                title: pane.querySelector('h2').textContent,
                texts: texts('.turn .text'), notes: texts('.note'),
                labels: [...pane.querySelectorAll('[title], [aria-label]')].map(
                    e => e.title + e.getAttribute('aria-label')),
                beyond: pane.scrollWidth - pane.clientWidth,
            };
        })"""
    )
    for attack, said in zip(ATTACKS, found, strict=True):
        visible = as_shown(attack)
        assert said["title"] == (visible or "(no title)")
        assert said["texts"] == [visible] * 3
        assert said["beyond"] == 0, visible[:80]
        assert all(note.startswith(visible) for note in said["notes"])
        for label in said["labels"]:
            assert plain(label) == label.replace("\t", "\\t")
            assert len(label) < 500
    attack = ATTACKS[2]
    visit(page, page_of(attacked, "hostile"))
    bar(page, attack, attack).click()
    assert attack in page.locator("#count .said").text_content()
    assert state(open_page(page.url)) == state(page)
    bar(page, attack, attack).click()
    for attack in [*ATTACKS[:20:6], "ww"]:
        search(page, attack)
        assert counted(page)[0] >= 1, attack
    search(page, "")
    csv.field_size_limit(2_000_000)
    for name, text in saved(page, tmp_path).items():
        for row in csv.reader(io.StringIO(text, newline="")) if name.endswith(".csv") else ():
            cells = [each for each in row if not re.fullmatch(r"-?[\d.]+", each)]
            assert not [cell for cell in cells if cell.startswith(tuple("=+-@\t\r"))]
    cells = "".join(f"{cell}\n" for cell in page.evaluate("all => all.map(cell)", FORMULAS))
    assert [*csv.reader(io.StringIO(cells, newline=""))] == [[f"'{text}"] for text in FORMULAS]
    assert page.evaluate("cell(-1)") == "-1"  # a number is no text
    assert not page.evaluate("'acted' in window")
    written = page.evaluate(  # of a long list in an older browser, whose blocks tell nothing
        """() => {
            delete window.ContentVisibilityAutoStateChangeEvent;
            Object.assign(page.selection, { hits: Array(60).fill(0), count: 60 });
            page.list.show();
            return document.querySelectorAll('#window li').length;
        }"""
    )
    assert written == 60


# Widths, colours and accessibility -----------------------------------------------------------


def width(page):
    return page.evaluate("document.scrollingElement.scrollWidth")


BROKEN = """() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = new Set(), range = document.createRange();
    while (texts.nextNode())
        for (const word of texts.currentNode.data.matchAll(/\\b\\w{2,25}\\b/g)) {
            range.setStart(texts.currentNode, word.index);
            range.setEnd(texts.currentNode, word.index + word[0].length);
            const tops = [...range.getClientRects()].map(box => box.top);
            if (tops.some(top => top - tops[0] > 3)) found.add(word[0]);
        }
    return [...found];
}"""


@pytest.mark.parametrize("height", [640, 256])  # 256: a desktop at 400% zoom
def test_a_narrow_screen_shows_a_dialogue_and_goes_back(sample, open_page, height):
    page = open_page(page_of(sample, "duo"))
    page.set_viewport_size({"width": 320, "height": height})
    assert width(page) <= 320
    hit, turn = page.locator("#window a").nth(1), page.locator("#dialogue .turn").first
    number = hit.locator(".title").inner_text().partition(" · ")[0]
    hit.click()
    opened = page.locator("#dialogue h2", has_text=number)
    opened.wait_for()
    title = opened.inner_text()
    assert turn.is_visible()
    assert not page.get_by_role("searchbox").is_visible()
    page.get_by_role("button", name="Back to the list").click()
    assert page.get_by_role("searchbox").is_visible()
    assert not turn.is_visible()
    page.go_back()
    assert page.locator("#dialogue h2").inner_text() == title
    for _ in range(9):
        page.keyboard.press("j")
    page.get_by_role("button", name="Back to the list").click()
    assert is_focused(page.locator("#window a").last)  # the one that was open, in sight
    assert page.evaluate(ENTRIES)[-1]["bottom"] <= 0.5


ENTRIES = """() => [...document.querySelectorAll('#window li')].map((row) => {
    const box = row.getBoundingClientRect(), pane = row.closest('#list').getBoundingClientRect();
    const title = row.querySelector('.title'), texts = document.createRange();
    texts.selectNodeContents(row.querySelector('.excerpt'));
    const ends = [title, texts].flatMap((part) => [...part.getClientRects()].map((b) => b.bottom));
    return { top: box.top - pane.bottom, bottom: box.bottom - pane.bottom,
        blank: box.bottom - Math.max(...ends), cut: title.scrollHeight - title.clientHeight };
})"""


@pytest.mark.parametrize("wide", [360, 768, 1280, 1920])
def test_every_width_shows_texts_whole_without_blank_lines(sample, open_page, wide):
    page = open_page("about:blank")
    page.set_viewport_size({"width": wide, "height": 800})
    for name in DATASETS:
        visit(page, page_of(sample, name))
        rows = page.evaluate(ENTRIES)
        assert all(row["blank"] < 15 and not row["cut"] for row in rows), rows
        ends = [row["bottom"] for row in rows[:-1]]
        assert ends == pytest.approx([row["top"] for row in rows[1:]], abs=1)
        longest = "all => all.forEach(number => (number.textContent = '1,291 of 1,311'))"
        page.locator(".value .number").evaluate_all(longest)
        assert not page.evaluate(BROKEN), name
        assert not page.evaluate(WRONG), name
        visit(page, f"{sample.http}{name}/index.html#charts")
        charts = page.locator(f"figure{':not(.broad)' * (wide < 600)} > .scroll")
        assert not charts.evaluate_all("all => all.filter(e => e.scrollWidth > e.clientWidth)")


WRONG = """() => [...page.selection.numbers].flatMap((number) => {
    page.choose(number);
    const all = (kind) => [...document.querySelectorAll(`#dialogue ${kind}`)];
    const broken = all('.terms dt').filter((term) => term.offsetHeight > 30);
    const beyond = all('.scroll').filter((box) => box.scrollWidth > box.clientWidth);
    return [...all('dl:empty'), ...broken, ...beyond].map((each) => each.outerHTML);
})"""


def test_every_width_reaches_a_filter(sample, open_page):
    page = open_page("about:blank")
    value, summary = page.locator(".value").first, page.locator("#filters-box > summary")
    for wide in (390, 600, 899, 900, 1100, 1366, 1920):
        page.set_viewport_size({"width": wide, "height": 700})
        visit(page, page_of(sample, "casino"))
        if wide < 600:  # by the keyboard alone
            page.get_by_role("searchbox").focus()
            for _ in range(5):
                page.keyboard.press("Tab")
                if page.evaluate("document.activeElement.matches('summary, .value')"):
                    page.keyboard.press("Space")
        else:
            if summary.is_visible():
                summary.click()
            box = value.bounding_box()
            page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert value.get_attribute("aria-pressed") == "true", wide
        assert 0 <= value.bounding_box()["y"] <= 670, wide  # in sight without scrolling
        assert width(page) <= wide


WIDTHS = (320, 390, 600, 900, 1100, 1366, 1920)
RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]},
    "rules": {"region": {"enabled": True}}, "resultTypes": ["violations"],
}  # fmt: skip
KINDS = [  # of pages, the dialogues of each dataset and some with search, filter and open dialogue
    "index.html",
    *(f"casino/index.html#{part}" for part in ("overview", "charts", "configs", "figures")),
    *(f"{name}/dialogues.html" for name in DATASETS),
    "casino/dialogues.html#q=firewood&is.deal=yes&id=2002",
    "casino/dialogues.html#not.strategies=uv-part&none=strategies&sort=-points",
]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_and_meet_the_accessibility_rules(sample, open_page, scheme):
    page = open_page("about:blank")
    for number, kind in enumerate(KINDS):  # each at two widths; a scheme meets all of them
        wide = WIDTHS[(number + 3 * (scheme == "dark")) % len(WIDTHS)]
        page.set_viewport_size({"width": wide, "height": 900})
        page.emulate_media(color_scheme=scheme)
        visit(page, sample.http + kind)
        assert width(page) <= wide, kind
        assert wide < 600 or not page.evaluate(BROKEN), kind
        page.evaluate(  # 30 rows of a table are enough; the rest takes a minute
            "() => document.querySelectorAll('tr:nth-child(n + 31)').forEach(row => row.remove())"
        )
        found = axe.Axe().run(page, options=RULES)
        assert found.violations_count == 0, f"{kind} at {wide}\n{found.generate_report()}"
