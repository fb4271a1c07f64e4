"""Publishing against a local Hub: what it changes, what it refuses, and what a fault leaves."""

import itertools
import json
import re
import shutil
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import huggingface_hub
import pytest
from hub import User

from parley.collection import get
from parley.errors import OutputError, PublishError
from parley.hub import publish as publishing
from parley.hub.publish import publish, read_back, ready, refuse
from parley.hub.repository import Change
from parley.source.files import at_hand

# huggingface_hub's upload of LFS files, in the words of the HTTP library under it
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")

TOKEN, READ_ONLY = "hf_writes", "hf_reads"


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


def put(hub, folder, repo="org/casino", **options):
    return publish(folder, repo, endpoint=hub.endpoint, **options)


def content(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def published(hub, repo="org/casino", revision="main"):
    return {k: v for k, v in hub.files(repo, revision).items() if k != ".gitattributes"}


def next_version(folder):
    """Make the folder a next version: one file other, one new, one gone."""
    file = folder / "provenance.json"
    provenance = json.loads(file.read_text()) | {"version": "1.1.0"}
    (split,) = provenance["configs"].pop("speakers").values()
    split["files"][0]["path"] = "new/train-00000-of-00001.parquet"
    provenance["configs"]["new"] = {"train": split}
    file.write_text(json.dumps(provenance))
    (folder / "new").mkdir()
    (folder / "new" / "train-00000-of-00001.parquet").write_bytes(b"PAR1")
    shutil.rmtree(folder / "speakers")


def test_what_is_published_is_the_folder(hub, dataset, sample_build):
    folder, repo = sample_build / dataset.name, f"org/{dataset.name}"
    done = put(hub, folder, repo)
    assert published(hub, repo) == content(folder)
    assert len(hub.commits(repo)) == 2  # the Hub's own first one, and ours
    assert hub.tags(repo) == {"v1.0.0": done.commit} == {"v1.0.0": hub.commits(repo)[-1]}
    assert {change.action for change in done.changes} == {"add"}
    assert done.url == f"{hub.endpoint}/datasets/{repo}/tree/v1.0.0"
    read_back(folder, done, hub.endpoint)


def test_the_same_folder_again_changes_nothing(hub, folder):
    first = put(hub, folder)
    before = hub.commits("org/casino"), hub.tags("org/casino")
    hub.log.clear()
    again = put(hub, folder)
    assert (hub.commits("org/casino"), hub.tags("org/casino")) == before
    assert (again.commit, again.changed) == (first.commit, [])
    assert {method for method, _, _ in hub.log} <= {"GET", "HEAD"}


def test_a_new_version_removes_what_it_no_longer_has(hub, folder):
    put(hub, folder)
    before = published(hub)
    next_version(folder)
    done = put(hub, folder)
    assert published(hub) == content(folder)
    assert published(hub, revision="v1.0.0") == before
    assert [(c.action, c.path) for c in done.changed] == [
        ("add", "new/train-00000-of-00001.parquet"),
        ("change", "provenance.json"),
        ("remove", "speakers/train-00000-of-00001.parquet"),
    ]
    assert len(hub.commits("org/casino")) == 3
    assert sorted(hub.tags("org/casino")) == ["v1.0.0", "v1.1.0"]


def test_a_dry_run_says_what_would_change_and_writes_nothing(hub, folder):
    would = put(hub, folder, dry_run=True)
    assert would.is_new
    assert would.commit is None
    assert {change.path for change in would.changed} == set(content(folder))
    put(hub, folder)
    next_version(folder)
    hub.log.clear()
    would = put(hub, folder, dry_run=True)
    size = len(published(hub)["speakers/train-00000-of-00001.parquet"])
    assert would.changed == [
        Change("new/train-00000-of-00001.parquet", "add", 4),
        Change("provenance.json", "change", len(content(folder)["provenance.json"])),
        Change("speakers/train-00000-of-00001.parquet", "remove", size),
    ]
    assert {method for method, _, _ in hub.log} <= {"GET", "HEAD"}


def test_a_published_version_is_not_replaced(hub, folder):
    put(hub, folder)
    before = published(hub)
    (folder / "README.md").write_text("---\nlicense: mit\n---\nother\n")
    with pytest.raises(PublishError, match=r"v1\.0\.0 is published already.*Raise VERSION"):
        put(hub, folder)
    assert published(hub) == before
    put(hub, folder, tag=False)
    assert published(hub) == content(folder)
    assert published(hub, revision="v1.0.0") == before


def test_what_is_not_ours_is_not_removed(hub, folder, sample_build, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("years of work")
    hub.seed("org/casino", other)
    with pytest.raises(PublishError, match=r"files that parley did not bring, 1 as thesis\.txt"):
        put(hub, folder)
    assert published(hub) == content(other)
    (other / "provenance.json").write_text("[]")
    hub.seed("org/casino", other)
    with pytest.raises(
        PublishError, match=r"files that parley did not bring, 2 as provenance\.json"
    ):
        put(hub, folder)
    hub.seed("org/casino", sample_build / "duo")
    with pytest.raises(PublishError, match="holds the dataset 'duo'"):
        put(hub, folder)
    assert published(hub) == content(sample_build / "duo")
    hub.seed("org/casino", folder)
    hub.push("org/casino", {"thesis.txt": b"years of work", ".huggingface.yaml": b"{}"})
    with pytest.raises(PublishError, match=r"files that parley did not bring, 1 as thesis\.txt"):
        put(hub, folder)


def test_private_repositories(hub, folder, monkeypatch):
    put(hub, folder, "org/open")
    done = put(hub, folder, "org/closed", private=True)
    read_back(folder, done, hub.endpoint)
    monkeypatch.delenv("HF_TOKEN")
    with pytest.raises(PublishError, match="could not be read back"):
        read_back(folder, done, hub.endpoint)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with pytest.raises(PublishError, match=r"is there and public.*leave out --private"):
        put(hub, folder, "org/open", private=True)
    assert put(hub, folder, "org/closed", private=True).changed == []


def test_two_publishers_at_once_one_wins(hub, folder, tmp_path):
    put(hub, folder)
    before = content(folder)
    next_version(folder)
    hub.fail("POST", "/commit/", "stale")
    with pytest.raises(PublishError, match="Somebody else changed it meanwhile"):
        put(hub, folder)
    assert published(hub) == before | {"other.txt": b"first!\n"}
    assert sorted(hub.tags("org/casino")) == ["v1.0.0"]


def test_who_brings_the_same_files_and_more_is_somebody_else(hub, folder):
    put(hub, folder)
    (folder / "README.md").write_text("---\nlicense: mit\n---\nnew\n")
    new = {"README.md": content(folder)["README.md"], "other.txt": b"more"}

    def step(what):
        if what.startswith("uploading"):
            hub.push("org/casino", new)  # huggingface_hub then has nothing left to commit

    with pytest.raises(PublishError, match="Somebody else changed it meanwhile"):
        put(hub, folder, tag=False, on_step=step)


def test_an_older_version_does_not_replace_a_newer_one(hub, folder, sample_build):
    put(hub, folder)
    next_version(folder)
    put(hub, folder)
    with pytest.raises(PublishError, match="the repository has moved on since"):
        put(hub, sample_build / "casino")
    assert published(hub) == content(folder)


def test_what_was_published_is_read_and_no_folder_of_its_name(hub, folder, tmp_path, monkeypatch):
    done = put(hub, folder)
    shutil.copytree(folder, tmp_path / "org" / "casino")
    monkeypatch.chdir(tmp_path)
    hub.log.clear()
    read_back(folder, done, hub.endpoint + "/")
    assert any("/resolve/" in path for _, path, _ in hub.log)


def test_a_repository_that_somebody_else_makes_public(hub, folder):
    def step(what):
        if what.startswith("making"):
            hub.seed("org/casino", hub_made_it)

    hub_made_it = folder.parent / "empty"
    hub_made_it.mkdir()
    with pytest.raises(PublishError, match="is there and public"):
        put(hub, folder, private=True, on_step=step)
    assert published(hub) == {}


def test_two_publishers_of_two_folders_at_once(hub, folder, tmp_path):
    put(hub, folder)
    other = Path(shutil.copytree(folder, tmp_path / "other"))
    for number, each in enumerate((folder, other)):
        (each / "README.md").write_text(f"---\nlicense: mit\n---\n{number}\n")
    outcomes, start = {}, threading.Barrier(2)

    def run(each):
        def step(what):
            if what.startswith("uploading"):
                start.wait()  # both have seen the same last commit

        try:
            outcomes[each] = put(hub, each, tag=False, on_step=step)
        except PublishError as error:
            outcomes[each] = error

    threads = [threading.Thread(target=run, args=(each,)) for each in (folder, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = (each for each, found in outcomes.items() if not isinstance(found, Exception))
    (error,) = (str(found) for found in outcomes.values() if isinstance(found, Exception))
    assert "Somebody else changed it meanwhile" in error
    assert published(hub) == content(winner)
    assert len(hub.commits("org/casino")) == 3


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


@pytest.mark.parametrize("done", [False, True], ids=["unheard", "unanswered"])
@pytest.mark.parametrize("forever", [False, True], ids=["once", "from there on"])
def test_a_cut_at_any_request_leaves_the_old_version_or_the_new(
    hub, folder, sample_build, done, forever
):
    old = content(folder)
    next_version(folder)
    outcomes = []
    for n in cut_everywhere(hub, done=done, forever=forever):
        repo = f"org/cut-{n}"
        hub.seed(repo, sample_build / "casino", tags=["v1.0.0"])
        file = folder / "new" / "train-00000-of-00001.parquet"
        file.write_bytes(b"PAR1 %d" % n)  # so that the Hub does not have it yet
        new = content(folder)
        try:
            put(hub, folder, repo)
            outcomes.append("done")
        except PublishError:
            outcomes.append("failed")
        faults, hub.faults = hub.faults, []
        assert published(hub, repo) in (old, new)
        assert published(hub, repo, "v1.0.0") == old
        assert "v1.1.0" not in hub.tags(repo) or published(hub, repo, "v1.1.0") == new
        put(hub, folder, repo)
        assert published(hub, repo) == published(hub, repo, "v1.1.0") == new
        assert len(hub.commits(repo)) == 2
        hub.faults = faults
    assert len(outcomes) > 10
    assert outcomes.pop() == "done"  # nothing was cut
    assert "failed" in outcomes
    assert ("done" in outcomes) is not forever


@pytest.mark.parametrize("done", [False, True], ids=["unheard", "unanswered"])
def test_a_cut_at_any_request_of_the_first_publishing(hub, folder, done):
    for n in cut_everywhere(hub, done=done, forever=True):
        repo = f"org/cut-{n}"
        (folder / "speakers" / "train-00000-of-00001.parquet").write_bytes(b"PAR1 %d" % n)
        with suppress(PublishError):
            put(hub, folder, repo)
        faults, hub.faults = hub.faults, []
        if repo in hub.repos:
            assert published(hub, repo) in ({}, content(folder))
        put(hub, folder, repo)
        assert published(hub, repo) == published(hub, repo, "v1.0.0") == content(folder)
        assert len(hub.commits(repo)) == 2
        hub.faults = faults
    assert n > 10


@pytest.mark.parametrize(
    ("pattern", "how", "says"),
    [
        ("/api/datasets/org/casino$", 500, "run the same command again"),
        ("/preupload/", 500, "run the same command again"),
        ("/lfs/", 500, "run the same command again"),
        ("/commit/", 500, "run the same command again"),
        ("/commit/", 403, "may not write there"),
        ("/tag/", 409, "Somebody else tagged it"),
        ("/tree/", "truncate", "run the same command again"),
        ("/validate-yaml", 400, "Invalid metadata"),
    ],
)
def test_what_the_hub_answers_is_explained(hub, folder, pattern, how, says):
    hub.fail("*", pattern, how, times=-1)
    with pytest.raises(PublishError, match=says) as raised:
        put(hub, folder)
    assert TOKEN not in str(raised.value)


def test_tokens_that_may_not(hub, folder, monkeypatch):
    for token, says in (
        (READ_ONLY, "may not write there"),
        ("hf_unknown", "does not know this token"),
    ):
        monkeypatch.setenv("HF_TOKEN", token)
        with pytest.raises(PublishError, match=says) as raised:
            put(hub, folder)
        assert token not in str(raised.value)
    assert not hub.repos
    monkeypatch.setattr(huggingface_hub, "get_token", lambda: None)
    with pytest.raises(PublishError, match="hf auth login"):
        ready("org/casino", dry_run=False)
    ready("org/casino", dry_run=True)


def test_a_token_in_a_message_is_hidden(hub, folder, monkeypatch):
    monkeypatch.setattr(
        publishing.Repository, "state", lambda self: (_ for _ in ()).throw(OSError(f"x {TOKEN} y"))
    )
    with pytest.raises(PublishError, match="x … y"):
        put(hub, folder)


def test_what_comes_back_otherwise_is_named(hub, folder):
    done = put(hub, folder)
    file = folder / "provenance.json"
    provenance = json.loads(file.read_text())
    provenance["configs"]["speakers"]["train"]["digest"] = "0" * 64
    file.write_text(json.dumps(provenance))
    with pytest.raises(PublishError, match="delete the tag") as raised:
        read_back(folder, done, hub.endpoint)
    assert re.findall(r"^  (\S+) (\w+): expected 0{64}", str(raised.value), re.MULTILINE) == [
        ("speakers/train", "loaded"),
        ("speakers/train", "streamed"),
    ]


def test_samples_and_unlicensed_datasets_are_refused(sample_build, dataset):
    with pytest.raises(OutputError, match="it is the invented sample"):
        refuse(dataset, sample_build / dataset.name, None, permitted=True)
    unknown = dataset.name in ("craigslist_bargains", "cosrec")
    with pytest.raises(OutputError) as raised:
        refuse(dataset, sample_build / dataset.name, None, permitted=False)
    assert ("--i-have-permission" in str(raised.value)) is unknown
    if unknown:
        (section,) = re.findall(r"\n## Licence\n+([^\n]+)\n", dataset.read_card())
        assert section in str(raised.value)


def test_partial_and_damaged_folders_are_refused(source, real_build, tmp_path):
    for name in ("craigslist_bargains", "cosrec"):
        files = at_hand(get(name), source)
        with pytest.raises(OutputError, match="it is partial: ") as raised:
            refuse(get(name), real_build / name, files, permitted=True)
        assert "permission" not in str(raised.value)
    for name in ("casino", "duo"):
        refuse(get(name), real_build / name, at_hand(get(name), source), permitted=False)
    folder = Path(shutil.copytree(real_build / "duo", tmp_path / "duo"))
    file = next(folder.glob("ed/en-*"))
    file.write_bytes(file.read_bytes()[:-9] + b"123456789")
    with pytest.raises(OutputError, match="`parley verify duo` fails"):
        refuse(get("duo"), folder, None, permitted=False)


def test_a_card_that_leaves_figures_out_is_refused(source, real_build, tmp_path):
    folder = Path(shutil.copytree(real_build / "casino", tmp_path / "casino"))
    card = folder / "README.md"
    line = next(x for x in card.read_text().splitlines() if x.startswith("| `age_mean`"))
    name, documented, _, _, place = line.strip("| ").split(" | ")
    blank = f"| {name} | {documented} |  | not checked | {place} |"
    card.write_text(card.read_text().replace(line, blank))
    with pytest.raises(
        OutputError, match="for 1 figures, as age_mean; build it with --update-cards"
    ):
        refuse(get("casino"), folder, None, permitted=False)


def run(hub, home, *arguments, token=TOKEN, **environ):
    done = subprocess.run(
        [sys.executable, "-m", "parley", "publish", *map(str, arguments)],
        env=hub.environ(home, token) | {"COLUMNS": "100"} | environ,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "Traceback" not in done.stderr
    assert TOKEN not in done.stdout + done.stderr
    return done


def test_the_command_line(hub, source, real_build, tmp_path):
    common = ("duo", "--repo", "org/duo", "--build", real_build)
    dry = run(hub, tmp_path, *common, "--dry-run", token=None)
    assert dry.returncode == 0, dry.stderr
    assert "org/duo would be made; nothing was written" in dry.stdout
    assert not hub.repos
    done = run(hub, tmp_path, *common, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["revision"] == "v1.0.0"
    assert found["commit"] == hub.commits("org/duo")[-1]
    assert published(hub, "org/duo") == content(real_build / "duo")
    again = run(hub, tmp_path, *common)
    assert again.returncode == 0, again.stderr
    assert f"no change: commit {found['commit']}, read back and equal" in again.stdout
    assert len(hub.commits("org/duo")) == 2


def test_errors_of_the_command_line(hub, sample_build, tmp_path):
    common = ("casino", "--build", sample_build, "--repo")
    for arguments, token, status, says in (
        ((*common, "casino"), TOKEN, 2, "expected org/name"),
        ((*common, "org/-"), TOKEN, 2, "--repo org/-"),
        ((*common, "org/casino"), None, 1, "run `hf auth login`"),
        ((*common, "org/casino"), TOKEN, 1, "it is the invented sample"),
        (("casino", "--build", tmp_path, "--repo", "org/casino"), TOKEN, 1, "not a built folder"),
        ((*common, "org/casino", "--endpoint", f"http://a:{TOKEN}@b"), TOKEN, 2, "without a name"),
    ):
        done = run(hub, tmp_path, *arguments, token=token)
        assert (done.returncode, says in done.stderr) == (status, True), done.stderr
        assert done.stdout == ""
    assert not hub.repos


def test_a_full_disk_in_the_cache(hub, sample_build, small_disk, monkeypatch):
    done = put(hub, sample_build / "cosrec", "org/cosrec")
    monkeypatch.setattr("tempfile.tempdir", str(small_disk))
    with pytest.raises(PublishError, match=r"No space left on device.*\nRun the same"):
        read_back(sample_build / "cosrec", done, hub.endpoint)
    assert not list(small_disk.iterdir())
