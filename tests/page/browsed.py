"""What the tests of the page share: sites, what a page shows, and what the Parquet holds."""

import codecs
import functools
import re
import unicodedata
from types import SimpleNamespace

import pytest

import parley
from parley.builds.built_folder import find_folder
from parley.declaration.registry import discover, get
from parley.read.dialogues import places

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
site = pytest.importorskip("parley.page.site", reason="the extra `site` is not installed")
data = pytest.importorskip("parley.page.page_data")
serve = pytest.importorskip("parley.page.serve")
WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 320, "height": 640}
DATASETS = list(discover())
DATA = pytest.mark.parametrize("data", ["sample", "real"])


def written(served, build, name, selection=data.ALL, of="*"):
    """Write the page of builds in a folder; return the folders of both and the address."""
    folders = [find_folder(build, get(path.name)) for path in sorted(build.glob(f"{of}/"))]
    place = served[0] / name / "of some" / "site"
    place.parent.mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:  # another test may publish these builds
        patch.setenv("PARLEY_CACHE", str(served[0] / "no cache"))
        site.write_site(folders, place, selection=selection)
    return SimpleNamespace(build=build, folder=place, http=f"{served[1]}{name}/of%20some/site/")


def visit(page, address):
    """Open an address, even if only its fragment is new, and wait until all text is searchable."""
    page.goto("about:blank")
    page.goto(address)
    if "dialogues.html" in address:
        page.wait_for_selector("#progress", state="hidden")


def page_of(found, name, state=""):
    """Return the address of a state of a dataset's page of dialogues."""
    return f"{found.http}{name}/dialogues.html" + (f"#{state}" if state else "")


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
    return unicodedata.normalize("NFKC", text.replace("’", "'")).lower()


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


def answer(build, sql):
    """Return the ids that SQL finds, in order."""
    with parley.connect(build) as connection:
        return [str(id) for (id,) in connection.execute(sql).fetchall()]


def having(build, test):
    """Return the dialogues of which one side passes a test."""
    return {id for (id,) in asked(build, f"select dialogue_id from sides where {test}")}


def tally(build, value, test):
    """Count the dialogues by each value of a side that passes a test."""
    counts = "count(distinct dialogue_id)"
    sides = f"select dialogue_id, {value} as value from sides where {test}"
    return dict(asked(build, f"select value, {counts} from ({sides}) group by all"))


UV, FEW = "list_contains(used, 'uv-part')", "points_scored <= 18"


def code_of(page, part="#code-all"):
    """Return the code of the page."""
    page.locator("#load").click()
    text = page.locator(part).text_content()
    page.keyboard.press("Escape")
    return text


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


STATE = """async (to) => {
    history.replaceState(null, "", to);
    await page.restore();
    return [page.selection.ids(), `${new Sql(page.selection)}`];
}"""  # from an address to the selection


def width(page):
    return page.evaluate("document.scrollingElement.scrollWidth")


RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]},
    "rules": {"region": {"enabled": True}}, "resultTypes": ["violations"],
}  # fmt: skip
