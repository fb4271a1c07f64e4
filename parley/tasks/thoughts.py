"""A model's answer without the thoughts before it."""

import re
import unicodedata

LONGEST = 20_000  # characters of an answer after its thoughts; a longer one is not read
_TAG = "(?:think|thinking|thought|reasoning)>"
_THOUGHT = re.compile(rf"(?i)<{_TAG}|\[THINK\]|<\|channel\|>analysis")
_FINAL = r"<\|channel\|>final(?: ?<\|constrain\|>\w*)?<\|message\|>"
_THOUGHT_ENDS = re.compile(rf"(?i)</{_TAG}|\[/THINK\]|{_FINAL}")
_HYPHENS = re.compile("[\u2010-\u2015\u2212]")


def final_text(text: str) -> str:
    """Return an answer without the thoughts before it; "" for thoughts alone or too long a text.

    "120²" becomes "120^2" and so no other number.
    """
    text = "".join(f"^{c}" if c.isdigit() and not c.isdecimal() else c for c in text)
    text = _THOUGHT_ENDS.split(text)[-1]
    if len(text) <= LONGEST:  # else NFKC takes long; it can make a text 18 times longer
        text = _THOUGHT_ENDS.split(unicodedata.normalize("NFKC", text))[-1]
    if len(text) > LONGEST:
        return ""
    return "" if _THOUGHT.search(text) else _HYPHENS.sub("-", text).strip()
