"""Readers of answers, rules of negotiations, and the prompts of the sample by their hash."""

import hashlib
from dataclasses import replace

import pytest

from parley.asking.log import Questions
from parley.building.built import find_folder
from parley.building.collection import discover
from parley.declaring.games import Rules, State, legal, messages, step, turn
from parley.declaring.questions import (
    AMBIGUOUS,
    INVALID,
    NO_ANSWER,
    REFUSED,
    TOOL_CALL,
    TRUNCATED,
    Asking,
    Unreadable,
    read_labels,
    read_number,
    read_object,
    read_order,
)
from parley.scoring.gold import ALL

LABELS = ("small-talk", "self-need", "no-need", "uv-part")
ITEMS = ("Food", "Water", "Firewood")


OF_LABELS = [
    ('{"labels": ["self-need", "small-talk"]}', ["small-talk", "self-need"]),
    ('```json\n{"labels": ["Small Talk"]}\n```', ["small-talk"]),
    ('Sure! {"Labels": ["UV_part"], "why": "..."} I hope it helps.', ["uv-part"]),
    ('<think>{"labels": []}</think>{"labels": ["no-need"]}', ["no-need"]),
    ('["no-need"]', ["no-need"]),
    ("[]", []),
    ('{"labels": []}', []),
    ('{"labels": ["none"]}', []),
    ("None.", []),
    ("It uses small-talk and self-need.", ["small-talk", "self-need"]),
    ("no-need", ["no-need"]),
    ("{'labels': ['no-need']}", ["no-need"]),
    ('{"labels": ["no-need"]} {"labels": ["no-need"]}', ["no-need"]),
    ('{"labels": ["no-need"]} or {"labels": []}', AMBIGUOUS),
    ("It does not use small-talk.", AMBIGUOUS),
    ("There is no need to explain. Labels: self-need", AMBIGUOUS),
    ("It lacks small-talk", AMBIGUOUS),
    ("small-talk: 0, self-need: 1", AMBIGUOUS),
    ("- [ ] small-talk\n- [x] self-need", AMBIGUOUS),
    ('{"self-need": true, "small-talk": false}', ["self-need"]),
    ('{"labels": "self-need, small-talk"}', ["small-talk", "self-need"]),
    ("1. self-need\n2. uv-part", ["self-need", "uv-part"]),
    ("There are no strategies.", []),
    ("small\u2011talk", ["small-talk"]),
    ("I have none of the information needed to answer.", NO_ANSWER),
    ('{"excluded": ["small-talk"]}', NO_ANSWER),
    ("<think>small-talk", NO_ANSWER),
    ("self-need" + " " * 30_000, NO_ANSWER),
    ("It isn't small-talk", AMBIGUOUS),
    ("small-talk or none", AMBIGUOUS),
    ('{"labels": ["bluff"]}', INVALID),
    ('{"labels": null}', INVALID),
    ('{"labels": {"no-need": true}}', INVALID),
    ("I cannot tell.", NO_ANSWER),
    ("smalltalker", NO_ANSWER),
    ("", NO_ANSWER),
]
OF_ORDERS = [
    ('{"order": ["water", "Food", "FIREWOOD"]}', ["Water", "Food", "Firewood"]),
    ('["Water", "Food", "Firewood"]', ["Water", "Food", "Firewood"]),
    ("Water > Food > Firewood", ["Water", "Food", "Firewood"]),
    ("1. **Water**\n2. **Food**\n3. **Firewood**", ["Water", "Food", "Firewood"]),
    ("I think Water, then Food, then Firewood.", ["Water", "Food", "Firewood"]),
    ("Food > Water > Firewood\nThe final answer: food, water, firewood", [*ITEMS]),
    ("The order from high to low is Food, Water and Firewood.", [*ITEMS]),
    ('{"order": "Food > Water > Firewood"}', [*ITEMS]),
    ("It is not Food, Water, Firewood", AMBIGUOUS),
    ("My own order is Food > Water > Firewood, so my partner's is the opposite.", AMBIGUOUS),
    ("3. Food\n2. Water\n1. Firewood", AMBIGUOUS),
    ("I get 3 Food, 2 Water, 1 Firewood", AMBIGUOUS),
    ("Food = Water = Firewood", AMBIGUOUS),
    ('My order: ["Food", "Water", "Firewood"]. I cannot say about theirs.', AMBIGUOUS),
    ("Food" + "\n" * 19_000 + "is first", NO_ANSWER),
    ("!" * 20_000, NO_ANSWER),
    ("Food > Water > Firewood or Water > Food > Firewood", AMBIGUOUS),
    ("From the lowest: Food, Water, Firewood", AMBIGUOUS),
    ('{"order": ["Food", "Food", "Water"]}', INVALID),
    ('{"order": ["Food", null, "Water"]}', INVALID),
    ("Food, Food, Water", NO_ANSWER),
    ("Food", NO_ANSWER),
]
OF_NUMBERS = [
    ('{"p": 0.8}', 0.8),
    ('{"p": "80%"}', 0.8),
    ("0.8", 0.8),
    ("I would say 80 percent.", 0.8),
    (".5", 0.5),
    ("8e-1", 0.8),
    ("<think>0.1</think> 0.8", 0.8),
    ("thoughts 0.1</think>0.8", 0.8),
    ("スコアは0.8です", 0.8),
    ("０.８点", 0.8),
    ("I think the probability is 0.8.", 0.8),
    ("0.7ish", AMBIGUOUS),
    ("less than 0.8", AMBIGUOUS),
    ("The probability that they reach no deal is 0.2", AMBIGUOUS),
    ("Turn 1 fails", AMBIGUOUS),
    ('{"no_deal_probability": 0.2}', NO_ANSWER),
    ("\u22120.5", INVALID),
    ("1" + " " * 19_000 + "x", AMBIGUOUS),
    ("1", 1.0),
    ("1/1", 1.0),
    ("between 0.2 and 0.4", AMBIGUOUS),
    ('{"p": 0.2} {"p": 0.4}', AMBIGUOUS),
    ("1.5", INVALID),
    ("-0.1", INVALID),
    ("3/5", INVALID),
    ('{"p": true}', INVALID),
    ('{"p": null}', INVALID),
    ("NaN", NO_ANSWER),
    ("likely", NO_ANSWER),
]
OF_STARS = [
    ("4 out of 5", 4.0),
    ("4/5", 4.0),
    ("4/10", INVALID),
    ("4点です", AMBIGUOUS),  # words of no task
    ("300%", INVALID),
]
OF_OBJECTS = [
    ('x {"A": 1, "b": {"c": [1]}} y', {"a": 1, "b": {"c": [1]}}),
    ("**A:** one\n- b: two", {"a": "one", "b": "two"}),
    ("A: one\nb: two\nc: three", NO_ANSWER),
    ('{"a": 1, "A": 2, "b": 3}', NO_ANSWER),
    ('{"a": 1, "a": 1, "b": 3}', NO_ANSWER),
    ('{"a": NaN, "b": 3}', NO_ANSWER),
    ('{"a": 1}', NO_ANSWER),
    ("{" * 5000, NO_ANSWER),
    ('{"a": ' + '{"b": ' * 900 + "1" + "}" * 900 + ', "b": 3}', NO_ANSWER),
    ('{"a": "\\ud800", "b": 3}', NO_ANSWER),
]
READERS = [
    (lambda text: read_labels(text, "labels", LABELS, words="strategy strategies"), OF_LABELS),
    (lambda text: read_order(text, "order", ITEMS, words="partner's"), OF_ORDERS),
    (
        lambda text: read_number(text, "p", 0, 1, words="deal they reach スコア は です 点"),
        OF_NUMBERS,
    ),
    (lambda text: read_number(text, "score", 1, 5), OF_STARS),
    (lambda text: read_object(text, "a", "b"), OF_OBJECTS),
]


@pytest.mark.parametrize(
    ("read", "text", "expected"), [(read, *case) for read, cases in READERS for case in cases]
)
def test_a_reader(read, text, expected):
    assert read(text) == (Unreadable(expected) if isinstance(expected, str) else expected)


# Negotiations ----------------------------------------------------------------------------


def read_price(scenario, role, terms):
    if not terms.isdigit():
        raise ValueError("expected a price")
    return int(terms)


RULES = Rules(("buyer", "seller"), lambda scenario, role: f"You are {role}.", read_price)


def after(*turns, limit=6):
    """Return the state after turns, each a text or a text and why it is no whole answer."""
    state = State("a chair", limit)
    for each in turns:
        text, reason = (each, "") if isinstance(each, str) else each
        state = step(RULES, state, text, reason)
    return state


def contents(state):
    return [each["content"] for each in messages(RULES, state)[1:]]


@pytest.mark.parametrize(
    ("turns", "end", "offer"),
    [
        (("Hi", "[Offer: 5]", "Fine. [Accept]"), "deal", 5),
        (("[offer 5]", "[REJECT]", "[Offer: 6]", "[accept]"), "deal", 6),
        (("[Offer: 5]", "[Offer: 9]", "[Accept]"), "deal", 9),
        (("[Offer: 5] [Offer: 5]", "**[Accept]**"), "deal", 5),
        (("[Offer: 5]", "No. [Reject] [Offer: 7]", "[Accept the deal]."), "deal", 7),
        (("[Offer: 5]", "I [Accept] that, and add a lamp."), "deal", 5),
        (("[Offer: 5]", ("[Accept] because the ch", TRUNCATED)), "deal", 5),
        ((("[Offer: 5] or [Off", TRUNCATED), "[Accept]"), "deal", 5),
        (("[Offer: 5]", "[Accept if you add a lamp]", "Hm", "[Accept]"), "deal", 5),
        (("[Walk-Away]",), "walk_away", None),
        (("Hi", "[walk away]"), "walk_away", None),
        (("Hi", "Hello", "Well", "Bye", "I accept", "(accept)"), "turn_limit", None),
        (("[Offer: 5", "1", "", "2", "[Offer: five]"), "walk_away", None),
        (("[Offer: 5", "1", "", "2", "Hi", "[Accept]"), "turn_limit", None),
    ],
)
def test_a_negotiation_ends(turns, end, offer):
    state = after(*turns)
    assert (state.end, state.offer if state.end == "deal" else None) == (end, offer)
    assert turn(RULES, state) == ""
    assert legal(RULES, state) == ()
    with pytest.raises(ValueError, match="has ended"):
        step(RULES, state, "more")


@pytest.mark.parametrize(
    "last",
    [
        "I will not [Accept], I [Reject] and [Walk-Away].",
        "[Accept if you add a lamp]",
        "[Accepted]",
        "[I accept]",
        "[Accept",
        "[Offer: five]",
        "[Offer: 5] [Offer: 6]",
        "[Offer: 5] [Walk-Away]",
        "<think>[Accept]",
        "<think>well</think>",
        "",
        ("[Offer: 5", TRUNCATED),
        ("<think>well", TRUNCATED),
        ("[Accept]", REFUSED),
        ("[Accept]", TOOL_CALL),
    ],
)
def test_a_malformed_turn_changes_nothing_and_warns_its_side_alone(last):
    before, state = after("[Offer: 4]"), after("[Offer: 4]", last)
    assert state.turns[-1].fault
    assert replace(state, turns=before.turns) == before
    assert "[" not in contents(state)[-1]  # no action that nobody took
    theirs = contents(step(RULES, state, "Well?"))
    assert theirs[-1].endswith("\nWell?")
    assert "Warning 1 of 3" in theirs[-1]
    assert all(each["content"] for each in messages(RULES, state))
    assert not [each for each in contents(state) if "Warning" in each]


def test_an_answer_without_an_offer_is_malformed():
    for turns in (["[Accept]"], ["[Offer: 5]", "[Reject]", "[Accept]"], ["Hi", "[Reject]"]):
        assert after(*turns).turns[-1].fault
    assert legal(RULES, after("[Offer: 5]")) == ("offer", "accept", "reject", "walk-away")
    assert legal(RULES, after("[Offer: 5]", "no")) == ("offer", "walk-away")


def test_each_side_sees_its_own_turns_as_the_assistants():
    chat = messages(RULES, after("Hi", "[Offer: 5]"))
    assert [each["role"] for each in chat] == ["system", "user", "assistant", "user"]
    system, first = messages(RULES, after("Hi", limit=7))
    assert system["content"].startswith("You are seller.")
    assert " 7 messages" in system["content"]
    assert (first["role"], first["content"]) == ("user", "Hi")


def test_a_prediction_tells_who_erred_and_who_walked_away():
    game = discover()["casino"].task("deals").asking
    first, second = game.roles
    faults = ["[Accept]", "Hm.", "", "Hm.", "[Offer: much]"]
    for texts, malformed in ((faults, {first: 3, second: 0}), (["Hm.", *faults], None)):
        state = State({}, 20)
        for text in texts:
            state = game.step(state, text)
        turns = {first: 3, second: len(texts) - 3}
        malformed = malformed or {first: 0, second: 3}
        who = {"walked_away": first if malformed[first] else second}
        due = {"allocation": None, **who, "turns": turns, "malformed": malformed}
        assert game.outcome(state) == due


@pytest.mark.parametrize(
    ("name", "terms", "offer"),
    [
        ("casino", "Food=2 Water=1 Firewood=0", {"Food": 2, "Water": 1, "Firewood": 0}),
        ("casino", "2 food, 1 water and 0 firewood.", {"Food": 2, "Water": 1, "Firewood": 0}),
        ("casino", "Food: 2; Water: 1; Firewood: 0 for me", {"Food": 2, "Water": 1, "Firewood": 0}),
        ("casino", "Food=2 Water=1", None),
        ("casino", "Food=2 Water=1 Firewood=4", None),
        ("casino", "Food=2 Food=2 Water=1 Firewood=0", None),
        ("casino", "Food=2 Water=1 Firewood=0 or all of it", None),
        ("casino", "all of it", None),
        ("craigslist_bargains", "$1,200.50", 1200.5),
        ("craigslist_bargains", "2,300/mo", 2300),
        ("craigslist_bargains", "120 USD.", 120),
        ("craigslist_bargains", "1.200", None),
        ("craigslist_bargains", "120 or 130", None),
        ("craigslist_bargains", "-5", None),
    ],
)
def test_offers(name, terms, offer):
    game = discover()[name].task("deals").asking
    state = game.step(State({}, 20), f"[Offer: {terms}]")
    if offer is None:
        assert state.turns[-1].fault.startswith("invalid offer")
    else:
        assert (state.offer[game.roles[0]] if name == "casino" else state.offer) == offer


# Prompts of the samples and the readings of some answers, by hash --------------------------

ANSWERS = (
    "",
    "none",
    "small-talk and uv-part",
    "search",
    '{"labels": ["vouch-fair"], "types": ["product_details"], "score": 4, "probability": 0.25}',
    '{"order": ["Water", "Food", "Firewood"]}',
    "Water > Food > Firewood",
    '{"satisfaction": "undecided", "likeness": "Extremely Like"}',
    '{"allocation": null}',
    '{"allocation": {"mturk_agent_1": {"Food": 3, "Water": 0, "Firewood": 1}, '
    '"mturk_agent_2": {"Food": 0, "Water": 3, "Firewood": 2}}}',
    '{"allocation": {"mturk_agent_1": {"Food": 3, "Water": 0, "Firewood": 1}, '
    '"mturk_agent_2": {"Food": 1, "Water": 3, "Firewood": 2}}}',
    "3 out of 5",
    "50%",
)
DEALS = (
    '{"allocation": {"MTurk_Agent_1": {"food": 3.0, "water": "0", "firewood": 1}, '
    '"mturk_agent_2": {"food": 0, "water": 3, "firewood": 2}}}',
    '{"allocation": "null"}',
)
TURNS = ("[Offer: Food=3 Water=0 Firewood=1]", "[Offer: $1,200.50]", "[Offer: 3, 0, 1]", "[Accept]")

PINNED = {  # version, start of the prompts' sha256 and of the readings'
    "casino strategies": "2 b43728d5b845a229 c0014163722c4117",
    "casino partner-priorities": "2 847222173bf308b8 1d9ade032e0e2f2c",
    "casino final-deal": "1 46b5f22c45d68041 76a7945dcbf8656b",
    "casino outcomes": "2 1bac3ef7412be364 8274dc2459f2c1ab",
    "casino deals": "2 2a5d371d00483bd5 fc4169721f7b0200",
    "cosrec intents": "2 39586cefa56069a8 2c93a21338c8bbed",
    "craigslist_bargains deal": "1 c68b61773f9db8f2 ef3c6674d9bdfa11",
    "craigslist_bargains deals": "2 05bdd8e8e6bcc6ee 61d9568c819b57f0",
    "duo agreement": "1 2d23aa119c1abf62 024974a73f355710",
}


def readings(asking, question):
    """Return what becomes of some answers."""
    if isinstance(asking, Asking):
        return [asking.read(text, question) for text in (*ANSWERS, *DEALS)]
    return [asking.step(question, text) for text in TURNS]


def faults(schema, place="answer"):
    """Yield what strict modes of endpoints refuse in a schema."""
    if not {"type", "anyOf"} & schema.keys():
        yield f"{place}: no type"
    if schema.get("type") == "object":
        fields = schema["properties"]
        if schema.get("additionalProperties") is not False or {*schema["required"]} != {*fields}:
            yield f"{place}: other fields"
        for name, field in fields.items():
            yield from faults(field, f"{place}.{name}")
    for inner in (*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else ())):
        yield from faults(inner, f"{place}[]")


@pytest.mark.parametrize("name", [name for name in PINNED if not name.endswith("deals")])
def test_a_schema_is_one_that_strict_modes_take(name, sample_build):
    dataset, task = name.split()
    task_of = discover()[dataset].tasks[task]
    built = find_folder(sample_build, discover()[dataset])
    question = next(iter(task_of.asking.questions(built, **task_of.chosen({}))))
    assert question.schema["type"] == "object"
    assert [*faults(question.schema)] == []


def test_a_change_of_prompts_or_readers_needs_a_new_version(sample_build):
    found = {}
    for name, dataset in discover().items():
        built = find_folder(sample_build, dataset)
        for task_name, task in dataset.tasks.items():
            if task.asking:
                asked = Questions(built, task_name, task.chosen({}), ALL)
                first = next(iter(asked.by_key.values()))
                read = hashlib.sha256(repr(readings(task.asking, first)).encode()).hexdigest()
                digests = task.asking.version, asked.digest[:16], read[:16]
                found[f"{name} {task_name}"] = " ".join(digests)
    assert found == PINNED, "give the changed Asking a new version, and pin its hashes here"
