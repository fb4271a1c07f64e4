"""CraigslistBargains' dialogue acts: upstream's rules, for any negotiation.

Upstream (stanfordnlp/cocoa, folder craigslistbargain) labelled train and validation by rules over
the text, in Python 2; the test file has no acts. These are the same rules, in their order: tokens,
prices, tags, intent, price. They use the text, the post, the events before, and the words next to
"$" prices in train: the `Contexts`. Upstream's names take the reader's point of view: `my_price` is
the reader's last price and `partner_price` the speaker's.
"""

import functools
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import Any

from .word_counts import Contexts

Record = dict[str, Any]

SELLER = 1  # an event's `agent`; the buyer's is 0

# In lower case, as from NLTK 3.2.4 for English: sentences, then words as in the Penn Treebank. A
# period is a token only at the end of a sentence.

_SIGNS = str.maketrans(dict.fromkeys("\\>/", " "))  # upstream drops these
_OPENING = re.compile(r'(?:^|(?<=[\s(\[{<]))"')  # an opening double quote
_CLOSERS = "])}'»”’"  # may stand between a period and the end of its sentence
_NUMERIC = tuple("0123456789.,")  # what a number begins with
_NUMBERED = re.compile(r"-?[.,]?\d[\d,.-]*\.")
_PIECES = re.compile(
    r"""
      \.\.\. | -- | `` | ''
    | [;@#$%&?!()\[\]{}<«»“”‘’]
    | [,:](?!\d)
    | (?: [^;@#$%&?!()\[\]{}<«»“”‘’.,:`'-] | \.(?!\.\.) | [,:](?=\d) | -(?!-) | `(?!`) | '(?!') )+
    """,
    re.VERBOSE,
)
_CLITIC = re.compile(r"(.*[^'])(n't|'(?:s|m|d|ll|re|ve)?)")
_SPLIT = ("can not", "d 'ye", "gim me", "gon na", "got ta", "lem me", "more 'n", "wan na", "'t is")
_CONTRACTIONS = {parts.replace(" ", ""): parts.split() for parts in (*_SPLIT, "'t was")}


def tokenize(text: str) -> list[str]:
    """Return the tokens of a text: words, numbers, punctuation, and prices with their "$"."""
    text = re.sub(r"\.{2,}", "...", text.lower()).translate(_SIGNS)
    if '"' in text:
        text = _OPENING.sub(" `` ", text).replace('"', " '' ")
    tokens: list[str] = []
    for word, following in pairwise((*text.split(), "")):
        if word.isalnum() and word not in _CONTRACTIONS:
            tokens.append(word)  # most are as plain as this
            continue
        for part in _without_final_period(word, following):
            for piece in _PIECES.findall(part):
                tokens += _words(piece)
    return _with_dollar_signs(tokens)


def _without_final_period(word: str, following: str) -> list[str]:
    """Return a word; if it ends a sentence, split off the period and closing marks."""
    core = word.rstrip(_CLOSERS)
    if not core.endswith(".") or core.endswith(".."):
        return [word]
    # Punkt takes "ok." for Oklahoma's, and "5. then" for an ordinal
    abbreviation = word == "ok." and following
    ordinal = _NUMBERED.fullmatch(word) and following[:1].isalpha()
    return [word] if abbreviation or ordinal else [core[:-1], ".", word[len(core) :]]


def _words(piece: str) -> Iterable[str]:
    """Return the words of a piece without punctuation, contractions split."""
    if piece in _CONTRACTIONS:
        return _CONTRACTIONS[piece]
    if "'" in piece and piece != "''" and (found := _CLITIC.fullmatch(piece)):
        return found.groups()
    return (piece,)


def _with_dollar_signs(tokens: list[str]) -> list[str]:
    """Join each "$" to the number after it, or else to the number before it."""
    if "$" not in tokens:
        return tokens
    joined: list[str] = []
    for before, this, after in _with_neighbours(tokens):
        in_front = before == "$" and this.startswith(_NUMERIC)
        behind = this == "$" and before.startswith(_NUMERIC) and not after.startswith(_NUMERIC)
        if in_front or behind:
            joined[-1] += this
        else:
            joined.append(this)
    return joined


def _with_neighbours(tokens: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield each token between those before and after it; a message's ends are tokens here."""
    padded = ["<s>", *tokens, "</s>"]
    return zip(padded, tokens, padded[2:], strict=False)


_NO_NUMBER = re.compile(r"[^\w.,]", re.A)  # what cannot be part of one


def train_contexts(records: Iterable[Record]) -> Contexts:
    """Return the contexts of these negotiations, by the rule that upstream applied to train."""
    events = (event for record in records for event in record["events"])
    texts = (event["data"] for event in events if event["action"] == "message")
    triples = chain.from_iterable(_with_neighbours(tokenize(text)) for text in texts)
    beside = [(before, after) for before, token, after in triples if _has_dollar_sign(token)]
    return Contexts(frozenset(one for one, _ in beside), frozenset(other for _, other in beside))


def prices_of(
    tokens: list[str], listed: float | None, described: frozenset[float], contexts: Contexts
) -> list[float]:
    """Return the prices of a message by the rules, in the order of the text.

    Without a listing price, which upstream always has, no number is too large. A number without "$"
    may be a price between words of `contexts`, but not one `described` in the reader's post.
    """
    prices = []
    for before, token, after in _with_neighbours(tokens):
        price = number_of(token)
        if price is None:
            continue
        if _has_dollar_sign(token) or (
            before in contexts.left
            and after in contexts.right
            and (listed is None or price <= 1.5 * listed)
            and (price == listed or price not in described)
        ):
            prices.append(price)
    return prices


@functools.lru_cache(maxsize=1 << 16)  # texts have few different tokens
def number_of(token: str) -> float | None:
    """Return the number that a token gives: 1500.0 for "1.5k", "$1,500" or "1500."."""
    token = token.replace("$", "").replace(",", "")
    if "_" in token:  # which Python 3 takes for a separator of thousands
        return None
    try:
        if token.endswith("k"):  # Python 2 then printed twelve digits, and read them again
            number = float(f"{1000 * float(token.replace('k', '')):.12g}")
        else:
            number = float(token)
    except ValueError:
        return None
    return number if math.isfinite(number) else None  # at "nan" upstream stops


def numbers_described(item: Record) -> frozenset[float]:
    """Return the numbers in a post's title and description."""
    return _numbers_in(item["Title"]) | _numbers_in(" ".join(item["Description"]))


@functools.lru_cache(maxsize=1 << 10)  # both sides read the same post
def _numbers_in(text: str) -> frozenset[float]:
    tokens = tokenize(_NO_NUMBER.sub(" ", text))
    return frozenset(number for token in tokens if (number := number_of(token)) is not None)


def _has_dollar_sign(token: str) -> bool:
    return token[0] == "$" or token[-1] == "$"


@dataclass(frozen=True)
class Act:
    """The dialogue act of an event."""

    intent: str  # one of fourteen: the action, or the purpose of a message
    price: float | None = None  # the one that it proposes, in dollars
    prices: list[float] = field(default_factory=list)  # all in a message, in the order of the text
    tags: list[str] = field(default_factory=list)  # of a message, in upstream's order


@dataclass
class State:
    """The state before an event: the last intent and price of each side, the buyer's first."""

    time: int = 0  # the number of events before
    intents: list[str] = field(default_factory=lambda: ["<start>", "<start>"])
    prices: list[float | None] = field(default_factory=lambda: [None, None])
    current_price: float | None = None  # of either side

    def add(self, speaker: int, act: Act) -> None:
        """Add an act of this side; an act without a price changes none."""
        self.time += 1
        self.intents[speaker] = act.intent
        if act.price is not None:
            self.prices[speaker] = self.current_price = act.price


_ASKING = frozenset(("what", "when", "where", "why", "which", "who", "whose", "how", "any"))
_ASKING |= {"do", "did", "does", "are", "is", "would", "will", "can", "could"}
_GREETING = frozenset(("hi", "hello", "hey", "hiya", "howdy"))
_GREETING_PHRASE = re.compile("how are you|interested in", re.I | re.A)
_NEGATION = frozenset(("no", "not", "n't"))
_VAGUE_PRICE = re.compile("come down|highest|lowest|go (?:lower|higher)|too (?:high|low)")
_AGREEMENT = re.compile(
    r"(?:that works|great|ok|okay|great, thanks|deal)[.!]*$|i can do that\.*$"
    r"|(?=[\w ]*$).*have a deal",
    re.I | re.A,
)


def tags_of(text: str, tokens: list[str], kinds: list[str]) -> list[str]:
    """Return the tags of a message whose prices are of these kinds."""
    found = {
        "question": tokens[-1:] == ["?"] or not _ASKING.isdisjoint(tokens[:1]),
        "greeting": not _GREETING.isdisjoint(tokens) or bool(_GREETING_PHRASE.search(text)),
        "negative": not _NEGATION.isdisjoint(tokens),
        "vague-price": bool(_VAGUE_PRICE.search(text)),  # of this case alone
        "agree": bool(_AGREEMENT.match(text)),
        **dict.fromkeys(kinds, True),
        "has_price": bool(kinds),
    }
    return [tag for tag, holds in found.items() if holds]


def kind_of(price: float, speaker: int, state: State, listed: float | None) -> str:
    """Return the kind of a price for the reader."""
    if price == listed:
        return "listing_price"
    if price == state.prices[1 - speaker]:
        return "my_price"
    if price == state.prices[speaker]:
        return "partner_price"
    return "price"


def intent_of(tags: list[str], speaker: int, state: State) -> str:
    """Return the intent of a message: the first that applies."""
    priced = "has_price" in tags
    if state.time == 0 and not priced:
        return "intro"
    if priced and state.current_price is None:
        return "init-price"
    if not priced and "vague-price" in tags:
        return "vague-price"
    if "price" in tags or "listing_price" in tags:
        return "counter-price"
    if "partner_price" in tags:
        return "insist"
    if tags == ["question"]:
        return "inquiry"
    if "agree" in tags or "my_price" in tags:
        return "agree"
    if not tags and state.intents[1 - speaker] == "inquiry":
        return "inform"
    if tags == ["negative"]:
        return "disagree"
    return "unknown"


def proposed(prices: list[float], speaker: int, state: State, listed: float | None) -> float | None:
    """Return the price that a side proposes by naming these: its best, unless it takes more back.

    A price that is better for the side than its last one is not proposed, nor is the listing
    price by a buyer.
    """
    last = state.prices[speaker]
    if speaker == SELLER:
        return max((p for p in prices if last is None or p <= last), default=None)
    return min((p for p in prices if (last is None or p >= last) and p != listed), default=None)


def acts(record: Record, contexts: Contexts) -> list[Act]:
    """Return the act of each event of an upstream record, whether upstream parsed it or not."""
    items = [kb["item"] for kb in record["scenario"]["kbs"]]
    described = [numbers_described(item) for item in items]
    found, state = [], State()
    for event in record["events"]:
        speaker = event["agent"]
        reader = 1 - speaker
        listed = items[reader]["Price"]
        if event["action"] == "message":
            tokens = tokenize(event["data"])
            prices = prices_of(tokens, listed, described[reader], contexts)
            kinds = [kind_of(price, speaker, state, listed) for price in prices]
            tags = tags_of(event["data"], tokens, kinds)
            price = proposed(prices, speaker, state, listed)
            act = Act(intent_of(tags, speaker, state), price, prices, tags)
        elif event["action"] == "offer":
            price = event["data"]["price"]
            act = Act("offer", None if price is None else float(price))
        else:
            act = Act(event["action"])
        found.append(act)
        state.add(speaker, act)
    return found


def is_parsed(record: Record) -> bool:
    """Return whether upstream's parser takes a negotiation or, being too short, skips it.

    A side must have 40 tokens in its messages, and each side two messages.
    """
    lengths: tuple[list[int], list[int]] = ([], [])  # of the messages of each side, in tokens
    for event in record["events"]:
        if event["action"] == "message":
            lengths[event["agent"]].append(len(tokenize(event["data"])))
    return max(map(sum, lengths)) >= 40 and min(map(len, lengths)) >= 2
