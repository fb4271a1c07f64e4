"""A dataset for `PARLEY_DATASETS` whose texts, labels, ids and card attack the page."""

import json
import re
from pathlib import Path

from parley.builds.card import PARTS
from parley.builds.card_parts import marks

WORD = "w" * 100_000
ATTACKS = [
    "<script>window.acted = 1</script>", "</script><script>window.acted = 1</script>",
    '<img src=x onerror="window.acted = 1">', "\"><svg onload='window.acted = 1'>",
    "' autofocus onfocus='window.acted = 1' x='", "javascript:window.acted=1",
    "<iframe src='https://example.org/frame'></iframe>",
    "</textarea></title></style></template><!-- ]]>",
    "{{ 7 * 7 }} {% for x in y %} {{ config }} ${7 * 7} <%= 7 * 7 %> #{7 * 7}",
    "![picture](https://example.org/picture.png) [link](javascript:window.acted=1) `code`",
    "__proto__", "constructor", "toString", "../../../etc/passwd", "a&b=c#d?e%2F%00+f/g\\h",
    "\\u003cscript\\u003e \\x3cscript\\x3e &lt;script&gt; &#60;",
    "\u202eleft to right\u202c \u2066isolated \u200e\u200f\u061c",
    "controls: \x00 \x07 \x08 \x1b[31m \x7f \x85 \x9b \u2028 \u2029 \ufeff \u200b \xad", "\u0301",
    '=HYPERLINK("https://example.org")', "spaces   and\ttabs \n\n and lines\r\n", "", WORD,
]  # fmt: skip
FORMULAS = [
    *("=1", "+1", "-1", "@A1", "\t=1", "\r=1", "\n=1", "\tx", "\rx", "\nx", "'=1"),
    *("\uff1d1", "\uff0b1", "\uff0d1", "\uff20A1", "\ufe661"),  # in wide and small forms
    *(
        f"{blank}=1"
        for blank in "\u034f\u115f\u1160\u17b4\u180b\u180f\u2800\u3164\ufe0f\uffa0\ufff9"
        "\U0001bca0\U0001d173\U000e0001\U000e0100 \xa0\u3000\u2003"
        "\x0b\x0c\x00\x1f\x85\xad\u200b\u200e\u2060\ufeff"
    ),
    *("\ufeff\uff1d1", "\ufeff\n =1"),
]
"""Texts that a spreadsheet may take for a formula."""

_SCRIPT = '''"""Hostile: every text is an attack."""

from parley import Builder, ClassLabel, Config, Converted, Field, File, View

KIND = Field(ClassLabel({"even": ATTACK, "odd": ""}, is_ordered=True), ATTACK)
LABEL = Field(ClassLabel({ATTACK: ATTACK, "other": ""}), ATTACK)
SHAPE = {"id": str, "attack": Field(str, ATTACK), "length": Field(int, ATTACK), "label": LABEL}
ROW = Converted(
    str, SHAPE, lambda text: {"id": text, "attack": text, "length": len(text), "label": ATTACK},
    lambda row: row["id"],
)
ATTACKS = File("attacks.json", ROW, url="https://example.org/attacks.json", sha256="0" * 64)
SIDE = {"id": str, "speaker": str, ATTACK: KIND, "length": float, "labels": [ClassLabel(LABELS)]}


@View(ATTACK, SIDE, of="dialogues", key=("id", "speaker"))
def sides(records):
    """Yield both sides of each text."""
    for text in records:
        kind, labels = ("even", "odd")[len(text) % 2], [text, "<b>every</b>"]
        one = {"id": text, "speaker": text, ATTACK: kind, "labels": labels}
        yield {**one, "length": float(len(text))}
        yield {**one, "speaker": "other", "length": -1.5, "labels": labels[1:]}


class Hostile(Builder):
    __doc__ = ATTACK
    VERSION, HOMEPAGE, LICENSE = "0.1.0", "https://" + ATTACK, ATTACK
    CONFIGS = [Config("dialogues", ATTACK, {"train": [ATTACKS]}, key="id"), sides]
'''

_TRANSCRIPT = '''"""Put the attack of a row into every text of a transcript."""

from parley.read.transcript import Facet, Judged, Note, Pool, Table, Transcript, Turn

CONFIGS = ("dialogues",)
_PHRASE = "<img src=x onerror='window.acted = 1'> {}"
FACETS = {
    ATTACK: Facet(_PHRASE, "not " + _PHRASE, column="dialogues.attack"),
    "attacks": Facet(column="sides.labels"), "length": Facet(column="dialogues.length"),
    "number of a side": Facet(column="sides.length"),
}
SPEAKERS, SAID = {"other": ATTACK}, {"dialogues": "attack"}


def transcript(row):
    text = row["attack"]
    facts, cells = [(text, text)], ((text, (text,)),)
    note = Note(text, kind=text, detail=text, by=text)
    turns = [Turn(text, text, (note,)), Turn("other", text, (note,))]
    turns.append(Turn(text, text, action=True))
    return Transcript(
        text, before=facts, turns=turns, after=facts, sides={text: facts, "other": facts},
        tables=[Table(text, (text,), cells)], judged=[Judged(1, text, (Pool(text, text, cells),))],
        language=text, entry=f"entry {text}",
    )
'''

_CHARTS = '''"""Put the attacks into every text of each kind of chart."""

from parley.read.charts import Bar, Bars, Heatmap


def attacks(data):
    return [row["attack"] for row in data.rows("dialogues", "train")]


def bars(data):
    bars = [Bar(text, (n + 1, 2), {text: text}) for n, text in enumerate(attacks(data))]
    return Bars(ATTACK, ATTACK, ATTACK, (ATTACK, "b"), tuple(bars))


def many(data):
    bars = [Bar(text, (1,), {"id": text}) for text in attacks(data)] * 3
    return Bars(ATTACK, ATTACK, ATTACK, (ATTACK,), tuple(bars))


def heatmap(data):
    texts = attacks(data)
    cells = {pair: n + 1 for n, pair in enumerate(zip(texts, texts[1:]))}
    return Heatmap(ATTACK, ATTACK, ATTACK, "attacks", ATTACK, cells)


CHARTS = {ATTACK: bars, "many": many, "heatmap": heatmap}
'''

_FIGURES = '''"""Figures with attacks as document, names and reasons."""

from parley.declaration.figures import (Differs, documented)


@documented(ATTACK, {ATTACK: 1, "<i>rows</i>": Differs(1, 2, ATTACK)})
def attacks(data, key):
    """<b onclick="window.acted = 1">Rows.</b>"""
    return len(data.rows("dialogues", "train"))
'''

# HTML, scripts, images and links for a card
MARKDOWN = """# <script>window.acted = 1</script>

<script>window.acted = 1</script>

<div onclick="window.acted = 1" style="position: fixed; inset: 0">covers all</div>

A [link](javascript:window.acted=1), a [shy one](&#106;avascript:window.acted=1), one with a
[title](https://example.org/ "x' onmouseover='window.acted = 1"), data:
[data](data:text/html,<script>window.acted=1</script>), <javascript:window.acted=1>,
![a picture](https://example.org/picture.png), ![another](x" onerror="window.acted=1),
<img src=https://example.org/tag.png>, {{ 7 * 7 }} {% raw %} [reference][r] \u202eturned\u202c.

[r]: javascript:window.acted=1

| a | <b>b</b> |
| --- | --- |
| <script>window.acted = 1</script> | [x](vbscript:acted) |

```html
</code></pre><script>window.acted = 1</script>
```
"""


def write(folder: Path) -> Path:
    """Write the dataset folder `hostile` into a folder, and return the folder."""
    place = folder / "hostile"
    (place / "sample").mkdir(parents=True)
    (place / "sample" / "attacks.json").write_text(json.dumps(ATTACKS), encoding="utf-8")
    files = {"hostile": _SCRIPT, "figures": _FIGURES, "charts": _CHARTS, "transcript": _TRANSCRIPT}
    for name, code in files.items():
        code = re.sub(r"\bLABELS\b", lambda _: repr(["<b>every</b>", *ATTACKS]), code)
        code = re.sub(r"\bATTACK\b", lambda _: repr(ATTACKS[2]), code)
        (place / f"{name}.py").write_text(code, encoding="utf-8")
    (place / "CITATION.bib").write_text(f"@{ATTACKS[2]}", encoding="utf-8")
    front = {"license": ATTACKS[0], "pretty_name": ATTACKS[2], "tags": ATTACKS[:15]}
    front["language"] = [ATTACKS[3], ATTACKS[5]]
    between = "".join("{}\n{}\n".format(*marks(part)) for part in PARTS)
    card = f"---\n{json.dumps(front)}\n---\n{MARKDOWN}\n{between}\n{MARKDOWN}"
    (place / "README.md").write_text(card, encoding="utf-8")
    return folder


def spoil(provenance: Path) -> None:
    """Put attacks into every text of a provenance file."""
    said = json.loads(provenance.read_text(encoding="utf-8"))
    said["version"], said["missing"] = ATTACKS[3], ATTACKS[:-1]
    said["sources"] = {
        attack: {"url": attack if number % 2 else "javascript:window.acted=1", attack: attack}
        for number, attack in enumerate(ATTACKS[:-1])
    }
    said["built_with"] = {attack: attack for attack in ATTACKS[:-1]}
    for file in said["configs"]["dialogues"]["train"]["files"]:
        file["sha256"] = ATTACKS[2]
    provenance.write_text(json.dumps(said), encoding="utf-8")
