"""Publishing against a local Hub: what it changes, what it refuses, and what a fault leaves."""

import hashlib
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import huggingface_hub
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hub import User, contents

from parley.collection import get
from parley.errors import OutputError, PublishError, UsageError
from parley.folder.built import open_folder
from parley.folder.card import figures_section
from parley.folder.measured import measured
from parley.folder.verify import verify
from parley.hub import repository
from parley.hub.publish import (
    files_to_upload,
    publish,
    read_back,
    validate_target,
    verify_for_upload,
)
from parley.hub.published import Published
from parley.hub.published import published as where_published
from parley.hub.repository import Change, LocalFile
from parley.source.files import at_hand

# huggingface_hub's upload of LFS files, in the words of the HTTP library under it
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

TOKEN, READ_ONLY = "hf_writes", "hf_reads"
SPEAKERS = "speakers/train-00000-of-00001.parquet"
DIALOGUES = "dialogues/train-00000-of-00001.parquet"
NEW = "new/train-00000-of-00001.parquet"
NOW = f"v{get('casino').builder.VERSION}"
NEXT = "v2.0.0"


@pytest.fixture
def hub(hub, monkeypatch):
    """The local Hub, with this process logged in to it."""
    hub.tokens[TOKEN] = User("ana", orgs=("org",))
    hub.tokens[READ_ONLY] = User("ben", orgs=("org",), role="read")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
    huggingface_hub.utils.disable_progress_bars()
    return hub


@pytest.fixture
def folder(sample_build, tmp_path):
    """A built folder to alter."""
    return Path(shutil.copytree(sample_build / "casino", tmp_path / "casino"))


def held(folder):
    """Return the files of a folder as if they had been verified, which a sample in parts is not."""
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in contents(folder).items()}
    return {name: LocalFile(folder / name, sha256) for name, sha256 in hashes.items()}


def put(hub, folder, repo="org/casino", **options):
    return publish(open_folder(folder), held(folder), repo, endpoint=hub.endpoint, **options)


def published(hub, repo="org/casino", revision="main"):
    return {k: v for k, v in hub.files(repo, revision).items() if k != ".gitattributes"}


def edit_card(folder, text="other"):
    (folder / "README.md").write_text(f"---\nlicense: mit\n---\n{text}\n")


def next_version(folder):
    """Make the folder a next version: two files other, one new, one gone."""
    file = folder / "provenance.json"
    provenance = json.loads(file.read_text()) | {"version": NEXT.removeprefix("v")}
    (split,) = provenance["configs"].pop("speakers").values()
    split["files"][0]["path"] = NEW
    provenance["configs"]["new"] = {"train": split}
    file.write_text(json.dumps(provenance))
    (folder / "new").mkdir()
    (folder / NEW).write_bytes(b"PAR1")
    (folder / DIALOGUES).write_bytes(b"PAR1 next")
    shutil.rmtree(folder / "speakers")


def meanwhile(step, action):
    """Return an `on_step` that does something as the step begins, once."""
    actions = [action]

    def on_step(what):
        if what.startswith(step) and actions:
            actions.pop()()

    return on_step


# What it changes --------------------------------------------------------------------------


@pytest.mark.slow
def test_what_is_published_is_what_was_verified(hub, dataset, sample_build):
    built, repo = open_folder(sample_build / dataset.name), f"org/{dataset.name}"
    files = files_to_upload(built)
    assert not verify(built).failed
    done = publish(built, files, repo, endpoint=hub.endpoint)
    assert published(hub, repo) == contents(built.path)
    assert len(hub.commits(repo)) == 2  # the Hub's own first one, and ours
    version = f"v{built.version}"
    assert hub.tags(repo) == {version: done.commit} == {version: hub.commits(repo)[-1]}
    assert {change.action for change in done.changes} == {"add"}
    assert done.url == f"{hub.endpoint}/datasets/{repo}/tree/{version}"
    read_back(built, done, hub.endpoint)


def test_the_same_folder_again_changes_nothing(hub, folder):
    first = put(hub, folder)
    before = hub.commits("org/casino"), hub.tags("org/casino")
    hub.log.clear()
    again = put(hub, folder)
    assert (hub.commits("org/casino"), hub.tags("org/casino")) == before
    assert (again.commit, again.changed) == (first.commit, [])
    assert {method for method, _, _ in hub.log} <= {"GET", "HEAD"}


def test_a_new_version_and_its_dry_run(hub, folder, sample_build):
    first = put(hub, folder, dry_run=True)
    assert (first.is_new, first.commit, hub.repos) == (True, None, {})
    assert {change.path for change in first.changed} == set(contents(folder))
    put(hub, folder)
    before = published(hub)
    next_version(folder)
    changes = [
        Change(DIALOGUES, "change", 9),
        Change(NEW, "add", 4),
        Change("provenance.json", "change", len(contents(folder)["provenance.json"])),
        Change(SPEAKERS, "remove", len(before[SPEAKERS])),
    ]
    hub.log.clear()
    assert put(hub, folder, dry_run=True).changed == changes
    assert {method for method, _, _ in hub.log} <= {"GET", "HEAD"}
    assert put(hub, folder).changed == changes
    assert published(hub) == contents(folder)
    assert published(hub, revision=NOW) == before
    assert len(hub.commits("org/casino")) == 3
    assert sorted(hub.tags("org/casino")) == [NOW, NEXT]
    with pytest.raises(PublishError, match="the repository changed since"):
        put(hub, sample_build / "casino")  # the older version does not replace the newer one
    assert published(hub) == contents(folder)


def test_a_published_version_is_not_replaced(hub, folder):
    put(hub, folder)
    before = published(hub)
    edit_card(folder)
    with pytest.raises(PublishError, match=f"{re.escape(NOW)} is published already.*Raise VERSION"):
        put(hub, folder)
    assert published(hub) == before
    put(hub, folder, tag=False)
    assert published(hub) == contents(folder)
    assert published(hub, revision=NOW) == before


def test_what_is_not_ours_is_not_removed(hub, folder, sample_build, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    for name, said in (("thesis.csv", "1 files such as thesis"), ("provenance.json", "2 files")):
        (other / name).write_text("[]")
        hub.seed("org/casino", other)
        with pytest.raises(PublishError, match=f"data from elsewhere, {said}"):
            put(hub, folder)
        assert published(hub) == contents(other)
    hub.seed("org/casino", sample_build / "duo")
    with pytest.raises(PublishError, match="holds the dataset 'duo'"):
        put(hub, folder)
    assert published(hub) == contents(sample_build / "duo")


LEFT_ALONE = ("eval.yaml", "LICENSE", "docs/a.png", "dialogues/look.ipynb", "cite.txt", "other.py")


@pytest.mark.parametrize("first", [False, True], ids=["a next version", "the first publishing"])
def test_files_of_others_are_left_alone(hub, folder, tmp_path, first):
    others = dict.fromkeys(LEFT_ALONE, b"somebody's")
    if first:
        (tmp_path / "new").mkdir()
        (tmp_path / "new" / "README.md").write_text("---\nlicense: mit\n---\n")
        hub.seed("org/casino", tmp_path / "new")
    else:
        put(hub, folder)
        next_version(folder)
    hub.push("org/casino", others)
    done = put(hub, folder)
    assert published(hub) == contents(folder) | others
    assert sorted(done.left) == sorted(LEFT_ALONE)
    assert put(hub, folder).changed == []


REFUSED = (
    *("dialogues/train-00001-of-00002.parquet", "more/a.csv.gz", "a.JSONL", "dataset_infos.json"),
    *("a.arrow", "a.zip", "casino.py", ".huggingface.yaml"),
)


@pytest.mark.parametrize("name", REFUSED)
def test_data_of_others_is_refused(hub, folder, name):
    put(hub, folder)
    next_version(folder)
    hub.push("org/casino", {name: b"{}", "LICENSE": b"somebody's"})
    before = published(hub)
    said = f"data from elsewhere, 1 files such as {re.escape(name)}"
    with pytest.raises(PublishError, match=said):
        put(hub, folder)
    assert published(hub) == before


@pytest.mark.slow
def test_private_repositories(hub, folder, monkeypatch):
    put(hub, folder, "org/open")
    done = put(hub, folder, "org/closed", private=True)
    built = open_folder(folder)
    read_back(built, done, hub.endpoint)
    monkeypatch.delenv("HF_TOKEN")
    with pytest.raises(PublishError, match="could not be read back"):
        read_back(built, done, hub.endpoint)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with pytest.raises(PublishError, match=r"is public already.*leave out --private"):
        put(hub, folder, "org/open", private=True)
    assert put(hub, folder, "org/closed", private=True).changed == []


# What changes meanwhile: the folder ---------------------------------------------------------


@pytest.mark.parametrize("large", [False, True], ids=["sent as it is", "sent by its hash"])
@pytest.mark.parametrize("name", [SPEAKERS, "README.md"])
@pytest.mark.parametrize("how", ["other", "gone", "a link", "a pipe"])
@pytest.mark.parametrize("step", ["reading", "uploading"])
def test_a_folder_that_changes_after_it_was_verified(
    hub, folder, monkeypatch, step, how, name, large
):
    if large:
        monkeypatch.setattr(repository, "_SMALL", 0)
    path = folder / name

    def change():
        path.rename(path.with_name("elsewhere"))
        if how == "other":
            path.write_bytes(path.with_name("elsewhere").read_bytes()[::-1])
        elif how == "a link":
            path.symlink_to("elsewhere")
        elif how == "a pipe":  # which would block a reader
            os.mkfifo(path)

    with pytest.raises(OutputError, match=rf"{name}: changed after it was verified") as raised:
        put(hub, folder, on_step=meanwhile(step, change))
    assert "Publish again while no other program writes" in str(raised.value)
    assert not hub.repos or (published(hub), hub.tags("org/casino")) == ({}, {})


def test_a_file_that_changes_while_it_is_uploaded(hub, folder, monkeypatch):
    """The Hub compares what arrives with the hash that was verified."""
    monkeypatch.setattr(repository, "_SMALL", 0)  # no file is held in memory
    path = folder / SPEAKERS
    hub.fail("POST", "/objects/batch", lambda: path.write_bytes(path.read_bytes()[::-1]))
    with pytest.raises(PublishError, match="did not match what we received"):
        put(hub, folder)
    assert published(hub) == {}


@pytest.mark.parametrize("request_", ["/preupload/", "/commit/", "/tag/"])
@pytest.mark.parametrize("how", ["longer", "other", "gone"])
def test_a_folder_that_changes_while_it_is_published(hub, folder, request_, how):
    """What was read before is published, and nobody says that it was not."""
    verified = contents(folder)
    path = folder / "README.md"

    def change():
        if how == "gone":
            shutil.rmtree(folder)
        else:
            path.write_bytes(path.read_bytes()[::-1] + (b"more" if how == "longer" else b""))

    hub.fail("POST", request_, change)
    assert put(hub, folder).commit == hub.commits("org/casino")[-1]
    assert published(hub) == published(hub, revision=NOW) == verified


@pytest.mark.slow
def test_what_comes_back_otherwise_is_named(hub, folder, sample_build, tmp_path, monkeypatch):
    """The Hub's, and no folder of its name, is compared with what the folder said when verified."""
    built, done = open_folder(folder), put(hub, folder)
    shutil.copytree(folder, tmp_path / "org" / "casino")
    monkeypatch.chdir(tmp_path)
    shutil.copy(sample_build / "duo" / "provenance.json", folder)
    hub.log.clear()
    read_back(built, done, hub.endpoint + "/")
    assert any("/resolve/" in path for _, path, _ in hub.log)
    table = pq.read_table(folder / SPEAKERS)
    pq.write_table(table.take(pa.array(range(len(table)))[::-1]), folder / SPEAKERS)
    hub.push("org/casino", {SPEAKERS: (folder / SPEAKERS).read_bytes()})
    hub.repos["org/casino"].tags[NOW] = hub.repos["org/casino"].commits[-1]
    with pytest.raises(PublishError, match="delete the tag v1") as raised:
        read_back(built, done, hub.endpoint)
    digest = built.provenance["configs"]["speakers"]["train"]["digest"]
    assert re.findall(r"^  (\S+) (\w+): expected (\w+)", str(raised.value), re.MULTILINE) == [
        ("speakers/train", "loaded", digest),
        ("speakers/train", "streamed", digest),
    ]
    assert f"`parley verify casino --build {folder.parent}` still succeeds" in str(raised.value)


# What changes meanwhile: the repository -----------------------------------------------------


def test_who_commits_first(hub, folder):
    put(hub, folder)
    before = contents(folder)
    next_version(folder)
    hub.fail("POST", "/commit/", lambda: hub.push("org/casino", {"other.csv": b"first!\n"}))
    with pytest.raises(PublishError, match="Somebody else changed it meanwhile"):
        put(hub, folder)
    assert published(hub) == before | {"other.csv": b"first!\n"}
    assert sorted(hub.tags("org/casino")) == [NOW]


def test_who_publishes_the_same_at_the_same_time(hub, folder):
    put(hub, folder)
    next_version(folder)
    hub.fail("POST", "/commit/", lambda: hub.seed("org/casino", folder))
    assert put(hub, folder).commit == hub.tags("org/casino")[NEXT]
    assert published(hub) == contents(folder)
    assert len(hub.commits("org/casino")) == 3


def test_who_brings_the_same_files_and_more_is_somebody_else(hub, folder):
    put(hub, folder)
    edit_card(folder)
    new = {"README.md": contents(folder)["README.md"], "other.csv": b"more"}
    # huggingface_hub then has nothing left to commit
    step = meanwhile("uploading", lambda: hub.push("org/casino", new))
    with pytest.raises(PublishError, match="Somebody else changed it meanwhile"):
        put(hub, folder, tag=False, on_step=step)


def test_a_repository_that_somebody_else_makes_public(hub, folder, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    step = meanwhile("creating", lambda: hub.seed("org/casino", empty))
    with pytest.raises(PublishError, match="is public already"):
        put(hub, folder, private=True, on_step=step)
    assert published(hub) == {}


def test_two_publishers_of_two_folders_at_once(hub, folder, tmp_path):
    put(hub, folder)
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    start = threading.Barrier(2, timeout=60)  # both have seen the same last commit
    for number, each in enumerate((folder, other)):
        edit_card(each, number)
    with ThreadPoolExecutor() as pool:
        step = {each: meanwhile("uploading", start.wait) for each in (folder, other)}
        runs = {each: pool.submit(put, hub, each, tag=False, on_step=step[each]) for each in step}
    ((winner, _),) = [each for each in runs.items() if not each[1].exception()]
    ((_, lost),) = [each for each in runs.items() if each[1].exception()]
    assert "Somebody else changed it meanwhile" in str(lost.exception())
    assert published(hub) == contents(winner)
    assert len(hub.commits("org/casino")) == 3


# Faults -----------------------------------------------------------------------------------


def cut_everywhere(hub, **how):
    """Yield 1, 2, ...: the connection is cut at that request. Ends when none was left to cut."""
    for n in itertools.count(1):
        hub.faults.clear()
        hub.cut_at(n, **how)
        (fault,) = hub.faults
        times = fault.times
        yield n
        if fault.times == times:
            return


@pytest.mark.slow
@pytest.mark.parametrize("done", [False, True], ids=["unheard", "unanswered"])
@pytest.mark.parametrize("forever", [False, True], ids=["once", "from there on"])
@pytest.mark.parametrize("first", [False, True], ids=["a next version", "the first publishing"])
def test_a_cut_at_any_request_leaves_the_old_version_or_the_new(
    hub, folder, sample_build, done, forever, first
):
    old = {} if first else contents(folder)
    if not first:
        next_version(folder)
    outcomes = []
    for n in cut_everywhere(hub, done=done, forever=forever):
        repo, version = f"org/cut-{n}", NOW if first else NEXT
        if not first:
            hub.seed(repo, sample_build / "casino", tags=[NOW])
        # so that the Hub does not have it yet
        (folder / (SPEAKERS if first else NEW)).write_bytes(b"PAR1 %d" % n)
        new = contents(folder)
        try:
            put(hub, folder, repo)
            outcomes.append("done")
        except PublishError:
            outcomes.append("failed")
        faults, hub.faults = hub.faults, []
        if repo in hub.repos:
            assert published(hub, repo) in (old, new)
            assert version not in hub.tags(repo) or published(hub, repo, version) == new
        if not first:
            assert published(hub, repo, NOW) == old
        put(hub, folder, repo)
        assert published(hub, repo) == published(hub, repo, version) == new
        assert len(hub.commits(repo)) == 2
        hub.faults = faults
    assert len(outcomes) > 10
    assert outcomes.pop() == "done"  # nothing was cut
    assert "failed" in outcomes
    assert ("done" in outcomes) is not forever


AGAIN, LATER = "run the same command again: it completes the upload", "Nothing was written"


@pytest.mark.parametrize(
    ("pattern", "how", "says"),
    [
        ("/api/datasets/org/casino$", 500, LATER),
        ("/tree/", "truncate", LATER),
        ("/repos/create", 500, AGAIN),
        ("/preupload/", 500, AGAIN),
        ("/lfs/", 500, AGAIN),
        ("/commit/", 500, AGAIN),
        ("/commit/", 403, "may not write there"),
        ("/tag/", 409, "Somebody else tagged it"),
        ("/validate-yaml", 400, "Invalid metadata"),
    ],
)
def test_what_the_hub_answers_is_explained(hub, folder, pattern, how, says):
    if "/tree/" in pattern:
        put(hub, folder)
    hub.fail("*", pattern, how, times=-1)
    with pytest.raises(PublishError, match=says) as raised:
        put(hub, folder)
    assert TOKEN not in str(raised.value)
    assert (AGAIN in str(raised.value)) <= (says != LATER)


def test_a_dry_run_that_fails_has_begun_nothing(hub, folder):
    hub.fail("*", "", 500, times=-1)
    hub.headers["X-Error-Message"] = f"x {TOKEN} y"  # a token in a message is hidden
    with pytest.raises(PublishError, match=f"x … y(?s:.)*{LATER}") as raised:
        put(hub, folder, dry_run=True)
    assert "completes" not in str(raised.value)


def test_a_full_disk_in_the_cache(hub, sample_build, small_disk, monkeypatch):
    done = put(hub, sample_build / "cosrec", "org/cosrec")
    monkeypatch.setattr("tempfile.tempdir", str(small_disk))
    with pytest.raises(PublishError, match=r"No space left on device.*Run the same"):
        read_back(open_folder(sample_build / "cosrec"), done, hub.endpoint)
    assert not list(small_disk.iterdir())


# Names and tokens -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("repo", "says"),
    [
        ("casino", r"casino: .* found a name alone\. Write --repo ORG/casino, with"),
        ("org/-", "org/-: "),
        ("org/casino/train", "org/casino/train: expected org/name"),
        ("datasets/org/a", r"expected org/name, found a URL or path\. Write --repo org/a\."),
        ("hf://datasets/org/casino", r"Write --repo org/casino\."),
        ("huggingface.co/datasets/org/casino", r"Write --repo org/casino\."),
        (f"https://a:{TOKEN}@hub/datasets/org/x-y/tree/main?b", r"Write --repo org/x-y\."),
        (f"https://a:{TOKEN}@huggingface.co/org/casino", "expected org/name, found a URL$"),
    ],
)
def test_names_of_repositories(repo, says):
    with pytest.raises(UsageError, match=f"^--repo.*{says}") as raised:
        validate_target(repo, dry_run=True)
    assert TOKEN not in str(raised.value)


def test_a_hub_without_a_token_in_its_url():
    with pytest.raises(UsageError, match="without a user name or token") as raised:
        validate_target("org/casino", dry_run=True, endpoint=f"http://a:{TOKEN}@b")
    assert TOKEN not in str(raised.value)
    validate_target("org/casino", dry_run=True, endpoint="http://b")


def test_tokens_that_may_not(hub, folder, monkeypatch):
    for token, says in ((READ_ONLY, "may not write there"), ("hf_unknown", "unknown to the Hub")):
        monkeypatch.setenv("HF_TOKEN", token)
        with pytest.raises(PublishError, match=says) as raised:
            put(hub, folder)
        assert token not in str(raised.value)
    assert not hub.repos
    monkeypatch.setattr(huggingface_hub, "get_token", lambda: None)
    with pytest.raises(PublishError, match="hf auth login"):
        validate_target("org/casino", dry_run=False)
    validate_target("org/casino", dry_run=True)


def test_a_dry_run_says_what_it_knows_of_rights(hub, folder, monkeypatch):
    said = []
    put(hub, folder, dry_run=True, on_step=said.append)
    assert said[-1] == "a dry run does not test whether this token may write there"
    put(hub, folder, "Ana/casino", dry_run=True)  # the Hub takes either case
    with pytest.raises(PublishError, match="token of ana, a member of org") as raised:
        put(hub, folder, "other/casino", dry_run=True)
    assert "Choose another --repo" in str(raised.value)
    hub.tokens["hf_alone"] = User("eve")
    for token, says in ((READ_ONLY, "read-only"), ("hf_alone", "eve, in no organisation")):
        monkeypatch.setenv("HF_TOKEN", token)
        with pytest.raises(PublishError, match=says):
            put(hub, folder, dry_run=True)
    monkeypatch.setattr(huggingface_hub, "get_token", lambda: None)
    monkeypatch.delenv("HF_TOKEN")
    assert put(hub, folder, "other/casino", dry_run=True, on_step=said.append).is_new
    assert "no token" in said[-1]


# What is refused --------------------------------------------------------------------------


def test_samples_and_unlicensed_datasets_are_refused(sample_build, dataset, tmp_path, monkeypatch):
    built = open_folder(sample_build / dataset.name)
    build = f"`parley build {dataset.name} --build {sample_build}`"
    with pytest.raises(OutputError, match=f"it is the invented sample; .* with {build}"):
        verify_for_upload(built, None, permitted=True)
    unknown = dataset.name in ("craigslist_bargains", "cosrec")
    with pytest.raises(OutputError) as raised:
        verify_for_upload(built, None, permitted=False)
    assert ("--i-have-permission" in str(raised.value)) is unknown
    if unknown:
        (section,) = re.findall(r"\n## Licence\n+([^\n]+)\n", dataset.read_card())
        assert section in str(raised.value)
    (tmp_path / "build").symlink_to(sample_build)
    monkeypatch.chdir(tmp_path)  # where build/ is meant without --build
    with pytest.raises(OutputError, match=f"with `parley build {dataset.name}`"):
        verify_for_upload(open_folder(Path("build", dataset.name)), None, permitted=True)


def test_partial_and_damaged_folders_are_refused(source, real_build, tmp_path):
    def refused(folder, files=None, permitted=False):
        with pytest.raises(OutputError) as raised:
            verify_for_upload(open_folder(folder), files, permitted)
        return str(raised.value)

    for name in ("casino", "duo"):
        built = open_folder(real_build / name)
        verify_for_upload(built, at_hand(get(name), source), permitted=False)
        assert files_to_upload(built) == held(real_build / name)
    folder = Path(shutil.copytree(real_build / "duo", tmp_path / "a build" / "duo"))
    file = next(folder.glob("ed/en-*"))
    file.write_bytes(file.read_bytes()[:-9] + b"123456789")
    assert f"`parley verify duo --build '{folder.parent}'` fails" in refused(folder)
    provenance = folder / "provenance.json"
    said = json.loads(provenance.read_text()) | {"missing": ["EDEN"]}
    provenance.write_text(json.dumps(said))
    assert "it is partial: EDEN was missing; fetch it and run `parley build duo" in refused(folder)


def test_a_card_that_leaves_figures_out_is_refused(source, real_build, tmp_path, monkeypatch):
    folder = Path(shutil.copytree(real_build / "casino", tmp_path / "casino"))
    known = measured(get("casino"))
    name = next(n for n, e in known.found.items() if e["verdict"] == "matches")
    whole = figures_section(known.figures(get("casino")))
    monkeypatch.setitem(known.found, name, {"verdict": "not checked", "reason": "a package lacks"})
    card = folder / "README.md"
    blank = figures_section(known.figures(get("casino")))
    card.write_text(card.read_text().replace(whole, blank))
    for module in ("hub.publish", "folder.integrity"):
        monkeypatch.setattr(f"parley.{module}.measured", lambda dataset: known)
    with pytest.raises(OutputError, match="of 1 figures, such as") as raised:
        verify_for_upload(open_folder(folder), None, permitted=False)
    assert f"run `parley build casino --build {tmp_path} --measure`" in str(raised.value)


# The command line -------------------------------------------------------------------------


def command(hub, home, *arguments, token=TOKEN, program=("-m", "parley"), environ=None):
    return subprocess.Popen(
        [sys.executable, *program, *map(str, arguments)],
        env=hub.environ(home, token) | {"COLUMNS": "100"} | (environ or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(*arguments, **options):
    process = command(*arguments, **options)
    stdout, stderr = process.communicate(timeout=120)
    assert "Traceback" not in stderr
    assert TOKEN not in stdout + stderr
    return process.returncode, stdout, stderr


def test_the_command_line(hub, source, real_build, tmp_path):
    folder = tmp_path / "build"
    shutil.copytree(real_build / "duo", folder / "duo")
    common = ("publish", "duo", "--repo", "org/duo", "--build", folder)
    status, stdout, stderr = run(hub, tmp_path, *common, "--dry-run", token=None)
    assert status == 0, stderr
    assert "org/duo would be made; nothing was written" in stdout
    assert not hub.repos
    status, stdout, stderr = run(hub, tmp_path, *common, "--json")
    assert status == 0, stderr
    found = json.loads(stdout)
    assert found["revision"] == f"v{get('duo').builder.VERSION}"
    assert found["commit"] == hub.commits("org/duo")[-1]
    assert published(hub, "org/duo") == contents(real_build / "duo")
    status, stdout, stderr = run(hub, tmp_path, *common)
    assert status == 0, stderr
    assert f"no change: commit {found['commit']}, read back and equal" in stdout
    assert f'load_dataset("org/duo", ..., revision="{found["commit"]}")' in stdout
    assert where_published(open_folder(folder / "duo")) == Published("org/duo", found["commit"])
    assert len(hub.commits("org/duo")) == 2


def test_errors_of_the_command_line(hub, sample_build, tmp_path):
    common = ("casino", "--build", sample_build, "--repo")
    for arguments, expected, says in (
        ((*common, "casino"), 2, "expected org/name"),
        ((*common, "org/casino"), 1, "it is the invented sample"),
        (("casino", "--build", tmp_path, "--repo", "org/casino"), 2, "no such folder"),
    ):
        status, stdout, stderr = run(hub, tmp_path, "publish", *arguments)
        assert (status, says in stderr, stdout) == (expected, True, ""), stderr
    assert not hub.repos


# `parley publish` that takes a sample for verified
PUBLISH = """
import parley.hub.publish as publishing
from test_publish import held
publishing.files_to_upload = lambda built: held(built.path)
publishing.verify_for_upload = lambda built, source, permitted: None
from parley.cli import main
main()
"""
UNVERIFIED = ("-c", f"import sys; sys.path.append({str(Path(__file__).parent)!r}){PUBLISH}")


@pytest.mark.slow
def test_what_a_kill_leaves_is_removed_by_the_next_run(hub, folder, tmp_path):
    """While it is read back: the cache for that goes with the next run."""
    asked, go_on, places = threading.Event(), threading.Event(), tmp_path / "places"
    places.mkdir()
    arguments = ("publish", "casino", "--repo", "org/casino", "--build", folder.parent)
    how = {"program": UNVERIFIED, "environ": {"TMPDIR": str(places)}}
    hub.fail("*", "/resolve/", lambda: (asked.set(), go_on.wait(60)))
    publisher = command(hub, tmp_path / "home", *arguments, **how)
    assert asked.wait(60)
    publisher.kill()
    publisher.wait()
    assert len(list(places.glob("parley-*/content"))) == 1
    go_on.set()
    publisher.communicate(timeout=60)  # what it had started has ended as well
    assert run(hub, tmp_path / "home", *arguments, **how)[0] == 0
    assert not list(places.glob("parley-*"))


def publish_trusted(hub, folder, **environ):
    """Publish a sample as a job of GitHub's Actions does, which has no token for the Hub."""
    hub.tokens["runner-token"] = User("runner")
    hub.seed("org/casino", folder, private=True)
    hub.trusted["ci-proof"] = "datasets/org/casino"
    trusted = {
        "GITHUB_ACTIONS": "true",
        "ACTIONS_ID_TOKEN_REQUEST_URL": f"{hub.endpoint}/id-token",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "runner-token",
        "HF_OIDC_RESOURCE": "datasets/org/casino",
    }
    with (folder / "README.md").open("a") as card:
        card.write("more\n")
    arguments = ("publish", "casino", "--repo", "org/casino", "--build", folder.parent, "--no-tag")
    how = {"program": UNVERIFIED, "token": None, "environ": trusted | environ}
    found = run(hub, folder.parent / "home", *arguments, **how)
    assert not any(token in "".join(found[1:]) for token in hub.tokens)
    return found


@pytest.mark.slow
def test_a_trusted_publisher(hub, folder):
    """One exchange, whose token also reads back what is private."""
    status, stdout, stderr = publish_trusted(hub, folder)
    assert status == 0, stderr
    assert "read back and equal" in stdout
    assert published(hub)["README.md"] == contents(folder)["README.md"]
    assert [path for _, path, _ in hub.log].count("/oauth/token") == 1


@pytest.mark.parametrize(
    ("environ", "expected", "says"),
    [
        ({"HF_OIDC_RESOURCE": "datasets/org/other"}, 2, "expected datasets/org/casino, found"),
        ({"ACTIONS_ID_TOKEN_REQUEST_URL": ""}, 1, "`id-token: write`"),
        ({"GITHUB_ACTIONS": "", "HF_OIDC_ID_TOKEN": "another-proof"}, 1, "Trusted Publisher"),
    ],
)
def test_who_is_no_trusted_publisher(hub, folder, environ, expected, says):
    status, _, stderr = publish_trusted(hub, folder, **environ)
    assert (status, says in stderr) == (expected, True), stderr
    assert "another-proof" not in stderr
    assert len(hub.commits("org/casino")) == 1


def odd_names(hub):
    hub.tokens[TOKEN] = User(f"ana{TOKEN}", orgs=(f"org{TOKEN}",))


def odd_file(hub):
    hub.seed("org/casino", Path(__file__).parent / "mutations")
    hub.push("org/casino", {f"!{TOKEN}.csv": b"x"})


def odd_commit(hub):
    hub.seed("org/casino", Path(__file__).parent / "mutations")
    vars(hub.repos["org/casino"].commits[-1])["id"] = TOKEN


def odd_warning(hub):
    hub.headers["X-HF-Warning"] = f"a; warned of {TOKEN}\x1b]"


def a_password(hub):
    hub.fail("*", "", 500, times=-1)
    hub.endpoint = hub.endpoint.replace("//", "//ana:passw0rd@")


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        (odd_names, "cannot be written with this token"),
        (odd_file, "data from elsewhere"),
        (odd_commit, "an invalid commit id"),
        (odd_warning, "warned of …"),
        (a_password, "http://…127.0.0.1"),
    ],
)
def test_what_the_hub_gives_back_of_a_token_is_not_printed(hub, folder, odd, said):
    odd(hub)
    arguments = ("publish", "casino", "--repo", "org/casino", "--build", folder.parent)
    how = {"program": UNVERIFIED, "token": TOKEN}
    _, stdout, stderr = run(hub, folder.parent, *arguments, "--dry-run", "--json", **how)
    assert said in stderr
    assert "passw0rd" not in stdout + stderr
    assert "\x1b" not in stderr


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="Linux lists who waits for a lock")
def test_a_build_waits_until_the_folder_is_published(hub, folder):
    """Nobody builds into the folder between the check and the upload."""
    next_version(folder)  # so that the build brings something else
    expected, build = contents(folder), folder.parent
    asked, go_on = threading.Event(), threading.Event()
    hub.fail("POST", "/preupload/", lambda: (asked.set(), go_on.wait(60)))
    arguments = ("publish", "casino", "--repo", "org/casino", "--build", build)
    publisher = command(hub, build / "home", *arguments, program=UNVERIFIED)
    builder = None
    try:
        assert asked.wait(60)
        arguments = ("build", "casino", "--sample", "--build", build)
        builder = command(hub, build / "home", *arguments)
        waiting = re.compile(rf"-> FLOCK .* {builder.pid} ")
        deadline = time.monotonic() + 60
        while not waiting.search(Path("/proc/locks").read_text()):
            assert builder.poll() is None, "it did not wait"
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert contents(folder) == expected
    finally:
        go_on.set()
        publisher.communicate(timeout=60)
        if builder:
            builder.communicate(timeout=60)
    assert published(hub) == expected
    assert contents(folder) != expected
