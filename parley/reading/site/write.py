"""The site: pages from templates, data from builds."""

import json
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from parley.base.console import plain
from parley.base.replace import replacing
from parley.base.version import __version__
from parley.building.built import BuiltFolder, typed
from parley.reading.site.data import write_data
from parley.reading.site.describe import Description
from parley.reading.site.draw import ABOUT, STYLE, is_broad, svg, table
from parley.reading.site.draw import shown as shorten
from parley.reading.site.markdown import to_html

_HERE = Path(__file__).parent
# a page may load only files of the site, and no inline code
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)
MARK = "site.json"  # lists the builds of a site, and marks its folder


def write_site(
    folders: Sequence[BuiltFolder],
    output: Path,
    on_dialogues: Callable[[str, int], None] = lambda where, done: None,
    catalogue: Path | None = None,
    is_kept: bool = True,
) -> None:
    """Write the site of these builds, and replace an old site only at the end.

    The same builds give the same bytes.

    Args:
        folders: The builds, one per dataset.
        output: The folder to make.
        on_dialogues: Called with a dataset's name and the number of its dialogues written.
        catalogue: The folder with the titles of judged documents.
        is_kept: Whether the builds stay. If not, the code of the page says how to build them.

    Raises:
        OutputError: the site cannot be written, or a build is damaged or lacks a file.
        ScriptError: the transcript.py of a dataset fails on a row.
    """
    for built in folders:
        built.require_whole()
    described = [_described(built, is_kept) for built in folders]
    pages = _templates()
    with replacing(output, MARK) as site:
        shutil.copytree(_HERE / "assets", site / "assets")
        (site / "assets" / "charts.css").write_text(STYLE, encoding="utf-8")
        counts = {}
        for each in described:
            folder = site / each.name
            folder.mkdir()
            data = folder / "data"
            numbers, charts = write_data(each.built, data, _code(each), on_dialogues, catalogue)
            counts[each.name] = numbers
            for page in ("index.html", "dialogues.html"):
                text = pages.get_template(f"dataset-{page}").render(
                    dataset=each, count=numbers, counts=charts, root="../"
                )
                (folder / page).write_text(text, encoding="utf-8")
        for page in ("index.html", "README.md"):
            text = pages.get_template(page).render(datasets=described, counts=counts, root="")
            (site / page).write_text(text, encoding="utf-8")
        made_of = {
            "parley": __version__,
            "datasets": {each.name: each.built.provenance["configs"] for each in described},
        }
        (site / MARK).write_text(json.dumps(made_of, indent=2) + "\n", encoding="utf-8")


def _described(built: BuiltFolder, is_kept: bool) -> Description:
    name = built.dataset.name
    if is_kept:
        return Description(built, built.path.as_posix())
    sample = ("--sample",) if built.is_sample else ()
    return Description(
        built, f"build/{name}", typed("build", name, Path("build"), *sample).strip("`")
    )


def _code(each: Description) -> dict[str, Any]:
    """Return the path, the revision and the command of export for the page's code."""
    folder = Path(each.path).parent
    more = ("csv", f"{each.name}-csv", "--ids", "ids.txt")
    return each.load | {"export": typed("export", each.name, folder, *more).strip("`")}


def _templates() -> Environment:
    """Return the templates, which escape text and make control characters visible."""

    def shown(value: Any) -> Any:
        if isinstance(value, Markup) or not isinstance(value, str):
            return value
        return plain(value).encode(errors="backslashreplace").decode()  # lone surrogates

    def breakable(name: str) -> Markup:
        return Markup(re.sub("([._])", r"\1<wbr>", str(escape(shown(name)))))  # noqa: S704 - escaped

    templates = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {"shown": shorten, "breakable": breakable, "markdown": to_html}
    templates.globals |= {
        "policy": _POLICY,
        "ABOUT": ABOUT,
        "is_broad": is_broad,
        "svg": svg,
        "table": table,
    }
    return templates
