"""The open dialogue, and the page about a dataset."""

import re
from collections import Counter
from urllib.parse import quote_plus, unquote_plus

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from browsed import DATASETS, FEW, UV, asked, code_of, data, page_of, table, visit, written

from parley.builds.built_folder import find_folder
from parley.declaration.registry import get


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
    assert not page.locator(".rest[open]").count()  # the other values are folded
    visit(page, page_of(sample, "casino", "is.deal=yes"))
    told = page.locator("#dialogue dt").all_text_contents()
    assert told.count("deal") == 1  # marked where it stands
    assert page.locator("dd.chosen").all_text_contents() == ["yes"]


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


def test_the_page_of_a_dataset_shows_one_section_at_a_time(sample, open_page):
    page = open_page(sample.http + "casino/index.html")
    open_ = page.locator(".about > section:visible")
    links = page.get_by_role("navigation", name="Sections").get_by_role("link")
    for link in links.all():
        link.click()
        page.locator(page.url[page.url.index("#") :]).wait_for()
        assert open_.count() == 1
        assert page.evaluate("document.scrollingElement.scrollHeight") < 9000
    assert page.locator("#overview .chart a").count() > 5
    page.evaluate("location.hash = 'card-citation'")  # as a link within the card
    page.locator("#card-citation").wait_for()
    page.emulate_media(media="print")
    assert open_.count() == links.count()
    turn = page.locator("#overview .turn a").nth(2)
    text = turn.inner_text()
    turn.click()
    assert page.locator("#dialogue .turn[aria-current] .text").inner_text() == text


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
