"""The page in a browser: searches, filters, keys, code, hostile text, accessibility."""

import ast
import re
import shutil
import unicodedata
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import hostile
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from parley.build import build
from parley.collection import discover, get
from parley.folder.built import find_folder
from parley.source.files import open_source
from parley.terminal.console import plain

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
site = pytest.importorskip("parley.site.write", reason="the extra `site` is not installed")
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
    from parley.site.serve import serving

    root = tmp_path_factory.mktemp("served")
    with serving(root) as address:
        yield root, address


def written(served, build, name, datasets):
    folders = [find_folder(build, get(each)) for each in datasets]
    place = served[0] / name / "of some" / "site"
    place.parent.mkdir(parents=True)
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


# The page ----------------------------------------------------------------------


def counted(page):
    """Return the numbers of dialogues, utterances and queries found on the page."""
    text = page.locator("#count").inner_text()
    found = re.fullmatch(
        r"([\d,]+) dialogues?(?:, ([\d,]+) queries)?,?\s+([\d,]+) utterances?", text
    )
    assert found, text
    dialogues, queries, utterances = (int((n or "0").replace(",", "")) for n in found.groups())
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


def expected(build, name, query):
    """Return the numbers of dialogues, utterances and judged queries with a text."""

    def fold(text):
        return unicodedata.normalize("NFKC", text).lower()

    found = [id for id, text in utterances(build, name) if fold(query) in fold(text)]
    judged = {id for id, text in formulations(build, name) if fold(query) in fold(text)}
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
        page = open_page(addresses(found, name, "dialogues.html")[0])
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


@pytest.mark.parametrize("data", ["sample", "real"])
def test_filters_combine_and_their_bars_count_the_parquet(request, open_page, data):
    found = request.getfixturevalue(data)
    participants = table(found.build, "casino", "participants")
    labels = {}
    for row in table(found.build, "casino", "strategies"):
        labels.setdefault(row["dialogue_id"], set()).update(row["labels"])
    sides = {}
    for row in participants:
        sides.setdefault(row["dialogue_id"], []).append(row)
    left = set(sides)
    page = open_page(addresses(found, "casino", "dialogues.html")[0])

    def compare():
        def tally(values):
            return dict(Counter(value for each in left for value in set(values(each))))

        due = {
            "strategies": tally(lambda n: labels.get(n, ())),
            "deal": tally(lambda n: ["yes" if sides[n][0]["deal"] else "no"]),
            "satisfaction": tally(lambda n: [side["satisfaction"] for side in sides[n]]),
            "opponent likeness": tally(lambda n: [s["opponent_likeness"] for s in sides[n]]),
            "integrative potential": tally(lambda n: [str(sides[n][0]["integrative_potential"])]),
        }
        shown = {n: {v: c for v, c in of.items() if c} for n, of in bars(page).items() if n in due}
        assert shown == due
        assert counted(page)[0] == len(left)

    def content(each):
        return any(side["satisfaction"] == "Extremely satisfied" for side in sides[each])

    compare()
    bar(page, "strategies", "uv-part").click()
    left = {each for each in sides if "uv-part" in labels.get(each, ())}
    compare()
    bar(page, "satisfaction", "Extremely satisfied").click()
    left = set(filter(content, left))
    compare()
    search(page, "firewood")
    said = {int(id) for id, text in utterances(found.build, "casino") if "firewood" in text.lower()}
    left &= said
    compare()
    assert left
    bar(page, "strategies", "uv-part").click()
    left = set(filter(content, said))
    compare()
    page.get_by_role("button", name="Clear the filters").click()
    left = said
    compare()


@pytest.mark.parametrize("name", DATASETS)
def test_every_value_narrows_to_the_count_of_its_bar(sample, open_page, name):
    page = open_page(addresses(sample, name, "dialogues.html")[0])
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
    page = open_page(addresses(sample, "casino", "dialogues.html")[0])
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
    page = open_page(addresses(sample, "casino", "dialogues.html")[0])
    title = page.locator("#dialogue h2")
    titles = [text.split("\n")[0] for text in page.locator("#window a").all_inner_texts()]
    assert title.inner_text() == titles[0]
    for key, place in (("j", 1), ("j", 2), ("k", 1)):
        page.keyboard.press(key)
        assert title.inner_text() == titles[place]
    page.keyboard.press("/")
    assert page.get_by_role("searchbox").evaluate("box => box === document.activeElement")
    page.keyboard.type("jk/ firewood")  # in the field, keys are text
    assert page.get_by_role("searchbox").input_value() == "jk/ firewood"
    page.keyboard.press("Control+A")
    page.keyboard.type("firewood")
    hits = counted(page)
    assert hits == expected(sample.build, "casino", "firewood")
    page.keyboard.press("Escape")
    assert page.locator("#window a").first.evaluate("link => link === document.activeElement")
    page.keyboard.press("Enter")
    assert "id=" in page.url
    page.keyboard.press("Escape")
    assert "id=" not in page.url
    assert counted(page) == hits
    page.keyboard.press("Escape")
    assert page.get_by_role("searchbox").input_value() == ""
    assert counted(page)[0] == len(titles)


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


@pytest.mark.parametrize("place", [0, 1], ids=["http", "disk"])
def test_a_narrow_screen_shows_a_dialogue_and_goes_back(sample, open_page, place):
    page = open_page(addresses(sample, "duo", "dialogues.html")[place])
    page.set_viewport_size(NARROW)
    hits, back = page.locator("#window a"), page.get_by_role("button", name="Back to the hits")
    title = hits.last.locator(".title").inner_text()
    hits.last.click()
    assert page.locator("#dialogue h2").inner_text() == title
    assert page.locator("#dialogue .turn").first.is_visible()
    assert not page.get_by_role("searchbox").is_visible()
    back.click()
    assert page.get_by_role("searchbox").is_visible()
    assert not page.locator("#dialogue .turn").first.is_visible()
    page.go_back()
    assert page.locator("#dialogue h2").inner_text() == title


def test_the_table_of_figures_can_hide_matches(real, open_page):
    page = open_page(addresses(real, "casino", "index.html")[0])
    rows = page.locator("tr[data-verdict]:visible")
    verdicts = rows.evaluate_all("rows => rows.map(row => row.dataset.verdict)")
    differ = sum(verdict != "matches" for verdict in verdicts)
    assert 0 < differ < len(verdicts)
    page.get_by_label("only figures that do not match").check()
    assert rows.count() == differ
    page.get_by_label("only figures that do not match").uncheck()
    assert rows.count() == len(verdicts)


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
def test_the_code_loads_exactly_the_hits(sample, open_page, name):
    query = {"casino": "firewood", "craigslist_bargains": "$", "cosrec": "bread", "duo": "i"}[name]
    page = open_page(addresses(sample, name, "dialogues.html")[0])
    every = ids(sample.build, name)
    texts = utterances(sample.build, name) + formulations(sample.build, name)
    due = {id for id, text in texts if query in text.lower()}
    assert due
    assert sorted(map(str, rows_of(code_of(page)))) == sorted(every)
    search(page, query)
    assert sorted(map(str, rows_of(code_of(page)))) == sorted(due)
    page.locator("#window a").last.click()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Load this").click()
    page.locator("#code-one-part").get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    page.keyboard.press("Escape")
    assert copied == code_of(page, "#code-one")
    (one,) = rows_of(copied)
    assert str(one) in due
    assert str(one) in page.locator("#dialogue h2").inner_text()


def code_of(page, part="#code-all"):
    """Return the code of the page."""
    page.get_by_role("button", name="Load this").click()
    text = page.locator(part).text_content()
    page.keyboard.press("Escape")
    return text


def test_the_code_holds_every_id_as_a_value(served, sample_build, tmp_path, open_page):
    """In an unverified build, one part of a split has numeric ids, another has text."""
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
    pq.write_table(rows, folder / "train-00001-of-00002.parquet")
    page = open_page(
        addresses(written(served, tmp_path, "ids", ["casino"]), "casino", "dialogues.html")[0]
    )
    search(page, table["chat_logs"][0][0]["text"].as_py())
    assert counted(page)[0] == 1 + len(odd)
    ids = [node for node in ast.walk(ast.parse(code_of(page))) if isinstance(node, ast.Set)]
    assert [ast.literal_eval(value) for value in ids[0].elts] == [first, *texts, str(first)]
    links = [link.get_attribute("href") for link in page.locator("#window a").all()]
    assert len(set(links)) == len(links) > 5
    for link in links:
        page.goto(page.url.partition("#")[0] + link)
        assert page.locator("#window a.open").get_attribute("href") == link


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
                    'iframe, object, embed, base, form[action], img, svg, main style, main script')]
                    .map(tag => tag.outerHTML.slice(0, 80)),
                handlers: [...document.querySelectorAll('*')].flatMap(tag => [...tag.attributes])
                    .filter(a => a.name.startsWith('on') || a.name === 'style' && !a.ownerElement
                        .closest('#filters, #window')).map(a => a.name),
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
    from parley.site.serve import serving

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
    page = open_page(addresses(attacked, "hostile", "dialogues.html")[0])
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
    kinds = [("index.html",), ("casino", "index.html"), ("casino", f"dialogues.html{opened}")]
    rest = [(name, "dialogues.html") for name in DATASETS if name != "casino"]
    return [found.http + "/".join(parts) for parts in [*kinds, *rest, ("casino", "dialogues.html")]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])
def test_pages_meet_the_accessibility_rules(sample, open_page, size, scheme):
    rules = {
        "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]},
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


def visit(page, address):
    """Open an address, even if only its fragment is new."""
    page.goto("about:blank")
    page.goto(address)
    if "dialogues.html" in address:
        loaded(page)
