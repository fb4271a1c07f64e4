"""The site as files; tests/test_browser.py opens it."""

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
import time
import unicodedata
from html.parser import HTMLParser
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import requests
from hub import User

from parley.cli import main
from parley.collection import discover
from parley.dialogues import dialogues
from parley.errors import OutputError
from parley.figures import tally
from parley.folder.built import open_folder
from parley.folder.card import is_licensed, parse
from parley.folder.measured import measured
from parley.hub.published import Published, note, published
from parley.hub.repository import LocalFile
from parley.site.data import write_data, write_script
from parley.site.describe import Description
from parley.site.filters import filters
from parley.site.markdown import to_html
from parley.site.serve import serving
from parley.site.write import write_site

DEALS = ("Submit-Deal", "Accept-Deal", "Reject-Deal", "Walk-Away")


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


# What the page reads of the data ---------------------------------------------------------


def folded(text):
    return unicodedata.normalize("NFKC", text).lower()


def test_every_dialogue_is_in_the_data_once(site, sample_build, dataset):
    _, index = called(site / dataset.name / "data" / "index.js")
    due = list(dialogues(open_folder(sample_build / dataset.name)))
    assert index["ids"] == [dialogue.id for dialogue in due]
    assert index["titles"] == [dialogue.transcript.title for dialogue in due]
    found = [each for part in parts(site / dataset.name / "data") for each in part]
    assert len(found) == len(due)
    for shown, dialogue in zip(found, due, strict=True):
        transcript = dialogue.transcript
        turns = [
            (shown["speakers"][turn["speaker"]], turn["text"], turn.get("action", False))
            for turn in shown.get("turns", ())
        ]
        assert turns == [(turn.speaker, turn.text, turn.action) for turn in transcript.turns]
        assert shown.get("before", []) == [list(fact) for fact in transcript.before]
        assert shown.get("after", []) == [list(fact) for fact in transcript.after]


def test_the_bars_count_what_the_facets_say(site, sample_build, dataset):
    _, index = called(site / dataset.name / "data" / "index.js")
    due = [dialogue.facets for dialogue in dialogues(open_folder(sample_build / dataset.name))]
    for shown in index["filters"]:
        held = [[shown["labels"][code] for code in codes] for codes in shown["codes"]]
        values = [facets.get(shown["name"]) for facets in due]
        for labels, value in zip(held, values, strict=True):
            several = value if isinstance(value, list) else [value] * (value is not None)
            if all(isinstance(each, str) for each in several):
                assert sorted(labels) == sorted(set(several))
            else:
                assert bool(labels) == bool(several)


@pytest.mark.parametrize(
    ("dataset", "config", "said", "words"),
    [
        ("casino", "utterances", lambda r: r["text"] not in DEALS, ["firewood", "$", "<script>"]),
        ("duo", "utterances", lambda r: True, ["仕事", "THE"]),
    ],
    indirect=["dataset"],
)
def test_as_many_utterances_hold_a_word_as_in_the_parquet(
    source, real_build, tmp_path, dataset, config, said, words
):
    built = open_folder(real_build / dataset.name)
    write_site([built], tmp_path / "site")
    shown = [
        folded(turn["text"])
        for part in parts(tmp_path / "site" / dataset.name / "data")
        for dialogue in part
        for turn in dialogue["turns"]
        if not turn.get("action")
    ]
    rows = [row for split in built.splits(config) for row in built.rows(config, split)]
    texts = [folded(row.get("text") or row.get("message")) for row in rows if said(row)]
    for word in words:
        found = sum(folded(word) in text for text in shown)
        assert found == sum(folded(word) in text for text in texts)
    if dataset.name == "duo":
        assert sum("仕事" in text for text in shown) == 12


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([1, 2, 3.5, None], ["1", "2", "3.5"]),
        ([True, False], ["no", "yes"]),
        (["b", "a", "b"], ["b", "a"]),
        ([["b", "a"], ["a"], []], ["a", "b"]),
        (list(range(100)), [f"{n}0–{n}9" if n else "0–9" for n in range(10)]),
        (
            [-500, *range(20), *range(20), *range(20), 900],
            ["less than 0", *(f"{n}–{n + 1}" for n in range(0, 20, 2)), "20 or more"],
        ),
        ([0.123, 0.456, 0.5], ["0.1 to 0.15", "0.15 to 0.2", "0.2 to 0.25", "0.25 to 0.3"]),
        ([0.333, None], ["0.333"]),
        (["all", "all"], None),
        ([f"text {n}" for n in range(50)], None),
    ],
)
def test_values_and_bins(values, labels):
    found = filters([{"name": value} for value in values], {})
    if labels is None:
        assert not found
        return
    (shown,) = found
    assert shown["labels"][: len(labels)] == labels
    assert len(shown["codes"]) == len(values)
    for value, codes in zip(values, shown["codes"], strict=True):
        count = len(value) if isinstance(value, list) else int(value is not None)
        assert len(codes) == count
        assert all(0 <= code < len(shown["labels"]) for code in codes)
    assert shown["many"] == isinstance(values[0], list)


def test_a_bin_holds_its_lower_edge_and_not_its_upper_one():
    numbers = [n / 8 for n in range(81)]
    (shown,) = filters([{"x": number} for number in numbers], {})
    for number, (code,) in zip(numbers, shown["codes"], strict=True):
        low, _, high = shown["labels"][code].partition(" to ")
        assert float(low) <= number < float(high or "inf") or low == high
    assert shown["labels"][-1] == "10"


def test_values_stand_in_the_order_that_is_stated():
    (shown,) = filters(
        [{"mood": mood} for mood in ("good", "bad", "odd")], {"mood": ("bad", "good")}
    )
    assert shown["labels"] == ["bad", "good", "odd"]


# Text that would act -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[here](javascript:alert(1))",
        "[here](data:text/html,x)",
        "[here](//example.org/x)",
        "[here](other.html)",
        "![a picture](https://example.org/x.png)",
        "<https://example.org/x> <javascript:alert(1)>",
        '[here](https://example.org/"onclick="alert(1))',
        "| a | b |\n| :-: | --- |\n| <b onclick=x> | {{ 7 * 7 }} |",
        '```html"onclick=alert(1)\n</code></pre><script>alert(1)</script>\n```',
        "# <script>alert(1)</script>",
    ],
)
def test_a_card_becomes_text_and_plain_links(text, tmp_path):
    page = tmp_path / "page.html"
    page.write_text(to_html(text), encoding="utf-8")
    found = Links(page)
    names = {tag for tag, _ in found.tags}
    assert not names & {"script", "img", "iframe", "style", "object"}
    assert all(urlsplit(link).scheme in ("http", "https") for link in found.links)
    held = {name for _, attrs in found.tags for name in attrs}
    assert held <= {"href", "rel", "id", "class", "tabindex", "role", "aria-label"}


def test_links_within_a_card_lead_to_its_headings():
    shown = to_html("See [the fields](#the-fields).\n\n## The fields\n\nText.")
    assert 'href="#card-the-fields"' in shown
    assert '<h3 id="card-the-fields">' in shown
    assert 'id="card-a"' in (shown := to_html("# A\n# A"))
    assert 'id="card-a-1"' in shown


def test_what_the_data_holds_ends_no_script(tmp_path):
    text = "</script><!-- \u2028\u2029 \"'\\ {{ 1 }} \x00 😀"
    write_script(tmp_path / "x.js", "parley.part(0, ", json.dumps([text]).encode())
    script = (tmp_path / "x.js").read_text(encoding="utf-8")
    assert not re.search("[<\u2028\u2029\x00]", script)
    assert called(tmp_path / "x.js") == ("part", 0, [text])


# What the pages say ------------------------------------------------------------------------


def text_of(page):
    return html.unescape(re.sub("<[^>]+>", "", page.read_text(encoding="utf-8")))


def test_every_page_of_a_sample_says_so(site):
    for page in site.rglob("*.html"):
        assert "This is a sample: invented records" in text_of(page)


def test_a_partial_folder_says_what_is_missing(sample_build, tmp_path):
    shutil.copytree(sample_build / "casino", tmp_path / "casino")
    file = tmp_path / "casino" / "provenance.json"
    said = json.loads(file.read_text()) | {"sample": False, "missing": ["<b>gone</b>.json"]}
    file.write_text(json.dumps(said))
    write_site([open_folder(tmp_path / "casino")], tmp_path / "site")
    for page in (tmp_path / "site").rglob("*.html"):
        assert "built without <b>gone</b>.json" in text_of(page)


def test_a_folder_that_lost_a_file_is_not_shown(sample_build, tmp_path):
    folder = shutil.copytree(sample_build / "casino", tmp_path / "a b" / "casino")
    shutil.rmtree(folder / "strategies")
    (file,) = (folder / "speakers").glob("*.parquet")
    file.unlink()
    with pytest.raises(OutputError) as error:
        write_site([open_folder(folder)], tmp_path / "site")
    assert str(error.value) == (
        f"{folder}: lacks speakers/train, strategies/train, with which it was built. "
        f"Run `parley build casino --build '{folder.parent}'` again."
    )
    assert not (tmp_path / "site").exists()


def test_queries_are_counted_apart_from_dialogues(site, sample_build):
    built = open_folder(sample_build / "cosrec")
    dialogues = built.rows("dialogues", *built.splits("dialogues"))
    turns = sum(len(row["turns"]) for row in dialogues)
    queries = len(built.rows("queries", *built.splits("queries")))
    said = f"{len(dialogues)} dialogues, {turns} utterances, {queries} queries"
    assert said in " ".join(text_of(site / "cosrec" / "index.html").split())


def test_what_may_not_be_published_says_so(site, dataset):
    page = text_of(site / dataset.name / "index.html")
    licensed = is_licensed(dataset.read_card(), "card")
    assert ("Not to be published" in page) is not licensed
    card, _ = parse(dataset.read_card(), "card")
    for value in [card["license"]] if isinstance(card["license"], str) else card["license"]:
        assert value in page


def test_figures_stand_with_verdict_and_reason(source, real_build, tmp_path, dataset):
    write_site([open_folder(real_build / dataset.name)], tmp_path / "site")
    page = text_of(tmp_path / "site" / dataset.name / "index.html")
    stated = measured(dataset).figures(dataset)
    assert stated
    for figure in stated:
        assert figure.name in page
        assert figure.reason in page
    assert "As the folder's card states them" in page
    assert tally(figure.verdict for figure in stated) in page
    shown = Links(tmp_path / "site" / dataset.name / "index.html").tags
    verdicts = [attrs["data-verdict"] for _, attrs in shown if "data-verdict" in attrs]
    assert verdicts == [figure.verdict for figure in stated]


def note_published(folder):
    provenance = folder / "provenance.json"
    sha256 = hashlib.sha256(provenance.read_bytes()).hexdigest()
    note({"provenance.json": LocalFile(provenance, sha256)}, Published("org/casino", "a" * 40))


def test_what_is_loaded_is_what_was_published(sample_build, tmp_path, monkeypatch):
    monkeypatch.setenv("PARLEY_CACHE", str(tmp_path / "cache"))
    shutil.copytree(sample_build / "casino", tmp_path / "casino")
    built = open_folder(tmp_path / "casino")
    assert Description(built, "build/casino").load == {"path": "build/casino", "revision": None}
    note_published(tmp_path / "casino")
    found = Description(built, "build/casino")
    assert found.load == {"path": "org/casino", "revision": "a" * 40}
    assert f'load_dataset("org/casino", split="train", revision="{"a" * 40}")' in found.snippet
    with (tmp_path / "casino" / "provenance.json").open("a") as file:
        file.write("\n")  # as another build that took the folder's place
    assert published(open_folder(tmp_path / "casino")) is None


@pytest.mark.parametrize(
    "said",
    [
        "{}",
        "[",
        '{"repo": "org/casino", "commit": "main"}',
        '{"repo": "../../x", "commit": "' + "a" * 40 + '"}',
        '{"repo": 1, "commit": 2}',
        '{"repo": "org/casino", "commit": "' + "a" * 40 + '", "more": 1}',
    ],
)
def test_what_nothing_sound_says_is_not_published(sample_build, tmp_path, monkeypatch, said):
    monkeypatch.setenv("PARLEY_CACHE", str(tmp_path / "cache"))
    built = open_folder(sample_build / "casino")
    note_published(sample_build / "casino")
    (noted,) = (tmp_path / "cache").rglob("*.json")
    assert published(built)
    noted.write_text(said)
    assert published(built) is None


def test_a_folder_does_not_say_where_it_was_published(sample_build, tmp_path):
    shutil.copytree(sample_build / "casino", tmp_path / "casino")
    said = {"repo": "evil/malware", "commit": "a" * 40}
    (tmp_path / "casino" / ".published.json").write_text(json.dumps(said))
    assert "evil" not in Description(open_folder(tmp_path / "casino"), "casino").snippet


# The commands ------------------------------------------------------------------------------


def run(*arguments, **options):
    command = [sys.executable, "-m", "parley", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def test_the_command_writes_the_site_whole_or_not_at_all(sample_build, tmp_path):
    output = tmp_path / "site"
    done = run("site", "casino", "duo", "--build", sample_build, "--output", output)
    assert done.returncode == 0, done.stderr
    assert str(output / "index.html") in done.stdout
    before = {path: path.read_bytes() for path in output.rglob("*") if path.is_file()}
    shutil.copytree(sample_build / "casino", tmp_path / "build" / "casino")
    (file,) = (tmp_path / "build" / "casino" / "dialogues").glob("*.parquet")
    file.write_bytes(b"no Parquet")
    done = run("site", "--build", tmp_path / "build", "--output", output)
    assert done.returncode == 1
    assert "unreadable Parquet file" in done.stderr
    assert {p: p.read_bytes() for p in output.rglob("*") if p.is_file()} == before
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("mine")
    done = run("site", "casino", "--build", sample_build, "--output", tmp_path / "other")
    assert done.returncode == 1
    assert "was not made by parley" in done.stderr


def test_browse_shows_samples_or_built_folders(sample_build):
    done = run("browse", "--sample", "--build", sample_build, "--no-open")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--sample excludes --build" in done.stderr


def test_browse_serves_the_samples_until_it_is_interrupted(tmp_path):
    command = [sys.executable, "-m", "parley", "browse", "duo", "--sample", "--no-open"]
    process = subprocess.Popen(
        command,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        url = process.stdout.readline().split()[0]
        assert url.startswith("http://127.0.0.1:")
        page = requests.get(f"{url}duo/dialogues.html", timeout=20)
        assert "Dialogues of DUO" in page.text
        assert page.headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert any(tmp_path.iterdir())
    finally:
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (0, "")
    assert not any(tmp_path.iterdir())


def test_what_a_killed_browse_left_the_next_one_removes(tmp_path):
    command = [sys.executable, "-m", "parley", "browse", "duo", "--sample", "--no-open"]
    for end in (signal.SIGKILL, signal.SIGINT):
        environ = os.environ | {"TMPDIR": str(tmp_path)}
        with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline().startswith("http://127.0.0.1:")
            assert len(list(tmp_path.iterdir())) == 1
            process.send_signal(end)
    assert not any(tmp_path.iterdir())


def fetched(mode, site):
    return {"Sec-Fetch-Dest": mode, "Sec-Fetch-Site": site}


@pytest.mark.parametrize(
    ("status", "path", "headers"),
    [
        (200, "TOKEN/duo/data/index.js", {}),
        (200, "TOKEN/duo/data/index.js", fetched("script", "same-origin")),
        (200, "TOKEN/index.html", fetched("document", "none")),
        (200, "TOKEN/index.html", fetched("document", "cross-site")),  # a link
        (403, "TOKEN/index.html", fetched("iframe", "cross-site")),
        (403, "TOKEN/duo/data/index.js", fetched("script", "cross-site")),
        (403, "TOKEN/duo/data/index.js", fetched("script", "same-site")),  # another port
        (404, "", {}),
        (404, "duo/data/index.js", {}),
        (404, "AAAAAAAAAAAAAAAAAAAAAA/duo/data/index.js", {}),
        (404, "TOKEN/duo/data/", {}),
        (404, "TOKEN/%00", {}),
        (404, "TOKEN/%ED%A0%80", {}),
        (404, "TOKEN/" + "x" * 5000, {}),
        (404, "TOKEN/../../../../etc/passwd", {}),
        (421, "TOKEN/index.html", {"Host": "elsewhere.example"}),
    ],
)
def test_who_is_answered(site, capfd, status, path, headers):
    with serving(site) as url:
        root, token = url.rstrip("/").rsplit("/", 1)
        address = urlsplit(root)
        connection = HTTPConnection(address.hostname, address.port, timeout=20)
        connection.request("GET", "/" + path.replace("TOKEN", token), headers=headers)
        answer = connection.getresponse()
        assert answer.status == status
        assert ("DUO" in answer.read().decode()) == (status == 200)
        connection.close()
    assert capfd.readouterr().err == ""


def test_a_browser_that_goes_away_is_no_failure(tmp_path, capfd):
    (tmp_path / "large").write_bytes(bytes(1 << 24))
    with serving(tmp_path) as url:
        address = urlsplit(url)
        for linger in (b"\0" * 8, b"\1\0\0\0" + b"\0" * 4):  # closed, and reset
            with socket.create_connection((address.hostname, address.port)) as browser:
                browser.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                text = f"GET {address.path}large HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n"
                browser.sendall(text.encode())
                assert browser.recv(1000).startswith(b"HTTP/1.0 200")
        assert requests.get(f"{url}large", timeout=20).status_code == 200
    time.sleep(0.2)  # the threads that wrote to who has gone
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("path", ['a"b', "a\\b", "a\nb", "a\x7f\u202e", "😀", "\udcff", "{0}", "'"])
def test_the_snippet_holds_a_path_as_it_is(sample_build, tmp_path, path):
    built = open_folder(sample_build / "casino")
    (call,) = (
        node
        for node in ast.walk(ast.parse(Description(built, path).snippet))
        if isinstance(node, ast.Call)
    )
    assert ast.literal_eval(call.args[0]) == path
    write_data(built, tmp_path / "data", Description(built, path).load)
    assert called(tmp_path / "data" / "index.js")[1]["load"]["path"] == path


def test_without_the_extra_it_is_said_what_to_install(sample_build, tmp_path, monkeypatch, capsys):
    extras = ["jinja2>=3; extra == 'site'", "markdown-it-py>=3; extra == 'site'"]
    monkeypatch.setattr("parley.extras.requires", lambda name: extras)
    monkeypatch.setattr(sys, "argv", ["parley", "site", "--build", str(sample_build)])
    for name in [name for name in sys.modules if name.startswith("parley.site.")]:
        monkeypatch.delitem(sys.modules, name)
    for package in ("jinja2", "markdown_it"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            with pytest.raises(SystemExit) as left:
                main()
        assert left.value.code == 1
        said = f'the package {package} is not installed. Run `pip install "parley[site]"`.\n'
        assert capsys.readouterr().err == said


def test_a_static_space_takes_the_site_as_it_is(site, hub, tmp_path):
    hub.tokens["hf_ana"] = User("ana", orgs=("org",))
    front, _ = parse((site / "README.md").read_text(encoding="utf-8"), "README.md")
    assert (front["sdk"], front["app_file"]) == ("static", "index.html")
    hf = Path(sys.executable).with_name("hf")
    for command in (
        ["repos", "create", "org/page", "--type", "space", "--sdk", "static"],
        ["upload", "org/page", str(site), ".", "--type", "space"],
    ):
        done = subprocess.run(
            [hf, *command], env=hub.environ(tmp_path, "hf_ana"), capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
    due = {p.relative_to(site).as_posix(): p.read_bytes() for p in site.rglob("*") if p.is_file()}
    held = hub.files("org/page")
    assert held.keys() - due.keys() == {".gitattributes"}
    assert {path: held[path] for path in due} == due
