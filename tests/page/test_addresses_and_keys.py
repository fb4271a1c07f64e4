"""Addresses, the history and the keyboard."""

import re

from browsed import asked, bar, counted, expected, ids, is_focused, page_of, search, state, visit


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
        page.get_by_role("button", name="Clear").click(force=True)
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
    press("/", "Shift+Tab", "Enter")
    assert page.locator("#help p").first.is_visible()
    press("Escape", "Escape")  # closes what is open, and keeps the search
    assert not page.locator("#help p").first.is_visible()
    assert (box.input_value(), counted(page)) == ("firewood", hits)
    tab_to(page, "#clear")
    press("Enter")
    assert (box.input_value(), counted(page)[0], is_focused(box)) == ("", len(entries), True)
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
