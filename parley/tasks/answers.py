r"""Readers of a model's answers: they take the form asked for, and choose between no two answers.

After its thoughts, a text holds an answer in these places:

    {"score": 4}    an object with the fields asked for, perhaps a reason, and no others: JSON5,
                    Python's None, True, False; also in {"result": ...} or a list of one
    need: true      a line, a part of a line or a tag for each field or label, all of them
    \boxed{4}        also <answer>4</answer> and <score>4</score>
    Answer: 4       to the end of the line; also "The answer is 4", and "score: 4" anywhere
    4               a text that is nothing but the answer

All places are found first, and an answer is read only if each of them holds it. Words may stand
before an object on its line, none behind it but a comment. A place within a sentence tells that
another one differs, and is read if there is no other and all its words are plain ones. Beside or
after words of doubt, such as "wait" or "for example", nothing is read. Names are the same in any
case, with spaces, hyphens or underscores.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from parley.base.strict_json import loads
from parley.tasks.asking import AMBIGUOUS, INVALID, NO_ANSWER, Unreadable, final_text

__all__ = ["is_plain", "number_from", "one_of", "order_of", "reader", "some_of"]

Parser = Callable[[Any], Any]
"""Takes what a place holds, a JSON value or a text; returns a field's value, or Unreadable."""


# Places ------------------------------------------------------------------------------------------

_MOST = 20  # objects, whole or broken; no answer needs as many, and JSON5 is parsed slowly
_STRICT = json.JSONDecoder()
_PYTHONS = {"None": "null", "True": "true", "False": "false"}  # of the same lengths
_PYTHONS |= {name.upper(): name for name in ("null", "true", "false")}
_BESIDE = (  # keys that change no value beside them
    "reason reasoning explanation why comment comments rationale justification analysis thoughts "
    "evidence summary note notes confidence certainty aspect category total deal list_price "
    "your_order own_order"
)
_QUOTES = str.maketrans("“”„«»", '"' * 5)
_FENCE = re.compile(r"```(?:json5?\b|\w+$)?", re.MULTILINE)
_FOUND = "\0"  # stands for an object in the rest of a text
_AROUND = " \t\n*_`\"'「」"  # may stand around an answer
_BOX = re.compile(r"\\boxed\{([^{}]*)\}|\\boxed\{(?=\s*\\?\{)")
_CHECK = re.compile(r"^\W{0,9}?\[([ x✓✔]?)\][ \t]*([\w -]+)$", re.IGNORECASE | re.MULTILINE)
_TAG = re.compile(r"<(/?)([\w-]+)>")
_PAIR = (
    r"(?<![\w-])(%s)[*_`\"')]*\s*(?:[:=|→]|=>|-(?=\s))[*_`\"'\s:]*"
    r"((?:(?! -|\.(?!\d))[^\n,;|<(*}])+)"
)
_HEADING = re.compile(r"(?im)^#+ *((?:final |my |the )*(?:answer|score|rating))[ :]*\n+")
_END = re.compile(  # with what stands behind it, which is no answer; and the start of a template
    r"(?s)(?<=\S)\s*(?:(?:</s>|<\|(?:im_end|eot_id|end|return|end\w*of_?text)\|>|<end_of_turn>).*"
    r"|(?:\[/INST\]|<\|\w+\|>)\s*)$|^<\|(?:im_start|start_header_id)\|>assistant(?:<\|\w+\|>|\s)"
)
_ANSWER = r"(?:(?:the |my )?(?:final )?(?:answer|rating|答え|回答|スコア|点数|評価))"
_CLAUSE = r"(?:^|[.,:;!?]|\b(?:so|that|say|thus|therefore)\b)[ \t*_`>-]*(?:\b(?:the|my|final) )*"
_MARK = (  # "the score is" may begin any prose, and counts only before a value
    rf"(?:(?P<due>{_ANSWER}[\s*_]*[:=]|^[ \t*_`>-]*(?:my |final )?%s[\s*_`]*[:=])"
    rf"|(?:(?P<whole>{_ANSWER}|{_CLAUSE}(?<![\w{{,'\"-])%s)|(?<![\w{{,'\"-])(?<!own )(?<!our )%s)"
    r"[\s*_]*(?:\bis\b|[:=は]))[\s*_`]*(?=(?P<value>.{0,300}))"
)
_NAMES = (  # of a value
    "answer result say prob rate rates rating score estimate estimated probability chance chances "
    "likelihood odds p sure certain give label labels strategy strategies intent intents type "
    "types order rank ranks ranking priority priorities allocation bewerte bewertung "
    "wahrscheinlichkeit puntuación probabilidad"
)
_PLAIN = (  # words that may stand beside a value and its name, and change nothing
    "a an the this that these there it its their your i d m s my am is are was be will would of to "
    "with at on in for as so and by you they dialogue conversation talk messages bot utterance "
    "user's partner partners outcome satisfaction likeness liking item items package packages "
    "deal agreement final overall last predicted prediction output response put takes choose think "
    "believe infer reach reaches reaching agree use uses used applies apply care cares get gets "
    "receives ends end up split important followed follows following based here only single one "
    "none three about around roughly exactly approximately therefore thus middle ich den die das "
    "der dialog mit dass es zu einem abschluss kommt schätze auf von ordnet gegenstände de la el "
    "una"
)
_NAMED = {*_NAMES.split()}
_PLAIN_WORDS = _NAMED | {*_PLAIN.split()}
_ASIAN = re.compile(  # such a name within a word without a denial
    r"(?!.*(?:[不没無破裂失拒最以]|ない)).*(?:評価|スコア|点数|评分|評分|得分|確率|概率|優先順位|顺序)"
)
_OWN = re.compile(r"\b(?:own|you|(?:my|your)(?! partner))\b", re.IGNORECASE)
_DENIED = re.compile(
    r"\b(?:not|never|no|if|format is|asked for|first|was|would|could|or|than|like)\b|n't",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:wrong|incorrect|mistaken?|on reflection|second thoughts?|reconsider\w*|revis\w+|"
    r"updated|or rather|examples?|e\.g\.|for instance|template|placeholder|draft|cannot|"
    r"following format|please (?:provide|share|paste|send)|not (?:right|correct)|"
    r"unable|unsure|uncertain|ignore|maybe|perhaps|"
    r"should (?:be|have)|make (?:that|it)|change|(?:not|less) (?:sure|certain)|can ?not|can't|"
    r"won't|lowest first|low(?:est)? to high(?:est)?)\b|"
    r"(?:^|[.!?,]\s+|\n\s*|\()(?:actually|wait|hmm|oops|sorry|i'm sorry|i am sorry|or|edit|"
    r"no(?=[,.;:!?]|\s-|\s(?:it|that|the|wait|i)\b)|correction|scratch that)\b",
    re.IGNORECASE,
)


def _objects(text: str) -> tuple[list[dict[str, Any]], str]:
    """Return the JSON objects in a text, outermost ones only, and the rest of the text.

    Nothing within a broken object is read, and nothing at all among too many.
    """
    found, rest, done = list[dict[str, Any]](), "", 0
    for _ in range(_MOST):
        start = text.find("{", done)
        if start < 0:
            return found, rest + text[done:]
        try:
            value, end = _parsed(text, start)
            found.append(value)
            rest += text[done:start] + _FOUND
        except (ValueError, RecursionError):
            end = _closed(text, start)
            rest += text[done:end]
        done = end
    return [], ""


def _mended(text: str) -> str:
    """Return a text with what its JSON lacks: quotes, the first brace, the last ones."""
    text = re.sub(r"([\"']\s*:\s*)(\d[\d.]*\s*%|0,\d+)(?=\s*[,}])", r'\1"\2"', text)
    text = re.sub(r'\A\s*("\w+"\s*:[^{}\n]*)\Z', r"{\1}", text)
    whole = text.rstrip("`\n ")
    if whole.endswith(("}", "]", '"', "true", "false")):  # a number may be cut off
        return whole + "}" * min(3, whole.count("{") - whole.count("}"))
    return text


def _parsed(text: str, start: int) -> tuple[Any, int]:
    """Return the JSON or JSON5 value at a place, and where it ends; ValueError if there is none."""
    try:
        _, end = _STRICT.raw_decode(text, start)
    except ValueError:
        import json5  # not at the top: only few answers need it

        names = "|".join(_PYTHONS)
        of_python = re.sub(rf"\b(?:{names})\b", lambda name: _PYTHONS[name[0]], text)
        for each in (text, of_python):
            value, error, end = json5.parse(
                each, start=start, consume_trailing=False, allow_duplicate_keys=False
            )
            if not error:
                if re.search(r"[:\[,]\s*[-+]?0x", each[start:end], re.IGNORECASE):
                    break  # JSON5 takes 0x4 for 4
                return loads(json.dumps(value)), end
        raise
    return loads(text[start:end]), end  # refuses repeated keys, NaN and halves of characters


def _closed(text: str, start: int) -> int:
    """Return the end of the braces that open at a place; that of the text if they do not close."""
    depth = 0
    for brace in re.compile("[{}]").finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return brace.end()
    return len(text)


def _value(text: str) -> Any:
    """Return the list that a text is, else the text without what may stand around an answer."""
    for ending in ("。", "です", "とします", "点", "."):
        text = text.strip(_AROUND + "$").removesuffix(ending)
    text = text.strip(_AROUND)
    if text.startswith("["):
        try:
            value, end = _parsed(text, 0)
        except (ValueError, RecursionError):
            return text
        return text if text[end:] else value
    return text


# Readers -----------------------------------------------------------------------------------------


def reader(**parsers: Parser) -> Callable[[str], Mapping[str, Any] | Unreadable]:
    """Return the reader of answers with these fields, each read by its parser.

    Several fields are read in objects, or all of them beside their names. An object may be the
    value of a single field.
    """
    of_one = next(iter(parsers.values())) if len(parsers) == 1 else None
    named = [*getattr(of_one, "names", [] if of_one else parsers)]
    tags = {*map(_plain, ["answer", *parsers, *named])}
    pair = re.compile(_PAIR % "|".join(map(in_any_form, named)), re.IGNORECASE)

    def read(text: str) -> Mapping[str, Any] | Unreadable:
        text = _END.sub("", final_text(text).replace(_FOUND, " ")).translate(_QUOTES)
        text = re.sub(r"\\(?:text|math)\w*\{([^{}]*)\}", r"\1", text)
        text = re.sub(r"&gt;|\\(?:to|gt|succ|rightarrow)\b", ">", text)
        text = _BOX.sub(lambda box: "" if box[1] is None else f"\nAnswer: {box[1]}\n", text)
        text = text.replace("\\{", "{").replace("\\}", "}")
        text = _HEADING.sub(r"\1:\n", text)
        text = _CHECK.sub(lambda box: f"{box[2]}: {bool(box[1].strip())}", _mended(text))
        objects, rest = _objects(_TAG.sub(as_line, text))
        rest = _FENCE.sub("", rest)
        ends = [each.start() for each in re.finditer(_FOUND, rest)]
        places = [
            (at, fields, _is_alone(rest, at))
            for at, given in zip(ends, objects, strict=True)
            if (fields := fields_of(given)) is not None
        ]
        if named and isinstance(fields := fields_of(beside_names(rest)), dict):
            places.append((pair.search(rest).start(), fields, True))  # type: ignore[union-attr]
        if of_one:
            places += marked(rest, *parsers)
            if "{" not in rest and not any(alone for *_, alone in places):
                whole = single(_value(rest))
                places += [] if isinstance(whole, Unreadable) else [(0, whole, True)]
        answers = [each for _, each, _ in places if not isinstance(each, Unreadable)]
        if any(each != answers[0] for each in answers):
            return Unreadable(AMBIGUOUS)
        if not any(alone for *_, alone in places):
            return Unreadable(NO_ANSWER)
        at = min(at for at, *_ in places)
        near = "\n".join((*rest[:at].rstrip().splitlines()[-1:], rest[at:]))
        if _DOUBT.search(near):
            return Unreadable(NO_ANSWER)
        return answers[0] if len(answers) == len(places) else Unreadable(INVALID)

    def as_line(tag: re.Match[str]) -> str:
        if _plain(tag[2]) not in tags:
            return tag[0]
        return "\n" if tag[1] else f"\n{tag[2]}: "

    def beside_names(rest: str) -> Mapping[str, Any]:
        """Return name -> what stands beside it; {} unless all names have one value."""
        found: dict[str, set[str]] = {}
        for each in pair.finditer(rest):
            found.setdefault(_plain(each[1]), set()).add(_plain(each[2]))
        is_clear = all(len(values) == 1 for values in found.values())
        return {name: values.pop() for name, values in found.items()} if is_clear else {}

    def marked(rest: str, field: str) -> Iterator[tuple[int, Any, bool]]:
        name = re.escape(field)
        mark = re.compile(_MARK % (name, name, name), re.IGNORECASE | re.MULTILINE)
        for each in mark.finditer(rest):
            value = _value(each["value"])
            before = re.split(r"[.!?;\n]", rest[max(0, each.start() - 300) : each.start()])[-1]
            if not value or value[0] == _FOUND or mark.match(each["value"]):
                continue
            if _UNTRUE.search(before):  # "I would not say that the score is 4"
                continue
            found, alone = single(value), bool(each["due"] or each["whole"])
            if isinstance(found, Unreadable) and (not each["due"] or "\n" in each[0].lstrip()):
                found, alone = (
                    single(_value(re.split(r"[\s,;(。]|\.(?!\d)", each["value"])[0])),
                    False,
                )
                if isinstance(found, Unreadable):
                    continue
            yield each.start(), found, alone

    def single(value: Any) -> Mapping[str, Any] | Unreadable:
        ((field, parse),) = parsers.items()
        found = parse(value)
        return found if isinstance(found, Unreadable) else {field: found}

    def fields_of(given: Mapping[str, Any]) -> Mapping[str, Any] | Unreadable | None:
        beside = _BESIDE.split()
        given = {name: each for name, each in given.items() if name.casefold() not in beside}
        if len(given) == 1 and (name := _plain(*given)) not in map(_plain, parsers):
            (value,) = given.values()  # the fields, or the field, by another name
            if not is_plain(name) or _OWN.search(name) or (not of_one and "partner" in name):
                return None
            if isinstance(value, Mapping) and (found := fields_of(value)) is not None:
                return found
            if of_one and _has_name(name):
                return single(value)
        by_name = {_plain(name): value for name, value in given.items()}
        due = {name: _plain(name) for name in parsers}
        if len(by_name) == len(given) and by_name.keys() >= {*due.values()}:
            values = {name: parse(by_name[due[name]]) for name, parse in parsers.items()}
            is_wrong = len(by_name) > len(due) or any(
                isinstance(each, Unreadable) for each in values.values()
            )
            return Unreadable() if is_wrong else values
        whole = single(given) if len(parsers) == 1 else Unreadable()
        return None if isinstance(whole, Unreadable) else whole

    return read


def is_plain(text: str) -> bool:
    """Tell whether all words of a text are among those that change no value."""
    words = re.findall(r"[^\W\d_]+", text.casefold())
    return all(word in _PLAIN_WORDS or _ASIAN.match(word) for word in words)


def _has_name(text: str) -> bool:
    words = re.findall(r"[^\W\d_]+", text.casefold())
    return any(word in _NAMED or _ASIAN.match(word) for word in words)


def _is_alone(rest: str, at: int) -> bool:
    """Tell whether nothing stands behind the objects of a line, and no denial before them."""
    before, *behind = rest[rest.rfind("\n", 0, at) + 1 :].split("\n", 1)[0].split(_FOUND)
    if not _DENIED.search(behind[-1]):  # a comment, or another sentence
        behind[-1] = re.sub(r"^[\s*`]*(?://|#|[.。]\s*(?=[^\W\d]))\D*$", "", behind[-1])
    return not _DENIED.search(before) and not any(
        each.strip(_AROUND + "[]}$.,;。\\-") for each in behind
    )


# Parsers -----------------------------------------------------------------------------------------


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name.strip(_AROUND + ".!")).strip().casefold()


def in_any_form(name: str) -> str:
    """Return the pattern of a name with spaces, hyphens or underscores."""
    return r"[\s_-]".join(map(re.escape, re.split(r"[\s_-]", name)))


def _named(name: Any, options: Sequence[str]) -> str | None:
    is_text = isinstance(name, str)
    return next((each for each in options if is_text and _plain(each) == _plain(name)), None)


_TRUE, _FALSE = "true yes 1 ✅ ✓ ✔ ✔️ ja sí si はい 是", "false no 0 ❌ ✗ ✘ ✖ nein いいえ 否"
_BOOLEANS = dict.fromkeys(_TRUE.split(), True) | dict.fromkeys(_FALSE.split(), False)


def one_of(options: Sequence[str]) -> Parser:
    """Return the parser of one of these names."""
    return lambda value: _named(value, options) or Unreadable()


def some_of(labels: Sequence[str]) -> Parser:
    """Return the parser of none or more labels, given in the order of `labels`.

    They stand in {label: true or false} with all labels, in a JSON list, or between commas;
    "none" stands for none.
    """

    def parse(value: Any) -> list[str] | Unreadable:
        if isinstance(value, Mapping):
            known = [(label, has) for name, has in value.items() if (label := _named(name, labels))]
            is_whole = sorted(label for label, _ in known) == sorted(labels)
            known = [(label, _BOOLEANS.get(str(has).casefold())) for label, has in known]
            if not is_whole or len(known) < len(value) or None in dict(known).values():
                return Unreadable()
            names = [label for label, has in known if has]
        else:
            names = value
            if isinstance(value, str):
                value = _headless(value)
                names = re.split("[,;\n]", value)
                if any(re.match(r"\W*no\s", each, re.IGNORECASE) for each in names):
                    return Unreadable()  # "no need" may deny the label need
        if not isinstance(names, list):
            return Unreadable()
        if [_named(each, ["none"]) for each in names] == ["none"]:
            return []
        chosen = [_named(each, labels) for each in names]
        return Unreadable() if None in chosen else [each for each in labels if each in chosen]

    parse.names = labels  # type: ignore[attr-defined]  # each may stand beside true or false
    return parse


def _headless(text: str) -> str:
    """Return what stands behind the name of a value: "Labels used: a, b" -> "a, b"."""
    head, _, rest = text.partition(":")
    is_head = _has_name(head) and is_plain(head) and not _OWN.search(head)
    return rest if "\n" not in text and is_head else text


def order_of(items: Sequence[str]) -> Parser:
    """Return the parser of an order of all items: "A > B", "A → B", "A, B" or a JSON list.

    "A > B" may stand in a sentence, and each item beside its rank, a word or the number before it.
    """
    item, link = "|".join(map(in_any_form, items)), r"\s*[>→⇒]+\s*"
    linked = re.compile(rf"(?i)(?:\w{link})?(?:{item})(?:{link}(?:{item}))+(?:\s*[<=>])?")
    row = re.compile(rf"(?im)^(\W{{0,9}}[1-9]\W{{1,9}}(?:{item})\b).*$|(?:from )?high\w* to low\w*")
    token = re.compile(  # an item, or one of the kinds of ranks
        rf"(?i)\b(?:({item})|(highest|high|most|top|first|1st|1)|(medium|middle|second|2nd|2)|"
        r"(lowest|low|least|last|third|3rd|3)|(then|next|followed by))\b"
    )

    def parse(value: Any) -> list[str] | Unreadable:
        names = value
        if isinstance(value, Mapping):
            names = in_words("\n".join(f"{name}: {each}" for name, each in value.items()))
        elif isinstance(value, str):  # also a numbered list
            beside = re.findall(r"\(([^()]*)\)", value) or [""]
            if re.search(r"low|least", beside[0]) or "1" < beside[0][:1] < beside[-1][:1] <= "9":
                return Unreadable()
            value = _headless(re.sub(r"\s*\([^()]*\)", "", value))
            parts = enumerate(re.split("[>,→⇒\n]", value), 1)
            names = [re.sub(rf"^\s*{n}[.)]", "", each) for n, each in parts]
            if not all(_named(each, items) for each in names):
                names = in_words(re.sub(r"[*_`\"'「」]", "", value))
        if not isinstance(names, list):
            return Unreadable()
        found = [_named(each, items) or "" for each in names]
        return found if sorted(found) == sorted(items) else Unreadable()

    def in_words(text: str) -> list[str]:
        """Return the order that a text tells, of one side alone; [] if it tells none."""
        if _OWN.search(text) or re.search(
            r"(?im)\?|\bgets?\b|^\W{0,9}1\b.*\b(?:low|least|not)", text
        ):
            return []
        if told := [each for each in re.split(r"\n|\.\s", text) if linked.search(each)]:
            chains = {tuple(re.split(link, each.casefold())) for each in linked.findall(text)}
            is_clear = len(chains) == 1 and is_plain(linked.sub("", " ".join(told)))
            return [*chains.pop()] if is_clear else []
        text = row.sub(lambda each: each[1] or "", text)
        tokens = [(each.lastindex, each[0]) for each in token.finditer(text)]
        if len(tokens) != 2 * len(items) or not is_plain(token.sub("", text)):
            return []
        places = dict[int, str]()
        for n, pair in enumerate(zip(tokens[::2], tokens[1::2], strict=True)):
            (_, name), (kind, rank) = sorted(pair)
            if pair[0][1] != name or not rank.isdigit():  # "Food: 1" may be points
                places[{1: -1, 2: 0, 3: 1, 4: len(items) - 1, 5: n}[kind or 1]] = name
        return [places[place] for place in sorted(places)]

    return parse


_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?![\d^])", re.ASCII)
_UNIT = r"points?|stars?|punkten?|点|分"
_ABOUT = re.compile(
    rf"\b(?:about|approximately|around|roughly|exactly|p|an?|{_UNIT})\b|[~≈()=:点分约]"
)
_CLOSES = re.compile(  # a sentence or its clause, behind a number
    rf"[\s()」]*(?:{_UNIT})?[\s()」]*(?:$|,? *(?:because|since|as|given)\b|です$|と推定)"
)
_UNTRUE = re.compile(r"\b(?:if|not?|never|nobody|nicht|kein\w*)\b|n't|[<>]")
_SURE = re.compile(r"\s*(?:sure|certain|chance|prob|likel)")
_WORDS = {"two": "2", "three": "3", "four": "4", "five": "5"}


def number_from(low: float, high: float) -> Parser:
    """Return the parser of a number from `low` to `high`: 4, 4/5 on a scale to 5, 80% of 1.

    It may stand beside the name of a value in a sentence, if that holds no other number.
    """
    top = f"{high:g}"
    scale = re.compile(
        rf"(?<=\d)\s*(?:/|\b(?:out of|of|von|de)\b)\s*{top}(?![\d.]*\d)|{top}\s*[点分]満点中?"
        rf"|满分\s*{top}分|(?:on )?an? scale (?:from|of) {low:g}(?: \(\w+\))?(?: to |-){top}"
        r"(?: \(\w+\))?"
    )

    def parse(value: Any) -> float | Unreadable:
        if isinstance(value, str):
            value = plain(value)
            is_more = _ABOUT.sub("", _NUMBER.sub("", value)).strip(" .\n-")
            found = {float(each) for each in (in_words if is_more else _NUMBER.findall)(value)}
            value = found.pop() if len(found) == 1 else None
        is_number = type(value) in (int, float) and low <= value <= high
        return float(value) if is_number else Unreadable()

    def plain(text: str) -> str:
        """Return a text with 80% as 0.8, four as 4, stars as their number, and no scale."""
        text = re.sub(r"(★+)(☆*)", lambda s: f" {len(s[1])}/{len(s[0])} ", text)
        text = re.sub(r"[*_`]", "", text).casefold()
        if high > 1:
            text = re.sub("|".join(_WORDS), lambda word: _WORDS[word[0]], text)
        else:
            percent = r"(\d{1,9}(?:\.\d{1,9})?)\s*(?:%|percent|prozent)"
            text = re.sub(r"\b0,(\d)", r"0.\1", text)
            text = re.sub(percent, lambda n: f"{float(n[1]) / 100:g}", text)
        return scale.sub("", text)

    def in_words(text: str) -> list[str]:
        """Return the numbers beside names of values in sentences; none if one is unclear."""
        found = list[str]()
        text = re.sub(r"[$€£]\s?\d+(?:[.,]\d+)*|(?<=the )buyer and (?:the )?seller", "they", text)
        for sentence in re.split(r"[!;。\n]|\.(?!\d)", text):
            values = [*_NUMBER.finditer(sentence)]
            if values and _has_name(sentence):
                before, behind = sentence[: values[0].start()], sentence[values[-1].end() :]
                between = sentence[values[0].end() : values[-1].start()] if values[1:] else ""
                is_sure = _SURE.match(behind) and is_plain(behind)
                is_clear = is_sure or (_has_name(before) and _CLOSES.match(behind))
                is_clear = is_clear and is_plain(re.split(r",|\bso\b", before)[-1])
                if not is_clear or _UNTRUE.search(before) or between.strip(" ("):
                    return []
                found += [each[0] for each in values]
        return found

    return parse
