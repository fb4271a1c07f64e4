"""The description of a build for the pages."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from markupsafe import Markup

from parley.building.card import is_licensed, licence_section, parse, prose
from parley.building.configs import Config
from parley.building.folder import BuiltFolder
from parley.building.measurements import Measured, measured
from parley.building.provenance import CARD
from parley.building.verdicts import A_SAMPLE, VERDICTS, Figure, figures, tally
from parley.hub.published import Published, published
from parley.reading.export.chats import CONFIG as CHATS
from parley.reading.site.markdown import first_paragraph, sections, to_html

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
_SECTIONS = ("overview", "charts", "warnings", "configs", "fields", "figures", "tasks", "sources")
# section of a card -> section of the page; the rest goes to "sources"
_PLACES = {
    "": "overview",
    "Before you use it": "warnings",
    "Biases and impact": "warnings",
    "Known limits": "warnings",
    "How to load": "configs",
    "Splits": "configs",
    "What a row looks like": "configs",
    "Fields": "fields",
    "Tasks": "tasks",
}


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
    def card(self) -> dict[str, Markup]:
        """The card's prose as HTML without its title: section of the page -> text."""
        text = prose(self._card[1], ("row", "fields", "tasks", "citation"))
        found: dict[str, Markup] = {}
        for heading, html in sections(re.sub(r"\A\s*# .*\n", "", text), ("Fields", "Tasks")):
            place = _PLACES.get(heading, "sources")
            found[place] = found.get(place, Markup()) + html
        return found

    @property
    def sections(self) -> dict[str, str]:
        """The sections of the page about it: id -> title."""
        absent = {"fields", "tasks", "warnings"} - self.card.keys()
        absent -= {"warnings"} if self.unlicensed is not None else set()
        absent |= set() if self.figures else {"figures"}
        return {id: id.title() for id in _SECTIONS if id not in absent}

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
    def configs(self) -> list[dict[str, Any]]:
        """Each config: name, what a row is, uses, key, and splits with their rows, if built."""
        dataset = self.built.dataset
        built: dict[str, Any] = self.built.provenance["configs"]
        read = {name: task.configs for name, task in dataset.tasks.items()}
        laid_out = dataset.transcript.CONFIGS if dataset.transcript else ()
        found = []
        for name, splits in dataset.splits.items():
            config = dataset.configs[name]
            uses = [f"task {task}" for task, configs in read.items() if name in configs]
            uses += ["training on chats"] * (name == CHATS) + ["reading"] * (name in laid_out)
            uses += ["upstream’s records"] * isinstance(config, Config)
            made = built.get(name, {})
            rows = [(split, made.get(split, {}).get("rows")) for split in splits]
            about = {"name": name, "row": config.description, "uses": uses}
            found.append(about | {"key": config.keys, "splits": rows})
        return found

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
    def tally(self) -> str:
        """The number of documented figures by verdict, as text."""
        return tally(figure.verdict for figure in self.figures)

    @property
    def verdicts(self) -> dict[str, int]:
        """The number of figures by verdict."""
        counts = Counter(figure.verdict for figure in self.figures)
        return {verdict: counts[verdict] for verdict in VERDICTS if counts[verdict]}

    @property
    def recomputed(self) -> int:
        """The number of figures that were computed from the rows."""
        return sum(figure.measured is not None for figure in self.figures)

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
        first = {"first": self.first} if self.first else {}
        return {"path": self.path, "revision": None} | first

    @property
    def snippet(self) -> str:
        """The Python that loads the default config."""
        load = self.load
        revision = f", revision={_python(load['revision'])}" if load["revision"] else ""
        splits = self.built.splits(self.built.dataset.default)
        chosen = f", split={_python(splits[0])}" if splits else ""
        name = re.sub(r"\W", "_", self.name)
        return (
            (f"# first: {load['first']}\n" if "first" in load else "")
            + "from datasets import load_dataset\n\n"
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
