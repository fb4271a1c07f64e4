"""Readers of answers, rules of negotiations, and the prompts of the sample by their hash."""

import hashlib
import itertools
import json
import re
from dataclasses import replace

import hypothesis
import hypothesis.strategies as st
import pytest
from answers import OF_TASKS

from parley.building.built import find_folder
from parley.building.collection import discover
from parley.declaring.answers import read_object
from parley.declaring.games import Rules, State, legal, messages, step, turn
from parley.declaring.questions import (
    NO_ANSWER,
    REFUSED,
    TOOL_CALL,
    TRUNCATED,
    Asking,
    Unreadable,
)
from parley.declaring.shapes import problems
from parley.models.questions import Questions
from parley.scoring.gold import ALL

ONE_TASK = {
    name: task
    for dataset in discover().values()
    for each, task in dataset.tasks.items()
    if isinstance(task.asking, Asking) and (name := f"{dataset.name} {each}")
}


@pytest.mark.parametrize("name", ONE_TASK)
def test_a_reader_takes_what_is_clear_and_nothing_else(name):
    read, wrong = ONE_TASK[name].asking.read, []
    for text, due in OF_TASKS[name]:
        found = read(text, None)
        if not isinstance(found, Unreadable) and not (isinstance(due, dict) and due == found):
            (found,) = found.values()
        if found != due:
            wrong.append((text[:200], found, due))
    assert wrong == []


PIECES = [text for answers in OF_TASKS.values() for text, _ in answers if len(text) < 200]
PIECES += [piece for text in PIECES for piece in re.findall(r"\w+|\W", text)]
TEXTS = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=12).map("".join))


@hypothesis.settings(max_examples=25, deadline=None)
@hypothesis.given(TEXTS)
def test_a_reader_never_fails_and_gives_what_the_task_takes(text):
    for task in ONE_TASK.values():
        found = task.asking.read(text, None)
        if not isinstance(found, Unreadable):
            shape = {name: node for name, node in task.shape.items() if name in found}
            assert shape.keys() == found.keys()
            assert [*problems(found, shape)] == []


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


@pytest.mark.parametrize(("text", "due"), OF_OBJECTS)
def test_an_object_is_read(text, due):
    assert read_object(text, "a", "b") == (Unreadable(due) if isinstance(due, str) else due)


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
        ((("[Offer: 5] or [Offer: 6", TRUNCATED), "[Accept]"), "deal", 5),
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
        "You may [Accept] or [Reject].",
        "I [Walk-Away]. Well, rather: [Reject]",
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
        ("casino", "Food=2 Water=1 Firewood=0¹", None),
        ("casino", "all of it", None),
        ("craigslist_bargains", "$1,200.50", 1200.5),
        ("craigslist_bargains", "2,300/mo", 2300),
        ("craigslist_bargains", "120 USD.", 120),
        ("craigslist_bargains", "1.200", None),
        ("craigslist_bargains", "120²", None),
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
    "casino strategies": "3 21a1d4630d26faf7 c0014163722c4117",
    "casino partner-priorities": "2 4986603b3f86e69a 4b6265a36127177b",
    "casino final-deal": "2 82e27f1ada4a8e75 76a7945dcbf8656b",
    "casino outcomes": "2 1bac3ef7412be364 8274dc2459f2c1ab",
    "casino deals": "2 2a5d371d00483bd5 fc4169721f7b0200",
    "cosrec intents": "3 18cd0570a784eab7 2c93a21338c8bbed",
    "craigslist_bargains deal": "2 74cd30805442ffa6 ef3c6674d9bdfa11",
    "craigslist_bargains deals": "2 05bdd8e8e6bcc6ee 61d9568c819b57f0",
    "duo agreement": "2 ac6d33d38e4d82a5 024974a73f355710",
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
    for inner in schema.get("anyOf", ()):
        yield from faults(inner, f"{place}[]")


def allowed(schema):
    """Yield the answers that a schema allows."""
    if "anyOf" in schema:
        for each in schema["anyOf"]:
            yield from allowed(each)
    elif "enum" in schema:
        yield from schema["enum"]
    elif schema["type"] == "null":
        yield None
    elif schema["type"] == "boolean":
        yield from (True, False)
    else:
        fields = schema["properties"]
        for values in itertools.product(*map(allowed, fields.values())):
            yield dict(zip(fields, values, strict=True))


def shares(*counts):
    """Return an allocation by item, of which the sides get these packages."""
    sides = ("mturk_agent_1", "mturk_agent_2")
    pairs = zip(counts[::2], counts[1::2], strict=True)
    items = (dict(zip(sides, pair, strict=True)) for pair in pairs)
    return {"allocation": dict(zip(("Food", "Water", "Firewood"), items, strict=True))}


SEVEN = ["small-talk", "self-need", "other-need", "no-need", "elicit-pref", "uv-part", "vouch-fair"]
OF_SCHEMAS = {  # task -> answers that its schema allows, and others that it does not
    "casino strategies": (
        [dict.fromkeys(SEVEN, False), dict.fromkeys(SEVEN, False) | {"uv-part": True}],
        [dict.fromkeys(SEVEN, False) | {"bluff": True}, dict.fromkeys(SEVEN), {}],
    ),
    "casino partner-priorities": (
        [{"order": "Water > Food > Firewood"}],
        [{"order": "Water > Water > Food"}, {"order": "Water > Food"}],
    ),
    "casino final-deal": (
        [shares(0, 3, 3, 0, 1, 2), {"allocation": None}],
        [shares(0, 2, 3, 0, 1, 2), shares(3, 3, 3, 0, 1, 2), {"allocation": {}}],
    ),
    "casino outcomes": (
        [{"satisfaction": "Undecided", "likeness": "Slightly like"}],
        [{"satisfaction": "Slightly like", "likeness": "Undecided"}, {"satisfaction": "Undecided"}],
    ),
    "craigslist_bargains deal": (
        [{"probability": 0}, {"probability": 0.07}, {"probability": 1}],
        [{"probability": 100}, {"probability": -0.1}, {"probability": None}],
    ),
    "cosrec intents": (
        [{"search": True, "recommendation": False, "product_details": True}],
        [{"search": True}],
    ),
    "duo agreement": ([{"score": 1}, {"score": 5}], [{"score": 0}, {"score": 6}]),
}


@pytest.mark.parametrize("name", ONE_TASK)
def test_a_schema_allows_valid_answers_alone_and_is_one_that_strict_modes_take(name, sample_build):
    dataset, _ = name.split()
    asking = ONE_TASK[name].asking
    built = find_folder(sample_build, discover()[dataset])
    question = next(iter(asking.questions(built, **ONE_TASK[name].chosen({}))))
    assert question.schema["type"] == "object"
    assert [*faults(question.schema)] == []
    answers = [*allowed(question.schema)]
    right, wrong = OF_SCHEMAS[name]
    assert all(answer in answers for answer in right)
    assert not any(answer in answers for answer in wrong)
    task = ONE_TASK[name]
    for gold in task.gold(built, **task.chosen({})).values():
        assert asking.answer(task.target(gold)) in answers
    for answer in answers:
        found = asking.read(json.dumps(answer), question)
        assert not isinstance(found, Unreadable), answer


def test_a_change_of_prompts_or_readers_needs_a_new_version(sample_build):
    found = {}
    for name, dataset in discover().items():
        built = find_folder(sample_build, dataset)
        for task_name, task in dataset.tasks.items():
            if task.asking:
                asked = Questions(built, task_name, task.chosen({}), ALL)
                first = asked.by_key[next(iter(asked.gold))]
                read = hashlib.sha256(repr(readings(task.asking, first)).encode()).hexdigest()
                digests = task.asking.version, asked.digest[:16], read[:16]
                found[f"{name} {task_name}"] = " ".join(digests)
    assert found == PINNED, "give the changed Asking a new version, and pin its hashes here"
