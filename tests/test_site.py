"""The site as files; tests/test_browser.py opens it."""

import json
import re
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest

from parley.collection import discover
from parley.folder.built import open_folder
from parley.site.write import write_site


@pytest.fixture(scope="module")
def site(sample_build, tmp_path_factory):
    """The site of the samples."""
    output = tmp_path_factory.mktemp("site") / "site"
    write_site([open_folder(sample_build / name) for name in discover()], output)
    return output


def called(script):
    """Return what a script of data hands to the page: the function, and its arguments."""
    text = script.read_text(encoding="utf-8")
    function, arguments = re.fullmatch(r"parley\.(index|part)\((.*)\);\n", text).groups()
    *number, data = json.loads(f"[{arguments}]")
    return function, *number, json.loads(data)


def parts(folder):
    return [called(folder / f"{n}.js")[2] for n in range(len(list(folder.glob("[0-9]*.js"))))]


class Links(HTMLParser):
    """What a page refers to, and the ids in it."""

    def __init__(self, page):
        super().__init__()
        self.links, self.ids, self.tags = [], [], []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.links += [value for name, value in attrs if name in ("href", "src")]
        self.ids += [value for name, value in attrs if name == "id"]


def test_every_link_leads_to_a_file_of_the_site_or_to_the_web(site):
    for page in site.rglob("*.html"):
        found = Links(page)
        assert len(found.ids) == len(set(found.ids))
        for link in found.links:
            url = urlsplit(link)
            if url.scheme:
                assert url.scheme in ("http", "https")
                continue
            target = (page.parent / unquote(url.path)).resolve() if url.path else page
            assert target.is_file(), f"{page}: {link}"
            assert site.resolve() in target.resolve().parents
            if url.fragment:
                assert unquote(url.fragment) in Links(target).ids, f"{page}: {link}"


def test_the_policy_admits_the_sites_own_files_alone(site):
    for page in site.rglob("*.html"):
        tags = Links(page).tags
        (policy,) = (a["content"] for _, a in tags if a.get("http-equiv"))
        rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
        assert rules["default-src"] == "'none'"
        assert {rules[kind] for kind in ("script-src", "style-src", "img-src")} == {"'self'"}
        assert all("src" in attrs for tag, attrs in tags if tag == "script")
        assert not [a for tag, a in tags if tag == "style" or "style" in a]
        assert not [name for _, attrs in tags for name in attrs if name.startswith("on")]


def test_the_same_build_gives_the_same_bytes(site, sample_build, tmp_path):
    write_site([open_folder(sample_build / name) for name in discover()], tmp_path / "again")
    files = {p.relative_to(site): p.read_bytes() for p in site.rglob("*") if p.is_file()}
    again = tmp_path / "again"
    assert files == {p.relative_to(again): p.read_bytes() for p in again.rglob("*") if p.is_file()}
