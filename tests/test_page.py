"""The page in a browser: what it finds and counts, and that nothing in the text can act."""

import ast
import re
import shutil
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import hostile
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from parley.build import build
from parley.collection import discover, get
from parley.dialogues import dialogues
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
    """A written site, and the folder of the built folders it shows."""

    build: Path
    folder: Path
    http: str


# One browser, and each site written once ------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as tool:
        chromium = tool.chromium.launch(executable_path=CHROMIUM)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A folder on loopback, for sites in folders of it."""
    from parley.site.serve import serving

    root = tmp_path_factory.mktemp("served")
    with serving(root) as address:
        yield root, address


def written(served: tuple[Path, str], build: Path, name: str, datasets: list[str]) -> Site:
    folders = [find_folder(build, get(each)) for each in datasets]
    place = served[0] / name / "of some" / "site"
    place.parent.mkdir(parents=True)
    site.write_site(folders, place)
    return Site(build, place, f"{served[1]}{name}/of%20some/site/")


@pytest.fixture(scope="module")
def sample(served: tuple[Path, str], sample_build: Path) -> Site:
    return written(served, sample_build, "sample", DATASETS)


@pytest.fixture(scope="module")
def real(served: tuple[Path, str], real_build: Path) -> Site:
    there = [name for name in DATASETS if (real_build / name).is_dir()]
    return written(served, real_build, "real", there)


@pytest.fixture(scope="module")
def attacked(served: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PARLEY_DATASETS", str(hostile.write(folder)))
        dataset = get("hostile")
        build(open_source(dataset, None, sample=True), folder / "build")
        hostile.spoil(folder / "build" / "hostile" / "provenance.json")
        yield written(served, folder / "build", "hostile", ["hostile"])


@pytest.fixture
def open_page(browser: Any, served: tuple[Path, str]) -> Iterator[Any]:
    """A function that opens an address; nothing is asked of elsewhere, and nothing goes wrong."""
    context = browser.new_context(viewport=WIDE)
    context.set_default_timeout(20_000)
    wrong: list[str] = []
    own = (served[1], served[0].as_uri())

    def request(asked: Any) -> None:
        if not asked.url.startswith(own):
            wrong.append(f"asks for {asked.url}")

    def console(message: Any) -> None:
        if message.type in ("error", "warning"):
            wrong.append(message.text)

    context.on("request", request)
    context.on("console", console)
    context.on("weberror", lambda raised: wrong.append(str(raised.error)))
    context.on("dialog", lambda asks: wrong.append(f"says {asks.message}"))

    def opened(address: str, ready: bool = True) -> Any:
        page = context.new_page()
        page.goto(address)
        if ready and "dialogues.html" in address:
            loaded(page)
        return page

    yield opened
    context.close()
    assert not wrong


def loaded(page: Any) -> None:
    """Wait until all text is there to be searched."""
    page.wait_for_selector("#progress", state="hidden")


def addresses(found: Site, *parts: str) -> list[str]:
    """The addresses of a page of the site, from a server and from disk."""
    return [found.http + "/".join(parts), found.folder.joinpath(*parts).as_uri()]


# What is on the page ----------------------------------------------------------------------


def counted(page: Any) -> tuple[int, int, int]:
    """The numbers of dialogues, utterances and queries that the page says it has found."""
    text = page.locator("#count").inner_text()
    found = re.fullmatch(
        r"([\d,]+) dialogues?(?:, ([\d,]+) queries)?,?\s+([\d,]+) utterances?", text
    )
    assert found, text
    dialogues, queries, utterances = (int((n or "0").replace(",", "")) for n in found.groups())
    return dialogues, utterances, queries


def bars(page: Any) -> dict[str, dict[str, int]]:
    """Filter -> value -> how many of the current hits have it."""
    found: dict[str, dict[str, int]] = page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll('.filter')].map(filter => [
            filter.querySelector('h2').textContent,
            Object.fromEntries([...filter.querySelectorAll('.value')].map(bar => [
                bar.querySelector('.label').textContent,
                parseInt(bar.querySelector('.number').textContent.replaceAll(',', '')),
            ]))]))"""
    )
    return found


def bar(page: Any, name: str, value: str) -> Any:
    heading = page.get_by_role("heading", name=name, exact=True)
    label = page.locator(".label", has_text=re.compile(f"^{re.escape(value)}$"))
    return page.locator(".filter").filter(has=heading).locator(".value").filter(has=label)


def search(page: Any, query: str) -> None:
    page.get_by_role("searchbox").fill(query)


def state(page: Any) -> dict[str, Any]:
    """What somebody sees who looks at the dialogues."""
    return {
        "query": page.get_by_role("searchbox").input_value(),
        "count": counted(page),
        "bars": bars(page),
        "chosen": page.locator(".value[aria-pressed=true] .label").all_inner_texts(),
        "title": page.locator("#dialogue h2").all_inner_texts(),
        "marked": page.locator("#dialogue mark").all_inner_texts(),
        "list": page.locator("#window a").all_inner_texts(),
    }


# What the Parquet says --------------------------------------------------------------------


def table(build: Path, name: str, config: str) -> list[dict[str, Any]]:
    """The rows of a config, with the names of labels for their numbers."""
    built = find_folder(build, get(name))
    return built.named(config, *built.splits(config))


def ids(build: Path, name: str) -> set[str]:
    """The ids of all dialogues, as the configs have them that can be read."""
    built, transcript = find_folder(build, get(name)), get(name).transcript
    assert transcript is not None
    places = [(c, s) for c in transcript.CONFIGS for s in built.splits(c)]
    return {str(id) for place in places for id in built.ids(*place)}


def utterances(build: Path, name: str) -> list[tuple[str, str]]:
    """The id of the dialogue and the text of each thing said."""
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


def formulations(build: Path, name: str) -> list[tuple[str, str]]:
    """The query id and the text of each formulation of a judged query, where there are some."""
    rows = table(build, name, "queries") if name == "cosrec" else []
    return [(row["query_id"], text) for row in rows for text in row["variants"]]


def expected(build: Path, name: str, query: str) -> tuple[int, int, int]:
    """In how many dialogues, utterances and judged queries something is said, whatever its case."""

    def fold(text: str) -> str:
        return unicodedata.normalize("NFKC", text).lower()

    found = [id for id, text in utterances(build, name) if fold(query) in fold(text)]
    judged = {id for id, text in formulations(build, name) if fold(query) in fold(text)}
    return len(set(found)), len(found), len(judged)


# Finding ----------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [0, 1], ids=["http", "disk"])
def test_three_clicks_lead_to_a_dialogue_with_a_strategy(
    sample: Site, open_page: Any, place: int
) -> None:
    page = open_page(addresses(sample, "index.html")[place])
    page.get_by_role("link", name="Read the dialogues of CaSiNo").click()
    loaded(page)
    bar(page, "strategies", "uv-part").click()
    page.locator("#window a").last.click()
    notes = page.locator("#dialogue .note", has_text="uv-part")
    assert notes.count() > 0
    assert page.locator("#dialogue h2").inner_text() in page.locator("#window a").last.inner_text()


SEARCHES = {
    "casino": ["firewood", "FIREWOOD", "Firewood,", "$", "<script>", "🙂", "no such thing"],
    "craigslist_bargains": ["$", "the", "<script>"],
    "cosrec": ["bread", "?", "<script>"],
    "duo": ["仕事", "harmonica", "ＨＡＲＭＯＮＩＣＡ", "。", "<script>"],
}


def search_all(found: Site, open_page: Any) -> Counter[str]:
    hits: Counter[str] = Counter()
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
    return hits


def test_a_search_finds_what_the_parquet_holds(sample: Site, open_page: Any) -> None:
    hits = search_all(sample, open_page)
    assert all(hits[query] for query in ("firewood", "🙂", "$", "bread", "harmonica", "。"))
    assert not hits["no such thing"]


def test_a_search_of_the_real_data_finds_what_the_parquet_holds(real: Site, open_page: Any) -> None:
    assert search_all(real, open_page)["仕事"] == 12


def filter_casino(found: Site, open_page: Any) -> None:
    """Narrow CaSiNo step by step, and compare every bar with the views' Parquet."""
    participants = table(found.build, "casino", "participants")
    labels: dict[int, set[str]] = {}
    for row in table(found.build, "casino", "strategies"):
        labels.setdefault(row["dialogue_id"], set()).update(row["labels"])
    sides: dict[int, list[dict[str, Any]]] = {}
    for row in participants:
        sides.setdefault(row["dialogue_id"], []).append(row)
    left = set(sides)
    page = open_page(addresses(found, "casino", "dialogues.html")[0])

    def compare() -> None:
        def tally(values: Any) -> dict[str, int]:
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

    def content(each: int) -> bool:
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


def test_filters_combine_and_their_bars_count_the_parquet(sample: Site, open_page: Any) -> None:
    filter_casino(sample, open_page)


def test_filters_of_the_real_data_count_the_parquet(real: Site, open_page: Any) -> None:
    filter_casino(real, open_page)


@pytest.mark.parametrize("name", DATASETS)
def test_every_value_narrows_to_as_many_as_its_bar_says(
    sample: Site, open_page: Any, name: str
) -> None:
    page = open_page(addresses(sample, name, "dialogues.html")[0])
    every = list(dialogues(find_folder(sample.build, get(name))))
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
    for facet, values in shown.items():
        due = [each.facets[facet] for each in every if facet in each.facets]
        texts = Counter(
            text
            for value in due
            for text in set(value if isinstance(value, list) else [value])
            if isinstance(text, str)
        )
        if texts:
            assert values == texts


# Addresses and keys -----------------------------------------------------------------------


@pytest.mark.parametrize("place", [0, 1], ids=["http", "disk"])
def test_an_address_opens_the_same_again(sample: Site, open_page: Any, place: int) -> None:
    page = open_page(addresses(sample, "craigslist_bargains", "dialogues.html")[place])
    search(page, "$")
    bar(page, "deal", "yes").click()
    page.locator("#window a").last.click()
    due = state(page)
    assert due["marked"]
    assert due["title"]
    assert due["chosen"] == ["yes"]
    assert state(open_page(page.url)) == due


def test_the_browsers_back_and_forward_lead_through_what_was_seen(
    sample: Site, open_page: Any
) -> None:
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


def test_the_keys(sample: Site, open_page: Any) -> None:
    page = open_page(addresses(sample, "casino", "dialogues.html")[0])
    title = page.locator("#dialogue h2")
    titles = [text.split("\n")[0] for text in page.locator("#window a").all_inner_texts()]
    assert title.inner_text() == titles[0]
    page.keyboard.press("j")
    assert title.inner_text() == titles[1]
    page.keyboard.press("j")
    assert title.inner_text() == titles[2]
    page.keyboard.press("k")
    assert title.inner_text() == titles[1]
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


def test_all_of_it_by_keyboard(sample: Site, open_page: Any) -> None:
    """Only Tab, Enter, Space and Escape: from the start to the code that loads the hits."""
    page = open_page(addresses(sample, "index.html")[0])

    def focused() -> dict[str, Any]:
        found: dict[str, Any] = page.evaluate(
            """() => {
                const at = document.activeElement, box = at.getBoundingClientRect();
                const style = getComputedStyle(at);
                return {text: at.innerText ?? '', id: at.id, name: at.className,
                    seen: box.bottom > 0 && box.top < innerHeight && box.width > 0,
                    ring: style.outlineStyle !== 'none' || style.boxShadow !== 'none'};
            }"""
        )
        return found

    def tab_to(wanted: Any) -> None:
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


@pytest.mark.parametrize("place", [0, 1], ids=["http", "disk"])
def test_on_a_narrow_screen_one_reads_and_goes_back(
    sample: Site, open_page: Any, place: int
) -> None:
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


def test_the_table_of_figures_can_show_only_what_differs(real: Site, open_page: Any) -> None:
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


def rows_of(code: str) -> list[Any]:
    """Run what the page gives, and return the first column of the rows."""
    import datasets

    scope: dict[str, Any] = {}
    exec(code, scope)
    found = scope["rows"]
    parts = found.values() if isinstance(found, dict) else [found]
    assert all(isinstance(part, datasets.Dataset) for part in parts)
    return [row[part.column_names[0]] for part in parts for row in part]


@pytest.mark.parametrize("name", DATASETS)
def test_the_code_loads_just_these_rows(sample: Site, open_page: Any, name: str) -> None:
    query = {"casino": "firewood", "craigslist_bargains": "$", "cosrec": "bread", "duo": "i"}[name]
    page = open_page(addresses(sample, name, "dialogues.html")[0])
    every = ids(sample.build, name)
    texts = utterances(sample.build, name) + formulations(sample.build, name)
    due = {id for id, text in texts if query in text.lower()}
    assert due

    def code(part: str) -> str:
        page.get_by_role("button", name="Load this").click()
        text: str = page.locator(part).inner_text()
        page.keyboard.press("Escape")
        return text

    assert sorted(map(str, rows_of(code("#code-all")))) == sorted(every)
    search(page, query)
    assert sorted(map(str, rows_of(code("#code-all")))) == sorted(due)
    page.locator("#window a").last.click()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Load this").click()
    page.locator("#code-one-part").get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="Copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    page.keyboard.press("Escape")
    assert copied == code("#code-one")
    (one,) = rows_of(copied)
    assert str(one) in due
    assert str(one) in page.locator("#dialogue h2").inner_text()


def code_of(page: Any, part: str = "#code-all") -> ast.Module:
    """The code that the page gives, parsed and not run."""
    page.get_by_role("button", name="Load this").click()
    text = page.locator(part).text_content()
    page.keyboard.press("Escape")
    return ast.parse(text)


def test_the_code_holds_every_id_as_a_value(
    served: tuple[Path, str], sample_build: Path, tmp_path: Path, open_page: Any
) -> None:
    """Of a folder that nobody verified: one part of a split has numbers for ids, one has text."""
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
    ids = [node for node in ast.walk(code_of(page)) if isinstance(node, ast.Set)]
    assert [ast.literal_eval(value) for value in ids[0].elts] == [first, *texts, str(first)]
    links = [link.get_attribute("href") for link in page.locator("#window a").all()]
    assert len(set(links)) == len(links) > 5
    for link in links:
        page.goto(page.url.partition("#")[0] + link)
        assert page.locator("#window a.open").get_attribute("href") == link


# Whatever the text is ---------------------------------------------------------------------


def test_nothing_in_the_text_can_act(attacked: Site, open_page: Any) -> None:
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


def test_no_page_of_another_address_can_read_it(sample: Site, browser: Any, tmp_path: Path) -> None:
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


def test_every_attack_is_shown_as_text(attacked: Site, open_page: Any) -> None:
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


def as_shown(text: str) -> str:
    """Text with the number of each character that would reorder or hide others, and no end."""
    shown = "".join(
        sign if sign == "\t" or plain(sign) == sign else f"U+{ord(sign):04X}"
        for sign in text[:20_000]
    )
    return shown + (f"… and {len(text) - 20_000:,} more characters" if text[20_000:] else "")


# Everybody can use it -----------------------------------------------------------------------


def pages(found: Site) -> list[str]:
    """An address of each kind of page, the dialogues with a search, a filter and an open one."""
    (casino,) = {str(row["dialogue_id"]) for row in table(found.build, "casino", "strategies")[:1]}
    opened = f"#q=firewood&is.deal=yes&id={casino}"
    kinds = [("index.html",), ("casino", "index.html"), ("casino", f"dialogues.html{opened}")]
    rest = [(name, "dialogues.html") for name in DATASETS if name != "casino"]
    return [found.http + "/".join(parts) for parts in [*kinds, *rest, ("casino", "dialogues.html")]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["narrow", "wide"])
def test_no_page_keeps_anybody_out(
    sample: Site, open_page: Any, size: dict[str, int], scheme: str
) -> None:
    rules = {
        "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]},
        "resultTypes": ["violations"],
    }
    page = open_page("about:blank")
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=scheme)
    for address in pages(sample):
        visit(page, address)
        page.evaluate(  # of a long table 30 rows are enough, and the others take a minute
            "() => document.querySelectorAll('tr:nth-child(n + 31)').forEach(row => row.remove())"
        )
        found = axe.Axe().run(page, options=rules)
        assert found.violations_count == 0, f"{address}\n{found.generate_report()}"


def test_nothing_is_wider_than_a_narrow_screen(
    sample: Site, attacked: Site, open_page: Any
) -> None:
    page = open_page("about:blank")
    page.set_viewport_size(NARROW)

    def width() -> int:
        found: int = page.evaluate("document.scrollingElement.scrollWidth")
        return found

    for address in pages(sample):
        visit(page, address)
        assert width() <= NARROW["width"], address
    page.set_viewport_size({"width": 320, "height": 256})  # a desktop's, four times as large
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


def visit(page: Any, address: str) -> None:
    """Open an address, also if it is only another place on the same page."""
    page.goto("about:blank")
    page.goto(address)
    if "dialogues.html" in address:
        loaded(page)
