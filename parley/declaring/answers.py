"""Readers of a model's answers: strict about meaning, lenient about form.

A reader takes JSON as people write it (JSON5: comments, trailing commas, any quotes), code fences,
prose around JSON, and any case. It refuses an answer that can be read in two ways. An answer in
words holds hardly more than the answer itself: some common words, the `words` that its task names,
in lower case, such as "strategy strategies", and perhaps a last sentence that gives a reason.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from parley.base.strict_json import loads
from parley.declaring.questions import (
    AMBIGUOUS,
    INVALID,
    NO_ANSWER,
    Question,
    Unreadable,
    final_text,
)

_RAISED = "[²³¹\u2070\u2074-\u2079\u2080-\u2089\u2460-\u249b\u24ea]"
_JOINT = re.compile(rf"(?<=\d)(?={_RAISED})|(?<=\d[.,])(?={_RAISED})|(?<={_RAISED})(?=[.,]?\d)")


def written(text: str) -> str:
    """Return the final text of an answer; "120²" becomes "120^2" and so no other number."""
    return final_text(_JOINT.sub("^", text))


# JSON --------------------------------------------------------------------------------------------

_DEEPEST = 20  # levels of JSON; no answer needs as many
_MOST = 20  # objects, whole or broken; no answer needs as many, and JSON5 is parsed slowly
_STRICT = json.JSONDecoder()
_STRAIGHT = {ord(curly): '"' for curly in "“”„‟«»"} | {ord(curly): "'" for curly in "‘’‚‛"}
_PYTHONS = re.compile(r"\b(?:None|True|False)\b")


def _parsed(text: str, place: int) -> tuple[Any, int]:
    """Return the JSON or JSON5 value at a place, and where it ends; ValueError if there is none."""
    try:
        _, end = _STRICT.raw_decode(text, place)
    except ValueError:
        import json5  # not at the top: only few answers need it

        of_python = {"None": "null", "True": "true", "False": "false"}
        straight = _PYTHONS.sub(lambda match: of_python[match[0]], text.translate(_STRAIGHT))
        for each in (text, straight):  # of the same length
            value, error, end = json5.parse(
                each, start=place, consume_trailing=False, allow_duplicate_keys=False
            )
            if not error:
                return loads(json.dumps(value)), end
        raise
    return loads(text[place:end]), end  # refuses repeated keys, NaN and halves of characters


# What stands before an object that is no answer, and after one that is taken back
_DENIED = re.compile(
    r"(?:(?:\bnot|n['’]t|\bnever|\binstead of|\bunlike|\bwrong|"
    r"(?<!in )\bthe (?:\w+ ){0,2}format (?:is|was)|"
    r"\ban? (?:perfect|ideal) \w+ (?:would )?(?:gets?|has|have|receives?|scores?))"
    r"(?: (?:answer|output))?[^\w.!?;。)\]\n]*|"
    r"\b(?:example(?: (?:answer|output))?|e\.g\.)[^\w.!?;。)\]]*)"
    r"(?:(?::|```)\W*)?(?:json\W*)?$",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(
    r"(?:\A\W{0,6}|[.!?\n*(]\s{0,4})(?:no[,.!:]|(?:actually|wait|sorry|oops|correction|hmm|"
    r"scratch that|on second thoughts?|on (?:further )?reflection)\b)|"
    r"\A[^\w\n.!?]{0,6}(?:is|was|would be)(?:n['’]t| not| wrong| incorrect| false)\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"\d+(?:\.\d+)?")
_SENTENCE = re.compile(r"(?:[^.!?\n]|\.(?=\d))+")


def _objects(text: str) -> list[tuple[dict[str, Any], bool]]:
    """Return the JSON objects in a text, outermost ones only, and whether each is meant.

    One is not meant after "not" or "for example", or before "Wait," and the like. Nothing within a
    broken object is read, and nothing at all among too many.
    """
    found: list[tuple[dict[str, Any], bool]] = []
    place = text.find("{")
    for _ in range(_MOST):
        if place < 0:
            return found
        try:
            value, end = _parsed(text, place)
        except (ValueError, RecursionError):
            end = _closed(text, place)
        else:
            if not _is_deep(value):
                is_denied = _DENIED.search(text[max(0, place - 60) : place])
                is_back = _is_taken_back(text[place:end], text[end:])
                found.append((value, not (is_denied or is_back)))
        place = text.find("{", end)
    return []


def _is_taken_back(given: str, after: str) -> bool:
    """Tell whether the text after an object takes it back, or judges again by another number."""
    known = {*map(float, _FIGURE.findall(given))}
    return bool(_TAKEN_BACK.search(after)) or any(
        _judges_again(each) and not known.issuperset(map(float, _FIGURE.findall(each)))
        for each in _SENTENCE.findall(after.casefold())
    )


def _judges_again(sentence: str) -> bool:
    """Tell whether a sentence, in lower case, turns to what its speaker would answer."""
    said = _WORD.findall(sentence)
    is_turn = "however" in said or said[:1] == ["but"]
    return is_turn and bool(_SPEAKER.intersection(said) and _JUDGES.intersection(said))


def _closed(text: str, place: int) -> int:
    """Return the end of the braces that open at a place; that of the text if they do not close."""
    depth = 0
    for brace in re.compile("[{}]").finditer(text, place):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return brace.end()
    return len(text)


def _is_deep(value: Any) -> bool:
    """Tell whether a value is nested deeper than readers, which may recurse, can follow."""
    level = [value]
    for _ in range(_DEEPEST):
        inner = [each.values() if isinstance(each, dict) else each for each in level]
        level = [each for group in inner for each in group if isinstance(each, dict | list)]
    return bool(level)


def read_object(text: str, *fields: str) -> dict[str, Any] | Unreadable:
    """Return the one JSON object of an answer that has these fields, whatever case and plural.

    Further fields are ignored. Without an object, "field: value" for each field, on lines of their
    own or after a comma, will do.
    """
    text = written(text)
    due = {_key(name): name for name in fields}
    found = []
    for value, is_meant in _objects(text):
        by_name = {_key(name): each for name, each in value.items()}
        if len(by_name) == len(value) and due.keys() <= by_name.keys():
            if not is_meant:
                return Unreadable(AMBIGUOUS)
            found.append({name: by_name[key] for key, name in due.items()})
    if not found and "{" not in text:
        said = (_stated(each, fields) for each in (text, _without_reason(text)))
        found = [each for each in said if each][:1]
    one: dict[str, Any] | Unreadable = _one(found)
    return one


def _stated(text: str, fields: Sequence[str]) -> dict[str, str] | None:
    """Return the fields that a text states as "field: value", each once, and nothing else."""
    names = "|".join(map(re.escape, fields))
    sign = rf"(?:^|[\n,;])[\s*`\u2022-]{{0,8}}({names})[\s*`]{{0,4}}[:=]"
    marks = [*re.finditer(sign, text, re.IGNORECASE)]
    if not marks or text[: marks[0].start()].strip():
        return None
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    values = [
        text[mark.end() : end].strip(" \t\n*`,;") for mark, end in zip(marks, ends, strict=True)
    ]
    given = dict(zip((_key(mark[1]) for mark in marks), values, strict=True))
    is_whole = len(marks) == len(fields) == len(given) and not any("\n" in v for v in values)
    return {name: given[_key(name)] for name in fields} if is_whole else None


def _one(found: Iterable[Any]) -> Any:
    """Return the only distinct value, or Unreadable."""
    distinct = list({json.dumps(each, sort_keys=True): each for each in found}.values())
    if not distinct:
        return Unreadable(NO_ANSWER)
    return distinct[0] if len(distinct) == 1 else Unreadable(AMBIGUOUS)


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", written(name).strip("\"'`*.!").casefold()).strip()


def _key(name: str) -> str:
    return _plain(name).removesuffix("s")


def choice(value: Any, options: Sequence[str]) -> str | None:
    """Return the option that a value names, whatever its case, spaces and hyphens; else None."""
    if not isinstance(value, str):
        return None
    return next((each for each in options if _plain(each) == _plain(value)), None)


_BOXED = re.compile(
    r"\\boxed\{\s{0,4}(?:\\text\{)?([^{}]*)\}|<answer>([^<>]*)</answer>", re.IGNORECASE
)
_ANSWER = re.compile(
    r"[\W_]{0,4}(?:the |my )?(?:final )?answer(?: is)?[\W_]{0,3}[:=][\s*`]*(.*)", re.IGNORECASE
)


def _field(text: str, field: str) -> Any:
    """Return the value of a field, of a list that is the whole answer, or of a text without JSON.

    A text stays text; of several lines, one that begins with "Answer:" and ends the text is it.
    Unreadable for several values, or for an object without the field.
    """
    given = read_object(text, field)
    if isinstance(given, dict):
        value = given[field]
    elif given.reason != NO_ANSWER:
        return given
    else:
        value = re.sub(r"^```\w*\s|```$", "", written(text)).strip()
        boxed = _one("".join(each).strip() for each in _BOXED.findall(value))
        answers = [match for line in value.splitlines() if (match := _ANSWER.match(line))]
        if isinstance(boxed, str):
            value = boxed
        elif boxed.reason == AMBIGUOUS:
            return boxed
        elif len(answers) == 1 and value.endswith(answers[0][0]):
            value = answers[0][1]
        if "{" in value or not value:
            return Unreadable(NO_ANSWER)
    if isinstance(value, str) and value.startswith("["):
        try:
            found, end = _parsed(value, 0)
        except (ValueError, RecursionError):
            return value
        return value if value[end:].strip(" .") else found
    return value


def reader(
    read: Callable[..., Any], field: str, *options: Any, **more: Any
) -> Callable[[str, Question], Mapping[str, Any] | Unreadable]:
    """Return the reader of a field: `read(text, field, *options, **more)` gives its value."""

    def fields_of(text: str, _: Question) -> Mapping[str, Any] | Unreadable:
        found = read(text, field, *options, **more)
        return found if isinstance(found, Unreadable) else {field: found}

    return fields_of


# Words -------------------------------------------------------------------------------------------


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_COMMON = _words(
    "the a an of is are it its this that answer final think would say and so therefore thus here"
)
_SPEAKER = _words("i my d ll")  # of "I'd" and "I'll"
_JUDGES = _words(
    "rate rating score give say answer estimate probability choose change lower raise revise set"
)
_LABEL_WORDS = (
    _COMMON
    | _SPEAKER
    | _words(
        "label labels type types utterance last uses use used has have shows show both also only "
        "with"
    )
)
_NONE_WORDS = _words("none no empty there applies apply them these here in")
_ORDER_WORDS = _COMMON | _words("order priority priorities ranks ranking rank then from over")
_NUMBER_WORDS = (
    _COMMON
    | _SPEAKER
    | _words(
        "probability likelihood chance score rating rate rated estimate estimated give star stars "
        "point points about around approximately roughly to be"
    )
)
_RANGE = re.compile(r"\b(?:from )?(?:highest|high)(?: priority)? to (?:lowest|low)(?: priority)?\b")
_WORD = re.compile(r"[^\W\d_]+(?:['’]s)?")
_NUMBERED = re.compile(r"^\s{0,8}(?:\d{1,2}[.)]|[-*\u2022])\s", re.MULTILINE)
_NUMERALS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def _holds_only(text: str, words: frozenset[str]) -> bool:
    """Tell whether a text has no other words."""
    for each in sorted(words, key=len, reverse=True):
        if not each.isascii():  # of a script without spaces, which joins words
            text = text.replace(each, " ")
    return words.issuperset(found.replace("’", "'") for found in _WORD.findall(text))


_REASON_BEGINS = re.compile(
    r"(?:because|since|reason|reasoning|explanation|rationale|the|they|both|he|she|his|her|their|"
    r"my|this|these|it)\b"
)
# A last sentence with one of these words may change the answer before it
_TURNS = _words(
    "no not never none neither nor nothing without t but however although though except unless if "
    "or either instead rather actually wait correction wrong incorrect mistake opposite contrary "
    "reverse reversed inverse inverted alternatively also another other others maybe perhaps might "
    "may could possibly unsure uncertain unclear doubt guess own mine than scale percent out range "
    "half more less most least last first second third high higher highest medium low lower lowest "
    "fail fails failed failure unlikely against lose loses away off break breaks reject rejects "
    "rejected refuse refuses refused decline declines end ends label labels type types order "
    "ranking rank priority priorities probability likelihood chance chances odds score scores "
    "rating answer"
)
_LONGEST_REASON = 300  # characters


def _without_reason(text: str, *options: str) -> str:
    """Return an answer without a last sentence that gives a reason, or "".

    The sentence names none of the options, no number, and nothing that may change the answer.
    """
    body = text.rstrip().rstrip(".!")
    cuts = [*re.finditer(r"[.!]\s+|\n\s*|,?\s(?=(?:because|since)\b)", body, re.IGNORECASE)]
    if not cuts or len(body) - cuts[-1].end() > _LONGEST_REASON:
        return ""
    reason = body[cuts[-1].end() :].casefold().strip(" *_(").replace("each other", "")
    spelled = _plain(reason)
    is_plain = not re.search(r"[\d?{}\[\]\"“”<>=%]", reason) and not any(
        _plain(each) in spelled for each in options
    )
    if not is_plain or not _REASON_BEGINS.match(reason):
        return ""
    changes = (_TURNS | {*_NUMERALS}).intersection(_WORD.findall(reason))
    return "" if changes else body[: cuts[-1].start()].strip()


def _in_words(given: str, read: Callable[[str], Any], *options: str) -> Any:
    """Return what is read in an answer in words, or in it without its last sentence."""
    found = read(given)
    if isinstance(found, Unreadable) and (shorter := _without_reason(given, *options)):
        again = read(shorter)
        return found if isinstance(again, Unreadable) else again
    return found


# Labels ------------------------------------------------------------------------------------------


def read_labels(
    text: str, field: str, labels: Sequence[str], words: str = "", none: Sequence[str] = ()
) -> list[str] | Unreadable:
    """Return the labels that an answer names, in the order of `labels`.

    Takes {field: [...]}, {label: true or false}, a JSON list, or a list of labels in words with
    few other words. "None", an empty list, or one of the names in `none` means no labels.
    """
    options = (*labels, *none)
    for value, is_meant in _objects(written(text)):
        is_all = all(type(each) is bool and choice(n, options) for n, each in value.items())
        if value and is_all and is_meant:
            return _known([name for name, each in value.items() if each], labels, none)
    given = _field(text, field)
    if isinstance(given, Unreadable):
        return given
    if isinstance(given, list):
        return _known(given, labels, ("none", *none))
    if not isinstance(given, str):
        return Unreadable()
    own = _words(words)
    found: list[str] | Unreadable = _in_words(
        given, lambda said: _labels_in_words(said, labels, none, own), *options
    )
    return found


def _labels_in_words(
    given: str, labels: Sequence[str], none: Sequence[str], own: frozenset[str]
) -> list[str] | Unreadable:
    rest, named = _NUMBERED.sub(" ", written(given).casefold()), []
    for label in sorted((*labels, *none), key=len, reverse=True):  # one may be a part of another
        spelled = r"[-_ ]".join(map(re.escape, re.split("[-_ ]", label.casefold())))
        rest, times = re.subn(rf"(?<![\w-]){spelled}(?![\w-])", ",", rest)
        if times:
            named.append(label)
    found = {*_WORD.findall(rest)}
    odd = bool(re.search(r"\d|\[\s*\]|[?/|]", rest))
    if named:
        is_list = _holds_only(rest, _LABEL_WORDS | own) and not odd
        return _known(named, labels, none) if is_list else Unreadable(AMBIGUOUS)
    is_none = _holds_only(rest, _LABEL_WORDS | _NONE_WORDS | own) and not odd
    says_none = "none" in found or ("no" in found and found & {"labels", "types", *own})
    says_none = says_none or given.strip() == ""
    return [] if is_none and says_none else Unreadable(NO_ANSWER)


def _known(
    named: Sequence[Any], labels: Sequence[str], none: Sequence[str]
) -> list[str] | Unreadable:
    """Return labels in their order, none for the name of none alone; Unreadable for other names."""
    if named and all(choice(each, none) for each in named):
        return []
    chosen = [choice(each, labels) for each in named]
    return Unreadable() if None in chosen else [label for label in labels if label in chosen]


# Orders ------------------------------------------------------------------------------------------

# Signs between items, mathematical ones and arrows, other than those of an order from high to low
_NOT_FALLING = re.compile(
    r"[<=?~/+&«‹]|(?![→⇒⟶≻≫])"
    r"[\u2190-\u21ff\u2225-\u22ff\u25c0-\u25c5\u276e\u2770\u27f0-\u27ff\u2900-\u297f\u2a00-\u2aff\u2b05]"
)
_ORDINALS = ("first 1st", "second 2nd", "third 3rd", "fourth 4th", "fifth 5th")


def read_order(
    text: str, field: str, items: Sequence[str], words: str = "", ranks: Sequence[str] = ()
) -> list[str] | Unreadable:
    """Return all items in the order of an answer.

    Takes {field: [...]}, a JSON list, or a list in words with few other words:
    "A > B > C", "1. A 2. B 3. C", "The order is A, B, C". `ranks` are the names of the places, such
    as ("high highest", "low lowest"), for "High: A, low: B" and the same as JSON, in any order.
    """

    def read(said: str) -> Any:
        return _order_in_words(said, items, ranks, words)

    given = _field(text, field)
    if isinstance(given, Unreadable):
        by_rank = [value for value, is_meant in _objects(written(text)) if is_meant]
        if given.reason != NO_ANSWER or len(by_rank) != 1:
            return given
        (given,) = by_rank
        if not ranks or {*map(type, given.values())} != {str}:
            return Unreadable(NO_ANSWER)
    if isinstance(given, dict):
        found = read("; ".join(f"{name}: {each}" for name, each in given.items()))
    elif isinstance(given, list):
        found = read("; ".join(map(str, given)))
    else:
        return _in_words(given, read, *items) if isinstance(given, str) else Unreadable()
    return Unreadable(INVALID) if isinstance(found, Unreadable) else found


def _order_in_words(
    given: str, items: Sequence[str], ranks: Sequence[str], words: str
) -> list[str] | Unreadable:
    own = _words(words)
    rest = _RANGE.sub(" ", written(given).casefold())
    # "I" and "my" may else begin the speaker's own order
    rest = re.sub(r"\bi(?: would|['’]d|['’]ll)? (?:think|say|guess)\b", " ", rest)
    rest = re.sub(rf"\bmy (?=final|answer|guess{''.join(f'|{each}' for each in own)})", " ", rest)
    size = len(items)
    place_of = {
        name: place
        for names in (_ORDINALS[:size], ranks)
        for place, each in enumerate(names)
        for name in each.split()
    }
    item_of = {item.casefold(): item for item in items}
    item = "|".join(map(re.escape, item_of))
    if "second" not in rest:  # "A first, then B, then C"
        rest = re.sub(rf"(?<![\w-])({item})(?: is| comes| goes)? first\b", r"first \1", rest)
    sign = rf"(?<![\w-])(?:{'|'.join(map(re.escape, (*item_of, *place_of)))})(?![\w-])"
    tokens = re.findall(sign, rest)
    if tokens[:1] == ["first"] and not place_of.keys() & {*tokens[1:]}:
        tokens = tokens[1:]
    found = [item_of.get(each, place_of.get(each)) for each in tokens]
    orders = _ordered(found, size)
    if not orders or any(sorted(order) != sorted(items) for order in orders):
        return Unreadable(NO_ANSWER)
    rest = re.sub(sign, " ", rest)
    numbers = re.findall(r"\d+", rest)
    ascending = [str(number) for number in range(1, size + 1)] * len(orders)
    if not _holds_only(rest, _ORDER_WORDS | own) or _NOT_FALLING.search(rest):
        return Unreadable(AMBIGUOUS)
    if numbers and numbers != ascending:
        return Unreadable(AMBIGUOUS)
    one: list[str] | Unreadable = _one(orders)
    return one


def _ordered(found: list[Any], size: int) -> list[list[str]]:
    """Return the orders that items and places, numbers from 0, give in a row; [] if they do not.

    If some items have their places, each has, before it or after it.
    """
    if not any(isinstance(each, int) for each in found):
        return [found[start : start + size] for start in range(0, len(found), size)]
    orders = []
    for start in range(0, len(found), 2 * size):
        pairs = [*zip(found[start : start + 2 * size : 2], found[start + 1 :: 2], strict=False)]
        by_place = {one: other for pair in pairs for one, other in (pair, pair[::-1])}
        orders.append([str(by_place.get(place)) for place in range(size)])
    return orders


# Numbers -----------------------------------------------------------------------------------------

_DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d{1,3})?|\.\d+"
_NUMBER = re.compile(
    rf"([-+]?)({_DIGITS})(?:\s{{0,2}}(%|per ?cent\b|/\s{{0,2}}\d+|(?:out )?of \d+))?", re.ASCII
)


def read_number(
    text: str, field: str, low: float, high: float, words: str = ""
) -> float | Unreadable:
    """Return the number of an answer, from `low` to `high`.

    Takes {field: number}, or one number with few other words: "0.8", "about .8", "80%" where `high`
    is 1, "four", "4/5" or "4 out of 5" where `high` is 5. A word with a digit, such as "5点満点中",
    is no number.
    """
    given = _field(text, field)
    if isinstance(given, Unreadable):
        return given
    if not isinstance(given, str):
        return _within(given, low, high)
    allowed = _NUMBER_WORDS | _words(words) | {field.casefold()}
    found: float | Unreadable = _in_words(
        given, lambda said: _number_in_words(said, low, high, allowed)
    )
    return found


def _number_in_words(
    given: str, low: float, high: float, allowed: frozenset[str]
) -> float | Unreadable:
    rest = re.sub(r"^\$(.*)\$$", r"\1", written(given).casefold())  # of LaTeX
    scale = rf"(?:on )?(?:a )?(?:scale )?(?:of |from )?\(?{low:g}(?: to |-){high:g}\)?"
    rest = re.sub(rf"(?<![\w.,-]){scale}(?![\d.,/]*\d)", " ", rest)
    for each in sorted(allowed):
        if re.search(r"\d", each):
            rest = rest.replace(each, " ")
    if not re.search(r"\d", rest):
        for number, name in enumerate(_NUMERALS):
            rest = re.sub(rf"\b{name}\b", str(number), rest)
    found = []
    for match in _NUMBER.finditer(rest):
        sign, digits, unit = match[1], match[2], match[3] or ""
        value = float(digits.replace(",", "")) * (-1 if sign == "-" else 1)
        if unit.startswith(("%", "per")):
            # "0.8%" may be a slip for 0.8
            value = value / 100 if high == 1 and not 0 < value < 1 else math.inf
        elif unit and float(re.sub(r"\D", "", unit)) != high:
            value = math.inf
        found.append(value)
    one = _one(found)
    if isinstance(one, Unreadable):
        return one
    if re.search(r"\$\s?\d|\d[+-](?:\s|$)", rest):  # an amount of money, "4+"
        return Unreadable(AMBIGUOUS)
    rest = re.sub(r"[=~\u2248](?=\s?$)", "", _NUMBER.sub("\n", rest), count=1, flags=re.MULTILINE)
    if not _holds_only(rest, allowed) or re.search(r"[<>=?~\u2248-\u2265]", rest):
        return Unreadable(AMBIGUOUS)
    return _within(one, low, high)


def _within(number: Any, low: float, high: float) -> float | Unreadable:
    is_number = type(number) in (int, float) and low <= number <= high
    return float(number) if is_number else Unreadable()
