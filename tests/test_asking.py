"""Answers read by the rule, rules of negotiations, and the prompts of the sample by their hash."""

import hashlib
import itertools
import json
import re
from dataclasses import replace
from time import process_time

import hypothesis
import hypothesis.strategies as st
import pytest
from every_task import TASKS, allowed

import parley
from parley.base.errors import ScriptError
from parley.builds.built_folder import find_folder
from parley.declaration.registry import discover
from parley.schema.shapes import problems
from parley.scoring.questions import Questions
from parley.tasks.answers import EMPTY, INVALID, NO_ANSWER, REFUSED, TOOL_CALL, TRUNCATED, read
from parley.tasks.games import NegotiationState, Playing
from parley.tasks.kinds import Number, OneOf, OrderOf, Probabilities, SomeOf, Whole, schema_of
from parley.tasks.prediction_formats import UNREADABLE
from parley.tasks.prompts import Asking
from parley.tasks.thoughts import final_text

ONE_TASK = {name: each for name, (*_, each) in TASKS.items() if isinstance(each.asking, Asking)}


# Answers: the rule, then each kind of field, then a text of each task that means another side ----

WRONG, NONE = {UNREADABLE: INVALID}, {UNREADABLE: NO_ANSWER}
SCORE = {"score": Number(1, 5, "a score", step=1)}
BOTH = {"a": OneOf({"yes": ["[Oh yes.]"], "no": []}, "an a"), "b": Whole(0, 9, "a b", "own.b")}
FOUR, YES_3 = {"score": 4.0}, {"a": "yes", "b": 3}
OF_RULE = [
    (SCORE, FOUR, [
        '{"score": 4}', 'Sure!\n```json\n{\n  "score": 4\n}\n```\nThe bot asks 3 questions.',
        '{"score": 2} is a draft. {"score": 4}, as it is kind.', '[{"score": 2}, {"score": 4}]',
        "{'Score': '4', /* kind */}", "{'why': None, 'is_kind': True, 'score': 4}",
        '<think>{"score": 2}</think>My answer: {"score": 4}.', '{"answer": {"score": 4}}',
        '{"score": 4}\nWait, that is wrong: 2.', '{"score": {}\n}\n{"score": 4}',
        '{"score": 4}</s>',
        "<|channel|>analysis<|message|>Score 2<|end|><|channel|>final<|message|>4",
        "The bot is kind.\n4", "**Answer:** 4\n", "The final score is **4**.",
        "### My answer = `4`", "4。", "\uff14", "score: 2\nscore: 4\n\n```", "2\n> Score: 4",
        r"They agree at last. $\boxed{4}$ is right.", "\\boxed{3} was a draft.\nAnswer: 4",
        '{"score": kind} {"score": 4}', '{{"score": 4}}', '{"score": 2} {"answer": 4}',
        '{"why": "Sad\n:}", "score": 4}', "{'why': 'kind\nor so', 'score': 4, 'a': None}",
        "Sad :} is {'why': 'Sad :}', 'score': 4}", '{"score": 2\n}\n{"answer": {"score": 4}}',
        'Sad :{ or {1, 2 or ["x.\n{"score": 4}', r"$\left\{ 5a \right.$ {'score': 4}",
        "<answer>\n4\n</answer> is right.", '<answer>2</answer> or {"score": 4}',
        "So it is:\n\\boxed{4}", "It is kind:\n\nScore: 4", "My score:\n- 4", "- kind\n- Score: 4",
        "Kind\n> 4", "- 2\n- 4\n\n4", "Answer:\n\\boxed{4} of 5", r"The answer is $\boxed{4}$.",
        '{"score": 4, "step 1": 0, "step-1": 0}',
    ]),
    (SCORE, WRONG, [
        '{"score": 6}', '{"score": 4}\n{"score": "kind"}', "Answer: -4", "Score: 120²",
        "Score: > 3", "Score: - 3", "\\boxed{4}\nAnswer: kind",
    ]),
    (SCORE, NONE, [
        "I'd give it a 4.", "4, as it is kind", "Your score: 4", "4\nThe bot is kind.",
        '{"score": 4', *(f'\\boxed{{2}} {{"score": 2}} {last}' for last in (
            '{"score": kind}', '{"score": 4, "why": "a "kind" one"}', '{"score": 4', "{score = 4}",
            "{“score”: 4}", '{"why": "kind, "score": 4点}', '{"answer": kind}', '{"score": n} 4',
        )),
        "Of \\boxed{1} to \\boxed{5}:\n4", "**Style:**\n\n4", "1\n4", "- 1\n- 4", "* 4", "4 5",
        '{"style": 4}', '{"score": 4, "score": 4}', '{"why": "\\ud800", "score": 4}', "\u0664",
        '{"draft": {"score": 2}, "style": 4}', '{"draft": {"score": 2}, "score": [}', "<think>4",
        '{"why": ":}" "other": {"score": 4}}', '["a",' * 100 + "{a:1}," * 500,
        "{a:[1," + "1," * 9900, "[" * 5000, "{" * 20_000, "{'score': 4}}, " * 800 + "]",
        "4" + " " * 30_000, ", " * 9000, r"\boxed{2} {a:" + "[1," * 3000, '{"score": ' * 2000,
        '{"' + r'\"' * 9000,
    ]),
    (SCORE, {UNREADABLE: EMPTY}, [" \n"]),
    (BOTH, YES_3, [
        '{"A": "YES.", "own": {"B": 3}, "partner": {"b": 9}}',
        '{"a": "[Oh Yes.]", "own": {"b": 3.0}}',
    ]),
    (BOTH, WRONG, [
        '{"a": "maybe", "own": {"b": 3}}', '{"a": "yes", "own": 3}',
        '{"a": "yes", "own": {"b": 3.5}}',
        '{"a": "yes", "own": {"b": 3, "B": 3}}', '{"a": true, "own": {"b": 3}}',
    ]),
    (BOTH, NONE, ["a: yes\nb: 3", '{"a": "yes", "b": 3}', '{"a": "yes", "partner": {"b": 3}}']),
    (BOTH, NONE, ['{"a": "yes", "own": {"b": 3}} {"a": "no", "own": {"b": 3}']),
]  # fmt: skip
ORDERS = [" > ".join(order) for order in itertools.permutations(("Food", "Water", "Firewood"))]
BELIEFS = dict(zip(ORDERS, (0.05, 0.1, 0.05, 0.1, 0.4, 0.3), strict=True))
LABELS = {"labels": SomeOf(["small-talk", "no-need", "need"], "labels")}
ORDER = {"order": OrderOf(["Fire wood", "Water"], "an order")}
CHANCE = {"p": Number(0, 1, "a chance")}
OF_KINDS = [
    (LABELS, {"labels": ["small-talk", "need"]}, [
        '{"labels": {"need": true, "Small Talk": true, "no_need": false}}',
        '["need", "small\u2011talk"]',
        '{"small-talk": 1, "no-need": 0, "need": "TRUE", "why": ""}',
        '{"labels": ["need", "small-talk"]}',
    ]),
    (LABELS, {"labels": []}, ["Labels: []", "None.", '{"labels": "none"}']),
    (LABELS, {"labels": ["need"]}, ["Not ['small-talk'] but:\n['need']", "[]\nLabels: ['need']"]),
    (LABELS, {"labels": ["no-need", "need"]}, ["`need`, `No need`", "Labels: need, no need."]),
    (LABELS, WRONG, ['{"labels": {"need": true}}', '{"labels": ["bluff"]}', "Labels: no, need"]),
    (LABELS, NONE, [
        "No needs.", "need\nsmall-talk", "- [ ] need", '{"need": true, "no-need": false}',
    ]),
    (ORDER, {"order": ["Water", "Fire wood"]}, [
        '{"order": "water > firewood"}', '["Water", "Fire-Wood"]', "Water, Firewood",
        "Order: Water > Firewood",
        r"$\boxed{\text{Water} > \text{Firewood}}$",
    ]),
    (ORDER, WRONG, ['{"order": "Water"}', '{"order": ["Water", "Water"]}', '{"order": [1, 2]}']),
    (ORDER, NONE, [
        "Water < Firewood", "My own order is Water > Firewood.",
        '{"own_order": "Water > Firewood"}',
    ]),
    ({"age": OneOf(["½–1"], "an age")}, {"age": "½–1"}, ['{"age": "½–1"}']),
    (SCORE, FOUR, ['{"score": "4/5"}', "Score: 4 / 5", "4.0"]),
    (SCORE, WRONG, ['{"score": "4/10"}', '{"score": "80%"}', '{"score": true}', '{"score": [4]}']),
    (CHANCE, {"p": 0.8}, ['{"p": .8}', "p: 80%", r"\boxed{80\%}", '{"p": "80 %"}', "0.8/1"]),
    (CHANCE, WRONG, ['{"p": 80}', '{"p": "4/5"}']),
    ({"p": Probabilities(ORDERS, "chances")}, {"p": BELIEFS}, [
        json.dumps(BELIEFS), json.dumps({"p": BELIEFS}).replace(" > ", ">"),
        json.dumps({"p": {order: f"{p:.0%}" for order, p in BELIEFS.items()}}),
    ]),
    ({"p": Probabilities(ORDERS, "chances")}, WRONG, [
        json.dumps({"p": dict.fromkeys(ORDERS, 0)}),
        json.dumps({"p": dict([*BELIEFS.items()][1:])}),
        json.dumps({"p": BELIEFS | {ORDERS[0]: -0.05}}), '{"p": 1}',
    ]),
]  # fmt: skip
FORMS = [(f, text, due) for f, due, texts in (*OF_RULE, *OF_KINDS) for text in texts]


@pytest.mark.parametrize(("fields", "text", "due"), FORMS)
def test_an_answer_is_read_by_the_rule(fields, text, due):
    before = process_time()
    assert read(text, fields) == due
    assert process_time() - before < 1


@pytest.mark.parametrize("declare", [
    lambda: OneOf([], "no name"), lambda: SomeOf(["a-b", "AB"], "names that are read alike"),
    lambda: SomeOf(["a", "None"], "none"), lambda: SomeOf(["a, b"], "two or one"),
    lambda: OrderOf(["a > b", "c"], "an order"), lambda: OrderOf("abcdefgh", "40,320 orders"),
    lambda: OneOf(map(str, range(501)), "many"), lambda: Number(0, 100, "in steps of 0.01"),
    lambda: Number(5, 1, "no number"), lambda: Number(1, 5, "no step", step=0),
])  # fmt: skip
def test_a_kind_that_nobody_could_answer_is_an_error(declare):
    with pytest.raises(ScriptError):
        declare()


def test_a_schema_has_bounds_of_many_whole_numbers():
    assert Whole(0, 5000, "many").schema == {"type": "integer", "minimum": 0, "maximum": 5000}


AGENTS = ("mturk_agent_1", "mturk_agent_2")
BY_ITEM = {
    "Food": {"mturk_agent_1": 3, "mturk_agent_2": 0},
    "Water": {"mturk_agent_1": 0, "mturk_agent_2": 3},
    "Firewood": {"mturk_agent_1": 1, "mturk_agent_2": 2},
}
BY_SIDE = {side: {item: counts[side] for item, counts in BY_ITEM.items()} for side in AGENTS}
DEAL = {"allocation": BY_SIDE}


def deal_of(food):
    """Return an answer that gives so much food to the first agent."""
    return json.dumps({"allocation": BY_ITEM | {"Food": BY_ITEM["Food"] | {AGENTS[0]: food}}})


ITEMS = {"Food": 1, "Water": 2, "Firewood": 0}
FEELS = {"satisfaction": "Undecided", "likeness": "Slightly like"}
OTHER_ORDER = {"order": ["Water", "Food", "Firewood"]}
ACCEPT, LIKELY, NEED = {"decision": "accept"}, {"probability": 0.8}, {"labels": ["self-need"]}
OF_TASKS = [  # a task, the fields that are read, and answers of a model
    ("casino strategies", NEED, ['{"labels": ["self-need"]}']),
    ("casino strategies", {"labels": ["no-need"]}, ["no need"]),
    ("casino strategies", NONE, ['{"strategies of B": ["self-need"]}']),
    ("casino partner-priorities", NONE, [
        '{"own_order": "Food > Water > Firewood"}', "My own order: Food > Water > Firewood",
        "My order: Food > Water > Firewood", "Mine:\nFood > Water > Firewood",
        "Mine:\nOrder: Food > Water > Firewood", 'Mine is ["Food", "Water", "Firewood"], as said.',
    ]),
    ("casino partner-priorities", OTHER_ORDER, [
        "Order: Water > Food > Firewood", '{"order":1,"partner_order":"Water,Food,Firewood"}',
        "Mine is ['Food'].\nAnswer: Water, Food, Firewood",
        "Partner order: Water > Food > Firewood", '{"partner_order": "Water > Food > Firewood"}',
    ]),
    ("casino beliefs", NONE, [json.dumps({"own order": BELIEFS})]),
    ("casino final-deal", DEAL, [
        json.dumps({"allocation": BY_ITEM}), json.dumps(BY_ITEM).upper().replace("3", "3.0"),
        json.dumps({"allocation": BY_SIDE}),
    ]),
    ("casino final-deal", {"allocation": None}, ["{'allocation': None}", "Allocation: null"]),
    ("casino final-deal", WRONG, [deal_of(3.5), deal_of(2), deal_of(True), deal_of("3 or 2")]),
    ("casino final-deal", NONE, ["No deal.", json.dumps(ITEMS)]),
    ("casino outcomes", FEELS, [json.dumps({"Partner": {}, "You": FEELS})]),
    ("casino outcomes", NONE, [
        json.dumps(FEELS), json.dumps({"Partner": FEELS}), "Undecided, Slightly like",
    ]),
    ("casino decisions", ACCEPT, [
        '{"decision": "accept_deal"}', "Accept-Deal", "[I accept the deal.]",
    ]),
    ("casino decisions", {"decision": "walk_away"}, ["walk away", "Decision: [I walk away.]"]),
    ("casino decisions", NONE, ['{"partner_decision": "accept"}', "Partner: accept", "not accept"]),
    ("casino bids", ITEMS, [json.dumps({"partner": {}, "own": ITEMS})]),
    ("casino bids", NONE, [
        json.dumps(ITEMS), json.dumps({"partner": ITEMS}), f"My partner gets: {json.dumps(ITEMS)}",
        "Food: 1\nWater: 2",
    ]),
    ("craigslist_bargains deal", LIKELY, [
        '{"probability_of_a_deal": 0.8}', "Probability of a deal: 80%", '{"probability": 0.8}',
    ]),
    ("craigslist_bargains deal", NONE, [
        "No deal:\n0.9", '{"probability_of_no_deal": 0.2}', "The probability of no deal is 20%.",
    ]),
    ("cosrec intents", NONE, ["no recommendation", '{"other types": ["search"]}']),
    ("duo agreement", {"score": 3.5}, ["スコア\n3.5"]),
    ("duo agreement", NONE, ['{"score_of_the_user": 4}', "User score: 4"]),
]  # fmt: skip
ANSWERS = [(name, text, due) for name, due, texts in OF_TASKS for text in texts]


@pytest.mark.parametrize(("name", "text", "due"), ANSWERS)
def test_a_task_reads_its_answer_and_none_of_another_side(name, text, due):
    assert ONE_TASK[name].read(text) == due


PIECES = [text for *_, text, _ in (*FORMS, *ANSWERS) if len(text) < 200]
PIECES += [piece for text in PIECES for piece in re.findall(r"\w+|\W", text)]
TEXTS = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=12).map("".join))


@hypothesis.settings(max_examples=25, deadline=None)
@hypothesis.given(TEXTS)
def test_a_reader_never_fails_and_gives_what_the_task_takes(text):
    for task in ONE_TASK.values():
        found = task.read(text)
        if UNREADABLE not in found:
            assert [*problems(found, dict(task.answer))] == []


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
        assert state.turns[-1].fault
    else:
        assert (state.offer[game.roles[0]] if name == "casino" else state.offer) == offer


TURNS = ("[Offer: Food=3 Water=0 Firewood=1]", "[Offer: $1,200.50]", "[Offer: 3, 0, 1]", "[Accept]")

PINNED = {  # version, start of the sha256 of the prompts, and of a game's turns
    "the reader": "340e31e1262f25eb",
    "casino strategies": "2 5ede94ce8b87b2a1",
    "casino partner-priorities": "1 78837e191c912b9d",
    "casino beliefs": "1 93e8c4f2b1b97ddb",
    "casino decisions": "1 913a179bd1967ab5",
    "casino bids": "1 706c99a557a87bc6",
    "casino final-deal": "1 1d01688c6d76969d",
    "casino outcomes": "1 c0fad560f7820d50",
    "casino deals": "1 8109d14fd7ecef4e cdaac637e59eedca",
    "cosrec intents": "1 8b6b8b3bb58192da",
    "craigslist_bargains deal": "1 af3c1f0a16beabd8",
    "craigslist_bargains deals": "1 c866c6e70bf4ab79 445cb459fda5f56f",
    "duo agreement": "1 db9f4fa4b0a9ac3f",
}


# no schema says that six numbers are not all 0
@pytest.mark.parametrize("name", [name for name in ONE_TASK if name != "casino beliefs"])
def test_a_schema_allows_valid_answers_alone_and_is_one_that_strict_modes_take(name):
    """That the right answers are among them, the next test shows."""
    task = ONE_TASK[name]
    schema = schema_of(task.asked)
    assert schema["type"] == "object"
    for answer in allowed(schema):
        assert UNREADABLE not in task.read(f"```json\n{json.dumps(answer)}\n```"), answer


@pytest.mark.parametrize("name", ONE_TASK)
def test_questions_for_a_loop_are_those_of_a_log_in_the_order_of_pilots(name, sample_build):
    """Their targets are the right answers, in the form that the prompt asks for."""
    jsonschema = pytest.importorskip("jsonschema", reason="inspect, which brings it, is absent")
    dataset, each, task = TASKS[name]
    of = Questions(find_folder(sample_build, dataset), each, task.chosen({}))
    found = parley.questions(dataset.name, each, build=sample_build)
    assert [tuple(row["key"].values()) for row in found] == [*of.by_key]
    for place, (key, row) in enumerate(zip(of.by_key, found, strict=True)):
        assert ({*row["key"]}, row["pilot"]) == ({*task.key}, place)
        assert (*row["messages"],) == of.first_messages(key)
        jsonschema.validate(row["target"], row["schema"])
        assert task.read(json.dumps(row["target"])) == task.right(of.gold[key])
    assert parley.questions(dataset.name, each, build=sample_build, limit=2) == found[:2]


def test_the_command_writes_the_questions_of_a_part(sample_build, tmp_path, run):
    (tmp_path / "ids").write_text("2001\n2004\n")
    place = ("--ids", tmp_path / "ids", "--set", "at=after-1", "--build", sample_build)
    said = run("questions", "casino", "beliefs", "-o", tmp_path / "q.jsonl", *place).stdout
    given = {"ids": [2001, 2004], "at": "after-1"}
    due = parley.questions("casino", "beliefs", build=sample_build, **given)
    lines = (tmp_path / "q.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == due
    assert {row["key"]["dialogue_id"] for row in due} == {2001, 2004}
    given["ids"] = "2001"  # one id, not its letters
    one = parley.questions("casino", "beliefs", build=sample_build, **given)
    assert {row["key"]["dialogue_id"] for row in one} == {2001}
    assert f"{len(due)} " in said


def test_an_answer_is_as_long_as_nfkc_makes_it():
    assert (final_text("\ufdfa" * 100) != "", final_text("\ufdfa" * 2000)) == (True, "")


def test_a_change_of_prompts_or_of_the_reader_needs_new_versions(sample_build):
    readings = repr([read(text, fields) for fields, text, _ in FORMS])
    found = {"the reader": hashlib.sha256(readings.encode()).hexdigest()[:16]}
    for name, (dataset, each, task) in TASKS.items():
        if task.asking:
            asked = Questions(find_folder(sample_build, dataset), each, task.chosen({}))
            found[name] = f"{task.asking.version} {asked.digest[:16]}"
            if isinstance(task.asking, Playing):
                state = asked.by_key[next(iter(asked.gold))]
                turns = repr([task.asking.step(state, text) for text in TURNS])
                found[name] += f" {hashlib.sha256(turns.encode()).hexdigest()[:16]}"
    assert found == PINNED, "give the changed Asking a new version, and pin its hashes here"
