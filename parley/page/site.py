"""The site: pages from templates, with what they say of a build; data from builds."""

import json
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from parley.base.disk import read_regular
from parley.base.replace import files_in, replacing, write_whole
from parley.base.strict_json import loads
from parley.base.version import __version__
from parley.builds.built_folder import BuiltFolder, typed
from parley.builds.card import is_licensed, licence_section, parse, prose
from parley.builds.provenance import CARD
from parley.builds.publication_note import PublicationNote, read_note
from parley.page.markdown import first_paragraph, sections, to_html
from parley.page.page_data import ALL, OnDialogues, Selection, write_data
from parley.read.charts import Bars
from parley.read.dialogues import dialogues
from parley.read.svg import ABOUT, STYLE, is_broad, shown, svg, table

_HERE = Path(__file__).parent
# a page may load only files of the site, and no inline code
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)
MARK = "site.json"  # lists the builds of a site and its files
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


def write_site(
    builds: Sequence[BuiltFolder],
    output: Path,
    on_dialogues: OnDialogues = lambda where, done: None,
    selection: Selection = ALL,
) -> None:
    """Write the site of these builds, and replace an old site only at the end.

    The same builds give the same bytes. OutputError if the site cannot be written, a build is
    damaged or lacks a file, or the folder holds files that are of no site; ScriptError if a
    dataset's `transcript.py` fails on a row.
    """
    site = Site(builds, selection)
    with replacing(output, _files_of) as folder:
        site.write_assets(folder)
        for name in site.datasets:
            site.write_dataset(folder, name, on_dialogues)
        site.write_front(folder)
        made_of = {
            "parley": __version__,
            "datasets": {built.dataset.name: built.provenance["configs"] for built in builds},
            "files": sorted([MARK, *files_in(folder)]),
        }
        (folder / MARK).write_text(json.dumps(made_of, indent=2) + "\n", encoding="utf-8")


def _files_of(site: Path) -> list[str]:
    """Return the files of a site, as its list names them; [] if the folder is no site."""
    try:
        mark = loads(read_regular(site / MARK))
        is_ours, files = tuple(mark) == ("parley", "datasets", "files"), mark["files"]
        return [str(file) for file in files] if is_ours else []
    except (OSError, ValueError, LookupError, TypeError):
        return []


class Site:
    """The parts of a site of builds, each to be written into its folder; errors as `write_site`.

    `is_kept` tells whether the builds stay. If not, the code of the page says how to build them.
    """

    def __init__(
        self, builds: Sequence[BuiltFolder], selection: Selection = ALL, is_kept: bool = True
    ) -> None:
        for built in builds:
            built.require_whole()
        self.datasets = {built.dataset.name: _described(built, is_kept) for built in builds}
        self._counts: dict[str, dict[str, int]] = {}  # of the datasets written
        self._selection, self._pages = selection, _templates()

    def write_assets(self, site: Path) -> None:
        """Write the files that all pages load."""
        (site / "assets").mkdir()
        for path in (_HERE / "assets").iterdir():  # an error of copytree is many in one
            shutil.copyfile(path, site / "assets" / path.name)
        (site / "assets/charts.css").write_text(STYLE, encoding="utf-8")

    def write_dataset(self, site: Path, name: str, on_dialogues: OnDialogues) -> None:
        """Write the pages and the data of one dataset."""
        dataset, data = self.datasets[name], site / name / "data"
        data.parent.mkdir()
        counts = write_data(dataset.built, data, dataset.load, on_dialogues, self._selection)
        self._counts[name] = counts.numbers
        charts, ids, files = counts.charts(), self._selection.ids, self._selection.files
        asked = counts.filters.keys() - {"split"}  # which tells least
        pictures = [it for it in charts.items() if isinstance(it[1], Bars) and it[1].of in asked]
        first = next((d for d in dialogues(dataset.built) if not ids or d.id == ids[0]), None)
        about = {"dataset": dataset, "counts": counts, "root": "../", "files": files}
        about |= {"charts": charts, "pictures": pictures[:4], "first": first}
        for page in ("index.html", "dialogues.html"):
            text = self._pages.get_template(f"dataset-{page}").render(about)
            (site / name / page).write_text(text, encoding="utf-8")

    def write_front(self, site: Path) -> None:
        """Write the first page and the README, with the counts of the datasets written so far."""
        datasets, links = list(self.datasets.values()), metadata("parley-datasets")
        urls = dict(link.split(", ") for link in links.get_all("Project-URL", []))
        about = {"datasets": datasets, "counts": self._counts, "root": "", "urls": urls}
        for page in ("index.html", "README.md"):
            write_whole(site / page, self._pages.get_template(page).render(about))


def _templates() -> Environment:
    """Return the templates, which escape text and make control characters visible."""

    def visible(value: Any) -> Any:
        is_text = isinstance(value, str) and not isinstance(value, Markup)
        return shown(value, len(value)) if is_text else value

    templates = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        finalize=visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["shown"] = shown
    templates.tests["web_address"] = lambda url: bool(re.match("https?://[^/]", str(url)))
    functions = {"ABOUT": ABOUT, "is_broad": is_broad, "svg": svg, "table": table}
    templates.globals |= {"policy": _POLICY, **functions}
    return templates


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
        htmls = dict.fromkeys(_SECTIONS, Markup())
        for heading, html in sections(text, ("Fields", "Tasks")):
            htmls[places.get(heading, "sources")] += html
        always = {"overview", "charts", "sources"}
        always |= set() if self.unlicensed is None else {"warnings"}
        return {id: html for id, html in htmls.items() if html or id in always}

    @property
    def facts(self) -> dict[str, list[str]]:
        """The languages and licences that the card's front matter states."""
        front, _ = self._card
        stated = {"languages": front.get("language"), "licence": front.get("license")}
        lists = {k: v if isinstance(v, list) else [v] for k, v in stated.items() if v}
        return {label: [*map(str, values)] for label, values in lists.items()}

    @cached_property
    def published(self) -> PublicationNote | None:
        """The repository that this build was published to, if any."""
        return read_note(self.built)

    @property
    def load(self) -> dict[str, Any]:
        """The path and revision for `load_dataset`, the folder for SQL, the command of export."""
        more = ("csv", "--ids", "ids.txt")
        export = typed("export", self.name, Path(self.path).parent, *more).strip("`")
        place: dict[str, Any] = {"path": self.path, "revision": None, "folder": self.path}
        if self.published:
            place = {"path": self.published.repo, "revision": self.published.commit}
            place["folder"] = f"copy/{self.name}"
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


def _described(built: BuiltFolder, is_kept: bool) -> Description:
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
