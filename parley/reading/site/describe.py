"""What the pages say of a build: its card as HTML, and the Python that loads it."""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from markupsafe import Markup

from parley.building.card import is_licensed, licence_section, parse, prose
from parley.building.folder import BuiltFolder, typed
from parley.building.provenance import CARD
from parley.hub.published import Published, published
from parley.reading.site.markdown import first_paragraph, sections, to_html

# section of the page -> its sections of the card; the rest of the card goes to "sources"
_SECTIONS: dict[str, tuple[str, ...]] = {
    "overview": ("",),
    "charts": (),
    "warnings": ("Before you use it", "Biases and impact", "Known limits"),
    "configs": ("Splits", "How to load", "What a row looks like"),
    "fields": ("Fields",),
    "figures": ("Figures",),
    "tasks": ("Tasks",),
    "sources": (),
}
_SHOWN_PARTS = ("splits", "row", "fields", "figures", "tasks", "citation")


@dataclass(frozen=True)
class Description:
    """A build for the pages, with its path for `load_dataset`.

    `first` is the command that makes a build at this path, if there is none yet.
    """

    built: BuiltFolder
    path: str
    first: str = ""

    @property
    def name(self) -> str:
        """The name of the dataset and of its folder in the site."""
        return self.built.dataset.name

    @cached_property
    def _card(self) -> tuple[dict[str, Any], str]:
        return parse(self.built.card, str(self.built.path / CARD))

    @property
    def title(self) -> str:
        """The dataset's display name."""
        return str(self._card[0].get("pretty_name") or self.name)

    @property
    def summary(self) -> str:
        """The first two sentences of the card."""
        about = first_paragraph(prose(self._card[1]))
        return " ".join(re.split(r"(?<=[.!?])\s+(?=[A-Z0-9])", about)[:2])

    @cached_property
    def sections(self) -> dict[str, Markup]:
        """The sections of the page about it, with the text of the card."""
        text = re.sub(r"\A\s*# .*\n", "", prose(self._card[1], _SHOWN_PARTS))
        text = re.sub("(?m)^(</?details>|<summary>.*</summary>)$", "", text)  # a section is enough
        places = {heading: id for id, headings in _SECTIONS.items() for heading in headings}
        found = dict.fromkeys(_SECTIONS, Markup())
        for heading, html in sections(text, ("Fields", "Tasks")):
            found[places.get(heading, "sources")] += html
        always = {"overview", "charts", "sources"}
        always |= set() if self.unlicensed is None else {"warnings"}
        return {id: html for id, html in found.items() if html or id in always}

    @property
    def facts(self) -> dict[str, list[str]]:
        """The languages and licences that the card's front matter states."""
        stated = {
            "languages": self._card[0].get("language"),
            "licence": self._card[0].get("license"),
        }
        return {
            label: [str(value) for value in (found if isinstance(found, list) else [found])]
            for label, found in stated.items()
            if found
        }

    @cached_property
    def published(self) -> Published | None:
        """The repository that this build was published to, if any."""
        return published(self.built)

    @property
    def load(self) -> dict[str, Any]:
        """The path and revision for `load_dataset`, and the command of export."""
        more = ("csv", f"{self.name}-csv", "--ids", "ids.txt")
        export = typed("export", self.name, Path(self.path).parent, *more).strip("`")
        place: dict[str, Any] = {"path": self.path, "revision": None}
        if self.published:
            place = {"path": self.published.repo, "revision": self.published.commit}
        elif self.first:
            place["first"] = self.first
        return place | {"export": export}

    @property
    def snippet(self) -> str:
        """The Python that loads the default config."""
        load = self.load
        revision = f", revision={_python(load['revision'])}" if load["revision"] else ""
        splits = self.built.splits(self.built.dataset.default)
        chosen = f", split={_python(splits[0])}" if splits else ""
        first = f"# first: {load['first']}\n" if "first" in load else ""
        call = f"load_dataset({_python(load['path'])}{chosen}{revision})"
        return f"{first}from datasets import load_dataset\n\nrows = {call}"

    @property
    def unlicensed(self) -> Markup | None:
        """The licence section of a card without a stated licence."""
        card = self.built.dataset.read_card()
        return None if is_licensed(card, CARD) else to_html(licence_section(card, CARD))


def described(built: BuiltFolder, is_kept: bool) -> Description:
    """Return the description of a build, or of one that is gone soon: how to make it."""
    name = built.dataset.name
    if is_kept:
        return Description(built, built.path.as_posix())
    sample = ("--sample",) if built.is_sample else ()
    first = typed("build", name, Path("build"), *sample).strip("`")
    return Description(built, f"build/{name}", first)


def _python(text: str) -> str:
    """Return text as an ASCII Python string in double quotes."""
    escaped = text.encode("unicode_escape").decode("ascii").replace('"', '\\"')
    return f'"{escaped}"'
