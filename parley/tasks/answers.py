r"""Readers of a model's answers: they take the form asked for, and choose between no two answers.

After its thoughts, a text holds an answer in these places:

    {"score": 4}    an object with the fields asked for, perhaps a reason, and no others: JSON5,
                    Python's None, True, False; also in {"result": ...} or a list of one
    need: true      a line, a part of a line or a tag for each field or label, all of them
    \boxed{4}        also <answer>4</answer> and <score>4</score>
    Answer: 4       to the end of the line; also "The answer is 4", and "score: 4" anywhere
    4               a text that is nothing but the answer

All places are found first, and an answer is read only if each of them holds it. Words may stand
before an object on its line, none behind it but a comment. A place within a sentence only tells
that another one differs. Beside or after words of doubt, such as "wait" or "for example", nothing
is read. Names are the same in any case, with spaces, hyphens or underscores.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from parley.base.strict_json import loads
from parley.tasks.asking import AMBIGUOUS, INVALID, NO_ANSWER, Unreadable, final_text

__all__ = ["number_from", "one_of", "order_of", "reader", "some_of"]

Parser = Callable[[Any], Any]
"""Takes what a place holds, a JSON value or a text; returns a field's value, or Unreadable."""


# Places ------------------------------------------------------------------------------------------

_MOST = 20  # objects, whole or broken; no answer needs as many, and JSON5 is parsed slowly
_STRICT = json.JSONDecoder()
_PYTHONS = {"None": "null", "True": "true", "False": "false"}  # of the same lengths
_PYTHONS |= {name.upper(): name for name in ("null", "true", "false")}
_BESIDE = (  # keys that change no value beside them
    "reason reasoning explanation why comment comments rationale justification analysis thoughts "
    "evidence summary note notes confidence certainty aspect category total list_price "
    "your_order own_order utterance speaker"
)
_QUOTES = str.maketrans("“”„«»", '"' * 5)
_FENCE = re.compile(r"```(?:json5?\b|\w+$)?", re.MULTILINE)
_OBJECT = "\0"  # stands for an object in the rest of a text
_AROUND = " \t\n*_`\"'「」"  # may stand around an answer
_BOX = re.compile(r"\\boxed\{([^{}]*)\}|\\boxed\{(?=\s*\\?\{)")
_CHECK = re.compile(r"^\W{0,9}?\[([ x✓✔]?)\][ \t]*([\w -]+)$", re.IGNORECASE | re.MULTILINE)
_TAG = re.compile(r"<(/?)([\w-]+)>")
_PAIR = (
    r"(?<![\w-])(%s)[*_`\"')]*\s*(?:[:=|→]|=>|-(?=\s))[*_`\"'\s:]*"
    r"((?:(?! -|\.(?!\d))[^\n,;|<(*}])+)(?!\|\w)"
)
_HEADING = re.compile(r"(?im)^#+ *((?:final |my |the )*(?:answer|score|rating))[ :]*\n+")
_END = re.compile(  # with what stands behind it, which is no answer; and the start of a template
    r"(?s)(?<=\S)\s*(?:(?:</s>|<\|(?:im_end|eot_id|end|return|end\w*of_?text)\|>|<end_of_turn>).*"
    r"|(?:\[/INST\]|<\|\w+\|>)\s*)$|^<\|(?:im_start|start_header_id)\|>assistant(?:<\|\w+\|>|\s)"
)
_NAMES = (
    "answer|chance|deal|estimated|evaluation|final|intents|labels?|likelihood|order|overall|p|"
    "predict(?:ed|ion)|priorities|probabilit(?:y|ies)|ranking|rating|response|result|score|"
    "strateg(?:ies|y)|types"
)
_NAME = rf"(?:(?:{_NAMES}|partner(?:'s)?) )*(?:{_NAMES})(?: used| of a deal)?"  # of an answer
_RANKS = ("high", "medium", "low", "highest", "lowest")
_ANSWER = r"(?:(?:the |my )?(?:final )?(?:answer|rating|答え|回答|スコア|点数|評価))"
_CLAUSE = r"(?:^|[.,:;!?]|\b(?:so|that|say|thus|therefore)\b)[ \t*_`>-]*(?:\b(?:the|my|final) )*"
_MARK = (  # "the score is" may begin any prose, and counts only before a value
    rf"(?:(?P<colon>{_ANSWER}[\s*_]*[:=]|^[ \t*_`>-]*(?:my |final )?%s[\s*_`]*[:=])"
    rf"|(?:(?P<whole>{_ANSWER}|^[ \t*_`>-]*{_NAME}|{_CLAUSE}(?<![\w{{,'\"-])%s)"
    r"|(?<![\w{{,'\"-])(?<!own )(?<!our )%s)"
    r"[\s*_]*(?:\bis\b|[:=は]))[\s*_`]*(?=(?P<value>.{0,300}))"
)
_DENIED = re.compile(
    r"(?i)\b(?:not|never|no|if|format is|asked for|first|was|would|could|or|than|like)\b|n't"
)
_DOUBT = re.compile(
    r"(?i)\b(?:wrong|incorrect|mistaken?|on reflection|second thoughts?|reconsider\w*|revis\w+|"
    r"re-?evaluat\w*|upon review|fairer|ascending|updated|or rather|"
    r"examples?|e\.g\.|for instance|template|placeholder|draft|cannot|"
    r"following format|please (?:provide|share|paste|send)|not (?:right|correct)|"
    r"unable|unsure|uncertain|ignore|maybe|perhaps|"
    r"should (?:be|have)|make (?:that|it)|changed?|(?:not|less) (?:sure|certain)|can ?not|can't|"
    r"won't|(?:low|least)[\w ]{0,20} first|(?:low|least)[\w ]{0,20} to (?:high|most)\w*)\b|"
    r"(?:^|[.!?,]\s+|\n[^\S\n]*|\()(?:actually|wait|hmm|oops|sorry|i'm sorry|i am sorry|or|edit|"
    r"no(?=[,.;:!?]|\s-|\s(?:it|that|the|wait|i)\b)|correction|scratch that)\b"
)


def _objects(text: str) -> tuple[list[dict[str, Any]], str]:
    """Return the JSON objects in a text, outermost ones only, and the rest of the text.

    Nothing within a broken object is read, and nothing at all among too many.
    """
    objects, rest, end = list[dict[str, Any]](), "", 0
    for _ in range(_MOST):
        start = text.find("{", end)
        if start < 0:
            return objects, rest + text[end:]
        rest += text[end:start]
        try:
            value, end = _parsed(text, start)
            objects.append(value)
            rest += _OBJECT
        except (ValueError, RecursionError):
            end = _closed(text, start)
            rest += text[start:end]
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
        for source in dict.fromkeys((text, of_python)):
            value, error, end = json5.parse(
                source, start=start, consume_trailing=False, allow_duplicate_keys=False
            )
            if not error:
                if re.search(r"[:\[,]\s*[-+]?0x", source[start:end], re.IGNORECASE):
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
    return _AnswerReader(parsers).read


class _Place(NamedTuple):
    """A place of a text that holds an answer."""

    start: int
    fields: Mapping[str, Any] | Unreadable
    is_alone: bool  # else it stands within a sentence, and only tells that another one differs


class _AnswerReader:
    """The reader of answers with some fields; `parsers` has the parser of each."""

    def __init__(self, parsers: Mapping[str, Parser]) -> None:
        self._parsers = parsers
        self._is_single = len(parsers) == 1
        self._names = [*parsers]  # that may stand beside a value on a line
        if self._is_single:
            (parse,) = parsers.values()
            self._names = [*getattr(parse, "names", ())]
        self._tags = {*map(_plain, ["answer", *parsers, *self._names])}
        self._pair = re.compile(_PAIR % "|".join(map(in_any_form, self._names)), re.IGNORECASE)

    def read(self, text: str) -> Mapping[str, Any] | Unreadable:
        """Return the fields of an answer, or why it is unreadable."""
        objects, rest = _objects(_TAG.sub(self._line_of_tag, _without_markup(text)))
        rest = _FENCE.sub("", rest)
        places = [*self._in_objects(objects, rest), *self._beside_names(rest)]
        if self._is_single:
            places += self._behind_marks(rest)
            if "{" not in rest and not any(place.is_alone for place in places):
                fields = self._single(_value(rest))
                if not isinstance(fields, Unreadable):
                    places.append(_Place(0, fields, True))
        return _agreed(places, rest)

    def _line_of_tag(self, tag: re.Match[str]) -> str:
        """Return a tag of a field or label as the start or the end of a line "name: value"."""
        if _plain(tag[2]) not in self._tags:
            return tag[0]
        return "\n" if tag[1] else f"\n{tag[2]}: "

    def _in_objects(self, objects: Sequence[Mapping[str, Any]], rest: str) -> Iterator[_Place]:
        """Yield the objects that hold the fields; `rest` is the text around the objects."""
        starts = [match.start() for match in re.finditer(_OBJECT, rest)]
        for start, value in zip(starts, objects, strict=True):
            fields = self._fields(value)
            if fields is not None:
                yield _Place(start, fields, _is_alone(rest, start))

    def _beside_names(self, rest: str) -> Iterator[_Place]:
        """Yield the values beside all names, if each name has one value."""
        values: dict[str, set[str]] = {}
        is_whole = self._names and "{" not in rest  # a broken object may end within a number
        pairs = [*self._pair.finditer(rest)] if is_whole else []
        for pair in pairs:
            values.setdefault(_plain(pair[1]), set()).add(_plain(pair[2]))
        if pairs and all(len(texts) == 1 for texts in values.values()):
            fields = self._fields({name: text for name, (text,) in values.items()})
            if isinstance(fields, Mapping):
                yield _Place(pairs[0].start(), fields, True)

    def _behind_marks(self, rest: str) -> Iterator[_Place]:
        """Yield the values of a single field behind "Answer:", "the score is" and their like."""
        (field,) = self._parsers
        name = re.escape(field)
        pattern = re.compile(_MARK % (name, name, name), re.IGNORECASE | re.MULTILINE)
        for mark in pattern.finditer(rest):
            value = _value(mark["value"])
            before = re.split(r"[.!?;\n]", rest[max(0, mark.start() - 300) : mark.start()])[-1]
            if not value or value[0] == _OBJECT or pattern.match(mark["value"]):
                continue
            if _DENIED.search(before):  # "I would not say that the score is 4"
                continue
            fields, is_alone = self._single(value), bool(mark["colon"] or mark["whole"])
            if isinstance(fields, Unreadable) and (not mark["colon"] or "\n" in mark[0].lstrip()):
                word = re.split(r"[\s,;(。]|\.(?!\d)", mark["value"])[0]
                fields, is_alone = self._single(_value(word)), False
                if isinstance(fields, Unreadable):
                    continue
            yield _Place(mark.start(), fields, is_alone)

    def _single(self, value: Any) -> Mapping[str, Any] | Unreadable:
        """Return the single field with its value."""
        ((field, parse),) = self._parsers.items()
        parsed = parse(value)
        return parsed if isinstance(parsed, Unreadable) else {field: parsed}

    def _fields(self, value: Mapping[str, Any]) -> Mapping[str, Any] | Unreadable | None:
        """Return the fields that an object holds, None if it is no answer."""
        value = _without_reasons(value, *self._parsers)
        plain_names = [*map(_plain, self._parsers)]
        if len(value) == 1 and (name := _plain(*value)) not in plain_names:
            (inner,) = value.values()  # the fields, or the field, by another name
            if not re.fullmatch(_NAME, name) or (not self._is_single and "partner" in name):
                return None
            if isinstance(inner, Mapping) and (fields := self._fields(inner)) is not None:
                return fields
            return self._single(inner) if self._is_single else None
        by_name = {_plain(name): inner for name, inner in value.items()}
        if len(by_name) == len(value) and by_name.keys() >= {*plain_names}:
            values = {n: parse(_bare(by_name[_plain(n)])) for n, parse in self._parsers.items()}
            are_read = not any(isinstance(parsed, Unreadable) for parsed in values.values())
            return values if are_read and len(by_name) <= len(plain_names) else Unreadable()
        whole = self._single(value) if self._is_single else Unreadable()
        return None if isinstance(whole, Unreadable) else whole


def _without_markup(text: str) -> str:
    """Return an answer with marks of LaTeX, headings and boxes as plain text."""
    text = _END.sub("", final_text(text).replace(_OBJECT, " ")).translate(_QUOTES)
    text = re.sub(r"\\(?:text|math)\w*\{([^{}]*)\}", r"\1", text)
    text = re.sub(r"&gt;|\\(?:to|gt|succ|rightarrow)\b", ">", text)
    text = _BOX.sub(lambda box: "" if box[1] is None else f"\nAnswer: {box[1]}\n", text)
    text = text.replace("\\{", "{").replace("\\}", "}")
    text = _HEADING.sub(r"\1:\n", text)
    return _CHECK.sub(lambda box: f"{box[2]}: {bool(box[1].strip())}", _mended(text))


def _agreed(places: Sequence[_Place], rest: str) -> Mapping[str, Any] | Unreadable:
    """Return the answer that all places hold, or why there is none."""
    answers = [place.fields for place in places if not isinstance(place.fields, Unreadable)]
    if any(answer != answers[0] for answer in answers):
        return Unreadable(AMBIGUOUS)
    if not any(place.is_alone for place in places):
        return Unreadable(NO_ANSWER)
    start = min(place.start for place in places)
    near = "\n".join((*rest[:start].rstrip().splitlines()[-1:], rest[start:]))
    if _DOUBT.search(near):
        return Unreadable(NO_ANSWER)
    return answers[0] if len(answers) == len(places) else Unreadable(INVALID)


def _without_reasons(value: Mapping[str, Any], *fields: str) -> dict[str, Any]:
    """Return an object without the keys that change no value beside them."""
    beside = {*_BESIDE.split()} - {*map(str.casefold, fields)}
    return {name: inner for name, inner in value.items() if name.casefold() not in beside}


def _bare(value: Any) -> Any:
    """Return the value of {"value": ..., "reason": ...}; another value as it is."""
    fields = _without_reasons(value) if isinstance(value, Mapping) else {}
    return fields["value"] if [*fields] == ["value"] else value


def _is_alone(rest: str, at: int) -> bool:
    """Tell whether nothing stands behind the objects of a line, and no denial before them."""
    before, *behind = rest[rest.rfind("\n", 0, at) + 1 :].split("\n", 1)[0].split(_OBJECT)
    if not _DENIED.search(behind[-1]):  # a comment, or another sentence
        behind[-1] = re.sub(r"^[\s*`]*(?://|#|[.。]\s*(?=[^\W\d]))\D*$", "", behind[-1])
    rests = [text.strip(_AROUND + "[]}$.,;。\\-") for text in behind]
    return not _DENIED.search(before) and not any(rests)


# Parsers -----------------------------------------------------------------------------------------


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name.strip(_AROUND + ".!")).strip().casefold()


def in_any_form(name: str) -> str:
    """Return the pattern of a name with spaces, hyphens or underscores."""
    return r"[\s_-]".join(map(re.escape, re.split(r"[\s_-]", name)))


def _named(name: Any, options: Sequence[str]) -> str | None:
    is_text = isinstance(name, str)
    return next((option for option in options if is_text and _plain(option) == _plain(name)), None)


_TRUE, _FALSE = "true yes 1 ✅ ✓ ✔ ✔️ ja sí si はい 是", "false no 0 ❌ ✗ ✘ ✖ nein いいえ 否"
_BOOLEANS = dict.fromkeys(_TRUE.split(), True) | dict.fromkeys(_FALSE.split(), False)


def _boolean(value: Any) -> bool | None:
    """Return the boolean that a value stands for, None for none."""
    return _BOOLEANS.get(str(_bare(value)).casefold())


def one_of(options: Sequence[str]) -> Parser:
    """Return the parser of one of these names."""
    return lambda value: _named(value, options) or Unreadable()


def some_of(labels: Sequence[str]) -> Parser:
    """Return the parser of none or more labels, in the order of `labels`.

    They stand in {label: true or false} with all labels, in a JSON list, or between commas;
    "none" stands for none.
    """

    def parse(value: Any) -> list[str] | Unreadable:
        names = value
        if isinstance(value, Mapping):
            pairs = [(_named(name, labels), _boolean(has)) for name, has in value.items()]
            known = [label for label, has in pairs if label is not None and has is not None]
            if len(known) < len(pairs) or sorted(known) != sorted(labels):
                return Unreadable()
            names = [label for label, has in pairs if has]
        elif isinstance(value, str):
            names = re.split("[,;\n]", value)
            if any(re.match(r"\W*no\s", name, re.IGNORECASE) for name in names):
                return Unreadable()  # "no need" may deny the label need
        if not isinstance(names, list):
            return Unreadable()
        if [_named(name, ["none"]) for name in names] == ["none"]:
            return []
        chosen = [_named(name, labels) for name in names]
        return Unreadable() if None in chosen else [label for label in labels if label in chosen]

    parse.names = labels  # type: ignore[attr-defined]  # each may stand beside true or false
    return parse


def order_of(items: Sequence[str]) -> Parser:
    """Return the parser of an order of all items: "A > B", "A → B", "A, B" or a JSON list.

    Three items may stand beside "high", "medium" and "low".
    """

    def parse(value: Any) -> list[str] | Unreadable:
        names = value
        if isinstance(value, Mapping):
            ranks = [_plain(name).partition(" ")[0].removesuffix("est") for name in value]
            by_rank = dict(zip(ranks, value.values(), strict=True))
            is_whole = sorted(ranks) == sorted(_RANKS[:3])
            names = [by_rank[rank] for rank in _RANKS[:3]] if is_whole else None
        elif isinstance(value, str):  # also a numbered list
            parts = enumerate(re.split("[>,→⇒\n]", value, maxsplit=len(items)), 1)
            names = [re.sub(rf"^\s*{number}[.)]", "", part) for number, part in parts]
        if not isinstance(names, list):
            return Unreadable()
        order = [_named(name, items) or "" for name in names]
        return order if sorted(order) == sorted(items) else Unreadable()

    names_of_ranks = [f"{rank}{end}" for end in (" priority", "") for rank in _RANKS]
    parse.names = names_of_ranks  # type: ignore[attr-defined]
    return parse


def number_from(low: float, high: float) -> Parser:
    """Return the parser of a number from `low` to `high`: 4, 4/5 on a scale to 5, 80% of 1."""
    percent = r"\s*%" if (low, high) == (0, 1) else ""
    scale = rf"\s*(?:/|out of)\s*{high:g}|(?P<percent>{percent})"
    number = re.compile(rf"([-+]?(?:\d+(?:\.\d*)?|\.\d+))(?:{scale})?", re.ASCII)

    def parse(value: Any) -> float | Unreadable:
        if isinstance(value, str) and (match := number.fullmatch(value)):
            value = float(match[1]) / (100 if match["percent"] else 1)
        is_number = type(value) in (int, float) and low <= value <= high
        return float(value) if is_number else Unreadable()

    return parse
