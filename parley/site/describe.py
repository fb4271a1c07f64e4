"""The description of a build for the pages."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from markupsafe import Markup

from parley.figures import A_SAMPLE, MATCHES, OUR_CARD, Figure, figures, tally
from parley.folder.built import CARD, BuiltFolder
from parley.folder.card import is_licensed, licence_section, parse, prose
from parley.folder.measured import Measured, measured
from parley.hub.published import Published, published
from parley.site.markdown import first_paragraph, to_html

# key in a card's front matter -> label on the page
_FACTS = {
    "license": "licence",
    "language": "languages",
    "size_categories": "size",
    "task_categories": "tasks",
    "annotations_creators": "annotated by",
    "language_creators": "written by",
    "tags": "tags",
}


@dataclass(frozen=True)
class Description:
    """A build for the pages.

    Args:
        built: The build.
        path: Its path for `load_dataset`.
    """

    built: BuiltFolder
    path: str

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
    def about(self) -> str:
        """The first paragraph of the card."""
        return first_paragraph(self._card[1])

    @property
    def summary(self) -> str:
        """The first two sentences of the card."""
        return " ".join(re.split(r"(?<=[.!?])\s+(?=[A-Z0-9])", self.about)[:2])

    @property
    def card(self) -> Markup:
        """The card's prose as HTML, without its title."""
        text = "\n".join(prose(self._card[1]))
        return to_html(re.sub(r"\A\s*# .*\n", "", text))

    @property
    def facts(self) -> dict[str, list[str]]:
        """The facts of the card's front matter, by label."""
        front = self._card[0]
        return {
            label: [str(value) for value in (found if isinstance(found, list) else [found])]
            for key, label in _FACTS.items()
            if (found := front.get(key))
        }

    @property
    def splits(self) -> list[tuple[str, list[tuple[str, int | None]]]]:
        """Each config with its splits and their rows; None if the source was missing."""
        built: dict[str, Any] = self.built.provenance["configs"]
        return [
            (
                config,
                [(split, built.get(config, {}).get(split, {}).get("rows")) for split in splits],
            )
            for config, splits in self.built.dataset.splits.items()
        ]

    @cached_property
    def figures(self) -> list[Figure]:
        """Each documented figure; not checked if these rows were not measured."""
        dataset = self.built.dataset
        if self.built.is_sample:
            return list(figures(dataset.figures, self.built, A_SAMPLE))
        known = measured(dataset)
        same = known.version == self.built.version and all(
            known.digest(config, split) in (None, made["digest"])
            for config, splits in self.built.provenance["configs"].items()
            for split, made in splits.items()
        )
        return (known if same else Measured()).figures(dataset)

    @property
    def documented(self) -> list[Figure]:
        """The figures of documents other than our card."""
        return [figure for figure in self.figures if not figure.place.startswith(OUR_CARD)]

    @property
    def matching(self) -> int:
        """The number of documented figures that match."""
        return sum(figure.verdict == MATCHES for figure in self.documented)

    @property
    def tally(self) -> str:
        """The number of figures by verdict, as text."""
        return tally(figure.verdict for figure in self.figures)

    @property
    def sources(self) -> list[tuple[str, str, list[tuple[str, str]]]]:
        """Each upstream file: name, URL if it is a web address, and pin."""
        found = []
        for file, pin in self.built.provenance["sources"].items():
            url = str(pin.get("url", ""))
            pins = [(key, str(value)) for key, value in pin.items() if key != "url"]
            found.append((file, url if re.match("https?://[^/]", url) else "", pins))
        return found

    @cached_property
    def published(self) -> Published | None:
        """The repository that this build was published to, if any."""
        return published(self.built)

    @property
    def load(self) -> dict[str, Any]:
        """The path and revision for `load_dataset`."""
        if self.published:
            return {"path": self.published.repo, "revision": self.published.commit}
        return {"path": self.path, "revision": None}

    @property
    def snippet(self) -> str:
        """The Python that loads the default config."""
        load = self.load
        revision = f", revision={_python(load['revision'])}" if load["revision"] else ""
        splits = self.built.splits(self.built.dataset.default)
        chosen = f", split={_python(splits[0])}" if splits else ""
        name = re.sub(r"\W", "_", self.name)
        return (
            "from datasets import load_dataset\n\n"
            f"{name} = load_dataset({_python(load['path'])}{chosen}{revision})"
        )

    @property
    def unlicensed(self) -> Markup | None:
        """The licence section of a card without a stated licence."""
        card = self.built.dataset.read_card()
        if is_licensed(card, CARD):
            return None
        return to_html(licence_section(card, CARD))


def _python(text: str) -> str:
    """Return text as an ASCII Python string in double quotes."""
    escaped = text.encode("unicode_escape").decode("ascii").replace('"', '\\"')
    return f'"{escaped}"'
