"""Search and filters: what they find, count and say, as the Parquet has it."""

import random
from collections import Counter
from urllib.parse import urlencode

import pytest
from browsed import (
    DATA,
    FEW,
    STATE,
    UV,
    answer,
    asked,
    bar,
    counted,
    expected,
    field,
    fold,
    having,
    ids,
    page_of,
    search,
    shown,
    state,
    tally,
    texts,
    written,
)

from parley.builds.build import build
from parley.builds.sources import open_source
from parley.declaration.registry import get

MOODS = ["Extremely dissatisfied", "Slightly dissatisfied", "Undecided"]
MOODS += ["Slightly satisfied", "Extremely satisfied"]
NO_NEED = "list_contains(used, 'no-need')"
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


def test_a_search_finds_rows_without_a_transcript(served, tea, open_page, tmp_path, monkeypatch):
    (tea.folder / "transcript.py").unlink()
    monkeypatch.setenv("PARLEY_DATASETS", str(tea.folder.parent))
    build(open_source(tea, None, sample=True), tmp_path / "build")
    page = open_page(page_of(written(served, tmp_path / "build", "rows"), "tea"))
    every, _ = page.evaluate(STATE, "#")
    found, sql = page.evaluate(STATE, "#q=kettle")
    assert answer(tmp_path / "build" / "tea", sql) == found
    assert 0 < len(found) < len(every)


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
        column = get("casino").layout.words[name].column
        assert text.all_inner_texts() == [get("casino").meanings[column]]
        text.hover()
        assert text.count() == 1
        page.keyboard.press("Escape")
        assert not text.count()
        assert "deal=yes" in page.url  # Escape hides the text, and keeps the filters


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
