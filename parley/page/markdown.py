"""A card's Markdown as safe HTML: no raw tags, no images, only plain links."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from parley.base.console import plain

_PREFIX = "card-"  # keeps ids of headings apart from the page's ids
# In what the renderer writes: text and attributes hold no < and no ", which it escapes
_CHANGES = {
    "<table>": '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>',
    "</table>": "</table></div>",
    "<pre>": '<pre tabindex="0">',
    ' style="text-align:right"': ' class="number"',  # the page's policy forbids its style
    ' style="text-align:[a-z]+"': "",
    '<img src="[^"]*" alt="([^"]*)"[^>]*>': r"<span>[picture: \1]</span>",
    '<a href="#': rf'<a href="#{_PREFIX}',
    '<a href="(?!#)': '<a rel="noreferrer" href="',
}


_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_LINK = re.compile(r"https?://[^/]|#", re.IGNORECASE)
_MARKDOWN.validateLink = lambda url: bool(_LINK.match(url))  # type: ignore[method-assign]


def to_html(text: str) -> Markup:
    """Return Markdown as HTML; lower headings by one level."""
    return Markup().join(html for _, html in sections(text))


def sections(text: str, fold: Collection[str] = ()) -> Iterator[tuple[str, Markup]]:
    """Yield the heading and the HTML of each `##` section; "" heads the text before the first.

    The parts of the sections named by `fold` are folded below their `###` headings.
    """
    tokens = _MARKDOWN.parse(plain(text))
    starts = [n for n, t in enumerate(tokens) if t.type == "heading_open" and t.tag == "h2"]
    _lower_headings(tokens)
    for start, end in pairwise(dict.fromkeys([0, *starts, len(tokens)])):
        heading = tokens[start + 1].content if start in starts else ""
        html = str(_MARKDOWN.renderer.render(tokens[start:end], _MARKDOWN.options, {}))
        for pattern, replacement in _CHANGES.items():
            html = re.sub(pattern, replacement, html)
        if heading in fold:
            part = r"(<h4 .*?</h4>)(.*?)(?=<h4 |\Z)"
            html = re.sub(part, r"<details><summary>\1</summary>\2</details>", html, flags=re.S)
        yield heading, Markup(html)  # noqa: S704 - escaped by the renderer


def first_paragraph(text: str) -> str:
    """Return the first paragraph of Markdown as plain text."""
    tokens = _MARKDOWN.parse(plain(text))
    for before, token in pairwise(tokens):
        if before.type == "paragraph_open" and token.children:
            return "".join(" " if t.type == "softbreak" else t.content for t in token.children)
    return ""


def _lower_headings(tokens: Sequence[Token]) -> None:
    """Lower each heading by one level and give it an id for links in the card, as the Hub's."""
    seen: Counter[str] = Counter()
    for token, inner in pairwise(tokens):
        if token.type == "heading_open":
            slug = re.sub(r"[^\w\- ]", "", inner.content.lower()).replace(" ", "-")
            token.attrs["id"] = f"{_PREFIX}{slug}{f'-{seen[slug]}' if seen[slug] else ''}"
            seen[slug] += 1
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 1)}"
