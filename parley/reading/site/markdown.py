"""A card's Markdown as safe HTML: no raw tags, no images, only plain links."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup

from parley.base.console import plain

_PREFIX = "card-"  # keeps ids of headings apart from the page's ids


def to_html(text: str) -> Markup:
    """Return Markdown as HTML; lower headings by one level."""
    markdown = _markdown()
    tokens = markdown.parse(plain(text))
    _lower_headings(tokens)
    return Markup(markdown.renderer.render(tokens, markdown.options, {}))  # noqa: S704 - escaped by the renderer


def inline(text: str) -> Markup:
    """Return a line of Markdown as HTML without a paragraph."""
    return Markup(_markdown().renderInline(plain(text)))  # noqa: S704 - escaped by the renderer


def sections(text: str, fold: Collection[str] = ()) -> Iterator[tuple[str, Markup]]:
    """Yield the heading and the HTML of each `##` section; "" heads the text before the first.

    The parts of the sections named by `fold` are folded below their `###` headings.
    """
    markdown = _markdown()
    tokens = markdown.parse(plain(text))
    starts = [n for n, t in enumerate(tokens) if t.type == "heading_open" and t.tag == "h2"]
    _lower_headings(tokens)
    for start, end in pairwise(dict.fromkeys([0, *starts, len(tokens)])):
        heading = tokens[start + 1].content if start in starts else ""
        html = str(markdown.renderer.render(tokens[start:end], markdown.options, {}))
        if heading in fold:
            part = r"(<h4 .*?</h4>)(.*?)(?=<h4 |\Z)"
            html = re.sub(part, r"<details><summary>\1</summary>\2</details>", html, flags=re.S)
        yield heading, Markup(html)  # noqa: S704 - escaped by the renderer


def _markdown() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable("table")
    markdown.validateLink = _may_lead  # type: ignore[method-assign]
    return markdown


def first_paragraph(text: str) -> str:
    """Return the first paragraph of Markdown as plain text."""
    tokens = MarkdownIt("commonmark", {"html": False}).parse(plain(text))
    for before, token in pairwise(tokens):
        if before.type == "paragraph_open" and token.children:
            return "".join(" " if t.type == "softbreak" else t.content for t in token.children)
    return ""


def _may_lead(url: str) -> bool:
    return bool(re.match(r"https?://[^/]|#", url, re.IGNORECASE))


def _lower_headings(tokens: Sequence[Token]) -> None:
    """Lower each heading by one level and give it an id for links in the card."""
    seen: Counter[str] = Counter()
    for token, inline in pairwise(tokens):
        if token.type == "heading_open":
            slug = _slug(inline.content)
            token.attrs["id"] = f"{_PREFIX}{slug}{f'-{seen[slug]}' if seen[slug] else ''}"
            seen[slug] += 1
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 1)}"


def _slug(heading: str) -> str:
    """Return the id of a heading as the Hub forms it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


class _Renderer(RendererHTML):
    """Renders tables and code for scrolling by keyboard, and images as text."""

    def table_open(self, tokens: Sequence[Token], *_: Any) -> str:
        return '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>\n'

    def table_close(self, tokens: Sequence[Token], *_: Any) -> str:
        return "</table></div>\n"

    def th_open(self, tokens: Sequence[Token], number: int, *_: Any) -> str:
        return f"<th{_side(tokens[number])}>"

    def td_open(self, tokens: Sequence[Token], number: int, *_: Any) -> str:
        return f"<td{_side(tokens[number])}>"

    def fence(self, tokens: Sequence[Token], number: int, *rest: Any) -> str:
        return super().fence(tokens, number, *rest).replace("<pre>", '<pre tabindex="0">', 1)

    def code_block(self, tokens: Sequence[Token], number: int, *rest: Any) -> str:
        return super().code_block(tokens, number, *rest).replace("<pre>", '<pre tabindex="0">', 1)

    def image(self, tokens: Sequence[Token], number: int, *_: Any) -> str:
        return str(Markup("<span>[picture: {}]</span>").format(tokens[number].content))

    def link_open(self, tokens: Sequence[Token], number: int, *rest: Any) -> str:
        token = tokens[number]
        href = str(token.attrs.get("href", ""))
        if href.startswith("#"):
            token.attrs["href"] = f"#{_PREFIX}{href[1:]}"
        else:
            token.attrs["rel"] = "noreferrer"
        return self.renderToken(tokens, number, *rest)


def _side(token: Token) -> str:
    """Return the class of a cell; the page's policy forbids Markdown's own style."""
    return ' class="number"' if "right" in str(token.attrs.get("style", "")) else ""
