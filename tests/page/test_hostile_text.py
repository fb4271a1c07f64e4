"""Text that attacks the page, its SQL and Python, or a spreadsheet."""

import ast
import csv
import io
import re
import shutil
from urllib.parse import urlencode

from browsed import NARROW, STATE, bar, counted, page_of, saved, search, state, visit, width
from build_changes import reseal
from hostile_dataset import ATTACKS, FORMULAS

import parley
from parley.base.console import plain


def test_sql_and_python_hold_hostile_labels_and_ids_as_values(attacked, open_page, tmp_path):
    folder = shutil.copytree(attacked.build / "hostile", tmp_path / "hostile")
    reseal(folder)
    page = open_page(page_of(attacked, "hostile"))
    labels = page.evaluate(
        """async () => {
            for (const config of page.folds.keys()) await page.load(config);
            return page.filters.flatMap(f => (f.labels ?? []).map(label => [f.name, label]));
        }"""
    )
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
                        .closest('#filters, #sums, #window, .stack')).map(a => a.name),
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
    bar(page, attack, attack).locator("xpath=ancestor::section[1]").locator(".more").click()
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
