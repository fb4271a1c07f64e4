"""Search and filters: what they find, count and say, as the Parquet has it."""

import random
import re
from collections import Counter
from urllib.parse import urlencode

import pytest
from browsed import (
    DATA,
    DATASETS,
    FEW,
    STATE,
    UV,
    answer,
    asked,
    bar,
    bars,
    code_of,
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

import parley
from parley.builds.build import build
from parley.builds.sources import open_source
from parley.declaration.registry import get

MOODS = ["Extremely dissatisfied", "Slightly dissatisfied", "Undecided"]
MOODS += ["Slightly satisfied", "Extremely satisfied"]
NO_NEED = "list_contains(used, 'no-need')"
# dataset -> query -> the words that it asks for
SEARCHES = {
    "casino": {
        **{word: [word] for word in ("firewood", "🙂", "can’t")},
        "no such thing": ["no", "such", "thing"],
        "water need": ["need", "water"],
        "  Need   WATER ": ["need", "water"],
        '"need water"': ["need water"],
        "“need water” extra": ["need water", "extra"],
        'need" water': ['need"', "water"],
        **{query: [] for query in ("   ", '""', "“”")},
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
        found = ("firewood", "🙂", "can’t", "$", "bread", "harmonica", "。")
        assert all(hits[query] for query in found)


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
def test_filters_are_chosen_by_the_pointer_and_count_what_passes_the_others(
    request, open_page, data
):
    found = request.getfixturevalue(data)
    build, page = found.build, open_page(page_of(found, "casino"))
    clear, together = page.get_by_role("button", name="Clear"), page.get_by_label("the same side")
    uv_part, known = bar(page, "strategies", "uv-part"), "used is not null"
    assert clear.is_disabled()
    uv_part.locator("xpath=ancestor::*/button[@class='more']").click()
    place = bar(page, "deal", "yes").evaluate("bar => bar.offsetTop")
    uv_part.click()
    field(page, "points", "at most").fill("18")
    assert counted(page)[0] == len(having(build, f"{UV} and {FEW}")) > 0
    # a value that widens counts what passes the other filters
    assert shown(page, "strategies") == tally(build, "unnest(used)", FEW)
    assert shown(page, "satisfaction") == tally(build, "satisfaction", f"{UV} and {FEW}")
    together.uncheck()
    assert counted(page)[0] == len(having(build, UV) & having(build, FEW))
    assert state(open_page(page.url)) == state(page)
    title, least = page.locator("#dialogue h2").inner_text(), field(page, "points", "at least")
    least.fill("5")
    least.press("j")  # in a field, no shortcut
    assert page.locator("#dialogue h2").inner_text() == title
    limited = having(build, "points_scored between 5 and 18")
    assert counted(page)[0] == len(having(build, UV) & limited)
    least.fill("19")
    assert (counted(page)[0], page.locator("output:not(:empty)").count()) == (0, 1)
    together.check()
    clear.click()
    assert bar(page, "deal", "yes").evaluate("bar => bar.offsetTop") == place  # nothing moved
    uv_part.click(modifiers=["Shift"])  # on one side absent
    assert "one side did not use uv-part" in page.locator("#count").inner_text()
    moods = tally(build, "satisfaction", f"{known} and not {UV}")
    assert shown(page, "satisfaction") == moods
    bar(page, "strategies", "no-need").click()  # what one more label adds lacks uv-part, too
    assert shown(page, "strategies") == tally(build, "unnest(used)", f"{known} and not {UV}")
    bar(page, "strategies", "no-need").click()
    page.get_by_label("strategies: which sides").select_option("no side with")
    assert counted(page)[0] == len(having(build, known) - having(build, UV)) > 0
    assert "no side used uv-part" in page.locator("#count").inner_text()
    assert not page.locator(".where bdi").count()  # no side stands out
    assert state(open_page(page.url)) == state(page)
    clear.click()
    page.get_by_role("button", name="strategies: without uv-part").click()
    assert shown(page, "satisfaction") == moods
    clear.click()
    for label in ("uv-part", "no-need"):
        bar(page, "strategies", label).click()
    page.get_by_label("strategies: any or all").select_option("all")
    assert shown(page, "strategies") == tally(build, "unnest(used)", f"{UV} and {NO_NEED}")
    assert state(open_page(page.url)) == state(page)


def test_a_heading_and_a_value_tell_what_they_mean(sample, open_page):
    page, casino = open_page(page_of(sample, "casino", "is.deal=yes")), get("casino")
    text = page.locator(".meaning:visible")
    for name in ("points", "satisfaction"):
        page.get_by_role("heading", name=name, exact=True).hover()
        assert text.all_inner_texts() == [casino.meanings[casino.layout.facets[name].column]]
        text.hover()
        assert text.count() == 1
        page.keyboard.press("Escape")
        assert not text.count()
        assert "deal=yes" in page.url  # Escape hides the text, and keeps the filters
    label = casino.configs["strategies"].features["labels"][0]
    for look in ("hover", "focus"):
        getattr(bar(page, "strategies", "no-need"), look)()
        assert text.all_inner_texts() == [label.meanings["no-need"]]
        page.keyboard.press("Escape")
        assert not text.count()


BARS = """() => page.filters.filter(({ scale }) => scale).every((filter) =>
    [filter.bars[0], filter.bars.at(-1)].every((bar) => {
        bar.click();
        const { min, max } = filter.ends, { bars, places } = filter;
        const passes = (each) => (min.value || -1e9) <= each && each <= (max.value || 1e9);
        const told = bar.ariaLabel.replace(',', '').includes(`: ${page.selection.count} dialogue`);
        return told && !filter.values.some((each, n) => passes(each) !== (bar === bars[places[n]]))
            && !bar.click() && !filter.choice;
    }))"""  # whether each bar chooses exactly its numbers, once


@DATA
def test_a_bar_chooses_its_numbers_by_pointer_and_keyboard(request, open_page, data):
    for name in ("casino", "duo"):  # whole numbers and others
        page = open_page(page_of(request.getfixturevalue(data), name))
        assert page.evaluate(BARS)
        page.locator("[role=toolbar] button").first.focus()
        for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "Enter", "Tab"):
            page.keyboard.press(key)
        assert page.locator(":has(> :nth-child(2)[aria-pressed=true]) ~ .ends :focus").count() == 1


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
    byId('numbers').open = true;
    page.count(true);
    const rows = [...document.querySelectorAll('#sums tbody')].map(({ rows: [top, row] }) => {
        const [name, bars, ...of] = [...top.cells, ...row.cells];
        const counts = [...bars.firstChild.children].map(bar => number(bar.title));
        const every = of.map(cell => cell.children[0]?.textContent.replace(/^(all|kept) /, ''));
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


MORE = """async () => {
    for (const config of page.folds.keys()) await page.load(config);
    return page.filters.filter((filter) => filter.isMore).map((filter) => [
        filter.name, filter.column, filter.labels, filter.labels ? [] : [...filter.values],
        page.index.configs[filter.column.config].id, filter.sides ? "speaker" : "null",
    ]);
}"""


def by_column(connection, dataset, rng, column):
    """Return a term of the address, and the dialogues and sides that pass it by SQL."""
    name, about, labels, numbers, id, side = column
    cell = f'unnest("{about["path"][0]}")' if about["list"] else f'"{about["path"][0]}"'
    rows = f"select {id}, {side}, {cell} as x from {dataset}.{about['config']}"
    rows = connection.execute(f"select * from ({rows}) where x is not null").fetchall()
    told = {True: "yes", False: "no"}.get
    if not labels:
        end, limit = rng.choice(("min", "max")), rng.choice(numbers)
        passes = (lambda x: x >= limit) if end == "min" else (lambda x: x <= limit)
        return (f"{end}.{name}", limit), {(id, side) for id, side, x in rows if passes(x)}
    label, is_without = rng.choice(labels), rng.random() < 0.3
    found = {(id, side) for id, side, x in rows if told(x, x) == label}
    every = {(id, side) for id, side, _ in rows}
    how = "not" if is_without else "is"
    return (f"{how}.{name}", label), every - found if is_without else found


@DATA
@pytest.mark.parametrize("name", DATASETS)
def test_sixty_selections_by_columns_under_more_are_those_of_sql(request, open_page, data, name):
    place, rng, seen = request.getfixturevalue(data), random.Random(name), 0
    page = open_page(page_of(place, name))
    columns, every = page.evaluate(MORE), page.evaluate("page.index.ids")
    with parley.connect(place.build / name) as connection:
        for _ in range(60):
            chosen = rng.sample(columns, 2)
            found = [by_column(connection, name, rng, column) for column in chosen]
            terms, passing = zip(*found, strict=True)
            apart = [("apart", 1)] if rng.random() < 0.5 else []
            if apart or any(column[-1] == "null" for column in chosen):
                passing = [{(id, None) for id, _ in each} for each in passing]
            address = f"#{urlencode([*terms, *apart])}"
            found, _ = page.evaluate(STATE, address)
            due = {str(id) for id, _ in passing[0] & passing[1]}
            assert found == [id for id in every if id in due], address
            seen += 0 < len(found) < len(every)
    assert seen > 10


def test_a_kept_selection_stands_beside_another(sample, open_page):
    kept = "is.participants.gender=female&q=the"  # of a column that is loaded for it
    page = open_page(page_of(sample, "casino", kept))
    due, sums, ids = bars(page), page.evaluate(SUMS), page.evaluate("page.selection.ids()")
    page.get_by_role("button", name="Keep to compare").click()
    page.get_by_role("button", name="Clear").click()
    bar(page, "deal", "no").click()
    for again in (page, open_page(page.url)):
        shown_now = again.locator(".filter .number").all_inner_texts()
        counts = [int(re.search(r", kept ([\d,]+)$", text)[1]) for text in shown_now]
        assert counts == [count for values in due.values() for count in values.values()]
        for name, (_, _, of_kept) in again.evaluate(SUMS).items():
            assert [None if each == "–" else float(each) for each in of_kept] == sums[name][0]
        assert answer(sample.build / "casino", code_of(again, "#code-kept")) == ids
    page.get_by_role("button", name="Drop").click()
    assert "kept" not in page.url
    assert not page.locator("#kept").is_visible()
