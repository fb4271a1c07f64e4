"""Lay out the pages of the documentation site in build/pages, which `make site` builds.

The pages keep their places in the repository, so their links hold. The reference is made from the
code: the names of the three doors, and the commands as the program shows them. A public name
without a docstring is an error, and so is a page that zensical.toml does not list.
"""

import importlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import griffe

import parley

ROOT = Path(__file__).parent.parent
OUTPUT = ROOT / "build" / "pages"
SKILL = ROOT / "parley/.agents/skills/parley/SKILL.md"  # stands for AGENTS.md, which leads to it
USER = ["list", "load", "open", "fetch", "build", "verify", "questions", "score", "compare"]
USER += ["labels", "connect", "browse"]
DOORS = {"tasks": "Words of tasks", "read": "Words of transcripts, charts and exports"}


class Doctests(griffe.Extension):
    """Shows the examples of docstrings as code."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Fence each paragraph that begins with a prompt."""
        if obj.docstring:
            fenced = r"```pycon\n\1\n```"
            obj.docstring.value = re.sub(r"(?m)^(>>> .*(?:\n.+)*)", fenced, obj.docstring.value)


def lay_out() -> None:
    """Copy the pages and write the reference."""
    shutil.rmtree(OUTPUT, ignore_errors=True)
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/*.png")]
    pages += [ROOT / name / "README.md" for name in (*parley.list(), "examples", "benchmarks")]
    for page in pages:
        copy = OUTPUT / page.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if page.suffix == ".md":
            text = (SKILL if page.name == "AGENTS.md" else page).read_text(encoding="utf-8")
            copy.write_text(on_the_site(text), encoding="utf-8")
        else:
            shutil.copyfile(page, copy)
    reference = OUTPUT / "reference"
    reference.mkdir()
    words = [name for name in parley.__all__ if name not in {*USER, "__version__"}]
    found = griffe.load("parley")
    functions, scripts = names(found, "", USER), names(found, "", words)
    (reference / "functions.md").write_text("# Functions for programs\n\n" + functions)
    (reference / "scripts.md").write_text("# Words of a script, and errors\n\n" + scripts)
    for door, title in DOORS.items():
        public = importlib.import_module(f"parley.{door}").__all__
        (reference / f"{door}.md").write_text(f"# {title}\n\n{names(found, door, public)}")
    command = [sys.executable, "-m", "typer", "parley.cli", "utils", "docs", "--name", "parley"]
    shown = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout  # noqa: S603
    (reference / "commands.md").write_text(shown.replace("\b\n", ""), encoding="utf-8")
    laid_out = {page.relative_to(OUTPUT).as_posix() for page in OUTPUT.rglob("*.md")}
    config = (ROOT / "zensical.toml").read_text(encoding="utf-8")
    if other := laid_out ^ set(re.findall(r'= "([\w/-]+\.md)"', config)):
        sys.exit(f"zensical.toml: not both a page and in `nav`: {', '.join(sorted(other))}")


def on_the_site(text: str) -> str:
    """Return a page without its front matter, its links to files that are no page as code."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    return re.sub(r"\[([^\]]+)\]\((?!\w+:|#)[^)]*(?<!\.md)(?<!\.png)\)", link_to_page, text)


def link_to_page(link: re.Match[str]) -> str:
    """Return a link as it is if it leads to a page, else its text."""
    return link[0] if ".md#" in link[0] else link[1]


def names(parley: griffe.Object, module: str, public: list[str]) -> str:
    """Return the reference of a module's public names, or end with those without a docstring."""
    paths = [f"{module}.{name}".lstrip(".") for name in public]
    if bare := [path for path in paths if not parley[path].has_docstring]:
        sys.exit(f"without a docstring: {', '.join(bare)}")
    return "\n".join(f"::: parley.{path}\n" for path in paths)


if __name__ == "__main__":
    lay_out()
