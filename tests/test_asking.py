"""Readers of answers, rules of negotiations, and the prompts of the sample by their hash."""

import hashlib
import itertools
import json
import re
from dataclasses import replace
from time import process_time

import hypothesis
import hypothesis.strategies as st
import pytest
from test_tasks import TASKS

from parley.declaration.registry import discover
from parley.rows.built_folder import find_folder
from parley.schema.shapes import problems
from parley.tasks.answers import number_from, one_of, order_of, reader, some_of
from parley.tasks.asking import (
    AMBIGUOUS,
    INVALID,
    NO_ANSWER,
    REFUSED,
    TOOL_CALL,
    TRUNCATED,
    Asking,
    Unreadable,
    final_text,
)
from parley.tasks.games import NegotiationState, Playing
from parley.tasks.questions import Questions

ORDERS = [" > ".join(order) for order in itertools.permutations(("Food", "Water", "Firewood"))]
ONE_TASK = {name: each for name, (*_, each) in TASKS.items() if isinstance(each.asking, Asking)}


# Answers: what the shared readers make of each form, then of each task some of its own ----------

SEVERAL, WRONG, NONE = Unreadable(AMBIGUOUS), Unreadable(INVALID), Unreadable(NO_ANSWER)
SCORE = reader(score=number_from(1, 5))
LABELS = reader(labels=some_of(["small-talk", "no-need", "need"]))
ORDER = reader(order=order_of(["Food", "Water"]))
BOTH = reader(a=one_of(["yes", "no"]), b=number_from(0, 9))
BLANK_LINES = "\n" * 19_000
# reader, what it makes of each of the texts, the texts
GROUPS = [
    (SCORE, 4.0, [
        '{"score": 4}', "{'Score': '4', /* kind */}",
        'Sure!\n```json\n{\n  "score": 4\n}\n```\nThe bot asks 3 questions.',
        '<think>{"score": 2}</think>My answer: {"score": 4}.',
        '{"score": 4} {"style": 2}\n{"score": 4.0}\nFinal score: **4**',
        r"They agree at last. $\boxed{4}$", "The bot is kind.\nAnswer: 4\n",
        "The bot is kind. The final answer is 4.", "**4.**", "\uff14", 'Sure! {"score": 4}</s>',
        '[{"score": 4}]<|im_end|>', '{"answer": {"score": "4/5"}}',
        "It is kind.\n<answer>4</answer>", "The answer is 4.", "答えは4です。",
        "The bot is kind, so the score is 4 out of 5.",
        "{'Score': '4', why: None, confidence: 0.9}", '{"result": {"final_rating": 4}} // kind',
        '"score": 4', '{"score": "4"', '{"score": 4}<|im_end|>\n<|im_start|>user\n{"score": 2}',
        "<|channel|>analysis<|message|>Score 2<|end|><|channel|>final<|message|>4",
        '{"reasoning": "It is kind, a 3 or more.", "score": 4}', "{“score”: “4”}",
        r'\boxed{\{"score": 4\}}', "<score>4</score>", "スコアは「4」です。",
        '\0{"score": 4, "why": NULL}', '{"answer": 4}', '{"score": [}\n{"score": 4}',
        "Score:\n\nScore: 4", "Wait, what?\nIt is kind.\nScore: 4", "```json\n4\n```",
        "スコアは4点とします。", f"Score: 4{BLANK_LINES}.",
    ]),
    (SCORE, WRONG, [
        '{"score": 6}', '{"score": "4.²"}', "Answer: 4 (very good)",
        '{"score": 4}\nFinal answer: it is kind', "Answer: " + "[" * 5000,
        '{"score": 4, "style": 3}', '{"score": true}', "Score: 4 <sup>1</sup>",
    ]),
    (SCORE, NONE, [
        "4 (very good)", 'The answer is not {"score": 4}.', '{"score": 4} - no, 2', '{"score": 4',
        '{"score": 4, "score": 4}', '{"draft": {"score": 2}, "score": [}',
        '{"why": "\\ud800", "score": 4}', "{" * 5000, "{'score': 4}" * 800, "4" + " " * 30_000,
        "4/10", '{"example": {"score": 4}}', 'Use the following format: {"score": 3}',
        "On a scale from 1 (lowest) to 5 (highest), I'd give it a **4**.",
        "★★★★☆ (four out of five)", "The score is 4 because it is kind.",
        "I'd give it at least a 4.", "评分不是4分。", "<style>4</style>", '{"score": 0x4}',
        '{"score": 2}\nWait, that is wrong.',
        'An example of the format: {"score": 3}\nI cannot rate it.', "For example:\nScore: 3",
        "Score: 3\nSorry, 4.", "It is hard to say. The maximum score is 5.",
        "Score: 3\nUpon review, 4.", "Score: 3\nA 4 is fairer.",
        'The format is {"score": 3}', '{"score": 4} is wished.\nSo it is.',
        "{'score': 4, 'score': 4}", "I would not say that the score is 4",
        "Score: 3\n\nI changed my mind: 4",
        "\u0664",  # a digit of Arabic
    ]),
    (SCORE, SEVERAL, [
        'Draft: {"score": 4}, then final answer: 2', '{"score": 4}\nScore: 2',
        '{"score": 4} or {"score": 2}', '{"score": 4}\n回答: 2',
        "Score: 3\nOn reflection, Score: 4", '{"score": 2}\nThe score is 4 after all.',
    ]),
    (SCORE, 3.5, ['{"score": 3.5}\nThe score is 3.5 because it is kind.']),
    (LABELS, ["small-talk"], [
        '{"small-talk": 1, "no-need": 0, "need": 0}', "small talk: true\nno_need: no\nneed: false",
        '{"Small Talk": TRUE, "no_need": 0, "need": False, "why": ""}',
        "- small-talk: true\n- no-need: no\n- need: false", "[x] small-talk\n[ ] no-need\n[ ] need",
        "**small-talk**: はい - hello\n(no-need): 否\nneed: ❌",
        '{"small-talk": "yes", "no-need": 0, "need": {"value": "False", "reason": "a greeting"}}',
        '{"Small Talk": true, "no_need": false, "need": False}',
    ]),
    (LABELS, WRONG, [
        '{"labels": {"small-talk": 1, "no-need": 0, "need": 0, "bluff": 1}}',
        '{"labels": ["need", "bluff"]}',
    ]),
    (LABELS, NONE, [
        "- small-talk: true\n- no-need: no", "Rejected labels: need, small-talk",
        '{"small-talk": true|false, "no-need": true|false, "need": true|false}',
        "- small-talk: a greeting\n- no-need: has enough\n- need: asks for more", "No need.",
        '{"small-talk": true, "small talk": false, "need": true}',
    ]),
    (LABELS, ["small-talk", "need"], [
        "Labels used: need, small-talk", '{"labels": ["need", "small\u2011talk", "need"]}',
        "`need`, `small-talk`",
    ]),
    (LABELS, ["no-need"], ["```\n['no-need',]\n```"]),
    (LABELS, [], ["None."]),
    (ORDER, ["Water", "Food"], [
        "Water ⇒ Food", "1. Water\n2. Food", "Water → Food", '{"order": "water > food"}',
        "Water, Food", f"Water > Food{BLANK_LINES}.", r"$\boxed{\text{Water} > \text{Food}}$",
        '{"partner_order": "Water &gt; Food"}', "**Partner's order:** Water > Food",
    ]),
    (ORDER, WRONG, [
        '{"order": {"": "Food", "high": "Water"}}',
        '{"order": "Food > Water", "direction": "low to high"}', '{"order": ["Food", "Food"]}',
        f"Order: {' ' * 19_000}x",
    ]),
    (ORDER, NONE, [
        '{"order": "Food > Water"}\nfrom low to high', "Food < Water", "Food (low) > Water (high)",
        "They care the most about Water, then Food.", "Water (5) > Food (4)", "," * 19_000,
        "Your order is Water > Food.", "My own order is Food > Water.", "Food, Water (ascending)",
        "Least to most preferred:\nOrder: Food > Water", "Order: Food > Water\nLeast first.",
        "Order: Food > Water\nAscending.",
    ]),
    (BOTH, {"a": "yes", "b": 3.0}, [
        '{"A": "YES.", "b": 3}', "a: yes\nb: 3", "| **A** | yes |\n| B | 3/9 |",
        "<a>yes</a><b>3</b>", "1. A: yes, as it rains.\n2. B → 3",
    ]),
    (BOTH, WRONG, ['{"a": "maybe", "b": 3}']),
    (BOTH, NONE, [
        '{"a": "yes", "A": "no", "b": 3}', "a: yes", "a: yes\nb: 3\na: no", "a: perhaps\nb: 3",
    ]),
    (BOTH, SEVERAL, [
        'a: yes\nb: 3\n{"a": "yes", "b": 4}', '{"a": "yes", "b": 3}\n{"a": "no", "b": 3}',
    ]),
]  # fmt: skip
FORMS = [(read, text, due) for read, due, texts in GROUPS for text in texts]


@pytest.mark.parametrize(("read", "text", "due"), FORMS)
def test_an_answer_is_read_in_the_form_asked_for_and_none_is_chosen(read, text, due):
    before = process_time()
    found = read(text)
    if isinstance(found, dict) and not isinstance(due, dict):
        (found,) = found.values()
    assert found == due
    assert process_time() - before < 1


BY_ITEM = {"Food": (3, 0), "Water": (0, 3), "Firewood": (1, 2)}
SIDES = ("mturk_agent_1", "mturk_agent_2")
BY_SIDE = {side: {i: both[n] for i, both in BY_ITEM.items()} for n, side in enumerate(SIDES)}
DEAL = json.dumps({item: dict(zip(SIDES, both, strict=True)) for item, both in BY_ITEM.items()})
LINES = "mturk_agent_1: 3 Food, 0 Water, 1 Firewood\nAgent 2 - Food 0, Water 3, Firewood 2"
BELIEFS = dict(zip(ORDERS, (0.05, 0.1, 0.05, 0.1, 0.4, 0.3), strict=True))
GROUPS_OF_TASKS = [
    ("casino strategies", {"labels": ["self-need"]}, [json.dumps({"labels": ["self-need"]})]),
    ("casino strategies", {"labels": ["small-talk"]}, ["small-talk"]),
    ("casino strategies", NONE, ["non-strategic"]),
    ("casino partner-priorities", {"order": ["Water", "Food", "Firewood"]}, [
        "Water > Food > Firewood", "Low: Firewood, medium: Food, high: Water",
        "Highest priority: Water\nMedium priority: Food\nLowest priority: Firewood",
        '{"order": {"low": "Firewood", "high": "Water", "medium": "Food"}}',
    ]),
    ("casino partner-priorities", WRONG, [
        '{"order": "Water > Food"}',
        '{"order": {"high": "Water", "medium": "Food", "last": "Firewood"}}',
    ]),
    ("casino final-deal", {"allocation": BY_SIDE}, [
        f'{{"allocation": {DEAL}}}', json.dumps({"allocation": BY_SIDE}), LINES,
        f'{{"allocation": {DEAL.replace("3", "3.0")}}}', f'{{"allocation": {DEAL.upper()}}}',
    ]),
    ("casino final-deal", {"allocation": None}, [
        "**Allocation:** null (no deal)", "{'allocation': None}",
        '{"allocation": "No deal"}',
    ]),
    ("casino final-deal", NONE, [
        "No deal yet.", "No deal, as mturk_agent_2 walks away.", LINES.replace(":", " wants"),
        '{"allocation": {"Food": {...}}}',
    ]),
    ("casino final-deal", WRONG, [
        f'{{"allocation": {DEAL.replace("3", "3.5", 1)}}}',
        f'{{"allocation": {DEAL.replace("3", "2", 1)}}}',
        f'{{"allocation": {DEAL.replace("3", "true", 1)}}}',
    ]),
    ("casino final-deal", SEVERAL, [f'{{"allocation": null}}\n{DEAL}']),
    ("casino outcomes", {"satisfaction": "Slightly satisfied", "likeness": "Undecided"}, [
        '{"satisfaction": "slightly-satisfied", "likeness": "Undecided"}',
    ]),
    ("casino outcomes", WRONG, ['{"satisfaction": "Undecided", "likeness": "Slightly satisfied"}']),
    ("casino outcomes", NONE, [
        "Slightly satisfied, Undecided",
        '{"partner_answer": {"satisfaction": "Undecided", "likeness": "Undecided"}}',
        "satisfaction: Undecided\nlikeness: Slightly like (or Undecided)",
    ]),
    ("casino beliefs", {"probabilities": BELIEFS}, [
        json.dumps(BELIEFS), json.dumps({"probabilities": BELIEFS}),
        "\n".join(f"- {order}: {p:.0%}" for order, p in BELIEFS.items()),
    ]),
    ("casino beliefs", WRONG, [
        json.dumps(BELIEFS | {"Food > Water > Firewood": -0.05, "Food > Firewood > Water": 0.2}),
        json.dumps(BELIEFS | {"Wood > Food > Water": 0}),
    ]),
    ("casino beliefs", {"probabilities": BELIEFS | {"Food > Water > Firewood": 0.3}}, [
        json.dumps(BELIEFS | {"Food > Water > Firewood": 0.3}),
    ]),
    ("casino beliefs", NONE, [
        json.dumps(BELIEFS).removesuffix("3}"), json.dumps(dict([*BELIEFS.items()][1:])),
        "Water > Food > Firewood",
    ]),
    ("casino decisions", {"decision": "walk_away"}, ['{"decision": "walk away"}', "Walk-Away"]),
    ("casino bids", {"Food": 2, "Water": 0, "Firewood": 3}, [
        '{"Food": 2, "Water": "0", "Firewood": 3.0}', "Food: 2\nWater: 0\nFirewood: 3",
    ]),
    ("casino bids", WRONG, [
        '{"Food": 2.5, "Water": 0, "Firewood": 3}', '{"Food": 4, "Water": 0, "Firewood": 3}',
    ]),
    ("craigslist_bargains deal", {"probability": 0.8}, [
        '{"probability": .8}', '{"deal_probability": 80%}', "Deal probability: 0.8",
        "0.8/1", "The probability is 80%.",
    ]),
    ("craigslist_bargains deal", WRONG, [
        '{"probability": 80}', '{"deal": false, "probability": 0.9}',
    ]),
    ("craigslist_bargains deal", NONE, [
        "I'm 80% sure that they reach a deal.", "80% chance that they do not agree.", "50/50",
    ]),
    ("craigslist_bargains deal", SEVERAL, ['{"probability": 0.80}\nThe probability is 0.7.']),
    ("cosrec intents", {"types": ["search", "product_details"]}, ["search, product details"]),
    ("cosrec intents", WRONG, ['{"types": ["buy"]}']),
    ("cosrec intents", NONE, ["search, not recommendation"]),
    ("duo agreement", {"score": 3.5}, ["3.5"]),
    ("duo agreement", WRONG, ['{"score": 10}']),
    ("duo agreement", {"score": 4.0}, ["4点"]),
]  # fmt: skip
OF_TASKS = [(name, text, due) for name, due, texts in GROUPS_OF_TASKS for text in texts]


@pytest.mark.parametrize(("name", "text", "due"), OF_TASKS)
def test_each_task_reads_its_answer(name, text, due):
    assert ONE_TASK[name].asking.read(text) == due


PIECES = [text for *_, text, _ in (*FORMS, *OF_TASKS) if len(text) < 200]
PIECES += [piece for text in PIECES for piece in re.findall(r"\w+|\W", text)]
TEXTS = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=12).map("".join))


@hypothesis.settings(max_examples=25, deadline=None)
@hypothesis.given(TEXTS)
def test_a_reader_never_fails_and_gives_what_the_task_takes(text):
    for task in ONE_TASK.values():
        found = task.asking.read(text)
        if not isinstance(found, Unreadable):
            shape = {name: node for name, node in task.shape.items() if name in found}
            assert shape.keys() == found.keys()
            assert [*problems(found, shape)] == []


# Negotiations ----------------------------------------------------------------------------


def read_price(scenario, role, terms):
    if not terms.isdigit():
        raise ValueError("expected a price")
    return int(terms)


GAME = Playing(
    "1", ("buyer", "seller"), lambda built: (), lambda scenario, role: f"You are {role}.",
    read_price, lambda scenario, price: {}, agreed="price", agents={},
)  # fmt: skip


def after(*turns, limit=6):
    """Return the state after turns, each a text or a text and why it is no whole answer."""
    state = NegotiationState("a chair", limit)
    for each in turns:
        text, reason = (each, "") if isinstance(each, str) else each
        state = GAME.step(state, text, reason)
    return state


def contents(state):
    return [each["content"] for each in GAME.messages(state)[1:]]


@pytest.mark.parametrize(("turns", "end", "offer"), [
    (("Hi", "[Offer: 5]", "Fine.\n[Accept]"), "deal", 5),
    (("[offer 5]", "[REJECT]", "[Offer: 6]", "[accept]"), "deal", 6),
    (("[Offer: 5] [Offer: 5]", "So:\n- **[Accept].**\nThanks!"), "deal", 5),
    (("[Offer: 5]", "Well.\n[Counter-offer: 7]", "[Accept the deal]"), "deal", 7),
    (("[Offer: 5]", ("[Accept]\nbecause the ch", TRUNCATED)), "deal", 5),
    ((("[Offer: 5]\nor [Offer: 6", TRUNCATED), "[Accept]"), "deal", 5),
    (("[Offer: 5]", "[Accept if you add a lamp]", "Hm", "[Accept]"), "deal", 5),
    (("[Walk-Away]",), "walk_away", None), (("Hi", "[walk away]"), "walk_away", None),
    (("Hi", "Hello", "Well", "Bye", "I accept", "(accept)"), "turn_limit", None),
    (("[Offer: 5", "1", "", "2", "[Offer: five]"), "walk_away", None),
    (("[Offer: 5", "1", "", "2", "Hi", "[Accept]"), "turn_limit", None),
])  # fmt: skip
def test_a_negotiation_ends(turns, end, offer):
    state = after(*turns)
    assert (state.end, state.offer if state.end == "deal" else None) == (end, offer)
    assert GAME.turn(state) == ""
    with pytest.raises(ValueError):  # noqa: PT011
        GAME.step(state, "more")


@pytest.mark.parametrize("last", [
    "I cannot [Accept] this.", "Will you [Accept] my last offer?", "I accept your [Offer: 4].",
    "[Accept]?", "[Accept]\n[Walk-Away]", "[Accept if you add a lamp]", "[Accept", "[Offer: five]",
    "[Offer: 5] [Offer: 6]", "[Offer: 5] [Walk-Away]", "<think>[Accept]", "<think>well</think>", "",
    ("[Offer: 5", TRUNCATED), ("[Accept]", REFUSED), ("[Accept]", TOOL_CALL),
])  # fmt: skip
def test_a_malformed_turn_changes_nothing_and_warns_its_side_alone(last):
    before, state = after("[Offer: 4]"), after("[Offer: 4]", last)
    assert state.turns[-1].fault
    assert replace(state, turns=before.turns) == before
    assert "[" not in contents(state)[-1]  # no action that nobody took
    theirs = contents(GAME.step(state, "Well?"))
    assert theirs[-1].endswith("\nWell?")
    assert "Warning 1 of 3" in theirs[-1]
    assert all(each["content"] for each in GAME.messages(state))
    assert not [each for each in contents(state) if "Warning" in each]


def test_an_answer_without_an_offer_is_malformed():
    for turns in (["[Accept]"], ["[Offer: 5]", "[Reject]", "[Accept]"], ["Hi", "[Reject]"]):
        assert after(*turns).turns[-1].fault


def test_each_side_sees_its_own_turns_as_the_assistants():
    chat = GAME.messages(after("Hi", "[Offer: 5]"))
    assert [each["role"] for each in chat] == ["system", "user", "assistant", "user"]
    system, first = GAME.messages(after("Hi", limit=7))
    assert system["content"].startswith("You are seller.")
    assert " 7 messages" in system["content"]
    assert (first["role"], first["content"]) == ("user", "Hi")


@pytest.mark.parametrize(("name", "terms", "offer"), [
    ("casino", "Food=2 Water=1 Firewood=0", {"Food": 2, "Water": 1, "Firewood": 0}),
    ("casino", "2 food, 1 water and 0 firewood.", {"Food": 2, "Water": 1, "Firewood": 0}),
    ("casino", "Food=2 Water=1", None), ("casino", "Food=2 Water=1 Firewood=4", None),
    ("casino", "Food=2 Food=2 Water=1 Firewood=0", None),
    ("casino", "Food=2 Water=1 Firewood=0 or all of it", None),
    ("casino", "Food=2 Water=1 Firewood=0¹", None), ("craigslist_bargains", "$1,200.50", 1200.5),
    ("craigslist_bargains", "2,300/mo", 2300), ("craigslist_bargains", "120 USD.", 120),
    ("craigslist_bargains", "1.200", None), ("craigslist_bargains", "120 or 130", None),
    ("craigslist_bargains", "-5", None),
])  # fmt: skip
def test_offers(name, terms, offer):
    game = discover()[name].task("deals").asking
    state = game.step(NegotiationState({}, 20), f"[Offer: {terms}]")
    if offer is None:
        assert state.turns[-1].fault.startswith("invalid offer")
    else:
        assert (state.offer[game.roles[0]] if name == "casino" else state.offer) == offer


# Prompts of the samples and the readings of some answers, by hash --------------------------

TURNS = ("[Offer: Food=3 Water=0 Firewood=1]", "[Offer: $1,200.50]", "[Offer: 3, 0, 1]", "[Accept]")

PINNED = {  # version, start of the prompts' sha256 and of the readings'
    "casino strategies": "4 be56c01b04c68632 70e334f71f3b9198",
    "casino partner-priorities": "5 525cba5481aaaabc a9a309c75066cbd8",
    "casino beliefs": "2 20b312335d5e62cd 8371f4e01c8770f0",
    "casino decisions": "1 5a17eec826bda60a a51fd81cc9432cb3",
    "casino bids": "1 207e0dc22dc31937 f223db255f45a194",
    "casino final-deal": "4 080c8ace48a4ed54 a8854eac8aae7a05",
    "casino outcomes": "4 3a7cdf69e8681ef5 78904259dd6bd7b6",
    "casino deals": "3 8109d14fd7ecef4e cdaac637e59eedca",
    "cosrec intents": "4 49634547435196a7 a9b5e9e6c245b9fd",
    "craigslist_bargains deal": "4 5eab481703a0c255 b913d45f3684ef9a",
    "craigslist_bargains deals": "3 c866c6e70bf4ab79 445cb459fda5f56f",
    "duo agreement": "4 35363277566e3cae 2bee5e0d37d8d2f3",
}


def readings(asking, question):
    """Return what becomes of some answers."""
    if isinstance(asking, Asking):
        return [asking.read(text) for *_, text, _ in (*FORMS, *OF_TASKS)]
    return [asking.step(question, text) for text in TURNS]


def allowed(schema):
    """Yield the answers that a schema allows; strict modes of endpoints have to take it."""
    assert {"type", "anyOf"} & schema.keys()
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
        assert (schema["additionalProperties"], schema["required"]) == (False, [*fields])
        for values in itertools.product(*map(allowed, fields.values())):
            yield dict(zip(fields, values, strict=True))


# no schema says that six numbers are 1 together
@pytest.mark.parametrize("name", [name for name in ONE_TASK if name != "casino beliefs"])
def test_a_schema_allows_valid_answers_alone_and_is_one_that_strict_modes_take(name, sample_build):
    """That the right answers are among them, test_build shows."""
    dataset, _, task = TASKS[name]
    built = find_folder(sample_build, dataset)
    question = next(iter(task.asking.questions(built, **task.chosen({}))))
    assert question.schema["type"] == "object"
    for answer in allowed(question.schema):
        found = task.asking.read(f"```json\n{json.dumps(answer)}\n```")
        assert not isinstance(found, Unreadable), answer


def test_an_answer_is_as_long_as_nfkc_makes_it():
    assert (final_text("\ufdfa" * 100) != "", final_text("\ufdfa" * 2000)) == (True, "")


def test_a_change_of_prompts_or_readers_needs_a_new_version(sample_build):
    found = {}
    for name, (dataset, each, task) in TASKS.items():
        if task.asking:
            asked = Questions(find_folder(sample_build, dataset), each, task.chosen({}))
            read = repr(readings(task.asking, asked.by_key[next(iter(asked.gold))]))
            digests = asked.digest[:16], hashlib.sha256(read.encode()).hexdigest()[:16]
            found[name] = " ".join((task.asking.version, *digests))
    assert found == PINNED, "give the changed Asking a new version, and pin its hashes here"
