"""The files, commands and server of the site; `page/` opens it in a browser."""

import ast
import hashlib
import html
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from html.parser import HTMLParser
from http.client import HTTPConnection
from urllib.parse import unquote, urlsplit

import hostile_dataset
import httpx2
import pytest
from build_changes import restate
from huggingface_hub.constants import ENDPOINT
from local_hub import contents

from parley.builds.built_folder import open_folder
from parley.builds.card import is_licensed, parse
from parley.builds.publication_note import PublicationNote, read_note, write_note
from parley.declaration.registry import discover
from parley.page.markdown import to_html
from parley.page.page_data import write_data
from parley.page.serve import serving
from parley.page.site import Description, write_site
from parley.read.dialogues import dialogues


@pytest.fixture(scope="module")
def site(sample_build, tmp_path_factory):
    """A site of the samples, of the same bytes each time."""
    output = tmp_path_factory.mktemp("site")
    write_site([open_folder(sample_build / name) for name in discover()], output / "site")
    write_site([open_folder(sample_build / "duo")], output / "again")
    assert contents(output / "again" / "duo") == contents(output / "site" / "duo")
    return output / "site"


def called(script):
    """Return the arguments of a data script."""
    text = script.read_text(encoding="utf-8")
    *number, data = json.loads(f"[{re.fullmatch(r'parley[.][a-z]+[(](.*)[)];', text.strip())[1]}]")
    return *number, json.loads(data)


class Links(HTMLParser):
    """The links, ids and tags of a page."""

    def __init__(self, page):
        super().__init__()
        self.links, self.ids, self.tags = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.links += [value for name, value in attrs if name in ("href", "src")]
        self.ids += [value for name, value in attrs if name == "id"]


def test_pages_link_to_site_files_or_the_web_and_may_load_only_site_files(site):
    assert "/docs/" in (site / "index.html").read_text(encoding="utf-8")  # of the web
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert '<p class="notice">' in text
        found = Links(text)
        assert len(found.ids) == len(set(found.ids))
        for link in found.links:
            url = urlsplit(link)
            if url.scheme:
                assert url.scheme in ("http", "https")
                continue
            target = (page.parent / unquote(url.path)).resolve() if url.path else page
            assert target.is_file(), f"{page}: {link}"
            assert site.resolve() in target.resolve().parents
            if url.fragment and "=" not in url.fragment:  # else a state of the list
                ids = Links(target.read_text(encoding="utf-8")).ids
                assert unquote(url.fragment) in ids, f"{page}: {link}"
        tags = found.tags
        (policy,) = (a["content"] for _, a in tags if a.get("http-equiv"))
        rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
        assert rules["default-src"] == "'none'"
        assert {rules[kind] for kind in ("script-src", "style-src", "img-src")} == {"'self'"}
        assert all("src" in attrs for tag, attrs in tags if tag == "script")
        assert not [a for tag, a in tags if tag == "style" or "style" in a]
        assert not [name for _, attrs in tags for name in attrs if name.startswith("on")]


def test_the_data_hold_every_dialogue_once(site, sample_build, dataset):
    data = site / dataset.name / "data"
    (index,) = called(data / "index.js")
    due = list(dialogues(open_folder(sample_build / dataset.name)))
    assert index["ids"] == [dialogue.id for dialogue in due]
    assert index["entries"] == [dialogue.transcript.entry for dialogue in due]
    assert index["titles"] == [dialogue.transcript.title for dialogue in due]
    parts = [called(data / f"{n}.js")[1] for n in range(len(index["parts"]))]
    for shown, dialogue in zip([each for part in parts for each in part], due, strict=True):
        transcript = dialogue.transcript
        assert [
            (shown["speakers"][turn["speaker"]], turn["text"], turn.get("action", False))
            for turn in shown.get("turns", ())
        ] == [(turn.speaker, turn.text, turn.action) for turn in transcript.turns]
        assert shown.get("before", []) == [list(fact) for fact in transcript.before]
        assert shown.get("after", []) == [list(fact) for fact in transcript.after]


def test_a_card_becomes_text_and_links_to_the_web_or_its_headings():
    more = "[a](//example.org/x)", "[b](other.html)", "[c](#a-1)", "## A", "## A"
    found = Links(to_html("\n\n".join((hostile_dataset.MARKDOWN, *more))))
    assert not {tag for tag, _ in found.tags} & {"script", "img", "iframe", "style", "object"}
    within = [link for link in found.links if urlsplit(link).scheme not in ("http", "https")]
    assert within == ["#card-a-1"]
    assert ("h3", {"id": "card-a-1"}) in found.tags
    held = {name for _, attrs in found.tags for name in attrs}
    assert held <= {"href", "rel", "id", "class", "tabindex", "role", "aria-label", "title"}


def text_of(page):
    return html.unescape(re.sub("<[^>]+>", "", page.read_text(encoding="utf-8")))


def test_the_site_is_a_static_space_that_counts_queries_and_shows_licences(site, sample_build):
    front, _ = parse((site / "README.md").read_text(encoding="utf-8"), "README.md")
    assert (front["sdk"], front["app_file"]) == ("static", "index.html")
    built = open_folder(sample_build / "cosrec")
    turns = sum(len(row["turns"]) for row in built.rows("dialogues"))
    numbers = len(built.rows("dialogues")), turns, len(built.rows("queries"))
    said = "{} dialogues, {} utterances, {} queries".format(*numbers)
    assert said in " ".join(text_of(site / "cosrec" / "index.html").split())
    for dataset in discover().values():
        index, card = site / dataset.name / "index.html", dataset.read_card()
        page, markup = text_of(index), index.read_text(encoding="utf-8")
        assert ('<div class="notice">' in markup) is not is_licensed(card, "card")
        stated = parse(card, "card")[0]["license"]
        assert all(value in page for value in ([stated] if isinstance(stated, str) else stated))


def test_the_code_names_the_build_that_the_site_is_of(sample_build, tmp_path):
    shutil.copytree(sample_build / "duo", tmp_path / "my builds" / "duo")
    restate(tmp_path / "my builds" / "duo", "missing", ["<b>gone</b>.json"])
    restate(tmp_path / "my builds" / "duo", "sample", False)
    write_site([open_folder(tmp_path / "my builds" / "duo")], tmp_path / "site")
    said = text_of(tmp_path / "site" / "duo" / "index.html")
    assert f'load_dataset("{tmp_path}/my builds/duo"' in said
    load = called(tmp_path / "site" / "duo" / "data" / "index.js")[0]["load"]
    assert load["path"] == f"{tmp_path}/my builds/duo"
    assert f"--build '{tmp_path}/my builds' csv --ids" in load["export"]
    for page in (tmp_path / "site").rglob("*.html"):
        assert "<b>gone</b>.json" in text_of(page)


def test_the_snippet_loads_the_commit_of_a_valid_note(sample_build, tmp_path, monkeypatch):
    monkeypatch.setenv("PARLEY_CACHE", str(tmp_path / "cache"))
    shutil.copytree(sample_build / "casino", tmp_path / "casino")
    built = open_folder(tmp_path / "casino")
    assert Description(built, "build/casino").load["path"] == "build/casino"
    sha256 = hashlib.sha256((tmp_path / "casino" / "provenance.json").read_bytes()).hexdigest()
    write_note({"provenance.json": sha256}, PublicationNote("org/casino", "a" * 40, ENDPOINT))
    found = Description(built, "build/casino")
    assert (found.load["path"], found.load["revision"]) == ("org/casino", "a" * 40)
    assert f'load_dataset("org/casino", split="train", revision="{"a" * 40}")' in found.snippet
    with (tmp_path / "casino" / "provenance.json").open("a") as file:
        file.write("\n")  # as another build that took the folder's place
    said = {"repo": "evil/malware", "commit": "a" * 40}  # a build cannot name its repository
    (tmp_path / "casino" / ".published.json").write_text(json.dumps(said))
    assert read_note(open_folder(tmp_path / "casino")) is None
    assert "evil" not in Description(open_folder(tmp_path / "casino"), "casino").snippet
    (noted,) = (tmp_path / "cache").rglob("*.json")
    built = open_folder(sample_build / "casino")
    assert read_note(built)
    good = {"repo": "org/casino", "commit": "a" * 40, "endpoint": ENDPOINT}
    bad = [{"endpoint": "https://127.0.0.1"}, {"commit": "main"}, {"repo": "../../x"}, {"more": 1}]
    for said in ("{}", "[", *(json.dumps(good | each) for each in bad)):
        noted.write_text(said)
        assert read_note(built) is None, said


def read_page(url):
    """Return the answer of a page as soon as its part is made."""
    while "assets/reading.js" in (answer := httpx2.get(url, timeout=60)).text:
        policy = answer.headers["Content-Security-Policy"]
        assert (answer.status_code, policy) == (503, "default-src 'none'; script-src 'self'")
    return answer


@pytest.mark.slow
def test_browse_makes_what_is_asked_for_until_it_ends(sample_build, tmp_path, run):
    """And removes the files of a killed one."""
    command = ["browse", "duo", "--no-open", "--port"]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        command.append(str(taken.getsockname()[1]))
        assert run(*command, "--sample").returncode == 2
    temporary, build = tmp_path / "tmp", tmp_path / "build"
    temporary.mkdir()
    shutil.copytree(sample_build / "duo", build / "duo")
    shutil.copytree(sample_build / "casino", build / "casino")
    (file,) = (build / "casino" / "dialogues").glob("*.parquet")
    file.write_bytes(b"no Parquet")

    @contextmanager
    def browsing(*more):
        with subprocess.Popen(
            [sys.executable, "-m", "parley", *command, *more],
            env=os.environ | {"TMPDIR": str(temporary)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            url = process.stdout.readline().split()[0]
            assert re.fullmatch(rf"http://127\.0\.0\.1:{command[-1]}/[\w-]{{20,}}/", url)
            try:
                yield process, lambda path, read=read_page: read(url + path)
            finally:
                process.kill()

    def written():
        return {folder.name for folder in temporary.glob("*/content/*/")} - {"assets"}

    with browsing("casino", "--build", build) as (process, page):
        front = page("")
        assert (front.status_code, written()) == (200, set())
        assert page("nothing/index.html").status_code == 404
        with ThreadPoolExecutor() as browsers:  # at once, as a browser asks
            paths = ["duo/dialogues.html", "duo/data/index.js", "duo/data/0.js"]
            assert [each.status_code for each in browsers.map(page, paths)] == [200] * 3
        assert written() == {"duo"}
        assert front.text != page("").text  # it counts the dialogues by now
        for _ in range(2):
            broken = page("casino/index.html")
            assert (broken.status_code, "unreadable Parquet" in broken.text) == (500, True)
        process.kill()
        assert process.communicate(timeout=60)[1].count("unreadable Parquet file") == 1
    with browsing("--sample") as (process, page):
        waiting = page("%64uo/", httpx2.get)
        assert (waiting.status_code, "duo" in waiting.text) == (503, True)
        asked = page("duo/index.html")
        assert asked.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert "# first: parley build duo --sample\n" in html.unescape(asked.text)
        assert len(list(temporary.iterdir())) == 2  # the build of the sample, and the pages
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (0, "")
    assert not any(temporary.iterdir())


def test_browse_refuses_a_query_that_finds_no_dialogue(sample_build, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("parley.page.serve.browse", None)  # which would not end
    for query, *names in (
        ("select 12345 as dialogue_id", "casino"),
        ("select 2001 as points_scored", "casino"),
        ("copy (select 2001 as dialogue_id) to 'mine.csv'", "casino"),
        ("select dialogue_id from casino.dialogues",),
    ):
        done = run("browse", *names, "--no-open", "--build", sample_build, "--where", query)
        assert done.returncode == 2, query
        assert not any(tmp_path.iterdir()), query


def fetched(mode, site):
    return {"Sec-Fetch-Dest": mode, "Sec-Fetch-Site": site}


def test_the_server_refuses_other_pages(site, capfd):
    with serving(site) as url:
        root, token = url.rstrip("/").rsplit("/", 1)
        address = urlsplit(root)
        for status, path, headers in (
            (200, "TOKEN/duo/data/index.js", fetched("script", "same-origin")),
            (200, "TOKEN/index.html", fetched("document", "cross-site")),  # a link
            (403, "TOKEN/index.html", fetched("iframe", "cross-site")),
            (403, "TOKEN/duo/data/index.js", fetched("script", "same-site")),  # another port
            (404, "duo/data/index.js", {}),
            (404, "AAAAAAAAAAAAAAAAAAAAAA/duo/data/index.js", {}),
            (404, "TOKEN/duo/data/", {}),
            (404, "TOKEN/%00", {}),
            (404, "TOKEN/" + "x" * 5000, {}),
            (404, "TOKEN/../../../../etc/passwd", {}),
            (421, "TOKEN/index.html", {"Host": "elsewhere.example"}),
        ):
            connection = HTTPConnection(address.hostname, address.port, timeout=20)
            connection.request("GET", "/" + path.replace("TOKEN", token), headers=headers)
            answer = connection.getresponse()
            assert answer.status == status, path
            assert ("DUO" in answer.read().decode()) == (status == 200), path
            connection.close()
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("path", ["a\"'b", "a\\b", "a\nb", "a\x7f\u202e", "😀\udcff", "{0}"])
def test_the_snippet_holds_any_path(sample_build, tmp_path, monkeypatch, path):
    monkeypatch.setenv("PARLEY_CACHE", str(tmp_path / "cache"))  # no other test's publication
    built = open_folder(sample_build / "casino")
    call = ast.parse(Description(built, path).snippet).body[-1].value
    assert ast.literal_eval(call.args[0]) == path
    write_data(built, tmp_path / "data", Description(built, path).load)
    assert called(tmp_path / "data" / "index.js")[0]["load"]["path"] == path
