"""Widths, colours and accessibility."""

import pytest
from browsed import DATASETS, RULES, axe, is_focused, page_of, visit, width

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
    for leave in (page.locator("#window a").nth(-2), page.get_by_role("link", name="duo")):
        top = page.evaluate("() => (document.getElementById('list').scrollTop -= 5)")
        leave.click()
        page.go_back()
        page.wait_for_selector("#progress", state="hidden")
        assert page.evaluate("document.getElementById('list').scrollTop") == top > 0


ENTRIES = """() => [...document.querySelectorAll('#window li')].map((row) => {
    const box = row.getBoundingClientRect(), pane = row.closest('#list').getBoundingClientRect();
    const lines = ['.title', '.excerpt'].map((part) => row.querySelector(part));
    const tall = lines.filter((line) => line.scrollHeight > line.clientHeight).length;
    return { top: box.top - pane.bottom, bottom: box.bottom - pane.bottom,
        height: box.height, tall, whole: lines[0].scrollWidth <= lines[0].clientWidth };
})"""


@pytest.mark.parametrize("wide", [360, 768, 1280, 1920])
def test_every_width_shows_entries_of_two_lines_and_texts_whole(sample, open_page, wide):
    page = open_page("about:blank")
    page.set_viewport_size({"width": wide, "height": 800})
    for name in DATASETS:
        visit(page, page_of(sample, name))
        rows = page.evaluate(ENTRIES)
        assert all(row["height"] == 57 and not row["tall"] for row in rows), rows
        assert all(row["whole"] for row in rows) or name not in ("casino", "duo"), rows
        first = page.evaluate("document.querySelector('.turn')?.getBoundingClientRect().top")
        assert wide < 900 or first < 330, name
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
    const beyond = all('.scroll').filter((box) => box.scrollWidth > box.clientWidth);
    return [...all('dl:empty'), ...beyond].map((each) => each.outerHTML);
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
KINDS = [  # of pages, the dialogues of each dataset and some with search, filter and open dialogue
    "index.html",
    *(f"casino/index.html#{part}" for part in ("overview", "charts", "configs", "figures")),
    *(f"{name}/dialogues.html" for name in DATASETS),
    "casino/dialogues.html#q=firewood&is.deal=yes&id=2002",
    "casino/dialogues.html#not.strategies=uv-part&none=strategies&sort=-points",
    "casino/dialogues.html#is.participants.gender=female&kept=is.deal%3Dyes",
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
