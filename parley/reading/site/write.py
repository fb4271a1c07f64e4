"""The site: pages from templates, data from builds."""

import json
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from parley.base.console import plain
from parley.base.regular import read_regular
from parley.base.replace import files_in, replacing, write_whole
from parley.base.strict_json import loads
from parley.base.version import __version__
from parley.building.folder import BuiltFolder
from parley.reading.site.data import ALL, Asked, write_data
from parley.reading.site.describe import described
from parley.reading.site.draw import ABOUT, is_broad, svg, table
from parley.reading.site.draw import shown as shorten

_HERE = Path(__file__).parent
# a page may load only files of the site, and no inline code
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)
MARK = "site.json"  # lists the builds of a site and its files


def write_site(
    folders: Sequence[BuiltFolder],
    output: Path,
    on_dialogues: Callable[[str, int], None] = lambda where, done: None,
    catalogue: Path | None = None,
) -> None:
    """Write the site of these builds, and replace an old site only at the end.

    The same builds give the same bytes.

    Args:
        folders: The builds, one per dataset.
        output: The folder to make.
        on_dialogues: Called with a dataset's name and the number of its dialogues written.
        catalogue: The folder with the titles of judged documents.

    Raises:
        OutputError: the site cannot be written, a build is damaged or lacks a file, or the folder
            holds files that are of no site.
        ScriptError: the transcript.py of a dataset fails on a row.
    """
    site = Site(folders, catalogue)
    with replacing(output, _files_of) as folder:
        site.write_assets(folder)
        for name in site.datasets:
            site.write_dataset(folder, name, on_dialogues)
        site.write_front(folder)
        made_of = {
            "parley": __version__,
            "datasets": {built.dataset.name: built.provenance["configs"] for built in folders},
            "files": sorted([MARK, *files_in(folder)]),
        }
        (folder / MARK).write_text(json.dumps(made_of, indent=2) + "\n", encoding="utf-8")


def _files_of(site: Path) -> list[str]:
    """Return the files of a site, as its list names them; [] if the folder is no site."""
    try:
        found = loads(read_regular(site / MARK))
        known, files = ("parley", "datasets", "files"), found["files"]
        return [str(each) for each in files] if tuple(found) == known else []
    except (OSError, ValueError, LookupError, TypeError):
        return []


class Site:
    """The parts of a site of builds, each to be written into its folder.

    `is_kept` tells whether the builds stay. If not, the code of the page says how to build them.
    `asked` names the dialogues to show, by default all, and files beside them.
    The errors are those of `write_site`.
    """

    def __init__(
        self,
        folders: Sequence[BuiltFolder],
        catalogue: Path | None = None,
        is_kept: bool = True,
        asked: Asked = ALL,
    ) -> None:
        for built in folders:
            built.require_whole()
        self.datasets = {built.dataset.name: described(built, is_kept) for built in folders}
        self._counts: dict[str, dict[str, int]] = {}  # of the datasets written
        self._catalogue, self._asked = catalogue, asked
        self._pages = _templates()

    def write_assets(self, site: Path) -> None:
        """Write the files that all pages load."""
        shutil.copytree(_HERE / "assets", site / "assets")

    def write_dataset(
        self, site: Path, name: str, on_dialogues: Callable[[str, int], None]
    ) -> None:
        """Write the pages and the data of one dataset."""
        each, folder = self.datasets[name], site / name
        folder.mkdir()
        data = folder / "data"
        counts = write_data(each.built, data, each.load, on_dialogues, self._catalogue, self._asked)
        self._counts[name] = counts.told
        notes = self._asked.own.notes if self._asked.own else []
        about = {"dataset": each, "counts": counts, "root": "../", "own": notes}
        for page in ("index.html", "dialogues.html"):
            text = self._pages.get_template(f"dataset-{page}").render(about)
            (folder / page).write_text(text, encoding="utf-8")

    def write_front(self, site: Path) -> None:
        """Write the first page and the README, with the counts of the datasets written so far."""
        about = {"datasets": list(self.datasets.values()), "counts": self._counts, "root": ""}
        for page in ("index.html", "README.md"):
            write_whole(site / page, self._pages.get_template(page).render(about))


def _templates() -> Environment:
    """Return the templates, which escape text and make control characters visible."""

    def shown(value: Any) -> Any:
        if isinstance(value, Markup) or not isinstance(value, str):
            return value
        return plain(value).encode(errors="backslashreplace").decode()  # lone surrogates

    templates = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["shown"] = shorten
    templates.tests["web_address"] = lambda url: bool(re.match("https?://[^/]", str(url)))
    functions = {"ABOUT": ABOUT, "is_broad": is_broad, "svg": svg, "table": table}
    templates.globals |= {"policy": _POLICY, **functions}
    return templates
